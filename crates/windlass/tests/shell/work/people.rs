//! People in the middle of it: questions, stops, kills, and what else happens in a repository meanwhile.

use std::fs;

use crate::scratch::ended;
use crate::work::rig::{PLANS, Rig, says, simply, table, todo, who, works};

#[test]
fn whoever_is_unsure_asks_one_question_and_the_answer_reaches_the_worker() {
    let unsure = simply(&who("scout", "1", 0), "unsure", "hello or hi?");
    let mut rig = Rig::of(&[todo("1")], &unsure);
    rig.ends(&["1"], 8);
    let (_, _, gate) = rig.asked().unwrap();
    assert!(gate.to_string().contains("Is this understanding correct?"), "{gate}");
    assert!(gate.to_string().contains("hello or hi?"), "{gate}");
    assert_eq!(rig.status("1"), "cc:TODO");
    assert_eq!(
        rig.answers("understood", &["other", "--text", "say hello"]),
        Some(0),
        "{}",
        rig.told
    );
    let told = rig.shown("worker", "1", "answers");
    assert!(told.len() == 1 && told[0].contains("say hello"), "{told:?}");
    rig.only_marks_changed(&["1"]);
}

#[test]
fn a_task_may_be_left_out() {
    let unsure = simply(&who("scout", "1", 0), "unsure", "hello or hi?");
    let mut rig = Rig::of(&[todo("1"), todo("2")], &unsure);
    rig.ends(&["all"], 8);
    assert_eq!(rig.answers("understood", &["no"]), Some(4), "{}", rig.told);
    rig.only_others_done(&["2"], &[]);
}

#[test]
fn a_table_that_somebody_puts_away_stays_away_and_that_is_said() {
    let unsure = simply(&who("scout", "1", 0), "unsure", "hello or hi?");
    // One that was there, and one that a planner has made.
    let made = says(
        &who("plans-planner", "", 0),
        "verdict = 'planned', summary = 'a task'",
        &[("{Plans.md}", &table(&[todo("1")]))],
    ) + &works("1", "", "done 1\n");
    for (plans, script) in [(table(&[todo("1")]), String::new()), (String::new(), made)] {
        let mut rig = Rig::with(&plans, &(unsure.clone() + &script), &[]);
        rig.ends(&["all", "--no-tdd"], 8);
        let aside = rig.scratch.path("aside.md");
        fs::rename(rig.scratch.repo().join(PLANS), &aside).unwrap();
        assert_eq!(rig.answers("understood", &["yes"]), Some(0), "{}", rig.told);
        assert_eq!(rig.file(PLANS), None, "{}", rig.told);
        assert!(fs::read_to_string(aside).unwrap().contains("cc:TODO"));
        let said = "Plans.md is not there any more: it is not brought back";
        let (_, resumed) = rig.told.rsplit_once("$ windlass work --resume latest").unwrap();
        assert_eq!(resumed.matches(said).count(), 1, "{}", rig.told);
        assert_eq!(rig.subjects(), ["Write 1"]);
    }
}

