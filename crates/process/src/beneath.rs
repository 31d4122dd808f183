//! Opening files in a lane, which is somebody else's to shape.
//!
//! An agent may put a symbolic link where Windlass expects a file, or swap a directory for one
//! between a check and the use. So there is no check: the kernel itself resolves the path below an
//! open directory and refuses to leave it (`openat2` with `RESOLVE_BENEATH`), in one step that
//! nothing can come in between. A pipe or a device where a file should be is refused as well; one
//! that is waited on would hang Windlass.
//!
//! A hard link is a file like any other and cannot be told apart. Where that matters, the sandbox
//! keeps an agent from making one.

use std::{
    ffi::OsString,
    fs::{File, TryLockError},
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    os::unix::ffi::OsStringExt as _,
    path::{Component, Path, PathBuf},
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fstat, fsync,
        mkdirat, openat, openat2, renameat_with, statat, unlinkat,
    },
    io::Errno,
    rand::{GetRandomFlags, getrandom},
};

/// How often the kernel may ask to try again because a directory was moved during the walk, as its
/// manual demands. Each time the walk starts from the root again, so nothing is let through.
const TRIES_MAX: u32 = 1000;

/// What to do about symbolic links on the way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Followed as long as they stay beneath the root.
    #[default]
    Follow,
    /// Refused, all of them.
    Refuse,
}

/// What is in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: Kind,
}

/// What something in a directory is. A link is what it is itself, not what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link, a pipe, a device.
    Other,
}

