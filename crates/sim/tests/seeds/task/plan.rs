//! Conventions, discovery notes, the planning panels, and the hard gate on the spec.

use windlass_core::run::{
    Answer, EffectKind, Input, PanelPhase, Refused, Settings, StandingPolicy, Start, Target, Wish,
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, begin, choices, fresh, given, last_record, roles_until, stops_at};

/// "rich → skip scan", "sparse / missing → proceed to scan Q&A", a persisted copy skips all three.
#[test]
fn the_convention_scan_asks_unless_there_is_something() {
    let rows = [
        ("rich", "discovery"),
        ("persisted", "discovery"),
        ("live", "discovery"),
        ("settled", "discovery"),
        ("sparse", "ask_scan"),
        ("missing", "ask_scan"),
    ];
    for (verdict, at) in rows {
        let mut walk = Walk::new(&FLOW, &[]);
        walk.on_to("conventions", &[given()]).says("conventions", verdict);
        assert_eq!(walk.at(), [at], "{verdict}");
    }
}

#[track_caller]
fn asked_to_scan() -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.on_to("conventions", &[given()]).says("conventions", "missing");
    walk
}

/// "Scan" / "Skip", and "Retry → re-dispatch sub-agent (max 2 retries)" / "Skip" when the file is
/// not there.
#[test]
fn a_scan_whose_file_is_missing_is_retried_twice_at_most() {
    let mut walk = asked_to_scan();
    assert_eq!(walk.options("ask_scan"), ["scan", "skip", "other"]);
    walk.answers("ask_scan", "skip");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["discovery".into()], "conventions_skipped".into())
    );

    let mut walk = asked_to_scan();
    walk.answers("ask_scan", "scan").says("scan", "written");
    assert_eq!(walk.at(), ["discovery"]);

    let mut walk = asked_to_scan();
    walk.answers("ask_scan", "scan");
    for retry in 1..=2 {
        walk.says("scan", "no_output");
        assert_eq!(walk.options("scan_failed"), ["retry", "skip", "other"], "retry {retry}");
        walk.answers("scan_failed", "retry");
    }
    walk.says("scan", "no_output");
    assert_eq!(
        (walk.options("scan_failed"), walk.runs("scan")),
        (vec!["skip".into(), "other".into()], 3)
    );
    walk.answers("scan_failed", "skip");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["discovery".into()], "conventions_skipped".into())
    );
}

/// Discovery notes: "File missing → silent", "read fails → warn … do NOT abort the dispatch"; they
/// reach "ONLY the initial proposal dispatch".
#[test]
fn discovery_notes_never_hold_anything_up() {
    for verdict in ["loaded", "missing", "unreadable"] {
        let mut walk = fresh(&[], "discovery");
        assert_eq!(walk.says("discovery", verdict).at(), ["plan_standard"; 2], "{verdict}");
    }
    for (mode, stage) in
        [("single", "plan_single"), ("standard", "plan_standard"), ("multi", "plan_multi")]
    {
        let walk = fresh(&[("mode", mode)], stage);
        let sees = walk.find(stage).map(|(_, effect)| effect.sees).unwrap_or_default();
        assert_eq!(sees, ["conventions", "qa_notes.md", "critic_findings.md"], "{mode}");
    }
    for stage in FLOW.stages.iter().filter(|stage| !stage.name.starts_with("plan_")) {
        assert!(!stage.sees.contains(&"qa_notes.md".to_owned()), "{}", stage.name);
    }
}

/// Who plans in which mode: "single: Dispatch 1", "standard: 2 in parallel … synthesis_standard",
/// "multi: 3 in parallel, cross-critique, synthesis".
#[test]
fn who_plans_in_which_mode() {
    let rows: [(&str, &[&str]); 3] = [
        ("single", &["planner-single"]),
        ("standard", &["architect", "senior-developer", "synthesis-standard"]),
        (
            "multi",
            &[
                "architect",
                "senior-developer",
                "qa-specialist",
                "cross-critique",
                "cross-critique",
                "cross-critique",
                "synthesis",
            ],
        ),
    ];
    for (mode, roles) in rows {
        let mut walk = fresh(&[("mode", mode)], "discovery");
        assert_eq!(roles_until(&mut walk, "spec_gate"), roles, "{mode}");
        assert_eq!(walk.runs("plan_result"), 1, "{mode}: [harness] Plan complete.");
    }
}

