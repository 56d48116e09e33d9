//! The ledger of a run: which experiments on which buckets are in which partial, on disk, while the run goes on.
//!
//! ```text
//!   DIR/ledger/ledger        one record per line: its xxh3 in hexadecimal, a space, JSON; the first says what is run
//!   DIR/ledger/000001.partial …  the states that a record names
//! ```
//! A partial is written and made to last before the line that names it, and a line counts once it is whole. So whatever moment a
//! process is killed at, what the ledger names is there, and what it does not name does not count. Every [`FAN`] partials of
//! one level become one of the next, so that there are few of them and each is rewritten a few times only.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use fuseval_core::{Error, Partial, Result};
use fuseval_engine::Plan;
use fuseval_engine::journal::{BucketDone, Done, Journal, Resumed};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{Xxh3, xxh3_64};

use crate::RunFile;
use crate::partial_file::{sync_folder, unwritable, write_whole};

const LEDGER: &str = "ledger";
const LOCK: &str = "lock";
/// How many partials of one level become one of the next.
const FAN: usize = 8;
/// How long a worker keeps to itself what it has done. The setting is there for tests, which cannot wait.
const INTERVAL: Duration = Duration::from_secs(5);
const INTERVAL_SETTING: &str = "FUSEVAL_CHECKPOINT_MS";

/// What is run: the first record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of fuseval.
    pub(crate) fuseval: String,
    /// The run file, without its output.
    pub(crate) run_file: serde_json::Value,
    /// Its output.
    pub(crate) output: serde_json::Value,
    /// Where relative paths begin.
    pub(crate) base: String,
    /// The name of the run file.
    pub(crate) name: String,
    /// The content of the model files.
    pub(crate) models: Vec<(String, String)>,
    /// The files of the data: name, size, content.
    pub(crate) files: Vec<(String, u64, String)>,
    /// Rows to a bucket.
    pub(crate) bucket_rows: u64,
    /// The shard and how many there are.
    pub(crate) shard: (u64, u64),
    /// Whether segments are brought together by key.
    pub(crate) by_key: bool,
    /// The tables that are written: their names.
    pub(crate) tables: Vec<String>,
}

impl Header {
    /// The run file that was begun.
    pub(crate) fn run_file(&self) -> Result<RunFile> {
        let damaged = |error: serde_json::Error| Error::partials("a run file", error.to_string(), "give the run file");
        let mut run_file: RunFile = serde_json::from_value(self.run_file.clone()).map_err(damaged)?;
        run_file.output = serde_json::from_value(self.output.clone()).map_err(damaged)?;
        run_file.base = PathBuf::from(&self.base);
        run_file.name.clone_from(&self.name);
        Ok(run_file)
    }

    /// Refuses a run that is not the one this ledger is of, and says what has changed.
    pub(crate) fn refuse_changes(&self, now: &Self) -> Result<()> {
        let changed = if self.fuseval != now.fuseval {
            Some((format!("fuseval {}", self.fuseval), format!("fuseval {}", now.fuseval)))
        } else if let Some(key) = first_difference(&self.run_file, &now.run_file) {
            let value =
                |tree: &serde_json::Value| tree.pointer(&key).map_or("nothing".to_string(), ToString::to_string);
            let name = key.trim_start_matches('/').replace('/', ".");
            Some((format!("`{name}`: {}", value(&self.run_file)), value(&now.run_file)))
        } else if let Some((model, _)) = self.models.iter().zip(&now.models).find(|(a, b)| a != b).map(|(a, _)| a) {
            Some((format!("the model {model} as it was"), "another content".to_string()))
        } else if let Some((was, is)) = self.files.iter().zip(&now.files).find(|(a, b)| a != b) {
            let (name, size, _) = was;
            let found = match is {
                (other, ..) if other != name => format!("{other} in its place"),
                (_, other, _) if other != size => format!("{other} bytes"),
                _ => "another content".to_string(),
            };
            Some((format!("the file {name} of {size} bytes as it was"), found))
        } else if self.files.len() != now.files.len() {
            Some((format!("{} files", self.files.len()), format!("{}", now.files.len())))
        } else if self.shard != now.shard {
            let shard = |(shard, shards): (u64, u64)| format!("shard {shard}/{shards}");
            Some((shard(self.shard), shard(now.shard)))
        } else if self.tables != now.tables {
            let tables =
                |tables: &[String]| if tables.is_empty() { "no tables".to_string() } else { tables.join(", ") };
            Some((tables(&self.tables), tables(&now.tables)))
        } else {
            None
        };
        match changed {
            None => Ok(()),
            Some((was, is)) => Err(Error::partials(
                format!("what the run began with: {was}"),
                is,
                "undo the change to go on, or start anew without `--resume`",
            )),
        }
    }
}

