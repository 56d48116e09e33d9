//! Metrics of arrays in memory: no source, no model, no folds; labels and scores as they lie, read by several threads.

use fuseval_core::simd::wide;
use fuseval_core::view::segment_weight;
use fuseval_core::{
    AnyFolds, AnyMetric, Cache, Error, Fold, LabelRange, LabelSide, Layout, Needs, Ranking, Result, ScoreKind,
    ScoreNeed, Value, View,
};

/// A column of numbers.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    /// float64.
    F64(&'a [f64]),
    /// float32.
    F32(&'a [f32]),
    /// int8, as labels often are.
    I8(&'a [i8]),
    /// Truth values as bytes of 0 and 1.
    U8(&'a [u8]),
}

impl Column<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::F32(values) => values.len(),
            Self::I8(values) => values.len(),
            Self::U8(values) => values.len(),
        }
    }

    /// The numbers of some rows as float64, in `out`.
    fn read(&self, from: usize, to: usize, out: &mut Vec<f64>) {
        fn convert<T: Copy + Into<f64>>(values: &[T], from: usize, to: usize, out: &mut Vec<f64>) {
            let values = values.get(from..to).unwrap_or_default();
            out.resize(values.len(), 0.0);
            wide(
                #[inline(always)]
                |_| {
                    for (out, value) in out.iter_mut().zip(values) {
                        *out = (*value).into();
                    }
                },
            );
        }
        match self {
            Self::F64(values) => convert(values, from, to, out),
            Self::F32(values) => convert(values, from, to, out),
            Self::I8(values) => convert(values, from, to, out),
            Self::U8(values) => convert(values, from, to, out),
        }
    }
}

/// Rows in memory.
#[derive(Debug, Clone, Copy)]
pub struct Arrays<'a> {
    /// One label per row.
    pub labels: Column<'a>,
    /// One score per row.
    pub scores: Column<'a>,
    /// One weight per row, above zero; none where each weighs 1.
    pub weights: Option<Column<'a>>,
    /// Borders of the segments: segment i has the rows `segments[i]..segments[i + 1]`. Empty without segments.
    pub segments: &'a [usize],
    /// How the scores are meant.
    pub kind: ScoreKind,
}

/// Rows that are worked on at once: their labels, scores and ranking stay near the core.
const CHUNK_ROWS: usize = 2048;

/// The values of metrics, in their order. Labels or scores that a metric cannot take are an error that names the row.
pub fn evaluate(metrics: &[Box<dyn AnyMetric>], arrays: &Arrays<'_>, threads: usize) -> Result<Vec<Value>> {
    let shared = Shared::new(metrics, arrays)?;
    let chunks = chunks(arrays);
    let threads = threads.clamp(1, chunks.len().max(1));
    let parts: Vec<&[(usize, usize)]> = chunks.chunks(chunks.len().div_ceil(threads).max(1)).collect();
    let states = std::thread::scope(|scope| {
        let workers: Vec<_> = parts.iter().map(|part| scope.spawn(|| shared.work(part))).collect();
        let joined = workers.into_iter().map(|worker| {
            worker.join().unwrap_or_else(|_| Err(Error::defect("a worker that ends", "one that panicked")))
        });
        joined.collect::<Result<Vec<_>>>()
    })?;
    let mut states = states.into_iter();
    let mut all = states.next().unwrap_or_else(|| shared.empty());
    for part in states {
        all.iter_mut().zip(part).try_for_each(|(all, part)| all.absorb(part))?;
    }
    all.iter_mut().for_each(|folds| folds.settle());
    let mut caches: Vec<Cache> = all.iter().map(|_| Cache::with_threads(threads)).collect();
    let mut values = Vec::with_capacity(metrics.len());
    for (metric, state) in metrics.iter().zip(&shared.state_of_metric) {
        let (Some(folds), Some(cache)) = (all.get(*state), caches.get_mut(*state)) else {
            return Err(Error::defect("a state of each metric", "none"));
        };
        values.push(metric.finish(folds.as_ref(), cache)?);
    }
    Ok(values)
}

/// What all threads share.
struct Shared<'a> {
    arrays: &'a Arrays<'a>,
    /// For each state a metric that updates it, and the place of its label side.
    states: Vec<(&'a dyn AnyMetric, Option<usize>)>,
    /// The label sides of all metrics, those of one name once.
    sides: Vec<LabelSide>,
    state_of_metric: Vec<usize>,
    /// The strictest of the metrics' needs.
    needs: Needs,
}

