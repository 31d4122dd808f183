//! A loop over issues begins, goes on, and waits for more.

use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::path::Path;
use std::sync::Arc;

use windlass_clerks::issues::claim::Secret;
use windlass_clerks::issues::{All, Known, NEXT, select};
use windlass_core::run::{Phase, Run};
use windlass_core::value::Value;
use windlass_core::workflow::{RunOutcome, Workflow};
use windlass_sources::issues::State;
use windlass_sources::tracker::Filter;

use super::super::workflow::{CatalogueArgs, Target};
use super::follow::Following;
use super::list::Form;
use super::{NAME, Place, StartArgs, left, left_in, list, wanted};
use crate::config::{IssuesConfig, LandsBy};
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known as runs;
use crate::meta::Meta;
use crate::prepared::Onto;
use crate::pulls;
use crate::render::{Output, clean};
use crate::tracker;
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

pub fn start(args: &StartArgs, out: &mut Output) -> Result<Exit, Error> {
    if args.dry_run {
        return list::explained(
            &args.which,
            args.issue.clone(),
            All::Unlabelled,
            Form::of(args.json),
            out,
        );
    }
    if !args.follow {
        return once(args, out);
    }
    let following = Following::begin(args, &Workplace::find(Path::new("."))?, out)?;
    let (mut failed, mut said) = (0, None);
    loop {
        let exit = match once(args, out) {
            // A person takes their own earlier work when they get to it: that ends no following.
            Err(error) if error.is_a_persons() => {
                match following.lets_a_person(args, &error, &mut said, out)? {
                    true => continue,
                    false => return Ok(Exit::Done),
                }
            }
            Err(error) if error.is_away() => {
                failed += 1;
                match following.lets_it_be(args, failed, &error, out)? {
                    true => continue,
                    false => return Ok(Exit::Done),
                }
            }
            done => done?,
        };
        (failed, said) = (0, None);
        let place = Workplace::find(Path::new("."))?;
        // An issue that failed has been reported, and does not speak against the next.
        let is_empty = left(&place)?.is_some_and(|it| it.ended.as_deref() == Some("done"));
        if !is_empty || !following.waits(args, &place, out)? {
            return Ok(exit);
        }
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
            let known = runs::open(&held.journal, Some(id))?;
            let other = args.unlike(&known.run, &Meta::of(&held.journal, &known.id)?);
            if known.run.phase() != Phase::Ended {
                return match other.is_empty() {
                    true => under_way::go_on(&held, known, tone),
                    false => Err(keeps_its_own(id, &other)),
                };
            }
            // It is over and only tidied up: whoever has cancelled it, or wants another, has not come for that.
            let is_cancelled = known.run.outcome() == Some(RunOutcome::Cancelled);
            let exit = under_way::go_on(&held, known, tone)?;
            match is_cancelled || !other.is_empty() {
                true => begin(&held, args, tone, out),
                false => Ok(exit),
            }
        }
        several => Err(Error::several_open(several)),
    }
}

/// A loop goes on as it began: whoever says something else means another one.
fn keeps_its_own(id: &str, other: &[String]) -> Error {
    let what = format!("{id} is not over, and began otherwise: {}", other.join(", "));
    Error::usage(what).hint(format!(
        "`windlass issues` alone goes on with it as it began; `windlass stop --cancel {id}` ends it and keeps its work, and then this begins another"
    ))
}

impl StartArgs {
    /// What is said here and is not what a loop began with, each with what that was.
    fn unlike(&self, run: &Run, meta: &Meta) -> Vec<String> {
        let super::Whose { tracker, project, label, team } = &self.which;
        let text = |it: &Option<String>| it.as_deref().map(Value::text);
        let inputs = [
            ("tracker", tracker.map(|it| Value::text(it.name))),
            ("project", text(project)),
            ("label", text(label)),
            ("team", text(team)),
            ("max", self.max.map(|it| Value::Number(it.into()))),
            ("issue", text(&self.issue)),
            ("once", self.once.then_some(Value::Flag(true))),
            ("land", self.land.map(|it| Value::text(it.name()))),
        ];
        let differs = |(name, said): (&str, Option<Value>)| {
            let (said, began) = (said?, run.input_named(name));
            let is_same =
                began.is_some_and(|began| *began == said || is_same_place(name, began, &said));
            (!is_same).then(|| match (name, began) {
                ("once", _) => "--once, and it takes them all".to_owned(),
                ("issue", Some(Value::Text(began))) if **began == *NEXT => {
                    format!("--issue {}, and it takes them all", clean(&said.to_string()))
                }
                (_, Some(began)) => format!(
                    "--{name} {}, and it has {}",
                    clean(&said.to_string()),
                    clean(&began.to_string())
                ),
                (_, None) => format!("--{name} {}", clean(&said.to_string())),
            })
        };
        let mut other: Vec<String> = inputs.into_iter().filter_map(differs).collect();
        let lands_on = meta.target.as_deref().unwrap_or_default();
        if let Some(branch) = self.branch.as_deref().filter(|it| *it != lands_on) {
            other.push(format!("--branch {}, and it lands on {}", clean(branch), clean(lands_on)));
        }
        other
    }
}

