//! Where those meet who have to be under way at the same time.

use std::sync::{Condvar, Mutex};
use std::time::Duration;

/// Where two wait for each other.
#[derive(Default)]
pub struct Meeting {
    here: Mutex<usize>,
    changed: Condvar,
}

impl Meeting {
    /// Waits until two are here. Who comes later waits for nobody.
    pub fn wait(&self) {
        let mut here = self.here.lock().unwrap();
        *here += 1;
        self.changed.notify_all();
        let patience = Duration::from_secs(60);
        let waited = self.changed.wait_timeout_while(here, patience, |here| *here < 2).unwrap();
        assert!(!waited.1.timed_out(), "they do not work side by side");
    }
}
