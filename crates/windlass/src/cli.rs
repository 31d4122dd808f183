//! The command line as clap sees it. Each verb's own arguments stand beside the verb.

use clap::{Parser, Subcommand};

use crate::commands::completions::CompletionsArgs;
use crate::commands::workflow::WorkflowCommand;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  windlass workflow list                    the built-in workflows
  windlass workflow show task --mermaid     a picture of one
  windlass workflow check my-flow.toml      prove a file of your own sound
  windlass workflow simulate my-flow.toml   walk through one imaginary run, for free
";

/// Makes coding agents build software on their own.
///
/// Windlass hauls software work up with coding agents: every verified step is recorded before the
/// next begins, so no crash, rate limit or bad idea can lose what was gained.
#[derive(Debug, Parser)]
#[command(
    name = "windlass",
    version,
    arg_required_else_help = true,
    disable_help_subcommand = true,
    after_help = EXAMPLES,
    after_long_help = format!("{EXAMPLES}\n{}", Exit::table()),
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List, show, check and simulate workflows
    #[command(subcommand)]
    Workflow(WorkflowCommand),

    /// Print the completion script for a shell
    Completions(CompletionsArgs),
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn the_surface_is_sound() {
        Cli::command().debug_assert();
    }
}
