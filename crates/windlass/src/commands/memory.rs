//! `windlass memory`: what missions noted and what roles have learned, to be looked at and taken back.

mod changes;

use std::collections::BTreeSet;
use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::{Value as Json, json};
use windlass_clerks::memory::Files;
use windlass_clerks::memory::identity::{Identities, Line, name_of};
use windlass_clerks::memory::mission::{self, Layers};
use windlass_engine::clock::wall_ms;
use windlass_engine::date::date;
use windlass_journal::RunId;

use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::{Output, clean, clean_lines};
use crate::replay::replay;
use crate::suggest;
use crate::workplace::{Workplace, state_dir};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass memory
  windlass memory show summary
  windlass memory show worker
  windlass memory diff
  windlass memory revert worker 3
  windlass memory add worker \"Run the tests with --offline.\" --user

Roles note things while they work (raw). A curator makes a summary of that, appends to MEMORY, and has
roles learn what two features have noted. What roles have learned is kept for this project and, once
two projects have learned it, for all of yours; nothing is ever deleted, only taken back.
")]
pub struct MemoryArgs {
    #[command(subcommand)]
    command: Option<MemoryCommand>,

    /// Only what all of your projects have learned
    #[arg(long, global = true, conflicts_with = "project")]
    user: bool,

    /// Only what this project has learned
    #[arg(long, global = true)]
    project: bool,

    /// The run whose notes are meant; without one, the newest that has any
    #[arg(long, value_name = "RUN", global = true)]
    run: Option<String>,

    /// Print JSON instead of text
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Debug, Subcommand)]
enum MemoryCommand {
    /// Say how much of everything there is
    #[command(after_help = "Examples:\n  windlass memory list\n  windlass memory list --json\n")]
    List,

    /// Show notes (raw, summary, MEMORY) or what a role has learned
    #[command(
        after_help = "Examples:\n  windlass memory show raw\n  windlass memory show worker --project\n"
    )]
    Show {
        /// raw, summary, MEMORY, or a role; without one, the summary and every role
        #[arg(value_name = "WHAT")]
        what: Option<String>,
    },

    /// Show what the last curator changed, and what it was refused
    #[command(
        after_help = "Examples:\n  windlass memory diff\n  windlass memory diff --run mission-2\n"
    )]
    Diff,

    /// Take back a line that a role has learned: it stays on record, and no role is given it
    #[command(
        visible_alias = "remove",
        after_help = "Examples:\n  windlass memory revert worker 3\n  windlass memory remove worker 1 --user\n"
    )]
    Revert {
        /// The role
        #[arg(value_name = "ROLE")]
        role: String,
        /// The line's number, as `windlass memory show ROLE` has it
        #[arg(value_name = "N")]
        number: usize,
    },

    /// Have a role learn a line of yours
    #[command(
        after_help = "Examples:\n  windlass memory add worker \"Ports are leased: use $PORT.\"\n  windlass memory add validator \"Look at error paths.\" --user\n"
    )]
    Add {
        /// The role
        #[arg(value_name = "ROLE")]
        role: String,
        /// What it should know, in a sentence
        #[arg(value_name = "TEXT")]
        text: String,
    },
}

/// Whose lines are meant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Whose {
    Project,
    User,
}

impl Whose {
    fn name(self) -> &'static str {
        match self {
            Whose::Project => "project",
            Whose::User => "user",
        }
    }
}

/// What there is to look at.
struct Memory {
    /// Identities, and whose they are.
    identities: Vec<(Whose, Identities)>,
    /// What a run has noted.
    layers: Option<(RunId, Layers)>,
}

pub fn run(args: &MemoryArgs, out: &mut Output) -> Result<Exit, Error> {
    match args.command.as_ref().unwrap_or(&MemoryCommand::List) {
        MemoryCommand::List => list(&Memory::of(args)?, args.json, out),
        MemoryCommand::Show { what } => show(&Memory::of(args)?, what.as_deref(), args.json, out),
        MemoryCommand::Diff => diff(&Memory::of(args)?, args.json, out),
        MemoryCommand::Revert { role, number } => revert(args, role, *number, out),
        MemoryCommand::Add { role, text } => add(args, role, text, out),
    }
}

