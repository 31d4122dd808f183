//! One simulated run: how it began, its story, how it ended, and how to steer it.

use std::collections::BTreeSet;
use std::io;

use serde_json::{Value, json};
use windlass_core::run::{Standing, UnitStatus};
use windlass_core::workflow::{Errand, Kind, Stage, Workflow};
use windlass_sim::{Outcome, Plan, journal_bytes};

use super::show::value_text;
use super::story::{outcome_style, story, units};
use super::text::{FAINT, Line, PLAIN, STRONG, WARN, WORD, count};
use crate::error::Error;
use crate::exit::Exit;
use crate::story::{Story, What};

/// A run that went as it should.
pub struct Walk<'a> {
    pub flow: &'a Workflow,
    pub plan: &'a Plan,
    /// Without one, nothing was left to chance.
    pub seed: Option<u64>,
    pub outcome: Outcome,
    pub story: Story,
    pub command: String,
}

pub fn walk(walk: &Walk<'_>, width: usize) -> Result<String, Error> {
    let mut page = Page { text: String::new(), width };
    let how = match walk.seed {
        Some(seed) => format!("an imaginary run of seed {seed}"),
        None if walk.plan.script.is_empty() => "an imaginary run in which all goes well".to_owned(),
        None => "an imaginary run in which all goes well but what --set says".to_owned(),
    };
    let flow = walk.flow;
    page.line(&Line::at(0).add(STRONG, &flow.name).add(PLAIN, format!(": {how}")));
    page.inputs(walk);
    page.text.push('\n');
    page.text.push_str(&story(&walk.story.steps, &flow.called, width));
    page.text.push_str("\n\n");
    page.ending(walk)?;
    page.unused(walk);
    if walk.seed.is_none() {
        page.hints(walk);
    }
    page.text.truncate(page.text.trim_end().len());
    Ok(page.text)
}

struct Page {
    text: String,
    width: usize,
}

impl Page {
    fn line(&mut self, line: &Line) {
        self.text.push_str(&line.fold(self.width));
        self.text.push('\n');
    }

    fn inputs(&mut self, walk: &Walk<'_>) {
        let Some(What::Started { inputs }) = walk.story.steps.first().map(|step| &step.what) else {
            return;
        };
        if inputs.is_empty() {
            return;
        }
        let mut line = Line::at(0).lead(FAINT, "inputs", 8);
        let mut others = "all at their defaults";
        for input in &walk.flow.inputs {
            let Some(value) = inputs.get(&input.name) else { continue };
            let given = walk.plan.inputs.contains_key(&input.name);
            let usual = input.default.clone().or_else(|| input.ty.implied_default());
            // What is as usual goes without saying.
            if !given && usual.as_ref() == Some(value) {
                continue;
            }
            let made_up = if given { "" } else { " (made up)" };
            let text = format!("{} = {}", input.name, value_text(value));
            line = line.add(PLAIN, text).add(FAINT, format!("{made_up}; "));
            others = "all others at their defaults";
        }
        self.line(&line.add(FAINT, others));
    }

    fn ending(&mut self, walk: &Walk<'_>) -> Result<(), Error> {
        let outcome = &walk.outcome;
        let word = standing_word(outcome.standing);
        let mut line = Line::at(0).add(PLAIN, "The run ended ").add(outcome_style(word), word);
        if let Some(code) = outcome.standing.exit_code() {
            line = line.add(PLAIN, format!(", exit code {code}"));
        }
        self.line(&line.add(PLAIN, "."));
        let halts: Vec<String> = on_the_way(outcome).iter().map(|code| meaning(*code)).collect();
        if !halts.is_empty() {
            let text =
                format!("With nobody at hand it would have exited before: {}.", halts.join("; "));
            self.line(&Line::at(0).add(FAINT, text));
        }
        let tally = walk.story.run.as_ref().map(|run| run.tally()).unwrap_or_default();
        let parts = [
            units(&walk.flow.called, tally),
            count(outcome.landings, "landing"),
            count(walk.story.invocations, "agent invocation"),
            count(walk.story.errands, "other effect"),
            count(walk.story.answers, "answer"),
            count(outcome.journal.len() as u64, "event"),
        ];
        self.line(&Line::at(0).add(PLAIN, format!("{}.", parts.join("; "))));
        if walk.seed.is_some() {
            let text = format!("journal digest {}", digest(outcome)?);
            self.line(&Line::at(0).add(FAINT, text));
        }
        Ok(())
    }

    /// Words of the script that were never asked for.
    fn unused(&mut self, walk: &Walk<'_>) {
        for (stage, words) in &walk.plan.script {
            let used = walk.story.used.get(stage).copied().unwrap_or(0).min(words.len());
            if used < words.len() {
                let times = match used {
                    0 => "never came up".to_owned(),
                    1 => "came up once".to_owned(),
                    times => format!("came up {times} times"),
                };
                let text =
                    format!("{stage} {times}: it was not asked for {}.", words[used..].join(","));
                self.line(&Line::at(0).add(WARN, text));
            }
        }
    }

