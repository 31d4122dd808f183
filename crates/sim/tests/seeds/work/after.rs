//! After a task is done, and after the last one (W14, W15, W16).

use super::{ONE, work};
use crate::script::{row, status, working};

/// A task that has landed and is marked, up to the tests after it.
const DONE: &str = "drift:clean \
                    plans:found,tasks=1,target_count=1,unlisted_count=0,test_framework=false \
                    >after_done";

#[test]
fn tests_that_fail_after_done_propose_a_fix_task() {
    let failing =
        format!("{DONE} after_done:fail test_cause:classified,cause=timeout,fixes=1.fix<1");
    work().holds([
        row("Check test execution results; on success: next", format!("{DONE} after_done:pass"))
            .at("ci"),
        row(
            "Test failure after cc:Done: classify failure cause",
            format!("{DONE} after_done:fail"),
        )
        .at("test_cause"),
        row("Save fix task proposal to state and wait for approval", failing.clone())
            .at("propose_fix")
            .units("1.fix=absent")
            .exits(8),
        row("approve fix <task_id>: add to Plans.md as cc:TODO", {
            format!("{failing} propose_fix:approve")
        })
        .records("cc:WIP cc:Done fix_approved")
        .units("1=done 1.fix=pending"),
        row("… and work it off", format!("{failing} propose_fix:approve >"))
            .units("1=done 1.fix=done")
            .exits(0),
        row("reject fix <task_id> discards the proposal", {
            format!("{failing} propose_fix:reject >")
        })
        .records("cc:WIP cc:Done fix_rejected")
        .units("1=done 1.fix=absent")
        .exits(0),
    ]);
    let script = work();
    let walk = script.play(&[], &format!("{failing} propose_fix:approve progress:told"));
    assert_eq!(working(&walk), "1.fix", "Depends: original task number");
    let origin = walk.run().unit_named("1.fix").and_then(|unit| unit.origin);
    assert_eq!(origin.as_deref(), Some("1"), "original task number + .fix suffix");
}

#[test]
fn only_a_task_that_is_done_is_followed_by_its_fix() {
    // While the proposal waits, the task has not settled: what depends on it does not start.
    let script = work();
    let failing = "after_done:fail test_cause:classified,cause=timeout,fixes=1.fix<1";
    let steps = "drift:clean plans:found,tasks=1+2<1,target_count=2,unlisted_count=0,\
                 test_framework=false >after_done";
    let mut walk = script.play(&[], &format!("{steps} {failing}"));
    assert_eq!((status(&walk, "2"), walk.exit_code()), ("pending", Some(8)));
    script.go_on(&mut walk, "propose_fix:approve progress:told");
    assert_eq!(working(&walk), "2 1.fix");
}

#[test]
fn ci_failures_of_one_cause_are_fixed_twice_and_then_proposed_and_escalated() {
    let script = work();
    let mut walk = script.play(&[], &format!("{DONE} >ci"));
    let classified =
        |fix: &str| format!("ci:fail ci_cause:classified,cause=type_error,same=c1,fixes={fix}");
    script.go_on(&mut walk, &classified("1.fix<1"));
    assert_eq!((status(&walk, "1"), status(&walk, "1.fix")), ("done", "pending"));
    assert_eq!(
        walk.records(),
        ["cc:WIP", "cc:Done", "ci_fix"],
        "fewer than 3 times: implement fix"
    );
    script.go_on(&mut walk, "progress:told");
    assert_eq!(working(&walk), "1.fix", "no one is asked");
    script.go_on(&mut walk, &format!(">ci {} progress:told", classified("1.fix.fix<1.fix")));
    assert_eq!(working(&walk), "1.fix.fix", "the second of the cause");
    script.go_on(&mut walk, &format!(">ci {}", classified("1.fix.fix.fix<1.fix.fix")));
    assert_eq!(walk.at(), ["ci_escalate"], "CI failure (3rd time)");
    assert_eq!(script.told(&walk).last(), Some(&"ci-escalation"), "summarised for escalation");
    script.go_on(&mut walk, "ci_escalate:told");
    assert_eq!((walk.at().join(" "), walk.exit_code()), ("propose_last".to_owned(), Some(8)));
    assert_eq!(status(&walk, "1.fix.fix.fix"), "absent", "present fix task proposal");
    for id in ["1", "1.fix", "1.fix.fix"] {
        let landed = walk.run().unit_named(id).map(|unit| unit.landed);
        assert_eq!(landed, Some(true), "{id} has landed, once");
    }
    assert_eq!(walk.runs("landing"), 3);
    script.go_on(&mut walk, "propose_last:approve >");
    assert_eq!(walk.records().last().map(String::as_str), Some("fix_approved"));
    assert_eq!(status(&walk, "1.fix.fix.fix"), "unfinished", "cc:TODO, for another run");
    assert_eq!(walk.exit_code(), Some(3), "+ escalate");
}

