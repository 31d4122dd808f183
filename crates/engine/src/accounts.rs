//! Accounts: whom a provider serves no more for now, and how many may work on an account at once.
//!
//! Agents that work with the same key share what their provider lets them use. When one of them is told to wait, asking
//! another would be refused as well. So a limit counts for everybody on the account, also for those who were not told,
//! and also after a restart: the journal has it.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::crew::{Call, Crew};
use crate::shop::{Brake, lock};

/// How often somebody who waits their turn looks whether they are still wanted.
const LOOK: Duration = Duration::from_millis(100);
/// A provider whose clock is behind ours must not be asked again and again.
const LIMIT_MS_MIN: i64 = 60_000;

/// Who may be asked now.
#[derive(Debug, Default)]
pub struct Accounts {
    accounts: BTreeMap<String, String>,
    at_once: BTreeMap<String, usize>,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Until when an account is served no more, by the wall clock.
    limited: BTreeMap<String, i64>,
    /// How many work on it.
    busy: BTreeMap<String, usize>,
}

/// A place on an account; free again when this is dropped.
#[derive(Debug)]
pub struct Place<'a> {
    accounts: &'a Accounts,
    account: String,
    /// Whether it had to be waited for.
    pub waited: bool,
}

impl Accounts {
    /// Those of a crew, given who is limited until when, by agent.
    pub fn of(crew: &Crew, limited: &BTreeMap<String, i64>) -> Self {
        let accounts = Accounts {
            accounts: crew.accounts.clone(),
            at_once: crew.at_once.clone(),
            ..Accounts::default()
        };
        for (agent, until) in limited {
            accounts.enter(agent, *until);
        }
        accounts
    }

    fn account<'a>(&'a self, agent: &'a str) -> &'a str {
        self.accounts.get(agent).map_or(agent, String::as_str)
    }

    fn enter(&self, agent: &str, until: i64) {
        let mut state = lock(&self.state);
        let own = state.limited.entry(self.account(agent).to_owned()).or_insert(until);
        *own = until.max(*own);
    }

    /// Its provider serves an agent no more until then, and nobody else on its account. Several lanes are told so within a
    /// moment: a limit that is known by then, and no shorter, is the same one, and whoever waits for it waits no longer.
    pub fn limit(&self, agent: &str, until_wall_ms: i64, now_wall_ms: i64) {
        let known = lock(&self.state).limited.get(self.account(agent)).copied();
        if known.is_some_and(|known| known > now_wall_ms && known >= until_wall_ms) {
            return;
        }
        self.enter(agent, until_wall_ms.max(now_wall_ms.saturating_add(LIMIT_MS_MIN)));
    }

