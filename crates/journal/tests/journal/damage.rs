//! Damaged files: what is read is what was written, or an error; and nothing is ever patched.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

use rusqlite::Connection;
use windlass_journal::{
    Batch, BlobId, ChainFlaw, DATABASE, Entry, Error, Journal, RunInfo, Snapshot, set_aside,
};

use crate::scene::{Scene, events, noise, run};

/// Everything that a small journal holds.
struct Content {
    runs: Vec<RunInfo>,
    entries: Vec<Vec<Entry>>,
    blobs: Vec<(BlobId, Vec<u8>)>,
    snapshots: Vec<Snapshot>,
}

impl Content {
    /// Two runs, some blobs, two snapshots, written in several commits.
    fn write(journal: &Journal) -> Content {
        let (loom, mill) = (run("loom"), run("mill"));
        journal.create_run(&loom, b"{\"workflow\":\"task\"}", 1_000).expect("created");
        journal.create_run(&mill, b"{}", 2_000).expect("created");
        let blobs: Vec<_> = [b"small".to_vec(), noise(4, 6_000), vec![b' '; 9_000]]
            .into_iter()
            .map(|content| (journal.put(&content).expect("put"), content))
            .collect();
        let mut snapshots = Vec::new();
        for step in 0..4_u64 {
            let (one, two) = (vec![noise(step, 90)], vec![noise(step + 9, 700)]);
            let mut batch = Batch::new(3_000);
            batch.append(loom.clone(), step, one).append(mill.clone(), step, two);
            let head = journal.commit(&batch).expect("committed")[&loom];
            if step > 1 {
                let bytes = format!("state {step}").into_bytes();
                journal.put_snapshot(&loom, step, head.hash, "f", &bytes).expect("kept");
                snapshots.push(Snapshot { seq: step, hash: head.hash, bytes });
            }
        }
        // The last word is an event: what comes after it is not vouched for.
        journal.append(&loom, 4, &["end"], 4_000).expect("appended");
        let runs = journal.runs().expect("readable");
        let all = |info: &RunInfo| journal.read(&info.id, 0).expect("readable");
        let entries = runs.iter().map(|info| all(info).map(|e| e.expect("sound")).collect());
        Content { entries: entries.collect(), runs, blobs, snapshots }
    }

    /// Reads all there is to read. How many of the parts were errors.
    fn hold_against(&self, journal: &Journal, what: &str) -> usize {
        let mut errors = 0;
        match journal.runs() {
            Ok(runs) => assert_eq!(runs, self.runs, "{what}"),
            Err(_) => errors += 1,
        }
        for (info, wanted) in self.runs.iter().zip(&self.entries) {
            match journal.read(&info.id, 0) {
                Ok(read) => {
                    let (good, bad): (Vec<_>, Vec<_>) = read.partition(Result::is_ok);
                    let good: Vec<Entry> = good.into_iter().map(|e| e.expect("good")).collect();
                    assert!(wanted.starts_with(&good), "{what}");
                    let whole = good.len() == wanted.len();
                    assert!(whole || !bad.is_empty(), "{what}: it ends early without a word");
                    errors += bad.len();
                }
                Err(_) => errors += 1,
            }
        }
        for (id, content) in &self.blobs {
            match journal.get(*id) {
                Ok(read) => assert_eq!(read, *content, "{what}"),
                Err(_) => errors += 1,
            }
        }
        match journal.latest_snapshot(&run("loom"), "f") {
            Some(found) => assert!(self.snapshots.contains(&found), "{what}"),
            None => errors += 1,
        }
        errors
    }
}

/// Flips one bit of each byte in turn, looks, and flips it back.
fn flip_all(
    file: &Path,
    places: impl Iterator<Item = u64>,
    mut look: impl FnMut(&str) -> bool,
) -> (usize, usize) {
    let handle = OpenOptions::new().read(true).write(true).open(file).expect("opened");
    let (mut flips, mut noticed) = (0, 0);
    for at in places {
        let mut byte = [0];
        handle.read_exact_at(&mut byte, at).expect("read");
        let bit = 1 << (at / 3 % 8);
        handle.write_all_at(&[byte[0] ^ bit], at).expect("written");
        flips += 1;
        noticed += usize::from(look(&format!("{} byte {at} bit {bit}", file.display())));
        handle.write_all_at(&byte, at).expect("written");
    }
    (flips, noticed)
}

