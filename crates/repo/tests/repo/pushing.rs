//! What a remote gets, and what it never loses.

use std::{os::unix::fs::PermissionsExt, path::PathBuf};

use windlass_repo::{Branch, Land, Pushed, RepoError, Store};

use crate::scratch::{Scratch, WHEN, person, request, with_edit, write};

/// A bare repository beside theirs, as the remote `origin`.
fn remote(scratch: &Scratch) -> PathBuf {
    let bare = scratch.dir.join("remote.git");
    let path = bare.to_str().expect("text");
    scratch.git(&["init", "-q", "--bare", "-b", "main", path]);
    scratch.git(&["remote", "add", "origin", path]);
    scratch.git(&["push", "-q", "origin", "main"]);
    bare
}

fn branch() -> Branch {
    Branch::new("harness/A-1").expect("a branch")
}

fn there(scratch: &Scratch, bare: &std::path::Path) -> String {
    scratch.git_in(bare, &["rev-parse", "harness/A-1"]).trim().to_owned()
}

#[track_caller]
fn refused(store: &Store, request: &windlass_repo::Request) -> String {
    match store.push(request, "origin", &branch()).expect("an answer") {
        Pushed::Refused { why } => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_branch_is_pushed_once_goes_on_and_moves_nothing_here() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let bare = remote(&scratch);
    let before = scratch.oid("main");
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    let first = request(&store, &lane, Land::FastForward);
    let Pushed::There { commit, already: false } = store.push(&first, "origin", &branch()).unwrap()
    else {
        panic!("it is pushed")
    };
    assert_eq!(there(&scratch, &bare), commit.as_str());
    let again = store.push(&first, "origin", &branch()).unwrap();
    assert_eq!(again, Pushed::There { commit, already: true });
    write(&lane.work, "readme.md", "two\n");
    store.checkpoint(&lane, "step two", &person(), WHEN).unwrap();
    let second = request(&store, &lane, Land::FastForward);
    assert!(matches!(
        store.push(&second, "origin", &branch()).unwrap(),
        Pushed::There { already: false, .. }
    ));
    let log = scratch.git_in(&bare, &["log", "--format=%s", "harness/A-1"]);
    assert_eq!(log, "step two\nstep one\nfirst\n");
    assert_eq!(scratch.oid("main"), before);
    assert_eq!(scratch.git(&["branch", "--list"]).trim(), "* main");
}

#[test]
fn what_somebody_else_pushed_is_never_overwritten() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    let bare = remote(&scratch);
    store.checkpoint(&lane, "step one", &person(), WHEN).unwrap();
    store.push(&request(&store, &lane, Land::FastForward), "origin", &branch()).unwrap();
    // A commit on top of ours, which nobody here knows.
    let tree = scratch.git_in(&bare, &["rev-parse", "main^{tree}"]);
    let theirs = scratch.git_in(
        &bare,
        &[
            "-c",
            "user.name=a",
            "-c",
            "user.email=a@b.c",
            "commit-tree",
            "-p",
            "harness/A-1",
            "-m",
            "mine",
            tree.trim(),
        ],
    );
    scratch.git_in(&bare, &["update-ref", "refs/heads/harness/A-1", theirs.trim()]);
    write(&lane.work, "readme.md", "two\n");
    let why = refused(&store, &request(&store, &lane, Land::FastForward));
    assert!(why.contains("somebody else has moved it"), "{why}");
    assert_eq!(there(&scratch, &bare), theirs.trim());
    // Nor what the remote itself wants none of.
    scratch.git_in(&bare, &["update-ref", "-d", "refs/heads/harness/A-1"]);
    let hook = bare.join("hooks/pre-receive");
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let why = refused(&store, &request(&store, &lane, Land::FastForward));
    assert!(why.contains("`origin` does not take `harness/A-1`"), "{why}");
}

#[test]
fn hooks_of_the_repository_stay_off_and_a_remote_is_no_program() {
    let (scratch, store, lane) = with_edit("readme.md", "one\n");
    remote(&scratch);
    let ran = scratch.dir.join("ran");
    let hook = scratch.top.join(".git/hooks/pre-push");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    let request = request(&store, &lane, Land::FastForward);
    store.push(&request, "origin", &branch()).unwrap();
    assert!(!ran.exists());
    let nowhere = store.push(&request, "upstream", &branch()).unwrap_err();
    assert!(matches!(nowhere, RepoError::NoRemote { .. }), "{nowhere}");
    let program = format!("ext::sh -c \"touch '{}'\"", ran.display());
    scratch.git(&["remote", "add", "program", &program]);
    let not = store.push(&request, "program", &branch()).unwrap_err();
    assert!(matches!(not, RepoError::NotReached { .. }), "{not}");
    assert!(!ran.exists());
    assert!(not.to_string().contains("`windlass resume` goes on"), "{not}");
}
