//! Trains: work of several units, one on top of the other, to be checked and landed together.
//!
//! A train is made in the result store, without a checkout: each member is rebuilt on the one before it, as it would be
//! on a branch that has moved, and becomes the commit with which it lands. The same work on the same commit makes the
//! same train. Nobody sees it before the branch moves from where the train begins to one of its cars, which happens as
//! with any other landing ([`Store::land`]), or not at all.

use std::path::PathBuf;

use crate::{
    error::RepoError,
    git::GitError,
    land::{Land, Landing, Request},
    merge::{Conflicted, Work},
    name::Branch,
    oid::Oid,
    person::When,
    store::{Commit, Store},
};

/// A member of a train: one unit's work as it would land.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Car {
    /// What is before it: the car in front, or where the train begins.
    pub onto: Oid,
    /// The commit with which it lands.
    pub commit: Oid,
    /// What the branch would hold with everything up to here: what has to be checked.
    pub tree: Oid,
    /// The same as one commit on where the train begins: everything that would land, as one change.
    pub whole: Oid,
}

/// What became of work that was to go with a train.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coupled {
    /// It goes with it.
    On(Car),
    /// It goes together with what the branch has, but not with a car in front of it. That one may never land, so this
    /// stays behind until it is known.
    Behind,
    /// There is nothing in it that the branch does not have.
    Nothing,
    /// It does not go together with what the branch has.
    Conflict(Vec<Conflicted>),
}

impl Store {
    /// Makes a train of work, in this order, on a commit.
    pub fn train(&self, begins: &Oid, members: &[&Request]) -> Result<Vec<Coupled>, RepoError> {
        let mut top = begins.clone();
        let mut train = Vec::with_capacity(members.len());
        for request in members {
            let coupled = self.couple(begins, &top, request)?;
            if let Coupled::On(car) = &coupled {
                top = car.commit.clone();
            }
            train.push(coupled);
        }
        Ok(train)
    }

    fn couple(&self, begins: &Oid, top: &Oid, request: &Request) -> Result<Coupled, RepoError> {
        if self.tree_of(&request.base)? == request.tree {
            return Ok(Coupled::Nothing);
        }
        let work = Work { base: &request.base, head: &request.head, tree: &request.tree };
        let (head, tree) = if request.base == *top {
            (request.head.clone(), request.tree.clone())
        } else {
            let rebuilt = self.rebuild(&work, top)?;
            if !rebuilt.clean {
                let alone = if top == begins { rebuilt } else { self.rebuild(&work, begins)? };
                return Ok(match alone.clean {
                    true => Coupled::Behind,
                    false => Coupled::Conflict(alone.conflicts),
                });
            }
            (rebuilt.head, rebuilt.subject.tree)
        };
        if tree == self.tree_of(top)? {
            // What a car in front brings as well is in this one if that car never lands.
            return Ok(if top == begins { Coupled::Nothing } else { Coupled::Behind });
        }
        let rebuilt = Request { base: top.clone(), head, tree, ..(*request).clone() };
        let commit = self.build(&rebuilt)?;
        let whole = self.commit(&Commit {
            tree: &rebuilt.tree,
            parents: std::slice::from_ref(begins),
            message: "All that would land",
            author: &self.settings.committer,
            when: When::utc(0),
        })?;
        Ok(Coupled::On(Car { onto: top.clone(), commit, tree: rebuilt.tree, whole }))
    }

    /// Lands a train as far as one of its cars, once: moves the branch from where the train begins to there, or, where
    /// something is in the way, has it wait. The request says of which run, on which branch and when.
    pub fn arrive(&self, of: &Request, begins: &Oid, at: &Oid) -> Result<Landing, RepoError> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.repository.writable()?;
        self.settle_unfinished()?;
        let heads = self.sync()?;
        let request = Request {
            how: Land::FastForward,
            base: begins.clone(),
            head: at.clone(),
            tree: self.tree_of(at)?,
            picks: Vec::new(),
            ..of.clone()
        };
        self.land_commit(&request, &heads, at.clone())
    }

    /// Whether git takes a commit anywhere else, looked at object by object; nothing of that stays.
    ///
    /// # Errors
    ///
    /// [`RepoError::Unsound`], if it does not.
    pub fn sound(&self, commit: &Oid, onto: &Oid) -> Result<(), RepoError> {
        let pack = self.pack_of(&self.results(), commit, &[onto])?;
        self.in_trial(|objects| self.unpack("sound.unpack", &self.beside_results(objects), pack))
    }

    /// Whether a branch, or what waits for it, has a commit.
    pub fn has_arrived(&self, run: &str, branch: &Branch, commit: &Oid) -> Result<bool, RepoError> {
        self.settle_unfinished()?;
        let heads = self.sync()?;
        let tip = heads.tip(branch);
        let waiting = self.waiting(&heads, run, tip.unwrap_or(commit))?;
        for at in tip.into_iter().chain(waiting.tip()) {
            if self.is_ancestor(commit, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What each commit says that came to a branch between two commits and changed one of these files, newest first.
    pub fn came_between(
        &self,
        from: &Oid,
        to: &Oid,
        files: &[PathBuf],
    ) -> Result<Vec<(Oid, String)>, RepoError> {
        let place = self.results();
        let call = self.git().call("came-between", &place);
        let call = call.args(["log", "-z", "--first-parent", "-m", "--format=%H%n%B"]);
        let call = call.arg(format!("{from}..{to}")).arg("--");
        let said = files.iter().fold(call, |call, file| call.arg(file)).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let strange = || GitError::Strange { name: "came-between", what: said.clone() };
        let commits = said.split('\0').map(str::trim).filter(|text| !text.is_empty());
        commits
            .map(|text| {
                let (oid, message) = text.split_once('\n').unwrap_or((text, ""));
                let oid = Oid::parse(oid).map_err(|_| strange())?;
                Ok((oid, message.trim().to_owned()))
            })
            .collect()
    }
}
