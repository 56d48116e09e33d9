//! Small data with known answers: the hard cases that others' tools got wrong, rows without a rank, and the rules for ties.

use fuseval_core::{AnyMetric, Cache, Defaults, Fold, LabelRange, MetricId, Ranking, Value, View};

/// Segments of (score, label).
type Segments<'a> = &'a [&'a [(f64, f64)]];

fn metric(name: &str) -> Box<dyn AnyMetric> {
    crate::metric(&MetricId::parse(name).unwrap(), &Defaults::default()).unwrap()
}

/// The value of segments whose rows have the given items and the places in `baseline` as its scores.
fn value(name: &str, segments: Segments<'_>, items: &[u32], baseline: &[f64]) -> Value {
    let metric = metric(name);
    let (scores, labels): (Vec<f64>, Vec<f64>) = segments.concat().into_iter().unzip();
    let mut borders = vec![0];
    segments.iter().for_each(|rows| borders.push(borders.last().unwrap() + rows.len()));
    let side = metric.label_side().unwrap();
    let sides: Vec<f64> = borders.windows(2).map(|pair| (side.of)(&labels[pair[0]..pair[1]])).collect();
    let ranking = Ranking::new(&scores, &labels, None, &borders);
    let baseline_ranking = Ranking::new(baseline, &labels, None, &borders[..1 + usize::from(!baseline.is_empty())]);
    let identities: Vec<u64> = (100..100 + scores.len() as u64).collect();
    let view = View {
        labels: &labels,
        scores: &scores,
        segments: &borders,
        label_side: &sides,
        ranking: Some(&ranking),
        baseline: Some(baseline),
        baseline_ranking: Some(&baseline_ranking),
        items: Some(items),
        identities: Some(&identities),
        ..View::default()
    };
    let mut folds = metric.empty();
    metric.update(folds.as_mut(), Fold::default(), &view).unwrap();
    metric.finish(folds.as_ref(), &mut Cache::default()).unwrap()
}

fn number(name: &str, segments: Segments<'_>, items: &[u32]) -> f64 {
    value(name, segments, items, &[]).outcome.number().unwrap_or(f64::NAN)
}

#[track_caller]
fn near(name: &str, found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{name}: {found}, expected {expected}");
}

#[test]
fn hard_cases() {
    let half = |labels: &[f64]| labels.iter().map(|label| (0.5, *label)).collect::<Vec<_>>();
    let down = |labels: &[f64]| labels.iter().zip((1..100).rev()).map(|(y, s)| (f64::from(s), *y)).collect::<Vec<_>>();
    let constant: Segments<'_> = &[&half(&[4.0, 0.0, 1.0, 0.0, 3.0])];
    let across: Segments<'_> = &[&[(0.9, 0.0), (0.8, 1.0), (0.7, 1.0), (0.7, 0.0), (0.7, 0.0), (0.2, 1.0)]];
    let flat: Segments<'_> = &[&half(&[1.0, 0.0, 0.0, 0.0, 0.0]), &half(&[1.0, 0.0, 1.0, 0.0])];
    let users: Segments<'_> = &[
        &[(0.4, 1.0), (0.4, 0.0), (0.9, 0.0), (0.1, 1.0)],
        &[(0.7, 1.0), (0.7, 0.0), (0.2, 0.0), (0.7, 1.0)],
        &[(0.5, 1.0), (0.5, 0.0), (0.5, 0.0)],
    ];
    let classes: Segments<'_> = &[
        &[(0.2, 0.0), (0.8, 1.0), (0.4, 1.0)],
        &[(0.3, 0.0), (0.6, 0.0), (0.9, 0.0)],
        &[(0.5, 1.0), (0.7, 1.0)],
        &[(0.1, 1.0), (0.9, 0.0), (0.6, 1.0)],
    ];
    let below: Segments<'_> =
        &[&down(&[0.0, 0.0, 1.0]), &down(&[1.0, 0.0]), &down(&[0.0, 0.0]), &down(&[0.0, 1.0, 1.0])];
    let one_set: Segments<'_> = &[&down(&[1.0, 0.0, 1.0]), &down(&[0.0, 0.0]), &down(&[0.0, 1.0, 1.0])];
    let short: Segments<'_> = &[&down(&[1.0, 0.0, 1.0]), &down(&[0.0, 1.0])];
    let two_of_six: Segments<'_> = &[&down(&[1.0, 0.0, 0.0, 1.0, 0.0, 0.0])];
    let ideal: Segments<'_> = &[&down(&[2.0, 0.0, 3.0, 5.0, 1.0])];
    let graded: Segments<'_> = &[&down(&[2.0, 3.0, 0.0, 1.0, 3.0, 0.0, 2.0])];
    let repeated: Segments<'_> = &[&down(&[1.0, 1.0, 0.0, 1.0, 1.0])];
    let requests: Segments<'_> =
        &[&[(0.2, 1.0), (0.9, 0.0), (0.4, 1.0), (0.3, 0.0)], &[(0.95, 0.0), (0.92, 0.0), (0.91, 1.0), (0.99, 0.0)]];
    let weights: Segments<'_> = &[
        &down(&[1.0, 0.0, 1.0, 0.0, 0.0, 0.0]),
        &[(0.3, 1.0), (0.6, 0.0)],
        &[(0.2, 0.0), (0.9, 1.0), (0.5, 1.0), (0.7, 0.0)],
    ];
    let (up, falling) = (down(&[1.0, 1.0, 0.0, 0.0, 0.0]), down(&[0.0, 0.0, 0.0, 1.0, 1.0]));
    let many: Segments<'_> = &[&falling, &up, &up];
    let lists: Segments<'_> = &[
        &[(0.9, 0.0), (0.2, 1.0), (0.4, 1.0)],
        &[(0.5, 1.0)],
        &[(0.3, 1.0), (0.8, 0.0)],
        &[(0.6, 0.0), (0.7, 1.0), (0.1, 0.0), (0.2, 1.0)],
    ];
    for (case, segments, items, name, expected) in [
        (1, constant, [3, 1, 5, 2, 4].as_slice(), "ndcg@5", 0.737_946_207_486_880_1),
        (1, constant, &[3, 1, 5, 2, 4], "ndcg@5[gain=exp2]", 0.680_988_442_330_013_1),
        (1, constant, &[3, 1, 5, 2, 4], "ndcg@5[ties=key_desc]", 0.765_360_636_988_621_8),
        (1, constant, &[3, 1, 5, 2, 4], "ndcg@5[ties=stable]", 0.885_459_881_571_487_4),
        (2, across, &[1, 2, 3, 5, 4, 0], "precision@3", 4.0 / 9.0),
        (2, across, &[1, 2, 3, 5, 4, 0], "recall@3", 4.0 / 9.0),
        (2, across, &[1, 2, 3, 5, 4, 0], "hit_rate@3", 1.0),
        (2, across, &[1, 2, 3, 5, 4, 0], "precision@3[ties=key_asc]", 2.0 / 3.0),
        (2, across, &[1, 2, 3, 5, 4, 0], "precision@3[ties=key_desc]", 1.0 / 3.0),
        (2, across, &[], "precision@3[ties=stable]", 2.0 / 3.0),
        (2, across, &[], "precision@3[ties=pessimistic]", 1.0 / 3.0),
        (2, across, &[], "precision@3[ties=optimistic]", 2.0 / 3.0),
        (4, flat, &[], "mrr@10", 1061.0 / 1800.0),
        (4, flat, &[], "precision@1", 7.0 / 20.0),
        (8, users, &[], "gauc", 5.0 / 11.0),
        (8, users, &[], "gauc[constant_scores=skip]", 7.0 / 16.0),
        (8, users, &[], "uauc", 11.0 / 24.0),
        (10, classes, &[], "gauc", 0.5),
        (10, classes, &[], "gauc[single_class=half]", 0.5),
        (16, below, &[], "mrr@2", 0.5),
        (16, below, &[], "mrr@2[no_positive=zero]", 3.0 / 8.0),
        (17, one_set, &[], "ndcg@2", 0.5),
        (17, one_set, &[], "precision@2[no_positive=skip]", 0.5),
        (17, one_set, &[], "recall@2", 0.5),
        (17, one_set, &[], "map@2", 3.0 / 8.0),
        (17, one_set, &[], "hit_rate@2", 1.0),
        (17, one_set, &[], "precision@2", 1.0 / 3.0),
        (19, short, &[], "precision@5", 0.3),
        (19, short, &[], "recall@5", 1.0),
        (19, short, &[], "ndcg@5", 0.775_325_271_359_822_5),
        (19, short, &[], "precision@5[denominator=min_k_n]", 7.0 / 12.0),
        (20, two_of_six, &[], "precision@4", 0.5),
        (20, two_of_six, &[], "recall@2", 0.5),
        (20, two_of_six, &[], "precision@4[denominator=min_k_relevant]", 1.0),
        (20, two_of_six, &[], "recall@1[denominator=min_k_relevant]", 1.0),
        (20, two_of_six, &[], "capped_recall@1", 1.0),
        (22, ideal, &[], "ndcg@1", 0.4),
        (22, ideal, &[], "ndcg@2", 0.290_158_297_947_545_1),
        (22, ideal, &[], "ndcg@3", 0.443_442_727_835_256_7),
        (22, ideal, &[], "ndcg@5", 0.725_687_559_618_189_2),
        (25, repeated, &[0, 0, 1, 0, 2], "recall@3[duplicates=first]", 1.0),
        (25, repeated, &[0, 0, 1, 0, 2], "precision@3[duplicates=first]", 2.0 / 3.0),
        (25, repeated, &[0, 0, 1, 0, 2], "precision@2[duplicates=first]", 0.5),
        (25, repeated, &[0, 0, 1, 0, 2], "recall@3", 0.5),
        (26, graded, &[], "ndcg@5", 0.767_963_581_981_586_2),
        (26, graded, &[], "ndcg@5[gain=exp2]", 0.723_184_096_941_514_9),
        (26, graded, &[], "ndcg@5[gain=[0,1,3,7]]", 0.723_184_096_941_514_9),
        (58, requests, &[], "ndcg@4", 0.540_798_743_940_262_8),
        (61, weights, &[], "gauc", 11.0 / 16.0),
        (61, weights, &[], "gauc[average=macro]", 13.0 / 24.0),
        (61, weights, &[], "gauc[average=positives]", 13.0 / 20.0),
        (70, many, &[], "gauc", 2.0 / 3.0),
        (76, lists, &[], "ndcg@2", 0.657_732_438_392_864_4),
    ] {
        near(&format!("case {case}: {name}"), number(name, segments, items), expected);
    }
    let counts = value("gauc", classes, &[], &[]).tally;
    assert_eq!((counts.n, counts.undefined), (2, 2));
    // Case 28: negative grades are refused.
    assert_eq!(metric("ndcg@4").profile().needs.labels, LabelRange::Grade);
    // Case 29: soft labels have no classes, unless a threshold makes them.
    assert_eq!(metric("gauc").profile().needs.labels, LabelRange::Binary);
    assert_eq!(metric("gauc[rel_threshold=0.5]").profile().needs.labels, LabelRange::Any);
}

