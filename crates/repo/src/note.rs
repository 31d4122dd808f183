//! Notes on landed commits: claims, checks, verdicts and cost, under a ref of our own.

use crate::{
    error::RepoError,
    git::{GitError, Place},
    oid::Oid,
    person::When,
    repository::NOTES,
    store::Store,
};

/// How often somebody else may be quicker before it is an error.
const TRIES: u32 = 5;

impl Store {
    /// Puts a note on a commit of the person's repository, replacing one that is there. The ref moves
    /// by compare-and-swap, so notes that others write meanwhile stay.
    pub fn note(&self, commit: &Oid, text: &str, when: When) -> Result<(), RepoError> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.repository.writable()?;
        for _ in 0..TRIES {
            let heads = self.sync()?;
            let old = heads.at(NOTES);
            let Some(new) = self.noted(commit, text, old, when)? else { return Ok(()) };
            let mut have = vec![];
            have.extend(old);
            let pack = self.pack_of(&self.results(), &new, &have)?;
            let place = Place { objects: Some(self.repository.objects()), ..self.results() };
            self.unpack("note.unpack", &place, pack)?;
            let refs = self.repository.refs();
            if self.swap_ref(&refs, NOTES, &new, old, "windlass: note", when)? {
                return Ok(());
            }
        }
        Err(RepoError::BadRequest(format!("{NOTES} is moved by others all the time")))
    }

    /// The commit of notes that has this one in it; none if it is there already.
    fn noted(
        &self,
        commit: &Oid,
        text: &str,
        old: Option<&Oid>,
        when: When,
    ) -> Result<Option<Oid>, RepoError> {
        let place = self.results();
        let git = self.git();
        let scratch = "refs/notes/windlass-scratch";
        match old {
            // Mostly, nobody has written any since we did.
            same if self.ref_at(scratch)?.as_ref() == same => {}
            Some(old) => self.own_refs().set(scratch, old)?,
            None => self.own_refs().remove(scratch)?,
        }
        let text = format!("{}\n", text.trim_end());
        let notes = |args: &[&str]| {
            let call = git.call("note.notes", &place);
            let call = call.args(["notes", "--ref", scratch]).args(args);
            call.env("GIT_AUTHOR_NAME", self.settings.committer.name())
                .env("GIT_AUTHOR_EMAIL", self.settings.committer.email())
                .env("GIT_AUTHOR_DATE", when.to_string())
                .env("GIT_COMMITTER_NAME", self.settings.committer.name())
                .env("GIT_COMMITTER_EMAIL", self.settings.committer.email())
                .env("GIT_COMMITTER_DATE", when.to_string())
        };
        if notes(&["show", commit.as_str()]).output()?.stdout == text.as_bytes() {
            return Ok(None);
        }
        let add = ["add", "-f", "--no-separator", "--no-stripspace", "-F", "-", commit.as_str()];
        // Before 2.42 the last two options were not there, and notes were always cleaned up.
        let output = notes(&add).stdin(text.as_bytes()).output()?;
        if output.code == Some(129) {
            notes(&["add", "-f", "-F", "-", commit.as_str()]).stdin(text.as_bytes()).ok()?;
        } else if output.code != Some(0) {
            let what = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(GitError::Strange { name: "note.notes", what }.into());
        }
        let strange = || GitError::Strange { name: "note.notes", what: "it left no notes".into() };
        Ok(Some(self.ref_at(scratch)?.ok_or_else(strange)?))
    }
}
