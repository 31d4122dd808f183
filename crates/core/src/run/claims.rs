//! File claims: units that expect to change the same files are not under way together.
//!
//! A claim is a path; a directory covers what is below it. A unit that has to wait is filed under
//! the claim that stopped it, and looked at again when that claim is given up, so nothing is
//! scanned over and over.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};
use serde::{Deserialize, Serialize};

use super::UnitIx;

type Queue = OrdSet<(i64, UnitIx)>;

/// Who holds which paths, and who waits for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Claims {
    held: OrdMap<Arc<str>, UnitIx>,
    waiting: OrdMap<Arc<str>, Queue>,
}

fn trim(path: &str) -> &str {
    path.trim_end_matches('/')
}

/// The directories above a path, nearest last, the path itself included.
fn and_above(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at]).filter(|p| !p.is_empty()).chain([path])
}

impl Claims {
    /// The held claim that keeps these files from being claimed.
    pub fn conflict(&self, files: &[Arc<str>]) -> Option<Arc<str>> {
        files.iter().find_map(|file| self.overlap(trim(file)))
    }

    fn overlap(&self, path: &str) -> Option<Arc<str>> {
        let above = and_above(path).find_map(|p| self.held.get_key_value(p));
        let below = || {
            let first = format!("{path}/");
            let (held, unit) = self.held.range(Arc::<str>::from(first.as_str())..).next()?;
            held.starts_with(&first).then_some((held, unit))
        };
        above.or_else(below).map(|(held, _)| held.clone())
    }

    pub fn claim(&mut self, unit: UnitIx, files: &[Arc<str>]) {
        for file in files {
            self.held.insert(Arc::from(trim(file)), unit);
        }
    }

    pub fn wait(&mut self, claim: Arc<str>, rank: i64, unit: UnitIx) {
        let mut queue = self.waiting.remove(&claim).unwrap_or_default();
        queue.insert((rank, unit));
        self.waiting.insert(claim, queue);
    }

    /// No longer waiting, wherever it was: under one claim at most.
    pub fn forget(&mut self, rank: i64, unit: UnitIx) {
        let mut under = self.waiting.iter().filter(|(_, queue)| queue.contains(&(rank, unit)));
        let Some(claim) = under.next().map(|(claim, _)| claim.clone()) else { return };
        if let Some(mut queue) = self.waiting.remove(&claim) {
            queue.remove(&(rank, unit));
            if !queue.is_empty() {
                self.waiting.insert(claim, queue);
            }
        }
    }

    /// Gives up a unit's claims, and hands back the units to look at again.
    pub fn release(&mut self, unit: UnitIx, files: &[Arc<str>]) -> Vec<(i64, UnitIx)> {
        let mut freed = Vec::new();
        for file in files {
            let path = trim(file);
            if self.held.get(path) == Some(&unit) {
                self.held.remove(path);
                if let Some(queue) = self.waiting.remove(path) {
                    freed.extend(queue);
                }
            }
        }
        freed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(list: &[&str]) -> Vec<Arc<str>> {
        list.iter().map(|f| Arc::from(*f)).collect()
    }

    #[test]
    fn a_directory_covers_what_is_below_it_and_nothing_beside_it() {
        let mut claims = Claims::default();
        claims.claim(UnitIx(0), &files(&["src/a/", "doc/x.md"]));
        let hits = |list: &[&str]| claims.conflict(&files(list)).map(|c| c.to_string());
        assert_eq!(hits(&["src/a"]).as_deref(), Some("src/a"));
        assert_eq!(hits(&["src/a/b/c.rs"]).as_deref(), Some("src/a"));
        assert_eq!(hits(&["src"]).as_deref(), Some("src/a"));
        assert_eq!(hits(&["other", "doc"]).as_deref(), Some("doc/x.md"));
        assert_eq!(hits(&["src/ab.rs", "doc/x.md2", "src/b"]), None);
        assert_eq!(hits(&[]), None);
    }

    #[test]
    fn waiting_units_come_back_when_the_claim_is_given_up() {
        let mut claims = Claims::default();
        claims.claim(UnitIx(0), &files(&["a", "b"]));
        claims.wait("a".into(), 5, UnitIx(2));
        claims.wait("a".into(), 1, UnitIx(3));
        claims.wait("b".into(), 0, UnitIx(4));
        claims.forget(1, UnitIx(3));
        claims.forget(7, UnitIx(2));
        assert_eq!(claims.release(UnitIx(9), &files(&["a"])), []);
        let freed = claims.release(UnitIx(0), &files(&["a", "b"]));
        assert_eq!(freed, [(5, UnitIx(2)), (0, UnitIx(4))]);
        assert_eq!(claims, Claims::default());
    }
}
