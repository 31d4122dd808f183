//! The ordinary repository, found without git.
//!
//! Whoever only looks (`windlass status`) would otherwise wait for a program to say what two or three directories show. So a
//! repository that is as `git init` and `git clone` leave it is recognised here, by the rules that git itself finds one by:
//!
//! | it is asked of | that |
//! |---|---|
//! | each directory on the way up | it is on the same file system, has no `.git`, and could not be a git directory itself |
//! | the first with a `.git` | that is a directory and no link, and both are ours: git refuses those of others |
//! | the git directory | it has `HEAD`, `objects` and `refs` as git wants them, and shares nothing with another |
//! | its settings | none of them but the usual ones, as git writes them: no `core.worktree`, no extension, nothing included |
//!
//! Of everything else, whatever it may be, this says nothing, and git is asked: a linked work tree, a submodule, a bare one,
//! one of another user, one with another kind of object names. Git is right wherever the two might differ.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use rustix::fs::{Access, access};

/// Settings that are longer are not read here.
const SETTINGS_BYTES_MAX: u64 = 64 * 1024;

/// An ordinary repository.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ordinary {
    /// The top directory of its only work tree.
    pub top: PathBuf,
    /// Its git directory.
    pub git_dir: PathBuf,
}

impl Ordinary {
    /// The one that a directory is in, for the user of this number. The path is canonical: no link is followed on the way up.
    pub fn around(dir: &Path, user: u32) -> Option<Ordinary> {
        let disk = fs::metadata(dir).ok()?.dev();
        for top in dir.ancestors() {
            let about = fs::metadata(top).ok()?;
            if about.dev() != disk {
                return None;
            }
            let git_dir = top.join(".git");
            match fs::symlink_metadata(&git_dir) {
                Ok(dot_git) => {
                    let ours = about.uid() == user && dot_git.uid() == user;
                    let plain = ours && dot_git.is_dir() && is_plain(&git_dir);
                    return plain.then(|| Ordinary { top: top.into(), git_dir });
                }
                // Git takes a directory with a `HEAD` for a bare repository, if more speaks for that.
                Err(error) if is_absent(&error) && lacks(top, "HEAD") => {}
                Err(_) => return None,
            }
        }
        None
    }
}

fn is_absent(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
}

fn lacks(dir: &Path, name: &str) -> bool {
    fs::symlink_metadata(dir.join(name)).is_err_and(|error| is_absent(&error))
}

/// Whether git would take it for a git directory, and for nothing more than that.
fn is_plain(git_dir: &Path) -> bool {
    let enters = |name: &str| {
        let dir = git_dir.join(name);
        fs::symlink_metadata(&dir).is_ok_and(|about| about.is_dir())
            && access(&dir, Access::EXEC_OK).is_ok()
    };
    let reads = |name: &str| {
        let file = git_dir.join(name);
        let about = fs::symlink_metadata(&file).ok()?;
        let small = about.is_file() && about.len() <= SETTINGS_BYTES_MAX;
        if small { fs::read_to_string(file).ok() } else { None }
    };
    enters("objects")
        && enters("refs")
        && lacks(git_dir, "commondir")
        && reads("HEAD").is_some_and(|head| leads_somewhere(&head))
        && reads("config").is_some_and(|settings| are_usual(&settings))
}

