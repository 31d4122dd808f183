//! Where tests find bubblewrap.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where programs are looked for, bubblewrap among them: `scripts/test` puts it there.
pub fn with_bubblewrap() -> OsString {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/bin");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    dirs.push(tools.canonicalize().unwrap_or(tools));
    let found = dirs.iter().any(|dir| dir.join("bwrap").is_file());
    assert!(found, "bubblewrap is needed: run scripts/bubblewrap, or install it");
    std::env::join_paths(dirs).unwrap()
}
