//! A scratch repository with a small workflow, and a state directory of its own.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

use crate::bubblewrap::with_bubblewrap;

/// A repository with a commit on `main`, ready to run `flow.toml`.
pub struct Scratch {
    dir: TempDir,
    /// Who works there, if that is somebody else than who runs the tests.
    user: Option<u32>,
    /// Where copies of our programs are, if they are not used where they were built.
    programs: Option<PathBuf>,
}

/// A user without powers, on every machine.
const NOBODY: u32 = 65534;

/// Who does what, unless a test says otherwise: both tasks are done at the first attempt.
pub const SCRIPT: &str = r#"
[[answer]]
role = "worker"
unit = "hello"
write = { "hello.txt" = "hello\n" }
say = { verdict = "done", cost_usd = 0.01, tokens = 10 }
[[answer]]
role = "worker"
unit = "bye"
write = { "bye.txt" = "bye\n" }
say = { verdict = "done", cost_usd = 0.01, tokens = 10 }
[[answer]]
role = "reviewer"
say = { verdict = "clear", cost_usd = 0.001, tokens = 5 }
"#;

const TASKS: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = false\n\
                     [[task]]\nid = 'bye'\ntitle = 'Say goodbye'\ncareful = false\n";

const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n\
                      [roles]\ndefault = 'acted'\n[checks]\ntest = 'sh test.sh'\n";

/// Fails while hello.txt says anything but hello.
const TEST: &str =
    "[ ! -e hello.txt ] || grep -qx hello hello.txt || { echo 'hello.txt is wrong'; exit 1; }\n";

/// A file that tests begin with.
pub fn fixture(name: &str) -> String {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    fs::read_to_string(fixtures.join(name)).unwrap()
}

impl Scratch {
    pub fn new() -> Self {
        Scratch::with(&[])
    }

    /// With these files besides, or instead of, the usual ones.
    pub fn with(files: &[(&str, &str)]) -> Self {
        Scratch::at(tempfile::tempdir().unwrap(), files)
    }

    fn at(dir: TempDir, files: &[(&str, &str)]) -> Self {
        let scratch = Scratch { dir, user: None, programs: None };
        let repo = scratch.repo();
        fs::create_dir(&repo).unwrap();
        scratch.git(&["init", "-q", "-b", "main"]);
        scratch.git(&["config", "user.name", "Ada"]);
        scratch.git(&["config", "user.email", "ada@example.org"]);
        let usual = [
            ("flow.toml", fixture("small.toml")),
            ("catalogue.toml", fixture("small-catalogue.toml")),
            ("script.toml", SCRIPT.to_owned()),
            ("tasks.toml", TASKS.to_owned()),
            ("windlass.toml", CONFIG.to_owned()),
            ("test.sh", TEST.to_owned()),
        ];
        let mut all: BTreeMap<&str, String> = usual.into_iter().collect();
        all.extend(files.iter().map(|(name, text)| (*name, (*text).to_owned())));
        for (name, text) in all {
            let path = repo.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        scratch.git(&["add", "-A"]);
        scratch.git(&["commit", "-qm", "Start"]);
        scratch
    }

    /// The same, and whoever works there has no powers: nobody, if root runs the tests. Everything that they need lies
    /// where they get to.
    pub fn without_powers(files: &[(&str, &str)]) -> Self {
        let mut scratch = Scratch::at(tempfile::tempdir_in(reachable()).unwrap(), files);
        let programs = scratch.path("programs");
        fs::create_dir(&programs).unwrap();
        let bwrap = std::env::split_paths(&with_bubblewrap())
            .find(|dir| dir.join("bwrap").is_file())
            .unwrap();
        fs::copy(bwrap.join("bwrap"), programs.join("bwrap")).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_windlass"), programs.join("windlass")).unwrap();
        scratch.programs = Some(programs);
        if nix::unistd::geteuid().is_root() {
            scratch.user = Some(NOBODY);
            let all = scratch.dir.path();
            let given = Command::new("chown").args(["-R", "65534:65534"]).arg(all).status();
            assert!(given.unwrap().success());
        }
        scratch
    }

    /// A program, started by whoever works here.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(self.repo());
        if let Some(user) = self.user {
            command.uid(user).gid(user).env("HOME", self.dir.path());
        }
        command
    }