/// A directory is the same with a slash at its end.
fn is_same_place(name: &str, one: &Value, other: &Value) -> bool {
    let plain = |it: &Value| it.to_string().trim_end_matches('/').to_owned();
    name == "project" && plain(one) == plain(other)
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
    // One that cannot be read is set aside by the loop.
    let left = left_in(top).ok().flatten();
    let said = args.which.adopting(&config.issues, left.as_ref());
    let mut which = args.which.clone();
    let kind = which.which(&said, top);
    let mut args = args.clone();
    if which.project(kind, &said).is_none() && !args.json && std::io::stdin().is_terminal() {
        which.project = Some(ask(kind.question, None, out)?);
        if which.label.is_none() && said.label.is_none() {
            let question = "Which label marks issues as ready for autonomous work?";
            which.label = Some(ask(question, Some("ready"), out)?);
        }
        if args.max.is_none() {
            let said = ask("Maximum iterations before auto-stop?", Some("20"), out)?;
            let max = said.parse().ok().filter(|it| *it > 0);
            args.max = Some(max.ok_or_else(|| Error::usage(format!("`{said}` is no number")))?);
        }
    }
    let place = which.open(&said, top, held.mask(&config))?;
    // A project that is not there, or a key that opens nothing, is better found out before anything is begun.
    let ready = || place.tracked.tracker.ready(&place.filter);
    match args.follow {
        // Whoever follows waits by themselves, and hears that they are to stop.
        true => ready().map_err(tracker::refused)?,
        false => tracker::asked(out, ready)?,
    };
    if let Some(only) = &args.issue {
        let adopted = left.as_ref().and_then(|it| it.current_issue.clone());
        let past = Secret::of_the_past(&held.dir);
        can_be_taken(&place, only, &Known { adopted, past, ..Known::default() }, out)?;
    }
    let land = args.land.or(said.land).unwrap_or_default();
    if land == LandsBy::Pr {
        let (which, project) = (place.which, &place.filter.project);
        pulls::of(which, project, &said, &held.repository, "", held.mask(&config))?;
    }
    let mut inputs = inputs(&place, &said, left.as_ref(), &which.team(&said), &args);
    inputs.insert("land".to_owned(), Value::text(land.name()));
    let order = Order {
        flow: flow()?,
        inputs,
        about: Some(NAME.to_owned()),
        lands: Lands::on(args.branch.clone()),
        entry: None,
        lanes: None,
    };
    under_way::begin(held, order, tone)
}

/// Whether the issue that somebody names can be taken: if not, that is better found out before anything is begun.
fn can_be_taken(place: &Place, only: &str, known: &Known, out: &mut Output) -> Result<(), Error> {
    let (tracker, filter) = (&*place.tracked.tracker, &place.filter);
    let wanted = wanted(filter.clone(), Some(only.to_owned()));
    let found = tracker::asked(out, || select(tracker, &wanted, known, All::No))?;
    if found.chosen.is_some() {
        return Ok(());
    }
    if tracker::asked(out, || tracker.look(only))?.is_some() {
        let why = found.left_out.into_iter().next().map(|it| it.why).unwrap_or_default();
        return Err(Error::here(clean(&format!("{only} cannot be taken: {why}"))).hint(
            "`windlass issues --dry-run` says which issue comes next, and why others do not",
        ));
    }
    let any = Filter { label: String::new(), ..filter.clone() };
    let there = tracker::asked(out, || tracker.ready(&any))?;
    let there: Vec<String> = there.into_iter().take(50).map(|it| clean(&it.id)).collect();
    let there = if there.is_empty() { "none".to_owned() } else { there.join(", ") };
    Err(Error::usage(format!("{} has no issue `{}`", tracker.name(), clean(only)))
        .hint(format!("those that are open: {there}")))
}

fn inputs(
    place: &Place,
    said: &IssuesConfig,
    left: Option<&State>,
    team: &str,
    args: &StartArgs,
) -> BTreeMap<String, Value> {
    let only = args.issue.as_deref().unwrap_or(NEXT);
    let interval = left.map_or(5, |left| left.discover_interval.clamp(1, 1_000_000));
    let word = |said: &Option<String>| Value::text(said.as_deref().unwrap_or(tracker::USUAL));
    BTreeMap::from([
        ("tracker".to_owned(), Value::text(place.which.name)),
        ("project".to_owned(), Value::text(&place.filter.project)),
        ("label".to_owned(), Value::text(&place.filter.label)),
        ("team".to_owned(), Value::text(team)),
        ("max".to_owned(), Value::Number(args.max.unwrap_or(20).into())),
        ("discover_interval".to_owned(), Value::Number(i64::try_from(interval).unwrap_or(5))),
        ("state_in_progress".to_owned(), word(&said.in_progress)),
        ("state_done".to_owned(), word(&said.done)),
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
