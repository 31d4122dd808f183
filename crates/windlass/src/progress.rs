//! How far a run has come and how it got there, told from the entries of its journal alone: what is under way, how long
//! everything took, what was sent back and why. The picture of a run under way, `windlass status`, reports and forecasts
//! are made from this.

mod chronicle;
mod sight;
mod watch;

pub use self::chronicle::Chronicle;
pub use self::sight::{AtWork, Sight, waiting};
pub use self::watch::{Cause, Deed, Finished, Happening, Retry, Span, Watch};

#[cfg(test)]
pub use self::chronicle::tests as told_in_tests;
