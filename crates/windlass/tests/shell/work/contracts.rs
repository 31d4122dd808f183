//! Sprint contracts: made of the row, enriched by a reviewer, approved, sealed, and not worked on otherwise.

use crate::work::rig::{CONTRACTS, Rig, says, simply, table, todo, who, works};

#[test]
fn a_contract_has_all_its_fields_and_what_the_reviewer_adds() {
    let plans = table(&[
        "| 1 | Add a login | (a) a token is needed; (b) `sh test.sh` passes | - | cc:TODO |\n"
            .to_owned(),
    ]);
    let more = "verdict = 'approved', summary = 'fine', checks = [{ id = 'c', title = 'No token is printed' }], \
                non_goals = [{ id = 'n', title = 'Logging out' }]";
    let script = says(&who("contract-reviewer", "1", 0), more, &[]);
    let mut rig = Rig::with(&plans, &script, &[]);
    rig.ends(&["1"], 0);
    let contract = rig.contract("1");
    assert_eq!(contract["task"]["id"], "1");
    let checks: Vec<&str> = contract["contract"]["checks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["description"].as_str().unwrap())
        .collect();
    assert_eq!(checks, ["a token is needed", "`sh test.sh` passes", "No token is printed"]);
    assert_eq!(contract["contract"]["non_goals"][0], "Logging out");
    assert_eq!(contract["contract"]["runtime_validation"][0]["command"], "sh test.sh");
    assert_eq!(contract["contract"]["risk_flags"][0], "security-sensitive");
    assert_eq!(contract["review"]["reviewer_profile"], "runtime");
    assert!(contract["digest"].as_str().is_some_and(|it| it.len() >= 64), "{contract}");
    assert!(!contract["approval"].is_null(), "{contract}");
}

#[test]
fn one_that_nobody_approves_is_not_worked_on() {
    let script =
        simply(&who("contract-reviewer", "1", 0), "unapproved", "nobody can tell when it is done");
    let mut rig = Rig::of(&[todo("1"), todo("2")], &script);
    let seen = rig.ends(&["all"], 4);
    assert_eq!(rig.came("worker", "1"), [""; 0]);
    assert!(
        seen.contains("its contract was not approved: nobody can tell when it is done"),
        "{seen}"
    );
    rig.only_others_done(&["2"], &["1"]);
}

#[test]
fn one_that_was_changed_after_it_was_approved_is_not_worked_on() {
    // A first run approves and seals it, and ends because its worker fails; then somebody changes a word of it.
    let fails = simply(&who("worker", "1", 0), "failed", "too hard");
    let mut rig = Rig::of(&[todo("1")], &fails);
    rig.ends(&["1"], 8);
    assert_eq!(rig.answers("implement_stuck", &["abort"]), Some(4), "{}", rig.told);
    let path = format!("{CONTRACTS}/1.sprint-contract.json");
    let sealed = rig.file(&path).unwrap();
    rig.write(&path, &sealed.replace("says 1", "says anything"));
    rig.write("script.toml", &(works("1", "", "done 1\n") + &rig.file("script.toml").unwrap()));
    rig.scratch.git(&["commit", "-qm", "It can", "script.toml"]);
    let seen = rig.ends(&["1"], 4);
    let said = format!("{path} is not what was approved: remove it, and it is made anew");
    assert!(seen.lines().any(|line| line == said), "{seen}");
    assert!(rig.records().contains(&"contract_changed".to_owned()), "{seen}");
    assert_eq!(rig.subjects(), ["It can"]);
    // Removed, it is made anew.
    std::fs::remove_file(rig.scratch.repo().join(&path)).unwrap();
    rig.ends(&["1", "--accept-drift"], 0);
    assert_eq!(rig.subjects(), ["It can", "Write 1"]);
}

#[test]
fn whoever_implements_finds_it_and_cannot_change_it() {
    let path = format!("{CONTRACTS}/1.sprint-contract.json");
    let meddles = works("1", "", "done 1\n")
        .replacen("unit =", "attempt = 1\nunit =", 1)
        .replace("[answer.write]\n", &format!("[answer.write]\n'{path}' = '''{{}}'''\n"));
    let mut rig = Rig::of(&[todo("1")], &meddles);
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("Read-only file system"), "{seen}");
    assert_eq!(rig.came("worker", "1"), ["crashed", "done"]);
    assert!(rig.contract("1")["digest"].is_string());
    assert_eq!(rig.scratch.git(&["ls-tree", "-r", "--name-only", "main", ".claude"]), "");
    rig.only_marks_changed(&["1"]);
}
