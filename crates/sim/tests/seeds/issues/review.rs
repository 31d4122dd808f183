//! The review over all groups (I7).

use super::{PLANNED, issues};
use crate::script::row;

#[test]
fn the_review_passes_with_or_without_warnings() {
    let looked_at = format!("{PLANNED} >review");
    issues().holds([
        row("Run tier1 tests", format!("{PLANNED} >blast_radius blast_radius:pass")).at("tier1"),
        row("no tests.tier1: SKIPPED", {
            format!("{PLANNED} >blast_radius blast_radius:pass tier1:skipped")
        })
        .at("review"),
        row("PASS: proceed to step 8", format!("{looked_at} review:pass"))
            .at("landing")
            .records("")
            .never("commit_fix"),
        row("PASS_WITH_WARNINGS: included in the comment", {
            format!("{looked_at} review:pass_with_warnings")
        })
        .at("landing")
        .records("warnings"),
        row("… and reported", format!("{looked_at} review:pass_with_warnings >"))
            .records("warnings [ISSUE_COMPLETE] [HARNESS_DONE]")
            .tells("issue-completed issue-done"),
    ]);
}

#[test]
fn a_failed_review_is_fixed_once_or_the_issue_has_failed() {
    let failed = format!("{PLANNED} >review review:fail,fixable=true");
    let fixed = format!("{failed} review_fix:applied blast_radius:pass tier1:pass");
    issues().holds([
        row("If fixable: fix …", failed.clone()).at("review_fix"),
        row("… and re-review", fixed.clone()).at("review"),
        row("… (one retry)", format!("{fixed} review:fail,fixable=true"))
            .at("report_failure")
            .records("[ISSUE_FAILED]"),
        row("the fix passes, and is committed like the rest", format!("{fixed} review:pass"))
            .at("commit_fix"),
        row("… before it lands", format!("{fixed} review:pass commit_fix:saved")).at("landing"),
        row("… unless it changed nothing", format!("{fixed} review:pass commit_fix:nothing"))
            .at("landing"),
        row("… with warnings, too", format!("{fixed} review:pass_with_warnings")).at("commit_fix"),
        row("If not fixable: mark the issue as failed", {
            format!("{PLANNED} >review review:fail,fixable=false")
        })
        .at("report_failure"),
        row("C14: nobody says that it is fixable", format!("{PLANNED} >review review:fail"))
            .at("report_failure"),
        row("the fix fails", format!("{failed} review_fix:failed")).at("report_failure"),
        row("the fix is blocked", format!("{failed} review_fix:blocked")).at("report_failure"),
    ]);
}

#[test]
fn a_failing_tier1_is_a_failed_review_and_shares_its_one_fix() {
    let failed = format!("{PLANNED} >tier1 tier1:fail");
    issues().holds([
        row("tier1 fails", failed.clone()).at("review_fix").never("review"),
        row("… and again", format!("{failed} review_fix:applied blast_radius:pass tier1:fail"))
            .at("report_failure"),
        row("… or then the reviewer objects", {
            let fixed = format!("{failed} review_fix:applied blast_radius:pass tier1:pass");
            format!("{fixed} review:fail,fixable=true")
        })
        .at("report_failure"),
    ]);
}

#[test]
fn what_failed_its_review_never_lands() {
    let failed = format!("{PLANNED} >review review:fail,fixable=true review_fix:applied");
    issues().holds([row("revert all commits for this issue: they were never on the branch", {
        format!("{failed} >review review:fail,fixable=true >")
    })
    .never("landing commit_fix report_success")
    .units("I-1=failed")
    .records("[ISSUE_FAILED] [HARNESS_DONE]")
    .exits(0)]);
}
