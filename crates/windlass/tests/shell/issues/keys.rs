//! Keys: where they come from, and that no repository decides where they go (I11, C12).

use windlass_trackerkit::github;

use super::rig::Rig;

/// A repository with issues at a server, whose windlass.toml says this besides; and a home.
fn rig(url: &str, more: &str) -> Rig {
    let rig = Rig::of(&["#1"], "");
    let config = rig.file("windlass.toml").unwrap();
    let issues = format!(
        "[issues]\ntracker = 'github'\nproject = 'acme/harness'\nbase-url = '{url}'\n{more}"
    );
    rig.write("windlass.toml", &format!("{config}{issues}"));
    for (path, text) in [("own/windlass/key", " test-key\n"), (".ssh/other", "PRIVATE-4711\n")] {
        let path = rig.scratch.path("home").join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    rig
}

/// Looks without changing anything, with these variables. How it ended, and what was seen.
fn looks(rig: &Rig, variables: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut command = rig.scratch.windlass(&["issues", "--dry-run"]);
    let home = rig.scratch.path("home");
    command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join("own")).env_remove("GITHUB_TOKEN");
    let output = command.envs(variables.iter().copied()).output().unwrap();
    let seen = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!seen.contains("PRIVATE-4711") && !seen.contains("test-key"), "{seen}");
    (output.status.code(), seen)
}

#[test]
fn a_key_comes_from_its_variable_or_else_from_a_file_of_the_persons() {
    let there = github::GitHub::start().unwrap();
    there.user("grace", "other-key");
    there.issue(&github::NewIssue::default());
    there.assign(1, "grace");
    let rig = rig(&there.url(), "key-file = '~/own/windlass/key'\n");
    let (code, seen) = looks(&rig, &[]);
    assert!(code == Some(0) && seen.contains("grace has it"), "{seen}");
    // Grace's own key shows that the variable counts more.
    let (code, seen) = looks(&rig, &[("GITHUB_TOKEN", "other-key")]);
    assert!(code == Some(0) && seen.contains("next     #1"), "{seen}");
}

#[test]
fn a_file_that_cannot_be_read_is_named() {
    let there = github::GitHub::start().unwrap();
    let rig = rig(&there.url(), "key-file = '~/own/windlass/none'\n");
    let (code, seen) = looks(&rig, &[]);
    assert!(code == Some(1) && seen.contains("own/windlass/none"), "{seen}");
    assert!(!seen.contains("there is no key"), "{seen}");
    assert_eq!(there.asked(), [""; 0]);
}

#[test]
fn a_repository_alone_has_no_file_sent_anywhere_and_no_key_to_another_place() {
    let there = github::GitHub::start().unwrap();
    there.issue(&github::NewIssue::default());
    // Nothing of it is committed: who only looks reads what lies there.
    let stolen = rig(&there.url(), "key-file = '~/.ssh/other'\n");
    let (code, seen) = looks(&stolen, &[]);
    assert_eq!(code, Some(2), "{seen}");
    for part in ["`[issues] key-file` is ~/.ssh/other", "WINDLASS_TRUSTED", "own/windlass/trusted"]
    {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert_eq!(there.asked(), [""; 0], "nobody was asked anything");
    // A person's word is enough, in either way.
    let (code, seen) = looks(&stolen, &[("WINDLASS_TRUSTED", "~/.ssh/other")]);
    assert!(code == Some(1) && seen.contains("does not accept the key"), "{seen}");
    let said = stolen.scratch.path("home").join("own/windlass/trusted");
    std::fs::write(&said, "# mine\n~/.ssh/other\n").unwrap();
    assert_eq!(looks(&stolen, &[]).0, Some(1));

    // What a tracker signs with is such a file, too.
    for (file, code, part) in [
        ("~/.ssh/other", 2, "`[issues] webhook-secret-file` is ~/.ssh/other"),
        ("~/own/windlass/none", 1, "own/windlass/none"),
    ] {
        let listens = rig(&there.url(), &format!("webhook-secret-file = '{file}'\n"));
        let args = ["issues", "--follow", "--webhook", "127.0.0.1:0"];
        let mut command = listens.scratch.windlass(&args);
        let home = listens.scratch.path("home");
        command.env("HOME", &home).env("XDG_CONFIG_HOME", home.join("own"));
        let output = command.output().unwrap();
        let seen = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(output.status.code() == Some(code) && seen.contains(part), "{seen}");
        assert!(!seen.contains("PRIVATE-4711") && !seen.contains("listening"), "{seen}");
    }

    let elsewhere = rig("https://tracker.invalid/api", "");
    let (code, seen) = looks(&elsewhere, &[("GITHUB_TOKEN", "test-key")]);
    assert!(code == Some(2) && seen.contains("is https://tracker.invalid/api: no key"), "{seen}");
}
