//! `windlass lanes`: where units are built.

use std::collections::BTreeSet;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Subcommand;
use serde_json::{Value, json};
use windlass_engine::date;
use windlass_engine::isolation::{Isolation, Sight, Stay, Workspace, make_quarters, remove};
use windlass_process::sandbox::{Access, Holds, Level, Place};
use windlass_process::{Env, Spawner, View, which};
use windlass_repo::{LaneState, Pooled, Salvage, Settings, Store, Unseen};

use crate::base;
use crate::error::Error;
use crate::exit::Exit;
use crate::prepared::isolation;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  windlass lanes list
  windlass lanes show 1
  windlass lanes shell 1
  cd \"$(windlass lanes path 1)\"
  windlass lanes restore COMMIT my-directory
")]
pub enum LanesCommand {
    /// List the lanes: who has them, whether anything in them is not on record yet, and what was in one and is kept
    #[command(after_help = "Examples:\n  windlass lanes list\n  windlass lanes list --json\n")]
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Show one lane: whose it is, what it stands on, and which files differ from that
    #[command(
        after_help = "Examples:\n  windlass lanes show 1\n  windlass lanes show 1 --mounts\n"
    )]
    Show {
        /// The lane's number
        #[arg(value_name = "LANE")]
        lane: u32,
        /// Show what an agent sees there: its files and directories, and what of the machine
        #[arg(long)]
        mounts: bool,
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Start your shell in a lane, where it sees what an agent would see; what you change there counts as yours when you
    /// answer its question
    #[command(
        after_help = "Examples:\n  windlass lanes shell 1\n  cd \"$(windlass lanes path 1)\"      # outside of the sandbox\n"
    )]
    Shell {
        /// The lane's number
        #[arg(value_name = "LANE")]
        lane: u32,
    },
    /// Print the directory of a lane, to look around in
    #[command(after_help = "Examples:\n  windlass lanes path 1\n")]
    Path {
        /// The lane's number
        #[arg(value_name = "LANE")]
        lane: u32,
    },
    /// Write the files of a commit that was kept into a new directory
    #[command(after_help = "Examples:\n  windlass lanes restore 3f2a91c my-directory\n")]
    Restore {
        /// The commit, as `windlass lanes list` and `windlass log --json` name it, or the beginning of its name
        #[arg(value_name = "COMMIT")]
        commit: String,
        /// Where to: a directory that is empty or not there
        #[arg(value_name = "DIRECTORY")]
        to: PathBuf,
    },
}

pub fn run(command: &LanesCommand, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    if !place.dir.exists() {
        out.line("there are no lanes")?;
        return Ok(Exit::Done);
    }
    let store = Store::open(place.repository.clone(), &place.dir, Settings::default())?;
    match command {
        LanesCommand::List { json } => list(&store, *json, out),
        LanesCommand::Show { lane, mounts: true, json } => {
            let inside = Inside::of(&place, &store, *lane)?;
            mounts(&inside.isolation, &inside.view(Path::new("QUARTERS")), *json, out)
        }
        LanesCommand::Show { lane, mounts: false, json } => show(&store, *lane, *json, out),
        LanesCommand::Shell { lane } => {
            let inside = Inside::of(&place, &store, *lane)?;
            mend(&place, &store, *lane)?;
            inside.shell(&place.dir)
        }
        LanesCommand::Path { lane } => {
            out.line(&pooled(&store, *lane)?.work.display().to_string())?;
            Ok(Exit::Done)
        }
        LanesCommand::Restore { commit, to } => {
            let oid = store.commit_named(commit)?.ok_or_else(|| {
                Error::not_taken(format!("{commit} is no commit's id"))
                    .hint("`windlass lanes list` names what is kept")
            })?;
            store.restore(&oid, to)?;
            out.line(&format!("{commit} is in {}", to.display()))?;
            Ok(Exit::Done)
        }
    }
}

/// A lane, as an agent sees it.
struct Inside {
    isolation: Isolation,
    work: PathBuf,
    objects: PathBuf,
}

impl Inside {
    fn of(place: &Workplace, store: &Store, lane: u32) -> Result<Self, Error> {
        let pooled = pooled(store, lane)?;
        let config = base::config(store, &pooled.base)?;
        let spawner = Spawner::start()?;
        let isolation = isolation(&config, &place.repository, &place.dir, &spawner)?;
        Ok(Inside { isolation, work: pooled.work, objects: store.mirror_objects() })
    }

