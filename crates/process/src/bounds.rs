//! What a program may take of the machine, besides time.

use std::{path::PathBuf, time::Duration};

/// What a program and everything that came from it may take. What is not said is not limited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bounds {
    /// Processes and threads at once.
    pub processes: Option<u64>,
    /// Memory, in bytes.
    pub memory: Option<u64>,
    /// Time of the processor, of all processes together.
    pub cpu: Option<Duration>,
    /// Open files of each process.
    pub files: Option<u64>,
    /// The length of each file that is written, in bytes.
    pub file: Option<u64>,
    /// What lies below these directories, in bytes.
    pub disk: Option<Disk>,
}

/// How much may lie below some directories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// The directories.
    pub below: Vec<PathBuf>,
    /// So much of the disk they may take together.
    pub bytes: u64,
}

/// What there was too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Processes and threads at once.
    Processes,
    /// Memory.
    Memory,
    /// Time of the processor.
    Cpu,
    /// Files.
    Disk,
}

impl Bounds {
    /// Whether anything is limited that has to be looked at while a program runs.
    pub(crate) fn are_watched(&self) -> bool {
        self.processes.is_some() || self.memory.is_some() || self.cpu.is_some()
    }
}