/// The place of the first value that differs, as a JSON pointer.
fn first_difference(a: &serde_json::Value, b: &serde_json::Value) -> Option<String> {
    use serde_json::Value;
    match (a, b) {
        (Value::Object(one), Value::Object(other)) => {
            let keys = one.keys().chain(other.keys().filter(|key| !one.contains_key(*key)));
            let mut differing = keys.filter_map(|key| {
                let below =
                    first_difference(one.get(key).unwrap_or(&Value::Null), other.get(key).unwrap_or(&Value::Null));
                below.map(|below| format!("/{key}{below}"))
            });
            differing.next()
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let mut pairs = one.iter().zip(other).enumerate();
            pairs.find_map(|(place, (a, b))| first_difference(a, b).map(|below| format!("/{place}{below}")))
        }
        _ => (a != b).then(String::new),
    }
}

/// A later record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Record {
    /// A partial.
    Partial {
        /// Its file.
        file: String,
        /// How many times it was merged.
        level: u32,
        /// What is in it: bucket, place after its last row, experiments from, to.
        done: Vec<(u64, u64, usize, usize)>,
        missing: Vec<u64>,
        positive_seen: Vec<bool>,
    },
    /// Partials became one.
    Merged { file: String, level: u32, of: Vec<String> },
    /// Part of a table: its file with the xxh3 of its bytes, and the first bucket after it.
    Table { table: String, file: String, xxh3: String, next: u64 },
}

impl Record {
    fn file(&self) -> &str {
        match self {
            Self::Partial { file, .. } | Self::Merged { file, .. } | Self::Table { file, .. } => file,
        }
    }
}

/// The number in the name of a file of the ledger: no two files that it has ever named share one.
fn number(file: &str) -> u64 {
    let digits = file.chars().filter(char::is_ascii_digit);
    digits.fold(0, |number: u64, digit| {
        number.saturating_mul(10).saturating_add(u64::from(digit.to_digit(10).unwrap_or(0)))
    })
}

/// What of a table is on disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableParts {
    pub(crate) files: Vec<PathBuf>,
    /// The first bucket that is not in them.
    pub(crate) next: u64,
}

/// A partial of the ledger.
struct Entry {
    file: String,
    level: u32,
}

/// A ledger that is open.
pub(crate) struct Ledger {
    folder: PathBuf,
    state: Mutex<Open>,
    interval: Duration,
}

struct Open {
    file: File,
    /// The bytes of whole lines; `None` after a failure that could not be undone.
    whole: Option<u64>,
    next: u64,
    entries: Vec<Entry>,
    tables: Vec<(String, TableParts)>,
}

/// What an earlier run has left.
pub(crate) struct Found {
    pub(crate) header: Header,
    records: Vec<Record>,
    /// The bytes of the ledger that are whole.
    whole: u64,
}

impl Found {
    /// Whether anything is done that would be lost with it.
    pub(crate) fn has_work(&self) -> bool {
        !self.records.is_empty()
    }
}

impl Ledger {
    /// Where the ledger of a run directory is.
    pub(crate) fn folder(run_directory: &Path) -> PathBuf {
        run_directory.join("ledger")
    }

    /// Whether all that is in a folder may have come from a ledger.
    pub(crate) fn is_ours(folder: &Path) -> bool {
        let Ok(mut entries) = std::fs::read_dir(folder) else { return false };
        entries.all(|entry| {
            let name = entry.map(|entry| entry.file_name().to_string_lossy().into_owned()).unwrap_or_default();
            let is_numbered = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
            let is_part = |table: &str| name.strip_prefix(table).is_some_and(is_numbered) && name.ends_with(".parquet");
            [LOCK, LEDGER, "results.json", "results.parquet", "run.partial", "predictions.parquet"].contains(&&*name)
                || name.ends_with(".partial") && is_numbered(&name)
                || name.starts_with('.') && name.ends_with(".tmp")
                || is_part("predictions-")
                || is_part("segments-")
        })
    }

