//! Points at which a test may stop the world.
//!
//! Whether a crash is survived is decided between two system calls. A process that is to be killed
//! or copied at that very instant sets a hook, once; it is called with the name of each point that
//! is passed, on the thread that passes it. Without a hook a point costs one atomic load.

use std::sync::OnceLock;

/// Everything of a transaction is written, nothing of it is committed.
pub const BEFORE_COMMIT: &str = "commit.before";
/// The transaction is durable, nobody knows it yet.
pub const AFTER_COMMIT: &str = "commit.after";
/// A large blob is whole and on the disk, under a temporary name.
pub const BEFORE_RENAME: &str = "blob.before-rename";
/// A large blob has its name, nothing refers to it.
pub const AFTER_RENAME: &str = "blob.after-rename";

/// Every point there is.
pub const ALL: [&str; 4] = [BEFORE_COMMIT, AFTER_COMMIT, BEFORE_RENAME, AFTER_RENAME];

/// What is called at a point.
pub type Hook = fn(&str);

/// There is a hook already, and it stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this process has a failpoint hook already")]
pub struct AlreadySet;

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Sets the hook of this process.
///
/// # Errors
///
/// When there is one already.
pub fn set(hook: Hook) -> Result<(), AlreadySet> {
    HOOK.set(hook).map_err(|_| AlreadySet)
}

pub(crate) fn pass(name: &'static str) {
    if let Some(hook) = HOOK.get() {
        hook(name);
    }
}
