//! The seeds' own tables, held against the built-in definitions: each row quotes a condition of a
//! source document, and the test says what the definition makes of it.

mod autopilot;
mod built_in;
mod issues;
mod mission;
mod script;
mod task;
mod task_v1;
mod work;

use built_in::built_in;
