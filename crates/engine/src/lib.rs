//! The engine: the one loop that does what a run wants and reports how it ended.

pub mod detect;
pub mod prompt;
pub mod role;
