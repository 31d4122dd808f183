//! What `windlass.toml` says about issues: which tracker, which of its issues, and what its states are called.

use std::borrow::Cow;
use std::ops::Deref;
use std::path::Path;

use clap::builder::PossibleValue;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use windlass_sources::tracker::{KINDS, Kind};

use crate::error::Error;
use crate::trust::Trust;

/// Issues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssuesConfig {
    /// Where issues are: `linear`, `github` or `folder`.
    pub tracker: Option<Which>,
    /// Which project: Linear's id, slug or name; GitHub's `owner/name`; the directory of Markdown files.
    pub project: Option<String>,
    /// The label of issues that may be taken; `ready` if not said.
    pub label: Option<String>,
    /// Linear's team, by key, name or id.
    pub team: Option<String>,
    /// Where requests go, for a server of your own; a person has to trust it outside of the repository, too.
    pub base_url: Option<String>,
    /// Nobody waits longer than so many seconds for one answer of it; 60 if not said.
    pub answer_within: Option<u64>,
    /// What the tracker calls an issue that somebody is at; `In Progress` if not said.
    pub in_progress: Option<String>,
    /// What it calls one that is done; `Done` if not said.
    pub done: Option<String>,
    /// The variable that holds the key; `LINEAR_API_KEY` or `GITHUB_TOKEN` if not said.
    pub key_variable: Option<String>,
    /// A file that holds the key and nothing else; `~` is your home. It counts where the variable is not set. Outside of
    /// `~/.config/windlass` a person has to trust it outside of the repository, too.
    pub key_file: Option<String>,
    /// What becomes of an issue's work: `branch` lands it on the branch here, `pr` pushes a branch of its own and opens a pull
    /// request on GitHub. `branch` if not said.
    pub land: Option<LandsBy>,
    /// The remote that branches of pull requests are pushed to; `origin` if not said.
    pub remote: Option<String>,
    /// The repository on GitHub, `owner/name`, where pull requests are opened; if not said, the project of a tracker that is GitHub,
    /// else what the address of the remote ends in.
    pub repository: Option<String>,
    /// Where requests about pull requests go, for a server of your own and a tracker that is not GitHub; a person has to trust it
    /// outside of the repository, too.
    pub github_url: Option<String>,
    /// Seconds between two looks at a pull request; 30 if not said.
    pub look_every: Option<u64>,
    /// A check of a pull request that has not been heard of after so many seconds is not waited for; 180 if not said.
    pub checks_within: Option<u64>,
    /// Where `--follow` listens for what the tracker sends, `ADDRESS:PORT`; nowhere if not said.
    pub webhook: Option<String>,
    /// Whether it may listen where others on the network can reach it.
    pub webhook_anywhere: Option<bool>,
    /// The variable that holds the secret with which the tracker signs that; `WINDLASS_WEBHOOK_SECRET` if not said.
    pub webhook_secret_variable: Option<String>,
    /// A file that holds that secret and nothing else. It counts where the variable is not set. Outside of `~/.config/windlass` a
    /// person has to trust it outside of the repository, too.
    pub webhook_secret_file: Option<String>,
}

/// What becomes of an issue's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LandsBy {
    /// It lands on the branch here
    #[default]
    Branch,
    /// It becomes a pull request on GitHub
    Pr,
}

impl LandsBy {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            LandsBy::Branch => "branch",
            LandsBy::Pr => "pr",
        }
    }
}

/// A kind of tracker.
#[derive(Clone, Copy, Debug)]
pub struct Which(&'static Kind);

/// All that there are, for the command line.
static ALL: [Which; KINDS.len()] = {
    let mut all = [Which(&KINDS[0]); KINDS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = Which(&KINDS[at]);
        at += 1;
    }
    all
};

impl Which {
    /// The one that is meant where nobody says which.
    pub const FIRST: Which = Which(&KINDS[0]);

    /// The tracker of this name.
    pub fn named(name: &str) -> Option<Self> {
        Kind::named(name).map(Which)
    }

    /// All that is known of it.
    pub fn kind(self) -> &'static Kind {
        self.0
    }

    /// All of them.
    pub fn all() -> impl Iterator<Item = Which> {
        ALL.iter().copied()
    }
}

impl Deref for Which {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        self.0
    }
}

impl PartialEq for Which {
    fn eq(&self, other: &Which) -> bool {
        self.name == other.name
    }
}

impl Eq for Which {}

impl clap::ValueEnum for Which {
    fn value_variants<'a>() -> &'a [Which] {
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name).help(self.about))
    }
}

impl<'de> Deserialize<'de> for Which {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Which, D::Error> {
        let name = String::deserialize(from)?;
        Which::named(&name).ok_or_else(|| {
            let names: Vec<String> = Which::all().map(|it| format!("`{}`", it.name)).collect();
            D::Error::custom(format!(
                "unknown variant `{name}`, expected one of {}",
                names.join(", ")
            ))
        })
    }
}

impl JsonSchema for Which {
    fn schema_name() -> Cow<'static, str> {
        "Which".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let one = |it: Which| json_schema!({ "type": "string", "const": it.name, "description": it.about });
        let all: Vec<Schema> = Which::all().map(one).collect();
        json_schema!({ "description": "A kind of tracker.", "oneOf": all })
    }
}

impl IssuesConfig {
    /// The variable that holds the key.
    pub fn variable(&self, which: Which) -> Option<&str> {
        which.0.key_variable.map(|usual| self.key_variable.as_deref().unwrap_or(usual))
    }

    /// What stands nowhere: the key and the secret, as far as a person trusts the files that hold them.
    pub fn secrets(&self, top: &Path) -> Vec<String> {
        let held = [self.read_key(top, &Trust::of_person(top)), self.webhook_secret(top)];
        held.into_iter().filter_map(|it| it.ok().flatten()).collect()
    }

    /// The variable that holds the secret of what a tracker sends.
    pub fn webhook_variable(&self) -> &str {
        self.webhook_secret_variable.as_deref().unwrap_or("WINDLASS_WEBHOOK_SECRET")
    }

    /// The secret of what a tracker sends: what the variable holds, else what the file does.
    pub fn webhook_secret(&self, top: &Path) -> Result<Option<String>, Error> {
        let set = std::env::var(self.webhook_variable()).ok();
        let set = set.map(|it| it.trim().to_owned()).filter(|it| !it.is_empty());
        match (set, self.webhook_secret_file.as_deref()) {
            (Some(secret), _) => Ok(Some(secret)),
            (None, Some(path)) => Trust::of_person(top).secret("webhook-secret-file", path, top),
            (None, None) => Ok(None),
        }
    }

    /// The remote that branches of pull requests are pushed to.
    pub fn remote(&self) -> &str {
        self.remote.as_deref().unwrap_or("origin")
    }

    fn read_key(&self, top: &Path, trust: &Trust) -> Result<Option<String>, Error> {
        self.key_file.as_deref().map_or(Ok(None), |path| trust.secret("key-file", path, top))
    }

    fn key_set(&self, which: Which) -> Option<String> {
        let set = self.variable(which).and_then(|name| std::env::var(name).ok());
        set.filter(|key| !key.trim().is_empty())
    }

    /// Whether there may be a key.
    pub fn has_key(&self, which: Which) -> bool {
        self.key_set(which).is_some() || self.key_file.is_some()
    }

    /// The key: what the variable holds, else what the file does.
    pub fn key(&self, which: Which, top: &Path, trust: &Trust) -> Result<Option<String>, Error> {
        match self.key_set(which) {
            Some(key) => Ok(Some(key)),
            None => self.read_key(top, trust),
        }
    }
}