/// Whether a `HEAD` names a ref or a commit.
fn leads_somewhere(head: &str) -> bool {
    let commit = head.strip_suffix('\n').unwrap_or(head);
    head.starts_with("ref: refs/")
        || (commit.len() == 40 && commit.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// Whether settings are of the usual kinds, and written as git writes them. None of these changes where a repository is.
fn are_usual(settings: &str) -> bool {
    let mut section = "";
    if settings.contains(|c: char| c.is_control() && !matches!(c, '\n' | '\t')) {
        return false;
    }
    settings.lines().map(str::trim_ascii).all(|line| {
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            section = usual_section(name);
            return !section.is_empty();
        }
        let Some((key, value)) = line.split_once('=') else { return false };
        let (key, value) = (key.trim_ascii().to_ascii_lowercase(), value.trim_ascii());
        // Quotes, escapes and lines that go on are git's to read.
        !value.contains(['"', '\\']) && is_usual(section, &key, value)
    })
}

/// What kind of section this is; nothing, if it is none of the usual.
fn usual_section(name: &str) -> &'static str {
    if name.eq_ignore_ascii_case("core") {
        return "core";
    }
    if name.eq_ignore_ascii_case("user") {
        return "user";
    }
    let of_one = |kind: &str| {
        let one = name.strip_prefix(kind)?.strip_prefix(" \"")?.strip_suffix('"')?;
        Some(one).filter(|one| !one.contains(['"', '\\']))
    };
    ["remote", "branch"].into_iter().find(|kind| of_one(kind).is_some()).unwrap_or_default()
}

fn is_usual(section: &str, key: &str, value: &str) -> bool {
    match (section, key) {
        ("core", "repositoryformatversion") => value == "0",
        ("core", "bare") => value == "false",
        (
            "core",
            "filemode" | "logallrefupdates" | "ignorecase" | "precomposeunicode" | "symlinks",
        ) => matches!(value, "true" | "false"),
        ("user", "name" | "email") => true,
        ("remote" | "branch", key) => {
            key.starts_with(|first: char| first.is_ascii_lowercase())
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
        # by hand\n[user]\n\tname = Zoë Person\n\n[remote \"origin\"]\n\turl = git@example.org:a/b.git\n\
        \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn settings_as_git_writes_them_are_usual_and_one_more_is_not() {
        assert!(are_usual(USUAL) && are_usual(""));
        for more in [
            "[core]\n\tworktree = /elsewhere",
            "[core]\n\tbare = true",
            "[core]\n\tbare",
            "[core]\n\tBARE = yes",
            "[core] bare = true",
            "[core]\n\trepositoryformatversion = 1",
            "[core]\n\tignorecase = \\",
            "[extensions]\n\tworktreeConfig = true",
            "[extensions]\n\tobjectformat = sha256",
            "[include]\n\tpath = more",
            "[includeIf \"gitdir:/\"]\n\tpath = more",
            "[user]\n\tname = one \\\n[core]",
            "[user]\n\tname = \"half",
            "[user]\n\tuseConfigOnly = perhaps",
            "[branch]\n\tautoSetupMerge = perhaps",
            "[branch \"a\\\"]",
            "[remote \"a\"b\"]",
            "[remote \"a\"]\n\turl",
            "[remote \"a\"]\n\tno key = x",
            "[remote \"a\"]\n\t= x",
            "[remote \"a\"",
            "[]",
            "nothing",
            "\x0c",
            "\u{feff}[core]",
        ] {
            assert!(!are_usual(&format!("{USUAL}{more}\n")), "{more}");
        }
        assert!(!are_usual("bare = false\n"), "in no section");
    }

    #[test]
    fn a_head_names_a_ref_or_a_commit() {
        let commit = "1".repeat(40);
        for head in ["ref: refs/heads/main\n", &commit, &format!("{commit}\n")] {
            assert!(leads_somewhere(head), "{head}");
        }
        for head in ["", "ref: elsewhere\n", "main\n", &commit[1..], &"g".repeat(40)] {
            assert!(!leads_somewhere(head), "{head}");
        }
    }

    #[test]
    fn what_is_another_users_is_for_git_to_judge() {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap();
        for dir in [".git/objects", ".git/refs", "deep/down"] {
            fs::create_dir_all(top.join(dir)).unwrap();
        }
        fs::write(top.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(top.join(".git/config"), USUAL).unwrap();
        let user = fs::metadata(&top).unwrap().uid();
        let found = Ordinary::around(&top.join("deep/down"), user);
        assert_eq!(found, Some(Ordinary { git_dir: top.join(".git"), top: top.clone() }));
        assert_eq!(Ordinary::around(&top, user + 1), None);
    }
}
