//! `windlass mission`: a queue of features, built in lanes beside each other and landed through a merge queue.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_clerks::memory::Files;
use windlass_clerks::mission::{self, before};
use windlass_core::path::Below;
use windlass_core::run::{Input, Phase, Wish};
use windlass_core::value::Value;
use windlass_core::workflow::RunOutcome;
use windlass_engine::Engine;
use windlass_engine::entry::Note;
use windlass_engine::message::Paper;
use windlass_repo::{Branch, Oid};
use windlass_sources::features::{self, Feature, Queue, Status, Whose};
use windlass_sources::harness::{self, Harness, TRIGGERS};
use windlass_sources::{SourceError, slug};

use super::autopilot::below;
use super::workflow::built_in;
use crate::asks::Asks;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::forecast::{History, forecast};
use crate::idle;
use crate::known::{self, Known};
use crate::landed;
use crate::meta::Meta;
use crate::prepared::Onto;
use crate::relay::Silent;
use crate::render::Output;
use crate::request::who;
use crate::spoken::spoken;
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

const NAME: &str = "mission";

/// The checkpoint between the plan and its features.
const PLANNER: &str = "post-planner";

/// What a feature may go through besides its validator.
const STEPS: [&str; 4] = ["smoke", "ui-qa", "crosscheck", "documenter"];

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass mission                          plan SPEC.md, then build, validate and land each feature
  windlass mission docs/shop.md --lanes 4   another spec, four features at a time
  windlass mission --plan-only              make the plan and say what it may cost; edit it as you like
  windlass mission --checkpoint pre-merge   ask before each feature lands
  windlass mission add 'Export as CSV' --claim 'export --csv prints a header line'
  windlass mission first F-PAY-02           take this feature next

The plan is in .harness/features.json and .harness/validation-contract.md. A plan that is there is
taken as it is, and what you change in it counts, before and while the mission runs. A mission that
was left goes on; one that is over begins anew with everything that has not passed.
.harness/config.json may say the rest (docs/formats.md).
"
)]
pub struct MissionArgs {
    /// The spec, for the planner; without one, SPEC.md
    #[arg(value_name = "SPEC")]
    spec: Option<PathBuf>,

    #[command(flatten)]
    flags: Flags,

    /// The branch to land on, instead of the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing; with --plan-only, the forecast last
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    command: Option<MissionCommand>,
}

#[derive(Clone, Debug, Default, Args)]
struct Flags {
    /// How many features are built at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    lanes: Option<u16>,

    /// Stop once the plan is made and reviewed
    #[arg(long)]
    plan_only: bool,

    /// Wait for a person there; may be given more than once
    #[arg(long, value_name = "WHEN", value_parser = TRIGGERS)]
    checkpoint: Vec<String>,

    /// Also do this with each feature; may be given more than once
    #[arg(long, value_name = "STEP", value_parser = STEPS)]
    step: Vec<String>,

    /// So many invocations of worker, validator and architect at most; without it, six for each feature
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_iterations: Option<u32>,

    /// So many further attempts at each feature at most, after the first; without it, three
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..))]
    max_attempts: Option<u32>,
}

impl Flags {
    fn any(&self) -> bool {
        self.lanes.is_some()
            || self.plan_only
            || !self.checkpoint.is_empty()
            || !self.step.is_empty()
            || self.max_iterations.is_some()
            || self.max_attempts.is_some()
    }
}

#[derive(Debug, Subcommand)]
enum MissionCommand {
    /// Add a feature to the queue
    #[command(after_help = "\
Examples:
  windlass mission add 'Export as CSV' --claim 'export --csv prints a header line' --depends F-REPORT-01
")]
    Add(AddArgs),

    /// Try a feature again that failed, was blocked or left out, or that an earlier mission has landed
    #[command(after_help = "Examples:\n  windlass mission retry F-PAY-02\n")]
    Retry {
        /// The feature
        #[arg(value_name = "FEATURE", required = true)]
        features: Vec<String>,
    },

    /// Take features before all others that have not begun, in this order
    #[command(after_help = "Examples:\n  windlass mission first F-PAY-02 F-PAY-01\n")]
    First {
        /// The features
        #[arg(value_name = "FEATURE", required = true)]
        features: Vec<String>,
    },
}

#[derive(Debug, Args)]
struct AddArgs {
    /// What it is, in a line
    #[arg(value_name = "TITLE")]
    title: String,

    /// What must be true once it is there; may be given more than once
    #[arg(long, value_name = "CLAIM", required = true)]
    claim: Vec<String>,

