//! What agents and checks see while they work: the lane, a home of their own, and of the machine what everybody may see.
//!
//! Everything in here is data for [`windlass_process::sandbox`]. The lane is at the same path in every invocation, where
//! the level allows that, so nothing that an agent is told varies with it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use windlass_agents::{CONFIGURATION, NEVER_DIRECTORIES};
use windlass_process::sandbox::{Access, Holds, Level, Sandbox, System, View};
use windlass_process::{Bounds, Command, Ending, Env, Finished, LimitedBy, Limits, Resource};

/// Where the lane is seen.
pub const LANE: &str = "/lane";
/// Where the home is seen.
const HOME: &str = "/home/windlass";

/// What of a lane's `.git` is not the agent's to change: its settings, what runs by itself, whose objects are borrowed.
const SETTLED: [&str; 3] = ["config", "info", "objects/info"];

/// How isolated a run's agents and checks are.
pub struct Isolation {
    sandbox: Sandbox,
    system: System,
    /// What everybody sees of the machine.
    common: View,
    /// What is shown besides, on top of everything but the lane.
    opened: View,
    /// What agents would read from a repository and do not.
    masked: Vec<&'static str>,
    /// Stands for a file that is masked.
    blank: PathBuf,
    /// Who holds programs to their limits.
    limited_by: LimitedBy,
}

/// What a person has said about it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Openings {
    /// Further files and directories that are seen.
    pub read: Vec<PathBuf>,
    /// Further files and directories that may be changed.
    pub write: Vec<PathBuf>,
    /// Agents' configuration in the repository that they are to have.
    pub unmask: Vec<String>,
}

impl Openings {
    /// Whether the whole machine is opened.
    pub fn open_everything(&self) -> bool {
        let mut all = self.read.iter().chain(&self.write);
        all.any(|path| fs::canonicalize(path).is_ok_and(|real| real.parent().is_none()))
    }

    /// What is to be seen and is not there.
    pub fn absent(&self) -> Vec<&Path> {
        let all = self.read.iter().chain(&self.write);
        all.filter(|path| !path.exists()).map(PathBuf::as_path).collect()
    }
}

/// How much of a lane is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// All of it, to be changed.
    Change,
    /// All of it, to be looked at.
    Look,
    /// Nothing but what is named.
    Named,
}

/// A work tree, and whose.
#[derive(Clone, Copy, Debug)]
pub struct Workspace<'a> {
    /// The work tree.
    pub work: &'a Path,
    /// The objects that its repository borrows.
    pub objects: &'a Path,
    /// A home and room for scratch files.
    pub quarters: &'a Path,
}

/// What an agent may do in a lane.
#[derive(Clone, Copy, Debug)]
pub struct Stay<'a> {
    /// How much of it is seen.
    pub sight: Sight,
    /// Files that it is shown, from the top.
    pub shown: &'a [String],
    /// Files and directories that it may change all the same, from the top.
    pub writable: &'a BTreeSet<PathBuf>,
    /// Paths of the machine that it was told of.
    pub told: &'a [PathBuf],
}

impl Isolation {
    /// With a sandbox that starts here, and what a person has opened besides. `dir` is ours; neither it nor the
    /// person's repository is shown because some program is beside it.
    ///
    /// # Errors
    ///
    /// When the file that stands for masked ones cannot be written.
    pub fn new(
        sandbox: Sandbox,
        openings: &Openings,
        dir: &Path,
        repository: &Path,
    ) -> io::Result<Self> {
        let hidden = [dir, repository].map(Path::to_owned).to_vec();
        let system = System { hidden, ..System::here() };
        let common = sandbox.view(&system);
        let mut opened = View::default();
        for path in &openings.read {
            opened.show(path, Access::Read);
        }
        for path in &openings.write {
            opened.show(path, Access::Write);
        }
        let wanted = |name: &&str| !openings.unmask.iter().any(|own| own == name);
        let masked = CONFIGURATION.iter().map(|(name, _)| *name).filter(wanted).collect();
        let blank = dir.join("blank.json");
        if fs::read(&blank).ok().as_deref() != Some(b"{}\n") {
            fs::create_dir_all(dir)?;
            fs::write(&blank, "{}\n")?;
        }
        let limited_by = LimitedBy::here();
        Ok(Isolation { sandbox, system, common, opened, masked, blank, limited_by })
    }

    /// The same, with one more directory to be read.
    #[must_use]
    pub fn showing(mut self, directory: Option<&Path>) -> Self {
        if let Some(directory) = directory {
            show_told(&mut self.opened, directory);
        }
        self
    }

