//! Work that waits to be taken.
//!
//! Where a branch cannot be moved because of what is in its checkout, work goes to a branch of the
//! run. More work goes on top of it, so that it is all taken at once; only when the person's branch
//! has gone another way meanwhile, the next one gets a branch of its own. Nothing that waits is ever
//! moved over, and what has been taken is tidied away.

use crate::{
    error::{RepoError, quoted},
    land::{Land, Landing, Request, Target, bad},
    mirror::Heads,
    name::Branch,
    oid::Oid,
    person::{Person, When},
    repository::Checkout,
    store::Store,
};

/// The branches on which work of a run waits.
pub(crate) struct Waiting {
    /// The last of them, and how many there are.
    last: Option<(Branch, Oid)>,
    count: u32,
    /// Its tip, if it stands on the branch that work lands on and not in it.
    pub on_top: Option<Oid>,
    /// Whether it may be moved on: it stands on the branch, or is in it.
    usable: bool,
}

impl Waiting {
    /// Where the last of them is.
    pub fn tip(&self) -> Option<&Oid> {
        self.last.as_ref().map(|(_, tip)| tip)
    }

    /// The last of them, if the branch has gone another way.
    pub fn apart(&self) -> Option<&Branch> {
        self.last.as_ref().filter(|_| !self.usable).map(|(branch, _)| branch)
    }
}

/// Work of a run that waits, and that the branch which it is for has not got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Untaken {
    /// The run.
    pub run: String,
    /// Where it waits.
    pub branch: Branch,
    /// Its tip.
    pub commit: Oid,
    /// The branch that it is for.
    pub onto: Branch,
    /// Where that is.
    pub tip: Oid,
}

impl Store {
    /// What waits of these runs for a branch that has not got it.
    pub fn untaken<'r>(
        &self,
        onto: &Branch,
        runs: impl Iterator<Item = &'r str>,
    ) -> Result<Vec<Untaken>, RepoError> {
        let heads = self.sync()?;
        let Some(tip) = heads.tip(onto) else { return Ok(Vec::new()) };
        let mut untaken = Vec::new();
        for run in runs {
            for count in 1.. {
                let branch = Branch::waiting(run, count);
                let Some(commit) = heads.tip(&branch) else { break };
                if !self.is_ancestor(commit, tip)? {
                    let (run, commit) = (run.to_owned(), commit.clone());
                    let (onto, tip) = (onto.clone(), tip.clone());
                    untaken.push(Untaken { run, branch, commit, onto, tip });
                }
            }
        }
        Ok(untaken)
    }

    /// Has what waits land after all, if nothing is in its way any more. Nothing if the branch has gone another way: it was
    /// checked on what it stands on, and lands on nothing else.
    pub fn bring_in(
        &self,
        untaken: &Untaken,
        author: Person,
        when: When,
    ) -> Result<Option<Landing>, RepoError> {
        let Untaken { run, commit, onto, tip, .. } = untaken;
        if !self.is_ancestor(tip, commit)? {
            return Ok(None);
        }
        let request = Request {
            run: run.clone(),
            branch: onto.clone(),
            target: Target::There,
            how: Land::FastForward,
            base: tip.clone(),
            head: commit.clone(),
            tree: self.tree_of(commit)?,
            picks: Vec::new(),
            message: String::new(),
            author,
            when,
        };
        self.land(&request).map(Some)
    }

    pub(crate) fn waiting(
        &self,
        heads: &Heads,
        run: &str,
        tip: &Oid,
    ) -> Result<Waiting, RepoError> {
        let mut waiting = Waiting { last: None, count: 0, on_top: None, usable: false };
        for count in 1.. {
            let branch = Branch::waiting(run, count);
            let Some(at) = heads.tip(&branch) else { break };
            waiting.count = count;
            waiting.last = Some((branch, at.clone()));
        }
        if let Some((_, at)) = &waiting.last {
            let taken = self.is_ancestor(at, tip)?;
            let ahead = !taken && self.is_ancestor(tip, at)?;
            waiting.usable = taken || ahead;
            waiting.on_top = ahead.then(|| at.clone());
        }
        Ok(waiting)
    }

    /// Leaves a commit on the branch of the run.
    pub(crate) fn wait(
        &self,
        request: &Request,
        heads: &Heads,
        waiting: &Waiting,
        checkouts: &[Checkout],
        commit: &Oid,
        why: String,
    ) -> Result<Landing, RepoError> {
        let free = |branch: &Branch| {
            checkouts.iter().all(|checkout| checkout.branch.as_deref() != Some(&branch.full()))
        };
        let branch = match &waiting.last {
            Some((branch, at)) if at == commit || (waiting.usable && free(branch)) => {
                branch.clone()
            }
            _ => Branch::waiting(&request.run, waiting.count + 1),
        };
        let at = heads.tip(&branch);
        if at != Some(commit) {
            let refs = self.repository.refs();
            let why = "windlass: waiting to be taken";
            if !self.swap_ref(&refs, &branch.full(), commit, at, why, request.when)? {
                return Err(bad(&format!("branch {branch} was moved by somebody else")));
            }
        }
        let top = checkouts
            .iter()
            .find(|checkout| checkout.branch.as_deref() == Some(&request.branch.full()))
            .map_or(self.repository.top(), |checkout| &checkout.path);
        let command = format!("git -C {} merge --ff-only {branch}", quoted(top));
        Ok(Landing::Waiting { commit: commit.clone(), branch, why, command })
    }

    /// Removes the run's own branches once the work on them is where it belongs.
    pub(crate) fn tidy(&self, heads: &Heads, run: &str, commit: &Oid) -> Result<(), RepoError> {
        let refs = self.repository.refs();
        for count in 1.. {
            let branch = Branch::waiting(run, count);
            let Some(at) = heads.tip(&branch) else { break };
            let full = branch.full();
            let used = |c: &Checkout| c.branch.as_deref() == Some(&full);
            if self.is_ancestor(at, commit)? && !self.repository.checkouts()?.iter().any(used) {
                let call = self.git().call("land.tidy", &refs);
                call.args(["update-ref", "--no-deref", "-d", &full, at.as_str()]).output()?;
            }
        }
        Ok(())
    }
}
