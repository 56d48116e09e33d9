"""Scattered segments, a clustered copy, and start-up: wall time and peak resident memory of the program.

Ten million rows in two million segments, of which one has a tenth of all rows, sorted by segment and in random order.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS, SEGMENTS, REPEATS = 10_000_000, 2_000_000, 3
SCORE = ["--label", "click", "--score", "p", "--kind", "probability", "--segment", "request_id", "-m", "log_loss,ndcg@5", "--quiet"]


def write(folder: pathlib.Path) -> None:
    """The same rows twice."""
    rng = np.random.default_rng(1)
    key = rng.integers(0, SEGMENTS, ROWS)
    key[: ROWS // 10] = SEGMENTS + 5
    rng.shuffle(key)
    clicks = (rng.random(ROWS) < 0.05).astype(np.int8)
    table = pa.table({"request_id": key, "click": clicks, "p": rng.random(ROWS, dtype=np.float32)})
    pq.write_table(table, folder / "scattered.parquet", row_group_size=1 << 20)
    pq.write_table(table.sort_by("request_id"), folder / "sorted.parquet", row_group_size=1 << 20)


def measured(command: list[str], repeats: int = REPEATS) -> tuple[float, float]:
    """Median wall seconds, and the peak memory in MiB of the last run."""
    times, peak = [], 0.0
    for _ in range(repeats):
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        times.append(time.perf_counter() - started)
        assert status == 0, command
        peak = usage.ru_maxrss / 1024
    return statistics.median(times), peak


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fuseval", help="the binary of fuseval")
    parser.add_argument("--write", help="write the data into this folder, and stop")
    arguments = parser.parse_args()
    if arguments.write:
        write(pathlib.Path(arguments.write))
        return
    fuseval = str(pathlib.Path(arguments.fuseval).resolve())
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        # By another process: the peak memory of a child includes what its parent had when it began.
        subprocess.run([sys.executable, __file__, "--write", str(folder)], check=True)
        copy = folder / "copy"

        def bucket() -> tuple[float, float]:
            shutil.rmtree(copy, ignore_errors=True)
            source = [str(folder / "scattered.parquet"), "--by", "request_id"]
            return measured([fuseval, "bucket", *source, "--out", str(copy), "--quiet"], 1)

        def score(path: pathlib.Path, *more: str) -> tuple[float, float]:
            return measured([fuseval, "score", str(path), *SCORE, *more])

        eight = pathlib.Path(__file__).parent.parent / "testdata/worked_example/worked.parquet"
        start = [fuseval, "score", str(eight), "--label", "label_binarized", "--score", "score", "-m", "roc_auc"]
        lines = [
            ("sorted", score(folder / "sorted.parquet")),
            ("scattered", score(folder / "scattered.parquet")),
            ("scattered, `--memory 100MiB`", score(folder / "scattered.parquet", "--memory", "100MiB")),
            ("`fuseval bucket`, once", bucket()),
            ("the copy", score(copy)),
            ("start to exit on eight rows", measured(start, 21)),
        ]
        print("| | wall, s | peak, MiB |\n|---|---:|---:|")
        for name, (seconds, mebibytes) in lines:
            print(f"| {name} | {seconds:.3f} | {mebibytes:.0f} |")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