    /// Its id; without it, one is made
    #[arg(long, value_name = "ID")]
    id: Option<String>,

    /// A feature that must have passed before; may be given more than once
    #[arg(long, value_name = "FEATURE")]
    depends: Vec<String>,

    /// A file or directory that it changes; may be given more than once
    #[arg(long, value_name = "PATH")]
    file: Vec<String>,

    /// Lower goes first
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i64,
}

pub fn run(args: &MissionArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    match &args.command {
        Some(MissionCommand::Add(add)) => return added(&place, add, out),
        Some(MissionCommand::Retry { features }) => return retried(&place, features, out),
        Some(MissionCommand::First { features }) => return put_first(&place, features, out),
        None => {}
    }
    let tone = Tone::of(args.json);
    let spec = match &args.spec {
        Some(spec) => below(&place, spec)?,
        None => "SPEC.md".to_owned(),
    };
    let held = place.take("windlass mission")?;
    match open(&held)?.as_slice() {
        [] => begin(&held, None, spec, args, tone, out),
        // All that it was to do is done, and what it has made is in its files: whoever goes on may want it otherwise.
        [(id, true)] => {
            let Known { id, run, .. } = known::open(&held.journal, Some(id))?;
            let meta = Meta::of(&held.journal, &id)?;
            meta.is_at_home(&id, run.workflow(), &held.repository)?;
            begin(&held, Some(id.as_str()), spec, args, tone, out)
        }
        [(id, _)] => {
            if args.flags.any() || args.spec.is_some() {
                out.note(
                    "flags are read when a mission begins: this one keeps those it began with",
                )?;
            }
            let known = known::open(&held.journal, Some(id))?;
            under_way::go_on(&held, known, tone)
        }
        several => {
            let ids: Vec<String> = several.iter().map(|(id, _)| id.clone()).collect();
            Err(Error::several_open(&ids))
        }
    }
}

/// Missions that are not over, and whether each has only made a plan, as it was to. One that was cut off at its very end is
/// not over either: until its files are written, what it has landed counts as not done, and would be done again.
fn open(held: &Held) -> Result<Vec<(String, bool)>, Error> {
    let mut open = Vec::new();
    for known in known::all(&held.journal)?.readable {
        let meta = Meta::of(&held.journal, &known.id)?;
        let cut_off = known.is_untidy() && known.run.outcome() != Some(RunOutcome::Cancelled);
        let Known { id, run, .. } = known;
        if meta.workflow == NAME && (run.phase() != Phase::Ended || cut_off) {
            let plan_only = run.input_named("plan_only") == Some(&Value::Flag(true));
            let rests = run.standing().exit_code() == Some(Exit::Done.code());
            open.push((id.as_str().to_owned(), plan_only && rests && run.tally().total == 0));
        }
    }
    Ok(open)
}

/// Ends a run that has nothing left to do. Its files are another's from now on.
fn cancel(held: &Held, id: &str) -> Result<(), Error> {
    let known = known::open(&held.journal, Some(id))?;
    let mut engine = Engine::resume(&held.journal, known.id)?;
    let begun = engine.begun();
    engine.decide(Input::Control { who: who().into(), wish: Wish::Cancel })?;
    engine.leave(&begun);
    engine.note(Paper::of(Note::Tidied));
    engine.commit(&mut Silent)?;
    Ok(())
}

