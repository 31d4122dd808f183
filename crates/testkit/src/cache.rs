//! What a provider would have read from its cache of prompts, and written to it.
//!
//! Anthropic keeps a prefix where the agent says so, and nowhere else: at each of at most four marks, counted through
//! tools, system and messages in that order, if it is long enough. A later request finds it if one of its own marks is at
//! the same place or at most 19 blocks further on, and everything before is the same. OpenAI and Google keep every
//! prefix, in steps of 128 tokens (Google does not say in which, nor for how long), without being asked. All keep them
//! for each key and model apart.
//!
//! What is left out: nothing kept here is ever forgotten, and which of OpenAI's machines a request goes to
//! (`prompt_cache_key`) makes no difference.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::request::{Api, Request};
use crate::usage::{Usage, tokens};

/// At most so many places are looked at for each mark, itself included.
const LOOKED_AT: usize = 20;

/// In steps of so many tokens a prefix is kept that nobody marked.
const STEP: usize = 128;

/// So many characters make a token.
const TOKEN: usize = 4;

/// A block of a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Piece {
    /// What is settled beside the prompt, and makes it and all that follows different. It has no tokens.
    pub beside: String,
    /// What is in it.
    pub text: String,
    /// Whether the agent wants everything up to its end kept.
    pub marked: bool,
}

/// What a request came to at the cache.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Figures {
    /// The request.
    pub serial: u64,
    /// Whose words it was in.
    pub api: Api,
    /// The model it was for.
    pub model: String,
    /// How many tokens it has.
    pub total: u64,
    /// How many of them could be kept for a later request: up to the last mark, or the last whole step.
    pub cacheable: u64,
    /// How many of them were there already.
    pub read: u64,
    /// How many of them Anthropic wrote, and asks more for. The others do so without saying.
    pub written: u64,
}

impl Figures {
    /// With an answer of so many tokens.
    pub(crate) fn usage(&self, output: u64) -> Usage {
        let Figures { total, read, written, .. } = *self;
        Usage { fresh: total - read - written, read, written, output }
    }
}

/// All that is kept.
#[derive(Debug)]
pub(crate) struct Cache {
    /// A shorter prefix is not kept.
    tokens_min: u64,
    kept: BTreeSet<u64>,
    pub figures: Vec<Figures>,
}

impl Cache {
    pub fn new(tokens_min: u64) -> Self {
        Cache { tokens_min, kept: BTreeSet::new(), figures: Vec::new() }
    }

    /// Looks a request up, and keeps what is to be kept of it.
    pub fn look_up(&mut self, request: &Request, prompt: &[Piece]) -> Figures {
        let mut seed = DefaultHasher::new();
        (request.api, &request.key, &request.model).hash(&mut seed);
        let mut figures = match request.api {
            Api::Messages => self.marked(seed, prompt),
            Api::Responses | Api::Chat | Api::Gemini => self.stepped(seed, prompt),
        };
        figures.serial = request.serial;
        figures.api = request.api;
        figures.model.clone_from(&request.model);
        self.figures.push(figures.clone());
        figures
    }

    fn marked(&mut self, mut hasher: DefaultHasher, prompt: &[Piece]) -> Figures {
        let mut chars = 0;
        let mut prefixes = Vec::new();
        for piece in prompt {
            (&piece.beside, &piece.text).hash(&mut hasher);
            chars += piece.text.chars().count();
            prefixes.push((hasher.finish(), tokens(chars)));
        }
        let marks: Vec<_> = (0..prompt.len())
            .filter(|&at| prompt[at].marked && prefixes[at].1 >= self.tokens_min)
            .collect();
        let looked_at = |&mark: &usize| (mark + 1).saturating_sub(LOOKED_AT)..=mark;
        let found = marks.iter().flat_map(looked_at).map(|at| prefixes[at]);
        let read = found.filter(|(prefix, _)| self.kept.contains(prefix)).map(|(_, length)| length);
        let read = read.max().unwrap_or(0);
        let cacheable = marks.last().map_or(0, |&mark| prefixes[mark].1);
        self.kept.extend(marks.iter().map(|&mark| prefixes[mark].0));
        figures(tokens(chars), cacheable, read, cacheable.saturating_sub(read))
    }

    fn stepped(&mut self, mut hasher: DefaultHasher, prompt: &[Piece]) -> Figures {
        let chars: Vec<char> = prompt.iter().flat_map(|piece| piece.text.chars()).collect();
        let mut same = true;
        let (mut read, mut cacheable) = (0, 0);
        for (number, step) in chars.chunks_exact(STEP * TOKEN).enumerate() {
            step.hash(&mut hasher);
            let length = ((number + 1) * STEP) as u64;
            same &= !self.kept.insert(hasher.finish());
            if length >= self.tokens_min {
                cacheable = length;
                read = if same { length } else { read };
            }
        }
        figures(tokens(chars.len()), cacheable, read, 0)
    }
}

