//! Reviews: severities decide and nothing else, three rounds of fixes and then a person, and a reviewer that changes nothing.

use crate::work::rig::{CONFIG, Rig, reviews, says, simply, table, todo, who, works};

fn artifact(rig: &Rig) -> serde_json::Value {
    let text = rig.file(".claude/state/review-results/1.review-result.json");
    serde_json::from_str(&text.expect("an artifact")).unwrap()
}

#[test]
fn nobody_approves_with_a_critical_finding() {
    let script = reviews("1", 1, "approve", &["critical", "minor"]);
    let mut rig = Rig::of(&[todo("1")], &script);
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.came("work-reviewer", "1"), ["request_changes", "approve"]);
    assert_eq!(rig.came("worker", "1"), ["done", "done"], "the finding is mended");
    assert!(seen.contains("the reviewer says `approve`, and finds 1 critical"), "{seen}");
    assert!(seen.contains("review: REQUEST_CHANGES"), "{seen}");
    rig.only_marks_changed(&["1"]);
    assert_eq!(artifact(&rig)["verdict"], "APPROVE");
    let told = rig.shown("worker", "1", "findings");
    assert_eq!(told.len(), 1, "whoever mends it is told: {told:?}");
    assert!(told[0].contains("src/1.txt:1") && told[0].contains("critical 1"), "{told:?}");
}

#[test]
fn nobody_blocks_with_minor_findings_alone() {
    let script = reviews("1", 0, "request_changes", &["minor", "recommendation", "minor"]);
    let mut rig = Rig::of(&[todo("1")], &script);
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.came("work-reviewer", "1"), ["approve"]);
    assert_eq!(rig.came("worker", "1"), ["done"]);
    assert!(seen.contains("that is APPROVE"), "{seen}");
    assert_eq!(artifact(&rig)["counts"]["minor"], 2);
}

#[test]
fn what_a_reviewer_counts_and_does_not_name_is_asked_for_again() {
    let first = |say: &str| says(&who("work-reviewer", "1", 1), say, &[]);
    let counted = first("verdict = 'approve', critical_count = 1");
    let mut rig = Rig::of(&[todo("1")], &counted);
    let seen = rig.ends(&["1", "--no-tdd"], 0);
    assert_eq!(rig.came("work-reviewer", "1"), ["unknown", "approve"], "{seen}");
    assert!(seen.contains("its `critical_count` is 1, and its `findings` name 0"), "{seen}");
    // What is said without a finding is one.
    let said =
        first("verdict = 'request_changes', major_count = 2, summary = 'the token is printed'");
    let mut rig = Rig::of(&[todo("1")], &said);
    rig.ends(&["1", "--no-tdd"], 0);
    assert_eq!(rig.came("work-reviewer", "1"), ["request_changes", "approve"]);
    let told = rig.shown("worker", "1", "findings");
    assert!(told.len() == 1 && told[0].contains("the token is printed"), "{told:?}");
    rig.only_marks_changed(&["1"]);
}

#[test]
fn nothing_is_not_done_silently_but_where_it_was_done_before() {
    let lazy = simply(&who("worker", "1", 0), "done", "it is there");
    let row = |status: &str| crate::work::rig::row("1", "[skip:tdd] Write 1", "-", status);
    let mut rig = Rig::of(&[row("cc:TODO")], &lazy);
    let seen = rig.ends(&["1"], 8);
    assert!(seen.contains("1: check change-made: fail"), "{seen}");
    let told = rig.shown("worker", "1", "check-output");
    assert!(told.iter().any(|it| it.contains("nothing was changed")), "{told:?}");
    assert_eq!((rig.status("1").as_str(), rig.subjects().len()), ("cc:WIP", 0));
    assert_eq!(rig.came("work-reviewer", "1"), [""; 0], "nobody is paid to look at nothing");
    let mut rig = Rig::of(&[row("cc:Done")], &lazy);
    rig.ends(&["1"], 0);
    assert!(rig.status("1").starts_with("cc:Done"), "{}", rig.told);
}

#[test]
fn a_severity_that_nobody_knows_does_not_land() {
    let script = reviews("1", 1, "approve", &["blocker"]);
    let mut rig = Rig::of(&[todo("1")], &script);
    rig.ends(&["1"], 0);
    assert_eq!(rig.came("work-reviewer", "1"), ["request_changes", "approve"]);
}

/// A task whose review finds the same every time.
fn stuck() -> Rig {
    let mut rig = Rig::of(&[todo("1")], &reviews("1", 0, "request_changes", &["major", "minor"]));
    rig.ends(&["1"], 8);
    assert_eq!(rig.came("work-reviewer", "1").len(), 4, "three rounds of fixes");
    assert_eq!(rig.came("worker", "1").len(), 4);
    let (_, _, gate) = rig.asked().unwrap();
    let gate = gate.to_string();
    assert!(
        gate.contains("Fixed 3 times but the following critical/major issues remain"),
        "{gate}"
    );
    assert!(gate.contains("major 1"), "{gate}");
    assert_eq!(rig.status("1"), "cc:WIP");
    rig
}

