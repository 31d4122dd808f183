//! The mirror: the person's branches and history, in a place of ours.
//!
//! It begins as hard links to their object files, and is kept up by what is new. Both are
//! done with our own configuration, reading their objects as borrowed ones: no program that their
//! repository names could be started, and nothing of theirs is written. Refs in the mirror only
//! say what it holds; each stands under an encoded name, so that no two can be in each other's way.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use crate::{
    brought,
    error::{Doing, RepoError},
    failpoint,
    git::Place,
    name::{Branch, component},
    oid::Oid,
    refs::OwnRefs,
    store::{Skeleton, Store, bare_config},
    transport::is_little,
};

/// A pack with more bytes stays one.
const LITTLE_BYTES: u64 = 4 << 20;

/// The branches of a repository at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heads(BTreeMap<Vec<u8>, Oid>);

impl Heads {
    /// The commit at the tip of a branch.
    pub fn tip(&self, branch: &Branch) -> Option<&Oid> {
        self.at(&branch.full())
    }

    pub(crate) fn at(&self, name: &str) -> Option<&Oid> {
        self.0.get(name.as_bytes())
    }
}

impl Store {
    pub(crate) fn make_mirror(&self) -> Result<(), RepoError> {
        let dir = self.mirror_dir();
        if dir.exists() {
            return Ok(());
        }
        let theirs = self.repository.objects();
        let config = bare_config(self.repository.format());
        let made = Skeleton { config: &config, borrowed: &[] };
        made.make("mirror.rename", &self.dir.join("mirror.new"), &dir, |new| {
            // What cannot be linked, for instance across file systems, is fetched as a pack below.
            let linked = link_objects(&theirs, &new.join("objects")).is_ok();
            let borrows = theirs.join("info/alternates").exists();
            self.take_over(new, &self.repository.heads()?, linked && !borrows)
        })
    }

    /// Brings the mirror up to date, and says where the person's branches are.
    pub fn sync(&self) -> Result<Heads, RepoError> {
        let _one_at_a_time = self.syncing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let heads = self.repository.heads()?;
        self.take_over(&self.mirror_dir(), &heads, false)?;
        Ok(Heads(heads))
    }

    /// Takes over what is new. `whole` says that all objects are there already.
    fn take_over(
        &self,
        mirror: &Path,
        heads: &BTreeMap<Vec<u8>, Oid>,
        whole: bool,
    ) -> Result<(), RepoError> {
        let held = held(mirror)?;
        let wanted: BTreeMap<String, &Oid> =
            heads.iter().map(|(name, oid)| (component(name), oid)).collect();
        let news: BTreeMap<&String, &Oid> = wanted
            .iter()
            .filter(|(name, oid)| held.get(*name) != Some(**oid))
            .map(|(name, oid)| (name, *oid))
            .collect();
        let have: BTreeSet<&Oid> = held.values().collect();
        let mut tips: BTreeSet<&Oid> =
            news.values().copied().filter(|oid| !have.contains(oid)).collect();
        if !have.is_empty() {
            self.take_own(mirror, &mut tips, &have)?;
        }
        if !tips.is_empty() {
            if !whole {
                self.pack(mirror, &tips, &have)?;
            }
            self.present(mirror, &tips)?;
        }
        let gone = held.keys().filter(|name| !wanted.contains_key(*name));
        let refs = OwnRefs { git: self.git(), git_dir: mirror.into() };
        if news.is_empty() && gone.clone().next().is_none() {
            return Ok(());
        }
        failpoint::around("mirror.update-ref", || {
            for (name, oid) in &news {
                refs.set(&format!("refs/mirror/{name}"), oid)?;
            }
            for name in gone {
                refs.remove(&format!("refs/mirror/{name}"))?;
            }
            Ok(())
        })
    }

    /// Takes over what we made ourselves, and what is therefore in the result store, file by file; what is left is somebody
    /// else's.
    fn take_own(
        &self,
        mirror: &Path,
        tips: &mut BTreeSet<&Oid>,
        have: &BTreeSet<&Oid>,
    ) -> Result<(), RepoError> {
        let objects = mirror.join("objects");
        for tip in tips.clone() {
            if self.hand_over(tip, &objects, |commit| have.contains(commit), brought::link)? {
                tips.remove(tip);
            }
        }
        Ok(())
    }

    /// Takes over what the tips reach and the mirror does not have.
    fn pack(
        &self,
        mirror: &Path,
        tips: &BTreeSet<&Oid>,
        have: &BTreeSet<&Oid>,
    ) -> Result<(), RepoError> {
        self.in_trial(|dir| self.pack_in(dir, mirror, tips, have))
    }

