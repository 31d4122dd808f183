//! What a loop over issues tells its tracker and people: the seed's words. Each may be done twice and is then done once.

use std::fmt::Write as _;

use windlass_core::workflow::Settled;
use windlass_engine::clerk::{Situation, Told};
use windlass_engine::entry::Check;
use windlass_engine::message::Trouble;
use windlass_sources::subsystems::Radius;
use windlass_sources::tracker::{Marker, NewIssue, Target, TrackerError};

use super::Issues;
use super::claim::{CLAIM, COMPLETED, FAILED};
use super::harmless::harmless;
use super::select::{Before, overridden};
use super::session::{Gap, Session, Tale};

/// What it can tell.
#[cfg(test)]
pub const TELLS: [&str; 15] = [
    "issue-starting",
    "claim-withdrawn",
    "issue-in-progress",
    "issue-completed",
    "issue-done",
    "issue-pull",
    "issue-failed",
    "issue-left",
    "issue-progress",
    "issue-blocked-group",
    "spec-gap-issues",
    "group-failure",
    "friction-log",
    "discovery-trigger",
    "issues-summary",
];

/// Why an issue was left, where it is nobody's any more when that is said.
const LEFT: &str = "somebody had decided otherwise";

/// So much of what somebody said goes into a comment.
const SAID_BYTES: usize = 4 * 1024;

impl Issues {
    pub(super) fn told(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        let unit = at.unit.as_ref().map(|(id, _)| id.as_str());
        let text = match (name, unit) {
            ("issue-starting", Some(id)) => self.starts(id)?,
            ("claim-withdrawn", Some(id)) => {
                let marker = self.marker(CLAIM, id, CLAIM)?;
                self.asks(|tracker| tracker.withdraw(id, &marker))?;
                format!("{id}: the claim is taken back")
            }
            ("issue-in-progress", Some(id)) => self.begins(id)?,
            ("issue-completed", Some(id)) => {
                let mut text = completed(&self.session(), id);
                if let Some(why) = self.overridden(id, Before::Done)? {
                    let _ = write!(text, "\n\nThis issue is left as it is: {why}.");
                }
                self.posts(id, &self.with_changes(id, text), COMPLETED, CLAIM)?;
                format!("[ISSUE_COMPLETE: {id}]")
            }
            ("issue-pull", Some(id)) => return self.opens(id),
            ("issue-done", Some(id)) => self.finishes(id)?,
            ("issue-left", Some(id)) => {
                let why = self.overridden(id, Before::Landing)?;
                let text = left(&self.session(), id, why.as_deref());
                self.posts(id, &self.with_changes(id, text), FAILED, CLAIM)?;
                format!("{id}: left as it is: {}", why.as_deref().unwrap_or(LEFT))
            }
            ("issue-failed", Some(id)) => {
                let text = failed(&self.session(), id);
                self.posts(id, &self.with_changes(id, text), FAILED, CLAIM)?;
                let (kind, why) =
                    self.session().tales.get(id).map(Tale::failure).unwrap_or_default();
                format!("[ISSUE_FAILED: {id}]\n{id}: {kind}: {why}")
            }
            ("issue-progress", Some(id)) => {
                let text = progress(&self.session(), id);
                self.posts(id, &text, "progress", &moment(at))?;
                format!("[HARNESS_PAUSE: {id}]")
            }
            ("issue-blocked-group", Some(id)) => {
                let text = blocked(&self.session(), id, at);
                self.posts(id, &text, "blocked-group", &moment(at))?;
                format!("{id}: {text}")
            }
            ("spec-gap-issues", Some(id)) => self.gaps(id)?,
            ("group-failure", Some(id)) => group_failure(&self.session(), id, at),
            ("friction-log", Some(id)) => friction(&self.session(), id),
            ("discovery-trigger", _) => format!(
                "Discovery trigger: {} issues completed since last discovery",
                self.begun.discover_interval
            ),
            ("issues-summary", _) => summary(&self.session(), &self.begun),
            _ => String::new(),
        };
        Ok(Told { text, ..Told::default() })
    }

