//! TREC qrels and run files as one source of rows, joined as trec_eval 10 joins them and held in memory.
//!
//! ```text
//! qrels: topic iteration docno grade ──┐
//!                                      ├─▶ topics ─▶ join ─▶ rows, topic by topic
//! run:   topic Q0 docno rank score id ─┘
//! ```
//! Fields are separated by white space. Blank lines, and lines that begin with `#`, hold nothing; a `#` within a line belongs
//! to its field. Iteration, `Q0`, rank and run id are not used, and what follows the run id is ignored. A grade is an
//! integer; one below 0 marks a document that was in the pool and not judged. A score is a float64, as in trec_eval since
//! version 10 (version 9 rounded it to float32, which tied scores that differ in the eighth digit).
//!
//! The rows of a topic are its retrieved documents by descending score, then descending document id (by bytes), and after
//! them the other documents of its qrels by ascending document id. Topics come in ascending order (by bytes).
//!
//! | column | type | value |
//! |---|---|---|
//! | `topic`, `docno` | text | as written |
//! | `relevance` | float64 | the grade; 0 without a grade or with one below 0 |
//! | `judged` | boolean | whether there is a grade of 0 or more |
//! | `score` | float64 | the score; null for a document that was not retrieved |
//!
//! The relevance level of trec_eval (`-l`) is the label threshold of a head.

mod join;
mod lines;
mod topics;

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use fuseval_core::source::{Cluster, FileIdentity, Numbers, Request, no_such_column};
use fuseval_core::{Error, Result, Rows, Scan, Source};

use join::{Chunk, Place, joined};
use lines::TextFile;
use topics::{qrels, run};

/// The columns and their types.
const COLUMNS: [(&str, DataType); 5] = [
    ("topic", DataType::Utf8),
    ("docno", DataType::Utf8),
    ("relevance", DataType::Float64),
    ("judged", DataType::Boolean),
    ("score", DataType::Float64),
];

/// What to read, and which part of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrecOptions {
    /// The file of judgements.
    pub qrels: String,
    /// The file of retrieved documents.
    pub run: String,
    /// Whether topics of the qrels without retrieved documents are evaluated too (`-c` of trec_eval); otherwise a topic must
    /// be in both files.
    pub complete: bool,
    /// How many retrieved documents of a topic count, the first ones (`-M` of trec_eval); all if left out.
    pub depth: Option<usize>,
}

/// How the topics of the two files meet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TrecTopics {
    /// Topics that have rows.
    pub evaluated: usize,
    /// Topics of the run without judgements; they are left out.
    pub run_only: usize,
    /// Topics of the qrels without retrieved documents; they are left out unless [`TrecOptions::complete`] is set.
    pub qrels_only: usize,
}

/// A qrels file and a run file as a source of rows. See the head of `trec.rs` for what the rows are.
#[derive(Debug)]
pub struct TrecSource {
    options: TrecOptions,
    files: Vec<String>,
    identities: Vec<FileIdentity>,
    chunks: Arc<[Chunk]>,
    places: Vec<Place>,
    topics: TrecTopics,
}

/// Reads both files and joins them.
pub fn open_trec(options: TrecOptions) -> Result<TrecSource> {
    if options.depth == Some(0) {
        return Err(Error::usage("a depth of at least 1", "0", "leave the depth out to keep all retrieved documents"));
    }
    let qrels_file = TextFile::read(&options.qrels)?;
    let judged = qrels(&qrels_file)?;
    let run_file = TextFile::read(&options.run)?;
    let retrieved = run(&run_file)?;
    let files = vec![format!("{} with {}", options.run, options.qrels)];
    let joined = joined(&judged, &retrieved, options.complete, options.depth);
    if joined.topics.evaluated == 0 {
        let first = |topic: Option<&&str>| topic.map_or_else(String::new, |topic| format!("`{topic}`"));
        let (run, qrels) = (first(retrieved.keys().next()), first(judged.keys().next()));
        let found = format!("none; the first topic of the run is {run}, of the qrels {qrels}");
        let error = Error::data("a topic that is in both files", found, "check that the files belong together");
        return Err(error.at(files.concat()));
    }
    Ok(TrecSource {
        options,
        files,
        identities: vec![run_file.identity.clone(), qrels_file.identity.clone()],
        chunks: joined.chunks.into(),
        places: joined.places,
        topics: joined.topics,
    })
}

