//! Data that hurt: ties, one-row segments, single-class segments, extreme scores, weights of very different size.

use fuseval_core::random::KeyedRng;
use fuseval_core::ranking::Ranking;
use fuseval_core::view::segment_weight;
use fuseval_core::{LabelSide, ScoreKind, View};

/// Rows in segments.
#[derive(Debug, Clone, Default)]
pub struct Table {
    /// 0 or 1.
    pub labels: Vec<f64>,
    /// In [0, 1].
    pub scores: Vec<f64>,
    /// Above zero, or all 1.
    pub weights: Option<Vec<f64>>,
    /// Borders of the segments.
    pub segments: Vec<usize>,
    /// Scores of the baseline.
    pub baseline: Vec<f64>,
    /// Items, some of which come back within a segment.
    pub items: Vec<u32>,
    /// What identifies each row.
    pub identities: Vec<u64>,
}

/// How a table is drawn.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// The number of segments.
    pub segments: usize,
    /// The longest segment.
    pub longest: u64,
    /// Scores lie on this grid; 0 for all of [0, 1].
    pub grid: u64,
    /// Whether rows have weights.
    pub weighted: bool,
}

/// A random float in [0, 1).
pub fn unit(rng: &mut KeyedRng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

impl Table {
    /// Draws a table.
    pub fn draw(rng: &mut KeyedRng, shape: Shape) -> Self {
        let mut table = Self { segments: vec![0], weights: shape.weighted.then(Vec::new), ..Self::default() };
        for _ in 0..shape.segments {
            let rows = 1 + rng.below(shape.longest);
            let rate = [0.0, 0.1, 0.5, 1.0][rng.below(4) as usize];
            for _ in 0..rows {
                table.items.push(rng.below(2 * shape.longest) as u32);
                table.identities.push(table.identities.len() as u64);
                let score = match (shape.grid, rng.below(20)) {
                    (0, _) => unit(rng),
                    (_, 0) => 0.0,
                    (_, 1) => 1.0,
                    (grid, _) => rng.below(grid + 1) as f64 / grid as f64,
                };
                let moved = rng.below(3) as f64 / 10.0;
                table.baseline.push(if score + moved > 1.0 { score } else { score + moved });
                table.scores.push(score);
                table.labels.push(f64::from(u8::from(unit(rng) < rate)));
                if let Some(weights) = &mut table.weights {
                    let exponent = rng.below(40) as i32 - 20;
                    weights.push(if rng.below(3) == 0 { 1.0 } else { (0.5 + unit(rng)) * 2f64.powi(exponent) });
                }
            }
            table.segments.push(table.labels.len());
        }
        table
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.labels.len()
    }

    /// The rows of some segments, as a table of their own.
    pub fn segments_of(&self, segments: &[usize]) -> Self {
        let mut part =
            Self { segments: vec![0], weights: self.weights.as_ref().map(|_| Vec::new()), ..Self::default() };
        for segment in segments {
            let rows = self.segments[*segment]..self.segments[segment + 1];
            part.labels.extend(&self.labels[rows.clone()]);
            part.scores.extend(&self.scores[rows.clone()]);
            part.baseline.extend(&self.baseline[rows.clone()]);
            part.items.extend(&self.items[rows.clone()]);
            part.identities.extend(&self.identities[rows.clone()]);
            if let (Some(to), Some(from)) = (&mut part.weights, &self.weights) {
                to.extend(&from[rows]);
            }
            part.segments.push(part.labels.len());
        }
        part
    }

    /// Calls `f` with a view of all rows, with all that a metric can need: ranked, with items, identities, a baseline whose
    /// scores are those of the rows before, and the label side of the metric.
    pub fn with_view<T>(&self, label_side: Option<&LabelSide>, f: impl FnOnce(&View<'_>) -> T) -> T {
        let weights = self.weights.as_deref();
        let ranking = Ranking::new(&self.scores, &self.labels, weights, &self.segments);
        let baseline_ranking = Ranking::new(&self.baseline, &self.labels, weights, &self.segments);
        let rows = |pair: &[usize]| pair[0]..pair[1];
        let segment_weights: Option<Vec<f64>> =
            weights.map(|weights| self.segments.windows(2).map(|pair| segment_weight(&weights[rows(pair)])).collect());
        let sides: Vec<f64> = label_side
            .map(|side| self.segments.windows(2).map(|pair| (side.of)(&self.labels[rows(pair)])).collect())
            .unwrap_or_default();
        f(&View {
            labels: &self.labels,
            scores: &self.scores,
            weights,
            segments: &self.segments,
            segment_weights: segment_weights.as_deref(),
            label_side: &sides,
            ranking: Some(&ranking),
            baseline: Some(&self.baseline),
            baseline_ranking: Some(&baseline_ranking),
            items: Some(&self.items),
            identities: Some(&self.identities),
            kind: ScoreKind::Probability,
            dropped: 0,
        })
    }
}
