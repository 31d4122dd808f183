//! Plans.md: what is selected, what is refused, and what a person changes in it meanwhile.

use crate::answers::Sitting;
use crate::work::rig::{PLANS, Rig, row, says, table, todo, who, works};

#[test]
fn a_number_takes_what_is_below_it_and_a_done_row_is_redone_if_it_is_named() {
    let rows = [todo("26.1"), todo("26.2"), row("27", "[P] Write 27", "-", "cc:Done")];
    let mut rig = Rig::of(&rows, "");
    let seen = rig.ends(&["26", "--dry-run"], 0);
    assert!(seen.contains("2 tasks: parallel"), "{seen}");
    let seen = rig.ends(&["27", "--dry-run"], 0);
    assert!(seen.contains("1 task: solo"), "{seen}");
    rig.ends(&["27"], 0);
    assert_eq!(rig.subjects(), ["Write 27"]);
    rig.only_marks_changed(&["27"]);
}

#[test]
fn what_waits_for_a_task_outside_of_the_selection_is_refused_with_the_command_that_includes_it() {
    let mut rig = Rig::of(&[todo("1"), row("2", "Write 2", "1", "cc:TODO")], "");
    let seen = rig.ends(&["2"], 2);
    assert!(seen.contains("windlass work 1, 2") || seen.contains("windlass work 1,2"), "{seen}");
    assert!(seen.contains("nothing was started"), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
}

#[test]
fn what_is_not_there_is_said_and_nothing_is_begun() {
    let mut rig = Rig::of(&[todo("1")], "");
    for (words, part) in [("9", "9"), ("x y", "x"), ("5-3", "5-3")] {
        let seen = rig.ends(&[words], 2);
        assert!(seen.contains(part) && seen.contains("nothing was started"), "{seen}");
    }
    assert!(rig.scratch.status()["runs"].as_array().unwrap().is_empty());
}

#[test]
fn where_all_is_done_there_is_nothing_to_do() {
    let mut rig = Rig::of(&[row("1", "Write 1", "-", "cc:Done")], "");
    let seen = rig.ends(&["all"], 0);
    assert!(seen.contains("every task of Plans.md is done"), "{seen}");
}

#[test]
fn the_old_format_is_refused_in_the_seeds_words() {
    let old = "# Plans\n\n| Task | Content | Status |\n|---|---|---|\n| 1 | Write 1 | cc:TODO |\n";
    let mut rig = Rig::with(old, "", &[]);
    let said = "Plans.md is in the old format. Please regenerate with harness-plan create.";
    assert!(rig.ends(&["all", "--dry-run"], 2).contains(said));
    let seen = rig.ends(&["all"], 4);
    assert!(seen.contains(said), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), old);
}

#[test]
fn where_there_is_none_a_planner_makes_one_and_it_is_worked_off() {
    let made = table(&[todo("1")]);
    let script = says(
        &who("plans-planner", "", 0),
        "verdict = 'planned', summary = 'a task'",
        &[("{Plans.md}", &made)],
    ) + &works("1", "", "done 1\n");
    let mut rig = Rig::with("", &script, &[]);
    rig.ends(&["all", "--no-tdd"], 0);
    rig.plans = made.clone();
    rig.only_marks_changed(&["1"]);
    assert_eq!(rig.subjects(), ["Write 1"]);
    // Or is only made.
    let mut rig = Rig::with("", &script, &[]);
    let seen = rig.verb(&["plan", "Write a file"], 0);
    assert!(seen.contains("Plans.md has 1 tasks:\n"), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), made);
    let told = rig.shown("plans-planner", "", "wish");
    assert!(told.len() == 1 && told[0].contains("Write a file"), "{told:?}");
    let seen = rig.verb(&["plan", "Another"], 2);
    assert!(seen.contains("Plans.md is there already"), "{seen}");
}

#[test]
fn tasks_that_have_no_row_are_added_after_they_were_shown() {
    let script = works("2", "", "done 2\n");
    let mut rig = Rig::of(&[row("1", "Write 1", "-", "cc:Done")], &script);
    let seen = rig.ends(&["--task", "Add a second | one", "--no-tdd"], 0);
    assert!(seen.contains("Added the following to Plans.md:"), "{seen}");
    let plans = rig.file(PLANS).unwrap();
    let before = "| 1 | Write 1 | `src/1.txt` says 1 | - | cc:Done |\n";
    let commit = rig.commit("Add a second | one");
    let added = format!(
        "{before}| 2 | Add a second \\| one | It does what is said; tests pass | - | cc:Done [{commit}] |\n"
    );
    assert_eq!(plans, rig.plans.replace(before, &added));
}

#[test]
fn one_without_a_row_gets_a_number_however_large_the_others_are() {
    let largest = row("18446744073709551615", "Write it", "-", "cc:Done");
    let mut rig = Rig::of(&[largest], &works("1", "", "done 1\n"));
    rig.ends(&["--task", "Add another", "--no-tdd"], 0);
    assert_eq!(rig.status("1"), format!("cc:Done [{}]", rig.commit("Add another")));
    rig.verb(&["plan", "add", "One more", "--dod", "it is there"], 0);
    assert_eq!(rig.status("2"), "cc:TODO");
}

