//! Several lanes at once: what each has for itself, what all of them may take, and a person who does things to branches.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scratch::{Followed, Scratch, ended};

const TASKS: &str =
    "[[task]]\nid = 'hello'\ncareful = false\n[[task]]\nid = 'bye'\ncareful = false\n";

/// An agent of the person's that does this; it finds a directory that all share as `$talk`.
fn with_agent(tasks: &str, script: &str, more: &str) -> Scratch {
    let scratch = Scratch::with(&[("tasks.toml", tasks), (".gitignore", "*.log\ntarget\n")]);
    let talk = scratch.path("talk");
    fs::create_dir(&talk).unwrap();
    let agent = talk.join("agent");
    fs::write(&agent, format!("#!/bin/sh\ncat > /dev/null\ntalk=$(dirname \"$0\")\n{script}\n"))
        .unwrap();
    scratch.sh(&format!("chmod 755 '{}'", agent.display()));
    configure(&scratch, more);
    scratch
}

fn configure(scratch: &Scratch, more: &str) {
    let talk = scratch.path("talk");
    let config = format!(
        "[sandbox]\nwrite = ['{talk}']\n[agents.mine]\nkind = 'command'\ncommand = ['{talk}/agent']\ncost = 'none'\n\
         [roles]\ndefault = 'mine'\n[checks]\ntest = 'sh test.sh'\n{more}",
        talk = talk.display(),
    );
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    scratch.git(&["commit", "-qam", "Configure"]);
}

fn said(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default()
}

/// Each worker serves its lane on `$PORT`, waits until both do, and asks both who they are. A check does the same again.
const SERVES: &str = r#"
case $WINDLASS_ROLE in reviewer) echo '{"verdict":"clear"}'; exit;; esac
echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"
python3 -m http.server "$PORT" > /dev/null 2>&1 &
echo "$PORT" > "$talk/port.$WINDLASS_UNIT.new"; mv "$talk/port.$WINDLASS_UNIT.new" "$talk/port.$WINDLASS_UNIT"
for unit in hello bye; do
  until [ -e "$talk/port.$unit" ]; do sleep 0.05; done
done
own() { python3 -c "import urllib.request,sys; print(urllib.request.urlopen('http://127.0.0.1:'+sys.argv[1]+'/'+sys.argv[2]+'.txt').read().decode().strip())" "$1" "$2" 2>/dev/null; }
until [ "$(own "$PORT" "$WINDLASS_UNIT")" = "$WINDLASS_UNIT" ]; do sleep 0.05; done
echo "home=$HOME tmp=$TMPDIR port=$PORT ports=$WINDLASS_PORTS mine=$(own "$PORT" "$WINDLASS_UNIT") vite=$VITE_PORT db=$PGPORT xdg=$XDG_RUNTIME_DIR" > "$talk/saw.$WINDLASS_UNIT"
echo x > "$HOME/only-mine"; echo x > "$TMPDIR/only-mine"; ls -A "$HOME" "$TMPDIR" >> "$talk/saw.$WINDLASS_UNIT"
for unit in hello bye; do until [ -e "$talk/saw.$unit" ]; do sleep 0.05; done; done
echo '{"verdict":"done"}'
"#;

#[test]
fn two_lanes_serve_and_test_at_once_and_nothing_of_the_persons_leaks_in() {
    let test = "python3 -m http.server \"$PORT\" >/dev/null 2>&1 & server=$!\n\
                until python3 -c \"import socket,os; socket.create_connection(('127.0.0.1', int(os.environ['PORT'])))\" 2>/dev/null; do sleep 0.05; done\n\
                kill $server\n";
    let scratch = with_agent(TASKS, SERVES, "");
    fs::write(scratch.repo().join("test.sh"), test).unwrap();
    scratch.git(&["commit", "-qam", "Serve in tests"]);
    let mut run = scratch.start();
    run.env("PORT", "3000").env("VITE_PORT", "5173").env("PGPORT", "5432");
    run.env("WINDLASS_PORTS", "1-2")
        .env("XDG_RUNTIME_DIR", "/run/user/1")
        .env("TMPDIR", "/var/tmp");
    let (code, told) = ended(run.output().unwrap());
    assert_eq!(code, Some(0), "{told}");
    let [hello, bye] =
        ["hello", "bye"].map(|unit| said(&scratch.path("talk").join(format!("saw.{unit}"))));
    for (unit, saw) in [("hello", &hello), ("bye", &bye)] {
        assert!(saw.contains(&format!("mine={unit} vite= db= xdg=")), "{saw}");
        assert!(!saw.contains("port=3000") && !saw.contains("ports=1-2"), "{saw}");
        assert!(!saw.contains("/var/tmp"), "{saw}");
    }
    let port =
        |saw: &str| saw.split(" port=").nth(1).unwrap().split(' ').next().unwrap().to_owned();
    assert_ne!(port(&hello), port(&bye));
    assert_eq!(scratch.landed().len(), 2);
}

