"""`preset: trec_eval` beside pytrec_eval, per query and as means, from columns and from TREC files.

trec_eval keeps scores in single precision; the draws have float32 scores. Rows of equal score go by document number, from the
last to the first in the order of bytes.
"""
import json
from functools import cache

import numpy as np
import pyarrow.parquet as pq
import pytest
import pytrec_eval

import fuseval_cli
from agreement import DRAWS, Check, Comparison, mean, name
from draws import float32, segment_draws

# fuseval's name, trec_eval's measure, trec_eval's name of the value.
MEASURES = (
    ("map", "map", "map"),
    ("mrr", "recip_rank", "recip_rank"),
    ("r_precision", "Rprec", "Rprec"),
    ("ndcg", "ndcg", "ndcg"),
    *((f"precision@{k}", f"P.{k}", f"P_{k}") for k in (1, 5, 20)),
    *((f"recall@{k}", f"recall.{k}", f"recall_{k}") for k in (1, 5, 20)),
    *((f"ndcg@{k}", f"ndcg_cut.{k}", f"ndcg_cut_{k}") for k in (1, 5, 20)),
    *((f"map@{k}", f"map_cut.{k}", f"map_cut_{k}") for k in (1, 5, 20)),
    *((f"hit_rate@{k}", f"success.{k}", f"success_{k}") for k in (1, 5, 20)),
)
ASKED = {measure for _, measure, _ in MEASURES}
DRAWN = segment_draws(341, DRAWS, grades=4)


@cache
def theirs():
    """{query: {name: value}} of all segments at once."""
    segments = [segment for draw in DRAWN for segment in draw.segments]
    qrels = {s.name: dict(zip(s.item.tolist(), map(int, s.label), strict=True)) for s in segments}
    run = {s.name: dict(zip(s.item.tolist(), s.score.tolist(), strict=True)) for s in segments}
    return pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)


def peer(measure):
    """The value of one measure for a segment."""
    return lambda segment: theirs()[segment.name][measure]


CHECKS = tuple(Check(metric, peer(value)) for metric, _, value in MEASURES)
comparison = Comparison(DRAWN, CHECKS, "--preset", "trec_eval", segment=True, item=True)


@pytest.mark.parametrize("check", CHECKS, ids=name)
def test_columns_agree_with_pytrec_eval(check):
    comparison.check_segments(check)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A qrels and a run file of 1,200 topics with documents that are judged and not retrieved, and the other way round; what
    both tools say about them: ({metric: {topic: value}}, {metric: mean}, {topic: {measure: value}})."""
    folder = tmp_path_factory.mktemp("trec")
    random = np.random.default_rng(342)
    qrels, run = {}, {}
    for topic in range(1200):
        documents = [f"d{number}" for number in random.permutation(40)[: random.integers(1, 30)]]
        judged = [document for document in documents if random.random() < 0.7] or documents[:1]
        retrieved = [document for document in documents if random.random() < 0.8] or documents[-1:]
        highest = random.integers(0, 4)
        qrels[f"t{topic}"] = {document: int(random.integers(0, highest + 1)) for document in judged}
        scores = float32(random.integers(-4, 5, len(retrieved)) / 4 if topic % 2 else random.normal(size=len(retrieved)))
        run[f"t{topic}"] = dict(zip(retrieved, scores.tolist(), strict=True))
    (folder / "qrels").write_text("".join(f"{t} 0 {d} {y}\n" for t, of in qrels.items() for d, y in of.items()))
    (folder / "run").write_text("".join(f"{t} Q0 {d} 0 {s!r} x\n" for t, of in run.items() for d, s in of.items()))
    metrics = [metric for metric, _, _ in MEASURES]
    printed = fuseval_cli.call(
        "score", "--trec-qrels", folder / "qrels", "--trec-run", folder / "run", "--preset", "trec_eval",
        "--metrics", ",".join(metrics), "--per-segment", folder / "topics.parquet",
        "--format", "json", "--quiet", "--set", "interval=false",
    )
    means = {metric: record["value"] for metric, record in zip(metrics, json.loads(printed)["results"], strict=True)}
    table = pq.read_table(folder / "topics.parquet")
    table = table.rename_columns(["segment" if column == "topic" else column for column in table.column_names])
    return fuseval_cli.per_segment(table, metrics), means, pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)


@pytest.mark.parametrize(("metric", "measure"), [(metric, value) for metric, _, value in MEASURES])
def test_trec_files_agree_with_pytrec_eval(files, metric, measure):
    ours, means, expected = files
    check = Check(metric, peer(measure))
    assert ours[metric].keys() == expected.keys()
    wrong = [topic for topic, value in ours[metric].items() if not check.agrees(value, expected[topic][measure])]
    assert not wrong, [(topic, ours[metric][topic], expected[topic][measure]) for topic in wrong[:3]]
    assert check.agrees(means[metric], mean([values[measure] for values in expected.values()]))
