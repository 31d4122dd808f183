//! What was started, for the case that Windlass is killed before it has ended.
//!
//! The kernel kills the first process of each child when Windlass dies, but not what that process
//! had started. The ledger is how the next Windlass finds the rest. It is a small file that only
//! ever grows while children run: one line when a spawner starts, one for each child that starts
//! or ends. It is written without being forced to disk: what a killed process has written is not
//! lost, and when the machine goes down, so do the processes.
//!
//! ```text
//! windlass-ledger 1
//! open 1f0c… 0000009b64d7e3a1 123456       boot, brand of the spawner, when Windlass started
//! start 26d935f8e8400000 4711 123460       token, and the pid (which is the session) and its start
//! groups 0000009b64d7e3a1 /sys/fs/cgroup   where control groups of its children are made
//! end 26d935f8e8400000
//! close 0000009b64d7e3a1                   everything has ended
//! ```
//!
//! A line that makes no sense is passed over: the last one may be torn. Losing a line loses
//! little, because the brand alone tells whose a process is.

mod sweep;

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

pub(crate) use sweep::sweep_after;
pub use sweep::{Ended, Evidence, Force, SweepError, sweep};

use crate::{
    proc::{self, Started, Stat},
    token::{Brand, Token},
};

const FILE: &str = "processes.ledger";
const HEADER: &str = "windlass-ledger 1";
/// Past this length, lines about children that have ended are dropped when none runs.
const LENGTH_MAX: u64 = 64 << 10;

/// The ledger cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// The system refused.
    #[error(
        "the list of running programs, {path:?}, cannot be used: {source}; without it a crash \
         could leave programs behind, so make the directory writable"
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// It is of a kind that this Windlass does not know.
    #[error(
        "{path:?} was written by a newer Windlass (it starts with {header:?}); use that one, or \
         restart the machine and delete the file"
    )]
    Version {
        /// The file.
        path: PathBuf,
        /// How it starts.
        header: String,
    },
}

/// The file, open for writing.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    /// Where the lines about this spawner's children begin.
    begins: u64,
}

impl Ledger {
    /// Opens the ledger in a directory, which is created if need be. [`sweep`] it first: only the
    /// process that holds the repository's lock may do either.
    pub fn open(directory: &Path) -> Result<Ledger, LedgerError> {
        let path = directory.join(FILE);
        let io = |source| LedgerError::Io { path: path.clone(), source };
        fs::create_dir_all(directory).map_err(io)?;
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(&path).map_err(io)?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(io)?;
        Entries::parse(&path, &text)?;
        if !text.contains(&b'\n') {
            // New, or torn in its very first line.
            file.set_len(0).map_err(io)?;
            file.write_all(format!("{HEADER}\n").as_bytes()).map_err(io)?;
        } else if !text.ends_with(b"\n") {
            // A torn line must not swallow the next one.
            file.write_all(b"\n").map_err(io)?;
        }
        let begins = file.metadata().map_err(io)?.len();
        Ok(Ledger { path, file, begins })
    }

