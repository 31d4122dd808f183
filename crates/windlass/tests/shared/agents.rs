//! Where tests find the real agents.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Where programs are looked for, the agents among them: `scripts/test` puts them there.
pub fn with_agents(path: &OsStr) -> OsString {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools");
    let bin = tools.canonicalize().unwrap_or(tools).join("agents/node_modules/.bin");
    for agent in ["claude", "codex", "gemini", "opencode"] {
        assert!(bin.join(agent).exists(), "{agent} is needed: run scripts/agents");
    }
    let dirs: Vec<PathBuf> = [bin].into_iter().chain(std::env::split_paths(path)).collect();
    std::env::join_paths(dirs).unwrap()
}
