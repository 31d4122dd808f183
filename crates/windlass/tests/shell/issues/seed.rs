//! The seed's own words, each beside what becomes of them: markers, comments, trailers, the state file, the safety rules.

use super::rig::{Rig, STATE, applies, passes, plans, simply, who};

/// A text of the seed in which what stands in braces is filled in.
fn filled(quoted: &str, with: &[(&str, &str)]) -> String {
    let filled = with
        .iter()
        .fold(quoted.to_owned(), |text, (name, is)| text.replace(&format!("{{{name}}}"), is));
    assert!(!filled.contains('{'), "something is left out: {filled}");
    filled
}

/// An issue that is done with a warning, one that fails, and one that needs a person.
fn told() -> Rig {
    let warned = passes(
        "A-1",
        0,
        "pass_with_warnings",
        ", criteria_met = true, warnings = [{ id = 'w1', title = 'slow' }]",
    );
    let script = plans("A-1", &["g1", "g2"])
        + &warned
        + &simply(&who("issue-worker", "A-2", "", 0), "failed", "no idea");
    let mut rig = Rig::of(&["A-1", "A-2"], &script);
    rig.ends(&[], 4);
    rig
}

#[test]
fn comments_are_the_seeds() {
    let rig = told();
    let (one, two) = (rig.issue("A-1"), rig.issue("A-2"));
    let hashes = rig.scratch.git(&["log", "--reverse", "--format=%H", "main"]);
    let hashes: Vec<&str> = hashes.lines().skip(1).map(|it| &it[..12]).collect();
    for (issue, quoted, with) in [
        (
            &one,
            "Harness iteration {iteration} starting. Autonomous plan→work→review→commit cycle.",
            &[("iteration", "1")][..],
        ),
        (
            &two,
            "Harness iteration {iteration} starting. Autonomous plan→work→review→commit cycle.",
            &[("iteration", "2")],
        ),
        (
            &one,
            "Harness completed issue in iteration {iteration}.\n\nFiles changed: {count}\nChange groups: {completed}/{total}\n\
             Invariants: {pass}/{total} verified\nTests: tier0 PASS, tier1 PASS\n{Warnings if any}\n\nCommits: {commit_hashes}",
            &[
                ("iteration", "1"),
                ("count", "2"),
                ("completed", "2"),
                ("pass", "2"),
                ("total", "2"),
                ("Warnings if any", "Warnings:\n- slow"),
                ("commit_hashes", &hashes.join(", ")),
            ],
        ),
        (
            &two,
            "Harness failed on this issue in iteration {iteration}.\n\nFailure type: {retryable|structural|blocked}\n\
             Reason: {description}\nChange groups completed: {N}/{total}\n\nRequires manual intervention.",
            &[
                ("iteration", "2"),
                ("retryable|structural|blocked", "structural"),
                ("description", "feat: g1: the approach is wrong"),
                ("N", "0"),
                ("total", "1"),
            ],
        ),
    ] {
        let text = filled(quoted, with);
        assert_eq!(issue.matches(&text).count(), 1, "{text}\nin\n{issue}");
    }
    // Done on success, and as it was on failure.
    assert!(one.contains("\nstate: done\n") && two.contains("\nstate: in progress\n"));
}

#[test]
fn a_gap_in_a_spec_becomes_the_issue_that_the_seed_describes() {
    let gap = ", criteria_met = true, spec_gaps = [{ id = 's1', title = 'greetings', subsystem = 'src', missing = 'what one is' }]";
    let mut rig = Rig::of(&["A-1"], &passes("A-1", 0, "pass", gap));
    rig.ends(&["--once"], 0);
    let made = rig.issue("spec-gap-greetings");
    // Its title; the filter label so harness can pick them up; what's missing and which subsystem spec to update.
    for part in
        ["Spec gap: greetings", "ready", "What is missing: what one is", "the spec of `src`"]
    {
        assert!(made.contains(part), "{part}: {made}");
    }
}

#[test]
fn trailers_are_the_seeds() {
    let rig = told();
    let message = |commit: &str| rig.scratch.git(&["log", "-1", "--format=%B", commit]);
    for (commit, nth) in [("main~1", "1"), ("main", "2")] {
        let quoted = "{type}: {description}\n\nIssue: {issue_id}\nChange-Group: {N}/{total}\nSubsystems: {affected subsystems}\n\
                      Invariants: {pass_count}/{total_count} verified\n{who}";
        let group = format!("g{nth}");
        let text = filled(
            quoted,
            &[
                ("type", "feat"),
                ("description", &group),
                ("issue_id", "A-1"),
                ("N", nth),
                ("total", "2"),
                ("affected subsystems", "src"),
                ("pass_count", "2"),
                ("total_count", "2"),
                // The seed names a model; here it is whoever did it.
                ("who", "Co-Authored-By: acted <noreply@windlass.invalid>"),
            ],
        );
        assert_eq!(message(commit).trim(), text);
    }
}

