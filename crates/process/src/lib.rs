//! Where Windlass starts programs: agents, checks, and git.
//!
//! An agent is a program that may hang, flood, fork, daemonise, ignore signals and lie about it.
//! This room gives such a program exactly one life: it starts with an environment built up from
//! nothing, in a session of its own, with nothing to read but what it was given; its output is
//! kept in bounded space; and when its first process has ended, or was told to, everything that
//! came from it is ended too. Should Windlass itself be killed, the kernel ends the first process
//! and the next start [sweeps](ledger::sweep) up the rest.
//!
//! One [`Spawner`] thread starts and looks after everything; the calls are blocking and may come
//! from any thread:
//!
//! ```
//! use windlass_process::{Command, Ending, Spawner};
//!
//! let spawner = Spawner::start()?;
//! let finished = spawner.run(Command::new("echo", "/").arg("hauled up"))?;
//! assert_eq!(finished.ending, Ending::Exited(0));
//! assert_eq!(finished.stdout.whole()?, b"hauled up\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | question | file |
//! |---|---|
//! | what is to be started, and with what? | `command.rs`, `env.rs`, `which.rs` |
//! | what does a caller hold? | `spawner.rs`; to write to a program while it runs `feed.rs` |
//! | what does the one thread do? | `minder.rs`, `ward.rs` for one child, `poller.rs` to wait |
//! | how does a program get started? | `launch.rs`, where the unsafe code is |
//! | what does an agent see of the machine? | `sandbox/` |
//! | what may it take of the machine? | `bounds.rs`; who holds it to that `cgroup.rs`, `gauge.rs` and, inside, the doorman |
//! | who came from whom? | `family.rs`, `token.rs`, `proc.rs` |
//! | what was printed? | `spool.rs` while it runs, `output.rs` before and after |
//! | what did a killed Windlass leave behind? | `ledger/`; who sees to it at once `keeper.rs` |
//! | how are files in a lane opened? | `beneath.rs` |

#[cfg(not(target_os = "linux"))]
compile_error!(
    "windlass-process needs Linux 5.11 or newer: it relies on pidfds, child subreapers and openat2"
);

pub mod beneath;
mod bounds;
mod cgroup;
mod command;
mod env;
mod error;
mod family;
mod feed;
mod gauge;
pub mod keeper;
mod launch;
pub mod ledger;
mod minder;
mod output;
mod poller;
mod proc;
pub mod sandbox;
mod spawner;
mod spool;
mod token;
mod ward;
mod which;

pub use bounds::{Bounds, Disk, Resource};
pub use cgroup::LimitedBy;
pub use command::{Command, Limits, Stdin, Stream, Watch};
pub use env::Env;
pub use error::{Lost, RunError, Shortage, SpawnError, StartError};
pub use feed::{Fed, Feed};
pub use ledger::Ledger;
pub use output::{Captured, Digest, LeftOut, Output, ReadError};
pub use proc::Started;
pub use sandbox::{Sandbox, View};
pub use spawner::{Child, Spawner};
pub use ward::{Ending, Finished, Limit, Stragglers};
pub use which::which;
