use super::*;
use fuseval_core::random::KeyedRng;

fn bytes(state: &Scores) -> Vec<u8> {
    let mut out = Writer::new();
    state.encode(&mut out);
    out.into_bytes()
}

#[test]
fn many_rows_collapse_to_their_distinct_scores() {
    let mut scores = Scores::new(Mode::Auto, DEFAULT_BUDGET);
    (0..10_000u32).for_each(|i| scores.add(f64::from(i * 7 % 100), i % 3 == 0, 1.0));
    let table = ScoreTable::of(&scores);
    let (negative, positive) = table.totals();
    assert_eq!((table.steps().count(), negative.rows + positive.rows), (100, 10_000));
}

#[test]
fn what_is_over_the_budget_is_the_histogram_however_it_was_split() {
    let mut rng = KeyedRng::new(1, &["budget"]);
    for budget in [10, 1000, 4000, 5000, 20_000] {
        for weighted in [false, true] {
            let rows: Vec<(f64, bool, f64)> = (0..9000)
                .map(|_| {
                    let score = rng.below(1 << 24) as f64 / f64::from(1 << 24);
                    let weight = if weighted { 1.0 + rng.below(3) as f64 } else { 1.0 };
                    (score, rng.below(5) == 0, weight)
                })
                .collect();
            let mut whole = Scores::new(Mode::Auto, budget);
            rows.iter().for_each(|(score, positive, weight)| whole.add(*score, *positive, *weight));
            let mut merged = Scores::new(Mode::Auto, budget);
            for part in rows.rchunks(1 + rng.below(4000) as usize) {
                let mut state = Scores::new(Mode::Auto, budget);
                part.iter().for_each(|(score, positive, weight)| state.add(*score, *positive, *weight));
                merged.merge(&state).unwrap();
            }
            assert_eq!(bytes(&whole), bytes(&merged), "{budget}");
            assert_eq!(bytes(&whole)[0], u8::from(budget < 9000), "{budget}");
        }
    }
}

#[test]
fn a_score_that_is_no_float32_number_widens_its_class_only() {
    let mut narrow = Scores::new(Mode::Auto, DEFAULT_BUDGET);
    (0..100).for_each(|i| narrow.add(f64::from(i) / 128.0, i % 2 == 0, 1.0));
    let mut wide = narrow.clone();
    wide.add(0.1, true, 1.0);
    assert_eq!(bytes(&wide).len(), bytes(&narrow).len() + 50 * 4 + 8);
    narrow.merge(&wide).unwrap();
    let table = ScoreTable::of(&narrow);
    assert!(table.steps().zip(table.steps().skip(1)).all(|(a, b)| a.high < b.low));
    assert_eq!(table.totals().1.rows, 101);
}

#[test]
fn float16_scores_are_exact_in_the_histogram() {
    let mut scores = Scores::new(Mode::Histogram, DEFAULT_BUDGET);
    (0..1000).for_each(|i| scores.add(f64::from(i) / 1024.0, i % 2 == 0, 1.0));
    assert!(ScoreTable::of(&scores).exact);
    scores.add(0.1, true, 1.0);
    assert!(!ScoreTable::of(&scores).exact);
}

#[test]
fn rows_of_weight_1_enter_one_by_one_or_all_at_once() {
    let mut rng = KeyedRng::new(4, &["rows"]);
    for odd in [None, Some(1), Some(700)] {
        let mut scores: Vec<f64> = (0..1000).map(|_| f64::from(rng.below(500) as f32 / 512.0)).collect();
        if let Some(odd) = odd {
            scores[odd] = 0.1;
        }
        let labels: Vec<f64> = (0..1000).map(|_| rng.below(2) as f64).collect();
        for mode in [Mode::Auto, Mode::Histogram] {
            let (mut one, mut all) = (Scores::new(mode, 100_000), Scores::new(mode, 100_000));
            labels.iter().zip(&scores).for_each(|(label, score)| one.add(*score, *label > 0.0, 1.0));
            all.add_rows(&labels, &scores);
            assert_eq!(bytes(&one), bytes(&all));
            let (forward, back) = (ScoreTable::of(&one), ScoreTable::of(&one));
            let mut reversed: Vec<Step> = back.steps().rev().collect();
            reversed.reverse();
            assert_eq!(forward.steps().collect::<Vec<_>>(), reversed);
        }
    }
}
