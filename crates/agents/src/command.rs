//! `kind = "command"`: any program that reads a prompt and prints a verdict.
//!
//! The prompt comes on standard input, the working directory is the lane, and `WINDLASS_ROLE`, `WINDLASS_UNIT`,
//! `WINDLASS_ATTEMPT`, `WINDLASS_RUN`, `WINDLASS_SCHEMA`, `WINDLASS_TOOLS`, `WINDLASS_TIER`, `WINDLASS_EFFORT` and, where the person
//! has said which model a tier is, `WINDLASS_MODEL` stand in the environment. The answer is the last JSON object on standard
//! output, else its first line.

use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::line::{ByTier, Cost, Words};
use crate::listen::{Listener, listen_at_the_end};
use crate::{Agent, Ask, Flaw, Here, Missing, Program, environment};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Command")]
pub struct Settings {
    /// The program and its arguments.
    command: Words,
    /// What it costs, if nothing.
    cost: Option<Cost>,
    /// Variables that it gets from Windlass's own environment, such as its key.
    #[serde(default)]
    env: Vec<String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`); it finds the name in
    /// `WINDLASS_MODEL`.
    #[serde(default)]
    models: ByTier,
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        self.command.flaw().or_else(|| self.models.flaw("a model"))
    }

    fn is_free(&self) -> bool {
        self.cost == Some(Cost::None)
    }

    fn handed(&self) -> Vec<String> {
        self.env.clone()
    }

    fn words(&self) -> &[String] {
        self.command.all()
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) = self.command.find(here)?;
        Ok(Arc::new(CommandAgent { program, args, models: self.models.clone() }))
    }
}

/// A program of the person's own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CommandAgent {
    /// What to start.
    program: PathBuf,
    /// Its arguments.
    args: Vec<String>,
    /// Which model is meant by a tier.
    models: ByTier,
}

impl Agent for CommandAgent {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let model = ask.model(&self.models).map(|it| ("WINDLASS_MODEL".to_owned(), it.to_owned()));
        Program {
            program: self.program.clone(),
            args: self.args.clone(),
            env: environment(ask).into_iter().chain(model).collect(),
            stdin: ask.prompt.as_bytes().to_vec(),
            ..Program::default()
        }
    }

    fn listener(&self, ask: &Ask<'_>) -> Box<dyn Listener> {
        listen_at_the_end(ask)
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::lang::Reporter;

    use super::*;
    use crate::Tier;

    #[test]
    fn a_tier_is_the_model_that_the_person_says() {
        let settings: Settings =
            toml::from_str("command = ['x']\nmodels = { strong = 'the-best' }").unwrap();
        let agent = CommandAgent { program: "x".into(), args: Vec::new(), models: settings.models };
        let (reporter, tools) = (Reporter::default(), ["read".to_owned(), "run".to_owned()]);
        let found = |tier, name: &str| {
            let ask = Ask { tier, tools: &tools, ..Ask::example(&reporter) };
            let program = agent.program(&ask);
            program.env.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
        };
        assert_eq!(found(Tier::Strong, "WINDLASS_MODEL").as_deref(), Some("the-best"));
        assert_eq!(found(Tier::Fast, "WINDLASS_MODEL"), None);
        assert_eq!(found(Tier::Fast, "WINDLASS_TIER").as_deref(), Some("fast"));
        assert_eq!(found(Tier::Fast, "WINDLASS_TOOLS").as_deref(), Some("read,run"));
    }
}
