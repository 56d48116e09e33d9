//! trec_eval's own test suite through the command line: under `preset: trec_eval` every measure that we have equals what
//! trec_eval prints, for each topic and overall, and the same measures to full precision where pytrec_eval gives them.
//!
//! `testdata/trec_eval/cases.json` names the options and files of each case. A measure is either in [`MEASURES`], with the
//! metric that equals it, or in [`NOT_COVERED`], with the reason why none does.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::common::{fuseval, testdata};

/// What the labels of a measure are.
#[derive(Clone, Copy, PartialEq)]
enum Labels {
    /// Relevant or not, by the relevance level (`-l`).
    Level,
    /// Grades, whatever the level.
    Grades,
    /// Grades in trec_eval, relevant or not in ours: the same where no grade is above 1.
    GradesThere,
}
use Labels::{Grades, GradesThere, Level};

/// Measures with the metrics that equal them. `*` stands for a cut-off, `#` for the number of documents that each topic
/// retrieves; the measure has no metric where topics differ in it.
const MEASURES: &[(&str, &str, Labels)] = &[
    ("num_q", TOPICS, Level),
    ("map", "map", Level),
    ("map_cut_*", "map@*", Level),
    ("recip_rank", "mrr", Level),
    ("Rprec", "r_precision", Level),
    ("Rprec_mult_1.00", "r_precision", Level),
    ("P_*", "precision@*", Level),
    ("recall_*", "recall@*", Level),
    ("relative_P_*", "capped_recall@*", Level),
    ("success_*", "hit_rate@*", Level),
    ("ndcg", "ndcg", Grades),
    ("ndcg_1=3,2=9,4=4.5", "ndcg[gain=[0,3,9,3,4.5]]", Grades),
    ("ndcg_cut_*", "ndcg@*", Grades),
    ("rbp", "rbp", GradesThere),
    // A cut-off below all that is retrieved.
    ("set_P", "precision@1000000[denominator=min_k_n]", Level),
    ("set_recall", "recall@1000000", Level),
    ("set_F", "f1@#", Level),
    ("set_relative_P", "capped_recall@#", Level),
];

/// In the place of a metric: how many topics there are, each of which counts 1.
const TOPICS: &str = "(topics)";

/// Measures without a metric, and why; `*` ends the names of a family, the first that fits.
const NOT_COVERED: &[(&str, &str)] = &[
    ("runid", "the name of the run"),
    ("num_ret", "`count` is refused where rows have no score"),
    ("num_rel", "`count` is refused where rows have no score"),
    ("num_rel_ret", "`count` is refused where rows have no score"),
    ("num_nonrel_judged_ret", "no metric tells documents without a judgement from those that are not relevant"),
    ("relstring*", "the grades of the first documents, not a number"),
    ("gm_map", "no geometric means"),
    ("gm_bpref", "no geometric means; bpref"),
    ("bpref", "no metric leaves out documents without a judgement"),
    ("infAP", "an estimate for pools that are judged in part"),
    ("unj_*", "no metric counts documents without a judgement"),
    ("rbp_resid", "no metric counts documents without a judgement"),
    ("rbp", "with grades above 1: trec_eval weighs a document by its grade, ours are relevant or not"),
    ("iprec_at_recall_*", "no interpolated precision of a segment"),
    ("11pt_avg*", "no interpolated precision of a segment"),
    ("map_avgjg", "groups of judgements (-R qrels_jg)"),
    ("P_avgjg_*", "groups of judgements (-R qrels_jg)"),
    ("Rprec_mult_avgjg_*", "groups of judgements (-R qrels_jg)"),
    ("Rprec_mult_*", "no precision at a multiple of the number of relevant rows, other than r_precision"),
    ("utility*", "no metric of gains and costs per document"),
    ("G", "no metric of this gain"),
    ("binG", "no metric of this gain"),
    ("ndcg_rel", "no metric cuts at the ranks of relevant rows"),
    ("Rndcg", "no metric cuts NDCG at the number of relevant rows"),
    ("set_map", "precision times recall of all that is retrieved"),
    ("set_F", "where topics differ in how much they retrieve: f1@k has one k"),
    ("set_relative_P", "where topics differ in how much they retrieve: capped_recall@k has one k"),
    ("Z*", "scores against other runs (-Z)"),
    ("prefs_*", "preferences between documents (-R prefs, -R qrels_prefs)"),
];

