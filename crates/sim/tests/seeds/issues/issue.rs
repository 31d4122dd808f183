//! One issue: claimed, planned, and reported either way (I3, I4, I8, I11).

use windlass_core::{
    run::EffectKind,
    workflow::{Errand, Land},
};

use super::{FOUND, PLANNED, issues};
use crate::script::{resume, row, working};

#[test]
fn an_issue_is_claimed_before_anything_else() {
    issues().holds([
        row("create_comment: the claim", FOUND)
            .at("claim")
            .tells("issue-starting")
            .silent("issue-in-progress"),
        row("… which is looked at", format!("{FOUND} claim:told")).at("look"),
        row("set status to linear_in_progress_status, once it holds", {
            format!("{FOUND} claim:told look:ours")
        })
        .at("in_progress")
        .tells("issue-starting issue-in-progress"),
        row("then the plan phase", format!("{FOUND} claim:told look:ours in_progress:told"))
            .at("plan"),
    ]);
    let script = issues();
    let mut walk = script.play(&[], FOUND);
    super::plays(&script, &mut walk, "WW");
    let (_, claim) = walk.find("claim").expect("the third issue is claimed");
    assert_eq!(claim.with.get("iteration"), Some(&3.into()), "Harness iteration {{iteration}}");
}

#[test]
fn whoever_loses_a_claim_takes_it_back_and_goes_on_with_another_issue() {
    let claimed = format!("{FOUND} claim:told");
    issues().holds([
        row("an older claim", format!("{claimed} look:taken"))
            .at("withdraw")
            .tells("claim-withdrawn")
            .silent("issue-in-progress")
            .records("claimed_by_another"),
        row("… and another issue", format!("{claimed} look:taken withdraw:told friction:told"))
            .at("fetch_another")
            .units("I-1=skipped"),
        row("not ready any more", format!("{claimed} look:changed withdraw:told friction:told"))
            .at("fetch_another")
            .records("not_ready_any_more"),
        row("gone: there is nothing to take back", format!("{claimed} look:gone"))
            .at("friction")
            .never("withdraw in_progress")
            .records("gone"),
        row("there is no other", {
            format!("{claimed} look:taken withdraw:told friction:told fetch_another:empty >")
        })
        .records("claimed_by_another [HARNESS_DONE]")
        .exits(0),
    ]);
    // It is no iteration, and no failure.
    let script = issues();
    let mut walk = script.play(&[("max", "2")], FOUND);
    for nth in 2..6 {
        script.go_on(&mut walk, "claim:told look:taken withdraw:told friction:told");
        script.go_on(&mut walk, &format!("fetch_another:found,issues=I-{nth}"));
        let (_, claim) = walk.find("claim").expect("the next issue is claimed");
        assert_eq!(claim.with.get("iteration"), Some(&1.into()));
    }
    script.go_on(&mut walk, ">fetch_next fetch_next:found,issues=I-9");
    assert_eq!(walk.at(), ["claim"], "two may be worked on");
}

#[test]
fn one_issue_and_no_more_if_that_is_wanted() {
    issues().holds([
        row("--once", format!("{FOUND} >"))
            .with("once", "true")
            .never("fetch_next")
            .records("[ISSUE_COMPLETE] [HARNESS_STOP]")
            .exits(0),
        row("--once, and somebody else has it", {
            format!("{FOUND} claim:told look:taken withdraw:told friction:told")
        })
        .with("once", "true")
        .at("fetch_another"),
    ]);
}

#[test]
fn a_part_of_an_issue_is_done_if_it_does_all_that_was_asked_for() {
    let lost = "apply:failed classify:structural drop:nothing log_failure:told";
    let judged = format!("{PLANNED} {lost} >review");
    issues().holds([
        row("every criterion is met", format!("{judged} review:pass,criteria_met=true"))
            .at("landing"),
        row("… with warnings", {
            format!("{judged} review:pass_with_warnings,criteria_met=true")
        })
        .at("landing")
        .records("warnings"),
        row("one is not", format!("{judged} review:pass,criteria_met=false"))
            .at("report_failure")
            .never("landing")
            .records("partial [ISSUE_FAILED]"),
        row("C14: nobody says so", format!("{judged} review:pass")).at("report_failure"),
        row("all groups are there: the review alone counts", {
            format!("{PLANNED} >review review:pass,criteria_met=false")
        })
        .at("landing"),
    ]);
}

#[test]
fn one_issue_at_a_time() {
    let script = issues();
    let mut walk = script.play(&[], "previous:fresh fetch:found,issues=I-1+I-2");
    assert_eq!(working(&walk), "I-1", "Never work on multiple issues simultaneously");
    script.go_on(&mut walk, "claim:told look:ours in_progress:told plan:blocked");
    assert_eq!((walk.at().join(" "), walk.exit_code()), ("ask_blocked".to_owned(), Some(8)));
    script.go_on(&mut walk, "ask_blocked:give_up report_failure:told");
    assert_eq!(walk.at(), ["friction"], "nor before the one before is seen to");
}

