//! What becomes of an issue: its change groups, its review, what its tracker is told (I4 to I8).

use super::rig::{Rig, applies, passes, plans, says, simply, who};

#[test]
fn two_groups_of_which_one_fails_once_land_as_two_commits_and_are_reported() {
    let gap = ", criteria_met = true, spec_gaps = [{ id = 's1', title = 'greetings', subsystem = 'src', missing = 'what one is' }]";
    let script = plans("A-1", &["g1", "g2"])
        + &applies("A-1", "g2", 1, "wrong\n")
        + &simply(&who("failure-classifier", "", "", 0), "retryable", "a slip")
        + &passes("A-1", 0, "pass", gap);
    let mut rig = Rig::of(&["A-1"], &script);
    let seen = rig.ends(&["--once"], 0);
    assert!(seen.contains("[ISSUE_COMPLETE: A-1]") && seen.contains("[HARNESS_STOP]"), "{seen}");
    assert_eq!(rig.subjects(), ["feat: g1", "feat: g2"]);
    let message = rig.scratch.git(&["log", "-1", "--format=%B", "main"]);
    assert_eq!(
        message.trim(),
        "feat: g2\n\nIssue: A-1\nChange-Group: 2/2\nSubsystems: src\nInvariants: 2/2 verified\n\
         Co-Authored-By: acted <noreply@windlass.invalid>"
    );
    let log = rig.scratch.git(&["log", "--reverse", "--skip=0", "--format=%H", "main"]);
    let commits: Vec<&str> = log.lines().skip(1).map(|it| &it[..12]).collect();
    let issue = rig.issue("A-1");
    let told = format!(
        "Harness completed issue in iteration 1.\n\nFiles changed: 2\nChange groups: 2/2\nInvariants: 2/2 verified\n\
         Tests: tier0 PASS, tier1 PASS\n\nCommits: {}\n",
        commits.join(", ")
    );
    assert!(issue.contains(&told), "{issue}");
    let starts = "Harness iteration 1 starting. Autonomous plan→work→review→commit cycle.";
    assert_eq!(rig.said("A-1", starts), 1, "{issue}");
    assert!(issue.contains("\nstate: done\n"), "{issue}");
    let gap = rig.issue("spec-gap-greetings");
    assert!(gap.contains("Spec gap: greetings") && gap.contains("what one is"), "{gap}");
    assert!(gap.contains("ready"), "it comes back through the queue: {gap}");
    assert_eq!(rig.state("completed_issues"), "[\"A-1\"]");
    assert_eq!(rig.scratch.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_structural_failure_gives_up_one_group_and_the_issue_is_left_to_a_person() {
    let script = plans("A-1", &["g1", "g2"])
        + &applies("A-1", "g1", 0, "bad\n")
        + &passes("A-1", 0, "pass", ", criteria_met = false");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 4);
    assert_eq!(rig.subjects(), [""; 0], "nothing of it lands");
    let issue = rig.issue("A-1");
    for part in [
        "Harness failed on this issue in iteration 1.",
        "Failure type: structural\nReason: feat: g1: the approach is wrong\nChange groups completed: 1/2\n",
        "Partial work: feat: g2.",
        "Requires manual intervention.",
        "\nstate: in progress\n",
    ] {
        assert!(issue.contains(part), "{part}: {issue}");
    }
    assert_eq!(rig.records(), ["partial", "[HARNESS_STOP]"]);
    assert!(rig.told.contains("[ISSUE_FAILED: A-1]"), "{}", rig.told);
    assert_eq!(rig.state("failed_issues"), "[\"A-1\"]");
    assert_eq!(rig.state("consecutive_failures"), "1");
}

#[test]
fn a_part_lands_if_it_does_all_that_was_asked_for() {
    let script = plans("A-1", &["g1", "g2"]) + &applies("A-1", "g1", 0, "bad\n");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["feat: g2"]);
    let issue = rig.issue("A-1");
    assert!(issue.contains("Change groups: 1/2\n"), "{issue}");
    assert!(issue.contains("Left out: feat: g1: the approach is wrong"), "{issue}");
}

#[test]
fn a_group_that_needs_a_person_is_skipped_and_flagged() {
    let script = plans("A-1", &["g1", "g2"])
        + &simply(&who("issue-worker", "A-1", "g1", 0), "blocked", "which key is it?");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 0);
    let flagged = "Change group 1/2 (feat: g1) needs human input: which key is it?";
    assert_eq!(rig.said("A-1", flagged), 1, "{}", rig.issue("A-1"));
}

