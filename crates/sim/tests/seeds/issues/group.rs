//! A change group: its gate and the failure taxonomy (I5, I6).

use windlass_core::{
    run::{EffectKind, Event},
    workflow::{Errand, Go, Settled},
};
use windlass_sim::Walk;

use super::{GROUP, PLANNED, issues};
use crate::script::row;

/// The group that something is under way for.
fn group(walk: &Walk<'_>) -> String {
    let wants = walk.run().wants();
    let children = wants.values().filter_map(|effect| effect.child.as_ref());
    children.map(|child| child.id.to_string()).collect()
}

#[test]
fn a_group_is_committed_when_everything_passes() {
    issues().holds([
        row("For each change group in order", PLANNED).at("apply"),
        row("6b verify invariants", format!("{PLANNED} apply:applied radius:pass"))
            .at("invariants"),
        row("6c run tier0", format!("{PLANNED} apply:applied radius:pass invariants:pass"))
            .at("tier0"),
        row("If ALL pass (invariants + tier0): commit", {
            format!("{PLANNED} apply:applied radius:pass invariants:pass tier0:pass")
        })
        .at("commit"),
        row("no tests.tier0 in the spec: SKIPPED, not FAIL", {
            format!("{PLANNED} apply:applied radius:pass invariants:pass tier0:skipped")
        })
        .at("commit"),
        row("nothing changed is no failure", {
            let checked = "apply:applied radius:pass invariants:pass tier0:pass commit:nothing";
            format!("{PLANNED} {checked} {checked}")
        })
        .at("blast_radius"),
    ]);
    let script = issues();
    let mut walk = script.play(&[], PLANNED);
    assert_eq!(group(&walk), "g1");
    script.go_on(&mut walk, ">commit");
    let (_, commit) = walk.find("commit").expect("under way");
    let EffectKind::Errand(Errand::Save { trailers, .. }) = commit.kind else {
        panic!("{:?}", commit.kind)
    };
    let seed = ["Issue", "Change-Group", "Subsystems", "Invariants", "Co-Authored-By"];
    assert_eq!(trailers, seed, "Commit with structured message");
    script.go_on(&mut walk, "commit:saved");
    assert_eq!((walk.at().join(" "), group(&walk)), ("apply".to_owned(), "g2".to_owned()));
}

#[test]
fn any_failure_of_the_gate_is_looked_at_and_nothing_is_committed() {
    let failing = |seed: &'static str, steps: &str| {
        row(seed, format!("{PLANNED} {steps}")).at("classify").never("commit")
    };
    issues().holds([
        failing("the change could not be made", "apply:failed"),
        failing("files outside the blast radius", "apply:applied radius:fail"),
        failing("[FAIL] {invariant}", "apply:applied radius:pass invariants:fail"),
        failing("tier0 fails", "apply:applied radius:pass invariants:pass tier0:fail"),
    ]);
}

#[test]
fn the_failure_taxonomy() {
    let failed = format!("{PLANNED} apply:applied radius:pass invariants:fail");
    let again = "apply:applied radius:pass invariants:fail classify:retryable";
    issues().holds([
        row("Retryable: try ONE alternate approach", format!("{failed} classify:retryable"))
            .at("apply")
            .never("drop log_failure"),
        row("If retry also fails, treat as structural", {
            format!("{failed} classify:retryable {again}")
        })
        .at("drop"),
        row("Structural: revert uncommitted changes for this group", {
            format!("{failed} classify:structural")
        })
        .at("drop"),
        row("… log the failure", format!("{failed} classify:structural drop:saved"))
            .at("log_failure")
            .tells("group-failure"),
        row("… even when nothing had been changed", {
            format!("{failed} classify:structural drop:nothing")
        })
        .at("log_failure"),
        row("… continue to next group", {
            format!("{failed} classify:structural drop:saved log_failure:told")
        })
        .at("apply"),
        row("Blocked: skip the group", format!("{failed} classify:blocked")).at("drop_blocked"),
        row("… flag in Linear comment", format!("{failed} classify:blocked drop_blocked:saved"))
            .at("flag")
            .tells("issue-blocked-group")
            .silent("group-failure"),
        row("… even when nothing had been changed", {
            format!("{failed} classify:blocked drop_blocked:nothing")
        })
        .at("flag"),
        row("… and on to the next", {
            format!("{failed} classify:blocked drop_blocked:saved flag:told")
        })
        .at("apply"),
        row("the worker itself needs human input", format!("{PLANNED} apply:blocked"))
            .at("drop_blocked"),
        row("nobody can tell what was touched: not committed", {
            format!("{PLANNED} apply:applied radius:skipped")
        })
        .at("drop_blocked")
        .never("commit"),
    ]);
}

#[test]
fn a_group_that_failed_and_one_that_was_skipped_are_told_apart() {
    let settled = |steps: &str| {
        let script = issues();
        let walk = script.play(&[], &format!("{PLANNED} {steps}"));
        let last = walk.journal().iter().rev().find_map(|recorded| match &recorded.event {
            Event::Moved(moved) => Some(moved.go.clone()),
            _ => None,
        });
        last.expect("it moved")
    };
    let failed = settled("apply:failed classify:structural drop:saved log_failure:told");
    assert_eq!(failed, Go::Leave(Settled::Failed));
    assert_eq!(settled("apply:blocked drop_blocked:saved flag:told"), Go::Leave(Settled::Skipped));
    assert_eq!(settled(GROUP), Go::Leave(Settled::Done));
}

#[test]
fn the_alternate_approach_is_told_so_and_each_group_has_its_own() {
    let script = issues();
    let failed = "apply:applied radius:pass invariants:fail";
    let retried = format!("{PLANNED} {failed} classify:retryable");
    let mut walk = script.play(&[], &retried);
    let (_, apply) = walk.find("apply").expect("under way");
    assert!(apply.context.is_some_and(|why| why.contains("other approach")));
    script.go_on(&mut walk, &format!("{failed} classify:retryable drop:saved log_failure:told"));
    assert_eq!(group(&walk), "g2");
    script.go_on(&mut walk, &format!("{failed} classify:retryable"));
    assert_eq!(walk.at(), ["apply"], "another group, another approach");
    assert_eq!(group(&walk), "g2");
    script.go_on(&mut walk, GROUP);
    assert_eq!(walk.at(), ["blast_radius"]);
}

#[test]
fn an_issue_goes_on_with_the_groups_it_has() {
    let lost = "apply:failed classify:structural drop:saved log_failure:told";
    let blocked = "apply:blocked drop_blocked:saved flag:told";
    issues().holds([
        row("all groups", format!("{PLANNED} {GROUP} {GROUP}")).at("blast_radius"),
        row("some: the second failed", format!("{PLANNED} {GROUP} {lost}")).at("blast_radius"),
        row("some: the first failed", format!("{PLANNED} {lost} {GROUP}")).at("blast_radius"),
        row("some: one was skipped", format!("{PLANNED} {blocked} {GROUP}")).at("blast_radius"),
        row("none: both failed", format!("{PLANNED} {lost} {lost}"))
            .at("report_failure")
            .records("[ISSUE_FAILED]"),
        row("none: one failed, one was skipped", format!("{PLANNED} {lost} {blocked}"))
            .at("report_failure"),
        row("no groups at all", {
            "previous:fresh fetch:found,issues=I-1 claim:told look:ours in_progress:told plan:planned,groups="
        })
        .at("report_failure"),
    ]);
}
