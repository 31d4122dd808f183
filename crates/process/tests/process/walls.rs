//! What bubblewrap and the doorman hold back by themselves, where the kernel has no Landlock to help them.

use std::{ffi::OsString, path::Path, process};

use windlass_process::{
    Sandbox,
    sandbox::{Level, Wanted},
};

use super::{
    sandbox::{Machine, tools},
    *,
};

const KEYS: &str = include_str!("../keys.py");

/// A line of shell in a lane, with bubblewrap but without Landlock, or with nothing in its way at all.
struct Inside {
    machine: Machine,
    words: Vec<OsString>,
    directory: std::path::PathBuf,
}

impl Inside {
    fn at(level: Level, script: &str) -> Inside {
        let machine = Machine::new();
        std::fs::write(machine.path("lane/keys.py"), KEYS).expect("a file");
        let sandbox = Sandbox::find(Wanted::Level(level), &tools(), &spawner()).expect("it starts");
        let args = ["sh", "-c", script].map(OsString::from);
        let (words, directory) = sandbox.line(&machine.view(&sandbox), Path::new("/bin/sh"), &args);
        Inside { machine, words: without_rules(words), directory }
    }

    /// What it says, started by somebody whose session has a key.
    fn says(&self) -> String {
        let output = process::Command::new("python3")
            .arg(self.machine.path("lane/keys.py"))
            .arg("hold")
            .args(&self.words)
            .current_dir(&self.directory)
            .output()
            .expect("it starts");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }
}

/// The same orders for the doorman but for those about Landlock.
fn without_rules(words: Vec<OsString>) -> Vec<OsString> {
    let called = words.iter().position(|word| word == "--windlass-doorman").expect("a doorman");
    let orders = words[called..].iter().position(|word| word == "--").expect("an end") + called;
    let is_rule = |word: &OsString| {
        let word = word.to_string_lossy();
        word == "rules" || word.starts_with("read=") || word.starts_with("write=")
    };
    let kept = words.into_iter().enumerate();
    let kept = kept.filter(|(at, word)| !((called..orders).contains(at) && is_rule(word)));
    kept.map(|(_, word)| word).collect()
}

/// An attack that is seen to work where nothing is in its way, and does not work behind bubblewrap.
#[track_caller]
#[expect(clippy::print_stdout, reason = "what was not shown is told to whoever runs the tests")]
fn is_stopped(attack: &str, gained: &str) {
    let said = Inside::at(Level::None, attack).says();
    if !said.contains(gained) {
        println!("this machine does not let anybody do that, so nothing was shown: {said:?}");
        return;
    }
    let said = Inside::at(Level::Bubblewrap, &format!("{attack}\necho tried")).says();
    assert!(said.ends_with("tried") && !said.contains(gained), "{said}");
}

#[test]
fn keys_of_the_persons_session_are_not_had() {
    is_stopped("python3 keys.py take", "SECRET");
}

#[test]
fn the_machines_screws_are_not_turned() {
    let screw = "/proc/sys/kernel/core_uses_pid";
    // To what it is.
    is_stopped(&format!("now=$(cat {screw}) && echo $now > {screw} && echo turned"), "turned");
}

/// Runs a program at a terminal of its own, and prints what is seen there.
const TERMINAL: &str = "import pty, sys; pty.spawn(sys.argv[1:])";

/// Types a letter into the terminal that it is at, by each way that leads to it.
const TYPES: &str = "
import fcntl, termios
def types(name, fd):
    try:
        fcntl.ioctl(fd, termios.TIOCSTI, b'x')
        print(name, 'typed')
    except OSError as error:
        print(name, error)
types('input', 0)
try:
    types('terminal', open('/dev/tty'))
    print('reached')
except OSError as error:
    print('not reached', error)
";

#[test]
fn nobody_types_into_the_persons_terminal() {
    let seen = |level| {
        let inside = Inside::at(level, "python3 attack.py");
        std::fs::write(inside.machine.path("lane/attack.py"), TYPES).expect("a file");
        let mut command = process::Command::new("python3");
        let command = command.args(["-c", TERMINAL]).args(&inside.words);
        let output = command.current_dir(&inside.directory).output().expect("it starts");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let open = seen(Level::None);
    assert!(open.contains("\nreached"), "{open}");
    let allowed = std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti");
    match allowed.as_deref().map(str::trim) {
        Ok("0") if !open.contains("typed") => {
            println!("this kernel lets nobody type into a terminal; that there is none was tried");
        }
        _ => assert!(open.contains("input typed") && open.contains("terminal typed"), "{open}"),
    }
    let inside = seen(Level::Bubblewrap);
    assert!(!inside.contains("typed"), "{inside}");
    assert!(inside.contains("not reached [Errno 6]"), "there is no terminal at all: {inside}");
}
