//! A sprint contract: what passes a task, for people and machines (`<task-id>.sprint-contract.json`, docs/formats.md).
//!
//! It is drafted from a row of Plans.md by code, enriched by a reviewer, approved, and sealed with a digest over everything in
//! it. What was sealed is what counts: a contract that says something else afterwards is told from it.

mod draft;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value as Json;

use crate::SourceError;
use crate::plans::Number;

/// Where contracts are.
pub const DIRECTORY: &str = ".claude/state/contracts";

/// Which form it has.
pub const VERSION: &str = "sprint-contract.v1";

/// No contract has more bytes than this.
pub const BYTES_MAX: u64 = 1 << 20;

/// Where the contract of a task is.
pub fn path(task: &Number) -> String {
    format!("{DIRECTORY}/{task}.sprint-contract.json")
}

/// What passes a task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SprintContract {
    /// The form of this file: `sprint-contract.v1`.
    #[serde(default = "version")]
    pub schema_version: String,
    /// The task that it is about.
    pub task: Task,
    /// What is agreed.
    pub contract: Terms,
    /// How it is reviewed.
    pub review: Review,
    /// Who has approved it.
    #[serde(default)]
    pub approval: Approval,
    /// BLAKE3 over everything else, from the moment on at which it was approved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What else is there: it stays, and it is sealed with the rest.
    #[serde(flatten)]
    pub more: BTreeMap<String, Json>,
}

fn version() -> String {
    VERSION.to_owned()
}

/// The task that a contract is about.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// Its number in Plans.md.
    pub id: String,
    /// What is to be done.
    #[serde(default)]
    pub title: String,
    /// When it is done, as Plans.md says.
    #[serde(default)]
    pub definition_of_done: String,
    /// The tasks that it waited for.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

/// What is agreed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Terms {
    /// What is verified, each item by itself.
    #[serde(deserialize_with = "items")]
    pub checks: Vec<Check>,
    /// What is out of scope.
    #[serde(default)]
    pub non_goals: Vec<String>,
    /// Commands that are run in the lane: tests, linters, type checkers.
    #[serde(default, deserialize_with = "items")]
    pub runtime_validation: Vec<Validation>,
    /// What is tried out in a browser.
    #[serde(default, deserialize_with = "items")]
    pub browser_validation: Vec<Flow>,
    /// What is risky about it: `needs-spike`, `security-sensitive`, `ux-regression` and the like.
    #[serde(default)]
    pub risk_flags: Vec<String>,
}

/// Something that is verified.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Its name in this contract.
    #[serde(default)]
    pub id: String,
    /// What has to be so.
    pub description: String,
    /// Who wants it: the DoD, or the reviewer.
    #[serde(default)]
    pub source: Origin,
}

/// Who wants something to be verified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The definition of done.
    #[default]
    Dod,
    /// The reviewer.
    Reviewer,
}

/// A command that is run in the lane.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Validation {
    /// What it is for: `test`, `lint`, `type-check`.
    #[serde(default)]
    pub label: String,
    /// A line for the shell.
    pub command: String,
}

/// Something that is tried out in a browser.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its name in this contract.
    #[serde(default)]
    pub id: String,
    /// What somebody does there and what they see, in words.
    pub description: String,
    /// The same as steps, as after `ui:` in a validation contract: `open /login; click #go; see "Welcome"`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub steps: String,
}

/// How it is reviewed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Review {
    /// What it takes besides reading the change.
    #[serde(default)]
    pub reviewer_profile: Profile,
    /// How a browser is driven, with the profile `browser`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser_mode: Option<BrowserMode>,
    /// With what a browser is driven, with the profile `browser`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub route: Option<Route>,
}

/// What a review takes besides reading the change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Nothing.
    #[default]
    Static,
    /// The contract's commands are run.
    Runtime,
    /// The contract's flows are tried out in a browser.
    Browser,
}

impl Profile {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Profile::Static => "static",
            Profile::Runtime => "runtime",
            Profile::Browser => "browser",
        }
    }
}

/// How a browser is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum BrowserMode {
    /// By the steps of the contract.
    Scripted,
    /// By a role, as it sees fit.
    Exploratory,
}

/// With what a browser is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Route {
    /// Playwright.
    Playwright,
    /// An agent that brings a browser along.
    AgentBrowser,
    /// The DevTools protocol of a Chromium.
    ChromeDevtools,
}

impl BrowserMode {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            BrowserMode::Scripted => "scripted",
            BrowserMode::Exploratory => "exploratory",
        }
    }
}

impl Route {
    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Route::Playwright => "playwright",
            Route::AgentBrowser => "agent-browser",
            Route::ChromeDevtools => "chrome-devtools",
        }
    }
}

/// Who has approved a contract.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Approval {
    /// How far it is.
    #[serde(default)]
    pub status: Approved,
    /// Who, if it is approved.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub by: String,
}

/// Whether a contract is approved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Approved {
    /// Not yet.
    #[default]
    Draft,
    /// Yes.
    Approved,
}

/// Whether work may start on a contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is as it was approved.
    Ready,
    /// Nobody has approved it.
    Unapproved,
    /// It is not what was approved: it has been changed since.
    Changed,
}

