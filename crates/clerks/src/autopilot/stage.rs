//! The stages of `workflows/autopilot.toml` that mean something to the session: each by its name there.

stages! { ALL:
    ACT = "act",
    APPROVE_PLAN = "approve_plan",
    AWAIT_PLAN = "await_plan",
    CHOOSE = "choose",
    CONFIRM = "confirm",
    DO = "do",
    EDIT_PLAN = "edit_plan",
    EXHAUSTED = "exhausted_gate",
    FINAL_BLOCKED = "final_blocked",
    FINAL_FIX = "final_fix",
    FINAL_REVIEW = "final_review",
    FINAL_STUCK = "final_stuck",
    FIND_PLAN = "find_plan",
    OFFER_PR = "offer_pr",
    OVERRIDE_NOTE = "override_note",
    PHASE_SKIPPED = "phase_skipped",
    PLAN = "plan",
    READ_PLAN = "read_plan",
    REORDER = "reorder",
    REORDER_GATE = "reorder_gate",
    REVIEW = "review",
    REVIEW_BLOCKED = "review_blocked",
    SEEN_CHECKS = "seen_checks",
    SESSION = "session",
    SKELETON = "skeleton",
    TASK_CHECKS = "task_checks",
    VALIDATE = "validate",
    VERIFY = "verify",
    VERIFY_FAILED = "verify_failed",
}

#[cfg(test)]
mod tests {
    use windlass_core::workflow::Kind;

    use super::super::session::{MAX_ATTEMPTS, TASK_THRESHOLD};
    use super::*;
    use crate::stages::tests::flow;

    #[test]
    fn figures_that_people_are_told_are_the_workflows() {
        let flow = flow("autopilot");
        let gate = flow.stage(flow.stage_named(APPROVE_PLAN).unwrap());
        let Kind::Gate(gate) = &gate.kind else { panic!("not a gate") };
        let text = format!("{:?}", gate.concerns);
        assert!(text.contains(&format!("Number({TASK_THRESHOLD})")), "{text}");
        let attempts = flow.counters.iter().find(|counter| counter.name == "attempts").unwrap();
        let text = format!("{:?}", attempts.max);
        assert!(text.contains(&format!("Number({MAX_ATTEMPTS})")), "{text}");
    }
}
