//! The thread that reads ahead, and DataFusion's context for readers and SQL.

use std::sync::{Arc, OnceLock};

use datafusion::prelude::{SessionConfig, SessionContext};
use fuseval_core::{Error, Result};
use tokio::runtime::{Builder, Handle, Runtime};

use crate::expression::STACK_BYTES;

/// Rows per batch, unless rows are wide.
pub(crate) const BATCH_ROWS: usize = 8192;

/// What all scans of a source share.
pub(crate) struct Session {
    pub(crate) reading: Arc<Reading>,
    context: OnceLock<SessionContext>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("reading", &self.reading).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new() -> Result<Self> {
        Ok(Self { reading: Arc::new(Reading::start()?), context: OnceLock::new() })
    }

    /// DataFusion's context, made when first needed: registering its functions is most of the start-up time.
    pub(crate) fn context(&self) -> &SessionContext {
        self.context.get_or_init(|| {
            let mut config = SessionConfig::new().with_target_partitions(1).with_batch_size(BATCH_ROWS);
            // A column is written in SQL as it is written in the file.
            config.options_mut().sql_parser.enable_ident_normalization = false;
            SessionContext::new_with_config(config)
        })
    }
}

/// The thread that reads and computes columns while the consumer works on earlier rows.
#[derive(Debug)]
pub(crate) struct Reading {
    runtime: Option<Runtime>,
}

impl Reading {
    fn start() -> Result<Self> {
        let built = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(2)
            .thread_stack_size(STACK_BYTES)
            .thread_name("fuseval-read")
            .build()
            .map_err(|reason| Error::defect("a thread that reads ahead", format!("`{reason}`")))?;
        Ok(Self { runtime: Some(built) })
    }

    /// Where the tasks of a scan are started.
    pub(crate) fn handle(&self) -> Option<&Handle> {
        self.runtime.as_ref().map(Runtime::handle)
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        // Waiting for the thread would panic where a caller drops the source inside an asynchronous runtime of its own.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
