//! What the check `contract` writes down of each assertion, and what reads it: one form, in one place.

/// The check that is about what was asserted.
pub const CONTRACT: &str = "contract";
/// What an assertion begins with that is so.
pub const PASS: &str = "pass";
/// What one begins with that is not.
pub const FAIL: &str = "FAIL";
/// What one begins with of which nobody could tell.
pub(crate) const OPEN: &str = "open";

/// An assertion that does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Its id.
    pub id: String,
    /// What it asserts.
    pub text: String,
    /// What was looked at, and what was seen.
    pub seen: String,
}

/// The line of an assertion.
pub fn line(came: &str, id: &str, text: &str) -> String {
    format!("{came}  {id}: {text}\n")
}

/// What was asserted and is not so, of all that was written down.
pub fn broken(said: &str) -> Vec<Broken> {
    let mut broken: Vec<Broken> = Vec::new();
    let mut about_it = false;
    for line in said.lines() {
        if line.starts_with(' ') {
            if let Some(last) = broken.last_mut().filter(|_| about_it) {
                let apart = if last.seen.is_empty() { "" } else { "; " };
                last.seen.push_str(&format!("{apart}{}", line.trim()));
            }
            continue;
        }
        let failed = line.strip_prefix(FAIL).and_then(|rest| rest.strip_prefix("  "));
        let failed = failed.and_then(|rest| rest.split_once(": "));
        about_it = failed.is_some();
        broken.extend(failed.map(|(id, text)| Broken {
            id: id.to_owned(),
            text: text.to_owned(),
            seen: String::new(),
        }));
    }
    broken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_so_is_found_again_with_what_was_seen() {
        let said = line(PASS, "VAL-A-1", "it adds")
            + "      command `x`: exited with 0\n"
            + &line(FAIL, "VAL-A-2", "it is gone: all of it")
            + "      file b.txt absent: it is there\n        and more\n"
            + &line(OPEN, "VAL-A-3", "it looks good")
            + "      review x: the validator judges this\n.harness/validation-contract.md, line 3: odd\n";
        let seen = "file b.txt absent: it is there; and more".to_owned();
        let (id, text) = ("VAL-A-2".to_owned(), "it is gone: all of it".to_owned());
        assert_eq!(broken(&said), [Broken { id, text, seen }]);
        assert_eq!(broken(""), []);
    }
}
