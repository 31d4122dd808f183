//! What an agent committed itself, kept as provenance.
//!
//! The `.git` of a lane is the agent's to write, so it is read like any hostile input: only plain
//! files, never through a symbolic link, never waiting on a pipe, within limits, and without git
//! reading its configuration. Object files are linked into a quarantine first, so that git follows
//! none of the agent's borrowed directories; what comes out is looked at object by object before
//! it enters the result store.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    path::{Path, PathBuf},
};

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::{
    error::{Doing, RepoError},
    oid::Oid,
    reopen::reopen,
    store::Store,
};

const REFS_MAX: usize = 256;
const REF_BYTES_MAX: u64 = 1 << 20;
const OBJECT_FILES_MAX: usize = 100_000;

/// The commit that the agent's HEAD is on.
pub(crate) fn agent_head(dot_git: &Path) -> Option<Oid> {
    let head = read_plain(&dot_git.join("HEAD")).ok()?;
    let Some(name) = head.trim_end().strip_prefix("ref: refs/heads/") else { return first(&head) };
    let loose = || {
        let sound = !name.split('/').any(|part| part.is_empty() || part == "..");
        sound.then(|| first(&read_plain(&dot_git.join("refs/heads").join(name)).ok()?))?
    };
    let packed = || {
        let all = read_plain(&dot_git.join("packed-refs")).ok()?;
        let ending = format!(" refs/heads/{name}");
        all.lines().find(|line| line.ends_with(&ending)).and_then(first)
    };
    loose().or_else(packed)
}

fn first(text: &str) -> Option<Oid> {
    Oid::parse(text.split_whitespace().next()?).ok()
}

/// What the agent has stashed. The last of it is under a ref, what is below it in a log alone.
fn stashes(dot_git: &Path) -> BTreeSet<Oid> {
    let last = read_plain(&dot_git.join("refs/stash")).unwrap_or_default();
    let log = read_plain(&dot_git.join("logs/refs/stash")).unwrap_or_default();
    // Each line begins with what was there before and what is there since.
    let logged = log.lines().filter_map(|line| Oid::parse(line.split(' ').nth(1)?).ok());
    logged.chain(first(&last)).take(REFS_MAX).collect()
}

/// The commits that the agent's branches and its HEAD are on.
fn agent_heads(dot_git: &Path) -> BTreeSet<Oid> {
    let mut heads = BTreeSet::new();
    if !dot_git.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return heads;
    }
    heads.extend(agent_head(dot_git));
    let packed = read_plain(&dot_git.join("packed-refs")).unwrap_or_default();
    heads.extend(packed.lines().filter(|line| line.contains(" refs/heads/")).filter_map(first));
    heads.extend(stashes(dot_git));
    let mut loose = Vec::new();
    if dot_git.join("refs").symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        plain_files(&dot_git.join("refs/heads"), 8, &mut loose);
    }
    heads.extend(loose.iter().filter_map(|path| first(&read_plain(path).ok()?)));
    heads.into_iter().take(REFS_MAX).collect()
}

fn read_plain(path: &Path) -> io::Result<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut bytes = Vec::new();
    file.take(REF_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// The plain files below a directory that is one itself.
fn plain_files(dir: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth == 0 || !dir.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        return;
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.file_type() {
            _ if found.len() >= OBJECT_FILES_MAX => return,
            Ok(kind) if kind.is_dir() => plain_files(&entry.path(), depth - 1, found),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
}

impl Store {
    /// Keeps what the agent committed in a work tree besides what we gave it, and says which commits
    /// those are. What cannot be read is not kept: its files are in the snapshot all the same.
    pub(crate) fn keep_provenance(
        &self,
        work: &Path,
        quarantine: &Path,
        ours: &[&Oid],
        refs: &str,
    ) -> Result<Vec<Oid>, RepoError> {
        let dot_git = work.join(".git");
        let mut kept = Vec::new();
        let mut ready = false;
        let stashed = stashes(&dot_git);
        for head in agent_heads(&dot_git).into_iter().filter(|head| !ours.contains(&head)) {
            if !self.is_known(&head)? {
                if !ready {
                    let objects = dot_git.join("objects");
                    let fill = || fill_quarantine(&objects, quarantine);
                    let filled = fill().or_else(|error| match reopen(&dot_git).is_empty() {
                        true => Err(error),
                        false => fill(),
                    });
                    filled.doing("filled", quarantine)?;
                    ready = true;
                }
                if self.take_in(&head, ours, quarantine).is_err() {
                    continue;
                }
            }
            self.keep(&format!("{refs}/agent/{head}"), &head)?;
            // Files that git did not know are in a commit of their own beside a stash.
            if stashed.contains(&head)
                && let [_, _, files] = &self.parents(&head)?[..]
            {
                self.keep(&format!("{refs}/agent/{files}"), files)?;
            }
            kept.push(head);
        }
        if ready {
            fs::remove_dir_all(quarantine).doing("removed", quarantine)?;
        }
        Ok(kept)
    }

    fn is_known(&self, oid: &Oid) -> Result<bool, RepoError> {
        let place = self.results();
        let call = self.git().call("provenance.known", &place);
        Ok(call.args(["cat-file", "-e", oid.as_str()]).output()?.code == Some(0))
    }

    fn take_in(&self, head: &Oid, ours: &[&Oid], quarantine: &Path) -> Result<(), RepoError> {
        let pack = self.pack_of(&self.results().borrowing(quarantine), head, ours)?;
        self.unpack("provenance.unpack", &self.results(), pack)
    }
}

/// Links the agent's own object files, and nothing else, into a directory.
fn fill_quarantine(objects: &Path, quarantine: &Path) -> io::Result<()> {
    if quarantine.symlink_metadata().is_ok() {
        fs::remove_dir_all(quarantine)?;
    }
    fs::create_dir_all(quarantine.join("pack"))?;
    let mut files = Vec::new();
    plain_files(objects, 2, &mut files);
    for file in files {
        let Ok(below) = file.strip_prefix(objects) else { continue };
        let dir = below.parent().unwrap_or(Path::new("")).to_string_lossy().into_owned();
        let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
        if dir == "pack" || (dir.len() == 2 && hex(&dir)) {
            fs::create_dir_all(quarantine.join(&dir))?;
            fs::hard_link(&file, quarantine.join(below))?;
        }
    }
    Ok(())
}
