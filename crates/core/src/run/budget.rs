//! Budgets: the worst case is set aside before an agent is wanted, and settled by its report.
//!
//! The one rule: settled plus reserved never passes a cap, whatever the history of reports. What
//! an agent does not report is settled at what was set aside, never at nothing. If a report still
//! says more than was set aside, that is an overrun: it is recorded and the run buys nothing more.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What an invocation uses up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Amount {
    /// Millionths of a dollar.
    pub cost_micros: u64,
    /// Tokens of all kinds.
    pub tokens: u64,
}

impl Amount {
    fn plus(self, other: Amount) -> Amount {
        Amount {
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
            tokens: self.tokens.saturating_add(other.tokens),
        }
    }

    /// What is left after taking `other` away.
    pub fn minus(self, other: Amount) -> Amount {
        Amount {
            cost_micros: self.cost_micros.saturating_sub(other.cost_micros),
            tokens: self.tokens.saturating_sub(other.tokens),
        }
    }

    fn min(self, other: Amount) -> Amount {
        Amount {
            cost_micros: self.cost_micros.min(other.cost_micros),
            tokens: self.tokens.min(other.tokens),
        }
    }

    fn covers(self, other: Amount) -> bool {
        self.cost_micros >= other.cost_micros && self.tokens >= other.tokens
    }

    /// Whether it is nothing at all.
    pub fn is_zero(&self) -> bool {
        *self == Amount::default()
    }
}

/// What a report says was used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// What it cost.
    pub cost: Reported,
    /// Tokens of all kinds.
    pub tokens: Reported,
}

/// One figure of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reported {
    /// The agent said, or it was priced from what the agent said.
    Known(u64),
    /// Nobody knows: settled at what was set aside.
    Unknown,
}

impl Usage {
    /// Nothing is known.
    pub const UNKNOWN: Usage = Usage { cost: Reported::Unknown, tokens: Reported::Unknown };
    /// Nothing was used, and that is known: what needs no agent.
    pub const NONE: Usage = Usage { cost: Reported::Known(0), tokens: Reported::Known(0) };

    /// What to settle an invocation at, given what was set aside for it.
    pub fn settle(self, reserved: Amount) -> Amount {
        let or = |figure, reserved| match figure {
            Reported::Known(n) => n,
            Reported::Unknown => reserved,
        };
        Amount {
            cost_micros: or(self.cost, reserved.cost_micros),
            tokens: or(self.tokens, reserved.tokens),
        }
    }
}

/// Caps on a run or a unit. `None` is no cap: it must be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cap {
    /// Millionths of a dollar.
    pub cost_micros: Option<u64>,
    /// Tokens of all kinds.
    pub tokens: Option<u64>,
    /// Time with anything under way, in milliseconds. Waiting for a person does not count.
    pub wall_ms: Option<u64>,
    /// Agent invocations.
    pub invocations: Option<u32>,
    /// Effects of any kind.
    pub iterations: Option<u32>,
}

impl Cap {
    /// No caps at all.
    pub const NONE: Cap =
        Cap { cost_micros: None, tokens: None, wall_ms: None, invocations: None, iterations: None };

    fn amount(self) -> Amount {
        Amount {
            cost_micros: self.cost_micros.unwrap_or(u64::MAX),
            tokens: self.tokens.unwrap_or(u64::MAX),
        }
    }

    fn or_higher(self, other: Cap) -> Cap {
        Cap {
            cost_micros: higher(self.cost_micros, other.cost_micros),
            tokens: higher(self.tokens, other.tokens),
            wall_ms: higher(self.wall_ms, other.wall_ms),
            invocations: higher(self.invocations, other.invocations),
            iterations: higher(self.iterations, other.iterations),
        }
    }

    fn at_least(self, old: Cap) -> bool {
        fn ge<T: Ord>(new: Option<T>, old: Option<T>) -> bool {
            match (new, old) {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(new), Some(old)) => new >= old,
            }
        }
        ge(self.cost_micros, old.cost_micros)
            && ge(self.tokens, old.tokens)
            && ge(self.wall_ms, old.wall_ms)
            && ge(self.invocations, old.invocations)
            && ge(self.iterations, old.iterations)
    }
}

