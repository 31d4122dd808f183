//! Asking Linear: one request at a time, again while there is patience, and what its refusals mean.
//!
//! A request that may have been carried out although nothing was heard of it is never simply sent again: whoever writes looks
//! first ([`Asking::write`]).

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Deserialize;
use serde_json::json;

use super::query::{Operation, Outcome};
use super::{KEY, Linear, NAME};
use crate::tracker::TrackerError;
use crate::tracker::http::Answer;
use crate::tracker::tries::{self, Tries};

/// One thing that Linear is to do, in as many requests as it takes.
pub(super) struct Asking<'a> {
    linear: &'a Linear,
    tries: Tries<'a>,
}

/// Why Linear did not do what it was asked.
#[derive(Debug)]
pub(super) enum Trouble {
    /// It said no, to this.
    No(String),
    /// Whatever else it would be asked.
    Other(TrackerError),
}

type Met = tries::Met<Trouble>;

#[derive(Deserialize)]
struct Reply<T> {
    data: Option<T>,
}

#[derive(Default, Deserialize)]
struct Refusals {
    errors: Option<Vec<Refusal>>,
}

#[derive(Deserialize)]
struct Refusal {
    message: Option<String>,
    extensions: Option<Extensions>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Extensions {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<String>,
    user_presentable_message: Option<String>,
}

impl Linear {
    pub(super) fn asking(&self) -> Asking<'_> {
        Asking { linear: self, tries: Tries::new(&*self.patience) }
    }

    /// Sends one request.
    fn try_once<O: Operation>(&self, sent: &O::Sent) -> Result<O::Came, Met> {
        let body = json!({"query": O::DOCUMENT, "variables": sent}).to_string();
        let headers = [("content-type", "application/json"), ("authorization", self.key.shown())];
        let answer = self.http.send("POST", &self.url, &headers, body.as_bytes());
        let answer = answer.map_err(|failed| {
            let why = self.clean(&failed.why);
            if failed.for_good {
                let error = tries::given_up(NAME, &self.url, None, why);
                return Met::Final(Trouble::Other(error));
            }
            Met::Passing { sent: failed.sent, asked: None, why }
        })?;
        self.heard::<O>(&answer)
    }

    /// What an answer means.
    fn heard<O: Operation>(&self, answer: &Answer) -> Result<O::Came, Met> {
        let refusals: Refusals = serde_json::from_slice(&answer.body).unwrap_or_default();
        let errors = refusals.errors.unwrap_or_default();
        let is = |word: &str| {
            errors.iter().filter_map(|it| it.extensions.as_ref()).any(|it| it.is(word))
        };
        let why = match errors.first() {
            Some(first) => self.clean(first.what()),
            None => format!("it answers with status {}", answer.status),
        };
        if answer.status == 401 || is("authenticationerror") {
            return Err(Met::Final(Trouble::Other(unwelcome(why))));
        }
        if answer.status == 429 || is("ratelimited") {
            let asked = Some(until_reset(answer));
            return Err(Met::Passing { sent: false, asked, why });
        }
        let passes = ["internalerror", "internalservererror", "networkerror", "locktimeout"];
        if answer.status >= 500 || passes.iter().any(|word| is(word)) {
            return Err(Met::Passing { sent: true, asked: asked(answer), why });
        }
        if !errors.is_empty() {
            return Err(Met::Final(Trouble::No(why)));
        }
        if !(200..300).contains(&answer.status) {
            return Err(Met::Final(Trouble::Other(TrackerError::Strange { tracker: NAME, why })));
        }
        let reply: Result<Reply<O::Came>, _> = serde_json::from_slice(&answer.body);
        let why = match reply {
            Ok(Reply { data: Some(data) }) => return Ok(data),
            Ok(Reply { data: None }) => "there is no data in it".to_owned(),
            Err(error) => self.clean(&error.to_string()),
        };
        Err(Met::Final(Trouble::Other(TrackerError::Strange { tracker: NAME, why })))
    }

