//! Work as its journal folds to it: what is known of each task, and what its row is to say.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::run::{
    EffectId, Ended, Ending, Event, FrameId, GateId, Item, Moved, Run, UnitStatus,
};
use windlass_core::value::Value;
use windlass_core::workflow::{RunOutcome, Settled};
use windlass_engine::clerk::Blobs;
use windlass_engine::entry::{Answered, Check, Entry, Note};
use windlass_sources::failure::Proposal;
use windlass_sources::plans::{NewRow, Number, Plans, Row, Status};
use windlass_sources::sprint::{self, SprintContract};

use super::review::{Review, Verdict};
use super::stage;

/// Work on some tasks.
#[derive(Debug, Default)]
pub struct Session {
    /// Where Plans.md is.
    pub path: String,
    /// Plans.md as it was read when tasks were selected.
    pub plans: Option<Plans>,
    /// Papers by path.
    pub papers: BTreeMap<String, Arc<[u8]>>,
    /// Papers that have come since files were written.
    pub fresh: BTreeSet<String>,
    /// Tasks whose reviews have gone on since files were written.
    pub reviewed: BTreeSet<String>,
    /// Tasks in the order in which they were selected or added.
    pub order: Vec<String>,
    /// What is known of each.
    pub tales: BTreeMap<String, Tale>,
    /// Rows that Plans.md is to have besides.
    pub rows: Vec<NewRow>,
    /// Fixes that were proposed, the oldest first.
    pub proposals: Vec<(Proposal, Fate)>,
    /// What was found wrong with the markers, as it was said.
    pub drift: Option<String>,
    /// Nothing is committed to the person's branch.
    pub no_commit: bool,
    /// The branch that tasks have landed on.
    pub branch: Option<String>,
    /// The task that settled last and is followed by what comes between tasks.
    pub settled: Option<String>,
    /// How it ended.
    pub ended: Option<RunOutcome>,
    /// What a test command last printed on the base.
    base_printed: Option<(Check, String)>,
    frames: BTreeMap<FrameId, String>,
    flights: BTreeMap<EffectId, (Option<String>, String)>,
    /// Questions that are open, and the tasks that they are about.
    gates: BTreeMap<GateId, String>,
}

/// What became of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is seen to without asking.
    Direct,
    /// Nobody has decided.
    Pending,
    /// It becomes a row.
    Approved,
    /// It does not.
    Rejected,
}

/// What is known of a task.
#[derive(Clone, Debug, Default)]
pub struct Tale {
    /// What is to be done.
    pub content: String,
    /// When it is done.
    pub dod: String,
    /// What the row is to say, if it is ours to say.
    pub mark: Option<Status>,
    /// What it is for, and what it touches.
    pub purpose: Option<String>,
    /// What it touches.
    pub impact: Option<String>,
    /// What people have said at their questions.
    pub answers: Vec<String>,
    /// Its contract, as it was drafted or sealed.
    pub contract: Option<SprintContract>,
    /// The digest that was put on record when it was sealed.
    pub sealed: Option<String>,
    /// What its reviewer wants verified besides, and is out of scope, and is to be tried out.
    pub additions: Additions,
    /// Why its tests failed before the implementation.
    pub red: Option<(Check, String)>,
    /// Files that whoever writes its test has changed.
    pub test_files: BTreeSet<String>,
    /// The commit that holds them as they are by now.
    pub test_commit: Option<String>,
    /// What the red test was sent back for.
    pub red_flaw: Option<String>,
    /// What its scout does not know.
    pub question: Option<String>,
    /// The reviews, in order.
    pub reviews: Vec<Verdict>,
    /// The last of them, and who has made it.
    pub review: Option<(Review, String)>,
    /// The last review by way of a browser, and who has made it.
    pub browser: Option<(Review, String)>,
    /// Why nobody could look at it in a browser.
    pub unseen: Option<String>,
    /// What the checks that belong to its review came to last, and what those that failed had to say.
    pub proofs: BTreeMap<String, (Check, String)>,
    /// The last check that failed: its name, and what it printed.
    pub failed: Option<(String, String)>,
    /// The same after it had landed.
    pub failed_after: Option<String>,
    /// What was done, in its worker's words.
    pub changes: Vec<String>,
    /// How it was before, and how it is now, in its worker's words.
    pub before: Option<String>,
    /// How it is now.
    pub after: Option<String>,
    /// Files that agents have changed.
    pub files: BTreeSet<String>,
    /// The commit, once it has landed.
    pub commit: Option<String>,
    /// What was recorded about its way, in order.
    pub records: Vec<String>,
    /// What went wrong last, in a line.
    pub trouble: Option<String>,
    /// How it ended.
    pub end: Option<Settled>,
    /// The task that was not done and that it waited for.
    pub because: Option<String>,
    /// Who has left it out, and why.
    pub left_out: Option<String>,
}

