//! Notes on commits.

use std::thread;

use crate::meddling::{How, meddled_store};
use crate::scratch::{Scratch, WHEN, differing};

#[test]
fn a_note_is_there_for_the_persons_git_and_other_notes_stay() {
    let scratch = Scratch::new();
    let commit = scratch.oid("main");
    scratch.git(&["notes", "--ref=windlass", "add", "-m", "by hand", "main^{tree}"]);
    let store = scratch.store();
    store.note(&commit, "claims\n\n  and checks\n", WHEN).unwrap();
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show"]), "claims\n\n  and checks\n");
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show", "main^{tree}"]), "by hand\n");
    // Again is nothing; another text replaces it.
    let before = scratch.everything();
    store.note(&commit, "claims\n\n  and checks\n", WHEN).unwrap();
    assert_eq!(differing(&before, &scratch.everything()), Vec::<String>::new());
    store.note(&commit, "other", WHEN).unwrap();
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show"]), "other\n");
    assert_eq!(scratch.git(&["log", "-1", "--format=%an", "refs/notes/windlass"]), "Windlass\n");
}

#[test]
fn notes_of_two_stores_do_not_lose_each_other() {
    let scratch = Scratch::new();
    let first = scratch.oid("main");
    scratch.write("x", "x");
    let second = scratch.commit("second");
    let store = scratch.store();
    let other = {
        let state = scratch.dir.join("other state");
        windlass_repo::Store::open(scratch.repository(), &state, Default::default()).unwrap()
    };
    thread::scope(|scope| {
        scope.spawn(|| store.note(&first, "one", WHEN).unwrap());
        scope.spawn(|| other.note(&second, "two", WHEN).unwrap());
    });
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show", first.as_str()]), "one\n");
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show", second.as_str()]), "two\n");
}

#[test]
fn a_note_that_somebody_writes_at_the_same_time_stays() {
    let scratch = Scratch::new();
    let commit = scratch.oid("main");
    let meddle = |scratch: &Scratch| {
        scratch.git(&["notes", "--ref=windlass", "add", "-m", "by hand", "main^{tree}"]);
    };
    let store = meddled_store(&scratch, "note.unpack", How::After(meddle));
    store.note(&commit, "ours", WHEN).unwrap();
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show"]), "ours\n");
    assert_eq!(scratch.git(&["notes", "--ref=windlass", "show", "main^{tree}"]), "by hand\n");
}
