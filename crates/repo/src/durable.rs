//! Files that are whole or not there, also after a power loss.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::Path,
};

use crate::{
    error::{Doing, RepoError},
    failpoint,
};

/// Writes a file beside its place, and moves it there when it is on disk. After a power loss it
/// holds what was written last or the time before, and always the whole of it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), RepoError> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let write = || -> io::Result<()> {
        let mut file = File::create(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        failpoint::around("write.rename", || fs::rename(&beside, path))
    };
    write().doing("written", path)
}

/// The same, and not back before it is certain that it will be what was written last.
pub(crate) fn write_for_good(path: &Path, bytes: &[u8]) -> Result<(), RepoError> {
    write(path, bytes)?;
    sync_parent(path).doing("written", path)
}

fn sync_parent(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(dir) => File::open(dir)?.sync_all(),
        None => Ok(()),
    }
}

/// Removes a file, if it is there.
pub(crate) fn remove(path: &Path) -> Result<(), RepoError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).doing("removed", path),
        _ => Ok(()),
    }
}

/// Reads a file, if it is there.
pub(crate) fn read(path: &Path) -> Result<Option<Vec<u8>>, RepoError> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).doing("read", path),
    }
}
