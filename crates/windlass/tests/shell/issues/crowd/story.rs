//! What becomes of each of many issues: some are blocked, doubled, somebody's, or changed while they are worked on; the
//! tracker answers badly, and its key opens nothing any more half way through.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use windlass_trackerkit::fault::Fault;

use super::place::{Place, Stands, Watched, Wrote};
use crate::issues::rig::{Rig, passes, plans, simply, who};

/// The story repeats itself after so many issues.
pub const ROUND: usize = 25;

/// Keys that open it, one after the other.
pub const KEYS: [&str; 2] = ["test-key", "test-key-too"];

/// What is the matter with an issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matter {
    /// Nothing.
    Plain,
    /// No worker gets it done.
    Fails,
    /// Ada writes another text while it is worked on.
    Edited,
    /// Ada takes it at the moment at which it is claimed.
    Snatched,
    /// Ada closes it at the moment at which it is claimed.
    Closed,
    /// The one before has to be done first.
    Blocked,
    /// The one before has to be done first, and nobody does it.
    Hopeless,
    /// It is one that there is already.
    Duplicate,
    /// It is Ada's.
    Adas,
    /// Ada is at it.
    Begun,
    /// It will not be done.
    Cancelled,
    /// Nobody has said that it is ready.
    Unready,
    /// Its reviewer finds that a spec says too little.
    Gap,
}

impl Matter {
    /// The matter with the nth issue.
    pub fn of(nth: usize) -> Self {
        match nth % ROUND {
            0 => Matter::Hopeless,
            2 | 12 => Matter::Edited,
            3 => Matter::Cancelled,
            5 => Matter::Snatched,
            7 | 17 => Matter::Fails,
            10 | 20 => Matter::Blocked,
            11 => Matter::Duplicate,
            13 => Matter::Adas,
            15 => Matter::Closed,
            21 => Matter::Gap,
            23 => Matter::Begun,
            24 => Matter::Unready,
            _ => Matter::Plain,
        }
    }

    /// Whether it is done in the end.
    pub fn is_done(self) -> bool {
        matches!(self, Matter::Plain | Matter::Edited | Matter::Blocked | Matter::Gap)
    }

    /// Where it stands in the end.
    pub fn ends(self) -> Stands {
        match self {
            Matter::Fails | Matter::Begun => Stands::InProgress,
            Matter::Cancelled | Matter::Duplicate | Matter::Closed => Stands::Cancelled,
            Matter::Hopeless | Matter::Adas | Matter::Unready | Matter::Snatched => Stands::Open,
            Matter::Plain | Matter::Edited | Matter::Blocked | Matter::Gap => Stands::Done,
        }
    }
}

/// How urgent the nth is; those that are blocked are the most urgent, and who blocks them the least.
fn priority(nth: usize) -> u8 {
    [1, 2, 3, 4, 0][nth % 5]
}

/// An urgent one first.
pub fn order(nth: usize) -> u8 {
    [1, 2, 3, 4, 5][nth % 5]
}

/// Issues with everything that can be the matter. Their names, the oldest first.
pub fn issues(place: &dyn Place, count: usize) -> Vec<String> {
    let mut ids: Vec<String> = Vec::new();
    for nth in 1..=count {
        let labels: &[&str] = if Matter::of(nth) == Matter::Unready { &[] } else { &["ready"] };
        ids.push(place.add(&format!("Do number {nth}"), priority(nth), labels));
        let own = &ids[nth - 1];
        match Matter::of(nth) {
            Matter::Blocked | Matter::Hopeless => place.block(own, &ids[nth - 2]),
            Matter::Duplicate => place.duplicate(own, &ids[0]),
            Matter::Adas => place.assign(own),
            Matter::Begun => place.begin(own),
            Matter::Cancelled => place.cancel(own),
            _ => {}
        }
    }
    ids
}

