//! Session recovery: whose session it is, and Resume / Restart / Stop.

use windlass_core::run::{Start, Wish};
use windlass_sim::{Saying, Walk};

use super::{FLOW, Steps, choices, given, last_record, unit};

/// A run that has found this about an earlier session.
#[track_caller]
fn found(verdict: Saying) -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("surroundings", "git").says("session", verdict);
    walk
}

fn v2() -> Saying {
    let tasks = vec![unit("generate_ready", "none", true)];
    Saying::new("found").fact("phase", "generate_ready").items("tasks", tasks)
}

#[test]
fn the_kind_of_session_decides() {
    let rows = [
        ("If .harness/state.json does not exist, proceed to Step 1", "none", "argument"),
        ("completed → no active session, proceed to Step 1", "completed", "argument"),
        ("skill field exists and is NOT \"workflow\" → warn", "other_skill", "session_conflict"),
        ("version: Missing → v1 session", "v1", "v1_handoff"),
        ("version \"2.0\" → v2 session", "found", "session_gate"),
        ("cannot be read", "corrupt", "session_corrupt"),
    ];
    for (quoted, verdict, at) in rows {
        assert_eq!(found(Saying::new(verdict)).at(), [at], "{quoted}");
    }
}

/// "Delete and start" / "Cancel".
#[test]
fn another_skills_session_is_asked_about_first() {
    let conflict = || found(Saying::new("other_skill").fact("skill", "spec"));
    let walk = conflict();
    let offered = [
        ("Delete and start", "Delete .harness/ and proceed with /workflow"),
        ("Cancel", "Keep existing session and halt"),
    ];
    assert_eq!(choices(&walk, "session_conflict"), offered.map(|(l, a)| (l.into(), a.into())));
    let mut walk = conflict();
    walk.answers("session_conflict", "delete");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["restart".into()], "other_session_deleted".into())
    );
    assert_eq!(walk.says("restart", "told").at(), ["argument"]);
    let mut walk = conflict();
    walk.answers("session_conflict", "cancel").to_the_end(&[]);
    assert_eq!((walk.exit_code(), walk.runs("restart")), (Some(5), 0), "nothing is deleted");
}

/// "Do NOT migrate v1 sessions to v2", "Do NOT apply v2 state machine."
#[test]
fn a_v1_session_is_never_migrated() {
    let mut walk = found(Saying::new("v1"));
    walk.says("v1_handoff", "told").to_the_end(&[]);
    assert_eq!((walk.records(), walk.exit_code()), (vec!["v1_session".into()], Some(5)));
    for stage in ["session_gate", "restart", "setup", "recovered"] {
        assert_eq!(walk.runs(stage), 0, "{stage}");
    }
}

#[test]
fn a_corrupt_session_is_set_aside_and_a_fresh_start_offered() {
    let mut walk = found(Saying::new("corrupt"));
    assert_eq!(walk.answers("session_corrupt", "yes").at(), ["argument"]);
    let mut walk = found(Saying::new("corrupt"));
    walk.answers("session_corrupt", "stop").to_the_end(&[]);
    assert_eq!(walk.exit_code(), Some(5));
}

/// An answer, its record, what comes of it, where the run goes on, its exit code if it does not.
type Answered = (&'static str, &'static str, Steps, &'static [&'static str], Option<u8>);

/// "Resume" / "Restart" / "Stop" with the seed's descriptions.
#[test]
fn resume_restart_stop() {
    let offered = [
        ("Resume", "Continue from generate_ready"),
        ("Restart", "Delete .harness/ and start fresh"),
        ("Stop", "Delete .harness/ and halt"),
    ];
    let walk = found(v2());
    assert_eq!(choices(&walk, "session_gate"), offered.map(|(l, a)| (l.into(), a.into())));
    let rows: [Answered; 3] = [
        ("resume", "resumed", &[("recovered_paths", "valid")], &["setup"], None),
        ("restart", "restarted", &[("restart", "told")], &["argument"], None),
        ("stop", "stopped", &[("session_stop", "told"), ("report", "told")], &[], Some(5)),
    ];
    for (answer, record, then, at, code) in rows {
        let mut walk = found(v2());
        walk.answers("session_gate", answer);
        assert_eq!(last_record(&walk), record);
        for (stage, says) in then {
            walk.says(stage, *says);
        }
        assert_eq!(walk.at(), at, "{answer}");
        assert_eq!(walk.exit_code(), code, "{answer}");
    }
}

