//! `read`, `write` and `edit`.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::path::Path;

use serde_json::Value;

use super::{Cannot, Did, Hands, number, refused, text};

/// A longer file is not read.
const FILE_BYTES: u64 = 8 << 20;

impl Hands {
    pub(super) fn read(&self, input: &Value) -> Result<Did, Cannot> {
        let path = self.path(input)?;
        let content = self.content(&path)?;
        let lines: Vec<&str> = content.lines().collect();
        let first = number(input, "first_line").unwrap_or(1).max(1);
        let last = number(input, "last_line").unwrap_or(u64::MAX);
        let mut shown = String::new();
        for (line, number) in lines.iter().zip(1_u64..) {
            if number >= first && number <= last {
                let _ = writeln!(shown, "{number}\t{line}");
            }
        }
        if lines.is_empty() {
            shown.push_str("(the file is empty)");
        } else if shown.is_empty() {
            return Err(format!("{} has {} lines", path.display(), lines.len()));
        }
        Ok(Did::said(shown))
    }

    pub(super) fn write(&self, input: &Value) -> Result<Did, Cannot> {
        let path = self.path(input)?;
        let content = text(input, "content")?;
        let before = self.before(&path)?;
        if before.is_none()
            && let Some(above) = path.parent()
        {
            self.write.make_directories(above).map_err(|error| refused(&error))?;
        }
        self.put(&path, content, before)
    }

    pub(super) fn edit(&self, input: &Value) -> Result<Did, Cannot> {
        let path = self.path(input)?;
        let (old, new) = (text(input, "old")?, text(input, "new")?);
        let Some(before) = self.before(&path)? else {
            return Err(format!("{} is not there: `write` makes a new file", path.display()));
        };
        let content = self.content(&path)?;
        match content.matches(old).count() {
            _ if old.is_empty() => Err("`old` is empty: say what is to be replaced".to_owned()),
            0 => Err(format!(
                "`old` is not in {}: look at the file, and give it exactly as it stands there",
                path.display()
            )),
            1 => self.put(&path, &content.replacen(old, new, 1), Some(before)),
            times => Err(format!(
                "`old` is in {} {times} times: give more of what is around the one that is meant",
                path.display()
            )),
        }
    }

    /// All of a file that is text.
    fn content(&self, path: &Path) -> Result<String, Cannot> {
        let bytes = self.read.read(path, FILE_BYTES).map_err(|error| refused(&error))?;
        let binary = || format!("{} is no text: it cannot be shown or edited here", path.display());
        let text = String::from_utf8(bytes).map_err(|_| binary())?;
        if text.contains('\0') { Err(binary()) } else { Ok(text) }
    }

    /// What may be done with a file that is there; nothing, if it is not. Links are left alone.
    fn before(&self, path: &Path) -> Result<Option<Permissions>, Cannot> {
        if path.iter().any(|name| name == ".git") {
            return Err(format!("{} belongs to git, and is left alone", path.display()));
        }
        match self.write.file(path) {
            Ok(file) => Ok(file.metadata().ok().map(|about| about.permissions())),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(refused(&error)),
        }
    }

    fn put(&self, path: &Path, content: &str, before: Option<Permissions>) -> Result<Did, Cannot> {
        self.write.replace(path, content.as_bytes()).map_err(|error| refused(&error))?;
        if let Some(before) = before
            && let Ok(file) = self.write.file(path)
        {
            let _ = file.set_permissions(before);
        }
        let path = path.display().to_string();
        let text = format!("{path} is written: {} bytes", content.len());
        Ok(Did { text, changed: Some(path) })
    }
}
