//! Bad input: each with a clear error, and nothing lost.

use std::fs;
use std::process::Stdio;

use crate::scratch::{Scratch, ended};

#[test]
fn outside_a_repository_it_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let scratch = Scratch::new();
    let mut status = scratch.windlass(&["status"]);
    let (code, said) = ended(status.current_dir(dir.path()).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("not") && said.contains("repository"), "{said}");
}

#[test]
fn without_git_it_says_what_to_install() {
    let scratch = Scratch::new();
    let (code, said) =
        ended(scratch.windlass(&["status"]).env("PATH", "/nowhere").output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("install git"), "{said}");
}

#[test]
fn a_misspelled_key_of_the_configuration_gets_a_suggestion() {
    let scratch = Scratch::with(&[("windlass.toml", "[laness]\ncopy = []\n")]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("windlass.toml:1:2") && said.contains("did you mean `lanes`"), "{said}");
}

#[test]
fn an_agent_that_is_not_there_is_named_before_anything_starts() {
    let config =
        "[agents.mine]\nkind = 'command'\ncommand = ['no-such-agent']\n[roles]\ndefault = 'mine'\n";
    let scratch = Scratch::with(&[("windlass.toml", config)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("`no-such-agent`, the agent `mine`, is not installed"), "{said}");
    assert_eq!(scratch.status()["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn what_nobody_can_do_is_refused_before_anything_starts() {
    let scratch = Scratch::with(&[("windlass.toml", "")]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("nobody plays the role `reviewer`"), "{said}");
    let scratch = Scratch::new();
    let (code, said) =
        ended(scratch.windlass(&["run", "task", "--set", "task=x"]).output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("task cannot be run yet"), "{said}");
    assert_eq!(scratch.status()["runs"].as_array().unwrap().len(), 0);
}

#[test]
fn a_state_directory_that_cannot_be_is_named() {
    let scratch = Scratch::new();
    fs::write(scratch.path("file"), "in the way").unwrap();
    let mut start = scratch.start();
    let start = start.env("WINDLASS_STATE_DIR", scratch.path("file/state"));
    let (code, said) = ended(start.output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("file"), "{said}");
    let (code, said) =
        ended(scratch.start().env("WINDLASS_STATE_DIR", "relative").output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("absolute"), "{said}");
}

/// What a worker that misbehaves so comes to: mishaps, and then a pause for a person.
fn misbehaves(entry: &str) -> (Option<i32>, Vec<String>) {
    let script = format!("[[answer]]\nrole = 'worker'\n{entry}\n");
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                  [budget]\nrun = { dollars = 1000 }\nunit = { dollars = 1000 }\n";
    let scratch = Scratch::with(&[
        ("script.toml", &script),
        ("tasks.toml", tasks),
        ("windlass.toml", config),
    ]);
    let (code, _) = ended(scratch.start().stdout(Stdio::null()).output().unwrap());
    let came = scratch.notes("answered").iter().map(|note| note["came"].to_string()).collect();
    assert_eq!(scratch.processes(), [""; 0]);
    assert!(scratch.landed().is_empty());
    (code, came)
}

#[test]
fn an_agent_that_misbehaves_is_told_apart_and_stopped_at() {
    let thrice = |came: &str| (Some(3), vec![format!("\"{came}\""); 3]);
    assert_eq!(misbehaves("exit = 1\nsay = { verdict = 'done' }"), thrice("crashed"));
    assert_eq!(misbehaves("fault = 'silent'"), thrice("no_output"));
    assert_eq!(misbehaves("fault = 'broken-json'\nsay = { verdict = 'done' }"), thrice("unknown"));
    assert_eq!(misbehaves("fault = 'crash'\nsay = { verdict = 'done' }"), thrice("crashed"));
    assert_eq!(misbehaves("say = { verdict = 'perhaps' }"), thrice("unknown"));
}

#[test]
fn an_agent_that_leaves_a_child_behind_neither_hangs_nor_leaves_it() {
    let (code, came) =
        misbehaves("fault = 'leave-child'\nsay = { verdict = 'failed', cost_usd = 0, tokens = 1 }");
    assert_eq!((code, came.len()), (Some(8), 4), "four attempts, then a question");
}

#[test]
fn a_journal_of_another_repository_or_a_broken_one_is_refused() {
    let scratch = Scratch::new();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    let state = scratch.path("state/repositories");
    let dir = fs::read_dir(&state).unwrap().next().unwrap().unwrap().path();
    let file = dir.join("journal.db");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[..100].fill(0);
    bytes[middle..middle + 100].fill(0);
    fs::write(&file, bytes).unwrap();
    let main = scratch.git(&["rev-parse", "main"]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("journal.db"), "{said}");
    assert_eq!(scratch.git(&["rev-parse", "main"]), main);
    assert!(file.exists(), "never reset");
}
