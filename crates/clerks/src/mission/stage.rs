//! The stages of `workflows/mission.toml` that mean something to the session: each by its name there.

stages! { ALL:
    ARCHITECT = "architect",
    BROKEN_CLAIMS = "broken_claims",
    CROSSCHECK = "crosscheck",
    FEATURES = "features",
    MERGE = "merge",
    MERGE_GRANT = "merge_grant",
    PLAN = "plan",
    PLAN_GRANT = "plan_grant",
    PLAN_REVIEW = "plan_review",
    RESOLVE = "resolve",
    UI_QA = "ui_qa",
    VALIDATOR = "validator",
    WORKER = "worker",
}

/// Where a feature is while somebody judges it, or while it waits to land.
pub const JUDGED: [&str; 5] = [VALIDATOR, UI_QA, CROSSCHECK, MERGE_GRANT, MERGE];
