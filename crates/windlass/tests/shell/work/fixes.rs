//! What fails after a task was done: it is proposed as a task, a person approves it or not, and CI is mended twice.

use crate::work::rig::{CONFIG, PROPOSALS, Rig, reviews, simply, table, todo, who, works};

/// Tests that fail on what a person has landed all the same.
fn failing() -> Rig {
    let script = works("1", "", "wrong\n");
    let mut rig = Rig::of(&[todo("1")], &script);
    rig.ends(&["1"], 8);
    assert_eq!(rig.answers("review_stuck", &["continue"]), Some(8), "{}", rig.told);
    rig
}

#[test]
fn tests_that_fail_after_a_task_was_done_propose_a_fix_and_it_is_done_after_a_yes() {
    let mut rig = failing();
    assert!(rig.status("1").starts_with("cc:Done ["), "{}", rig.status("1"));
    let proposal: serde_json::Value =
        serde_json::from_str(rig.file(PROPOSALS).unwrap().trim()).unwrap();
    assert_eq!(proposal["fix_task_id"], "1.fix");
    assert_eq!(proposal["source_task_id"], "1");
    let (_, _, gate) = rig.asked().unwrap();
    assert!(gate.to_string().contains("Add 1.fix to Plans.md?"), "{gate}");
    let list = rig.verb(&["fix", "list"], 0);
    assert!(list.contains("1.fix  fix: "), "{list}");
    rig.write(
        "script.toml",
        &(works("1.fix", "", "x\n")
            .replace("'src/1.fix.txt' = '''x\n'''", "'src/1.txt' = '''done 1\n'''")
            + &rig.file("script.toml").unwrap()),
    );
    rig.scratch.git(&["commit", "-qm", "Another script", "script.toml"]);
    rig.verb(&["fix", "approve", "1.fix"], 0);
    rig.ends(&["--resume", "latest"], 0);
    assert_eq!(rig.file(PROPOSALS).unwrap_or_default(), "");
    assert!(rig.status("1.fix").starts_with("cc:Done ["), "{}", rig.file("Plans.md").unwrap());
    assert_eq!(rig.scratch.git(&["show", "main:src/1.txt"]), "done 1");
    assert_eq!(rig.came("test-writer", "1.fix"), [""; 0], "its test is the one that fails");
}

#[test]
fn a_proposal_is_discarded_by_a_no() {
    let mut rig = failing();
    rig.verb(&["fix", "no"], 0);
    rig.ends(&["--resume", "latest"], 0);
    assert_eq!(rig.file(PROPOSALS).unwrap_or_default(), "");
    assert!(!rig.file("Plans.md").unwrap().contains("1.fix"));
    let seen = rig.verb(&["fix", "approve"], 2);
    assert!(seen.contains("nothing was changed"), "{seen}");
}

#[test]
fn what_is_proposed_may_be_decided_when_nothing_is_under_way() {
    let mut rig = failing();
    rig.verb(&["stop", "--cancel"], 0);
    let before = rig.file("Plans.md").unwrap();
    assert!(rig.file(PROPOSALS).unwrap().contains("1.fix"), "{}", rig.told);
    rig.verb(&["fix", "approve", "1"], 0);
    let now = rig.file("Plans.md").unwrap();
    let added: Vec<&str> = now.lines().filter(|line| !before.contains(line)).collect();
    assert_eq!(added.len(), 1, "{now}");
    assert!(
        added[0].starts_with("| 1.fix | fix: ") && added[0].ends_with("| 1 | cc:TODO |"),
        "{now}"
    );
}

/// Work whose CI fails, however often it is mended.
fn ci() -> Rig {
    let config = CONFIG.replace("[checks]\n", "[checks]\nci = 'test ! -e src/1.txt || { echo \"TypeError: x is not a function\"; exit 1; }'\n");
    let mut script = String::new();
    for fix in ["1.fix", "1.fix2"] {
        script += &works(fix, "", "x\n");
    }
    let mut rig = Rig::with(&table(&[todo("1")]), &script, &[("windlass.toml", &config)]);
    rig.ends(&["1"], 8);
    rig
}

