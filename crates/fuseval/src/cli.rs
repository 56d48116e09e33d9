//! The command line, for the binary and for whoever else wants to be it. Only this module prints.

mod interrupt;
mod progress;
mod score;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use progress::Bar;

use crate::figures::{counted, grouped};
use crate::table_file::STANDARD_OUTPUT;
use crate::{BucketOptions, Error, ErrorKind, Evaluation, Format, Options, Result, RunDirectory, RunFile};

/// One-pass evaluation of ranking and recommendation models.
#[derive(Debug, Parser)]
#[command(name = "fuseval", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Evaluate a run file: the model, its experiments and all metrics in one pass
    Run(RunArguments),
    /// Evaluate scores that are already columns of a file
    Score(Box<score::ScoreArguments>),
    /// Write a copy of a data set in which the rows of each segment stand together, one bucket per row group
    Bucket(BucketArguments),
    /// Merge the partials that shards wrote (`--shard I/N --partials DIR`), and report
    Merge(MergeArguments),
    /// List the metrics, or explain one: definition, options, defaults, undefined cases, sources
    Metrics {
        /// The metric to explain
        name: Option<String>,
    },
    /// Print the JSON Schema of run files
    Schema,
}

#[derive(Debug, Args)]
struct RunArguments {
    /// The run file (YAML); may be left out to go on with a run: `--resume DIR`
    #[arg(required_unless_present = "resume")]
    file: Option<PathBuf>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Args)]
struct BucketArguments {
    /// Files, directories, globs and URLs
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// The columns of the segment key; takes commas and may be repeated
    #[arg(long, required = true, value_delimiter = ',', value_name = "COLUMN")]
    by: Vec<String>,
    /// A directory that is new or empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// A SQL predicate: other rows are left out
    #[arg(long, value_name = "SQL")]
    filter: Option<String>,
    /// Rows from which a bucket is cut at the next segment border [default: 65536]
    #[arg(long, value_parser = positive)]
    bucket_rows: Option<usize>,
    /// The memory that may be used, for example 4GiB [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::size)]
    memory: Option<u64>,
    /// No progress and no messages, only errors
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Args)]
struct MergeArguments {
    /// The files of all shards
    #[arg(required = true, value_name = "PARTIAL")]
    partials: Vec<PathBuf>,
    /// Write the results into a run directory too
    #[arg(long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// How to print the results
    #[arg(long, value_enum, default_value = "table")]
    format: FormatWord,
    /// Worker threads [default: all cores]
    #[arg(long, value_parser = threads)]
    threads: Option<usize>,
    /// No messages, only results and errors
    #[arg(long, short)]
    quiet: bool,
}

/// Options of `run` and `score`.
#[derive(Debug, Args)]
struct Common {
    /// How to print the results
    #[arg(long, value_enum, default_value = "table")]
    format: FormatWord,
    /// Worker threads [default: all cores]
    #[arg(long, value_parser = threads)]
    threads: Option<usize>,
    /// Rows from which a bucket is cut at the next segment border [default: 8192]
    #[arg(long, value_parser = positive)]
    bucket_rows: Option<usize>,
    /// The memory that may be used, for example 4GiB [default: half of the machine's]
    #[arg(long, value_name = "SIZE", value_parser = crate::memory::size)]
    memory: Option<u64>,
    /// The seed of experiments that have none of their own
    #[arg(long)]
    seed: Option<u64>,
    /// Go on with the run in DIR, where it was stopped or killed; begin one where there is none
    #[arg(long, value_name = "DIR")]
    resume: Option<PathBuf>,
    /// Evaluate only part I of N of the data, I from 0, and write its states into the folder of `--partials`
    #[arg(long, value_name = "I/N", value_parser = shard, requires = "partials")]
    shard: Option<(u64, u64)>,
    /// Where the states of a shard go; `fuseval merge DIR/*` puts them together
    #[arg(long, value_name = "DIR", requires = "shard")]
    partials: Option<PathBuf>,
    /// Set any key of the run file, for example `output.predictions=true`; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Write the value of each segment, for metrics over segments: a Parquet or CSV file; without FILE to standard
    /// output, and the results to standard error
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = "-")]
    per_segment: Option<PathBuf>,
    /// The library of ONNX Runtime [default: ORT_DYLIB_PATH, beside the binary, the onnxruntime package of Python]
    #[arg(long, value_name = "PATH")]
    onnxruntime: Option<PathBuf>,
    /// Print what the run would do and what its states would take in memory, and stop
    #[arg(long)]
    explain: bool,
    /// No progress and no messages, only results and errors
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatWord {
    /// Tables
    Table,
    /// The content of results.json
    Json,
    /// One line per number
    Csv,
    /// Tables in Markdown
    Markdown,
}

