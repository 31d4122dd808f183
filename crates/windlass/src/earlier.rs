//! Work of earlier runs that waits beside the branch on which a new run is to land.
//!
//! What waits counts as done for whoever comes after it: an issue that was blocked by it is ready. So a run that began without it
//! would build on something else than what was promised, and leave it where it does not go on from the branch any more. It lands
//! first, now that nothing is in its way; else a person takes it, or gives it up.

use windlass_core::run::Standing;
use windlass_core::workflow::RunOutcome;
use windlass_journal::RunId;
use windlass_repo::{Landing, Untaken};

use crate::error::Error;
use crate::known;
use crate::meta::Meta;
use crate::prepared::Prepared;
use crate::render::clean;
use crate::workplace::{Held, now};

/// Has it land where nothing is in the way any more. What landed, in words.
///
/// # Errors
///
/// When something of it still waits: a new run does not begin without it.
pub fn arrives(held: &Held, prepared: &Prepared) -> Result<Vec<String>, Error> {
    let mut runs: Vec<RunId> = Vec::new();
    for run in held.journal.runs()? {
        let onto = Meta::of(&held.journal, &run.id)?.target;
        if onto.as_deref() == Some(prepared.target.as_str()) {
            runs.push(run.id);
        }
    }
    let store = &prepared.store;
    let mut said = Vec::new();
    loop {
        let mut untaken = store.untaken(&prepared.target, runs.iter().map(RunId::as_str))?;
        // The last of a run has what came before it.
        let Some(last) = untaken.pop() else { return Ok(said) };
        let landing = match is_as_it_was_left(held, &last) {
            true => store.bring_in(&last, prepared.author.clone(), now())?,
            false => None,
        };
        match landing {
            Some(Landing::Landed { commit, .. }) => said.push(format!(
                "what waited of {} has landed on {}: {}",
                last.run,
                last.onto,
                commit.short()
            )),
            Some(Landing::Waiting { why, command, .. }) => {
                return Err(still_waits(&last, &format!(": {}", clean(&why))).hint(format!(
                    "{command}   # takes it, once nothing is in its way; {}",
                    given_up(&last)
                )));
            }
            _ => {
                return Err(still_waits(&last, "").hint(format!(
                    "git merge {}   # takes it, on {}; {}",
                    last.branch,
                    last.onto,
                    given_up(&last)
                )));
            }
        }
    }
}

fn still_waits(untaken: &Untaken, why: &str) -> Error {
    let Untaken { run, branch, onto, .. } = untaken;
    Error::here(format!("work of {run} waits on {branch}, and {onto} has not got it{why}"))
        .a_persons()
}

fn given_up(untaken: &Untaken) -> String {
    format!("`git branch -D {}` does without it", untaken.branch)
}

/// Whether what waits is what its run has left there, and nothing that a person has made of it since; who cancelled the run has not
/// asked for it any more.
fn is_as_it_was_left(held: &Held, untaken: &Untaken) -> bool {
    let Ok(known) = known::open(&held.journal, Some(&untaken.run)) else { return false };
    let is_wanted = known.run.standing() != Standing::Ended(RunOutcome::Cancelled);
    is_wanted && known.books.waiting().any(|(_, commit, _)| commit == untaken.commit.as_str())
}
