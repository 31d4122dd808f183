//! What is held: nothing of it goes on by itself, and nobody is asked. A person finds it where they look for what they have to
//! decide, with what was said last and what they may do.

use std::fmt::Write as _;

use windlass_core::run::{Run, Why};
use windlass_engine::date::instant;
use windlass_engine::entry::Answered;

use super::session::{Session, beginning};
use super::stage;
use super::tell::NAMED;

/// What waits for a person who is asked nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// The feature, if it is about one.
    pub unit: Option<String>,
    /// Where it stands.
    pub stage: String,
    /// Why.
    pub why: Why,
}

/// What somebody said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastWord {
    /// Who.
    pub role: String,
    /// What it came to.
    pub came: String,
    /// In short.
    pub gist: String,
    /// What a person should know about it.
    pub remarks: Vec<String>,
}

impl Held {
    /// What is held, unless a person or the plan has it rest.
    pub fn of(unit: Option<&str>, why: Why, run: &Run) -> Option<Held> {
        if matches!(why, Why::Person | Why::Rest) {
            return None;
        }
        let stage = unit.and_then(|unit| run.unit_named(unit)?.stage);
        let stage =
            stage.map_or_else(String::new, |stage| run.workflow().stage(stage).name.clone());
        Some(Held { unit: unit.map(str::to_owned), stage, why })
    }
}

impl LastWord {
    /// What somebody answered.
    pub fn of(answered: &Answered, gist: &str) -> LastWord {
        LastWord {
            role: answered.asked.role.clone(),
            came: answered.came.clone(),
            gist: beginning(gist),
            remarks: answered.remarks.clone(),
        }
    }
}

/// How the file begins while something is held.
pub const BEGINS: &str = "# A person is needed";

/// What waits for a person who is asked nothing: where it stands, what was said of it last, and what they may do. Nothing if
/// nothing does.
pub fn told(session: &Session) -> Option<String> {
    let mut text = format!("{BEGINS}\n\nAt {}.\n", instant(session.now_ms));
    if session.held.is_empty() {
        return None;
    }
    for Held { unit, stage, why } in session.held.iter().take(NAMED) {
        let feature = unit.as_deref().and_then(|unit| session.feature(unit));
        let _ = match (unit, feature) {
            (Some(id), Some(feature)) => write!(text, "\n## {id}: {}\n\n", feature.line()),
            (Some(id), None) => write!(text, "\n## {id}\n\n"),
            (None, _) => write!(text, "\n## The mission itself\n\n"),
        };
        let at = if stage.is_empty() { String::new() } else { format!("At `{stage}`: ") };
        let _ = writeln!(text, "{at}{}.", because(*why));
        if let Some(last) = session.last.get(unit) {
            let said = if last.gist.is_empty() { "nothing" } else { &last.gist };
            let _ =
                writeln!(text, "\n{} came to `{}` last, and said: {said}", last.role, last.came);
            for remark in &last.remarks {
                let _ = writeln!(text, "- {}", remark.replace('\n', "\n  "));
            }
        }
        let Some(id) = unit else { continue };
        let stage = if stage.is_empty() { stage::WORKER } else { stage };
        let _ = write!(
            text,
            "\n- `windlass redo {stage} --unit {id}` starts that stage over\n\
             - `windlass skip {id} --reason '…'` does without the feature\n"
        );
    }
    text.push_str(
        "\n## What next\n\nOnce you have decided, `windlass resume` goes on. `windlass gates` shows questions that are open besides, \
         `windlass answer` answers them, and `windlass log --full` has everything that was said.\n",
    );
    Some(text)
}

fn because(why: Why) -> &'static str {
    match why {
        Why::Person => "a person has stopped it",
        Why::Rest => "it rests, as was planned",
        Why::Trouble => "what came of it leads nowhere, however often it was tried",
        Why::Broke => "what it may cost is spent",
        Why::Unproved(_) => "it was to land, and what has to be proved before is not there",
        Why::LandedAlready => "it has landed already",
    }
}
