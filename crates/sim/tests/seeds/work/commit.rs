//! The commit, and the markers (W7, W13, W14).

use windlass_core::{
    run::EffectKind,
    workflow::{Errand, Land},
};

use super::{BUILT, ONE, work};
use crate::script::row;

const APPROVED: &str = "review:approve residuals:pass proof:pass review_artifact:told";

#[test]
fn an_approved_change_is_picked_onto_the_branch() {
    let approved = format!("{BUILT} {APPROVED}");
    work().holds([
        row("APPROVE → cherry-pick to main", approved.clone()).at("landing").records("cc:WIP"),
        row("cc:Done [{hash}]", format!("{approved} landing:landed"))
            .at("mark_done")
            .records("cc:WIP cc:Done")
            .tells("marker-wip review-result marker-done completion-report"),
        row("the branch moved: proved again, and no agent is asked again", {
            format!("{approved} landing:moved residuals:pass proof:pass")
        })
        .at("review_artifact"),
        row("a conflict is joined, then proved and reviewed again", {
            format!("{approved} landing:conflict resolve:resolved prove:pass")
        })
        .at("review"),
        row("a conflict that cannot be joined asks", {
            format!("{approved} landing:conflict resolve:failed")
        })
        .at("conflict_gate")
        .exits(8),
        row("… fixed manually: proved and reviewed again", {
            format!("{approved} landing:conflict resolve:failed conflict_gate:manual prove:pass")
        })
        .at("review")
        .records("cc:WIP fixed_manually"),
        row("… or given up", {
            format!("{approved} landing:conflict resolve:failed conflict_gate:abort")
        })
        .units("1=failed")
        .records("cc:WIP aborted"),
        row("the fourth conflict asks", {
            let again = "landing:conflict resolve:resolved >landing ".repeat(3);
            format!("{approved} {again} landing:conflict")
        })
        .at("conflict_gate"),
        row("… and what a person joined is allowed three more", {
            let again = "landing:conflict resolve:resolved >landing ".repeat(3);
            format!("{approved} {again} landing:conflict conflict_gate:manual >landing {again}")
        })
        .at("landing"),
        row("a moved branch costs commands and no agent", {
            let built = BUILT.replace("profile=static", "profile=browser");
            format!("{built} review:approve browser:approve >landing landing:moved")
        })
        .at("residuals")
        .records("cc:WIP PENDING_BROWSER"),
        row("… twenty times", format!("{approved} {}", "landing:moved >landing ".repeat(20)))
            .at("landing"),
        row("… and then a person is needed", {
            format!("{approved} {} landing:moved", "landing:moved >landing ".repeat(20))
        })
        .exits(3),
    ]);
    let script = work();
    let walk = script.play(&[], &approved);
    let (_, landing) = walk.find("landing").expect("under way");
    assert!(matches!(landing.kind, EffectKind::Errand(Errand::Land { how: Land::CherryPick, .. })));
}

#[test]
fn a_task_is_done_only_when_it_has_landed() {
    let script = work();
    let mut walk = script.play(&[], ONE);
    let done = |records: Vec<String>| records.iter().any(|record| record == "cc:Done");
    let stages = "background wip contract contract_review implement refine prove review residuals \
                  proof review_artifact landing";
    for stage in stages.split_whitespace() {
        script.go_on(&mut walk, &format!(">{stage}"));
        assert_eq!(walk.at(), [stage]);
        assert!(!done(walk.records()), "at {stage}");
        assert!(!script.told(&walk).contains(&"marker-done"), "at {stage}");
    }
    script.go_on(&mut walk, "landing:landed");
    assert!(done(walk.records()), "after cc:Done + commit");
    assert_eq!(walk.run().unit_named("1").map(|unit| unit.landed), Some(true));
    for stage in ["landing:moved", "landing:conflict"] {
        let walk = script.play(&[], &format!("{BUILT} {APPROVED} {stage}"));
        assert!(!done(walk.records()), "{stage} is not done");
    }
}

#[test]
fn nothing_lands_or_is_handed_over_on_less_than_an_approved_review() {
    let script = work();
    let all = "review:approve browser:approve residuals:pass|skipped runtime:pass|skipped \
               proof:pass|skipped";
    assert_eq!((script.needs("landing"), script.needs("hand_over")), (all.into(), all.into()));
    assert_eq!(script.editors(), "red implement refine fix resolve");
}

#[test]
fn what_has_landed_never_comes_by_a_landing_again() {
    work().lands_once();
}

#[test]
fn without_a_commit_the_change_goes_to_the_checkout() {
    let approved = format!("{BUILT} {APPROVED}");
    let no_commit = |seed: &'static str, steps: &str| {
        row(seed, format!("{approved} {steps}")).with("no_commit", "yes").never("landing")
    };
    work().holds([
        no_commit("--no-commit: suppress auto-commit", "").at("hand_over"),
        no_commit("use cc:Done without hash", "hand_over:saved")
            .at("mark_done")
            .records("cc:WIP cc:Done"),
        no_commit("nothing to commit", "hand_over:nothing").at("mark_done"),
        no_commit("… and that is the end of it", "hand_over:saved mark_done:told")
            .units("1=done")
            .never("after_done ci"),
        no_commit("… exit 0", "hand_over:saved >").exits(0),
    ]);
}

#[test]
fn a_change_that_the_checkout_refuses_is_not_done() {
    let refused = format!("{BUILT} {APPROVED} hand_over:refused lane_kept:told");
    let no_commit = |seed: &'static str, steps: &str| {
        row(seed, format!("{refused} {steps}")).with("no_commit", "yes")
    };
    work().holds([
        no_commit("the lane is kept and named", "").tells("lane-kept").at("take_it").exits(8),
        no_commit("cc:Done is for what was handed over", "")
            .records("cc:WIP")
            .silent("marker-done completion-report")
            .never("mark_done"),
        no_commit("… the checkout is clean now", "take_it:retry").at("hand_over"),
        no_commit("… and takes it", "take_it:retry hand_over:saved mark_done:told")
            .records("cc:WIP handed_over_again cc:Done")
            .units("1=done"),
        no_commit("… or it is left in its lane, and explained", "take_it:leave >")
            .records("cc:WIP left_in_lane")
            .silent("marker-done")
            .tells("unfinished-tasks aggregate-report")
            .units("1=skipped")
            .exits(4),
    ]);
}
