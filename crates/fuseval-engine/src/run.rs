//! The run: one thread reads and cuts buckets, workers perturb, infer and accumulate, and the partials merge at the end.
//! The only threads beside these are in `arrays`, and where a large score state is sorted at the end.
//!
//! ```text
//!   source → bucket ─▶ bounded queue ─▶ worker: label side once, then per experiment perturb → infer → accumulate ─▶ partial ┐
//!                                    ─▶ worker: …                                                               ─▶ partial ┴▶ merge
//! ```

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fuseval_core::{Error, ErrorKind, Model, Partial, Perturbation, Result, Scorer, Source};

use crate::accumulate::{Accumulator, LabelSide, Scores};
use crate::bucket::{Bucket, Extent, Reading, Unread, read};
use crate::completeness::{Completeness, scattered_error};
use crate::infer::{InferTimes, Inputs};
use crate::journal::{BucketDone, Done, Journal, Resumed};
use crate::per_segment;
use crate::perturb::perturbations;
use crate::plan::{LabelRule, Plan, absent_positive};
use crate::predictions::{self, Ordered, TableSink};

/// How a run may use the machine. None of it changes a result.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Workers.
    pub threads: usize,
    /// The number of rows from which a bucket is cut at the next segment border.
    pub bucket_rows: usize,
}

/// The default of `bucket_rows`: enough rows to make the cost per bucket small, few enough for the features, scores and
/// labels of a bucket to stay near the core.
pub const DEFAULT_BUCKET_ROWS: usize = 8192;

/// What a run brings.
pub struct Run {
    /// All states.
    pub partial: Partial,
    /// Evaluated rows.
    pub rows: u64,
    /// Buckets.
    pub buckets: u64,
    /// The segments; `None` without a segment key.
    pub segments: Option<Completeness>,
    /// Buckets that an earlier run had done.
    pub resumed_buckets: u64,
    /// For each head whether a row with the label 1 was seen.
    pub positive_seen: Vec<bool>,
    /// Rows in which a feature was missing, for each feature of the plan.
    pub missing: Vec<u64>,
    /// Time spent reading: on the reading thread, and before it for the values that perturbations need.
    pub read_time: Duration,
    /// Time spent building and changing inputs, over all workers.
    pub perturb_time: Duration,
    /// Time spent in the model, over all workers.
    pub infer_time: Duration,
    /// Time spent on labels and states, over all workers.
    pub metric_time: Duration,
}

/// Where the tables of a run go, if they are asked for, and the first bucket that is still to be written to each.
#[derive(Default)]
pub struct Tables<'a> {
    /// The scores of every experiment.
    pub predictions: Option<(&'a mut dyn TableSink, u64)>,
    /// The values of every segment.
    pub segments: Option<(&'a mut dyn TableSink, u64)>,
}

/// Which part of the work is this run's, and how it can be stopped and taken up again.
#[derive(Default)]
pub struct Work<'a> {
    /// The part of the data.
    pub extent: Extent,
    /// What an earlier run has done.
    pub resumed: Resumed,
    /// Who keeps what is done.
    pub journal: Option<&'a dyn Journal>,
    /// Set by whoever wants the run to stop.
    pub stop: Option<&'a AtomicBool>,
    /// Where tables go.
    pub tables: Tables<'a>,
}

