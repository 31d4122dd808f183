//! Programs that try to get out.

use std::{
    fs,
    os::unix::net::UnixListener,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use windlass_process::{
    Ending, Finished, Sandbox, View,
    sandbox::{Access, Holds, Level, System, Tools, Wanted},
};

use super::*;

/// What tests make sandboxes with. `scripts/test` puts bubblewrap where it is looked for.
pub fn tools() -> Tools {
    let of_tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin/bwrap");
    let bwrap = windlass_process::which("bwrap", &windlass_process::Env::inherited())
        .or_else(|| of_tests.is_file().then_some(of_tests));
    assert!(bwrap.is_some(), "bubblewrap is needed: run scripts/bubblewrap, or install it");
    Tools { doorman: stand_in(), bwrap, patience: Tools::PATIENCE }
}

/// The program in `tests/stand_in`, or a copy of it for somebody who does not get to where it was built.
fn stand_in() -> PathBuf {
    std::env::var_os(STAND_IN_COPY).map_or_else(|| STAND_IN.into(), PathBuf::from)
}

const STAND_IN_COPY: &str = "WINDLASS_TEST_STAND_IN";

fn sandbox(level: Level) -> Sandbox {
    Sandbox::find(Wanted::Level(level), &tools(), &spawner()).expect("it starts here")
}

/// A person's home with a secret in it, and a lane.
pub struct Machine {
    dir: TempDir,
}

impl Machine {
    pub fn new() -> Machine {
        let dir = TempDir::with_prefix("windlass").expect("a directory");
        for name in ["home/me/.ssh", "lane", "other lane", "tmp"] {
            fs::create_dir_all(dir.path().join(name)).expect("a directory");
        }
        fs::write(dir.path().join("home/me/.ssh/key"), "s3cret").expect("a file");
        fs::write(dir.path().join("lane/file"), "mine").expect("a file");
        Machine { dir }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub fn view(&self, sandbox: &Sandbox) -> View {
        let mut view = sandbox.view(&System::here());
        let lane = self.path("lane");
        let at = sandbox.seen_at("/lane", &lane);
        view.show_at(at.clone(), lane, Access::Write);
        let tmp = self.path("tmp");
        view.show_at(sandbox.seen_at("/tmp", &tmp), tmp, Access::Write);
        if sandbox.level() != Level::Bubblewrap {
            view.show(stand_in(), Access::Read);
        }
        view.directory = at;
        view
    }

    fn run(&self, sandbox: &Sandbox, script: &str) -> Finished {
        let command = sh(script).inside(sandbox, self.view(sandbox));
        spawner().run(command).expect("it runs")
    }

    fn says(&self, sandbox: &Sandbox, script: &str) -> String {
        let finished = self.run(sandbox, script);
        let whole = |stream: &windlass_process::Captured| stream.whole().expect("its output");
        let both = [whole(&finished.stdout), whole(&finished.stderr)].concat();
        format!("{:?} {}", finished.ending, String::from_utf8_lossy(&both)).trim().to_owned()
    }
}

const CONFINED: [Level; 2] = [Level::Bubblewrap, Level::Landlock];

#[test]
fn a_program_works_in_its_lane() {
    let machine = Machine::new();
    for level in Level::ALL {
        let sandbox = sandbox(level);
        assert_eq!(sandbox.level(), level);
        let said = machine.says(&sandbox, "cat file && echo new > made && mv made moved && pwd");
        let lane = machine.path("lane").canonicalize().unwrap();
        let at = if level == Level::Bubblewrap { "/lane".into() } else { lane.clone() };
        assert_eq!(said, format!("Exited(0) mine{}", at.display()));
        assert_eq!(fs::read_to_string(lane.join("moved")).unwrap(), "new\n", "{level}");
    }
}

#[test]
fn what_is_not_in_the_view_is_neither_read_nor_written() {
    let machine = Machine::new();
    let key = machine.path("home/me/.ssh/key");
    let read = format!("cat '{}'", key.display());
    let write = format!("echo x > '{}'", machine.path("other lane/x").display());
    let delete = format!("rm -f '{}'; true", key.display());
    assert_eq!(machine.says(&sandbox(Level::None), &read), "Exited(0) s3cret");
    assert!(machine.says(&sandbox(Level::None), &write).starts_with("Exited(0)"));
    fs::remove_file(machine.path("other lane/x")).unwrap();
    for level in CONFINED {
        let sandbox = sandbox(level);
        let said = machine.says(&sandbox, &read);
        assert!(said.starts_with("Exited(1)") && !said.contains("s3cret"), "{level}: {said}");
        let said = machine.says(&sandbox, &write);
        assert!(!said.starts_with("Exited(0)"), "{level}: {said}");
        assert!(!machine.path("other lane/x").exists());
        machine.says(&sandbox, &delete);
        assert!(key.exists(), "{level}");
    }
}

#[test]
fn a_view_that_is_read_only_is() {
    let machine = Machine::new();
    for level in CONFINED {
        let sandbox = sandbox(level);
        let mut view = machine.view(&sandbox);
        let lane = view.directory.clone();
        let place = view.places.iter_mut().find(|place| place.at == lane).unwrap();
        place.holds = Holds::Shown { from: machine.path("lane"), access: Access::Read };
        let command = sh("cat file; echo x > file; echo x > new").inside(&sandbox, view);
        let finished = spawner().run(command).unwrap();
        assert_eq!(finished.stdout.whole().unwrap(), b"mine", "{level}");
        assert_ne!(finished.ending, Ending::Exited(0), "{level}");
        assert_eq!(fs::read_to_string(machine.path("lane/file")).unwrap(), "mine");
        assert!(!machine.path("lane/new").exists());
    }
}

#[test]
fn processes_of_others_are_not_there() {
    let machine = Machine::new();
    let me = std::process::id();
    let look = format!(
        "ls /proc/{me} >/dev/null 2>&1 && echo there; kill -0 {me} 2>/dev/null && echo reached; true"
    );
    let said = |level| machine.says(&sandbox(level), &look);
    assert_eq!(said(Level::None), "Exited(0) there\nreached");
    assert_eq!(said(Level::Bubblewrap), "Exited(0)");
    // Landlock alone keeps signals in, from version 6 on, and hides nothing.
    assert_eq!(said(Level::Landlock), "Exited(0) there");
}

#[test]
fn a_socket_of_the_machine_is_not_there() {
    let machine = Machine::new();
    let path = machine.path("home/me/agent.sock");
    let _listener = UnixListener::bind(&path).unwrap();
    let connect = format!(
        "import socket\ns = socket.socket(socket.AF_UNIX)\ns.connect({:?})\nprint('reached')",
        path.to_str().unwrap()
    );
    let said = |level| {
        let sandbox = sandbox(level);
        let command = python(&connect).inside(&sandbox, machine.view(&sandbox));
        let finished = spawner().run(command).unwrap();
        String::from_utf8(finished.stdout.whole().unwrap()).unwrap()
    };
    assert_eq!(said(Level::None), "reached\n");
    assert_eq!(said(Level::Bubblewrap), "");
}

#[test]
fn a_program_that_is_asked_to_end_may_clear_up_first() {
    let machine = Machine::new();
    for level in Level::ALL {
        let sandbox = sandbox(level);
        // It takes its time, as an agent that saves its work does.
        let script =
            "trap 'sleep 0.5; echo bye > last; exit 7' TERM; echo up; while :; do sleep 0.05; done";
        let command = sh(script).inside(&sandbox, machine.view(&sandbox)).limits(grace(LONG));
        let (command, said) = watched(command);
        let child = spawner().spawn(command).unwrap();
        Said::line(&said);
        child.stop();
        let finished = child.wait().unwrap();
        assert_eq!(finished.ending, Ending::Stopped, "{level}");
        let last = machine.path("lane/last");
        assert_eq!(fs::read_to_string(&last).unwrap_or_default(), "bye\n", "{level}");
        fs::remove_file(last).unwrap();
    }
}

#[test]
fn how_a_program_ends_is_told_as_it_was() {
    let machine = Machine::new();
    for level in Level::ALL {
        let sandbox = sandbox(level);
        assert_eq!(machine.run(&sandbox, "exit 3").ending, Ending::Exited(3), "{level}");
        assert_eq!(machine.run(&sandbox, "kill -9 $$").ending, Ending::Signalled(9), "{level}");
        assert_eq!(machine.run(&sandbox, "exit 126").ending, Ending::Exited(126), "{level}");
    }
}

#[test]
fn what_cannot_be_started_inside_is_told_apart_from_what_failed() {
    let machine = Machine::new();
    let hidden = machine.path("home/me/agent");
    fs::write(&hidden, "#!/bin/sh\necho hello\n").unwrap();
    fs::set_permissions(&hidden, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    for level in CONFINED {
        let sandbox = sandbox(level);
        let command = Command::new(&hidden, "/").inside(&sandbox, machine.view(&sandbox));
        let finished = spawner().run(command).unwrap();
        assert_eq!(finished.ending, Ending::Barred, "{level}");
        let why = finished.why.unwrap();
        assert!(why.contains("home/me/agent"), "{level}: {why}");
        let mut view = machine.view(&sandbox);
        view.show(machine.path("not there"), Access::Write);
        let command = sh("echo hello").inside(&sandbox, view);
        let finished = spawner().run(command).unwrap();
        match level {
            Level::Bubblewrap => {
                assert_eq!(finished.ending, Ending::Barred);
                let why = finished.why.unwrap();
                assert!(why.contains("not there"), "{why}");
            }
            // What is not there cannot be shown, and cannot be missed either.
            _ => assert_eq!(finished.ending, Ending::Exited(0)),
        }
    }
}

#[test]
fn a_level_that_does_not_start_is_refused_and_the_best_that_does_is_taken() {
    let spawner = spawner();
    let without = Tools { bwrap: None, ..tools() };
    let refused = Sandbox::find(Wanted::Level(Level::Bubblewrap), &without, &spawner).unwrap_err();
    assert!(refused.to_string().contains("bwrap is not installed"), "{refused}");
    let broken = Tools { bwrap: Some("/bin/false".into()), ..tools() };
    let refused = Sandbox::find(Wanted::Level(Level::Bubblewrap), &broken, &spawner).unwrap_err();
    assert_eq!(refused.to_string(), "bubblewrap: it exited with 1 and said nothing");
    for tools in [without, broken] {
        let second = Sandbox::find(Wanted::Best, &tools, &spawner).unwrap();
        assert_eq!(second.level(), Level::Landlock);
        assert_eq!(second.not_here()[0].level, Level::Bubblewrap);
    }
    let best = Sandbox::find(Wanted::Best, &tools(), &spawner).unwrap();
    assert_eq!(best.level(), Level::Bubblewrap);
    assert!(best.not_here().is_empty());
    let nobody = Tools { doorman: "/bin/true".into(), ..tools() };
    assert!(Sandbox::find(Wanted::Best, &nobody, &spawner).is_err());
    // One who can do everything but switch rules on.
    let machine = Machine::new();
    let weak = machine.path("weak");
    let script = format!(
        "#!/bin/sh\ncase \"$*\" in *rules*) exit 1;; esac\nexec '{}' \"$@\"\n",
        stand_in().display()
    );
    fs::write(&weak, script).unwrap();
    fs::set_permissions(&weak, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let weak = Tools { doorman: weak, bwrap: None, ..tools() };
    assert!(Sandbox::find(Wanted::Level(Level::None), &weak, &spawner).is_ok());
    let refused = Sandbox::find(Wanted::Best, &weak, &spawner).unwrap_err();
    assert_eq!(refused.tried.len(), 2, "never none: {refused}");
}

#[test]
fn a_tool_that_hangs_is_waited_for_once() {
    let machine = Machine::new();
    let (tool, tried) = (machine.path("hangs"), machine.path("tried"));
    let script = format!("#!/bin/sh\necho once >> '{}'\nexec sleep 1000\n", tried.display());
    fs::write(&tool, script).unwrap();
    fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let patience = Duration::from_millis(1500);
    let tools = Tools { bwrap: Some(tool), patience, ..tools() };
    let refused = Sandbox::find(Wanted::Level(Level::Bubblewrap), &tools, &spawner()).unwrap_err();
    assert_eq!(refused.to_string(), "bubblewrap: it hangs: nothing had started after 1.5 s");
    assert_eq!(fs::read_to_string(&tried).unwrap(), "once\n");
}

#[test]
fn nothing_in_a_sandbox_outlives_its_program() {
    let machine = Machine::new();
    let sandbox = sandbox(Level::Bubblewrap);
    for after in ["", "os._exit(3)", "os.kill(os.getpid(), 9)"] {
        // It has a session of its own, no environment, ignores being asked, and holds our pipe.
        let stay = "signal.signal(signal.SIGTERM, signal.SIG_IGN); os.environ.clear()";
        let mark = machine.path("lane/mark");
        fs::write(&mark, "").unwrap();
        let hold = format!("{stay}; held = open('mark')");
        let command = python(&daemon(&hold, after)).inside(&sandbox, machine.view(&sandbox));
        let finished = spawner().run(command.limits(grace(LONG))).unwrap();
        assert!(finished.stragglers.left.is_empty());
        assert_eq!(holders(&mark), Vec::<i32>::new(), "{after}");
    }
}

/// Who has a file open.
pub fn holders(file: &Path) -> Vec<i32> {
    let file = file.canonicalize().expect("it is there");
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let holds = |pid: &i32| {
        let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        files.filter_map(|entry| fs::read_link(entry.path()).ok()).any(|link| link == file)
    };
    pids.filter(holds).collect()
}

/// Bubblewrap has a moment in which it is tied to nobody: whoever comes out of it without a Windlass must not go on.
#[test]
fn a_doorman_whom_nobody_tells_to_go_on_does_not() {
    let machine = Machine::new();
    let made = machine.path("lane/made");
    // A line that takes what is said and never answers.
    let script =
        "exec 3> /dev/null; exec \"$0\" --windlass-doorman heard -- /usr/bin/touch touch \"$1\"";
    let command = sh(script).arg(stand_in()).arg(&made);
    let finished = spawner().run(command).unwrap();
    assert_eq!(finished.ending, Ending::Exited(126));
    assert!(!made.exists());
    let script = script.replace("heard ", "");
    let command = sh(&script).arg(stand_in()).arg(&made);
    assert!(spawner().run(command).unwrap().succeeded() && made.exists(), "it would have");
}

/// A place that everybody gets to, with copies of our programs.
struct Commons {
    dir: TempDir,
}

impl Commons {
    fn new() -> Commons {
        use std::os::unix::fs::PermissionsExt;
        let dir = TempDir::with_prefix_in("windlass", "/tmp").expect("a directory");
        let open = |path: &Path, mode| {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
        };
        open(dir.path(), 0o777);
        fs::create_dir(dir.path().join("bin")).expect("a directory");
        let tests = std::env::current_exe().expect("this program");
        let bwrap = tools().bwrap.expect("bubblewrap");
        for (from, name) in [(tests, "tests"), (stand_in(), "stand-in"), (bwrap, "bin/bwrap")] {
            let to = dir.path().join(name);
            fs::copy(from, &to).expect("a copy");
            open(&to, 0o755);
        }
        Commons { dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs one of the programs as somebody without powers: as this user, or as nobody if this is root.
    fn run(&self, name: &str, args: &[&str]) -> (bool, String) {
        use std::os::unix::process::CommandExt;
        let nobody = 65534;
        let mut command = std::process::Command::new(self.path(name));
        command
            .args(args)
            .env(STAND_IN_COPY, self.path("stand-in"))
            .env("PATH", format!("{}:/usr/local/bin:/usr/bin:/bin", self.path("bin").display()))
            .env("TMPDIR", self.dir.path())
            .env("HOME", self.dir.path())
            .current_dir("/");
        if rustix::process::getuid().is_root() {
            command.gid(nobody).uid(nobody);
        }
        let output = command.output().expect("it starts");
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&said).into_owned())
    }
}

/// All of the above once more, as somebody without powers: namespaces come about in another way for them.
#[test]
fn all_of_it_holds_for_somebody_who_is_not_root() {
    let commons = Commons::new();
    let (well, said) = commons.run(
        "tests",
        &["sandbox::", "limits::", "walls::", "--skip", "somebody", "--skip", "within"],
    );
    assert!(well, "{said}");
    for one in [
        "sandbox::what_is_not_in_the_view_is_neither_read_nor_written",
        "limits::a_fork_bomb_is_ended",
        "walls::keys_of_the_persons_session_are_not_had",
    ] {
        assert!(said.contains(&format!("{one} ... ok")), "{said}");
    }
}

/// As a container does it: a part of /proc is covered, so that no fresh one may be mounted.
#[test]
fn within_a_container_there_is_no_proc_rather_than_everybodys() {
    let commons = Commons::new();
    let (bwrap, stand_in) = (commons.path("bin/bwrap"), commons.path("stand-in"));
    let (bwrap, stand_in) = (bwrap.to_str().unwrap(), stand_in.to_str().unwrap());
    let outer =
        ["--unshare-user", "--unshare-pid", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"];
    let script = "ls /proc; git --version; echo works";
    let run = |covered: &[&str]| {
        let inner = ["--", stand_in, "confined", bwrap, script];
        commons.run("bin/bwrap", &[&outer, &["--proc", "/proc"][..], covered, &inner].concat())
    };
    let (_, said) = run(&["--tmpfs", "/proc/tty"]);
    assert!(said.starts_with("bubblewrap"), "{said}");
    assert!(said.contains("without /proc\nExited(0) None\ngit version"), "{said}");
    assert!(said.ends_with("works\n"), "{said}");
    // Unless this is such a place already.
    if !sandbox(Level::Bubblewrap).to_string().contains("without /proc") {
        let (_, said) = run(&[]);
        assert!(!said.contains("without /proc") && said.contains("\n1\n"), "{said}");
    }
}
