//! The clerk of work: Plans.md, contracts, reviews, reports and fixes (seed: work; ADR 20; docs/formats.md).
//!
//! | question | file |
//! |---|---|
//! | what is known of each task? | `session.rs` |
//! | what is read? | `read.rs`; why a red test is red `red.rs` |
//! | what goes into Plans.md? | `cells.rs` |
//! | what are roles and people shown? | `show.rs` |
//! | what is told? | `tell.rs`; how it is drawn `report.rs` |
//! | what is a review worth? | `review.rs` |

mod cells;
mod read;
mod red;
pub mod report;
pub mod review;
mod session;
mod show;
pub(crate) mod stage;
mod tell;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard};

use windlass_core::run::Run;
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::clerk::{Blobs, Clerk, Said, Situation, Told, Trial};
use windlass_engine::entry::Entry;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_sources::contract::{Assertion, Contract};
use windlass_sources::failure::{PROPOSALS, Proposals};
use windlass_sources::plans::{self, Number, Plans, Status};
use windlass_sources::sprint::{self, Profile};
use windlass_sources::{Reading, SourceError};

pub use cells::Cells;
pub use read::{NOTHING, effort, items};

use review::{Review, Severity};
use session::{Fate, Session};

use crate::memory::{BYTES_MAX, Files};
use crate::projection::Projection;
use crate::{History, Office, Place, Spoken};

/// Runs that look for stale markers are work on Plans.md.
pub(crate) const OFFICE: Office = Office {
    known_by: "plans-table",
    reads: &read::READS,
    shows: &show::SHOWS,
    files: &["Plans.md"],
    open: |at| Arc::new(Work::new(at)),
};

/// Below this is what another harness keeps of its own, and we of ours in the same places.
const STATE: &str = ".claude/state";

/// The roles whose verdict follows from what they find.
const REVIEWERS: [&str; 2] = ["work-reviewer", "browser-reviewer"];

/// The clerk of work.
struct Work {
    files: Files,
    /// Where Plans.md is.
    path: String,
    targets: String,
    /// Tasks that somebody named and that have no row.
    extra: Vec<String>,
    /// What Plans.md is to be made for.
    wish: Option<String>,
    /// The project's own commands.
    checks: BTreeMap<String, String>,
    history: History,
    session: Mutex<Session>,
    cells: Mutex<Cells>,
    projection: Mutex<Projection>,
    said: Mutex<Vec<String>>,
    warned: Mutex<BTreeSet<String>>,
    spoken: Mutex<Spoken>,
}

impl Work {
    fn new(Place { top, state, run, lang, project, .. }: &Place<'_>) -> Self {
        let files = Files::of(*top);
        let text = |name: &str| match run.input_named(name) {
            Some(Value::Text(text)) => text.to_string(),
            _ => String::new(),
        };
        let said = |name: &str| Some(text(name)).filter(|text| text != NOTHING && !text.is_empty());
        let path = said("file").unwrap_or_else(|| plans::PATH.to_owned());
        let path = path.trim_start_matches("./").to_owned();
        let no_commit = run.input_named("no_commit") == Some(&Value::Flag(true));
        let mut session = Session::default();
        (session.path, session.no_commit) = (path.clone(), no_commit);
        let extra = said("extra").unwrap_or_default();
        let extra = extra.lines().map(str::trim).filter(|line| !line.is_empty());
        Work {
            targets: text("targets"),
            extra: extra.map(str::to_owned).collect(),
            wish: said("wish"),
            checks: project.map(|it| it.checks.clone()).unwrap_or_default(),
            history: project.map(|it| it.history.clone()).unwrap_or_default(),
            session: Mutex::new(session),
            cells: Mutex::new(Cells::of(files.clone(), &path, state, run.id())),
            projection: Mutex::new(Projection::into(files.clone(), state.join("projected.json"))),
            said: Mutex::default(),
            warned: Mutex::default(),
            spoken: Mutex::new(Spoken::at_first(run, *lang)),
            path,
            files,
        }
    }

