//! `windlass stop`, `redo`, `skip` and `override`: what a person wants of a run, from any terminal.

use std::path::Path;

use clap::Args;
use windlass_clerks::Left;
use windlass_core::run::{Run, Target, UnitStatus, Wish};
use windlass_core::workflow::Settled;

use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;
use crate::request::{Request, who};
use crate::spoken::spoken;
use crate::workplace::Workplace;
use crate::{known, relay};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass stop            after the units under way
  windlass stop --now      nothing new is started; what runs is still taken
  windlass stop --cancel   the run ends, and does not go on
")]
pub struct StopArgs {
    /// The run; without one, the only one that is not over
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Start nothing new at all, not even for units under way
    #[arg(long, conflicts_with = "cancel")]
    now: bool,

    /// End the run for good
    #[arg(long)]
    cancel: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass redo verify --unit greeting
")]
pub struct RedoArgs {
    /// The stage to start over at
    #[arg(value_name = "STAGE")]
    stage: String,

    /// The unit; without one, the run's own stages
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,

    /// The run; without one, the only one that is not over
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass skip greeting --reason 'done by hand'
")]
pub struct SkipArgs {
    /// The unit to leave out
    #[arg(value_name = "UNIT")]
    unit: String,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: String,

    /// The run; without one, the only one that is not over
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass override review clear --unit greeting --reason 'the finding is about generated code'

An override is a person's own decision. It is recorded with their name and the reason.
")]
pub struct OverrideArgs {
    /// The stage
    #[arg(value_name = "STAGE")]
    stage: String,

    /// The verdict that is to count
    #[arg(value_name = "VERDICT")]
    verdict: String,

    /// Why
    #[arg(long, value_name = "TEXT", value_parser = reason)]
    reason: String,

    /// The unit; without one, the run's own stages
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,

    /// The run; without one, the only one that is not over
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
}

/// A reason says something.
fn reason(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() { Err("say why") } else { Ok(text.to_owned()) }
}

pub fn stop(args: &StopArgs, out: &mut Output) -> Result<Exit, Error> {
    let (wish, said) = match (args.now, args.cancel) {
        (_, true) => (Wish::Cancel, "wish-cancel"),
        (true, false) => (Wish::Pause, "wish-pause"),
        (false, false) => (Wish::Stop, "wish-stop"),
    };
    wished(args.run.as_deref(), wish, said, out)
}

pub fn redo(args: &RedoArgs, out: &mut Output) -> Result<Exit, Error> {
    let wish = Wish::Redo { target: target(args.unit.as_deref()), stage: args.stage.clone() };
    wished(args.run.as_deref(), wish, "wish-redo", out)
}

pub fn skip(args: &SkipArgs, out: &mut Output) -> Result<Exit, Error> {
    let wish = Wish::Skip { unit: args.unit.as_str().into(), reason: args.reason.clone() };
    wished(args.run.as_deref(), wish, "wish-skip", out)
}

pub fn overrule(args: &OverrideArgs, out: &mut Output) -> Result<Exit, Error> {
    let wish = Wish::Override {
        target: target(args.unit.as_deref()),
        stage: args.stage.clone(),
        verdict: args.verdict.clone(),
        reason: args.reason.clone(),
    };
    wished(args.run.as_deref(), wish, "wish-override", out)
}

/// The run's own stages, if no unit is named.
fn target(unit: Option<&str>) -> Target {
    unit.map_or(Target::Run, |unit| Target::Unit(unit.into()))
}

/// A unit that is to be done over and has come to nothing, with the command that does that: it is another verb's.
fn over<'w>(run: &Run, wish: &'w Wish) -> Option<(&'w str, String)> {
    let Wish::Redo { target: Target::Unit(unit), .. } = wish else { return None };
    let found = run.unit_named(unit).filter(|found| !found.landed)?;
    let over = matches!(found.status, UnitStatus::Settled(how) if how != Settled::Done);
    let left = Left::by(run.workflow()).filter(|_| over)?;
    Some((unit, (left.retry)(unit)))
}

/// `taken` is the message that says so.
fn wished(run: Option<&str>, wish: Wish, taken: &str, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::nothing_open)?;
    let known::Known { id, run, .. } = known::open(&journal, run)?;
    if let Some((unit, retry)) = over(&run, &wish) {
        return Err(Error::usage(format!("{unit} has settled already"))
            .hint(format!("`{retry}` has it tried again")));
    }
    let words = spoken(&journal, &id, &run)?.words();
    drop(journal);
    let request = Request::Wish { run: id.as_str().to_owned(), who: who(), wish };
    let sent = relay::send(place, request)?;
    out.line(&words.say(taken, &[("run", id.as_str())]))?;
    out.remarks(&sent.said)?;
    Ok(Exit::Done)
}
