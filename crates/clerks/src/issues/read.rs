//! What a loop over issues reads: what an earlier one left, which issue comes next, and whose it is.

use std::collections::BTreeMap;

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::Situation;
use windlass_engine::shop::lock;
use windlass_sources::issues::{self, State};
use windlass_sources::subsystems;
use windlass_sources::tracker::{Filter, TrackerError};
use windlass_sources::{Reading, SourceError};

use super::Issues;
use super::frozen::Frozen;
use super::select::{All, Before, Known, Wanted, Whose, line, overridden, select, whose};

/// What it can read.
pub const READS: [&str; 6] =
    ["issues-session", "next-issue", "claim", "claim-still", "spec-changes", "pull-request"];

/// What `issue` is when whichever comes next is meant.
pub const NEXT: &str = "next";

/// How it is said of an issue that it is not taken.
const NOT_TAKEN: &str = "left out: ";

/// How it is said that there are more of them.
const AND_MORE: &str = "… and ";

/// So many issues that are left out are named.
const NAMED: usize = 20;

impl Issues {
    pub(super) fn look(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        Ok(Some(match name {
            "issues-session" => self.earlier()?,
            "next-issue" => self.next(at)?,
            "claim" => self.claimed(at)?,
            "claim-still" => self.still_ours(at)?,
            "spec-changes" => self.spec_changes(at),
            "pull-request" => self.watched(at)?,
            _ => return Ok(None),
        }))
    }

    /// What an earlier loop left: one of ours, or another program's.
    fn earlier(&self) -> Result<Reading, SourceError> {
        let Some(text) = self.files.text(issues::PATH)? else { return Ok(came("fresh")) };
        let state = match State::read(&text) {
            Ok(state) => state,
            Err(flaw) => {
                let aside = lock(&self.projection).set_aside(issues::PATH);
                let aside = aside.map_err(|it| SourceError::bad(issues::PATH, it.to_string()))?;
                let mut reading = came("corrupt");
                reading.remarks.push(format!("{}: {flaw}; it is kept as {aside}", issues::PATH));
                return Ok(reading);
            }
        };
        // A queue that was empty was left by nobody: the next loop begins anew, and takes nothing again.
        let word = match (state.active, state.ended.as_deref()) {
            (_, Some("done" | "once")) => "fresh",
            (true, _) => "active",
            (false, _) => "inactive",
        };
        let mut reading = came(word);
        let number = |it: u64| Value::Number(i64::try_from(it.min(1_000_000)).unwrap_or(0));
        reading.facts = [
            ("iterations_left".to_owned(), number(state.iterations_left())),
            ("consecutive_failures".to_owned(), number(state.consecutive_failures)),
        ]
        .into();
        reading.papers.insert(issues::PATH.to_owned(), text.into_bytes());
        Ok(reading)
    }

    /// Which issues are meant.
    fn wanted(at: &Situation) -> Wanted {
        let text = |name: &str| match at.with.get(name) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let only = Some(text("issue")).filter(|it| !it.is_empty() && it != NEXT);
        let team = Some(text("team")).filter(|it| !it.is_empty());
        Wanted { filter: Filter { project: text("project"), team, label: text("label") }, only }
    }

    /// What is known of issues besides.
    pub(super) fn known(&self) -> Result<Known, SourceError> {
        let own =
            self.secret().map_err(|it| SourceError::bad("the run's secret", it.to_string()))?;
        let session = self.session();
        let state = session.state(&self.begun);
        // What another program was at counts where it is gone on with.
        let adopted = session.previous.current_issue.clone().filter(|_| session.taken_up);
        drop(session);
        Ok(Known {
            settled: settled(&state),
            adopted,
            past: super::claim::Secret::of_the_past(&self.state),
            present: Vec::new(),
            names: names(&state),
            own: Some((self.run.clone(), own)),
        })
    }

