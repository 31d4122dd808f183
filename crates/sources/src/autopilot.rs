//! `autopilot-state.json`: a session of the seed's autopilot, ours or another's, of any schema (docs/formats.md).

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The schema that is written.
pub const SCHEMA: u64 = 5;

/// The name of a spec's session.
///
/// Drops `docs/` and `.md`, puts `--` for `/` and `.`, and makes it lower case.
pub fn session_slug(spec: &str) -> String {
    let spec = spec.strip_prefix("./").unwrap_or(spec);
    let spec = spec.strip_prefix("docs/").unwrap_or(spec);
    let spec = spec.strip_suffix(".md").unwrap_or(spec);
    spec.replace(['/', '.'], "--").to_lowercase()
}

/// A session's state, as the seed writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct State {
    /// Always [`SCHEMA`] once it is read.
    pub schema_version: u64,
    /// Where the session's files are.
    pub session_dir: String,
    /// The spec.
    pub spec_path: String,
    /// Where the branch was when it began.
    pub starting_commit: String,
    /// `--review-plans`.
    pub review_plans: bool,
    /// `fast`, `standard` or `thorough`.
    pub rigor_level: String,
    /// Where it is.
    pub current_state: String,
    /// Which phase, from 0.
    pub current_phase: usize,
    /// The phase at hand waits for a plan that a person makes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub awaiting_interactive_plan: Option<bool>,
    /// The phases.
    pub phases: Vec<Phase>,
    /// Retries of the task at hand.
    pub retry_budget: RetryBudget,
    /// Phases that are over.
    pub history: Vec<Value>,
    /// Every decision, in order.
    pub decisions: Vec<Value>,
    /// The final review.
    pub final_review: FinalReview,
}

/// A phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Phase {
    /// What it is called.
    pub name: String,
    /// `low`, `medium` or `high`.
    #[serde(default = "medium")]
    pub complexity: String,
    /// What its plan made of that.
    #[serde(default)]
    pub complexity_override: Option<String>,
    /// Its plan.
    #[serde(default)]
    pub plan_path: Option<String>,
    /// `pending`, `in_progress`, `complete`, `skipped` or `failed`.
    #[serde(default = "pending")]
    pub status: String,
}

fn medium() -> String {
    "medium".to_owned()
}

fn pending() -> String {
    "pending".to_owned()
}

/// Retries of the task at hand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryBudget {
    /// So many there are.
    pub max_attempts: u64,
    /// The task, and what was tried.
    pub current_task: Value,
}

/// The final review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FinalReview {
    /// `pending`, `in_progress`, `passed` or `overridden`.
    pub status: String,
    /// What was found.
    pub findings: Vec<Value>,
    /// How often it was fixed.
    pub retry_count: u64,
}

/// The states of the seed's machine.
pub const STATES: [&str; 10] = [
    "INIT",
    "ASSESS",
    "PLAN",
    "APPROVE_PLAN",
    "EXECUTE",
    "VERIFY",
    "REVIEW",
    "PHASE_COMPLETE",
    "FINAL_REVIEW",
    "DONE",
];

/// Why a state cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BadState {
    /// It is no JSON, or not what it should be.
    #[error("it is not the state of a session: {0}")]
    Form(#[from] serde_json::Error),
    /// It comes from a later version.
    #[error("its schema {found} is newer than {SCHEMA}, the newest that this Windlass knows")]
    Newer {
        /// Its schema.
        found: u64,
    },
    /// It contradicts itself.
    #[error("{0}")]
    Nonsense(String),
}

