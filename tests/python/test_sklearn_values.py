"""Pointwise and probabilistic metrics beside scikit-learn, with `preset: sklearn` and weights."""
import functools

import numpy as np
import pytest
from scipy import special
from sklearn import metrics as sk

import facts
from agreement import DRAWS, NAN, Check, Comparison, Difference, name
from draws import row_draws

ONE_MINUS = "a difference of two numbers near 1 on both sides"


def of(function, **options):
    """The peer that calls a function of scikit-learn with labels, scores and weights."""
    return lambda draw: function(draw.label, draw.score, sample_weight=draw.weight, **options)


def average(values):
    """The weighted mean of values of a draw."""
    return lambda draw: np.average(values(draw), weights=draw.weight)


def r2_of_constant(draw):
    """The rule of scikit-learn for equal labels: 1 where all is right, else 0."""
    there = draw.weight > 0
    return float(np.array_equal(draw.label[there], draw.score[there]))


R2_OF_ONE_ROW = Difference(
    lambda draw: len(draw.label) < 2,
    r2_of_constant,
    "scikit-learn warns and gives NaN for one row, before it looks at the labels; fuseval applies the rule for equal labels",
)
R2_ROUNDING = Difference(
    facts.is_constant,
    r2_of_constant,
    "scikit-learn's weighted mean of equal labels can miss them by a bit; then it divides by the square of that, not by 0",
)

POINTWISE = (
    Check("mae", of(sk.mean_absolute_error)),
    Check("mse", of(sk.mean_squared_error)),
    Check("rmse", of(sk.root_mean_squared_error)),
    Check("r2", of(sk.r2_score), scale=1.0, reason=ONE_MINUS, differences=(R2_OF_ONE_ROW, R2_ROUNDING)),
    Check("mape", of(sk.mean_absolute_percentage_error)),
    Check("bias", average(lambda draw: draw.score - draw.label), scale=1e2, reason="terms of both signs up to 1e3"),
    Check("mean_label", average(lambda draw: draw.label), scale=1.0, reason="terms of both signs"),
    Check("mean_prediction", average(lambda draw: draw.score), scale=1.0, reason="terms of both signs"),
)
pointwise = Comparison(
    row_draws(301, DRAWS, label="continuous", score="raw"), POINTWISE, "--preset", "sklearn", weight=True,
)


@pytest.mark.parametrize("check", POINTWISE, ids=name)
def test_errors_agree_with_sklearn(check):
    pointwise.check(check)


def correlation(draw):
    """Pearson's correlation by NumPy, with weights as covariances."""
    covariance = np.cov(draw.label, draw.score, aweights=draw.weight, ddof=0)
    spread = np.sqrt(covariance[0, 0] * covariance[1, 1])
    return covariance[0, 1] / spread if spread > 0 else NAN


CORRELATED = (
    Check(
        "pearson", correlation, tolerance=1e-9, scale=1.0,
        reason="NumPy rounds the means before it forms squares, whose spread can be 1e-6 of their size",
        differences=(
            Difference(
                lambda draw: facts.is_constant(draw) or np.ptp(draw.score[draw.weight > 0]) == 0,
                facts.nothing,
                "NumPy's weighted mean of equal numbers can miss them by a bit",
            ),
        ),
    ),
)
correlated = Comparison(row_draws(302, DRAWS, label="continuous"), CORRELATED, weight=True)


@pytest.mark.parametrize("check", CORRELATED, ids=name)
def test_correlation_agrees_with_numpy(check):
    correlated.check(check)


@functools.cache
def log_loss(draw):
    """scikit-learn's log loss."""
    return sk.log_loss(draw.label, draw.score, sample_weight=draw.weight, labels=[0, 1])


def d2(draw):
    """scikit-learn's share of explained log loss, which it has only where both classes are."""
    there = draw.weight > 0
    if facts.lacks_a_class(draw):
        return NAN
    return sk.d2_log_loss_score(draw.label[there], draw.score[there], sample_weight=draw.weight[there], labels=[0, 1])


LOST_BITS = Difference(
    facts.has_rare_class,
    lambda draw: 1 - log_loss(draw) / facts.entropy(draw),
    "scikit-learn takes ln(1 − rate) of a rounded 1 − rate, which costs 1e-16 / rate (settled with 60 decimal digits)",
)
CERTAIN = "scikit-learn charges a row that is certain and right −ln(1 − ε) = 2.2e-16, fuseval 0"
PROBABILISTIC = (
    Check("log_loss", log_loss, scale=1e-3, reason=CERTAIN),
    Check("brier", of(sk.brier_score_loss, pos_label=1)),
    Check("normalized_entropy", lambda draw: log_loss(draw) / facts.entropy(draw), scale=1e-2, reason=CERTAIN),
    Check("rig", d2, scale=1.0, reason=ONE_MINUS, differences=(LOST_BITS,)),
    Check("calibration", lambda draw: np.dot(draw.score, draw.weight) / (np.dot(draw.label, draw.weight) or NAN)),
)
probabilistic = Comparison(
    row_draws(303, DRAWS), PROBABILISTIC, "--preset", "sklearn", "--kind", "probability", weight=True,
)


@pytest.mark.parametrize("check", PROBABILISTIC, ids=name)
def test_probabilistic_metrics_agree_with_sklearn(check):
    probabilistic.check(check)


def test_weights_of_one_are_no_weights():
    draws = row_draws(304, DRAWS, weights=False)
    metrics = [check.metric for check in PROBABILISTIC]
    weighted = Comparison(draws, PROBABILISTIC, "--kind", "probability", weight=True)
    plain = Comparison(draws, PROBABILISTIC, "--kind", "probability")
    for metric in metrics:
        assert repr(weighted.records(metric)) == repr(plain.records(metric)), metric


def loss_of_logit(draw):
    """The loss of a logit x, ln(1 + eˣ) − xy, by NumPy's stable sum of exponentials."""
    return np.average(np.logaddexp(0, draw.score) - draw.score * draw.label, weights=draw.weight)


def with_sigmoid(function):
    """The peer that calls a function of scikit-learn with the sigmoid of the scores."""
    return lambda draw: function(draw.label, special.expit(draw.score), sample_weight=draw.weight)


LOGITS = (
    Check("log_loss", loss_of_logit, scale=1e-2, reason="a difference of numbers up to 1e3 where a row is nearly certain"),
    Check("brier", with_sigmoid(sk.brier_score_loss), scale=1e-3, reason="the square of a small 1 − sigmoid"),
    Check("mae", with_sigmoid(sk.mean_absolute_error), scale=1e-3, reason="a small 1 − sigmoid"),
    Check("mean_prediction", lambda draw: np.average(special.expit(draw.score), weights=draw.weight)),
)
logits = Comparison(row_draws(305, DRAWS, score="raw"), LOGITS, "--kind", "logit", weight=True)


@pytest.mark.parametrize("check", LOGITS, ids=name)
def test_metrics_of_logits_agree_with_numpy_and_scipy(check):
    logits.check(check)
