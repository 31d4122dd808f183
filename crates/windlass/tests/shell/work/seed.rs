//! The seed's own words, each beside what becomes of them: the dialog, what is asked and said, and the boxes at the end.

use std::fs;
use std::path::Path;

use unicode_width::UnicodeWidthStr as _;

use crate::answers::Sitting;
use crate::work::rig::{Rig, reviews, row, says, todo, who};

/// Quoted by the seed; what it leaves open is a star.
const QUOTED: &[&str] = &[
    "How far do you want to go?",
    "1) Next task: The next incomplete task in Plans.md → Execute in Solo mode",
    "2) All (recommended): Complete all remaining tasks → Auto-select mode based on task count",
    "3) Specify numbers: Enter task numbers (e.g., 3, 5-7) → Auto-select mode based on count",
    "Stale markers detected. Proceed anyway? (y/N) [default: N]",
    // The verb has another name here.
    "Run `windlass plan sync` first to resolve marker drift",
    "* is in the old format. Please regenerate with harness-plan create.",
    "Added the following to *",
    "Is this understanding correct?",
    "Fixed 3 times but the following critical/major issues remain",
    "📊 Progress: Task */* done — *",
    "✓ Task * Done: *",
    "■ What was done",
    "■ What changed",
    "Before: *",
    "After: *",
    "Changed files (* files)",
    "Remaining issues",
    "• Task * (*): * ← Plans.md",
    "(* incomplete tasks in Plans.md)",
    "commit: *",
    "review: *",
    "* Breezing Complete: */* tasks",
    "Overall changes",
    "* files changed, * insertions(+),",
    "* deletions(-)",
    "* incomplete tasks in Plans.md",
    "DOWNGRADE_TO_STATIC",
    "PENDING_BROWSER",
    "fix: * - *",
    "Tests/CI pass",
];

/// Where they are said.
const SAID: [&str; 6] = [
    "workflows/work.toml",
    "crates/windlass/src/commands/work/ask.rs",
    "crates/clerks/src/work/tell.rs",
    "crates/clerks/src/work/report.rs",
    "crates/clerks/src/work/session.rs",
    "crates/sources/src/failure/proposal.rs",
];

/// A text in which everything that is filled in is a star.
fn plain(text: &str) -> String {
    // Headings get their mark where they are drawn.
    let text = text
        .replace("\"What was done\"", "■ What was done")
        .replace("\"What changed\"", "■ What changed");
    let mut plain = String::new();
    let mut rest = text.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        plain.push_str(before);
        match after.split_once('}') {
            Some((name, behind)) if !name.contains([' ', '\n']) => {
                plain.push('*');
                rest = behind;
            }
            _ => {
                plain.push('{');
                rest = after;
            }
        }
    }
    plain + rest
}

#[test]
fn every_sentence_that_the_seed_quotes_is_one_of_ours() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ours: String =
        SAID.map(|file| plain(&fs::read_to_string(top.join(file)).unwrap())).join("\n");
    let missing: Vec<&&str> = QUOTED.iter().filter(|quote| !ours.contains(**quote)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    // One that differs in a word is noticed.
    assert!(!ours.contains("How far do you wish to go?"));
}

/// What the seed says of each severity, as whoever reviews is told: one that blocks, and one that does not.
#[test]
fn whoever_reviews_is_told_the_seeds_table() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let role = fs::read_to_string(top.join("roles/work-reviewer.md")).unwrap();
    for (severity, about, impact) in [
        (
            "critical",
            "a vulnerability, loss of data, an incident in production",
            "the change goes back",
        ),
        (
            "major",
            "breaks what works, clearly contradicts the specification",
            "the change goes back",
        ),
        ("minor", "names, missing comments, style", "nothing"),
        ("recommendation", "a better practice, an idea for later", "nothing"),
    ] {
        let line =
            role.lines().find(|line| line.starts_with(&format!("| `{severity}` |"))).unwrap();
        assert!(line.contains(about) && line.ends_with(&format!("| {impact} |")), "{line}");
    }
}

