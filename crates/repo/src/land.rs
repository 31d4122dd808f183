//! Landing: the one way in which a person's branch moves.
//!
//! A request names the commit it was checked on, the tree that was checked and everything that goes
//! into the commit, so the same request always makes the same commit. That is what makes "exactly
//! once" something that can be looked up: if the branch contains the commit, it has landed. If the
//! branch is where it was when the work was checked, it moves by compare-and-swap; if it is anywhere
//! else, nothing lands, and the work comes back rebuilt on the new tip, to be checked again.
//!
//! Where the branch is checked out, the checkout moves along, if nothing there is in the way. Else
//! the work waits on a branch of the run, on top of what waits there already, until a person takes
//! it or a later landing can.

use crate::{
    error::RepoError,
    git::Place,
    merge::{Conflicted, Rebuilt, Work},
    mirror::Heads,
    name::Branch,
    oid::Oid,
    person::{Person, When},
    repository::{Checkout, Config},
    store::{Commit, Store},
    transfer::{Moved, Note},
    waiting::Waiting,
};

/// How a branch moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Land {
    /// The unit's commits, as they are.
    FastForward,
    /// A merge commit.
    Merge,
    /// The approved commits, one by one.
    CherryPick,
    /// One commit of everything.
    Commit,
}

/// Where a branch must be for a landing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// At the commit that the work was checked on.
    There,
    /// Nowhere yet: the landing makes it.
    New,
}

/// Work to land.
#[derive(Clone, Debug)]
pub struct Request {
    /// The run: it names the branch where work waits.
    pub run: String,
    /// The branch.
    pub branch: Branch,
    /// Whether it is there already.
    pub target: Target,
    /// How.
    pub how: Land,
    /// The commit that the work was checked on.
    pub base: Oid,
    /// The unit's last commit; the base, if there is none.
    pub head: Oid,
    /// The tree that was checked: nothing else lands.
    pub tree: Oid,
    /// The commits to pick; all of the unit's, if none are named.
    pub picks: Vec<Oid>,
    /// The message of the commit, where one is made.
    pub message: String,
    /// The author of the commit, where one is made.
    pub author: Person,
    /// Its dates.
    pub when: When,
}

/// What came of a landing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Landing {
    /// There is nothing in it: the tree is the one that it was a change of.
    Nothing,
    /// The branch has it.
    Landed {
        /// The commit.
        commit: Oid,
        /// It had it before.
        already: bool,
    },
    /// The branch is checked out where something is in the way.
    Waiting {
        /// The commit.
        commit: Oid,
        /// Where it waits.
        branch: Branch,
        /// What is in the way.
        why: String,
        /// The command that takes it.
        command: String,
    },
    /// The branch has moved. The work was rebuilt cleanly, and must be checked again.
    Moved {
        /// Where the branch is.
        tip: Oid,
        /// The work on top of it.
        rebuilt: Rebuilt,
    },
    /// The branch has moved, and the work does not go together with that.
    Conflict {
        /// Where the branch is.
        tip: Oid,
        /// The files.
        files: Vec<Conflicted>,
    },
}

impl Store {
    /// Lands work, once.
    pub fn land(&self, request: &Request) -> Result<Landing, RepoError> {
        let _one_at_a_time = self.landing.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.repository.writable()?;
        self.settle_unfinished()?;
        let heads = self.sync()?;
        if self.tree_of(&request.base)? == request.tree {
            return Ok(Landing::Nothing);
        }
        let commit = self.build(request)?;
        self.land_commit(request, &heads, commit)
    }

    /// Lands the commit of a request. Whoever calls this is the only one who lands just now.
    pub(crate) fn land_commit(
        &self,
        request: &Request,
        heads: &Heads,
        commit: Oid,
    ) -> Result<Landing, RepoError> {
        let tip = heads.tip(&request.branch);
        if let Some(tip) = tip.filter(|tip| **tip != request.base)
            && self.is_ancestor(&commit, tip)?
        {
            self.tidy(heads, &request.run, &commit)?;
            return Ok(Landing::Landed { commit, already: true });
        }
        let waiting = self.waiting(heads, &request.run, tip.unwrap_or(&request.base))?;
        let effective = waiting.on_top.as_ref().or(tip);
        match (effective, request.target) {
            (Some(tip), _) if *tip == commit => {}
            (Some(tip), Target::There) if *tip == request.base => {}
            (None, Target::New) => {}
            (Some(tip), _) => return self.moved(request, tip),
            (None, Target::There) => {
                return Err(RepoError::NoSuchBranch { branch: request.branch.to_string() });
            }
        }
        let config = self.repository.config()?;
        self.give(&commit, &request.base, &config)?;
        self.take(request, heads, &waiting, &commit, &config)
    }

