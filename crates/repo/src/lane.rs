//! Lanes: where units are built.
//!
//! A lane is a directory of the pool with a work tree that the agent sees and, beside it and out of
//! its sight, our index and a record: whose it is, which commit it stands on, what it held when we
//! looked last. Lanes are never deleted, only put right for the next unit, because that is many
//! times quicker than making one; what is in a lane and not kept yet is kept under a ref first.
//!
//! Everything that changes the files of a lane is prepared in the result store, then noted in the
//! record as pending, then done. Whoever opens a lane after a crash finishes what is pending, so no
//! one ever sees a work tree half way.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::PoisonError,
    time::SystemTime,
};

use serde::{Deserialize, Serialize};

use crate::{
    dotgit::{DotGit, LANE},
    durable,
    error::{Doing, RepoError},
    failpoint,
    name::{Branch, unit_refs},
    oid::Oid,
    person::{Person, When},
    reopen::reopen_itself,
    sight::Sight,
    store::{Commit, Seen, Store, Subject},
    work::{Clean, Recorded, Work, bytes_below},
};

/// How a directory beside a lane is called that holds what was too much for a snapshot.
const TOO_MUCH: &str = "too-much-";

/// So many commits are looked at before git is asked.
const NEAR: usize = 64;

/// A lane in use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lane {
    /// Its number in the pool.
    pub number: u32,
    /// The run it is used by.
    pub run: String,
    /// The unit that is built there.
    pub unit: String,
    /// The work tree.
    pub work: PathBuf,
    /// The commit that its change is a change of.
    pub base: Oid,
    /// Whether it was put right for the unit just now, so that nobody has been in it yet.
    pub untouched: bool,
}

/// A lane of the pool, as its record has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pooled {
    /// Its number.
    pub number: u32,
    /// The work tree.
    pub work: PathBuf,
    /// The lane that it is, if anybody uses it.
    pub lane: Option<Lane>,
    /// The commit it stands on.
    pub base: Oid,
    /// The commit that holds what was in it when it was looked at last.
    pub commit: Oid,
    /// Whether it is being turned into something else.
    pending: bool,
    /// The ref that its last edits were set aside under, if they were.
    pub saved: Option<String>,
}

/// How a lane of the pool stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneState {
    /// Its number.
    pub number: u32,
    /// The work tree.
    pub work: PathBuf,
    /// The run and the unit that use it, if any do.
    pub owner: Option<(String, String)>,
    /// The commit it stands on.
    pub base: Oid,
    /// The commit that holds what was in it when it was looked at last.
    pub commit: Oid,
    /// Whether it holds something that was not recorded yet.
    pub dirty: bool,
    /// The ref that its last edits were set aside under, if they were.
    pub saved: Option<String>,
    /// How much of the disk it takes.
    pub bytes: u64,
}

/// A lane of the pool that could not be looked at.
#[derive(Debug)]
pub struct Unseen {
    /// Its number.
    pub number: u32,
    /// The work tree.
    pub work: PathBuf,
    /// The run and the unit that use it, if that is known and any do.
    pub owner: Option<(String, String)>,
    /// Why not.
    pub why: RepoError,
}

/// Edits that were set aside before a lane was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saved {
    /// The ref they are under, in the result store.
    pub name: String,
    /// The commit.
    pub commit: Oid,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    pub run: String,
    pub unit: String,
}

/// What we know about a lane.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// Nobody: the lane is free.
    pub owner: Option<Owner>,
    pub base: Oid,
    /// The commit that is under a ref and holds what the lane held when we looked last.
    pub commit: Oid,
    /// Its tree, and the change that it is.
    pub subject: Subject,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<Pending>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<String>,
    /// The tree in which files that git is told to ignore are kept besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Oid>,
    /// All that was in it has landed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub landed: bool,
    /// The branch that its repository has checked out, if it has a name of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
}

impl Record {
    fn branch(&self) -> &str {
        self.branch.as_ref().map_or(LANE, Branch::as_str)
    }
}

/// What a lane is being turned into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pending {
    pub base: Oid,
    /// The last commit of the unit.
    pub head: Oid,
    /// The commit whose tree the lane will hold.
    pub commit: Oid,
    pub subject: Subject,
    pub clean: Clean,
    /// Whether the agent gets a fresh `.git`.
    pub fresh: bool,
}

