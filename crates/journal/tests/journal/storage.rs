//! Disks that are full, read-only or failing: told apart, and never a false promise.

use std::{
    fs,
    path::Path,
    process::{self, Command},
};

use windlass_journal::{BlobId, Error, Holder, Journal, Lock, TakeError, is_read_only, room};

use crate::{
    actor::{self, Actor, say},
    library,
    scene::{Scene, events, noise, repository, run},
};

const LARGE: usize = 300_000;

/// An actor plays this role to its end, on a disk of its own.
#[track_caller]
fn plays_on_small_disk(role: &str, kib: u32) {
    let disk = tempfile::tempdir().expect("a directory");
    let mut actor = Actor::start_on_small_disk(role, disk.path(), kib);
    assert_eq!(actor.listen().as_deref(), Some("done"));
    assert!(actor.end().success());
}

#[test]
fn a_full_disk_loses_nothing_and_is_gone_on_with_once_there_is_room() {
    plays_on_small_disk("fill the disk", 1024);
}

/// The role, on a disk of one mebibyte.
pub fn fill_the_disk(disk: &Path) {
    let scene = Scene::at(&disk.join("repo"));
    let journal = scene.open();
    let id = run("r");
    journal.create_run(&id, b"", 0).expect("there is room");
    fs::write(disk.join("filler"), noise(1, 400_000)).expect("there is room");
    assert!(room(disk).expect("it can be told") > 100_000);
    assert_eq!(room(&disk.join("nothing")), None);
    let tidy = Scene::at(&disk.join("tidy"));
    drop(tidy.open());

    let mut next = 0;
    let full = loop {
        match journal.append(&id, next, &[noise(next, 4_000)], 0) {
            Ok(head) => next = head.events,
            Err(error) => break error,
        }
    };
    assert!(matches!(full, Error::Full { .. }), "{full}");
    assert!(next > 10);
    let again = journal.append(&id, next, &["x"], 0).expect_err("it takes no more");
    assert!(matches!(again, Error::Poisoned { .. }), "{again}");
    let blob = journal.stage(&noise(1, LARGE)).expect_err("no room for a blob either");
    assert!(matches!(blob, Error::Full { .. }), "{blob}");
    let temp = scene.dir().join("blobs/tmp");
    assert_eq!(fs::read_dir(temp).map_or(0, Iterator::count), 0, "no half a blob");
    let whole = |journal: &Journal| {
        let read = events(journal, &id).expect("readable");
        assert!(read.iter().zip(0..).all(|(bytes, seq)| *bytes == noise(seq, 4_000)));
        read.len() as u64
    };
    assert_eq!(whole(&journal), next, "all that was acknowledged, and no more");

    let elsewhere = Lock::take(&disk.join("other"), Holder::this_process("test", 0));
    if let Ok(lock) = elsewhere {
        let error = Journal::open(&lock, &repository()).expect_err("no room for another");
        assert!(matches!(error, Error::Full { .. }), "{error}");
    }

    fs::write(disk.join("rest"), noise(2, LARGE)).expect_err("no room");
    assert_eq!(room(disk), Some(0));
    let error = tidy.read_only().expect_err("no room for the log's index either");
    assert!(matches!(error, Error::Full { .. }), "{error}");

    fs::remove_file(disk.join("filler")).expect("removed");
    let still = journal.append(&id, next, &["x"], 0).expect_err("room alone is not enough");
    assert!(matches!(still, Error::Poisoned { .. }), "{still}");
    journal.reopen().expect("there is room again");
    assert_eq!(journal.head(&id).expect("readable").events, next);
    journal.append(&id, next, &[noise(next, 4_000)], 0).expect("there is room again");
    drop(journal);
    assert_eq!(whole(&scene.open()), next + 1);
    say("done");
}

#[test]
fn a_read_only_disk_can_be_read() {
    plays_on_small_disk("read-only disk", 4096);
}

