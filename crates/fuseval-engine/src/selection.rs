//! The label side of a bucket, done once for all experiments: which rows count for a head and slice, with their labels and
//! weights, arranged fold by fold and segment by segment so that every view is a stretch of one array.
//!
//! ```text
//!   bucket rows     0 1 2 | 3 4 | 5 6 7        three segments, folds 9, 4, 9
//!   selection rows  3 4 | 0 1 2 | 5 6 7        fold 4: one segment; fold 9: two
//! ```

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use fuseval_core::segment_key::{FOLDS, Fold};
use fuseval_core::view::segment_weight;
use fuseval_core::{Error, LabelRange, Needs, Result, Slice, Source};

use crate::bucket::Bucket;
use crate::columns::{KeyColumn, floats, numbers};
use crate::plan::{Head, LabelRule, Plan, SliceDefinition};
use crate::specification::OnInvalid;

/// What a row is to a head.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Use {
    /// Masked, or of weight zero: not there.
    Out,
    /// Invalid and left out; counted.
    Dropped,
    /// There.
    In { label: f64, weight: f64 },
}

/// The rows of one fold in a selection.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    pub(crate) fold: Fold,
    pub(crate) rows: Range<usize>,
    /// Borders of the segments within the part. Empty without a segment key.
    pub(crate) segments: Vec<usize>,
    pub(crate) dropped: u64,
    /// The weight of each segment, where rows have weights.
    pub(crate) segment_weights: Option<Vec<f64>>,
    /// For each label side of the plan the number of each segment.
    pub(crate) label_sides: Vec<Vec<f64>>,
}

impl Part {
    /// The numbers of the segments for one label side of the plan.
    pub(crate) fn label_side(&self, side: Option<usize>) -> &[f64] {
        side.and_then(|side| self.label_sides.get(side)).map_or(&[][..], Vec::as_slice)
    }
}

/// The rows of one head and slice.
#[derive(Debug, Clone, Default)]
pub(crate) struct Selection {
    /// Rows of the bucket, in view order.
    pub(crate) rows: Vec<usize>,
    pub(crate) labels: Vec<f64>,
    pub(crate) weights: Option<Vec<f64>>,
    pub(crate) parts: Vec<Part>,
    /// The rank of each row's item in the bucket; empty unless a metric needs it.
    pub(crate) items: Vec<u32>,
    /// What identifies each row; empty unless a metric needs it.
    pub(crate) identities: Vec<u64>,
    last_segment: Option<usize>,
}

/// What metrics ask of the rows of a bucket whatever their labels and scores.
pub(crate) struct RowFacts {
    items: Vec<u32>,
    identities: Vec<u64>,
}

impl RowFacts {
    pub(crate) fn new(plan: &Plan, needs: Needs, bucket: &Bucket, source: &dyn Source) -> Result<Self> {
        let identities = if needs.identities { bucket.places.iter().collect() } else { Vec::new() };
        let mut facts = Self { items: Vec::new(), identities };
        let wanted = needs.items || needs.distinct_items;
        let Some(array) = plan.item.filter(|_| wanted).and_then(|item| bucket.columns.get(item)) else {
            return Ok(facts);
        };
        let keys = KeyColumn::new(array)?;
        let texts: Vec<Option<String>> =
            (0..bucket.rows()).map(|row| keys.with_text(row, |text| text.map(str::to_string))).collect();
        let mut names: Vec<&Option<String>> = texts.iter().collect();
        names.sort_unstable();
        names.dedup();
        facts.items = texts.iter().map(|text| names.binary_search(&text).unwrap_or_default() as u32).collect();
        if needs.distinct_items {
            facts.refuse_repeats(plan, bucket, &texts).map_err(|(row, error)| error.at(bucket.place(row, source)))?;
        }
        Ok(facts)
    }