    /// Where it is.
    pub(crate) fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("/"))
    }

    /// One write for a whole line, so that it is there or torn, but never mixed with another.
    fn append(&mut self, line: &str) -> Result<(), LedgerError> {
        self.file
            .write_all(line.as_bytes())
            .map_err(|source| LedgerError::Io { path: self.path.clone(), source })
    }

    pub(crate) fn opened(&mut self, brand: Brand) -> Result<(), LedgerError> {
        let io = |source| LedgerError::Io { path: self.path.clone(), source };
        let boot = proc::boot().map_err(io)?;
        let me = rustix::process::getpid().as_raw_nonzero().get();
        let at_ticks = Stat::of(me).map_err(io)?.map_or(0, |stat| stat.started.at_ticks);
        self.append(&format!("open {boot} {brand} {at_ticks}\n"))?;
        let io = |source| LedgerError::Io { path: self.path.clone(), source };
        self.begins = self.file.metadata().map_err(io)?.len();
        Ok(())
    }

    pub(crate) fn started(&mut self, token: Token, leader: Started) -> Result<(), LedgerError> {
        self.append(&format!("start {token} {} {}\n", leader.pid, leader.at_ticks))
    }

    pub(crate) fn grouped<'d>(
        &mut self,
        brand: Brand,
        dirs: impl Iterator<Item = &'d Path>,
    ) -> Result<(), LedgerError> {
        // A kernel's path has no line breaks.
        let lines: String = dirs.map(|dir| format!("groups {brand} {}\n", dir.display())).collect();
        self.append(&lines)?;
        let io = |source| LedgerError::Io { path: self.path.clone(), source };
        self.begins = self.begins.max(self.file.metadata().map_err(io)?.len());
        Ok(())
    }

    pub(crate) fn ended(&mut self, token: Token) -> Result<(), LedgerError> {
        self.append(&format!("end {token}\n"))
    }

    pub(crate) fn close(&mut self, brand: Brand) -> Result<(), LedgerError> {
        self.append(&format!("close {brand}\n"))
    }

    /// Forgets children that have ended, if there are many. Only while none runs.
    pub(crate) fn shorten(&mut self) -> io::Result<()> {
        if self.file.metadata()?.len() > self.begins + LENGTH_MAX {
            self.file.set_len(self.begins)?;
        }
        Ok(())
    }
}

/// What a ledger says about children that may still be there, on this boot of the machine.
#[derive(Debug, Default)]
struct Entries {
    /// Spawners that have not said that everything has ended, and when they started.
    brands: Vec<(String, Brand, u64)>,
    /// First processes whose end was not noted.
    leaders: Vec<(Token, Started)>,
    /// Where their control groups are.
    groups: Vec<PathBuf>,
}

impl Entries {
    /// `None` when there is no ledger.
    fn read(path: &Path) -> Result<Option<Entries>, LedgerError> {
        match fs::read(path) {
            Ok(text) => Entries::parse(path, &text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(LedgerError::Io { path: path.to_owned(), source }),
        }
    }

    fn parse(path: &Path, text: &[u8]) -> Result<Entries, LedgerError> {
        let text = String::from_utf8_lossy(text);
        // What comes after the last line break was torn.
        let Some((whole, _)) = text.rsplit_once('\n') else { return Ok(Entries::default()) };
        let mut lines = whole.lines();
        match lines.next() {
            None | Some(HEADER) => {}
            Some(header) => {
                let (path, header) = (path.to_owned(), header.to_owned());
                return Err(LedgerError::Version { path, header });
            }
        }
        let mut entries = Entries::default();
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            // A line that makes no sense was torn.
            let _ = entries.note(&words);
        }
        Ok(entries)
    }

    fn note(&mut self, words: &[&str]) -> Option<()> {
        match *words {
            ["open", boot, brand, at_ticks] => {
                let brand = Brand::parse(brand)?;
                self.brands.push((boot.to_owned(), brand, at_ticks.parse().ok()?));
            }
            ["start", token, pid, at_ticks] => {
                let started = Started { pid: pid.parse().ok()?, at_ticks: at_ticks.parse().ok()? };
                self.leaders.push((Token::parse(token)?, started));
            }
            ["groups", _, ref path @ ..] => self.groups.push(path.join(" ").into()),
            ["end", token] => {
                let token = Token::parse(token)?;
                self.leaders.retain(|(other, _)| *other != token);
            }
            ["close", brand] => {
                let brand = Brand::parse(brand)?;
                self.brands.retain(|(_, other, _)| *other != brand);
                self.leaders.retain(|(token, _)| token.brand() != brand);
            }
            _ => {}
        }
        Some(())
    }

    /// Only what this spawner has started.
    fn of_brand(mut self, brand: Brand) -> Entries {
        self.brands.retain(|(_, other, _)| *other == brand);
        self.leaders.retain(|(token, _)| token.brand() == brand);
        self
    }

