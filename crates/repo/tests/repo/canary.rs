//! No call of ours runs a program that a repository names: a canary for every key.

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use windlass_repo::{Branch, Land, Landing, Patched, Store};

use crate::{
    meddling::noted_store,
    scratch::{Scratch, WHEN, edited, landed, person, request, write},
};

/// Keys whose value is a program, and what is put before the canary there.
const KEYS: &[(&str, &str)] = &[
    ("core.fsmonitor", ""),
    ("core.sshCommand", ""),
    ("core.gitProxy", ""),
    ("core.askPass", ""),
    ("core.editor", ""),
    ("core.pager", ""),
    ("core.alternateRefsCommand", ""),
    ("sequence.editor", ""),
    ("credential.helper", "!"),
    ("diff.external", ""),
    ("diff.canary.command", ""),
    ("diff.canary.textconv", ""),
    ("filter.canary.clean", ""),
    ("filter.canary.smudge", ""),
    ("filter.=odd.clean", ""),
    ("filter.processed.process", ""),
    ("merge.canary.driver", ""),
    ("interactive.diffFilter", ""),
    ("gpg.program", ""),
    ("gpg.ssh.program", ""),
    ("pager.log", ""),
    ("alias.st", "!"),
    ("uploadpack.packObjectsHook", ""),
    ("remote.origin.uploadpack", ""),
    ("remote.origin.receivepack", ""),
    ("remote.origin.vcs", ""),
    ("mergetool.canary.cmd", ""),
    ("difftool.canary.cmd", ""),
    ("man.canary.cmd", ""),
    ("browser.canary.cmd", ""),
    ("submodule.x.update", "!"),
    ("trailer.x.command", ""),
    ("gc.recentObjectsHook", ""),
    ("sendemail.smtpServer", ""),
];

const HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "post-index-change",
    "fsmonitor-watchman",
];

struct Canaries {
    dir: PathBuf,
}

impl Canaries {
    fn new(scratch: &Scratch) -> Canaries {
        let canaries = Canaries { dir: scratch.dir.join("canaries") };
        fs::create_dir_all(canaries.dir.join("sang")).expect("made");
        canaries
    }

    /// A program that leaves a mark, and is otherwise of no consequence.
    fn program(&self, path: &Path, mark: &str) {
        let sang = self.dir.join("sang").join(mark.replace('/', "-"));
        fs::create_dir_all(path.parent().expect("made")).expect("made");
        fs::write(path, format!("#!/bin/sh\n: > '{}'\nexec cat\n", sang.display()))
            .expect("written");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it worked");
    }

    /// A configuration that names a canary wherever it can.
    fn config(&self, whose: &str) -> String {
        let mut config = String::new();
        for (key, before) in KEYS {
            let program = self.dir.join(format!("{whose}-{key}"));
            self.program(&program, &format!("{whose}-{key}"));
            let (section, name) = key.rsplit_once('.').expect("it worked");
            let section = match section.split_once('.') {
                Some((section, sub)) => format!("{section} \"{sub}\""),
                None => section.to_owned(),
            };
            writeln!(config, "[{section}]\n\t{name} = \"{before}{}\"", program.display())
                .expect("written");
        }
        let hooks = self.dir.join(format!("{whose}-hooks"));
        for hook in HOOKS {
            self.program(&hooks.join(hook), &format!("{whose}-hook-{hook}"));
        }
        writeln!(config, "[core]\n\thooksPath = \"{}\"", hooks.display()).expect("written");
        config.push_str("[filter \"canary\"]\n\trequired = true\n[commit]\n\tgpgSign = true\n[tag]\n\tgpgSign = true\n");
        config.push_str(
            "[log]\n\tshowSignature = true\n[gc]\n\tauto = 1\n[maintenance]\n\tauto = true\n",
        );
        config.push_str("[submodule]\n\trecurse = true\n[core]\n\tuntrackedCache = true\n");
        config
    }

    /// Puts them into a git directory: into its configuration, by way of a file that it includes,
    /// and as plain hooks.
    fn settle_in(&self, git_dir: &Path, whose: &str) {
        let mut config = fs::read_to_string(git_dir.join("config")).expect("readable");
        config.push_str(&self.config(whose));
        let included = self.dir.join(format!("{whose}.config"));
        fs::write(&included, self.config(&format!("{whose}-included"))).expect("written");
        writeln!(config, "[include]\n\tpath = \"{}\"", included.display()).expect("written");
        fs::write(git_dir.join("config"), config).expect("written");
        for hook in HOOKS {
            self.program(&git_dir.join("hooks").join(hook), &format!("{whose}-plain-hook-{hook}"));
        }
    }