/// Begins a mission, if there is something to begin with; `after` is one that has made the plan, and nothing else.
fn begin(
    held: &Held,
    after: Option<&str>,
    spec: String,
    args: &MissionArgs,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let files = Files::of(held.repository.top());
    let mut queue = ready(&files, &spec, args.spec.is_some())?;
    let harness = settings(&files)?;
    let branch = args.branch.clone().or_else(|| harness.base_branch.clone());
    let has_plan = queue.is_some();
    let otherwise = match &mut queue {
        Some(queue) => put_right(held, queue, branch.clone())?,
        None => Vec::new(),
    };
    // After an escalation the final checks are still to be passed: whoever has settled or mended what was wrong has them tried.
    let is_done = args.flags.plan_only || !has_escalated(held)?;
    if is_done && queue.is_some_and(|queue| queue.items().is_empty()) {
        if !otherwise.is_empty() {
            let right = |there: &mut Queue| put_right(held, there, branch.clone());
            let right = |there: &mut Queue| right(there).map(drop).map_err(|it| it.to_string());
            mission::edit_queue(&files, &held.dir, right)
                .map_err(|error| Error::usage(error.to_string()))?;
            out.remarks(&otherwise)?;
        }
        out.line(&format!(
            "every feature of {} has passed or was left out: there is nothing to do",
            features::PATH
        ))?;
        out.note(&format!(
            "`windlass mission add` adds a feature; to have a spec planned anew, move {} away",
            features::PATH
        ))?;
        return Ok(Exit::Done);
    }
    if let Some(id) = after {
        cancel(held, id)?;
    }
    let order = Order {
        flow: built_in(NAME)?,
        inputs: inputs(spec, &args.flags, &harness),
        about: Some(NAME.to_owned()),
        lands: Lands::on(branch),
        entry: None,
        lanes: Some("lanes"),
    };
    let wanted = steps(&args.flags, &harness);
    let asks_in_vain = has_plan && asks_of_the_plan(&args.flags, &harness);
    let exit = under_way::begin_with(held, order, tone, |prepared| {
        let mut remarks = idle::remarks(prepared, &wanted, &harness);
        remarks.extend(asks_in_vain.then(|| {
            format!(
                "the checkpoint `{PLANNER}` asks nothing: {} is there, and a plan that is there is yours and taken as it is",
                features::PATH
            )
        }));
        remarks
    })?;
    if args.flags.plan_only && exit == Exit::Done {
        foretold(held, &files, args.json, out)?;
    }
    Ok(exit)
}

/// Puts a queue right by what earlier missions have landed on the branch that the next one is for. What there is to say of it.
fn put_right(held: &Held, queue: &mut Queue, branch: Option<String>) -> Result<Vec<String>, Error> {
    if !landed::concerns(held, queue)? {
        return Ok(Vec::new());
    }
    let target = match branch {
        Some(branch) => Branch::new(&branch).map_err(|error| Error::usage(error.to_string()))?,
        None => held.looked_over(Onto::Here)?.prepared.target,
    };
    let before = landed::before(held, &*built_in(NAME)?, None, &target)?;
    Ok(before::put_right(queue, &before).remarks())
}

/// Whether the last mission that came to an end left it to a person.
fn has_escalated(held: &Held) -> Result<bool, Error> {
    let mut last = None;
    for known in known::all(&held.journal)?.readable {
        let over = known.run.outcome().filter(|outcome| *outcome != RunOutcome::Cancelled);
        if over.is_some() && Meta::of(&held.journal, &known.id)?.workflow == NAME {
            last = over;
        }
    }
    Ok(last == Some(RunOutcome::Escalated))
}

/// What the project's file says of how a mission is to be run.
pub fn settings(files: &Files) -> Result<Harness, Error> {
    Ok(match files.text(harness::PATH).map_err(unusable)? {
        Some(text) => Harness::read(&text).map_err(unusable)?,
        None => Harness::default(),
    })
}

/// Whether a person wants to be asked once the plan is made.
fn asks_of_the_plan(flags: &Flags, harness: &Harness) -> bool {
    match flags.checkpoint.is_empty() {
        true => harness.checkpoints.iter().any(|it| it == PLANNER),
        false => flags.checkpoint.iter().any(|it| it == PLANNER),
    }
}

/// What else a feature goes through: as the flags say, or else the project's file.
fn steps<'a>(flags: &'a Flags, harness: &Harness) -> BTreeSet<&'a str> {
    match flags.step.is_empty() {
        true => harness.steps.iter().copied().collect(),
        false => flags.step.iter().map(String::as_str).collect(),
    }
}

/// The queue, if there is one: before anything is started, what there is to work on has to be of use. `named` is a spec that
/// somebody asked for.
fn ready(files: &Files, spec: &str, named: bool) -> Result<Option<Queue>, Error> {
    let has_queue = files.short(features::PATH, features::BYTES_MAX).map_err(unusable)?;
    let has_spec = files.text(spec).map_err(unusable)?;
    if named && has_spec.is_none() {
        return Err(Error::usage(format!("there is no {spec}")).hint(
            "give the path of a spec, or one of the verbs `add`, `first` and `retry`; nothing was started",
        ));
    }
    if has_queue.is_none() && has_spec.is_none_or(|text| text.trim().is_empty()) {
        return Err(Error::usage(format!("there is neither {spec} nor {}", features::PATH)).hint(
            "write a spec and name it: windlass mission docs/my-spec.md; nothing was started",
        ));
    }
    let Some(text) = has_queue else { return Ok(None) };
    let queue = Queue::read(&text).map_err(unusable)?;
    match queue.flaws().first() {
        None => Ok(Some(queue)),
        Some(flaw) => Err(Error::usage(format!("{}: {flaw}", features::PATH))
            .hint(format!("mend {}; nothing was started", features::PATH))),
    }
}

