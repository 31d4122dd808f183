//! One feature: the decisions, attempts, steps after a validator's pass (M4, M5, M6, M7).

use windlass_core::{
    run::EffectKind,
    workflow::{Errand, Land},
};
use windlass_sim::Walk;

use super::{ONE, TWO, mission};
use crate::script::{row, status};

const PROVED: &str = "worker:built prove:pass";

#[test]
fn each_of_the_seven_decisions_is_reached_and_recorded() {
    let after = |steps: &str| format!("{ONE} {steps}");
    mission().holds([
        row("NEXT_WORKER <fid> → invoke worker(fid)", ONE).at("worker").records("NEXT_WORKER"),
        row("NEXT_VALIDATOR <f> → invoke validator(f)", after(PROVED))
            .at("validator")
            .records("NEXT_WORKER NEXT_VALIDATOR"),
        row("NEXT_ARCHITECT <f>: the worker reports an ambiguity", after("worker:ambiguous"))
            .at("architect")
            .records("NEXT_WORKER NEXT_ARCHITECT"),
        row("NEXT_ARCHITECT <f>: the validator does", after(PROVED) + " validator:ambiguous")
            .at("architect")
            .records("NEXT_WORKER NEXT_VALIDATOR NEXT_ARCHITECT"),
        row("CONVERTED: issues promoted to F-FIX-* features", {
            after(PROVED) + " validator:issues,issues=F-FIX-1"
        })
        .records("NEXT_WORKER NEXT_VALIDATOR CONVERTED")
        .units("F-FIX-1=pending"),
        row("CHECKPOINT <name> → write checkpoint file, exit 8", after(">"))
            .with("checkpoints", "pre-done")
            .tells("checkpoint-file"),
        row("CHECKPOINT <name>: recorded", after(">done_grant"))
            .with("checkpoints", "pre-done")
            .records("NEXT_WORKER NEXT_VALIDATOR CHECKPOINT")
            .exits(8),
        row("ESCALATE <reason> → escalation.md, curator, exit 3", {
            after("worker:ambiguous architect:unresolved >")
        })
        .records("NEXT_WORKER NEXT_ARCHITECT unresolved ESCALATE")
        .passes("escalation curator")
        .tells("escalation")
        .exits(3),
        row("DONE → …; exit 0", after(">"))
            .records("NEXT_WORKER NEXT_VALIDATOR DONE")
            .passes("final_contract all_done curator final_document")
            .exits(0),
    ]);
}

#[test]
fn the_exits_of_the_loop() {
    let rejected = "queue:missing plan:planned check_plan:found plan_review:reject >";
    mission().holds([
        row("exit 0", format!("{ONE} >")).exits(0),
        row("exit 3", format!("{ONE} worker:ambiguous architect:unresolved >")).exits(3),
        row("exits 7", rejected).exits(7),
        row("exit 8", format!("{ONE} >done_grant")).with("checkpoints", "pre-done").exits(8),
        row("while iteration < MAX", format!("{ONE} worker:built prove:pass >"))
            .with("max_iterations", "1")
            .exits(4),
    ]);
}

/// Iterations until the cap ends the run: worker and architect in turn, for ever.
fn iterations(walk: &mut Walk<'_>) -> usize {
    while walk.is_at("worker") || walk.is_at("architect") {
        if walk.is_at("worker") {
            walk.says("worker", "ambiguous");
        } else {
            walk.says("architect", "resolved");
        }
    }
    walk.runs("worker") + walk.runs("validator") + walk.runs("architect")
}

#[test]
fn the_iteration_cap_is_six_times_the_features_unless_it_is_given() {
    let cases = [
        ("0", ONE, 6, "one feature"),
        ("0", TWO, 12, "two features"),
        ("4", ONE, 4, "given"),
        ("9", TWO, 9, "given"),
    ];
    for (given, queue, cap, why) in cases {
        let script = mission();
        let mut walk = script.play(&[("max_iterations", given)], queue);
        assert_eq!(iterations(&mut walk), cap, "while iteration < MAX: {why}");
        assert_eq!(walk.records().last().map(String::as_str), Some("iteration_cap"));
        script.go_on(&mut walk, ">");
        assert_eq!(walk.exit_code(), Some(4), "reaching a cap: {why}");
        assert_eq!((walk.runs("curator"), walk.runs("all_done")), (0, 0));
    }
}

#[test]
fn every_invocation_of_the_loop_is_an_iteration() {
    let capped = |cap: &'static str, steps: &str, at: &'static str| {
        row("while iteration < MAX", format!("{ONE} {steps}")).with("max_iterations", cap).at(at)
    };
    mission().holds([
        capped("1", PROVED, "cut_off"),
        capped("2", PROVED, "validator"),
        capped("1", "worker:ambiguous", "cut_off"),
        capped("2", "worker:ambiguous", "architect"),
        capped("1", "worker:failed", "cut_off"),
        capped("2", "worker:failed", "worker"),
    ]);
}

