//! The stages of `workflows/task.toml` and `workflows/task-v1.toml` that mean something to the session: each by its name
//! there.

stages! { ALL:
    ADVISE_MULTI = "advise_multi",
    ADVISE_STANDARD = "advise_standard",
    ARGUMENT = "argument",
    COMMIT_GATE = "commit_gate",
    CONVENTIONS = "conventions",
    EDIT_SPEC = "edit_spec",
    EVALUATING = "evaluating",
    GENERATE_READY = "generate_ready",
    GIVE_BACK = "give_back",
    IMPLEMENT_MULTI = "implement_multi",
    IMPLEMENT_SINGLE = "implement_single",
    IMPLEMENT_STANDARD = "implement_standard",
    LAYER1_FAILED = "layer1_failed",
    LEAD_PLAN = "lead_plan",
    LIMITS_GATE = "limits_gate",
    PATCH_GATE = "patch_gate",
    PLAN_MULTI = "plan_multi",
    PLAN_READY = "plan_ready",
    PLAN_SINGLE = "plan_single",
    PLAN_STANDARD = "plan_standard",
    PROPOSE = "propose",
    QA_LAYER2 = "qa_layer2",
    QA_LAYER3 = "qa_layer3",
    REREAD_SPEC = "reread_spec",
    REVISE_SPEC = "revise_spec",
    ROUNDS_SPENT = "rounds_spent",
    SCAN = "scan",
    SCAN_FAILED = "scan_failed",
    SPEC_GATE = "spec_gate",
    SPEC_NOW = "spec_now",
    VERIFY_GATE = "verify_gate",
    VERIFYING = "verifying",
    VERIFY_READING = "verify_reading",
    VERIFY_READY = "verify_ready",
}

// What only sessions without a version have, and one that is there in both and counts a retry in theirs alone.
stages! { FIRST:
    GENERATING = "generating",
    PLANNING = "planning",
    QA_GATE = "qa_gate",
    SESSION_GATE = "session_gate",
    VERIFY_REPORT = "verify_report",
}

/// Those at which code is written.
pub const IMPLEMENT: [&str; 4] =
    [IMPLEMENT_SINGLE, IMPLEMENT_STANDARD, IMPLEMENT_MULTI, GENERATING];

/// Those at which a spec is made by several.
pub const PANELS: [&str; 2] = [PLAN_STANDARD, PLAN_MULTI];

#[cfg(test)]
mod tests {
    use crate::stages::tests::flow;

    /// The figures that messages and files have are the definition's.
    #[test]
    fn figures_that_people_are_told_are_the_workflows() {
        for (of, name, want) in [
            ("task", "layer1", super::super::LAYER1_RETRIES),
            ("task", "layer2", super::super::LAYER2_RETRIES),
            ("task", "rounds", super::super::ROUNDS),
            ("task-v1", "layer1", super::super::LAYER1_RETRIES),
            ("task-v1", "rounds", super::super::ROUNDS),
        ] {
            let flow = flow(of);
            let counter = flow.counters.iter().find(|counter| counter.name == name).unwrap();
            let most = format!("{:?}", counter.max);
            assert!(most.contains(&format!("Number({want})")), "{of}: {name}");
        }
    }
}
