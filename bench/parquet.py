"""From a Parquet file to roc_auc, log loss and ndcg@10: reading and decoding are inside the clock."""

import numpy as np

from dataset import Dataset
from ranking import DUCKDB_DCG, DUCKDB_POSITIVES, K, ideal_dcg, polars_dcg, polars_ndcg, polars_positives
from roc_auc import DUCKDB_AUC, duckdb_connection, packed_auc, polars_expression, sort_in_threads
from tool import THREADS, Tool, Values, in_threads

COLUMNS = ["request_id", "label", "score"]
NAMES = ("roc_auc", "log_loss", "ndcg@10")


def polars(data: Dataset):
    import polars as pl

    label, score = pl.col("label"), pl.col("score")
    rows = pl.scan_parquet(data.segments_parquet)
    over_rows = rows.select(
        roc_auc=polars_expression(label.cast(pl.Int64), score),
        log_loss=-pl.when(label == 1).then(score).otherwise(1 - score).log().mean(),
    )
    over_segments = polars_positives(rows).group_by("request_id").agg(dcg=polars_dcg(), relevant=pl.len()).select(polars_ndcg())

    def run() -> Values:
        first, second = pl.collect_all([over_rows, over_segments])
        return first.to_dicts()[0] | second.to_dicts()[0]

    return run


def duckdb(data: Dataset):
    connection = duckdb_connection()
    source = f"read_parquet('{data.segments_parquet}')"
    auc = DUCKDB_AUC.format(source=source)
    log_loss = f"SELECT -avg(ln(CASE WHEN label = 1 THEN score ELSE 1 - score END)) FROM {source}"
    ndcg = f"""
        SELECT avg(dcg / ideal[least(relevant, {K})])
        FROM (SELECT {DUCKDB_DCG} AS dcg, count(*) AS relevant FROM ({DUCKDB_POSITIVES.format(source=source)}) GROUP BY request_id),
             (SELECT {ideal_dcg()[1:].tolist()}::DOUBLE[] AS ideal)
    """
    query = f"SELECT ({auc}), ({log_loss}), ({ndcg})"
    return lambda: dict(zip(NAMES, connection.execute(query).fetchone()))


def decoded(path: str) -> list[np.ndarray]:
    """The three columns as NumPy arrays."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(THREADS)
    pa.set_io_thread_count(THREADS)
    table = pq.read_table(path, columns=COLUMNS)
    return [table.column(name).to_numpy() for name in COLUMNS]


def segment_offsets(request_id: np.ndarray) -> np.ndarray:
    """Where the id changes."""
    borders = np.flatnonzero(request_id[1:] != request_id[:-1]) + 1
    return np.concatenate([[0], borders, [len(request_id)]])


def two_thread_auc(scores: np.ndarray, labels: np.ndarray) -> float:
    return packed_auc(scores, labels, np.empty(len(scores), dtype=np.uint32), in_threads, sort_in_threads)


def pyarrow_numpy(data: Dataset):
    """Whole-array NumPy; ndcg through one sort of (segment, descending score) packed into 64 bits."""
    discount = 1 / np.log2(np.arange(2, K + 2))
    ideal = ideal_dcg()

    def log_loss(scores, labels) -> float:
        return float(-np.log(np.where(labels == 1, scores, 1 - scores)).mean(dtype=np.float64))

    def ndcg(request_id, scores, labels) -> float:
        offsets = segment_offsets(request_id)
        sizes = np.diff(offsets)
        keys = np.repeat(np.arange(len(sizes), dtype=np.uint64) << np.uint64(32), sizes)
        keys |= (~scores.view(np.uint32) << np.uint32(1)) | labels.view(np.uint8)
        keys.sort()  # the segment, then falling scores (below 2, so their top bit is free), then the label
        relevant = np.add.reduceat(labels, offsets[:-1], dtype=np.int64)
        hits = np.flatnonzero(keys & np.uint64(1))
        owner = np.repeat(np.arange(len(sizes)), relevant)
        rank = hits - offsets[owner]
        top = rank < K
        dcg = np.bincount(owner[top], discount[rank[top]], minlength=len(sizes))
        some = relevant > 0
        return float((dcg[some] / ideal[np.minimum(relevant[some], K)]).mean())

    def run() -> Values:
        request_id, labels, scores = decoded(data.segments_parquet)
        return {
            "roc_auc": two_thread_auc(scores, labels),
            "log_loss": log_loss(scores, labels),
            "ndcg@10": ndcg(request_id, scores, labels),
        }

    return run


def pyarrow_numba(data: Dataset):
    import kernels

    def run() -> Values:
        request_id, labels, scores = decoded(data.segments_parquet)
        return {
            "roc_auc": two_thread_auc(scores, labels),
            "log_loss": kernels.log_loss(scores, labels),
            "ndcg@10": kernels.ndcg_mean(scores, labels, segment_offsets(request_id)),
        }

    return run


def decode_only(data: Dataset):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pa.set_cpu_count(THREADS)
    pa.set_io_thread_count(THREADS)

    def run() -> Values:
        pq.read_table(data.segments_parquet, columns=COLUMNS)
        return {}

    return run


TOOLS = [
    Tool("polars", "library", ("polars",), polars, "scan; strict order in ties", tolerance=1e-2),
    Tool("duckdb", "library", ("duckdb",), duckdb, "strict order in ties", tolerance=1e-2),
    Tool("pyarrow_numpy", "hand-written", ("pyarrow", "numpy"), pyarrow_numpy,
         "scores in [0, 1] only; in ties, ndcg puts negatives first", tolerance=1e-2),
    Tool("pyarrow_numba", "hand-written", ("pyarrow", "numba"), pyarrow_numba, "scores in [0, 1] only; ties by expectation"),
    Tool("decode_only", "floor", ("pyarrow",), decode_only, "pyarrow.parquet.read_table of the three columns"),
]
