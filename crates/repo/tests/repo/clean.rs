//! Clean checkouts for checks.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use windlass_repo::RepoError;

use crate::meddling::{How, meddled_store};
use crate::scratch::{Meddles, Scratch, WHEN, read, with_edit, write};

#[test]
fn a_clean_checkout_holds_exactly_the_tree_and_git_works_there() {
    let (scratch, store, lane) = with_edit("readme.md", "mine\n");
    write(&lane.work, "target/build", "ignored\n");
    let commit = store.snapshot(&lane, "x", WHEN).unwrap().commit;
    let checkout = store.checkout(1, &commit).unwrap();
    assert_eq!(read(&checkout.path, "readme.md"), "mine\n");
    assert!(!checkout.path.join("target").exists());
    assert!(store.is_exactly(&checkout).unwrap());
    assert_eq!(scratch.git_in(&checkout.path, &["status", "--porcelain"]), "");
    assert_eq!(scratch.git_in(&checkout.path, &["rev-parse", "HEAD"]).trim(), commit.as_str());
    assert_eq!(
        scratch.git_in(&checkout.path, &["ls-files"]),
        ".gitignore\nreadme.md\nsrc/lib.rs\n"
    );
}

#[test]
fn whatever_a_check_leaves_behind_is_seen_and_gone_the_next_time() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let commit =
        store.sync().unwrap().tip(&windlass_repo::Branch::new("main").unwrap()).unwrap().clone();
    let meddles: Meddles<Path> = &[
        ("ignored", |dir| write(dir, "target/x", "x")),
        ("untracked", |dir| write(dir, "x", "x")),
        ("modified", |dir| write(dir, "readme.md", "hellO\n")),
        ("modified, with the old time", |dir| {
            let path = dir.join("readme.md");
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            write(dir, "readme.md", "hellO\n");
            fs::File::options().append(true).open(path).unwrap().set_modified(time).unwrap();
        }),
        ("removed", |dir| fs::remove_file(dir.join("readme.md")).unwrap()),
        ("mode", |dir| {
            fs::set_permissions(dir.join("readme.md"), fs::Permissions::from_mode(0o755)).unwrap();
        }),
        ("a repository inside", |dir| write(dir, "src/inner/.git/HEAD", "ref: refs/heads/x\n")),
        ("an index of lies", |dir| fs::write(dir.join(".git/index"), "x").unwrap()),
        ("a hidden repository", |dir| fs::remove_dir_all(dir.join(".git")).unwrap()),
    ];
    for (name, meddle) in meddles {
        let checkout = store.checkout(1, &commit).unwrap();
        meddle(&checkout.path);
        let about_git = name.contains("lies") || name.contains("hidden") || name.contains("inside");
        assert_eq!(store.is_exactly(&checkout).unwrap(), about_git, "{name}");
        let again = store.checkout(1, &commit).unwrap();
        assert!(store.is_exactly(&again).unwrap(), "{name}");
        assert_eq!(read(&again.path, "readme.md"), "hello\n", "{name}");
        assert_eq!(scratch.git_in(&again.path, &["status", "--porcelain"]), "", "{name}");
    }
}

#[test]
fn a_checkout_that_is_not_exact_is_not_handed_out() {
    let scratch = Scratch::new();
    let meddle = |scratch: &Scratch| write(&scratch.dir, "state/checks/1/work/stray", "x");
    let store = meddled_store(&scratch, "put.clean", How::After(meddle));
    let tip = scratch.oid("main");
    // There is something to be cleaned away.
    store.checkout(1, &tip).unwrap();
    write(&scratch.dir, "state/checks/1/work/left", "x");
    let error = store.checkout(1, &tip).unwrap_err();
    assert!(matches!(error, RepoError::NotExact { .. }), "{error}");
    assert!(error.to_string().contains("stray"), "{error}");
    store.checkout(1, &tip).unwrap();
}
