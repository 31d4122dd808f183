//! Control groups: the kernel itself holds a program, and everything that comes from it, to its limits.
//!
//! A group is made for each child that has limits, where this process may make one, and removed when the child is over.
//! Both versions are used as they are found: of the first each controller has a tree of its own, of the second all of
//! them share one. A group of ours is called by its child's token, so that whoever comes after a killed Windlass knows
//! what to remove.

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
    sync::mpsc::{Sender, channel},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    bounds::{Bounds, Resource},
    token::{Brand, Token},
};

/// What groups of ours are called, before their token.
pub(crate) const PREFIX: &str = "windlass-";
/// How long a group may take to be empty after everybody in it has ended.
const PATIENCE: Duration = Duration::from_secs(2);

/// Who holds programs to what they may take of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitedBy {
    /// The kernel, by control groups of this version.
    Groups(u32),
    /// Somebody who looks again and again.
    Looking,
}

impl LimitedBy {
    /// As it is for this process.
    pub fn here() -> LimitedBy {
        let trial = Brand::draw().map(|brand| brand.token(0));
        let version = trial.ok().and_then(|trial| Groups::find(trial).version());
        version.map_or(LimitedBy::Looking, LimitedBy::Groups)
    }
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LimitedBy::Groups(version) => write!(f, "cgroup v{version}"),
            LimitedBy::Looking => f.write_str("looking, without cgroups"),
        }
    }
}

/// Where groups can be made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    trees: Vec<Tree>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Tree {
    kind: Kind,
    /// The group below which ours are made.
    dir: PathBuf,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Pids,
    Memory,
    Cpuacct,
    /// The second version, which has everything.
    Unified,
}

/// A group of one child.
#[derive(Debug)]
pub(crate) struct Group {
    trees: Vec<Tree>,
    bounds: Bounds,
}

impl Groups {
    /// Looks where this process may make groups, by making one.
    pub(crate) fn find(trial: Token) -> Groups {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let trees = trees(&read("/proc/self/mountinfo"), &read("/proc/self/cgroup"));
        let usable: Vec<Tree> = trees.into_iter().filter_map(|tree| tree.usable(trial)).collect();
        // Where the second version has everything, nothing of the first is needed.
        let unified = usable.iter().find(|tree| tree.kind == Kind::Unified).cloned();
        Groups { trees: unified.map_or(usable, |tree| vec![tree]) }
    }

    /// Which version there is, if processes and memory can be limited with it.
    pub(crate) fn version(&self) -> Option<u32> {
        let has = |kind| self.trees.iter().any(|tree| tree.kind == kind);
        if has(Kind::Unified) {
            Some(2)
        } else if has(Kind::Pids) && has(Kind::Memory) {
            Some(1)
        } else {
            None
        }
    }

    /// The directories below which groups are made.
    pub(crate) fn dirs(&self) -> impl Iterator<Item = &Path> {
        self.trees.iter().map(|tree| tree.dir.as_path())
    }

    /// Makes a group for a child.
    pub(crate) fn make(&self, token: Token, bounds: &Bounds) -> io::Result<Option<Group>> {
        if self.version().is_none() || !bounds.are_watched() {
            return Ok(None);
        }
        let own = |tree: &Tree| Tree { dir: tree.dir.join(format!("{PREFIX}{token}")), ..*tree };
        let group = Group { trees: self.trees.iter().map(own).collect(), bounds: bounds.clone() };
        for tree in &group.trees {
            fs::create_dir(&tree.dir)?;
            tree.limit(bounds)?;
        }
        Ok(Some(group))
    }
}

impl Tree {
    /// The same, or the nearest one above it, if a group can be made there that has what it should.
    fn usable(self, trial: Token) -> Option<Tree> {
        // A group with processes in it can have no limited groups below it, in the second version; beside it there may
        // be room. Who may write there at all has been given the place to do so.
        let above = match self.kind {
            Kind::Unified => 3,
            Kind::Pids | Kind::Memory | Kind::Cpuacct => 1,
        };
        self.dir.ancestors().take(above).find_map(|dir| {
            let tried = dir.join(format!("{PREFIX}{trial}"));
            fs::create_dir(&tried).ok()?;
            let has = |name: &str| OpenOptions::new().write(true).open(tried.join(name)).is_ok();
            let works = has("cgroup.procs")
                && match self.kind {
                    Kind::Pids => has("pids.max"),
                    Kind::Memory => has("memory.limit_in_bytes"),
                    Kind::Cpuacct => tried.join("cpuacct.usage").exists(),
                    Kind::Unified => has("pids.max") && has("memory.max"),
                };
            let _ = fs::remove_dir(&tried);
            works.then(|| Tree { dir: dir.to_owned(), ..self })
        })
    }

