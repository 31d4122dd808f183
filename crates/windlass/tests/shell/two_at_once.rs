//! Two at once: one runs, the others name it.

use std::fs;

use crate::scratch::{Scratch, ended};

#[test]
fn of_twenty_starts_one_runs_and_nineteen_name_it() {
    let script = "[[answer]]\nrole = 'worker'\nwrite = { 'a.txt' = 'a' }\ndelay_ms = 1500\nsay = { verdict = 'done' }\n\
                  [[answer]]\nsay = { verdict = 'clear' }\n";
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let scratch = Scratch::with(&[("script.toml", script), ("tasks.toml", tasks)]);
    let starts: Vec<_> = (0..20).map(|_| scratch.start().spawn().unwrap()).collect();
    let pids: Vec<String> = starts.iter().map(|start| start.id().to_string()).collect();
    let ends: Vec<_> =
        starts.into_iter().map(|start| ended(start.wait_with_output().unwrap())).collect();
    let held: Vec<&String> =
        ends.iter().filter(|(code, _)| *code == Some(6)).map(|(_, said)| said).collect();
    // A late one may start after the first has ended: then it finds nothing to do, and runs too.
    let ran = ends.iter().filter(|(code, _)| *code == Some(0)).count();
    assert_eq!(ran + held.len(), 20, "{ends:?}");
    assert!(held.len() >= 15, "{ends:?}");
    for said in held {
        assert!(pids.iter().any(|pid| said.contains(pid.as_str())), "{said}");
    }
    assert_eq!(scratch.landed().len(), 1);
    assert_eq!(scratch.git(&["rev-list", "--merges", "--count", "main"]), "1");
}

#[test]
fn a_person_who_goes_on_working_meanwhile_loses_nothing_and_the_landing_is_proved_again() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    let mut run = scratch.follow(&mut scratch.start());
    run.until("a review", |entry| entry["note"] == "asked" && entry["role"] == "reviewer");
    fs::write(repo.join("theirs.md"), "theirs\n").unwrap();
    scratch.git(&["add", "theirs.md"]);
    scratch.git(&["commit", "-qm", "Theirs"]);
    let theirs = scratch.git(&["rev-parse", "HEAD"]);
    fs::write(repo.join("notes.md"), "not committed\n").unwrap();
    scratch.git(&["gc", "-q", "--prune=now"]);
    assert_eq!(run.code(), Some(0));
    assert_eq!(scratch.landed().len(), 2);
    scratch.git(&["merge-base", "--is-ancestor", &theirs, "main"]);
    assert_eq!(fs::read_to_string(repo.join("notes.md")).unwrap(), "not committed\n");
    assert_eq!(fs::read_to_string(repo.join("theirs.md")).unwrap(), "theirs\n");
}