/// How many work at once in each part: proposals together, then all critiques, then one synthesis.
#[test]
fn members_work_in_parallel_and_independently() {
    use PanelPhase::{Critique, Propose, Synthesise};
    let parts = |mode: &str, stage: &str| {
        let mut walk = fresh(&[("mode", mode)], stage);
        let mut parts = Vec::new();
        while walk.is_at(stage) {
            let wants = walk.run().wants();
            let phases: Vec<PanelPhase> = wants
                .values()
                .filter_map(|effect| match &effect.kind {
                    EffectKind::Invoke { panel: Some((phase, _)), .. } => Some(*phase),
                    _ => None,
                })
                .collect();
            parts.extend(phases.first().map(|phase| (*phase, phases.len())));
            for phase in phases {
                walk.says(stage, if phase == Critique { "written" } else { "generated" });
            }
        }
        parts
    };
    assert_eq!(parts("standard", "plan_standard"), [(Propose, 2), (Synthesise, 1)]);
    assert_eq!(parts("multi", "plan_multi"), [(Propose, 3), (Critique, 3), (Synthesise, 1)]);
}

/// "Proceed" / "Modify" / "Stop", with the seed's descriptions, and "Only Proceed advances."
#[test]
fn only_proceed_advances() {
    let offered = [
        ("Proceed", "Start implementation as specified"),
        ("Modify", "Edit the spec, then re-confirm"),
        ("Stop", "Halt the workflow"),
    ];
    let walk = fresh(&[], "spec_gate");
    assert_eq!(choices(&walk, "spec_gate"), offered.map(|(l, a)| (l.into(), a.into())));

    let mut walk = fresh(&[], "spec_gate");
    walk.answers("spec_gate", "proceed");
    assert_eq!(
        (walk.at(), last_record(&walk)),
        (vec!["lead_plan".into()], "spec_confirmed".into())
    );
    stops_at(&mut fresh(&[], "spec_gate"), "spec_gate");

    let answers: [(&str, Option<&str>, Option<&str>); 3] = [
        ("words", None, Some("looks fine")),
        ("silence", None, None),
        ("nonsense", Some("ok"), None),
    ];
    for (row, option, text) in answers {
        let mut walk = fresh(&[], "spec_gate");
        let gate = walk.run().gates()[0].id;
        let _ = walk.give(Input::Answer(Answer {
            gate,
            option: option.map(str::to_owned),
            text: text.map(str::to_owned),
            who: "me".into(),
            shown: "digest".into(),
            subject: None,
        }));
        assert_eq!(walk.at(), ["spec_gate"], "{row} is no Proceed");
    }
    let mut walk = fresh(&[], "spec_gate");
    walk.waits(30 * 24 * 3_600_000);
    assert_eq!((walk.at(), walk.exit_code()), (vec!["spec_gate".into()], Some(8)), "nor is time");
}

/// "If Modify: update spec.md and re-present."
#[test]
fn modify_reads_the_spec_again_and_asks_again() {
    let modified = || {
        let mut walk = fresh(&[], "spec_gate");
        walk.answers("spec_gate", "modify");
        assert_eq!(
            (walk.at(), last_record(&walk)),
            (vec!["edit_spec".into()], "spec_modified".into())
        );
        walk
    };
    let mut walk = modified();
    walk.answers("edit_spec", "edited").says("reread_spec", "found");
    assert_eq!(walk.at(), ["spec_gate"]);
    let mut walk = modified();
    walk.answers("edit_spec", "other")
        .says("spec_now", "found")
        .says("revise_spec", "generated")
        .says("reread_spec", "found");
    assert_eq!((walk.at(), walk.runs("plan_standard")), (vec!["spec_gate".into()], 1));
    let mut walk = modified();
    walk.answers("edit_spec", "edited").says("reread_spec", "missing");
    assert_eq!(walk.at(), ["edit_spec"], "there must be a spec to confirm");
    let mut walk = modified();
    walk.answers("edit_spec", "stop");
    assert_eq!((walk.exit_code(), last_record(&walk)), (Some(5), "halted".into()));
    assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["spec_gate"]);
}

