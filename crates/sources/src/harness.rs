//! `.harness/config.json`: how a mission is to be run, as the seed's system has it. What it does not say is Windlass's usual.
//!
//! ```json
//! { "branchIsolation": { "enabled": true, "useWorktrees": true, "baseBranch": "main" },
//!   "checkpoints": { "types": [ { "name": "look at the plan", "triggerOn": "post-planner" } ] },
//!   "smokeTest": { "enabled": true }, "uiQa": { "enabled": false }, "crosscheck": true, "documenter": true,
//!   "lanes": 3, "maxIterations": 60, "maxAttempts": 3 }
//! ```

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;

use crate::SourceError;

/// Where it is.
pub const PATH: &str = ".harness/config.json";

/// When a checkpoint may fire.
pub const TRIGGERS: [&str; 4] = ["post-planner", "pre-merge", "post-feature", "pre-done"];

/// How a mission is to be run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harness {
    /// How many lanes at most: one, where branches are not isolated or have no directories of their own.
    pub lanes: Option<u64>,
    /// The branch that features land on.
    pub base_branch: Option<String>,
    /// When to ask a person.
    pub checkpoints: Vec<String>,
    /// What a checkpoint is called, by when it fires, where it has a name of its own.
    pub names: BTreeMap<String, String>,
    /// What else a feature goes through.
    pub steps: Vec<&'static str>,
    /// Iterations at most.
    pub max_iterations: Option<u64>,
    /// Attempts at a feature at most.
    pub max_attempts: Option<u64>,
    /// The command of the smoke test. What runs here is said in `windlass.toml`, as the branch has it, so this one is not run.
    pub smoke: Option<String>,
    /// What is there and means nothing to Windlass: its place in the file, and what may have been meant.
    pub unknown: Vec<Unknown>,
}

/// A key that means nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// Its place in the file.
    pub key: String,
    /// The keys that there are in that place.
    pub known: &'static [&'static str],
}

/// What is there besides.
type More = BTreeMap<String, Json>;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    branch_isolation: Option<Isolation>,
    #[serde(default)]
    checkpoints: Option<Checkpoints>,
    #[serde(default, alias = "smoke")]
    smoke_test: Option<Switch>,
    #[serde(default, alias = "uiQA")]
    ui_qa: Option<Switch>,
    #[serde(default, alias = "crossCheck")]
    crosscheck: Option<Switch>,
    #[serde(default)]
    documenter: Option<Switch>,
    #[serde(default)]
    lanes: Option<u64>,
    #[serde(default)]
    max_iterations: Option<u64>,
    #[serde(default)]
    max_attempts: Option<u64>,
    #[serde(flatten)]
    more: More,
}

const KEYS: [&str; 9] = [
    "branchIsolation",
    "checkpoints",
    "smokeTest",
    "uiQa",
    "crosscheck",
    "documenter",
    "lanes",
    "maxIterations",
    "maxAttempts",
];

#[derive(Deserialize)]
#[serde(untagged)]
enum Isolation {
    Switch(bool),
    Table(Branches),
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Branches {
    #[serde(default = "on")]
    enabled: bool,
    #[serde(default = "on")]
    use_worktrees: bool,
    #[serde(default)]
    base_branch: Option<String>,
    #[serde(flatten)]
    more: More,
}

#[derive(Deserialize)]
struct Checkpoints {
    #[serde(default)]
    types: Vec<Checkpoint>,
    #[serde(flatten)]
    more: More,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Checkpoint {
    trigger_on: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default = "on")]
    enabled: bool,
    #[serde(flatten)]
    more: More,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Switch {
    Flag(bool),
    Table(Step),
}

#[derive(Deserialize)]
struct Step {
    #[serde(default = "on")]
    enabled: bool,
    #[serde(flatten)]
    more: More,
}

fn on() -> bool {
    true
}

impl Switch {
    fn is_on(&self) -> bool {
        match self {
            Switch::Flag(on) | Switch::Table(Step { enabled: on, .. }) => *on,
        }
    }

    /// A text that it has besides, taken out.
    fn text(&mut self, name: &str) -> Option<String> {
        match self {
            Switch::Table(step) if matches!(step.more.get(name), Some(Json::String(_))) => {
                step.more.remove(name).and_then(|it| it.as_str().map(str::to_owned))
            }
            _ => None,
        }
    }
}

/// What means nothing, in the order of the file's keys.
#[derive(Default)]
struct Strange(Vec<Unknown>);

impl Strange {
    fn see(&mut self, place: &str, more: More, known: &'static [&'static str]) {
        let key = |name: String| Unknown { key: format!("{place}{name}"), known };
        // What begins like this is a comment in other programs' files as well.
        let keys = more.into_keys().filter(|name| !name.starts_with(['$', '_']));
        self.0.extend(keys.map(key));
    }
}

