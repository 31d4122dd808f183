//! Checks of a change that need no command: Windlass looks at it itself.
//!
//! They are named like any other check. What a change may touch and how many files, the stage says (`with`); whoever made
//! the change is not asked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use windlass_core::path::{NO_LIMIT, Scope, Walked};
use windlass_core::value::Value;
use windlass_repo::{Oid, Store};

use super::Job;
use crate::entry::Check;
use crate::message::Trouble;
use crate::residuals::{File, Residual, residuals};
use crate::shop::Shop;
use crate::tests_kept::{Loss, Pair, Red, TESTS_KEPT, Upheld, losses, missing};

/// A check of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Measure {
    /// It stays within its scope, and within the number of files that it may touch.
    ChangeLimits,
    /// It leaves nothing to be done, if that is wanted.
    Todos,
    /// It leaves nothing behind that belongs to nobody's work.
    Residuals,
    /// It takes nothing from tests.
    TestsKept,
    /// It changes something.
    ChangeMade,
}

/// What came of it, and what is said about it.
pub(super) type Measured = (Check, String);

impl Measure {
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "change-limits" => Some(Measure::ChangeLimits),
            "todos" => Some(Measure::Todos),
            "residuals" => Some(Measure::Residuals),
            TESTS_KEPT => Some(Measure::TestsKept),
            "change-made" => Some(Measure::ChangeMade),
            _ => None,
        }
    }

    /// Whether it is evidence. That nothing is left to be done is none, and that something was done says nothing of what.
    pub fn proves(self) -> bool {
        matches!(self, Measure::ChangeLimits | Measure::Residuals | Measure::TestsKept)
    }

    pub fn take(
        self,
        shop: &Shop,
        job: &Job,
        tree: &str,
        base: &Oid,
        commit: &Oid,
    ) -> Result<Measured, Trouble> {
        let (store, with) = (&shop.store, &job.effect.with);
        let changes = store.changes(base, commit)?;
        match self {
            Measure::ChangeLimits => {
                let paths: Vec<&Path> = changes.iter().map(|it| it.path.as_path()).collect();
                let apart = shop.clerk.untouchable();
                Ok(limits(&paths, text(with, "scope"), number(with, "max_files"), &apart))
            }
            Measure::Residuals => {
                let mut files = Vec::new();
                // What was deleted is read, too: what moved from there was there before.
                for change in changes {
                    let at = |tree: &Oid| store.file_at(tree, &change.path);
                    let (before, now) = (at(base)?.unwrap_or_default(), at(commit)?);
                    let now = now.unwrap_or_default();
                    files.push(File { path: change.path, before, now });
                }
                Ok(left_behind(&residuals(&files)))
            }
            Measure::ChangeMade => {
                Ok(made(changes.len(), with.get("redo") == Some(&Value::Flag(true))))
            }
            Measure::TestsKept => tests_kept(store, job.upheld.as_ref(), tree, base, commit),
            Measure::Todos => {
                let mut found = Vec::new();
                for change in changes.iter().filter(|change| !change.new.is_absent()) {
                    let at = |tree: &Oid| store.file_at(tree, &change.path);
                    let (before, now) = (at(base)?.unwrap_or_default(), at(commit)?);
                    let now = now.unwrap_or_default();
                    found.extend(todos(&change.path, &before, &now));
                }
                Ok(left(&found, with.get("todo_blocking") == Some(&Value::Flag(true))))
            }
        }
    }
}

fn text<'w>(with: &'w BTreeMap<String, Value>, key: &str) -> Option<&'w str> {
    match with.get(key) {
        Some(Value::Text(text)) => Some(text),
        _ => None,
    }
}

/// Whether anything was changed. What was done before may be as it is to be.
fn made(files: usize, redo: bool) -> Measured {
    match (files, redo) {
        (0, true) => (Check::Skipped, "nothing was changed: it was done before\n".to_owned()),
        (0, false) => (
            Check::Fail,
            "nothing was changed: do what the task says, or say why there is nothing to do\n"
                .to_owned(),
        ),
        (files, _) => (Check::Pass, format!("{files} files are changed\n")),
    }
}

fn number(with: &BTreeMap<String, Value>, key: &str) -> Option<usize> {
    match with.get(key) {
        Some(Value::Number(number)) => Some(usize::try_from(*number).unwrap_or(0)),
        _ => None,
    }
}

/// So many files are named.
const NAMED: usize = 50;

