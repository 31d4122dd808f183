//! The `.git` of a lane or a clean checkout: for the agent and its tools, never for us.
//!
//! A coding agent wants to look at history and differences, many test tools ask git where they are,
//! and an agent may commit, stash and branch as it likes. So the `.git` in a work tree is a real
//! repository, made afresh whenever we put the work tree right, without remotes or credentials, and
//! borrowing the history from the mirror. Nothing we do depends on it: we read from it only which
//! commits the agent made, and those are kept as provenance (`provenance.rs`).

use std::{
    fs,
    io::{self, Read as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt as _},
    path::Path,
};

use rustix::fs::OFlags;

use crate::{
    brought,
    error::{Doing, RepoError},
    extras,
    objects::file_in,
    oid::Oid,
    person::Person,
    provenance,
    reopen::reopen,
    shadow,
    store::{Skeleton, Store, alternates, core_config},
    work::Work,
};

/// What the branch of a lane is called, unless its workflow calls it otherwise: what an agent sees
/// of git is not to differ from lane to lane.
pub(crate) const LANE: &str = "lane";

/// The files of a `.git` besides its branch.
const FILES: &[&str] = &["HEAD", "config", "index", "info/exclude", "objects/info/alternates"];
const DIRS: &[&str] =
    &["hooks", "info", "objects", "objects/info", "objects/pack", "refs", "refs/heads"];

/// What a `.git` is made with.
pub(crate) struct DotGit<'d> {
    /// The commit that it is on.
    pub head: &'d Oid,
    /// The tree whose files are there, and which its index names.
    pub held: &'d Oid,
    /// The branch that is checked out, without `refs/heads/`.
    pub branch: &'d str,
    /// Who commits there, unless they say otherwise.
    pub person: &'d Person,
}

impl Store {
    fn dot_git_config(&self, person: &Person) -> String {
        let text = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            "{}\tbare = false\n\tlogAllRefUpdates = true\n[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n\
             [user]\n\tname = \"{}\"\n\temail = \"{}\"\n",
            core_config(self.repository.format()),
            text(person.name()),
            text(person.email()),
        )
    }

    /// Makes the `.git` of a work tree that was just put right.
    pub(crate) fn make_dot_git(&self, work: &Work<'_>, made: &DotGit<'_>) -> Result<(), RepoError> {
        self.put_dot_git(work, made)?;
        self.lend_files(made, &work.dir.join(".git"))
    }

    /// The same, with what was committed alone.
    fn put_dot_git(&self, work: &Work<'_>, made: &DotGit<'_>) -> Result<(), RepoError> {
        let old = work.dir.join(".git");
        let config = self.dot_git_config(made.person);
        let mirror = self.mirror_objects();
        let skeleton = Skeleton { config: &config, borrowed: &[&mirror] };
        if self.is_pristine(&old, &config, made.branch) && self.is_lent(made.head)? {
            // Making files is what takes long, so those that are there serve again.
            return self.fill_dot_git(&old, work, made);
        }
        if let Ok(meta) = old.symlink_metadata() {
            // What a symbolic link points to is left alone.
            let gone = if meta.is_dir() { remove_closed(&old) } else { fs::remove_file(&old) };
            gone.doing("removed", &old)?;
        }
        let beside = work.dir.with_file_name("dotgit.new");
        skeleton.make("dotgit.rename", &beside, &old, |dir| {
            self.fill_dot_git(dir, work, made)?;
            self.lend(made.head, dir)
        })
    }

    fn fill_dot_git(
        &self,
        dir: &Path,
        work: &Work<'_>,
        made: &DotGit<'_>,
    ) -> Result<(), RepoError> {
        let write = |path: &str, bytes: &[u8]| {
            let path = dir.join(path);
            fs::write(&path, bytes).doing("written", &path)
        };
        write("HEAD", points_to(made.branch).as_bytes())?;
        let branch = format!("refs/heads/{}", made.branch);
        if let Some(above) = dir.join(&branch).parent() {
            fs::create_dir_all(above).doing("made", above)?;
        }
        write(&branch, format!("{}\n", made.head).as_bytes())?;
        write("info/exclude", &self.exclude())?;
        let index = dir.join("index");
        fs::copy(&work.index, &index).doing("written", &index)?;
        Ok(())
    }

    fn exclude(&self) -> Vec<u8> {
        let extras = self.settings.extras.iter().flat_map(|extra| extras::exclude_line(extra));
        let never = if self.repository.has_git() { vec![] } else { shadow::exclude() };
        never.into_iter().chain(extras).collect()
    }

    /// Whether a `.git` has nothing in it but what we put there, on this very branch.
    fn is_pristine(&self, dir: &Path, config: &str, branch: &str) -> bool {
        let holds = |path: &str, bytes: &[u8]| is_exactly(&dir.join(path), bytes);
        let mut files = 0;
        only_known(dir, "", &format!("refs/heads/{branch}"), &mut files)
            && files == FILES.len() + 1
            && holds("HEAD", points_to(branch).as_bytes())
            && holds("config", config.as_bytes())
            && holds("info/exclude", &self.exclude())
            && holds("objects/info/alternates", &alternates(&[&self.mirror_objects()]))
    }

    /// Whether the mirror has a commit.
    fn is_lent(&self, head: &Oid) -> Result<bool, RepoError> {
        Ok(crate::mirror::held(&self.mirror_dir())?.values().any(|held| held == head))
    }

    /// Gives a `.git` the files that are there and that nobody has committed, without a word about how they came about.
    fn lend_files(&self, made: &DotGit<'_>, dir: &Path) -> Result<(), RepoError> {
        let before = self.tree_of(made.head)?;
        if before == *made.held {
            return Ok(());
        }
        let differing = self.differing(Some(&before), made.held)?;
        if let Some(differing) = differing.filter(|_| self.objects.has_no_pack()) {
            return self.hand_over_all(&differing.objects(), &dir.join("objects"), brought::copy);
        }
        let place = self.results();
        let call = self.git().call("dotgit.pack-files", &place);
        let call = call.args(["pack-objects", "--revs", "-q", "--non-empty"]);
        let list = format!("{}\n^{before}\n", made.held);
        call.arg(dir.join("objects/pack/pack")).stdin(list).ok()?;
        Ok(())
    }

    /// Gives a fresh `.git` what the mirror does not have: the commits of the unit so far.
    fn lend(&self, head: &Oid, dir: &Path) -> Result<(), RepoError> {
        if self.is_lent(head)? {
            return Ok(());
        }
        let mirror = self.mirror_objects();
        let is_there = |commit: &Oid| file_in(&mirror, commit).exists();
        // The agent may write to what is in its own repository: so it gets copies.
        if self.hand_over(head, &dir.join("objects"), is_there, brought::copy)? {
            return Ok(());
        }
        let place = self.results();
        let mut list = format!("{head}\n");
        for oid in crate::mirror::held(&self.mirror_dir())?.values() {
            list.push_str(&format!("^{oid}\n"));
        }
        let call = self.git().call("dotgit.pack-objects", &place);
        let call = call.args(["pack-objects", "--revs", "-q", "--non-empty"]);
        call.arg(dir.join("objects/pack/pack")).stdin(list).ok()?;
        Ok(())
    }

    /// Whether a `.git` is still one that an agent can work with: as we made it, and on a commit
    /// that is there.
    pub(crate) fn dot_git_is_sound(&self, dir: &Path, person: &Person, there: &[Oid]) -> bool {
        self.dot_git_is_settled(dir, person)
            && provenance::agent_head(&dir.join(".git")).is_some_and(|head| there.contains(&head))
    }

    /// Whether all that decides what git does there is as we made it: its settings, and whose
    /// objects it borrows.
    pub(crate) fn dot_git_is_settled(&self, dir: &Path, person: &Person) -> bool {
        let dot_git = dir.join(".git");
        let is_dir = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let holds = |path: &str, bytes: &[u8]| is_exactly(&dot_git.join(path), bytes);
        // A link that leads nowhere here may well lead somewhere where the agent is.
        let is_there = |path: &str| dot_git.join(path).symlink_metadata().is_ok();
        is_dir(&dot_git)
            && ["objects", "objects/info", "refs"].iter().all(|part| is_dir(&dot_git.join(part)))
            && holds("config", self.dot_git_config(person).as_bytes())
            && holds("objects/info/alternates", &alternates(&[&self.mirror_objects()]))
            && !is_there("config.worktree")
            && !is_there("commondir")
    }
}

