//! The same for somebody who is not root: as this user, or as nobody if this is root.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::agents::with_agents;
use crate::bubblewrap::with_bubblewrap;
use crate::ends::works;
use crate::rig::{Rig, Who};

const NOBODY: u32 = 65534;

/// Whether everybody gets to a place.
fn is_open(path: &Path) -> bool {
    let path = path.canonicalize().expect("it is there");
    path.ancestors()
        .all(|dir| fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o001 != 0))
}

/// Copies of our programs where everybody gets to them: the build directory may be out of reach.
fn copies(to: &Path) {
    let path = with_agents(&with_bubblewrap());
    let which = |name: &str| {
        let mut dirs = std::env::split_paths(&path);
        dirs.find(|dir| dir.join(name).is_file()).expect("it is installed")
    };
    fs::create_dir_all(to).expect("a directory");
    fs::copy(env!("CARGO_BIN_EXE_windlass"), to.join("windlass")).expect("a copy");
    fs::copy(which("bwrap").join("bwrap"), to.join("bwrap")).expect("a copy");
    let modules = which("claude").join("..").canonicalize().expect("where npm put them");
    let home = to.join("node_modules");
    if is_open(&modules) {
        std::os::unix::fs::symlink(modules, home).expect("a link");
    } else {
        let copied = Command::new("cp").arg("-r").args([&modules, &home]).status();
        assert!(copied.expect("cp").success());
    }
}

/// Windlass, as nobody starts it.
fn windlass(rig: &Rig, args: &[&str]) -> Command {
    let bin = rig.scratch.path("bin");
    let system = ["/usr/local/bin", "/usr/bin", "/bin"].map(Path::new);
    let path = [&bin.join("node_modules/.bin"), &bin, system[0], system[1], system[2]];
    let mut command = Command::new(bin.join("windlass"));
    command
        .args(args)
        .current_dir(rig.scratch.repo())
        .env_clear()
        .env("PATH", std::env::join_paths(path).expect("plain names"))
        .env("HOME", rig.scratch.path("home"))
        .env("TMPDIR", rig.scratch.path(""))
        .env("WINDLASS_STATE_DIR", rig.scratch.path("state"));
    rig.who.keys(&mut command);
    if nix::unistd::getuid().is_root() {
        command.gid(NOBODY).uid(NOBODY);
    }
    command
}

#[track_caller]
fn lands_for_nobody(who: Who) {
    let rig = Rig::new(who, works, "", &[]);
    let top = rig.scratch.path("");
    assert!(is_open(top.parent().unwrap()), "everybody must get to {}", top.display());
    copies(&rig.scratch.path("bin"));
    fs::create_dir(rig.scratch.path("home")).unwrap();
    if nix::unistd::getuid().is_root() {
        let owner = format!("{NOBODY}:{NOBODY}");
        let owned = Command::new("chown").args(["-hR", &owner]).arg(&top).status().unwrap();
        assert!(owned.success());
    }
    let run = windlass(&rig, &["run", "flow.toml", "--catalogue", "catalogue.toml"]).output();
    let log = windlass(&rig, &["log", "--full"]).output().unwrap().stdout;
    let log = String::from_utf8_lossy(&log);
    assert_eq!(run.unwrap().status.code(), Some(0), "{who:?}: {log}");
    let main = ["-c", "safe.directory=*", "show", "main:hello.txt"];
    assert_eq!(rig.scratch.git(&main), "hello");
}

#[test]
fn claude_works_for_somebody_who_is_not_root() {
    lands_for_nobody(Who::Claude);
}

#[test]
fn codex_works_for_somebody_who_is_not_root() {
    lands_for_nobody(Who::Codex);
}

#[test]
fn gemini_works_for_somebody_who_is_not_root() {
    lands_for_nobody(Who::Gemini);
}

mod slow {
    use super::*;

    #[test]
    fn opencode_works_for_somebody_who_is_not_root() {
        lands_for_nobody(Who::Opencode);
    }
}
