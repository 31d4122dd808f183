//! task-v1, seed 001: "v1 Logic Summary (for sessions without version field)", sentence by sentence.

use crate::task::{LAYER1_FAILED, LAYER1_PASSED};
use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use windlass_core::{
    run::{EffectKind, Item, Wish},
    value::Value,
    workflow::{Errand, Kind, Save, Stage, Workflow},
};
use windlass_sim::{Saying, Walk, item};

static FLOW: LazyLock<Arc<Workflow>> =
    LazyLock::new(|| crate::built_in(include_str!("../../../../workflows/task-v1.toml")));

static TASK: LazyLock<Arc<Workflow>> =
    LazyLock::new(|| crate::built_in(include_str!("../../../../workflows/task.toml")));

/// The phases in which a session may be found, in order; `completed` is no session.
const PHASES: [&str; 6] =
    ["plan_ready", "gen_ready", "verify_ready", "verifying", "verify_done", "eval_ready"];

/// Whether a session has a `verify` field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verify {
    There,
    Absent,
}
use Verify::{Absent, There};

fn task(phase: &str) -> Item {
    let mut task = item("the-task");
    task.facts.insert("phase".into(), phase.into());
    task
}

fn session(phase: &str, verify: Verify, round: i64) -> Saying {
    Saying::new("found")
        .fact("phase", phase)
        .fact("round", round)
        .fact("has_verify", verify == There)
        .items("tasks", vec![task(phase)])
}

/// A run that has found this session and told its status.
#[track_caller]
fn found(session: Saying) -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("surroundings", "git").says("session", session).says("status", "told");
    walk
}

#[track_caller]
fn resumed_in(phase: &str, verify: Verify, round: i64) -> Walk<'static> {
    let mut walk = found(session(phase, verify, round));
    walk.answers("session_gate", "resume").says("recovered_paths", "valid");
    walk
}

/// A session that was found in this phase and goes on.
#[track_caller]
fn resumed(phase: &str, verify: Verify) -> Walk<'static> {
    resumed_in(phase, verify, 1)
}

/// A session that has got to this stage, everything before having gone well.
#[track_caller]
fn at(stage: &str, verify: Verify, except: &[(&str, Saying)]) -> Walk<'static> {
    let mut walk = resumed("gen_ready", verify);
    walk.on_to(stage, except);
    assert!(walk.is_at(stage), "{stage} was not reached; we are at {:?}", walk.at());
    walk
}

fn failing(stage: &'static str) -> [(&'static str, Saying); 1] {
    [(stage, Saying::new("fail"))]
}

