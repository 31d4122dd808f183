//! mission (seed 002): startup, the decision loop, lanes, DONE and ESCALATE.

mod feature;
mod finale;
mod lanes;
mod startup;

use crate::{built_in, script::Script};

/// One feature in a queue that is there already.
const ONE: &str = "queue:found features:found,features=F-1";

/// Two of them; `max_iterations` of the seed's `MAX` is then twelve.
const TWO: &str = "queue:found features:found,features=F-1+F-2";

fn mission() -> Script {
    Script {
        flow: built_in(include_str!("../../../../workflows/mission.toml")),
        usual: "features:found,features=F-1 final_document:nothing",
        by_itself: "look:open requeue:same curation:not_due",
    }
}
