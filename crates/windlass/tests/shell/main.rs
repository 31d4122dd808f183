//! The shell with real things: real git, real processes, a real journal, driven through the command line.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod agent;
mod answers;
mod autopilot;
mod bad_input;
mod beside;
#[path = "../shared/bubblewrap.rs"]
mod bubblewrap;
mod checks;
mod contract;
mod cost;
mod crashes;
mod doctor;
mod foreseen;
mod isolated;
mod issues;
mod lanes;
mod limits;
mod memory;
mod mission;
mod panels;
mod patches;
mod pilot;
mod progress;
mod queue;
mod runs;
mod scratch;
mod surprises;
mod task;
mod task_v1;
mod tutorial;
mod two_at_once;
mod without_git;
mod words;
mod work;
