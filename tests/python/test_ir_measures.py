"""`preset: trec_eval` and others beside ir_measures, per topic and as means.

P, R, AP, nDCG, RR, Success and Rprec are trec_eval's, asked for in ir_measures' words; nDCG with exponential gains and ERR are
gdeval's, a Perl script that prints five digits; RBP is cwl_eval's; Accuracy is of ir_measures itself.
"""
import shutil
from functools import cache

import ir_measures as ir
import pytest
from ir_measures.providers import registry

from agreement import DRAWS, NAN, Check, Comparison, name
from draws import segment_draws

FIVE_DIGITS = {"tolerance": 5.1e-6, "scale": 1.0, "reason": "gdeval prints five digits"}


class Peer:
    """What ir_measures says about all segments of some draws. Topics are numbers, since gdeval takes no others."""

    def __init__(self, draws, keep=lambda segment: True):
        segments = [segment for draw in draws for segment in draw.segments if keep(segment)]
        self.topics = {segment.name: str(place) for place, segment in enumerate(segments)}
        self.qrels = [
            ir.Qrel(self.topics[segment.name], item, int(label))
            for segment in segments for item, label in zip(segment.item.tolist(), segment.label.tolist(), strict=True)
        ]
        self.run = [
            ir.ScoredDoc(self.topics[segment.name], item, score)
            for segment in segments for item, score in zip(segment.item.tolist(), segment.score.tolist(), strict=True)
        ]

    def value(self, measure, provider=ir):
        """The peer's function of a segment: NaN for a topic that it leaves out."""
        @cache
        def values():
            return {found.query_id: found.value for found in provider.iter_calc([measure], self.qrels, self.run)}
        return lambda segment: values().get(self.topics.get(segment.name), NAN)


DRAWN = segment_draws(371, DRAWS, grades=4)
peer = Peer(DRAWN)
TREC = (
    *(Check(f"precision@{k}", peer.value(ir.P @ k)) for k in (1, 10)),
    Check("precision@5[rel_threshold=2]", peer.value(ir.P(rel=2) @ 5)),
    *(Check(f"recall@{k}", peer.value(ir.R @ k)) for k in (1, 10)),
    Check("recall@5[rel_threshold=3]", peer.value(ir.R(rel=3) @ 5)),
    Check("map", peer.value(ir.AP)),
    Check("map[rel_threshold=2]", peer.value(ir.AP(rel=2))),
    Check("map@3", peer.value(ir.AP @ 3)),
    Check("mrr", peer.value(ir.RR)),
    Check("hit_rate@3", peer.value(ir.Success @ 3)),
    Check("ndcg", peer.value(ir.nDCG)),
    Check("ndcg@10", peer.value(ir.nDCG @ 10)),
    Check("ndcg@10[gain=[0,1,3,7,15]]", peer.value(ir.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7, 4: 15}) @ 10)),
    Check("r_precision", peer.value(ir.Rprec)),
)
trec = Comparison(DRAWN, TREC, "--preset", "trec_eval", segment=True, item=True)


@pytest.mark.parametrize("check", TREC, ids=name)
def test_trec_measures_agree_with_ir_measures(check):
    trec.check_segments(check)


gdeval = registry["gdeval"]
GDEVAL = (
    Check("ndcg@10[gain=exp2]", peer.value(ir.nDCG(dcg="exp-log2") @ 10, gdeval), **FIVE_DIGITS),
    Check("err@10[max_grade=4]", peer.value(ir.ERR @ 10, gdeval), **FIVE_DIGITS),
    Check("err@3[max_grade=4]", peer.value(ir.ERR @ 3, gdeval), **FIVE_DIGITS),
)
graded = Comparison(DRAWN, GDEVAL, "--preset", "trec_eval", segment=True, item=True)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval is a Perl script, and there is no Perl")
@pytest.mark.parametrize("check", GDEVAL, ids=name)
def test_graded_measures_agree_with_gdeval(check):
    graded.check_segments(check)


UNTIED = segment_draws(372, DRAWS, ties=False)
untied = Peer(UNTIED)
# ir_measures divides by 0 where all documents are relevant, and has no value where none is.
two_classes = Peer(UNTIED, keep=lambda segment: len(set(segment.label)) == 2)
OTHERS = (
    Check("rbp", untied.value(ir.RBP(rel=1, p=0.8))),
    Check("rbp[p=0.5]", untied.value(ir.RBP(rel=1, p=0.5))),
    Check("pair_accuracy", two_classes.value(ir.Accuracy)),
)
others = Comparison(UNTIED, OTHERS, segment=True)


@pytest.mark.parametrize("check", OTHERS, ids=name)
def test_other_measures_agree_with_ir_measures(check):
    others.check_segments(check)