/// The one for a pause is told by real agents, whose contexts can be full: `conformance::issues`.
#[test]
fn markers_stand_on_lines_of_their_own() {
    let rig = told();
    let alone = |seen: &str, marker: &str| seen.lines().filter(|line| *line == marker).count();
    for marker in ["[ISSUE_COMPLETE: A-1]", "[ISSUE_FAILED: A-2]", "[HARNESS_DONE]"] {
        assert_eq!(alone(&rig.told, marker), 1, "{marker}: {}", rig.told);
    }
    // The session is ended: by max iterations, by failures in a row, by somebody.
    let mut rig = Rig::of(&["A-1", "A-2"], "");
    let seen = rig.ends(&["--max", "1"], 0);
    assert_eq!(alone(&seen, "[HARNESS_STOP]"), 1, "{seen}");
}

#[test]
fn the_state_file_is_the_seeds() {
    let blocked = simply(&who("issue-planner", "A-1", "", 1), "blocked", "which?");
    let mut rig = Rig::of(&["A-1"], &blocked);
    rig.ends(&["--max", "7", "--team", "T-1", "--label", "ready"], 8);
    let quoted = "---\nactive: true\niteration: 1\nmax_iterations: {from flag or user input}\nconsecutive_failures: 0\n\
                  discover_interval: 5\n\nlinear_project: \"{project_id}\"\nlinear_team: \"{team_id}\"\n\
                  linear_filter_labels: [\"{label}\"]\nlinear_done_status: \"Done\"\n\
                  linear_in_progress_status: \"In Progress\"\n\n{claimed}completed_issues: []\nfailed_issues: []\n\
                  skipped_issues: []\n\nfriction_log: []\n{elsewhere}---\n\nYou are running the autonomous engineering harness. \
                  Execute /harness start to pick up the next issue from Linear and run the plan-work-review-commit cycle. \
                  Consult the harness-protocol skill for gate rules and failure handling. \
                  Output [ISSUE_COMPLETE: <id>] when done with an issue, [ISSUE_FAILED: <id>] on failure, \
                  [HARNESS_DONE] when queue is empty, or [HARNESS_STOP] to end the session.";
    let text = filled(
        quoted,
        &[
            ("from flag or user input", "7"),
            ("project_id", "issues"),
            ("team_id", "T-1"),
            ("label", "ready"),
            // Step 4: `current_issue: {issue_id}`.
            // Ours: the seed knows Linear alone.
            ("elsewhere", "tracker: \"folder\"\n"),
            ("claimed", "current_issue: \"A-1\"\n"),
        ],
    );
    assert_eq!(rig.file(STATE).unwrap().trim(), text);
    assert_eq!(rig.answers("ask_blocked", &["--text", "this one"]), Some(0), "{}", rig.told);
    assert!(!rig.file(STATE).unwrap().contains("current_issue"), "step 9: it is cleared");
    assert_eq!(rig.scratch.git(&["status", "--porcelain"]), "", "git-ignored, machine-local");
}

/// The safety rules of the seed, each with what shows that it holds.
const RULES: [(&str, fn()); 9] = [
    ("Never force-push. All commits are normal commits.", commits_are_normal),
    ("Never skip hooks. Always use standard `git commit` without `--no-verify`.", hooks_are_heard),
    (
        "Never modify files outside the blast radius identified in the plan phase.",
        nothing_else_is_changed,
    ),
    (
        "Always verify before committing. Invariant check + tier0 tests must pass.",
        all_is_verified_before,
    ),
    (
        "Revert on review failure. Don't leave broken commits in the history.",
        what_failed_its_review_is_not_there,
    ),
    (
        "Respect max_iterations. The stop hook enforces this, but the command should also check.",
        iterations_are_respected,
    ),
    ("Log everything to Linear. The issue comment is the audit trail.", everything_is_in_the_issue),
    ("One issue at a time. Never work on multiple issues simultaneously.", one_at_a_time),
    ("Ask if truly blocked.", who_is_blocked_asks),
];

