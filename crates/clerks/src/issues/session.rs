//! A loop over issues as its journal folds to it, as far as its file, its roles and its tracker want to know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::run::{EffectId, Ended, Ending, Event, FrameId, Item, Moved, Run, UnitStatus};
use windlass_core::value::Value;
use windlass_core::workflow::{Go, Mishap, RunOutcome, ScopeIx, Settled};
use windlass_engine::clerk::Blobs;
use windlass_engine::entry::{Answered, Check, Entry, Note};
use windlass_sources::issues::{self, Friction, State};
use windlass_sources::subsystems::{DIR, Specs};

use super::frozen::{self, Frozen};
use super::pulls::{self, Pull};
use super::read;
use super::stage;
use crate::printed;

/// A loop over issues.
#[derive(Debug, Default)]
pub struct Session {
    /// What an earlier loop left, as it was read.
    pub previous: State,
    /// There was one.
    pub had_previous: bool,
    /// It is gone on with: its counts count.
    pub taken_up: bool,
    /// Papers by path.
    pub papers: BTreeMap<String, Arc<[u8]>>,
    /// Each issue of this run.
    pub tales: BTreeMap<String, Tale>,
    /// Those that were settled in this run, in order, each with how.
    pub settled: Vec<(String, Settled)>,
    /// The issue under way.
    pub current: Option<String>,
    /// How many failed in a row.
    pub failures: u64,
    /// What was harder than expected, issue by issue.
    pub friction: Vec<Friction>,
    /// What passes over friction have found.
    pub patterns: Vec<String>,
    /// The how-manieth iteration of this run it is.
    pub counted: u64,
    /// Somebody wants the loop to stop.
    pub stopping: bool,
    /// What the last look at the queue did not take, by its name.
    pub not_taken: Vec<String>,
    /// The last marker of the loop itself.
    pub marker: Option<String>,
    /// It was to take one issue, and has.
    pub only_one: bool,
    /// How it ended.
    pub ended: Option<RunOutcome>,
    /// What is known of the project's subsystems.
    pub specs: Specs,
    /// What people should know of what was entered.
    pub news: Vec<String>,
    /// Something that the file shows has changed.
    pub dirty: bool,
    spec_texts: BTreeMap<String, String>,
    frames: BTreeMap<FrameId, (String, Option<String>)>,
    flights: BTreeMap<EffectId, Flight>,
}

/// An effect that is under way.
#[derive(Clone, Debug)]
struct Flight {
    unit: Option<String>,
    child: Option<String>,
    stage: String,
}

/// What is known of an issue.
#[derive(Clone, Debug, Default)]
pub struct Tale {
    /// Which iteration it is, as comments say it.
    pub iteration: u64,
    /// The issue as it was when the claim was seen to hold.
    pub frozen: Option<Frozen>,
    /// The change groups, in order.
    pub groups: Vec<Group>,
    /// What it asks for.
    pub criteria: Vec<String>,
    /// What may go wrong.
    pub risks: Vec<String>,
    /// What people answered.
    pub answers: Vec<String>,
    /// What the reviewer said last.
    pub review: Option<Review>,
    /// Checks of the whole, by name: what each came to last.
    pub whole: BTreeMap<String, Check>,
    /// Files that were changed by what was not a group's.
    pub fixed: BTreeSet<String>,
    /// What was harder than expected.
    pub friction: Vec<String>,
    /// Why it did not work, as far as is known: which kind of failure, and in words.
    pub trouble: Option<(String, String)>,
    /// What it is built on was put elsewhere: commits from before are not those that land.
    pub rebuilt: bool,
    /// Commits of groups and fixes, in order.
    pub commits: Vec<String>,
    /// Where it landed, and how to take it if it waits.
    pub landed: Option<Landed>,
    /// The commit that was pushed last.
    pub pushed: Option<String>,
    /// Its pull request.
    pub pull: Option<Pull>,
    /// Who changed files last: the agent, and its model if that is known.
    pub hands: Option<(String, Option<String>)>,
}