    /// What is really in force, in words.
    pub fn in_words(&self) -> String {
        match self.sandbox.level() {
            Level::None => "none, as was asked for".to_owned(),
            Level::Landlock | Level::Bubblewrap => {
                format!("{}; network open; limits by {}", self.sandbox, self.limited_by)
            }
        }
    }

    /// What it is made with.
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Where a lane is seen.
    pub fn lane(&self, work: &Path) -> PathBuf {
        self.sandbox.seen_at(LANE, work)
    }

    /// Where the home in some quarters is, and where it is seen.
    pub fn home(&self, quarters_dir: &Path) -> [PathBuf; 2] {
        let [home, _] = quarters(quarters_dir);
        let seen = self.sandbox.seen_at(HOME, &home);
        [home, seen]
    }

    /// What an agent sees.
    pub fn of_agent(&self, space: Workspace<'_>, stay: Stay<'_>) -> View {
        let mut view = self.of_quarters(space);
        let lane = self.lane(space.work);
        match stay.sight {
            Sight::Change => {
                view.show_at(&lane, space.work, Access::Write);
                self.lay_git(&mut view, space);
            }
            Sight::Look => {
                view.show_at(&lane, space.work, Access::Read);
                view.show(space.objects, Access::Read);
            }
            Sight::Named => {
                if self.has_mounts() {
                    view.lay(&lane, Holds::Memory);
                }
                for path in stay.shown {
                    let from = space.work.join(path);
                    if is_plain_below(space.work, Path::new(path)) {
                        view.show_at(lane.join(path), from, Access::Read);
                    }
                }
            }
        }
        if stay.sight != Sight::Change {
            for path in stay.writable {
                let from = space.work.join(path);
                if is_plain_below(space.work, path) {
                    view.show_at(lane.join(path), from, Access::Write);
                }
            }
        }
        if stay.sight != Sight::Named {
            self.lay_masks(&mut view, space.work, stay.sight);
        }
        for path in stay.told {
            if let Some(packages) = packages_of(path).filter(|it| !self.system.would_tell(it))
                && !view.shows(&packages)
            {
                view.show(packages, Access::Read);
            }
            show_told(&mut view, path);
        }
        view.directory = lane;
        view
    }

    /// What a check sees: a clean checkout, to do with it what it likes.
    pub(crate) fn of_check(&self, space: Workspace<'_>) -> View {
        let mut view = self.of_quarters(space);
        let lane = self.lane(space.work);
        view.show_at(&lane, space.work, Access::Write);
        self.lay_git(&mut view, space);
        view.directory = lane;
        view
    }

    /// What a browser sees: a home, and what it is made of. Nothing of the work: it has that from the app.
    pub(crate) fn of_browser(&self, quarters: &Path, program: &Path) -> View {
        let mut view = self.of_quarters(Workspace { work: quarters, objects: quarters, quarters });
        // It is of little use without what lies beside it.
        let beside = program.parent().filter(|dir| dir.components().count() > 2);
        if let Some(beside) = beside.filter(|dir| !view.shows(dir)) {
            view.show(beside, Access::Read);
        }
        let [_, home] = self.home(quarters);
        view.directory = home;
        view
    }

    /// The machine, a home, and room for scratch files.
    fn of_quarters(&self, space: Workspace<'_>) -> View {
        let mut view = self.common.clone();
        let [home, scratch] = quarters(space.quarters);
        view.show_at(self.sandbox.seen_at(HOME, &home), &home, Access::Write);
        view.show_at(self.sandbox.seen_at("/tmp", &scratch), &scratch, Access::Write);
        if self.has_mounts() {
            view.lay("/var/tmp", Holds::Link("/tmp".into()));
        }
        // After the scratch files: what is opened may lie among the machine's own.
        view.places.extend(self.opened.places.iter().cloned());
        view
    }

    /// A lane's repository: history and branches to be added to, settings to be left alone.
    fn lay_git(&self, view: &mut View, space: Workspace<'_>) {
        view.show(space.objects, Access::Read);
        let (git, at) = (space.work.join(".git"), self.lane(space.work).join(".git"));
        if !self.has_mounts() || !is_plain(&git) {
            return;
        }
        // Laid on itself, so that it cannot be put aside for another.
        view.show_at(&at, &git, Access::Write);
        let objects = git.join("objects");
        if is_plain(&objects) {
            view.show_at(at.join("objects"), objects, Access::Write);
        }
        for name in SETTLED.into_iter().filter(|name| is_plain(&git.join(name))) {
            view.show_at(at.join(name), git.join(name), Access::Read);
        }
        view.lay(at.join("hooks"), Holds::Nothing);
    }

