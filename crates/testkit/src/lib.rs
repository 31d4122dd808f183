//! A scripted model server on loopback, that real agents are driven against in tests: Claude Code, Codex, Gemini CLI,
//! opencode. It answers in the words of four providers what a test's own function, the brain, says.
//!
//! | question | file |
//! |---|---|
//! | what did an agent ask? | `request.rs` |
//! | what is it answered? | `reply.rs`; what goes wrong `fault.rs`; what tokens it comes to `usage.rs` |
//! | which of the agent's own tools is meant by "run this"? | `call.rs` |
//! | how does a provider say that? | `wire/`: a file for each provider |
//! | how are bytes read and written? | `http.rs`; one connection `connection.rs`; all of them `listener.rs` |
//! | what would a provider have read from its cache? | `cache.rs` |
//! | how does a script from a file say all this? | `script.rs`; for the shell `bin/model-server.rs` |
//! | what happened? | `record.rs`; who keeps that `server.rs` |
//! | and where something else than a model is pretended? | `plain.rs`; the trackers are in a crate of their own |
//!
//! Nothing here is meant to be fast or safe on a network: it listens on 127.0.0.1 and believes what it is told.

mod cache;
mod call;
mod connection;
mod fault;
mod http;
mod listener;
pub mod plain;
mod record;
mod reply;
mod request;
mod script;
mod server;
mod usage;
mod wire;

pub use cache::Figures;
pub use call::Call;
pub use fault::{Complaint, Fault, Then};
pub use record::{Answered, Ending, Exchange, News, Probe};
pub use reply::{Block, Reply, Stop, Turn};
pub use request::{Api, Form, Message, Part, Purpose, Request, Role, Tool};
pub use script::{BadScript, Script};
pub use server::{Brain, Options, Server, Told};
pub use usage::{Tokens, Usage};
