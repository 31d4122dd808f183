//! `windlass issues`: a tracker's ready issues, one at a time: claim, plan, work, review, land, report.
//!
//! | question | file |
//! |---|---|
//! | how does a loop begin, go on? | `start.rs` |
//! | how is it waited for more, and how does that end? | `follow.rs` |
//! | which issues are there, and why is one left out? | `list.rs` |
//! | how is a loop stopped, shown, and a claim ended? | `rest.rs` |

mod follow;
mod list;
mod rest;
mod start;

use std::path::Path;
use std::sync::Arc;

use clap::{Args, Subcommand};
use windlass_clerks::issues::Tracked;
use windlass_clerks::issues::{Known, Wanted, claim::Secret, names, settled};
use windlass_clerks::memory::Files;
use windlass_engine::mask::Mask;
use windlass_sources::issues::{self as state, State};
use windlass_sources::tracker::{Filter, Patience};

use crate::config::{Config, IssuesConfig, LandsBy, Which};
use crate::error::Error;
use crate::exit::Exit;
use crate::render::Output;
use crate::tracker;
use crate::workplace::Workplace;

const NAME: &str = "issues";

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  windlass issues                                   take the ready issues, one after another
  windlass issues start --tracker folder            those in the directory issues/, without any account
  windlass issues --tracker linear --project P-1 --team MB90 --label ready --max 20
  windlass issues --issue MB90-12 --once            this one, and no more
  windlass issues --dry-run                         which would come next, and why none of the others does
  windlass issues --follow --interval 120           look again every two minutes when there are none
  windlass issues --land pr                         a branch and a pull request on GitHub for each issue
  windlass issues --follow --webhook 127.0.0.1:8711 look as soon as the tracker says that something changed
  windlass issues stop                              after the issue under way
  windlass issues status                            where the loop is
  windlass issues release MB90-12                   end a claim, or let an issue that failed be taken again

             --project                --team           --label
  linear     id, slug or name         key, name or id  each issue must have it
  github     owner/name               -                each issue must have it
  folder     a directory of Markdown  -                `labels` of each file must have it

Keys come from LINEAR_API_KEY or GITHUB_TOKEN, or from a file; [issues] in windlass.toml says all of
this once and for all; a server of your own, or a file elsewhere than in ~/.config/windlass, you say in
WINDLASS_TRUSTED as well. An issue is claimed by a comment: two who pull from one tracker never work on
the same one. What a person has (assigned, in progress without a claim, in a pull request of theirs) is
left alone, also if they take it or close it while it is worked on.
"
)]
pub struct IssuesArgs {
    #[command(flatten)]
    start: StartArgs,

    #[command(subcommand)]
    command: Option<IssuesCommand>,
}

/// Which issues are meant.
#[derive(Clone, Debug, Default, Args)]
struct Whose {
    /// Where issues are; without it what windlass.toml says, else Linear, or a directory issues/ that is there
    #[arg(long, value_name = "TRACKER", value_enum)]
    tracker: Option<Which>,

    /// The project whose issues are taken
    #[arg(long, value_name = "PROJECT", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    project: Option<String>,

    /// The label that marks issues as ready; without it `ready`
    #[arg(long, value_name = "LABEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    label: Option<String>,

    /// Linear's team; without it `MB90`
    #[arg(long, value_name = "TEAM")]
    team: Option<String>,
}

#[derive(Clone, Debug, Default, Args)]
struct StartArgs {
    #[command(flatten)]
    which: Whose,

    /// So many issues at most; without it 20
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max: Option<u32>,

    /// This issue and no other, whatever its label says
    #[arg(long, value_name = "ID", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    issue: Option<String>,

    /// One issue, and no more
    #[arg(long)]
    once: bool,

    /// Say which issue would come next and why none of the others does; change nothing
    #[arg(long)]
    dry_run: bool,

    /// When there are no more, wait for new ones
    #[arg(long, conflicts_with_all = ["once", "issue", "dry_run"])]
    follow: bool,

