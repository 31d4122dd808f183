//! Autopilot with real git, real checks and an agent that acts out a script.

use std::fs;

use serde_json::{Value, json};

use crate::pilot::{CONFIG, HANDOFF, Pilot, SHORT, SPEC, plans, says};
use crate::scratch::{Scratch, ended};

#[test]
fn a_spec_is_planned_built_verified_reviewed_and_landed_phase_by_phase() {
    let pilot = Pilot::new(SPEC, "");
    let start = pilot.scratch.git(&["rev-parse", "HEAD"]);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    let landed = pilot.scratch.landed();
    assert_eq!((landed["phase-1.txt"].as_str(), landed["phase-2.txt"].as_str()), ("good", "good"));
    assert_eq!(pilot.scratch.git(&["status", "--short"]), "?? .harness/\n?? docs/");
    let state = pilot.state();
    assert_eq!((&state["schemaVersion"], &state["currentState"]), (&json!(5), &json!("DONE")));
    assert_eq!(state["startingCommit"], json!(start));
    assert_eq!(state["phases"][1]["complexity"], "medium");
    assert_eq!(state["phases"][0]["status"], "complete");
    assert_eq!(state["phases"][0]["planPath"], json!(pilot.plan("alpha")));
    assert_eq!(state["history"][0]["tasksCompleted"], 1);
    assert_eq!(state["history"][0]["verificationPassed"], true);
    assert_eq!(state["finalReview"]["status"], "passed");
    assert_eq!(pilot.decisions(), ["auto_approved_plan", "auto_approved_plan"]);
    let signals = &state["decisions"][0]["signals"];
    assert_eq!(
        *signals,
        json!({ "reviewPlans": false, "highComplexity": "low", "complexityOverride": null,
                "plannerConcerns": [], "taskCount": 1, "taskThreshold": 15 })
    );
    for file in
        ["phase-1-review.json", "phase-2-review.json", "state.json", "handoff.json", "summary.md"]
    {
        assert!(pilot.file(&format!(".harness/sessions/spec/{file}")).is_some(), "{file}");
    }
    let handoff: Value =
        serde_json::from_str(&pilot.file(".harness/sessions/spec/handoff.json").unwrap()).unwrap();
    assert_eq!(handoff["summary"], "Completed 2 phases with 2 total tasks");
    assert_eq!(handoff["completed"], json!(["Phase 1: Alpha", "Phase 2: Beta"]));
    assert!(
        pilot
            .file(".harness/learnings.md")
            .unwrap()
            .contains("Executed 2 phases, 2 tasks, 0 retries")
    );
    assert!(
        said.contains(
            "Auto-approved Phase 1: Alpha\n  Review mode: auto\n  Complexity: low (no override)\n"
        ),
        "{said}"
    );
}

