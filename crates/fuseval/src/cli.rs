//! The command line, for the binary and for whoever else wants to be it. Only this module prints.

mod progress;
mod score;

use std::ffi::OsString;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand, ValueEnum};
use progress::Bar;

use crate::table_file::STANDARD_OUTPUT;
use crate::{Error, ErrorKind, Evaluation, Format, Options, Result, RunDirectory, RunFile};

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
    /// The run file (YAML)
    file: PathBuf,
    #[command(flatten)]
    common: Common,
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
    /// The seed of experiments that have none of their own
    #[arg(long)]
    seed: Option<u64>,
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

impl Common {
    fn options(&self) -> Options {
        let default = Options::default();
        Options {
            threads: self.threads.unwrap_or(default.threads),
            bucket_rows: self.bucket_rows.unwrap_or(default.bucket_rows),
            onnxruntime: self.onnxruntime.clone(),
            predictions: None,
            segments: self.per_segment.clone(),
        }
    }

    /// The settings of `--set` and `--seed`.
    fn settings(&self) -> Vec<String> {
        let seed = self.seed.map(|seed| format!("seed={seed}"));
        self.set.iter().cloned().chain(seed).collect()
    }

    fn print(&self, evaluation: &Evaluation) -> Result<()> {
        let format = match self.format {
            FormatWord::Table => Format::Table,
            FormatWord::Json => Format::Json,
            FormatWord::Csv => Format::Csv,
            FormatWord::Markdown => Format::Markdown,
        };
        let text = evaluation.print(format);
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
    let run_file = RunFile::read(&arguments.file, &common.settings())?;
    if common.explain {
        return print(&crate::explain(&run_file, &common.options())?);
    }
    let directory = RunDirectory::new(&run_file)?;
    let mut options = common.options();
    if run_file.output.predictions {
        options.predictions = Some(directory.predictions());
    }
    let evaluation = crate::evaluate_with(&run_file, &options, &Bar::new(common.quiet)).map_err(|error| {
        // What is wrong with the run file is shown at the run file.
        if error.kind() == ErrorKind::Usage { error.at(arguments.file.display().to_string()) } else { error }
    })?;
    let place = directory.finish(&evaluation)?;
    common.print(&evaluation)?;
    if !common.quiet {
        say(&evaluation.summary());
        say(&format!("results: {}", place.join("results.json").display()));
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