    fn view(&self, quarters: &Path) -> View {
        let space = Workspace { work: &self.work, objects: &self.objects, quarters };
        let (none, nothing) = (BTreeSet::new(), Vec::new());
        let stay = Stay { sight: Sight::Change, shown: &nothing, writable: &none, told: &[] };
        self.isolation.of_agent(space, stay)
    }

    /// This process becomes the person's shell; it comes back only if it cannot.
    fn shell(&self, dir: &Path) -> Result<Exit, Error> {
        let shell = std::env::var_os("SHELL").unwrap_or_else(|| "/bin/sh".into());
        let Some(path) = which(&shell, &Env::inherited()) else {
            let what = format!("your shell, {}, cannot be found", shell.display());
            return Err(Error::here(what).hint("set SHELL to one that is there"));
        };
        let failed =
            |source| Error::here(format!("cannot start {}", path.display())).because(source);
        let all = dir.join("quarters/shells");
        leave_shells(&all);
        let quarters = all.join(std::process::id().to_string());
        make_quarters(&quarters).map_err(failed)?;
        let env = self.isolation.env(Env::inherited(), &quarters);
        let sandbox = self.isolation.sandbox();
        let (words, directory) = match sandbox.level() {
            Level::None => (vec![path.clone().into_os_string()], self.work.clone()),
            _ => sandbox.line(&self.view(&quarters), &path, &[shell]),
        };
        let env = env.names().filter_map(|name| Some((name, env.get(name)?)));
        let mut command = Command::new(&words[0]);
        let source = command.args(&words[1..]).current_dir(directory).env_clear().envs(env).exec();
        Err(failed(source))
    }
}

/// Puts a lane's `.git` right before anybody enters, as it is done for an agent. While another Windlass is at work here the
/// lane is its own; then nobody enters one whose settings somebody has changed.
fn mend(place: &Workplace, store: &Store, lane: u32) -> Result<(), Error> {
    match place.lock_unless_held("windlass lanes shell")? {
        Ok(_lock) => Ok(store.mend_lane(lane)?),
        Err(_) if store.lane_is_settled(lane) => Ok(()),
        Err(held) => Err(Error::held(format!(
            "the repository of lane {lane} is not as it was made: somebody has changed its settings ({held})"
        ))
        .hint(format!(
            "once that Windlass has ended, `windlass lanes shell {lane}` mends it; `windlass lanes path {lane}` says where the files are"
        ))),
    }
}

/// Removes the quarters of shells that have ended.
fn leave_shells(all: &Path) {
    for entry in std::fs::read_dir(all).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(entry.file_name()).exists() {
            let _ = remove(&entry.path());
        }
    }
}

fn mounts(
    isolation: &Isolation,
    view: &View,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let places: Vec<String> = view.places.iter().map(ToString::to_string).collect();
    if as_json {
        let places: Vec<Value> = view.places.iter().map(place_json).collect();
        out.json(&json!({
            "isolation": isolation.in_words(),
            "directory": view.directory,
            "network": view.network.to_string(),
            "places": places,
        }))?;
        return Ok(Exit::Done);
    }
    out.line(&format!("isolation: {}", isolation.in_words()))?;
    out.line(&format!("starts in  {}", view.directory.display()))?;
    for place in places {
        out.line(&format!("  {}", clean(&place)))?;
    }
    Ok(Exit::Done)
}

fn place_json(place: &Place) -> Value {
    let (kind, from) = match &place.holds {
        Holds::Shown { from, access: Access::Read } => ("read", Some(from)),
        Holds::Shown { from, access: Access::Write } => ("write", Some(from)),
        Holds::Memory => ("memory", None),
        Holds::Nothing => ("nothing", None),
        Holds::Link(to) => ("link", Some(to)),
        Holds::Devices => ("devices", None),
        Holds::Processes => ("processes", None),
    };
    json!({ "at": place.at, "holds": kind, "from": from })
}

fn no_lane(lane: u32) -> Error {
    Error::usage(format!("there is no lane {lane}")).hint("`windlass lanes list` names them")
}

fn pooled(store: &Store, lane: u32) -> Result<Pooled, Error> {
    store.pooled(lane)?.ok_or_else(|| no_lane(lane))
}

