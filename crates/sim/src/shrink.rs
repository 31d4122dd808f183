//! Makes a failing run smaller: its tape shorter, its choices more ordinary.

use std::sync::Arc;

use windlass_core::workflow::Workflow;

use crate::{
    choice::Choices,
    drive::{Outcome, Plan, drive},
};

/// Attempts before we are content with what we have.
const ATTEMPTS_MAX: usize = 2_000;

/// The smallest run found that breaks the same invariant. Returns the failing run itself when
/// nothing smaller does, and `None` when it does not fail at all.
pub fn shrink(flow: &Arc<Workflow>, plan: &Plan, failing: Outcome) -> Option<Outcome> {
    let invariant = failing.violation.as_ref()?.invariant;
    let mut best = failing;
    let mut attempts = 0;
    let mut chunk = best.tape.len().max(1);
    while chunk > 0 && attempts < ATTEMPTS_MAX {
        let mut at = 0;
        let mut progress = false;
        while at < best.tape.len() && attempts < ATTEMPTS_MAX {
            let end = (at + chunk).min(best.tape.len());
            let mut without = best.tape.clone();
            without.drain(at..end);
            let mut plainer = best.tape.clone();
            plainer[at..end].fill(0);
            let candidates = [without, plainer];
            let smaller = candidates
                .into_iter()
                .filter(|tape| weight(tape) < weight(&best.tape))
                .map(|tape| drive(flow, plan, Choices::from_tape(tape)))
                .inspect(|_| attempts += 1)
                .find(|outcome| {
                    let same = |v: &crate::Violation| v.invariant == invariant;
                    let smaller = weight(&outcome.tape) < weight(&best.tape);
                    outcome.violation.as_ref().is_some_and(same) && smaller
                });
            match smaller {
                Some(smaller) => {
                    best = smaller;
                    progress = true;
                }
                None => at = end,
            }
        }
        if !progress {
            chunk /= 2;
        }
    }
    Some(best)
}

fn weight(tape: &[u32]) -> (usize, u64) {
    (tape.len(), tape.iter().map(|choice| u64::from(*choice)).sum())
}
