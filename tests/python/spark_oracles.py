"""Writes spark_oracles.json: what Spark's MLlib says about the draws of heavy_draws.py.

Run by hand where Java is, since Spark takes 500 MB and a job per value:

    python -m venv spark && spark/bin/pip install pyspark numpy pyarrow
    spark/bin/python tests/python/spark_oracles.py

test_heavy.py compares fuseval with the file. Spark computes in double precision.
"""
import importlib.metadata
import json
import math
import platform
import subprocess
from pathlib import Path

import numpy as np
from pyspark.mllib.common import JavaModelWrapper, callMLlibFunc
from pyspark.mllib.evaluation import BinaryClassificationMetrics, RankingMetrics, RegressionMetrics
from pyspark.sql import SparkSession

import heavy_draws

TARGET = Path(__file__).with_name("spark_oracles.json")
FIRST = 300  # draws of each data set: a draw takes half a second


class Direct:
    """A metrics class of PySpark, made of a data frame: of an RDD it would start a Python worker for each."""

    def __init__(self, session, wrapper, rows, names):
        frame = session.createDataFrame(rows, names)
        java_class = getattr(session.sparkContext._jvm.org.apache.spark.mllib.evaluation, wrapper.__name__)
        is_ranking = wrapper is RankingMetrics
        model = callMLlibFunc("newRankingMetrics", frame._jdf) if is_ranking else java_class(frame._jdf)
        self.metrics = wrapper.__new__(wrapper)
        JavaModelWrapper.__init__(self.metrics, model)


def ranked(session, draw):
    """The items of a draw by score, and the relevant ones. Spark has 0 for an empty list of these."""
    ranking = np.argsort(-draw.score, kind="stable").astype(float).tolist()
    relevant = np.flatnonzero(draw.label > 0).astype(float).tolist()
    return Direct(session, RankingMetrics, [(ranking, relevant)], "ranking array<double>, relevant array<double>").metrics


def areas(session, draw):
    """Areas under curves, with weights."""
    rows = list(zip(draw.score.tolist(), draw.label.tolist(), draw.weight.tolist(), strict=True))
    return Direct(session, BinaryClassificationMetrics, rows, "score double, label double, weight double").metrics


def errors(session, draw):
    """Errors of predictions."""
    rows = list(zip(draw.score.tolist(), draw.label.tolist(), strict=True))
    return Direct(session, RegressionMetrics, rows, "prediction double, observation double").metrics


# The data set, how its metrics are made, and for each: Spark's function, fuseval's metric, the call.
ORACLES = (
    ("untied", ranked, (
        ("precisionAt(5)", "precision@5", lambda metrics: metrics.precisionAt(5)),
        ("recallAt(5)", "recall@5", lambda metrics: metrics.recallAt(5)),
        ("meanAveragePrecision", "map", lambda metrics: metrics.meanAveragePrecision),
        ("meanAveragePrecisionAt(4)", "map@4", lambda metrics: metrics.meanAveragePrecisionAt(4)),
        ("ndcgAt(3)", "ndcg@3", lambda metrics: metrics.ndcgAt(3)),
    )),
    ("weighted", areas, (
        ("areaUnderROC", "roc_auc", lambda metrics: metrics.areaUnderROC),
        ("areaUnderPR", "pr_auc[curve=trapezoid,anchor=first]", lambda metrics: metrics.areaUnderPR),
    )),
    ("continuous", errors, (
        ("meanAbsoluteError", "mae", lambda metrics: metrics.meanAbsoluteError),
        ("meanSquaredError", "mse", lambda metrics: metrics.meanSquaredError),
        ("rootMeanSquaredError", "rmse", lambda metrics: metrics.rootMeanSquaredError),
        ("r2", "r2", lambda metrics: metrics.r2),
    )),
)


def number(value):
    """A number for JSON: null for NaN, infinities as texts."""
    return None if math.isnan(value) else str(value) if math.isinf(value) else value


def main():
    """Computes all values and writes the file."""
    settings = {"spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "1", "spark.default.parallelism": "1"}
    builder = SparkSession.builder.master("local[1]").config(map=settings)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    oracles = []
    for dataset, make, functions in ORACLES:
        values = {name: [] for name, _, _ in functions}
        for draw in heavy_draws.draws(dataset)[:FIRST]:
            metrics = make(session, draw)
            for name, _, call in functions:
                values[name].append(number(call(metrics)))
            if int(draw.name) % 100 == 0:
                print(dataset, draw.name, flush=True)
        for name, metric, _ in functions:
            oracles.append({"tool": "spark", "function": name, "dataset": dataset, "metric": metric, "values": values[name]})
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr.splitlines()[0]
    versions = {"pyspark": importlib.metadata.version("pyspark"), "java": java, "python": platform.python_version()}
    digests = {dataset: heavy_draws.digest(dataset) for dataset, _, _ in ORACLES}
    head = {"versions": versions, "draws": digests}
    lines = ",\n".join(json.dumps(oracle, separators=(",", ":")) for oracle in oracles)
    TARGET.write_text(f'{json.dumps(head)[:-1]},\n"oracles": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