#[test]
fn the_demo_builds_its_program_and_mends_what_failed() {
    let scratch = Scratch::new();
    let dir = scratch.path("demo");
    let (code, said) = ended(scratch.windlass(&["demo", dir.to_str().unwrap()]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("2: check validate: fail") && said.contains("attempt 2"), "{said}");
    let todo =
        std::process::Command::new("sh").args(["todo", "help"]).current_dir(&dir).output().unwrap();
    assert!(String::from_utf8(todo.stdout).unwrap().contains("todo done N"));
    let report = scratch.windlass(&["report", "--json"]).current_dir(&dir).output().unwrap();
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(
        (&report["outcome"], report["units"].as_array().unwrap().len()),
        (&json!("done"), 3)
    );
    // It does not build twice in one place.
    let (code, said) = ended(scratch.windlass(&["demo", dir.to_str().unwrap()]).output().unwrap());
    assert_eq!(code, Some(2), "{said}");
}

#[test]
fn specs_that_cannot_be_used_are_refused_before_anything_starts() {
    let pilot = Pilot::new(SPEC, "");
    let big = format!("{SPEC}{}", "x".repeat(10 << 20));
    let table: [(&str, &[u8], &str); 7] = [
        ("empty.md", b" \n", "it is empty"),
        (
            "twice.md",
            b"## Implementation Order\n### Phase 1: A\n### Phase 1: B\n",
            "line 3: phase 1, as on line 2",
        ),
        (
            "order.md",
            b"## Implementation Order\n### Phase 2: A\n### Phase 1: B\n",
            "phase 1 comes after phase 2",
        ),
        (
            "hard.md",
            b"## Implementation Order\n### Phase 1: A\n<!-- complexity: huge -->\n",
            "`huge` is no complexity",
        ),
        ("big.md", big.as_bytes(), "split it"),
        ("binary.md", &[0, 159, 146, 150], "it is no text"),
        (
            "hostile.md",
            b"## Implementation Order\n```\n### Phase 1: A\n```\n### Phase 1:\n",
            "has no name",
        ),
    ];
    for (name, bytes, want) in table {
        fs::write(pilot.scratch.repo().join(name), bytes).unwrap();
        let (code, said) = pilot.run(&["autopilot", name]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(want), "{name}: {said}");
    }
    let (code, said) = pilot.run(&["autopilot", "nowhere.md"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = pilot.run(&["autopilot", "../outside.md"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = pilot.run(&["autopilot", "spec.md", "--fast", "--thorough"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("Cannot use --fast and --thorough together. Choose one."), "{said}");
    let (code, said) = pilot.run(&["autopilot"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("which spec?") && said.contains("windlass autopilot docs/my-feature.md"),
        "{said}"
    );
    assert_eq!(pilot.scratch.status()["runs"], json!([]));
}

#[test]
fn without_an_implementation_order_it_says_what_to_add_and_reads_again() {
    let pilot = Pilot::new("# Things\n\nJust prose.\n", "");
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("has no '## Implementation Order' section"), "{gates}");
    pilot.write("spec.md", SHORT);
    let (code, said) = pilot.answer(&["added"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "good");
}

/// Each signal alone: the script, the flags, and how the pause report marks it.
#[test]
fn each_signal_alone_pauses_for_review() {
    let tasks = |count: usize| -> String {
        (1..=count).map(|n| format!("### Task {n}: Do {n}\n")).collect()
    };
    let spec =
        |complexity: &str| SHORT.replace("complexity: low", &format!("complexity: {complexity}"));
    let worried = r#"{"fromSkill":"harness-planning","concerns":["it is dark","and cold"]}"#;
    type Case = (&'static str, String, String, &'static [&'static str], &'static str, Value);
    let table: [Case; 5] = [
        (
            "reviewPlans",
            SHORT.to_owned(),
            String::new(),
            &["--review-plans"],
            "Review mode: manual (--review-plans flag set)",
            json!(true),
        ),
        (
            "thorough",
            SHORT.to_owned(),
            String::new(),
            &["--thorough"],
            "Review mode: manual (--thorough)",
            json!(true),
        ),
        (
            "complexityOverride",
            SHORT.to_owned(),
            plans("1", &tasks(11), HANDOFF),
            &[],
            "Complexity override: low -> medium (triggered)",
            json!("medium"),
        ),
        (
            "plannerConcerns",
            SHORT.to_owned(),
            plans("1", "### Task 1: A", worried),
            &[],
            "Planner concerns: 2 concern(s) (triggered)",
            json!(["it is dark", "and cold"]),
        ),
        (
            "taskCount",
            spec("medium"),
            plans("1", &tasks(16), HANDOFF),
            &[],
            "Tasks: 16 (threshold: 15) (triggered)",
            json!(16),
        ),
    ];
    for (signal, spec, script, flags, marked, value) in table {
        let pilot = Pilot::new(&spec, &script);
        let args: Vec<&str> = ["spec.md"].iter().chain(flags).copied().collect();
        let (mut code, mut said) = ended(pilot.autopilot(&args).output().unwrap());
        if signal == "thorough" {
            // The skeleton is approved first.
            assert_eq!(code, Some(8), "{signal}: {said}");
            (code, said) = pilot.answer(&["yes"]);
        }
        assert_eq!(code, Some(8), "{signal}: {said}");
        let (_, gates) = pilot.run(&["gates"]);
        assert!(gates.contains("Pausing for review -- Phase 1: Alpha"), "{signal}: {gates}");
        assert!(gates.contains(marked), "{signal}: {gates}");
        let (code, said) = pilot.answer(&["yes"]);
        assert_eq!(code, Some(0), "{signal}: {said}");
        assert_eq!(pilot.decisions()[0], "approved_plan", "{signal}");
        let name = if signal == "thorough" { "reviewPlans" } else { signal };
        assert_eq!(pilot.state()["decisions"][0]["signals"][name], value, "{signal}");
    }
}

#[test]
fn the_thresholds_of_the_override_are_the_seeds() {
    let plan = |tasks: usize, checkpoints: usize| -> String {
        let mut text: String = (1..=tasks).map(|n| format!("### Task {n}: Do {n}\n")).collect();
        // Marks outside of any task count, too.
        for _ in 0..checkpoints {
            text = format!("[checkpoint:human-verify]\n\n{text}");
        }
        text
    };
    for (tasks, checkpoints, want) in [
        (10, 3, Value::Null),
        (11, 0, json!("medium")),
        (1, 4, json!("medium")),
        (20, 6, json!("medium")),
        (21, 0, json!("high")),
        (1, 7, json!("high")),
    ] {
        let pilot = Pilot::new(SHORT, &plans("1", &plan(tasks, checkpoints), HANDOFF));
        let (code, said) = pilot.run(&["autopilot", "spec.md", "--review-plans"]);
        assert_eq!(code, Some(8), "{said}");
        let found = &pilot.state()["phases"][0]["complexityOverride"];
        assert_eq!(*found, want, "{tasks} tasks, {checkpoints} checkpoints");
    }
}

#[test]
fn fast_approves_every_plan_validates_only_and_overrules_review_plans() {
    let worried = r#"{"fromSkill":"harness-planning","concerns":["it is dark"]}"#;
    let pilot = Pilot::new(SHORT, &plans("1", "### Task 1: A", worried));
    let (code, said) = pilot.run(&["autopilot", "spec.md", "--fast", "--review-plans"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("--fast overrules --review-plans"), "{said}");
    assert!(
        said.contains("Auto-approved Phase 1: Alpha (fast mode — signal evaluation skipped)"),
        "{said}"
    );
    assert!(!said.contains("verifier"), "{said}");
    let decisions = pilot.decisions();
    assert!(decisions.contains(&"auto_approved_plan_fast".to_owned()), "{decisions:?}");
    assert_eq!(pilot.state()["rigorLevel"], "fast");
}

#[test]
fn a_plan_that_is_revised_by_hand_is_read_again_and_flags_survive() {
    let pilot = Pilot::new(SHORT, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md", "--review-plans"]).0, Some(8));
    assert_eq!(pilot.answer(&["revise"]).0, Some(8));
    // Nonsense first: it is presented again and cannot pass for a plan.
    pilot.write(&pilot.plan("alpha"), "what plan?\n");
    assert_eq!(pilot.answer(&["edited"]).0, Some(8));
    assert_eq!(pilot.answer(&["revise"]).0, Some(8));
    pilot.write(&pilot.plan("alpha"), "### Task 1: One\n### Task 2: Two\n");
    assert_eq!(pilot.answer(&["edited"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Tasks: 2 (threshold: 15)"), "{gates}");
    let gates = pilot.scratch.windlass(&["gates", "--json"]).output().unwrap();
    let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
    let id = gates["gates"][0]["id"].as_str().unwrap();
    assert_eq!(pilot.run(&["answer", id, "yes"]).0, Some(0));
    // Flags are read at the beginning only.
    let (code, said) = pilot.run(&["autopilot", "spec.md", "--fast"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("keeps those it began with"), "{said}");
    assert_eq!(pilot.state()["rigorLevel"], "standard");
    assert_eq!(pilot.state()["history"][0]["tasksCompleted"], 2);
    assert_eq!(pilot.decisions(), ["revised_plan", "revised_plan", "approved_plan"]);
}

#[test]
fn a_skipped_phase_stays_skipped_everywhere() {
    let pilot = Pilot::new(SPEC, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md", "--review-plans"]).0, Some(8));
    assert_eq!(pilot.answer(&["skip"]).0, Some(8));
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Skipped: Alpha"), "{said}");
    let state = pilot.state();
    assert_eq!(
        (&state["phases"][0]["status"], &state["phases"][1]["status"]),
        (&json!("skipped"), &json!("complete"))
    );
    assert!(!pilot.scratch.landed().contains_key("phase-1.txt"));
    assert!(pilot.decisions().contains(&"skipped_phase".to_owned()));
}

#[test]
fn a_high_complexity_phase_waits_for_a_plan_and_is_planned_on_request() {
    let spec = SHORT.replace("complexity: low", "complexity: high");
    let pilot = Pilot::new(&spec, "");
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.contains("is marked high-complexity") && said.contains("windlass autopilot plan"),
        "{said}"
    );
    assert_eq!(pilot.state()["awaitingInteractivePlan"], true);
    // Without a plan it waits again.
    assert_eq!(pilot.run(&["autopilot"]).0, Some(3));
    let (code, said) = pilot.run(&["autopilot", "plan"]);
    assert_eq!(code, Some(8), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Complexity: high (triggered)"), "{gates}");
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.run(&["autopilot", "plan"]).0, Some(2));
}

#[test]
fn a_plan_that_a_person_puts_there_is_found() {
    let spec = SHORT.replace("complexity: low", "complexity: high");
    let pilot = Pilot::new(&spec, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(3));
    pilot.write("docs/plans/2026-01-02-alpha-plan.md", "## Tasks\n- [ ] One\n- [x] Two\n");
    assert_eq!(pilot.run(&["autopilot"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Plan: docs/plans/2026-01-02-alpha-plan.md"), "{gates}");
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    // What was ticked off is not done again.
    assert_eq!(said.matches("do: done").count(), 1, "{said}");
}

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
fn a_planner_that_writes_no_plan_has_failed_whatever_it_says() {
    let pilot = Pilot::new(SHORT, &says("role = 'planner'", "verdict = 'planned'", &[]));
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("it did not write docs/plans/"), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("The planner did not produce the expected output."), "{gates}");
}

#[test]
fn verification_that_fails_is_asked_about_and_fixed_with_a_fresh_budget() {
    let mut script = says(
        "role = 'verifier'\nunit = '1'\nattempt = 1",
        "verdict = 'fail', findings = [{ id = 'v1', title = 'Alpha is not wired in' }]",
        &[],
    );
    script += &says(
        "role = 'task-executor'\nunit = '1'\ntask = 'v1'",
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
fn who_is_asked_about_a_pull_request_sees_it() {
    let config = CONFIG.replace("[policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n", "");
    let script = says(
        "role = 'code-reviewer'\nunit = '1'",
        "verdict = 'blocking', findings = [{ severity = 'blocking', title = 'It leaks' }]",
        &[],
    );
    let pilot = Pilot::with(SHORT, &script, &[("windlass.toml", config.as_str())]);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    assert_eq!(pilot.answer(&["override"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    for line in [
        "Create a PR?",
        "Title: Things",
        "## Findings that were overridden",
        "Phase 1: [blocking] It leaks",
    ] {
        assert!(gates.contains(line), "{line}: {gates}");
    }
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
fn a_final_review_that_blocks_is_fixed_validated_and_landed() {
    // The final review has no unit.
    let mut script = says(
        "role = 'code-reviewer'\nunit = ''\nattempt = 1",
        "verdict = 'blocking', blocking_count = 1, findings = [{ severity = 'blocking', title = 'Twice the same' }], blockers = [{ id = 'x', title = 'Twice the same' }]",
        &[],
    );
    script +=
        &says("role = 'task-executor'\nunit = ''", "verdict = 'done'", &[("fixed.txt", "good")]);
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Address blocking findings before completing?"), "{gates}");
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["fixed.txt"], "good");
    let review = &pilot.state()["finalReview"];
    assert_eq!((&review["status"], &review["retryCount"]), (&json!("passed"), &json!(1)));
}

#[test]
fn a_session_that_another_harness_left_is_adopted_whatever_its_schema() {
    let full = json!({
        "sessionDir": ".harness/sessions/spec", "specPath": "spec.md", "currentState": "PLAN", "currentPhase": 1,
        "phases": [{ "name": "Alpha", "complexity": "low", "status": "complete" },
                   { "name": "Beta", "complexity": "medium", "status": "pending" }],
        "retryBudget": { "maxAttempts": 3, "currentTask": null }, "history": [],
    });
    let later = [
        ("startingCommit", json!("0123456789abcdef0123456789abcdef01234567"), 3),
        ("decisions", json!([]), 3),
        ("finalReview", json!({ "status": "pending", "findings": [], "retryCount": 0 }), 3),
        ("reviewPlans", json!(false), 4),
        ("rigorLevel", json!("standard"), 5),
    ];
    for schema in [2, 3, 4, 5] {
        let mut state = full.clone();
        state["schemaVersion"] = json!(schema);
        for (name, value, since) in &later {
            if schema >= *since {
                state[*name] = value.clone();
            }
        }
        let pilot = Pilot::new(SPEC, "");
        pilot.write(".harness/sessions/spec/autopilot-state.json", &state.to_string());
        let (code, said) = pilot.run(&["autopilot", "spec.md"]);
        assert_eq!(code, Some(0), "{schema}: {said}");
        assert!(said.contains("Resuming autopilot"), "{schema}: {said}");
        let landed = pilot.scratch.landed();
        assert!(
            !landed.contains_key("phase-1.txt") && landed.contains_key("phase-2.txt"),
            "{schema}"
        );
        assert_eq!(pilot.state()["schemaVersion"], 5);
        // What the other had written is kept.
        assert!(
            pilot.file(".harness/sessions/spec/autopilot-state.json.aside-1").is_some(),
            "{schema}"
        );
    }
}

#[test]
fn a_state_that_makes_no_sense_is_set_aside_and_a_fresh_start_offered() {
    let pilot = Pilot::new(SHORT, "");
    pilot.write(".harness/sessions/spec/autopilot-state.json", "{ not json");
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    let aside = ".harness/sessions/spec/autopilot-state.json.aside-1";
    assert_eq!(pilot.file(aside).as_deref(), Some("{ not json"));
    assert_eq!(pilot.answer(&["yes"]).0, Some(0));
}

#[test]
fn files_are_written_from_the_journal_and_can_be_written_anew() {
    let pilot = Pilot::new(SHORT, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    let dir = ".harness/sessions/spec";
    let names =
        ["autopilot-state.json", "state.json", "handoff.json", "phase-1-review.json", "summary.md"];
    let before: Vec<_> =
        names.iter().map(|name| pilot.file(&format!("{dir}/{name}")).unwrap()).collect();
    let plan = pilot.plan("alpha");
    fs::remove_dir_all(pilot.scratch.repo().join(".harness/sessions")).unwrap();
    fs::remove_file(pilot.scratch.repo().join(&plan)).unwrap();
    assert_eq!(pilot.run(&["project"]).0, Some(0));
    let json = pilot.scratch.windlass(&["project", "--json"]).output().unwrap();
    let json: Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json, json!({ "run": "autopilot-1", "remarks": [] }));
    for (name, text) in names.iter().zip(before) {
        assert_eq!(pilot.file(&format!("{dir}/{name}")).unwrap(), text, "{name}");
    }
    assert!(pilot.file(&plan).is_some());
    // An edit is noticed, kept, and does not count.
    let state = format!("{dir}/autopilot-state.json");
    pilot.write(&state, "{}");
    let (code, said) = pilot.run(&["project"]);
    assert_eq!(code, Some(0));
    assert!(said.contains("autopilot-state.json.aside-1"), "{said}");
    assert_eq!(pilot.state()["currentState"], "DONE");
}

#[test]
fn the_roadmap_moves_forward_one_word_at_a_time() {
    let roadmap = "# Roadmap\n\n## Now\n\n### Things\n\n- **Status:** planned\n- **Spec:** spec.md\n\n### Other\n\n- **Status:** planned\n";
    let pilot = Pilot::with(SPEC, "", &[]);
    pilot.write("docs/roadmap.md", roadmap);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    let now = pilot.file("docs/roadmap.md").unwrap();
    assert_eq!(now, roadmap.replacen("planned", "done", 1));
    // What a person set is never taken back.
    let pilot = Pilot::with(SPEC, "", &[]);
    let own = roadmap.replacen("planned", "parked by Ada", 1);
    pilot.write("docs/roadmap.md", &own);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), own);
}

#[test]
fn a_pull_request_is_opened_by_the_persons_own_program_or_written_down() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\nvalidate = 'sh check.sh'\n[policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n";
    for (fails, want) in
        [(false, "https://example.org/pull/1"), (true, "gh pr create --title 'Things' --body-file")]
    {
        let pilot = Pilot::with(SHORT, "", &[("windlass.toml", config)]);
        let bin = pilot.scratch.path("bin");
        fs::create_dir(&bin).unwrap();
        let gh = bin.join("gh");
        let script = format!(
            "#!/bin/sh\necho \"$@\" > '{}'\n{}\necho https://example.org/pull/1\n",
            pilot.scratch.path("asked").display(),
            if fails { "exit 1" } else { "" }
        );
        fs::write(&gh, script).unwrap();
        std::process::Command::new("chmod").arg("+x").arg(&gh).status().unwrap();
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
        // Nothing is opened before somebody asks for it.
        assert!(!pilot.scratch.path("asked").exists());
        let gates = pilot.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let id = gates["gates"][0]["id"].as_str().unwrap();
        assert_eq!(pilot.run(&["answer", id, "yes"]).0, Some(0));
        let (code, said) = ended(pilot.autopilot(&[]).env("PATH", &path).output().unwrap());
        assert_eq!(code, Some(0), "{said}");
        assert!(said.contains(want), "{said}");
        let asked = fs::read_to_string(pilot.scratch.path("asked")).unwrap();
        assert!(asked.contains("pr create --title Things"), "{asked}");
        let body = pilot.file(".harness/sessions/spec/pull-request.md").unwrap();
        assert!(body.contains("## Phase 1: Alpha (complete)"), "{body}");
    }
}

#[test]
fn a_plan_that_was_edited_since_it_was_shown_is_not_approved_by_a_yes() {
    let pilot = Pilot::new(SHORT, "");
    assert_eq!(pilot.run(&["autopilot", "spec.md", "--review-plans"]).0, Some(8));
    pilot.write(&pilot.plan("alpha"), "### Task 1: One\n### Task 2: Two\n");
    let (code, said) = pilot.run(&["answer", "0", "yes"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("was edited since it was shown"), "{said}");
    assert_eq!(pilot.answer(&["revise"]).0, Some(8));
    assert_eq!(pilot.answer(&["edited"]).0, Some(8));
    assert_eq!(pilot.answer(&["yes"]).0, Some(0));
    assert_eq!(pilot.state()["history"][0]["tasksCompleted"], 2);
}

#[test]
fn plans_of_other_runs_and_of_executors_are_not_taken_for_this_ones() {
    let other = SHORT.replace("# Things", "# Other things");
    let plant = says(
        "role = 'task-executor'\nunit = '1'",
        "verdict = 'done'",
        &[("phase-1.txt", "good"), ("docs/plans/2020-01-01-beta-plan.md", "### Task 1: Evil")],
    );
    let pilot = Pilot::with(SPEC, &plant, &[("other.md", &other)]);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("2: plan: planned"),
        "the second phase is planned by its planner: {said}"
    );
    assert!(!pilot.scratch.git(&["ls-tree", "-r", "--name-only", "main"]).contains("docs/plans"));
    // Another spec has a phase of the same name.
    let (code, said) = pilot.run(&["autopilot", "other.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("1: plan: planned"), "{said}");
}

#[test]
fn a_handoff_that_nobody_can_read_is_a_concern() {
    for handoff in ["{garbage", "[]", "null"] {
        let pilot = Pilot::new(SHORT, &plans("1", "### Task 1: A", handoff));
        let (code, said) = pilot.run(&["autopilot", "spec.md"]);
        assert_eq!(code, Some(8), "{handoff}: {said}");
    }
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
        "role = 'task-executor'\nunit = '1'\ntask = 'finding-1'",
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

#[test]
fn phases_that_are_left_are_built_in_the_order_that_the_spec_has_by_then() {
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [checks]\nvalidate = 'sh check.sh'\n[policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n";
    let spec = |names: &[&str]| -> String {
        let phases =
            names.iter().enumerate().map(|(at, name)| format!("### Phase {}: {name}\n", at + 1));
        format!("# Things\n\n## Implementation Order\n\n{}", phases.collect::<String>())
    };
    let script = plans("4", "### Task 1: New", HANDOFF);
    let pilot = Pilot::with(&spec(&["One", "Two", "Three"]), &script, &[("windlass.toml", config)]);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    pilot.write("spec.md", &spec(&["One", "Three", "New", "Two"]));
    assert_eq!(pilot.answer(&["reorder"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("| - Three\n  | - New\n  | - Two\n"), "{gates}");
    let mut built = pilot.answer(&["yes"]).1;
    for _ in 0..2 {
        built += &pilot.answer(&["yes"]).1;
    }
    let complete: Vec<&str> = built.lines().filter(|line| line.ends_with(" — COMPLETE")).collect();
    assert_eq!(
        complete,
        ["Phase 3: Three — COMPLETE", "Phase 4: New — COMPLETE", "Phase 2: Two — COMPLETE"],
        "{built}"
    );
    assert_eq!(pilot.state()["currentState"], "DONE");
}

/// Each question of the seed, for real: how it comes about, what it shows, and where each answer leads. Stopping leaves
/// it open: whoever starts again is asked the same.
#[test]
fn each_question_shows_what_it_is_about_and_leads_where_it_says() {
    struct Asked {
        script: String,
        flags: &'static [&'static str],
        /// Questions on the way, and what is answered.
        before: &'static [&'static str],
        question: &'static str,
        shows: &'static [&'static str],
        /// An answer, and the exit code and what is said or asked then.
        answers: &'static [(&'static [&'static str], i32, &'static str)],
    }
    let silent = |who: &str| format!("[[answer]]\n{who}\nfault = 'silent'\n\n");
    let verifier = says(
        "role = 'verifier'",
        "verdict = 'fail', findings = [{ id = 'f1', title = 'nothing is wired in', file = 'a.rs', line = 3 }]",
        &[],
    );
    let reviewer = says(
        "role = 'code-reviewer'\nunit = '1'",
        "verdict = 'blocking', blocking_count = 1, warning_count = 0, note_count = 0, \
         findings = [{ severity = 'blocking', title = 'a race', file = 'b.rs', line = 9 }]",
        &[],
    );
    let last_reviewer = reviewer.replace("unit = '1'\n", "");
    let marked = plans("1", "### Task 1: See [checkpoint:human-verify]\nWrite alpha.", HANDOFF);
    let seen = says(
        "role = 'task-executor'\nunit = '1'",
        "verdict = 'done', summary = 'wrote alpha'",
        &[("phase-1.txt", "good")],
    );
    let bad = says(
        "role = 'task-executor'\nunit = '1'",
        "verdict = 'failed', summary = 'tried hard'",
        &[("phase-1.txt", "good")],
    );
    let table = [
        Asked {
            script: says("role = 'planner'", "verdict = 'planned'", &[]),
            flags: &[],
            before: &[],
            question: "Retry the planning step, or stop?",
            shows: &["it did not write docs/plans/"],
            answers: &[(&["retry"], 8, "Retry the planning step, or stop?")],
        },
        Asked {
            script: "[[answer]]\nrole = 'plan-skeleton'\nprint = 'One task in a.txt.'\nsay = { verdict = 'drafted' }\n"
                .to_owned(),
            flags: &["--thorough"],
            before: &[],
            question: "Approve this plan skeleton?",
            shows: &["One task in a.txt."],
            answers: &[
                (&["revise", "--text", "two tasks"], 8, "Approve this plan skeleton?"),
                (&["yes"], 8, "Approve this plan and begin execution?"),
            ],
        },
        Asked {
            script: silent("role = 'task-executor'"),
            flags: &[],
            before: &[],
            question: "Retry the task, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the task, or stop?")],
        },
        Asked {
            script: marked + &seen,
            flags: &[],
            before: &[],
            question: "[checkpoint:human-verify] See: is this right?",
            shows: &["Write alpha.", "wrote alpha", "+++ b/phase-1.txt", "+good"],
            answers: &[
                (&["redo", "--text", "louder"], 8, "[checkpoint:human-verify] See"),
                (&["confirmed"], 0, ""),
            ],
        },
        Asked {
            script: bad,
            flags: &[],
            before: &[],
            question: "How should we proceed? (fix manually and continue / revise plan / stop)",
            shows: &["Attempt 3: tried hard → the executor reported that it failed"],
            answers: &[
                (&["revise"], 8, "Edit the plan file directly, then continue."),
            ],
        },
        Asked {
            script: verifier.clone(),
            flags: &[],
            before: &[],
            question: "Fix these issues before review?",
            shows: &["nothing is wired in a.rs:3"],
            answers: &[
                (&["fix"], 8, "Fix these issues before review?"),
                (&["skip"], 0, "verification_skipped"),
            ],
        },
        Asked {
            script: silent("role = 'verifier'"),
            flags: &[],
            before: &[],
            question: "Retry the verification step, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the verification step, or stop?")],
        },
        Asked {
            script: reviewer,
            flags: &[],
            before: &[],
            question: "Address blocking findings before completing this phase?",
            shows: &["[blocking] a race b.rs:9"],
            answers: &[
                (&["fix"], 8, "Address blocking findings before completing this phase?"),
                (&["override"], 0, "review_overridden"),
            ],
        },
        Asked {
            script: silent("role = 'code-reviewer'"),
            flags: &[],
            before: &[],
            question: "Retry the review step, or stop?",
            shows: &["it printed nothing"],
            answers: &[(&["retry"], 8, "Retry the review step, or stop?")],
        },
        Asked {
            script: last_reviewer,
            flags: &[],
            before: &["override"],
            question: "Address blocking findings before completing?",
            shows: &["Final review: [blocking] a race b.rs:9"],
            answers: &[
                (&["fix"], 8, "Address blocking findings before completing?"),
                (&["override", "--text", "it is fine"], 0, "finalReview:overridden"),
            ],
        },
    ];
    for case in table {
        let pilot = Pilot::new(SHORT, &case.script);
        let args: Vec<&str> = ["autopilot", "spec.md"].iter().chain(case.flags).copied().collect();
        let (mut code, mut said) = pilot.run(&args);
        for answer in case.before {
            (code, said) = pilot.answer(&[answer]);
        }
        assert_eq!(code, Some(8), "{}: {said}", case.question);
        let (_, gates) = pilot.run(&["gates"]);
        assert!(gates.contains(case.question), "{}: {gates}", case.question);
        for shown in case.shows {
            assert!(gates.contains(shown), "{}: {shown}: {gates}", case.question);
        }
        // Stopped on record, and asked the same as soon as somebody goes on.
        let stopped = pilot.answer(&["stop"]);
        assert_eq!(stopped.0, Some(8), "{}: {}", case.question, stopped.1);
        assert!(pilot.run(&["gates"]).1.contains(case.question), "{}", case.question);
        for (words, want, then) in case.answers {
            let now = pilot.answer(words);
            assert_eq!(now.0, Some(*want), "{} {words:?}: {}", case.question, now.1);
            let (_, gates) = pilot.run(&["gates"]);
            let decisions = pilot.decisions().join(" ");
            let found = gates.contains(then) || decisions.contains(then);
            assert!(found, "{} {words:?}: {gates} {decisions}", case.question);
        }
    }
}

#[test]
fn the_final_review_looks_at_everything_that_has_landed() {
    let seen = tempfile::tempdir().unwrap();
    let tell = |who: &str| {
        format!("echo \"{who} $(ls *.txt | tr '\\n' ' ')\" >> '{}/seen'", seen.path().display())
    };
    let reviewer = format!(
        "cat > /dev/null\n{}\necho '{{\"verdict\":\"clear\",\"blocking_count\":0,\"warning_count\":0,\"note_count\":0}}'\n",
        tell("reviewer")
    );
    let config = format!(
        "[agents.reviewer]\nkind = 'command'\ncommand = ['sh', 'reviewer.sh']\ncost = 'none'\n{CONFIG}"
    )
    .replace("[roles]\n", "[roles]\ncode-reviewer = 'reviewer'\n");
    let check = format!("{}\n", tell("check"));
    let files = [
        ("reviewer.sh", reviewer.as_str()),
        ("windlass.toml", config.as_str()),
        ("check.sh", check.as_str()),
    ];
    let pilot = Pilot::with(SPEC, "", &files);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("the branch has moved"), "{said}");
    let seen = fs::read_to_string(seen.path().join("seen")).unwrap();
    let last = seen.lines().rev().take(2).collect::<Vec<_>>();
    let all = "phase-1.txt phase-2.txt";
    assert_eq!(last, [format!("reviewer {all} "), format!("check {all} ")], "{seen}");
}

/// Who is offered what: by the role, by the project to all, by the project to one; a project's own counts instead of what is
/// built in, and what nobody has is passed over.
#[test]
fn guidance_reaches_the_roles_it_is_meant_for() {
    let config = format!(
        "{CONFIG}[skills]\ndefault = ['house-style', 'nobody-has-this']\nverifier = ['deep-checks']\n"
    );
    let files = [
        ("windlass.toml", config.as_str()),
        (".agents/skills/house-style/SKILL.md", "---\nname: house-style\n---\nShort words.\n"),
        (".claude/skills/house-style/SKILL.md", "Long words.\n"),
        (".claude/skills/deep-checks/SKILL.md", "Dig.\n"),
        (".windlass/skills/harness-execution.md", "Do as we do.\n"),
    ];
    let pilot = Pilot::with(SHORT, "", &files);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    let log = pilot.scratch.windlass(&["log", "--full"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let prompt = |role: &str| {
        let at = log.find(&format!("# Your role: {role}")).expect(role);
        let rest = &log[at..];
        rest[..rest.find("# Now").expect("a prompt")].to_owned()
    };
    type Case = (&'static str, &'static [&'static str], &'static [&'static str]);
    let table: [Case; 4] = [
        ("planner", &["Guidance: harness-planning", "Short words."], &["Dig.", "Do as we do."]),
        ("task-executor", &["Do as we do.", "Short words."], &["The plan is approved", "Dig."]),
        (
            "verifier",
            &["Guidance: harness-verification", "Short words.", "Dig."],
            &["Do as we do."],
        ),
        ("code-reviewer", &["Guidance: harness-code-review", "Short words."], &["Dig."]),
    ];
    for (role, there, not_there) in table {
        let prompt = prompt(role);
        for text in there {
            assert!(prompt.contains(text), "{role}: {text}: {prompt}");
        }
        for text in not_there.iter().chain(&["Long words.", "nobody-has-this"]) {
            assert!(!prompt.contains(text), "{role}: {text}: {prompt}");
        }
        let others = table.iter().filter(|(other, ..)| *other != role);
        for (other, ..) in others {
            assert!(!prompt.contains(&format!("# Your role: {other}")), "{role}: {prompt}");
        }
    }
    assert!(prompt("planner").contains("What you may use: read, search. Nothing else."));
    let (_, doctor) = pilot.run(&["doctor"]);
    assert!(doctor.contains("not here, and passed over: nobody-has-this"), "{doctor}");
}

#[test]
fn plans_that_are_too_much_or_nothing_at_all_wait_for_a_person() {
    let tasks: String = (1..=500).map(|n| format!("### Task {n}: Do {n}\n")).collect();
    let worried = r#"{"fromSkill":"harness-planning","concerns":["it is dark"]}"#;
    let pilot = Pilot::new(SHORT, &plans("1", &tasks, worried));
    assert_eq!(pilot.run(&["autopilot", "spec.md", "--review-plans"]).0, Some(8));
    // Four of the five signals at once; the fifth goes with the override only where the spec says high.
    let (_, gates) = pilot.run(&["gates"]);
    for line in [
        "Review mode: manual (--review-plans flag set)",
        "Complexity override: low -> high (triggered)",
        "Planner concerns: 1 concern(s) (triggered)",
        "Tasks: 500 (threshold: 15) (triggered)",
        "500 tasks, 0 checkpoints, about 1500 minutes, high complexity",
        "Concern: it is dark",
    ] {
        assert!(gates.contains(line), "{line}: {gates}");
    }
    // Edited into nonsense, it is no plan; nothing is executed, and it can be edited again.
    let plan = pilot.plan("alpha");
    assert_eq!(pilot.answer(&["revise"]).0, Some(8));
    pilot.write(&plan, "\u{0}\u{1b}[2J ### \n```\n### Task 1: never\n");
    let (code, said) = pilot.answer(&["edited"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(!said.contains("task-executor"), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("0 tasks"), "{gates}");
    assert_eq!(pilot.answer(&["revise"]).0, Some(8));
    pilot.write(&plan, "### Task 1: Write it\n");
    assert_eq!(pilot.answer(&["edited"]).0, Some(8));
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "good");
}

#[test]
fn a_roadmap_that_a_person_changes_meanwhile_is_theirs() {
    let config = CONFIG.replace("[policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n", "");
    let pilot = Pilot::with(SPEC, "", &[("windlass.toml", config.as_str())]);
    let roadmap = |status: &str| {
        format!("# Roadmap\n\n### Things\n\n- **Status:** {status}\n- **Spec:** spec.md\n")
    };
    pilot.write("docs/roadmap.md", &roadmap("planned"));
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), roadmap("in-progress"));
    let theirs = format!("{}\nRemember the milk.\n", roadmap("blocked"));
    pilot.write("docs/roadmap.md", &theirs);
    let (code, said) = pilot.answer(&["yes"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.file("docs/roadmap.md").unwrap(), theirs);
}