/// The evaluator finds fault.
fn faulty() -> [(&'static str, Saying); 1] {
    [("evaluating", Saying::new("fail_l3"))]
}

fn stage(flow: &'static Workflow, name: &str) -> &'static Stage {
    flow.stage(flow.stage_named(name).unwrap_or_else(|| panic!("there is no stage {name}")))
}

fn shown_as(stage: &Stage) -> &str {
    stage.shown_as.as_deref().unwrap_or(&stage.name)
}

/// What the options of an open gate are called and mean, without the free text.
fn asked(walk: &Walk<'_>, gate: &str) -> Vec<(String, String)> {
    let open = walk.run().gates().into_iter().find(|open| FLOW.stage(open.stage).name == gate);
    let options = open.map(|open| open.options).unwrap_or_default();
    let own = options.into_iter().filter(|option| option.key != "other");
    own.map(|option| (option.label, option.about.unwrap_or_default())).collect()
}

fn counter(walk: &Walk<'_>, name: &str) -> Option<u32> {
    let counters = walk.run().counters();
    counters.into_iter().find(|(counter, ..)| counter == name).map(|(_, value, _)| value)
}

fn last_record(walk: &Walk<'_>) -> String {
    walk.records().pop().unwrap_or_default()
}

#[track_caller]
fn with(walk: &Walk<'_>, stage: &str, name: &str) -> Option<String> {
    let (_, effect) = walk.find(stage).unwrap_or_else(|| panic!("{stage} is not under way"));
    effect.with.get(name).map(Value::to_string)
}

/// "Phases: plan_ready → gen_ready → verify_ready → verifying → verify_done → eval_ready → completed"
#[test]
fn the_phases_of_v1_and_no_others() {
    let mut walk = resumed("plan_ready", There);
    walk.on_to("report", &[]);
    let units = FLOW.scopes.iter().find(|scope| scope.name == "unit").unwrap();
    let of_units: BTreeSet<&str> =
        units.stages.iter().map(|ix| FLOW.stage(*ix).name.as_str()).collect();
    let mut passed: Vec<&str> = Vec::new();
    let entered = walk.entered();
    let shown = entered.iter().filter(|name| of_units.contains(**name) && **name != "recovered");
    for phase in shown.map(|name| shown_as(stage(&FLOW, name))) {
        if passed.last() != Some(&phase) {
            passed.push(phase);
        }
    }
    let all: Vec<&str> = PHASES.into_iter().chain(["completed"]).collect();
    assert_eq!(passed, all);
    let others = units.stages.iter().map(|ix| shown_as(FLOW.stage(*ix)));
    let others: Vec<&str> = others.filter(|shown| !all.contains(shown)).collect();
    assert_eq!(others, ["recovered"], "a decision, which nobody sees");
}

/// "Resume v1 session by jumping to the v1 phase's corresponding step in the original flow"
#[test]
fn each_phase_goes_on_at_its_step() {
    let rows = [
        ("plan_ready", There, "planning"),
        ("gen_ready", There, "generating"),
        ("verify_ready", There, "verify_ready"),
        ("verifying", There, "verify_ready"),
        ("verify_done", There, "verify_ready"),
        ("eval_ready", There, "verify_ready"), // proved first: its word is not evidence
        ("plan_ready", Absent, "planning"),
        ("gen_ready", Absent, "generating"),
        ("eval_ready", Absent, "proving"),
        ("verify_done", Absent, "proving"), // cannot be, and skips nothing
    ];
    for (phase, verify, stage) in rows {
        assert_eq!(resumed(phase, verify).at(), [stage], "{phase}, verify {verify:?}");
    }
}

/// "Print status with `[harness] Previous session detected (v1).`, then run v1 recovery logic"
#[test]
fn the_status_is_printed_and_then_the_question() {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("surroundings", "git").says("session", session("gen_ready", There, 1));
    let kind = walk.find("status").map(|(_, effect)| effect.kind);
    let Some(EffectKind::Errand(Errand::Tell { names })) = kind else { panic!("{kind:?}") };
    assert_eq!(names, ["v1-session"]);
    walk.says("status", "told");
    assert_eq!(walk.at(), ["session_gate"]);
    let Kind::Gate(gate) = &stage(&FLOW, "session_gate").kind else { panic!("no gate") };
    let question = "[harness] Previous session detected (v1). Resume, restart, or stop?";
    assert_eq!(gate.question, question);
    let offered = [
        ("Resume", "Continue from gen_ready"),
        ("Restart", "Delete .harness/ and start fresh"),
        ("Stop", "Delete .harness/ and halt"),
    ];
    let asked = asked(&walk, "session_gate");
    assert_eq!(asked, offered.map(|(label, about)| (label.into(), about.into())));
}

/// "Restart: Delete .harness/ and proceed to Step 1" (a session of 2.0, so another run); "Stop: Delete .harness/ and
/// halt"; "If validation fails: … treat as Restart".
#[test]
fn restart_and_stop_leave_nothing_under_way() {
    for (answer, record, at) in
        [("restart", "restarted", "restart"), ("stop", "stopped", "session_stop")]
    {
        let mut walk = found(session("eval_ready", There, 2));
        walk.answers("session_gate", answer);
        assert_eq!((walk.at(), last_record(&walk)), (vec![at.into()], record.into()));
        walk.to_the_end(&[]);
        assert_eq!((walk.exit_code(), walk.run().tally().total), (Some(5), 0), "{answer}");
    }
    let mut walk = found(session("eval_ready", There, 1));
    walk.answers("session_gate", "resume").says("recovered_paths", "refused");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["restart".into()], "docs_path_refused".into())
    );
    walk.to_the_end(&[]);
    assert_eq!((walk.exit_code(), walk.run().tally().total), (Some(5), 0));
    let kind = &stage(&FLOW, "restart").kind;
    let Kind::Errand(Errand::Tell { names }) = kind else { panic!("{kind:?}") };
    assert_eq!(names, &["clear-session", "start-task"]);
}

