//! How it ends, whatever its provider does: the same in the words of every provider.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::json;
use windlass_agents::api::Format;
use windlass_agents::own::{Fin, Said};
use windlass_testkit::{Call, Complaint, Ending, Fault, Reply, Request, Then, Turn};

use crate::rig::{Rig, Told};

const FOR_EVER: usize = usize::MAX;

/// Writes a file in its first turn, and is done in its second; but the first few requests of that meet with trouble.
fn troubled(times: usize, trouble: impl Fn() -> Reply) -> impl Fn(&Request) -> Reply {
    let met = AtomicUsize::new(0);
    move |request| {
        if request.is_summary() {
            return Reply::text("hello.txt is written.");
        }
        let spoken = request.answers() > 0 || request.text().contains("hello.txt is written");
        match spoken {
            false => {
                Turn::new().text("I write it.").call(Call::write("hello.txt", "hello\n")).into()
            }
            true if met.fetch_add(1, SeqCst) < times => trouble(),
            true => Reply::structured(json!({"verdict": "done"})),
        }
    }
}

#[track_caller]
fn comes_to(
    format: Format,
    times: usize,
    trouble: impl Fn() -> Reply + Send + Sync + 'static,
    want: Fin,
) -> (Rig, Told) {
    let rig = Rig::new(format, troubled(times, trouble));
    ends_as(rig, want)
}

#[track_caller]
fn ends_as(rig: Rig, want: Fin) -> (Rig, Told) {
    let format = rig.own.format;
    let told = rig.run();
    assert_eq!(told.end.came, want, "{format:?}: {:?}\n{:?}", told.end, told.said);
    if want != Fin::Done {
        assert!(!told.end.why.is_empty());
    }
    (rig, told)
}

fn complaint(complaint: Complaint) -> impl Fn() -> Reply {
    move || Reply::complaint(complaint)
}

fn answer() -> Turn {
    Turn::new().text("I was about to say").call(Call::structured(json!({"verdict": "done"})))
}

#[test]
fn a_short_trouble_is_waited_out_as_long_as_the_provider_says() {
    for format in Format::ALL {
        let (rig, told) = comes_to(format, 2, complaint(Complaint::rate_limited(7)), Fin::Done);
        let waits = told.waits();
        assert_eq!(waits.len(), 2, "{format:?}");
        assert!(waits.iter().all(|ms| (7_000..7_800).contains(ms)), "{format:?}: {waits:?}");
        assert_eq!((rig.server.requests().len(), told.turns()), (4, 2), "{format:?}");
        assert!(told.end.accounted, "a request that was turned away costs nothing");
        for trouble in [Complaint::Overloaded, Complaint::Internal] {
            let (_, told) = comes_to(format, 3, complaint(trouble), Fin::Done);
            let waits = told.waits();
            assert!(waits[0] >= 750 && waits[2] > waits[0] && waits[2] <= 5_000, "{waits:?}");
            assert!(told.end.accounted);
        }
    }
}

#[test]
fn too_many_requests_for_ever_are_a_limit() {
    for format in Format::ALL {
        let (rig, told) =
            comes_to(format, FOR_EVER, complaint(Complaint::rate_limited(1)), Fin::Limited);
        assert_eq!(rig.server.requests().len(), 5, "{format:?}: as often as it may");
        assert!(matches!(told.said.last(), Some(Said::Limit { until: Some(_) })), "{format:?}");
        let none = Complaint::RateLimited { retry_after_s: None, reset_unix_s: None };
        let (_, told) = comes_to(format, FOR_EVER, complaint(none), Fin::Limited);
        assert_eq!(told.said.last(), Some(&Said::Limit { until: None }), "{format:?}");
    }
}

#[test]
fn whoever_would_have_to_wait_for_long_does_not_wait_here() {
    for format in Format::ALL {
        let (rig, told) =
            comes_to(format, FOR_EVER, complaint(Complaint::rate_limited(3_600)), Fin::Limited);
        assert_eq!((rig.server.requests().len(), told.waits().len()), (2, 0), "{format:?}");
        assert!(
            matches!(told.said.last(), Some(Said::Limit { until: Some(at) }) if *at > 1_700_000_000_000)
        );
        assert!(told.end.accounted);
    }
    // What is used up until a time that is said, in the words of those who say it.
    for format in [Format::Anthropic, Format::Openai, Format::OpenaiChat] {
        let used_up =
            Complaint::RateLimited { retry_after_s: Some(1), reset_unix_s: Some(4_000_000_000) };
        let (_, told) = comes_to(format, FOR_EVER, complaint(used_up), Fin::Limited);
        let until = Some(4_000_000_000_000);
        assert_eq!(told.said.last(), Some(&Said::Limit { until }), "{format:?}");
    }
}

#[test]
fn a_provider_that_cannot_serve_is_given_up_after_a_while() {
    for format in Format::ALL {
        for trouble in [Complaint::Overloaded, Complaint::Internal] {
            let (rig, told) = comes_to(format, FOR_EVER, complaint(trouble), Fin::Overloaded);
            assert_eq!(rig.server.requests().len(), 5, "{format:?}");
            assert!(told.end.accounted);
        }
        let mut nobody = Rig::new(format, |_: &Request| Reply::text("x"));
        nobody.own.base_url = "http://127.0.0.1:1".to_owned();
        let told = nobody.run();
        assert_eq!((told.end.came, told.end.accounted), (Fin::Overloaded, true), "{format:?}");
    }
}