    /// What others said, as it can be shown: in a line, not too long, and without the key.
    fn clean(&self, text: &str) -> String {
        let text = text.replace(self.key.shown(), "…");
        let line: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        let words: Vec<&str> = line.split_whitespace().collect();
        let line = words.join(" ");
        match line.char_indices().nth(300) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

impl Asking<'_> {
    /// Asks something that changes nothing.
    pub fn ask<O: Operation>(&mut self, sent: &O::Sent) -> Result<O::Came, Trouble> {
        loop {
            self.tries.begin();
            match self.linear.try_once::<O>(sent) {
                Ok(came) => return Ok(came),
                Err(Met::Final(trouble)) => return Err(trouble),
                Err(Met::Passing { asked, why, .. }) => self.wait(asked, why)?,
            }
        }
    }

    /// Asks for a change. Where nobody knows whether it was carried out, `done` looks before it is asked for again.
    pub fn write<O: Operation<Came: Outcome>>(
        &mut self,
        sent: &O::Sent,
        done: impl Fn(&mut Self) -> Result<bool, Trouble>,
    ) -> Result<(), Trouble> {
        loop {
            self.tries.begin();
            match self.linear.try_once::<O>(sent) {
                Ok(came) if came.done() => return Ok(()),
                Ok(_) => return Err(Trouble::No("it was not done, and no reason is given".into())),
                Err(Met::Final(trouble)) => return Err(trouble),
                Err(Met::Passing { sent: maybe, asked, why }) => {
                    self.wait(asked, why)?;
                    if maybe && done(self)? {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn wait(&mut self, asked: Option<Duration>, why: String) -> Result<(), Trouble> {
        match self.tries.again(asked) {
            true => Ok(()),
            false => Err(Trouble::Other(tries::given_up(NAME, &self.linear.url, asked, why))),
        }
    }
}

impl Refusal {
    /// What it says, for people where it says so.
    fn what(&self) -> &str {
        let extensions = self.extensions.as_ref();
        let shown = extensions.and_then(|it| it.user_presentable_message.as_deref());
        let all = [shown, self.message.as_deref()].into_iter().flatten();
        all.into_iter().find(|text| !text.is_empty()).unwrap_or("it gives no reason")
    }
}

impl Extensions {
    /// Whether its type or its code is this word; Linear writes them in more than one way.
    fn is(&self, word: &str) -> bool {
        let mut own = [&self.kind, &self.code].into_iter().flatten();
        own.any(|own| {
            let letters = own.chars().filter(char::is_ascii_alphabetic);
            letters.map(|letter| letter.to_ascii_lowercase()).eq(word.chars())
        })
    }
}

impl Trouble {
    /// As everybody else sees it.
    pub fn told(self, next: &str) -> TrackerError {
        match self {
            Trouble::No(why) => refused(why, next),
            Trouble::Other(error) => error,
        }
    }

    /// Whether it says that there is no such thing.
    pub fn is_missing(&self) -> bool {
        matches!(self, Trouble::No(why) if {
            let why = why.to_lowercase();
            why.contains("not found") || why.contains("could not find")
        })
    }
}

impl From<TrackerError> for Trouble {
    fn from(error: TrackerError) -> Self {
        Trouble::Other(error)
    }
}

pub(super) fn refused(why: impl Into<String>, next: impl Into<String>) -> TrackerError {
    TrackerError::Refused { tracker: NAME, why: why.into(), next: next.into() }
}

pub(super) fn unwelcome(why: String) -> TrackerError {
    let next = format!("put a personal API key of Linear (Settings, Security & access) in {KEY}");
    TrackerError::Unwelcome { tracker: NAME, why, next }
}

/// How long whoever asks too much is to wait.
fn until_reset(answer: &Answer) -> Duration {
    let ms = |name: &str| answer.header(name).and_then(|it| it.trim().parse::<u64>().ok());
    // What is used up says so; whoever has both left is only too quick.
    let reset = ["requests", "complexity", "endpoint-requests"].iter().filter_map(|what| {
        let used_up = ms(&format!("x-ratelimit-{what}-remaining")).is_none_or(|left| left == 0);
        ms(&format!("x-ratelimit-{what}-reset")).filter(|_| used_up)
    });
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let reset = reset.max().map(|ms| Duration::from_millis(ms).saturating_sub(now));
    asked(answer).or(reset).unwrap_or_default().max(Duration::from_secs(1))
}

/// The seconds of a header that is usual everywhere.
fn asked(answer: &Answer) -> Option<Duration> {
    let seconds = answer.header("retry-after")?.trim().parse().ok()?;
    Some(Duration::from_secs(seconds))
}