    fn next(&self, at: &Situation) -> Result<Reading, SourceError> {
        let (mut wanted, known) = (Self::wanted(at), self.known()?);
        let tracker = self.tracker()?;
        let mut selection = select(&*tracker, &wanted, &known, All::No).map_err(trouble)?;
        if wanted.only.take().is_some() {
            // Once it was worked on here, it is not taken again in the same run, by whatever name.
            let session = self.session();
            selection.chosen.take_if(|it| session.tales.contains_key(&it.issue.id));
        }
        let Some(chosen) = &selection.chosen else {
            let mut reading = came("empty");
            let complaints = tracker.complaints(&wanted.filter).map_err(trouble)?;
            reading.remarks.extend(complaints.iter().map(|it| on_a_line(it)));
            let left = selection.left_out.iter().take(NAMED);
            let left = left.map(|it| on_a_line(&format!("{NOT_TAKEN}{}: {}", it.id, it.why)));
            reading.remarks.extend(left);
            if selection.left_out.len() > NAMED {
                let more = selection.left_out.len() - NAMED;
                reading.remarks.push(format!("{AND_MORE}{more} more"));
            }
            return Ok(reading);
        };
        let mut reading = came("found");
        let (id, title) = (chosen.issue.id.as_str().into(), line(&chosen.issue.title).into());
        reading.lists.insert("issues".to_owned(), vec![Item { id, title, ..Item::default() }]);
        Ok(reading)
    }

    /// Whose an issue is after its claim. What it says by now, and what is known of subsystems, is kept as it is.
    fn claimed(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((id, _)) = &at.unit else { return Ok(came("gone")) };
        let Some(detail) = self.tracker()?.look(id).map_err(trouble)? else {
            return Ok(Reading { remarks: vec![format!("{id} is gone")], ..came("gone") });
        };
        let (wanted, known) = (Self::wanted(at), self.known()?);
        let own = known.own.as_ref().map(|(run, secret)| secret.claim(run, id)).unwrap_or_default();
        match whose(&detail, &wanted, &known, &own) {
            Whose::Taken(by) => {
                let remark = format!("{id}: another Windlass was quicker ({by})");
                Ok(Reading { remarks: vec![remark], ..came("taken") })
            }
            Whose::Changed(why) => {
                Ok(Reading { remarks: vec![format!("{id}: {why}")], ..came("changed") })
            }
            Whose::Ours => {
                let mut reading = came("ours");
                let (path, bytes) = Frozen::of(&detail).paper();
                reading.papers.insert(path, bytes);
                self.specs(&mut reading)?;
                Ok(reading)
            }
        }
    }

    /// Whether an issue is still ours: a person who has decided otherwise meanwhile is right.
    pub(super) fn still_ours(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((id, _)) = &at.unit else { return Ok(came("gone")) };
        let Some(detail) = self.tracker()?.look(id).map_err(trouble)? else {
            return Ok(Reading { remarks: vec![format!("{id} is gone")], ..came("gone") });
        };
        let known = self.known()?;
        let own = known.own.as_ref().map(|(run, secret)| secret.claim(run, id)).unwrap_or_default();
        Ok(match overridden(&detail, &known, &own, Before::Landing) {
            None => came("ours"),
            Some(why) => {
                let remark = format!("{id}: {why}: nothing of it lands");
                Reading { remarks: vec![remark], ..came("overridden") }
            }
        })
    }

    /// Specs as they are committed where work lands: what lies about in the checkout is nobody's word yet, and their commands are
    /// run.
    fn committed_specs(&self) -> Result<BTreeMap<String, String>, SourceError> {
        let Some(past) = &self.history.0 else { return subsystems::files(self.files.root()) };
        let files = past.files_below(subsystems::DIR);
        subsystems::of_files(files.map_err(|why| SourceError::bad(subsystems::DIR, why))?)
    }

    /// What an issue's work makes of what is checked from then on: that is for a person to say.
    fn spec_changes(&self, at: &Situation) -> Reading {
        let Some((id, _)) = &at.unit else { return came("none") };
        match self.weighty(id) {
            None => came("none"),
            Some(text) => {
                let remarks = text.lines().map(str::to_owned).collect();
                Reading { remarks, ..came("some") }
            }
        }
    }

