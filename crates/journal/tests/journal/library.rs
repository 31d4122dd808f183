//! Small C libraries that are loaded before the real one, to make a disk fail or to watch it.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

/// Compiles a fixture; the result is for `LD_PRELOAD`.
pub fn compile(fixture: &str, into: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    let library = into.join(fixture).with_extension("so");
    let mut compile = Command::new("cc");
    compile.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(source).arg("-ldl");
    assert!(compile.status().expect("a C compiler is there").success());
    library
}
