"""Writes oracles.json, a flat list of reference values, and models.json, a list of model score checks.

    python oracles.py                   writes both from the expected.json files and the clustered files
    python oracles.py --check           makes both again and compares them with the files that are here
    python oracles.py --verify          computes every value of oracles.json a second time, with the plain formulas of this
                                        file over the named columns, and prints the largest relative difference per metric
    python oracles.py --verify-models   runs every model of models.json with ONNX Runtime and compares with the recorded scores

The last three exit with 1 if anything differs. A value v agrees with a reference r when |v - r| <= tolerance * |r|, so a
reference of zero has to be met exactly. `n` is exact.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import sys

import numpy as np
import pyarrow.parquet as pq

HERE = os.path.dirname(os.path.abspath(__file__))
MEAN, TIED = "mean_over_all_segments", "segments_with_tied_scores"
RANX = "ranx_mean_over_segments_with_a_positive"
LIMIT = 1e-5                    # allowed difference between a recorded score and the model's


# ---------------------------------------------------------------- reading
def load(name):
    with open(os.path.join(HERE, name), encoding="utf-8") as f:
        return json.load(f)


def from_csv(path):
    """Columns of a small CSV file; a column that reads as numbers is float64."""
    with open(path, encoding="utf-8", newline="") as f:
        rows = list(csv.DictReader(f))
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    for name, values in columns.items():
        try:
            columns[name] = np.array([float(v) for v in values])
        except ValueError:
            columns[name] = np.array(values, object)
    return columns


TABLES = {}


def table(name):
    """{column: array} of a file without its list columns; numbers as float64 (null: NaN), everything else as objects."""
    if name not in TABLES:
        path = os.path.join(HERE, name)
        if name.endswith(".csv"):
            TABLES[name] = from_csv(path)
        else:
            t, columns = pq.read_table(path), {}
            for field in t.schema:
                kind = str(field.type)
                if "list" not in kind:
                    numeric = kind.startswith(("int", "float", "double", "bool"))
                    columns[field.name] = np.array(t[field.name].to_pylist(), float if numeric else object)
            TABLES[name] = columns
    return TABLES[name]


def keep(columns, condition):
    """The rows that satisfy one of the few forms of filter used here."""
    n = len(next(iter(columns.values())))
    if condition is None:
        return np.ones(n, bool)
    if found := re.fullmatch(r"(\w+) = '([^']*)'", condition):
        return np.array([v == found[2] for v in columns[found[1]]])
    if found := re.fullmatch(r"(\w+) = (\d+)", condition):
        return columns[found[1]] == float(found[2])
    if found := re.fullmatch(r"(\w+) IS NOT NULL", condition):
        return ~np.isnan(columns[found[1]])
    raise ValueError(condition)


# ---------------------------------------------------------------- formulas
def roc_auc(y, s, w):
    """Weighted share of (positive, negative) pairs in the right order, ties one half."""
    _, place = np.unique(s, return_inverse=True)
    positive, negative = np.bincount(place, w * y), np.bincount(place, w * (1 - y))
    below = np.cumsum(negative) - negative
    pairs = positive.sum() * negative.sum()
    return float((positive * (below + negative / 2)).sum() / pairs) if pairs else None


def roc_auc_grid(y, s, w, steps):
    """Trapezoid over the thresholds i/steps; positive when score >= threshold; (0,0) and (1,1) added."""
    x, z = [0.0], [0.0]
    for i in range(steps, -1, -1):
        hit = s >= i / steps
        x.append((w * (1 - y))[hit].sum() / (w * (1 - y)).sum())
        z.append((w * y)[hit].sum() / (w * y).sum())
    x, z = np.array(x + [1.0]), np.array(z + [1.0])
    return float(((x[1:] - x[:-1]) * (z[1:] + z[:-1]) / 2).sum())


def precision(y, s, segments, k, shortest):
    """Mean over segments of the expected positives among the first k rows, over k (`shortest`: over min(k, rows)).
    Of the block of equal scores that lies across place k the fitting share counts."""
    rows, total = collections.defaultdict(list), []
    for i, segment in enumerate(segments):
        rows[segment].append(i)
    for members in rows.values():
        ys, ss = y[members], s[members]
        if len(ss) <= k:
            hits = ys.sum()
        else:
            edge = np.sort(ss)[-k]
            above, block = ss > edge, ss == edge
            hits = ys[above].sum() + (k - above.sum()) * ys[block].sum() / block.sum()
        total.append(float(hits) / (min(k, len(ss)) if shortest else k))
    return math.fsum(total) / len(total)


def compute(entry):
    """(value, n) of an entry by the formulas above."""
    t = table(entry["file"])
    rows = keep(t, entry["filter"])
    y, s = t[entry["label"]][rows], t[entry["score"]][rows]
    w = t[entry["weight"]][rows] if entry["weight"] else np.ones(len(y))
    if entry["positive"] is not None:
        y = (y == entry["positive"]).astype(float)
    if entry["label_threshold"] is not None:
        y = (y >= entry["label_threshold"]).astype(float)
    segments = list(zip(*(t[c][rows] for c in entry["segment"]))) if entry["segment"] else None
    name, k, option = re.fullmatch(r"(\w+)(?:@(\d+))?(?:\[(.*)\])?", entry["metric"]).groups()
    if name == "precision":
        return precision(y, s, segments, int(k), option == "denominator=min_k_n"), len(set(segments))
    if name == "roc_auc":
        value = roc_auc_grid(y, s, w, int(option.split("=")[1])) if option else roc_auc(y, s, w)
    elif name == "mae":
        value = (w * np.abs(s - y)).sum() / w.sum()
    elif name == "rmse":
        value = math.sqrt((w * (s - y) ** 2).sum() / w.sum())
    elif name == "log_loss":
        p, q = np.log(np.maximum(s, 1e-12)), np.log(np.maximum(1 - s, 1e-12))
        value = -(w * (y * p + (1 - y) * q)).sum() / w.sum()
    elif name == "calibration":
        value = (w * s).sum() / (w * y).sum()
    else:
        raise ValueError(entry["metric"])
    return (None if value is None else float(value)), len(y)


def agrees(value, reference, tolerance):
    if value is None or reference is None:
        return value is reference
    return abs(value - reference) <= tolerance * abs(reference)


def distance(value, reference):
    if value is None or reference is None or value == reference:
        return 0.0
    return abs(value - reference) / abs(reference) if reference else math.inf


# ---------------------------------------------------------------- the list
class Oracles:
    def __init__(self):
        self.entries, self.left_out = [], []

    def add(self, place, metric, value, n, tool, tolerance=1e-9, segment=(), condition=None, weight=None, only_if=None):
        """`place`: set, file, head, score, kind, label and optionally positive, label_threshold. With `only_if` the entry
        is kept only when the formula of this file gives the value to within that relative difference."""
        full = {"positive": None, "label_threshold": None} | place
        tool = re.sub(r" \(make/\w+\.py\)", "", tool)
        entry = {"set": full["set"], "file": full["file"], "head": full["head"], "score": full["score"], "kind": full["kind"],
                 "label": full["label"], "weight": weight, "segment": list(segment), "filter": condition, "positive": full["positive"],
                 "label_threshold": full["label_threshold"], "metric": metric, "value": value,
                 "n": None if n is None else int(n), "tolerance": tolerance, "tool": tool}
        if only_if is not None and not agrees(compute(entry)[0], value, only_if):
            self.left_out.append(entry)
        else:
            self.entries.append(entry)

    def rowwise(self, place, values, condition=None, weight=None):
        """Values over all rows of a set, as the expected.json files name them."""
        names = {"auc": "roc_auc", "mae": "mae", "rmse": "rmse"}
        if place["kind"] == "probability":
            names |= {"log_loss": "log_loss", "calibration_ratio": "calibration"}
            names |= {f"auc_thresholds_{n}": f"roc_auc[thresholds={n}]" for n in (10, 100, 1000)}
        for name, metric in names.items():
            if name in values:
                v = values[name]
                self.add(place, metric, v["value"], values["rows"]["value"], v["tool"], condition=condition, weight=weight)

    def segments(self, place, values, key):
        """precision@k from a summary over segments. Values of tools that order tied rows by name are taken only where ties do
        not matter; those over the segments with a positive only where that is every segment."""
        n, mean = values["segments"]["value"], values[MEAN]
        ties = 1e-12 if values[TIED]["value"] else None
        for name, v in mean.items():
            if found := re.fullmatch(r"P_(\d+)_expected", name):
                self.add(place, f"precision@{found[1]}", v["value"], n, v["tool"] + ": mean over all orders of tied rows", segment=key)
            elif found := re.fullmatch(r"P_(\d+)", name):
                self.add(place, f"precision@{found[1]}", v["value"], n, v["tool"], segment=key, only_if=ties)
            elif name == "P_5_of_min":
                self.add(place, "precision@5[denominator=min_k_n]", v["value"], n, v["tool"], segment=key, only_if=ties)
        if values["segments_with_a_positive"]["value"] == n:
            for name, v in values.get(RANX, {}).items():
                if name.startswith("precision@"):
                    self.add(place, name, v["value"], n, v["tool"], segment=key, only_if=ties)


def worked_example(out):
    expected = load("worked_example/expected.json")
    figures, grids, other = expected["published_figures"], expected["auc_by_threshold_grid"], expected["other"]
    for name in ("worked.parquet", "worked_interleaved.parquet", "worked.csv"):
        exact = name.endswith(".csv")                    # the Parquet files hold the score as float32
        near = 1e-12 if exact else 1e-7
        base = {"set": "worked_example", "file": "worked_example/" + name, "head": "worked", "score": "score"}
        error = base | {"kind": "raw", "label": "label_continuous"}
        binary = base | {"kind": "probability", "label": "label_binarized"}
        halves = base | {"kind": "probability", "label": "label_continuous", "label_threshold": 0.5}
        chosen = binary | {"positive": 1}
        f = figures["mae"]
        out.add(error, "mae", f["value"], 8, f["tool"], near)
        out.add(error, "rmse", other["rmse"]["value"], 8, other["rmse"]["tool"], near)
        for request in ("ReqA", "ReqB"):
            f = figures["abs_error_sum_" + request]
            out.add(error, "mae", f["value"] / 4, 4, f["tool"] + ": sum of absolute errors / 4 rows", near, condition=f"request_id = '{request}'")
        for place in (binary, halves, chosen):
            out.add(place, "roc_auc", figures["auc"]["value"], 8, figures["auc"]["tool"])
            out.add(place, "log_loss", other["log_loss"]["value"], 8, other["log_loss"]["tool"], 1e-9 if exact else 1e-7)
            for step, grid in grids.items():
                steps = round(1 / float(step.removeprefix("step_")))
                out.add(place, f"roc_auc[thresholds={steps}]", grid["value"], 8, grid["tool"], only_if=1e-9)
            for request in ("ReqA", "ReqB"):
                f, where = figures["auc_" + request], f"request_id = '{request}'"
                out.add(place, "roc_auc", f["value"], 4, f["tool"], condition=where)
        if name == "worked_interleaved.parquet":         # no segment is contiguous there: row-wise metrics only
            continue
        for place in (binary, halves, chosen):
            p = {r: figures["precision_at_2_" + r] for r in ("ReqA", "ReqB")}
            for request, v in p.items():
                out.add(place, "precision@2", v["value"], 1, v["tool"], segment=["request_id"], condition=f"request_id = '{request}'")
            out.add(place, "precision@2", sum(v["value"] for v in p.values()) / 2, 2, p["ReqA"]["tool"] + ": mean of ReqA and ReqB", segment=["request_id"])
            for k in (1, 2, 3, 5, 10):
                p = {r: expected["segments"][r][f"P_{k}"] for r in ("ReqA", "ReqB")}
                for request, v in p.items():
                    out.add(place, f"precision@{k}", v["value"], 1, v["tool"], segment=["request_id"], condition=f"request_id = '{request}'")
                out.add(place, f"precision@{k}", sum(v["value"] for v in p.values()) / 2, 2, p["ReqA"]["tool"] + ": mean of ReqA and ReqB", segment=["request_id"])


def kuairand(out):
    base = {"set": "kuairand", "file": "kuairand/clustered.parquet"}
    heads = load("kuairand/expected.json")["heads"]
    watch = heads.pop("watch")
    for head, e in heads.items():
        place = base | {"head": head, "score": "score_" + head, "kind": "probability", "label": e["label"]}
        out.rowwise(place, e["global"])
        out.rowwise(place, e["global_weighted_by_weight"], weight="weight")
        for date, values in e["by_date"].items():
            out.rowwise(place, values, condition=f"date = {date}")
        if "filter_is_click_eq_1" in e:
            out.rowwise(place, e["filter_is_click_eq_1"], condition="is_click = 1")
        out.segments(place, e["per_segment"], ["user_id", "date"])
        out.segments(place, e["per_segment"], ["request_id"])
    score = {"head": "watch", "score": "score_watch"}
    raw = base | score | {"kind": "raw", "label": "watch_frac"}
    out.rowwise(raw, watch["global"], condition="watch_frac IS NOT NULL")
    out.rowwise(raw, watch["global_weighted_by_weight"], condition="watch_frac IS NOT NULL", weight="weight")
    halves = base | score | {"kind": "probability"}     # every score is between 0 and 1: clipping, as the reference does, changes none
    out.rowwise(halves | {"label": "watch_frac", "label_threshold": 0.5}, watch["binarized_at_0.5"], condition="watch_frac IS NOT NULL")
    out.rowwise(halves | {"label": "watch_half"}, watch["binarized_at_0.5"], condition="watch_half IS NOT NULL")


def obd(out):
    short = {"eval_random": "random", "eval_bts": "bts", "eval_random+eval_bts": "both", "eval_affinity": "affinity"}
    for name, heads in load("obd/expected.json")["sets"].items():
        for head, e in heads.items():
            place = {"set": "obd", "head": head, "score": "score_" + head, "kind": "probability", "label": e["label"]}
            by = {key: f"obd/{short[name]}_by_{file}.parquet" for key, file in (("campaign+position", "campaign_position"), ("hour_bucket", "hour"))}
            for key, file in by.items():
                out.segments(place | {"file": file}, e["per_segment"][key], key.split("+"))
            place["file"] = by["campaign+position"]
            out.rowwise(place, e["global"])
            out.rowwise(place, e["global_weighted_by_ipw"], weight="ipw")


def lightgbm(out):
    expected = load("lightgbm/expected.json")
    for head, e in expected["binary_test"]["heads"].items():
        kind = "raw" if head == "lgbm_regression" else "probability"
        place = {"set": "lightgbm", "file": "lightgbm/binary_clustered.parquet", "head": head, "score": "score_" + head, "kind": kind, "label": e["label"]}
        out.rowwise(place, e["global"])
        out.rowwise(place, e["global_weighted"], weight="weight")
        assert all(e["regression"][m] == e["global"][m] for m in ("mae", "rmse"))      # the same values once more
        out.segments(place, e["per_segment"], ["segment_a", "segment_b"])
    e = expected["rank_test"]
    for file in ("rank_clustered", "rank_vector_clustered"):
        base = {"set": "lightgbm", "file": f"lightgbm/{file}.parquet", "head": "lambdarank", "score": "score_lambdarank", "kind": "raw"}
        out.rowwise(base | {"label": "relevance"}, e["global_regression_relevance"])
        for place in (base | {"label": "relevant"}, base | {"label": "relevance", "label_threshold": 1}):
            out.rowwise(place, e["global_binary_relevant"])
            out.segments(place, e["per_query"], ["query_id"])


def trec_eval(out):
    expected = load("trec_eval/expected.json")
    for name in ("retrieved", "retrieved_comment"):
        base = {"set": "trec_eval", "file": f"trec_eval/{name}.parquet", "head": "run", "score": "score", "kind": "raw"}
        for place in (base | {"label": "relevant"}, base | {"label": "grade", "label_threshold": 1}):
            out.rowwise(place, expected[name]["global"])
            out.segments(place, expected[name], ["topic"])
    place = {"set": "trec_eval", "file": "trec_eval/retrieved.parquet", "head": "run", "score": "score", "kind": "raw", "label": "relevant"}
    for topic, values in expected["out.test.aq"].items():
        for name, value in values.items():               # all judgements were used; P_k asks for the retrieved rows only
            if found := re.fullmatch(r"P_(\d+)", name):
                out.add(place, f"precision@{found[1]}", value, 1, expected["tool"], segment=["topic"], condition=f"topic = '{topic}'", only_if=1e-12)


def ranx_tests(out):
    expected = load("ranx_tests/expected.json")
    place = {"set": "ranx_tests", "file": "ranx_tests/joined.parquet", "head": "run", "score": "score", "kind": "raw", "label": "grade", "label_threshold": 1}
    for name, value in expected["mean"].items():
        if name.startswith("precision@"):
            out.add(place, name, value, 2, expected["tool"], segment=["topic"])
    for topic, values in expected["trec_eval"]["per_query"].items():
        for name, value in values.items():
            if found := re.fullmatch(r"P_(\d+)", name):
                out.add(place, f"precision@{found[1]}", value, 1, expected["trec_eval"]["tool"], segment=["topic"], condition=f"topic = '{topic}'")


def ir_measures_tests(out):
    expected = load("ir_measures_tests/expected.json")
    base = {"set": "ir_measures_tests", "file": "ir_measures_tests/joined.parquet", "head": "run", "score": "score", "kind": "raw", "label": "grade"}
    for place in (base, base | {"label_threshold": 1}):  # the grades are 0 and 1
        parts = [(expected["mean"], 3, None)] + [(v, 1, f"topic = '{t}'") for t, v in expected["per_query"].items()]
        for values, n, condition in parts:
            for name, value in sorted(values.items()):
                if name.startswith("P@"):
                    out.add(place, "precision" + name[1:], value, n, expected["tool"], segment=["topic"], condition=condition)


def oracles():
    out = Oracles()
    for part in (worked_example, kuairand, obd, lightgbm, trec_eval, ranx_tests, ir_measures_tests):
        part(out)
    return out


# ---------------------------------------------------------------- models
def models():
    """model, file with its features, columns of its matrix input (None: every input is a column of that name), heads, embedded."""
    watch = ["hour", "weekday", "duration_log", "user_rate", "user_log_count", "video_rate", "video_log_count"]
    dense = ["position", "affinity_self", "affinity_sum", "item_feature_0", "item_ctr"]
    x28, f300 = [f"x{i:02d}" for i in range(28)], [f"f{i:03d}" for i in range(1, 301)]
    kuai, both, affinity = "kuairand/clustered.parquet", "obd/both_by_campaign_position.parquet", "obd/affinity_by_campaign_position.parquet"
    binary, rank, vector = (f"lightgbm/{n}_clustered.parquet" for n in ("binary", "rank", "rank_vector"))
    rows = [
        ("worked_example/worked_identity", "worked_example/worked.parquet", {"score_in": ["score"]}, {"worked": ("score", "score")}, True),
        ("kuairand/models/multi_head", kuai, None, {h: (h, "score_" + h) for h in ("pCTR", "pGCTR30", "pOCTR")}, True),
        ("kuairand/models/two_tower", kuai, None, {"two_tower": ("score", "score_two_tower")}, True),
        ("kuairand/models/three_tower", kuai, None, {"three_tower": ("score", "score_three_tower")}, True),
        ("kuairand/models/watch_lgbm", kuai, {"features": watch}, {"watch": ("variable", "score_watch")}, False),
        ("obd/models/mlp_named", both, None, {"mlp_named": ("pClick", "score_mlp_named")}, True),
        ("obd/models/logreg_dense", both, {"features": dense}, {"logreg_dense": ("probabilities[1]", "score_logreg_dense")}, False),
        ("obd/models/vector_input", affinity, None, {"vector_input": ("pClick", "score_vector_input")}, True),
        ("lightgbm/models/lambdarank", rank, {"features": f300}, {"lambdarank": ("variable", "score_lambdarank")}, False),
        ("lightgbm/models/lambdarank", vector, None, {"lambdarank": ("variable", "score_lambdarank")}, False),
        ("lightgbm/models/xgb_binary", binary, {"features": x28}, {"xgb_binary": ("probabilities[1]", "score_xgb_binary")}, False),
        ("lightgbm/models/lgbm_regression", binary, {"features": x28}, {"lgbm_regression": ("variable", "score_lgbm_regression")}, False),
        ("lightgbm/models/sklearn_mlp", binary, {"features": x28}, {"sklearn_mlp": ("probabilities[1]", "score_sklearn_mlp")}, False),
    ]
    return [{"model": model + ".onnx", "file": file, "inputs": inputs,
             "heads": {h: {"score": score, "recorded": recorded} for h, (score, recorded) in heads.items()}, "embedded": embedded}
            for model, file, inputs, heads, embedded in rows]


def feed(data, spec, columns):
    """The array for one model input: its columns side by side, in the input's element type and rank."""
    kind = {"tensor(float)": np.float32, "tensor(int64)": np.int64, "tensor(int32)": np.int32}[spec.type]
    arrays = [np.array(data[c].to_pylist()).astype(kind) for c in columns]
    if arrays[0].ndim == 2:
        return arrays[0]
    return arrays[0] if len(spec.shape) == 1 else np.stack(arrays, 1)


