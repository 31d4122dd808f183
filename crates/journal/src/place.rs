//! Where things lie: one state directory for each person, one directory in it for each repository.
//!
//! The environment is handed in, not read, so that a test or another program decides. A directory
//! is made for its owner alone: what agents said is nobody else's business.

use std::{
    ffi::OsStr,
    fs::{self, DirBuilder, File},
    io,
    os::unix::{
        ffi::OsStrExt,
        fs::{DirBuilderExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use crate::{chain::Hash, error::Error};

/// What of the environment decides where the state directory is.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    /// `WINDLASS_STATE_DIR`
    pub windlass_state_dir: Option<&'a OsStr>,
    /// `XDG_STATE_HOME`
    pub xdg_state_home: Option<&'a OsStr>,
    /// `HOME`
    pub home: Option<&'a OsStr>,
}

/// Where the directories of repositories are, in a state directory.
const REPOSITORIES: &str = "repositories";

/// Why there is no place.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// A relative path would mean another place in every directory.
    #[error(
        "WINDLASS_STATE_DIR is {0:?}, which is not an absolute path: give it one that starts with /"
    )]
    Relative(PathBuf),
    /// Nothing says where.
    #[error(
        "there is no place for Windlass's state: set WINDLASS_STATE_DIR to an absolute path, or HOME"
    )]
    Nowhere,
    /// The repository cannot be found.
    #[error("cannot find the repository's git directory {path:?}: {source}")]
    NoRepository {
        /// Where it should be.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// The directory that holds everything Windlass remembers for one person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StateDir(PathBuf);

impl StateDir {
    /// `WINDLASS_STATE_DIR`, else `$XDG_STATE_HOME/windlass`, else `$HOME/.local/state/windlass`.
    /// Nothing is created.
    ///
    /// # Errors
    ///
    /// When the first is not absolute, or none of the three says anything.
    pub fn locate(from: Surroundings<'_>) -> Result<StateDir, PlaceError> {
        let set =
            |value: Option<&OsStr>| value.filter(|value| !value.is_empty()).map(PathBuf::from);
        // A relative XDG path is to be ignored, says that specification.
        let absolute = |value| set(value).filter(|path| path.is_absolute());
        if let Some(path) = set(from.windlass_state_dir) {
            return if path.is_absolute() {
                Ok(StateDir(path))
            } else {
                Err(PlaceError::Relative(path))
            };
        }
        if let Some(path) = absolute(from.xdg_state_home) {
            return Ok(StateDir(path.join("windlass")));
        }
        let home = absolute(from.home).ok_or(PlaceError::Nowhere)?;
        Ok(StateDir(home.join(".local/state/windlass")))
    }

    /// The state directory at this path.
    pub fn at(path: impl Into<PathBuf>) -> StateDir {
        StateDir(path.into())
    }

    /// The state directory that a repository's directory is in.
    pub fn above(repo_dir: &Path) -> Option<StateDir> {
        let repositories = repo_dir.parent().filter(|dir| dir.ends_with(REPOSITORIES))?;
        repositories.parent().map(StateDir::at)
    }

    /// The directories of all repositories that something is remembered of.
    pub fn repo_dirs(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join(REPOSITORIES)).into_iter().flatten().flatten();
        let mut dirs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        dirs.sort();
        dirs
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Where a repository's directory is, whether it is there or not.
    pub fn repo_dir(&self, repository: &Repository) -> PathBuf {
        self.0.join(REPOSITORIES).join(repository.key())
    }

    /// A repository's directory, made if it is not there.
    ///
    /// # Errors
    ///
    /// When it cannot be made or written; the error names it.
    pub fn make_repo_dir(&self, repository: &Repository) -> Result<PathBuf, Error> {
        let dir = self.repo_dir(repository);
        make_private(&dir)?;
        Ok(dir)
    }
}

/// A directory for its owner alone, with every directory above it that is missing. Durable when it
/// returns.
pub(crate) fn make_private(dir: &Path) -> Result<(), Error> {
    if dir.is_dir() {
        // It holds what agents said: one that was opened up meanwhile is closed again.
        let mode = fs::metadata(dir).map_err(Error::io(dir, "look at"))?.permissions().mode();
        if mode & 0o077 != 0 {
            fs::set_permissions(dir, PermissionsExt::from_mode(0o700))
                .map_err(Error::io(dir, "close to others"))?;
        }
        return Ok(());
    }
    let parent = dir.parent().unwrap_or(Path::new("/"));
    if !parent.is_dir() {
        make_private(parent)?;
    }
    match DirBuilder::new().mode(0o700).create(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(Error::io(dir, "create")(error));
        }
        _ => {}
    }
    sync_dir(parent)
}

/// Makes names that were added to or taken from a directory durable.
pub(crate) fn sync_dir(dir: &Path) -> Result<(), Error> {
    File::open(dir).and_then(|dir| dir.sync_all()).map_err(Error::io(dir, "sync"))
}

/// A git repository, known by the canonical path of its common directory: all its worktrees are
/// one repository. A directory that is in none is known by its own canonical path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    common_dir: PathBuf,
}

/// Enough of a readable name for a person; the digest does the telling apart.
const NAME_CHARS_MAX: usize = 40;

impl Repository {
    /// The repository with this common directory (`git rev-parse --git-common-dir`).
    ///
    /// # Errors
    ///
    /// When there is no such directory.
    pub fn find(common_dir: &Path) -> Result<Repository, PlaceError> {
        let common_dir = fs::canonicalize(common_dir)
            .map_err(|source| PlaceError::NoRepository { path: common_dir.to_owned(), source })?;
        Ok(Repository { common_dir })
    }

