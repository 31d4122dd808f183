//! Blobs: any content comes back whole, or not at all.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use proptest::prelude::*;
use windlass_journal::{BLOB_INLINE_BYTES_MAX, Batch, BlobFlaw, BlobId, Error};

use crate::scene::{Scene, noise};

const LARGE: usize = BLOB_INLINE_BYTES_MAX + 1;

/// Files of blobs, temporary ones too.
fn files(scene: &Scene) -> Vec<PathBuf> {
    fn below(dir: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten() {
            let path = entry.expect("readable").path();
            if path.is_dir() { below(&path, found) } else { found.push(path) }
        }
    }
    let mut found = Vec::new();
    below(&scene.dir().join("blobs"), &mut found);
    found
}

#[test]
fn content_comes_back_whatever_its_size() {
    let scene = Scene::new();
    let journal = scene.open();
    for len in [0, 1, LARGE - 1, LARGE, 5 * LARGE + 3] {
        for content in [vec![7; len], noise(len as u64, len)] {
            let id = journal.put(&content).unwrap();
            assert_eq!(id, BlobId::of(&content));
            assert_eq!(journal.get(id).unwrap(), content);
            assert_eq!(id.to_string().parse(), Ok(id));
        }
    }
    assert_eq!(files(&scene).len(), 4, "the large ones are files");
    assert!(files(&scene).iter().all(|path| !path.starts_with(scene.dir().join("blobs/tmp"))));
}

#[test]
fn the_same_content_is_stored_once() {
    let scene = Scene::new();
    let journal = scene.open();
    let content = noise(3, 2 * LARGE);
    let id = journal.put(&content).unwrap();
    assert_eq!(journal.put(&content).unwrap(), id);
    assert_eq!(journal.put(b"small").unwrap(), journal.put(b"small").unwrap());
    assert_eq!(files(&scene).len(), 1);
    let conn = rusqlite::Connection::open(scene.database()).unwrap();
    let rows: i64 = conn.query_row("SELECT count(*) FROM blobs", [], |row| row.get(0)).unwrap();
    assert_eq!(rows, 2);
}

#[test]
fn a_file_is_taken_in_and_given_out_piece_by_piece() {
    let scene = Scene::new();
    let journal = scene.open();
    let content = noise(9, 40 * LARGE);
    let path = scene.dir().join("transcript");
    fs::write(&path, &content).unwrap();
    let staged = journal.stage_file(&path).unwrap();
    let id = staged.id();
    journal.commit(Batch::new(1).blob(staged)).unwrap();
    let mut reader = journal.open_blob(id).unwrap();
    let (mut read, mut piece) = (Vec::new(), [0; 1000]);
    assert_eq!(reader.read(&mut []).unwrap(), 0, "no room is not the end");
    loop {
        match reader.read(&mut piece).unwrap() {
            0 => break,
            n => read.extend_from_slice(&piece[..n]),
        }
    }
    assert_eq!(read, content);
    let error = journal.stage_file(&scene.dir().join("nothing")).unwrap_err();
    assert!(error.to_string().contains("nothing"), "{error}");
}

#[test]
fn what_packs_well_takes_little_room() {
    let scene = Scene::new();
    let journal = scene.open();
    journal.put(&vec![b'x'; 64 * LARGE]).unwrap();
    let file = &files(&scene)[0];
    assert!(fs::metadata(file).unwrap().len() < 64 * LARGE as u64 / 50);
}

#[test]
fn a_reader_that_fails_leaves_nothing_behind() {
    /// Gives so many bytes, then fails.
    struct Failing(usize);
    impl Read for Failing {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let len = buffer.len().min(self.0);
            if len == 0 {
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            self.0 -= len;
            buffer[..len].fill(1);
            Ok(len)
        }
    }
    let scene = Scene::new();
    let journal = scene.open();
    for len in [10, 10 * LARGE] {
        let error = journal.stage_reader(Failing(len)).unwrap_err();
        assert!(matches!(error, Error::Io { doing: "read", .. }), "{error}");
    }
    assert!(scene.dir().join("blobs/tmp").exists(), "the large one had begun");
    assert!(files(&scene).is_empty());
}

#[test]
fn a_reader_that_is_interrupted_is_asked_again() {
    /// Is interrupted before each piece.
    struct Interrupted<'a>(&'a [u8], bool);
    impl Read for Interrupted<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 { Err(io::ErrorKind::Interrupted.into()) } else { self.0.read(buffer) }
        }
    }
    let journal = Scene::new().open();
    let content = noise(6, 3 * LARGE);
    let staged = journal.stage_reader(Interrupted(&content, false)).unwrap();
    assert_eq!(staged.id(), BlobId::of(&content));
}