/// No cap is the highest.
fn higher<T: Ord>(one: Option<T>, two: Option<T>) -> Option<T> {
    Some(one?.max(two?))
}

/// Caps on a single invocation, and the most that one request inside it can use up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InvocationCap {
    /// The most an invocation may use up, its last request included.
    pub amount: Amount,
    /// The most that one request can use up: an agent stopped at its limit may have one under way.
    pub request: Amount,
    /// Time limit in milliseconds.
    pub wall_ms: u64,
    /// Turns of the agent.
    pub iterations: Option<u32>,
}

/// All caps of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Over the whole run.
    pub run: Cap,
    /// Over each unit.
    pub unit: Cap,
    /// Over each invocation.
    pub invocation: InvocationCap,
}

const HOUR_MS: u64 = 3_600_000;

impl Default for Caps {
    /// On unless configured otherwise: 20 dollars and 8 hours a run, 5 dollars a unit, 2 dollars
    /// and 30 minutes an invocation; the rest are generous stops against loops.
    fn default() -> Self {
        Caps {
            run: Cap {
                cost_micros: Some(20_000_000),
                tokens: Some(200_000_000),
                wall_ms: Some(8 * HOUR_MS),
                invocations: Some(2_000),
                iterations: Some(50_000),
            },
            unit: Cap {
                cost_micros: Some(5_000_000),
                tokens: Some(50_000_000),
                wall_ms: Some(4 * HOUR_MS),
                invocations: Some(200),
                iterations: Some(1_000),
            },
            invocation: InvocationCap {
                amount: Amount { cost_micros: 2_000_000, tokens: 20_000_000 },
                request: Amount { cost_micros: 250_000, tokens: 250_000 },
                wall_ms: HOUR_MS / 2,
                iterations: None,
            },
        }
    }
}

impl Caps {
    /// Of each cap the higher one.
    #[must_use]
    pub fn or_higher(&self, other: &Caps) -> Caps {
        let (one, two) = (self.invocation, other.invocation);
        let most = |one: Amount, two: Amount| Amount {
            cost_micros: one.cost_micros.max(two.cost_micros),
            tokens: one.tokens.max(two.tokens),
        };
        Caps {
            run: self.run.or_higher(other.run),
            unit: self.unit.or_higher(other.unit),
            invocation: InvocationCap {
                amount: most(one.amount, two.amount),
                request: most(one.request, two.request),
                wall_ms: one.wall_ms.max(two.wall_ms),
                iterations: higher(one.iterations, two.iterations),
            },
        }
    }

    /// Whether these caps are nowhere lower than the old ones.
    pub fn at_least(&self, old: &Caps) -> bool {
        let (new, old_inv) = (self.invocation, old.invocation);
        self.run.at_least(old.run)
            && self.unit.at_least(old.unit)
            && new.amount.covers(old_inv.amount)
            && new.wall_ms >= old_inv.wall_ms
            && new.request.covers(old_inv.request)
    }

    /// What is wrong with these caps, if anything.
    pub fn flaw(&self) -> Option<&'static str> {
        let InvocationCap { amount, request, .. } = self.invocation;
        if !amount.covers(request) {
            return Some(
                "one request can use up more than an invocation may: raise the invocation's cap, or lower the request's",
            );
        }
        if !self.run.amount().covers(request) || !self.unit.amount().covers(request) {
            return Some(
                "one request can use up more than a run or a unit may: raise that cap, or lower the request's",
            );
        }
        None
    }
}

/// What has been used up and set aside, for a run or a unit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Purse {
    /// Used up.
    pub settled: Amount,
    /// Set aside for what is under way.
    pub reserved: Amount,
    /// Agent invocations wanted so far.
    pub invocations: u32,
    /// Effects wanted so far.
    pub iterations: u32,
    under_way: u32,
    active_ms: u64,
    active_since_ms: u64,
}

/// Why nothing can be set aside now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Short {
    /// What others have set aside may come back: wait.
    Wait,
    /// The unit's cap is reached.
    Unit,
    /// The run's cap is reached.
    Run,
}

