//! A pretended GitHub. It speaks as much of the REST interface that the real one documents as a loop over issues and their
//! pull requests needs: paths, headers, statuses, shapes, pages, limits. Anything else is an answer 404, as there.
//!
//! | question | file |
//! |---|---|
//! | what does it know? | `world.rs` |
//! | which requests are there, and who may make them? | `route.rs` |
//! | what becomes of those about issues, and about pull requests? | `issues.rs`, `pulls.rs` |
//! | how do things look in JSON? | `shape.rs` |
//! | what time is it there? | `clock.rs` |
//! | how is it started, and how do tests and other people act on it? | `server.rs`, `people.rs` |

mod clock;
mod issues;
mod people;
mod pulls;
mod route;
mod server;
mod shape;
mod world;

pub use server::{GitHub, NewIssue, REPOSITORY, limited, secondary};
pub use world::{Said, Seen, Write};
