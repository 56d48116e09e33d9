"""Facts about a draw on which tools are known to differ. Rows of weight 0 are not there."""
import numpy as np

NAN = float("nan")


def nothing(_draw):
    """No value."""
    return NAN


def lacks_a_class(draw):
    """Whether one of two classes weighs nothing."""
    return len(np.unique(draw.label[draw.weight > 0])) < 2


def lacks_positives(draw):
    """Whether no positive row weighs anything."""
    return not draw.label[draw.weight > 0].any()


def has_rare_class(draw):
    """Whether a class is there and has less than a thousandth of the weight."""
    share = np.average(draw.label, weights=draw.weight)
    return 0 < min(share, 1 - share) < 1e-3


def is_constant(draw):
    """Whether all labels are the same."""
    return np.ptp(draw.label[draw.weight > 0]) == 0


def entropy(draw):
    """The entropy of the weighted base rate, exact to a few bits for rates near 0 and 1 too; NaN where a class is missing."""
    positive, negative = (draw.weight[draw.label == label].sum() for label in (1, 0))
    if positive == 0 or negative == 0:
        return NAN
    rare, common = sorted((positive / (positive + negative), negative / (positive + negative)))
    return -(rare * np.log(rare) + common * np.log1p(-rare))


def log_loss(draw):
    """The mean negative log-likelihood, for probabilities other than 0 and 1."""
    loss = -np.where(draw.label > 0, np.log(draw.score), np.log1p(-draw.score))
    return np.average(loss, weights=draw.weight)


def greatest_precision(draw):
    """The greatest precision at a score of the draw, without weights."""
    return max(draw.label[draw.score >= threshold].mean() for threshold in draw.score)


def is_degenerate(draw, threshold):
    """Whether the labels, or the calls at a threshold, are all the same."""
    return lacks_a_class(draw) or len(np.unique(draw.score[draw.weight > 0] >= threshold)) < 2
