//! Auto-fix: the state transition table, invariants I1–I4, and every way a patch can fail.

use windlass_core::run::Wish;
use windlass_sim::{Saying, Walk};

use super::{
    LAYER1_FAILED, LAYER1_PASSED, Steps, choices, counter, fails, first_gate, last_record,
    stops_at, with,
};

fn offers_autofix(walk: &Walk<'_>) -> bool {
    assert!(walk.is_at("verify_gate"), "at {:?}", walk.at());
    walk.options("verify_gate").contains(&"autofix".to_owned())
}

fn proposal(confidence: &str) -> Saying {
    Saying::new("written").fact("confidence", confidence)
}

/// The second hard gate, with a usable patch.
fn second_gate() -> Walk<'static> {
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "autofix").says("propose", proposal("High"));
    walk.says("patch_check", "usable");
    walk
}

fn autofix_records(walk: &Walk<'_>) -> Vec<String> {
    let all = walk.records();
    all.into_iter().filter_map(|r| r.strip_prefix("autofix:").map(str::to_owned)).collect()
}

/// The seed's table "Transitions": From, Event, To.
#[test]
fn the_transition_table() {
    // (events after "Auto-fix" was selected) → the states that were gone through, and where it is
    let rows: [(&str, Steps, &[&str], &str); 5] = [
        ("null → proposed", &[], &["proposed"], "patch_gate"),
        (
            "proposed → applied",
            &[("patch_gate", "apply"), ("apply_patch", "saved")],
            &["proposed", "applied"],
            "verify_ready",
        ),
        (
            "proposed → rejected",
            &[("patch_gate", "reject")],
            &["proposed", "rejected"],
            "verify_gate",
        ),
        (
            "applied → (cleared — continues to Step 6)",
            &[
                ("patch_gate", "apply"),
                ("apply_patch", "saved"),
                ("verify_ready", "told"),
                ("verifying", "pass"),
            ],
            &["proposed", "applied", "cleared"],
            "verify_result",
        ),
        (
            "applied → stopped",
            &[
                ("patch_gate", "apply"),
                ("apply_patch", "saved"),
                ("verify_ready", "told"),
                ("verifying", "fail"),
                ("verify_report", "told"),
            ],
            &["proposed", "applied", "stopped"],
            "verify_gate",
        ),
    ];
    for (row, events, states, at) in rows {
        let mut walk = second_gate();
        for (stage, what) in events {
            if *stage == "patch_gate" {
                walk.answers(stage, what);
            } else {
                walk.says(stage, *what);
            }
        }
        assert_eq!(autofix_records(&walk), states, "{row}");
        assert_eq!(walk.at(), [at], "{row}");
    }
}

/// "Apply patch" / "Reject" / "Stop", with the seed's descriptions, and the confidence.
#[test]
fn the_second_gate_offers_the_seeds_options() {
    let walk = second_gate();
    let offered = [
        (
            "Apply patch",
            "Apply the proposed diff and re-run Layer 1 verification (retry counter unchanged)",
        ),
        ("Reject", "Discard proposal, return to previous gate (Auto-fix option hidden)"),
        ("Stop", "Halt for manual intervention"),
    ];
    assert_eq!(choices(&walk, "patch_gate"), offered.map(|(l, a)| (l.into(), a.into())));
    // "[If confidence == Low: ⚠ …]"; what nobody said is Unknown, and that warns too.
    for (confidence, warns) in [
        (Some("High"), Some(false)),
        (Some("Medium"), Some(false)),
        (Some("Low"), Some(true)),
        (Some("Unknown"), Some(false)),
        (None, None),
    ] {
        let mut walk = first_gate(&[]);
        walk.answers("verify_gate", "autofix");
        walk.says("propose", confidence.map_or(Saying::new("written"), proposal));
        walk.says("patch_check", "usable");
        let concerns = walk.run().gates()[0].concerns.clone();
        assert_eq!(concerns, [("lowConfidence".to_owned(), warns)], "{confidence:?}");
    }
}

/// I1: an interruption between dispatch and the second gate does not consume the once-only right:
/// the run is never back at the first gate without a decision.
#[test]
fn i1_an_interruption_decides_nothing() {
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "autofix");
    for _ in 0..3 {
        walk.says("propose", "crashed");
    }
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)));
    walk.wishes(Wish::Resume(None));
    assert_eq!(walk.at(), ["propose"], "the attempt goes on");
    walk.says("propose", proposal("High"));
    assert_eq!(autofix_records(&walk), ["proposed"]);
    walk.says("patch_check", "usable");
    stops_at(&mut walk, "patch_gate");
    assert_eq!(autofix_records(&walk), ["proposed"], "Stop is undecided");
    walk.answers("patch_gate", "apply");
    assert!(walk.is_at("apply_patch"));
}

/// I2: visible only before the first attempt of the session; no round gives it back.
#[test]
fn i2_the_option_is_there_once_a_session() {
    assert!(offers_autofix(&first_gate(&[])));
    let mut walk = second_gate();
    walk.answers("patch_gate", "reject");
    assert!(!offers_autofix(&walk), "rejected");
    assert!(walk.try_answer("verify_gate", "autofix").is_err());
    walk.answers("verify_gate", "manual").on_to("verify_gate", &fails());
    assert!(!offers_autofix(&walk), "nor after a manual fix");
    walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
    walk.says("evaluating", "fail_l3").on_to("qa_layer3", &[]).answers("qa_layer3", "fix");
    walk.on_to("verify_gate", &fails());
    assert!(!offers_autofix(&walk), "nor in the next round");

    // "a pass clears the record without giving the attempt back"
    let mut walk = second_gate();
    walk.answers("patch_gate", "apply").says("apply_patch", "saved").on_to("evaluating", &[]);
    walk.says("evaluating", "fail_l3").on_to("qa_layer3", &[]).answers("qa_layer3", "fix");
    let before = walk.runs("verifying");
    walk.on_to("verify_gate", &fails());
    assert!(!offers_autofix(&walk));
    assert_eq!(walk.runs("verifying") - before, 4, "the patch is forgotten: three retries as ever");
}

