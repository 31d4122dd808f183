//! Agents: how each kind is asked, and how its answer is read. One file for each kind.
//!
//! | question | file |
//! |---|---|
//! | which kinds are there? | the list in `kind.rs`; `acp.rs`, `api.rs`, `claude.rs`, `codex.rs`, `command.rs`, `gemini.rs`, `opencode.rs`, `scripted.rs` |
//! | what does an agent say while it works? | `listen.rs`; what that costs, and how dollars become millionths of one, `price.rs` |
//! | is its stream one that we know? | `contract.rs`; what each kind says is in its `contract.rs` |
//! | what did an agent come to? | `answer.rs`; where in its output that stands `find.rs`, `first_line.rs` |
//! | what do programs of our own say that speak for an agent? | `own.rs` |
//! | what form has an answer? | `schema.rs` |
//! | what does every kind need that starts a program? | `line.rs` |
//! | which of several models is meant? | `tier.rs` |
//! | what would an agent read from a repository besides the work? | `configuration.rs` |
//!
//! An agent is a program that is given a prompt and a lane and comes back with an answer. What it is asked is an
//! [`Ask`]; how that becomes a program to start is a [`Program`]; who understands what it prints is a [`Listener`]; what
//! came back is an [`Answer`]: a verdict of the role's own, or what else it came to, never a guess. Nothing here starts
//! anything, and no kind knows of another.

mod acp;
mod answer;
pub mod api;
mod claude;
mod codex;
mod command;
mod configuration;
mod contract;
mod find;
mod first_line;
#[cfg(test)]
mod fuzz;
mod gemini;
mod kind;
mod line;
mod listen;
mod opencode;
pub mod own;
mod price;
mod schema;
pub mod scripted;
mod tier;
#[cfg(test)]
mod transcripts;

use std::path::{Path, PathBuf};

pub use acp::Server as AcpServer;
pub use answer::{Answer, Came, Fate, Heard, left_out};
pub use configuration::{CONFIGURATION, NEVER_DIRECTORIES};
pub use contract::DRIFT;
pub use find::{each_object, gist, last_object, one_line};
pub use kind::{Flaw, Here, Kind, Missing, Settings};
pub use listen::{Event, Lines, Listener, ModelUse, Source};
pub use price::micros;
pub use schema::{LONG, MEMORY, PROMOTE, SUMMARY, schema};
use serde::{Deserialize, Serialize};
pub use tier::{Post, Tier};
use windlass_core::lang::Reporter;

use crate::line::ByTier;

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
    /// The crew says which: an agent that has no model for the tier takes its own word for it.
    pub by_preset: bool,
    /// The very model, if the crew names one.
    pub model: Option<&'a str>,
    /// How hard to think, if the crew says.
    pub effort: Option<&'a str>,
    /// And no less hard than this, if the stage says.
    pub effort_min: Option<&'a str>,
    /// The unit it is for, if any.
    pub unit: Option<&'a str>,
    /// The part of the unit it is for, if any.
    pub task: Option<&'a str>,
    /// The stage of the workflow that it is asked at.
    pub stage: &'a str,
    /// What it promises to write, by name and path.
    pub writes: &'a [(String, String)],
    /// The how-manieth attempt at this stage it is, from 1.
    pub attempt: u32,
    /// The run.
    pub run: &'a str,
    /// The prompt.
    pub prompt: &'a str,
    /// So many bytes of it, from its beginning, are the same in every invocation of the role.
    pub stable_bytes: usize,
    /// Where it works.
    pub lane: &'a Path,
    /// Where its home is, as it sees it: nobody has been there before.
    pub home: &'a Path,
    /// A name for its session that no other has, in the form of a UUID.
    pub session: &'a str,
    /// The session that it is to go on with, by its own name, if there is one.
    pub resumes: Option<&'a str>,
    /// It was not cut off there: it had come to its answer, and is told something further.
    pub further: bool,
    /// What earlier invocations of the session have used up: an agent may count on from there.
    pub before: windlass_core::run::Usage,
    /// What it may use up before it is stopped.
    pub spend: Spend,
}

/// What an agent may use up before it is stopped. It may have one request under way then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spend {
    /// Millionths of a dollar.
    pub cost_micros: Option<u64>,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
    /// Turns of its own.
    pub turns: Option<u32>,
}

/// How hard agents can be told to think, the least first.
const EFFORTS: [&str; 7] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

impl Ask<'_> {
    /// The model to use, of those that an agent has by tier.
    fn model<'m>(&'m self, models: &'m ByTier) -> Option<&'m str> {
        self.model.or_else(|| models.of(self.tier))
    }

    /// How hard to think, by what a person says.
    fn effort_said<'m>(&'m self, effort: &'m ByTier) -> Option<&'m str> {
        self.effort.or_else(|| effort.of(self.tier))
    }

    /// How hard to think: as a person says, and no less than the stage wants. A word that has no place among the others is the
    /// person's, and stands.
    fn effort<'m>(&'m self, effort: &'m ByTier) -> Option<&'m str> {
        let place = |word: &str| EFFORTS.iter().position(|own| *own == word);
        match (self.effort_said(effort), self.effort_min) {
            (Some(said), Some(min)) => match (place(said), place(min)) {
                (Some(own), Some(wanted)) if own < wanted => Some(min),
                _ => Some(said),
            },
            (said, min) => said.or(min),
        }
    }

    /// The same of an agent whose model may know nothing of it: only if a person says that it does.
    fn effort_if_said<'m>(&'m self, effort: &'m ByTier) -> Option<&'m str> {
        self.effort_said(effort).and_then(|_| self.effort(effort))
    }

    /// The part of the prompt that is the same in every invocation of the role.
    fn stable(&self) -> &str {
        self.prompt.get(..self.stable_bytes).unwrap_or_default()
    }

    /// The rest of it.
    fn rest(&self) -> &str {
        self.prompt.get(self.stable_bytes..).unwrap_or(self.prompt)
    }
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
            by_preset: false,
            model: None,
            effort: None,
            effort_min: None,
            unit: None,
            task: None,
            stage: "build",
            writes: &[],
            attempt: 1,
            run: "r",
            prompt: "",
            stable_bytes: 0,
            lane: Path::new("/"),
            home: Path::new("/home"),
            session: "00000000-0000-4000-8000-000000000000",
            resumes: None,
            further: false,
            before: windlass_core::run::Usage::NONE,
            spend: Spend::default(),
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
    /// Files that are in its home when it starts, by path from there.
    pub files: Vec<(PathBuf, Vec<u8>)>,
}