    fn sang(&self) -> BTreeSet<String> {
        let names = fs::read_dir(self.dir.join("sang")).expect("readable");
        names
            .map(|entry| entry.expect("it worked").file_name().into_string().expect("it worked"))
            .collect()
    }
}

const ATTRIBUTES: &str =
    "*.c filter=canary diff=canary merge=canary\n*.p filter=processed\n*.o filter==odd\n";

/// A repository with two commits on `main`, of which the second is still to come.
fn prepared() -> (Scratch, Canaries, String) {
    let scratch = Scratch::new();
    scratch.write(".gitattributes", ATTRIBUTES);
    let lines: String = (0..30).map(|line| format!("{line}\n")).collect();
    for name in ["a.c", "b.p", "c.o"] {
        scratch.write(name, &lines);
    }
    scratch.commit("second");
    scratch.write("a.c", lines.replace("25\n", "theirs\n"));
    scratch.write("plain.txt", "plain\n");
    let third = scratch.commit("third").to_string();
    scratch.git(&["reset", "-q", "--hard", "HEAD~1"]);
    let canaries = Canaries::new(&scratch);
    canaries.settle_in(&scratch.top.join(".git"), "repository");
    let global = scratch.dir.join("home/.gitconfig");
    let text = fs::read_to_string(&global).expect("readable") + &canaries.config("global");
    fs::write(global, text).expect("written");
    (scratch, canaries, third)
}

#[test]
fn the_canaries_would_sing() {
    let (scratch, canaries, _) = prepared();
    scratch.write("a.c", "changed\n");
    scratch.write("b.p", "changed\n");
    for args in [
        vec!["status"],
        vec!["diff"],
        vec!["diff", "--no-ext-diff"],
        vec!["add", "-A"],
        vec!["commit", "-q", "-m", "x"],
        vec!["-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "x"],
        vec!["commit", "--no-gpg-sign", "--allow-empty"],
        vec!["checkout", "-q", "HEAD~1"],
        vec!["st"],
        vec!["update-ref", "refs/heads/x", "HEAD"],
    ] {
        scratch.try_git(&scratch.top, &args);
    }
    let sang = canaries.sang();
    for key in [
        "core.fsmonitor",
        "diff.external",
        "diff.canary.command",
        "filter.canary.clean",
        "filter.processed.process",
        "gpg.program",
        "alias.st",
        "hook-reference-transaction",
        "hook-post-index-change",
        "hook-pre-commit",
    ] {
        let who = ["repository", "repository-included", "global"];
        assert!(who.iter().any(|who| sang.contains(&format!("{who}-{key}"))), "{key}: {sang:?}");
    }
}

#[test]
fn every_call_is_pinned_to_a_place_and_to_our_settings() {
    let (scratch, canaries, _) = prepared();
    let state = scratch.dir.join("state");
    let (store, run) = noted_store(&scratch);
    life_of_a_lane(&scratch, &store, &canaries);
    let calls = run.calls();
    assert!(calls.len() > 60, "{}", calls.len());
    for call in calls.iter() {
        let get = |name: &str| {
            let found = call.env.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.to_str().unwrap())
        };
        let name = call.name;
        let discovers = ["version", "find.place", "find.path"].contains(&name);
        // Only these see the person's own configuration, and they touch no file.
        let theirs = name.starts_with("find.") || name == "transfer.attributes";
        if !theirs {
            assert_eq!(get("GIT_CONFIG_GLOBAL"), Some("/dev/null"), "{name}");
            assert_eq!(get("GIT_CONFIG_NOSYSTEM"), Some("1"), "{name}");
            assert_eq!(get("HOME"), None, "{name}");
        }
        assert_eq!(get("GIT_TERMINAL_PROMPT"), Some("0"), "{name}");
        assert_eq!(get("GIT_ALLOW_PROTOCOL"), Some(""), "{name}");
        assert!(call.env.iter().any(|(_, value)| value == "core.hooksPath"), "{name}");
        assert!(call.program.is_absolute() && call.dir.is_absolute(), "{name}");
        let Some(git_dir) = get("GIT_DIR").map(Path::new) else {
            assert!(discovers, "{name} is not pinned");
            continue;
        };
        let ours = git_dir.starts_with(&state) && !git_dir.iter().any(|part| part == "work");
        let refs_only = [
            "for-each-ref",
            "update-ref",
            "rev-parse",
            "symbolic-ref",
            "worktree",
            "config",
            "check-attr",
        ];
        let verb = call.args[0].to_str().unwrap();
        assert!(ours || refs_only.contains(&verb), "{name}: {verb} in {}", git_dir.display());
    }
}