/// Runs a plan. `progress` is told after each bucket how many rows of the source it
/// covers. The partial is that of this run alone, without what an earlier one has done.
///
pub fn run(
    plan: &Plan,
    fingerprint: &str,
    source: &dyn Source,
    model: &dyn Model,
    limits: Limits,
    work: Work<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> std::result::Result<Run, RunError> {
    let threads = limits.threads.max(1);
    let mut scorers = Vec::with_capacity(threads);
    for _ in 0..threads {
        scorers.push(model.scorer(&plan.scores)?);
    }
    let started = Instant::now();
    let perturbations = perturbations(plan, source)?;
    let donor_time = started.elapsed();
    let window = 3 * threads as u64;
    let job = Job {
        plan,
        fingerprint,
        source,
        perturbations,
        predictions: match work.tables.predictions {
            Some((sink, from)) => Some((predictions::schema(plan, source)?, Ordered::new(sink, from, window))),
            None => None,
        },
        segments: match work.tables.segments {
            Some((sink, from)) => Some((per_segment::schema(plan, source)?, Ordered::new(sink, from, window))),
            None => None,
        },
        journal: work.journal,
        stop: work.stop,
        failures: Mutex::new(Vec::new()),
        failed: AtomicBool::new(false),
        positive_seen: work.resumed.positive_seen(plan.heads.len()),
        resumed: work.resumed,
        progress,
    };
    let mut extent = work.extent;
    if extent.clustering.is_none() {
        let written = job.tables().map(Ordered::written).min().unwrap_or(u64::MAX);
        extent.done = job.resumed.whole_buckets(plan.experiments.len(), written);
        if let Some((_, end)) = extent.done {
            progress(end - extent.places.start.min(end));
        }
    }
    let (sender, receiver) = sync_channel(2 * threads);
    let queue = Mutex::new(receiver);
    let (reading, workers) = std::thread::scope(|scope| {
        let handles: Vec<_> = scorers
            .into_iter()
            .map(|scorer| {
                let (job, queue) = (&job, &queue);
                scope.spawn(move || job.work(queue, scorer))
            })
            .collect();
        let reading = read(plan, source, limits.bucket_rows, &extent, |bucket| {
            job.tables().for_each(|ordered| ordered.wait_for_turn(bucket.index));
            !job.failed.load(Ordering::Relaxed) && !job.is_stopped() && sender.send(bucket).is_ok()
        });
        drop(sender);
        let workers: Vec<_> = handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        (reading, workers)
    });
    let workers: Vec<Worker<'_>> = workers
        .into_iter()
        .map(|worker| worker.map_err(|_| Error::defect("a worker that ends", "one that panicked")))
        .collect::<Result<_>>()?;
    let mut failures = std::mem::take(&mut *job.failures.lock().unwrap_or_else(PoisonError::into_inner));
    let mut scattered = None;
    let reading = match reading {
        Ok(reading) => Some(reading),
        Err(Unread::Error(bucket, error)) => {
            failures.push((bucket, error));
            None
        }
        Err(Unread::Scattered(bucket)) => {
            scattered = Some(bucket);
            None
        }
    };
    // Whichever thread was first: the error of the earliest bucket is the one that is reported.
    let failure = failures.into_iter().min_by_key(|(index, _)| *index);
    if let Some(bucket) = scattered.filter(|bucket| failure.as_ref().is_none_or(|(index, _)| index >= bucket)) {
        return Err(RunError::Scattered(bucket));
    }
    if failure.is_some() || job.is_stopped() {
        // What is done is kept, so that it need not be done again; where that fails, the first failure is the one to tell.
        for mut worker in workers {
            let _ = job.record(&mut worker);
        }
        let stopped = || Error::new(ErrorKind::Interrupted, "the end of the run", "a request to stop", "run it again");
        return Err(failure.map_or_else(stopped, |(_, error)| error).into());
    }
    let reading = reading.ok_or_else(|| Error::defect("a reading", "none"))?;
    let mut run = merged(&job, reading, workers)?;
    run.read_time += donor_time;
    Ok(run)
}

/// Why a run has no result.
#[derive(Debug)]
pub enum RunError {
    /// An error.
    Error(Error),
    /// A segment came back after it had ended, in this bucket or after it.
    Scattered(u64),
}

impl From<Error> for RunError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl RunError {
    /// The error; for a segment that came back, one that names it and both places.
    pub fn into_error(self, plan: &Plan, source: &dyn Source) -> Error {
        match self {
            Self::Error(error) => error,
            Self::Scattered(_) => scattered_error(plan, source),
        }
    }
}

/// Refuses data without a row to evaluate.
pub fn check_rows(rows: u64) -> Result<()> {
    if rows > 0 {
        return Ok(());
    }
    let help = "check `filter` (`--filter`) and that the files have rows";
    Err(Error::data("at least one row", "none after the filter", help))
}

/// Refuses heads whose positive label no row had, over all of the data.
pub fn check_positives(plan: &Plan, positive_seen: &[bool], source: &dyn Source) -> Result<()> {
    for (head, seen) in plan.heads.iter().zip(positive_seen) {
        if let (LabelRule::Positive(positive), false) = (&head.rule, seen) {
            absent_positive(head, positive, source)?;
        }
    }
    Ok(())
}

fn merged(job: &Job<'_>, reading: Reading, workers: Vec<Worker<'_>>) -> Result<Run> {
    let mut run = Run {
        partial: Partial::new(job.fingerprint),
        rows: reading.rows,
        buckets: reading.buckets,
        segments: reading.segments,
        resumed_buckets: job.resumed.count(job.plan.experiments.len()),
        missing: job.resumed.missing(job.plan.features.len()),
        positive_seen: job.positive_seen(),
        read_time: reading.read_time,
        perturb_time: Duration::ZERO,
        infer_time: Duration::ZERO,
        metric_time: Duration::ZERO,
    };
    for mut worker in workers {
        run.perturb_time += worker.stats.perturb_time;
        run.infer_time += worker.stats.infer_time;
        run.metric_time += worker.metric_time;
        run.missing.iter_mut().zip(&worker.missing_before).for_each(|(all, rows)| *all += rows);
        run.missing.iter_mut().zip(&worker.stats.missing).for_each(|(all, rows)| *all += rows);
        run.partial.merge(worker.accumulator.take_partial(job.fingerprint)?)?;
    }
    Ok(run)
}

/// What all workers share.
struct Job<'a> {
    plan: &'a Plan,
    fingerprint: &'a str,
    source: &'a dyn Source,
    perturbations: Vec<Option<Box<dyn Perturbation>>>,
    predictions: Option<(arrow_schema::SchemaRef, Ordered<'a>)>,
    segments: Option<(arrow_schema::SchemaRef, Ordered<'a>)>,
    resumed: Resumed,
    journal: Option<&'a dyn Journal>,
    stop: Option<&'a AtomicBool>,
    failures: Mutex<Vec<(u64, Error)>>,
    failed: AtomicBool,
    /// For each head whether a row with the label 1 was seen.
    positive_seen: Vec<AtomicBool>,
    progress: &'a (dyn Fn(u64) + Sync),
}

/// What one worker has done.
struct Worker<'a> {
    accumulator: Accumulator<'a>,
    stats: InferTimes,
    metric_time: Duration,
    /// Since the last record.
    done: Vec<BucketDone>,
    recorded: Instant,
    /// Missing features that were recorded already.
    missing_before: Vec<u64>,
    scores: Vec<Vec<f64>>,
    /// Whether the states hold part of an experiment on a bucket: they cannot be recorded any more.
    spoiled: bool,
}

impl<'a> Job<'a> {
    fn tables(&self) -> impl Iterator<Item = &Ordered<'a>> {
        [&self.predictions, &self.segments].into_iter().flatten().map(|(_, ordered)| ordered)
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed))
    }

    fn positive_seen(&self) -> Vec<bool> {
        self.positive_seen.iter().map(|seen| seen.load(Ordering::Relaxed)).collect()
    }

    /// Takes buckets from the queue until there are no more. After a failure the buckets that were already read are still
    /// worked on, so that an error in an earlier bucket is found whatever the timing.
    fn work(&self, queue: &Mutex<Receiver<Bucket>>, mut scorer: Box<dyn Scorer>) -> Worker<'a> {
        let mut worker = Worker {
            accumulator: Accumulator::new(self.plan, self.source),
            stats: InferTimes::default(),
            metric_time: Duration::ZERO,
            done: Vec::new(),
            recorded: Instant::now(),
            missing_before: vec![0; self.plan.features.len()],
            scores: vec![Vec::new(); self.plan.heads.len()],
            spoiled: false,
        };
        loop {
            let bucket = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(bucket) = bucket else { break };
            if self.is_stopped() {
                self.tables().for_each(Ordered::stop);
                continue;
            }
            let work = || self.bucket(&bucket, scorer.as_mut(), &mut worker);
            // A panic in a library ends the run with an error, not with a queue that nobody empties.
            let panicked =
                |_| Err(Error::defect("a bucket that is worked on", "a panic").at(bucket.place(0, self.source)));
            let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked);
            match done {
                Ok(()) => (self.progress)(bucket.source_rows),
                Err(error) => {
                    self.failures.lock().unwrap_or_else(PoisonError::into_inner).push((bucket.index, error));
                    self.failed.store(true, Ordering::Relaxed);
                    self.tables().for_each(Ordered::stop);
                }
            }
        }
        worker
    }

    /// Works on one bucket, on those of its experiments that no earlier run has done.
    fn bucket(&self, bucket: &Bucket, scorer: &mut dyn Scorer, worker: &mut Worker<'a>) -> Result<()> {
        let experiments = self.plan.experiments.len();
        let is_done = |experiment: usize| self.resumed.is_done(bucket.index, experiment);
        let is_written = self.tables().all(|ordered| ordered.has_written(bucket.index));
        let last = (0..experiments).rev().find(|experiment| !is_written || !is_done(*experiment));
        let Some(last) = last else { return Ok(()) };
        let started = Instant::now();
        let labels = LabelSide::new(self.plan, bucket, self.source)?;
        for (seen, positive) in self.positive_seen.iter().zip(labels.positives()) {
            if positive {
                seen.store(true, Ordering::Relaxed);
            }
        }
        worker.metric_time += started.elapsed();
        let missing_before = worker.stats.missing.clone();
        let mut inputs = Inputs::new(self.plan, bucket, self.source, &mut worker.stats)?;
        // They count with the baseline.
        let missing = std::mem::replace(&mut worker.stats.missing, missing_before);
        let mut predicted = Vec::new();
        let mut by_segment = Vec::new();
        let mut baseline: Vec<Vec<f64>> = Vec::new();
        let all = self.plan.experiments.iter().zip(&self.perturbations).enumerate();
        for (place, (experiment, perturbation)) in all.take(last + 1) {
            let keeps_baseline = place == 0 && worker.accumulator.needs_baseline();
            if is_done(place) && is_written && !keeps_baseline {
                continue;
            }
            if self.is_stopped() {
                self.tables().for_each(Ordered::stop);
                return Ok(());
            }
            inputs.score(perturbation.as_deref(), scorer, &mut worker.scores, &mut worker.stats)?;
            let started = Instant::now();
            if keeps_baseline {
                baseline = worker.scores.clone();
            }
            let scored = Scores { experiment: place, scores: &worker.scores, baseline: &baseline };
            if !is_done(place) {
                let was_spoiled = std::mem::replace(&mut worker.spoiled, true);
                worker.accumulator.add(scored, &labels, bucket)?;
                worker.spoiled = was_spoiled;
                if place == 0 {
                    worker.stats.missing.clone_from(&missing);
                }
                BucketDone::add(&mut worker.done, bucket, place);
            }
            if let Some((schema, _)) = &self.segments {
                let values = worker.accumulator.segment_values(scored, &labels, bucket)?;
                for (head, values) in self.plan.heads.iter().zip(&values) {
                    let batch = per_segment::batch(schema, self.plan, &experiment.name, &head.name, values, bucket)?;
                    by_segment.push(batch);
                }
            }
            worker.metric_time += started.elapsed();
            if let Some((schema, _)) = &self.predictions {
                predicted.push(predictions::batch(schema, self.plan, &experiment.name, &worker.scores, bucket)?);
            }
            if self.journal.is_some_and(|journal| worker.recorded.elapsed() >= journal.interval()) {
                self.record(worker)?;
            }
        }
        for (table, batches) in [(&self.predictions, predicted), (&self.segments, by_segment)] {
            if let Some((_, ordered)) = table {
                ordered.put(bucket.index, batches)?;
            }
        }
        Ok(())
    }

    /// Hands to the journal what a worker has done since the last time.
    fn record(&self, worker: &mut Worker<'a>) -> Result<()> {
        worker.recorded = Instant::now();
        let Some(journal) = self.journal.filter(|_| !worker.done.is_empty() && !worker.spoiled) else { return Ok(()) };
        let missing = std::mem::take(&mut worker.stats.missing);
        worker.missing_before.iter_mut().zip(&missing).for_each(|(all, rows)| *all += rows);
        let done = Done { buckets: std::mem::take(&mut worker.done), missing, positive_seen: self.positive_seen() };
        let recorded = journal.record(&done, worker.accumulator.take_partial(self.fingerprint)?);
        worker.recorded = Instant::now();
        recorded
    }
}