/// A lane that was opened: nothing is pending in it.
pub(crate) struct Opened<'s> {
    /// Whether we looked, just now, and what the record says is exactly what is there.
    pub known: bool,
    pub home: PathBuf,
    pub record: Record,
    pub work: Work<'s>,
    pub refs: String,
}

impl Opened<'_> {
    /// Records what the lane holds now.
    pub fn record_now(&self) -> Result<Recorded, RepoError> {
        let seen = || self.work.store.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let known = seen().get(&self.home).cloned();
        if let Some(Seen { sight, base, recorded }) = known
            && base == self.record.base
            && recorded.subject == self.record.subject
            && Sight::of(&self.work.dir).is_some_and(|now| now.same_as(&sight))
        {
            return Ok(recorded);
        }
        seen().remove(&self.home);
        let looked = SystemTime::now();
        let recorded = self.work.record(&self.record.base, Some(&self.record.subject))?;
        // Where somebody is at work a walk would be for nothing: the next look has to ask git anyway.
        if recorded.subject == self.record.subject
            && let Some(sight) = Sight::of(&self.work.dir)
            && sight.is_older_than(looked)
        {
            let base = self.record.base.clone();
            // What was reopened is told once.
            let recorded = Recorded { reopened: Vec::new(), ..recorded.clone() };
            seen().insert(self.home.clone(), Seen { sight, base, recorded });
        }
        Ok(recorded)
    }
}

impl Store {
    /// A lane for a unit: made, put right for it from the pool, or found as it was left. A lane that
    /// another unit still has is taken over, and what is in it kept.
    pub fn ensure_lane(
        &self,
        number: u32,
        base: &Oid,
        run: &str,
        unit: &str,
        when: When,
    ) -> Result<Lane, RepoError> {
        self.ensure_lane_on(number, base, (run, unit), None, when)
    }

    /// The same, with a branch of this name checked out there if it is new. Nobody but who works
    /// in the lane ever sees that branch.
    pub fn ensure_lane_on(
        &self,
        number: u32,
        base: &Oid,
        (run, unit): (&str, &str),
        branch: Option<&Branch>,
        when: When,
    ) -> Result<Lane, RepoError> {
        let home = self.lane_home(number);
        let owner = Owner { run: run.into(), unit: unit.into() };
        let work = self.lane_work(number);
        fs::create_dir_all(&work.dir).doing("made", &work.dir)?;
        reopen_itself(&work.dir);
        let record = read_record(&home)?;
        if let Some(record) = record.as_ref().filter(|record| record.owner.as_ref() == Some(&owner))
        {
            let mut opened = self.opened(number, record.clone())?;
            self.mend(&mut opened)?;
            return Ok(self.lane(number, &owner, &opened.record.base));
        }
        let mut known = None;
        let mut clean = Clean::Everything;
        if let Some(record) = record {
            // What tools have made stays for the same run, and another one sees nothing of it.
            if record.owner.as_ref().is_some_and(|before| before.run == owner.run) {
                clean = Clean::AllButCaches;
            }
            let mut opened = self.opened(number, record)?;
            self.set_aside_all(&mut opened, "before the lane went to another unit", when)?;
            known = opened.known.then_some(opened.record.subject);
        } else if work.index.exists()
            || fs::read_dir(&work.dir).is_ok_and(|mut dir| dir.next().is_some())
        {
            self.set_aside_unknown(number, &work, base, when)?;
        }
        self.make_ready(number, base, owner, branch, (known, clean))
    }