#[test]
fn a_stream_that_is_cut_is_asked_for_again_and_what_it_used_up_is_not_known() {
    for format in Format::ALL {
        for after in [0, 1, 2, 3] {
            let (rig, told) = comes_to(format, 1, move || Reply::cut(after, answer()), Fin::Done);
            assert_eq!(rig.server.requests().len(), 3, "{format:?} {after}");
            assert!(!told.end.accounted, "{format:?} {after}");
        }
        let (_, told) = comes_to(format, FOR_EVER, || Reply::cut(2, answer()), Fin::Overloaded);
        assert!(!told.end.accounted);
    }
}

#[test]
fn a_complaint_in_the_middle_of_a_stream_is_one() {
    for format in Format::ALL {
        let midway = |complaint| {
            move || {
                Fault::Midway { after: 2, turn: answer(), then: Then::Complain(complaint) }.into()
            }
        };
        comes_to(format, 1, midway(Complaint::Overloaded), Fin::Done);
        comes_to(format, FOR_EVER, midway(Complaint::Overloaded), Fin::Overloaded);
        comes_to(format, 1, midway(Complaint::Overflow), Fin::Done);
    }
}

#[test]
fn a_hang_is_ended_and_asked_about_again() {
    for format in Format::ALL {
        let hangs = |times, trouble: fn() -> Reply, want| {
            let mut rig = Rig::new(format, troubled(times, trouble));
            rig.own.pace.idle_ms_max = 200;
            ends_as(rig, want)
        };
        for trouble in [|| Fault::HangBefore.into(), || Reply::hang(2, answer())] {
            let (rig, told) = hangs(1, trouble, Fin::Done);
            assert!(!told.end.accounted, "{format:?}");
            // It is not only given up: it is hung up.
            let hung = rig.server.wait_until(std::time::Duration::from_secs(60), |all| {
                let endings = all.iter().filter_map(|it| Some(it.answered.as_ref()?.ending));
                endings.filter(|ending| *ending == Ending::Hung).count() == 1
            });
            assert!(hung, "{format:?}");
        }
        hangs(FOR_EVER, || Fault::HangBefore.into(), Fin::Overloaded);
    }
}

#[test]
fn a_key_that_opens_nothing_is_not_tried_again() {
    for format in Format::ALL {
        let (rig, told) =
            comes_to(format, FOR_EVER, complaint(Complaint::Unauthorized), Fin::Unwelcome);
        assert_eq!(rig.server.requests().len(), 2, "{format:?}");
        assert!(told.end.why.starts_with("401: "), "{}", told.end.why);
        let mut without = Rig::new(format, |_: &Request| Reply::text("x"));
        without.own.key = "NO_SUCH_KEY_IS_SET".to_owned();
        let told = without.run();
        assert_eq!((told.end.came, told.end.accounted), (Fin::Unwelcome, true));
        assert!(told.end.why.contains("`NO_SUCH_KEY_IS_SET` is not set"));
        assert!(without.server.requests().is_empty());
    }
}

#[test]
fn what_has_become_too_long_is_summed_up_once() {
    for format in Format::ALL {
        let (rig, told) = comes_to(format, 1, complaint(Complaint::Overflow), Fin::Done);
        let requests = rig.server.requests();
        assert!(requests[2].request.is_summary() && requests[2].request.tools.is_empty());
        assert!(requests[3].request.text().contains("hello.txt is written."), "{format:?}");
        assert!(requests[3].request.text().contains("Say hello."), "the task stays");
        assert!(told.said.iter().any(|said| matches!(said, Said::Remark { .. })));
        comes_to(format, FOR_EVER, complaint(Complaint::Overflow), Fin::ContextFull);
        // Where there is nothing to sum up, there is nothing to be done.
        let rig = Rig::new(format, |_: &Request| Reply::complaint(Complaint::Overflow));
        assert_eq!(rig.run().end.came, Fin::ContextFull, "{format:?}");
        assert_eq!(rig.server.requests().len(), 1);
    }
}

#[test]
fn a_model_that_will_not_is_no_success() {
    for format in Format::ALL {
        let (_, told) = comes_to(format, FOR_EVER, || Reply::refusal("No."), Fin::Refused);
        assert!(told.end.accounted, "{format:?}");
    }
}

#[test]
fn an_answer_that_is_too_long_is_gone_on_with_for_a_while() {
    for format in Format::ALL {
        let (rig, _) = comes_to(format, 2, || Reply::tokens_max("And then"), Fin::Done);
        let last = &rig.server.requests()[3].request;
        assert!(last.text().contains("And then") && last.text().contains("Go on from there"));
        let half = || {
            let call = Call::write("half.txt", "x".repeat(100));
            Turn::new().call(call).stop(windlass_testkit::Stop::TokensMax).into()
        };
        let (rig, told) = comes_to(format, FOR_EVER, half, Fin::TooLong);
        assert_eq!(rig.server.requests().len(), 5, "{format:?}");
        assert!(!rig.lane("half.txt").exists(), "what may not be whole is not done");
        assert!(told.end.accounted);
    }
}

#[test]
fn whatever_else_a_provider_says_is_a_failure_in_its_own_words() {
    for format in Format::ALL {
        let trouble = || {
            let body = "{\"error\":{\"message\":\"no such model\"}}".to_owned();
            Fault::Status { status: 404, headers: Vec::new(), body }.into()
        };
        let (rig, told) = comes_to(format, FOR_EVER, trouble, Fin::Failed);
        assert_eq!(told.end.why, "404: no such model");
        assert_eq!(rig.server.requests().len(), 2);
        // A redirection is not followed: the key goes nowhere else.
        let elsewhere = || {
            let headers = vec![("location".to_owned(), "http://127.0.0.1:1/".to_owned())];
            Fault::Status { status: 307, headers, body: String::new() }.into()
        };
        comes_to(format, FOR_EVER, elsewhere, Fin::Failed);
    }
}
