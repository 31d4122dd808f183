//! `state.json`, written from the journal: 2.0, or, of a session without a version, the file that was found with how far
//! it has come by now.

use windlass_engine::date::instant;
use windlass_sources::task::{
    self as format, Autofix, CliFlags, ModelConfig, Progress, State, Verify,
};

use super::session::Session;
use super::{COMMANDS, LAYER1_RETRIES, ROUNDS, Task, Version};

/// What each preset gives executor, advisor and evaluator.
const PRESETS: [(&str, [&str; 3]); 3] = [
    ("all-opus", ["opus", "opus", "opus"]),
    ("balanced", ["sonnet", "opus", "opus"]),
    ("economy", ["haiku", "sonnet", "sonnet"]),
];

impl Task {
    /// The file as it should be. A session of the first version is never migrated: what was not found is not written.
    pub(super) fn state_text(&self) -> Option<String> {
        if self.version == Version::Second {
            return serde_json::to_string_pretty(&self.state()).ok().map(|state| state + "\n");
        }
        let session = self.session();
        let (first, _) = session.first.as_ref()?;
        Some(first.with(&Progress {
            phase: &session.phase,
            round: session.round,
            layer1_result: session.layer1_result,
            layer1_retries: session.layer1,
        }))
    }

    /// The seed's state: of a session that is not set up yet, as much as is known.
    pub(super) fn state(&self) -> State {
        let (slug, docs_path) = (self.slug(), self.docs());
        let session = self.session();
        let inputs = &self.inputs;
        let said = |value: &str, usual: &str| (value != usual).then(|| value.to_owned());
        let mut state = State {
            version: format::VERSION.to_owned(),
            task: session.adopted().map_or(&inputs.task, |open| &open.task).clone(),
            cli_flags: CliFlags {
                verifier_model: said(&inputs.verifier, "haiku"),
                output_dir: said(&inputs.output_dir, format::OUTPUT_BASE),
            },
            user_lang: session.lang().code().to_owned(),
            has_git: session.environment.has_git,
            created_at: instant(session.created_ms),
            docs_path,
            windlass_run: self.run.clone(),
            slug,
            ..State::default()
        };
        if session.set_up {
            self.whole(&mut state, &session);
        }
        state
    }

    fn whole(&self, state: &mut State, session: &Session) {
        let inputs = &self.inputs;
        let root = self.files.root();
        state.mode = Some(inputs.mode.clone());
        state.run_style = Some(inputs.style.clone());
        state.model_config = Some(self.model_config());
        state.repo_name = root.file_name().map(|name| name.to_string_lossy().into_owned());
        state.repo_path = Some(root.display().to_string());
        state.phase = Some(session.phase.clone());
        state.round = Some(session.round);
        state.max_rounds = Some(ROUNDS);
        state.max_files = Some(inputs.max_files);
        state.scope = Some(inputs.scope.clone());
        state.branch = session.environment.has_git.then(|| format!("harness/{}", state.slug));
        state.lang = Some(session.environment.language.clone());
        let [build, test, lint, types] = COMMANDS.map(|(check, _)| self.command(check, session));
        state.build_cmd = build;
        state.test_cmd = test;
        state.lint_cmd = lint;
        state.type_check_cmd = types;
        let stopped = session.autofix.as_ref().is_some_and(|(applied, _)| applied == "stopped");
        state.verify = Some(Verify {
            layer1_result: session.layer1_result.map(str::to_owned),
            // I4.
            layer1_retries: if stopped {
                session.layer1.min(LAYER1_RETRIES)
            } else {
                session.layer1
            },
            layer2_result: session.layer2_result.map(str::to_owned),
            layer2_retries: session.layer2,
            todo_blocking: inputs.todo_blocking,
            autofix_attempted: session.autofix_attempted,
        });
        state.autofix = session.autofix.as_ref().map(|(applied, since)| Autofix {
            last_patch_path: ".harness/generator/auto_fix_patch.md".to_owned(),
            applied: applied.clone(),
            triggered_at: instant(*since),
        });
        state.conventions.clone_from(&session.conventions);
        state.updated_at = Some(instant(session.now_ms));
    }

    /// The command of a check: what was said, or what was detected.
    pub(super) fn command(&self, check: &str, session: &Session) -> Option<String> {
        match self.inputs.commands.get(check).map(String::as_str) {
            Some("none") => None,
            Some(said) if !said.is_empty() && said != "detected" => Some(said.to_owned()),
            _ => session.environment.checks.get(check).cloned(),
        }
    }

    /// Which model each post has.
    pub(super) fn model_config(&self) -> ModelConfig {
        let inputs = &self.inputs;
        let preset = PRESETS.iter().find(|(name, _)| *name == inputs.models);
        let mut three = preset.map(|(_, three)| three.map(|model| Some(model.to_owned())));
        if inputs.models == "custom" {
            // What is left out is as in `balanced`.
            let mut own = PRESETS[1].1.map(|model| Some(model.to_owned()));
            for part in inputs.triple.split(',') {
                let (post, model) = part.split_once(':').unwrap_or((part, ""));
                let at =
                    ["executor", "advisor", "evaluator"].iter().position(|it| *it == post.trim());
                if let Some(at) = at {
                    own[at] = Some(model.trim().to_owned());
                }
            }
            three = Some(own);
        }
        let [executor, advisor, evaluator] = three.unwrap_or_default();
        ModelConfig {
            preset: inputs.models.clone(),
            executor,
            advisor,
            evaluator,
            verifier: inputs.verifier.clone(),
        }
    }
}
