//! Programs that take more than they may.
//!
//! Every one of them has a bound of its own besides, so that a limit that fails cannot take the machine down: forks stop
//! at a number, memory and files at a size.

use std::{fs, path::Path};

use tempfile::TempDir;
use windlass_process::{
    Bounds, Disk, Ending, Finished, LimitedBy, Resource, Sandbox,
    sandbox::{Access, Level, System, Wanted},
};

use super::{sandbox::tools, *};

const MB: u64 = 1 << 20;

fn bounds() -> Bounds {
    Bounds { processes: Some(64), memory: Some(200 * MB), ..Bounds::default() }
}

/// Forks until it may not, or until there are too many for this test; all of them stay until somebody looks.
const BOMB: &str = "
import os, time
made = 0
while made < 2000:
    try:
        if os.fork() == 0:
            while True: time.sleep(1)
        made += 1
    except OSError:
        time.sleep(0.01)
time.sleep(50)
print('it made', made)
";

/// Takes a gigabyte, keeps it until somebody looks, and says so.
const GLUTTON: &str = "
import time
held = []
for piece in range(100):
    held.append(bytearray(10_000_000))
    time.sleep(0.005)
time.sleep(50)
print('it has all of it')
";

/// Takes the processor for ten seconds of it, and says so.
const BUSY: &str = "
import time
while time.process_time() < 10: pass
print('it took all of it')
";

fn limited(command: Command, bounds: Bounds) -> Finished {
    spawner().run(command.limits(Limits { bounds, ..grace(LONG) })).expect("it runs")
}

fn printed(finished: &Finished) -> String {
    String::from_utf8_lossy(&finished.stdout.whole().expect("its output")).into_owned()
}

/// Where each level starts what it starts, so that all of them are tried.
fn everywhere(script: &str, bounds: &Bounds, check: impl Fn(&Finished)) {
    let spawner = spawner();
    for level in Level::ALL {
        let sandbox = Sandbox::find(Wanted::Level(level), &tools(), &spawner).expect("it starts");
        let mut view = sandbox.view(&System::here());
        view.directory = "/".into();
        check(&limited(python(script).inside(&sandbox, view), bounds.clone()));
    }
}

#[test]
fn a_fork_bomb_is_ended() {
    everywhere(BOMB, &bounds(), |finished| {
        assert_eq!(finished.ending, Ending::Exceeded(Resource::Processes));
        assert_eq!(printed(finished), "");
        assert!(finished.stragglers.left.is_empty() && finished.stragglers.unknown.is_none());
    });
    let finished = limited(python("print('quiet')"), bounds());
    assert_eq!((finished.ending, printed(&finished).trim()), (Ending::Exited(0), "quiet"));
}

#[test]
fn whoever_takes_too_much_memory_is_ended() {
    everywhere(GLUTTON, &bounds(), |finished| {
        assert_eq!(finished.ending, Ending::Exceeded(Resource::Memory));
        assert_eq!(printed(finished), "");
    });
}

/// Has a child take too much, and ends well itself as soon as that one is gone.
const INDULGENT: &str = "
import os
child = os.fork()
if child == 0:
    held = bytearray(1_000_000_000)
    for at in range(0, len(held), 4096): held[at] = 1
    os._exit(0)
print('its child ended by', os.waitpid(child, 0)[1])
";

#[test]
fn a_child_that_the_kernel_ends_for_want_of_memory_is_told_of() {
    if LimitedBy::here() == LimitedBy::Looking {
        println!("no control groups here: the kernel ends nobody for want of memory");
        return;
    }
    everywhere(INDULGENT, &bounds(), |finished| match finished.ending {
        Ending::Exited(0) => {
            assert_eq!(printed(finished), "its child ended by 9\n");
            assert_eq!(finished.short_of, Some(Resource::Memory));
        }
        // Somebody looked just before it had ended by itself, or the kernel ends all of it.
        ending => assert_eq!(ending, Ending::Exceeded(Resource::Memory)),
    });
    let finished = limited(python("print('quiet')"), bounds());
    assert_eq!((finished.ending, finished.short_of), (Ending::Exited(0), None));
}

