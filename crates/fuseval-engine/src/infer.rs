//! Inference on one bucket: the inputs of the baseline are built once, and an experiment pays only for the inputs that its
//! change touches.

use std::time::{Duration, Instant};

use fuseval_core::source::Numbers;
use fuseval_core::{Perturbation, Result, Scorer, Slot, Source, Tensor};

use crate::bucket::Bucket;
use crate::plan::Plan;

/// The model inputs of one bucket, and how they become scores.
pub(crate) struct Inputs<'a> {
    plan: &'a Plan,
    tensors: Vec<Tensor>,
    scratch: Vec<Tensor>,
    ordinals: &'a Numbers,
}

/// Time spent by one worker, and rows in which a feature was missing.
#[derive(Debug, Default, Clone)]
pub(crate) struct InferTimes {
    pub(crate) perturb_time: Duration,
    pub(crate) infer_time: Duration,
    /// By feature.
    pub(crate) missing: Vec<u64>,
}

impl<'a> Inputs<'a> {
    /// Converts the feature columns of a bucket. An error names the place of the row.
    pub(crate) fn new(plan: &'a Plan, bucket: &'a Bucket, source: &dyn Source, stats: &mut InferTimes) -> Result<Self> {
        let started = Instant::now();
        let rows = bucket.rows();
        stats.missing.resize(plan.features.len(), 0);
        let mut tensors: Vec<Option<Tensor>> = plan.input_widths.iter().map(|_| None).collect();
        for (feature, missing) in plan.features.iter().zip(&mut stats.missing) {
            let Some(array) = bucket.columns.get(feature.column) else { continue };
            let (values, rows_missing) = crate::features::values(array, feature)
                .map_err(|unfit| unfit.error.at(bucket.place(unfit.row, source)))?;
            *missing += rows_missing;
            let width = plan.input_widths.get(feature.input).copied().unwrap_or(1);
            let Some(slot) = tensors.get_mut(feature.input) else { continue };
            if feature.width == width {
                *slot = Some(values);
                continue;
            }
            let tensor = slot.get_or_insert_with(|| Tensor::zeros(feature.element, rows, width));
            (0..rows).try_for_each(|row| tensor.copy_row(row, feature.offset, &values, row))?;
        }
        let tensors: Vec<Tensor> = tensors.into_iter().flatten().collect();
        stats.perturb_time += started.elapsed();
        let scratch = tensors.iter().map(|tensor| Tensor::zeros(tensor.element(), 0, tensor.width())).collect();
        Ok(Self { plan, tensors, scratch, ordinals: &bucket.ordinals })
    }

    /// Scores the bucket under a change, or unchanged.
    pub(crate) fn score(
        &mut self,
        perturbation: Option<&dyn Perturbation>,
        scorer: &mut dyn Scorer,
        scores: &mut [Vec<f64>],
        stats: &mut InferTimes,
    ) -> Result<()> {
        let started = Instant::now();
        let mut touched: Vec<usize> = Vec::new();
        if let Some(perturbation) = perturbation {
            for feature in perturbation.features() {
                let Some(place) = self.plan.features.get(*feature) else { continue };
                let (Some(tensor), Some(scratch)) = (self.tensors.get(place.input), self.scratch.get_mut(place.input))
                else {
                    continue;
                };
                if !touched.contains(&place.input) {
                    scratch.assign(tensor);
                    touched.push(place.input);
                }
                perturbation.apply(*feature, self.ordinals, Slot { tensor: scratch, offset: place.offset })?;
            }
        }
        self.swap(&touched);
        let perturbed = Instant::now();
        stats.perturb_time += perturbed - started;
        let scored = scorer.score(&self.tensors, scores);
        self.swap(&touched);
        stats.infer_time += perturbed.elapsed();
        scored
    }

    /// Exchanges the changed inputs with the unchanged ones.
    fn swap(&mut self, touched: &[usize]) {
        for input in touched {
            if let (Some(tensor), Some(scratch)) = (self.tensors.get_mut(*input), self.scratch.get_mut(*input)) {
                std::mem::swap(tensor, scratch);
            }
        }
    }
}
