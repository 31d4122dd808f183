//! A pretended GitHub for the shell: `pretend-github [--port N] [--issues N] [--git DIR]`.
//!
//! It says on the first line of standard output where it is; its keys and what is in it stand in `GitHub`. With `--git`, branches
//! are those of a repository. Enter shows what was written since, on standard error. It ends when standard input is closed, or
//! at a signal.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::ExitCode;

use windlass_trackerkit::github::{GitHub, NewIssue};

const USAGE: &str = "usage: pretend-github [--port N] [--issues N] [--git DIR]";

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            _ = writeln!(io::stderr(), "pretend-github: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let (mut port, mut issues, mut git) = (0, 3, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(USAGE)?;
        match name.as_str() {
            "--port" => port = value.parse().map_err(|_| USAGE)?,
            "--issues" => issues = value.parse().map_err(|_| USAGE)?,
            "--git" => git = Some(value),
            _ => return Err(USAGE.to_owned()),
        }
    }
    let github = GitHub::start_on(port).map_err(|error| error.to_string())?;
    if let Some(git) = git {
        github.branches_of(Path::new(&git));
    }
    for number in 1..=issues {
        let title = format!("Issue {number}");
        let body =
            format!("Add the file `docs/{number}.md`.\n\n## Acceptance criteria\n\n- It is there.");
        let priority = format!("P{}", number % 4 + 1);
        let labels = ["ready", priority.as_str()];
        github.issue(&NewIssue {
            title: &title,
            body: &body,
            labels: &labels,
            ..NewIssue::default()
        });
    }
    let mut out = io::stdout();
    writeln!(out, "{}", github.url()).and_then(|()| out.flush()).map_err(|it| it.to_string())?;
    let mut shown = 0;
    for _ in io::stdin().lock().lines() {
        let writes = github.writes();
        for write in &writes[shown..] {
            let text = write.text.replace('\n', " ");
            _ = writeln!(io::stderr(), "{} {} #{}: {text}", write.by, write.what, write.number);
        }
        shown = writes.len();
    }
    Ok(())
}
