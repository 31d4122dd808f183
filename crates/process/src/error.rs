//! What can go wrong, in kinds that a caller can act on.

use std::{
    ffi::{OsStr, OsString},
    io,
    path::PathBuf,
};

use rustix::io::Errno;

use crate::ledger::LedgerError;

/// The spawner could not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The kernel lacks something that promises depend on.
    #[error("this kernel cannot {what}: {source}; Windlass needs Linux 5.11 or newer with /proc")]
    Unsupported {
        /// What it cannot do.
        what: &'static str,
        /// What it said.
        source: io::Error,
    },
    /// The ledger cannot be written.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Something else that the system refused.
    #[error("could not {step}: {source}")]
    System {
        /// What was tried.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// What there is too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Open files.
    Files,
    /// Processes.
    Processes,
    /// Memory.
    Memory,
}

impl std::fmt::Display for Shortage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Shortage::Files => "too many open files (see `ulimit -n`)",
            Shortage::Processes => "too many processes (see `ulimit -u`)",
            Shortage::Memory => "not enough memory",
        })
    }
}

/// A program could not be started. Nothing of it runs.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    /// No such program in the `PATH` it would have.
    #[error(
        "the program {program:?} is not in PATH ({searched:?}); install it or give its full path"
    )]
    NotFound {
        /// Its name.
        program: OsString,
        /// The `PATH` that was searched.
        searched: OsString,
    },
    /// No file at the path that was given.
    #[error("there is no program at {path:?}: {source}; check the path")]
    NoSuchProgram {
        /// Where it was looked for.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file, but not one that can be started.
    #[error(
        "{path:?} cannot be started: {source}; check its permissions and, for a script, the \
         interpreter in its first line"
    )]
    NotExecutable {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The working directory cannot be entered.
    #[error("{program:?} cannot run in {directory:?}: {source}; check the directory")]
    BadDirectory {
        /// What was to run there.
        program: OsString,
        /// The directory.
        directory: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A zero byte, or a variable's name with `=`.
    #[error("{what} cannot be handed to a program: {text:?}")]
    BadText {
        /// What it is.
        what: &'static str,
        /// As it was given.
        text: OsString,
    },
    /// More arguments or environment than the kernel takes.
    #[error(
        "the arguments and environment of {program:?} are too long ({bytes} bytes); hand long \
         text over as standard input"
    )]
    TooLong {
        /// The program.
        program: OsString,
        /// Their length.
        bytes: usize,
    },
    /// The machine has no more of something just now.
    #[error("{program:?} was not started: {what}")]
    Exhausted {
        /// The program.
        program: OsString,
        /// What there is too little of.
        what: Shortage,
        /// What the system said.
        source: io::Error,
    },
    /// The file for its output cannot be created.
    #[error(
        "the output cannot be kept in {path:?}: {source}; give a new file in a directory that can \
         be written"
    )]
    Spool {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The ledger cannot be written, so a crash could leave this program behind.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// Asked for by a watch, which runs on the very thread that would have to do it.
    #[error("a watch cannot start a program; hand the work to another thread")]
    FromWatch,
    /// The spawner was shut down.
    #[error("nothing is started any more: the spawner was shut down")]
    Closed,
    /// Something else that the system refused.
    #[error("could not {step} for {program:?}: {source}")]
    System {
        /// What was tried.
        step: &'static str,
        /// For which program.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
}

impl SpawnError {
    /// Sorts out what the system said.
    pub(crate) fn system(step: &'static str, program: &OsStr, source: io::Error) -> SpawnError {
        let program = program.to_os_string();
        let what = match Errno::from_io_error(&source) {
            Some(Errno::MFILE | Errno::NFILE) => Shortage::Files,
            Some(Errno::AGAIN) => Shortage::Processes,
            Some(Errno::NOMEM) => Shortage::Memory,
            _ => return SpawnError::System { step, program, source },
        };
        SpawnError::Exhausted { program, what, source }
    }
}

/// The thread that looked after a program has ended before the program did.
///
/// The kernel has killed the program's first process by then. The next start's
/// [sweep](crate::ledger::sweep) ends what that one had started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the thread that looks after programs has ended unexpectedly; start Windlass again")]
pub struct Lost;

/// A program could not be run to its end.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// It was not started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It was started and then lost.
    #[error(transparent)]
    Lost(#[from] Lost),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_has_no_more_of_is_told_apart() {
        let said = |errno: Errno| SpawnError::system("start", OsStr::new("git"), errno.into());
        let shortage = |errno| match said(errno) {
            SpawnError::Exhausted { what, .. } => Some(what),
            _ => None,
        };
        assert_eq!(shortage(Errno::MFILE), Some(Shortage::Files));
        assert_eq!(shortage(Errno::NFILE), Some(Shortage::Files));
        assert_eq!(shortage(Errno::AGAIN), Some(Shortage::Processes));
        assert_eq!(shortage(Errno::NOMEM), Some(Shortage::Memory));
        assert_eq!(shortage(Errno::IO), None);
        assert_eq!(
            said(Errno::AGAIN).to_string(),
            "\"git\" was not started: too many processes (see `ulimit -u`)"
        );
    }
}