fn named(paths: &[&Path]) -> String {
    let line = |path: &&Path| format!("  {}\n", path.display());
    let more = paths.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("  and {more} more\n") } else { String::new() };
    paths.iter().take(NAMED).map(line).collect::<String>() + &more
}

fn limits(
    paths: &[&Path],
    scope: Option<&str>,
    files_max: Option<usize>,
    apart: &[String],
) -> Measured {
    if scope.is_none() && files_max.is_none() {
        return (Check::Skipped, "nothing says how far the change may go\n".to_owned());
    }
    let own = Scope::parse(scope.unwrap_or(NO_LIMIT));
    let is_in =
        |path: &Path| path.to_str().is_some_and(|it| Walked::target(it, &own, apart).is_ok());
    let outside: Vec<&Path> = paths.iter().copied().filter(|path| !is_in(path)).collect();
    let mut said = String::new();
    if !outside.is_empty() {
        let scope = scope.unwrap_or(NO_LIMIT);
        said.push_str(&format!("outside of the scope `{scope}`:\n{}", named(&outside)));
    }
    if let Some(most) = files_max.filter(|most| paths.len() > *most) {
        let count = paths.len();
        said.push_str(&format!(
            "{count} files are changed, and no more than {most} may be:\n{}",
            named(paths)
        ));
    }
    match said.is_empty() {
        true => {
            (Check::Pass, format!("{} files are changed, all within the limits\n", paths.len()))
        }
        false => (Check::Fail, said),
    }
}

/// Whether a change touches only these paths, each with all that is below it. Where nobody says which, nobody can tell.
pub(super) fn radius(paths: &[&Path], may: Option<&[String]>, apart: &[String]) -> Measured {
    let Some(may) = may.filter(|may| may.iter().any(|path| !path.trim().is_empty())) else {
        return (Check::Skipped, "nothing says which files may be changed\n".to_owned());
    };
    let own: Vec<Scope> =
        may.iter().filter(|path| !path.trim().is_empty()).map(|path| Scope::of(path)).collect();
    // What may be changed nowhere is not said to be outside of anything: naming it would not help.
    let is_taken = |path: &str| Walked::changed(path, &Scope::default(), apart);
    let is_in = |path: &Path| {
        let Some(path) = path.to_str() else { return false };
        own.iter().any(|scope| Walked::changed(path, scope, apart).is_ok())
    };
    let mut outside: Vec<&Path> = paths.iter().copied().filter(|path| !is_in(path)).collect();
    if outside.is_empty() {
        return (Check::Pass, format!("{} files are changed, all of them named\n", paths.len()));
    }
    let mut said = String::new();
    outside.retain(|path| match path.to_str().map(is_taken) {
        Some(Err(why)) => {
            if said.lines().count() < NAMED {
                said.push_str(&format!("no change is taken at {}: {why}\n", path.display()));
            }
            false
        }
        _ => true,
    });
    if !outside.is_empty() {
        said.push_str(&format!(
            "outside of the blast radius (the files that the plan names: {}):\n{}",
            may.join(", "),
            named(&outside)
        ));
    }
    (Check::Fail, said)
}

/// A line that says that something is still to be done.
#[derive(Debug, PartialEq, Eq)]
struct Todo {
    /// Where it is, and what it says.
    line: String,
    /// It was not there before.
    new: bool,
}

/// Files that are longer are nobody's to read.
const FILE_BYTES: usize = 1 << 20;

fn todos(path: &Path, before: &[u8], now: &[u8]) -> Vec<Todo> {
    if now.len() > FILE_BYTES || now.contains(&0) {
        return Vec::new();
    }
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for line in String::from_utf8_lossy(before).lines().filter(|line| is_todo(line)) {
        *known.entry(line.trim().to_owned()).or_default() += 1;
    }
    let now = String::from_utf8_lossy(now);
    let found = now.lines().enumerate().filter(|(_, line)| is_todo(line));
    found
        .map(|(at, line)| {
            let left = known.get_mut(line.trim()).filter(|left| **left > 0);
            let new = left.is_none();
            if let Some(left) = left {
                *left -= 1;
            }
            let line: String = line.trim().chars().take(200).collect();
            Todo { line: format!("{}:{}: {line}", path.display(), at + 1), new }
        })
        .collect()
}

fn is_todo(line: &str) -> bool {
    let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    words.into_iter().any(|word| matches!(word, "TODO" | "FIXME"))
}