/// Values compared in each case, by its printed output and its qrels.
const COMPARED: &[(&str, &str, usize)] = &[
    ("out.test", "qrels.test", 13),
    ("out.test", "qrels.test.with-comments", 13),
    ("out.comment.test", "qrels.comment.test", 13),
    ("out.test.a", "qrels.test", 59),
    ("out.test.aq", "qrels.test", 233),
    ("out.test.aqc", "qrels.test", 225),
    ("out.test.aqcM", "qrels.test", 225),
    ("out.test.aql", "qrels.rel_level", 229),
    ("out.test.prefs", "prefs.test", 0),
    ("out.test.prefs", "prefs.comment.test", 0),
    ("out.test.qrels_prefs", "qrels.test", 0),
    ("out.test.qrels_jg", "qrels.123", 0),
    ("out.test.qrels_jg", "qrels.comments.123", 0),
    ("out.test.meas_params", "qrels.test", 48),
    // Nothing but scores against other runs.
    ("out.test.aqZ", "qrels.test", 0),
];

/// One case of the suite.
#[derive(Debug, Default)]
struct Case {
    printed: String,
    qrels: String,
    run: String,
    complete: bool,
    depth: Option<String>,
    level: Option<String>,
    /// The level as the label threshold of the head.
    label_threshold: Option<String>,
    /// Whether the qrels are of another form than lines with a grade (`-R`).
    other_form: bool,
    /// How many documents each topic retrieves, where it is as many for all.
    retrieved: Option<usize>,
}

