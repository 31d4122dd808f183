//! The direction of the rooms: `core`, `process` ← `journal`, `repo`, `agents`, `sources`, `browser` ←
//! `engine` ← `clerks` ← `windlass`. Code that wants to look the other way does not build for long.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

const BASE: &[&str] = &["windlass-core", "windlass-process"];

/// Requests that leave this machine.
const HTTP: &[&str] = &["windlass-http"];

const ADAPTERS: &[&str] = &[
    "windlass-journal",
    "windlass-repo",
    "windlass-agents",
    "windlass-sources",
    "windlass-browser",
];

/// Which rooms a room may use. The five adapters never use each other.
const MAY_USE: &[(&str, &[&[&str]])] = &[
    ("windlass-core", &[]),
    ("windlass-process", &[]),
    ("windlass-sim", &[&["windlass-core"]]),
    ("windlass-testkit", &[]),
    ("windlass-trackerkit", &[&["windlass-testkit"]]),
    ("windlass-words", &[]),
    ("windlass-http", &[]),
    ("windlass-journal", &[BASE]),
    ("windlass-repo", &[BASE]),
    ("windlass-agents", &[BASE]),
    ("windlass-sources", &[BASE, HTTP]),
    ("windlass-browser", &[BASE]),
    ("windlass-inside", &[BASE, HTTP, &["windlass-agents"]]),
    ("windlass-engine", &[BASE, ADAPTERS]),
    (
        "windlass-clerks",
        &[
            BASE,
            &["windlass-journal", "windlass-agents", "windlass-sources", "windlass-engine"],
            &["windlass-words"],
        ],
    ),
    (
        "windlass",
        &[
            BASE,
            ADAPTERS,
            &["windlass-inside", "windlass-engine", "windlass-clerks", "windlass-sim"],
            &["windlass-words"],
            // What agents are tried out on.
            &["windlass-testkit"],
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
    assert_eq!(complaints("windlass-journal", &["windlass-core", "rusqlite"]), 0);
    assert_eq!(complaints("windlass-core", &["windlass-process"]), 1);
    assert_eq!(complaints("windlass-repo", &["windlass-journal"]), 1);
    assert_eq!(complaints("windlass-sim", &["windlass-core", "windlass-engine"]), 1);
    assert_eq!(complaints("windlass-engine", &["windlass"]), 1);
    assert_eq!(complaints("windlass-attic", &[]), 1);
}

fn wrong_ways(package: &Package) -> Vec<String> {
    let Some((_, allowed)) = MAY_USE.iter().find(|(name, _)| *name == package.name) else {
        return vec![format!("{} is a new room: give it a line in MAY_USE", package.name)];
    };
    let rooms = package.uses.iter().filter(|name| is_room(name));
    let wrong = rooms.filter(|name| !allowed.concat().contains(&name.as_str()));
    wrong.map(|name| format!("{} may not depend on {name}", package.name)).collect()
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