/// "completed" is no active session, and neither is one with a version.
#[test]
fn without_a_v1_session_there_is_nothing_to_do() {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("surroundings", "git").says("session", "none").to_the_end(&[]);
    assert_eq!((walk.records(), walk.exit_code()), (vec!["no_v1_session".into()], Some(5)));
}

/// "Do NOT migrate v1 sessions to v2": nothing of v2's own is even there.
#[test]
fn nothing_of_v2_is_there() {
    let younger = ["conventions", "scan", "discovery", "propose", "patch_gate", "lead_plan"];
    for name in younger {
        assert!(TASK.stage_named(name).is_some(), "{name} is v2's");
        assert!(FLOW.stage_named(name).is_none(), "{name}");
    }
    let counted = |flow: &Workflow, name: &str| flow.counters.iter().any(|one| one.name == name);
    for name in ["autofix", "layer2", "scans"] {
        assert!(counted(&TASK, name) && !counted(&FLOW, name), "{name}");
    }
    let roles: Vec<&str> = FLOW.roles.keys().map(String::as_str).collect();
    let own =
        ["conflict-resolver", "evaluator", "generator-single", "planner-single", "spec-editor"];
    assert_eq!(roles, own);
}

/// "No run_style — always auto mode": no style to choose, and nothing halts on a way where all goes well.
#[test]
fn it_is_always_auto() {
    for name in ["style", "mode"] {
        assert!(TASK.input_named(name).is_some() && FLOW.input_named(name).is_none(), "{name}");
    }
    for verify in [There, Absent] {
        let mut walk = resumed("gen_ready", verify);
        let mut asked = Vec::new();
        while let Some(now) = walk.at().first().cloned() {
            asked.extend((!walk.options(&now).is_empty()).then(|| now.clone()));
            let first = stage(&FLOW, &now).verdicts[0].name.clone();
            if walk.options(&now).is_empty() {
                walk.says(&now, first.as_str());
            } else {
                walk.answers(&now, &first);
            }
        }
        assert_eq!((asked, walk.exit_code()), (vec!["commit_gate".to_owned()], Some(0)));
    }
}

/// "The orchestrator directly accumulates sub-agent results": who mends is told all that was said. The evaluator is not.
#[test]
fn what_was_said_is_handed_on_but_not_to_the_evaluator() {
    let all = &stage(&FLOW, "generating").sees;
    for name in ["spec.md", "output", "qa_report.md", "verify_report.md"] {
        assert!(all.contains(&name.to_owned()), "{name} in {all:?}");
    }
    let of_task = &stage(&TASK, "evaluating").sees;
    assert_eq!(&stage(&FLOW, "evaluating").sees, of_task, "\"Evaluator must be isolated\"");
}

/// "No Layer 2 structural verification — Evaluator runs Layer 3 only"
#[test]
fn the_evaluator_runs_layer_3_only() {
    let walk = at("evaluating", There, &[]);
    assert_eq!(with(&walk, "evaluating", "layers").as_deref(), Some("Layer 3 only"));
    for verdict in ["fail_l2", "fail_l3"] {
        let mut walk = at("evaluating", There, &[]);
        walk.says("evaluating", verdict);
        assert_eq!(walk.at(), ["qa_gate"], "{verdict}: no retry of its own, a person is asked");
    }
    let mut walk = at("evaluating", There, &[]);
    for _ in 0..3 {
        walk.says("evaluating", "unknown");
    }
    assert_eq!(walk.at(), ["qa_gate"], "no readable verdict is no pass");
}

/// "Verify step may be absent (pre-v7.1 sessions without verify field → skip verify entirely)"
#[test]
fn a_session_without_verify_has_no_such_phase() {
    let mut walk = resumed("plan_ready", Absent);
    walk.on_to("evaluating", &[]);
    let context = with(&walk, "evaluating", "verify_context");
    assert_eq!(context.as_deref(), Some("Layer 1 was not executed for this session."));
    walk.to_the_end(&[]);
    for name in ["verify_ready", "verifying", "verify_gate", "verify_done"] {
        assert_eq!(walk.runs(name), 0, "{name}");
    }
    assert_eq!((walk.exit_code(), walk.run().tally().done), (Some(0), 1));
}

