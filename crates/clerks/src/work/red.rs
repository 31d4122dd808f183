//! Why tests fail before the implementation: for the right reason if the new one fails and the old ones do not.

use std::collections::{BTreeMap, BTreeSet};

use windlass_engine::entry::Check;
use windlass_sources::failure::{Class, Failure, failures, ran};

/// What whoever writes the test has changed: files by path, each with what it holds, as far as that is known.
pub type Written = BTreeMap<String, String>;

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

/// Why they fail, by what was printed with the new test, and on the base, and by what was written for it.
pub fn reason(printed: &str, base: Option<&(Check, String)>, written: &Written) -> Reason {
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
        .find(|test| base.is_some_and(|(_, text)| names(text, title(test))))
    {
        return Reason::Wrong(format!("a test that was there before fails: {old}"));
    }
    // Where the runner does not name what passes, nobody can tell by that which tests were there before.
    let named_before =
        base.is_some_and(|(_, text)| ran(text).is_some_and(|it| !it.names.is_empty()));
    if !named_before
        && let Some(other) = new.iter().find(|it| says(it) && !is_of(it, printed, written))
    {
        let what = other.test.as_ref().unwrap_or(&other.message);
        return Reason::Wrong(format!(
            "what fails is nothing that was written for this task: {what}"
        ));
    }
    if new.iter().all(|it| it.class == Class::SyntaxError) {
        let what = &new[0].message;
        return Reason::Wrong(format!("the new test cannot be parsed: {what}"));
    }
    if new.iter().any(|it| says(it)) { Reason::Right } else { Reason::Unclear }
}

/// Whether a failure tells anything: which test it is, or that something is not there yet.
fn says(failure: &Failure) -> bool {
    failure.test.is_some() || matches!(failure.class, Class::ImportError | Class::TypeError)
}

/// Whether a failure is one of the files that were written: by the name of the test, or by the file that it is said to be in.
fn is_of(failure: &Failure, printed: &str, written: &Written) -> bool {
    let Some(test) = &failure.test else {
        return written.keys().any(|path| printed.contains(base_name(path)));
    };
    let own = leaf(test);
    written.iter().any(|(path, text)| {
        let name = base_name(path);
        let stem = name.split_once('.').map_or(name, |(stem, _)| stem);
        let of_file = [test, &failure.message].iter().any(|said| names(said, name))
            || test.contains(path.as_str())
            || test == stem;
        of_file || names_any(text, own)
    })
}

/// The name that a test has where it is written: without its file, its module or suite, and without what it is run with.
fn leaf(test: &str) -> &str {
    let own = title(test).rsplit("::").next().unwrap_or(test);
    let own = own.split(['[', '/']).next().unwrap_or(own);
    // `package.TestIt`, as `go test -json` has it; a title of several words may end in a full stop.
    let part = own.rsplit('.').next().unwrap_or(own);
    if own.contains(' ') || part.is_empty() { own } else { part }
}

/// The title of a test whose runner puts the titles of its suites before it.
fn title(test: &str) -> &str {
    test.rsplit(" › ").next().unwrap_or(test)
}

