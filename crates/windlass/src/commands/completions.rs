//! `windlass completions SHELL`: the script that teaches a shell our verbs.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions fish > ~/.config/fish/completions/windlass.fish
")]
pub struct CompletionsArgs {
    /// The shell to write for
    shell: Shell,
}

pub fn run(args: &CompletionsArgs, out: &mut Output) -> Result<Exit, Error> {
    // clap_complete panics when its writer fails, so it writes to memory and we write to the
    // terminal.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "windlass", &mut script);
    out.bytes(&script)?;
    Ok(Exit::Done)
}
