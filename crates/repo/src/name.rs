//! Names that come from outside, made safe.
//!
//! The ids of runs and units are whatever a person, a tracker or an agent wrote. In a ref they
//! become one component each, by an encoding that cannot make a bad ref, cannot leave its place
//! and gives two ids two names, on file systems that fold case as well. Branch names are different:
//! they are shown to people and so taken as they are, or refused.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An id as one component of a ref: lower case letters, digits, `-` and `_` stand for themselves,
/// every other byte is `%` and two digits. What would be too long for a file name is cut, and gets
/// a digest of the whole.
pub(crate) fn component(id: impl AsRef<[u8]>) -> String {
    let id = id.as_ref();
    const WHOLE_MAX: usize = 120;
    const KEPT: usize = 60;
    if id.is_empty() {
        return "%".into();
    }
    let mut name = String::with_capacity(id.len());
    for (at, &byte) in id.iter().enumerate() {
        let plain = byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
        if plain || (byte == b'-' && at > 0) {
            name.push(byte.into());
        } else {
            name.push_str(&format!("%{byte:02x}"));
        }
    }
    if name.len() > WHOLE_MAX {
        let digest = blake3::hash(id).to_hex();
        name.truncate(KEPT);
        // No other name has two of these in a row.
        name.push_str("%%");
        name.push_str(&digest[..32]);
    }
    name
}

/// The id that a component stands for; what was cut stays so.
pub(crate) fn decoded(component: &str) -> String {
    let mut bytes = Vec::with_capacity(component.len());
    let mut rest = component;
    while let Some(at) = rest.find('%') {
        bytes.extend(rest[..at].bytes());
        let digits = rest.get(at + 1..at + 3).and_then(|hex| u8::from_str_radix(hex, 16).ok());
        let Some(byte) = digits else { break };
        bytes.push(byte);
        rest = &rest[at + 3..];
        continue;
    }
    bytes.extend(rest.bytes());
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Where the refs of a unit are, in the result store.
pub(crate) fn unit_refs(run: &str, unit: &str) -> String {
    format!("refs/windlass/{}/{}", component(run), component(unit))
}

/// A branch, by the name people use for it (`main`, not `refs/heads/main`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Branch(String);

/// A name that no branch can have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} cannot be the name of a branch: {why}")]
pub struct NotABranch {
    name: String,
    why: &'static str,
}

impl Branch {
    /// Takes a name by git's own rules, and a little stricter: nothing that reads as an option.
    pub fn new(name: &str) -> Result<Branch, NotABranch> {
        match unusable(name) {
            None => Ok(Branch(name.to_owned())),
            Some(why) => Err(NotABranch { name: name.chars().take(80).collect(), why }),
        }
    }

    /// The branch of a unit in its own lane, below a prefix: the unit's id where people can read it
    /// as part of a name, and else encoded.
    ///
    /// # Errors
    ///
    /// When no branch can begin with the prefix.
    pub fn of_unit(prefix: &str, unit: &str) -> Result<Branch, NotABranch> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        let readable = unit.chars().all(plain) && Branch::new(unit).is_ok();
        let unit = if readable { unit.to_owned() } else { component(unit) };
        Branch::new(&format!("{prefix}/{unit}"))
    }

    /// The branch where the work of a run waits for a person to take it.
    pub(crate) fn waiting(run: &str, count: u32) -> Branch {
        let run = component(run);
        Branch(if count == 1 {
            format!("windlass/{run}")
        } else {
            format!("windlass/{run}-{count}")
        })
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The whole ref.
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }
}

