//! `windlass work`: the tasks of Plans.md, one by one, several at once, or by a team.
//!
//! | question | file |
//! |---|---|
//! | what is asked before it begins? | `ask.rs` |
//! | what would be done, and why so? | `dry.rs` |

mod ask;
mod dry;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use windlass_clerks::memory::Files;
use windlass_clerks::work::NOTHING;
use windlass_core::run::Phase;
use windlass_core::value::Value;
use windlass_core::workflow::Workflow;
use windlass_sources::plans::{self, BYTES_MAX, Chosen, Form, Plans, Refusal, Targets};

use self::ask::Wanted;
use super::autopilot::below;
use super::workflow::{CatalogueArgs, Target};
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::known;
use crate::meta::Meta;
use crate::past;
use crate::prepared::Onto;
use crate::render::{Output, clean};
use crate::under_way::{self, Lands, Order};
use crate::workplace::{Held, Workplace};

pub const NAME: &str = "work";

/// So many lanes a breezing team has, where nobody says.
const TEAM: u16 = 3;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass work                          asks how far to go: the next task, all of them, some
  windlass work all                      every task that is not done; alone, in parallel or by a team, by their number
  windlass work 3                        this task alone
  windlass work 3, 5-7                   these; 26 takes 26.1 and 26.2 as well
  windlass work all --parallel 5         five at a time
  windlass work all --codex --breezing   a team whose workers are Codex
  windlass work all --dry-run            what would be done, in which order, how, and why so
  windlass work --task 'Add --json'      a task that is not in the table yet: it is added
  windlass work --resume latest          go on with what was stopped

Each task is a row of Plans.md (docs/formats.md). It gets a contract, a test that fails first, an
implementation, a refinement and a review by another agent, and lands as a commit with its name.
Its Status becomes cc:WIP and then cc:Done [hash]; nothing else in the file changes, and what you
change in it meanwhile is yours. `windlass plan` makes a Plans.md, adds tasks and mends markers;
`windlass fix` decides about fixes that were proposed.
")]
pub struct WorkArgs {
    /// `all`, `next`, or numbers of tasks: 3, 5-7
    #[arg(value_name = "TASKS")]
    targets: Vec<String>,

    #[command(flatten)]
    flags: Flags,

    /// The table, instead of Plans.md
    #[arg(long, value_name = "PATH")]
    plans: Option<PathBuf>,

    /// A task that is not in the table yet; may be given more than once
    #[arg(long, value_name = "TASK", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    task: Vec<String>,

    /// Go on with a run that was stopped: its id, or `latest`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["targets", "task", "dry_run"])]
    resume: Option<String>,

    /// Say what would be done, in which order, how and why, and change nothing
    #[arg(long)]
    dry_run: bool,

    /// Go on although markers are stale, without asking
    #[arg(long)]
    accept_drift: bool,

    /// The branch to land on, instead of the one that is checked out
    #[arg(long, value_name = "BRANCH", conflicts_with = "no_commit")]
    branch: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,
}

/// How it is done.
#[derive(Clone, Debug, Default, Args)]
pub struct Flags {
    /// So many tasks at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256), conflicts_with_all = ["sequential", "breezing"])]
    parallel: Option<u16>,

    /// One task after the other
    #[arg(long)]
    sequential: bool,

    /// By a team: three at once, however many there are
    #[arg(long)]
    breezing: bool,

    /// Have Codex implement
    #[arg(long)]
    codex: bool,

    /// Hand the change over to your checkout, all tasks as one, without a commit
    #[arg(long)]
    no_commit: bool,

    /// Write no test first
    #[arg(long)]
    no_tdd: bool,

    /// Refine nothing
    #[arg(long)]
    no_simplify: bool,

    /// Agents work without asking in any case, in a sandbox: this is put on record and changes nothing
    #[arg(long)]
    auto_mode: bool,

    /// So many seconds the first reviewer has before the next is asked; 0 is without limit
    #[arg(long, value_name = "SECONDS")]
    review_limit: Option<u32>,
}

impl Flags {
    fn any(&self) -> bool {
        let flags = [self.sequential, self.breezing, self.codex, self.no_commit];
        let rest = [self.no_tdd, self.no_simplify, self.auto_mode];
        self.parallel.is_some()
            || self.review_limit.is_some()
            || flags.into_iter().chain(rest).any(|it| it)
    }

    /// How so many tasks are done, and how many at once.
    fn mode(&self, count: usize) -> (&'static str, usize) {
        let mode = match count {
            _ if self.breezing => "breezing",
            _ if self.parallel.is_some() => "parallel",
            _ if self.codex => "codex",
            0 | 1 => "solo",
            2 | 3 => "parallel",
            _ => "breezing",
        };
        let lanes = match (self.parallel, mode) {
            _ if self.sequential => 1,
            (Some(lanes), _) => usize::from(lanes),
            (None, "solo" | "codex") => 1,
            (None, "parallel") => count,
            (None, _) => usize::from(TEAM),
        };
        (mode, lanes)
    }