/// I3: on resume with a proposal on the table, the second gate and not the first.
#[test]
fn i3_a_proposal_is_presented_again() {
    let mut walk = second_gate();
    let first = walk.runs("verify_gate");
    walk.wishes(Wish::Pause).wishes(Wish::Resume(None));
    stops_at(&mut walk, "patch_gate");
    assert_eq!((walk.runs("verify_gate"), walk.runs("propose")), (first, 1));
}

/// I4: "retry counter unchanged — do NOT increment", and no automatic retry after "stopped".
#[test]
fn i4_a_failed_patch_leaves_the_retry_count_alone() {
    let mut walk = second_gate();
    assert_eq!(counter(&walk, "layer1"), Some(3));
    walk.answers("patch_gate", "apply").says("apply_patch", "saved");
    let implemented = walk.runs("implement");
    walk.says("verify_ready", "told").says("verifying", "fail").says("verify_report", "told");
    assert_eq!((counter(&walk, "layer1"), walk.runs("implement")), (Some(3), implemented));
    assert!(!offers_autofix(&walk));
    let before = walk.runs("verifying");
    walk.answers("verify_gate", "manual").on_to("verify_gate", &fails());
    assert_eq!(walk.runs("verifying") - before, 4, "what comes after the patch is judged as ever");

    // With a pass the count is as it was, too: the next failure is past its retries.
    let mut walk = second_gate();
    walk.answers("patch_gate", "apply").says("apply_patch", "saved").on_to("evaluating", &[]);
    let context = with(&walk, "evaluating", "verify_context");
    assert_eq!((counter(&walk, "layer1"), context.as_deref()), (Some(3), Some(LAYER1_PASSED)));
    walk.says("evaluating", "fail_l2").on_to("verifying", &[]).says("verifying", "fail");
    assert_eq!(walk.says("verify_report", "told").at(), ["verify_gate"]);
}

/// "Patch file is empty", "Diff path validation failed", "any hunk fails to apply": each returns to
/// the gate with Auto-fix hidden; the patch was applied whole or not at all.
#[test]
fn a_patch_that_cannot_be_applied_counts_as_rejected() {
    let rows: [(&str, Steps); 4] = [
        ("no file at all", &[("propose", "no_output")]),
        ("empty or no diff block", &[("propose", "written"), ("patch_check", "empty")]),
        (
            "path refused, or a hunk failed",
            &[("propose", "written"), ("patch_check", "usable"), ("apply_patch", "refused")],
        ),
        (
            "nothing changed",
            &[("propose", "written"), ("patch_check", "usable"), ("apply_patch", "nothing")],
        ),
    ];
    for (row, events) in rows {
        let mut walk = first_gate(&[]);
        walk.answers("verify_gate", "autofix");
        let verified = walk.runs("verifying");
        for (stage, says) in events {
            if *stage == "apply_patch" {
                walk.answers("patch_gate", "apply");
            }
            walk.says(stage, *says);
        }
        assert!(!offers_autofix(&walk), "{row}");
        assert_eq!(autofix_records(&walk), ["proposed", "rejected"], "{row}");
        assert_eq!(walk.runs("verifying"), verified, "{row}: there is nothing to verify");
    }
}

/// A patch that leaves nothing to check is not remembered as unverified either.
#[test]
fn a_patch_that_leaves_no_checks_is_settled() {
    let mut walk = second_gate();
    walk.answers("patch_gate", "apply").says("apply_patch", "saved");
    walk.says("verify_ready", "told").says("verifying", "skipped").on_to("evaluating", &[]);
    walk.says("evaluating", "fail_l3").on_to("qa_layer3", &[]).answers("qa_layer3", "fix");
    walk.on_to("verifying", &[]).says("verifying", "fail").says("verify_report", "told");
    assert_eq!(walk.at(), ["implement_standard"]);
}

/// "non-standard return → confidence: Unknown": the patch itself is looked at all the same.
#[test]
fn an_unreadable_proposal_is_looked_at() {
    let mut walk = first_gate(&[]);
    walk.answers("verify_gate", "autofix").says("propose", "unknown");
    assert_eq!(walk.at(), ["patch_check"]);
    assert_eq!(walk.says("patch_check", "usable").at(), ["patch_gate"]);
}

/// A rejected proposal still leaves every other way open.
#[test]
fn the_gate_goes_on_without_auto_fix() {
    let mut walk = second_gate();
    walk.answers("patch_gate", "reject");
    assert_eq!(walk.options("verify_gate"), ["continue", "manual", "stop", "other"]);
    assert_eq!(last_record(&walk), "autofix:rejected");
    walk.answers("verify_gate", "continue").on_to("evaluating", &[]);
    let context = with(&walk, "evaluating", "verify_context");
    assert_eq!(context.as_deref(), Some(LAYER1_FAILED));
}
