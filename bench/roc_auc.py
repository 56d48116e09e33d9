"""ROC AUC over rows: exact, and from a histogram of scores. Ties count one half everywhere."""

import numpy as np

from dataset import Dataset
from tool import THREADS, Tool, Values, in_threads


def sklearn_exact(data: Dataset):
    from sklearn.metrics import roc_auc_score

    scores, labels = data.pointwise()
    return lambda: {"roc_auc": float(roc_auc_score(labels, scores))}


def polars_expression(label, score):
    """Mann–Whitney: the mean ranks of the positives, less the smallest sum they could have."""
    import polars as pl

    positives = label.sum().cast(pl.Float64)
    ranks = score.rank("average").filter(label == 1).sum()
    return (ranks - positives * (positives + 1) / 2) / (positives * (pl.len() - positives))


def polars_exact(data: Dataset):
    import polars as pl

    scores, labels = data.pointwise()
    frame = pl.DataFrame({"label": labels, "score": scores})
    auc = polars_expression(pl.col("label").cast(pl.Int64), pl.col("score"))
    return lambda: {"roc_auc": frame.select(auc).item()}


def polars_ds_exact(data: Dataset):
    import polars as pl
    import polars_ds as pds

    scores, labels = data.pointwise()
    frame = pl.DataFrame({"label": labels.astype(np.uint32), "score": scores})
    return lambda: {"roc_auc": frame.select(pds.query_roc_auc("label", "score")).item()}


# Mann–Whitney again; the mean rank of a score is its lowest rank plus half of the others that have it.
DUCKDB_AUC = """
    SELECT (sum(rank) - p * (p + 1) / 2) / (p * (n - p))
    FROM (SELECT label, rank() OVER (ORDER BY score) + (count(*) OVER (PARTITION BY score) - 1) / 2.0 AS rank FROM {source}),
         (SELECT sum(label)::DOUBLE AS p, count(*)::DOUBLE AS n FROM {source})
    WHERE label = 1 GROUP BY p, n
"""


def duckdb_connection():
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"SET threads = {THREADS}")
    return connection


def duckdb_exact(data: Dataset):
    connection = duckdb_connection()
    connection.execute(f"CREATE TABLE rows AS SELECT * FROM '{data.pointwise_parquet}'")
    query = DUCKDB_AUC.format(source="rows")
    return lambda: {"roc_auc": connection.execute(query).fetchone()[0]}


def torch_pair(data: Dataset, max_rows: int | None = None):
    """Scores and labels as tensors."""
    import torch

    torch.set_num_threads(THREADS)
    scores, labels = (column[:max_rows] for column in data.pointwise())
    return torch.from_numpy(scores), torch.from_numpy(labels.astype(np.int64))


def torchmetrics_exact(data: Dataset):
    from torchmetrics.functional.classification import binary_auroc

    scores, labels = torch_pair(data)
    return lambda: {"roc_auc": float(binary_auroc(scores, labels, thresholds=None, validate_args=False))}


def torcheval_exact(data: Dataset):
    from torcheval.metrics.functional import binary_auroc

    scores, labels = torch_pair(data)
    return lambda: {"roc_auc": float(binary_auroc(scores, labels))}


ONE = np.uint32(1)
BLOCK = 1 << 18


def blocks(rows: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, rows)) for start in range(0, rows, size)]


def pack(scores: np.ndarray, labels: np.ndarray, out: np.ndarray) -> None:
    """The bits of the score above the label, in 32 bits. Orders like the score from 0 to 1, and only there."""
    np.left_shift(scores.view(np.uint32), ONE, out=out)
    np.bitwise_or(out, labels.view(np.uint8), out=out)


def sort_in_threads(keys: np.ndarray) -> None:
    """Splits the keys at their median and sorts both halves in place, each in a thread."""
    middle = len(keys) // 2
    keys.partition(middle)
    in_threads(np.ndarray.sort, (keys[:middle], keys[middle:]))


def packed_auc(scores: np.ndarray, labels: np.ndarray, keys: np.ndarray, in_each, sort) -> float:
    """Packs into `keys`, sorts, and counts the negatives below each positive. All passes over rows are in blocks in the cache.

    Among equal scores the negatives come first, so the place of a positive, less the positives before it, counts all tied
    negatives as below; half of them are taken off again.
    """
    rows = blocks(len(keys), BLOCK)
    in_each(lambda block: pack(scores[block], labels[block], keys[block]), rows)
    sort(keys)
    places = np.concatenate(in_each(lambda block: block.start + np.flatnonzero((keys[block] & ONE).astype(bool)), rows))
    tied = keys[places[keys[places] >> ONE == keys[places - 1] >> ONE]]
    tied_negatives = np.searchsorted(keys, tied) - np.searchsorted(keys, tied ^ ONE)
    positives = len(places)
    below = int(places.sum()) - positives * (positives - 1) // 2 - int(tied_negatives.sum()) / 2
    return below / (positives * (len(keys) - positives))


