//! Where the shared library of ONNX Runtime is: named by the user, beside the binary, or inside the Python package
//! `onnxruntime`, which ships it. The package is looked for, never imported.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Prints the folder of the package without importing it. The working directory is taken off the search path first: what lies
/// there by chance is not an installation.
const FIND_PACKAGE: &str = "import sys
sys.path = [p for p in sys.path if p]
import importlib.util
spec = importlib.util.find_spec('onnxruntime')
print(list(spec.submodule_search_locations)[0] if spec and spec.submodule_search_locations else '', end='')";

/// The library, at the first place that has one: `ORT_DYLIB_PATH`, beside the binary, the active virtual or conda environment,
/// the Python on the search path.
pub(crate) fn find() -> Option<PathBuf> {
    set("ORT_DYLIB_PATH")
        .map(PathBuf::from)
        .or_else(|| env::current_exe().ok().and_then(|binary| library_in(binary.parent()?)))
        .or_else(|| ["VIRTUAL_ENV", "CONDA_PREFIX"].iter().find_map(|name| in_environment(Path::new(&set(name)?))))
        .or_else(in_python)
}

/// An environment variable that is set and not empty.
fn set(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty())
}

/// The library of a Python environment.
fn in_environment(prefix: &Path) -> Option<PathBuf> {
    let versions = sorted(&prefix.join("lib")).into_iter().map(|folder| folder.join("site-packages"));
    versions
        .chain([prefix.join("Lib").join("site-packages")])
        .find_map(|packages| in_package(&packages.join("onnxruntime")))
}

fn in_package(package: &Path) -> Option<PathBuf> {
    library_in(&package.join("capi"))
}

/// The library of the Python on the search path. Asked once per process: starting Python takes tens of milliseconds.
fn in_python() -> Option<PathBuf> {
    static ANSWER: OnceLock<Option<PathBuf>> = OnceLock::new();
    let ask = |python: &&str| {
        let output = Command::new(python)
            .args(["-c", FIND_PACKAGE])
            .stdin(Stdio::null())
            .stderr(Stdio::null())
            .output()
            .ok()
            .filter(|output| output.status.success())?;
        String::from_utf8(output.stdout).ok()
    };
    ANSWER
        .get_or_init(|| {
            let package = ["python3", "python"].iter().find_map(ask)?;
            if package.is_empty() { None } else { in_package(Path::new(&package)) }
        })
        .clone()
}

/// The library in a folder; of several, the last by name, which carries the full version.
fn library_in(folder: &Path) -> Option<PathBuf> {
    sorted(folder)
        .into_iter()
        .rev()
        .find(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_library))
}

fn is_library(name: &str) -> bool {
    let unix = name.strip_prefix("libonnxruntime").is_some_and(|rest| {
        rest == ".so" || rest.starts_with(".so.") || (rest.starts_with('.') && rest.ends_with(".dylib"))
    });
    unix || name == "onnxruntime.dll"
}

/// The version in a file name: `libonnxruntime.so.1.32.0`, `libonnxruntime.1.32.0.dylib`.
pub(crate) fn version_in_name(library: &Path) -> Option<String> {
    let name = library.file_name()?.to_str()?;
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let version = name.get(digits..)?.trim_end_matches(".dylib");
    version.contains('.').then(|| version.to_string())
}

/// The entries of a folder in order of name; none when there is no such folder.
fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_library_by_its_name() {
        for name in ["libonnxruntime.so", "libonnxruntime.so.1.32.0", "libonnxruntime.1.32.0.dylib", "onnxruntime.dll"]
        {
            assert!(is_library(name), "{name}");
        }
        for name in ["libonnxruntime_providers_shared.so", "onnxruntime_pybind11_state.so", "libonnxruntime.a"] {
            assert!(!is_library(name), "{name}");
        }
    }

    #[test]
    fn reads_the_version_from_the_name() {
        let version = |name: &str| version_in_name(Path::new(name));
        assert_eq!(version("/a/libonnxruntime.so.1.32.0").as_deref(), Some("1.32.0"));
        assert_eq!(version("/a/libonnxruntime.1.32.0.dylib").as_deref(), Some("1.32.0"));
        assert_eq!(version("/a/libonnxruntime.so"), None);
    }
}