/// "If validation fails: print … and treat as Restart."
#[test]
fn a_docs_path_that_no_longer_validates_is_a_restart() {
    let mut walk = found(v2());
    walk.answers("session_gate", "resume").says("recovered_paths", "refused");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["restart".into()], "docs_path_refused".into())
    );
    walk.says("restart", "told").says("argument", given().1).on_to("discovery", &[]);
    assert!(walk.is_at("discovery"), "a fresh task, not the recovered one");
}

/// After Restart nothing of the old session is left: counters, phase, auto-fix.
#[test]
fn a_restart_forgets_the_old_session() {
    let old = Saying::new("found")
        .fact("phase", "verify_done")
        .fact("round", 3)
        .fact("layer1_retries", 3)
        .fact("layer2_retries", 2)
        .fact("autofix", "rejected")
        .fact("autofix_attempted", true)
        .items("tasks", vec![unit("verify_done", "rejected", true)]);
    let mut walk = found(old);
    walk.answers("session_gate", "restart").on_to("discovery", &[given()]);
    assert_eq!(walk.run().counters(), [], "nothing counted");
    walk.on_to("verify_gate", &super::fails());
    assert!(walk.options("verify_gate").contains(&"autofix".to_owned()), "and auto-fix unspent");
}

/// "If has_git is not in state.json, re-detect and store": it is looked at on every start.
#[test]
fn git_is_detected_at_every_start() {
    for verdict in ["git", "no_git"] {
        let mut walk = Walk::new(&FLOW, &[]);
        walk.says("surroundings", verdict);
        assert_eq!(walk.at(), ["session"], "{verdict}");
    }
}

/// The seed's defaults of state.json.
#[test]
fn inputs_have_the_seeds_defaults() {
    let rows = [
        ("mode", "standard"),
        ("models", "balanced"),
        ("style", "auto"),
        ("verifier_model", "haiku"),
        ("output_dir", "docs/harness"),
        ("scope", "(no limit)"),
        ("max_files", "20"),
        ("todo_blocking", "false"),
        ("remove_output_base", "false"),
    ];
    for (name, default) in rows {
        let input = &FLOW.inputs[FLOW.input_named(name).unwrap().at()];
        assert_eq!(input.default.as_ref().unwrap().to_string(), default, "{name}");
    }
    let refused = |name: &str, value: &str| {
        let inputs = [("task".to_owned(), "x".into()), (name.to_owned(), value.into())];
        let begin = Start { inputs: inputs.into(), ..Start::default() };
        Walk::begin(&FLOW, begin).is_err()
    };
    // "--verifier-model: if value is not one of haiku, sonnet, opus → halt", and the other flags
    let rows = [
        ("verifier_model", "haiku", false),
        ("verifier_model", "sonnet", false),
        ("verifier_model", "opus", false),
        ("verifier_model", "gpt", true),
        ("mode", "duo", true),
        ("style", "slow", true),
        ("models", "cheap", true),
    ];
    for (name, value, expected) in rows {
        assert_eq!(refused(name, value), expected, "{name} = {value}");
    }
}

/// A stop decides nothing more than it says: the run is over, and takes no more wishes.
#[test]
fn a_halted_recovery_is_over() {
    let mut walk = found(v2());
    walk.answers("session_gate", "stop").to_the_end(&[]);
    let who = "me".into();
    let late = windlass_core::run::Input::Control { who, wish: Wish::Resume(None) };
    assert!(walk.give(late).is_err());
}
