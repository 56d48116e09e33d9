//! What of a run is done, for whoever keeps it: so that a run can be stopped, or killed, and taken up again.
//!
//! The unit is one experiment on one bucket. A worker hands over its states together with the list of what is in them, so
//! that each (bucket, experiment) counts once, whatever happens in between.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use fuseval_core::{Partial, Result};

use crate::bucket::Bucket;

/// Experiments that are done on one bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BucketDone {
    /// The place of the bucket among all buckets.
    pub index: u64,
    /// The place after its last row.
    pub end: u64,
    /// The experiments, as places in the plan.
    pub experiments: Range<usize>,
}

impl BucketDone {
    /// Adds an experiment on a bucket to a list.
    pub(crate) fn add(list: &mut Vec<Self>, bucket: &Bucket, experiment: usize) {
        match list.last_mut() {
            Some(last) if last.index == bucket.index && last.experiments.end == experiment => {
                last.experiments.end += 1;
            }
            _ => list.push(Self { index: bucket.index, end: bucket.end(), experiments: experiment..experiment + 1 }),
        }
    }
}

/// What one partial holds, and what is known beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Done {
    /// The experiments on buckets whose scores are in the partial.
    pub buckets: Vec<BucketDone>,
    /// Rows of these buckets in which a feature was missing, by feature.
    pub missing: Vec<u64>,
    /// For each head whether a row with the label 1 has been seen so far.
    pub positive_seen: Vec<bool>,
}

/// Keeps what is done.
pub trait Journal: Sync {
    /// How long a worker may keep to itself what it has done.
    fn interval(&self) -> Duration;

    /// Takes what one worker has done since its last record. When it returns without an error, the work is safe.
    fn record(&self, done: &Done, partial: Partial) -> Result<()>;
}

/// What earlier runs have done.
#[derive(Debug, Clone, Default)]
pub struct Resumed {
    /// By bucket: the place after its last row, and the experiments.
    buckets: BTreeMap<u64, (u64, Vec<Range<usize>>)>,
    missing: Vec<u64>,
    positive_seen: Vec<bool>,
}

impl Resumed {
    /// Adds what one partial holds; `false` if some of it was there already.
    pub fn add(&mut self, done: &Done) -> bool {
        for bucket in &done.buckets {
            let (_, ranges) = self.buckets.entry(bucket.index).or_insert_with(|| (bucket.end, Vec::new()));
            let overlaps =
                |range: &Range<usize>| range.start < bucket.experiments.end && bucket.experiments.start < range.end;
            if ranges.iter().any(overlaps) {
                return false;
            }
            ranges.push(bucket.experiments.clone());
        }
        self.missing.resize(self.missing.len().max(done.missing.len()), 0);
        self.missing.iter_mut().zip(&done.missing).for_each(|(all, rows)| *all = all.saturating_add(*rows));
        self.positive_seen.resize(self.positive_seen.len().max(done.positive_seen.len()), false);
        self.positive_seen.iter_mut().zip(&done.positive_seen).for_each(|(all, seen)| *all |= seen);
        true
    }

    /// Whether an experiment is done on a bucket.
    pub(crate) fn is_done(&self, bucket: u64, experiment: usize) -> bool {
        self.buckets.get(&bucket).is_some_and(|(_, ranges)| ranges.iter().any(|range| range.contains(&experiment)))
    }

    /// How many buckets are done for all experiments.
    pub fn count(&self, experiments: usize) -> u64 {
        self.buckets.values().filter(|(_, ranges)| is_whole(ranges, experiments)).count() as u64
    }

    /// How many of the first buckets are done for all experiments, `most` at most, and where the last of them ends.
    pub(crate) fn whole_buckets(&self, experiments: usize, most: u64) -> Option<(u64, u64)> {
        let whole = self
            .buckets
            .iter()
            .zip(0..most)
            .take_while(|((index, (_, ranges)), next)| *index == next && is_whole(ranges, experiments));
        whole.last().map(|((index, (end, _)), _)| (index + 1, *end))
    }

    pub(crate) fn missing(&self, features: usize) -> Vec<u64> {
        let mut missing = self.missing.clone();
        missing.resize(features, 0);
        missing
    }

    pub(crate) fn positive_seen(&self, heads: usize) -> Vec<AtomicBool> {
        (0..heads).map(|head| AtomicBool::new(self.positive_seen.get(head).copied().unwrap_or(false))).collect()
    }
}

fn is_whole(ranges: &[Range<usize>], experiments: usize) -> bool {
    // They do not overlap.
    ranges.iter().map(Range::len).sum::<usize>() == experiments
}
