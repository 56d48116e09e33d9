"""From measurements to a Markdown page: machine, one table per task, goals."""

import os
import platform
from pathlib import Path
from statistics import median

from goals import GOALS
from tool import THREADS, installed


def machine_facts(packages: list[str]) -> dict:
    """What ran this: processor, memory, load, versions."""
    processor = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    return {
        "processor": processor,
        "cores": os.cpu_count(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "system": platform.platform(),
        "load_at_start": os.getloadavg()[0],
        "threads": THREADS,
        "python": platform.python_version(),
        "packages": {package: installed(package) for package in packages if installed(package)},
    }


def wall(record: dict) -> float:
    """Median wall seconds for all rows."""
    return median(record["wall_s"]) * record.get("scale", 1.0)


def cpu(record: dict) -> float:
    """Median CPU seconds for all rows."""
    return median(record["cpu_s"]) * record.get("scale", 1.0)


def find(records: list[dict], task: str, tool: str | None) -> dict | None:
    """The measurement of a tool on a task."""
    return next((record for record in records if (record["task"], record["tool"]) == (task, tool)), None)


def ratio(records: list[dict], goal) -> tuple[float, str] | None:
    """The fastest peer's time over fuseval's, and its name; nothing where one of the two was not measured."""
    own = find(records, goal.task, "fuseval")
    beside = [record for record in records if record["task"] == (goal.beside or goal.task)]
    peers = [record for record in beside if record["tool"] in goal.peers or record["kind"] in goal.peers]
    if own is None or not peers:
        return None
    best = min(peers, key=wall)
    return wall(best) / wall(own), best["tool"]


def page(results: dict) -> str:
    """The whole report."""
    machine, data, records = results["machine"], results["data"], results["records"]
    lines = [
        "# fuseval beside its peers",
        "",
        f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gib']} GiB; {machine['system']}; "
        f"load {machine['load_at_start']:.2f} at the start. Every tool on {machine['threads']} threads, in a process of its own.",
        f"Python {machine['python']}; " + ", ".join(f"{name} {held}" for name, held in machine["packages"].items()) + ".",
        "",
        f"{data['rows']:,} rows ({data['segments']:,} segments), seed {data['seed']}. Medians of the repeats after one warm-up; "
        "× is the time of the tool over that of fuseval.",
        "",
    ]
    for task in dict.fromkeys(record["task"] for record in records):
        lines += task_table(task, records)
    lines += goals_table(records)
    if results["skipped"]:
        lines += ["## Skipped", "", *(f"- {skip['task']}, {skip['tool']}: {skip['why']}" for skip in results["skipped"]), ""]
    return "\n".join(lines)


def task_table(task: str, records: list[dict]) -> list[str]:
    """The tools of one task, fastest first."""
    own = find(records, task, "fuseval")
    columns = "| tool | kind | wall s | CPU s | × | repeats | values | differs | note |"
    lines = [f"## {task}", "", columns, "|---|---|---:|---:|---:|---:|---|---|---|"]
    for record in sorted((record for record in records if record["task"] == task), key=wall):
        times = f"{wall(record) / wall(own):.1f}" if own else "–"
        values = ", ".join(f"{name} {value:.9g}" for name, value in record["value"].items())
        lines.append(
            f"| {record['tool']} | {record['kind']} | {wall(record):.4f} | {cpu(record):.4f} | {times} | {len(record['wall_s'])} "
            f"| {values} | {record['agreement']} | {record['note']} |"
        )
    return [*lines, ""]


def goals_table(records: list[dict]) -> list[str]:
    """Each goal, with the ratio of the fastest of its peers."""
    lines = ["## Goals", "", "| task | goal | peer ÷ fuseval | at least | peer | met |", "|---|---|---:|---:|---|---|"]
    for goal in GOALS:
        found = ratio(records, goal)
        if found:
            times, peer, met = f"{found[0]:.2f}", found[1], "yes" if found[0] >= goal.factor else "NO"
        else:
            times, peer, met = "–", "–", "not measured"
        lines.append(f"| {goal.task} | {goal.text} | {times} | {goal.factor:.2f} | {peer} | {met} |")
    return [*lines, ""]