#[test]
fn a_run_that_was_stopped_goes_on_and_does_nothing_twice() {
    let mut rig = Rig::of(&[todo("1"), todo("2"), todo("3")], "");
    let mut work = rig.scratch.windlass(&["work", "all", "--sequential"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("the second worker", |it| {
        it["note"] == "asked" && it["role"] == "worker" && it["unit"] == "2"
    });
    run.child.kill().unwrap();
    run.child.wait().unwrap();
    // Another plan for what is open is not begun meanwhile.
    let seen = rig.ends(&["3"], 0);
    assert!(seen.contains("work-1 is not over, and is gone on with as it was begun"), "{seen}");
    rig.only_marks_changed(&["1", "2", "3"]);
    assert_eq!(rig.subjects(), ["Write 1", "Write 2", "Write 3"]);
    rig.was_always_sound();
    let seen = rig.ends(&["--resume", "latest"], 2);
    assert!(seen.contains("there is nothing to go on with"), "{seen}");
}

#[test]
fn two_at_once_do_not_get_in_each_others_way() {
    let rig = Rig::of(&[todo("1"), todo("2")], "");
    rig.meet("meets", 3);
    let mut work = rig.scratch.windlass(&["work", "all"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("a worker", |it| it["note"] == "asked" && it["role"] == "worker");
    let second = rig.scratch.windlass(&["work", "all"]).output().unwrap();
    let (code, said) = ended(second);
    assert_eq!(code, Some(6), "{said}");
    let holder = format!("{}", run.child.id());
    for part in ["windlass work", &holder, "`windlass status` tells what it is doing"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The third whom they wait for.
    rig.scratch.sh(&format!("touch '{}'", rig.scratch.path("talk").join("3").display()));
    assert_eq!(run.code(), Some(0));
    rig.only_marks_changed(&["1", "2"]);
}

#[test]
fn what_depends_on_a_task_that_failed_is_not_done() {
    let fails = simply(&who("contract-reviewer", "1", 0), "unapproved", "no");
    let second = crate::work::rig::row("2", "Write 2", "1", "cc:TODO");
    let mut rig = Rig::of(&[todo("1"), second, todo("3")], &fails);
    let seen = rig.ends(&["all"], 4);
    rig.only_others_done(&["3"], &["1"]);
    assert_eq!(rig.status("2"), "cc:TODO");
    assert!(seen.contains("\n  2 Write 2: "), "{seen}");
    assert!(seen.contains("✗ Parallel Incomplete: 1/3 tasks"), "{seen}");
}

#[test]
fn what_was_stopped_is_resumed_by_its_id_and_nothing_else_is() {
    let unsure = simply(&who("scout", "1", 0), "unsure", "hello or hi?");
    let mut rig = Rig::of(&[todo("1")], &unsure);
    rig.ends(&["1"], 8);
    let (id, _, _) = rig.asked().unwrap();
    rig.verb(&["answer", &id, "yes"], 0);
    let seen = rig.ends(&["--resume", "work-9"], 2);
    assert!(seen.contains("work-9"), "{seen}");
    // Not with other tasks than it was begun with, nor in another way.
    rig.ends(&["2", "--resume", "work-1"], 2);
    for option in [
        "--parallel 2",
        "--sequential",
        "--breezing",
        "--codex",
        "--no-commit",
        "--no-tdd",
        "--no-simplify",
        "--auto-mode",
        "--review-limit 9",
        "--plans x.md",
        "--accept-drift",
        "--branch x",
    ] {
        let words: Vec<&str> =
            ["--resume", "latest"].into_iter().chain(option.split(' ')).collect();
        let seen = rig.ends(&words, 2);
        assert!(
            seen.contains("a run goes on as it was begun")
                && seen.contains("windlass stop --cancel"),
            "{option}: {seen}"
        );
    }
    assert_eq!(rig.status("1"), "cc:TODO");
    rig.ends(&["--resume", "work-1"], 0);
    rig.only_marks_changed(&["1"]);
    // A run of another workflow is not taken for one of these.
    let code = rig.scratch.start().output().unwrap().status.code();
    let seen = rig.ends(&["--resume", "small-1"], 2);
    assert!(
        seen.contains("small-1 is a run of small") && seen.contains("windlass resume small-1"),
        "{code:?} {seen}"
    );
}

#[test]
fn whatever_is_not_done_is_explained_in_a_line() {
    let unsure = simply(&who("scout", "1", 0), "unsure", "hello or hi?");
    let waits = crate::work::rig::row("5", "Write 5", "1", "cc:TODO");
    let also = crate::work::rig::row("6", "Write 6", "1", "cc:TODO");
    let rows = [todo("1"), todo("2"), todo("3"), todo("4"), waits, also];
    let mut rig = Rig::of(&rows, &unsure);
    let mut work = rig.scratch.windlass(&["work", "all", "--sequential", "--no-tdd"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("the second worker", |it| {
        it["note"] == "asked" && it["role"] == "worker" && it["unit"] == "2"
    });
    let now = rig.file("Plans.md").unwrap();
    let theirs =
        now.replace(&rows[2], "").replace("says 4 | - | cc:TODO", "says 4 | - | Bob has it");
    rig.write("Plans.md", &theirs);
    assert_eq!(run.code(), Some(8));
    rig.verb(&["skip", "6", "--reason", "not this year"], 0);
    assert_eq!(rig.answers("understood", &["no"]), Some(4), "{}", rig.told);
    for line in [
        "Not done:",
        "  1 Write 1: it was left out: it was not understood as it was meant",
        "  3 Write 3: it was taken out of Plans.md meanwhile",
        "  4 Write 4: its row was changed meanwhile, and it was left as it is",
        "  5 Write 5: it waits for task 1, which is not done",
    ] {
        assert!(rig.told.lines().any(|seen| seen == line), "{line}\n{}", rig.told);
    }
    let skipped = |line: &str| {
        line.starts_with("  6 Write 6: it was left out by ") && line.ends_with(": not this year")
    };
    assert!(rig.told.lines().any(skipped), "{}", rig.told);
    assert!(!rig.told.contains("  2 Write 2: "), "{}", rig.told);
    assert!(rig.told.contains("✗ Breezing Incomplete: 1/5 tasks"), "{}", rig.told);
}

/// Three rows, one after the other, and what a person makes of the table while the first is worked on.
fn changed_while_the_first_is_worked_on(theirs: impl Fn(String, &[String]) -> String) -> Rig {
    let rows: Vec<String> = ["1", "2", "3"]
        .map(|it| crate::work::rig::row(it, &format!("Write {it}"), "-", "cc:TODO"))
        .into();
    let rig = Rig::of(&rows, "");
    let mut work = rig.scratch.windlass(&["work", "all", "--no-tdd"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("the first worker", |it| {
        it["note"] == "asked" && it["role"] == "worker" && it["unit"] == "1"
    });
    rig.write(PLANS, &theirs(rig.file(PLANS).unwrap(), &rows));
    assert_eq!(run.code(), Some(0));
    rig
}

#[test]
fn a_row_that_is_gone_is_nobodys_predecessor() {
    let rig = changed_while_the_first_is_worked_on(|now, rows| now.replace(&rows[1], ""));
    assert_eq!(rig.subjects(), ["Write 1", "Write 3"]);
    assert!(rig.status("3").starts_with("cc:Done ["));
    let report = rig.file(".claude/state/completion-report.md").unwrap();
    assert!(report.starts_with("## ✓ Parallel Complete: 2/2 tasks\n"), "{report}");
}

#[test]
fn a_row_that_somebody_rewords_before_it_begins_is_done_as_it_says_by_then() {
    let mut rig = changed_while_the_first_is_worked_on(|now, rows| {
        let row = rows[1].replace("Write 2", "Write two").replace("says 2", "says 2, in words");
        now.replace(&rows[1], &row)
    });
    assert_eq!(rig.subjects(), ["Write 1", "Write two", "Write 3"]);
    let contract = rig.contract("2");
    assert_eq!(contract["task"]["title"], "Write two");
    assert_eq!(contract["task"]["definition_of_done"], "`src/2.txt` says 2, in words");
    let log = rig.log();
    assert!(log.contains("Task 2: Write two") && !log.contains("Task 2: Write 2"), "{log}");
    let row = crate::work::rig::row("2", "Write two", "-", "cc:TODO")
        .replace("says 2", "says 2, in words");
    rig.plans = rig.plans.replace(&crate::work::rig::row("2", "Write 2", "-", "cc:TODO"), &row);
    rig.only_marks_changed(&["1", "2", "3"]);
}

#[test]
fn a_change_that_is_left_on_its_branch_is_explained() {
    let mut rig = Rig::of(&[todo("1")], "");
    rig.write("src/1.txt", "mine\n");
    rig.ends(&["all", "--no-commit"], 8);
    assert_eq!(rig.answers("take_it", &["leave"]), Some(4), "{}", rig.told);
    let line = "  1 Write 1: it is done, and was left on the branch harness/work-1";
    assert!(rig.told.lines().any(|seen| seen == line), "{}", rig.told);
    assert_eq!(rig.status("1"), "cc:WIP");
}
