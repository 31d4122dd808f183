//! `windlass journal`: whether the journal is sound, and what it holds.

use std::path::Path;

use clap::Subcommand;
use serde_json::json;
use windlass_journal::Scope;

use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::Output;
use crate::workplace::Workplace;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  windlass journal verify
  windlass journal export task-2 > task-2.jsonl
  windlass journal set-aside
")]
pub enum JournalCommand {
    /// Check every entry against the one before, and every blob against its name
    #[command(after_help = "Examples:\n  windlass journal verify\n")]
    Verify {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Print a run's entries as JSON lines, with their hashes
    #[command(after_help = "Examples:\n  windlass journal export task-2 > task-2.jsonl\n")]
    Export {
        /// The run; without one, the only one that is not over
        #[arg(value_name = "RUN")]
        run: Option<String>,
    },
    /// Put a damaged journal out of the way under another name, so that a fresh one can begin
    #[command(after_help = "Examples:\n  windlass journal set-aside\n")]
    SetAside,
}

pub fn run(command: &JournalCommand, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    if matches!(command, JournalCommand::SetAside) {
        return set_aside(&place, out);
    }
    let Some(journal) = place.look()? else {
        out.line("nothing has been written here yet")?;
        return Ok(Exit::Done);
    };
    match command {
        JournalCommand::Verify { json: as_json } => {
            let report = journal.verify(Scope::All)?;
            let flaw = report.first_flaw().map(ToString::to_string);
            if *as_json {
                out.json(&json!({
                    "sound": report.is_sound(),
                    "runs": report.runs.len(),
                    "flaw": flaw,
                }))?;
            } else if let Some(flaw) = &flaw {
                out.line(&format!("damaged: {flaw}"))?;
                out.line(
                    "nothing was changed; what comes before the damage can still be exported",
                )?;
            } else {
                out.line(&format!("sound: {} runs", report.runs.len()))?;
            }
            Ok(if report.is_sound() { Exit::Done } else { Exit::Failed })
        }
        JournalCommand::Export { run } => {
            // A damaged run cannot be folded, but what comes before the damage can be read.
            let id = match run {
                Some(name) => name.parse().map_err(|_| Error::no_run(name, None))?,
                None => known::open(&journal, None)?.id,
            };
            let mut bytes = Vec::new();
            let exported = journal.export(&id, &mut bytes);
            out.bytes(&bytes)?;
            exported?;
            Ok(Exit::Done)
        }
        JournalCommand::SetAside => Err(Error::defect()),
    }
}

/// Only what is really damaged: a sound journal is somebody's record.
fn set_aside(place: &Workplace, out: &mut Output) -> Result<Exit, Error> {
    let lock = place.lock("windlass journal set-aside")?;
    let opened = place.open(&lock).and_then(|journal| journal.verify(Scope::All));
    let sound = match opened {
        Ok(report) => report.is_sound(),
        Err(flaw) if flaw.is_damage() => false,
        Err(other) => return Err(other.into()),
    };
    if sound {
        return Err(Error::not_taken("the journal is sound: it stays where it is".to_owned()));
    }
    let aside = windlass_journal::set_aside(&lock)?;
    for (from, to) in &aside.renamed {
        out.line(&format!("{} is now {}", from.display(), to.display()))?;
    }
    out.line("nothing was removed; the next `windlass run` begins with a fresh journal")?;
    Ok(Exit::Done)
}
