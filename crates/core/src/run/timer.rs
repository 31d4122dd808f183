//! Timers: everything of a run that falls due by itself. There is nothing else to wait for.

use imbl::OrdSet;
use serde::{Deserialize, Serialize};

use super::{EffectId, FrameId};

/// What falls due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Timer {
    /// An effect has taken too long: its deadline is its stage's `limit`, or the invocation's time cap.
    Effect(EffectId),
    /// A slot that a provider's limit has parked may be tried again.
    Slot(FrameId, u16),
}

/// The timers that are set, each with its moment by the run's own clock.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Timers(OrdSet<(u64, Timer)>);

impl Timers {
    pub fn set(&mut self, at_ms: u64, timer: Timer) {
        self.0.insert((at_ms, timer));
    }

    pub fn stop(&mut self, at_ms: u64, timer: Timer) {
        self.0.remove(&(at_ms, timer));
    }

    /// When the first of them falls due.
    pub fn next(&self) -> Option<u64> {
        self.0.get_min().map(|(at, _)| *at)
    }

    /// Those that are due, the earliest first.
    pub fn due(&self, now_ms: u64) -> impl Iterator<Item = Timer> + '_ {
        self.0.iter().take_while(move |(at, _)| *at <= now_ms).map(|(_, timer)| *timer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_in_the_order_of_its_moments() {
        let (first, second) = (Timer::Effect(EffectId(9)), Timer::Slot(FrameId(1), 0));
        let mut timers = Timers::default();
        assert_eq!(timers.next(), None);
        timers.set(20, second);
        timers.set(10, first);
        assert_eq!(timers.next(), Some(10));
        let due = |timers: &Timers, now| timers.due(now).collect::<Vec<_>>();
        assert_eq!(due(&timers, 9), []);
        assert_eq!(due(&timers, 10), [first], "at its very moment");
        assert_eq!(due(&timers, 99), [first, second]);
        timers.stop(10, first);
        assert_eq!((timers.next(), due(&timers, 99)), (Some(20), vec![second]));
    }
}