    /// What agents would read from a repository is not there, and cannot come to be there.
    fn lay_masks(&self, view: &mut View, work: &Path, sight: Sight) {
        if !self.has_mounts() {
            return;
        }
        let lane = self.lane(work);
        for name in &self.masked {
            let real = work.join(name);
            match fs::symlink_metadata(&real) {
                Ok(meta) if meta.is_dir() => view.lay(lane.join(name), Holds::Nothing),
                Ok(meta) if meta.is_file() => {
                    view.show_at(lane.join(name), &self.blank, Access::Read);
                }
                // What a link leads to is masked where it is, if it is in the lane: elsewhere it is not seen.
                Ok(_) => {
                    let inside = |to: PathBuf| Some(to.strip_prefix(work).ok()?.to_owned());
                    // What leads to where the lane is seen leads into it.
                    let seen = fs::read_link(&real)
                        .ok()
                        .and_then(|to| Some(work.join(to.strip_prefix(LANE).ok()?)));
                    match fs::canonicalize(seen.unwrap_or(real))
                        .ok()
                        .map(|to| (to.is_dir(), inside(to)))
                    {
                        Some((true, Some(to))) if to != Path::new("") => {
                            view.lay(lane.join(to), Holds::Nothing);
                        }
                        Some((false, Some(to))) => {
                            view.show_at(lane.join(to), &self.blank, Access::Read);
                        }
                        _ => {}
                    }
                }
                // What comes to be there is masked when the next one starts.
                Err(_) if NEVER_DIRECTORIES.contains(name) => {}
                // Git does not see an empty directory, so nothing of it is ever recorded.
                Err(_) if sight == Sight::Change => view.lay(lane.join(name), Holds::Nothing),
                Err(_) => {}
            }
        }
    }

    /// Takes away what was put into a lane to lay masks on.
    pub(crate) fn clear_masks(&self, work: &Path) {
        for name in &self.masked {
            // Only what is empty goes.
            let _ = fs::remove_dir(work.join(name));
        }
    }

    fn has_mounts(&self) -> bool {
        self.sandbox.level() == Level::Bubblewrap
    }

    /// The environment of a program that has these quarters.
    pub fn env(&self, env: Env, quarters_dir: &Path) -> Env {
        if self.sandbox.level() == Level::None {
            return env;
        }
        let [home, scratch] = quarters(quarters_dir);
        let mut env = env
            .set("HOME", self.sandbox.seen_at(HOME, &home))
            .set("TMPDIR", self.sandbox.seen_at("/tmp", &scratch));
        for (name, path) in self.system.variables() {
            env = env.set(name, path);
        }
        env
    }

    /// A command, as it is started here. Without walls and without limits there is nothing to be done for it.
    pub(crate) fn confine(&self, command: Command, limits: Limits, view: View) -> Command {
        let free = self.sandbox.level() == Level::None && limits.bounds == Bounds::default();
        let command = command.limits(limits);
        if free { command } else { command.inside(&self.sandbox, view) }
    }
}

/// What there was too much of, and where it is allowed.
pub(crate) fn too_much(resource: Resource) -> String {
    let (what, key) = in_words(resource);
    format!("took {what} (`[limits] {key}` in windlass.toml)")
}

/// What somebody took too much of, or what was too little for something that they had started, if anything was.
pub(crate) fn ran_short(finished: &Finished) -> Option<String> {
    if let Ending::Exceeded(resource) = finished.ending {
        return Some(format!("it {}", too_much(resource)));
    }
    let (what, key) = in_words(finished.short_of?);
    Some(format!(
        "the kernel ended something that it had started, for {what} (`[limits] {key}` in windlass.toml)"
    ))
}

fn in_words(resource: Resource) -> (&'static str, &'static str) {
    match resource {
        Resource::Processes => ("too many processes", "processes"),
        Resource::Memory => ("too much memory", "memory-mb"),
        Resource::Cpu => ("too much of the processor", "cpu-minutes"),
        Resource::Disk => ("too much of the disk", "disk-mb"),
    }
}

/// The home and the room for scratch files.
fn quarters(dir: &Path) -> [PathBuf; 2] {
    [dir.join("home"), dir.join("tmp")]
}

/// Makes quarters that nobody has been in.
///
/// # Errors
///
/// When what was there cannot be removed, or nothing can be made.
pub fn make_quarters(dir: &Path) -> io::Result<()> {
    remove(dir)?;
    for part in quarters(dir) {
        fs::create_dir_all(part)?;
    }
    Ok(())
}

/// Whether somebody's quarters are there.
pub(crate) fn are_quarters(dir: &Path) -> bool {
    quarters(dir).iter().all(|part| is_plain(part))
}

