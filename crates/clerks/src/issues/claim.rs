//! Claims: whose an issue is, by the comments of a tracker alone (ADR 19).
//!
//! The oldest claim that has not been released and has not come to its end has the issue. What is taken back is gone.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use windlass_engine::message::Trouble;
use windlass_sources::tracker::{Comment, Marker};

/// What a comment that claims is marked with.
pub const CLAIM: &str = "claim";
/// What ends a claim well.
pub const COMPLETED: &str = "completed";
/// What ends one badly.
pub const FAILED: &str = "failed";
/// What a person ends one with.
pub const RELEASED: &str = "release";

/// Where secrets are, below the directory in which Windlass remembers things.
const DIR: &str = "issues";

/// A claim in the comments of an issue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Its key.
    pub key: String,
    /// Who made it.
    pub by: String,
    /// When.
    pub at: String,
    /// How it ended, if it has.
    pub ended: Option<End>,
}

/// How a claim ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The issue was completed.
    Completed,
    /// It failed.
    Failed,
    /// Somebody released it.
    Released,
}

/// The claims on an issue, the oldest first. One that is gone and that we have released ourselves counts as released where
/// that was said.
pub fn claims(comments: &[Comment]) -> Vec<Claim> {
    // Anybody may comment in many places: whoever may write nothing there claims nothing, and ends nobody's claim.
    let members = || comments.iter().filter(|it| it.may_write);
    let marked = || members().filter_map(|it| Some((it, Marker::of(&it.body)?)));
    let ended = |claim: &Comment, key: &str| {
        // Keys can be read by everybody: only who claims says what became of it. Any of them may release it.
        let ends = marked().filter(|(comment, marker)| {
            marker.key() == key && (marker.what() == RELEASED || comment.author == claim.author)
        });
        // What a person says of it last counts, whatever became of it before.
        let ends = ends.filter_map(|(_, marker)| match marker.what() {
            COMPLETED => Some(End::Completed),
            FAILED => Some(End::Failed),
            RELEASED => Some(End::Released),
            _ => None,
        });
        ends.max_by_key(|end| *end == End::Released)
    };
    let is_claim = |marker: &Marker| marker.what() == CLAIM;
    let is_there = |key: &str| marked().any(|(_, it)| is_claim(&it) && it.key() == key);
    marked()
        .filter(|(comment, marker)| {
            let releases = marker.what() == RELEASED && comment.author.is_me;
            is_claim(marker) || releases && !is_there(marker.key())
        })
        .map(|(comment, marker)| Claim {
            ended: ended(comment, marker.key()),
            key: marker.key().to_owned(),
            by: comment.author.name.clone(),
            at: comment.at.clone(),
        })
        .collect()
}

/// Who has an issue: the oldest claim that lives, but for those of `dead` keys.
pub fn holder<'c>(claims: &'c [Claim], dead: &[String]) -> Option<&'c Claim> {
    claims.iter().find(|claim| claim.ended.is_none() && !dead.contains(&claim.key))
}

/// The secret of a run, from which the keys of its markers are made.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret")
    }
}

/// So many bytes make a secret.
const BYTES: usize = 32;

impl Secret {
    /// The secret of a run, made when it is needed first. Nobody but its owner can read it.
    ///
    /// # Errors
    ///
    /// When it can be neither read nor made.
    pub fn of(state: &Path, run: &str) -> Result<Self, Trouble> {
        let path = at(state, run);
        if let Some(known) = read(&path) {
            return Ok(known);
        }
        let made = || -> std::io::Result<Vec<u8>> {
            fs::create_dir_all(state.join(DIR))?;
            let mut secret = vec![0; BYTES];
            fs::File::open("/dev/urandom")?.read_exact(&mut secret)?;
            // Whole or not at all: half a secret would be another one after a crash.
            let new = path.with_extension("new");
            let _ = fs::remove_file(&new);
            let mut file =
                fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(&secret)?;
            file.sync_all()?;
            fs::rename(&new, &path)?;
            fs::File::open(state.join(DIR))?.sync_all()?;
            Ok(secret)
        };
        made().map(Secret).map_err(|error| Trouble::io("write", &path, &error))
    }

    /// The secrets of earlier runs here that are over: nobody works on what they claimed.
    pub fn of_the_past(state: &Path) -> Vec<(String, Secret)> {
        Secret::kept(state, ".over")
    }

    /// The secrets of runs here that are not over: what they claimed is worked on from here.
    pub fn of_the_present(state: &Path) -> Vec<(String, Secret)> {
        Secret::kept(state, ".key")
    }

    fn kept(state: &Path, ending: &str) -> Vec<(String, Secret)> {
        let mut kept = Vec::new();
        for entry in fs::read_dir(state.join(DIR)).into_iter().flatten().flatten() {
            let path = entry.path();
            let name = path.file_name().and_then(|name| name.to_str());
            let run = name.and_then(|name| name.strip_suffix(ending));
            if let (Some(run), Some(secret)) = (run, read(&path)) {
                kept.push((run.to_owned(), secret));
            }
        }
        kept
    }

