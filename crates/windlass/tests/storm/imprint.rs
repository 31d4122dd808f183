//! What is on a disk, as one number. Where it is the same at two points of a story, being switched off at the one is being
//! switched off at the other: nothing else is found again.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::Path;

use blake3::{Hash, Hasher};

/// Of a directory with everything in it: names, kinds, modes, what files hold and when they were written.
pub fn of(dir: &Path) -> Hash {
    let mut hasher = Hasher::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        let mut entries: Vec<_> = fs::read_dir(&dir).unwrap().flatten().collect();
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, name) = (entry.path(), entry.file_name());
            // SQLite makes it anew from the log beside it.
            if name.as_bytes().ends_with(b"-shm") {
                continue;
            }
            let about = fs::symlink_metadata(&path).unwrap();
            let kind = about.file_type();
            hasher.update(path.as_os_str().as_bytes());
            hasher.update(&about.mode().to_le_bytes());
            if kind.is_dir() {
                dirs.push(path);
            } else if kind.is_symlink() {
                hasher.update(fs::read_link(&path).unwrap().as_os_str().as_bytes());
            } else if !kind.is_socket() {
                for number in [about.size().cast_signed(), about.mtime(), about.mtime_nsec()] {
                    hasher.update(&number.to_le_bytes());
                }
                hasher.update(&fs::read(&path).unwrap());
            }
        }
    }
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// What changes a directory.
    type Change = fn(&Path);

    #[test]
    fn whatever_is_found_again_is_in_it() {
        let dir = tempfile::tempdir().unwrap();
        let here = dir.path();
        fs::create_dir(here.join("a")).unwrap();
        fs::write(here.join("a/file"), "one").unwrap();
        fs::write(here.join("journal-shm"), "one").unwrap();
        let mut last = of(here);
        assert_eq!(of(here), last);
        let changes: [Change; 6] = [
            |here| fs::write(here.join("a/file"), "two").unwrap(),
            |here| fs::rename(here.join("a/file"), here.join("a/other")).unwrap(),
            |here| fs::write(here.join("b"), "").unwrap(),
            |here| std::os::unix::fs::symlink("b", here.join("c")).unwrap(),
            |here| {
                fs::set_permissions(here.join("b"), fs::Permissions::from_mode(0o755)).unwrap();
            },
            |here| fs::create_dir(here.join("d")).unwrap(),
        ];
        for (at, change) in changes.into_iter().enumerate() {
            change(here);
            let now = of(here);
            assert_ne!(now, last, "change {at}");
            last = now;
        }
        fs::write(here.join("journal-shm"), "two").unwrap();
        assert_eq!(of(here), last, "what is made anew is not");
    }
}
