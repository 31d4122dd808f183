//! INIT: phases, flags, sessions that are adopted, context.

use windlass_core::{
    run::{UnitStatus, Wish},
    workflow::Settled,
};
use windlass_sim::{Saying, Walk};

use super::{FLOW, Steps, adopted, begun, phase, small_plan, stage, usual, with};

#[test]
fn inputs_have_the_seeds_defaults_and_survive_resume() {
    let default = |name: &str| {
        let ix = FLOW.input_named(name).unwrap();
        FLOW.inputs[ix.at()].default.as_ref().map(ToString::to_string)
    };
    let rows = [
        ("rigor", Some("standard"), "\"rigorLevel\": \"standard\""),
        ("review_plans", Some("false"), "\"reviewPlans\": false"),
        ("roadmap", Some("docs/roadmap.md"), "If docs/roadmap.md exists"),
        ("spec", None, "or ask the user for the spec path"),
    ];
    for (name, value, quoted) in rows {
        assert_eq!(default(name).as_deref(), value, "{quoted}");
    }
    // "flags are only read on fresh start, not on resume": they are frozen into the journal.
    let mut walk = begun(&[("rigor", "thorough")], vec![phase("p1", "low")]);
    walk.wishes(Wish::Pause).wishes(Wish::Resume(None)).says("find_plan", "missing");
    assert_eq!(with(&walk, "skeleton", "rigor").as_deref(), Some("thorough"));
}

#[test]
fn a_spec_without_phases_asks_for_annotations_or_a_roadmap() {
    let rows: [(&str, Steps, &[&str], Option<u8>); 6] = [
        ("found", &[], &["health"], None),
        ("missing", &[], &[], Some(4)),
        ("no_phases", &[], &["no_order"], Some(8)),
        ("no_phases", &[("no_order", "added")], &["spec_phases"], None),
        ("no_phases", &[("no_order", "roadmap")], &["roadmap_phases"], None),
        ("no_phases", &[("no_order", "stop")], &[], Some(5)),
    ];
    for (verdict, answers, at, code) in rows {
        let mut walk = Walk::new(&FLOW, &[]);
        walk.says("session", "fresh").says("spec_phases", verdict);
        for (gate, option) in answers {
            walk.answers(gate, option);
        }
        if verdict == "missing" {
            walk.says("cut_off", "told");
        }
        assert_eq!(walk.at(), at, "{verdict}, {answers:?}");
        assert_eq!(walk.exit_code(), code, "{verdict}, {answers:?}");
        if code == Some(5) {
            assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["spec_phases"], "read again");
        }
    }
}

#[test]
fn phases_may_come_from_a_roadmap_file() {
    for (verdict, at) in [("found", "health"), ("missing", "no_order"), ("no_phases", "no_order")] {
        let mut walk = Walk::new(&FLOW, &[("roadmap", "plans/map.md")]);
        walk.says("session", "fresh").says("spec_phases", "no_phases");
        walk.answers("no_order", "roadmap");
        assert_eq!(with(&walk, "roadmap_phases", "file").as_deref(), Some("plans/map.md"));
        let phases = vec![phase("p1", "low")];
        walk.says("roadmap_phases", Saying::new(verdict).items("phases", phases));
        assert_eq!(walk.at(), [at], "roadmap {verdict}");
        if verdict == "found" {
            walk.on_to("find_plan", &[]);
            assert_eq!(walk.unit("p1"), Some(UnitStatus::Started));
        }
    }
}

/// "Check for existing state", "If no existing state", "currentState is not DONE", and a state
/// that "appears corrupted".
#[test]
fn an_earlier_session_is_resumed_unless_it_is_done() {
    let rows = [
        ("fresh", "spec_phases"),
        ("finished", "spec_phases"),
        ("resumable", "resume_report"),
        ("corrupt", "session_corrupt"),
    ];
    for (verdict, at) in rows {
        let mut walk = Walk::new(&FLOW, &[]);
        walk.says("session", verdict);
        assert_eq!(walk.at(), [at], "{verdict}");
    }
    // "start fresh rather than patching it"
    for (answer, at, code) in [("yes", vec!["spec_phases"], None), ("stop", vec![], Some(5))] {
        let mut walk = Walk::new(&FLOW, &[]);
        walk.says("session", "corrupt").answers("session_corrupt", answer);
        assert_eq!(walk.at(), at, "{answer}");
        assert_eq!(walk.exit_code(), code, "{answer}");
        if code == Some(5) {
            assert_eq!(walk.wishes(Wish::Resume(None)).at(), ["session_corrupt"]);
        }
    }
}

