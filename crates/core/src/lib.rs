//! The pure core of Windlass: workflow definitions, the static checker, and the machine that runs
//! them.
//!
//! No clock, no disk, no process, no randomness, no hash-map order: the crate's own `clippy.toml`
//! bans them. That is what lets one simulator drive whole runs by the hundred thousand, and lets
//! the same core run anywhere.

#![deny(clippy::wildcard_enum_match_arm)]

pub mod expr;
pub mod lang;
pub mod path;
pub mod run;
pub mod value;
pub mod workflow;
