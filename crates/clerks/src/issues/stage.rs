//! The stages of `workflows/issues.toml` that mean something to the session: each by its name there.

stages! { ALL:
    AGAIN = "again_gate",
    APPLY = "apply",
    CLASSIFY = "classify",
    COMMIT = "commit",
    COMMIT_FIX = "commit_fix",
    DISCOVER = "discover",
    GO_ON = "go_on",
    INVARIANTS = "invariants",
    PLAN = "plan",
    PREVIOUS = "previous",
    PUSH = "push",
    RESOLVE = "resolve",
    REVIEW = "review",
    REVIEW_FIX = "review_fix",
    WATCH = "watch",
}

#[cfg(test)]
mod tests {
    use windlass_core::workflow::{Errand, Kind};

    use super::super::tell;
    use crate::stages::tests::flow;

    #[test]
    fn whatever_is_told_is_known() {
        for stage in &flow("issues").stages {
            if let Kind::Errand(Errand::Tell { names }) = &stage.kind {
                for name in names {
                    assert!(tell::TELLS.contains(&name.as_str()), "nobody tells {name}");
                }
            }
        }
    }
}
