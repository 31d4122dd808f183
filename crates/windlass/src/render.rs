//! Everything a person or a script sees goes through here: results to standard output, errors to
//! standard error.
//!
//! Colour is always written and taken out again where it is not wanted (no terminal, `NO_COLOR`). A
//! reader who has seen enough (`| head`) is not an error: the rest is dropped and the verb keeps
//! its exit code.

mod breach;
mod check;
mod expr;
mod finding;
mod lanes;
mod list;
mod live;
mod mermaid;
mod show;
mod simulating;
mod standing;
mod story;
mod telling;
mod text;
mod totals;
pub mod view;
mod walk;

use std::error::Error as _;
use std::io::{self, ErrorKind, Write};

use annotate_snippets::{Group, Level, Renderer};
use serde::Serialize;

pub use self::breach::{Breach, breach, breach_json, so_far};
pub use self::check::{Checked, Verdict, checked_json, checked_total};
pub use self::expr::{called, expr_text, scope_text};
pub use self::lanes::{in_a_line, progress};
pub use self::list::{Summary, list};
pub use self::live::Live;
pub use self::mermaid::mermaid;
pub use self::show::workflow;
pub use self::simulating::Progress;
pub use self::standing::{because_of, dollars, ended, holds, settled, stands, time, used_up};
pub use self::telling::{Teller, restore};
pub use self::text::{clean, clean_lines};
pub use self::totals::{Sum, sum, sum_json};
pub use self::walk::{Walk, walk, walk_json};
use crate::error::Error;
use crate::exit::Exit;

/// As wide as text gets, however wide the terminal is, and where there is no terminal.
const WIDTH_MAX: usize = 100;
const WIDTH_MIN: usize = 30;

/// Standard output.
pub struct Output {
    stream: anstream::Stdout,
    reader: Reader,
    width: usize,
}

/// Whoever is at the other end of the pipe.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reader {
    Listening,
    Gone,
}

impl Output {
    pub fn stdout() -> Self {
        Self { stream: anstream::stdout(), reader: Reader::Listening, width: width() }
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.width
    }

    pub fn line(&mut self, line: &str) -> Result<(), Error> {
        self.write(|stream| writeln!(stream, "{line}"))
    }

    /// A line for people, beside what the verb prints.
    pub fn note(&mut self, line: &str) -> Result<(), Error> {
        // Nobody is left to be told that standard error cannot be written to.
        let _ = writeln!(anstream::stderr(), "{line}");
        Ok(())
    }

    /// What a clerk has to say about its files, for people.
    pub fn remarks(&mut self, remarks: &[String]) -> Result<(), Error> {
        for line in remarks.iter().flat_map(|said| said.lines()) {
            self.note(&clean(line))?;
        }
        Ok(())
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write(|stream| stream.write_all(bytes))
    }

    /// One JSON document, for scripts.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(value)
            .map_err(|error| Error::output(io::Error::other(error)))?;
        self.line(&text)
    }

    /// A file's mistakes, or that it has none. One that cannot be read is an error.
    pub fn checked(&mut self, checked: &Checked) -> Result<(), Error> {
        match &checked.verdict {
            Verdict::Sound(flow) => self.line(&check::sound(&checked.name, flow)),
            Verdict::Mistaken { source, mistakes } => {
                let text = check::mistakes(source, mistakes, self.width);
                self.line(&text)
            }
            Verdict::Unreadable(reason) => {
                // What was said before should be seen before.
                self.finish()?;
                error(reason);
                Ok(())
            }
        }
    }

    /// Must be called last: what is still buffered may fail to be written, too.
    pub fn finish(&mut self) -> Result<(), Error> {
        self.write(|stream| stream.flush())
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut anstream::Stdout) -> io::Result<()>,
    ) -> Result<(), Error> {
        if self.reader == Reader::Gone {
            return Ok(());
        }
        match write(&mut self.stream) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                self.reader = Reader::Gone;
                Ok(())
            }
            result => result.map_err(Error::output),
        }
    }
}

/// What a person's shell or terminal says.
fn width() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let said = said.filter(|columns| *columns > 0);
    let seen = || {
        let (terminal_size::Width(width), _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width))
    };
    said.or_else(seen).unwrap_or(WIDTH_MAX).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Shows why a verb could not do its work.
pub fn error(error: &Error) -> Exit {
    let width = width();
    let mut page = String::new();
    if let Some(mistakes) = error.mistakes() {
        page = check::mistakes(&mistakes.file, &mistakes.found, width) + "\n\n";
    }
    let mut told = error.to_string();
    let mut group = Group::with_title(Level::ERROR.primary_title(told.clone()));
    let mut cause = error.source();
    while let Some(source) = cause {
        let text = source.to_string();
        // Many errors say what caused them in their own words.
        if !told.contains(&text) {
            group = group.element(Level::NOTE.with_name("cause").message(text.clone()));
            told.push_str(&text);
        }
        cause = source.source();
    }
    if let Some(hint) = error.next_step() {
        group = group.element(Level::HELP.message(hint));
    }
    // Nobody is left to be told that standard error cannot be written to.
    let _ = writeln!(anstream::stderr(), "{page}{}", Renderer::styled().render(&[group]));
    error.exit()
}

/// Shows clap's answer to a command line that is no command: a mistake, or a request for help.
pub fn refusal(refusal: &clap::Error) -> Exit {
    let printed = refusal.print();
    if refusal.use_stderr() {
        // As above.
        return Exit::Usage;
    }
    match printed {
        // `windlass --help | head` has seen enough.
        Err(source) if source.kind() != ErrorKind::BrokenPipe => error(&Error::output(source)),
        _ => Exit::Done,
    }
}
