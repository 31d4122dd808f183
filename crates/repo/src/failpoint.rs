//! Failpoints: places where a crash can be tried out.
//!
//! Every git call and every rename passes one before and one after. A test sets a hook that kills
//! the process at the n-th of them; without a hook the cost is one atomic load.

use std::sync::OnceLock;

/// Which side of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It has not begun.
    Before,
    /// It is done.
    After,
}

/// What is called at each side of each step, with the step's name.
pub type Hook = fn(&'static str, Side);

static HOOK: OnceLock<Hook> = OnceLock::new();

/// Sets the hook of this process. Only the first one counts; `false` says that there was one.
pub fn set(hook: Hook) -> bool {
    HOOK.set(hook).is_ok()
}

/// Does a step between its two failpoints.
pub(crate) fn around<T>(name: &'static str, step: impl FnOnce() -> T) -> T {
    let hook = HOOK.get();
    if let Some(hook) = hook {
        hook(name, Side::Before);
    }
    let done = step();
    if let Some(hook) = hook {
        hook(name, Side::After);
    }
    done
}
