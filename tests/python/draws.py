"""Random data for the comparison with other packages: many small draws, with ties, weights and degenerate cases.

A draw is one data set of 1 to 60 rows. Everything follows from the seed. Draws go through their kinds in turn, so that each
kind comes up in every run however few draws there are.
"""
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

# What a draw of rows is like. "grid" and "coarse" have ties, and scores that equal the threshold 0.5, 0 and 1.
ROW_KINDS = (
    "continuous", "grid", "coarse", "one row", "all positive", "all negative", "all tied", "rare positives", "separated",
    "continuous",
)
# What the weights of a draw are like; "none" is a weight of 1 for each row.
WEIGHT_KINDS = ("none", "uniform", "integers", "some zero", "large ratio")
# What a segment is like.
SEGMENT_KINDS = (
    "continuous", "grid", "one row", "all positive", "no positive", "all tied", "coarse", "continuous", "grid",
)


@dataclass(frozen=True, eq=False)
class Draw:
    """One data set. The rows of a segment stand together; `segment` counts the segments of the draw from 0."""

    name: str
    label: np.ndarray
    score: np.ndarray
    weight: np.ndarray
    segment: np.ndarray
    item: np.ndarray
    kinds: tuple = field(default=())

    @cached_property
    def segments(self):
        """The segments as draws of their own, named draw/segment as in the file."""
        found = []
        for code in range(int(self.segment[-1]) + 1):
            rows = self.segment == code
            found.append(Draw(
                f"{self.name}/{code}", self.label[rows], self.score[rows], self.weight[rows], self.segment[rows] * 0,
                self.item[rows], (self.kinds[code],) if len(self.kinds) > code else self.kinds,
            ))
        return tuple(found)

    def __str__(self):
        """The draw as it can be pasted into Python."""
        columns = ("label", "score", "weight", "segment")
        lists = ", ".join(f"{name}={getattr(self, name).tolist()}" for name in columns)
        return f"draw {self.name} {self.kinds}: {lists}"


def float32(values):
    """The nearest float32 numbers, as float64: for peers that keep scores in single precision."""
    return np.asarray(values, dtype=np.float32).astype(np.float64)


def _scores(random, kind, n):
    """Scores between 0 and 1."""
    if kind == "grid":
        return random.integers(0, 9, n) / 8
    if kind == "coarse":
        return random.integers(0, 3, n) / 2
    if kind == "all tied":
        return np.full(n, random.integers(0, 9) / 8)
    return random.random(n)


def _weights(random, kind, n):
    if kind == "uniform":
        return random.random(n) + 0.01
    if kind == "integers":
        return random.integers(1, 5, n).astype(np.float64)
    if kind == "some zero":
        weights = random.integers(0, 3, n).astype(np.float64)
        weights[random.integers(n)] = 1
        return weights
    if kind == "large ratio":
        return 10.0 ** random.integers(-6, 7, n)
    return np.ones(n)


def row_draws(seed, count, label="binary", score="probability", weights=True):
    """Draws without segments.

    `label`: binary; continuous, with some zeros, some repeated values and draws of one value; soft, between 0 and 1.
    `score`: probability, from 0 to 1 with both ends; inside, without the ends; raw, any size.
    """
    random = np.random.default_rng(seed)
    draws = []
    for i in range(count):
        kind = ROW_KINDS[i % len(ROW_KINDS)]
        weight_kind = WEIGHT_KINDS[i // len(ROW_KINDS) % len(WEIGHT_KINDS)] if weights else "none"
        n = 1 if kind == "one row" else int(random.integers(1, 61))
        scores = _scores(random, kind, n)
        labels = _labels(random, label, kind, n, scores)
        if score == "inside":
            scores = 0.01 + 0.98 * scores
        elif score == "raw":
            scores = scores * 10.0 ** random.integers(-3, 4) - 3
        weight = _weights(random, weight_kind, n)
        item = np.array([f"i{j}" for j in range(n)])
        draws.append(Draw(f"{i:05}", labels, scores, weight, np.zeros(n, np.int64), item, (kind, weight_kind)))
    return draws


def _labels(random, label, kind, n, scores):
    if label == "continuous":
        if kind == "all positive":
            return np.full(n, random.normal())
        if kind == "separated":
            return scores.copy()
        return np.where(random.random(n) < 0.2, random.integers(-1, 2, n), random.normal(size=n) * 3)
    if label == "soft":
        return random.integers(0, 5, n) / 4
    if kind == "all positive":
        return np.ones(n)
    if kind == "all negative":
        return np.zeros(n)
    if kind == "separated":
        return (scores >= 0.5).astype(np.float64)
    rate = 0.05 if kind == "rare positives" else random.uniform(0.1, 0.9)
    return (random.random(n) < rate).astype(np.float64)


def segment_draws(seed, count, grades=1, ties=True, segments=4):
    """Draws of 1 to `segments` segments with 1 to 15 rows each.

    `grades`: labels are whole numbers from 0 to `grades`. Scores are float32 numbers, some below 0. `ties=False`: all scores
    of a segment differ. Items are texts of mixed length, unique within a segment.
    """
    random = np.random.default_rng(seed)
    draws, turn = [], 0
    for i in range(count):
        kinds, parts = [], []
        for code in range(int(random.integers(1, segments + 1))):
            kind = SEGMENT_KINDS[turn % len(SEGMENT_KINDS)]
            turn += 1
            n = 1 if kind == "one row" else int(random.integers(1, 16))
            scores = float32((_scores(random, kind, n) if ties else random.permutation(n) / n) * 4 - 1)
            labels = random.integers(0, grades + 1, n)
            if kind == "all positive":
                labels = np.full(n, random.integers(1, grades + 1))
            elif kind == "no positive":
                labels = np.zeros(n)
            elif random.random() < 0.5:
                labels = labels * (random.random(n) < 0.4)
            kinds.append(kind)
            parts.append((labels, scores, np.full(n, code), _items(random, n)))
        labels, scores, codes, items = (np.concatenate(column) for column in zip(*parts, strict=True))
        draws.append(
            Draw(f"{i:05}", labels.astype(np.float64), scores, np.ones(len(labels)), codes, items, tuple(kinds)),
        )
    return draws


LETTERS = "019AZaz_"


def _items(random, n):
    """Different texts, whose order as bytes is neither that of the rows nor that of their lengths."""
    found = set()
    while len(found) < n:
        found.add("".join(random.choice(list(LETTERS), int(random.integers(1, 5)))))
    items = np.array(sorted(found))
    random.shuffle(items)
    return items
