//! A session of task: what its journal folds to, as far as its files and its people want to know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use windlass_core::run::{EffectId, Ended, Event, FrameId, Moved, PanelPhase, Run};
use windlass_core::workflow::{Kind, RunOutcome};
use windlass_engine::clerk::Blobs;
use windlass_engine::entry::{Answered, Check, Entry, Note};
use windlass_sources::task::{self as format, First, Left, Open};
use windlass_words::Lang;

use super::stage;
use crate::{Spoken, printed};

/// Under such names the journal keeps what is no paper of the person's.
pub const INNER: &str = "windlass/";
/// What was found when the session began.
pub const ENVIRONMENT: &str = "windlass/environment.json";
/// The state that another program left.
pub const ADOPTED: &str = "windlass/adopted.json";

/// Where the conventions are.
pub const CONVENTIONS: &str = ".harness/conventions.md";

/// The check of what may be changed; it is none of layer 1.
pub const LIMITS: &str = "change-limits";

/// A session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// Where it is in the seed's machine.
    pub phase: String,
    /// What its task is called and where its papers go is settled.
    pub begun: bool,
    /// Everything that setup settles is settled.
    pub set_up: bool,
    /// When it began, and when the last entry was made.
    pub created_ms: i64,
    /// When the last entry was made.
    pub now_ms: i64,
    /// What was found here when it began.
    pub environment: Environment,
    /// The session that somebody else left, if one was found.
    pub found: Option<Box<Open>>,
    /// The same, if it has no version, and the file as it was found.
    pub first: Option<(Box<First>, String)>,
    /// It goes on with that one.
    pub adopts: bool,
    /// Papers by path.
    pub papers: BTreeMap<String, Arc<[u8]>>,
    /// Nothing yet, `skipped`, or `file:` and where they are.
    pub conventions: Option<String>,
    /// The round, and the retries of each layer.
    pub round: u64,
    /// Retries after layer 1.
    pub layer1: u64,
    /// Retries after layer 2.
    pub layer2: u64,
    /// What layer 1 came to last.
    pub layer1_result: Option<&'static str>,
    /// What layer 2 came to last.
    pub layer2_result: Option<&'static str>,
    /// What the evaluator came to last.
    pub evaluated: Option<String>,
    /// What became of a proposal, and when it was asked for.
    pub autofix: Option<(String, i64)>,
    /// A proposal was decided about.
    pub autofix_attempted: bool,
    /// What each check came to last, in the order in which they ran.
    pub checks: Vec<Checked>,
    /// What a model made of a change that no command could be run on.
    pub reading: Option<(String, String)>,
    /// What layer 1 came to before it was begun anew.
    last_layer1: Option<LayerOne>,
    /// What each stage's role said last, in a line.
    pub lines: BTreeMap<String, String>,
    /// The language that the person speaks.
    pub spoken: Spoken,
    /// What people answered, a line each.
    pub answers: Vec<String>,
    /// How it was ended: accepted as it is, with open issues, without a commit.
    pub records: BTreeSet<String>,
    /// Where it landed: the commit, the branch, and how to take it while it waits.
    pub landed: Option<(String, String, Option<String>)>,
    /// The change was given to the person.
    pub given: bool,
    /// Papers that were to land and did not, by path.
    pub not_landed: BTreeSet<String>,
    /// Its files are gone, and are not written again.
    pub cleaned: bool,
    /// Its papers are gone: whoever takes it up before the rest is does not write them again.
    pub artifacts_cleaned: bool,
    /// The run is over.
    pub ended: Option<RunOutcome>,
    /// What is to be said, as messages with their arguments.
    pub news: Vec<News>,
    /// Who has answered in the panel at hand.
    seats: BTreeSet<(PanelPhase, u16)>,
    stages: BTreeMap<FrameId, String>,
    flights: BTreeMap<EffectId, FrameId>,
    gates: BTreeMap<windlass_core::run::GateId, FrameId>,
}