    /// A run is over: from now on its claims are nobody's.
    ///
    /// # Errors
    ///
    /// When that cannot be kept: what it still claims is released by hand then.
    pub fn over(state: &Path, run: &str) -> Result<(), Trouble> {
        let path = at(state, run);
        match fs::rename(&path, path.with_extension("over")) {
            // It has claimed nothing, or was over before.
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Trouble::io("rename", &path, &error))
            }
            _ => Ok(()),
        }
    }

    /// The key of what is marked in a run for an issue: nobody else can foresee it.
    pub fn key(&self, run: &str, issue: &str, what: &str) -> String {
        let mut bytes = self.0.clone();
        for part in [run, issue, what] {
            // Each with its length, so that no two lists of parts are the same.
            bytes.extend((part.len() as u64).to_le_bytes());
            bytes.extend(part.as_bytes());
        }
        let digest = windlass_journal::BlobId::of(&bytes).to_string();
        digest.chars().filter(char::is_ascii_alphanumeric).take(24).collect()
    }

    /// The key of a claim.
    pub fn claim(&self, run: &str, issue: &str) -> String {
        self.key(run, issue, CLAIM)
    }
}

fn at(state: &Path, run: &str) -> PathBuf {
    state.join(DIR).join(format!("{run}.key"))
}

fn read(path: &Path) -> Option<Secret> {
    fs::read(path).ok().filter(|bytes| bytes.len() == BYTES).map(Secret)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use windlass_sources::tracker::Person;
    use windlass_sources::tracker::marker::Form;

    use super::*;

    fn comment(what: &str, key: &str) -> Comment {
        let body = Marker::new(what, key).below("words", Form::Code);
        let author = Person { name: format!("who {key}"), is_me: false };
        Comment { author, body, may_write: true, ..Comment::default() }
    }

    #[test]
    fn the_oldest_claim_that_lives_has_the_issue() {
        let said = Comment { body: "I take this".to_owned(), ..Comment::default() };
        let all = [
            said,
            comment(CLAIM, "a1"),
            comment(CLAIM, "b2"),
            comment(RELEASED, "a1"),
            comment(CLAIM, "c3"),
        ];
        let holder_of = |comments: &[Comment], dead: &[&str]| {
            let dead: Vec<String> = dead.iter().map(|it| (*it).to_owned()).collect();
            holder(&claims(comments), &dead).map(|it| it.key.clone())
        };
        assert_eq!(holder_of(&all[..3], &[]).as_deref(), Some("a1"));
        assert_eq!(holder_of(&all, &[]).as_deref(), Some("b2"), "a1 was released");
        assert_eq!(holder_of(&all, &["b2"]).as_deref(), Some("c3"));
        assert_eq!(holder_of(&all[..1], &[]), None);
        let ended = [comment(CLAIM, "a1"), comment(FAILED, "a1")];
        assert_eq!(claims(&ended)[0].ended, Some(End::Failed));
        assert_eq!(holder_of(&ended, &[]), None);
        // Nor does what a stranger says of it.
        let stranger = Person { name: "a stranger".to_owned(), is_me: false };
        let forged = Comment { author: stranger, ..comment(FAILED, "a1") };
        let said = [comment(CLAIM, "a1"), forged];
        assert_eq!(holder_of(&said, &[]).as_deref(), Some("a1"));
        // Who may write nothing there takes nothing, and ends nothing.
        let outside = |what: &str, key: &str| Comment { may_write: false, ..comment(what, key) };
        let said = [outside(CLAIM, "zz"), comment(CLAIM, "a1"), outside(RELEASED, "a1")];
        assert_eq!(holder_of(&said, &[]).as_deref(), Some("a1"));
        assert_eq!(claims(&said).len(), 1);
        // A claim that is gone is released all the same, if we say so ourselves.
        let ours = |is_me: bool| {
            let author = Person { name: "Windlass".to_owned(), is_me };
            [Comment { author, ..comment(RELEASED, "a1") }]
        };
        assert_eq!(claims(&ours(true))[0].ended, Some(End::Released));
        assert_eq!(claims(&ours(false)), []);
        // What ends another claim ends no claim of ours.
        assert_eq!(
            holder_of(&[comment(CLAIM, "a1"), comment(FAILED, "zz")], &[]).as_deref(),
            Some("a1")
        );
    }

    #[test]
    fn keys_are_the_same_again_and_nobody_elses() {
        let dir = tempfile::tempdir().unwrap();
        let one = Secret::of(dir.path(), "issues-1").unwrap();
        assert_eq!(Secret::of(dir.path(), "issues-1").unwrap(), one);
        let other = Secret::of(dir.path(), "issues-2").unwrap();
        let keys = [
            one.claim("issues-1", "A-1"),
            one.claim("issues-1", "A-2"),
            one.key("issues-1", "A-1", "done"),
            other.claim("issues-1", "A-1"),
            one.key("issues-1A", "-1", CLAIM),
        ];
        for (at, key) in keys.iter().enumerate() {
            assert_eq!(key.len(), 24);
            assert!(!keys[..at].contains(key));
            assert_eq!(Marker::new(CLAIM, key).key(), key, "nothing of it is lost");
        }
        let mode = fs::metadata(dir.path().join("issues/issues-1.key")).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        assert_eq!(Secret::of_the_past(dir.path()), []);
        assert_eq!(Secret::of_the_present(dir.path()).len(), 2);
        Secret::over(dir.path(), "issues-1").unwrap();
        assert_eq!(Secret::of_the_past(dir.path()), [("issues-1".to_owned(), one)]);
        assert_eq!(Secret::of_the_present(dir.path()), [("issues-2".to_owned(), other.clone())]);
        // Once more it makes no difference, and what cannot be kept is said.
        Secret::over(dir.path(), "issues-1").unwrap();
        fs::create_dir_all(dir.path().join("issues/issues-2.over/x")).unwrap();
        let error = Secret::over(dir.path(), "issues-2").unwrap_err().to_string();
        assert!(error.contains("issues-2.key"), "{error}");
        assert_eq!(format!("{other:?}"), "Secret");
    }
}
