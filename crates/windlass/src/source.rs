//! The text of a definition or a catalogue, and the name that messages about it carry.

use std::fs;
use std::path::Path;

use crate::builtin::BuiltIn;
use crate::error::Error;

#[derive(Debug)]
pub struct Source {
    pub name: String,
    pub text: String,
    pub from: Origin,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    File,
}

impl From<BuiltIn> for Source {
    fn from(workflow: BuiltIn) -> Self {
        let name = format!("{}.toml", workflow.name);
        Self { name, text: workflow.text.to_owned(), from: Origin::BuiltIn }
    }
}

impl Source {
    pub fn read(path: &Path) -> Result<Self, Error> {
        match fs::read_to_string(path) {
            Ok(text) => Ok(Self { name: path.display().to_string(), text, from: Origin::File }),
            Err(source) => Err(Error::Unreadable { path: path.to_owned(), source }),
        }
    }
}