/// What layer 1 came to: its checks, its result, and what a model made of the change.
type LayerOne = (Vec<Checked>, Option<&'static str>, Option<(String, String)>);

/// Something to be said: a message's id and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    /// The message.
    pub id: &'static str,
    /// Its arguments.
    pub args: Vec<(&'static str, String)>,
}

/// What was found when a session began.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Whether there is a repository.
    pub has_git: bool,
    /// What the project is written in.
    pub language: String,
    /// The commands that there are, by the name of their check.
    pub checks: BTreeMap<String, String>,
}

/// What a check came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its command, if it has one.
    pub command: Option<String>,
    /// What it came to.
    pub came: Check,
    /// What it printed.
    pub output: String,
}

impl Session {
    /// A session before its first entry, of a task that is spoken about like this.
    pub fn new(spoken: Spoken) -> Self {
        Session { phase: "plan_ready".to_owned(), round: 1, spoken, ..Session::default() }
    }

    /// The language that the person speaks.
    pub fn lang(&self) -> Lang {
        self.spoken.lang()
    }

    /// Takes an entry in; `run` is as it is after it.
    pub fn enter(&mut self, entry: &Entry, run: &Run, blob: Blobs<'_>) {
        match entry {
            Entry::Note(noted) => {
                self.now_ms = noted.at.wall_ms;
                self.note(&noted.note, run, blob);
            }
            Entry::Event(recorded) => {
                self.now_ms = recorded.at.wall_ms;
                self.event(&recorded.event, run);
            }
        }
    }

    /// Whether an effect reads the spec as the person has it.
    pub fn reads_spec(&self, effect: EffectId) -> bool {
        let stage = self.flights.get(&effect).and_then(|frame| self.stages.get(frame));
        stage.is_some_and(|stage| [stage::REREAD_SPEC, stage::SPEC_NOW].contains(&stage.as_str()))
    }

    /// A paper as text.
    pub fn paper(&self, path: &str) -> Option<String> {
        self.papers.get(path).map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    }

    /// The session that is gone on with.
    pub fn adopted(&self) -> Option<&Open> {
        self.found.as_deref().filter(|_| self.adopts)
    }

    /// The session that there is: the one that is gone on with, or that was found and not decided about yet.
    pub fn there(&self) -> Option<&Open> {
        self.found.as_deref().filter(|_| self.adopts || !self.begun)
    }

    /// Its phase and its round: as they were found, while nobody has decided about it.
    pub fn standing(&self) -> (&str, u64) {
        match self.found.as_deref().filter(|_| !self.begun) {
            Some(found) => (&found.phase, found.round),
            None => (&self.phase, self.round),
        }
    }