    /// Takes hold of the folder, so that no other process works on the same run.
    pub(crate) fn lock(folder: &Path) -> Result<File> {
        std::fs::create_dir_all(folder).map_err(|reason| unwritable(folder, &reason))?;
        let path = folder.join(LOCK);
        let lock = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let lock = lock.map_err(|reason| unwritable(&path, &reason))?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(std::fs::TryLockError::WouldBlock) => Err(Error::usage(
                "a run directory that no other process works on",
                "one that is in use",
                "wait for the other run, or choose another directory",
            )
            .at(folder.display().to_string())),
            // Some file systems have no locks; then nobody is kept out.
            Err(std::fs::TryLockError::Error(_)) => Ok(lock),
        }
    }

    /// What an earlier run has left in a folder; `None` if nothing was begun.
    pub(crate) fn find(folder: &Path) -> Result<Option<Found>> {
        let path = folder.join(LEDGER);
        let text = match std::fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(damaged(&path, error.to_string())),
        };
        let mut header = None;
        let mut records = Vec::new();
        let mut whole = 0;
        for (place, line) in text.split_inclusive(|byte| *byte == b'\n').enumerate() {
            // A line without an end is one that was being written when the process was killed.
            let Some(line) = line.strip_suffix(b"\n") else { break };
            whole += line.len() as u64 + 1;
            let at = |found: String| damaged(&path, format!("{found} in line {}", place + 1));
            let json = checked(line).ok_or_else(|| at("another checksum".to_string()))?;
            if place == 0 {
                let read = serde_json::from_slice::<Header>(json).map_err(|error| at(error.to_string()))?;
                header = Some(read);
            } else {
                records.push(serde_json::from_slice::<Record>(json).map_err(|error| at(error.to_string()))?);
            }
        }
        Ok(header.map(|header| Found { header, records, whole }))
    }

    /// Begins a ledger in a folder, where whatever an earlier run left is removed.
    pub(crate) fn begin(folder: &Path, header: &Header) -> Result<Self> {
        clear(folder, &[LOCK])?;
        let path = folder.join(LEDGER);
        let json = serde_json::to_string(header).map_err(|error| Error::defect("JSON", error.to_string()))?;
        write_whole(&path, |out| out.write_all(line(&json).as_bytes()))?;
        Self::open(folder, Vec::new(), Vec::new(), 1)
    }

    /// Takes up a ledger: what is done, and notes about what is not usable and will be done again.
    pub(crate) fn resume(
        folder: &Path,
        found: Found,
        plan: &Plan,
        fingerprint: &str,
    ) -> Result<(Self, Resumed, Vec<String>)> {
        let path = folder.join(LEDGER);
        let file = OpenOptions::new().write(true).open(&path).map_err(|reason| unwritable(&path, &reason))?;
        file.set_len(found.whole).map_err(|reason| unwritable(&path, &reason))?;
        let mut next = 1;
        // For each partial that is there the records whose work is in it.
        let mut live: Vec<(String, u32, Vec<Done>)> = Vec::new();
        let mut tables: Vec<(String, TableParts)> = Vec::new();
        let mut damaged_tables = Vec::new();
        for record in found.records {
            if record.file().contains(['/', '\\']) {
                return Err(damaged(&path, format!("the file name `{}`", record.file())));
            }
            next = next.max(number(record.file()).saturating_add(1));
            match record {
                Record::Partial { file, level, done, missing, positive_seen } => {
                    let bucket = |(index, end, from, to)| BucketDone { index, end, experiments: from..to };
                    let buckets = done.into_iter().map(bucket).collect();
                    live.push((file, level, vec![Done { buckets, missing, positive_seen }]));
                }
                Record::Merged { file, level, of } => {
                    let (merged, others) = live.into_iter().partition(|(file, ..)| of.contains(file));
                    live = others;
                    live.push((file, level, merged.into_iter().flat_map(|(_, _, done)| done).collect()));
                }
                Record::Table { table, file, xxh3, next } => {
                    let place = tables.iter().position(|(name, _)| *name == table).unwrap_or_else(|| {
                        tables.push((table, TableParts::default()));
                        tables.len() - 1
                    });
                    if let Some((_, parts)) = tables.get_mut(place) {
                        parts.files.push(folder.join(&file));
                        parts.next = next;
                        if hash(&folder.join(&file)).ok() != Some(xxh3) {
                            damaged_tables.push(place);
                        }
                    }
                }
            }
        }
        let mut resumed = Resumed::default();
        let mut entries = Vec::new();
        let mut notes = Vec::new();
        for (file, level, done) in live {
            let at = folder.join(&file);
            let read = std::fs::read(&at).map_err(|error| Error::partials("a partial", error.to_string(), ""));
            let mut scratch = Partial::new(fingerprint);
            if let Err(error) = read.and_then(|bytes| scratch.add_bytes(&bytes, &plan.state_list())) {
                let buckets: usize = done.iter().map(|done| done.buckets.len()).sum();
                notes.push(format!("{}: {}; its {buckets} buckets are done again", at.display(), error.problem()));
                let _ = std::fs::remove_file(&at);
                continue;
            }
            if !done.iter().all(|done| resumed.add(done)) {
                return Err(damaged(&path, format!("a bucket twice, in {file}")));
            }
            entries.push(Entry { file, level });
        }
        for (place, (table, parts)) in tables.iter_mut().enumerate() {
            // A table is written in order, so one part that is damaged or gone takes all of it with it.
            if damaged_tables.contains(&place) {
                notes.push(format!("part of the table `{table}` is damaged or gone; it is written anew"));
                *parts = TableParts::default();
            }
        }
        let mut kept: Vec<String> = entries.iter().map(|entry| entry.file.clone()).collect();
        let parts = tables.iter().flat_map(|(_, parts)| &parts.files);
        kept.extend(parts.filter_map(|file| Some(file.file_name()?.to_string_lossy().into_owned())));
        let kept: Vec<&str> = kept.iter().map(String::as_str).chain([LOCK, LEDGER]).collect();
        clear(folder, &kept)?;
        let ledger = Self::open(folder, entries, tables, next)?;
        Ok((ledger, resumed, notes))
    }

    fn open(folder: &Path, entries: Vec<Entry>, tables: Vec<(String, TableParts)>, next: u64) -> Result<Self> {
        let path = folder.join(LEDGER);
        let file = OpenOptions::new().append(true).open(&path).map_err(|reason| unwritable(&path, &reason))?;
        let set = std::env::var(INTERVAL_SETTING).ok().and_then(|text| text.parse().ok());
        let interval = set.map_or(INTERVAL, Duration::from_millis);
        let whole = Some(file.metadata().map_err(|reason| unwritable(&path, &reason))?.len());
        let state = Mutex::new(Open { file, whole, next, entries, tables });
        Ok(Self { folder: folder.to_path_buf(), state, interval })
    }

    /// Begins anew in the same folder.
    pub(crate) fn restart(self, header: &Header) -> Result<Self> {
        Self::begin(&self.folder, header)
    }

    /// How long work may be kept from it.
    pub(crate) fn interval(&self) -> Duration {
        self.interval
    }

    /// Adds the states of all that is recorded.
    pub(crate) fn add_states(&self, partial: &mut Partial, plan: &Plan) -> Result<()> {
        let open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        open.entries.iter().try_for_each(|entry| self.add(&entry.file, partial, plan))
    }

    /// What of a table is on disk.
    pub(crate) fn table(&self, name: &str) -> TableParts {
        let open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        open.tables.iter().find(|(table, _)| table == name).map(|(_, parts)| parts.clone()).unwrap_or_default()
    }

    /// A name for the next part of a table.
    pub(crate) fn next_part(&self, table: &str) -> PathBuf {
        let mut open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let part = self.folder.join(format!("{table}-{:06}.parquet", open.next));
        open.next += 1;
        part
    }

    /// Notes a part of a table, which is complete under its name.
    pub(crate) fn add_part(&self, table: &str, part: &Path, next: u64) -> Result<()> {
        let mut open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let file = part.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let xxh3 = hash(part).map_err(|reason| unwritable(part, &reason))?;
        let record = Record::Table { table: table.to_string(), file, xxh3, next };
        self.append(&mut open, &record)?;
        let place = open.tables.iter().position(|(name, _)| name == table);
        match place.and_then(|place| open.tables.get_mut(place)) {
            Some((_, parts)) => {
                parts.files.push(part.to_path_buf());
                parts.next = next;
            }
            None => open.tables.push((table.to_string(), TableParts { files: vec![part.to_path_buf()], next })),
        }
        Ok(())
    }

    /// Adds the states of a partial on disk.
    fn add(&self, file: &str, partial: &mut Partial, plan: &Plan) -> Result<()> {
        let path = self.folder.join(file);
        let bytes = std::fs::read(&path).map_err(|error| damaged(&path, error.to_string()))?;
        partial.add_bytes(&bytes, &plan.state_list()).map_err(|error| error.at(path.display().to_string()))
    }

    fn append(&self, open: &mut Open, record: &Record) -> Result<()> {
        let json = serde_json::to_string(record).map_err(|error| Error::defect("JSON", error.to_string()))?;
        let path = self.folder.join(LEDGER);
        let Some(whole) = open.whole else {
            return Err(unwritable(&path, &"an earlier failure to write to it"));
        };
        let line = line(&json);
        match open.file.write_all(line.as_bytes()).and_then(|()| open.file.sync_data()) {
            Ok(()) => {
                open.whole = Some(whole + line.len() as u64);
                Ok(())
            }
            Err(reason) => {
                // Half a line must not be followed by another one.
                open.whole = open.file.set_len(whole).is_ok().then_some(whole);
                Err(unwritable(&path, &reason))
            }
        }
    }

    /// Writes a partial under the next number.
    fn write(&self, open: &mut Open, plan: &Plan, partial: &Partial) -> Result<String> {
        let file = format!("{:06}.partial", open.next);
        write_whole(&self.folder.join(&file), |out| partial.write(&plan.state_list(), out))?;
        open.next += 1;
        Ok(file)
    }

    fn record(&self, plan: &Plan, done: &Done, partial: &Partial) -> Result<()> {
        let mut open = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.write(&mut open, plan, partial)?;
        let experiments = |bucket: &BucketDone| bucket.experiments.clone();
        let bucket =
            |bucket: &BucketDone| (bucket.index, bucket.end, experiments(bucket).start, experiments(bucket).end);
        let record = Record::Partial {
            file: file.clone(),
            level: 0,
            done: done.buckets.iter().map(bucket).collect(),
            missing: done.missing.clone(),
            positive_seen: done.positive_seen.clone(),
        };
        self.append(&mut open, &record)?;
        open.entries.push(Entry { file, level: 0 });
        let mut level = 0;
        while open.entries.iter().filter(|entry| entry.level == level).count() >= FAN {
            self.merge_level(&mut open, plan, partial.plan(), level)?;
            level += 1;
        }
        Ok(())
    }

    /// Makes one partial of all those of a level.
    fn merge_level(&self, open: &mut Open, plan: &Plan, fingerprint: &str, level: u32) -> Result<()> {
        let (merged, others) = std::mem::take(&mut open.entries).into_iter().partition(|entry| entry.level == level);
        open.entries = others;
        let of: Vec<String> = Vec::<Entry>::into_iter(merged).map(|entry| entry.file).collect();
        let mut all = Partial::new(fingerprint);
        for file in &of {
            self.add(file, &mut all, plan)?;
        }
        let file = self.write(open, plan, &all)?;
        self.append(open, &Record::Merged { file: file.clone(), level: level + 1, of: of.clone() })?;
        open.entries.push(Entry { file, level: level + 1 });
        for file in of {
            // What stays is removed when the run is taken up or ends.
            let _ = std::fs::remove_file(self.folder.join(file));
        }
        Ok(())
    }
}

