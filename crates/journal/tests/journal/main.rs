//! The journal on real files, with real processes that are really killed.

mod actor;
mod appending;
mod blobs;
mod crashes;
mod damage;
mod library;
mod locks;
mod opening;
mod power;
mod scene;
mod snapshots;
mod sockets;
mod storage;
mod verifying;
