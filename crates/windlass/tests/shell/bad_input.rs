//! Bad input: each with a clear error, and nothing lost.

use std::fs;
use std::process::Stdio;

use crate::agent::{EVERYBODY, hire};
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
fn the_doctor_goes_on_when_an_agent_is_missing_and_shows_what_checks_run() {
    let config = "[agents.mine]\nkind = 'command'\ncommand = ['no-such-agent']\n[roles]\ndefault = 'mine'\n\
                  [checks]\ntest = 'sh test.sh'\n";
    let scratch = Scratch::with(&[("windlass.toml", config), ("Cargo.toml", "")]);
    let output = scratch.windlass(&["doctor"]).output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("missing  agents       `no-such-agent`, the agent `mine`"), "{said}");
    assert!(said.contains("lint (cargo clippy)") && said.contains("test (sh test.sh)"), "{said}");
    assert!(said.contains("ok       lands on     main"), "{said}");
}

#[test]
fn what_nobody_can_do_is_refused_before_anything_starts() {
    let scratch = Scratch::with(&[("windlass.toml", "")]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1));
    assert!(said.contains("nobody plays the role `reviewer`"), "{said}");
    let flow = "workflow = 'garden'\nabout = 'x'\n\
                [always]\ncrashed = 'pause'\ntimed_out = 'pause'\ninvalid = 'pause'\n\
                [[intake]]\nstage = 'beds'\nread = 'beds'\non = { found = { to = 'end', add = { unit = 'beds.plots' } } }\n\
                [[unit]]\nstage = 'rake'\nread = 'beds'\non = { found = 'end' }\n";
    let scratch = Scratch::with(&[
        ("garden.toml", flow),
        ("beds.toml", "[read.beds]\nverdicts = ['found']\n[read.beds.lists.plots]\n"),
    ]);
    let args = ["run", "garden.toml", "--catalogue", "beds.toml"];
    let (code, said) = ended(scratch.windlass(&args).output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("garden cannot be run yet: nothing reads `beds`"), "{said}");
    for (name, input) in [
        ("task", "task=x"),
        ("issues", "project=x"),
        ("mission", "lanes=1"),
        ("work", "targets=all"),
    ] {
        let (code, said) =
            ended(scratch.windlass(&["run", name, "--set", input]).output().unwrap());
        assert_eq!(code, Some(2));
        assert!(said.contains(&format!("`{name}` has a verb of its own")), "{said}");
    }
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
    assert_eq!(misbehaves("fault = 'crash'\nsay = { verdict = 'done' }"), thrice("killed"));
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
    assert!(said.contains("journal.db") && said.contains("journal set-aside"), "{said}");
    assert_eq!(scratch.git(&["rev-parse", "main"]), main);
    assert!(file.exists(), "never reset");
    let bytes = fs::read(&file).unwrap();
    let aside = scratch.windlass(&["journal", "set-aside"]).output().unwrap();
    assert_eq!(aside.status.code(), Some(0), "{}", String::from_utf8_lossy(&aside.stderr));
    assert_eq!(fs::read(dir.join("journal.db.damaged-1")).unwrap(), bytes, "every byte is kept");
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "a fresh start: {said}");
    let (code, said) = ended(scratch.windlass(&["journal", "set-aside"]).output().unwrap());
    assert!(code == Some(2) && said.contains("sound"), "a sound one stays: {said}");
    assert!(file.exists());
}

#[test]
fn a_journal_that_is_gone_or_belongs_to_another_repository_is_not_taken_for_an_empty_one() {
    let scratch = Scratch::new();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    let state = scratch.path("state/repositories");
    let dir = fs::read_dir(&state).unwrap().next().unwrap().unwrap().path();
    let other = Scratch::new();
    assert_eq!(other.start().output().unwrap().status.code(), Some(0));
    let theirs = fs::read_dir(other.path("state/repositories")).unwrap().next().unwrap().unwrap();
    for file in ["journal.db", "journal.head"] {
        fs::rename(dir.join(file), dir.join(format!("{file}.mine"))).unwrap();
        fs::copy(theirs.path().join(file), dir.join(file)).unwrap();
    }
    let (code, said) = ended(scratch.start().output().unwrap());
    assert!(code == Some(1) && said.contains("belongs to the repository"), "{said}");
    fs::remove_file(dir.join("journal.db")).unwrap();
    fs::rename(dir.join("journal.head.mine"), dir.join("journal.head")).unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert!(code == Some(1) && said.contains("lost events"), "{said}");
}

