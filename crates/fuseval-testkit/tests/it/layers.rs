//! The crates and who may know whom; the size and the headers of files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The edges between our crates that are allowed (tests may also use the testkit).
const EDGES: &[(&str, &[&str])] = &[
    ("fuseval-core", &[]),
    ("fuseval-metrics", &["fuseval-core"]),
    ("fuseval-source", &["fuseval-core"]),
    ("fuseval-engine", &["fuseval-core"]),
    ("fuseval-onnx", &["fuseval-core"]),
    ("fuseval", &["fuseval-core", "fuseval-metrics", "fuseval-source", "fuseval-engine", "fuseval-onnx"]),
    // The facade for its binary `cases` alone, behind a feature.
    ("fuseval-testkit", &["fuseval-core", "fuseval-metrics", "fuseval"]),
];

/// The edges that tests alone may have.
const TEST_EDGES: &[(&str, &[&str])] = &[("fuseval-engine", &["fuseval-metrics", "fuseval-testkit"])];

/// Outside crates that only one of ours may know, of those that ship: the testkit does not.
const ALONE: &[(&str, &str)] = &[
    ("datafusion", "fuseval-source"),
    ("parquet", "fuseval-source"),
    ("object_store", "fuseval-source"),
    ("tokio", "fuseval-source"),
    ("ort", "fuseval-onnx"),
    ("rten", "fuseval-onnx"),
    ("rten-tensor", "fuseval-onnx"),
    ("prost", "fuseval-onnx"),
    ("clap", "fuseval"),
    ("indicatif", "fuseval"),
];

/// All that core may know of the world.
const CORE: &[&str] = &["arrow-array", "arrow-schema", "fearless_simd", "libm", "strsim", "xxhash-rust"];

/// Files that may be longer than the rest: generated code.
const LONG: &[&str] = &["crates/fuseval-onnx/src/proto/onnx.rs"];
const MOST_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// For each of our crates the names under `[dependencies]` (`false`) and `[dev-dependencies]` (`true`).
fn dependencies() -> BTreeMap<String, Vec<(String, bool)>> {
    let mut all = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("crates")).unwrap() {
        let folder = entry.unwrap();
        let manifest = std::fs::read_to_string(folder.path().join("Cargo.toml")).unwrap();
        let mut section = String::new();
        let mut found = Vec::new();
        for line in manifest.lines() {
            if let Some(header) = line.strip_prefix('[') {
                section = header.trim_end_matches(']').to_string();
                continue;
            }
            let name = line.split(['.', '=', ' ']).next().unwrap_or_default().to_string();
            assert!(
                !line.contains("package ="),
                "{}: a renamed dependency hides its name: {line}",
                folder.path().display()
            );
            match section.as_str() {
                _ if name.is_empty() || line.starts_with('#') => {}
                "dependencies" => found.push((name, false)),
                "dev-dependencies" => found.push((name, true)),
                // A table of its own or a target would slip through the lines above.
                other => {
                    assert!(!other.contains("dependencies"), "{}: write [{other}] as lines", folder.path().display())
                }
            }
        }
        all.insert(folder.file_name().to_string_lossy().into_owned(), found);
    }
    all
}

#[test]
fn crates_know_only_whom_they_may() {
    let all = dependencies();
    let names: Vec<&str> = EDGES.iter().map(|(name, _)| *name).collect();
    assert_eq!(all.len(), names.len(), "a crate without a line in EDGES");
    for (name, allowed) in EDGES {
        let known = &all[*name];
        assert!(!known.is_empty(), "no dependencies of {name} found");
        for (other, dev) in known {
            let test_edge = *dev && TEST_EDGES.iter().any(|(of, to)| of == name && to.contains(&other.as_str()));
            let ours = other.starts_with("fuseval");
            assert!(!ours || allowed.contains(&other.as_str()) || test_edge, "forbidden edge {name} -> {other}");
            let owner = ALONE.iter().find(|(outside, _)| outside == other);
            let ships = !*dev && *name != "fuseval-testkit";
            assert!(!ships || owner.is_none_or(|(_, owner)| owner == name), "only {owner:?} may know it, found {name}");
            assert!(*dev || *name != "fuseval-core" || CORE.contains(&other.as_str()), "core may not know {other}");
        }
    }
}

#[test]
fn files_are_short_and_say_what_they_hold() {
    let mut files = 0;
    let mut folders = vec![root().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files += 1;
                let text = std::fs::read_to_string(&path).unwrap();
                let name = path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned();
                let long = LONG.iter().any(|exempt| name.ends_with(exempt));
                assert!(
                    long || text.lines().count() <= MOST_LINES,
                    "{name} is longer than {MOST_LINES} lines: split it"
                );
                let tests = path.file_name().is_some_and(|name| name == "tests.rs");
                assert!(tests || text.starts_with("//"), "{name} does not say what it holds");
            }
        }
    }
    assert!(files > 60, "only {files} files found");
}