#[test]
fn a_place_where_no_blob_can_be_written_is_named() {
    let scene = Scene::new();
    let journal = scene.open();
    let temp = scene.dir().join("blobs/tmp");
    journal.put(&noise(1, LARGE)).unwrap();
    fs::remove_dir(&temp).unwrap();
    // Nobody makes a file there, not even root.
    symlink("/proc/self/fd", &temp).unwrap();
    let error = journal.stage(&noise(2, LARGE)).unwrap_err();
    assert!(matches!(error, Error::Io { doing: "create", .. }), "{error}");
    drop(journal);

    fs::remove_file(&temp).unwrap();
    fs::write(&temp, "no directory").unwrap();
    let error = scene.try_open().err().unwrap();
    assert!(error.to_string().contains("blobs/tmp"), "{error}");
}

#[test]
fn what_a_dead_process_left_half_written_is_swept() {
    let scene = Scene::new();
    let journal = scene.open();
    let id = journal.put(&noise(1, LARGE)).unwrap();
    drop(journal);
    let temp = scene.dir().join("blobs/tmp");
    fs::write(temp.join("1-0"), "half").unwrap();
    let ours = temp.join(format!("{}-7", std::process::id()));
    fs::write(&ours, "a thread of this process is writing this").unwrap();
    let journal = scene.open();
    assert!(!temp.join("1-0").exists());
    assert!(ours.exists());
    assert!(journal.get(id).is_ok());
}

#[test]
fn every_byte_of_a_file_matters() {
    let scene = Scene::new();
    let journal = scene.open();
    let content = noise(5, LARGE);
    let id = journal.put(&content).unwrap();
    let file = &files(&scene)[0];
    let good = fs::read(file).unwrap();
    let mut damaged = 0;
    let mut try_with = |bad: &[u8], what: &str| {
        fs::write(file, bad).unwrap();
        match journal.get(id) {
            Ok(read) => assert_eq!(read, content, "{what}"),
            Err(Error::BlobDamaged { .. }) => damaged += 1,
            Err(error) => panic!("{what}: {error}"),
        }
    };
    let ends = (0..20).chain(good.len() - 20..good.len());
    for at in (0..good.len()).step_by(211).chain(ends) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        try_with(&bad, &format!("byte {at}"));
    }
    for len in [0, 1, 100, good.len() / 2, good.len() - 1] {
        try_with(&good[..len], &format!("cut to {len}"));
    }
    try_with(&[good.as_slice(), b"more"].concat(), "with more after it");
    assert!(damaged > 300, "{damaged}");
    fs::remove_file(file).unwrap();
    let gone = journal.get(id).unwrap_err();
    assert!(
        matches!(&gone, Error::BlobDamaged { flaw: BlobFlaw::Missing(path), .. } if path == file),
        "{gone}"
    );
    // The same content again makes it whole.
    journal.put(&content).unwrap();
    assert_eq!(journal.get(id).unwrap(), content);
}

#[test]
fn content_of_another_blob_is_not_taken_for_it() {
    let scene = Scene::new();
    let journal = scene.open();
    let (one, two) = (journal.put(b"one").unwrap(), journal.put(b"two").unwrap());
    let conn = rusqlite::Connection::open(scene.database()).unwrap();
    let sql = "UPDATE blobs SET data = (SELECT data FROM blobs WHERE id = ?2) WHERE id = ?1";
    conn.execute(sql, [one.hash().as_bytes(), two.hash().as_bytes()]).unwrap();
    let error = journal.get(one).unwrap_err();
    assert!(matches!(error, Error::BlobDamaged { flaw: BlobFlaw::Mismatch, .. }), "{error}");
    let mut reader = journal.open_blob(one).unwrap();
    let error = io::copy(&mut reader, &mut io::sink()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::InvalidData);
}

#[test]
fn an_unknown_name_is_an_error() {
    let journal = Scene::new().open();
    let id = BlobId::of(b"nobody wrote this");
    assert!(matches!(journal.get(id), Err(Error::NoSuchBlob { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_content_comes_back_as_it_was(
        content in prop::collection::vec(any::<u8>(), 0..3_000),
        times in 1..60usize,
    ) {
        let scene = Scene::new();
        let content = content.repeat(times);
        let id = scene.open().put(&content).unwrap();
        prop_assert_eq!(scene.read_only().unwrap().get(id).unwrap(), content);
    }
}
