//! The name of an object: 40 or 64 hexadecimal digits, and nothing else ever reaches git as one.

use std::{fmt, sync::Arc};

use serde::{Deserialize, Serialize};

/// The name of a commit, tree or blob.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Oid(Arc<str>);

/// What should have been the name of an object.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not the name of a git object (40 or 64 hexadecimal digits)")]
pub struct NotAnOid(String);

impl Oid {
    /// Reads a name. Upper case is not one: git never writes it.
    pub fn parse(text: &str) -> Result<Oid, NotAnOid> {
        let digits = text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        match text.len() {
            40 | 64 if digits => Ok(Oid(text.into())),
            _ => Err(NotAnOid(text.chars().take(80).collect())),
        }
    }

    /// Reads what git printed: a name, perhaps with a line end.
    pub(crate) fn printed(bytes: &[u8]) -> Result<Oid, NotAnOid> {
        Oid::parse(String::from_utf8_lossy(bytes).trim_end())
    }

    /// The name that a digest is.
    pub(crate) fn of_digest(hex: String) -> Oid {
        Oid(hex.into())
    }

    /// The digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, for names that people read.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }

    /// The name that stands for no object, as long as this one.
    pub(crate) fn zero_like(&self) -> String {
        "0".repeat(self.0.len())
    }

    /// The same as a name.
    pub(crate) fn nought(&self) -> Oid {
        Oid(self.zero_like().into())
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Oid {
    type Error = NotAnOid;

    fn try_from(text: String) -> Result<Oid, NotAnOid> {
        Oid::parse(&text)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> String {
        oid.0.as_ref().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_lower_case_names_are_taken() {
        assert!(Oid::parse(&"a".repeat(40)).is_ok());
        assert!(Oid::parse(&"0".repeat(64)).is_ok());
        for wrong in ["", "abc", "HEAD", &"A".repeat(40), &"a".repeat(41), &"g".repeat(40)] {
            assert!(Oid::parse(wrong).is_err(), "{wrong}");
        }
        assert!(Oid::printed(b"0123456789012345678901234567890123456789\n").is_ok());
        assert!(Oid::printed(b"0123456789012345678901234567890123456789 x\n").is_err());
    }
}