/// Most places, and all of those that matter most.
fn places(len: u64, step: u64) -> impl Iterator<Item = u64> {
    (0..len).filter(move |at| at % step == 0 || *at < 128)
}

mod slow {
    use super::*;

    #[test]
    fn a_flipped_bit_in_the_database_is_harmless_or_noticed() {
        let scene = Scene::new();
        let content = Content::write(&scene.open());
        let len = fs::metadata(scene.database()).unwrap().len();
        let (flips, noticed) = flip_all(&scene.database(), places(len, 13), |what| {
            let read = scene.read_only();
            read.map_or(true, |journal| content.hold_against(&journal, what) > 0)
        });
        assert_eq!(content.hold_against(&scene.read_only().unwrap(), "whole again"), 0);
        assert!(flips > 3_000 && noticed > flips / 5, "{noticed} of {flips} noticed");
    }

    #[test]
    fn a_flipped_bit_in_the_log_is_harmless_or_noticed() {
        let (scene, content) = {
            let living = Scene::new();
            let journal = living.open();
            let content = Content::write(&journal);
            (living.copy(), content)
        };
        let log = scene.dir().join("journal.db-wal");
        let len = fs::metadata(&log).unwrap().len();
        let (flips, noticed) = flip_all(&log, places(len, 41), |what| {
            let read = scene.read_only();
            read.map_or(true, |journal| content.hold_against(&journal, what) > 0)
        });
        // A log is checked frame by frame: nothing in it is of no matter but the checkpoint count.
        assert!(flips > 2_000 && noticed + 16 > flips, "{noticed} of {flips} noticed");
        assert_eq!(content.hold_against(&scene.read_only().unwrap(), "whole again"), 0);
    }

    #[test]
    fn a_journal_with_a_flipped_bit_is_refused_or_gone_on_with_soundly() {
        let scene = Scene::new();
        let content = Content::write(&scene.open());
        let len = fs::metadata(scene.database()).unwrap().len();
        let loom = run("loom");
        flip_all(&scene.database(), (0..len).step_by(509), |what| {
            let copy = scene.copy();
            let before = fs::read(copy.database()).unwrap();
            let opened = copy.try_open();
            match opened {
                Ok(journal) => {
                    content.hold_against(&journal, what);
                    let appended = journal.append(&loom, 5, &["more"], 0);
                    drop(journal);
                    if appended.is_ok() {
                        let journal = copy.read_only().expect(what);
                        let read: Result<Vec<_>, _> = journal.read(&loom, 4).unwrap().collect();
                        assert!(read.is_err() || read.unwrap()[1].bytes == b"more", "{what}");
                    }
                    false
                }
                Err(_) => {
                    assert_eq!(
                        fs::read(copy.database()).unwrap(),
                        before,
                        "{what}: left as it was"
                    );
                    true
                }
            }
        });
    }
}

#[test]
fn a_line_beside_it_that_is_damaged_does_no_harm() {
    let scene = Scene::new();
    let content = Content::write(&scene.open());
    let line = scene.dir().join("journal.head");
    let len = fs::metadata(&line).unwrap().len();
    flip_all(&line, 0..len, |what| {
        assert_eq!(content.hold_against(&scene.read_only().expect(what), what), 0);
        false
    });
}

#[test]
fn a_journal_that_was_cut_short_is_refused() {
    let scene = Scene::new();
    let content = Content::write(&scene.open());
    let whole = fs::read(scene.database()).unwrap();
    for pages in 0..whole.len() / 4096 {
        for len in [pages * 4096, pages * 4096 + 1000] {
            let copy = scene.copy();
            fs::write(copy.database(), &whole[..len]).unwrap();
            let what = format!("cut to {len}");
            let read = copy.read_only().map(|journal| content.hold_against(&journal, &what));
            assert!(!matches!(read, Ok(0)), "{what}: goes unnoticed");
            let opened = copy.try_open();
            if let Err(Error::Missing { .. }) = opened {
                panic!("{what}: it is not missing");
            }
            assert!(opened.is_err() || len > 4096, "{what}: a fresh one was begun");
        }
    }
}

