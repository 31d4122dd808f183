//! The stages of `workflows/work.toml` that mean something to the session: each by its name there.

stages! { ALL:
    AFTER_DONE = "after_done",
    BACKGROUND = "background",
    BROWSER = "browser",
    CI = "ci",
    CI_CAUSE = "ci_cause",
    CONTRACT_REVIEW = "contract_review",
    FIX = "fix",
    IMPLEMENT = "implement",
    PLANS = "plans",
    PROPOSE_FIX = "propose_fix",
    PROPOSE_LAST = "propose_last",
    RED = "red",
    RED_SEEN = "red_seen",
    REFINE = "refine",
    RESOLVE = "resolve",
    REVIEW = "review",
    TEST_CAUSE = "test_cause",
}

/// Stages whose agent changes files.
pub const EDITORS: [&str; 5] = [RED, IMPLEMENT, REFINE, FIX, RESOLVE];