#[test]
fn the_denominators_of_map_differ_where_hits_are_missed() {
    let rows: Vec<(f64, f64)> = (0..10).map(|i| (f64::from(-i), f64::from(u8::from(i != 1 && i != 9)))).collect();
    for (name, expected) in [
        ("map@3", 5.0 / 9.0),
        ("map@3[denominator=relevant]", 5.0 / 24.0),
        ("map@3[denominator=hits]", 5.0 / 6.0),
        ("map@3[denominator=k]", 5.0 / 9.0),
    ] {
        near(name, number(name, &[&rows], &[]), expected);
    }
}

#[test]
fn rows_without_a_rank_count_among_the_relevant_but_hold_no_place() {
    let rows: Segments<'_> = &[&[(f64::NAN, 1.0), (0.5, 0.0), (0.4, 1.0), (f64::NAN, 2.0)]];
    for (name, expected) in [
        ("recall@5", 1.0 / 3.0),
        ("map", 0.5 / 3.0),
        ("mrr", 0.5),
        ("mean_rank", 2.0),
        ("r_precision", 1.0 / 3.0),
        ("gauc[rel_threshold=1]", 0.0),
        ("ndcg@1[ties=stable]", 0.0),
        ("ndcg[gain=linear]", 1.0 / libm::log2(3.0) / (2.0 + 1.0 / libm::log2(3.0) + 0.5)),
    ] {
        near(name, number(name, rows, &[0, 1, 2, 3]), expected);
    }
    let none: Segments<'_> = &[&[(f64::NAN, 1.0), (f64::NAN, 0.0)]];
    assert_eq!(number("recall@5", none, &[]), 0.0);
    assert_eq!(number("map", none, &[]), 0.0);
    assert_eq!(number("precision@2[denominator=min_k_n]", none, &[]), 0.0);
    assert!(number("gauc", none, &[]).is_nan() && number("mean_rank", none, &[]).is_nan());
}

