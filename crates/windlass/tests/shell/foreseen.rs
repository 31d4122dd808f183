//! Lanes that change the same: what is foreseen, who is told, who waits, and that nothing of it is lost or delays anybody.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

/// Two tasks that write the same file, and one that does not.
const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Greet the world'\ncareful = false\n\
                     [[task]]\nid = 'bye'\ntitle = 'Take leave'\ncareful = false\n";

/// Workers that write what the file `say-UNIT` beside them holds, as soon as there is one, and say that they have begun. A
/// reviewer waits for its leave as well.
const AGENT: &str = r#"#!/bin/sh
talk=$(dirname "$0")
cat > "$talk/prompt-$WINDLASS_UNIT-$WINDLASS_ROLE-$WINDLASS_ATTEMPT"
until [ -e "$talk/$WINDLASS_ROLE-$WINDLASS_UNIT-$WINDLASS_ATTEMPT" ]; do sleep 0.02; done
. "$talk/$WINDLASS_ROLE-$WINDLASS_UNIT-$WINDLASS_ATTEMPT"
"#;

struct Stage {
    scratch: Scratch,
}

impl Stage {
    fn new(lanes: &str) -> Self {
        let scratch = Scratch::with(&[("tasks.toml", TASKS), ("shared.txt", "one\ntwo\nthree\n")]);
        let talk = scratch.path("talk");
        fs::create_dir(&talk).unwrap();
        let agent = talk.join("agent");
        fs::write(&agent, AGENT).unwrap();
        scratch.sh(&format!("chmod 755 '{}'", agent.display()));
        let config = format!(
            "[sandbox]\nwrite = ['{}']\n[agents.mine]\nkind = 'command'\ncommand = ['{}']\ncost = 'none'\n\
             [roles]\ndefault = 'mine'\n[checks]\ntest = 'sh test.sh'\n{lanes}",
            talk.display(),
            agent.display()
        );
        fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
        scratch.git(&["commit", "-qam", "Configure"]);
        Stage { scratch }
    }

    /// Lets somebody do this, and answer.
    fn lets(&self, who: &str, does: &str, verdict: &str) {
        let text = format!("{does}\necho '{{\"verdict\":\"{verdict}\"}}'\n");
        let talk = self.scratch.path("talk");
        fs::write(talk.join(format!(".{who}")), text).unwrap();
        fs::rename(talk.join(format!(".{who}")), talk.join(who)).unwrap();
    }

    fn prompt(&self, of: &str) -> PathBuf {
        self.scratch.path("talk").join(format!("prompt-{of}"))
    }

    fn foreseen(&self) -> Vec<Value> {
        self.scratch.status()["runs"][0]["foreseen"].as_array().unwrap().clone()
    }
}

fn is(kind: &'static str) -> impl Fn(&Value) -> bool {
    move |entry| entry["note"] == kind
}

