//! Paths that somebody else names, as text: what they may look like before anybody opens anything.
//!
//! A path that is kept to its root by its look alone can still lead out of it through a link; whoever opens it opens it
//! beneath the root as well.

mod outside;
mod scope;

use std::fmt;

pub use outside::{Refused, Walked};
pub use scope::{NO_LIMIT, Scope};

/// Longer ones cannot be opened anyway.
const BYTES_MAX: usize = 4_096;
const PART_BYTES_MAX: usize = 255;

/// A path below some root: relative, its parts divided by single slashes, none of them `.` or `..`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Below(String);

impl Below {
    /// Takes a path that stays below its root by its look.
    ///
    /// # Errors
    ///
    /// When it does not, or could not be the name of a file.
    pub fn parse(text: &str) -> Result<Below, BadPath> {
        let bad = |why| Err(BadPath { path: text.to_owned(), why });
        if text.is_empty() {
            return bad(Flaw::Empty);
        }
        if text.len() > BYTES_MAX {
            return bad(Flaw::Long);
        }
        if text.starts_with('/') {
            return bad(Flaw::Absolute);
        }
        if text.chars().any(char::is_control) {
            return bad(Flaw::Control);
        }
        for part in text.split('/') {
            match part {
                ".." => return bad(Flaw::Leaves),
                "" | "." => return bad(Flaw::Part),
                part if part.len() > PART_BYTES_MAX => return bad(Flaw::Long),
                _ => {}
            }
        }
        Ok(Below(text.to_owned()))
    }

    /// The path.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A path that is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{}` {why}", path.escape_debug())]
pub struct BadPath {
    /// The path.
    pub path: String,
    /// What is wrong with it.
    pub why: Flaw,
}

/// What is wrong with a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// There is nothing.
    Empty,
    /// It starts at the root of the file system.
    Absolute,
    /// It has `..` in it.
    Leaves,
    /// It has an empty part, or one that is `.`.
    Part,
    /// It has a control character in it.
    Control,
    /// It is longer than a path may be.
    Long,
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Flaw::Empty => "is empty",
            Flaw::Absolute => "leads out of its root: it is absolute",
            Flaw::Leaves => "leads out of its root: it has `..` in it",
            Flaw::Part => "has an empty part or a `.` in it",
            Flaw::Control => "has a control character in it",
            Flaw::Long => "is too long",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stays_below_is_taken() {
        for path in [".env", "a/b c/ü", "...", "..a/b..", "-n", "a\\..\\b"] {
            assert_eq!(Below::parse(path).as_ref().map(Below::as_str), Ok(path));
        }
    }

    #[test]
    fn what_leads_out_or_is_no_name_is_not() {
        let long = "x".repeat(256);
        let longer = "x/".repeat(3_000);
        for (path, why) in [
            ("", Flaw::Empty),
            ("/etc/passwd", Flaw::Absolute),
            ("..", Flaw::Leaves),
            ("a/../../b", Flaw::Leaves),
            ("a/..", Flaw::Leaves),
            (".", Flaw::Part),
            ("./a", Flaw::Part),
            ("a//b", Flaw::Part),
            ("a/", Flaw::Part),
            ("a\0b", Flaw::Control),
            ("a\nb", Flaw::Control),
            (&long, Flaw::Long),
            (&longer, Flaw::Long),
        ] {
            assert_eq!(Below::parse(path).map_err(|bad| bad.why), Err(why), "{path}");
        }
        let bad = Below::parse("a\u{1b}[2J").unwrap_err();
        assert!(!bad.to_string().contains('\u{1b}'), "{bad}");
    }
}
