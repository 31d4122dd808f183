//! A pretended Linear for the shell: `pretend-linear [--port N] [--issues N]`.
//!
//! It says on the first line of standard output where it is; its keys and what is in it stand in `Linear`. Enter shows what was
//! written since, on standard error. It ends when standard input is closed, or at a signal.

use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use windlass_trackerkit::linear::{Linear, NewIssue};

const USAGE: &str = "usage: pretend-linear [--port N] [--issues N]";

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            _ = writeln!(io::stderr(), "pretend-linear: {why}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), String> {
    let (mut port, mut issues) = (0, 3);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let number = arguments.next().and_then(|number| number.parse().ok()).ok_or(USAGE)?;
        match name.as_str() {
            "--port" => port = number,
            "--issues" => issues = number,
            _ => return Err(USAGE.to_owned()),
        }
    }
    let linear = Linear::start_on(port).map_err(|error| error.to_string())?;
    for number in 1..=issues {
        let title = format!("Issue {number}");
        let body =
            format!("Add the file `docs/{number}.md`.\n\n## Acceptance criteria\n\n- It is there.");
        let priority = u8::try_from(number % 5).unwrap_or_default();
        linear.issue(&NewIssue { title: &title, body: &body, priority, ..NewIssue::default() });
    }
    let mut out = io::stdout();
    writeln!(out, "{}", linear.url()).and_then(|()| out.flush()).map_err(|it| it.to_string())?;
    let mut shown = 0;
    for _ in io::stdin().lock().lines() {
        let writes = linear.writes();
        for write in &writes[shown..] {
            let text = write.text.replace('\n', " ");
            _ = writeln!(io::stderr(), "{} {} {}: {text}", write.by, write.what, write.issue);
        }
        shown = writes.len();
    }
    Ok(())
}