#[test]
fn context_is_gathered_and_a_cold_start_reads_the_summary() {
    // Step 7: "If resuming: call loadSessionSummary()"; without a session the step is skipped.
    for (session, summaries) in [("fresh", 0), ("resumable", 1)] {
        let phases = Saying::new(session).items("phases", vec![phase("p1", "low")]);
        let spec = Saying::new("found").items("phases", vec![phase("p1", "low")]);
        let mut walk = Walk::new(&FLOW, &[]);
        walk.on_to("find_plan", &[("session", phases), ("spec_phases", spec)]);
        assert_eq!(walk.runs("cold_start"), summaries, "{session}");
        for step in ["health", "context", "roadmap_context"] {
            assert_eq!(walk.runs(step), 1, "{session}: {step}");
        }
    }
    // Validation at INIT is context, not a verdict (A18); a missing roadmap is skipped silently.
    for health in ["pass", "fail", "skipped"] {
        for roadmap in ["found", "missing", "no_phases"] {
            let mut walk = begun_with(health, roadmap);
            walk.on_to("find_plan", &usual());
            assert!(walk.is_at("find_plan"), "{health}, {roadmap}");
        }
    }
}

fn begun_with(health: &str, roadmap: &str) -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, &[]);
    let phases = Saying::new("found").items("phases", vec![phase("p1", "low")]);
    walk.says("session", "fresh").says("spec_phases", phases).says("health", health);
    walk.says("context", "loaded").says("roadmap_context", roadmap);
    walk
}

#[test]
fn fast_overrules_review_plans_and_says_so() {
    let rows =
        [("fast", "yes", 1), ("fast", "no", 0), ("standard", "yes", 0), ("thorough", "yes", 0)];
    for (rigor, review, said) in rows {
        let walk = begun(&[("rigor", rigor), ("review_plans", review)], vec![phase("p1", "low")]);
        assert_eq!(walk.runs("fast_wins"), said, "{rigor}, review_plans {review}");
        let recorded = walk.records().contains(&"fast_overrules_review_plans".to_owned());
        assert_eq!(recorded, said == 1, "{rigor}, review_plans {review}");
    }
}

/// "Skip to the recorded currentState and continue from there."
#[test]
fn an_adopted_phase_goes_on_at_its_recorded_state() {
    let rows = [
        ("ASSESS", "missing", "plan"),
        ("PLAN", "missing", "plan"),
        ("PLAN", "found", "execute"),
        ("APPROVE_PLAN", "found", "execute"),
        ("EXECUTE", "found", "do"),
        ("VERIFY", "found", "validate"),
        ("REVIEW", "found", "validate"),
        ("PHASE_COMPLETE", "", "phase_complete"),
    ];
    for (state, has_plan, at) in rows {
        let phases = vec![adopted("p1", &[("complexity", "low"), ("resume_at", state)])];
        let mut walk = resumed(phases);
        if !has_plan.is_empty() {
            walk.says("find_plan", has_plan);
        }
        if has_plan == "found" {
            walk.says("read_plan", small_plan());
        }
        let approvals = walk.records().iter().filter(|r| r.starts_with("auto_approved")).count();
        let approved_before = matches!(state, "EXECUTE" | "VERIFY" | "REVIEW");
        let expected = usize::from(has_plan == "found" && !approved_before);
        assert_eq!(approvals, expected, "{state}: the plan is approved once, here or there");
        let at = if at == "execute" { "do" } else { at };
        assert_eq!(walk.at(), [at], "{state}, plan {has_plan}");
    }
}

