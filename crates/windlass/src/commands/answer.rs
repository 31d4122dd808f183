//! `windlass answer`: answers a question, from any terminal, whether the run is under way or not.

use std::path::Path;

use clap::Args;
use windlass_core::run::Phase;
use windlass_words::Words;

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
  windlass answer 3 approve
  windlass answer task-2:3 override --text 'the warning is about a comment'
  windlass answer 3 --text 'split it in two first'

A run that is under way takes the answer at once. One that is not has it on record, and goes on
from there with `windlass resume`.
")]
pub struct AnswerArgs {
    /// The question, as `windlass gates` names it
    #[arg(value_name = "GATE")]
    gate: String,

    /// One of its options; without one the text is the answer, and without either the default
    #[arg(value_name = "KEY")]
    key: Option<String>,

    /// Free text, or the reason that an option asks for
    #[arg(long, value_name = "TEXT")]
    text: Option<String>,
}

pub fn run(args: &AnswerArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let (run, gate) = gate(&place, &args.gate)?;
    let request = Request::Answer {
        run: run.clone(),
        gate,
        option: args.key.clone(),
        text: args.text.clone(),
        who: who(),
    };
    let words = heard(&place, &run, args.text.as_deref())?;
    let taken = relay::send(place, request)?;
    out.line(&words.say("answer-taken", &[("gate", &format!("{run}:{gate}"))]))?;
    out.remarks(&taken.said)?;
    if !taken.under_way {
        out.note(&words.say("answer-next", &[]))?;
    }
    Ok(Exit::Done)
}

/// The words for whoever answers so: in the language of the answer, or else the run's.
fn heard(place: &Workplace, run: &str, text: Option<&str>) -> Result<Words, Error> {
    let journal = place.look()?;
    // A run that nobody knows is for others to complain about.
    let known = journal.as_ref().and_then(|journal| known::open(journal, Some(run)).ok());
    let Some((journal, known)) = journal.zip(known) else { return Ok(Words::default()) };
    let mut spoken = spoken(&journal, &known.id, &known.run)?;
    spoken.hear(text.unwrap_or_default());
    Ok(spoken.words())
}

/// `RUN:GATE`, or the gate alone where only one run has an open gate of that number.
fn gate(place: &Workplace, text: &str) -> Result<(String, u32), Error> {
    let bad = || {
        Error::usage(format!("there is no open question `{text}`"))
            .hint("`windlass gates` names them")
    };
    let (run, number) = match text.rsplit_once(':') {
        Some((run, number)) => (Some(run), number),
        None => (None, text),
    };
    let number: u32 = number.parse().map_err(|_| bad())?;
    if let Some(run) = run {
        return Ok((run.to_owned(), number));
    }
    let journal = place.look()?.ok_or_else(bad)?;
    let mut runs = Vec::new();
    for known in known::all(&journal)?.readable {
        let has = known.run.gates().iter().any(|gate| gate.id.0 == number);
        if has && known.run.phase() != Phase::Ended {
            runs.push(known.id.as_str().to_owned());
        }
    }
    match runs.as_slice() {
        [run] => Ok((run.clone(), number)),
        [] => Err(bad()),
        _ => Err(Error::several_open(&runs)),
    }
}