/// Whether tests are what they were, by their files and by what ran of them.
fn tests_kept(
    store: &Store,
    upheld: Option<&Upheld>,
    tree: &str,
    base: &Oid,
    commit: &Oid,
) -> Result<Measured, Trouble> {
    let mut pairs: BTreeMap<PathBuf, Pair> = BTreeMap::new();
    for change in store.changes(base, commit)? {
        pairs.insert(change.path.clone(), Pair { path: change.path, ..Pair::default() });
    }
    let red = upheld.and_then(|it| it.red.as_ref());
    if let Some((origin, seen)) = red {
        for change in store.changes(origin, seen)? {
            let pair = pairs.entry(change.path.clone()).or_default();
            pair.path = change.path;
            if let Some(then) = store.file_at(seen, &pair.path)? {
                let origin = store.file_at(origin, &pair.path)?;
                pair.red = Some(Red { origin, then });
            }
        }
    }
    for pair in pairs.values_mut() {
        pair.base = store.file_at(base, &pair.path)?;
        pair.now = store.file_at(commit, &pair.path)?;
    }
    let pairs: Vec<Pair> = pairs.into_values().collect();
    let printed = upheld.filter(|it| it.ran_on.as_deref() == Some(tree)).map(|it| &it.printed);
    let gone = printed.map(missing).unwrap_or_default();
    Ok(lost(&losses(&pairs), &gone))
}

/// What tests have lost, by file and line.
fn lost(found: &[Loss], gone: &[String]) -> Measured {
    let mut said = String::new();
    for Loss { path, line, what } in found.iter().take(NAMED) {
        said.push_str(&format!("  {}:{line}: {what}\n", path.display()));
    }
    if found.len() > NAMED {
        said.push_str(&format!("  and {} more\n", found.len() - NAMED));
    }
    for what in gone {
        said.push_str(&format!("  {what}\n"));
    }
    match said.is_empty() {
        true => (Check::Pass, "tests are what they were, or more\n".to_owned()),
        false => (Check::Fail, format!("tests are less than they were:\n{said}")),
    }
}

/// What was left behind, by its kind.
fn left_behind(found: &[Residual]) -> Measured {
    let mut said = String::new();
    let mut kind = None;
    for residual in found.iter().take(NAMED) {
        let Residual { path, line, text, .. } = residual;
        if kind != Some(residual.kind) {
            said.push_str(&format!("{}:\n", residual.kind.words()));
            kind = Some(residual.kind);
        }
        said.push_str(&format!("  {}:{line}: {text}\n", path.display()));
    }
    if found.len() > NAMED {
        said.push_str(&format!("  and {} more\n", found.len() - NAMED));
    }
    match found.is_empty() {
        true => (Check::Pass, "nothing was left behind\n".to_owned()),
        false => (Check::Fail, said),
    }
}

