//! Why tests fail before the implementation: for the right reason if the new one fails and the old ones do not.

use std::collections::BTreeSet;

use windlass_engine::entry::Check;
use windlass_sources::failure::{Class, Failure, failures};

/// Why they fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The new one does, and no other.
    Right,
    /// Something else is wrong: what.
    Wrong(String),
    /// Nobody can tell by what was printed.
    Unclear,
}

/// Why they fail, by what was printed with the new test, and on the base.
pub fn reason(printed: &str, base: Option<&(Check, String)>) -> Reason {
    let found = failures(printed);
    let before: BTreeSet<String> = match base {
        Some((Check::Fail, text)) => failures(text).into_iter().filter_map(|it| it.test).collect(),
        _ => BTreeSet::new(),
    };
    let new: Vec<&Failure> = found
        .iter()
        .filter(|it| it.test.as_ref().is_none_or(|test| !before.contains(test)))
        .collect();
    if new.is_empty() {
        return Reason::Unclear;
    }
    if let Some(old) = new
        .iter()
        .filter_map(|it| it.test.as_deref())
        .find(|test| base.is_some_and(|(_, text)| names(text, test)))
    {
        return Reason::Wrong(format!("a test that was there before fails: {old}"));
    }
    if new.iter().all(|it| it.class == Class::SyntaxError) {
        let what = &new[0].message;
        return Reason::Wrong(format!("the new test cannot be parsed: {what}"));
    }
    let named = new.iter().any(|it| it.test.is_some());
    let lacks = new.iter().any(|it| matches!(it.class, Class::ImportError | Class::TypeError));
    if named || lacks { Reason::Right } else { Reason::Unclear }
}

/// Whether a text has a test's name, as a word of its own.
fn names(text: &str, test: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || "_:./[]-".contains(letter);
    text.match_indices(test).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + test.len()..].chars().next();
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GREEN: &str = "running 1 test\ntest adds ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

    /// What cargo prints of these tests.
    fn printed(failing: &[&str]) -> String {
        let mut text = "running 2 tests\n".to_owned();
        for test in failing {
            text += &format!("test {test} ... FAILED\n");
        }
        text += "\nfailures:\n\n";
        for test in failing {
            text += &format!(
                "---- {test} stdout ----\n\nthread '{test}' panicked at tests/t.rs:3:5:\nassertion `left == right` failed\n  left: 1\n right: 2\n\n"
            );
        }
        text + "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\n"
    }

    #[test]
    fn the_new_test_fails_and_no_other() {
        let green = (Check::Pass, GREEN.to_owned());
        assert_eq!(reason(&printed(&["subtracts"]), Some(&green)), Reason::Right);
        assert_eq!(
            reason(&printed(&["subtracts", "adds"]), Some(&green)),
            Reason::Wrong("a test that was there before fails: adds".into())
        );
        // A name within another is another.
        assert_eq!(reason(&printed(&["add"]), Some(&green)), Reason::Right);
    }

    #[test]
    fn what_failed_before_is_not_this_tests_doing() {
        let red = (Check::Fail, printed(&["adds"]));
        assert_eq!(reason(&printed(&["adds", "subtracts"]), Some(&red)), Reason::Right);
        assert_eq!(reason(&printed(&["adds"]), Some(&red)), Reason::Unclear);
    }

    #[test]
    fn a_test_that_cannot_be_parsed_shows_nothing() {
        let python = "  File \"test_a.py\", line 3\n    def test(:\n             ^\nSyntaxError: invalid syntax\n";
        assert!(
            matches!(reason(python, None), Reason::Wrong(what) if what.contains("cannot be parsed"))
        );
        let rust = "error[E0425]: cannot find function `subtract` in this scope\n --> tests/t.rs:3:16\n\nerror: could not compile `demo` (test \"t\") due to 1 previous error\n";
        assert_eq!(reason(rust, None), Reason::Right, "what is not there yet is what is asked for");
        assert_eq!(reason("it did not work\n", None), Reason::Unclear);
        assert_eq!(reason("", None), Reason::Unclear);
    }
}