    /// Whether work has landed, without landing it: the commit, if the branch or what waits for it has it.
    pub fn landed(&self, request: &Request) -> Result<Option<Oid>, RepoError> {
        self.settle_unfinished()?;
        let heads = self.sync()?;
        if self.tree_of(&request.base)? == request.tree {
            return Ok(None);
        }
        let commit = match self.build(request) {
            Ok(commit) => commit,
            Err(RepoError::BadRequest(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let tip = heads.tip(&request.branch).cloned();
        let waiting = self.waiting(&heads, &request.run, tip.as_ref().unwrap_or(&request.base))?;
        for tip in tip.iter().chain(waiting.tip()) {
            if self.is_ancestor(&commit, tip)? {
                return Ok(Some(commit));
            }
        }
        Ok(None)
    }

    /// Where new work of a run begins: where the branch is, or on top of what waits for it.
    ///
    /// # Errors
    ///
    /// When the branch is gone, or has gone another way than what waits: whoever builds on either would be without the
    /// other.
    pub fn beginning(&self, run: &str, branch: &Branch) -> Result<Oid, RepoError> {
        let heads = self.sync()?;
        let Some(tip) = heads.tip(branch) else {
            return Err(RepoError::NoSuchBranch { branch: branch.to_string() });
        };
        let waiting = self.waiting(&heads, run, tip)?;
        match (&waiting.on_top, waiting.apart()) {
            (Some(on_top), _) => Ok(on_top.clone()),
            (None, Some(waits)) => {
                Err(RepoError::Apart { branch: branch.to_string(), waits: waits.to_string() })
            }
            (None, None) => Ok(tip.clone()),
        }
    }

    /// The commit that a request makes.
    pub(crate) fn build(&self, request: &Request) -> Result<Oid, RepoError> {
        let commit = |parents: &[Oid]| {
            self.commit(&Commit {
                tree: &request.tree,
                parents,
                message: &request.message,
                author: &request.author,
                when: request.when,
            })
        };
        let (base, head) = (&request.base, &request.head);
        match request.how {
            Land::Commit => commit(std::slice::from_ref(base)),
            Land::Merge => {
                let whole = head != base && self.tree_of(head)? == request.tree;
                let side = if whole { head.clone() } else { commit(std::slice::from_ref(head))? };
                commit(&[base.clone(), side])
            }
            Land::FastForward => {
                if !self.is_ancestor(base, head)? {
                    return Err(bad(
                        "the unit's commits do not begin at the commit it was checked on",
                    ));
                }
                // What nobody has made a commit of yet goes on top of what somebody has.
                if self.tree_of(head)? == request.tree {
                    Ok(head.clone())
                } else {
                    commit(std::slice::from_ref(head))
                }
            }
            Land::CherryPick => {
                let chain = if request.picks.is_empty() {
                    self.chain(base, head)?
                } else {
                    request.picks.clone()
                };
                let picked = self.pick(&chain, base)?;
                self.bound(request, picked)
            }
        }
    }

    /// A commit, if it holds exactly what was checked.
    fn bound(&self, request: &Request, commit: Oid) -> Result<Oid, RepoError> {
        let tree = self.tree_of(&commit)?;
        if tree == request.tree {
            return Ok(commit);
        }
        Err(bad(&format!("its commits hold tree {tree}, but tree {} was checked", request.tree)))
    }

    fn pick(&self, commits: &[Oid], base: &Oid) -> Result<Oid, RepoError> {
        let mut head = base.clone();
        for commit in commits {
            let Some(parent) = self.parents(commit)?.into_iter().next() else {
                return Err(bad("a commit without a parent cannot be picked"));
            };
            if parent == head {
                head = commit.clone();
                continue;
            }
            let tree = self.tree_of(commit)?;
            let work = Work { base: &parent, head: commit, tree: &tree };
            let rebuilt = self.rebuild(&work, &head)?;
            if !rebuilt.clean {
                return Err(bad(&format!(
                    "commit {commit} does not apply without the ones left out"
                )));
            }
            head = rebuilt.head;
        }
        Ok(head)
    }

    /// Nothing lands on another tip than the one that was checked.
    fn moved(&self, request: &Request, tip: &Oid) -> Result<Landing, RepoError> {
        let work = Work { base: &request.base, head: &request.head, tree: &request.tree };
        let rebuilt = self.rebuild(&work, tip)?;
        let tip = tip.clone();
        Ok(if rebuilt.clean {
            Landing::Moved { tip, rebuilt }
        } else {
            Landing::Conflict { tip, files: rebuilt.conflicts }
        })
    }

    /// Brings the objects of a commit into the person's repository. No ref points to them yet.
    fn give(&self, commit: &Oid, have: &Oid, config: &Config) -> Result<(), RepoError> {
        let mut place = Place { objects: Some(self.repository.objects()), ..self.results() };
        let shared = config.shared.clone();
        place.config.extend(shared.map(|value| ("core.sharedRepository".into(), value)));
        let pack = self.pack_of(&self.results(), commit, &[have])?;
        self.unpack("land.unpack", &place, pack)
    }

    /// Moves the branch, and the checkout of it if there is one.
    fn take(
        &self,
        request: &Request,
        heads: &Heads,
        waiting: &Waiting,
        commit: &Oid,
        config: &Config,
    ) -> Result<Landing, RepoError> {
        let full = request.branch.full();
        let tip = heads.tip(&request.branch);
        let checkouts = self.repository.checkouts()?;
        let mut on_it = checkouts.iter().filter(|c| c.branch.as_deref() == Some(full.as_str()));
        let outcome = match (cannot_move(&full, &checkouts, config), on_it.next(), tip) {
            (Some(why), _, _) => Moved::Blocked(why),
            (None, Some(_), _) if on_it.next().is_some() => {
                Moved::Blocked("it is checked out more than once".into())
            }
            (None, Some(checkout), _) if !checkout.found => {
                Moved::Blocked("nobody knows where it is checked out".into())
            }
            (None, Some(checkout), Some(tip)) => {
                let note = Note::new(checkout, tip, commit, Some(&full));
                let refs = self.repository.refs_of(&checkout.git_dir, &checkout.path);
                self.transfer(note, config, || self.swap(&refs, request, commit, Some(tip)))?
            }
            (None, _, _) => {
                let moved = self.swap(&self.repository.refs(), request, commit, tip)?;
                if moved { Moved::Done } else { Moved::Overtaken }
            }
        };
        match outcome {
            Moved::Done => {
                self.tidy(heads, &request.run, commit)?;
                Ok(Landing::Landed { commit: commit.clone(), already: false })
            }
            Moved::Overtaken => match self.sync()?.tip(&request.branch) {
                Some(tip) => self.moved(request, tip),
                None => Err(RepoError::NoSuchBranch { branch: request.branch.to_string() }),
            },
            Moved::Blocked(why) => self.wait(request, heads, waiting, &checkouts, commit, why),
        }
    }

    /// Compare-and-swap. No when somebody was quicker.
    fn swap(
        &self,
        refs: &Place,
        request: &Request,
        to: &Oid,
        from: Option<&Oid>,
    ) -> Result<bool, RepoError> {
        let why = format!("windlass: {}", request.run.replace(char::is_control, " "));
        self.swap_ref(refs, &request.branch.full(), to, from, &why, request.when)
    }

    pub(crate) fn swap_ref(
        &self,
        refs: &Place,
        name: &str,
        to: &Oid,
        from: Option<&Oid>,
        why: &str,
        when: When,
    ) -> Result<bool, RepoError> {
        let none = to.zero_like();
        let refs = refs.clone().flushing();
        let call = self.git().call("land.update-ref", &refs);
        let moved = call
            .args(["update-ref", "--no-deref", "-m", why, name])
            .args([to.as_str(), from.map_or(none.as_str(), Oid::as_str)])
            .env("GIT_COMMITTER_NAME", self.settings.committer.name())
            .env("GIT_COMMITTER_EMAIL", self.settings.committer.email())
            .env("GIT_COMMITTER_DATE", when.to_string())
            .ok();
        let Err(error) = moved else { return Ok(true) };
        if self.repository.heads()?.get(name.as_bytes()) != from {
            return Ok(false);
        }
        match error.said() {
            Some(said) if said.contains(".lock'") => {
                let path = said.split('\'').find(|part| part.ends_with(".lock"));
                Err(RepoError::Locked { path: path.unwrap_or(name).into(), waited_ms: 2_000 })
            }
            _ => Err(error.into()),
        }
    }
}

/// Why a branch must not be moved whatever the state of its files, if that is so.
fn cannot_move(full: &str, checkouts: &[Checkout], config: &Config) -> Option<String> {
    for checkout in checkouts {
        for mark in ["rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"] {
            let said = crate::durable::read(&checkout.git_dir.join(mark)).ok().flatten();
            let said = said.map(|said| String::from_utf8_lossy(&said).trim().to_owned());
            let short = full.trim_start_matches("refs/heads/");
            if said.is_some_and(|said| said == full || said == short) {
                let what = if mark.starts_with("rebase") { "rebased" } else { "bisected" };
                return Some(format!("it is being {what} in {}", checkout.path.display()));
            }
        }
    }
    if checkouts.iter().all(|checkout| checkout.branch.as_deref() != Some(full)) {
        None
    } else if config.sparse {
        Some("its checkout is sparse".into())
    } else if config.folds_case {
        Some("its checkout does not tell upper from lower case".into())
    } else {
        None
    }
}

pub(crate) fn bad(why: &str) -> RepoError {
    RepoError::BadRequest(why.to_owned())
}
