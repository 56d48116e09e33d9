//! Buckets: runs of whole segments, cut where the data and the plan say, whatever batches the source reads in.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::{Duration, Instant};

use arrow_array::{Array, ArrayRef, BooleanArray};
use fuseval_core::segment_key::Fold;
use fuseval_core::source::{Cluster, KeyFilter, Numbers, Request};
use fuseval_core::{Error, Result, Rows, Scan, SegmentKey, Source};

use crate::columns::KeyColumn;
use crate::completeness::Completeness;
use crate::plan::{Outline, Plan};

/// One or more whole segments; without a segment key, rows.
#[derive(Debug, Default)]
pub struct Bucket {
    /// The place among the buckets, from 0.
    pub index: u64,
    /// One array per request of the plan.
    pub columns: Vec<ArrayRef>,
    /// The place of each row in the logical order, before any filter: what identifies a row wherever it is read.
    pub places: Numbers,
    /// The place of each row among all evaluated rows, in logical order.
    pub ordinals: Numbers,
    /// Rows of the source that were read for it, those that the filter left out included.
    pub source_rows: u64,
    /// Borders of the segments: segment i has the rows `segments[i]..segments[i + 1]`. Empty without a segment key.
    pub segments: Vec<usize>,
    /// The fold of each segment; of each row without a segment key.
    pub folds: Vec<Fold>,
}

impl Bucket {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.places.len()
    }

    /// The place after the last row.
    pub fn end(&self) -> u64 {
        self.places.last().map_or(0, |last| last + 1)
    }

    /// The place of a row in words.
    pub fn place(&self, row: usize, source: &dyn Source) -> String {
        source.place(self.places.get(row))
    }
}

/// What part of the data is read, and in which order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extent {
    /// The segments that begin at these places of the logical order; without a segment key, the rows.
    pub places: Range<u64>,
    /// Whether segments are brought together by their key.
    pub clustering: Option<Clustering>,
    /// So many buckets are done already; the last of them ends before this place.
    pub done: Option<(u64, u64)>,
}

impl Default for Extent {
    /// All of the data, in logical order.
    fn default() -> Self {
        Self { places: 0..u64::MAX, clustering: None, done: None }
    }
}

/// How segments are brought together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Clustering {
    /// The bytes it may hold in memory.
    pub memory: u64,
    /// Only one of so many parts of the keys: (part, parts).
    pub part: Option<(u64, u64)>,
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

/// Turns batches into buckets, one after the other.
struct Bucketer<'a> {
    plan: &'a Plan,
    source: &'a dyn Source,
    target: usize,
    /// Segments that begin from here on are not ours.
    until: u64,
    /// The key of the row before our first one, whose segment is not ours either.
    before: Option<SegmentKey>,
    /// What the segment key's columns are in the batches.
    key_columns: Vec<usize>,
    clustered: bool,
    next_index: u64,
    /// The place of the next row among all evaluated rows, once it is known.
    next_ordinal: Option<u64>,
    /// Rows that are not ours and come from the place of our first row.
    same_place: u64,
    rows_read: u64,
    read: u64,
    read_before: u64,
    /// The columns of the bucket in the making, batch by batch.
    pieces: Vec<Vec<ArrayRef>>,
    places: Numbers,
    ordinals: Numbers,
    segments: Vec<usize>,
    folds: Vec<Fold>,
    /// The key of the segment that rows are added to, if there is one.
    open: SegmentKey,
    is_open: bool,
    is_over: bool,
    ready: VecDeque<Bucket>,
    completeness: Completeness,
}

