//! What goes wrong at a provider.

use crate::reply::Turn;

/// What goes wrong.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The provider says, in its own words, that it cannot.
    Complaint(Complaint),
    /// An answer in exactly these words.
    Status {
        /// The status.
        status: u16,
        /// What is said above the body.
        headers: Vec<(String, String)>,
        /// The body.
        body: String,
    },
    /// Not a byte, until the client goes away or the server is dropped.
    HangBefore,
    /// A stream that begins well.
    Midway {
        /// How many events of it are sent.
        after: usize,
        /// What it would have said.
        turn: Turn,
        /// What comes instead of the rest.
        then: Then,
    },
}

/// What comes instead of the rest of a stream.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Then {
    /// The connection is reset.
    Cut,
    /// Nothing, until the client goes away or the server is dropped.
    Hang,
    /// An event that says, in the provider's own words, that it cannot.
    Complain(Complaint),
}

/// Why a provider says that it cannot.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Complaint {
    /// Too many requests: 429.
    RateLimited {
        /// When to come back, in seconds.
        retry_after_s: Option<u64>,
        /// When what a subscription includes is there again, in seconds since 1970. Without it, it is the rate alone that
        /// is too high.
        reset_unix_s: Option<u64>,
    },
    /// Too busy: 529 at Anthropic, 503 elsewhere.
    Overloaded,
    /// An error of its own: 500.
    Internal,
    /// The key is not good: 401.
    Unauthorized,
    /// The request is too long for the model: 400.
    Overflow,
}

impl Complaint {
    /// Too many requests; come back after so many seconds.
    #[must_use]
    pub fn rate_limited(retry_after_s: u64) -> Self {
        Complaint::RateLimited { retry_after_s: Some(retry_after_s), reset_unix_s: None }
    }

    /// Its name in scripts and logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Complaint::RateLimited { .. } => "rate-limited",
            Complaint::Overloaded => "overloaded",
            Complaint::Internal => "internal",
            Complaint::Unauthorized => "unauthorized",
            Complaint::Overflow => "overflow",
        }
    }
}
