//! The mirror: what it takes over, and what it is safe from.

use std::{fs, os::unix::fs::MetadataExt};

use windlass_repo::{Branch, RepoError, Settings, Store};

use crate::scratch::{Scratch, WHEN, differing, edited, read, write};

fn tip(store: &Store, name: &str) -> Option<String> {
    let heads = store.sync().expect("it worked");
    heads.tip(&Branch::new(name).expect("it worked")).map(|oid| oid.to_string())
}

#[test]
fn it_follows_the_persons_branches_and_writes_nothing_there() {
    let scratch = Scratch::new();
    let before = scratch.everything();
    let store = scratch.store();
    assert_eq!(tip(&store, "main").unwrap(), scratch.oid("main").as_str());
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    scratch.write("x", "x");
    let second = scratch.commit("second");
    scratch.git(&["branch", "a"]);
    assert_eq!(tip(&store, "a").unwrap(), second.as_str());
    // A branch that makes room for others below it.
    scratch.git(&["branch", "-D", "a"]);
    scratch.git(&["branch", "a/b"]);
    scratch.git(&["branch", "A"]);
    assert_eq!(tip(&store, "a"), None);
    assert_eq!(tip(&store, "a/b").unwrap(), second.as_str());
    assert_eq!(tip(&store, "A").unwrap(), second.as_str());
    // History that was rewritten.
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    scratch.write("y", "y");
    let other = scratch.commit("other");
    let before = scratch.everything();
    assert_eq!(tip(&store, "main").unwrap(), other.as_str());
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    store.ensure_lane(1, &other, "run", "u", WHEN).unwrap();
    store.ensure_lane(2, &second, "run", "v", WHEN).unwrap();
}

#[test]
fn neither_sides_clean_up_touches_the_other() {
    let scratch = Scratch::new();
    let store = scratch.store();
    // Linked, not copied.
    let blob = scratch.oid("main:readme.md");
    let object = format!("{}/{}", &blob.as_str()[..2], &blob.as_str()[2..]);
    let theirs = fs::metadata(scratch.top.join(".git/objects").join(&object)).unwrap();
    let ours = fs::metadata(scratch.dir.join("state/mirror.git/objects").join(&object)).unwrap();
    assert_eq!(theirs.ino(), ours.ino());

    scratch.write("x", "will be forgotten\n");
    let forgotten = scratch.commit("to be forgotten");
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    assert_eq!(lane.base, forgotten);
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    scratch.git(&["reflog", "expire", "--expire=now", "--all"]);
    scratch.git(&["gc", "-q", "--prune=now"]);
    assert!(
        !scratch.try_git(&scratch.top, &["cat-file", "-e", forgotten.as_str()]).status.success()
    );
    let snapshot = store.snapshot(&lane, "x", WHEN).unwrap();
    store.restore(&snapshot.commit, &scratch.dir.join("restored")).unwrap();
    assert_eq!(read(&scratch.dir.join("restored"), "x"), "will be forgotten\n");
    assert_eq!(read(&scratch.dir.join("restored"), "readme.md"), "mine\n");
    scratch.git_in(&lane.work, &["log"]);
    scratch.git(&["fsck", "--strict"]);
    scratch.git_in(&scratch.dir.join("state/mirror.git"), &["fsck", "--strict"]);
}

#[test]
fn a_repository_that_borrows_its_objects_is_copied() {
    let mut scratch = Scratch::new();
    let top = scratch.top.to_str().unwrap().to_owned();
    scratch.git_in(&scratch.dir, &["clone", "-q", "--shared", &top, "borrower"]);
    let lender = std::mem::replace(&mut scratch.top, scratch.dir.join("borrower"));
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "a", "a\n");
    fs::remove_dir_all(lender).unwrap();
    assert_eq!(read(&lane.work, "readme.md"), "hello\n");
    scratch.git_in(&scratch.dir.join("state/mirror.git"), &["fsck", "--strict"]);
}

#[test]
fn missing_objects_are_told() {
    let scratch = Scratch::new();
    let tree = scratch.oid("main^{tree}");
    let path = format!(".git/objects/{}/{}", &tree.as_str()[..2], &tree.as_str()[2..]);
    fs::remove_file(scratch.top.join(path)).unwrap();
    let state = scratch.dir.join("state");
    let error = Store::open(scratch.repository(), &state, Settings::default()).unwrap_err();
    assert!(matches!(error, RepoError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("git fsck"), "{error}");
    // Damaged later, it is noticed when it matters.
    let scratch = Scratch::new();
    let store = scratch.store();
    scratch.write("x", "x\n");
    scratch.commit("second");
    let blob = scratch.oid("main:x");
    let path = format!(".git/objects/{}/{}", &blob.as_str()[..2], &blob.as_str()[2..]);
    fs::remove_file(scratch.top.join(path)).unwrap();
    let error = store.sync().unwrap_err();
    assert!(matches!(error, RepoError::Damaged { .. }), "{error}");
}

#[test]
fn many_threads_may_sync_at_once() {
    let scratch = Scratch::new();
    let store = scratch.store();
    write(&scratch.top, "x", "x");
    let tip = scratch.commit("second");
    std::thread::scope(|scope| {
        let syncs: Vec<_> = (0..4).map(|_| scope.spawn(|| store.sync().unwrap())).collect();
        for sync in syncs {
            assert_eq!(sync.join().unwrap().tip(&Branch::new("main").unwrap()), Some(&tip));
        }
    });
}
