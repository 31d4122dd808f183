//! Which tests have run, by what their runner printed: with their names where it says them, and else how many.
//!
//! What was left out has not run. Where a runner names nothing but what failed, nobody knows.

use std::collections::BTreeSet;

use serde_json::Value;

/// Tests that have run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ran {
    /// Their names, as far as they are said.
    pub names: BTreeSet<String>,
    /// How many.
    pub count: usize,
}

/// The tests that have run; nothing if what was printed does not say.
pub fn ran(printed: &str) -> Option<Ran> {
    let plain = super::without_colours(printed);
    let readers = [junit, go_json, rust, go, tap, pytest, counted];
    readers.iter().map(|read| read(&plain)).find(|ran| ran.count > 0)
}

impl Ran {
    fn of(names: impl Iterator<Item = String>) -> Self {
        let mut ran = Ran::default();
        for name in names {
            ran.count += 1;
            ran.names.insert(name);
        }
        ran
    }
}

fn junit(text: &str) -> Ran {
    Ran::of(super::junit::names(text).into_iter())
}

fn go_json(text: &str) -> Ran {
    let name = |line: &str| {
        let event: Value = line.starts_with('{').then(|| serde_json::from_str(line).ok())??;
        let word = |key: &str| event[key].as_str().map(str::to_owned);
        let over = ["pass", "fail"].contains(&word("Action")?.as_str());
        over.then(|| Some(format!("{}.{}", word("Package")?, word("Test")?)))?
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
        time.trim().ends_with('s').then(|| name.to_owned())
    };
    // What failed is told once more at the end.
    let named: BTreeSet<String> = text.lines().filter_map(alone).collect();
    if !named.is_empty() {
        return Ran { count: named.len(), names: named };
    }
    let in_one = |line: &str| {
        let (name, came) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
        (came.starts_with("ok") || came == "FAILED").then(|| name.to_owned())
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
        Some(rest.split(" (").next().unwrap_or(rest).to_owned())
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
        (!["SKIP", "TODO"].iter().any(|it| mark.starts_with(it))).then(|| name.to_owned())
    };
    Ran::of(text.lines().filter_map(name))
}

/// `a.py::test_it PASSED`, or else how many its last line counts.
fn pytest(text: &str) -> Ran {
    let name = |line: &str| {
        let mut words = line.split_whitespace();
        let (name, came) = (words.next()?, words.next()?);
        let over = ["PASSED", "FAILED", "ERROR", "XPASS"].contains(&came);
        (over && name.contains(".py::")).then(|| name.to_owned())
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
            ("it worked\n", &[], 0),
        ];
        for (text, names, count) in cases {
            let found = ran(text).unwrap_or_default();
            assert_eq!(found.count, *count, "{text}");
            let own: Vec<&str> = found.names.iter().map(String::as_str).collect();
            assert_eq!(own, *names, "{text}");
        }
    }
}
