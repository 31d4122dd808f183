//! Whether tests are still what they were: whoever implements may add to them, and weakens none of them.
//!
//! Two things are looked at. Tests of the base may be changed, for what they ask may be what the task changes, but none is lost,
//! left out, or asserts less than it did. What somebody wrote before the work, so that it was seen to fail, stays word for word.
//! Formatting, files that only move and more tests change nothing. What cannot be told from honest work is found all the same: it goes
//! back to whoever made it, and in the end a person looks at it.
//!
//! | question | file |
//! |---|---|
//! | what does a file say, but for its form? | `tokens.rs` |
//! | which tests does it have? | `find.rs`; one that is a program `shell.rs` |
//! | what is a test worth? | `worth.rs` |
//! | which tests have run? | `names.rs` |

mod find;
mod names;
mod shell;
mod tokens;
mod worth;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use windlass_repo::Oid;

use find::{Test, Tests, is_collected};
pub(crate) use names::{Printed, missing};

use crate::residuals::{Language, is_test};

/// The check.
pub(crate) const TESTS_KEPT: &str = "tests-kept";

/// What a unit's tests are held against.
#[derive(Clone, Debug, Default)]
pub struct Upheld {
    /// What was seen to fail, and where its lane started from by then.
    pub(crate) red: Option<(Oid, Oid)>,
    /// What tests printed.
    pub(crate) printed: Printed,
    /// The tree that they ran on last.
    pub(crate) ran_on: Option<String>,
}

/// A file, before and now; nothing where it is not there.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pair {
    /// Where it is.
    pub path: PathBuf,
    /// What it was on the base.
    pub base: Option<Vec<u8>>,
    /// What it was when its tests were seen to fail; nothing where it was as on the base of that time.
    pub red: Option<Red>,
    /// What it is.
    pub now: Option<Vec<u8>>,
}

/// A file as it was when its tests were seen to fail.
#[derive(Clone, Debug, Default)]
pub(crate) struct Red {
    /// What it was before that.
    pub origin: Option<Vec<u8>>,
    /// What it was then.
    pub then: Vec<u8>,
}

/// Something that a test has lost.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Loss {
    /// In which file.
    pub path: PathBuf,
    /// On which line of it, from 1.
    pub line: usize,
    /// What.
    pub what: String,
}

/// Files that are longer are nobody's to read.
const FILE_BYTES: usize = 1 << 20;

/// What tests have lost.
pub(crate) fn losses(pairs: &[Pair]) -> Vec<Loss> {
    let read = |bytes: Option<&Vec<u8>>, path: &Path| bytes.and_then(|it| Seen::of(path, it));
    let now: Vec<(&Pair, Seen)> =
        pairs.iter().filter_map(|it| Some((it, read(it.now.as_ref(), &it.path)?))).collect();
    // Of what was seen to fail, and of the base: a test may be both.
    let [mut strict, mut loose] = [There::of(&now), There::of(&now)];
    let mut losses = Vec::new();
    for pair in pairs {
        let own = now.iter().find(|(it, _)| it.path == pair.path).map(|(_, seen)| seen);
        let red = pair.red.as_ref();
        let then = red.and_then(|red| Seen::of(&pair.path, &red.then));
        let base = read(pair.base.as_ref(), &pair.path);
        if let (Some(red), Some(then)) = (red, &then) {
            let origin = read(red.origin.as_ref(), &pair.path).unwrap_or_default();
            losses.extend(strictly(pair, &origin, then, own, &mut strict));
        }
        let untold = then.as_ref().is_none_or(|it| it.tests.all.is_empty() && own.is_none());
        if let Some(red) = red.filter(|_| untold && (then.is_some() || is_kept_whole(&pair.path))) {
            losses.extend(whole(pair, red, pairs));
        }
        if let Some(base) = &base {
            losses.extend(loosely(&pair.path, base, then.as_ref(), own, &mut loose));
        }
        let before = then.as_ref().or(base.as_ref());
        losses.extend(own.map(|own| focused(&pair.path, before, own)).unwrap_or_default());
    }
    losses.extend(less_asserted(pairs, &now));
    losses.sort();
    losses.dedup();
    losses
}

