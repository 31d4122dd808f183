//! Pretended issue trackers on loopback, for tests. Each is written from what the real one publishes about itself, and apart
//! from the client that is tried on it.
//!
//! | tracker | file |
//! |---|---|
//! | what goes wrong at any of them, and when | `fault.rs` |
//! | other people, who do something as soon as something was written | `onlooker.rs` |
//! | what they send by themselves, signed | `webhook.rs` |
//! | Linear | `linear/`; for the shell `bin/pretend-linear.rs` |
//! | GitHub | `github/`; for the shell `bin/pretend-github.rs` |

pub mod fault;
pub mod github;
pub mod linear;
mod onlooker;
pub mod webhook;