#[test]
fn after_three_rounds_a_person_may_have_it_landed_and_that_stays_on_record() {
    let mut rig = stuck();
    assert_eq!(rig.answers("review_stuck", &["continue"]), Some(0), "{}", rig.told);
    rig.only_marks_changed(&["1"]);
    let artifact = artifact(&rig);
    assert_eq!(
        (&artifact["verdict"], &artifact["waived"]),
        (&"REQUEST_CHANGES".into(), &true.into())
    );
    assert_eq!(artifact["findings"][0]["title"], "major 1");
    assert!(rig.records().contains(&"continued_with_findings".to_owned()));
}

#[test]
fn after_three_rounds_a_person_may_give_it_up_and_the_lane_is_kept() {
    let mut rig = stuck();
    assert_eq!(rig.answers("review_stuck", &["abort"]), Some(4), "{}", rig.told);
    assert_eq!(rig.subjects(), [""; 0]);
    assert_eq!(rig.status("1"), "cc:WIP");
    assert!(
        rig.told.contains(
            "Not done:\n  1 Write 1: it was given up, and its lane is kept: the review found: "
        ),
        "{}",
        rig.told
    );
    let lanes = rig.verb(&["lanes", "list"], 0);
    assert!(lanes.contains("Write 1") || lanes.contains(" 1 "), "{lanes}");
}

#[test]
fn a_reviewer_cannot_write() {
    // It tries to, at its first attempt, in the lane, beside it, and in the table.
    for path in ["src/1.txt", "new.txt", "Plans.md", ".git/hooks/pre-commit"] {
        let who = who("work-reviewer", "1", 1);
        let script =
            says(&who, "verdict = 'approve', summary = 'x', findings = []", &[(path, "evil\n")]);
        let mut rig = Rig::of(&[todo("1")], &script);
        rig.ends(&["1", "--no-tdd"], 0);
        assert_eq!(rig.came("work-reviewer", "1"), ["crashed", "approve"], "{path}: {}", rig.told);
        let landed = rig.scratch.git(&["show", "--stat=200", "--format=", "main"]);
        assert!(
            landed.contains("src/1.txt") && landed.contains("1 file changed"),
            "{path}: {landed}"
        );
        assert_eq!(rig.file("src/1.txt").unwrap(), "done 1\n", "{path}");
        rig.only_marks_changed(&["1"]);
    }
}

#[test]
fn what_is_left_behind_is_found_by_line_and_mended() {
    let left = works("1", "implement", "done 1\n").replace(
        "[answer.write]\n",
        "[answer.write]\n'src/a.js' = '''export const a = 1;\nconsole.log(\"here\");\n'''\n",
    );
    let mended = works("1", "fix", "done 1\n")
        .replace("[answer.write]\n", "[answer.write]\n'src/a.js' = '''export const a = 1;\n'''\n");
    let mut rig = Rig::of(&[todo("1")], &(left + &mended));
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("1: check residuals: fail"), "{seen}");
    let told = rig.shown("worker", "1", "check-output");
    assert!(told.last().unwrap().contains("src/a.js:2"), "{told:?}");
    assert_eq!(rig.scratch.git(&["show", "main:src/a.js"]), "export const a = 1;");
    rig.only_marks_changed(&["1"]);
}

#[test]
fn a_test_that_fails_is_a_finding_that_no_reviewer_is_asked_about() {
    let script = works("1", "implement", "wrong\n");
    let mut rig = Rig::of(&[todo("1")], &script);
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("1: fix: worker (acted)"), "{seen}");
    assert_eq!(rig.came("work-reviewer", "1"), ["approve"]);
    rig.was_always_sound();
}

