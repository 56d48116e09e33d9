//! One pass over all files: a task reads ahead into a short queue, an iterator takes from it.

use std::sync::Arc;

use arrow_array::{ArrayRef, BooleanArray};
use datafusion::prelude::SessionContext;
use fuseval_core::nearest::listed;
use fuseval_core::source::Numbers;
use fuseval_core::{Error, Result, Rows};
use futures::StreamExt;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

use crate::cluster::Clustering;
use crate::columns::Columns;
use crate::explode::Lists;
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
    tasks: Vec<JoinHandle<()>>,
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
    clustering: Option<Clustering>,
) -> Result<RowsIterator> {
    let Some(handle) = reading.handle() else {
        return Err(Error::defect("a thread that reads ahead", "none"));
    };
    let (sender, messages) = channel(AHEAD);
    let reader = handle.spawn(async move {
        let last = match read_all(&context, &columns, &plan, &sender).await {
            Ok(()) => Message::End,
            Err(error) => Message::Failed(error),
        };
        // Nobody listens any more when the iterator was dropped half-way; that is no error.
        let _ = sender.send(last).await;
    });
    let (messages, tasks) = match clustering {
        None => (messages, vec![reader]),
        Some(clustering) => {
            let (sender, sorted) = channel(AHEAD);
            (sorted, vec![reader, handle.spawn(sort(clustering, messages, sender))])
        }
    };
    Ok(RowsIterator { messages, tasks, is_over: false, _reading: Arc::clone(reading) })
}

/// Takes rows in logical order and sends them by key.
async fn sort(clustering: Clustering, messages: Receiver<Message>, sender: Sender<Message>) {
    let clustering = Arc::new(clustering);
    let taking = Arc::clone(&clustering);
    let batches = futures::stream::unfold(Some((messages, 0)), move |state| {
        let taking = Arc::clone(&taking);
        async move {
            let (mut messages, ordinal) = state?;
            match messages.recv().await {
                Some(Message::Rows(rows)) => {
                    let next = ordinal + rows.len() as u64;
                    Some((taking.batch(*rows, ordinal), Some((messages, next))))
                }
                Some(Message::Failed(error)) => Some((Err(error), None)),
                Some(Message::End) => None,
                None => Some((Err(Error::defect("rows, or the end of them", "a reading task that stopped")), None)),
            }
        }
    });
    let last = match clustering.sorted(batches) {
        Err(error) => Message::Failed(error),
        Ok(mut sorted) => loop {
            let rows = match sorted.next().await {
                None => break Message::End,
                Some(Err(error)) => break Message::Failed(error),
                Some(Ok(rows)) => rows,
            };
            if sender.send(Message::Rows(Box::new(rows))).await.is_err() {
                return;
            }
        },
    };
    let _ = sender.send(last).await;
}

async fn read_all(
    context: &SessionContext,
    columns: &Columns,
    plan: &ScanPlan,
    sender: &Sender<Message>,
) -> Result<()> {
    let mut file_start = 0;
    for file in &columns.table.files {
        if file_start >= plan.places.end {
            break;
        }
        file.check_unchanged()?;
        if let Some(rows) = file.row_count()
            && file_start + rows <= plan.places.start
        {
            file_start += rows;
            continue;
        }
        let declared = &columns.table.declared;
        let wanted = plan.places.start.saturating_sub(file_start)..plan.places.end - file_start;
        let mut reader =
            read(context, file, declared, &plan.stored, &wanted).map_err(|error| error.at(file.shown.clone()))?;
        let mut row = reader.first_row();
        let mut is_whole = true;
        while let Some(batch) = reader.next(file).await {
            let (stored, rows) = batch.map_err(|error| error.at(whereabouts(file, row)))?;
            for run in runs(plan, file, stored, rows, row)? {
                let run = run?;
                let places = run.rows.shifted(file_start);
                let selection =
                    plan.apply(run.columns, places.len()).map_err(|error| error.at(whereabouts(file, row)))?;
                let places = kept(places, selection.kept.as_ref());
                let rows = Rows { columns: selection.columns, places, ordinals: None }.at(&plan.places);
                if rows.is_empty() {
                    continue;
                }
                if sender.send(Message::Rows(Box::new(rows))).await.is_err() {
                    return Ok(());
                }
            }
            row += rows as u64;
            if row >= wanted.end {
                is_whole = false;
                break;
            }
        }
        match file.row_count() {
            Some(rows) => file_start += rows,
            None if is_whole => {
                file.counted(row);
                file_start += row;
            }
            None => break,
        }
    }
    Ok(())
}

/// Stored columns with the numbers of their rows in the file.
struct Run {
    columns: Vec<ArrayRef>,
    rows: Numbers,
}

/// The batch that begins with row `first`: as it is, or its lists as rows, each with the number of the row of its list.
fn runs<'a>(
    plan: &'a ScanPlan,
    file: &'a File,
    columns: Vec<ArrayRef>,
    rows: usize,
    first: u64,
) -> Result<Box<dyn Iterator<Item = Result<Run>> + Send + 'a>> {
    if plan.lists.is_empty() {
        let run = Run { columns, rows: Numbers::Range(first..first + rows as u64) };
        return Ok(Box::new(std::iter::once(Ok(run))));
    }
    let lists = Lists::new(columns, &plan.lists, rows)?.map_err(|uneven| {
        let name = |place: usize| plan.stored.get(place).map_or("", |(name, _)| name.as_str());
        let [(one, length), (other, found)] = uneven.lengths;
        let row = first + uneven.row as u64;
        Error::data(
            format!(
                "lists of one length in the columns {}",
                listed(&plan.lists.iter().map(|place| name(*place)).collect::<Vec<_>>())
            ),
            format!("{length} values in `{}` and {found} in `{}`", name(one), name(other)),
            "correct the row; a null counts as a list without values",
        )
        .at(format!("{}, row {row}", whereabouts(file, row)))
    })?;
    Ok(Box::new(lists.map(move |run| {
        let run = run?;
        let rows = run.origins.iter().map(|row| first + row).collect::<Vec<_>>().into();
        Ok(Run { columns: run.columns, rows })
    })))
}

/// The file and, for formats that have them, the row group in which the next row lies.
fn whereabouts(file: &File, row: u64) -> String {
    match file.row_group(row) {
        Some(group) => format!("{}: row group {group}", file.shown),
        None => file.shown.clone(),
    }
}

/// The numbers of the rows that are left.
fn kept(rows: Numbers, kept: Option<&BooleanArray>) -> Numbers {
    match kept {
        None => rows,
        Some(kept) => kept.values().set_indices().map(|row| rows.get(row)).collect::<Vec<_>>().into(),
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
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}
