//! What goes over the wire, seen by a client that knows nothing but sockets.

mod cache;
mod chat;
mod client;
mod connections;
mod faults;
mod gemini;
mod messages;
mod program;
mod responses;
