//! A session of autopilot: what its journal folds to, as far as its files and its people want to know.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value as Json, json};
use windlass_core::run::{
    EffectId, Ended, Ending, Event, FrameId, GateId, Item, Moved, Phase as RunPhase, Run, UnitIx,
};
use windlass_core::value::Value;
use windlass_core::workflow::{Go, RunOutcome, Settled, VerdictIx};
use windlass_engine::clerk::Blobs;
use windlass_engine::date::instant;
use windlass_engine::entry::{Check, Entry, Invocation, Note};

use super::tell::SET_TO;
use super::{PLANS, stage};
use crate::{finding, printed};

/// So many tasks are a plan that a person looks at.
pub const TASK_THRESHOLD: i64 = 15;
/// So many attempts to mend a task, and no more.
pub const MAX_ATTEMPTS: u64 = 3;
/// A task is taken to last so many minutes.
pub const MINUTES_A_TASK: i64 = 3;

/// A session.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// Every decision, as the seed writes them.
    pub decisions: Vec<Json>,
    /// The state that people see, and the phase it is about.
    pub state: String,
    /// The index of the phase at hand.
    pub current: usize,
    /// What the final review found, its status, and how often it was fixed.
    pub final_findings: Vec<Json>,
    /// `pending`, `in_progress`, `passed` or `overridden`.
    pub final_status: String,
    /// How often its findings were fixed.
    pub final_rounds: u64,
    /// What became of each of these fixes.
    pub final_fixes: Vec<String>,
    /// When the last entry was made.
    pub now_ms: i64,
    /// Papers by path.
    pub papers: BTreeMap<String, Arc<[u8]>>,
    /// Every plan is to be reviewed.
    review_plans: bool,
    /// What we have set the feature's status to in the roadmap.
    pub roadmap_status: Option<String>,
    /// Plans that roles of this run wrote.
    pub made: BTreeSet<String>,
    /// Retries over all phases.
    pub retries: u64,
    /// The checks of each phase that failed last, and the end of what they printed.
    failing: BTreeMap<String, Vec<String>>,
    /// The run is over.
    pub ended: Option<RunOutcome>,
    /// Phases in the order that a person proposes, by number and name.
    pub proposed: Vec<(String, String)>,
    frames: BTreeMap<FrameId, Place>,
    flights: BTreeMap<EffectId, FrameId>,
    gates: BTreeMap<GateId, FrameId>,
    /// Facts of phases, before they are units.
    pub listed: BTreeMap<String, (String, BTreeMap<String, Value>)>,
}

/// A phase.
#[derive(Clone, Debug, Default)]
pub struct Phase {
    /// Its number: the unit's id.
    pub number: String,
    /// Its name.
    pub name: String,
    /// `low`, `medium` or `high`.
    pub complexity: String,
    /// What its plan made of that.
    pub complexity_override: Option<String>,
    /// Its plan.
    pub plan_path: Option<String>,
    /// What the planner was worried about.
    pub concerns: Vec<String>,
    /// Tasks and checkpoints of its plan.
    pub task_count: i64,
    /// Checkpoints of its plan.
    pub checkpoint_count: i64,
    /// `pending`, `in_progress`, `complete`, `skipped` or `failed`.
    pub status: String,
    /// Waits for a plan that a person makes.
    pub awaiting_plan: bool,
    /// When it began and ended.
    pub started_ms: Option<i64>,
    /// When it ended.
    pub completed_ms: Option<i64>,
    /// Its tasks, in the order in which they were met.
    pub tasks: Vec<Task>,
    /// Retries used.
    pub retries: u64,
    /// What verification came to.
    pub verification: Option<String>,
    /// What verification found wrong.
    pub unverified: Vec<Json>,
    /// What the review found.
    pub findings: Vec<Json>,
    /// Blocking, warnings, notes.
    pub review: Option<[u64; 3]>,
    /// What people answered about it.
    pub answers: Vec<String>,
    /// The outline of its plan.
    pub skeleton: String,
}

/// A task.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// Its id.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// `pending`, `in_progress`, `complete` or `failed`.
    pub status: String,
    /// Every try that failed: the first one, and each attempt to mend it.
    pub tries: Vec<Try>,
    /// What it was said to have done last.
    said: String,
}