    /// Refuses an item that comes back within a segment; the error comes with the row.
    fn refuse_repeats(
        &self,
        plan: &Plan,
        bucket: &Bucket,
        texts: &[Option<String>],
    ) -> std::result::Result<(), (usize, Error)> {
        let mut seen: HashSet<u32> = HashSet::new();
        for (start, end) in bucket.segments.iter().zip(bucket.segments.iter().skip(1)) {
            seen.clear();
            let items = self.items.get(*start..*end).unwrap_or_default();
            let Some(place) = items.iter().position(|item| !seen.insert(*item)) else { continue };
            let item = items.get(place);
            let times = items.iter().filter(|other| Some(*other) == item).count();
            let name = texts.get(start + place).cloned().flatten().unwrap_or_else(|| "null".to_string());
            let metrics = plan.metrics.iter().filter(|(metric, _)| metric.profile().needs.distinct_items);
            let metrics: Vec<String> = metrics.map(|(metric, _)| format!("`{}`", metric.id())).collect();
            let error = Error::data(
                format!("each item once in a segment for {}", metrics.join(", ")),
                format!("the item `{name}` {times} times in one segment"),
                "remove the repeated rows, count an item once at its best rank (`duplicates=first`), or take them as rows (`duplicates=rows`)",
            );
            return Err((start + place, error));
        }
        Ok(())
    }
}

impl Selection {
    fn new(weighted: bool) -> Self {
        Self { weights: weighted.then(Vec::new), ..Self::default() }
    }

    /// The part of a fold; folds come one after the other.
    fn part(&mut self, fold: Fold) -> Option<&mut Part> {
        if self.parts.last().is_none_or(|part| part.fold != fold) {
            let at = self.rows.len();
            self.parts.push(Part {
                fold,
                rows: at..at,
                segments: Vec::new(),
                dropped: 0,
                segment_weights: None,
                label_sides: Vec::new(),
            });
            self.last_segment = None;
        }
        self.parts.last_mut()
    }

    fn push(&mut self, fold: Fold, segment: Option<usize>, row: usize, used: Use) {
        let same_segment = segment.is_some()
            && segment == self.last_segment
            && self.parts.last().is_some_and(|part| part.fold == fold);
        let Some(part) = self.part(fold) else { return };
        let Use::In { label, weight } = used else {
            part.dropped += u64::from(used == Use::Dropped);
            return;
        };
        part.rows.end += 1;
        let end = part.rows.len();
        if segment.is_some() {
            if part.segments.is_empty() {
                part.segments.push(0);
            }
            if same_segment {
                part.segments.pop();
            }
            part.segments.push(end);
        }
        self.last_segment = segment;
        self.rows.push(row);
        self.labels.push(label);
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
    }

    /// Adds the rows of a unit, all of which count.
    fn push_unit(&mut self, fold: Fold, segmented: bool, rows: Range<usize>, labels: &[f64]) {
        let Some(part) = self.part(fold) else { return };
        part.rows.end += rows.len();
        if segmented {
            if part.segments.is_empty() {
                part.segments.push(0);
            }
            part.segments.push(part.rows.len());
        }
        self.labels.extend_from_slice(labels.get(rows.clone()).unwrap_or_default());
        self.rows.extend(rows);
    }

    /// Adds what metrics ask of rows and segments, once all rows are there.
    pub(crate) fn complete(&mut self, plan: &Plan, facts: &RowFacts) {
        let at = |row: &usize| (facts.items.get(*row), facts.identities.get(*row));
        self.items = self.rows.iter().filter_map(|row| at(row).0).copied().collect();
        self.identities = self.rows.iter().filter_map(|row| at(row).1).copied().collect();
        self.look_at_segments(plan);
    }

    /// Weights and label sides of segments.
    fn look_at_segments(&mut self, plan: &Plan) {
        for part in &mut self.parts {
            let labels = self.labels.get(part.rows.clone()).unwrap_or_default();
            let each = |values: &[f64], of: &dyn Fn(&[f64]) -> f64| -> Vec<f64> {
                let borders = part.segments.windows(2);
                let rows = borders.filter_map(|pair| values.get(*pair.first()?..*pair.last()?));
                rows.map(of).collect()
            };
            part.label_sides = plan.label_sides.iter().map(|side| each(labels, &side.of)).collect();
            if plan.label_sides.is_empty() {
                continue;
            }
            let weights = self.weights.as_ref().and_then(|weights| weights.get(part.rows.clone()));
            part.segment_weights = weights.map(|weights| each(weights, &segment_weight));
        }
    }