impl<'a> Shared<'a> {
    fn new(metrics: &'a [Box<dyn AnyMetric>], arrays: &'a Arrays<'a>) -> Result<Self> {
        let lengths = [Some(arrays.labels.len()), arrays.weights.map(|weights| weights.len())];
        let rows = arrays.scores.len();
        if let Some(other) = lengths.into_iter().flatten().find(|len| *len != rows) {
            return Err(Error::data(
                format!("{rows} labels, scores and weights alike"),
                other.to_string(),
                "give one of each per row",
            ));
        }
        let borders = arrays.segments;
        let fits = borders.first().is_none_or(|first| *first == 0)
            && borders.last().is_none_or(|last| *last == rows)
            && borders.is_sorted();
        if !fits {
            let help = "give the place where each segment begins, and the number of rows last";
            return Err(Error::data(format!("ascending borders from 0 to {rows}"), "others", help));
        }
        let needs = Needs::new(ScoreNeed::Order, LabelRange::Any);
        let mut shared = Self { arrays, states: Vec::new(), sides: Vec::new(), state_of_metric: Vec::new(), needs };
        for metric in metrics {
            let profile = metric.profile();
            if profile.layout == Layout::Segments && borders.is_empty() {
                return Err(Error::usage(format!("segments for `{}`", metric.id()), "none", "give their borders"));
            }
            if profile.needs.baseline || profile.needs.items || profile.needs.identities {
                let help = "evaluate a table or a run file instead";
                return Err(Error::usage("metrics of labels and scores alone", format!("`{}`", metric.id()), help));
            }
            shared.needs = shared.needs.with(profile.needs);
            let name = metric.state_name();
            let known = shared.states.iter().position(|(state, _)| state.state_name() == name);
            if known.is_none() {
                let side = metric.label_side().map(|side| shared.place_of(side));
                shared.states.push((metric.as_ref(), side));
            }
            shared.state_of_metric.push(known.unwrap_or(shared.states.len() - 1));
        }
        Ok(shared)
    }

    /// The place of a label side, which is added unless it is there.
    fn place_of(&mut self, side: LabelSide) -> usize {
        let known = self.sides.iter().position(|other| other.name == side.name);
        known.unwrap_or_else(|| {
            self.sides.push(side);
            self.sides.len() - 1
        })
    }

    fn empty(&self) -> Vec<Box<dyn AnyFolds>> {
        self.states.iter().map(|(metric, _)| metric.empty()).collect()
    }