/// A landing.
#[derive(Clone, Debug)]
pub struct Landed {
    /// The commit.
    pub commit: String,
    /// The branch.
    pub branch: String,
    /// How to take it, if it waits.
    pub waits: Option<String>,
}

/// A change group.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its id.
    pub id: String,
    /// In a line.
    pub title: String,
    /// What changes.
    pub changes: String,
    /// What has to hold afterwards, in the planner's words.
    pub invariants: String,
    /// How it is tested, in the planner's words.
    pub test: String,
    /// The files that it may change.
    pub files: Vec<String>,
    /// Files that were changed for it.
    pub changed: BTreeSet<String>,
    /// How it ended.
    pub settled: Option<Settled>,
    /// Which kind of failure it was, if it was classified.
    pub kind: Option<String>,
    /// Why it did not work.
    pub why: String,
    /// Invariants by id: whether each holds, and what shows it.
    pub held: BTreeMap<String, Judged>,
    /// Its checks, by name.
    pub checks: BTreeMap<String, Check>,
}

/// What was said of an invariant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Whether it holds.
    pub holds: bool,
    /// What it says, in the words of whoever looked.
    pub title: String,
    /// What shows it.
    pub evidence: String,
}

/// What a reviewer said.
#[derive(Clone, Debug, Default)]
pub struct Review {
    /// The verdict.
    pub came: String,
    /// In a line.
    pub said: String,
    /// What it warns of.
    pub warnings: Vec<String>,
    /// Invariants by id: whether each holds, and what shows it.
    pub held: BTreeMap<String, Judged>,
    /// What specs do not say.
    pub gaps: Vec<Gap>,
}

/// Something that a spec does not say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    /// In a line.
    pub title: String,
    /// Of which subsystem.
    pub subsystem: String,
    /// What is missing.
    pub missing: String,
}

impl Session {
    /// Takes an entry in; `run` is as it is after it.
    pub fn enter(&mut self, entry: &Entry, run: &Run, blob: Blobs<'_>) {
        match entry {
            Entry::Note(noted) => self.note(&noted.note, blob),
            Entry::Event(recorded) => self.event(&recorded.event, run),
        }
    }

    /// Which iteration the loop is at: the one under way, else the one that comes next.
    pub fn iteration(&self) -> u64 {
        let offset = if self.taken_up { self.previous.iteration.saturating_sub(1) } else { 0 };
        let now = self.counted.max(1) + offset;
        let begun = self.current.is_some() || !self.settled.iter().any(|(_, how)| counts(*how));
        if begun { now } else { now + 1 }
    }

    /// The state of this loop, as its file has it. What is not its own comes from what it was begun with.
    pub fn state(&self, begun: &State) -> State {
        let mut state = begun.clone();
        let before = self.had_previous.then_some(&self.previous);
        if self.taken_up {
            state.max_iterations = self.previous.max_iterations;
        }
        state.ended = self.how_it_ended();
        state.active = !self.stopping && self.ended.is_none();
        state.iteration = self.iteration();
        if state.ended.as_deref() == Some("max_iterations") {
            state.iteration = state.iteration.min(state.max_iterations.max(1));
        }
        state.consecutive_failures = self.failures;
        state.current_issue.clone_from(&self.current);
        state.completed = before.map_or_else(Vec::new, |it| it.completed.clone());
        state.failed = before.map_or_else(Vec::new, |it| it.failed.clone());
        state.skipped = before.map_or_else(Vec::new, |it| it.skipped.clone());
        for (issue, how) in &self.settled {
            for all in [&mut state.completed, &mut state.failed, &mut state.skipped] {
                all.retain(|it| it != issue);
            }
            match how {
                Settled::Done => state.completed.push(issue.clone()),
                Settled::Failed => state.failed.push(issue.clone()),
                Settled::Skipped | Settled::Blocked => state.skipped.push(issue.clone()),
                Settled::Unfinished => {}
            }
        }
        state.friction = before.map_or_else(Vec::new, |it| it.friction.clone());
        state.friction.extend(self.friction.iter().cloned());
        state.patterns = before.map_or_else(Vec::new, |it| it.patterns.clone());
        state.patterns.extend(self.patterns.iter().cloned());
        state
    }