    /// With --follow, listen here for what the tracker sends, and look again as soon as it does
    #[arg(long, value_name = "ADDRESS:PORT", requires = "follow")]
    webhook: Option<String>,

    /// Seconds between two looks at the tracker, with --follow
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    interval: u64,

    /// What becomes of the work; without it what windlass.toml says, else it lands on the branch here
    #[arg(long, value_name = "HOW", value_enum)]
    land: Option<LandsBy>,

    /// The branch to land on, instead of the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing; with --dry-run, what it says as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum IssuesCommand {
    /// Begin the loop, or go on with it; the same as without a word
    #[command(after_help = "Examples:\n  windlass issues start --project P-1 --max 5\n")]
    Start(Box<StartArgs>),

    /// Stop the loop when the issue under way is completed
    #[command(after_help = "Examples:\n  windlass issues stop\n")]
    Stop,

    /// Show where the loop is, and change nothing
    #[command(
        after_help = "Examples:\n  windlass issues status\n  windlass issues status --json\n"
    )]
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },

    /// End the claims on an issue, so that it can be taken again
    #[command(after_help = "Examples:\n  windlass issues release MB90-12\n")]
    Release {
        /// The issue
        #[arg(value_name = "ID")]
        issue: String,

        #[command(flatten)]
        which: Whose,
    },

    /// List the issues that are ready, in the order in which they would be taken
    #[command(
        after_help = "Examples:\n  windlass issues list --tracker folder\n  windlass issues list --json\n"
    )]
    List {
        #[command(flatten)]
        which: Whose,

        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &IssuesArgs, out: &mut Output) -> Result<Exit, Error> {
    match &args.command {
        None => start::start(&args.start, out),
        Some(IssuesCommand::Start(start)) => start::start(start, out),
        Some(IssuesCommand::Stop) => rest::stop(out),
        Some(IssuesCommand::Status { json }) => rest::status(*json, out),
        Some(IssuesCommand::Release { issue, which }) => rest::release(issue, which, out),
        Some(IssuesCommand::List { which, json }) => list::list(which, list::Form::of(*json), out),
    }
}

/// Which issues are meant, once everything is known.
struct Place {
    which: Which,
    filter: Filter,
    tracked: Tracked,
}

impl Whose {
    fn which(&self, config: &IssuesConfig, top: &Path) -> Which {
        self.tracker.unwrap_or_else(|| tracker::usual(config, top))
    }

    /// The project that somebody has said, or that goes without saying.
    fn project(&self, which: Which, config: &IssuesConfig) -> Option<String> {
        let said = self.project.clone().or_else(|| config.project.clone());
        said.or_else(|| which.project.map(str::to_owned))
    }

    fn label(&self, config: &IssuesConfig) -> String {
        let said = self.label.clone().or_else(|| config.label.clone());
        said.unwrap_or_else(|| "ready".to_owned())
    }

    fn team(&self, config: &IssuesConfig) -> String {
        self.team.clone().or_else(|| config.team.clone()).unwrap_or_else(|| "MB90".to_owned())
    }

    /// What is said of issues, with what an earlier loop left where nobody says anything else: its file has its project, team,
    /// label and, at Linear, the names of states.
    fn adopting(&self, config: &IssuesConfig, left: Option<&State>) -> IssuesConfig {
        let mut said = config.clone();
        let Some(left) = left.filter(|left| !left.project.is_empty()) else { return said };
        // The seed's own loop knows the first one alone.
        let theirs = left.tracker.as_deref().map_or(Some(Which::FIRST), Which::named);
        said.tracker = self.tracker.or(said.tracker).or(theirs);
        if theirs.is_none() || said.tracker != theirs {
            return said;
        }
        let word = |text: &String| Some(text.clone()).filter(|it| !it.is_empty());
        said.project = said.project.or_else(|| word(&left.project));
        said.label = said.label.or_else(|| left.labels.first().and_then(word));
        if theirs.is_some_and(|theirs| theirs.has_teams) {
            said.team = said.team.or_else(|| word(&left.team));
            said.in_progress = said.in_progress.or_else(|| word(&left.in_progress_status));
            said.done = said.done.or_else(|| word(&left.done_status));
        }
        said
    }