/// What was chosen in the dialog, and what has landed.
fn chosen(types: &[&str]) -> (String, Vec<String>) {
    let mut rig = Rig::of(&[todo("1"), todo("2"), todo("3")], "");
    let mut sitting =
        Sitting::with(&mut rig.scratch.windlass(&["work", "--no-tdd", "--no-simplify"]));
    for (nth, line) in types.iter().enumerate() {
        sitting.wait_until(|seen| seen.matches(" > ").count() > nth);
        sitting.types(line);
    }
    let (seen, code) = sitting.end();
    assert_eq!(code, Some(0), "{seen}");
    let dialog = "How far do you want to go?\r\n  1) Next task: ";
    assert_eq!(seen.matches(dialog).count(), 1, "{seen}");
    let mut subjects = rig.subjects();
    subjects.sort();
    rig.told = seen;
    let numbers: Vec<&str> = subjects.iter().map(|it| it.trim_start_matches("Write ")).collect();
    rig.only_marks_changed(&numbers);
    (rig.scratch.entries()[0]["inputs"][0].as_str().unwrap().to_owned(), subjects)
}

#[test]
fn each_answer_of_the_dialog_leads_where_the_seed_says() {
    let is = |types: &[&str], targets: &str, subjects: &[&str]| {
        let (said, landed) = chosen(types);
        assert_eq!(
            (said.as_str(), landed.as_slice()),
            (targets, &*subjects.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()),
            "{types:?}"
        );
    };
    is(&["1\n"], "next", &["Write 1"]);
    is(&["2\n"], "all", &["Write 1", "Write 2", "Write 3"]);
    // The recommended one is what is meant by nothing; what is none of them is asked for again.
    is(&["five\n", "\n"], "all", &["Write 1", "Write 2", "Write 3"]);
    is(&["3\n", "1, 3\n"], "1, 3", &["Write 1", "Write 3"]);
}

#[test]
fn who_chooses_nothing_begins_nothing() {
    let rig = Rig::of(&[todo("1")], "");
    let mut sitting = Sitting::with(&mut rig.scratch.windlass(&["work"]));
    for nth in 1..=3 {
        sitting.wait_until(|seen| seen.matches(" > ").count() >= nth);
        sitting.types("perhaps\n");
    }
    let (seen, code) = sitting.end();
    assert_eq!(code, Some(2), "{seen}");
    assert!(seen.contains("nothing was chosen") && seen.contains("nothing was started"), "{seen}");
    assert!(rig.scratch.status()["runs"].as_array().unwrap().is_empty());
}

#[test]
fn without_a_terminal_nobody_is_asked_how_far() {
    let mut rig = Rig::of(&[todo("1"), todo("2")], "");
    let seen = rig.ends(&[], 0);
    assert!(seen.contains("no tasks were named: all that are not done are meant"), "{seen}");
    assert!(!seen.contains("How far"), "{seen}");
    rig.only_marks_changed(&["1", "2"]);
}

/// A terminal at which a marker is stale: the second row has a commit of its name.
fn stale() -> (Rig, Sitting) {
    let rig = Rig::of(&[todo("1"), todo("2")], "");
    rig.scratch.git(&["commit", "-q", "--allow-empty", "-m", "Write 2"]);
    let mut sitting = Sitting::with(&mut rig.scratch.windlass(&["work", "--no-tdd"]));
    let summary =
        format!("task 2 (line 8) is cc:TODO, and commit {} has its name", rig.commit("Write 2"));
    let seen = sitting.wait_until(|seen| seen.contains("[default: N] > "));
    let at = |text: &str| seen.find(text).unwrap_or_else(|| panic!("no {text:?} in {seen}"));
    assert!(at(&summary) < at("Stale markers detected. Proceed anyway? (y/N)"), "{seen}");
    assert!(!seen.contains("How far"), "first things first: {seen}");
    (rig, sitting)
}

