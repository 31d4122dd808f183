//! Listening to an agent while it works: what it prints becomes events as it comes, and an answer when it has ended.
//!
//! A kind of agent that prints an event in each line is listened to line by line, and so is the record that it keeps of
//! its own session. What it says about usage is cumulative from here on, whatever the agent itself reports.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::price::Prices;
use crate::{Answer, Ask, Heard};

/// What an agent lets others know while it works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its own name for its session.
    Session(String),
    /// It said something.
    Text(String),
    /// It used a tool.
    Tool {
        /// Which.
        name: String,
        /// On what, in a line.
        about: String,
    },
    /// It changed a file.
    Change(String),
    /// It has come so far that it must not be sent back to before this: its record has the same, or will have.
    Step(String),
    /// It asked its model once more.
    Turn,
    /// What it has used up so far, with everything before.
    Usage(Usage),
    /// Its provider serves it no more until this time of the wall clock (in milliseconds since 1970), if it says.
    Limit(Option<i64>),
    /// It waits this long, in milliseconds, before it asks its provider again.
    Waits(u64),
    /// It was not allowed to use a tool.
    Denied(String),
    /// It begins with something that nobody here understands. What that is, its answer remarks.
    Strange,
}

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Its standard output.
    Output,
    /// The record that it keeps of its session.
    Record,
    /// The same, from before it was cut off and taken up again.
    Past,
    /// The same, from earlier invocations of the conversation that it goes on with: those have accounts of their own.
    Before,
}

/// Listens to one invocation of an agent.
pub trait Listener: Send {
    /// One more line of what it writes. Whatever it is, it is no reason to stumble.
    fn line(&mut self, from: Source, line: &[u8]) -> Vec<Event>;

    /// What it came to, now that it has ended.
    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer;

    /// What it has used of each model, as far as that was heard.
    fn models(&self) -> Vec<ModelUse> {
        Vec::new()
    }
}

/// What an agent has used of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUse {
    /// Its name.
    pub model: String,
    /// How often it was asked, as far as that was heard.
    pub requests: u64,
    /// Tokens that it read anew.
    pub input: u64,
    /// Tokens that it read from the provider's cache.
    pub cached: u64,
    /// Tokens that were written to it.
    pub cache_write: u64,
    /// Tokens that it wrote.
    pub output: u64,
    /// What that costs, in millionths of a dollar, if it has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// What it would have cost more without a cache; less, if what was written there was never read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_micros: Option<i64>,
}

impl ModelUse {
    pub(crate) fn of(model: String, requests: u64, tokens: Tokens, prices: &Prices) -> Self {
        let cost = prices.of(&model, tokens);
        let read = tokens.input.saturating_add(tokens.cached);
        let input = read.saturating_add(tokens.cache_write);
        let plain = prices.of(&model, Tokens { input, cached: 0, cache_write: 0, ..tokens });
        let signed = |micros: u64| i64::try_from(micros).unwrap_or(i64::MAX);
        ModelUse {
            model,
            requests,
            input: tokens.input,
            cached: tokens.cached,
            cache_write: tokens.cache_write,
            output: tokens.output,
            cost_micros: cost,
            saved_micros: plain.zip(cost).map(|(plain, cost)| signed(plain) - signed(cost)),
        }
    }

    /// All tokens.
    pub fn tokens(&self) -> u64 {
        let read = self.input.saturating_add(self.cached).saturating_add(self.cache_write);
        read.saturating_add(self.output)
    }
}

/// Cuts what a program writes into lines.
#[derive(Debug, Default)]
pub struct Lines {
    rest: Vec<u8>,
    /// A line that is too long is let go to its end.
    skipping: bool,
}

/// A line is not longer than this: no event is.
const LINE_BYTES: usize = 16 << 20;

impl Lines {
    /// Hands on each line that is complete now.
    pub fn feed(&mut self, mut chunk: &[u8], mut each: impl FnMut(&[u8])) {
        while let Some(at) = memchr::memchr(b'\n', chunk) {
            let (line, rest) = chunk.split_at(at);
            chunk = &rest[1..];
            if self.skipping {
                self.skipping = false;
            } else if self.rest.is_empty() {
                each(line);
            } else {
                self.rest.extend_from_slice(line);
                each(&self.rest);
            }
            self.rest.clear();
        }
        if !self.skipping {
            self.rest.extend_from_slice(chunk);
        }
        if self.rest.len() > LINE_BYTES {
            self.rest = Vec::new();
            self.skipping = true;
        }
    }

    /// Hands on what stands after the last line's end.
    pub fn end(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.rest.is_empty() {
            each(&std::mem::take(&mut self.rest));
        }
    }
}

