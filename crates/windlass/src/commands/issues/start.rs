//! A loop over issues begins, goes on, and waits for more.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use windlass_clerks::issues::{All, NEXT, select};
use windlass_core::run::Phase;
use windlass_core::value::Value;
use windlass_core::workflow::Workflow;

use super::super::workflow::{CatalogueArgs, Target};
use super::{NAME, Place, StartArgs, config, known, left, list, mask, wanted};
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known as runs;
use crate::meta::Meta;
use crate::prepared::Onto;
use crate::render::Output;
use crate::tracker;
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

pub fn start(args: &StartArgs, out: &mut Output) -> Result<Exit, Error> {
    if args.dry_run {
        return list::explained(&args.which, args.issue.clone(), out);
    }
    loop {
        let exit = once(args, out)?;
        let place = Workplace::find(Path::new("."))?;
        let empty = left(&place)?.is_some_and(|it| it.ended.as_deref() == Some("done"));
        if !args.follow || exit != Exit::Done || !empty {
            return Ok(exit);
        }
        waits(args, &place, out)?;
    }
}

/// One loop, until nothing more can be done.
fn once(args: &StartArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let held = place.take("windlass issues")?;
    let tone = Tone::of(args.json);
    match open(&held)?.as_slice() {
        [] => begin(&held, args, tone, out),
        [id] => {
            if args.any() {
                out.note("flags are read when a loop begins: this one keeps those it began with")?;
            }
            let known = runs::open(&held.journal, Some(id))?;
            under_way::go_on(&held, known, tone)
        }
        several => Err(Error::several_open(several)),
    }
}

impl StartArgs {
    fn any(&self) -> bool {
        let super::Whose { tracker, project, label, team } = &self.which;
        let said = [project, label, team, &self.issue, &self.branch];
        tracker.is_some() || said.iter().any(|it| it.is_some()) || self.max.is_some() || self.once
    }
}

/// Loops that are not over.
fn open(held: &Held) -> Result<Vec<String>, Error> {
    let mut open = Vec::new();
    for known in runs::all(&held.journal)?.readable {
        let meta = Meta::of(&held.journal, &known.id)?;
        let over = known.run.phase() == Phase::Ended && !known.is_untidy();
        if meta.workflow == NAME && !over {
            open.push(known.id.as_str().to_owned());
        }
    }
    Ok(open)
}

fn begin(held: &Held, args: &StartArgs, tone: Tone, out: &mut Output) -> Result<Exit, Error> {
    let onto = args.branch.as_deref().map_or(Onto::Here, Onto::Branch);
    let config = held.looked_over(onto)?.prepared.config;
    let top = held.repository.top();
    let mut which = args.which.clone();
    let kind = which.which(&config.issues, top);
    let mut args = args.clone();
    if which.project(kind, &config.issues).is_none() && !args.json && std::io::stdin().is_terminal()
    {
        which.project =
            Some(ask("Which Linear project should the harness pull issues from?", None, out)?);
        if which.label.is_none() && config.issues.label.is_none() {
            let question = "Which label marks issues as ready for autonomous work?";
            which.label = Some(ask(question, Some("ready"), out)?);
        }
        if args.max.is_none() {
            let said = ask("Maximum iterations before auto-stop?", Some("20"), out)?;
            let max = said.parse().ok().filter(|it| *it > 0);
            args.max = Some(max.ok_or_else(|| Error::usage(format!("`{said}` is no number")))?);
        }
    }
    let place = which.open(&config.issues, top, held.mask(&config))?;
    // A project that is not there, or a key that opens nothing, is better found out before anything is begun.
    place.tracked.tracker.ready(&place.filter).map_err(tracker::refused)?;
    let order = Order {
        flow: flow()?,
        inputs: inputs(&place, &which.team(&config.issues), &args),
        about: Some(NAME.to_owned()),
        lands: Lands::on(args.branch.clone()),
        entry: None,
        lanes: None,
    };
    under_way::begin(held, order, tone)
}

fn inputs(place: &Place, team: &str, args: &StartArgs) -> BTreeMap<String, Value> {
    let only = args.issue.as_deref().unwrap_or(NEXT);
    BTreeMap::from([
        ("tracker".to_owned(), Value::text(place.which.name())),
        ("project".to_owned(), Value::text(&place.filter.project)),
        ("label".to_owned(), Value::text(&place.filter.label)),
        ("team".to_owned(), Value::text(team)),
        ("max".to_owned(), Value::Number(args.max.unwrap_or(20).into())),
        ("issue".to_owned(), Value::text(only)),
        ("once".to_owned(), Value::Flag(args.once || args.issue.is_some())),
    ])
}

fn flow() -> Result<Arc<Workflow>, Error> {
    let target: Target = NAME.parse().map_err(|_| Error::defect())?;
    target.load(&CatalogueArgs::default().load()?)
}

/// Asks whoever sits there.
fn ask(question: &str, usual: Option<&str>, out: &mut Output) -> Result<String, Error> {
    let usual_words = usual.map_or(String::new(), |it| format!(" [{it}]"));
    out.note(&format!("{question}{usual_words}"))?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).map_err(Error::output)?;
    let said = line.trim();
    match (said.is_empty(), usual) {
        (false, _) => Ok(said.to_owned()),
        (true, Some(usual)) => Ok(usual.to_owned()),
        (true, None) => Err(Error::usage("nothing was said").hint("`--project` says it as well")),
    }
}

/// Waits until there is something to do. A few percent more or less, so that many who wait do not come at once.
fn waits(args: &StartArgs, place: &Workplace, out: &mut Output) -> Result<(), Error> {
    let config = config(place)?;
    let top = place.repository.top();
    let open = args.which.open(&config.issues, top, mask(&config))?;
    out.note(&format!("no issue is ready: looking again every {} s", args.interval))?;
    let (wanted, every_ms) = (wanted(open.filter, None), args.interval.saturating_mul(1_000));
    let mut spread = u64::from(std::process::id());
    loop {
        spread =
            spread.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let more = (spread >> 33) % (every_ms / 10 + 1);
        std::thread::sleep(Duration::from_millis(every_ms.saturating_add(more)));
        let left = left(place)?;
        let known = known(place, left.as_ref());
        let found = select(&*open.tracked.tracker, &wanted, &known, All::No);
        if found.map_err(tracker::refused)?.chosen.is_some() {
            return Ok(());
        }
    }
}
