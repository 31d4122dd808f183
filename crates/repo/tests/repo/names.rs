//! Hostile names, through real git.

use std::process::Command;

use windlass_repo::{Branch, Land};

use crate::scratch::{Scratch, WHEN, edited, landed, request, with_edit};

/// Ids that somebody could write in a tracker, always the same ones.
fn hostile() -> Vec<String> {
    let mut ids: Vec<String> = [
        "",
        ".",
        "..",
        "../../x",
        "/",
        "a/b",
        "a//b",
        ".hidden",
        "x.lock",
        "@",
        "@{",
        "HEAD",
        "-",
        "--exec=x",
        "a b",
        "a\tb",
        "a\nb",
        "a\0b",
        "\u{7f}",
        "~1",
        "^{tree}",
        "a:b",
        "a?b*[c]",
        "\\",
        "é",
        "e\u{301}",
        "日本語",
        "😀",
        "Case",
        "case",
        "CASE",
        "%41",
        "%",
        "%%",
        "$(touch x)",
        "`x`",
        "'\"",
        "refs/heads/main",
        "windlass/run",
        "\u{202e}abc",
        "con",
        "head",
        "snapshots",
    ]
    .iter()
    .map(|id| (*id).to_owned())
    .collect();
    ids.push("long ".repeat(200));
    ids.push(format!("{}x", "long ".repeat(200)));
    ids
}

#[test]
fn hostile_ids_make_refs_of_their_own() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mut trees = Vec::new();
    for (at, id) in hostile().into_iter().enumerate() {
        let tip = scratch.oid("main");
        let lane = store.ensure_lane(1, &tip, &id, &id, WHEN).unwrap();
        crate::scratch::write(&lane.work, "readme.md", format!("{at}"));
        let snapshot = store.snapshot(&lane, &id, WHEN).unwrap();
        store.checkpoint(&lane, "x", &crate::scratch::person(), WHEN).unwrap();
        store.release(&lane, WHEN).unwrap();
        trees.push((id, snapshot.commit));
    }
    let refs =
        scratch.git_in(&scratch.results(), &["for-each-ref", "--format=%(objectname) %(refname)"]);
    for (id, commit) in &trees {
        let kept = refs
            .lines()
            .filter(|line| line.starts_with(commit.as_str()) && line.contains("/snapshots/"));
        assert_eq!(kept.count(), 1, "{id:?}");
    }
    scratch.git_in(&scratch.results(), &["fsck", "--strict", "--no-dangling"]);
    // Nothing was written beside the refs.
    let stray = Command::new("find")
        .arg(scratch.dir.join("state/results.git"))
        .args(["-name", "*.lock"])
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&stray.stdout), "");
}

#[test]
fn a_hostile_run_id_makes_a_branch_that_can_be_taken() {
    for id in ["../../x", "a b", "-x", "x.lock", "$(touch x)", ""] {
        let (scratch, store, lane) = with_edit("readme.md", "mine\n");
        let mut request = request(&store, &lane, Land::Commit);
        request.run = id.into();
        scratch.write("readme.md", "in the way\n");
        let windlass_repo::Landing::Waiting { commit, branch, command, .. } =
            store.land(&request).unwrap()
        else {
            panic!("waits");
        };
        assert_eq!(scratch.oid(&branch.full()), commit, "{id:?}");
        scratch.write("readme.md", "hello\n");
        let done = Command::new("sh").args(["-c", &command]).output().unwrap();
        assert!(done.status.success(), "{id:?}: {}", String::from_utf8_lossy(&done.stderr));
    }
}

#[test]
fn branches_with_names_that_git_allows_can_be_landed_on() {
    let scratch = Scratch::new();
    for name in
        ["ünï/cödé", "a'b\"c", "$(x)", "a&b;c|d", "{x}", "@x", "a,b", "x@y", "#1", "windlass"]
    {
        assert!(Branch::new(name).is_ok(), "{name}");
        scratch.git(&["branch", name]);
    }
    let store = scratch.store();
    for (at, name) in ["ünï/cödé", "a'b\"c", "$(x)", "{x}", "#1"].iter().enumerate() {
        let lane = edited(&store, 1, &format!("u{at}"), "readme.md", name);
        let mut request = request(&store, &lane, Land::Commit);
        request.branch = Branch::new(name).unwrap();
        let commit = landed(store.land(&request).unwrap());
        assert_eq!(scratch.oid(&format!("refs/heads/{name}")), commit);
    }
}

#[test]
fn what_we_refuse_as_a_branch_git_refuses_too_and_the_other_way_round() {
    let scratch = Scratch::new();
    for name in hostile() {
        if name.contains('\0') || name.len() > 200 {
            continue;
        }
        let full = format!("refs/heads/{name}");
        let git = scratch.try_git(&scratch.top, &["check-ref-format", &full]).status.success();
        let stricter = name.starts_with('-')
            || name == "HEAD"
            || name == "@"
            || name.contains(char::is_control);
        assert_eq!(Branch::new(&name).is_ok(), git && !stricter, "{name:?}");
    }
}
