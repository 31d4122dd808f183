//! `windlass run`: starts a workflow on this repository.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use windlass_core::workflow::Workflow;

use super::workflow::{CatalogueArgs, Setting, Target};
use crate::error::{Error, did_you_mean};
use crate::exit::Exit;
use crate::face::Tone;
use crate::render::Output;
use crate::suggest;
use crate::under_way::{self, Lands, Order};
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

Without git it works on copies of the directory, as long as the workflow lands nothing.
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
    // What a verb of their own asks and settles first, they cannot do without.
    const VERBS: [(&str, &str); 5] = [
        ("issues", "windlass issues"),
        ("task", "windlass task \"Add a --json flag\""),
        ("task-v1", "windlass task"),
        ("mission", "windlass mission SPEC.md"),
        ("work", "windlass work all"),
    ];
    if let Some((name, verb)) = VERBS.into_iter().find(|(name, _)| args.target.is_built_in(name)) {
        return Err(Error::usage(format!("`{name}` has a verb of its own")).hint(verb));
    }
    let mut inputs = BTreeMap::new();
    for Setting { key, value } in &args.set {
        let input = flow.inputs.iter().find(|input| input.name == *key);
        let input = input.ok_or_else(|| unknown_input(key, &flow))?;
        let value = input.ty.parse(value).ok_or_else(|| Error::bad_value(key, value, &input.ty))?;
        if inputs.insert(key.clone(), value).is_some() {
            return Err(Error::set_twice(key));
        }
    }
    let place = Workplace::find_or_copy(Path::new("."))?;
    if !place.has_git && flow.stages.iter().any(|stage| stage.kind.lands()) {
        let top = place.repository.top().display();
        let what = format!(
            "{} lands its work on a branch, and {top} is not in a git repository",
            flow.name
        );
        return Err(Error::here(what).hint("run `git init` there and commit something"));
    }
    let held = place.take(&format!("windlass run {}", args.target))?;
    let order = Order {
        flow,
        inputs,
        about: None,
        lands: Lands::on(args.branch.clone()),
        entry: None,
        lanes: None,
    };
    under_way::begin(&held, order, Tone::of(args.json))
}

fn unknown_input(key: &str, flow: &Workflow) -> Error {
    let known: Vec<&str> = flow.inputs.iter().map(|input| input.name.as_str()).collect();
    Error::usage(format!("{} has no input `{key}`", flow.name))
        .hint(format!("its inputs are {}", known.join(", ")))
        .maybe(suggest::nearest(key, known).map(did_you_mean))
}
