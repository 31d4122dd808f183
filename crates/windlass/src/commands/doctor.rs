//! `windlass doctor`: what is missing here, and how to get it.

use std::path::Path;

use clap::Args;
use serde_json::json;

use windlass_clerks::memory::Files;
use windlass_engine::isolation::Isolation;
use windlass_engine::trial;

use super::mission;
use crate::config;
use crate::error::Error;
use crate::exit::Exit;
use crate::idle;
use crate::prepared::{LookedOver, Onto, Prepared};
use crate::probe::{Found, Probe};
use crate::render::{Output, clean};
use crate::workplace::{Held, Workplace};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass doctor
  windlass doctor --json
  windlass doctor --agents
  windlass doctor --agents claude codex

`--agents` lets each agent do a little work for a model server of Windlass's own, on this machine:
it writes a file and answers, meets a limit, and is told to end. That takes a minute or so for each,
costs nothing and sends nothing anywhere, and tells which version was seen, what works, and what is
not as Windlass knows it.
")]
pub struct DoctorArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,

    /// Try agents out too: these, or all
    #[arg(long, value_name = "NAME", num_args = 0..)]
    agents: Option<Vec<String>>,
}

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    /// What is there, or what is wrong and what to do.
    state: Result<String, (String, Option<String>)>,
}

impl Finding {
    fn of(what: &'static str, state: Result<String, Error>) -> Self {
        match state {
            Ok(there) => Finding { what, state: Ok(there) },
            Err(error) => Finding::wrong(what, &error),
        }
    }

    fn wrong(what: &'static str, error: &Error) -> Self {
        let next = error.next_step().map(str::to_owned);
        Finding { what, state: Err((error.to_string(), next)) }
    }
}

pub fn run(args: &DoctorArgs, out: &mut Output) -> Result<Exit, Error> {
    let findings = look();
    let well = findings.iter().all(|finding| finding.state.is_ok());
    if !args.json {
        print(&findings, out)?;
    }
    let tried = match &args.agents {
        Some(named) => try_out(named, args.json, out),
        None => Ok(Vec::new()),
    };
    let well = well && tried.as_ref().is_ok_and(|all| all.iter().all(Found::is_well));
    if args.json {
        let findings: Vec<_> = findings
            .iter()
            .map(|finding| match &finding.state {
                Ok(there) => json!({ "what": finding.what, "ok": true, "found": there }),
                Err((wrong, hint)) => {
                    json!({ "what": finding.what, "ok": false, "wrong": wrong, "next": hint })
                }
            })
            .collect();
        let mut all = json!({ "ok": well, "findings": findings });
        if args.agents.is_some() {
            all["agents"] = tried.iter().flatten().map(Found::json).collect();
            if let Err(error) = &tried {
                all["wrong"] = json!(error.to_string());
                all["next"] = json!(error.next_step());
            }
        }
        out.json(&all)?;
    }
    tried?;
    Ok(if well { Exit::Done } else { Exit::Error })
}

fn print(findings: &[Finding], out: &mut Output) -> Result<(), Error> {
    for finding in findings {
        match &finding.state {
            Ok(there) => out.line(&format!("ok       {:<12} {}", finding.what, clean(there)))?,
            Err((wrong, hint)) => {
                out.line(&format!("missing  {:<12} {}", finding.what, clean(wrong)))?;
                if let Some(hint) = hint {
                    out.line(&format!("         {:<12} {}", "", clean(hint)))?;
                }
            }
        }
    }
    Ok(())
}

/// Tries agents out, and tells of each as soon as it is known.
fn try_out(named: &[String], json: bool, out: &mut Output) -> Result<Vec<Found>, Error> {
    let place = Workplace::find(Path::new("."))?;
    let probe = Probe::of(&place.repository)?;
    let mut all = Vec::new();
    for name in probe.agents(named)? {
        let found = probe.agent(&name, |what| {
            if !json {
                // For whoever waits; nobody is told that standard error cannot be written to.
                let _ = out.note(&format!("{}: {what} …", clean(&name)));
            }
        })?;
        if !json {
            tell(&found, out)?;
        }
        all.push(found);
    }
    Ok(all)
}

fn tell(found: &Found, out: &mut Output) -> Result<(), Error> {
    let version = found.version.as_deref().unwrap_or("of no version that it would tell");
    let name = clean(&found.agent);
    if let Some(missing) = &found.missing {
        return out.line(&format!("missing  {name:<12} {}", clean(missing)));
    }
    let state = if found.drifted.is_empty() { "ok" } else { "drifted" };
    out.line(&format!("{state:<8} {:<12} {}", name, clean(version)))?;
    for works in &found.works {
        out.line(&format!("         {:<12} {}", "", clean(works)))?;
    }
    for note in &found.notes {
        out.line(&format!("         {:<12} {}", "", clean(note)))?;
    }
    for drifted in &found.drifted {
        out.line(&format!("drifted  {name:<12} {}", clean(drifted)))?;
    }
    if !found.drifted.is_empty() {
        let next =
            "install a version that Windlass is tested with (docs/agents.md), or a newer Windlass";
        out.line(&format!("         {:<12} {next}", ""))?;
    }
    Ok(())
}

