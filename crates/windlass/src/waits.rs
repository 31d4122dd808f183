//! What landed where it waits for a person to take it: whether it still does, and what takes it by now.

use windlass_repo::{Branch, Oid, Repository};

/// How the commands begin that take it while its branch has nothing else.
const FORWARD: &str = " merge --ff-only ";

/// What has become of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Waits {
    /// It waits, and this takes it.
    For(String),
    /// A person has it.
    Taken,
    /// No branch has it any more: a person does without it.
    GivenUp,
}

impl Waits {
    /// Of a commit that waited for this command, to be on this branch. Where nobody can tell, it still does.
    pub fn of(repository: &Repository, target: Option<&str>, commit: &str, command: &str) -> Waits {
        let as_before = || Waits::For(command.to_owned());
        let Ok(commit) = Oid::parse(commit) else { return as_before() };
        if !repository.has_git() || !command.contains(FORWARD) {
            return match repository.has_taken(&commit) {
                Ok(true) => Waits::Taken,
                Ok(false) | Err(_) => as_before(),
            };
        }
        if !repository.has(&commit).unwrap_or(true) {
            return Waits::GivenUp;
        }
        let Ok(on) = repository.branches_with(&commit) else { return as_before() };
        if repository.has_taken(&commit).unwrap_or(false)
            || on.iter().any(|name| Some(name.as_str()) == target)
        {
            return Waits::Taken;
        }
        if on.is_empty() {
            return Waits::GivenUp;
        }
        let tip = target.and_then(|name| repository.tip(&Branch::new(name).ok()?).ok()?);
        let ahead = tip.and_then(|tip| repository.branches_with(&tip).ok());
        match ahead {
            Some(ahead) if !on.iter().any(|name| ahead.contains(name)) => {
                Waits::For(command.replace(FORWARD, " merge "))
            }
            _ => as_before(),
        }
    }
}
