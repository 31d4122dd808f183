//! Starting programs with nothing but the standard library: for tests, and for looking at a
//! repository where nothing else is set up.

use std::{
    io::{self, Write},
    process::{Command, Stdio},
    thread,
};

use crate::git::{Call, Output, Run};

/// Starts programs and waits for them, without any limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct StdRun;

impl Run for StdRun {
    fn run(&self, call: &Call) -> io::Result<Output> {
        let fed = !call.stdin.is_empty();
        let mut child = Command::new(&call.program)
            .args(&call.args)
            .current_dir(&call.dir)
            .env_clear()
            .envs(call.env.iter().map(|(name, value)| (name, value)))
            .stdin(if fed { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let stdin = child.stdin.take();
        let output = thread::scope(|scope| {
            // A program that leaves early has told why on its standard error.
            scope.spawn(|| stdin.map(|mut stdin| stdin.write_all(&call.stdin)));
            child.wait_with_output()
        })?;
        Ok(Output { code: output.status.code(), stdout: output.stdout, stderr: output.stderr })
    }
}
