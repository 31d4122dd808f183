//! The test that comes first: it is seen to fail, for the right reason, before anything is implemented.

use crate::work::rig::{Rig, says, todo, who, works};

fn writes(attempt: u32, files: &[(&str, &str)]) -> String {
    says(&who("test-writer", "1", attempt), "verdict = 'written', summary = 'a test'", files)
}

#[test]
fn a_test_that_passes_before_the_implementation_is_sent_back() {
    let mut rig = Rig::of(&[todo("1")], &writes(1, &[("tests/t1.sh", "true\n")]));
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.came("test-writer", "1").len(), 2, "{seen}");
    assert_eq!(rig.came("worker", "1"), ["done"]);
    let told = rig.shown("test-writer", "1", "red");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("the new test passes before the implementation"), "{told:?}");
}

#[test]
fn one_that_never_fails_asks_a_person_who_may_go_on() {
    let stuck = || {
        let mut rig = Rig::of(&[todo("1")], &writes(0, &[("tests/t1.sh", "true\n")]));
        rig.ends(&["1"], 8);
        assert_eq!(rig.came("test-writer", "1").len(), 3);
        assert_eq!(rig.came("worker", "1"), [""; 0], "nothing is implemented before");
        rig
    };
    let mut rig = stuck();
    assert_eq!(rig.answers("red_stuck", &["continue"]), Some(0), "{}", rig.told);
    rig.only_marks_changed(&["1"]);
    assert!(rig.records().contains(&"no_red_test".to_owned()));
    let mut rig = stuck();
    assert_eq!(rig.answers("red_stuck", &["abort"]), Some(4), "{}", rig.told);
    assert_eq!(rig.subjects(), [""; 0]);
}

#[test]
fn one_that_breaks_an_old_test_fails_for_the_wrong_reason() {
    let files = [("tests/old.sh", "grep -qx fine old.txt\n"), ("old.txt", "fine\n")];
    let breaks = [("tests/t1.sh", "grep -qx 'done 1' src/1.txt\n"), ("old.txt", "broken\n")];
    let mends = [("tests/t1.sh", "grep -qx 'done 1' src/1.txt\n"), ("old.txt", "fine\n")];
    let script = writes(1, &breaks) + &writes(2, &mends);
    let mut rig = Rig::with(&crate::work::rig::table(&[todo("1")]), &script, &files);
    let seen = rig.ends(&["1"], 0);
    assert_eq!(rig.came("test-writer", "1").len(), 2, "{seen}");
    assert!(seen.contains("a test that was there before fails: old"), "{seen}");
    rig.was_always_sound();
}

#[test]
fn what_it_shows_is_put_on_record_and_whoever_implements_is_told() {
    let mut rig = Rig::of(&[todo("1")], "");
    rig.ends(&["1"], 0);
    let told = rig.shown("worker", "1", "red");
    assert!(told.len() == 1 && told[0].contains("not ok 1 - t1"), "{told:?}");
    // The test has landed with the work.
    assert_eq!(rig.scratch.git(&["show", "main:tests/t1.sh"]), "grep -qx 'done 1' src/1.txt");
}

/// A worker that does this to files besides its task's, at a stage.
fn meddles(stage: &str, text: &str, files: &str) -> String {
    works("1", stage, text).replace("[answer.write]\n", &format!("[answer.write]\n{files}"))
}

#[test]
fn whoever_implements_cannot_gut_the_test_that_was_seen_to_fail() {
    // Nothing is implemented, and the test is made to say nothing; told so, they do it properly.
    let gutted = meddles("implement", "nothing\n", "'tests/t1.sh' = '''true\n'''\n");
    let restored = "'tests/t1.sh' = '''grep -qx 'done 1' src/1.txt\n'''\n";
    let mut rig = Rig::of(&[todo("1")], &(gutted.clone() + &meddles("fix", "done 1\n", restored)));
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("1: check tests-kept: fail"), "{seen}");
    let told = rig.shown("worker", "1", "check-output");
    assert!(told.last().unwrap().contains("tests/t1.sh:1: "), "{told:?}");
    assert_eq!(rig.scratch.git(&["show", "main:tests/t1.sh"]), "grep -qx 'done 1' src/1.txt");
    rig.only_marks_changed(&["1"]);
    rig.was_always_sound();
    // Whoever insists on it meets a person, who sees what it is about.
    let mut rig = Rig::of(&[todo("1")], &(gutted + &works("1", "fix", "nothing\n")));
    rig.ends(&["1"], 8);
    assert_eq!(rig.subjects(), [""; 0]);
    let (_, stage, gate) = rig.asked().unwrap();
    assert_eq!(stage, "review_stuck");
    assert!(gate.to_string().contains("tests are less than they were"), "{gate}");
    assert!(gate.to_string().contains("tests/t1.sh:1: "), "{gate}");
}

#[test]
fn a_pass_in_which_the_red_test_never_ran_is_none() {
    let hollow = meddles("implement", "nothing\n", "'test.sh' = '''echo 1..0\n'''\n");
    let restored = format!("'test.sh' = '''{}'''\n", crate::work::rig::CHECK);
    let mut rig = Rig::of(&[todo("1")], &(hollow + &meddles("fix", "done 1\n", &restored)));
    let seen = rig.ends(&["1"], 0);
    assert!(seen.contains("1: check tests-kept: fail"), "{seen}");
    let told = rig.shown("worker", "1", "check-output");
    let unseen = "`t1` was seen to fail, and is not among the tests that passed";
    assert!(told.last().unwrap().contains(unseen), "{told:?}");
    rig.only_marks_changed(&["1"]);
    rig.was_always_sound();
}

#[test]
fn a_test_that_was_there_is_not_taken_away_but_by_a_persons_word() {
    let old = [("tests/old.sh", "grep -qx fine old.txt\n"), ("old.txt", "fine\n")];
    let weakens = works("1", "", "done 1\n").replace(
        "[answer.write]\n",
        "[answer.write]\n'tests/old.sh' = '''grep -qx fine old.txt || true\n'''\n",
    );
    let mut rig = Rig::with(&crate::work::rig::table(&[todo("1")]), &weakens, &old);
    rig.ends(&["1", "--no-tdd"], 8);
    let (_, _, gate) = rig.asked().unwrap();
    assert!(gate.to_string().contains("is let pass: grep -qx fine old.txt || true"), "{gate}");
    assert_eq!(rig.answers("review_stuck", &["continue"]), Some(0), "{}", rig.told);
    rig.only_marks_changed(&["1"]);
}