const BIG: &str = r#"
case $WINDLASS_ROLE in reviewer) echo '{"verdict":"clear"}'; exit;; esac
[ "$WINDLASS_UNIT" = hello ] || ls target > "$talk/found.$WINDLASS_UNIT" 2>&1
echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"
mkdir -p target; head -c 6000000 /dev/zero > target/big
echo '{"verdict":"done"}'
"#;

/// One after the other, so that the second begins when the first has landed.
const CHAIN: &str = "[[task]]\nid = 'hello'\ncareful = false\n\
                     [[task]]\nid = 'bye'\ndepends = ['hello']\ncareful = false\n";

#[test]
fn the_next_unit_finds_the_caches_of_the_one_before() {
    let scratch = with_agent(CHAIN, BIG, "");
    let (code, told) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(said(&scratch.path("talk/found.bye")), "big\n");
}

#[test]
fn where_lanes_take_too_much_what_is_landed_goes_first_and_said_so() {
    let scratch = with_agent(CHAIN, BIG, "[lanes]\ndisk = '5 MB'\n");
    let (code, told) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("to make room, lanes were removed that were clean"), "{told}");
    assert_ne!(said(&scratch.path("talk/found.bye")), "big\n", "the cache went with it");
    assert_eq!(scratch.landed().len(), 2);
}

#[test]
fn where_nothing_may_go_the_run_pauses_and_goes_on_once_there_is_room() {
    // Both expect to change the same, so the second begins when the first is over: turned down, with its work in its lane.
    let tasks = "[[task]]\nid = 'hello'\nfiles = ['x']\ncareful = true\n\
                 [[task]]\nid = 'bye'\nfiles = ['x']\ncareful = false\n";
    let scratch = with_agent(tasks, BIG, "[lanes]\ndisk = '5 MB'\n");
    let (code, told) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "{told}");
    let lanes = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let work = lanes["lanes"][0]["path"].as_str().unwrap().to_owned();
    assert_eq!(scratch.windlass(&["answer", "0", "no"]).status().unwrap().code(), Some(0));
    let (code, told) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_ne!(code, Some(0), "{told}");
    assert!(told.contains("and may take 5.0 MB, so nothing new is begun"), "{told}");
    assert!(told.contains("raise `[lanes] disk` in windlass.toml"), "{told}");
    assert!(Path::new(&work).join("target/big").exists(), "nothing was deleted");
    // Room is made, and it goes on.
    fs::remove_file(Path::new(&work).join("target/big")).unwrap();
    let (code, told) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(4), "one was turned down: {told}");
    assert_eq!(scratch.landed().len(), 1);
}

/// Workers wait for leave; reviewers do not.
const WAITS: &str = r#"
case $WINDLASS_ROLE in reviewer) echo '{"verdict":"clear"}'; exit;; esac
until [ -e "$talk/go.$WINDLASS_UNIT" ]; do sleep 0.02; done
echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"
echo '{"verdict":"done"}'
"#;

/// A run with two lanes at work of which the first has landed.
fn one_landed(scratch: &Scratch) -> Followed {
    let mut run = scratch.follow(&mut scratch.start());
    fs::write(scratch.path("talk/go.hello"), "").unwrap();
    run.until("hello has landed", |it| it["note"] == "landed");
    run
}

#[test]
fn a_target_that_is_renamed_or_deleted_meanwhile_pauses_the_run_with_what_to_do() {
    for away in [&["branch", "-m", "main", "trunk"][..], &["checkout", "-q", "--detach"]] {
        let scratch = with_agent(TASKS, WAITS, "");
        let run = one_landed(&scratch);
        let tip = scratch.git(&["rev-parse", "main"]);
        scratch.git(away);
        if away[0] == "checkout" {
            scratch.git(&["branch", "-qD", "main"]);
        }
        fs::write(scratch.path("talk/go.bye"), "").unwrap();
        assert_eq!(run.code(), Some(1));
        let (code, told) = ended(scratch.windlass(&["resume"]).output().unwrap());
        assert_ne!(code, Some(0), "{told}");
        assert!(
            told.contains("`main`") && told.contains(&format!("git branch main {tip}")),
            "{told}"
        );
        if away[0] == "branch" {
            assert!(told.contains("`trunk`"), "where it has gone: {told}");
        }
        // What it says is what helps.
        scratch.git(&["branch", "main", &tip]);
        let (code, told) = ended(scratch.windlass(&["resume"]).output().unwrap());
        assert_eq!(code, Some(0), "{told}");
        assert_eq!(scratch.landed().len(), 2);
        assert_eq!(scratch.git(&["log", "--format=%h", "--merges", "main"]).lines().count(), 2);
    }
}