/// T7: in our own run Proceed is on record until the spec changes.
#[test]
fn proceed_is_on_record_for_the_spec_as_it_is() {
    let again = |walk: &mut Walk<'static>| {
        let target = Target::Unit("the-task".into());
        walk.wishes(Wish::Redo { target, stage: "generate_entry".into() });
        if walk.is_at("reread_spec") {
            walk.says("reread_spec", "found");
        }
        walk.at()
    };
    let mut walk = fresh(&[], "spec_gate");
    assert_eq!(again(&mut walk), ["spec_gate"], "not yet");
    walk.answers("spec_gate", "proceed");
    assert_eq!(again(&mut walk), ["lead_plan"], "'generate' asks no second time");
    let target = Target::Unit("the-task".into());
    walk.says("lead_plan", "written");
    walk.wishes(Wish::Redo { target: target.clone(), stage: "spec_gate".into() });
    walk.answers("spec_gate", "proceed");
    assert_eq!(walk.at(), ["lead_plan"], "a second Proceed is as good as the first");
    walk.says("lead_plan", "written");
    walk.wishes(Wish::Redo { target: target.clone(), stage: "spec_gate".into() });
    walk.answers("spec_gate", "modify");
    assert_eq!(again(&mut walk), ["spec_gate"], "a modified spec is confirmed anew");

    let mut walk = fresh(&[], "lead_plan");
    walk.says("lead_plan", "written");
    walk.wishes(Wish::Redo { target, stage: "discovery".into() }).on_to("spec_gate", &[]);
    assert_eq!(again(&mut walk), ["spec_gate"], "and so is a new one");
}

/// "Confirmation gates are non-negotiable. No implicit approval.": a policy on a hard gate is
/// refused at the start.
#[test]
fn no_policy_answers_a_hard_gate() {
    let refused = |stage: &str, answer: &str| {
        let policy =
            StandingPolicy { name: "night".into(), stage: stage.into(), answer: answer.into() };
        let settings = Settings { policies: vec![policy], ..Settings::default() };
        match Walk::begin(&FLOW, Start { settings, ..Start::default() }) {
            Err(Refused::BadPolicy { why, .. }) => why,
            Err(_) => "something else",
            Ok(_) => "taken",
        }
    };
    let hard = "only a person may answer a hard gate";
    let person = "overriding evidence or giving a reason is for a person";
    let rows = [
        ("spec_gate", "proceed", hard),
        ("spec_gate", "stop", hard),
        ("verify_gate", "continue", hard),
        ("verify_gate", "autofix", hard),
        ("patch_gate", "apply", hard),
        ("limits_gate", "allow", hard),
        ("take_its_word", "accept", hard),
        ("remove_gate", "yes", hard),
        ("qa_layer2", "accept", person),
        ("qa_layer3", "accept", person),
        ("rounds_spent", "complete", person),
        ("ask_scan", "skip", "taken"),
    ];
    for (stage, answer, why) in rows {
        assert_eq!(refused(stage, answer), why, "{stage}: {answer}");
    }
}

/// Thin returns: "generated" and "written" go on; anything else is Unknown and never a pass.
#[test]
fn an_unreadable_return_is_tried_again_and_then_surfaces() {
    let mut walk = fresh(&[("mode", "single")], "plan_single");
    for _ in 0..2 {
        walk.says("plan_single", "The spec looks generated to me");
        assert_eq!(walk.at(), ["plan_single"]);
    }
    walk.says("plan_single", Saying::new("unknown"));
    assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(3)));
    let mut walk = begin(&[("mode", "single")], None, &[]);
    walk.on_to("plan_single", &[])
        .says("plan_single", "no_output")
        .says("plan_single", "generated");
    assert!(walk.is_at("plan_result"));
}
