//! How often a tracker is asked again, and how long anybody waits for it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::{Patience, Pause, TrackerError};

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
    /// What came to nothing has taken so long, with the pauses between.
    lost: Duration,
    /// When the last try began.
    began: Instant,
}

/// Where a tracker is, as it can be shown: neither a path nor the name and password that some write before the machine.
pub(super) fn place(url: &str) -> &str {
    let Some((scheme, rest)) = url.split_once("://") else { return url };
    let machine = rest.split(['/', '?', '#']).next().unwrap_or_default();
    match machine.rfind('@') {
        Some(at) => &machine[at + 1..],
        None => &url[..scheme.len() + 3 + machine.len()],
    }
}

/// So often something goes wrong until it is given up.
const TRIES: u32 = 10;

/// So long is waited in all: whose requests of an hour are used up has new ones after an hour.
pub const WAIT_MAX: Duration = Duration::from_secs(65 * 60);

/// The first wait, and the longest where the tracker does not say how long it is to be.
const BACKOFF_MS: u64 = 1000;
const BACKOFF_MS_MAX: u64 = 60_000;

/// What a tracker is told about that nobody waits for any longer.
pub(super) fn given_up(
    tracker: &'static str,
    url: &str,
    asked: Option<Duration>,
    why: String,
) -> TrackerError {
    let Some(wait) = asked else {
        return TrackerError::Unreachable { tracker, place: place(url).to_owned(), why };
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let until_ms = u64::try_from(now.saturating_add(wait).as_millis()).unwrap_or(u64::MAX);
    TrackerError::Limited { tracker, why, wait, until_ms }
}

impl<'a> Tries<'a> {
    pub fn new(patience: &'a Patience) -> Self {
        let (waited, lost) = (Duration::ZERO, Duration::ZERO);
        Tries { patience, failed: 0, waited, lost, began: Instant::now() }
    }

    /// It is tried now.
    pub fn begin(&mut self) {
        self.began = Instant::now();
    }

    /// Waits until it can be tried again, as long as the tracker asked for. False when nobody wants to wait any longer.
    pub fn again(&mut self, asked: Option<Duration>) -> bool {
        let backoff = BACKOFF_MS.saturating_mul(1 << self.failed.min(16)).min(BACKOFF_MS_MAX);
        let wait = asked.unwrap_or(Duration::from_millis(backoff));
        self.failed += 1;
        self.waited = self.waited.saturating_add(wait);
        let lost = self.lost.saturating_add(self.began.elapsed());
        self.lost = lost.saturating_add(wait);
        let pause = Pause::Silence { wait, lost };
        self.failed < TRIES && self.waited <= WAIT_MAX && (self.patience)(pause)
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
        let patience = move |pause: Pause| {
            own.lock().unwrap().push(pause.wait().as_secs());
            true
        };
        let mut tries = Tries::new(&patience);
        while tries.again(None) {}
        assert_eq!(*waits.lock().unwrap(), [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn who_has_said_how_long_it_is_may_be_waited_for_and_who_has_not_may_come_back_sometime() {
        let given_up = |seconds: Option<u64>| {
            let asked = seconds.map(Duration::from_secs);
            given_up("GitHub", "https://me:secret@ghe.example/api", asked, "too much".to_owned())
        };
        let (soon, late) = (given_up(Some(2_400)), given_up(Some(86_400)));
        assert_eq!(soon.back(), Some(Back::In(Duration::from_secs(2_400))));
        assert_eq!(given_up(Some(5)).back(), Some(Back::In(Duration::from_secs(5))));
        assert_eq!(late.back(), Some(Back::Late));
        for error in [soon, late] {
            assert!(error.to_string().starts_with("GitHub is limited until "), "{error}");
            assert!(error.to_string().ends_with(" UTC: too much"), "{error}");
            assert!(error.next_step().starts_with("wait until "), "{error}");
            assert!(error.first_step().ends_with(": nothing was begun"), "{error}");
        }
        let error = given_up(None);
        assert_eq!(error.back(), Some(Back::Sometime));
        assert_eq!(error.to_string(), "GitHub at ghe.example has no answer: too much");
        let next = error.first_step();
        assert!(next.contains("ghe.example") && next.ends_with(": nothing was begun"), "{next}");
    }

    #[test]
    fn a_place_is_shown_without_what_opens_it() {
        for (url, is) in [
            ("https://api.github.com", "https://api.github.com"),
            ("http://127.0.0.1:9/graphql?x=y", "http://127.0.0.1:9"),
            ("https://me:p@ss@host:8443/api/v3", "host:8443"),
            ("nowhere", "nowhere"),
        ] {
            assert_eq!(place(url), is, "{url}");
        }
    }

    #[test]
    fn whoever_lets_time_pass_knows_how_much_was_lost_by_then() {
        let lost = Arc::new(Mutex::new(Vec::new()));
        let own = Arc::clone(&lost);
        let patience = move |pause: Pause| {
            let Pause::Silence { lost, .. } = pause else { return false };
            own.lock().unwrap().push(lost.as_secs());
            true
        };
        let mut tries = Tries::new(&patience);
        // One that nobody answered for a minute.
        tries.began -= Duration::from_secs(60);
        assert!(tries.again(None));
        tries.begin();
        assert!(tries.again(None));
        assert_eq!(*lost.lock().unwrap(), [60, 61]);
    }

    #[test]
    fn nobody_waits_for_a_day_or_when_it_is_not_wanted() {
        let patience = |_: Pause| true;
        let mut tries = Tries::new(&patience);
        assert!(tries.again(Some(Duration::from_secs(3600))));
        assert!(!tries.again(Some(Duration::from_secs(3600))));
        assert!(!Tries::new(&patience).again(Some(Duration::MAX)));
        assert!(!Tries::new(&|_: Pause| false).again(None));
    }
}