    /// An issue whose claim holds is in progress, unless a person has decided otherwise since that was looked at: between the
    /// two a loop may have stood still for days.
    fn begins(&self, id: &str) -> Result<String, Trouble> {
        if let Some(why) = self.overridden(id, Before::Landing)? {
            return Ok(format!("{id}: left as it is: {why}"));
        }
        self.asks(|tracker| tracker.move_to(id, Target::InProgress))?;
        Ok(format!("{id}: in progress"))
    }

    /// An issue whose work has landed is done, unless a person has decided otherwise.
    fn finishes(&self, id: &str) -> Result<String, Trouble> {
        if let Some(why) = self.overridden(id, Before::Done)? {
            return Ok(format!("{id}: left as it is: {why}"));
        }
        self.asks(|tracker| tracker.move_to(id, Target::Done))?;
        Ok(String::new())
    }

    /// What people have made of an issue, if that speaks against going on with it.
    fn overridden(&self, id: &str, at: Before) -> Result<Option<String>, Trouble> {
        let Some(detail) = self.asks(|tracker| tracker.look(id))? else {
            return Ok(Some("it is gone".to_owned()));
        };
        let known = self.known();
        let known =
            known.map_err(|error| Trouble::new(error.to_string()).next(error.next_step()))?;
        let own = self.secret()?.claim(&self.run, id);
        Ok(overridden(&detail, &known, &own, at))
    }

    /// The comment that work begins is the claim.
    fn starts(&self, id: &str) -> Result<String, Trouble> {
        let session = self.session();
        let iteration =
            session.tales.get(id).map_or_else(|| session.iteration(), |it| it.iteration);
        drop(session);
        let text = format!(
            "Harness iteration {iteration} starting. Autonomous plan→work→review→commit cycle."
        );
        let marker = self.marker(CLAIM, id, CLAIM)?;
        self.asks(|tracker| tracker.post(id, &text, &marker))?;
        Ok(format!("{id}: {text}"))
    }

    /// What this run marks: `what` for an issue, once for each `why`.
    pub(super) fn marker(&self, what: &str, issue: &str, why: &str) -> Result<Marker, Trouble> {
        Ok(Marker::new(what, &self.secret()?.key(&self.run, issue, why)))
    }

    fn posts(&self, id: &str, text: &str, what: &str, why: &str) -> Result<(), Trouble> {
        let marker = self.marker(what, id, why)?;
        self.asks(|tracker| tracker.post(id, text, &marker))
    }

    fn asks<T>(
        &self,
        ask: impl FnOnce(&dyn windlass_sources::tracker::Tracker) -> Result<T, TrackerError>,
    ) -> Result<T, Trouble> {
        let tracker = self
            .tracker()
            .map_err(|error| Trouble::new(error.to_string()).next(error.next_step()))?;
        ask(&*tracker).map_err(troubled)
    }

    /// With what others have changed about the issue since it was claimed: it did not enter the work.
    fn with_changes(&self, id: &str, text: String) -> String {
        let frozen = self.session().tales.get(id).and_then(|tale| tale.frozen.clone());
        let now = self.tracker().ok().and_then(|tracker| tracker.look(id).ok().flatten());
        let (Some(frozen), Some(now)) = (frozen, now) else { return text };
        match frozen.changes(&now) {
            None => text,
            Some(changed) => format!(
                "{text}\n\nThis issue was changed while it was worked on ({changed}). The work is about what it said when it was \
                 claimed."
            ),
        }
    }

    /// An issue for each gap, which comes back through the queue.
    fn gaps(&self, id: &str) -> Result<String, Trouble> {
        let gaps = self.session().tales.get(id).and_then(|tale| tale.review.clone());
        let gaps = gaps.map(|review| review.gaps).unwrap_or_default();
        let mut made = Vec::new();
        for gap in gaps {
            let new = NewIssue {
                filter: self.filter.clone(),
                title: format!("Spec gap: {}", gap.title),
                body: about_gap(&gap, id),
            };
            let why = format!("{} {}", gap.subsystem, gap.title);
            let marker = self.marker("spec-gap", id, &why)?;
            made.push(self.asks(|tracker| tracker.create(&new, &marker))?);
        }
        Ok(if made.is_empty() {
            String::new()
        } else {
            format!("{id}: new issues: {}", made.join(", "))
        })
    }
}

