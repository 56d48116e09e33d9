//! Buckets: runs of whole segments, cut where the data and the plan say, whatever batches the source reads in.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use arrow_array::{Array, ArrayRef};
use fuseval_core::segment_key::Fold;
use fuseval_core::{Error, Result, Rows, SegmentKey, Source};

use crate::columns::KeyColumn;
use crate::completeness::{Completeness, scattered_error};
use crate::plan::Plan;

/// One or more whole segments; without a segment key, rows.
#[derive(Debug, Default)]
pub struct Bucket {
    /// The place among the buckets, from 0.
    pub index: u64,
    /// One array per request of the plan.
    pub columns: Vec<ArrayRef>,
    /// Where the rows come from, run by run.
    pub runs: Vec<RowRun>,
    /// The place of the first row among all evaluated rows.
    pub first_ordinal: u64,
    /// Rows of the source that were read for it, those that the filter left out included.
    pub source_rows: u64,
    /// Borders of the segments: segment i has the rows `segments[i]..segments[i + 1]`. Empty without a segment key.
    pub segments: Vec<usize>,
    /// The fold of each segment; of each row without a segment key.
    pub folds: Vec<Fold>,
}

/// Rows of one file that follow each other in a bucket.
#[derive(Debug, Clone)]
pub struct RowRun {
    file: usize,
    /// The place of the file's first row in the logical order.
    file_start: u64,
    numbers: Numbers,
}

/// Numbers of rows in their file.
#[derive(Debug, Clone)]
enum Numbers {
    /// So many from one number on.
    From(u64, usize),
    /// These, where a filter has left some out.
    List(Vec<u64>),
}

impl RowRun {
    fn new(rows: &Rows, from: usize, to: usize) -> Self {
        let numbers = rows.row_numbers.get(from..to).unwrap_or_default();
        // Without an early end, so that the compiler vectorises it.
        let follow = numbers.iter().zip(numbers.iter().skip(1)).fold(true, |all, (a, b)| all & (a + 1 == *b));
        let numbers = match numbers.first() {
            Some(first) if follow => Numbers::From(*first, numbers.len()),
            _ => Numbers::List(numbers.to_vec()),
        };
        Self { file: rows.file, file_start: rows.file_start, numbers }
    }

    fn len(&self) -> usize {
        match &self.numbers {
            Numbers::From(_, len) => *len,
            Numbers::List(list) => list.len(),
        }
    }

    fn number(&self, row: usize) -> u64 {
        match &self.numbers {
            Numbers::From(first, _) => first + row as u64,
            Numbers::List(list) => list.get(row).copied().unwrap_or_default(),
        }
    }
}

impl Bucket {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.runs.iter().map(RowRun::len).sum()
    }

    /// The place of a row in words.
    pub fn place(&self, row: usize, source: &dyn Source) -> String {
        let mut row = row;
        for run in &self.runs {
            if row < run.len() {
                return source.place(run.file, run.number(row));
            }
            row -= run.len();
        }
        "data".to_string()
    }

    /// What identifies each row wherever it is read: its place in the logical order, before any filter.
    pub fn identities(&self) -> Vec<u64> {
        let of_run = |run: &RowRun| (0..run.len()).map(|row| run.file_start + run.number(row)).collect::<Vec<_>>();
        self.runs.iter().flat_map(of_run).collect()
    }
}

/// Why reading ends early.
enum Stop {
    /// An error of the data.
    Error(Error),
    /// A segment came back after it had ended.
    Scattered,
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// Part of a bucket: some rows of one batch.
struct Piece {
    columns: Vec<ArrayRef>,
    run: RowRun,
}

/// Turns batches into buckets, one after the other.
struct Bucketer<'a> {
    plan: &'a Plan,
    target: usize,
    next_index: u64,
    next_ordinal: u64,
    read: u64,
    read_before: u64,
    pieces: Vec<Piece>,
    rows: usize,
    segments: Vec<usize>,
    folds: Vec<Fold>,
    /// The key of the segment that rows are added to, if there is one.
    open: SegmentKey,
    is_open: bool,
    ready: VecDeque<Bucket>,
    completeness: Completeness,
}