    /// Puts a lane right for a unit, now that what was in it is kept. `known` is the tree that it
    /// is known to hold.
    fn make_ready(
        &self,
        number: u32,
        base: &Oid,
        owner: Owner,
        branch: Option<&Branch>,
        (known, clean): (Option<Subject>, Clean),
    ) -> Result<Lane, RepoError> {
        let subject = self.unchanged(base)?;
        let lane = Lane { untouched: true, ..self.lane(number, &owner, base) };
        let record = Record {
            owner: Some(owner.clone()),
            base: base.clone(),
            commit: base.clone(),
            subject: known.clone().unwrap_or_else(|| subject.clone()),
            pending: None,
            saved: None,
            ignored: None,
            landed: false,
            branch: branch.cloned(),
        };
        let mut opened = Opened {
            known: known.is_some(),
            home: self.lane_home(number),
            refs: unit_refs(&owner.run, &owner.unit),
            record,
            work: self.lane_work(number),
        };
        let pending = Pending {
            base: base.clone(),
            head: base.clone(),
            commit: base.clone(),
            subject,
            clean,
            fresh: true,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(lane)
    }

    fn lane(&self, number: u32, owner: &Owner, base: &Oid) -> Lane {
        Lane {
            number,
            run: owner.run.clone(),
            unit: owner.unit.clone(),
            work: self.lane_work(number).dir,
            base: base.clone(),
            untouched: false,
        }
    }

    fn lane_home(&self, number: u32) -> PathBuf {
        self.dir.join("lanes").join(number.to_string())
    }

    fn lane_work(&self, number: u32) -> Work<'_> {
        let home = self.lane_home(number);
        Work { store: self, dir: home.join("work"), index: home.join("index") }
    }

