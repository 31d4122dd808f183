//! Generate: who works in which mode, and the limits of a change.

use super::{LAYER1_PASSED, MODES, fresh, last_record, roles_until, stops_at, with};

/// "single: Dispatch 1 sub-agent", "standard: 4a lead, 4b combined advisor, 4c implementation",
/// "multi: 4b two advisors in parallel".
#[test]
fn who_generates_in_which_mode() {
    let rows: [(&str, &[&str]); 3] = [
        ("single", &["generator-single"]),
        ("standard", &["lead-developer", "combined-advisor", "implementation-standard"]),
        (
            "multi",
            &["lead-developer", "code-quality-advisor", "test-stability-advisor", "implementation"],
        ),
    ];
    for (mode, roles) in rows {
        let mut walk = fresh(&[("mode", mode)], "spec_gate");
        walk.answers("spec_gate", "proceed");
        assert_eq!(roles_until(&mut walk, "verify_ready"), roles, "{mode}");
    }
    let walk = fresh(&[("mode", "multi")], "advise_multi");
    assert_eq!(walk.at(), ["advise_multi"; 2], "both advisors at once");
}

#[test]
fn advisors_must_agree_that_they_have_written() {
    let mut walk = fresh(&[("mode", "multi")], "advise_multi");
    walk.says("advise_multi", "written").says("advise_multi", "no_output");
    assert_eq!(walk.at(), ["advise_multi"], "only the one without a file");
    assert_eq!(walk.says("advise_multi", "written").at(), ["implement_multi"]);
}

/// What reaches the generator: scope, max_files, round.
#[test]
fn the_generator_is_told_its_limits() {
    let inputs = |mode| [("mode", mode), ("scope", "src/"), ("max_files", "7")];
    for (mode, stage) in [
        ("single", "implement_single"),
        ("standard", "implement_standard"),
        ("multi", "implement_multi"),
    ] {
        let walk = fresh(&inputs(mode), stage);
        let told = ["scope", "max_files", "round"].map(|name| with(&walk, stage, name));
        assert_eq!(told.map(Option::unwrap_or_default), ["src/", "7", "1"], "{mode}");
    }
    let walk = fresh(&inputs("standard"), "limits");
    assert_eq!(with(&walk, "limits", "max_files").as_deref(), Some("7"));
}

/// "Stay within scope" is enforced: three automatic attempts to bring the change back, then a person.
#[test]
fn a_change_beyond_its_limits_is_sent_back_and_then_asked_about() {
    for mode in MODES {
        let mut walk = fresh(&[("mode", mode)], "limits");
        for _ in 0..3 {
            walk.says("limits", "fail");
            let implementer = format!("implement_{mode}");
            assert_eq!(walk.at(), [implementer.as_str()], "{mode}: the implementation role alone");
            walk.says(&implementer, "changed");
        }
        walk.says("limits", "fail");
        assert_eq!(walk.options("limits_gate"), ["allow", "manual", "stop", "other"], "{mode}");
        assert_eq!(walk.runs("lead_plan"), usize::from(mode != "single"), "no new plan");
    }
}

/// "Never skip phases. Always Plan → Generate → Verify → Evaluate.": whatever a person says about
/// the limits, the change is verified before it is evaluated.
#[test]
fn a_lifted_limit_still_leads_to_verify() {
    let mut walk = beyond_limits();
    walk.answers("limits_gate", "allow");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["generate_result".into()], "limits_lifted".into())
    );
    walk.on_to("evaluating", &[]);
    assert_eq!(walk.runs("verifying"), 1);
    assert_eq!(with(&walk, "evaluating", "verify_context").as_deref(), Some(LAYER1_PASSED));

    let mut walk = beyond_limits();
    walk.answers("limits_gate", "manual");
    assert_eq!((walk.at(), last_record(&walk)), (vec!["limits".into()], "fixed_manually".into()));
    assert_eq!(walk.says("limits", "fail").at(), ["implement_standard"], "with three new attempts");
    stops_at(&mut beyond_limits(), "limits_gate");
}

#[track_caller]
fn beyond_limits() -> windlass_sim::Walk<'static> {
    let mut walk = fresh(&[], "limits");
    for _ in 0..3 {
        walk.says("limits", "fail").says("implement_standard", "changed");
    }
    walk.says("limits", "fail");
    walk
}

/// The limits' budget is their own: layer 1 still has all of its retries, and it does not touch theirs.
#[test]
fn limits_and_layer_1_count_apart() {
    let mut walk = fresh(&[], "limits");
    for _ in 0..3 {
        walk.says("limits", "fail").says("implement_standard", "changed");
    }
    walk.says("limits", "pass").on_to("verify_gate", &super::fails());
    assert_eq!((walk.runs("verifying"), walk.runs("implement_standard")), (4, 7));
}

#[test]
fn a_project_without_limits_to_check_goes_on() {
    for verdict in ["pass", "skipped"] {
        assert_eq!(fresh(&[], "limits").says("limits", verdict).at(), ["generate_result"]);
    }
}
