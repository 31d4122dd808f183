//! The text of a definition or a catalogue, and the name that messages about it carry.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use crate::builtin::BuiltIn;
use crate::error::Error;

#[derive(Debug)]
pub struct Document {
    pub name: String,
    pub text: String,
    pub from: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    File,
}

impl From<BuiltIn> for Document {
    fn from(workflow: BuiltIn) -> Self {
        let name = format!("{}.toml", workflow.name);
        Self { name, text: workflow.text.to_owned(), from: Origin::BuiltIn }
    }
}

/// A definition has at most 1 MiB. What is longer is refused by the language, and is not read to its end: it may have
/// none.
const READ_MAX: u64 = 1 << 20;

impl Document {
    pub fn read(path: &Path) -> Result<Self, Error> {
        match text(path) {
            Ok(text) => Ok(Self { name: path.display().to_string(), text, from: Origin::File }),
            Err(Unread::Io(source)) => Err(Error::unreadable(path, source)),
            Err(Unread::NotText { line }) => {
                let (path, none) = (path.display(), "the first byte that is none");
                let what = format!("{path} is not UTF-8: {none} stands in line {line}");
                Err(Error::here(what).hint("save it as UTF-8"))
            }
        }
    }
}

enum Unread {
    Io(io::Error),
    NotText { line: usize },
}

impl From<io::Error> for Unread {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn text(path: &Path) -> Result<String, Unread> {
    let mut bytes = Vec::new();
    File::open(path)?.take(READ_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > READ_MAX {
        // Cut off anywhere, so perhaps in the middle of a character.
        return Ok(String::from_utf8_lossy(&bytes).into_owned());
    }
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        Unread::NotText { line: sound.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_not_read_to_its_end() {
        let source = Document::read(Path::new("/dev/zero")).expect("readable");
        assert_eq!(source.text.len() as u64, READ_MAX + 1);
    }
}
