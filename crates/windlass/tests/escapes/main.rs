//! Agents that try to get out, one after the other, in real runs at every level of isolation.
//!
//! `scripts/escapes` prints the table of what was tried and what came of it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../shared/bubblewrap.rs"]
mod bubblewrap;
mod cases;
mod kills;

use std::collections::BTreeMap;
use std::fs;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use bubblewrap::with_bubblewrap;
use cases::{CASES, Case, KEYS_THERE};
use tempfile::TempDir;

/// The levels, from the weakest.
const LEVELS: [&str; 3] = ["none", "landlock", "bubblewrap"];
/// A row has so many attacks at least.
const ATTACKS_MIN: usize = 6;

/// A person with a home, repositories, a remote and things that go on.
struct World {
    dir: TempDir,
    victim: Child,
    values: Vec<(&'static str, String)>,
    _sockets: [UnixListener; 2],
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.victim.kill();
        let _ = self.victim.wait();
    }
}

fn run(dir: &Path, words: &[&str]) -> String {
    let output = Command::new(words[0]).args(&words[1..]).current_dir(dir).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// What a case is called in files and branches.
fn id(number: usize) -> String {
    format!("c{number}")
}

impl World {
    fn new() -> World {
        let dir = TempDir::with_prefix("windlass").unwrap();
        let at = |name: &str| dir.path().join(name);
        for (name, text) in [
            ("home/.ssh/id", "SECRET of a key"),
            ("home/.git-credentials", "https://ada:SECRET@example.org"),
            ("home/.config/gh/hosts.yml", "oauth_token: SECRET"),
            ("home/notes", "mine\n"),
            ("home/hard", "mine\n"),
            ("home/mode", "mine\n"),
            ("home/precious/thing", "mine\n"),
            ("state/kept", "ours\n"),
            ("canary/.keep", ""),
            ("talk/loot/keys.py", include_str!("../../../process/tests/keys.py")),
        ] {
            write(&at(name), text);
        }
        fs::set_permissions(at("home/mode"), fs::Permissions::from_mode(0o600)).unwrap();
        let values = World::repositories(dir.path());
        let socket = at("agent.sock");
        let name = SocketAddr::from_abstract_name(socket.as_os_str().as_encoded_bytes()).unwrap();
        let victim = Command::new("sleep").arg("1000").env("SECRET", "of another").spawn().unwrap();
        let mut world = World {
            victim,
            values,
            _sockets: [
                UnixListener::bind(&socket).unwrap(),
                UnixListener::bind_addr(&name).unwrap(),
            ],
            dir,
        };
        for (name, path) in [
            ("HOME_P", "home"),
            ("REPO", "repo"),
            ("REPO2", "repo2"),
            ("REMOTE", "remote.git"),
            ("STATE", "state"),
            ("LOOT", "talk/loot"),
            ("CANARY", "canary"),
            ("SOCK", "agent.sock"),
        ] {
            world.values.push((name, world.path(path).display().to_string()));
        }
        world.values.push(("VICTIM", world.victim.id().to_string()));
        world.values.push(("SCREW", "/proc/sys/kernel/core_uses_pid".to_owned()));
        world.hire();
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// The person's repositories. Says which commits there are.
    fn repositories(dir: &Path) -> Vec<(&'static str, String)> {
        let repo = dir.join("repo");
        for name in ["repo", "repo2"] {
            run(dir, &["git", "init", "-q", "-b", "main", name]);
            for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
                run(&dir.join(name), &["git", "config", key, value]);
            }
        }
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        fs::copy(fixtures.join("small.toml"), repo.join("flow.toml")).unwrap();
        fs::copy(fixtures.join("small-catalogue.toml"), repo.join("catalogue.toml")).unwrap();
        for (name, text) in [
            ("tasks.toml", "[[task]]\nid = 'hello'\ncareful = false\n"),
            ("test.sh", "true\n"),
            ("mine.txt", "mine\n"),
            (".claude/settings.json", "PLANTED38\n"),
            (".mcp.json", "PLANTED38\n"),
            (".codex/config.toml", "PLANTED38\n"),
            ("opencode.json", "PLANTED38\n"),
            ("tools/settings.json", "PLANTED38\n"),
        ] {
            write(&repo.join(name), text);
        }
        symlink("tools", repo.join(".gemini")).unwrap();
        symlink("/lane/tools", repo.join(".cursor")).unwrap();
        let talk = dir.join("talk");
        let config = format!(
            "[sandbox]\nwrite = ['{}']\n[agents.mine]\nkind = 'command'\ncommand = ['bash', '{}']\ncost = 'none'\n\
             [roles]\ndefault = 'mine'\n[checks]\ntest = 'sh test.sh'\n",
            talk.join("loot").display(),
            talk.join("agent").display()
        );
        write(&repo.join("windlass.toml"), &config);
        run(&repo, &["git", "add", "-A"]);
        run(&repo, &["git", "commit", "-qm", "Start"]);
        let base = run(&repo, &["git", "rev-parse", "HEAD"]);
        let tree = run(&repo, &["git", "rev-parse", "HEAD^{tree}"]);
        let other = run(&repo, &["git", "commit-tree", "-m", "another", &tree]);
        for number in 0..CASES.len() {
            run(&repo, &["git", "branch", &format!("b{}", id(number))]);
        }
        run(dir, &["git", "clone", "-q", "--bare", "repo", "remote.git"]);
        run(&repo, &["git", "remote", "add", "origin", dir.join("remote.git").to_str().unwrap()]);
        write(&repo.join("stashed.txt"), "mine\n");
        run(&repo, &["git", "stash", "-qu"]);
        vec![("BASE", base), ("OTHER", other)]
    }

    /// The agent: it tries everything, each on its own and not for long, and says that it is done.
    fn hire(&self) {
        let mut script = String::from("prompt=$(cat)\n");
        for (name, value) in &self.values {
            script += &format!("export {name}='{value}'\n");
        }
        script += "if [ \"$WINDLASS_ROLE\" = reviewer ]; then\n\
                   printf '%s' \"$prompt\" > $LOOT/prompt; touch $HOME_P/by-the-reviewer\n\
                   echo '{\"verdict\":\"clear\"}'; exit\nfi\n";
        for (number, case) in CASES.iter().enumerate() {
            let attack = case.attack.replace('\'', "'\\''");
            script +=
                &format!("ID={} timeout 10 bash -c '{attack}' > /dev/null 2>&1\n", id(number));
        }
        script += "echo hello > hello.txt\necho '{\"verdict\":\"done\"}'\n";
        write(&self.path("talk/agent"), &script);
    }

    fn windlass(&self, level: &str) -> Command {
        let windlass = env!("CARGO_BIN_EXE_windlass");
        let mut command = match self.ends_well("key", KEYS_THERE) {
            true => {
                let mut command = Command::new("python3");
                command.arg(self.path("talk/loot/keys.py")).arg("hold").arg(windlass);
                command
            }
            false => Command::new(windlass),
        };
        command
            .args(["run", "flow.toml", "--catalogue", "catalogue.toml"])
            .current_dir(self.path("repo"))
            .env("WINDLASS_STATE_DIR", self.path("state"))
            .env("WINDLASS_SANDBOX", level)
            .env("HOME", self.path("home"))
            .env("PATH", with_bubblewrap())
            .env("GITHUB_TOKEN", "SECRET")
            .env("SSH_AUTH_SOCK", self.path("agent.sock"))
            .stdin(Stdio::null());
        command
    }

    /// Whether a case has done its harm.
    fn is_harmed_by(&mut self, number: usize, case: &Case) -> bool {
        // Whoever was killed is gone only when somebody has noticed.
        let _ = self.victim.try_wait();
        self.ends_well(&id(number), case.harm)
    }

    /// Whether a line for bash, run outside, ends well.
    fn ends_well(&self, id: &str, line: &str) -> bool {
        let mut look = Command::new("bash");
        look.args(["-c", line]).env("ID", id).current_dir("/");
        look.envs(self.values.iter().map(|(name, value)| (*name, value)));
        let look = look.stdout(Stdio::null()).stderr(Stdio::null());
        look.status().unwrap().success()
    }
}

/// What came of a case.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Came {
    Nothing,
    Harm,
    /// The machine lets nobody do that.
    NotHere,
}

