//! Repositories of our own, that nobody minds.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use windlass_process::{Command, Ending, Env, Spawner, which};

use crate::error::Error;

/// A directory among the temporary ones, that is gone when nobody needs it any more.
pub struct Scratch(PathBuf);

impl Scratch {
    pub fn new(what: &str) -> io::Result<Self> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("windlass-{what}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)?;
        Ok(Scratch(path.canonicalize()?))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left there is in nobody's way.
        let _ = windlass_engine::isolation::remove(&self.0);
    }
}

/// Removes what those have left behind who were killed.
pub fn sweep() {
    let own = rustix::process::geteuid().as_raw();
    for entry in fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("windlass-")) else {
            continue;
        };
        let rest = rest.strip_prefix("probe-").or_else(|| rest.strip_prefix("version-"));
        let pid = rest.and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        let is_ours =
            || fs::symlink_metadata(entry.path()).is_ok_and(|it| it.is_dir() && it.uid() == own);
        if pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) && is_ours() {
            let _ = windlass_engine::isolation::remove(&entry.path());
        }
    }
}

/// Makes a repository of a directory, with one commit of all that is there, whatever the person's own settings are.
pub fn commit(dir: &Path, who: &str, message: &str) -> Result<(), Error> {
    let env = Env::inherited();
    let program = which("git", &env).ok_or(windlass_repo::GitError::Missing)?;
    let spawner = Spawner::start()?;
    let plain = ["-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"];
    let steps: [&[&str]; 5] = [
        &["init", "-q", "-b", "main"],
        &["config", "user.name", who],
        &["config", "user.email", "demo@example.org"],
        &["add", "-A"],
        &["commit", "-q", "-m", message],
    ];
    for step in steps {
        let words = plain.iter().chain(step).copied();
        let command = Command::new(program.clone(), dir).args(words).env(env.clone());
        let finished = spawner.run(command).map_err(|error| Error::not_taken(error.to_string()))?;
        if finished.ending != Ending::Exited(0) {
            let said = finished.stderr.text().unwrap_or_default();
            let said = String::from_utf8_lossy(&said).trim().to_owned();
            return Err(Error::not_taken(format!("git {} failed: {said}", step[0])));
        }
    }
    Ok(())
}
