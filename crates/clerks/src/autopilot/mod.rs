//! The clerk of autopilot: its session, its sources, its files (seed: autopilot; docs/formats.md).

mod read;
mod session;
mod show;
pub(crate) mod stage;
mod tell;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use windlass_core::run::{Event, Item, Run, Target, UnitView, Wish};
use windlass_core::value::Value;
use windlass_engine::clerk::{Blobs, Clerk, Said, Situation, Told};
use windlass_engine::date::{date, instant};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::autopilot as format;
use windlass_sources::{Reading, SourceError, slug};

pub use read::spec;
use session::Session;

use crate::memory::Files;
use crate::projection::Projection;
use crate::{Office, Place, Spoken, finding};

/// Runs that read autopilot's session are autopilot's.
pub(crate) const OFFICE: Office = Office {
    known_by: "autopilot-session",
    reads: &read::READS,
    shows: &show::SHOWS,
    files: &["plan", "handoff.json"],
    open: |at| Arc::new(Autopilot::new(at)),
};

/// Where plans are.
const PLANS: &str = "docs/plans";

/// What a plan of ours ends with: whose it is.
const MARK: &str = "<!-- windlass: ";

/// The wish that has the phase planned which waits for a plan of a person's, if one does.
pub fn plans_what_waits(run: &Run) -> Option<Wish> {
    let waits = |unit: &UnitView| {
        let at = unit.stage.map(|stage| run.workflow().stage(stage).name.as_str());
        at == Some(stage::FIND_PLAN)
    };
    let unit = run.units().find(waits)?.id;
    Some(Wish::Redo { target: Target::Unit(unit), stage: stage::SKELETON.to_owned() })
}

/// The clerk of a run of autopilot.
struct Autopilot {
    files: Files,
    spec: String,
    roadmap: String,
    rigor: String,
    review_plans: bool,
    /// The session's name.
    slug: String,
    starting_commit: String,
    session: Mutex<Session>,
    projection: Mutex<Projection>,
    /// The run: plans that it wrote bear its name.
    run: String,
    said: Mutex<Vec<String>>,
    spoken: Mutex<Spoken>,
    warned: Mutex<BTreeSet<String>>,
}

impl Autopilot {
    fn new(Place { top, state, base, run, lang, .. }: &Place<'_>) -> Self {
        let files = Files::of(top);
        let input = |name: &str| run.input_named(name).cloned();
        let text = |name: &str| input(name).map_or(String::new(), |value| value.to_string());
        let spec = text("spec");
        Autopilot {
            slug: format::session_slug(&spec),
            spec,
            roadmap: text("roadmap"),
            rigor: text("rigor"),
            review_plans: input("review_plans") == Some(Value::Flag(true)),
            starting_commit: (*base).to_owned(),
            session: Mutex::new(Session::new(
                input("review_plans") == Some(Value::Flag(true)) || text("rigor") == "thorough",
            )),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            run: run.id().to_owned(),
            said: Mutex::default(),
            spoken: Mutex::new(Spoken::at_first(run, *lang)),
            warned: Mutex::default(),
            files,
        }
    }

    /// Where the session's files are.
    fn dir(&self) -> String {
        format!(".harness/sessions/{}", self.slug)
    }

