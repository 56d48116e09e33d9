//! Evaluation: what a run file asks for, done.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use arrow_schema::SchemaRef;
use fuseval_core::{Error, Model, Partial, Result, Scan, Source};
use fuseval_engine::bucket::{Clustering, Extent};
use fuseval_engine::completeness::{Completeness, is_scattered};
use fuseval_engine::journal::Resumed;
use fuseval_engine::plan::ColumnScores;
use fuseval_engine::predictions::TableSink;
use fuseval_engine::run::{DEFAULT_BUCKET_ROWS, RunError, check_positives, check_rows};
use fuseval_engine::{Limits, Plan, ResultRow, Run, Tables, Work, report_with, run};
use fuseval_onnx::{Backend, LoadOptions};
use serde::{Deserialize, Serialize};

use crate::figures::{counted, grouped};
use crate::fingerprint::{fingerprint, models};
use crate::ledger::{Header, Ledger, LedgerOf};
use crate::memory;
use crate::parted_table::PartedTable;
use crate::partial_file::{Description, OutlineText, Share};
use crate::run_directory::Unfinished;
use crate::run_file::ClusteredWord;
use crate::table_file::TableFile;
use crate::{RunFile, asked};

/// How a run may use the machine, and where it finds ONNX Runtime. None of it is part of what is asked.
#[derive(Debug, Clone)]
pub struct Options {
    /// Workers.
    pub threads: usize,
    /// Rows from which a bucket is cut at the next segment border.
    pub bucket_rows: usize,
    /// The bytes that may be held in memory; a share of the machine's if left out.
    pub memory: Option<u64>,
    /// The library of ONNX Runtime, if it is not to be searched.
    pub onnxruntime: Option<PathBuf>,
    /// Where the predictions go, if `output.predictions` is set.
    pub predictions: Option<PathBuf>,
    /// Where the values of single segments go: a Parquet or CSV file.
    pub segments: Option<PathBuf>,
    /// The part of the data to evaluate: its number, and how many parts there are.
    pub shard: (u64, u64),
    /// Set by whoever wants the run to stop.
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Options {
    fn default() -> Self {
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self {
            threads,
            bucket_rows: DEFAULT_BUCKET_ROWS,
            memory: None,
            onnxruntime: None,
            predictions: None,
            segments: None,
            shard: (0, 1),
            stop: None,
        }
    }
}

/// What is told about a run while it goes on.
pub trait Progress: Sync {
    /// The plan is made: rows before the filter, if known, the number of experiments, and what runs the model.
    fn started(&self, rows: Option<u64>, experiments: usize, backend: &str);
    /// So many more rows of the data are done, those that the filter left out included.
    fn rows(&self, rows: u64);
    /// All rows are to be done again.
    fn restarted(&self);
    /// Something that people should know.
    fn note(&self, text: &str);
    /// The run ends, well or not.
    fn ended(&self);
}

/// Nobody is told.
struct Silent;

impl Progress for Silent {
    fn started(&self, _rows: Option<u64>, _experiments: usize, _backend: &str) {}
    fn rows(&self, _rows: u64) {}
    fn restarted(&self) {}
    fn note(&self, _text: &str) {}
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
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Facts {
    pub(crate) rows: u64,
    pub(crate) segments: Option<u64>,
    pub(crate) buckets: u64,
    pub(crate) resumed_buckets: u64,
    pub(crate) threads: usize,
    pub(crate) backend: String,
    pub(crate) seed: u64,
    pub(crate) wall_s: f64,
    pub(crate) read_s: f64,
    pub(crate) perturb_s: f64,
    pub(crate) infer_s: f64,
    pub(crate) metric_s: f64,
    /// Whether segments were brought together by their key.
    pub(crate) clustered: bool,
    /// (feature, rows in which it was missing).
    pub(crate) missing: Vec<(String, u64)>,
    /// Topics of TREC files that are in one of the two and not evaluated: of the run, of the qrels.
    pub(crate) topics_left_out: (usize, usize),
}

/// The states of a run, or of a part of the data.
pub(crate) struct Computed {
    pub(crate) plan: Plan,
    pub(crate) partial: Partial,
    pub(crate) segments: Option<Completeness>,
    pub(crate) description: Description,
}

/// Evaluates a run file.
pub fn evaluate(run_file: &RunFile, options: &Options) -> Result<Evaluation> {
    evaluate_with(run_file, options, &Silent)
}

/// Evaluates a run file and tells how far it is.
pub fn evaluate_with(run_file: &RunFile, options: &Options, progress: &dyn Progress) -> Result<Evaluation> {
    if run_file.output.predictions && options.predictions.is_none() {
        return Err(Error::usage(
            "a place for the predictions",
            "`output.predictions: true` without one",
            "use `fuseval run`, which writes them into the run directory",
        ));
    }
    evaluated(compute(run_file, options, None, progress)?, options.threads)
}

/// The results of states.
pub(crate) fn evaluated(computed: Computed, threads: usize) -> Result<Evaluation> {
    let Computed { plan, partial, description, .. } = computed;
    let Description { plan: fingerprint, mut facts, .. } = description;
    check_rows(facts.rows)?;
    let reporting = Instant::now();
    let rows = report_with(&plan, partial, threads)?;
    let seconds = reporting.elapsed().as_secs_f64();
    facts.metric_s += seconds;
    facts.wall_s += seconds;
    Ok(Evaluation { plan, fingerprint, rows, facts })
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
    Ok(crate::explanation::explanation(&plan, source.as_ref(), model.backend(), options))
}

/// Computes the states of a run file, or of one shard of its data; with a run directory in the making, so that a process
/// that is killed can be followed by one that goes on.
pub(crate) fn compute(
    run_file: &RunFile,
    options: &Options,
    unfinished: Option<&Unfinished>,
    progress: &dyn Progress,
) -> Result<Computed> {
    let started = Instant::now();
    let Prepared { source, model, plan, topics_left_out } = prepare(run_file, options)?;
    let source = source.as_ref();
    memory::refuse_too_little(&plan, source.row_count().unwrap_or(0), options.threads, options.memory)?;
    let fingerprint = fingerprint(run_file)?;
    let identities = source.identities().into_iter();
    let files: Vec<_> = identities.map(|file| (absolute(file.shown), file.size, file.content)).collect();
    let clustered = run_file.data.clustered;
    let (shard, shards) = options.shard;
    let mut header = Header {
        fuseval: env!("CARGO_PKG_VERSION").to_string(),
        run_file: serde_json::to_value(RunFile { output: Default::default(), ..run_file.clone() })
            .map_err(|error| Error::defect("a run file as JSON", error.to_string()))?,
        output: serde_json::to_value(&run_file.output)
            .map_err(|error| Error::defect("output as JSON", error.to_string()))?,
        base: absolute(run_file.base.to_string_lossy().into_owned()),
        name: run_file.name.clone(),
        models: models(run_file)?,
        files: files.clone(),
        bucket_rows: options.bucket_rows as u64,
        shard: options.shard,
        by_key: false,
        tables: tables(options),
    };
    let mut resumed = Resumed::default();
    let mut ledger = None;
    if let Some(Unfinished { folder, resume: true }) = unfinished
        && let Some(found) = Ledger::find(folder)?
    {
        found.header.refuse_changes(&header)?;
        header = found.header.clone();
        let (opened, done, notes) = Ledger::resume(folder, found, &plan, &fingerprint)?;
        notes.iter().for_each(|note| progress.note(note));
        resumed = done;
        ledger = Some(opened);
    }
    if ledger.is_none() {
        header.by_key = match clustered {
            ClusteredWord::No => !plan.segment.is_empty(),
            ClusteredWord::Yes => false,
            // All shards must deal out segments in the same way, so it is found out over all of the data.
            ClusteredWord::Auto => shards > 1 && plan.needs_whole_segments() && is_scattered(&plan, source)?,
        };
        ledger = unfinished.map(|unfinished| Ledger::begin(&unfinished.folder, &header)).transpose()?;
    }
    let limits = Limits { threads: options.threads, bucket_rows: header.bucket_rows as usize };
    let rows = source.row_count();
    let expected = rows.map(|rows| rows.div_ceil(shards.max(1)));
    progress.started(expected, plan.experiments.len(), model.backend());
    let done = loop {
        let extent = extent(&header, source, options)?;
        let mut written = Written::new(options, &plan, source, ledger.as_ref())?;
        let journal = ledger.as_ref().map(|ledger| LedgerOf { ledger, plan: &plan });
        let work = Work {
            extent,
            resumed: std::mem::take(&mut resumed),
            journal: journal.as_ref().map(|journal| journal as _),
            stop: options.stop.as_deref(),
            tables: written.tables(),
        };
        let done = run(&plan, &fingerprint, source, model.as_ref(), limits, work, &|rows| progress.rows(rows));
        match done {
            Ok(done) => {
                progress.ended();
                written.finish()?;
                break done;
            }
            Err(RunError::Scattered(_)) if clustered == ClusteredWord::Auto && !header.by_key => {
                // Segments are cut elsewhere now, so nothing that was done fits.
                progress.note("segments are scattered: bringing their rows together by the segment key");
                progress.restarted();
                header.by_key = true;
                ledger = ledger.map(|ledger| ledger.restart(&header)).transpose()?;
            }
            Err(error) => {
                progress.ended();
                // What is written of tables is kept for the next run, as far as that still works.
                let _ = written.close();
                return Err(error.into_error(&plan, source));
            }
        }
    };
    let Run { mut partial, segments, .. } = done;
    if let Some(ledger) = &ledger {
        ledger.add_states(&mut partial, &plan)?;
    }
    if done.rows > 0 {
        // Over all of the data: one shard may well have none.
        check_positives(&plan, &done.positive_seen, source)?;
    }
    let missing =
        plan.features.iter().zip(&done.missing).filter(|(_, rows)| **rows > 0 && asked::model(run_file).is_some());
    let mut segments = segments;
    let facts = Facts {
        rows: done.rows,
        segments: segments.as_mut().map(Completeness::distinct),
        buckets: done.buckets,
        resumed_buckets: done.resumed_buckets,
        threads: options.threads,
        backend: model.backend().to_string(),
        seed: run_file.seed,
        wall_s: started.elapsed().as_secs_f64(),
        read_s: done.read_time.as_secs_f64(),
        perturb_s: done.perturb_time.as_secs_f64(),
        infer_s: done.infer_time.as_secs_f64(),
        metric_s: done.metric_time.as_secs_f64(),
        clustered: header.by_key,
        missing: missing.map(|(feature, rows)| (feature.name.clone(), *rows)).collect(),
        topics_left_out,
    };
    let description = Description {
        fuseval: header.fuseval,
        plan: fingerprint,
        share: Share { shard, shards, by_key: header.by_key },
        files,
        outline: OutlineText::new(&plan.outline()),
        facts,
    };
    Ok(Computed { plan, partial, segments, description })
}

/// A path from the root, so that it means the same wherever a run goes on.
fn absolute(path: String) -> String {
    if path.contains("://") {
        return path;
    }
    let here = if path.is_empty() { Path::new(".") } else { Path::new(&path) };
    std::path::absolute(here).map(|path| path.to_string_lossy().into_owned()).unwrap_or(path)
}

/// The part of the data that a header is about.
fn extent(header: &Header, source: &dyn Source, options: &Options) -> Result<Extent> {
    let (shard, shards) = header.shard;
    if header.by_key {
        let part = (shards > 1).then_some((shard, shards));
        let clustering = Clustering { memory: memory::for_clustering(options.memory), part };
        return Ok(Extent { clustering: Some(clustering), ..Extent::default() });
    }
    if shards == 1 {
        return Ok(Extent::default());
    }
    let rows = match source.row_count() {
        Some(rows) => rows,
        None => {
            let mut end = 0;
            for rows in source.scan(&Scan::default())? {
                end = rows?.places.last().map_or(end, |last| last + 1);
            }
            end
        }
    };
    let border = |shard: u64| (u128::from(rows) * u128::from(shard) / u128::from(shards)) as u64;
    // Segments of the last shard may begin anywhere after its first place.
    let end = if shard + 1 == shards { u64::MAX } else { border(shard + 1) };
    Ok(Extent { places: border(shard)..end, ..Extent::default() })
}

/// The tables that are asked for.
fn tables(options: &Options) -> Vec<String> {
    let predictions = options.predictions.as_ref().map(|_| PREDICTIONS.to_string());
    let segments = options.segments.as_ref().map(|_| SEGMENTS.to_string());
    predictions.into_iter().chain(segments).collect()
}

const PREDICTIONS: &str = "predictions";
const SEGMENTS: &str = "segments";

/// A table on its way: in parts where a ledger knows them, at once where there is none.
enum Sink<'a> {
    Whole(TableFile),
    Parted(Box<PartedTable<'a>>),
}

impl Sink<'_> {
    fn table(&mut self) -> (&mut dyn TableSink, u64) {
        match self {
            Self::Whole(file) => (file, 0),
            Self::Parted(table) => {
                let next = table.next();
                (table.as_mut(), next)
            }
        }
    }
}

/// The tables of a run on their way.
struct Written<'a> {
    predictions: Option<Sink<'a>>,
    segments: Option<Sink<'a>>,
}

