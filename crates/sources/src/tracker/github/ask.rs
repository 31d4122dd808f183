//! Asking GitHub: one request at a time, again while there is patience, and what its refusals mean.
//!
//! A request that makes something is never simply sent again when nobody knows whether it was carried out: whoever makes
//! something looks first ([`Asking::make`]).

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::limit::until_asked;
use super::{GitHub, KEY, NAME};
use crate::tracker::TrackerError;
use crate::tracker::http::Answer;
use crate::tracker::tries::{self, Tries};

/// One thing that GitHub is to do, in as many requests as it takes.
pub(super) struct Asking<'a> {
    pub github: &'a GitHub,
    tries: Tries<'a>,
}

/// Why GitHub did not do what it was asked.
#[derive(Debug)]
pub(super) enum Trouble {
    /// What was asked about is not there, or not for whoever has this key.
    Gone(String),
    /// It is there, and the key does not open it.
    Forbidden(String),
    /// It said no, to this.
    No(String),
    /// Whatever else it would be asked.
    Other(TrackerError),
}

/// What GitHub says when it says no.
#[derive(Default, serde::Deserialize)]
struct Refusal {
    #[serde(default)]
    message: String,
    #[serde(default)]
    errors: Vec<Value>,
}

type Met = tries::Met<Trouble>;

/// A list of this many parts has no end.
const PAGES_MAX: usize = 400;

/// The version of the interface that is spoken: servers of companies know none that is newer.
const VERSION: &str = "2022-11-28";

impl GitHub {
    pub(super) fn asking(&self) -> Asking<'_> {
        Asking { github: self, tries: Tries::new(&*self.patience) }
    }

    /// Sends one request.
    fn try_once(&self, method: &str, url: &str, body: Option<&Value>) -> Result<Answer, Met> {
        let bearer = format!("Bearer {}", self.key.shown());
        let mut headers = vec![
            ("accept", "application/vnd.github+json"),
            ("authorization", bearer.as_str()),
            ("x-github-api-version", VERSION),
        ];
        if body.is_some() {
            headers.push(("content-type", "application/json"));
        }
        let body = body.map(Value::to_string).unwrap_or_default();
        let answer = self.http.send(method, url, &headers, body.as_bytes());
        let answer = answer.map_err(|failed| {
            let why = self.clean(&failed.why);
            if failed.for_good {
                let error = tries::given_up(NAME, &self.url, None, why);
                return Met::Final(Trouble::Other(error));
            }
            Met::Passing { sent: failed.sent, asked: None, why }
        })?;
        self.heard(answer)
    }

    /// What an answer means.
    fn heard(&self, answer: Answer) -> Result<Answer, Met> {
        let status = answer.status;
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let refusal: Refusal = serde_json::from_slice(&answer.body).unwrap_or_default();
        let why = self.clean(&refusal.said(status));
        Err(match status {
            401 => Met::Final(Trouble::Other(unwelcome(why))),
            403 | 429 => match until_asked(&answer, &refusal.message) {
                Some(wait) => Met::Passing { sent: false, asked: Some(wait), why },
                None => Met::Final(Trouble::Forbidden(why)),
            },
            404 | 410 => Met::Final(Trouble::Gone(why)),
            301 | 302 | 307 | 308 => {
                let to = answer.header("location").unwrap_or("somewhere else");
                let why = format!("it has moved to {}", self.clean(to));
                Met::Final(Trouble::No(why))
            }
            408 | 500.. => {
                let asked = until_asked(&answer, "");
                Met::Passing { sent: true, asked, why }
            }
            _ => Met::Final(Trouble::No(why)),
        })
    }

    /// What others said, as it can be shown: in a line, not too long, and without the key.
    fn clean(&self, text: &str) -> String {
        let text = text.replace(self.key.shown(), "…");
        let line: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(300) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }

    fn read<T: DeserializeOwned>(&self, path: &str, answer: &Answer) -> Result<T, Trouble> {
        let body = if answer.body.is_empty() { b"null" } else { &answer.body[..] };
        serde_json::from_slice(body).map_err(|error| {
            let path = path.split('?').next().unwrap_or_default();
            let why = self.clean(&format!("{path}: {error}"));
            Trouble::Other(TrackerError::Strange { tracker: NAME, why })
        })
    }
}

