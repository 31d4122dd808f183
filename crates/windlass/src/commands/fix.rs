//! `windlass fix`: decides about fixes that were proposed after tests or CI failed.

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use windlass_clerks::memory::{self, Files};
use windlass_core::run::Phase;
use windlass_core::value::Value;
use windlass_sources::failure::{PROPOSALS, Proposal, Proposals, Unsure};
use windlass_sources::plans::{self, BYTES_MAX, Form, Plans};

use super::work;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::request::{Request, who};
use crate::workplace::Workplace;
use crate::{known, relay};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass fix list
  windlass fix approve 26.1.fix    add it to Plans.md as cc:TODO
  windlass fix reject 26.1         by the task that failed
  windlass fix yes                 approve the only one that is proposed; `no` rejects it
")]
pub struct FixArgs {
    #[command(subcommand)]
    command: FixCommand,

    /// The table, instead of the one that the fix was proposed for
    #[arg(long, value_name = "PATH", global = true)]
    plans: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum FixCommand {
    /// List what is proposed
    #[command(after_help = "Examples:\n  windlass fix list --json\n")]
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a fix to Plans.md as cc:TODO
    #[command(visible_alias = "yes", after_help = "Examples:\n  windlass fix approve 26.1.fix\n")]
    Approve {
        /// The fix, or the task that failed; without it, the only one there is
        #[arg(value_name = "TASK")]
        task: Option<String>,
    },
    /// Discard a proposal
    #[command(visible_alias = "no", after_help = "Examples:\n  windlass fix reject 26.1.fix\n")]
    Reject {
        /// The fix, or the task that failed; without it, the only one there is
        #[arg(value_name = "TASK")]
        task: Option<String>,
    },
}

pub fn run(args: &FixArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    match &args.command {
        FixCommand::List { json } => list(&place, *json, out),
        FixCommand::Approve { task } => decided(place, args, task.as_deref(), true, out),
        FixCommand::Reject { task } => decided(place, args, task.as_deref(), false, out),
    }
}

fn pending(place: &Workplace) -> Result<Proposals, Error> {
    let text = Files::of(place.repository.top()).text(PROPOSALS).map_err(work::unusable)?;
    Ok(Proposals::read(&text.unwrap_or_default()))
}

fn list(place: &Workplace, json: bool, out: &mut Output) -> Result<Exit, Error> {
    let pending = pending(place)?;
    if json {
        let all: Vec<_> = pending.all().collect();
        out.json(&serde_json::json!({ "proposals": all }))?;
        return Ok(Exit::Done);
    }
    let mut none = true;
    for fix in pending.all() {
        none = false;
        let other = fix.plans.as_deref().filter(|table| *table != plans::PATH);
        let of = other.map_or(String::new(), |table| format!(" of {}", clean(table)));
        out.line(&format!(
            "{}  {}\n    after task {}{of}: {}",
            clean(&fix.fix_task_id),
            clean(&fix.content),
            clean(&fix.source_task_id),
            clean(&fix.cause_key)
        ))?;
    }
    match none {
        true => out.line("no fix is proposed")?,
        false => out.note("`windlass fix approve TASK` adds one to Plans.md, `windlass fix reject TASK` discards it")?,
    }
    Ok(Exit::Done)
}

/// Approves or rejects a fix: by answering the question that waits for it, or else by hand.
fn decided(
    place: Workplace,
    args: &FixArgs,
    task: Option<&str>,
    approved: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let all = pending(&place)?;
    let said = args.plans.as_deref().map(|said| work::table(&place, Some(said))).transpose()?;
    let meant = all.meant(task, said.as_deref()).cloned();
    let fix = meant.map_err(|unsure: Unsure| {
        let verb = if approved { "approve" } else { "reject" };
        let next = match &unsure {
            Unsure::Several(ids) => {
                let each = ids.iter().map(|id| format!("windlass fix {verb} {}", clean(id)));
                each.collect::<Vec<_>>().join(", or ")
            }
            Unsure::None | Unsure::NoSuch { .. } => "`windlass fix list` lists them".to_owned(),
        };
        Error::usage(unsure.to_string()).hint(format!("{next}; nothing was changed"))
    })?;
    let id = clean(&fix.fix_task_id);
    if let Some((run, gate)) = question(&place, &fix)? {
        let option = Some(if approved { "approve" } else { "reject" }.to_owned());
        let taken =
            relay::send(place, Request::Answer { run, gate, option, text: None, who: who() })?;
        out.remarks(&taken.said)?;
        out.line(&format!("{id} is {}", if approved { "approved" } else { "rejected" }))?;
        if !taken.under_way {
            out.note("`windlass resume` goes on from there")?;
        }
        return Ok(Exit::Done);
    }
    let files = Files::of(place.repository.top());
    if approved {
        let file = said.or_else(|| fix.plans.clone());
        add(&place, file.as_deref().unwrap_or(plans::PATH), &fix)?;
    }
    let decided = files.revise(PROPOSALS, memory::BYTES_MAX, |text| {
        let mut all = Proposals::read(text.unwrap_or_default());
        // Who has decided meanwhile, has.
        all.remove(&fix);
        Ok::<_, Error>(Some(all.write()))
    });
    decided.map_err(|error| error.hint("it is listed still"))?;
    let what = if approved { "is in the table as cc:TODO" } else { "is discarded" };
    out.line(&format!("{id} {what}"))?;
    Ok(Exit::Done)
}

/// Adds the row of a fix to the table.
fn add(place: &Workplace, file: &str, fix: &Proposal) -> Result<(), Error> {
    let files = Files::of(place.repository.top());
    let row = fix.row().ok_or_else(|| {
        Error::usage(format!("{} is no number of a task", clean(&fix.fix_task_id)))
            .hint(format!("mend {PROPOSALS}; nothing was changed"))
    })?;
    let added = files.revise(file, BYTES_MAX, |text| {
        let plans = Plans::read(text.unwrap_or_default());
        if plans.form() != Form::Second {
            return Err(Error::usage(format!("{file} has no table that it could be added to"))
                .hint("`--plans` names another; nothing was changed"));
        }
        // Whoever was cut off after this comes again.
        if plans.row(&row.number).is_some() {
            return Ok(None);
        }
        let rows = std::slice::from_ref(&row);
        let appended = plans.with_rows(rows).ok_or_else(Error::defect)?;
        Ok(Some(appended.plans.text().to_owned()))
    });
    added.map(drop)
}

/// The questions about fixes, each with what fills in the number of the one that it is about.
const ABOUT: [(&str, &str); 2] =
    [("propose_fix", "{test_cause.fix}"), ("propose_last", "{ci_cause.fix}")];

/// The question of a run that waits for a decision about exactly this fix.
fn question(place: &Workplace, fix: &Proposal) -> Result<Option<(String, u32)>, Error> {
    let Some(journal) = place.look()? else { return Ok(None) };
    for known in known::all(&journal)?.readable {
        let run = &known.run;
        let file = match run.input_named("file") {
            Some(Value::Text(file)) => file.trim_start_matches("./"),
            _ => plans::PATH,
        };
        let other = fix.plans.as_deref().is_some_and(|plans| plans != file);
        if run.phase() == Phase::Ended || other {
            continue;
        }
        for gate in run.gates() {
            let stage = &run.workflow().stage(gate.stage).name;
            let named = ABOUT.iter().find(|(name, _)| name == stage);
            let about = named.and_then(|(_, fix)| run.filled_in(gate.id, fix));
            if gate.unit.as_deref() == Some(fix.source_task_id.as_str())
                && about.as_deref() == Some(fix.fix_task_id.as_str())
            {
                return Ok(Some((known.id.as_str().to_owned(), gate.id.0)));
            }
        }
    }
    Ok(None)
}
