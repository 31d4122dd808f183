//! What people do to an autopilot that nobody had thought of, and what agents say that is not so.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::pilot::{CONFIG, HANDOFF, Pilot, SHORT, plans, says};

/// Where a lane is: a unit's, or the run's own.
fn lane(pilot: &Pilot, unit: &str) -> PathBuf {
    let lanes = pilot.scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let lanes = lanes["lanes"].as_array().unwrap();
    let own = lanes.iter().find(|lane| lane["unit"] == unit).expect("a lane");
    own["path"].as_str().unwrap().into()
}

fn log(pilot: &Pilot) -> String {
    let log = pilot.scratch.windlass(&["log", "--full"]).output().unwrap();
    String::from_utf8(log.stdout).unwrap()
}

#[test]
fn what_a_person_mends_after_the_final_review_is_checked_and_lands() {
    // Nothing but a file that only a person makes is good enough for the final review.
    let reviewer = "cat > /dev/null\ncounts='\"blocking_count\":0,\"warning_count\":0,\"note_count\":0'\n\
                    if [ -n \"$WINDLASS_UNIT\" ] || [ -e manual.txt ]; then\n\
                    echo \"{\\\"verdict\\\":\\\"clear\\\",$counts}\"\nelse\n\
                    echo '{\"verdict\":\"blocking\",\"findings\":[{\"severity\":\"blocking\",\"title\":\"no manual\",\"rationale\":\"nobody knows how\"}]}'\nfi\n";
    let config = format!(
        "[agents.reviewer]\nkind = 'command'\ncommand = ['sh', 'reviewer.sh']\ncost = 'none'\n{CONFIG}"
    )
    .replace("[roles]\n", "[roles]\ncode-reviewer = 'reviewer'\n");
    let pilot =
        Pilot::with(SHORT, "", &[("reviewer.sh", reviewer), ("windlass.toml", config.as_str())]);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    for _ in 0..4 {
        let (code, said) = pilot.answer(&["fix"]);
        assert_eq!(code, Some(8), "{said}");
    }
    let (_, gates) = pilot.run(&["gates"]);
    for line in
        ["How should we proceed?", "[blocking] no manual", "nobody knows how", "Attempt 3: done"]
    {
        assert!(gates.contains(line), "{line}: {gates}");
    }
    let failures = pilot.file(".harness/failures.md").unwrap();
    assert_eq!(failures.matches("→ findings remain").count(), 3, "{failures}");
    fs::write(lane(&pilot, "(the run itself)").join("manual.txt"), "good\n").unwrap();
    let (code, said) = pilot.answer(&["manual"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("check validate: pass"), "it is validated again: {said}");
    assert!(!said.contains("it changed files, which it may not"), "{said}");
    assert!(log(&pilot).contains("changed by hand"));
    assert_eq!(pilot.scratch.landed()["manual.txt"], "good");
}

#[test]
fn a_plan_that_is_new_is_approved_whatever_an_earlier_session_came_to() {
    let pilot = Pilot::new(SHORT, "[[answer]]\nrole = 'task-executor'\nfault = 'crash'\n\n");
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(3));
    assert_eq!(pilot.run(&["stop", "--cancel"]).0, Some(0));
    let worried = r#"{"fromSkill":"harness-planning","concerns":["this is dangerous"]}"#;
    let script = plans("1", "### Task 1: Something else", worried) + &crate::pilot::usual();
    pilot.write("script.toml", &script);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Approve this plan and begin execution?"), "{gates}");
    assert!(pilot.scratch.landed().is_empty());
}

/// A phase that conflicts with what somebody has committed meanwhile.
fn conflicting(resolver: &str) -> (Pilot, String) {
    let marked = plans("1", "### Task 1: See [checkpoint:human-verify]", HANDOFF);
    let pilot = Pilot::new(SHORT, &(marked + resolver));
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    pilot.write("phase-1.txt", "theirs\n");
    pilot.scratch.git(&["add", "phase-1.txt"]);
    pilot.scratch.git(&["commit", "-qm", "Theirs"]);
    let (_, said) = pilot.answer(&["confirmed"]);
    (pilot, said)
}

