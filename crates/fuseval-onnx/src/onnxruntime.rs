//! The engine that is ONNX Runtime, through `ort`: one library and one environment per process, one session per worker.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use fuseval_core::{Error, Result, Scorer};
use ort::environment::Environment;
use ort::logging::LogLevel;
use ort::session::{HasSelectedOutputs, OutputSelector, RunOptions, Session, SessionInputValue};
use ort::value::{DynValue, PrimitiveTensorElementType, Tensor, TensorElementType, TensorRef, ValueType};

use crate::batch::{BatchScorer, Block, Engine, batch_rows};
use crate::columns::{BatchRows, Columns};
use crate::graph::Graph;
use crate::library;

/// The library in use.
#[derive(Clone)]
pub(crate) struct Runtime {
    environment: Environment,
    library: PathBuf,
    version: Option<String>,
}

/// ONNX Runtime allows one environment per process, and `ort` one library. Kept for ever: dropping the environment while the
/// process goes on would leave nothing to make a second one with.
static RUNTIME: Mutex<Option<Runtime>> = Mutex::new(None);

impl Runtime {
    /// The runtime that this process already uses.
    pub(crate) fn current() -> Option<Self> {
        RUNTIME.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The runtime of a library, loaded when it is the first; the reason, when it cannot be used.
    pub(crate) fn start(library: &Path) -> std::result::Result<Self, String> {
        let library = std::fs::canonicalize(library).map_err(|error| match error.kind() {
            ErrorKind::NotFound => format!("no file `{}`", library.display()),
            _ => format!("`{}`, which cannot be read: {error}", library.display()),
        })?;
        let mut running = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(runtime) = running.as_ref() {
            let same = runtime.library == library;
            let other = || format!("`{}`, in a process that uses `{}`", library.display(), runtime.library.display());
            return if same { Ok(runtime.clone()) } else { Err(other()) };
        }
        let does_not_load =
            |reason: String| format!("`{}`, which does not load: {}", library.display(), one_line(&reason));
        let builder = ort::init_from(&library).map_err(|error| does_not_load(error.to_string()))?;
        // A logger that says nothing: standard output belongs to the results, standard error to our messages. Fatal, so that
        // messages are not even written for it.
        let environment = builder
            .with_name("fuseval")
            .with_telemetry(false)
            .with_logger(Arc::new(|_, _, _, _, _| {}))
            .build()
            .map_err(|error| does_not_load(error.to_string()))?;
        environment.set_log_level(LogLevel::Fatal);
        let version = built_version(ort::info()).or_else(|| library::version_in_name(&library));
        let runtime = Self { environment, library, version };
        *running = Some(runtime.clone());
        Ok(runtime)
    }

    /// The name and version for the report.
    pub(crate) fn name(&self) -> String {
        self.version.as_ref().map_or_else(|| "onnxruntime".to_string(), |version| format!("onnxruntime {version}"))
    }

    /// A session on a model file.
    pub(crate) fn session(&self, path: &Path) -> Result<Session> {
        self.open(path).map_err(|error| {
            let help = "export the model with an opset that this ONNX Runtime has, or install a newer `onnxruntime`";
            Error::model(format!("a model that {} loads", self.name()), quoted(&error), help)
                .at(path.display().to_string())
        })
    }

    fn open(&self, path: &Path) -> ort::Result<Session> {
        // One thread: the workers are the parallelism, and threads that wait for each other inside a session spin.
        Session::builder(&self.environment)?
            .with_intra_threads(1)?
            .with_inter_threads(1)?
            .with_log_level(LogLevel::Fatal)?
            .commit_from_file(path)
    }
}

/// The version of a release build, from `… git-branch=rel-1.32.0, …`.
fn built_version(build: &str) -> Option<String> {
    let (_, rest) = build.split_once("git-branch=rel-")?;
    let version: String = rest.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
    (!version.is_empty()).then_some(version)
}

/// A scorer on a session.
pub(crate) fn scorer(session: Session, columns: Columns, graph: &Arc<Graph>, path: &Path) -> Result<Box<dyn Scorer>> {
    let engine = SessionEngine::new(session, columns, Arc::clone(graph))?;
    Ok(Box::new(BatchScorer::new(engine, Arc::clone(graph), path)))
}

/// One session with the outputs it is asked for.
struct SessionEngine {
    session: Session,
    options: RunOptions<HasSelectedOutputs>,
    columns: Columns,
    graph: Arc<Graph>,
}

impl SessionEngine {
    fn new(session: Session, columns: Columns, graph: Arc<Graph>) -> Result<Self> {
        let selected = columns.outputs.iter().fold(OutputSelector::no_default(), |chosen, name| chosen.with(name));
        let options = RunOptions::new().map_err(|error| Error::defect("run options", quoted(&error)))?;
        Ok(Self { session, options: options.with_outputs(selected), columns, graph })
    }
}

impl Engine for SessionEngine {
    fn run(&mut self, blocks: &[Block<'_>], rows: usize, scores: &mut [Vec<f64>]) -> Result<()> {
        let batch = batch_rows(&self.graph);
        let failed = |error: ort::Error| {
            let help = "check that the features hold what the model was trained on";
            Error::model("a model that runs on these rows", quoted(&error), help)
        };
        let mut inputs: Vec<(Cow<'_, str>, SessionInputValue<'_>)> = Vec::with_capacity(blocks.len());
        for ((input, flat), values) in self.graph.inputs.iter().zip(&self.graph.flat).zip(blocks) {
            let value = input_value(values, batch, *flat).map_err(failed)?;
            inputs.push((Cow::Borrowed(input.name.as_str()), value));
        }
        let outputs = self.session.run_with_options(inputs, &self.options).map_err(failed)?;
        for (place, name) in self.columns.outputs.iter().enumerate() {
            let value = outputs.get(name).ok_or_else(|| Error::defect(format!("output `{name}`"), "none"))?;
            read(&self.columns, place, value, BatchRows { all: batch, real: rows }, scores)?;
        }
        Ok(())
    }
}

fn input_value<'a>(values: &Block<'a>, batch: usize, flat: bool) -> ort::Result<SessionInputValue<'a>> {
    fn tensor<'a, T>(values: &'a [T], batch: usize, flat: bool) -> ort::Result<SessionInputValue<'a>>
    where
        T: PrimitiveTensorElementType + std::fmt::Debug + Clone + 'static,
    {
        Ok(TensorRef::from_array_view((shape(values.len(), batch, flat), values))?.into())
    }
    match *values {
        Block::F32(values) => tensor(values, batch, flat),
        Block::F64(values) => tensor(values, batch, flat),
        Block::I32(values) => tensor(values, batch, flat),
        Block::I64(values) => tensor(values, batch, flat),
        Block::Bool(values) => tensor(values, batch, flat),
        Block::Text(values) => Ok(Tensor::from_string_array((shape(values.len(), batch, flat), values))?.into()),
    }
}