#[test]
fn what_the_plan_does_not_name_is_not_changed() {
    let stray = says(
        &who("issue-worker", "A-1", "g1", 0),
        "verdict = 'applied', summary = 'and more'",
        &[("src/A-1-g1.txt", "fine\n"), ("src/other.txt", "fine\n")],
    );
    let mut rig = Rig::of(&["A-1"], &stray);
    rig.ends(&["--once"], 4);
    assert_eq!(rig.subjects(), [""; 0]);
    let log = rig.log();
    assert!(log.contains("outside of the blast radius"), "{log}");
    assert!(log.contains("src/other.txt"), "{log}");
}

#[test]
fn a_review_that_fails_is_fixed_once() {
    let failed =
        passes("A-1", 1, "fail", ", fixable = true").replace("holds = 'yes'", "holds = 'no'");
    let fix = says(
        &who("issue-worker", "A-1", "", 1),
        "verdict = 'applied', summary = 'mended'",
        &[("src/A-1-g1.txt", "better\n")],
    );
    // The one for the group comes first.
    let script = failed + &applies("A-1", "g1", 0, "fine\n") + &fix;
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["feat: g1", "fix: review findings of A-1"]);
    assert_eq!(rig.scratch.git(&["show", "main:src/A-1-g1.txt"]).trim(), "better");

    // Twice is too often.
    let never =
        passes("A-1", 0, "fail", ", fixable = true").replace("holds = 'yes'", "holds = 'no'");
    let mut rig = Rig::of(&["A-1"], &(never + &applies("A-1", "g1", 0, "fine\n") + &fix));
    rig.ends(&["--once"], 4);
    assert_eq!(rig.subjects(), [""; 0], "what does not land needs no reset");
    assert!(rig.issue("A-1").contains("Reason: the review failed: looked at it: fail"));
}

#[test]
fn who_says_that_it_passes_says_it_of_each_invariant() {
    let silent = simply(&who("issue-reviewer", "", "", 0), "pass", "all well");
    let mut rig = Rig::of(&["A-1"], &silent);
    let seen = rig.ends(&["--once"], 3);
    assert!(seen.contains("nothing about whether `src-1` holds"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);
}

#[test]
fn a_plan_that_needs_a_person_asks_and_their_answer_reaches_the_planner() {
    let script = simply(&who("issue-planner", "A-1", "", 1), "blocked", "hi or hello?");
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 8);
    assert_eq!(rig.answers("ask_blocked", &["--text", "say hello"]), Some(0), "{}", rig.told);
    assert!(rig.log().contains("ada: say hello"), "{}", rig.log());
    assert_eq!(rig.subjects(), ["feat: g1"]);
}

#[test]
fn without_specs_the_scope_is_what_the_plan_names_and_that_is_said() {
    let mut rig = Rig::with(&["A-1"], "", &[]);
    let seen = rig.ends(&["--once"], 0);
    assert!(seen.contains("there are no subsystem specs in subsystems_knowledge"), "{seen}");
    assert!(rig.issue("A-1").contains("Invariants: 0/0 verified\nTests: tier0 SKIPPED"));
}

#[test]
fn a_spec_that_cannot_be_read_is_named_with_its_place() {
    let bad = ("subsystems_knowledge/bad.yaml", "name: bad\npaths: [a\nx: {\n");
    let mut rig = Rig::with(&["A-1"], "", &[bad]);
    let seen = rig.ends(&["--once"], 0);
    assert!(seen.contains("subsystems_knowledge/bad.yaml:3:"), "{seen}");
}