/// An event that a line holds.
pub(crate) fn event(line: &[u8]) -> Option<Map<String, Json>> {
    // Half a line is none, and is not read through to find that out.
    let is_whole = line.trim_ascii_end().ends_with(b"}");
    is_whole.then(|| serde_json::from_slice(line).ok())?
}

/// What a key holds, if it is a text.
pub(crate) fn text<'j>(object: &'j Map<String, Json>, key: &str) -> Option<&'j str> {
    object.get(key)?.as_str()
}

/// Tokens of a model, by what they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    /// Read anew.
    pub input: u64,
    /// Read from the provider's cache.
    pub cached: u64,
    /// Written to it.
    pub cache_write: u64,
    /// Written by the model.
    pub output: u64,
}

impl Tokens {
    pub fn plus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_add(other.input),
            cached: self.cached.saturating_add(other.cached),
            cache_write: self.cache_write.saturating_add(other.cache_write),
            output: self.output.saturating_add(other.output),
        }
    }

    pub fn minus(self, other: Tokens) -> Tokens {
        Tokens {
            input: self.input.saturating_sub(other.input),
            cached: self.cached.saturating_sub(other.cached),
            cache_write: self.cache_write.saturating_sub(other.cache_write),
            output: self.output.saturating_sub(other.output),
        }
    }

    pub fn total(self) -> u64 {
        let sum = self.input.saturating_add(self.cached).saturating_add(self.cache_write);
        sum.saturating_add(self.output)
    }
}

/// What an agent's requests have used up so far, request by request: one may be heard of several times, each time with
/// more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    open: VecDeque<Request>,
    /// What those used up that are not heard of any more, by model.
    closed: BTreeMap<String, Closed>,
}

#[derive(Clone, Debug)]
struct Request {
    id: String,
    model: String,
    tokens: Tokens,
}

#[derive(Clone, Copy, Debug, Default)]
struct Closed {
    requests: u64,
    tokens: Tokens,
}

/// So many requests may still be heard of again.
const OPEN: usize = 64;
/// No name of a request or of a model is longer than this.
const NAME_BYTES: usize = 256;
/// So many models are told apart.
const MODELS: usize = 64;

impl Tally {
    /// A request is heard of: what it used up so far.
    pub fn request(&mut self, id: &str, model: &str, tokens: Tokens) {
        let short = |name: &str| name[..name.floor_char_boundary(NAME_BYTES)].to_owned();
        let (id, model) = (short(id), short(model));
        if let Some(own) = self.open.iter_mut().rev().find(|own| own.id == id) {
            own.tokens = Tokens {
                input: own.tokens.input.max(tokens.input),
                cached: own.tokens.cached.max(tokens.cached),
                cache_write: own.tokens.cache_write.max(tokens.cache_write),
                output: own.tokens.output.max(tokens.output),
            };
            return;
        }
        self.open.push_back(Request { id, model, tokens });
        if self.open.len() > OPEN
            && let Some(oldest) = self.open.pop_front()
        {
            close(&mut self.closed, &oldest);
        }
    }

    fn by_model(&self) -> BTreeMap<String, Closed> {
        let mut all = self.closed.clone();
        self.open.iter().for_each(|request| close(&mut all, request));
        all
    }

    /// Everything so far.
    pub fn usage(&self, prices: &Prices) -> Usage {
        let all = self.by_model();
        let tokens = all.values().fold(Tokens::default(), |sum, one| sum.plus(one.tokens));
        let costs = all.iter().map(|(model, one)| prices.of(model, one.tokens));
        let cost = costs.into_iter().try_fold(0_u64, |sum, cost| Some(sum.saturating_add(cost?)));
        Usage { cost: reported(cost), tokens: Reported::Known(tokens.total()) }
    }

    /// The same, model by model.
    pub fn models(&self, prices: &Prices) -> Vec<ModelUse> {
        let all = self.by_model().into_iter();
        all.map(|(model, one)| ModelUse::of(model, one.requests, one.tokens, prices)).collect()
    }
}

fn close(closed: &mut BTreeMap<String, Closed>, request: &Request) {
    let known = closed.contains_key(&request.model) || closed.len() < MODELS;
    let model = if known { request.model.clone() } else { String::new() };
    let own = closed.entry(model).or_default();
    own.requests += 1;
    own.tokens = own.tokens.plus(request.tokens);
}

/// A figure that may not be known.
pub(crate) fn reported(figure: Option<u64>) -> Reported {
    figure.map_or(Reported::Unknown, Reported::Known)
}

/// Listens to a program that has said everything when it has ended.
pub(crate) fn listen_at_the_end(ask: &Ask<'_>) -> Box<dyn Listener> {
    Box::new(AtTheEnd { reporter: ask.reporter.clone() })
}

