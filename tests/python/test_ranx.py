"""Metrics over segments beside ranx, per segment and as means.

ranx sorts with an unstable quicksort, so that rows of equal score come in no order that one could name. Here it gets each
ranking as it is to be: by score, rows of equal score as they stand in the file, which is `ties=stable`. Segments without a
relevant row are 0 in ranx.
"""
from functools import cached_property

import numpy as np
import pytest
import ranx
from numba.typed import List

from agreement import DRAWS, Check, Comparison, name
from draws import segment_draws

# fuseval's name and ranx's.
GRADED = (
    *((f"precision@{k}", f"precision@{k}") for k in (1, 5, 20)),
    *((f"recall@{k}", f"recall@{k}") for k in (1, 5, 20)),
    *((f"f1@{k}", f"f1@{k}") for k in (1, 5, 20)),
    *((f"hit_rate@{k}", f"hit_rate@{k}") for k in (1, 5)),
    ("mrr", "mrr"),
    ("mrr@3", "mrr@3"),
    ("map[denominator=relevant]", "map"),
    ("map@5[denominator=relevant]", "map@5"),
    ("ndcg", "ndcg"),
    ("ndcg@5", "ndcg@5"),
    ("ndcg@10[gain=exp2]", "ndcg_burges@10"),
    ("r_precision", "r-precision"),
)
# ranx multiplies the weight of a rank by the grade there.
BINARY = (("rbp", "rbp.80"), ("rbp[p=0.95]", "rbp.95"))


def stable(metric):
    """The metric with `ties=stable`."""
    return metric.removesuffix("]") + ",ties=stable]" if "[" in metric else metric + "[ties=stable]"


class Peer:
    """What ranx says about all segments of some draws."""

    def __init__(self, draws, metrics):
        segments = [segment for draw in draws for segment in draw.segments]
        self.metrics = metrics
        self.places = {segment.name: place for place, segment in enumerate(segments)}
        self.qrels, self.run = List(), List()
        for segment in segments:
            rows = np.arange(len(segment.label), dtype=float)
            ideal, ranking = np.argsort(-segment.label, kind="stable"), np.argsort(-segment.score, kind="stable")
            self.qrels.append(np.column_stack([rows, segment.label])[ideal])
            self.run.append(np.column_stack([rows, segment.score])[ranking])

    @cached_property
    def values(self):
        """{metric: the values, segment by segment}."""
        return ranx.evaluate(self.qrels, self.run, self.metrics, return_mean=False)

    def value(self, metric):
        """The peer's function of a segment."""
        return lambda segment: self.values[metric][self.places[segment.name]]


def table(draws, metrics):
    """The checks and their comparison."""
    peer = Peer(draws, [theirs for _, theirs in metrics])
    checks = tuple(Check(stable(ours), peer.value(theirs)) for ours, theirs in metrics)
    return checks, Comparison(draws, checks, "--set", "no_positive=zero", segment=True)


GRADED_CHECKS, graded = table(segment_draws(351, DRAWS, grades=4), GRADED)
BINARY_CHECKS, binary = table(segment_draws(352, DRAWS), BINARY)


@pytest.mark.parametrize("check", GRADED_CHECKS, ids=name)
def test_graded_segments_agree_with_ranx(check):
    graded.check_segments(check)


@pytest.mark.parametrize("check", BINARY_CHECKS, ids=name)
def test_binary_segments_agree_with_ranx(check):
    binary.check_segments(check)