impl Asking<'_> {
    /// Asks something that changes nothing.
    pub fn get<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, Trouble> {
        let url = self.url(path);
        let answer = self.again("GET", &url, None)?;
        self.github.read(path, &answer)
    }

    /// All parts of a list.
    pub fn list<T: DeserializeOwned>(&mut self, path: &str) -> Result<Vec<T>, Trouble> {
        self.list_in(path, |part: Vec<T>| part)
    }

    /// The same for a list that stands in something else.
    pub fn list_in<P: DeserializeOwned, T>(
        &mut self,
        path: &str,
        within: impl Fn(P) -> Vec<T>,
    ) -> Result<Vec<T>, Trouble> {
        let joint = if path.contains('?') { '&' } else { '?' };
        let mut url = self.url(&format!("{path}{joint}per_page=100"));
        let mut all = Vec::new();
        for _ in 0..PAGES_MAX {
            let answer = self.again("GET", &url, None)?;
            all.extend(within(self.github.read(path, &answer)?));
            let Some(next) = answer.header("link").and_then(next) else { return Ok(all) };
            // The key goes to one place only.
            if !next.starts_with(&format!("{}/", self.github.url)) {
                let why = format!("the next part of {path} is said to be somewhere else");
                return Err(Trouble::Other(TrackerError::Strange { tracker: NAME, why }));
            }
            url = next.to_owned();
        }
        let why = format!("{path} does not end");
        Err(Trouble::Other(TrackerError::Strange { tracker: NAME, why }))
    }

    /// Asks for a change that is the same however often it is carried out.
    pub fn set<T: DeserializeOwned>(
        &mut self,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<T, Trouble> {
        let url = self.url(path);
        let answer = self.again(method, &url, body)?;
        self.github.read(path, &answer)
    }

    /// Makes something. Where nobody knows whether it was made, `there` looks before it is made again.
    pub fn make<T: DeserializeOwned>(
        &mut self,
        path: &str,
        body: &Value,
        there: impl Fn(&mut Self) -> Result<Option<T>, Trouble>,
    ) -> Result<T, Trouble> {
        let url = self.url(path);
        loop {
            self.tries.begin();
            match self.github.try_once("POST", &url, Some(body)) {
                Ok(answer) => return self.github.read(path, &answer),
                Err(Met::Final(trouble)) => return Err(trouble),
                Err(Met::Passing { sent, asked, why }) => {
                    self.wait(asked, why)?;
                    if sent && let Some(made) = there(self)? {
                        return Ok(made);
                    }
                }
            }
        }
    }

    fn again(&mut self, method: &str, url: &str, body: Option<&Value>) -> Result<Answer, Trouble> {
        loop {
            self.tries.begin();
            match self.github.try_once(method, url, body) {
                Ok(answer) => return Ok(answer),
                Err(Met::Final(trouble)) => return Err(trouble),
                Err(Met::Passing { asked, why, .. }) => self.wait(asked, why)?,
            }
        }
    }

    fn wait(&mut self, asked: Option<Duration>, why: String) -> Result<(), Trouble> {
        match self.tries.again(asked) {
            true => Ok(()),
            false => Err(Trouble::Other(tries::given_up(NAME, &self.github.url, asked, why))),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.github.url)
    }
}

impl Refusal {
    /// What it says, with what is wrong with which field.
    fn said(&self, status: u16) -> String {
        let mut said = match self.message.as_str() {
            "" => format!("it answers with status {status}"),
            message => message.to_owned(),
        };
        for error in &self.errors {
            let word = |name: &str| error[name].as_str().unwrap_or_default();
            let what = match word("message") {
                "" => format!("{} {}", word("field"), word("code")),
                message => message.to_owned(),
            };
            said = format!("{said}: {}", what.trim());
        }
        said
    }
}

impl Trouble {
    /// What the caller is told, and what they can do about it.
    pub fn told(self, github: &GitHub) -> TrackerError {
        let project = &github.project;
        match self {
            Trouble::Other(error) => error,
            Trouble::Gone(why) => refused(
                format!("{project} is not there for this key: {why}"),
                format!(
                    "look whether {project} is right, has issues, and may be seen with the key in {KEY}"
                ),
            ),
            Trouble::Forbidden(why) => refused(
                why,
                format!(
                    "give the key in {KEY} the right to read and write issues and pull requests of {project}"
                ),
            ),
            Trouble::No(why) => refused(why, format!("look at {project} on GitHub")),
        }
    }
}

pub(super) fn refused(why: impl Into<String>, next: impl Into<String>) -> TrackerError {
    TrackerError::Refused { tracker: NAME, why: why.into(), next: next.into() }
}

pub(super) fn unwelcome(why: impl Into<String>) -> TrackerError {
    let next = format!("put a key into {KEY} that is valid and may read and write issues");
    TrackerError::Unwelcome { tracker: NAME, why: why.into(), next }
}

/// Where the next part of a list is, if there is one.
fn next(links: &str) -> Option<&str> {
    links.split(',').find_map(|link| {
        let (url, rest) = link.trim().strip_prefix('<')?.split_once('>')?;
        rest.split(';').any(|it| it.trim() == "rel=\"next\"").then_some(url)
    })
}

/// A word as a part of a path or a query.
pub(super) fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_part_is_found_wherever_it_stands() {
        let links = "<https://x/a?page=1>; rel=\"prev\", <https://x/a?page=3>; rel=\"next\"";
        assert_eq!(next(links), Some("https://x/a?page=3"));
        assert_eq!(next("<https://x/a?page=1>; rel=\"prev\""), None);
        assert_eq!(next(""), None);
    }

    #[test]
    fn words_are_encoded() {
        assert_eq!(encoded("in progress/ü?&#"), "in%20progress%2F%C3%BC%3F%26%23");
    }
}
