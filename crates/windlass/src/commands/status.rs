//! `windlass status`: how the runs of this repository stand.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use windlass_core::run::{Phase, Standing, UnitStatus};
use windlass_engine::date;
use windlass_journal::Lock;
use windlass_repo::Oid;
use windlass_words::Words;

use crate::error::Error;
use crate::exit::Exit;
use crate::face::{standing, status_word};
use crate::known::{self, Known, Runs};
use crate::render::{Output, because_of, clean, dollars, stands};
use crate::spoken::words_about;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass status
  windlass status task-2 --json
  windlass status --all
")]
pub struct StatusArgs {
    /// The run; without one, all that are not over
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Those that are over, too
    #[arg(long)]
    all: bool,

    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// So many units are listed; JSON has them all.
const UNITS_SHOWN: usize = 20;

pub fn run(args: &StatusArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let holder = Lock::held(&place.dir)?.and_then(|held| held.holder);
    let mut known = Runs::default();
    let journal = place.look()?;
    if let Some(journal) = &journal {
        match &args.run {
            Some(name) => known.readable.push(known::open(journal, Some(name))?),
            None => known = known::all(journal)?,
        }
    } else if let Some(name) = &args.run {
        return Err(Error::no_run(name, None));
    }
    let Runs { readable: mut runs, unreadable } = known;
    let newest = runs.last().map(|known| known.id.clone());
    let words = words_about(journal.as_ref(), runs.last())?;
    if args.run.is_none() && !args.all {
        // What waits to be taken is not over for whoever has to take it.
        runs.retain(|known| {
            let mut waiting =
                known.books.waiting().filter_map(|(_, commit, _)| Oid::parse(commit).ok());
            known.run.phase() != Phase::Ended
                || (known.is_untidy() && Some(&known.id) == newest.as_ref())
                || waiting.any(|commit| !place.repository.has_taken(&commit).unwrap_or(true))
        });
    }
    if args.json {
        let holder = holder.map(|holder| json!({ "pid": holder.pid, "what": holder.what }));
        let runs: Vec<Value> = runs.iter().map(run_json).collect();
        let unreadable: Vec<Value> = unreadable
            .iter()
            .map(|(id, error)| json!({ "run": id.as_str(), "error": error.to_string() }))
            .collect();
        out.json(&json!({ "holder": holder, "runs": runs, "unreadable": unreadable }))?;
        return Ok(Exit::Done);
    }
    for (id, error) in &unreadable {
        let what = [("run", id.as_str()), ("error", &clean(&error.to_string()))];
        out.line(&words.say("status-unreadable", &what))?;
        out.line(&format!("  {}", words.say("status-damaged", &[])))?;
    }
    let running = holder.is_some();
    match holder {
        Some(holder) => {
            let held = [("what", &*clean(&holder.what)), ("pid", &holder.pid.to_string())];
            out.line(&words.say("status-held", &held))?;
        }
        None => out.line(&words.say("status-nothing-running", &[]))?,
    }
    if runs.is_empty() {
        out.line(&words.say("status-no-run", &[]))?;
    }
    for known in &runs {
        let words = words_about(journal.as_ref(), Some(known))?;
        tell(known, running, words, out)?;
    }
    Ok(Exit::Done)
}

fn tell(known: &Known, running: bool, words: Words, out: &mut Output) -> Result<(), Error> {
    let run = &known.run;
    let tally = run.tally();
    let stands = stands(run, words);
    let standing = match run.standing() {
        Standing::Running | Standing::Parked(_) if !running => words.say("status-cut-off", &[]),
        Standing::Ended(_) if known.is_untidy() && !running => {
            words.say("status-untidy", &[("standing", &stands)])
        }
        Standing::Parked(_) => match run.served_again_at() {
            Some(at) => {
                let until = [("standing", &*stands), ("instant", &date::instant(at))];
                words.say("status-until", &until)
            }
            None => stands,
        },
        _ => stands,
    };
    out.line(&format!("{}: {standing}", known.id.as_str()))?;
    let numbers = [
        ("done", &*tally.done.to_string()),
        ("total", &tally.total.to_string()),
        ("failed", &tally.failed.to_string()),
        ("skipped", &tally.skipped.to_string()),
        ("blocked", &tally.blocked.to_string()),
        ("spent", &dollars(run.purse().settled.cost_micros, words)),
    ];
    out.line(&format!("  {}", words.say("status-tally", &numbers)))?;
    let open: Vec<_> = run.units().filter(|unit| unit.status == UnitStatus::Started).collect();
    for unit in open.iter().take(UNITS_SHOWN) {
        let stage = unit.stage.map_or("", |stage| &run.workflow().stage(stage).name);
        let at = [("unit", &*clean(&unit.id)), ("stage", stage), ("title", &clean(&unit.title))];
        out.line(&format!("  {}", words.say("status-at", &at)))?;
    }
    let blocked = run.units().filter(|unit| unit.because.is_some());
    for unit in blocked.take(UNITS_SHOWN) {
        let because = clean(&because_of(unit.because.as_deref(), words));
        let blocked =
            [("unit", &*clean(&unit.id)), ("because", &because), ("title", &clean(&unit.title))];
        out.line(&format!("  {}", words.say("status-blocked", &blocked)))?;
    }
    for (unit, commit, command) in known.books.waiting() {
        let unit = unit.map_or(String::new(), |unit| format!("{unit}: "));
        let short = &commit[..commit.len().min(10)];
        let waits =
            words.say("status-to-be-taken", &[("commit", short), ("command", &clean(command))]);
        out.line(&format!("  {}{waits}", clean(&unit)))?;
    }
    let gates = run.gates().len();
    if gates > 0 {
        out.line(&format!("  {}", words.say("status-open", &[("count", &gates.to_string())])))?;
    }
    Ok(())
}

fn run_json(known: &Known) -> Value {
    let run = &known.run;
    let tally = run.tally();
    let units: Vec<Value> = run
        .units()
        .map(|unit| {
            json!({
                "id": unit.id,
                "title": unit.title,
                "status": status_word(unit.status),
                "because": unit.because,
                "stage": unit.stage.map(|stage| &run.workflow().stage(stage).name),
                "lane": unit.lane,
                "landed": unit.landed,
            })
        })
        .collect();
    let landings = known.books.landings().iter();
    let landings = landings.map(
        |landing| json!({ "unit": landing.unit, "commit": landing.commit, "waits": landing.waits }),
    );
    json!({
        "run": known.id.as_str(),
        "workflow": run.workflow().name,
        "standing": standing(run),
        "limited_until": run.served_again_at().map(date::instant),
        "tidy": run.phase() != Phase::Ended || known.books.is_tidy(),
        "exit": crate::under_way::standing_exit(run).map(Exit::code),
        "events": run.seq(),
        "done": tally.done,
        "failed": tally.failed,
        "skipped": tally.skipped,
        "blocked": tally.blocked,
        "total": tally.total,
        "cost_usd": run.purse().settled.cost_micros as f64 / 1e6,
        "gates": run.gates().len(),
        "units": units,
        "landings": landings.collect::<Vec<_>>(),
    })
}
