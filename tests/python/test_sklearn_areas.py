"""Areas under curves, and the points of the curves, beside scikit-learn, with `preset: sklearn` and weights."""
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics as sk

import facts
from agreement import DRAWS, NAN, Check, Comparison, name
from draws import row_draws


def there(draw):
    """Labels, scores and weights of the rows that weigh anything: a class of weight 0 only is a class to scikit-learn, and its
    rates are 0/0."""
    rows = draw.weight > 0
    return draw.label[rows], draw.score[rows], draw.weight[rows]


def roc_auc(max_fpr=None):
    """`roc_auc_score`; NaN where a class is missing."""
    def peer(draw):
        label, score, weight = there(draw)
        if len(np.unique(label)) < 2:
            return NAN
        return sk.roc_auc_score(label, score, sample_weight=weight, max_fpr=max_fpr)
    return peer


def average_precision(draw):
    """`average_precision_score`, which is 0 without positives."""
    label, score, weight = there(draw)
    return sk.average_precision_score(label, score, sample_weight=weight)


def trapezoid(draw):
    """`auc` of `precision_recall_curve`, whose first point is (0, 1)."""
    label, score, weight = there(draw)
    if not label.any():
        return 0.0
    precision, recall, _ = sk.precision_recall_curve(label, score, sample_weight=weight)
    return sk.auc(recall, precision)


def ks(draw):
    """The largest distance of the rates of `roc_curve`."""
    label, score, weight = there(draw)
    if len(np.unique(label)) < 2:
        return NAN
    fpr, tpr, _ = sk.roc_curve(label, score, sample_weight=weight, drop_intermediate=False)
    return np.abs(tpr - fpr).max()


def at_recall(value):
    """What a function makes of the precisions and thresholds at which the recall is at least 0.63."""
    def peer(draw):
        label, score, weight = there(draw)
        if not label.any():
            return NAN
        precision, recall, threshold = sk.precision_recall_curve(label, score, sample_weight=weight)
        enough = recall[:-1] >= 0.63
        return value(precision[:-1][enough], threshold[enough])
    return peer


def best_threshold(precision, threshold):
    """The highest of the thresholds with the greatest precision."""
    return threshold[precision == precision.max()].max()


def best_precision(precision, _threshold):
    """The greatest precision."""
    return precision.max()


def recall_at_precision(draw):
    """The greatest recall with a precision of at least 0.63."""
    label, score, weight = there(draw)
    if not label.any():
        return NAN
    precision, recall, _ = sk.precision_recall_curve(label, score, sample_weight=weight)
    return recall[:-1].max(where=precision[:-1] >= 0.63, initial=0) or NAN


def capture(q):
    """The recall at a share of the weight, on the line through the points of `confusion_matrix_at_thresholds`."""
    def peer(draw):
        label, score, weight = there(draw)
        if not label.any():
            return NAN
        _, fp, _, tp, _ = sk.confusion_matrix_at_thresholds(label, score, sample_weight=weight)
        called = np.concatenate([[0], tp + fp]) / (tp[-1] + fp[-1])
        return np.interp(q, called, np.concatenate([[0], tp]) / tp[-1])
    return peer


ROUNDED = "scikit-learn adds trapezoids of rounded rates, so that an area near 0 has an error of 1e-16 all the same"
BETWEEN = "NumPy interpolates between rounded shares"
AREAS = (
    Check("roc_auc", roc_auc(), scale=1e-2, reason=ROUNDED),
    Check("partial_auc[max_fpr=0.3]", roc_auc(max_fpr=0.3)),
    Check("partial_auc[max_fpr=0.05]", roc_auc(max_fpr=0.05)),
    Check("pr_auc", average_precision),
    Check("pr_auc[curve=trapezoid]", trapezoid),
    Check("precision_at_recall[recall=0.63]", at_recall(best_precision)),
    Check("threshold_at_recall[recall=0.63]", at_recall(best_threshold)),
    Check("recall_at_precision[precision=0.63]", recall_at_precision),
    Check("capture", capture(0.1), scale=1e-3, reason=BETWEEN),
    Check("lift[q=25]", lambda draw: capture(0.25)(draw) / 0.25, scale=1e-3, reason=BETWEEN),
    Check("ks", ks, scale=1.0, reason="a difference of two rates on both sides"),
)
areas = Comparison(row_draws(321, DRAWS, score="raw"), AREAS, "--preset", "sklearn", weight=True)


@pytest.mark.parametrize("check", AREAS, ids=name)
def test_areas_agree_with_sklearn(check):
    areas.check(check)


def doubled(peer):
    """A row of label y as a positive row with the weight y and a negative one with 1 − y: `labels=soft`."""
    def of(draw):
        weight = np.concatenate([draw.label, 1 - draw.label]) * np.tile(draw.weight, 2)
        return peer(replace(draw, label=np.repeat([1.0, 0.0], len(draw.label)), score=np.tile(draw.score, 2), weight=weight))
    return of


