//! Pipes, sockets and devices in a work tree: git takes none of them, and waits for ever where it opens one.
//!
//! A pipe that is called `.gitignore` is enough for that. They hold nothing that could be lost, and whoever used one has
//! ended by the time that a work tree is recorded. So they are taken away, and it is said.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// What is neither a file, nor a directory, nor a link below a directory, from there. What an agent has in its own `.git`
/// is not looked at by anybody.
pub(crate) fn plugs(dir: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(below) = open.pop() {
        for entry in fs::read_dir(dir.join(&below)).into_iter().flatten().flatten() {
            let path = below.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && path != Path::new(".git") => open.push(path),
                Ok(kind) if kind.is_dir() || kind.is_file() || kind.is_symlink() => {}
                Ok(_) => found.push(path),
                Err(_) => {}
            }
        }
    }
    found.sort();
    found
}

/// Takes them away, and says which. What cannot be is found out by whoever needs it.
pub(crate) fn unplug(dir: &Path) -> Vec<PathBuf> {
    let mut found = plugs(dir);
    found.retain(|path| fs::remove_file(dir.join(path)).is_ok());
    found
}