#[test]
fn stale_markers_are_told_before_the_dialog_and_the_default_is_no() {
    for answer in ["\n", "n\n", "sure\n"] {
        let (rig, mut sitting) = stale();
        sitting.types(answer);
        let (seen, code) = sitting.end();
        assert_eq!(code, Some(2), "{seen}");
        assert!(seen.contains("Run `windlass plan sync` first to resolve marker drift"), "{seen}");
        assert!(!seen.contains("How far"), "{seen}");
        assert!(rig.scratch.status()["runs"].as_array().unwrap().is_empty());
    }
    let (rig, mut sitting) = stale();
    sitting.types("y\n");
    sitting.wait_until(|seen| seen.contains("based on count\r\n > "));
    sitting.types("1\n");
    // It is not asked a second time.
    let (seen, code) = sitting.end();
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(seen.matches("Stale markers detected").count(), 1, "{seen}");
    assert!(rig.status("1").starts_with("cc:Done ["), "{seen}");
    assert_eq!(rig.status("2"), "cc:TODO");
}

#[test]
fn one_task_has_the_box_of_one_task_whatever_was_said_of_lanes() {
    for words in [&["1", "--parallel", "5"][..], &["1", "--breezing"]] {
        let mut rig = Rig::of(&[todo("1"), todo("2")], "");
        let seen = rig.ends(words, 0);
        assert!(seen.contains("│ ✓ Task 1 Done: Write 1 "), "{seen}");
        assert!(!seen.contains("Breezing Complete"), "{seen}");
        assert!(seen.contains("│    • Task 2 (cc:TODO): Write 2 ← Plans.md"), "{seen}");
        assert!(seen.contains("│    (1 incomplete tasks in Plans.md) "), "{seen}");
    }
}

/// The lines of the box that was drawn last.
fn drawn(seen: &str) -> Vec<&str> {
    let from = seen.rfind('┌').unwrap_or_else(|| panic!("no box: {seen}"));
    let lines: Vec<&str> = seen[from..].lines().collect();
    let end = lines.iter().position(|line| line.starts_with('└')).unwrap();
    lines[..=end].to_vec()
}

#[test]
fn more_than_five_files_are_a_count() {
    for (count, more) in
        [(5, None), (6, Some("│    … and 1 more ")), (9, Some("│    … and 4 more "))]
    {
        let files: Vec<(String, String)> =
            (1..=count).map(|nth| (format!("src/{nth}.txt"), "x\n".to_owned())).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
        let script = says(&who("worker", "1", 0), "verdict = 'done', summary = 'x'", &files);
        let mut rig = Rig::of(&[todo("1")], &script);
        let seen = rig.ends(&["1", "--no-tdd"], 0);
        let lines = drawn(&seen);
        let named = lines.iter().filter(|line| line.starts_with("│    src/")).count();
        assert_eq!(named, 5, "{seen}");
        assert!(
            lines.iter().any(|line| line.contains(&format!("■ Changed files ({count} files)"))),
            "{seen}"
        );
        match more {
            Some(more) => assert!(lines.iter().any(|line| line.starts_with(more)), "{seen}"),
            None => assert!(!seen.contains("… and "), "{seen}"),
        }
    }
}

#[test]
fn boxes_stand_straight_whatever_letters_are_in_them() {
    let rows = [
        row("1", "[P] ログインを速くする🎉", "-", "cc:TODO"),
        row("2", "[P] Écrire 한국어 문서", "-", "cc:TODO"),
        row("3", "[P] 後で直すことがたくさんあるのでここには入りきらない長い行", "-", "cc:TODO"),
    ];
    let mut rig = Rig::of(&rows, "");
    let seen = rig.ends(&["1, 2"], 0);
    let lines = drawn(&seen);
    assert!(lines.iter().any(|line| line.contains("1. ✓ ログインを速くする🎉 [")), "{seen}");
    assert!(
        lines.iter().any(|line| line.contains("• Task 3: 後で") && line.contains('…')),
        "{seen}"
    );
    let widths: Vec<usize> = lines.iter().map(|line| line.width()).collect();
    assert!(widths.iter().all(|width| *width == 47), "{widths:?}\n{seen}");
}

