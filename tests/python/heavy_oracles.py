"""Writes heavy_oracles.json: what PyTorch, torchmetrics and torcheval say about the draws of heavy_draws.py.

Run by hand where these are installed, since they take 5 GB:

    python -m venv heavy && heavy/bin/pip install torch torchmetrics torcheval numpy pyarrow
    heavy/bin/python tests/python/heavy_oracles.py

test_heavy.py compares fuseval with the file. The file names the versions, and holds a digest of the draws, so that values of
other draws are not taken for these.
"""
import importlib.metadata
import json
import logging
import math
import platform
import warnings
from pathlib import Path

import torch
import torcheval.metrics.functional as te
import torchmetrics.functional as tm
import torchmetrics.functional.classification as tmc
import torchmetrics.functional.retrieval as tmr
from torch.nn import functional

import heavy_draws

TARGET = Path(__file__).with_name("heavy_oracles.json")
BINS = 15


def floats(values):
    """A tensor of float64."""
    return torch.tensor(values.tolist(), dtype=torch.float64)


def on_rows(function, **options):
    """A function of scores and labels in float64."""
    return lambda draw: function(floats(draw.score), floats(draw.label), **options)


def on_classes(function, **options):
    """A function of scores and labels that are whole numbers."""
    return lambda draw: function(floats(draw.score), floats(draw.label).long(), **options)


def weighted(function, **options):
    """A function of scores, labels and weights."""
    return lambda draw: function(floats(draw.score), floats(draw.label), weight=floats(draw.weight), **options)


def on_ranks(function, **options):
    """A function of one query. Scores are raised above 0: torchmetrics drops relevant rows with others."""
    return lambda draw: function(floats(draw.score) + 2, floats(draw.label).long(), **options)


def second(function, **options):
    """The first number of a pair, the value at a fixed recall or precision, and not the threshold."""
    return lambda draw: function(floats(draw.score), floats(draw.label).long(), **options)[0]


def bce(draw):
    """Weighted mean of the binary cross entropy of PyTorch."""
    weight = floats(draw.weight)
    loss = functional.binary_cross_entropy(floats(draw.score), floats(draw.label), weight=weight, reduction="sum")
    return loss / weight.sum()