fn base_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Whether a text has a name between letters of other kinds: in code it stands among quotes, brackets and points.
fn names_any(text: &str, name: &str) -> bool {
    let part = |letter: char| letter.is_alphanumeric() || letter == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(part) && !after.is_some_and(part)
        })
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
        let (green, none) = ((Check::Pass, GREEN.to_owned()), Written::new());
        assert_eq!(reason(&printed(&["subtracts"]), Some(&green), &none), Reason::Right);
        assert_eq!(
            reason(&printed(&["subtracts", "adds"]), Some(&green), &none),
            Reason::Wrong("a test that was there before fails: adds".into())
        );
        // A name within another is another.
        assert_eq!(reason(&printed(&["add"]), Some(&green), &none), Reason::Right);
    }

    #[test]
    fn what_failed_before_is_not_this_tests_doing() {
        let (red, none) = ((Check::Fail, printed(&["adds"])), Written::new());
        assert_eq!(reason(&printed(&["adds", "subtracts"]), Some(&red), &none), Reason::Right);
        assert_eq!(reason(&printed(&["adds"]), Some(&red), &none), Reason::Unclear);
    }

    #[test]
    fn a_test_that_cannot_be_parsed_shows_nothing() {
        let python = "  File \"test_a.py\", line 3\n    def test(:\n             ^\nSyntaxError: invalid syntax\n";
        assert!(
            matches!(reason(python, None, &written("test_a.py", "")), Reason::Wrong(what) if what.contains("cannot be parsed"))
        );
        let rust = "error[E0425]: cannot find function `subtract` in this scope\n --> tests/t.rs:3:16\n\nerror: could not compile `demo` (test \"t\") due to 1 previous error\n";
        assert_eq!(
            reason(rust, None, &written("tests/t.rs", "")),
            Reason::Right,
            "what is not there yet is what is asked for"
        );
        assert_eq!(reason("it did not work\n", None, &Written::new()), Reason::Unclear);
        assert_eq!(reason("", None, &Written::new()), Reason::Unclear);
    }

    fn written(path: &str, text: &str) -> Written {
        [(path.to_owned(), text.to_owned())].into()
    }

    /// With this file written, the first is right, and both together are wrong for this test's sake; so is the other by itself.
    #[track_caller]
    fn told_apart(green: &str, new: &str, old: &str, both: &str, file: (&str, &str), test: &str) {
        let (base, written) = ((Check::Pass, green.to_owned()), written(file.0, file.1));
        let wrong =
            Reason::Wrong(format!("what fails is nothing that was written for this task: {test}"));
        assert_eq!(reason(new, Some(&base), &written), Reason::Right);
        assert_eq!(reason(old, Some(&base), &written), wrong);
        assert_eq!(reason(both, Some(&base), &written), wrong);
    }

    fn pytest(failing: &[&str]) -> String {
        let mut text = "F.\n=========== FAILURES ===========\n".to_owned();
        for test in failing {
            let name = test.rsplit("::").next().unwrap();
            text +=
                &format!("____ {name} ____\n\n>       assert 1 == 2\nE       assert 1 == 2\n\n");
        }
        text += "=========== short test summary info ===========\n";
        for test in failing {
            text += &format!("FAILED {test} - assert 1 == 2\n");
        }
        text + "1 failed, 1 passed in 0.02s\n"
    }

    #[test]
    fn where_pytest_names_only_what_fails_the_file_of_the_new_test_tells() {
        let (new, old) = ("tests/test_new.py::test_sub", "tests/test_old.py::test_add");
        let green = ".                                   [100%]\n1 passed in 0.01s\n";
        let file = ("tests/test_new.py", "def test_sub():\n    assert sub(2, 1) == 1\n");
        told_apart(green, &pytest(&[new]), &pytest(&[old]), &pytest(&[old, new]), file, old);
        // Nobody has had a test before.
        let none = (Check::Fail, "no tests ran in 0.01s\n".to_owned());
        let own = written(file.0, file.1);
        assert_eq!(reason(&pytest(&[new]), Some(&none), &own), Reason::Right);
        // What it imports is not there yet.
        let lacks = "=========== ERRORS ===========\n____ ERROR collecting tests/test_new.py ____\n\
                     E   ModuleNotFoundError: No module named 'calc'\n\
                     =========== short test summary info ===========\nERROR tests/test_new.py\n\
                     1 error in 0.05s\n";
        let base = (Check::Pass, green.to_owned());
        assert_eq!(reason(lacks, Some(&base), &own), Reason::Right);
    }

    #[test]
    fn where_go_names_only_what_fails_the_text_of_the_new_test_tells() {
        let one = |test: &str, file: &str| {
            format!("--- FAIL: {test} (0.00s)\n    {file}:5: got 3, want 1\n")
        };
        let end = "FAIL\nFAIL\tdemo\t0.002s\nFAIL\n";
        let (new, old) = (one("TestSub", "calc_test.go"), one("TestAdd", "add_test.go"));
        let file = ("calc_test.go", "func TestSub(t *testing.T) {}\n");
        let green = "ok  \tdemo\t0.002s\n";
        let printed = |parts: &str| format!("{parts}{end}");
        told_apart(
            green,
            &printed(&new),
            &printed(&old),
            &printed(&format!("{old}{new}")),
            file,
            "TestAdd",
        );
        // A part of it, and one that does not say where it is.
        let base = (Check::Pass, green.to_owned());
        let part = format!(
            "--- FAIL: TestSub (0.00s)\n    --- FAIL: TestSub/of_two (0.00s)\n        wrong\n{end}"
        );
        assert_eq!(reason(&part, Some(&base), &written(file.0, file.1)), Reason::Right);
        let builds =
            "# demo [demo.test]\n./calc_test.go:4:9: undefined: Sub\nFAIL\tdemo [build failed]\n";
        assert_eq!(reason(builds, Some(&base), &written(file.0, file.1)), Reason::Right);
    }

    #[test]
    fn where_jest_names_only_what_fails_its_file_tells_and_where_it_names_all_the_title() {
        let one = |file: &str, test: &str| {
            format!(
                "FAIL {file}\n  ● calc › {test}\n\n    expect(received).toBe(expected) // Object.is equality\n\n\
                 \u{20}   Expected: 1\n    Received: 3\n\n      at Object.toBe ({file}:5:20)\n\n"
            )
        };
        let end =
            "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 passed, 2 total\n";
        let (new, old) = (one("src/sub.test.js", "subtracts"), one("src/add.test.js", "adds"));
        let green = "PASS src/add.test.js\n\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n";
        let file = ("src/sub.test.js", "test('subtracts', () => {});\n");
        let printed = |parts: &str| format!("PASS src/other.test.js\n{parts}{end}");
        told_apart(
            green,
            &printed(&new),
            &printed(&old),
            &printed(&format!("{old}{new}")),
            file,
            "src/add.test.js › calc › adds",
        );
        // With one file it says all titles: then an old one in the very file that was written is known as well.
        let green =
            "PASS src/calc.test.js\n  calc\n    ✓ adds (2 ms)\n\nTests:       1 passed, 1 total\n";
        let base = (Check::Pass, green.to_owned());
        let own = written("src/calc.test.js", "test('adds'); test('subtracts');\n");
        let broken = printed(&one("src/calc.test.js", "adds"));
        assert_eq!(
            reason(&broken, Some(&base), &own),
            Reason::Wrong(
                "a test that was there before fails: src/calc.test.js › calc › adds".into()
            )
        );
        let right = printed(&one("src/calc.test.js", "subtracts"));
        assert_eq!(reason(&right, Some(&base), &own), Reason::Right);
    }
}
