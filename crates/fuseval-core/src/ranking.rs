//! Rows ranked by score within their segments: computed once per view, shared by all group-wise metrics.

/// The rows of each segment, best score first. Rows of equal score stand in input order, next to each other.
#[derive(Debug, Clone, Default)]
pub struct Ranking {
    order: Vec<usize>,
}

impl Ranking {
    /// Ranks the rows of each segment. `segments` holds the borders, as in [`crate::View`]; scores are not NaN. −0 and 0
    /// are equal scores.
    pub fn new(scores: &[f64], segments: &[usize]) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        for pair in segments.windows(2) {
            let [from, to] = pair else { continue };
            if let Some(rows) = order.get_mut(*from..*to) {
                rows.sort_by(|a, b| score(scores, *b).total_cmp(&score(scores, *a)));
            }
        }
        Self { order }
    }

    /// The rows of a segment, best score first; the rows are numbered as in the view.
    pub fn rows(&self, segment: std::ops::Range<usize>) -> &[usize] {
        self.order.get(segment).unwrap_or_default()
    }
}

/// The score of a row with −0 taken as 0.
fn score(scores: &[f64], row: usize) -> f64 {
    scores.get(row).copied().unwrap_or(f64::NEG_INFINITY) + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn best_first_and_ties_in_input_order() {
        let ranking = Ranking::new(&[0.1, 0.9, 0.9, -0.0, 0.0, f64::INFINITY], &[0, 3, 6]);
        assert_eq!(ranking.rows(0..3), [1, 2, 0]);
        assert_eq!(ranking.rows(3..6), [5, 3, 4]);
    }
}
