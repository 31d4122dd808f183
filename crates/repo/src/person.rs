//! Who a commit is from, and when it was made.
//!
//! Both come from outside and never from the clock or the environment: the same request makes the
//! same commit, which is how a landing that was interrupted is recognised.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::RepoError;

/// A name and an address, as they stand in a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    name: String,
    email: String,
}

impl Person {
    /// Takes a name and an address that git would not change.
    pub fn new(name: &str, email: &str) -> Result<Person, RepoError> {
        let crud = |c: char| c.is_control() || "<>".contains(c);
        // Git strips these from both ends.
        let edge = |c: char| c <= ' ' || ".,:;<>\"\\'".contains(c);
        let (name, email) = (name.trim_matches(edge), email.trim_matches(edge));
        match [name, email].iter().find(|text| text.is_empty() || text.contains(crud)) {
            Some(text) => Err(RepoError::BadIdentity { what: (*text).to_owned() }),
            None => Ok(Person { name: name.to_owned(), email: email.to_owned() }),
        }
    }

    /// Windlass itself: the committer of what it commits.
    pub fn windlass() -> Person {
        Person { name: "Windlass".into(), email: "windlass@localhost".into() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The address.
    pub fn email(&self) -> &str {
        &self.email
    }
}

impl fmt::Display for Person {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} <{}>", self.name, self.email)
    }
}

/// A moment, to the second, as it stands in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct When {
    /// Seconds since 1970.
    pub seconds: u64,
    /// How far the person's clock was ahead of UTC.
    pub offset_minutes: i16,
}

impl When {
    /// The moment, by a clock that shows UTC.
    pub fn utc(seconds: u64) -> When {
        When { seconds, offset_minutes: 0 }
    }
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.offset_minutes < 0 { '-' } else { '+' };
        let minutes = self.offset_minutes.unsigned_abs();
        write!(f, "@{} {sign}{:02}{:02}", self.seconds, minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_git_would_change_is_changed_here_or_refused() {
        let person = Person::new(" Zoë O'Neill, ", "zoe@example.org").unwrap();
        assert_eq!(person.to_string(), "Zoë O'Neill <zoe@example.org>");
        for (name, email) in
            [("", "a@b"), ("A", ""), ("A\nB", "a@b"), ("A<B", "a@b"), (".,", "a@b")]
        {
            assert!(Person::new(name, email).is_err(), "{name:?} {email:?}");
        }
    }

    #[test]
    fn a_moment_reads_as_git_reads_it() {
        assert_eq!(When::utc(5).to_string(), "@5 +0000");
        let there = When { seconds: 1_700_000_000, offset_minutes: -210 };
        assert_eq!(there.to_string(), "@1700000000 -0330");
    }
}
