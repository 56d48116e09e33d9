//! The plan: what is asked, resolved once against the data and the model. Nothing downstream checks it again.

mod estimate;
mod experiments;
mod heads;
mod inputs;
mod outline;

pub use estimate::Estimate;
pub(crate) use heads::absent_positive;
pub use inputs::{ColumnScores, FeaturePlace};
pub use outline::Outline;

use fuseval_core::source::Request;
use fuseval_core::{AnyMetric, Defaults, Error, LabelSide, Layout, MetricId, Model, Result, ScoreKind, Source};

use crate::specification::{OnInvalid, Scalar, SliceSpecification, Specification};

/// A place in the plan's list of requested columns.
pub type ColumnIndex = usize;

/// A head, resolved.
#[derive(Debug, Clone)]
pub struct Head {
    /// The name.
    pub name: String,
    /// The column of its labels, for messages.
    pub label_name: String,
    /// The labels.
    pub label: ColumnIndex,
    /// The weights.
    pub weight: Option<ColumnIndex>,
    /// The mask.
    pub mask: Option<ColumnIndex>,
    /// How labels become numbers.
    pub rule: LabelRule,
    /// How the score is meant.
    pub kind: ScoreKind,
}

/// How a label becomes a number.
#[derive(Debug, Clone, PartialEq)]
pub enum LabelRule {
    /// As it is.
    Number,
    /// 1 where its canonical text is this one, 0 elsewhere.
    Positive(String),
    /// 1 from this value on, 0 below.
    Threshold(f64),
}

/// A slice definition, resolved.
#[derive(Debug, Clone)]
pub enum SliceDefinition {
    /// By the values of columns.
    Columns(Vec<(String, ColumnIndex)>),
    /// By a predicate.
    Predicate(String, ColumnIndex),
}

/// One experiment: a change of features, or none.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    /// The name; the first experiment is `baseline`.
    pub name: String,
    /// The name without the number of the repeat: repeats of one change share it.
    pub group: String,
    /// The change.
    pub change: Change,
}

/// What an experiment changes; features are places in the plan's list.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// Nothing: the baseline.
    None,
    /// Values move to other rows by the permutation of (seed, names of the features, repeat).
    Permute {
        /// The features.
        features: Vec<usize>,
        /// Their names, sorted: part of the permutation's key.
        names: Vec<String>,
        /// The seed.
        seed: u64,
        /// The repeat, from 0.
        repeat: u32,
    },
    /// All rows get one value.
    Fill {
        /// The features, each with its value; `None` stands for the mean.
        features: Vec<(usize, Option<Scalar>)>,
    },
}

/// What a run does.
pub struct Plan {
    /// The columns that are read, in the order in which the source delivers them.
    pub requests: Vec<Request>,
    /// The columns of the segment key.
    pub segment: Vec<ColumnIndex>,
    /// Their names.
    pub segment_names: Vec<String>,
    /// The columns of the predictions file.
    pub carryover: Vec<(String, ColumnIndex)>,
    /// The heads.
    pub heads: Vec<Head>,
    /// What each head reads of the model.
    pub scores: Vec<fuseval_core::scorer::OutputColumn>,
    /// The features: places in model inputs.
    pub features: Vec<FeaturePlace>,
    /// The width of each model input.
    pub input_widths: Vec<usize>,
    /// The metrics, with the place of their state in `states`.
    pub metrics: Vec<(Box<dyn AnyMetric>, usize)>,
    /// For each state the metric that updates it.
    pub states: Vec<Box<dyn AnyMetric>>,
    /// The numbers of segments that depend on labels alone, each once.
    pub label_sides: Vec<LabelSide>,
    /// For each state which of them it asks for.
    pub side_of_state: Vec<Option<usize>>,
    /// The column of items.
    pub item: Option<ColumnIndex>,
    /// The level of intervals; `None` for no intervals.
    pub interval: Option<f64>,
    /// Whether a missing score means a row that was judged but not retrieved.
    pub unranked: bool,
    /// The metrics as they were asked for, and what the run sets for all of them.
    metric_ids: Vec<MetricId>,
    defaults: Defaults,
    /// The slices.
    pub slices: Vec<SliceDefinition>,
    /// The experiments, the baseline first.
    pub experiments: Vec<Experiment>,
    /// What to do with invalid rows.
    pub on_invalid: OnInvalid,
    /// Whether there is no model, and scores are columns.
    pub scores_are_columns: bool,
}

