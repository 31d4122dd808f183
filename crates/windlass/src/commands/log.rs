//! `windlass log`: what happened in a run, line by line.

use std::path::Path;

use clap::Args;
use windlass_engine::entry::Entry;

use super::known;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::told;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass log
  windlass log task-2
  windlass log task-2 --json | tail -1
")]
pub struct LogArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Print every entry of the journal as a JSON line
    #[arg(long)]
    json: bool,
}

pub fn run(args: &LogArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let journal = place.look()?.ok_or(Error::NothingOpen)?;
    let newest = journal.runs()?.last().map(|run| run.id.as_str().to_owned());
    let name = args.run.clone().or(newest).ok_or(Error::NothingOpen)?;
    let known = known::open(&journal, Some(&name))?;
    for entry in journal.read(&known.id, 0)? {
        let entry = entry?;
        if args.json {
            out.line(&String::from_utf8_lossy(&entry.bytes))?;
            continue;
        }
        let entry = Entry::read(&entry.bytes).map_err(windlass_engine::EngineError::from)?;
        if let Some(line) = told(&entry, &known.run) {
            for line in line.lines() {
                out.line(&clean(line))?;
            }
        }
    }
    Ok(Exit::Done)
}
