//! Power failures: what was not synced may be lost, or torn, or on the disk all the same.
//!
//! A writer is recorded: every write, sync, creation, renaming, removal, and every word in which
//! it acknowledged something. From the record a disk is made as it might look after the power
//! failed at any moment. Synced bytes are there; of the others each write is there, is not, or is
//! cut at a sector. Names that no directory sync made durable are there up to some point.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    actor::{self, Actor},
    crashes, library,
    scene::{Scene, noise},
};

const SECTOR: usize = 512;

/// One thing that the writer did.
#[derive(Debug)]
enum Deed {
    Write {
        path: PathBuf,
        at: usize,
        bytes: Vec<u8>,
    },
    Truncate {
        path: PathBuf,
        len: usize,
    },
    Sync(PathBuf),
    Create(PathBuf),
    MakeDir(PathBuf),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf),
    /// It acknowledged so many events.
    Said(u64),
}

fn read_record(record: &[u8]) -> Vec<Deed> {
    let mut deeds = Vec::new();
    let mut rest = record;
    while !rest.is_empty() {
        let end = rest.iter().position(|&byte| byte == b'\n').expect("a header");
        let header = str::from_utf8(&rest[..end]).expect("text");
        let words: Vec<&str> = header.splitn(4, ' ').collect();
        let (at, len): (i64, usize) =
            (words[1].parse().expect("a number"), words[2].parse().expect("a number"));
        let path = PathBuf::from(words[3]);
        let bytes = rest[end + 1..end + 1 + len].to_vec();
        rest = &rest[end + 1 + len..];
        let at_or_len = usize::try_from(at).unwrap_or(0);
        deeds.push(match words[0] {
            "W" if path.starts_with("/") => Deed::Write { path, at: at_or_len, bytes },
            // A pipe: what the writer says.
            "W" => match acknowledgement(&bytes) {
                Some(events) => Deed::Said(events),
                None => continue,
            },
            "T" => Deed::Truncate { path, len: at_or_len },
            "S" => Deed::Sync(path),
            "C" => Deed::Create(path),
            "D" => Deed::MakeDir(path),
            "U" => Deed::Unlink(path),
            "R" => Deed::Rename(path, PathBuf::from(String::from_utf8(bytes).expect("text"))),
            other => panic!("no such record: {other}"),
        });
    }
    deeds
}

fn acknowledgement(said: &[u8]) -> Option<u64> {
    str::from_utf8(said).ok()?.trim().strip_prefix('@')?.parse().ok()
}

/// A choice after another, always the same for a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).expect("small")
    }
}

/// What a file holds for certain, and what was done to it since.
#[derive(Default)]
struct Inode {
    synced: Vec<u8>,
    pending: Vec<Change>,
}

enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate(usize),
}

impl Inode {
    fn sync(&mut self) {
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.synced);
        }
    }

    fn after_failure(&self, dice: &mut Dice) -> Vec<u8> {
        let mut content = self.synced.clone();
        for change in &self.pending {
            match (dice.below(3), change) {
                (0, _) => {}
                (1, Change::Write { at, bytes }) if bytes.len() > SECTOR => {
                    let sectors = dice.below(bytes.len() / SECTOR);
                    let bytes = bytes[..sectors * SECTOR].to_vec();
                    Change::Write { at: *at, bytes }.apply(&mut content);
                }
                (_, change) => change.apply(&mut content),
            }
        }
        content
    }
}