impl FormatWord {
    fn format(self) -> Format {
        match self {
            Self::Table => Format::Table,
            Self::Json => Format::Json,
            Self::Csv => Format::Csv,
            Self::Markdown => Format::Markdown,
        }
    }
}

impl Common {
    fn options(&self) -> Options {
        let default = Options::default();
        Options {
            threads: self.threads.unwrap_or(default.threads),
            bucket_rows: self.bucket_rows.unwrap_or(default.bucket_rows),
            memory: self.memory,
            onnxruntime: self.onnxruntime.clone(),
            predictions: None,
            segments: self.per_segment.clone(),
            shard: self.shard.unwrap_or(default.shard),
            stop: None,
        }
    }

    /// The options of a run that Ctrl-C stops cleanly.
    fn stoppable(&self) -> Options {
        Options { stop: Some(interrupt::flag()), ..self.options() }
    }

    /// Evaluates a run file as the arguments say, and prints.
    fn evaluate(&self, run_file: &RunFile, is_run: bool) -> Result<()> {
        if self.explain {
            return print(&crate::explain(run_file, &self.options())?);
        }
        let bar = Bar::new(self.quiet);
        if let (Some(_), Some(folder)) = (self.shard, &self.partials) {
            let options = self.stoppable();
            let resume = self.resume.is_some();
            let path = crate::write_shard(run_file, &options, folder, resume, &bar).inspect_err(|_| {
                if crate::shard::has_work(folder, options.shard) {
                    say(&format!(" note: what was done is kept; go on with `--resume {}`", folder.display()));
                }
            })?;
            if !self.quiet {
                say(&format!("partial: {}", path.display()));
            }
            return Ok(());
        }
        let directory = match &self.resume {
            Some(place) => Some(RunDirectory::resume(place)?),
            None if is_run => Some(RunDirectory::new(run_file)?),
            None => None,
        };
        let Some(directory) = directory else {
            return self.print(&crate::evaluate_with(run_file, &self.options(), &bar)?);
        };
        let place = directory.place().to_path_buf();
        let evaluation = directory.evaluate(run_file, &self.stoppable(), &bar).inspect_err(|error| {
            if let Some(kept) = crate::run_directory::how_to_go_on(&place, error) {
                say(&format!(" note: {kept}"));
            }
        })?;
        self.print(&evaluation)?;
        if !self.quiet {
            say(&evaluation.summary());
            say(&format!("results: {}", RunDirectory::results(&place).display()));
        }
        Ok(())
    }

    /// Prints the result of the run in the directory of `--resume`, if it is done; whether it was.
    fn print_stored(&self, run_file: Option<&RunFile>) -> Result<bool> {
        let Some(place) = self.resume.as_ref().filter(|_| self.shard.is_none()) else { return Ok(false) };
        let Some(evaluation) = RunDirectory::stored(place)? else { return Ok(false) };
        let unmet = match (run_file, self.settings().first(), &self.per_segment) {
            (_, _, Some(_)) => Some("`--per-segment`".to_string()),
            (None, Some(setting), _) => Some(format!("`{setting}`")),
            _ => None,
        };
        if let Some(unmet) = unmet {
            let help = "leave it out to print the results, or `--resume` to run it anew";
            return Err(Error::usage("nothing more of a run that is done", unmet, help).at(place.display().to_string()));
        }
        if let Some(run_file) = run_file {
            evaluation.refuse_other_plan(run_file).map_err(|error| error.at(place.display().to_string()))?;
        }
        match self.format {
            // To the byte, the times of that run included.
            FormatWord::Json => print(&RunDirectory::stored_json(place)?)?,
            _ => self.print(&evaluation)?,
        }
        if !self.quiet {
            say(&format!("the run is done; results: {}", RunDirectory::results(place).display()));
        }
        Ok(true)
    }

    /// The settings of `--set` and `--seed`.
    fn settings(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        self.set.iter().cloned().chain(seed).collect()
    }

    fn print(&self, evaluation: &Evaluation) -> Result<()> {
        let text = evaluation.print(self.format.format());
        if self.per_segment.as_deref().is_none_or(|path| path.as_os_str() != STANDARD_OUTPUT) {
            return print(&text);
        }
        // Standard output is a table of segments, and nothing else.
        if !self.quiet {
            say(text.trim_end());
        }
        Ok(())
    }
}

/// Says something on standard error. Where nobody listens, nothing is said: the exit code still tells.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Prints results. A reader that has gone away is no error of ours.
fn print(text: &str) -> Result<()> {
    match std::io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Error::usage("a standard output to write to", error.to_string(), "redirect the output elsewhere"))
        }
        _ => Ok(()),
    }
}