/// A try at a task that failed.
#[derive(Clone, Debug, Default)]
pub struct Try {
    /// When that was known.
    pub at_ms: i64,
    /// What was done.
    pub fix: String,
    /// What it came to.
    pub result: String,
}

impl Task {
    /// Attempts to mend it so far: the first try is none.
    pub fn attempts_used(&self) -> usize {
        self.tries.len().saturating_sub(1)
    }

    /// What was tried, a line each.
    pub fn attempts(&self) -> Vec<String> {
        let named =
            |at: usize| if at == 0 { "First try".to_owned() } else { format!("Attempt {at}") };
        let lines = self.tries.iter().enumerate();
        lines.map(|(at, it)| format!("{}: {} → {}", named(at), it.fix, it.result)).collect()
    }
}

#[derive(Clone, Debug, Default)]
struct Place {
    /// It is the unit's own frame: where that is left, the phase is over.
    own: bool,
    unit: Option<String>,
    task: Option<String>,
    stage: String,
    shown: Option<String>,
}

impl Session {
    /// A session before its first entry.
    pub fn new(review_plans: bool) -> Self {
        Session {
            review_plans,
            state: "INIT".to_owned(),
            final_status: "pending".to_owned(),
            ..Session::default()
        }
    }

    /// Takes an entry in; `run` is as it is after it.
    pub fn enter(&mut self, entry: &Entry, run: &Run, blob: Blobs<'_>) {
        match entry {
            Entry::Note(noted) => {
                self.now_ms = noted.at.wall_ms;
                self.note(&noted.note, blob);
            }
            Entry::Event(recorded) => {
                self.now_ms = recorded.at.wall_ms;
                self.event(&recorded.event, run);
            }
        }
    }

    /// The phase of a unit.
    pub fn phase(&self, unit: &str) -> Option<&Phase> {
        self.phases.iter().find(|phase| phase.number == unit)
    }

    /// The unit that a frame belongs to.
    pub fn unit_of(&self, frame: FrameId) -> Option<String> {
        self.frames.get(&frame)?.unit.clone()
    }

    fn phase_mut(&mut self, unit: Option<&str>) -> Option<&mut Phase> {
        let unit = unit?;
        self.phases.iter_mut().find(|phase| phase.number == unit)
    }

    fn task_mut(&mut self, place: &Place) -> Option<&mut Task> {
        let (unit, id) = (place.unit.as_deref()?, place.task.as_deref()?);
        let phase = self.phases.iter_mut().find(|phase| phase.number == unit)?;
        phase.tasks.iter_mut().find(|task| task.id == id)
    }

    fn note(&mut self, note: &Note, blob: Blobs<'_>) {
        match note {
            Note::Paper { effect, path, holds: Some(holds) } => {
                self.paper(*effect, path, blob(holds));
            }
            Note::Paper { path, holds: None, .. } => {
                self.papers.remove(path);
            }
            Note::Answered(it) => {
                let said = blob(it.said()).unwrap_or_default();
                self.said(&it.asked, &it.came, &String::from_utf8_lossy(&said));
            }
            Note::Checked { unit: Some(unit), name, came: Check::Fail, output, .. } => {
                let printed = output.as_deref().and_then(blob).unwrap_or_default();
                let line = printed::telling_line(&String::from_utf8_lossy(&printed));
                let failing = self.failing.entry(unit.clone()).or_default();
                failing.push(format!("`{name}` failed: {line}"));
            }
            Note::Told { name, text, .. } if name == "roadmap-sync" => {
                let set = text.rsplit_once(SET_TO).map(|(_, word)| word.to_owned());
                self.roadmap_status = set.or(self.roadmap_status.take());
            }
            Note::Told { name, .. } if name == "clear-scratchpad" => {
                self.papers.retain(|path, _| !path.contains("/scratchpad/"));
            }
            _ => {}
        }
    }

