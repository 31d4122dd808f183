//! What roles and people are shown of a task.

use std::fmt::Write as _;

use windlass_engine::clerk::Situation;
use windlass_sources::sprint::{BrowserMode, Route, SprintContract};

use super::Work;
use super::session::{Session, Tale};
use crate::finding;

/// What it can show.
pub const SHOWS: [&str; 10] = [
    "task",
    "contract",
    "background",
    "answers",
    "red",
    "findings",
    "wish",
    "drift-report",
    "unseen",
    "fix-proposal",
];

/// So much of what a failing test has printed is shown.
const RED_BYTES: usize = 8 * 1024;

impl Work {
    pub(super) fn shown(&self, name: &str, at: &Situation) -> Option<String> {
        if name == "wish" {
            return self.wish.clone();
        }
        let session = self.session();
        if name == "drift-report" {
            return session.drift.clone();
        }
        let (unit, title) = at.unit.as_ref()?;
        let tale = session.tales.get(unit);
        let text = match (name, tale) {
            ("task", _) => task(&session, unit, title),
            ("fix-proposal", _) => fix(&session, unit)?,
            ("contract", Some(tale)) => contract(tale.contract.as_ref()?),
            ("background", Some(tale)) => {
                let question = tale.question.as_ref();
                background(tale)
                    + &question.map(|it| format!("Question: {it}\n")).unwrap_or_default()
            }
            ("unseen", Some(tale)) => unseen(tale, self.checks.contains_key("serve")),
            ("answers", Some(tale)) => tale.answers.join("\n"),
            ("red", Some(tale)) => red(tale)?,
            ("findings", Some(tale)) => findings(tale),
            _ => return None,
        };
        Some(text).filter(|text| !text.is_empty())
    }
}

/// What a task is: its row, as it was when it was selected.
fn task(session: &Session, unit: &str, title: &str) -> String {
    let tale = session.tales.get(unit);
    let content = tale.map_or(title, |tale| tale.content.as_str());
    let dod = tale.map_or("", |tale| tale.dod.as_str());
    let mut text = format!("Task {unit}: {content}\n");
    if !dod.is_empty() {
        let _ = writeln!(text, "Done when (DoD): {dod}");
    }
    if let Some(row) = session.row(unit) {
        if let Some(section) = &row.section {
            let _ = writeln!(text, "It is one of: {section}");
        }
        let depends = row.depends.numbers();
        if !depends.is_empty() {
            let _ = writeln!(text, "It depends on: {}", depends.join(", "));
        }
    }
    if let Some(fix) = session.proposals.iter().map(|(it, _)| it).find(|it| it.fix_task_id == unit)
    {
        let _ = writeln!(text, "It mends what failed after task {}:", fix.source_task_id);
        if let Some(printed) =
            session.tales.get(&fix.source_task_id).and_then(|it| it.failed_after.as_ref())
        {
            let _ = writeln!(text, "\n{}", end(printed));
        }
    }
    text
}

fn contract(contract: &SprintContract) -> String {
    let terms = &contract.contract;
    let mut text = String::from("Verified:\n");
    for check in &terms.checks {
        let _ = writeln!(text, "- {}: {}", check.id, check.description);
    }
    for it in &terms.runtime_validation {
        let _ = writeln!(text, "- `{}`, run by Windlass", it.command);
    }
    for flow in &terms.browser_validation {
        let steps = match flow.steps.is_empty() {
            true => String::new(),
            false => format!(" ({}; taken by Windlass in a browser)", flow.steps),
        };
        let _ = writeln!(text, "- in a browser: {}{steps}", flow.description);
    }
    if !terms.non_goals.is_empty() {
        text.push_str("\nOut of scope:\n");
        for it in &terms.non_goals {
            let _ = writeln!(text, "- {it}");
        }
    }
    if !terms.risk_flags.is_empty() {
        let _ = writeln!(text, "\nRisks: {}", terms.risk_flags.join(", "));
    }
    let review = &contract.review;
    let _ = write!(text, "\nReview: {}", review.reviewer_profile.word());
    for word in [review.browser_mode.map(BrowserMode::word), review.route.map(Route::word)] {
        text.push_str(&word.map(|word| format!(", {word}")).unwrap_or_default());
    }
    text.push('\n');
    text
}

/// What a task is for, and what it touches, a line each.
pub(super) fn background(tale: &Tale) -> String {
    let mut text = String::new();
    for (word, said) in [("Purpose", &tale.purpose), ("Impact", &tale.impact)] {
        if let Some(said) = said {
            let _ = writeln!(text, "{word}: {said}");
        }
    }
    text
}

/// What the red test has shown, or was sent back for.
fn red(tale: &Tale) -> Option<String> {
    let (_, printed) = tale.red.as_ref()?;
    let flaw = tale.red_flaw.as_ref().map(|flaw| format!("It was sent back: {flaw}.\n\n"));
    Some(format!(
        "{}What the tests print on a clean checkout, before the implementation:\n\n{}",
        flaw.unwrap_or_default(),
        end(printed)
    ))
}

/// What the reviews want mended, and what else they say.
fn findings(tale: &Tale) -> String {
    let mut text = String::new();
    let reviews = tale.review.iter().chain(&tale.browser).map(|(review, _)| review);
    for finding in reviews.clone().flat_map(|review| review.blocking()) {
        let _ = writeln!(text, "- {}", finding::text(finding));
    }
    text
}

/// What nobody could look at in a browser, and what it takes to.
fn unseen(tale: &Tale, serves: bool) -> String {
    let mut text = String::new();
    let contract = tale.contract.as_ref();
    for flow in contract.iter().flat_map(|it| &it.contract.browser_validation) {
        let _ = writeln!(text, "- {}", flow.description);
    }
    if let Some(said) = &tale.unseen {
        let _ = writeln!(text, "\nWhy not: {said}");
    }
    text.push_str("\nA browser is there if `chromium` or `google-chrome` is on the PATH: `windlass doctor` says so.");
    if !serves {
        text.push_str(" Nothing says how the app is started: `[checks] serve` in windlass.toml.");
    }
    text
}

/// The task that would mend what fails.
fn fix(session: &Session, unit: &str) -> Option<String> {
    let fix = session.proposal(unit)?;
    Some(format!(
        "| {} | {} | {} | {} | cc:TODO |\n\n`windlass fix approve {}` adds it, `windlass fix reject {}` does not.",
        fix.fix_task_id, fix.content, fix.dod, fix.depends, fix.fix_task_id, fix.fix_task_id
    ))
}

/// The end of a text, where what matters of an output is.
pub(super) fn end(text: &str) -> String {
    if text.len() <= RED_BYTES {
        return text.to_owned();
    }
    let from = text.ceil_char_boundary(text.len() - RED_BYTES);
    format!("[… {from} bytes before]\n{}", &text[from..])
}