/// What the plan that was just made will probably take.
fn foretold(held: &Held, files: &Files, as_json: bool, out: &mut Output) -> Result<(), Error> {
    let Some(text) = files.short(features::PATH, features::BYTES_MAX).map_err(unusable)? else {
        return Ok(());
    };
    let features = Queue::read(&text).map_err(unusable)?.items().len() as u64;
    let Some(known) = known::all(&held.journal)?.readable.pop() else { return Ok(()) };
    let (run, history) = (&known.run, History::of(&held.journal, NAME)?);
    let words = spoken(&held.journal, &known.id, run)?.words();
    let asks = Asks::of(run, features);
    let forecast = forecast(&history, features, run.width() as u64, run.caps(), asks);
    if as_json {
        // One more line behind the journal's.
        return out.line(&json!({ "forecast": forecast }).to_string());
    }
    out.line(&forecast.in_words(&run.workflow().called, words))
}

fn unusable(error: SourceError) -> Error {
    Error::usage(error.to_string()).hint(format!("{}; nothing was started", error.next_step()))
}

/// What the flags say, and what the project's file says where they do not.
fn inputs(spec: String, flags: &Flags, harness: &Harness) -> BTreeMap<String, Value> {
    let number = |name: &str, value: Option<u64>| {
        value
            .map(|value| (name.to_owned(), Value::Number(i64::try_from(value).unwrap_or(i64::MAX))))
    };
    let words = |given: &[String], usual: &[&str]| {
        let words = match given.is_empty() {
            true => usual.iter().map(|it| Arc::from(*it)).collect::<BTreeSet<Arc<str>>>(),
            false => given.iter().map(|it| Arc::from(it.as_str())).collect(),
        };
        Value::Set(words.into_iter().collect())
    };
    let checkpoints: Vec<&str> = harness.checkpoints.iter().map(String::as_str).collect();
    let mut inputs = BTreeMap::from([
        ("spec".to_owned(), Value::text(&spec)),
        ("plan_only".to_owned(), Value::Flag(flags.plan_only)),
        ("checkpoints".to_owned(), words(&flags.checkpoint, &checkpoints)),
        ("steps".to_owned(), words(&flags.step, &harness.steps)),
    ]);
    let named = harness.names.iter();
    inputs.extend(named.map(|(trigger, name)| (trigger.replace('-', "_"), Value::text(name))));
    // Where nobody says, as many as make sense here.
    let lanes = flags.lanes.map(u64::from).or(harness.lanes);
    inputs.extend(number("lanes", lanes.map(|lanes| lanes.clamp(1, 256))));
    inputs.extend(number(
        "max_iterations",
        flags.max_iterations.map(u64::from).or(harness.max_iterations),
    ));
    inputs
        .extend(number("max_attempts", flags.max_attempts.map(u64::from).or(harness.max_attempts)));
    inputs
}

/// Changes the queue, and says so.
fn edited(
    place: &Workplace,
    change: impl FnMut(&mut Queue) -> Result<(), String>,
) -> Result<(), Error> {
    let files = Files::of(place.repository.top());
    mission::edit_queue(&files, &place.dir, change)
        .map_err(|error| Error::usage(error.to_string()).hint("nothing was changed".to_owned()))
}

fn added(place: &Workplace, args: &AddArgs, out: &mut Output) -> Result<Exit, Error> {
    if args.title.trim().is_empty() || args.claim.iter().any(|claim| claim.trim().is_empty()) {
        return Err(Error::usage("a feature has a title, and each of its claims says something")
            .hint("write in a line what must be true once it is there; nothing was changed"));
    }
    if let Some(bad) = args.file.iter().find_map(|file| Below::parse(file).err()) {
        return Err(Error::usage(bad.to_string())
            .hint("name files as they are from the top of the repository; nothing was changed"));
    }
    let mut id = String::new();
    edited(place, |queue| {
        id = match &args.id {
            Some(id) => id.clone(),
            None => free_id(queue, &args.title),
        };
        queue.features.push(Feature {
            id: id.clone(),
            title: args.title.clone(),
            claims: args.claim.clone(),
            depends: args.depends.clone(),
            files: args.file.clone(),
            priority: args.priority,
            ..Feature::default()
        });
        Ok(())
    })?;
    out.line(&format!("{id} is in {}", features::PATH))?;
    out.note(when(place)?)?;
    Ok(Exit::Done)
}

