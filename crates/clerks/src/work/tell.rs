//! What work tells people: markers, contracts, reviews, reports, and what is not done and why. Each may be done twice and is then
//! done once.

use std::fmt::Write as _;

use windlass_core::value::Value;
use windlass_core::workflow::Settled;
use windlass_engine::clerk::{Situation, Told};
use windlass_engine::date::date;
use windlass_engine::entry::Check;
use windlass_engine::message::Trouble;
use windlass_sources::failure::failures as failing;
use windlass_sources::plans::{HASH_LETTERS, Number, Plans};
use windlass_sources::sprint::{self, BrowserMode, Flow, Profile, Route};

use super::Work;
use super::report::{All, Done, End, Left, Told as Line, progress};
use super::session::{Session, Tale};
use super::show::{background, end};
use crate::Changed;
use crate::memory::failures;

/// The report as Markdown, for a pull request.
const REPORT: &str = ".claude/state/completion-report.md";

/// So many tasks are named where there may be thousands.
const NAMED: usize = 100;

impl Work {
    pub(super) fn told(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        let unit = at.unit.as_ref().map(|(unit, _)| unit.as_str());
        Ok(match (name, unit) {
            ("drift-advice", _) => text("Run `windlass plan sync` first to resolve marker drift"),
            ("old-format", _) => text(format!(
                "{} is in the old format. Please regenerate with harness-plan create. (`windlass plan \"…\"` makes one where \
                 there is none: move the old one away first.)",
                self.path
            )),
            ("unlisted-tasks", _) => self.added(),
            ("plans-outlook", _) => self.outlook(),
            ("marker-wip", Some(unit)) => self.begun(unit),
            ("sprint-contract", Some(unit)) => self.sealed(unit),
            ("completion-report", _) => self.completed(),
            ("ci-escalation", Some(unit)) => self.escalated(unit),
            ("progress", _) => self.progress(),
            ("lane-kept", _) => self.kept(),
            ("unfinished-tasks", _) => self.unfinished(at)?,
            ("aggregate-report", _) => self.aggregated(at),
            // Markers and results of reviews are written whenever something has happened, not only now.
            _ => Told::default(),
        })
    }

    fn added(&self) -> Told {
        let session = self.session();
        let mut said = format!("Added the following to {}:", self.path);
        for row in &session.rows {
            let _ = write!(
                said,
                "\n  | {} | {} | {} | - | cc:TODO |",
                row.number, row.content, row.dod
            );
        }
        text(said)
    }

    fn outlook(&self) -> Told {
        let Ok(Some(there)) = self.text() else { return Told::default() };
        let plans = Plans::read(there);
        let mut said = format!("{} has {} tasks:", self.path, plans.rows().len());
        for row in plans.rows().iter().take(NAMED) {
            let _ = write!(said, "\n  {} {}", row.number, row.content);
        }
        said.push_str("\n`windlass work` works them off; change the table before, as you like");
        text(said)
    }

    fn begun(&self, unit: &str) -> Told {
        let session = self.session();
        let Some(tale) = session.tales.get(unit) else { return Told::default() };
        let mut said = format!("Task {unit} is cc:WIP");
        for line in background(tale).lines() {
            let _ = write!(said, "\n  {line}");
        }
        text(said)
    }

    /// The contract with what its reviewer adds, approved and sealed.
    fn sealed(&self, unit: &str) -> Told {
        let session = self.session();
        let Some(tale) = session.tales.get(unit) else { return Told::default() };
        let (Some(draft), Some(number)) = (&tale.contract, Number::of(unit)) else {
            return Told::default();
        };
        if tale.sealed.is_some() {
            return Told::default();
        }
        let mut contract = draft.clone();
        contract.enrich(tale.additions.checks.iter().map(String::as_str));
        for goal in &tale.additions.non_goals {
            if !contract.contract.non_goals.contains(goal) {
                contract.contract.non_goals.push(goal.clone());
            }
        }
        if contract.review.reviewer_profile == Profile::Browser {
            let flows = &mut contract.contract.browser_validation;
            for (description, steps) in &tale.additions.flows {
                match flows.iter_mut().find(|flow| flow.description == *description) {
                    Some(known) if known.steps.is_empty() => known.steps.clone_from(steps),
                    Some(_) => {}
                    None => flows.push(Flow {
                        description: description.clone(),
                        steps: steps.clone(),
                        ..Flow::default()
                    }),
                }
            }
            let scripted = !flows.is_empty() && flows.iter().all(|flow| !flow.steps.is_empty());
            // Whoever wants another way has it explored that way.
            let ours = contract.review.route.is_none_or(|it| it == Route::ChromeDevtools);
            if scripted && ours {
                contract.review.browser_mode = Some(BrowserMode::Scripted);
            }
        }
        let by = if tale.additions.by.is_empty() { "reviewer" } else { &tale.additions.by };
        let contract = contract.approved(by);
        let path = sprint::path(&number);
        Told { papers: [(path, contract.write())].into(), ..Told::default() }
    }

