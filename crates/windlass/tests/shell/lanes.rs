//! Lanes as an agent left them, and what a person is told of them.

use std::process::Output;

use serde_json::Value;

use crate::scratch::Scratch;

/// Both tasks end at a question, each in its lane.
const TASKS: &str =
    "[[task]]\nid = 'hello'\ncareful = true\n[[task]]\nid = 'bye'\ncareful = true\n";

/// The lanes that are in use, by the names of their units.
fn lanes(scratch: &Scratch) -> Vec<Value> {
    let listed = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed["lanes"].as_array().unwrap().clone()
}

fn path_of<'l>(lanes: &'l [Value], unit: &str) -> &'l str {
    let lane = lanes.iter().find(|lane| lane["unit"] == unit).unwrap();
    lane["path"].as_str().unwrap()
}

fn printed(output: Output) -> String {
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_lane_that_nobody_may_read_does_not_hide_the_others() {
    let scratch = Scratch::without_powers(&[("tasks.toml", TASKS)]);
    assert_eq!(scratch.start().output().unwrap().status.code(), Some(8));
    let before = lanes(&scratch);
    let closed = path_of(&before, "hello");
    scratch.sh(&format!("mkdir '{closed}/closed' && chmod 000 '{closed}/closed'"));
    let after = lanes(&scratch);
    let of = |unit: &str| after.iter().find(|lane| lane["unit"] == unit).unwrap();
    assert_eq!(of("bye")["dirty"], false, "{after:?}");
    assert_eq!(of("hello")["path"], closed, "{after:?}");
    let wrong = of("hello")["wrong"].as_str().unwrap();
    assert!(wrong.contains("closed") && wrong.contains("Permission denied"), "{wrong}");
    let listed = scratch.windlass(&["lanes", "list"]).output().unwrap();
    assert_eq!(listed.status.code(), Some(0));
    let text = printed(listed);
    assert!(text.contains("small-1 · bye\n"), "{text}");
    assert!(text.contains("small-1 · hello, cannot be looked at\n"), "{text}");
    assert!(text.contains("Permission denied"), "{text}");
    // What is asked of the others is answered.
    let number = of("bye")["lane"].to_string();
    let shown = scratch.windlass(&["lanes", "show", &number]).output().unwrap();
    assert_eq!(shown.status.code(), Some(0));
    scratch.sh(&format!("chmod 700 '{closed}/closed'"));
}