/// Removes a directory, whatever permissions somebody gave to what is in it.
pub fn remove(dir: &Path) -> io::Result<()> {
    let gone = |outcome: io::Result<()>| match outcome {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    };
    match gone(fs::remove_dir_all(dir)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            unlock(dir);
            gone(fs::remove_dir_all(dir))
        }
        outcome => outcome,
    }
}

/// Lets us into every directory below.
fn unlock(dir: &Path) {
    let _ = fs::set_permissions(dir, fs::Permissions::from_mode(0o700));
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            unlock(&entry.path());
        }
    }
}

/// Something that is there itself, and no link to something else.
fn is_plain(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir() || meta.is_file())
}

/// The same for everything on the way to a path below a directory.
fn is_plain_below(dir: &Path, path: &Path) -> bool {
    let mut at = dir.to_owned();
    path.components().all(|part| {
        at.push(part);
        is_plain(&at)
    })
}

/// What npm has installed together with a program, if it has installed it: a program is of little use without its packages.
fn packages_of(path: &Path) -> Option<PathBuf> {
    let real = fs::canonicalize(path).ok()?;
    let above = real.ancestors().filter(|dir| dir.ends_with("node_modules"));
    // Packages have packages of their own: the outermost has them all.
    above.last().map(Path::to_owned)
}

/// Shows what an agent was told of by its path: its program, its files.
fn show_told(view: &mut View, path: &Path) {
    if !path.is_absolute() {
        return;
    }
    let real = fs::canonicalize(path).ok();
    let mut paths = vec![path.to_owned()];
    paths.extend(real.clone());
    // A link stays one where nothing else is: many a program looks for its own beside what it leads to.
    if let Some(real) = real.filter(|real| real != path) {
        match room_for(view, path, &real) {
            Room::Free => view.lay(path, Holds::Link(real)),
            Room::Linked => {}
            Room::Taken => paths.push(path.to_owned()),
        }
        paths.remove(0);
    }
    for path in paths {
        if path.exists() && path.parent().is_some() && !view.shows(&path) {
            view.show(path, Access::Read);
        }
    }
}

/// Whether a link can be laid.
enum Room {
    Free,
    /// It is there: somebody goes on who was here before.
    Linked,
    Taken,
}

fn room_for(view: &View, path: &Path, real: &Path) -> Room {
    let on_top = view.places.iter().rev().find(|place| path.starts_with(&place.at));
    match on_top.map(|place| (&place.holds, path.strip_prefix(&place.at))) {
        None | Some((Holds::Memory | Holds::Devices, _)) => Room::Free,
        Some((Holds::Shown { from, access: Access::Write }, Ok(rest))) => {
            match fs::read_link(from.join(rest)) {
                Ok(to) if to == real => Room::Linked,
                Err(error) if error.kind() == io::ErrorKind::NotFound => Room::Free,
                Ok(_) | Err(_) => Room::Taken,
            }
        }
        Some(_) => Room::Taken,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_program_that_npm_installed_is_nothing_without_its_packages() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let own = top.join("node_modules/codex/node_modules/inner/bin");
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("codex.js"), "").unwrap();
        fs::write(top.join("plain"), "").unwrap();
        symlink(own.join("codex.js"), top.join("codex")).unwrap();
        assert_eq!(packages_of(&top.join("codex")), Some(top.join("node_modules")));
        assert_eq!(packages_of(&top.join("plain")), None);
        assert_eq!(packages_of(&top.join("not there")), None);
    }

    #[test]
    fn a_program_that_is_told_of_by_a_link_stays_a_link_where_there_is_room() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("real/bin")).unwrap();
        fs::write(top.join("real/bin/codex"), "").unwrap();
        symlink("real", top.join("link")).unwrap();
        let (told, real) = (top.join("link/bin/codex"), top.join("real/bin/codex"));
        let link = |view: &View| view.places.iter().any(|it| it.holds == Holds::Link(real.clone()));
        let mut view = View::default();
        show_told(&mut view, &told);
        assert!(link(&view) && view.shows(&real));
        // What is shown already is left as it is.
        let mut view = View::default();
        view.show(&top, Access::Read);
        show_told(&mut view, &told);
        assert!(!link(&view) && view.shows(&told));
        // Whoever goes on in quarters where the link was laid finds it there.
        let quarters = top.join("quarters");
        let mut view = View::default();
        view.show_at(&top, &quarters, Access::Write);
        show_told(&mut view, &told);
        assert!(link(&view));
        fs::create_dir_all(quarters.join("link/bin")).unwrap();
        symlink(&real, quarters.join("link/bin/codex")).unwrap();
        let mut view = View::default();
        view.show_at(&top, &quarters, Access::Write);
        show_told(&mut view, &told);
        assert!(!link(&view) && !view.shows(&told));
    }
}