#[test]
fn what_was_acknowledged_is_missed_when_it_is_gone() {
    let lost = |scene: &Scene, what: &str| {
        let log = || fs::read(scene.dir().join("journal.db-wal")).unwrap_or_default();
        let before = log();
        for error in [scene.try_open().err(), scene.read_only().err()] {
            let error = error.unwrap_or_else(|| panic!("{what}: goes unnoticed"));
            assert!(matches!(error, Error::Lost { acknowledged: 5, .. }), "{what}: {error}");
        }
        assert_eq!(log(), before, "{what}: what is left of it stays as it is");
    };
    let living = Scene::new();
    let journal = living.open();
    Content::write(&journal);

    let scene = living.copy();
    fs::remove_file(scene.dir().join("journal.db-wal")).unwrap();
    lost(&scene, "a log that was removed");

    let scene = living.copy();
    let log = OpenOptions::new().write(true).open(scene.dir().join("journal.db-wal")).unwrap();
    log.set_len(log.metadata().unwrap().len() - 10).unwrap();
    lost(&scene, "a log that was cut");

    drop(journal);
    let scene = living.copy();
    fs::remove_file(scene.database()).unwrap();
    lost(&scene, "a database that was removed");
    assert!(!scene.database().exists(), "and no other is begun in its place");
    fs::write(scene.database(), "").unwrap();
    lost(&scene, "a database that was emptied");

    let old = Scene::new();
    drop(old.open());
    fs::copy(old.database(), scene.database()).unwrap();
    lost(&scene, "another database of the same repository");

    let other = old.open();
    other.create_run(&run("loom"), b"", 0).unwrap();
    other.append(&run("loom"), 0, &["other"; 5], 0).unwrap();
    drop(other);
    fs::copy(old.database(), scene.database()).unwrap();
    lost(&scene, "another history of the same length");
}

#[test]
fn a_history_that_was_tampered_with_is_broken_where_it_was() {
    let event = "place & 255 = 2 AND place >> 40 = 1";
    let tampering = [
        (format!("UPDATE events SET bytes = x'00' WHERE {event}"), ChainFlaw::Mismatch),
        (format!("UPDATE events SET hash = zeroblob(32) WHERE {event}"), ChainFlaw::Mismatch),
        (format!("DELETE FROM events WHERE {event}"), ChainFlaw::Missing),
        (
            format!(
                "UPDATE events SET bytes = (SELECT bytes FROM events WHERE place >> 40 = 2) WHERE {event}"
            ),
            ChainFlaw::Mismatch,
        ),
        (
            // The rest moves up, so that nothing is missing in between.
            format!(
                "DELETE FROM events WHERE {event}; UPDATE events SET place = place - 1 WHERE place >> 40 = 1 AND place & 255 > 2"
            ),
            ChainFlaw::Mismatch,
        ),
    ];
    for (sql, wanted) in tampering {
        let scene = Scene::new();
        Content::write(&scene.open());
        Connection::open(scene.database()).unwrap().execute_batch(&sql).unwrap();
        let journal = Journal::inspect(&scene.database()).unwrap();
        let read: Vec<_> = journal.read(&run("loom"), 0).unwrap().collect();
        assert_eq!(read.len(), 3, "{sql}: two events, then an error, then nothing");
        let error = read.into_iter().last().unwrap().unwrap_err();
        assert!(
            matches!(&error, Error::Broken { seq: 2, flaw, .. } if *flaw == wanted),
            "{sql}: {error}"
        );
        assert_eq!(events(&journal, &run("mill")).unwrap().len(), 4, "the other run is whole");
    }
}

#[test]
fn what_lies_beyond_the_end_of_a_run_is_not_written_over() {
    let scene = Scene::new();
    let journal = scene.open();
    Content::write(&journal);
    let sql = "INSERT INTO events SELECT place + 1, hash, x'00' FROM events
               WHERE place & 255 = 4 AND place >> 40 = 1";
    assert_eq!(Connection::open(scene.database()).unwrap().execute(sql, []).unwrap(), 1);
    let error = journal.append(&run("loom"), 5, &["more"], 0).unwrap_err();
    assert!(matches!(error, Error::Broken { seq: 5, flaw: ChainFlaw::Beyond, .. }), "{error}");
}

