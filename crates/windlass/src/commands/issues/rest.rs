//! A loop is stopped, shown; a claim is ended.

use std::path::Path;

use serde_json::json;
use windlass_clerks::issues::claim::{self, CLAIM, End, RELEASED};
use windlass_clerks::issues::{Known, held, typed};
use windlass_clerks::memory::Files;
use windlass_core::run::{Phase, Wish};
use windlass_sources::issues::{self as state, State};
use windlass_sources::tracker::{Detail, Issue, Marker, State as Stands};

use super::{NAME, Place, Whose, config, follow, known, left, mask, wanted};
use crate::error::Error;
use crate::exit::Exit;
use crate::known as runs;
use crate::meta::Meta;
use crate::relay;
use crate::render::{Output, clean};
use crate::request::{Request, who};
use crate::tracker;
use crate::workplace::Workplace;

/// The loop that is not over, if there is one.
fn open(place: &Workplace) -> Result<Option<String>, Error> {
    let Some(journal) = place.look()? else { return Ok(None) };
    for known in runs::all(&journal)?.readable.into_iter().rev() {
        let meta = Meta::of(&journal, &known.id)?;
        if meta.workflow == NAME && known.run.phase() != Phase::Ended {
            return Ok(Some(known.id.as_str().to_owned()));
        }
    }
    Ok(None)
}

pub fn stop(out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let follows = follow::stop(&place)?;
    if let Some(run) = open(&place)? {
        let sent = relay::send(place, Request::Wish { run, who: who(), wish: Wish::Stop })?;
        out.line("Harness will stop after current issue completes")?;
        out.remarks(&sent.said)?;
        return Ok(Exit::Done);
    }
    if follows {
        // It waits for new ones: nothing is under way.
        out.line("Harness will stop after current issue completes")?;
        return Ok(Exit::Done);
    }
    match left(&place)? {
        None => out.line("No active harness session")?,
        Some(state) if !state.active => out.line("No active harness session")?,
        Some(state) => {
            // Another program's: it looks there before it goes on.
            write(&place, &State { active: false, ..state })?;
            out.line("Harness will stop after current issue completes")?;
        }
    }
    Ok(Exit::Done)
}

fn write(place: &Workplace, state: &State) -> Result<(), Error> {
    let files = Files::of(place.repository.top());
    files
        .write(state::PATH, &state.write())
        .map_err(|trouble| Error::here(format!("{}: {trouble}", state::PATH)))
}

pub fn status(as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let Some(state) = left(&place)? else {
        out.line("No harness state file found")?;
        return Ok(Exit::Done);
    };
    if as_json {
        let friction = state.friction_shown().iter();
        let friction: Vec<_> = friction
            .map(|it| json!({"issue": it.issue, "iteration": it.iteration, "points": it.points}))
            .collect();
        let value = json!({
            "active": state.active,
            "iteration": state.iteration,
            "max_iterations": state.max_iterations,
            "completed_issues": state.completed,
            "failed_issues": state.failed,
            "skipped_issues": state.skipped,
            "current_issue": state.current_issue,
            "consecutive_failures": state.consecutive_failures,
            "friction_log": friction,
            "ended": state.ended,
        });
        out.line(&serde_json::to_string_pretty(&value).unwrap_or_default())?;
        return Ok(Exit::Done);
    }
    let list = |ids: &[String]| match ids {
        [] => "0".to_owned(),
        ids => format!("{}: {}", ids.len(), clean(&ids.join(", "))),
    };
    let ended = match state.ended.as_deref() {
        Some("done") => " (the queue was empty)",
        Some("once") => " (it was to take one issue)",
        Some("max_iterations") => " (its iterations are used up)",
        Some("failures") => " (three issues failed in a row)",
        Some(_) => " (stopped)",
        None => "",
    };
    let standing = if state.active { "active" } else { "inactive" };
    out.line(&format!("status                {standing}{ended}"))?;
    out.line(&format!("iteration             {} / {}", state.iteration, state.max_iterations))?;
    if let Some(current) = &state.current_issue {
        out.line(&format!("current issue         {}", clean(current)))?;
    }
    out.line(&format!("completed issues      {}", list(&state.completed)))?;
    out.line(&format!("failed issues         {}", list(&state.failed)))?;
    out.line(&format!("skipped issues        {}", list(&state.skipped)))?;
    out.line(&format!("consecutive failures  {}", state.consecutive_failures))?;
    let friction = state.friction_shown();
    if friction.is_empty() {
        out.line("friction              none")?;
    }
    for entry in friction {
        for point in &entry.points {
            let (issue, point) = (clean(&entry.issue), clean(point));
            out.line(&format!("friction              {issue} ({}): {point}", entry.iteration))?;
        }
    }
    Ok(Exit::Done)
}

