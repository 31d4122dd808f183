//! Which files a change may touch: paths, each with all that is below it, and patterns.

use super::Below;

/// The files that a change may touch. Nothing said means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope(Vec<Vec<String>>);

/// What stands for a scope without bounds.
pub const NO_LIMIT: &str = "(no limit)";

impl Scope {
    /// Paths and patterns, divided by commas or lines. `*` and `?` stand for anything in a part, `**` for any parts.
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if text == NO_LIMIT {
            return Scope::default();
        }
        let entries = text.split([',', '\n']).map(str::trim).filter(|entry| !entry.is_empty());
        Scope(entries.flat_map(|entry| Scope::of(entry).0).collect())
    }

    /// One path or pattern, whatever divides others. Nothing in it means all files.
    pub fn of(entry: &str) -> Self {
        let plain = entry.replace('\\', "/");
        let parts = plain.split('/').filter(|part| !part.is_empty() && *part != ".");
        Scope(vec![parts.map(str::to_owned).collect()])
    }

    /// Whether a file is in it.
    pub fn covers(&self, path: &Below) -> bool {
        let path: Vec<&str> = path.as_str().split('/').collect();
        self.0.is_empty() || self.0.iter().any(|pattern| reaches(pattern, &path))
    }
}

/// Whether a pattern fits a path, or something above it.
fn reaches(pattern: &[String], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        ([first, rest @ ..], _) if first == "**" => {
            (0..=path.len()).any(|from| path.get(from..).is_some_and(|path| reaches(rest, path)))
        }
        ([first, rest @ ..], [name, below @ ..]) => fits(first, name) && reaches(rest, below),
        ([_, ..], []) => false,
    }
}

/// Whether a part of a pattern fits a name: by one walk, with one place to come back to.
fn fits(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(letter) if *letter == '?' || *letter == name[n] => {
                p += 1;
                n += 1;
            }
            Some(_) | None => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    n = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|letter| *letter == '*'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_covers_what_it_names_and_what_is_below() {
        for (scope, inside, outside) in [
            ("src", &["src/a", "src/b/c", "src"][..], &["srcs/a", "a/src/b", "README"][..]),
            ("src/, tests/*.rs", &["src/x", "tests/a.rs"], &["tests/a.txt", "tests"]),
            ("./src\\core", &["src/core/a"], &["src/a"]),
            ("**/*.md", &["a.md", "x/y/b.md"], &["a.mdx", "md"]),
            ("a/**/z", &["a/z", "a/b/c/z", "a/b/z/deep"], &["a/b", "z"]),
            ("f?o*r", &["foo-bar", "fxor"], &["for", "fooba"]),
        ] {
            let own = Scope::parse(scope);
            let covers = |path: &&&str| own.covers(&Below::parse(path).unwrap());
            assert!(inside.iter().all(|path| covers(&path)), "{scope}: {inside:?}");
            assert!(!outside.iter().any(|path| covers(&path)), "{scope}: {outside:?}");
        }
        for all in ["", "  ", NO_LIMIT, ","] {
            assert!(Scope::parse(all).covers(&Below::parse("any/where").unwrap()), "{all:?}");
        }
    }

    #[test]
    fn a_pattern_that_is_meant_to_take_long_does_not() {
        let pattern = "*a".repeat(60);
        assert!(!fits(&pattern, &"a".repeat(59)));
        assert!(fits(&pattern, &"a".repeat(200)));
    }
}