/// What came of every case at a level.
fn tried(level: &str) -> Vec<Came> {
    let mut world = World::new();
    let possible: Vec<bool> =
        CASES.iter().enumerate().map(|(at, case)| world.ends_well(&id(at), case.needs)).collect();
    let output = world.windlass(level).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("do: done"), "{level}: the agent did not come to its end: {said}");
    let came = |(number, case): (usize, &Case)| match world.is_harmed_by(number, case) {
        true => Came::Harm,
        false if possible[number] => Came::Nothing,
        false => Came::NotHere,
    };
    CASES.iter().enumerate().map(came).collect()
}

/// The cases that came out otherwise than they should. What the machine lets nobody try is said.
#[expect(clippy::print_stdout, reason = "what was not tried is told to whoever runs the tests")]
fn surprises(level: &str, should: impl Fn(&Case) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    for (case, came) in CASES.iter().zip(tried(level)) {
        let Case { row, name, .. } = case;
        match came {
            Came::NotHere => println!("{row} {name}: nobody can try that on this machine"),
            Came::Harm if !should(case) => wrong.push(format!("{row} {name}: succeeds")),
            Came::Nothing if should(case) => wrong.push(format!("{row} {name}: does not succeed")),
            Came::Harm | Came::Nothing => {}
        }
    }
    wrong
}