    /// The selection without some of its rows (numbered as in the bucket), which are counted as dropped.
    pub(crate) fn without(&self, plan: &Plan, invalid: impl Fn(usize) -> bool) -> Self {
        let mut kept = Self::new(self.weights.is_some());
        for part in &self.parts {
            let segment_of = |place: usize| {
                (!part.segments.is_empty()).then(|| part.segments.partition_point(|border| *border <= place))
            };
            if let Some(new) = kept.part(part.fold) {
                new.dropped += part.dropped;
            }
            for (place, at) in part.rows.clone().enumerate() {
                let (Some(row), Some(label)) = (self.rows.get(at), self.labels.get(at)) else { continue };
                let weight = self.weights.as_ref().and_then(|weights| weights.get(at)).copied().unwrap_or(1.0);
                let used = if invalid(*row) { Use::Dropped } else { Use::In { label: *label, weight } };
                kept.push(part.fold, segment_of(place), *row, used);
                if used != Use::Dropped {
                    kept.items.extend(self.items.get(at));
                    kept.identities.extend(self.identities.get(at));
                }
            }
        }
        kept.look_at_segments(plan);
        kept
    }
}

/// The selections of one head in a bucket: all rows first, then the slices that occur.
pub(crate) fn selections(
    plan: &Plan,
    head: &Head,
    labels: LabelRange,
    groups: &[Groups],
    bucket: &Bucket,
    source: &dyn Source,
) -> Result<Vec<(Slice, Selection)>> {
    let order = by_fold(bucket);
    let fold = |unit: usize| bucket.folds.get(unit).copied().unwrap_or_default();
    if let Some(labels) = plain_labels(head, labels, bucket)?
        && groups.is_empty()
    {
        let mut all = Selection::new(false);
        for unit in order {
            let (rows, segmented) = unit_rows(bucket, unit);
            all.push_unit(fold(unit), segmented, rows, &labels);
        }
        return Ok(vec![(Slice::default(), all)]);
    }
    let uses = uses(plan, head, labels, bucket, source)?;
    let weighted = head.weight.is_some();
    let mut out = vec![(Slice::default(), Selection::new(weighted))];
    let mut first_of_definition = Vec::new();
    for groups in groups {
        first_of_definition.push(out.len());
        out.extend(groups.slices.iter().map(|slice| (slice.clone(), Selection::new(weighted))));
    }
    let mut take = |fold: Fold, segment: Option<usize>, row: usize| {
        let used = uses.get(row).copied().unwrap_or(Use::Out);
        if used == Use::Out {
            return;
        }
        if let Some((_, all)) = out.first_mut() {
            all.push(fold, segment, row, used);
        }
        for (groups, first) in groups.iter().zip(&first_of_definition) {
            let group = groups.of_row.get(row).copied().flatten();
            if let Some((_, selection)) = group.and_then(|group| out.get_mut(first + group)) {
                selection.push(fold, segment, row, used);
            }
        }
    };
    for unit in order {
        let (rows, segmented) = unit_rows(bucket, unit);
        rows.for_each(|row| take(fold(unit), segmented.then_some(unit), row));
    }
    Ok(out)
}

/// The units of a bucket, fold by fold, in the order in which they came.
fn by_fold(bucket: &Bucket) -> Vec<usize> {
    let mut units: [Vec<usize>; FOLDS as usize] = Default::default();
    for (unit, fold) in bucket.folds.iter().enumerate() {
        if let Some(units) = units.get_mut(usize::from(fold.number())) {
            units.push(unit);
        }
    }
    units.concat()
}

