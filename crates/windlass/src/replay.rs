//! A run's journal, gone through from its beginning; and how its clerk learns what happened before it came.

use std::path::Path;
use std::sync::Arc;

use windlass_clerks::issues::Tracked;
use windlass_clerks::{Place, Project, clerk};
use windlass_core::run::{Run, fold};
use windlass_engine::EngineError;
use windlass_engine::clerk::Clerk;
use windlass_engine::entry::Entry;
use windlass_journal::{Journal, RunId};

use crate::error::Error;
use crate::meta::Meta;
use crate::spoken;

/// Tells a clerk everything that a run's journal holds. One that keeps nothing need only know what people answered, and
/// resuming is quicker.
pub fn feed(clerk: &dyn Clerk, journal: &Journal, id: &RunId, run: &Run) -> Result<(), Error> {
    let blobs = |digest: &str| journal.get(digest.parse().ok()?).ok();
    if clerk.apart().is_empty() {
        spoken::answers(journal, id, |entry| clerk.entry(entry, run, &blobs));
        return Ok(());
    }
    replay(journal, id, |entry, run| {
        clerk.entry(entry, run, &blobs);
        Ok(())
    })?;
    clerk.caught_up();
    Ok(())
}

/// Goes through a run's journal, entry by entry, each with the run as it is after it.
pub fn replay(
    journal: &Journal,
    id: &RunId,
    mut look: impl FnMut(&Entry, &Run) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut run: Option<Run> = None;
    for entry in journal.read(id, 0)? {
        let entry = Entry::read(&entry?.bytes).map_err(EngineError::from)?;
        if let Entry::Event(recorded) = &entry {
            match &mut run {
                None => {
                    let first = std::slice::from_ref(&**recorded);
                    run = Some(fold(first).map_err(EngineError::from)?);
                }
                Some(run) => run.evolve(recorded),
            }
        }
        if let Some(run) = &run {
            look(&entry, run)?;
        }
    }
    Ok(())
}

/// The clerk of a run that knows everything that happened in it.
pub fn told(
    top: &Path,
    state: &Path,
    journal: &Journal,
    id: &RunId,
    run: &Run,
    (project, tracker): (Option<&Project>, Option<&Tracked>),
) -> Result<Arc<dyn Clerk>, Error> {
    let base = Meta::of(journal, id)?.base.unwrap_or_default();
    let lang = spoken::wanted()?;
    let clerk = clerk(&Place { top, state, base: &base, run, project, lang, tracker });
    feed(&*clerk, journal, id, run)?;
    Ok(clerk)
}