    fn hints(&mut self, walk: &Walk<'_>) {
        self.text.push('\n');
        self.line(&Line::at(0).add(FAINT, "Steer it:"));
        let mut hint = |how: &str, what: &str| {
            let line = Line::at(2).lead(WORD, how, 34).lead(PLAIN, "  ", 0).add(FAINT, what);
            self.line(&line);
        };
        for (setting, what) in steering(walk) {
            hint(&format!("--set {setting}"), &what);
        }
        hint("--seed 1", "let chance decide");
        hint("--runs 1000", "sum up a thousand random runs");
    }
}

/// Settings that would have changed this very run: another verdict, another answer.
fn steering(walk: &Walk<'_>) -> Vec<(String, String)> {
    let met: Vec<&Stage> = walk
        .flow
        .stages
        .iter()
        .filter(|stage| walk.story.used.contains_key(&stage.name))
        .filter(|stage| !walk.plan.script.contains_key(&stage.name))
        .collect();
    let second = |stage: &Stage| {
        let mut own = stage.verdicts.iter().filter(|verdict| verdict.mishap.is_none());
        own.nth(1).map(|verdict| verdict.name.clone())
    };
    let gate = met.iter().find(|stage| matches!(stage.kind, Kind::Gate(_)));
    let checks =
        met.iter().rfind(|stage| matches!(stage.kind, Kind::Errand(Errand::Checks { .. })));
    let role = met.iter().rfind(|stage| {
        matches!(stage.kind, Kind::Role { .. } | Kind::Panel { .. }) && second(stage).is_some()
    });
    let mut hints = Vec::new();
    if let Some(stage) = checks {
        let what = format!("what {} comes to, each time it runs", stage.name);
        hints.push((format!("{}=fail,fail", stage.name), what));
    } else if let Some((stage, word)) = role.and_then(|stage| Some((stage, second(stage)?))) {
        let what = format!("what {} comes to, each time it runs", stage.name);
        hints.push((format!("{}={word}", stage.name), what));
    }
    if let Some((stage, word)) = gate.and_then(|stage| Some((stage, second(stage)?))) {
        let what = format!("what is answered at {}", stage.name);
        hints.push((format!("{}={word}", stage.name), what));
    }
    hints
}

/// Exit codes before the last one.
fn on_the_way(outcome: &Outcome) -> BTreeSet<u8> {
    let last = outcome.standing.exit_code();
    outcome.exits.iter().copied().filter(|code| Some(*code) != last).collect()
}

fn meaning(code: u8) -> String {
    let known = Exit::ALL.into_iter().find(|exit| exit.code() == code);
    match known {
        // A planned halt is the only way to exit with 0 before the end.
        Some(Exit::Done) => "0 at a planned halt".to_owned(),
        Some(exit) => format!("{code} ({})", exit.meaning()),
        None => code.to_string(),
    }
}

fn standing_word(standing: Standing) -> &'static str {
    match standing {
        Standing::Running => "running",
        Standing::Parked(_) => "parked",
        Standing::Stopped => "stopped",
        Standing::Waiting => "waiting",
        Standing::Exhausted => "exhausted",
        Standing::Escalated => "escalated",
        Standing::Resting => "resting",
        Standing::Ended(outcome) => outcome.name(),
        Standing::Stuck => "stuck",
    }
}

/// BLAKE3 of the journal's bytes: the same run, the same digest.
fn digest(outcome: &Outcome) -> Result<String, Error> {
    let bytes =
        journal_bytes(&outcome.journal).map_err(|error| Error::output(io::Error::other(error)))?;
    Ok(blake3::hash(&bytes).to_hex().to_string())
}

pub fn walk_json(walk: &Walk<'_>) -> Result<Value, Error> {
    let outcome = &walk.outcome;
    let units: Vec<Value> = walk
        .story
        .run
        .iter()
        .flat_map(|run| run.units())
        .map(|unit| json!({ "id": &*unit.id, "status": status_word(unit.status) }))
        .collect();
    Ok(json!({
        "workflow": walk.flow.name,
        "digest": &*walk.flow.source.digest,
        "seed": walk.seed,
        "calm": walk.plan.calm,
        "command": walk.command,
        "ended": standing_word(outcome.standing),
        "exit_code": outcome.standing.exit_code(),
        "exit_codes_on_the_way": on_the_way(outcome),
        "units": units,
        "events": outcome.journal.len(),
        "landings": outcome.landings,
        "invocations": walk.story.invocations,
        "other_effects": walk.story.errands,
        "answers": walk.story.answers,
        "journal_digest": digest(outcome)?,
        "steps": walk.story.steps,
    }))
}

fn status_word(status: UnitStatus) -> &'static str {
    match status {
        UnitStatus::Settled(how) => how.name(),
        UnitStatus::Pending => "pending",
        UnitStatus::Started => "started",
    }
}
