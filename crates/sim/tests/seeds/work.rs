//! work (seed 004): modes, Plans.md, one task, its review, its commit, and what comes after.

mod after;
mod commit;
mod mode;
mod plans;
mod review;
mod task;

use crate::{built_in, script::Script};

/// One task of a project without a test framework, from the top.
const ONE: &str = "drift:clean \
                   plans:found,tasks=1,target_count=1,unlisted_count=0,test_framework=false";

/// … implemented and proved, up to its review.
const BUILT: &str = "drift:clean \
                     plans:found,tasks=1,target_count=1,unlisted_count=0,test_framework=false \
                     background:confident wip:told contract:drafted,profile=static \
                     contract_review:approved implement:done refine:done prove:pass";

/// A fix round: what was found is fixed, refined no more, and proved.
const FIXED: &str = "fix:done prove:pass";

fn work() -> Script {
    Script {
        flow: built_in(include_str!("../../../../workflows/work.toml")),
        usual: "plans:found,tasks=1,target_count=1,unlisted_count=0,test_framework=false \
                contract:drafted,profile=static",
        by_itself: "look:open red_reason:right contract_seal:told contract_ready:ready",
    }
}