/// A tracker's error, as one of whoever tells.
pub(super) fn troubled(error: TrackerError) -> Trouble {
    Trouble::new(error.to_string()).next(error.next_step()).passes(error.back())
}

/// When something was first wanted, and of what: what is done again then has the same name.
fn moment(at: &Situation) -> String {
    let child = at.child.as_ref().map_or("", |child| &*child.id);
    format!("{} {child} {}", at.stage, at.since.wall_ms)
}

fn about_gap(gap: &Gap, id: &str) -> String {
    let missing = if gap.missing.trim().is_empty() { &gap.title } else { &gap.missing };
    let spec = match gap.subsystem.is_empty() {
        true => "a spec of the subsystem".to_owned(),
        false => format!("the spec of `{}`", gap.subsystem),
    };
    format!(
        "What is missing: {}\n\nUpdate {spec} in `subsystems_knowledge/`. Found while working on {id}.",
        shown(missing)
    )
}

/// As much of what somebody said as goes into a comment.
fn cut(text: &str) -> String {
    let text = text.trim();
    let at = text.floor_char_boundary(SAID_BYTES);
    if at < text.len() { format!("{}…", &text[..at]) } else { text.to_owned() }
}

/// What an agent said, as it stands in a comment: what could call somebody, name another issue or lead elsewhere there stands
/// between backticks, on a line.
fn shown(text: &str) -> String {
    let text = cut(text);
    let names_others = text.contains(['@', '#', '<', '[']) || text.contains("://");
    if !names_others && harmless(&text) == text {
        return text;
    }
    format!("`{}`", windlass_agents::one_line(&text).replace('`', "'"))
}

/// PASS, if nothing of a kind failed and something passed.
fn word<'c>(checks: impl Iterator<Item = (&'c String, &'c Check)>, kind: &str) -> &'static str {
    let mut own = checks.filter(|(name, _)| is(name, kind)).map(|(_, came)| *came).peekable();
    let (mut passed, mut failed) = (false, false);
    for came in own.by_ref() {
        passed |= came == Check::Pass;
        failed |= came == Check::Fail;
    }
    match (failed, passed) {
        (true, _) => "FAIL",
        (false, true) => "PASS",
        (false, false) => "SKIPPED",
    }
}

/// Whether a check is of a kind: `tier0: core` is of `tier0`.
fn is(name: &str, kind: &str) -> bool {
    name.strip_prefix(kind).is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
}

/// What an issue came to, in figures.
fn figures(session: &Session, id: &str, tale: &Tale) -> String {
    let (done, total) = (tale.done().count(), tale.groups.len());
    let (held, all) = super::checked::invariants_held(session, id, None);
    let tier0 = word(tale.done().flat_map(|group| &group.checks), "tier0");
    let tier1 = word(tale.whole.iter(), "tier1");
    format!(
        "Files changed: {}\nChange groups: {done}/{total}\n\
         Invariants: {held}/{all} verified\nTests: tier0 {tier0}, tier1 {tier1}\n",
        tale.changed().len(),
    )
}

/// The report that stands in a pull request. What agents wrote stands between backticks: there it closes no issue and calls nobody.
pub(super) fn report(session: &Session, id: &str) -> String {
    let empty = Tale::default();
    let tale = session.tales.get(id).unwrap_or(&empty);
    let mut text = format!("Windlass worked on {id}.\n\n{}", figures(session, id, tale));
    let mut list = |what: &str, all: Vec<&str>| {
        if !all.is_empty() {
            let _ = writeln!(text, "\n{what}:\n");
            for it in all {
                let it = cut(&windlass_agents::one_line(it)).replace('`', "'");
                let _ = writeln!(text, "- `{it}`");
            }
        }
    };
    list("Change groups", tale.done().map(|it| it.title.as_str()).collect());
    let out = tale.groups.iter().filter(|it| !tale.done().any(|done| done.id == it.id));
    list("Left out", out.map(|it| it.title.as_str()).collect());
    list("What the issue asks for", tale.criteria.iter().map(String::as_str).collect());
    let review = tale.review.as_ref();
    list("The review says", review.map(|it| it.said.as_str()).into_iter().collect());
    let warnings = review.map(|it| it.warnings.as_slice()).unwrap_or_default();
    list("Warnings", warnings.iter().map(String::as_str).collect());
    text.trim_end().to_owned()
}