def in_order(work, items) -> list:
    return list(map(work, items))


def numpy_packed_sort(data: Dataset):
    scores, labels = data.pointwise()
    keys = np.empty(len(scores), dtype=np.uint32)
    return lambda: {"roc_auc": packed_auc(scores, labels, keys, in_order, np.ndarray.sort)}


def numpy_packed_sort_2_threads(data: Dataset):
    scores, labels = data.pointwise()
    keys = np.empty(len(scores), dtype=np.uint32)
    return lambda: {"roc_auc": packed_auc(scores, labels, keys, in_threads, sort_in_threads)}


def sort_only(data: Dataset, sort):
    """Sorting in place destroys the keys, so they are copied from packed ones first: a memcpy is part of the time."""
    scores, labels = data.pointwise()
    packed, keys = np.empty((2, len(scores)), dtype=np.uint32)
    pack(scores, labels, packed)

    def run() -> Values:
        keys[:] = packed
        sort(keys)
        return {}

    return run


THRESHOLDS = 1000
SLOW_ROWS = 1_000_000
KEY_BITS = 18
COUNT_BLOCK = 1 << 17


def torchmetrics_binned(data: Dataset):
    from torchmetrics.functional.classification import binary_auroc

    scores, labels = torch_pair(data, SLOW_ROWS)
    return lambda: {"roc_auc": float(binary_auroc(scores, labels, thresholds=THRESHOLDS, validate_args=False))}


def torcheval_binned(data: Dataset):
    from torcheval.metrics.functional import binary_binned_auroc

    scores, labels = torch_pair(data, SLOW_ROWS)
    return lambda: {"roc_auc": float(binary_binned_auroc(scores, labels, threshold=THRESHOLDS)[0])}


def bins_with_label(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Twice the top 18 bits of the order-preserving key, plus the label; without the sign, which scores from 0 to 1 lack."""
    bins = scores.view(np.uint32) >> np.uint32(32 - KEY_BITS)
    return ((bins << np.uint32(1)) | labels.view(np.uint8)).astype(np.intp)


def numpy_bincount(data: Dataset):
    scores, labels = data.pointwise()
    size = 1 << KEY_BITS  # half of the 2 ** 18 keys (the sign is 0), for each label

    def count(block: slice) -> tuple[int, np.ndarray]:
        """The first bin of the block that is in use, and the counts from there."""
        bins = bins_with_label(scores[block], labels[block])
        first = bins.min()
        return first, np.bincount(bins - first)

    def run() -> Values:
        counts = np.zeros(size, dtype=np.int64)
        for first, part in in_threads(count, blocks(len(scores), COUNT_BLOCK)):
            counts[first : first + len(part)] += part
        negatives, positives = counts[0::2].astype(float), counts[1::2].astype(float)
        pairs = positives.sum() * negatives.sum()
        below = np.cumsum(negatives) - negatives
        return {
            "roc_auc": float(positives @ (below + negatives / 2) / pairs),
            "error_bound": float(positives @ negatives / 2 / pairs),
        }

    return run


EXACT = [
    Tool("sklearn", "library", ("scikit-learn",), sklearn_exact),
    Tool("polars", "library", ("polars",), polars_exact, "expression by average rank"),
    Tool("duckdb", "library", ("duckdb",), duckdb_exact, "windows: mean rank"),
    Tool("polars_ds", "library", ("polars-ds",), polars_ds_exact),
    Tool("torchmetrics", "library", ("torch", "torchmetrics"), torchmetrics_exact, tolerance=1e-4),
    Tool("torcheval", "library", ("torch", "torcheval"), torcheval_exact, tolerance=1e-4),
    Tool("numpy_packed_sort", "hand-written", ("numpy",), numpy_packed_sort, "scores in [0, 1] only; one thread; ties one half"),
    Tool("numpy_packed_sort_2_threads", "hand-written", ("numpy",), numpy_packed_sort_2_threads,
         "scores in [0, 1] only; split at the median, halves sorted in threads; ties one half"),
    Tool("sort_only", "floor", ("numpy",), lambda data: sort_only(data, np.ndarray.sort), "np.sort of the packed keys, one thread"),
    Tool("sort_only_2_threads", "floor", ("numpy",), lambda data: sort_only(data, sort_in_threads),
         "np.partition, then np.sort of the halves in two threads"),
]

HISTOGRAM = [
    Tool("torchmetrics", "library", ("torch", "torchmetrics"), torchmetrics_binned, "1,000 thresholds", SLOW_ROWS, 1e-2),
    Tool("torcheval", "library", ("torch", "torcheval"), torcheval_binned, "1,000 thresholds", SLOW_ROWS, 1e-2),
    Tool("numpy_bincount", "hand-written", ("numpy",), numpy_bincount, "scores in [0, 1] only; top 18 bits of the key",
         tolerance=1e-5),
]
