//! What the benches of whole runs have in common.

use std::path::Path;
use std::process::Command;

/// Makes a repository of a directory, with all that is in it as its first commit.
pub fn commit_all(repo: &Path) {
    for args in [
        &["init", "-q", "-b", "main"][..],
        &["config", "user.name", "Ada"],
        &["config", "user.email", "ada@example.org"],
        &["add", "-A"],
        &["commit", "-qm", "Start"],
    ] {
        assert!(Command::new("git").args(args).current_dir(repo).status().unwrap().success());
    }
}