fn shape(len: usize, batch: usize, flat: bool) -> Vec<usize> {
    if flat { vec![len] } else { vec![batch, len / batch.max(1)] }
}

/// Reads one output, whatever its type.
fn read(columns: &Columns, place: usize, value: &DynValue, rows: BatchRows, scores: &mut [Vec<f64>]) -> Result<()> {
    let ValueType::Tensor { ty, shape, .. } = value.dtype() else {
        return Err(not_numbers(columns, place, value.dtype()));
    };
    let shape: Vec<usize> = shape.iter().map(|size| usize::try_from(*size).unwrap_or(0)).collect();
    match ty {
        TensorElementType::Float32 => columns.read(place, &shape, values(value)?, rows, |x: f32| f64::from(x), scores),
        TensorElementType::Float64 => columns.read(place, &shape, values(value)?, rows, |x: f64| x, scores),
        TensorElementType::Int32 => columns.read(place, &shape, values(value)?, rows, |x: i32| f64::from(x), scores),
        // A label or a rank: above 2^53 it rounds, as every score does.
        TensorElementType::Int64 => columns.read(place, &shape, values(value)?, rows, |x: i64| x as f64, scores),
        TensorElementType::Bool => {
            columns.read(place, &shape, values(value)?, rows, |x: bool| f64::from(u8::from(x)), scores)
        }
        _ => Err(not_numbers(columns, place, value.dtype())),
    }
}

fn values<T: PrimitiveTensorElementType>(value: &DynValue) -> Result<&[T]> {
    let (_, values) = value.try_extract_tensor::<T>().map_err(|error| Error::defect("a tensor", quoted(&error)))?;
    Ok(values)
}

fn not_numbers(columns: &Columns, place: usize, found: &ValueType) -> Error {
    let name = columns.outputs.get(place).map_or("", String::as_str);
    Error::model("numbers of shape [batch] or [batch, width]", found.to_string(), "choose the output with the scores")
        .at(format!("output `{name}`"))
}

fn quoted(error: &ort::Error) -> String {
    format!("\"{}\"", one_line(error.message()))
}

/// Messages of the runtime may span lines; ours do not.
fn one_line(message: &str) -> String {
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_version_of_a_release_build() {
        let build = "ORT Build Info: git-branch=rel-1.32.0, git-commit-id=26250ae, build type=Release";
        assert_eq!(built_version(build).as_deref(), Some("1.32.0"));
        assert_eq!(built_version("ORT Build Info: git-branch=HEAD, git-commit-id=1"), None);
    }
}
