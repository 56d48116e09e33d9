"""Log loss, mae, rmse and calibration together, over rows."""

import numpy as np

from dataset import Dataset
from roc_auc import blocks, duckdb_connection, torch_pair
from tool import Tool, Values, in_threads

BLOCK = 1 << 16


def values(rows: int, log_likelihood, absolute, squared, predicted, positives) -> Values:
    """The four metrics from their sums."""
    return {
        "log_loss": float(-log_likelihood / rows),
        "mae": float(absolute / rows),
        "rmse": float((squared / rows) ** 0.5),
        "calibration": float(predicted / positives),
    }


def sklearn(data: Dataset):
    from sklearn.metrics import log_loss, mean_absolute_error, root_mean_squared_error

    scores, labels = data.pointwise()

    def run() -> Values:
        return {
            "log_loss": float(log_loss(labels, scores)),
            "mae": float(mean_absolute_error(labels, scores)),
            "rmse": float(root_mean_squared_error(labels, scores)),
            "calibration": float(scores.sum(dtype=np.float64) / labels.sum()),
        }

    return run


def numpy_plain(data: Dataset):
    """As one writes it: whole-array expressions in float32, sums in float64."""
    scores, labels = data.pointwise()
    labels = labels.astype(np.float32)

    def run() -> Values:
        error = np.abs(scores - labels)
        likelihood = np.log(np.where(labels == 1, scores, 1 - scores))
        total = lambda array: array.sum(dtype=np.float64)
        return values(len(scores), total(likelihood), total(error), total(error * error), total(scores), total(labels))

    return run


def numpy_blocked(data: Dataset):
    """The same in blocks that stay in the cache, two threads. Sums within a block are float32 (pairwise), over blocks float64."""
    scores, labels = data.pointwise()
    labels = labels.astype(np.float32)

    def sums(block: slice) -> list[float]:
        score, label = scores[block], labels[block]
        work = 1 - label
        np.subtract(score, work, out=work)
        np.abs(work, out=work)  # the probability given to what happened
        log_likelihood = np.log(work, out=work).sum()
        np.subtract(score, label, out=work)
        absolute = np.abs(work, out=work).sum()
        squared = np.square(work, out=work).sum()
        return [log_likelihood, absolute, squared, score.sum(), label.sum()]

    parts = blocks(len(scores), BLOCK)
    return lambda: values(len(scores), *np.sum(in_threads(sums, parts), axis=0, dtype=np.float64))


def polars(data: Dataset):
    import polars as pl

    scores, labels = data.pointwise()
    frame = pl.DataFrame({"label": labels, "score": scores})
    label, score = pl.col("label"), pl.col("score")
    error = score - label.cast(pl.Float32)
    query = frame.lazy().select(
        log_loss=-pl.when(label == 1).then(score).otherwise(1 - score).log().mean(),
        mae=error.abs().mean(),
        rmse=(error * error).mean().sqrt(),
        calibration=score.mean() / label.mean(),
    )
    return lambda: query.collect().to_dicts()[0]


def duckdb(data: Dataset):
    connection = duckdb_connection()
    connection.execute(f"CREATE TABLE rows AS SELECT * FROM '{data.pointwise_parquet}'")
    query = """
        SELECT -avg(ln(CASE WHEN label = 1 THEN score ELSE 1 - score END)), avg(abs(score - label)),
               sqrt(avg((score - label) * (score - label))), sum(score) / sum(label)
        FROM rows
    """
    return lambda: dict(zip(("log_loss", "mae", "rmse", "calibration"), connection.execute(query).fetchone()))


def torchmetrics(data: Dataset):
    """Torchmetrics has no binary log loss and no ratio of sums: those two are plain torch."""
    import torch
    from torchmetrics.functional.regression import mean_absolute_error, mean_squared_error

    scores, labels = torch_pair(data)
    labels = labels.to(torch.float32)

    def run() -> Values:
        return {
            "log_loss": float(torch.nn.functional.binary_cross_entropy(scores, labels)),
            "mae": float(mean_absolute_error(scores, labels)),
            "rmse": float(mean_squared_error(scores, labels, squared=False)),
            "calibration": float(scores.sum() / labels.sum()),
        }

    return run


TOOLS = [
    Tool("sklearn", "library", ("scikit-learn",), sklearn, "calibration with NumPy"),
    Tool("polars", "library", ("polars",), polars, tolerance=1e-5),
    Tool("duckdb", "library", ("duckdb",), duckdb),
    Tool("torchmetrics", "library", ("torch", "torchmetrics"), torchmetrics, "log loss and calibration with torch", tolerance=1e-4),
    Tool("numpy", "hand-written", ("numpy",), numpy_plain, "whole arrays, float32; one thread"),
    Tool("numpy_blocked", "hand-written", ("numpy",), numpy_blocked, f"blocks of {BLOCK:,} rows, float32, two threads"),
]