#[test]
fn a_pass_without_evidence_is_none_and_evidence_is_shown_where_it_is_looked_at() {
    let empty = passes("", 0, "pass", "").replace("evidence = 'looked'", "evidence = ' '");
    let mut rig = Rig::of(&["A-1"], &empty);
    let seen = rig.ends(&["--once"], 3);
    assert!(seen.contains("no `evidence` that `src-1` holds"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);

    let mut rig = Rig::of(&["A-1"], "");
    let seen = rig.ends(&["--once"], 0);
    let shown = "Invariant Check — Group 1:\n- [PASS] Every file ends in a newline — looked\n";
    assert_eq!(seen.matches(shown).count(), 1, "{seen}");
    assert_eq!(seen.matches("A-1: Invariant Check:\n- [PASS] Every file").count(), 1, "{seen}");
}

#[test]
fn how_far_a_plan_reaches_is_shown_and_said_in_the_issue_with_files_that_are_nobodys() {
    let plan = says(
        &who("issue-planner", "A-1", "", 0),
        "verdict = 'planned', summary = 'a plan', groups = [{ id = 'g1', title = 'feat: g1', files = ['src/A-1-g1.txt', 'notes.txt'] }]",
        &[],
    );
    let applied = says(
        &who("issue-worker", "A-1", "g1", 0),
        "verdict = 'applied', summary = 'it is there'",
        &[("src/A-1-g1.txt", "fine\n"), ("notes.txt", "fine\n")],
    );
    let mut rig = Rig::of(&["A-1"], &(plan + &applied));
    let seen = rig.ends(&["--once"], 0);
    let reach = "- src: src/A-1-g1.txt\n- of no subsystem: notes.txt";
    assert!(seen.contains(&format!("A-1: blast radius:\n{reach}")), "{seen}");
    let issue = rig.issue("A-1");
    assert!(issue.contains(&format!("Blast radius:\n{reach}")), "{issue}");
    let warned = "Warnings:\n- no subsystem is described that these files are of: notes.txt\n";
    assert!(issue.contains(warned), "{issue}");
}

#[test]
fn what_is_checked_is_what_is_committed_and_not_what_lies_about() {
    let mut rig = Rig::of(&["A-1"], "");
    let weak = super::rig::SPEC.replace("sh test.sh wrong", "touch /tmp/never; false");
    rig.write("subsystems_knowledge/src.yaml", &weak);
    rig.write(
        "subsystems_knowledge/more.yaml",
        "name: more\npaths: [src]\ntests: { tier0: 'false' }\n",
    );
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["feat: g1"]);
    let issue = rig.issue("A-1");
    assert!(issue.contains("tier0 PASS") && !issue.contains("- more:"), "{issue}");
}

/// An issue whose work writes this into the spec.
fn respecified(spec: &str) -> Rig {
    let plan = says(
        &who("issue-planner", "A-1", "", 0),
        "verdict = 'planned', summary = 'a plan', groups = [{ id = 'g1', title = 'docs: g1', files = ['subsystems_knowledge/src.yaml'] }]",
        &[],
    );
    let applied = says(
        &who("issue-worker", "A-1", "g1", 0),
        "verdict = 'applied', summary = 'it is there'",
        &[("subsystems_knowledge/src.yaml", spec)],
    );
    Rig::of(&["A-1"], &(plan + &applied))
}

#[test]
fn work_that_changes_what_is_checked_waits_for_a_person_and_words_do_not() {
    let gap = format!("{}known_gaps: [what a greeting is]\n", super::rig::SPEC);
    let mut rig = respecified(&gap);
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["docs: g1"]);

    let weaker = super::rig::SPEC.replace("sh test.sh wrong", "sh -c true");
    let mut rig = respecified(&weaker);
    let seen = rig.ends(&["--once"], 8);
    let told = "subsystems_knowledge/src.yaml: - tier0: sh test.sh wrong";
    assert!(seen.contains(told) && seen.contains("src.yaml: + tier0: sh -c true"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0], "nothing lands before somebody has said so");
    assert_eq!(rig.answers("spec_gate", &["yes"]), Some(0), "{}", rig.told);
    assert_eq!(rig.subjects(), ["docs: g1"]);

    let mut rig = respecified(&weaker);
    rig.ends(&["--once"], 8);
    assert_eq!(rig.answers("spec_gate", &["give_up"]), Some(4), "{}", rig.told);
    assert_eq!(rig.subjects(), [""; 0]);
}

#[test]
fn directories_that_another_kind_of_session_reserves_are_like_any_other() {
    let plan = "verdict = 'planned', summary = 'a plan', groups = [{ id = 'g1', title = 'feat: g1', files = ['memory/alloc.rs', \
                'docs/harness/how.md'] }], criteria = [{ id = 'c1', title = 'it is there' }]";
    let script = says(&who("issue-planner", "A-1", "", 0), plan, &[])
        + &says(
            &who("issue-worker", "A-1", "g1", 0),
            "verdict = 'applied', summary = 'it is there'",
            &[("memory/alloc.rs", "// ours\n"), ("docs/harness/how.md", "So.\n")],
        );
    let mut rig = Rig::of(&["A-1"], &script);
    rig.ends(&["--once"], 0);
    assert_eq!(rig.subjects(), ["feat: g1"], "{}", rig.told);
    let files = rig.scratch.git(&["show", "--format=", "--name-only", "main"]);
    assert_eq!(files.trim(), "docs/harness/how.md\nmemory/alloc.rs");
}
