//! Time as the core sees it: handed in, never asked for.

use serde::{Deserialize, Serialize};

/// A moment, as the engine recorded it.
///
/// Timers go by `mono_ms`, which only ever grows while a run lives, across restarts too. The wall
/// clock may jump by a year either way: it is for people to read, and for the one thing that
/// comes from outside, a provider's reset time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stamp {
    /// Milliseconds of the run's own clock.
    pub mono_ms: u64,
    /// Milliseconds since 1970, by the wall clock.
    pub wall_ms: i64,
}

/// The shortest wait for a reset time: a wall clock that is wrong must not make us hammer.
pub const PARK_MS_MIN: u64 = 60_000;
/// The longest wait before a reset time is probed again.
pub const PARK_MS_MAX: u64 = 24 * 3_600_000;

impl Stamp {
    /// When to try again what is limited until `until_wall_ms`: by the run's own clock from here
    /// on, so that a later jump of the wall clock changes nothing.
    pub fn park_until(self, until_wall_ms: i64) -> u64 {
        let wait = until_wall_ms.saturating_sub(self.wall_ms);
        let wait = u64::try_from(wait).unwrap_or(0).clamp(PARK_MS_MIN, PARK_MS_MAX);
        self.mono_ms.saturating_add(wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_time_becomes_a_bounded_wait_of_our_own_clock() {
        let now = Stamp { mono_ms: 1_000, wall_ms: 5_000_000 };
        let year = 365 * 24 * 3_600_000;
        assert_eq!(now.park_until(5_000_000 + 300_000), 301_000);
        assert_eq!(now.park_until(5_000_000 - year), 1_000 + PARK_MS_MIN);
        assert_eq!(now.park_until(5_000_000 + year), 1_000 + PARK_MS_MAX);
        assert_eq!(now.park_until(i64::MIN), 1_000 + PARK_MS_MIN);
    }
}