    fn limit(&self, bounds: &Bounds) -> io::Result<()> {
        let write = |name: &str, value: u64| fs::write(self.dir.join(name), value.to_string());
        if let (Kind::Pids | Kind::Unified, Some(processes)) = (self.kind, bounds.processes) {
            write("pids.max", processes)?;
        }
        let Some(memory) = bounds.memory else { return Ok(()) };
        match self.kind {
            Kind::Memory => {
                write("memory.limit_in_bytes", memory)?;
                // Where the kernel counts what is swapped out at all.
                let _ = write("memory.memsw.limit_in_bytes", memory);
            }
            Kind::Unified => {
                write("memory.max", memory)?;
                let _ = write("memory.swap.max", 0);
                // Whoever is short of memory ends as a whole.
                let _ = write("memory.oom.group", 1);
            }
            Kind::Pids | Kind::Cpuacct => {}
        }
        Ok(())
    }

    /// A number behind a word in a file of the kernel's; the only one, if the word is empty.
    fn number(&self, name: &str, word: &str) -> u64 {
        let text = fs::read_to_string(self.dir.join(name)).unwrap_or_default();
        let behind = |line: &str| line.strip_prefix(word)?.trim().parse().ok();
        text.lines().find_map(behind).unwrap_or(0)
    }
}

impl Group {
    /// Files to write a nought into for whoever wants to be in the group.
    pub(crate) fn doors(&self) -> io::Result<Vec<OwnedFd>> {
        let door = |tree: &Tree| {
            let file: File = OpenOptions::new().write(true).open(tree.dir.join("cgroup.procs"))?;
            Ok(file.into())
        };
        self.trees.iter().map(door).collect()
    }

    /// What there was too much of so far.
    pub(crate) fn exceeded(&self) -> Option<Resource> {
        let counts = |name: &str, word: &str, kinds: &[Kind]| {
            let trees = self.trees.iter().filter(|tree| kinds.contains(&tree.kind));
            trees.map(|tree| tree.number(name, word)).max().unwrap_or(0)
        };
        if counts("memory.events", "oom_kill ", &[Kind::Unified]) > 0
            || counts("memory.oom_control", "oom_kill ", &[Kind::Memory]) > 0
        {
            return Some(Resource::Memory);
        }
        if counts("pids.events", "max ", &[Kind::Pids, Kind::Unified]) > 0 {
            return Some(Resource::Processes);
        }
        let nanos = Duration::from_nanos(counts("cpuacct.usage", "", &[Kind::Cpuacct]));
        let micros = Duration::from_micros(counts("cpu.stat", "usage_usec ", &[Kind::Unified]));
        let used = nanos.max(micros);
        self.bounds.cpu.is_some_and(|cap| used > cap).then_some(Resource::Cpu)
    }

    /// Ends everybody in it. Nobody new is let in first, so this comes to an end.
    pub(crate) fn kill(&self) {
        for tree in &self.trees {
            let _ = fs::write(tree.dir.join("pids.max"), "0");
            let _ = fs::write(tree.dir.join("cgroup.kill"), "1");
        }
        kill_members(self.trees.iter().map(|tree| tree.dir.as_path()));
    }
}

/// Removes groups whose children are over. The last of their processes may still be on its way out: the kernel takes its
/// time with namespaces after a process has ended, and nobody is to wait for that.
pub(crate) struct Undertaker {
    groups: Option<Sender<Group>>,
    thread: Option<JoinHandle<()>>,
}

impl Undertaker {
    pub(crate) fn new() -> Undertaker {
        Undertaker { groups: None, thread: None }
    }

    /// Takes a group over.
    pub(crate) fn take(&mut self, group: Group) {
        if self.groups.is_none() {
            let (groups, left) = channel::<Group>();
            let bury = move || left.into_iter().for_each(drop);
            self.thread = thread::Builder::new().name("cgroups".to_owned()).spawn(bury).ok();
            self.groups = self.thread.is_some().then_some(groups);
        }
        match &self.groups {
            // It comes back if nobody is there, and is dropped here.
            Some(groups) => drop(groups.send(group)),
            None => drop(group),
        }
    }
}

