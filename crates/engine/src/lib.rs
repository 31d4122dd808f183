//! The engine: the one loop that does what a run wants, and what it is done with.
//!
//! | question | file |
//! |---|---|
//! | what does the loop do? | `engine.rs`; what reaches it `message.rs`; its hands `hands.rs` |
//! | what does each kind of effect do? | `effect/`; what all of them may use `shop.rs`, `setup.rs` |
//! | how do several land together? | `queue.rs`, `effect/train.rs` |
//! | what does the journal hold? | `entry.rs`; what the notes add up to `books.rs`; the time `clock.rs`, `date.rs` |
//! | what is a person shown? | `gate.rs`, `exhibit.rs`; on a landed commit `commit_note.rs` |
//! | who is asked? | `crew.rs`; whom nobody serves for now `accounts.rs` |
//! | what is an agent told? | `role.rs`, `skill.rs`, `prompt.rs` |
//! | which commands check a project? | `detect.rs`; what a change leaves behind `residuals/`, what it takes from tests `tests_kept/`; what is written down of what was asserted `asserted.rs` |
//! | what does a workflow keep besides? | `clerk.rs`; its papers in lanes `papers.rs` |
//! | what is foreseen of lanes that change the same? | `foresight.rs`; how many lanes make sense `lanes.rs`, how much of the disk they may take `room.rs` |
//! | what is never written down? | `mask.rs`; what JSON makes of it `escapes.rs` |
//! | what do agents and checks see of the machine? | `isolation.rs`; whether anybody can live there `trial.rs`; which ports are theirs `ports.rs` |

mod accounts;
pub mod asserted;
pub mod books;
pub mod clerk;
pub mod clock;
pub mod commit_note;
pub mod crew;
pub mod date;
pub mod detect;
mod effect;
mod engine;
pub mod entry;
mod escapes;
pub mod exhibit;
pub mod foresight;
pub mod gate;
pub mod hands;
pub mod isolation;
pub mod lanes;
pub mod mask;
pub mod message;
mod papers;
mod ports;
mod prompt;
mod queue;
mod residuals;
pub mod role;
mod room;
pub mod setup;
pub mod shop;
pub mod skill;
mod tests_kept;
pub mod trial;

pub use effect::check::{COMMIT_HOOKS, hook_command};
pub use engine::{Engine, EngineError, Left};
pub use prompt::{prompt_begins, quoted};