    fn says(&mut self, id: &'static str, args: &[(&'static str, &str)]) {
        let args = args.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        self.news.push(News { id, args });
    }

    fn note(&mut self, note: &Note, run: &Run, blob: Blobs<'_>) {
        match note {
            Note::Paper { path, holds: Some(holds), .. } => {
                if let Some(bytes) = blob(holds) {
                    self.keep(path, bytes);
                }
            }
            Note::Paper { path, holds: None, .. } => {
                self.papers.remove(path);
            }
            Note::Answered(it) => {
                let said = blob(it.said()).unwrap_or_default();
                self.said(it, &String::from_utf8_lossy(&said), run);
            }
            Note::Checked { name, command, came, output, .. } => {
                let printed = output.as_deref().and_then(blob).unwrap_or_default();
                self.checks.retain(|own| own.name != *name);
                self.checks.push(Checked {
                    name: name.clone(),
                    command: command.clone(),
                    came: *came,
                    output: String::from_utf8_lossy(&printed).into_owned(),
                });
            }
            Note::Landed { commit, branch, waits, .. } => {
                self.landed = Some((commit.clone(), branch.clone(), waits.clone()));
            }
            Note::Told { name, text, .. } => match name.as_str() {
                "setup-summary" => self.set_up = true,
                // What a landing leaves out, it names.
                "land" => {
                    let named = self.papers.keys().filter(|path| text.contains(path.as_str()));
                    self.not_landed.extend(named.cloned());
                }
                "clean-session" => self.cleaned = true,
                "clean-artifacts" => self.artifacts_cleaned = true,
                _ => {}
            },
            _ => {}
        }
    }

    fn keep(&mut self, path: &str, bytes: Vec<u8>) {
        match path {
            ENVIRONMENT => {
                self.environment = serde_json::from_slice(&bytes).unwrap_or_default();
            }
            ADOPTED => {
                let text = String::from_utf8_lossy(&bytes);
                match format::read(&text) {
                    Ok(Left::Open(open)) => self.found = Some(open),
                    Ok(Left::First(first)) => {
                        self.found = Some(Box::new(first.open.clone()));
                        self.first = Some((first, text.into_owned()));
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        self.papers.insert(path.to_owned(), bytes.into());
    }

    /// What a role said.
    fn said(&mut self, it: &Answered, said: &str, run: &Run) {
        let (asked, line) = (&it.asked, windlass_agents::gist(said));
        let verdict =
            run.workflow().roles.get(&asked.role).is_some_and(|own| own.contains(&it.came));
        if it.came == "unknown" {
            self.says("taskline-unparsed", &[]);
        }
        self.lines.insert(asked.stage.clone(), line.clone());
        if !verdict {
            return;
        }
        match (asked.stage.as_str(), asked.panel) {
            (
                stage::PLAN_SINGLE
                | stage::REVISE_SPEC
                | stage::IMPLEMENT_SINGLE
                | stage::PLANNING
                | stage::GENERATING,
                _,
            )
            | (stage::PLAN_STANDARD | stage::PLAN_MULTI, Some((PanelPhase::Synthesise, _))) => {
                self.says("taskline-done", &[("line", &line)]);
            }
            (stage::PLAN_STANDARD | stage::PLAN_MULTI | stage::ADVISE_MULTI, Some(seat)) => {
                self.took_part(&asked.stage, seat, run);
            }
            (stage::LEAD_PLAN, _) => self.says("taskline-planned", &[("line", &line)]),
            (stage::ADVISE_STANDARD, _) => self.says("taskline-reviewed", &[("line", &line)]),
            (stage::IMPLEMENT_STANDARD | stage::IMPLEMENT_MULTI, _) => {
                self.says("taskline-coded", &[("line", &line)]);
            }
            (stage::VERIFY_READING, _) => self.reading = Some((it.came.clone(), line)),
            (stage::EVALUATING, _) => self.evaluated(&it.came, &line),
            (stage::SCAN, _) => self.settled_conventions("taskline-scanned"),
            _ => {}
        }
    }

    /// When all members of a panel have answered, that is said.
    fn took_part(&mut self, at: &str, seat: (PanelPhase, u16), run: &Run) {
        let flow = run.workflow();
        let stage = flow.stage_named(at).map(|ix| &flow.stage(ix).kind);
        let Some(Kind::Panel { roles, .. }) = stage else { return };
        self.seats.insert(seat);
        let here = self.seats.iter().filter(|(phase, _)| *phase == seat.0).count();
        if here < roles.len() {
            return;
        }
        let id = match (at, seat.0) {
            (stage::ADVISE_MULTI, _) => "taskline-advised",
            (_, PanelPhase::Critique) => "taskline-criticised",
            _ => "taskline-proposed",
        };
        self.says(id, &[("count", &here.to_string())]);
    }

    fn evaluated(&mut self, came: &str, line: &str) {
        let (pass, layer2) = match came {
            "pass" => (true, "PASS"),
            "fail_l2" => (false, "FAIL"),
            _ => (false, "PASS"),
        };
        self.layer2_result = Some(layer2);
        self.evaluated = Some(came.to_owned());
        self.says(if pass { "taskline-done" } else { "taskline-not-done" }, &[("line", line)]);
    }

    fn settled_conventions(&mut self, id: &'static str) {
        self.conventions = Some(format!("file:{CONVENTIONS}"));
        self.says(id, &[]);
    }

    fn event(&mut self, event: &Event, run: &Run) {
        match event {
            Event::Started(_) => self.created_ms = self.now_ms,
            Event::Entered { frame, stage, .. } => {
                let stage = run.workflow().stage(*stage);
                self.stages.insert(*frame, stage.name.clone());
                self.entered(&stage.name, stage.shown_as.as_deref());
            }
            Event::Wanted { effect, frame, .. } => {
                self.flights.insert(*effect, *frame);
            }
            Event::Asked { gate, frame, .. } => {
                self.gates.insert(*gate, *frame);
            }
            Event::Answered { gate, verdict, text, .. } => {
                let stage = self.gates.get(gate).and_then(|frame| self.stages.get(frame));
                let stage = stage.cloned().unwrap_or_default();
                let flow = run.workflow();
                let of = flow.stage_named(&stage).map(|ix| flow.stage(ix));
                let option = of.map_or("", |stage| &stage.verdict(*verdict).name);
                if let Some(text) = text {
                    self.spoken.hear(text);
                    self.answers.push(format!("- {stage}: {option}: {text}"));
                }
            }
            Event::Reported(ending) => {
                let frame = self.flights.remove(&ending.effect);
                let stage = frame.and_then(|frame| self.stages.get(&frame).cloned());
                if let (Some(stage), Ended::Verdict(word)) = (stage, &ending.ended) {
                    self.reported(&stage, word);
                }
            }
            // What was proved of this very work still holds.
            Event::Upheld { stage, .. }
                if run.workflow().stage(*stage).name == stage::VERIFYING =>
            {
                if let Some((checks, result, reading)) = self.last_layer1.take() {
                    (self.checks, self.layer1_result, self.reading) = (checks, result, reading);
                }
            }
            Event::Moved(moved) => self.moved(moved, run),
            Event::Ended { outcome } => self.ended = Some(*outcome),
            _ => {}
        }
        for (name, value, _) in run.counters() {
            match name.as_str() {
                "rounds" => self.round = value.into(),
                "layer1" => self.layer1 = value.into(),
                "layer2" => self.layer2 = value.into(),
                _ => {}
            }
        }
    }

    fn entered(&mut self, name: &str, shown_as: Option<&str>) {
        let before = self.phase.clone();
        if let Some(phase) = shown_as.or_else(|| format::is_phase(name).then_some(name)) {
            phase.clone_into(&mut self.phase);
        }
        match name {
            stage::PLAN_READY | stage::PLANNING => self.says("taskline-phase-plan", &[]),
            stage::GENERATE_READY => self.says("taskline-phase-generate", &[]),
            // A retry is told as one, and so is what went too far.
            stage::GENERATING if self.layer1 == 0 && !self.generated(&before) => {
                self.says("taskline-phase-generate", &[]);
            }
            stage::VERIFY_READY => {
                let last = (self.checks.clone(), self.layer1_result, self.reading.clone());
                self.last_layer1 = Some(last);
                self.layer1_result = None;
                self.checks.retain(|check| check.name == LIMITS);
                self.reading = None;
            }
            stage::PLAN_STANDARD | stage::PLAN_MULTI | stage::ADVISE_MULTI => self.seats.clear(),
            _ => {}
        }
    }

    fn reported(&mut self, at: &str, word: &str) {
        match (at, word) {
            (stage::ARGUMENT, "given") => self.begun = true,
            (stage::CONVENTIONS, "rich") => self.settled_conventions("taskline-conventions-rich"),
            (stage::CONVENTIONS, "persisted") => {
                self.settled_conventions("taskline-conventions-kept")
            }
            (stage::CONVENTIONS, "live") => self.conventions = Some(format!("file:{CONVENTIONS}")),
            (stage::GIVE_BACK, word) => self.given = word != "refused",
            (stage::VERIFYING, "pass") => self.layer1_result = Some("PASS"),
            (stage::VERIFYING, "fail") => self.layer1_result = Some("FAIL"),
            (stage::VERIFY_READING, "fail") => self.layer1_result = Some("FAIL"),
            _ => {}
        }
    }

    fn moved(&mut self, moved: &Moved, run: &Run) {
        let counted = moved.count.as_ref().map(|count| {
            let name = run.workflow().counters[count.counter.0 as usize].name.clone();
            let value = run.counters().into_iter().find(|(own, ..)| *own == name);
            (name, value.map_or(0, |(_, value, _)| value).to_string())
        });
        let at = self.stages.get(&moved.frame).cloned().unwrap_or_default();
        match counted {
            // A session that is gone on with has used some up already, and nobody is retried for that.
            Some((name, attempt))
                if name == "layer1"
                    && [stage::LAYER1_FAILED, stage::VERIFY_REPORT].contains(&at.as_str()) =>
            {
                let line = self.failure();
                self.says("taskline-retry-layer1", &[("attempt", &attempt), ("line", &line)]);
            }
            Some((name, attempt)) if name == "layer2" && !at.starts_with("adopt") => {
                let line = self.lines.get(stage::EVALUATING).cloned().unwrap_or_default();
                self.says("taskline-retry-layer2", &[("attempt", &attempt), ("line", &line)]);
            }
            _ => {}
        }
        if let Some(record) = &moved.record {
            self.recorded(record);
        }
    }

    fn recorded(&mut self, record: &str) {
        self.records.insert(record.to_owned());
        if let Some(applied) = record.strip_prefix("autofix:") {
            let since = self.autofix.as_ref().map_or(self.now_ms, |(_, since)| *since);
            self.autofix_attempted |= applied != "proposed";
            self.autofix = match applied {
                "cleared" => None,
                "proposed" => Some((applied.to_owned(), self.now_ms)),
                _ => Some((applied.to_owned(), since)),
            };
        }
        match record {
            "resumed" => self.resumed(),
            // Nothing of it counts any more, and its papers are none of ours.
            "restarted" | "stopped" | "docs_path_refused" | "other_session_deleted" => {
                let environment = self.papers.remove(ENVIRONMENT);
                *self = Session {
                    environment: std::mem::take(&mut self.environment),
                    created_ms: self.created_ms,
                    now_ms: self.now_ms,
                    records: std::mem::take(&mut self.records),
                    stages: std::mem::take(&mut self.stages),
                    flights: std::mem::take(&mut self.flights),
                    gates: std::mem::take(&mut self.gates),
                    news: std::mem::take(&mut self.news),
                    ..Session::new(self.spoken)
                };
                self.papers.extend(environment.map(|bytes| (ENVIRONMENT.to_owned(), bytes)));
            }
            "conventions_skipped" => {
                self.conventions = Some("skipped".to_owned());
                self.says("taskline-conventions-skipped", &[]);
            }
            "fix_round" => {
                self.layer1_result = None;
                self.layer2_result = None;
            }
            _ => {}
        }
    }

    /// An earlier session is gone on with: what it had used up is used up.
    fn resumed(&mut self) {
        self.adopts = true;
        self.begun = true;
        let Some(found) = self.found.clone() else { return };
        self.phase = found.phase;
        self.conventions = found.conventions;
        self.autofix_attempted = found.autofix_attempted;
        self.autofix = (found.autofix != "none").then_some((found.autofix, self.now_ms));
    }

    /// Whether somebody was at work on the code in the same phase already.
    fn generated(&self, before: &str) -> bool {
        before == self.phase && self.lines.contains_key(stage::GENERATING)
    }

    /// What failed at layer 1, in a line.
    pub fn failure(&self) -> String {
        let own = self.checks.iter().filter(|check| check.name != LIMITS);
        let failed = own.filter(|check| check.came == Check::Fail);
        let lines: Vec<String> = failed
            .map(|check| format!("{}: {}", check.name, printed::telling_line(&check.output)))
            .collect();
        match (&self.reading, lines.is_empty()) {
            (_, false) => format!("FAIL — {}", lines.join("; ")),
            (Some((came, line)), true) if came == "fail" => or(line, "FAIL"),
            _ => "FAIL".to_owned(),
        }
    }

    /// What layer 1 came to, in a line.
    pub fn layer1_line(&self) -> String {
        if self.layer1_result == Some("FAIL") {
            return self.failure();
        }
        let named = |came: Check| {
            let own = self.checks.iter().filter(|check| check.name != LIMITS && check.came == came);
            own.map(|check| check.name.as_str()).collect::<Vec<_>>().join(", ")
        };
        let passed = named(Check::Pass);
        match (&self.reading, passed.is_empty()) {
            (_, false) => format!("PASS — {passed}"),
            (Some((_, line)), true) => or(line, "SKIPPED — nothing could be run"),
            (None, true) => "SKIPPED — nothing could be run".to_owned(),
        }
    }
}

/// A text, or another where it says nothing.
fn or(text: &str, other: &str) -> String {
    if text.is_empty() { other.to_owned() } else { text.to_owned() }
}
