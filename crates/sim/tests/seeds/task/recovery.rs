//! "Then jump to the state matching phase": the table of session recovery, row by row.

use windlass_core::run::{Item, Start};
use windlass_sim::{Saying, Walk, typed};

use super::{FLOW, counter, fails, unit};

/// What an earlier session left in its state.json.
struct Left {
    phase: &'static str,
    autofix: &'static str,
    has_spec: bool,
    round: i64,
    layer1: i64,
    layer2: i64,
    attempted: bool,
}

const NOTHING: Left = Left {
    phase: "plan_ready",
    autofix: "none",
    has_spec: false,
    round: 1,
    layer1: 0,
    layer2: 0,
    attempted: false,
};

impl Left {
    fn task(&self) -> Item {
        unit(self.phase, self.autofix, self.has_spec)
    }

    fn found(&self) -> Saying {
        Saying::new("found")
            .fact("phase", self.phase)
            .fact("round", self.round)
            .fact("layer1_retries", self.layer1)
            .fact("layer2_retries", self.layer2)
            .fact("autofix", self.autofix)
            .fact("autofix_attempted", self.attempted)
            .items("tasks", vec![self.task()])
    }
}

/// The session, resumed, with its conventions in place.
#[track_caller]
fn resumed(left: &Left, inputs: &[(&str, &str)], entry: Option<&str>) -> Walk<'static> {
    let have = ["spec.md", "changes.md", "verify_report.md"];
    let begin = Start {
        inputs: typed(&FLOW, inputs),
        entry: entry.map(str::to_owned),
        have: have.map(str::to_owned).into(),
        ..Start::default()
    };
    let mut walk = Walk::begin(&FLOW, begin).unwrap_or_else(|refused| panic!("{refused}"));
    walk.says("surroundings", "git").says("session", left.found());
    walk.answers("session_gate", "resume").says("recovered_paths", "valid");
    walk.says("setup", "told").says("conventions", "live");
    walk
}

fn offers_autofix(walk: &Walk<'_>) -> bool {
    walk.options("verify_gate").contains(&"autofix".to_owned())
}

#[test]
fn each_phase_goes_on_at_its_step() {
    let at = |phase, has_spec| Left { phase, has_spec, ..NOTHING };
    let verify_done = |autofix| Left { phase: "verify_done", autofix, ..NOTHING };
    let rows = [
        ("plan_ready → Step 2 (Plan)", at("plan_ready", false), "discovery"),
        ("planning → Step 3 (Gate) if spec.md exists", at("planning", true), "reread_spec"),
        ("planning … else Step 2", at("planning", false), "discovery"),
        ("plan_done → Step 3 (Gate) if spec.md exists", at("plan_done", true), "reread_spec"),
        ("plan_done … else Step 2", at("plan_done", false), "discovery"),
        ("generate_ready → Step 4 (Generate)", at("generate_ready", true), "lead_plan"),
        ("generating → Step 5 (Verify)", at("generating", true), "verify_ready"),
        ("generate_done → Step 5 (Verify)", at("generate_done", true), "verify_ready"),
        ("verify_ready → Step 5 (Verify)", at("verify_ready", true), "verify_ready"),
        ("verifying → Step 5 (Verify)", at("verifying", true), "verify_ready"),
        ("verify_done, autofix == null → Step 5 (Verify)", verify_done("none"), "verify_ready"),
        ("proposed → \"2nd HARD-GATE\" direct re-entry", verify_done("proposed"), "patch_check"),
        ("applied → Step 5 re-verify", verify_done("applied"), "verify_ready"),
        ("stopped → \"1st HARD-GATE\"", verify_done("stopped"), "verify_gate"),
        ("rejected → \"1st HARD-GATE\"", verify_done("rejected"), "verify_gate"),
        ("evaluate_ready → Step 6, proved first", at("evaluate_ready", true), "verify_ready"),
        ("evaluating → Step 7 (Verdict)", at("evaluating", true), "recovered_verdict"),
        ("evaluate_done → Step 7 (Verdict)", at("evaluate_done", true), "recovered_verdict"),
    ];
    for (quoted, left, stage) in rows {
        for style in ["auto", "phase"] {
            let walk = resumed(&left, &[("style", style)], None);
            assert_eq!(walk.at(), [stage], "{quoted}, {style}");
        }
    }
    let generate = at("generate_ready", true);
    let walk = resumed(&generate, &[("mode", "single")], None);
    assert_eq!(walk.at(), ["implement_single"], "Step 4 in single mode");
    // The gate of a resumed plan is the same hard gate: only Proceed advances.
    let mut walk = resumed(&at("plan_done", true), &[], None);
    walk.on_to("spec_gate", &[]);
    assert_eq!(walk.answers("spec_gate", "proceed").at(), ["lead_plan"]);
}