/// The rows of a segment, and that they are one; without a segment key the single row of a unit.
fn unit_rows(bucket: &Bucket, unit: usize) -> (Range<usize>, bool) {
    match (bucket.segments.get(unit), bucket.segments.get(unit + 1)) {
        (Some(from), Some(to)) => (*from..*to, true),
        _ => (unit..unit + 1, false),
    }
}

/// The labels of a bucket where every row counts and weighs 1, which is most often so; `None` where it is not.
fn plain_labels(head: &Head, range: LabelRange, bucket: &Bucket) -> Result<Option<Vec<f64>>> {
    let (None, None, Some(array)) = (head.mask, head.weight, bucket.columns.get(head.label)) else { return Ok(None) };
    let Some(mut labels) = floats(array)? else { return Ok(None) };
    match head.rule {
        LabelRule::Positive(_) => return Ok(None),
        LabelRule::Number => {}
        LabelRule::Threshold(threshold) => {
            if labels.iter().any(|label| label.is_nan()) {
                return Ok(None);
            }
            labels.iter_mut().for_each(|label| *label = f64::from(u8::from(*label >= threshold)));
        }
    }
    Ok(range.contains_all(&labels).then_some(labels))
}

/// Which slice of one definition each row of a bucket lies in.
pub(crate) struct Groups {
    slices: Vec<Slice>,
    of_row: Vec<Option<usize>>,
}

/// The groups of every slice definition in a bucket.
pub(crate) fn groups(plan: &Plan, bucket: &Bucket) -> Result<Vec<Groups>> {
    let one = |(place, definition): (usize, &SliceDefinition)| {
        let number = place as u32 + 1;
        match definition {
            SliceDefinition::Predicate(_, column) => Ok(Groups {
                slices: vec![Slice { definition: number, values: Vec::new() }],
                of_row: truths(bucket, *column).into_iter().map(|truth| truth.then_some(0)).collect(),
            }),
            SliceDefinition::Columns(columns) => {
                let arrays = columns.iter().filter_map(|(_, column)| bucket.columns.get(*column));
                let keys: Vec<KeyColumn> = arrays.map(KeyColumn::new).collect::<Result<_>>()?;
                let mut known: HashMap<Vec<Option<String>>, usize> = HashMap::new();
                let mut slices = Vec::new();
                let mut of_row: Vec<Option<usize>> = Vec::with_capacity(bucket.rows());
                for row in 0..bucket.rows() {
                    // Neighbours mostly agree, and then no text is made.
                    if row > 0 && keys.iter().all(|key| key.same(row - 1, row)) {
                        of_row.push(of_row.last().copied().flatten());
                        continue;
                    }
                    let values: Vec<Option<String>> =
                        keys.iter().map(|key| key.with_text(row, |text| text.map(str::to_string))).collect();
                    let group = *known.entry(values).or_insert_with_key(|values| {
                        slices.push(Slice { definition: number, values: values.clone() });
                        slices.len() - 1
                    });
                    of_row.push(Some(group));
                }
                Ok(Groups { slices, of_row })
            }
        }
    };
    plan.slices.iter().enumerate().map(one).collect()
}

fn truths(bucket: &Bucket, column: usize) -> Vec<bool> {
    use arrow_array::cast::AsArray;
    let array = bucket.columns.get(column).and_then(|array| array.as_boolean_opt());
    array.map(|array| array.iter().map(|truth| truth == Some(true)).collect()).unwrap_or_default()
}