# Tool, its function, the data set, fuseval's metric, the call.
ORACLES = (
    ("torchmetrics", "binary_auroc", "binary", "roc_auc", on_classes(tmc.binary_auroc)),
    (
        "torchmetrics", "binary_auroc(max_fpr=0.3)", "binary", "partial_auc[max_fpr=0.3]",
        on_classes(tmc.binary_auroc, max_fpr=0.3),
    ),
    (
        "torchmetrics", "binary_average_precision", "binary", "pr_auc[no_positive=zero]",
        on_classes(tmc.binary_average_precision),
    ),
    (
        "torchmetrics", "binary_precision", "binary", "precision[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_precision, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_recall", "binary", "recall[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_recall, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_f1_score", "binary", "f_beta[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_f1_score, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_fbeta_score(beta=2)", "binary", "f_beta[threshold=0.45,beta=2,undefined=zero]",
        on_classes(tmc.binary_fbeta_score, beta=2.0, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_specificity", "binary", "specificity[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_specificity, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_negative_predictive_value", "binary", "npv[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_negative_predictive_value, threshold=0.45),
    ),
    ("torchmetrics", "binary_accuracy", "binary", "accuracy[threshold=0.45]", on_classes(tmc.binary_accuracy, threshold=0.45)),
    (
        "torchmetrics", "binary_jaccard_index", "binary", "jaccard[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_jaccard_index, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_matthews_corrcoef", "binary", "mcc[threshold=0.45,undefined=zero]",
        on_classes(tmc.binary_matthews_corrcoef, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_cohen_kappa", "binary", "kappa[threshold=0.45]",
        on_classes(tmc.binary_cohen_kappa, threshold=0.45),
    ),
    (
        "torchmetrics", "binary_precision_at_fixed_recall", "binary", "precision_at_recall[recall=0.63]",
        second(tmc.binary_precision_at_fixed_recall, min_recall=0.63),
    ),
    (
        "torchmetrics", "binary_recall_at_fixed_precision", "binary", "recall_at_precision[precision=0.63]",
        second(tmc.binary_recall_at_fixed_precision, min_precision=0.63),
    ),
    (
        "torchmetrics", "binary_calibration_error(l1)", "binary", "ece[strategy=uniform]",
        on_classes(tmc.binary_calibration_error, n_bins=BINS, norm="l1"),
    ),
    (
        "torchmetrics", "binary_calibration_error(max)", "binary", "mce[strategy=uniform]",
        on_classes(tmc.binary_calibration_error, n_bins=BINS, norm="max"),
    ),
    ("torchmetrics", "binary_accuracy(threshold=0.5)", "binary", "accuracy", on_classes(tmc.binary_accuracy)),
    ("torchmetrics", "mean_absolute_error", "continuous", "mae", on_rows(tm.mean_absolute_error)),
    ("torchmetrics", "mean_squared_error", "continuous", "mse", on_rows(tm.mean_squared_error)),
    (
        "torchmetrics", "weighted_mean_absolute_percentage_error", "continuous", "wmape",
        on_rows(tm.weighted_mean_absolute_percentage_error),
    ),
    ("torchmetrics", "retrieval_normalized_dcg", "graded", "ndcg", on_ranks(tmr.retrieval_normalized_dcg)),
    ("torchmetrics", "retrieval_normalized_dcg(top_k=3)", "graded", "ndcg@3", on_ranks(tmr.retrieval_normalized_dcg, top_k=3)),
    ("torchmetrics", "retrieval_precision(top_k=5)", "untied", "precision@5", on_ranks(tmr.retrieval_precision, top_k=5)),
    (
        "torchmetrics", "retrieval_precision(adaptive_k)", "untied", "precision@5[denominator=min_k_n]",
        on_ranks(tmr.retrieval_precision, top_k=5, adaptive_k=True),
    ),
    ("torchmetrics", "retrieval_recall(top_k=5)", "untied", "recall@5", on_ranks(tmr.retrieval_recall, top_k=5)),
    ("torchmetrics", "retrieval_hit_rate(top_k=2)", "untied", "hit_rate@2", on_ranks(tmr.retrieval_hit_rate, top_k=2)),
    ("torchmetrics", "retrieval_reciprocal_rank", "untied", "mrr", on_ranks(tmr.retrieval_reciprocal_rank)),
    ("torchmetrics", "retrieval_reciprocal_rank(top_k=3)", "untied", "mrr@3", on_ranks(tmr.retrieval_reciprocal_rank, top_k=3)),
    ("torchmetrics", "retrieval_average_precision", "untied", "map", on_ranks(tmr.retrieval_average_precision)),
    (
        "torchmetrics", "retrieval_average_precision(top_k=4)", "untied", "map@4[denominator=hits]",
        on_ranks(tmr.retrieval_average_precision, top_k=4),
    ),
    ("torchmetrics", "retrieval_r_precision", "untied", "r_precision", on_ranks(tmr.retrieval_r_precision)),
    ("torchmetrics", "retrieval_auroc", "untied", "uauc", on_ranks(tmr.retrieval_auroc)),
    ("torcheval", "binary_auroc", "weighted", "roc_auc", weighted(te.binary_auroc)),
    ("torcheval", "binary_normalized_entropy", "weighted", "normalized_entropy", weighted(te.binary_normalized_entropy)),
    ("torcheval", "weighted_calibration", "weighted", "calibration", weighted(te.weighted_calibration)),
    ("torcheval", "binary_auprc", "binary", "pr_auc[no_positive=zero]", on_rows(te.binary_auprc)),
    ("torcheval", "binary_precision", "binary", "precision[threshold=0.5,undefined=zero]", on_classes(te.binary_precision)),
    ("torcheval", "binary_recall", "binary", "recall[threshold=0.5,undefined=zero]", on_classes(te.binary_recall)),
    ("torcheval", "binary_accuracy", "binary", "accuracy", on_classes(te.binary_accuracy)),
    ("torcheval", "mean_squared_error", "continuous", "mse", on_rows(te.mean_squared_error)),
    ("torcheval", "retrieval_precision(k=5)", "untied", "precision@5", on_rows(te.retrieval_precision, k=5)),
    (
        "torcheval", "retrieval_precision(limit_k_to_size)", "untied", "precision@5[denominator=min_k_n]",
        on_rows(te.retrieval_precision, k=5, limit_k_to_size=True),
    ),
    ("torch", "binary_cross_entropy", "weighted", "log_loss", bce),
)


def value(function, draw):
    """A number for JSON: null for NaN, infinities as texts."""
    found = float(function(draw))
    return None if math.isnan(found) else str(found) if math.isinf(found) else found


def main():
    """Computes all values and writes the file."""
    warnings.simplefilter("ignore")
    logging.disable()
    torch.set_default_dtype(torch.float64)
    torch.set_num_threads(1)
    versions = {name: importlib.metadata.version(name) for name in ("torch", "torchmetrics", "torcheval", "numpy")}
    oracles = []
    for tool, name, dataset, metric, function in ORACLES:
        values = [value(function, draw) for draw in heavy_draws.draws(dataset)]
        oracles.append({"tool": tool, "function": name, "dataset": dataset, "metric": metric, "values": values})
        print(tool, name, flush=True)
    digests = {dataset: heavy_draws.digest(dataset) for dataset in heavy_draws.DATASETS}
    head = {"versions": {**versions, "python": platform.python_version()}, "device": "cpu", "draws": digests}
    lines = ",\n".join(json.dumps(oracle, separators=(",", ":")) for oracle in oracles)
    TARGET.write_text(f'{json.dumps(head)[:-1]},\n"oracles": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