#[test]
fn the_contracts_own_commands_are_run() {
    // The definition of done names a command, which fails until the worker has mended it.
    let plans = table(&["| 1 | Write 1 | `sh accept.sh` passes | - | cc:TODO |\n".to_owned()]);
    let script = works("1", "implement", "done 1\n")
        + &works("1", "fix", "done 1\n")
            .replace("[answer.write]\n", "[answer.write]\n'ok' = '''x'''\n");
    let accept = ("accept.sh", "test -e ok || { echo 'error: not ok'; exit 1; }\n");
    let mut rig = Rig::with(&plans, &script, &[accept]);
    let seen = rig.ends(&["1", "--no-tdd"], 0);
    assert_eq!(rig.contract("1")["review"]["reviewer_profile"], "runtime");
    assert!(seen.contains("1: check contract-2: fail"), "{seen}");
    assert!(seen.contains("1: check contract-2: pass"), "{seen}");
    // What is seen in a browser as well has its commands run like any other.
    let plans =
        table(&["| 1 | Write 1 | the button is there; `sh accept.sh` passes | - | cc:TODO |\n"
            .to_owned()]);
    let script =
        works("1", "", "done 1\n") + &simply(&who("browser-reviewer", "1", 0), "approve", "seen");
    let mut rig = Rig::with(&plans, &script, &[("accept.sh", "exit 1\n")]);
    let seen = rig.ends(&["1", "--no-tdd"], 8);
    assert_eq!(rig.contract("1")["review"]["reviewer_profile"], "browser");
    assert!(seen.contains("1: check contract-2: fail"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);
    // Without any command, nothing is run, and that is said.
    let config = CONFIG.replace("[checks]\ntest = 'sh test.sh'\n", "");
    let mut rig = Rig::with(&table(&[todo("1")]), "", &[("windlass.toml", &config)]);
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.contract("1")["review"]["reviewer_profile"], "static");
    assert!(seen.contains("1: check test: skipped: there is no such command"), "{seen}");
    assert!(!seen.contains("check contract-"), "{seen}");
    // A contract that wants it tried out and says no command is read, and that is on record.
    let mut rig = Rig::with(&table(&[todo("1")]), "", &[("windlass.toml", &config)]);
    let contract = serde_json::json!({
        "schema_version": "sprint-contract.v1", "task": { "id": "1" },
        "contract": { "checks": ["it is there"] }, "review": { "reviewer_profile": "runtime" },
    });
    let path = format!("{}/1.sprint-contract.json", crate::work::rig::CONTRACTS);
    rig.write(&path, &contract.to_string());
    rig.ends(&["1"], 0);
    assert!(rig.records().contains(&"DOWNGRADE_TO_STATIC".to_owned()), "{}", rig.told);
}

/// Codex is there, and is this program; all else is played by others.
fn with_codex(program: &str) -> Rig {
    let codex =
        format!("[agents.codex]\nkind = 'command'\ncommand = ['sh', '{program}']\ncost = 'none'\n");
    let config = format!("{codex}{CONFIG}");
    let likes = "echo '{\"verdict\": \"approve\", \"summary\": \"fine\", \"findings\": []}'\n";
    let files = [
        ("windlass.toml", config.as_str()),
        ("likes.sh", likes),
        ("fails.sh", "echo 'not logged in' >&2; exit 1\n"),
        ("hangs.sh", "exec sleep 100000\n"),
    ];
    Rig::with(&table(&[todo("1")]), "", &files)
}

#[test]
fn codex_reviews_where_it_is_there_and_else_whoever_reviews() {
    let mut rig = with_codex("likes.sh");
    rig.ends(&["1"], 0);
    assert_eq!(rig.agents("work-reviewer"), ["codex"]);
    assert_eq!(rig.agents("worker"), ["acted"], "nothing else is Codex's");
    assert_eq!(artifact(&rig)["reviewer"], "codex");
    // One of its kind will do, whatever it is called; here nobody is.
    let mut rig = Rig::of(&[todo("1")], "");
    rig.ends(&["1"], 0);
    assert_eq!(rig.agents("work-reviewer"), ["acted"]);
}

#[test]
fn whoever_reviews_takes_over_where_codex_fails_or_does_not_answer_in_time() {
    for (program, args) in [("fails.sh", vec!["1"]), ("hangs.sh", vec!["1", "--review-limit", "1"])]
    {
        let mut rig = with_codex(program);
        rig.ends(&args, 0);
        assert_eq!(rig.agents("work-reviewer"), ["codex", "acted"], "{program}: {}", rig.told);
        let fell_back =
            rig.scratch.entries().iter().filter(|it| it["event"] == "fell_back").count();
        assert_eq!(fell_back, 1, "{program}");
        assert_eq!(artifact(&rig)["reviewer"], "acted");
        assert_eq!(rig.came("worker", "1"), ["done"], "it is no finding");
        rig.only_marks_changed(&["1"]);
        assert_eq!(rig.scratch.processes(), [""; 0]);
    }
}

#[test]
fn a_browser_that_nobody_has_is_no_evidence() {
    // The contract's own steps cannot be taken, for nothing says how the app is started: somebody is to look at it, who cannot.
    let plans = table(&["| 1 | Write 1 | the button is there | - | cc:TODO |\n".to_owned()]);
    let steps = "verdict = 'approved', summary = 'fine', \
                 flows = [{ id = 'f', title = 'the button is there', steps = 'open /; see Save' }]";
    let script = says(&who("contract-reviewer", "1", 0), steps, &[])
        + &simply(&who("browser-reviewer", "1", 0), "cannot_look", "there is no Chromium");
    let mut rig = Rig::with(&plans, &script, &[]);
    rig.ends(&["1"], 8);
    assert_eq!(rig.contract("1")["review"]["browser_mode"], "scripted");
    let (_, stage, gate) = rig.asked().unwrap();
    assert_eq!(stage, "browser_unseen", "{}", rig.told);
    let gate = gate.to_string();
    assert!(gate.contains("there is no Chromium") && gate.contains("[checks] serve"), "{gate}");
    assert_eq!(rig.subjects(), [""; 0]);
    assert_eq!(rig.answers("browser_unseen", &["continue"]), Some(0), "{}", rig.told);
    rig.only_marks_changed(&["1"]);
    assert!(rig.records().contains(&"browser_waived".to_owned()));
}
