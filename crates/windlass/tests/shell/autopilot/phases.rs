//! Tasks, checkpoints, verification and review of a phase.

use std::fs;

use serde_json::Value;

use crate::pilot::{HANDOFF, Pilot, SHORT, plans, says};

#[test]
fn three_retries_with_wider_context_then_a_recovery_commit_and_a_question() {
    let bad =
        says("role = 'task-executor'\nunit = '1'", "verdict = 'done'", &[("phase-1.txt", "bad")]);
    let pilot = Pilot::new(SHORT, &bad);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    assert_eq!(
        said.matches("1: task 1: do: done").count(),
        4,
        "one attempt and three retries: {said}"
    );
    let (_, full) = {
        let output = pilot.scratch.windlass(&["log", "--full"]).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    for wider in
        ["the error output", "related files and similar failures", "all test output, imports"]
    {
        assert!(full.contains(&format!("Besides what you had before: {wider}")), "{wider}");
    }
    let failures = pilot.file(".harness/failures.md").unwrap();
    assert!(failures.contains("Phase 1: Alpha — Task 1: Write it"), "{failures}");
    assert_eq!(failures.matches("- Attempt ").count(), 3, "{failures}");
    let result = "it did not say what it did → `validate` failed: phase-1.txt is bad";
    for line in ["First try", "Attempt 1", "Attempt 2", "Attempt 3"] {
        assert!(failures.contains(&format!("- {line}: {result}")), "{line}: {failures}");
    }
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("FAILED (budget exhausted)"), "{gates}");
    assert!(gates.contains(&format!("Attempt 3: {result}")), "{gates}");
    let task = &pilot.state()["retryBudget"]["currentTask"];
    assert_eq!(task["attemptsUsed"], 3, "{task}");
    let attempt = &task["attempts"][2];
    assert_eq!(attempt["error"], "`validate` failed: phase-1.txt is bad", "{task}");
    assert_eq!(attempt["result"], attempt["error"], "{task}");
    assert_eq!(attempt["fix"], "it did not say what it did", "{task}");
    assert!(attempt["timestamp"].as_str().unwrap().ends_with('Z'), "{task}");
    assert!(gates.contains("Its lane: `windlass lanes list` says which it is"), "{gates}");
    // Fixed by hand in the lane: attributed, and checked like any other work.
    let lanes = pilot.scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let lane =
        lanes["lanes"].as_array().unwrap().iter().find(|it| it["unit"] == "1").expect("a lane");
    let lane = lane["path"].as_str().unwrap();
    fs::write(format!("{lane}/phase-1.txt"), "good\n").unwrap();
    // Notes of the session's are not part of the work, even here.
    fs::create_dir_all(format!("{lane}/.harness/sessions/spec")).unwrap();
    fs::write(format!("{lane}/.harness/sessions/spec/learnings.md"), "- mine\n").unwrap();
    let (code, said) = pilot.answer(&["manual"]);
    assert_eq!(code, Some(0), "{said}");
    let history = pilot.scratch.git(&["log", "--format=%s", "main"]);
    assert!(
        history.contains("[autopilot][recovery] Phase 1: Alpha — recovery at task 1"),
        "{history}"
    );
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "good");
    assert!(!pilot.scratch.git(&["ls-tree", "-r", "--name-only", "main"]).contains(".harness"));
}

#[test]
fn checkpoints_of_each_kind_bring_a_person_in() {
    let tasks = "### Task 1: See [checkpoint:human-verify]\n### Task 2: Choose [checkpoint:decision]\nA or B?\n\
                 ### Task 3: Act [checkpoint:human-action]\nPlug it in.\n";
    let mut script = plans("1", tasks, HANDOFF);
    for task in ["1", "2", "3"] {
        let who = format!("role = 'task-executor'\nunit = '1'\ntask = '{task}'");
        script += &says(&who, "verdict = 'done'", &[(&format!("t{task}.txt"), "good")]);
    }
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let ask = |want: &str| {
        let (_, gates) = pilot.run(&["gates"]);
        assert!(gates.contains(want), "{want}: {gates}");
    };
    ask("[checkpoint:human-verify] See: is this right?");
    assert_eq!(pilot.answer(&["confirmed"]).0, Some(8));
    ask("[checkpoint:decision] Choose: which option?");
    assert_eq!(pilot.answer(&["--text", "B, of course"]).0, Some(8));
    ask("[checkpoint:human-action] Act: please do this, then confirm.");
    let (code, said) = pilot.answer(&["confirmed"]);
    assert_eq!(code, Some(0), "{said}");
    let history = pilot.scratch.git(&["log", "--format=%s", "main"]);
    for commit in ["Checkpoint 1: See", "Checkpoint 2: Choose", "Checkpoint 3: Act"] {
        assert!(history.contains(&format!("[autopilot] {commit}")), "{history}");
    }
    let full = pilot.scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(
        full.contains("task 2, choose: other: B, of course"),
        "the executor is told what was chosen"
    );
}

