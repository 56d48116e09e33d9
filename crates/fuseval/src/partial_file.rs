//! The file of a partial: the states with all that is needed to merge and report them anywhere, without the data and the model.
//!
//! ```text
//!   "FUSEPART"  format version u16
//!   description text (JSON)
//!   keys        count u64, then the fingerprints of the segments (u128 each), ascending
//!   xxh3 of all of the above u64
//!   the bytes of a partial, which have a checksum of their own
//! ```

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use fuseval_core::bytes::{Reader, Writer, damaged};
use fuseval_core::{Error, MetricId, Partial, Result};
use fuseval_engine::Plan;
use fuseval_engine::plan::Outline;
use fuseval_engine::specification::SliceSpecification;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::evaluation::Facts;

const MAGIC: &[u8; 8] = b"FUSEPART";
const FORMAT: u16 = 1;

/// What stands beside the states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Description {
    /// The version of fuseval that wrote it.
    pub(crate) fuseval: String,
    /// The fingerprint of the plan.
    pub(crate) plan: String,
    /// What it holds of the data.
    pub(crate) share: Share,
    /// The files of the data: name, size, content.
    pub(crate) files: Vec<(String, u64, String)>,
    /// The plan, as far as results need it.
    pub(crate) outline: OutlineText,
    /// Facts about the run.
    pub(crate) facts: Facts,
}

/// A part of the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    /// The number of the shard, from 0.
    pub(crate) shard: u64,
    /// How many shards there are.
    pub(crate) shards: u64,
    /// Whether segments were dealt out by their keys; otherwise by their places.
    pub(crate) by_key: bool,
}

/// [`Outline`] as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OutlineText {
    metrics: Vec<String>,
    preset: Option<String>,
    no_positive: Option<String>,
    seed: u64,
    score_budget: Option<u64>,
    heads: Vec<String>,
    slices: Vec<SliceText>,
    experiments: Vec<(String, String)>,
    interval: Option<f64>,
    segment: Vec<String>,
}

/// A slice as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SliceText {
    Columns(Vec<String>),
    Predicate(String),
}

impl OutlineText {
    pub(crate) fn new(outline: &Outline) -> Self {
        let slice = |slice: &SliceSpecification| match slice {
            SliceSpecification::Columns(columns) => SliceText::Columns(columns.clone()),
            SliceSpecification::Predicate(sql) => SliceText::Predicate(sql.clone()),
        };
        let defaults = &outline.defaults;
        Self {
            metrics: outline.metrics.iter().map(ToString::to_string).collect(),
            preset: defaults.preset.clone(),
            no_positive: defaults.no_positive.clone(),
            seed: defaults.seed,
            score_budget: defaults.score_budget,
            heads: outline.heads.clone(),
            slices: outline.slices.iter().map(slice).collect(),
            experiments: outline.experiments.clone(),
            interval: outline.interval,
            segment: outline.segment.clone(),
        }
    }

    /// The plan that merges and reports.
    pub(crate) fn plan(&self) -> Result<Plan> {
        let slice = |slice: &SliceText| match slice {
            SliceText::Columns(columns) => SliceSpecification::Columns(columns.clone()),
            SliceText::Predicate(sql) => SliceSpecification::Predicate(sql.clone()),
        };
        let outline = Outline {
            metrics: self.metrics.iter().map(|id| MetricId::parse(id)).collect::<Result<_>>()?,
            defaults: fuseval_core::Defaults {
                preset: self.preset.clone(),
                no_positive: self.no_positive.clone(),
                seed: self.seed,
                score_budget: self.score_budget,
            },
            heads: self.heads.clone(),
            slices: self.slices.iter().map(slice).collect(),
            experiments: self.experiments.clone(),
            interval: self.interval,
            segment: self.segment.clone(),
        };
        outline.plan(&fuseval_metrics::metric)
    }
}

/// The head of a file of a partial. The states stay on disk until they are asked for.
pub(crate) struct PartialFile {
    path: PathBuf,
    pub(crate) description: Description,
    /// The fingerprints of its segments, ascending; empty where they were dealt out by key.
    pub(crate) keys: Vec<u128>,
    /// Where the states begin.
    states_at: usize,
}

