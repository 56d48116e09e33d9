//! What a store refuses, in our words.

use fuseval_core::{Error, Result};
use object_store::Error as StoreError;

use super::url::Kind;

/// The error for a request on a file or a prefix, by its URL.
pub(super) fn refused(shown: &str, kind: Kind, reason: &StoreError) -> Error {
    let cause = root_cause(reason);
    match reason {
        // Lists of a bucket that is not there fail with no kind of their own.
        _ if ["NoSuchBucket", "ContainerNotFound"].iter().any(|code| cause.contains(code)) => {
            Error::data("an existing bucket", format!("none for `{shown}`"), "check the URL")
        }
        StoreError::NotFound { .. } => {
            Error::data("an existing file or prefix", format!("nothing at `{shown}`"), "check the URL")
        }
        StoreError::PermissionDenied { .. } | StoreError::Unauthenticated { .. } => {
            let help = format!("check the credentials ({}) and what they allow", variables(kind));
            Error::data(format!("access to `{shown}`"), format!("`{cause}`"), help)
        }
        StoreError::Precondition { .. } => changed(),
        _ if is_without_credentials(reason) => {
            let help = format!("set {}; {}", variables(kind), anonymous(kind));
            let found = format!("none in the environment, and none from the machine: `{cause}`");
            Error::data(format!("credentials for `{shown}`"), found, help)
        }
        _ if cause.contains("non-partial") || cause.contains("Range request not supported") => {
            let help = "copy the file to this machine";
            Error::data("a server that gives ranges of a file", "one that gives whole files only", help).at(shown)
        }
        _ => {
            let help = "check the URL and the network, and try again";
            Error::data(format!("an answer for `{shown}`"), format!("`{cause}`, after several tries"), help)
        }
    }
}

/// The error for a file that is another one than when the run began.
pub(super) fn changed() -> Error {
    let help = "run again when nothing writes to the data";
    Error::data("the file as it was when the run began", "another size, tag or time of change", help)
}

/// Whether a request failed as it asked the machine for credentials, the last place where they are sought.
fn is_without_credentials(reason: &StoreError) -> bool {
    let text = reason.to_string();
    let services =
        ["latest/api/token", "latest/meta-data", "computeMetadata", "metadata/identity", "MissingCredentials"];
    services.iter().any(|service| text.contains(service))
}

fn variables(kind: Kind) -> &'static str {
    match kind {
        Kind::S3 => "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION",
        Kind::Google => "GOOGLE_SERVICE_ACCOUNT or GOOGLE_APPLICATION_CREDENTIALS",
        Kind::Azure => "AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_ACCOUNT_KEY, a SAS token or a client secret",
        Kind::Http => "user and password in the URL, or a signed URL",
    }
}

fn anonymous(kind: Kind) -> &'static str {
    match kind {
        Kind::S3 => "AWS_SKIP_SIGNATURE=true for a public bucket",
        Kind::Google => "GOOGLE_SKIP_SIGNATURE=true for a public bucket",
        Kind::Azure => "AZURE_SKIP_SIGNATURE=true for a public container",
        Kind::Http => "ask who runs the server",
    }
}

/// The innermost reason, on one line, without addresses and times of requests.
pub(super) fn root_cause(reason: &StoreError) -> String {
    let mut cause: &dyn std::error::Error = reason;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let text = cause.to_string();
    let text = text.trim_start_matches("Server returned non-2xx status code: ");
    // The answer of a store to a human: the element `Code` of its XML, where there is one.
    let code = text.split_once("<Code>").and_then(|(_, rest)| rest.split_once("</Code>")).map(|(code, _)| code);
    let line = text.lines().next().unwrap_or_default();
    let line = line.split('<').next().unwrap_or_default().trim().trim_end_matches(':');
    let line: String = line.chars().take(200).collect();
    match code {
        Some(code) => format!("{line}: {code}"),
        None => line,
    }
}

/// Adds what a request failed with to the file or prefix that it was about.
pub(super) trait At<T> {
    fn about(self, shown: &str, kind: Kind) -> Result<T>;
}

impl<T> At<T> for object_store::Result<T> {
    fn about(self, shown: &str, kind: Kind) -> Result<T> {
        self.map_err(|reason| refused(shown, kind, &reason))
    }
}
