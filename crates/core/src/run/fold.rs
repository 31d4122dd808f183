//! Folding a journal into a run: starting and resuming are the same.

use std::sync::Arc;

use super::{
    event::{Event, Recorded},
    state::Run,
};
use crate::{
    lang::{self, Catalogue},
    workflow::{Source, Workflow},
};

/// Why a journal cannot be folded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// There is nothing in it.
    #[error("the journal is empty")]
    Empty,
    /// It does not begin at the beginning.
    #[error("the journal's first event is not the start of a run")]
    NoStart,
    /// An event is missing or there twice.
    #[error("the journal jumps from event {expected} to {found}")]
    Gap {
        /// What should have come.
        expected: u64,
        /// What came.
        found: u64,
    },
    /// The definition that it carries is not sound.
    #[error("the workflow definition kept in the journal cannot be loaded: {0}")]
    Definition(String),
}

/// The run that a journal folds to. The definition is the one kept in its first event.
///
/// # Errors
///
/// When the journal has no proper beginning, has gaps, or carries an unsound definition.
pub fn fold(journal: &[Recorded]) -> Result<Run, Broken> {
    let first = journal.first().ok_or(Broken::Empty)?;
    let Event::Started(started) = &first.event else { return Err(Broken::NoStart) };
    fold_with(definition(&started.source)?, journal)
}

/// The workflow that a text makes.
pub(super) fn definition(source: &Source) -> Result<Arc<Workflow>, Broken> {
    let unsound = |problems: Vec<lang::Diagnostic>| {
        let messages: Vec<&str> = problems.iter().map(|p| p.message.as_str()).collect();
        Broken::Definition(messages.join("; "))
    };
    let catalogue = Catalogue::parse(&source.catalogue).map_err(unsound)?;
    lang::load(&source.text, &catalogue).map(Arc::new).map_err(unsound)
}

/// As [`fold`], with the journal's own definition already loaded.
///
/// # Errors
///
/// As [`fold`].
pub fn fold_with(flow: Arc<Workflow>, journal: &[Recorded]) -> Result<Run, Broken> {
    let first = journal.first().ok_or(Broken::Empty)?;
    let Event::Started(started) = &first.event else { return Err(Broken::NoStart) };
    let mut run = Run::begin(flow, started);
    for recorded in journal {
        if recorded.seq != run.seq {
            return Err(Broken::Gap { expected: run.seq, found: recorded.seq });
        }
        run.evolve(recorded);
    }
    Ok(run)
}
