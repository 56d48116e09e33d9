"""Metrics at a threshold beside scikit-learn, with `preset: sklearn` and weights. A row is called positive at 0.5 or above."""
import functools
import math
from fractions import Fraction

import numpy as np
import pytest
from sklearn import metrics as sk

from agreement import DRAWS, Check, Comparison, Difference, name
from draws import row_draws

THRESHOLD = 0.5
APART = "a difference of products on both sides"


def calls(draw):
    """Labels and calls of a draw."""
    return draw.label, (draw.score >= THRESHOLD).astype(float)


def called(function):
    """The peer that calls a function of scikit-learn with labels, calls and weights."""
    return lambda draw: function(*calls(draw), sample_weight=draw.weight)


@functools.cache
def support(draw, **options):
    """What `precision_score`, `recall_score`, `f1_score` and `fbeta_score` take their values from."""
    return sk.precision_recall_fscore_support(
        *calls(draw), sample_weight=draw.weight, average="binary", zero_division=0, **options,
    )


def part(place, **options):
    """The peer that takes precision (0), recall (1) or F (2) of them."""
    return lambda draw: support(draw, **options)[place]


def exact_mcc(draw):
    """Matthews' correlation in rational arithmetic up to the last root."""
    cells = {(label, call): Fraction(0) for label in (0, 1) for call in (0, 1)}
    for label, call, weight in zip(*calls(draw), draw.weight.tolist(), strict=True):
        cells[int(label), int(call)] += Fraction(weight)
    (tn, fp), (fn, tp) = ([cells[label, call] for call in (0, 1)] for label in (0, 1))
    product = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    apart = tp * tn - fp * fn
    return math.copysign(math.sqrt(apart * apart / product), apart) if product else 0.0


MCC_BITS = Difference(
    lambda draw: "large ratio" in draw.kinds,
    exact_mcc,
    "scikit-learn forms differences of large sums: with weights from 1e-6 to 1e6 it is right to three digits only",
)
RATES = (
    Check("precision[threshold=0.5]", part(0)),
    Check("recall[threshold=0.5]", part(1)),
    Check("f_beta", part(2)),
    Check("f_beta[beta=2]", part(2, beta=2)),
    Check("specificity", part(1, pos_label=0)),
    Check("npv", part(0, pos_label=0)),
    Check("accuracy", called(sk.accuracy_score)),
    Check("balanced_accuracy", called(sk.balanced_accuracy_score)),
    Check("mcc", called(sk.matthews_corrcoef), scale=1.0, reason=APART, differences=(MCC_BITS,)),
    Check("kappa", called(sk.cohen_kappa_score), scale=1.0, reason=APART),
    Check("jaccard", called(sk.jaccard_score)),
)
rates = Comparison(row_draws(311, DRAWS), RATES, "--preset", "sklearn", "--kind", "probability", weight=True)


@pytest.mark.parametrize("check", RATES, ids=name)
def test_rates_agree_with_sklearn(check):
    rates.check(check)


THRESHOLDS = (0.0, 0.25, 0.5, 1.0)
MATRIX = Check("confusion_matrix[thresholds=[0,0.25,0.5,1]]", lambda draw: np.nan)
# Of weights from 1e-6 to 1e6 scikit-learn takes the negatives called so as a difference of sums near 1e7.
CLOSE = {"rtol": 1e-12, "atol": 1e-8}
matrices = Comparison(row_draws(312, DRAWS), (MATRIX,), "--kind", "probability", weight=True)


def test_confusion_matrices_agree_with_sklearn():
    for draw in matrices.draws:
        curve = matrices.records(MATRIX.metric)[draw.name].curve
        assert [point[0] for point in curve["points"]] == list(THRESHOLDS)
        *cells, observed = sk.confusion_matrix_at_thresholds(draw.label, draw.score, sample_weight=draw.weight)
        negative, positive = ((draw.weight * (draw.label == label)).sum() for label in (0, 1))
        for point in curve["points"]:
            reached = np.flatnonzero(observed >= point[0])  # from the highest down; none: nothing is called
            theirs = [cell[reached[-1]] for cell in cells] if len(reached) else [negative, 0, positive, 0]
            ours = dict(zip(curve["columns"], point, strict=True))
            np.testing.assert_allclose([ours[name] for name in ("tn", "fp", "fn", "tp")], theirs, err_msg=str(draw), **CLOSE)