/// The record that an agent keeps of its session: files of lines, below a directory of its home.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The directory, from the home.
    pub below: &'static Path,
    /// Its listener wants to know what is written there while it works.
    pub live: bool,
}

/// The files of a record, in the order in which they were begun. Who fills the place with others is not looked at for ever.
pub fn record_files(below: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(below.to_owned(), 0)];
    let mut left = RECORD_ENTRIES;
    while let Some((dir, depth)) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            left -= 1;
            if left == 0 {
                files.sort();
                return files;
            }
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && depth < RECORD_DEPTH => open.push((path, depth + 1)),
                Ok(kind) if kind.is_file() && path.extension().is_some_and(|it| it == "jsonl") => {
                    files.push(path);
                }
                _ => {}
            }
        }
    }
    files.sort();
    files
}

/// Records are not deeper than this.
const RECORD_DEPTH: u32 = 6;
/// And have no more in them than this.
const RECORD_ENTRIES: usize = 2_000;

/// A kind of agent.
pub trait Agent: Send + Sync {
    /// What to start for this.
    fn program(&self, ask: &Ask<'_>) -> Program;

    /// Who understands what it prints. A program whose output is not for others to read (a stream of events, say) has its
    /// text picked out there, for [`Answer::of_text`]; nobody else has to know. All that it printed stays on record, and
    /// `windlass log --full` shows both.
    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener>;

    /// The record that it keeps of its session, if it keeps one.
    fn record(&self) -> Option<Record> {
        None
    }

    /// The session in a home that was left behind, by the agent's own name, if it can be gone on with. `session` is what
    /// the agent was asked to call it, `steps` is how far it has come, by [`Event::Step`]: an agent that does not remember
    /// all of them would take some of them again.
    fn session(&self, home: &Path, session: &str, steps: &[String]) -> Option<String> {
        let _ = (home, session, steps);
        None
    }
}

/// What every agent finds in its environment.
fn environment(ask: &Ask<'_>) -> Vec<(String, String)> {
    let pairs = [
        ("WINDLASS_ROLE", ask.role.to_owned()),
        ("WINDLASS_UNIT", ask.unit.unwrap_or_default().to_owned()),
        ("WINDLASS_TASK", ask.task.unwrap_or_default().to_owned()),
        ("WINDLASS_STAGE", ask.stage.to_owned()),
        ("WINDLASS_ATTEMPT", ask.attempt.to_string()),
        ("WINDLASS_RUN", ask.run.to_owned()),
        ("WINDLASS_SCHEMA", schema(ask.reporter).to_string()),
        ("WINDLASS_TOOLS", ask.tools.join(",")),
        ("WINDLASS_TIER", ask.tier.name().to_owned()),
        ("WINDLASS_EFFORT", ask.effort(&ByTier::default()).unwrap_or_default().to_owned()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_may_want_more_effort_and_never_less() {
        let reporter = Reporter::default();
        let by_tier: ByTier = toml::from_str("standard = 'low'").unwrap();
        let nothing = ByTier::default();
        for (own, said, min, want, if_said) in [
            (&nothing, None, None, None, None),
            (&nothing, None, Some("high"), Some("high"), None),
            (&nothing, Some("medium"), Some("high"), Some("high"), Some("high")),
            (&nothing, Some("max"), Some("high"), Some("max"), Some("max")),
            (&nothing, Some("their own"), Some("high"), Some("their own"), Some("their own")),
            (&by_tier, None, Some("medium"), Some("medium"), Some("medium")),
            (&by_tier, None, None, Some("low"), Some("low")),
            (&by_tier, Some("high"), Some("medium"), Some("high"), Some("high")),
        ] {
            let ask = Ask { effort: said, effort_min: min, ..Ask::example(&reporter) };
            assert_eq!(ask.effort(own), want, "{said:?}, {min:?}");
            assert_eq!(ask.effort_if_said(own), if_said, "{said:?}, {min:?}");
        }
    }

    #[test]
    fn the_files_of_a_record_are_found_and_not_without_end() {
        let dir = tempfile::tempdir().unwrap();
        let day = dir.path().join("2026/01/31");
        std::fs::create_dir_all(&day).unwrap();
        for name in ["b.jsonl", "a.jsonl", "other.txt"] {
            std::fs::write(day.join(name), "").unwrap();
        }
        assert_eq!(record_files(dir.path()), [day.join("a.jsonl"), day.join("b.jsonl")]);
        assert_eq!(record_files(&dir.path().join("not there")), Vec::<PathBuf>::new());
        for at in 0..3_000 {
            std::fs::write(day.join(format!("{at}.jsonl")), "").unwrap();
        }
        assert!(record_files(dir.path()).len() < RECORD_ENTRIES);
    }
}