#[test]
fn a_resolver_that_resolves_nothing_is_not_believed() {
    let (pilot, said) =
        conflicting(&says("role = 'conflict-resolver'", "verdict = 'resolved'", &[]));
    assert!(said.contains("it left the marks of a conflict in phase-1.txt"), "{said}");
    assert!(!said.contains("nothing lands with"), "it comes to no landing: {said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "theirs");
}

#[test]
fn nothing_lands_with_the_marks_of_a_conflict() {
    let (pilot, said) = conflicting(&says("role = 'conflict-resolver'", "verdict = 'failed'", &[]));
    assert!(said.contains("conflicts in phase-1.txt"), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Both sides are in: phase-1.txt"), "{gates}");
    // A person says that they have mended it, and has not.
    let (code, said) = pilot.answer(&["manual"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("nothing lands with the marks of a conflict: phase-1.txt"), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "theirs");
    fs::write(lane(&pilot, "1").join("phase-1.txt"), "theirs and ours\n").unwrap();
    let (code, said) = pilot.answer(&["manual"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "theirs and ours");
}

#[test]
fn whoever_mends_a_finding_is_told_all_of_it_each_time() {
    let finding = "{ id = 'f1', title = 'It leaks', rationale = 'Nobody closes it.', file = 'a.rs', line = 4 }";
    let mut script = String::new();
    for attempt in [1, 2] {
        script += &says(
            &format!("role = 'verifier'\nattempt = {attempt}"),
            &format!(
                "verdict = 'fail', findings = [{finding}, {{ id = 'f1', title = 'And creaks' }}]"
            ),
            &[],
        );
    }
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("It leaks a.rs:4") && gates.contains("Nobody closes it."), "{gates}");
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("task v1-f1: do: done"), "{said}");
    assert!(said.contains("task v1-f1-2: do: done"), "{said}");
    // Found again, it is another task, not the one that is done.
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("task v2-f1: do: done"), "{said}");
    let log = log(&pilot);
    let prompt = &log[log.find("Part of it: v1-f1 — It leaks").expect("its prompt")..];
    assert!(prompt[..2_000].contains("It leaks a.rs:4\n"), "{}", &prompt[..2_000]);
    assert!(prompt[..2_000].contains("Nobody closes it."), "{}", &prompt[..2_000]);
}

#[test]
fn a_verifier_without_findings_is_taken_at_its_word() {
    let script = says(
        "role = 'verifier'\nattempt = 1",
        "verdict = 'fail', summary = 'the door does not close'",
        &[],
    );
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    assert!(pilot.run(&["gates"]).1.contains("the door does not close"));
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("task v1-verification: do: done"), "{said}");
}

#[test]
fn what_a_person_changes_at_a_checkpoint_is_checked_and_committed_as_theirs() {
    for (text, landed) in [("good, by hand", "good, by hand"), ("bad", "good")] {
        let marked = plans("1", "### Task 1: See [checkpoint:human-verify]", HANDOFF);
        let pilot = Pilot::new(SHORT, &marked);
        assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
        fs::write(lane(&pilot, "1").join("phase-1.txt"), format!("{text}\n")).unwrap();
        let (code, said) = pilot.answer(&["confirmed"]);
        if text == "bad" {
            // The executor mends it, and it is looked at again.
            assert_eq!(code, Some(8), "{said}");
            assert_eq!(pilot.answer(&["confirmed"]).0, Some(0));
        } else {
            assert_eq!(code, Some(0), "{said}");
        }
        assert_eq!(pilot.scratch.landed()["phase-1.txt"], landed);
    }
}

#[test]
fn a_role_that_is_to_write_what_nobody_knows_is_refused() {
    let role = "---\npurpose: verifies\nwrites: [proof]\n---\nVerify.\n";
    let pilot = Pilot::with(SHORT, "", &[(".windlass/roles/verifier.md", role)]);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("the role `verifier` is to write `proof`"), "{said}");
    assert!(said.contains("it knows plan, handoff.json"), "{said}");
}

