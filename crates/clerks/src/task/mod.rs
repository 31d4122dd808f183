//! The clerk of task: its session, its sources, its files (seed: task; docs/formats.md).

mod clean;
mod conventions;
mod read;
mod session;
mod show;
pub(crate) mod stage;
mod state;
mod tell;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};

use windlass_core::run::{PanelPhase, Run};
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::clerk::{Blobs, Clerk, Patching, Said, Situation, Told};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::task::{self as format, Verdict};
use windlass_sources::{Reading, SourceError};
use windlass_words::Words;

use session::{CONVENTIONS, INNER, Session};

use crate::memory::Files;
use crate::projection::Projection;
use crate::{Office, Place, Project, Spoken};

/// Runs that read task's session are task's.
pub(crate) const OFFICE: Office = Office {
    known_by: "task-session",
    reads: &read::READS,
    shows: &show::SHOWS,
    files: &FILES,
    open: |at| Arc::new(Task::new(at, Version::Second)),
};

/// Runs that read a session without a version are task's as well; what they keep has the form that it was found in.
pub(crate) const FIRST: Office = Office {
    known_by: "task-v1-session",
    reads: &read::FIRST_READS,
    open: |at| Arc::new(Task::new(at, Version::First)),
    ..OFFICE
};

/// Whose form a session has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// No version on it.
    First,
    /// 2.0.
    Second,
}

/// Automatic retries after layer 1.
const LAYER1_RETRIES: u64 = 3;
/// Automatic retries after layer 2.
const LAYER2_RETRIES: u64 = 2;
/// Rounds in all.
const ROUNDS: u64 = 3;

/// A list of names: of the papers that roles write and people are shown, and of these besides.
macro_rules! papers_and {
    ($($besides:literal),* $(,)?) => {
        [
            "spec.md",
            "changes.md",
            "verify_report.md",
            "qa_report.md",
            "qa_notes.md",
            "critic_findings.md",
            "plan.md",
            "review_combined.md",
            "review_code_quality.md",
            "review_test_stability.md",
            "auto_fix_patch.md",
            $($besides),*
        ]
    };
}
use papers_and;

/// The papers of a session that roles read and write, by name.
const FILES: [&str; 17] = papers_and![
    "conventions.md",
    "proposal_architect.md",
    "proposal_senior_developer.md",
    "proposal_qa_specialist.md",
    "critique.md",
    "conventions",
];

/// Whose critique is whose: by the place that a persona has in its panel.
const PERSONAS: [&str; 3] = ["architect", "senior_developer", "qa_specialist"];

/// The clerk of a run of task.
struct Task {
    /// The run.
    run: String,
    /// Where files of sessions that somebody else left are kept, once they were cleared.
    cleared: PathBuf,
    version: Version,
    files: Files,
    inputs: Inputs,
    /// What is known of the project, where the run is driven.
    project: Option<Project>,
    /// What each stage shows, by its name.
    sees: BTreeMap<String, Vec<String>>,
    session: Mutex<Session>,
    projection: Mutex<Projection>,
    said: Mutex<Vec<String>>,
    warned: Mutex<BTreeSet<String>>,
    /// Its files are being removed: they are not written meanwhile.
    clearing: Mutex<bool>,
}

/// What a run of task was begun with.
#[derive(Clone, Debug, Default)]
struct Inputs {
    task: String,
    slug: String,
    mode: String,
    models: String,
    triple: String,
    style: String,
    verifier: String,
    output_dir: String,
    scope: String,
    max_files: u64,
    todo_blocking: bool,
    /// Commands that were given instead of those that are detected, by the name of their check.
    commands: BTreeMap<&'static str, String>,
}

/// The checks of layer 1 that are commands, and the input that stands for each.
const COMMANDS: [(&str, &str); 4] = [
    ("build", "build_cmd"),
    ("test", "test_cmd"),
    ("lint", "lint_cmd"),
    ("type-check", "type_check_cmd"),
];

impl Inputs {
    fn of(run: &Run) -> Self {
        let value = |name: &str| run.input_named(name).cloned();
        let text = |name: &str| value(name).map_or(String::new(), |value| value.to_string());
        let task = text("task");
        let slug = match text("slug") {
            said if said.is_empty() || said == "derived" => format::slug(&task),
            said => said,
        };
        let or = |name: &str, usual: &str| match text(name) {
            said if said.is_empty() => usual.to_owned(),
            said => said,
        };
        Inputs {
            slug,
            task,
            mode: text("mode"),
            models: text("models"),
            triple: text("triple"),
            // Sessions without a version have neither.
            style: or("style", "auto"),
            verifier: text("verifier_model"),
            output_dir: or("output_dir", format::OUTPUT_BASE),
            scope: text("scope"),
            max_files: match value("max_files") {
                Some(Value::Number(number)) => u64::try_from(number).unwrap_or(0),
                _ => 0,
            },
            todo_blocking: value("todo_blocking") == Some(Value::Flag(true)),
            commands: COMMANDS.iter().map(|(check, input)| (*check, text(input))).collect(),
        }
    }
}

