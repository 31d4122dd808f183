//! What the kernel tells about processes, read from `/proc`.
//!
//! A number is not a name: pids are used again. A process is named by its pid and the moment it
//! started, and whoever wants to signal it opens a pidfd first and then looks whether that is
//! still the one that was meant ([`hold`]).

use std::{
    fs::{self, File},
    io::{self, Read},
    os::fd::OwnedFd,
    str::FromStr,
    time::Duration,
};

use rustix::{
    io::Errno,
    process::{Pid, PidfdFlags, pidfd_open},
};

use crate::token::{self, Token};

/// Names one process for as long as the machine is up, also after its pid was used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Started {
    /// Its process id.
    pub pid: i32,
    /// When it started, in clock ticks since the machine did (field 22 of `/proc/PID/stat`).
    pub at_ticks: u64,
}

/// What `/proc/PID/stat` says, as far as we need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) started: Started,
    pub(crate) name: String,
    pub(crate) life: Life,
    pub(crate) parent: i32,
    pub(crate) group: i32,
    pub(crate) session: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    /// It has ended and waits to be collected by its parent.
    Zombie,
}

impl Stat {
    /// `None` when there is no such process.
    pub(crate) fn of(pid: i32) -> io::Result<Option<Stat>> {
        let Some(text) = if_there(read_once(&format!("/proc/{pid}/stat")))? else {
            return Ok(None);
        };
        let stat = Stat::parse(&String::from_utf8_lossy(&text));
        stat.map(Some).ok_or_else(|| strange(format!("/proc/{pid}/stat")))
    }

    fn parse(text: &str) -> Option<Stat> {
        // The name is the program's own choice and may hold blanks and parentheses.
        let (before, rest) = text.rsplit_once(')')?;
        let (pid, name) = before.split_once(" (")?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        fn number<T: FromStr>(text: Option<&&str>) -> Option<T> {
            text?.parse().ok()
        }
        Some(Stat {
            started: Started { pid: pid.parse().ok()?, at_ticks: number(fields.get(19))? },
            name: name.to_owned(),
            life: match *fields.first()? {
                "Z" | "X" | "x" => Life::Zombie,
                _ => Life::Alive,
            },
            parent: number(fields.get(1))?,
            group: number(fields.get(2))?,
            session: number(fields.get(3))?,
        })
    }
}

/// What processes take of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) threads: u64,
    /// What is theirs alone, in bytes.
    pub(crate) memory: u64,
    /// With what those took that they have collected.
    pub(crate) cpu: Duration,
}

impl Taken {
    pub(crate) fn add(&mut self, other: Taken) {
        self.threads += other.threads;
        self.memory += other.memory;
        self.cpu += other.cpu;
    }
}

/// What a process takes of the machine; nothing, if it is gone.
pub(crate) fn taken(pid: i32) -> Taken {
    let read = |name: &str| read_once(&format!("/proc/{pid}/{name}")).unwrap_or_default();
    let stat = String::from_utf8_lossy(&read("stat")).into_owned();
    let fields = stat.rsplit_once(')').map_or("", |(_, rest)| rest).split_ascii_whitespace();
    let fields: Vec<u64> = fields.map(|field| field.parse().unwrap_or(0)).collect();
    let field = |at: usize| fields.get(at).copied().unwrap_or(0);
    let statm = String::from_utf8_lossy(&read("statm")).into_owned();
    let mut pages = statm.split_ascii_whitespace().skip(1).map(|page| page.parse().unwrap_or(0));
    let (resident, shared): (u64, u64) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    let ticks: u64 = (11..=14).map(field).sum();
    Taken {
        threads: field(17),
        memory: resident.saturating_sub(shared) * rustix::param::page_size() as u64,
        cpu: Duration::from_millis(ticks * 1000 / rustix::param::clock_ticks_per_second()),
    }
}

/// The token that a process carries as its limit on file locks. Zombies still have it.
pub(crate) fn token_in_limits(pid: i32) -> io::Result<Option<Token>> {
    let text = if_there(read_once(&format!("/proc/{pid}/limits")))?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"));
    let soft = line.and_then(|line| line.split_ascii_whitespace().next());
    Ok(soft.and_then(|soft| soft.parse().ok()).and_then(Token::from_limit))
}

/// The tokens that a process carries in its environment; none if that is not ours to read.
pub(crate) fn tokens_in_environment(pid: i32) -> Vec<Token> {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else { return Vec::new() };
    let mut lines = environment.split(|&byte| byte == 0);
    let value = lines.find_map(|line| {
        line.strip_prefix(token::VARIABLE.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec)
    });
    value.map_or_else(Vec::new, |value| token::tokens(&value).collect())
}

/// The children of one thread of a process; of its first thread, mostly: that is the one to whom
/// a subreaper's orphans are given.
pub(crate) fn children_of_thread(pid: i32, thread: i32) -> io::Result<Vec<i32>> {
    let text = if_there(read_all(&format!("/proc/{pid}/task/{thread}/children")))?;
    let text = text.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    Ok(text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect())
}

