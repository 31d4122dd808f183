//! Work that is handed over as a pull request (ours).

use super::{FOUND, issues};
use crate::script::{Row, resume, row};

/// An issue whose work becomes a pull request, up to that.
fn pull(name: &'static str, steps: &str) -> Row {
    row(name, format!("{FOUND} >push {steps}")).with("land", "pr")
}

const OPEN: &str = "push:saved open_pull:told";

#[test]
fn a_pull_request_is_pushed_opened_and_watched_and_nothing_lands() {
    let passed = format!("{OPEN} watch:passed");
    issues().holds([
        pull("what was reviewed is pushed", "").at("push").never("landing"),
        pull("opened", "push:saved").at("open_pull"),
        pull("watched", OPEN).at("watch").tells("issue-pull"),
        pull("it passes: reported, and in progress until it is merged", &format!("{passed} >"))
            .tells("issue-completed spec-gap-issues")
            .silent("issue-done issue-failed")
            .records("[ISSUE_COMPLETE] [HARNESS_DONE]")
            .never("landing")
            .units("I-1=done")
            .exits(0),
        pull("it is merged meanwhile", &format!("{OPEN} watch:merged >"))
            .tells("issue-completed issue-done spec-gap-issues")
            .never("landing")
            .units("I-1=done"),
        pull("there was nothing to push", "push:nothing").at("report_success").never("open_pull"),
        row("without a word it lands here", format!("{FOUND} >landing")).never("push"),
    ]);
    let needs = "blast_radius:pass tier1:pass|skipped review:pass|pass_with_warnings";
    assert_eq!(issues().needs("push"), needs);
}

#[test]
fn what_checks_and_people_find_is_mended_three_times_and_then_a_person_is_asked() {
    let round = "review_fix:applied blast_radius:pass tier1:pass review:pass commit_fix:saved push:saved open_pull:told";
    let failed = format!("{OPEN} watch:failed");
    let thrice = format!("{OPEN} {}", format!("watch:failed {round} ").repeat(3));
    issues().holds([
        pull("a check fails", &failed).at("review_fix"),
        pull("… is mended, checked and reviewed", &format!("{failed} review_fix:applied"))
            .at("blast_radius"),
        pull("… and pushed again", &format!("{failed} {round}")).at("watch"),
        pull("somebody wants something changed", &format!("{OPEN} watch:remarks")).at("review_fix"),
        pull("each round has its one fix", &{
            format!("{failed} review_fix:applied blast_radius:fail")
        })
        .at("review_fix"),
        pull("… and no other", &{
            let twice = "review_fix:applied blast_radius:fail".to_owned();
            format!("{failed} {twice} {twice}")
        })
        .at("report_failure"),
        pull("the worker cannot", &format!("{failed} review_fix:failed"))
            .at("report_failure")
            .never("landing"),
        pull("the fourth time a person is asked", &format!("{thrice} watch:failed"))
            .at("pull_gate")
            .exits(8),
        pull("… remarks count like checks", &format!("{thrice} watch:remarks")).at("pull_gate"),
        pull("… three more", &{
            let again = format!("watch:failed {round} ").repeat(3);
            format!("{thrice} watch:failed pull_gate:again {OPEN} {again}")
        })
        .at("watch")
        .records("pull_again"),
        pull("… given up: both are kept", &format!("{thrice} watch:failed pull_gate:give_up"))
            .at("report_failure")
            .records("gave_up [ISSUE_FAILED]"),
    ]);
}

#[test]
fn whatever_else_becomes_of_a_pull_request_is_a_persons() {
    issues().holds([
        pull("a branch that somebody moved", "push:refused").at("pull_gate").exits(8),
        pull("… seen later", &format!("{OPEN} watch:moved")).at("pull_gate"),
        pull("closed", &format!("{OPEN} watch:closed")).at("pull_gate"),
        pull("waited for too long", &format!("{OPEN} watch:timed_out")).at("pull_gate"),
        pull("… decided later", &format!("{OPEN} watch:closed pull_gate:stop"))
            .exits(5)
            .records("stopped"),
    ]);
    let taken = "still_ours:overridden";
    issues().holds([
        pull("it is looked at right before a push", "").passes("still_ours way push"),
        row("somebody has it by then", format!("{FOUND} >still_ours {taken}"))
            .with("land", "pr")
            .at("report_left")
            .never("push"),
        pull("… or once a person goes on with it", &{
            format!("{OPEN} watch:closed pull_gate:again >still_ours {taken}")
        })
        .at("report_left"),
        pull("… or while it is watched", &format!("{OPEN} watch:overridden report_left:told >"))
            .silent("issue-completed issue-done issue-failed")
            .records("overridden [HARNESS_DONE]")
            .units("I-1=skipped")
            .exits(0),
        pull("it is gone", &format!("{OPEN} watch:gone >"))
            .silent("issue-left issue-done")
            .units("I-1=skipped"),
        pull("what is checked from then on is asked about for each push", &{
            let mended =
                "review_fix:applied blast_radius:pass tier1:pass review:pass commit_fix:saved";
            format!("{OPEN} watch:failed {mended} >spec_changes spec_changes:some spec_gate:yes")
        })
        .at("push"),
    ]);
    let script = issues();
    let steps = format!("{FOUND} >push push:refused pull_gate:stop");
    let mut walk = script.play(&[("land", "pr")], &steps);
    resume(&mut walk);
    assert_eq!(walk.at(), ["pull_gate"]);
}