fn unusable(name: &str) -> Option<&'static str> {
    const LENGTH_MAX: usize = 200;
    let bad = |c: char| c.is_control() || " ~^:?*[\\".contains(c);
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    if name.is_empty() {
        Some("it is empty")
    } else if name.len() > LENGTH_MAX {
        Some("it is too long")
    } else if name.starts_with('-') {
        Some("it reads as an option")
    } else if name == "HEAD" || name == "@" {
        Some("git keeps that name for itself")
    } else if name.contains(bad) {
        Some("it has a character that git does not allow")
    } else if name.contains("..") || name.contains("@{") || name.ends_with('.') {
        Some("it has `..` or `@{` in it, or a full stop at the end")
    } else if name.split('/').any(bad_part) {
        Some("one of its parts is empty, starts with a full stop or ends in `.lock`")
    } else {
        None
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Branch {
    type Error = NotABranch;

    fn try_from(name: String) -> Result<Branch, NotABranch> {
        Branch::new(&name)
    }
}

impl From<Branch> for String {
    fn from(branch: Branch) -> String {
        branch.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// Hostile ids, always the same ones.
    fn ids(count: usize) -> impl Iterator<Item = String> {
        const PARTS: &[&str] = &[
            "a",
            "A",
            "b",
            "-",
            "_",
            ".",
            "..",
            "/",
            "@",
            "@{",
            "{",
            "~",
            "^",
            ":",
            "?",
            "*",
            "[",
            "\\",
            ".lock",
            " ",
            "\t",
            "\n",
            "\r",
            "\0",
            "\u{7f}",
            "é",
            "e\u{301}",
            "日本",
            "😀",
            "%",
            "%41",
            "%%",
            "HEAD",
            "refs/heads/main",
            "--upload-pack=x",
            "$(x)",
            "`x`",
            "'",
            "\"",
            ";",
            "|",
            "\u{202e}",
        ];
        let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut next = move |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(seed >> 33).unwrap() % below
        };
        (0..count).map(move |_| {
            let length = if next(20) == 0 { next(400) } else { next(6) };
            (0..length).map(|_| PARTS[next(PARTS.len())]).collect()
        })
    }

    #[test]
    fn ten_thousand_hostile_ids_make_ten_thousand_good_components() {
        let mut seen = BTreeMap::new();
        for id in ids(10_000) {
            let name = component(&id);
            let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"%_-".contains(&b);
            assert!(name.bytes().all(good), "{id:?} → {name}");
            assert!(!name.is_empty() && name.len() <= 120 && !name.starts_with('-'), "{name}");
            if !name.contains("%%") && name != "%" {
                assert_eq!(decoded(&name), id);
            }
            assert_eq!(*seen.entry(name).or_insert(id.clone()), id);
        }
        // Generated more than once: fewer names than ids, but never two ids for one name.
        assert!(seen.len() > 5_000, "{}", seen.len());
    }

    #[test]
    fn ids_that_differ_in_case_or_at_the_far_end_have_names_of_their_own() {
        assert_ne!(component("Ab").to_lowercase(), component("ab").to_lowercase());
        let long = "x".repeat(500);
        assert_ne!(component(format!("{long}1")), component(format!("{long}2")));
        assert_eq!(component(""), "%");
        assert_eq!(component("fix-login_2"), "fix-login_2");
        assert_eq!(component("-x/.."), "%2dx%2f%2e%2e");
    }

    #[test]
    fn a_units_branch_is_a_branch_whatever_the_unit_is_called() {
        let named = |unit: &str| Branch::of_unit("harness", unit).unwrap().to_string();
        assert_eq!(named("F-001"), "harness/F-001");
        assert_eq!(named("F-FIX-2.1"), "harness/F-FIX-2.1");
        assert_eq!(named("../../x"), "harness/%2e%2e%2f%2e%2e%2fx");
        assert_eq!(named("a.lock"), "harness/a%2elock");
        assert!(ids(10_000).all(|id| Branch::of_unit("harness", &id).is_ok()));
        assert!(Branch::of_unit("-x", "a").is_err());
    }

    #[test]
    fn branch_names_follow_the_rules_of_git() {
        for good in ["main", "harness/add-login", "windlass/%41-2", "a.b", "ünï", "a@b", "x{y}"] {
            assert!(Branch::new(good).is_ok(), "{good}");
        }
        for bad in [
            "", "-f", "--all", "a..b", "a b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b", "a/",
            "/a", "a//b", ".a", "a/.b", "a.lock", "a.lock/b", "a.", "@", "HEAD", "a@{b", "a\nb",
            "a\u{7f}",
        ] {
            assert!(Branch::new(bad).is_err(), "{bad:?}");
        }
    }
}
