//! Saving what a lane holds, and going back.
//!
//! The commits of a unit form a chain from its base, whose last one is the unit's head. Snapshots
//! stand beside the chain, each on the head of its time: every turn of an agent that changed files
//! has one. All of them are in the result store, under refs of the unit.

use std::path::{Path, PathBuf};

use crate::{
    changes::Change,
    error::RepoError,
    lane::{Lane, Opened, Pending, Saved, write_record},
    name::component,
    oid::Oid,
    person::{Person, When},
    store::{Commit, Store, Subject},
    work::{Clean, LeftOut, Recorded},
};

/// What a lane held at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// A commit of it, kept under a ref.
    pub commit: Oid,
    /// What was looked at.
    pub subject: Subject,
    /// Whether it is something else than when we looked last.
    pub changed: bool,
    /// Directories that have a repository of their own, as far as they are new. Their files are in
    /// the snapshot, their history is not.
    pub nested: Vec<PathBuf>,
    /// What git cannot hold.
    pub left_out: Vec<LeftOut>,
    /// Files and directories that nobody was allowed to read. We have allowed it to ourselves.
    pub reopened: Vec<PathBuf>,
    /// What the agent committed itself, kept as provenance.
    pub agent_commits: Vec<Oid>,
}

/// What came of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The unit's last commit now.
    pub commit: Oid,
    /// What it holds.
    pub subject: Subject,
    /// Whether there was anything to commit.
    pub saved: bool,
}

/// What came of going back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewound {
    /// The edits that were set aside, if there were any.
    pub saved: Option<Saved>,
    /// What the lane holds now.
    pub subject: Subject,
}

/// What came of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Patched {
    /// All of it was applied.
    Applied {
        /// What there is now.
        subject: Subject,
        /// The commit that holds it.
        commit: Oid,
    },
    /// Nothing of it was applied.
    Rejected {
        /// Why.
        why: String,
    },
}