    /// The box of a task that was worked on by itself.
    fn completed(&self) -> Told {
        let session = self.session();
        let [only] = session.order.as_slice() else { return Told::default() };
        let Some(tale) = session.tales.get(only) else { return Told::default() };
        let changed = self.changed(tale);
        let commit = tale.commit.as_deref().filter(|_| !session.no_commit);
        let effect = [("Before", &tale.before), ("After", &tale.after)];
        let effect = effect
            .into_iter()
            .filter_map(|(word, said)| Some(format!("{word}: {}", said.as_ref()?)));
        let done = Done {
            number: only.clone(),
            name: tale.content.clone(),
            changes: facts(&tale.content, &changed),
            before: before(tale, &changed),
            after: tale.dod.clone(),
            words: tale.changes.iter().cloned().chain(effect).collect(),
            files: changed.files,
            left: self.left(&session),
            commit: commit.map(short),
            reviews: tale.reviews.iter().map(|it| it.word().to_owned()).collect(),
        };
        let papers = [(REPORT.to_owned(), done.markdown())].into();
        Told { text: done.boxed(), papers, ..Told::default() }
    }

    /// The box over all tasks.
    fn aggregated(&self, at: &Situation) -> Told {
        let session = self.session();
        if session.order.len() < 2 {
            return Told::default();
        }
        let mode = match at.with.get("mode") {
            Some(Value::Text(mode)) => mode.to_string(),
            _ => String::new(),
        };
        let mut all = All { mode, left: self.left(&session), ..All::default() };
        let mut files = std::collections::BTreeSet::new();
        for unit in &session.order {
            let tale = session.tales.get(unit);
            let name = session.title(unit);
            let end = match tale {
                Some(tale) if tale.is_gone() => End::Gone,
                Some(tale) if session.is_well(unit) => {
                    let changed = self.changed(tale);
                    files.extend(changed.files);
                    all.insertions += changed.insertions;
                    all.deletions += changed.deletions;
                    End::Done(tale.commit.as_deref().filter(|_| !session.no_commit).map(short))
                }
                Some(_) | None => End::Open,
            };
            all.tasks.push(Line { name, end });
        }
        all.files = files.len();
        let papers = [(REPORT.to_owned(), all.markdown())].into();
        Told { text: all.boxed(), papers, ..Told::default() }
    }

    /// What the commit of a task has changed; what its agents say that they did, where nobody can look.
    fn changed(&self, tale: &Tale) -> Changed {
        let commit = tale.commit.as_deref();
        let known = commit.and_then(|commit| self.history.0.as_ref()?.changed_by(commit));
        let files = || tale.files.iter().cloned().collect();
        known.unwrap_or_else(|| Changed { files: files(), ..Changed::default() })
    }

    /// What is left in Plans.md, as it will be.
    fn left(&self, session: &Session) -> Vec<Left> {
        let there = super::lock(&self.cells).text().ok().flatten();
        let plans = there
            .map(Plans::read)
            .or_else(|| session.plans.clone())
            .unwrap_or_else(|| Plans::read(""));
        let marked = |number: &str| session.tales.get(number).and_then(|tale| tale.mark.clone());
        let rows = plans.rows().iter().map(|row| {
            let status = marked(row.number.as_str()).unwrap_or_else(|| row.status.clone());
            (row, status)
        });
        // The marker of the one that is told about is written with what is told.
        let told =
            |number: &str| session.tales.get(number).is_some_and(|tale| tale.commit.is_some());
        rows.filter(|(row, status)| status.is_open() && !told(row.number.as_str()))
            .map(|(row, status)| Left {
                number: row.number.to_string(),
                status: status.to_string(),
                content: row.content.clone(),
            })
            .collect()
    }

    fn progress(&self) -> Told {
        let session = self.session();
        let Some(unit) = &session.settled else { return Told::default() };
        let content = session.tales.get(unit).map_or("", |tale| tale.content.as_str());
        let gone = |unit: &&String| session.tales.get(*unit).is_some_and(Tale::is_gone);
        let (gone, left): (Vec<&String>, Vec<&String>) = session.order.iter().partition(gone);
        if gone.contains(&unit) {
            return Told::default();
        }
        let done = left.iter().filter(|unit| session.is_done(unit)).count();
        text(progress(done, left.len(), content))
    }

    fn escalated(&self, unit: &str) -> Told {
        let session = self.session();
        let fix = session.proposal(unit);
        let cause = fix.map_or("", |fix| fix.cause_key.as_str());
        let what = fix.map_or_else(String::new, |fix| match &fix.test {
            Some(test) => format!("{} in {test}", fix.failure_category),
            None => fix.failure_category.clone(),
        });
        let mut said = format!(
            "CI failed for the third time from the same cause ({what}).\n\nAttempted fixes:"
        );
        let same = session.proposals.iter().map(|(it, _)| it).filter(|it| it.cause_key == cause);
        for earlier in same.filter(|it| session.tales.contains_key(&it.fix_task_id)) {
            let commit = session
                .tales
                .get(&earlier.fix_task_id)
                .and_then(|it| it.commit.as_deref())
                .map(short);
            let _ = write!(
                said,
                "\n  - {} {} {}",
                earlier.fix_task_id,
                earlier.content,
                commit.unwrap_or_default()
            );
        }
        if let Some(log) = session.tales.get(unit).and_then(|tale| tale.failed_after.as_ref()) {
            said.push_str("\n\nRemaining issues:");
            for failure in failing(log).iter().take(NAMED) {
                let test = failure.test.as_ref().map_or(String::new(), |test| format!(" {test}:"));
                let _ = write!(said, "\n  - {}:{test} {}", failure.class.word(), failure.message);
            }
            let _ = write!(said, "\n\nWhat CI printed:\n{}", end(log));
        }
        text(said)
    }

