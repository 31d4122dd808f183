use crate::windlass::{BUILT_IN, json, seen, windlass};

#[test]
fn each_built_in_workflow_has_a_line() {
    // How many stages there are is not this test's business.
    let seen = seen(&mut windlass(&["workflow", "list"]));
    let seen: String = seen
        .replace("exit 0", "exit zero")
        .chars()
        .map(|c| if c.is_ascii_digit() { 'N' } else { c })
        .collect();
    insta::assert_snapshot!(seen, @"
    exit zero
    --- stdout
    autopilot  NN stages, phases    Phases of an approved spec, in order; concern-gated plans; a final
                                    review over everything.
    task       NN stages, tasks     One task: plan, confirm, generate, verify, evaluate, commit.
    mission    NN stages, features  Features with claims; worker, validator and architect around a
                                    decision loop; parallel lanes.
    issues     NN stages, issues    A tracker's ready issues, one at a time: claim, plan, work, review,
                                    land, report.
    work       NN stages, tasks     Rows of Plans.md: contract, test first, implement, refine, review,
                                    land; solo, parallel or breezing.
    ");
}

#[test]
fn scripts_get_the_same_as_json() {
    let (code, list) = json(&["workflow", "list", "--json"]);
    assert_eq!(code, 0);
    let names: Vec<&str> =
        list.as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, BUILT_IN);
    for one in list.as_array().unwrap() {
        assert!(one["about"].is_string() && one["unit"].is_string(), "{one}");
        assert!(one["stages"].as_u64().unwrap() > 10, "{one}");
        assert_eq!(one["digest"].as_str().unwrap().len(), 64, "{one}");
    }
}

/// What only earlier sessions need is offered to nobody, and found by who asks for it.
#[test]
fn what_is_for_earlier_sessions_is_not_listed() {
    let (code, list) = json(&["workflow", "list", "--json"]);
    let listed = list.as_array().unwrap().iter().any(|one| one["name"] == "task-v1");
    assert_eq!((code, listed), (0, false));
    let (code, shown) = json(&["workflow", "show", "task-v1", "--json"]);
    assert_eq!((code, shown["workflow"].as_str()), (0, Some("task-v1")));
}
