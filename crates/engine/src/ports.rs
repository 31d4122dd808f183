//! Ports that are lent to whoever works in a lane, so that two who start a server do not meet.
//!
//! A block is held by a lock on a file of its own, beside the state of all repositories: another Windlass, for another
//! repository, takes another block. A lock goes with its process, however that ends. What else listens on the machine is
//! looked at before a block is lent, and may of course come later.

use std::fs::{self, File, OpenOptions};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::RangeInclusive;
use std::path::Path;

use windlass_process::Env;

/// The first port that is lent. Below are the well-known ones, above those that the kernel gives out by itself.
const FIRST: u16 = 20_000;
/// How many ports a block has.
const BLOCK: u16 = 16;
/// How many blocks there are.
const BLOCKS: u16 = 500;

/// A block that is held.
#[derive(Debug)]
pub struct Ports {
    range: RangeInclusive<u16>,
    _lock: File,
}

impl Ports {
    /// The first block that nobody holds and nobody listens in. None is no reason not to go on.
    pub fn lease(dir: &Path) -> Option<Ports> {
        fs::create_dir_all(dir).ok()?;
        (0..BLOCKS).find_map(|number| {
            let file = dir.join(number.to_string());
            let lock = OpenOptions::new().create(true).append(true).open(file).ok()?;
            lock.try_lock().ok()?;
            let first = FIRST + number * BLOCK;
            let range = first..=first + (BLOCK - 1);
            let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
            range.clone().all(free).then_some(Ports { range, _lock: lock })
        })
    }

    /// The first of them.
    pub fn first(&self) -> u16 {
        *self.range.start()
    }

    /// Says which they are: `PORT` is what many servers look at, the others are ours.
    pub fn say(&self, env: Env) -> Env {
        let (first, last) = (self.range.start(), self.range.end());
        env.set("PORT", first.to_string())
            .set("WINDLASS_PORT", first.to_string())
            .set("WINDLASS_PORTS", format!("{first}-{last}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_gets_what_another_holds_or_listens_on() {
        let dir = tempfile::tempdir().unwrap();
        let one = Ports::lease(dir.path()).unwrap();
        let other = Ports::lease(dir.path()).unwrap();
        assert!(other.range.start() > one.range.end());
        let first = *one.range.start();
        drop(one);
        let again = Ports::lease(dir.path()).unwrap();
        assert_eq!(*again.range.start(), first, "what was given back is lent again");
        drop(again);
        let _server = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 3)).unwrap();
        let elsewhere = Ports::lease(dir.path()).unwrap();
        assert_ne!(*elsewhere.range.start(), first);
    }

    #[test]
    fn they_are_said_in_the_environment() {
        let dir = tempfile::tempdir().unwrap();
        let ports = Ports::lease(dir.path()).unwrap();
        let env = ports.say(Env::empty());
        let said = |name: &str| env.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(said("PORT"), said("WINDLASS_PORT"));
        let last = ports.range.start() + 15;
        assert_eq!(said("WINDLASS_PORTS"), format!("{}-{last}", said("PORT")));
    }
}
