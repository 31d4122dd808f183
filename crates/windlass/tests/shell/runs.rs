//! Whole runs: what lands, what does not, and what stays as it was.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

use windlass_process::LimitedBy;

use crate::scratch::{SCRIPT, Scratch, ended};

#[test]
fn what_is_proved_and_reviewed_lands_and_nothing_else_changes() {
    let scratch = Scratch::new();
    let repo = scratch.repo();
    fs::write(repo.join("mine.md"), "my own notes\n").unwrap();
    fs::write(repo.join("test.sh"), "changed here, not committed\n").unwrap();
    scratch.git(&["add", "test.sh"]);
    let index = scratch.git(&["ls-files", "-s"]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let landed = scratch.landed();
    assert_eq!(landed["hello.txt"], "hello");
    assert_eq!(landed["bye.txt"], "bye");
    assert_eq!(fs::read_to_string(repo.join("mine.md")).unwrap(), "my own notes\n");
    assert_eq!(fs::read_to_string(repo.join("test.sh")).unwrap(), "changed here, not committed\n");
    let now = scratch.git(&["ls-files", "-s"]);
    for line in index.lines() {
        assert!(now.contains(line), "{line} is still staged as it was");
    }
    let status = scratch.status();
    assert_eq!(status["runs"][0]["standing"], "done");
    assert_eq!(status["runs"][0]["landings"].as_array().unwrap().len(), 2);
    let author = scratch.git(&["log", "-1", "--format=%an %cn", "main"]);
    assert_eq!(author, "Ada Windlass");
    for commit in ["main", "main^"] {
        let note = scratch.git(&["notes", "--ref", "windlass", "show", commit]);
        let note: serde_json::Value = serde_json::from_str(&note).unwrap();
        let tree = scratch.git(&["rev-parse", &format!("{commit}^{{tree}}")]);
        // Either may have landed first; whichever it was, its evidence is about this very tree.
        assert!(note["unit"] == "hello" || note["unit"] == "bye", "{note}");
        assert_eq!(note["tree"], tree.as_str(), "{note}");
        assert_eq!(note["checks"][0]["came"], "pass", "{note}");
        assert_eq!(note["checks"][0]["tree"], tree.as_str(), "{note}");
        let review = note["verdicts"].as_array().unwrap().iter();
        let review = review.filter(|it| it["role"] == "reviewer" && it["agent"] == "acted");
        assert_eq!(review.filter(|it| it["verdict"] == "clear").count(), 1, "{note}");
        assert!(note["cost_usd"].as_f64().is_some_and(|cost| cost >= 0.011), "{note}");
    }
    assert_eq!(scratch.processes(), [""; 0]);
}

#[test]
fn a_failing_check_goes_back_to_the_worker_with_its_output() {
    let script = format!(
        "[[answer]]\nrole = 'worker'\nunit = 'hello'\nattempt = 1\nwrite = {{ 'hello.txt' = \"helo\\n\" }}\n\
         say = {{ verdict = 'done', cost_usd = 0.01, tokens = 1 }}\n{SCRIPT}"
    );
    let scratch = Scratch::with(&[("script.toml", &script)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    let asked = scratch.notes("asked");
    let attempts: Vec<u64> = asked
        .iter()
        .filter(|note| note["unit"] == "hello" && note["role"] == "worker")
        .filter_map(|note| note["attempt"].as_u64())
        .collect();
    assert_eq!(attempts, [1, 2]);
    let failed = scratch.notes("checked").iter().filter(|note| note["came"] == "fail").count();
    assert_eq!(failed, 1);
}

#[test]
fn what_fails_on_the_base_is_not_charged_to_the_work() {
    let scratch = Scratch::with(&[("test.sh", "exit 1\n")]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "the person is asked what to do: {said}");
    let came: Vec<_> = scratch.notes("checked").iter().map(|note| note["came"].clone()).collect();
    assert_eq!(came, ["failed_before", "failed_before"]);
    assert!(scratch.landed().is_empty());
}

#[test]
fn a_judge_that_edits_has_its_edits_undone() {
    let script = format!(
        "[[answer]]\nrole = 'reviewer'\nwrite = {{ 'sneaked.txt' = 'in' }}\n\
         say = {{ verdict = 'clear', cost_usd = 0, tokens = 1 }}\n{SCRIPT}"
    );
    let scratch = Scratch::with(&[("script.toml", &script)]);
    let (code, said) = ended(scratch.start().env("WINDLASS_SANDBOX", "none").output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("isolation: none, as was asked for"), "{said}");
    let landed: Vec<String> = scratch.landed().into_keys().collect();
    assert_eq!(landed, ["bye.txt", "hello.txt"]);
}

#[test]
fn a_judge_in_a_sandbox_cannot_edit_at_all() {
    let script = format!(
        "[[answer]]\nrole = 'reviewer'\nwrite = {{ 'sneaked.txt' = 'in' }}\n\
         say = {{ verdict = 'clear', cost_usd = 0, tokens = 1 }}\n{SCRIPT}"
    );
    let scratch = Scratch::with(&[("script.toml", &script)]);
    let (code, _) = ended(scratch.start().output().unwrap());
    assert_ne!(code, Some(0));
    let full = scratch.windlass(&["log", "--full"]).output().unwrap();
    let full = String::from_utf8(full.stdout).unwrap();
    assert!(full.contains("Read-only file system"), "{full}");
    assert!(scratch.landed().is_empty());
}

#[test]
fn a_second_run_starts_from_what_the_first_one_landed() {
    let scratch = Scratch::new();
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    let first = scratch.git(&["rev-parse", "main"]);
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(0));
    assert_eq!(scratch.git(&["rev-parse", "main"]), first, "there was nothing left to do");
    let landings = &scratch.status()["runs"][1]["landings"];
    assert_eq!(landings.as_array().map(Vec::len), Some(0), "and nobody says that it landed");
    let note = scratch.git(&["notes", "--ref", "windlass", "show", "main"]);
    assert!(note.contains("\"small-1\""), "the evidence of what did land stays: {note}");
    let runs = scratch.status()["runs"].as_array().unwrap().len();
    assert_eq!(runs, 2);
    let lanes = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: serde_json::Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let lanes = lanes["lanes"].as_array().unwrap().clone();
    assert_eq!(lanes.len(), 2, "the second run had the lanes of the first: {lanes:?}");
    assert!(lanes.iter().all(|lane| lane["run"].is_null()), "and gave them back: {lanes:?}");
    let sound = scratch.windlass(&["journal", "verify"]).output().unwrap();
    assert_eq!(sound.status.code(), Some(0));
}

#[test]
fn a_lane_can_be_looked_at_and_entered() {
    let tasks = "[[task]]\nid = 'hello'\ncareful = true\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(8));
    let gates = scratch.windlass(&["gates"]).output().unwrap();
    let gates = String::from_utf8(gates.stdout).unwrap();
    assert!(gates.contains("Isolation: bubblewrap"), "what it was made behind: {gates}");
    let shown = scratch.windlass(&["lanes", "show", "0", "--json"]).output().unwrap();
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    assert_eq!((&shown["unit"], &shown["dirty"]), (&"hello".into(), &false.into()), "{shown}");
    assert_eq!(shown["files"], serde_json::json!(["hello.txt"]));
    let text = scratch.windlass(&["lanes", "show", "0"]).output().unwrap();
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("small-1 · hello") && text.contains("changed: hello.txt"), "{text}");
    let inside =
        scratch.windlass(&["lanes", "shell", "0"]).env("SHELL", "/bin/pwd").output().unwrap();
    assert_eq!(String::from_utf8(inside.stdout).unwrap().trim(), "/lane", "a shell starts there");
    let look = "echo by hand > hello.txt; ls ~ /home; cat \"$REPO/windlass.toml\"";
    let mut inside = scratch.windlass(&["lanes", "shell", "0"]);
    let mut inside = inside.env("SHELL", "/bin/sh").stdin(Stdio::piped()).spawn().unwrap();
    let look = look.replace("$REPO", scratch.repo().to_str().unwrap());
    inside.stdin.take().unwrap().write_all(look.as_bytes()).unwrap();
    let (code, said) = ended(inside.wait_with_output().unwrap());
    assert!(code == Some(1) && said.contains("windlass.toml"), "as an agent would: {said}");
    let changed = fs::read_to_string(Path::new(shown["path"].as_str().unwrap()).join("hello.txt"));
    assert_eq!(changed.unwrap(), "by hand\n");
    let mounts = scratch.windlass(&["lanes", "show", "0", "--mounts"]).output().unwrap();
    let mounts = String::from_utf8(mounts.stdout).unwrap();
    for line in [
        "isolation: bubblewrap",
        "read    /usr",
        "read    /lane/.git/config",
        "nothing /lane/.claude",
    ] {
        assert!(mounts.contains(line), "{line}: {mounts}");
    }
    assert!(mounts.contains(&format!("write   /lane ← {}", shown["path"].as_str().unwrap())));
    let mounts = scratch.windlass(&["lanes", "show", "0", "--mounts", "--json"]).output().unwrap();
    let mounts: serde_json::Value = serde_json::from_slice(&mounts.stdout).unwrap();
    assert_eq!((&mounts["directory"], &mounts["network"]), (&"/lane".into(), &"open".into()));
    let (code, said) = ended(scratch.windlass(&["lanes", "show", "7"]).output().unwrap());
    assert!(code == Some(2) && said.contains("lanes list"), "{said}");
    let (code, said) =
        ended(scratch.windlass(&["lanes", "shell", "0"]).env("SHELL", "/none").output().unwrap());
    assert!(code == Some(1) && said.contains("/none"), "{said}");
}

/// It has a child take too much memory, and says that all is well as soon as that one is gone.
const INDULGENT: &str = "import json, os
child = os.fork()
if child == 0:
    held = bytearray(1_000_000_000)
    for at in range(0, len(held), 4096): held[at] = 1
    os._exit(0)
os.waitpid(child, 0)
print(json.dumps(dict(verdict='done')))
";

#[test]
fn what_the_kernel_ended_for_want_of_memory_is_told_of_whatever_the_agent_says() {
    if LimitedBy::here() == LimitedBy::Looking {
        println!("no control groups here: the kernel ends nobody for want of memory");
        return;
    }
    let config = format!(
        "[limits]\nmemory-mb = 200\n[agents.mine]\nkind = 'command'\ncost = 'none'\n\
         command = ['python3', '-c', \"\"\"{INDULGENT}\"\"\"]\n\
         [roles]\ndefault = 'mine'\n[checks]\ntest = 'python3 indulgent.py'\n"
    );
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let files = [("windlass.toml", &*config), ("indulgent.py", INDULGENT), ("tasks.toml", tasks)];
    let scratch = Scratch::with(&files);
    let (_, said) = ended(scratch.start().output().unwrap());
    let answers = scratch.notes("answered");
    let told = |answer: &serde_json::Value| answer["remarks"].to_string().contains("memory-mb");
    assert!(!answers.is_empty() && answers.iter().all(told), "{answers:?} {said}");
    let log = scratch.windlass(&["log", "--full"]).output().unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let of_check = log.lines().find(|line| line.contains("windlass: "));
    assert!(of_check.is_some_and(|line| line.contains("memory-mb")), "nor a check: {log}");
}
