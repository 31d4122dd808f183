//! What Linear is asked: its documents, with the types of what goes out and of what comes back. A test holds every document
//! against the schema that Linear publishes.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// One of the documents.
pub(super) trait Operation {
    const DOCUMENT: &'static str;
    type Sent: Serialize;
    type Came: DeserializeOwned;
}

/// Says which document a type is, and what goes with it.
macro_rules! operations {
    ($($name:ident: $document:expr, $sent:ty => $came:ty;)+) => {
        $(
            pub(super) struct $name;

            impl Operation for $name {
                const DOCUMENT: &'static str = $document;
                type Sent = $sent;
                type Came = $came;
            }
        )+

        /// All of them, by name.
        #[cfg(test)]
        pub(super) const DOCUMENTS: &[(&str, &str)] = &[$((stringify!($name), $name::DOCUMENT)),+];
    };
}

macro_rules! document {
    ($name:literal) => {
        include_str!(concat!("documents/", $name, ".graphql"))
    };
    ($name:literal with parts) => {
        concat!(document!($name), document!("issue_parts"))
    };
}

operations! {
    Issues: document!("issues" with parts), Filtered => IssueList;
    Issue: document!("issue" with parts), ById => OfIssue<Whole>;
    Labels: document!("labels"), ById => OfIssue<WithLabels>;
    Blockers: document!("blockers"), ById => OfIssue<WithBlockers>;
    Projects: document!("projects"), After => ProjectList;
    Places: document!("places"), Named => Found;
    Known: document!("known"), Nothing => Everything;
    States: document!("states"), ById => OfIssue<WithStates>;
    Move: document!("move"), ToState => Moved;
    Mine: document!("mine"), ById => OfIssue<WithMine>;
    Say: document!("say"), Input<NewComment> => Said;
    Unsay: document!("unsay"), ThatOne => Unsaid;
    Made: document!("made"), AnyOf => MadeList;
    Make: document!("make"), Input<NewIssue> => Making;
}

// What goes out.

#[derive(Serialize)]
pub(super) struct Nothing {}

