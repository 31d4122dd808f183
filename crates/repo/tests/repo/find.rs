//! Finding a person's repository, whatever state it is in.

use std::{fs, path::Path, sync::Arc};

use windlass_repo::{Branch, Git, Land, Remark, RepoError, Repository, Settings, StdRun, Store};

use crate::scratch::{Scratch, as_nobody, edited, landed, request, scratch_for_nobody, set_mode};

fn find(scratch: &Scratch, path: &Path) -> Result<Repository, RepoError> {
    let repository = Repository::find(&scratch.windlass_git(), path)?;
    repository.usable()?;
    Ok(repository)
}

#[test]
fn what_lanes_cannot_be_built_from_is_refused_with_a_reason() {
    let scratch = Scratch::new();
    let dir = |name: &str| {
        let dir = scratch.dir.join(name);
        fs::create_dir_all(&dir).unwrap();
        dir
    };
    let error = find(&scratch, &dir("nothing")).unwrap_err();
    assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    let error = find(&scratch, &scratch.top.join(".git")).unwrap_err();
    assert!(matches!(error, RepoError::NotARepository { .. }), "{error}");
    let error = find(&scratch, &scratch.dir.join("absent")).unwrap_err();
    assert!(matches!(error, RepoError::File { .. }), "{error}");

    let bare = dir("bare");
    scratch.git_in(&bare, &["init", "-q", "--bare"]);
    let error = find(&scratch, &bare).unwrap_err();
    assert!(matches!(error, RepoError::Bare { .. }), "{error}");

    let empty = dir("empty");
    scratch.git_in(&empty, &["init", "-q"]);
    let error = find(&scratch, &empty).unwrap_err();
    assert!(matches!(error, RepoError::NoCommits { .. }), "{error}");
    assert!(error.to_string().contains("git commit --allow-empty"), "{error}");

    scratch.write("x", "x");
    scratch.commit("second");
    let url = format!("file://{}", scratch.top.display());
    scratch.git_in(&scratch.dir, &["clone", "-q", "--depth=1", &url, "shallow"]);
    let error = find(&scratch, &scratch.dir.join("shallow")).unwrap_err();
    assert!(matches!(error, RepoError::Shallow { .. }), "{error}");
    assert!(error.to_string().contains("git fetch --unshallow"), "{error}");

    scratch.git(&["config", "uploadpack.allowFilter", "true"]);
    scratch.git_in(&scratch.dir, &["clone", "-q", "--filter=blob:none", &url, "partial"]);
    let error = find(&scratch, &scratch.dir.join("partial")).unwrap_err();
    assert!(matches!(error, RepoError::Partial { .. }), "{error}");
}

#[test]
fn a_repository_of_another_user_is_refused_with_the_command_that_trusts_it() {
    let scratch = Scratch::new();
    // Git's own way to test this: it takes every directory for somebody else's.
    let mut host = scratch.host();
    host.config.push(("GIT_TEST_ASSUME_DIFFERENT_OWNER".into(), "1".into()));
    let git = Git::find(Arc::new(StdRun), host).unwrap();
    let error = Repository::find(&git, &scratch.top).unwrap_err();
    assert!(matches!(error, RepoError::NotTrusted { .. }), "{error}");
    assert!(error.to_string().contains("safe.directory"), "{error}");
    let top = scratch.top.to_str().unwrap().to_owned();
    scratch.git_in(&scratch.dir, &["config", "--global", "--add", "safe.directory", &top]);
    let repository = Repository::find(&git, &scratch.top).unwrap();
    let store = Store::open(repository, &scratch.dir.join("state"), Settings::default()).unwrap();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
}

#[test]
fn a_directory_that_cannot_be_written_is_told_before_anything_lands() {
    let scratch = scratch_for_nobody();
    let name = "find::a_directory_that_cannot_be_written_is_told_before_anything_lands";
    if !as_nobody(name, &scratch) {
        return;
    }
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let request = request(&store, &lane, Land::Commit);
    let common = scratch.top.join(".git");
    set_mode(&common, 0o555);
    assert!(store.repository().remarks().unwrap().contains(&Remark::ReadOnly));
    let error = store.land(&request).unwrap_err();
    assert!(matches!(error, RepoError::ReadOnly { .. }), "{error}");
    set_mode(&common, 0o755);
    landed(store.land(&request).unwrap());
}

