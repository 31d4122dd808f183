//! Which tests have run, by what their runner printed: with their names where it says them, and else how many.
//!
//! What was left out has not run. Where a runner names nothing but what failed, nobody knows. That no test has run is something
//! that a runner says, too.

use std::collections::BTreeSet;

use serde_json::Value;

/// Tests that have run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Their names, as far as they are said.
    pub names: BTreeSet<String>,
    /// Those of them that have passed.
    pub passed: BTreeSet<String>,
    /// How many.
    pub count: usize,
}

/// The tests that have run; nothing if what was printed does not say.
pub fn ran(printed: &str) -> Option<Ran> {
    let plain = super::without_colours(printed);
    let readers = [junit, go_json, rust, go, tap, pytest, unittest, counted];
    let ran = readers.iter().map(|read| read(&plain)).find(|ran| ran.count > 0);
    ran.or_else(|| says_none(&plain).then(Ran::default))
}

impl Ran {
    /// Tests by name, each with whether it has passed.
    fn of(tests: impl Iterator<Item = (String, bool)>) -> Self {
        let mut ran = Ran::default();
        let mut failed: BTreeSet<String> = BTreeSet::new();
        for (name, passed) in tests {
            ran.count += 1;
            let of = if passed { &mut ran.passed } else { &mut failed };
            of.insert(name.clone());
            ran.names.insert(name);
        }
        // One of two of a name that fails speaks for both.
        ran.passed.retain(|name| !failed.contains(name));
        ran
    }
}

/// Whether a runner says, in its own form, that it has come to its end and that no test was among what it ran.
fn says_none(text: &str) -> bool {
    let none = |line: &str| {
        let line = line.trim();
        let plan = line.strip_prefix("1..").and_then(|it| it.split(' ').next());
        let counts = ["test result: ", "Tests:", "Tests  "].iter().any(|it| line.starts_with(it));
        let ended = line.trim_matches(['=', ' ']);
        let pytest = ["skipped", "deselected", "no tests ran"].iter().any(|it| ended.contains(it));
        plan.is_some_and(|it| it.parse::<u64>().is_ok())
            || line.starts_with("TAP version")
            || (counts && line.contains(|it: char| it.is_ascii_digit()))
            || (pytest && ended.contains(" in ") && ended.ends_with(['s', ')']))
            || line
                .strip_prefix("Ran ")
                .is_some_and(|it| it.contains(" test") && it.contains(" in "))
            || ["0 passing", "ℹ tests ", "# tests ", "NO TESTS RAN", "No tests found"]
                .iter()
                .any(|it| line.starts_with(it))
            || ["<testsuite", "=== RUN", "testing: warning: no tests to run"]
                .iter()
                .any(|it| line.starts_with(it))
    };
    text.lines().any(none)
}

fn junit(text: &str) -> Ran {
    let failed: BTreeSet<String> =
        super::junit::read(text).into_iter().filter_map(|it| it.test).collect();
    let names = super::junit::names(text).into_iter();
    Ran::of(names.map(|name| {
        let passed = !failed.contains(&name);
        (name, passed)
    }))
}

fn go_json(text: &str) -> Ran {
    let name = |line: &str| {
        let event: Value = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
        let word = |key: &str| event[key].as_str().map(str::to_owned);
        let passed = match word("Action")?.as_str() {
            "pass" => true,
            "fail" => false,
            _ => return None,
        };
        Some((format!("{}.{}", word("Package")?, word("Test")?), passed))
    };
    Ran::of(text.lines().filter_map(name))
}

