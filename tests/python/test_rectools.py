"""Metrics over segments beside RecTools, per user and as means.

RecTools is given ranks, here by score and then as rows stand in the file (`ties=stable`), and the relevant items. It knows no
user without relevant items: such segments are left out (`no_positive=skip`).
"""
from functools import cache

import numpy as np
import pandas as pd
import pytest
from rectools import Columns
from rectools import metrics as rt

from agreement import DRAWS, NAN, Check, Comparison, name
from draws import segment_draws

DRAWN = segment_draws(361, DRAWS)


@cache
def tables():
    """Recommendations and interactions of all segments."""
    recommended, wanted = [], []
    for segment in (segment for draw in DRAWN for segment in draw.segments):
        ranking = np.argsort(-segment.score, kind="stable")
        recommended.append(pd.DataFrame({
            Columns.User: segment.name, Columns.Item: segment.item[ranking], Columns.Rank: np.arange(1, len(ranking) + 1),
        }))
        wanted.append(pd.DataFrame({Columns.User: segment.name, Columns.Item: segment.item[segment.label > 0]}))
    return pd.concat(recommended), pd.concat(wanted)


def peer(metric):
    """The value of a metric of RecTools for a segment; NaN for a user without relevant items."""
    @cache
    def values():
        return metric.calc_per_user(*tables()).to_dict()
    return lambda segment: values().get(segment.name, NAN)


CHECKS = (
    *(Check(f"precision@{k}[ties=stable,no_positive=skip]", peer(rt.Precision(k=k))) for k in (1, 5, 20)),
    Check("precision@5[denominator=min_k_relevant,ties=stable,no_positive=skip]", peer(rt.Precision(k=5, r_precision=True))),
    *(Check(f"recall@{k}[ties=stable]", peer(rt.Recall(k=k))) for k in (1, 5, 20)),
    *(Check(f"hit_rate@{k}[ties=stable]", peer(rt.HitRate(k=k))) for k in (1, 5)),
    *(Check(f"f1@{k}[ties=stable]", peer(rt.F1Beta(k=k, beta=1))) for k in (1, 5)),
    *(Check(f"mrr@{k}[ties=stable]", peer(rt.MRR(k=k))) for k in (1, 5, 20)),
    Check("map@5[denominator=relevant,ties=stable]", peer(rt.MAP(k=5))),
    Check("map@20[denominator=relevant,ties=stable]", peer(rt.MAP(k=20))),
    Check("map@5[denominator=k,ties=stable]", peer(rt.MAP(k=5, divide_by_k=True))),
    Check("ndcg@5[ideal=full,ties=stable]", peer(rt.NDCG(k=5))),
    Check("ndcg@20[ideal=full,ties=stable]", peer(rt.NDCG(k=20))),
    Check("ndcg@5[ties=stable]", peer(rt.NDCG(k=5, divide_by_achievable=True))),
)
comparison = Comparison(DRAWN, CHECKS, segment=True)


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_segments_agree_with_rectools(check):
    comparison.check_segments(check)