impl Drop for Undertaker {
    fn drop(&mut self) {
        drop(self.groups.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let deadline = Instant::now() + PATIENCE;
        for tree in &self.trees {
            remove(&tree.dir, deadline);
        }
    }
}

/// Removes a group as soon as nobody is in it any more, and ends whoever stays.
fn remove(dir: &Path, deadline: Instant) {
    loop {
        match fs::remove_dir(dir) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                kill_members(std::iter::once(dir));
            }
            _ => return,
        }
        if Instant::now() >= deadline {
            return;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Kills whoever is in these groups.
fn kill_members<'d>(dirs: impl Iterator<Item = &'d Path>) {
    for dir in dirs {
        let procs = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
        for pid in procs.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// Removes what a spawner of this brand has left behind below a directory. Says what could not be removed.
pub(crate) fn sweep(dir: &Path, is_theirs: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let name = entry.file_name();
        name.to_str().and_then(|name| name.strip_prefix(PREFIX)).is_some_and(&is_theirs)
    });
    let deadline = Instant::now() + PATIENCE;
    let left = named.map(|entry| entry.path()).filter(|group| {
        remove(group, deadline);
        group.exists()
    });
    left.collect()
}

/// The groups that this process is in, in trees that matter.
fn trees(mounts: &str, own: &str) -> Vec<Tree> {
    let mut trees = Vec::new();
    for line in mounts.lines() {
        // 36 35 98:0 /root /mount/point options - type source super-options
        let Some((left, right)) = line.split_once(" - ") else { continue };
        let mut left = left.split(' ').skip(3);
        let (Some(root), Some(point)) = (left.next(), left.next()) else { continue };
        let mut right = right.split(' ');
        let version = right.next().unwrap_or_default();
        let controllers = right.nth(1).unwrap_or_default();
        let kinds: &[(Kind, &str)] = match version {
            "cgroup2" => &[(Kind::Unified, "")],
            "cgroup" => {
                &[(Kind::Pids, "pids"), (Kind::Memory, "memory"), (Kind::Cpuacct, "cpuacct")]
            }
            _ => continue,
        };
        for (kind, controller) in kinds {
            let listed = |list: &str| list.split(',').any(|own| own == *controller);
            if !controller.is_empty() && !listed(controllers) {
                continue;
            }
            // 4:memory:/a/group, or 0::/a/group
            let path = own.lines().find_map(|line| {
                let mut parts = line.splitn(3, ':').skip(1);
                let (list, path) = (parts.next()?, parts.next()?);
                listed(list).then_some(path)
            });
            let Some(path) = path else { continue };
            let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
            trees.push(Tree { kind: *kind, dir: Path::new(point).join(below) });
        }
    }
    trees
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_found_in_both_versions() {
        let mounts = "\
29 23 0:25 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
31 23 0:27 /docker/abc /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
32 23 0:28 / / rw - ext4 /dev/sda1 rw,pids
";
        let own = "4:memory:/some/where\n3:cpu,cpuacct:/docker/abc/def\n0::/user.slice/me\n";
        let found: Vec<_> =
            trees(mounts, own).into_iter().map(|tree| (tree.kind, tree.dir)).collect();
        assert_eq!(
            found,
            [
                (Kind::Unified, PathBuf::from("/sys/fs/cgroup/unified/user.slice/me")),
                (Kind::Memory, "/sys/fs/cgroup/memory/some/where".into()),
                (Kind::Cpuacct, "/sys/fs/cgroup/cpu,cpuacct/def".into()),
            ]
        );
    }

    #[test]
    fn without_a_tree_that_limits_there_is_no_version() {
        let tree = |kind| Tree { kind, dir: "/x".into() };
        let version = |kinds: &[Kind]| {
            Groups { trees: kinds.iter().map(|kind| tree(*kind)).collect() }.version()
        };
        assert_eq!(version(&[]), None);
        assert_eq!(version(&[Kind::Pids]), None);
        assert_eq!(version(&[Kind::Pids, Kind::Memory]), Some(1));
        assert_eq!(version(&[Kind::Unified]), Some(2));
    }
}
