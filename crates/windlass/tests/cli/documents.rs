//! What the documents say of the code is true: the files they name are there, the tests they name can be run, the
//! guards they list still stand, and no file has grown too long to be read.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A file that is longer wants to be split along a noun.
const LINES_MAX: usize = 800;

fn top() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.ancestors().nth(2).expect("a workspace").to_owned()
}

pub fn read(path: &str) -> String {
    fs::read_to_string(top().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The Rust files below a directory, by path from the top.
pub fn rust(dir: &str) -> Vec<String> {
    let mut files = Vec::new();
    for entry in fs::read_dir(top().join(dir)).expect("a readable directory") {
        let entry = entry.expect("a readable entry");
        let path = format!("{dir}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files.extend(rust(&path));
        } else if path.ends_with(".rs") {
            files.push(path);
        }
    }
    files
}

/// What stands between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    // Fenced blocks have three, which leave two empty pieces and so keep the count even.
    text.split('`').skip(1).step_by(2)
}

#[test]
fn no_file_is_too_long() {
    let all = rust("crates");
    let long = all.iter().filter(|path| read(path).lines().count() > LINES_MAX);
    assert_eq!(long.collect::<Vec<_>>(), [""; 0], "split them along a noun");
    let mut lengths: Vec<usize> = all.iter().map(|path| read(path).lines().count()).collect();
    lengths.sort_unstable();
    assert!(lengths[lengths.len() / 2] < 250, "half of the files have more than 250 lines");
}

#[test]
fn files_that_documents_name_are_there() {
    let rooms = ["crates/", "scripts/", "workflows/", "roles/", "skills/", "demo/", "examples/"];
    let mut absent = Vec::new();
    for document in documents() {
        let text = read(&document);
        let named = quoted(&text).map(|word| word.split([' ', ':']).next().unwrap_or_default());
        // What is said of forms and settings is about a person's own `docs/`.
        let theirs = document.starts_with("docs/adr/")
            || ["docs/formats.md", "docs/configuration.md"].contains(&document.as_str());
        let ours = |word: &str| {
            rooms.iter().any(|room| word.starts_with(room)) || word.starts_with("docs/") && !theirs
        };
        let named = named.filter(|word| ours(word));
        // `crates/*/tests` stands for several.
        let named = named.filter(|word| !word.contains('*'));
        let is_there = |path: &str| top().join(path).exists();
        absent
            .extend(named.filter(|path| !is_there(path)).map(|path| format!("{document}: {path}")));
    }
    assert_eq!(absent, [""; 0]);
}

/// All that is written about the program: at the top, in `docs` and below it.
fn documents() -> Vec<String> {
    let mut all = Vec::new();
    for dir in ["", "docs/", "docs/adr/"] {
        let entries = fs::read_dir(top().join(dir)).expect("documents");
        let names = entries.map(|it| it.expect("an entry").file_name().into_string());
        let names = names.map(|name| name.expect("a plain name"));
        all.extend(names.filter(|name| name.ends_with(".md")).map(|name| format!("{dir}{name}")));
    }
    assert!(all.len() > 30, "{all:?} is too few to be all of them");
    all
}

#[test]
fn people_are_told_what_each_file_of_the_program_is_for() {
    let text = read("docs/architecture.md");
    let (_, section) = text.split_once("\n**The program**").expect("its part");
    let (section, _) = section.split_once("\n## ").expect("what comes after it");
    let own = rust("crates/windlass/src");
    let top = own.iter().filter_map(|path| path.strip_prefix("crates/windlass/src/"));
    let top = top.filter(|name| !name.contains('/'));
    let untold: Vec<_> = top.filter(|name| !section.contains(&format!("`{name}`"))).collect();
    assert_eq!(untold, [""; 0]);
}

#[test]
fn every_decision_is_in_the_list_of_them() {
    let text = read("docs/architecture.md");
    let all = documents();
    let all = all.iter().filter_map(|path| path.strip_prefix("docs/"));
    let untold =
        all.filter(|path| path.starts_with("adr/") && !text.contains(&format!("({path})")));
    assert_eq!(untold.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn links_of_documents_lead_somewhere() {
    let mut dead = Vec::new();
    for path in documents().iter().map(|document| top().join(document)) {
        let text = fs::read_to_string(&path).expect("a readable document");
        let links = text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let links = links.filter(|link| !link.is_empty() && !link.contains("://"));
        let dir = path.parent().expect("a directory");
        let lost = links.filter(|link| !dir.join(link).exists());
        dead.extend(lost.map(|link| format!("{}: {link}", path.display())));
    }
    assert_eq!(dead, [""; 0]);
}

#[test]
fn tests_that_the_coverage_names_are_there() {
    let code: String = rust("crates").iter().map(|path| read(path)).collect();
    let functions: BTreeSet<&str> =
        code.split("fn ").filter_map(|rest| rest.split(['(', '<']).next()).collect();
    let files = rust("crates");
    let modules: BTreeSet<&str> =
        files.iter().filter_map(|path| Path::new(path).file_stem()?.to_str()).collect();
    for document in ["docs/coverage.md", "docs/faults.md", "docs/security.md"] {
        let text = read(document);
        let tests = quoted(&text).filter(|name| name.contains("::") && !name.contains(' '));
        let last = tests.filter_map(|name| Some((name, name.rsplit("::").next()?)));
        let absent = last.filter(|(_, word)| {
            // One test, or a whole module of them.
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            word.chars().all(is_name)
                && (word.contains('_') || document != "docs/coverage.md")
                && !functions.contains(word)
                && !modules.contains(word)
        });
        assert_eq!(absent.map(|(name, _)| name).collect::<Vec<_>>(), [""; 0], "{document}");
    }
}

#[test]
fn guards_still_stand_where_the_list_says() {
    let list: Value = toml::from_str(&read("docs/guards.toml")).expect("a list of guards");
    let text = |guard: &Value, key: &str| guard[key].as_str().unwrap_or_default().to_owned();
    let mut gone = Vec::new();
    for guard in list["guard"].as_array().expect("guards") {
        let (name, from, test) = (text(guard, "name"), text(guard, "from"), text(guard, "test"));
        let function = test.rsplit("::").next().unwrap_or_default().to_owned();
        let found = read(&text(guard, "file")).matches(&from).count();
        if found != 1 || from.is_empty() {
            gone.push(format!("{name}: stands {found} times in its file"));
        }
        let called = format!("fn {function}(");
        if !rust("crates").iter().any(|path| read(path).contains(&called)) {
            gone.push(format!("{name}: there is no test {test}"));
        }
    }
    assert_eq!(gone, [""; 0]);
}
