//! What makes two runs the same: the run file but its output, and the content of the model.

use fuseval_core::{Error, Result};
use xxhash_rust::xxh3::xxh3_128;

use crate::{RunFile, asked};

/// The fingerprint of a plan.
pub(crate) fn fingerprint(run_file: &RunFile) -> Result<String> {
    let asked = RunFile { output: crate::run_file::OutputBlock::default(), ..run_file.clone() };
    let mut bytes =
        serde_json::to_vec(&asked).map_err(|error| Error::defect("a run file as JSON", error.to_string()))?;
    for (_, content) in models(run_file)? {
        bytes.extend_from_slice(content.as_bytes());
    }
    Ok(format!("{:032x}", xxh3_128(&bytes)))
}

/// The model files with the fingerprints of their content.
pub(crate) fn models(run_file: &RunFile) -> Result<Vec<(String, String)>> {
    let model = asked::model(run_file).into_iter();
    model
        .map(|model| {
            let path = asked::resolved(run_file, &model.path);
            let content = std::fs::read(&path)
                .map_err(|error| Error::usage("a model file", error.to_string(), "check `model.path`").at(&path))?;
            Ok((model.path.clone(), format!("{:032x}", xxh3_128(&content))))
        })
        .collect()
}
