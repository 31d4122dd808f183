//! Projections: files that are written from the journal, in a person's checkout.
//!
//! What we write is remembered by digest, before it is written: whoever is cut off in between finds their own file again. A
//! file that holds anything else was written by somebody else: it is set aside under another name before ours takes its
//! place, and said.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use windlass_core::run::EffectId;
use windlass_engine::clerk::Blobs;
use windlass_engine::entry::{Entry, Note};
use windlass_engine::message::Trouble;

use crate::memory::Files;

/// By path, the digest of what we wrote; and that of what we wrote before it, which is there until it is replaced.
type Ledger = BTreeMap<String, String>;

/// Writes projections.
#[derive(Debug)]
pub struct Projection {
    files: Files,
    /// Where it is remembered what was written.
    ledger: PathBuf,
    written: Ledger,
    /// What this process knows to be there: looking again each time would cost more than writing.
    there: BTreeMap<String, String>,
}

impl Projection {
    /// Projections into a checkout; what was written before stands in the ledger.
    pub fn into(files: Files, ledger: PathBuf) -> Self {
        let text = fs::read_to_string(&ledger).unwrap_or_default();
        let written = serde_json::from_str(&text).unwrap_or_default();
        Projection { files, ledger, written, there: BTreeMap::new() }
    }

    /// Whether a file is as we wrote it.
    pub fn is_ours(&self, path: &str, text: &str) -> bool {
        has(&self.written, path, text)
    }

    /// Writes a file, unless it is as it should be. Where somebody else's was set aside, the name it has now.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn put(&mut self, path: &str, text: &str) -> Result<Option<String>, Trouble> {
        if self.there.get(path).is_some_and(|there| there == text) {
            return Ok(None);
        }
        self.there.insert(path.to_owned(), text.to_owned());
        let there = self.files.text(path)?;
        let mut aside = None;
        match &there {
            Some(there) if there == text => {
                if !self.is_ours(path, text) {
                    self.remember(path, text, None)?;
                }
                return Ok(None);
            }
            Some(there) if !self.is_ours(path, there) => {
                aside = Some(self.set_aside(path)?);
                self.remember(path, text, None)?;
            }
            before => self.remember(path, text, before.as_deref())?,
        }
        self.files.write(path, text)?;
        Ok(aside)
    }

    /// Takes a file over that somebody else wrote, if it is still as it was found: from now on it is ours to write. What
    /// was found is the caller's to keep.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or not be remembered.
    pub fn adopt(&mut self, path: &str, found: &str) -> Result<(), Trouble> {
        if self.there.contains_key(path) || self.files.text(path)?.as_deref() != Some(found) {
            return Ok(());
        }
        self.remember(path, found, None)
    }

    /// Writes a file that a person may change: theirs stays as it is.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn offer(&mut self, path: &str, text: &str) -> Result<(), Trouble> {
        if self.there.get(path).is_some_and(|there| there == text) {
            return Ok(());
        }
        match self.files.text(path)? {
            Some(there) if !self.is_ours(path, &there) => Ok(()),
            _ => self.put(path, text).map(drop),
        }
    }

    /// The same for one that a person may change once we have written it: what was there before that is set aside, and its
    /// name now returned.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn lend(&mut self, path: &str, text: &str) -> Result<Option<String>, Trouble> {
        match self.written.contains_key(path) {
            true => self.offer(path, text).map(|()| None),
            false => self.put(path, text),
        }
    }

    /// Removes a file that is as we wrote it. Whether it is gone: what somebody else has written there stays.
    ///
    /// # Errors
    ///
    /// When it cannot be read or removed.
    pub fn remove(&mut self, path: &str) -> Result<bool, Trouble> {
        let Some(there) = self.files.bytes(path)? else { return Ok(true) };
        // What is no text was written by nobody here.
        let there = String::from_utf8(there);
        if !there.is_ok_and(|there| self.is_ours(path, &there)) {
            return Ok(false);
        }
        self.files.remove(path)?;
        self.there.remove(path);
        // Written down with what comes next: that a file which is gone was ours hurts nobody.
        self.written.remove(path);
        Ok(true)
    }

    /// What an entry says was found in a file: as far as it is among these, and still there, it is on record now, and ours
    /// may take its place.
    pub fn follows(
        &mut self,
        entry: &Entry,
        blobs: Blobs<'_>,
        among: impl Fn(&str, EffectId) -> bool,
    ) {
        if let Entry::Note(noted) = entry
            && let Note::Paper { effect, path, holds: Some(holds) } = &noted.note
            && among(path, *effect)
            && let Some(bytes) = blobs(holds)
        {
            self.knows(path, &String::from_utf8_lossy(&bytes));
        }
    }

    /// A file that is just this is on record, whoever wrote it: nothing is lost when ours takes its place.
    pub fn knows(&mut self, path: &str, text: &str) {
        let there = self.files.text(path).ok().flatten();
        if there.as_deref() == Some(text) && !self.is_ours(path, text) {
            // Who cannot remember it takes it for somebody else's, and leaves it alone.
            let _ = self.remember(path, text, None);
        }
    }

    /// What was there before a file was written is ours no more: whoever makes it just that again has changed it.
    ///
    /// # Errors
    ///
    /// When it cannot be remembered.
    pub fn forget_before(&mut self, path: &str, text: &str) -> Result<(), Trouble> {
        let both = self.written.get(path).is_some_and(|digests| digests.contains(' '));
        if both { self.remember(path, text, None) } else { Ok(()) }
    }

    /// Keeps a file of somebody else's under another name.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn set_aside(&self, path: &str) -> Result<String, Trouble> {
        // As it is: whatever it is, it may not be text.
        let bytes = self.files.bytes(path)?.unwrap_or_default();
        for number in 1.. {
            let name = format!("{path}.aside-{number}");
            match self.files.bytes(&name)? {
                Some(there) if there == bytes => return Ok(name),
                Some(_) => {}
                None => {
                    self.files.write_bytes(&name, &bytes)?;
                    return Ok(name);
                }
            }
        }
        Err(Trouble::defect("no name is left"))
    }

    fn remember(&mut self, path: &str, text: &str, before: Option<&str>) -> Result<(), Trouble> {
        let digests = [Some(text), before].into_iter().flatten().map(digest_of);
        self.written.insert(path.to_owned(), digests.collect::<Vec<_>>().join(" "));
        let text = serde_json::to_string(&self.written).unwrap_or_default();
        let new = self.ledger.with_extension("new");
        let written = fs::write(&new, text).and_then(|()| fs::rename(&new, &self.ledger));
        written.map_err(|error| Trouble::io("write", &self.ledger, &error))
    }
}

