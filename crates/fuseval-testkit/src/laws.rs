//! The laws of states and metrics. Each function panics with what it found where a law is broken.

use fuseval_core::bytes::Reader;
use fuseval_core::random::KeyedRng;
use fuseval_core::{AnyFolds, AnyMetric, Cache, Fold, Layout, Value, folds};

use crate::generate::Table;

/// The fold that all rows of a test lie in.
fn fold() -> Fold {
    Fold::default()
}

/// The state of a table.
pub fn state_of(metric: &dyn AnyMetric, table: &Table) -> Box<dyn AnyFolds> {
    let mut state = metric.empty();
    let side = metric.label_side();
    table.with_view(side.as_ref(), |view| metric.update(state.as_mut(), fold(), view)).expect("an update");
    state
}

/// The value of a state.
pub fn value_of(metric: &dyn AnyMetric, state: &dyn AnyFolds) -> Value {
    metric.finish(state, &mut Cache::default()).expect("a value")
}

fn encoded(state: &dyn AnyFolds) -> Vec<u8> {
    folds::encoded(state, fold())
}

fn merged(a: &dyn AnyFolds, b: &dyn AnyFolds) -> Box<dyn AnyFolds> {
    let mut merged = a.copied();
    merged.merge(b).expect("a merge");
    merged
}

fn decoded(metric: &dyn AnyMetric, bytes: &[u8]) -> fuseval_core::Result<Box<dyn AnyFolds>> {
    let mut state = metric.empty();
    let (kind, version) = (state.kind(), state.version());
    let mut input = Reader::new(bytes);
    metric.decode(state.as_mut(), fold(), kind, version, &mut input)?;
    input.end()?;
    Ok(state)
}

/// Identity, commutativity, associativity and round trip, compared as bytes.
pub fn is_a_commutative_monoid(metric: &dyn AnyMetric, tables: [&Table; 3]) {
    let name = metric.id().to_string();
    let [a, b, c] = tables.map(|table| state_of(metric, table));
    let bytes = encoded(a.as_ref());
    assert_eq!(encoded(merged(a.as_ref(), metric.empty().as_ref()).as_ref()), bytes, "{name}: merge with empty");
    assert_eq!(encoded(merged(metric.empty().as_ref(), a.as_ref()).as_ref()), bytes, "{name}: empty with merge");
    let (ab, ba) = (merged(a.as_ref(), b.as_ref()), merged(b.as_ref(), a.as_ref()));
    assert_eq!(encoded(ab.as_ref()), encoded(ba.as_ref()), "{name}: commutative");
    let mut absorbed = a.copied();
    absorbed.absorb(b.copied()).expect("an absorbed state");
    assert_eq!(encoded(ab.as_ref()), encoded(absorbed.as_ref()), "{name}: absorbing is merging");
    let bc = merged(b.as_ref(), c.as_ref());
    let (left, right) = (merged(ab.as_ref(), c.as_ref()), merged(a.as_ref(), bc.as_ref()));
    assert_eq!(encoded(left.as_ref()), encoded(right.as_ref()), "{name}: associative");
    let back = decoded(metric, &bytes).expect("a round trip");
    assert_eq!(encoded(back.as_ref()), bytes, "{name}: round trip");
}