pub fn release(issue: &str, which: &Whose, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let config = config(&place)?;
    let state = left(&place)?;
    let top = place.repository.top();
    let said = which.adopting(&config.issues, state.as_ref());
    let Place { tracked, filter, .. } = which.open(&said, top, mask(&place, &config))?;
    let tracker = &*tracked.tracker;
    let look = |out: &mut Output, id: &str| {
        let detail = tracker::asked(out, || tracker.look(id))?;
        detail.ok_or_else(|| Error::usage(format!("{} has no issue {id}", tracker.name())))
    };
    let detail = look(out, issue)?;
    // What the tracker itself calls it: people say `12` for `#12`, or the name of a file with its ending.
    let issue = detail.issue.id.as_str();
    if open(&place)?.is_some()
        && state.as_ref().is_some_and(|it| it.current_issue.as_deref() == Some(issue))
    {
        return Err(Error::not_taken(format!("the loop here is at {issue}"))
            .hint(format!("`windlass skip {} --reason …` leaves it out", typed(issue))));
    }
    let before = known(&place, state.as_ref());
    let is_known = state.as_ref().is_some_and(|it| it.has(issue));
    let keys = to_end(&detail, is_known.then_some(&before));
    let text = match detail.issue.state {
        Stands::Done | Stands::Cancelled => format!("Released by {}.", who()),
        Stands::Open | Stands::InProgress => {
            format!("Released by {}: this issue may be taken again.", who())
        }
    };
    for key in &keys {
        tracker::asked(out, || tracker.post(issue, &text, &Marker::new(RELEASED, key)))?;
    }
    if let Some(mut state) = state.filter(|_| is_known) {
        for all in [&mut state.completed, &mut state.failed, &mut state.skipped] {
            all.retain(|it| it != issue);
        }
        write(&place, &state)?;
    }
    // What is said is what whoever takes the next issue finds now.
    let now = look(out, issue)?;
    let known = known(&place, left(&place)?.as_ref());
    let against = held(&now, &wanted(filter, None), &known);
    let name = clean(issue);
    match (keys.len(), against.is_none()) {
        (0, true) => out.line(&format!("{name} may be taken again"))?,
        (0, false) => out.line(&format!("{name} has no {CLAIM} that could be ended"))?,
        (1, _) => out.line(&format!("{name} is released: one {CLAIM} is ended"))?,
        (ended, _) => out.line(&format!("{name} is released: {ended} {CLAIM}s are ended"))?,
    }
    if let Some(why) = against {
        out.line(&format!("it is left out all the same: {}{}", clean(&why), helps(&now.issue)))?;
    }
    Ok(Exit::Done)
}

/// Keys of the claims on an issue that releasing it ends. One that `here` had claimed, and whose claim somebody has taken out, is
/// in progress and nobody's: that is said with a claim of its own.
fn to_end(detail: &Detail, here: Option<&Known>) -> Vec<String> {
    let claims = claim::claims(&detail.comments);
    let is_in_progress = detail.issue.state == Stands::InProgress;
    // One that failed, or was completed and waits to be merged, is claimed by nobody and in progress nonetheless: that ends as well.
    let still = |it: &&claim::Claim| match it.ended {
        None => true,
        Some(End::Failed | End::Completed) => is_in_progress,
        Some(End::Released) => false,
    };
    if claims.is_empty() && is_in_progress {
        return here.and_then(|it| it.keys_here(&detail.issue.id).pop()).into_iter().collect();
    }
    claims.iter().filter(still).map(|it| it.key.clone()).collect()
}

/// What a person does about an issue that is left out, where its tracker alone can tell.
fn helps(issue: &Issue) -> String {
    let url = clean(&issue.url);
    match issue.state {
        Stands::Done | Stands::Cancelled => {
            format!("; open it again in {url}, and it may be taken")
        }
        Stands::InProgress => {
            format!("; if nobody is at it, set its state back in {url}, and it may be taken")
        }
        Stands::Open => String::new(),
    }
}