/// A file beneath a root could not be had.
#[derive(Debug, thiserror::Error)]
pub enum BeneathError {
    /// The path, or a link on the way, leads out.
    #[error("{path:?} leads out of {root:?}, which is not allowed; name a path inside it")]
    Outside {
        /// The root.
        root: PathBuf,
        /// The path.
        path: PathBuf,
    },
    /// A link where none is wanted.
    #[error("{path:?} in {root:?} leads over a symbolic link, which is not allowed here")]
    Link {
        /// The root.
        root: PathBuf,
        /// The path.
        path: PathBuf,
    },
    /// Neither a file nor, where one was asked for, a directory.
    #[error("{path:?} in {root:?} is not a regular file; remove it")]
    NotAFile {
        /// The root.
        root: PathBuf,
        /// The path.
        path: PathBuf,
    },
    /// Longer than the caller is ready for.
    #[error("{path:?} in {root:?} has more than {bytes_max} bytes")]
    TooLong {
        /// The root.
        root: PathBuf,
        /// The path.
        path: PathBuf,
        /// The limit.
        bytes_max: u64,
    },
    /// The system refused: it is not there, or not allowed.
    #[error("cannot {what} {path:?} in {root:?}: {source}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// The root.
        root: PathBuf,
        /// The path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl BeneathError {
    /// Whether the reason is that there is nothing at that path.
    pub fn is_not_found(&self) -> bool {
        matches!(self, BeneathError::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// A directory that nothing opened through it is outside of.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    path: PathBuf,
    links: Links,
}

/// A root that nobody else holds.
#[derive(Debug)]
pub struct Held {
    _directory: File,
}

impl Root {
    /// Opens a root. The path to it is trusted; what lies beneath is not.
    pub fn open(path: impl Into<PathBuf>, links: Links) -> io::Result<Root> {
        let path = path.into();
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let directory = openat(CWD, &path, flags, Mode::empty())?;
        Ok(Root { directory, path, links })
    }

    /// Opens a file to read.
    pub fn file(&self, path: impl AsRef<Path>) -> Result<File, BeneathError> {
        let path = path.as_ref();
        // Without NONBLOCK, opening a named pipe would wait for somebody to write to it.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.resolve("open", path, flags, Mode::empty())?;
        let stat = fstat(&file).map_err(|errno| self.refusal("open", path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            let (root, path) = self.names(path);
            return Err(BeneathError::NotAFile { root, path });
        }
        Ok(file.into())
    }

    /// All of a file, if it is no longer than `bytes_max`.
    pub fn read(&self, path: impl AsRef<Path>, bytes_max: u64) -> Result<Vec<u8>, BeneathError> {
        let path = path.as_ref();
        let mut bytes = Vec::new();
        self.file(path)?
            .take(bytes_max.saturating_add(1))
            .read_to_end(&mut bytes)
            .map_err(|source| self.io("read", path, source))?;
        if bytes.len() as u64 > bytes_max {
            let (root, path) = self.names(path);
            return Err(BeneathError::TooLong { root, path, bytes_max });
        }
        Ok(bytes)
    }

    /// Whether there is anything at a path. A link that leads out is an error, not an answer; one
    /// that leads nowhere is no.
    pub fn exists(&self, path: impl AsRef<Path>) -> Result<bool, BeneathError> {
        match self.resolve("look at", path.as_ref(), OFlags::PATH, Mode::empty()) {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Creates a file that is not there yet, to write.
    pub fn create(&self, path: impl AsRef<Path>) -> Result<File, BeneathError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let mode = Mode::from_raw_mode(0o666);
        Ok(self.resolve("create", path.as_ref(), flags, mode)?.into())
    }

    /// Puts a file in place in one step, whatever was there: a reader sees the old or the new one.
    /// A link at that place is replaced, not followed.
    pub fn replace(&self, path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), BeneathError> {
        let fill = |file: &mut File| file.write_all(bytes).map(|()| true);
        self.put(path.as_ref(), RenameFlags::empty(), fill).map(drop)
    }

    /// The same for a file that a person wrote, if it still holds what was read: it keeps its
    /// permissions, and after a power loss the old or the new one is there, whole. Whether it was
    /// still what was read.
    pub fn rewrite(
        &self,
        path: impl AsRef<Path>,
        before: &[u8],
        bytes: &[u8],
    ) -> Result<bool, BeneathError> {
        let path = path.as_ref();
        let there = self.file(path)?.metadata().map_err(|source| self.io("read", path, source))?;
        let fill = |file: &mut File| {
            file.write_all(bytes)?;
            file.set_permissions(there.permissions())?;
            file.sync_all()?;
            // As late as can be: people's editors ask nobody.
            Ok(self.read(path, before.len() as u64).is_ok_and(|now| now == before))
        };
        match self.put(path, RenameFlags::empty(), fill)? {
            Some(parent) => self.sync(path, &parent).map(|()| true),
            None => Ok(false),
        }
    }

    /// Puts a whole new file in place, to stay after a power loss; if there is anything, that stays
    /// instead. Whether it was put there.
    pub fn place(&self, path: impl AsRef<Path>, bytes: &[u8]) -> Result<bool, BeneathError> {
        let path = path.as_ref();
        let fill = |file: &mut File| {
            file.write_all(bytes)?;
            file.sync_all().map(|()| true)
        };
        match self.put(path, RenameFlags::NOREPLACE, fill) {
            Ok(Some(parent)) => self.sync(path, &parent).map(|()| true),
            Ok(None) => Ok(false),
            Err(BeneathError::Io { source, .. })
                if source.kind() == io::ErrorKind::AlreadyExists =>
            {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Holds the root, if nobody else does: until it is dropped, or its process is dead, others are
    /// told no. It keeps nobody from anything who does not ask, and leaves nothing behind.
    pub fn hold(&self) -> Result<Option<Held>, BeneathError> {
        let path = Path::new(".");
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = File::from(self.resolve("hold", path, flags, Mode::empty())?);
        match directory.try_lock() {
            Ok(()) => Ok(Some(Held { _directory: directory })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(source)) => Err(self.io("hold", path, source)),
        }
    }

    /// Writes a file beside its place, and moves it there, unless whoever fills it says no. The
    /// directory that it is in, if it was moved.
    fn put(
        &self,
        path: &Path,
        how: RenameFlags,
        fill: impl FnOnce(&mut File) -> io::Result<bool>,
    ) -> Result<Option<OwnedFd>, BeneathError> {
        let (parent, name) = self.parent("write", path)?;
        let mut random = [0; 8];
        getrandom(&mut random, GetRandomFlags::empty())
            .map_err(|errno| self.refusal("write", path, errno))?;
        let temporary = format!("{TEMPORARY}{:016x}", u64::from_le_bytes(random));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let written = openat(&parent, &temporary, flags, Mode::from_raw_mode(0o666))
            .map_err(io::Error::from)
            .and_then(|file| fill(&mut File::from(file)))
            .and_then(|moves| {
                if moves {
                    renameat_with(&parent, &temporary, &parent, name, how)?;
                }
                Ok(moves)
            });
        match written {
            Ok(true) => Ok(Some(parent)),
            unwritten => {
                let _ = unlinkat(&parent, &temporary, AtFlags::empty());
                unwritten.map(|_| None).map_err(|source| self.io("write", path, source))
            }
        }
    }

    fn sync(&self, path: &Path, parent: &OwnedFd) -> Result<(), BeneathError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(parent, ".", flags, Mode::empty())
            .and_then(fsync)
            .map_err(|errno| self.refusal("write", path, errno))
    }

    /// Removes a file, or a link without following it. That it is not there is fine.
    pub fn remove(&self, path: impl AsRef<Path>) -> Result<(), BeneathError> {
        let path = path.as_ref();
        let (parent, name) = match self.parent("remove", path) {
            Ok(found) => found,
            Err(error) if error.is_not_found() => return Ok(()),
            Err(error) => return Err(error),
        };
        match unlinkat(&parent, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(self.refusal("remove", path, errno)),
        }
    }

    /// Makes a directory and those above it, as far as they are not there.
    pub fn make_directories(&self, path: impl AsRef<Path>) -> Result<(), BeneathError> {
        let path = path.as_ref();
        let mut so_far = PathBuf::new();
        for name in self.names_of("make", path)? {
            let parent = self.directory_at("make", &so_far)?;
            match mkdirat(&parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => so_far.push(name),
                Err(errno) => return Err(self.refusal("make", path, errno)),
            }
        }
        // What was there already must be a directory, and beneath.
        self.directory_at("make", &so_far).map(drop)
    }

    /// A directory beneath as a root of its own.
    pub fn directory(&self, path: impl AsRef<Path>) -> Result<Root, BeneathError> {
        let path = path.as_ref();
        let directory = self.directory_at("open", path)?;
        Ok(Root { directory, path: self.path.join(path), links: self.links })
    }

    /// What is in a directory, in the order of names. Links are listed and not followed.
    pub fn entries(&self, path: impl AsRef<Path>) -> Result<Vec<Entry>, BeneathError> {
        let path = path.as_ref();
        let place = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let directory = self.resolve("list", place, flags, Mode::empty())?;
        let refused = |errno| self.refusal("list", path, errno);
        let mut entries = Vec::new();
        for entry in Dir::read_from(&directory).map_err(refused)? {
            let entry = entry.map_err(refused)?;
            let name = OsString::from_vec(entry.file_name().to_bytes().to_vec());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Not every file system says at once.
                FileType::Unknown => statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW)
                    .map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode)),
                known => known,
            };
            let kind = match kind {
                FileType::RegularFile => Kind::File,
                FileType::Directory => Kind::Directory,
                _ => Kind::Other,
            };
            entries.push(Entry { name, kind });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    fn directory_at(&self, what: &'static str, path: &Path) -> Result<OwnedFd, BeneathError> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        self.resolve(what, path, OFlags::PATH | OFlags::DIRECTORY, Mode::empty())
    }

    /// The directory that a path's last name is in, and that name.
    fn parent<'a>(
        &self,
        what: &'static str,
        path: &'a Path,
    ) -> Result<(OwnedFd, &'a Path), BeneathError> {
        let names = self.names_of(what, path)?;
        let Some((&name, above)) = names.split_last() else {
            return Err(self.refusal(what, path, Errno::ISDIR));
        };
        let above: PathBuf = above.iter().collect();
        Ok((self.directory_at(what, &above)?, name))
    }

    /// The parts of a path, none of which leads up or out by itself.
    fn names_of<'a>(
        &self,
        what: &'static str,
        path: &'a Path,
    ) -> Result<Vec<&'a Path>, BeneathError> {
        let mut names = Vec::new();
        for component in path.components() {
            match component {
                Component::Normal(name) => names.push(Path::new(name)),
                Component::CurDir => {}
                Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                    return Err(self.refusal(what, path, Errno::XDEV));
                }
            }
        }
        Ok(names)
    }

