//! `windlass resume`: goes on with a run that was stopped, interrupted or killed.

use std::path::Path;

use clap::Args;

use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known;
use crate::render::Output;
use crate::under_way;
use crate::workplace::Workplace;

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
    let place = Workplace::find_known(Path::new("."))?;
    let held = place.take("windlass resume")?;
    let known = known::resumable(&held.journal, args.run.as_deref())?;
    under_way::go_on(&held, known, Tone::of(args.json))
}
