//! Whole runs in a directory that is in no repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::patches::{given, script};
use crate::scratch::{Scratch, ended};

/// Files that work can be done on, in no repository. The task is asked about before it is given, if it is a careful one.
fn without_git(careful: bool) -> Scratch {
    let tasks = format!("[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = {careful}\n");
    let worker = "write = { 'hello.txt' = \"hello\\n\", 'notes.md' = \"two\\n\" }";
    let script = script("").replace("write = { 'hello.txt' = \"hallo\\n\" }", worker);
    assert!(script.contains(worker));
    let scratch = Scratch::with(&[
        ("flow.toml", &given()),
        ("script.toml", &script),
        ("tasks.toml", &tasks),
        ("notes.md", "one\n"),
        ("sub/file.txt", "below\n"),
    ]);
    fs::remove_dir_all(scratch.repo().join(".git")).unwrap();
    scratch
}

/// Every file below a directory, with what is in it.
fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut all, mut open) = (BTreeMap::new(), vec![dir.to_owned()]);
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(below).unwrap().flatten() {
            if entry.file_type().unwrap().is_dir() {
                all.insert(entry.path(), Vec::new());
                open.push(entry.path());
            } else {
                all.insert(entry.path(), fs::read(entry.path()).unwrap());
            }
        }
    }
    all
}

/// Answers the only question, and goes on.
fn say_yes(scratch: &Scratch) -> (Option<i32>, String) {
    let (code, said) = ended(scratch.windlass(&["answer", "0", "yes"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    ended(scratch.windlass(&["resume"]).output().unwrap())
}

#[test]
fn work_is_given_to_a_directory_without_git_and_nothing_else_is_written_there() {
    let scratch = without_git(false);
    fs::create_dir(scratch.repo().join("node_modules")).unwrap();
    let mut want = files(&scratch.repo());
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("no git here: copies of "), "{said}");
    assert!(said.contains("left out: node_modules (not source, by its name)"), "{said}");
    want.insert(scratch.repo().join("hello.txt"), b"hello\n".to_vec());
    want.insert(scratch.repo().join("notes.md"), b"two\n".to_vec());
    assert_eq!(files(&scratch.repo()), want);
    assert_eq!(scratch.processes(), [""; 0]);
    // What there is to know of it is known there, and below.
    for args in [
        &["status", "--all"][..],
        &["gates"],
        &["log"],
        &["report"],
        &["cost"],
        &["lanes", "list"],
        &["journal", "verify"],
        &["project"],
    ] {
        for dir in [scratch.repo(), scratch.repo().join("sub")] {
            let (code, said) = ended(scratch.windlass(args).current_dir(dir).output().unwrap());
            assert_eq!(code, Some(0), "{args:?}: {said}");
        }
    }
    let doctor = scratch.windlass(&["doctor"]).output().unwrap();
    let found = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(found.contains("none, in ") && found.contains("copies of"), "{found}");
    assert_eq!(files(&scratch.repo()), want);
    // The next one begins with what this one has given.
    fs::write(scratch.repo().join("notes.md"), "three\n").unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(files(&scratch.repo()), want);
}

#[test]
fn elsewhere_there_is_no_run_and_no_repository() {
    let scratch = without_git(false);
    for verb in ["status", "resume", "autopilot", "init"] {
        let (code, said) = ended(scratch.windlass(&[verb]).output().unwrap());
        assert_eq!(code, Some(1), "{verb}: {said}");
        assert!(said.contains("is not in a git repository"), "{verb}: {said}");
    }
    assert!(!scratch.path("state").exists(), "to look leaves nothing behind");
}

#[test]
fn what_was_edited_meanwhile_is_refused_and_stays() {
    let scratch = without_git(true);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert!(said.contains("Land hello?"), "{code:?} {said}");
    fs::write(scratch.repo().join("notes.md"), "mine\n").unwrap();
    let before = files(&scratch.repo());
    let (code, said) = say_yes(&scratch);
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("your checkout is as it was: notes.md is not what it was"), "{said}");
    assert_eq!(files(&scratch.repo()), before);
}

#[test]
fn what_was_edited_elsewhere_is_in_nobodys_way() {
    let scratch = without_git(true);
    scratch.start().output().unwrap();
    fs::write(scratch.repo().join("sub/file.txt"), "mine\n").unwrap();
    let mut want = files(&scratch.repo());
    let (code, said) = say_yes(&scratch);
    assert_eq!(code, Some(0), "{said}");
    want.insert(scratch.repo().join("hello.txt"), b"hello\n".to_vec());
    want.insert(scratch.repo().join("notes.md"), b"two\n".to_vec());
    assert_eq!(files(&scratch.repo()), want);
}

#[test]
fn what_lands_needs_a_repository_and_says_so() {
    let scratch = Scratch::new();
    fs::remove_dir_all(scratch.repo().join(".git")).unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("lands its work on a branch") && said.contains("git init"), "{said}");
    assert!(!scratch.path("state").exists());
}

#[test]
fn a_home_and_what_is_too_big_are_not_copied() {
    let scratch = without_git(false);
    let (code, said) = ended(scratch.start().env("HOME", scratch.repo()).output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("is your home"), "{said}");
    assert!(!scratch.path("state").exists());
    // A hole in a file takes no room.
    let big = fs::File::create(scratch.repo().join("big.bin")).unwrap();
    big.set_len(101 << 20).unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("big.bin") && said.contains(".gitignore"), "{said}");
    fs::write(scratch.repo().join(".gitignore"), "big.bin\n").unwrap();
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(0), "{said}");
}

#[test]
fn a_repository_that_is_made_later_has_runs_of_its_own_and_none_are_lost() {
    let scratch = without_git(true);
    scratch.start().output().unwrap();
    let open = scratch.status();
    scratch.git(&["init", "-q", "-b", "main"]);
    scratch.git(&["config", "user.name", "Ada"]);
    scratch.git(&["config", "user.email", "ada@example.org"]);
    scratch.git(&["add", "-A"]);
    scratch.git(&["commit", "-qm", "Start"]);
    assert_ne!(scratch.status(), open);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert!(said.contains("Land hello?"), "{code:?} {said}");
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    fs::remove_dir_all(scratch.repo().join(".git")).unwrap();
    assert_eq!(scratch.status(), open);
    let (code, said) = say_yes(&scratch);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(fs::read_to_string(scratch.repo().join("notes.md")).unwrap(), "two\n");
}

mod slow {
    use super::*;
    use crate::crashes::killed;

    #[test]
    fn killed_after_any_entry_work_is_given_once_without_git() {
        killed(
            || without_git(false),
            5,
            |scratch, at| {
                let names: Vec<String> = files(&scratch.repo())
                    .into_keys()
                    .map(|path| path.strip_prefix(scratch.repo()).unwrap().display().to_string())
                    .collect();
                let want = [
                    "catalogue.toml",
                    "flow.toml",
                    "hello.txt",
                    "notes.md",
                    "script.toml",
                    "sub",
                    "sub/file.txt",
                    "tasks.toml",
                    "test.sh",
                    "windlass.toml",
                ];
                assert_eq!(names, want, "after entry {at}");
                let given = fs::read_to_string(scratch.repo().join("notes.md")).unwrap();
                assert_eq!(given, "two\n", "after entry {at}");
                assert_eq!(scratch.processes(), [""; 0], "after entry {at}");
            },
        );
    }
}