impl Store {
    /// Records what a lane holds. What changed is kept under a ref of this label; the same label
    /// never replaces something else.
    pub fn snapshot(&self, lane: &Lane, label: &str, when: When) -> Result<Snapshot, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let head = self.head_of(&opened)?;
        let agent_commits = self.provenance_of(&opened, &head)?;
        let Recorded { subject, nested, left_out, reopened } = opened.record_now()?;
        let changed = subject != opened.record.subject;
        if changed {
            let commit = self.commit(&Commit {
                tree: &subject.tree,
                parents: &[head],
                message: &format!("Snapshot {label}"),
                author: &self.settings.committer,
                when,
            })?;
            self.keep(&format!("{}/snapshots/{}", opened.refs, component(label)), &commit)?;
            self.note_held(&mut opened, &commit, &subject)?;
        }
        let commit = opened.record.commit;
        Ok(Snapshot { commit, subject, changed, nested, left_out, reopened, agent_commits })
    }

    /// Notes what a lane holds, now that a ref keeps it.
    fn note_held(
        &self,
        opened: &mut Opened<'_>,
        commit: &Oid,
        subject: &Subject,
    ) -> Result<(), RepoError> {
        opened.record.commit = commit.clone();
        opened.record.subject = subject.clone();
        write_record(&opened.home, &opened.record)
    }

    /// Commits what a lane holds to the unit's chain. Asked again for the very same commit, it finds
    /// it there.
    pub fn checkpoint(
        &self,
        lane: &Lane,
        message: &str,
        author: &Person,
        when: When,
    ) -> Result<Checkpoint, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let head = self.head_of(&opened)?;
        self.provenance_of(&opened, &head)?;
        let subject = opened.record_now()?.subject;
        let tree = &subject.tree;
        let commit =
            |parents: &[Oid]| self.commit(&Commit { tree, parents, message, author, when });
        if self.tree_of(&head)? == *tree {
            let again = head != opened.record.base && commit(&self.parents(&head)?)? == head;
            self.note_held(&mut opened, &head, &subject)?;
            return Ok(Checkpoint { commit: head, subject, saved: again });
        }
        let new = commit(std::slice::from_ref(&head))?;
        self.move_ref(&format!("{}/head", opened.refs), &new, Some(&head))?;
        self.note_held(&mut opened, &new, &subject)?;
        Ok(Checkpoint { commit: new, subject, saved: true })
    }

    pub(crate) fn parents(&self, commit: &Oid) -> Result<Vec<Oid>, RepoError> {
        if let Some(parsed) = self.objects.read(commit).and_then(|object| object.commit()) {
            return Ok(parsed.parents);
        }
        let place = self.results();
        let call = self.git().call("parents", &place);
        let said = call.args(["rev-parse", &format!("{commit}^@")]).ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        Ok(said.lines().map(Oid::parse).collect::<Result<_, _>>()?)
    }

    /// Takes a lane back to a commit of its unit's chain, or to a snapshot. Edits that are kept
    /// nowhere are set aside first; ignored files stay.
    pub fn rewind(&self, lane: &Lane, to: &Oid, when: When) -> Result<Rewound, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let saved = self.set_aside(&mut opened, "before going back", when)?;
        let head = self.head_of(&opened)?;
        let head = if self.is_ancestor(to, &head)? {
            to.clone()
        } else {
            // A snapshot stands on the head of its time.
            self.parents(to)?.into_iter().next().unwrap_or(head)
        };
        let subject = self.subject(&opened.record.base, &self.tree_of(to)?)?;
        let pending = Pending {
            base: opened.record.base.clone(),
            head,
            commit: to.clone(),
            subject: subject.clone(),
            clean: Clean::Untracked,
            fresh: true,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(Rewound { saved, subject })
    }

    /// Has a lane hold what a commit holds, as one bare change of a base: no commit, message or ignored file in between
    /// tells how it came about. Edits that are kept nowhere are set aside first.
    pub fn hold_bare(
        &self,
        lane: &Lane,
        base: &Oid,
        held: &Oid,
        when: When,
    ) -> Result<Rewound, RepoError> {
        let mut opened = self.open_lane(lane)?;
        let saved = self.set_aside_all(&mut opened, "before a bare change was put there", when)?;
        let tree = self.tree_of(held)?;
        let commit = self.commit(&Commit {
            tree: &tree,
            parents: std::slice::from_ref(base),
            message: "The change",
            author: &self.settings.committer,
            when,
        })?;
        self.keep(&format!("{}/bare/{}", opened.refs, commit.short()), &commit)?;
        let subject = self.subject(base, &tree)?;
        let pending = Pending {
            base: base.clone(),
            head: base.clone(),
            commit,
            subject: subject.clone(),
            clean: Clean::Everything,
            fresh: true,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(Rewound { saved, subject })
    }

    /// The unit's last commit: its base, as long as there is none.
    pub fn head(&self, lane: &Lane) -> Result<Oid, RepoError> {
        self.head_of(&self.open_lane(lane)?)
    }

    /// Applies a patch to a lane, whole or not at all; `refuses` says why it may not change a file, if it may not.
    pub fn apply_patch(
        &self,
        lane: &Lane,
        patch: &[u8],
        when: When,
        refuses: &dyn Fn(&Path) -> Option<String>,
    ) -> Result<Patched, RepoError> {
        let mut opened = self.open_lane(lane)?;
        self.set_aside(&mut opened, "before a patch", when)?;
        let before = opened.record.subject.tree.clone();
        let tree = match self.patched(&before, patch)? {
            Ok(tree) if tree == before => return Ok(rejected("the patch changes nothing")),
            Ok(tree) => tree,
            Err(why) => return Ok(rejected(&why)),
        };
        let touched = self.changes(&before, &tree)?;
        // What it changes is known now, whatever its own lines say.
        if let Some(why) = touched.iter().find_map(|change| refuses(&change.path)) {
            return Ok(rejected(&why));
        }
        // A link leads anywhere, and what a submodule points to is not changed from a lane.
        let odd = |change: &&Change| {
            ["120000", "160000"].contains(&change.new.mode.as_str()) && change.new != change.old
        };
        if let Some(change) = touched.iter().find(odd) {
            let path = change.path.display();
            return Ok(rejected(&format!("{path} would be a link or a submodule")));
        }
        let extra = touched.iter().find(|change| self.settings.extras.contains(&change.path));
        if let Some(change) = extra {
            let path = change.path.display();
            return Ok(rejected(&format!(
                "{path} never enters a commit, so no patch may change it"
            )));
        }
        let head = self.head_of(&opened)?;
        let commit = self.commit(&Commit {
            tree: &tree,
            parents: std::slice::from_ref(&head),
            message: "With a patch applied",
            author: &self.settings.committer,
            when,
        })?;
        let subject = self.subject(&opened.record.base, &tree)?;
        self.keep(&format!("{}/patched/{}", opened.refs, tree.short()), &commit)?;
        let pending = Pending {
            base: opened.record.base.clone(),
            head,
            commit: commit.clone(),
            subject: subject.clone(),
            clean: Clean::Nothing,
            fresh: false,
        };
        self.turn_into(&mut opened, pending)?;
        Ok(Patched::Applied { subject, commit })
    }

    /// The tree that a patch makes of another one, or why it does not apply.
    fn patched(&self, tree: &Oid, patch: &[u8]) -> Result<Result<Oid, String>, RepoError> {
        self.with_index(|index| {
            let place = self.results().with_index(index);
            let git = self.git();
            git.call("patch.read-tree", &place).args(["read-tree", tree.as_str()]).ok()?;
            let call = git.call("patch.apply", &place);
            let call = call.args(["apply", "--cached", "--whitespace=nowarn", "-"]);
            let output = call.stdin(patch).output()?;
            Ok(if output.code == Some(0) {
                Ok(git.call("patch.write-tree", &place).arg("write-tree").oid()?)
            } else {
                Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
            })
        })
    }
}

fn rejected(why: &str) -> Patched {
    Patched::Rejected { why: why.to_owned() }
}
