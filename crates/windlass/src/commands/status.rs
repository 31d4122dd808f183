//! `windlass status`: how the runs of this repository stand.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use windlass_clerks::Left;
use windlass_core::run::{OpenGate, Phase, Run, Standing, UnitIx, UnitStatus, UnitView, Why};
use windlass_core::workflow::{RunOutcome, Settled};
use windlass_engine::clock::wall_ms;
use windlass_engine::date;
use windlass_journal::{Journal, Lock, RunId};
use windlass_words::Words;

use crate::error::Error;
use crate::exit::Exit;
use crate::face::{standing, status_word};
use crate::forecast::{Outlook, Pace};
use crate::known::{self, Known, Runs};
use crate::meta::Meta;
use crate::progress::{Chronicle, waiting};
use crate::render::{
    Output, because_of, clean, dollars, holds, in_a_line, restore, stands, time, used_up,
};
use crate::spoken::words_about;
use crate::story::why;
use crate::waits::Waits;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass status
  windlass status task-2 --json
  windlass status --all
")]
pub struct StatusArgs {
    /// The run; without one, all that are not over, and the newest of a workflow that was escalated
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
        let needs_a_person = needing_a_person(&runs);
        // What waits to be taken is not over for whoever has to take it.
        runs.retain(|known| {
            let mut waiting = waits(&place, journal.as_ref(), known).into_iter();
            known.run.phase() != Phase::Ended
                || (known.is_untidy() && Some(&known.id) == newest.as_ref())
                || waiting.any(|it| matches!(it.became, Waits::For(_)))
                || needs_a_person.contains(&known.id)
        });
    }
    if args.json {
        let holder = holder.map(|holder| json!({ "pid": holder.pid, "what": holder.what }));
        let journal = journal.as_ref();
        let running = holder.is_some();
        let course = |known: &Known| Course::of(journal, known, running);
        let runs: Result<Vec<Value>, Error> = runs
            .iter()
            .map(|known| Ok(run_json(&place, known, &course(known)?, journal)))
            .collect();
        let runs = runs?;
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
        let words = match &newest {
            Some(newest) if *newest == known.id => words,
            _ => words_about(journal.as_ref(), Some(known))?,
        };
        let course = Course::of(journal.as_ref(), known, running)?;
        tell(&place, known, &course, (journal.as_ref(), running), words, out)?;
    }
    Ok(Exit::Done)
}

/// What waited for a person to take it, and what has become of that.
struct Waiting<'k> {
    unit: Option<&'k str>,
    commit: &'k str,
    became: Waits,
}

fn waits<'k>(place: &Workplace, journal: Option<&Journal>, known: &'k Known) -> Vec<Waiting<'k>> {
    let meta = journal.and_then(|journal| Meta::of(journal, &known.id).ok());
    let onto = meta.as_ref().and_then(|meta| meta.target.as_deref());
    let one = |(unit, commit, command): (Option<&'k str>, &'k str, &'k str)| {
        let became = Waits::of(&place.repository, onto, commit, command);
        Waiting { unit, commit, became }
    };
    known.books.waiting().map(one).collect()
}

/// The runs that ended and left something to a person, as long as nobody has begun another of the kind.
fn needing_a_person(runs: &[Known]) -> BTreeSet<RunId> {
    let mut seen = BTreeSet::new();
    let latest = runs.iter().rev().filter(|known| seen.insert(&*known.run.workflow().name));
    let left = latest.filter(|known| known.run.outcome() == Some(RunOutcome::Escalated));
    left.map(|known| known.id.clone()).collect()
}

/// What a person may do about a run that ended and left something to them.
fn what_next(known: &Known, words: Words) -> Option<String> {
    if known.run.outcome() != Some(RunOutcome::Escalated) {
        return None;
    }
    Some(match Left::by(known.run.workflow()) {
        Some(left) => (left.after_escalation)(words),
        None => words.say("status-next", &[("run", known.id.as_str())]),
    })
}

/// The commit that has what was built of a unit that did not land, if it is a person's to look at.
fn kept<'k>(known: &'k Known, unit: &UnitView) -> Option<&'k str> {
    let over = matches!(unit.status, UnitStatus::Settled(how) if how != Settled::Done);
    known.books.built(Some(&unit.id)).filter(|_| over && !unit.landed)
}

/// What was said last of a unit that failed on that, and by which role: what a person is to decide.
fn last_word<'k>(
    known: &'k Known,
    unit: &UnitView,
    journal: Option<&Journal>,
) -> Option<(&'k str, String)> {
    let failed = unit.status == UnitStatus::Settled(Settled::Failed);
    let last = known.books.last_word(&unit.id).filter(|_| failed)?;
    let said = journal?.get(last.said.parse().ok()?).ok()?;
    let gist = windlass_agents::gist(&String::from_utf8_lossy(&said));
    (!gist.is_empty()).then_some((last.role.as_str(), gist))
}

/// How a run has come along, as its journal tells it.
struct Course {
    chronicle: Chronicle,
    outlook: Outlook,
    now_ms: u64,
}

