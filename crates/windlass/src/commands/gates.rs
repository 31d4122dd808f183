//! `windlass gates`: the questions that wait for an answer.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use windlass_core::run::{OpenGate, Phase};
use windlass_engine::gate::Reception;
use windlass_repo::Store;

use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::render::{Output, clean};
use crate::replay::told;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass gates
  windlass gates --json
  windlass answer 3 approve
")]
pub struct GatesArgs {
    /// Print JSON instead of text
    #[arg(long)]
    json: bool,
}

pub fn run(args: &GatesArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let mut gates: Vec<(String, OpenGate, String)> = Vec::new();
    if let Some(journal) = place.look()? {
        for known in known::all(&journal)?.readable {
            if known.run.phase() != Phase::Ended {
                let open = known.run.gates();
                if open.is_empty() {
                    continue;
                }
                let top = place.repository.top();
                let clerk = told(top, &place.dir, &journal, &known.id, &known.run, None)?;
                let store = Store::look(place.repository.clone(), &place.dir);
                let at = Reception { clerk: &*clerk, journal: &journal, store: store.as_ref() };
                for gate in open {
                    let more = at.shows(&gate, &known.run, &known.books);
                    gates.push((known.id.as_str().to_owned(), gate, more));
                }
            }
        }
    }
    if args.json {
        let gates: Vec<Value> =
            gates.iter().map(|(run, gate, more)| gate_json(run, gate, more)).collect();
        out.json(&json!({ "gates": gates }))?;
        return Ok(Exit::Done);
    }
    if gates.is_empty() {
        out.line("no question is open")?;
    }
    for (run, gate, more) in &gates {
        let unit = gate.unit.as_ref().map_or(String::new(), |unit| format!(" · {}", clean(unit)));
        out.line(&format!("{run}:{}{unit}", gate.id.0))?;
        for line in more.lines() {
            out.line(&format!("  | {}", clean(line)))?;
        }
        out.line(&format!("  {}", clean(&gate.question)))?;
        for (name, fired) in &gate.concerns {
            if *fired != Some(false) {
                out.line(&format!("  ! {}", clean(name)))?;
            }
        }
        for option in &gate.options {
            let about =
                option.about.as_deref().map_or(String::new(), |about| format!(" — {about}"));
            let more = if option.reason { " (needs --text with a reason)" } else { "" };
            let line = format!("    {:<12} {}{about}{more}", option.key, option.label);
            out.line(&clean(&line))?;
        }
        let id = gate.id.0;
        out.line(&format!(
            "  answer with: windlass answer {run}:{id} KEY, or --text 'your own words'"
        ))?;
    }
    Ok(Exit::Done)
}

fn gate_json(run: &str, gate: &OpenGate, more: &str) -> Value {
    let options: Vec<Value> = gate
        .options
        .iter()
        .map(|option| {
            json!({
                "key": option.key,
                "label": option.label,
                "about": option.about,
                "reason": option.reason,
                "default": option.default,
            })
        })
        .collect();
    let concerns =
        gate.concerns.iter().map(|(name, fired)| json!({ "name": name, "fired": fired }));
    json!({
        "run": run,
        "gate": gate.id.0,
        "id": format!("{run}:{}", gate.id.0),
        "unit": gate.unit,
        "question": gate.question,
        "shows": more,
        "concerns": concerns.collect::<Vec<_>>(),
        "options": options,
    })
}
