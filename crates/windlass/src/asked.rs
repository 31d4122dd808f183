//! Questions in the words of whoever is asked.
//!
//! A workflow's definition has its questions in English. In another language they come from `messages/`, from the message
//! `gate-WORKFLOW-STAGE`: its value is the question, its attributes `.OPTION` and `.OPTION-about` what an option is called
//! and means, and what the definition has in braces (`{session.skill}`) is a variable (`$session_skill`). Keys of options
//! stay as they are, since they are typed.
//!
//! A text counts as translated only while it is the built-in one: whoever has edited a copy of a workflow is asked what
//! they wrote.

use windlass_core::lang::{self, Catalogue};
use windlass_core::run::{OpenGate, OptionView, Run};
use windlass_core::workflow::{Kind, Stage, Workflow};
use windlass_words::{Lang, Words};

use crate::builtin;

/// A question as a person reads it.
pub fn asked(gate: OpenGate, run: &Run, words: Words) -> OpenGate {
    if words.lang() == Lang::ENGLISH {
        return gate;
    }
    let flow = run.workflow();
    let id = message(&flow.name, &flow.stage(gate.stage).name);
    let built_in = built_in(&flow.name);
    let texts = built_in.as_ref().and_then(|own| texts(own, &flow.stage(gate.stage).name));
    let filled = |text: &str| run.filled_in(gate.id, text).unwrap_or_default();
    let translated = |id: &str, built_in: Option<&str>, shown: &str| {
        let built_in = built_in.filter(|text| filled(text) == shown)?;
        let values: Vec<_> =
            braced(built_in).map(|name| (variable(name), filled(&format!("{{{name}}}")))).collect();
        let values: Vec<_> =
            values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        words.find_own(id, &values)
    };
    let option = |option: OptionView| {
        let own =
            texts.as_ref().and_then(|texts| texts.options.iter().find(|own| own.key == option.key));
        let name = attribute(&id, &option.key);
        let label = translated(&name, own.and_then(|own| own.label), &option.label);
        let about = option.about.as_deref().and_then(|about| {
            translated(&format!("{name}-about"), own.and_then(|own| own.about), about)
        });
        OptionView {
            label: label.unwrap_or_else(|| plainly(&option.label, words)),
            about: about.or(option.about.as_deref().map(|about| plainly(about, words))),
            ..option
        }
    };
    let question = translated(&id, texts.as_ref().map(|texts| texts.question), &gate.question);
    OpenGate {
        options: gate.options.iter().cloned().map(option).collect(),
        question: question.unwrap_or_else(|| gate.question.clone()),
        ..gate
    }
}

/// What every question has, if no definition says otherwise.
fn plainly(text: &str, words: Words) -> String {
    let english = Words::default();
    if text == english.say("asked-in-own-words", &[]) {
        words.say("asked-in-own-words", &[])
    } else if text == english.say("asked-noted", &[]) {
        words.say("asked-noted", &[])
    } else {
        text.to_owned()
    }
}

fn message(workflow: &str, stage: &str) -> String {
    format!("gate-{workflow}-{stage}").replace('_', "-")
}

fn attribute(message: &str, option: &str) -> String {
    format!("{message}.{}", option.replace('_', "-"))
}

fn variable(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// What stands between braces.
fn braced(text: &str) -> impl Iterator<Item = &str> {
    text.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0))
}

/// The texts of a gate, as its definition has them.
struct Texts<'a> {
    question: &'a str,
    options: Vec<Texted<'a>>,
}

/// The texts of an option.
struct Texted<'a> {
    key: &'a str,
    label: Option<&'a str>,
    about: Option<&'a str>,
}

fn texts<'a>(flow: &'a Workflow, stage: &str) -> Option<Texts<'a>> {
    let stage = flow.stages.iter().find(|own| own.name == stage)?;
    let Kind::Gate(gate) = &stage.kind else { return None };
    Some(Texts { question: &gate.question, options: options(stage) })
}

fn options(stage: &Stage) -> Vec<Texted<'_>> {
    let of = stage.verdicts.iter().filter_map(|verdict| {
        let take = &verdict.cases.first()?.take;
        let (label, about) = (take.label.as_deref(), take.about.as_deref());
        Some(Texted { key: &verdict.name, label, about })
    });
    of.collect()
}