    /// The first of those who are called that is served now; else when the first of them is served again.
    pub fn first<'c>(&self, call: &'c Call, now_wall_ms: i64) -> Result<&'c str, i64> {
        let state = lock(&self.state);
        let until = |agent: &str| {
            let until = state.limited.get(self.account(agent)).copied();
            until.filter(|until| *until > now_wall_ms)
        };
        let free = call.agents.iter().find(|agent| until(agent).is_none());
        let soonest = || call.agents.iter().filter_map(|agent| until(agent)).min();
        free.map(String::as_str).ok_or_else(|| soonest().unwrap_or(now_wall_ms))
    }

    /// Waits for a place on an agent's account. None if nobody wants it any more.
    pub fn place(&self, agent: &str, brake: &Brake) -> Option<Place<'_>> {
        let account = self.account(agent).to_owned();
        let most = self.at_once.get(&account).copied().unwrap_or(usize::MAX);
        let mut state = lock(&self.state);
        let mut waited = false;
        while state.busy.get(&account).copied().unwrap_or(0) >= most {
            if brake.is_pulled() {
                return None;
            }
            waited = true;
            let looked = self.freed.wait_timeout(state, LOOK);
            state = looked.unwrap_or_else(PoisonError::into_inner).0;
        }
        *state.busy.entry(account.clone()).or_default() += 1;
        Some(Place { accounts: self, account, waited })
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        let mut state = lock(&self.accounts.state);
        if let Some(busy) = state.busy.get_mut(&self.account) {
            *busy = busy.saturating_sub(1);
        }
        drop(state);
        self.accounts.freed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use windlass_agents::Tier;

    use super::*;

    fn crew() -> Crew {
        let of = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|&(one, two)| (one.to_owned(), two.to_owned())).collect()
        };
        Crew {
            accounts: of(&[("opus", "anthropic"), ("sonnet", "anthropic")]),
            at_once: [("anthropic".to_owned(), 2)].into(),
            ..Crew::default()
        }
    }

    fn call(agents: &[&str]) -> Call {
        Call {
            agents: agents.iter().map(|&agent| agent.to_owned()).collect(),
            tier: Tier::Standard,
            by_preset: false,
            model: None,
            seated: Vec::new(),
            effort: None,
        }
    }

    #[test]
    fn a_limit_counts_for_everybody_on_the_account_until_it_is_over() {
        let accounts = Accounts::of(&crew(), &BTreeMap::new());
        let now = 1_000_000;
        assert_eq!(accounts.first(&call(&["sonnet", "codex"]), now), Ok("sonnet"));
        accounts.limit("opus", now + 500_000, now);
        assert_eq!(accounts.first(&call(&["sonnet", "codex"]), now), Ok("codex"));
        assert_eq!(accounts.first(&call(&["sonnet"]), now), Err(now + 500_000));
        accounts.limit("codex", now + 100_000, now);
        assert_eq!(accounts.first(&call(&["sonnet", "codex"]), now), Err(now + 100_000));
        assert_eq!(accounts.first(&call(&["sonnet", "codex"]), now + 100_000), Ok("codex"));
        assert_eq!(accounts.first(&call(&["sonnet", "codex"]), now + 500_000), Ok("sonnet"));
        // One that is over already is none that can be gone by.
        accounts.limit("other", now - 1, now);
        assert_eq!(accounts.first(&call(&["other"]), now), Err(now + LIMIT_MS_MIN));
    }

    #[test]
    fn what_several_are_told_within_a_moment_is_one_limit() {
        let accounts = Accounts::of(&crew(), &BTreeMap::new());
        let (now, soon) = (1_000_000, 1_003_000);
        accounts.limit("opus", soon, now);
        accounts.limit("sonnet", soon, now + 90);
        let over = now + LIMIT_MS_MIN;
        assert_eq!(
            accounts.first(&call(&["opus"]), over),
            Ok("opus"),
            "the first need not wait anew"
        );
        // What is longer counts, and what is told once it is over is another one.
        accounts.limit("opus", over + 5_000, now + 100);
        assert_eq!(accounts.first(&call(&["opus"]), over), Err(over + 5_000));
        accounts.limit("opus", over, over + 5_000);
        assert_eq!(
            accounts.first(&call(&["opus"]), over + 5_000),
            Err(over + 5_000 + LIMIT_MS_MIN)
        );
    }

    #[test]
    fn a_limit_is_known_after_a_restart() {
        let limited = [("opus".to_owned(), 77)].into();
        let accounts = Accounts::of(&crew(), &limited);
        assert_eq!(accounts.first(&call(&["sonnet"]), 76), Err(77));
        assert_eq!(accounts.first(&call(&["sonnet"]), 77), Ok("sonnet"));
    }

    #[test]
    fn no_more_work_on_an_account_at_once_than_may() {
        let accounts = Accounts::of(&crew(), &BTreeMap::new());
        let (here, most, waited) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for agent in ["opus", "sonnet", "opus", "sonnet", "opus", "sonnet"] {
                let (accounts, here, most, waited) = (&accounts, &here, &most, &waited);
                scope.spawn(move || {
                    let place = accounts.place(agent, &Brake::default()).unwrap();
                    most.fetch_max(here.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    waited.fetch_add(usize::from(place.waited), Ordering::SeqCst);
                    std::thread::yield_now();
                    here.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        assert!(most.load(Ordering::SeqCst) <= 2);
        let (_one, _two) =
            ["opus", "sonnet"].map(|it| accounts.place(it, &Brake::default())).into();
        // Who is not wanted any more does not wait.
        let brake = Brake::default();
        brake.pull();
        assert!(accounts.place("opus", &brake).is_none());
        assert!(accounts.place("codex", &brake).is_some(), "an account of its own");
    }
}