fn left(found: &[Todo], blocking: bool) -> Measured {
    let lines = |new: bool| -> Vec<&str> {
        let own = found.iter().filter(|todo| todo.new == new);
        own.map(|todo| todo.line.as_str()).take(NAMED).collect()
    };
    let [new, old] = [true, false].map(lines);
    let mut said = String::new();
    for (lines, what) in [(&new, "left to be done by this change"), (&old, "left before it")] {
        if !lines.is_empty() {
            said.push_str(&format!("{what}:\n  {}\n", lines.join("\n  ")));
        }
    }
    match (blocking, new.is_empty()) {
        (true, false) => (Check::Fail, said),
        (true, true) => (Check::Pass, said),
        (false, _) => (Check::Skipped, said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&'static str]) -> Vec<&'static Path> {
        names.iter().map(|&name| Path::new(name)).collect()
    }

    #[test]
    fn a_change_stays_within_its_scope_and_its_number_of_files() {
        let change = paths(&["src/a.rs", "src/b.rs", "README.md"]);
        assert_eq!(limits(&change, Some(NO_LIMIT), Some(3), &[]).0, Check::Pass);
        assert_eq!(limits(&change, None, None, &[]).0, Check::Skipped);
        let (came, said) = limits(&change, Some("src"), Some(2), &[]);
        assert_eq!(came, Check::Fail);
        assert_eq!(
            said,
            "outside of the scope `src`:\n  README.md\n\
             3 files are changed, and no more than 2 may be:\n  src/a.rs\n  src/b.rs\n  README.md\n"
        );
        // Whatever the scope, a session's own papers are no part of the work.
        let apart = [".harness".to_owned()];
        let own = paths(&[".harness/state.json"]);
        assert_eq!(limits(&own, Some(NO_LIMIT), None, &apart).0, Check::Fail);
    }

    #[test]
    fn nothing_at_all_is_no_change_but_where_it_was_done_before() {
        assert_eq!(
            [made(0, false).0, made(0, true).0, made(1, false).0],
            [Check::Fail, Check::Skipped, Check::Pass]
        );
        assert!(!Measure::ChangeMade.proves());
    }

    #[test]
    fn what_is_left_behind_is_named_by_kind_file_and_line() {
        let file = |path: &str, now: &str| File {
            path: path.into(),
            before: Vec::new(),
            now: now.as_bytes().to_vec(),
        };
        let files = [file("b.js", "debugger;\nlet a;\n// a.b(c);\n"), file("a.js", "debugger;\n")];
        let (came, said) = left_behind(&residuals(&files));
        assert_eq!(came, Check::Fail);
        assert_eq!(
            said,
            "leftover debug output:\n  a.js:1: debugger;\n  b.js:1: debugger;\ncommented-out code:\n  b.js:3: // a.b(c);\n"
        );
        let many: String = (0..60).map(|at| format!("console.debug({at});\n")).collect();
        assert!(left_behind(&residuals(&[file("c.js", &many)])).1.ends_with("\n  and 10 more\n"));
        assert_eq!(left_behind(&[]).0, Check::Pass);
    }

    #[test]
    fn a_change_touches_what_its_plan_names_and_nothing_else() {
        let may = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let change = paths(&["src/a.rs", "docs/b.md"]);
        assert_eq!(radius(&change, Some(&may(&["src/", "docs/b.md"])), &[]).0, Check::Pass);
        let (came, said) = radius(&change, Some(&may(&["src/a.rs", " "])), &[]);
        assert_eq!(came, Check::Fail);
        assert!(said.ends_with("names: src/a.rs,  ):\n  docs/b.md\n"), "{said}");
        for nothing in [None, Some(&may(&[])[..]), Some(&may(&["", " "])[..])] {
            assert_eq!(radius(&change, nothing, &[]).0, Check::Skipped, "{nothing:?}");
        }
        // A name is a name: nothing in it divides it, and nothing leads to what is nobody's to change.
        assert_eq!(radius(&paths(&["b.rs"]), Some(&may(&["a,b.rs"])), &[]).0, Check::Fail);
        let apart = [".harness".to_owned()];
        for path in [".git/config", ".harness/x", "../x"] {
            let came = radius(&paths(&[path]), Some(&may(&["**"])), &apart).0;
            assert_eq!(came, Check::Fail, "{path}");
        }
        // What no plan could name is said to be that.
        let (came, said) = radius(&paths(&["src/a:b", "c.rs"]), Some(&may(&["src"])), &apart);
        assert_eq!(came, Check::Fail);
        assert!(said.starts_with("no change is taken at src/a:b: a part of it is no"), "{said}");
        assert!(said.ends_with("names: src):\n  c.rs\n"), "{said}");
        // A device of some platform is a file here.
        for path in ["src/aux.c", "src/CON.txt", "nul/com1.rs"] {
            assert_eq!(
                radius(&paths(&[path]), Some(&may(&[path])), &apart).0,
                Check::Pass,
                "{path}"
            );
        }
        // What another kind of session keeps to itself is a directory like any other.
        let change = paths(&["memory/alloc.rs"]);
        let may = may(&["memory/alloc.rs"]);
        assert_eq!(radius(&change, Some(&may), &apart).0, Check::Pass);
    }

    #[test]
    fn what_a_change_leaves_to_be_done_is_told_apart_from_what_was_left_before() {
        let path = Path::new("a.rs");
        let before = b"// TODO: old\nfn a() {}\n";
        let now = b"fn b() {}\n// TODO: old\n// FIXME soon\nlet todo = TODOS;\n";
        let found = todos(path, before, now);
        let told: Vec<_> = found.iter().map(|todo| (todo.line.as_str(), todo.new)).collect();
        assert_eq!(told, [("a.rs:2: // TODO: old", false), ("a.rs:3: // FIXME soon", true)]);
        assert_eq!(left(&found, true).0, Check::Fail);
        let (came, said) = left(&found, false);
        assert_eq!(came, Check::Skipped);
        assert!(
            said.contains("by this change:\n  a.rs:3") && said.contains("before it:\n  a.rs:2")
        );
        assert_eq!(left(&todos(path, before, before), true).0, Check::Pass);
        assert_eq!(todos(path, b"", b"\0 TODO"), []);
    }
}