/// Removes a directory, also one that nobody may look into.
fn remove_closed(dir: &Path) -> io::Result<()> {
    fs::remove_dir_all(dir).or_else(|error| match error.kind() {
        io::ErrorKind::PermissionDenied if !reopen(dir).is_empty() => fs::remove_dir_all(dir),
        _ => Err(error),
    })
}

/// Whether a plain file holds exactly this. Somebody else may have put a pipe there, on which one would wait for ever, or a
/// file without end: neither is opened to be read, and no more is read than there should be.
fn is_exactly(path: &Path, bytes: &[u8]) -> bool {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    let Ok(file) = fs::OpenOptions::new().read(true).custom_flags(flags).open(path) else {
        return false;
    };
    let plain = file.metadata().is_ok_and(|meta| meta.is_file());
    let mut held = Vec::new();
    let most = bytes.len() as u64 + 1;
    plain && file.take(most).read_to_end(&mut held).is_ok() && held == bytes
}

/// What `HEAD` says.
fn points_to(branch: &str) -> String {
    format!("ref: refs/heads/{branch}\n")
}

/// Whether a directory holds nothing but plain files and directories that we know. Counts the files.
fn only_known(dir: &Path, below: &str, branch: &str, files: &mut usize) -> bool {
    if !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return false;
    }
    let Ok(mut entries) = fs::read_dir(dir) else { return false };
    entries.all(|entry| {
        let Ok(entry) = entry else { return false };
        let path = format!("{below}{}", entry.file_name().to_string_lossy());
        match entry.file_type() {
            Ok(kind) if kind.is_file() => {
                *files += 1;
                // A file with a second name may be one of somebody else's, and is not written to.
                (FILES.contains(&path.as_str()) || path == branch)
                    && entry.metadata().is_ok_and(|meta| meta.nlink() == 1)
            }
            Ok(kind) if kind.is_dir() => {
                let below = format!("{path}/");
                (DIRS.contains(&path.as_str()) || branch.starts_with(&below))
                    && only_known(&entry.path(), &below, branch, files)
            }
            _ => false,
        }
    })
}