#[derive(Serialize)]
pub(super) struct After {
    pub after: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ById {
    pub id: String,
    pub after: Option<String>,
}

#[derive(Serialize)]
pub(super) struct ThatOne {
    pub id: String,
}

#[derive(Serialize)]
pub(super) struct AnyOf {
    pub ids: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct Filtered {
    pub filter: IssueFilter,
    pub after: Option<String>,
}

#[derive(Serialize)]
pub(super) struct Named {
    pub project: NameFilter,
    pub team: NameFilter,
    pub label: NameFilter,
}

#[derive(Serialize)]
pub(super) struct Input<T> {
    pub input: T,
}

#[derive(Serialize)]
pub(super) struct ToState {
    pub id: String,
    pub input: NewState,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewState {
    pub state_id: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewComment {
    pub id: String,
    pub issue_id: String,
    pub body: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewIssue {
    pub id: String,
    pub team_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    pub label_ids: Vec<String>,
    pub title: String,
    pub description: String,
}

/// Issues of a project and a team with a label, in states of other types than these.
#[derive(Clone, Serialize)]
pub(super) struct IssueFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<NameFilter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<NameFilter>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<WithSome>,
    pub state: StateFilter,
}

#[derive(Clone, Serialize)]
pub(super) struct WithSome {
    pub some: NameFilter,
}

#[derive(Clone, Serialize)]
pub(super) struct StateFilter {
    #[serde(rename = "type")]
    pub kind: Nin,
}

#[derive(Clone, Serialize)]
pub(super) struct Nin {
    pub nin: &'static [&'static str],
}

/// Something that has an id, a key, a slug or a name.
#[derive(Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NameFilter {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<Eq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<Eq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug_id: Option<Eq>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Eq>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub or: Vec<NameFilter>,
}

#[derive(Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) enum Eq {
    Eq(String),
    EqIgnoreCase(String),
}

// What comes back.

#[derive(Deserialize)]
pub(super) struct Nodes<T> {
    pub nodes: Vec<T>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Page<T> {
    pub nodes: Vec<T>,
    pub page_info: PageInfo,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PageInfo {
    pub has_next_page: bool,
    pub end_cursor: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct OfIssue<T> {
    pub issue: T,
}

#[derive(Deserialize)]
pub(super) struct IssueList {
    pub issues: Page<Parts>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parts {
    pub id: String,
    pub identifier: String,
    pub title: String,
    pub description: Option<String>,
    /// The schema says that it may have a fraction.
    pub priority: f64,
    pub created_at: String,
    pub url: String,
    pub trashed: Option<bool>,
    pub state: State,
    pub assignee: Option<User>,
    pub delegate: Option<User>,
    pub labels: Page<Name>,
    pub inverse_relations: Page<Relation>,
}

#[derive(Deserialize)]
pub(super) struct Whole {
    #[serde(flatten)]
    pub parts: Parts,
    pub comments: Page<Comment>,
}

#[derive(Deserialize)]
pub(super) struct State {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    pub display_name: String,
    pub is_me: bool,
}

#[derive(Deserialize)]
pub(super) struct Name {
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct Relation {
    #[serde(rename = "type")]
    pub kind: String,
    pub issue: Blocker,
}

#[derive(Deserialize)]
pub(super) struct Blocker {
    pub identifier: String,
    pub state: State,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Comment {
    pub id: String,
    pub body: String,
    pub created_at: String,
    pub user: Option<User>,
    pub bot_actor: Option<Bot>,
}

#[derive(Deserialize)]
pub(super) struct Bot {
    pub name: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct WithLabels {
    pub labels: Page<Name>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WithBlockers {
    pub inverse_relations: Page<Relation>,
}

#[derive(Deserialize)]
pub(super) struct ProjectList {
    pub projects: Page<ProjectName>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectName {
    pub name: String,
    pub slug_id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Found {
    pub projects: Nodes<Project>,
    pub teams: Nodes<Team>,
    pub issue_labels: Nodes<Label>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Project {
    pub id: String,
    pub slug_id: String,
    pub teams: Nodes<Team>,
}

#[derive(Clone, Deserialize)]
pub(super) struct Team {
    pub id: String,
    pub key: String,
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct Label {
    pub id: String,
    pub team: Option<Id>,
}

#[derive(Deserialize)]
pub(super) struct Id {
    pub id: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Everything {
    pub projects: Nodes<ProjectName>,
    pub teams: Nodes<TeamName>,
    pub issue_labels: Nodes<Name>,
}

#[derive(Deserialize)]
pub(super) struct TeamName {
    pub key: String,
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct WithStates {
    pub id: String,
    pub state: Id,
    pub team: TeamStates,
}

#[derive(Deserialize)]
pub(super) struct TeamStates {
    pub key: String,
    pub states: Page<StateName>,
}

#[derive(Deserialize)]
pub(super) struct StateName {
    pub id: String,
    pub name: String,
}

#[derive(Deserialize)]
pub(super) struct WithMine {
    pub id: String,
    pub comments: Page<Own>,
}

#[derive(Deserialize)]
pub(super) struct Own {
    pub id: String,
    pub body: String,
}

#[derive(Deserialize)]
pub(super) struct MadeList {
    pub issues: Nodes<Identifier>,
}

#[derive(Deserialize)]
pub(super) struct Identifier {
    pub identifier: String,
}

#[derive(Deserialize)]
pub(super) struct Done {
    pub success: bool,
}

/// What comes of a write.
pub(super) trait Outcome {
    fn done(&self) -> bool;
}

macro_rules! outcomes {
    ($($name:ident: $field:ident;)+) => {
        $(
            #[derive(Deserialize)]
            #[serde(rename_all = "camelCase")]
            pub(super) struct $name {
                $field: Done,
            }

            impl Outcome for $name {
                fn done(&self) -> bool {
                    self.$field.success
                }
            }
        )+
    };
}

outcomes! {
    Moved: issue_update;
    Said: comment_create;
    Unsaid: comment_delete;
    Making: issue_create;
}