impl Task {
    fn new(Place { top, state, run, project, lang, .. }: &Place<'_>, version: Version) -> Self {
        let files = Files::of(*top);
        let inputs = Inputs::of(run);
        let stages = run.workflow().stages.iter();
        Task {
            cleared: state.join("cleared").join(run.id()),
            run: run.id().to_owned(),
            version,
            session: Mutex::new(Session::new(Spoken::at_first(run, *lang))),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            sees: stages.map(|stage| (stage.name.clone(), stage.sees.clone())).collect(),
            project: project.cloned(),
            inputs,
            files,
            said: Mutex::default(),
            warned: Mutex::default(),
            clearing: Mutex::default(),
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    fn words(&self) -> Words {
        self.session().spoken.words()
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

    /// What the task is called.
    fn slug(&self) -> String {
        let session = self.session();
        session.adopted().map_or_else(|| self.inputs.slug.clone(), |open| open.slug.clone())
    }

    /// Where the session's papers go, with a slash at the end.
    fn docs(&self) -> String {
        let session = self.session();
        match session.adopted() {
            Some(open) => format!("{}/", open.docs_path.trim_end_matches('/')),
            None => format::docs_path(&self.inputs.output_dir, &self.inputs.slug),
        }
    }

    /// Where a paper of this name is.
    fn place_of(&self, name: &str, at: &Situation) -> Option<String> {
        let own = |name: &str| Some(format!(".harness/{name}"));
        match name {
            "conventions.md" | "conventions" => match at.stage.as_str() {
                // What lands is what was kept with the spec.
                "land_code" | "land_all" => Some(format!("{}conventions.md", self.docs())),
                _ => Some(CONVENTIONS.to_owned()),
            },
            "spec.md" | "changes.md" | "verify_report.md" | "qa_report.md" | "qa_notes.md"
            | "critic_findings.md" => Some(format!("{}{name}", self.docs())),
            "plan.md" | "auto_fix_patch.md" => own(&format!("generator/{name}")),
            "critique.md" => {
                let number = at.panel.filter(|(phase, _)| *phase == PanelPhase::Critique)?.1;
                let persona = PERSONAS.get(usize::from(number))?;
                own(&format!("planner/critique_{persona}.md"))
            }
            name if name.starts_with("proposal_") => own(&format!("planner/{name}")),
            name if name.starts_with("review_") => own(&format!("generator/{name}")),
            _ => None,
        }
    }

    /// The text of a paper of this name.
    fn paper(&self, name: &str, at: &Situation) -> Option<String> {
        let path = self.place_of(name, at)?;
        self.session().paper(&path)
    }

    /// Writes the projections that are not as they should be.
    fn project_files(&self) {
        if *lock(&self.clearing) {
            return;
        }
        let docs = self.docs();
        let found = self.session().first.as_ref().map(|(_, found)| found.clone());
        let mut projection = lock(&self.projection);
        for (path, text) in self.projections() {
            if path == format::STATE
                && let Some(found) = &found
                && let Err(trouble) = projection.adopt(&path, found)
            {
                self.warns(trouble.to_string());
            }
            // What a person may change stands as they have it.
            let theirs = path == CONVENTIONS || path == format!("{docs}spec.md");
            let put =
                if theirs { projection.lend(&path, &text) } else { projection.put(&path, &text) };
            match put {
                Ok(None) => {}
                Ok(Some(aside)) => {
                    self.says(
                        self.words()
                            .say("taskline-set-aside", &[("path", &path), ("aside", &aside)]),
                    );
                }
                Err(trouble) => {
                    let why = trouble.to_string();
                    self.warns(
                        self.words().say("taskline-unwritten", &[("path", &path), ("why", &why)]),
                    );
                }
            }
        }
    }

    /// All files that the journal alone makes, by path.
    fn projections(&self) -> BTreeMap<String, String> {
        let docs = self.docs();
        let session = self.session();
        let mut files = BTreeMap::new();
        if !session.begun || session.cleaned {
            return files;
        }
        let own = |path: &str| path.starts_with(&docs) || path.starts_with(".harness/");
        // What was found there is a person's, and stays as it is.
        let theirs = [format!("{docs}qa_notes.md"), format!("{docs}critic_findings.md")];
        for (path, bytes) in &session.papers {
            let conventions = *path == format!("{docs}conventions.md");
            let gone = session.artifacts_cleaned && path.starts_with(&docs);
            if own(path) && !theirs.contains(path) && !conventions && !gone {
                files.insert(path.clone(), String::from_utf8_lossy(bytes).into_owned());
            }
        }
        drop(session);
        files.extend(self.state_text().map(|state| (format::STATE.to_owned(), state)));
        files
    }
}

impl Clerk for Task {
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>) {
        lock(&self.projection).follows(entry, blobs, |path, effect| {
            path.ends_with("/spec.md") && self.session().reads_spec(effect)
        });
        let mut session = self.session();
        session.enter(entry, run, blobs);
        let (words, news) = (session.spoken.words(), std::mem::take(&mut session.news));
        drop(session);
        for news in news {
            let args: Vec<(&str, &str)> =
                news.args.iter().map(|(name, value)| (*name, value.as_str())).collect();
            self.says(words.say(news.id, &args));
        }
    }

    fn caught_up(&self) {
        lock(&self.said).clear();
    }

    fn flush(&self) -> Vec<String> {
        self.project_files();
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

    fn examine(&self, role: &str, _verdict: &str, said: Said<'_>, _: &Situation) -> Option<String> {
        if role == "auto-fix-proposer" && !said.facts.contains_key("confidence") {
            let word = format::confidence(said.text).unwrap_or("Unknown");
            said.facts.insert("confidence".to_owned(), Value::text(word));
        }
        None
    }

    fn contradicts(
        &self,
        verdict: &str,
        papers: &BTreeMap<String, Vec<u8>>,
        at: &Situation,
    ) -> Option<String> {
        if at.stage != stage::EVALUATING {
            return None;
        }
        let report = papers.get(&self.place_of("qa_report.md", at)?)?;
        let own = format::verdict(&String::from_utf8_lossy(report));
        match (own, verdict == "pass") {
            (Some(Verdict::Pass), true) | (Some(Verdict::Fail), false) => None,
            (None, _) => Some(
                "qa_report.md has no line `### Verdict: PASS` or `### Verdict: FAIL`".to_owned(),
            ),
            (Some(_), _) => Some(format!("it says `{verdict}`, and qa_report.md says otherwise")),
        }
    }

    fn refuses(&self, option: &str, at: &Situation) -> Option<String> {
        (at.stage == stage::SPEC_GATE && option == "proceed").then(|| self.edited_spec(at))?
    }

    fn path(&self, name: &str, at: &Situation) -> Option<String> {
        self.place_of(name, at)
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        let session = self.session();
        let own = session.papers.iter().filter(|(path, _)| !path.starts_with(INNER));
        own.map(|(path, bytes)| (path.clone(), bytes.clone())).collect()
    }

    /// What a stage names, and nothing else: who proposes sees nobody's proposal, and who evaluates nobody's reasons.
    fn papers_for(&self, at: &Situation) -> BTreeMap<String, Arc<[u8]>> {
        let mut names: Vec<&str> =
            self.sees.get(&at.stage).into_iter().flatten().map(String::as_str).collect();
        match at.stage.as_str() {
            stage::LEAD_PLAN | stage::REVISE_SPEC => names.push("spec.md"),
            it if stage::IMPLEMENT.contains(&it) => names.push("changes.md"),
            it if stage::PANELS.contains(&it)
                && at.panel.is_none_or(|(phase, _)| phase != PanelPhase::Propose) =>
            {
                // What the proposals were made with, they have made use of.
                names.clear();
            }
            _ => {}
        }
        let all = self.papers();
        let paths = names.into_iter().filter_map(|name| self.place_of(name, at));
        paths.filter_map(|path| all.get(&path).cloned().map(|bytes| (path, bytes))).collect()
    }

    fn language(&self) -> Option<String> {
        self.session().spoken.for_agents()
    }

    /// What it promises, and nothing else: a spec that was confirmed is nobody's to change, and what others are shown is
    /// no place for one's reasons.
    fn keeps(&self, path: &str, promised: &[(String, String)]) -> bool {
        promised.iter().any(|(_, own)| own == path)
    }

    fn apart(&self) -> Vec<String> {
        vec![format::HARNESS.to_owned(), self.docs().trim_end_matches('/').to_owned()]
    }

    fn untouchable(&self) -> Vec<String> {
        format::APART.map(str::to_owned).into()
    }

    fn over(&self) -> Vec<String> {
        let session = self.session();
        // Whoever came to the end has chosen what becomes of the files.
        let cut_off =
            session.ended == Some(RunOutcome::Cancelled) && session.begun && !session.cleaned;
        drop(session);
        if !cut_off {
            return Vec::new();
        }
        let cleaned = self.clean_artifacts().and_then(|said| Ok([said, self.clean_session()?]));
        match cleaned {
            Ok(said) => said.into_iter().filter(|line| !line.is_empty()).collect(),
            Err(trouble) => vec![trouble.to_string()],
        }
    }

    fn patched(&self, patching: Patching<'_>) -> Option<String> {
        let words = self.words();
        Some(match patching {
            Patching::Applied(files) => {
                words.say("taskline-patching", &[("files", &files.join(", "))])
            }
            Patching::Refused(path) => words.say("taskline-patch-refused", &[("path", path)]),
            Patching::Failed => words.say("taskline-patch-failed", &[]),
        })
    }

    fn not_kept(&self, path: &str, why: &str) -> String {
        self.words().say("taskline-not-staged", &[("file", path), ("error", why)])
    }
}

/// Whether a directory is a checkout of a repository.
fn has_git(top: &Path) -> bool {
    top.join(".git").exists()
}
