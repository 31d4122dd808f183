//! Permissions that an agent took away from files of its lane, given back.
//!
//! What lies in a lane belongs to whoever runs Windlass, so a directory that nobody may read is no more than a nuisance:
//! its owner may read it again. Only what lies in the work tree itself is touched: no link is followed on the way, and a
//! file that has another name, which may be anywhere, is left as it is.

use std::{
    fs::{self, Permissions},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::PermissionsExt,
    },
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2};

use crate::{lane::Lane, store::Store};

/// What whoever owns a directory needs to look into it and to change what is in it.
const OF_DIRECTORIES: u32 = 0o700;
/// What they need to read a file.
const OF_FILES: u32 = 0o400;

/// Gives us back the permission to read everything below a directory, and to change its directories. Says what had to be
/// opened; what could not be is found out by whoever needs it.
pub(crate) fn reopen(dir: &Path) -> Vec<PathBuf> {
    let Some(mut walk) = Walk::from(dir) else { return Vec::new() };
    walk.below(Path::new(""));
    walk.opened
}

/// The same for a directory alone, and nothing that is in it.
pub(crate) fn reopen_itself(dir: &Path) {
    if let Some(mut walk) = Walk::from(dir) {
        walk.at(Path::new(""));
    }
}

impl Store {
    /// Gives us back the permission to read what lies at some places of a lane, and on the way there. Says what had to be
    /// opened.
    pub fn reopen(&self, lane: &Lane, places: &[String]) -> Vec<PathBuf> {
        let Some(mut walk) = Walk::from(&lane.work) else { return Vec::new() };
        for place in places.iter().map(Path::new) {
            let mut way: Vec<&Path> = place.ancestors().skip(1).collect();
            way.reverse();
            for above in way {
                walk.at(above);
            }
            walk.below(place);
        }
        walk.opened
    }
}

struct Walk {
    top: OwnedFd,
    opened: Vec<PathBuf>,
}

impl Walk {
    fn from(dir: &Path) -> Option<Walk> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let top = openat(CWD, dir, flags, Mode::empty()).ok()?;
        Some(Walk { top, opened: Vec::new() })
    }

    fn below(&mut self, path: &Path) {
        // The file is not kept open on the way down: there may be more directories than open files.
        for name in self.at(path).unwrap_or_default() {
            self.below(&path.join(name));
        }
    }

    /// What is at a path, without a look at what is in it.
    fn file(&self, path: &Path) -> Option<OwnedFd> {
        if path.as_os_str().is_empty() {
            // Not even `.` can be found in a directory that is closed.
            return self.top.try_clone().ok();
        }
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        openat2(&self.top, path, flags, Mode::empty(), inside).ok()
    }

    /// Opens up what is at a path, and says what is in it.
    fn at(&mut self, path: &Path) -> Option<Vec<std::ffi::OsString>> {
        let file = self.file(path)?;
        let stat = fstat(&file).ok()?;
        let kind = FileType::from_raw_mode(stat.st_mode);
        let needed = match kind {
            FileType::Directory => OF_DIRECTORIES,
            FileType::RegularFile if stat.st_nlink == 1 => OF_FILES,
            _ => return None,
        };
        // The very file that was looked at, whatever its name leads to by now.
        let itself = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        let mode = stat.st_mode & 0o7777;
        if mode & needed != needed
            && fs::set_permissions(&itself, Permissions::from_mode(mode | needed)).is_ok()
        {
            self.opened.push(path.to_owned());
        }
        if kind != FileType::Directory {
            return None;
        }
        let entries = fs::read_dir(&itself).ok()?.flatten();
        let wanted = entries
            .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir() || kind.is_file()));
        Some(wanted.map(|entry| entry.file_name()).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn close(path: &Path) {
        fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }

    #[test]
    fn what_lies_below_is_opened_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::create_dir_all(at("lane/a/b")).unwrap();
        for name in ["lane/a/b/closed", "lane/open", "outside", "twice"] {
            fs::write(at(name), "").unwrap();
        }
        fs::create_dir(at("beside")).unwrap();
        symlink(at("outside"), at("lane/link")).unwrap();
        symlink(at("beside"), at("lane/a/away")).unwrap();
        fs::hard_link(at("twice"), at("lane/another name")).unwrap();
        fs::set_permissions(at("lane/open"), Permissions::from_mode(0o644)).unwrap();
        for name in ["lane/a/b/closed", "lane/a/b", "lane/a", "outside", "beside", "twice"] {
            close(&at(name));
        }
        let mut opened = reopen(&at("lane"));
        opened.sort();
        assert_eq!(opened, ["a", "a/b", "a/b/closed"].map(PathBuf::from));
        let modes = ["lane/a", "lane/a/b", "lane/a/b/closed", "lane/open"].map(|it| mode(&at(it)));
        assert_eq!(modes, [0o700, 0o700, 0o400, 0o644]);
        // Nor by name.
        for link in ["link", "a/away"] {
            Walk::from(&at("lane")).unwrap().below(Path::new(link));
        }
        let others = ["outside", "beside", "twice"].map(|name| mode(&at(name)));
        assert_eq!(others, [0; 3], "neither what a link leads to nor what has another name");
        close(&at("lane"));
        assert_eq!(reopen(&at("lane")), [PathBuf::new()], "the top itself");
    }
}