    fn kept(&self) -> Told {
        let session = self.session();
        let branch = session.branch.as_deref().unwrap_or("the run's own branch");
        text(format!(
            "The change is on the branch {branch}, a commit for each task: `git merge --squash {branch}` takes it without one"
        ))
    }

    /// Every task that is not done, and why. What failed is remembered.
    fn unfinished(&self, at: &Situation) -> Result<Told, Trouble> {
        let session = self.session();
        let mut said = String::new();
        let day = date(at.since.wall_ms);
        for unit in &session.order {
            let Some(tale) = session.tales.get(unit) else {
                let _ = write!(said, "\n  {unit} {}: it was not begun", session.title(unit));
                continue;
            };
            if session.is_well(unit) && !tale.is_gone() {
                continue;
            }
            let why = why(tale, &session);
            let _ = write!(said, "\n  {unit} {}: {why}", session.title(unit));
            if tale.end == Some(Settled::Failed) {
                let mark = super::read::failed_as(unit, &tale.content);
                let entry = format!("- **{day} {mark}\n  - {why}\n");
                self.files.append(failures::PATH, "Failures", &entry)?;
            }
        }
        if said.is_empty() {
            return Ok(Told::default());
        }
        let next = "`windlass work` goes on with what is not cc:Done; `windlass lanes list` names what was built of it";
        Ok(text(format!("Not done:{said}\n{next}")))
    }
}

/// Why a task is not done.
fn why(tale: &Tale, session: &Session) -> String {
    let record = |name: &str| tale.records.iter().any(|it| it == name);
    let trouble = || tale.trouble.clone().unwrap_or_else(|| "nobody said why".to_owned());
    match tale.end {
        Some(Settled::Blocked) => match &tale.because {
            Some(other) => format!("it waits for task {other}, which is not done"),
            None => "something that it depends on is not done".to_owned(),
        },
        Some(Settled::Skipped) if record("misunderstood") => {
            "it was left out: it was not understood as it was meant".to_owned()
        }
        Some(Settled::Skipped) => match &tale.left_out {
            Some(by) => format!("it was left out by {by}"),
            None => "its row was changed meanwhile, and it was left as it is".to_owned(),
        },
        Some(Settled::Failed) if record("contract_changed") => {
            format!("its contract was changed after it was approved; {}", trouble())
        }
        Some(Settled::Failed) if record("aborted") => {
            format!("it was given up, and its lane is kept: {}", trouble())
        }
        Some(Settled::Failed) => trouble(),
        Some(Settled::Done) if tale.is_gone() => {
            "it was taken out of Plans.md meanwhile".to_owned()
        }
        Some(Settled::Done) if !session.is_left(tale) => {
            "it is cc:Done, and what fails since then is not mended".to_owned()
        }
        Some(Settled::Done) => {
            let branch = session.branch.as_deref().unwrap_or_default();
            format!("it is done, and was left on the branch {branch}")
        }
        Some(Settled::Unfinished) | None if tale.is_marked() => {
            "it is cc:Done, and CI fails with it".to_owned()
        }
        Some(Settled::Unfinished) | None => "it was not finished".to_owned(),
    }
}

/// What was done, as its row and its commit say: whoever did it is not asked.
fn facts(content: &str, changed: &Changed) -> Vec<String> {
    let Changed { files, insertions, deletions } = changed;
    let many =
        |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let mut facts = vec![content.to_owned()];
    if insertions + deletions > 0 {
        let (files, lines) = (many(files.len(), "file"), many(*insertions, "line"));
        facts.push(format!("{files}: {lines} added, {deletions} removed"));
    }
    facts
}

/// How it was before, as far as Windlass has seen it.
fn before(tale: &Tale, changed: &Changed) -> String {
    match (&tale.red, changed.deletions) {
        (Some((Check::Fail, _)), _) => "its test failed".to_owned(),
        (_, 0) => "not yet".to_owned(),
        (_, 1) => "not yet; 1 line of it is gone".to_owned(),
        (_, gone) => format!("not yet; {gone} lines of it are gone"),
    }
}

/// The short form of a hash.
fn short(hash: &str) -> String {
    hash.chars().take(HASH_LETTERS).collect()
}

fn text(text: impl Into<String>) -> Told {
    Told { text: text.into(), ..Told::default() }
}