/// `test it ... ok`, and `PASS [ 0.004s] crate it` where each runs by itself.
fn rust(text: &str) -> Ran {
    let alone = |line: &str| {
        let line = line.trim_start();
        let words =
            ["PASS [", "FAIL [", "TIMEOUT [", "LEAK [", "SIGABRT [", "SIGSEGV [", "ABORT ["];
        let rest = words.iter().find_map(|word| line.strip_prefix(word))?;
        let (time, name) = rest.split_once(']')?;
        let name = name.trim();
        let name = match name.strip_prefix('(').and_then(|it| it.split_once(')')) {
            Some((_, name)) => name.trim(),
            None => name,
        };
        let passed = ["PASS [", "LEAK ["].iter().any(|word| line.starts_with(word));
        time.trim().ends_with('s').then(|| (name.to_owned(), passed))
    };
    // What failed is told once more at the end.
    let named = Ran::of(text.lines().filter_map(alone));
    if named.count > 0 {
        return Ran { count: named.names.len(), ..named };
    }
    let in_one = |line: &str| {
        let (name, came) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        let passed = came.starts_with("ok");
        (passed || came == "FAILED").then(|| (name.to_owned(), passed))
    };
    let ran = Ran::of(text.lines().filter_map(in_one));
    if ran.count > 0 {
        return ran;
    }
    let results = text.lines().filter_map(|line| line.strip_prefix("test result: "));
    Ran { count: results.map(|it| sum(it, &["passed", "failed"])).sum(), ..ran }
}

/// `--- PASS: TestIt (0.00s)`; without any that passed, only what failed is told.
fn go(text: &str) -> Ran {
    if !text.lines().any(|line| line.trim_start().starts_with("=== RUN")) {
        return Ran::default();
    }
    let name = |line: &str| {
        let line = line.trim_start();
        let rest = ["--- PASS: ", "--- FAIL: "].iter().find_map(|it| line.strip_prefix(it))?;
        Some((rest.split(" (").next().unwrap_or(rest).to_owned(), line.starts_with("--- PASS: ")))
    };
    Ran::of(text.lines().filter_map(name))
}

/// `ok 1 - name`, without what is skipped or still to be done.
fn tap(text: &str) -> Ran {
    let is_tap = |line: &str| {
        line.starts_with("TAP version")
            || line
                .strip_prefix("1..")
                .is_some_and(|it| it.starts_with(|it: char| it.is_ascii_digit()))
    };
    if !text.lines().any(is_tap) {
        return Ran::default();
    }
    let name = |line: &str| {
        let line = line.trim_start();
        let rest = line.strip_prefix("not ok ").or_else(|| line.strip_prefix("ok "))?;
        let rest = rest.trim_start_matches(|it: char| it.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix("- ").unwrap_or(rest);
        let (name, mark) = rest.split_once(" # ").unwrap_or((rest, ""));
        let mark = mark.to_uppercase();
        let left_out = ["SKIP", "TODO"].iter().any(|it| mark.starts_with(it));
        (!left_out).then(|| (name.to_owned(), line.starts_with("ok ")))
    };
    Ran::of(text.lines().filter_map(name))
}

/// `a.py::test_it PASSED`, or else how many its last line counts.
fn pytest(text: &str) -> Ran {
    let name = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, came) = (words.next()?, words.next()?);
        let over = ["PASSED", "FAILED", "ERROR", "XPASS"].contains(&came);
        (over && name.contains(".py::")).then(|| (name.to_owned(), came == "PASSED"))
    };
    let ran = Ran::of(text.lines().filter_map(name));
    if ran.count > 0 {
        return ran;
    }
    let last = text.lines().rev().find(|line| {
        let said = line.trim_matches(['=', ' ']);
        said.contains(" in ")
            && said.ends_with(['s', ')'])
            && ["passed", "failed", "error"].iter().any(|it| said.contains(it))
    });
    Ran {
        count: last
            .map_or(0, |line| sum(line, &["passed", "failed", "errors", "error", "xpassed"])),
        ..ran
    }
}