/// The ledger as the engine sees it.
pub(crate) struct LedgerOf<'a> {
    pub(crate) ledger: &'a Ledger,
    pub(crate) plan: &'a Plan,
}

impl Journal for LedgerOf<'_> {
    fn interval(&self) -> Duration {
        self.ledger.interval()
    }

    fn record(&self, done: &Done, partial: Partial) -> Result<()> {
        self.ledger.record(self.plan, done, &partial)
    }
}

/// The xxh3 of a file, in hexadecimal.
fn hash(path: &Path) -> std::io::Result<String> {
    let mut file = File::open(path)?;
    let mut hash = Xxh3::new();
    let mut bytes = vec![0; 1 << 16];
    loop {
        match file.read(&mut bytes)? {
            0 => return Ok(format!("{:016x}", hash.digest())),
            read => hash.update(bytes.get(..read).unwrap_or_default()),
        }
    }
}

/// Removes all files of a folder but some.
fn clear(folder: &Path, kept: &[&str]) -> Result<()> {
    let entries = std::fs::read_dir(folder).map_err(|reason| unwritable(folder, &reason))?;
    for entry in entries.flatten() {
        if entry.file_name().to_str().is_none_or(|name| !kept.contains(&name)) && entry.path().is_file() {
            std::fs::remove_file(entry.path()).map_err(|reason| unwritable(&entry.path(), &reason))?;
        }
    }
    sync_folder(&folder.join(LEDGER)).map_err(|reason| unwritable(folder, &reason))
}

/// A record as a line.
fn line(json: &str) -> String {
    format!("{:016x} {json}\n", xxh3_64(json.as_bytes()))
}

/// The JSON of a line, if its checksum is right.
fn checked(line: &[u8]) -> Option<&[u8]> {
    let (checksum, json) = line.split_at_checked(16)?;
    let json = json.strip_prefix(b" ")?;
    let checksum = u64::from_str_radix(std::str::from_utf8(checksum).ok()?, 16).ok()?;
    (checksum == xxh3_64(json)).then_some(json)
}

fn damaged(path: &Path, found: impl Into<String>) -> Error {
    let help = "start the run anew without `--resume`, or into another directory";
    Error::partials("a ledger as it was written", found, help).at(path.display().to_string())
}

#[cfg(test)]
mod tests;