    fn session(&self) -> MutexGuard<'_, Session> {
        lock(&self.session)
    }

    /// Says something that stays true until somebody sees to it: once.
    fn warns(&self, text: String) {
        if lock(&self.warned).insert(text.clone()) {
            lock(&self.said).push(text);
        }
    }

    /// Plans.md as a person has it; as its planner wrote it, where they have none.
    fn text(&self) -> Result<Option<String>, SourceError> {
        let there = lock(&self.cells).text()?.filter(|text| !text.trim().is_empty());
        Ok(there.or_else(|| self.session().paper(&self.path)))
    }

    /// Writes the files that are not as they should be.
    fn project_files(&self) {
        let mut session = self.session();
        let fresh = std::mem::take(&mut session.fresh);
        let papers: Vec<(String, String)> = fresh
            .iter()
            .filter(|path| path.starts_with(STATE))
            .filter_map(|path| Some((path.clone(), session.paper(path)?)))
            .collect();
        // One that was made because there was none.
        let made = fresh.contains(&self.path).then(|| session.paper(&self.path)).flatten();
        let reviewed = std::mem::take(&mut session.reviewed);
        let results: Vec<(String, String)> = reviewed
            .iter()
            .filter_map(|unit| {
                let result = review::result(unit, session.tales.get(unit)?)?;
                let path = format!("{STATE}/review-results/{unit}.review-result.json");
                Some((path, serde_json::to_string_pretty(&result).ok()? + "\n"))
            })
            .collect();
        drop(session);
        for (path, text) in papers.into_iter().chain(results) {
            let put = lock(&self.projection).put(&path, &text);
            self.put(&path, put);
        }
        if let Some(text) = made
            && let Err(trouble) = lock(&self.cells).make(&text)
        {
            self.warns(format!("{} cannot be written: {trouble}", self.path));
        }
        self.put_cells();
        if let Err(trouble) = self.put_proposals() {
            self.warns(format!("{PROPOSALS} cannot be written: {trouble}"));
        }
    }

    fn put(&self, path: &str, put: Result<Option<String>, Trouble>) {
        match put {
            Ok(None) => {}
            Ok(Some(aside)) => {
                self.warns(format!("{path} was somebody else's: it is kept as {aside}"));
            }
            Err(trouble) => self.warns(format!("{path} cannot be written: {trouble}")),
        }
    }

    /// Has the rows say how far their tasks are.
    fn put_cells(&self) {
        let session = self.session();
        // What was called off has nothing to say any more.
        if session.ended == Some(RunOutcome::Cancelled) {
            return;
        }
        let Some(began) = session.plans.clone() else { return };
        let marks: BTreeMap<Number, Status> = session
            .tales
            .iter()
            .filter_map(|(id, tale)| Some((Number::of(id)?, tale.mark.clone()?)))
            .collect();
        let rows = session.rows.clone();
        drop(session);
        match lock(&self.cells).put(&began, &marks, &rows) {
            Ok(said) => lock(&self.said).extend(said),
            Err(trouble) => self.warns(format!("{} cannot be written: {trouble}", self.path)),
        }
    }

    /// Has the file of proposals hold those that nobody has decided on, and leaves the rest of it alone.
    fn put_proposals(&self) -> Result<(), Trouble> {
        let session = self.session();
        let ours: Vec<_> = session.proposals.clone();
        drop(session);
        if ours.is_empty() {
            return Ok(());
        }
        let revised: Result<bool, Trouble> = self.files.revise(PROPOSALS, BYTES_MAX, |text| {
            let mut all = Proposals::read(text.unwrap_or_default());
            for (proposal, fate) in &ours {
                match fate {
                    Fate::Pending => all.add(proposal.clone()),
                    // Nobody else's of the same number.
                    Fate::Approved | Fate::Rejected => all.remove(proposal),
                    Fate::Direct => {}
                }
            }
            Ok(Some(all.write()).filter(|next| *next != text.unwrap_or_default()))
        });
        revised.map(drop)
    }
}

impl Clerk for Work {
    fn entry(&self, entry: &Entry, run: &Run, blobs: Blobs<'_>) {
        lock(&self.spoken).enter(entry);
        lock(&self.projection).follows(entry, blobs, |path, _| path.starts_with(STATE));
        self.session().enter(entry, run, blobs);
    }

    fn caught_up(&self) {
        lock(&self.said).clear();
    }

