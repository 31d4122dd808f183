//! `windlass resume`: goes on with a run that was stopped, interrupted or killed.

use std::path::Path;

use clap::Args;
use windlass_core::run::Phase;
use windlass_repo::Oid;

use super::known::{self, Known};
use crate::clerks::Meta;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::render::Output;
use crate::session::{self, Beginning};
use crate::workplace::{Held, Workplace};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass resume
  windlass resume task-3

A run goes on exactly where its journal says it was. What had been under way is taken if it was
complete, and done again if not; its edits are kept under a ref either way.
")]
pub struct ResumeArgs {
    /// The run; without one, the only one that is not over, or the last if it is not tidied up
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ResumeArgs, _out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let held = place.take("windlass resume")?;
    let known = known::resumable(&held.journal, args.run.as_deref())?;
    let tone = if args.json { Tone::Json } else { Tone::Plain };
    go_on(&held, known, tone)
}

/// Goes on with a run.
pub fn go_on(held: &Held, known: Known, tone: Tone) -> Result<Exit, Error> {
    let Known { id, run, books } = known;
    let catalogue = super::own_catalogue(run.workflow())?;
    let meta = Meta::of(&held.journal, &id)?;
    if let Some(base) = meta.base.as_deref().and_then(|base| Oid::parse(base).ok())
        && !held.repository.has(&base)?
    {
        return Err(Error::OtherRepository { run: id.to_string(), base: base.to_string() });
    }
    // One that was cut off at its very end has files to be written and lanes to be freed.
    if run.phase() == Phase::Ended && books.is_tidy() {
        return Err(Error::Over(id.to_string()));
    }
    let prepared = held.prepare(meta.target.as_deref())?;
    session::go(held, prepared, catalogue, Beginning::Again { id }, tone)
}
