//! How often a tracker is asked again, and how long anybody waits for it.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Patience, TrackerError};

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
pub const WAIT_MAX: Duration = Duration::from_secs(65 * 60);

/// The first wait, and the longest where the tracker does not say how long it is to be.
const BACKOFF_MS: u64 = 1000;
const BACKOFF_MS_MAX: u64 = 60_000;

/// Whatever is longer, the tracker itself asked for.
pub const BACKOFF_MAX: Duration = Duration::from_millis(BACKOFF_MS_MAX);

/// What a tracker is told about that nobody waits for any longer.
pub(super) fn given_up(
    tracker: &'static str,
    asked: Option<Duration>,
    why: String,
) -> TrackerError {
    let Some(wait) = asked.filter(|asked| *asked > BACKOFF_MAX) else {
        return TrackerError::Unreachable { tracker, why };
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let until_ms = u64::try_from(now.saturating_add(wait).as_millis()).unwrap_or(u64::MAX);
    TrackerError::Limited { tracker, why, wait, until_ms }
}

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
    use crate::Back;

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
    fn who_has_said_how_long_it_is_may_be_waited_for_and_who_has_not_may_come_back_sometime() {
        let given_up = |seconds: Option<u64>| {
            given_up("GitHub", seconds.map(Duration::from_secs), "too much".to_owned())
        };
        let (soon, late) = (given_up(Some(2_400)), given_up(Some(86_400)));
        assert_eq!(soon.back(), Some(Back::In(Duration::from_secs(2_400))));
        assert_eq!(late.back(), Some(Back::Sometime));
        for error in [soon, late] {
            assert!(error.to_string().starts_with("GitHub is limited until "), "{error}");
            assert!(error.to_string().ends_with(" UTC: too much"), "{error}");
            assert!(error.next_step().starts_with("wait until "), "{error}");
            assert!(error.first_step().ends_with(": nothing was begun"), "{error}");
        }
        for seconds in [None, Some(60)] {
            let error = given_up(seconds);
            assert_eq!(error.back(), Some(Back::Sometime));
            assert_eq!(error.to_string(), "GitHub has no answer: too much");
        }
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
