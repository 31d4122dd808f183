//! The stages of `workflows/autopilot.toml` that mean something to the session: each by its name there.

macro_rules! stages {
    ($($name:ident = $text:literal),* $(,)?) => {
        $(pub const $name: &str = $text;)*

        /// All of them.
        #[cfg(test)]
        pub const ALL: &[&str] = &[$($text),*];
    };
}

stages! {
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
    use windlass_core::lang::{Catalogue, load};
    use windlass_core::workflow::{Kind, Workflow};
    use windlass_engine::exhibit::Exhibits;

    use super::super::session::{MAX_ATTEMPTS, TASK_THRESHOLD};
    use super::*;

    fn autopilot() -> Workflow {
        let read = |name: &str| {
            let path = format!("{}/../../workflows/{name}.toml", env!("CARGO_MANIFEST_DIR"));
            std::fs::read_to_string(path).unwrap()
        };
        load(&read("autopilot"), &Catalogue::parse(&read("catalogue")).unwrap()).unwrap()
    }

    #[test]
    fn every_one_is_a_stage_of_the_workflow() {
        let flow = autopilot();
        for name in ALL {
            assert!(flow.stage_named(name).is_some(), "there is no stage `{name}`");
        }
    }

    #[test]
    fn figures_that_people_are_told_are_the_workflows() {
        let flow = autopilot();
        let gate = flow.stage(flow.stage_named(APPROVE_PLAN).unwrap());
        let Kind::Gate(gate) = &gate.kind else { panic!("not a gate") };
        let text = format!("{:?}", gate.concerns);
        assert!(text.contains(&format!("Number({TASK_THRESHOLD})")), "{text}");
        let attempts = flow.counters.iter().find(|counter| counter.name == "attempts").unwrap();
        let text = format!("{:?}", attempts.max);
        assert!(text.contains(&format!("Number({MAX_ATTEMPTS})")), "{text}");
    }

    #[test]
    fn what_stages_see_can_be_shown() {
        let shown = super::super::OFFICE.shows;
        let known = |name: &str| Exhibits::ALWAYS.contains(&name) || shown.contains(&name);
        for stage in autopilot().stages {
            let unknown: Vec<&String> = stage.sees.iter().filter(|name| !known(name)).collect();
            assert!(unknown.is_empty(), "{}: {unknown:?}", stage.name);
        }
    }
}
