//! `windlass plan`: makes a Plans.md, adds tasks to it, and mends markers that are stale.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use windlass_clerks::memory::Files;
use windlass_core::value::Value;
use windlass_sources::plans::{
    BYTES_MAX, Compared, Drift, Form, NewRow, Number, Plans, Status, Unclear, compared,
};

use super::work;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::past;
use crate::render::{Output, clean};
use crate::under_way::Lands;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  windlass plan \"A command line for notes\"     have a planner make Plans.md, where there is none
  windlass plan add 'Export as CSV' --dod '`export --csv` prints a header' --depends 3
  windlass plan sync                           have markers say what the history says
  windlass plan sync --check                   only say which do not

The table is yours: change it as you like. `windlass work` works it off.
"
)]
pub struct PlanArgs {
    /// What is wanted, in words
    #[arg(value_name = "WISH")]
    wish: Vec<String>,

    /// The table, instead of Plans.md
    #[arg(long, value_name = "PATH", global = true)]
    plans: Option<PathBuf>,

    /// Print JSON, and ask nothing
    #[arg(long, global = true)]
    json: bool,

    #[command(subcommand)]
    command: Option<PlanCommand>,
}

#[derive(Debug, Subcommand)]
enum PlanCommand {
    /// Add a task at the end of the table
    #[command(
        after_help = "Examples:\n  windlass plan add 'Export as CSV' --dod '`export --csv` prints a header' --depends 3\n"
    )]
    Add(AddArgs),

    /// Have stale markers say what the history says
    #[command(after_help = "Examples:\n  windlass plan sync\n  windlass plan sync --check\n")]
    Sync {
        /// Only say which are stale; exits 1 if any is
        #[arg(long)]
        check: bool,
    },
}

#[derive(Debug, Args)]
struct AddArgs {
    /// What is to be done, in a line; `[P]` before it says that it can be done beside others
    #[arg(value_name = "CONTENT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    content: String,

    /// When it is done
    #[arg(long, value_name = "TEXT", default_value = "It does what is said; tests pass")]
    dod: String,

    /// A task that must be done before; may be given more than once
    #[arg(long, value_name = "TASK")]
    depends: Vec<String>,

    /// Its number; without one, the next that is free
    #[arg(long, value_name = "NUMBER")]
    number: Option<String>,
}

pub fn run(args: &PlanArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let file = work::table(&place, args.plans.as_deref())?;
    match &args.command {
        None => made(&place, file, &args.wish.join(" "), Tone::of(args.json)),
        Some(PlanCommand::Add(add)) => added(&place, &file, add, args.json, out),
        Some(PlanCommand::Sync { check }) => synced(&place, &file, *check, args.json, out),
    }
}

/// Has a planner make the table.
fn made(place: &Workplace, file: String, wish: &str, tone: Tone) -> Result<Exit, Error> {
    let there = read(place, &file)?;
    if there.as_ref().is_some_and(|plans| plans.form() != Form::Empty) {
        return Err(Error::usage(format!("{file} is there already")).hint(
            "`windlass plan add` adds a task to it; to have one made anew, move it away first",
        ));
    }
    let place = Workplace::find(Path::new("."))?.take("windlass plan")?;
    let inputs = BTreeMap::from([
        ("wish".to_owned(), Value::text(wish)),
        ("file".to_owned(), Value::text(&file)),
        ("plan_only".to_owned(), Value::Flag(true)),
        ("drift_seen".to_owned(), Value::Flag(true)),
    ]);
    work::start(&place, inputs, Lands::Here, tone)
}

/// The table as it is, if it is there.
fn read(place: &Workplace, file: &str) -> Result<Option<Plans>, Error> {
    let files = Files::of(place.repository.top());
    Ok(files.theirs(file, BYTES_MAX).map_err(work::unusable)?.map(Plans::read))
}

/// The table, if it is one.
fn need(file: &str, text: Option<&str>) -> Result<Plans, Error> {
    let plans = Plans::read(text.unwrap_or_default());
    match plans.form() {
        Form::Second => Ok(plans),
        Form::Empty => Err(Error::usage(format!("there is no {file}"))
            .hint("windlass plan \"…\" makes one; nothing was changed")),
        Form::Old => Err(Error::usage(format!(
            "{file} is in the old format. Please regenerate with harness-plan create."
        ))
        .hint("move it away, and `windlass plan \"…\"` makes one; nothing was changed")),
    }
}

