//! `windlass status`: how the runs of this repository stand.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use windlass_core::run::{Phase, Standing, UnitStatus};
use windlass_engine::date;
use windlass_journal::Lock;
use windlass_repo::Oid;

use crate::error::Error;
use crate::exit::Exit;
use crate::face::{standing, status_word};
use crate::known::{self, Known, Runs};
use crate::render::{Output, because_of, clean};
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
    if let Some(journal) = place.look()? {
        match &args.run {
            Some(name) => known.readable.push(known::open(&journal, Some(name))?),
            None => known = known::all(&journal)?,
        }
    } else if let Some(name) = &args.run {
        return Err(Error::no_run(name, None));
    }
    let Runs { readable: mut runs, unreadable } = known;
    let newest = runs.last().map(|known| known.id.clone());
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
        out.line(&format!("{} cannot be read: {}", id.as_str(), clean(&error.to_string())))?;
        out.line("  `windlass journal verify` says where it is damaged")?;
    }
    let running = holder.is_some();
    match holder {
        Some(holder) => {
            out.line(&format!("held by {} (pid {})", clean(&holder.what), holder.pid))?
        }
        None => out.line("nothing is running here")?,
    }
    if runs.is_empty() {
        out.line("no run is open")?;
    }
    for known in &runs {
        tell(known, running, out)?;
    }
    Ok(Exit::Done)
}

fn tell(known: &Known, running: bool, out: &mut Output) -> Result<(), Error> {
    let run = &known.run;
    let tally = run.tally();
    let standing = match run.standing() {
        Standing::Running | Standing::Parked(_) if !running => {
            "cut off: `windlass resume` goes on".to_owned()
        }
        Standing::Ended(_) if known.is_untidy() && !running => {
            format!("{}, and not tidied up yet: `windlass resume` does that", standing(run))
        }
        Standing::Parked(_) => match run.served_again_at() {
            Some(at) => format!("{}, until {}", standing(run), date::instant(at)),
            None => standing(run).to_owned(),
        },
        _ => standing(run).to_owned(),
    };
    out.line(&format!("{}: {standing}", known.id.as_str()))?;
    out.line(&format!(
        "  {} of {} done, {} failed, {} skipped, {} blocked; {:.2} dollars",
        tally.done,
        tally.total,
        tally.failed,
        tally.skipped,
        tally.blocked,
        run.purse().settled.cost_micros as f64 / 1e6,
    ))?;
    let open: Vec<_> = run.units().filter(|unit| unit.status == UnitStatus::Started).collect();
    for unit in open.iter().take(UNITS_SHOWN) {
        let stage = unit.stage.map_or("", |stage| &run.workflow().stage(stage).name);
        out.line(&format!("  {} at {stage} — {}", clean(&unit.id), clean(&unit.title)))?;
    }
    let blocked = run.units().filter(|unit| unit.because.is_some());
    for unit in blocked.take(UNITS_SHOWN) {
        let because = because_of(unit.because.as_deref());
        out.line(&format!(
            "  {} blocked{} — {}",
            clean(&unit.id),
            clean(&because),
            clean(&unit.title)
        ))?;
    }
    for (unit, commit, command) in known.books.waiting() {
        let unit = unit.map_or(String::new(), |unit| format!("{unit}: "));
        let short = &commit[..commit.len().min(10)];
        out.line(&format!("  {}{short} waits to be taken: {}", clean(&unit), clean(command)))?;
    }
    let gates = run.gates().len();
    if gates > 0 {
        out.line(&format!("  {gates} open: `windlass gates`"))?;
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
