//! The disk is full, or cannot be written, at each write of the story. Then it says so and stops; when there is room
//! again it goes on.
//!
//! The story takes place on a small disk in memory. To have one it is told by a process with mounts of its own.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::copies::stopping;
use crate::place::{Place, Seen, Tale, ended};
use crate::results::Results;
use crate::{Dice, part};

/// What the process with mounts of its own is to do.
const TASK: &str = "WINDLASS_STORM_DISK";

/// What is wrong with the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It is full.
    Full,
    /// The repository cannot be written; the state can.
    ReadOnly,
}

/// Small disks.
struct Disks {
    /// The repository and the state.
    all: PathBuf,
    /// Just the repository.
    repo: PathBuf,
    /// Neither: the agent, its tally, and sockets.
    beside: PathBuf,
}

impl Disks {
    fn new(dir: &Path) -> Disks {
        let disks = Disks {
            all: dir.join("disk"),
            repo: dir.join("disk/repo"),
            beside: dir.join("beside"),
        };
        fs::create_dir_all(&disks.all).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=48m", "small", disks.all.to_str().unwrap()]);
        fs::create_dir(&disks.repo).unwrap();
        mount(&["-t", "tmpfs", "-o", "size=16m", "repo", disks.repo.to_str().unwrap()]);
        disks
    }

    /// Everything is gone, and a new story can be told.
    fn clear(&self) -> Place {
        for dir in [&self.repo, &self.all, &self.beside] {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                if entry.path() != self.repo {
                    let path = entry.path();
                    let gone = if path.is_dir() {
                        fs::remove_dir_all(&path)
                    } else {
                        fs::remove_file(&path)
                    };
                    gone.unwrap();
                }
            }
        }
        Place::on_disk(Tale::Tasks, &self.beside, &self.all)
    }

    /// Whether it is broken now. While somebody writes a file, its disk cannot be made read-only.
    fn break_it(&self, fault: Fault) -> bool {
        match fault {
            Fault::Full => [&self.all, &self.repo].into_iter().for_each(|dir| fill(dir)),
            Fault::ReadOnly => {
                let args = ["-o", "remount,ro", self.repo.to_str().unwrap()];
                let (code, said) = ended(Command::new("mount").args(args).output().unwrap());
                if said.contains("busy") {
                    return false;
                }
                assert_eq!(code, Some(0), "mount {args:?}: {said}");
            }
        }
        true
    }

    fn mend(&self, fault: Fault) {
        match fault {
            Fault::Full => {
                for dir in [&self.all, &self.repo] {
                    fs::remove_file(dir.join(FILLER)).unwrap();
                }
            }
            Fault::ReadOnly => mount(&["-o", "remount,rw", self.repo.to_str().unwrap()]),
        }
    }

    /// Tells the story with a fault from this failpoint on. Says what was wrong with what came of it.
    fn told_with(&self, whole: &Seen, fault: Fault, at: usize) -> Option<String> {
        let place = self.clear();
        fs::write(self.repo.join(".git/info/exclude"), FILLER).unwrap();
        let (mut point, mut broken) = (0, false);
        let (code, said) =
            stopping(&mut place.start(), &self.beside.join("socket"), |thread, step, side| {
                if writes(fault, &thread, &step, &side) {
                    if point >= at && !broken {
                        broken = self.break_it(fault);
                    }
                    point += 1;
                }
            });
        if broken {
            self.mend(fault);
        }
        // It may have been all but over by then: that is fine too.
        let unclear = match code {
            Some(8 | 0) => None,
            Some(_) => {
                let names_it = ["full", "No space", "Read-only", "read-only"];
                // Without a run there is nothing to resume yet.
                let next = said.contains("windlass resume storm-1") || place.entries().is_empty();
                // What to do is said, and not only what git was told.
                let next =
                    next && ["make room", "make it writable"].iter().any(|it| said.contains(it));
                let clear = names_it.iter().any(|word| said.contains(word)) && next;
                (!clear || said.contains("panicked")).then(|| format!("unclear: {said}"))
            }
            None => Some(format!("it was killed: {said}")),
        };
        let wrong = unclear.or_else(|| match place.finish() {
            Err(why) => Some(format!("{why}\nafter: {said}")),
            Ok(()) => place.compare(whole, 1),
        });
        wrong.map(|wrong| format!("{fault:?} at write {at}: {wrong}"))
    }
}

