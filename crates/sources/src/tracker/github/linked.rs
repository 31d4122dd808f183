//! Whether somebody works on an issue in a pull request of theirs: as the issue's timeline has it.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::GitHub;
use super::ask::{Asking, Trouble};
use super::shown::{User, same};
use crate::tracker::{Linked, Person};

/// Something that happened to an issue.
#[derive(Debug, Deserialize)]
struct Happened {
    event: Option<String>,
    source: Option<Source>,
}

#[derive(Debug, Deserialize)]
struct Source {
    issue: Option<Mention>,
}

/// An issue or a pull request that names the issue.
#[derive(Debug, Deserialize)]
struct Mention {
    number: u64,
    state: String,
    body: Option<String>,
    user: Option<User>,
    pull_request: Option<IgnoredAny>,
    #[serde(default)]
    repository_url: String,
}

/// What says in a pull request that an issue is done once it is merged.
const CLOSES: [&str; 9] =
    ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];

impl GitHub {
    /// The open pull request of somebody else that is about an issue: it says that it closes it, or names it, and somebody has
    /// connected the two. Ours are our own work.
    pub(super) fn linked(
        &self,
        asking: &mut Asking<'_>,
        number: u64,
    ) -> Result<Option<Linked>, Trouble> {
        let path = format!("{}/issues/{number}/timeline", self.here());
        let happened: Vec<Happened> = match asking.list(&path) {
            // A server that tells of no timeline knows of no links.
            Err(Trouble::Gone(_)) => return Ok(None),
            happened => happened?,
        };
        let times =
            |event: &str| happened.iter().filter(|it| it.event.as_deref() == Some(event)).count();
        let is_connected = times("connected") > times("disconnected");
        let me = self.me(asking)?;
        let mentions = happened.iter().filter_map(|it| it.source.as_ref()?.issue.as_ref());
        for it in mentions.filter(|it| it.pull_request.is_some() && it.state == "open") {
            let by = it.user.as_ref().map_or_else(Person::default, |user| user.person(me));
            let place = it.repository_url.rsplit_once("/repos/").map_or("", |(_, place)| place);
            let is_here = place.is_empty() || same(place, &self.project);
            let body = it.body.as_deref().unwrap_or_default();
            if !by.is_me && (is_connected || closes(body, number, &self.project, is_here)) {
                let name = format!("{}#{}", if is_here { "" } else { place }, it.number);
                return Ok(Some(Linked { name, by }));
            }
        }
        Ok(None)
    }
}

/// Whether a body says that it closes an issue: `Fixes #12`, `closes: acme/harness#12`.
fn closes(body: &str, number: u64, project: &str, is_here: bool) -> bool {
    let words: Vec<&str> = body.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let word = pair[0].trim_start_matches(|it: char| !it.is_alphanumeric());
        let word = word.trim_end_matches(':').to_lowercase();
        CLOSES.contains(&word.as_str()) && names(pair[1], number, project, is_here)
    })
}

/// Whether a word names an issue of a project.
fn names(word: &str, number: u64, project: &str, is_here: bool) -> bool {
    let word = word.trim_end_matches(|it: char| !it.is_alphanumeric());
    let (place, own) = match word.rsplit_once("/issues/") {
        Some((url, own)) => (
            url.split_once("://").map_or("", |(_, it)| it).split_once('/').map_or("", |(_, it)| it),
            own,
        ),
        None => match word.rsplit_once('#') {
            Some((place, own)) => (place, own),
            None => return false,
        },
    };
    own.parse() == Ok(number) && (same(place, project) || place.is_empty() && is_here)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_close_an_issue_are_githubs() {
        let says = |body: &str, is_here: bool| closes(body, 12, "acme/harness", is_here);
        for body in [
            "Closes #12",
            "This fixes: #12.",
            "It is done.\n\n- resolved #12, closes #13",
            "FIXED acme/harness#12",
            "close https://github.com/Acme/harness/issues/12",
        ] {
            assert!(says(body, true), "{body}");
        }
        for body in
            ["See #12", "Closes #123", "closes 12", "fixes other/place#12", "closes #", "#12"]
        {
            assert!(!says(body, true), "{body}");
        }
        assert!(!says("closes #12", false) && says("closes acme/harness#12", false));
    }
}