/// … but a missing field does not talk our own checks away: what fails them lands by a person's word alone.
#[test]
fn a_session_without_verify_is_proved_all_the_same() {
    let mut walk = at("unproved", Absent, &failing("proving"));
    assert_eq!(walk.runs("generating"), 1, "no retries: there is no verify step");
    walk.answers("unproved", "continue").on_to("land_code", &[]);
    assert!(walk.is_at("land_code") && walk.records().contains(&"continued_unproved".into()));
    let mut walk = at("unproved", Absent, &failing("proving"));
    assert_eq!(walk.answers("unproved", "manual").at(), ["proving"]);
    let mut walk = at("unproved", Absent, &failing("proving"));
    stops_at(&mut walk, "unproved");
}

/// What an earlier program verified or evaluated is verified and evaluated here before anything lands.
#[test]
fn an_earlier_programs_word_is_not_evidence() {
    for (verify, checks) in [(There, "verifying"), (Absent, "proving")] {
        for phase in PHASES {
            let mut walk = resumed(phase, verify);
            walk.on_to("land_code", &[]);
            assert!(walk.is_at("land_code"), "{phase}, verify {verify:?}");
            assert_eq!((walk.runs(checks), walk.runs("evaluating")), (1, 1), "{phase}");
        }
    }
}

/// "verify_done(FAIL) + retries<3 → generating"; then "Continue to Evaluator" / "Stop", and no auto-fix.
#[test]
fn three_retries_and_then_the_hard_gate() {
    let walk = at("verify_gate", There, &failing("verifying"));
    assert_eq!((walk.runs("generating"), counter(&walk, "layer1")), (4, Some(3)));
    let labels: Vec<String> =
        asked(&walk, "verify_gate").into_iter().map(|(label, _)| label).collect();
    assert_eq!(labels, ["Continue to Evaluator", "Fix manually and continue", "Stop"]);

    let mut walk = at("verify_gate", There, &failing("verifying"));
    walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
    let context = with(&walk, "evaluating", "verify_context");
    assert_eq!(context.as_deref(), Some(LAYER1_FAILED));
    let mut walk = at("verify_gate", There, &failing("verifying"));
    walk.answers("verify_gate", "manual");
    assert_eq!((walk.at(), counter(&walk, "layer1")), (vec!["verify_ready".into()], None));
    let mut walk = at("verify_gate", There, &failing("verifying"));
    stops_at(&mut walk, "verify_gate");
    let walk = at("evaluating", There, &[]);
    assert_eq!(with(&walk, "evaluating", "verify_context").as_deref(), Some(LAYER1_PASSED));
}

/// "Confirmation gates are non-negotiable. No implicit approval."
#[test]
fn only_proceed_advances() {
    for gate in ["spec_gate", "limits_gate", "verify_gate", "unproved"] {
        let Kind::Gate(asked) = &stage(&FLOW, gate).kind else { panic!("{gate} is no gate") };
        assert!(asked.hard && asked.policy.is_empty(), "{gate}");
    }
    let spec = || {
        let mut walk = resumed("plan_ready", There);
        walk.says("planning", "generated");
        walk
    };
    let offered = [
        ("Proceed", "Start implementation as specified"),
        ("Modify", "Edit the spec, then re-confirm"),
        ("Stop", "Halt the workflow"),
    ];
    let asked = asked(&spec(), "spec_gate");
    assert_eq!(asked, offered.map(|(label, about)| (label.into(), about.into())));
    assert_eq!(spec().answers("spec_gate", "proceed").at(), ["generating"]);
    let mut walk = spec();
    walk.answers("spec_gate", "modify").answers("edit_spec", "edited");
    assert_eq!(walk.says("reread_spec", "found").at(), ["spec_gate"], "update and re-present");
    let mut walk = spec();
    walk.answers("spec_gate", "modify").answers("edit_spec", "other");
    assert_eq!(walk.says("revise_spec", "generated").at(), ["reread_spec"]);
    assert_eq!(walk.says("reread_spec", "missing").at(), ["edit_spec"]);
    stops_at(&mut spec(), "spec_gate");
}