    /// Opens a lane that a unit has, and finishes what was pending there.
    pub(crate) fn open_lane(&self, lane: &Lane) -> Result<Opened<'_>, RepoError> {
        let record = read_record(&self.lane_home(lane.number))?.filter(|record| {
            record.owner.as_ref().is_some_and(|o| o.run == lane.run && o.unit == lane.unit)
        });
        let record = record.ok_or_else(|| RepoError::NotTheirs {
            number: lane.number,
            run: lane.run.clone(),
            unit: lane.unit.clone(),
        })?;
        self.opened(lane.number, record)
    }

    fn opened(&self, number: u32, record: Record) -> Result<Opened<'_>, RepoError> {
        let refs = match &record.owner {
            Some(owner) => unit_refs(&owner.run, &owner.unit),
            None => lost_refs(number),
        };
        let home = self.lane_home(number);
        let work = self.lane_work(number);
        let mut opened = Opened { known: false, home, record, work, refs };
        self.finish(&mut opened)?;
        Ok(opened)
    }

    /// Turns a lane into something else: noted first, then done.
    pub(crate) fn turn_into(
        &self,
        opened: &mut Opened<'_>,
        pending: Pending,
    ) -> Result<(), RepoError> {
        opened.record.pending = Some(pending);
        write_record(&opened.home, &opened.record)?;
        self.finish(opened)
    }

    fn finish(&self, opened: &mut Opened<'_>) -> Result<(), RepoError> {
        let Some(pending) = opened.record.pending.take() else { return Ok(()) };
        fs::create_dir_all(&opened.work.dir).doing("made", &opened.work.dir)?;
        if opened.known && opened.record.subject.tree == pending.subject.tree {
            opened.work.clean(&pending.subject.tree, pending.clean)?;
        } else {
            opened.work.put(&pending.subject.tree, pending.clean)?;
        }
        self.copy_extras(&opened.work.dir, &opened.work.place())?;
        if pending.fresh {
            self.fresh_dot_git(opened, &pending)?;
        }
        self.move_head(&opened.refs, &pending.head)?;
        opened.record.base = pending.base;
        opened.record.commit = pending.commit;
        opened.record.subject = pending.subject;
        write_record(&opened.home, &opened.record)
    }

    fn fresh_dot_git(&self, opened: &Opened<'_>, pending: &Pending) -> Result<(), RepoError> {
        let (head, held) = (&pending.head, &pending.subject.tree);
        let (branch, person) = (opened.record.branch(), self.lane_person());
        self.make_dot_git(&opened.work, &DotGit { head, held, branch, person })
    }

    /// Who commits in lanes: the person, if git knows who that is.
    fn lane_person(&self) -> &Person {
        self.lane_person.get_or_init(|| {
            self.repository.identity().unwrap_or_else(|_| self.settings.committer.clone())
        })
    }

    /// Gives the agent a `.git` that works again, if it broke its own. Its files are not touched,
    /// and what it had committed is kept.
    fn mend(&self, opened: &mut Opened<'_>) -> Result<(), RepoError> {
        let head = self.head_of(opened)?;
        let mut there = self.provenance_of(opened, &head)?;
        there.extend([head.clone(), opened.record.base.clone()]);
        if self.dot_git_is_sound(&opened.work.dir, self.lane_person(), &there) {
            return Ok(());
        }
        // The agent's index says what the unit's last commit holds.
        self.with_index(|index| {
            let place = self.results().with_work(&opened.work.dir, index);
            let git = self.git();
            git.call("mend.read-tree", &place).args(["read-tree", head.as_str()]).ok()?;
            self.refresh(&place)?;
            let work = Work { store: self, dir: opened.work.dir.clone(), index: index.into() };
            let branch = opened.record.branch();
            let held = &self.tree_of(&head)?;
            let made = DotGit { head: &head, held, branch, person: self.lane_person() };
            self.make_dot_git(&work, &made)
        })
    }

    /// The same for a lane of the pool, whoever has it: what was begun there is finished, and its
    /// `.git` works again. Only for whoever holds the repository.
    pub fn mend_lane(&self, number: u32) -> Result<(), RepoError> {
        let Some(record) = read_record(&self.lane_home(number))? else { return Ok(()) };
        reopen_itself(&self.lane_work(number).dir);
        self.mend(&mut self.opened(number, record)?)
    }

    /// Whether the settings of a lane's `.git` are as we made them. Changes nothing.
    pub fn lane_is_settled(&self, number: u32) -> bool {
        self.dot_git_is_settled(&self.lane_work(number).dir, self.lane_person())
    }

    /// The unit's last commit: its base, if there is none.
    pub(crate) fn head_of(&self, opened: &Opened<'_>) -> Result<Oid, RepoError> {
        let head = self.ref_at(&format!("{}/head", opened.refs))?;
        Ok(head.unwrap_or_else(|| opened.record.base.clone()))
    }

    /// Moves the unit's last commit; one that would be out of reach afterwards is kept.
    fn move_head(&self, refs: &str, to: &Oid) -> Result<(), RepoError> {
        let name = format!("{refs}/head");
        match self.ref_at(&name)? {
            Some(there) if there == *to => Ok(()),
            Some(there) => {
                if !self.is_ancestor(&there, to)? {
                    self.keep(&format!("{refs}/heads/{}", there.short()), &there)?;
                }
                self.move_ref(&name, to, Some(&there))
            }
            None => self.move_ref(&name, to, None),
        }
    }

    /// Whether a commit has another one in its history, or is it.
    pub fn has_in_history(&self, commit: &Oid, other: &Oid) -> Result<bool, RepoError> {
        Ok(commit == other || self.is_ancestor(other, commit)?)
    }

    /// Those of some commits that another one has not in its history.
    pub fn missing_from(&self, tip: &Oid, commits: &[Oid]) -> Result<Vec<Oid>, RepoError> {
        let place = self.results();
        let mut named: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        named.push_str(&format!("^{tip}\n"));
        let call = self.git().call("missing-from", &place).args(["rev-list", "--stdin"]);
        let said = call.stdin(named).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let beside: BTreeSet<&str> = said.lines().collect();
        Ok(commits.iter().filter(|commit| beside.contains(commit.as_str())).cloned().collect())
    }

    pub(crate) fn is_ancestor(&self, old: &Oid, new: &Oid) -> Result<bool, RepoError> {
        // Mostly it is one of the last few.
        let mut at = new.clone();
        for _ in 0..NEAR {
            if at == *old {
                return Ok(true);
            }
            let commit = self.objects.read(&at).and_then(|object| object.commit());
            let Some(parent) = commit.and_then(|it| it.parents.into_iter().next()) else { break };
            at = parent;
        }
        let place = self.results();
        let call = self.git().call("is-ancestor", &place);
        Ok(call.args(["merge-base", "--is-ancestor", old.as_str(), new.as_str()]).test()?)
    }

    pub(crate) fn provenance_of(
        &self,
        opened: &Opened<'_>,
        head: &Oid,
    ) -> Result<Vec<Oid>, RepoError> {
        let quarantine = opened.home.join("quarantine");
        let ours = [&opened.record.base, head];
        self.keep_provenance(&opened.work.dir, &quarantine, &ours, &opened.refs)
    }

    /// Keeps what a lane holds, if it is not kept yet.
    pub(crate) fn set_aside(
        &self,
        opened: &mut Opened<'_>,
        why: &str,
        when: When,
    ) -> Result<Option<Saved>, RepoError> {
        let head = self.head_of(opened)?;
        self.provenance_of(opened, &head)?;
        let recorded = match opened.record_now() {
            // More than is ever kept in git is kept beside the lane, which then holds what is on record.
            Err(RepoError::TooMuch { .. }) => return self.put_away(opened).map(|()| None),
            recorded => recorded?,
        };
        opened.known = recorded.left_out.is_empty();
        if recorded.subject == opened.record.subject {
            return Ok(None);
        }
        let tree = &recorded.subject.tree;
        let saved = self.save_tree(&opened.refs, tree, &head, why, when)?;
        opened.record.commit = saved.commit.clone();
        opened.record.subject = recorded.subject;
        opened.record.saved = Some(saved.name.clone());
        write_record(&opened.home, &opened.record)?;
        Ok(Some(saved))
    }

    /// The same, with the files that git is told to ignore: for a lane that they are about to be taken out of.
    pub(crate) fn set_aside_all(
        &self,
        opened: &mut Opened<'_>,
        why: &str,
        when: When,
    ) -> Result<Option<Saved>, RepoError> {
        let saved = self.set_aside(opened, why, when)?;
        let tree = opened.work.with_ignored(&opened.record.subject.tree)?;
        let Some(tree) = tree.filter(|tree| opened.record.ignored.as_ref() != Some(tree)) else {
            return Ok(saved);
        };
        let head = opened.record.commit.clone();
        let commit = self.commit(&Commit {
            tree: &tree,
            parents: std::slice::from_ref(&head),
            message: &format!("With ignored files, set aside {why}"),
            author: &self.settings.committer,
            when,
        })?;
        self.keep(&format!("{}/ignored/{}", opened.refs, tree.short()), &commit)?;
        opened.record.ignored = Some(tree);
        write_record(&opened.home, &opened.record)?;
        Ok(saved)
    }

    /// Puts everything that is in a lane beside it, as it is, and has the lane hold what is on record.
    fn put_away(&self, opened: &mut Opened<'_>) -> Result<(), RepoError> {
        let head = self.head_of(opened)?;
        let Record { base, commit, subject, .. } = opened.record.clone();
        // Cut off before anything was moved, what is there stays there.
        let pending = Pending { base, head, commit, subject, clean: Clean::Nothing, fresh: true };
        opened.record.pending = Some(pending);
        write_record(&opened.home, &opened.record)?;
        let free = (1_u32..).map(|nth| opened.home.join(format!("{TOO_MUCH}{nth}")));
        if let Some(aside) = free.into_iter().find(|path| path.symlink_metadata().is_err()) {
            let work = &opened.work.dir;
            failpoint::around("lane.put-away", || fs::rename(work, &aside)).doing("moved", work)?;
        }
        opened.known = false;
        self.finish(opened)
    }

    fn save_tree(
        &self,
        refs: &str,
        tree: &Oid,
        head: &Oid,
        why: &str,
        when: When,
    ) -> Result<Saved, RepoError> {
        let commit = self.commit(&Commit {
            tree,
            parents: std::slice::from_ref(head),
            message: &format!("Set aside {why}"),
            author: &self.settings.committer,
            when,
        })?;
        let name = self.keep(&format!("{refs}/saved/{}", tree.short()), &commit)?;
        Ok(Saved { name, commit })
    }

    /// Keeps what is in a lane whose record is gone.
    fn set_aside_unknown(
        &self,
        number: u32,
        work: &Work<'_>,
        base: &Oid,
        when: When,
    ) -> Result<(), RepoError> {
        durable::remove(&work.index)?;
        let tree = work.record(base, None)?.subject.tree;
        let why = "from a lane without a record";
        self.save_tree(&lost_refs(number), &tree, base, why, when)?;
        Ok(())
    }

    /// Gives a lane back to the pool. What is in it stays there until another unit needs it, and is
    /// kept under a ref in any case.
    pub fn release(&self, lane: &Lane, when: When) -> Result<Option<Saved>, RepoError> {
        self.release_as(lane, false, when)
    }

    /// The same, and says whether what the unit has made has landed.
    pub fn release_as(
        &self,
        lane: &Lane,
        landed: bool,
        when: When,
    ) -> Result<Option<Saved>, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let saved = self.set_aside_all(&mut opened, "when the lane was released", when)?;
        opened.record.owner = None;
        opened.record.landed = landed && saved.is_none();
        write_record(&opened.home, &opened.record)?;
        Ok(saved)
    }

    /// All lanes of the pool, as their records have them.
    pub fn pool(&self) -> Result<Vec<Pooled>, RepoError> {
        let pooled = self.numbers()?.into_iter().map(|number| self.pooled(number));
        pooled.filter_map(Result::transpose).collect()
    }

    /// The numbers of the lanes that have a directory.
    fn numbers(&self) -> Result<Vec<u32>, RepoError> {
        let dir = self.dir.join("lanes");
        let entries = fs::read_dir(&dir).doing("read", &dir)?.flatten();
        let mut numbers: Vec<u32> =
            entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Whether all that was in a lane that nobody has is known to have landed.
    pub(crate) fn is_landed(&self, number: u32) -> Result<bool, RepoError> {
        let record = read_record(&self.lane_home(number))?;
        Ok(record.is_some_and(|record| record.owner.is_none() && record.landed))
    }

    /// A lane of the pool as its record has it, if there is such a lane.
    pub fn pooled(&self, number: u32) -> Result<Option<Pooled>, RepoError> {
        let record = read_record(&self.lane_home(number))?;
        Ok(record.map(|Record { owner, base, commit, pending, saved, .. }| {
            let lane = owner.as_ref().map(|owner| self.lane(number, owner, &base));
            let work = self.lane_work(number).dir;
            let pending = pending.is_some();
            Pooled { number, work, lane, base, commit, pending, saved }
        }))
    }

    /// All lanes of the pool, each looked at. One that cannot be is no reason to say nothing of the others.
    pub fn lanes(&self) -> Result<Vec<Result<LaneState, Unseen>>, RepoError> {
        Ok(self.numbers()?.into_iter().filter_map(|number| self.looked_at(number)).collect())
    }

    /// A lane of the pool, looked at, if there is such a lane.
    pub fn looked_at(&self, number: u32) -> Option<Result<LaneState, Unseen>> {
        let pooled = match self.pooled(number) {
            Ok(pooled) => pooled?,
            Err(why) => {
                let work = self.lane_work(number).dir;
                return Some(Err(Unseen { number, work, owner: None, why }));
            }
        };
        let Pooled { number, work, lane, base, commit, pending, saved } = pooled;
        let owner = lane.map(|lane| (lane.run, lane.unit));
        let dirty = match pending {
            true => Ok(false),
            false => self.lane_work(number).is_dirty(),
        };
        Some(match dirty {
            Ok(dirty) => {
                let bytes = bytes_below(&self.lane_home(number));
                Ok(LaneState { number, work, owner, base, commit, dirty, saved, bytes })
            }
            Err(why) => Err(Unseen { number, work, owner, why }),
        })
    }
}

/// Where work of nobody is kept. No id encodes to this.
fn lost_refs(number: u32) -> String {
    format!("refs/windlass/%lost/lane-{number}")
}

fn record_path(home: &Path) -> PathBuf {
    home.join("record.json")
}

fn read_record(home: &Path) -> Result<Option<Record>, RepoError> {
    let path = record_path(home);
    let Some(bytes) = durable::read(&path)? else { return Ok(None) };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| RepoError::BadRecord { path, what: error.to_string() })
}

pub(crate) fn write_record(home: &Path, record: &Record) -> Result<(), RepoError> {
    let path = record_path(home);
    let bytes = serde_json::to_vec_pretty(record)
        .map_err(|error| RepoError::BadRecord { path: path.clone(), what: error.to_string() })?;
    durable::write(&path, &bytes)
}
