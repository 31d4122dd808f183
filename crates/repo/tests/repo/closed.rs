//! Files and directories that an agent has closed to everybody, itself included. For root nothing is closed.

use std::{fs, path::Path};

use windlass_repo::RepoError;

use crate::scratch::{
    WHEN, as_nobody, edited, read, scratch_for_nobody, set_mode, with_edit, write,
};

#[test]
fn what_an_agent_has_closed_is_opened_and_kept() {
    let scratch = scratch_for_nobody();
    if !as_nobody("closed::what_an_agent_has_closed_is_opened_and_kept", &scratch) {
        return;
    }
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "new/deep/file", "mine\n");
    write(&lane.work, "alone", "mine\n");
    // A new one, one that git knows, and a file.
    for (path, mode) in [("new/deep", 0), ("new", 0), ("src", 0o300), ("alone", 0o200)] {
        set_mode(&lane.work.join(path), mode);
    }
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let files = scratch.files_of(&snapshot.commit);
    assert_eq!(files, ".gitignore\nalone\nnew/deep/file\nreadme.md\nsrc/lib.rs\n");
    let mut reopened = snapshot.reopened;
    reopened.sort();
    assert_eq!(reopened, ["alone", "new", "new/deep", "src"].map(Path::new));
    let again = store.snapshot(&lane, "x", WHEN).unwrap();
    assert!(!again.changed && again.reopened.is_empty(), "it is told once: {:?}", again.reopened);
    // The lane itself.
    write(&lane.work, "readme.md", "mine\n");
    set_mode(&lane.work, 0);
    let snapshot = store.snapshot(&lane, "y", WHEN).unwrap();
    assert_eq!((snapshot.changed, snapshot.reopened), (true, vec!["".into()]));
    set_mode(&lane.work, 0);
    store.ensure_lane(1, &lane.base, "run", "u1", WHEN).unwrap();
    assert_eq!(read(&lane.work, "readme.md"), "mine\n", "it is found as it was left");
}

#[test]
fn a_git_directory_that_was_closed_is_made_anew() {
    let scratch = scratch_for_nobody();
    if !as_nobody("closed::a_git_directory_that_was_closed_is_made_anew", &scratch) {
        return;
    }
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    scratch.git_in(&lane.work, &["commit", "-qam", "by the agent"]);
    let theirs = scratch.git_in(&lane.work, &["rev-parse", "HEAD"]);
    // Its objects can be listed and not be had.
    for entry in fs::read_dir(lane.work.join(".git/objects")).unwrap().flatten() {
        set_mode(&entry.path(), 0o400);
    }
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    let kept: Vec<&str> = snapshot.agent_commits.iter().map(|commit| commit.as_str()).collect();
    assert_eq!(kept, [theirs.trim()], "what it committed is had all the same");
    for closed in [".git/refs", ".git/objects/info", ".git"] {
        set_mode(&lane.work.join(closed), 0);
    }
    store.ensure_lane(1, &lane.base, "run", "u1", WHEN).unwrap();
    assert_eq!(scratch.git_in(&lane.work, &["status", "--porcelain"]), " M readme.md\n");
    assert_eq!(read(&lane.work, "readme.md"), "mine\n");
}

#[test]
fn what_cannot_be_read_makes_no_snapshot_that_lacks_it() {
    let scratch = scratch_for_nobody();
    if !as_nobody("closed::what_cannot_be_read_makes_no_snapshot_that_lacks_it", &scratch) {
        return;
    }
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "secret", "x");
    let secret = lane.work.join("secret");
    // It has another name, which may be anywhere: it is not for us to open.
    fs::hard_link(&secret, scratch.dir.join("another name")).unwrap();
    set_mode(&secret, 0o000);
    let error = store.snapshot(&lane, "unreadable", WHEN).unwrap_err();
    assert!(matches!(error, RepoError::Unreadable { .. }), "{error}");
    assert!(error.to_string().contains("secret"), "{error}");
    // Nor is such a lane given to another unit, or taken back: nothing goes that is not kept.
    assert!(store.ensure_lane(1, &lane.base, "run", "other", WHEN).is_err());
    assert!(store.rewind(&lane, &lane.base, WHEN).is_err());
    assert!(store.release(&lane, WHEN).is_err());
    assert!(secret.exists());
    fs::remove_file(&secret).unwrap();
    // A directory that may only not be written keeps no lane from being put right.
    write(&lane.work, "closed/x", "x");
    set_mode(&lane.work.join("closed"), 0o500);
    store.rewind(&lane, &lane.base, WHEN).unwrap();
    assert!(!lane.work.join("closed").exists());
}

#[test]
fn places_of_a_lane_are_opened_with_the_way_there_and_no_others() {
    let (_scratch, store, lane) = with_edit("docs/session/paper", "mine\n");
    write(&lane.work, "docs/other/file", "mine\n");
    for path in ["docs/session/paper", "docs/session", "docs/other", "docs"] {
        set_mode(&lane.work.join(path), 0);
    }
    let places = ["docs/session", "not/there"].map(str::to_owned);
    let reopened = store.reopen(&lane, &places);
    assert_eq!(reopened, ["docs", "docs/session", "docs/session/paper"].map(Path::new));
    assert!(store.reopen(&lane, &places).is_empty());
}
