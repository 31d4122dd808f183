//! Processes that tests start, talk to and kill: this same program, in a role.
//!
//! An actor says lines that begin with `@` on its standard output and hears lines on its standard
//! input. When its input ends it ends, so none outlives the test that started it.

use std::{
    env,
    io::{self, BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
};

use crate::{crashes, locks, sockets, storage};

const ROLE: &str = "WINDLASS_ACTOR";
const DIR: &str = "WINDLASS_ACTOR_DIR";
const WORD: &str = "WINDLASS_ACTOR_WORD";

#[test]
#[ignore = "what other tests start as a process of its own"]
fn act() {
    let Ok(role) = env::var(ROLE) else { return };
    let dir = PathBuf::from(env::var_os(DIR).unwrap());
    let word = env::var(WORD).unwrap();
    match role.as_str() {
        "write" => crashes::write(&dir, &word),
        "contend" => locks::contend(&dir),
        "hold" => locks::hold(&dir),
        "ask" => sockets::ask_at_length(&dir),
        "serve without files" => sockets::serve_without_files(&dir),
        "fill the disk" => storage::fill_the_disk(&dir),
        "read-only disk" => storage::read_only_disk(&dir),
        "failing sync" => storage::failing_sync(&dir, Path::new(&word)),
        other => panic!("no such role: {other}"),
    }
}

/// Says a line to the test.
pub fn say(line: &str) {
    let mut out = io::stdout().lock();
    // The test harness may have begun a line of its own.
    out.write_all(format!("\n@{line}\n").as_bytes()).expect("the test listens");
    out.flush().expect("the test listens");
}

/// Waits for a line from the test; none when it has nothing more to say.
pub fn hear() -> Option<String> {
    io::stdin().lock().lines().next().map(|line| line.expect("text"))
}

/// What starts an actor, for those that are started by another program.
pub fn command(role: &str, dir: &Path, word: &str) -> Command {
    with_role(Command::new(env::current_exe().expect("a path")), role, dir, word)
}

fn with_role(mut command: Command, role: &str, dir: &Path, word: &str) -> Command {
    command.args(["--exact", "actor::act", "--ignored", "--nocapture", "--quiet"]);
    command.env(ROLE, role).env(DIR, dir).env(WORD, word);
    command
}

/// A process that plays a role.
pub struct Actor {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Actor {
    pub fn start(role: &str, dir: &Path, word: &str) -> Actor {
        Actor::start_by(command(role, dir, word))
    }

    pub fn start_by(mut command: Command) -> Actor {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("a process can be started");
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let input = child.stdin.take();
        Actor { child, input, output }
    }

    /// In a mount namespace of its own with a small disk at `dir`, where it may mount as it likes.
    pub fn start_on_small_disk(role: &str, dir: &Path, kib: u32) -> Actor {
        let script = r#"mount -t tmpfs -o "size=$1k,mode=0700" tmpfs "$2" && shift 2 && exec "$@""#;
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]);
        command.arg(kib.to_string()).arg(dir).arg(env::current_exe().expect("a path"));
        Actor::start_by(with_role(command, role, dir, ""))
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next line that the actor says; none when it has ended.
    pub fn listen(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).expect("text") == 0 {
                return None;
            }
            // Half a line is what a killed process did not get to say.
            if let Some(said) = line.strip_prefix('@').and_then(|line| line.strip_suffix('\n')) {
                return Some(said.to_owned());
            }
        }
    }

    pub fn tell(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it was not told to end");
        input.write_all(format!("{line}\n").as_bytes()).expect("the actor listens");
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) {
        self.child.kill().expect("it can be killed");
        self.child.wait().expect("it can be waited for");
    }

    /// Ends its input and waits for it.
    pub fn end(mut self) -> ExitStatus {
        self.input = None;
        while self.listen().is_some() {}
        self.child.wait().expect("it can be waited for")
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