#[test]
fn verification_that_fails_is_asked_about_and_fixed_with_a_fresh_budget() {
    let mut script = says(
        "role = 'verifier'\nunit = '1'\nattempt = 1",
        "verdict = 'fail', findings = [{ id = 'alpha', title = 'Alpha is not wired in' }]",
        &[],
    );
    script += &says(
        "role = 'task-executor'\nunit = '1'\ntask = 'v1-alpha'",
        "verdict = 'done'",
        &[("wired.txt", "good")],
    );
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Fix these issues before review?"), "{gates}");
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["wired.txt"], "good");
    assert!(pilot.decisions().contains(&"verification_fix".to_owned()));
}

#[test]
fn blocking_findings_are_saved_and_overridden_only_by_a_person() {
    let finding = "{ severity = 'blocking', file = 'a.rs', line = 3, title = 'It leaks' }";
    let script = says(
        "role = 'code-reviewer'\nunit = '1'",
        &format!(
            "verdict = 'blocking', blocking_count = 1, findings = [{finding}], blockers = [{{ id = 'b1', title = 'It leaks' }}]"
        ),
        &[],
    );
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("[blocking] It leaks a.rs:3"), "{gates}");
    let (code, said) = pilot.answer(&["override"]);
    assert_eq!(code, Some(0), "{said}");
    let review: Value =
        serde_json::from_str(&pilot.file(".harness/sessions/spec/phase-1-review.json").unwrap())
            .unwrap();
    assert_eq!(review[0]["title"], "It leaks");
    assert_eq!(review.as_array().unwrap().len(), 1, "a blocker is not another finding");
    assert!(pilot.decisions().contains(&"review_overridden".to_owned()));
    assert_eq!(pilot.state()["history"][0]["reviewFindings"]["blocking"], 1);
    let (_, report) = pilot.run(&["report"]);
    assert!(report.contains("code-reviewer of review, attempt 1, found:"), "{report}");
    assert!(report.contains("- \\[blocking\\] It leaks a.rs:3"), "{report}");
    let (_, asked) = pilot.run(&["log"]);
    assert!(asked.contains("offer_pr: no"), "{asked}");
}

#[test]
fn a_reviewer_that_contradicts_itself_has_not_approved() {
    let script = says(
        "role = 'code-reviewer'\nunit = '1'",
        "verdict = 'clear', blocking_count = 1, blockers = [{ id = 'b1', title = 'It leaks' }]",
        &[],
    );
    let pilot = Pilot::new(SHORT, &script);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("it says `clear` and reports blocking findings"), "{said}");
    assert!(pilot.scratch.landed().is_empty(), "{said}");
}

#[test]
fn findings_decide_what_is_blocking_and_are_fixed_wherever_they_stand() {
    let finding = "findings = [{ severity = 'blocking', file = 'a.rs', title = 'It leaks' }]";
    let mut script = says(
        "role = 'code-reviewer'\nunit = '1'\nattempt = 1",
        &format!("verdict = 'blocking', {finding}"),
        &[],
    );
    script += &says(
        "role = 'task-executor'\nunit = '1'\ntask = 'r1-finding-1'",
        "verdict = 'done'",
        &[("mended.txt", "good")],
    );
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["mended.txt"], "good");
    // And a verdict that does not agree with them is none.
    let pilot = Pilot::new(
        SHORT,
        &says("role = 'code-reviewer'\nunit = '1'", &format!("verdict = 'clear', {finding}"), &[]),
    );
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(3));
}
