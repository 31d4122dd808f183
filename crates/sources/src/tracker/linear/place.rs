//! Which project, team and label are meant.

use super::ask::{Asking, refused};
use super::query::{
    self, Eq, Found, IssueFilter, Label, NameFilter, Named, Nin, Nothing, StateFilter, Team,
    WithSome,
};
use super::{RIGHTS, shown};
use crate::tracker::{Filter, TrackerError};

/// A project, a team and a label that there are.
pub(super) struct Place {
    /// The ids of a project; nothing means any.
    pub project: Option<String>,
    /// The teams that it may be in: the one that was named, or those of the project.
    pub teams: Vec<Team>,
    /// A team was named.
    pub team: Option<String>,
    /// The name of the label; empty means any.
    pub label: String,
    /// Every label of that name, of whichever team.
    pub labels: Vec<Label>,
}

impl Place {
    /// The filter of what is there and not done.
    pub fn open(&self) -> IssueFilter {
        let id = |id: &String| NameFilter { id: Some(Eq::Eq(id.clone())), ..NameFilter::default() };
        let label = (!self.label.is_empty()).then(|| WithSome { some: called(&self.label) });
        IssueFilter {
            project: self.project.as_ref().map(id),
            team: self.team.as_ref().map(id),
            labels: label,
            state: StateFilter { kind: Nin { nin: &["completed", "canceled", "duplicate"] } },
        }
    }
}

impl Asking<'_> {
    /// Finds what a filter names.
    pub fn place(&mut self, filter: &Filter) -> Result<Place, TrackerError> {
        let team = filter.team.as_deref().unwrap_or_default();
        let sent = Named {
            project: project_called(&filter.project),
            team: team_called(team),
            label: if filter.label.is_empty() {
                NameFilter::default()
            } else {
                called(&filter.label)
            },
        };
        let found = self.ask::<query::Places>(&sent);
        let Found { mut projects, mut teams, issue_labels } =
            found.map_err(|trouble| trouble.told(RIGHTS))?;

        let mut of_project = Vec::new();
        let mut project = None;
        if !filter.project.is_empty() {
            let wanted = &filter.project;
            if projects.nodes.iter().any(|it| is_slug(wanted, &it.slug_id) || it.id == *wanted) {
                projects.nodes.retain(|it| is_slug(wanted, &it.slug_id) || it.id == *wanted);
            }
            let names = projects.nodes.iter().map(|it| it.slug_id.clone()).collect();
            let found = one(projects.nodes, "project", wanted, names);
            let found = found.map_err(|trouble| self.explained(trouble, "project", wanted))?;
            of_project = found.teams.nodes;
            project = Some(found.id);
        }
        let mut team_id = None;
        if !team.is_empty() {
            if teams.nodes.iter().any(|it| it.key.eq_ignore_ascii_case(team)) {
                teams.nodes.retain(|it| it.key.eq_ignore_ascii_case(team));
            }
            let names = teams.nodes.iter().map(|it| it.key.clone()).collect();
            let found = one(teams.nodes, "team", team, names);
            let found = found.map_err(|trouble| self.explained(trouble, "team", team))?;
            team_id = Some(found.id.clone());
            of_project = vec![found];
        }
        if !filter.label.is_empty() && issue_labels.nodes.is_empty() {
            return Err(self.explained(None, "label", &filter.label));
        }
        Ok(Place {
            project,
            teams: of_project,
            team: team_id,
            label: filter.label.clone(),
            labels: issue_labels.nodes,
        })
    }

    /// Why there is not one of a kind: too many, or none, and then which there are.
    fn explained(&mut self, many: Option<TrackerError>, kind: &str, wanted: &str) -> TrackerError {
        if let Some(many) = many {
            return many;
        }
        let known = match self.ask::<query::Known>(&Nothing {}) {
            Ok(known) => known,
            Err(trouble) => return trouble.told(RIGHTS),
        };
        let names: Vec<String> = match kind {
            "project" => {
                let shown = |it: &query::ProjectName| format!("{} ({})", it.slug_id, it.name);
                known.projects.nodes.iter().map(shown).collect()
            }
            "team" => {
                let shown = |it: &query::TeamName| format!("{} ({})", it.key, it.name);
                known.teams.nodes.iter().map(shown).collect()
            }
            _ => known.issue_labels.nodes.iter().map(|it| it.name.clone()).collect(),
        };
        let names = if names.is_empty() { "none at all".to_owned() } else { names.join(", ") };
        let flag = if kind == "project" || kind == "team" { kind } else { "label" };
        let why = format!("there is no {kind} {wanted}");
        refused(
            shown::line(&why),
            shown::line(&format!("name one that the key can see with --{flag}: {names}")),
        )
    }
}

/// The only one of a list; if there are more, what to say about that.
fn one<T>(
    mut all: Vec<T>,
    kind: &str,
    wanted: &str,
    names: Vec<String>,
) -> Result<T, Option<TrackerError>> {
    match (all.pop(), all.is_empty()) {
        (Some(one), true) => Ok(one),
        (None, _) => Err(None),
        (Some(_), false) => {
            let why = format!("more than one {kind} is called {wanted}");
            Err(Some(refused(shown::line(&why), format!("say which: {}", names.join(", ")))))
        }
    }
}

fn called(name: &str) -> NameFilter {
    NameFilter { name: Some(Eq::EqIgnoreCase(name.to_owned())), ..NameFilter::default() }
}

/// A project's address ends in its name and its slug.
fn is_slug(wanted: &str, slug: &str) -> bool {
    wanted == slug || wanted.rsplit('-').next() == Some(slug)
}

fn project_called(wanted: &str) -> NameFilter {
    if wanted.is_empty() {
        return NameFilter::default();
    }
    let slug =
        |slug: &str| NameFilter { slug_id: Some(Eq::Eq(slug.to_owned())), ..NameFilter::default() };
    let end = wanted.rsplit('-').next().unwrap_or_default();
    let mut or = vec![called(wanted), slug(wanted)];
    if end != wanted {
        or.push(slug(end));
    }
    or.extend(with_id(wanted));
    NameFilter { or, ..NameFilter::default() }
}

fn team_called(wanted: &str) -> NameFilter {
    if wanted.is_empty() {
        return NameFilter::default();
    }
    let key = Some(Eq::EqIgnoreCase(wanted.to_owned()));
    let mut or = vec![called(wanted), NameFilter { key, ..NameFilter::default() }];
    or.extend(with_id(wanted));
    NameFilter { or, ..NameFilter::default() }
}

/// What is no UUID Linear does not take for an id, not even to say that there is none.
fn with_id(wanted: &str) -> Option<NameFilter> {
    let is_id = wanted.len() == 36
        && wanted.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    is_id.then(|| NameFilter { id: Some(Eq::Eq(wanted.to_owned())), ..NameFilter::default() })
}