/// Makes a metric from its name.
pub type Catalogue<'a> = &'a dyn Fn(&MetricId, &Defaults) -> Result<Box<dyn AnyMetric>>;

/// The metrics with the states they share.
struct Resolved {
    metrics: Vec<(Box<dyn AnyMetric>, usize)>,
    states: Vec<Box<dyn AnyMetric>>,
    label_sides: Vec<LabelSide>,
    side_of_state: Vec<Option<usize>>,
}

impl Resolved {
    fn new(ids: &[MetricId], defaults: &Defaults, catalogue: Catalogue<'_>) -> Result<Self> {
        let mut metrics: Vec<(Box<dyn AnyMetric>, usize)> = Vec::new();
        let mut states: Vec<Box<dyn AnyMetric>> = Vec::new();
        for id in ids {
            let metric = catalogue(id, defaults).map_err(|error| error.at("metrics"))?;
            if metrics.iter().any(|(other, _)| other.id() == metric.id()) {
                return Err(
                    Error::usage("each metric once", format!("`{}` twice", metric.id()), "leave one out").at("metrics")
                );
            }
            let name = metric.state_name();
            let place = states.iter().position(|state| state.state_name() == name);
            if place.is_none() {
                states.push(catalogue(id, defaults)?);
            }
            metrics.push((metric, place.unwrap_or(states.len() - 1)));
        }
        states.push(Box::new(crate::accumulate::RowCounts));
        let mut label_sides: Vec<LabelSide> = Vec::new();
        let mut side_of_state = Vec::new();
        for side in states.iter().map(|state| state.label_side()) {
            side_of_state.push(side.map(|side| {
                let known = label_sides.iter().position(|known| known.name == side.name);
                known.unwrap_or_else(|| {
                    label_sides.push(side);
                    label_sides.len() - 1
                })
            }));
        }
        Ok(Self { metrics, states, label_sides, side_of_state })
    }
}