/// A file that was read.
#[derive(Clone, Debug, Default)]
struct Seen {
    tests: Tests,
    /// It is there for tests, and for nothing else.
    apart: bool,
    /// Runners look for tests in it.
    collected: bool,
}

impl Seen {
    fn of(path: &Path, bytes: &[u8]) -> Option<Self> {
        if bytes.len() > FILE_BYTES || bytes.contains(&0) {
            return None;
        }
        let text = String::from_utf8_lossy(bytes);
        let bats = path.extension().is_some_and(|it| it == "bats");
        let language = if bats { Language::Shell } else { Language::of(path)? };
        // Tests of Rust stand beside what they test.
        let by_path = is_test(path, language, "");
        if !by_path && language != Language::Rust {
            return None;
        }
        let collected = is_collected(path, language);
        let tests = match language {
            Language::Shell => shell::tests(&path.display().to_string(), &text),
            _ => find::tests(language, &text),
        };
        (by_path || !tests.all.is_empty()).then_some(Seen { tests, apart: by_path, collected })
    }
}

/// The tests that are there now, wherever they are: each speaks for one that was there before.
struct There<'n> {
    all: Vec<(&'n Path, &'n Test)>,
    taken: BTreeSet<usize>,
}

impl<'n> There<'n> {
    fn of(now: &'n [(&'n Pair, Seen)]) -> Self {
        let of_file = |(pair, seen): &'n (&'n Pair, Seen)| {
            seen.tests.all.iter().filter(|_| seen.collected).map(|test| (pair.path.as_path(), test))
        };
        There { all: now.iter().flat_map(of_file).collect(), taken: BTreeSet::new() }
    }

    /// One that says the same, elsewhere or under another name.
    fn same(&mut self, test: &Test) -> bool {
        let says = |it: &Test| it.words == test.words || body(it) == body(test);
        let found = self.all.iter().enumerate().find(|(at, (_, it))| {
            !self.taken.contains(at)
                && says(it)
                && it.marks.len() <= test.marks.len()
                && it.cases >= test.cases
        });
        let Some((at, _)) = found else { return false };
        self.taken.insert(at)
    }
}

/// What a test does, whatever it is called.
fn body(test: &Test) -> &[String] {
    let begins =
        test.words.iter().position(|it| ["{", "=>", tokens::INDENT].contains(&it.as_str()));
    &test.words[begins.unwrap_or(0)..]
}

/// Tests by name; of several of one name, in order.
fn named(seen: &Seen) -> BTreeMap<(&str, usize), &Test> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    let mut named = BTreeMap::new();
    for test in &seen.tests.all {
        let nth = count.entry(&test.name).or_default();
        named.insert((test.name.as_str(), *nth), test);
        *nth += 1;
    }
    named
}

/// What was written to fail first stays as it was seen to fail.
fn strictly(
    pair: &Pair,
    origin: &Seen,
    then: &Seen,
    now: Option<&Seen>,
    there: &mut There<'_>,
) -> Vec<Loss> {
    let nothing = Seen::default();
    let own = named(now.filter(|it| it.collected || !then.collected).unwrap_or(&nothing));
    let before = named(origin);
    let mut losses = Vec::new();
    for (key, test) in named(then) {
        if before.get(&key).is_some_and(|it| it.words == test.words) {
            continue;
        }
        let loss = |line, what: String| Loss { path: pair.path.clone(), line, what };
        match own.get(&key) {
            Some(own) if own.words == test.words => losses.extend(marked(&pair.path, test, own)),
            Some(own) => {
                let more = weakened(&pair.path, test, own);
                if more.is_empty() {
                    let what = format!(
                        "`{}` is not what was seen to fail: it was changed since",
                        test.name
                    );
                    losses.push(loss(own.line, what));
                }
                losses.extend(more);
            }
            None if there.same(test) => {}
            None => losses
                .push(loss(test.line, format!("`{}` was seen to fail, and is gone", test.name))),
        }
    }
    if then.apart && !losses.iter().any(|it| it.what.ends_with("is gone")) {
        losses.extend(rest_kept(&pair.path, origin, then, now));
    }
    losses
}

