//! Agents: how each kind is asked, and how its answer is read. One file for each kind.
//!
//! | question | file |
//! |---|---|
//! | which kinds are there? | the list in `kind.rs`; `command.rs`, `scripted.rs` |
//! | what did an agent come to? | `answer.rs`; where in its output that stands `find.rs`, `first_line.rs` |
//! | what form has an answer? | `schema.rs` |
//! | what does every kind need that starts a program? | `line.rs` |
//! | which of several models is meant? | `tier.rs` |
//! | what would an agent read from a repository besides the work? | `configuration.rs` |
//!
//! An agent is a program that is given a prompt and a lane and comes back with an answer. What it is asked is an
//! [`Ask`]; how that becomes a program to start is a [`Program`]; what came back is an [`Answer`]: a verdict of the
//! role's own, or a mishap, never a guess. Nothing here starts anything, and no kind knows of another.

mod answer;
mod command;
mod configuration;
mod find;
mod first_line;
mod kind;
mod line;
mod schema;
pub mod scripted;
mod tier;

use std::path::{Path, PathBuf};

pub use answer::{Answer, Came, Fate, Heard, left_out};
pub use configuration::CONFIGURATION;
pub use find::{gist, last_object, one_line};
pub use kind::{Flaw, Here, Kind, Missing, Settings};
pub use schema::schema;
pub use tier::Tier;
use windlass_core::lang::Reporter;

/// What an agent is asked.
#[derive(Clone, Copy, Debug)]
pub struct Ask<'a> {
    /// The role.
    pub role: &'a str,
    /// What the role may answer.
    pub reporter: &'a Reporter,
    /// What it may use; everything, if that is not said.
    pub tools: &'a [String],
    /// Which of several models suits it.
    pub tier: Tier,
    /// The unit it is for, if any.
    pub unit: Option<&'a str>,
    /// The part of the unit it is for, if any.
    pub task: Option<&'a str>,
    /// What it promises to write, by name and path.
    pub writes: &'a [(String, String)],
    /// The how-manieth attempt at this stage it is, from 1.
    pub attempt: u32,
    /// The run.
    pub run: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// Where it works.
    pub lane: &'a Path,
}

#[cfg(test)]
impl<'a> Ask<'a> {
    /// What a test asks.
    pub(crate) fn example(reporter: &'a Reporter) -> Self {
        Ask {
            role: "worker",
            reporter,
            tools: &[],
            tier: Tier::Standard,
            unit: None,
            task: None,
            writes: &[],
            attempt: 1,
            run: "r",
            prompt: "",
            lane: Path::new("/"),
        }
    }
}

/// A program to start: words, never a shell's line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// What to start.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// What its environment has besides the usual.
    pub env: Vec<(String, String)>,
    /// What it gets of Windlass's own environment besides, secret or not. That is what [`Settings::handed`] says, whatever
    /// a kind puts here: nothing is handed on that the mask does not know of.
    pub pass: Vec<String>,
    /// What it reads on its standard input.
    pub stdin: Vec<u8>,
}

/// A kind of agent.
pub trait Agent: Send + Sync {
    /// What to start for this.
    fn program(&self, ask: &Ask<'_>) -> Program;

    /// What came back. A program whose output is not for others to read (a stream of events, say) has its text picked
    /// out here, for [`Answer::of_text`]; nobody else has to know. All that it printed stays on record, and
    /// `windlass log --full` shows both.
    fn answer(&self, ask: &Ask<'_>, output: &Heard<'_>) -> Answer;
}

/// What every agent finds in its environment.
fn environment(ask: &Ask<'_>) -> Vec<(String, String)> {
    let pairs = [
        ("WINDLASS_ROLE", ask.role.to_owned()),
        ("WINDLASS_UNIT", ask.unit.unwrap_or_default().to_owned()),
        ("WINDLASS_TASK", ask.task.unwrap_or_default().to_owned()),
        ("WINDLASS_ATTEMPT", ask.attempt.to_string()),
        ("WINDLASS_RUN", ask.run.to_owned()),
        ("WINDLASS_SCHEMA", schema(ask.reporter).to_string()),
        ("WINDLASS_TOOLS", ask.tools.join(",")),
        ("WINDLASS_TIER", ask.tier.name().to_owned()),
    ];
    let files = ask.writes.iter().map(|(name, path)| (file_variable(name), path.clone()));
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(files).collect()
}

/// The variable that says where the file of a name is to be written: `handoff.json` is `WINDLASS_FILE_HANDOFF_JSON`.
pub fn file_variable(name: &str) -> String {
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() { letter.to_ascii_uppercase() } else { '_' }
    };
    format!("WINDLASS_FILE_{}", name.chars().map(plain).collect::<String>())
}
