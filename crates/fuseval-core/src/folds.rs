//! The states of one cell, fold by fold: what is kept for each (experiment, head, slice, state).
//!
//! ```text
//!   present  0b…0010_0110      one bit per fold
//!   states   [fold 1][fold 2][fold 5]      side by side, without a header or a pointer each
//! ```

use std::any::Any;

use crate::bytes::Writer;
use crate::state::wrong_kind;
use crate::{Error, Fold, Outcome, Result, State};

/// The states of the folds that have data.
#[derive(Debug, Clone)]
pub struct Folds<S> {
    present: u32,
    states: Vec<S>,
}

impl<S> Default for Folds<S> {
    fn default() -> Self {
        Self { present: 0, states: Vec::new() }
    }
}

impl<S: State> Folds<S> {
    fn bit(fold: Fold) -> u32 {
        1 << (fold.number() & 31)
    }

    /// The place of a fold's state among those that are there.
    fn place(&self, fold: Fold) -> usize {
        (self.present & (Self::bit(fold) - 1)).count_ones() as usize
    }

    /// The state of a fold, if it has data.
    pub fn get(&self, fold: Fold) -> Option<&S> {
        if self.present & Self::bit(fold) == 0 { None } else { self.states.get(self.place(fold)) }
    }

    /// The state of a fold, made if it is not there yet.
    pub fn state(&mut self, fold: Fold, empty: impl FnOnce() -> S) -> &mut S {
        let place = self.place(fold);
        if self.present & Self::bit(fold) == 0 {
            self.present |= Self::bit(fold);
            // Exactly as many places as are used: there are many cells, and few of them grow twice.
            self.states.reserve_exact(1);
            self.states.insert(place, empty());
        }
        // The place exists: the bit is set.
        #[allow(clippy::indexing_slicing)]
        &mut self.states[place]
    }

    /// The folds that have data, with their states, in the order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Fold, &S)> {
        (0u8..32).filter_map(Fold::new).filter(|fold| self.present & Self::bit(*fold) != 0).zip(&self.states)
    }

    /// The states in the order of their folds.
    pub fn states(&self) -> &[S] {
        &self.states
    }

    /// Adds the states of other folds.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        for (fold, state) in other.iter() {
            if self.present & Self::bit(fold) == 0 {
                self.state(fold, || state.clone());
            } else {
                self.state(fold, || state.clone()).merge(state)?;
            }
        }
        S::settle(&mut self.states);
        Ok(())
    }

    /// Adds the states of other folds that are not needed any more.
    pub fn absorb(&mut self, other: Self) -> Result<()> {
        let folds: Vec<Fold> = other.iter().map(|(fold, _)| fold).collect();
        for (fold, state) in folds.into_iter().zip(other.states) {
            let place = self.place(fold);
            match self.states.get_mut(place).filter(|_| self.present & Self::bit(fold) != 0) {
                Some(own) => own.absorb(state)?,
                None => {
                    self.state(fold, || state);
                }
            }
        }
        S::settle(&mut self.states);
        Ok(())
    }

    /// All folds as one state; `None` without data. Merged in pairs, so that large states are copied few times.
    pub fn merged(&self) -> Result<Option<S>> {
        let mut states: Vec<S> = Vec::with_capacity(self.states.len().div_ceil(2));
        for pair in self.states.chunks(2) {
            let Some(first) = pair.first() else { continue };
            let mut state = first.clone();
            pair.iter().skip(1).try_for_each(|other| state.merge(other))?;
            states.push(state);
        }
        while states.len() > 1 {
            let mut merged = Vec::with_capacity(states.len().div_ceil(2));
            let mut rest = states.into_iter();
            while let Some(mut state) = rest.next() {
                if let Some(other) = rest.next() {
                    state.merge(&other)?;
                }
                merged.push(state);
            }
            states = merged;
        }
        Ok(states.pop())
    }

    /// For each fold what `finish` makes of all the others. States before and after a fold are merged once each.
    pub fn without_each(&self, empty: impl Fn() -> S, finish: impl Fn(&S) -> Outcome) -> Result<Vec<Outcome>> {
        let mut after = vec![empty()];
        for state in self.states.iter().skip(1).rev() {
            let mut sum = state.clone();
            if let Some(last) = after.last() {
                sum.merge(last)?;
            }
            after.push(sum);
        }
        let mut before = empty();
        let mut outcomes = Vec::with_capacity(self.states.len());
        for (state, mut others) in self.states.iter().zip(after.into_iter().rev()) {
            others.merge(&before)?;
            outcomes.push(finish(&others));
            before.merge(state)?;
        }
        Ok(outcomes)
    }
}