    fn language(&self) -> Option<String> {
        lock(&self.spoken).for_agents()
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

    /// Severities alone decide what a review comes to.
    fn overrules(&self, role: &str, verdict: &str, text: &str) -> Option<(String, String)> {
        if !REVIEWERS.contains(&role) {
            return None;
        }
        let review = Review::of(text, verdict);
        // Who has seen nothing finds nothing, and approves of nothing.
        if verdict == "cannot_look" && review.blocking().next().is_none() {
            return None;
        }
        // What cannot be understood is asked for again.
        if review.doubt(text, verdict).is_some() {
            return None;
        }
        let why = review.overrules(verdict)?;
        Some((review.verdict().stage_word().to_owned(), why))
    }

    /// What a reviewer's findings do not bear out is no approval.
    fn examine(&self, role: &str, verdict: &str, said: Said<'_>, _: &Situation) -> Option<String> {
        let judges = REVIEWERS.contains(&role) && verdict != "cannot_look";
        let review = judges.then(|| Review::of(said.text, verdict))?;
        let doubt = review.doubt(said.text, verdict);
        if doubt.is_none() && role == "work-reviewer" {
            for (severity, count) in Severity::ALL.into_iter().zip(review.counts()) {
                let count = Value::Number(i64::try_from(count).unwrap_or(i64::MAX));
                said.facts.insert(severity.count().to_owned(), count);
            }
        }
        doubt
    }

    fn path(&self, name: &str, _: &Situation) -> Option<String> {
        (name == plans::PATH).then(|| self.path.clone())
    }

    fn papers(&self) -> BTreeMap<String, Arc<[u8]>> {
        self.session().papers.clone()
    }

    /// Roles are shown what is theirs of it; whoever implements finds the contract where it is kept.
    fn papers_for(&self, at: &Situation) -> BTreeMap<String, Arc<[u8]>> {
        let Some((unit, _)) = &at.unit else { return BTreeMap::new() };
        let path = Number::of(unit).map(|number| sprint::path(&number));
        let session = self.session();
        let own = path.and_then(|path| Some((path.clone(), session.papers.get(&path)?.clone())));
        own.into_iter().collect()
    }

    fn keeps(&self, path: &str, promised: &[(String, String)]) -> bool {
        promised.iter().any(|(_, own)| own == path)
    }

    /// The flows of a contract that have steps.
    fn assertions(&self, at: &Situation) -> Option<Vec<Assertion>> {
        let Some((unit, _)) = &at.unit else { return Some(Vec::new()) };
        let session = self.session();
        let contract = session.tales.get(unit).and_then(|tale| tale.contract.as_ref());
        let browser = contract.filter(|it| it.review.reviewer_profile == Profile::Browser);
        let Some(contract) = browser else { return Some(Vec::new()) };
        let mut text = String::new();
        for (nth, flow) in contract.contract.browser_validation.iter().enumerate() {
            if !flow.steps.trim().is_empty() {
                let about = windlass_agents::one_line(&flow.description);
                let steps = windlass_agents::one_line(&flow.steps);
                text += &format!("- VAL-FLOW-{:03}: {about}\n  - ui: {steps}\n", nth + 1);
            }
        }
        Some(Contract::parse(&text).assertions)
    }

    fn commands(&self, check: &str, at: &Situation) -> Option<Vec<Trial>> {
        let trial = |name: &str, command: &str, strict: bool| Trial {
            name: name.to_owned(),
            command: command.to_owned(),
            strict,
        };
        let fix = at.unit.as_ref().and_then(|(unit, _)| Number::of(unit)?.mended()).is_some();
        match check {
            // A fix is there for what fails without it.
            "test" | "ci" if fix => {
                let command = self.checks.get(check)?;
                Some(vec![trial(check, command, true)])
            }
            // The whole of it: the new one is to fail, and the old ones are not.
            "new-tests" => {
                let command = self.checks.get("test");
                Some(command.map(|command| trial("test", command, false)).into_iter().collect())
            }
            "contract-runtime" => {
                let (unit, _) = at.unit.as_ref()?;
                let session = self.session();
                let contract = session.tales.get(unit).and_then(|tale| tale.contract.as_ref());
                let all = contract
                    .map(|it| it.contract.runtime_validation.as_slice())
                    .unwrap_or_default();
                let mut trials: Vec<Trial> = Vec::new();
                for (nth, it) in all.iter().enumerate() {
                    if it.command.trim().is_empty()
                        || trials.iter().any(|own| own.command == it.command)
                    {
                        continue;
                    }
                    // The project's own commands have their own names: what they come to on the base is known.
                    let own = self.checks.iter().find(|(_, command)| **command == it.command);
                    // What the definition of done names is what the task is to bring about.
                    trials.push(match own {
                        Some((name, _)) => trial(name, &it.command, fix),
                        None => trial(&format!("contract-{}", nth + 1), &it.command, true),
                    });
                }
                Some(trials)
            }
            _ => None,
        }
    }

    fn apart(&self) -> Vec<String> {
        vec![STATE.to_owned(), self.path.clone()]
    }

    fn branches(&self) -> Option<&str> {
        Some("harness")
    }

    fn over(&self) -> Vec<String> {
        self.project_files();
        std::mem::take(&mut *lock(&self.said))
    }
}

/// Plans.md, and what is not understood of it, a line each.
fn understood(plans: &Plans, path: &str) -> Vec<String> {
    plans.remarks.iter().map(|(line, what)| format!("{path}:{line}: {what}")).collect()
}
