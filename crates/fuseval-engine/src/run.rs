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

use fuseval_core::{Error, Model, Partial, Perturbation, Result, Scorer, Source};

use crate::accumulate::{Accumulator, LabelSide, Scores};
use crate::bucket::{Bucket, Reading, read};
use crate::infer::{InferTimes, Inputs};
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
    /// Different segments; `None` without a segment key.
    pub segments: Option<u64>,
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

/// Where the tables of a run go, if they are asked for.
#[derive(Default)]
pub struct Tables<'a> {
    /// The scores of every experiment.
    pub predictions: Option<&'a mut dyn TableSink>,
    /// The values of every segment.
    pub segments: Option<&'a mut dyn TableSink>,
}

/// Runs a plan. `progress` is told after each bucket how many rows of the source it
/// covers.
pub fn run(
    plan: &Plan,
    fingerprint: &str,
    source: &dyn Source,
    model: &dyn Model,
    limits: Limits,
    tables: Tables<'_>,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<Run> {
    let threads = limits.threads.max(1);
    let mut scorers = Vec::with_capacity(threads);
    for _ in 0..threads {
        scorers.push(model.scorer(&plan.scores)?);
    }
    let started = Instant::now();
    let perturbations = perturbations(plan, source)?;
    let donor_time = started.elapsed();
    let job = Job {
        plan,
        source,
        perturbations,
        predictions: match tables.predictions {
            Some(sink) => Some((predictions::schema(plan, source)?, Ordered::new(sink, 3 * threads as u64))),
            None => None,
        },
        segments: match tables.segments {
            Some(sink) => Some((per_segment::schema(plan, source)?, Ordered::new(sink, 3 * threads as u64))),
            None => None,
        },
        failures: Mutex::new(Vec::new()),
        failed: AtomicBool::new(false),
        positive_seen: plan.heads.iter().map(|_| AtomicBool::new(false)).collect(),
        progress,
    };
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
        let reading = read(plan, source, limits.bucket_rows, |bucket| {
            job.tables().for_each(|ordered| ordered.wait_for_turn(bucket.index));
            !job.failed.load(Ordering::Relaxed) && sender.send(bucket).is_ok()
        });
        drop(sender);
        let workers: Vec<_> = handles.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        (reading, workers)
    });
    let mut failures = job.failures.into_inner().unwrap_or_else(PoisonError::into_inner);
    let reading = reading.map_err(|failure| failures.push(failure)).ok();
    // Whichever thread was first: the error of the earliest bucket is the one that is reported.
    if let Some((_, error)) = failures.into_iter().min_by_key(|(index, _)| *index) {
        return Err(error);
    }
    let reading = reading.ok_or_else(|| Error::defect("a reading", "none"))?;
    let mut run = merged(plan, fingerprint, reading, workers)?;
    run.read_time += donor_time;
    for (head, seen) in plan.heads.iter().zip(&job.positive_seen) {
        if let (LabelRule::Positive(positive), false) = (&head.rule, seen.load(Ordering::Relaxed)) {
            absent_positive(head, positive, source)?;
        }
    }
    Ok(run)
}

