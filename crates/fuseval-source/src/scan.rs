//! One pass over all files: a task reads ahead into a short queue, an iterator takes from it.

use std::sync::Arc;

use arrow_array::BooleanArray;
use datafusion::prelude::SessionContext;
use fuseval_core::{Error, Result, Rows};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::columns::Columns;
use crate::file::File;
use crate::plan::ScanPlan;
use crate::read::read;
use crate::session::Reading;

/// The batches that wait for the consumer at most.
const AHEAD: usize = 2;

/// What the task sends. The end is said, so that a task that dies is not taken for the end of the data.
enum Message {
    Rows(Box<Rows>),
    Failed(Error),
    End,
}

/// The rows of a scan. Blocks on the next batch, so it belongs outside of asynchronous code.
pub(crate) struct RowsIterator {
    messages: Receiver<Message>,
    task: JoinHandle<()>,
    is_over: bool,
    /// Keeps the reading thread alive when the source is dropped first.
    _reading: Arc<Reading>,
}

/// Starts to read.
pub(crate) fn scan(
    reading: &Arc<Reading>,
    context: SessionContext,
    columns: Arc<Columns>,
    plan: ScanPlan,
) -> Result<RowsIterator> {
    let Some(handle) = reading.handle() else {
        return Err(Error::defect("a thread that reads ahead", "none"));
    };
    let (sender, messages) = channel(AHEAD);
    let task = handle.spawn(async move {
        let last = match read_all(&context, &columns, &plan, &sender).await {
            Ok(()) => Message::End,
            Err(error) => Message::Failed(error),
        };
        // Nobody listens any more when the iterator was dropped half-way; that is no error.
        let _ = sender.send(last).await;
    });
    Ok(RowsIterator { messages, task, is_over: false, _reading: Arc::clone(reading) })
}

async fn read_all(
    context: &SessionContext,
    columns: &Columns,
    plan: &ScanPlan,
    sender: &Sender<Message>,
) -> Result<()> {
    let mut file_start = 0;
    for (position, file) in columns.table.files.iter().enumerate() {
        file.check_unchanged()?;
        let declared = &columns.table.declared;
        let mut reader = read(context, file, declared, &plan.stored).map_err(|error| error.at(file.shown.clone()))?;
        let mut row = 0;
        while let Some(batch) = reader.next(file).await {
            let (stored, rows) = batch.map_err(|error| error.at(whereabouts(file, row)))?;
            let selection = plan.apply(stored, rows).map_err(|error| error.at(whereabouts(file, row)))?;
            let row_numbers = row_numbers(row, rows, selection.kept.as_ref());
            row += rows as u64;
            if row_numbers.is_empty() {
                continue;
            }
            let rows = Rows { columns: selection.columns, file: position, row_numbers, file_start };
            if sender.send(Message::Rows(Box::new(rows))).await.is_err() {
                return Ok(());
            }
        }
        file_start += row;
    }
    Ok(())
}

/// The file and, for formats that have them, the row group in which the next row lies.
fn whereabouts(file: &File, row: u64) -> String {
    match file.row_group(row) {
        Some(group) => format!("{}: row group {group}", file.shown),
        None => file.shown.clone(),
    }
}

/// The numbers of the rows that are left of a batch that begins with row `first`.
fn row_numbers(first: u64, rows: usize, kept: Option<&BooleanArray>) -> Vec<u64> {
    match kept {
        None => (first..first + rows as u64).collect(),
        Some(kept) => kept.values().set_indices().map(|index| first + index as u64).collect(),
    }
}

impl Iterator for RowsIterator {
    type Item = Result<Rows>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let message = self.messages.blocking_recv();
        self.is_over = !matches!(message, Some(Message::Rows(_)));
        match message {
            Some(Message::Rows(rows)) => Some(Ok(*rows)),
            Some(Message::Failed(error)) => Some(Err(error)),
            Some(Message::End) => None,
            None => Some(Err(Error::defect("rows, or the end of them", "a reading task that stopped"))),
        }
    }
}

impl Drop for RowsIterator {
    fn drop(&mut self) {
        self.task.abort();
    }
}
