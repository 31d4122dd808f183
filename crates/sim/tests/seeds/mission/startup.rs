//! Planner, plan review, checkpoints (M1, M2, M3).

use super::{ONE, TWO, mission};
use crate::script::{resume, row};

#[test]
fn the_planner_runs_once_when_there_is_no_queue() {
    mission().holds([
        row("If .harness/features.json doesn't exist, the planner runs once", "queue:missing")
            .at("plan"),
        row(
            "… and produces features.json and validation-contract.md",
            "queue:missing plan:planned",
        )
        .at("check_plan"),
        row("it exists: no planner, no plan review", ONE)
            .at("worker")
            .never("plan check_plan plan_review")
            .records("NEXT_WORKER"),
        row("… nor its checkpoint", "queue:found features:found,features=F-1")
            .with("checkpoints", "post-planner")
            .at("worker"),
        row("… even if it cannot be", "queue:flawed")
            .with("checkpoints", "post-planner")
            .at("features"),
        row("… even if it cannot be", "queue:invalid")
            .with("checkpoints", "post-planner")
            .at("features"),
        row("the planner ran once, and never again", "queue:missing > ")
            .passes("plan check_plan plan_review features worker")
            .exits(0),
    ]);
    let script = mission();
    let walk = script.play(&[], "queue:missing >");
    assert_eq!(walk.runs("plan"), 1);
}

#[test]
fn a_plan_that_cannot_be_is_sent_back_once_and_then_escalated() {
    let twice = |how: &str| format!("queue:missing plan:planned check_plan:{how} plan:planned");
    let mut rows = Vec::new();
    for how in ["missing", "flawed", "invalid"] {
        rows.push(
            row("every claim spelled out as an assertion, or back", format!("{} ", twice(how)))
                .passes("plan check_plan plan check_plan")
                .at("check_plan"),
        );
        rows.push(
            row("… once", format!("{} check_plan:{how}", twice(how)))
                .at("escalation")
                .records("ESCALATE"),
        );
    }
    rows.push(
        row("a plan that was mended is reviewed", format!("{} check_plan:found", twice("flawed")))
            .at("plan_review"),
    );
    for how in ["missing", "flawed", "invalid"] {
        rows.push(
            row("a queue that was there and cannot be is nobody's to replan", {
                format!("queue:found features:{how} >")
            })
            .never("plan worker")
            .records("ESCALATE")
            .exits(3),
        );
    }
    mission().holds(rows);
}

#[test]
fn the_plan_reviewer_accepts_accepts_with_notes_or_rejects() {
    let reviewed = |verdict: &str| {
        format!("queue:missing plan:planned check_plan:found plan_review:{verdict}")
    };
    mission().holds([
        row("accept", reviewed("accept")).at("features").records(""),
        row("accept-with-notes", reviewed("accept_with_notes"))
            .at("features")
            .records("plan_notes"),
        row("accept-with-notes, then the checkpoint", reviewed("accept_with_notes"))
            .with("checkpoints", "post-planner")
            .at("plan_checkpoint")
            .records("plan_notes CHECKPOINT"),
        row("reject", reviewed("reject")).at("rejection").records("plan_rejected"),
        row("Reject → harness exits 7, escalation written", reviewed("reject") + " >")
            .exits(7)
            .tells("escalation")
            .never("features worker curator"),
    ]);
}

#[test]
fn each_checkpoint_writes_its_file_and_pauses_for_a_human_grant() {
    let script = mission();
    // The trigger, what comes before it, its gate, and where a grant goes on.
    let cases = [
        ("post-planner", "queue:missing", "plan_grant", "features"),
        ("pre-merge", ONE, "merge_grant", "merge"),
        ("post-feature", TWO, "feature_grant", "requeue"),
        ("pre-done", TWO, "done_grant", "still_there"),
    ];
    for (trigger, before, gate, on) in cases {
        let mut walk = script.play(&[("checkpoints", trigger)], &format!("{before} >{gate}"));
        assert_eq!(walk.at(), [gate], "{trigger}: an auto-checkpoint is fired here");
        assert_eq!(walk.exit_code(), Some(8), "{trigger}: the run pauses (write file, exit 8)");
        assert_eq!(walk.records().last().map(String::as_str), Some("CHECKPOINT"), "{trigger}");
        assert_eq!(script.told(&walk).last(), Some(&"checkpoint-file"), "{trigger}");
        walk.answers(gate, "grant");
        assert_eq!(walk.at(), [on], "{trigger}: a grant goes on");
        let records = walk.records();
        let granted = records.iter().position(|record| record == "granted");
        let checkpoint = records.iter().position(|record| record == "CHECKPOINT");
        assert_eq!(checkpoint.map(|at| at + 1), granted, "{trigger}: {records:?}");
        let fired = records.iter().filter(|record| *record == "CHECKPOINT").count();
        assert_eq!(fired, 1, "{trigger} and no other");
    }
}

