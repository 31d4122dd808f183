//! What a killed Windlass leaves behind, and how the next one ends it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Stdio},
};

use windlass_process::{
    Ledger,
    ledger::{Ended, Evidence, Force, sweep},
};

use super::*;

/// A Windlass in a process of its own, which has started a program that printed a pid.
struct Windlass {
    process: Child,
    leader: Held,
    printed: Held,
    pid: i32,
}

impl Windlass {
    fn start(state: &Path, program: &[&str]) -> Windlass {
        Windlass::start_by(&mut std::process::Command::new(STAND_IN), state, program)
    }

    fn start_by(command: &mut std::process::Command, state: &Path, program: &[&str]) -> Windlass {
        command.arg("windlass").arg(state).args(program).stdout(Stdio::piped());
        let mut process = command.spawn().expect("the stand-in starts");
        let out = BufReader::new(process.stdout.take().expect("its output"));
        let (mut leader, mut printed) = (None, None);
        for line in out.lines().map(|line| line.expect("a line")) {
            match line.strip_prefix("leader ") {
                Some(pid) => leader = Some(Held::new(pid.parse().expect("a pid"))),
                None => {
                    let pid = line.parse().expect("a pid");
                    printed = Some((pid, Held::new(pid)));
                }
            }
            if leader.is_some() && printed.is_some() {
                break;
            }
        }
        let (pid, printed) = printed.expect("a pid from the program");
        Windlass { process, leader: leader.expect("a leader"), printed, pid }
    }

    /// What a sweep says about the process whose pid was printed.
    fn found_in(&self, ended: &[Ended]) -> (Evidence, Force) {
        let found = ended.iter().find(|ended| ended.process.pid == self.pid);
        found.map(|ended| (ended.evidence, ended.force)).expect("it was found")
    }

    fn kill(&mut self) {
        self.process.kill().expect("it can be killed");
        self.process.wait().expect("it has ended");
    }
}

#[test]
fn the_kernel_ends_the_leader_and_the_sweep_the_daemon() {
    let state = tempfile::tempdir().unwrap();
    let script = daemon("pass", "time.sleep(1000)");
    let mut windlass = Windlass::start(state.path(), &["python3", "-c", &script]);
    assert!(!windlass.leader.has_ended());
    windlass.kill();
    assert!(windlass.leader.ends_within(LONG), "the leader does not die with Windlass");
    assert!(!windlass.printed.has_ended(), "the daemon should have survived until here");
    // Same name, same time, none of ours.
    let mut innocent = std::process::Command::new("python3")
        .args(["-c", "import time; time.sleep(1000)"])
        .spawn()
        .unwrap();
    let ended = sweep(state.path(), LONG).unwrap();
    assert!(windlass.printed.has_ended());
    let (evidence, force) = windlass.found_in(&ended);
    assert_eq!((evidence, force), (Evidence::Token, Force::Asked));
    assert!(innocent.try_wait().unwrap().is_none(), "an innocent was ended");
    innocent.kill().unwrap();
    innocent.wait().unwrap();
    assert!(sweep(state.path(), LONG).unwrap().is_empty());
}

#[test]
fn what_clears_up_after_itself_may_do_so_when_windlass_is_killed() {
    let state = tempfile::tempdir().unwrap();
    let lock = state.path().join("lock");
    let script = "import os, signal, sys, time\n\
                  def clear_up(*_): os.unlink(sys.argv[1]); sys.exit(0)\n\
                  signal.signal(signal.SIGTERM, clear_up)\n\
                  open(sys.argv[1], 'w').close()\n\
                  print(os.getpid(), flush=True)\n\
                  time.sleep(1000)\n";
    for asked in [true, false] {
        let mut command = std::process::Command::new(STAND_IN);
        if asked {
            command.env("ASKED_WHEN_ORPHANED", "1");
        }
        let program = ["python3", "-c", script, lock.to_str().unwrap()];
        let mut windlass = Windlass::start_by(&mut command, state.path(), &program);
        assert!(lock.exists());
        windlass.kill();
        assert!(windlass.leader.ends_within(LONG), "it does not die with Windlass");
        assert_eq!(lock.exists(), !asked, "asked: {asked}");
    }
}

