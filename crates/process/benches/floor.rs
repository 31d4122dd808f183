//! What it costs to start a program and wait for its end, beside the bare floor: the standard
//! library starting the same program, reading both streams and waiting. The two take turns, so
//! that whatever else the machine does falls on both; the ratio is what counts.
//!
//! `cargo bench -p windlass-process -- 12` holds 12 MB of memory meanwhile, as a running Windlass
//! would: that is what makes a fork dear.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may panic")]

mod shared;

use std::{hint::black_box, io::Read, process::Stdio};

use windlass_process::{Command, Ledger, Spawner};

use shared::{percentile, timed};

const ROUNDS: usize = 1_000;

fn floor() {
    let mut command = std::process::Command::new("/bin/true");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut text = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut text).unwrap();
    child.stderr.take().unwrap().read_to_end(&mut text).unwrap();
    assert!(child.wait().unwrap().success());
}

fn main() {
    let megabytes = std::env::args().find_map(|arg| arg.parse::<usize>().ok()).unwrap_or(0);
    let ballast = black_box(vec![1_u8; megabytes << 20]);
    let state = tempfile::tempdir().unwrap();
    let spawner = Spawner::start_with(Ledger::open(state.path()).unwrap()).unwrap();
    let run = || assert!(spawner.run(Command::new("/bin/true", "/")).unwrap().succeeded());
    let wait = || {
        let child = spawner.spawn(Command::new("/bin/true", "/")).unwrap();
        assert!(child.wait().unwrap().succeeded());
    };
    let (mut floors, mut runs, mut waits) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        floors.push(timed(floor));
        runs.push(timed(run));
        waits.push(timed(wait));
    }
    spawner.shut_down();
    black_box(ballast);
    println!("{megabytes} MB of ballast, {ROUNDS} rounds");
    for percent in [10, 50, 90] {
        let floor = percentile(&mut floors, percent);
        let run = percentile(&mut runs, percent);
        let wait = percentile(&mut waits, percent);
        println!(
            "p{percent}: floor {floor:?}, run {run:?} ({:.2}×), spawn and wait {wait:?} ({:.2}×)",
            run.as_secs_f64() / floor.as_secs_f64(),
            wait.as_secs_f64() / floor.as_secs_f64(),
        );
    }
}