    fn how_it_ended(&self) -> Option<String> {
        let word = match self.ended? {
            RunOutcome::Failed => "failures",
            RunOutcome::Done if self.only_one => "once",
            RunOutcome::Done if self.marker.as_deref() == Some("[HARNESS_STOP]") => {
                "max_iterations"
            }
            RunOutcome::Done => "done",
            _ => "stopped",
        };
        Some(word.to_owned())
    }

    /// The change group of an issue that somebody is at.
    pub fn group(&self, unit: &str, child: &str) -> Option<(usize, &Group)> {
        let groups = &self.tales.get(unit)?.groups;
        groups.iter().enumerate().find(|(_, group)| group.id == child)
    }

    fn note(&mut self, note: &Note, blob: Blobs<'_>) {
        match note {
            Note::Paper { path, holds: Some(holds), .. } => {
                if let Some(bytes) = blob(holds) {
                    self.take_paper(path, bytes);
                }
            }
            Note::Paper { path, holds: None, .. } => {
                self.papers.remove(path);
                if self.spec_texts.remove(path).is_some() {
                    self.read_specs();
                }
            }
            Note::Answered(answered) => {
                let said = blob(answered.said()).unwrap_or_default();
                self.answered(answered, &String::from_utf8_lossy(&said));
            }
            Note::Checked { effect, name, came, output, .. } => {
                let printed = output.as_deref().filter(|_| *came == Check::Fail).and_then(blob);
                let printed = printed.unwrap_or_default();
                self.checked(*effect, name, *came, &String::from_utf8_lossy(&printed));
            }
            Note::Saved { effect, commit, .. } => {
                let Some(flight) = self.flights.get(effect).cloned() else { return };
                let Some(unit) = &flight.unit else { return };
                if flight.stage == stage::PUSH {
                    self.tale(unit).pushed = Some(commit.clone());
                }
                if [stage::COMMIT, stage::COMMIT_FIX].contains(&flight.stage.as_str()) {
                    let commits = &mut self.tale(unit).commits;
                    if !commits.contains(commit) {
                        commits.push(commit.clone());
                    }
                }
            }
            Note::Told { name, text, .. } if name == "next-issue" => {
                self.not_taken = read::named(text);
            }
            Note::Told { effect, text, .. } => {
                let flight = self.flights.get(effect);
                let pushes = flight.filter(|it| it.stage == stage::PUSH);
                if let Some(unit) = pushes.and_then(|it| it.unit.clone()) {
                    self.tale(&unit).trouble = Some(("blocked".to_owned(), text.clone()));
                }
            }
            Note::Turned { unit: Some(unit), .. } => self.tale(unit).rebuilt = true,
            Note::Landed { unit: Some(unit), commit, branch, waits, .. } => {
                let (commit, branch, waits) = (commit.clone(), branch.clone(), waits.clone());
                self.tale(unit).landed = Some(Landed { commit, branch, waits });
            }
            Note::Conflicted { unit: Some(unit), files } => {
                let why = format!("it conflicts with what landed meanwhile: {}", files.join(", "));
                self.tale(unit).trouble = Some(("blocked".to_owned(), why));
            }
            _ => {}
        }
    }

    fn tale(&mut self, unit: &str) -> &mut Tale {
        self.tales.entry(unit.to_owned()).or_default()
    }