/// From what everything needs to what a run needs; what depends on something missing is not looked at.
fn look() -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = match Workplace::find_known(Path::new(".")) {
        Ok(place) => place,
        Err(error) => {
            findings.push(Finding::of("repository", Err(error)));
            return findings;
        }
    };
    findings.push(Finding::of("git", Ok(place.repository.version())));
    let usable = place.repository.usable().map_err(Error::from);
    let top = place.repository.top().display().to_string();
    let can_go_on = usable.is_ok();
    let top = if place.has_git { top } else { format!("none, in {top}") };
    findings.push(Finding::of("repository", usable.map(|()| top)));
    let identity = place.repository.identity().map_err(Error::from);
    findings.push(Finding::of("identity", identity.map(|person| person.to_string())));
    for remark in place.repository.remarks().unwrap_or_default() {
        findings.push(Finding::of("remark", Ok(remark.to_string())));
    }
    let dir = place.dir.display().to_string();
    if !can_go_on {
        return findings;
    }
    let held = match place.take("windlass doctor") {
        Ok(held) => held,
        Err(error) => {
            findings.push(Finding::of("state", Err(error)));
            return findings;
        }
    };
    findings.push(Finding::of("state", Ok(dir)));
    // Without git, what counts is what is there now.
    let looked_over = match held.take_stock() {
        Ok(said) => {
            findings.extend(said.into_iter().map(|said| Finding::of("remark", Ok(said))));
            held.looked_over(Onto::Here)
        }
        Err(error) => Err(error),
    };
    match looked_over {
        Ok(looked_over) => look_over(&held, &looked_over, &mut findings),
        Err(error) => findings.push(Finding::of("windlass.toml", Err(error))),
    }
    // Nobody is left to sweep up after us: what was started here is gone before we are, with its control group.
    held.spawner.shut_down();
    findings
}

/// What a run would be done with.
fn look_over(held: &Held, looked_over: &LookedOver, findings: &mut Vec<Finding>) {
    let LookedOver { prepared, missing } = looked_over;
    let agents: Vec<&str> = prepared.config.agents.keys().map(String::as_str).collect();
    findings.push(match missing {
        Some(missing) => Finding::wrong("agents", missing),
        None if agents.is_empty() => Finding::wrong("agents", &Error::no_player("default")),
        None => Finding::of("agents", Ok(agents.join(", "))),
    });
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    for (name, kind) in &prepared.config.agents {
        if let Some((what, next)) = kind.lacks(&is_set) {
            let error = Error::here(format!("the agent `{name}` {what}")).hint(next);
            findings.push(Finding::of("agents", Err(error)));
        }
        findings.extend(kind.advice().map(|it| Finding::of("costs", Ok(format!("{name} {it}")))));
    }
    let file = held.repository.top().join(config::FILE);
    if held.has_git
        && let Ok(text) = std::fs::read_to_string(file)
        && config::Config::parse(&text).ok().as_ref() != Some(&prepared.config)
    {
        let not_committed = Error::usage("windlass.toml is not what the branch's last commit has")
            .hint("commit it: only then does it count");
        findings.push(Finding::of("windlass.toml", Err(not_committed)));
    }
    match &prepared.isolation {
        Ok(isolation) => {
            let less = isolation.sandbox().not_here().iter();
            let less: String = less.map(|level| format!(" ({level})")).collect();
            findings.push(Finding::of("isolation", Ok(format!("{}{less}", isolation.in_words()))));
            findings.push(Finding::of("sandbox", lives(held, prepared, isolation)));
        }
        Err(error) => findings.push(Finding::wrong("sandbox", error)),
    }
    findings.push(Finding::of("checks", Ok(prepared.checks())));
    let absent = prepared.absent_skills();
    if !absent.is_empty() {
        let absent = format!("not here, and passed over: {}", absent.join(", "));
        findings.push(Finding::of("skills", Ok(absent)));
    }
    findings.extend(mission_steps(held, prepared));
    if held.has_git {
        findings.push(Finding::of("lands on", Ok(prepared.target.to_string())));
    }
}

/// What a mission would be asked for and could not do, as the project's file has it.
fn mission_steps<I>(held: &Held, prepared: &Prepared<I>) -> Vec<Finding> {
    match mission::settings(&Files::of(held.repository.top())) {
        Ok(harness) => {
            let steps = harness.steps.iter().copied().collect();
            let remarks = idle::remarks(prepared, &steps, &harness);
            remarks.into_iter().map(|said| Finding::of("mission", Ok(said))).collect()
        }
        Err(error) => vec![Finding::wrong("mission", &error)],
    }
}

/// Whether anybody can live in what an agent would be given, with the files and the limits that the person has named.
fn lives<I>(held: &Held, prepared: &Prepared<I>, isolation: &Isolation) -> Result<String, Error> {
    let openings = prepared.config.sandbox.openings();
    if let Some(path) = openings.absent().first() {
        let what = format!("`[sandbox]` opens {}, which is not there", path.display());
        return Err(Error::here(what).hint(
            "make it, or take it out of `read` or `write` in windlass.toml, and commit that",
        ));
    }
    let bounds = prepared.bounds(isolation.sandbox().level());
    let (dir, objects) = (held.dir.join("quarters/trial"), prepared.store.mirror_objects());
    trial::try_out(isolation, &bounds, &held.spawner, &dir, &objects)
        .map(|()| "a program starts there, within its limits".to_owned())
        .map_err(|why| {
            Error::here(format!("what an agent would be given, nothing starts in: {why}"))
                .hint("look at `[sandbox]` and `[limits]` in windlass.toml")
        })
}