#[test]
fn guidance_may_be_a_link_inside_the_project_only() {
    let config = format!("{CONFIG}[skills]\ndefault = ['linked', 'outside']\n");
    let pilot = Pilot::with(SHORT, "", &[("windlass.toml", config.as_str())]);
    let skills = pilot.scratch.repo().join(".windlass/skills");
    fs::create_dir_all(&skills).unwrap();
    fs::write(pilot.scratch.repo().join("STYLE.md"), "Short words.\n").unwrap();
    std::os::unix::fs::symlink("../../STYLE.md", skills.join("linked.md")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", skills.join("outside.md")).unwrap();
    pilot.scratch.git(&["add", "-A"]);
    pilot.scratch.git(&["commit", "-qm", "Guidance"]);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(0));
    let log = log(&pilot);
    assert!(log.contains("## Guidance: linked\n") && log.contains("Short words."));
    assert!(!log.contains("Guidance: outside") && !log.contains("/etc/passwd"));
    assert!(pilot.run(&["doctor"]).1.contains("not here, and passed over: outside"));
}

#[test]
fn a_finding_that_is_called_like_a_task_is_another_task() {
    let script = says(
        "role = 'verifier'\nattempt = 1",
        "verdict = 'fail', findings = [{ id = '1', title = 'It leaks' }]",
        &[],
    );
    let pilot = Pilot::new(SHORT, &script);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("task v1-1: do: done"), "{said}");
}

/// Two phases that are well by themselves and not together: it was not so when the run began, so it is the run's doing.
#[test]
fn what_does_not_go_together_is_found_in_the_end() {
    // Whatever has landed is red where both are, and only the checks of the run itself are told where they are.
    let check = "[ ! -e phase-2.txt ] || [ -e final.txt ]\n";
    let pilot = Pilot::with(crate::pilot::SPEC, "", &[("check.sh", check)]);
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "the second phase does not pass: {said}");
    let (code, said) = pilot.answer(&["stop"]);
    assert_eq!(code, Some(8), "{said}");
    // Somebody else brings it in.
    pilot.write("phase-2.txt", "theirs\n");
    pilot.scratch.git(&["add", "phase-2.txt"]);
    pilot.scratch.git(&["commit", "-qm", "Theirs"]);
    let (_, said) = pilot.run(&["skip", "2", "--reason", "done elsewhere"]);
    let (code, more) = pilot.run(&["resume"]);
    assert_eq!(code, Some(8), "{said}{more}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("Address blocking findings before completing?"), "{gates}");
    assert!(gates.contains("`validate` failed"), "{gates}");
    let (code, said) = pilot.answer(&["fix"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["final.txt"], "good");
}

#[test]
fn what_a_person_mended_is_not_lost_when_their_first_answer_is_refused() {
    let bad =
        says("role = 'task-executor'\nunit = '1'", "verdict = 'done'", &[("phase-1.txt", "bad")]);
    let pilot = Pilot::new(SHORT, &bad);
    assert_eq!(pilot.run(&["autopilot", "spec.md"]).0, Some(8));
    fs::write(lane(&pilot, "1").join("phase-1.txt"), "good, by hand\n").unwrap();
    let gate = pilot.scratch.windlass(&["gates", "--json"]).output().unwrap();
    let gate: Value = serde_json::from_slice(&gate.stdout).unwrap();
    let gate = gate["gates"][0]["id"].as_str().unwrap();
    assert_ne!(pilot.run(&["answer", gate, "manul"]).0, Some(0));
    let (code, said) = pilot.answer(&["manual"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "good, by hand");
}

#[test]
fn what_a_person_mends_where_the_final_review_said_nothing_lands() {
    let pilot = Pilot::new(
        SHORT,
        "[[answer]]\nrole = 'code-reviewer'\nunit = ''\nattempt = 1\nfault = 'silent'\n\n",
    );
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    fs::write(lane(&pilot, "(the run itself)").join("more.txt"), "good\n").unwrap();
    let (code, said) = pilot.answer(&["retry"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["more.txt"], "good");
}