/// The workflow of this name that comes with the program.
fn built_in(name: &str) -> Option<Workflow> {
    let catalogue = Catalogue::parse(builtin::CATALOGUE.text).ok()?;
    lang::load(builtin::find(name)?.text, &catalogue).ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use windlass_words::SHIPPED;

    use super::*;

    /// The built-in workflows whose every question is there in every language.
    const COMPLETE: &[&str] = &["autopilot", "mission", "task", "task-v1"];

    /// The ids of a gate's messages, each with the English that it stands for.
    fn ids(flow: &Workflow) -> Vec<(String, String)> {
        let mut ids = Vec::new();
        for stage in &flow.stages {
            let Some(texts) = texts(flow, &stage.name) else { continue };
            let id = message(&flow.name, &stage.name);
            for Texted { key, label, about } in texts.options {
                let name = attribute(&id, key);
                ids.extend(label.map(|text| (name.clone(), text.to_owned())));
                ids.extend(about.map(|text| (format!("{name}-about"), text.to_owned())));
            }
            ids.push((id, texts.question.to_owned()));
        }
        ids
    }

    /// The ids of the gates' messages in a file.
    fn shipped(text: &str) -> BTreeSet<String> {
        let mut message = "";
        let mut ids = BTreeSet::new();
        for line in text.lines() {
            let name = line.split(" =").next().unwrap_or_default();
            if let Some(attribute) = name.strip_prefix("    .") {
                ids.insert(format!("{message}.{attribute}"));
            } else if line.contains(" =") && !line.starts_with([' ', '#']) {
                message = name;
                ids.insert(name.to_owned());
            }
        }
        ids.retain(|id| id.starts_with("gate-"));
        ids
    }

    #[test]
    fn no_language_misses_a_question_or_has_one_that_nobody_asks() {
        let flows = builtin::WORKFLOWS.iter().chain(builtin::EARLIER);
        let flows: Vec<_> = flows.map(|own| built_in(own.name).unwrap()).collect();
        let all: BTreeSet<String> = flows.iter().flat_map(ids).map(|(id, _)| id).collect();
        for (code, text) in SHIPPED.iter().filter(|(code, _)| *code != "en") {
            let words = Words::in_lang(code.parse().unwrap());
            let shipped = shipped(text);
            let stale: Vec<_> = shipped.difference(&all).collect();
            assert!(stale.is_empty(), "{code}: nobody asks {stale:?}");
            for flow in flows.iter().filter(|flow| COMPLETE.contains(&flow.name.as_str())) {
                for (id, english) in ids(flow) {
                    assert!(shipped.contains(&id), "{code}: there is no {id} for: {english}");
                    // With the variables that the definition has, and no others.
                    let names: Vec<_> = braced(&english).map(variable).collect();
                    let values: Vec<_> = names.iter().map(|name| (name.as_str(), "*")).collect();
                    let said = words.find_own(&id, &values);
                    let said = said.unwrap_or_else(|| panic!("{code}: {id} has other variables"));
                    assert_eq!(said.matches('*').count(), names.len(), "{code}: {said}");
                }
            }
        }
    }

    #[test]
    fn an_option_has_one_name_whatever_it_leads_to() {
        for flow in builtin::WORKFLOWS.iter().map(|own| built_in(own.name).unwrap()) {
            for stage in flow.stages.iter().filter(|stage| matches!(stage.kind, Kind::Gate(_))) {
                for verdict in &stage.verdicts {
                    let named = |at: usize| {
                        let take = &verdict.cases[at].take;
                        (&take.label, &take.about)
                    };
                    let same = (1..verdict.cases.len()).all(|at| named(at) == named(0));
                    assert!(same, "{}: {} of {}", flow.name, verdict.name, stage.name);
                }
            }
        }
    }

    #[test]
    fn what_stands_in_braces_is_a_variable() {
        let text = "A /{session.skill} session, {unit.id}.";
        assert_eq!(braced(text).collect::<Vec<_>>(), ["session.skill", "unit.id"]);
        assert_eq!(variable("session.skill"), "session_skill");
        assert_eq!(
            attribute(&message("task", "take_its_word"), "again_please"),
            "gate-task-take-its-word.again-please"
        );
    }
}