impl<'a> Bucketer<'a> {
    fn new(plan: &'a Plan, target: usize) -> Self {
        Self {
            plan,
            target: target.max(1),
            next_index: 0,
            next_ordinal: 0,
            read: 0,
            read_before: 0,
            pieces: Vec::new(),
            rows: 0,
            segments: Vec::new(),
            folds: Vec::new(),
            open: SegmentKey::new(),
            is_open: false,
            ready: VecDeque::new(),
            completeness: Completeness::default(),
        }
    }

    /// Takes the next batch. A bucket is cut at the first segment border at or after the target number of rows.
    fn push(&mut self, rows: &Rows) -> std::result::Result<(), Stop> {
        if self.plan.segment.is_empty() {
            return Ok(self.push_rows(rows)?);
        }
        let keys = self.keys(rows)?;
        let mut key = SegmentKey::new();
        let mut start = 0;
        for row in borders(&keys, rows.len()) {
            key_of(&keys, row, &mut key);
            if row == 0 && self.is_open && self.open == key {
                continue;
            }
            if self.rows + row - start >= self.target {
                self.take(rows, start, row);
                self.cut()?;
                start = row;
            }
            self.end_segment()?;
            self.segments.push(self.rows + row - start);
            self.folds.push(key.fold());
            std::mem::swap(&mut self.open, &mut key);
            self.is_open = true;
        }
        self.take(rows, start, rows.len());
        Ok(())
    }

    /// Without a segment key every row is a unit of its own.
    fn push_rows(&mut self, rows: &Rows) -> Result<()> {
        let mut start = 0;
        while start < rows.len() {
            let room = self.target.saturating_sub(self.rows).max(1);
            let end = (start + room).min(rows.len());
            let numbers = rows.row_numbers.get(start..end).unwrap_or_default();
            self.folds.extend(numbers.iter().map(|number| Fold::of_place(rows.file_start + number)));
            self.take(rows, start, end);
            if self.rows >= self.target {
                self.cut()?;
            }
            start = end;
        }
        Ok(())
    }

    /// Ends the last bucket, and finds segments that came back.
    fn finish(&mut self) -> std::result::Result<(), Stop> {
        self.end_segment()?;
        self.cut()?;
        if self.plan.needs_whole_segments() && self.completeness.is_repeated() {
            return Err(Stop::Scattered);
        }
        Ok(())
    }

    /// The next bucket that is complete.
    fn next(&mut self) -> Option<Bucket> {
        self.ready.pop_front()
    }

    /// The number of different segments; `None` without a segment key.
    fn segment_count(&mut self) -> Option<u64> {
        (!self.plan.segment.is_empty()).then(|| self.completeness.distinct())
    }

    fn buckets(&self) -> u64 {
        self.next_index
    }

    fn row_count(&self) -> u64 {
        self.next_ordinal
    }

    fn keys(&self, rows: &Rows) -> Result<Vec<KeyColumn>> {
        self.plan.segment.iter().filter_map(|column| rows.columns.get(*column)).map(KeyColumn::new).collect()
    }

    fn end_segment(&mut self) -> std::result::Result<(), Stop> {
        if !std::mem::take(&mut self.is_open) {
            return Ok(());
        }
        if !self.plan.needs_whole_segments() {
            self.completeness.seen(&self.open);
            return Ok(());
        }
        if self.completeness.ended(&self.open) { Err(Stop::Scattered) } else { Ok(()) }
    }

    fn take(&mut self, rows: &Rows, from: usize, to: usize) {
        if from == to {
            return;
        }
        let columns = rows.columns.iter().map(|column| column.slice(from, to - from)).collect();
        let last = to.checked_sub(1).and_then(|last| rows.row_numbers.get(last));
        self.read = rows.file_start + last.map_or(0, |last| last + 1);
        self.pieces.push(Piece { columns, run: RowRun::new(rows, from, to) });
        self.rows += to - from;
    }

