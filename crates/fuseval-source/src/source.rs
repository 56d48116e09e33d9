//! The source that reads files.

use std::sync::Arc;

use arrow_schema::DataType;
use fuseval_core::source::{FileIdentity, Request};
use fuseval_core::{Result, Rows, Scan, Source};

use crate::cluster::Clustering;
use crate::columns::Columns;
use crate::expect::check;
use crate::expression::Expression;
use crate::file::File;
use crate::options::{DeclaredTypes, SourceOptions};
use crate::paths::found_files;
use crate::plan::ScanPlan;
use crate::scan::scan;
use crate::session::Session;
use crate::table::Table;

/// Files as a source of rows.
#[derive(Debug)]
pub struct FileSource {
    session: Session,
    columns: Arc<Columns>,
    filter: Option<Arc<Expression>>,
    files: Vec<String>,
}

/// Finds the files, reads their metadata (footers of Parquet, header lines of CSV, all lines of NDJSON), and checks filter and
/// derived columns.
pub fn open(options: SourceOptions) -> Result<FileSource> {
    let declared = DeclaredTypes::new(&options.text_columns, &options.types)?;
    let found = found_files(&options.paths)?;
    check(&options.expect, &found)?;
    let table = Table::open(&found, declared, &options.explode)?;
    let session = Session::new()?;
    let columns = Columns::new(table, || session.context().clone(), &options.derive)?;
    let filter = match &options.filter {
        Some(sql) => {
            let filter = Expression::predicate(session.context(), sql, &columns);
            Some(Arc::new(filter.map_err(|error| error.at("filter"))?))
        }
        None => None,
    };
    let files = columns.table.files.iter().map(|file| file.shown.clone()).collect();
    Ok(FileSource { session, columns: Arc::new(columns), filter, files })
}

impl Source for FileSource {
    fn files(&self) -> &[String] {
        &self.files
    }

    fn identities(&self) -> Vec<FileIdentity> {
        self.columns.table.files.iter().map(File::identity).collect()
    }

    fn columns(&self) -> Vec<String> {
        self.columns.names()
    }

    fn column_type(&self, column: &str) -> Result<DataType> {
        self.columns.column_type(column)
    }

    fn check_predicate(&self, sql: &str) -> Result<()> {
        Expression::predicate(self.session.context(), sql, &self.columns).map(|_| ())
    }

    fn row_count(&self) -> Option<u64> {
        // How many rows the lists become is only known when they are read.
        let table = &self.columns.table;
        if table.explode.is_empty() { table.files.iter().map(|file| file.row_count()).sum() } else { None }
    }

    fn scan(&self, request: &Scan) -> Result<Box<dyn Iterator<Item = Result<Rows>> + Send>> {
        let context = self.session.context().clone();
        let plan = ScanPlan::new(request, self.filter.as_ref(), &self.columns, || context.clone())?;
        let clustering = match &request.cluster {
            None => None,
            Some(cluster) => {
                let kind = |request: &Request| match request {
                    Request::Column(name) => self.columns.column_type(name),
                    Request::Predicate(_) => Ok(DataType::Boolean),
                };
                let types = request.requests.iter().map(kind).collect::<Result<Vec<_>>>()?;
                Some(Clustering::new(cluster.clone(), &types))
            }
        };
        Ok(Box::new(scan(&self.session.reading, context, Arc::clone(&self.columns), plan, clustering)?))
    }
    /// The file, its row group if it has them, and the row in the file.
    fn place(&self, place: u64) -> String {
        let mut row = place;
        let mut files = self.columns.table.files.iter().peekable();
        while let Some(file) = files.next() {
            // The rows of a file that has not been read to its end are not known: the place is in it.
            match file.known_rows() {
                Some(rows) if row >= rows && files.peek().is_some() => row -= rows,
                _ => {
                    return match file.row_group(row) {
                        Some(group) => format!("{}: row group {group}, row {row}", file.shown),
                        None => format!("{}: row {row}", file.shown),
                    };
                }
            }
        }
        format!("row {place}")
    }
}
