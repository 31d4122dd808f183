//! Prices of models, as the configuration says them: dollars for a million tokens.
//!
//! There are none built in: a price that was true once would be worse than none. What a model without a price costs is
//! not known, and what is not known is settled at what was set aside.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::Flaw;
use crate::listen::Tokens;

/// Prices by model.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Prices(BTreeMap<String, Price>);

/// What a model costs, in dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Price {
    /// Tokens that it reads.
    input: f64,
    /// Tokens that it writes.
    output: f64,
    /// Tokens that it reads from the provider's cache; as `input`, if not said.
    cached: Option<f64>,
    /// Tokens that are written to the provider's cache; as `input`, if not said.
    cache_write: Option<f64>,
}

impl Prices {
    /// What so many tokens of a model cost, in millionths of a dollar and rounded up.
    pub(crate) fn of(&self, model: &str, tokens: Tokens) -> Option<u64> {
        let price = self.find(model)?;
        let parts = [
            (tokens.input, price.input),
            (tokens.output, price.output),
            (tokens.cached, price.cached.unwrap_or(price.input)),
            (tokens.cache_write, price.cache_write.unwrap_or(price.input)),
        ];
        // A dollar for a million tokens is a millionth of a dollar for one.
        #[allow(clippy::cast_precision_loss, reason = "so many tokens nobody has")]
        let micros: f64 = parts.into_iter().map(|(tokens, price)| tokens as f64 * price).sum();
        Some(whole(micros))
    }

    /// A model's price, also if the provider adds a date to its name: `m` is the price of `m-2026-01-31` and `m-20260131`.
    fn find(&self, model: &str) -> Option<&Price> {
        self.0.get(model).or_else(|| {
            let dated = |name: &str| {
                let rest = model.strip_prefix(name)?.strip_prefix('-')?;
                let digits = rest.chars().filter(char::is_ascii_digit).count();
                let plain = rest.chars().all(|letter| letter.is_ascii_digit() || letter == '-');
                (plain && digits == 8).then_some(())
            };
            self.0.iter().find(|(name, _)| dated(name).is_some()).map(|(_, price)| price)
        })
    }

    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What is wrong with them.
    pub(crate) fn flaw(&self) -> Option<Flaw> {
        let odd = |price: &Price| {
            let all = [Some(price.input), Some(price.output), price.cached, price.cache_write];
            all.into_iter().flatten().any(|one| !one.is_finite() || one < 0.0)
        };
        let (model, _) = self.0.iter().find(|(_, price)| odd(price))?;
        Some(Flaw {
            what: format!("has a price for `{model}` that cannot be"),
            at: Some(model.clone()),
            help: Some("a price is in dollars for a million tokens, and not below 0".to_owned()),
        })
    }
}

/// Dollars that somebody says were spent, in millionths of a dollar and rounded up; nothing, if that cannot be.
pub fn micros(dollars: f64) -> Option<u64> {
    (dollars.is_finite() && dollars >= 0.0).then(|| whole(dollars * 1e6))
}

/// Rounds up, but for what an amount is off because it is written in binary: a dollar's 0.000123 are 123 millionths and not 124.
fn whole(micros: f64) -> u64 {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "never negative; more than u64 holds is as much as it holds"
    )]
    let whole = (micros - 1e-6).ceil().max(0.0) as u64;
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prices(text: &str) -> Prices {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn a_price_is_for_a_million_tokens_and_cache_reads_and_writes_have_their_own() {
        let prices =
            prices("big = { input = 3.0, output = 15.0, cached = 0.3, cache-write = 3.75 }");
        let tokens = Tokens { input: 1_000, cached: 20_000, cache_write: 400, output: 100 };
        assert_eq!(prices.of("big", tokens), Some(3_000 + 6_000 + 1_500 + 1_500));
        assert_eq!(prices.of("other", tokens), None, "never zero");
        let one = Tokens { cached: 1, ..Tokens::default() };
        assert_eq!(prices.of("big", one), Some(1), "rounded up");
        assert_eq!(prices.of("big", Tokens::default()), Some(0));
    }

    #[test]
    fn what_is_not_said_about_the_cache_costs_as_much_as_anything_read() {
        let prices = prices("m = { input = 2.0, output = 8.0 }");
        let tokens = Tokens { input: 1, cached: 10, cache_write: 100, output: 1_000 };
        assert_eq!(prices.of("m", tokens), Some(2 + 20 + 200 + 8_000));
    }

    #[test]
    fn an_amount_is_as_many_millionths_as_are_written_and_a_part_of_one_is_one_more() {
        let mut wrong = Vec::new();
        for whole in [0, 1, 7, 999] {
            for part in 0..100_000 {
                let part = part * 7 % 1_000_000;
                let want = whole * 1_000_000 + part;
                let exact: f64 = format!("{whole}.{part:06}").parse().unwrap();
                let more: f64 = format!("{whole}.{part:06}1").parse().unwrap();
                if (micros(exact), micros(more)) != (Some(want), Some(want + 1)) {
                    wrong.push(exact);
                }
            }
        }
        assert_eq!(wrong, [0.0; 0]);
        assert_eq!(micros(0.000_123), Some(123));
        assert_eq!(micros(f64::MAX), Some(u64::MAX));
        for nothing in [-0.01, f64::NAN, f64::INFINITY] {
            assert_eq!(micros(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_date_in_a_models_name_changes_nothing() {
        let prices = prices("gpt-5 = { input = 1.0, output = 1.0 }");
        for name in ["gpt-5", "gpt-5-2026-01-31", "gpt-5-20260131"] {
            assert!(prices.find(name).is_some(), "{name}");
        }
        for name in ["gpt-5-mini", "gpt-55", "gpt-5-1", "gpt", "gpt-5-"] {
            assert!(prices.find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn a_price_below_nothing_is_a_mistake() {
        assert_eq!(prices("m = { input = 1.0, output = 1.0 }").flaw(), None);
        let flaw = prices("m = { input = -1.0, output = 1.0 }").flaw().unwrap();
        assert_eq!(flaw.at.as_deref(), Some("m"));
    }
}
