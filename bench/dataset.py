"""The benchmark data: made once from a seed, kept as raw little-endian arrays and as Parquet.

    pointwise.scores.f32    rows               probability in (0, 1), base rate about 5 %, calibrated-ish
    pointwise.labels.i8     rows               0 or 1
    pointwise.parquet                          label int8, score float32
    segments.request_id.i64 rows               the rows of a request stand together; the ids are in no order
    segments.offsets.i64    segments + 1       where each segment begins; the last is the number of rows
    segments.scores.f32     rows               in (0, 1); of 30 % of the segments on a grid of 1e-3, so that ties occur
    segments.labels.i8      rows               0 or 1, about 10 % positive
    segments.parquet                           request_id int64, label int8, score float32
    manifest.json                              what was asked, counts, and the SHA-256 of each raw array

Both Parquet files are as PyArrow writes them by default (Snappy, dictionaries where they pay), in row groups of 1e6 rows.
"""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

VERSION = 1
ROW_GROUP = 1_000_000
MEAN_SEGMENT = 20
GRID_SHARE = 0.3
GRID = 1000
EDGE = 1e-6  # no score is 0 or 1, so no logarithm needs clipping


@dataclass(frozen=True)
class Segments:
    """Rows in contiguous segments: rows `offsets[i]` up to `offsets[i + 1]` are segment i."""

    request_id: np.ndarray
    offsets: np.ndarray
    labels: np.ndarray
    scores: np.ndarray

    @property
    def count(self) -> int:
        return len(self.offsets) - 1

    @property
    def with_positive(self) -> int:
        """Segments that have at least one positive row."""
        return int(np.count_nonzero(np.add.reduceat(self.labels, self.offsets[:-1], dtype=np.int64)))

    def segment_of_row(self) -> np.ndarray:
        return np.repeat(np.arange(self.count), np.diff(self.offsets))

    def row_in_segment(self) -> np.ndarray:
        return np.arange(len(self.scores)) - np.repeat(self.offsets[:-1], np.diff(self.offsets))


@dataclass(frozen=True)
class Dataset:
    """A folder that `ensure` has filled."""

    folder: Path

    @property
    def pointwise_parquet(self) -> str:
        return str(self.folder / "pointwise.parquet")

    @property
    def segments_parquet(self) -> str:
        return str(self.folder / "segments.parquet")

    def pointwise(self) -> tuple[np.ndarray, np.ndarray]:
        """Scores (float32) and labels (int8)."""
        return self._array("pointwise.scores.f32"), self._array("pointwise.labels.i8")

    def segments(self, max_rows: int | None = None) -> Segments:
        """The segments, or the first of them that have at most `max_rows` rows together."""
        offsets = self._array("segments.offsets.i64")
        if max_rows is not None:
            offsets = offsets[: np.searchsorted(offsets, max_rows, side="right")]
        rows = int(offsets[-1])
        column = lambda name: self._array(name)[:rows]
        return Segments(
            column("segments.request_id.i64"), offsets, column("segments.labels.i8"), column("segments.scores.f32")
        )

    def _array(self, name: str) -> np.ndarray:
        return np.fromfile(self.folder / name, dtype="<" + {"f32": "f4", "i8": "i1", "i64": "i8"}[name.rsplit(".")[-1]])


def ensure(folder: Path, rows: int, seed: int) -> dict:
    """Makes the data unless the folder already holds just these, and returns the manifest."""
    asked = {"version": VERSION, "rows": rows, "segments": max(1, rows // MEAN_SEGMENT), "seed": seed}
    manifest = folder / "manifest.json"
    if manifest.exists():
        held = json.loads(manifest.read_text())
        if held["asked"] == asked:
            return held
        manifest.unlink()
    print(f"making {rows:,} rows in {folder}", flush=True)
    folder.mkdir(parents=True, exist_ok=True)
    arrays = pointwise_arrays(rows, seed) | segment_arrays(rows, asked["segments"], seed)
    for name, array in arrays.items():
        array.tofile(folder / name)
    write_parquet(folder / "pointwise.parquet", arrays, "pointwise", ["label", "score"])
    write_parquet(folder / "segments.parquet", arrays, "segments", ["request_id", "label", "score"])
    made = {
        "asked": asked,
        "positives": {part: int(arrays[f"{part}.labels.i8"].sum()) for part in ("pointwise", "segments")},
        "sha256": {name: hashlib.sha256(array).hexdigest() for name, array in arrays.items()},
    }
    manifest.write_text(json.dumps(made, indent=2) + "\n")
    return made


def pointwise_arrays(rows: int, seed: int) -> dict[str, np.ndarray]:
    """A latent logit whose sigmoid is the score; the label is drawn from that logit with some noise on it."""
    random = np.random.default_rng([seed, 1])
    logit = random.normal(-3.7, 1.2, rows)
    labels = random.random(rows) < sigmoid(logit + random.normal(0.0, 0.5, rows))
    return {"pointwise.scores.f32": probability(sigmoid(logit)), "pointwise.labels.i8": labels.astype("<i1")}


def segment_arrays(rows: int, segments: int, seed: int) -> dict[str, np.ndarray]:
    """Segments of gamma-spread sizes, with an effect of the request on all its rows, and ties in some of them."""
    random = np.random.default_rng([seed, 2])
    spread = random.gamma(4.0, size=segments)
    sizes = 1 + random.multinomial(rows - segments, spread / spread.sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype("<i8")
    request_id = (1_000_000_000_000 + random.permutation(segments)).astype("<i8")
    logit = np.repeat(random.normal(-2.8, 0.7, segments), sizes) + random.normal(0.0, 1.0, rows)
    labels = random.random(rows) < sigmoid(logit)
    scores = sigmoid(logit + random.normal(0.0, 0.5, rows))
    on_grid = np.repeat(random.random(segments) < GRID_SHARE, sizes)
    scores[on_grid] = np.clip(np.round(scores[on_grid] * GRID), 1, GRID - 1) / GRID
    return {
        "segments.request_id.i64": np.repeat(request_id, sizes),
        "segments.offsets.i64": offsets,
        "segments.labels.i8": labels.astype("<i1"),
        "segments.scores.f32": probability(scores),
    }


def write_parquet(path: Path, arrays: dict[str, np.ndarray], part: str, columns: list[str]) -> None:
    """Writes the named columns of one part of the data."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = {"request_id": "request_id.i64", "label": "labels.i8", "score": "scores.f32"}
    table = pa.table({column: arrays[f"{part}.{files[column]}"] for column in columns})
    pq.write_table(table, path, compression="snappy", row_group_size=ROW_GROUP)


def probability(values: np.ndarray) -> np.ndarray:
    return np.clip(values, EDGE, 1.0 - EDGE).astype("<f4")


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-values))