/// Whether a file is as we wrote it, by what a ledger has.
pub fn wrote(ledger: &str, path: &str, text: &str) -> bool {
    has(&serde_json::from_str(ledger).unwrap_or_default(), path, text)
}

fn has(ledger: &Ledger, path: &str, text: &str) -> bool {
    let digest = digest_of(text);
    ledger.get(path).is_some_and(|digests| digests.split(' ').any(|it| it == digest))
}

fn digest_of(text: &str) -> String {
    windlass_journal::BlobId::of(text.as_bytes()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_makes_a_file_what_it_was_before_has_changed_it() {
        let top = tempfile::tempdir().unwrap();
        let files = Files::of(top.path());
        let mut projection = Projection::into(files.clone(), top.path().join("ledger"));
        for text in ["one", "two"] {
            projection.put("x", text).unwrap();
        }
        assert!(projection.is_ours("x", "one"), "a write may have been cut off");
        projection.forget_before("x", "two").unwrap();
        assert!(projection.is_ours("x", "two") && !projection.is_ours("x", "one"));
    }

    /// Cut off on either side of the write: what is there is known to be ours.
    #[test]
    fn what_we_were_cut_off_at_is_still_ours() {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = Files::of(dir.path());
        let again = || Projection::into(files.clone(), state.path().join("projected.json"));
        again().put("state.json", "one").unwrap();
        for text in ["two", "three"] {
            // Remembered, and not written: twice in a row, the same file is there.
            again().remember("state.json", text, Some("one")).unwrap();
            assert!(again().is_ours("state.json", "one"));
        }
        // Written, and nobody has come any further.
        files.write("state.json", "three").unwrap();
        assert_eq!(again().put("state.json", "four").unwrap(), None, "nothing is set aside");
        assert!(!again().is_ours("state.json", "edited by Ada"));
        assert!(again().remove("state.json").unwrap());
    }

    #[test]
    fn what_we_wrote_is_written_over_and_what_others_wrote_is_set_aside() {
        let (dir, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = Files::of(dir.path());
        let again = || Projection::into(files.clone(), state.path().join("projected.json"));
        assert_eq!(again().put("a/state.json", "one").unwrap(), None);
        // Another process remembers.
        assert_eq!(again().put("a/state.json", "two").unwrap(), None);
        files.write("a/state.json", "edited by Ada").unwrap();
        let aside = again().put("a/state.json", "three").unwrap();
        assert_eq!(aside.as_deref(), Some("a/state.json.aside-1"));
        assert_eq!(files.text("a/state.json.aside-1").unwrap().unwrap(), "edited by Ada");
        assert_eq!(files.text("a/state.json").unwrap().unwrap(), "three");
        again().offer("a/plan.md", "ours").unwrap();
        again().offer("a/plan.md", "ours, later").unwrap();
        assert_eq!(files.text("a/plan.md").unwrap().unwrap(), "ours, later");
        files.write("a/plan.md", "theirs").unwrap();
        again().offer("a/plan.md", "ours again").unwrap();
        assert_eq!(files.text("a/plan.md").unwrap().unwrap(), "theirs");
        files.write("a/v1.json", "found").unwrap();
        again().adopt("a/v1.json", "found").unwrap();
        assert_eq!(again().put("a/v1.json", "gone on with").unwrap(), None);
        again().adopt("a/v1.json", "found").unwrap();
        assert_eq!(again().put("a/v1.json", "further on").unwrap(), None, "it is ours still");
        files.write("a/v1.json", "edited").unwrap();
        again().adopt("a/v1.json", "found").unwrap();
        let aside = again().put("a/v1.json", "gone on with").unwrap();
        assert_eq!(aside.as_deref(), Some("a/v1.json.aside-1"), "what was changed since is kept");
        files.write("a/state.json", "edited again").unwrap();
        let aside = again().put("a/state.json", "three").unwrap();
        assert_eq!(aside.as_deref(), Some("a/state.json.aside-2"));
    }
}