    fn cut(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let pieces = std::mem::take(&mut self.pieces);
        let width = pieces.first().map_or(0, |piece| piece.columns.len());
        let mut columns = Vec::with_capacity(width);
        for column in 0..width {
            let parts: Vec<&dyn Array> =
                pieces.iter().filter_map(|piece| piece.columns.get(column)).map(AsRef::as_ref).collect();
            let joined = arrow_select::concat::concat(&parts).map_err(|error| {
                Error::data("columns that can be joined", error.to_string(), "use smaller buckets: `--bucket-rows`")
            })?;
            columns.push(joined);
        }
        let mut segments = std::mem::take(&mut self.segments);
        if !self.plan.segment.is_empty() {
            segments.push(self.rows);
        }
        self.ready.push_back(Bucket {
            index: self.next_index,
            columns,
            runs: pieces.into_iter().map(|piece| piece.run).collect(),
            first_ordinal: self.next_ordinal,
            source_rows: self.read.saturating_sub(self.read_before),
            segments,
            folds: std::mem::take(&mut self.folds),
        });
        self.read_before = self.read;
        self.next_index += 1;
        self.next_ordinal += self.rows as u64;
        self.rows = 0;
        Ok(())
    }
}

/// The rows at which a key begins that differs from the one before; the first row is always among them.
fn borders(keys: &[KeyColumn], rows: usize) -> Vec<usize> {
    let mut changes = Vec::new();
    match keys {
        [key] => key.each_change(|row| changes.push(row)),
        keys => {
            keys.iter().for_each(|key| key.each_change(|row| changes.push(row)));
            changes.sort_unstable();
            changes.dedup();
        }
    }
    if rows > 0 {
        changes.insert(0, 0);
    }
    changes
}

pub(crate) fn key_of(keys: &[KeyColumn], row: usize, key: &mut SegmentKey) {
    key.clear();
    keys.iter().for_each(|column| column.with_text(row, |text| key.push(text)));
}

/// What was read.
pub(crate) struct Reading {
    pub(crate) rows: u64,
    pub(crate) buckets: u64,
    pub(crate) segments: Option<u64>,
    pub(crate) read_time: Duration,
}

/// Reads all of the source and hands every bucket to `emit`, until it says stop or an error occurs; an error comes with the index of the bucket in which
/// it lies.
pub(crate) fn read(
    plan: &Plan,
    source: &dyn Source,
    target: usize,
    mut emit: impl FnMut(Bucket) -> bool,
) -> std::result::Result<Reading, (u64, Error)> {
    let mut bucketer = Bucketer::new(plan, target);
    let mut read_time = Duration::ZERO;
    let started = Instant::now();
    let scan = fuseval_core::Scan { requests: plan.requests.clone() };
    let mut batches = source.scan(&scan).map_err(|error| (0, error))?;
    read_time += started.elapsed();
    loop {
        let started = Instant::now();
        let batch = batches.next();
        let pushed = match &batch {
            Some(Ok(rows)) => bucketer.push(rows),
            Some(Err(error)) => Err(Stop::Error(error.clone())),
            None => bucketer.finish(),
        };
        read_time += started.elapsed();
        while let Some(bucket) = bucketer.next() {
            if !emit(bucket) {
                return Ok(reading(&mut bucketer, read_time));
            }
        }
        match pushed {
            Ok(()) => {}
            Err(Stop::Error(error)) => return Err((bucketer.buckets(), error)),
            Err(Stop::Scattered) => return Err((bucketer.buckets(), scattered_error(plan, source))),
        }
        if batch.is_none() {
            return Ok(reading(&mut bucketer, read_time));
        }
    }
}

fn reading(bucketer: &mut Bucketer<'_>, read_time: Duration) -> Reading {
    Reading { rows: bucketer.row_count(), buckets: bucketer.buckets(), segments: bucketer.segment_count(), read_time }
}