    /// A paper of the session's.
    fn paper(&mut self, effect: EffectId, path: &str, holds: Option<Vec<u8>>) {
        let frame = self.flights.get(&effect).and_then(|frame| self.frames.get(frame));
        let place = frame.cloned().unwrap_or_default();
        if path.starts_with(PLANS) {
            // Only a planner makes plans, and only of its own phase.
            match place.stage.as_str() {
                stage::PLAN => {
                    self.made.insert(path.to_owned());
                }
                stage::FIND_PLAN | stage::READ_PLAN | stage::SESSION => {}
                _ => return,
            }
            if let Some(phase) = self.phase_mut(place.unit.as_deref()) {
                phase.plan_path = Some(path.to_owned());
            }
        }
        if let Some(bytes) = holds {
            self.papers.insert(path.to_owned(), bytes.into());
        }
    }

    /// What a role said.
    fn said(&mut self, asked: &Invocation, came: &str, said: &str) {
        let unit = asked.unit.as_deref();
        match asked.stage.as_str() {
            stage::VERIFY => {
                let (findings, gist) = (finding::all(said), windlass_agents::gist(said));
                if let Some(phase) = self.phase_mut(unit) {
                    phase.unverified = findings;
                    if came == "fail" && phase.unverified.is_empty() && !gist.is_empty() {
                        phase.unverified.push(json!({ "title": gist }));
                    }
                }
            }
            stage::REVIEW => {
                if let Some(phase) = self.phase_mut(unit) {
                    phase.findings = finding::all(said);
                    phase.review = Some(finding::counts(&phase.findings));
                }
            }
            stage::FINAL_REVIEW => self.final_findings = finding::all(said),
            stage::FINAL_FIX => {
                let gist = windlass_agents::gist(said);
                let gist = if gist.is_empty() { gist } else { format!(": {gist}") };
                self.final_fixes.push(format!("{came}{gist}"));
            }
            stage::SKELETON => {
                if let Some(phase) = self.phase_mut(unit) {
                    phase.skeleton = said.trim().to_owned();
                }
            }
            stage::DO => self.did(asked, windlass_agents::gist(said)),
            _ => {}
        }
    }

    /// What a task's agent says that it has done.
    fn did(&mut self, asked: &Invocation, said: String) {
        let Some(task) = &asked.task else { return };
        let (unit, task) = (asked.unit.clone(), Some(task.clone()));
        if let Some(task) = self.task_mut(&Place { unit, task, ..Place::default() }) {
            let nothing = || "it did not say what it did".to_owned();
            task.said = if said.is_empty() { nothing() } else { said };
        }
        self.failing.remove(asked.unit.as_deref().unwrap_or_default());
    }

    fn event(&mut self, event: &Event, run: &Run) {
        match event {
            Event::UnitStarted { unit, frame, .. } => self.started(*unit, *frame, run),
            Event::Opened { frame, parent, .. } => {
                let unit = parent.and_then(|parent| self.frames.get(&parent)?.unit.clone());
                self.frames.insert(*frame, Place { unit, ..Place::default() });
            }
            Event::Entered { frame, stage, .. } => {
                let stage = run.workflow().stage(*stage);
                let place = self.frames.entry(*frame).or_default();
                place.stage.clone_from(&stage.name);
                place.shown.clone_from(&stage.shown_as);
                let unit = place.unit.clone();
                if let Some(shown) = &stage.shown_as {
                    self.state.clone_from(shown);
                    let at = self.phases.iter().position(|it| Some(&it.number) == unit.as_ref());
                    self.current = at.unwrap_or(self.current);
                }
                self.entered(&stage.name, unit.as_deref());
            }
            Event::Wanted { effect, frame, .. } => {
                self.flights.insert(*effect, *frame);
                let Some(effect) = run.want(*effect) else { return };
                if let Some(child) = &effect.child {
                    self.began(*frame, child);
                }
                if &*effect.name == stage::OVERRIDE_NOTE
                    && let Some(phase) = self.phase_mut(effect.unit.as_deref())
                {
                    phase.complexity_override = effect.with.get("complexity").map(Value::to_string);
                }
            }
            Event::Asked { gate, frame, policy, .. } => {
                self.gates.insert(*gate, *frame);
                if let Some(child) = run.gate(*gate).and_then(|gate| gate.child) {
                    self.began(*frame, &child);
                }
                if let Some(record) = policy.as_ref().and_then(|policy| policy.record.as_deref()) {
                    self.decided(*frame, record, None);
                }
            }
            Event::Answered { gate, verdict, text, .. } => {
                self.answered(*gate, *verdict, text.as_deref(), run);
            }
            Event::Reported(ending) => self.landed(ending, run),
            Event::Moved(moved) => self.moved(moved, run),
            Event::UnitSettled { unit, how, .. } => {
                let id = run.units().nth(unit.0 as usize).map(|unit| unit.id.to_string());
                self.left(&Place { own: true, unit: id, ..Place::default() }, *how);
            }
            Event::Ended { outcome } => {
                self.ended = Some(*outcome);
                if *outcome == RunOutcome::Done {
                    self.state = "DONE".to_owned();
                }
            }
            _ => {}
        }
        if run.phase() == RunPhase::Units {
            self.meet(run);
        }
    }

