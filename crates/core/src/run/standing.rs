//! How things stand: whether the process has anything to wait for, and how it exits if not.

use super::{
    event::Why,
    state::{Phase, Run},
};
use crate::workflow::RunOutcome;

/// How things stand with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Effects are under way.
    Running,
    /// Nothing is under way, but something falls due at this time of the run's own clock.
    Parked(u64),
    /// A person asked it to stop or pause.
    Stopped,
    /// Gates are open and nothing else can go on.
    Waiting,
    /// A cap is reached: it goes on when a person raises it.
    Exhausted,
    /// Something went wrong that only a person can do something about.
    Escalated,
    /// A planned halt.
    Resting,
    /// It is over.
    Ended(RunOutcome),
    /// Nothing can go on and nobody can help: this cannot be. The simulator looks for it.
    Stuck,
}

impl Standing {
    /// The exit code of a process that finds a run standing so, or `None` while there is
    /// something to wait for.
    pub fn exit_code(self) -> Option<u8> {
        match self {
            Standing::Running | Standing::Parked(_) => None,
            Standing::Resting => Some(0),
            Standing::Stuck => Some(1),
            Standing::Escalated => Some(3),
            Standing::Exhausted => Some(4),
            Standing::Stopped => Some(5),
            Standing::Waiting => Some(8),
            Standing::Ended(outcome) => Some(outcome.exit_code()),
        }
    }
}

impl Run {
    /// How things stand. A gate, a pause or a spent budget holds its own unit; the run as a whole
    /// stands so only when nothing else can go on.
    pub fn standing(&self) -> Standing {
        if self.phase == Phase::Ended {
            return Standing::Ended(self.outcome.unwrap_or(RunOutcome::Done));
        }
        if !self.flights.is_empty() {
            return Standing::Running;
        }
        if let Some(at) = self.next_deadline() {
            return Standing::Parked(at);
        }
        let held = |which: fn(&Why) -> bool| self.held.values().any(which);
        if self.stopping || self.paused {
            Standing::Stopped
        } else if !self.gates.is_empty() {
            Standing::Waiting
        } else if !self.dispatch.is_empty() || held(|why| *why == Why::Broke) {
            Standing::Exhausted
        } else if held(|why| matches!(why, Why::Trouble | Why::Unproved(_) | Why::LandedAlready)) {
            Standing::Escalated
        } else if held(|why| *why == Why::Person) {
            Standing::Stopped
        } else if held(|why| *why == Why::Rest) {
            Standing::Resting
        } else {
            Standing::Stuck
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_codes_are_the_documented_ones() {
        let table = [
            (Standing::Ended(RunOutcome::Done), Some(0)),
            (Standing::Resting, Some(0)),
            (Standing::Stuck, Some(1)),
            (Standing::Escalated, Some(3)),
            (Standing::Ended(RunOutcome::Escalated), Some(3)),
            (Standing::Exhausted, Some(4)),
            (Standing::Ended(RunOutcome::Failed), Some(4)),
            (Standing::Stopped, Some(5)),
            (Standing::Ended(RunOutcome::Stopped), Some(5)),
            (Standing::Ended(RunOutcome::Cancelled), Some(5)),
            (Standing::Ended(RunOutcome::Rejected), Some(7)),
            (Standing::Waiting, Some(8)),
            (Standing::Running, None),
            (Standing::Parked(1), None),
        ];
        for (standing, code) in table {
            assert_eq!(standing.exit_code(), code, "{standing:?}");
        }
    }
}