    pub fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn git(&self, args: &[&str]) -> String {
        let output = self.command("git").args(args).output().unwrap();
        assert!(
            output.status.success(),
            "git {args:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Runs a line of shell, as whoever works here.
    pub fn sh(&self, line: &str) {
        assert!(self.command("sh").args(["-c", line]).status().unwrap().success(), "{line}");
    }

    pub fn windlass(&self, args: &[&str]) -> Command {
        let (program, path) = match &self.programs {
            Some(copies) => {
                let path = format!("{}:/usr/local/bin:/usr/bin:/bin", copies.display());
                (copies.join("windlass"), path.into())
            }
            None => (env!("CARGO_BIN_EXE_windlass").into(), with_bubblewrap()),
        };
        let mut command = self.command(program);
        command
            .args(args)
            .env("WINDLASS_STATE_DIR", self.path("state"))
            .env("USER", "ada")
            .env_remove("WINDLASS_LANG")
            .env("PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self) -> Command {
        self.windlass(&["run", "flow.toml", "--catalogue", "catalogue.toml"])
    }

    /// Starts a run and reads its journal as it is written.
    pub fn follow(&self, command: &mut Command) -> Followed {
        self.follow_and_say(command, Stdio::inherit())
    }

    /// The same, with what it says on standard error going there.
    pub fn follow_and_say(&self, command: &mut Command, said: impl Into<Stdio>) -> Followed {
        let mut child = command.arg("--json").stderr(said).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Followed { child, lines }
    }

    /// The files at the tip of the main branch, other than those the run was set up with.
    pub fn landed(&self) -> BTreeMap<String, String> {
        let names = self.git(&["ls-tree", "--name-only", "main"]);
        let made = names.lines().filter(|name| name.ends_with(".txt"));
        made.map(|name| (name.to_owned(), self.git(&["show", &format!("main:{name}")]))).collect()
    }

    pub fn status(&self) -> Value {
        let output = self.windlass(&["status", "--all", "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// Entries of a run's journal that are notes of this kind.
    pub fn notes(&self, kind: &str) -> Vec<Value> {
        let mut entries = self.entries();
        entries.retain(|entry| entry["note"] == kind);
        entries
    }

    /// Entries of a run's journal.
    pub fn entries(&self) -> Vec<Value> {
        let output = self.windlass(&["log", "--json"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Processes that were started on behalf of this scratch repository and still live.
    pub fn processes(&self) -> Vec<String> {
        let here = self.dir.path().to_str().unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let of = |name: &str| fs::read(entry.path().join(name)).unwrap_or_default();
            let place = fs::read_link(entry.path().join("cwd")).unwrap_or_default();
            let words = [of("cmdline"), of("environ")].concat();
            let ours = place.starts_with(here) || String::from_utf8_lossy(&words).contains(here);
            let own = entry.file_name().to_str() == Some(&std::process::id().to_string());
            let dead =
                of("stat").is_empty() || String::from_utf8_lossy(&of("stat")).contains(") Z ");
            if ours && !own && !dead {
                found.push(String::from_utf8_lossy(&of("cmdline")).replace('\0', " "));
            }
        }
        found
    }
}

/// Where temporary directories go, or, if only their owner gets there, where everybody's go.
fn reachable() -> PathBuf {
    let everybody_passes =
        |dir: &Path| fs::metadata(dir).is_ok_and(|found| found.permissions().mode() & 0o001 != 0);
    [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()]
        .into_iter()
        .find(|dir| dir.ancestors().all(everybody_passes))
        .expect("a directory for temporary files that everybody gets to")
}

/// A run under way.
pub struct Followed {
    pub child: Child,
    lines: BufReader<ChildStdout>,
}

impl Followed {
    /// Reads on until an entry fits.
    #[track_caller]
    pub fn until(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        let mut line = String::new();
        while self.lines.read_line(&mut line).unwrap() > 0 {
            let entry: Value = serde_json::from_str(&line).unwrap();
            if fits(&entry) {
                return entry;
            }
            line.clear();
        }
        panic!("the run ended before {what}");
    }

    /// The exit code, once it has ended.
    pub fn code(mut self) -> Option<i32> {
        // What is still in the pipe must not keep it from ending.
        let _ = std::io::copy(&mut self.lines, &mut std::io::sink());
        self.child.wait().unwrap().code()
    }
}

/// The exit code, and what was said on standard error.
pub fn ended(output: Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}
