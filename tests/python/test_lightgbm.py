"""Metrics that LightGBM evaluates during training, beside its own code: one booster without a tree per draw, whose predictions
are the initial scores.

LightGBM keeps labels and weights in single precision and has no Python function for its metrics. It sorts with a stable sort,
so that rows of equal score keep the order of the file. Segments without a relevant row are 1 in its ndcg and map.
"""
from dataclasses import replace
from functools import cache

import lightgbm as lgb
import numpy as np
import pytest

import facts
from agreement import DRAWS, Check, Comparison, Difference, name
from draws import float32, row_draws, segment_draws

QUIET = {"verbosity": -1, "num_threads": 1, "feature_pre_filter": False, "min_data_in_bin": 1}


def evaluate(draw, objective, metric, group=None, **options):
    """{name: value} of LightGBM's metrics, with the scores of a draw as predictions."""
    parameters = {**QUIET, "objective": objective, "metric": metric, **options}
    data = lgb.Dataset(
        np.zeros((len(draw.label), 1)), draw.label, weight=draw.weight if group is None else None, group=group,
        init_score=draw.score, params=parameters,
    )
    return {metric: value for _, metric, value, _ in lgb.Booster(parameters, data).eval_train()}


@cache
def ranking(draw):
    """The ranking metrics of a draw: means over its segments, which all weigh the same."""
    sizes = np.bincount(draw.segment)
    return evaluate(draw, "none", ["ndcg", "map"], group=sizes, eval_at=[1, 3, 5, 20], label_gain=[0, 1, 3, 7, 15])


def ranked(metric):
    """The peer's function of a draw."""
    return lambda draw: ranking(draw)[metric]


RANKING = (
    *(Check(f"ndcg@{k}[gain=exp2,ties=stable,no_positive=one]", ranked(f"ndcg@{k}")) for k in (1, 3, 5, 20)),
    *(Check(f"map@{k}[ties=stable,no_positive=one]", ranked(f"map@{k}")) for k in (1, 3, 5, 20)),
)
rankings = Comparison(segment_draws(381, DRAWS, grades=4), RANKING, segment=True)


@pytest.mark.parametrize("check", RANKING, ids=name)
def test_segments_agree_with_lightgbm(check):
    rankings.check(check)


@cache
def binary(draw):
    """The metrics of binary labels; scores are logits. Rows of weight 0 are left out, which make 0/0 of LightGBM's precision
    where they come first."""
    rows = draw.weight > 0
    there = {name: getattr(draw, name)[rows] for name in ("label", "score", "weight", "segment", "item")}
    return evaluate(replace(draw, **there), "binary", ["auc", "average_precision", "binary_logloss"])


@cache
def regression(draw):
    """The metrics of continuous labels."""
    return evaluate(draw, "regression", ["l1", "l2", "rmse"])


ONE_CLASS = Difference(facts.lacks_a_class, facts.nothing, "LightGBM gives 1 where a class is missing")
NO_POSITIVE = Difference(facts.lacks_positives, facts.nothing, "LightGBM gives 1 where no row is positive")
BINARY = (
    Check("roc_auc", lambda draw: binary(draw)["auc"], differences=(ONE_CLASS,)),
    Check("pr_auc", lambda draw: binary(draw)["average_precision"], differences=(NO_POSITIVE,)),
    Check("log_loss", lambda draw: binary(draw)["binary_logloss"]),
)


def in_single_precision(draws):
    """The draws with labels and weights that float32 holds."""
    return [replace(draw, label=float32(draw.label), weight=float32(draw.weight)) for draw in draws]


def as_logits(draw):
    """Logits from −4 to 4 for scores between 0 and 1: beyond 34 LightGBM stops the loss, which fuseval does not. Weights of
    large ratio become 1: LightGBM takes the weight of the negatives as that of all rows less that of the positives, and can
    get an area above 1 (settled by hand)."""
    weight = np.ones(len(draw.weight)) if "large ratio" in draw.kinds else draw.weight
    return replace(draw, score=8 * draw.score - 4, weight=weight)


binaries = Comparison(
    in_single_precision(map(as_logits, row_draws(382, DRAWS))), BINARY, "--kind", "logit", weight=True,
)


@pytest.mark.parametrize("check", BINARY, ids=name)
def test_binary_metrics_agree_with_lightgbm(check):
    binaries.check(check)


ERRORS = (
    Check("mae", lambda draw: regression(draw)["l1"]),
    Check("mse", lambda draw: regression(draw)["l2"]),
    Check("rmse", lambda draw: regression(draw)["rmse"]),
)
errors = Comparison(in_single_precision(row_draws(383, DRAWS, label="continuous", score="raw")), ERRORS, weight=True)


@pytest.mark.parametrize("check", ERRORS, ids=name)
def test_errors_agree_with_lightgbm(check):
    errors.check(check)