#[test]
fn whoever_meets_damage_while_writing_writes_no_more_and_leaves_the_log() {
    let scene = Scene::new();
    let journal = scene.open();
    Content::write(&journal);
    let conn = Connection::open(scene.database()).unwrap();
    conn.execute("UPDATE runs SET meta = x'00' WHERE id = 'mill'", []).unwrap();
    drop(conn);
    let error = journal.append(&run("mill"), 4, &["more"], 0).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
    let error = journal.append(&run("loom"), 5, &["more"], 0).unwrap_err();
    assert!(matches!(error, Error::Poisoned { .. }), "{error}");
    drop(journal);
    assert!(scene.dir().join("journal.db-wal").exists());
}

#[test]
fn a_run_whose_row_was_tampered_with_is_not_trusted() {
    for sql in [
        "UPDATE runs SET events = 3, hash = (SELECT hash FROM events WHERE place & 255 = 2) WHERE id = 'loom'",
        "UPDATE runs SET meta = x'00' WHERE id = 'loom'",
        "UPDATE runs SET updated_ms = 7 WHERE id = 'loom'",
        "UPDATE runs SET created_ms = 7 WHERE id = 'loom'",
        "UPDATE runs SET number = 9 WHERE id = 'loom'",
        "UPDATE runs SET seal = x'00' WHERE id = 'loom'",
    ] {
        let scene = Scene::new();
        Content::write(&scene.open());
        let conn = Connection::open(scene.database()).unwrap();
        conn.pragma_update(None, "foreign_keys", "OFF").unwrap();
        conn.execute_batch(sql).unwrap();
        let journal = Journal::inspect(&scene.database()).unwrap();
        for result in [journal.head(&run("loom")).map(drop), journal.runs().map(drop)] {
            assert!(matches!(result, Err(Error::Damaged { .. })), "{sql}: {result:?}");
        }
    }
}

/// Three runs, and the index of their names changed from one thing to another.
fn with_index(from: &[u8; 3], to: &[u8; 3]) -> Scene {
    let scene = Scene::new();
    let journal = scene.open();
    for name in ["r1", "r2", "r3"] {
        journal.create_run(&run(name), b"", 0).expect("created");
    }
    drop(journal);
    let mut bytes = fs::read(scene.database()).expect("read");
    let at: Vec<usize> = (0..bytes.len() - 3).filter(|&at| bytes[at..].starts_with(from)).collect();
    assert_eq!(at.len(), 1, "the entry of the index, and nothing else");
    bytes[at[0]..at[0] + 3].copy_from_slice(to);
    fs::write(scene.database(), bytes).expect("written");
    scene
}

