//! `windlass workflow list`: the built-in workflows, one line each.

use clap::Args;

use super::target::{built_in_catalogue, sound};
use crate::builtin;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, Output, Summary};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass workflow list
  windlass workflow list --json
")]
pub struct ListArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &ListArgs, out: &mut Output) -> Result<Exit, Error> {
    let catalogue = built_in_catalogue()?;
    let summaries = builtin::WORKFLOWS
        .iter()
        .map(|workflow| Ok(Summary::of(&*sound((*workflow).into(), &catalogue)?)))
        .collect::<Result<Vec<_>, Error>>()?;
    if args.json {
        out.json(&summaries)?;
    } else {
        out.line(&render::list(&summaries, out.width()))?;
    }
    Ok(Exit::Done)
}
