//! A conversation that is much longer than the model's window.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};

use serde_json::json;
use windlass_agents::api::Format;
use windlass_agents::own::Fin;
use windlass_testkit::{Call, Complaint, Reply, Request, Turn};

use crate::rig::Rig;

/// So many tokens a request has, as the server counts them.
fn tokens(request: &Request) -> u64 {
    request.body.to_string().len() as u64 / 4
}

const WINDOW: u64 = 8_000;

/// Reads long files, one after another, until it has seen all; refuses what is longer than its window. It knows how far
/// it has come from what it is shown alone.
fn reader(files: usize, seen: Arc<AtomicU64>) -> impl Fn(&Request) -> Reply {
    move |request| {
        if tokens(request) > WINDOW {
            return Reply::complaint(Complaint::Overflow);
        }
        seen.fetch_add(tokens(request), SeqCst);
        let text = request.text();
        let last = (0..files).rev().find(|at| text.contains(&format!("this is file number {at}.")));
        if request.is_summary() {
            let last = last.expect("a summary of something");
            return Reply::text(format!("The last I saw: this is file number {last}."));
        }
        assert!(text.contains("Say hello."), "the task was forgotten");
        let next = last.map_or(0, |at| at + 1);
        if next == files {
            return Reply::structured(json!({"verdict": "done"}));
        }
        let first = Turn::new().call(Call::read(format!("{next}.txt")));
        match next + 1 < files && next.is_multiple_of(3) {
            true => first.call(Call::read(format!("{}.txt", next + 1))).into(),
            false => first.into(),
        }
    }
}

#[test]
fn ten_times_the_window_is_gone_through_and_nothing_is_done_twice() {
    for format in Format::ALL {
        let files = 60;
        let seen = Arc::new(AtomicU64::new(0));
        let mut rig = Rig::new(format, reader(files, seen.clone()));
        rig.own.context_tokens = WINDOW;
        for at in 0..files {
            let text = format!("this is file number {at}.\n{}", "long line\n".repeat(600));
            fs::write(rig.lane(&format!("{at}.txt")), text).unwrap();
        }
        let told = rig.run();
        assert_eq!(told.end.came, Fin::Done, "{format:?}: {:?}", told.end);
        let requests = rig.server.requests();
        let overflows = requests.iter().filter(|it| tokens(&it.request) > WINDOW).count();
        assert_eq!(overflows, 0, "{format:?}: it was summed up before it was too late");
        let reads: u64 = (0..files)
            .map(|at| fs::metadata(rig.lane(&format!("{at}.txt"))).unwrap().len() / 4)
            .sum();
        assert!(reads > WINDOW * 10, "{reads}");
        let summaries = requests.iter().filter(|it| it.request.is_summary()).count();
        assert!((10..40).contains(&summaries), "{format:?}: {summaries}");
        let looks = told.said.iter().filter(
            |said| matches!(said, windlass_agents::own::Said::Tool { name, .. } if name == "read"),
        );
        assert_eq!(looks.count(), files, "{format:?}: no file is read twice");
        assert!(told.end.accounted);
    }
}

#[test]
fn a_window_that_is_smaller_than_was_said_is_learnt() {
    for format in Format::ALL {
        let files = 12;
        let seen = Arc::new(AtomicU64::new(0));
        let mut rig = Rig::new(format, reader(files, seen));
        rig.own.context_tokens = WINDOW * 2;
        for at in 0..files {
            let text = format!("this is file number {at}.\n{}", "long line\n".repeat(600));
            fs::write(rig.lane(&format!("{at}.txt")), text).unwrap();
        }
        let told = rig.run();
        assert_eq!(told.end.came, Fin::Done, "{format:?}: {:?}", told.end);
        let overflows =
            rig.server.requests().iter().filter(|it| tokens(&it.request) > WINDOW).count();
        assert!((1..=2).contains(&overflows), "{format:?}: {overflows}");
    }
}

#[test]
fn a_session_that_was_summed_up_goes_on_from_there() {
    let hung = AtomicUsize::new(0);
    let brain = move |request: &Request| {
        if request.is_summary() {
            return Reply::text("I have looked at everything.");
        }
        let summed_up = request.text().contains("I have looked at everything.");
        match (summed_up, hung.load(SeqCst)) {
            (false, _) => Reply::shell("yes | head -c 12000"),
            // The first time its provider has nothing left.
            (true, 0) => {
                hung.store(1, SeqCst);
                Reply::complaint(Complaint::rate_limited(3_600))
            }
            (true, _) => Reply::structured(json!({"verdict": "done"})),
        }
    };
    let mut rig = Rig::new(Format::Anthropic, brain);
    rig.own.context_tokens = WINDOW;
    assert_eq!(rig.run().end.came, Fin::Limited);
    let before = rig.server.requests().len();
    let told = rig.resume();
    assert_eq!((told.end.came, told.turns()), (Fin::Done, 1));
    let requests = rig.server.requests();
    assert_eq!(requests.len(), before + 1);
    let last = &requests[before].request;
    assert!(last.text().contains("Say hello.") && last.text().contains("You were cut off."));
}
