//! The exit codes, which scripts rely on. `--help` prints this table, so that the two cannot drift
//! apart.

use std::fmt::Write as _;
use std::process::ExitCode;

/// How the program ended, as its caller sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    Done = 0,
    Error = 1,
    Usage = 2,
    Escalated = 3,
    Failed = 4,
    Stopped = 5,
    Held = 6,
    Rejected = 7,
    Waiting = 8,
    Interrupted = 130,
}

impl Exit {
    pub const ALL: [Self; 10] = [
        Self::Done,
        Self::Error,
        Self::Usage,
        Self::Escalated,
        Self::Failed,
        Self::Stopped,
        Self::Held,
        Self::Rejected,
        Self::Waiting,
        Self::Interrupted,
    ];

    pub fn code(self) -> u8 {
        self as u8
    }

    pub fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Error => "environment or internal error; nothing that was done is lost",
            Self::Usage => "usage: the command line cannot be understood",
            Self::Escalated => "escalated: a person must look before it can go on",
            Self::Failed => "failed, or a budget is exhausted",
            Self::Stopped => "stopped by a person; can be resumed",
            Self::Held => "held by another Windlass",
            Self::Rejected => "the plan was rejected",
            Self::Waiting => "waiting for a person's answer",
            Self::Interrupted => "interrupted",
        }
    }

    /// The table that `--help` ends with.
    pub fn table() -> String {
        let mut table = String::from("Exit codes:\n");
        for exit in Self::ALL {
            // Writing to a String cannot fail.
            let _ = writeln!(table, "{:>5}  {}", exit.code(), exit.meaning());
        }
        table
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