    fn started(&mut self, unit: UnitIx, frame: FrameId, run: &Run) {
        self.meet(run);
        let id = run.units().nth(unit.0 as usize).map(|unit| unit.id.to_string());
        let now = self.now_ms;
        if let Some(phase) = self.phase_mut(id.as_deref()) {
            phase.started_ms.get_or_insert(now);
            if phase.status == "pending" {
                phase.status = "in_progress".to_owned();
            }
        }
        self.frames.insert(frame, Place { own: true, unit: id, ..Place::default() });
    }

    /// What a person answered, for whoever works on the phase.
    fn answered(&mut self, gate: GateId, verdict: VerdictIx, text: Option<&str>, run: &Run) {
        let frame = self.gates.get(&gate).and_then(|frame| self.frames.get(frame));
        let place = frame.cloned().unwrap_or_default();
        if place.stage == stage::FINAL_BLOCKED {
            self.final_rationale(text);
        }
        let flow = run.workflow();
        let stage = flow.stage_named(&place.stage).map(|stage| flow.stage(stage));
        let option = stage.map_or("", |stage| &stage.verdict(verdict).name);
        let task = place.task.as_ref().map_or(String::new(), |task| format!("task {task}, "));
        let text = text.map_or(String::new(), |text| format!(": {text}"));
        let answer = format!("- {task}{}: {option}{text}", place.stage);
        if let Some(phase) = self.phase_mut(place.unit.as_deref()) {
            phase.answers.push(answer);
        }
    }

    /// What an effect came to.
    fn landed(&mut self, ending: &Ending, run: &Run) {
        let frame = self.flights.remove(&ending.effect);
        let place = frame.and_then(|frame| self.frames.get(&frame).cloned()).unwrap_or_default();
        if let Some((_, phases)) = ending.lists.iter().find(|(name, _)| name.as_ref() == "phases") {
            if place.stage == stage::REORDER {
                let named = phases.iter().map(|it| (it.id.to_string(), it.title.to_string()));
                self.proposed = named.collect();
            }
            self.listed.extend(
                phases
                    .iter()
                    .map(|it| (it.id.to_string(), (it.title.to_string(), it.facts.clone()))),
            );
        }
        let facts = ending
            .facts
            .iter()
            .map(|(ix, value)| (run.workflow().facts[ix.0 as usize].name.clone(), value.clone()));
        self.reported(&place, &ending.ended, facts.collect());
    }

    fn moved(&mut self, moved: &Moved, run: &Run) {
        let place = self.frames.get(&moved.frame).cloned().unwrap_or_default();
        let retry = moved.count.as_ref().is_some_and(|count| {
            run.workflow().counters[count.counter.0 as usize].name == "attempts"
        });
        if retry {
            self.retries += 1;
            if let Some(phase) = self.phase_mut(place.unit.as_deref()) {
                phase.retries += 1;
            }
        }
        if place.stage == stage::EXHAUSTED
            && !moved.reset.is_empty()
            && let Some(task) = self.task_mut(&place)
        {
            task.tries.clear();
        }
        if let Some(record) = &moved.record {
            self.decided(moved.frame, record, None);
        }
        if let Go::Leave(how) = moved.go {
            self.left(&place, how);
        }
    }

