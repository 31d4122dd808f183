//! How often a tracker is asked again, and how long anybody waits for it.

use std::time::Duration;

use super::Patience;

/// How a request ended that was not answered.
#[derive(Debug)]
pub(super) enum Met<T> {
    /// Something that passes.
    Passing {
        /// It may have been carried out.
        sent: bool,
        /// So long the tracker wants to be left alone.
        asked: Option<Duration>,
        why: String,
    },
    /// Nothing becomes of it by asking again.
    Final(T),
}

/// What is left of the patience for one thing that a tracker is to do.
pub(super) struct Tries<'a> {
    patience: &'a Patience,
    failed: u32,
    waited: Duration,
}

/// So often something goes wrong until it is given up.
const TRIES: u32 = 10;

/// So long is waited in all: whose requests of an hour are used up has new ones after an hour.
const WAIT_MAX: Duration = Duration::from_secs(65 * 60);

/// The first wait, and the longest where the tracker does not say how long it is to be.
const BACKOFF_MS: u64 = 1000;
const BACKOFF_MS_MAX: u64 = 60_000;

impl<'a> Tries<'a> {
    pub fn new(patience: &'a Patience) -> Self {
        Tries { patience, failed: 0, waited: Duration::ZERO }
    }

    /// Waits until it can be tried again, as long as the tracker asked for. False when nobody wants to wait any longer.
    pub fn again(&mut self, asked: Option<Duration>) -> bool {
        let backoff = BACKOFF_MS.saturating_mul(1 << self.failed.min(16)).min(BACKOFF_MS_MAX);
        let wait = asked.unwrap_or(Duration::from_millis(backoff));
        self.failed += 1;
        self.waited = self.waited.saturating_add(wait);
        self.failed < TRIES && self.waited <= WAIT_MAX && (self.patience)(wait)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn waits_grow_and_end() {
        let waits = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&waits);
        let patience = move |wait: Duration| {
            own.lock().unwrap().push(wait.as_secs());
            true
        };
        let mut tries = Tries::new(&patience);
        while tries.again(None) {}
        assert_eq!(*waits.lock().unwrap(), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn nobody_waits_for_a_day_or_when_it_is_not_wanted() {
        let patience = |_: Duration| true;
        let mut tries = Tries::new(&patience);
        assert!(tries.again(Some(Duration::from_secs(3600))));
        assert!(!tries.again(Some(Duration::from_secs(3600))));
        assert!(!Tries::new(&patience).again(Some(Duration::MAX)));
        assert!(!Tries::new(&|_: Duration| false).again(None));
    }
}
