//! The program for the shell.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::client::Client;
use crate::messages;

/// A scratch directory that goes away with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str, script: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("a directory");
        fs::write(dir.join("script.toml"), script).expect("a script");
        Scratch(dir)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

fn program(dir: &Path, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_model-server"))
        .args(["--script", "script.toml"])
        .args(more)
        .current_dir(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Where a program says that it is.
fn port(child: &mut Child) -> u16 {
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().expect("its output"));
    out.read_line(&mut line).expect("a line");
    let port = line.trim().strip_prefix("http://127.0.0.1:").expect("an address");
    port.parse().expect("a number")
}

#[test]
fn it_serves_a_script_until_its_input_is_closed() {
    let script = "[[rule]]\nreply = { shell = 'ls' }";
    let scratch = Scratch::new("serves", script);
    let mut child = program(&scratch.0, &["--log", "log"]);
    let mut client = Client::at(port(&mut child));
    let got = client.post("/v1/messages", &messages::body(false));
    assert_eq!(got.json()["content"][0]["input"]["command"], "ls");
    client.send("HEAD / HTTP/1.1\r\n\r\n");
    assert_eq!(client.line().unwrap(), "HTTP/1.1 200 OK");
    drop(child.stdin.take());
    assert!(child.wait().unwrap().success());
    let log = fs::read_to_string(scratch.0.join("log/log.jsonl")).unwrap();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{log}");
    assert_eq!((&lines[0]["serial"], &lines[0]["model"]), (&1.into(), &"claude-x".into()));
    assert!(lines[0].get("answered").is_none());
    assert_eq!(lines[1]["answered"]["what"], "call Bash");
    assert_eq!(lines[1]["answered"]["ending"], "whole");
    assert_eq!((&lines[2]["method"], &lines[2]["path"]), (&"HEAD".into(), &"/".into()));
    let body = fs::read(scratch.0.join("log/000001.json")).unwrap();
    assert_eq!(body, messages::body(false).to_string().into_bytes());
}

#[test]
fn it_says_what_happens_on_standard_error_otherwise() {
    let scratch = Scratch::new("says", "[[rule]]\nreply = { text = 'x' }");
    let mut child = program(&scratch.0, &[]);
    Client::at(port(&mut child)).post("/v1/messages", &messages::body(true));
    drop(child.stdin.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().count(), 2, "{said}");
    assert!(child.wait().unwrap().success());
}

#[test]
fn it_refuses_what_makes_no_sense() {
    let scratch = Scratch::new("refuses", "[[rule]]\nreply = {}");
    for (arguments, why) in [
        (&[][..], "script.toml: rule 1: `reply` says nothing"),
        (&["--port", "x"], "a port is a number"),
        (&["--attic"], "--attic is not known"),
        (&["--script", "nowhere"], "nowhere: No such file"),
        (&["--log"], "--log needs something after it"),
    ] {
        let output = program(&scratch.0, arguments).wait_with_output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(why), "{said}");
    }
}
