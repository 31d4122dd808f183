//! Snapshots: the newest one that fits, or none.

use rusqlite::Connection;
use windlass_journal::{Error, Hash};

use crate::scene::{Open, Scene, run};

/// A run of five events, and the hash of each.
fn five() -> (Scene, Open, Vec<Hash>) {
    let scene = Scene::new();
    let journal = scene.open();
    let id = run("r");
    journal.create_run(&id, b"", 0).expect("a new run");
    journal.append(&id, 0, &["a", "b", "c", "d", "e"], 0).expect("appended");
    let hashes = journal.read(&id, 0).expect("read").map(|e| e.expect("sound").hash).collect();
    (scene, journal, hashes)
}

#[test]
fn the_newest_of_its_format_is_found() {
    let (_scene, journal, hashes) = five();
    let id = run("r");
    assert_eq!(journal.latest_snapshot(&id, "f1"), None);
    journal.put_snapshot(&id, 3, hashes[3], "f1", b"after d").unwrap();
    journal.put_snapshot(&id, 1, hashes[1], "f1", b"after b").unwrap();
    let newest = journal.latest_snapshot(&id, "f1").unwrap();
    assert_eq!((newest.seq, newest.hash, newest.bytes.as_slice()), (3, hashes[3], &b"after d"[..]));
    assert_eq!(journal.latest_snapshot(&id, "f2"), None);
    assert_eq!(journal.latest_snapshot(&run("nobody"), "f1"), None);
}

#[test]
fn a_snapshot_of_what_never_happened_is_refused() {
    let (_scene, journal, hashes) = five();
    for (seq, hash) in [(2, hashes[3]), (5, hashes[4]), (u64::MAX, hashes[0])] {
        let error = journal.put_snapshot(&run("r"), seq, hash, "f", b"x").unwrap_err();
        assert!(matches!(error, Error::NotInChain { .. }), "{error}");
    }
}

#[test]
fn only_the_last_two_are_kept() {
    let (scene, journal, hashes) = five();
    let id = run("r");
    for (seq, &hash) in hashes.iter().enumerate() {
        journal.put_snapshot(&id, seq as u64, hash, "f", b"x").unwrap();
        journal.put_snapshot(&id, seq as u64, hash, "f", b"the same again").unwrap();
    }
    let conn = Connection::open(scene.database()).unwrap();
    let mut query = conn.prepare("SELECT seq FROM snapshots ORDER BY seq").unwrap();
    let kept: Vec<i64> =
        query.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    assert_eq!(kept, [3, 4]);
}

#[test]
fn a_damaged_one_is_passed_over() {
    let damages = [
        "UPDATE snapshots SET data = x'00' WHERE seq = 4",
        "UPDATE snapshots SET data = (SELECT data FROM snapshots WHERE seq = 2) WHERE seq = 4",
        "UPDATE snapshots SET digest = zeroblob(32) WHERE seq = 4",
        "UPDATE snapshots SET hash = zeroblob(32) WHERE seq = 4",
        "UPDATE snapshots SET hash = x'01' WHERE seq = 4",
        "UPDATE snapshots SET seq = 3 WHERE seq = 4",
        "UPDATE snapshots SET seq = 9 WHERE seq = 4",
        "UPDATE snapshots SET seq = -1 WHERE seq = 4",
        "UPDATE events SET hash = zeroblob(32) WHERE place & 255 = 4",
    ];
    for damage in damages {
        let (scene, journal, hashes) = five();
        let id = run("r");
        journal.put_snapshot(&id, 2, hashes[2], "f", b"after c").unwrap();
        journal.put_snapshot(&id, 4, hashes[4], "f", b"after e").unwrap();
        let conn = Connection::open(scene.database()).unwrap();
        assert_eq!(conn.execute(damage, []).unwrap(), 1, "{damage}");
        let found = journal.latest_snapshot(&id, "f").unwrap();
        assert_eq!((found.seq, found.bytes), (2, b"after c".to_vec()), "{damage}");
    }
}

#[test]
fn one_of_more_than_the_run_has_is_passed_over() {
    let (scene, journal, hashes) = five();
    let id = run("r");
    journal.put_snapshot(&id, 4, hashes[4], "f", b"after e").unwrap();
    let conn = Connection::open(scene.database()).unwrap();
    conn.execute_batch("CREATE TEMP TABLE earlier AS SELECT * FROM runs").unwrap();
    let head = journal.append(&id, 5, &["f"], 0).unwrap();
    journal.put_snapshot(&id, 5, head.hash, "f", b"after f").unwrap();
    assert_eq!(journal.latest_snapshot(&id, "f").unwrap().bytes, b"after f");
    let back = "UPDATE runs SET (events, hash, seal) = (SELECT events, hash, seal FROM earlier)";
    assert_eq!(conn.execute(back, []).unwrap(), 1);
    assert_eq!(journal.latest_snapshot(&id, "f").unwrap().bytes, b"after e");
}
