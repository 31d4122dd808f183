//! What the model may do: read, write, edit and search files below the lane, and run commands there.
//!
//! | tool | file |
//! |---|---|
//! | `read`, `write`, `edit` | `files.rs` |
//! | `search` | `search.rs`; names by pattern `glob.rs` |
//! | `shell` | `shell.rs` |
//! | what the model is told of them | `offer.rs` |
//!
//! Files are opened through `beneath`, so that no path, link or race leads out of the lane; commands are kept in by the
//! sandbox alone. What a tool says is bounded, with its beginning and its end kept (`bounded.rs`).

mod bounded;
mod files;
mod glob;
mod offer;
mod search;
mod shell;

use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_process::beneath::{BeneathError, Links, Root};

use super::wire::{Tool, UNREADABLE};
pub(super) use bounded::bounded;

/// The tool that the model gives its answer with.
pub(super) const ANSWER: &str = "answer";

/// What uses the tools.
pub(super) struct Hands {
    /// Links that stay in the lane are followed.
    read: Root,
    /// Nothing is written over a link.
    write: Root,
    lane: PathBuf,
    tools: Vec<Tool>,
    /// Variables that commands do not get.
    withheld: Vec<String>,
}

/// What came of using a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Did {
    pub text: String,
    /// A file that was changed, from the lane.
    pub changed: Option<String>,
}

impl Did {
    fn said(text: impl Into<String>) -> Self {
        Did { text: text.into(), changed: None }
    }
}

/// Why a tool could not be used, in words for the model.
pub(super) type Cannot = String;

impl Hands {
    /// In a lane, with what a role may use by the words that roles use; everything, if there is none.
    pub fn new(
        lane: &Path,
        may_use: &[String],
        schema: &Value,
        withheld: Vec<String>,
    ) -> io::Result<Self> {
        Ok(Hands {
            read: Root::open(lane, Links::Follow)?,
            write: Root::open(lane, Links::Refuse)?,
            lane: lane.to_owned(),
            tools: offer::offered(may_use, schema),
            withheld,
        })
    }

    /// What the model may use, in an order that stays the same.
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }

    /// Whether there is such a tool.
    pub fn has(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Uses a tool.
    pub fn using(&self, name: &str, input: &Value) -> Result<Did, Cannot> {
        if let Some(text) = input[UNREADABLE].as_str() {
            let start = &text[..text.floor_char_boundary(200)];
            return Err(format!("what `{name}` was given is no JSON object: {start}"));
        }
        match name {
            _ if !self.has(name) => Err(format!("there is no tool `{name}` here")),
            "read" => self.read(input),
            "write" => self.write(input),
            "edit" => self.edit(input),
            "search" => self.search(input),
            "shell" => self.shell(input),
            _ => Err(format!("there is no tool `{name}` here")),
        }
    }

    /// A path from the lane. Models like to name files from the top of the file system.
    fn path(&self, input: &Value) -> Result<PathBuf, Cannot> {
        let path = Path::new(text(input, "path")?);
        Ok(path.strip_prefix(&self.lane).unwrap_or(path).to_owned())
    }
}

/// On what a tool is used, in a line.
pub(super) fn about(input: &Value) -> String {
    let keys = ["path", "command", "pattern", "glob"];
    keys.iter().find_map(|key| input[*key].as_str()).unwrap_or_default().to_owned()
}

fn text<'i>(input: &'i Value, key: &str) -> Result<&'i str, Cannot> {
    input[key].as_str().ok_or_else(|| format!("`{key}` is missing, or is no text"))
}

fn number(input: &Value, key: &str) -> Option<u64> {
    // Some models write numbers as text.
    input[key].as_u64().or_else(|| input[key].as_str()?.trim().parse().ok())
}

/// Why a file could not be had, for the model.
fn refused(error: &BeneathError) -> Cannot {
    match error {
        BeneathError::Outside { path, .. } => {
            format!(
                "{} is outside of the working directory: only what is below it can be had",
                path.display()
            )
        }
        BeneathError::Link { path, .. } => {
            format!("{} is a symbolic link, or below one: name what it leads to", path.display())
        }
        BeneathError::NotAFile { path, .. } => format!("{} is no file", path.display()),
        BeneathError::TooLong { path, bytes_max, .. } => {
            format!("{} has more than {bytes_max} bytes", path.display())
        }
        BeneathError::Io { path, source, .. } => format!("{}: {source}", path.display()),
    }
}

#[cfg(test)]
mod tests;