/// The failpoints before something that a fault of this kind can meet.
fn writes(fault: Fault, thread: &str, step: &str, side: &str) -> bool {
    const LOOKS: [&str; 10] = [
        "version",
        "find.",
        "sync.heads",
        "mirror.present",
        "file-at",
        "names-at",
        "tree-of",
        "is-ancestor",
        "changes",
        "record.ls-files",
    ];
    let looks = LOOKS.iter().any(|look| step.starts_with(look));
    let theirs = fault == Fault::Full || thread.starts_with("land");
    side == "before" && !looks && theirs
}

const FILLER: &str = "filler";

/// To the last byte.
fn fill(dir: &Path) {
    let mut file = fs::File::create(dir.join(FILLER)).unwrap();
    let mut size = 1 << 20;
    while size > 0 {
        if file.write_all(&vec![b'x'; size]).is_err() {
            size /= 2;
        }
    }
}

fn mount(args: &[&str]) {
    let output = Command::new("mount").args(args).output().unwrap();
    let (code, said) = ended(output);
    assert_eq!(code, Some(0), "mount {args:?}: {said}");
}

/// Starts this test again, with mounts of its own.
fn inside(task: &str) {
    let dir = tempfile::tempdir().unwrap();
    let own = if nix::unistd::geteuid().is_root() { "-m" } else { "-Urm" };
    let mut command = Command::new("unshare");
    command.arg(own).arg(std::env::current_exe().unwrap());
    command.args(["--exact", "disk::slow::with_mounts_of_its_own", "--nocapture"]);
    let output = command.env(TASK, task).env("WINDLASS_STORM_DIR", dir.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (code, errors) = ended(output);
    assert_eq!(code, Some(0), "{said}\n{errors}");
}

mod slow {
    use super::*;

    #[test]
    fn on_a_full_or_read_only_disk_a_few_writes_wait_for_room() {
        inside("some");
    }

    #[test]
    #[ignore = "takes long: scripts/storm"]
    fn on_a_full_or_read_only_disk_every_write_waits_for_room() {
        inside("all");
    }

    /// Without being told to, it has nothing to do.
    #[test]
    fn with_mounts_of_its_own() {
        let (Ok(task), Some(dir)) = (std::env::var(TASK), std::env::var_os("WINDLASS_STORM_DIR"))
        else {
            return;
        };
        let disks = Disks::new(Path::new(&dir));
        let place = disks.clear();
        fs::write(disks.repo.join(".git/info/exclude"), FILLER).unwrap();
        let mut writes_of = [(Fault::Full, 0), (Fault::ReadOnly, 0)];
        let socket = disks.beside.join("socket");
        stopping(&mut place.start(), &socket, |thread, step, side| {
            for (fault, count) in &mut writes_of {
                *count += usize::from(writes(*fault, &thread, &step, &side));
            }
        });
        place.finish().unwrap();
        let whole = place.seen();
        let (part, parts) = part();
        let mut results = Results::open(&format!("disk-{part}-of-{parts}"));
        let mut wrong = Vec::new();
        for (fault, count) in writes_of {
            assert!(count > 20, "{fault:?}: {count} writes");
            let all = task == "all";
            let picked = if all { (0..count).collect() } else { Dice::new(7).sample(count, 2) };
            for at in picked.into_iter().filter(|at| !all || at % parts == part) {
                let point = format!("{at} {fault:?} of {count}");
                if all && results.has(&point) {
                    continue;
                }
                let found = disks.told_with(&whole, fault, at);
                if all {
                    results.add(&point, found.as_deref(), &[]);
                }
                wrong.extend(found);
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}