#[test]
fn only_the_configured_steps_run_after_a_validators_pass() {
    let all = "smoke,ui-qa,crosscheck,documenter";
    mission().holds([
        row("optional", format!("{ONE} >"))
            .with("steps", "")
            .passes("validator merge")
            .never("ui_qa crosscheck document final_smoke"),
        row("optional smoke", format!("{ONE} >"))
            .with("steps", "smoke")
            .passes("validator merge final_smoke")
            .never("ui_qa crosscheck document"),
        row("+ ui-qa", format!("{ONE} >"))
            .with("steps", "ui-qa")
            .passes("validator ui_qa merge")
            .never("crosscheck document"),
        row("+ crosscheck", format!("{ONE} >"))
            .with("steps", "crosscheck")
            .passes("validator crosscheck merge")
            .never("ui_qa document"),
        row("+ documenter", format!("{ONE} >"))
            .with("steps", "documenter")
            .passes("validator document prove validator merge")
            .never("ui_qa crosscheck"),
        row("all of them", format!("{ONE} >"))
            .with("steps", all)
            .passes("validator document validator ui_qa crosscheck merge"),
        row("if pass →: not before it", format!("{ONE} {PROVED} validator:fail worker:built"))
            .with("steps", all)
            .never("document ui_qa crosscheck"),
    ]);
    for (steps, smoke) in [("", "none"), ("ui-qa", "none"), ("smoke", "detected")] {
        let script = mission();
        let walk = script.play(&[("steps", steps)], &format!("{ONE} >merge"));
        let effect = walk.find("merge").map(|(_, effect)| effect).expect("under way");
        let proof = ["smoke", "build", "test", "lint", "type-check", "contract"]
            .map(str::to_owned)
            .to_vec();
        let (how, label, keep) = (Land::Merge, None, vec![]);
        let lands = EffectKind::Errand(Errand::Land { how, label, keep, proof });
        assert_eq!(effect.kind, lands, "what lands is proved as it lands");
        assert_eq!(effect.with.get("smoke"), Some(&smoke.into()), "{steps}");
    }
}

#[test]
fn the_documents_land_with_their_feature_and_are_looked_at_first() {
    let documented = format!("{ONE} {PROVED} validator:pass document:written");
    mission().holds([
        row("documenter: what it wrote is proved", documented.clone())
            .with("steps", "documenter")
            .at("prove"),
        row("… validated", format!("{documented} prove:pass"))
            .with("steps", "documenter")
            .at("validator")
            .never("merge"),
        row("… and merged, once", format!("{documented} >"))
            .with("steps", "documenter")
            .units("F-1=done")
            .exits(0),
        row("nothing to write: the validator's word is on what it saw", {
            format!("{ONE} {PROVED} validator:pass document:nothing")
        })
        .with("steps", "documenter")
        .at("validator"),
        row("… and it is not asked again", {
            format!("{ONE} {PROVED} validator:pass document:nothing validator:pass")
        })
        .with("steps", "documenter")
        .at("merge"),
        row("a feature that is tried again is not documented again", {
            format!("{documented} prove:pass validator:fail worker:built prove:pass validator:pass")
        })
        .with("steps", "documenter")
        .at("merge"),
    ]);
    let script = mission();
    let walk = script.play(&[("steps", "documenter")], &format!("{documented} >"));
    assert_eq!((walk.runs("document"), walk.runs("merge")), (1, 1));
}

#[test]
fn a_step_that_fails_sends_the_feature_back_to_its_worker() {
    let failing = |steps: &'static str, which: &'static str| {
        row("on fail: retained for retry", format!("{ONE} {PROVED} >{which} {which}:fail"))
            .with("steps", steps)
            .at("worker")
            .units("F-1=started")
    };
    mission().holds([
        failing("ui-qa", "ui_qa"),
        failing("crosscheck", "crosscheck"),
        failing("smoke", "merge"),
        failing("", "merge"),
        row("C15: no checks is SKIPPED, not FAIL", format!("{ONE} worker:built prove:skipped"))
            .at("validator"),
        row("… and before the validator is paid for", format!("{ONE} worker:built prove:fail"))
            .at("worker")
            .never("validator"),
    ]);
}