impl Memory {
    fn of(args: &MemoryArgs) -> Result<Self, Error> {
        let person = (Whose::User, Identities::of(state_dir()?.path()));
        let place = match Workplace::find_known(Path::new(".")) {
            Ok(place) => place,
            // What all projects have learned is no project's.
            Err(_) if args.user => {
                return Ok(Memory { identities: vec![person], layers: None });
            }
            Err(error) => return Err(error),
        };
        let project = (Whose::Project, Identities::of(&place.dir));
        let identities = match (args.user, args.project) {
            (true, _) => vec![person],
            (false, true) => vec![project],
            (false, false) => vec![project, person],
        };
        Ok(Memory { identities, layers: layers(&place, args.run.as_deref())? })
    }

    /// Every role that somebody has learned something for.
    fn roles(&self) -> BTreeSet<String> {
        self.identities.iter().flat_map(|(_, of)| of.names()).collect()
    }

    fn lines(&self, role: &str) -> Result<Vec<(Whose, Vec<Line>)>, Error> {
        let of = |(whose, own): &(Whose, Identities)| {
            let lines = own.lines(role).map_err(|error| Error::unreadable(&own.path(role), error));
            Ok((*whose, lines?))
        };
        self.identities.iter().map(of).collect()
    }
}

/// What a run has noted: the one of this name, or the newest that has a curator.
fn layers(place: &Workplace, name: Option<&str>) -> Result<Option<(RunId, Layers)>, Error> {
    let Some(journal) = place.look()? else { return Ok(None) };
    let known = match name {
        Some(_) => Some(known::named_or_newest(&journal, name)?),
        None => {
            let mut runs = known::all(&journal)?.readable;
            runs.retain(|it| it.run.workflow().roles.contains_key(mission::CURATOR));
            runs.pop()
        }
    };
    let Some(known) = known else { return Ok(None) };
    let files = Files::of(place.repository.top());
    let mut layers = Layers::open(files, &place.dir, known.id.as_str());
    let blobs = |digest: &str| journal.get(digest.parse().ok()?).ok();
    replay(&journal, &known.id, |entry, run| {
        layers.entry(entry, run, &blobs);
        Ok(())
    })?;
    Ok(Some((known.id, layers)))
}

fn list(memory: &Memory, as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    let mut roles = Vec::new();
    for role in memory.roles() {
        for (whose, lines) in memory.lines(&role)? {
            let reverted = lines.iter().filter(|line| line.reverted).count();
            if !lines.is_empty() {
                roles.push((role.clone(), whose, lines.len() - reverted, reverted));
            }
        }
    }
    if as_json {
        let notes = memory.layers.as_ref().map(|(id, layers)| {
            let (summary, tokens) = layers.summary();
            json!({
                "run": id.as_str(), "raw_entries": layers.noted(), "curations": layers.curations(),
                "summary_lines": summary.lines().count(), "summary_tokens": tokens,
                "promoted": layers.promoted().len(),
            })
        });
        let roles = roles.iter().map(|(role, whose, lines, reverted)| {
            json!({ "role": role, "of": whose.name(), "lines": lines, "reverted": reverted })
        });
        out.json(&json!({ "notes": notes, "roles": roles.collect::<Vec<_>>() }))?;
        return Ok(Exit::Done);
    }
    match &memory.layers {
        Some((id, layers)) => {
            let (summary, tokens) = layers.summary();
            out.line(&format!("{id} has noted:"))?;
            out.line(&format!("  raw      {} entries", layers.noted()))?;
            out.line(&format!(
                "  summary  {} of {} lines, about {tokens} of {} tokens",
                summary.lines().count(),
                mission::SUMMARY_LINES_MAX,
                mission::SUMMARY_TOKENS_MAX,
            ))?;
            out.line(&format!("  curated  {} times", layers.curations()))?;
        }
        None => out.line("no run here has noted anything yet")?,
    }
    match roles.is_empty() {
        true => out.line("no role has learned anything for good yet")?,
        false => out.line("learned for good:")?,
    }
    for (role, whose, lines, reverted) in roles {
        let taken = if reverted > 0 { format!(", {reverted} taken back") } else { String::new() };
        out.line(&format!("  {role} ({}): {lines} lines{taken}", whose.name()))?;
    }
    Ok(Exit::Done)
}

