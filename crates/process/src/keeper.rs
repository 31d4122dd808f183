//! Somebody who outlives a Windlass that is killed, and ends what it leaves behind at once.
//!
//! The kernel ends the first process of each child when Windlass dies. What is behind it mostly goes with it, but not
//! everywhere: without namespaces children of children stay, bubblewrap itself has a moment in which it is tied to nobody
//! yet, and control groups are never removed by themselves. The next Windlass would [sweep](crate::ledger::sweep) all of it
//! up, but it may come late.
//!
//! The keeper is Windlass once more, started with a line to the first one and nothing else. When the line breaks, it
//! sweeps up after that one, and after that one only, and ends. After an orderly end there is nothing to sweep.

use std::{
    ffi::OsStr,
    io::{self, Read, Write},
    os::unix::{ffi::OsStrExt, process::CommandExt},
    path::Path,
    process::{Child, Command, ExitCode, Stdio},
    time::Duration,
};

use crate::{ledger, token::Brand};

/// The first word, which no verb of anybody is.
const CALLED: &str = "--windlass-keeper";
/// How long what is left has to clear up after itself: git, for one, takes its locks away.
const GRACE: Duration = Duration::from_secs(1);

/// A keeper that watches over this process.
#[derive(Debug)]
pub(crate) struct Keeper {
    child: Child,
}

impl Keeper {
    /// Starts one. It knows what was started from the ledger in this directory.
    pub(crate) fn start(program: &Path, directory: &Path, brand: Brand) -> io::Result<Keeper> {
        let mut child = Command::new(program)
            .arg(CALLED)
            .env_clear()
            .current_dir("/")
            // What is meant for the terminal we are at is not meant for it.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut told = brand.to_string().into_bytes();
        told.push(b' ');
        told.extend(directory.as_os_str().as_bytes());
        told.push(0);
        let line = child.stdin.as_mut().ok_or(io::ErrorKind::BrokenPipe)?;
        line.write_all(&told)?;
        Ok(Keeper { child })
    }

    /// Lets it go, now that nothing is left to be swept.
    pub(crate) fn dismiss(mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// To be called first thing by a program that is its own keeper: if it was started as one, it keeps watch and does not
/// return before that is over.
pub fn called() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != CALLED {
        return None;
    }
    // A terminal that goes away takes its own with it, and we are not one of them.
    let _ = rustix::process::setsid();
    let mut told = Vec::new();
    // Until whoever told us is gone.
    let heard = io::stdin().lock().read_to_end(&mut told);
    let told = told.strip_suffix(&[0]).unwrap_or_default();
    let split = told.iter().position(|byte| *byte == b' ');
    let well = heard.is_ok()
        && split.is_some_and(|at| {
            let brand = str::from_utf8(&told[..at]).ok().and_then(Brand::parse);
            let directory = Path::new(OsStr::from_bytes(&told[at + 1..]));
            brand.is_some_and(|brand| ledger::sweep_after(directory, brand, GRACE).is_ok())
        });
    Some(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
