//! `windlass log`: what happened in a run, line by line.

use std::path::Path;

use clap::Args;
use serde_json::json;
use windlass_engine::entry::{Answered, Entry, Note};
use windlass_journal::Journal;

use crate::caching::{self, Caching};
use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::Teller;
use crate::render::{Output, clean};
use crate::replay::replay;
use crate::spoken::spoken;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass log
  windlass log task-2
  windlass log task-2 --full | less
  windlass log task-2 --json | tail -1
  windlass log --cache
")]
pub struct LogArgs {
    /// The run; without one, the newest
    #[arg(value_name = "RUN")]
    run: Option<String>,

    /// Print every entry of the journal as a JSON line
    #[arg(long)]
    json: bool,

    /// With everything that agents were told and that programs printed
    #[arg(long, conflicts_with = "json")]
    full: bool,

    /// Say instead how much of what models read came from a cache, by role and agent
    #[arg(long, conflicts_with = "full")]
    cache: bool,
}

pub fn run(args: &LogArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let journal = place.look()?.ok_or_else(Error::never_run)?;
    let known = known::named_or_newest(&journal, args.run.as_deref())?;
    if args.cache {
        return cached(&caching::of(&journal, &known.id)?, args.json, out);
    }
    if args.json {
        for entry in journal.read(&known.id, 0)? {
            out.line(&String::from_utf8_lossy(&entry?.bytes))?;
        }
        return Ok(Exit::Done);
    }
    let words = spoken(&journal, &known.id, &known.run)?.words();
    let mut teller = Teller::new(known.run.workflow().clone(), words).with_decisions();
    replay(&journal, &known.id, |entry, run| {
        for line in teller.tell(entry, run) {
            out.line(&line)?;
        }
        if args.full {
            for (name, blob) in printed(entry) {
                show(&journal, &words.say(name, &[]), blob, out)?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// How a cache served a run, as a table.
fn cached(
    (rows, total): &(Vec<Caching>, Caching),
    as_json: bool,
    out: &mut Output,
) -> Result<Exit, Error> {
    if as_json {
        out.json(&json!({ "roles": rows, "total": total }))?;
        return Ok(Exit::Done);
    }
    let width = |text: &str| unicode_width::UnicodeWidthStr::width(text);
    let wide = |of: fn(&Caching) -> &str, least: usize| {
        rows.iter().map(|row| width(&clean(of(row)))).max().unwrap_or(0).max(least)
    };
    let (roles, agents) = (wide(|row| &row.role, 5), wide(|row| &row.agent, 5));
    let pad = |text: &str, to: usize| {
        let text = clean(text);
        format!("{text}{}", " ".repeat(to.saturating_sub(width(&text))))
    };
    let share = |share: Option<f64>| share.map_or("-".to_owned(), |it| format!("{it:.2} %"));
    let (role, agent) = (pad("role", roles), pad("agent", agents));
    out.line(&format!(
        "{role}  {agent}  {:>6}  {:>11}  {:>11}  {:>9}  {:>9}",
        "asked", "read", "cached", "hits", "prompts"
    ))?;
    for row in rows.iter().chain([total]) {
        let (role, agent) = (pad(&row.role, roles), pad(&row.agent, agents));
        let (hits, same) = (share(row.hit_percent), share(row.same_percent));
        let (asked, read, cached) = (row.invocations, row.read_tokens, row.cached_tokens);
        out.line(&format!(
            "{role}  {agent}  {asked:>6}  {read:>11}  {cached:>11}  {hits:>9}  {same:>9}"
        ))?;
    }
    out.line("hits: tokens from a cache, of all that models read, as agents say")?;
    out.line("prompts: bytes before the runtime context that are as in the role's prompt before")?;
    Ok(Exit::Done)
}

/// What programs printed on behalf of an entry, by the message that names it.
fn printed(entry: &Entry) -> Vec<(&'static str, &str)> {
    let Entry::Note(noted) = entry else { return Vec::new() };
    match &noted.note {
        Note::Asked(asked) => vec![("log-prompt", &asked.prompt)],
        Note::Answered(it) => said_and_printed(it),
        Note::Checked { output: Some(output), .. } => vec![("log-printed", output)],
        Note::BaseChecked { output, .. } => vec![("log-printed-before", output)],
        Note::Browsed { seen, .. } => vec![("log-browsed", seen)],
        Note::Shown { shown, .. } => vec![("log-shown", shown)],
        Note::Proved { checks, .. } => {
            let outputs = checks.iter().filter_map(|it| it.output.as_deref());
            outputs.map(|output| ("log-printed", output)).collect()
        }
        Note::Checked { output: None, .. }
        | Note::TakenUp { .. }
        | Note::Based { .. }
        | Note::Saved { .. }
        | Note::Landed { .. }
        | Note::Turned { .. }
        | Note::Queued { .. }
        | Note::Coupled { .. }
        | Note::Conflicted { .. }
        | Note::Laned { .. }
        | Note::Foreseen { .. }
        | Note::ForeseenOver { .. }
        | Note::HeldBack { .. }
        | Note::LetGo { .. }
        | Note::ByHand { .. }
        | Note::Lost { .. }
        | Note::Left { .. }
        | Note::Told { .. }
        | Note::Paper { .. }
        | Note::Kept { .. }
        | Note::Tidied => Vec::new(),
    }
}

/// What an agent printed, and what others see of that where its kind picks it out.
fn said_and_printed(answered: &Answered) -> Vec<(&'static str, &str)> {
    // Named one by one, so that whoever adds a field is asked about it.
    let Answered {
        asked: _,
        came: _,
        ended: _,
        stdout,
        stderr,
        text,
        limited_until: _,
        models: _,
        handed_to: _,
        remarks: _,
        commit: _,
        files: _,
    } = answered;
    let text = text.as_deref().map(|text| ("log-said", text));
    [("log-printed", stdout.as_str())]
        .into_iter()
        .chain(text)
        .chain([("log-errors", stderr.as_str())])
        .collect()
}

fn show(journal: &Journal, name: &str, blob: &str, out: &mut Output) -> Result<(), Error> {
    let Ok(id) = blob.parse() else { return Ok(()) };
    let bytes = journal.get(id)?;
    if bytes.is_empty() {
        return Ok(());
    }
    out.line(&format!("    {name}:"))?;
    for line in String::from_utf8_lossy(&bytes).lines() {
        out.line(&format!("    | {}", clean(line)))?;
    }
    Ok(())
}
