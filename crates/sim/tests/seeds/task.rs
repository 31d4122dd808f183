//! task, seed 001: plan → gate → generate → verify → evaluate → verdict → commit.

mod autofix;
mod evaluate;
mod finish;
mod generate;
mod mishaps;
mod plan;
mod recovery;
mod session;
mod steps;
mod verify;

use std::sync::{Arc, LazyLock};

use windlass_core::{
    run::{EffectKind, Item, Start, Wish},
    value::Value,
    workflow::{Stage, Workflow},
};
use windlass_sim::{Saying, Walk, item, typed};

static FLOW: LazyLock<Arc<Workflow>> =
    LazyLock::new(|| crate::built_in(include_str!("../../../../workflows/task.toml")));

/// What the evaluator is told of layer 1, in the seed's words.
pub const LAYER1_PASSED: &str =
    "Layer 1 PASSED — build/test/lint/type-check verified. See verify_report.md";
pub const LAYER1_FAILED: &str = "Layer 1 FAILED (user proceeded despite failures) — see verify_report.md. Pay extra attention to \
                             build/test correctness.";

const MODES: [&str; 3] = ["single", "standard", "multi"];

/// What happens, in order: the stage or gate, and what it comes to.
type Steps = &'static [(&'static str, &'static str)];

/// A stage of the definition.
#[track_caller]
fn stage(name: &str) -> &'static Stage {
    let ix = FLOW.stage_named(name).unwrap_or_else(|| panic!("there is no stage {name}"));
    FLOW.stage(ix)
}

/// A task as its reader reports it.
fn unit(phase: &str, autofix: &str, has_spec: bool) -> Item {
    let mut unit = item("the-task");
    unit.facts.insert("phase".into(), phase.into());
    unit.facts.insert("autofix".into(), autofix.into());
    unit.facts.insert("has_spec".into(), has_spec.into());
    unit
}

/// The task that was typed.
fn given() -> (&'static str, Saying) {
    let tasks = vec![unit("plan_ready", "none", false)];
    ("argument", Saying::new("given").items("tasks", tasks))
}

/// A run in a git repository, without an earlier session, whose task starts where it starts.
#[track_caller]
fn begin(inputs: &[(&str, &str)], entry: Option<&str>, have: &[&str]) -> Walk<'static> {
    let begin = Start {
        inputs: typed(&FLOW, inputs),
        entry: entry.map(str::to_owned),
        have: have.iter().map(|file| (*file).to_owned()).collect(),
        ..Start::default()
    };
    let mut walk = Walk::begin(&FLOW, begin).unwrap_or_else(|refused| panic!("{refused}"));
    walk.on_to("conventions", &[given()]).says("conventions", "rich");
    walk
}

/// A fresh task at this stage, everything before having gone well.
#[track_caller]
fn fresh(inputs: &[(&str, &str)], stage: &str) -> Walk<'static> {
    let mut walk = begin(inputs, None, &[]);
    walk.on_to(stage, &[]);
    assert!(walk.is_at(stage), "{stage} was not reached; we are at {:?}", walk.at());
    walk
}

fn fails() -> [(&'static str, Saying); 1] {
    [("verifying", Saying::new("fail"))]
}

/// Layer 1 has failed until a person had to be asked: the first hard gate.
#[track_caller]
fn first_gate(inputs: &[(&str, &str)]) -> Walk<'static> {
    let mut walk = begin(inputs, None, &[]);
    walk.on_to("verify_gate", &fails());
    walk
}

/// The role that a stage invokes.
fn role(kind: &EffectKind) -> Option<&str> {
    match kind {
        EffectKind::Invoke { role, .. } => Some(role),
        _ => None,
    }
}

/// Lets everything go well until `stage`, and says which roles were invoked, in order.
#[track_caller]
fn roles_until(walk: &mut Walk<'_>, stage: &str) -> Vec<String> {
    let mut roles = Vec::new();
    while !walk.is_at(stage) {
        let Some(effect) = walk.run().wants().into_values().next() else {
            panic!("{stage} was not reached; we are at {:?}", walk.at())
        };
        let role = role(&effect.kind);
        roles.extend(role.map(str::to_owned));
        let own = role.and_then(|role| FLOW.roles.get(role)?.first());
        let first = own.unwrap_or(&FLOW.stage(effect.stage).verdicts[0].name);
        walk.says(&effect.name, first.as_str());
    }
    roles
}

#[track_caller]
fn with(walk: &Walk<'_>, stage: &str, name: &str) -> Option<String> {
    let (_, effect) = walk.find(stage).unwrap_or_else(|| panic!("{stage} is not under way"));
    effect.with.get(name).map(Value::to_string)
}

fn counter(walk: &Walk<'_>, name: &str) -> Option<u32> {
    let counters = walk.run().counters();
    counters.into_iter().find(|(counter, ..)| counter == name).map(|(_, value, _)| value)
}

fn last_record(walk: &Walk<'_>) -> String {
    walk.records().pop().unwrap_or_default()
}

/// The state that people see a stage as.
#[track_caller]
fn shown_as(name: &str) -> String {
    stage(name).shown_as.clone().unwrap_or_else(|| name.to_owned())
}

/// "Stop … halt": exit code 5, and the same question when it goes on.
#[track_caller]
fn stops_at(walk: &mut Walk<'_>, gate: &str) {
    walk.answers(gate, "stop");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(5)), "{gate}: halt");
    assert_eq!(last_record(walk), "halted", "{gate}");
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), [gate], "{gate}: asks again");
}

/// The labels and descriptions of an open gate's options, without the free text.
fn choices(walk: &Walk<'_>, gate: &str) -> Vec<(String, String)> {
    let gates = walk.run().gates();
    let open = gates.into_iter().find(|open| FLOW.stage(open.stage).name == gate);
    let options = open.map(|open| open.options).unwrap_or_default();
    let own = options.into_iter().filter(|option| option.key != "other");
    own.map(|option| (option.label, option.about.unwrap_or_default())).collect()
}

fn labels(walk: &Walk<'_>, gate: &str) -> Vec<String> {
    choices(walk, gate).into_iter().map(|(label, _)| label).collect()
}