#[test]
fn what_is_asked_for_where_it_is_asked_how_far_to_go_becomes_a_task() {
    let rig = Rig::of(&[todo("1")], &works("2", "", "done 2\n"));
    let mut sitting = Sitting::with(&mut rig.scratch.windlass(&["work", "--no-tdd"]));
    sitting.types("Add a second one.\n");
    let seen = sitting.rest();
    assert!(seen.contains("How far do you want to go?"), "{seen}");
    assert!(seen.contains("Added the following to Plans.md:"), "{seen}");
    let plans = rig.file(PLANS).unwrap();
    let before = "| 1 | [P] Write 1 | `src/1.txt` says 1 | - | cc:TODO |\n";
    let commit = rig.commit("Add a second one");
    let added = format!(
        "{before}| 2 | Add a second one | It does what is said; tests pass | - | cc:Done [{commit}] |\n"
    );
    assert_eq!(plans, rig.plans.replace(before, &added));
    assert_eq!(rig.subjects(), ["Add a second one"], "and nothing else was asked for");
}

#[test]
fn another_table_may_be_named() {
    let mut rig = Rig::of(&[todo("1")], "");
    let other = table(&[todo("7")]);
    rig.write("docs/more plans.md", &other);
    rig.scratch.git(&["add", "-A"]);
    rig.scratch.git(&["commit", "-qm", "Another table"]);
    rig.write("script.toml", &(works("7", "", "done 7\n") + &rig.file("script.toml").unwrap()));
    rig.scratch.git(&["commit", "-qam", "Another script"]);
    rig.ends(&["all", "--plans", "docs/more plans.md", "--no-tdd"], 0);
    let commit = rig.commit("Write 7");
    let now = rig.file("docs/more plans.md").unwrap();
    assert_eq!(now, other.replace("cc:TODO", &format!("cc:Done [{commit}]")));
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
}

#[test]
fn a_table_with_other_line_ends_wide_letters_and_several_parts_keeps_them() {
    let plans = "# 計画\r\n\r\n## 1\r\n\r\n| Task | Content | DoD | Depends | Status |\r\n|:--|--|--|--|--|\r\n\
                 | 1 | [P] Write 1   | a \\| b | - |cc:TODO|\r\n\r\n## 2\r\n\r\n\
                 | Status | Task | Content | DoD | Depends |\r\n|--|--|--|--|--|\r\n\
                 |   cc:TODO   | 2 | [P] 文字を書く | ある | - |\r\n";
    let script = works("2", "", "done 2\n");
    let mut rig = Rig::with(plans, &script, &[]);
    rig.ends(&["all", "--no-tdd"], 0);
    let want = plans
        .replace("|cc:TODO|", &format!("|cc:Done [{}]|", rig.commit("Write 1")))
        .replace("|   cc:TODO   |", &format!("|   cc:Done [{}]   |", rig.commit("文字を書く")));
    assert_eq!(rig.file(PLANS).unwrap(), want);
}