impl Purse {
    /// Milliseconds with anything under way.
    pub fn active_ms(&self, now_ms: u64) -> u64 {
        let running =
            if self.under_way > 0 { now_ms.saturating_sub(self.active_since_ms) } else { 0 };
        self.active_ms.saturating_add(running)
    }

    fn room(&self, cap: Cap) -> Amount {
        cap.amount().minus(self.settled).minus(self.reserved)
    }

    /// Room if everything under way came back unspent.
    fn ceiling(&self, cap: Cap) -> Amount {
        cap.amount().minus(self.settled)
    }

    /// Milliseconds left under the cap.
    pub(super) fn wall_left(&self, cap: Cap, now_ms: u64) -> u64 {
        cap.wall_ms.map_or(u64::MAX, |cap| cap.saturating_sub(self.active_ms(now_ms)))
    }

    /// Whether one more effect fits, money aside.
    fn has_steps(&self, cap: Cap, now_ms: u64, invocation: bool) -> bool {
        cap.iterations.is_none_or(|cap| self.iterations < cap)
            && (!invocation || cap.invocations.is_none_or(|cap| self.invocations < cap))
            && self.wall_left(cap, now_ms) > 0
    }

    pub(super) fn open(&mut self, reserved: Amount, invocation: bool, now_ms: u64) {
        self.reserved = self.reserved.plus(reserved);
        self.iterations += 1;
        self.invocations += u32::from(invocation);
        if self.under_way == 0 {
            self.active_since_ms = now_ms;
        }
        self.under_way += 1;
    }

    pub(super) fn close(&mut self, reserved: Amount, settled: Amount, now_ms: u64) {
        self.reserved = self.reserved.minus(reserved);
        self.settled = self.settled.plus(settled);
        self.active_ms = self.active_ms(now_ms);
        self.active_since_ms = now_ms;
        self.under_way = self.under_way.saturating_sub(1);
    }
}

/// What to set aside for an effect, or why it has to wait.
///
/// `unit` is absent for stages that belong to no unit. `invocation` says whether an agent is
/// asked; what needs none sets nothing aside. An agent declared to be without cost sets aside
/// tokens only.
pub(super) fn reserve(
    caps: &Caps,
    run: &Purse,
    unit: Option<&Purse>,
    now_ms: u64,
    invocation: Option<Priced>,
) -> Result<Amount, Short> {
    if let Some(unit) = unit
        && !unit.has_steps(caps.unit, now_ms, invocation.is_some())
    {
        return Err(Short::Unit);
    }
    if !run.has_steps(caps.run, now_ms, invocation.is_some()) {
        return Err(Short::Run);
    }
    let Some(priced) = invocation else {
        return Ok(Amount::default());
    };
    let (mut most, mut least) = (caps.invocation.amount, caps.invocation.request);
    if priced == Priced::No {
        (most.cost_micros, least.cost_micros) = (0, 0);
    }
    let unit_room = unit.map_or(most, |unit| unit.room(caps.unit));
    let unit_ceiling = unit.map_or(most, |unit| unit.ceiling(caps.unit));
    if !unit_ceiling.covers(least) {
        return Err(Short::Unit);
    }
    if !run.ceiling(caps.run).covers(least) {
        return Err(Short::Run);
    }
    let granted = most.min(unit_room).min(run.room(caps.run));
    if granted.covers(least) { Ok(granted) } else { Err(Short::Wait) }
}

/// Whether an agent's use costs money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Priced {
    Yes,
    No,
}

