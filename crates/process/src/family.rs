//! Who came from whom: finding what a child has left behind.
//!
//! Windlass is a child subreaper: a process whose parent has died becomes a child of Windlass's
//! first thread. So once a child's first process has ended, whatever it has left behind is found
//! below ourselves, in a short list that the kernel keeps, without looking at every process of the
//! machine. In that list are also the orphans of other children, and processes that other code in
//! this program has started; what belongs to a child is told by its session, its group or its
//! token, or because it was seen below it before, and nothing else is touched.

use std::{collections::BTreeSet, io};

use rustix::{
    io::Errno,
    process::{Pid, WaitId, WaitIdOptions, waitid},
};

use crate::{
    proc::{self, Life, Started, Stat},
    token::Token,
};

/// What is known of a child. Its first process has not been collected yet, so its pid, which is
/// the number of its session and group as well, is still its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Family {
    pub(crate) leader: Started,
    pub(crate) token: Token,
}

/// One of a child's processes, other than the first.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) started: Started,
    pub(crate) group: i32,
}

impl Family {
    /// All of a child's processes that are alive, but for the first. Those that have ended and are
    /// ours to collect are collected on the way.
    ///
    /// `known` are those that were found before. A process that is just ending has lost its
    /// environment already and may have nothing else to be told by.
    pub(crate) fn members(
        &self,
        leader: Life,
        known: &BTreeSet<Started>,
    ) -> io::Result<Vec<Member>> {
        let mut found = Found::default();
        if leader == Life::Alive {
            found.add_below(self.leader.pid)?;
        }
        for pid in our_orphans()? {
            let Some(stat) = Stat::of(pid)? else { continue };
            if !known.contains(&stat.started) && !self.includes(&stat)? {
                continue;
            }
            match stat.life {
                Life::Zombie => collect(pid),
                Life::Alive => {
                    found.add(&stat);
                    found.add_below(pid)?;
                }
            }
        }
        Ok(found.members)
    }

    fn includes(&self, stat: &Stat) -> io::Result<bool> {
        let leader = self.leader;
        let pid = stat.started.pid;
        // It cannot have come from a process that started later.
        if stat.started.at_ticks < leader.at_ticks || pid == leader.pid {
            return Ok(false);
        }
        if stat.session == leader.pid || stat.group == leader.pid {
            return Ok(true);
        }
        match proc::token_in_limits(pid)? {
            Some(token) if token == self.token => Ok(true),
            _ => Ok(proc::tokens_in_environment(pid).contains(&self.token)),
        }
    }
}

#[derive(Default)]
struct Found {
    seen: BTreeSet<i32>,
    members: Vec<Member>,
}

impl Found {
    /// Whether it is new.
    fn add(&mut self, stat: &Stat) -> bool {
        let new = stat.life == Life::Alive && self.seen.insert(stat.started.pid);
        if new {
            self.members.push(Member { started: stat.started, group: stat.group });
        }
        new
    }

    /// Everything below a process. The list may miss some while children come and go. They are
    /// found in the next round, as orphans of ours, once their parent has been ended.
    fn add_below(&mut self, pid: i32) -> io::Result<()> {
        let mut parents = vec![pid];
        while let Some(parent) = parents.pop() {
            for child in proc::children(parent)? {
                if let Some(stat) = Stat::of(child)?
                    && self.add(&stat)
                {
                    parents.push(child);
                }
            }
        }
        Ok(())
    }
}

/// Collects what was left to us by any child and has ended. Somebody has to: a zombie takes up a
/// pid until then. What carries a token came from a child of ours, or from one of a Windlass below
/// us, unless it is `own`, the one we carry ourselves: that is on everything that other code in
/// this program has started, and is not ours to collect.
pub(crate) fn collect_orphans(own: Option<Token>) -> io::Result<()> {
    for pid in our_orphans()? {
        let Some(stat) = Stat::of(pid)? else { continue };
        if stat.life == Life::Zombie
            && let Some(token) = proc::token_in_limits(pid)?
            && Some(token) != own
        {
            collect(pid);
        }
    }
    Ok(())
}

/// The token of the child that we are ourselves, if we are one.
pub(crate) fn own_token() -> io::Result<Option<Token>> {
    proc::token_in_limits(rustix::process::getpid().as_raw_nonzero().get())
}

/// The children of our first thread. It has those that were given to us, besides its own.
pub(crate) fn our_orphans() -> io::Result<Vec<i32>> {
    let me = rustix::process::getpid().as_raw_nonzero().get();
    proc::children_of_thread(me, me)
}

/// Collects one process that has ended, if it is a child of ours. It is named by its pid, which
/// stays its own until then.
fn collect(pid: i32) {
    let Some(pid) = Pid::from_raw(pid) else { return };
    collect_one(WaitId::Pid(pid));
}

pub(crate) fn collect_one(which: WaitId<'_>) {
    let nohang = WaitIdOptions::EXITED | WaitIdOptions::NOHANG;
    // Somebody else's child, or not ended: then it is not ours to collect, now or ever.
    while let Err(Errno::INTR) = waitid(which.clone(), nohang) {}
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::token::Brand;

    /// A process that this test has started, among the children of the first thread: the thread
    /// that started it has ended.
    fn stranger() -> (Child, Started) {
        let start = || Command::new("sleep").arg("1000").spawn().unwrap();
        let child = std::thread::spawn(start).join().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        assert!(our_orphans().unwrap().contains(&pid));
        let started = Stat::of(pid).unwrap().unwrap().started;
        (child, started)
    }

    #[test]
    fn only_what_was_found_before_needs_no_other_sign() {
        let (mut child, started) = stranger();
        let leader = Started { pid: 1 << 30, at_ticks: 0 };
        let family = Family { leader, token: Brand::draw().unwrap().token(0) };
        let members = |known: &[Started]| {
            let members = family.members(Life::Zombie, &known.iter().copied().collect()).unwrap();
            members.iter().map(|member| member.started).collect::<Vec<_>>()
        };
        assert_eq!(members(&[]), []);
        assert_eq!(members(&[started]), [started]);
        // The same pid at another time is another process.
        assert_eq!(members(&[Started { at_ticks: started.at_ticks + 1, ..started }]), []);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
