//! Files in object stores and on web servers, through `object_store`: found by URL, read by range, with a bounded number of
//! retries. All of their traffic runs on threads of its own, so that readers may wait for it wherever they are.

mod find;
mod object;
mod reader;
mod refusal;
mod store;
mod url;

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use fuseval_core::{Error, Result};
use object_store::ObjectStore;
use tokio::runtime::{Builder, Handle, Runtime};

pub(crate) use find::find;
pub(crate) use object::Object;
pub(crate) use reader::RemoteReader;
pub(crate) use url::is_url;

/// The threads on which requests run, and the stores that were opened, by scheme and host.
#[derive(Debug)]
pub(crate) struct Network {
    runtime: Option<Runtime>,
    stores: Mutex<HashMap<String, Arc<dyn ObjectStore>>>,
}

impl Network {
    pub(crate) fn start() -> Result<Self> {
        let built = Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(4)
            .thread_name("fuseval-network")
            .enable_all()
            .build()
            .map_err(|reason| Error::defect("threads for requests", format!("`{reason}`")))?;
        Ok(Self { runtime: Some(built), stores: Mutex::default() })
    }

    /// Where requests run.
    fn handle(&self) -> Result<&Handle> {
        self.runtime.as_ref().map(Runtime::handle).ok_or_else(|| Error::defect("threads for requests", "none"))
    }

    /// Runs a request and waits for it, inside of asynchronous code as well as outside.
    fn wait<T: Send + 'static>(&self, request: impl Future<Output = T> + Send + 'static) -> Result<T> {
        self.start_request(request)?.recv().map_err(|_| Error::defect("the end of a request", "a task that stopped"))
    }

    /// Starts a request, whose result is waited for later.
    fn start_request<T: Send + 'static>(
        &self,
        request: impl Future<Output = T> + Send + 'static,
    ) -> Result<std::sync::mpsc::Receiver<T>> {
        let (sender, receiver) = std::sync::mpsc::sync_channel(1);
        self.handle()?.spawn(async move {
            // Nobody listens any more when the reader was dropped; that is no error.
            let _ = sender.send(request.await);
        });
        Ok(receiver)
    }

    /// The store of a scheme and host; `open` makes it when it is first asked for.
    fn store(&self, root: &str, open: impl FnOnce() -> Result<Arc<dyn ObjectStore>>) -> Result<Arc<dyn ObjectStore>> {
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = stores.get(root) {
            return Ok(Arc::clone(store));
        }
        let store = open()?;
        stores.insert(root.to_string(), Arc::clone(&store));
        Ok(store)
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // As for the reading thread: waiting would panic inside an asynchronous runtime of the caller.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
