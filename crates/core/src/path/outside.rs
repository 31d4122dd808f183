//! Paths that come from outside, and what they are for: where a session's papers go, files that a report names, files that a
//! patch changes (T21). One walk of rules for all of them, whatever the platform's separators are.
//!
//! Names are compared the way that the most careless file system compares them: without regard to case, to characters
//! that some of them ignore, and to the dots and spaces at the end that others drop.

use std::fmt;

use super::{BadPath, Below, Scope};

/// What a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For<'a> {
    /// Where the papers of a session go.
    Output,
    /// A file of the work that somebody is to look at.
    Reference,
    /// A file of the work that is changed, within a scope.
    Target(&'a Scope),
}

/// Why a path is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is none.
    Empty,
    /// It is on another machine.
    Unc,
    /// It starts at a root.
    Absolute,
    /// It has `..` in it.
    Leaves,
    /// It begins with a name that is taken.
    Reserved,
    /// It is below `docs/`, and not where papers may go.
    Docs,
    /// It belongs to the session, or to git, and not to the work.
    Apart,
    /// It is outside of the scope.
    Scope,
    /// It is no name on some platform.
    Name,
    /// It cannot be the name of a file.
    Bad(BadPath),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Empty => "output-dir cannot be empty.",
            Refused::Unc => "UNC paths are not allowed.",
            Refused::Absolute => "output-dir must be a relative path.",
            Refused::Leaves => "output-dir must not contain '..'.",
            Refused::Reserved => "output-dir value starts with a reserved directory name.",
            Refused::Docs => "output-dir under docs/ must be docs/harness/...",
            Refused::Apart => "it belongs to the session or to git, and not to the work",
            Refused::Scope => "it is outside of the scope",
            Refused::Name => "a part of it is no name on every platform",
            Refused::Bad(bad) => return bad.fmt(f),
        })
    }
}

/// First parts that papers may not have: a session's own directories.
const RESERVED: [&str; 8] =
    ["memory", "spec", "planner", "generator", "evaluator", "verify", "harness", ".harness"];

/// Names that mean a device on some platform, whatever comes after a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

impl For<'_> {
    /// Takes a path for this, in one form: relative, with slashes, without `.` and empty parts.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn take(self, text: &str) -> Result<Below, Refused> {
        if text.is_empty() {
            return Err(Refused::Empty);
        }
        let plain = text.replace('\\', "/");
        if plain.starts_with("//") {
            return Err(Refused::Unc);
        }
        let has_drive = plain.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
            && plain[1..].starts_with(':');
        if plain.starts_with('/') || has_drive {
            return Err(Refused::Absolute);
        }
        let parts: Vec<&str> =
            plain.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        if parts.iter().any(|part| *part == ".." || folded(part).is_empty()) {
            return Err(Refused::Leaves);
        }
        if parts.is_empty() {
            return Err(Refused::Empty);
        }
        if parts.iter().any(|part| is_no_name(part)) {
            return Err(Refused::Name);
        }
        let folded: Vec<String> = parts.iter().map(|part| folded(part)).collect();
        let folded: Vec<&str> = folded.iter().map(String::as_str).collect();
        self.own_rules(&folded)?;
        let path = Below::parse(&parts.join("/")).map_err(Refused::Bad)?;
        match self {
            For::Target(scope) if !scope.covers(&path) => Err(Refused::Scope),
            For::Output | For::Reference | For::Target(_) => Ok(path),
        }
    }

    fn own_rules(self, parts: &[&str]) -> Result<(), Refused> {
        match (self, parts) {
            (For::Output, [first, ..]) if RESERVED.contains(first) => Err(Refused::Reserved),
            (For::Output, ["docs", "harness", ..]) => Ok(()),
            (For::Output, ["docs", ..]) => Err(Refused::Docs),
            (For::Output, parts) if parts.contains(&".git") => Err(Refused::Reserved),
            (For::Output, _) => Ok(()),
            (
                For::Reference | For::Target(_),
                [".harness" | "memory", ..] | ["docs", "harness", ..],
            ) => Err(Refused::Apart),
            (For::Reference | For::Target(_), parts) if parts.contains(&".git") => {
                Err(Refused::Apart)
            }
            (For::Reference | For::Target(_), _) => Ok(()),
        }
    }
}

