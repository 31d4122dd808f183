//! Work that waits to be taken.
//!
//! Where a branch cannot be moved because of what is in its checkout, work goes to a branch of the
//! run. More work goes on top of it, so that it is all taken at once; only when the person's branch
//! has gone another way meanwhile, the next one gets a branch of its own. Nothing that waits is ever
//! moved over, and what has been taken is tidied away.

use crate::{
    error::{RepoError, quoted},
    land::{Landing, Request, bad},
    mirror::Heads,
    name::Branch,
    oid::Oid,
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

impl Store {
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
