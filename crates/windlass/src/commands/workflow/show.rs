//! `windlass workflow show`: one workflow, as text, as a picture or as data.

use clap::Args;

use super::target::{CatalogueArgs, Target};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, Output, view::WorkflowView};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass workflow show task
  windlass workflow show task --mermaid
  windlass workflow show task --json
")]
pub struct ShowArgs {
    /// A built-in workflow, or a file that ends in .toml
    #[arg(value_name = "NAME|FILE")]
    target: Target,

    /// Print a Mermaid flowchart
    #[arg(long, conflicts_with = "json")]
    mermaid: bool,

    /// Print stages, roles, verdicts, gates and options as JSON
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    catalogue: CatalogueArgs,
}

pub fn run(args: &ShowArgs, out: &mut Output) -> Result<Exit, Error> {
    let flow = args.target.load(&args.catalogue.load()?)?;
    let view = WorkflowView::of(&flow);
    if args.json {
        out.json(&view)?;
    } else if args.mermaid {
        out.line(&render::mermaid(&view))?;
    } else {
        out.line(&render::workflow(&view, out.width()))?;
    }
    Ok(Exit::Done)
}