    fn take_paper(&mut self, path: &str, bytes: Vec<u8>) {
        let text = String::from_utf8_lossy(&bytes);
        if path == issues::PATH {
            if let Ok(state) = State::read(&text) {
                self.previous = state;
                self.had_previous = true;
            }
        } else if path.starts_with(DIR) {
            self.spec_texts.insert(path.to_owned(), text.into_owned());
            self.read_specs();
            return;
        } else if let Some((issue, frozen)) = frozen::read(path, &text) {
            self.tale(&issue).frozen = Some(frozen);
        } else if let Some(pull) = pulls::read(path, &text) {
            let tale = self.tale(&pull.issue);
            if !pull.gist.is_empty() {
                let why = format!("its pull request {}: {}", pull.url, pull.gist);
                tale.trouble = Some(("blocked".to_owned(), why));
            }
            tale.pull = Some(pull);
        }
        self.papers.insert(path.to_owned(), bytes.into());
    }

    fn read_specs(&mut self) {
        let texts = self.spec_texts.iter();
        self.specs = Specs::parse(texts.map(|(path, text)| (path.as_str(), text.as_str())));
    }

    /// The texts of specs, as they are known.
    pub fn spec_texts(&self) -> &BTreeMap<String, String> {
        &self.spec_texts
    }

    /// What a role said, besides lists.
    fn answered(&mut self, answered: &Answered, said: &str) {
        let asked = &answered.asked;
        let Some(unit) = &asked.unit else { return };
        let (came, gist) = (answered.came.as_str(), windlass_agents::gist(said));
        let model = answered.models.iter().max_by_key(|it| it.output).map(|it| it.model.clone());
        let hands = (asked.agent.clone(), model);
        let (stage, files) = (asked.stage.as_str(), answered.files.iter().cloned());
        let tale = self.tale(unit);
        match (stage, asked.task.as_deref()) {
            (stage::APPLY, Some(task)) => {
                tale.hands = Some(hands);
                let Some(group) = tale.groups.iter_mut().find(|it| it.id == task) else { return };
                group.changed.extend(files);
                if came != "applied" {
                    group.why = format!("{} said `{came}`: {gist}", asked.role);
                }
                if came == "blocked" {
                    group.kind = Some("blocked".to_owned());
                    group.why = gist;
                }
            }
            (stage::INVARIANTS, Some(task)) if came == "fail" => {
                let Some(group) = tale.groups.iter_mut().find(|it| it.id == task) else { return };
                group.why = gist;
            }
            (stage::CLASSIFY, Some(task)) => {
                let Some(group) = tale.groups.iter_mut().find(|it| it.id == task) else { return };
                if ["retryable", "structural", "blocked"].contains(&came) {
                    group.kind = Some(came.to_owned());
                    if !gist.is_empty() {
                        group.why = gist;
                    }
                }
            }
            (stage::PLAN, _) if came == "blocked" => {
                tale.trouble = Some(("blocked".to_owned(), gist));
            }
            (stage::REVIEW_FIX | stage::RESOLVE, _) => {
                tale.hands = Some(hands);
                tale.fixed.extend(files);
                if ["failed", "blocked"].contains(&came) {
                    let kind = if came == "blocked" { "blocked" } else { "structural" };
                    tale.trouble = Some((kind.to_owned(), gist));
                }
            }
            (stage::REVIEW, _) => {
                tale.review =
                    Some(Review { came: came.to_owned(), said: gist.clone(), ..Review::default() });
                if came == "fail" {
                    tale.trouble =
                        Some(("structural".to_owned(), format!("the review failed: {gist}")));
                }
            }
            _ => {}
        }
    }

    fn checked(&mut self, effect: EffectId, name: &str, came: Check, printed: &str) {
        let Some(flight) = self.flights.get(&effect).cloned() else { return };
        let (Some(unit), child) = (flight.unit, flight.child) else { return };
        let line = printed::telling_line(printed);
        let tale = self.tale(&unit);
        let group = child.and_then(|child| tale.groups.iter_mut().find(|it| it.id == child));
        match group {
            Some(group) => {
                group.checks.insert(name.to_owned(), came);
                if came == Check::Fail {
                    group.why = format!("`{name}` failed: {line}");
                }
            }
            None => {
                tale.whole.insert(name.to_owned(), came);
                if came == Check::Fail {
                    let why = format!("`{name}` failed: {line}");
                    tale.trouble = Some(("structural".to_owned(), why));
                }
            }
        }
    }

