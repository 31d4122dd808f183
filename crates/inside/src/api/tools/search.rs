//! `search`: lines by pattern, or files by name.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use windlass_process::beneath::Kind;

use super::glob::Glob;
use super::{Cannot, Did, Hands, refused};

/// So many are said.
const FOUND_MAX: usize = 200;
/// So many files and directories are looked at.
const ENTRIES_MAX: usize = 50_000;
/// So much of a line is shown.
const LINE_BYTES: usize = 300;
/// A longer file is not looked into.
const FILE_BYTES: u64 = 2 << 20;

impl Hands {
    pub(super) fn search(&self, input: &Value) -> Result<Did, Cannot> {
        let pattern =
            input["pattern"].as_str().filter(|it| !it.is_empty()).map(regex).transpose()?;
        let glob = input["glob"].as_str().filter(|it| !it.is_empty()).map(Glob::new).transpose()?;
        let top = match input["path"].as_str() {
            Some("" | ".") | None => PathBuf::new(),
            Some(_) => self.path(input)?,
        };
        let mut found = Found::default();
        let walk = self.files(&top)?;
        for path in walk.files {
            if glob.as_ref().is_some_and(|glob| !glob.fits(&path)) {
                continue;
            }
            match &pattern {
                None => found.line(&path.display().to_string()),
                Some(pattern) => self.look_into(&path, pattern, &mut found),
            }
            if found.is_full() {
                break;
            }
        }
        found.end(walk.cut)
    }

    fn look_into(&self, path: &Path, pattern: &Regex, found: &mut Found) {
        let Ok(bytes) = self.read.read(path, FILE_BYTES) else { return };
        if bytes.contains(&0) {
            return;
        }
        let text = String::from_utf8_lossy(&bytes);
        for (line, number) in text.lines().zip(1_u64..) {
            if pattern.is_match(line) {
                let line = &line[..line.floor_char_boundary(LINE_BYTES)];
                found.line(&format!("{}:{number}: {line}", path.display()));
                if found.is_full() {
                    return;
                }
            }
        }
    }

    /// All files below a directory, in the order of their names, but for git's own and what is ignored as a whole.
    fn files(&self, top: &Path) -> Result<Walk, Cannot> {
        let ignored = self.ignored();
        let mut walk = Walk { files: Vec::new(), cut: false };
        let mut open = vec![top.to_owned()];
        let mut looked_at = 0;
        while let Some(directory) = open.pop() {
            let entries = match self.read.entries(&directory) {
                Ok(entries) => entries,
                // The one that was asked for is there, or it is said.
                Err(error) if directory == top => return Err(refused(&error)),
                Err(_) => continue,
            };
            for entry in entries.into_iter().rev() {
                looked_at += 1;
                if looked_at > ENTRIES_MAX {
                    walk.cut = true;
                    return Ok(walk.sorted());
                }
                let path = directory.join(&entry.name);
                match entry.kind {
                    Kind::Directory if entry.name == ".git" => {}
                    Kind::Directory
                        if entry.name.to_str().is_some_and(|it| ignored.contains(it)) => {}
                    Kind::Directory => open.push(path),
                    Kind::File => walk.files.push(path),
                    Kind::Other => {}
                }
            }
        }
        Ok(walk.sorted())
    }

    /// Directories that the project's `.gitignore` names plainly: `target`, `/build/`. The rest of it is not heeded.
    fn ignored(&self) -> BTreeSet<String> {
        let Ok(bytes) = self.read.read(".gitignore", FILE_BYTES) else { return BTreeSet::new() };
        let text = String::from_utf8_lossy(&bytes);
        let names = text.lines().map(|line| line.trim().trim_matches('/'));
        let plain =
            |name: &&str| !name.is_empty() && !name.contains(['*', '?', '[', '!', '#', '/']);
        names.filter(plain).map(str::to_owned).collect()
    }
}

struct Walk {
    files: Vec<PathBuf>,
    /// There were more than are looked at.
    cut: bool,
}

impl Walk {
    fn sorted(mut self) -> Self {
        self.files.sort();
        self
    }
}

#[derive(Default)]
struct Found {
    text: String,
    lines: usize,
}

impl Found {
    fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
        self.lines += 1;
    }

    fn is_full(&self) -> bool {
        self.lines >= FOUND_MAX
    }

    fn end(mut self, cut: bool) -> Result<Did, Cannot> {
        if self.is_full() {
            let _ = writeln!(self.text, "[there may be more: {FOUND_MAX} are shown]");
        } else if cut {
            let _ = writeln!(self.text, "[not everything was looked at: name a directory]");
        } else if self.lines == 0 {
            self.text.push_str("nothing was found");
        }
        Ok(Did::said(self.text))
    }
}

fn regex(pattern: &str) -> Result<Regex, Cannot> {
    let built = RegexBuilder::new(pattern).size_limit(4 << 20).build();
    built.map_err(|error| format!("`{pattern}` is no regular expression: {error}"))
}
