"""precision@10, ndcg@10, mrr and map over segments.

The definitions are fuseval's defaults: precision@10 is over all segments (0 where nothing is relevant); ndcg@10, mrr and map are
over the segments with a positive row. Tools that count the others as 0 are divided by the share of such segments, outside
the clock (`over_positive`).
"""

from itertools import pairwise

import numpy as np

from dataset import Dataset, Segments
from roc_auc import duckdb_connection
from tool import THREADS, Tool, Values

K = 10
NAMES = ("precision@10", "ndcg@10", "mrr", "map")
STRICT = "strict order in ties"


def over_positive(values, segments: Segments) -> Values:
    """Names the four values, of which the last three are means over all segments with 0 for those without a positive."""
    factor = segments.count / segments.with_positive
    return {name: float(value) * (1.0 if name == NAMES[0] else factor) for name, value in zip(NAMES, values)}


def ideal_dcg() -> np.ndarray:
    """The best dcg@10 by number of positives, from 0 to 10."""
    return np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(2, K + 2)))])


def trec_dictionaries(segments: Segments) -> tuple[dict, dict]:
    """The judgements and the run as trec_eval's wrappers take them: query → document → value, with texts as keys."""
    labels, scores = segments.labels.tolist(), segments.scores.tolist()
    names = [str(i) for i in range(int(np.diff(segments.offsets).max()))]
    bounds = segments.offsets.tolist()
    qrels, run = {}, {}
    for query, (start, end) in enumerate(pairwise(bounds)):
        qrels[str(query)] = dict(zip(names, labels[start:end]))
        run[str(query)] = dict(zip(names, scores[start:end]))
    return qrels, run


def ranx(data: Dataset):
    """On Qrels and Run, which ranx sorts when they are built, before the clock; in it, `evaluate` turns them into typed lists."""
    from ranx import Qrels, Run, evaluate

    segments = data.segments(SLOW_ROWS)
    qrels, run = trec_dictionaries(segments)
    qrels, run = Qrels(qrels), Run(run)

    def timed() -> Values:
        return over_positive(evaluate(qrels, run, RANX_METRICS, threads=THREADS, save_results_in_run=False).values(), segments)

    return timed


RANX_METRICS = [f"precision@{K}", f"ndcg@{K}", "mrr", "map"]


def ranx_presorted(data: Dataset):
    """On ranx's innermost structure: typed lists of (document, value) arrays, sorted. The same work without sort and conversion."""
    import numba
    from ranx import evaluate

    segments = data.segments()
    documents = segments.row_in_segment().astype(np.float64)

    @numba.njit
    def typed_list(documents, values, offsets):
        lists = numba.typed.List()
        for i in range(len(offsets) - 1):
            lists.append(np.column_stack((documents[offsets[i] : offsets[i + 1]], values[offsets[i] : offsets[i + 1]])))
        return lists

    def sorted_lists(keep, values):
        """Only the kept rows, the highest value first within each segment."""
        rows = np.flatnonzero(keep)
        owner = segments.segment_of_row()[rows]
        order = rows[np.lexsort((-values[rows], owner))]
        offsets = np.searchsorted(owner, np.arange(segments.count + 1))
        return typed_list(documents[order], values[order].astype(np.float64), offsets)

    qrels = sorted_lists(segments.labels > 0, segments.labels)
    run = sorted_lists(segments.labels >= 0, segments.scores)
    return lambda: over_positive(evaluate(qrels, run, RANX_METRICS, threads=THREADS).values(), segments)


def pytrec_eval(data: Dataset):
    import pytrec_eval as trec

    segments = data.segments(SLOW_ROWS)
    qrels, scores = trec_dictionaries(segments)
    measures = {"P_10": f"P.{K}", "ndcg_cut_10": f"ndcg_cut.{K}", "recip_rank": "recip_rank", "map": "map"}
    evaluator = trec.RelevanceEvaluator(qrels, set(measures.values()))

    def run() -> Values:
        per_query = evaluator.evaluate(scores).values()
        means = [sum(query[name] for query in per_query) / len(per_query) for name in measures]
        return over_positive(means, segments)

    return run


def ir_measures(data: Dataset):
    import ir_measures as ir

    segments = data.segments(SLOW_ROWS)
    qrels, scores = trec_dictionaries(segments)
    measures = [ir.P @ K, ir.nDCG @ K, ir.RR, ir.AP]
    evaluator = ir.evaluator(measures, qrels)

    def run() -> Values:
        means = evaluator.calc_aggregate(scores)
        return over_positive([means[measure] for measure in measures], segments)

    return run


def rectools(data: Dataset):
    """Ranks are computed before the clock; the merge of recommendations and interactions is in it, as `calc_metrics` does it."""
    import pandas as pd
    from rectools import Columns
    from rectools.metrics import MAP, MRR, NDCG, Precision, calc_metrics

    segments = data.segments()
    owner = segments.segment_of_row()
    order = np.lexsort((-segments.scores, owner))
    rows = pd.DataFrame({Columns.User: owner, Columns.Item: segments.row_in_segment()})
    reco = rows.iloc[order].assign(**{Columns.Rank: segments.row_in_segment() + 1})
    interactions = rows[segments.labels > 0]
    longest = int(np.diff(segments.offsets).max())
    metrics = dict(
        zip(NAMES, (Precision(k=K), NDCG(k=K, divide_by_achievable=True), MRR(k=longest), MAP(k=longest)))
    )
    share = segments.with_positive / segments.count  # RecTools leaves out users without interactions

    def run() -> Values:
        found = calc_metrics(metrics, reco, interactions)
        return {name: float(found[name]) * (share if name == NAMES[0] else 1.0) for name in NAMES}

    return run