#[test]
fn whatever_sends_a_feature_back_counts_as_an_attempt_and_is_told_to_the_next() {
    let cases = [
        ("", "worker:failed", true),
        ("", "worker:built prove:fail", true),
        ("", "worker:built prove:pass validator:fail", true),
        ("ui-qa", ">ui_qa ui_qa:fail", false),
        ("crosscheck", ">crosscheck crosscheck:fail", false),
        ("smoke", ">merge merge:fail", true),
        ("", ">merge merge:fail", true),
    ];
    for (steps, fails, widens) in cases {
        let script = mission();
        let inputs = [("steps", steps), ("max_attempts", "1")];
        let mut walk = script.play(&inputs, &format!("{ONE} {fails}"));
        let context = walk.find("worker").and_then(|(_, effect)| effect.context);
        assert_eq!(context.as_deref(), widens.then_some("what failed"), "{fails}");
        script.go_on(&mut walk, &format!("{fails} housekeeping:told"));
        assert_eq!(walk.at(), ["escalation"], "attempts: {fails}");
    }
    let script = mission();
    let issues = "validator:issues,issues=F-FIX-1";
    let first = format!("{PROVED} {issues} merge:landed housekeeping:told");
    let again = format!("{PROVED} validator:issues,issues=F-FIX-2");
    let inputs = [("max_attempts", "1"), ("max_iterations", "99")];
    let last = "housekeeping:told still_there:all";
    let walk = script.play(&inputs, &format!("{ONE} {first} {again} {again} {last}"));
    assert_eq!(walk.at(), ["escalation"], "the issues of a fix");
}

#[test]
fn attempts_are_counted_and_then_it_escalates() {
    let script = mission();
    for (given, most) in [("3", 3), ("1", 1), ("5", 5)] {
        let inputs = [("max_attempts", given), ("max_iterations", "100")];
        let mut walk = script.play(&inputs, ONE);
        let mut context = Vec::new();
        for attempt in 1..=most {
            script.go_on(&mut walk, "worker:built prove:pass validator:fail");
            assert_eq!(walk.at(), ["worker"], "attempts: {attempt} of {most}");
            let effect = walk.find("worker").map(|(_, effect)| effect).expect("under way");
            assert_eq!(effect.with.get("attempt"), Some(&i64::from(attempt).into()));
            context.extend(effect.context);
        }
        assert_eq!(context.len(), most as usize, "every attempt knows more than the one before");
        script.go_on(&mut walk, "worker:built prove:pass validator:fail");
        assert_eq!(walk.records().last().map(String::as_str), Some("stuck"));
        script.go_on(&mut walk, ">escalation");
        assert_eq!(walk.records().last().map(String::as_str), Some("ESCALATE"));
        script.go_on(&mut walk, ">");
        assert_eq!((walk.exit_code(), walk.runs("merge")), (Some(3), 0));
    }
}

#[test]
fn a_stuck_feature_holds_itself_and_its_dependents_and_the_others_go_on() {
    let queue = "queue:found features:found,features=a+b<a+c";
    let stuck = "worker:failed worker:failed housekeeping:told";
    mission().holds([
        row("nothing else waits for it", format!("{queue} {stuck}"))
            .with("max_attempts", "1")
            .at("worker")
            .units("a=failed b=blocked c=started"),
        row("the mission escalates when nothing else can run", format!("{queue} {stuck} >"))
            .with("max_attempts", "1")
            .units("a=failed b=blocked c=done")
            .passes("merge escalation curator")
            .exits(3),
    ]);
}

#[test]
fn what_a_person_has_set_to_passed_is_on_record_and_nobody_works_on_it() {
    mission().holds([
        row("a recorded override", format!("{TWO} look:passed >"))
            .records("override NEXT_WORKER NEXT_VALIDATOR DONE")
            .units("F-1=done F-2=done")
            .exits(0),
        row("left out", format!("{TWO} look:skipped >")).units("F-1=skipped F-2=done").exits(0),
    ]);
}

#[test]
fn what_a_person_adds_meanwhile_is_taken_up() {
    let more = "housekeeping:told requeue:edited,features=F-9";
    mission().holds([row("the queue", format!("{ONE} >housekeeping {more} >"))
        .units("F-1=done F-9=done")
        .exits(0)]);
}

#[test]
fn what_a_person_changes_at_a_checkpoint_is_taken_up_before_the_next_begins() {
    let script = mission();
    let mut walk =
        script.play(&[("checkpoints", "post-feature")], &format!("{TWO} >feature_grant"));
    walk.answers("feature_grant", "grant");
    assert_eq!(walk.at(), ["requeue"]);
    script.go_on(&mut walk, "requeue:edited,features=F-9 >worker");
    assert_eq!(status(&walk, "F-9"), "pending");
}

#[test]
fn the_curator_is_asked_after_every_tenth_landing() {
    let due = "housekeeping:told curation:due";
    mission().holds([row("curator", format!("{TWO} >housekeeping {due}")).at("curate")]);
}