fn show(
    memory: &Memory,
    what: Option<&str>,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let Some(what) = what else {
        if as_json {
            let roles: Result<Vec<Json>, Error> =
                memory.roles().iter().map(|role| role_json(memory, role)).collect();
            let summary = file(memory, mission::SUMMARY).unwrap_or_default();
            out.json(&json!({ "summary": summary, "roles": roles? }))?;
            return Ok(Exit::Done);
        }
        if let Some(summary) = file(memory, mission::SUMMARY) {
            out.line(clean_lines(&summary).trim_end())?;
        }
        for role in memory.roles() {
            show_role(memory, &role, out)?;
        }
        return Ok(Exit::Done);
    };
    let path = match what.trim_end_matches(".md") {
        "raw" => Some(mission::RAW),
        "summary" => Some(mission::SUMMARY),
        "MEMORY" | "memory" => Some(mission::LONG),
        _ => None,
    };
    if let Some(path) = path {
        let text = file(memory, path).unwrap_or_default();
        match as_json {
            true => out.json(&json!({ "path": path, "text": text }))?,
            false if text.is_empty() => out.line(&format!("there is no {path} yet"))?,
            false => out.line(clean_lines(&text).trim_end())?,
        }
        return Ok(Exit::Done);
    }
    let role = known_role(memory, what)?;
    match as_json {
        true => out.json(&role_json(memory, &role)?)?,
        false => show_role(memory, &role, out)?,
    }
    Ok(Exit::Done)
}

/// A file of a run's notes, as its journal has it. Of what roles noted, all files together.
fn file(memory: &Memory, path: &str) -> Option<String> {
    let (_, layers) = memory.layers.as_ref()?;
    let mut files = layers.files();
    if path == mission::RAW {
        files.retain(|(path, _)| path != mission::SUMMARY && path != mission::LONG);
        let texts: Vec<String> = files.into_iter().map(|(_, text)| text).collect();
        return (!texts.is_empty()).then(|| texts.join("\n"));
    }
    files.into_iter().find(|(own, _)| own == path).map(|(_, text)| text)
}

/// A role that something was learned for, as a person calls it.
fn known_role(memory: &Memory, what: &str) -> Result<String, Error> {
    let roles = memory.roles();
    let name = name_of(what).unwrap_or(what);
    if roles.contains(name) {
        return Ok(name.to_owned());
    }
    let names = ["raw", "summary", "MEMORY"].into_iter().chain(roles.iter().map(String::as_str));
    let nearest = suggest::nearest(name, names.clone()).map(crate::error::did_you_mean);
    let all: Vec<&str> = names.collect();
    let error = Error::usage(format!("nothing is remembered under `{}`", clean(what)));
    Err(error.hint(nearest.unwrap_or_else(|| format!("there are {}", all.join(", ")))))
}

fn show_role(memory: &Memory, role: &str, out: &mut Output) -> Result<(), Error> {
    for (whose, lines) in memory.lines(role)?.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        out.line(&format!("{role} ({}):", whose.name()))?;
        for line in lines {
            let taken = if line.reverted { " [taken back]" } else { "" };
            let from =
                if line.from.is_empty() { String::new() } else { format!("  ({})", line.from) };
            let text = format!("{:>4}  {}{from}{taken}", line.number, line.text);
            out.line(&clean(&text))?;
        }
    }
    Ok(())
}

