//! What of a plan its results are reported with. Partials carry it, so that they can be merged and reported anywhere, without
//! the data and the model.

use fuseval_core::{Defaults, MetricId, Result, ScoreKind};

use super::{Catalogue, Change, Experiment, Head, LabelRule, Plan, Resolved, SliceDefinition};
use crate::specification::{OnInvalid, SliceSpecification};

/// The part of a plan that is left when the data and the model are gone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Outline {
    /// The metrics as they were asked for.
    pub metrics: Vec<MetricId>,
    /// What the run sets for all its metrics.
    pub defaults: Defaults,
    /// The names of the heads.
    pub heads: Vec<String>,
    /// The slices.
    pub slices: Vec<SliceSpecification>,
    /// The experiments: name, and name without the number of the repeat.
    pub experiments: Vec<(String, String)>,
    /// The level of intervals.
    pub interval: Option<f64>,
    /// The columns of the segment key.
    pub segment: Vec<String>,
}

impl Plan {
    /// What its results are reported with.
    pub fn outline(&self) -> Outline {
        let slice = |slice: &SliceDefinition| match slice {
            SliceDefinition::Columns(columns) => {
                SliceSpecification::Columns(columns.iter().map(|(name, _)| name.clone()).collect())
            }
            SliceDefinition::Predicate(sql, _) => SliceSpecification::Predicate(sql.clone()),
        };
        let names = |experiment: &Experiment| (experiment.name.clone(), experiment.group.clone());
        Outline {
            metrics: self.metric_ids.clone(),
            defaults: self.defaults.clone(),
            heads: self.heads.iter().map(|head| head.name.clone()).collect(),
            slices: self.slices.iter().map(slice).collect(),
            experiments: self.experiments.iter().map(names).collect(),
            interval: self.interval,
            segment: self.segment_names.clone(),
        }
    }
}

impl Outline {
    /// A plan that merges partials and reports; it reads nothing, so it cannot be run.
    pub fn plan(&self, catalogue: Catalogue<'_>) -> Result<Plan> {
        let Resolved { metrics, states, label_sides, side_of_state } =
            Resolved::new(&self.metrics, &self.defaults, catalogue)?;
        let head = |name: &String| Head {
            name: name.clone(),
            label_name: String::new(),
            label: 0,
            weight: None,
            mask: None,
            rule: LabelRule::Number,
            kind: ScoreKind::Raw,
        };
        let slice = |slice: &SliceSpecification| match slice {
            SliceSpecification::Columns(columns) => {
                SliceDefinition::Columns(columns.iter().map(|name| (name.clone(), 0)).collect())
            }
            SliceSpecification::Predicate(sql) => SliceDefinition::Predicate(sql.clone(), 0),
        };
        let experiment = |(name, group): &(String, String)| Experiment {
            name: name.clone(),
            group: group.clone(),
            change: Change::None,
        };
        Ok(Plan {
            requests: Vec::new(),
            segment: Vec::new(),
            segment_names: self.segment.clone(),
            carryover: Vec::new(),
            heads: self.heads.iter().map(head).collect(),
            scores: Vec::new(),
            features: Vec::new(),
            input_widths: Vec::new(),
            metrics,
            states,
            label_sides,
            side_of_state,
            item: None,
            interval: self.interval,
            unranked: false,
            metric_ids: self.metrics.clone(),
            defaults: self.defaults.clone(),
            slices: self.slices.iter().map(slice).collect(),
            experiments: self.experiments.iter().map(experiment).collect(),
            on_invalid: OnInvalid::default(),
            scores_are_columns: true,
        })
    }
}
