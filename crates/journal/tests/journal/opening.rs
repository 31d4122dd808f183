//! Opening: whose file is it, and can it be trusted at all?

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use windlass_journal::{
    Access, BlobId, Error, Holder, Journal, Lock, Repository, StateDir, Surroundings,
};

use crate::scene::{Scene, events, noise, repository, run};

#[test]
fn a_repository_finds_its_journal_again() {
    let temp = tempfile::tempdir().unwrap();
    let surroundings =
        Surroundings { windlass_state_dir: Some(temp.path().as_os_str()), ..Default::default() };
    let state = StateDir::locate(surroundings).unwrap();
    for _ in 0..2 {
        let dir = state.make_repo_dir(&repository()).unwrap();
        let lock = Lock::take(&dir, Holder::this_process("test", 0)).unwrap();
        let journal = Journal::open(&lock, &repository()).unwrap();
        assert_eq!(journal.access(), Access::Write);
        assert_eq!(journal.dir(), dir);
    }
}

#[test]
fn opening_what_is_up_to_date_changes_no_byte_of_it() {
    let scene = Scene::new();
    scene.open().create_run(&run("r"), b"", 0).unwrap();
    let before = fs::read(scene.database()).unwrap();
    drop(scene.open());
    assert!(fs::read(scene.database()).unwrap() == before);
}

#[test]
fn another_repositorys_journal_is_refused() {
    let scene = Scene::new();
    drop(scene.open());
    let other = Repository::known_at("/home/bob/loom/.git");
    let lock = scene.lock();
    for opened in [Journal::open(&lock, &other), Journal::open_read_only(scene.dir(), &other)] {
        let error = opened.unwrap_err();
        assert!(matches!(error, Error::OtherRepository { .. }), "{error}");
        let text = error.to_string();
        assert!(text.contains("/home/ada/loom") && text.contains("/home/bob/loom"), "{text}");
    }
}

#[test]
fn the_files_are_for_their_owner_alone() {
    let scene = Scene::new();
    let journal = scene.open();
    journal.create_run(&run("r"), b"", 0).unwrap();
    journal.put(&noise(1, 1 << 20)).unwrap();
    fn check(path: &Path) {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
        for entry in path.is_dir().then(|| fs::read_dir(path).unwrap()).into_iter().flatten() {
            check(&entry.unwrap().path());
        }
    }
    assert!(scene.dir().join("journal.db-wal").exists());
    check(scene.dir());
}

#[test]
fn readers_see_what_is_durable_while_another_process_writes() {
    let scene = Scene::new();
    assert!(matches!(scene.read_only(), Err(Error::Missing { .. })));
    let writer = scene.open();
    let id = run("r");
    writer.create_run(&id, b"", 0).unwrap();
    let reader = scene.read_only().unwrap();
    assert_eq!(reader.access(), Access::Read);
    for n in 0..5 {
        writer.append(&id, n, &["x"], 0).unwrap();
        assert_eq!(events(&reader, &id).unwrap().len() as u64, n + 1);
    }
    let refused = reader.append(&id, 5, &["x"], 0).unwrap_err();
    assert!(matches!(refused, Error::ReadOnly { .. }), "{refused}");
    assert!(matches!(reader.put(&noise(1, 1 << 20)), Err(Error::ReadOnly { .. })));
}

#[test]
fn a_file_that_is_no_journal_is_named_and_left_alone() {
    let text = b"These are my notes about the loom, and no database. ".repeat(50);
    let database = {
        let temp = tempfile::tempdir().unwrap();
        let path = temp.path().join("other.db");
        let conn = rusqlite::Connection::open(&path).unwrap();
        conn.execute_batch("CREATE TABLE bookmarks (url); INSERT INTO bookmarks VALUES ('x')")
            .unwrap();
        drop(conn);
        fs::read(path).unwrap()
    };
    for content in [text, database] {
        let scene = Scene::new();
        fs::create_dir_all(scene.dir()).unwrap();
        fs::write(scene.database(), &content).unwrap();
        for error in [scene.try_open().err().unwrap(), scene.read_only().unwrap_err()] {
            assert!(matches!(error, Error::NotAJournal { .. }), "{error}");
            assert!(error.to_string().contains("journal.db"), "{error}");
        }
        assert_eq!(fs::read(scene.database()).unwrap(), content);
    }
}

#[test]
fn what_cannot_be_opened_is_an_error_that_names_it() {
    let scene = Scene::new();
    fs::create_dir_all(scene.database()).unwrap();
    for error in [scene.try_open().err().unwrap(), scene.read_only().unwrap_err()] {
        assert!(error.to_string().contains("journal.db"), "{error}");
    }
}

/// A journal of each format that there ever was, as that Windlass left it.
const FORMAT_1: &[u8] = include_bytes!("../fixtures/format-1.db");

#[test]
fn a_journal_of_every_format_can_be_read() {
    let scene = Scene::new();
    fs::create_dir_all(scene.dir()).unwrap();
    fs::write(scene.database(), FORMAT_1).unwrap();
    let (loom, mill) = (run("loom-1"), run("mill.2"));
    for journal in [scene.read_only().unwrap(), Journal::inspect(&scene.database()).unwrap()] {
        assert_eq!(
            events(&journal, &loom).unwrap(),
            [&b"{\"event\":\"started\"}"[..], b"", b"\x00\xff"]
        );
        assert!(events(&journal, &mill).unwrap().is_empty());
        let info = journal.run(&loom).unwrap();
        assert_eq!(
            (info.created_ms, info.updated_ms, info.meta),
            (-1, 1_700_000_000_000, b"weave".to_vec())
        );
        assert_eq!(
            info.head.hash.to_string(),
            "aa3feec3aae98718b28d8808979be023da1444bc91e5923d4202a70aaa27cf83"
        );
        assert_eq!(journal.get(BlobId::of(b"a blob")).unwrap(), b"a blob");
        assert_eq!(journal.latest_snapshot(&loom, "state-1").unwrap().bytes, b"folded");
    }
    // And it can be gone on with.
    let journal = scene.open();
    journal.append(&loom, 3, &["next"], 0).unwrap();
    assert_eq!(events(&journal, &loom).unwrap().len(), 4);
}

/// How a fixture is made, once for each format:
/// `WRITE_FIXTURE=1 cargo test -p windlass-journal write_the_fixture -- --ignored`
#[test]
#[ignore = "makes a fixture for a new format"]
fn write_the_fixture() {
    if std::env::var_os("WRITE_FIXTURE").is_none() {
        return;
    }
    let scene = Scene::new();
    let journal = scene.open();
    let (loom, mill) = (run("loom-1"), run("mill.2"));
    journal.create_run(&loom, b"weave", -1).unwrap();
    journal.create_run(&mill, b"", 7).unwrap();
    let events: [&[u8]; 3] = [b"{\"event\":\"started\"}", b"", b"\x00\xff"];
    let head = journal.append(&loom, 0, &events, 1_700_000_000_000).unwrap();
    journal.put(b"a blob").unwrap();
    journal.put_snapshot(&loom, 2, head.hash, "state-1", b"folded").unwrap();
    println!("{}", head.hash);
    drop(journal);
    let name = format!("tests/fixtures/format-{}.db", windlass_journal::FORMAT);
    fs::copy(scene.database(), Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap();
}
