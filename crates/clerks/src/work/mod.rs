//! What work has besides its rows and contracts: how a review is judged, and how what was done is told (seed: work; ADR 20).
//!
//! These are the forms alone: they know facts and nothing of runs.

pub mod report;
pub mod review;
