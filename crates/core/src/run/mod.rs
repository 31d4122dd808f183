//! A run: the pure machine.
//!
//! ```text
//!            inputs: reports, answers, the clock, wishes
//!                          │
//!   journal ──fold──▶  Run (pure state)  ──wants()──▶  effects that should be under way
//!      ▲                   │ decide(now, input)
//!      └──── append ◀── events (facts)
//! ```
//!
//! [`start`] and [`decide`] say what happens, as events, and change nothing. [`Run::evolve`]
//! applies an event and cannot fail. [`fold`] is evolve over a journal: starting and resuming are
//! the same. [`Run::wants`] says which effects should be under way; the shell starts what is
//! missing, stops what is no longer there, and reports how each ended. [`Run::next_deadline`] is
//! the only timer.
//!
//! Inside, an input leads to a first event or two ([`decide`]), and then the run is advanced one
//! event at a time until nothing more follows by itself ([`step`]).

mod advance;
mod budget;
mod claims;
mod decide;
mod effect;
mod event;
mod evidence;
mod evolve;
mod fold;
mod input;
mod recorded;
mod routing;
mod scene;
mod standing;
mod state;
mod step;
mod text;
mod time;
mod timer;
mod units;
mod view;

use serde::{Deserialize, Serialize};

pub use self::{
    budget::{Amount, Cap, Caps, InvocationCap, Purse, Reported, Usage},
    decide::{decide, start},
    effect::{Effect, EffectKind},
    event::{By, Counted, Ending, Event, Moved, PolicyAnswer, Recorded, Started, Why},
    fold::{Broken, fold, fold_with},
    input::{
        Answer, Ended, Input, Item, Refused, Report, Settings, StandingPolicy, Start, Subject,
        Target, Wish,
    },
    standing::Standing,
    state::{PanelPhase, Phase, Run, Tally, UnitStatus},
    time::{PARK_MS_MAX, PARK_MS_MIN, Stamp},
    view::{FrameView, OpenGate, OptionView, UnitView},
};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);
    };
}

id!(
    /// A scope under way for some holder. Never used again.
    FrameId,
    u32
);
id!(
    /// An effect: the fencing token of its report. Never used again.
    EffectId,
    u64
);
id!(
    /// A question that was put. Never used again.
    GateId,
    u32
);
id!(
    /// A unit, counted in the order they were taken up.
    UnitIx,
    u32
);

id!(
    /// A lane of the run, the lowest free one when a unit begins. Which directory that is, the shell knows.
    LaneIx,
    u32
);

impl UnitIx {
    fn at(self) -> usize {
        self.0 as usize
    }
}
