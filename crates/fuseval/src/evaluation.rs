//! Evaluation: what a run file asks for, done.

use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow_schema::SchemaRef;
use fuseval_core::{Error, Model, Result, Source};
use fuseval_engine::plan::ColumnScores;
use fuseval_engine::predictions::TableSink;
use fuseval_engine::run::DEFAULT_BUCKET_ROWS;
use fuseval_engine::{Limits, Plan, ResultRow, Tables, report_with, run};
use fuseval_onnx::{Backend, LoadOptions};
use xxhash_rust::xxh3::xxh3_128;

use crate::figures::{counted, grouped};
use crate::table_file::TableFile;
use crate::{RunFile, asked};

/// How a run may use the machine, and where it finds ONNX Runtime. None of it is part of what is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Workers.
    pub threads: usize,
    /// Rows from which a bucket is cut at the next segment border.
    pub bucket_rows: usize,
    /// The library of ONNX Runtime, if it is not to be searched.
    pub onnxruntime: Option<PathBuf>,
    /// Where the predictions go, if `output.predictions` is set.
    pub predictions: Option<PathBuf>,
    /// Where the values of single segments go: a Parquet or CSV file.
    pub segments: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { threads, bucket_rows: DEFAULT_BUCKET_ROWS, onnxruntime: None, predictions: None, segments: None }
    }
}

/// What is told about a run while it goes on.
pub trait Progress: Sync {
    /// The plan is made: rows before the filter, if known, the number of experiments, and what runs the model.
    fn started(&self, rows: Option<u64>, experiments: usize, backend: &str);
    /// So many more rows of the data are done, those that the filter left out included.
    fn rows(&self, rows: u64);
    /// The run ends, well or not.
    fn ended(&self);
}

/// Nobody is told.
struct Silent;

impl Progress for Silent {
    fn started(&self, _rows: Option<u64>, _experiments: usize, _backend: &str) {}
    fn rows(&self, _rows: u64) {}
    fn ended(&self) {}
}

/// The results of a run.
pub struct Evaluation {
    pub(crate) plan: Plan,
    pub(crate) fingerprint: String,
    pub(crate) rows: Vec<ResultRow>,
    pub(crate) facts: Facts,
}

/// Facts about the run that are not results.
#[derive(Debug, Clone)]
pub(crate) struct Facts {
    pub(crate) rows: u64,
    pub(crate) segments: Option<u64>,
    pub(crate) buckets: u64,
    pub(crate) threads: usize,
    pub(crate) backend: String,
    pub(crate) seed: u64,
    pub(crate) wall_s: f64,
    pub(crate) read_s: f64,
    pub(crate) perturb_s: f64,
    pub(crate) infer_s: f64,
    pub(crate) metric_s: f64,
    /// (feature, rows in which it was missing).
    pub(crate) missing: Vec<(String, u64)>,
    /// Topics of TREC files that are in one of the two and not evaluated: of the run, of the qrels.
    pub(crate) topics_left_out: (usize, usize),
}

/// Evaluates a run file.
pub fn evaluate(run_file: &RunFile, options: &Options) -> Result<Evaluation> {
    evaluate_with(run_file, options, &Silent)
}

/// What a run file asks for, resolved: the data are open, the model is loaded, the plan is made.
struct Prepared {
    source: Box<dyn Source>,
    model: Box<dyn Model>,
    plan: Plan,
    topics_left_out: (usize, usize),
}

fn prepare(run_file: &RunFile, options: &Options) -> Result<Prepared> {
    asked::refuse_not_yet(run_file)?;
    let loaded = match asked::model(run_file) {
        None => None,
        Some(model) => {
            let load = LoadOptions { backend: model.backend.parse::<Backend>()?, library: options.onnxruntime.clone() };
            Some(fuseval_onnx::load(Path::new(&asked::resolved(run_file, &model.path)), &load)?)
        }
    };
    let inputs = loaded.iter().flat_map(|model| model.inputs()).map(|input| input.name.as_str()).collect::<Vec<_>>();
    let (source, topics_left_out) = asked::source(run_file, &inputs)?;
    let specification = asked::specification(run_file, source.as_ref())?;
    let model = loaded.unwrap_or_else(|| Box::new(ColumnScores::new(&specification)));
    let plan = Plan::new(&specification, source.as_ref(), model.as_ref(), &fuseval_metrics::metric)?;
    Ok(Prepared { source, model, plan, topics_left_out })
}

