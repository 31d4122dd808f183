//! Git for Windlass: the person's repository, our mirror of it, the lanes where units are built, the
//! store of their results, and landing.
//!
//! ```text
//!  the person's repository                      our directory
//!  ─────────────────────── sync ──▶ mirror.git ◀── borrowed by lanes (read-only)
//!        ▲                              ▲
//!        │ land: objects, then          │ borrows
//!        │ compare-and-swap         results.git ◀── snapshot, checkpoint ── lanes/<n>/work
//!        └──────────────────────────────┘
//! ```
//!
//! Three rules hold everywhere. No call to git runs a program that a repository names, and none looks
//! into the `.git` that an agent can write. Nothing is removed that is not kept under a ref first.
//! And every operation can be cut off at any point and asked for again: it finds what is there.
//!
//! The person's repository changes in these ways only: a branch that work lands on moves (with its
//! checkout, if nothing there is in the way), branches `windlass/…` come and go, notes appear under
//! `refs/notes/windlass`, and objects of what landed are added. A remote is changed by `push.rs` alone, where somebody wants that: a
//! branch `windlass/…` is made there or goes on, never by force.
//!
//! A directory that is in no repository has a shadow in our directory (`shadow.rs`), with which all of this is the same; in
//! the directory itself nothing changes but the files that work is given to.

mod apply;
mod brought;
mod change;
mod changes;
mod clean;
mod dotgit;
mod durable;
mod error;
mod extras;
pub mod failpoint;
mod git;
mod land;
mod lane;
mod lock;
mod merge;
mod mirror;
mod name;
mod names;
mod note;
mod objects;
mod oid;
mod ordinary;
mod past;
mod person;
mod pins;
mod plugs;
mod pool;
mod provenance;
mod push;
mod refs;
mod reopen;
mod repository;
mod save;
mod shadow;
mod sight;
mod std_run;
mod stock;
mod store;
mod strays;
mod train;
mod transfer;
mod transport;
mod trees;
mod waiting;
mod work;

pub use self::{
    apply::Applied,
    changes::{Change, Entry},
    clean::CleanCheckout,
    error::RepoError,
    git::{Call, Failure, Git, GitError, Host, Output, Run},
    land::{Land, Landing, Request, Target},
    lane::{Lane, LaneState, Pooled, Saved, Unseen},
    merge::{Conflicted, Rebuilt},
    mirror::Heads,
    name::{Branch, NotABranch},
    oid::{NotAnOid, Oid},
    past::{Changed, Committed},
    person::{Person, When},
    pool::Salvage,
    push::Pushed,
    repository::{Checkout, Remark, Repository},
    save::{Checkpoint, Patched, Rewound, Snapshot},
    std_run::StdRun,
    stock::Stock,
    store::{Limits, Settings, Store, Subject},
    train::{Car, Coupled},
    waiting::Untaken,
    work::LeftOut,
};
