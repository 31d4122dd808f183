//! The direction of the rooms: `core`, `process` ← `journal`, `repo`, `agents`, `sources`, `browser` ←
//! `engine` ← `clerks` ← `windlass`. Code that wants to look the other way does not build for long.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::documents::{read, rust};

/// Which rooms a room uses: as little as there is need for, and the adapters never each other. The table of
/// docs/architecture.md says the same to people.
const MAY_USE: &[(&str, &[&str])] = &[
    ("core", &[]),
    ("process", &[]),
    ("http", &[]),
    ("words", &[]),
    ("testkit", &[]),
    ("journal", &[]),
    ("repo", &[]),
    ("sim", &["core"]),
    ("trackerkit", &["testkit"]),
    ("browser", &["process"]),
    ("agents", &["core"]),
    ("sources", &["core", "http", "process"]),
    ("inside", &["agents", "http", "process"]),
    ("engine", &["agents", "browser", "core", "journal", "process", "repo", "sources"]),
    ("clerks", &["agents", "core", "engine", "journal", "process", "sources", "words"]),
    (
        "windlass",
        &[
            "agents", "clerks", "core", "engine", "inside", "journal", "process", "repo", "sim",
            "sources", // What agents are tried out on.
            "testkit", "words",
        ],
    ),
];

/// What core may bring in from outside: nothing that reads a clock, a disk or the weather.
const CORE_MAY_BRING: &[&str] = &["blake3", "imbl", "serde", "strsim", "thiserror", "toml"];

#[test]
fn rooms_look_one_way() {
    let wrong: Vec<_> = packages().iter().flat_map(wrong_ways).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn nobody_but_the_agents_names_a_kind_of_them() {
    let list = read("crates/agents/src/kind.rs");
    let (_, list) = list.rsplit_once("kinds! {").expect("the list of them");
    let rows = list.lines().take_while(|line| *line != "}");
    let kinds = rows.filter_map(|row| row.trim().split_once(" = "));
    let kinds: Vec<String> = kinds.map(|(kind, _)| format!(" Kind::{kind}(")).collect();
    assert!(kinds.len() > 7, "{kinds:?} is too few to be all of them");
    let others = rust("crates").into_iter();
    let others =
        others.filter(|path| path.contains("/src/") && !path.starts_with("crates/agents/"));
    let named = others.filter(|path| {
        let text = read(path).replace(['(', '|'], " ").replace("  ", " ");
        kinds.iter().any(|kind| text.contains(&kind.replace('(', " ")))
    });
    assert_eq!(named.collect::<Vec<_>>(), [""; 0], "ask `Settings` what you want to know of it");
}

#[test]
fn core_brings_in_only_what_is_pure() {
    let packages = packages();
    let core = packages.iter().find(|package| package.name == "windlass-core").expect("core");
    let strange: Vec<_> =
        core.uses.iter().filter(|name| !CORE_MAY_BRING.contains(&name.as_str())).collect();
    assert!(strange.is_empty(), "core may not depend on {strange:?}");
}

#[test]
fn a_wrong_way_is_noticed() {
    let package = |name: &str, uses: &[&str]| Package {
        name: name.to_owned(),
        dir: PathBuf::new(),
        uses: uses.iter().map(|&name| name.to_owned()).collect(),
        tests_use: BTreeSet::new(),
    };
    let complaints = |name: &str, uses: &[&str]| wrong_ways(&package(name, uses)).len();
    assert_eq!(complaints("windlass-agents", &["windlass-core", "memchr"]), 0);
    assert_eq!(complaints("windlass-core", &["windlass-process"]), 1);
    assert_eq!(complaints("windlass-repo", &["windlass-journal"]), 1);
    assert_eq!(complaints("windlass-sim", &["windlass-core", "windlass-engine"]), 1);
    assert_eq!(complaints("windlass-browser", &["windlass-process", "windlass"]), 1);
    assert_eq!(complaints("windlass-attic", &[]), 1);
    assert_eq!(complaints("windlass-trackerkit", &[]), 1, "what nobody needs may go");
}

fn wrong_ways(package: &Package) -> Vec<String> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == room(&package.name)) else {
        return vec![format!("{} is a new room: give it a line in MAY_USE", package.name)];
    };
    let used: BTreeSet<&str> = rooms_of(package);
    let wrong = used.iter().filter(|name| !allowed.contains(name));
    let wrong = wrong.map(|name| format!("{} may not depend on {name}", package.name));
    let spare = allowed.iter().filter(|name| !used.contains(*name));
    let spare = spare.map(|name| format!("{} has no need of {name} any more", package.name));
    wrong.chain(spare).collect()
}

/// The rooms that a room's code uses.
fn rooms_of(package: &Package) -> BTreeSet<&str> {
    package.uses.iter().filter(|name| is_room(name)).map(|name| room(name)).collect()
}

/// What a room is called: `windlass-core` is `core`.
fn room(package: &str) -> &str {
    package.strip_prefix("windlass-").unwrap_or(package)
}

/// Which rooms each uses, as a table of people's says it: the first cell has `crates/ROOM`, the last the names.
fn told_to_people(text: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let rows = text.lines().filter_map(|line| {
        let line = line.strip_prefix("| `crates/")?;
        let (room, rest) = line.split_once("` |")?;
        let uses = rest.trim_end().strip_suffix('|')?.rsplit('|').next()?.trim();
        let uses = uses.split(", ").filter(|name| *name != "nothing of ours");
        Some((room, uses.collect()))
    });
    rows.collect()
}

#[test]
fn people_are_told_which_rooms_each_uses() {
    let text = read("docs/architecture.md");
    let packages = packages();
    let used: BTreeMap<&str, BTreeSet<&str>> =
        packages.iter().map(|package| (room(&package.name), rooms_of(package))).collect();
    assert_eq!(told_to_people(&text), used);
}

fn is_room(name: &str) -> bool {
    name == "windlass" || name.starts_with("windlass-")
}

/// A member of the workspace and the names of what it depends on.
pub struct Package {
    pub name: String,
    pub dir: PathBuf,
    /// For the code itself and its build script.
    pub uses: BTreeSet<String>,
    pub tests_use: BTreeSet<String>,
}

pub fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--no-deps", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo can be started");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(!packages.is_empty());
    packages.iter().map(package).collect()
}

fn package(json: &Value) -> Package {
    let manifest = PathBuf::from(text(&json["manifest_path"]));
    let dependencies = json["dependencies"].as_array().expect("dependencies");
    let (for_tests, for_code): (Vec<_>, Vec<_>) =
        dependencies.iter().partition(|dependency| dependency["kind"] == "dev");
    let names = |list: Vec<&Value>| list.into_iter().map(|one| text(&one["name"])).collect();
    Package {
        name: text(&json["name"]),
        dir: manifest.parent().expect("a manifest is in a directory").to_owned(),
        uses: names(for_code),
        tests_use: names(for_tests),
    }
}

fn text(json: &Value) -> String {
    json.as_str().expect("text").to_owned()
}
