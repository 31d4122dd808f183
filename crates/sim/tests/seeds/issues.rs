//! issues (seed 003): state, one issue, its change groups, its review, the loop around them.

mod group;
mod issue;
mod pull;
mod queue;
mod review;
mod state;

use windlass_sim::Walk;

use crate::{built_in, script::Script};

/// A fresh start, and one issue found.
const FOUND: &str = "previous:fresh fetch:found,issues=I-1";

/// … which is planned as two change groups, up to the first one's changes.
const PLANNED: &str = "previous:fresh fetch:found,issues=I-1 claim:told look:ours in_progress:told plan:planned,groups=g1+g2";

/// The way of a group that passes its gate.
const GROUP: &str = "apply:applied radius:pass invariants:pass tier0:pass commit:saved";

fn issues() -> Script {
    Script {
        flow: built_in(include_str!("../../../../workflows/issues.toml")),
        usual: "fetch:found,issues=I-1 plan:planned,groups=g1 fetch_next:empty",
        by_itself: "spec_changes:none still_wanted:ours still_ours:ours",
    }
}

/// Plays issues one after another, `W` for one that is completed and `L` for one that fails; the
/// queue always has another. Stops when the loop does.
#[track_caller]
fn plays(script: &Script, walk: &mut Walk<'_>, outcomes: &str) {
    for (nth, outcome) in (2..).zip(outcomes.chars()) {
        let steps = match outcome {
            'W' => ">friction",
            _ => {
                "claim:told look:ours in_progress:told plan:blocked ask_blocked:give_up report_failure:told"
            }
        };
        script.go_on(walk, steps);
        script.go_on(walk, "friction:told >fetch_next");
        if walk.is_at("fetch_next") {
            script.go_on(walk, &format!("fetch_next:found,issues=I-{nth}"));
        }
        if !walk.is_at("claim") {
            return;
        }
    }
}