#[test]
fn whoever_takes_too_much_of_the_processor_is_ended() {
    let bounds = Bounds { cpu: Some(Duration::from_secs(1)), ..Bounds::default() };
    let finished = limited(python(BUSY), bounds);
    assert_eq!(finished.ending, Ending::Exceeded(Resource::Cpu));
    assert_eq!(printed(&finished), "");
}

#[test]
fn whoever_fills_the_disk_is_ended_and_the_rest_of_it_stays() {
    let dir = TempDir::with_prefix("windlass").unwrap();
    let lane = dir.path().join("lane");
    fs::create_dir(&lane).unwrap();
    // Four gigabytes at most, a little at a time.
    let write = format!(
        "import time\nfor n in range(400):\n open('{}/%d' % n, 'wb').write(bytes(10_000_000)); time.sleep(0.02)\nprint('all of it')",
        lane.display()
    );
    let disk = Disk { below: vec![lane.clone()], bytes: 100 * MB };
    let finished = limited(python(&write), Bounds { disk: Some(disk), ..Bounds::default() });
    assert_eq!(finished.ending, Ending::Exceeded(Resource::Disk));
    assert!(fs::read_dir(&lane).unwrap().count() > 9, "nothing of it was deleted");
}

#[test]
fn each_process_may_open_and_write_only_so_much() {
    let spawner = spawner();
    let dir = TempDir::with_prefix("windlass").unwrap();
    for level in Level::ALL {
        let sandbox = Sandbox::find(Wanted::Level(level), &tools(), &spawner).unwrap();
        let mut view = sandbox.view(&System::here());
        view.directory = "/".into();
        view.show(dir.path(), Access::Write);
        let bounds = Bounds { files: Some(40), file: Some(MB), ..Bounds::default() };
        let script = format!(
            "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
             print(resource.getrlimit(resource.RLIMIT_NOFILE), resource.getrlimit(resource.RLIMIT_CORE))\n\
             try: open('{}/big', 'wb').write(bytes(3_000_000)); print('written')\n\
             except OSError as error: print(error.strerror)",
            dir.path().display()
        );
        let finished = limited(python(&script).inside(&sandbox, view), bounds);
        assert_eq!(printed(&finished), "(40, 40) (0, 0)\nFile too large\n", "{level}");
    }
}

/// Groups of ours that are left in the trees that this process is in.
fn groups() -> Vec<String> {
    fn walk(dir: &Path, depth: u32, found: &mut Vec<String>) {
        for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if entry.file_name().to_string_lossy().starts_with("windlass-") {
                found.push(entry.path().display().to_string());
            }
            if depth < 6 {
                walk(&entry.path(), depth + 1, found);
            }
        }
    }
    let mut found = Vec::new();
    walk(Path::new("/sys/fs/cgroup"), 0, &mut found);
    found
}

#[test]
fn no_group_is_left_when_a_program_is_over() {
    let before = groups();
    let spawner = spawner();
    for script in ["exit 0", "kill -9 $$", "sleep 1000 & exit 0"] {
        let command = sh(script).limits(Limits { bounds: bounds(), ..grace(LONG) });
        let child = spawner.spawn(command).unwrap();
        let _ = child.wait().unwrap();
    }
    spawner.shut_down();
    // Other tests have groups of their own meanwhile: of those that are new, none may stay.
    let new: Vec<String> = groups().into_iter().filter(|group| !before.contains(group)).collect();
    let deadline = std::time::Instant::now() + LONG;
    while new.iter().any(|group| Path::new(group).exists()) {
        assert!(std::time::Instant::now() < deadline, "{new:?}");
        std::thread::yield_now();
    }
}
