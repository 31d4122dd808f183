//! Writes that happen once. Each looks first, and what we make has an id that is made of its marker.

use super::ask::{Asking, Trouble, refused};
use super::query::{
    self, AnyOf, Input, NewComment, NewIssue as Making, NewState, Own, ThatOne, ToState,
};
use super::{Linear, RIGHTS, by_id, shown};
use crate::tracker::marker::Form;
use crate::tracker::{Marker, NewIssue, Target, TrackerError};

/// Who took something back and says it again needs another id: what was deleted keeps its own.
const IDS: u32 = 4;

/// Our comments on an issue.
struct Mine {
    /// The id of the issue that no move to another team changes.
    issue: String,
    comments: Vec<Own>,
}

impl Mine {
    /// Those that were posted with a marker.
    fn with(&self, marker: &Marker) -> Vec<&Own> {
        let ids = ids("comment", &self.issue, marker);
        let ours =
            |own: &&Own| ids.contains(&own.id) || Marker::of(&own.body).as_ref() == Some(marker);
        self.comments.iter().filter(ours).collect()
    }
}

impl Linear {
    pub(super) fn moved(&self, id: &str, target: Target) -> Result<(), TrackerError> {
        let mut asking = self.asking();
        let name = match target {
            Target::InProgress => &self.in_progress,
            Target::Done => &self.done,
        };
        let found = asking.ask::<query::States>(&by_id(id, None));
        let issue = found.map_err(|trouble| gone(trouble, id))?.issue;
        let states = asking.pages(Some(issue.team.states), |asking, after| {
            Ok(asking.ask::<query::States>(&by_id(id, after))?.issue.team.states)
        });
        let states = states.map_err(|trouble| gone(trouble, id))?;
        let state = states.iter().find(|state| state.name == *name);
        let state = state.or(states.iter().find(|state| state.name.eq_ignore_ascii_case(name)));
        let Some(state) = state else {
            let names: Vec<_> = states.iter().map(|state| shown::line(&state.name)).collect();
            let why = format!("the team {} has no state {name}", shown::line(&issue.team.key));
            let next = format!("name one of its states in windlass.toml: {}", names.join(", "));
            return Err(refused(why, next));
        };
        if state.id == issue.state.id {
            return Ok(());
        }
        let sent = ToState { id: issue.id.clone(), input: NewState { state_id: state.id.clone() } };
        let done = |asking: &mut Asking<'_>| {
            let now = asking.ask::<query::States>(&by_id(&issue.id, None))?;
            Ok(now.issue.state.id == state.id)
        };
        asking.write::<query::Move>(&sent, done).map_err(|trouble| gone(trouble, id))
    }

    pub(super) fn said(&self, id: &str, text: &str, marker: &Marker) -> Result<(), TrackerError> {
        let mut asking = self.asking();
        let mine = asking.mine(id).map_err(|trouble| gone(trouble, id))?;
        if !mine.with(marker).is_empty() {
            return Ok(());
        }
        let body = marker.below(&writable(text), Form::Code);
        let is_there =
            |asking: &mut Asking<'_>| Ok(!asking.mine(&mine.issue)?.with(marker).is_empty());
        let mut last = None;
        for own in ids("comment", &mine.issue, marker) {
            let (issue_id, body) = (mine.issue.clone(), body.clone());
            let sent = Input { input: NewComment { id: own, issue_id, body } };
            match asking.write::<query::Say>(&sent, is_there) {
                Ok(()) => return Ok(()),
                Err(Trouble::Other(error)) => return Err(error),
                // Perhaps the id is taken: by this very comment, or by one that was deleted.
                Err(no) => last = Some(no),
            }
            if is_there(&mut asking).map_err(|trouble| gone(trouble, id))? {
                return Ok(());
            }
        }
        Err(last.map_or_else(|| refused("no id is left", RIGHTS), |trouble| gone(trouble, id)))
    }

    pub(super) fn unsaid(&self, id: &str, marker: &Marker) -> Result<(), TrackerError> {
        let mut asking = self.asking();
        let mine = asking.mine(id).map_err(|trouble| gone(trouble, id))?;
        for own in mine.with(marker) {
            let is_gone = |asking: &mut Asking<'_>| {
                let now = asking.mine(&mine.issue)?;
                Ok(now.comments.iter().all(|other| other.id != own.id))
            };
            let sent = ThatOne { id: own.id.clone() };
            let Err(trouble) = asking.write::<query::Unsay>(&sent, is_gone) else { continue };
            if !is_gone(&mut asking).is_ok_and(|gone| gone) {
                return Err(gone(trouble, id));
            }
        }
        Ok(())
    }

    pub(super) fn made(&self, new: &NewIssue, marker: &Marker) -> Result<String, TrackerError> {
        let mut asking = self.asking();
        let place = asking.place(&new.filter)?;
        let told = |trouble: Trouble| trouble.told(RIGHTS);
        // One id is enough: what somebody deleted is not made again.
        let own: Vec<String> = ids("issue", "", marker).into_iter().take(1).collect();
        if let Some(known) = asking.made(&own).map_err(told)? {
            return Ok(known);
        }
        let team = match &place.teams[..] {
            [team] => team,
            teams => {
                let keys: Vec<_> =
                    teams.iter().map(|it| format!("{} ({})", it.key, it.name)).collect();
                let next = match keys.is_empty() {
                    true => "say which team it is for".to_owned(),
                    false => format!("say which team it is for: {}", keys.join(", ")),
                };
                return Err(refused("an issue is made in one team", shown::line(&next)));
            }
        };
        let label_ids = match place.label.is_empty() {
            true => Vec::new(),
            false => {
                let of = |id: Option<&str>| {
                    place
                        .labels
                        .iter()
                        .find(|it| it.team.as_ref().map(|team| team.id.as_str()) == id)
                };
                let label = of(Some(&team.id)).or(of(None)).ok_or_else(|| {
                    let why = format!("the team {} has no label {}", team.key, place.label);
                    refused(shown::line(&why), "make the label in Linear, or choose another")
                })?;
                vec![label.id.clone()]
            }
        };
        let input = Making {
            id: own[0].clone(),
            team_id: team.id.clone(),
            project_id: place.project.clone(),
            label_ids,
            title: shown::line(&new.title),
            description: marker.below(&writable(&new.body), Form::Code),
        };
        let is_there = |asking: &mut Asking<'_>| Ok(asking.made(&own)?.is_some());
        let written = asking.write::<query::Make>(&Input { input }, is_there);
        match (asking.made(&own).map_err(told)?, written) {
            (Some(known), _) => Ok(known),
            (None, Err(trouble)) => Err(told(trouble)),
            (None, Ok(())) => Err(refused("what was made cannot be found", RIGHTS)),
        }
    }
}