/// The result of an issue, in the seed's words.
fn completed(session: &Session, id: &str) -> String {
    let empty = Tale::default();
    let tale = session.tales.get(id).unwrap_or(&empty);
    let (done, total) = (tale.done().count(), tale.groups.len());
    let mut text = format!(
        "Harness completed issue in iteration {}.\n\n{}",
        tale.iteration,
        figures(session, id, tale),
    );
    let radius = session.specs.radius(tale.changed());
    let warnings = warnings(tale, &radius);
    if !warnings.is_empty() {
        let _ = write!(text, "Warnings:\n{warnings}");
    }
    if done < total {
        for group in tale.groups.iter().filter(|it| !tale.done().any(|done| done.id == it.id)) {
            let _ = writeln!(text, "Left out: {}: {}", shown(&group.title), shown(&group.why));
        }
    }
    let landed = tale.landed.as_ref();
    let mut commits: Vec<&str> = Vec::new();
    if !tale.rebuilt {
        commits.extend(tale.commits.iter().map(String::as_str));
    }
    commits.extend(landed.map(|it| it.commit.as_str()).filter(|it| !commits.contains(it)));
    let short: Vec<&str> = commits.iter().map(|it| &it[..it.len().min(12)]).collect();
    let short = if short.is_empty() { "none".to_owned() } else { short.join(", ") };
    let _ = write!(text, "\nCommits: {short}");
    if let Some(pull) = &tale.pull {
        let _ = match pull.merged {
            true => write!(text, "\n\nThey are merged: {}", pull.url),
            false => write!(
                text,
                "\n\nThey wait to be merged: {}. Until then the issue stays in progress.",
                pull.url
            ),
        };
    }
    if let Some(landed) = landed {
        let branch = &landed.branch;
        let _ = match &landed.waits {
            None => {
                write!(text, "\n\nThey are on the local branch `{branch}`: nobody has pushed them.")
            }
            Some(command) => write!(
                text,
                "\n\nThey are local, and wait to be taken onto `{branch}`: `{command}`."
            ),
        };
    }
    if !tale.changed().is_empty() {
        let _ = write!(text, "\n\nBlast radius:\n{}", cut(&radius.in_words()));
    }
    text
}

/// What whoever reads an issue should know of its work, a line each.
fn warnings(tale: &Tale, radius: &Radius) -> String {
    let mut listed = String::new();
    for review in tale.review.iter().filter(|review| review.came == "pass_with_warnings") {
        match review.warnings.as_slice() {
            [] => listed = format!("- {}\n", shown(&review.said)),
            all => listed.extend(all.iter().map(|it| format!("- {}\n", shown(it)))),
        }
    }
    if !radius.by_path_only && !radius.outside.is_empty() {
        let files = cut(&radius.outside.join(", "));
        let _ = writeln!(listed, "- no subsystem is described that these files are of: {files}");
    }
    listed
}

/// Why an issue failed, in the seed's words.
fn failed(session: &Session, id: &str) -> String {
    let empty = Tale::default();
    let tale = session.tales.get(id).unwrap_or(&empty);
    let (kind, why) = tale.failure();
    let (done, total) = (tale.done().count(), tale.groups.len());
    let mut text = format!(
        "Harness failed on this issue in iteration {}.\n\nFailure type: {kind}\nReason: {}\n\
         Change groups completed: {done}/{total}\n",
        tale.iteration,
        shown(&why),
    );
    if done > 0 {
        let titles: Vec<String> = tale.done().map(|group| shown(&group.title)).collect();
        let _ = writeln!(
            text,
            "Partial work: {}. It has not landed; `windlass lanes list` names where it is kept.",
            titles.join("; ")
        );
    }
    if let Some(pull) = &tale.pull {
        let _ = writeln!(text, "Its branch `{}` and {} are kept.", pull.branch, pull.url);
    }
    text.push_str("\nRequires manual intervention.");
    text
}

