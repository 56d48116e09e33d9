//! Ctrl-C: the first one asks the run to stop cleanly, the second one ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set when the user wants to stop. Only for commands that look at it: everywhere else Ctrl-C ends the process.
pub(super) fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let set = Arc::clone(&flag);
        // Where no handler can be set, Ctrl-C ends the process, which loses little more.
        let _ = ctrlc::set_handler(move || {
            if set.swap(true, Ordering::Relaxed) {
                std::process::exit(i32::from(crate::ErrorKind::Interrupted.exit_code()));
            }
            super::say("stopping after the experiment that each worker is on; press Ctrl-C again to stop at once");
        });
        flag
    });
    Arc::clone(flag)
}