#[test]
fn an_index_that_leads_to_another_run_is_noticed() {
    let scene = with_index(b"r2\x02", b"r2\x03");
    let error = scene.open().head(&run("r2")).unwrap_err();
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

#[test]
fn a_name_is_given_once_even_if_the_index_has_lost_it() {
    let scene = with_index(b"r2\x02", b"r0\x02");
    let journal = scene.open();
    let error = journal.create_run(&run("r2"), b"", 0).unwrap_err();
    assert!(matches!(error, Error::RunExists { .. }), "{error}");
}

#[test]
fn a_run_that_ends_with_another_event_is_broken_at_its_end() {
    // The row is sound, but the events behind it were replaced from the middle on by a chain that
    // holds in itself: that of the same run, played differently.
    let (scene, other) = (Scene::new(), Scene::new());
    let id = run("r");
    for (scene, word) in [(&scene, "one"), (&other, "two")] {
        let journal = scene.open();
        journal.create_run(&id, b"", 0).unwrap();
        journal.append(&id, 0, &["same", word], 0).unwrap();
    }
    let conn = Connection::open(scene.database()).unwrap();
    conn.execute("ATTACH ?1 AS other", [other.database().to_str().unwrap()]).unwrap();
    conn.execute_batch("DELETE FROM events; INSERT INTO events SELECT * FROM other.events")
        .unwrap();
    let journal = Journal::inspect(&scene.database()).unwrap();
    let error = events(&journal, &id).unwrap_err();
    assert!(matches!(error, Error::Broken { seq: 1, flaw: ChainFlaw::WrongEnd, .. }), "{error}");
}

#[test]
fn the_prefix_of_a_broken_run_can_be_recovered() {
    let scene = Scene::new();
    let content = Content::write(&scene.open());
    let sql = "UPDATE events SET bytes = x'00' WHERE place & 255 = 3 AND place >> 40 = 1";
    assert_eq!(Connection::open(scene.database()).unwrap().execute(sql, []).unwrap(), 1);
    let journal = Journal::inspect(&scene.database()).unwrap();
    let mut prefix = journal.recover(&run("loom")).unwrap();
    let entries: Vec<Entry> = prefix.by_ref().collect();
    assert_eq!(entries, content.entries[0][..3]);
    assert!(matches!(prefix.flaw(), Some(Error::Broken { seq: 3, .. })));
    let mut whole = journal.recover(&run("mill")).unwrap();
    assert_eq!(whole.by_ref().count(), 4);
    assert!(whole.flaw().is_none());
}

#[test]
fn a_damaged_journal_is_set_aside_whole_and_a_fresh_one_started() {
    let living = Scene::new();
    let journal = living.open();
    let content = Content::write(&journal);
    let scene = living.copy();
    drop(journal);
    let before = fs::read(scene.database()).unwrap();
    let log = fs::read(scene.dir().join("journal.db-wal")).unwrap();

    for number in 1..3 {
        let aside = set_aside(&scene.lock()).unwrap();
        let name = format!("{DATABASE}.damaged-{number}");
        assert_eq!(aside.database, scene.dir().join(name));
        assert!(!scene.database().exists());
        assert!(!scene.dir().join("journal.db-wal").exists());
        let journal = scene.open();
        assert!(journal.runs().unwrap().is_empty(), "a fresh one");
        journal.create_run(&run("loom"), b"", 0).unwrap();
    }
    // What was set aside has every byte, and its log where SQLite looks for it.
    let first = scene.dir().join("journal.db.damaged-1");
    assert_eq!(fs::read(&first).unwrap(), before);
    assert_eq!(fs::read(scene.dir().join("journal.db.damaged-1-wal")).unwrap(), log);
    let journal = Journal::inspect(&first).unwrap();
    assert_eq!(content.hold_against(&journal, "set aside"), 0);
}

#[test]
fn what_was_set_aside_before_is_not_overwritten() {
    let scene = Scene::new();
    let lock = scene.lock();
    for (content, name) in [("one", "journal.db.damaged-1"), ("two", "journal.db.damaged-2")] {
        // Nothing of ours, so there is no line beside it either.
        fs::write(scene.database(), content).unwrap();
        let aside = set_aside(&lock).unwrap();
        assert_eq!(aside.database, scene.dir().join(name));
        assert_eq!(aside.renamed.len(), 1);
    }
    assert_eq!(fs::read(scene.dir().join("journal.db.damaged-1")).unwrap(), b"one");
}

#[test]
fn a_move_that_was_interrupted_is_gone_on_with_and_overwrites_nothing() {
    let living = Scene::new();
    let journal = living.open();
    let content = Content::write(&journal);
    for looked_meanwhile in [false, true] {
        let scene = living.copy();
        let path = |name: &str| scene.dir().join(name);
        fs::rename(path("journal.db-wal"), path("journal.db.damaged-1-wal")).unwrap();
        let log = fs::read(path("journal.db.damaged-1-wal")).unwrap();
        if looked_meanwhile {
            assert!(matches!(scene.try_open().err(), Some(Error::Lost { .. })), "it is noticed");
            assert!(path("journal.db-wal").exists(), "looking leaves an empty log");
        }
        let aside = set_aside(&scene.lock()).unwrap();
        if looked_meanwhile {
            assert_eq!(aside.database, path("journal.db.damaged-2"));
        } else {
            let journal = Journal::inspect(&aside.database).unwrap();
            assert_eq!(content.hold_against(&journal, "set aside"), 0);
        }
        assert_eq!(fs::read(path("journal.db.damaged-1-wal")).unwrap(), log);
        drop(scene.open());
        drop(scene.read_only().unwrap());
    }
}
