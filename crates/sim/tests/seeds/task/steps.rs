//! run_style: where each style halts, and the sub-commands with their prerequisites.

use windlass_core::{
    run::{Refused, Standing, Start, Wish},
    workflow::RunOutcome,
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, begin, given, shown_as};

/// Goes on until nothing is left, resuming at every planned halt, and says in which state each was
/// and where it went on.
fn halts(walk: &mut Walk<'_>) -> Vec<(String, String)> {
    let mut halts = Vec::new();
    for _ in 0..10 {
        walk.to_the_end(&[]);
        if walk.standing() != Standing::Resting {
            assert_eq!(walk.standing(), Standing::Ended(RunOutcome::Done));
            return halts;
        }
        assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(0)), "a planned halt");
        let state = halted_in(walk);
        halts.push((state, walk.wishes(Wish::Resume(None)).at().join(" ")));
    }
    panic!("it halts for ever: {halts:?}")
}

/// The state that people see while a run rests.
fn halted_in(walk: &Walk<'_>) -> String {
    walk.entered().last().map(|stage| shown_as(stage)).unwrap_or_default()
}

/// Each halt of a run without a hitch, and where the next session goes on.
const EVERY_DONE: [(&str, &str); 4] = [
    ("plan_done", "reread_spec"), // and then the gate
    ("generate_done", "verify_ready"),
    ("verify_done", "evaluate_ready"),
    ("evaluate_done", "completed"),
];

/// "auto: Automatic progression", "phase: Stop at each *_done state, resume in next session".
#[test]
fn each_style_halts_where_the_table_says() {
    let rows: [(&str, &[(&str, &str)]); 3] =
        [("auto", &[]), ("phase", &EVERY_DONE), ("step", &EVERY_DONE)];
    for (style, expected) in rows {
        let mut walk = begin(&[("style", style)], None, &[]);
        let halts = halts(&mut walk);
        let halts: Vec<(&str, &str)> = halts.iter().map(|(s, a)| (&**s, &**a)).collect();
        assert_eq!(halts, expected, "{style}");
    }
}

/// The decisions of a run without a hitch, and the result lines of each phase, once.
#[test]
fn a_run_without_a_hitch() {
    for style in ["auto", "phase"] {
        let mut walk = begin(&[("style", style)], None, &[]);
        halts(&mut walk);
        assert_eq!(walk.records(), ["spec_confirmed", "commit_code_only"], "{style}");
        let told =
            ["plan_result", "generate_result", "verify_result", "evaluate_result", "completed"];
        assert_eq!(told.map(|stage| walk.runs(stage)), [1; 5], "{style}");
        assert_eq!((walk.runs("setup"), walk.runs("report")), (1, 1), "{style}");
        assert_eq!(walk.run().tally().done, 1, "{style}");
    }
    let phases = [
        ("plan_result", "plan"),
        ("generate_result", "generate"),
        ("verify_ready", "verify"),
        ("verify_result", "verify"),
        ("evaluate_ready", "evaluate"),
        ("evaluate_result", "evaluate"),
        ("completed", "completed"),
    ];
    for (stage, phase) in phases {
        let walk = super::fresh(&[], stage);
        assert_eq!(super::with(&walk, stage, "phase").as_deref(), Some(phase), "{stage}");
    }
}

/// auto: "user gates at plan_done and evaluate_done(FAIL) only", and the finish.
#[test]
fn auto_asks_at_the_two_gates_only() {
    let gates = |except: &[(&str, Saying)]| {
        let mut walk = begin(&[], None, &[]);
        walk.to_the_end(except);
        let asked: Vec<String> = walk
            .entered()
            .iter()
            .filter(|name| name.contains("gate") || name.starts_with("qa_"))
            .map(|s| (*s).to_owned())
            .collect();
        asked
    };
    assert_eq!(gates(&[]), ["spec_gate", "commit_gate"]);
    let fail = ("evaluating", Saying::new("fail_l3"));
    let accept = ("qa_layer3", Saying::new("accept"));
    assert_eq!(gates(&[fail, accept]), ["spec_gate", "qa_layer3", "commit_gate"]);
}

/// "step: Execute only the specified step, then stop", "Immediately after step"; plan and generate
/// run in phase style.
#[test]
fn a_sub_command_runs_its_step_and_halts() {
    let all = ["spec.md", "changes.md", "verify_report.md"];
    // (command, style) → (the stage it begins at, the state it halts in, what was run on the way)
    let rows: [(&str, &str, &str, &str, &[&str]); 4] = [
        ("plan", "phase", "discovery", "plan_done", &["plan_standard"]),
        ("generate", "phase", "reread_spec", "generate_done", &["lead_plan", "implement_standard"]),
        ("verify", "step", "verify_ready", "verify_done", &["verifying"]),
        ("evaluate", "step", "verify_ready", "evaluate_done", &["verifying", "evaluating"]),
    ];
    let working = ["plan_standard", "lead_plan", "implement_standard", "verifying", "evaluating"];
    for (entry, style, starts, halts_in, ran) in rows {
        let mut walk = begin(&[("style", style)], Some(entry), &all);
        assert_eq!(walk.at(), [starts], "{entry}");
        walk.to_the_end(&[]);
        assert_eq!((walk.standing(), walk.exit_code()), (Standing::Resting, Some(0)), "{entry}");
        assert_eq!(halted_in(&walk), halts_in, "{entry}");
        let entered = walk.entered();
        let seen: Vec<&str> = working.into_iter().filter(|w| entered.contains(w)).collect();
        assert_eq!(seen, ran, "{entry}: and no other step");
    }
}

