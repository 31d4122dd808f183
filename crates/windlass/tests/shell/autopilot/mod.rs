//! Autopilot for real: a spec, real git, real checks, an agent that acts out a script.

mod finish;
mod phases;
mod plans;
mod questions;
mod specs;
mod surprises;
mod whole;