/// "Increment round, reset verify.layer1_retries → 0 … Go to Step 4"; at the last round the open issues are named.
#[test]
fn rounds_are_those_of_v2() {
    let mut walk = at("qa_gate", There, &faulty());
    walk.answers("qa_gate", "fix");
    assert_eq!((walk.at(), counter(&walk, "rounds")), (vec!["generating".into()], Some(2)));
    walk.on_to("qa_gate", &faulty()).answers("qa_gate", "fix").on_to("rounds_spent", &faulty());
    assert_eq!((walk.at(), counter(&walk, "rounds")), (vec!["rounds_spent".into()], Some(3)));
    walk.answers("rounds_spent", "complete");
    assert_eq!(last_record(&walk), "completed_with_open_issues");
    walk.to_the_end(&[]);
    assert_eq!(walk.exit_code(), Some(0));

    // What the session had used stays used.
    for (round, gate) in [(1, "qa_gate"), (2, "qa_gate"), (3, "rounds_spent")] {
        let mut walk = resumed_in("eval_ready", There, round);
        walk.on_to(gate, &faulty());
        assert!(walk.is_at(gate), "round {round}: {:?}", walk.at());
    }
    let mut walk = at("qa_gate", There, &faulty());
    walk.answers("qa_gate", "accept");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["completed".into()], "accepted_as_is".into())
    );
    walk.on_to("land_code", &[]);
    assert!(walk.is_at("land_code"), "by a person's word");
    stops_at(&mut at("qa_gate", There, &faulty()), "qa_gate");
}

/// "Stay within scope": measured, as in task.
#[test]
fn limits_are_measured() {
    let mut walk = at("limits_gate", There, &failing("limits"));
    assert_eq!(walk.runs("generating"), 4);
    assert_eq!(walk.answers("limits_gate", "allow").at(), ["verify_ready"], "no phase is skipped");
}

/// Finish as in task, to the letter; without git nothing is asked and the change is given back.
#[test]
fn the_endings_are_those_of_v2() {
    let rows: [(&str, &[&str]); 3] = [
        ("code_only", &["land_code", "clean_artifacts", "clean_session", "report"]),
        ("all", &["land_all", "clean_session", "report"]),
        ("nothing", &["give_back", "clean_session", "report"]),
    ];
    for (answer, stages) in rows {
        let mut walk = at("commit_gate", There, &[]);
        walk.answers("commit_gate", answer).to_the_end(&[]);
        let entered = walk.entered();
        assert_eq!(entered[entered.len() - stages.len()..], *stages, "{answer}");
        assert_eq!((walk.exit_code(), walk.run().tally().done), (Some(0), 1), "{answer}");
    }
    let texts = |flow: &'static Workflow| {
        let Kind::Gate(gate) = &stage(flow, "commit_gate").kind else { panic!("no gate") };
        gate.question.as_str()
    };
    assert_eq!(texts(&FLOW), texts(&TASK));
    let mut walk = Walk::new(&FLOW, &[]);
    let except =
        [("surroundings", Saying::new("no_git")), ("session", session("gen_ready", There, 1))];
    walk.on_to("give_back", &except);
    let kind = walk.find("give_back").map(|(_, effect)| effect.kind);
    assert!(matches!(kind, Some(EffectKind::Errand(Errand::Save { how: Save::Apply, .. }))));
    assert_eq!(walk.runs("commit_gate"), 0);
}

/// A branch that moved: what lands is proved where it lands.
#[test]
fn a_moved_branch_is_verified_again() {
    for (verify, checks) in [(There, "verifying"), (Absent, "proving")] {
        let mut walk = at("land_code", verify, &[]);
        walk.says("land_code", "moved").on_to("land_code", &[]);
        assert_eq!((walk.runs(checks), walk.is_at("land_code")), (2, true), "{checks}");
        let mut walk = at("land_code", verify, &[]);
        walk.says("land_code", "conflict").says("resolve", "resolved").on_to("land_code", &[]);
        assert_eq!((walk.runs(checks), walk.runs("evaluating")), (2, 2), "{checks}");
    }
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
