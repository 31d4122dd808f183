//! A pretended Linear. It executes the GraphQL schema that the real one publishes: what is not in the schema is refused before
//! anything is done, and what is in it and not pretended here is an error that says so.
//!
//! | question | file |
//! |---|---|
//! | which part of the schema, and how is a request held against it? | `part.rs`, `schema.rs` |
//! | what does it know? | `world.rs` |
//! | how is a request answered? | `answer.rs`; lists `list.rs`, filters `filter.rs` |
//! | what do writes do? | `change.rs` |
//! | how is it started, and how do tests and other people act on it? | `server.rs` |

mod answer;
mod change;
mod filter;
mod list;
pub mod part;
pub mod schema;
mod server;
#[cfg(test)]
mod tests;
mod world;

pub use server::{Linear, NewIssue, limited};
pub use world::{Said, Write};
