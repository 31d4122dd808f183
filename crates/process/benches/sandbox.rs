//! What it costs to start a program in a sandbox, beside bubblewrap alone with the same mounts. The two take turns, so that
//! whatever else the machine does falls on both; the ratio is what counts. And what a sandbox takes of the memory while its
//! program sleeps.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may panic")]

mod shared;

use std::{
    ffi::OsString,
    fs,
    path::Path,
    process::{ExitCode, Stdio},
    time::{Duration, Instant},
};

use windlass_process::{
    Bounds, Command, Ledger, Limits, Sandbox, Spawner, View,
    sandbox::{Access, Holds, Level, System, Tools, Wanted, doorman},
};

use shared::{percentile, timed};

const ROUNDS: usize = 300;

/// What an agent sees: the machine, a lane, a home, room for scratch files, and a score of masks.
fn view(sandbox: &Sandbox, dir: &Path) -> View {
    let mut view = sandbox.view(&System::here());
    for (name, at) in [("lane", "/lane"), ("home", "/home/windlass"), ("tmp", "/tmp")] {
        fs::create_dir_all(dir.join(name)).unwrap();
        let real = dir.join(name);
        view.show_at(sandbox.seen_at(at, &real), real, Access::Write);
    }
    if sandbox.level() == Level::Bubblewrap {
        for number in 0..20 {
            view.lay(format!("/lane/.mask-{number}"), Holds::Nothing);
        }
    }
    view.directory = sandbox.seen_at("/lane", &dir.join("lane"));
    view
}

/// The same words without the doorman: bubblewrap and the program.
fn plain(words: &[OsString]) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap();
    words[..=end].iter().cloned().chain(["/bin/true".into()]).collect()
}

/// What everything below a process takes of the memory, in kB: its share of each page.
fn share(pid: i32) -> (u64, usize) {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let (mut sum, mut count, mut pids) = (0, 0, vec![pid]);
    while let Some(pid) = pids.pop() {
        let name = read(format!("/proc/{pid}/comm"));
        if name.trim() == "bwrap" {
            let rollup = read(format!("/proc/{pid}/smaps_rollup"));
            let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
            let kb =
                line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
            sum += kb.unwrap_or(0);
            count += 1;
        }
        let children = read(format!("/proc/{pid}/task/{pid}/children"));
        pids.extend(children.split_ascii_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    (sum, count)
}

fn main() -> ExitCode {
    if let Some(ended) = doorman::called() {
        return ended;
    }
    let state = tempfile::tempdir().unwrap();
    let spawner = Spawner::start_with(Ledger::open(state.path()).unwrap()).unwrap();
    let tools = Tools::here().unwrap();
    let bounds = Bounds { processes: Some(4096), memory: Some(4 << 30), ..Bounds::default() };
    let limits = Limits { bounds, ..Limits::default() };
    for level in [Level::Bubblewrap, Level::Landlock, Level::None] {
        let sandbox = Sandbox::find(Wanted::Level(level), &tools, &spawner).unwrap();
        let view = view(&sandbox, state.path());
        let words = sandbox.line(&view, Path::new("/bin/true"), &["true".into()]).0;
        let floor_words = match level {
            Level::Bubblewrap => plain(&words),
            Level::Landlock | Level::None => vec!["/bin/true".into()],
        };
        let floor = || {
            let mut command = std::process::Command::new(&floor_words[0]);
            command.args(&floor_words[1..]).stdin(Stdio::null());
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let run = |limits: &Limits| {
            let command = Command::new("/bin/true", "/").limits(limits.clone());
            let finished = spawner.run(command.inside(&sandbox, view.clone())).unwrap();
            assert!(finished.succeeded(), "{:?}", finished.why);
        };
        let (mut floors, mut runs, mut bounded) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            floors.push(timed(floor));
            runs.push(timed(|| run(&Limits::default())));
            bounded.push(timed(|| run(&limits)));
        }
        println!("{sandbox}, {} places, {ROUNDS} rounds", view.places.len());
        for percent in [10, 50, 90] {
            let floor = percentile(&mut floors, percent);
            let (run, bounded) =
                (percentile(&mut runs, percent), percentile(&mut bounded, percent));
            println!(
                "  p{percent}: floor {floor:?}, sandboxed {run:?} ({:.2}×), with limits {bounded:?} ({:.2}×)",
                run.as_secs_f64() / floor.as_secs_f64(),
                bounded.as_secs_f64() / floor.as_secs_f64(),
            );
        }
        if level == Level::Bubblewrap {
            let sleeps = Command::new("/bin/sleep", "/").arg("1000").inside(&sandbox, view.clone());
            let child = spawner.spawn(sleeps).unwrap();
            let deadline = Instant::now() + Duration::from_secs(10);
            // The monitor, and the first process inside.
            while share(child.pid()).1 < 2 && Instant::now() < deadline {
                std::thread::yield_now();
            }
            println!("  while its program sleeps: {} kB", share(child.pid()).0);
            child.stop();
            let _ = child.wait();
        }
    }
    spawner.shut_down();
    ExitCode::SUCCESS
}
