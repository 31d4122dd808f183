//! How hard a task is, and whether its marker says what the history says.

use super::super::drift::{Commit, Place, drift, looks_elsewhere};
use super::*;

fn effort(content: &str, known: Known) -> String {
    let plans = plans(&[["1", content, "-", "cc:TODO"]]);
    Effort::of(&plans.rows()[0], known).to_string()
}

#[test]
fn each_factor_of_the_effort_can_be_seen() {
    let nothing = Known::Nothing;
    for (content, known, want) in [
        ("Say hello", nothing, "0"),
        ("Change a.rs, b.rs, `src/c.rs` and d.toml", nothing, "1: 4 files +1"),
        ("Change a.rs, b.rs and c.rs", nothing, "0"),
        ("Change src/core/run.rs", nothing, "1: core/ +1"),
        ("Change all below guardrails/", nothing, "1: guardrails/ +1"),
        ("The core of it", nothing, "0"),
        ("Write the migrations", nothing, "1: \"migration\" +1"),
        ("Change the architecture of it", nothing, "1: \"architecture\" +1"),
        ("A designer's security design", nothing, "1: \"security\" +1"),
        ("Redesign it", nothing, "0"),
        ("Say hello", Known::Failed, "2: failed before +2"),
        ("Say hello (ultrathink)", nothing, "3: ultrathink +3"),
        (
            "Design a.rs b.rs c.rs security/d.rs ultrathink",
            Known::Failed,
            "8: 4 files +1, security/ +1, \"security\" +1, failed before +2, ultrathink +3",
        ),
    ] {
        assert_eq!(effort(content, known), want, "{content}");
    }
}

#[test]
fn three_points_are_enough() {
    let plans = plans(&[["1", "design of a.rs b.rs c.rs d.rs", "-", "cc:TODO"]]);
    let row = &plans.rows()[0];
    assert!(!Effort::of(row, Known::Nothing).is_high());
    let effort = Effort::of(row, Known::Failed);
    assert_eq!((effort.score(), effort.is_high()), (4, true));
    let three = Effort { factors: vec![Factor::Ultrathink] };
    assert!(three.is_high() && THRESHOLD == 3);
}

#[test]
fn words_that_only_look_like_files_are_none() {
    let named = |content: &str| {
        let plans = plans(&[["1", content, "-", "cc:TODO"]]);
        effort::files(&plans.rows()[0])
    };
    assert_eq!(
        named("`src/a.rs`, \"b/c.test.ts\" (docs/d.md), ./e.py. f.toml: README.md!"),
        ["src/a.rs", "b/c.test.ts", "docs/d.md", "e.py", "f.toml", "README.md"]
    );
    let none = "e.g. i.e. Node.js 26.1.2 v1.2 https://example.com/a.html POST /login.php ../x.rs and/or \
                src/*.rs ... a.b";
    assert_eq!(named(none), [""; 0]);
}

fn commit(hash: &str, subject: &str) -> Commit {
    Commit { hash: hash.to_owned(), subject: subject.to_owned(), task: None, place: Place::Here }
}

#[test]
fn stale_markers_are_found_by_subjects_and_hashes_alone() {
    let plans = plans(&[
        ["1", "[P] Log in", "-", "cc:TODO"],
        ["2", "Log **out**", "-", "cc:WIP"],
        ["3", "Log", "-", "cc:TODO"],
        ["4", "Done", "-", "cc:Done [aaaaaaa]"],
        ["5", "Gone", "-", "cc:Done [ccccccc]"],
        ["6", "By hand", "-", "cc:Done"],
        ["7", "Log in", "-", "blocked"],
        ["8", "Capitals", "-", "cc:Done [AAAAAAAA]"],
    ]);
    let history = [
        commit("bbbbbbbb00", "Log in"),
        commit("dddddddd00", "log out."),
        commit("aaaaaaaa00", "Done, more or less"),
        commit("9999999900", "log in"),
        commit("8888888800", "Log in and more"),
        commit("7777777700", ""),
    ];
    let found = drift(plans.rows(), &history);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        [
            "task 1 (line 5) is cc:TODO, and commit bbbbbbb has its name",
            "task 2 (line 6) is cc:WIP, and commit ddddddd has its name",
            "task 5 (line 9) is cc:Done [ccccccc], and that commit is on no branch",
        ]
    );
    let mended: Vec<String> = found.iter().map(|drift| drift.mended().to_string()).collect();
    assert_eq!(mended, ["cc:Done [bbbbbbb]", "cc:Done [ddddddd]", "cc:TODO"]);
    assert_eq!(drift(plans.rows(), &[]).len(), 3);
    assert_eq!(drift(&[], &history), []);
}