    fn event(&mut self, event: &Event, run: &Run) {
        match event {
            Event::UnitStarted { unit, frame, .. } => {
                if let Some(view) = run.unit_at(*unit) {
                    let id = view.id.to_string();
                    self.frames.insert(*frame, (id.clone(), None));
                    self.count(run);
                    self.current = Some(id.clone());
                    let iteration = self.iteration();
                    self.tale(&id).iteration = iteration;
                    self.dirty = true;
                }
            }
            Event::Opened { frame, parent: Some(parent), child, scope } => {
                let Some((unit, _)) = self.frames.get(parent).cloned() else { return };
                if *scope == ScopeIx::BETWEEN {
                    return;
                }
                let place = child.and_then(|it| usize::try_from(it).ok());
                let groups = self.tales.get(&unit).map_or(&[][..], |tale| &tale.groups);
                let child = place.and_then(|at| groups.get(at)).map(|group| group.id.clone());
                self.frames.insert(*frame, (unit, child));
            }
            Event::Wanted { effect, frame, .. } => self.wanted(*effect, *frame, run),
            Event::Reported(ending) => self.reported(ending),
            Event::Answered { text: Some(text), who, .. } if !text.is_empty() => {
                if let Some(unit) = self.current.clone() {
                    self.tale(&unit).answers.push(format!("{who}: {text}"));
                }
            }
            Event::Moved(moved) => self.moved(moved, run),
            Event::UnitSettled { unit, .. } => {
                if let Some(view) = run.unit_at(*unit) {
                    self.settles(&view.id, view.status);
                }
            }
            Event::StopAsked { .. } => (self.stopping, self.dirty) = (true, true),
            Event::ResumeAsked { .. } => (self.stopping, self.dirty) = (false, true),
            Event::Ended { outcome } => {
                self.ended = Some(*outcome);
                self.current = None;
                self.dirty = true;
            }
            _ => {}
        }
    }

    fn wanted(&mut self, effect: EffectId, frame: FrameId, run: &Run) {
        let known = self.frames.get(&frame).cloned();
        let (unit, child) = match known {
            Some((unit, child)) => (Some(unit), child),
            None => (None, None),
        };
        let wants = run.wants();
        let Some(wanted) = wants.get(&effect) else { return };
        // Who is asked about a part says which, however many there are by then.
        let child = wanted.child.as_ref().map(|it| it.id.to_string()).or(child);
        if let (Some(unit), Some(child)) = (&unit, &child) {
            self.frames.insert(frame, (unit.clone(), Some(child.clone())));
        }
        let stage = wanted.name.to_string();
        self.flights.insert(effect, Flight { unit, child, stage });
    }

    fn count(&mut self, run: &Run) {
        let counters = run.counters();
        if let Some((_, value, _)) = counters.iter().find(|(name, ..)| name == "iterations") {
            self.counted = u64::from(*value);
        }
    }

