//! The formats that are read and their compression, both told by the end of the file name.

use std::io::{BufReader, Read};

use bzip2::bufread::MultiBzDecoder;
use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

/// The formats that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Parquet,
    Csv,
    Ndjson,
    Arrow,
    Avro,
}

/// The ends of file names, with whether a directory is searched for them: other JSON files lie beside data more often than
/// data in JSON does.
const ENDS: &[(&str, Format, bool)] = &[
    ("parquet", Format::Parquet, true),
    ("csv", Format::Csv, true),
    ("ndjson", Format::Ndjson, true),
    ("jsonl", Format::Ndjson, true),
    ("json", Format::Ndjson, false),
    ("arrow", Format::Arrow, true),
    ("feather", Format::Arrow, true),
    ("ipc", Format::Arrow, true),
    ("avro", Format::Avro, true),
];

/// What people are told about the names that are read.
pub(crate) const KNOWN: &str = "`parquet`, `csv`, `ndjson`, `jsonl`, `json`, `arrow`, `feather`, `ipc`, `avro`; CSV and \
                                JSON also with `.gz`, `.zst`, `.bz2` or `.xz`";

impl Format {
    /// The format of a file name, in any case, and its compression.
    pub(crate) fn of(name: &str) -> Option<(Self, Compression)> {
        end_of(name).map(|(format, compression, _)| (format, compression))
    }

    /// Whether a file of this name is taken where a directory is searched.
    pub(crate) fn is_sought(name: &str) -> bool {
        end_of(name).is_some_and(|(_, _, sought)| sought)
    }

    /// The name of the format in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Parquet => "Parquet",
            Self::Csv => "CSV",
            Self::Ndjson => "NDJSON",
            Self::Arrow => "Arrow",
            Self::Avro => "Avro",
        }
    }

    /// Whether types of columns belong to each file, as they are told from its values.
    pub(crate) fn is_text(self) -> bool {
        matches!(self, Self::Csv | Self::Ndjson)
    }
}

fn end_of(name: &str) -> Option<(Format, Compression, bool)> {
    let name = name.rsplit(['/', std::path::MAIN_SEPARATOR]).next()?.to_lowercase();
    let compressed = COMPRESSIONS.iter().find_map(|(end, found)| Some((name.strip_suffix(end)?, *found)));
    let (name, compression) = compressed.unwrap_or((name.as_str(), Compression::None));
    let (stem, end) = name.rsplit_once('.')?;
    let (_, format, sought) = ENDS.iter().find(|(known, ..)| *known == end).filter(|_| !stem.is_empty())?;
    (compression == Compression::None || format.is_text()).then_some((*format, compression, *sought))
}

/// How the bytes of a file are compressed as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Bzip2,
    Xz,
}

const COMPRESSIONS: &[(&str, Compression)] =
    &[(".gz", Compression::Gzip), (".zst", Compression::Zstd), (".bz2", Compression::Bzip2), (".xz", Compression::Xz)];

impl Compression {
    /// The name in messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "uncompressed",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Bzip2 => "bzip2",
            Self::Xz => "xz",
        }
    }

    /// The decompressed bytes. All members, frames or streams of a file count: parallel compressors write many.
    pub(crate) fn decoded(self, read: Box<dyn Read + Send>) -> std::io::Result<Box<dyn Read + Send>> {
        let buffered = |read| BufReader::with_capacity(1 << 16, read);
        Ok(match self {
            Self::None => read,
            Self::Gzip => Box::new(MultiGzDecoder::new(buffered(read))),
            Self::Zstd => Box::new(zstd::Decoder::with_buffer(buffered(read))?),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(buffered(read))),
            Self::Xz => Box::new(XzReader::new(buffered(read), true)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_tells_the_format() {
        let plain = |format| Some((format, Compression::None));
        assert_eq!(Format::of("a/b.PARQUET"), plain(Format::Parquet));
        assert_eq!(Format::of("a.b.csv.GZ"), Some((Format::Csv, Compression::Gzip)));
        assert_eq!(Format::of("a.jsonl.zst"), Some((Format::Ndjson, Compression::Zstd)));
        assert_eq!(Format::of("x.feather"), plain(Format::Arrow));
        for name in ["a.parquet.gz", "a.gz", ".csv", "csv", "a.csv/b", "a.csv.gz.gz", "a.avro.zst"] {
            assert_eq!(Format::of(name), None, "{name}");
        }
        assert!(!Format::is_sought("a.json.gz") && Format::is_sought("a.ndjson"));
    }
}
