//! How many tasks are done at once, by whom, and how each option changes that.

use crate::work::rig::{Rig, row, table, todo, works};

fn all(count: usize) -> Vec<String> {
    (1..=count).map(|number| todo(&number.to_string())).collect()
}

#[test]
fn one_task_is_done_alone_and_the_box_of_the_task_is_shown() {
    let mut rig = Rig::of(&all(1), "");
    let seen = rig.ends(&["all"], 0);
    assert_eq!(rig.subjects(), ["Write 1"]);
    rig.only_marks_changed(&["1"]);
    rig.was_always_sound();
    let commit = rig.commit("Write 1");
    for part in [
        "│ ✓ Task 1 Done: Write 1                      │",
        "│    • Write 1                                │",
        "│    • 2 files: 2 lines added, 0 removed      │",
        "│    Before: its test failed                  │",
        "│    After: `src/1.txt` says 1                │",
        "│  ■ Changed files (2 files)                  │",
        "│    (0 incomplete tasks in Plans.md)         │",
        &format!("│  commit: {commit} | review: APPROVE          │"),
        "📊 Progress: Task 1/1 done — Write 1",
    ] {
        assert!(seen.contains(part), "{part}\n{seen}");
    }
    assert!(!seen.contains(" Complete: "), "{seen}");
    let report = rig.file(".claude/state/completion-report.md").unwrap();
    assert!(report.starts_with("## ✓ Task 1 Done: Write 1\n"), "{report}");
    // What whoever did it says about it is told as theirs, and nowhere else.
    let words = "### In its worker's words\n\n- Writes it\n- Before: It was not there\n- After: It is there\n";
    assert!(report.contains(words) && !seen.contains("Writes it"), "{report}\n{seen}");
}

#[test]
fn three_tasks_are_done_side_by_side_and_told_together() {
    let mut rig = Rig::of(&all(3), "");
    rig.meet("meets", 3);
    let seen = rig.ends(&["all"], 0);
    assert_eq!((at_once(&rig), lanes(&rig)), (3, 3));
    let mut subjects = rig.subjects();
    subjects.sort();
    assert_eq!(subjects, ["Write 1", "Write 2", "Write 3"]);
    rig.only_marks_changed(&["1", "2", "3"]);
    rig.was_always_sound();
    assert!(seen.contains("✓ Parallel Complete: 3/3 tasks"), "{seen}");
    assert!(seen.contains(&format!("1. ✓ Write 1 [{}]", rig.commit("Write 1"))), "{seen}");
    assert!(seen.contains("6 files changed, 6 insertions(+),"), "{seen}");
    assert!(seen.contains("📊 Progress: Task 3/3 done — "), "{seen}");
}

#[test]
fn twelve_tasks_are_done_by_a_team_in_the_order_that_they_depend_on() {
    let mut rows = all(12);
    for (number, on) in [(4, "1"), (7, "4, 2"), (12, "7")] {
        rows[number - 1] = row(&number.to_string(), &format!("Write {number}"), on, "cc:TODO");
    }
    let mut rig = Rig::of(&rows, "");
    rig.meet("meets", 3);
    let seen = rig.ends(&["all"], 0);
    assert_eq!((at_once(&rig), lanes(&rig)), (3, 3), "a team of three");
    let subjects = rig.subjects();
    assert_eq!(subjects.len(), 12, "{subjects:?}");
    let at = |number: u32| subjects.iter().position(|it| *it == format!("Write {number}")).unwrap();
    assert!(at(1) < at(4) && at(2) < at(7) && at(4) < at(7) && at(7) < at(12), "{subjects:?}");
    let done: Vec<String> = (1..=12).map(|it| it.to_string()).collect();
    rig.only_marks_changed(&done.iter().map(String::as_str).collect::<Vec<_>>());
    rig.was_always_sound();
    assert!(seen.contains("✓ Breezing Complete: 12/12 tasks"), "{seen}");
}

/// What `--dry-run` says first.
fn foreseen(count: usize, words: &[&str]) -> String {
    let mut rig = Rig::of(&all(count), "");
    let args: Vec<&str> = words.iter().chain(&["--dry-run"]).copied().collect();
    let seen = rig.ends(&args, 0);
    assert_eq!(rig.file("Plans.md").unwrap(), rig.plans);
    seen.lines().nth(1).unwrap().to_owned()
}