impl Asking<'_> {
    fn mine(&mut self, id: &str) -> Result<Mine, Trouble> {
        let found = self.ask::<query::Mine>(&by_id(id, None))?.issue;
        let comments = self.pages(Some(found.comments), |asking, after| {
            Ok(asking.ask::<query::Mine>(&by_id(id, after))?.issue.comments)
        })?;
        Ok(Mine { issue: found.id, comments })
    }

    /// What people call the issue with one of these ids.
    fn made(&mut self, ids: &[String]) -> Result<Option<String>, Trouble> {
        let sent = AnyOf { ids: ids.to_vec() };
        let found = self.ask::<query::Made>(&sent)?.issues.nodes;
        Ok(found.into_iter().next().map(|issue| issue.identifier))
    }
}

/// The ids that something with a marker may have: the first is for the first time.
fn ids(what: &str, place: &str, marker: &Marker) -> Vec<String> {
    let id = |nth: u32| {
        let text = format!("windlass\0{what}\0{place}\0{}\0{}\0{nth}", marker.what(), marker.key());
        let mut hex: Vec<u8> = blake3::hash(text.as_bytes()).to_hex().bytes().take(32).collect();
        // Linear takes UUIDs of version 4 only.
        hex[12] = b'4';
        hex[16] = b"89ab"[usize::from(hex[16] % 4)];
        let hex = String::from_utf8_lossy(&hex);
        format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
    };
    (0..IDS).map(id).collect()
}

/// A text without what no text of Linear can have.
fn writable(text: &str) -> String {
    text.chars().filter(|it| !it.is_control() || matches!(it, '\n' | '\t')).collect()
}

fn gone(trouble: Trouble, id: &str) -> TrackerError {
    if trouble.is_missing() {
        let next =
            "look in Linear whether it was deleted, or moved to a team that the key cannot see";
        return refused(format!("there is no issue {}", shown::line(id)), next);
    }
    trouble.told(RIGHTS)
}
