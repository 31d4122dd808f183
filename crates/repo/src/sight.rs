//! Whether a work tree was touched since it was recorded, told without git.
//!
//! A file whose content, name, mode or place changes gets a new change time from the kernel, and nobody without
//! privileges can set that one. So a walk that finds every file with the same number, size, mode and times as before
//! has found the same files, as long as nothing was touched while git looked. Like git we do not trust a time that is so
//! fresh that a second change could have the same one: then git is asked again.

use std::{
    fs, io,
    os::unix::{ffi::OsStrExt, fs::MetadataExt},
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Change times have the granularity of the kernel's tick at worst; this is several of them.
const FRESH: Duration = Duration::from_millis(50);

/// Beyond this many files a walk costs more than git, which passes over what it is told to ignore.
const FILES_MAX: usize = 20_000;

/// What a walk over a work tree saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sight {
    digest: blake3::Hash,
    /// The newest change time of all.
    newest: Duration,
}

impl Sight {
    /// Walks over a directory. None when it cannot be read or has too many files: then only git can tell.
    pub fn of(dir: &Path) -> Option<Sight> {
        let mut walk = Walk { hasher: blake3::Hasher::new(), newest: Duration::ZERO, files: 0 };
        walk.entry(&fs::symlink_metadata(dir).ok()?);
        walk.below(dir).ok()?;
        Some(Sight { digest: walk.hasher.finalize(), newest: walk.newest })
    }

    /// Whether everything was as it is since well before this instant.
    pub fn is_older_than(&self, instant: SystemTime) -> bool {
        instant.duration_since(UNIX_EPOCH).is_ok_and(|instant| self.newest + FRESH < instant)
    }

    /// Whether nothing was touched since that other sight.
    pub fn same_as(&self, earlier: &Sight) -> bool {
        self.digest == earlier.digest
    }
}

struct Walk {
    hasher: blake3::Hasher,
    newest: Duration,
    files: usize,
}

impl Walk {
    fn below(&mut self, dir: &Path) -> io::Result<()> {
        let mut entries = fs::read_dir(dir)?.collect::<io::Result<Vec<_>>>()?;
        self.files += entries.len();
        if self.files > FILES_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        entries.sort_unstable_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let meta = entry.metadata()?;
            let name = entry.file_name();
            self.hasher.update(&(name.len() as u64).to_le_bytes());
            self.hasher.update(name.as_bytes());
            self.entry(&meta);
            if meta.is_dir() {
                self.below(&entry.path())?;
            }
        }
        // The end of a directory: what comes next belongs to the one above.
        self.hasher.update(&u64::MAX.to_le_bytes());
        Ok(())
    }

    fn entry(&mut self, meta: &fs::Metadata) {
        let numbers = [
            meta.dev(),
            meta.ino(),
            u64::from(meta.mode()),
            meta.size(),
            meta.mtime() as u64,
            meta.mtime_nsec() as u64,
            meta.ctime() as u64,
            meta.ctime_nsec() as u64,
        ];
        for number in numbers {
            self.hasher.update(&number.to_le_bytes());
        }
        let seconds = u64::try_from(meta.ctime()).unwrap_or(0);
        let nanos = u32::try_from(meta.ctime_nsec()).unwrap_or(0);
        self.newest = self.newest.max(Duration::new(seconds, nanos));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    /// A directory whose files were all changed some time ago.
    fn settled() -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("a directory");
        fs::create_dir(dir.path().join("sub")).expect("a directory");
        fs::write(dir.path().join("sub/a"), "one").expect("a file");
        fs::write(dir.path().join("b"), "two").expect("a file");
        symlink("b", dir.path().join("link")).expect("a link");
        while !Sight::of(dir.path()).expect("a sight").is_older_than(SystemTime::now()) {
            std::thread::yield_now();
        }
        dir
    }

    #[test]
    fn what_is_not_touched_is_the_same() {
        let dir = settled();
        let before = Sight::of(dir.path()).expect("a sight");
        fs::read(dir.path().join("b")).expect("a file");
        assert!(Sight::of(dir.path()).expect("a sight").same_as(&before));
    }

    #[test]
    fn every_kind_of_change_is_seen() {
        type Change = fn(&Path) -> io::Result<()>;
        let same_size: Change = |dir| {
            // The same size, and even the time of the change put back.
            let path = dir.join("sub/a");
            let old = fs::metadata(&path)?.modified()?;
            fs::write(&path, "eno")?;
            fs::File::options().write(true).open(&path)?.set_modified(old)
        };
        let changes: [Change; 8] = [
            same_size,
            |dir| fs::write(dir.join("sub/a"), "more"),
            |dir| fs::write(dir.join("sub/new"), ""),
            |dir| fs::remove_file(dir.join("b")),
            |dir| fs::rename(dir.join("b"), dir.join("c")),
            |dir| fs::set_permissions(dir.join("b"), fs::Permissions::from_mode(0o755)),
            |dir| fs::create_dir(dir.join("empty")),
            |dir| {
                fs::remove_file(dir.join("link"))?;
                symlink("c", dir.join("link"))
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let dir = settled();
            let before = Sight::of(dir.path()).expect("a sight");
            change(dir.path()).expect("a change");
            assert!(!Sight::of(dir.path()).expect("a sight").same_as(&before), "change {number}");
        }
    }

    #[test]
    fn what_may_have_been_touched_meanwhile_is_not_older() {
        let dir = settled();
        let looked = SystemTime::now();
        let sight = Sight::of(dir.path()).expect("a sight");
        assert!(sight.is_older_than(looked));
        assert!(!sight.is_older_than(looked - Duration::from_secs(3600)), "touched since then");
        fs::write(dir.path().join("b"), "three").expect("a file");
        assert!(!Sight::of(dir.path()).expect("a sight").is_older_than(SystemTime::now()));
    }

    #[test]
    fn too_many_files_are_left_to_git() {
        let mut walk =
            Walk { hasher: blake3::Hasher::new(), newest: Duration::ZERO, files: FILES_MAX };
        let dir = settled();
        assert!(walk.below(dir.path()).is_err());
    }
}
