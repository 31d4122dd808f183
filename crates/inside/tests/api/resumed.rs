//! A session that was cut off goes on, wherever that was.

use std::fs;

use serde_json::json;
use windlass_agents::api::Format;
use windlass_agents::own::Fin;
use windlass_testkit::{Call, Reply, Request, Turn};

use crate::rig::Rig;

/// Adds a line to a file in each of two turns, and says so. What was cut off it looks at.
fn brain(request: &Request) -> Reply {
    let text = request.text();
    if request.tool_results().iter().any(|result| result.contains("This was cut off")) {
        return Reply::shell("cat lines; echo looked");
    }
    let has =
        |line: &str| text.contains(&format!("added {line}")) || text.contains(&format!("{line}\n"));
    if text.contains("looked") || has("two") {
        return Reply::structured(json!({"verdict": "done"}));
    }
    let line = if has("one") { "two" } else { "one" };
    Turn::new()
        .text("I add.")
        .call(Call::shell(format!("echo {line} >> lines; echo added {line}")))
        .into()
}

#[test]
fn wherever_it_was_cut_off_it_goes_on_and_nothing_is_asked_or_done_twice() {
    for format in Format::ALL {
        let whole = Rig::new(format, brain);
        assert_eq!(whole.run().end.came, Fin::Done);
        let record = fs::read_to_string(whole.record()).unwrap();
        let lines: Vec<&str> = record.lines().collect();
        let asked = whole.server.requests().len();
        assert_eq!(asked, 3);
        for kept in 1..=lines.len() {
            let mut rig = Rig::new(format, brain);
            fs::create_dir_all(rig.record().parent().unwrap()).unwrap();
            let past: String = lines[..kept].iter().map(|line| format!("{line}\n")).collect();
            fs::write(rig.record(), &past).unwrap();
            // What is on record of having been done was done; what was begun and is not, was done as well.
            let begun = |line: &str| past.contains(&format!("echo {line} >> lines"));
            let done: Vec<&str> = ["one", "two"].into_iter().filter(|line| begun(line)).collect();
            fs::write(
                rig.lane("lines"),
                done.iter().map(|it| format!("{it}\n")).collect::<String>(),
            )
            .unwrap();
            let told = rig.resume();
            assert_eq!(told.end.came, Fin::Done, "{format:?} {kept}: {:?}", told.end);
            let written = fs::read_to_string(rig.lane("lines")).unwrap();
            let is_once = |line: &str| written.matches(line).count() <= 1;
            assert!(is_once("one") && is_once("two"), "{format:?} {kept}: {written}");
            // A turn that is on record is not asked for again.
            let answered = past.matches("\"who\":\"model\"").count();
            let firsts = rig.server.requests();
            if answered > 0
                && let Some(first) = firsts.first()
            {
                assert_eq!(first.request.answers(), answered, "{format:?} {kept}");
                assert!(first.request.text().contains("You were cut off."));
            }
            if answered == 3 {
                assert_eq!(firsts.len(), 0, "{format:?}: it had its answer");
            }
        }
    }
}

#[test]
fn what_was_used_up_before_counts() {
    let mut rig = Rig::new(Format::Openai, |request: &Request| match request.answers() {
        0..3 => Reply::shell("true"),
        _ => Reply::structured(json!({"verdict": "done"})),
    });
    rig.errand.spend.turns = Some(2);
    let told = rig.run();
    assert_eq!((told.end.came, told.turns()), (Fin::Exhausted, 2));
    rig.errand.spend.turns = Some(3);
    let told = rig.resume();
    assert_eq!((told.end.came, told.turns()), (Fin::Exhausted, 1));
    rig.errand.spend.turns = None;
    rig.errand.spend.tokens = Some(1);
    let told = rig.run();
    assert_eq!((told.end.came, told.turns()), (Fin::Exhausted, 0));
    // Requests have names of their own, also those of different lives.
    let record = fs::read_to_string(rig.record()).unwrap();
    for request in 1..=3 {
        assert_eq!(
            record.matches(&format!("\"line\":\"asked\",\"request\":{request}}}")).count(),
            1
        );
        assert!(record.contains(&format!("\"request\":\"{request}\"")));
    }
}

#[test]
fn a_record_that_cannot_be_read_is_no_reason_to_stumble() {
    let mut rig = Rig::new(Format::Anthropic, |_: &Request| Reply::text("x"));
    let told = rig.resume();
    assert_eq!(told.end.came, Fin::Failed);
    assert!(told.end.why.contains("record"), "{}", told.end.why);
}