impl State {
    /// Reads a state of any schema, with the seed's defaults for what an older one has not got. `head` stands in for a
    /// starting commit that was never written down.
    ///
    /// # Errors
    ///
    /// When it is no state, or one that contradicts itself.
    pub fn read(text: &str, head: &str) -> Result<Self, BadState> {
        let mut value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))?;
        let Some(fields) = value.as_object_mut() else {
            return Err(BadState::Nonsense("it is no JSON object".to_owned()));
        };
        let schema = fields.get("schemaVersion").and_then(Value::as_u64).unwrap_or(1);
        if schema > SCHEMA {
            return Err(BadState::Newer { found: schema });
        }
        let history = fields.get("history").and_then(Value::as_array).into_iter().flatten();
        let mut commits = history.filter_map(|entry| {
            let commit = entry.get("startingCommit").or_else(|| entry.get("commit"))?;
            commit.as_str().map(str::to_owned)
        });
        let start = commits.next().unwrap_or_else(|| head.to_owned());
        let mut default = |name: &str, value: Value| {
            let field = fields.entry(name).or_insert(Value::Null);
            if field.is_null() {
                *field = value;
            }
        };
        if schema < 3 {
            default("history", json!([]));
            default("startingCommit", json!(start));
            default("decisions", json!([]));
            default("finalReview", json!({ "status": "pending", "findings": [], "retryCount": 0 }));
        }
        if schema < 4 {
            default("reviewPlans", json!(false));
        }
        if schema < 5 {
            default("rigorLevel", json!("standard"));
        }
        default("retryBudget", json!({ "maxAttempts": 3, "currentTask": null }));
        default("sessionDir", json!(""));
        default("specPath", json!(""));
        fields.insert("schemaVersion".to_owned(), json!(SCHEMA));
        let state: State = serde_json::from_value(value)?;
        state.sound()?;
        Ok(state)
    }

    fn sound(&self) -> Result<(), BadState> {
        let nonsense = |what: String| Err(BadState::Nonsense(what));
        if !STATES.contains(&self.current_state.as_str()) {
            return nonsense(format!("there is no state `{}`", self.current_state));
        }
        if self.phases.is_empty() {
            return nonsense("it has no phases".to_owned());
        }
        if self.current_phase > self.phases.len() {
            let (at, of) = (self.current_phase, self.phases.len());
            return nonsense(format!("it is at phase {at} of {of}, counted from 0"));
        }
        if let Some(phase) =
            self.phases.iter().find(|it| crate::spec::Complexity::named(&it.complexity).is_none())
        {
            return nonsense(format!("`{}` is no complexity of a phase", phase.complexity));
        }
        if !["fast", "standard", "thorough"].contains(&self.rigor_level.as_str()) {
            return nonsense(format!("`{}` is no rigor level", self.rigor_level));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_comes_from_the_path() {
        for (spec, slug) in [
            ("docs/changes/security-scanner/proposal.md", "changes--security-scanner--proposal"),
            ("SPEC.md", "spec"),
            ("./docs/V2.1/Plan.md", "v2--1--plan"),
            ("specs/docs/a.txt", "specs--docs--a--txt"),
        ] {
            assert_eq!(session_slug(spec), slug, "{spec}");
        }
    }

    fn old(schema: u64, more: Value) -> Value {
        let mut state = json!({
            "schemaVersion": schema, "sessionDir": "d", "specPath": "s.md", "currentState": "EXECUTE",
            "currentPhase": 0, "phases": [{ "name": "A", "complexity": "low" }],
            "retryBudget": { "maxAttempts": 3, "currentTask": null }, "history": [],
        });
        for (name, value) in more.as_object().unwrap() {
            state[name] = value.clone();
        }
        state
    }

    fn read(value: &Value) -> Result<State, BadState> {
        State::read(&value.to_string(), "HEAD-OID")
    }

    #[test]
    fn each_older_schema_gets_the_defaults_it_lacks_and_keeps_what_it_has() {
        for schema in [1, 2] {
            let state = read(&old(schema, json!({}))).unwrap();
            assert_eq!((state.schema_version, &*state.starting_commit), (5, "HEAD-OID"));
            assert_eq!((state.decisions.len(), &*state.final_review.status), (0, "pending"));
            assert_eq!((state.review_plans, &*state.rigor_level), (false, "standard"));
        }
        let history =
            json!({ "history": [{ "startingCommit": "first" }, { "startingCommit": "second" }] });
        assert_eq!(read(&old(2, history)).unwrap().starting_commit, "first");
        let three = json!({ "startingCommit": "c", "decisions": [{ "decision": "x" }],
                            "finalReview": { "status": "in_progress", "findings": [1], "retryCount": 2 } });
        let state = read(&old(3, three.clone())).unwrap();
        assert_eq!(
            (&*state.starting_commit, state.decisions.len(), state.review_plans),
            ("c", 1, false)
        );
        assert_eq!(
            (&*state.final_review.status, state.final_review.retry_count),
            ("in_progress", 2)
        );
        let mut four = three;
        four["reviewPlans"] = json!(true);
        let state = read(&old(4, four.clone())).unwrap();
        assert_eq!((state.review_plans, &*state.rigor_level), (true, "standard"));
        four["rigorLevel"] = json!("thorough");
        assert_eq!(read(&old(5, four)).unwrap().rigor_level, "thorough");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let full = json!({ "startingCommit": "c", "decisions": [], "reviewPlans": false, "rigorLevel": "fast",
                           "finalReview": { "status": "pending", "findings": [], "retryCount": 0 } });
        let with = |name: &str, value: Value| {
            let mut state = old(5, full.clone());
            state[name] = value;
            read(&state).unwrap_err().to_string()
        };
        assert!(with("schemaVersion", json!(6)).contains("schema 6 is newer"));
        assert!(with("currentState", json!("DREAMING")).contains("DREAMING"));
        assert!(with("phases", json!([])).contains("no phases"));
        assert!(with("currentPhase", json!(7)).contains("phase 7 of 1"));
        assert!(with("rigorLevel", json!("quick")).contains("quick"));
        assert!(with("phases", json!([{ "name": "A", "complexity": "huge" }])).contains("huge"));
        assert!(with("decisions", json!(3)).contains("not the state"));
        assert!(State::read("{", "h").is_err() && State::read("[]", "h").is_err());
        // A schema 5 without its fields is no schema 5.
        assert!(read(&old(5, json!({}))).is_err());
    }
}
