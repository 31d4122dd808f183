//! Runs that a journal knows.

use windlass_core::run::{Phase, Run};
use windlass_engine::Engine;
use windlass_engine::books::Books;
use windlass_journal::{Journal, RunId};

use crate::error::Error;
use crate::suggest;

/// A run as its journal has it.
pub struct Known {
    pub id: RunId,
    pub run: Run,
    pub books: Books,
}

impl Known {
    /// Whether it is over, and its files were not written or its lanes not freed: it was cut off, or cancelled from outside.
    pub fn is_untidy(&self) -> bool {
        self.run.phase() == Phase::Ended && !self.books.is_tidy()
    }
}

/// The run of this name; without a name the only one that is not over.
pub fn open(journal: &Journal, name: Option<&str>) -> Result<Known, Error> {
    let runs = journal.runs()?;
    if let Some(name) = name {
        let found = runs.iter().find(|run| run.id.as_str() == name);
        let found = found.ok_or_else(|| {
            let nearest = suggest::nearest(name, runs.iter().map(|run| run.id.as_str()));
            Error::NoRun { name: name.to_owned(), nearest: nearest.map(str::to_owned) }
        })?;
        return load(journal, &found.id);
    }
    let mut open = Vec::new();
    let Runs { readable, mut unreadable } = all(journal)?;
    open.extend(readable.into_iter().filter(|known| known.run.phase() != Phase::Ended));
    if open.is_empty()
        && let Some((_, error)) = unreadable.pop()
    {
        return Err(error);
    }
    match open.len() {
        0 => Err(Error::NothingOpen),
        1 => open.pop().ok_or(Error::NothingOpen),
        _ => {
            Err(Error::SeveralOpen(open.iter().map(|known| known.id.as_str().to_owned()).collect()))
        }
    }
}

/// The run of this name; without a name the only one that is not over, or else the newest, if it is not tidied up.
pub fn resumable(journal: &Journal, name: Option<&str>) -> Result<Known, Error> {
    match open(journal, name) {
        Err(Error::NothingOpen) => {
            let newest = all(journal)?.readable.pop();
            newest.filter(Known::is_untidy).ok_or(Error::NothingOpen)
        }
        other => other,
    }
}

/// The run of this name; without a name the newest.
pub fn named_or_newest(journal: &Journal, name: Option<&str>) -> Result<Known, Error> {
    match name {
        Some(name) => open(journal, Some(name)),
        None => load(journal, &journal.runs()?.last().ok_or(Error::NothingOpen)?.id),
    }
}

/// All runs of a journal, the newest last.
#[derive(Default)]
pub struct Runs {
    pub readable: Vec<Known>,
    /// What is wrong with the others.
    pub unreadable: Vec<(RunId, Error)>,
}

/// Every run.
pub fn all(journal: &Journal) -> Result<Runs, Error> {
    let mut runs = Runs::default();
    for run in journal.runs()? {
        match load(journal, &run.id) {
            Ok(known) => runs.readable.push(known),
            Err(error) => runs.unreadable.push((run.id, error)),
        }
    }
    Ok(runs)
}

fn load(journal: &Journal, id: &RunId) -> Result<Known, Error> {
    let engine = Engine::resume(journal, id.clone())?;
    Ok(Known { id: id.clone(), run: engine.run().clone(), books: engine.books().clone() })
}