/// Changes the table, as it is by then.
fn revise(
    place: &Workplace,
    file: &str,
    mut change: impl FnMut(&Plans) -> Result<Plans, Error>,
) -> Result<(), Error> {
    let files = Files::of(place.repository.top());
    let revised = files.revise(file, BYTES_MAX, |text| {
        Ok::<_, Error>(Some(change(&need(file, text)?)?.text().to_owned()))
    });
    revised.map(drop)
}

fn added(
    place: &Workplace,
    file: &str,
    args: &AddArgs,
    json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let mut number = None;
    revise(place, file, |plans| {
        let row = row(plans, args)?;
        number = Some(row.number.clone());
        Ok(plans.with_rows(&[row]).ok_or_else(Error::defect)?.plans)
    })?;
    let number = number.ok_or_else(Error::defect)?;
    match json {
        true => out.json(&serde_json::json!({ "task": number.as_str(), "file": file }))?,
        false => out.line(&format!("task {number} is in {file}"))?,
    }
    Ok(Exit::Done)
}

/// The row of a task that is new in a table.
fn row(plans: &Plans, args: &AddArgs) -> Result<NewRow, Error> {
    let number = |text: &String| {
        Number::of(text).ok_or_else(|| {
            Error::usage(format!("`{text}` is no number of a task")).hint("26, 26.1 and H-2 are")
        })
    };
    let depends = args.depends.iter().map(number).collect::<Result<Vec<_>, _>>()?;
    if let Some(unknown) = depends.iter().find(|on| !has(plans, on)) {
        return Err(Error::usage(format!("there is no task {unknown}")).hint("nothing was changed"));
    }
    let number = match &args.number {
        Some(said) => number(said)?,
        None => plans.free().next().ok_or_else(Error::defect)?,
    };
    if plans.row(&number).is_some() {
        return Err(Error::usage(format!("there is a task {number} already"))
            .hint("leave out --number, and it gets the next that is free; nothing was changed"));
    }
    Ok(NewRow {
        number,
        content: args.content.clone(),
        dod: args.dod.clone(),
        depends,
        status: Status::Todo,
        beside: None,
    })
}

/// Whether there is a row of a number, or one below it.
fn has(plans: &Plans, number: &Number) -> bool {
    plans.rows().iter().any(|row| row.number == *number || row.number.is_below(number))
}

/// Has stale markers say what the history says, or only says which are stale.
fn synced(
    place: &Workplace,
    file: &str,
    check: bool,
    json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let commits = past::commits(&place.repository)?;
    let (mut found, mut left) = (Compared::default(), Vec::new());
    revise(place, file, |plans| {
        found = compared(plans.rows(), &commits);
        left.clear();
        let mut mended = plans.clone();
        for drift in &found.stale {
            match mended.with_status(&drift.number, &drift.mended()) {
                Some(next) => mended = next,
                None => left.push(drift.number.to_string()),
            }
        }
        Ok(if check { plans.clone() } else { mended })
    })?;
    told(&found, &left, check, json, out)?;
    Ok(if check && !found.stale.is_empty() { Exit::Error } else { Exit::Done })
}

fn told(
    found: &Compared,
    left: &[String],
    check: bool,
    json: bool,
    out: &mut Output,
) -> Result<(), Error> {
    let Compared { stale, unclear } = found;
    if json {
        let doubt = |it: &Unclear| {
            serde_json::json!({
                "task": it.number.as_str(), "line": it.line, "status": it.status.to_string(),
                "commit": it.hash, "or_task": it.rival.as_str(),
            })
        };
        let one = |drift: &Drift| {
            serde_json::json!({
                "task": drift.number.as_str(), "line": drift.line, "status": drift.status.to_string(),
                "becomes": drift.mended().to_string(), "changed": !check && !left.contains(&drift.number.to_string()),
            })
        };
        return out.json(&serde_json::json!({
            "stale": stale.iter().map(one).collect::<Vec<_>>(),
            "unclear": unclear.iter().map(doubt).collect::<Vec<_>>(),
        }));
    }
    for unclear in unclear {
        out.line(&format!("{}: left as it is", clean(&unclear.to_string())))?;
    }
    if stale.is_empty() && unclear.is_empty() {
        return out.line("every marker says what the history says");
    }
    for drift in stale {
        let becomes = match (check, left.contains(&drift.number.to_string())) {
            (true, _) => format!("would become {}", drift.mended()),
            (false, false) => format!("now {}", drift.mended()),
            (false, true) => "left as it is: its number is there twice".to_owned(),
        };
        out.line(&format!("{}: {becomes}", clean(&drift.to_string())))?;
    }
    Ok(())
}
