//! What a request and its answer come to in tokens.

/// Tokens of a request and its answer.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Usage {
    /// Of the request, neither read from the cache nor written to it.
    pub fresh: u64,
    /// Of the request, read from the cache.
    pub read: u64,
    /// Of the request, written to the cache.
    pub written: u64,
    /// Of the answer.
    pub output: u64,
}

impl Usage {
    /// Of the request, all together.
    #[must_use]
    pub fn input(self) -> u64 {
        self.fresh + self.read + self.written
    }
}

/// What an answer says that it came to.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Tokens {
    /// What the server counts.
    #[default]
    Counted,
    /// What the server counts, but only at the end of a stream.
    AtTheEnd,
    /// This.
    Given(Usage),
    /// Nothing.
    Missing,
}

/// How many tokens so many characters are.
pub(crate) fn tokens(chars: usize) -> u64 {
    (chars / 4) as u64
}