/// More threads than this are a slip of the keyboard.
const MOST_THREADS: usize = 1024;

fn threads(text: &str) -> std::result::Result<usize, String> {
    positive(text)
        .ok()
        .filter(|threads| *threads <= MOST_THREADS)
        .ok_or_else(|| format!("expected a whole number from 1 to {MOST_THREADS}"))
}

/// More shards than this are a slip of the keyboard.
const MOST_SHARDS: u64 = 1 << 20;

/// `I/N`, I from 0.
fn shard(text: &str) -> std::result::Result<(u64, u64), String> {
    let parts = text.split_once('/').and_then(|(shard, shards)| Some((shard.parse().ok()?, shards.parse().ok()?)));
    parts
        .filter(|(shard, shards)| shard < shards && *shards <= MOST_SHARDS)
        .ok_or_else(|| "expected I/N with I from 0 to N − 1".to_string())
}

fn positive(text: &str) -> std::result::Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("expected a whole number from 1 on".to_string()),
        Ok(number) => Ok(number),
    }
}

/// Runs a command, given as the arguments of a process, the name of the program first. The exit code is that of the error's
/// kind.
pub fn main<T: Into<OsString> + Clone>(arguments: impl IntoIterator<Item = T>) -> ExitCode {
    let command = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments.command,
        // The help that was asked for, or what is wrong with the arguments. Where nobody listens, the exit code still tells.
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(ErrorKind::Usage.exit_code()));
        }
    };
    let done = match command {
        Command::Run(arguments) => run(&arguments),
        Command::Score(arguments) => score::score(&arguments),
        Command::Bucket(arguments) => bucket(&arguments),
        Command::Merge(arguments) => merge(&arguments),
        Command::Metrics { name } => metrics(name.as_deref()),
        Command::Schema => schema(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {}", error.problem()));
            if !error.place().is_empty() {
                say(&format!("   at: {}", error.place()));
            }
            say(&format!(" help: {}", error.help()));
            ExitCode::from(error.kind().exit_code())
        }
    }
}

fn run(arguments: &RunArguments) -> Result<()> {
    let common = &arguments.common;
    let place = arguments.file.as_ref().map(|file| file.display().to_string());
    let run_file = match (&arguments.file, &common.resume) {
        (Some(file), _) => Some(RunFile::read(file, &common.settings())?),
        (None, Some(directory)) => {
            let begun = RunDirectory::begun(directory)?;
            begun.map(|run_file| run_file.with(&common.settings())).transpose()?
        }
        (None, None) => None,
    };
    if common.print_stored(run_file.as_ref())? {
        return Ok(());
    }
    let Some(run_file) = run_file else {
        let place = common.resume.as_ref().map(|place| place.display().to_string()).unwrap_or_default();
        let help = "give the run file: `fuseval run FILE --resume DIR`";
        return Err(Error::usage("a run that was begun", "none", help).at(place));
    };
    common.evaluate(&run_file, true).map_err(|error| match place {
        // What is wrong with the run file is shown at the run file.
        Some(place) if error.kind() == ErrorKind::Usage => error.at(place),
        _ => error,
    })
}

fn bucket(arguments: &BucketArguments) -> Result<()> {
    let options = BucketOptions {
        paths: arguments.sources.clone(),
        by: arguments.by.clone(),
        filter: arguments.filter.clone(),
        rows: arguments.bucket_rows.unwrap_or(crate::BUCKET_ROWS),
        memory: arguments.memory,
    };
    let done = crate::bucket(&options, &arguments.out, &Bar::new(arguments.quiet))?;
    if !arguments.quiet {
        let (rows, segments) = (grouped(done.rows), counted(done.segments as usize, "segment"));
        let buckets = counted(done.buckets as usize, "bucket");
        say(&format!("{rows} rows, {segments} in {buckets}: {}", arguments.out.display()));
    }
    Ok(())
}

fn merge(arguments: &MergeArguments) -> Result<()> {
    let threads = arguments.threads.unwrap_or(Options::default().threads);
    let evaluation = crate::merge(&arguments.partials, threads, arguments.output.as_deref())?;
    print(&evaluation.print(arguments.format.format()))?;
    if !arguments.quiet {
        say(&evaluation.summary());
        if let Some(place) = &arguments.output {
            say(&format!("results: {}", RunDirectory::results(place).display()));
        }
    }
    Ok(())
}

fn metrics(name: Option<&str>) -> Result<()> {
    match name {
        Some(name) => print(&crate::catalogue::page(name)?),
        None => print(&crate::catalogue::list()),
    }
}

fn schema() -> Result<()> {
    let schema = RunFile::schema();
    print(&schema)
}