#[test]
fn flags_choose_and_else_the_number_does() {
    assert_eq!(foreseen(1, &["all"]), "1 task: solo, 1 at a time");
    assert_eq!(foreseen(2, &["all"]), "2 tasks: parallel, 2 at a time");
    assert_eq!(foreseen(3, &["all"]), "3 tasks: parallel, 3 at a time");
    assert_eq!(foreseen(4, &["all"]), "4 tasks: breezing, 3 at a time");
    assert_eq!(foreseen(6, &["3-6"]), "4 tasks: breezing, 3 at a time");
    assert_eq!(foreseen(6, &["3"]), "1 task: solo, 1 at a time");
    assert_eq!(foreseen(6, &["next"]), "1 task: solo, 1 at a time");
    assert_eq!(foreseen(6, &["1,", "3-4"]), "3 tasks: parallel, 3 at a time");
    assert_eq!(foreseen(6, &["all", "--parallel", "5"]), "6 tasks: parallel, 5 at a time");
    assert_eq!(foreseen(1, &["all", "--parallel", "5"]), "1 task: parallel, 5 at a time");
    assert_eq!(foreseen(1, &["all", "--breezing"]), "1 task: breezing, 3 at a time");
    assert_eq!(foreseen(6, &["all", "--sequential"]), "6 tasks: breezing, 1 at a time");
    assert_eq!(foreseen(6, &["all", "--codex"]), "6 tasks: codex, 1 at a time");
    assert_eq!(foreseen(6, &["all", "--codex", "--breezing"]), "6 tasks: breezing, 3 at a time");
}

/// So many workers were there at once, at most.
pub fn at_once(rig: &Rig) -> usize {
    let (mut now, mut most) = (0_usize, 0);
    for entry in rig.scratch.entries() {
        if entry["role"] == "worker" {
            match entry["note"].as_str() {
                Some("asked") => now += 1,
                Some("answered") => now -= 1,
                _ => {}
            }
        }
        most = most.max(now);
    }
    most
}