impl Harness {
    /// Reads it.
    ///
    /// # Errors
    ///
    /// When it is no JSON, not of this form, or names a trigger that there is not.
    pub fn read(text: &str) -> Result<Self, SourceError> {
        let bad = |what: String| SourceError::bad(PATH, what);
        let file: File = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let mut strange = Strange::default();
        strange.see("", file.more, &KEYS);
        let (isolated, base_branch) = match file.branch_isolation {
            None => (true, None),
            Some(Isolation::Switch(on)) => (on, None),
            Some(Isolation::Table(table)) => {
                let known = &["enabled", "useWorktrees", "baseBranch"];
                strange.see("branchIsolation.", table.more, known);
                (table.enabled && table.use_worktrees, table.base_branch)
            }
        };
        let (mut checkpoints, mut names) = (Vec::new(), BTreeMap::<String, String>::new());
        let set = file.checkpoints.unwrap_or(Checkpoints { types: Vec::new(), more: More::new() });
        strange.see("checkpoints.", set.more, &["types"]);
        for (at, checkpoint) in set.types.into_iter().enumerate() {
            let place = format!("checkpoints.types[{at}].");
            strange.see(&place, checkpoint.more, &["name", "triggerOn", "enabled"]);
            let trigger = checkpoint.trigger_on;
            if !TRIGGERS.contains(&trigger.as_str()) {
                let known = TRIGGERS.join(", ");
                return Err(bad(format!("`triggerOn` is {trigger:?}: it is one of {known}")));
            }
            if !checkpoint.enabled {
                continue;
            }
            let name = checkpoint.name.map(|name| one_line(&name)).filter(|it| !it.is_empty());
            if let Some(name) = name {
                // Where several fire at once, a person is asked once.
                let own = names.entry(trigger.clone()).or_default();
                let apart = if own.is_empty() { "" } else { ", " };
                own.push_str(&format!("{apart}{name}"));
            }
            if !checkpoints.contains(&trigger) {
                checkpoints.push(trigger);
            }
        }
        let mut smoke_test = file.smoke_test;
        let smoke = smoke_test.as_mut().and_then(|it| it.text("command"));
        let steps = [
            ("smoke", "smokeTest.", smoke_test),
            ("ui-qa", "uiQa.", file.ui_qa),
            ("crosscheck", "crosscheck.", file.crosscheck),
            ("documenter", "documenter.", file.documenter),
        ];
        let mut wanted = Vec::new();
        for (name, place, step) in steps {
            wanted.extend(step.as_ref().filter(|it| it.is_on()).map(|_| name));
            if let Some(Switch::Table(step)) = step {
                strange.see(place, step.more, &["enabled"]);
            }
        }
        Ok(Harness {
            lanes: if isolated { file.lanes } else { Some(1) },
            base_branch: base_branch.filter(|name| !name.is_empty()),
            checkpoints,
            names,
            steps: wanted,
            max_iterations: file.max_iterations,
            max_attempts: file.max_attempts,
            smoke: smoke.filter(|it| !it.trim().is_empty()),
            unknown: strange.0,
        })
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_taken_and_what_it_does_not_is_left_open() {
        assert_eq!(Harness::read("{}").unwrap(), Harness::default());
        let text = r#"{"branchIsolation": {"enabled": true, "useWorktrees": true, "baseBranch": "dev"},
            "checkpoints": {"types": [{"name": "a", "triggerOn": "post-planner"}, {"triggerOn": "pre-done", "enabled": false}]},
            "smokeTest": {"enabled": true}, "uiQa": false, "documenter": true, "lanes": 3, "maxIterations": 9}"#;
        let read = Harness::read(text).unwrap();
        assert_eq!((read.lanes, read.base_branch.as_deref()), (Some(3), Some("dev")));
        assert_eq!(
            (read.checkpoints, read.steps),
            (vec!["post-planner".to_owned()], vec!["smoke", "documenter"])
        );
        assert_eq!((read.max_iterations, read.max_attempts), (Some(9), None));
        assert_eq!((read.smoke, read.unknown), (None, vec![]));
    }

    #[test]
    fn what_means_nothing_is_named_with_its_place() {
        let text = r#"{"branchIsolation": {"enable": false}, "costCapUsd": 5, "$schema": "x", "_note": "y", "documenter": {"model": "m"},
            "checkpoints": {"types": [{"triggerOn": "pre-done"}, {"triggerOn": "pre-done", "on": 1, "enabled": false}], "all": true},
            "smokeTest": {"command": "npm run smoke", "timeout": 3}, "uiQa": {"command": 3}}"#;
        let read = Harness::read(text).unwrap();
        let keys: Vec<&str> = read.unknown.iter().map(|it| it.key.as_str()).collect();
        let places = [
            "costCapUsd",
            "branchIsolation.enable",
            "checkpoints.all",
            "checkpoints.types[1].on",
            "smokeTest.timeout",
            "uiQa.command",
            "documenter.model",
        ];
        assert_eq!(keys, places);
        assert_eq!(read.smoke.as_deref(), Some("npm run smoke"));
        assert_eq!(read.lanes, None, "nobody guesses");
    }

    #[test]
    fn a_checkpoint_is_called_what_its_name_says() {
        let text = r#"{"checkpoints": {"types": [{"name": "look at\nthe plan", "triggerOn": "post-planner"},
            {"name": "cost", "triggerOn": "post-planner"}, {"name": " ", "triggerOn": "pre-merge"},
            {"name": "never", "triggerOn": "pre-done", "enabled": false}]}}"#;
        let read = Harness::read(text).unwrap();
        let names = [("post-planner".to_owned(), "look at the plan, cost".to_owned())];
        assert_eq!(read.names, names.into());
        assert_eq!(read.checkpoints, ["post-planner", "pre-merge"]);
    }

    #[test]
    fn branches_that_are_not_isolated_are_one_lane() {
        for text in [
            r#"{"branchIsolation": false, "lanes": 4}"#,
            r#"{"branchIsolation": {"enabled": false}, "lanes": 4}"#,
            r#"{"branchIsolation": {"enabled": true, "useWorktrees": false}, "lanes": 4}"#,
        ] {
            assert_eq!(Harness::read(text).unwrap().lanes, Some(1), "{text}");
        }
    }

    #[test]
    fn what_is_none_is_refused() {
        for (text, part) in [
            ("{", "EOF"),
            (r#"{"lanes": "many"}"#, "line 1"),
            (
                r#"{"checkpoints": {"types": [{"triggerOn": "at-noon"}]}}"#,
                "post-planner, pre-merge",
            ),
        ] {
            let error = Harness::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