    /// What an issue's work makes of commands, invariants and whose they are; nothing if it leaves them as they are.
    pub(super) fn weighty(&self, id: &str) -> Option<String> {
        let session = self.session();
        let tale = session.tales.get(id)?;
        let changed = tale.changed().into_iter().filter(|path| subsystems::is_spec(path));
        let changed: Vec<String> = changed.map(str::to_owned).collect();
        let (last, before) = (tale.commits.last().cloned(), session.spec_texts().clone());
        drop(session);
        if changed.is_empty() {
            return None;
        }
        let built = || {
            let past = self.history.0.as_ref().ok_or("there is no history")?;
            let files = past.files_built(&last.ok_or("nothing was committed")?, subsystems::DIR)?;
            subsystems::of_files(files).map_err(|error| error.to_string())
        };
        let after: Result<BTreeMap<String, String>, String> = built();
        let mut text = String::new();
        for path in changed {
            let lines = match &after {
                Ok(after) => subsystems::weighty(
                    &path,
                    before.get(&path).map(String::as_str),
                    after.get(&path).map(String::as_str),
                ),
                // What nobody can compare is not taken for the same.
                Err(why) => vec![format!("? {why}")],
            };
            for line in lines {
                text.push_str(&format!("{path}: {}\n", windlass_agents::one_line(&line)));
            }
        }
        (!text.is_empty()).then_some(text)
    }

    /// What is known of subsystems, as far as that is not on record yet.
    fn specs(&self, reading: &mut Reading) -> Result<(), SourceError> {
        let files = self.committed_specs()?;
        let specs = subsystems::Specs::parse(
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())),
        );
        if files.is_empty() {
            reading.remarks.push(format!(
                "there are no subsystem specs in {}: the scope of a change is the paths that its plan names",
                subsystems::DIR
            ));
        }
        reading.remarks.extend(specs.flaws.iter().map(ToString::to_string));
        let session = self.session();
        let known = session.spec_texts();
        // One that is gone is known to be empty, and counts for nothing.
        let gone = known.keys().filter(|path| !files.contains_key(*path)).cloned();
        let gone: Vec<(String, String)> = gone.map(|path| (path, String::new())).collect();
        for (path, text) in files.into_iter().chain(gone) {
            if known.get(&path) != Some(&text) {
                reading.papers.insert(path, text.into_bytes());
            }
        }
        Ok(())
    }
}

/// The issues that the remarks of a look at the queue name.
pub(super) fn named(remarks: &str) -> Vec<String> {
    let name = |line: &str| match line.strip_prefix(NOT_TAKEN) {
        Some(rest) => rest.split_once(": ").map(|(id, _)| id.to_owned()),
        None => line.strip_prefix(AND_MORE).map(str::to_owned),
    };
    remarks.lines().filter_map(name).collect()
}

/// What a name has in it that begins a line begins none: markers stand on lines of their own.
fn on_a_line(text: &str) -> String {
    text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect()
}

/// Issues that a loop has settled, each with how.
pub fn settled(state: &State) -> Vec<(String, &'static str)> {
    let all = [
        (&state.completed, "completed it"),
        (&state.failed, "failed at it"),
        (&state.skipped, "left it out"),
    ];
    let each = |(ids, how): &(&Vec<String>, &'static str)| {
        let how = *how;
        ids.iter().map(move |id| (id.clone(), how)).collect::<Vec<_>>()
    };
    all.iter().flat_map(each).collect()
}

/// Issues that a loop has had, whatever became of them.
pub fn names(state: &State) -> Vec<String> {
    let settled = [&state.completed, &state.failed, &state.skipped].into_iter().flatten();
    settled.chain(&state.current_issue).cloned().collect()
}

/// A tracker's error, as one of a source.
pub(super) fn trouble(error: TrackerError) -> SourceError {
    let (what, next) = (error.to_string(), error.next_step());
    match error.back() {
        Some(back) => SourceError::Away { path: "the tracker".into(), what, next, back },
        None => SourceError::bad("the tracker", what).or_else(next),
    }
}

fn came(verdict: &str) -> Reading {
    Reading { verdict: verdict.to_owned(), ..Reading::default() }
}
