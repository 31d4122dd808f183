//! The crate against real git, in temporary directories.

mod canary;
mod checkouts;
mod clean;
mod closed;
mod crash;
mod find;
mod growth;
mod interrupted;
mod landing;
mod lanes;
mod meddling;
mod mirror;
mod names;
mod notes;
mod pool;
mod pushing;
mod saving;
mod scratch;
mod snapshots;
mod trains;
mod without_git;
