"""fuseval beside the values of the files *_oracles.json: of PyTorch, torchmetrics, torcheval and Spark, which are too large to
install for each run of the tests. The scripts of the same names wrote them.
"""
import json
from pathlib import Path

import pytest

import facts
import heavy_draws
from agreement import NAN, Check, Comparison, Difference

FILES = sorted(Path(__file__).parent.glob("*_oracles.json"))
ORACLES = [oracle for path in FILES for oracle in json.loads(path.read_text())["oracles"]]
# torchmetrics forms these quotients in single precision, whatever the type of the scores.
SINGLE_PRECISION = (
    "binary_precision", "binary_recall", "binary_specificity", "binary_negative_predictive_value", "binary_accuracy",
    "binary_jaccard_index", "binary_matthews_corrcoef", "binary_cohen_kappa", "retrieval_normalized_dcg",
    "retrieval_precision", "retrieval_recall", "retrieval_average_precision", "retrieval_r_precision",
)
SINGLE = {"tolerance": 1e-6, "scale": 1.0, "reason": "quotients in single precision"}
DOUBLE = {"scale": 1e-2, "reason": "sums of rounded rates, for values near 0"}


def accuracy(draw):
    """Accuracy with the rows at the threshold called positive."""
    return ((draw.score >= 0.5) == draw.label).mean()


MISSING_IS_0 = Difference(facts.lacks_a_class, facts.nothing, "torchmetrics gives 0 where a class is missing")
# (tool, metric): where they differ.
KNOWN = {
    ("torchmetrics", "roc_auc"): (MISSING_IS_0,),
    ("torchmetrics", "partial_auc[max_fpr=0.3]"): (MISSING_IS_0,),
    ("torchmetrics", "uauc"): (MISSING_IS_0,),
    ("torchmetrics", "accuracy"): (
        Difference(
            lambda draw: (draw.score == 0.5).any(), accuracy,
            "torchmetrics calls a row positive above the threshold, scikit-learn and fuseval at it too",
        ),
    ),
    ("torchmetrics", "mcc[threshold=0.45,undefined=zero]"): (
        Difference(
            lambda draw: facts.is_degenerate(draw, 0.45), lambda draw: 0.0,
            "torchmetrics gives 1 or -1 where all calls are right or wrong, though of one class, and adds 1.2e-7 for 0/0",
        ),
    ),
    ("torchmetrics", "precision_at_recall[recall=0.63]"): (
        Difference(facts.lacks_positives, facts.nothing, "torchmetrics gives 0 where no row is positive"),
    ),
    ("torchmetrics", "recall_at_precision[precision=0.63]"): (
        Difference(
            lambda draw: facts.greatest_precision(draw) < 0.63, facts.nothing,
            "torchmetrics gives 0 where no threshold has the precision",
        ),
    ),
    ("torchmetrics", "wmape"): (
        Difference(
            lambda draw: not draw.label.any(), facts.nothing, "torchmetrics divides by 1.17e-6 where all labels are 0",
        ),
    ),
    ("torcheval", "roc_auc"): (
        Difference(facts.lacks_a_class, facts.nothing, "torcheval gives 0.5 where a class is missing"),
    ),
    ("torcheval", "normalized_entropy"): (
        Difference(
            facts.lacks_a_class, facts.nothing, "torcheval raises the entropy of a missing class to that of a rate of 2.2e-16",
        ),
        Difference(
            facts.has_rare_class, lambda draw: facts.log_loss(draw) / facts.entropy(draw),
            "torcheval takes ln(1 − rate) of a rounded 1 − rate, which costs 1e-16 / rate",
        ),
    ),
    ("torcheval", "calibration"): (
        Difference(facts.lacks_positives, facts.nothing, "torcheval divides by 0 where no row is positive"),
    ),
    ("spark", "roc_auc"): (Difference(facts.lacks_a_class, facts.nothing, "Spark gives a number where a class is missing"),),
    ("spark", "pr_auc[curve=trapezoid,anchor=first]"): (
        Difference(facts.lacks_positives, facts.nothing, "Spark gives 0 where no row is positive"),
    ),
    ("spark", "r2"): (
        Difference(facts.is_constant, facts.nothing, "Spark divides by 0, or by what rounding leaves, where labels are equal"),
    ),
}


def comparisons():
    """{data set: Comparison} for all metrics that the files have values of."""
    found = {}
    for dataset, (_, options, roles) in heavy_draws.DATASETS.items():
        metrics = dict.fromkeys(oracle["metric"] for oracle in ORACLES if oracle["dataset"] == dataset)
        checks = tuple(Check(metric, lambda draw: NAN) for metric in metrics)
        if checks:
            found[dataset] = Comparison(heavy_draws.draws(dataset), checks, *options, **roles)
    return found


COMPARISONS = comparisons()


@pytest.mark.skipif(not FILES, reason="no oracle file is there: run heavy_oracles.py")
def test_oracles_are_of_these_draws():
    for path in FILES:
        for dataset, digest in json.loads(path.read_text())["draws"].items():
            assert heavy_draws.digest(dataset) == digest, f"{path.name} has other draws of `{dataset}`: make it anew"


@pytest.mark.parametrize("oracle", ORACLES, ids=lambda oracle: f"{oracle['tool']}-{oracle['function']}")
def test_values_agree_with_oracles(oracle):
    comparison = COMPARISONS[oracle["dataset"]]
    draws = comparison.draws[: len(oracle["values"])]
    theirs = {
        draw.name: NAN if value is None else float(value) for draw, value in zip(draws, oracle["values"], strict=True)
    }
    ours = {draw.name: comparison.records(oracle["metric"])[draw.name].value for draw in draws}
    differences = KNOWN.get((oracle["tool"], oracle["metric"]), ())
    is_single = oracle["tool"] == "torchmetrics" and oracle["function"].split("(")[0] in SINGLE_PRECISION
    closeness = SINGLE if is_single else DOUBLE
    Check(oracle["metric"], lambda draw: theirs[draw.name], differences=differences, **closeness).compare(ours, draws)
