//! Lanes, claims, dependencies, merging (M4, M8, M10).

use super::{ONE, TWO, mission};
use crate::script::{row, working};

#[test]
fn no_more_features_are_under_way_than_there_are_lanes() {
    let script = mission();
    let queue = "queue:found features:found,features=a+b+c+d+e";
    let cases = [("1", "a"), ("2", "a b"), ("3", "a b c"), ("4", "a b c d"), ("9", "a b c d e")];
    for (lanes, at_once) in cases {
        let mut walk = script.play(&[("lanes", lanes)], queue);
        assert_eq!(working(&walk), at_once, "each parallel lane: {lanes}");
        script.go_on(&mut walk, ">");
        assert_eq!((walk.exit_code(), walk.run().tally().done), (Some(0), 5));
    }
    let walk = script.play(&[], queue);
    assert_eq!(working(&walk), "a", "one lane unless more are asked for");
}

#[test]
fn features_that_claim_the_same_files_are_not_built_at_once() {
    let script = mission();
    let queue = "queue:found features:found,features=a@src/+b@src/x.rs+c@docs/";
    let mut walk = script.play(&[("lanes", "3")], queue);
    assert_eq!(working(&walk), "a c", "workers can edit different files at the same time");
    script.go_on(&mut walk, "worker:built prove:pass validator:pass merge:landed");
    script.go_on(&mut walk, "housekeeping:told");
    assert_eq!(working(&walk), "c b");
}

#[test]
fn a_feature_waits_for_what_it_depends_on() {
    let script = mission();
    let queue = "queue:found features:found,features=b<a+a+c<b";
    let mut walk = script.play(&[("lanes", "3")], queue);
    let mut order = vec![working(&walk)];
    for _ in 0..2 {
        script.go_on(&mut walk, "worker:built prove:pass validator:pass merge:landed");
        script.go_on(&mut walk, "housekeeping:told");
        order.push(working(&walk));
    }
    assert_eq!(order, ["a", "b", "c"]);
}

#[test]
fn a_checkpoint_holds_its_own_feature_only() {
    let script = mission();
    let inputs = [("lanes", "2"), ("checkpoints", "pre-merge")];
    let walk = script.play(
        &inputs,
        &format!(
            "{TWO} worker:built prove:pass validator:pass \
                                              merge_checkpoint:told"
        ),
    );
    assert_eq!(walk.at(), ["worker", "merge_grant"]);
    assert_eq!(walk.exit_code(), None, "the other one goes on");
}

#[test]
fn a_validators_pass_merges_into_the_base() {
    let ready = format!("{ONE} >merge");
    mission().holds([
        row("On validator pass: worktree merges into baseBranch", format!("{ready} merge:landed"))
            .at("housekeeping")
            .units("F-1=done"),
        row("the base moved: proved again, and no agent is asked again", {
            format!("{ready} merge:moved")
        })
        .at("merge"),
        row("… unless it fails there", format!("{ready} merge:moved merge:fail")).at("worker"),
        row("conflict: joined, then proved and validated again", {
            format!("{ready} merge:conflict resolve:resolved prove:pass")
        })
        .at("validator"),
        row("a conflict that nobody can resolve", {
            format!("{ready} merge:conflict resolve:failed >")
        })
        .records("NEXT_WORKER NEXT_VALIDATOR contradicted ESCALATE")
        .exits(3),
    ]);
    let script = mission();
    let walk = script.play(&[], &format!("{ready} merge:moved merge:landed >"));
    assert_eq!((walk.runs("validator"), walk.runs("merge")), (1, 2));
}

#[test]
fn features_that_are_ready_merge_together() {
    let script = mission();
    let mut walk = script.play(&[("lanes", "2")], &format!("{TWO} worker:built worker:built"));
    script.go_on(&mut walk, "prove:pass prove:pass validator:pass validator:pass");
    assert_eq!(walk.at(), ["merge", "merge"], "neither waits for the other");
    let lane = |walk: &windlass_sim::Walk<'_>| {
        let (id, effect) = walk.find("merge").expect("under way");
        (id, effect.unit)
    };
    let (first, unit) = lane(&walk);
    script.go_on(&mut walk, "merge:fail");
    assert_ne!(lane(&walk).0, first, "the other one still waits");
    let there = walk.find("worker").map(|(_, effect)| effect).expect("tries again");
    assert_eq!(there.unit, unit);
    let subject = there.subject.expect("its work, on what it failed with");
    assert_eq!(subject.tree.as_ref(), "tree-3");
}

#[test]
fn conflicts_and_moved_bases_come_to_an_end() {
    let script = mission();
    let inputs = [("max_iterations", "100")];
    let mut walk = script.play(&inputs, &format!("{ONE} >merge"));
    for _ in 0..3 {
        script.go_on(&mut walk, "merge:conflict resolve:resolved >merge");
    }
    script.go_on(&mut walk, "merge:conflict >");
    assert_eq!((walk.exit_code(), walk.runs("resolve")), (Some(3), 3));
    assert_eq!(walk.records().last().map(String::as_str), Some("ESCALATE"));
    let mut walk = script.play(&inputs, &format!("{ONE} >merge"));
    for _ in 0..20 {
        script.go_on(&mut walk, "merge:moved");
    }
    script.go_on(&mut walk, "merge:moved >");
    assert_eq!((walk.exit_code(), walk.runs("merge")), (Some(3), 21));
    assert_eq!(walk.records().last().map(String::as_str), Some("ESCALATE"));
}

#[test]
fn nothing_merges_on_less_than_every_configured_step() {
    let script = mission();
    assert_eq!(script.needs("merge"), "validator:pass|issues ui_qa:pass crosscheck:pass");
    assert_eq!(script.needs("final_merge"), "final_proof:pass|skipped");
    assert_eq!(script.editors(), "worker document resolve final_document");
}

#[test]
fn what_has_landed_never_comes_by_a_landing_again() {
    mission().lands_once();
}

#[test]
fn each_feature_is_followed_by_housekeeping() {
    let script = mission();
    let walk = script.play(&[], &format!("{TWO} >"));
    let kept = ["state-snapshot", "prune-logs", "cost-check"];
    let told = script.told(&walk);
    let rounds = told.windows(3).filter(|told| *told == kept).count();
    assert_eq!(rounds, 2, "snapshot state, prune logs, check cost cap");
}
