//! `windlass log`: what happened in a run, line by line.

use std::path::Path;

use clap::Args;
use windlass_core::run::fold;
use windlass_engine::EngineError;
use windlass_engine::entry::{Entry, Note};
use windlass_journal::Journal;

use super::known;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::telling::Teller;
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
    let place = Workplace::find(Path::new("."))?;
    let journal = place.look()?.ok_or(Error::NothingOpen)?;
    let newest = journal.runs()?.last().map(|run| run.id.as_str().to_owned());
    let name = args.run.clone().or(newest).ok_or(Error::NothingOpen)?;
    let known = known::open(&journal, Some(&name))?;
    let mut teller = Teller::new(known.run.workflow().clone());
    let mut run = None;
    for entry in journal.read(&known.id, 0)? {
        let entry = entry?;
        if args.json {
            out.line(&String::from_utf8_lossy(&entry.bytes))?;
            continue;
        }
        let entry = Entry::read(&entry.bytes).map_err(EngineError::from)?;
        if let Entry::Event(recorded) = &entry {
            match &mut run {
                None => {
                    run = Some(fold(std::slice::from_ref(&**recorded)).map_err(EngineError::from)?)
                }
                Some(run) => run.evolve(recorded),
            }
        }
        for line in teller.tell(&entry, run.as_ref().unwrap_or(&known.run)) {
            out.line(&line)?;
        }
        if args.full {
            for (name, blob) in printed(&entry) {
                show(&journal, name, blob, out)?;
            }
        }
    }
    Ok(Exit::Done)
}

/// What programs printed on behalf of an entry.
fn printed(entry: &Entry) -> Vec<(&'static str, &str)> {
    let Entry::Note(noted) = entry else { return Vec::new() };
    match &noted.note {
        Note::Asked { prompt, .. } => vec![("prompt", prompt)],
        Note::Answered { stdout, stderr, .. } => vec![("printed", stdout), ("errors", stderr)],
        Note::Checked { output: Some(output), .. } => vec![("printed", output)],
        Note::BaseChecked { output, .. } => vec![("printed, without this work", output)],
        Note::Shown { shown, .. } => vec![("shown", shown)],
        _ => Vec::new(),
    }
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
