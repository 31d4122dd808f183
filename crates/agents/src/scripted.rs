//! `kind = "scripted"`: an agent that does what a file says, for demonstrations and for testing workflows.
//!
//! The file maps role, unit and attempt to edits, output, delay, cost, exit code and faults:
//!
//! ```toml
//! [[answer]]
//! role    = "worker"        # what is left out matches everything; the first entry that matches is taken
//! unit    = "greeting"
//! stage   = "implement"
//! attempt = 1
//! write   = { "hello.txt" = "hello\n" }
//! append  = { "log.txt" = "one more line\n" }
//! delete  = ["old.txt"]
//! say     = { verdict = "done", size = 3, cost_usd = 0.02, tokens = 900 }
//! print   = "some prose before it"
//! delay_ms = 50
//! exit    = 0
//! fault   = "hang"          # hang, ignore-term, flood, silent, broken-json, leave-child, crash
//! ```
//!
//! It runs as a process like any other agent: the program that reads the file is handed in, and tells it apart by its
//! environment.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::listen::{Listener, listen_at_the_end};
use crate::{Agent, Ask, Here, Missing, Program, environment};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Scripted")]
pub struct Settings {
    /// The file, from the top of the repository.
    script: String,
}

impl crate::Settings for Settings {
    fn handed(&self) -> Vec<String> {
        Vec::new()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let script = here.top.join(&self.script);
        match std::fs::metadata(&script) {
            Ok(_) => Ok(Arc::new(ScriptedAgent { player: here.windlass.to_owned(), script })),
            Err(source) => Err(Missing::File { path: script, source }),
        }
    }
}

/// The verb of Windlass that acts a script out.
pub const VERB: &str = "act";

/// An agent that does what a file says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ScriptedAgent {
    /// The program that acts it out.
    player: PathBuf,
    /// The file.
    script: PathBuf,
}

impl Agent for ScriptedAgent {
    fn program(&self, ask: &Ask<'_>) -> Program {
        Program {
            program: self.player.clone(),
            args: vec![VERB.to_owned(), self.script.display().to_string()],
            env: environment(ask),
            stdin: ask.prompt.as_bytes().to_vec(),
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        listen_at_the_end(ask)
    }
}

/// What the file holds.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// Entries, in order.
    #[serde(default)]
    pub answer: Vec<Entry>,
}

/// Who is asked about what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked<'a> {
    /// The role.
    pub role: &'a str,
    /// The unit.
    pub unit: &'a str,
    /// The part of the unit.
    pub task: &'a str,
    /// The stage.
    pub stage: &'a str,
    /// The how-manieth attempt it is.
    pub attempt: u32,
}

/// What to do, and when.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// For this role only.
    pub role: Option<String>,
    /// For this unit only.
    pub unit: Option<String>,
    /// For this part of a unit only.
    pub task: Option<String>,
    /// At this stage only.
    pub stage: Option<String>,
    /// For this attempt only.
    pub attempt: Option<u32>,
    /// Files to write, by path in the lane; `{plan}` is where the file of that name belongs.
    #[serde(default)]
    pub write: BTreeMap<String, String>,
    /// Files to add to.
    #[serde(default)]
    pub append: BTreeMap<String, String>,
    /// Files to delete.
    #[serde(default)]
    pub delete: Vec<String>,
    /// Text to print first.
    pub print: Option<String>,
    /// The JSON answer.
    pub say: Option<toml::Table>,
    /// How long to take.
    #[serde(default)]
    pub delay_ms: u64,
    /// The exit code.
    #[serde(default)]
    pub exit: u8,
    /// How to misbehave.
    pub fault: Option<Fault>,
}

/// How to misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Never end.
    Hang,
    /// Never end, and take no notice of being asked to.
    IgnoreTerm,
    /// Print a thousand megabytes.
    Flood,
    /// Print nothing.
    Silent,
    /// Print an answer that breaks off.
    BrokenJson,
    /// Leave a process behind that keeps the output open.
    LeaveChild,
    /// End by a signal.
    Crash,
}

/// Why a script cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script cannot be read: {0}")]
pub struct BadScript(String);

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn parse(text: &str) -> Result<Self, BadScript> {
        toml::from_str(text).map_err(|error| BadScript(error.to_string()))
    }

    /// What to do when that is asked.
    pub fn entry(&self, asked: &Asked<'_>) -> Option<&Entry> {
        let takes =
            |own: &Option<String>, given: &str| own.as_deref().is_none_or(|own| own == given);
        self.answer.iter().find(|entry| {
            takes(&entry.role, asked.role)
                && takes(&entry.unit, asked.unit)
                && takes(&entry.task, asked.task)
                && takes(&entry.stage, asked.stage)
                && entry.attempt.is_none_or(|own| own == asked.attempt)
        })
    }
}

impl Entry {
    /// What is printed: prose, then the answer.
    pub fn output(&self) -> String {
        let mut text = self.print.clone().unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        if let Some(say) = &self.say {
            let json = serde_json::to_string(say).unwrap_or_default();
            let shown = match self.fault {
                Some(Fault::BrokenJson) => &json[..json.len() / 2],
                _ => &json,
            };
            text.push_str(shown);
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_entry_that_matches_is_taken() {
        let text = "[[answer]]\nrole='worker'\nunit='a'\nattempt=1\nprint='first'\n\
                    [[answer]]\nrole='worker'\nprint='any'\n\
                    [[answer]]\nprint='other'";
        let script = Script::parse(text).unwrap();
        let said = |role, unit, attempt| {
            let asked = Asked { role, unit, attempt, ..Asked::default() };
            script.entry(&asked).map(Entry::output)
        };
        assert_eq!(said("worker", "a", 1).as_deref(), Some("first\n"));
        assert_eq!(said("worker", "a", 2).as_deref(), Some("any\n"));
        assert_eq!(said("worker", "b", 1).as_deref(), Some("any\n"));
        assert_eq!(said("judge", "a", 1).as_deref(), Some("other\n"));
        assert_eq!(
            Script::default().entry(&Asked {
                role: "judge",
                unit: "a",
                task: "",
                attempt: 1,
                ..Asked::default()
            }),
            None
        );
    }

    #[test]
    fn an_answer_is_printed_as_json_after_the_prose() {
        let text = "[[answer]]\nprint='well'\nsay={verdict='done',size=3}";
        let script = Script::parse(text).unwrap();
        assert_eq!(script.answer[0].output(), "well\n{\"size\":3,\"verdict\":\"done\"}\n");
    }

    #[test]
    fn a_misspelled_key_is_an_error() {
        let error = Script::parse("[[answer]]\nrol = 'x'").unwrap_err();
        assert!(error.to_string().contains("rol"), "{error}");
        assert!(Script::parse("[[answer]]\nfault = 'explode'").is_err());
    }
}