/// "plan_ready → Step 1.5 if conventions is null (not yet executed), else Step 2 (Plan)"; "skipped
/// means user already decided"; a "file:" that is gone counts as null.
#[test]
fn conventions_are_settled_once() {
    let rows = [
        ("file: and the file is there", "live", false),
        ("file: gone, /spec's copy re-copied", "persisted", false),
        ("skipped: the user already decided", "settled", false),
        ("CLAUDE.md ≥ 50 lines", "rich", false),
        ("null, CLAUDE.md < 50 lines", "sparse", true),
        ("null, no CLAUDE.md", "missing", true),
    ];
    for phase in ["plan_ready", "generate_ready"] {
        for (row, verdict, asks) in rows {
            let mut walk = Walk::new(&FLOW, &[]);
            let left = Left { phase, has_spec: true, ..NOTHING };
            walk.says("surroundings", "git").says("session", left.found());
            walk.answers("session_gate", "resume").says("recovered_paths", "valid");
            walk.says("setup", "told").says("conventions", verdict);
            assert_eq!(walk.is_at("ask_scan"), asks, "{phase}: {row}");
        }
    }
}

/// "reset retries to 0", "do NOT reset retries", "retries from state.json, no reset",
/// "layer1_retries unchanged", and I4's clamp.
#[test]
fn layer_1_retries_are_kept_where_the_table_says_so() {
    let rows = [
        ("generating", "none", 2, 0),
        ("generate_done", "none", 2, 0),
        ("verify_ready", "none", 2, 0),
        ("verifying", "none", 3, 0),
        ("verify_done", "none", 3, 0),
        ("verify_done", "proposed", 3, 3),
        ("verify_done", "applied", 3, 3),
        ("verify_done", "stopped", 3, 3),
        ("verify_done", "stopped", 5, 3),
        ("verify_done", "rejected", 3, 3),
        ("evaluate_ready", "none", 1, 1),
        ("evaluating", "none", 2, 2),
        ("evaluate_done", "none", 3, 3),
    ];
    for (phase, autofix, layer1, kept) in rows {
        let left = Left { phase, autofix, layer1, has_spec: true, ..NOTHING };
        let walk = resumed(&left, &[], None);
        let counted = counter(&walk, "layer1").unwrap_or(0);
        assert_eq!(counted, kept, "{phase}, autofix {autofix}, {layer1} retries");
    }
}

#[test]
fn rounds_and_layer_2_retries_are_kept() {
    for (round, adopted) in [(1, 1), (2, 2), (3, 3), (4, 3)] {
        for (layer2, kept) in [(0, 0), (1, 1), (2, 2), (9, 2)] {
            let left = Left { phase: "evaluate_done", round, layer2, ..NOTHING };
            let walk = resumed(&left, &[], None);
            let counted =
                (counter(&walk, "rounds").unwrap_or(1), counter(&walk, "layer2").unwrap_or(0));
            assert_eq!(counted, (adopted, kept), "round {round}, layer 2 {layer2}");
        }
    }
    // Round 3 of the earlier session is the last one here too.
    let left = Left { phase: "evaluating", round: 3, ..NOTHING };
    let mut walk = resumed(&left, &[], None);
    assert_eq!(walk.says("recovered_verdict", "fail_l3").at(), ["rounds_spent"]);
}

/// I2: "Auto-fix option is visible only when verify.autofix_attempted == false AND state.autofix ==
/// null", whatever phase the session was left in.
#[test]
fn an_attempted_auto_fix_stays_attempted() {
    let rows = [
        ("verify_done", "none", false, true),
        ("verify_done", "none", true, false),
        ("verify_done", "rejected", true, false),
        ("verify_done", "stopped", true, false),
        ("generating", "none", false, true),
        ("generating", "none", true, false),
        ("generating", "stopped", true, false),
        ("evaluate_ready", "none", false, true),
        ("evaluate_ready", "rejected", true, false),
        ("evaluate_ready", "none", true, false),
    ];
    for (phase, autofix, attempted, visible) in rows {
        let left = Left { phase, autofix, attempted, has_spec: true, ..NOTHING };
        let mut walk = resumed(&left, &[], None);
        walk.on_to("verify_gate", &fails());
        assert_eq!(offers_autofix(&walk), visible, "{phase}, {autofix}, attempted {attempted}");
    }
}

/// I3: re-entry at the second gate with the saved patch; its three answers.
#[test]
fn a_proposed_patch_is_presented_again() {
    let proposed =
        Left { phase: "verify_done", autofix: "proposed", layer1: 3, has_spec: true, ..NOTHING };
    let at_gate = || {
        let mut walk = resumed(&proposed, &[], None);
        walk.says("patch_check", "usable");
        assert_eq!((walk.at(), walk.runs("verify_gate")), (vec!["patch_gate".into()], 0));
        assert_eq!(walk.runs("propose"), 0, "the proposer is not paid twice");
        walk
    };
    let mut walk = at_gate();
    walk.answers("patch_gate", "reject");
    assert!(walk.is_at("verify_gate") && !offers_autofix(&walk));
    let mut walk = at_gate();
    walk.answers("patch_gate", "apply").says("apply_patch", "saved").on_to("verify_gate", &fails());
    assert!(!offers_autofix(&walk));
    assert_eq!((counter(&walk, "layer1"), walk.runs("implement")), (Some(3), 0));
    super::stops_at(&mut at_gate(), "patch_gate");
    let mut walk = resumed(&proposed, &[], None);
    walk.says("patch_check", "empty");
    assert!(walk.is_at("verify_gate") && !offers_autofix(&walk));
}