    fn inputs(&self) -> BTreeMap<String, Value> {
        let number = |value: u32| Value::Number(i64::from(value));
        BTreeMap::from([
            ("parallel".to_owned(), number(self.parallel.map_or(0, u32::from))),
            ("sequential".to_owned(), Value::Flag(self.sequential)),
            ("breezing".to_owned(), Value::Flag(self.breezing)),
            ("codex".to_owned(), Value::Flag(self.codex)),
            ("no_commit".to_owned(), Value::Flag(self.no_commit)),
            ("no_tdd".to_owned(), Value::Flag(self.no_tdd)),
            ("no_simplify".to_owned(), Value::Flag(self.no_simplify)),
            ("auto_mode".to_owned(), Value::Flag(self.auto_mode)),
            ("team".to_owned(), number(u32::from(TEAM))),
            ("review_seconds".to_owned(), number(self.review_limit.unwrap_or(120))),
        ])
    }
}

impl WorkArgs {
    /// Whether anything is said about how a run begins.
    fn begins(&self) -> bool {
        self.flags.any() || self.plans.is_some() || self.accept_drift || self.branch.is_some()
    }
}

pub fn run(args: &WorkArgs, out: &mut Output) -> Result<Exit, Error> {
    if args.resume.is_some() && args.begins() {
        return Err(Error::usage("a run goes on as it was begun: options do not change it").hint(
            "give --resume alone; or end the run with `windlass stop --cancel RUN`, and begin another with them",
        ));
    }
    let place = Workplace::find(Path::new("."))?;
    let file = table(&place, args.plans.as_deref())?;
    if args.dry_run {
        return dry::run(&place, &file, args, out);
    }
    let tone = Tone::of(args.json);
    let held = place.take("windlass work")?;
    let open = open(&held)?;
    if let Some(which) = &args.resume {
        return resumed(&held, which, &open, tone);
    }
    match open.as_slice() {
        [] => begin(&held, file, args, tone, out),
        [id] => {
            if args.begins() || !args.targets.is_empty() || !args.task.is_empty() {
                out.note(&format!(
                    "{id} is not over, and is gone on with as it was begun; `windlass stop --cancel {id}` ends it"
                ))?;
            }
            under_way::go_on(&held, known::open(&held.journal, Some(id))?, tone)
        }
        several => Err(Error::several_open(several)),
    }
}

/// Where the table is, from the top of the project.
pub fn table(place: &Workplace, said: Option<&Path>) -> Result<String, Error> {
    match said {
        Some(said) => below(place, said),
        None => Ok(plans::PATH.to_owned()),
    }
}

/// Runs of work that are not over.
fn open(held: &Held) -> Result<Vec<String>, Error> {
    let mut open = Vec::new();
    for known in known::all(&held.journal)?.readable {
        let over = known.run.phase() == Phase::Ended && !known.is_untidy();
        if Meta::of(&held.journal, &known.id)?.workflow == NAME && !over {
            open.push(known.id.as_str().to_owned());
        }
    }
    Ok(open)
}

fn resumed(held: &Held, which: &str, open: &[String], tone: Tone) -> Result<Exit, Error> {
    let id = match (which, open.last()) {
        ("latest", Some(last)) => last.as_str(),
        ("latest", None) => {
            return Err(Error::usage("there is nothing to go on with: no work is open")
                .hint("`windlass work` begins"));
        }
        (named, _) => named,
    };
    let known = known::open(&held.journal, Some(id))?;
    let workflow = Meta::of(&held.journal, &known.id)?.workflow;
    if workflow != NAME {
        return Err(Error::usage(format!("{id} is a run of {workflow}"))
            .hint(format!("`windlass resume {id}` goes on with it")));
    }
    under_way::go_on(held, known, tone)
}

