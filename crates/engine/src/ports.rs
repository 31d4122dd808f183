//! Ports that are lent to whoever works in a lane, so that two who start a server do not meet.
//!
//! A block is held by a socket that nobody talks to, bound to a port that stands for it: the machine has it once, so whoever else
//! runs Windlass here, for whatever repository and wherever their state is, takes another block. It goes with its process,
//! however that ends. What else listens on the machine is looked at before a block is lent, and may of course come later.

use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::ops::RangeInclusive;

use windlass_process::Env;

/// The first port that is lent. Below are the well-known ones, above those that the kernel gives out by itself.
const FIRST: u16 = 20_000;
/// How many ports a block has.
const BLOCK: u16 = 16;
/// How many blocks there are.
const BLOCKS: u16 = 500;
/// What stands for the first block: that many ports are never lent.
const HOLDS: u16 = FIRST - BLOCKS;

/// A block that is held.
#[derive(Debug)]
pub struct Ports {
    range: RangeInclusive<u16>,
    _hold: UdpSocket,
}

impl Ports {
    /// The first block that nobody holds and nobody listens in. None is no reason not to go on.
    pub fn lease() -> Option<Ports> {
        (0..BLOCKS).find_map(Ports::block)
    }

    fn block(number: u16) -> Option<Ports> {
        let hold = UdpSocket::bind((Ipv4Addr::LOCALHOST, HOLDS + number)).ok()?;
        let first = FIRST + number * BLOCK;
        let range = first..=first + (BLOCK - 1);
        let free = |port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok();
        range.clone().all(free).then_some(Ports { range, _hold: hold })
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
        // Nobody gets that far but who asks for just these.
        let last = BLOCKS - 1;
        let one = Ports::block(last).unwrap();
        assert!(
            Ports::block(last).is_none(),
            "whoever else asks, whatever they know of each other"
        );
        let first = one.first();
        drop(one);
        drop(Ports::block(last).expect("what was given back is lent again"));
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, first + 3)).unwrap();
        assert!(Ports::block(last).is_none());
        drop(server);
        let (one, other) = (Ports::lease().unwrap(), Ports::lease().unwrap());
        assert!(other.range.start() > one.range.end());
        assert!(other.range.end() < &(FIRST + last * BLOCK), "none of these is far away");
    }

    #[test]
    fn they_are_said_in_the_environment() {
        let ports = Ports::lease().unwrap();
        let env = ports.say(Env::empty());
        let said = |name: &str| env.get(name).unwrap().to_str().unwrap().to_owned();
        assert_eq!(said("PORT"), said("WINDLASS_PORT"));
        let last = ports.range.start() + 15;
        assert_eq!(said("WINDLASS_PORTS"), format!("{}-{last}", said("PORT")));
    }
}