fn show(store: &Store, lane: u32, as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    let found = store.looked_at(lane).ok_or_else(|| no_lane(lane))?;
    let found = found.map_err(|unseen| unseen.why)?;
    let changes = store.changes(&found.base, &found.commit)?;
    let files: Vec<String> =
        changes.iter().map(|change| change.path.display().to_string()).collect();
    if as_json {
        let mut shown = described(&found);
        shown["commit"] = json!(found.commit.to_string());
        shown["files"] = json!(files);
        out.json(&shown)?;
        return Ok(Exit::Done);
    }
    line(&found, out)?;
    out.line(&format!("   stands on {}, held {} when looked at last", found.base, found.commit))?;
    if let Some(saved) = &found.saved {
        out.line(&format!("   edits were set aside under {}", clean(saved)))?;
    }
    for file in &files {
        out.line(&format!("   changed: {}", clean(file)))?;
    }
    Ok(Exit::Done)
}

fn described(lane: &LaneState) -> Value {
    json!({
        "lane": lane.number,
        "path": lane.work,
        "run": lane.owner.as_ref().map(|(run, _)| run),
        "unit": lane.owner.as_ref().map(|(_, unit)| unit),
        "base": lane.base.to_string(),
        "dirty": lane.dirty,
        "saved": lane.saved,
        "bytes": lane.bytes,
    })
}

/// The same of a lane that could not be looked at: what is known, and what is wrong with it.
fn described_unseen(lane: &Unseen) -> Value {
    json!({
        "lane": lane.number,
        "path": lane.work,
        "run": lane.owner.as_ref().map(|(run, _)| run),
        "unit": lane.owner.as_ref().map(|(_, unit)| unit),
        "wrong": lane.why.to_string(),
    })
}

fn list(store: &Store, as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    let (lanes, kept) = (store.lanes()?, store.salvage()?);
    if as_json {
        let described = |lane: &Result<_, _>| match lane {
            Ok(lane) => described(lane),
            Err(unseen) => described_unseen(unseen),
        };
        let lanes: Vec<Value> = lanes.iter().map(described).collect();
        let kept: Vec<Value> = kept.iter().map(described_kept).collect();
        out.json(&json!({ "lanes": lanes, "kept": kept }))?;
        return Ok(Exit::Done);
    }
    if lanes.is_empty() {
        out.line("there are no lanes")?;
    }
    for lane in &lanes {
        match lane {
            Ok(lane) => line(lane, out)?,
            Err(unseen) => {
                let owner = unseen.owner.iter().map(|it| format!("{}, ", owner(it)));
                let owner: String = owner.collect();
                out.line(&format!("{}  {owner}cannot be looked at", unseen.number))?;
                out.line(&format!("   {}", unseen.work.display()))?;
                out.line(&format!("   {}", clean(&unseen.why.to_string())))?;
            }
        }
    }
    list_kept(&kept, out)?;
    Ok(Exit::Done)
}

/// What was in a lane and is in none any more.
fn list_kept(kept: &[Salvage], out: &mut Output) -> Result<(), Error> {
    if kept.is_empty() {
        return Ok(());
    }
    out.line("kept, `windlass lanes restore COMMIT DIRECTORY` brings it back:")?;
    for salvage in kept.iter().take(KEPT_SHOWN) {
        let (commit, whose) = (salvage.commit.short(), whose(salvage));
        let at = date::instant(salvage.seconds.saturating_mul(1_000));
        out.line(&format!("   {commit}  {whose}  {at}  {}", clean(&salvage.what)))?;
    }
    let more = kept.len().saturating_sub(KEPT_SHOWN);
    if more > 0 {
        out.line(&format!("   and {more} more: `windlass lanes list --json`"))?;
    }
    Ok(())
}

/// So much of what is kept is listed; JSON has all of it.
const KEPT_SHOWN: usize = 20;

fn whose(salvage: &Salvage) -> String {
    match &salvage.run {
        Some(run) => format!("{} · {}", clean(run), clean(&salvage.unit)),
        None => clean(&salvage.unit),
    }
}

fn described_kept(salvage: &Salvage) -> Value {
    json!({
        "commit": salvage.commit.to_string(),
        "run": salvage.run,
        "unit": salvage.unit,
        "at": date::instant(salvage.seconds.saturating_mul(1_000)),
        "what": salvage.what,
        "ref": salvage.name,
    })
}

fn line(lane: &LaneState, out: &mut Output) -> Result<(), Error> {
    let owner = lane.owner.as_ref().map_or_else(|| "free".to_owned(), owner);
    let dirty = if lane.dirty { ", not on record yet" } else { "" };
    out.line(&format!("{}  {owner}{dirty}", lane.number))?;
    out.line(&format!("   {}", lane.work.display()))?;
    Ok(())
}

fn owner((run, unit): &(String, String)) -> String {
    format!("{} · {}", clean(run), clean(unit))
}