/// What stands around tests that were seen to fail stays, too.
fn rest_kept(path: &Path, origin: &Seen, then: &Seen, now: Option<&Seen>) -> Vec<Loss> {
    let count = |seen: Option<&Seen>| {
        let mut count: BTreeMap<String, usize> = BTreeMap::new();
        for (_, said) in seen.into_iter().flat_map(|it| &it.tests.rest) {
            *count.entry(said.clone()).or_default() += 1;
        }
        count
    };
    let (mut before, mut left) = (count(Some(origin)), count(now));
    let Some(_) = now else { return Vec::new() };
    let mut losses = Vec::new();
    for (line, said) in &then.tests.rest {
        let take = |from: &mut BTreeMap<String, usize>| {
            from.get_mut(said).filter(|it| **it > 0).map(|it| *it -= 1).is_some()
        };
        let (was, is) = (take(&mut before), take(&mut left));
        if !was && !is {
            let said: String = said.chars().take(120).collect();
            let what = format!("what belongs to a test that was seen to fail is gone: {said}");
            losses.push(Loss { path: path.to_owned(), line: *line, what });
        }
    }
    losses
}

/// Whether a file that nobody can read as tests is there for tests.
fn is_kept_whole(path: &Path) -> bool {
    Language::of(path).is_none() && is_test(path, Language::Page, "")
}

/// A file for tests in no language that is known: its lines stay.
fn whole(pair: &Pair, red: &Red, pairs: &[Pair]) -> Vec<Loss> {
    let loss = |line, what: String| vec![Loss { path: pair.path.clone(), line, what }];
    let moved = || {
        pairs
            .iter()
            .any(|it| it.now.as_ref() == Some(&red.then) && is_test(&it.path, Language::Page, ""))
    };
    match &pair.now {
        Some(now) if *now == red.then => Vec::new(),
        _ if moved() => Vec::new(),
        None => loss(1, "it belongs to a test that was seen to fail, and is gone".to_owned()),
        Some(now) => {
            let lines = |bytes: &[u8]| -> Vec<String> {
                let text = String::from_utf8_lossy(bytes);
                text.lines().map(|it| it.trim().to_owned()).filter(|it| !it.is_empty()).collect()
            };
            let (origin, now) = (lines(red.origin.as_deref().unwrap_or_default()), lines(now));
            let gone = lines(&red.then)
                .into_iter()
                .enumerate()
                .find(|(_, it)| !now.contains(it) && !origin.contains(it));
            gone.map(|(at, _)| {
                loss(
                    at + 1,
                    "it belongs to a test that was seen to fail, and was changed since".to_owned(),
                )
            })
            .unwrap_or_default()
        }
    }
}

/// Tests of the base may be changed, and weakened they may not be.
fn loosely(
    path: &Path,
    base: &Seen,
    then: Option<&Seen>,
    now: Option<&Seen>,
    there: &mut There<'_>,
) -> Vec<Loss> {
    // What was changed so that it fails is looked at as it was by then.
    let then = then.map(named).unwrap_or_default();
    let nothing = Seen::default();
    let own = named(now.filter(|it| it.collected || !base.collected).unwrap_or(&nothing));
    let mut losses = Vec::new();
    if !base.collected {
        return losses;
    }
    for (key, test) in named(base) {
        if then.get(&key).is_some_and(|it| it.words != test.words) {
            continue;
        }
        match own.get(&key) {
            Some(own) => losses.extend(weakened(path, test, own)),
            None if there.same(test) => {}
            None if there.same(test) => {}
            None => {
                let what = format!("the test `{}` is gone", test.name);
                losses.push(Loss { path: path.to_owned(), line: test.line, what });
            }
        }
    }
    losses
}

/// What keeps a test from running that did not before.
fn marked(path: &Path, before: &Test, now: &Test) -> Vec<Loss> {
    gained(&before.marks, &now.marks)
        .into_iter()
        .map(|(line, mark)| Loss {
            path: path.to_owned(),
            line,
            what: format!("`{}` does not run as it did: {mark}", now.name),
        })
        .collect()
}

