//! What perturbations need of the whole data set: the values of permuted features and the means of filled ones, read in
//! one pass before the run. A permuted feature costs the bytes of its element type per row, whatever the number of
//! experiments that permute it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fuseval_core::tensor::Values;
use fuseval_core::{Error, ExactSum, Perturbation, Result, Scan, Source, Tensor};

use super::{Fill, Permute};
use crate::features::{constant, values};
use crate::plan::{Change, FeaturePlace, Plan};
use crate::specification::Scalar;

/// The perturbation of each experiment of the plan; `None` for the baseline.
pub(crate) fn perturbations(plan: &Plan, source: &dyn Source) -> Result<Vec<Option<Box<dyn Perturbation>>>> {
    let read = Donors::read(plan, source)?;
    plan.experiments
        .iter()
        .map(|experiment| -> Result<Option<Box<dyn Perturbation>>> {
            Ok(match &experiment.change {
                Change::None => None,
                Change::Permute { features, names, seed, repeat } => {
                    let donors = features.iter().map(|feature| read.values(*feature)).collect::<Result<_>>()?;
                    Some(Box::new(Permute::new(features.clone(), donors, names, *seed, *repeat)))
                }
                Change::Fill { features } => {
                    let mut filled = Vec::new();
                    for (feature, value) in features {
                        let Some(place) = plan.features.get(*feature) else { continue };
                        let value = match value {
                            Some(value) => value.clone(),
                            None => Scalar::Number(read.mean(*feature, place)?),
                        };
                        filled.push(constant(&value, place.element, place.width)?);
                    }
                    Some(Box::new(Fill::new(features.iter().map(|(feature, _)| *feature).collect(), filled)))
                }
            })
        })
        .collect()
}

#[derive(Default)]
struct Donors {
    values: BTreeMap<usize, Arc<Tensor>>,
    means: BTreeMap<usize, (ExactSum, u64)>,
}

impl Donors {
    fn read(plan: &Plan, source: &dyn Source) -> Result<Self> {
        let mut columns: BTreeMap<usize, Tensor> = BTreeMap::new();
        let mut means: BTreeMap<usize, (ExactSum, u64)> = BTreeMap::new();
        for experiment in &plan.experiments {
            match &experiment.change {
                Change::None => {}
                Change::Permute { features, .. } => {
                    for feature in features {
                        if let Some(place) = plan.features.get(*feature) {
                            columns.insert(*feature, Tensor::zeros(place.element, 0, place.width));
                        }
                    }
                }
                Change::Fill { features } => {
                    means.extend(
                        features
                            .iter()
                            .filter(|(_, value)| value.is_none())
                            .map(|(feature, _)| (*feature, Default::default())),
                    );
                }
            }
        }
        let mut needed: Vec<usize> = columns.keys().chain(means.keys()).copied().collect();
        needed.sort_unstable();
        needed.dedup();
        if needed.is_empty() {
            return Ok(Self::default());
        }
        let places: Vec<(usize, &FeaturePlace)> =
            needed.iter().filter_map(|feature| Some((*feature, plan.features.get(*feature)?))).collect();
        let requests = places.iter().filter_map(|(_, place)| plan.requests.get(place.column)).cloned().collect();
        for rows in source.scan(&Scan::new(requests))? {
            let rows = rows?;
            for ((feature, place), array) in places.iter().zip(&rows.columns) {
                let read = |place: &FeaturePlace| {
                    values(array, place)
                        .map(|(tensor, _)| tensor)
                        .map_err(|unfit| unfit.error.at(source.place(rows.places.get(unfit.row))))
                };
                if let Some((sum, count)) = means.get_mut(feature) {
                    // The mean is over the values that are there, not over what nulls are filled with.
                    let present = FeaturePlace { fill_null: None, ..(*place).clone() };
                    add_present(&read(&present)?, sum, count);
                }
                if let Some(column) = columns.get_mut(feature) {
                    column.append(&read(place)?)?;
                }
            }
        }
        Ok(Self { values: columns.into_iter().map(|(feature, tensor)| (feature, Arc::new(tensor))).collect(), means })
    }

    fn values(&self, feature: usize) -> Result<Arc<Tensor>> {
        self.values.get(&feature).cloned().ok_or_else(|| Error::defect("the values of a permuted feature", "none"))
    }

    fn mean(&self, feature: usize, place: &FeaturePlace) -> Result<f64> {
        match self.means.get(&feature) {
            Some((sum, count)) if *count > 0 => Ok(sum.value() / *count as f64),
            _ => Err(Error::data(
                format!("values in feature `{}` to take the mean of", place.name),
                "none",
                "fill it with a constant: `with: VALUE`",
            )),
        }
    }
}

/// Adds the values that are there, not the NaN that stands for a missing one.
fn add_present(tensor: &Tensor, sum: &mut ExactSum, count: &mut u64) {
    let mut add = |value: f64| {
        if !value.is_nan() {
            sum.add(value);
            *count += 1;
        }
    };
    match tensor.values() {
        Values::F32(values) => values.iter().for_each(|value| add(f64::from(*value))),
        Values::F64(values) => values.iter().for_each(|value| add(*value)),
        _ => {}
    }
}
