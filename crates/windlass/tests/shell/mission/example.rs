//! The example in README, as somebody does who types what stands there.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

/// The words of a command after its name; what stands in quotes is one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('\'').enumerate();
    let words = parts.flat_map(|(nth, part)| match nth % 2 {
        0 => part.split_whitespace().collect::<Vec<_>>(),
        _ => vec![part],
    });
    words.skip(1).collect()
}

#[test]
fn what_readme_says_works_as_it_is_written() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(top.join("README.md")).unwrap();
    let section = page.split("## Build a whole spec").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    assert!(block.contains("cp -r examples/mission "), "{block}");
    let mut files = Vec::new();
    for entry in fs::read_dir(top.join("examples/mission")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.push((name, fs::read_to_string(&path).unwrap()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let scratch = Scratch::with(&files);
    let commands = block.lines().filter(|line| line.starts_with("windlass "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split("   ").next()).collect();
    assert!(commands.len() >= 4, "{commands:?}");
    let mut told = String::new();
    for command in commands {
        let output = scratch.windlass(&words(command)).output().unwrap();
        told += &String::from_utf8_lossy(&output.stdout);
        let (code, said) = ended(output);
        told += &said;
        assert_eq!(code, Some(0), "{command}: {told}");
    }
    let queue = fs::read_to_string(scratch.repo().join(".harness/features.json")).unwrap();
    let queue: Value = serde_json::from_str(&queue).unwrap();
    let mut stands = queue["features"].as_array().unwrap().iter().map(|it| {
        (
            it["id"].as_str().unwrap_or_default(),
            it["status"].as_str().unwrap_or_default(),
            &it["attempts"],
        )
    });
    let [bye, hello] = [("F-BYE", "passed", 2), ("F-HELLO", "passed", 2)];
    let all: Vec<(&str, &str, i64)> =
        stands.by_ref().map(|(id, status, n)| (id, status, n.as_i64().unwrap_or(-1))).collect();
    assert!(all.contains(&bye) && all.contains(&hello), "{all:?}\n{told}");
    assert_eq!(all.iter().filter(|(_, status, _)| *status == "passed").count(), 5, "{told}");
    for (word, says) in [("hello", "Hello."), ("bye", "Goodbye."), ("thanks", "Thank you.")] {
        let script = scratch.git(&["show", &format!("main:words/{word}.sh")]);
        assert!(script.contains(says), "{script}");
    }
    assert!(fs::metadata(scratch.repo().join("report.html")).unwrap().len() > 0);
}
