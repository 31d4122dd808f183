//! `kind = "command"`: any program that reads a prompt and prints a verdict.
//!
//! The prompt comes on standard input, the working directory is the lane, and `WINDLASS_ROLE`, `WINDLASS_UNIT`,
//! `WINDLASS_ATTEMPT`, `WINDLASS_RUN`, `WINDLASS_SCHEMA`, `WINDLASS_TOOLS`, `WINDLASS_TIER` and, where the person has said
//! which model a tier is, `WINDLASS_MODEL` stand in the environment. The answer is the last JSON
//! object on standard output, else its first line.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use windlass_core::run::Reported;

use crate::{Agent, Answer, Ask, Flaw, Heard, Here, Missing, Program, Tier, environment};

/// What the configuration says.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Command")]
pub struct Settings {
    /// The program and its arguments.
    command: Vec<String>,
    /// What it costs, if nothing.
    cost: Option<Cost>,
    /// Variables that it gets from Windlass's own environment, such as its key.
    #[serde(default)]
    env: Vec<String>,
    /// Which model it is to use for roles of a tier (`strong`, `standard`, `fast`); it finds the name in
    /// `WINDLASS_MODEL`.
    #[serde(default)]
    models: BTreeMap<String, String>,
}

/// What an agent costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Cost {
    /// Nothing.
    None,
}

impl crate::Settings for Settings {
    fn flaw(&self) -> Option<Flaw> {
        if self.command.is_empty() {
            let what = "has an empty command".to_owned();
            return Some(Flaw { what, at: None, help: None });
        }
        let tier = self.models.keys().find(|tier| Tier::named(tier).is_none())?;
        Some(Flaw {
            what: format!("has a model for `{tier}`, which is no tier"),
            at: Some(tier.clone()),
            help: Some(format!("there are {}", Tier::ALL.map(Tier::name).join(", "))),
        })
    }

    fn is_free(&self) -> bool {
        self.cost == Some(Cost::None)
    }

    fn handed(&self) -> &[String] {
        &self.env
    }

    fn agent(&self, here: &Here<'_>) -> Result<Arc<dyn Agent>, Missing> {
        let (program, args) =
            self.command.split_first().map_or(("", &[][..]), |(it, args)| (it, args));
        let found = (here.which)(program);
        let models = self.models.iter();
        Ok(Arc::new(CommandAgent {
            program: found.ok_or_else(|| Missing::Program { program: program.to_owned() })?,
            args: args.to_vec(),
            pass: self.env.clone(),
            models: models
                .filter_map(|(tier, it)| Some((Tier::named(tier)?, it.clone())))
                .collect(),
            free: self.is_free(),
        }))
    }
}

/// A program of the person's own.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CommandAgent {
    /// What to start.
    program: PathBuf,
    /// Its arguments.
    args: Vec<String>,
    /// Variables that it gets from Windlass's own environment.
    pass: Vec<String>,
    /// Which model is meant by a tier.
    models: BTreeMap<Tier, String>,
    /// It costs nothing: what it says nothing about, it has not used.
    free: bool,
}

impl Agent for CommandAgent {
    fn program(&self, ask: &Ask<'_>) -> Program {
        let model = self.models.get(&ask.tier).map(|it| ("WINDLASS_MODEL".to_owned(), it.clone()));
        Program {
            program: self.program.clone(),
            args: self.args.clone(),
            env: environment(ask).into_iter().chain(model).collect(),
            pass: self.pass.clone(),
            stdin: ask.prompt.as_bytes().to_vec(),
        }
    }

    fn answer(&self, ask: &Ask<'_>, output: &Heard<'_>) -> Answer {
        let mut answer = Answer::read(output, ask.reporter);
        if self.free {
            let none = |figure| match figure {
                Reported::Unknown => Reported::Known(0),
                known => known,
            };
            if matches!(answer.usage.cost, Reported::Known(1..)) {
                let remark =
                    "it reports a cost, and windlass.toml says that it has none: not counted";
                answer.remarks.push(remark.to_owned());
                answer.usage.cost = Reported::Known(0);
            }
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
    use crate::Fate;

    fn agent() -> CommandAgent {
        CommandAgent {
            program: "x".into(),
            args: Vec::new(),
            pass: Vec::new(),
            models: BTreeMap::from([(Tier::Strong, "the-best".into())]),
            free: false,
        }
    }

    fn ask(reporter: &Reporter) -> Ask<'_> {
        Ask {
            role: "worker",
            reporter,
            tools: &[],
            tier: Tier::Standard,
            unit: None,
            task: None,
            writes: &[],
            attempt: 1,
            run: "r",
            prompt: "",
            lane: std::path::Path::new("/"),
        }
    }

    #[test]
    fn a_tier_is_the_model_that_the_person_says() {
        let (reporter, tools) = (Reporter::default(), ["read".to_owned(), "run".to_owned()]);
        let found = |tier, name: &str| {
            let program = agent().program(&Ask { tier, tools: &tools, ..ask(&reporter) });
            program.env.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
        };
        assert_eq!(found(Tier::Strong, "WINDLASS_MODEL").as_deref(), Some("the-best"));
        assert_eq!(found(Tier::Fast, "WINDLASS_MODEL"), None);
        assert_eq!(found(Tier::Fast, "WINDLASS_TIER").as_deref(), Some("fast"));
        assert_eq!(found(Tier::Fast, "WINDLASS_TOOLS").as_deref(), Some("read,run"));
    }

    #[test]
    fn an_agent_without_cost_has_used_what_it_says_and_else_nothing() {
        let reporter = Reporter { verdicts: vec!["done".into()], ..Reporter::default() };
        let ask = ask(&reporter);
        let used = |free, stdout: &str| {
            let agent = CommandAgent { free, ..agent() };
            let output = Heard { fate: Fate::Exited(0), stdout: stdout.as_bytes() };
            let usage = agent.answer(&ask, &output).usage;
            (usage.cost, usage.tokens)
        };
        let (known, unknown) = (Reported::Known, Reported::Unknown);
        assert_eq!(used(true, r#"{"verdict":"done"}"#), (known(0), known(0)));
        assert_eq!(used(true, r#"{"verdict":"done","tokens":7}"#), (known(0), known(7)));
        assert_eq!(used(true, r#"{"verdict":"done","cost_usd":0.5}"#), (known(0), known(0)));
        assert_eq!(used(false, r#"{"verdict":"done","cost_usd":0.5}"#).0, known(500_000));
        assert_eq!(used(false, r#"{"verdict":"done"}"#), (unknown, unknown));
    }
}