    /// What an effect came to, with its lists.
    fn reported(&mut self, ending: &Ending) {
        let Some(flight) = self.flights.remove(&ending.effect) else { return };
        self.watched(&flight, &ending.ended);
        let Ended::Verdict(word) = &ending.ended else { return };
        let lists: BTreeMap<&str, &[Item]> =
            ending.lists.iter().map(|(name, items)| (&**name, items.as_slice())).collect();
        let titles = |name: &str| {
            let items = lists.get(name).copied().unwrap_or_default();
            items.iter().map(|it| windlass_agents::one_line(&it.title)).collect::<Vec<_>>()
        };
        if flight.stage == stage::PREVIOUS {
            self.goes_on(&**word == "active");
        }
        if flight.stage == stage::DISCOVER {
            self.patterns.extend(titles("patterns"));
            self.dirty = true;
        }
        let Some(unit) = flight.unit else { return };
        let tale = self.tale(&unit);
        tale.friction.extend(titles("friction"));
        match (flight.stage.as_str(), flight.child) {
            (stage::PLAN, _) => {
                (tale.criteria, tale.risks) = (titles("criteria"), titles("risks"));
                for item in lists.get("groups").copied().unwrap_or_default() {
                    tale.plan(item);
                }
                if **word == *"planned" {
                    let radius = super::checked::radius(self, &unit, None).in_words();
                    self.news.push(format!("{unit}: blast radius:\n{}", radius.trim_end()));
                }
            }
            (stage::INVARIANTS, Some(child)) => {
                let held = held(lists.get("invariants").copied().unwrap_or_default());
                if let Some(group) = tale.groups.iter_mut().find(|it| it.id == child) {
                    group.held.extend(held.clone());
                }
                let nth = tale.groups.iter().position(|it| it.id == child).unwrap_or_default();
                let head = format!("{unit}: Invariant Check — Group {}:", nth + 1);
                self.news.extend(self.judged(head, &held));
            }
            (stage::REVIEW, _) => {
                let review = tale.review.get_or_insert_default();
                review.warnings = titles("warnings");
                review.held = held(lists.get("invariants").copied().unwrap_or_default());
                let gaps = lists.get("spec_gaps").copied().unwrap_or_default();
                review.gaps = gaps.iter().map(gap).collect();
                let held = review.held.clone();
                self.news.extend(self.judged(format!("{unit}: Invariant Check:"), &held));
            }
            _ => {}
        }
    }

    /// What was said of invariants, in the seed's form; nothing if there were none.
    fn judged(&self, head: String, held: &BTreeMap<String, Judged>) -> Option<String> {
        let mut text = head;
        let specs = &self.specs.subsystems;
        for (id, judged) in held {
            let known = specs.iter().flat_map(|it| &it.invariants).find(|it| it.id == *id);
            let words = known.map_or(judged.title.as_str(), |it| it.text.as_str());
            let words = if words.is_empty() { id.as_str() } else { words };
            let word = if judged.holds { "PASS" } else { "FAIL" };
            text.push_str(&format!("\n- [{word}] {words} — {}", judged.evidence));
        }
        (!held.is_empty()).then_some(text)
    }

    /// What a push, or a look at a pull request, says of why it does not work; what was said of a push is on record by then.
    fn watched(&mut self, flight: &Flight, ended: &Ended) {
        let Some(unit) = &flight.unit else { return };
        let tale = self.tale(unit);
        match (flight.stage.as_str(), ended) {
            (stage::PUSH, Ended::Verdict(word)) if **word != *"refused" => tale.trouble = None,
            (stage::WATCH, Ended::Mishap(Mishap::TimedOut)) => {
                let url = tale.pull.as_ref().map(|pull| pull.url.as_str()).unwrap_or_default();
                let why = format!("its pull request {url} was waited for too long");
                tale.trouble = Some(("blocked".to_owned(), why));
            }
            _ => {}
        }
    }

    /// Whether an earlier loop is gone on with.
    fn goes_on(&mut self, taken_up: bool) {
        self.taken_up = taken_up;
        self.failures = if taken_up { self.previous.consecutive_failures } else { 0 };
        self.dirty = true;
    }

    fn moved(&mut self, moved: &Moved, run: &Run) {
        if let Some(record) = &moved.record
            && record.starts_with("[HARNESS")
        {
            self.marker = Some(record.to_string());
        }
        self.count(run);
        let stage = run.workflow().stage(moved.stage);
        self.only_one |=
            stage.name == stage::GO_ON && matches!(moved.go, Go::Finish(RunOutcome::Done));
        if stage.name == stage::AGAIN
            && let Some(verdict) = moved.verdict
        {
            self.goes_on(stage.verdict(verdict).name == "resume");
        }
        let Some((unit, child)) = self.frames.get(&moved.frame).cloned() else { return };
        if let (Go::Leave(how), Some(child)) = (&moved.go, &child) {
            let tale = self.tale(&unit);
            if let Some(group) = tale.groups.iter_mut().find(|it| it.id == *child) {
                group.settled = Some(*how);
            }
        }
        if child.is_none()
            && let Some(view) = run.unit_named(&unit)
        {
            self.settles(&view.id, view.status);
        }
    }

