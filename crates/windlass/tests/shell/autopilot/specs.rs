//! Specs and sessions that are there before anything begins.

use std::fs;

use serde_json::json;

use crate::pilot::{Pilot, SHORT, SPEC};

#[test]
fn specs_that_cannot_be_used_are_refused_before_anything_starts() {
    let pilot = Pilot::new(SPEC, "");
    let big = format!("{SPEC}{}", "x".repeat(10 << 20));
    let table: [(&str, &[u8], &str); 7] = [
        ("empty.md", b" \n", "it is empty"),
        (
            "twice.md",
            b"## Implementation Order\n### Phase 1: A\n### Phase 1: B\n",
            "line 3: phase 1, as on line 2",
        ),
        (
            "order.md",
            b"## Implementation Order\n### Phase 2: A\n### Phase 1: B\n",
            "phase 1 comes after phase 2",
        ),
        (
            "hard.md",
            b"## Implementation Order\n### Phase 1: A\n<!-- complexity: huge -->\n",
            "`huge` is no complexity",
        ),
        ("big.md", big.as_bytes(), "big.md: it has 10241 KB, and 1024 are the most"),
        ("binary.md", &[0, 159, 146, 150], "it is no text"),
        (
            "hostile.md",
            b"## Implementation Order\n```\n### Phase 1: A\n```\n### Phase 1:\n",
            "has no name",
        ),
    ];
    for (name, bytes, want) in table {
        fs::write(pilot.scratch.repo().join(name), bytes).unwrap();
        let (code, said) = pilot.run(&["autopilot", name]);
        assert_eq!(code, Some(2), "{name}: {said}");
        assert!(said.contains(want), "{name}: {said}");
    }
    let (code, said) = pilot.run(&["autopilot", "nowhere.md"]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = pilot.run(&["autopilot", "../outside.md"]);
    assert_eq!(code, Some(2), "{said}");
    let (code, said) = pilot.run(&["autopilot", "spec.md", "--fast", "--thorough"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("Cannot use --fast and --thorough together. Choose one."), "{said}");
    let (code, said) = pilot.run(&["autopilot"]);
    assert_eq!(code, Some(2));
    assert!(
        said.contains("which spec?") && said.contains("windlass autopilot docs/my-feature.md"),
        "{said}"
    );
    assert_eq!(pilot.scratch.status()["runs"], json!([]));
}

#[test]
fn a_spec_that_is_too_long_is_refused_in_the_same_words_however_it_is_started() {
    let pilot = Pilot::new(SPEC, "");
    pilot.write("long.md", &format!("{SPEC}{}", "x".repeat(2 << 20)));
    let ways: [(&[&str], i32, &str); 2] = [
        (&["autopilot", "long.md"], 2, "split long.md; nothing was started"),
        (
            &["run", "autopilot", "--set", "spec=long.md"],
            1,
            "split long.md, then `windlass resume autopilot-1`",
        ),
    ];
    for (way, want, next) in ways {
        let (code, said) = pilot.run(way);
        assert_eq!(code, Some(want), "{said}");
        assert!(said.contains(": long.md: it has 2049 KB, and 1024 are the most"), "{said}");
        assert!(said.contains(next), "{said}");
    }
}

#[test]
fn without_an_implementation_order_it_says_what_to_add_and_reads_again() {
    let pilot = Pilot::new("# Things\n\nJust prose.\n", "");
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    let (_, gates) = pilot.run(&["gates"]);
    assert!(gates.contains("has no '## Implementation Order' section"), "{gates}");
    pilot.write("spec.md", SHORT);
    let (code, said) = pilot.answer(&["added"]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(pilot.scratch.landed()["phase-1.txt"], "good");
}

#[test]
fn a_session_that_another_harness_left_is_adopted_whatever_its_schema() {
    let full = json!({
        "sessionDir": ".harness/sessions/spec", "specPath": "spec.md", "currentState": "PLAN", "currentPhase": 1,
        "phases": [{ "name": "Alpha", "complexity": "low", "status": "complete" },
                   { "name": "Beta", "complexity": "medium", "status": "pending" }],
        "retryBudget": { "maxAttempts": 3, "currentTask": null }, "history": [],
    });
    let later = [
        ("startingCommit", json!("0123456789abcdef0123456789abcdef01234567"), 3),
        ("decisions", json!([]), 3),
        ("finalReview", json!({ "status": "pending", "findings": [], "retryCount": 0 }), 3),
        ("reviewPlans", json!(false), 4),
        ("rigorLevel", json!("standard"), 5),
    ];
    for schema in [2, 3, 4, 5] {
        let mut state = full.clone();
        state["schemaVersion"] = json!(schema);
        for (name, value, since) in &later {
            if schema >= *since {
                state[*name] = value.clone();
            }
        }
        let pilot = Pilot::new(SPEC, "");
        pilot.write(".harness/sessions/spec/autopilot-state.json", &state.to_string());
        let (code, said) = pilot.run(&["autopilot", "spec.md"]);
        assert_eq!(code, Some(0), "{schema}: {said}");
        assert!(said.contains("Resuming autopilot"), "{schema}: {said}");
        let landed = pilot.scratch.landed();
        assert!(
            !landed.contains_key("phase-1.txt") && landed.contains_key("phase-2.txt"),
            "{schema}"
        );
        assert_eq!(pilot.state()["schemaVersion"], 5);
        // What the other had written is kept.
        assert!(
            pilot.file(".harness/sessions/spec/autopilot-state.json.aside-1").is_some(),
            "{schema}"
        );
    }
}

#[test]
fn a_state_that_makes_no_sense_is_set_aside_and_a_fresh_start_offered() {
    let pilot = Pilot::new(SHORT, "");
    pilot.write(".harness/sessions/spec/autopilot-state.json", "{ not json");
    let (code, said) = pilot.run(&["autopilot", "spec.md"]);
    assert_eq!(code, Some(8), "{said}");
    let aside = ".harness/sessions/spec/autopilot-state.json.aside-1";
    assert_eq!(pilot.file(aside).as_deref(), Some("{ not json"));
    assert_eq!(pilot.answer(&["yes"]).0, Some(0));
}