/// "applied → re-verify from Layer 1": a pass goes on, a failure is "stopped", never a retry.
#[test]
fn an_applied_patch_is_verified_again() {
    let applied =
        Left { phase: "verify_done", autofix: "applied", layer1: 3, has_spec: true, ..NOTHING };
    let mut walk = resumed(&applied, &[], None);
    walk.says("verify_ready", "told").says("verifying", "pass");
    assert_eq!(
        (walk.at(), super::last_record(&walk)),
        (vec!["verify_result".into()], "autofix:cleared".into())
    );
    let mut walk = resumed(&applied, &[], None);
    walk.on_to("verify_gate", &fails());
    assert_eq!((walk.runs("verifying"), super::last_record(&walk)), (1, "autofix:stopped".into()));
    assert!(!offers_autofix(&walk));
}

/// The verdict of an adopted QA report: routed as Step 7 routes it, but a pass is a person's to take.
#[test]
fn an_adopted_verdict_is_routed_as_step_7() {
    // (round, layer 2 retries, report) → stage
    let rows = [
        (1, 0, "pass", "take_its_word"),
        (1, 0, "fail_l2", "implement_standard"),
        (1, 1, "fail_l2", "implement_standard"),
        (1, 2, "fail_l2", "qa_layer2"),
        (1, 0, "fail_l3", "qa_layer3"),
        (2, 0, "fail_l3", "qa_layer3"),
        (3, 0, "fail_l3", "rounds_spent"),
        (1, 0, "missing", "verify_ready"),
    ];
    for (round, layer2, report, at) in rows {
        let left = Left { phase: "evaluate_done", has_spec: true, round, layer2, ..NOTHING };
        let mut walk = resumed(&left, &[], None);
        walk.says("recovered_verdict", report);
        assert_eq!(walk.at(), [at], "round {round}, layer 2 retries {layer2}, {report}");
    }
    let left = Left { phase: "evaluate_done", has_spec: true, ..NOTHING };
    let mut walk = resumed(&left, &[("mode", "multi")], None);
    walk.says("recovered_verdict", "fail_l2");
    assert_eq!(walk.at(), ["implement_multi"], "no re-plan, no re-review");
    let word = || {
        let mut walk = resumed(&left, &[], None);
        walk.says("recovered_verdict", "pass");
        walk
    };
    let mut walk = word();
    walk.answers("take_its_word", "again_please").on_to("commit_gate", &[]);
    assert_eq!((walk.runs("verifying"), walk.runs("evaluating")), (1, 1));
    let mut walk = word();
    walk.answers("take_its_word", "accept").on_to("land_code", &[]);
    assert_eq!((walk.runs("verifying"), walk.runs("evaluating")), (0, 0));
    assert_eq!((walk.runs("completed"), walk.runs("rounds_spent")), (1, 0));
    assert!(walk.is_at("land_code") && walk.records().contains(&"adopted_verdict_accepted".into()));
    super::stops_at(&mut word(), "take_its_word");
}

/// A sub-command on an adopted session starts at its step and gives nothing back.
#[test]
fn a_sub_command_keeps_what_the_session_had_used_up() {
    for (round, layer2) in [(1, 0), (2, 1), (3, 2)] {
        let left = Left {
            phase: "verify_done",
            autofix: "rejected",
            has_spec: true,
            round,
            layer1: 3,
            layer2,
            attempted: true,
        };
        let mut walk = resumed(&left, &[("style", "step")], Some("verify"));
        assert_eq!(walk.at(), ["verify_ready"]);
        let counted = [("rounds", 1), ("layer1", 0), ("layer2", 0)]
            .map(|(name, from)| i64::from(counter(&walk, name).unwrap_or(from)));
        assert_eq!(counted, [round, 3, layer2]);
        walk.on_to("verify_gate", &fails());
        assert_eq!((offers_autofix(&walk), walk.runs("verifying")), (false, 1), "round {round}");
    }
}

/// T7: "generate" asks the spec gate unless Proceed is on record; every phase past the gate says so.
#[test]
fn generate_on_an_adopted_session_asks_until_proceed_is_on_record() {
    let rows = [
        ("plan_done", "reread_spec"),
        ("planning", "reread_spec"),
        ("plan_ready", "reread_spec"),
        ("generate_ready", "lead_plan"),
        ("generate_done", "lead_plan"),
        ("verify_done", "lead_plan"),
        ("evaluate_done", "lead_plan"),
    ];
    for (phase, at) in rows {
        let left = Left { phase, has_spec: true, ..NOTHING };
        let walk = resumed(&left, &[("style", "phase")], Some("generate"));
        assert_eq!(walk.at(), [at], "{phase}");
    }
}
