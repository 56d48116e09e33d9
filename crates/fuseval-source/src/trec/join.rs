//! Qrels and run joined to rows, in arrays of a few thousand rows.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::builder::StringBuilder;
use arrow_array::{ArrayRef, BooleanArray, Float64Array};
use fuseval_core::Rows;
use fuseval_core::source::Numbers;

use super::TrecTopics;
use super::topics::{Document, Topics};
use crate::session::BATCH_ROWS;

/// A chunk ends after so many bytes of text, far below what the offsets of its arrays can hold.
const CHUNK_BYTES: usize = 16 << 20;

/// The line that a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of the run file.
    Run(u64),
    /// A line of the qrels file: the document was not retrieved.
    Qrels(u64),
}

/// Some rows, in the columns of the source.
#[derive(Debug)]
pub(crate) struct Chunk {
    columns: [ArrayRef; 5],
    start: u64,
    len: usize,
}

/// All rows.
#[derive(Debug, Default)]
pub(crate) struct Joined {
    pub(crate) chunks: Vec<Chunk>,
    pub(crate) places: Vec<Place>,
    pub(crate) topics: TrecTopics,
}

/// A row to be.
struct Row<'a> {
    topic: &'a str,
    docno: &'a str,
    grade: Option<i32>,
    score: Option<f64>,
    place: Place,
}

/// The columns of the next chunk.
#[derive(Default)]
struct Columns {
    topic: StringBuilder,
    docno: StringBuilder,
    relevance: Vec<f64>,
    judged: Vec<bool>,
    score: Vec<Option<f64>>,
    bytes: usize,
}

/// Joins topic by topic; with `complete` also topics without retrieved documents. Only the first `depth` retrieved
/// documents of a topic count as retrieved.
pub(crate) fn joined(qrels: &Topics<'_, i32>, run: &Topics<'_, f64>, complete: bool, depth: Option<usize>) -> Joined {
    let mut joined = Joined::default();
    let mut columns = Columns::default();
    for (topic, judged) in qrels {
        let retrieved = run.get(topic);
        if retrieved.is_none() {
            joined.topics.qrels_only += 1;
            if !complete {
                continue;
            }
        }
        joined.topics.evaluated += 1;
        let retrieved = retrieved.map(Vec::as_slice).unwrap_or_default();
        for row in rows_of(topic, judged, &ranked(retrieved, depth)) {
            joined.push(row, &mut columns);
        }
    }
    joined.topics.run_only = run.keys().filter(|topic| !qrels.contains_key(*topic)).count();
    joined.end_chunk(&mut columns);
    joined
}

/// The first documents in trec_eval's order: by descending score, then by descending id.
fn ranked<'a>(retrieved: &'a [Document<'a, f64>], depth: Option<usize>) -> Vec<&'a Document<'a, f64>> {
    let mut ranked: Vec<_> = retrieved.iter().collect();
    ranked.sort_by(|a, b| {
        let by_score = b.value.partial_cmp(&a.value).unwrap_or(Ordering::Equal);
        by_score.then_with(|| b.docno.cmp(a.docno))
    });
    ranked.truncate(depth.unwrap_or(usize::MAX));
    ranked
}

/// The rows of a topic: retrieved documents as ranked, then the other judged ones by ascending id.
fn rows_of<'a>(topic: &'a str, judged: &'a [Document<'a, i32>], ranked: &[&'a Document<'a, f64>]) -> Vec<Row<'a>> {
    let mut is_retrieved = vec![false; judged.len()];
    let mut rows = Vec::with_capacity(ranked.len() + judged.len());
    for document in ranked {
        let found = judged.binary_search_by(|judgement| judgement.docno.cmp(document.docno)).ok();
        if let Some(flag) = found.and_then(|place| is_retrieved.get_mut(place)) {
            *flag = true;
        }
        let grade = found.and_then(|place| judged.get(place)).map(|judgement| judgement.value);
        let (docno, score, place) = (document.docno, Some(document.value), Place::Run(document.line));
        rows.push(Row { topic, docno, grade, score, place });
    }
    let others = judged.iter().zip(is_retrieved).filter(|(_, is_retrieved)| !is_retrieved);
    rows.extend(others.map(|(judgement, _)| {
        let (docno, grade, place) = (judgement.docno, Some(judgement.value), Place::Qrels(judgement.line));
        Row { topic, docno, grade, score: None, place }
    }));
    rows
}

impl Joined {
    fn push(&mut self, row: Row<'_>, columns: &mut Columns) {
        if columns.score.len() >= BATCH_ROWS || columns.bytes >= CHUNK_BYTES {
            self.end_chunk(columns);
        }
        let grade = row.grade.filter(|grade| *grade >= 0);
        columns.topic.append_value(row.topic);
        columns.docno.append_value(row.docno);
        columns.relevance.push(grade.map_or(0.0, f64::from));
        columns.judged.push(grade.is_some());
        columns.score.push(row.score);
        columns.bytes += row.topic.len() + row.docno.len();
        self.places.push(row.place);
    }

    fn end_chunk(&mut self, columns: &mut Columns) {
        let Columns { mut topic, mut docno, relevance, judged, score, .. } = std::mem::take(columns);
        let len = score.len();
        if len == 0 {
            return;
        }
        let columns: [ArrayRef; 5] = [
            Arc::new(topic.finish()),
            Arc::new(docno.finish()),
            Arc::new(Float64Array::from(relevance)),
            Arc::new(BooleanArray::from(judged)),
            Arc::new(Float64Array::from(score)),
        ];
        let start = (self.places.len() - len) as u64;
        self.chunks.push(Chunk { columns, start, len });
    }
}

impl Chunk {
    /// The columns at the given places.
    pub(crate) fn rows(&self, places: &[usize]) -> Rows {
        Rows {
            columns: places.iter().filter_map(|place| self.columns.get(*place).cloned()).collect(),
            places: Numbers::Range(self.start..self.start + self.len as u64),
            ordinals: None,
        }
    }
}