/// What the metrics that share a state have made of its folds, so that each thing is made once.
#[derive(Default)]
pub struct Cache {
    made: Vec<Box<dyn Any>>,
    threads: usize,
}

impl Cache {
    /// A cache for states that may be worked on by so many threads, while nothing else is done.
    pub fn with_threads(threads: usize) -> Self {
        Self { threads, ..Self::default() }
    }

    /// How many threads may work on a large state. None of them may show in what is made of it.
    pub fn threads(&self) -> usize {
        self.threads.max(1)
    }

    /// The thing of type `T`, made by the first who asks.
    pub fn get_or_make<T: 'static>(&mut self, make: impl FnOnce() -> Result<T>) -> Result<&T> {
        let place = match self.made.iter().position(|made| made.is::<T>()) {
            Some(place) => place,
            None => {
                self.made.push(Box::new(make()?));
                self.made.len() - 1
            }
        };
        let made = self.made.get(place).and_then(|made| made.downcast_ref());
        made.ok_or_else(|| Error::defect("what was made of a state", "something else"))
    }
}

/// Folds whose kind of state is not known to the caller. Implemented for every [`State`].
pub trait AnyFolds: Send {
    /// The name of the kind of state.
    fn kind(&self) -> &'static str;
    /// The version of the bytes that `encode` writes.
    fn version(&self) -> u16;
    /// The folds that have data, in the order of their numbers.
    fn present(&self) -> Vec<Fold>;
    /// Adds the states of other folds; another kind is an error.
    fn merge(&mut self, other: &dyn AnyFolds) -> Result<()>;
    /// Adds the states of other folds that are not needed any more; another kind is an error.
    fn absorb(&mut self, other: Box<dyn AnyFolds>) -> Result<()>;
    /// As [`State::settle`].
    fn settle(&mut self);
    /// Writes the state of a fold, if it has data; as [`State::encode`].
    fn encode(&self, fold: Fold, out: &mut Writer);
    /// A copy.
    fn copied(&self) -> Box<dyn AnyFolds>;
    /// The folds themselves.
    fn as_any(&self) -> &dyn Any;
    /// The folds themselves, mutable.
    fn as_any_mut(&mut self) -> &mut dyn Any;
    /// The folds themselves, given away.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

impl<S: State> AnyFolds for Folds<S> {
    fn kind(&self) -> &'static str {
        S::KIND
    }

    fn version(&self) -> u16 {
        S::VERSION
    }

    fn present(&self) -> Vec<Fold> {
        self.iter().map(|(fold, _)| fold).collect()
    }

    fn merge(&mut self, other: &dyn AnyFolds) -> Result<()> {
        match other.as_any().downcast_ref::<Self>() {
            Some(other) => Self::merge(self, other),
            None => Err(wrong_kind(S::KIND, other.kind())),
        }
    }

    fn absorb(&mut self, other: Box<dyn AnyFolds>) -> Result<()> {
        let kind = other.kind();
        match other.into_any().downcast::<Self>() {
            Ok(other) => Self::absorb(self, *other),
            Err(_) => Err(wrong_kind(S::KIND, kind)),
        }
    }

    fn settle(&mut self) {
        S::settle(&mut self.states);
    }

    fn encode(&self, fold: Fold, out: &mut Writer) {
        if let Some(state) = self.get(fold) {
            state.encode(out);
        }
    }

    fn copied(&self) -> Box<dyn AnyFolds> {
        Box::new(self.clone())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The bytes of the state of one fold, for comparison and storage.
pub fn encoded(folds: &dyn AnyFolds, fold: Fold) -> Vec<u8> {
    let mut out = Writer::new();
    folds.encode(fold, &mut out);
    out.into_bytes()
}
