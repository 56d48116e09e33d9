//! One SQL expression over the columns, for filters, derived columns and predicates.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::prep_null_mask_filter;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, DataFusionError, SchemaError};
use datafusion::logical_expr::simplify::SimplifyContext;
use datafusion::logical_expr::{Expr, Volatility};
use datafusion::optimizer::simplify_expressions::ExprSimplifier;
use datafusion::physical_plan::PhysicalExpr;
use datafusion::prelude::SessionContext;
use datafusion::sql::sqlparser::dialect::GenericDialect;
use datafusion::sql::sqlparser::tokenizer::{Token, Tokenizer};
use fuseval_core::nearest::suggestion;
use fuseval_core::{Error, Result};

use crate::cast::cast;
use crate::columns::Columns;
use crate::types::common_type;

/// An expression that has been checked against the columns.
#[derive(Debug)]
pub(crate) struct Expression {
    sql: String,
    inputs: SchemaRef,
    physical: Arc<dyn PhysicalExpr>,
    data_type: DataType,
}

/// Operators and names that an expression may have: DataFusion recurses as deep, and its planning time grows with the square.
const MAX_WORDS: usize = 1024;

/// Room for that recursion, of which only what is used is taken. Also for the thread that evaluates.
pub(crate) const STACK_BYTES: usize = 64 << 20;

impl Expression {
    /// Parses and checks SQL. Columns are written as in the files, case included; odd names go in double quotes.
    pub(crate) fn new(context: &SessionContext, sql: &str, columns: &Columns) -> Result<Self> {
        // On a thread of its own: a few hundred terms joined by OR overflow the stack of a usual one.
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
            let checked = thread
                .spawn_scoped(scope, || Self::checked(context, sql, columns))
                .map_err(|reason| Error::defect("a thread that checks SQL", reason.to_string()))?;
            checked.join().unwrap_or_else(|_| Err(Error::defect(format!("`{sql}` checked"), "a panic")))
        })
    }

    fn checked(context: &SessionContext, sql: &str, columns: &Columns) -> Result<Self> {
        let words = words(sql);
        if words.len() > MAX_WORDS {
            let found = format!("{} of them", words.len());
            let help = "write lists of values as `column IN (…)`, or split the expression into derived columns";
            return Err(Error::usage(format!("SQL with at most {MAX_WORDS} names and operators"), found, help));
        }
        // Only columns that the SQL mentions need a common type; the others may be anything.
        let mut fields = Vec::new();
        let mut unfit = HashMap::new();
        for name in mentioned(&words, columns) {
            match columns.column_type(&name) {
                Ok(data_type) => fields.push(Field::new(name, data_type, true)),
                Err(error) => _ = unfit.insert(name, error),
            }
        }
        let explain = |reason: &DataFusionError| match not_found(reason).map(|name| (unfit.get(name), name)) {
            Some((Some(error), _)) => error.clone(),
            Some((None, name)) => {
                let help = suggestion(name, columns.names().iter().map(String::as_str));
                Error::usage(format!("columns of the data in `{sql}`"), format!("`{name}`"), help)
            }
            None => refused(sql, reason),
        };
        let schema = DFSchema::try_from(Schema::new(fields)).map_err(|reason| refused(sql, &reason))?;
        let logical = context.parse_sql_expr(sql, &schema).map_err(|reason| explain(&reason))?;
        if let Some(error) = no_value_of_one_row(sql, &logical) {
            return Err(error);
        }
        let used = logical.column_refs();
        let inputs = schema.fields().iter().filter(|field| used.iter().any(|column| column.name() == field.name()));
        let inputs = Arc::new(Schema::new(inputs.cloned().collect::<Vec<_>>()));
        let schema = DFSchema::try_from(inputs.clone()).map_err(|reason| refused(sql, &reason))?;
        let physical = simplified(context, logical, &schema)
            .and_then(|logical| context.create_physical_expr(logical, &schema))
            .map_err(|reason| refused(sql, &reason))?;
        let raw_type = physical.data_type(&inputs).map_err(|reason| refused(sql, &reason))?;
        let data_type = common_type([&raw_type]).unwrap_or(raw_type);
        Ok(Self { sql: sql.to_string(), inputs, physical, data_type })
    }

    /// As `new`, for SQL that must be true or false.
    pub(crate) fn predicate(context: &SessionContext, sql: &str, columns: &Columns) -> Result<Self> {
        let expression = Self::new(context, sql, columns)?;
        if expression.data_type == DataType::Boolean {
            return Ok(expression);
        }
        let found = format!("`{sql}` of type {}", expression.data_type);
        Err(Error::usage("a predicate, which is true or false", found, "compare it with a value"))
    }

    /// The type of the values.
    pub(crate) fn data_type(&self) -> &DataType {
        &self.data_type
    }

    /// The columns it is computed from.
    pub(crate) fn inputs(&self) -> impl DoubleEndedIterator<Item = &String> {
        self.inputs.fields().iter().map(|field| field.name())
    }

    /// Computes the values of a batch from the arrays of its inputs.
    pub(crate) fn evaluate(&self, inputs: Vec<ArrayRef>, rows: usize) -> Result<ArrayRef> {
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let values = RecordBatch::try_new_with_options(self.inputs.clone(), inputs, &options)
            .map_err(DataFusionError::from)
            .and_then(|batch| self.physical.evaluate(&batch)?.into_array(rows))
            .map_err(|reason| {
                let expected = format!("a value of `{}` for every row", self.sql);
                Error::data(expected, format!("`{}`", short(&reason)), "correct the value, or filter the row out")
            })?;
        cast(&values, &self.data_type)
    }

    /// Computes a predicate; null counts as false.
    pub(crate) fn mask(&self, inputs: Vec<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let values = self.evaluate(inputs, rows)?;
        let Some(values) = values.as_any().downcast_ref::<BooleanArray>() else {
            return Err(Error::defect(format!("booleans from `{}`", self.sql), values.data_type().to_string()));
        };
        Ok(if values.null_count() == 0 { values.clone() } else { prep_null_mask_filter(values) })
    }
}

