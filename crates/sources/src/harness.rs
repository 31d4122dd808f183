//! `.harness/config.json`: how a mission is to be run, as the seed's system has it. What it does not say is Windlass's usual.
//!
//! ```json
//! { "branchIsolation": { "enabled": true, "useWorktrees": true, "baseBranch": "main" },
//!   "checkpoints": { "types": [ { "name": "look at the plan", "triggerOn": "post-planner" } ] },
//!   "smokeTest": { "enabled": true }, "uiQa": { "enabled": false }, "crosscheck": true, "documenter": true,
//!   "lanes": 3, "maxIterations": 60, "maxAttempts": 3 }
//! ```

use serde::Deserialize;

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
    /// What else a feature goes through.
    pub steps: Vec<&'static str>,
    /// Iterations at most.
    pub max_iterations: Option<u64>,
    /// Attempts at a feature at most.
    pub max_attempts: Option<u64>,
}

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
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Isolation {
    Switch(bool),
    #[serde(rename_all = "camelCase")]
    Table {
        #[serde(default = "on")]
        enabled: bool,
        #[serde(default = "on")]
        use_worktrees: bool,
        #[serde(default)]
        base_branch: Option<String>,
    },
}

#[derive(Deserialize)]
struct Checkpoints {
    #[serde(default)]
    types: Vec<Checkpoint>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Checkpoint {
    trigger_on: String,
    #[serde(default = "on")]
    enabled: bool,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Switch {
    Flag(bool),
    Table {
        #[serde(default = "on")]
        enabled: bool,
    },
}

fn on() -> bool {
    true
}

impl Switch {
    fn is_on(&self) -> bool {
        match self {
            Switch::Flag(on) | Switch::Table { enabled: on } => *on,
        }
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
        let (isolated, base_branch) = match file.branch_isolation {
            None => (true, None),
            Some(Isolation::Switch(on)) => (on, None),
            Some(Isolation::Table { enabled, use_worktrees, base_branch }) => {
                (enabled && use_worktrees, base_branch)
            }
        };
        let types = file.checkpoints.map_or_else(Vec::new, |it| it.types);
        let mut checkpoints = Vec::new();
        for checkpoint in types.into_iter().filter(|it| it.enabled) {
            let trigger = checkpoint.trigger_on;
            if !TRIGGERS.contains(&trigger.as_str()) {
                let known = TRIGGERS.join(", ");
                return Err(bad(format!("`triggerOn` is {trigger:?}: it is one of {known}")));
            }
            if !checkpoints.contains(&trigger) {
                checkpoints.push(trigger);
            }
        }
        let steps = [
            ("smoke", file.smoke_test),
            ("ui-qa", file.ui_qa),
            ("crosscheck", file.crosscheck),
            ("documenter", file.documenter),
        ];
        let steps = steps.into_iter().filter(|(_, it)| it.as_ref().is_some_and(Switch::is_on));
        Ok(Harness {
            lanes: if isolated { file.lanes } else { Some(1) },
            base_branch: base_branch.filter(|name| !name.is_empty()),
            checkpoints,
            steps: steps.map(|(name, _)| name).collect(),
            max_iterations: file.max_iterations,
            max_attempts: file.max_attempts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_it_says_is_taken_and_what_it_does_not_is_left_open() {
        assert_eq!(Harness::read("{}").unwrap(), Harness::default());
        let text = r#"{"branchIsolation": {"enabled": true, "useWorktrees": true, "baseBranch": "dev"},
            "checkpoints": {"types": [{"name": "a", "triggerOn": "post-planner"}, {"triggerOn": "pre-done", "enabled": false}]},
            "smokeTest": {"enabled": true, "command": "x"}, "uiQa": false, "documenter": true, "lanes": 3, "maxIterations": 9,
            "other": 1}"#;
        let read = Harness::read(text).unwrap();
        assert_eq!((read.lanes, read.base_branch.as_deref()), (Some(3), Some("dev")));
        assert_eq!(
            (read.checkpoints, read.steps),
            (vec!["post-planner".to_owned()], vec!["smoke", "documenter"])
        );
        assert_eq!((read.max_iterations, read.max_attempts), (Some(9), None));
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
