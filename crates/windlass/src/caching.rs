//! How much of what models read came from a provider's cache, role by role, and whether prompts are made for it: whether
//! those of a role begin with the same bytes, up to what each is about.
//!
//! A hit rate is what agents were heard to say (cached tokens of all that was read). The bytes are ours, counted in the
//! prompts that the journal holds.

use std::collections::BTreeMap;

use serde::Serialize;
use windlass_engine::entry::{Entry, Note};
use windlass_engine::prompt_begins;
use windlass_journal::{Journal, RunId};

use crate::bill::Bill;
use crate::error::Error;
use crate::replay::replay;

/// How a cache served one role, played by one agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Caching {
    pub role: String,
    pub agent: String,
    pub invocations: u64,
    pub requests: u64,
    /// All that models read, and what of it came from a cache.
    pub read_tokens: u64,
    pub cached_tokens: u64,
    /// Cached of all that was read, in percent; nobody knows where nothing was accounted for.
    pub hit_percent: Option<f64>,
    /// What prompts have before the runtime context, and what of it is as in the prompt before: from the second on.
    pub stable_bytes: u64,
    pub same_bytes: u64,
    /// The same of all, in percent.
    pub same_percent: Option<f64>,
}

impl Caching {
    fn add(&mut self, other: &Caching) {
        self.invocations += other.invocations;
        self.requests += other.requests;
        self.read_tokens += other.read_tokens;
        self.cached_tokens += other.cached_tokens;
        self.stable_bytes += other.stable_bytes;
        self.same_bytes += other.same_bytes;
    }

    fn rated(mut self) -> Self {
        self.hit_percent = percent(self.cached_tokens, self.read_tokens);
        self.same_percent = percent(self.same_bytes, self.stable_bytes);
        self
    }
}

/// How a cache served a run, by role and agent, and altogether.
pub fn of(journal: &Journal, id: &RunId) -> Result<(Vec<Caching>, Caching), Error> {
    let mut all: BTreeMap<(String, String), Caching> = BTreeMap::new();
    let mut bill = Bill::default();
    bill.add(journal, id)?;
    for row in &bill.rows {
        let one = entry(&mut all, &row.role, &row.agent);
        one.invocations += row.invocations;
        one.requests += row.requests;
        one.read_tokens += row.read_tokens();
        one.cached_tokens += row.cached_tokens;
    }
    let mut before: BTreeMap<(String, String), String> = BTreeMap::new();
    replay(journal, id, |noted, _| {
        let Entry::Note(noted) = noted else { return Ok(()) };
        let Note::Asked(asked) = &noted.note else { return Ok(()) };
        let Ok(blob) = asked.prompt.parse() else { return Ok(()) };
        let prompt = String::from_utf8_lossy(&journal.get(blob)?).into_owned();
        let begins = prompt_begins(&prompt).to_owned();
        let last = before.insert((asked.role.clone(), asked.agent.clone()), begins.clone());
        if let Some(last) = last {
            let one = entry(&mut all, &asked.role, &asked.agent);
            one.stable_bytes += begins.len() as u64;
            one.same_bytes += common(&last, &begins);
        }
        Ok(())
    })?;
    let mut total = Caching { role: "total".to_owned(), ..Caching::default() };
    all.values().for_each(|one| total.add(one));
    Ok((all.into_values().map(Caching::rated).collect(), total.rated()))
}

fn entry<'a>(
    all: &'a mut BTreeMap<(String, String), Caching>,
    role: &str,
    agent: &str,
) -> &'a mut Caching {
    let new = || Caching { role: role.to_owned(), agent: agent.to_owned(), ..Caching::default() };
    all.entry((role.to_owned(), agent.to_owned())).or_insert_with(new)
}

/// How many bytes two texts begin with in common.
fn common(one: &str, other: &str) -> u64 {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count() as u64
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    // Cut off, not rounded: what is not all of it does not look like it.
    let hundredths = (whole > 0).then(|| u128::from(part) * 10_000 / u128::from(whole))?;
    Some(hundredths as f64 / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_never_more_than_they_are() {
        assert_eq!(percent(9_999_999, 10_000_000), Some(99.99));
        assert_eq!((percent(3, 3), percent(0, 7), percent(0, 0)), (Some(100.0), Some(0.0), None));
        assert_eq!((common("abcd", "abxd"), common("", "a")), (2, 0));
    }

    #[test]
    fn a_total_is_rated_by_what_was_read_and_not_by_roles() {
        let one = |cached, read| Caching {
            cached_tokens: cached,
            read_tokens: read,
            ..Caching::default()
        };
        let mut total = one(0, 10);
        total.add(&one(90, 90));
        assert_eq!(total.rated().hit_percent, Some(90.0));
    }
}