#[test]
fn a_checkpoint_fires_only_where_it_is_configured() {
    let fired = |trigger: &str| {
        let script = mission();
        let start = if trigger == "post-planner" { "queue:missing" } else { TWO };
        let walk = script.play(&[("checkpoints", trigger)], &format!("{start} >"));
        let grants = ["plan_grant", "merge_grant", "feature_grant", "done_grant"];
        assert_eq!(walk.exit_code(), Some(0), "{trigger}");
        grants.map(|gate| walk.runs(gate))
    };
    assert_eq!(fired("post-planner"), [1, 0, 0, 0]);
    assert_eq!(fired("pre-merge"), [0, 2, 0, 0], "before each merge");
    assert_eq!(fired("post-feature"), [0, 0, 1, 0], "while features are left");
    assert_eq!(fired("pre-done"), [0, 0, 0, 1]);
    assert_eq!(fired(""), [0; 4]);
    assert_eq!(fired("pre-merge,pre-done"), [0, 2, 0, 1]);
}

#[test]
fn a_checkpoint_that_is_not_granted() {
    let at = |gate: &str| match gate {
        "plan" => "queue:missing >plan_grant plan_grant:deny >".to_owned(),
        gate => format!("{ONE} >{gate}_grant"),
    };
    mission().holds([
        row("post-planner denied: as a rejection", at("plan"))
            .with("checkpoints", "post-planner")
            .exits(7)
            .never("worker")
            .records("CHECKPOINT denied"),
        row("pre-merge, stop: kept, and asked again later", at("merge") + " merge_grant:stop")
            .with("checkpoints", "pre-merge")
            .exits(5)
            .records("NEXT_WORKER NEXT_VALIDATOR CHECKPOINT stopped")
            .never("merge"),
        row("pre-merge, rework: the worker tries again", at("merge") + " merge_grant:rework")
            .with("checkpoints", "pre-merge")
            .at("worker")
            .records("NEXT_WORKER NEXT_VALIDATOR CHECKPOINT rework NEXT_WORKER")
            .never("merge"),
        row("the grant of a merge stands when the base has moved", {
            at("merge") + " merge_grant:grant >merge merge:moved"
        })
        .with("checkpoints", "pre-merge")
        .at("merge"),
        row(
            "pre-done, granted: the smoke gate still comes",
            at("done") + " done_grant:grant still_there:all",
        )
        .with("checkpoints", "pre-done")
        .with("steps", "smoke")
        .at("final_smoke"),
        row("pre-done, stop", at("done") + " done_grant:stop")
            .with("checkpoints", "pre-done")
            .exits(5)
            .records("NEXT_WORKER NEXT_VALIDATOR CHECKPOINT stopped")
            .never("all_done"),
    ]);
    let script = mission();
    let stops = [
        ("pre-merge", ONE, "merge_grant"),
        ("post-feature", TWO, "feature_grant"),
        ("pre-done", ONE, "done_grant"),
    ];
    for (trigger, queue, gate) in stops {
        let steps = format!("{queue} >{gate} {gate}:stop");
        let mut walk = script.play(&[("checkpoints", trigger)], &steps);
        assert_eq!((walk.at(), walk.exit_code()), (vec![], Some(5)), "{trigger}");
        assert_eq!(walk.records().last().map(String::as_str), Some("stopped"), "{trigger}");
        resume(&mut walk);
        assert_eq!((walk.at(), walk.exit_code()), (vec![gate.to_owned()], Some(8)), "{trigger}");
        script.go_on(&mut walk, ">");
        assert_eq!(walk.exit_code(), Some(0), "{trigger}: granted after all");
    }
}

#[test]
fn a_grant_reads_the_features_as_a_person_left_them() {
    let script = mission();
    let steps = "queue:missing plan:planned check_plan:found,features=F-1 \
                 plan_review:accept plan_checkpoint:told plan_grant:grant \
                 features:found,features=F-7";
    let walk = script.play(&[("checkpoints", "post-planner")], steps);
    assert_eq!(crate::script::working(&walk), "F-7");
}
