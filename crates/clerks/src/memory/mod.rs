//! What a project remembers between runs: learnings, failures, summaries, what roles noted. Each has its form, its owner
//! and its cap (docs/formats.md); workflows share them.

pub mod failures;
pub mod identity;
pub mod learnings;
pub mod mission;
pub mod summary;
pub mod tokens;

use std::io::Read as _;
use std::path::{Path, PathBuf};

use windlass_engine::message::Trouble;
use windlass_process::beneath::{Links, Root};
use windlass_sources::SourceError;

/// Files of a project, in a person's checkout. Nothing outside of it is touched, wherever links lead.
#[derive(Clone, Debug)]
pub struct Files {
    root: PathBuf,
}

/// A file of memory is no longer than this.
pub const BYTES_MAX: u64 = 4 << 20;

/// So often somebody may change a file between our reading and our writing it.
const CHANGED_MEANWHILE_MAX: usize = 100;

impl Files {
    /// The files below a directory.
    pub fn of(root: impl Into<PathBuf>) -> Self {
        Files { root: root.into() }
    }

    /// Where they are.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// A file's text, if it is there.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn text(&self, path: &str) -> Result<Option<String>, SourceError> {
        self.short(path, BYTES_MAX)
    }

    /// The text of a file that is no longer than this, if it is there. How long it is is asked before it is read.
    ///
    /// # Errors
    ///
    /// When it is there and is longer, or cannot be read.
    pub fn short(&self, path: &str, bytes_max: u64) -> Result<Option<String>, SourceError> {
        let bytes = self.short_bytes(path, bytes_max)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The same of a file that a person wrote and that we may change: what is no text is refused, since its bytes would not
    /// stay as they are, and so is a link, since it would become a file of its own.
    ///
    /// # Errors
    ///
    /// When it is there and is longer, is no text or a link, or cannot be read.
    pub fn theirs(&self, path: &str, bytes_max: u64) -> Result<Option<String>, SourceError> {
        let there = self.root.join(path);
        if there.is_symlink() {
            return Err(SourceError::bad(path, "it is a link, and would not stay one")
                .or_else("name the file that it leads to, or put that in its place"));
        }
        let Some(bytes) = self.short_bytes(path, bytes_max)? else { return Ok(None) };
        String::from_utf8(bytes).map(Some).map_err(|error| {
            let text = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = text.iter().filter(|byte| **byte == b'\n').count() + 1;
            SourceError::bad(path, format!("line {line} is not UTF-8, so nothing in it is changed"))
                .or_else(format!("save {path} as UTF-8"))
        })
    }

    fn short_bytes(&self, path: &str, bytes_max: u64) -> Result<Option<Vec<u8>>, SourceError> {
        let bad = |what: String| SourceError::bad(path, what);
        let root = self.open().map_err(|trouble| bad(trouble.to_string()))?;
        let file = match root.file(path) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(bad(error.to_string())),
        };
        let unreadable = |source| SourceError::Unreadable { path: path.into(), source };
        let length = file.metadata().map_err(unreadable)?.len();
        if length > bytes_max {
            let what = format!(
                "it has {} KB, and {} are the most",
                length.div_ceil(1024),
                bytes_max >> 10
            );
            return Err(bad(what).or_else(format!("split {path}")));
        }
        let mut bytes = Vec::new();
        file.take(bytes_max).read_to_end(&mut bytes).map_err(unreadable)?;
        Ok(Some(bytes))
    }

    /// A file as it is, byte for byte, if it is there.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read, or is too long.
    pub fn bytes(&self, path: &str) -> Result<Option<Vec<u8>>, SourceError> {
        let bad = |what: String| SourceError::bad(path, what);
        let root = self.open().map_err(|trouble| bad(trouble.to_string()))?;
        match root.read(path, BYTES_MAX) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(bad(error.to_string())),
        }
    }

    /// Writes bytes into a file, in one step.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub(crate) fn write_bytes(&self, path: &str, bytes: &[u8]) -> Result<(), Trouble> {
        let root = self.open()?;
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        let written = root.make_directories(parent).and_then(|()| root.replace(path, bytes));
        written.map_err(|error| Trouble::new(error.to_string()))
    }

    /// Writes a file, in one step.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write(&self, path: &str, text: &str) -> Result<(), Trouble> {
        self.write_bytes(path, text.as_bytes())
    }

    /// Changes a file that a person wrote, or makes it: `change` is told what it holds, and says what it is to hold, if
    /// anything else. Somebody who changes it at the same moment is heard first; its permissions stay. Whether it was
    /// changed.
    ///
    /// # Errors
    ///
    /// Those of `change`; and when the file cannot be read or written, or is none that stays what it is ([`Files::theirs`]).
    pub fn revise<E: From<SourceError> + From<Trouble>>(
        &self,
        path: &str,
        bytes_max: u64,
        mut change: impl FnMut(Option<&str>) -> Result<Option<String>, E>,
    ) -> Result<bool, E> {
        for _ in 0..CHANGED_MEANWHILE_MAX {
            let there = self.theirs(path, bytes_max)?;
            let Some(text) = change(there.as_deref())? else { return Ok(false) };
            if there.as_ref() == Some(&text) {
                return Ok(false);
            }
            if self.put(path, there.as_deref(), &text)? {
                return Ok(true);
            }
        }
        let what = format!("{path} is changed by somebody else again and again");
        Err(Trouble::new(what).next("try again once it rests").into())
    }

    /// Puts a text in place of what was read. Whether it was still that.
    fn put(&self, path: &str, before: Option<&str>, text: &str) -> Result<bool, Trouble> {
        let root = self.open()?;
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        let put = root.make_directories(parent).and_then(|()| match before {
            Some(before) => root.rewrite(path, before.as_bytes(), text.as_bytes()),
            None => root.place(path, text.as_bytes()),
        });
        match put {
            // It was taken away meanwhile.
            Err(error) if error.is_not_found() => Ok(false),
            put => put.map_err(|error| Trouble::new(error.to_string())),
        }
    }

    /// Appends a block to a file that begins with this heading, unless the block is there already. Whether it was
    /// appended.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub fn append(&self, path: &str, heading: &str, block: &str) -> Result<bool, Trouble> {
        let block = block.trim_end();
        self.revise(path, BYTES_MAX, |there| {
            if there.is_some_and(|text| text.contains(block)) {
                return Ok(None);
            }
            let heading = format!("# {heading}\n");
            let before = there.unwrap_or(&heading).trim_end();
            Ok(Some(format!("{before}\n\n{block}\n")))
        })
    }

    /// Removes a directory and what is in it, without following links. That it is not there is fine.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be removed.
    pub fn clear(&self, path: &str) -> Result<bool, Trouble> {
        let mut so_far = self.root.clone();
        for part in Path::new(path) {
            so_far.push(part);
            match so_far.symlink_metadata() {
                Ok(meta) if meta.is_dir() => {}
                _ => return Ok(false),
            }
        }
        std::fs::remove_dir_all(&so_far).map_err(|error| Trouble::io("clear", &so_far, &error))?;
        Ok(true)
    }

    /// Removes a file. That it is not there is fine.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be removed.
    pub fn remove(&self, path: &str) -> Result<(), Trouble> {
        match self.open()?.remove(path) {
            Err(error) if !error.is_not_found() => Err(Trouble::new(error.to_string())),
            _ => Ok(()),
        }
    }

    /// Removes a directory and those in it, as far as nothing is in them, without following links.
    pub(crate) fn remove_empty(&self, path: &str) {
        let full = self.root.join(path);
        if full.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            for name in self.names(path) {
                self.remove_empty(&format!("{path}/{name}"));
            }
            // Whatever is not empty stays.
            let _ = std::fs::remove_dir(full);
        }
    }

    /// The files at or below a place, without following links.
    pub fn below(&self, path: &str) -> Vec<String> {
        let mut found = Vec::new();
        let mut so_far = self.root.clone();
        let linked = Path::new(path).iter().any(|part| {
            so_far.push(part);
            so_far.is_symlink()
        });
        if !linked {
            self.walk(path, &mut found);
        }
        found
    }

    fn walk(&self, path: &str, found: &mut Vec<String>) {
        for name in self.names(path) {
            let path = format!("{path}/{name}");
            match self.root.join(&path).symlink_metadata() {
                Ok(meta) if meta.is_dir() => self.walk(&path, found),
                Ok(_) => found.push(path),
                Err(_) => {}
            }
        }
    }

    /// What is in a directory, by name.
    fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.root.join(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> =
            entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    fn open(&self) -> Result<Root, Trouble> {
        Root::open(&self.root, Links::Follow)
            .map_err(|error| Trouble::io("open", &self.root, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_appended_once_and_what_was_there_stays() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::of(dir.path());
        assert!(files.append("a/b.md", "Things", "- one\n").unwrap());
        assert!(!files.append("a/b.md", "Things", "- one").unwrap());
        assert!(files.append("a/b.md", "Things", "- two").unwrap());
        assert_eq!(files.text("a/b.md").unwrap().unwrap(), "# Things\n\n- one\n\n- two\n");
        assert_eq!(files.text("a/c.md").unwrap(), None);
    }

    #[test]
    fn what_is_no_text_or_a_link_is_refused_and_stays_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let files = Files::of(dir.path());
        let latin = b"# Plans\n\nGr\xfc\xdfe\n";
        std::fs::write(dir.path().join("latin.md"), latin).unwrap();
        std::fs::write(dir.path().join("real.md"), "# Things\n").unwrap();
        std::os::unix::fs::symlink("real.md", dir.path().join("link.md")).unwrap();
        let said = |path: &str| {
            let error = files.append(path, "Things", "- one").unwrap_err();
            (error.to_string(), error.next_step().unwrap().to_owned())
        };
        let (what, next) = said("latin.md");
        assert_eq!(what, "latin.md: line 3 is not UTF-8, so nothing in it is changed");
        assert_eq!(next, "save latin.md as UTF-8");
        assert_eq!(std::fs::read(dir.path().join("latin.md")).unwrap(), latin);
        assert_eq!(said("link.md").0, "link.md: it is a link, and would not stay one");
        assert!(dir.path().join("link.md").is_symlink());
        assert_eq!(files.text("real.md").unwrap().unwrap(), "# Things\n");
    }

    #[test]
    fn whoever_changes_a_file_at_the_same_moment_is_heard_and_its_permissions_stay() {
        use std::os::unix::fs::PermissionsExt as _;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.md");
        std::fs::write(&path, "one\n").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        let files = Files::of(dir.path());
        let mut seen = Vec::new();
        let changed = files.revise("a.md", BYTES_MAX, |text| {
            let text = text.unwrap();
            seen.push(text.to_owned());
            if seen.len() == 1 {
                std::fs::write(&path, "one\ntheirs\n").unwrap();
            }
            Ok::<_, Trouble>(Some(format!("{text}ours\n")))
        });
        assert!(changed.unwrap());
        assert_eq!(seen, ["one\n", "one\ntheirs\n"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntheirs\nours\n");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);

        // One that is made meanwhile, and one that never rests.
        let new = dir.path().join("new.md");
        let made = files.revise("new.md", BYTES_MAX, |text| {
            if text.is_none() {
                std::fs::write(&new, "theirs\n").unwrap();
            }
            Ok::<_, Trouble>(Some(format!("{}ours\n", text.unwrap_or_default())))
        });
        assert!(made.unwrap());
        assert_eq!(std::fs::read_to_string(&new).unwrap(), "theirs\nours\n");
        let mut turn = 0;
        let never = files.revise("a.md", BYTES_MAX, |_| {
            turn += 1;
            std::fs::write(&path, turn.to_string()).unwrap();
            Ok::<_, Trouble>(Some("ours\n".to_owned()))
        });
        assert_eq!(
            never.unwrap_err().to_string(),
            "a.md is changed by somebody else again and again"
        );
        assert_eq!(std::fs::read_to_string(&path).unwrap(), turn.to_string());
    }

    #[test]
    fn a_file_that_is_too_long_is_refused_with_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("long.md"), "x".repeat(3 << 10)).unwrap();
        let files = Files::of(dir.path());
        assert_eq!(files.short("long.md", 3 << 10).unwrap().unwrap().len(), 3 << 10);
        let error = files.short("long.md", 2 << 10).unwrap_err();
        assert_eq!(error.to_string(), "long.md: it has 3 KB, and 2 are the most");
        assert_eq!(error.next_step(), "split long.md");
    }

    #[test]
    fn nothing_outside_is_written_or_cleared() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(other.path().join("keep"), "x").unwrap();
        std::os::unix::fs::symlink(other.path(), dir.path().join("out")).unwrap();
        let files = Files::of(dir.path());
        assert!(files.write("out/new", "x").is_err());
        assert!(!files.clear("out").unwrap());
        assert!(other.path().join("keep").exists() && !other.path().join("new").exists());
        std::fs::create_dir_all(dir.path().join("in/deep")).unwrap();
        assert!(files.clear("in").unwrap() && !dir.path().join("in").exists());
    }
}