fn role_json(memory: &Memory, role: &str) -> Result<Json, Error> {
    let lines = memory.lines(role)?.into_iter().flat_map(|(whose, lines)| {
        lines.into_iter().map(move |line| {
            json!({
                "of": whose.name(), "number": line.number, "text": line.text, "from": line.from,
                "reverted": line.reverted,
            })
        })
    });
    Ok(json!({ "role": role, "lines": lines.collect::<Vec<_>>() }))
}

fn diff(memory: &Memory, as_json: bool, out: &mut Output) -> Result<Exit, Error> {
    let last = memory.layers.as_ref().and_then(|(id, layers)| Some((id, layers.last()?)));
    let Some((id, last)) = last else {
        match as_json {
            true => out.json(&json!({ "run": null }))?,
            false => out.line("no curator was at work yet: there is nothing to compare")?,
        }
        return Ok(Exit::Done);
    };
    let summary = changes::between(&last.before, &last.after);
    if as_json {
        let promoted = last
            .promoted
            .iter()
            .map(|it| json!({ "role": it.role, "text": it.text, "features": it.features }));
        out.json(&json!({
            "run": id.as_str(), "before": last.before, "after": last.after, "long": last.long,
            "promoted": promoted.collect::<Vec<_>>(), "refused": last.refused,
        }))?;
        return Ok(Exit::Done);
    }
    out.line(&format!("what the curator of {id} changed:"))?;
    out.line(&format!("--- {}", mission::SUMMARY))?;
    for line in &summary {
        out.line(&clean(line))?;
    }
    if !last.long.is_empty() {
        out.line(&format!("--- {}", mission::LONG))?;
        for line in last.long.lines() {
            out.line(&clean(&format!("+ {line}")))?;
        }
    }
    for it in &last.promoted {
        let features: Vec<&str> = it.features.iter().map(String::as_str).collect();
        out.line(&clean(&format!("+ {}: {} ({})", it.role, it.text, features.join(", "))))?;
    }
    for refused in &last.refused {
        out.line(&clean(refused))?;
    }
    Ok(Exit::Done)
}

/// The identities that a person means who changes them.
fn meant(args: &MemoryArgs) -> Result<(Whose, Identities), Error> {
    if args.user {
        return Ok((Whose::User, Identities::of(state_dir()?.path())));
    }
    let place = Workplace::find_known(Path::new("."))?;
    Ok((Whose::Project, Identities::of(&place.dir)))
}

fn revert(args: &MemoryArgs, role: &str, number: usize, out: &mut Output) -> Result<Exit, Error> {
    let (whose, own) = meant(args)?;
    let memory = Memory { identities: vec![(whose, own.clone())], layers: None };
    let role = known_role(&memory, role)?;
    let path = own.path(&role);
    let taken = own.revert(&role, number, &date(wall_ms()));
    let Some(line) = taken.map_err(|error| Error::unwritable(&path, error))? else {
        let error = Error::usage(format!("{role} ({}) has no line {number}", whose.name()));
        return Err(error.hint(format!("`windlass memory show {role}` numbers them")));
    };
    match args.json {
        true => out.json(&json!({
            "role": role, "of": whose.name(), "number": number, "text": line.text, "reverted": true,
        }))?,
        false => out.line(&format!("taken back, no {role} is given it: {}", clean(&line.text)))?,
    }
    Ok(Exit::Done)
}

fn add(args: &MemoryArgs, role: &str, text: &str, out: &mut Output) -> Result<Exit, Error> {
    let (whose, own) = meant(args)?;
    let role = name_of(role).ok_or_else(|| {
        Error::usage(format!("`{}` cannot be the name of a role", clean(role)))
            .hint("letters, digits, `-` and `_` make one, as in `worker`")
    })?;
    let from = format!("{}, by hand", date(wall_ms()));
    let new = own.bring_back(role, text, &from);
    let new = new.map_err(|error| Error::unwritable(&own.path(role), error))?;
    match (args.json, new) {
        (true, new) => out.json(&json!({ "role": role, "of": whose.name(), "added": new }))?,
        (false, true) => out.line(&format!("every {role} is given it from now on"))?,
        (false, false) => out.line(&format!("{role} has learned that already"))?,
    }
    Ok(Exit::Done)
}
