//! What Windlass remembers, and who may write it.
//!
//! Each repository has a directory of its own below the state directory ([`StateDir`]). In it lie
//! one SQLite database with the events of every run, the blobs that are too large for it, and the
//! [`Lock`] that lets one process write. The holder of the lock serves a [`Server`], so that others
//! can [`ask`] it for what they may not do themselves.
//!
//! The promise is a short one: what [`Journal::append`] has acknowledged is on the disk, whole and
//! in order; and whatever is read back was written by us or is an error. Events of a run are linked
//! by hashes, blobs are named by theirs, and the last acknowledged event is noted beside the
//! database as well ([`Error::Lost`]), so that a torn, flipped, swapped or truncated file is
//! noticed and never argued with. Nothing is repaired in place: a damaged database stays readable
//! up to the damage ([`Journal::recover`]) and can be [set aside](set_aside) for a fresh one.
//!
//! The crate stores bytes. It knows no event by name, reads no environment and no clock; the one
//! who calls it hands in both.

mod anchor;
mod ask;
mod batch;
mod blob;
mod chain;
mod connection;
mod error;
mod export;
pub mod failpoint;
mod journal;
mod lock;
mod place;
mod read;
mod recover;
mod run;
mod schema;
mod server;
mod snapshot;
mod verify;

pub use ask::{AskError, ask};
pub use batch::Batch;
pub use blob::{BLOB_INLINE_BYTES_MAX, BlobId, BlobReader, Staged};
pub use chain::{Hash, NotAHash};
pub use error::{BlobFlaw, ChainFlaw, Error};
pub use journal::{Access, DATABASE, Journal};
pub use lock::{Held, Holder, Lock, TakeError};
pub use place::{PlaceError, Repository, StateDir, Surroundings, is_read_only, room};
pub use read::{EVENT_BYTES_MAX, Entries, Entry};
pub use recover::{Prefix, SetAside, set_aside};
pub use run::{BadRunId, Head, META_BYTES_MAX, RunId, RunInfo};
pub use schema::FORMAT;
pub use server::{BindError, MESSAGE_BYTES_MAX, SOCKET, Server};
pub use snapshot::Snapshot;
pub use verify::{Flaw, Report, RunReport, Scope};
