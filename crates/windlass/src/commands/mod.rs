//! One file for each verb. This one only routes.

pub mod completions;
pub mod workflow;

use crate::cli::Command;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;

pub fn run(command: Command, out: &mut Output) -> Result<Exit, Error> {
    match command {
        Command::Workflow(command) => workflow::run(command, out),
        Command::Completions(args) => completions::run(&args, out),
    }
}