impl<'a> Bucketer<'a> {
    fn new(plan: &'a Plan, source: &'a dyn Source, target: usize, extent: &Extent) -> Self {
        let start = if extent.clustering.is_some() { 0 } else { extent.places.start };
        Self {
            plan,
            source,
            target: target.max(1),
            until: extent.places.end,
            before: None,
            key_columns: plan.segment.clone(),
            clustered: extent.clustering.is_some(),
            next_index: 0,
            next_ordinal: None,
            same_place: 0,
            rows_read: 0,
            read: start,
            read_before: start,
            pieces: Vec::new(),
            places: Numbers::default(),
            ordinals: Numbers::default(),
            segments: Vec::new(),
            folds: Vec::new(),
            open: SegmentKey::new(),
            is_open: false,
            is_over: false,
            ready: VecDeque::new(),
            completeness: if extent.clustering.is_some() { Completeness::together() } else { Completeness::default() },
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
            if let Some(before) = &self.before {
                if *before == key {
                    continue;
                }
                self.before = None;
                start = row;
                // Items of one list that stand before ours have our place too.
                let place = rows.places.get(row);
                self.same_place = (0..row).rev().take_while(|other| rows.places.get(*other) == place).count() as u64;
            }
            if row == 0 && self.is_open && self.open == key {
                continue;
            }
            if !self.clustered && rows.places.get(row) >= self.until {
                self.is_over = true;
                self.take(rows, start, row)?;
                break;
            }
            if self.places.len() + row - start >= self.target && self.may_cut(rows, row) {
                self.take(rows, start, row)?;
                self.cut()?;
                start = row;
            }
            self.end_segment()?;
            self.segments.push(self.places.len() + row - start);
            self.folds.push(key.fold());
            std::mem::swap(&mut self.open, &mut key);
            self.is_open = true;
        }
        if self.before.is_none() && !self.is_over {
            self.take(rows, start, rows.len())?;
        }
        Ok(())
    }

    /// Without a segment key every row is a unit of its own.
    fn push_rows(&mut self, rows: &Rows) -> Result<()> {
        let mut start = 0;
        while start < rows.len() {
            if self.places.len() >= self.target && self.may_cut(rows, start) {
                self.cut()?;
            }
            let room = self.target.saturating_sub(self.places.len()).max(1);
            let mut end = (start + room).min(rows.len());
            while end < rows.len() && !self.may_cut(rows, end) {
                end += 1;
            }
            self.folds.extend(rows.places.slice(start..end).iter().map(Fold::of_place));
            self.take(rows, start, end)?;
            start = end;
        }
        Ok(())
    }

    /// Whether a bucket may end before a row: rows that come from one place (the items of a list) stay together, so that
    /// reading can go on from any border.
    fn may_cut(&self, rows: &Rows, row: usize) -> bool {
        let before = match row.checked_sub(1) {
            Some(before) => Some(rows.places.get(before)),
            None => self.places.last(),
        };
        before != Some(rows.places.get(row))
    }

    /// Ends the bucket in the making at a border.
    fn close(&mut self) -> std::result::Result<(), Stop> {
        self.end_segment()?;
        Ok(self.cut()?)
    }

    /// Ends the last bucket, and finds segments that came back.
    fn finish(&mut self) -> std::result::Result<(), Stop> {
        self.close()?;
        if self.plan.needs_whole_segments() && self.completeness.is_repeated() {
            return Err(Stop::Scattered);
        }
        Ok(())
    }

    /// The next bucket that is complete.
    fn next(&mut self) -> Option<Bucket> {
        self.ready.pop_front()
    }