#[test]
fn a_repository_that_lanes_cannot_be_built_from_is_refused_with_what_to_do() {
    let scratch = Scratch::new();
    let refused = |prepare: &[&[&str]], dir: &str, word: &str| {
        for args in prepare {
            scratch.git(args);
        }
        let flow = |name: &str| scratch.repo().join(name).display().to_string();
        let (flow, catalogue) = (flow("flow.toml"), flow("catalogue.toml"));
        let mut start = scratch.windlass(&["run", &flow, "--catalogue", &catalogue]);
        let (code, said) = ended(start.current_dir(scratch.repo().join(dir)).output().unwrap());
        assert!(code == Some(1) && said.contains(word), "{word}: {code:?} {said}");
    };
    refused(&[&["clone", "-q", "--bare", ".", "../bare"]], "../bare", "clone it");
    refused(&[&["init", "-q", "../empty"]], "../empty", "has no commit yet");
    scratch.git(&["commit", "-q", "--allow-empty", "-m", "Second"]);
    let url = format!("file://{}", scratch.repo().display());
    refused(&[&["clone", "-q", "--depth", "1", &url, "../shallow"]], "../shallow", "--unshallow");
    refused(&[&["checkout", "-q", "--detach"]], ".", "name the branch");
    scratch.git(&["checkout", "-q", "main"]);
    assert!(
        !scratch.path("state").exists() || scratch.status()["runs"].as_array().unwrap().is_empty()
    );
}

#[test]
fn odd_places_are_no_obstacle() {
    let scratch = Scratch::new();
    let odd = scratch.path("a b'ü\"\n$(x)");
    scratch.git(&["clone", "-q", ".", odd.to_str().unwrap()]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
        scratch.git(&["-C", odd.to_str().unwrap(), "config", key, value]);
    }
    let (code, said) = ended(scratch.start().current_dir(&odd).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let log =
        scratch.git(&["-C", odd.to_str().unwrap(), "rev-list", "--merges", "--count", "main"]);
    assert_eq!(log, "2");
}

mod slow {
    use super::*;

    /// The flow with a limit of a second on what the worker does.
    fn limited(entry: &str) -> (Option<i32>, Vec<serde_json::Value>) {
        let flow = include_str!("../fixtures/small.toml");
        let flow = flow.replacen("role  = \"worker\"", "role  = \"worker\"\nlimit = \"1s\"", 1);
        let flow = flow.replace(
            "redo   = { per = \"stage\", max = 2 }",
            "redo   = { per = \"stage\", max = 1 }",
        );
        let script = format!("[[answer]]\nrole = 'worker'\n{entry}\n");
        let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
        let scratch =
            Scratch::with(&[("flow.toml", &flow), ("script.toml", &script), ("tasks.toml", tasks)]);
        let (code, said) = ended(scratch.start().output().unwrap());
        assert!(!said.contains("panicked"), "{said}");
        assert_eq!(scratch.processes(), [""; 0], "{said}");
        (code, scratch.notes("answered"))
    }

    #[test]
    fn an_agent_that_never_ends_is_ended_even_if_it_will_not() {
        for fault in ["hang", "ignore-term"] {
            let (code, _) = limited(&format!("fault = '{fault}'"));
            assert_eq!(code, Some(3), "{fault}: twice too long, then a person");
        }
    }

    #[test]
    fn an_agent_that_prints_a_thousand_megabytes_is_heard_to_its_end() {
        let scratch = Scratch::new();
        let loud = "#!/bin/sh\ncat > /dev/null\nhead -c 1000000000 /dev/zero\n\
                    [ $WINDLASS_ROLE = worker ] && echo hello > hello.txt && echo && echo '{\"verdict\":\"done\"}'\n\
                    [ $WINDLASS_ROLE = worker ] || { echo; echo '{\"verdict\":\"clear\"}'; }\n";
        let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
        fs::write(scratch.repo().join("tasks.toml"), tasks).unwrap();
        hire(&scratch, loud, EVERYBODY, "sh test.sh");
        let (code, said) = ended(scratch.start().output().unwrap());
        assert_eq!(code, Some(0), "{said}");
        assert_eq!(scratch.landed()["hello.txt"], "hello");
        let state = scratch.path("state");
        let size = std::process::Command::new("du").arg("-sk").arg(state).output().unwrap();
        let size = String::from_utf8(size.stdout).unwrap();
        let kib: u64 = size.split_whitespace().next().unwrap().parse().unwrap();
        assert!(kib < 100_000, "what is kept of it has bounds: {kib} KiB");
    }
}

#[test]
fn no_agent_changes_what_says_what_agents_may_do() {
    let script = "[[answer]]\nrole = 'worker'\nsay = { verdict = 'done', cost_usd = 0.0, tokens = 0 }\n\
                  [answer.append]\n'windlass.toml' = '[sandbox]\\nlevel = \"none\"\\n'\n\
                  [[answer]]\nrole = 'reviewer'\nsay = { verdict = 'clear', cost_usd = 0.0, tokens = 0 }\n";
    let tasks = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n";
    let script =
        script.replace("'[sandbox]\\nlevel = \"none\"\\n'", "\"[sandbox]\\nlevel = 'none'\\n\"");
    let scratch = Scratch::with(&[("script.toml", &script), ("tasks.toml", tasks)]);
    let before = scratch.git(&["rev-parse", "main"]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_ne!(code, Some(0), "{said}");
    assert!(
        said.contains("would land changes windlass.toml") && said.contains("a person's to change"),
        "{said}"
    );
    assert_eq!(scratch.git(&["rev-parse", "main"]), before);
    // Who wants it so makes the change, and then the rest may land.
    let file = scratch.repo().join("windlass.toml");
    let own = fs::read_to_string(&file).unwrap();
    fs::write(&file, own + "[sandbox]\nlevel = 'none'\n").unwrap();
    scratch.git(&["commit", "-qam", "As I like it"]);
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
}
