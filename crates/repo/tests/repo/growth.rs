//! What has landed before costs a landing nothing: counted, not timed.

use std::{
    fs, io,
    path::Path,
    sync::{Arc, Mutex},
};

use windlass_repo::{Call, Coupled, Git, Land, Output, Repository, Run, Settings, StdRun, Store};

use crate::scratch::{Scratch, WHEN, edited, landed, request, write};

/// Calls of git, by name.
#[derive(Debug, Default)]
struct Counting(Mutex<Vec<&'static str>>);

impl Run for Counting {
    fn run(&self, call: &Call) -> io::Result<Output> {
        self.0.lock().expect("nobody panicked").push(call.name);
        StdRun.run(call)
    }
}

fn packs(git_dir: &Path) -> usize {
    let files = fs::read_dir(git_dir.join("objects/pack")).expect("a directory").flatten();
    files.filter(|file| file.path().extension().is_some_and(|ending| ending == "pack")).count()
}

#[test]
fn the_twelfth_landing_takes_what_the_third_took() {
    let scratch = Scratch::new();
    let counting = Arc::new(Counting::default());
    let git = Git::find(counting.clone(), scratch.host()).unwrap();
    let repository = Repository::find(&git, &scratch.top).unwrap();
    let store = Store::open(repository, &scratch.dir.join("state"), Settings::default()).unwrap();
    let places =
        [scratch.dir.join("state/mirror.git"), scratch.results(), scratch.top.join(".git")];
    let before = places.each_ref().map(|place| packs(place));
    let mut calls = Vec::new();
    for number in 1..=12 {
        let file = format!("file-{number}.txt");
        let lane = edited(&store, 1, &format!("u{number}"), &file, &file);
        let request = request(&store, &lane, Land::Merge);
        counting.0.lock().unwrap().clear();
        let train = store.train(&lane.base, &[&request]).unwrap();
        let [Coupled::On(car)] = &train[..] else { panic!("{train:?}") };
        landed(store.arrive(&request, &lane.base, &car.commit).unwrap());
        store.note(&car.commit, "its claims hold", WHEN).unwrap();
        store.sync().unwrap();
        calls.push(std::mem::take(&mut *counting.0.lock().unwrap()));
    }
    assert_eq!(calls[2], calls[11]);
    // Git looks into every pack there is, so there is not to be one for each landing.
    assert_eq!(places.each_ref().map(|place| packs(place)), before);
    for place in places {
        scratch.git_in(&place, &["fsck", "--strict"]);
    }
}

#[test]
fn what_a_person_brings_is_taken_over_in_one_pack_if_it_is_much() {
    let scratch = Scratch::new();
    let store = scratch.store();
    let mirror = scratch.dir.join("state/mirror.git");
    for (files, more) in [(3, 0), (300, 1)] {
        let before = packs(&mirror);
        for file in 0..files {
            write(&scratch.top, &format!("many-{files}/{file}"), format!("{file} of {files}\n"));
        }
        let tip = scratch.commit("many");
        store.sync().unwrap();
        assert_eq!(packs(&mirror), before + more, "{files} files");
        scratch.git_in(&mirror, &["rev-list", "--objects", tip.as_str()]);
    }
}