#[test]
fn none_sings_during_the_whole_life_of_a_lane() {
    let (scratch, canaries, third) = prepared();
    let store = scratch.store();
    let repository = store.repository();
    repository.remarks().unwrap();
    repository.identity().unwrap();
    repository.checkouts().unwrap();
    store.recover().unwrap();
    life_of_a_lane(&scratch, &store, &canaries);
    // Somebody else lands: the mirror takes it over, and the next lane is rebuilt on it.
    let lane = edited(
        &store,
        1,
        "u3",
        "a.c",
        &fs::read_to_string(scratch.top.join("a.c")).unwrap().replace("\n3\n", "\nours\n"),
    );
    store.checkpoint(&lane, "to be rebuilt", &person(), WHEN).unwrap();
    fs::write(scratch.top.join(".git/refs/heads/main"), format!("{third}\n")).unwrap();
    let request = request(&store, &lane, Land::FastForward);
    let landing = store.land(&request).unwrap();
    let Landing::Moved { tip, .. } = landing else { panic!("{landing:?}") };
    store.rebase(&lane, &tip, WHEN).unwrap();
    assert_eq!(canaries.sang(), BTreeSet::new());
}

fn life_of_a_lane(scratch: &Scratch, store: &Store, canaries: &Canaries) {
    let lane = edited(store, 1, "u1", "readme.md", "mine\n");
    // The agent settles them in its own `.git`, and in the attributes of its files.
    canaries.settle_in(&lane.work.join(".git"), "lane");
    write(&lane.work, ".gitattributes", "* filter=canary diff=canary merge=canary\n");
    write(&lane.work, "a.c", "changed\n");
    write(&lane.work, "nested/file", "x\n");
    fs::create_dir_all(lane.work.join("nested/.git/objects")).expect("made");
    fs::create_dir_all(lane.work.join("nested/.git/refs")).expect("made");
    write(&lane.work, "nested/.git/HEAD", "ref: refs/heads/main\n");
    write(&lane.work, "nested/.git/config", "");
    canaries.settle_in(&lane.work.join("nested/.git"), "nested");
    let snapshot = store.snapshot(&lane, "x", WHEN).expect("it worked");
    assert_eq!(snapshot.nested.len(), 1);
    let patch = store.patch(&lane.base, &snapshot.commit).expect("it worked");
    store.diff(&lane.base, &snapshot.commit).expect("it worked");
    store.checkpoint(&lane, "x", &person(), WHEN).expect("it worked");
    store.rewind(&lane, &lane.base, WHEN).expect("it worked");
    canaries.settle_in(&lane.work.join(".git"), "lane");
    let patched = store.apply_patch(&lane, &patch, WHEN, &|_| None).expect("it worked");
    assert!(matches!(patched, Patched::Applied { .. }), "{patched:?}");
    store.ensure_lane(1, &lane.base, "run", "u1", WHEN).expect("it worked");
    canaries.settle_in(&lane.work.join(".git"), "lane");
    store.checkout(1, &snapshot.commit).expect("it worked");
    store.restore(&snapshot.commit, &scratch.dir.join("restored")).expect("it worked");
    // A checkout that our git would write otherwise is left alone.
    let waiting = store.land(&request(store, &lane, Land::Merge)).expect("it worked");
    assert!(matches!(waiting, Landing::Waiting { .. }), "{waiting:?}");
    store.release(&lane, WHEN).expect("it worked");
    fs::remove_file(scratch.top.join(".git/refs/heads/windlass/run")).expect("it worked");

    let lane = edited(store, 1, "u2", "readme.md", "mine\n");
    let landing = request(store, &lane, Land::Merge);
    let tree = landing.tree.clone();
    store.apply_to_checkout(&lane.base, &tree, &[]).expect("it worked");
    write(&scratch.top, "readme.md", "hello\n");
    let commit = landed(store.land(&landing).expect("it worked"));
    store.note(&commit, "a note", WHEN).expect("it worked");
    assert!(store.lanes().expect("it worked").iter().all(Result::is_ok));
    let heads = store.sync().expect("it worked");
    assert_eq!(heads.tip(&Branch::new("main").expect("it worked")), Some(&commit));
}
