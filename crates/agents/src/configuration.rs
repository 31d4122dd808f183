//! What coding agents read from a repository besides the work: settings, hooks, servers to start.
//!
//! Whoever can change a repository could have an agent run anything by these. So they are not there for an agent, unless
//! a person says that they shall be.

/// Names at the top of a repository, each with whom it is for.
pub const CONFIGURATION: &[(&str, &str)] = &[
    (".claude", "Claude Code"),
    (".mcp.json", "Claude Code"),
    (".codex", "Codex"),
    (".gemini", "Gemini CLI"),
    (".opencode", "opencode"),
    ("opencode.json", "opencode"),
    ("opencode.jsonc", "opencode"),
    (".cursor", "Cursor"),
    (".qwen", "Qwen Code"),
    (".goosehints", "Goose"),
    (".aider.conf.yml", "aider"),
    (".crush.json", "Crush"),
    ("crush.json", "Crush"),
    (".amp", "Amp"),
    (".kiro", "Kiro"),
    (".continue", "Continue"),
    (".windsurf", "Windsurf"),
    (".roo", "Roo Code"),
    (".roomodes", "Roo Code"),
    (".vibe", "Mistral Vibe"),
];

/// Those of them that are read as a file, whatever is said against it: an empty directory in their place is a mistake to
/// whoever they are for, not nothing at all.
pub const NEVER_DIRECTORIES: &[&str] = &["opencode.json", "opencode.jsonc"];
