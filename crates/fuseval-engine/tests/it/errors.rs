//! What bad input gets: the whole message, and the same one whatever the timing.

use arrow_array::ArrayRef;
use fuseval_core::scorer::{Input, Output, OutputColumn};
use fuseval_core::{Error, ErrorKind, Model, Result, Scorer, Tensor};
use fuseval_engine::specification::{ExperimentSpecification, FeatureChoice, Filling, Scalar};
use fuseval_engine::{Limits, Specification};
use fuseval_testkit::fakes::{LinearModel, MemorySource};

use crate::data::{LIMITS, asked, floats, integers, log, memory, optional_floats, ran, texts};

fn message(asked: &Specification, columns: Vec<(&str, ArrayRef)>) -> String {
    ran(asked, &memory(columns), None, LIMITS).err().expect("an error").to_string()
}

fn table(scores: &[f64], labels: ArrayRef) -> Vec<(&'static str, ArrayRef)> {
    vec![("score", floats(scores.iter().copied())), ("label", labels)]
}

#[test]
fn messages() {
    let binary = |labels: &[i64]| integers(labels.iter().copied());
    let two = &[0.1, 0.2];
    let mut weighted = asked("mae", &[]);
    weighted.heads[0].weight = Some("weight".to_string());
    let weights = |weights: ArrayRef| {
        let mut columns = table(two, binary(&[0, 1]));
        columns.push(("weight", weights));
        columns
    };
    let mut raw = asked("log_loss", &[]);
    raw.heads[0].kind = fuseval_core::ScoreKind::Raw;
    let mut positive = asked("roc_auc", &[]);
    positive.heads[0].positive = Some("maybe".to_string());
    let words = || texts(&[Some("yes"), None]);
    let cases = [
        (
            message(&asked("roc_auc", &[]), table(&[0.5, f64::NAN], binary(&[0, 1]))),
            "memory: row 1: head `ctr`: expected a number in score `score`, found NaN or null (1 such rows in this bucket); find out why the score is missing, or leave such rows out and count them: `on_invalid: drop`",
        ),
        (
            message(&asked("log_loss", &[]), table(&[1.2, -0.1], binary(&[0, 1]))),
            "memory: row 0: head `ctr`: expected a probability between 0 and 1 in score `score` for `log_loss`, found 1.2 (2 such rows in this bucket); if the scores are logits, declare `kind: logit` (`--kind logit`); otherwise leave these metrics out",
        ),
        (
            message(&asked("mae,roc_auc", &[]), table(&[0.2, f64::INFINITY], binary(&[0, 1]))),
            "memory: row 1: head `ctr`: expected a finite number in score `score` for `mae`, found inf (1 such rows in this bucket); correct the score, or ask only for metrics that use the order of scores",
        ),
        (
            message(&asked("roc_auc", &[]), table(two, floats([0.0, 0.3]))),
            "memory: row 1: head `ctr`: expected a label of 0 or 1 in column `label` for `roc_auc`, found 0.3; give the label from which a row is positive: `label_threshold: 0.5` (`--label-threshold 0.5`), or leave these metrics out",
        ),
        (
            message(&asked("log_loss", &[]), table(two, floats([-1.0, 0.3]))),
            "memory: row 0: head `ctr`: expected a label between 0 and 1 in column `label` for `log_loss`, found the negative -1; correct the label, or leave these metrics out",
        ),
        (
            message(&asked("mae", &[]), table(two, optional_floats(&[Some(1.0), None]))),
            "memory: row 1: head `ctr`: expected a label in column `label`, found null (1 rows without a label in this bucket); filter the rows out (`filter`), mask them for this head (`mask`), or leave them out and count them: `on_invalid: drop`",
        ),
        (
            message(&weighted, weights(floats([1.0, -0.5]))),
            "memory: row 1: head `ctr`: expected a finite weight from 0 on in column `weight`, found the negative -0.5; correct the weight, or filter the row out (`on_invalid: drop` leaves out rows with a null weight)",
        ),
        (
            message(&weighted, weights(optional_floats(&[None, Some(1.0)]))),
            "memory: row 0: head `ctr`: expected a finite weight from 0 on in column `weight`, found null; correct the weight, or filter the row out (`on_invalid: drop` leaves out rows with a null weight)",
        ),
        (
            message(&raw, table(two, binary(&[0, 1]))),
            "head `ctr`: expected `kind: probability` or `kind: logit` for `log_loss`, found `kind: raw`; declare what the score is: `kind: probability` (`--kind probability`), or leave the metric out",
        ),
        (
            message(&asked("precision@3", &[]), table(two, binary(&[0, 1]))),
            "expected a segment key for `precision@3`, found none; name the columns of a request or session: `segment: [request_id]` or `--segment request_id`",
        ),
        (
            message(&asked("roc_auc", &[]), table(two, words())),
            "head `ctr`: expected numbers or truth values in the label column `label`, found text with the values `yes`, null; name the value that is 1: `positive: VALUE` (`--positive VALUE`)",
        ),
        (
            message(&positive, table(two, texts(&[Some("yes"), Some("no")]))),
            "head `ctr`: expected the value `maybe` in the label column `label`, found the values `no`, `yes`; name one of the values that occur: `positive: VALUE` (`--positive VALUE`)",
        ),
        (
            message(&asked("roc_auc", &["reqest"]), table(two, binary(&[0, 1]))),
            "segment: expected a column of the data, found `reqest`; choose one of `score`, `label`",
        ),
        (
            message(&asked("mae", &[]), table(&[], binary(&[]))),
            "expected at least one row, found none after the filter; check `filter` (`--filter`) and that the files have rows",
        ),
        (
            message(&asked("mae,mae", &[]), table(two, binary(&[0, 1]))),
            "metrics: expected each metric once, found `mae` twice; leave one out",
        ),
    ];
    for (found, expected) in cases {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_segment_that_comes_back_is_named_with_both_places() {
    let columns = vec![
        ("request", integers([7, 7, 8, 9, 9, 7])),
        ("score", floats([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])),
        ("label", integers([0, 1, 0, 1, 0, 1])),
    ];
    let expected = "memory: row 5: expected the rows of the segment request = 7 next to each other, found one that follows other segments; the rows before it ended at memory: row 1; sort the data by the segment key, or ask only for metrics over rows, which take any order";
    for bucket_rows in [1, 2, 100] {
        let limits = Limits { threads: 2, bucket_rows };
        let error = ran(&asked("precision@1", &["request"]), &memory(columns.clone()), None, limits).err().unwrap();
        assert_eq!((error.kind(), error.to_string()), (ErrorKind::Data, expected.to_string()));
    }
    assert!(ran(&asked("mae", &["request"]), &memory(columns), None, LIMITS).is_ok());
}

#[test]
fn the_earliest_error_is_reported_whatever_the_timing() {
    let mut columns = log(2000);
    let mut scores = vec![0.5; 2000];
    (700..2000).step_by(100).for_each(|row| scores[row] = f64::NAN);
    columns[1].1 = floats(scores);
    for time in 0..30 {
        let limits = Limits { threads: 1 + time % 4, bucket_rows: 20 };
        let error =
            ran(&asked("mae", &["request"]), &MemorySource::new(columns.clone(), 50), None, limits).err().unwrap();
        assert!(error.to_string().starts_with("memory: row 700:"), "{error}");
    }
}

#[test]
fn an_error_of_the_source_ends_the_run() {
    let source = MemorySource::new(log(2000), 50).failing_after(20);
    let error = ran(&asked("mae", &["request"]), &source, None, LIMITS).err().unwrap();
    assert_eq!(error.to_string(), "expected a batch, found a broken disk; mend it");
}

#[test]
fn experiments_that_make_no_sense_are_refused() {
    let model = LinearModel::new(&[("x", 1.0), ("z", 1.0)]);
    let named = |name: &str| FeatureChoice::Named(vec![name.to_string()]);
    let permute = |features, repeats| ExperimentSpecification::Permute {
        features,
        together: false,
        repeats,
        seed: None,
        name: None,
    };
    let message = |experiments: Vec<ExperimentSpecification>| {
        let mut asked = asked("mae", &[]);
        asked.experiments = experiments;
        ran(&asked, &memory(log(50)), Some(&model), LIMITS).err().expect("an error").to_string()
    };
    assert_eq!(
        message(vec![permute(named("xx"), 1)]),
        "experiments[0]: expected a feature of the model, found `xx`; did you mean `x`?"
    );
    assert_eq!(
        message(vec![permute(named("x"), 0)]),
        "experiments[0]: expected one repeat or more, found `repeats: 0`; leave `repeats` out for one"
    );
    assert_eq!(
        message(vec![permute(named("x"), 1), permute(FeatureChoice::All, 1)]),
        "expected experiments with different names, found `permute:x` twice; give one of them a `name`"
    );
    let text = Filling::Constant(Scalar::Text("high".to_string()));
    assert_eq!(
        message(vec![ExperimentSpecification::Fill { features: named("x"), with: text, name: None }]),
        "experiments[0]: expected a value of type float64, found `high`; write a value that the input of the model can hold"
    );
    let mut scores = asked("mae", &[]);
    scores.experiments = vec![permute(FeatureChoice::All, 1)];
    let error = ran(&scores, &memory(log(50)), None, LIMITS).err().unwrap();
    assert_eq!(
        error.to_string(),
        "expected a model for experiments on features, found scores that are columns; name the model: `model: {path: model.onnx}`, or leave `experiments` out"
    );
}

/// A model whose scorers fail, or panic, at their third call.
struct Broken {
    linear: LinearModel,
    panics: bool,
}

struct BrokenScorer {
    linear: Box<dyn Scorer>,
    calls: u32,
    panics: bool,
}

impl Model for Broken {
    fn inputs(&self) -> &[Input] {
        self.linear.inputs()
    }

    fn outputs(&self) -> &[Output] {
        self.linear.outputs()
    }

    fn backend(&self) -> &str {
        "broken"
    }

    fn scorer(&self, columns: &[OutputColumn]) -> Result<Box<dyn Scorer>> {
        Ok(Box::new(BrokenScorer { linear: self.linear.scorer(columns)?, calls: 0, panics: self.panics }))
    }
}

impl Scorer for BrokenScorer {
    fn score(&mut self, inputs: &[Tensor], scores: &mut [Vec<f64>]) -> Result<()> {
        self.calls += 1;
        assert!(self.calls < 3 || !self.panics, "a scorer that panics, as this test wants it");
        if self.calls == 3 {
            return Err(Error::model("scores", "smoke", "call the fire brigade"));
        }
        self.linear.score(inputs, scores)
    }
}

#[test]
fn a_scorer_that_fails_or_panics_ends_the_run_with_an_error() {
    for (panics, kind) in [(false, ErrorKind::Model), (true, ErrorKind::Defect)] {
        for threads in [1, 4] {
            let model = Broken { linear: LinearModel::new(&[("x", 1.0), ("z", 0.0)]), panics };
            let limits = Limits { threads, bucket_rows: 10 };
            let error = ran(&asked("mae", &["request"]), &memory(log(3000)), Some(&model), limits).err().unwrap();
            assert_eq!(error.kind(), kind, "{error}");
        }
    }
}