    /// Units that are new to us.
    fn meet(&mut self, run: &Run) {
        for unit in run.units().skip(self.phases.len()) {
            let (_, facts) = self.listed.get(&*unit.id).cloned().unwrap_or_default();
            let word = |name: &str| facts.get(name).map(Value::to_string);
            self.phases.push(Phase {
                number: unit.id.to_string(),
                name: unit.title.to_string(),
                complexity: word("complexity").unwrap_or_else(|| "medium".to_owned()),
                complexity_override: word("override").filter(|it| it != "none"),
                status: word("recorded").unwrap_or_else(|| "pending".to_owned()),
                ..Phase::default()
            });
        }
    }

    fn entered(&mut self, stage: &str, unit: Option<&str>) {
        match stage {
            stage::AWAIT_PLAN => {
                if let Some(phase) = self.phase_mut(unit) {
                    phase.awaiting_plan = true;
                }
            }
            stage::FINAL_REVIEW => self.final_status = "in_progress".to_owned(),
            stage::FINAL_FIX => self.final_rounds += 1,
            _ => {}
        }
    }

    fn began(&mut self, frame: FrameId, child: &Item) {
        let place = self.frames.entry(frame).or_default();
        place.task = Some(child.id.to_string());
        let unit = place.unit.clone();
        let Some(phase) = self.phase_mut(unit.as_deref()) else { return };
        match phase.tasks.iter_mut().find(|task| *task.id == *child.id) {
            Some(task) if task.status == "pending" => task.status = "in_progress".to_owned(),
            Some(_) => {}
            None => phase.tasks.push(Task {
                id: child.id.to_string(),
                title: child.title.to_string(),
                status: "in_progress".to_owned(),
                ..Task::default()
            }),
        }
    }

    fn reported(&mut self, place: &Place, ended: &Ended, facts: BTreeMap<String, Value>) {
        let Ended::Verdict(word) = ended else { return };
        match (place.stage.as_str(), &**word) {
            (stage::DO, "failed") => {
                self.failed(place, "the executor reported that it failed".to_owned())
            }
            (stage::TASK_CHECKS | stage::SEEN_CHECKS, "fail") => {
                let unit = place.unit.as_deref().unwrap_or_default();
                let failing = self.failing.get(unit).map(|it| it.join("; "));
                self.failed(place, failing.unwrap_or_else(|| "the checks failed".to_owned()));
            }
            _ => {}
        }
        let number = |name: &str| match facts.get(name) {
            Some(Value::Number(number)) => *number,
            _ => 0,
        };
        let concerns = self.concerns();
        let listed = place.unit.as_ref().and_then(|unit| self.listed.get(unit));
        let adopted = listed.and_then(|(_, facts)| facts.get("override")).map(Value::to_string);
        let adopted = adopted.filter(|word| word != "none");
        let Some(phase) = self.phase_mut(place.unit.as_deref()) else { return };
        match (place.stage.as_str(), &**word) {
            (stage::FIND_PLAN | stage::READ_PLAN, "found") => {
                phase.awaiting_plan = false;
                phase.task_count = number("task_count");
                phase.checkpoint_count = number("checkpoint_count");
                phase.concerns = if number("concern_count") > 0 { concerns } else { Vec::new() };
                // What a plan makes of the complexity, the workflow says next.
                phase.complexity_override = adopted;
            }
            (stage::VALIDATE, word) => {
                phase.verification = Some(word.to_owned());
                phase.unverified.clear();
            }
            (stage::VERIFY, word) => phase.verification = Some(word.to_owned()),
            _ => {}
        }
    }

    /// A try at a task has come to nothing.
    fn failed(&mut self, place: &Place, result: String) {
        let at_ms = self.now_ms;
        if let Some(task) = self.task_mut(place) {
            let fix = task.said.clone();
            task.tries.push(Try { at_ms, fix, result });
        }
    }