SOFT = (
    Check("roc_auc[labels=soft]", doubled(roc_auc()), scale=1e-2, reason=ROUNDED),
    Check("pr_auc[labels=soft]", doubled(average_precision)),
)
soft = Comparison(row_draws(323, DRAWS, label="soft"), SOFT, "--preset", "sklearn", weight=True)


@pytest.mark.parametrize("check", SOFT, ids=name)
def test_areas_of_soft_labels_agree_with_sklearn_on_doubled_rows(check):
    soft.check(check)


CLOSE_BY = tuple(
    Check(f"{metric}{'[' if options is None else f'[{options},'}mode=histogram]", peer)
    for metric, options, peer in (
        ("roc_auc", None, roc_auc()),
        ("partial_auc", "max_fpr=0.3", roc_auc(max_fpr=0.3)),
        ("pr_auc", None, average_precision),
        ("pr_auc", "curve=trapezoid", trapezoid),
        ("ks", None, ks),
        ("capture", None, capture(0.1)),
        ("precision_at_recall", "recall=0.63", at_recall(best_precision)),
    )
)
# Scores so close together that a bin of the histogram holds many.
CLOSE_DRAWS = [replace(draw, score=0.5 + draw.score / 50) for draw in row_draws(324, DRAWS)]
close_by = Comparison(CLOSE_DRAWS, CLOSE_BY, "--preset", "sklearn", weight=True)


@pytest.mark.parametrize("check", CLOSE_BY, ids=name)
def test_error_bounds_of_the_histogram_hold(check):
    """The value of scikit-learn, which is exact but for its rounding, lies within the bound that fuseval states."""
    far = 0
    for draw in close_by.draws:
        record, theirs = close_by.records(check.metric)[draw.name], check.peer(draw)
        assert np.isnan(record.value) == np.isnan(theirs), f"fuseval {record}, scikit-learn {theirs!r}: {draw}"
        if not np.isnan(theirs):
            distance = abs(record.value - theirs)
            assert distance <= record.error_bound + 1e-12, f"{distance!r} > {record.error_bound!r}: {draw}"
            far += distance > 1e-12
    assert far >= DRAWS // 20, "hardly a value of the histogram differs from the exact one: this shows nothing"


def roc_points(draw):
    """All points (FPR, TPR, threshold)."""
    label, score, weight = there(draw)
    if len(np.unique(label)) < 2:
        return None
    fpr, tpr, threshold = sk.roc_curve(label, score, sample_weight=weight, drop_intermediate=False)
    return np.column_stack([fpr, tpr, threshold])


def pr_points(draw):
    """All points (recall, precision, threshold) from the highest threshold down, without the point (0, 1) that scikit-learn
    adds."""
    label, score, weight = there(draw)
    if not label.any():
        return None
    precision, recall, threshold = sk.precision_recall_curve(label, score, sample_weight=weight)
    return np.column_stack([recall[:-1], precision[:-1], threshold])[::-1]


def distances(points, line):
    """How far each point lies from a line of straight pieces."""
    start, step = line[:-1], np.diff(line, axis=0)
    if len(start) == 0:
        return np.abs(points - line[0]).max(axis=1)
    to = points[:, None, :] - start[None]
    length = (step**2).sum(axis=1)
    along = np.clip((to * step).sum(axis=2) / np.where(length > 0, length, 1), 0, 1)
    return np.abs(to - along[..., None] * step).max(axis=2).min(axis=1)


CURVES = (
    (Check("roc_curve[max_error=0]", facts.nothing), roc_points),
    (Check("pr_curve[max_error=0]", facts.nothing), pr_points),
)
curves = Comparison(
    row_draws(322, DRAWS, score="raw"), tuple(check for check, _ in CURVES), "--preset", "sklearn", weight=True,
)


@pytest.mark.parametrize(("check", "peer"), CURVES, ids=("roc_curve", "pr_curve"))
def test_curves_agree_with_sklearn(check, peer):
    """Each point of ours is one of scikit-learn's, and each of scikit-learn's lies on our line."""
    compared = 0
    for draw in curves.draws:
        record, theirs = curves.records(check.metric)[draw.name], peer(draw)
        if theirs is None:
            assert record.curve is None, str(draw)
            assert record.why, str(draw)
            continue
        ours = np.array(record.curve["points"], dtype=float)
        for point in ours:
            nearest = theirs[np.argmin(np.abs(theirs - point)[:, :2].max(axis=1))]
            np.testing.assert_allclose(point[:2], nearest[:2], rtol=0, atol=1e-12, err_msg=str(draw))
            assert point[2] in theirs[:, 2], (point, str(draw))
        assert distances(theirs[:, :2], ours[:, :2]).max() <= 1e-12, str(draw)
        compared += 1
    assert compared >= DRAWS // 2
