//! What cannot be started, and how the caller is told.

use std::{ffi::OsString, fs, os::unix::fs::PermissionsExt, path::Path};

use windlass_process::{Env, RunError, SpawnError};

use super::*;

fn refused(command: Command) -> SpawnError {
    match spawner().run(command) {
        Err(RunError::Spawn(error)) => error,
        other => panic!("{other:?} is not a refusal"),
    }
}

fn file(path: &Path, text: &str, mode: u32) {
    fs::write(path, text).expect("a file");
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its mode");
}

#[test]
fn an_unknown_program_is_named_with_the_path_that_was_searched() {
    let env = Env::empty().set("PATH", "/usr/bin:/bin");
    let error = refused(Command::new("no-such-program", "/").env(env));
    assert_eq!(
        error.to_string(),
        "the program \"no-such-program\" is not in PATH (\"/usr/bin:/bin\"); install it or give \
         its full path"
    );
    assert!(matches!(error, SpawnError::NotFound { .. }));
    assert!(matches!(refused(Command::new("", "/")), SpawnError::NotFound { .. }));
}

#[test]
fn kinds_of_files_that_are_no_programs_are_told_apart() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    file(&at("plain"), "#!/bin/sh\n", 0o644);
    file(&at("bare"), "echo no first line\n", 0o755);
    file(&at("orphan"), "#!/no/such/interpreter\n", 0o755);
    let error = |name: &str| refused(Command::new(at(name), "/"));
    assert!(matches!(error("absent"), SpawnError::NoSuchProgram { .. }));
    assert!(matches!(error("plain/below"), SpawnError::NoSuchProgram { .. }));
    assert!(matches!(error("plain"), SpawnError::NotExecutable { .. }));
    assert!(matches!(error("bare"), SpawnError::NotExecutable { .. }));
    assert!(matches!(error("orphan"), SpawnError::NotExecutable { .. }));
    assert!(matches!(error(""), SpawnError::NotExecutable { .. }));
}

#[test]
fn a_relative_program_is_taken_from_the_working_directory() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("bin")).unwrap();
    std::os::unix::fs::symlink("/bin/true", dir.path().join("bin/haul")).unwrap();
    assert!(spawner().run(Command::new("bin/haul", dir.path())).unwrap().succeeded());
    assert!(matches!(refused(Command::new("bin/haul", "/")), SpawnError::NoSuchProgram { .. }));
}

#[test]
fn a_directory_that_cannot_be_entered_is_named() {
    for directory in ["/no/such/directory", "/etc/passwd"] {
        let error = refused(Command::new("true", directory));
        let SpawnError::BadDirectory { directory: named, .. } = error else { panic!("{error}") };
        assert_eq!(named, Path::new(directory));
    }
}

#[test]
fn text_that_no_program_can_get_is_refused() {
    let zero = || OsString::from("a\0b");
    let bad = [
        Command::new("true", "/").arg(zero()),
        Command::new("/bin/tr\0ue", "/"),
        Command::new("true", "/\0"),
        Command::new("true", "/").env(Env::inherited().set("A", zero())),
    ];
    for command in bad {
        assert!(matches!(refused(command), SpawnError::BadText { .. }));
    }
}

#[test]
fn arguments_that_are_too_long_are_not_cut() {
    let error = refused(Command::new("true", "/").arg("x".repeat(3_000_000)));
    let SpawnError::TooLong { bytes, .. } = error else { panic!("{error}") };
    assert!(bytes > 3_000_000);
}

#[test]
fn too_few_files_are_told_and_pass() {
    let script = format!("ulimit -n 40; exec {STAND_IN} few-files");
    let finished = spawner().run(sh(&script)).unwrap();
    // First while things are made ready, then when the new process was to be looked after.
    let said = text(&finished.stdout);
    let (refusals, ending) = said.trim_end().split_once(' ').unwrap();
    assert_eq!(ending, "Exited(0)", "{said}");
    assert!(refusals.starts_with("Exhausted"), "{said}");
}

#[test]
fn a_failed_start_leaves_no_process_behind() {
    let spawner = spawner();
    for _ in 0..50 {
        assert!(spawner.run(Command::new("/etc/passwd", "/")).is_err());
    }
    // Those that were made for nothing would be zombies by now.
    let me = std::process::id();
    let mut children = String::new();
    for task in fs::read_dir("/proc/self/task").unwrap() {
        let path = task.unwrap().path().join("children");
        // A thread of another test may be gone by now.
        children += &fs::read_to_string(path).unwrap_or_default();
    }
    for child in children.split_ascii_whitespace() {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        let ours = format!(") Z {me} ");
        let unnamed = stat.contains("(processes)") && stat.contains(&ours);
        assert!(!unnamed, "{stat}");
    }
}