fn text(name: &str) -> String {
    std::fs::read_to_string(testdata("trec_eval").join(name)).unwrap()
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

fn cases() -> Vec<Case> {
    json("cases.json").as_array().unwrap().iter().map(case).collect()
}

fn case(entry: &Value) -> Case {
    let named = |key: &str| entry[key].as_str().unwrap().to_string();
    let mut case =
        Case { printed: named("expected_output"), qrels: named("qrels"), run: named("results"), ..Case::default() };
    let options = named("options");
    let mut options = options.split_whitespace();
    while let Some(option) = options.next() {
        match option.split_at(2) {
            // What to print is seen in the printed output.
            ("-q", "") => {}
            ("-m", measure) => drop(measure.is_empty().then(|| options.next())),
            ("-Z", "") => drop(options.next()),
            ("-c", "") => case.complete = true,
            ("-M", depth) => case.depth = Some(depth.to_string()),
            ("-l", level) => case.level = Some(level.to_string()),
            ("-R", "") => case.other_form = options.next().is_some(),
            _ => panic!("{}: the option `{option}`", case.printed),
        }
    }
    if !case.other_form {
        case.retrieved = retrieved(&text(&case.run));
    }
    case
}

fn retrieved(run: &str) -> Option<usize> {
    let mut topics: BTreeMap<&str, usize> = BTreeMap::new();
    for topic in run.lines().filter_map(|line| line.split_whitespace().next()) {
        *topics.entry(topic).or_default() += 1;
    }
    let counts: BTreeSet<usize> = topics.into_values().collect();
    counts.first().copied().filter(|_| counts.len() == 1)
}

/// The metric that equals a measure in a case.
fn metric(measure: &str, case: &Case) -> Option<String> {
    MEASURES.iter().find_map(|(theirs, ours, labels)| {
        let metric = match theirs.strip_suffix('*') {
            None if *theirs == measure => match case.retrieved {
                Some(retrieved) => ours.replace('#', &retrieved.to_string()),
                None => Some(ours.to_string()).filter(|ours| !ours.contains('#'))?,
            },
            None => return None,
            Some(family) => {
                let cutoff = measure.strip_prefix(family)?;
                cutoff.parse::<usize>().ok()?;
                ours.replace('*', cutoff)
            }
        };
        match &case.level {
            None => Some(metric),
            Some(_) if *labels == Grades || *ours == TOPICS => Some(metric),
            // The qrels of these cases have grades above 1.
            Some(_) if *labels == GradesThere => None,
            Some(level) => Some(match metric.strip_suffix(']') {
                Some(open) => format!("{open},rel_threshold={level}]"),
                None => format!("{metric}[rel_threshold={level}]"),
            }),
        }
    })
}

/// The place of a measure in [`NOT_COVERED`].
fn not_covered(measure: &str) -> Option<usize> {
    NOT_COVERED.iter().position(|(name, _)| match name.strip_suffix('*') {
        Some(family) => measure.starts_with(family),
        None => *name == measure,
    })
}

/// Values by topic, `all` for overall, and metric.
type Values = BTreeMap<(String, String), f64>;

/// What `fuseval score` gives for the files and options of a case.
fn evaluated(case: &Case, metrics: &BTreeSet<String>) -> Values {
    let metrics: Vec<&str> = metrics.iter().map(String::as_str).filter(|metric| *metric != TOPICS).collect();
    let folder = tempfile::tempdir().unwrap();
    let (qrels, run) = (testdata("trec_eval").join(&case.qrels), testdata("trec_eval").join(&case.run));
    let asked = metrics.join(",");
    let mut arguments = vec!["score", "--trec-qrels", qrels.to_str().unwrap(), "--trec-run", run.to_str().unwrap()];
    arguments.extend(["--preset", "trec_eval", "-m", &asked, "--per-segment", "topics.csv", "--format", "json"]);
    arguments.extend(case.complete.then_some("--trec-complete"));
    arguments.extend(case.depth.iter().flat_map(|depth| ["--trec-depth", depth]));
    arguments.extend(case.label_threshold.iter().flat_map(|level| ["--label-threshold", level]));
    let output = fuseval(folder.path(), &arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));

    let all: Value = serde_json::from_slice(&output.stdout).unwrap();
    let (topics, records) = (all["run"]["segments"].as_f64().unwrap(), all["results"].as_array().unwrap());
    assert_eq!(records.len(), metrics.len(), "{}", case.printed);
    let mut values = Values::from([(("all".into(), TOPICS.into()), topics)]);
    for (record, metric) in records.iter().zip(&metrics) {
        assert_eq!(record["n"].as_f64(), Some(topics), "{}: a topic has no {metric}", case.printed);
        values.insert(("all".into(), metric.to_string()), record["value"].as_f64().unwrap());
    }

    let mut table = csv::Reader::from_path(folder.path().join("topics.csv")).unwrap();
    let names = ["experiment", "head", "topic", "rows"].into_iter();
    let names: Vec<&str> = names.chain(records.iter().map(|record| record["metric"].as_str().unwrap())).collect();
    assert_eq!(table.headers().unwrap(), names, "{}", case.printed);
    let rows: Vec<csv::StringRecord> = table.records().map(Result::unwrap).collect();
    assert_eq!(rows.len() as f64, topics, "{}", case.printed);
    for row in rows {
        values.insert((row[2].into(), TOPICS.into()), 1.0);
        for (value, metric) in row.iter().skip(4).zip(&metrics) {
            values.insert((row[2].into(), metric.to_string()), value.parse().unwrap());
        }
    }
    values
}

/// Measure, topic and value of each line of a printed output.
fn lines(printed: &str) -> impl Iterator<Item = [&str; 3]> {
    printed.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().try_into().unwrap())
}

#[test]
fn every_measure_that_we_have_is_as_trec_eval_prints_it() {
    let (mut compared, mut wrong, mut left_out) = (Vec::new(), Vec::new(), BTreeMap::<usize, BTreeSet<String>>::new());
    for case in cases() {
        let printed = text(&case.printed);
        let mut asked = Vec::new();
        for [measure, topic, value] in lines(&printed) {
            match metric(measure, &case) {
                Some(_) if case.other_form => {}
                Some(metric) => asked.push((metric, measure, topic, value)),
                None => {
                    let place = not_covered(measure);
                    let place = place.unwrap_or_else(|| panic!("{}: unknown measure {measure}", case.printed));
                    left_out.entry(place).or_default().insert(measure.to_string());
                }
            }
        }
        if !asked.is_empty() {
            let found = evaluated(&case, &asked.iter().map(|(metric, ..)| metric.clone()).collect());
            for (metric, measure, topic, value) in &asked {
                let ours = found[&(topic.to_string(), metric.clone())];
                let ours = if value.contains('.') { format!("{ours:.4}") } else { ours.to_string() };
                if ours != *value {
                    wrong.push(format!("{}: {measure} of {topic} is {value}, found {metric} {ours}", case.printed));
                }
            }
        }
        compared.push((case.printed, case.qrels, asked.len()));
    }
    for (place, (name, reason)) in NOT_COVERED.iter().enumerate() {
        let measures = left_out.get(&place).unwrap_or_else(|| panic!("no case has {name}"));
        eprintln!("not covered: {name} ({} names): {reason}", measures.len());
    }
    assert!(wrong.is_empty(), "{} values differ:\n{}", wrong.len(), wrong.join("\n"));
    let compared: Vec<_> = compared.iter().map(|(printed, qrels, count)| (&printed[..], &qrels[..], *count)).collect();
    assert_eq!(compared, COMPARED);
}

