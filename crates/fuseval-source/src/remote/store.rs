//! A store from its URL and the usual environment variables.

use std::sync::Arc;
use std::time::Duration;

use fuseval_core::{Error, Result};
use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::http::HttpBuilder;
use object_store::{BackoffConfig, ClientOptions, ObjectStore, RetryConfig};

use super::url::{Kind, Place};

/// How long the connection to a server may take.
const CONNECT: Duration = Duration::from_secs(5);

/// How long an answer may take, its body included: no answer is longer than [`super::object::PART`].
const ANSWER: Duration = Duration::from_secs(60);

/// A request is tried again after no answer and after 429 and 5xx, some seconds in all.
fn retries() -> RetryConfig {
    RetryConfig {
        backoff: BackoffConfig {
            init_backoff: Duration::from_millis(100),
            max_backoff: Duration::from_secs(5),
            base: 3.0,
        },
        max_retries: 6,
        retry_timeout: Duration::from_secs(60),
    }
}

/// The store in which a place lies.
pub(super) fn open(place: &Place) -> Result<Arc<dyn ObjectStore>> {
    let root = &place.root;
    let built = match place.kind {
        Kind::S3 => AmazonS3Builder::from_env()
            .with_url(root.replacen("s3a://", "s3://", 1))
            .with_retry(retries())
            .build()
            .map(shared),
        Kind::Google => GoogleCloudStorageBuilder::from_env().with_url(root).with_retry(retries()).build().map(shared),
        Kind::Azure => MicrosoftAzureBuilder::from_env().with_url(root).with_retry(retries()).build().map(shared),
        Kind::Http => {
            // The user wrote `http` or `https`, so either is meant.
            let options = ClientOptions::new().with_allow_http(true).with_connect_timeout(CONNECT).with_timeout(ANSWER);
            HttpBuilder::new().with_url(root).with_client_options(options).with_retry(retries()).build().map(shared)
        }
    };
    built.map_err(|reason| {
        let help = "check the URL and the environment variables of the store, see docs/sources.md";
        let expected = format!("a store at `{}`", place.shown_root);
        Error::usage(expected, format!("`{}`", super::refusal::root_cause(&reason)), help)
    })
}

fn shared(store: impl ObjectStore) -> Arc<dyn ObjectStore> {
    Arc::new(store)
}
