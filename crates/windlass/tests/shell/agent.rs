//! An agent that is a shell script of the test's own, for what the scripted one cannot act out.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Command;

use crate::scratch::Scratch;

/// Only the worker is it; the others act out the script as usual.
pub const WORKER: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                          [roles]\nworker = 'own'\ndefault = 'acted'\n";

/// Everybody is it.
pub const EVERYBODY: &str = "[roles]\ndefault = 'own'\n";

/// Has this script work in the repository, for these roles, and commits that with whatever else was changed.
pub fn hire(scratch: &Scratch, script: &str, roles: &str, check: &str) {
    let agent = scratch.path("talk/agent");
    fs::create_dir_all(scratch.path("talk")).unwrap();
    fs::write(&agent, script).unwrap();
    fs::set_permissions(&agent, fs::Permissions::from_mode(0o755)).unwrap();
    let config = format!(
        "[sandbox]\nwrite = ['{}']\n[agents.own]\nkind = 'command'\ncommand = ['{}']\ncost = 'none'\n\
         {roles}[checks]\ntest = '{check}'\n",
        scratch.path("talk").display(),
        agent.display()
    );
    fs::write(scratch.repo().join("windlass.toml"), config).unwrap();
    scratch.git(&["commit", "-qam", "Another agent"]);
}

/// A named pipe beside it, for the two to wait for each other.
pub fn pipe(scratch: &Scratch, name: &str) -> PathBuf {
    let path = scratch.path("talk").join(name);
    fs::create_dir_all(scratch.path("talk")).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path
}