def verify_models():
    import onnx
    import onnxruntime as ort
    options, bad = ort.SessionOptions(), 0
    options.intra_op_num_threads = 1
    for entry in load("models.json"):
        path = os.path.join(HERE, entry["model"])
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        data = pq.read_table(os.path.join(HERE, entry["file"]))
        feeds = {i.name: feed(data, i, (entry["inputs"] or {}).get(i.name, [i.name])) for i in session.get_inputs()}
        embedded = not any(node.domain == "ai.onnx.ml" for node in onnx.load(path).graph.node)
        for head, spec in entry["heads"].items():
            output, column = re.fullmatch(r"(\w+)(?:\[(\d+)\])?", spec["score"]).groups()
            got = session.run([output], feeds)[0]
            got = got[:, int(column)] if column else got.reshape(-1)
            gap = float(np.abs(got.astype(float) - np.array(data[spec["recorded"]].to_pylist(), float)).max())
            ok = gap <= LIMIT and embedded == entry["embedded"]
            bad += not ok
            print(f"{entry['model']} on {entry['file']}, {head}: largest difference {gap:.2g}, embedded {embedded}{'' if ok else ': DIFFERS'}")
    return 1 if bad else 0


# ---------------------------------------------------------------- commands
def lines(entries):
    return "[\n" + ",\n".join(json.dumps(e) for e in entries) + "\n]\n"


