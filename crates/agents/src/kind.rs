//! The kinds of agents that there are: what `windlass.toml` says of each, and how that becomes an agent.
//!
//! A kind is one file with a [`Settings`] of its own, and one line in the list at the end of this file. Nothing outside
//! of this crate names a kind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::Agent;

/// What `[agents.NAME]` says of an agent of one kind.
pub trait Settings {
    /// What is wrong with it, as far as that can be seen from the file alone.
    fn flaw(&self) -> Option<Flaw> {
        None
    }

    /// Whether nothing that it does costs anything.
    fn is_free(&self) -> bool {
        false
    }

    /// Variables that it gets from Windlass's own environment, such as its key. What they hold is never written down.
    /// What [`Program::pass`](crate::Program::pass) names has to be among them, so every kind says.
    fn handed(&self) -> &[String];

    /// The agent.
    ///
    /// # Errors
    ///
    /// When something that it needs is not there.
    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing>;
}

/// Where an agent is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Here<'a> {
    /// The top of the repository.
    pub top: &'a Path,
    /// Windlass itself: it acts scripts out.
    pub windlass: &'a Path,
    /// Finds a program by its name, as a shell would.
    pub which: fn(&str) -> Option<PathBuf>,
}

/// What is wrong with the settings of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flaw {
    /// What, as it goes on after "the agent `NAME` ".
    pub what: String,
    /// The word that stands where it is wrong; the agent's own name, if none does.
    pub at: Option<String>,
    /// What would be right.
    pub help: Option<String>,
}

/// What an agent needs and has not got.
#[derive(Debug, thiserror::Error)]
pub enum Missing {
    /// Its program is not installed.
    #[error("`{program}` is not installed")]
    Program {
        /// What was looked for.
        program: String,
    },
    /// A file of its own cannot be read.
    #[error("cannot read {}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// Makes a type of all kinds out of the list of them.
macro_rules! kinds {
    ($($(#[doc = $about:literal])+ $kind:ident = $file:ident,)+) => {
        /// What `[agents.NAME]` says of an agent: its `kind`, and what that kind wants to know.
        #[derive(Clone, Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
        #[serde(tag = "kind", rename_all = "kebab-case")]
        #[schemars(rename = "Agent")]
        pub enum Kind {
            $($(#[doc = $about])+ $kind(crate::$file::Settings),)+
        }

        impl std::ops::Deref for Kind {
            type Target = dyn Settings;

            fn deref(&self) -> &Self::Target {
                match self {
                    $(Kind::$kind(settings) => settings,)+
                }
            }
        }
    };
}

kinds! {
    /// A program that reads a prompt and prints a verdict.
    Command = command,
    /// What a file says.
    Scripted = scripted,
}