#[test]
fn a_sweep_finds_what_scrubbed_its_environment() {
    let state = tempfile::tempdir().unwrap();
    let scrub = "os.execve('/bin/sleep', ['sleep', '1000'], {})";
    let script = daemon(scrub, "time.sleep(1000)");
    let mut windlass = Windlass::start(state.path(), &["python3", "-c", &script]);
    windlass.kill();
    let ended = sweep(state.path(), LONG).unwrap();
    assert!(windlass.printed.has_ended());
    assert_eq!(windlass.found_in(&ended).0, Evidence::Token);
}

#[test]
fn a_sweep_finds_what_changed_its_limits() {
    let state = tempfile::tempdir().unwrap();
    let lift = "resource.setrlimit(10, (resource.RLIM_INFINITY,) * 2)";
    let script = daemon(lift, "time.sleep(1000)");
    let mut windlass = Windlass::start(state.path(), &["python3", "-c", &script]);
    windlass.kill();
    assert!(windlass.leader.ends_within(LONG));
    let ended = sweep(state.path(), LONG).unwrap();
    assert!(windlass.printed.has_ended());
    assert_eq!(windlass.found_in(&ended).0, Evidence::Token);
}

#[test]
fn a_sweep_kills_what_ignores_term() {
    let state = tempfile::tempdir().unwrap();
    let script = "trap '' TERM; sleep 1000 & echo $!; wait";
    let mut windlass = Windlass::start(state.path(), &["sh", "-c", script]);
    windlass.kill();
    assert!(windlass.leader.ends_within(LONG));
    let ended = sweep(state.path(), Duration::from_millis(50)).unwrap();
    assert!(windlass.printed.has_ended());
    assert_eq!(windlass.found_in(&ended).1, Force::Killed);
}

#[test]
fn after_an_orderly_end_there_is_nothing_to_sweep() {
    let state = tempfile::tempdir().unwrap();
    let spawner = Spawner::start_with(Ledger::open(state.path()).unwrap()).unwrap();
    assert!(spawner.run(sh("exit 0")).unwrap().succeeded());
    spawner.shut_down();
    let ledger = fs::read_to_string(state.path().join("processes.ledger")).unwrap();
    let words: Vec<_> = ledger.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(words, ["windlass-ledger", "open", "start", "end", "close"]);
    assert!(sweep(state.path(), LONG).unwrap().is_empty());
    assert!(sweep(&state.path().join("never"), LONG).unwrap().is_empty());
}

#[test]
fn a_ledger_that_cannot_be_written_lets_nothing_start() {
    let state = tempfile::tempdir().unwrap();
    fs::create_dir(state.path().join("processes.ledger")).unwrap();
    assert!(Ledger::open(state.path()).is_err());
    // No file may grow beyond a few hundred bytes, so one of the next starts cannot be noted.
    let state = tempfile::tempdir().unwrap();
    let dir = state.path().to_str().unwrap();
    let script = format!("trap '' XFSZ; ulimit -f 1; exec {STAND_IN} fill-ledger {dir}");
    let finished = spawner().run(sh(&script)).unwrap();
    assert_eq!(text(&finished.stdout), "Ledger\n", "{:?}", finished.stderr.text());
    assert_eq!(finished.stragglers.ended, 0);
}

#[test]
fn a_sweep_spares_the_one_who_sweeps() {
    // A Windlass that was started by an agent of a Windlass that is gone.
    let state = tempfile::tempdir().unwrap();
    let spawner = Spawner::start_with(Ledger::open(state.path()).unwrap()).unwrap();
    let finished = spawner.run(Command::new(STAND_IN, "/").arg("sweep").arg(state.path())).unwrap();
    assert_eq!(finished.ending, windlass_process::Ending::Exited(0));
    assert_eq!(text(&finished.stdout), "0\n");
}

/// A ledger made up for processes that the test has started by itself.
struct Forged {
    state: tempfile::TempDir,
    leader: Child,
    member: Held,
    member_pid: i32,
}