impl Course {
    fn of(journal: Option<&Journal>, known: &Known, running: bool) -> Result<Self, Error> {
        let flow = known.run.workflow();
        let chronicle = match journal {
            Some(journal) => Chronicle::of(journal, &known.id, flow)?,
            None => Chronicle::new(flow.clone()),
        };
        let last = chronicle.watch().now();
        // While somebody is at it, time has passed since the last entry.
        let running = running && known.run.phase() != Phase::Ended;
        let since = if running { wall_ms().saturating_sub(last.wall_ms) } else { 0 };
        let now_ms = last.mono_ms + u64::try_from(since).unwrap_or(0);
        let outlook = Pace::of(&chronicle).outlook(&known.run, chronicle.watch(), now_ms);
        Ok(Course { chronicle, outlook, now_ms })
    }
}

fn tell(
    place: &Workplace,
    known: &Known,
    course: &Course,
    (journal, running): (Option<&Journal>, bool),
    words: Words,
    out: &mut Output,
) -> Result<(), Error> {
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
    if let (Some(cost), Some(left)) = (course.outlook.expected_micros, course.outlook.left_ms)
        && course.outlook.open_units > 0
    {
        let about = [("forecast", &*dollars(cost, words)), ("time", &time(left))];
        out.line(&format!("  {}", words.say("live-forecast", &about)))?;
    }
    under_way(known, course, words, out)?;
    held(known, words, out)?;
    if run.standing() == Standing::Exhausted {
        for line in used_up(run, course.chronicle.watch(), words) {
            out.line(&format!("  {line}"))?;
        }
    }
    undone(known, journal, words, out)?;
    for Waiting { unit, commit, became } in waits(place, journal, known) {
        let unit = unit.map_or(String::new(), |unit| format!("{unit}: "));
        let commit = ("commit", &commit[..commit.len().min(10)]);
        let waits = match &became {
            Waits::For(command) => {
                words.say("status-to-be-taken", &[commit, ("command", &clean(command))])
            }
            Waits::GivenUp => words.say("status-given-up", &[commit]),
            Waits::Taken => continue,
        };
        out.line(&format!("  {}{waits}", clean(&unit)))?;
    }
    let gates = run.gates().len();
    if gates > 0 {
        out.line(&format!("  {}", words.say("status-open", &[("count", &gates.to_string())])))?;
    }
    if let Some(next) = what_next(known, words) {
        out.line(&format!("  {next}"))?;
    }
    Ok(())
}

/// The units that were not done: those that failed, each with how to have back what was built of it, and those that had to wait
/// for them.
fn undone(
    known: &Known,
    journal: Option<&Journal>,
    words: Words,
    out: &mut Output,
) -> Result<(), Error> {
    let run = &known.run;
    let failed = |unit: &UnitView| unit.status == UnitStatus::Settled(Settled::Failed);
    for unit in run.units().filter(failed).take(UNITS_SHOWN) {
        let failed = [("unit", &*clean(&unit.id)), ("title", &in_a_line(&unit.title))];
        out.line(&format!("  {}", words.say("status-failed", &failed)))?;
        if let Some((role, said)) = last_word(known, &unit, journal) {
            let said = [("role", role), ("text", &*clean(&said))];
            out.line(&format!("    {}", words.say("status-said-last", &said)))?;
        }
        if let Some(commit) = kept(known, &unit) {
            let command = [("command", &*restore(commit))];
            out.line(&format!("    {}", words.say("status-kept", &command)))?;
        }
    }
    let blocked = run.units().filter(|unit| unit.because.is_some());
    for unit in blocked.take(UNITS_SHOWN) {
        let because = clean(&because_of(unit.because.as_deref(), words));
        let blocked = [
            ("unit", &*clean(&unit.id)),
            ("because", &because),
            ("title", &in_a_line(&unit.title)),
        ];
        out.line(&format!("  {}", words.say("status-blocked", &blocked)))?;
    }
    Ok(())
}

/// What waits for a person who is asked nothing, and what was said of it last.
fn held(known: &Known, words: Words, out: &mut Output) -> Result<(), Error> {
    let lines = holds(&known.run, words);
    if lines.is_empty() {
        return Ok(());
    }
    for (line, (unit, _)) in lines.iter().zip(known.run.holds()).take(UNITS_SHOWN) {
        out.line(&format!("  {line}"))?;
        for remark in remarks(known, unit.as_deref()) {
            out.line(&format!("    {}", clean(remark)))?;
        }
    }
    out.line(&format!("  {}", words.say("status-holds-next", &[])))
}

/// What a person should know of the last answer at the stage where a unit is.
fn remarks<'k>(known: &'k Known, unit: Option<&str>) -> &'k [String] {
    let stage = unit.and_then(|unit| known.run.unit_named(unit)?.stage);
    let Some(stage) = stage else { return &[] };
    let stage = &known.run.workflow().stage(stage).name;
    known.books.attempts(unit, None, stage).last().map_or(&[], |it| &it.remarks)
}