#[test]
fn a_detached_head_works_but_has_no_branch_to_start_from() {
    let scratch = Scratch::new();
    scratch.git(&["switch", "-q", "--detach"]);
    let repository = scratch.repository();
    assert_eq!(repository.head().unwrap(), scratch.oid("main"));
    let error = repository.branch().unwrap_err();
    assert!(matches!(error, RepoError::Detached { .. }), "{error}");
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    let before = fs::read(scratch.top.join("readme.md")).unwrap();
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
    assert_eq!(fs::read(scratch.top.join("readme.md")).unwrap(), before);
}

#[test]
fn strange_paths_work_from_end_to_end() {
    use std::os::unix::ffi::OsStrExt;
    for name in ["a b", "ünï", "line\nbreak", "co:lon", "quo\"te", "$(touch x)", "-dash"] {
        let mut scratch = Scratch::new();
        let top = scratch.dir.join(name);
        fs::rename(&scratch.top, &top).unwrap();
        scratch.top = top;
        let store = scratch.store();
        let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
        landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
        assert_eq!(scratch.git(&["status", "--porcelain"]), "", "{name:?}");
    }
    let mut scratch = Scratch::new();
    let top = scratch.dir.join(std::ffi::OsStr::from_bytes(b"not \xff utf8"));
    fs::rename(&scratch.top, &top).unwrap();
    scratch.top = top;
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    landed(store.land(&request(&store, &lane, Land::Commit)).unwrap());
}

#[test]
fn a_linked_work_tree_is_as_good_as_the_main_one() {
    let scratch = Scratch::new();
    let linked = scratch.dir.join("linked");
    scratch.git(&["worktree", "add", "-q", "-b", "side", linked.to_str().unwrap()]);
    let repository = find(&scratch, &linked).unwrap();
    assert_eq!(repository.top(), linked);
    assert_eq!(repository.common_dir(), scratch.top.join(".git"));
    assert_eq!(repository.branch().unwrap(), Branch::new("side").unwrap());
    let checkouts = repository.checkouts().unwrap();
    let branches: Vec<_> = checkouts.iter().map(|c| c.branch.clone().unwrap()).collect();
    assert_eq!(branches, ["refs/heads/main", "refs/heads/side"]);
    assert_eq!(checkouts[1].path, linked);
}

#[test]
fn a_person_without_a_name_is_told_how_to_get_one() {
    let scratch = Scratch::new();
    let person = scratch.repository().identity().unwrap();
    assert_eq!(person.to_string(), "Zoë Person <zoe@example.org>");
    scratch.git(&["config", "author.email", "work@example.org"]);
    assert_eq!(scratch.repository().identity().unwrap().email(), "work@example.org");
    scratch.git(&["config", "--unset", "author.email"]);
    scratch.git(&["config", "--global", "--unset", "user.email"]);
    let error = scratch.repository().identity().unwrap_err();
    assert!(matches!(error, RepoError::NoIdentity { what: "email" }), "{error}");
    assert!(error.to_string().contains("git config --global user.email"), "{error}");
    // Lanes do without.
    let store = scratch.store();
    edited(&store, 1, "u1", "readme.md", "mine\n");
}

#[test]
fn what_a_person_should_know_is_remarked() {
    let scratch = Scratch::new();
    assert_eq!(scratch.repository().remarks().unwrap(), []);
    scratch.git(&["config", "filter.lfs.process", "git-lfs filter-process"]);
    scratch.write(".gitmodules", "[submodule \"x\"]\n\tpath = x\n\turl = ./x\n");
    scratch.commit("a submodule");
    scratch.git(&["sparse-checkout", "set", "src"]);
    scratch.write(".git/MERGE_HEAD", "");
    let remarks = scratch.repository().remarks().unwrap();
    assert_eq!(
        remarks,
        [
            Remark::Submodules,
            Remark::Filters(vec!["lfs".into()]),
            Remark::Sparse,
            Remark::UnderWay("a merge"),
        ]
    );
}

#[test]
fn a_repository_with_longer_names_works_too() {
    let mut scratch = Scratch::new();
    scratch.top = scratch.dir.join("sha256");
    fs::create_dir(&scratch.top).unwrap();
    scratch.git(&["init", "-q", "-b", "main", "--object-format=sha256"]);
    scratch.write("readme.md", "hello\n");
    assert_eq!(scratch.commit("first").as_str().len(), 64);
    let store = scratch.store();
    let lane = edited(&store, 1, "u1", "readme.md", "mine\n");
    scratch.git_in(&lane.work, &["status"]);
    landed(store.land(&request(&store, &lane, Land::Merge)).unwrap());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
}