/// `test_it (a.TestIt.test_it) ... ok`, or else how many it says that it ran, but for those that it skipped.
fn unittest(text: &str) -> Ran {
    let lines: Vec<&str> = text.lines().collect();
    let said = |at: usize| {
        let line = lines[at];
        let (named, came) = line.rsplit_once(" ... ")?;
        let passed = match came.split(' ').next()? {
            "ok" | "expected" => true,
            "FAIL" | "ERROR" | "unexpected" => false,
            _ => return None,
        };
        // A test that says what it is about does so on a line of its own.
        let before = at.checked_sub(1).map_or("", |before| lines[before]);
        let name = [named, before].into_iter().find_map(unittest_name)?;
        Some((name, passed))
    };
    let ran = Ran::of((0..lines.len()).filter_map(said));
    if ran.count > 0 {
        return ran;
    }
    let mut count = 0;
    for line in lines {
        if let Some(rest) = line.strip_prefix("Ran ").filter(|it| it.contains(" in ")) {
            count += sum(rest, &["test", "tests"]);
        } else if line.starts_with("OK (") || line.starts_with("FAILED (") {
            let skipped =
                line.split_once("skipped=").and_then(|(_, it)| it.split([',', ')']).next());
            count = count.saturating_sub(skipped.and_then(|it| it.parse().ok()).unwrap_or(0));
        }
    }
    Ran { count, ..ran }
}

/// The name in `test_it (a.TestIt.test_it)`; of a file that could not be loaded there is none.
fn unittest_name(line: &str) -> Option<String> {
    let (own, rest) = line.trim().split_once(" (")?;
    let whole = rest.strip_suffix(')')?;
    let is_name =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || "_.".contains(it));
    if !is_name(own) || !is_name(whole) || whole.contains("_FailedTest") {
        return None;
    }
    // Before Python 3.11 the test itself was not in it.
    let has_own = whole == own || whole.ends_with(&format!(".{own}"));
    Some(if has_own { whole.to_owned() } else { format!("{whole}.{own}") })
}

/// What others count: `Tests: 1 failed, 5 passed, 6 total`, `5 passing`, `ℹ pass 5`.
fn counted(text: &str) -> Ran {
    let mut count = 0;
    for line in text.lines() {
        let line = line.trim();
        if let Some(rest) = line.strip_prefix("Tests:").or_else(|| line.strip_prefix("Tests  ")) {
            count += sum(rest, &["passed", "failed"]);
        } else if line
            .split_whitespace()
            .nth(1)
            .is_some_and(|it| ["passing", "failing"].contains(&it))
        {
            count += sum(line, &["passing", "failing"]);
        } else if let Some(rest) =
            line.strip_prefix("ℹ pass ").or_else(|| line.strip_prefix("ℹ fail "))
        {
            count += rest.trim().parse::<usize>().unwrap_or(0);
        }
    }
    Ran { count, ..Ran::default() }
}

