//! The run's own clock: the last recorded time, and what this process has measured since.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windlass_core::run::Stamp;

/// Tells the time of a run. It only ever grows, across restarts too, whatever the wall clock does meanwhile.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    base_ms: u64,
    since: Instant,
}

impl Clock {
    /// Goes on from the last recorded time.
    pub fn from(last: Stamp) -> Self {
        Clock { base_ms: last.mono_ms, since: Instant::now() }
    }

    /// Now.
    pub fn now(&self) -> Stamp {
        let passed = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        Stamp { mono_ms: self.base_ms.saturating_add(passed), wall_ms: wall_ms() }
    }

    /// How long it is until a time of the run's own clock.
    pub fn until(&self, mono_ms: u64) -> Duration {
        let at = Duration::from_millis(mono_ms.saturating_sub(self.base_ms));
        at.saturating_sub(self.since.elapsed())
    }
}

/// Milliseconds since 1970, by the wall clock.
pub fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_goes_on_from_where_it_was() {
        let clock = Clock::from(Stamp { mono_ms: 5_000, wall_ms: -1 });
        let now = clock.now();
        assert!(now.mono_ms >= 5_000 && now.wall_ms > 0);
        assert!(clock.until(4_000).is_zero(), "what is past is due now");
        let wait = clock.until(5_000 + 3_600_000);
        assert!(wait <= Duration::from_secs(3_600) && wait > Duration::from_secs(3_000));
    }
}
