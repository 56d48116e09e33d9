//! A file of a store: its bytes by range, as they were when the run began.
//!
//! A range is asked for in parts, some at a time; a part that does not come whole is asked for again. The same object is a
//! store with one file for DataFusion's Parquet reader.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use fuseval_core::{Error, Result};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::path::Path;
use object_store::{
    Attributes, CopyOptions, Error as StoreError, GetOptions, GetRange, GetResult, GetResultPayload, ListResult,
    MultipartUpload, ObjectMeta, ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult,
};

use super::Network;
use super::refusal::{At, changed, refused};
use super::url::Kind;

/// The most bytes that are asked for in one request.
pub(super) const PART: u64 = 8 << 20;

/// The parts of one range that are under way at a time.
const PARTS: usize = 4;

/// How often a part is asked for that does not come whole. The store has retries of its own, for requests without an answer
/// and, where files have tags, for bodies that break off.
const TRIES: u32 = 5;
const TRIES_WITH_TAG: u32 = 2;

/// A file of a store.
#[derive(Debug)]
pub(crate) struct Object {
    pub(super) network: Arc<Network>,
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) kind: Kind,
    /// The URL as shown to people.
    pub(super) shown: String,
    pub(super) meta: ObjectMeta,
}

impl Object {
    /// The bytes of the whole file.
    pub(crate) fn size(&self) -> u64 {
        self.meta.size
    }

    /// What changes when the content changes: the tag, else the time of change.
    pub(crate) fn version(&self) -> String {
        let tag = self.meta.e_tag.as_deref().map(|tag| format!("etag:{}", tag.trim_matches('"')));
        tag.unwrap_or_else(|| format!("modified:{}", self.meta.last_modified.to_rfc3339()))
    }

    /// Refuses a file that was written again.
    pub(crate) fn check_unchanged(&self) -> Result<()> {
        let (store, location) = (Arc::clone(&self.store), self.meta.location.clone());
        let head = self.network.wait(async move { store.head(&location).await })?;
        let now = head.about(&self.shown, self.kind)?;
        let is_same = match (&now.e_tag, &self.meta.e_tag) {
            (Some(now), Some(then)) => now.trim_matches('"') == then.trim_matches('"'),
            _ => now.last_modified == self.meta.last_modified,
        };
        if now.size == self.meta.size && is_same { Ok(()) } else { Err(changed().at(self.shown.clone())) }
    }

    /// The bytes of a range. Waits for them.
    pub(crate) fn range_now(self: &Arc<Self>, range: Range<u64>) -> Result<Bytes> {
        let object = Arc::clone(self);
        self.network.wait(async move { object.range(range).await })?
    }

    /// Asks for the bytes of a range, to be waited for later.
    pub(super) fn range_later(self: &Arc<Self>, range: Range<u64>) -> Result<std::sync::mpsc::Receiver<Result<Bytes>>> {
        let object = Arc::clone(self);
        self.network.start_request(async move { object.range(range).await })
    }

    async fn range(&self, range: Range<u64>) -> Result<Bytes> {
        whole(&self.store, &self.meta, range).await.map_err(|reason| match reason {
            StoreError::Precondition { .. } => changed().at(self.shown.clone()),
            reason => refused(&self.shown, self.kind, &reason),
        })
    }

    /// The error for a request of DataFusion that failed.
    pub(crate) fn refused(&self, reason: &StoreError) -> Error {
        match reason {
            StoreError::Precondition { .. } => changed(),
            reason => refused(&self.shown, self.kind, reason),
        }
    }
}

/// All bytes of a range of a file, which may be long.
async fn whole(store: &Arc<dyn ObjectStore>, meta: &ObjectMeta, range: Range<u64>) -> object_store::Result<Bytes> {
    if range.end - range.start <= PART {
        return part(store, meta, range).await;
    }
    let starts = (range.start..range.end).step_by(usize::try_from(PART).unwrap_or(usize::MAX));
    let parts: Vec<Bytes> = stream::iter(starts)
        .map(|start| part(store, meta, start..range.end.min(start + PART)))
        .buffered(PARTS)
        .try_collect()
        .await?;
    Ok(parts.concat().into())
}

