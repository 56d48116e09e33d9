"""The draws of heavy_oracles.json, which heavy_oracles.py and test_heavy.py make alike, and how fuseval is asked about them."""
import hashlib
from functools import cache

from agreement import DRAWS
from draws import row_draws, segment_draws

# name: how the draws are made; the options of fuseval; the roles of its columns.
DATASETS = {
    "binary": (lambda: row_draws(401, DRAWS, score="inside", weights=False), ("--kind", "probability"), {}),
    "weighted": (lambda: row_draws(402, DRAWS, score="inside"), ("--kind", "probability"), {"weight": True}),
    "continuous": (lambda: row_draws(403, DRAWS, label="continuous", score="raw", weights=False), (), {}),
    "graded": (lambda: segment_draws(404, DRAWS, grades=4, segments=1), ("--set", "no_positive=zero"), {"segment": True}),
    "untied": (
        lambda: segment_draws(405, DRAWS, ties=False, segments=1), ("--set", "no_positive=zero"), {"segment": True},
    ),
}


@cache
def draws(dataset):
    """The draws of a data set."""
    return DATASETS[dataset][0]()


def digest(dataset):
    """A text that changes with any number of any draw."""
    hashed = hashlib.sha256()
    for draw in draws(dataset):
        for column in (draw.label, draw.score, draw.weight):
            hashed.update(column.astype("<f8").tobytes())
    return hashed.hexdigest()