impl Forged {
    /// A session with a leader and one more process in it. Neither carries a token.
    fn session(leader: &str) -> Forged {
        let script = format!("sleep 1000 & echo $!; {leader}");
        let mut command = std::process::Command::new("setsid");
        command.args(["sh", "-c", &script]).stdout(Stdio::piped());
        let mut leader = command.spawn().expect("setsid starts");
        let mut line = String::new();
        let mut out = BufReader::new(leader.stdout.take().expect("its output"));
        out.read_line(&mut line).expect("a line");
        let member_pid = line.trim_end().parse().expect("a pid");
        let state = tempfile::tempdir().expect("a directory");
        Forged { state, leader, member: Held::new(member_pid), member_pid }
    }

    fn leader_starts_at(&self) -> u64 {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.leader.id())).expect("alive");
        stat.split_ascii_whitespace().nth(21).and_then(|word| word.parse().ok()).expect("a number")
    }

    fn ledger(&self, boot: &str, starts_at: u64, tail: &str) {
        let pid = self.leader.id();
        let text = format!(
            "windlass-ledger 1\nopen {boot} 0000008000000001 0\n\
             start 2000000000400000 {pid} {starts_at}\n{tail}"
        );
        fs::write(self.state.path().join("processes.ledger"), text).expect("written");
    }

    fn sweep(&self) -> Vec<Ended> {
        sweep(self.state.path(), LONG).expect("a sweep")
    }

    fn is_untouched(&mut self) {
        assert!(self.leader.try_wait().expect("ours").is_none(), "the leader was ended");
        assert!(!self.member.has_ended(), "the member was ended");
    }
}

impl Drop for Forged {
    fn drop(&mut self) {
        let _ = self.leader.kill();
        let _ = self.leader.wait();
        let member = Pid::from_raw(self.member_pid).expect("a pid");
        if !self.member.has_ended() {
            let _ = rustix::process::kill_process(member, rustix::process::Signal::KILL);
        }
    }
}

fn boot() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").expect("a boot id").trim().to_owned()
}

#[test]
fn a_leader_and_its_session_are_known_by_pid_and_start() {
    let forged = Forged::session("exec sleep 1000");
    // A torn last line is no hindrance.
    forged.ledger(&boot(), forged.leader_starts_at(), "start 20000000004");
    let ended = forged.sweep();
    let evidence = |pid: i32| ended.iter().find(|e| e.process.pid == pid).map(|e| e.evidence);
    let leader = i32::try_from(forged.leader.id()).unwrap();
    assert_eq!(evidence(leader), Some(Evidence::Leader));
    assert_eq!(evidence(forged.member_pid), Some(Evidence::Session));
    assert_eq!(ended.len(), 2);
    assert!(forged.member.has_ended());
}

#[test]
fn a_pid_that_is_another_process_now_is_spared_with_its_session() {
    let mut forged = Forged::session("exec sleep 1000");
    forged.ledger(&boot(), forged.leader_starts_at() - 1, "");
    assert!(forged.sweep().is_empty());
    forged.is_untouched();
}

#[test]
fn what_another_boot_has_noted_is_ignored() {
    let mut forged = Forged::session("exec sleep 1000");
    forged.ledger("00000000-0000-0000-0000-000000000000", forged.leader_starts_at(), "");
    assert!(forged.sweep().is_empty());
    forged.is_untouched();
}

#[test]
fn what_was_noted_as_ended_is_spared() {
    let mut forged = Forged::session("exec sleep 1000");
    forged.ledger(&boot(), forged.leader_starts_at(), "end 2000000000400000\n");
    assert!(forged.sweep().is_empty());
    forged.is_untouched();
}

#[test]
fn a_session_whose_leader_cannot_be_seen_is_no_evidence() {
    let mut forged = Forged::session("exit 0");
    // Its number may be a stranger's by now.
    forged.ledger(&boot(), 1, "");
    forged.leader.wait().unwrap();
    assert!(forged.sweep().is_empty());
    assert!(!forged.member.has_ended());
}