/// DataFusion computes some functions, such as `coalesce`, only in the form that its optimizer gives them.
fn simplified(
    context: &SessionContext,
    logical: Expr,
    schema: &DFSchema,
) -> std::result::Result<Expr, DataFusionError> {
    let simplify = SimplifyContext::builder()
        .with_schema(Arc::new(schema.clone()))
        .with_config_options(Arc::clone(context.state().config_options()))
        .build();
    let simplifier = ExprSimplifier::new(simplify);
    simplifier.simplify(simplifier.coerce(logical, schema)?)
}

/// The names and operators of SQL; not the literals and commas, which may be as many as a list of values is long.
fn words(sql: &str) -> Vec<Token> {
    // What cannot be split into words is refused by the parser, with its reason.
    let mut tokens = Tokenizer::new(&GenericDialect {}, sql).tokenize().unwrap_or_default();
    tokens.retain(|token| {
        let literal = matches!(token, Token::Number(..) | Token::SingleQuotedString(_));
        !literal && !matches!(token, Token::Whitespace(_) | Token::Comma)
    });
    tokens
}

/// The columns whose names occur among the words, each once.
fn mentioned(words: &[Token], columns: &Columns) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for token in words {
        match token {
            Token::Word(word) if columns.has(&word.value) && !names.contains(&word.value) => {
                names.push(word.value.clone());
            }
            _ => {}
        }
    }
    names
}

/// The error for SQL whose value depends on other rows, on the time or on chance.
fn no_value_of_one_row(sql: &str, logical: &Expr) -> Option<Error> {
    let row = || format!("a value that depends on one row only in `{sql}`");
    let mut error = None;
    let walked = logical.apply(|part| {
        error = match part {
            Expr::ScalarFunction(call) if call.func.signature().volatility != Volatility::Immutable => {
                let help = "write the value itself, so that every run gives the same result";
                Some(Error::usage(
                    format!("a value that never changes in `{sql}`"),
                    format!("`{}()`", call.func.name()),
                    help,
                ))
            }
            Expr::AggregateFunction(call) => Some(Error::usage(row(), format!("`{}()`", call.func.name()), ONE_ROW)),
            Expr::WindowFunction(call) => Some(Error::usage(row(), format!("`{}()`", call.fun.name()), ONE_ROW)),
            Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_) => {
                Some(Error::usage(row(), "a subquery", ONE_ROW))
            }
            _ => None,
        };
        Ok(if error.is_some() { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    walked.ok().and(error)
}

const ONE_ROW: &str = "compute it beforehand and store it as a column";

fn not_found(reason: &DataFusionError) -> Option<&str> {
    match reason.find_root() {
        DataFusionError::SchemaError(schema, _) => match schema.as_ref() {
            SchemaError::FieldNotFound { field, .. } => Some(field.name()),
            _ => None,
        },
        _ => None,
    }
}

fn refused(sql: &str, reason: &DataFusionError) -> Error {
    let help = "correct the SQL; names with other characters than letters, digits and _ go in double quotes";
    Error::usage(format!("a SQL expression over the columns, `{sql}`"), format!("`{}`", short(reason)), help)
}

/// DataFusion's reason without its wrappings.
pub(crate) fn short(reason: &DataFusionError) -> String {
    let text = match reason.find_root() {
        DataFusionError::SQL(parser, _) => parser.to_string(),
        DataFusionError::ArrowError(arrow, _) => arrow.to_string(),
        other => other.message().into_owned(),
    };
    let line = text.trim_start_matches("sql parser error: ").lines().next().unwrap_or_default();
    // Some reasons hold whole plans.
    match line.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
        None => line.to_string(),
    }
}