#[test]
fn a_plan_may_be_all_that_is_wanted() {
    mission().holds([
        row(
            "plan only",
            "queue:missing plan:planned check_plan:found plan_review:accept outlook:told",
        )
        .with("plan_only", "true")
        .exits(0)
        .never("worker features"),
        row("a queue that is there", "queue:found outlook:told").with("plan_only", "true").exits(0),
    ]);
}

#[test]
fn a_person_who_wants_it_reworked_gives_new_attempts() {
    let failed = format!("{PROVED} validator:fail");
    let reworked = format!("{ONE} {failed} >merge_grant merge_grant:rework {failed}");
    let row = row("attempts", reworked).with("max_attempts", "1").with("max_iterations", "99");
    mission().holds([row.with("checkpoints", "pre-merge").at("worker")]);
}

#[test]
fn an_attempt_keeps_its_lane_and_what_is_in_it() {
    let script = mission();
    let mut walk = script.play(&[("lanes", "2")], TWO);
    let lane = |walk: &Walk<'_>| walk.find("worker").map(|(_, effect)| effect.lane);
    let first = lane(&walk);
    script.go_on(&mut walk, "worker:built worker:built prove:pass validator:fail");
    assert_eq!(lane(&walk), first, "On fail: worktree is retained for retry");
    let built = walk.find("worker").and_then(|(_, effect)| effect.subject);
    assert!(built.is_some_and(|subject| subject.tree.as_ref() == "tree-1"), "with its work");
}

#[test]
fn what_the_architect_resolved_reaches_the_next_attempt() {
    let validated = format!("{ONE} {PROVED} validator:ambiguous architect:resolved");
    mission().holds([
        row("invoke architect to resolve ambiguity", format!("{ONE} worker:ambiguous"))
            .at("architect"),
        row("resolved: the worker", format!("{ONE} worker:ambiguous architect:resolved"))
            .at("worker")
            .records("NEXT_WORKER NEXT_ARCHITECT NEXT_WORKER"),
        row("resolved: what was ambiguous to the validator is built anew", validated).at("worker"),
        row("unresolved", format!("{ONE} worker:ambiguous architect:unresolved >escalation"))
            .at("escalation")
            .records("NEXT_WORKER NEXT_ARCHITECT unresolved ESCALATE"),
    ]);
    let script = mission();
    let steps = format!("{ONE} worker:ambiguous architect:resolved");
    let walk = script.play(&[("max_attempts", "0"), ("max_iterations", "9")], &steps);
    assert_eq!(walk.at(), ["worker"], "an ambiguity is not a failed attempt");
}

#[test]
fn issues_become_fix_features_once_and_never_from_a_fix() {
    let script = mission();
    let found = "validator:issues,issues=F-FIX-1+F-FIX-2";
    let mut walk = script.play(&[], &format!("{TWO} {PROVED} {found}"));
    for id in ["F-FIX-1", "F-FIX-2"] {
        let unit = walk.run().unit_named(id).expect("it was added");
        let link = (unit.origin.as_deref(), unit.generation);
        assert_eq!(link, (Some("F-1"), 1), "linked to its origin");
    }
    assert_eq!(walk.at(), ["merge"], "the feature goes on as after a pass");
    script.go_on(&mut walk, &format!("merge:landed >worker {PROVED} {found}"));
    assert_eq!(walk.run().tally().total, 4, "what is known is not converted again");
    script.go_on(&mut walk, &format!("merge:landed >worker {PROVED}"));
    assert_eq!(crate::script::working(&walk), "F-FIX-1");
    script.go_on(&mut walk, "validator:issues,issues=F-FIX-3");
    assert_eq!(walk.at(), ["worker"], "a fix with issues is tried again");
    assert_eq!(status(&walk, "F-FIX-3"), "absent");
    let converted = walk.records().iter().filter(|record| *record == "CONVERTED").count();
    assert_eq!(converted, 2, "once for each of the two planned features");
}

#[test]
fn what_is_not_a_verdict_never_counts_as_a_pass() {
    let rows = ["unknown", "no_output", "crashed", "timed_out"].map(|mishap| {
        let steps = format!("{ONE} {PROVED} validator:{mishap}*3");
        row("C14: an Unknown verdict never counts as a pass", steps).exits(3).never("merge")
    });
    mission().holds(rows);
    mission().holds(["unknown", "crashed"].map(|mishap| {
        let steps = format!("{ONE} {PROVED} validator:{mishap}*2");
        row("… but may be asked twice more", steps).at("validator")
    }));
    mission().holds(["context_full", "cut_short"].map(|mishap| {
        let steps = format!("{ONE} {PROVED} validator:{mishap}");
        row("… and is held where it is", steps).exits(3).never("merge")
    }));
}