#[test]
fn an_ideal_ranking_has_exactly_1_with_and_without_ties() {
    let mut rows: Vec<(f64, f64)> = Vec::new();
    for i in 0..50 {
        rows.push((f64::from(-(i / 7)), f64::from(6 - (i / 7).min(6))));
    }
    for name in ["ndcg", "ndcg@10", "ndcg@13[gain=exp2]", "map", "hit_rate@3", "mrr"] {
        assert_eq!(number(name, &[&rows], &[]), 1.0, "{name}");
    }
}

#[test]
fn random_ties_follow_the_identity_of_rows() {
    let rows: Vec<(f64, f64)> = (0..40).map(|i| (0.5, f64::from(u8::from(i % 4 == 0)))).collect();
    let random = number("map[ties=random]", &[&rows], &[]);
    assert_eq!(random, number("map[ties=random]", &[&rows], &[]));
    let (best, worst) = (number("map[ties=optimistic]", &[&rows], &[]), number("map[ties=pessimistic]", &[&rows], &[]));
    assert!(worst < random && random < best, "{worst} {random} {best}");
}

#[test]
fn labels_without_a_gain_or_above_the_highest_grade_are_refused() {
    for (name, label, message) in [
        (
            "ndcg@3[gain=[0,1,3]]",
            3.0,
            "expected whole grades from 0 to 2, which have a gain in the table, found label 3",
        ),
        (
            "ndcg@3[gain=[0,1,3]]",
            0.5,
            "expected whole grades from 0 to 2, which have a gain in the table, found label 0.5",
        ),
        ("dcg[gain=exp2]", 1000.0, "expected labels up to 900, as exponents of 2, found label 1000"),
        ("err[max_grade=4]", 5.0, "expected labels up to max_grade = 4, found label 5"),
    ] {
        let metric = metric(name);
        let view = View { labels: &[0.0, label], scores: &[0.1, 0.2], ..View::default() };
        let error = metric.update(metric.empty().as_mut(), Fold::default(), &view).unwrap_err();
        assert_eq!(error.problem(), message);
    }
}