/// What every row of a bucket is to a head.
fn uses(plan: &Plan, head: &Head, range: LabelRange, bucket: &Bucket, source: &dyn Source) -> Result<Vec<Use>> {
    let column =
        |column: usize| bucket.columns.get(column).ok_or_else(|| Error::defect("a column of the plan", "none"));
    let mask = head.mask.map(|mask| truths(bucket, mask));
    let weights = head.weight.map(|weight| numbers(column(weight)?)).transpose()?;
    let labels: Vec<Option<f64>> = match &head.rule {
        LabelRule::Positive(positive) => {
            let keys = KeyColumn::new(column(head.label)?)?;
            let is_float = column(head.label)?.data_type().is_floating();
            let label = |text: &str| match text {
                "NaN" if is_float => f64::NAN,
                _ => f64::from(u8::from(text == positive)),
            };
            (0..bucket.rows()).map(|row| keys.with_text(row, |text| text.map(label))).collect()
        }
        LabelRule::Number => numbers(column(head.label)?)?,
        LabelRule::Threshold(threshold) => {
            let binary = |label: f64| if label.is_nan() { label } else { f64::from(u8::from(label >= *threshold)) };
            numbers(column(head.label)?)?.into_iter().map(|label| label.map(binary)).collect()
        }
    };
    let drops = plan.on_invalid == OnInvalid::Drop;
    let placed = |error: Error, row: usize| error.at(format!("head `{}`", head.name)).at(bucket.place(row, source));
    let mut uses = Vec::with_capacity(bucket.rows());
    for (row, label) in labels.iter().enumerate() {
        if mask.as_ref().is_some_and(|mask| mask.get(row) != Some(&true)) {
            uses.push(Use::Out);
            continue;
        }
        let weight = match weights.as_ref().map(|weights| weights.get(row).copied().flatten()) {
            None => 1.0,
            Some(Some(weight)) if weight >= 0.0 && weight.is_finite() => weight,
            Some(None) if drops => {
                uses.push(Use::Dropped);
                continue;
            }
            Some(found) => return Err(placed(bad_weight(found, head, plan), row)),
        };
        if weight == 0.0 {
            uses.push(Use::Out);
            continue;
        }
        match label {
            Some(label) if range.contains(*label) => uses.push(Use::In { label: *label, weight }),
            None => {
                if !drops {
                    return Err(placed(missing_label("null", head, &labels), row));
                }
                uses.push(Use::Dropped);
            }
            Some(label) if label.is_nan() => {
                if !drops {
                    return Err(placed(missing_label("NaN", head, &labels), row));
                }
                uses.push(Use::Dropped);
            }
            Some(label) => return Err(placed(label_out_of_range(*label, range, head, plan), row)),
        }
    }
    Ok(uses)
}

fn bad_weight(found: Option<f64>, head: &Head, plan: &Plan) -> Error {
    let name = head.weight.and_then(|column| plan.requests.get(column)).map_or("weight", |request| match request {
        fuseval_core::source::Request::Column(name) | fuseval_core::source::Request::Predicate(name) => name,
    });
    let found = match found {
        None => "null".to_string(),
        Some(weight) if weight < 0.0 => format!("the negative {weight}"),
        Some(weight) => weight.to_string(),
    };
    Error::data(
        format!("a finite weight from 0 on in column `{name}`"),
        found,
        "correct the weight, or filter the row out (`on_invalid: drop` leaves out rows with a null weight)",
    )
}

fn missing_label(what: &str, head: &Head, labels: &[Option<f64>]) -> Error {
    let rows = labels.iter().filter(|label| label.is_none_or(f64::is_nan)).count();
    Error::data(
        format!("a label in column `{}`", head.label_name),
        format!("{what} ({rows} rows without a label in this bucket)"),
        "filter the rows out (`filter`), mask them for this head (`mask`), or leave them out and count them: `on_invalid: drop`",
    )
}

fn label_out_of_range(label: f64, range: LabelRange, head: &Head, plan: &Plan) -> Error {
    let metrics: Vec<String> = plan
        .metrics
        .iter()
        .filter(|(metric, _)| !metric.profile().needs.labels.contains(label))
        .map(|(metric, _)| format!("`{}`", metric.id()))
        .collect();
    let binary = range == LabelRange::Binary;
    let negative = if label < 0.0 { "the negative " } else { "" };
    Error::data(
        format!("{} in column `{}` for {}", range.describe(), head.label_name, metrics.join(", ")),
        format!("{negative}{label}"),
        match (binary, label) {
            (true, label) if label > 0.0 => {
                "give the label from which a row is positive: `label_threshold: 0.5` (`--label-threshold 0.5`), or leave these metrics out"
            }
            _ => "correct the label, or leave these metrics out",
        },
    )
}