struct AtTheEnd {
    reporter: Reporter,
}

impl Listener for AtTheEnd {
    fn line(&mut self, _: Source, _: &[u8]) -> Vec<Event> {
        Vec::new()
    }

    fn answer(self: Box<Self>, output: &Heard<'_>) -> Answer {
        Answer::read(output, &self.reporter)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Vec<u8>> {
        let (mut lines, mut found) = (Lines::default(), Vec::new());
        chunks.iter().for_each(|chunk| lines.feed(chunk, |line| found.push(line.to_vec())));
        lines.end(|line| found.push(line.to_vec()));
        found
    }

    #[test]
    fn a_line_is_whole_however_it_arrives() {
        assert_eq!(lines(&[b"one\ntw", b"o\n\nthr", b"ee"]), [&b"one"[..], b"two", b"", b"three"]);
        assert_eq!(lines(&[b""]), Vec::<Vec<u8>>::new());
    }

    #[test]
    fn a_line_without_end_takes_no_room() {
        let mut all = Lines::default();
        let mut found = Vec::new();
        for _ in 0..40 {
            all.feed(&vec![b'x'; 1 << 20], |line| found.push(line.len()));
        }
        assert!(all.rest.capacity() <= LINE_BYTES + (2 << 20), "{}", all.rest.capacity());
        all.feed(b"xx\nnext\n", |line| found.push(line.len()));
        assert_eq!(found, [4]);
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_chunks(text in "[ab\n]{0,60}", cuts in prop::collection::vec(0usize..60, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let mut chunks = Vec::new();
            let mut from = 0;
            for cut in cuts {
                chunks.push(&bytes[from..cut]);
                from = cut;
            }
            chunks.push(&bytes[from..]);
            prop_assert_eq!(lines(&chunks), lines(&[bytes]));
        }
    }

    #[test]
    fn a_request_counts_once_and_as_much_as_it_was_at_most() {
        let prices: Prices = toml::from_str("m = { input = 1.0, output = 10.0 }").unwrap();
        let mut tally = Tally::default();
        let tokens = |input, output| Tokens { input, output, ..Tokens::default() };
        tally.request("a", "m", tokens(1_000, 1));
        tally.request("a", "m", tokens(1_000, 50));
        assert_eq!(tally.usage(&prices).cost, Reported::Known(1_000 + 500));
        assert_eq!(tally.usage(&prices).tokens, Reported::Known(1_050));
        for at in 0..100 {
            tally.request(&at.to_string(), "m", tokens(10, 0));
        }
        assert_eq!(tally.usage(&prices).tokens, Reported::Known(2_050));
        assert_eq!(tally.usage(&prices).cost, Reported::Known(2_500));
        tally.request("odd", "other", tokens(1, 0));
        assert_eq!(tally.usage(&prices).cost, Reported::Unknown, "a model without a price");
        for at in 200..300 {
            tally.request(&at.to_string(), "m", tokens(10, 0));
        }
        assert_eq!(tally.usage(&prices).cost, Reported::Unknown, "also when it was long ago");
        assert_eq!(tally.usage(&prices).tokens, Reported::Known(3_051));
    }

    #[test]
    fn what_was_used_is_known_by_model_and_what_a_cache_saved() {
        let prices: Prices =
            toml::from_str("m = { input = 4.0, output = 10.0, cached = 1.0, cache-write = 5.0 }")
                .unwrap();
        let mut tally = Tally::default();
        let tokens = Tokens { input: 10, cached: 100, cache_write: 20, output: 3 };
        tally.request("a", "m", tokens);
        tally.request("b", "m", tokens);
        tally.request("c", "unknown", tokens);
        let models = tally.models(&prices);
        let names: Vec<&str> = models.iter().map(|it| it.model.as_str()).collect();
        assert_eq!(names, ["m", "unknown"]);
        let ModelUse { requests, input, cached, cache_write, output, .. } = models[0];
        assert_eq!((requests, input, cached, cache_write, output), (2, 20, 200, 40, 6));
        assert_eq!(models[0].tokens(), 266);
        assert_eq!(models[0].cost_micros, Some(80 + 200 + 200 + 60));
        assert_eq!(models[0].saved_micros, Some(200 * 3 - 40));
        assert_eq!((models[1].cost_micros, models[1].saved_micros), (None, None));
        for at in 0..1_000 {
            tally.request(&at.to_string(), &format!("model {at}"), tokens);
        }
        let models = tally.models(&prices);
        assert!(models.len() <= MODELS + 1, "{}", models.len());
        assert_eq!(models.iter().map(|it| it.requests).sum::<u64>(), 1_003, "none is left out");
    }
}