    /// The same by way of a directory of its own. A pack for each landing would make every later call of git slower, which
    /// looks into all of them: so what is little becomes files of its own.
    fn pack_in(
        &self,
        dir: &Path,
        mirror: &Path,
        tips: &BTreeSet<&Oid>,
        have: &BTreeSet<&Oid>,
    ) -> Result<(), RepoError> {
        let wanted = tips.iter().map(|oid| format!("{oid}\n"));
        let list: String = wanted.chain(have.iter().map(|oid| format!("^{oid}\n"))).collect();
        let place = Place::bare(mirror);
        self.git()
            .call("mirror.pack-objects", &place.clone().borrowing(&self.repository.objects()))
            .args(["pack-objects", "--revs", "-q", "--non-empty", "--delta-base-offset"])
            .arg(dir.join("pack"))
            .stdin(list)
            .ok()
            .map_err(|error| match error.said() {
                Some(said) => self.damaged(said),
                None => error.into(),
            })?;
        let mut files = Vec::new();
        for file in fs::read_dir(dir).doing("read", dir)? {
            files.push(file.doing("read", dir)?.path());
        }
        let is_pack = |file: &&PathBuf| file.extension().is_some_and(|ending| ending == "pack");
        if let Some(pack) = files.iter().find(is_pack)
            && let Some(little) = little(pack).doing("read", pack)?
        {
            // Whatever it is: it is theirs, and they have it.
            let call = self.git().call("mirror.unpack", &place);
            call.args(["unpack-objects", "-q"]).stdin(little).ok()?;
            return Ok(());
        }
        // Its index comes last: a pack without one is none.
        files.sort_by_key(|file| file.extension().is_some_and(|ending| ending == "idx"));
        let packs = mirror.join("objects/pack");
        for file in files {
            let to = packs.join(file.file_name().unwrap_or_default());
            fs::rename(&file, &to).doing("moved", &to)?;
        }
        Ok(())
    }

    /// Makes sure that the mirror has the tips themselves, by its own objects alone.
    fn present(&self, mirror: &Path, tips: &BTreeSet<&Oid>) -> Result<(), RepoError> {
        let list: String = tips.iter().map(|oid| format!("{oid}^{{tree}}\n")).collect();
        let place = Place::bare(mirror);
        let call = self.git().call("mirror.present", &place);
        let said = call.args(["cat-file", "--batch-check"]).stdin(list).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        match said.lines().find(|line| line.split(' ').nth(1) != Some("tree")) {
            Some(line) => Err(self.damaged(line)),
            None => Ok(()),
        }
    }

    fn damaged(&self, what: &str) -> RepoError {
        RepoError::Damaged { path: self.repository.top().into(), what: what.trim().to_owned() }
    }
}

/// A pack, if there is not much in it.
fn little(pack: &Path) -> io::Result<Option<Vec<u8>>> {
    if fs::metadata(pack)?.len() > LITTLE_BYTES {
        return Ok(None);
    }
    let bytes = fs::read(pack)?;
    Ok(is_little(&bytes).then_some(bytes))
}

/// What the mirror holds, by encoded names.
pub(crate) fn held(mirror: &Path) -> Result<BTreeMap<String, Oid>, RepoError> {
    let mut held = BTreeMap::new();
    // No ref of ours is ever packed.
    for entry in fs::read_dir(mirror.join("refs/mirror")).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if let (false, Ok(bytes)) = (name.ends_with(".lock"), fs::read(entry.path())) {
            held.insert(name, Oid::printed(&bytes)?);
        }
    }
    Ok(held)
}

/// Links all object files. One that vanishes meanwhile, because their git tidies up, is an error:
/// then the objects come as a pack.
fn link_objects(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let text = name.to_string_lossy();
        let loose = text.len() == 2 && text.bytes().all(|b| b.is_ascii_hexdigit());
        if !(loose || text == "pack") || !entry.file_type()?.is_dir() {
            continue;
        }
        fs::create_dir_all(to.join(&name))?;
        for file in fs::read_dir(entry.path())? {
            let file = file?;
            let ending = file.path().extension().map(|e| e.to_string_lossy().into_owned());
            let wanted = match ending.as_deref() {
                None => loose,
                Some("pack" | "idx" | "rev") => !loose,
                Some(_) => false,
            };
            if wanted && file.file_type()?.is_file() {
                link(&file.path(), &to.join(&name).join(file.file_name()))?;
            }
        }
    }
    Ok(())
}

fn link(from: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(from, to) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        other => other,
    }
}
