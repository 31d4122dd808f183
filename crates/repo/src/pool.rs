//! The pool of lanes as a whole: how much of the disk it takes, what may go, and what was set aside and can be had back.

use std::fs;

use crate::{
    error::{Doing, RepoError},
    lane::{LaneState, Pooled},
    name::{decoded, unit_refs},
    oid::Oid,
    store::Store,
    work::bytes_below,
};

/// Something that was in a lane, is there no more, and is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Salvage {
    /// The ref in the result store.
    pub name: String,
    /// The run that it was made for, if any is known.
    pub run: Option<String>,
    /// The unit, or the lane where no unit is known.
    pub unit: String,
    /// The commit.
    pub commit: Oid,
    /// When it was made, in seconds since 1970.
    pub seconds: i64,
    /// What it is, in a line.
    pub what: String,
}

/// What a lane is called that is being removed.
pub(crate) const GONE: &str = "gone-";

/// What refs are called under which something is kept that is in no lane any more: edits that were set aside, what an agent
/// committed or stashed itself, files that git ignores, commits that a unit has gone back from, what was built of a unit that
/// did not land.
const KINDS: &[&str] = &["saved", "agent", "ignored", "heads", BUILT];

/// What was built of a unit that did not land.
const BUILT: &str = "built";

impl Store {
    /// How much of the disk lanes and clean checkouts take.
    pub fn bytes_of_lanes(&self) -> u64 {
        ["lanes", "checks"].iter().map(|name| bytes_below(&self.dir.join(name))).sum()
    }

    /// Removes a lane that nobody has, if it is clean and all that was in it has landed. How much of the disk that gives
    /// back; nothing if it may not go.
    pub fn reap(&self, number: u32) -> Result<Option<u64>, RepoError> {
        let Some(Ok(LaneState { owner: None, dirty: false, base, commit, .. })) =
            self.looked_at(number)
        else {
            return Ok(None);
        };
        // One that holds what it began with has nothing that could have landed.
        if !self.is_landed(number)? && self.tree_of(&base)? != self.tree_of(&commit)? {
            return Ok(None);
        }
        let home = self.dir.join("lanes").join(number.to_string());
        let bytes = bytes_below(&home);
        // Whole or not at all: half a lane would be one that nothing is known about.
        let gone = self.dir.join("lanes").join(format!("{GONE}{number}"));
        let _ = fs::remove_dir_all(&gone);
        fs::rename(&home, &gone).doing("removed", &home)?;
        fs::remove_dir_all(&gone).doing("removed", &gone)?;
        Ok(Some(bytes))
    }

    /// The lanes that nobody has.
    pub fn idle(&self) -> Result<Vec<u32>, RepoError> {
        let free = self.pool()?.into_iter().filter(|pooled| pooled.lane.is_none());
        Ok(free.map(|Pooled { number, .. }| number).collect())
    }

    /// What is kept and in no lane any more, the latest first.
    pub fn salvage(&self) -> Result<Vec<Salvage>, RepoError> {
        let place = self.results();
        let call = self.git().call("salvage", &place);
        let format = "%(refname)%09%(objectname)%09%(committerdate:unix)%09%(contents:subject)";
        let said = call.args(["for-each-ref", "--format", format, "refs/windlass"]).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let mut found: Vec<Salvage> = said.lines().filter_map(salvage).collect();
        found.sort_by(|one, other| (other.seconds, &one.name).cmp(&(one.seconds, &other.name)));
        Ok(found)
    }

    /// Has what was built of a unit that did not land be among what is kept.
    pub fn keep_built(&self, run: &str, unit: &str, commit: &Oid) -> Result<(), RepoError> {
        let refs = unit_refs(run, unit);
        let name = format!("{refs}/{BUILT}/{}", commit.short());
        self.keep(&name, commit).map(drop)
    }

    /// Whether a commit is kept as something of this unit, in whichever run.
    pub fn is_kept_of(&self, unit: &str, commit: &Oid) -> Result<bool, RepoError> {
        let place = self.results();
        let call = self.git().call("kept-of", &place);
        // One that is not there at all is no trouble: nothing points at it.
        let Some(commit) = self.commit_named(commit.as_str())? else { return Ok(false) };
        let points = format!("--points-at={commit}");
        let args = ["for-each-ref", "--format=%(refname)", points.as_str(), "refs/windlass"];
        let said = call.args(args).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let of = |name: &str| name.split('/').nth(3).map(decoded);
        Ok(said.lines().any(|name| of(name).as_deref() == Some(unit)))
    }

    /// The commit that somebody means by its name, or by the beginning of it.
    pub fn commit_named(&self, name: &str) -> Result<Option<Oid>, RepoError> {
        let digits = name.len() >= 4 && name.bytes().all(|b| b.is_ascii_hexdigit());
        if !digits {
            return Ok(None);
        }
        let place = self.results();
        let call = self.git().call("commit-named", &place);
        let commit = format!("{}^{{commit}}", name.to_ascii_lowercase());
        let output = call.args(["rev-parse", "--verify", "-q", commit.as_str()]).output()?;
        Ok((output.code == Some(0)).then(|| Oid::printed(&output.stdout)).transpose()?)
    }
}

fn salvage(line: &str) -> Option<Salvage> {
    let [name, commit, seconds, what] = line.splitn(4, '\t').collect::<Vec<_>>()[..] else {
        return None;
    };
    let parts: Vec<&str> = name.split('/').collect();
    let ["refs", "windlass", run, unit, kind, _] = parts[..] else { return None };
    KINDS.contains(&kind).then_some(())?;
    Some(Salvage {
        run: (run != "%lost").then(|| decoded(run)),
        unit: decoded(unit),
        commit: Oid::parse(commit).ok()?,
        seconds: seconds.parse().ok()?,
        // It is a snapshot like any other, and called like one.
        what: if kind == BUILT { "what was built, and did not land".into() } else { what.into() },
        name: name.to_owned(),
    })
}
