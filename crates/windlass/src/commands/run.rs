//! `windlass run`: starts a workflow on this repository.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Args;
use windlass_core::run::{Stamp, Start, start};
use windlass_engine::clock::wall_ms;
use windlass_journal::RunId;

use super::workflow::{CatalogueArgs, Setting, Target};
use crate::clerks::Meta;
use crate::error::Error;
use crate::exit::Exit;
use crate::face::Tone;
use crate::render::Output;
use crate::session::{self, Beginning};
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass run my-flow.toml --catalogue my-roles.toml
  windlass run my-flow.toml --set lanes=2
  windlass run my-flow.toml --branch develop --json

Who plays which role, what checks the work and what it may cost stands in windlass.toml, which is
read from the branch's last commit. Your checkout, index and other branches stay as they are; only
what has passed its checks lands. Stop it at any time: `windlass resume` goes on.
")]
pub struct RunArgs {
    /// A built-in workflow, or a file that ends in .toml
    #[arg(value_name = "WORKFLOW|FILE")]
    target: Target,

    /// Set an input: lanes=2 (may be repeated)
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<Setting>,

    /// The branch to land on, instead of the one that is checked out
    #[arg(long, value_name = "BRANCH")]
    branch: Option<String>,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    catalogue: CatalogueArgs,
}

pub fn run(args: &RunArgs, _out: &mut Output) -> Result<Exit, Error> {
    let flow = args.target.load(&args.catalogue.load()?)?;
    let mut inputs = BTreeMap::new();
    for Setting { key, value } in &args.set {
        let input = flow.inputs.iter().find(|input| input.name == *key);
        let input = input.ok_or_else(|| Error::UnknownInput {
            key: key.clone(),
            workflow: flow.name.clone(),
            known: flow.inputs.iter().map(|input| input.name.clone()).collect(),
        })?;
        let value = input.ty.parse(value).ok_or_else(|| Error::BadValue {
            key: key.clone(),
            value: value.clone(),
            want: input.ty.to_string(),
        })?;
        if inputs.insert(key.clone(), value).is_some() {
            return Err(Error::SetTwice { key: key.clone() });
        }
    }
    let place = Workplace::find(Path::new("."))?;
    let held = place.take(&format!("windlass run {}", args.target))?;
    let catalogue = super::own_catalogue(&flow)?;
    let prepared = held.prepare(args.branch.as_deref())?;
    prepared.suffices(&flow)?;
    let id = next_id(&held, &flow.name)?;
    let begin = Start {
        run: id.as_str().into(),
        inputs,
        entry: None,
        have: BTreeSet::new(),
        settings: prepared.config.settings(&flow),
    };
    let now = Stamp { mono_ms: 0, wall_ms: wall_ms() };
    let events = start(flow.clone(), now, begin)?;
    let meta = Meta {
        workflow: flow.name.clone(),
        target: Some(prepared.target.to_string()),
        base: Some(prepared.base.to_string()),
        about: None,
    };
    let tone = if args.json { Tone::Json } else { Tone::Plain };
    session::go(&held, prepared, catalogue, Beginning::New { id, meta, events }, tone)
}

/// The next free number for a workflow in this repository.
pub fn next_id(held: &crate::workplace::Held, workflow: &str) -> Result<RunId, Error> {
    let taken: BTreeSet<String> =
        held.journal.runs()?.into_iter().map(|run| run.id.as_str().to_owned()).collect();
    let free = (1_u64..).map(|n| format!("{workflow}-{n}")).find(|id| !taken.contains(id));
    free.and_then(|id| id.parse().ok()).ok_or(Error::Defect)
}
