"""fuseval through its command line: many draws in one file, one slice per draw, all metrics in one call."""
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("FUSEVAL", ROOT / "target" / "release" / "fuseval"))


class FusevalError(Exception):
    """The call ended with an error; the text is its standard error."""


@dataclass(frozen=True)
class Record:
    """What fuseval says about one metric of one draw: a float, NaN where there is no value, or the rows of a curve."""

    value: float
    why: str | None
    n: int
    weight: float
    undefined: int
    tied: int
    error_bound: float
    curve: dict | None


def call(*arguments):
    """Runs fuseval; its standard output."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise FusevalError(done.stderr or f"exit code {done.returncode}")
    return done.stdout


def write(path, draws):
    """Writes draws as a Parquet file with the columns draw, segment, item, label, score and weight."""
    pq.write_table(
        pa.table({
            "draw": np.repeat([draw.name for draw in draws], [len(draw.label) for draw in draws]),
            "segment": [f"{draw.name}/{code}" for draw in draws for code in draw.segment],
            "item": np.concatenate([draw.item for draw in draws]),
            **{name: np.concatenate([getattr(draw, name) for draw in draws]) for name in ("label", "score", "weight")},
        }),
        path,
    )


def roles(weight=False, segment=False, item=False):
    """The arguments that name the columns."""
    arguments = ["--label", "label", "--score", "score"]
    for name, wanted in (("weight", weight), ("segment", segment), ("item", item)):
        arguments += [f"--{name}", name] if wanted else []
    return arguments


def score(draws, metrics, *options, weight=False, segment=False, item=False):
    """{metric as asked: {name of the draw: Record}}, from one call."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "draws.parquet"
        write(path, draws)
        return by_draw(json.loads(_score(path, metrics, *roles(weight, segment, item), *options)), metrics)


def score_segments(draws, metrics, *options, weight=False, item=False):
    """What `score` gives, and {metric as asked: {draw/segment: value}} with NaN where a segment has none, from one call."""
    with tempfile.TemporaryDirectory() as folder:
        path, target = Path(folder) / "draws.parquet", Path(folder) / "segments.parquet"
        write(path, draws)
        printed = _score(path, metrics, *roles(weight, True, item), *options, "--per-segment", target)
        return by_draw(json.loads(printed), metrics), per_segment(pq.read_table(target), metrics)


def _score(path, metrics, *arguments):
    """Standard output of `fuseval score` with the draws as slices."""
    fixed = ("--slice", "draw", "--format", "json", "--quiet", "--set", "interval=false")
    return call("score", path, *arguments, "--metrics", ",".join(metrics), *fixed)


def by_draw(printed, metrics):
    """The records of each slice, which stand in the order of the metrics."""
    found = {}
    for record in printed["results"]:
        if record["slice"] is not None:
            found.setdefault(record["slice"]["draw"], []).append(record)
    values = {metric: {} for metric in metrics}
    for draw, records in found.items():
        assert len(records) == len(metrics), f"{len(records)} records for {len(metrics)} metrics"
        for metric, record in zip(metrics, records, strict=True):
            assert record["metric"].startswith(metric.split("[")[0].split("@")[0]), (record["metric"], metric)
            values[metric][draw] = Record(
                number(record.get("value")), record.get("why"), record["n"], record["weight"], record["undefined"],
                record["tied"], number(record.get("error_bound")), record.get("curve"),
            )
    return values


def number(value):
    """The float that a JSON value means: null is NaN, infinities are texts."""
    return float("nan") if value is None else float(value)


def per_segment(table, metrics):
    """The values of each metric: its column is the last but so many, in the order of the metrics."""
    segments = table["segment"].to_pylist()
    columns = table.column_names[-len(metrics):]
    return {
        metric: dict(zip(segments, map(number, table[column].to_pylist()), strict=True))
        for metric, column in zip(metrics, columns, strict=True)
    }
