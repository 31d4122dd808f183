//! Plans: how they come about, what is looked at twice, and who approves them.

use serde_json::{Value, json};

use crate::pilot::{HANDOFF, Pilot, SHORT, SPEC, plans, says};
use crate::scratch::ended;

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
fn a_planner_that_writes_no_plan_has_failed_whatever_it_says() {
    let pilot = Pilot::new(SHORT, &says("role = 'planner'", "verdict = 'planned'", &[]));
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("it did not write docs/plans/"), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("The planner did not produce the expected output."), "{gates}");
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