fn holds_json(known: &Known) -> Vec<Value> {
    let run = &known.run;
    let one = |(unit, because): (Option<Arc<str>>, Why)| {
        let stage = unit.as_deref().and_then(|unit| run.unit_named(unit)?.stage);
        json!({
            "unit": unit,
            "stage": stage.map(|stage| &run.workflow().stage(stage).name),
            "why": why(run.workflow(), because, Words::default()),
            "remarks": remarks(known, unit.as_deref()),
        })
    };
    run.holds().map(one).collect()
}

/// The units that are under way.
fn under_way(known: &Known, course: &Course, words: Words, out: &mut Output) -> Result<(), Error> {
    let run = &known.run;
    let under_way = course.chronicle.watch().units().take(UNITS_SHOWN);
    for (ix, begun) in under_way {
        let Some(unit) = run.unit_at(ix) else { continue };
        let stage = unit.stage.map_or("", |stage| &run.workflow().stage(stage).name);
        let at =
            [("unit", &*clean(&unit.id)), ("stage", stage), ("title", &in_a_line(&unit.title))];
        let mut line = words.say("status-at", &at);
        if begun.attempts > 1 {
            let attempt = [("attempt", &*begun.attempts.to_string())];
            line.push_str(&format!(" · {}", words.say("tell-attempt", &attempt)));
        }
        let elapsed = time(course.now_ms.saturating_sub(begun.since_ms));
        let cost = dollars(begun.cost_micros, words);
        out.line(&format!("  {line} · {elapsed} · {cost}"))?;
    }
    for (earlier, later, foreseen) in known.books.foreseen(run).take(UNITS_SHOWN) {
        let files = clean(&foreseen.files.join(", "));
        let pair = [("unit", &*clean(later)), ("other", &clean(earlier)), ("files", &files)];
        out.line(&format!("  {}", words.say("status-foreseen", &pair)))?;
    }
    Ok(())
}

fn run_json(place: &Workplace, known: &Known, course: &Course, journal: Option<&Journal>) -> Value {
    let run = &known.run;
    let tally = run.tally();
    let landings = known.books.landings().iter();
    let waited = waits(place, journal, known);
    let landings = landings.map(|landing| {
        let own = waited.iter().find(|it| it.commit == landing.commit);
        let waits = own.and_then(|it| match &it.became {
            Waits::For(command) => Some(command),
            Waits::Taken | Waits::GivenUp => None,
        });
        json!({ "unit": landing.unit, "commit": landing.commit, "waits": waits })
    });
    let foreseen = known.books.foreseen(run).map(|(earlier, later, it)| {
        let since = date::instant(it.since);
        json!({ "earlier": earlier, "later": later, "files": it.files, "since": since })
    });
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
        "under_way": course.chronicle.watch().units().count(),
        "waiting": waiting(run).len(),
        "lanes": run.width(),
        "elapsed_ms": course.now_ms,
        "cost_usd": run.purse().settled.cost_micros as f64 / 1e6,
        "forecast": forecast_json(&course.outlook),
        "gates": run.gates().len(),
        "questions": questions_json(run),
        "holds": holds_json(known),
        "next": what_next(known, Words::default()),
        "units": units_json(known, course, journal),
        "landings": landings.collect::<Vec<_>>(),
        "foreseen": foreseen.collect::<Vec<_>>(),
    })
}

/// What is still to come; null where nobody knows.
fn forecast_json(outlook: &Outlook) -> Value {
    json!({
        "cost_usd": outlook.expected_micros.map(|micros| micros as f64 / 1e6),
        "cap_usd": outlook.cap_micros.map(|micros| micros as f64 / 1e6),
        "left_ms": outlook.left_ms,
        "from_units": outlook.done_units,
    })
}

fn questions_json(run: &Run) -> Vec<Value> {
    let one = |gate: OpenGate| {
        json!({
            "gate": gate.id.0,
            "unit": gate.unit,
            "stage": run.workflow().stage(gate.stage).name,
            "question": gate.question,
        })
    };
    run.gates().into_iter().map(one).collect()
}

fn units_json(known: &Known, course: &Course, journal: Option<&Journal>) -> Vec<Value> {
    let run = &known.run;
    let mut commits: BTreeMap<&str, &str> = BTreeMap::new();
    for landing in known.books.landings() {
        if let Some(unit) = &landing.unit {
            commits.insert(unit, &landing.commit);
        }
    }
    let one = |(ix, unit): (u32, UnitView)| {
        let track = course.chronicle.track(UnitIx(ix), course.now_ms).unwrap_or_default();
        json!({
            "id": unit.id,
            "title": unit.title,
            "status": status_word(unit.status),
            "because": unit.because,
            "stage": unit.stage.map(|stage| &run.workflow().stage(stage).name),
            "attempts": track.attempts,
            "elapsed_ms": track.elapsed_ms,
            "busy_ms": track.busy_ms,
            "cost_usd": track.cost_micros as f64 / 1e6,
            "lane": unit.lane.or(track.lane),
            "landed": unit.landed,
            "commit": commits.get(&*unit.id),
            "said": last_word(known, &unit, journal).map(|(_, said)| said),
            "kept": kept(known, &unit),
            "conflicts": known.books.conflicts(Some(&unit.id)),
        })
    };
    (0..).zip(run.units()).map(one).collect()
}