/// Items as roles write them: objects, or words alone.
fn items<'de, D: Deserializer<'de>, T: Deserialize<'de> + From<String>>(
    from: D,
) -> Result<Vec<T>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Loose<T> {
        Words(String),
        Whole(T),
    }
    let items = Vec::<Loose<T>>::deserialize(from)?;
    let whole = |item| match item {
        Loose::Words(words) => T::from(words),
        Loose::Whole(whole) => whole,
    };
    Ok(items.into_iter().map(whole).collect())
}

impl From<String> for Check {
    fn from(description: String) -> Self {
        Check { description, ..Check::default() }
    }
}

impl From<String> for Validation {
    fn from(command: String) -> Self {
        Validation { command, ..Validation::default() }
    }
}

impl From<String> for Flow {
    fn from(description: String) -> Self {
        Flow { description, ..Flow::default() }
    }
}

impl SprintContract {
    /// Reads a contract.
    ///
    /// # Errors
    ///
    /// When it is no JSON, or not of this form.
    pub fn read(path: &str, text: &str) -> Result<Self, SourceError> {
        let contract: SprintContract = serde_json::from_str(text)
            .map_err(|error| SourceError::bad(path, error.to_string()))?;
        if contract.schema_version != VERSION {
            let what = format!("it is of form {:?}, and not {VERSION:?}", contract.schema_version);
            return Err(SourceError::bad(path, what));
        }
        Ok(contract)
    }

    /// The file's text.
    pub fn write(&self) -> String {
        // Every contract can be written as JSON.
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// What keeps it from being approved.
    pub fn flaws(&self, task: &Number) -> Vec<String> {
        let mut flaws = Vec::new();
        if self.task.id != task.as_str() {
            flaws.push(format!("it is about task {}, and not about {task}", self.task.id));
        }
        if self.contract.checks.iter().all(|check| check.description.trim().is_empty()) {
            flaws.push("it checks nothing".to_owned());
        }
        if self.contract.runtime_validation.iter().any(|it| it.command.trim().is_empty()) {
            flaws.push("one of its commands is empty".to_owned());
        }
        let scripted = self.review.browser_mode == Some(BrowserMode::Scripted);
        let steps =
            self.contract.browser_validation.iter().any(|flow| !flow.steps.trim().is_empty());
        if self.review.reviewer_profile == Profile::Browser && scripted && !steps {
            flaws.push("its browser is scripted, and no flow has steps".to_owned());
        }
        // Steps are taken by Windlass itself, and it has one way to do that.
        if let Some(route) = self.review.route.filter(|it| scripted && *it != Route::ChromeDevtools)
        {
            flaws.push(format!(
                "its browser is scripted, which is by way of {}, and its route is {}",
                Route::ChromeDevtools.word(),
                route.word()
            ));
        }
        let other = self.review.reviewer_profile != Profile::Browser;
        if other && (self.review.browser_mode.is_some() || self.review.route.is_some()) {
            let profile = self.review.reviewer_profile.word();
            flaws.push(format!("it says how a browser is driven, and its profile is {profile}"));
        }
        flaws
    }

    /// Adds what a reviewer wants to be checked besides; what is there already is there once.
    pub fn enrich<'a>(&mut self, checks: impl IntoIterator<Item = &'a str>) {
        for description in checks.into_iter().map(str::trim).filter(|it| !it.is_empty()) {
            if self.contract.checks.iter().any(|check| check.description == description) {
                continue;
            }
            let source = Origin::Reviewer;
            self.contract.checks.push(Check {
                description: description.to_owned(),
                source,
                id: String::new(),
            });
        }
        self.name();
    }

    /// Gives every item that has none a name.
    fn name(&mut self) {
        fn fill<'i>(ids: impl Iterator<Item = &'i mut String>, word: &str) {
            let mut ids: Vec<&mut String> = ids.collect();
            for at in 0..ids.len() {
                if ids[at].trim().is_empty() {
                    let free = (at + 1..).map(|n| format!("{word}-{n}"));
                    let free = free.into_iter().find(|name| ids.iter().all(|id| *id != name));
                    *ids[at] = free.unwrap_or_default();
                }
            }
        }
        fill(self.contract.checks.iter_mut().map(|check| &mut check.id), "check");
        fill(self.contract.browser_validation.iter_mut().map(|flow| &mut flow.id), "flow");
    }

    /// It as it was approved by somebody: sealed.
    #[must_use]
    pub fn approved(mut self, by: &str) -> Self {
        self.name();
        self.approval = Approval { status: Approved::Approved, by: by.to_owned() };
        self.digest = Some(self.seal());
        self
    }

    /// Whether work may start on it, given the digest that is on record of its approval.
    pub fn standing(&self, on_record: Option<&str>) -> Standing {
        if self.approval.status != Approved::Approved {
            return Standing::Unapproved;
        }
        let seal = self.seal();
        match (on_record, &self.digest) {
            (None, _) => Standing::Unapproved,
            (Some(known), Some(own)) if known == seal && *own == seal => Standing::Ready,
            _ => Standing::Changed,
        }
    }

    /// The digest of all that it says.
    pub fn seal(&self) -> String {
        let bare = SprintContract { digest: None, ..self.clone() };
        blake3::hash(bare.write().as_bytes()).to_hex().to_string()
    }
}

/// The schema of the file.
pub fn schema() -> Json {
    schemars::schema_for!(SprintContract).to_value()
}

#[cfg(test)]
mod tests;
