"""Joins features and labels with the recorded model scores and writes clustered copies.

A file is clustered when the rows of one segment are next to each other. The segments are in the order of their key,
the rows of a segment in the order of their row id. Row groups are short, so that segments lie across their borders.

    python cluster.py            writes the files listed in FILES
    python cluster.py --check    makes them again in a temporary folder and compares them with the ones that are here;
                                 prints what differs and exits with 1 if anything does
"""
import argparse
import os
import sys
import tempfile

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = [f"kuairand/eval/part-{i}.parquet" for i in range(4)]
RANDOM, BTS, AFFINITY = ("obd/eval_%s.parquet" % name for name in ("random", "bts", "affinity"))
POSITION, HOUR = ["campaign", "position"], ["hour_bucket"]
KUAIRAND_SCORES = ["pCTR", "pGCTR30", "pOCTR", "two_tower", "three_tower", "watch"]
OBD_SCORES = ["mlp_named", "logreg_dense"]
BINARY_SCORES = ["xgb_binary", "lgbm_regression", "sklearn_mlp"]

# file to write: (source files, file of recorded scores, its columns to join, segment key, rows of a row group)
FILES = {
    "kuairand/clustered.parquet": (PARTS, "kuairand/predictions.parquet", KUAIRAND_SCORES, ["user_id", "date"], 1000),
    "obd/random_by_campaign_position.parquet": ([RANDOM], "obd/predictions.parquet", OBD_SCORES, POSITION, 1000),
    "obd/random_by_hour.parquet": ([RANDOM], "obd/predictions.parquet", OBD_SCORES, HOUR, 1000),
    "obd/bts_by_campaign_position.parquet": ([BTS], "obd/predictions.parquet", OBD_SCORES, POSITION, 1000),
    "obd/bts_by_hour.parquet": ([BTS], "obd/predictions.parquet", OBD_SCORES, HOUR, 1000),
    "obd/both_by_campaign_position.parquet": ([RANDOM, BTS], "obd/predictions.parquet", OBD_SCORES, POSITION, 1000),
    "obd/both_by_hour.parquet": ([RANDOM, BTS], "obd/predictions.parquet", OBD_SCORES, HOUR, 1000),
    "obd/affinity_by_campaign_position.parquet": ([AFFINITY], "obd/predictions.parquet", ["vector_input"], POSITION, 1000),
    "obd/affinity_by_hour.parquet": ([AFFINITY], "obd/predictions.parquet", ["vector_input"], HOUR, 1000),
    "lightgbm/binary_clustered.parquet": (["lightgbm/binary_test.parquet"], "lightgbm/predictions_binary_test.parquet",
                                          BINARY_SCORES, ["segment_a", "segment_b"], 100),
    "lightgbm/rank_clustered.parquet": (["lightgbm/rank_test.parquet"], "lightgbm/predictions_rank_test.parquet",
                                        ["lambdarank"], ["query_id"], 250),
    "lightgbm/rank_vector_clustered.parquet": (["lightgbm/rank_test_vector.parquet"], "lightgbm/predictions_rank_test.parquet",
                                               ["lambdarank"], ["query_id"], 100),
}


def read(name):
    return pq.read_table(os.path.join(HERE, name)).replace_schema_metadata(None)


def sort(table, keys):
    return table.take(pc.sort_indices(table, sort_keys=[(key, "ascending") for key in keys]))


def join(table, scores, columns):
    """Appends the columns of `scores` as score_NAME (float32), matched by row_id; every row must have a score."""
    place = pc.index_in(table["row_id"].cast(pa.string()), value_set=scores["row_id"].combine_chunks())
    for column in columns:
        values = scores[column].combine_chunks().take(place.combine_chunks())
        if values.null_count:
            sys.exit(f"{column}: {values.null_count} rows have no recorded score")
        table = table.append_column("score_" + column, values.cast(pa.float32()))
    return table


def clustered(name):
    sources, scores, columns, keys, _ = FILES[name]
    table = pa.concat_tables([read(source) for source in sources])
    return sort(join(table, read(scores), columns), keys + ["row_id"])