/// What is said, and which files are missing.
type Refusal = Option<(&'static str, &'static [&'static str])>;

/// "Step Mode Prerequisites": required files, and what is said without them.
#[test]
fn sub_commands_have_the_seeds_prerequisites() {
    let rows: [(&str, &[&str], Refusal); 10] = [
        ("plan", &[], None),
        ("generate", &[], Some(("Run plan first", &["spec.md"]))),
        ("generate", &["changes.md"], Some(("Run plan first", &["spec.md"]))),
        ("generate", &["spec.md"], None),
        ("verify", &[], Some(("Run generate first", &["changes.md"]))),
        ("verify", &["spec.md"], Some(("Run generate first", &["changes.md"]))),
        ("verify", &["changes.md"], None),
        ("evaluate", &["verify_report.md"], Some(("Run verify first", &["spec.md", "changes.md"]))),
        ("evaluate", &["spec.md", "changes.md"], Some(("Run verify first", &["verify_report.md"]))),
        ("evaluate", &["spec.md", "changes.md", "verify_report.md"], None),
    ];
    for (entry, have, refused) in rows {
        let begin = Start {
            entry: Some(entry.into()),
            have: have.iter().map(|file| (*file).to_owned()).collect(),
            ..Start::default()
        };
        let expected = refused.map(|(otherwise, missing)| Refused::EntryNotReady {
            otherwise: otherwise.into(),
            missing: missing.iter().map(|file| (*file).to_owned()).collect(),
        });
        assert_eq!(Walk::begin(&FLOW, begin).err(), expected, "{entry} with {have:?}");
    }
}

/// "retry is automatic, no user gate": a retry does not halt at generate_done in any style.
#[test]
fn automatic_retries_do_not_halt_at_generate_done() {
    for style in ["phase", "step"] {
        let mut walk = begin(&[("style", style)], None, &[]);
        walk.on_to("none", &[]).wishes(Wish::Resume(None));
        walk.on_to("none", &[]).wishes(Wish::Resume(None));
        walk.says("verify_ready", "told").says("verifying", "fail");
        walk.on_to("verify_ready", &[]);
        assert!(walk.is_at("verify_ready"), "{style}: at {:?}", walk.at());
        walk.to_the_end(&[]);
        let last = walk.entered().last().copied();
        assert_eq!((walk.standing(), last), (Standing::Resting, Some("verify_done")), "{style}");
    }
}

/// "If run_style == phase …: Inform user, halt", before Step 7 decides what a failure means.
#[test]
fn a_failed_evaluation_halts_before_its_verdict() {
    for (verdict, at) in [("fail_l2", "implement_standard"), ("fail_l3", "qa_layer3")] {
        let mut walk = begin(&[("style", "phase")], None, &[]);
        for _ in 0..3 {
            walk.to_the_end(&[]).wishes(Wish::Resume(None));
        }
        walk.on_to("evaluating", &[]).says("evaluating", verdict).says("evaluate_failed", "told");
        assert_eq!((walk.at(), walk.standing()), (vec![], Standing::Resting), "{verdict}");
        walk.wishes(Wish::Resume(None));
        assert_eq!(walk.at(), [at], "{verdict}: Step 7 in the next session");
    }
}

/// `evaluate` passes verify on its way to the evaluator once; after that, verify_done halts as ever.
#[test]
fn evaluate_halts_at_verify_done_once_it_has_evaluated() {
    let all = ["spec.md", "changes.md", "verify_report.md"];
    let mut walk = begin(&[("style", "step")], Some("evaluate"), &all);
    walk.on_to("evaluating", &[]).says("evaluating", "fail_l2").says("evaluate_failed", "told");
    walk.wishes(Wish::Resume(None)).on_to("verify_result", &[]).says("verify_result", "told");
    assert_eq!((walk.standing(), halted_in(&walk)), (Standing::Resting, "verify_done".into()));
}

/// A round that a person asked for halts at its own generate_done again.
#[test]
fn a_new_round_halts_again() {
    let mut walk = begin(&[("style", "phase")], None, &[]);
    for _ in 0..3 {
        walk.to_the_end(&[]).wishes(Wish::Resume(None));
    }
    walk.on_to("evaluating", &[]).says("evaluating", "fail_l3").says("evaluate_failed", "told");
    walk.wishes(Wish::Resume(None)).answers("qa_layer3", "fix").to_the_end(&[]);
    assert_eq!((walk.standing(), halted_in(&walk)), (Standing::Resting, "generate_done".into()));
}

/// "Skip, or run Step 1.5 first": a sub-command passes setup and conventions as any other start.
#[test]
fn a_sub_command_jumps_after_step_1_5() {
    let begin = Start {
        entry: Some("verify".into()),
        have: ["changes.md".to_owned()].into(),
        ..Start::default()
    };
    let mut walk = Walk::begin(&FLOW, begin).unwrap_or_else(|refused| panic!("{refused}"));
    walk.on_to("conventions", &[given()]).says("conventions", "missing");
    assert_eq!(walk.at(), ["ask_scan"]);
    assert_eq!(walk.answers("ask_scan", "skip").at(), ["verify_ready"]);
}