    fn left(&mut self, place: &Place, how: Settled) {
        if place.task.is_some() {
            let status = if how == Settled::Done { "complete" } else { "failed" };
            if let Some(task) = self.task_mut(place) {
                task.status = status.to_owned();
            }
            return;
        }
        if !place.own {
            return;
        }
        let now = self.now_ms;
        if let Some(phase) = self.phase_mut(place.unit.as_deref()) {
            phase.status = match how {
                Settled::Done => "complete",
                Settled::Skipped => "skipped",
                Settled::Failed | Settled::Blocked | Settled::Unfinished => "failed",
            }
            .to_owned();
            phase.completed_ms.get_or_insert(now);
        }
    }

    /// A decision goes on record as the seed has it; one about a plan with its signals.
    fn decided(&mut self, frame: FrameId, record: &str, rationale: Option<&str>) {
        if let Some(status) = record.strip_prefix("finalReview:") {
            self.final_status = status.to_owned();
            if status != "overridden" {
                return;
            }
        }
        let place = self.frames.get(&frame).cloned().unwrap_or_default();
        let at = self.phases.iter().position(|phase| Some(&phase.number) == place.unit.as_ref());
        let mut decision = json!({
            "phase": at,
            "decision": record,
            "timestamp": instant(self.now_ms),
        });
        if place.stage == stage::APPROVE_PLAN
            && let Some(phase) = at.map(|at| &self.phases[at])
        {
            decision["signals"] = phase.signals(self.review_plans);
        }
        if let Some(rationale) = rationale {
            decision["rationale"] = json!(rationale);
        }
        self.decisions.push(decision);
    }

    fn final_rationale(&mut self, text: Option<&str>) {
        if let Some(text) = text {
            self.decisions.push(json!({
                "phase": Json::Null,
                "decision": "final_review_rationale",
                "timestamp": instant(self.now_ms),
                "rationale": text,
            }));
        }
    }

    /// What the last planning handoff was worried about.
    fn concerns(&self) -> Vec<String> {
        let handoff = self.papers.iter().find(|(path, _)| path.ends_with("/handoff.json"));
        let handoff = handoff.map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
        handoff
            .and_then(|text| windlass_sources::handoff::Handoff::parse(&text).ok())
            .map(|handoff| handoff.concerns)
            .unwrap_or_default()
    }
}

impl Phase {
    /// What its plan was approved on.
    pub fn signals(&self, review_plans: bool) -> Json {
        json!({
            "reviewPlans": review_plans,
            "highComplexity": self.complexity,
            "complexityOverride": self.complexity_override,
            "plannerConcerns": self.concerns,
            "taskCount": self.task_count,
            "taskThreshold": TASK_THRESHOLD,
        })
    }

    /// Its tasks that are complete.
    pub fn tasks_done(&self) -> usize {
        self.tasks.iter().filter(|task| task.status == "complete").count()
    }

    /// The complexity that counts.
    pub fn effective(&self) -> &str {
        self.complexity_override.as_deref().unwrap_or(&self.complexity)
    }
}

#[cfg(test)]
mod tests {
    use windlass_engine::entry::Answered;

    use super::*;

    #[test]
    fn what_a_role_said_is_its_text_where_it_has_one_and_not_the_stream() {
        let mut session = Session::new(false);
        let blob = |digest: &str| Some(format!("{digest} made it work.").into_bytes());
        for text in [None, Some("text".to_owned())] {
            let asked = Invocation {
                effect: EffectId(1),
                unit: None,
                task: None,
                stage: stage::FINAL_FIX.to_owned(),
                role: "worker".to_owned(),
                agent: "somebody".to_owned(),
                panel: None,
                attempt: 1,
                prompt: "prompt".to_owned(),
            };
            let answered = Answered {
                asked,
                came: "done".to_owned(),
                ended: "exited with 0".to_owned(),
                stdout: "stream".to_owned(),
                stderr: "errors".to_owned(),
                text,
                limited_until: None,
                models: Vec::new(),
                handed_to: None,
                remarks: Vec::new(),
                commit: None,
                files: Vec::new(),
            };
            session.note(&Note::Answered(Box::new(answered)), &blob);
        }
        assert_eq!(session.final_fixes, ["done: stream made it work.", "done: text made it work."]);
    }
}
