//! Agents as a person starts them, without anything that Windlass does for them: so that what never comes about with it
//! can be seen to come about without.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::agents::with_agents;
use crate::bubblewrap::with_bubblewrap;
use crate::rig::{Rig, Who};

/// Has an agent work in a directory, with this home.
pub fn works(rig: &Rig, directory: &Path, home: &Path) {
    let url = rig.server.url();
    let provider = format!(
        "model_providers.local={{name=\"local\",base_url=\"{url}/v1\",env_key=\"OPENAI_API_KEY\",\
         wire_api=\"responses\",supports_websockets=false}}"
    );
    let words: &[&str] = match rig.who {
        Who::Claude => &["-p", "--dangerously-skip-permissions", "--model=claude-sonnet-4-5"],
        // Plugins it would fetch from the network.
        Who::Codex => &[
            "exec",
            "--dangerously-bypass-approvals-and-sandbox",
            "--dangerously-bypass-hook-trust",
            "--disable=plugins",
            "--skip-git-repo-check",
            "--model=gpt-5.2",
            "--config=model_provider=local",
            "--config",
            &provider,
        ],
        Who::Api(_) => panic!("it is never started by hand"),
        Who::GeminiAcp | Who::OpencodeAcp => panic!("nobody speaks to a server by hand"),
        Who::Gemini => &["--approval-mode=yolo", "--model=gemini-2.5-pro", "-p"],
        Who::Opencode => &["run", "--auto", "--model=local/some-model"],
    };
    let configuration = json!({ "provider": { "local": {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{url}/v1"), "apiKey": "{env:OPENCODE_KEY}" },
        "models": { "some-model": {} },
    } } });
    let scratch = rig.scratch.path("tmp");
    for dir in [&home.join(".codex"), &scratch] {
        fs::create_dir_all(dir).expect("a directory");
    }
    let mut command = Command::new(rig.who.name());
    command
        .args(words)
        .arg("Look around.")
        .current_dir(directory)
        .stdin(Stdio::null())
        .env_clear()
        .env("PATH", with_agents(&with_bubblewrap()))
        .env("HOME", home)
        .env("TMPDIR", scratch)
        .env("ANTHROPIC_BASE_URL", &url)
        .env("GOOGLE_GEMINI_BASE_URL", &url)
        .env("GEMINI_CLI_TRUST_WORKSPACE", "true")
        .env("OPENCODE_CONFIG_CONTENT", configuration.to_string())
        .env("OPENCODE_DISABLE_AUTOUPDATE", "1")
        .env("OPENCODE_DISABLE_MODELS_FETCH", "1")
        .env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1")
        .env("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1")
        // What it would install for plugins, it looks for here, and does not find it.
        .env("npm_config_registry", &url)
        .env("npm_config_fetch_retries", "0")
        .env("IS_SANDBOX", "1")
        .env("DISABLE_AUTOUPDATER", "1")
        .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
    rig.who.keys(&mut command);
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
}
