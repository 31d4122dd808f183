//! The built-in agent: a loop of a model and its tools.
//!
//! | question | file |
//! |---|---|
//! | how does it go on from turn to turn? | `run.rs`; one request with all its tries `ask.rs` |
//! | what was said so far? | `conversation.rs`; how it is kept short `compact.rs`; how it outlives us `record.rs` |
//! | how does each provider say that? | `wire/` |
//! | what may the model do? | `tools/` |
//! | how often is a provider asked again? | `retry.rs` |
//! | how do bytes come and go? | `http.rs`, `sse.rs` |
//! | has the answer the form that was asked for? | `form.rs` |

mod ask;
mod compact;
mod conversation;
mod form;
mod http;
mod record;
mod retry;
mod run;
mod sse;
mod tools;
mod wire;

pub(crate) use run::run;