async fn part(store: &Arc<dyn ObjectStore>, meta: &ObjectMeta, range: Range<u64>) -> object_store::Result<Bytes> {
    if range.is_empty() {
        return Ok(Bytes::new());
    }
    let most = if meta.e_tag.is_some() { TRIES_WITH_TAG } else { TRIES };
    let mut pause = Duration::from_millis(100);
    for tries in 1.. {
        let result = once(store, meta, range.clone()).await;
        match result {
            Err(reason) if tries < most && may_pass(&reason) => {
                tokio::time::sleep(pause).await;
                pause *= 3;
            }
            result => return result,
        }
    }
    Err(broken(format!("{most} tries")))
}

/// Whether it helps to ask once more: not after the store itself has given up, nor for what the server cannot do.
fn may_pass(reason: &StoreError) -> bool {
    let text = reason.to_string();
    let stays = ["max_retries", "non-partial", "Range request not supported"].iter().any(|words| text.contains(words));
    matches!(reason, StoreError::Generic { .. }) && !stays
}

async fn once(store: &Arc<dyn ObjectStore>, meta: &ObjectMeta, range: Range<u64>) -> object_store::Result<Bytes> {
    // A weak tag stands for more than one content, and never matches.
    let if_match = meta.e_tag.clone().filter(|tag| !tag.starts_with("W/"));
    let expected = range.end - range.start;
    let options = GetOptions { range: Some(GetRange::Bounded(range)), if_match, ..GetOptions::default() };
    let result = store.get_opts(&meta.location, options).await?;
    if result.meta.size != meta.size {
        let source = format!("{} bytes instead of {}", result.meta.size, meta.size).into();
        return Err(StoreError::Precondition { path: meta.location.to_string(), source });
    }
    let bytes = result.bytes().await?;
    if bytes.len() as u64 != expected {
        return Err(broken(format!("a body of {} bytes instead of {expected}", bytes.len())));
    }
    Ok(bytes)
}

fn broken(what: String) -> StoreError {
    StoreError::Generic { store: "remote", source: what.into() }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// For DataFusion's reader: the one file under any name, by range.
#[async_trait]
impl ObjectStore for Object {
    async fn get_opts(&self, _: &Path, options: GetOptions) -> object_store::Result<GetResult> {
        let size = self.meta.size;
        let range = match options.range {
            Some(GetRange::Bounded(range)) => range.start.min(size)..range.end.min(size),
            Some(GetRange::Offset(start)) => start.min(size)..size,
            Some(GetRange::Suffix(length)) => size.saturating_sub(length)..size,
            None => 0..size,
        };
        let bytes = if options.head {
            Bytes::new()
        } else {
            let (store, meta, asked) = (Arc::clone(&self.store), self.meta.clone(), range.clone());
            let handle = self.network.handle().map_err(|error| broken(error.to_string()))?;
            handle.spawn(async move { whole(&store, &meta, asked).await }).await??
        };
        Ok(GetResult {
            payload: GetResultPayload::Stream(stream::once(async move { Ok(bytes) }).boxed()),
            meta: self.meta.clone(),
            range,
            attributes: Attributes::default(),
        })
    }

    async fn put_opts(&self, _: &Path, _: PutPayload, _: PutOptions) -> object_store::Result<PutResult> {
        Err(reads_only("put"))
    }

    async fn put_multipart_opts(
        &self,
        _: &Path,
        _: PutMultipartOptions,
    ) -> object_store::Result<Box<dyn MultipartUpload>> {
        Err(reads_only("put"))
    }

    fn delete_stream(
        &self,
        _: BoxStream<'static, object_store::Result<Path>>,
    ) -> BoxStream<'static, object_store::Result<Path>> {
        stream::once(async { Err(reads_only("delete")) }).boxed()
    }

    fn list(&self, _: Option<&Path>) -> BoxStream<'static, object_store::Result<ObjectMeta>> {
        stream::once(async { Err(reads_only("list")) }).boxed()
    }

    async fn list_with_delimiter(&self, _: Option<&Path>) -> object_store::Result<ListResult> {
        Err(reads_only("list"))
    }

    async fn copy_opts(&self, _: &Path, _: &Path, _: CopyOptions) -> object_store::Result<()> {
        Err(reads_only("copy"))
    }
}

fn reads_only(operation: &str) -> StoreError {
    StoreError::NotImplemented { operation: operation.to_string(), implementer: "a file that is read".to_string() }
}