impl TrecSource {
    /// How the topics of the two files meet.
    pub fn topics(&self) -> TrecTopics {
        self.topics
    }
}

/// The place of a column among [`COLUMNS`], with its type.
fn column(name: &str) -> Result<(usize, DataType)> {
    let found = COLUMNS.into_iter().enumerate().find(|(_, (known, _))| *known == name);
    found.map(|(place, (_, data_type))| (place, data_type)).ok_or_else(|| no_such_column(name, &names()))
}

fn names() -> Vec<String> {
    COLUMNS.iter().map(|(name, _)| name.to_string()).collect()
}

fn no_predicates(sql: &str) -> Error {
    let help = "leave it out, or write the joined rows as Parquet or CSV";
    Error::usage("columns alone, as TREC files are not read through SQL", format!("the predicate `{sql}`"), help)
}

/// The rows that a scan by key asks for.
fn of_keys(rows: Rows, cluster: &Cluster) -> Result<Rows> {
    let defect = |error: arrow_schema::ArrowError| Error::defect("columns to filter", error.to_string());
    let Some(filter) = &cluster.kept else {
        return Ok(Rows { ordinals: Some(rows.places.clone()), ..rows });
    };
    let key: Vec<ArrayRef> = cluster.by.iter().filter_map(|column| rows.columns.get(*column)).cloned().collect();
    let kept = filter.kept(&key)?;
    let columns = rows.columns.iter().map(|column| arrow_select::filter::filter(column, &kept).map_err(defect));
    let columns = columns.collect::<Result<_>>()?;
    let places: Numbers = kept.values().set_indices().map(|row| rows.places.get(row)).collect::<Vec<_>>().into();
    Ok(Rows { columns, ordinals: Some(places.clone()), places })
}

impl Source for TrecSource {
    /// One name for the two files, as their rows are joined.
    fn files(&self) -> &[String] {
        &self.files
    }

    /// The run, then the qrels.
    fn identities(&self) -> Vec<FileIdentity> {
        self.identities.clone()
    }

    fn columns(&self) -> Vec<String> {
        names()
    }

    fn column_type(&self, name: &str) -> Result<DataType> {
        column(name).map(|(_, data_type)| data_type)
    }

    /// There are no predicates on TREC files.
    fn check_predicate(&self, sql: &str) -> Result<()> {
        Err(no_predicates(sql))
    }

    fn row_count(&self) -> Option<u64> {
        Some(self.places.len() as u64)
    }

    fn scan(&self, scan: &Scan) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send>> {
        let places: Vec<usize> = scan
            .requests
            .iter()
            .map(|request| match request {
                Request::Column(name) => column(name).map(|(place, _)| place),
                Request::Predicate(sql) => Err(no_predicates(sql)),
            })
            .collect::<Result<_>>()?;
        let chunks = Arc::clone(&self.chunks);
        let (numbers, within) = (0..chunks.len(), scan.places.clone());
        // The rows of a topic are next to each other as they are, so a scan by key has nothing to bring together.
        let rows = numbers.filter_map(move |number| chunks.get(number).map(|chunk| chunk.rows(&places).at(&within)));
        let cluster = scan.cluster.clone();
        Ok(Box::new(rows.filter(|rows| !rows.is_empty()).map(move |rows| match &cluster {
            Some(cluster) => of_keys(rows, cluster),
            None => Ok(rows),
        })))
    }

    /// The line of the run file, or of the qrels file for a document that was not retrieved.
    fn place(&self, place: u64) -> String {
        match usize::try_from(place).ok().and_then(|row| self.places.get(row)) {
            Some(Place::Run(line)) => format!("{}: line {line}", self.options.run),
            Some(Place::Qrels(line)) => format!("{}: line {line}", self.options.qrels),
            None => format!("{}: row {place}", self.files.concat()),
        }
    }
}
