//! `windlass gates`: the questions that wait for an answer.

use std::path::Path;

use clap::Args;
use serde_json::{Value, json};
use windlass_core::run::{OpenGate, Phase};
use windlass_engine::gate::Reception;
use windlass_repo::Store;
use windlass_words::Words;

use crate::asked::asked;
use crate::error::Error;
use crate::exit::Exit;
use crate::known;
use crate::meta::Meta;
use crate::render::{Output, clean};
use crate::replay::told;
use crate::spoken::{spoken, words_about};
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

/// A question that waits, with what it shows besides itself.
struct Waiting {
    run: String,
    stage: String,
    gate: OpenGate,
    more: String,
    words: Words,
}

pub fn run(args: &GatesArgs, out: &mut Output) -> Result<Exit, Error> {
    let place = Workplace::find_known(Path::new("."))?;
    let mut gates: Vec<Waiting> = Vec::new();
    let mut words = words_about(None, None)?;
    if let Some(journal) = place.look()? {
        let known = known::all(&journal)?.readable;
        words = words_about(Some(&journal), known.last())?;
        for known in known {
            if known.run.phase() != Phase::Ended {
                let open = known.run.gates();
                if open.is_empty() {
                    continue;
                }
                let top = Meta::of(&journal, &known.id)?.home(&place.repository);
                let clerk = told(&top, &place.dir, &journal, &known.id, &known.run, (None, None))?;
                let store = Store::look(place.repository.clone(), &place.dir);
                let at = Reception { clerk: &*clerk, journal: &journal, store: store.as_ref() };
                let words = spoken(&journal, &known.id, &known.run)?.words();
                for gate in open {
                    let more = at.shows(&gate, &known.run, &known.books);
                    let gate = if args.json { gate } else { asked(gate, &known.run, words) };
                    let run = known.id.as_str().to_owned();
                    let stage = known.run.workflow().stage(gate.stage).name.clone();
                    gates.push(Waiting { run, stage, gate, more, words });
                }
            }
        }
    }
    if args.json {
        let gates: Vec<Value> = gates.iter().map(gate_json).collect();
        out.json(&json!({ "gates": gates }))?;
        return Ok(Exit::Done);
    }
    if gates.is_empty() {
        out.line(&words.say("gates-none", &[]))?;
    }
    for waiting in &gates {
        show(waiting, out)?;
    }
    Ok(Exit::Done)
}

fn show(Waiting { run, gate, more, words, .. }: &Waiting, out: &mut Output) -> Result<(), Error> {
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
        let about = option.about.as_deref().map_or(String::new(), |about| format!(" — {about}"));
        let needs = || format!(" {}", words.say("gates-needs-reason", &[]));
        let more = if option.reason { needs() } else { String::new() };
        let line = format!("    {:<12} {}{about}{more}", option.key, option.label);
        out.line(&clean(&line))?;
    }
    let id = format!("{run}:{}", gate.id.0);
    out.line(&format!("  {}", words.say("gates-answer-with", &[("gate", &id)])))
}

fn gate_json(Waiting { run, stage, gate, more, .. }: &Waiting) -> Value {
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
        "stage": stage,
        "question": gate.question,
        "shows": more,
        "concerns": concerns.collect::<Vec<_>>(),
        "options": options,
    })
}
