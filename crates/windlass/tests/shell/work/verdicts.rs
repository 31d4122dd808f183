//! What a review comes to where a command is missing, or a browser, or a reviewer; and who may write while they judge.

use serde_json::{Value, json};

use crate::work::rig::{CONFIG, CONTRACTS, Rig, says, simply, table, todo, who, works};

const PATH: &str = ".claude/state/contracts/1.sprint-contract.json";

fn with_dod(dod: &str, script: &str, files: &[(&str, &str)]) -> Rig {
    let plans = table(&[format!("| 1 | Write 1 | {dod} | - | cc:TODO |\n")]);
    Rig::with(&plans, script, files)
}

#[test]
fn a_command_of_the_definition_of_done_that_nobody_has_made_fails() {
    let mut rig = with_dod("`./greet.sh` prints Hello", "", &[]);
    let seen = rig.ends(&["1", "--no-tdd"], 8);
    assert!(seen.contains("1: check contract-2: fail"), "{seen}");
    let (_, stage, gate) = rig.asked().unwrap();
    assert_eq!(stage, "review_stuck", "{seen}");
    assert!(gate.to_string().contains("./greet.sh"), "{gate}");
    assert!(!rig.records().contains(&"DOWNGRADE_TO_STATIC".to_owned()), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);
    // One that is there and cannot be started is no better.
    let makes = works("1", "", "done 1\n").replace(
        "[answer.write]\n",
        "[answer.write]\n'greet.sh' = '''#!/bin/sh\necho Hello\n'''\n",
    );
    let mut rig = with_dod("`./greet.sh` prints Hello", &makes, &[]);
    let seen = rig.ends(&["1", "--no-tdd"], 8);
    assert!(seen.contains("1: check contract-2: fail"), "{seen}");
    assert_eq!(rig.subjects(), [""; 0]);
}

/// A contract that a person has written.
fn written(rig: &Rig, contract: &Value) {
    rig.write(PATH, &contract.to_string());
}

#[test]
fn a_contract_that_names_no_command_is_downgraded_and_that_is_on_record() {
    let mut rig = Rig::of(&[todo("1")], "");
    let contract = json!({
        "schema_version": "sprint-contract.v1", "task": { "id": "1" },
        "contract": { "checks": ["it says so"] }, "review": { "reviewer_profile": "runtime" },
    });
    written(&rig, &contract);
    rig.ends(&["1", "--no-tdd"], 0);
    assert_eq!(rig.records().iter().filter(|it| *it == "DOWNGRADE_TO_STATIC").count(), 1);
    let log = rig.log();
    assert!(log.contains("DOWNGRADE_TO_STATIC") && !log.contains("PENDING_BROWSER"), "{log}");
    rig.only_marks_changed(&["1"]);
}

#[test]
fn what_waits_for_a_browser_is_on_record() {
    let looks = simply(&who("browser-reviewer", "1", 0), "approve", "it is there");
    let mut rig = with_dod("the button is there", &looks, &[]);
    rig.ends(&["1", "--no-tdd"], 0);
    let log = rig.log();
    let pending: Vec<&str> = log.lines().filter(|it| it.contains("PENDING_BROWSER")).collect();
    assert_eq!(pending.len(), 1, "{log}");
    assert!(pending[0].contains("browser"), "{pending:?}");
    assert!(!log.contains("DOWNGRADE_TO_STATIC"), "{log}");
    let verdict = rig.file(".claude/state/review-results/1.review-result.json").unwrap();
    let verdict: Value = serde_json::from_str(&verdict).unwrap();
    assert_eq!(verdict["verdict"], "APPROVE", "the record is no verdict");
}

