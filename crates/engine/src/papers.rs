//! A session's papers in a lane: put there before a role is asked, collected and taken out again when it has ended.
//!
//! They are no part of the work: a lane is recorded without them, whatever its project tracks or ignores.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use windlass_process::beneath::{Links, Root};
use windlass_repo::{Oid, Store};

use crate::message::Trouble;

/// A paper is no longer than this.
const BYTES_MAX: u64 = 1 << 20;
/// A session has no more papers than this.
const PAPERS_MAX: usize = 500;

/// What was found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Collected {
    /// By path.
    pub papers: BTreeMap<String, Vec<u8>>,
    /// What a person should know.
    pub remarks: Vec<String>,
}

/// Puts papers into a lane.
pub fn put(work: &Path, papers: &BTreeMap<String, Arc<[u8]>>) -> Result<(), Trouble> {
    if papers.is_empty() {
        return Ok(());
    }
    let root = open(work)?;
    for (path, bytes) in papers {
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        root.make_directories(parent).and_then(|()| root.replace(path, bytes)).map_err(trouble)?;
    }
    Ok(())
}

/// Makes the directories that files are to be written into: a role need not know that they are not there yet.
pub fn make_room<'p>(work: &Path, paths: impl Iterator<Item = &'p str>) -> Result<(), Trouble> {
    for path in paths {
        let parent = Path::new(path).parent().unwrap_or(Path::new(""));
        open(work)?.make_directories(parent).map_err(trouble)?;
    }
    Ok(())
}

/// What is in these places.
pub fn gather(work: &Path, places: &[String]) -> Result<Collected, Trouble> {
    let mut found = Collected::default();
    if places.is_empty() {
        return Ok(found);
    }
    let root = open(work)?;
    for path in paths(work, places) {
        if found.papers.len() >= PAPERS_MAX {
            found
                .remarks
                .push(format!("it wrote more than {PAPERS_MAX} papers: the rest is not kept"));
            break;
        }
        match root.read(&path, BYTES_MAX) {
            Ok(bytes) => {
                found.papers.insert(path, bytes);
            }
            Err(error) => found.remarks.push(format!("not kept: {error}")),
        }
    }
    Ok(found)
}

/// Puts a lane back to what a commit has in these places.
pub fn clear(store: &Store, work: &Path, held: &Oid, places: &[String]) -> Result<(), Trouble> {
    if places.is_empty() {
        return Ok(());
    }
    for place in places {
        if let Some(link) = link_above(work, place) {
            // Nothing of the session lies beyond a link, and the link is no part of the work.
            fs::remove_file(work.join(&link))
                .map_err(|error| Trouble::io("remove", &link, &error))?;
        }
    }
    let root = open(work)?;
    for path in paths(work, places) {
        match store.file_at(held, Path::new(&path))? {
            Some(bytes) => root.replace(&path, &bytes).map_err(trouble)?,
            None => root.remove(&path).map_err(trouble)?,
        }
    }
    for place in places {
        remove_empty(&work.join(place));
        // And those above a paper, as far as they held nothing else.
        for above in Path::new(place).ancestors().skip(1).filter(|it| !it.as_os_str().is_empty()) {
            let _ = fs::remove_dir(work.join(above));
        }
    }
    Ok(())
}

/// The files in these places, each once.
fn paths(work: &Path, places: &[String]) -> Vec<String> {
    let mut paths = Vec::new();
    for place in places.iter().filter(|place| link_above(work, place).is_none()) {
        walk(work, place, &mut paths);
    }
    paths.sort();
    paths.dedup();
    paths
}

fn open(work: &Path) -> Result<Root, Trouble> {
    Root::open(work, Links::Refuse).map_err(|error| Trouble::io("open", work, &error))
}

pub(crate) fn trouble(error: windlass_process::beneath::BeneathError) -> Trouble {
    Trouble::new(error.to_string())
}

/// The first part of a place that is a link.
fn link_above(work: &Path, place: &str) -> Option<PathBuf> {
    let mut path = PathBuf::new();
    for part in Path::new(place) {
        path.push(part);
        if work.join(&path).symlink_metadata().is_ok_and(|meta| meta.is_symlink()) {
            return Some(path);
        }
    }
    None
}

/// The files at or below a place, by name; what a link leads to is not below it.
fn walk(work: &Path, place: &str, paths: &mut Vec<String>) {
    let full = work.join(place);
    let Ok(meta) = full.symlink_metadata() else { return };
    if !meta.is_dir() {
        paths.push(place.to_owned());
        return;
    }
    for entry in fs::read_dir(&full).into_iter().flatten().flatten() {
        if let Some(name) = entry.file_name().to_str() {
            walk(work, &format!("{place}/{name}"), paths);
        }
    }
}

/// Directories that only held papers go with them.
fn remove_empty(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove_empty(&entry.path());
        }
    }
    // Whatever is not empty, or no directory, stays.
    let _ = fs::remove_dir(dir);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_place_beyond_a_link_is_none_of_the_sessions() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("out/sessions")).unwrap();
        symlink("out", dir.path().join(".harness")).unwrap();
        assert_eq!(link_above(dir.path(), ".harness/sessions"), Some(PathBuf::from(".harness")));
        assert_eq!(link_above(dir.path(), "out/sessions"), None);
        let mut paths = Vec::new();
        fs::write(dir.path().join("out/sessions/a"), "x").unwrap();
        symlink("/etc/passwd", dir.path().join("out/sessions/b")).unwrap();
        walk(dir.path(), "out", &mut paths);
        paths.sort();
        // A link among them is named, and refused when it is read.
        assert_eq!(paths, ["out/sessions/a", "out/sessions/b"]);
        assert!(open(dir.path()).unwrap().read("out/sessions/b", 10).is_err());
    }

    #[test]
    fn papers_are_put_where_they_belong() {
        let dir = tempfile::tempdir().unwrap();
        let papers =
            BTreeMap::from([(".harness/sessions/s/handoff.json".to_owned(), Arc::from(*b"{}"))]);
        put(dir.path(), &papers).unwrap();
        let read = fs::read(dir.path().join(".harness/sessions/s/handoff.json")).unwrap();
        assert_eq!(read, b"{}");
        remove_empty(&dir.path().join(".harness"));
        assert!(dir.path().join(".harness").exists(), "what is not empty stays");
    }
}