impl<'a> Written<'a> {
    fn new(options: &Options, plan: &Plan, source: &dyn Source, ledger: Option<&'a Ledger>) -> Result<Self> {
        let sink = |path: &Option<PathBuf>, name: &'static str, schema: &dyn Fn() -> Result<SchemaRef>| {
            let Some(path) = path else { return Ok(None) };
            TableFile::check(path)?;
            Ok(Some(match ledger {
                Some(ledger) => Sink::Parted(Box::new(PartedTable::new(ledger, name, schema()?, path))),
                None => Sink::Whole(TableFile::create(path, schema()?)?),
            }))
        };
        Ok(Self {
            predictions: sink(&options.predictions, PREDICTIONS, &|| {
                fuseval_engine::predictions::schema(plan, source)
            })?,
            segments: sink(&options.segments, SEGMENTS, &|| fuseval_engine::per_segment::schema(plan, source))?,
        })
    }

    fn tables(&mut self) -> Tables<'_> {
        Tables {
            predictions: self.predictions.as_mut().map(Sink::table),
            segments: self.segments.as_mut().map(Sink::table),
        }
    }

    fn close(&mut self) -> Result<()> {
        for sink in [&mut self.predictions, &mut self.segments].into_iter().flatten() {
            if let Sink::Parted(table) = sink {
                table.close()?;
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<()> {
        for sink in [self.predictions, self.segments].into_iter().flatten() {
            match sink {
                Sink::Whole(file) => file.finish()?,
                Sink::Parted(table) => table.finish()?,
            }
        }
        Ok(())
    }
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
