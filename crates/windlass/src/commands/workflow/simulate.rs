//! `windlass workflow simulate`: walks through imaginary runs. Nothing is started, nothing is
//! written, and the same seed gives the same walk.

mod campaign;
mod setting;

use std::sync::Arc;

use clap::Args;
use windlass_core::workflow::Workflow;
use windlass_sim::{Choices, Outcome, Plan, Violation, drive, shrink};

pub use self::setting::Setting;
use self::setting::Settings;
use super::target::{CatalogueArgs, Target};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{self, Breach, Output, Walk};
use crate::story::Story;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass workflow simulate task
  windlass workflow simulate task --set verifying=fail,fail,fail,fail
  windlass workflow simulate task --set mode=single --set spec_gate=modify
  windlass workflow simulate task --seed 7
  windlass workflow simulate task --runs 1000

A --set KEY is an input, which gets the value; or a stage, whose verdicts (or, for a gate, whose
answers) are taken from the list before any others. An input is set once; each further --set of a
stage adds to its list.
")]
pub struct SimulateArgs {
    /// A built-in workflow, or a file that ends in .toml
    #[arg(value_name = "NAME|FILE")]
    target: Target,

    /// Let chance decide, starting here; without it all goes well and gates get their first option
    #[arg(long, value_name = "N")]
    seed: Option<u64>,

    /// Sum up this many random runs, of this seed (or 1) and those after it
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,

    /// Set an input, or the next verdicts of a stage: lanes=2, verifying=fail,pass (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Setting>,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    catalogue: CatalogueArgs,
}

pub fn run(args: &SimulateArgs, out: &mut Output) -> Result<Exit, Error> {
    let flow = args.target.load(&args.catalogue.load()?)?;
    let settings = Settings::read(&flow, &quoted(&args.target.to_string()), &args.set)?;
    let simulation = Simulation { args, flow, settings };
    match (args.runs, args.seed) {
        (Some(runs), seed) => simulation.many(seed.unwrap_or(1), runs, out),
        (None, Some(seed)) => simulation.one(Mood::Random, Some(seed), out),
        (None, None) => simulation.one(Mood::Calm, None, out),
    }
}

/// What is to happen by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Calm,
    Random,
}

struct Simulation<'a> {
    args: &'a SimulateArgs,
    flow: Arc<Workflow>,
    settings: Settings,
}

impl Simulation<'_> {
    /// One run, told.
    fn one(&self, mood: Mood, seed: Option<u64>, out: &mut Output) -> Result<Exit, Error> {
        let plan = self.settings.plan(mood);
        // Without a seed: the most ordinary choice, every time.
        let choices = seed.map_or(Choices::from_tape(Vec::new()), Choices::from_seed);
        let outcome = drive(&self.flow, &plan, choices);
        if let Some(violation) = outcome.violation.clone() {
            return self.broken(&self.breach(&plan, seed, violation, outcome), out);
        }
        let walk = Walk {
            flow: &self.flow,
            story: Story::of(&self.flow, &outcome.journal),
            outcome,
            plan: &plan,
            seed,
            command: self.command(seed),
        };
        if self.args.json {
            out.json(&render::walk_json(&walk)?)?;
        } else {
            out.line(&render::walk(&walk, out.width())?)?;
        }
        Ok(Exit::Done)
    }

    /// Many runs, summed up.
    fn many(&self, seed: u64, runs: u32, out: &mut Output) -> Result<Exit, Error> {
        if seed.checked_add(u64::from(runs) - 1).is_none() {
            return Err(Error::usage(format!("there are no {runs} seeds from {seed} on"))
                .hint("start at a smaller seed"));
        }
        let plan = self.settings.plan(Mood::Random);
        let sum = campaign::run(&self.flow, &plan, seed, runs);
        let breach = sum.totals.failures.first().map(|(seed, violation)| {
            let outcome = drive(&self.flow, &plan, Choices::from_seed(*seed));
            let others = sum.totals.failures[1..].iter().map(|(seed, _)| *seed).collect();
            let breach = self.breach(&plan, Some(*seed), violation.clone(), outcome);
            Breach { others, ..breach }
        });
        let Some(breach) = breach else {
            if self.args.json {
                out.json(&render::sum_json(&self.flow, &sum, None))?;
            } else {
                out.line(&render::sum(&self.flow, &sum, out.width()))?;
            }
            return Ok(Exit::Done);
        };
        if self.args.json {
            out.json(&render::sum_json(&self.flow, &sum, Some(&breach)))?;
            return self.ending(&breach);
        }
        if self.not_taken(&breach.violation).is_none() {
            out.line(&render::sum(&self.flow, &sum, out.width()))?;
            out.line("")?;
        }
        self.broken(&breach, out)
    }

    /// The smallest run that breaks the same invariant.
    fn breach(
        &self,
        plan: &Plan,
        seed: Option<u64>,
        violation: Violation,
        outcome: Outcome,
    ) -> Breach {
        let small = match self.not_taken(&violation) {
            Some(_) => Some(outcome),
            None => shrink(&self.flow, plan, outcome),
        };
        Breach { violation, seed, command: self.command(seed), others: Vec::new(), small }
    }

    fn broken(&self, breach: &Breach, out: &mut Output) -> Result<Exit, Error> {
        if self.args.json {
            out.json(&render::breach_json(&self.flow, breach))?;
        } else if self.not_taken(&breach.violation).is_some() {
            out.line(&render::so_far(&self.flow, breach, out.width()))?;
        } else {
            out.line(&render::breach(&self.flow, breach, out.width()))?;
        }
        self.ending(breach)
    }

    fn ending(&self, breach: &Breach) -> Result<Exit, Error> {
        match self.not_taken(&breach.violation) {
            Some(refused) => {
                let what = format!("an answer that --set gives is not taken: {refused}");
                Err(Error::usage(what).hint(
                    "an option may be withheld at times, for instance when its counter is spent; \
                     the story above shows what was offered",
                ))
            }
            None => Ok(Exit::Error),
        }
    }

    /// What the core said to an answer of the script's, when that is all that is wrong: the
    /// person's mistake and not ours.
    fn not_taken(&self, violation: &Violation) -> Option<String> {
        let scripted =
            self.settings.answers_a_gate && violation.invariant == "a proper input is taken";
        scripted.then(|| violation.what.clone())
    }

    /// The command line that gives this run again.
    fn command(&self, seed: Option<u64>) -> String {
        let mut words = vec!["windlass workflow simulate".to_owned()];
        words.push(quoted(&self.args.target.to_string()));
        for file in &self.args.catalogue.files {
            words.extend(["--catalogue".to_owned(), quoted(&file.display().to_string())]);
        }
        words.extend(seed.map(|seed| format!("--seed {seed}")));
        for Setting { key, value } in &self.args.set {
            words.extend(["--set".to_owned(), quoted(&format!("{key}={value}"))]);
        }
        words.join(" ")
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn a_shell_gets_back_what_was_typed() {
        assert_eq!(quoted("verifying=fail,pass"), "verifying=fail,pass");
        assert_eq!(quoted("task=say 'hi'"), r"'task=say '\''hi'\'''");
        assert_eq!(quoted(""), "''");
    }
}