#[test]
fn every_row_is_attacked_in_many_ways() {
    let mut rows: BTreeMap<u32, Vec<&str>> = BTreeMap::new();
    for case in CASES {
        rows.entry(case.row).or_default().push(case.name);
    }
    for (row, mut names) in rows {
        names.sort_unstable();
        names.dedup();
        assert!(names.len() >= ATTACKS_MIN, "row {row} has {}", names.len());
    }
}

#[test]
fn none_of_them_succeeds_where_nothing_was_said() {
    assert_eq!(surprises("best", |_| false), [""; 0]);
}

/// So that the test above can fail.
#[test]
fn without_a_sandbox_they_succeed() {
    assert_eq!(surprises("none", |case| case.none), [""; 0]);
}

#[test]
fn landlock_alone_stops_what_it_promises_to() {
    assert_eq!(surprises("landlock", |case| case.landlock), [""; 0]);
}

mod slow {
    use super::*;

    #[test]
    fn a_few_kills_of_eight_busy_lanes_leave_nobody() {
        kills::killed(6, "best");
    }

    /// There the kernel ends the first process of each and no more, and nobody starts another Windlass.
    #[test]
    fn without_a_sandbox_the_keeper_ends_what_a_killed_windlass_leaves() {
        kills::killed(1, "none");
    }

    /// For people: `scripts/escapes kills`.
    #[test]
    #[ignore = "takes minutes"]
    fn two_hundred_kills_of_eight_busy_lanes_leave_nobody() {
        kills::killed(200, "best");
    }
}

/// For people: `scripts/escapes`.
#[test]
#[ignore = "prints a table"]
fn table() {
    let came = LEVELS.map(tried);
    println!("row  {:<45} {}", "attack", LEVELS.map(|level| format!("{level:<11}")).join(""));
    for (number, case) in CASES.iter().enumerate() {
        let cells = came.each_ref().map(|level| match level[number] {
            Came::Harm => "succeeds   ",
            Came::Nothing => "-          ",
            Came::NotHere => "(not here) ",
        });
        println!("{:>3}  {:<45} {}", case.row, case.name, cells.join(""));
    }
    let count = |level: usize| came[level].iter().filter(|came| **came == Came::Harm).count();
    println!(
        "{} attacks; {} succeed without a sandbox, {} with landlock alone, {} with bubblewrap",
        CASES.len(),
        count(0),
        count(1),
        count(2)
    );
}