def polars_positives(rows):
    """The positive rows with their rank: all else follows from these. A window of ranks, no sort of whole rows."""
    import polars as pl

    rank = pl.col("score").rank("ordinal", descending=True).over("request_id")
    return rows.with_columns(rank=rank).filter(pl.col("label") > 0)


def polars_dcg():
    """dcg@10 of the positive rows of one segment."""
    import polars as pl

    return (1 / (pl.col("rank") + 1).log(2)).filter(pl.col("rank") <= K).sum()


def polars_ndcg():
    """Mean over segments from columns dcg and relevant."""
    import polars as pl

    ideal = pl.lit(pl.Series(ideal_dcg())).gather(pl.col("relevant").clip(0, K))
    return (pl.col("dcg") / ideal).mean().alias("ndcg@10")


def polars(data: Dataset):
    import polars as pl

    segments = data.segments()
    frame = pl.DataFrame({"request_id": segments.request_id, "label": segments.labels, "score": segments.scores})
    rank = pl.col("rank")
    per_segment = (
        polars_positives(frame.lazy())
        .group_by("request_id")
        .agg(
            hits=(rank <= K).sum(),
            dcg=polars_dcg(),
            first=rank.min(),
            precisions=(rank.rank("ordinal") / rank).sum(),
            relevant=pl.len(),
        )
    )
    query = per_segment.select(
        pl.col("hits").sum().alias("precision@10") / K,
        polars_ndcg(),
        (1 / pl.col("first")).mean().alias("mrr"),
        (pl.col("precisions") / pl.col("relevant")).mean().alias("map"),
    )
    count = frame.lazy().select(pl.col("request_id").n_unique())

    def run() -> Values:
        found, segments = pl.collect_all([query, count])
        found = found.to_dicts()[0]
        return found | {"precision@10": found["precision@10"] / segments.item()}

    return run


# The positive rows with their rank, and of those which one of its segment it is.
DUCKDB_POSITIVES = """
    SELECT request_id, rank, row_number() OVER (PARTITION BY request_id ORDER BY rank) AS hit
    FROM (SELECT request_id, label, row_number() OVER (PARTITION BY request_id ORDER BY score DESC) AS rank FROM {source})
    WHERE label > 0
"""
DUCKDB_DCG = f"coalesce(sum(1 / log2(rank + 1)) FILTER (rank <= {K}), 0)"


def duckdb(data: Dataset):
    connection = duckdb_connection()
    connection.execute(f"CREATE TABLE rows AS SELECT * FROM '{data.segments_parquet}'")
    query = f"""
        SELECT sum(hits) / {K} / any_value(segments), avg(dcg / ideal[least(relevant, {K})]), avg(1 / first),
               avg(precisions / relevant)
        FROM (SELECT count(*) FILTER (rank <= {K}) AS hits, {DUCKDB_DCG} AS dcg, min(rank) AS first,
                     sum(hit / rank) AS precisions, count(*) AS relevant
              FROM ({DUCKDB_POSITIVES.format(source="rows")}) GROUP BY request_id),
             (SELECT {ideal_dcg()[1:].tolist()}::DOUBLE[] AS ideal),
             (SELECT count(DISTINCT request_id) AS segments FROM rows)
    """
    return lambda: dict(zip(NAMES, connection.execute(query).fetchone()))


def numba_kernel(data: Dataset):
    from kernels import ranking_means

    segments = data.segments()
    ranking_means(segments.scores, segments.labels, segments.offsets[:2])  # compiles
    return lambda: dict(zip(NAMES, ranking_means(segments.scores, segments.labels, segments.offsets)))


SLOW_ROWS = 1_000_000

TOOLS = [
    Tool("ranx", "library", ("ranx",), ranx, f"evaluation only; {STRICT}", SLOW_ROWS, 2e-2),
    Tool("ranx_presorted", "presorted", ("ranx",), ranx_presorted, f"on ranx's inner lists; {STRICT}", tolerance=1e-2),
    Tool("pytrec_eval", "library", ("pytrec-eval-terrier",), pytrec_eval, f"evaluation only; {STRICT}", SLOW_ROWS, 2e-2),
    Tool("ir_measures", "library", ("ir-measures",), ir_measures, f"evaluation only; {STRICT}", SLOW_ROWS, 2e-2),
    Tool("rectools", "library", ("rectools",), rectools, f"ranks given; {STRICT}", tolerance=1e-2),
    Tool("polars", "library", ("polars",), polars, STRICT, tolerance=1e-2),
    Tool("duckdb", "library", ("duckdb",), duckdb, STRICT, tolerance=1e-2),
    Tool("numba_kernel", "hand-written", ("numba",), numba_kernel, "ties by expectation; scores ≥ 0 only; offsets given"),
]
