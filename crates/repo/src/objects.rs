//! Objects of our own stores, read and made without a program.
//!
//! Most of what a store is asked is small: which tree a commit has, which commits came before it, in what two trees differ.
//! Starting git takes a hundred times as long as the answer. An object that is a file of its own is read here, and commits are
//! written here, as git would have written them. What lies in a pack is asked of git, many objects at a time. Whatever is
//! found is remembered for a while: an object never changes.
//!
//! Nothing here looks into a repository that somebody else can write to.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use miniz_oxide::{deflate::compress_to_vec_zlib, inflate::decompress_to_vec_zlib_with_limit};
use ring::digest;

use crate::oid::Oid;

/// Larger objects are git's business.
const BYTES_MAX: usize = 8 << 20;

/// So much is remembered at most, in bytes.
const KNOWN_MAX: usize = 16 << 20;

/// As quick as it gets: what is written here is a few hundred bytes long. It is what git is told, too (`core.compression`).
const LEVEL: u8 = 1;

/// How the name of a file begins that is not whole yet.
const BESIDE: &str = "tmp_obj_";

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Commit,
    Tree,
    Blob,
    Tag,
}

impl Kind {
    const ALL: [(Kind, &'static str); 4] =
        [(Kind::Commit, "commit"), (Kind::Tree, "tree"), (Kind::Blob, "blob"), (Kind::Tag, "tag")];

    pub fn named(name: &str) -> Option<Kind> {
        Kind::ALL.iter().find(|(_, own)| *own == name).map(|(kind, _)| *kind)
    }

    fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Object {
    pub kind: Kind,
    pub bytes: Arc<[u8]>,
}

/// The objects of a store: its own, and those that it borrows.
#[derive(Debug)]
pub(crate) struct Objects {
    own: PathBuf,
    borrowed: PathBuf,
    format: &'static digest::Algorithm,
    known: Mutex<Known>,
    /// How many files were begun.
    begun: AtomicU32,
}

#[derive(Debug, Default)]
struct Known {
    objects: HashMap<Oid, Object>,
    bytes: usize,
}

impl Objects {
    pub fn new(own: PathBuf, borrowed: PathBuf, format: &str) -> Objects {
        let format = match format {
            "sha256" => &digest::SHA256,
            _ => &digest::SHA1_FOR_LEGACY_USE_ONLY,
        };
        Objects { own, borrowed, format, known: Mutex::default(), begun: AtomicU32::new(0) }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An object that is known, or a file of its own. Nothing if git has to be asked.
    pub fn read(&self, oid: &Oid) -> Option<Object> {
        if let Some(object) = self.known().objects.get(oid) {
            return Some(object.clone());
        }
        let object = self.loose(&self.own, oid).or_else(|| self.loose(&self.borrowed, oid))?;
        self.remember(oid, &object);
        Some(object)
    }

    pub fn remember(&self, oid: &Oid, object: &Object) {
        // A blob is read once; trees and commits again and again.
        if matches!(object.kind, Kind::Blob) || object.bytes.len() > KNOWN_MAX / 16 {
            return;
        }
        let mut known = self.known();
        if known.bytes + object.bytes.len() > KNOWN_MAX {
            *known = Known::default();
        }
        known.bytes += object.bytes.len();
        known.objects.insert(oid.clone(), object.clone());
    }

    /// Where an object of our own is, if it is a file.
    pub fn own_file(&self, oid: &Oid) -> Option<PathBuf> {
        Some(file_in(&self.own, oid)).filter(|path| path.exists())
    }

    /// Whether every object of our own is a file.
    pub fn has_no_pack(&self) -> bool {
        let is_pack = |entry: fs::DirEntry| entry.path().extension().is_some_and(|e| e == "pack");
        let entries = fs::read_dir(self.own.join("pack"));
        entries.is_ok_and(|mut entries| !entries.any(|entry| entry.is_ok_and(is_pack)))
    }

    /// Takes away what whoever was cut off has not finished.
    pub fn tidy(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.own)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(BESIDE) {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    }

    fn loose(&self, dir: &Path, oid: &Oid) -> Option<Object> {
        let file = fs::read(file_in(dir, oid)).ok()?;
        let whole = decompress_to_vec_zlib_with_limit(&file, BYTES_MAX).ok()?;
        // What is damaged git is to say something about.
        if self.name_of(&whole) != *oid {
            return None;
        }
        let end = whole.iter().position(|byte| *byte == 0)?;
        let head = std::str::from_utf8(&whole[..end]).ok()?;
        let (kind, _) = head.split_once(' ')?;
        Some(Object { kind: Kind::named(kind)?, bytes: whole[end + 1..].into() })
    }

    fn name_of(&self, whole: &[u8]) -> Oid {
        let digest = digest::digest(self.format, whole);
        let hex: String = digest.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        Oid::of_digest(hex)
    }

    /// Writes an object of our own, unless it is there, and waits until its bytes are handed to the disk: the ref that makes it
    /// count comes later and waits for more.
    pub fn write(&self, kind: Kind, bytes: &[u8]) -> io::Result<Oid> {
        let mut whole = format!("{} {}\0", kind.name(), bytes.len()).into_bytes();
        whole.extend_from_slice(bytes);
        let oid = self.name_of(&whole);
        let path = file_in(&self.own, &oid);
        if !path.exists() && !file_in(&self.borrowed, &oid).exists() {
            // Git takes no notice of a file of this name.
            let begun = self.begun.fetch_add(1, Ordering::Relaxed);
            let beside = self.own.join(format!("{BESIDE}{}_{begun}", std::process::id()));
            place(&beside, &path, |file| file.write_all(&compress_to_vec_zlib(&whole, LEVEL)))?;
        }
        self.remember(&oid, &Object { kind, bytes: bytes.into() });
        Ok(oid)
    }
}

/// Where an object is that is a file of its own.
pub(crate) fn file_in(objects: &Path, oid: &Oid) -> PathBuf {
    let (dir, name) = oid.as_str().split_at(2);
    objects.join(dir).join(name)
}

/// Makes the file of an object, whole or not at all.
fn place(
    beside: &Path,
    path: &Path,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(beside)?;
    let written = write(&mut file)
        .and_then(|()| file.set_permissions(fs::Permissions::from_mode(0o444)))
        .and_then(|()| file.sync_data())
        .and_then(|()| match fs::rename(beside, path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                path.parent().map_or(Ok(()), fs::create_dir_all)?;
                fs::rename(beside, path)
            }
            other => other,
        });
    if written.is_err() {
        let _ = fs::remove_file(beside);
    }
    written
}

/// What a commit says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub tree: Oid,
    pub parents: Vec<Oid>,
}

impl Object {
    /// Of a commit: its tree and what came before it.
    pub fn commit(&self) -> Option<Parsed> {
        if self.kind != Kind::Commit {
            return None;
        }
        let mut lines = self.bytes.split(|byte| *byte == b'\n');
        let named = |line: &[u8], what: &[u8]| Oid::printed(line.strip_prefix(what)?).ok();
        let tree = named(lines.next()?, b"tree ")?;
        let parents = lines.map_while(|line| named(line, b"parent ")).collect();
        Some(Parsed { tree, parents })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn objects(dir: &Path, format: &str) -> Objects {
        fs::create_dir_all(dir.join("own/pack")).unwrap();
        Objects::new(dir.join("own"), dir.join("borrowed"), format)
    }

    #[test]
    fn what_is_written_is_read_again_under_the_name_that_git_has_for_it() {
        let dir = tempfile::tempdir().unwrap();
        for (format, name) in [
            ("sha1", "ce013625030ba8dba906f756967f9e9ca394464a"),
            ("sha256", "2cf8d83d9ee29543b34a87727421fdecb7e3f3a183d337639025de576db9ebb4"),
        ] {
            let objects = objects(&dir.path().join(format), format);
            let oid = objects.write(Kind::Blob, b"hello\n").unwrap();
            assert_eq!(oid.as_str(), name);
            let object = objects.read(&oid).unwrap();
            assert_eq!((object.kind, &object.bytes[..]), (Kind::Blob, &b"hello\n"[..]));
        }
    }

    #[test]
    fn what_is_damaged_or_not_there_is_gits_to_tell() {
        let dir = tempfile::tempdir().unwrap();
        let ours = objects(dir.path(), "sha1");
        let oid = ours.write(Kind::Blob, b"hello\n").unwrap();
        let path = ours.own_file(&oid).unwrap();
        fs::remove_file(&path).unwrap();
        assert_eq!(ours.read(&oid), None);
        fs::write(&path, compress_to_vec_zlib(b"blob 6\0jello\n", LEVEL)).unwrap();
        assert_eq!(ours.read(&oid), None, "another one under its name");
        fs::write(&path, b"nonsense").unwrap();
        assert_eq!(ours.read(&oid), None);
    }

    #[test]
    fn what_is_borrowed_is_not_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let theirs = Objects::new(dir.path().join("borrowed"), dir.path().join("none"), "sha1");
        fs::create_dir_all(dir.path().join("borrowed")).unwrap();
        let oid = theirs.write(Kind::Blob, b"hello\n").unwrap();
        let ours = objects(dir.path(), "sha1");
        assert_eq!(ours.write(Kind::Blob, b"hello\n").unwrap(), oid);
        assert_eq!(ours.own_file(&oid), None);
        assert!(ours.read(&oid).is_some());
    }

    #[test]
    fn what_was_not_finished_is_taken_away() {
        let dir = tempfile::tempdir().unwrap();
        let ours = objects(dir.path(), "sha1");
        let oid = ours.write(Kind::Blob, b"hello\n").unwrap();
        fs::write(dir.path().join("own/tmp_obj_1_2"), "half").unwrap();
        ours.tidy().unwrap();
        assert!(!dir.path().join("own/tmp_obj_1_2").exists());
        assert!(ours.own_file(&oid).is_some());
        // What cannot be written leaves nothing behind either.
        fs::write(dir.path().join("own/4b"), "in the way").unwrap();
        let found =
            (0..2_000).find_map(|nth: u32| ours.write(Kind::Blob, &nth.to_be_bytes()).err());
        assert!(found.is_some());
        assert!(
            !fs::read_dir(dir.path().join("own"))
                .unwrap()
                .flatten()
                .any(|entry| { entry.file_name().to_string_lossy().starts_with(BESIDE) })
        );
    }

    #[test]
    fn no_more_is_remembered_than_there_is_room_for() {
        let dir = tempfile::tempdir().unwrap();
        let ours = objects(dir.path(), "sha1");
        let large = Object { kind: Kind::Tree, bytes: vec![0; KNOWN_MAX / 16].into() };
        for nth in 0..40 {
            ours.remember(&Oid::parse(&format!("{nth:040}")).unwrap(), &large);
        }
        let known = ours.known();
        assert!(known.bytes <= KNOWN_MAX, "{}", known.bytes);
        assert!(!known.objects.is_empty());
    }
}
