//! `windlass work`: the rows of Plans.md, solo, in parallel or by a team, as a user drives it.

mod browser;
mod contracts;
mod drift;
mod example;
mod fixes;
mod modes;
mod people;
mod plans;
mod red;
mod review;
mod rig;
mod seed;
mod verdicts;