#[test]
fn a_commit_is_of_one_row_at_most() {
    let same = |statuses: [&str; 2]| {
        plans(&[["1", "Log in", "-", statuses[0]], ["2", "Log in", "-", statuses[1]]])
    };
    let of =
        |hash: &str, task: &str| Commit { task: Some(task.to_owned()), ..commit(hash, "Log in") };
    let told = |plans: &Plans, history: &[Commit]| {
        let found = compared(plans.rows(), history);
        let stale: Vec<String> = found
            .stale
            .iter()
            .map(|drift| format!("{} {}", drift.number, drift.mended()))
            .collect();
        let unclear: Vec<String> = found.unclear.iter().map(|it| it.number.to_string()).collect();
        (stale.join(", "), unclear.join(", "))
    };
    let is = |stale: &str, unclear: &str| (stale.to_owned(), unclear.to_owned());
    let (open, one) = (same(["cc:TODO", "cc:TODO"]), commit("bbbbbbbb00", "Log in"));
    // Nobody can tell whose it is, and nothing is changed.
    assert_eq!(told(&open, std::slice::from_ref(&one)), is("", "1, 2"));
    let said = compared(open.rows(), std::slice::from_ref(&one)).unclear[0].to_string();
    let want = "task 1 (line 5) is cc:TODO, and commit bbbbbbb has its name and that of task 2: nobody can tell whose it is";
    assert_eq!(said, want);
    // What is on record with it tells.
    assert_eq!(told(&open, &[of("bbbbbbbb00", "2")]), is("2 cc:Done [bbbbbbb]", ""));
    let both = [of("cccccccc00", "1"), of("bbbbbbbb00", "2")];
    assert_eq!(told(&open, &both), is("1 cc:Done [ccccccc], 2 cc:Done [bbbbbbb]", ""));
    // It is that of a row that is done, or may be, or of a task that is none of these.
    assert_eq!(
        told(&same(["cc:Done [bbbbbbb]", "cc:TODO"]), std::slice::from_ref(&one)),
        is("", "")
    );
    assert_eq!(told(&same(["cc:Done", "cc:TODO"]), std::slice::from_ref(&one)), is("", "2"));
    assert_eq!(told(&open, &[of("bbbbbbbb00", "7")]), is("", ""));
    // The other row's is taken, and this one is left.
    let two = [one, commit("9999999900", "Log in")];
    assert_eq!(told(&same(["cc:Done [9999999]", "cc:TODO"]), &two), is("2 cc:Done [bbbbbbb]", ""));
    let gone = same(["cc:Done [eeeeeee]", "cc:TODO"]);
    assert_eq!(told(&gone, &[of("bbbbbbbb00", "2")]), is("1 cc:TODO, 2 cc:Done [bbbbbbb]", ""));
}

#[test]
fn a_row_is_done_wherever_its_commit_is_and_open_until_it_is_checked_out() {
    let plans = plans(&[
        ["1", "Log in", "-", "cc:Done [bbbbbbb]"],
        ["2", "Log out", "-", "cc:TODO"],
        ["3", "Go", "-", "cc:Done [ccccccc]"],
    ]);
    let elsewhere = |hash, subject| Commit { place: Place::Elsewhere, ..commit(hash, subject) };
    let history = [
        commit("aaaaaaaa00", "Begin"),
        elsewhere("bbbbbbbb00", "Log in"),
        elsewhere("9999999900", "Log out"),
    ];
    let found = drift(plans.rows(), &history);
    let told: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(told, ["task 3 (line 7) is cc:Done [ccccccc], and that commit is on no branch"]);
}

#[test]
fn what_only_other_branches_have_matters_to_what_is_done_and_not_here() {
    let here = [commit("aaaaaaaa00", "Begin"), commit("bbbbbbbb00", "Log in")];
    let matters = |status: &str| {
        let plans = plans(&[["1", "Log in", "-", "cc:TODO"], ["2", "Log out", "-", status]]);
        let elsewhere = Commit { place: Place::Elsewhere, ..commit("9999999900", "Log out") };
        let all = [here.as_slice(), &[elsewhere]].concat();
        let matters = looks_elsewhere(plans.rows(), &here);
        assert!(matters || drift(plans.rows(), &all) == drift(plans.rows(), &here), "{status}");
        matters
    };
    for status in
        ["cc:TODO", "cc:WIP", "cc:Done", "cc:Done [bbbbbbb]", "cc:Done [BBBBBBBB]", "blocked"]
    {
        assert!(!matters(status), "{status}");
    }
    for status in ["cc:Done [9999999]", "cc:Done [ccccccc]"] {
        assert!(matters(status), "{status}");
    }
}

#[test]
fn what_was_amended_is_done_with_the_commit_that_has_its_name_by_now() {
    let table = ["1", "[P] Log in", "-", "cc:Done [ccccccc]"];
    let history = [
        Commit { place: Place::Elsewhere, ..commit("9999999900", "Log in") },
        commit("bbbbbbbb00", "log in."),
        commit("aaaaaaaa00", "Log in"),
    ];
    let found = drift(plans(&[table]).rows(), &history);
    let want = "task 1 (line 5) is cc:Done [ccccccc], and that commit is on no branch: commit bbbbbbb has its name";
    assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), [want]);
    let mended = found[0].mended().to_string();
    assert_eq!(mended, "cc:Done [bbbbbbb]");
    let settled = plans(&[["1", "[P] Log in", "-", &mended]]);
    assert_eq!(drift(settled.rows(), &history), [], "once is enough");
}