/// A number, alone or with the tool that computed it.
fn number(value: &Value) -> f64 {
    value.as_f64().or(value["value"].as_f64()).unwrap()
}

#[test]
fn every_measure_that_we_have_is_that_of_pytrec_eval_to_full_precision() {
    let (expected, cases) = (json("expected.json"), cases());
    // Path of the values, the case that they belong to, how many there are, whether they are by topic.
    let tables = [
        ("/out.test.aq", "out.test.aq", 174, true),
        ("/out.test.aql (relevance level 2)", "out.test.aql", 174, true),
        ("/retrieved/mean_over_topics_with_full_qrels", "out.test", 16, false),
        ("/retrieved_comment/mean_over_topics_with_full_qrels", "out.comment.test", 16, false),
    ];
    let mut wrong = Vec::new();
    for (path, printed, count, by_topic) in tables {
        let case = cases.iter().find(|case| case.printed == printed).unwrap();
        let values = expected.pointer(path).unwrap().as_object().unwrap();
        let overall = [("all".to_string(), expected.pointer(path).unwrap())];
        let topics: Vec<(String, &Value)> = match by_topic {
            true => values.iter().map(|(topic, values)| (topic.clone(), values)).collect(),
            false => overall.into(),
        };
        let mut asked = Vec::new();
        for (topic, values) in &topics {
            for (measure, value) in values.as_object().unwrap() {
                match metric(measure, case) {
                    Some(metric) => asked.push((metric, measure, topic, number(value))),
                    None => assert!(not_covered(measure).is_some(), "{path}: unknown measure {measure}"),
                }
            }
        }
        let found = evaluated(case, &asked.iter().map(|(metric, ..)| metric.clone()).collect());
        for (metric, measure, topic, value) in &asked {
            let ours = found[&(topic.to_string(), metric.clone())];
            if (ours - value).abs() > 1e-12 * value.abs() {
                wrong.push(format!("{path}: {measure} of {topic} is {value}, found {metric} {ours}"));
            }
        }
        assert_eq!(asked.len(), count, "{path}");
    }
    assert!(wrong.is_empty(), "{} values differ:\n{}", wrong.len(), wrong.join("\n"));
    // Where pytrec_eval, which has version 9 of trec_eval, differs from what version 10 prints, it is in measures that we
    // do not have.
    for entry in expected["printed_values_that_differ"].as_array().unwrap() {
        assert!(not_covered(entry["measure"].as_str().unwrap()).is_some(), "{entry}");
    }
}

#[test]
fn a_label_threshold_is_the_relevance_level_of_measures_without_grades() {
    let find = || cases().into_iter().find(|case| case.printed == "out.test.aql").unwrap();
    let (by_option, mut by_head) = (find(), find());
    by_head.label_threshold = by_head.level.take();
    let printed = text(&by_option.printed);
    let measures: BTreeSet<&str> = lines(&printed).map(|[measure, ..]| measure).collect();
    let pairs: BTreeMap<String, String> = measures
        .into_iter()
        .filter_map(|measure| Some((metric(measure, &by_option)?, metric(measure, &by_head)?)))
        .filter(|(option, head)| option != head)
        .collect();
    let options = evaluated(&by_option, &pairs.keys().cloned().collect());
    let heads = evaluated(&by_head, &pairs.values().cloned().collect());
    assert_eq!(options.len(), heads.len());
    for ((topic, option), value) in &options {
        let head = pairs.get(option).unwrap_or(option);
        assert_eq!(heads[&(topic.clone(), head.clone())], *value, "{option} of {topic}");
    }
    assert!(pairs.len() > 40, "only {} metrics", pairs.len());
}
