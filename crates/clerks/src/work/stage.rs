//! The stages of `workflows/work.toml` that mean something to the session: each by its name there.

stages! { ALL:
    AFTER_DONE = "after_done",
    BACKGROUND = "background",
    BROWSER = "browser",
    CI = "ci",
    CI_CAUSE = "ci_cause",
    CONTRACT_REVIEW = "contract_review",
    CONTRACT_SEAL = "contract_seal",
    CREATE = "create",
    FIX = "fix",
    IMPLEMENT = "implement",
    LANDING = "landing",
    LOOK = "look",
    PLANS = "plans",
    PROPOSE_FIX = "propose_fix",
    PROPOSE_LAST = "propose_last",
    PROVE = "prove",
    RED = "red",
    RED_SEEN = "red_seen",
    REFINE = "refine",
    RESIDUALS = "residuals",
    RESOLVE = "resolve",
    REVIEW = "review",
    RUNTIME = "runtime",
    TEST_CAUSE = "test_cause",
}

/// Stages whose checks are part of the review.
pub const PROOFS: [&str; 4] = [PROVE, RESIDUALS, RUNTIME, LANDING];

/// Stages whose agent changes files.
pub const EDITORS: [&str; 5] = [RED, IMPLEMENT, REFINE, FIX, RESOLVE];
