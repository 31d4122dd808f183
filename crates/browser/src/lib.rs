//! A real browser: Chromium without a window, driven step by step in an app on this machine.
//!
//! It is started by `crates/process` like everything else, in a sandbox if the caller puts it into one, and spoken to in the
//! words of the DevTools protocol over a pipe: there is no port that anybody else could talk to. Pages are not trusted. They
//! reach the app on its port and nothing else, their dialogs are dismissed, what they say is bounded, and one that hangs
//! costs its steps and nothing more.
//!
//! | question | file |
//! |---|---|
//! | which program, with what arguments? | `chromium.rs` |
//! | how is it spoken to? | `wire.rs` |
//! | what is a step, and what came of it? | `step.rs` |
//! | how is a step done? | `page.rs`; what runs in the page `look.js` |
//! | what does a picture come as? | `base64.rs` |

mod base64;
mod chromium;
mod page;
mod step;
mod wire;

pub use chromium::{Browser, Place, find};
pub use step::{Came, Seen, Shot, Step, Target, Took};
pub use wire::Fault;