/// What a run would do and what its states would take, without doing it.
pub fn explain(run_file: &RunFile, options: &Options) -> Result<String> {
    let Prepared { source, model, plan, .. } = prepare(run_file, options)?;
    Ok(crate::explanation::explanation(&plan, source.as_ref(), model.backend(), options.threads))
}

/// Evaluates a run file and tells how far it is.
pub fn evaluate_with(run_file: &RunFile, options: &Options, progress: &dyn Progress) -> Result<Evaluation> {
    let started = Instant::now();
    if run_file.output.predictions && options.predictions.is_none() {
        return Err(Error::usage(
            "a place for the predictions",
            "`output.predictions: true` without one",
            "use `fuseval run`, which writes them into the run directory",
        ));
    }
    let Prepared { source, model, plan, topics_left_out } = prepare(run_file, options)?;
    let source = source.as_ref();
    let fingerprint = fingerprint(run_file)?;
    let limits = Limits { threads: options.threads, bucket_rows: options.bucket_rows };
    let create = |path: &Option<PathBuf>, schema: &dyn Fn() -> Result<SchemaRef>| {
        path.as_ref().map(|path| TableFile::create(path, schema()?)).transpose()
    };
    let mut predictions = create(&options.predictions, &|| fuseval_engine::predictions::schema(&plan, source))?;
    let mut segments = create(&options.segments, &|| fuseval_engine::per_segment::schema(&plan, source))?;
    progress.started(source.row_count(), plan.experiments.len(), model.backend());
    let tables = Tables {
        predictions: predictions.as_mut().map(|file| file as &mut dyn TableSink),
        segments: segments.as_mut().map(|file| file as &mut dyn TableSink),
    };
    let done = run(&plan, &fingerprint, source, model.as_ref(), limits, tables, &|rows| progress.rows(rows));
    progress.ended();
    let done = done?;
    for file in [predictions, segments].into_iter().flatten() {
        file.finish()?;
    }
    let reporting = Instant::now();
    let rows = report_with(&plan, done.partial, options.threads)?;
    let metric_time = done.metric_time + reporting.elapsed();
    let missing =
        plan.features.iter().zip(&done.missing).filter(|(_, rows)| **rows > 0 && asked::model(run_file).is_some());
    let facts = Facts {
        rows: done.rows,
        segments: done.segments,
        buckets: done.buckets,
        threads: options.threads,
        backend: model.backend().to_string(),
        seed: run_file.seed,
        wall_s: started.elapsed().as_secs_f64(),
        read_s: done.read_time.as_secs_f64(),
        perturb_s: done.perturb_time.as_secs_f64(),
        infer_s: done.infer_time.as_secs_f64(),
        metric_s: metric_time.as_secs_f64(),
        missing: missing.map(|(feature, rows)| (feature.name.clone(), *rows)).collect(),
        topics_left_out,
    };
    Ok(Evaluation { plan, fingerprint, rows, facts })
}

impl Evaluation {
    /// One line for people: how much was done, how fast, on what.
    pub fn summary(&self) -> String {
        let facts = &self.facts;
        let scored = facts.rows * self.plan.experiments.len() as u64;
        let rate = (scored as f64 / facts.wall_s.max(1e-9)) as u64;
        format!(
            "{} rows, baseline and {}, in {:.2} s: {} scored rows/s on {}, {}",
            grouped(facts.rows),
            counted(self.plan.experiments.len() - 1, "experiment"),
            facts.wall_s,
            grouped(rate),
            facts.backend,
            counted(facts.threads, "thread"),
        )
    }
}

/// What makes two runs the same plan: all of the run file but its output, and the content of the model.
fn fingerprint(run_file: &RunFile) -> Result<String> {
    let asked = RunFile { output: crate::run_file::OutputBlock::default(), ..run_file.clone() };
    let mut bytes =
        serde_json::to_vec(&asked).map_err(|error| Error::defect("a run file as JSON", error.to_string()))?;
    if let Some(model) = asked::model(run_file) {
        let path = asked::resolved(run_file, &model.path);
        let content = std::fs::read(&path)
            .map_err(|error| Error::usage("a model file", error.to_string(), "check `model.path`").at(path))?;
        bytes.extend_from_slice(&xxh3_128(&content).to_le_bytes());
    }
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}