impl Change {
    fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Change::Truncate(len) => content.resize(*len, 0),
            Change::Write { at, bytes } => {
                let end = at + bytes.len();
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

type Names = BTreeMap<PathBuf, usize>;

/// A change to the names in a directory.
#[derive(Clone)]
enum Naming {
    Add(PathBuf, usize),
    Remove(PathBuf),
}

impl Naming {
    fn apply(&self, names: &mut Names) {
        match self {
            Naming::Add(path, inode) => names.insert(path.clone(), *inode),
            Naming::Remove(path) => names.remove(path),
        };
    }

    fn dir(&self) -> Option<&Path> {
        match self {
            Naming::Add(path, _) | Naming::Remove(path) => path.parent(),
        }
    }
}

/// A disk below one directory.
#[derive(Default)]
struct Disk {
    inodes: Vec<Inode>,
    /// As processes see them.
    names: Names,
    /// As a failure leaves them at the least.
    synced: Names,
    pending: Vec<Naming>,
    said: u64,
}

impl Disk {
    fn name(&mut self, naming: Naming) {
        naming.apply(&mut self.names);
        self.pending.push(naming);
    }

    fn inode(&mut self, path: &Path) -> Option<&mut Inode> {
        self.names.get(path).map(|&inode| &mut self.inodes[inode])
    }

    fn apply(&mut self, deed: &Deed) {
        match deed {
            Deed::Said(events) => self.said = *events,
            Deed::Write { path, at, bytes } => {
                if let Some(inode) = self.inode(path) {
                    inode.pending.push(Change::Write { at: *at, bytes: bytes.clone() });
                }
            }
            Deed::Truncate { path, len } => {
                if let Some(inode) = self.inode(path) {
                    inode.pending.push(Change::Truncate(*len));
                }
            }
            Deed::Create(path) => {
                self.inodes.push(Inode::default());
                self.name(Naming::Add(path.clone(), self.inodes.len() - 1));
            }
            Deed::Unlink(path) => self.name(Naming::Remove(path.clone())),
            Deed::Rename(from, to) => {
                if let Some(&inode) = self.names.get(from) {
                    self.name(Naming::Remove(from.clone()));
                    self.name(Naming::Add(to.clone(), inode));
                }
            }
            // Directories are there when something in them is.
            Deed::MakeDir(_) => {}
            Deed::Sync(path) => match self.inode(path) {
                Some(inode) => inode.sync(),
                None => self.sync_dir(path),
            },
        }
    }

    fn sync_dir(&mut self, dir: &Path) {
        let (durable, pending) = std::mem::take(&mut self.pending)
            .into_iter()
            .partition(|naming: &Naming| naming.dir() == Some(dir));
        self.pending = pending;
        let durable: Vec<Naming> = durable;
        durable.iter().for_each(|naming| naming.apply(&mut self.synced));
    }

    /// The files as they might be after a failure now.
    fn after_failure(&self, dice: &mut Dice) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut names = self.synced.clone();
        let reached = dice.below(self.pending.len() + 1);
        self.pending[..reached].iter().for_each(|naming| naming.apply(&mut names));
        let content = |inode: usize, dice: &mut Dice| self.inodes[inode].after_failure(dice);
        names.into_iter().map(|(path, inode)| (path, content(inode, dice))).collect()
    }
}

/// Records a writer from its first file on, until it has closed its journal properly.
fn recorded() -> (PathBuf, Vec<Deed>) {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let library = library::compile("recorder.c", temp.path());
    let record = temp.path().join("record");
    let dir = temp.path().join("state/repo");
    let mut command = actor::command("write", &dir, "asked");
    command.env("LD_PRELOAD", &library).env("RECORD_TO", &record);
    let mut actor = Actor::start_by(command);
    for _ in 0..8 {
        actor.listen().expect("it goes on");
        actor.tell("go on");
    }
    assert!(actor.end().success());
    let deeds = read_record(&fs::read(record).expect("a record"));
    let inside = |deed: &Deed| match deed {
        Deed::Write { path, .. } | Deed::Truncate { path, .. } => path.starts_with(&dir),
        Deed::Create(path) | Deed::Unlink(path) | Deed::Rename(path, _) => path.starts_with(&dir),
        Deed::Sync(path) | Deed::MakeDir(path) => path.starts_with(&dir),
        Deed::Said(_) => true,
    };
    // The index of the log is made anew each time it is opened after a failure.
    let index = |deed: &Deed| format!("{deed:?}").contains("journal.db-shm");
    let deeds = deeds.into_iter().filter(|deed| inside(deed) && !index(deed)).collect();
    (dir, deeds)
}

mod slow {
    use super::*;

    #[test]
    fn whenever_the_power_fails_what_was_acknowledged_is_there() {
        const FAILURES: usize = 150;
        let (dir, deeds) = recorded();
        let mut dice = Dice(2026);
        let mut moments: Vec<usize> = (0..FAILURES).map(|_| dice.below(deeds.len())).collect();
        moments.sort_unstable();
        let mut disk = Disk::default();
        let (mut done, mut with_events) = (0, 0);
        for moment in moments {
            deeds[done..moment].iter().for_each(|deed| disk.apply(deed));
            done = moment;
            let scene = Scene::new();
            for (path, content) in disk.after_failure(&mut dice) {
                let path = scene.dir().join(path.strip_prefix(&dir).expect("inside"));
                fs::create_dir_all(path.parent().expect("a parent")).expect("created");
                fs::write(path, content).expect("written");
            }
            // Before the first word there may be no run at all.
            if disk.said > 0 {
                crashes::check(&scene, disk.said);
                with_events += 1;
            } else {
                drop(scene.open());
            }
        }
        assert!(with_events > FAILURES / 2, "{with_events} of {FAILURES} after something was said");
    }
}

#[test]
fn a_disk_forgets_what_was_not_synced() {
    let path = |name: &str| PathBuf::from(format!("/d/{name}"));
    let write =
        |name: &str, seed: u64| Deed::Write { path: path(name), at: 0, bytes: noise(seed, 4096) };
    let mut disk = Disk::default();
    for deed in [
        Deed::Create(path("a")),
        write("a", 1),
        Deed::Sync(path("a")),
        Deed::Sync("/d".into()),
        write("a", 2),
        Deed::Create(path("b")),
        write("b", 3),
        Deed::Sync(path("b")),
    ] {
        disk.apply(&deed);
    }
    let (mut changed, mut torn, mut named) = (0, 0, 0);
    for seed in 1..100 {
        let files = disk.after_failure(&mut Dice(seed * 0x9e37_79b9));
        let a = &files[&path("a")];
        changed += usize::from(*a != noise(1, 4096));
        torn += usize::from(*a != noise(1, 4096) && *a != noise(2, 4096));
        named += usize::from(files.contains_key(&path("b")));
        assert!(files.get(&path("b")).is_none_or(|b| *b == noise(3, 4096)));
    }
    assert!(changed > 30 && torn > 10 && named > 20 && named < 80, "{changed} {torn} {named}");
}
