//! autopilot, seed 000: INIT → ASSESS → PLAN → APPROVE_PLAN → EXECUTE → VERIFY → REVIEW →
//! PHASE_COMPLETE → FINAL_REVIEW → DONE.

mod approval;
mod assess;
mod execute;
mod finish;
mod init;
mod mishaps;
mod phase;
mod rigor;

use std::sync::{Arc, LazyLock};

use windlass_core::{
    run::{Item, Wish},
    value::Value,
    workflow::{Errand, Kind, Stage, Workflow},
};
use windlass_sim::{Saying, Walk, item};

static FLOW: LazyLock<Arc<Workflow>> =
    LazyLock::new(|| crate::built_in(include_str!("../../../../workflows/autopilot.toml")));

/// What happens, in order: the stage or gate, and what it comes to.
type Steps = &'static [(&'static str, &'static str)];

/// A stage of the definition.
#[track_caller]
fn stage(name: &str) -> &'static Stage {
    let ix = FLOW.stage_named(name).unwrap_or_else(|| panic!("there is no stage {name}"));
    FLOW.stage(ix)
}

/// What a tell stage tells.
#[track_caller]
fn told(name: &str) -> &'static [String] {
    match &stage(name).kind {
        Kind::Errand(Errand::Tell { names }) => names,
        _ => panic!("{name} tells nothing"),
    }
}

/// A phase as the reader of a spec reports it.
fn phase(id: &str, complexity: &str) -> Item {
    adopted(id, &[("complexity", complexity)])
}

/// A phase of an earlier session, pending unless said otherwise.
fn adopted(id: &str, facts: &[(&str, &str)]) -> Item {
    let usual = [("override", "none"), ("recorded", "pending"), ("resume_at", "ASSESS")];
    let mut phase = item(id);
    for (name, word) in usual.iter().chain(facts) {
        phase.facts.insert((*name).to_owned(), (*word).into());
    }
    phase
}

/// A phase's plan as its reader reports it, with one plain task.
fn plan(tasks: i64, checkpoints: i64, concerns: i64) -> Saying {
    Saying::new("found")
        .fact("task_count", tasks)
        .fact("checkpoint_count", checkpoints)
        .fact("concern_count", concerns)
        .items("tasks", vec![task("t1", "none")])
}

/// A plan that no concern signal fires for.
fn small_plan() -> Saying {
    plan(8, 3, 0)
}

/// A task of a plan.
fn task(id: &str, checkpoint: &str) -> Item {
    let mut task = item(id);
    task.facts.insert("checkpoint".into(), checkpoint.into());
    task.facts.insert("complete".into(), false.into());
    task
}

/// A run whose first phase is at ASSESS.
#[track_caller]
fn begun(inputs: &[(&str, &str)], phases: Vec<Item>) -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, inputs);
    walk.on_to("find_plan", &[("spec_phases", Saying::new("found").items("phases", phases))]);
    walk
}

/// A run whose first phase has this plan and is at APPROVE_PLAN, or past it.
#[track_caller]
fn planned(inputs: &[(&str, &str)], complexity: &str, plan: Saying) -> Walk<'static> {
    let mut walk = begun(inputs, vec![phase("p1", complexity), phase("p2", "low")]);
    present(&mut walk, plan);
    walk
}

/// The phase under way turns out to have this plan.
#[track_caller]
fn present(walk: &mut Walk<'_>, plan: Saying) {
    walk.says("find_plan", "found").says("read_plan", plan);
    if walk.is_at("override_note") {
        walk.says("override_note", "told");
    }
}

/// A run that executes these tasks in its only phase.
#[track_caller]
fn executing(tasks: Vec<Item>) -> Walk<'static> {
    let mut walk = begun(&[], vec![phase("p1", "low")]);
    walk.says("find_plan", "found").says("read_plan", small_plan().items("tasks", tasks));
    walk
}

/// Lets everything go well until `stage`, in phases of these ids.
#[track_caller]
fn well_until(inputs: &[(&str, &str)], ids: &[&str], stage: &str) -> Walk<'static> {
    let mut walk = begun(inputs, ids.iter().map(|id| phase(id, "low")).collect());
    walk.on_to(stage, &usual());
    walk
}

/// What a phase's readers say when nothing is out of the ordinary.
fn usual() -> [(&'static str, Saying); 1] {
    [("read_plan", small_plan())]
}

#[track_caller]
fn with(walk: &Walk<'_>, stage: &str, name: &str) -> Option<String> {
    let (_, effect) = walk.find(stage).unwrap_or_else(|| panic!("{stage} is not under way"));
    effect.with.get(name).map(Value::to_string)
}

/// What people see as the state of what is under way or open.
fn shown(walk: &Walk<'_>) -> Vec<String> {
    walk.at().iter().filter_map(|name| stage(name).shown_as.clone()).collect()
}

/// Stop and resume: exit code 5 between, and the same question again.
#[track_caller]
fn stops_at(walk: &mut Walk<'_>, gate: &str) {
    walk.answers(gate, "stop");
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(5)), "{gate}: save state and exit");
    assert_eq!(walk.records().last().map(String::as_str), Some("stopped"), "{gate}");
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), [gate], "{gate}: resumes where it was");
}
