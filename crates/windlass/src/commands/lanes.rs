//! `windlass lanes`: where units are built.

use std::path::Path;

use clap::Subcommand;
use serde_json::{Value, json};
use windlass_repo::{LaneState, Settings, Store};

use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  windlass lanes list
  cd \"$(windlass lanes path 0)\"
  windlass lanes restore COMMIT my-directory
")]
pub enum LanesCommand {
    /// List the lanes: who has them, and whether anything in them is not on record yet
    List {
        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
    /// Print the directory of a lane, to look around in
    Path {
        /// The lane's number
        #[arg(value_name = "LANE")]
        lane: u32,
    },
    /// Write the files of a commit that was kept into a new directory
    Restore {
        /// The commit, as `windlass log --json` names it
        #[arg(value_name = "COMMIT")]
        commit: String,
        /// Where to: a directory that is empty or not there
        #[arg(value_name = "DIRECTORY")]
        to: std::path::PathBuf,
    },
}

pub fn run(command: &LanesCommand, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    if !place.dir.exists() {
        out.line("there are no lanes")?;
        return Ok(Exit::Done);
    }
    let store = Store::open(place.repository.clone(), &place.dir, Settings::default())?;
    match command {
        LanesCommand::List { json } => list(&store.lanes()?, *json, out),
        LanesCommand::Path { lane } => {
            let lanes = store.lanes()?;
            let found = lanes.iter().find(|state| state.number == *lane);
            let found = found.ok_or(Error::NoLane(*lane))?;
            out.line(&found.work.display().to_string())?;
            Ok(Exit::Done)
        }
        LanesCommand::Restore { commit, to } => {
            let oid = windlass_repo::Oid::parse(commit)
                .map_err(|_| Error::NotTaken(format!("{commit} is no commit's id")))?;
            store.restore(&oid, to)?;
            out.line(&format!("{commit} is in {}", to.display()))?;
            Ok(Exit::Done)
        }
    }
}

fn list(lanes: &[LaneState], as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    if as_json {
        let lanes: Vec<Value> = lanes
            .iter()
            .map(|lane| {
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
            })
            .collect();
        out.json(&json!({ "lanes": lanes }))?;
        return Ok(Exit::Done);
    }
    if lanes.is_empty() {
        out.line("there are no lanes")?;
    }
    for lane in lanes {
        let owner = match &lane.owner {
            Some((run, unit)) => format!("{} · {}", clean(run), clean(unit)),
            None => "free".to_owned(),
        };
        let dirty = if lane.dirty { ", not on record yet" } else { "" };
        out.line(&format!("{}  {owner}{dirty}", lane.number))?;
        out.line(&format!("   {}", lane.work.display()))?;
    }
    Ok(Exit::Done)
}
