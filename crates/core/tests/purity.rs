//! The proof that core's lints bite: clippy, told to use core's own `clippy.toml`, must report
//! every single ban on a file that breaks them all. Without this a typo in a path would silently
//! open a door.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "this test starts clippy and reads files; only the crate itself must be pure"
)]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const LINTS: [&str; 3] = ["disallowed-types", "disallowed-methods", "disallowed-macros"];

#[test]
fn clippy_reports_every_ban() {
    let reports = reports_on_impure_fixture();
    let errors: Vec<_> = reports.iter().filter(|r| r.level == "error").collect();
    assert!(errors.is_empty(), "the fixture must compile: {errors:#?}");

    let misspelt: Vec<_> =
        reports.iter().filter(|r| r.message.contains("does not refer to")).collect();
    assert!(misspelt.is_empty(), "paths in clippy.toml that do not exist: {misspelt:#?}");

    let reported: BTreeSet<String> = reports.iter().filter_map(Report::banned_path).collect();
    let silent: Vec<_> = bans().into_iter().filter(|ban| !reported.contains(ban)).collect();
    assert!(
        silent.is_empty(),
        "bans in clippy.toml that clippy did not report on tests/fixtures/impure.rs, \
         where each needs a use: {silent:#?}"
    );
}

#[test]
fn every_family_is_banned() {
    let bans = bans();
    for one_of_its_family in [
        "std::collections::HashMap",
        "std::env::var",
        "std::fs::read",
        "std::hash::RandomState",
        "std::io::stdout",
        "std::net::TcpStream",
        "std::println",
        "std::process::Command",
        "std::sync::Mutex",
        "std::thread::spawn",
        "std::time::Instant",
        "std::time::SystemTime",
    ] {
        assert!(bans.contains(one_of_its_family), "{one_of_its_family} is no longer banned");
    }
}

#[test]
fn a_ban_is_an_error_in_core() {
    let core = read_toml(&core_dir().join("Cargo.toml"));
    assert_eq!(core["lints"]["workspace"].as_bool(), Some(true), "core must inherit the lints");

    let root = read_toml(&core_dir().join("../../Cargo.toml"));
    let clippy = &root["workspace"]["lints"]["clippy"];
    for lint in LINTS.map(|lint| lint.replace('-', "_")) {
        let level = clippy.get(&lint).and_then(toml::Value::as_str);
        assert_eq!(level, Some("deny"), "the workspace must deny clippy::{lint}");
    }
}

/// What clippy said about one place.
#[derive(Debug)]
struct Report {
    level: String,
    message: String,
}

impl Report {
    /// `` use of a disallowed method `std::fs::read` `` names `std::fs::read`.
    fn banned_path(&self) -> Option<String> {
        let rest = self.message.strip_prefix("use of a disallowed ")?;
        rest.split('`').nth(1).map(str::to_owned)
    }
}

fn reports_on_impure_fixture() -> Vec<Report> {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let fixtures = core_dir().join("tests/fixtures");
    let imbl = scratch.join("libimbl.rlib");
    let stub =
        clippy(&["--crate-name=imbl", "--crate-type=rlib"], &fixtures.join("imbl.rs"), &imbl);
    assert!(stub.status.success(), "{}", String::from_utf8_lossy(&stub.stderr));

    let imbl = format!("--extern=imbl={}", imbl.display());
    let json = ["--crate-type=lib", "--emit=metadata", "--error-format=json", &imbl];
    let output = clippy(&json, &fixtures.join("impure.rs"), &scratch.join("libimpure.rmeta"));
    let lines = String::from_utf8(output.stderr).expect("clippy writes UTF-8");
    lines.lines().map(report).collect()
}

fn clippy(options: &[&str], source: &Path, out: &Path) -> Output {
    Command::new("clippy-driver")
        .args(options)
        .arg("--edition=2024")
        .arg("-o")
        .arg(out)
        .arg(source)
        .env("CLIPPY_CONF_DIR", core_dir())
        .output()
        .unwrap_or_else(|error| {
            panic!(
                "clippy-driver could not be started ({error}). The purity of core is proved with \
                 clippy: install it with `rustup component add clippy`."
            )
        })
}

fn report(line: &str) -> Report {
    let json: serde_json::Value =
        serde_json::from_str(line).unwrap_or_else(|_| panic!("clippy said: {line}"));
    let text = |key: &str| json[key].as_str().unwrap_or_default().to_owned();
    Report { level: text("level"), message: text("message") }
}

/// Every path that core's `clippy.toml` bans.
fn bans() -> BTreeSet<String> {
    let config = read_toml(&core_dir().join("clippy.toml"));
    let entries = LINTS.iter().flat_map(|lint| config[lint].as_array().expect("a list of bans"));
    entries.map(|entry| entry["path"].as_str().expect("a path").to_owned()).collect()
}

fn read_toml(path: &Path) -> toml::Value {
    let text =
        std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn core_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}
