//! What the tools do to a lane, and what they do not.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::offer::offered;
use super::*;

/// A lane with a little program in it, and something precious beside it.
fn lane() -> (tempfile::TempDir, Hands) {
    let dir = tempfile::tempdir().unwrap();
    let lane = dir.path().join("lane");
    for (path, text) in [
        ("lane/src/main.rs", "fn main() {\n    greet();\n}\n"),
        ("lane/src/greet.rs", "pub fn greet() {}\n// twice\n// twice\n"),
        ("lane/target/debug/greet.rs", "greet"),
        ("lane/.git/config", "greet"),
        ("lane/.gitignore", "# built\n/target/\n*.log\n"),
        ("precious", "precious"),
    ] {
        let path = dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let hands = Hands::new(&lane, &[], &json!({"type": "object"}), vec!["HOME".into()]).unwrap();
    (dir, hands)
}

fn said(did: Result<Did, Cannot>) -> String {
    did.unwrap().text
}

#[test]
fn a_role_is_offered_what_it_may_use() {
    let names = |may_use: &[&str]| {
        let may_use: Vec<String> = may_use.iter().map(|&word| word.to_owned()).collect();
        let tools = offered(&may_use, &json!({})).into_iter();
        tools.map(|tool| tool.name).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&[]), "read search edit write shell answer");
    assert_eq!(names(&["read"]), "read search answer");
    assert_eq!(names(&["search"]), "search answer");
    assert_eq!(names(&["read", "edit", "web"]), "read search edit write answer");
    assert_eq!(names(&["run"]), "shell answer");
    let (dir, _) = lane();
    let reader = Hands::new(dir.path(), &["read".to_owned()], &json!({}), Vec::new()).unwrap();
    assert!(reader.using("shell", &json!({"command": "true"})).unwrap_err().contains("no tool"));
    assert!(reader.using("read", &json!({"unreadable": "{\"pa"})).unwrap_err().contains("no JSON"));
}

#[test]
fn a_file_is_read_in_lines() {
    let (dir, hands) = lane();
    let read = |input: Value| hands.using("read", &input);
    assert_eq!(
        said(read(json!({"path": "src/main.rs"}))),
        "1\tfn main() {\n2\t    greet();\n3\t}\n"
    );
    let some = json!({"path": "src/main.rs", "first_line": 2, "last_line": "2"});
    assert_eq!(said(read(some)), "2\t    greet();\n");
    let from_the_top = dir.path().join("lane/src/main.rs");
    assert!(said(read(json!({"path": from_the_top}))).contains("greet"));
    assert!(read(json!({"path": "src/main.rs", "first_line": 9})).unwrap_err().contains("3 lines"));
    fs::write(dir.path().join("lane/binary"), b"a\0b").unwrap();
    fs::write(dir.path().join("lane/latin"), b"\xe4").unwrap();
    fs::write(dir.path().join("lane/empty"), b"").unwrap();
    for path in ["binary", "latin"] {
        assert!(read(json!({"path": path})).unwrap_err().contains("is no text"));
    }
    assert!(said(read(json!({"path": "empty"}))).contains("empty"));
    for odd in [json!({}), json!({"path": 1}), json!({"path": "src"}), json!({"path": "nowhere"})] {
        assert!(read(odd).is_err());
    }
}

