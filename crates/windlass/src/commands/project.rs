//! `windlass project`: writes the files that a run's journal makes anew.

use std::path::Path;

use clap::Args;
use serde_json::json;
use windlass_core::workflow::RunOutcome;
use windlass_journal::RunId;

use crate::error::Error;
use crate::exit::Exit;
use crate::known::{self, Known};
use crate::meta::Meta;
use crate::render::Output;
use crate::replay::told;
use crate::workplace::{Held, Workplace};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass project
  windlass project autopilot-1
  windlass project --json

The journal is what counts; the files of a session or a mission below .harness/ are written from it.
A file that somebody else has changed is set aside under another name first. Of several runs about
the same, the newest has the files: those of an older one are not written over them.
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
    if let Some(newer) = whose_files(&held, &known)? {
        return Err(Error::usage(format!("the files of {} are those of {newer} by now", known.id))
            .hint(format!(
                "`windlass project {newer}` writes them anew; `windlass report {0}` and `windlass log {0} --full` tell of the \
                 older one. Nothing was written",
                known.id
            )));
    }
    let top = Meta::of(&held.journal, &known.id)?.home(&held.repository);
    let clerk = told(&top, &held.dir, &held.journal, &known.id, &known.run, (None, None))?;
    let remarks = clerk.flush();
    if args.json {
        out.json(&json!({ "run": known.id.as_str(), "remarks": remarks }))?;
        return Ok(Exit::Done);
    }
    out.remarks(&remarks)?;
    out.line(&format!("the files of {} are as its journal says", known.id))?;
    Ok(Exit::Done)
}

/// The run that has the files of another by now, if one has: the newest that is about the same. One that was cancelled has
/// left them to whoever came after it.
fn whose_files(held: &Held, of: &Known) -> Result<Option<RunId>, Error> {
    let about = |known: &Known| -> Result<(String, Option<String>), Error> {
        let Meta { workflow, about, .. } = Meta::of(&held.journal, &known.id)?;
        Ok((workflow, about))
    };
    let own = about(of)?;
    let mut newest = None;
    let all = known::all(&held.journal)?.readable;
    for known in all.iter().skip_while(|known| known.id != of.id).skip(1) {
        if known.run.outcome() != Some(RunOutcome::Cancelled) && about(known)? == own {
            newest = Some(known.id.clone());
        }
    }
    Ok(newest.filter(|_| own.1.is_some()))
}
