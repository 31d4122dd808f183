//! `kind = "command"`: any program that reads a prompt and prints a verdict.
//!
//! The prompt comes on standard input, the working directory is the lane, and `WINDLASS_ROLE`, `WINDLASS_UNIT`,
//! `WINDLASS_ATTEMPT`, `WINDLASS_RUN` and `WINDLASS_SCHEMA` stand in the environment. The answer is the last JSON
//! object on standard output, else its first line.

use std::path::PathBuf;

use crate::{Agent, Answer, Ask, Output, Program, environment};

/// A program of the person's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAgent {
    /// What to start.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
}

impl Agent for CommandAgent {
    fn program(&self, ask: &Ask<'_>) -> Program {
        Program {
            program: self.program.clone(),
            args: self.args.clone(),
            env: environment(ask),
            stdin: ask.prompt.as_bytes().to_vec(),
        }
    }

    fn answer(&self, ask: &Ask<'_>, output: &Output<'_>) -> Answer {
        Answer::read(output, ask.reporter)
    }
}
