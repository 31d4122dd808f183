//! `windlass act`: what a scripted agent runs. It does what its file says for the role, unit and attempt that its
//! environment names. See `windlass_agents::scripted` for the file.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use windlass_agents::scripted::{Asked, Entry, Fault, Script};
use windlass_core::path::Below;

use crate::error::{Error, reading, writing};
use crate::exit::Exit;
use crate::render::Output;

#[derive(Debug, Args)]
pub struct ActArgs {
    /// The script
    #[arg(value_name = "FILE")]
    script: PathBuf,
}

pub fn run(args: &ActArgs, out: &mut Output) -> Result<Exit, Error> {
    let text = fs::read_to_string(&args.script).map_err(reading(args.script.clone()))?;
    let script = Script::parse(&text).map_err(|error| Error::not_taken(error.to_string()))?;
    // Whoever asks has to be heard out, as with any agent.
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    let var = |name: &str| std::env::var(name).unwrap_or_default();
    let attempt = var("WINDLASS_ATTEMPT").parse().unwrap_or(1);
    let (role, unit, task) = (var("WINDLASS_ROLE"), var("WINDLASS_UNIT"), var("WINDLASS_TASK"));
    let stage = var("WINDLASS_STAGE");
    let asked = Asked { role: &role, unit: &unit, task: &task, stage: &stage, attempt };
    let Some(entry) = script.entry(&asked) else {
        let what = format!(
            "the script has nothing for {role}, unit {unit:?}, task {task:?}, stage {stage:?}, attempt {attempt}"
        );
        return Err(Error::not_taken(what));
    };
    edit(entry)?;
    if entry.delay_ms > 0 {
        std::thread::sleep(Duration::from_millis(entry.delay_ms));
    }
    misbehave(entry.fault, out)?;
    if entry.fault != Some(Fault::Silent) {
        out.bytes(entry.output().as_bytes())?;
    }
    out.finish()?;
    Ok(match entry.exit {
        0 => Exit::Done,
        _ => Exit::Failed,
    })
}

fn edit(entry: &Entry) -> Result<(), Error> {
    for (name, text) in &entry.write {
        let path = inside(name)?;
        fs::write(&path, text).map_err(writing(path))?;
    }
    for (name, text) in &entry.append {
        let path = inside(name)?;
        let file = fs::OpenOptions::new().append(true).create(true).open(&path);
        let written = file.and_then(|mut file| file.write_all(text.as_bytes()));
        written.map_err(writing(path))?;
    }
    for name in &entry.delete {
        let path = inside(name)?;
        fs::remove_file(&path).map_err(writing(path))?;
    }
    Ok(())
}

/// A path below the lane, with its directory made.
fn inside(name: &str) -> Result<PathBuf, Error> {
    let named = name.strip_prefix('{').and_then(|name| name.strip_suffix('}'));
    let named = named.and_then(|name| std::env::var(windlass_agents::file_variable(name)).ok());
    let name = named.as_deref().unwrap_or(name);
    let path = Below::parse(name).map_err(|bad| Error::not_taken(bad.to_string()))?;
    let path = Path::new(path.as_str());
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(writing(parent.to_owned()))?;
    }
    Ok(path.to_owned())
}

fn misbehave(fault: Option<Fault>, out: &mut Output) -> Result<(), Error> {
    match fault {
        Some(Fault::IgnoreTerm) => {
            let ignored = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register(signal_hook::consts::SIGTERM, ignored)
                .map_err(Error::output)?;
            forever()
        }
        Some(Fault::Hang) => forever(),
        Some(Fault::Flood) => {
            let block = [b'x'; 64 * 1024];
            for _ in 0..16_000 {
                out.bytes(&block)?;
            }
        }
        Some(Fault::LeaveChild) => {
            // It keeps the output open and outlives us, if it can.
            let child = std::process::Command::new("/bin/sh")
                .args(["-c", "sleep 3600 & sleep 3600"])
                .spawn();
            child.map_err(Error::output)?;
        }
        Some(Fault::Crash) => {
            let _ = signal_hook::low_level::raise(signal_hook::consts::SIGABRT);
            forever()
        }
        Some(Fault::Silent | Fault::BrokenJson) | None => {}
    }
    Ok(())
}

fn forever() {
    loop {
        std::thread::park();
    }
}