/// How a test is less than it was.
fn weakened(path: &Path, before: &Test, now: &Test) -> Vec<Loss> {
    let mut losses = marked(path, before, now);
    let mut lost =
        |line: usize, what: String| losses.push(Loss { path: path.to_owned(), line, what });
    let (name, was, is) = (&now.name, &before.worth, &now.worth);
    for (line, what) in gained(&was.returns, &is.returns) {
        lost(line, format!("`{name}` stops before its end: {what}"));
    }
    for (line, what) in gained(&was.dead, &is.dead) {
        lost(line, format!("`{name}` has a part that never runs: {what}"));
    }
    for (line, what) in gained(&was.swallows, &is.swallows) {
        lost(line, format!("what fails in `{name}` is let pass: {what}"));
    }
    if is.asserted < was.asserted {
        let what = format!(
            "`{name}` asserts less: {} of {} assertions that can fail are left",
            is.asserted, was.asserted
        );
        lost(now.line, what);
    } else if is.exact < was.exact {
        let what = format!(
            "`{name}` asserts less: {} of {} assertions say what comes out exactly",
            is.exact, was.exact
        );
        lost(now.line, what);
    }
    let (cases, rows) = (before.cases, was.rows);
    if now.cases < cases || (is.rows < rows && is.asserted <= was.asserted) {
        lost(now.line, format!("`{name}` is tried with fewer cases"));
    }
    losses
}

/// What is there now and was not before.
fn gained<'m>(before: &[(usize, String)], now: &'m [(usize, String)]) -> Vec<(usize, &'m str)> {
    let mut known: Vec<&str> = before.iter().map(|(_, said)| said.as_str()).collect();
    let mut more = Vec::new();
    for (line, said) in now {
        match known.iter().position(|it| it == said) {
            Some(at) => drop(known.swap_remove(at)),
            None => more.push((*line, said.as_str())),
        }
    }
    more
}

/// What has only some of the tests run.
fn focused(path: &Path, before: Option<&Seen>, now: &Seen) -> Vec<Loss> {
    let known = before.map(|it| it.tests.focus.as_slice()).unwrap_or_default();
    let loss = |(line, what): (usize, &str)| Loss {
        path: path.to_owned(),
        line,
        what: format!("no other test runs beside it: {what}"),
    };
    gained(known, &now.tests.focus).into_iter().map(loss).collect()
}

/// What helpers of tests assert: it may move, and is not to become less.
fn less_asserted(pairs: &[Pair], now: &[(&Pair, Seen)]) -> Vec<Loss> {
    let (mut was, mut is) = (0, 0);
    let mut worst: Option<(&Path, usize)> = None;
    for pair in pairs {
        let before = pair.base.as_ref().and_then(|it| Seen::of(&pair.path, it));
        let own = now.iter().find(|(it, _)| it.path == pair.path);
        let count =
            |seen: Option<&Seen>| seen.filter(|it| it.apart).map_or(0, |it| it.tests.asserted);
        let (before, after) = (count(before.as_ref()), count(own.map(|(_, seen)| seen)));
        // What tests themselves have more of may be what was in a helper.
        (was, is) = (was + before, is + after);
        if after < before && worst.is_none_or(|(_, less)| before - after > less) {
            worst = Some((&pair.path, before - after));
        }
    }
    let tests = |seen: &Seen| seen.tests.all.iter().map(|it| it.worth.asserted).sum::<usize>();
    let in_tests_was: usize = pairs
        .iter()
        .filter_map(|it| Seen::of(&it.path, it.base.as_ref()?))
        .map(|it| tests(&it))
        .sum();
    let in_tests_is: usize = now.iter().map(|(_, seen)| tests(seen)).sum();
    match worst {
        Some((path, _)) if is + in_tests_is.saturating_sub(in_tests_was) < was => vec![Loss {
            path: path.to_owned(),
            line: 1,
            what: format!(
                "what its tests have in common asserts less: {is} assertions, and {was} before"
            ),
        }],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
