//! Windlass is killed while eight lanes are full of processes that do not want to go.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::bubblewrap::with_bubblewrap;
use crate::{run, write};

/// How long a test waits for what must happen. It never takes that long unless it is broken.
const LONG: Duration = Duration::from_secs(30);

/// Each starts children of every kind: with a session of their own, deaf to signals, without an environment, a daemon. All
/// of them hold the mark.
const AGENT: &str = r#"cat > /dev/null
exec 9< "$(dirname "$0")/mark"
(trap '' TERM HUP INT; sleep 1000) &
setsid sh -c 'trap "" TERM HUP; sleep 1000; :' &
setsid env -i sh -c 'sh -c "sleep 1000; :" & sleep 1000' > /dev/null 2>&1 < /dev/null &
(setsid sh -c 'sleep 1000; :' &)
echo "$WINDLASS_UNIT" > "$WINDLASS_UNIT.txt"
sleep 1000
"#;

struct Scene {
    dir: TempDir,
}

impl Scene {
    fn new() -> Scene {
        let dir = TempDir::with_prefix("windlass").unwrap();
        let scene = Scene { dir };
        let repo = scene.path("repo");
        run(scene.dir.path(), &["git", "init", "-q", "-b", "main", "repo"]);
        for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org")] {
            run(&repo, &["git", "config", key, value]);
        }
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        let flow = fs::read_to_string(fixtures.join("small.toml")).unwrap();
        write(&repo.join("flow.toml"), &flow.replace("lanes  = 2", "lanes  = 8"));
        fs::copy(fixtures.join("small-catalogue.toml"), repo.join("catalogue.toml")).unwrap();
        let task = |n: u32| format!("[[task]]\nid = 't{n}'\ncareful = false\n");
        write(&repo.join("tasks.toml"), &(0..8).map(task).collect::<String>());
        write(&scene.path("talk/agent"), AGENT);
        write(&scene.path("talk/mark"), "");
        let config = format!(
            "[sandbox]\nread = ['{}']\n[agents.mine]\nkind = 'command'\ncommand = ['bash', '{}']\ncost = 'none'\n\
             [roles]\ndefault = 'mine'\n[checks]\ntest = 'true'\n\
             [budget]\nrun = {{ dollars = 1e6, tokens = 1000000000000, minutes = 100000 }}\n\
             unit = {{ dollars = 1e6, tokens = 1000000000000, minutes = 100000 }}\n",
            scene.path("talk").display(),
            scene.path("talk/agent").display()
        );
        write(&repo.join("windlass.toml"), &config);
        run(&repo, &["git", "add", "-A"]);
        run(&repo, &["git", "commit", "-qm", "Start"]);
        scene
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn windlass(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command
            .args(words)
            .current_dir(self.path("repo"))
            .env("WINDLASS_STATE_DIR", self.path("state"))
            .env("PATH", with_bubblewrap())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Who holds the mark, or works below this directory.
    fn alive(&self) -> Vec<String> {
        let mark = self.path("talk/mark").canonicalize().unwrap();
        let here = self.dir.path().to_str().unwrap();
        let mut found = Vec::new();
        for entry in fs::read_dir("/proc").unwrap().flatten() {
            let path = entry.path();
            if !entry.file_name().as_encoded_bytes()[0].is_ascii_digit() {
                continue;
            }
            let files = fs::read_dir(path.join("fd")).into_iter().flatten().flatten();
            let holds =
                files.filter_map(|file| fs::read_link(file.path()).ok()).any(|to| to == mark);
            let words = fs::read(path.join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).replace('\0', " ");
            if holds || words.contains(here) {
                found.push(format!("{} {words}", entry.file_name().display()));
            }
        }
        found
    }
}

fn until(what: &str, mut is_so: impl FnMut() -> Result<(), String>) {
    let deadline = Instant::now() + LONG;
    loop {
        match is_so() {
            Ok(()) => return,
            Err(state) => assert!(Instant::now() < deadline, "{what}: {state}"),
        }
        std::thread::yield_now();
    }
}

/// Control groups of ours.
fn groups() -> BTreeSet<PathBuf> {
    fn walk(dir: &Path, depth: u32, found: &mut BTreeSet<PathBuf>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if depth > 6 || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let path = entry.path();
            if entry.file_name().to_string_lossy().starts_with("windlass-") {
                found.insert(path.clone());
            }
            walk(&path, depth + 1, found);
        }
    }
    let mut found = BTreeSet::new();
    walk(Path::new("/sys/fs/cgroup"), 0, &mut found);
    found
}

/// Whether this machine lets us make groups.
fn limits_by_groups() -> bool {
    !matches!(windlass_process::LimitedBy::here(), windlass_process::LimitedBy::Looking)
}

/// A Windlass with eight busy lanes is killed so many times, each time at another moment.
pub fn killed(times: u32, level: &str) {
    let scene = Scene::new();
    // What somebody who was cut off has left is not ours to judge. What other tests have meanwhile is gone soon, too.
    let others = groups();
    let mut made = BTreeSet::new();
    let mut busiest = 0;
    for time in 0..times {
        let words: &[&str] = if time == 0 {
            &["run", "flow.toml", "--catalogue", "catalogue.toml"]
        } else {
            &["resume"]
        };
        let mut windlass = scene.windlass(words).env("WINDLASS_SANDBOX", level).spawn().unwrap();
        // Now early, now late: from the first child to the last.
        let busy = if times == 1 { 60 } else { 1 + (time as usize * 37) % 80 };
        until("somebody works", || {
            let holders = scene.alive().len();
            busiest = busiest.max(holders);
            let over = windlass.try_wait().unwrap();
            assert!(over.is_none(), "it ended by itself: {over:?}");
            if holders >= busy { Ok(()) } else { Err(format!("{holders} of {busy}")) }
        });
        made.extend(groups().difference(&others).cloned());
        windlass.kill().unwrap();
        windlass.wait().unwrap();
        until("nobody is left", || match scene.alive() {
            left if left.is_empty() => Ok(()),
            left => Err(left.join("\n")),
        });
    }
    let no_groups = level == "none" || !limits_by_groups();
    assert!(!made.is_empty() || no_groups, "there were groups to be left");
    let cancelled = scene.windlass(&["stop", "--cancel"]).status().unwrap();
    assert!(cancelled.success());
    until("no group is left", || match made.iter().find(|group| group.exists()) {
        None => Ok(()),
        Some(group) => Err(group.display().to_string()),
    });
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(scene.dir.path().to_str().unwrap()), "{mounts}");
    assert!(busiest >= 60, "eight lanes were busy: {busiest} processes");
}
