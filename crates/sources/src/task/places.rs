//! Paths of a session: where its papers may go, and which files of a report are of the work (T21).

use std::fmt;

use windlass_core::path::{Below, Refused as Walks, Walked};

/// What a path is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum For {
    /// Where the papers of a session go.
    Output,
    /// A file of the work that somebody is to look at.
    Reference,
}

/// Why a path is not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// It leads out, or is no name.
    Walks(Walks),
    /// It begins with a name that is taken.
    Reserved,
    /// It is below `docs/`, and not where papers may go.
    Docs,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Refused::Walks(Walks::Empty) => "output-dir cannot be empty.",
            Refused::Walks(Walks::Unc) => "UNC paths are not allowed.",
            Refused::Walks(Walks::Absolute) => "output-dir must be a relative path.",
            Refused::Walks(Walks::Leaves) => "output-dir must not contain '..'.",
            Refused::Reserved => "output-dir value starts with a reserved directory name.",
            Refused::Docs => "output-dir under docs/ must be docs/harness/...",
            Refused::Walks(other) => return other.fmt(f),
        })
    }
}

/// First parts that papers may not have: a session's own directories.
const RESERVED: [&str; 8] =
    ["memory", "spec", "planner", "generator", "evaluator", "verify", "harness", ".harness"];

/// Where a session's own things are, wherever its papers go: no change of the work touches them.
pub const APART: [&str; 3] = [super::HARNESS, "memory", super::OUTPUT_BASE];

impl For {
    /// Takes a path for this, in one form: relative, with slashes, without `.` and empty parts.
    ///
    /// # Errors
    ///
    /// When it is not one.
    pub fn take(self, text: &str) -> Result<Below, Refused> {
        let walked = Walked::of(text).map_err(Refused::Walks)?;
        match (self, walked.parts().as_slice()) {
            (For::Output, [first, ..]) if RESERVED.contains(first) => Err(Refused::Reserved),
            (For::Output, ["docs", "harness", ..]) => Ok(walked.into_path()),
            (For::Output, ["docs", ..]) => Err(Refused::Docs),
            (For::Output, _) if walked.is_gits() => Err(Refused::Reserved),
            (For::Reference, _)
                if walked.is_gits() || APART.iter().any(|place| walked.is_below(place)) =>
            {
                Err(Refused::Walks(Walks::Apart))
            }
            (For::Output | For::Reference, _) => Ok(walked.into_path()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(text: &str, what: For) -> Result<String, Refused> {
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
            ("docs/../../etc", Refused::Walks(Walks::Leaves), "output-dir must not contain '..'."),
            ("\\\\server\\share", Refused::Walks(Walks::Unc), "UNC paths are not allowed."),
            (
                "/absolute/path",
                Refused::Walks(Walks::Absolute),
                "output-dir must be a relative path.",
            ),
            (
                "memory/foo",
                Refused::Reserved,
                "output-dir value starts with a reserved directory name.",
            ),
            ("", Refused::Walks(Walks::Empty), "output-dir cannot be empty."),
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
            ("c:\\x", Refused::Walks(Walks::Absolute)),
            ("./.harness", Refused::Reserved),
            (".Harness/x", Refused::Reserved),
            ("MEMORY", Refused::Reserved),
            ("memory.", Refused::Walks(Walks::Name)),
            (".h\u{200c}arness", Refused::Reserved),
            ("a/.git/hooks", Refused::Reserved),
            ("a/GIT~1/hooks", Refused::Reserved),
            ("docs", Refused::Docs),
            ("DOCS/other", Refused::Docs),
            (".", Refused::Walks(Walks::Empty)),
        ] {
            assert_eq!(take(text, For::Output), Err(want), "{text}");
        }
    }

    #[test]
    fn files_of_the_work_are_no_papers_of_the_session() {
        assert_eq!(take("src\\a.rs", For::Reference).as_deref(), Ok("src/a.rs"));
        for text in
            [".harness/x", "docs/harness/a/spec.md", "memory/x", ".git/config", "sub/.GIT/x"]
        {
            let apart = Err(Refused::Walks(Walks::Apart));
            assert_eq!(take(text, For::Reference), apart, "{text}");
        }
    }
}