#[test]
fn the_nine_safety_rules_hold() {
    for (rule, holds) in RULES {
        println!("{rule}");
        holds();
    }
}

fn commits_are_normal() {
    let mut rig = Rig::of(&["A-1", "A-2"], "");
    rig.scratch.sh("git init -q --bare ../remote && git remote add origin ../remote && git push -q origin main");
    let remote = rig.scratch.git(&["ls-remote", "origin"]);
    rig.ends(&[], 0);
    assert_eq!(rig.scratch.git(&["ls-remote", "origin"]), remote);
    let been = rig.scratch.git(&["reflog", "show", "--format=%H", "main"]);
    let been: Vec<&str> = been.lines().collect();
    for pair in been.windows(2) {
        rig.scratch.git(&["merge-base", "--is-ancestor", pair[1], pair[0]]);
    }
    assert_eq!(rig.scratch.git(&["log", "--min-parents=2", "--format=%H", "main"]), "");
}

fn hooks_are_heard() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.scratch.sh("printf '#!/bin/sh\\necho no; exit 1\\n' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit");
    let code = rig.run(&["issues", "--once"]);
    assert_ne!(code, Some(0), "{}", rig.told);
    assert_eq!(rig.subjects(), [""; 0], "what the hook refuses does not land: {}", rig.told);
}

fn nothing_else_is_changed() {
    let stray = super::rig::says(
        &who("issue-worker", "A-1", "g1", 0),
        "verdict = 'applied', summary = 'more'",
        &[("src/A-1-g1.txt", "fine\n"), ("other.txt", "fine\n")],
    );
    let mut rig = Rig::of(&["A-1"], &stray);
    rig.ends(&["--once"], 4);
    assert_eq!(rig.subjects(), [""; 0]);
}

fn all_is_verified_before() {
    let mut rig = Rig::of(&["A-1"], "");
    rig.ends(&["--once"], 0);
    let notes = rig.scratch.entries();
    let at = |name: &str, is: &str| notes.iter().position(|it| it[name] == is);
    let committed = notes.iter().rposition(|it| it["note"] == "saved").unwrap();
    let checked = notes.iter().position(|it| it["note"] == "checked" && it["name"] == "tier0: src");
    assert!(checked.unwrap() < committed && at("role", "invariant-checker").unwrap() < committed);
    for text in ["wrong\n", "bad\n"] {
        let mut rig = Rig::of(&["A-1"], &applies("A-1", "g1", 0, text));
        rig.ends(&["--once"], 4);
        assert_eq!(rig.subjects(), [""; 0], "{text}");
    }
}

fn what_failed_its_review_is_not_there() {
    let failed =
        passes("A-1", 0, "fail", ", fixable = false").replace("holds = 'yes'", "holds = 'no'");
    let mut rig = Rig::of(&["A-1"], &failed);
    let before = rig.scratch.git(&["rev-parse", "main"]);
    rig.ends(&["--once"], 4);
    assert_eq!(rig.scratch.git(&["rev-parse", "main"]), before);
    assert_eq!(rig.scratch.git(&["reflog", "show", "--format=%H", "main"]).lines().count(), 1);
}

fn iterations_are_respected() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.ends(&["--max", "2"], 0);
    assert_eq!(rig.subjects().len(), 2);
    assert!(!rig.issue("A-3").contains("Harness"));
}

fn everything_is_in_the_issue() {
    let rig = told();
    for issue in ["A-1", "A-2"] {
        assert_eq!(rig.said(issue, " starting. Autonomous"), 1);
        assert_eq!(rig.said(issue, "Harness completed") + rig.said(issue, "Harness failed"), 1);
    }
}

fn one_at_a_time() {
    let mut rig = Rig::of(&["A-1", "A-2", "A-3"], "");
    rig.ends(&[], 0);
    let about = |line: &&str| [": begins", ": done"].iter().any(|it| line.contains(it));
    let told: Vec<&str> = rig.told.lines().filter(about).collect();
    assert_eq!(told.len(), 6, "{told:?}");
    for pair in told.chunks(2) {
        let id = pair[0].split(':').next().unwrap();
        assert!(pair[0].contains(": begins") && pair[1] == format!("{id}: done"), "{pair:?}");
    }
}

fn who_is_blocked_asks() {
    let blocked = simply(&who("issue-planner", "A-1", "", 0), "blocked", "which?");
    let mut rig = Rig::of(&["A-1"], &blocked);
    let seen = rig.ends(&["--once"], 8);
    assert!(seen.contains("Issue A-1"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);
}