fn figures(total: u64, cacheable: u64, read: u64, written: u64) -> Figures {
    let (serial, api, model) = (0, Api::Messages, String::new());
    Figures { serial, api, model, total, cacheable, read, written }
}

/// How many tokens a prompt has.
pub(crate) fn length(prompt: &[Piece]) -> u64 {
    tokens(prompt.iter().map(|piece| piece.text.chars().count()).sum())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire;

    /// Blocks of 40 characters, which are ten tokens, each of one letter; a `!` after a letter marks it.
    fn prompt(letters: &str) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        for letter in letters.chars() {
            match (letter, pieces.last_mut()) {
                ('!', Some(last)) => last.marked = true,
                _ => pieces.push(Piece { text: letter.to_string().repeat(40), ..Piece::default() }),
            }
        }
        pieces
    }

    fn request(path: &str, key: &str) -> Request {
        let mut request = wire::example(path, &json!({"model": "m"}));
        request.key = Some(key.to_owned());
        request
    }

    /// What is read, written and neither.
    fn anthropic(cache: &mut Cache, letters: &str) -> (u64, u64, u64) {
        let figures = cache.look_up(&request("/v1/messages", "k"), &prompt(letters));
        let usage = figures.usage(1);
        assert_eq!(usage.input(), figures.total);
        (usage.read, usage.written, usage.fresh)
    }

    #[test]
    fn what_is_marked_is_written_once_and_read_again() {
        let mut cache = Cache::new(20);
        assert_eq!(anthropic(&mut cache, "ab!cd!e"), (0, 40, 10));
        assert_eq!(anthropic(&mut cache, "ab!cd!e"), (40, 0, 10));
        assert_eq!(anthropic(&mut cache, "ab!cdef!"), (40, 20, 0), "the rest of a conversation");
        assert_eq!(anthropic(&mut cache, "ab!xx!"), (20, 20, 0), "another in the same place");
        assert_eq!(anthropic(&mut cache, "xb!cd!"), (0, 40, 0), "what comes first is different");
    }

    #[test]
    fn nothing_is_kept_between_marks() {
        let mut cache = Cache::new(0);
        assert_eq!(anthropic(&mut cache, "abcd!"), (0, 40, 0));
        assert_eq!(anthropic(&mut cache, "abcx!"), (0, 40, 0));
        assert_eq!(anthropic(&mut cache, "abcd"), (0, 0, 40), "who marks nothing reads nothing");
    }

    #[test]
    fn a_prefix_that_is_too_short_is_not_kept() {
        let mut cache = Cache::new(30);
        assert_eq!(anthropic(&mut cache, "ab!"), (0, 0, 20));
        assert_eq!(anthropic(&mut cache, "ab!"), (0, 0, 20));
        assert_eq!(anthropic(&mut cache, "ab!c!"), (0, 30, 0));
        assert_eq!(anthropic(&mut cache, "ab!c!"), (30, 0, 0));
    }

    #[test]
    fn a_mark_finds_what_is_kept_at_most_19_blocks_before_it() {
        for (further, read) in [(19, 10), (20, 0)] {
            let mut cache = Cache::new(0);
            anthropic(&mut cache, "a!");
            let more = "b".repeat(further);
            assert_eq!(anthropic(&mut cache, &format!("a{more}!")).0, read, "{further}");
        }
    }

    #[test]
    fn keys_and_models_have_caches_of_their_own() {
        let mut cache = Cache::new(0);
        let mut read = |key: &str, model: &str| {
            let mut request = request("/v1/messages", key);
            request.model = model.to_owned();
            cache.look_up(&request, &prompt("a!")).read
        };
        assert_eq!([read("k", "m"), read("l", "m"), read("k", "n"), read("k", "m")], [0, 0, 0, 10]);
    }

    #[test]
    fn without_marks_a_prefix_is_read_in_steps_of_128_tokens() {
        let mut cache = Cache::new(256);
        let mut read = |text: String| {
            let piece = Piece { text, ..Piece::default() };
            let figures = cache.look_up(&request("/v1/responses", "k"), &[piece]);
            assert_eq!(figures.written, 0);
            (figures.total, figures.cacheable, figures.read)
        };
        let start = "s".repeat(512 * 3 + 100);
        assert_eq!(read(start.clone()), (409, 384, 0));
        assert_eq!(read(start.clone()), (409, 384, 384));
        assert_eq!(read(format!("{start}{}", "t".repeat(412))), (512, 512, 384));
        assert_eq!(read(format!("{}x", &start[..1100])), (275, 256, 256));
        assert_eq!(read(start[..1000].to_owned()), (250, 0, 0), "too short");
        assert_eq!(read(format!("x{start}")), (409, 384, 0));
    }
}
