//! Which file a program's name stands for, in the environment that the program will have.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, AtFlags, CWD, accessat};

use crate::{Env, error::SpawnError};

/// The file that `program` would start with this environment, if there is one.
///
/// A name is looked up in the environment's `PATH`; a full path stands for itself. Relative
/// entries of `PATH`, and empty ones, are passed over: they would start whatever an agent put into
/// its lane.
pub fn which(program: impl AsRef<OsStr>, env: &Env) -> Option<PathBuf> {
    let program = program.as_ref();
    if has_slash(program) {
        let path = PathBuf::from(program);
        return (path.is_absolute() && is_program(&path)).then_some(path);
    }
    let path = env.get("PATH")?;
    let entries = std::env::split_paths(path).filter(|entry| entry.is_absolute());
    entries.map(|entry| entry.join(program)).find(|path| is_program(path))
}

/// The same, with what is wrong if there is none. A relative path is taken from `directory`.
pub(crate) fn resolve(program: &OsStr, env: &Env, directory: &Path) -> Result<PathBuf, SpawnError> {
    if has_slash(program) {
        let path = std::path::absolute(directory.join(program));
        return path.map_err(|error| SpawnError::system("find", program, error));
    }
    which(program, env).ok_or_else(|| SpawnError::NotFound {
        program: program.to_os_string(),
        searched: env.get("PATH").map(OsString::from).unwrap_or_default(),
    })
}

/// What it means that the kernel would not start this file.
pub(crate) fn refused(path: PathBuf, error: io::Error) -> SpawnError {
    let gone = error.kind() == io::ErrorKind::NotFound && path.symlink_metadata().is_err();
    let not_there = gone || error.kind() == io::ErrorKind::NotADirectory;
    if not_there {
        SpawnError::NoSuchProgram { path, source: error }
    } else {
        // Also when a file is there and "not found" is its interpreter.
        SpawnError::NotExecutable { path, source: error }
    }
}

fn has_slash(program: &OsStr) -> bool {
    program.as_bytes().contains(&b'/')
}

fn is_program(path: &Path) -> bool {
    path.is_file() && accessat(CWD, path, Access::EXEC_OK, AtFlags::EACCESS).is_ok()
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    fn program(path: &Path, mode: u32) {
        fs::write(path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn the_path_of_the_new_environment_counts() {
        let dir = tempfile::tempdir().unwrap();
        program(&dir.path().join("haul"), 0o755);
        program(&dir.path().join("notes"), 0o644);
        fs::create_dir(dir.path().join("folder")).unwrap();
        let env = Env::empty().set("PATH", dir.path());
        assert_eq!(which("haul", &env), Some(dir.path().join("haul")));
        assert_eq!(which("notes", &env), None);
        assert_eq!(which("folder", &env), None);
        assert_eq!(which("sh", &env), None);
        assert_eq!(which("sh", &Env::empty()), None);
        assert_eq!(which("/bin/sh", &Env::empty()), Some("/bin/sh".into()));
        assert_eq!(which("", &env), None);
    }

    #[test]
    fn relative_entries_of_the_path_are_passed_over() {
        // Tests of a crate run in its directory.
        let dir = tempfile::tempdir_in(".").unwrap();
        program(&dir.path().join("haul"), 0o755);
        let name = dir.path().file_name().unwrap();
        assert!(Path::new(name).join("haul").is_file());
        assert_eq!(which("haul", &Env::empty().set("PATH", name)), None);
        let mut leading_empty = OsString::from(":");
        leading_empty.push(name);
        assert_eq!(which("haul", &Env::empty().set("PATH", leading_empty)), None);
    }
}