    /// The repository whose common directory has this path, which is canonical already.
    pub fn known_at(common_dir: impl Into<PathBuf>) -> Repository {
        Repository { common_dir: common_dir.into() }
    }

    /// The canonical path of its common directory.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// What its directory is called: a readable name, and a digest of the path.
    pub fn key(&self) -> String {
        let digest = Hash::of(self.common_dir.as_os_str().as_bytes()).to_string();
        format!("{}-{}", self.readable(), &digest[..16])
    }

    /// `/home/ada/loom/.git` is loom, and so is `/srv/loom.git`.
    fn readable(&self) -> String {
        let own = self.common_dir.file_name().unwrap_or_default();
        let named = match self.common_dir.parent().and_then(Path::file_name) {
            Some(above) if own == ".git" => above,
            _ => own,
        };
        let name = named.to_string_lossy();
        let name = name.strip_suffix(".git").unwrap_or(&name);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
        let name: String = name.chars().take(NAME_CHARS_MAX).map(plain).collect();
        let name = name.trim_start_matches('.');
        if name.is_empty() { "repository".to_owned() } else { name.to_owned() }
    }
}

/// How many bytes may still be written where this directory is. `None` when nobody can tell.
pub fn room(dir: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// Whether nothing may be written where this directory is.
pub fn is_read_only(dir: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(dir).is_ok_and(|disk| disk.f_flag.contains(StatVfsMountFlags::RDONLY))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(own: Option<&str>, xdg: Option<&str>, home: Option<&str>) -> Result<String, String> {
        let from = Surroundings {
            windlass_state_dir: own.map(OsStr::new),
            xdg_state_home: xdg.map(OsStr::new),
            home: home.map(OsStr::new),
        };
        StateDir::locate(from)
            .map(|dir| dir.path().display().to_string())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn the_first_of_three_says_where() {
        let home = Some("/home/ada");
        assert_eq!(located(Some("/s"), Some("/x"), home), Ok("/s".to_owned()));
        assert_eq!(located(None, Some("/x"), home), Ok("/x/windlass".to_owned()));
        assert_eq!(
            located(Some(""), Some(""), home),
            Ok("/home/ada/.local/state/windlass".to_owned())
        );
        assert_eq!(
            located(None, Some("x"), home),
            Ok("/home/ada/.local/state/windlass".to_owned())
        );
    }

    #[test]
    fn a_relative_place_and_no_place_are_refused() {
        let relative = located(Some("state"), None, Some("/home/ada")).unwrap_err();
        assert!(
            relative.contains("WINDLASS_STATE_DIR") && relative.contains("state"),
            "{relative}"
        );
        assert!(located(None, None, None).unwrap_err().contains("HOME"));
        assert!(located(None, None, Some("home")).unwrap_err().contains("HOME"));
    }

    #[test]
    fn a_repository_has_a_readable_key_that_no_other_has() {
        let key = |path: &str| Repository::known_at(path).key();
        assert!(key("/home/ada/loom/.git").starts_with("loom-"));
        assert!(key("/srv/loom.git").starts_with("loom-"));
        assert_ne!(key("/home/ada/loom/.git"), key("/home/bob/loom/.git"));
        assert!(key("/home/ada/ä b/.git").starts_with("__b-"));
        assert!(key("/").starts_with("repository-"));
        assert!(key("/a/../.git").starts_with("repository-"), "never a path that leads elsewhere");
        assert!(key(&format!("/{}/.git", "x".repeat(300))).len() < 64);
    }

    #[test]
    fn worktrees_and_links_lead_to_the_same_repository() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir_all(temp.path().join("loom/.git")).unwrap();
        std::os::unix::fs::symlink("loom", temp.path().join("link")).unwrap();
        let straight = Repository::find(&temp.path().join("loom/.git")).unwrap();
        let linked = Repository::find(&temp.path().join("link/../link/.git")).unwrap();
        assert_eq!(straight, linked);
        let missing = Repository::find(&temp.path().join("no")).unwrap_err();
        assert!(missing.to_string().contains("/no"), "{missing}");
    }

    #[test]
    fn directories_are_for_their_owner_alone() {
        let temp = tempfile::tempdir().unwrap();
        let state = StateDir::at(temp.path().join("a/b"));
        let repository = Repository::known_at("/x/.git");
        let dir = state.make_repo_dir(&repository).unwrap();
        let mode = |dir: &Path| fs::metadata(dir).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&dir), mode(state.path())), (0o700, 0o700));
        assert_eq!(StateDir::above(&dir), Some(state.clone()));
        assert_eq!(StateDir::above(temp.path()), None);
        assert_eq!(state.repo_dirs(), std::slice::from_ref(&dir));
        fs::set_permissions(&dir, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(state.make_repo_dir(&repository).unwrap(), dir);
        assert_eq!(mode(&dir), 0o700);
        fs::set_permissions(&dir, PermissionsExt::from_mode(0o500)).unwrap();
        state.make_repo_dir(&repository).unwrap();
        assert_eq!(mode(&dir), 0o500, "what is closed even further stays so");
    }

    #[test]
    fn a_place_that_cannot_be_is_named() {
        let temp = tempfile::tempdir().unwrap();
        fs::write(temp.path().join("file"), "").unwrap();
        let state = StateDir::at(temp.path().join("file"));
        let error = state.make_repo_dir(&Repository::known_at("/x/.git")).unwrap_err();
        assert!(error.to_string().contains("file/repositories"), "{error}");
        let error = make_private(&temp.path().join("file/inside")).unwrap_err();
        assert!(error.to_string().contains("file/inside"), "{error}");
    }
}
