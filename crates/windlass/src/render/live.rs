//! What is under way, at the bottom of a terminal: a line for each lane with its time, one for what lands, and the totals
//! with the cost and what it will probably come to. Nothing of it where standard error is no terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use unicode_width::UnicodeWidthStr as _;
use windlass_words::Words;

use super::lanes::{Room, lines};
use crate::progress::Sight;

/// The time that is shown moves on so often.
const TICK: Duration = Duration::from_secs(1);

/// The bottom of a terminal.
pub struct Live {
    board: Arc<Mutex<Board>>,
    /// While this is there, the time that is shown moves on.
    ticking: Option<Sender<()>>,
}

#[derive(Default)]
struct Board {
    /// Nobody looks on, or a question is being answered.
    hidden: bool,
    /// What is to be seen, and since when it is so.
    seen: Option<(Sight, Instant)>,
    words: Words,
    began: Option<Instant>,
    /// The lines that are drawn.
    drawn: Vec<String>,
}

impl Live {
    /// At a terminal there is one; elsewhere it draws nothing.
    pub fn new(watched: bool) -> Self {
        let watched = watched && std::io::stderr().is_terminal();
        let board = Board { hidden: !watched, began: Some(Instant::now()), ..Board::default() };
        let board = Arc::new(Mutex::new(board));
        let ticking = watched.then(|| {
            let (ticking, over) = channel();
            let board = board.clone();
            std::thread::spawn(move || {
                while over.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                    lock(&board).draw("");
                }
            });
            ticking
        });
        Live { board, ticking }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        lock(&self.board)
    }

    /// Whether somebody looks on.
    pub fn is_watched(&self) -> bool {
        self.ticking.is_some()
    }

    /// A line above it.
    pub fn line(&self, text: &str) {
        self.board().draw(&format!("{text}\n"));
    }

    /// How things are with a run.
    pub fn show(&self, sight: impl FnOnce() -> Sight, words: Words) {
        let mut board = self.board();
        if board.hidden {
            return;
        }
        board.seen = Some((sight(), Instant::now()));
        board.words = words;
        board.draw("");
    }

    /// Makes room for a question, or comes back after one.
    pub fn hide(&self, hidden: bool) {
        let mut board = self.board();
        if hidden {
            board.hidden = true;
            board.draw("");
        }
        board.hidden = hidden || self.ticking.is_none();
    }

    /// Takes it away for good.
    pub fn end(&mut self) {
        self.ticking = None;
        let mut board = self.board();
        board.hidden = true;
        board.draw("");
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Board {
    /// Draws it anew, below what is told.
    fn draw(&mut self, told: &str) {
        let room = room();
        let next = match &self.seen {
            Some((sight, since)) if !self.hidden => {
                let ms = |since: &Instant| since.elapsed().as_millis().try_into().unwrap_or(0);
                let times = (ms(since), self.began.as_ref().map_or(0, ms));
                lines(sight, room, times, self.words)
            }
            _ => Vec::new(),
        };
        let text = turned(&self.drawn, told, &next, room.columns);
        // Nobody is left to be told that standard error cannot be written to.
        let _ = std::io::stderr().write_all(text.as_bytes());
        self.drawn = next;
    }
}

/// What turns the lines that are drawn into what is told and the next ones, in one go: nothing is blank in between, and
/// what stays as it is is not written again.
fn turned(drawn: &[String], told: &str, next: &[String], columns: usize) -> String {
    if told.is_empty() && drawn == next {
        return String::new();
    }
    // A terminal that has become narrower since has broken them.
    let rows: usize = drawn.iter().map(|line| line.width().div_ceil(columns.max(1)).max(1)).sum();
    let mut text = String::new();
    if rows > 0 {
        text.push_str(&format!("\r\x1b[{rows}A"));
    }
    let clear = if rows > 0 { "\x1b[K" } else { "" };
    for line in told.lines().chain(next.iter().map(String::as_str)) {
        text.push_str(&format!("{line}{clear}\n"));
    }
    if rows > 0 {
        text.push_str("\x1b[J");
    }
    text
}

/// How much room the terminal has; what a person's shell says of its columns counts.
fn room() -> Room {
    let seen = terminal_size::terminal_size_of(std::io::stderr());
    let (columns, rows) = seen.map_or((80, 24), |(width, height)| (width.0, height.0));
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let columns = said.filter(|columns| *columns > 0).unwrap_or(columns);
    Room { columns: usize::from(columns).max(10), rows: usize::from(rows) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(lines: &[&str]) -> Vec<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn what_stays_as_it_is_is_not_written_again() {
        let drawn = owned(&["a", "b"]);
        assert_eq!(turned(&drawn, "", &drawn, 80), "");
        assert_eq!(turned(&[], "", &[], 80), "");
    }

    #[test]
    fn the_old_lines_are_written_over_and_not_blanked_first() {
        let next = owned(&["a", "c", "d"]);
        let text = turned(&owned(&["a", "b"]), "told\n", &next, 80);
        assert_eq!(text, "\r\x1b[2Atold\x1b[K\na\x1b[K\nc\x1b[K\nd\x1b[K\n\x1b[J");
        assert_eq!(turned(&[], "told\n", &[], 80), "told\n", "no terminal is given orders");
    }

    #[test]
    fn lines_that_a_narrower_terminal_has_broken_are_all_taken_back() {
        let text = turned(&owned(&["0123456789", "로그인"]), "", &[], 5);
        assert!(text.starts_with("\r\x1b[4A"), "{text:?}");
    }
}