    fn resolve(
        &self,
        what: &'static str,
        path: &Path,
        flags: OFlags,
        mode: Mode,
    ) -> Result<OwnedFd, BeneathError> {
        self.names_of(what, path)?;
        let mut resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        if self.links == Links::Refuse {
            resolve |= ResolveFlags::NO_SYMLINKS;
        }
        let flags = flags | OFlags::CLOEXEC;
        let mut opened = Err(Errno::AGAIN);
        for _ in 0..TRIES_MAX {
            opened = openat2(self.directory.as_fd(), path, flags, mode, resolve);
            if !matches!(opened, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        opened.map_err(|errno| self.refusal(what, path, errno))
    }

    fn names(&self, path: &Path) -> (PathBuf, PathBuf) {
        (self.path.clone(), path.to_owned())
    }

    fn refusal(&self, what: &'static str, path: &Path, errno: Errno) -> BeneathError {
        let (root, path) = self.names(path);
        match errno {
            Errno::XDEV => BeneathError::Outside { root, path },
            Errno::LOOP => BeneathError::Link { root, path },
            // A pipe without a reader, or a socket: both are no files.
            Errno::NXIO => BeneathError::NotAFile { root, path },
            _ => BeneathError::Io { what, root, path, source: errno.into() },
        }
    }

    fn io(&self, what: &'static str, path: &Path, source: io::Error) -> BeneathError {
        let (root, path) = self.names(path);
        BeneathError::Io { what, root, path, source }
    }
}

/// How a file is called while it is being written.
const TEMPORARY: &str = ".windlass-";

/// Whether a file of this name is what somebody left who was killed while a file was put in place.
pub fn is_half_written(name: &str) -> bool {
    name.strip_prefix(TEMPORARY).is_some_and(|random| {
        random.len() == 16 && random.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::{fs, os::unix::fs::symlink, process::Command};

    use super::*;

    /// `lane` with a file in it, and a secret beside it.
    fn lane() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let lane = dir.path().join("lane");
        fs::create_dir_all(lane.join("src")).unwrap();
        fs::write(lane.join("src/main.rs"), "inside").unwrap();
        fs::write(dir.path().join("secret"), "outside").unwrap();
        (dir, lane)
    }

    fn root(lane: &Path) -> Root {
        Root::open(lane, Links::Follow).unwrap()
    }

    fn is_outside<T>(result: Result<T, BeneathError>) -> bool {
        matches!(result, Err(BeneathError::Outside { .. }))
    }

    #[test]
    fn what_lies_beneath_can_be_had() {
        let (_dir, lane) = lane();
        let root = root(&lane);
        assert_eq!(root.read("src/main.rs", 6).unwrap(), b"inside");
        assert_eq!(root.read("./src/./main.rs", 100).unwrap(), b"inside");
        assert!(root.exists("src").unwrap());
        assert!(!root.exists("src/lib.rs").unwrap());
        root.make_directories("docs/adr").unwrap();
        root.make_directories("docs/adr").unwrap();
        root.create("docs/adr/0001.md").unwrap().write_all(b"one").unwrap();
        root.replace("docs/adr/0001.md", b"two").unwrap();
        assert_eq!(fs::read(lane.join("docs/adr/0001.md")).unwrap(), b"two");
        assert_eq!(root.directory("docs").unwrap().read("adr/0001.md", 9).unwrap(), b"two");
        root.remove("docs/adr/0001.md").unwrap();
        root.remove("docs/adr/0001.md").unwrap();
        assert_eq!(fs::read_dir(lane.join("docs/adr")).unwrap().count(), 0);
        assert!(root.read("src/main.rs", 5).is_err());
        assert!(root.create("src/main.rs").is_err());
    }

    #[test]
    fn what_a_person_wrote_keeps_its_permissions_and_what_is_there_is_not_placed_over() {
        use std::os::unix::fs::PermissionsExt as _;
        let (_dir, lane) = lane();
        let root = root(&lane);
        let file = lane.join("src/main.rs");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(!root.rewrite("src/main.rs", b"insid", b"new").unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"inside");
        assert!(root.rewrite("src/main.rs", b"inside", b"new").unwrap());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(root.rewrite("src/gone.rs", b"", b"new").unwrap_err().is_not_found());
        assert!(root.place("src/lib.rs", b"first").unwrap());
        assert!(!root.place("src/lib.rs", b"second").unwrap());
        assert_eq!(fs::read(lane.join("src/lib.rs")).unwrap(), b"first");
        assert_eq!(fs::read_dir(lane.join("src")).unwrap().count(), 2);
    }

    #[test]
    fn one_holds_a_root_at_a_time() {
        let (_dir, lane) = lane();
        let held = root(&lane).hold().unwrap();
        assert!(held.is_some() && root(&lane).hold().unwrap().is_none());
        drop(held);
        assert!(root(&lane).hold().unwrap().is_some());
        assert_eq!(fs::read_dir(&lane).unwrap().count(), 1);
    }

    #[test]
    fn no_path_leads_out() {
        let (dir, lane) = lane();
        let root = root(&lane);
        let secret = dir.path().join("secret");
        for path in [Path::new("../secret"), Path::new("src/../../secret"), &secret] {
            assert!(is_outside(root.file(path)), "{path:?}");
            assert!(is_outside(root.exists(path)), "{path:?}");
            assert!(is_outside(root.create(path)), "{path:?}");
            assert!(is_outside(root.replace(path, b"x")), "{path:?}");
            assert!(is_outside(root.remove(path)), "{path:?}");
            assert!(is_outside(root.make_directories(path)), "{path:?}");
            assert!(is_outside(root.directory(path)), "{path:?}");
        }
        // Even if it would come back in: what is written in the lane should say what it means.
        assert!(is_outside(root.file("src/../src/main.rs")));
        assert_eq!(fs::read(secret).unwrap(), b"outside");
    }

    #[test]
    fn no_link_leads_out() {
        let (dir, lane) = lane();
        let root = root(&lane);
        symlink("../secret", lane.join("up")).unwrap();
        symlink(dir.path().join("secret"), lane.join("over")).unwrap();
        symlink("..", lane.join("parent")).unwrap();
        symlink("/proc/self/root", lane.join("magic")).unwrap();
        for path in ["up", "over", "parent/secret", "magic/etc/passwd"] {
            assert!(is_outside(root.file(path)), "{path}");
            assert!(is_outside(root.exists(path)), "{path}");
        }
        assert!(is_outside(root.create("parent/new")));
        assert!(is_outside(root.replace("parent/secret", b"x")));
        assert!(is_outside(root.remove("parent/secret")));
        assert!(is_outside(root.make_directories("parent/new")));
        // The link itself may be replaced or removed.
        assert!(lane.join("up").is_symlink());
        root.replace("up", b"mine").unwrap();
        assert!(!lane.join("up").is_symlink());
        root.remove("over").unwrap();
        assert_eq!(fs::read(dir.path().join("secret")).unwrap(), b"outside");
        assert!(!dir.path().join("new").exists());
    }

    #[test]
    fn links_inside_are_followed_or_refused_as_asked() {
        let (_dir, lane) = lane();
        symlink("src/main.rs", lane.join("main")).unwrap();
        assert_eq!(root(&lane).read("main", 100).unwrap(), b"inside");
        let strict = Root::open(&lane, Links::Refuse).unwrap();
        assert!(matches!(strict.read("main", 100), Err(BeneathError::Link { .. })));
        assert_eq!(strict.read("src/main.rs", 100).unwrap(), b"inside");
    }

    #[test]
    fn what_is_in_a_directory_is_listed_and_no_link_is_followed() {
        let (_dir, lane) = lane();
        symlink("..", lane.join("out")).unwrap();
        symlink("src", lane.join("in")).unwrap();
        fs::write(lane.join("a file"), "").unwrap();
        let names = |path: &str| {
            let entries = root(&lane).entries(path).unwrap().into_iter();
            entries.map(|it| (it.name.into_string().unwrap(), it.kind)).collect::<Vec<_>>()
        };
        let want = [
            ("a file", Kind::File),
            ("in", Kind::Other),
            ("out", Kind::Other),
            ("src", Kind::Directory),
        ];
        assert_eq!(names(""), want.map(|(name, kind)| (name.to_owned(), kind)));
        assert_eq!(names("src"), [("main.rs".to_owned(), Kind::File)]);
        assert!(is_outside(root(&lane).entries("out")));
        assert!(root(&lane).entries("a file").is_err());
        assert!(root(&lane).entries("nowhere").unwrap_err().is_not_found());
    }

    #[test]
    fn a_pipe_or_a_directory_in_the_place_of_a_file_is_refused_at_once() {
        let (_dir, lane) = lane();
        let made = Command::new("mkfifo").arg(lane.join("pipe")).status().unwrap();
        assert!(made.success());
        let root = root(&lane);
        for path in ["pipe", "src", "."] {
            assert!(matches!(root.file(path), Err(BeneathError::NotAFile { .. })), "{path}");
        }
    }

    /// So often at least it is looked at, and so often at most swapped.
    const LOOKS: u32 = 5_000;
    const SWAPS_MAX: u32 = 200_000;

    #[test]
    fn swapping_a_directory_for_a_link_lets_nothing_out() {
        let (dir, lane) = lane();
        fs::rename(dir.path().join("secret"), dir.path().join("main.rs")).unwrap();
        symlink("..", lane.join("link")).unwrap();
        let root = root(&lane);
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let swapper = scope.spawn(|| {
                for _ in (0..SWAPS_MAX).take_while(|_| !over.load(Ordering::Relaxed)) {
                    fs::rename(lane.join("src"), lane.join("aside")).unwrap();
                    fs::rename(lane.join("link"), lane.join("src")).unwrap();
                    fs::rename(lane.join("src"), lane.join("link")).unwrap();
                    fs::rename(lane.join("aside"), lane.join("src")).unwrap();
                }
            });
            // Until both sides of the race were seen, and long enough.
            let (mut inside, mut refused, mut looks) = (0, 0, 0);
            while (inside == 0 || refused == 0 || looks < LOOKS) && !swapper.is_finished() {
                match root.read("src/main.rs", 100) {
                    Ok(bytes) => {
                        assert_eq!(bytes, b"inside");
                        inside += 1;
                    }
                    Err(_) => refused += 1,
                }
                let _ = root.replace("src/planted", b"x");
                looks += 1;
            }
            over.store(true, Ordering::Relaxed);
            assert!(inside > 0 && refused > 0, "{inside} inside, {refused} refused");
        });
        assert!(!dir.path().join("planted").exists());
    }
}
