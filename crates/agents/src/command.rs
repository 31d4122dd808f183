//! `kind = "command"`: any program that reads a prompt and prints a verdict.
//!
//! The prompt comes on standard input, the working directory is the lane, and `WINDLASS_ROLE`, `WINDLASS_UNIT`,
//! `WINDLASS_ATTEMPT`, `WINDLASS_RUN` and `WINDLASS_SCHEMA` stand in the environment. The answer is the last JSON
//! object on standard output, else its first line.

use std::path::PathBuf;

use windlass_core::run::Reported;

use crate::{Agent, Answer, Ask, Output, Program, environment};

/// A program of the person's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandAgent {
    /// What to start.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables that it gets from Windlass's own environment.
    pub pass: Vec<String>,
    /// It costs nothing: what it says nothing about, it has not used.
    pub free: bool,
}

impl Agent for CommandAgent {
    fn program(&self, ask: &Ask<'_>) -> Program {
        Program {
            program: self.program.clone(),
            args: self.args.clone(),
            env: environment(ask),
            pass: self.pass.clone(),
            stdin: ask.prompt.as_bytes().to_vec(),
        }
    }

    fn answer(&self, ask: &Ask<'_>, output: &Output<'_>) -> Answer {
        let mut answer = Answer::read(output, ask.reporter);
        if self.free {
            let none = |figure| match figure {
                Reported::Unknown => Reported::Known(0),
                known => known,
            };
            answer.usage.cost = none(answer.usage.cost);
            answer.usage.tokens = none(answer.usage.tokens);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Reporter;

    use super::*;
    use crate::Stopped;

    #[test]
    fn an_agent_without_cost_has_used_what_it_says_and_else_nothing() {
        let reporter = Reporter { verdicts: vec!["done".into()], ..Reporter::default() };
        let ask = Ask {
            role: "worker",
            reporter: &reporter,
            unit: None,
            task: None,
            writes: &[],
            attempt: 1,
            run: "r",
            prompt: "",
            lane: std::path::Path::new("/"),
        };
        let used = |free, stdout: &str| {
            let agent =
                CommandAgent { program: "x".into(), args: Vec::new(), pass: Vec::new(), free };
            let output = Output { stopped: Stopped::Exited(0), stdout: stdout.as_bytes() };
            let usage = agent.answer(&ask, &output).usage;
            (usage.cost, usage.tokens)
        };
        let (known, unknown) = (Reported::Known, Reported::Unknown);
        assert_eq!(used(true, r#"{"verdict":"done"}"#), (known(0), known(0)));
        assert_eq!(used(true, r#"{"verdict":"done","tokens":7}"#), (known(0), known(7)));
        assert_eq!(used(false, r#"{"verdict":"done"}"#), (unknown, unknown));
    }
}