#[test]
fn a_change_is_seen_from_the_top() {
    let rows: Segments<'_> = &[&[(5.0, 0.0), (4.0, 0.0), (3.0, 1.0), (2.0, 0.0), (1.0, 1.0)]];
    let same = [50.0, 40.0, 30.0, 20.0, 10.0];
    let top_swapped = [40.0, 50.0, 30.0, 20.0, 10.0];
    let moved = [50.0, 40.0, 5.0, 20.0, 10.0];
    for (name, baseline, expected) in [
        ("top_k_overlap@2", same, 1.0),
        ("rank_biased_overlap", same, 1.0),
        ("top_k_overlap@1", top_swapped, 0.0),
        ("top_k_overlap@2", top_swapped, 1.0),
        ("top_k_overlap@10", top_swapped, 1.0),
        ("rank_biased_overlap", top_swapped, 0.9),
        ("top_k_overlap@3", moved, 2.0 / 3.0),
        ("rank_biased_overlap[p=0.5]", moved, 0.5 + 0.25 + 0.125 * 2.0 / 3.0 + 0.0625 * 0.75 + 0.0625),
    ] {
        near(name, value(name, rows, &[], &baseline).outcome.number().unwrap(), expected);
    }
    // Ties on both sides: any of three rows is first, independently.
    let tied: Segments<'_> = &[&[(1.0, 0.0), (1.0, 0.0), (1.0, 0.0)]];
    near("ties", value("top_k_overlap@1", tied, &[], &[2.0; 3]).outcome.number().unwrap(), 1.0 / 3.0);
    near("ties", value("top_k_overlap@1[ties=stable]", tied, &[], &[2.0; 3]).outcome.number().unwrap(), 1.0);
}

#[test]
fn a_block_of_many_rows_is_quick_and_keeps_its_precision() {
    let rows: Vec<(f64, f64)> = (0..100_000).map(|i| (0.5, f64::from(u8::from(i % 10 == 0)))).collect();
    let mean = |f: &dyn Fn(f64) -> f64| (1..=10).map(|i| f(f64::from(i))).sum::<f64>();
    near("precision", number("precision@10", &[&rows], &[]), 0.1);
    near("mean_rank", number("mean_rank", &[&rows], &[]), 50_000.5);
    near("ndcg", number("dcg@10", &[&rows], &[]), 0.1 * mean(&|i| 1.0 / libm::log2(i + 1.0)));
    let missed: f64 = (0..10).map(|i| f64::from(90_000 - i) / f64::from(100_000 - i)).product();
    near("hit_rate", number("hit_rate@10", &[&rows], &[]), 1.0 - missed);
    let rest = 9999.0 / 99_999.0;
    near("map", number("map@10", &[&rows], &[]), 0.01 * mean(&|i| (1.0 + (i - 1.0) * rest) / i));
    assert!(number("map[denominator=hits]", &[&rows], &[]) > 0.1);
    assert!(number("mrr", &[&rows], &[]) < number("mrr[ties=optimistic]", &[&rows], &[]));
    let few = &rows[..5000];
    assert!(number("err[max_grade=1]", &[few], &[]) < number("err[max_grade=1,ties=optimistic]", &[few], &[]));
}