/// What Ada does while others work; and after so many completed issues the key opens nothing any more.
pub fn meanwhile<P: Watched>(place: &Arc<P>, ids: &[String], expires_after: usize) {
    let ids = ids.to_vec();
    let completed = AtomicUsize::new(0);
    let matter =
        move |issue: &str| ids.iter().position(|it| it == issue).map(|at| Matter::of(at + 1));
    place.on_write(move |place, wrote| match wrote {
        Wrote::Said(issue, text) if text.contains(" starting. Autonomous") => {
            match matter(&issue) {
                Some(Matter::Snatched) => place.assign(&issue),
                Some(Matter::Closed) => place.cancel(&issue),
                _ => {}
            }
        }
        Wrote::Said(_, text)
            if text.starts_with("Harness completed")
                && completed.fetch_add(1, Ordering::Relaxed) + 1 == expires_after =>
        {
            place.renew(KEYS[0], KEYS[1]);
        }
        Wrote::Begun(issue) if matter(&issue) == Some(Matter::Edited) => {
            place.edit(&issue, "OTHER WORDS");
            place.say(&issue, "And OTHER WORDS besides.");
        }
        _ => {}
    });
}

/// What goes wrong in one round: writes that are refused, that were carried out though nobody heard of it, or that never came.
pub fn trouble(place: &dyn Place, round: usize) {
    let kinds = place.kinds();
    // As many as there are of each in a round, or fewer.
    let (says, changes) = (32 * round, 15 * round);
    for (nth, kind, fault) in [
        (2, kinds.say, Fault::CutAfter),
        (6, kinds.say, Fault::status(502)),
        (9, kinds.say, Fault::CutBefore),
        (13, kinds.say, place.limited()),
        (17, kinds.say, Fault::CutAfter),
        (22, kinds.say, Fault::status(503)),
        (3, kinds.change, Fault::CutAfter),
        (7, kinds.change, Fault::status(500)),
        (11, kinds.change, place.limited()),
        (14, kinds.change, Fault::CutBefore),
    ] {
        let before = if kind == kinds.say { says } else { changes };
        place.faults().add_after(before + nth, kind, fault);
    }
    // A time limit that passes takes a minute, and is for those who have the time: whoever does more than one round.
    if round > 0 {
        place.faults().add_after(says + 27, kinds.say, Fault::SilenceAfter);
    }
    place.faults().add_after(round, kinds.make, Fault::CutAfter);
    for (nth, fault) in [(20, Fault::status(502)), (70, place.limited()), (120, Fault::CutBefore)] {
        place.faults().add_after(120 * round + nth, "", fault);
    }
}

/// Who does what: those that fail, and one gap a round. New issues come after those that were there.
pub fn script(ids: &[String], new: &[String]) -> String {
    let mut script = String::new();
    for (at, id) in ids.iter().enumerate() {
        match Matter::of(at + 1) {
            Matter::Fails => {
                script += &simply(&who("issue-worker", id, "", 0), "failed", "no idea")
            }
            Matter::Gap => {
                let gap = format!(
                    ", criteria_met = true, spec_gaps = [{{ id = 's1', title = 'what {} is', subsystem = 'src', missing = 'it' }}]",
                    at + 1
                );
                script += &passes(id, 0, "pass", &gap);
            }
            _ => {}
        }
    }
    for id in new {
        script += &plans(id, &["g1"]);
        script += &super::super::rig::applies(id, "g1", 0, "fine\n");
    }
    script
}

/// Each issue that was done, once in a commit that says so.
pub fn commits(rigs: &[&Rig]) -> Vec<String> {
    let mut all = Vec::new();
    for rig in rigs {
        let log = rig.scratch.git(&[
            "log",
            "--format=%(trailers:key=Issue,valueonly,separator=)",
            "main",
        ]);
        all.extend(log.lines().filter(|it| !it.is_empty()).map(str::to_owned));
    }
    all.sort();
    all
}
