//! `windlass project`: writes the files that a run's journal makes anew.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::Output;
use crate::replay::told;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass project
  windlass project autopilot-1
  windlass project --json

The journal is what counts; the files under .harness/sessions/ are written from it. A file that
somebody else has changed is set aside under another name first.
")]
pub struct ProjectArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ProjectArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let held = place.take("windlass project")?;
    let known = known::named_or_newest(&held.journal, args.run.as_deref())?;
    let top = held.repository.top();
    let clerk = told(top, &held.dir, &held.journal, &known.id, &known.run, None)?;
    let remarks = clerk.flush();
    if args.json {
        out.json(&json!({ "run": known.id.as_str(), "remarks": remarks }))?;
        return Ok(Exit::Done);
    }
    out.remarks(&remarks)?;
    out.line(&format!("the files of {} are as its journal says", known.id))?;
    Ok(Exit::Done)
}
