//! What goes over the wire, seen by a client that knows nothing but sockets.

mod client;
mod connections;
mod faults;
mod messages;
mod responses;