fn merged(
    plan: &Plan,
    fingerprint: &str,
    reading: Reading,
    workers: Vec<std::thread::Result<(Accumulator<'_>, InferTimes, Duration)>>,
) -> Result<Run> {
    let mut run = Run {
        partial: Partial::new(fingerprint),
        rows: reading.rows,
        buckets: reading.buckets,
        segments: reading.segments,
        missing: vec![0; plan.features.len()],
        read_time: reading.read_time,
        perturb_time: Duration::ZERO,
        infer_time: Duration::ZERO,
        metric_time: Duration::ZERO,
    };
    for worker in workers {
        let (accumulator, stats, metric_time) =
            worker.map_err(|_| Error::defect("a worker that ends", "one that panicked"))?;
        run.partial.merge(accumulator.into_partial(fingerprint)?)?;
        run.missing.iter_mut().zip(stats.missing).for_each(|(all, rows)| *all += rows);
        run.perturb_time += stats.perturb_time;
        run.infer_time += stats.infer_time;
        run.metric_time += metric_time;
    }
    if run.rows == 0 {
        return Err(Error::data(
            "at least one row",
            "none after the filter",
            "check `filter` (`--filter`) and that the files have rows",
        ));
    }
    Ok(run)
}

/// What all workers share.
struct Job<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    perturbations: Vec<Option<Box<dyn Perturbation>>>,
    predictions: Option<(arrow_schema::SchemaRef, Ordered<'a>)>,
    segments: Option<(arrow_schema::SchemaRef, Ordered<'a>)>,
    failures: Mutex<Vec<(u64, Error)>>,
    failed: AtomicBool,
    /// For each head whether a row with the label 1 was seen.
    positive_seen: Vec<AtomicBool>,
    progress: &'a (dyn Fn(u64) + Sync),
}

impl<'a> Job<'a> {
    fn tables(&self) -> impl Iterator<Item = &Ordered<'a>> {
        [&self.predictions, &self.segments].into_iter().flatten().map(|(_, ordered)| ordered)
    }

    /// Takes buckets from the queue until there are no more. After a failure the buckets that were already read are still
    /// worked on, so that an error in an earlier bucket is found whatever the timing.
    fn work(
        &self,
        queue: &Mutex<Receiver<Bucket>>,
        mut scorer: Box<dyn Scorer>,
    ) -> (Accumulator<'a>, InferTimes, Duration) {
        let mut accumulator = Accumulator::new(self.plan, self.source);
        let mut stats = InferTimes::default();
        let mut metric_time = Duration::ZERO;
        let mut scores = vec![Vec::new(); self.plan.heads.len()];
        loop {
            let bucket = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok(bucket) = bucket else { break };
            let work =
                || self.bucket(&bucket, scorer.as_mut(), &mut accumulator, &mut scores, &mut stats, &mut metric_time);
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
        (accumulator, stats, metric_time)
    }

    fn bucket(
        &self,
        bucket: &Bucket,
        scorer: &mut dyn Scorer,
        accumulator: &mut Accumulator<'_>,
        scores: &mut [Vec<f64>],
        stats: &mut InferTimes,
        metric_time: &mut Duration,
    ) -> Result<()> {
        let started = Instant::now();
        let labels = LabelSide::new(self.plan, bucket, self.source)?;
        for (seen, positive) in self.positive_seen.iter().zip(labels.positives()) {
            if positive {
                seen.store(true, Ordering::Relaxed);
            }
        }
        *metric_time += started.elapsed();
        let mut inputs = Inputs::new(self.plan, bucket, self.source, stats)?;
        let mut predicted = Vec::new();
        let mut by_segment = Vec::new();
        let mut baseline: Vec<Vec<f64>> = Vec::new();
        for (place, (experiment, perturbation)) in self.plan.experiments.iter().zip(&self.perturbations).enumerate() {
            inputs.score(perturbation.as_deref(), scorer, scores, stats)?;
            let started = Instant::now();
            if place == 0 && accumulator.needs_baseline() {
                baseline = scores.to_vec();
            }
            let scored = Scores { experiment: place, scores, baseline: &baseline };
            accumulator.add(scored, &labels, bucket)?;
            if let Some((schema, _)) = &self.segments {
                let values = accumulator.segment_values(scored, &labels, bucket)?;
                for (head, values) in self.plan.heads.iter().zip(&values) {
                    let batch = per_segment::batch(schema, self.plan, &experiment.name, &head.name, values, bucket)?;
                    by_segment.push(batch);
                }
            }
            *metric_time += started.elapsed();
            if let Some((schema, _)) = &self.predictions {
                predicted.push(predictions::batch(schema, self.plan, &experiment.name, scores, bucket)?);
            }
        }
        for (table, batches) in [(&self.predictions, predicted), (&self.segments, by_segment)] {
            if let Some((_, ordered)) = table {
                ordered.put(bucket.index, batches)?;
            }
        }
        Ok(())
    }
}
