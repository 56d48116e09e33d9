//! The files of a store that a URL names: one file, those below a prefix, or those that match a glob.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;

use fuseval_core::{Error, Result};
use futures::TryStreamExt;
use object_store::{Error as StoreError, ObjectMeta, ObjectStore, ObjectStoreExt};

use super::Network;
use super::object::Object;
use super::refusal::{At, refused};
use super::url::{Kind, Place};
use crate::content::Location;
use crate::format::Format;
use crate::paths::{FoundFile, is_hidden_name, partitions};

/// Finds the files; there is at least one.
pub(crate) fn find(network: &Arc<Network>, given: &str) -> Result<Vec<FoundFile>> {
    let place = Place::parse(given)?;
    let store = network.store(&place.root, || super::store::open(&place))?;
    let search = Search { network, place, store };
    let has_wildcards = search.place.kind != Kind::Http && search.place.key.contains(['*', '?', '[']);
    if has_wildcards { search.glob() } else { search.file_or_prefix() }
}

/// A URL being looked up.
struct Search<'a> {
    network: &'a Arc<Network>,
    place: Place,
    store: Arc<dyn ObjectStore>,
}

impl Search<'_> {
    fn file_or_prefix(&self) -> Result<Vec<FoundFile>> {
        let key = self.place.key.as_str();
        let folder = key.trim_end_matches('/');
        if !key.is_empty() && folder == key {
            let (store, path) = (Arc::clone(&self.store), self.place.path(key)?);
            match self.network.wait(async move { store.head(&path).await })? {
                Ok(meta) => return Ok(vec![self.found(key, meta, None)]),
                Err(StoreError::NotFound { .. }) if self.place.kind != Kind::Http => {}
                Err(reason) => return Err(refused(&self.place.shown(key), self.place.kind, &reason)),
            }
        }
        let below = self.list(folder)?;
        let is_nothing = below.is_empty();
        let mut files = Vec::new();
        for meta in below {
            let key = meta.location.to_string();
            if self.is_data(&key, folder) {
                files.push(self.found(&key, meta, Some(folder)));
            }
        }
        match (files.is_empty(), is_nothing) {
            (true, true) => {
                let found = format!("nothing at `{}`", self.place.shown(key));
                Err(Error::data("an existing file or prefix", found, "check the URL"))
            }
            (true, false) => {
                let found = format!("none below `{}`", self.place.shown(key));
                Err(Error::data("a prefix with files of data", found, crate::paths::NO_DATA))
            }
            _ => Ok(files),
        }
    }

    fn glob(&self) -> Result<Vec<FoundFile>> {
        let pattern = self.place.key.trim_end_matches('/');
        let shown = self.place.shown(&self.place.key);
        let compiled = glob::Pattern::new(pattern).map_err(|reason| {
            let help = "write [*] for a star that is part of a name";
            Error::usage("a glob", format!("`{shown}` ({})", reason.msg), help)
        })?;
        let fixed: Vec<&str> = pattern.split('/').take_while(|part| !part.contains(['*', '?', '['])).collect();
        let base = fixed.join("/");
        let options = glob::MatchOptions {
            require_literal_separator: true,
            require_literal_leading_dot: true,
            ..glob::MatchOptions::default()
        };
        let asks_for_hidden = pattern.split('/').skip(fixed.len()).any(is_hidden_name);
        let is_hidden = |key: &str| !asks_for_hidden && below(key, &base).split('/').any(is_hidden_name);
        let mut files = Vec::new();
        for meta in self.list(&base)? {
            let key = meta.location.to_string();
            let is_match = compiled.matches_with(&key, options);
            let mut folders = key.match_indices('/').filter_map(|(end, _)| key.get(..end));
            let mut is_below =
                || folders.any(|folder| compiled.matches_with(folder, options) && self.is_data(&key, folder));
            // A key that is written like the glob is meant itself.
            if key == self.place.key {
                return Ok(vec![self.found(&key, meta, None)]);
            }
            if !is_hidden(&key) && (is_match || is_below()) {
                files.push(self.found(&key, meta, Some(&base)));
            }
        }
        if files.is_empty() {
            return Err(Error::data("files that match the glob", format!("none for `{shown}`"), "check the URL"));
        }
        Ok(files)
    }

    /// Whether a key below a folder is a file of data.
    fn is_data(&self, key: &str, folder: &str) -> bool {
        Format::is_sought(key) && !below(key, folder).split('/').any(is_hidden_name)
    }

    /// All files below a folder.
    fn list(&self, folder: &str) -> Result<Vec<ObjectMeta>> {
        let path = if folder.is_empty() { None } else { Some(self.place.path(folder)?) };
        let store = Arc::clone(&self.store);
        let listed = self.network.wait(async move { store.list(path.as_ref()).try_collect::<Vec<_>>().await })?;
        listed.about(&self.place.shown(folder), self.place.kind)
    }

    fn found(&self, key: &str, meta: ObjectMeta, base: Option<&str>) -> FoundFile {
        let shown = self.place.shown(key);
        let partitions = base.map(|base| partitions(FilePath::new(key), FilePath::new(base))).unwrap_or_default();
        let meta = ObjectMeta { e_tag: meta.e_tag.map(quoted), ..meta };
        let object = Object {
            network: Arc::clone(self.network),
            store: Arc::clone(&self.store),
            kind: self.place.kind,
            shown: shown.clone(),
            meta,
        };
        FoundFile {
            location: Location::Remote(Arc::new(object)),
            shown,
            canonical: PathBuf::from(format!("{}/{key}", self.place.root)),
            partitions,
        }
    }
}

/// What follows a folder in a key.
fn below<'a>(key: &'a str, folder: &str) -> &'a str {
    key.strip_prefix(folder).unwrap_or(key).trim_start_matches('/')
}

/// Some stores list tags without the quotes that requests need.
fn quoted(tag: String) -> String {
    if tag.starts_with('"') || tag.starts_with("W/") { tag } else { format!("\"{tag}\"") }
}