fn begin(
    held: &Held,
    file: String,
    args: &WorkArgs,
    tone: Tone,
    out: &mut Output,
) -> Result<Exit, Error> {
    let files = Files::of(held.repository.top());
    let text = files.theirs(&file, BYTES_MAX).map_err(unusable)?;
    let plans = text.filter(|text| !text.trim().is_empty()).map(Plans::read);
    let looked = held.looked_over(args.branch.as_deref().map_or(Onto::Here, Onto::Branch))?;
    if args.flags.codex && looked.prepared.config.crew().named("codex").is_empty() {
        return Err(Error::usage("there is no Codex here to delegate to").hint(
            "install it and name it in windlass.toml, as `[agents.codex] kind = \"codex\"`, or leave out --codex",
        ));
    }
    let somebody = ask::somebody(tone);
    let drift_seen = args.accept_drift
        || (somebody && args.targets.is_empty() && ask::about_drift(held, plans.as_ref())?);
    let mut tasks = args.task.clone();
    let targets = match said(&args.targets) {
        Some(said) => said,
        None if !tasks.is_empty() => NOTHING.to_owned(),
        None if somebody && plans.is_some() => match ask::how_far()? {
            Wanted::Targets(targets) => targets,
            Wanted::Tasks(said) => {
                tasks = said;
                NOTHING.to_owned()
            }
        },
        None => {
            out.note("no tasks were named: all that are not done are meant")?;
            "all".to_owned()
        }
    };
    let lists = (plans.as_ref(), targets.as_str(), tasks.as_slice());
    let chosen = selected(lists.0, lists.1)?;
    if let (Some(chosen), true) = (&chosen, tasks.is_empty())
        && chosen.picked.is_empty()
    {
        let plans = plans.as_ref().filter(|_| !drift_seen);
        return nothing_to_do(held, &file, plans, chosen, out);
    }
    if args.flags.auto_mode {
        out.note("--auto-mode: agents work without asking in any case, inside their sandbox")?;
    }
    let wish = tasks.join("\n");
    let text = |text: &str| Value::text(if text.is_empty() { NOTHING } else { text });
    let mut inputs = args.flags.inputs();
    inputs.extend([
        ("targets".to_owned(), Value::text(&targets)),
        ("file".to_owned(), Value::text(&file)),
        ("extra".to_owned(), text(if plans.is_some() { &wish } else { "" })),
        ("wish".to_owned(), text(&wish)),
        ("drift_seen".to_owned(), Value::Flag(drift_seen)),
    ]);
    start(held, inputs, lands(held, args)?, tone)
}

/// Says that all is done, unless markers say so of what no branch has: nobody has looked at those, if there are any here.
fn nothing_to_do(
    held: &Held,
    file: &str,
    plans: Option<&Plans>,
    chosen: &Chosen,
    out: &mut Output,
) -> Result<Exit, Error> {
    for remark in &chosen.remarks {
        out.note(remark)?;
    }
    let stale = plans.map(|plans| past::stale(&held.repository, plans)).transpose()?;
    let stale = stale.unwrap_or_default();
    for stale in &stale {
        out.note(&clean(&stale.to_string()))?;
    }
    if !stale.is_empty() {
        return Err(ask::sync_first());
    }
    out.line(&format!("every task of {file} is done: there is nothing to do"))?;
    Ok(Exit::Done)
}

/// Where it lands: without a commit on a branch of its own, that is handed over as one change.
fn lands(held: &Held, args: &WorkArgs) -> Result<Lands, Error> {
    if args.flags.no_commit {
        let id = under_way::next_id(held, NAME)?;
        return Ok(Lands::OnItsOwn(format!("harness/{id}")));
    }
    Ok(Lands::on(args.branch.clone()))
}

/// Begins.
pub fn start(
    held: &Held,
    inputs: BTreeMap<String, Value>,
    lands: Lands,
    tone: Tone,
) -> Result<Exit, Error> {
    let about = Some(NAME.to_owned());
    let order = Order { flow: flow()?, inputs, about, lands, entry: None, lanes: None };
    under_way::begin(held, order, tone)
}

/// What was said, if anything was.
fn said(targets: &[String]) -> Option<String> {
    let text = targets.join(" ");
    (!text.trim().is_empty()).then_some(text)
}

/// The rows that are meant; nothing where there is no table yet.
fn selected(plans: Option<&Plans>, targets: &str) -> Result<Option<Chosen>, Error> {
    let refused = |refusal: Refusal| {
        Error::usage(refusal.to_string())
            .hint(format!("{}; nothing was started", refusal.next_step("windlass work")))
    };
    if targets == NOTHING {
        return Ok(Some(Chosen::default()));
    }
    let meant = Targets::parse(targets).map_err(refused)?;
    match plans {
        Some(plans) if plans.form() == Form::Second => {
            plans.select(&meant).map(Some).map_err(refused)
        }
        _ => Ok(None),
    }
}

fn flow() -> Result<Arc<Workflow>, Error> {
    let target: Target = NAME.parse().map_err(|_| Error::defect())?;
    target.load(&CatalogueArgs::default().load()?)
}

pub fn unusable(error: windlass_sources::SourceError) -> Error {
    Error::usage(error.to_string()).hint(format!("{}; nothing was started", error.next_step()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_goes_by_the_number_of_tasks_unless_a_flag_says_otherwise() {
        let plain = Flags::default();
        let by_count: Vec<_> = [1, 2, 3, 4, 9].map(|count| plain.mode(count)).into();
        assert_eq!(
            by_count,
            [("solo", 1), ("parallel", 2), ("parallel", 3), ("breezing", 3), ("breezing", 3)]
        );
        let parallel = Flags { parallel: Some(5), ..Flags::default() };
        assert_eq!(parallel.mode(1), ("parallel", 5));
        let codex = Flags { codex: true, ..Flags::default() };
        assert_eq!(codex.mode(9), ("codex", 1));
        let both = Flags { codex: true, breezing: true, ..Flags::default() };
        assert_eq!(both.mode(1), ("breezing", 3));
        let slow = Flags { breezing: true, sequential: true, ..Flags::default() };
        assert_eq!(slow.mode(9), ("breezing", 1));
    }
}