/// Why nothing of an issue lands, though nothing failed.
fn left(session: &Session, id: &str, why: Option<&str>) -> String {
    let empty = Tale::default();
    let tale = session.tales.get(id).unwrap_or(&empty);
    let mut text = format!(
        "Harness left this issue in iteration {}: {}. Nothing of it has landed, and the issue stays as it is.\n\n\
         Change groups completed: {}/{}\n",
        tale.iteration,
        why.unwrap_or(LEFT),
        tale.done().count(),
        tale.groups.len()
    );
    let titles: Vec<String> = tale.done().map(|group| shown(&group.title)).collect();
    if !titles.is_empty() {
        let _ = writeln!(
            text,
            "The work is kept: {}. `windlass lanes list` names where.",
            titles.join("; ")
        );
    }
    if let Some(pull) = &tale.pull {
        let _ = writeln!(text, "Its branch `{}` and {} are kept.", pull.branch, pull.url);
    }
    text.trim_end().to_owned()
}

fn progress(session: &Session, id: &str) -> String {
    let empty = Tale::default();
    let tale = session.tales.get(id).unwrap_or(&empty);
    let (done, total) = (tale.done().count(), tale.groups.len());
    let mut text = format!(
        "Harness paused on this issue in iteration {}: an agent's context is full. What is done so far is kept.\n\n\
         Change groups completed: {done}/{total}\n",
        tale.iteration
    );
    for group in tale.done() {
        let _ = writeln!(text, "- {}", shown(&group.title));
    }
    text.trim_end().to_owned()
}

fn blocked(session: &Session, id: &str, at: &Situation) -> String {
    let child = at.child.as_ref().map_or("", |child| &*child.id);
    let Some((nth, group)) = session.group(id, child) else {
        return "A change group needs human input.".to_owned();
    };
    let total = session.tales.get(id).map_or(0, |tale| tale.groups.len());
    format!(
        "Change group {}/{total} ({}) needs human input: {}",
        nth + 1,
        shown(&group.title),
        shown(&group.why)
    )
}

fn group_failure(session: &Session, id: &str, at: &Situation) -> String {
    let child = at.child.as_ref().map_or("", |child| &*child.id);
    let Some((nth, group)) = session.group(id, child) else { return String::new() };
    let total = session.tales.get(id).map_or(0, |tale| tale.groups.len());
    format!("{id}: group {}/{total} ({}) is given up: {}", nth + 1, group.title, cut(&group.why))
}

fn friction(session: &Session, id: &str) -> String {
    let points = session.tales.get(id).map_or(&[][..], |tale| &tale.friction);
    points.iter().map(|it| format!("friction: {it}\n")).collect::<String>().trim_end().to_owned()
}

fn summary(session: &Session, begun: &windlass_sources::issues::State) -> String {
    let state = session.state(begun);
    let mut text = String::new();
    if let Some(marker) = &session.marker {
        let _ = writeln!(text, "{marker}");
    }
    let list = |ids: &[String]| if ids.is_empty() { "none".to_owned() } else { ids.join(", ") };
    let of = |how: &[Settled]| -> Vec<String> {
        let own = session.settled.iter().filter(|(_, it)| how.contains(it));
        own.map(|(id, _)| id.clone()).collect()
    };
    let mut left_out = of(&[Settled::Skipped, Settled::Blocked]);
    // What was settled is said already, in this line or another.
    let settled = |id: &String| session.settled.iter().any(|(it, _)| it == id);
    left_out.extend(session.not_taken.iter().filter(|id| !settled(id)).cloned());
    let _ = write!(
        text,
        "Completed: {}\nFailed: {}\nLeft out: {}\nIteration {} of {}",
        list(&of(&[Settled::Done])),
        list(&of(&[Settled::Failed])),
        list(&left_out),
        state.iteration,
        state.max_iterations
    );
    text
}
