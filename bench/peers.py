"""fuseval beside the tools that people would otherwise take: speed, and agreement of the values.

    python3 -m venv VENV
    VENV/bin/pip install -r bench/requirements.txt
    VENV/bin/pip install --no-deps -r bench/requirements-no-deps.txt
    VENV/bin/python bench/peers.py --fuseval target/release/BINARY

Makes the data once (`dataset.py`), runs every tool on every task in a fresh process with two threads (`worker.py`), and writes
`results.json` and `results.md` into the folder given by --out. What is timed is the evaluation: arrays, frames and tables are
in memory before the clock starts, but for `parquet3`, which begins with the file (in the page cache after the warm-up run).

fuseval takes part through a binary that is called `BINARY TASK --data DIR --repeats N --threads 2` and prints one line:

    {"task": "...", "tool": "fuseval", "wall_s": [...], "cpu_s": [...], "value": {"roc_auc": ...}}
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import dataset
import report
from goals import GOALS
from tool import THREADS, Tool
from worker import TASKS

HERE = Path(__file__).parent
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS",
)
# The tool whose values all others, fuseval among them, are held against.
REFERENCES = {
    "roc_auc_exact": "sklearn",
    "roc_auc_histogram": "numpy_bincount",
    "pointwise4": "duckdb",
    "ranking4": "numba_kernel",
    "parquet3": "pyarrow_numba",
}
# Tasks that compare fuseval with itself alone.
OWN_TASKS = [goal.task for goal in GOALS if goal.task not in TASKS]


def main() -> None:
    arguments = parse_arguments()
    manifest = dataset.ensure(arguments.data, arguments.rows, arguments.seed)
    packages = sorted({package for tools in TASKS.values() for tool in tools for package in tool.packages})
    results = {"machine": report.machine_facts(packages), "data": manifest["asked"], "records": [], "skipped": []}
    if results["machine"]["load_at_start"] > 1:
        print(f"warning: the load is {results['machine']['load_at_start']:.2f}, so the times are not to be trusted")
    for task in arguments.tasks:
        records = []
        for tool in [None, *TASKS.get(task, [])]:
            name = tool.name if tool else "fuseval"
            if arguments.tools and name not in arguments.tools:
                continue
            why = reason_to_skip(tool, arguments)
            record = None if why else measured(task, tool, arguments)
            if record is None or "error" in record:
                why = why or record["error"]
                print(f"{task:24} {name:28} skipped: {why}", flush=True)
                results["skipped"].append({"task": task, "tool": name, "why": why})
                continue
            times = f"{report.wall(record):9.4f} s wall {report.cpu(record):9.4f} s CPU"
            print(f"{task:24} {name:28} {times}  {record['value']}", flush=True)
            records.append(record)
        compare(task, records)
        results["records"] += records
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (arguments.out / "results.md").write_text(report.page(results))
    print(report.page(results))


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=HERE / "data", help="folder of the data, made when it is not there")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5, help="of tools above 10 s at most 3")
    parser.add_argument("--fuseval", type=Path, metavar="BINARY")
    parser.add_argument("--with", dest="extras", nargs="*", default=[], choices=["torch"], help="peers left out by default")
    parser.add_argument("--tasks", nargs="*", choices=[*TASKS, *OWN_TASKS], default=[*TASKS, *OWN_TASKS])
    parser.add_argument("--tools", nargs="*", metavar="NAME", help="only these, `fuseval` among them")
    return parser.parse_args()


def reason_to_skip(tool: Tool | None, arguments: argparse.Namespace) -> str | None:
    """Why a tool (none: fuseval) cannot take part."""
    if tool is None:
        if arguments.fuseval is None:
            return "no --fuseval BINARY"
        return None if arguments.fuseval.exists() else f"no file {arguments.fuseval}"
    if "torch" in tool.packages and "torch" not in arguments.extras:
        return "only --with torch"
    missing = tool.missing()
    return f"not installed: {', '.join(missing)}" if missing else None


def measured(task: str, tool: Tool | None, arguments: argparse.Namespace) -> dict:
    """Runs one tool and returns its record, or {"error": ...}."""
    options = ["--data", str(arguments.data), "--repeats", str(arguments.repeats)]
    if tool is None:
        command = [str(arguments.fuseval), task, *options, "--threads", str(THREADS)]
    else:
        command = [sys.executable, str(HERE / "worker.py"), task, tool.name, *options]
    environment = os.environ | {variable: str(THREADS) for variable in THREAD_VARIABLES}
    done = subprocess.run(command, check=False, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        return {"error": f"exit code {done.returncode}: " + " ".join(done.stderr.strip().splitlines()[-1:])}
    try:
        record = json.loads(done.stdout.strip().splitlines()[-1])
    except (IndexError, ValueError):
        return {"error": f"no line of JSON, but {done.stdout[-200:]!r}"}
    if tool is None:
        return record | {"kind": "fuseval", "note": "", "tolerance": 1e-6}
    record |= {"kind": tool.kind, "note": tool.note, "tolerance": tool.tolerance}
    if tool.max_rows and tool.max_rows < arguments.rows:
        record["scale"] = arguments.rows / tool.max_rows
        record["note"] += f"; measured on {tool.max_rows:,} rows, time × {record['scale']:g}"
    return record


def compare(task: str, records: list[dict]) -> None:
    """Notes in each record by how much its values differ from those of the reference, and says so where it is too much."""
    reference = report.find(records, task, REFERENCES.get(task))
    for record in records:
        record["agreement"] = "–"
        if reference is None or not record["value"]:
            continue
        if record is reference:
            record["agreement"] = "reference"
            continue
        shared = [name for name in reference["value"] if name in record["value"] and name != "error_bound"]
        worst = max((abs(record["value"][name] / reference["value"][name] - 1) for name in shared), default=float("nan"))
        record["agreement"] = f"{worst:.1e}"
        if not worst <= record["tolerance"]:
            record["agreement"] += " DISAGREES"
            print(f"{task:24} {record['tool']:28} DISAGREES: by {worst:.1e}, expected at most {record['tolerance']:.0e}")


if __name__ == "__main__":
    main()
