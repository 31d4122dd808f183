//! Sources: where work comes from. One file for each kind.
//!
//! A reader looks at a source and comes to one of its verdicts, with facts and lists, as the catalogue says. It changes
//! nothing.

pub mod autopilot;
pub mod handoff;
mod markdown;
pub mod plan;
pub mod roadmap;
pub mod spec;
pub mod tasks;

pub use markdown::slug;

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass_core::{run::Item, value::Value};

/// Looks at a source.
pub trait Reader: Send + Sync {
    /// Looks; `with` is what the stage passes along.
    ///
    /// # Errors
    ///
    /// When the source is there but cannot be understood.
    fn read(&self, with: &BTreeMap<String, Value>) -> Result<Reading, SourceError>;
}

/// What a reader came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The verdict.
    pub verdict: String,
    /// Facts by name.
    pub facts: BTreeMap<String, Value>,
    /// Lists by name.
    pub lists: BTreeMap<String, Vec<Item>>,
    /// What was read, by path: it is kept as it was.
    pub papers: BTreeMap<String, Vec<u8>>,
    /// What a person should know.
    pub remarks: Vec<String>,
}

/// Why a source cannot be understood.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// It cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// Where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// It can be read and is not what it should be.
    #[error("{}: {what}", path.display())]
    Bad {
        /// Where.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}