#[test]
fn ci_that_fails_is_mended_twice_and_the_third_time_is_a_persons() {
    let mut rig = ci();
    assert_eq!(rig.subjects().len(), 3, "{:?}\n{}", rig.subjects(), rig.told);
    let (_, stage, gate) = rig.asked().unwrap();
    assert_eq!(stage, "propose_last");
    let text = gate.to_string();
    assert!(text.contains("CI failed three times from the same cause (type_error)"), "{gate}");
    assert!(
        text.contains("Add 1.fix3 to Plans.md?") && text.contains("| 1.fix3 | fix: "),
        "{gate}"
    );
    assert!(rig.told.contains("Attempted fixes:"), "{}", rig.told);
    let remains = "Remaining issues:\n  - type_error: TypeError: x is not a function\n";
    let told = rig.told.replace("\n    ", "\n  ");
    assert!(told.contains(remains), "{told}");
    assert_eq!(rig.answers("propose_last", &["reject"]), Some(3), "{}", rig.told);
    assert!(rig.told.contains("✗ Solo Incomplete: 0/3 tasks"), "{}", rig.told);
}

#[test]
fn failures_of_one_class_are_several_causes() {
    // Each time another test times out: none of them for the third time, so all of them are mended without asking.
    let ci = "ci = 'n=$(cat src/ci.txt 2>/dev/null || echo none); case $n in done) exit 0;; esac; test -e src/1.txt || exit 0; \
              echo \"TAP version 13\"; echo \"not ok 1 - $n\"; echo \"TypeError: x is not a function\"; exit 1'\n";
    let config = CONFIG.replace("[checks]\n", &format!("[checks]\n{ci}"));
    let writes = |unit: &str, what: &str| {
        works(unit, "", "x\n").replace(
            "[answer.write]\n",
            &format!("[answer.write]\n'src/ci.txt' = '''{what}\n'''\n"),
        )
    };
    let fixes = [("1.fix", "beta"), ("1.fix2", "gamma"), ("1.fix3", "done")];
    let script: String = fixes.iter().map(|(unit, what)| writes(unit, what)).collect();
    let first = writes("1", "alpha").replace("'''x\n'''", "'''done 1\n'''");
    let mut rig =
        Rig::with(&table(&[todo("1")]), &(script + &first), &[("windlass.toml", &config)]);
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.subjects().len(), 4, "{:?}\n{seen}", rig.subjects());
    assert!(!seen.contains("for the third time"), "{seen}");
}

#[test]
fn a_report_that_a_check_writes_says_what_failed_better_than_what_it_prints() {
    let xml = "<testsuite><testcase name=\\\"exports\\\"><failure message=\\\"TypeError: no rows\\\"/></testcase></testsuite>";
    let ci = format!(
        "ci = {{ run = \"test ! -e src/1.txt || {{ mkdir -p out; echo '{xml}' > out/junit.xml; echo failed; exit 1; }}\", \
         report = 'out/junit.xml' }}\n"
    );
    let config = CONFIG.replace("[checks]\n", &format!("[checks]\n{ci}"));
    let script = works("1.fix", "", "x\n") + &works("1.fix2", "", "x\n");
    // What the repository itself has in its place is nobody's report.
    let stale =
        ("out/junit.xml", "<testsuite><testcase name=\"old\"><failure/></testcase></testsuite>");
    let files = [("windlass.toml", config.as_str()), stale];
    let mut rig = Rig::with(&table(&[todo("1")]), &script, &files);
    rig.ends(&["1"], 8);
    let (_, stage, gate) = rig.asked().unwrap();
    assert_eq!(stage, "propose_last", "{}", rig.told);
    assert!(gate.to_string().contains("(type_error in exports)"), "{gate}");
}

#[test]
fn a_base_that_is_red_already_is_not_this_tasks_doing() {
    let script = simply(&who("nobody", "", 0), "x", "x") + &reviews("", 0, "approve", &[]);
    let red = [("tests/red.sh", "false\n")];
    let mut rig = Rig::with(&table(&[todo("1")]), &script, &red);
    rig.ends(&["1"], 0);
    assert_eq!(rig.file(PROPOSALS), None);
}

/// Two fixes that nobody has decided on, and no run.
fn two() -> Rig {
    let rig = Rig::of(&[todo("1"), todo("2")], "");
    let line = |number: &str| {
        serde_json::json!({
            "fix_task_id": format!("{number}.fix"), "source_task_id": number,
            "content": format!("fix: Write {number} - timeout"), "dod": "Tests/CI pass",
            "depends": number, "failure_category": "timeout",
        })
        .to_string()
    };
    rig.write(PROPOSALS, &format!("{}\n{}\n", line("1"), line("2")));
    rig
}