    fn keys(&self, rows: &Rows) -> Result<Vec<KeyColumn>> {
        self.key_columns.iter().filter_map(|column| rows.columns.get(*column)).map(KeyColumn::new).collect()
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

    fn take(&mut self, rows: &Rows, from: usize, to: usize) -> Result<()> {
        if from == to {
            return Ok(());
        }
        let columns = rows.columns.iter().map(|column| column.slice(from, to - from)).collect();
        self.pieces.push(columns);
        let places = rows.places.slice(from..to);
        self.read =
            if self.clustered { self.read + (to - from) as u64 } else { places.last().map_or(0, |last| last + 1) };
        let ordinals = match &rows.ordinals {
            Some(ordinals) => ordinals.slice(from..to),
            None => {
                let first = match self.next_ordinal {
                    Some(next) => next,
                    None => self.rows_before(places.get(0))? + self.same_place,
                };
                self.next_ordinal = Some(first + (to - from) as u64);
                Numbers::Range(first..first + (to - from) as u64)
            }
        };
        self.rows_read += (to - from) as u64;
        self.places.append(&places);
        self.ordinals.append(&ordinals);
        Ok(())
    }

    /// How many evaluated rows there are before a place, where an experiment asks for it.
    fn rows_before(&self, place: u64) -> Result<u64> {
        if place == 0 || !self.plan.needs_ordinals() {
            return Ok(0);
        }
        let scan = Scan::new(Vec::new()).at(0..place);
        self.source.scan(&scan)?.map(|rows| Ok(rows?.len() as u64)).sum()
    }

    fn cut(&mut self) -> Result<()> {
        let rows = self.places.len();
        if rows == 0 {
            return Ok(());
        }
        let pieces = std::mem::take(&mut self.pieces);
        let width = pieces.first().map_or(0, Vec::len);
        let mut columns = Vec::with_capacity(width);
        for column in 0..width {
            let parts: Vec<&dyn Array> =
                pieces.iter().filter_map(|piece| piece.get(column)).map(AsRef::as_ref).collect();
            let joined = arrow_select::concat::concat(&parts).map_err(|error| {
                Error::data("columns that can be joined", error.to_string(), "use smaller buckets: `--bucket-rows`")
            })?;
            columns.push(joined);
        }
        let mut segments = std::mem::take(&mut self.segments);
        if !self.plan.segment.is_empty() {
            segments.push(rows);
        }
        self.ready.push_back(Bucket {
            index: self.next_index,
            columns,
            places: std::mem::take(&mut self.places),
            ordinals: std::mem::take(&mut self.ordinals),
            source_rows: self.read.saturating_sub(self.read_before),
            segments,
            folds: std::mem::take(&mut self.folds),
        });
        self.read_before = self.read;
        self.next_index += 1;
        Ok(())
    }

    fn reading(self, read_time: Duration) -> Reading {
        Reading {
            rows: self.rows_read,
            buckets: self.next_index,
            segments: (!self.plan.segment.is_empty()).then_some(self.completeness),
            read_time,
        }
    }
}

/// The rows at which a key begins that differs from the one before; the first row is always among them.
pub(crate) fn borders(keys: &[KeyColumn], rows: usize) -> Vec<usize> {
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
    /// The segments, with a segment key.
    pub(crate) segments: Option<Completeness>,
    pub(crate) read_time: Duration,
}

/// Why reading failed, and the index of the bucket in which that lies.
#[derive(Debug)]
pub(crate) enum Unread {
    Error(u64, Error),
    /// A segment came back after it had ended.
    Scattered(u64),
}

/// Reads part of a source and hands every bucket to `emit`, until it says stop or an error occurs.
pub(crate) fn read(
    plan: &Plan,
    source: &dyn Source,
    target: usize,
    extent: &Extent,
    mut emit: impl FnMut(Bucket) -> bool,
) -> std::result::Result<Reading, Unread> {
    let mut bucketer = Bucketer::new(plan, source, target, extent);
    let mut read_time = Duration::ZERO;
    let started = Instant::now();
    let begun = begin(&mut bucketer, plan, source, extent);
    read_time += started.elapsed();
    let mut batches = begun.map_err(|stop| unread(&bucketer, stop))?;
    loop {
        let started = Instant::now();
        let batch = batches.next();
        let pushed = match &batch {
            Some(Ok(rows)) => bucketer.push(rows),
            Some(Err(error)) => Err(Stop::Error(error.clone())),
            None => Ok(()),
        };
        let is_over = batch.is_none() || bucketer.is_over;
        let pushed = if is_over { pushed.and_then(|()| bucketer.finish()) } else { pushed };
        read_time += started.elapsed();
        while let Some(bucket) = bucketer.next() {
            if !emit(bucket) {
                return Ok(bucketer.reading(read_time));
            }
        }
        pushed.map_err(|stop| unread(&bucketer, stop))?;
        if is_over {
            return Ok(bucketer.reading(read_time));
        }
    }
}

/// Cuts the rows of a source into buckets by its segment key, with nothing else asked of them: all columns of `columns`, brought
/// together by `segment`. Returns the number of rows, buckets and segments.
pub fn buckets(
    source: &dyn Source,
    columns: &[String],
    segment: &[String],
    target: usize,
    clustering: Clustering,
    mut emit: impl FnMut(Bucket) -> Result<()>,
) -> Result<(u64, u64, u64)> {
    let outline = Outline { segment: segment.to_vec(), ..Outline::default() };
    let mut plan = outline.plan(&|id, _| Err(Error::defect("no metric", id.to_string())))?;
    plan.requests = columns.iter().cloned().map(Request::Column).collect();
    for name in segment {
        let place = columns.iter().position(|column| column == name);
        let Some(place) = place else { return Err(fuseval_core::source::no_such_column(name, columns)) };
        let data_type = source.column_type(name)?;
        if !crate::columns::is_scalar(&data_type) {
            let help = "choose another column";
            return Err(Error::data(
                "a column of single values to cluster by",
                format!("`{name}` of type {data_type}"),
                help,
            ));
        }
        plan.segment.push(place);
    }
    let mut failure = None;
    let extent = Extent { clustering: Some(clustering), ..Extent::default() };
    let reading = read(&plan, source, target, &extent, |bucket| match emit(bucket) {
        Ok(()) => true,
        Err(error) => {
            failure = Some(error);
            false
        }
    });
    match (failure, reading) {
        (Some(error), _) | (None, Err(Unread::Error(_, error))) => Err(error),
        (None, Err(Unread::Scattered(_))) => Err(Error::defect("rows that come by key", "a key that came back")),
        (None, Ok(mut reading)) => {
            let segments = reading.segments.as_mut().map_or(0, Completeness::distinct);
            Ok((reading.rows, reading.buckets, segments))
        }
    }
}

fn unread(bucketer: &Bucketer<'_>, stop: Stop) -> Unread {
    match stop {
        Stop::Error(error) => Unread::Error(bucketer.next_index, error),
        Stop::Scattered => Unread::Scattered(bucketer.next_index),
    }
}

/// Begins to read. Of buckets that are done only the keys are read, so that everything after them is as if all had been.
fn begin(
    bucketer: &mut Bucketer<'_>,
    plan: &Plan,
    source: &dyn Source,
    extent: &Extent,
) -> std::result::Result<Box<dyn Iterator<Item = Result<Rows>> + Send>, Stop> {
    let keys: Vec<Request> = plan.segment.iter().filter_map(|column| plan.requests.get(*column)).cloned().collect();
    let mut scan = Scan::new(plan.requests.clone());
    if let Some(Clustering { memory, part }) = extent.clustering {
        let kept = part.map(|part| KeyFilter::new(move |key| in_part(key, part)));
        scan.cluster = Some(Cluster { by: plan.segment.clone(), memory, kept });
        return Ok(source.scan(&scan)?);
    }
    let mut start = extent.places.start;
    if !keys.is_empty() {
        bucketer.before = key_before(source, &keys, start)?;
    }
    if let Some((buckets, end)) = extent.done {
        bucketer.key_columns = (0..keys.len()).collect();
        for rows in source.scan(&Scan::new(keys).at(start..end))? {
            bucketer.push(&rows?)?;
            bucketer.ready.clear();
        }
        bucketer.close()?;
        bucketer.ready.clear();
        if bucketer.next_index != buckets {
            let found = format!("{} buckets before {}", bucketer.next_index, source.place(end));
            return Err(Stop::Error(Error::partials(
                format!("{buckets} buckets, as in the ledger"),
                found,
                "start anew",
            )));
        }
        bucketer.key_columns.clone_from(&plan.segment);
        start = end;
    }
    // Segments of ours may end after the last place.
    let end = if plan.segment.is_empty() { extent.places.end } else { u64::MAX };
    Ok(source.scan(&scan.at(start..end))?)
}

/// The rows whose keys fall into a part of all keys: (part, parts).
fn in_part(key: &[ArrayRef], (part, parts): (u64, u64)) -> Result<BooleanArray> {
    let rows = key.first().map_or(0, |column| column.len());
    let keys: Vec<KeyColumn> = key.iter().map(KeyColumn::new).collect::<Result<_>>()?;
    let mut text = SegmentKey::new();
    let mut inside = |row: usize| {
        key_of(&keys, row, &mut text);
        (text.fingerprint() % u128::from(parts.max(1))) as u64 == part
    };
    Ok((0..rows).map(|row| Some(inside(row))).collect())
}

/// The key of the last evaluated row before a place.
fn key_before(source: &dyn Source, keys: &[Request], place: u64) -> Result<Option<SegmentKey>> {
    let mut step = 1;
    let mut end = place;
    while end > 0 {
        let start = end.saturating_sub(step);
        let mut last = None;
        for rows in source.scan(&Scan::new(keys.to_vec()).at(start..end))? {
            last = Some(rows?);
        }
        if let Some(rows) = last {
            let keys: Vec<KeyColumn> = rows.columns.iter().map(KeyColumn::new).collect::<Result<_>>()?;
            let mut key = SegmentKey::new();
            key_of(&keys, rows.len().saturating_sub(1), &mut key);
            return Ok(Some(key));
        }
        end = start;
        step = step.saturating_mul(1 << 12);
    }
    Ok(None)
}