def verify():
    worst, bad = {}, 0
    for entry in load("oracles.json"):
        value, n = compute(entry)
        metric = re.sub(r"\d+", "N", entry["metric"]) if "thresholds" in entry["metric"] else re.sub(r"@\d+", "@k", entry["metric"])
        gap = distance(value, entry["value"])
        count, largest = worst.get(metric, (0, 0.0))
        worst[metric] = (count + 1, max(largest, gap))
        if not agrees(value, entry["value"], entry["tolerance"]) or entry["n"] not in (None, n):
            bad += 1
            print(f"DIFFERS: computed {value} from {n}: {json.dumps(entry)}")
    for metric, (count, largest) in sorted(worst.items()):
        print(f"{metric}: {count} entries, largest relative difference {largest:.2g}")
    return 1 if bad else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--check", "--verify", "--verify-models"):
        parser.add_argument(flag, action="store_true")
    args, status = parser.parse_args(), 0
    if args.check or not (args.verify or args.verify_models):
        made = oracles()
        for name, entries in (("oracles.json", made.entries), ("models.json", models())):
            path = os.path.join(HERE, name)
            if args.check:
                with open(path, encoding="utf-8") as f:
                    same = f.read() == lines(entries)
                print(f"{name}: {'same' if same else 'differs'}")
                status |= not same
            else:
                with open(path, "w", encoding="utf-8") as f:
                    f.write(lines(entries))
                print(f"{name}: {len(entries)} entries")
        print(f"left out, because tied scores change them: {len(made.left_out)}")
    if args.verify:
        status |= verify()
    if args.verify_models:
        status |= verify_models()
    sys.exit(int(status))


if __name__ == "__main__":
    main()
