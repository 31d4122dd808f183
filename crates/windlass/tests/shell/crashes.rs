//! Killed at any instant, a run goes on: nothing lost, nothing landed twice, nobody left behind.

use std::cell::Cell;
use std::fs;
use std::process::Command;

use crate::agent::{WORKER, hire, pipe};
use crate::scratch::{Scratch, ended};

/// An agent that says that it has begun, waits until it may go on, and keeps a tally of its own.
fn patient(scratch: &Scratch) {
    let script = "#!/bin/sh\ncat > /dev/null\nhere=\"$(dirname \"$0\")\"\n\
                echo \"$WINDLASS_ROLE $WINDLASS_UNIT $WINDLASS_ATTEMPT\" >> \"$here/tally\"\n\
                echo half > \"$WINDLASS_UNIT.txt\"\n\
                echo begun > \"$here/begun\"\n\
                read line < \"$here/gate\"\n\
                echo hello > \"$WINDLASS_UNIT.txt\"\n\
                echo '{\"verdict\":\"done\"}'\n";
    pipe(scratch, "begun");
    pipe(scratch, "gate");
    fs::write(scratch.repo().join("tasks.toml"), "[[task]]\nid = 'hello'\ncareful = false\n")
        .unwrap();
    hire(scratch, script, WORKER, "sh test.sh");
}

/// Resumed, the run has its agent begin anew, and lands what that makes when it may go on. What it says.
#[track_caller]
fn goes_on(scratch: &Scratch) -> String {
    let again = scratch.windlass(&["resume"]).spawn().unwrap();
    assert_eq!(fs::read_to_string(scratch.path("talk/begun")).unwrap(), "begun\n");
    fs::write(scratch.path("talk/gate"), "go\n").unwrap();
    let (code, said) = ended(again.wait_with_output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    said
}

#[test]
fn a_killed_run_ends_its_agent_keeps_its_edits_and_goes_on() {
    let scratch = Scratch::new();
    patient(&scratch);
    let mut run = scratch.start().spawn().unwrap();
    assert_eq!(fs::read_to_string(scratch.path("talk/begun")).unwrap(), "begun\n");
    run.kill().unwrap();
    run.wait().unwrap();
    // Reading from the pipe ends when the last writer is gone: the agent died with its Windlass.
    goes_on(&scratch);
    let tally = fs::read_to_string(scratch.path("talk/tally")).unwrap();
    assert_eq!(tally, "worker hello 1\nworker hello 1\n", "a lost attempt is no attempt");
    let lost = scratch.notes("lost");
    assert_eq!(lost.len(), 1);
    let kept = lost[0]["kept"].as_str().expect("what it had written is kept");
    let back = scratch.path("back");
    let (code, said) = ended(
        scratch.windlass(&["lanes", "restore", kept, back.to_str().unwrap()]).output().unwrap(),
    );
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(back.join("hello.txt")).unwrap(), "half\n");
    assert_eq!(scratch.processes(), [""; 0]);
}

#[test]
fn an_interrupted_run_says_so_and_goes_on() {
    let scratch = Scratch::new();
    patient(&scratch);
    let run = scratch.start().spawn().unwrap();
    assert_eq!(fs::read_to_string(scratch.path("talk/begun")).unwrap(), "begun\n");
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
    assert!(interrupted.success());
    let (code, said) = ended(run.wait_with_output().unwrap());
    assert_eq!(code, Some(130), "{said}");
    assert!(said.contains("windlass resume"), "{said}");
    assert_eq!(scratch.processes(), [""; 0]);
    let said = goes_on(&scratch);
    let known = said.contains("\nhello: done\n");
    assert!(known, "whose a line is, is known after a resume, too: {said}");
}

/// Kills a run after every few of its entries, resumes it, and looks at what became of it.
pub fn killed(make: impl Fn() -> Scratch, step: usize, looks: impl Fn(&Scratch, usize)) {
    let whole = make();
    let mut run = whole.follow(&mut whole.start());
    let entries = Cell::new(0);
    run.until("its end", |entry| {
        entries.set(entries.get() + 1);
        entry["event"] == "ended"
    });
    assert_eq!(run.code(), Some(0));
    looks(&whole, 0);
    for at in (1..entries.get()).step_by(step) {
        let scratch = make();
        let mut run = scratch.follow(&mut scratch.start());
        let seen = Cell::new(0);
        run.until("that entry", |_| {
            seen.set(seen.get() + 1);
            seen.get() == at
        });
        run.child.kill().unwrap();
        run.child.wait().unwrap();
        let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
        assert!(code == Some(0) || said.contains("no run is open"), "after entry {at}: {said}");
        looks(&scratch, at);
    }
}

mod slow {
    use super::*;

    #[test]
    fn killed_after_any_entry_a_run_comes_to_the_same() {
        let whole = Cell::new(None);
        killed(Scratch::new, 9, |scratch, at| {
            let tree = scratch.git(&["rev-parse", "main^{tree}"]);
            let first = whole.take().unwrap_or_else(|| tree.clone());
            assert_eq!(tree, first, "after entry {at}");
            whole.set(Some(first));
            let merges = scratch.git(&["rev-list", "--merges", "--count", "main"]);
            assert_eq!(merges, "2", "each lands once, after entry {at}");
            assert_eq!(scratch.git(&["status", "--porcelain"]), "", "after entry {at}");
            assert_eq!(scratch.processes(), [""; 0], "after entry {at}");
        });
    }
}
