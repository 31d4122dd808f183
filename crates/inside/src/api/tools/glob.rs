//! Names of files by pattern: `*.rs`, `src/**/*.py`, `{a,b}?.txt`.

use std::path::Path;

use regex::Regex;

/// Fits paths from the lane.
pub(super) struct Glob {
    regex: Regex,
    /// Without a slash it is about names, wherever the file is.
    whole: bool,
}

impl Glob {
    pub fn new(pattern: &str) -> Result<Self, String> {
        let pattern = pattern.trim_start_matches("./");
        let whole = pattern.contains('/');
        let mut regex = String::from("^");
        let mut rest = pattern.trim_start_matches('/').chars().peekable();
        let mut depth = 0_u32;
        while let Some(letter) = rest.next() {
            match letter {
                '*' if rest.peek() == Some(&'*') => {
                    rest.next();
                    if rest.peek() == Some(&'/') {
                        rest.next();
                        regex.push_str("(?:.*/)?");
                    } else {
                        regex.push_str(".*");
                    }
                }
                '*' => regex.push_str("[^/]*"),
                '?' => regex.push_str("[^/]"),
                '{' => {
                    depth += 1;
                    regex.push_str("(?:");
                }
                '}' if depth > 0 => {
                    depth -= 1;
                    regex.push(')');
                }
                ',' if depth > 0 => regex.push('|'),
                other => regex.push_str(&regex::escape(other.encode_utf8(&mut [0; 4]))),
            }
        }
        regex.push('$');
        let regex = Regex::new(&regex).map_err(|_| format!("`{pattern}` is no glob"))?;
        Ok(Glob { regex, whole })
    }

    pub fn fits(&self, path: &Path) -> bool {
        let part = if self.whole { Some(path.as_os_str()) } else { path.file_name() };
        part.and_then(|part| part.to_str()).is_some_and(|part| self.regex.is_match(part))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_fits_names_or_whole_paths() {
        let fits = |glob: &str, path: &str| Glob::new(glob).unwrap().fits(Path::new(path));
        for (glob, path) in [
            ("*.rs", "src/main.rs"),
            ("src/*.rs", "src/main.rs"),
            ("src/**/*.rs", "src/main.rs"),
            ("src/**/*.rs", "src/a/b/main.rs"),
            ("**/main.rs", "main.rs"),
            ("./src/**", "src/a/b"),
            ("{a,b}?.t+t", "x/b1.t+t"),
        ] {
            assert!(fits(glob, path), "{glob} {path}");
        }
        for (glob, path) in [
            ("*.rs", "src/main.rsx"),
            ("src/*.rs", "src/a/main.rs"),
            ("src/*.rs", "lib/src/main.rs"),
            ("?.txt", "ab.txt"),
        ] {
            assert!(!fits(glob, path), "{glob} {path}");
        }
        assert!(Glob::new("{a").is_err());
    }
}