#[test]
fn a_rejected_proposal_escalates_as_well() {
    let script = work();
    let mut walk = script.play(&[], &format!("{DONE} >ci"));
    for fix in ["1.fix", "1.fix.fix", "1.fix.fix.fix"] {
        let classified = format!("ci:fail ci_cause:classified,cause=timeout,same=c1,fixes={fix}");
        script.go_on(&mut walk, &format!(">ci {classified}"));
    }
    script.go_on(&mut walk, "ci_escalate:told propose_last:reject >");
    assert_eq!(walk.records().last().map(String::as_str), Some("fix_rejected"));
    assert_eq!((status(&walk, "1.fix.fix.fix"), walk.exit_code()), ("absent", Some(3)));
}

#[test]
fn each_cause_has_its_own_count_over_the_whole_run() {
    // Causes of CI failures in turn, and how many of them were fixed without asking: two of a class may be two causes.
    let cases = [
        ("c1 c1 c1", 2, "3 failures from the same cause"),
        ("c1 c2 c1 c2 c1", 4, "from the same cause"),
        ("c1 c2 c3 c4 c5 c6", 6, "six"),
        ("c1 c2 c2 c2", 3, "whichever comes first"),
    ];
    for (causes, fixed, seed) in cases {
        let script = work();
        let mut walk = script.play(&[], DONE);
        for (nth, cause) in causes.split(' ').enumerate() {
            let same = format!("cause=timeout,same={cause}");
            let fix = format!("ci:fail ci_cause:classified,{same},fixes=fix-{nth}");
            script.go_on(&mut walk, &format!(">ci {fix}"));
        }
        let recorded = walk.records().iter().filter(|record| *record == "ci_fix").count();
        assert_eq!(recorded, fixed, "{seed}: {causes}");
        let escalates = causes.split(' ').count() > fixed;
        assert_eq!(walk.is_at("ci_escalate"), escalates, "{seed}: {causes}");
    }
}

#[test]
fn no_check_is_no_failure() {
    work().holds([
        row("C15: no tests", format!("{DONE} after_done:skipped")).at("ci"),
        row("C15: no CI", format!("{DONE} after_done:pass ci:skipped")).units("1=done"),
        row("CI passes", format!("{DONE} after_done:pass ci:pass")).units("1=done"),
    ]);
}

#[test]
fn every_task_is_done_or_explained() {
    let unapproved = "contract:drafted,profile=static contract_review:unapproved";
    let two = "drift:clean plans:found,tasks=1+2<1,target_count=2,unlisted_count=0,\
               test_framework=false";
    work().holds([
        row("verify all tasks are cc:Done", format!("{ONE} >"))
            .tells("progress aggregate-report")
            .silent("unfinished-tasks")
            .exits(0),
        row("one has failed", format!("{ONE} >contract {unapproved} >"))
            .tells("progress unfinished-tasks aggregate-report")
            .units("1=failed")
            .exits(4),
        row("one was left out", format!("{ONE} background:unsure understood:no >"))
            .tells("unfinished-tasks aggregate-report")
            .units("1=skipped")
            .exits(4),
        row("one was in the way of another", format!("{two} >contract {unapproved} >"))
            .tells("unfinished-tasks aggregate-report")
            .units("1=failed 2=blocked")
            .exits(4),
        row("drift was declined", "drift:stale drift_gate:no >")
            .tells("drift-advice unfinished-tasks aggregate-report")
            .exits(5),
    ]);
}

#[test]
fn there_is_a_progress_line_after_every_task() {
    let script = work();
    let steps = "drift:clean plans:found,tasks=1+2+3,target_count=3,unlisted_count=0,\
                 test_framework=false >";
    let walk = script.play(&[], steps);
    let lines = script.told(&walk).iter().filter(|tell| **tell == "progress").count();
    let boxes = script.told(&walk).iter().filter(|tell| **tell == "completion-report").count();
    assert_eq!((lines, boxes), (3, 3));
    let reports = script.told(&walk).iter().filter(|tell| **tell == "aggregate-report").count();
    assert_eq!(reports, 1);
}
