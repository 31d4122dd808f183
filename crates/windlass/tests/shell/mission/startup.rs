//! How a mission begins: its plan, what is wrong with it, who looks at it, and where a person is waited for (M1–M3).

use serde_json::json;

use super::rig::{
    CONTRACT, ESCALATION, Feature, QUEUE, Rig, SPEC, builds, contract, feature, passes, plans,
    queue, simply, val,
};
use crate::scratch::ended;

fn two() -> [Feature; 2] {
    [feature("F-HI"), feature("F-BYE").on(&["F-HI"])]
}

#[test]
fn a_spec_is_planned_reviewed_built_and_landed() {
    let mut rig = Rig::unplanned(&two(), "", &[]);
    rig.ends(&[], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-BYE passed");
    assert_eq!(rig.landed(), ["Build F-HI", "Build F-BYE"]);
    rig.was_always_sound();
    assert_eq!(rig.file(CONTRACT), Some(contract(&two())), "as the planner wrote it");
    let bye = rig.feature("F-BYE");
    assert_eq!(
        (&bye["claims"], &bye["attempts"], &bye["depends"]),
        (&json!([val("F-BYE")]), &json!(1), &json!(["F-HI"]))
    );
    let tip = rig.scratch.git(&["rev-parse", "main"]);
    assert_eq!(bye["commit"], json!(tip), "what landed is linked");
    assert!(rig.prompts("mission-planner", "")[0].contains("It says hello and bye."));
    let reviewed = &rig.prompts("plan-reviewer", "")[0];
    assert!(reviewed.contains("It says hello") && reviewed.contains("VAL-HI-001: `hi.txt`"));
    let worked = &rig.prompts("mission-worker", "F-BYE")[0];
    assert!(worked.contains("- VAL-BYE-001: `bye.txt` is there"), "{worked}");
    assert!(worked.contains("Depends on (passed already): F-HI"), "{worked}");
    assert!(!worked.contains("VAL-HI-001"), "what is not theirs is not shown: {worked}");
    insta::assert_snapshot!("planned", rig.seen());
}

/// Plans that cannot be, and what is said of each.
fn flawed() -> Vec<(&'static str, String, String, &'static str)> {
    let (plan, assertions) = (queue(&two()), contract(&two()));
    let twice = [feature("F-HI"), feature("F-HI")];
    let round = [feature("F-HI").on(&["F-BYE"]), feature("F-BYE").on(&["F-HI"])];
    let first = contract(&two()[..1]);
    vec![
        (
            "a claim without an assertion",
            plan.clone(),
            first,
            "`F-BYE` claims \"VAL-BYE-001\", and the contract has no assertion of it",
        ),
        (
            "an assertion without a claim",
            plan.clone(),
            format!(
                "{assertions}- VAL-MORE-001: `more.txt` is there\n  command: `test -e more.txt`\n"
            ),
            "no feature claims VAL-MORE-001",
        ),
        ("an id twice", queue(&twice), contract(&twice[..1]), "the id `F-HI` is there twice"),
        (
            "a circle",
            queue(&round),
            assertions.clone(),
            "dependencies go round in a circle: F-HI → F-BYE → F-HI",
        ),
        (
            "what nobody can verify",
            plan.clone(),
            assertions
                .replace("  command: `test -e bye.txt`\n", "")
                .replace("`bye.txt` is there", "saying bye works well"),
            "VAL-BYE-001",
        ),
        ("broken JSON", plan.replace('[', "("), assertions, "features.json"),
    ]
}

#[test]
fn a_flawed_plan_is_sent_back_once_with_its_flaws() {
    for (name, plan, assertions, flaw) in flawed() {
        let mut rig = Rig::unplanned(&two(), &plans(Some(1), &plan, &assertions), &[]);
        rig.ends(&["--plan-only"], 0);
        let prompts = rig.prompts("mission-planner", "");
        assert_eq!(prompts.len(), 2, "{name}: {}", rig.told);
        assert!(!prompts[0].contains("## flaws"), "{name}: {}", prompts[0]);
        let told = prompts[1].split("## flaws").nth(1).unwrap_or_else(|| panic!("{name}"));
        assert!(told.contains(flaw), "{name}: {told}");
        assert_eq!(rig.file(QUEUE).map(|it| it.contains("F-BYE")), Some(true), "{name}");
        assert_eq!(rig.standing(), "F-HI pending, F-BYE pending", "{name}");
        assert_eq!(rig.file(CONTRACT), Some(contract(&two())), "{name}");
    }
}

#[test]
fn a_plan_that_stays_flawed_is_escalated_with_the_reason() {
    for (name, plan, assertions, flaw) in flawed() {
        let mut rig = Rig::unplanned(&two(), &plans(None, &plan, &assertions), &[]);
        rig.ends(&[], 3);
        assert_eq!(rig.came("mission-planner", "").len(), 2, "{name}: {}", rig.told);
        assert_eq!(rig.came("plan-reviewer", ""), [""; 0], "{name}: nobody reviews what cannot be");
        let why = rig.file(ESCALATION).unwrap_or_else(|| panic!("{name}: {}", rig.told));
        assert!(why.contains(flaw), "{name}: {why}");
        assert_eq!(rig.landed(), [""; 0], "{name}");
        assert_eq!(rig.came("curator", ""), ["curated"], "{name}: as after every escalation");
    }
}

#[test]
fn an_escalated_plan_says_what_next() {
    let (_, plan, assertions, _) = flawed().swap_remove(3);
    let mut rig = Rig::unplanned(&two(), &plans(None, &plan, &assertions), &[]);
    rig.ends(&[], 3);
    let why = rig.file(ESCALATION).unwrap();
    rig.told.push_str(&format!("$ cat {ESCALATION}\n{}", without_time(&why)));
    insta::assert_snapshot!("flawed_twice", rig.seen());
    // It is mended by hand, and that counts.
    rig.write(QUEUE, &queue(&two()));
    rig.write(CONTRACT, &contract(&two()));
    rig.ends(&[], 0);
    assert_eq!(rig.landed(), ["Build F-HI", "Build F-BYE"]);
}

/// A paper without the line that says when it was written.
fn without_time(text: &str) -> String {
    text.lines().filter(|line| !line.starts_with("At ")).map(|line| format!("{line}\n")).collect()
}

#[test]
fn what_the_reviewer_notes_reaches_the_workers() {
    let notes = simply("plan-reviewer", "accept_with_notes", "mind the full stop after bye");
    let mut rig = Rig::unplanned(&two(), &notes, &[]);
    rig.ends(&[], 0);
    assert!(rig.records().contains(&"plan_notes".to_owned()), "{:?}", rig.records());
    for unit in ["F-HI", "F-BYE"] {
        let told = &rig.prompts("mission-worker", unit)[0];
        assert!(told.contains("mind the full stop after bye"), "{unit}: {told}");
    }
    // What a reviewer says who has nothing to note is nobody's business.
    let mut rig = Rig::unplanned(&two()[..1], "", &[]);
    rig.ends(&[], 0);
    let told = &rig.prompts("mission-worker", "F-HI")[0];
    assert!(!told.contains("it can be built"), "{told}");
}

#[test]
fn a_rejected_plan_is_escalated_and_nothing_is_built() {
    let no = simply("plan-reviewer", "reject", "bye is said before hello");
    let mut rig = Rig::unplanned(&two(), &no, &[]);
    rig.ends(&[], 7);
    let why = rig.file(ESCALATION).unwrap();
    assert!(why.contains("bye is said before hello"), "{why}");
    assert!(rig.records().contains(&"plan_rejected".to_owned()));
    assert_eq!((rig.begun().len(), rig.landed().len()), (0, 0));
    rig.told.push_str(&format!("$ cat {ESCALATION}\n{}", without_time(&why)));
    insta::assert_snapshot!("rejected", rig.seen());
}

#[test]
fn before_the_features_a_person_is_asked_and_may_deny() {
    let mut rig = Rig::unplanned(&two(), "", &[]);
    rig.ends(&["--checkpoint", "post-planner"], 8);
    let paper = rig.file(".harness/checkpoints/post-planner.md").unwrap();
    assert!(paper.contains("The plan's reviewer: accept. it can be built"), "{paper}");
    assert!(paper.contains("windlass answer"), "{paper}");
    assert_eq!(rig.begun(), [""; 0]);
    // Asked again, nothing has changed.
    rig.ends(&[], 8);
    assert_eq!(rig.answers("plan_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed().len(), 2);
    assert_eq!(rig.decided("CHECKPOINT"), 1);
    insta::assert_snapshot!("post_planner", rig.seen());

    let mut rig = Rig::unplanned(&two(), "", &[]);
    rig.ends(&["--checkpoint", "post-planner"], 8);
    assert_eq!(rig.answers("plan_grant", &["deny"]), Some(7), "{}", rig.told);
    assert_eq!((rig.begun().len(), rig.landed().len()), (0, 0));
    assert!(rig.file(ESCALATION).unwrap().contains("denied"), "{:?}", rig.file(ESCALATION));
}

#[test]
fn what_a_person_edits_at_the_checkpoint_counts() {
    let more = builds("F-MORE", None, "more\n") + &passes("F-MORE");
    let mut rig = Rig::unplanned(&two(), &more, &[]);
    rig.ends(&["--checkpoint", "post-planner"], 8);
    rig.edit(|features| {
        features.remove(1);
        features.push(json!({ "id": "F-MORE", "title": "More", "claims": ["VAL-MORE-001"] }));
    });
    let assertions = contract(&[feature("F-HI"), feature("F-MORE")]);
    rig.write(CONTRACT, &assertions);
    assert_eq!(rig.answers("plan_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!(rig.landed(), ["Build F-HI", "More"]);
    assert_eq!(rig.file(CONTRACT), Some(assertions));
}

#[test]
fn before_each_landing_a_person_is_asked() {
    let mut rig = Rig::of(&two(), &builds("F-BYE", Some(2), "good bye\n"));
    rig.ends(&["--checkpoint", "pre-merge"], 8);
    let paper = rig.file(".harness/checkpoints/pre-merge-F-HI.md").unwrap();
    assert!(paper.contains("F-HI: Build F-HI") && paper.contains("VAL-HI-001: yes: ran it"));
    assert_eq!(rig.landed(), [""; 0]);
    assert_eq!(rig.answers("merge_grant", &["grant"]), Some(8), "{}", rig.told);
    assert_eq!(rig.landed(), ["Build F-HI"]);
    assert!(rig.file(".harness/checkpoints/pre-merge-F-BYE.md").unwrap().contains("F-BYE"));
    assert_eq!(rig.file(".harness/checkpoints/pre-merge-F-HI.md"), Some(paper), "each its own");
    // Who wants it otherwise says how.
    let (id, _) = rig.asked().unwrap();
    assert_eq!(rig.run(&["answer", &id, "rework"]), Some(2), "{}", rig.told);
    assert_eq!(rig.came("mission-worker", "F-BYE").len(), 1);
    let again = rig.answers("merge_grant", &["rework", "--text", "say good bye"]);
    assert_eq!(again, Some(8), "{}", rig.told);
    let told = rig.prompts("mission-worker", "F-BYE").pop().unwrap();
    assert!(told.contains("say good bye"), "what the person said is theirs to do: {told}");
    assert_eq!(rig.landed(), ["Build F-HI"]);
    assert_eq!(rig.answers("merge_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!(rig.scratch.git(&["show", "main:bye.txt"]), "good bye");
    rig.was_always_sound();
}

#[test]
fn a_mission_is_told_and_asked_in_the_language_of_whoever_reads() {
    let rig = Rig::of(&two()[..1], "");
    let mut mission =
        rig.scratch.windlass(&["mission", "--checkpoint", "pre-merge", "--lanes", "1"]);
    let (code, said) = ended(mission.env("WINDLASS_LANG", "ko").output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    for korean in [
        "체크포인트 pre-merge: .harness/checkpoints/pre-merge-F-HI.md",
        "체크포인트 pre-merge: 기능 F-HI: Build F-HI — 병합할까요?",
    ] {
        assert!(said.contains(korean), "{korean}: {said}");
    }
    let (id, _) = rig.asked().unwrap();
    let mut answer = rig.scratch.windlass(&["answer", &id, "grant"]);
    assert_eq!(answer.output().unwrap().status.code(), Some(0));
    let mut resume = rig.scratch.windlass(&["resume"]);
    let (code, said) = ended(resume.env("WINDLASS_LANG", "ko").output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("기능 1개 중 통과 1 — 2번 반복에 0.02/20.00달러"), "{said}");
}

#[test]
fn after_each_feature_and_before_the_end_a_person_is_asked() {
    let mut rig = Rig::of(&two(), "");
    rig.ends(&["--checkpoint", "post-feature", "--checkpoint", "pre-done"], 8);
    let paper = rig.file(".harness/checkpoints/post-feature-F-HI.md").unwrap();
    assert!(paper.contains("1 passed of 2 features"), "{paper}");
    assert_eq!(rig.landed(), ["Build F-HI"]);
    assert_eq!(rig.answers("feature_grant", &["grant"]), Some(8), "{}", rig.told);
    assert_eq!(rig.landed().len(), 2);
    let paper = rig.file(".harness/checkpoints/pre-done.md").unwrap();
    assert!(paper.contains("2 passed of 2 features"), "{paper}");
    assert_eq!(rig.came("curator", ""), [""; 0], "not done yet");
    assert_eq!(rig.answers("done_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!((rig.decided("CHECKPOINT"), rig.decided("DONE")), (2, 1));
}

#[test]
fn files_that_are_there_are_taken_as_they_are() {
    let mut rig = Rig::of(&two(), "");
    rig.edit(|features| features[1]["notes"] = json!({ "by": "a person" }));
    rig.ends(&[], 0);
    assert_eq!(rig.came("mission-planner", ""), [""; 0]);
    assert_eq!(rig.came("plan-reviewer", ""), [""; 0]);
    assert_eq!(rig.feature("F-BYE")["notes"], json!({ "by": "a person" }), "it stays");
    assert_eq!(rig.file(CONTRACT), Some(contract(&two())));
    assert_eq!(rig.landed().len(), 2);
}

/// A list alone, other words for where a feature stands, and no contract.
#[test]
fn a_queue_of_the_seeds_system_is_taken_with_a_remark() {
    let judged =
        |id: &str, claim: &str| super::rig::judges(id, None, "pass", &[(claim, "yes")], &[]);
    let script = judged("F-HI", "It says hello") + &judged("F-BYE", "It says bye");
    let mut rig = Rig::unplanned(&two(), &script, &[]);
    rig.write(
        QUEUE,
        r#"[{"id": "F-OLD", "title": "Old", "claims": ["It is old"], "status": "done", "attempts": 2},
            {"id": "F-HI", "title": "Hello", "claims": ["It says hello"], "status": "todo", "attempts": 0, "dependsOn": ["F-OLD"]},
            {"id": "F-BYE", "title": "Bye", "claims": ["It says bye"], "status": "paused", "attempts": 1}]"#,
    );
    rig.ends(&[], 0);
    rig.saw(
        "there is no .harness/validation-contract.md: validators judge each claim by its words",
    );
    assert_eq!(rig.standing(), "F-OLD passed, F-HI passed, F-BYE passed");
    assert!(rig.queue().is_array(), "its form stays");
    assert_eq!(rig.feature("F-OLD")["attempts"], 2);
    let mut landed = rig.landed();
    landed.sort_unstable();
    assert_eq!(landed, ["Bye", "Hello"]);
    let told = &rig.prompts("validator", "F-HI")[0];
    assert!(told.contains("- It says hello"), "{told}");
}

#[test]
fn a_plan_alone_is_made_edited_and_gone_on_with() {
    let more = builds("F-MORE", None, "more\n") + &passes("F-MORE");
    let mut rig = Rig::unplanned(&two(), &more, &[]);
    rig.ends(&["--plan-only"], 0);
    rig.saw("The plan has 2 features with 2 claims; 2 of 2 assertions are checked by command.");
    assert_eq!(rig.begun(), [""; 0]);
    insta::assert_snapshot!("plan_only", rig.seen());
    // Asked for once more, it is as it was.
    rig.ends(&["--plan-only"], 0);
    assert_eq!((rig.came("mission-planner", "").len(), rig.begun().len()), (0, 0), "{}", rig.told);
    rig.edit(|features| {
        features[1]["title"] = json!("Say good bye");
        features.push(json!({ "id": "F-MORE", "title": "More", "claims": ["VAL-MORE-001"] }));
    });
    rig.write(CONTRACT, &contract(&[feature("F-HI"), feature("F-BYE"), feature("F-MORE")]));
    rig.ends(&["--lanes", "2"], 0);
    assert_eq!(rig.standing(), "F-HI passed, F-BYE passed, F-MORE passed");
    let mut landed = rig.landed();
    landed.sort_unstable();
    assert_eq!(landed, ["Build F-HI", "More", "Say good bye"]);
    rig.was_always_sound();
}

#[test]
fn a_plan_without_history_says_how_often_agents_are_asked_and_that_is_how_often_they_are() {
    let mut rig = Rig::unplanned(&two(), "", &[]);
    rig.ends(&["--plan-only"], 0);
    rig.saw("6 to 14 invocations of agents: 2 features, 1 at a time");
    rig.saw("In dollars it can be told once 2 are done; until then at most 5.00 dollars for each, 20.00 dollars and 8h00m in all");
    let output = rig.scratch.windlass(&["mission", "--plan-only", "--json"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let last: serde_json::Value = serde_json::from_str(printed.lines().last().unwrap()).unwrap();
    let forecast = &last["forecast"];
    assert_eq!(forecast["invocations"], json!({ "least": 6, "most": 14 }), "{printed}");
    assert_eq!((&forecast["runs"], &forecast["likely"]), (&json!(0), &json!(null)));
    assert_eq!(forecast["unit_micros_max"], json!(5_000_000));
    assert_eq!(forecast["invocation_micros_max"], json!(2_000_000));
    // All goes well: that is the least.
    rig.ends(&[], 0);
    let output = rig.scratch.windlass(&["cost", "--json"]).output().unwrap();
    let cost: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(cost["total"]["invocations"], json!(6), "{cost}");
    // With two that are done there is something to go by.
    let output = rig.scratch.windlass(&["cost", "--units", "2"]).output().unwrap();
    let told = String::from_utf8(output.stdout).unwrap();
    assert!(told.starts_with("about "), "{told}");
}

#[test]
fn the_projects_file_says_how_a_mission_runs() {
    let config = r#"{"branchIsolation": {"enabled": false, "baseBranch": "main"}, "lanes": 4, "crosscheck": true,
        "checkpoints": {"types": [{"name": "the plan", "triggerOn": "post-planner"}]}, "maxAttempts": 1}"#;
    let mut rig = Rig::unplanned(&two(), "", &[(".harness/config.json", config)]);
    assert_eq!(rig.run(&["mission"]), Some(8), "{}", rig.told);
    assert_eq!(rig.asked().unwrap().1, "plan_grant");
    let started = rig.scratch.entries().swap_remove(0);
    let said = started["inputs"].to_string();
    assert!(said.contains("post-planner") && said.contains("crosscheck"), "{said}");
    assert_eq!(started["inputs"][1], 1, "without branches of their own there is one lane: {said}");
    assert_eq!(rig.answers("plan_grant", &["grant"]), Some(0), "{}", rig.told);
    assert_eq!(rig.came("crosscheck", "F-HI"), ["pass"]);
    let before = rig.scratch.git(&["status", "--porcelain", "--", ":!.harness"]);
    assert_eq!(before, "", "never in the person's checkout");
}

#[test]
fn what_cannot_begin_says_what_to_do_and_starts_nothing() {
    let nothing = |rig: &mut Rig| {
        let runs = rig.scratch.status();
        assert_eq!(runs["runs"].as_array().map(Vec::len), Some(0), "{}", rig.told);
        assert!(!rig.scratch.repo().join(".harness/mission").exists());
    };
    let mut rig = Rig::unplanned(&two(), "", &[("SPEC.md", "")]);
    rig.ends(&[], 2);
    rig.ends(&["docs/other.md"], 2);
    rig.saw("there is no docs/other.md");
    nothing(&mut rig);
    rig.write("SPEC.md", SPEC);
    rig.write(QUEUE, "{\"features\": [");
    rig.ends(&[], 2);
    rig.write(QUEUE, &queue(&[feature("F-HI").on(&["F-NONE"])]));
    rig.ends(&[], 2);
    nothing(&mut rig);
    rig.write(QUEUE, &queue(&two()));
    rig.write(".harness/config.json", r#"{"checkpoints": {"types": [{"triggerOn": "at-noon"}]}}"#);
    rig.ends(&[], 2);
    rig.write(".harness/config.json", "{");
    rig.ends(&[], 2);
    nothing(&mut rig);
    assert_eq!(rig.file(QUEUE), Some(queue(&two())), "nobody touched it");
    insta::assert_snapshot!("cannot_begin", rig.seen());
}
