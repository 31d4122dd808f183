//! A whole run, from a spec to what has landed, and the demo.

use serde_json::{Value, json};

use crate::pilot::{CONFIG, HANDOFF, Pilot, SHORT, SPEC, plans};
use crate::scratch::{Scratch, ended};

#[test]
fn a_spec_is_planned_built_verified_reviewed_and_landed_phase_by_phase() {
    let pilot = Pilot::new(SPEC, "");
    let start = pilot.scratch.git(&["rev-parse", "HEAD"]);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(!said.contains("is kept"), "nothing is left over: {said}");
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
    assert!(prompt("planner").contains("What you may use: read, search, edit. Nothing else."));
    let (_, doctor) = pilot.run(&["doctor"]);
    assert!(doctor.contains("not here, and passed over: nobody-has-this"), "{doctor}");
}