/// A name as the most careless file system has it.
fn folded(part: &str) -> String {
    let ignored = |letter: &char| matches!(letter, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let lower = part.chars().filter(|letter| !ignored(letter)).flat_map(char::to_lowercase);
    let name: String = lower.collect();
    let name = name.trim_end_matches(['.', ' ']);
    // What an old file system calls it, and a part of a file that has several.
    match name.split_once(':').map_or(name, |(name, _)| name) {
        "git~1" => ".git".to_owned(),
        "harnes~1" => ".harness".to_owned(),
        name => name.to_owned(),
    }
}

/// Whether a part is a device somewhere, or is another name somewhere.
fn is_no_name(part: &str) -> bool {
    let name = folded(part);
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|rest| {
        matches!(rest.chars().next(), Some('0'..='9' | '¹' | '²' | '³'))
            && rest.chars().count() == 1
    });
    let odd = part.ends_with(['.', ' ']) || part.contains([':', '*', '?', '"', '<', '>', '|']);
    odd || is_port || DEVICES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn take(text: &str, what: For<'_>) -> Result<String, Refused> {
        what.take(text).map(|path| path.as_str().to_owned())
    }

    #[test]
    fn the_seeds_attacks_are_refused_where_it_says() {
        for (text, want, words) in [
            (
                ".harness",
                Refused::Reserved,
                "output-dir value starts with a reserved directory name.",
            ),
            ("docs/../../etc", Refused::Leaves, "output-dir must not contain '..'."),
            ("\\\\server\\share", Refused::Unc, "UNC paths are not allowed."),
            ("/absolute/path", Refused::Absolute, "output-dir must be a relative path."),
            (
                "memory/foo",
                Refused::Reserved,
                "output-dir value starts with a reserved directory name.",
            ),
            ("", Refused::Empty, "output-dir cannot be empty."),
            ("docs/other", Refused::Docs, "output-dir under docs/ must be docs/harness/..."),
        ] {
            assert_eq!(
                (take(text, For::Output), want.to_string().as_str()),
                (Err(want.clone()), words),
                "{text}"
            );
        }
    }

    #[test]
    fn where_papers_may_go() {
        for (text, want) in [
            ("docs/harness", "docs/harness"),
            ("docs/harness/a/", "docs/harness/a"),
            ("docs\\harness\\a", "docs/harness/a"),
            ("./out//papers/", "out/papers"),
            ("out/memory", "out/memory"),
            ("harnessed", "harnessed"),
            ("..a/b..c", "..a/b..c"),
        ] {
            assert_eq!(take(text, For::Output).as_deref(), Ok(want), "{text}");
        }
        for (text, want) in [
            ("//server/share", Refused::Unc),
            ("C:/x", Refused::Absolute),
            ("c:\\x", Refused::Absolute),
            ("C:x", Refused::Absolute),
            ("a\\..\\b", Refused::Leaves),
            ("a/.. /b", Refused::Leaves),
            ("a/.../b", Refused::Leaves),
            ("./.harness", Refused::Reserved),
            (".Harness/x", Refused::Reserved),
            ("MEMORY", Refused::Reserved),
            ("memory.", Refused::Name),
            (".h\u{200c}arness", Refused::Reserved),
            ("a/.git/hooks", Refused::Reserved),
            ("a/GIT~1/hooks", Refused::Reserved),
            ("docs", Refused::Docs),
            ("DOCS/other", Refused::Docs),
            ("a/NUL", Refused::Name),
            ("a/com1.txt", Refused::Name),
            ("a/b:stream", Refused::Name),
            ("a/b ", Refused::Name),
            (".", Refused::Empty),
            ("/", Refused::Absolute),
        ] {
            assert_eq!(take(text, For::Output), Err(want), "{text}");
        }
        let long = "x/".repeat(3_000);
        for bad in ["a\0b", "a\nb", &long] {
            assert!(matches!(take(bad, For::Output), Err(Refused::Bad(_))), "{bad:?}");
        }
    }

    #[test]
    fn files_of_the_work_are_no_papers_of_the_session() {
        let all = Scope::parse("(no limit)");
        let src = Scope::parse("src, docs/*.md");
        assert_eq!(take("src\\a.rs", For::Reference).as_deref(), Ok("src/a.rs"));
        for text in
            [".harness/x", "docs/harness/a/spec.md", "memory/x", ".git/config", "sub/.GIT/x"]
        {
            assert_eq!(take(text, For::Reference), Err(Refused::Apart), "{text}");
            assert_eq!(take(text, For::Target(&all)), Err(Refused::Apart), "{text}");
        }
        assert_eq!(take("src/a.rs", For::Target(&src)).as_deref(), Ok("src/a.rs"));
        assert_eq!(take("docs/a.md", For::Target(&src)).as_deref(), Ok("docs/a.md"));
        assert_eq!(take("other/a.rs", For::Target(&src)), Err(Refused::Scope));
        assert_eq!(take("srcs/a.rs", For::Target(&src)), Err(Refused::Scope));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_taken_stays_below_and_is_taken_again(
            text in r"(\.{1,3}|[a-zA-Z.: ~\\/]{0,6}|docs|harness|\.git|\.harness|memory|[\u{200b}-\u{200f}]|nul|[^\u{0}]{0,3}|/|\\){0,8}"
        ) {
            let all = Scope::parse("");
            for what in [For::Output, For::Reference, For::Target(&all)] {
                let Ok(path) = what.take(&text) else { continue };
                let parts: Vec<&str> = path.as_str().split('/').collect();
                prop_assert!(!path.as_str().contains('\\') && !path.as_str().starts_with('/'));
                prop_assert!(parts.iter().all(|part| !part.is_empty() && !part.chars().all(|it| it == '.')));
                prop_assert!(!parts.iter().any(|part| part.eq_ignore_ascii_case(".git")));
                prop_assert!(!parts[0].eq_ignore_ascii_case(".harness"));
                let again = what.take(path.as_str());
                prop_assert_eq!(again, Ok(path), "the same once more");
            }
        }
    }
}
