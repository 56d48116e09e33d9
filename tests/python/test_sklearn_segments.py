"""Metrics over segments beside scikit-learn, per segment and as means, with `preset: sklearn`: ties are averaged there too."""
import functools
import math

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics as sk

from agreement import DRAWS, NAN, Check, Comparison, Difference, mean, name
from draws import Draw, segment_draws


def ndcg(k=None, gain=lambda label: label):
    """`ndcg_score` of one segment; NaN where scikit-learn refuses."""
    def peer(segment):
        return NAN if is_one_row(segment) else sk.ndcg_score([gain(segment.label)], [segment.score], k=k)
    return peer


def dcg(k=None, gain=lambda label: label):
    """`dcg_score` of one segment; NaN where scikit-learn refuses."""
    def peer(segment):
        return NAN if is_one_row(segment) else sk.dcg_score([gain(segment.label)], [segment.score], k=k)
    return peer


def exp2(label):
    """The gain 2^label − 1."""
    return 2**label - 1


def is_one_row(segment):
    """Whether scikit-learn takes the segment for a list of labels."""
    return len(segment.label) == 1


REFUSED = "scikit-learn refuses a single document"
ONE_OF_NDCG = (Difference(is_one_row, lambda segment: float(segment.label[0] > 0), REFUSED),)
ONE_OF_DCG = (Difference(is_one_row, lambda segment: segment.label[0], REFUSED),)
ONE_OF_EXP2 = (Difference(is_one_row, lambda segment: exp2(segment.label[0]), REFUSED),)

GRADED = (
    Check("ndcg", ndcg(), differences=ONE_OF_NDCG),
    Check("ndcg@1", ndcg(1), differences=ONE_OF_NDCG),
    Check("ndcg@5", ndcg(5), differences=ONE_OF_NDCG),
    Check("ndcg@10[gain=exp2]", ndcg(10, exp2), differences=ONE_OF_NDCG),
    Check("dcg", dcg(), differences=ONE_OF_DCG),
    Check("dcg@3", dcg(3), differences=ONE_OF_DCG),
    Check("dcg@20[gain=exp2]", dcg(20, exp2), differences=ONE_OF_EXP2),
)
graded = Comparison(segment_draws(331, DRAWS, grades=4), GRADED, "--preset", "sklearn", segment=True)


@pytest.mark.parametrize("check", GRADED, ids=name)
def test_gains_agree_with_sklearn(check):
    graded.check_segments(check)


@functools.cache
def roc_auc(segment):
    """`roc_auc_score` of one segment; NaN where a class is missing."""
    return sk.roc_auc_score(segment.label, segment.score) if len(np.unique(segment.label)) == 2 else NAN


BINARY = (Check("uauc", roc_auc), Check("pair_accuracy", roc_auc), Check("gauc", roc_auc))
binary = Comparison(segment_draws(332, DRAWS), BINARY, "--preset", "sklearn", segment=True)


@pytest.mark.parametrize("check", BINARY[:2], ids=name)
def test_areas_of_segments_agree_with_sklearn(check):
    binary.check_segments(check, mean)


def test_gauc_is_the_mean_weighted_by_rows():
    check = BINARY[2]
    for draw in binary.draws:
        areas = [(roc_auc(segment), len(segment.label)) for segment in draw.segments]
        areas = [(area, rows) for area, rows in areas if not math.isnan(area)]
        theirs = math.fsum(area * rows for area, rows in areas) / sum(rows for _, rows in areas) if areas else NAN
        assert check.agrees(binary.records("gauc")[draw.name].value, theirs), str(draw)


def mean_rank(segment):
    """The mean rank of the relevant rows, equal scores sharing their ranks; NaN without one."""
    return stats.rankdata(-segment.score)[segment.label > 0].mean() if segment.label.any() else NAN


def first_rank(segment):
    """The rank of the first relevant row, where no scores are equal; NaN without one."""
    return stats.rankdata(-segment.score)[segment.label > 0].min() if segment.label.any() else NAN


RANKS = (Check("mean_rank", mean_rank),)
ranks = Comparison(segment_draws(333, DRAWS), RANKS, segment=True)
FIRST_RANKS = (Check("mean_rank[of=first]", first_rank),)
first_ranks = Comparison(segment_draws(334, DRAWS, ties=False), FIRST_RANKS, segment=True)


@pytest.mark.parametrize(("comparison", "check"), [(ranks, RANKS[0]), (first_ranks, FIRST_RANKS[0])], ids=("all", "first"))
def test_ranks_agree_with_scipy(comparison, check):
    comparison.check_segments(check)


def matrices(seed):
    """Draws of 2 to 6 segments of one size, with weights that differ within a segment."""
    random, draws = np.random.default_rng(seed), []
    for number in range(DRAWS):
        shape = int(random.integers(2, 7)), int(random.integers(2, 9))
        size = shape[0] * shape[1]
        label, score = random.integers(0, 4, size).astype(float), random.integers(0, 6, size) / 5
        item, weight = np.array([f"i{row}" for row in range(size)]), random.integers(1, 9, size) / 4
        draws.append(Draw(f"{number:05}", label, score, weight, np.repeat(np.arange(shape[0]), shape[1]), item))
    return draws


def on_matrix(function, **options):
    """The peer that gives a function of scikit-learn one row per segment, which weighs the mean of its rows."""
    def peer(draw):
        label, score, weight = (
            column.reshape(int(draw.segment[-1]) + 1, -1) for column in (draw.label, draw.score, draw.weight)
        )
        return function(label, score, sample_weight=weight.mean(axis=1), **options)
    return peer


WEIGHTED = (
    Check("ndcg", on_matrix(sk.ndcg_score)),
    Check("ndcg@3", on_matrix(sk.ndcg_score, k=3)),
    Check("dcg@5", on_matrix(sk.dcg_score, k=5)),
)
weighted = Comparison(matrices(335), WEIGHTED, "--preset", "sklearn", segment=True, weight=True)


@pytest.mark.parametrize("check", WEIGHTED, ids=name)
def test_weighted_means_agree_with_sklearn(check):
    weighted.check(check)