def judged(run, grades):
    """Retrieved rows with their grade; rows without a judgement get grade 0."""
    rows = [(topic, docno, score, max(grades.get((topic, docno), 0), 0)) for topic, docno, score in run]
    columns = list(zip(*sorted(rows, key=lambda row: row[:2])))
    types = [pa.string(), pa.string(), pa.float64(), pa.int32()]
    return pa.table([pa.array(c, t) for c, t in zip(columns, types)], names=["topic", "docno", "score", "grade"])


def ranx_table():
    run, qrels = read("ranx_tests/run.parquet").to_pylist(), read("ranx_tests/qrels.parquet").to_pylist()
    return judged([(r["q_id"], r["doc_id"], r["score"]) for r in run], {(q["q_id"], q["doc_id"]): q["score"] for q in qrels})


def fields(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as lines:
        return [line.split() for line in lines if line.strip()]


def ir_measures_table():
    run, qrels = fields("ir_measures_tests/cwl.run"), fields("ir_measures_tests/cwl.qrels")
    return judged([(f[0], f[2], float(f[4])) for f in run], {(f[0], f[2]): int(f[3]) for f in qrels})


def write(table, folder, name, rows):
    """Plain Parquet types, except that a large_string or fixed-size list column keeps its Arrow schema."""
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    arrow = any(pa.types.is_large_string(t) or pa.types.is_fixed_size_list(t) for t in table.schema.types)
    pq.write_table(table, path, compression="zstd", version="2.6", row_group_size=rows, store_schema=arrow)


def make(folder):
    """Writes every file below `folder`; returns {name: segment key}."""
    for name, (*_, rows) in FILES.items():
        write(clustered(name), folder, name, rows)
    write(ranx_table(), folder, "ranx_tests/joined.parquet", 2)
    write(ir_measures_table(), folder, "ir_measures_tests/joined.parquet", 7)
    joined = {"ranx_tests/joined.parquet": ["topic"], "ir_measures_tests/joined.parquet": ["topic"]}
    return {name: spec[3] for name, spec in FILES.items()} | joined


def group_rows(path):
    meta = pq.ParquetFile(path).metadata
    return [meta.row_group(i).num_rows for i in range(meta.num_row_groups)]


def layout(path, keys):
    """(segments, row-group borders that lie inside a segment, whether every segment is contiguous)."""
    rows = list(zip(*(pq.read_table(path, columns=keys)[key].to_pylist() for key in keys)))
    starts = [i for i, row in enumerate(rows) if i == 0 or row != rows[i - 1]]
    borders, end = set(), 0
    for n in group_rows(path):
        end += n
        borders.add(end)
    inside = sum(border < len(rows) for border in borders - set(starts))
    return len(starts), inside, len(starts) == len(set(rows))


def differences(fresh, committed):
    """What differs between two Parquet files, in words; empty when they hold the same table in the same row groups."""
    if not os.path.exists(committed):
        return ["is missing"]
    a, b = pq.read_table(fresh), pq.read_table(committed)
    if a.schema != b.schema:
        return [f"schema: expected {a.schema.to_string()}, found {b.schema.to_string()}"]
    if a.num_rows != b.num_rows:
        return [f"rows: expected {a.num_rows}, found {b.num_rows}"]
    found = [f"column {c} differs" for c in a.column_names if not a[c].equals(b[c])]
    if group_rows(fresh) != group_rows(committed):
        found.append(f"row groups: expected {group_rows(fresh)}, found {group_rows(committed)}")
    return found


def check():
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, keys in make(folder).items():
            found = differences(os.path.join(folder, name), os.path.join(HERE, name))
            segments, inside, contiguous = layout(os.path.join(folder, name), keys)
            found += [] if contiguous else ["a segment is not contiguous"]
            found += [] if inside else ["no row-group border lies inside a segment"]
            print(f"{name}: {'; '.join(found) or 'same'} ({segments} segments, {inside} row-group borders inside a segment)")
            bad += bool(found)
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the files that are here; write nothing")
    if parser.parse_args().check:
        sys.exit(check())
    for name in make(HERE):
        print(name, os.path.getsize(os.path.join(HERE, name)))


if __name__ == "__main__":
    main()