/// Writes a file.
pub(crate) fn write(
    path: &Path,
    description: &Description,
    keys: &[u128],
    plan: &Plan,
    partial: &Partial,
) -> Result<()> {
    let text = serde_json::to_string(description)
        .map_err(|error| Error::defect("a description as JSON", error.to_string()))?;
    let mut head = Writer::new();
    head.raw(MAGIC);
    head.u16(FORMAT);
    head.text(&text);
    head.u64(keys.len() as u64);
    keys.iter().for_each(|key| head.raw(&key.to_le_bytes()));
    let checksum = xxh3_64(head.as_bytes());
    head.u64(checksum);
    write_whole(path, |out| {
        out.write_all(head.as_bytes())?;
        partial.write(&plan.state_list(), out)
    })
}

impl PartialFile {
    /// Reads the head of a file. Whatever its bytes are, it ends with an error at worst.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = bytes(path)?;
        let mut file = Self::head(&bytes).map_err(|error| error.at(path.display().to_string()))?;
        file.path = path.to_path_buf();
        Ok(file)
    }

    fn head(bytes: &[u8]) -> Result<Self> {
        let mut input = Reader::new(bytes);
        if input.raw(MAGIC.len()).ok() != Some(MAGIC) {
            return Err(damaged("the file of a partial", "another file"));
        }
        let format = input.u16()?;
        if format != FORMAT {
            let help = "read it with the fuseval that wrote it, or a newer one";
            return Err(Error::partials(format!("format {FORMAT} of the file"), format!("format {format}"), help));
        }
        let text = input.text()?;
        let mut keys = Vec::new();
        for _ in 0..input.count(16)? {
            let bytes = input.raw(16)?.try_into().map_err(|_| damaged("16 bytes of a key", "fewer"))?;
            keys.push(u128::from_le_bytes(bytes));
        }
        let end = MAGIC.len() + 2 + 8 + text.len() + 8 + 16 * keys.len();
        if input.u64()? != xxh3_64(bytes.get(..end).unwrap_or_default()) {
            return Err(damaged("the checksum of the bytes", "another"));
        }
        let description = serde_json::from_str(text).map_err(|error| damaged("a description", error.to_string()))?;
        if !keys.is_sorted_by(|a, b| a < b) {
            return Err(damaged("ascending keys", "another order"));
        }
        Ok(Self { path: PathBuf::new(), description, keys, states_at: end + 8 })
    }

    /// The name of the file.
    pub(crate) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// Adds its states to a partial.
    pub(crate) fn add_to(&self, partial: &mut Partial, plan: &Plan) -> Result<()> {
        let bytes = bytes(&self.path)?;
        let states = bytes.get(self.states_at..).unwrap_or_default();
        partial.add_bytes(states, &plan.state_list()).map_err(|error| error.at(self.name()))
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|error| {
        let help = "give the files that `--shard` wrote";
        Error::partials("a file of a partial", error.to_string().to_lowercase(), help).at(path.display().to_string())
    })
}

/// Writes a file so that it is complete under its name or not there at all, whatever happens to the machine.
pub(crate) fn write_whole(path: &Path, content: impl Fn(&mut dyn Write) -> std::io::Result<()>) -> Result<()> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let write = || {
        let mut file = BufWriter::new(File::create(&temporary)?);
        content(&mut file)?;
        file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
        std::fs::rename(&temporary, path)?;
        sync_folder(path)
    };
    write().map_err(|reason| {
        let _ = std::fs::remove_file(&temporary);
        unwritable(path, &reason)
    })
}

/// Makes the names in the folder of a file last.
pub(crate) fn sync_folder(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        #[cfg(unix)]
        Some(folder) if !folder.as_os_str().is_empty() => File::open(folder)?.sync_all(),
        _ => Ok(()),
    }
}

pub(crate) fn unwritable(path: &Path, reason: &dyn std::fmt::Display) -> Error {
    let help = "check the directory and the free space";
    Error::usage("a file that can be written", format!("`{}`", reason.to_string().to_lowercase()), help)
        .at(path.display().to_string())
}
