//! Runs the program as a person or a script would.

use std::process::{Command, Output, Stdio};

use serde_json::Value;

pub const BUILT_IN: [&str; 5] = ["autopilot", "task", "mission", "issues", "work"];

/// The program, deaf and without colour until a test says otherwise.
pub fn windlass(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(args).stdin(Stdio::null()).env("COLUMNS", "100");
    for colour in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
        command.env_remove(colour);
    }
    command
}

/// Everything visible about a finished run, for a snapshot. Digests change with every comma in the
/// catalogue, so they are left out.
pub fn seen(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("windlass can be started");
    let part = |name: &str, bytes: Vec<u8>| match String::from_utf8(bytes) {
        Ok(text) if text.is_empty() => String::new(),
        Ok(text) => format!("--- {name}\n{text}"),
        Err(error) => panic!("{name} is not UTF-8: {error}"),
    };
    let code = status.code().map_or("a signal".to_owned(), |code| code.to_string());
    without_digests(&format!("exit {code}\n{}{}", part("stdout", stdout), part("stderr", stderr)))
}

fn without_digests(text: &str) -> String {
    let is_digest = |word: &str| word.len() == 64 && word.chars().all(|c| c.is_ascii_hexdigit());
    let mut text = text.to_owned();
    while let Some(digest) = text.split_whitespace().find(|word| is_digest(word)) {
        text = text.replace(&digest.to_owned(), "DIGEST");
    }
    text
}

/// The exit code and what was printed.
pub fn printed(args: &[&str]) -> (i32, String) {
    let output = windlass(args).output().expect("windlass can be started");
    let code = output.status.code().expect("no signal");
    (code, String::from_utf8(output.stdout).expect("UTF-8"))
}

/// The exit code and the one JSON document that was printed.
pub fn json(args: &[&str]) -> (i32, Value) {
    let (code, text) = printed(args);
    match serde_json::from_str(&text) {
        Ok(value) => (code, value),
        Err(error) => panic!("{args:?} printed no JSON: {error}\n{text}"),
    }
}