/// Damaged bytes are refused, or read as some other state; they never panic, and a cut is always noticed.
pub fn survives_hostile_bytes(metric: &dyn AnyMetric, table: &Table, rng: &mut KeyedRng) {
    let name = metric.id().to_string();
    let bytes = encoded(state_of(metric, table).as_ref());
    let cuts = (0..bytes.len().min(64)).chain(bytes.len().saturating_sub(64)..bytes.len());
    for cut in cuts {
        assert!(decoded(metric, &bytes[..cut]).is_err(), "{name}: cut at {cut} of {}", bytes.len());
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(decoded(metric, &longer).is_err(), "{name}: a byte too many");
    for _ in 0..200 {
        let mut flipped = bytes.clone();
        let bit = rng.below(8 * bytes.len() as u64) as usize;
        flipped[bit / 8] ^= 1 << (bit % 8);
        if let Ok(state) = decoded(metric, &flipped) {
            assert_eq!(encoded(state.as_ref()), flipped, "{name}: bit {bit} gives a state that is not canonical");
            // Another shape is an error, never a panic.
            let _ = state.copied().merge(metric.empty().as_ref());
        }
    }
    let (kind, version) = (metric.empty().kind(), metric.empty().version());
    let refused = |kind: &str, version: u16| {
        metric.decode(metric.empty().as_mut(), fold(), kind, version, &mut Reader::new(&bytes)).is_err()
    };
    assert!(refused("another", version), "{name}: another kind");
    assert!(refused(kind, version + 1), "{name}: a newer version");
    assert!(refused(kind, 0), "{name}: version 0");
}

/// Any partition of the atoms, any merge tree, with encode and decode at each step: the same bytes and the same value.
pub fn is_split_invariant(metric: &dyn AnyMetric, table: &Table, rng: &mut KeyedRng) {
    let name = metric.id().to_string();
    let whole = state_of(metric, table);
    // Where the atom is the row, segments of one row make any split possible.
    let atoms = match metric.profile().layout {
        Layout::Segments => table.clone(),
        Layout::Rows => Table { segments: (0..=table.rows()).collect(), ..table.clone() },
    };
    let count = atoms.segments.len() - 1;
    let parts = 1 + rng.below(6) as usize;
    let mut split: Vec<Vec<usize>> = vec![Vec::new(); parts];
    for atom in 0..count {
        split[rng.below(parts as u64) as usize].push(atom);
    }
    split.iter_mut().for_each(|atoms| atoms.reverse());
    let mut states: Vec<Box<dyn AnyFolds>> =
        split.iter().map(|part| state_of(metric, &atoms.segments_of(part))).collect();
    while states.len() > 1 {
        let a = states.swap_remove(rng.below(states.len() as u64) as usize);
        let b = states.swap_remove(rng.below(states.len() as u64) as usize);
        let (a, b) = (encoded(a.as_ref()), encoded(b.as_ref()));
        let (a, b) = (decoded(metric, &a).expect("own bytes"), decoded(metric, &b).expect("own bytes"));
        states.push(merged(a.as_ref(), b.as_ref()));
    }
    let state = states.pop().expect("one state");
    assert_eq!(encoded(state.as_ref()), encoded(whole.as_ref()), "{name}: bytes of a split");
    let value = value_of(metric, state.as_ref());
    assert_eq!(value, value_of(metric, whole.as_ref()), "{name}: value of a split");
    assert_eq!(value, value_of(metric, state.as_ref()), "{name}: finished twice");
    leaves_out_one_fold_at_a_time(metric, table, &split, &atoms);
}

/// The values without each fold are the values of all other folds.
fn leaves_out_one_fold_at_a_time(metric: &dyn AnyMetric, table: &Table, split: &[Vec<usize>], atoms: &Table) {
    let name = metric.id().to_string();
    let side = metric.label_side();
    let states = |skip: Option<usize>| {
        let mut state = metric.empty();
        for (number, part) in split.iter().enumerate().filter(|(number, _)| Some(*number) != skip) {
            let fold = Fold::new(number as u8 * 5).expect("a fold");
            let part = atoms.segments_of(part);
            part.with_view(side.as_ref(), |view| metric.update(state.as_mut(), fold, view)).expect("an update");
        }
        state
    };
    let all = states(None);
    assert_eq!(
        value_of(metric, all.as_ref()),
        value_of(metric, state_of(metric, table).as_ref()),
        "{name}: of all folds"
    );
    let without = metric.leave_one_out(all.as_ref(), &mut Cache::default()).expect("values");
    for (skip, part) in split.iter().enumerate() {
        let fold = Fold::new(skip as u8 * 5).expect("a fold");
        let used = value_of(metric, state_of(metric, &atoms.segments_of(part)).as_ref()).tally.n > 0;
        let outcome = without.iter().find(|(other, _)| *other == fold).map(|(_, outcome)| outcome);
        let expected = value_of(metric, states(Some(skip)).as_ref()).outcome;
        assert_eq!(outcome, used.then_some(&expected), "{name}: without fold {skip}");
    }
}

/// All weights doubled change no mean, area or ratio.
pub fn ignores_the_scale_of_weights(metric: &dyn AnyMetric, table: &Table) {
    let Some(weights) = &table.weights else { return };
    let doubled = Table { weights: Some(weights.iter().map(|weight| 2.0 * weight).collect()), ..table.clone() };
    let value = |table| value_of(metric, state_of(metric, table).as_ref()).outcome;
    assert_eq!(value(table), value(&doubled), "{}: weights doubled", metric.id());
}
