"""Calibration over uniform bins beside scikit-learn. Its bins are closed on the right, fuseval's on the left: no score of these
draws lies on an edge. It knows no weights; the bins are weighed here by their rows."""
import functools

import numpy as np
import pytest
from sklearn.calibration import calibration_curve

from agreement import DRAWS, NAN, Check, Comparison, name
from draws import row_draws

BINS = 15


@functools.cache
def bins(draw):
    """(rate of positives, mean prediction, share of the rows) of the bins that have rows."""
    rate, prediction = calibration_curve(draw.label, draw.score, pos_label=1, n_bins=BINS, strategy="uniform")
    counts, _ = np.histogram(draw.score, BINS, (0, 1))
    return rate, prediction, counts[counts > 0] / counts.sum()


def ece(draw):
    """The mean distance of the curve from the diagonal."""
    rate, prediction, share = bins(draw)
    return (share * np.abs(rate - prediction)).sum()


def mce(draw):
    """The largest distance of the curve from the diagonal."""
    rate, prediction, _ = bins(draw)
    return np.abs(rate - prediction).max()


DISTANCE = "distances of two rates"
CALIBRATION = (
    Check("ece[strategy=uniform]", ece, scale=1.0, reason=DISTANCE),
    Check("mce[strategy=uniform]", mce, scale=1.0, reason=DISTANCE),
    Check("reliability_curve[strategy=uniform]", lambda draw: NAN),
)
calibration = Comparison(row_draws(326, DRAWS, score="inside", weights=False), CALIBRATION, "--kind", "probability")


@pytest.mark.parametrize("check", CALIBRATION[:2], ids=name)
def test_calibration_errors_agree_with_sklearn(check):
    calibration.check(check)


def test_reliability_curves_agree_with_sklearn():
    for draw in calibration.draws:
        curve = calibration.records(CALIBRATION[2].metric)[draw.name].curve
        ours = np.array(curve["points"])
        rate, prediction, share = bins(draw)
        expected = np.column_stack([prediction, rate, share * len(draw.label), share * len(draw.label)])
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-15, err_msg=str(draw))
