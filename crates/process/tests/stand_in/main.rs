//! A small Windlass for tests: it starts what it is told to, and can be killed while it does.

#![allow(clippy::print_stdout, reason = "this is how it reports to the test")]

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    path::Path,
    process::ExitCode,
    time::Duration,
};

use windlass_process::{
    Command, Ledger, Output, RunError, Sandbox, Spawner, ledger,
    sandbox::{System, Tools, Wanted, doorman},
};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    // As a doorman it becomes another program, or says why not.
    if let Some(ended) = doorman::called() {
        return ended;
    }
    match play() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            println!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn play() -> Outcome {
    let mut args = std::env::args_os().skip(1);
    let role = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    match (role.to_str(), rest.as_slice()) {
        (Some("windlass"), [state, program, args @ ..]) => windlass(state.as_ref(), program, args),
        (Some("run"), [program, args @ ..]) => run(program, args),
        (Some("confined"), [bwrap, script]) => confined(bwrap.as_ref(), script),
        (Some("flood"), [bytes]) => flood(bytes),
        (Some("sweep"), [state]) => sweep(state.as_ref()),
        (Some("few-files"), []) => few_files(),
        (Some("fill-ledger"), [state]) => fill_ledger(state.as_ref()),
        _ => Err("which role?".into()),
    }
}

/// Starts a program, passes its output on, and waits for it.
fn windlass(state: &Path, program: &OsString, args: &[OsString]) -> Outcome {
    let spawner = Spawner::start_with(Ledger::open(state)?)?;
    let mut command = Command::new(program, "/").args(args);
    if std::env::var_os("ASKED_WHEN_ORPHANED").is_some() {
        command = command.asked_when_orphaned();
    }
    let command = command.watch(|_, chunk| {
        let _ = io::stdout().write_all(chunk);
        let _ = io::stdout().flush();
    });
    let child = spawner.spawn(command)?;
    println!("leader {}", child.pid());
    let finished = child.wait()?;
    println!("{:?} {:?}", finished.ending, finished.stragglers);
    Ok(())
}

fn run(program: &OsString, args: &[OsString]) -> Outcome {
    let finished = Spawner::start()?.run(Command::new(program, "/").args(args))?;
    io::stdout().write_all(&finished.stdout.whole()?)?;
    Ok(())
}

/// Runs a script in the best sandbox that starts, and says which that is.
fn confined(bwrap: &Path, script: &OsString) -> Outcome {
    let spawner = Spawner::start()?;
    let tools = Tools { bwrap: Some(bwrap.to_owned()), ..Tools::here()? };
    let sandbox = Sandbox::find(Wanted::Best, &tools, &spawner)?;
    println!("{sandbox}");
    let mut view = sandbox.view(&System::here());
    view.directory = "/".into();
    let command = Command::new("/bin/sh", "/").arg("-c").arg(script).inside(&sandbox, view);
    let finished = spawner.run(command)?;
    println!("{:?} {:?}", finished.ending, finished.why);
    io::stdout().write_all(&finished.stdout.whole()?)?;
    Ok(())
}

/// Says how much memory it took at most, before and after a flood, and the flood's digest.
fn flood(bytes: &OsString) -> Outcome {
    let spawner = Spawner::start()?;
    let head = |bytes: &OsString| {
        let command = Command::new("head", "/").arg("-c").arg(bytes).arg("/dev/zero");
        spawner.run(command.stdout(Output::keep(64 << 20, 1 << 20)))
    };
    let warm_up = head(&"10000000".into())?;
    drop(warm_up);
    let before = memory_kb()?;
    let finished = head(bytes)?;
    let kept = finished.stdout.tail()?.len();
    let after = memory_kb()?;
    let (total, digest) = (finished.stdout.total_bytes(), finished.stdout.digest());
    println!("{before} {after} {kept} {total} {digest}");
    Ok(())
}

/// The most that this process ever had in memory.
fn memory_kb() -> Result<u64, Box<dyn std::error::Error>> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_ascii_whitespace().next());
    Ok(number.ok_or("no VmHWM")?.parse()?)
}

fn sweep(state: &Path) -> Outcome {
    println!("{}", ledger::sweep(state, Duration::from_secs(5))?.len());
    Ok(())
}

/// Uses up all files, tries to start something, gives some back and tries again.
fn few_files() -> Outcome {
    let spawner = Spawner::start()?;
    let mut files = Vec::new();
    while let Ok(file) = File::open("/dev/null") {
        files.push(file);
    }
    let run = || spawner.run(Command::new("/bin/true", "/"));
    let mut refused = Vec::new();
    // Each time one file more is free, until it works: every step on the way may meet the limit.
    let finished = loop {
        match run() {
            Ok(finished) if finished.stragglers.unknown.is_none() => break finished,
            Ok(_) => refused.push("unknown".to_owned()),
            Err(RunError::Spawn(error)) => {
                refused.push(kind(&error));
            }
            Err(error) => return Err(error.into()),
        }
        files.pop().ok_or("it never worked")?;
    };
    refused.dedup();
    println!("{} {:?}", refused.join(","), finished.ending);
    Ok(())
}

/// Starts programs until the ledger takes no more.
fn fill_ledger(state: &Path) -> Outcome {
    let spawner = Spawner::start_with(Ledger::open(state)?)?;
    for _ in 0..1_000 {
        match spawner.run(Command::new("/bin/true", "/")) {
            Ok(_) => {}
            Err(RunError::Spawn(error)) => {
                println!("{}", kind(&error));
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err("the ledger takes everything".into())
}

/// The name of an error's variant.
fn kind(error: &windlass_process::SpawnError) -> String {
    format!("{error:?}").chars().take_while(|c| c.is_alphanumeric()).collect()
}