/// So many lanes were taken: a task that may begin takes one at once, so that no more than those were under way at any time.
pub fn lanes(rig: &Rig) -> usize {
    let entries = rig.scratch.entries();
    let begun = entries.iter().filter(|it| it["event"] == "unit_started");
    begun.map(|it| it["lane"].as_u64().unwrap()).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn as_many_work_at_once_as_is_said_and_no_more() {
    let mut rig = Rig::of(&all(4), "");
    rig.meet("meets", 2);
    rig.ends(&["all", "--parallel", "2", "--no-tdd"], 0);
    assert_eq!((at_once(&rig), lanes(&rig)), (2, 2));
    let mut rig = Rig::of(&all(3), "");
    rig.ends(&["all", "--sequential", "--no-tdd"], 0);
    assert_eq!((at_once(&rig), lanes(&rig)), (1, 1));
    rig.only_marks_changed(&["1", "2", "3"]);
}

#[test]
fn what_is_not_marked_waits_for_the_row_before_it() {
    let rows: Vec<String> =
        (1..=2).map(|it| row(&it.to_string(), &format!("Write {it}"), "-", "cc:TODO")).collect();
    let mut rig = Rig::of(&rows, "");
    let seen = rig.ends(&["all", "--dry-run"], 0);
    assert!(seen.contains("cc:TODO, after 1;"), "{seen}");
    rig.ends(&["all", "--no-tdd"], 0);
    assert_eq!((at_once(&rig), lanes(&rig)), (1, 1));
}

#[test]
fn a_test_is_written_first_unless_somebody_says_otherwise() {
    let mut rig = Rig::of(&all(1), "");
    rig.ends(&["1"], 0);
    assert_eq!(rig.came("test-writer", "1"), ["written"]);
    let mut rig = Rig::of(&all(1), "");
    rig.ends(&["1", "--no-tdd"], 0);
    assert_eq!(rig.came("test-writer", "1"), [""; 0]);
    let mut rig = Rig::of(&[row("1", "[skip:tdd] Write 1", "-", "cc:TODO"), todo("2")], "");
    rig.ends(&["all"], 0);
    assert_eq!(rig.came("test-writer", "1"), [""; 0]);
    assert_eq!(rig.came("test-writer", "2"), ["written"]);
    // Where there is no test command, there is no framework.
    let config = crate::work::rig::CONFIG.replace("[checks]\ntest = 'sh test.sh'\n", "");
    let mut rig = Rig::with(&table(&all(1)), "", &[("windlass.toml", &config)]);
    rig.ends(&["all"], 0);
    assert_eq!(rig.came("test-writer", "1"), [""; 0]);
}

#[test]
fn a_change_is_refined_unless_somebody_says_otherwise() {
    let mut rig = Rig::of(&all(1), "");
    rig.ends(&["1"], 0);
    assert_eq!(rig.came("simplifier", "1"), ["nothing"]);
    let mut rig = Rig::of(&all(1), "");
    rig.ends(&["1", "--no-simplify"], 0);
    assert_eq!(rig.came("simplifier", "1"), [""; 0]);
}

#[test]
fn auto_mode_is_put_on_record_and_changes_nothing() {
    // What the run was begun with: as many lines as there are inputs.
    let begun = |args: &[&str]| {
        let mut rig = Rig::of(&all(1), "");
        let seen = rig.ends(args, 0);
        rig.only_marks_changed(&["1"]);
        let inputs = rig.scratch.entries()[0]["inputs"].as_array().unwrap().clone();
        (inputs, rig.records(), seen)
    };
    let (plain, records, _) = begun(&["1"]);
    let (with, same, seen) = begun(&["1", "--auto-mode"]);
    assert!(seen.contains("--auto-mode: agents work without asking in any case"), "{seen}");
    assert_eq!(same, records);
    let differ: Vec<_> = plain.iter().zip(&with).filter(|(one, other)| one != other).collect();
    assert_eq!(differ, [(&false.into(), &true.into())]);
}

#[test]
fn without_a_commit_all_is_handed_over_as_one_change() {
    let mut rig = Rig::of(&all(3), "");
    let seen = rig.ends(&["all", "--no-commit"], 0);
    assert_eq!(rig.subjects(), [""; 0]);
    for number in ["1", "2", "3"] {
        assert_eq!(rig.file(&format!("src/{number}.txt")).unwrap(), format!("done {number}\n"));
        assert_eq!(rig.status(number), "cc:Done");
    }
    let files = rig.scratch.git(&["status", "--porcelain", "-uall"]);
    assert_eq!(files.lines().count(), 7, "three files, three tests and Plans.md: {files}");
    assert_eq!(rig.scratch.git(&["diff", "--cached", "--name-only"]), "");
    assert!(seen.contains("1. ✓ Write 1"), "{seen}");
}

#[test]
fn without_a_commit_nothing_is_taken_from_a_checkout_that_is_not_clean() {
    let mut rig = Rig::of(&all(1), "");
    rig.write("src/1.txt", "mine\n");
    rig.ends(&["all", "--no-commit"], 8);
    assert_eq!(rig.file("src/1.txt").unwrap(), "mine\n");
    assert_eq!(rig.status("1"), "cc:WIP", "nobody has it yet");
    // Out of the way, it is taken.
    std::fs::rename(rig.scratch.repo().join("src/1.txt"), rig.scratch.path("1.txt")).unwrap();
    assert_eq!(rig.answers("take_it", &["retry"]), Some(0), "{}", rig.told);
    assert_eq!(rig.file("src/1.txt").unwrap(), "done 1\n");
    assert_eq!(rig.status("1"), "cc:Done");
}

#[test]
fn codex_implements_only_if_somebody_says_so() {
    let config = format!(
        "[agents.codex]\nkind = 'scripted'\nscript = 'codex.toml'\n{}",
        crate::work::rig::CONFIG
    );
    let codex = works("1", "", "done 1\n");
    let files = [("windlass.toml", config.as_str()), ("codex.toml", codex.as_str())];
    let mut rig = Rig::with(&table(&all(1)), "", &files);
    rig.ends(&["all"], 0);
    assert_eq!(rig.agents("worker"), ["acted"]);
    let mut rig = Rig::with(&table(&all(1)), "", &files);
    rig.ends(&["all", "--codex"], 0);
    assert_eq!(rig.agents("worker"), ["codex"]);
    // Where it is not installed, that is said before anything is begun.
    let mut rig = Rig::of(&all(1), "");
    let seen = rig.ends(&["all", "--codex"], 2);
    assert!(seen.contains("there is no Codex here to delegate to"), "{seen}");
    assert_eq!(rig.status("1"), "cc:TODO");
}

#[test]
fn whoever_implements_a_hard_task_thinks_harder_than_others() {
    let rows = [
        "| 1 | [P] Design the security of core/ | `a.rs`, `b.rs`, `c.rs`, `d.rs` | - | cc:TODO |\n"
            .to_owned(),
        "| 2 | [P] [ultrathink] Write 2 | it is there | - | cc:TODO |\n".to_owned(),
        todo("3"),
    ];
    let config = crate::work::rig::CONFIG.replace(
        "[roles]\n",
        "[agents.shell]\nkind = 'command'\ncommand = ['sh', 'worker.sh']\ncost = 'none'\n[roles]\nworker = 'shell'\nsimplifier = 'shell'\n",
    );
    let worker = "cat > /dev/null\nmkdir -p src\necho \"$WINDLASS_EFFORT\" > src/$WINDLASS_ROLE-$WINDLASS_UNIT.txt\n\
                  echo '{\"verdict\": \"done\"}'\n";
    let files = [("windlass.toml", config.as_str()), ("worker.sh", worker)];
    let mut rig = Rig::with(&table(&rows), "", &files);
    let seen = rig.ends(&["all", "--no-tdd"], 0);
    let effort = |who: &str| rig.scratch.git(&["show", &format!("main:src/{who}.txt")]);
    for (who, is) in
        [("worker-1", "high"), ("worker-2", "high"), ("worker-3", "medium"), ("simplifier-1", "")]
    {
        assert_eq!(effort(who), is, "{who}: {seen}");
    }
}
