"""Times one tool on one task, in a process of its own, and prints one line of JSON; `peers.py` starts it.

    worker.py TASK TOOL --data DIR --repeats N
"""

import argparse
import gc
import json
import resource
import time
from pathlib import Path

import parquet
import pointwise
import ranking
import roc_auc
from dataset import Dataset

TASKS = {
    "roc_auc_exact": roc_auc.EXACT,
    "roc_auc_histogram": roc_auc.HISTOGRAM,
    "pointwise4": pointwise.TOOLS,
    "ranking4": ranking.TOOLS,
    "parquet3": parquet.TOOLS,
}
SLOW_SECONDS = 10.0
SLOW_REPEATS = 3


def measure(run, repeats: int) -> tuple[list[float], list[float], dict]:
    """Wall and CPU seconds of each repeat, and the values. The first run warms up, unless it is slow: then it counts."""
    wall, cpu, values = timed(run)
    if wall < SLOW_SECONDS:
        walls, cpus = [], []
    else:
        walls, cpus, repeats = [wall], [cpu], min(repeats, SLOW_REPEATS)
    while len(walls) < repeats:
        wall, cpu, values = timed(run)
        walls.append(wall)
        cpus.append(cpu)
    return walls, cpus, values


def timed(run) -> tuple[float, float, dict]:
    """One run: wall seconds, CPU seconds of all threads and child processes, values."""
    cpu, wall = cpu_seconds(), time.perf_counter()
    values = run()
    return time.perf_counter() - wall, cpu_seconds() - cpu, values


def cpu_seconds() -> float:
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("tool")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    tool = next(tool for tool in TASKS[arguments.task] if tool.name == arguments.tool)
    run = tool.prepare(Dataset(arguments.data))
    gc.collect()
    gc.freeze()  # what was prepared is not scanned again while the clock runs
    walls, cpus, values = measure(run, arguments.repeats)
    print(json.dumps({"task": arguments.task, "tool": tool.name, "wall_s": walls, "cpu_s": cpus, "value": values}))


if __name__ == "__main__":
    main()