    fn in_dir(&self, name: &str) -> String {
        format!("{}/{name}", self.dir())
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    fn says(&self, text: impl Into<String>) {
        lock(&self.said).push(text.into());
    }

    /// Says something that stays true until somebody sees to it: once.
    fn warns(&self, text: String) {
        if lock(&self.warned).insert(text.clone()) {
            self.says(text);
        }
    }

    /// The seed's state file.
    pub fn state(&self) -> format::State {
        let session = self.session();
        let phases = session.phases.iter().map(|phase| format::Phase {
            name: phase.name.clone(),
            complexity: phase.complexity.clone(),
            complexity_override: phase.complexity_override.clone(),
            plan_path: phase.plan_path.clone(),
            status: phase.status.clone(),
        });
        let history = session.phases.iter().enumerate().filter_map(|(at, phase)| {
            let completed = phase.completed_ms.filter(|_| phase.status != "skipped")?;
            let [blocking, warning, note] = phase.review.unwrap_or_default();
            Some(serde_json::json!({
                "phase": at,
                "name": phase.name,
                "startedAt": phase.started_ms.map(instant),
                "completedAt": instant(completed),
                "tasksCompleted": phase.tasks_done(),
                "retriesUsed": phase.retries,
                "verificationPassed": phase.verification.as_deref().map(|word| word == "pass"),
                "reviewFindings": { "blocking": blocking, "warning": warning, "note": note },
            }))
        });
        let task = session.phases.get(session.current).and_then(|phase| {
            phase.tasks.iter().find(|task| task.status == "in_progress" && !task.tries.is_empty())
        });
        let task = task.map(|task| {
            // Each attempt to mend it, with the error that it was to mend.
            let attempts = task.tries.windows(2).map(|it| {
                serde_json::json!({
                    "timestamp": instant(it[1].at_ms),
                    "error": it[0].result,
                    "fix": it[1].fix,
                    "result": it[1].result,
                })
            });
            serde_json::json!({
                "task": task.id,
                "title": task.title,
                "attemptsUsed": task.attempts_used(),
                "attempts": attempts.collect::<Vec<_>>(),
            })
        });
        let awaiting = session.phases.get(session.current).is_some_and(|phase| phase.awaiting_plan);
        format::State {
            schema_version: format::SCHEMA,
            session_dir: self.dir(),
            spec_path: self.spec.clone(),
            starting_commit: self.starting_commit.clone(),
            review_plans: self.review_plans || self.rigor == "thorough",
            rigor_level: self.rigor.clone(),
            current_state: session.state.clone(),
            current_phase: session.current,
            awaiting_interactive_plan: awaiting.then_some(true),
            phases: phases.collect(),
            retry_budget: format::RetryBudget {
                max_attempts: session::MAX_ATTEMPTS,
                current_task: task.unwrap_or_default(),
            },
            history: history.collect(),
            decisions: session.decisions.clone(),
            final_review: format::FinalReview {
                status: session.final_status.clone(),
                findings: session.final_findings.clone(),
                retry_count: session.final_rounds,
            },
        }
    }

    /// All files that the journal alone makes, by path.
    pub fn projections(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        if self.session().phases.is_empty() {
            return files;
        }
        let state = serde_json::to_string_pretty(&self.state()).unwrap_or_default();
        files.insert(self.in_dir("autopilot-state.json"), state + "\n");
        let mut json = |name: String, value: serde_json::Value| {
            let text = serde_json::to_string_pretty(&value).unwrap_or_default();
            files.insert(name, text + "\n");
        };
        let session = self.session();
        for phase in &session.phases {
            if phase.review.is_some() {
                let name = format!("phase-{}-review.json", phase.number);
                json(self.in_dir(&name), phase.findings.clone().into());
            }
        }
        if let Some(phase) = session.phases.get(session.current) {
            let progress: serde_json::Map<String, serde_json::Value> = phase
                .tasks
                .iter()
                .map(|task| {
                    (format!("Task {}: {}", task.id, task.title), task.status.clone().into())
                })
                .collect();
            let task = phase.tasks.iter().find(|task| task.status == "in_progress");
            let position = serde_json::json!({
                "phase": format!("Phase {}: {}", phase.number, phase.name),
                "task": task.map(|task| format!("Task {}: {}", task.id, task.title)),
            });
            let state = serde_json::json!({
                "schemaVersion": 1,
                "position": position,
                "decisions": [],
                "blockers": [],
                "progress": progress,
            });
            json(self.in_dir("state.json"), state);
        }
        for (path, bytes) in &session.papers {
            let own = path.starts_with(&self.dir()) || self.is_plan_of_ours(path, &session);
            if own {
                let mut text = String::from_utf8_lossy(bytes).into_owned();
                if path.starts_with(PLANS) && !text.contains(MARK) {
                    text = format!("{}\n\n{MARK}{} -->\n", text.trim_end(), self.run);
                }
                files.insert(path.clone(), text);
            }
        }
        files
    }

    /// Plans that roles of this run wrote, not those that were found.
    fn is_plan_of_ours(&self, path: &str, session: &Session) -> bool {
        path.starts_with(PLANS) && session.made.contains(path)
    }

    /// Writes the projections that are not as they should be.
    pub fn project(&self) {
        let mut projection = lock(&self.projection);
        for (path, text) in self.projections() {
            // A plan is also a person's: what they make of it stands.
            let put = if path.starts_with(PLANS) {
                projection.offer(&path, &text).map(|()| None)
            } else {
                projection.put(&path, &text)
            };
            match put {
                Ok(None) => {}
                Ok(Some(aside)) => self.says(format!(
                    "{path} is written from the journal: what somebody else wrote there is now in {aside}"
                )),
                Err(trouble) => self.warns(format!("{path} could not be written: {trouble}")),
            }
        }
    }

    /// The file of a phase's plan that is to be written.
    fn plan_path(&self, at: &Situation) -> Option<String> {
        let (unit, title) = at.unit.as_ref()?;
        let known = self.session().phase(unit).and_then(|phase| phase.plan_path.clone());
        let fresh = || format!("{PLANS}/{}-{}-plan.md", date(at.since.wall_ms), slug(title));
        Some(known.unwrap_or_else(fresh))
    }
}

impl Clerk for Autopilot {
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>) {
        self.session().enter(entry, run, blobs);
        lock(&self.spoken).enter(entry);
        if let Entry::Event(recorded) = entry
            && let Event::Asked { frame, policy: Some(policy), .. } = &recorded.event
        {
            let unit = self.session().unit_of(*frame);
            if let Some(report) =
                unit.and_then(|unit| self.approval(&unit, policy.record.as_deref()))
            {
                self.says(report);
            }
        }
    }