/// The numbers that stand before these words.
fn sum(line: &str, words: &[&str]) -> usize {
    let parts: Vec<&str> =
        line.split([' ', ',', ';', '.', '=', '(', ')']).filter(|it| !it.is_empty()).collect();
    let number =
        |it: &[&str]| words.contains(&it[1]).then(|| it[0].parse::<usize>().ok()).flatten();
    parts.windows(2).filter_map(number).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ran_is_read_in_the_form_of_its_runner_and_what_was_left_out_has_not() {
        let cases: &[(&str, &[&str], usize)] = &[
            (
                "running 3 tests\ntest a ... ok\ntest b ... FAILED\ntest c ... ignored\n\ntest result: FAILED. 1 passed; 1 failed; 1 ignored\n",
                &["a", "b"],
                2,
            ),
            ("test result: ok. 4 passed; 0 failed; 1 ignored; 0 measured\n", &[], 4),
            (
                "        PASS [   0.004s] demo tests::a\n        FAIL [   0.004s] (2/2) demo tests::b\n        FAIL [   0.004s] (2/2) demo tests::b\n        SKIP [ 0.1s] demo c\n",
                &["demo tests::a", "demo tests::b"],
                2,
            ),
            (
                "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"skip\",\"Package\":\"p\",\"Test\":\"TestB\"}\n{\"Action\":\"pass\",\"Package\":\"p\"}\n",
                &["p.TestA"],
                1,
            ),
            (
                "=== RUN   TestA\n--- PASS: TestA (0.00s)\n=== RUN   TestB\n--- SKIP: TestB (0.00s)\n=== RUN TestC\n    --- FAIL: TestC/x (0.00s)\n",
                &["TestA", "TestC/x"],
                2,
            ),
            ("--- FAIL: TestC (0.00s)\nFAIL\n", &[], 0),
            ("ok  \tdemo\t0.002s\n", &[], 0),
            (
                "TAP version 13\nok 1 - a\nnot ok 2 - b\nok 3 - c # SKIP later\n1..3\n",
                &["a", "b"],
                2,
            ),
            (
                "t.py::test_a PASSED  [ 50%]\nt.py::test_b SKIPPED (x)\n= 1 passed, 1 skipped in 0.01s =\n",
                &["t.py::test_a"],
                1,
            ),
            ("..s\n===== 2 passed, 1 skipped in 0.01s =====\n", &[], 2),
            ("3 passed in 0.02s\n", &[], 3),
            ("Tests:       1 failed, 2 skipped, 5 passed, 8 total\n", &[], 6),
            ("  5 passing (12ms)\n  1 pending\n  2 failing\n", &[], 7),
            ("ℹ tests 3\nℹ pass 2\nℹ fail 0\nℹ skipped 1\n", &[], 2),
            (
                "<testsuite><testcase classname=\"a\" name=\"b\"/><testcase name=\"c\"><skipped/></testcase></testsuite>",
                &["a::b"],
                1,
            ),
            (
                "test_a (t.TestT.test_a) ... ok\ntest_b (t.TestT)\nIt does. ... FAIL\ntest_c (t.TestT.test_c) ... skipped 'x'\nt_d (unittest.loader._FailedTest.t_d) ... ERROR\n\nRan 4 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)\n",
                &["t.TestT.test_a", "t.TestT.test_b"],
                2,
            ),
            ("..s\n-----\nRan 3 tests in 0.000s\n\nOK (skipped=1)\n", &[], 2),
            ("it worked\n", &[], 0),
        ];
        for (text, names, count) in cases {
            let found = ran(text).unwrap_or_default();
            assert_eq!(found.count, *count, "{text}");
            let own: Vec<&str> = found.names.iter().map(String::as_str).collect();
            assert_eq!(own, *names, "{text}");
        }
    }

    #[test]
    fn what_failed_has_run_and_has_not_passed() {
        for (text, passed) in [
            ("test a ... ok\ntest b ... FAILED\n", &["a"][..]),
            ("  PASS [ 0.1s] demo a\n  FAIL [ 0.1s] demo b\n", &["demo a"]),
            (
                "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"TestA\"}\n{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"TestB\"}\n",
                &["p.TestA"],
            ),
            ("=== RUN TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestB (0.00s)\n", &["TestA"]),
            ("TAP version 13\nok 1 - a\nnot ok 2 - b\nok 3 - c\nnot ok 4 - c\n", &["a"]),
            ("t.py::test_a PASSED\nt.py::test_b ERROR\n", &["t.py::test_a"]),
            ("test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... FAIL\n", &["t.T.test_a"]),
            (
                "<testsuite><testcase name=\"a\"/><testcase name=\"b\"><failure message=\"x\"/></testcase></testsuite>",
                &["a"],
            ),
        ] {
            let found = ran(text).unwrap_or_default();
            let own: Vec<&str> = found.passed.iter().map(String::as_str).collect();
            assert_eq!(own, passed, "{text}");
            assert!(found.names.len() > passed.len(), "{text}");
        }
    }

    #[test]
    fn that_no_test_has_run_is_told_apart_from_saying_nothing() {
        for none in [
            "1..0\n",
            "TAP version 13\nok 1 - a # SKIP\n1..1\n",
            "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n",
            "==== no tests ran in 0.01s ====\n",
            "==== 2 skipped in 0.01s ====\n",
            "Ran 0 tests in 0.000s\n\nOK\n",
            "Ran 2 tests in 0.000s\n\nOK (skipped=2)\n",
            "Tests:       2 skipped, 2 total\n",
            "  0 passing (1ms)\n",
            "ℹ tests 0\nℹ pass 0\n",
            "<testsuite tests=\"0\"></testsuite>\n",
        ] {
            assert_eq!(ran(none), Some(Ran::default()), "{none}");
        }
        for silent in ["", "ok\n", "it worked\n", "ok  \tdemo\t0.002s\n", "1..x\n"] {
            assert_eq!(ran(silent), None, "{silent}");
        }
    }
}