#[test]
fn a_conflict_is_foreseen_shown_and_told_to_who_began_later_and_over_when_it_is_mended() {
    let stage = Stage::new("");
    let scratch = &stage.scratch;
    let mut run = scratch.follow(&mut scratch.start());
    stage.lets("worker-hello-1", "sed -i s/two/hello/ shared.txt", "done");
    run.until("hello is under review", |it| it["note"] == "asked" && it["role"] == "reviewer");
    // The other writes the same line, and fails, so that it is asked again.
    stage.lets("worker-bye-1", "sed -i s/two/bye/ shared.txt; echo x > own.txt", "failed");
    let note = run.until("the conflict", is("foreseen"));
    assert_eq!((&note["earlier"], &note["later"]), (&"hello".into(), &"bye".into()), "{note}");
    assert_eq!(note["files"], serde_json::json!(["shared.txt"]), "not own.txt: {note}");
    let open = stage.foreseen();
    assert_eq!(open.len(), 1, "{open:?}");
    assert_eq!(open[0]["files"][0], "shared.txt");
    let status = scratch.windlass(&["status"]).output().unwrap();
    let status = String::from_utf8(status.stdout).unwrap();
    assert!(status.contains("bye would conflict with hello in shared.txt"), "{status}");
    // Whoever was asked already is not told; the next one is.
    stage.lets("worker-bye-2", "git checkout -q HEAD -- shared.txt; echo y > own.txt", "failed");
    run.until("it is over", is("foreseen_over"));
    assert_eq!(stage.foreseen(), [Value::Null; 0]);
    stage.lets("worker-bye-3", "", "done");
    for unit in ["hello", "bye"] {
        stage.lets(&format!("reviewer-{unit}-1"), "", "clear");
        stage.lets(&format!("reviewer-{unit}-2"), "", "clear");
    }
    assert_eq!(run.code(), Some(0));
    let told = |of: &str| fs::read_to_string(stage.prompt(of)).unwrap();
    assert!(!told("bye-worker-1").contains("others at work"));
    assert!(!told("hello-worker-1").contains("others at work"));
    let later = [told("bye-worker-2"), told("bye-worker-3")];
    let later = later.iter().find(|it| it.contains("## others at work")).expect("it was told");
    assert!(later.contains("- hello changes shared.txt; its intent: Greet the world"), "{later}");
    assert!(later.find("# Now\n").unwrap() < later.find("## others at work").unwrap(), "{later}");
    let log = scratch.windlass(&["log"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("bye: would conflict with hello in shared.txt\n"), "{log}");
    assert!(log.contains("bye: no conflict with hello is foreseen any more\n"), "{log}");
}

#[test]
fn where_it_is_only_shown_nobody_is_told() {
    let stage = Stage::new("[lanes]\nconflicts = 'show'\n");
    let scratch = &stage.scratch;
    let mut run = scratch.follow(&mut scratch.start());
    stage.lets("worker-hello-1", "sed -i s/two/hello/ shared.txt", "done");
    run.until("hello is under review", |it| it["note"] == "asked" && it["role"] == "reviewer");
    stage.lets("worker-bye-1", "sed -i s/two/bye/ shared.txt", "done");
    run.until("the conflict", is("foreseen"));
    // Sent back by its reviewer, the later one is asked while the conflict is open.
    stage.lets("reviewer-bye-1", "", "blocking");
    run.until("asked again", |it| it["note"] == "asked" && it["attempt"] == 2);
    run.child.kill().unwrap();
    let _ = run.code();
    let full = scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    let told = full.lines().any(|line| line.ends_with("| Attempt: 2"));
    assert!(told, "what it was told: {full}");
    assert!(!full.contains("others at work"), "{full}");
}

#[test]
fn serialised_the_later_one_waits_also_after_a_kill_and_lands_on_top_of_the_earlier() {
    let stage = Stage::new("[lanes]\nconflicts = 'serialise'\n");
    let scratch = &stage.scratch;
    let mut run = scratch.follow(&mut scratch.start());
    stage.lets("worker-hello-1", "sed -i s/two/hello/ shared.txt", "done");
    run.until("hello is under review", |it| it["note"] == "asked" && it["role"] == "reviewer");
    // Its next role invocation is begun before anything is foreseen, and goes on; the one after that waits.
    stage.lets("worker-bye-1", "sed -i s/two/bye/ shared.txt", "done");
    run.until("the conflict", is("foreseen"));
    stage.lets("reviewer-bye-1", "", "blocking");
    let held = run.until("it waits", is("held_back"));
    assert_eq!((&held["unit"], &held["behind"]), (&"bye".into(), &"hello".into()), "{held}");
    run.child.kill().unwrap();
    let _ = run.code();
    assert!(!stage.prompt("bye-worker-2").exists(), "nobody was asked meanwhile");
    // Taken up again it still waits, and nobody thinks that it was begun.
    let mut run = scratch.follow(&mut scratch.windlass(&["resume"]));
    run.until("hello is reviewed again", |it| it["note"] == "asked" && it["role"] == "reviewer");
    assert!(!stage.prompt("bye-worker-2").exists(), "it still waits");
    for attempt in 1..4 {
        stage.lets(&format!("reviewer-hello-{attempt}"), "", "clear");
        stage.lets(&format!("reviewer-bye-{}", attempt + 1), "", "clear");
    }
    // What conflicts when it lands goes to a worker at `resolve`, as its first attempt there.
    let mends =
        "if grep -q hello shared.txt; then printf 'one\\nhello\\nbye\\nthree\\n' > shared.txt; fi";
    fs::remove_file(scratch.path("talk/worker-bye-1")).unwrap();
    stage.lets("worker-bye-1", mends, "done");
    run.until("hello has landed", |it| it["note"] == "landed" && it["unit"] == "hello");
    run.until("it goes on", is("let_go"));
    stage.lets("worker-bye-2", "", "done");
    assert_eq!(run.code(), Some(0));
    assert_eq!(scratch.git(&["show", "main:shared.txt"]), "one\nhello\nbye\nthree");
    let lost = scratch.notes("lost");
    assert!(lost.len() <= 1, "only who was at work was cut off: {lost:?}");
    let log = scratch.windlass(&["log"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("bye: waits until hello has landed or is given up"), "{log}");
}

#[test]
fn nobody_waits_for_one_who_waits_for_a_person() {
    let stage = Stage::new("[lanes]\nconflicts = 'serialise'\n");
    let scratch = &stage.scratch;
    let tasks = TASKS.replacen("careful = false", "careful = true", 1);
    fs::write(scratch.repo().join("tasks.toml"), tasks).unwrap();
    scratch.git(&["commit", "-qam", "Careful"]);
    let mut run = scratch.follow(&mut scratch.start());
    stage.lets("worker-hello-1", "sed -i s/two/hello/ shared.txt", "done");
    run.until("hello is under review", |it| it["note"] == "asked" && it["role"] == "reviewer");
    stage.lets("worker-bye-1", "sed -i s/two/bye/ shared.txt", "done");
    run.until("the conflict", is("foreseen"));
    stage.lets("reviewer-bye-1", "", "blocking");
    run.until("it waits", is("held_back"));
    stage.lets("worker-bye-2", "", "done");
    stage.lets("reviewer-bye-2", "", "clear");
    // The earlier one has a question, and nobody is there: the later one goes on and lands.
    stage.lets("reviewer-hello-1", "", "clear");
    run.until("it goes on", is("let_go"));
    assert_eq!(run.code(), Some(8));
    assert_eq!(scratch.git(&["show", "main:shared.txt"]), "one\nbye\nthree");
}

#[test]
fn a_lane_that_is_worked_in_is_on_record() {
    let scratch = Scratch::new();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let laned = scratch.notes("laned");
    assert_eq!(laned.len(), 2, "once for each unit: {laned:?}");
    for note in laned {
        assert!(PathBuf::from(note["path"].as_str().unwrap()).is_dir(), "{note}");
    }
}
