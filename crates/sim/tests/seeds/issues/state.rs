//! The state of an earlier loop, and what a new one starts with (I1, I2, I3).

use windlass_core::run::{Refused, Stamp, Start, start};
use windlass_sim::Walk;

use super::{issues, plays};
use crate::script::row;

#[test]
fn a_loop_starts_fresh_goes_on_or_asks() {
    issues().holds([
        row("it doesn't exist, this is a fresh start", "previous:fresh").at("fetch"),
        row("active: true, this is a continuation", {
            "previous:active,iterations_left=7,consecutive_failures=0"
        })
        .at("fetch")
        .never("again_gate")
        .records(""),
        row("active: false, ask the user", "previous:inactive,iterations_left=7")
            .at("again_gate")
            .exits(8),
        row("restart (reset iteration counter)", {
            "previous:inactive,iterations_left=7 again_gate:restart"
        })
        .at("fetch")
        .records("restarted"),
        row("or resume (keep state, set active: true)", {
            "previous:inactive,iterations_left=7 again_gate:resume"
        })
        .at("fetch")
        .records("resumed"),
        row("C18: corrupt state, a fresh start is offered", "previous:corrupt")
            .at("state_corrupt")
            .exits(8),
        row("… and taken", "previous:corrupt state_corrupt:yes").at("fetch"),
        row("… or not", "previous:corrupt state_corrupt:stop >").exits(5).never("fetch"),
    ]);
    let script = issues();
    let walk = script.play(&[], "previous:inactive,iterations_left=7");
    assert_eq!(walk.options("again_gate")[..2], ["restart", "resume"]);
}

#[test]
fn what_is_not_given_has_the_seeds_defaults_and_the_project_is_asked_for() {
    let script = issues();
    let value = |name: &str| {
        let input = script.flow.input_named(name).map(|ix| &script.flow.inputs[ix.at()]);
        input.and_then(|input| input.default.clone())
    };
    assert_eq!(value("label"), Some("ready".into()));
    assert_eq!(value("team"), Some("MB90".into()));
    assert_eq!(value("max"), Some(20.into()));
    assert_eq!(value("discover_interval"), Some(5.into()));
    let refused = start(script.flow.clone(), Stamp::default(), Start::default());
    let Err(Refused::InputMissing { name, ask }) = refused else {
        panic!("no project: {refused:?}")
    };
    assert_eq!(name, "project");
    assert_eq!(ask, "Which Linear project should the harness pull issues from?");
    let walk = script.play(&[("project", "P-1"), ("label", "go")], "previous:fresh");
    let (_, fetch) = walk.find("fetch").expect("under way");
    for (filter, is) in [("project", "P-1"), ("team", "MB90"), ("label", "go")] {
        assert_eq!(fetch.with.get(filter), Some(&is.into()), "{filter} filter");
    }
}

/// How many issues a loop takes up before it stops by itself.
fn taken(max: &str, before: &str) -> (usize, Vec<String>, Option<u8>) {
    let script = issues();
    let steps = format!("{before} >fetch");
    let mut walk = script.play(&[("max", max)], &steps);
    if walk.is_at("fetch") {
        script.go_on(&mut walk, "fetch:found,issues=I-1");
        plays(&script, &mut walk, &"W".repeat(60));
    }
    script.go_on(&mut walk, ">");
    let stop: Vec<String> =
        walk.records().into_iter().filter(|record| record.starts_with("[HARNESS")).collect();
    (walk.runs("claim"), stop, walk.exit_code())
}

#[test]
fn max_iterations_are_respected_and_a_resumed_loop_has_what_it_left() {
    let left = |n: u32, answer: &str| format!("previous:inactive,iterations_left={n} {answer}");
    let failed =
        |times: u32, how: &str| format!("{how},iterations_left=0,consecutive_failures={times}");
    let cases = [
        ("max_iterations: 20", "20", "previous:fresh".to_owned(), 20),
        ("max_iterations: {from flag}", "1", "previous:fresh".to_owned(), 1),
        ("max_iterations: {from flag}", "3", "previous:fresh".to_owned(), 3),
        ("restart (reset iteration counter)", "4", left(2, "again_gate:restart"), 4),
        ("resume (keep state)", "20", left(2, "again_gate:resume"), 2),
        ("a continuation", "20", "previous:active,iterations_left=3".to_owned(), 3),
        ("Respect max_iterations: none is left", "20", left(0, "again_gate:resume"), 0),
        ("… active", "20", "previous:active,iterations_left=0".to_owned(), 0),
        ("… after a failure", "9", failed(1, "previous:active"), 0),
        ("… after two", "9", failed(2, "previous:active"), 0),
        ("none is asked for", "0", "previous:fresh".to_owned(), 0),
        ("none is asked for", "0", "previous:corrupt state_corrupt:yes".to_owned(), 0),
        ("none is asked for", "0", left(5, "again_gate:restart"), 0),
    ];
    for (seed, max, before, issues) in cases {
        let (claimed, stop, code) = taken(max, &before);
        assert_eq!(claimed, issues, "{seed}");
        assert_eq!(stop, ["[HARNESS_STOP]"], "{seed}: Allow exit if max_iterations reached");
        assert_eq!(code, Some(0), "{seed}");
    }
}

/// How many failures in a row a loop takes from here.
fn failures_left(walk: &mut Walk<'_>) -> usize {
    let script = issues();
    script.go_on(walk, "fetch:found,issues=I-1");
    plays(&script, walk, "LLLLL");
    walk.runs("claim")
}

#[test]
fn consecutive_failures_of_the_earlier_loop_still_count() {
    let cases = [
        ("previous:active,iterations_left=9,consecutive_failures=0", 3),
        ("previous:active,iterations_left=9,consecutive_failures=1", 2),
        ("previous:active,iterations_left=9,consecutive_failures=2", 1),
        ("previous:active,iterations_left=9,consecutive_failures=5", 1),
        ("previous:inactive,iterations_left=9,consecutive_failures=2 again_gate:resume", 1),
        ("previous:inactive,iterations_left=9,consecutive_failures=2 again_gate:restart", 3),
        ("previous:fresh", 3),
    ];
    for (before, left) in cases {
        let script = issues();
        let mut walk = script.play(&[], before);
        assert_eq!(failures_left(&mut walk), left, "{before}");
    }
}