#[test]
fn the_box_says_what_reviews_came_to_one_after_the_other() {
    let foot = |script: &str, words: &[&str]| {
        let mut rig = Rig::of(&[todo("1")], script);
        let seen = rig.ends(words, 0);
        let lines = drawn(&seen);
        let from = lines.iter().position(|line| line.contains("  commit: ")).unwrap();
        let lines: Vec<String> = lines[from..lines.len() - 1]
            .iter()
            .map(|line| line.trim_matches(['│', ' ']).to_owned())
            .collect();
        let commit = rig.subjects().first().map(|subject| rig.commit(subject)).unwrap_or_default();
        (lines, commit)
    };
    let (lines, commit) = foot("", &["1"]);
    assert_eq!(lines, [format!("commit: {commit} | review: APPROVE")]);
    assert_eq!(commit.len(), 7);
    let once = reviews("1", 1, "request_changes", &["major"]);
    let (lines, commit) = foot(&once, &["1"]);
    assert_eq!(
        lines,
        [format!("commit: {commit}"), "review: REQUEST_CHANGES → APPROVE".to_owned()]
    );
    let twice = once + &reviews("1", 2, "request_changes", &["critical"]);
    let (lines, commit) = foot(&twice, &["1"]);
    assert_eq!(
        lines,
        [format!("commit: {commit}"), "review: REQUEST_CHANGES ×2 → APPROVE".to_owned()]
    );
    let (lines, _) = foot("", &["1", "--no-commit"]);
    assert_eq!(lines, ["commit: none | review: APPROVE"]);
}

/// A scout that says nothing is waited for no longer than the seed allows: then the task goes on without its background.
mod slow {
    use super::{Rig, says, todo, who};

    #[test]
    fn a_background_that_takes_longer_than_half_a_minute_is_done_without() {
        let hangs = says(&who("scout", "1", 0), "verdict = 'confident'", &[])
            .replace("say = ", "fault = 'hang'\nsay = ");
        let mut rig = Rig::of(&[todo("1")], &hangs);
        let seen = rig.ends(&["1"], 0);
        assert!(seen.contains("1: background: timed_out"), "{seen}");
        assert!(rig.records().contains(&"background_unknown".to_owned()), "{seen}");
        rig.only_marks_changed(&["1"]);
    }
}

#[test]
fn purpose_and_impact_are_shown_in_a_line_each_and_nobody_is_asked() {
    let mut rig = Rig::of(&[todo("1")], "");
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("Task 1 is cc:WIP\n"), "{seen}");
    let line = |text: &str| seen.lines().any(|line| line.trim() == text);
    assert!(line("Purpose: It is wanted") && line("Impact: src"), "{seen}");
}

/// Each row of the table of modes with what it says of Codex: it is asked only when somebody says so.
#[test]
fn a_team_may_have_codex_for_its_workers() {
    let rows: Vec<String> = (1..=4).map(|number| todo(&number.to_string())).collect();
    let mut rig = Rig::of(&rows, "");
    rig.meet("codex", 3);
    let seen = rig.ends(&["all", "--codex", "--breezing", "--no-tdd"], 0);
    assert_eq!(rig.agents("worker"), ["codex"; 4], "{seen}");
    for role in ["scout", "contract-reviewer", "simplifier"] {
        assert_eq!(rig.agents(role), ["acted"; 4], "{role}: implementation is what is delegated");
    }
    let at_once = (super::modes::at_once(&rig), super::modes::lanes(&rig));
    assert_eq!(at_once, (3, 3), "a team, not one after the other");
    assert!(seen.contains("✓ Breezing Complete: 4/4 tasks"), "{seen}");
}
