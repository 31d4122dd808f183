//! The commit, and the markers (W7, W13, W14).

use windlass_core::{
    run::EffectKind,
    workflow::{Errand, Land},
};

use super::{BUILT, ONE, work};
use crate::script::row;

const APPROVED: &str = "review:approve residuals:pass review_artifact:told";

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
            format!("{approved} landing:moved residuals:pass")
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
            format!("{built} review:approve browsed:looked,seen=false browser:approve >landing landing:moved")
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
    // `git cherry-pick --no-commit`, `git commit -m "{task.content}"`: one commit with the task's name.
    let EffectKind::Errand(Errand::Land { how: Land::Commit, proof, .. }) = landing.kind else {
        panic!("{:?}", landing.kind)
    };
    assert_eq!(proof.join(" "), "build test lint type-check contract", "as it would land");
}

#[test]
fn a_task_is_done_only_when_it_has_landed() {
    let script = work();
    let mut walk = script.play(&[], ONE);
    let done = |records: Vec<String>| records.iter().any(|record| record == "cc:Done");
    let stages = "background wip contract contract_review implement refine prove review residuals \
                  review_artifact landing";
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
fn nothing_lands_on_less_than_an_approved_review() {
    let script = work();
    let all = "review:approve browser:approve residuals:pass|skipped runtime:pass|skipped";
    assert_eq!(script.needs("landing"), all);
    // What a person has waived is named, and nothing else is asked of it again.
    assert_eq!(script.needs("waived_landing"), format!("prove:pass|skipped {all}"));
    assert_eq!(script.needs("hand_over"), "combined:pass|skipped");
    assert_eq!(script.editors(), "red implement refine fix resolve");
}

#[test]
fn what_has_landed_never_comes_by_a_landing_again() {
    work().lands_once();
}

#[test]
fn without_a_commit_everything_goes_to_the_checkout_as_one_change() {
    let landed = format!("{BUILT} {APPROVED} landing:landed");
    let no_commit = |seed: &'static str, steps: &str| {
        row(seed, format!("{landed} {steps}")).with("no_commit", "yes")
    };
    work().holds([
        no_commit("nobody has it yet: no marker, no report", "progress:told")
            .at("combined")
            .records("cc:WIP")
            .silent("marker-done completion-report")
            .units("1=done")
            .never("mark_done after_done ci"),
        no_commit("--no-commit: suppress auto-commit", "progress:told combined:pass")
            .at("hand_over"),
        no_commit("use cc:Done without hash", "progress:told combined:pass hand_over:saved")
            .at("handed_over")
            .records("cc:WIP cc:Done"),
        no_commit("nothing to commit", "progress:told combined:skipped hand_over:nothing")
            .at("handed_over"),
        no_commit("… exit 0", "progress:told combined:pass hand_over:saved >")
            .tells("marker-done completion-report")
            .exits(0),
    ]);
    let two =
        "drift:clean plans:found,tasks=1+2,target_count=2,unlisted_count=0,test_framework=false";
    work().holds([row("several tasks are one change", format!("{two} >"))
        .with("no_commit", "yes")
        .passes("combined hand_over handed_over")
        .units("1=done 2=done")
        .exits(0)]);
}

#[test]
fn a_change_that_the_checkout_refuses_is_not_done() {
    let refused = format!(
        "{BUILT} {APPROVED} landing:landed progress:told combined:pass hand_over:refused lane_kept:told"
    );
    let no_commit = |seed: &'static str, steps: &str| {
        row(seed, format!("{refused} {steps}")).with("no_commit", "yes")
    };
    work().holds([
        no_commit("the branch is kept and named", "").tells("lane-kept").at("take_it").exits(8),
        no_commit("cc:Done is for what was handed over", "")
            .records("cc:WIP")
            .silent("marker-done completion-report"),
        no_commit("… the checkout is clean now", "take_it:retry").at("combined"),
        no_commit(
            "… and takes it",
            "take_it:retry combined:pass hand_over:saved handed_over:told >",
        )
        .records("cc:WIP handed_over_again cc:Done")
        .exits(0),
        no_commit("… or it is left on its branch, and explained", "take_it:leave >")
            .records("cc:WIP left_on_branch")
            .silent("marker-done")
            .tells("unfinished-tasks aggregate-report")
            .exits(4),
    ]);
}
