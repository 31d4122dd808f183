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
const BYTES_MAX: u64 = 4 << 20;

impl Files {
    /// The files below a directory.
    pub fn of(root: impl Into<PathBuf>) -> Self {
        Files { root: root.into() }
    }

    /// Where they are.
    pub fn root(&self) -> &Path {
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
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
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
    pub fn write_bytes(&self, path: &str, bytes: &[u8]) -> Result<(), Trouble> {
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

    /// Appends a block to a file that begins with this heading, unless the block is there already. Whether it was
    /// appended.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or written.
    pub fn append(&self, path: &str, heading: &str, block: &str) -> Result<bool, Trouble> {
        let block = block.trim_end();
        let text = self.text(path)?;
        if text.as_ref().is_some_and(|text| text.contains(block)) {
            return Ok(false);
        }
        let before = text.unwrap_or_else(|| format!("# {heading}\n"));
        self.write(path, &format!("{}\n\n{block}\n", before.trim_end()))?;
        Ok(true)
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
    pub fn remove_empty(&self, path: &str) {
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
