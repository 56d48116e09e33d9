//! Work on many files at a time, where most of it is waiting: a bounded number of threads take the next one each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fuseval_core::{Error, Result};

/// The files on which work is under way at a time.
const AT_A_TIME: usize = 16;

/// The results in the order of the items, or the error of the first item that has one.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> Result<R> + Sync) -> Result<Vec<R>> {
    if items.len() < 2 {
        return items.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..items.len().min(AT_A_TIME) {
            scope.spawn(|| {
                loop {
                    let place = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(place) else { break };
                    let result = work(item);
                    if result.is_err() {
                        // The items before this one are under way already, so the first error is among them or this one.
                        next.store(items.len(), Ordering::Relaxed);
                    }
                    results.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    let is_short = results.len() < items.len();
    let results: Vec<R> = results.into_iter().map(|(_, result)| result).collect::<Result<_>>()?;
    if is_short { Err(Error::defect("a result for each file", "fewer")) } else { Ok(results) }
}
