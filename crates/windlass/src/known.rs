//! Runs that a journal knows.

use windlass_core::run::{Phase, Run};
use windlass_engine::Engine;
use windlass_engine::books::Books;
use windlass_journal::{Journal, RunId};

use crate::error::Error;
use crate::meta::Meta;
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
            Error::no_run(name, nearest)
        })?;
        return load(journal, &found.id);
    }
    the_open_one(journal)?.ok_or_else(Error::nothing_open)
}

/// The only run that is not over, if there is one.
fn the_open_one(journal: &Journal) -> Result<Option<Known>, Error> {
    let Runs { readable, mut unreadable } = all(journal)?;
    let open = readable.into_iter().filter(|known| known.run.phase() != Phase::Ended);
    let mut open: Vec<Known> = open.collect();
    if open.is_empty()
        && let Some((_, error)) = unreadable.pop()
    {
        return Err(error);
    }
    if open.len() > 1 {
        let names: Vec<String> = open.iter().map(|known| known.id.to_string()).collect();
        return Err(Error::several_open(&names));
    }
    Ok(open.pop())
}

/// The run of this name; without a name the only one that is not over, or else the newest, if it is not tidied up.
pub fn resumable(journal: &Journal, name: Option<&str>) -> Result<Known, Error> {
    if name.is_some() {
        return open(journal, name);
    }
    if let Some(open) = the_open_one(journal)? {
        return Ok(open);
    }
    match all(journal)?.readable.pop() {
        Some(newest) if newest.is_untidy() => Ok(newest),
        Some(newest) => Err(match Meta::of(journal, &newest.id)?.workflow.as_str() {
            // Whoever has stopped a loop has not done with its queue.
            "issues" => Error::over(newest.id.as_str(), "issues").but("no run is open here"),
            _ => Error::nothing_open(),
        }),
        None => Err(Error::nothing_open()),
    }
}

/// The run of this name; without a name the newest.
pub fn named_or_newest(journal: &Journal, name: Option<&str>) -> Result<Known, Error> {
    match name {
        Some(name) => open(journal, Some(name)),
        None => load(journal, &journal.runs()?.last().ok_or_else(Error::never_run)?.id),
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