#[test]
fn a_target_that_is_reset_behind_what_landed_is_noticed_and_nothing_lands_twice() {
    let scratch = with_agent(TASKS, WAITS, "");
    let run = one_landed(&scratch);
    let landed = scratch.git(&["rev-parse", "main"]);
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    fs::write(scratch.path("talk/go.bye"), "").unwrap();
    assert_eq!(run.code(), Some(0));
    assert_eq!(
        scratch.landed().keys().collect::<Vec<_>>(),
        ["bye.txt"],
        "hello is not landed again"
    );
    let log = scratch.windlass(&["log"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    assert!(log.contains("main no longer has what landed before"), "{log}");
    assert!(log.contains(&format!("git merge {landed}")), "{log}");
    scratch.git(&["merge", "-q", "--no-edit", &landed]);
    assert_eq!(scratch.landed().len(), 2, "what it says brings it back");
}

#[test]
fn tidying_up_in_the_persons_repository_hurts_nobody() {
    let scratch = with_agent(TASKS, WAITS, "");
    let run = one_landed(&scratch);
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now", "--aggressive"]);
    fs::write(scratch.path("talk/go.bye"), "").unwrap();
    assert_eq!(run.code(), Some(0));
    assert_eq!(scratch.landed().len(), 2);
    scratch.git(&["fsck", "--strict"]);
}

#[test]
fn what_was_in_a_lane_is_listed_and_brought_back() {
    let script = r#"
case $WINDLASS_ROLE in reviewer) echo '{"verdict":"clear"}'; exit;; esac
echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"
[ "$WINDLASS_UNIT" = bye ] || { echo notes > notes.log; echo stashed > later.txt; git stash -qu -- later.txt; }
echo '{"verdict":"done"}'
"#;
    let scratch = with_agent(CHAIN, script, "");
    let (code, told) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{told}");
    let listed = scratch.windlass(&["lanes", "list"]).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    assert!(listed.contains("kept, `windlass lanes restore COMMIT DIRECTORY`"), "{listed}");
    let kept = listed.lines().filter(|line| line.contains("small-1 · hello")).collect::<Vec<_>>();
    let mut found = Vec::new();
    for (at, line) in kept.iter().enumerate() {
        let commit = line.split_whitespace().next().unwrap();
        let dir = scratch.path(&format!("back-{at}"));
        let (code, told) = ended(
            scratch
                .windlass(&["lanes", "restore", commit, dir.to_str().unwrap()])
                .output()
                .unwrap(),
        );
        assert_eq!(code, Some(0), "{told}");
        found.push(said(&dir.join("notes.log")) + &said(&dir.join("later.txt")));
    }
    for text in ["notes\n", "stashed\n"] {
        assert!(found.iter().any(|it| it.contains(text)), "{text}: {found:?} {listed}");
    }
}

/// Plays every role of a mission; the worker says where it is and waits for leave.
const CREW: &str = r#"
case $WINDLASS_ROLE in
mission-worker)
  git rev-parse --abbrev-ref HEAD > "$talk/branch.new"; mv "$talk/branch.new" "$talk/branch"
  until [ -e "$talk/go" ]; do sleep 0.02; done
  echo one > one.txt; echo '{"verdict":"built"}' ;;
validator) echo '{"verdict":"pass","claims":[{"id":"VAL-A-001","title":"VAL-A-001","holds":"yes","evidence":"it is there"}]}' ;;
curator) echo '{"verdict":"curated"}' ;;
*) echo '{"verdict":"nothing"}' ;;
esac
"#;

#[test]
fn a_mission_has_a_branch_for_each_feature_a_pointer_to_its_lane_and_as_many_lanes_as_make_sense() {
    let scratch = with_agent(TASKS, CREW, "[accounts.mine]\nagents = ['mine']\nat-once = 1\n");
    let features = r#"{"features": [{"id": "F-1", "title": "One", "claims": ["VAL-A-001"], "status": "pending"}]}"#;
    let contract = "- VAL-A-001: it is there\n  - command: `true`\n";
    fs::create_dir(scratch.repo().join(".harness")).unwrap();
    fs::write(scratch.repo().join(".harness/features.json"), features).unwrap();
    fs::write(scratch.repo().join(".harness/validation-contract.md"), contract).unwrap();
    fs::write(scratch.repo().join("SPEC.md"), "# Spec\n\nOne.\n").unwrap();
    let mut run = scratch.follow(&mut scratch.windlass(&["mission"]));
    run.until("the worker is asked", |it| it["note"] == "asked" && it["unit"] == "F-1");
    let pointer = scratch.repo().join(".harness/worktrees/F-1");
    while !scratch.path("talk/branch").exists() || !pointer.exists() {
        std::thread::yield_now();
    }
    let text = said(&pointer);
    let path = text.lines().find_map(|line| line.strip_prefix("path: ")).unwrap_or_default();
    assert!(Path::new(path).join(".git").is_dir(), "{text}");
    assert!(text.contains("windlass lanes shell "), "{text}");
    assert_eq!(said(&scratch.path("talk/branch")), "harness/F-1\n");
    assert!(!scratch.git(&["for-each-ref"]).contains("harness"));
    fs::write(scratch.path("talk/go"), "").unwrap();
    let code = run.code();
    let log = scratch.windlass(&["log"]).output().unwrap();
    assert_eq!(code, Some(0), "{}", String::from_utf8_lossy(&log.stdout));
    assert!(!pointer.exists(), "it has landed");
    assert_eq!(scratch.landed()["one.txt"], "one");
    assert_eq!(scratch.status()["runs"][0]["lanes"], 1, "no more may work at once");
}