/// When an edit of the queue counts: where no feature can settle any more, not in this mission.
fn when(place: &Workplace) -> Result<&'static str, Error> {
    let is_last = |it: &Known| matches!(it.run.phase(), Phase::Finishing | Phase::Finale);
    Ok(match missions(place)?.iter().any(is_last) {
        true => {
            "the mission under way is at its end, and no feature begins in it any more: the next `windlass mission` takes it up"
        }
        false => {
            "a mission under way takes it up when a feature settles next; `windlass mission` starts one"
        }
    })
}

/// The missions of this repository.
fn missions(place: &Workplace) -> Result<Vec<Known>, Error> {
    let mut all = match place.look()? {
        Some(journal) => known::all(&journal)?.readable,
        None => Vec::new(),
    };
    all.retain(|it| it.run.workflow().name == NAME);
    Ok(all)
}

/// An id that nobody has.
fn free_id(queue: &Queue, title: &str) -> String {
    let name = slug(title).chars().take(40).collect::<String>().trim_matches('-').to_uppercase();
    let name = if name.is_empty() { "NEW".to_owned() } else { name };
    let all = (1..).map(|n| if n == 1 { format!("F-{name}") } else { format!("F-{name}-{n}") });
    let mut free = all.filter(|id| queue.feature(id).is_none());
    free.next().unwrap_or_default()
}

fn retried(place: &Workplace, ids: &[String], out: &mut Output) -> Result<Exit, Error> {
    // Somebody may have taken back what has landed.
    let gone = |commit: Option<&str>| {
        let commit = commit.and_then(|commit| Oid::parse(commit).ok());
        commit.is_some_and(|commit| !place.repository.has_taken(&commit).unwrap_or(true))
    };
    let missions = missions(place)?;
    let has_landed = |id: &str, over: bool| {
        let of = missions.iter().filter(|it| (it.run.phase() == Phase::Ended) == over);
        of.filter_map(|it| it.run.unit_named(id)).any(|unit| unit.landed)
    };
    edited(place, |queue| {
        for id in ids {
            let feature = named(queue, id)?;
            match feature.status {
                Status::Passed if gone(feature.commit.as_deref()) => feature.commit = None,
                Status::Passed if has_landed(id, false) => {
                    return Err(format!(
                        "`{id}` has passed in the mission that is under way: once that is over, it can be tried again"
                    ));
                }
                // Somebody wants it all the same.
                Status::Passed if has_landed(id, true) => feature.commit = None,
                Status::Passed => return Err(format!("`{id}` has passed")),
                Status::InProgress | Status::Validating => {
                    return Err(format!(
                        "`{id}` is under way: `windlass redo worker --unit {id}` starts it over"
                    ));
                }
                Status::Pending
                | Status::Failed
                | Status::Blocked
                | Status::Skipped
                | Status::Other(_) => {}
            }
            (feature.status, feature.attempts, feature.reason) = (Status::Pending, 0, None);
            feature.again = true;
            feature.record(Whose::Ours);
        }
        Ok(())
    })?;
    out.line(&format!("to be tried again: {}", ids.join(", ")))?;
    out.note(when(place)?)?;
    Ok(Exit::Done)
}

fn put_first(place: &Workplace, ids: &[String], out: &mut Output) -> Result<Exit, Error> {
    edited(place, |queue| {
        let lowest = queue.features.iter().map(|it| it.priority).min().unwrap_or(0);
        let count = i64::try_from(ids.len()).unwrap_or(i64::MAX);
        for (at, id) in (0_i64..).zip(ids) {
            named(queue, id)?.priority = lowest.saturating_sub(count).saturating_add(at);
        }
        Ok(())
    })?;
    out.line(&format!("first now: {}", ids.join(", ")))?;
    out.note(when(place)?)?;
    Ok(Exit::Done)
}

fn named<'q>(queue: &'q mut Queue, id: &str) -> Result<&'q mut Feature, String> {
    let known: Vec<String> = queue.features.iter().map(|it| it.id.clone()).collect();
    match known.iter().position(|it| it == id) {
        Some(at) => Ok(&mut queue.features[at]),
        None => {
            let near = crate::suggest::nearest(id, known.iter().map(String::as_str));
            let near = near.map_or(String::new(), |near| format!(": did you mean `{near}`?"));
            Err(format!("there is no feature `{id}`{near}"))
        }
    }
}
