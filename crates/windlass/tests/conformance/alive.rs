//! Processes of the machine, as they are seen from outside of any sandbox.

use std::fs;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// A process that lives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alive {
    pid: i32,
    /// When it was started, in ticks: with its number, that is the same process and no other.
    since: String,
    /// What it was started with.
    words: Vec<String>,
    /// What it was started with, and its environment.
    all: String,
}

impl Alive {
    /// Everybody.
    pub fn all() -> Vec<Alive> {
        let entries = fs::read_dir("/proc").expect("a list of processes").flatten();
        let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        numbers.filter_map(Alive::of).collect()
    }

    fn of(pid: i32) -> Option<Alive> {
        let read = |name: &str| {
            let bytes = fs::read(format!("/proc/{pid}/{name}")).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let stat = read("stat")?;
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let is_dead = matches!(fields.next()?, "Z" | "X");
        let since = fields.nth(18)?.to_owned();
        let line = read("cmdline").filter(|_| !is_dead)?;
        let all = format!("{line}\0{}", read("environ").unwrap_or_default());
        Some(Alive { pid, since, words: line.split('\0').map(str::to_owned).collect(), all })
    }

    /// Whether this stands in its command line or in its environment.
    pub fn knows(&self, word: &str) -> bool {
        self.all.contains(word)
    }

    /// Whether its program is called this.
    pub fn is_called(&self, name: &str) -> bool {
        let of = |word: &String| word.rsplit('/').next() == Some(name);
        self.words.first().is_some_and(of)
    }

    /// Whether it still lives.
    pub fn lives(&self) -> bool {
        Alive::of(self.pid).is_some_and(|now| now.since == self.since)
    }

    pub fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(self.pid), signal).expect("it lives");
    }
}
