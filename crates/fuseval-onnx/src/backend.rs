//! Which engine runs a model: chosen by the user or by what is installed, and the model that comes of it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};

use fuseval_core::nearest::suggestion;
use fuseval_core::scorer::{Input, Output, OutputColumn};
use fuseval_core::{Error, Model, Result, Scorer};
use ort::session::Session;

use crate::columns::Columns;
use crate::embedded;
use crate::graph::Graph;
use crate::library;
use crate::onnxruntime::{self, Runtime};

/// How to get ONNX Runtime.
const INSTALL: &str = "install ONNX Runtime (`pip install onnxruntime`), or name its library with `--onnxruntime PATH` or \
                       the environment variable ORT_DYLIB_PATH";

/// The engine to run a model with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Backend {
    /// ONNX Runtime where its library is found and loads, the embedded engine otherwise.
    #[default]
    Auto,
    /// ONNX Runtime.
    OnnxRuntime,
    /// The embedded engine.
    Embedded,
}

impl Backend {
    /// All of them.
    pub const ALL: &[Self] = &[Self::Auto, Self::OnnxRuntime, Self::Embedded];

    /// The name in run files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::OnnxRuntime => "onnxruntime",
            Self::Embedded => "embedded",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Backend {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = || Self::ALL.iter().map(|backend| backend.name());
        Self::ALL
            .iter()
            .copied()
            .find(|backend| backend.name() == text)
            .ok_or_else(|| Error::usage("a backend", format!("`{text}`"), suggestion(text, names())))
    }
}

/// How to load a model.
#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// The engine.
    pub backend: Backend,
    /// The shared library of ONNX Runtime, when the user names one (`--onnxruntime`). The embedded engine does not look at it.
    pub library: Option<PathBuf>,
}

/// Loads a model file and the engine that runs it. The process uses one ONNX Runtime: the library of the first model that
/// needed one serves all later ones.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Box<dyn Model>> {
    let graph = Arc::new(Graph::read(path)?);
    let place = path.display().to_string();
    let (runtime, reason) = match options.backend {
        Backend::Embedded => (None, None),
        _ => match runtime(options)? {
            Ok(runtime) => (Some(runtime), None),
            Err(reason) if options.backend == Backend::Auto => (None, reason),
            Err(reason) => {
                let found = reason.unwrap_or_else(|| "none".to_string());
                return Err(Error::usage("the library of ONNX Runtime", found, INSTALL).at(place));
            }
        },
    };
    let (engine, backend) = if let Some(runtime) = runtime {
        let first = Mutex::new(Some(runtime.session(path)?));
        let name = runtime.name();
        (Shared::OnnxRuntime { runtime, first }, name)
    } else {
        let opened = embedded::open(path, &graph, INSTALL).map_err(|error| error.at(place))?;
        // A library that was found and did not load is not passed over in silence.
        let passed_over = |reason| format!("{}, not the library {reason}", embedded::NAME);
        let name = reason.map_or_else(|| embedded::NAME.to_string(), passed_over);
        (Shared::Embedded(Arc::new(opened)), name)
    };
    Ok(Box::new(LoadedModel { path: path.to_path_buf(), graph, engine, backend }))
}

/// The runtime, or why there is none: nothing was found (`None`), or what was found does not load. A library that the user
/// named and that does not load is an error.
fn runtime(options: &LoadOptions) -> Result<std::result::Result<Runtime, Option<String>>> {
    if let Some(library) = &options.library {
        let started = Runtime::start(library).map_err(|reason| {
            let help = "name the shared library of ONNX Runtime 1.20 or newer, such as libonnxruntime.so";
            Error::usage("a library of ONNX Runtime", reason, help).at("--onnxruntime")
        })?;
        return Ok(Ok(started));
    }
    if let Some(running) = Runtime::current() {
        return Ok(Ok(running));
    }
    Ok(library::find().ok_or(None).and_then(|library| Runtime::start(&library).map_err(Some)))
}

/// What the scorers of a model share.
enum Shared {
    /// A session cannot be shared, but the first one, opened to find errors early, serves the first scorer.
    OnnxRuntime {
        runtime: Runtime,
        first: Mutex<Option<Session>>,
    },
    Embedded(Arc<rten::Model>),
}

struct LoadedModel {
    path: PathBuf,
    graph: Arc<Graph>,
    engine: Shared,
    backend: String,
}

impl Model for LoadedModel {
    fn inputs(&self) -> &[Input] {
        &self.graph.inputs
    }

    fn outputs(&self) -> &[Output] {
        &self.graph.outputs
    }

    fn backend(&self) -> &str {
        &self.backend
    }

    fn scorer(&self, columns: &[OutputColumn]) -> Result<Box<dyn Scorer>> {
        let place = |error: Error| error.at(self.path.display().to_string());
        let columns = Columns::find(&self.graph, columns).map_err(place)?;
        match &self.engine {
            Shared::OnnxRuntime { runtime, first } => {
                let opened = first.lock().unwrap_or_else(PoisonError::into_inner).take();
                let session = opened.map_or_else(|| runtime.session(&self.path), Ok)?;
                onnxruntime::scorer(session, columns, &self.graph, &self.path)
            }
            Shared::Embedded(model) => embedded::scorer(model, columns, &self.graph, &self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_as_it_parses() {
        for backend in Backend::ALL {
            assert_eq!(backend.to_string().parse(), Ok(*backend));
        }
        let error = "onnxruntme".parse::<Backend>().map_err(|error| error.to_string());
        assert_eq!(error, Err("expected a backend, found `onnxruntme`; did you mean `onnxruntime`?".to_string()));
    }
}