    /// Only what was started since the machine was.
    fn of_this_boot(mut self, boot: &str) -> Entries {
        self.brands.retain(|(other, _, _)| other == boot);
        let brands: Vec<Brand> = self.brands.iter().map(|(_, brand, _)| *brand).collect();
        self.leaders.retain(|(token, _)| brands.contains(&token.brand()));
        self
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const BRAND: &str = "0000008000000001";
    const FIRST: &str = "2000000000400000";
    const SECOND: &str = "2000000000400001";

    fn parse(text: &str) -> Entries {
        Entries::parse(Path::new("ledger"), text.as_bytes()).unwrap()
    }

    fn pids(entries: &Entries) -> Vec<i32> {
        entries.leaders.iter().map(|(_, leader)| leader.pid).collect()
    }

    #[test]
    fn what_has_ended_is_not_looked_for() {
        let text = format!(
            "{HEADER}\nopen b {BRAND} 5\nstart {FIRST} 41 6\nstart {SECOND} 42 7\nend {FIRST}\n"
        );
        assert_eq!(pids(&parse(&text)), [42]);
        let closed = parse(&format!("{text}close {BRAND}\n"));
        assert!(closed.leaders.is_empty() && closed.brands.is_empty());
    }

    #[test]
    fn what_another_boot_started_is_not_looked_for() {
        let text = format!("{HEADER}\nopen b {BRAND} 5\nstart {FIRST} 41 6\n");
        assert_eq!(pids(&parse(&text).of_this_boot("b")), [41]);
        let other = parse(&text).of_this_boot("c");
        assert!(other.leaders.is_empty() && other.brands.is_empty());
    }

    #[test]
    fn a_torn_line_loses_nothing_but_itself() {
        let text = format!("{HEADER}\nopen b {BRAND} 5\nstart {FIRST} 41 6\nstart {SECOND} 4");
        assert_eq!(pids(&parse(&text)), [41]);
        // As it looks when a ledger was opened after the tear.
        let text = format!("{text}\nstart {SECOND} 42 7\n");
        assert_eq!(pids(&parse(&text)), [41, 42]);
        assert!(parse(&HEADER[..5]).leaders.is_empty());
    }

    #[test]
    fn a_newer_format_is_refused_not_guessed() {
        let refused = Entries::parse(Path::new("ledger"), b"windlass-ledger 2\nopen\n");
        assert!(matches!(refused, Err(LedgerError::Version { .. })));
    }

    #[test]
    fn opening_after_a_tear_starts_a_new_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        for torn in [format!("{HEADER}\nend 2000"), HEADER[..5].to_owned(), String::new()] {
            fs::write(&path, torn).unwrap();
            let mut ledger = Ledger::open(dir.path()).unwrap();
            let brand = Brand::draw().unwrap();
            ledger.opened(brand).unwrap();
            ledger.started(brand.token(1), Started { pid: 7, at_ticks: 8 }).unwrap();
            let entries = Entries::read(&path).unwrap().unwrap();
            assert_eq!((entries.brands.len(), pids(&entries)), (1, vec![7]));
        }
    }

    #[test]
    fn a_long_ledger_is_shortened_to_what_matters() {
        let dir = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::open(dir.path()).unwrap();
        let brand = Brand::draw().unwrap();
        ledger.opened(brand).unwrap();
        for number in 0..2_000 {
            ledger.started(brand.token(number), Started { pid: 7, at_ticks: 8 }).unwrap();
            ledger.ended(brand.token(number)).unwrap();
            ledger.shorten().unwrap();
        }
        ledger.started(brand.token(2_000), Started { pid: 9, at_ticks: 8 }).unwrap();
        let path = dir.path().join(FILE);
        assert!(fs::metadata(&path).unwrap().len() < LENGTH_MAX + 1_000);
        let entries = Entries::read(&path).unwrap().unwrap();
        assert_eq!((entries.brands.len(), pids(&entries)), (1, vec![9]));
    }

    proptest! {
        #[test]
        fn no_ledger_makes_it_panic(
            lines in prop::collection::vec("(open|start|end|close)? ?[ -~]{0,40}", 0..8)
        ) {
            let text = format!("{HEADER}\n{}", lines.join("\n"));
            let _ = Entries::parse(Path::new("ledger"), text.as_bytes());
        }
    }
}