impl Priced {
    pub(super) fn of(role: &str, unpriced: &BTreeSet<String>) -> Priced {
        if unpriced.contains(role) { Priced::No } else { Priced::Yes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(cost_micros: u64, tokens: u64) -> Amount {
        Amount { cost_micros, tokens }
    }

    fn caps(run: u64, unit: u64, most: u64, request: u64) -> Caps {
        Caps {
            run: Cap { cost_micros: Some(run), ..Cap::NONE },
            unit: Cap { cost_micros: Some(unit), ..Cap::NONE },
            invocation: InvocationCap {
                amount: amount(most, 0),
                request: amount(request, 0),
                wall_ms: 1,
                iterations: None,
            },
        }
    }

    fn reserve_one(caps: &Caps, run: &Purse, unit: &Purse) -> Result<u64, Short> {
        reserve(caps, run, Some(unit), 0, Some(Priced::Yes)).map(|a| a.cost_micros)
    }

    #[test]
    fn of_two_caps_the_higher_counts_and_none_is_the_highest() {
        let (mut one, mut two) = (caps(100, 50, 20, 5), caps(90, 60, 20, 7));
        (one.run.tokens, two.run.tokens) = (None, Some(1));
        let both = one.or_higher(&two);
        assert_eq!((both.run.cost_micros, both.unit.cost_micros), (Some(100), Some(60)));
        assert_eq!((both.run.tokens, both.invocation.request.cost_micros), (None, 7));
        assert!(both.at_least(&one) && both.at_least(&two));
    }

    #[test]
    fn the_defaults_are_the_promised_ones_and_have_no_flaw() {
        let caps = Caps::default();
        assert_eq!(caps.run.cost_micros, Some(20_000_000));
        assert_eq!(caps.run.wall_ms, Some(8 * 3_600_000));
        assert_eq!(caps.unit.cost_micros, Some(5_000_000));
        assert_eq!(caps.invocation.amount.cost_micros, 2_000_000);
        assert_eq!(caps.invocation.wall_ms, 30 * 60_000);
        assert!(caps.run.tokens.is_some() && caps.unit.tokens.is_some());
        assert!(caps.run.iterations.is_some() && caps.unit.iterations.is_some());
        assert_eq!(caps.flaw(), None);
    }

    #[test]
    fn a_reservation_is_the_invocations_cap_or_what_is_left_but_never_less_than_a_request() {
        let caps = caps(100, 50, 20, 5);
        let mut run = Purse::default();
        let mut unit = Purse::default();
        assert_eq!(reserve_one(&caps, &run, &unit), Ok(20));
        unit.settled = amount(40, 0);
        assert_eq!(reserve_one(&caps, &run, &unit), Ok(10));
        unit.settled = amount(45, 0);
        assert_eq!(reserve_one(&caps, &run, &unit), Ok(5));
        unit.settled = amount(46, 0);
        assert_eq!(reserve_one(&caps, &run, &unit), Err(Short::Unit));
        unit.settled = amount(0, 0);
        run.settled = amount(96, 0);
        assert_eq!(reserve_one(&caps, &run, &unit), Err(Short::Run));
    }

    #[test]
    fn what_others_have_set_aside_is_waited_for_not_given_up_on() {
        let caps = caps(100, 50, 20, 5);
        let run = Purse { settled: amount(50, 0), reserved: amount(46, 0), ..Purse::default() };
        assert_eq!(reserve_one(&caps, &run, &Purse::default()), Err(Short::Wait));
        let unit = Purse { reserved: amount(50, 0), ..Purse::default() };
        assert_eq!(reserve_one(&caps, &Purse::default(), &unit), Err(Short::Wait));
    }

    #[test]
    fn an_agent_declared_to_be_without_cost_sets_aside_tokens_only() {
        let mut caps = caps(0, 0, 20, 5);
        caps.invocation.amount.tokens = 7;
        caps.invocation.request.tokens = 3;
        let purse = Purse::default();
        let got = reserve(&caps, &purse, Some(&purse), 0, Some(Priced::No));
        assert_eq!(got, Ok(amount(0, 7)));
        let got = reserve(&caps, &purse, Some(&purse), 0, Some(Priced::Yes));
        assert_eq!(got, Err(Short::Unit));
    }

    #[test]
    fn steps_are_capped_at_each_level() {
        let mut caps = caps(100, 100, 20, 5);
        caps.unit.iterations = Some(2);
        caps.unit.invocations = Some(1);
        caps.run.iterations = Some(3);
        let run = Purse::default();
        let go =
            |run: &Purse, unit: &Purse, invocation| reserve(&caps, run, Some(unit), 0, invocation);
        let unit = Purse { invocations: 1, iterations: 1, ..Purse::default() };
        assert_eq!(go(&run, &unit, Some(Priced::Yes)), Err(Short::Unit));
        assert_eq!(go(&run, &unit, None), Ok(Amount::default()));
        let unit = Purse { iterations: 2, ..Purse::default() };
        assert_eq!(go(&run, &unit, None), Err(Short::Unit));
        let run = Purse { iterations: 3, ..Purse::default() };
        assert_eq!(go(&run, &Purse::default(), None), Err(Short::Run));
    }

    #[test]
    fn time_counts_while_anything_is_under_way_and_only_then() {
        let mut purse = Purse::default();
        let cap = Cap { wall_ms: Some(100), ..Cap::NONE };
        purse.open(Amount::default(), false, 1_000);
        purse.open(Amount::default(), false, 1_010);
        purse.close(Amount::default(), Amount::default(), 1_020);
        assert_eq!(purse.active_ms(1_030), 30);
        purse.close(Amount::default(), Amount::default(), 1_050);
        assert_eq!(purse.active_ms(9_000), 50);
        assert_eq!(purse.wall_left(cap, 9_000), 50);
        purse.open(Amount::default(), false, 9_000);
        assert_eq!(purse.wall_left(cap, 9_050), 0);
        assert!(!purse.has_steps(cap, 9_050, false));
        assert!(purse.has_steps(cap, 9_049, false));
    }

    #[test]
    fn what_is_not_reported_is_settled_at_what_was_set_aside() {
        let reserved = amount(20, 30);
        assert_eq!(Usage::UNKNOWN.settle(reserved), reserved);
        let half = Usage { cost: Reported::Known(4), tokens: Reported::Unknown };
        assert_eq!(half.settle(reserved), amount(4, 30));
    }

    #[test]
    fn opening_and_closing_moves_the_amount_from_reserved_to_settled() {
        let mut purse = Purse::default();
        purse.open(amount(20, 2), true, 0);
        purse.open(amount(10, 1), false, 0);
        assert_eq!((purse.reserved, purse.invocations, purse.iterations), (amount(30, 3), 1, 2));
        purse.close(amount(20, 2), amount(7, 1), 5);
        assert_eq!((purse.reserved, purse.settled), (amount(10, 1), amount(7, 1)));
    }

    #[test]
    fn caps_may_be_raised_and_lifted_but_not_lowered() {
        let old = Caps::default();
        let mut new = old;
        new.run.cost_micros = None;
        new.unit.invocations = Some(1_000);
        assert!(new.at_least(&old));
        assert!(!old.at_least(&new));
        let lower: [fn(&mut Caps); 13] = [
            |c| c.run.cost_micros = Some(1),
            |c| c.run.tokens = Some(1),
            |c| c.run.wall_ms = Some(1),
            |c| c.run.invocations = Some(1),
            |c| c.run.iterations = Some(1),
            |c| c.unit.cost_micros = Some(1),
            |c| c.unit.wall_ms = Some(1),
            |c| c.unit.tokens = Some(1),
            |c| c.invocation.amount.cost_micros = 1,
            |c| c.invocation.amount.tokens = 1,
            |c| c.invocation.wall_ms = 1,
            |c| c.invocation.request.cost_micros = 1,
            |c| c.invocation.request.tokens = 1,
        ];
        for (i, lower) in lower.iter().enumerate() {
            let mut new = old;
            lower(&mut new);
            assert!(!new.at_least(&old), "case {i}");
        }
    }

    #[test]
    fn caps_that_no_request_fits_into_are_flawed() {
        let mut caps = Caps::default();
        caps.invocation.request.cost_micros = 2_000_001;
        assert!(caps.flaw().is_some());
        let mut caps = Caps::default();
        caps.unit.tokens = Some(249_999);
        assert!(caps.flaw().is_some());
        let mut caps = Caps::default();
        caps.run.cost_micros = Some(249_999);
        assert!(caps.flaw().is_some());
    }
}