#[test]
fn yes_and_no_are_enough_for_one_proposal_and_refused_with_the_command_for_several() {
    for (word, verb) in [("yes", "approve"), ("no", "reject")] {
        let mut rig = two();
        let seen = rig.verb(&["fix", word], 2);
        assert!(seen.contains("2 fixes are proposed: say which, 1.fix or 2.fix"), "{seen}");
        assert!(
            seen.contains(&format!(
                "windlass fix {verb} 1.fix, or windlass fix {verb} 2.fix; nothing was changed"
            )),
            "{seen}"
        );
        assert_eq!(rig.file("Plans.md").unwrap(), rig.plans);
        assert_eq!(rig.file(PROPOSALS).unwrap().lines().count(), 2);
    }
    let mut rig = two();
    rig.verb(&["fix", "reject", "1.fix"], 0);
    assert_eq!(rig.file("Plans.md").unwrap(), rig.plans, "a proposal is discarded, and no more");
    assert!(!rig.file(PROPOSALS).unwrap().contains("1.fix"));
    let seen = rig.verb(&["fix", "approve", "1.fix"], 2);
    assert!(seen.contains("no fix is proposed for 1.fix: there is 2.fix"), "{seen}");
    rig.verb(&["fix", "yes"], 0);
    let row = "| 2.fix | fix: Write 2 - timeout | Tests/CI pass | 2 | cc:TODO |\n";
    let second = todo("2");
    assert_eq!(
        rig.file("Plans.md").unwrap(),
        rig.plans.replace(&second, &format!("{second}{row}"))
    );
    assert_eq!(rig.file(PROPOSALS).unwrap(), "");
}

/// What is proposed: of a task, under a number, for a table.
fn proposal(fix: &str, plans: &str) -> String {
    let line = serde_json::json!({
        "fix_task_id": fix, "source_task_id": "1", "content": format!("fix: Write 1 - {fix}"),
        "dod": "Tests/CI pass", "depends": "1", "failure_category": "timeout", "plans": plans,
    });
    format!("{line}\n")
}

#[test]
fn whoever_decides_about_a_fix_answers_no_question_about_another() {
    let mut rig = failing();
    let (gate, _, asked) = rig.asked().unwrap();
    assert!(asked.to_string().contains("Add 1.fix to Plans.md?"), "{asked}");
    // Another fix of the same task that an earlier run has left, and one of its number for another table.
    let own = rig.file(PROPOSALS).unwrap();
    let left = proposal("1.fix9", "Plans.md") + &proposal("1.fix", "docs/x.md");
    rig.write(PROPOSALS, &format!("{own}{left}"));
    rig.verb(&["fix", "reject", "1.fix9"], 0);
    let seen = rig.verb(&["fix", "reject", "1.fix"], 2);
    assert!(
        seen.contains("windlass fix reject 1.fix --plans Plans.md, or windlass fix reject 1.fix --plans docs/x.md"),
        "{seen}"
    );
    rig.verb(&["fix", "reject", "1.fix", "--plans", "docs/x.md"], 0);
    assert_eq!(rig.file(PROPOSALS).unwrap(), own);
    assert_eq!(rig.asked().map(|(id, ..)| id), Some(gate), "nobody has answered it: {}", rig.told);
    rig.verb(&["fix", "reject", "1.fix"], 0);
    assert_eq!(rig.asked().map(|(id, ..)| id), None, "{}", rig.told);
}

#[test]
fn a_fix_goes_into_the_table_of_its_task() {
    let script = works("7", "", "wrong\n");
    let mut rig = Rig::of(&[todo("1")], &script);
    rig.write("docs/x.md", &table(&[todo("7")]));
    rig.scratch.git(&["add", "-A"]);
    rig.scratch.git(&["commit", "-qm", "Another table"]);
    let usual = rig.file("script.toml").unwrap();
    let test = "grep -qx 'done 7' src/7.txt\n";
    let writes = crate::work::rig::says(
        &who("test-writer", "7", 0),
        "verdict = 'written', summary = 'a test'",
        &[("tests/t7.sh", test)],
    );
    rig.write("script.toml", &(writes + &usual));
    rig.scratch.git(&["commit", "-qam", "Another script"]);
    rig.ends(&["7", "--plans", "docs/x.md"], 8);
    assert_eq!(rig.answers("review_stuck", &["continue"]), Some(8), "{}", rig.told);
    rig.verb(&["stop", "--cancel"], 0);
    let list = rig.verb(&["fix", "list"], 0);
    assert!(list.contains("after task 7 of docs/x.md: "), "{list}");
    rig.verb(&["fix", "yes"], 0);
    assert_eq!(rig.file("Plans.md").unwrap(), rig.plans);
    let now = rig.file("docs/x.md").unwrap();
    assert!(
        now.contains("| 7.fix | fix: Write 7 - ") && now.contains("| 7 | cc:TODO |\n"),
        "{now}"
    );
}
