//! Trains: work of several units on top of each other, and how far they land.

use windlass_repo::{Branch, Car, Coupled, Land, Landing, Oid, Request, Store};

use crate::scratch::{Scratch, differing, edited, landed, read, request, write};

/// A lane for each edit, all on the same commit, as requests.
fn requests(store: &Store, edits: &[(&str, &str)]) -> Vec<Request> {
    let lanes = edits.iter().zip(1..).map(|((file, text), number)| {
        let lane = edited(store, number, &format!("u{number}"), file, text);
        request(store, &lane, Land::Merge)
    });
    lanes.collect()
}

fn train(store: &Store, tip: &Oid, requests: &[Request]) -> Vec<Coupled> {
    store.train(tip, &requests.iter().collect::<Vec<_>>()).expect("a train")
}

#[track_caller]
fn car(coupled: &Coupled) -> &Car {
    match coupled {
        Coupled::On(car) => car,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_train_is_made_without_touching_anything_and_lands_as_far_as_it_is_told() {
    let scratch = Scratch::new();
    let (store, tip) = (scratch.store(), scratch.oid("main"));
    let all = requests(&store, &[("a.txt", "a\n"), ("b.txt", "b\n"), ("c.txt", "c\n")]);
    let before = scratch.everything();
    let made = train(&store, &tip, &all);
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    assert_eq!(made, train(&store, &tip, &all), "the same again");
    let cars: Vec<&Car> = made.iter().map(car).collect();
    assert_eq!(cars[0].onto, tip);
    assert_eq!(cars[2].onto, cars[1].commit);
    assert_eq!(cars[0].tree, all[0].tree, "on what it was checked on it is what was checked");
    assert!(scratch.files_of(&cars[2].whole).contains("a.txt"));

    let arrive = || store.arrive(&all[1], &tip, &cars[1].commit).unwrap();
    assert_eq!(landed(arrive()), cars[1].commit);
    assert_eq!(scratch.oid("main"), cars[1].commit);
    assert_eq!(scratch.git(&["log", "--first-parent", "--format=%s"]), "Do u2\nDo u1\nfirst\n");
    assert!(!scratch.top.join("c.txt").exists() && scratch.top.join("b.txt").exists());
    assert_eq!(scratch.git(&["status", "--porcelain"]), "");
    let main = Branch::new("main").unwrap();
    let arrived = |at: &Car| store.has_arrived("run", &main, &at.commit).unwrap();
    assert_eq!([arrived(cars[0]), arrived(cars[1]), arrived(cars[2])], [true, true, false]);
    // Who was left out is made anew on what has landed.
    let rest = train(&store, &cars[1].commit, &all[2..]);
    assert_eq!(car(&rest[0]).tree, cars[2].tree);
    let again = arrive();
    assert!(matches!(again, Landing::Landed { already: true, .. }), "{again:?}");
}

#[test]
fn a_train_on_a_branch_that_has_moved_does_not_land() {
    let scratch = Scratch::new();
    let (store, tip) = (scratch.store(), scratch.oid("main"));
    let all = requests(&store, &[("a.txt", "a\n"), ("b.txt", "b\n")]);
    let made = train(&store, &tip, &all);
    scratch.write("theirs.txt", "theirs\n");
    let theirs = scratch.commit("theirs");
    let landing = store.arrive(&all[1], &tip, &car(&made[1]).commit).unwrap();
    assert!(matches!(&landing, Landing::Moved { tip, .. } if *tip == theirs), "{landing:?}");
    assert_eq!(scratch.oid("main"), theirs);
    let made = train(&store, &theirs, &all);
    assert!(scratch.files_of(&car(&made[1]).commit).contains("theirs.txt"));
}

#[test]
fn what_conflicts_with_a_car_waits_and_what_conflicts_with_the_branch_is_told() {
    let scratch = Scratch::new();
    let (store, tip) = (scratch.store(), scratch.oid("main"));
    let all = requests(
        &store,
        &[("readme.md", "one\n"), ("readme.md", "two\n"), ("b.txt", "b\n"), ("readme.md", "one\n")],
    );
    let made = train(&store, &tip, &all);
    assert_eq!(made[1], Coupled::Behind, "the first may never land");
    assert_eq!(car(&made[2]).onto, car(&made[0]).commit, "the others go without it");
    assert_eq!(made[3], Coupled::Behind, "what a car brings as well");
    let top = car(&made[2]).commit.clone();
    landed(store.arrive(&all[2], &tip, &top).unwrap());
    let made = train(&store, &top, &[all[1].clone(), all[3].clone()]);
    let Coupled::Conflict(files) = &made[0] else { panic!("{made:?}") };
    assert_eq!(files[0].path.to_str(), Some("readme.md"));
    assert_eq!(made[1], Coupled::Nothing);
    let files = vec!["readme.md".into()];
    let came: Vec<String> = store
        .came_between(&tip, &top, &files)
        .unwrap()
        .into_iter()
        .map(|(_, message)| message)
        .collect();
    assert_eq!(came, ["Do u1"], "who has changed that file");
}

#[test]
fn a_train_waits_as_one_where_something_is_in_the_way() {
    let scratch = Scratch::new();
    let (store, tip) = (scratch.store(), scratch.oid("main"));
    let all = requests(&store, &[("readme.md", "ours\n"), ("b.txt", "b\n")]);
    let made = train(&store, &tip, &all);
    write(&scratch.top, "readme.md", "being edited\n");
    let top = &car(&made[1]).commit;
    let arrive = || store.arrive(&all[1], &tip, top).unwrap();
    let Landing::Waiting { commit, branch, .. } = arrive() else {
        panic!("something is in the way");
    };
    assert_eq!((&commit, scratch.oid("main")), (top, tip.clone()));
    assert_eq!(scratch.oid(&branch.to_string()), *top);
    assert_eq!(read(&scratch.top, "readme.md"), "being edited\n");
    let main = Branch::new("main").unwrap();
    assert!(store.has_arrived("run", &main, &car(&made[0]).commit).unwrap(), "it waits");
    assert_eq!(store.beginning("run", &main).unwrap(), *top, "more goes on top");
    scratch.git(&["checkout", "-q", "--", "readme.md"]);
    assert_eq!(landed(arrive()), *top);
}

#[test]
fn a_train_that_comes_to_nothing_lands_all_the_same() {
    // Each of them has landed, and the history says so, though the second takes back what the first brought.
    let scratch = Scratch::new();
    let (store, tip) = (scratch.store(), scratch.oid("main"));
    let first = requests(&store, &[("readme.md", "other\n")]);
    let one = car(&train(&store, &tip, &first)[0]).commit.clone();
    let back = Request {
        base: one.clone(),
        head: one.clone(),
        tree: Oid::parse(scratch.git(&["rev-parse", "main^{tree}"]).trim()).unwrap(),
        message: "Do u2".into(),
        ..first[0].clone()
    };
    let made = train(&store, &tip, &[first[0].clone(), back.clone()]);
    let top = car(&made[1]).commit.clone();
    assert_eq!(landed(store.arrive(&back, &tip, &top).unwrap()), top);
    assert_eq!(scratch.oid("main"), top);
}
