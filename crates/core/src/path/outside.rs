//! Paths that come from outside: where papers go, files that a report names, files that a change or a patch touches (T21). One
//! walk for all of them, whatever the platform's separators are; what is reserved besides, whoever reserves it says.
//!
//! Names are compared the way that the most careless file system compares them: without regard to case, to characters
//! that some of them ignore, and to the dots and spaces at the end that others drop.

use std::fmt;

use super::{BadPath, Below, Scope};

/// A path that stays below its root on every platform, with its parts as the most careless file system has them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Walked {
    path: Below,
    parts: Vec<String>,
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
            Refused::Empty => "it is empty",
            Refused::Unc => "it is on another machine",
            Refused::Absolute => "it is absolute",
            Refused::Leaves => "it has `..` in it",
            Refused::Apart => "it belongs to the session or to git, and not to the work",
            Refused::Scope => "it is outside of the scope",
            Refused::Name => {
                "a part of it is no name on every platform: those have none of `:*?\"<>|` and neither a dot nor a blank at the end"
            }
            Refused::Bad(bad) => return bad.fmt(f),
        })
    }
}

/// Names that mean a device on some platform, whatever comes after a dot.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

impl Walked {
    /// Takes a path in one form: relative, with slashes, without `.` and empty parts, and with names that every platform has.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn of(text: &str) -> Result<Walked, Refused> {
        let walked = Walked::here(text)?;
        if walked.parts.iter().any(|part| is_device(part)) {
            return Err(Refused::Name);
        }
        Ok(walked)
    }

    /// The same of a file that is there: that some platform has a device of its name says nothing against it.
    fn here(text: &str) -> Result<Walked, Refused> {
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
        if parts.iter().any(|part| is_odd(part)) {
            return Err(Refused::Name);
        }
        let path = Below::parse(&parts.join("/")).map_err(Refused::Bad)?;
        Ok(Walked { path, parts: parts.iter().map(|part| folded(part)).collect() })
    }

    /// A file of the work that is changed, within a scope; `apart` is what is not of the work, with all that is below it.
    ///
    /// # Errors
    ///
    /// When it may not be changed.
    pub fn target(text: &str, scope: &Scope, apart: &[String]) -> Result<Below, Refused> {
        Walked::of(text)?.within(scope, apart)
    }

    /// The same of a file that has been changed, whatever other platforms make of its name.
    ///
    /// # Errors
    ///
    /// When it may not be changed.
    pub fn changed(text: &str, scope: &Scope, apart: &[String]) -> Result<Below, Refused> {
        Walked::here(text)?.within(scope, apart)
    }

    /// The same of what a plan says will be changed, before anything is: of a pattern, whatever fits it.
    ///
    /// # Errors
    ///
    /// When nothing of it could be changed.
    pub fn planned(text: &str, apart: &[String]) -> Result<(), Refused> {
        // What stands for letters stands for those that a name may have.
        Walked::changed(&text.replace(['*', '?'], "x"), &Scope::default(), apart).map(drop)
    }

    fn within(self, scope: &Scope, apart: &[String]) -> Result<Below, Refused> {
        if self.is_gits() || apart.iter().any(|it| self.is_below(it)) {
            return Err(Refused::Apart);
        }
        if scope.covers(&self.path) { Ok(self.path) } else { Err(Refused::Scope) }
    }

    /// Its parts, in small letters, as they are compared.
    pub fn parts(&self) -> Vec<&str> {
        self.parts.iter().map(String::as_str).collect()
    }

    /// Whether it is this directory or file, or below it.
    pub fn is_below(&self, place: &str) -> bool {
        let place: Vec<String> =
            place.split('/').filter(|part| !part.is_empty()).map(folded).collect();
        !place.is_empty() && self.parts.starts_with(&place)
    }

    /// Whether git keeps its own things there.
    pub fn is_gits(&self) -> bool {
        self.parts.iter().any(|part| part == ".git")
    }

    /// The path itself.
    pub fn into_path(self) -> Below {
        self.path
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

/// Letters and ends that some platform has in no name.
fn is_odd(part: &str) -> bool {
    part.ends_with(['.', ' ']) || part.contains([':', '*', '?', '"', '<', '>', '|'])
}

/// Whether a name, folded, means a device on some platform.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let port = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = port.is_some_and(|rest| {
        matches!(rest.chars().next(), Some('0'..='9' | '¹' | '²' | '³'))
            && rest.chars().count() == 1
    });
    is_port || DEVICES.contains(&stem)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ATTACKS: [(&str, Refused); 14] = [
        ("", Refused::Empty),
        (".", Refused::Empty),
        ("/", Refused::Absolute),
        ("/absolute/path", Refused::Absolute),
        ("C:/x", Refused::Absolute),
        ("c:\\x", Refused::Absolute),
        ("C:x", Refused::Absolute),
        ("\\\\server\\share", Refused::Unc),
        ("//server/share", Refused::Unc),
        ("docs/../../etc", Refused::Leaves),
        ("a\\..\\b", Refused::Leaves),
        ("a/.. /b", Refused::Leaves),
        ("a/.../b", Refused::Leaves),
        ("memory.", Refused::Name),
    ];

    #[test]
    fn what_leads_out_or_is_no_name_is_refused() {
        for (text, want) in ATTACKS {
            assert_eq!(Walked::of(text), Err(want), "{text}");
        }
        for text in ["a/NUL", "a/com1.txt", "a/b:stream", "a/b "] {
            assert_eq!(Walked::of(text), Err(Refused::Name), "{text}");
        }
        let long = "x/".repeat(3_000);
        for bad in ["a\0b", "a\nb", &long] {
            assert!(matches!(Walked::of(bad), Err(Refused::Bad(_))), "{bad:?}");
        }
        for (text, want) in [
            ("docs\\harness\\a", "docs/harness/a"),
            ("./out//papers/", "out/papers"),
            ("..a/b..c", "..a/b..c"),
            ("memory/alloc.rs", "memory/alloc.rs"),
        ] {
            let path = Walked::of(text).map(Walked::into_path);
            assert_eq!(path.as_ref().map(Below::as_str), Ok(want), "{text}");
        }
    }

    #[test]
    fn a_change_stays_within_its_scope_and_away_from_what_is_apart() {
        let (all, src) = (Scope::parse("(no limit)"), Scope::parse("src, docs/*.md"));
        let apart = [".harness".to_owned(), "docs/harness/".to_owned()];
        let taken = |text: &str, scope: &Scope| {
            Walked::target(text, scope, &apart).map(|path| path.as_str().to_owned())
        };
        for text in [
            ".harness",
            ".harness/x",
            ".Harness/x",
            ".h\u{200c}arness",
            "HARNES~1/x",
            "docs/HARNESS/a/spec.md",
            ".git/config",
            "sub/.GIT/x",
            "a/GIT~1/hooks",
        ] {
            assert_eq!(taken(text, &all), Err(Refused::Apart), "{text}");
        }
        for text in ["memory/alloc.rs", "docs/harnessed", "harness/x", "a/.harness"] {
            assert_eq!(taken(text, &all).as_deref(), Ok(text));
        }
        assert_eq!(taken("src\\a.rs", &src).as_deref(), Ok("src/a.rs"));
        assert_eq!(taken("docs/a.md", &src).as_deref(), Ok("docs/a.md"));
        assert_eq!(taken("other/a.rs", &src), Err(Refused::Scope));
        assert_eq!(taken("srcs/a.rs", &src), Err(Refused::Scope));
    }

    #[test]
    fn what_is_planned_is_what_may_be_changed() {
        let (all, apart) = (Scope::default(), [".harness".to_owned()]);
        for bad in [
            "a:b",
            "src/a\"b",
            "a<b>",
            "x|y/z",
            "docs/v1.",
            "docs /a",
            "a/.. /b",
            ".git/x",
            ".Harness/x",
        ] {
            let why = Walked::changed(bad, &all, &apart).unwrap_err();
            assert_eq!(Walked::planned(bad, &apart), Err(why), "{bad}");
        }
        for fine in ["src/nul.rs", "docs", "a.b c/d"] {
            assert!(Walked::changed(fine, &all, &apart).is_ok(), "{fine}");
            assert_eq!(Walked::planned(fine, &apart), Ok(()), "{fine}");
        }
        // A pattern is no name: what fits it is one.
        assert_eq!(Walked::planned("src/**/*.r?", &apart), Ok(()));
        assert_eq!(Walked::planned("src/*.", &apart), Err(Refused::Name));
        assert_eq!(Walked::changed("src/a*", &all, &apart), Err(Refused::Name));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn whatever_is_taken_stays_below_and_is_taken_again(
            text in r"(\.{1,3}|[a-zA-Z.: ~\\/]{0,6}|docs|harness|\.git|\.harness|memory|[\u{200b}-\u{200f}]|nul|[^\u{0}]{0,3}|/|\\){0,8}"
        ) {
            if let Ok(path) = Walked::of(&text).map(Walked::into_path) {
                let parts: Vec<&str> = path.as_str().split('/').collect();
                prop_assert!(!path.as_str().contains('\\') && !path.as_str().starts_with('/'));
                prop_assert!(parts.iter().all(|part| !part.is_empty() && !part.chars().all(|it| it == '.')));
                let again = Walked::of(path.as_str()).map(Walked::into_path);
                prop_assert_eq!(again, Ok(path), "the same once more");
            }
            let (all, apart) = (Scope::parse(""), [".harness".to_owned()]);
            if let Ok(path) = Walked::target(&text, &all, &apart) {
                let parts: Vec<&str> = path.as_str().split('/').collect();
                prop_assert!(!parts.iter().any(|part| part.eq_ignore_ascii_case(".git")));
                prop_assert!(!parts[0].eq_ignore_ascii_case(".harness"));
            }
        }
    }
}
