//! What earlier missions of a repository have landed, and where that is by now.

use windlass_clerks::Office;
use windlass_clerks::mission;
use windlass_clerks::mission::before::{Landing, Stands};
use windlass_core::workflow::Workflow;
use windlass_journal::RunId;
use windlass_repo::{Branch, Oid, Repository};
use windlass_sources::features::Queue;

use crate::error::Error;
use crate::known::{self, Known};
use crate::meta::Meta;
use crate::workplace::Held;

/// What missions other than this one have landed on a branch, the oldest first. Nothing for a run of another kind.
pub fn before(
    held: &Held,
    flow: &Workflow,
    own: Option<&RunId>,
    target: &Branch,
) -> Result<Vec<Landing>, Error> {
    let mut landed = Vec::new();
    if !is_mission(flow) {
        return Ok(landed);
    }
    for other in held.journal.runs()? {
        let onto = Meta::of(&held.journal, &other.id)?.target;
        if own == Some(&other.id) || onto.as_deref() != Some(target.as_str()) {
            continue;
        }
        // What cannot be read has nothing to say.
        let known = known::open(&held.journal, Some(other.id.as_str())).ok();
        if let Some(known) = known.filter(|known| is_mission(known.run.workflow())) {
            landed.extend(of(&held.repository, &known, target));
        }
    }
    Ok(landed)
}

/// Whether anything of a queue may be otherwise than its file says: most often nothing has to be looked at for that.
pub fn concerns(held: &Held, queue: &Queue) -> Result<bool, Error> {
    for known in known::all(&held.journal)?.readable {
        if !is_mission(known.run.workflow()) {
            continue;
        }
        let mut landed = known.books.landings().iter();
        let is_otherwise = landed.any(|landing| {
            let feature = landing.unit.as_deref().and_then(|unit| queue.feature(unit));
            feature.is_some_and(|it| !it.status.is_settled() || landing.waits.is_some())
        });
        if is_otherwise {
            return Ok(true);
        }
    }
    Ok(false)
}

fn is_mission(flow: &Workflow) -> bool {
    Office::of(flow).is_some_and(|office| office.known_by == mission::KNOWN_BY)
}

/// What one of them has landed. Each landing has those before it in its history, so hardly any has to be looked for.
fn of(repository: &Repository, known: &Known, target: &Branch) -> Vec<Landing> {
    let mut stands = None;
    let mut landed = Vec::new();
    for landing in known.books.landings().iter().rev() {
        let at = match stands {
            Some(Stands::There) => Stands::There,
            _ => place(repository, &landing.commit, landing.waits.is_some(), target),
        };
        stands = Some(at);
        let Some(unit) = landing.unit.as_deref().and_then(|unit| known.run.unit_named(unit)) else {
            continue;
        };
        landed.push(Landing {
            feature: unit.id.to_string(),
            title: unit.title.to_string(),
            run: known.id.to_string(),
            commit: landing.commit.clone(),
            stands: at,
        });
    }
    landed.reverse();
    landed
}

/// Where a commit is. What nobody can tell is nobody's to act on.
fn place(repository: &Repository, commit: &str, waited: bool, target: &Branch) -> Stands {
    let Ok(commit) = Oid::parse(commit) else { return Stands::Elsewhere };
    let on = match repository.has(&commit) {
        Ok(true) => repository.branches_with(&commit),
        Ok(false) => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    match on {
        Ok(on) if on.iter().any(|name| name == target.as_str()) => Stands::There,
        Ok(on) if on.is_empty() && waited => Stands::GivenUp,
        Ok(_) | Err(_) => Stands::Elsewhere,
    }
}
