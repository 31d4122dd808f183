//! `windlass doctor`: what is missing here, and how to get it.

use std::path::Path;

use clap::Args;
use serde_json::json;

use crate::config;
use crate::error::Error;
use crate::exit::Exit;
use crate::render::{Output, clean};
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass doctor
  windlass doctor --json
")]
pub struct DoctorArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

/// One thing that was looked at.
struct Finding {
    what: &'static str,
    /// What is there, or what is wrong and what to do.
    state: Result<String, (String, Option<String>)>,
}

impl Finding {
    fn of(what: &'static str, state: Result<String, Error>) -> Self {
        Finding {
            what,
            state: state.map_err(|error| {
                let next = error.next_step().map(str::to_owned);
                (error.to_string(), next)
            }),
        }
    }
}

pub fn run(args: &DoctorArgs, out: &mut Output) -> Result<Exit, Error> {
    let findings = look();
    let well = findings.iter().all(|finding| finding.state.is_ok());
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
        out.json(&json!({ "ok": well, "findings": findings }))?;
    } else {
        for finding in &findings {
            match &finding.state {
                Ok(there) => {
                    out.line(&format!("ok       {:<12} {}", finding.what, clean(there)))?
                }
                Err((wrong, hint)) => {
                    out.line(&format!("missing  {:<12} {}", finding.what, clean(wrong)))?;
                    if let Some(hint) = hint {
                        out.line(&format!("         {:<12} {}", "", clean(hint)))?;
                    }
                }
            }
        }
    }
    Ok(if well { Exit::Done } else { Exit::Error })
}

/// From what everything needs to what a run needs; what depends on something missing is not looked at.
fn look() -> Vec<Finding> {
    let mut findings = Vec::new();
    let place = match Workplace::find(Path::new(".")) {
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
    match held.looked_over(None) {
        Ok((prepared, missing)) => {
            let agents: Vec<&str> = prepared.config.agents.keys().map(String::as_str).collect();
            let found = match missing {
                Some(missing) => Err(missing),
                None if agents.is_empty() => Err(Error::no_player("default")),
                None => Ok(agents.join(", ")),
            };
            findings.push(Finding::of("agents", found));
            let not_committed =
                Error::usage("windlass.toml is not what the branch's last commit has")
                    .hint("commit it: only then does it count");
            let file = held.repository.top().join(config::FILE);
            if let Ok(text) = std::fs::read_to_string(file)
                && config::Config::parse(&text).ok().as_ref() != Some(&prepared.config)
            {
                findings.push(Finding::of("windlass.toml", Err(not_committed)));
            }
            let less = prepared.isolation.sandbox().not_here().iter();
            let less: String = less.map(|level| format!(" ({level})")).collect();
            let reached = format!("{}{less}", prepared.isolation.in_words());
            findings.push(Finding::of("isolation", Ok(reached)));
            findings.push(Finding::of("checks", Ok(prepared.checks())));
            let absent = prepared.absent_skills();
            if !absent.is_empty() {
                let absent = format!("not here, and passed over: {}", absent.join(", "));
                findings.push(Finding::of("skills", Ok(absent)));
            }
            findings.push(Finding::of("lands on", Ok(prepared.target.to_string())));
        }
        Err(error) => findings.push(Finding::of("windlass.toml", Err(error))),
    }
    findings
}
