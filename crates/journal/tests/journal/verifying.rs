//! Looking at everything, and saying where the first bad place is.

use std::{
    fs,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use rusqlite::Connection;
use windlass_journal::{BlobId, Error, Flaw, Scope};

use crate::scene::{Open, Scene, noise, run};

const LARGE: usize = 100_000;

fn filled() -> (Scene, Open) {
    let scene = Scene::new();
    let journal = scene.open();
    for name in ["one", "two"] {
        journal.create_run(&run(name), b"", 0).expect("created");
        journal.append(&run(name), 0, &["a", "b", "c"], 0).expect("appended");
    }
    journal.put(b"small").expect("put");
    journal.put(&noise(1, LARGE)).expect("put");
    (scene, journal)
}

#[test]
fn a_sound_journal_is_reported_sound() {
    let (_scene, journal) = filled();
    let report = journal.verify(Scope::All).unwrap();
    assert!(report.is_sound(), "{:?}", report.flaws);
    assert_eq!((report.blobs, report.blob_bytes), (2, 5 + LARGE as u64));
    let counts: Vec<_> = report.runs.iter().map(|r| (r.run.as_str(), r.sound_events)).collect();
    assert_eq!(counts, [("one", 3), ("two", 3)]);
    let report = journal.verify(Scope::Run(&run("two"))).unwrap();
    assert_eq!((report.runs.len(), report.blobs, report.is_sound()), (1, 0, true));
    let nobody = journal.verify(Scope::Run(&run("nobody")));
    assert!(matches!(nobody, Err(Error::NoSuchRun { .. })));
}

#[test]
fn a_run_that_grows_meanwhile_is_no_flaw() {
    let (scene, journal) = filled();
    let reader = scene.read_only().unwrap();
    let done = AtomicBool::new(false);
    let verify = || {
        while !done.load(Ordering::Relaxed) {
            let report = reader.verify(Scope::All).unwrap();
            assert!(report.is_sound(), "{:?}", report.flaws);
        }
    };
    thread::scope(|scope| {
        scope.spawn(verify);
        let appended =
            (3..300).try_for_each(|seq| journal.append(&run("one"), seq, &["more"], 0).map(drop));
        done.store(true, Ordering::Relaxed);
        appended.unwrap();
    });
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let large = BlobId::of(&noise(1, LARGE)).to_string();
    let cases = [
        ("DELETE FROM events WHERE place & 255 = 1 AND place >> 40 = 2", "run two at event 1:"),
        ("DELETE FROM events WHERE place & 255 = 2 AND place >> 40 = 2", "run two at event 2:"),
        (
            "INSERT INTO events SELECT place + 1, hash, bytes FROM events ORDER BY place DESC LIMIT 1",
            "run two at event 3:",
        ),
        ("UPDATE runs SET meta = x'07' WHERE id = 'two'", "the list of runs:"),
        ("UPDATE blobs SET data = x'00' WHERE bytes = 5", "blob "),
        ("UPDATE blobs SET bytes = 4 WHERE bytes = 5", "blob "),
        ("UPDATE blobs SET bytes = 6 WHERE bytes = 5", "blob "),
    ];
    for (sql, wanted) in cases {
        let (scene, journal) = filled();
        assert_eq!(
            Connection::open(scene.database()).unwrap().execute(sql, []).unwrap(),
            1,
            "{sql}"
        );
        let report = journal.verify(Scope::All).unwrap();
        let first = report.first_flaw().unwrap_or_else(|| panic!("{sql}: not noticed"));
        assert!(first.to_string().starts_with(wanted), "{sql}: {first}");
        assert_eq!(report.flaws.len(), 1, "{sql}: {:?}", report.flaws);
        assert!(!report.is_sound(), "{sql}");
    }
    let (scene, journal) = filled();
    fs::remove_file(scene.dir().join("blobs").join(&large[..2]).join(&large[2..])).unwrap();
    let report = journal.verify(Scope::All).unwrap();
    assert!(report.first_flaw().unwrap().to_string().starts_with(&format!("blob {large}:")));
}

#[test]
fn damaged_pages_are_reported_as_such() {
    let (scene, journal) = filled();
    drop(journal);
    // A page that holds rows becomes nonsense.
    let mut bytes = fs::read(scene.database()).unwrap();
    let conn = Connection::open(scene.database()).unwrap();
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = 'events'";
    let page: usize =
        conn.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap().try_into().unwrap();
    drop(conn);
    bytes[(page - 1) * 4096..page * 4096].fill(0x5a);
    fs::write(scene.database(), &bytes).unwrap();
    let journal = windlass_journal::Journal::inspect(&scene.database()).unwrap();
    let report = journal.verify(Scope::All).unwrap();
    assert!(matches!(report.first_flaw(), Some(Flaw::Pages(_))), "{:?}", report.flaws);
    assert_eq!(report.runs.len(), 2);
    assert!(report.runs.iter().all(|run| run.sound_events == 0));
}