#[test]
fn an_empty_queue_is_done() {
    issues().holds([
        row("If no issues remain: [HARNESS_DONE]", "previous:fresh fetch:empty >")
            .records("[HARNESS_DONE]")
            .never("claim")
            .exits(0),
        row("… after some", format!("{FOUND} >fetch_next fetch_next:empty >"))
            .records("[ISSUE_COMPLETE] [HARNESS_DONE]")
            .exits(0),
    ]);
}

#[test]
fn a_plan_that_needs_a_person_asks_rather_than_guesses() {
    let blocked = format!("{FOUND} claim:told look:ours in_progress:told plan:blocked");
    issues().holds([
        row("Ask if truly blocked", blocked.clone()).at("ask_blocked").exits(8).never("apply"),
        row("… the answer reaches the plan", format!("{blocked} ask_blocked:other"))
            .at("plan")
            .records("answered"),
        row("… left for manual intervention", format!("{blocked} ask_blocked:give_up"))
            .at("report_failure")
            .records("blocked [ISSUE_FAILED]"),
        row("… decided later", format!("{blocked} ask_blocked:stop")).exits(5).records("stopped"),
    ]);
    let script = issues();
    let mut walk = script.play(&[], &format!("{blocked} ask_blocked:stop"));
    resume(&mut walk);
    assert_eq!(walk.at(), ["ask_blocked"]);
}

#[test]
fn success_and_failure_are_told_and_only_success_is_done() {
    issues().holds([
        row("On Success: comment, move to Done, spec gaps become issues", format!("{FOUND} >"))
            .tells("issue-completed issue-done spec-gap-issues")
            .silent("issue-failed")
            .records("[ISSUE_COMPLETE] [HARNESS_DONE]")
            .units("I-1=done"),
        row("On Failure: comment; do NOT change the issue status", {
            format!("{FOUND} >review review:fail,fixable=false >")
        })
        .tells("issue-in-progress issue-failed friction-log")
        .silent("issue-completed issue-done spec-gap-issues")
        .records("[ISSUE_FAILED] [HARNESS_DONE]")
        .never("landing")
        .units("I-1=failed"),
    ]);
}

#[test]
fn the_change_lands_by_a_normal_commit_and_is_reported_after() {
    let ready = format!("{FOUND} >landing");
    issues().holds([
        row("Never force-push", format!("{ready} landing:landed")).at("report_success"),
        row("the branch moved: everything is checked again, the review stands", {
            format!("{ready} landing:moved blast_radius:pass tier1:pass")
        })
        .at("landing"),
        row("a conflict is joined and checked again", {
            format!("{ready} landing:conflict resolve:resolved blast_radius:pass tier1:pass")
        })
        .at("review"),
        row("a conflict that cannot be joined asks", {
            format!("{ready} landing:conflict resolve:failed")
        })
        .at("conflict_gate")
        .exits(8),
        row("… fixed manually, checked like any other work", {
            format!("{ready} landing:conflict resolve:failed conflict_gate:manual")
        })
        .at("blast_radius")
        .records("fixed_manually"),
        row("… given up", {
            format!("{ready} landing:conflict resolve:failed conflict_gate:give_up")
        })
        .at("report_failure")
        .records("gave_up [ISSUE_FAILED]"),
        row("… decided later", {
            format!("{ready} landing:conflict resolve:failed conflict_gate:stop")
        })
        .exits(5)
        .records("stopped"),
        row("what was joined is committed before it lands", {
            let joined = "landing:conflict resolve:resolved blast_radius:pass tier1:pass";
            format!("{ready} {joined} review:pass")
        })
        .at("commit_fix"),
        row("the branch moves twenty times", {
            format!("{ready} {}", "landing:moved >landing ".repeat(20))
        })
        .at("landing"),
        row("… and then a person is needed", {
            format!("{ready} {} landing:moved", "landing:moved >landing ".repeat(20))
        })
        .exits(3),
        row("… the fourth conflict asks too", {
            let again = "landing:conflict resolve:resolved >landing ".repeat(3);
            format!("{ready} {again} landing:conflict")
        })
        .at("conflict_gate"),
        row("… and what a person joined is allowed three more", {
            let again = "landing:conflict resolve:resolved >landing ".repeat(3);
            format!("{ready} {again} landing:conflict conflict_gate:manual >landing {again}")
        })
        .at("landing"),
    ]);
    let script = issues();
    let walk = script.play(&[], &ready);
    let (_, landing) = walk.find("landing").expect("under way");
    assert!(matches!(
        landing.kind,
        EffectKind::Errand(Errand::Land { how: Land::FastForward, .. })
    ));
    issues().lands_once();
}