    fn work(&self, chunks: &[(usize, usize)]) -> Result<Vec<Box<dyn AnyFolds>>> {
        let mut states = self.empty();
        let (mut labels, mut scores, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        let mut segments = Vec::new();
        let mut sides: Vec<Vec<f64>> = self.sides.iter().map(|_| Vec::new()).collect();
        let mut ranking = Ranking::default();
        for (from, to) in chunks {
            let (first, last) = self.rows(*from, *to);
            self.arrays.labels.read(first, last, &mut labels);
            self.arrays.scores.read(first, last, &mut scores);
            if let Some(column) = self.arrays.weights {
                column.read(first, last, &mut weights);
            }
            self.check(&labels, &scores, first)?;
            let weights = self.arrays.weights.map(|_| weights.as_slice());
            segments.clear();
            let borders = self.arrays.segments.get(*from..*to + 1).unwrap_or_default();
            segments.extend(borders.iter().map(|border| border - first));
            if self.needs.ranking {
                ranking.rank(&scores, &labels, weights, &segments);
            }
            let of_segments = |values: &[f64], f: &dyn Fn(&[f64]) -> f64, out: &mut Vec<f64>| {
                out.clear();
                let rows = segments.windows(2).filter_map(|pair| values.get(*pair.first()?..*pair.last()?));
                out.extend(rows.map(f));
            };
            let mut segment_weights = Vec::new();
            if let Some(weights) = weights {
                of_segments(weights, &segment_weight, &mut segment_weights);
            }
            let view = View {
                labels: &labels,
                scores: &scores,
                weights,
                segments: &segments,
                segment_weights: weights.map(|_| segment_weights.as_slice()),
                ranking: self.needs.ranking.then_some(&ranking),
                kind: self.arrays.kind,
                ..View::default()
            };
            for (side, numbers) in self.sides.iter().zip(&mut sides) {
                of_segments(&labels, &side.of, numbers);
            }
            for ((metric, side), folds) in self.states.iter().zip(&mut states) {
                let label_side = side.and_then(|side| sides.get(side)).map_or(&[][..], Vec::as_slice);
                metric.update(folds.as_mut(), Fold::default(), &View { label_side, ..view })?;
            }
        }
        Ok(states)
    }

    /// The rows of a chunk: of segments where there are some.
    fn rows(&self, from: usize, to: usize) -> (usize, usize) {
        let border = |at: usize| self.arrays.segments.get(at).copied().unwrap_or_default();
        if self.arrays.segments.is_empty() { (from, to) } else { (border(from), border(to)) }
    }

    /// Refuses labels and scores that a metric cannot take. The strictest needs are looked at first, once for all.
    fn check(&self, labels: &[f64], scores: &[f64], first: usize) -> Result<()> {
        let kind = self.arrays.kind;
        // Without an early end, so that the compiler vectorises it.
        let all_fit = |need: ScoreNeed| {
            wide(
                #[inline(always)]
                |_| {
                    let mut all = true;
                    for score in scores {
                        all &= need.accepts(*score, kind);
                    }
                    all
                },
            )
        };
        if all_fit(self.needs.score) && self.needs.labels.contains_all(labels) {
            return Ok(());
        }
        for (metric, _) in &self.states {
            let needs = metric.profile().needs;
            if !needs.labels.contains_all(labels) {
                let row = labels.iter().position(|label| !needs.labels.contains(*label)).unwrap_or_default();
                return Err(Error::data(
                    format!("{} for `{}`", needs.labels.describe(), metric.id()),
                    labels.get(row).map_or_else(String::new, f64::to_string),
                    "correct the label, or leave the metric out",
                )
                .at(format!("row {}", first + row)));
            }
            if !all_fit(needs.score) {
                let unfit = |score: &f64| !needs.score.accepts(*score, kind);
                let row = scores.iter().position(unfit).unwrap_or_default();
                return Err(Error::data(
                    format!("a score that `{}` can take", metric.id()),
                    scores.get(row).map_or_else(String::new, f64::to_string),
                    "correct the score, or leave the metric out",
                )
                .at(format!("row {}", first + row)));
            }
        }
        Ok(())
    }
}

/// Chunks of about [`CHUNK_ROWS`] rows: ranges of segments where there are some, of rows otherwise.
fn chunks(arrays: &Arrays<'_>) -> Vec<(usize, usize)> {
    if arrays.segments.is_empty() {
        let rows = arrays.scores.len();
        return (0..rows).step_by(CHUNK_ROWS).map(|from| (from, (from + CHUNK_ROWS).min(rows))).collect();
    }
    let mut chunks = Vec::new();
    let mut from = 0;
    let start = |at: usize| arrays.segments.get(at).copied().unwrap_or_default();
    for to in 1..arrays.segments.len() {
        if start(to) - start(from) >= CHUNK_ROWS || to + 1 == arrays.segments.len() {
            chunks.push((from, to));
            from = to;
        }
    }
    chunks
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuseval_core::random::KeyedRng;
    use fuseval_core::{Defaults, MetricId};

    fn metrics(names: &str) -> Vec<Box<dyn AnyMetric>> {
        let ids = MetricId::parse_list(names).unwrap();
        ids.iter().map(|id| fuseval_metrics::metric(id, &Defaults::default()).unwrap()).collect()
    }

    #[test]
    fn neither_threads_nor_types_change_a_bit() {
        let mut rng = KeyedRng::new(5, &["arrays"]);
        let rows = 40_000;
        let scores: Vec<f32> = (0..rows).map(|_| rng.below(1 << 20) as f32 / (1 << 20) as f32).collect();
        let labels: Vec<i8> = (0..rows).map(|_| i8::from(rng.below(4) == 0)).collect();
        let segments: Vec<usize> = (0..=rows).step_by(16).collect();
        let wide: Vec<f64> = scores.iter().map(|score| f64::from(*score)).collect();
        let wide_labels: Vec<f64> = labels.iter().map(|label| f64::from(*label)).collect();
        let metrics = metrics("roc_auc,pr_auc,log_loss,mae,ndcg@10,precision@5,gauc");
        let narrow = Arrays {
            labels: Column::I8(&labels),
            scores: Column::F32(&scores),
            weights: None,
            segments: &segments,
            kind: ScoreKind::Probability,
        };
        let expected = evaluate(&metrics, &narrow, 1).unwrap();
        let same = Arrays { labels: Column::F64(&wide_labels), scores: Column::F64(&wide), ..narrow };
        for (arrays, threads) in [(&narrow, 2), (&narrow, 7), (&same, 1), (&same, 3)] {
            assert_eq!(evaluate(&metrics, arrays, threads).unwrap(), expected);
        }
        assert!(expected.iter().all(|value| value.outcome.number().is_some()));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let arrays = Arrays {
            labels: Column::F64(&[0.0, 0.5]),
            scores: Column::F64(&[0.1, 1.5]),
            weights: None,
            segments: &[],
            kind: ScoreKind::Probability,
        };
        let message = |names: &str| evaluate(&metrics(names), &arrays, 1).unwrap_err().to_string();
        assert!(message("roc_auc").starts_with("row 1: expected a label of 0 or 1 for `roc_auc`, found 0.5"));
        assert!(message("log_loss").starts_with("row 1: expected a score that `log_loss` can take, found 1.5"));
        assert!(message("ndcg").starts_with("expected segments for `ndcg`, found none"));
        assert!(message("flip_rate").contains("metrics of labels and scores alone"));
    }
}
