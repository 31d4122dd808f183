//! What would be done, in which order, how, and why so. Nothing is changed, and nobody is asked.

use serde_json::json;
use windlass_clerks::memory::{Files, failures};
use windlass_clerks::work::effort;
use windlass_sources::plans::{BYTES_MAX, Chosen, Effort, Form, Picked, Plans};
use windlass_sources::sprint::SprintContract;

use super::{WorkArgs, said, selected, unusable};
use crate::base;
use crate::config::{self, Config};
use crate::error::Error;
use crate::exit::Exit;
use crate::past;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

/// A task as it would be done.
struct Task {
    picked: Picked,
    effort: Effort,
    tdd: bool,
    profile: &'static str,
}

pub fn run(
    place: &Workplace,
    file: &str,
    args: &WorkArgs,
    out: &mut Output,
) -> Result<Exit, Error> {
    let files = Files::of(place.repository.top());
    let text = files.theirs(file, BYTES_MAX).map_err(unusable)?.unwrap_or_default();
    let plans = Plans::read(text);
    match plans.form() {
        Form::Second => {}
        Form::Empty => {
            out.line(&format!(
                "there is no {file}: a planner would make one first, and you would see it"
            ))?;
            return Ok(Exit::Done);
        }
        Form::Old => {
            return Err(Error::usage(format!(
                "{file} is in the old format. Please regenerate with harness-plan create."
            ))
            .hint("move it away, and `windlass plan \"…\"` makes one"));
        }
    }
    let targets = said(&args.targets).unwrap_or_else(|| "all".to_owned());
    let chosen = selected(Some(&plans), &targets)?.unwrap_or_default();
    let checks = base::checks_on_disk(place.repository.top(), &settings(place)?).commands;
    let failed = files.text(failures::PATH).map_err(unusable)?.unwrap_or_default();
    let Chosen { picked, remarks } = chosen;
    let tasks: Vec<Task> = picked
        .into_iter()
        .map(|picked| Task {
            effort: effort(&picked.row, &failed),
            tdd: !args.flags.no_tdd && !picked.row.tags.skip_tdd && checks.contains_key("test"),
            profile: SprintContract::profile(&picked.row, &checks).word(),
            picked,
        })
        .collect();
    let stale = if args.accept_drift { Vec::new() } else { stale(place, &plans)? };
    let unlisted = args.task.len();
    let (mode, lanes) = args.flags.mode(tasks.len() + unlisted);
    if args.json {
        let mut whole = whole(mode, lanes, &tasks, &args.task, &remarks);
        whole["stale"] = stale.into();
        out.json(&whole)?;
        return Ok(Exit::Done);
    }
    if !stale.is_empty() {
        out.note(
            "stale markers: it would ask first whether to go on; `windlass plan sync` mends them",
        )?;
    }
    let count = tasks.len() + unlisted;
    let many = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
    let mut text = format!("{many}: {mode}, {lanes} at a time\n");
    for task in &tasks {
        text += &shown(task);
        text.push('\n');
    }
    for new in &args.task {
        text += &format!("  new    {}  it would be added to {file}\n", clean(new));
    }
    // At once: there may be thousands of lines.
    out.bytes(text.as_bytes())?;
    for remark in stale.iter().chain(&remarks) {
        out.note(&clean(remark))?;
    }
    for (line, what) in &plans.remarks {
        out.note(&format!("{file}:{line}: {}", clean(what)))?;
    }
    Ok(Exit::Done)
}

/// The markers that do not say what the history says, a line each. A repository without a commit has no history.
fn stale(place: &Workplace, plans: &Plans) -> Result<Vec<String>, Error> {
    match past::stale(&place.repository, plans) {
        Err(_) if place.repository.head().is_err() => Ok(Vec::new()),
        stale => Ok(stale?.iter().map(ToString::to_string).collect()),
    }
}

/// The settings as they are by now: a run reads those of the commit that it begins at.
fn settings(place: &Workplace) -> Result<Config, Error> {
    let path = place.repository.top().join(config::FILE);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(Config::parse(&text)?),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Config::default()),
        Err(error) => Err(Error::unreadable(&path, error)),
    }
}

/// A task in two lines.
fn shown(task: &Task) -> String {
    let row = &task.picked.row;
    let waits: Vec<&str> = task.picked.waits.iter().map(|number| number.as_str()).collect();
    let after =
        if waits.is_empty() { String::new() } else { format!(", after {}", waits.join(", ")) };
    let level = if task.effort.is_high() { "high" } else { "medium" };
    let tdd = if task.tdd { "red test first" } else { "no red test" };
    format!(
        "  {:<6} {}\n         {}{after}; effort {level} ({}); {tdd}; review {}",
        row.number.as_str(),
        clean(&row.content),
        row.status,
        task.effort,
        task.profile
    )
}

fn whole(
    mode: &str,
    lanes: usize,
    tasks: &[Task],
    new: &[String],
    remarks: &[String],
) -> serde_json::Value {
    let one = |task: &Task| {
        let row = &task.picked.row;
        let waits: Vec<&str> = task.picked.waits.iter().map(|number| number.as_str()).collect();
        let factors: Vec<String> = task.effort.factors.iter().map(ToString::to_string).collect();
        json!({
            "id": row.number.as_str(), "content": row.content, "dod": row.dod, "status": row.status.to_string(),
            "waits": waits, "effort": { "score": task.effort.score(), "high": task.effort.is_high(), "factors": factors },
            "tdd": task.tdd, "review": task.profile, "line": row.line,
        })
    };
    let tasks: Vec<_> = tasks.iter().map(one).collect();
    json!({ "mode": mode, "lanes": lanes, "tasks": tasks, "new": new, "remarks": remarks })
}