#[test]
fn what_a_person_changes_meanwhile_is_theirs() {
    // While task 1 is implemented, a person changes the table: another title, and the status of two rows.
    let rig = Rig::of(&[todo("1"), todo("2"), todo("3")], "");
    let mut work = rig.scratch.windlass(&["work", "all", "--sequential", "--no-tdd"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("the worker", |it| it["note"] == "asked" && it["role"] == "worker");
    let now = rig.file(PLANS).unwrap();
    let theirs = now
        .replace("# Plans", "# Our plans")
        .replace("says 2 | - | cc:TODO", "says 2 | - | cc:Done");
    rig.write(PLANS, &theirs.replace("says 3 | - | cc:TODO", "says 3 | - | blocked by Bob"));
    assert_eq!(run.code(), Some(4));
    assert!(rig.file(PLANS).unwrap().starts_with("# Our plans\n"));
    assert_eq!(rig.status("1"), format!("cc:Done [{}]", rig.commit("Write 1")));
    assert_eq!((rig.status("2").as_str(), rig.status("3").as_str()), ("cc:Done", "blocked by Bob"));
    assert_eq!(rig.subjects(), ["Write 1"]);
    let log = rig.log();
    assert!(log.contains("task 3 was set to blocked by Bob in Plans.md meanwhile"), "{log}");
}

#[test]
fn what_a_person_takes_up_meanwhile_is_left_to_them() {
    let rows = [todo("1"), todo("2"), row("3", "[P] Write 3", "-", "cc:WIP")];
    let rig = Rig::of(&rows, "");
    let mut work = rig.scratch.windlass(&["work", "all", "--sequential", "--no-tdd"]);
    let mut run = rig.scratch.follow(&mut work);
    run.until("the worker", |it| it["note"] == "asked" && it["role"] == "worker");
    let now = rig.file(PLANS).unwrap();
    rig.write(PLANS, &now.replace("says 2 | - | cc:TODO", "says 2 | - | cc:WIP (Ada)"));
    assert_eq!(run.code(), Some(4));
    assert_eq!(rig.status("2"), "cc:WIP (Ada)");
    // What somebody left behind before is taken up.
    assert_eq!(rig.subjects(), ["Write 1", "Write 3"]);
    assert!(rig.records().contains(&"left_to_them".to_owned()));
    assert!(rig.log().contains("task 2 was set to cc:WIP in Plans.md meanwhile"));
}

#[test]
fn markers_that_are_stale_stop_it_before_anything_else() {
    let stale = || {
        let mut rig =
            Rig::of(&[todo("1"), todo("2"), row("3", "[P] Write 3", "-", "cc:Done [0123456]")], "");
        rig.write("src/1.txt", "done 1\n");
        rig.scratch.git(&["add", "-A"]);
        rig.scratch.git(&["commit", "-qm", "[P] Write 1"]);
        rig.ends(&["all"], 8);
        rig
    };
    let mut rig = stale();
    let (_, _, gate) = rig.asked().unwrap();
    assert!(gate.to_string().contains("Stale markers detected. Proceed anyway? (y/N)"), "{gate}");
    assert_eq!(rig.answers("drift_gate", &["no"]), Some(5), "{}", rig.told);
    assert!(rig.told.contains("plan sync` first to resolve marker drift"), "{}", rig.told);
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
    assert_eq!(rig.came("scout", ""), [""; 0]);

    let mut rig = stale();
    assert_eq!(rig.answers("drift_gate", &["yes"]), Some(8), "{}", rig.told);
    assert!(rig.status("2").starts_with("cc:Done ["));
    let (_, stage, _) = rig.asked().unwrap();
    assert_eq!(stage, "red_stuck", "what is there already has no test that fails");
}

#[test]
fn sync_mends_what_is_stale_and_nothing_else() {
    let mut rig =
        Rig::of(&[todo("1"), todo("2"), row("3", "[P] Write 3", "-", "cc:Done [0123456]")], "");
    rig.scratch.git(&["commit", "-q", "--allow-empty", "-m", "[P] Write 1"]);
    let seen = rig.verb(&["plan", "sync", "--check"], 1);
    assert!(seen.contains("would become"), "{seen}");
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
    rig.verb(&["plan", "sync"], 0);
    let commit = rig.commit("[P] Write 1");
    let row = |number: &str| rig.status(number);
    assert_eq!(row("1"), format!("cc:Done [{commit}]"));
    assert_eq!((row("2").as_str(), row("3").as_str()), ("cc:TODO", "cc:TODO"));
    let seen = rig.verb(&["plan", "sync"], 0);
    assert!(seen.contains("every marker says what the history says"), "{seen}");
}

#[test]
fn a_task_is_added_by_a_verb() {
    let mut rig = Rig::of(&[todo("1")], "");
    rig.verb(&["plan", "add", "Export | it", "--dod", "`x` works", "--depends", "1"], 0);
    let now = rig.file(PLANS).unwrap();
    let first = "| 1 | [P] Write 1 | `src/1.txt` says 1 | - | cc:TODO |\n";
    assert_eq!(
        now,
        rig.plans
            .replace(first, &format!("{first}| 2 | Export \\| it | `x` works | 1 | cc:TODO |\n"))
    );
    for (words, part) in [
        (vec!["plan", "add", "A", "--depends", "9"], "there is no task 9"),
        (vec!["plan", "add", "A", "--number", "1"], "there is a task 1 already"),
        (vec!["plan", "add", "A", "--number", "|"], "is no number of a task"),
    ] {
        let seen = rig.verb(&words, 2);
        assert!(seen.contains(part), "{seen}");
        assert_eq!(rig.file(PLANS).unwrap(), now);
    }
}

#[test]
fn the_effort_of_a_task_is_scored_and_shown() {
    let hard =
        "| 1 | Design the security of core/ | `a.rs`, `b.rs`, `c.rs`, `d.rs` | - | cc:TODO |\n";
    let mut rig = Rig::of(&[hard.to_owned(), todo("2")], "");
    let seen = rig.ends(&["all", "--dry-run"], 0);
    assert!(seen.contains("effort high ("), "{seen}");
    assert!(seen.contains("effort medium ("), "{seen}");
    let json = rig.ends(&["all", "--dry-run", "--json"], 0);
    let json: serde_json::Value = serde_json::from_str(json.split_once('\n').unwrap().1).unwrap();
    assert_eq!(json["tasks"][0]["effort"]["high"], true);
    assert_eq!(json["tasks"][0]["effort"]["score"], 3);
}

#[test]
fn tasks_that_wait_for_each_other_are_refused_with_the_circle() {
    let rows =
        [row("1", "Write 1", "2", "cc:TODO"), row("2", "Write 2", "1", "cc:TODO"), todo("3")];
    let mut rig = Rig::of(&rows, "");
    let seen = rig.ends(&["all"], 2);
    assert!(seen.contains("tasks wait for each other in a circle: 1"), "{seen}");
    assert!(
        seen.contains("take one of them out of the Depends column; nothing was started"),
        "{seen}"
    );
    assert_eq!(rig.file(PLANS).unwrap(), rig.plans);
    rig.ends(&["3"], 0);
    rig.only_marks_changed(&["3"]);
}