#[test]
fn what_is_checked_from_then_on_is_for_a_person_to_say() {
    let changed = format!("{FOUND} >spec_changes spec_changes:some");
    issues().holds([
        row("it is asked", changed.clone()).at("spec_gate").exits(8).never("landing"),
        row("… and lands", format!("{changed} spec_gate:yes"))
            .at("landing")
            .records("specs_accepted"),
        row("… once the branch has moved, too, if they are as they were", {
            format!("{changed} spec_gate:yes landing:moved >landing")
        })
        .passes("spec_gate landing spec_changes landing")
        .at("landing"),
        row("… and whatever was mended there is asked about again", {
            format!("{changed} spec_gate:yes landing:moved blast_radius:pass tier1:fail review_fix:applied >spec_changes spec_changes:some")
        })
        .at("spec_gate")
        .exits(8),
        row("… unless it was put together with something else", {
            format!("{changed} spec_gate:yes landing:conflict resolve:resolved >landing")
        })
        .passes("resolve spec_changes landing"),
        row("… or not", format!("{changed} spec_gate:give_up"))
            .at("report_failure")
            .never("landing")
            .records("blocked [ISSUE_FAILED]"),
        row("… decided later", format!("{changed} spec_gate:stop")).exits(5).records("stopped"),
    ]);
}

#[test]
fn a_person_who_decides_otherwise_meanwhile_is_heard_before_anything_lands() {
    let ready = format!("{FOUND} >still_ours");
    issues().holds([
        row("it is looked at right before", format!("{FOUND} >landing"))
            .passes("still_ours landing"),
        row("cancelled, somebody else's, or its claim ended", {
            format!("{ready} still_ours:overridden")
        })
        .at("report_left")
        .never("landing"),
        row("… which is reported, and no failure", {
            format!("{ready} still_ours:overridden report_left:told >")
        })
        .tells("issue-in-progress issue-left")
        .silent("issue-completed issue-done issue-failed")
        .records("overridden [HARNESS_DONE]")
        .units("I-1=skipped")
        .exits(0),
        row("gone", format!("{ready} still_ours:gone >"))
            .never("landing")
            .silent("issue-left issue-done")
            .units("I-1=skipped"),
        row("… and again once the branch has moved", {
            format!("{ready} still_ours:ours landing:moved >still_ours still_ours:overridden")
        })
        .at("report_left"),
    ]);
}

#[test]
fn a_person_who_decides_otherwise_before_an_issue_is_in_progress_is_heard_before_work_is_paid_for()
{
    let ready = format!("{FOUND} claim:told look:ours in_progress:told");
    issues().holds([
        row("cancelled, somebody else's, or its claim ended", {
            format!("{ready} still_wanted:overridden")
        })
        .at("report_left")
        .never("plan"),
        row("… which is reported, and no failure", {
            format!("{ready} still_wanted:overridden report_left:told >")
        })
        .tells("issue-in-progress issue-left")
        .records("overridden [HARNESS_DONE]")
        .units("I-1=skipped")
        .exits(0),
        row("gone", format!("{ready} still_wanted:gone >"))
            .never("plan")
            .silent("issue-left")
            .units("I-1=skipped"),
    ]);
}

#[test]
fn nothing_is_committed_or_lands_on_less_than_its_gate() {
    let script = issues();
    let whole = "blast_radius:pass tier1:pass|skipped review:pass|pass_with_warnings";
    assert_eq!(script.needs("commit"), "radius:pass invariants:pass tier0:pass|skipped");
    assert_eq!((script.needs("commit_fix"), script.needs("landing")), (whole.into(), whole.into()));
    assert_eq!(script.editors(), "review_fix resolve apply drop drop_blocked");
}

#[test]
fn a_group_that_was_given_up_is_not_tried_again_by_what_comes_later() {
    let lost = "apply:failed classify:structural drop:nothing log_failure:told";
    let one_lost = format!("{PLANNED} {lost} >review");
    let met = "review:pass,criteria_met=true";
    issues().holds([
        row("a fix", format!("{one_lost} review:fail,fixable=true review_fix:applied"))
            .at("blast_radius"),
        row("a moved branch", format!("{one_lost} {met} landing:moved")).at("blast_radius"),
        row("a conflict", format!("{one_lost} {met} landing:conflict resolve:resolved"))
            .at("blast_radius"),
        row("a conflict that a person joined", {
            format!("{one_lost} {met} landing:conflict resolve:failed conflict_gate:manual")
        })
        .at("blast_radius"),
    ]);
}

#[test]
fn what_the_groups_did_is_checked_as_a_whole() {
    let done = format!("{PLANNED} >blast_radius");
    issues().holds([
        row("Never modify files outside the blast radius", format!("{done} blast_radius:fail"))
            .at("review_fix"),
        row("… nor when nobody can tell", format!("{done} blast_radius:skipped"))
            .at("report_failure"),
        row("… nor after the one fix", {
            format!("{done} blast_radius:fail review_fix:applied blast_radius:fail")
        })
        .at("report_failure")
        .never("landing"),
    ]);
}
