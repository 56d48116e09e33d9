//! What a URL names: a store, and a key in it.

use fuseval_core::nearest::suggestion;
use fuseval_core::{Error, Result};
use object_store::path::Path;
use url::Url;

/// The kinds of stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    S3,
    Google,
    Azure,
    Http,
}

const SCHEMES: &[(&str, Kind)] = &[
    ("s3", Kind::S3),
    ("s3a", Kind::S3),
    ("gs", Kind::Google),
    ("az", Kind::Azure),
    ("abfs", Kind::Azure),
    ("abfss", Kind::Azure),
    ("http", Kind::Http),
    ("https", Kind::Http),
];

/// A URL that a user gave, in its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) kind: Kind,
    /// Scheme and host: what tells one store from another. For the web with the query, in which access may be granted.
    pub(super) root: String,
    /// Scheme and host as shown to people: without password and query.
    pub(super) shown_root: String,
    /// The key below the root as it was written, without a `/` at its start: it may hold wildcards.
    pub(super) key: String,
}

/// Whether a path is meant as a URL.
pub(crate) fn is_url(path: &str) -> bool {
    path.contains("://")
}

impl Place {
    pub(super) fn parse(given: &str) -> Result<Self> {
        let (scheme, rest) = given.split_once("://").unwrap_or_default();
        let known = scheme.to_lowercase();
        let Some((_, kind)) = SCHEMES.iter().find(|(name, _)| *name == known) else {
            let schemes = SCHEMES.iter().map(|(name, _)| *name);
            let help = match scheme {
                "file" => "write the path without `file://`".to_string(),
                _ => suggestion(&known, schemes),
            };
            let expected = "a URL that begins with `s3://`, `gs://`, `az://`, `abfs://`, `http://` or `https://`";
            return Err(Error::usage(expected, format!("`{given}`"), help));
        };
        let refused = |reason: &str| {
            let found = format!("`{given}` ({reason})");
            Error::usage("a URL such as `s3://bucket/folder/file.parquet`", found, "correct the URL")
        };
        if *kind == Kind::Http {
            return web_page(given).map_err(|reason| refused(&reason));
        }
        // Keys of stores are no paths of the web: `%`, `?` and `#` stand for themselves.
        let (host, key) = rest.split_once('/').unwrap_or((rest, ""));
        let parsed = Url::parse(&format!("{known}://{host}")).map_err(|reason| refused(&reason.to_string()))?;
        if host.is_empty() || parsed.host_str().is_none_or(|host| host.contains(['*', '[', ' '])) {
            return Err(refused("the name of the bucket is missing"));
        }
        if key.starts_with('/') {
            return Err(refused("a key with an empty part"));
        }
        let root = format!("{known}://{host}");
        Ok(Self { kind: *kind, shown_root: root.clone(), root, key: key.to_string() })
    }

    /// The URL of a key of this store, as shown to people.
    pub(super) fn shown(&self, key: &str) -> String {
        format!("{}/{key}", self.shown_root)
    }

    /// A key as the store takes it.
    pub(super) fn path(&self, key: &str) -> Result<Path> {
        let path = if self.kind == Kind::Http { Path::from_url_path(key) } else { Path::parse(key) };
        path.map_err(|reason| {
            Error::usage(
                "a URL such as `s3://bucket/folder/file.parquet`",
                format!("`{}` ({reason})", self.shown(key)),
                "correct the URL",
            )
        })
    }
}

fn web_page(given: &str) -> std::result::Result<Place, String> {
    let mut url = Url::parse(given).map_err(|reason| reason.to_string())?;
    let key = url.path().trim_start_matches('/').to_string();
    if key.is_empty() || key.ends_with('/') {
        return Err("web servers give single files, not folders".to_string());
    }
    if given.split('?').next().is_some_and(|path| path.contains('*')) {
        return Err("web servers give single files: there is no list of names for a glob".to_string());
    }
    url.set_path("");
    url.set_fragment(None);
    let root = url.to_string();
    url.set_query(None);
    let stripped = url.set_username("").and_then(|()| url.set_password(None));
    stripped.map_err(|()| "a name without a host".to_string())?;
    let shown_root = url.to_string().trim_end_matches('/').to_string();
    Ok(Place { kind: Kind::Http, root, shown_root, key })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn urls_have_a_store_and_a_key() {
        let place = Place::parse("s3://bucket/a%20b/c?d#e/*.csv").unwrap();
        assert_eq!(
            (place.kind, place.root.as_str(), place.key.as_str()),
            (Kind::S3, "s3://bucket", "a%20b/c?d#e/*.csv")
        );
        let place = Place::parse("abfss://box@account.dfs.core.windows.net/x.csv").unwrap();
        assert_eq!((place.root.as_str(), place.key.as_str()), ("abfss://box@account.dfs.core.windows.net", "x.csv"));
        let place = Place::parse("https://me:secret@host:8/a%20b/c.csv?sig=1").unwrap();
        assert_eq!(place.root, "https://me:secret@host:8/?sig=1");
        assert_eq!(place.shown(&place.key), "https://host:8/a%20b/c.csv");
        assert_eq!(place.path(&place.key).unwrap().as_ref(), "a b/c.csv");
        assert_eq!(Place::parse("gs://bucket").unwrap().key, "");
    }

    #[test]
    fn malformed_urls_are_refused() {
        for url in [
            "s3://",
            "s3:///x.csv",
            "s4://b/x.csv",
            "s3://b//x.csv",
            "http://host",
            "http://host/a/",
            "http:///",
            "://x",
            "s3://a b/c",
            "http://[::1/x.csv",
            "https://host/*.csv",
            "s3://*/x.csv",
            "file:///a.csv",
            "http://:99999/x.csv",
        ] {
            let error = Place::parse(url).unwrap_err();
            assert_eq!(error.kind(), fuseval_core::ErrorKind::Usage, "{url}: {error}");
        }
    }
}
