"""The speed targets: how many times as fast as its peers fuseval is to be, by wall time."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """fuseval on `task` is to take at most 1 / `factor` of the time of the fastest of `peers`.

    `peers` are names of tools, or `library` for all tools of that kind. `beside` is the peers' task where it is another one.
    """

    task: str
    peers: tuple[str, ...]
    factor: float
    text: str
    beside: str | None = None


GOALS = [
    Goal("roc_auc_exact", ("sklearn",), 9, "≥ 9× scikit-learn"),
    Goal("roc_auc_exact", ("library",), 4, "≥ 4× the best of the libraries"),
    Goal("roc_auc_exact", ("numpy_packed_sort", "numpy_packed_sort_2_threads"), 1, "no slower than the hand-written sort"),
    Goal("roc_auc_exact", ("sort_only",), 1 / 2, "≤ 2× the time of sorting the keys alone"),
    Goal("roc_auc_histogram", ("torchmetrics",), 300, "≥ 300× torchmetrics at 1,000 thresholds"),
    Goal("roc_auc_histogram", ("numpy_bincount",), 1, "no slower than blocked bincount"),
    Goal("pointwise4", ("sklearn",), 10, "≥ 10× scikit-learn"),
    Goal("pointwise4", ("library", "numpy", "numpy_blocked"), 1 / 1.5, "≤ 1.5× the time of the best"),
    Goal("ranking4", ("library",), 12, "≥ 12× the best library"),
    Goal("ranking4", ("numba_kernel",), 1, "no slower than the numba kernel"),
    Goal("parquet3", ("polars",), 8, "≥ 8× Polars"),
    Goal("parquet3", ("duckdb",), 8, "≥ 8× DuckDB"),
    Goal("parquet3", ("decode_only",), 1 / 4, "≤ 4× the time of decoding the columns alone"),
    Goal("parquet3_intervals", ("fuseval",), 1 / 1.15, "with intervals: ≤ 1.15× the time without", "parquet3"),
    Goal("parquet3_intervals_more", ("fuseval",), 1 / 1.5, "with intervals, pr_auc, ks and ece: ≤ 1.5×", "parquet3"),
]
