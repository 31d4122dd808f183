//! `windlass workflow …`: workflows are data, and these verbs look at them without running
//! anything.

mod check;
mod list;
mod show;
mod simulate;
mod target;

use clap::Subcommand;

pub use self::simulate::Setting;
pub use self::target::{CatalogueArgs, Target, built_in};

use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;

const EXAMPLES: &str = "\
Examples:
  windlass workflow list
  windlass workflow show task
  windlass workflow simulate task
";

#[derive(Debug, Subcommand)]
#[command(after_help = EXAMPLES)]
pub enum WorkflowCommand {
    /// List the built-in workflows
    List(list::ListArgs),

    /// Show one workflow: its stages and where they lead, a picture, or JSON
    Show(show::ShowArgs),

    /// Prove files sound, and report every mistake with line, column and a suggestion
    Check(check::CheckArgs),

    /// Walk through imaginary runs of a workflow, for free
    Simulate(simulate::SimulateArgs),
}

pub fn run(command: WorkflowCommand, out: &mut Output) -> Result<Exit, Error> {
    match command {
        WorkflowCommand::List(args) => list::run(&args, out),
        WorkflowCommand::Show(args) => show::run(&args, out),
        WorkflowCommand::Check(args) => check::run(&args, out),
        WorkflowCommand::Simulate(args) => simulate::run(&args, out),
    }
}