    fn caught_up(&self) {
        lock(&self.said).clear();
    }

    fn language(&self) -> Option<String> {
        lock(&self.spoken).for_agents()
    }

    fn flush(&self) -> Vec<String> {
        self.project();
        std::mem::take(&mut *lock(&self.said))
    }

    fn read(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        self.look(name, at)
    }

    fn tell(&self, name: &str, at: &Situation) -> Result<Told, Trouble> {
        self.told(name, at)
    }

    fn artifact(&self, name: &str, at: &Situation) -> Option<String> {
        self.shown(name, at)
    }

    fn examine(&self, role: &str, verdict: &str, said: Said<'_>, _: &Situation) -> Option<String> {
        match role {
            "code-reviewer" => reviewed(verdict, said),
            "verifier" => verified(verdict, said),
            _ => None,
        }
    }

    fn refuses(&self, option: &str, at: &Situation) -> Option<String> {
        (option == "yes").then(|| self.edited_plan(at))?
    }

    fn path(&self, name: &str, at: &Situation) -> Option<String> {
        match name {
            "plan" => self.plan_path(at),
            "handoff.json" => Some(self.in_dir(name)),
            _ => None,
        }
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        let session = self.session();
        let plan = session.phases.get(session.current).and_then(|phase| phase.plan_path.as_deref());
        let own = |path: &str| path.starts_with(&self.dir()) || Some(path) == plan;
        let papers = session.papers.iter().filter(|(path, _)| own(path));
        papers.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    fn apart(&self) -> Vec<String> {
        vec![".harness".to_owned(), PLANS.to_owned()]
    }
}

/// Findings become tasks: others than those of the plan, than what somebody else has found, and than what was found before
/// and not mended.
fn numbered(items: &mut [Item], whose: &str, attempt: u32) {
    for item in items {
        item.id = format!("{whose}{attempt}-{}", item.id).into();
    }
}

/// What a verifier found wrong; who gives no findings has said it some other way.
fn verified(verdict: &str, said: Said<'_>) -> Option<String> {
    let findings = said.lists.entry("findings".to_owned()).or_default();
    if verdict == "pass" && !findings.is_empty() {
        return Some("it says `pass` and reports findings".to_owned());
    }
    if verdict == "fail" && findings.is_empty() {
        let gist = windlass_agents::gist(said.text);
        let title = if gist.is_empty() { "It does not verify".to_owned() } else { gist };
        let item = Item { id: "verification".into(), title: title.into(), ..Item::default() };
        findings.push(item);
    }
    numbered(findings, "v", said.attempt);
    None
}

/// The findings of a review decide what is blocking, wherever the reviewer put them; its verdict must agree.
fn reviewed(verdict: &str, said: Said<'_>) -> Option<String> {
    let findings = finding::all(said.text);
    let [blocking, warnings, notes] = finding::counts(&findings);
    for (name, count) in
        [("blocking_count", blocking), ("warning_count", warnings), ("note_count", notes)]
    {
        let count = Value::Number(i64::try_from(count).unwrap_or(i64::MAX));
        said.facts.entry(name.to_owned()).or_insert(count);
    }
    let blockers = said.lists.entry("blockers".to_owned()).or_default();
    if blockers.is_empty() {
        let severe = findings.iter().filter(|it| it["severity"] == "blocking");
        blockers.extend(severe.enumerate().map(|(at, finding)| {
            let title = finding["title"].as_str().unwrap_or("a blocking finding");
            let place = finding["file"].as_str().map_or(String::new(), |file| format!(" ({file})"));
            Item {
                id: format!("finding-{}", at + 1).into(),
                title: format!("{title}{place}").into(),
                ..Item::default()
            }
        }));
    }
    numbered(blockers, "r", said.attempt);
    let counted = match said.facts.get("blocking_count") {
        Some(Value::Number(count)) => *count,
        _ => 0,
    };
    match (verdict, counted > 0 || !blockers.is_empty()) {
        ("clear", true) => Some("it says `clear` and reports blocking findings".to_owned()),
        ("blocking", false) => Some("it says `blocking` and reports nothing that is".to_owned()),
        _ => None,
    }
}
