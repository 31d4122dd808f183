//! Folding: any prefix and then the rest is the whole; a damaged journal is refused.

use windlass_core::run::{Broken, Event, Recorded, fold, fold_with};
use windlass_sim::journal_bytes;

use crate::{JUST_DO, flow, listed};

fn journal(flow: &std::sync::Arc<windlass_core::workflow::Workflow>) -> Vec<Recorded> {
    let mut walk = listed(flow, &["a", "b"]);
    walk.says("do", "crashed").says("do", "done").says("do", "failed");
    walk.journal().to_vec()
}

#[test]
fn a_journal_carries_its_own_definition() {
    let flow = flow("", JUST_DO);
    let journal = journal(&flow);
    let bytes = journal_bytes(&journal).expect("written");
    let read: Vec<Recorded> = String::from_utf8(bytes)
        .expect("text")
        .lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect();
    assert_eq!(read, journal, "events survive being written down");
    let folded = fold(&read).expect("folds");
    assert_eq!(Ok(folded), fold_with(flow, &journal));
}

#[test]
fn any_prefix_and_then_the_rest_is_the_whole() {
    let flow = flow("", JUST_DO);
    let journal = journal(&flow);
    let whole = fold_with(flow.clone(), &journal).expect("folds");
    for at in 1..journal.len() {
        let mut run = fold_with(flow.clone(), &journal[..at]).expect("folds");
        for recorded in &journal[at..] {
            run.evolve(recorded);
        }
        assert_eq!(run, whole, "split at {at}");
    }
}

#[test]
fn a_damaged_journal_is_refused() {
    let flow = flow("", JUST_DO);
    let journal = journal(&flow);
    assert_eq!(fold(&[]), Err(Broken::Empty));
    assert_eq!(fold_with(flow.clone(), &journal[1..]), Err(Broken::NoStart));
    let mut gap = journal.clone();
    gap.remove(3);
    assert_eq!(fold(&gap), Err(Broken::Gap { expected: 3, found: 4 }));
    let mut twice = journal.clone();
    twice.insert(3, journal[2].clone());
    assert_eq!(fold(&twice), Err(Broken::Gap { expected: 3, found: 2 }));
    let mut edited = journal.clone();
    if let Event::Started(started) = &mut edited[0].event {
        started.source.text = "workflow = 1".into();
    }
    assert!(matches!(fold(&edited), Err(Broken::Definition(_))));
}

#[test]
fn an_event_that_makes_no_sense_here_does_no_harm() {
    let flow = flow("", JUST_DO);
    let journal = journal(&flow);
    // Every event of a finished run, applied to the run as it stood after its first.
    let mut run = fold_with(flow, &journal[..1]).expect("folds");
    for recorded in journal.iter().rev() {
        run.evolve(recorded);
    }
    assert_eq!(run.seq(), 1);
    assert_eq!(run.wanted().collect::<Vec<_>>(), run.wanted_from_scratch());
}