#[track_caller]
fn resumed(phases: Vec<windlass_core::run::Item>) -> Walk<'static> {
    let mut walk = Walk::new(&FLOW, &[]);
    walk.says("session", Saying::new("resumable").items("phases", phases));
    for step in ["resume_report", "health", "context", "cold_start", "roadmap_context"] {
        walk.on_to(step, &[]);
        walk.says(step, stage(step).verdicts[0].name.as_str());
    }
    walk
}

/// "Do not re-run completed phases", and a session that stopped in FINAL_REVIEW is resumable there.
#[test]
fn phases_that_were_over_stay_over_and_ask_nothing() {
    let was = |id, how| adopted(id, &[("complexity", "low"), ("recorded", how)]);
    let walk = resumed(vec![was("p1", "complete"), was("p2", "skipped"), was("p3", "pending")]);
    assert_eq!(walk.unit("p1"), Some(UnitStatus::Settled(Settled::Done)));
    assert_eq!(walk.unit("p2"), Some(UnitStatus::Settled(Settled::Skipped)));
    assert_eq!(walk.unit("p3"), Some(UnitStatus::Started));
    assert_eq!((walk.at(), walk.runs("go_on")), (vec!["find_plan".to_owned()], 0));

    let mut walk = resumed(vec![was("p1", "complete"), was("p2", "complete")]);
    assert_eq!(walk.at(), ["final_validate"], "nothing is left but the final review");
    walk.to_the_end(&[]);
    assert_eq!((walk.runs("plan"), walk.exit_code()), (0, Some(0)));
}

/// `windlass autopilot plan` for a session of the seed's own: the phase that waits, once, and no other.
#[test]
fn the_plan_command_plans_the_waiting_phase_only() {
    let fact = |facts: &[(&str, &str)]| adopted("p", facts);
    let rows: [(&str, windlass_core::run::Item, &str); 5] = [
        ("high waits for it", fact(&[("complexity", "high")]), "plan"),
        ("overridden to high", fact(&[("complexity", "low"), ("override", "high")]), "plan"),
        ("low goes its usual way", fact(&[("complexity", "low")]), "find_plan"),
        ("complete", fact(&[("complexity", "high"), ("recorded", "complete")]), "final_validate"),
        ("skipped", fact(&[("complexity", "high"), ("recorded", "skipped")]), "final_validate"),
    ];
    for (row, phase, at) in rows {
        let walk = plan_command(vec![phase], "standard");
        assert_eq!(walk.at(), [at], "{row}");
        if at == "plan" {
            assert_eq!(with(&walk, "plan", "interactive").as_deref(), Some("true"), "{row}");
        }
    }
    let mut walk = plan_command(vec![adopted("p1", &[("complexity", "high")])], "thorough");
    assert_eq!(walk.at(), ["skeleton"], "thorough always produces a skeleton");
    walk.on_to("plan", &[]);
    let mut walk = plan_command(vec![phase("p1", "high"), phase("p2", "high")], "standard");
    walk.says("plan", "planned").on_to("go_on", &usual());
    walk.answers("go_on", "yes");
    assert_eq!(walk.at(), ["find_plan"], "the next high phase waits for its own plan");

    let nothing = windlass_core::run::Start { entry: Some("plan".into()), ..Default::default() };
    let refused = Walk::begin(&FLOW, nothing).err().map(|refused| refused.to_string());
    let said = "Start the run first: windlass autopilot SPEC.md (missing: autopilot-state.json)";
    assert_eq!(refused.as_deref(), Some(said));
}

#[track_caller]
fn plan_command(phases: Vec<windlass_core::run::Item>, rigor: &str) -> Walk<'static> {
    let begin = windlass_core::run::Start {
        entry: Some("plan".into()),
        have: ["autopilot-state.json".to_owned()].into(),
        inputs: windlass_sim::typed(&FLOW, &[("rigor", rigor)]),
        ..Default::default()
    };
    let mut walk = Walk::begin(&FLOW, begin).unwrap_or_else(|refused| panic!("{refused}"));
    let session = Saying::new("resumable").items("phases", phases);
    walk.on_to("roadmap_context", &[("session", session)]).says("roadmap_context", "missing");
    walk
}