#[test]
fn an_edit_is_exact_and_meant_for_one_place() {
    let (dir, hands) = lane();
    let path = dir.path().join("lane/src/greet.rs");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let edit = |old: &str, new: &str| {
        hands.using("edit", &json!({"path": "src/greet.rs", "old": old, "new": new}))
    };
    let did = edit("{}", "{ say(\"$1\") }").unwrap();
    assert_eq!(did.changed.as_deref(), Some("src/greet.rs"));
    assert!(fs::read_to_string(&path).unwrap().starts_with("pub fn greet() { say(\"$1\") }\n"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o755, "still runs");
    assert!(edit("// twice", "").unwrap_err().contains("2 times"));
    assert!(edit("//  twice", "").unwrap_err().contains("is not in"));
    assert!(edit("", "x").unwrap_err().contains("empty"));
    let nowhere = json!({"path": "nowhere", "old": "a", "new": "b"});
    assert!(hands.using("edit", &nowhere).unwrap_err().contains("`write` makes"));
}

#[test]
fn nothing_outside_of_the_lane_is_read_or_written() {
    let (dir, hands) = lane();
    let lane = dir.path().join("lane");
    let precious = dir.path().join("precious");
    symlink("../precious", lane.join("up")).unwrap();
    symlink(&precious, lane.join("over")).unwrap();
    symlink("..", lane.join("parent")).unwrap();
    symlink("src/main.rs", lane.join("inside")).unwrap();
    let outside = ["../precious", "src/../../precious", "up", "over", "parent/precious"];
    for path in outside.into_iter().chain([precious.to_str().unwrap()]) {
        for (tool, input) in [
            ("read", json!({"path": path})),
            ("write", json!({"path": path, "content": "mine"})),
            ("edit", json!({"path": path, "old": "precious", "new": "mine"})),
        ] {
            assert!(hands.using(tool, &input).is_err(), "{tool} {path}");
        }
    }
    for path in ["..", "parent", "/"] {
        let input = json!({"pattern": "precious", "path": path});
        assert!(hands.using("search", &input).is_err(), "{path}");
    }
    assert!(hands.using("write", &json!({"path": "parent/new", "content": ""})).is_err());
    assert_eq!(fs::read_to_string(&precious).unwrap(), "precious");
    assert!(!dir.path().join("new").exists());
    // A link that stays inside is read, and never written over.
    assert!(said(hands.using("read", &json!({"path": "inside"}))).contains("greet"));
    let error = hands.using("write", &json!({"path": "inside", "content": ""})).unwrap_err();
    assert!(error.contains("symbolic link"), "{error}");
    assert!(lane.join("inside").is_symlink());
    // What is git's is git's.
    for path in [".git/config", "src/.git/hooks/x"] {
        assert!(hands.using("write", &json!({"path": path, "content": ""})).is_err(), "{path}");
    }
}

#[test]
fn a_file_is_written_with_the_directories_above_it() {
    let (dir, hands) = lane();
    let input = json!({"path": "docs/new/a.md", "content": "ä\n"});
    let did = hands.using("write", &input).unwrap();
    assert_eq!(did.changed.as_deref(), Some("docs/new/a.md"));
    assert_eq!(fs::read_to_string(dir.path().join("lane/docs/new/a.md")).unwrap(), "ä\n");
    hands.using("write", &json!({"path": "docs/new/a.md", "content": ""})).unwrap();
    assert_eq!(fs::read(dir.path().join("lane/docs/new/a.md")).unwrap(), b"");
}

#[test]
fn lines_are_found_and_what_is_ignored_is_not_looked_at() {
    let (dir, hands) = lane();
    let search = |input: Value| hands.using("search", &input);
    let found = said(search(json!({"pattern": "gre+t"})));
    assert_eq!(found, "src/greet.rs:1: pub fn greet() {}\nsrc/main.rs:2:     greet();\n");
    assert_eq!(said(search(json!({"pattern": "greet", "glob": "m*.rs"}))).lines().count(), 1);
    assert_eq!(said(search(json!({"glob": "src/**"}))), "src/greet.rs\nsrc/main.rs\n");
    assert_eq!(said(search(json!({"path": "src"}))), "src/greet.rs\nsrc/main.rs\n");
    assert_eq!(said(search(json!({"pattern": "no such thing"}))), "nothing was found");
    assert!(search(json!({"pattern": "("})).unwrap_err().contains("no regular expression"));
    let many = "x\n".repeat(1_000);
    fs::write(dir.path().join("lane/many"), many).unwrap();
    let found = said(search(json!({"pattern": "^x$"})));
    assert_eq!(found.lines().count(), 201);
    assert!(found.contains("there may be more"));
}

#[test]
fn a_command_runs_in_the_lane_and_says_how_it_ended() {
    let (_dir, hands) = lane();
    let shell = |command: &str| hands.using("shell", &json!({"command": command}));
    assert_eq!(
        said(shell("cat src/main.rs; echo wrong >&2")),
        "fn main() {\n    greet();\n}\nwrong\n"
    );
    assert_eq!(said(shell("true")), "(it printed nothing)");
    assert_eq!(said(shell("echo \"[$HOME]\"")), "[]\n", "what is withheld is not there");
    assert_eq!(shell("echo a; exit 3").unwrap_err(), "a\n\n[it ended with 3]");
    assert!(shell("kill -9 $$").unwrap_err().contains("[it ended with 137]"));
    let long = said(shell("yes | head -c 1000000; echo end"));
    assert!(long.len() < 300_000 && long.ends_with("end\n") && long.contains("left out"));
}

#[test]
fn a_command_that_takes_too_long_is_ended_with_all_that_it_started() {
    let (dir, hands) = lane();
    let input =
        json!({"command": "echo begun; (sleep 100; echo x > late) & sleep 100", "seconds": 1});
    let error = hands.using("shell", &input).unwrap_err();
    assert!(error.starts_with("begun\n") && error.contains("longer than 1 seconds"), "{error}");
    // What was left in the background is gone as well: the pipe that it held is closed.
    let mark = format!("windlass-test-{}", std::process::id());
    let command = format!("sh -c 'sleep 100; : {mark}' & echo here");
    assert_eq!(said(hands.using("shell", &json!({"command": command}))), "here\n");
    let living = || {
        let entries = fs::read_dir("/proc").unwrap().flatten();
        let lines = entries.map(|entry| fs::read(entry.path().join("cmdline")).unwrap_or_default());
        lines.filter(|line| String::from_utf8_lossy(line).contains(&mark)).count()
    };
    // Who was ended is gone when the system has come to it.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while living() > 0 {
        assert!(std::time::Instant::now() < deadline, "somebody lives on");
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    assert!(!dir.path().join("lane/late").exists());
}
