//! The built-in agent against a scripted model server, in the words of four providers.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod cache;
mod compaction;
mod ends;
mod resumed;
mod rig;
mod work;
