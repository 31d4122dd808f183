//! "Rigor Levels": what each level means in each state.

use super::{begun, executing, phase, plan, planned, small_plan, well_until, with};

const LEVELS: [&str; 3] = ["fast", "standard", "thorough"];

/// PLAN: "Planner skips skeleton pass" / "Default planner behavior" / "always produces skeleton for
/// approval".
#[test]
fn plan_skips_or_requires_the_skeleton() {
    for (rigor, skeletons) in [("fast", 0), ("standard", 0), ("thorough", 1)] {
        let mut walk = begun(&[("rigor", rigor)], vec![phase("p1", "low")]);
        walk.says("find_plan", "missing").on_to("plan", &[]);
        assert_eq!(walk.runs("skeleton"), skeletons, "{rigor}");
        assert_eq!(walk.runs("approve_skeleton"), skeletons, "{rigor}: a person approves it");
        assert_eq!(with(&walk, "plan", "rigor").as_deref(), Some(rigor), "pass rigorLevel");
    }
}

#[test]
fn a_skeleton_is_approved_revised_or_stopped() {
    let thorough = || {
        let mut walk = begun(&[("rigor", "thorough")], vec![phase("p1", "low")]);
        walk.says("find_plan", "missing").says("skeleton", "drafted");
        assert_eq!(walk.options("approve_skeleton"), ["yes", "revise", "stop", "other"]);
        walk
    };
    assert_eq!(thorough().answers("approve_skeleton", "yes").at(), ["plan"]);
    let mut walk = thorough();
    assert_eq!(walk.answers("approve_skeleton", "revise").at(), ["skeleton"]);
    assert_eq!(walk.says("skeleton", "drafted").at(), ["approve_skeleton"], "and seen again");
    super::stops_at(&mut thorough(), "approve_skeleton");
}

/// APPROVE_PLAN: "Auto-approve all plans regardless of concern signals" / "Default signal-based
/// approval logic" / "Force human review of all plans".
#[test]
fn approve_plan_by_rigor() {
    let alarming = || plan(30, 9, 2);
    // (rigor, small plan is asked about, alarming plan is asked about)
    for (rigor, small, large) in
        [("fast", false, false), ("standard", false, true), ("thorough", true, true)]
    {
        let asked = |plan| planned(&[("rigor", rigor)], "low", plan).is_at("approve_plan");
        assert_eq!(asked(small_plan()), small, "{rigor}");
        assert_eq!(asked(alarming()), large, "{rigor}");
    }
}

/// EXECUTE: "Skip scratchpad" / "scratchpad for research >500 words" / "Verbose scratchpad", and
/// the same for the planner.
#[test]
fn scratchpad_by_rigor() {
    for (rigor, scratchpad) in
        [("fast", "none"), ("standard", "over 500 words"), ("thorough", "everything")]
    {
        let mut walk = begun(&[("rigor", rigor)], vec![phase("p1", "low")]);
        walk.says("find_plan", "missing").on_to("plan", &[]);
        assert_eq!(with(&walk, "plan", "scratchpad").as_deref(), Some(scratchpad));
        walk.on_to("do", &super::usual());
        assert_eq!(with(&walk, "do", "scratchpad").as_deref(), Some(scratchpad));
        assert_eq!(with(&walk, "do", "rigor").as_deref(), Some(rigor));
    }
    let mut walk = begun(&[("rigor", "thorough")], vec![phase("p1", "low")]);
    walk.says("find_plan", "missing");
    assert_eq!(with(&walk, "skeleton", "scratchpad").as_deref(), Some("everything"));
}

/// EXECUTE: "Checkpoint commits still fire", at every level.
#[test]
fn checkpoint_commits_fire_at_every_level() {
    for rigor in LEVELS {
        let mut walk = begun(&[("rigor", rigor)], vec![phase("p1", "low")]);
        let tasks = vec![super::task("t1", "human-verify")];
        let plan = small_plan().items("tasks", tasks);
        walk.on_to("seen_commit", &[("read_plan", plan)]);
        assert!(walk.is_at("seen_commit"), "{rigor}");
    }
    assert!(executing(vec![super::task("t1", "none")]).is_at("do"));
}

/// VERIFY: "run harness validate only" / "Default verification pipeline" / "verification agent with
/// expanded checks".
#[test]
fn verification_by_rigor() {
    for (rigor, verifiers) in [("fast", 0), ("standard", 1), ("thorough", 1)] {
        let walk = well_until(&[("rigor", rigor)], &["p1"], "review");
        assert_eq!((walk.runs("validate"), walk.runs("verify")), (1, verifiers), "{rigor}");
        assert!(walk.is_at("review"), "{rigor}: no level skips the review");
    }
    for (rigor, expanded) in [("standard", "false"), ("thorough", "true")] {
        let walk = well_until(&[("rigor", rigor)], &["p1"], "verify");
        assert_eq!(with(&walk, "verify", "expanded").as_deref(), Some(expanded), "{rigor}");
    }
}

/// A whole run of each level comes to the same end: "Single invocation executes all phases".
#[test]
fn every_level_comes_to_done() {
    for rigor in LEVELS {
        let mut walk = well_until(&[("rigor", rigor)], &["p1", "p2", "p3"], "do");
        walk.to_the_end(&super::usual());
        assert_eq!((walk.exit_code(), walk.run().tally().done), (Some(0), 3), "{rigor}");
        assert_eq!(walk.runs("landing"), 3, "{rigor}");
        assert_eq!(walk.runs("go_on"), 2, "{rigor}: asked between phases, not after the last");
    }
}