impl Plan {
    /// Resolves what is asked. Without a model the scores are columns; see [`ColumnScores`].
    pub fn new(
        asked: &Specification,
        source: &dyn Source,
        model: &dyn Model,
        catalogue: Catalogue<'_>,
    ) -> Result<Self> {
        let mut requests = Requests::default();
        let defaults = asked.defaults();
        let Resolved { metrics, states, label_sides, side_of_state } =
            Resolved::new(&asked.metrics, &defaults, catalogue)?;
        if metrics.is_empty() {
            return Err(Error::usage("one metric or more", "none", "write for example `metrics: [roc_auc, log_loss]`"));
        }
        let by_segment = metrics.iter().find(|(metric, _)| metric.profile().layout == Layout::Segments);
        if let (Some((metric, _)), true) = (by_segment, asked.segment.is_empty()) {
            return Err(Error::usage(
                format!("a segment key for `{}`", metric.id()),
                "none",
                "name the columns of a request or session: `segment: [request_id]` or `--segment request_id`",
            ));
        }
        let segment =
            asked.segment.iter().map(|column| requests.key(source, column, "segment")).collect::<Result<_>>()?;
        let item = asked.item.as_ref().map(|item| requests.key(source, item, "item")).transpose()?;
        let by_item = metrics.iter().find(|(metric, _)| metric.profile().needs.items);
        if let (Some((metric, _)), None) = (by_item, item) {
            let by_preset = match asked.preset.as_deref() {
                Some("trec_eval") => "; `preset: trec_eval` breaks ties by item",
                _ => "",
            };
            return Err(Error::usage(
                format!("an item column for `{}`", metric.id()),
                "none",
                format!("name the column that identifies an item: `data.item: item_id` or `--item item_id`{by_preset}"),
            ));
        }
        let over_rows = metrics.iter().find(|(metric, _)| metric.profile().layout == Layout::Rows);
        if let (Some((metric, _)), true) = (over_rows, asked.unranked) {
            return Err(Error::usage(
                "metrics over segments, where some rows have no rank",
                format!("`{}`", metric.id()),
                "leave it out, or evaluate a table of retrieved rows",
            ));
        }
        let carryover = asked
            .carryover
            .iter()
            .map(|column| Ok((column.clone(), requests.column(source, column, "carryover")?)))
            .collect::<Result<_>>()?;
        let heads = heads::resolve(asked, source, &metrics, &mut requests)?;
        let scores = asked.heads.iter().map(|head| heads::score(head, model)).collect::<Result<_>>()?;
        let (features, input_widths) = inputs::resolve(asked, source, model, &mut requests)?;
        let mut slices = Vec::new();
        for (place, slice) in asked.slices.iter().enumerate() {
            if asked.slices.iter().take(place).any(|other| other == slice) {
                return Err(Error::usage(
                    "each slice once",
                    format!("slice {} twice", place + 1),
                    "leave one of them out",
                )
                .at("slices"));
            }
            slices.push(match slice {
                SliceSpecification::Columns(columns) if columns.is_empty() => {
                    return Err(Error::usage("one column or more in a slice", "an empty list", "leave the slice out"));
                }
                SliceSpecification::Columns(columns) => SliceDefinition::Columns(
                    columns
                        .iter()
                        .map(|column| Ok((column.clone(), requests.key(source, column, "slice")?)))
                        .collect::<Result<_>>()?,
                ),
                SliceSpecification::Predicate(sql) => {
                    SliceDefinition::Predicate(sql.clone(), requests.predicate(source, sql, "slice")?)
                }
            });
        }
        let experiments = experiments::resolve(asked, &features)?;
        Ok(Self {
            requests: requests.list,
            segment,
            segment_names: asked.segment.clone(),
            carryover,
            heads,
            scores,
            features,
            input_widths,
            metrics,
            states,
            label_sides,
            side_of_state,
            item,
            interval: asked.interval,
            unranked: asked.unranked,
            metric_ids: asked.metrics.clone(),
            defaults,
            slices,
            experiments,
            on_invalid: asked.on_invalid,
            scores_are_columns: asked.scores_are_columns,
        })
    }

    /// Whether a metric is defined on whole segments.
    pub fn needs_whole_segments(&self) -> bool {
        self.metrics.iter().any(|(metric, _)| metric.profile().layout == Layout::Segments)
    }

    /// Whether an experiment depends on the places of rows among all evaluated rows.
    pub(crate) fn needs_ordinals(&self) -> bool {
        self.experiments.iter().any(|experiment| matches!(experiment.change, Change::Permute { .. }))
    }

    /// The states as a partial reads and writes them.
    pub fn state_list(&self) -> Vec<&dyn AnyMetric> {
        self.states.iter().map(AsRef::as_ref).collect()
    }
}

/// The columns asked for so far, each once.
#[derive(Debug, Default)]
struct Requests {
    list: Vec<Request>,
}

impl Requests {
    fn place(&mut self, request: Request) -> ColumnIndex {
        if let Some(place) = self.list.iter().position(|known| *known == request) {
            return place;
        }
        self.list.push(request);
        self.list.len() - 1
    }

    /// A column of any type.
    fn column(&mut self, source: &dyn Source, name: &str, role: &str) -> Result<ColumnIndex> {
        source.column_type(name).map_err(|error| error.at(role))?;
        Ok(self.place(Request::Column(name.to_string())))
    }

    /// A column of a scalar type.
    fn key(&mut self, source: &dyn Source, name: &str, role: &str) -> Result<ColumnIndex> {
        let data_type = source.column_type(name).map_err(|error| error.at(role))?;
        if !crate::columns::is_scalar(&data_type) {
            return Err(Error::data(
                format!("a column of single values for the {role} key"),
                format!("`{name}` of type {data_type}"),
                "choose another column, or derive one",
            ));
        }
        Ok(self.place(Request::Column(name.to_string())))
    }

    fn predicate(&mut self, source: &dyn Source, sql: &str, role: &str) -> Result<ColumnIndex> {
        source.check_predicate(sql).map_err(|error| error.at(role))?;
        Ok(self.place(Request::Predicate(sql.to_string())))
    }
}