/// The children of all threads of a process.
pub(crate) fn children(pid: i32) -> io::Result<Vec<i32>> {
    let mut children = Vec::new();
    for thread in numbers(&format!("/proc/{pid}/task"))? {
        children.extend(children_of_thread(pid, thread)?);
    }
    Ok(children)
}

/// All processes there are.
pub(crate) fn all() -> io::Result<Vec<i32>> {
    numbers("/proc")
}

/// Changes with every start of the machine, after which no process of before can be alive.
pub(crate) fn boot() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned())
}

/// Takes hold of exactly this process, whose pid cannot become another's behind our back then.
/// `None` if it is gone, whoever has its pid now.
pub(crate) fn hold(process: Started) -> io::Result<Option<OwnedFd>> {
    let Some(pid) = Pid::from_raw(process.pid) else { return Ok(None) };
    let held = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(held) => held,
        Err(Errno::SRCH) => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Only now: what is true of the pid while we hold it is true of what we hold.
    let same = Stat::of(process.pid)?.is_some_and(|stat| stat.started == process);
    Ok(same.then_some(held))
}

fn numbers(directory: &str) -> io::Result<Vec<i32>> {
    let Some(entries) = if_there(fs::read_dir(directory))? else { return Ok(Vec::new()) };
    let mut numbers = Vec::new();
    for entry in entries {
        let Some(entry) = if_there(entry)? else { continue };
        numbers.extend(entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()));
    }
    Ok(numbers)
}

/// For files the kernel makes up in one piece, shorter than a page.
fn read_once(path: &str) -> io::Result<Vec<u8>> {
    let mut text = vec![0; 4096];
    let length = File::open(path)?.read(&mut text)?;
    text.truncate(length);
    Ok(text)
}

fn read_all(path: &str) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    File::open(path)?.read_to_end(&mut text)?;
    Ok(text)
}

/// A process may end between any two looks at it, and may be hidden because it is another user's:
/// these are answers, not errors. Being out of files is an error.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result.map_err(|error| (Errno::from_io_error(&error), error)) {
        Ok(value) => Ok(Some(value)),
        Err((Some(Errno::NOENT | Errno::SRCH | Errno::ACCESS | Errno::PERM), _)) => Ok(None),
        Err((_, error)) => Err(error),
    }
}

fn strange(path: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("{path} is not as expected"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn we_find_ourselves() {
        let me = i32::try_from(std::process::id()).unwrap();
        let stat = Stat::of(me).unwrap().unwrap();
        assert_eq!(stat.started.pid, me);
        assert_eq!(stat.life, Life::Alive);
        assert!(stat.started.at_ticks > 0);
        assert!(all().unwrap().contains(&me));
        assert!(hold(stat.started).unwrap().is_some());
    }

    #[test]
    fn a_pid_that_is_another_process_now_is_not_held() {
        let me = i32::try_from(std::process::id()).unwrap();
        let now = Stat::of(me).unwrap().unwrap().started;
        assert!(hold(Started { at_ticks: now.at_ticks - 1, ..now }).unwrap().is_none());
    }

    #[test]
    fn what_is_gone_or_hidden_is_not_there_but_other_errors_are_errors() {
        let said = |errno: Errno| if_there::<()>(Err(errno.into()));
        for errno in [Errno::NOENT, Errno::SRCH, Errno::ACCESS, Errno::PERM] {
            assert_eq!(said(errno).unwrap(), None);
        }
        assert!(said(Errno::MFILE).is_err());
    }

    #[test]
    fn nobody_is_nobody() {
        // Above the highest pid that Linux gives out.
        assert_eq!(Stat::of(1 << 30).unwrap(), None);
        assert!(hold(Started { pid: 1 << 30, at_ticks: 1 }).unwrap().is_none());
        assert!(children(1 << 30).unwrap().is_empty());
        assert_eq!(token_in_limits(1 << 30).unwrap(), None);
        assert!(tokens_in_environment(1 << 30).is_empty());
    }

    proptest! {
        #[test]
        fn a_name_of_any_shape_does_not_shift_the_fields(name in "[ -~]{0,15}") {
            let text = format!("42 ({name}) Z 7 8 9 0 -1 1 2 3 4 5 6 7 8 9 10 11 12 13 5550 14 15");
            let stat = Stat::parse(&text).unwrap();
            prop_assert_eq!(stat.started, Started { pid: 42, at_ticks: 5550 });
            prop_assert_eq!((stat.parent, stat.group, stat.session), (7, 8, 9));
            prop_assert_eq!((stat.name, stat.life), (name, Life::Zombie));
        }

        #[test]
        fn no_text_makes_it_panic(text in ".{0,80}") {
            Stat::parse(&text);
        }
    }
}
