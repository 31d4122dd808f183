//! What is said at the command line, and what it comes to: each mistake in the seed's words.

use std::collections::BTreeMap;

use clap::Args;
use windlass_core::value::Value;
use windlass_engine::crew::Preset;
use windlass_sources::task::{self as format, For};

use crate::error::Error;

/// The flags of a task.
#[derive(Clone, Debug, Default, Args)]
pub struct Flags {
    /// How it is planned: single, standard or multi
    #[arg(long, value_name = "MODE", value_parser = ["single", "standard", "multi"])]
    mode: Option<String>,

    /// Which models: default, all-opus, balanced, economy, or executor:M,advisor:M,evaluator:M
    #[arg(long, value_name = "PRESET")]
    model_config: Option<String>,

    /// Whose model reads a change that no command can be run on: haiku, sonnet or opus
    #[arg(long, value_name = "MODEL")]
    verifier_model: Option<String>,

    /// What may be changed: paths or patterns, with commas between them
    #[arg(long, value_name = "SCOPE")]
    scope: Option<String>,

    /// So many files may be changed, and no more [default: 20]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    max_files: Option<u32>,

    /// A TODO that the change leaves behind fails verification
    #[arg(long)]
    todo_blocking: bool,

    /// The command that builds the project; `none` skips it
    #[arg(long, value_name = "CMD")]
    build_cmd: Option<String>,

    /// The command that tests the project; `none` skips it
    #[arg(long, value_name = "CMD")]
    test_cmd: Option<String>,

    /// The command that lints the project; `none` skips it
    #[arg(long, value_name = "CMD")]
    lint_cmd: Option<String>,

    /// The command that checks the project's types; `none` skips it
    #[arg(long, value_name = "CMD")]
    type_check_cmd: Option<String>,

    /// Where papers go [default: docs/harness]
    #[arg(long, value_name = "DIR")]
    output_dir: Option<String>,

    /// At the end, ask whether the whole output directory is to be removed
    #[arg(long)]
    remove_output_base: bool,
}

/// What was asked for, as far as it was; validated.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    pub mode: Option<String>,
    pub models: Option<String>,
    pub rest: BTreeMap<String, Value>,
}

impl Asked {
    /// Where papers go.
    pub fn output_dir(&self) -> String {
        self.rest.get("output_dir").map_or(format::OUTPUT_BASE.to_owned(), Value::to_string)
    }

    pub fn of(flags: &Flags) -> Result<Self, Error> {
        let mut rest = BTreeMap::new();
        let mut put = |name: &str, value: Option<Value>| {
            rest.extend(value.map(|value| (name.to_owned(), value)));
        };
        if let Some(model) = &flags.verifier_model {
            if !["haiku", "sonnet", "opus"].contains(&model.as_str()) {
                return Err(Error::usage(
                    "Invalid --verifier-model value. Allowed: haiku, sonnet, opus.",
                ));
            }
            put("verifier_model", Some(Value::text(model)));
        }
        if let Some(dir) = &flags.output_dir {
            let dir = For::Output.take(dir).map_err(|refused| {
                Error::usage(refused.to_string()).hint("for instance: --output-dir docs/harness")
            })?;
            put("output_dir", Some(Value::text(dir.as_str())));
        }
        if let Some(models) = &flags.model_config {
            Preset::parse(models).map_err(Error::usage)?;
        }
        let text = |said: &Option<String>| said.as_ref().map(Value::text);
        for part in flags.scope.iter().flat_map(|scope| scope.split(',')) {
            if part.trim().starts_with('/') || part.split(['/', '\\']).any(|it| it.trim() == "..") {
                return Err(Error::usage(format!("`{}` leads out of the directory", part.trim()))
                    .hint("--scope takes paths or patterns below it, for instance: --scope 'src/parse,tests'"));
            }
        }
        put("scope", text(&flags.scope));
        put("max_files", flags.max_files.map(|most| Value::Number(most.into())));
        put("todo_blocking", Some(Value::Flag(flags.todo_blocking)));
        put("remove_output_base", Some(Value::Flag(flags.remove_output_base)));
        for (flag, said) in [
            ("--scope", &flags.scope),
            ("--build-cmd", &flags.build_cmd),
            ("--test-cmd", &flags.test_cmd),
            ("--lint-cmd", &flags.lint_cmd),
            ("--type-check-cmd", &flags.type_check_cmd),
        ] {
            if said.as_ref().is_some_and(|said| said.split(',').all(|it| it.trim().is_empty())) {
                return Err(Error::usage(format!("{flag} is empty"))
                    .hint("leave it out; for a command, `none` skips its check"));
            }
        }
        put("build_cmd", text(&flags.build_cmd));
        put("test_cmd", text(&flags.test_cmd));
        put("lint_cmd", text(&flags.lint_cmd));
        put("type_check_cmd", text(&flags.type_check_cmd));
        Ok(Asked { mode: flags.mode.clone(), models: flags.model_config.clone(), rest })
    }
}
