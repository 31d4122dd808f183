//! Moving the files of a person's checkout from one tree to another, as `git merge --ff-only` would.
//!
//! The order is what makes it safe. We take the lock of the index; we try, on a copy of the index,
//! whether anything is in the way; only then the intent is noted in our own directory, the files are
//! written, the branch is moved by compare-and-swap, the new index is put in place, and the lock is
//! given back. Files are written with our git directory, so of the person's configuration only
//! harmless settings count.
//!
//! After a crash the note tells what was under way. If the branch had moved, the rest is done; if
//! not, what was written is taken back. A path counts as written by us only if it holds exactly what
//! we would have written there (or a beginning of it) and the index still says what it said; anything
//! else is somebody's, and left alone.

use std::{
    collections::BTreeMap,
    fs::{self, File},
    io::Write,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    apply::in_the_way,
    changes::{Change, Entry},
    durable,
    error::{Doing, RepoError},
    failpoint,
    git::{Place, quoted},
    lock::IndexLock,
    oid::Oid,
    repository::{Checkout, Config, under_way},
    store::Store,
    work::as_path,
};

/// What came of a transfer.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Moved {
    /// The files are there.
    Done,
    /// Something is in the way; nothing was touched.
    Blocked(String),
    /// The branch was moved by somebody else; everything was taken back.
    Overtaken,
}

/// A transfer that is under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Note {
    token: String,
    /// Whether files may have been written yet.
    writing: bool,
    /// Lossless, whatever the bytes of the path.
    checkout: Vec<u8>,
    git_dir: Vec<u8>,
    from: Oid,
    to: Oid,
    /// The branch that moves with it. Without one, the index stays as it is.
    branch: Option<String>,
}

impl Note {
    pub fn new(checkout: &Checkout, from: &Oid, to: &Oid, branch: Option<&str>) -> Note {
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_vec();
        let mut digest = blake3::Hasher::new();
        for part in [&bytes(&checkout.path), from.as_str().as_bytes(), to.as_str().as_bytes()] {
            digest.update(part).update(b"\0");
        }
        Note {
            token: digest.finalize().to_hex()[..16].to_owned(),
            writing: false,
            checkout: bytes(&checkout.path),
            git_dir: bytes(&checkout.git_dir),
            from: from.clone(),
            to: to.clone(),
            branch: branch.map(str::to_owned),
        }
    }

    fn git_dir(&self) -> PathBuf {
        as_path(&self.git_dir)
    }
}

impl Store {
    fn note_path(&self, note: &Note) -> PathBuf {
        self.dir.join("unfinished").join(format!("{}.json", note.token))
    }

    fn write_note(&self, note: &Note) -> Result<(), RepoError> {
        let path = self.note_path(note);
        let bytes = serde_json::to_vec(note).map_err(|error| RepoError::BadRecord {
            path: path.clone(),
            what: error.to_string(),
        })?;
        // Only what is about to be written must be known after a power loss.
        if note.writing {
            durable::write_for_good(&path, &bytes)
        } else {
            durable::write(&path, &bytes)
        }
    }

    /// Where calls stand that deal with the files of a checkout: our configuration, a copy of its
    /// index, its objects for what is staged there.
    fn files_of(&self, note: &Note, config: &Config) -> Place {
        let index = self.dir.join("unfinished").join(format!("{}.index", note.token));
        let place = self.results().with_work(&as_path(&note.checkout), &index);
        let place = place.borrowing(&self.repository.objects());
        Place { config: config.files.clone(), ..place }
    }

    /// Moves a checkout from one tree to the other; `swap` moves the branch in the middle of it, and
    /// says whether it could.
    pub(crate) fn transfer(
        &self,
        mut note: Note,
        config: &Config,
        swap: impl FnOnce() -> Result<bool, RepoError>,
    ) -> Result<Moved, RepoError> {
        let place = self.files_of(&note, config);
        self.write_note(&note)?;
        let lock = IndexLock::take(&note.git_dir(), &note.token, self.settings.lock_wait_ms);
        let lock = match lock {
            Ok(lock) => lock,
            Err(error) => {
                durable::remove(&self.note_path(&note))?;
                return Err(error);
            }
        };
        let outcome = self.transfer_locked(&mut note, &place, swap);
        if outcome.is_err() && note.writing {
            // If even that fails, the note stays.
            self.settle(&note, &place, self.direction(&note)?)?;
        }
        lock.release()?;
        self.close_note(&note)?;
        outcome
    }

