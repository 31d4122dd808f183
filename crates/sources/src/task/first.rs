//! `.harness/state.json` without a version: a session of the first version, which is never migrated.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::{Left, Open, open, text_of};

/// The phases in which a session of the first version may be left, in order.
const LEFT_IN: [&str; 6] =
    ["plan_ready", "gen_ready", "verify_ready", "verifying", "verify_done", "eval_ready"];

/// A session of the first version. It is gone on with as what it is, and its file keeps its form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct First {
    /// What it says, as far as sessions of both versions say it.
    pub open: Open,
    /// Whether it has a verify step; before v7.1 there was none.
    pub has_verify: bool,
    /// Whether a TODO fails verification.
    pub todo_blocking: bool,
    /// The commands that it names, each by the name of its field.
    pub commands: BTreeMap<&'static str, String>,
    /// All of it, as it was found.
    found: Map<String, Json>,
}

/// How far a session of the first version has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The phase.
    pub phase: &'a str,
    /// The round.
    pub round: u64,
    /// What layer 1 came to last.
    pub layer1_result: Option<&'a str>,
    /// Retries after layer 1.
    pub layer1_retries: u64,
}

impl First {
    /// The fields that name commands.
    pub const COMMANDS: [&'static str; 4] = ["build_cmd", "test_cmd", "lint_cmd", "type_check_cmd"];

    pub(super) fn of(found: Map<String, Json>) -> Result<Left, String> {
        let phase = text_of(&found, "phase").unwrap_or_else(|| "plan_ready".to_owned());
        if phase == "completed" {
            return Ok(Left::Completed);
        }
        if !LEFT_IN.contains(&phase.as_str()) {
            return Err(format!("it has no version, and without one there is no phase `{phase}`"));
        }
        let open = Open { phase, ..open(&found)? };
        let verify = found.get("verify").and_then(Json::as_object);
        let todo_blocking = verify.and_then(|own| own.get("todo_blocking"));
        let named = |name: &'static str| Some((name, text_of(&found, name)?));
        let commands = Self::COMMANDS.into_iter().filter_map(named);
        Ok(Left::First(Box::new(First {
            has_verify: verify.is_some(),
            todo_blocking: todo_blocking == Some(&Json::Bool(true)),
            commands: commands.filter(|(_, command)| !command.trim().is_empty()).collect(),
            open,
            found,
        })))
    }

    /// The file as it should be by now: what was found, with only these fields different. It gets no version, and
    /// whatever else stands there stays.
    pub fn with(&self, progress: &Progress<'_>) -> String {
        let mut state = self.found.clone();
        state.insert("phase".to_owned(), progress.phase.into());
        state.insert("round".to_owned(), progress.round.into());
        if let Some(Json::Object(verify)) = state.get_mut("verify") {
            verify.insert("layer1_result".to_owned(), progress.layer1_result.into());
            verify.insert("layer1_retries".to_owned(), progress.layer1_retries.into());
        }
        let text = serde_json::to_string_pretty(&state).unwrap_or_default();
        text + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn first(text: &str) -> First {
        match read(text) {
            Ok(Left::First(first)) => *first,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_a_session_without_a_version_says_is_read_and_the_rest_has_its_default() {
        let full = first(
            r#"{"task":"Fix it","phase":"eval_ready","round":2,"scope":"src","max_files":5,"docs_path":"out/x/",
               "branch":"harness/x","test_cmd":"sh t.sh","build_cmd":null,"lint_cmd":" ",
               "verify":{"layer1_retries":1,"todo_blocking":true}}"#,
        );
        assert_eq!((full.open.phase.as_str(), full.open.round), ("eval_ready", 2));
        assert_eq!((full.open.scope.as_str(), full.open.max_files), ("src", 5));
        assert_eq!(full.open.docs_path, "out/x/");
        assert_eq!(full.open.branch.as_deref(), Some("harness/x"));
        assert_eq!(full.commands, [("test_cmd", "sh t.sh".to_owned())].into());
        assert!(full.has_verify && full.todo_blocking);

        let bare = first(r#"{"task":"Fix it","skill":"workflow"}"#);
        assert_eq!((bare.open.phase.as_str(), bare.open.round), ("plan_ready", 1));
        assert_eq!((bare.open.scope.as_str(), bare.open.max_files), ("(no limit)", 20));
        assert_eq!(bare.open.docs_path, "docs/harness/fix-it/");
        assert!(!bare.has_verify && !bare.todo_blocking && bare.commands.is_empty());
    }

    #[test]
    fn what_is_over_is_no_session_and_what_cannot_be_is_none() {
        assert_eq!(read(r#"{"task":"x","phase":"completed"}"#), Ok(Left::Completed));
        for bad in [r#"{"phase":"gen_ready"}"#, r#"{"task":"x","phase":"generate_ready"}"#, "{}"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        for phase in LEFT_IN {
            let text = format!(r#"{{"task":"x","phase":"{phase}"}}"#);
            assert_eq!(first(&text).open.phase, phase);
        }
    }

    /// "Do NOT migrate v1 sessions to v2."
    #[test]
    fn its_file_keeps_its_form() {
        let found = r#"{"task":"x","phase":"gen_ready","round":1,"mine":{"a":[1,null]},"scope":null,
                        "verify":{"layer1_retries":2,"layer1_result":"FAIL","own":"kept"}}"#;
        let progress = Progress {
            phase: "eval_ready",
            round: 2,
            layer1_result: Some("PASS"),
            layer1_retries: 1,
        };
        let now: Json = serde_json::from_str(&first(found).with(&progress)).unwrap();
        let mut want: Json = serde_json::from_str(found).unwrap();
        want["phase"] = "eval_ready".into();
        want["round"] = 2.into();
        want["verify"]["layer1_result"] = "PASS".into();
        want["verify"]["layer1_retries"] = 1.into();
        assert_eq!(now, want);

        // Without a verify step it gets none.
        let now = first(r#"{"task":"x","phase":"gen_ready"}"#).with(&progress);
        let now: Json = serde_json::from_str(&now).unwrap();
        assert_eq!(now, serde_json::json!({"task":"x","phase":"eval_ready","round":2}));
    }
}