#[test]
fn whoever_judges_a_contract_or_tries_it_out_cannot_write() {
    for (role, word) in [("browser-reviewer", "approve"), ("contract-reviewer", "approved")] {
        for path in ["src/1.txt", "new.txt", "Plans.md", PATH, ".git/hooks/pre-commit"] {
            let say = format!("verdict = '{word}', summary = 'x', findings = []");
            let script = says(&who(role, "1", 1), &say, &[(path, "evil\n")])
                + &simply(&who(role, "1", 0), word, "fine")
                + &simply(&who("browser-reviewer", "1", 0), "approve", "fine");
            let mut rig = with_dod("the button is there", &script, &[]);
            rig.ends(&["1", "--no-tdd"], 0);
            assert_eq!(rig.came(role, "1"), ["crashed", word], "{role}, {path}: {}", rig.told);
            let landed = rig.scratch.git(&["show", "--stat=200", "--format=", "main"]);
            assert!(landed.contains("1 file changed"), "{role}, {path}: {landed}");
            assert_eq!(rig.file("src/1.txt").unwrap(), "done 1\n", "{role}, {path}");
            assert_eq!(rig.contract("1")["task"]["id"], "1");
            rig.only_marks_changed(&["1"]);
        }
    }
}

/// Somebody else is there, of another kind, and is this program; `roles` is the rest of who does what.
fn with_another(program: &str, roles: &str) -> Rig {
    let other = format!(
        "[agents.second]\nkind = 'command'\ncommand = ['sh', '{program}']\ncost = 'none'\n"
    );
    let config = format!("{other}{}", CONFIG.replace("[checks]\n", &format!("{roles}[checks]\n")));
    let likes = "echo '{\"verdict\": \"approve\", \"summary\": \"fine\", \"findings\": []}'\n";
    let fails = "echo 'not logged in' >&2; exit 1\n";
    let files = [("windlass.toml", config.as_str()), ("likes.sh", likes), ("fails.sh", fails)];
    Rig::with(&table(&[todo("1")]), "", &files)
}

#[test]
fn another_agent_than_the_workers_reviews_first_where_nobody_was_named() {
    for (program, roles, reviewers) in [
        ("likes.sh", "", &["second"][..]),
        ("fails.sh", "", &["second", "acted"]),
        ("likes.sh", "work-reviewer = 'acted'\n", &["acted"]),
    ] {
        let mut rig = with_another(program, roles);
        rig.ends(&["1", "--no-tdd"], 0);
        assert_eq!(rig.agents("work-reviewer"), reviewers, "{program}, {roles}: {}", rig.told);
        assert_eq!(rig.agents("worker"), ["acted"], "nothing else is theirs");
        assert_eq!(rig.agents("contract-reviewer"), ["acted"]);
        rig.only_marks_changed(&["1"]);
    }
}

/// A reviewer of the contract who wants more.
fn wants_more() -> String {
    let more = "verdict = 'approved', summary = 'fine', checks = [{ id = 'c', title = 'No token is printed' }]";
    says(&who("contract-reviewer", "1", 0), more, &[])
}

#[test]
fn what_was_approved_by_somebody_else_is_reviewed_and_what_the_reviewer_adds_is_kept() {
    // Sealed elsewhere, for the same task.
    let mut rig = Rig::of(&[todo("1")], "");
    rig.ends(&["1", "--no-tdd"], 0);
    let sealed = rig.contract("1");
    assert!(sealed["digest"].is_string() && sealed["approval"]["status"] == "approved");
    let mut rig = Rig::of(&[todo("1")], &wants_more());
    written(&rig, &sealed);
    rig.ends(&["1", "--no-tdd"], 0);
    let contract = rig.contract("1");
    let checks = contract["contract"]["checks"].to_string();
    assert!(checks.contains("No token is printed"), "{contract}");
    assert_ne!(contract["digest"], sealed["digest"]);
    rig.only_marks_changed(&["1"]);
}

#[test]
fn what_is_not_as_it_was_sealed_is_not_worked_on_and_what_to_do_is_said() {
    let mut rig = Rig::of(&[todo("1")], "");
    rig.ends(&["1", "--no-tdd"], 0);
    let mut sealed = rig.contract("1");
    sealed["contract"]["checks"][0]["description"] = json!("something else");
    let mut rig = Rig::of(&[todo("1")], &wants_more());
    written(&rig, &sealed);
    let seen = rig.ends(&["1", "--no-tdd"], 4);
    let said = format!(
        "1 Write 1: its contract was changed after it was approved; {CONTRACTS}/1.sprint-contract.json \
         is not what was approved: remove it, and it is made anew"
    );
    assert!(seen.contains(&said), "{seen}");
    assert_eq!(rig.came("worker", "1"), [""; 0]);
}