    fn transfer_locked(
        &self,
        note: &mut Note,
        place: &Place,
        swap: impl FnOnce() -> Result<bool, RepoError>,
    ) -> Result<Moved, RepoError> {
        if let Some(why) = self.in_the_way(note, place)? {
            return Ok(Moved::Blocked(why));
        }
        note.writing = true;
        self.write_note(note)?;
        let write = self.git().call("transfer.write", place);
        write.args(["read-tree", "-m", "-u", note.from.as_str(), note.to.as_str()]).ok()?;
        if !swap()? {
            self.settle(note, place, Direction::Back)?;
            return Ok(Moved::Overtaken);
        }
        if note.branch.is_some() {
            install_index(note, place)?;
        }
        Ok(Moved::Done)
    }

    fn close_note(&self, note: &Note) -> Result<(), RepoError> {
        let index = self.dir.join("unfinished").join(format!("{}.index", note.token));
        durable::remove(&index)?;
        durable::remove(&self.note_path(note))
    }

    /// Copies the index and tries the move on it.
    fn in_the_way(&self, note: &Note, place: &Place) -> Result<Option<String>, RepoError> {
        let git_dir = note.git_dir();
        if let Some(what) = under_way(&git_dir) {
            return Ok(Some(format!("{what} is under way there")));
        }
        if !copy_index(&git_dir, place)? {
            return Ok(Some("it has no index".into()));
        }
        let changes = self.changes(&note.from, &note.to)?;
        if let Some(why) = self.written_otherwise(note, place, &changes)? {
            return Ok(Some(why));
        }
        // What it is told to ignore, git takes for something that may go.
        if let Some(path) = in_the_way(&as_path(&note.checkout), &changes) {
            return Ok(Some(format!("{} is in the way, and no commit has it", path.display())));
        }
        let attempt = || {
            let call = self.git().call("transfer.try", place);
            call.args(["read-tree", "-m", "-u", "-n", note.from.as_str(), note.to.as_str()])
                .output()
        };
        let mut output = attempt()?;
        if output.code != Some(0) {
            // Files that were only touched are in the way until git has looked into them.
            self.refresh(place)?;
            output = attempt()?;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.trim().trim_start_matches("error: ").trim_start_matches("fatal: ");
        Ok((output.code != Some(0)).then(|| said.to_owned()))
    }

    pub(crate) fn refresh(&self, place: &Place) -> Result<(), RepoError> {
        let call = self.git().call("transfer.refresh", place);
        // Its exit code says whether something is modified, which is not asked here.
        call.args(["update-index", "-q", "--refresh"]).output()?;
        Ok(())
    }

    /// Files that the person's own git would write otherwise than ours: those with filters, or with
    /// attributes that only their configuration knows.
    fn written_otherwise(
        &self,
        note: &Note,
        place: &Place,
        changes: &[Change],
    ) -> Result<Option<String>, RepoError> {
        if !self.repository.has_git() {
            // Nobody else's git writes there, and ours has recorded the files as they are.
            return Ok(None);
        }
        let mut paths = Vec::new();
        for change in changes {
            paths.extend(change.path.as_os_str().as_bytes());
            paths.push(0);
        }
        let mut theirs = self.repository.refs_of(&note.git_dir(), &as_path(&note.checkout));
        theirs.theirs = true;
        theirs.dir = as_path(&note.checkout);
        let ask = |place: &Place| -> Result<Vec<u8>, RepoError> {
            let call = self.git().call("transfer.attributes", place);
            let call = call.args(["check-attr", "-z", "--stdin"]);
            let call = call.args(["filter", "text", "eol", "ident", "working-tree-encoding"]);
            Ok(call.stdin(paths.clone()).ok()?)
        };
        let seen = ask(&theirs)?;
        let fields: Vec<&[u8]> = seen.split(|b| *b == 0).collect();
        let said = |triple: &&[&[u8]]| triple[2] != b"unspecified";
        let filtered = fields
            .chunks_exact(3)
            .find(|triple| triple[1] == b"filter" && said(triple) && triple[2] != b"unset");
        // Of attributes, ours sees no more than theirs.
        let differs = || -> Result<bool, RepoError> {
            Ok(fields.chunks_exact(3).any(|triple| said(&triple)) && ask(place)? != seen)
        };
        Ok(match filtered {
            Some(triple) => Some(format!(
                "{} goes through the filter {}",
                String::from_utf8_lossy(triple[0]),
                String::from_utf8_lossy(triple[2])
            )),
            None if differs()? => Some("its attributes are not all in the repository".into()),
            None => None,
        })
    }

    /// Sets right what a crash left in the middle.
    pub(crate) fn settle_unfinished(&self) -> Result<(), RepoError> {
        let dir = self.dir.join("unfinished");
        for entry in fs::read_dir(&dir).doing("read", &dir)?.flatten() {
            let path = entry.path();
            if path.extension().is_none_or(|ending| ending != "json") {
                // What is not a note belongs to one, or to nothing.
                continue;
            }
            let Some(bytes) = durable::read(&path)? else { continue };
            let note: Note = serde_json::from_slice(&bytes)
                .map_err(|error| RepoError::BadRecord { path, what: error.to_string() })?;
            self.settle_note(&note)?;
        }
        Ok(())
    }

    fn settle_note(&self, note: &Note) -> Result<(), RepoError> {
        let git_dir = note.git_dir();
        if git_dir.is_dir() {
            IndexLock::forget(&git_dir, &note.token)?;
        }
        if note.writing && as_path(&note.checkout).is_dir() {
            let lock = IndexLock::take(&git_dir, &note.token, self.settings.lock_wait_ms)?;
            let place = self.files_of(note, &self.repository.config()?);
            let settled =
                self.direction(note).and_then(|direction| self.settle(note, &place, direction));
            lock.release()?;
            settled?;
        }
        self.close_note(note)
    }

    /// On, if the branch has moved; else back.
    fn direction(&self, note: &Note) -> Result<Direction, RepoError> {
        let Some(branch) = &note.branch else { return Ok(Direction::Back) };
        let heads = self.sync()?;
        let tip = heads.at(branch);
        let landed = tip.map(|tip| self.is_ancestor(&note.to, tip)).transpose()?;
        Ok(if landed == Some(true) { Direction::On } else { Direction::Back })
    }

    /// Brings every path that is ours to one side or the other.
    fn settle(&self, note: &Note, place: &Place, direction: Direction) -> Result<(), RepoError> {
        if !copy_index(&note.git_dir(), place)? {
            return Ok(());
        }
        let top = as_path(&note.checkout);
        let indexed = self.indexed(place)?;
        let changes = self.changes(&note.from, &note.to)?;
        let hashes = self.hashes(place, &top, &changes)?;
        let mut script = Vec::new();
        let mut write = Vec::new();
        for change in &changes {
            let there = indexed.get(&change.path);
            let is = |entry: &Entry| match there {
                Some(there) => there == entry,
                None => entry.is_absent(),
            };
            // Our own index comes only after the branch has moved: before that, what is staged is
            // somebody's.
            let staged_by_us = direction == Direction::On && is(&change.new);
            if !(is(&change.old) || staged_by_us) {
                continue;
            }
            if !self.is_ours(&top, change, hashes.get(&change.path))? {
                continue;
            }
            let want = direction.of(change);
            script.extend(format!("{} {} 0\t", want.mode, want.blob).bytes());
            script.extend(change.path.as_os_str().as_bytes());
            script.push(0);
            if want.is_absent() {
                remove_with_empty_parents(&top, &change.path);
            } else {
                write.push(change.path.clone());
            }
        }
        let git = self.git();
        let call = git.call("settle.index", place);
        call.args(["update-index", "-z", "--replace", "--index-info"]).stdin(script).ok()?;
        let mut list = Vec::new();
        for path in write.iter().filter(|path| !top.join(path).is_dir()) {
            list.extend(path.as_os_str().as_bytes());
            list.push(0);
        }
        let call = git.call("settle.write", place);
        call.args(["checkout-index", "-f", "-u", "-z", "--stdin"]).stdin(list).ok()?;
        if note.branch.is_some() {
            install_index(note, place)?;
        }
        Ok(())
    }

    /// What the index of a checkout says.
    fn indexed(&self, place: &Place) -> Result<BTreeMap<PathBuf, Entry>, RepoError> {
        let call = self.git().call("settle.ls-files", place);
        let said = call.args(["ls-files", "-s", "-z"]).ok()?;
        let mut indexed = BTreeMap::new();
        for field in said.split(|b| *b == 0) {
            let Some(at) = field.iter().position(|b| *b == b'\t') else { continue };
            let head = String::from_utf8_lossy(&field[..at]).into_owned();
            let words: Vec<&str> = head.split(' ').collect();
            if let [mode, blob, "0"] = words[..] {
                let entry = Entry { mode: mode.into(), blob: Oid::parse(blob)? };
                indexed.insert(as_path(&field[at + 1..]), entry);
            }
        }
        Ok(indexed)
    }

    /// The blobs that the files of a checkout would become now.
    fn hashes(
        &self,
        place: &Place,
        top: &Path,
        changes: &[Change],
    ) -> Result<BTreeMap<PathBuf, Oid>, RepoError> {
        let plain = |change: &&Change| {
            top.join(&change.path).symlink_metadata().is_ok_and(|meta| meta.is_file())
        };
        let files: Vec<&Change> = changes.iter().filter(plain).collect();
        let mut list = Vec::new();
        for change in &files {
            list.extend(quoted(&change.path).into_encoded_bytes());
            list.push(b'\n');
        }
        let call = self.git().call("settle.hash", place);
        let said = call.args(["hash-object", "--stdin-paths"]).stdin(list).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let oids = said.lines().map(Oid::parse).collect::<Result<Vec<_>, _>>()?;
        Ok(files.iter().map(|change| change.path.clone()).zip(oids).collect())
    }

    /// Whether what is at a path is what was there before, what we write there, or a beginning of
    /// that. Nothing at all counts as ours too: a file is removed before it is written.
    fn is_ours(&self, top: &Path, change: &Change, hash: Option<&Oid>) -> Result<bool, RepoError> {
        let path = top.join(&change.path);
        let Ok(meta) = path.symlink_metadata() else { return Ok(true) };
        let is = |entry: &Entry, mode: &str| !entry.is_absent() && entry.mode.starts_with(mode);
        if meta.is_symlink() {
            let target = fs::read_link(&path).doing("read", &path)?;
            for entry in [&change.old, &change.new] {
                if is(entry, "12") && self.blob(&entry.blob)? == target.as_os_str().as_bytes() {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if !meta.is_file() {
            // A directory that is to become a file again is emptied by its own paths.
            return Ok(meta.is_dir());
        }
        let whole = |entry: &Entry| is(entry, "10") && hash == Some(&entry.blob);
        if whole(&change.old) || whole(&change.new) {
            return Ok(true);
        }
        let begun = fs::read(&path).doing("read", &path)?;
        Ok(is(&change.new, "10") && self.blob(&change.new.blob)?.starts_with(&begun))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    On,
    Back,
}

impl Direction {
    fn of(self, change: &Change) -> &Entry {
        match self {
            Direction::On => &change.new,
            Direction::Back => &change.old,
        }
    }
}

fn index_of(place: &Place) -> &Path {
    place.index.as_deref().unwrap_or(Path::new(""))
}

/// Copies a person's index to where ours is. Its time goes along: git tells by it which files it must
/// look at twice.
pub(crate) fn copy_index(git_dir: &Path, place: &Place) -> Result<bool, RepoError> {
    let from = git_dir.join("index");
    let Some(bytes) = durable::read(&from)? else { return Ok(false) };
    let to = index_of(place);
    let modified = fs::metadata(&from).and_then(|meta| meta.modified()).doing("read", &from)?;
    fs::write(to, bytes).doing("written", to)?;
    let file = File::options().write(true).open(to).doing("written", to)?;
    file.set_modified(modified).doing("written", to)?;
    Ok(true)
}

/// Puts our copy of the index in the place of the person's, whose lock we hold.
fn install_index(note: &Note, place: &Place) -> Result<(), RepoError> {
    let from = index_of(place);
    let to = note.git_dir().join("index");
    let beside = note.git_dir().join(format!("windlass-{}.index", note.token));
    let install = || {
        let meta = fs::metadata(from)?;
        let mut file = File::create(&beside)?;
        file.write_all(&fs::read(from)?)?;
        if let Ok(old) = fs::metadata(&to) {
            let mode = old.permissions().mode();
            fs::set_permissions(&beside, fs::Permissions::from_mode(mode))?;
        }
        file.set_modified(meta.modified()?)?;
        failpoint::around("transfer.rename-index", || fs::rename(&beside, &to))
    };
    install().doing("written", &to)
}

/// Removes a file, and the directories that are empty without it.
fn remove_with_empty_parents(top: &Path, path: &Path) {
    let mut at = top.to_owned();
    // Not through a symbolic link: what is behind it is not in this checkout.
    for component in path.parent().into_iter().flat_map(Path::components) {
        at.push(component);
        if !at.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
            return;
        }
    }
    let mut at = top.join(path);
    let mut gone = fs::remove_file(&at).is_ok();
    while gone && at.pop() && at != top {
        gone = fs::remove_dir(&at).is_ok();
    }
}
