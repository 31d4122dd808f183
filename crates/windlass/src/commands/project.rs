//! `windlass project`: writes the files that a run's journal makes anew.

use std::path::Path;

use clap::Args;

use super::known;
use crate::clerks;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass project
  windlass project autopilot-1

The journal is what counts; the files under .harness/sessions/ are written from it. A file that
somebody else has changed is set aside under another name first.
")]
pub struct ProjectArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,
}

pub fn run(args: &ProjectArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let held = place.take("windlass project")?;
    let newest = held.journal.runs()?.last().map(|run| run.id.as_str().to_owned());
    let name = args.run.clone().or(newest).ok_or(Error::NothingOpen)?;
    let known = known::open(&held.journal, Some(&name))?;
    let top = held.repository.top();
    let clerk = clerks::told(top, &held.dir, &held.journal, &known.id, &known.run)?;
    for said in clerk.flush() {
        for line in said.lines() {
            out.note(&clean(line))?;
        }
    }
    out.line(&format!("the files of {name} are as its journal says"))?;
    Ok(Exit::Done)
}
