//! `windlass log`: what happened in a run, line by line.

use std::path::Path;

use clap::Args;
use windlass_engine::entry::{Answered, Entry, Note};
use windlass_journal::Journal;

use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::Teller;
use crate::render::{Output, clean};
use crate::replay::replay;
use crate::spoken::spoken;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass log
  windlass log task-2
  windlass log task-2 --full | less
  windlass log task-2 --json | tail -1
")]
pub struct LogArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Print every entry of the journal as a JSON line
    #[arg(long)]
    json: bool,

    /// With everything that agents were told and that programs printed
    #[arg(long, conflicts_with = "json")]
    full: bool,
}

pub fn run(args: &LogArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let known = known::named_or_newest(&journal, args.run.as_deref())?;
    if args.json {
        for entry in journal.read(&known.id, 0)? {
            out.line(&String::from_utf8_lossy(&entry?.bytes))?;
        }
        return Ok(Exit::Done);
    }
    let words = spoken(&journal, &known.id, &known.run)?.words();
    let mut teller = Teller::new(known.run.workflow().clone(), words);
    replay(&journal, &known.id, |entry, run| {
        for line in teller.tell(entry, run) {
            out.line(&line)?;
        }
        if args.full {
            for (name, blob) in printed(entry) {
                show(&journal, &words.say(name, &[]), blob, out)?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// What programs printed on behalf of an entry, by the message that names it.
fn printed(entry: &Entry) -> Vec<(&'static str, &str)> {
    let Entry::Note(noted) = entry else { return Vec::new() };
    match &noted.note {
        Note::Asked(asked) => vec![("log-prompt", &asked.prompt)],
        Note::Answered(it) => said_and_printed(it),
        Note::Checked { output: Some(output), .. } => vec![("log-printed", output)],
        Note::BaseChecked { output, .. } => vec![("log-printed-before", output)],
        Note::Shown { shown, .. } => vec![("log-shown", shown)],
        Note::Checked { output: None, .. }
        | Note::TakenUp { .. }
        | Note::Based { .. }
        | Note::Saved { .. }
        | Note::Landed { .. }
        | Note::Turned { .. }
        | Note::Conflicted { .. }
        | Note::ByHand { .. }
        | Note::Lost { .. }
        | Note::Left { .. }
        | Note::Told { .. }
        | Note::Paper { .. }
        | Note::Kept { .. }
        | Note::Tidied => Vec::new(),
    }
}

/// What an agent printed, and what others see of that where its kind picks it out.
fn said_and_printed(answered: &Answered) -> Vec<(&'static str, &str)> {
    // Named one by one, so that whoever adds a field is asked about it.
    let Answered {
        asked: _,
        came: _,
        ended: _,
        stdout,
        stderr,
        text,
        limited_until: _,
        models: _,
        handed_to: _,
        remarks: _,
        commit: _,
        files: _,
    } = answered;
    let text = text.as_deref().map(|text| ("log-said", text));
    [("log-printed", stdout.as_str())]
        .into_iter()
        .chain(text)
        .chain([("log-errors", stderr.as_str())])
        .collect()
}

fn show(journal: &Journal, name: &str, blob: &str, out: &mut Output) -> Result<(), Error> {
    let Ok(id) = blob.parse() else { return Ok(()) };
    let bytes = journal.get(id)?;
    if bytes.is_empty() {
        return Ok(());
    }
    out.line(&format!("    {name}:"))?;
    for line in String::from_utf8_lossy(&bytes).lines() {
        out.line(&format!("    | {}", clean(line)))?;
    }
    Ok(())
}