    fn settles(&mut self, id: &str, status: UnitStatus) {
        let UnitStatus::Settled(how) = status else { return };
        if self.settled.iter().any(|(known, _)| known == id) {
            return;
        }
        self.settled.push((id.to_owned(), how));
        self.current = None;
        self.dirty = true;
        match how {
            Settled::Done => self.failures = 0,
            Settled::Failed => self.failures += 1,
            Settled::Skipped | Settled::Blocked | Settled::Unfinished => {}
        }
        let tale = self.tale(id);
        let (iteration, points) = (tale.iteration, tale.friction.clone());
        if !points.is_empty() {
            self.friction.push(Friction { issue: id.to_owned(), iteration, points });
        }
    }
}

impl Tale {
    /// A change group as its planner has it; one that is known already may be seen otherwise by now.
    fn plan(&mut self, item: &Item) {
        let fact = |name: &str| match item.facts.get(name) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let group = Group {
            id: item.id.to_string(),
            title: windlass_agents::one_line(&item.title),
            changes: fact("changes"),
            invariants: fact("invariants"),
            test: fact("test"),
            files: item.files.iter().map(ToString::to_string).collect(),
            ..Group::default()
        };
        match self.groups.iter_mut().find(|known| known.id == group.id) {
            Some(known) if known.settled.is_none() => *known = group,
            Some(_) => {}
            None => self.groups.push(group),
        }
    }

    /// Groups that were committed.
    pub fn done(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.settled == Some(Settled::Done))
    }

    /// Files that were changed, by what was kept.
    pub fn changed(&self) -> BTreeSet<&str> {
        let groups = self.done().flat_map(|group| &group.changed);
        groups.chain(&self.fixed).map(String::as_str).collect()
    }

    /// Why it did not work: which kind of failure, and in words.
    pub fn failure(&self) -> (String, String) {
        let dropped = self
            .groups
            .iter()
            .rev()
            .find(|it| matches!(it.settled, Some(Settled::Failed | Settled::Skipped)));
        let of_group = dropped.map(|group| {
            let usual =
                if group.settled == Some(Settled::Skipped) { "blocked" } else { "structural" };
            // The one other approach has been tried by then.
            let kind = group.kind.as_deref().unwrap_or(usual);
            (kind.to_owned(), format!("{}: {}", group.title, group.why))
        });
        let none = || ("structural".to_owned(), "nobody said why".to_owned());
        self.trouble.clone().or(of_group).unwrap_or_else(none)
    }
}

/// Whether an issue that was settled like this was an iteration.
fn counts(how: Settled) -> bool {
    matches!(how, Settled::Done | Settled::Failed)
}

fn held(items: &[Item]) -> BTreeMap<String, Judged> {
    let judged = |item: &Item| {
        let evidence = match item.facts.get("evidence") {
            Some(Value::Text(text)) => windlass_agents::one_line(text),
            _ => String::new(),
        };
        let title = windlass_agents::one_line(&item.title);
        Judged { holds: item.facts.get("holds") == Some(&Value::text("yes")), title, evidence }
    };
    items.iter().map(|item| (item.id.to_string(), judged(item))).collect()
}

fn gap(item: &Item) -> Gap {
    let fact = |name: &str| match item.facts.get(name) {
        Some(Value::Text(text)) => text.to_string(),
        _ => String::new(),
    };
    let title = windlass_agents::one_line(&item.title);
    Gap {
        title,
        subsystem: windlass_agents::one_line(&fact("subsystem")),
        missing: fact("missing"),
    }
}
