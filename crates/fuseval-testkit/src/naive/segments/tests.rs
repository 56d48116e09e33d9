//! The catalogue against this implementation where labels are grades, which the tables of the laws lack.

use fuseval_core::random::KeyedRng;

use crate::generate::{Shape, Table};
use crate::{laws, metric};

const GRADED: &[&str] = &[
    "precision@3",
    "recall@3",
    "hit_rate@2",
    "map@3[denominator=hits]",
    "ndcg",
    "ndcg@3",
    "ndcg@3[gain=exp2]",
    "ndcg@5[gain=[0,1,10,10.5,100]]",
    "ndcg@3[ties=pessimistic]",
    "dcg@3[gain=exp2]",
    "err[max_grade=4]",
    "err@3[max_grade=5]",
    "err@3[max_grade=4,ties=optimistic]",
    "pair_accuracy",
];

const SHAPES: [Shape; 4] = [
    Shape { segments: 20, longest: 7, grid: 1, weighted: false },
    Shape { segments: 12, longest: 8, grid: 3, weighted: false },
    Shape { segments: 12, longest: 20, grid: 100, weighted: true },
    Shape { segments: 3, longest: 60, grid: 0, weighted: true },
];

#[test]
fn grades_agree() {
    for shape in SHAPES {
        for time in 0..15 {
            let mut rng = KeyedRng::new(time, &["grades", &format!("{shape:?}")]);
            let mut table = Table::draw(&mut rng, shape);
            table.labels.iter_mut().for_each(|label| *label *= rng.below(5) as f64);
            for name in GRADED {
                let metric = metric(name);
                let state = laws::state_of(metric.as_ref(), &table);
                let ours = laws::value_of(metric.as_ref(), state.as_ref()).outcome.number();
                let theirs = super::value(name, &table);
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * b.abs().max(1e-3);
                assert_eq!(ours.is_some(), theirs.is_some(), "{name}");
                assert!(
                    ours.zip(theirs).is_none_or(|(a, b)| near(a, b)),
                    "{name}: {ours:?} and {theirs:?} on {table:?}"
                );
            }
        }
    }
}