/// The role, on a disk of four mebibytes.
pub fn read_only_disk(disk: &Path) {
    let id = run("r");
    let tidy = Scene::at(&disk.join("tidy"));
    let journal = tidy.open();
    journal.create_run(&id, b"", 0).expect("created");
    journal.append(&id, 0, &["a", "b"], 0).expect("appended");
    let blob = journal.put(&noise(1, LARGE)).expect("put");
    // As a crash would leave it, the log still beside it.
    let crashed = disk.join("crashed");
    fs::create_dir(&crashed).expect("created");
    for name in ["journal.db", "journal.db-wal", "journal.head", "lock", "lock.door"] {
        fs::copy(tidy.dir().join(name), crashed.join(name)).expect("copied");
    }
    drop(journal);
    let mount = |arguments: &[&str], place: &[&Path]| {
        let mount = Command::new("mount").args(arguments).args(place).status();
        assert!(mount.expect("mount can be started").success());
    };
    assert!(!is_read_only(disk));
    // Whoever has the lock already may find it so as well.
    let turned = Scene::at(&disk.join("turned"));
    drop(turned.open());
    let lock = turned.lock();
    mount(&["--bind"], &[turned.dir(), turned.dir()]);
    mount(&["-o", "remount,bind,ro"], &[turned.dir()]);
    let error = Journal::open(&lock, &repository()).expect_err("read-only");
    assert!(matches!(error, Error::ReadOnly { .. }), "{error}");
    drop(lock);
    mount(&["-o", "remount,ro"], &[disk]);
    assert!(is_read_only(disk));

    for dir in [tidy.dir(), &crashed] {
        let error = Lock::take(dir, Holder::this_process("test", 0)).expect_err("read-only");
        assert!(matches!(&error, TakeError::Failed(Error::ReadOnly { .. })), "{error:?}");
        let text = error.to_string();
        assert!(text.contains(&*dir.to_string_lossy()) && text.contains("read-only"), "{text}");
        assert_eq!(Lock::held(dir).expect("it can be looked at"), None);
    }
    // What is only in the log cannot be had without writing; it is not passed over either.
    let error = Journal::open_read_only(&crashed, &repository()).expect_err("a log is left");
    assert!(error.to_string().contains("writable disk"), "{error}");
    let journal = tidy.read_only().expect("readable");
    assert_eq!(events(&journal, &id).expect("readable"), [b"a", b"b"]);
    assert_eq!(journal.get(blob).expect("readable"), noise(1, LARGE));
    let refused = journal.append(&id, 2, &["c"], 0).expect_err("read-only");
    assert!(matches!(refused, Error::ReadOnly { .. }), "{refused}");
    say("done");
}

#[test]
fn a_disk_that_fails_to_sync_is_never_trusted_again() {
    let temp = tempfile::tempdir().unwrap();
    let library = library::compile("failing_sync.c", temp.path());
    let scene = Scene::new();
    let when = temp.path().join("fail-now");
    let mut command = actor::command("failing sync", scene.dir(), when.to_str().unwrap());
    command.env("LD_PRELOAD", &library).env("FAIL_SYNC", &when);
    let mut actor = Actor::start_by(command);
    assert_eq!(actor.listen().as_deref(), Some("done"));
    assert!(actor.end().success());

    let read = events(&scene.open(), &run("r")).unwrap();
    assert_eq!(read[..2], [b"a", b"b"], "what was acknowledged is there");
}

/// The role: while the file `when` exists, syncing fails where the path ends with what it says.
pub fn failing_sync(dir: &Path, when: &Path) {
    let scene = Scene::at(dir);
    let journal = scene.open();
    let id = run("r");
    journal.create_run(&id, b"", 0).expect("created");
    journal.append(&id, 0, &["a", "b"], 0).expect("appended");

    // A large blob is synced before it has its name, and its name before anything refers to it.
    let content = noise(1, LARGE);
    let id_text = BlobId::of(&content).to_string();
    let temp = format!("/blobs/tmp/{}-0", process::id());
    for end in [temp, format!("/blobs/{}", &id_text[..2])] {
        fs::write(when, &end).expect("written");
        let blob = journal.stage(&content).expect_err(&end);
        assert!(matches!(blob, Error::Io { .. }), "{blob:?}");
    }
    fs::remove_file(when).expect("removed");
    journal.put(&content).expect("it is well again");

    fs::write(when, "journal.db-wal").expect("written");
    let failed = journal.append(&id, 2, &["c"], 0).expect_err("not on the disk");
    assert!(matches!(failed, Error::Io { .. }), "{failed:?}");
    fs::remove_file(when).expect("removed");

    // The disk says that it is well again, but what it forgot it does not say.
    for refused in
        [journal.append(&id, 2, &["c"], 0).map(drop), journal.put(b"x").map(drop), journal.reopen()]
    {
        assert!(matches!(refused, Err(Error::Poisoned { .. })), "{refused:?}");
    }
    assert_eq!(events(&journal, &id).expect("readable").len(), 2);
    say("done");
}
