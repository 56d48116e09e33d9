//! The columns that can be asked for: those of the files, then the derived ones.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::prelude::SessionContext;
use fuseval_core::{Error, Result};

use crate::expression::Expression;
use crate::table::Table;

/// A column computed by SQL.
#[derive(Debug)]
pub(crate) struct Derived {
    pub(crate) name: String,
    pub(crate) expression: Arc<Expression>,
}

/// The columns of a source.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) table: Table,
    /// In the order in which they were declared; each may use the ones before it.
    pub(crate) derived: Vec<Derived>,
}

impl Columns {
    /// Adds the derived columns to those of the files.
    pub(crate) fn new(table: Table, context: impl Fn() -> SessionContext, derive: &[(String, String)]) -> Result<Self> {
        let mut columns = Self { table, derived: Vec::new() };
        for (name, sql) in derive {
            if columns.has(name) {
                let found = format!("`{name}`, which is there already");
                return Err(Error::usage("a new name for a derived column", found, "choose another name").at("derive"));
            }
            let expression =
                Expression::new(&context(), sql, &columns).map_err(|error| error.at(format!("derive `{name}`")))?;
            columns.derived.push(Derived { name: name.clone(), expression: Arc::new(expression) });
        }
        Ok(columns)
    }

    /// The names of all columns, derived ones last.
    pub(crate) fn names(&self) -> Vec<String> {
        let derived = self.derived.iter().map(|derived| &derived.name);
        self.table.names().iter().chain(derived).cloned().collect()
    }

    pub(crate) fn has(&self, column: &str) -> bool {
        self.table.has(column) || self.derived(column).is_some()
    }

    /// The derived column of a name.
    pub(crate) fn derived(&self, column: &str) -> Option<&Derived> {
        self.derived.iter().find(|derived| derived.name == column)
    }

    /// The type of a column, common to all files.
    pub(crate) fn column_type(&self, column: &str) -> Result<DataType> {
        match self.derived(column) {
            Some(derived) => Ok(derived.expression.data_type().clone()),
            None if self.table.has(column) => self.table.column_type(column),
            None => Err(fuseval_core::source::no_such_column(column, &self.names())),
        }
    }
}
