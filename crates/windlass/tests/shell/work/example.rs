//! The example in README, as somebody does who types what stands there.

use std::fs;
use std::path::Path;

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
    let section = page.split("## Work off Plans.md").nth(1).unwrap();
    let block = section.split("```").nth(1).unwrap();
    assert!(block.contains("cp -r examples/work "), "{block}");
    let mut files = Vec::new();
    for entry in fs::read_dir(top.join("examples/work")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.push((name, fs::read_to_string(&path).unwrap()));
    }
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let scratch = Scratch::with(&files);
    let mut told = String::new();
    let commands = block.lines().filter(|line| line.starts_with("windlass "));
    let commands: Vec<&str> = commands.filter_map(|line| line.split("   ").next()).collect();
    assert!(commands.len() >= 2, "{commands:?}");
    for command in commands {
        let words = words(command);
        let output = scratch.windlass(&words).output().unwrap();
        told += &String::from_utf8_lossy(&output.stdout);
        let (code, said) = ended(output);
        told += &said;
        assert_eq!(code, Some(0), "{command}: {told}");
    }
    assert!(told.contains("✓ Parallel Complete: 3/3 tasks"), "{told}");
    assert_eq!(scratch.git(&["show", "main:src/world.txt"]), "Hello, world.");
    let plans = fs::read_to_string(scratch.repo().join("Plans.md")).unwrap();
    assert_eq!(plans.matches("| cc:Done [").count(), 3, "{plans}");
}
