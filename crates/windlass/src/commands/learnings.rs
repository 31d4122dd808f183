//! `windlass learnings`: what the project has learned, and pruning it.

use std::path::Path;

use clap::{Args, Subcommand};
use serde_json::json;
use windlass_clerks::memory::{Files, learnings};
use windlass_engine::clock::wall_ms;
use windlass_engine::date::date;

use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass learnings
  windlass learnings prune --dry-run
  windlass learnings prune
")]
pub struct LearningsArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    #[command(subcommand)]
    command: Option<LearningsCommand>,
}

#[derive(Debug, Subcommand)]
enum LearningsCommand {
    /// Keep the newest entries, move the others into the archive, and say what they have in common
    #[command(
        after_help = "Examples:\n  windlass learnings prune --dry-run\n  windlass learnings prune\n"
    )]
    Prune {
        /// Say what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,

        /// Print JSON instead of text
        #[arg(long)]
        json: bool,
    },
}

pub fn run(args: &LearningsArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find(Path::new("."))?;
    let files = Files::of(place.repository.top());
    let text = files.text(learnings::PATH)?.unwrap_or_default();
    if let Some(LearningsCommand::Prune { dry_run, json }) = &args.command {
        return prune(&files, &text, *dry_run, *json || args.json, out);
    }
    let entries = learnings::parse(&text);
    if args.json {
        let entries: Vec<_> = entries
            .iter()
            .map(|entry| json!({ "date": entry.date, "text": entry.text, "outcome": entry.tags("outcome") }))
            .collect();
        out.json(&json!({ "entries": entries, "threshold": learnings::MANY }))?;
        return Ok(Exit::Done);
    }
    for entry in &entries {
        out.line(&clean(&entry.text))?;
    }
    out.line(&format!("{} entries in {}", entries.len(), learnings::PATH))?;
    if entries.len() > learnings::MANY {
        out.line("`windlass learnings prune` archives the old ones")?;
    }
    Ok(Exit::Done)
}

fn prune(
    files: &Files,
    text: &str,
    dry_run: bool,
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    let pruned = learnings::prune(text, &date(wall_ms()));
    if !dry_run && pruned.count > 0 {
        // Into the archive first: whatever happens in between, nothing is lost.
        for (month, blocks) in &pruned.archived {
            let path = format!("{}/{month}.md", learnings::ARCHIVE);
            for block in blocks {
                files.append(&path, "Learnings Archive", block)?;
            }
        }
        files.write(learnings::PATH, &pruned.text)?;
    }
    if as_json {
        let patterns: Vec<_> = pruned
            .patterns
            .iter()
            .map(|(tag, count)| json!({ "tag": tag, "count": count }))
            .collect();
        out.json(&json!({ "kept": pruned.kept, "archived": pruned.count, "patterns": patterns }))?;
        return Ok(Exit::Done);
    }
    for (tag, count) in &pruned.patterns {
        out.line(&format!("{count} entries have [{}]", clean(tag)))?;
    }
    let would = if dry_run { "would be " } else { "" };
    out.line(&format!(
        "{} entries {would}kept, {} {would}archived in {}",
        pruned.kept,
        pruned.count,
        learnings::ARCHIVE
    ))?;
    Ok(Exit::Done)
}
