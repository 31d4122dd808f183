//! What a pretended Linear knows: things with fields, as the schema names them, and links between them.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

/// A field of a thing.
#[derive(Clone, Debug)]
pub(super) enum Field {
    /// A value.
    Leaf(Value),
    /// Another thing, or none.
    One(Option<String>),
    /// Other things.
    Many(Vec<String>),
}

/// A thing: an issue, a comment, a user.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    /// Its type in the schema.
    pub kind: &'static str,
    pub id: String,
    pub fields: BTreeMap<&'static str, Field>,
}

/// A write that was carried out for somebody who asked over the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Write {
    /// Whose key it was.
    pub by: String,
    /// The field of the schema's mutation: `commentCreate`.
    pub what: String,
    /// The identifier of the issue that it was about.
    pub issue: String,
    /// The text of a comment, the name of the state that an issue was moved to, the title of a new issue.
    pub text: String,
}

/// A comment, as tests look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Its id.
    pub id: String,
    /// Who said it; empty if that is no user.
    pub by: String,
    /// What it says.
    pub body: String,
}

/// Lists that are nobody's field, but all that point back: type, field, type of what is in it, and its field.
const BACK: &[(&str, &str, &str, &str)] = &[
    ("Issue", "children", "Issue", "parent"),
    ("Issue", "comments", "Comment", "issue"),
    ("Issue", "inverseRelations", "IssueRelation", "relatedIssue"),
    ("Issue", "relations", "IssueRelation", "issue"),
    ("IssueLabel", "issues", "Issue", "labels"),
    ("Project", "issues", "Issue", "project"),
    ("Team", "issues", "Issue", "team"),
    ("Team", "labels", "IssueLabel", "team"),
    ("Team", "projects", "Project", "teams"),
    ("Team", "states", "WorkflowState", "team"),
    ("User", "assignedIssues", "Issue", "assignee"),
    ("User", "createdIssues", "Issue", "creator"),
    ("WorkflowState", "issues", "Issue", "state"),
];

#[derive(Debug, Default)]
pub(super) struct World {
    things: Vec<Thing>,
    /// Ids that were ever given away: each is given once.
    ids: BTreeSet<String>,
    made: u64,
    ms: u64,
    /// The clock stands still.
    pub still: bool,
    /// A list is never longer than this, whatever is asked for; 0 for as long as is asked for.
    pub page_max: usize,
    /// Whose key is whose.
    pub keys: BTreeMap<String, String>,
    pub writes: Vec<Write>,
    pub asked: Vec<String>,
}

impl World {
    /// The time: a millisecond later each time it is asked for.
    pub fn now(&mut self) -> String {
        if !self.still {
            self.ms += 1;
        }
        let (s, ms) = (self.ms / 1000, self.ms % 1000);
        let (h, min) = (s / 3600, s / 60 % 60);
        format!("2026-03-{:02}T{:02}:{min:02}:{:02}.{ms:03}Z", 1 + h / 24, h % 24, s % 60)
    }

    /// An id that nobody has.
    pub fn fresh(&mut self) -> String {
        self.made += 1;
        format!("00000000-0000-4000-8000-{:012x}", self.made)
    }

    /// Adds a thing, with an id and the times that every thing has. False if the id was given away before.
    pub fn add(
        &mut self,
        kind: &'static str,
        id: &str,
        fields: Vec<(&'static str, Field)>,
    ) -> bool {
        if !self.ids.insert(id.to_owned()) {
            return false;
        }
        let now = self.now();
        let mut all = BTreeMap::from([
            ("id", Field::Leaf(json!(id))),
            ("createdAt", Field::Leaf(json!(now))),
            ("updatedAt", Field::Leaf(json!(now))),
            ("archivedAt", Field::Leaf(Value::Null)),
        ]);
        all.extend(fields);
        self.things.push(Thing { kind, id: id.to_owned(), fields: all });
        true
    }

    /// A thing.
    pub fn thing(&self, id: &str) -> Option<&Thing> {
        self.things.iter().find(|thing| thing.id == id)
    }

    /// A thing of a type, by its id.
    pub fn of_kind(&self, kind: &str, id: &str) -> Option<&Thing> {
        self.thing(id).filter(|thing| thing.kind == kind)
    }

    /// The issue with this id or identifier.
    pub fn issue(&self, name: &str) -> Option<String> {
        let issues = self.things.iter().filter(|thing| thing.kind == "Issue");
        let named = |issue: &&Thing| issue.id == name || issue.text("identifier") == name;
        issues.into_iter().find(named).map(|issue| issue.id.clone())
    }

    /// The ids of all things of a type.
    pub fn all(&self, kind: &str) -> Vec<String> {
        let all = self.things.iter().filter(|thing| thing.kind == kind);
        all.map(|thing| thing.id.clone()).collect()
    }

    /// The thing of a type that has this text in a field.
    pub fn with(&self, kind: &str, field: &str, text: &str) -> Option<String> {
        let all = self.things.iter().filter(|thing| thing.kind == kind);
        all.into_iter().find(|thing| thing.text(field) == text).map(|thing| thing.id.clone())
    }

    /// Changes a field, and the time at which the thing was changed.
    pub fn set(&mut self, id: &str, field: &'static str, to: Field) {
        let now = self.now();
        if let Some(thing) = self.things.iter_mut().find(|thing| thing.id == id) {
            thing.fields.insert(field, to);
            thing.fields.insert("updatedAt", Field::Leaf(json!(now)));
        }
    }

    /// Adds what belongs to a thing from its beginning.
    pub fn amend(&mut self, id: &str, field: &'static str, to: Field) {
        if let Some(thing) = self.things.iter_mut().find(|thing| thing.id == id) {
            thing.fields.insert(field, to);
        }
    }

    /// Takes a thing away; its id stays given away.
    pub fn remove(&mut self, id: &str) {
        self.things.retain(|thing| thing.id != id);
    }

    /// A field of a thing, as `viewer` sees it; nothing if it is not pretended.
    pub fn field(&self, id: &str, name: &str, viewer: &str) -> Option<Field> {
        let thing = self.thing(id)?;
        if thing.kind == "User" && name == "isMe" {
            return Some(Field::Leaf(json!(id == viewer)));
        }
        if let Some(field) = thing.fields.get(name) {
            return Some(field.clone());
        }
        let back = BACK.iter().find(|(kind, field, ..)| *kind == thing.kind && *field == name);
        let (.., kind, link) = back?;
        let points = |other: &&Thing| match other.fields.get(link) {
            Some(Field::One(Some(to))) => to == id,
            Some(Field::Many(to)) => to.iter().any(|to| to == id),
            _ => false,
        };
        let all = self.things.iter().filter(|other| other.kind == *kind).filter(points);
        Some(Field::Many(all.map(|other| other.id.clone()).collect()))
    }

    /// The link of a thing to another.
    pub fn link(&self, id: &str, field: &str) -> Option<String> {
        match self.thing(id)?.fields.get(field)? {
            Field::One(link) => link.clone(),
            Field::Leaf(_) | Field::Many(_) => None,
        }
    }

    /// The text of a field of a thing.
    pub fn text(&self, id: &str, field: &str) -> String {
        self.thing(id).map(|thing| thing.text(field).to_owned()).unwrap_or_default()
    }
}

impl Thing {
    /// The text of a field; empty if it has none.
    pub fn text(&self, field: &str) -> &str {
        match self.fields.get(field) {
            Some(Field::Leaf(value)) => value.as_str().unwrap_or_default(),
            _ => "",
        }
    }
}