/// What a contract's reviewer adds to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Additions {
    /// What has to be verified besides.
    pub checks: Vec<String>,
    /// What is out of scope.
    pub non_goals: Vec<String>,
    /// What is to be tried out in a browser, with its steps as far as they are known.
    pub flows: Vec<(String, String)>,
    /// Who has approved it.
    pub by: String,
}

impl Tale {
    /// Whether its row is to say that it is done.
    pub fn is_marked(&self) -> bool {
        matches!(self.mark, Some(Status::Done { .. }))
    }

    /// Whether its row has gone: there is nothing left to do about it.
    pub fn is_gone(&self) -> bool {
        self.records.iter().any(|it| it == "removed")
    }
}

impl Session {
    /// Takes an entry in; `run` is as it is after it.
    pub fn enter(&mut self, entry: &Entry, run: &Run, blob: Blobs<'_>) {
        match entry {
            Entry::Note(noted) => self.note(&noted.note, run, blob),
            Entry::Event(recorded) => self.event(&recorded.event, run),
        }
    }

    /// The text of a paper.
    pub fn paper(&self, path: &str) -> Option<String> {
        self.papers.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The row of a task, as it was when tasks were selected. What it says by now is in its tale.
    pub fn row(&self, unit: &str) -> Option<&Row> {
        self.plans.as_ref()?.row(&Number::of(unit)?)
    }

    /// What a task is called.
    pub fn title(&self, unit: &str) -> String {
        let begun = self.tales.get(unit).map(|tale| &tale.content).filter(|it| !it.is_empty());
        let row = || self.row(unit).map(|row| row.content.clone());
        begun.cloned().or_else(row).unwrap_or_else(|| unit.to_owned())
    }

    /// Whether a task is done.
    pub fn is_done(&self, unit: &str) -> bool {
        self.tales.get(unit).is_some_and(|tale| tale.end == Some(Settled::Done))
    }

    /// Whether a task is done and all is well with it: somebody has it, and what failed after it was done is mended, or was left
    /// as it is by a person.
    pub fn is_well(&self, unit: &str) -> bool {
        let mut unit = unit;
        // Each fix is of another task than the one before: it ends.
        for _ in 0..=self.proposals.len() {
            let Some(tale) = self.tales.get(unit).filter(|it| it.end == Some(Settled::Done)) else {
                return false;
            };
            if self.is_left(tale) {
                return false;
            }
            let fix = tale.failed_after.as_ref().and_then(|_| {
                let mut own = self.proposals.iter().rev();
                own.find(|(it, _)| it.source_task_id == unit)
            });
            match fix {
                Some((_, Fate::Rejected)) | None => return true,
                Some((fix, _)) => unit = &fix.fix_task_id,
            }
        }
        false
    }

    /// Whether what was built of a task is on a branch of the run's own, and nobody has it.
    pub fn is_left(&self, tale: &Tale) -> bool {
        self.no_commit && tale.commit.is_some() && !tale.is_marked()
    }

    /// The fix that was proposed last for a task.
    pub fn proposal(&self, unit: &str) -> Option<&Proposal> {
        let mut own = self.proposals.iter().rev().map(|(proposal, _)| proposal);
        own.find(|proposal| proposal.source_task_id == unit)
    }

    /// Which of the causes that were seen so far one is, by its key: each has a name of its own, and so many that the last of
    /// them counts for all that come after it.
    pub fn same(&self, key: &str) -> String {
        let mut known: Vec<&str> = Vec::new();
        for (proposal, _) in &self.proposals {
            if !known.contains(&proposal.cause_key.as_str()) {
                known.push(&proposal.cause_key);
            }
        }
        let nth = known.iter().position(|own| *own == key).unwrap_or(known.len());
        format!("c{}", (nth + 1).min(CAUSES_MAX))
    }

    /// What tests printed on the base, and whether they failed there.
    pub fn on_base(&self) -> Option<&(Check, String)> {
        self.base_printed.as_ref()
    }

    fn tale(&mut self, unit: &str) -> &mut Tale {
        self.tales.entry(unit.to_owned()).or_default()
    }

    fn note(&mut self, note: &Note, run: &Run, blob: Blobs<'_>) {
        let text = |digest: Option<&str>| {
            let bytes = digest.and_then(blob).unwrap_or_default();
            String::from_utf8_lossy(&bytes).into_owned()
        };
        match note {
            Note::Paper { effect, path, holds: Some(holds) } => {
                let made = self.flights.get(effect).is_some_and(|(_, at)| at == stage::CREATE);
                // The table that was read is a person's, and is not written again.
                if made || *path != self.path {
                    self.fresh.insert(path.clone());
                }
                if let Some(bytes) = blob(holds) {
                    self.take_paper(*effect, path, bytes);
                }
            }
            Note::Paper { path, holds: None, .. } => {
                self.papers.remove(path);
            }
            Note::Answered(answered) => self.answered(answered, &text(Some(answered.said()))),
            Note::BaseChecked { name, came, output, .. } if name == "test" => {
                self.base_printed = Some((*came, text(Some(output))));
            }
            Note::Checked { effect, name, came, output, .. } => {
                self.checked(*effect, name, *came, text(output.as_deref()));
            }
            Note::Landed { unit: Some(unit), commit, branch, .. } => {
                self.branch = Some(branch.clone());
                self.tale(unit).commit = Some(commit.clone());
                self.reviewed.insert(unit.clone());
            }
            Note::Conflicted { unit: Some(unit), files } => {
                let what = format!("it conflicts with what has landed: {}", files.join(", "));
                self.tale(unit).trouble = Some(what);
            }
            Note::Told { effect, name, text } => self.told(*effect, name, text, run),
            _ => {}
        }
    }

    /// What was told is done: from now on a row is to say so.
    fn told(&mut self, effect: EffectId, name: &str, text: &str, run: &Run) {
        let unit = self.flights.get(&effect).and_then(|(unit, _)| unit.clone());
        match (name, unit) {
            ("red-reason", Some(unit)) => self.tale(&unit).red_flaw = Some(text.to_owned()),
            ("plans-drift", _) => self.drift = Some(text.to_owned()),
            ("marker-wip", Some(unit)) => self.tale(&unit).mark = Some(Status::Wip),
            ("marker-done", Some(unit)) => {
                let tale = self.tale(&unit);
                tale.mark = Some(Status::done(tale.commit.as_deref()));
            }
            // All that was handed over without a commit.
            ("marker-done", None) => {
                for unit in self.order.clone() {
                    let landed = run.unit_named(&unit).is_some_and(|unit| unit.landed);
                    if landed {
                        self.tale(&unit).mark = Some(Status::done(None));
                    }
                }
            }
            // The third failure of a cause is proposed like any other.
            ("ci-escalation", Some(unit)) => {
                let own = self.proposals.iter_mut().rev();
                let mut own = own.filter(|(proposal, _)| proposal.source_task_id == unit);
                if let Some((_, fate)) = own.next() {
                    *fate = Fate::Pending;
                }
            }
            // Why it is not worked on, and what to do about that, is said where it was read.
            ("sprint-contract" | "contract-standing", Some(unit)) if !text.is_empty() => {
                self.tale(&unit).trouble = Some(text.to_owned());
            }
            ("land", Some(unit)) => self.tale(&unit).trouble = Some(text.to_owned()),
            _ => {}
        }
    }

    /// A paper as somebody wrote it.
    fn take_paper(&mut self, effect: EffectId, path: &str, bytes: Vec<u8>) {
        let seals = self.flights.get(&effect).is_some_and(|(_, at)| at == stage::CONTRACT_SEAL);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if path == self.path {
            self.plans = Some(Plans::read(text));
        } else if let Some(unit) = contract_of(path)
            && let Ok(contract) = SprintContract::read(path, &text)
        {
            let tale = self.tale(&unit);
            // What a person has written may have a digest, too: only our own seal counts.
            tale.sealed = contract.digest.clone().filter(|_| seals);
            tale.contract = Some(contract);
        }
        self.papers.insert(path.to_owned(), bytes.into());
    }

    /// What a role said.
    fn answered(&mut self, answered: &Answered, said: &str) {
        let asked = &answered.asked;
        let Some(unit) = &asked.unit else { return };
        let (came, gist) = (answered.came.as_str(), windlass_agents::gist(said));
        self.reviewed.insert(unit.clone());
        let tale = self.tale(unit);
        if stage::EDITORS.contains(&asked.stage.as_str()) {
            tale.files.extend(answered.files.iter().cloned());
        }
        match asked.stage.as_str() {
            stage::BACKGROUND if came == "unsure" => tale.question = Some(gist),
            stage::RED => {
                tale.test_files.extend(answered.files.iter().cloned());
                tale.test_commit.clone_from(&answered.commit);
            }
            stage::CONTRACT_REVIEW => {
                tale.additions.by.clone_from(&asked.agent);
                if came == "unapproved" {
                    tale.trouble = Some(format!("its contract was not approved: {gist}"));
                }
            }
            stage::IMPLEMENT | stage::FIX | stage::RESOLVE if came == "failed" => {
                tale.trouble = Some(gist);
            }
            stage::REVIEW if ["approve", "request_changes"].contains(&came) => {
                let review = Review::of(said, came);
                tale.reviews.push(review.verdict());
                if let Some(worst) = review.blocking().next() {
                    let line = crate::finding::line(worst);
                    tale.trouble = Some(format!("the review found: {line}"));
                }
                tale.browser = None;
                tale.review = Some((review, asked.agent.clone()));
            }
            stage::BROWSER if came == "cannot_look" => tale.unseen = Some(gist),
            stage::BROWSER if ["approve", "request_changes"].contains(&came) => {
                let review = Review::of(said, came);
                tale.reviews.push(review.verdict());
                tale.browser = Some((review, asked.agent.clone()));
            }
            _ => {}
        }
    }

    fn checked(&mut self, effect: EffectId, name: &str, came: Check, printed: String) {
        let Some((Some(unit), at)) = self.flights.get(&effect).cloned() else { return };
        let tale = self.tale(&unit);
        if at == stage::RED_SEEN {
            // One that passes shows nothing.
            let passed = "the new test passes before the implementation".to_owned();
            tale.red_flaw = (came == Check::Pass).then_some(passed);
            tale.red = Some((came, printed));
            return;
        }
        let line = crate::printed::telling_line(&printed);
        if stage::PROOFS.contains(&at.as_str()) {
            tale.proofs.insert(name.to_owned(), (came, line.clone()));
            self.reviewed.insert(unit.clone());
        }
        if came != Check::Fail {
            return;
        }
        let tale = self.tale(&unit);
        if [stage::AFTER_DONE, stage::CI].contains(&at.as_str()) {
            tale.failed_after = Some(printed);
            return;
        }
        tale.trouble = Some(format!("`{name}` failed: {line}"));
        tale.failed = Some((name.to_owned(), printed));
    }

    fn event(&mut self, event: &Event, run: &Run) {
        match event {
            Event::UnitStarted { unit, frame, .. } => {
                if let Some(view) = run.unit_at(*unit) {
                    let id = view.id.to_string();
                    self.frames.insert(*frame, id.clone());
                    self.begins(&id, &view.title);
                }
            }
            Event::Wanted { effect, frame, .. } => {
                if let Some(wanted) = run.wants().get(effect) {
                    let unit = self.frames.get(frame).cloned();
                    self.flights.insert(*effect, (unit, wanted.name.to_string()));
                }
            }
            Event::Reported(ending) => self.reported(ending),
            Event::Asked { gate, frame, .. } => {
                if let Some(unit) = self.frames.get(frame) {
                    self.gates.insert(*gate, unit.clone());
                }
            }
            Event::Answered { gate, text, who, .. } => {
                if let Some(unit) = self.gates.remove(gate)
                    && let Some(text) = text.as_deref().filter(|text| !text.is_empty())
                {
                    self.tale(&unit).answers.push(format!("{who}: {text}"));
                }
            }
            Event::Moved(moved) => self.moved(moved, run),
            Event::UnitSettled { unit, by, .. } => {
                if let Some(view) = run.unit_at(*unit) {
                    let because = view.because.as_ref().map(ToString::to_string);
                    let left_out = by.as_ref().map(|by| format!("{}: {}", by.who, by.reason));
                    self.settles(&view.id.clone(), view.status, because);
                    let tale = self.tale(&view.id);
                    tale.left_out = tale.left_out.take().or(left_out);
                }
            }
            Event::Ended { outcome } => self.ended = Some(*outcome),
            _ => {}
        }
    }

    /// A task begins: what it is about is in its row, or in what it was added by.
    fn begins(&mut self, id: &str, title: &str) {
        let row = self.row(id).map(|row| (row.content.clone(), row.dod.clone()));
        let new = self.rows.iter().find(|row| row.number.as_str() == id);
        let new = new.map(|row| (row.content.clone(), row.dod.clone()));
        let fix = self.proposals.iter().rev().map(|(proposal, _)| proposal);
        let mut fix =
            fix.filter(|it| it.fix_task_id == id).map(|it| (it.content.clone(), it.dod.clone()));
        let about = row.or(new).or_else(|| fix.next());
        let (content, dod) = about.unwrap_or_else(|| (title.to_owned(), String::new()));
        if !self.order.iter().any(|known| known == id) {
            self.order.push(id.to_owned());
        }
        let tale = self.tale(id);
        (tale.content, tale.dod) = (content, dod);
    }

    /// What an effect came to, with its lists.
    fn reported(&mut self, ending: &Ending) {
        let Some((unit, at)) = self.flights.get(&ending.effect).cloned() else { return };
        if !matches!(ending.ended, Ended::Verdict(_)) {
            return;
        }
        let lists: BTreeMap<&str, &[Item]> =
            ending.lists.iter().map(|(name, items)| (&**name, items.as_slice())).collect();
        let items = |name: &str| lists.get(name).copied().unwrap_or_default();
        let titles = |name: &str| -> Vec<String> {
            items(name).iter().map(|it| windlass_agents::one_line(&it.title)).collect()
        };
        let titled = |name: &str, id: &str| {
            let own = items(name).iter().find(|it| &*it.id == id);
            own.map(|it| windlass_agents::one_line(&it.title))
        };
        if at == stage::PLANS {
            self.selected(items("tasks"), items("unlisted"));
        }
        if [stage::TEST_CAUSE, stage::CI_CAUSE].contains(&at.as_str()) {
            let fate = if at == stage::TEST_CAUSE { Fate::Pending } else { Fate::Direct };
            for item in items("fixes") {
                self.proposed(unit.as_deref().unwrap_or_default(), item, fate);
            }
        }
        let Some(unit) = unit else { return };
        let tale = self.tale(&unit);
        match at.as_str() {
            // Somebody has written something else into its row since tasks were selected.
            stage::LOOK => {
                if let Some(row) = items("row").first() {
                    tale.content = row.title.to_string();
                    if let Some(Value::Text(dod)) = row.facts.get("dod") {
                        tale.dod = dod.to_string();
                    }
                }
            }
            stage::BACKGROUND => {
                tale.purpose = titled("background", "purpose");
                tale.impact = titled("background", "impact");
            }
            stage::CONTRACT_REVIEW => {
                let steps = |item: &Item| match item.facts.get("steps") {
                    Some(Value::Text(steps)) => windlass_agents::one_line(steps),
                    _ => String::new(),
                };
                let flows = items("flows").iter();
                tale.additions.flows =
                    flows.map(|it| (windlass_agents::one_line(&it.title), steps(it))).collect();
                tale.additions.checks = titles("checks");
                tale.additions.non_goals = titles("non_goals");
            }
            // Whoever mends something says what they mended; what was done is what the first has said.
            stage::FIX if !tale.changes.is_empty() => {}
            stage::IMPLEMENT | stage::FIX => {
                tale.changes = titles("changes");
                tale.before = titled("effect", "before");
                tale.after = titled("effect", "after");
            }
            _ => {}
        }
    }

    /// Tasks were selected, and some had no row.
    fn selected(&mut self, tasks: &[Item], unlisted: &[Item]) {
        self.order = tasks.iter().chain(unlisted).map(|item| item.id.to_string()).collect();
        for item in unlisted {
            let Some(number) = Number::of(&item.id) else { continue };
            self.rows.push(NewRow {
                number,
                content: item.title.to_string(),
                dod: UNLISTED_DOD.to_owned(),
                depends: Vec::new(),
                status: Status::Todo,
                beside: None,
            });
        }
    }

    /// A fix was proposed.
    fn proposed(&mut self, unit: &str, item: &Item, fate: Fate) {
        let text = |name: &str| match item.facts.get(name) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let test = Some(text("test")).filter(|test| !test.is_empty());
        let proposal = Proposal {
            fix_task_id: item.id.to_string(),
            source_task_id: unit.to_owned(),
            content: item.title.to_string(),
            dod: "Tests/CI pass".to_owned(),
            depends: unit.to_owned(),
            failure_category: text("category"),
            cause_key: text("key"),
            test,
            plans: Some(self.path.clone()),
        };
        self.proposals.push((proposal, fate));
    }

    fn moved(&mut self, moved: &Moved, run: &Run) {
        let stage = run.workflow().stage(moved.stage);
        let Some(unit) = self.frames.get(&moved.frame).cloned() else { return };
        if let Some(record) = &moved.record {
            self.reviewed.insert(unit.clone());
            self.tale(&unit).records.push(record.to_string());
        }
        if [stage::PROPOSE_FIX, stage::PROPOSE_LAST].contains(&stage.name.as_str())
            && let Some(record) = moved.record.as_deref()
        {
            self.decided(&unit, record == "fix_approved");
        }
        if let Some(view) = run.unit_named(&unit) {
            let because = view.because.as_ref().map(ToString::to_string);
            self.settles(&view.id.clone(), view.status, because);
        }
    }

    /// A person has decided about the fix of a task: approved, it is a row from now on.
    fn decided(&mut self, unit: &str, approved: bool) {
        let mut own = self.proposals.iter_mut().rev();
        let own = own.find(|(proposal, _)| proposal.source_task_id == unit);
        let Some((proposal, fate)) = own else { return };
        *fate = if approved { Fate::Approved } else { Fate::Rejected };
        if approved {
            self.rows.extend(proposal.row());
        }
    }

    fn settles(&mut self, id: &str, status: UnitStatus, because: Option<String>) {
        let UnitStatus::Settled(how) = status else { return };
        let known = self.order.iter().any(|own| own == id);
        if !known {
            self.order.push(id.to_owned());
        }
        let tale = self.tale(id);
        if tale.end.is_some() {
            return;
        }
        (tale.end, tale.because) = (Some(how), because);
        self.settled = Some(id.to_owned());
    }
}

/// The check of what a contract has steps for.
pub const CONTRACT: &str = "contract";

/// So many causes are told apart.
const CAUSES_MAX: usize = 12;

/// When a task is done that somebody has only named.
pub const UNLISTED_DOD: &str = "It does what is said; tests pass";

/// The task that a contract is about, by its path.
fn contract_of(path: &str) -> Option<String> {
    let name = path.strip_prefix(sprint::DIRECTORY)?.strip_prefix('/')?;
    name.strip_suffix(".sprint-contract.json").map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(failed_after: bool) -> Tale {
        Tale {
            end: Some(Settled::Done),
            commit: Some("a1b2c3d".to_owned()),
            mark: Some(Status::done(Some("a1b2c3d"))),
            failed_after: failed_after.then(|| "FAILED".to_owned()),
            ..Tale::default()
        }
    }

    fn fix(of: &str, id: &str) -> Proposal {
        let text = |text: &str| text.to_owned();
        Proposal {
            fix_task_id: text(id),
            source_task_id: text(of),
            content: text("fix: it"),
            dod: text("Tests/CI pass"),
            depends: text(of),
            failure_category: text("timeout"),
            cause_key: text("timeout - -"),
            test: None,
            plans: None,
        }
    }

    #[test]
    fn a_task_is_well_once_somebody_has_it_and_what_failed_with_it_is_mended() {
        let mut session = Session::default();
        session.tales.insert("1".into(), done(true));
        session.tales.insert("2".into(), done(false));
        session.tales.insert("3".into(), Tale::default());
        session.proposals.push((fix("1", "1.fix"), Fate::Direct));
        let well = |session: &Session| ["1", "2", "3"].map(|unit| session.is_well(unit));
        assert_eq!(well(&session), [false, true, false], "its fix is not done");
        session.tales.insert("1.fix".into(), done(true));
        session.proposals.push((fix("1.fix", "1.fix2"), Fate::Pending));
        assert_eq!(well(&session), [false, true, false], "nor is the fix of that");
        session.tales.insert("1.fix2".into(), done(false));
        assert_eq!(well(&session), [true, true, false]);
        // A person has said that it stays as it is.
        session.tales.remove("1.fix2");
        session.proposals[1].1 = Fate::Rejected;
        assert!(session.is_well("1"));
        // What is on a branch that nobody has taken.
        session.no_commit = true;
        assert!(session.is_well("2"), "it was handed over");
        session.tales.get_mut("2").unwrap().mark = Some(Status::Wip);
        assert!(!session.is_well("2"));
    }
}