    /// The tracker with its filter. Without a project it is an error that lists those that can be seen.
    fn open(&self, config: &IssuesConfig, top: &Path, mask: Mask) -> Result<Place, Error> {
        self.open_with(config, top, mask, Arc::new(tracker::at_first()))
    }

    /// The same, for whoever waits as long as this says.
    fn open_with(
        &self,
        config: &IssuesConfig,
        top: &Path,
        mask: Mask,
        patience: Arc<Patience>,
    ) -> Result<Place, Error> {
        let which = self.which(config, top);
        let project = self.project(which, config);
        let known = project.clone().unwrap_or_default();
        let tracked = tracker::open(which, &known, config, top, mask, patience)?;
        let Some(project) = project else {
            return Err(no_project(&tracked)?);
        };
        let team = which.has_teams.then(|| self.team(config));
        Ok(Place { which, filter: Filter { project, team, label: self.label(config) }, tracked })
    }
}

/// What is said where nobody has named a project: which there are.
fn no_project(tracked: &Tracked) -> Result<Error, Error> {
    let projects = tracked.tracker.projects().map_err(tracker::refused)?;
    let seen: Vec<String> = projects
        .iter()
        .take(50)
        .map(|it| if it.id == it.name { it.id.clone() } else { format!("{} ({})", it.id, it.name) })
        .collect();
    let seen = if seen.is_empty() { "none".to_owned() } else { seen.join(", ") };
    let name = tracked.tracker.name();
    Ok(Error::usage("no project is named: which issues are meant?")
        .hint(format!("`--project`, or `[issues] project` in windlass.toml; {name} shows {seen}")))
}

/// What the configuration in the checkout says: who only looks goes by that, and a run by the last commit's.
fn config(place: &Workplace) -> Result<Config, Error> {
    let path = place.repository.top().join(crate::config::FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Config::parse(&text)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
        Err(error) => Err(Error::unreadable(&path, error)),
    }
}

/// What is never written into a tracker, for whoever only looks or releases.
fn mask(place: &Workplace, config: &Config) -> Mask {
    let issues = &config.issues;
    let own = [issues.key_variable.as_deref(), Some(issues.webhook_variable())];
    let variables: Vec<_> = std::env::vars_os().collect();
    let variables = variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()));
    let mut mask = Mask::of(variables, |name| own.contains(&Some(name)));
    for key in issues.secrets(place.repository.top()) {
        mask.secret(&key);
    }
    mask
}

/// The loop's file, if it is there.
fn left(place: &Workplace) -> Result<Option<State>, Error> {
    left_in(place.repository.top())
}

/// The same, by the top of the checkout.
fn left_in(top: &Path) -> Result<Option<State>, Error> {
    let files = Files::of(top);
    let text = files
        .text(state::PATH)
        .map_err(|error| Error::here(error.to_string()).hint(error.next_step()))?;
    let Some(text) = text else { return Ok(None) };
    State::read(&text).map(Some).map_err(|flaw| {
        Error::here(format!("{}: {flaw}", state::PATH))
            .hint("`windlass issues` sets it aside and offers a fresh start")
    })
}

/// What is known here of issues besides what the tracker says.
fn known(place: &Workplace, left: Option<&State>) -> Known {
    Known {
        settled: left.map(settled).unwrap_or_default(),
        names: left.map(names).unwrap_or_default(),
        past: Secret::of_the_past(&place.dir),
        present: Secret::of_the_present(&place.dir),
        ..Known::default()
    }
}

fn wanted(filter: Filter, only: Option<String>) -> Wanted {
    Wanted { filter, only }
}
