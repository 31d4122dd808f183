//! What is under way, at the bottom of a terminal: a line for each lane with its time, and one for the run with its cost
//! and what it will probably come to. Nothing of it where standard error is no terminal.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};
use windlass_core::run::{Run, UnitStatus};
use windlass_words::Words;

use super::{clean, dollars, width};

/// The time that is shown moves on so often.
const TICK: Duration = Duration::from_secs(1);
/// So many lanes have a line of their own.
const LANES_SHOWN: usize = 6;

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
    lanes: Vec<Lane>,
    more: usize,
    summary: String,
    words: Words,
    began: Option<Instant>,
    /// How many lines are drawn.
    drawn: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Lane {
    what: String,
    since: Instant,
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
                    lock(&board).draw();
                }
            });
            ticking
        });
        Live { board, ticking }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        lock(&self.board)
    }

    /// A line above it.
    pub fn line(&self, text: &str) {
        let mut board = self.board();
        board.clear();
        // Nobody is left to be told that standard error cannot be written to.
        let _ = writeln!(anstream::stderr(), "{text}");
        board.draw();
    }

    /// How things are with a run.
    pub fn show(&self, run: &Run, words: Words) {
        let mut board = self.board();
        if board.hidden {
            return;
        }
        let mut lanes = Vec::new();
        for unit in run.units().filter(|unit| unit.status == UnitStatus::Started) {
            let stage = unit.stage.map_or("", |stage| run.workflow().stage(stage).shown());
            let what = clean(&format!("{} · {} · {stage}", unit.id, unit.title));
            let known = board.lanes.iter().find(|lane| lane.what == what);
            let since = known.map_or_else(Instant::now, |lane| lane.since);
            lanes.push(Lane { what, since });
        }
        board.more = lanes.len().saturating_sub(LANES_SHOWN);
        lanes.truncate(LANES_SHOWN);
        board.lanes = lanes;
        board.words = words;
        board.summary = summary(run, words);
        board.draw();
    }

    /// Makes room for a question, or comes back after one.
    pub fn hide(&self, hidden: bool) {
        let mut board = self.board();
        board.clear();
        board.hidden = hidden || !std::io::stderr().is_terminal();
    }

    /// Takes it away for good.
    pub fn end(&mut self) {
        self.ticking = None;
        let mut board = self.board();
        board.clear();
        board.hidden = true;
    }
}

fn lock(board: &Mutex<Board>) -> MutexGuard<'_, Board> {
    board.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Units, cost, and what it will probably come to.
fn summary(run: &Run, words: Words) -> String {
    let tally = run.tally();
    let micros = run.purse().settled.cost_micros;
    let spent = micros as f64 / 1e6;
    let over = tally.done + tally.failed + tally.skipped + tally.blocked;
    let units = [
        ("over", &*over.to_string()),
        ("total", &tally.total.to_string()),
        ("called", &run.workflow().called),
    ];
    let mut parts = vec![words.say("live-units", &units)];
    parts.push(match run.caps().run.cost_micros {
        Some(cap) => {
            let cap = format!("{:.2}", cap as f64 / 1e6);
            words.say("live-spent-of", &[("spent", &dollars(micros, words)), ("cap", &cap)])
        }
        None => dollars(micros, words),
    });
    if tally.done > 0 && over < tally.total {
        let forecast = spent / f64::from(tally.done) * f64::from(tally.total - tally.skipped);
        parts.push(words.say("live-forecast", &[("forecast", &format!("{forecast:.2}"))]));
    }
    parts.join(" · ")
}

impl Board {
    fn clear(&mut self) {
        if self.drawn > 0 {
            // Up to where it begins, and everything below is gone.
            let _ = write!(std::io::stderr(), "\r\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }

    fn draw(&mut self) {
        self.clear();
        if self.hidden || self.summary.is_empty() {
            return;
        }
        let lines = self.lines(width());
        let mut text = String::new();
        for line in &lines {
            text.push_str(line);
            text.push('\n');
        }
        let _ = std::io::stderr().write_all(text.as_bytes());
        self.drawn = lines.len();
    }

    /// What is drawn, each line as wide as the terminal at most.
    fn lines(&self, width: usize) -> Vec<String> {
        let cut = |text: String| -> String {
            if text.width() <= width {
                return text;
            }
            // Hangul and the like take two columns each.
            let mut left = width.saturating_sub(1);
            let fits = |c: &char| {
                let wide = c.width().unwrap_or(0);
                let fits = wide <= left;
                left = if fits { left - wide } else { 0 };
                fits
            };
            text.chars().take_while(fits).chain(['…']).collect()
        };
        let mut lines: Vec<String> = self
            .lanes
            .iter()
            .map(|lane| cut(format!("  {} {}", elapsed(lane.since.elapsed()), lane.what)))
            .collect();
        if self.more > 0 {
            let more = [("count", &*self.more.to_string())];
            lines.push(cut(format!("  {}", self.words.say("live-more", &more))));
        }
        let since = self.began.map(|began| elapsed(began.elapsed())).unwrap_or_default();
        lines.push(cut(format!("{since} {}", self.summary)));
        lines
    }
}

fn elapsed(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds:>5}s"),
        (0, minutes, seconds) => format!("{minutes:>2}m{seconds:02}s"),
        (hours, minutes, _) => format!("{hours:>2}h{minutes:02}m"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_as_wide_as_the_terminal_at_most() {
        let lane = |what: &str| Lane { what: what.to_owned(), since: Instant::now() };
        let board = Board {
            lanes: vec![
                lane("1 · A very long title that does not fit · EXECUTE"),
                lane("2 · B · PLAN"),
            ],
            more: 3,
            summary: "1 of 5 phases · 0.20 dollars of 20.00".to_owned(),
            ..Board::default()
        };
        let lines = board.lines(30);
        assert_eq!(lines.len(), 4);
        assert!(lines.iter().all(|line| line.chars().count() <= 30), "{lines:?}");
        assert!(lines[0].ends_with('…') && lines[2] == "  and 3 more", "{lines:?}");
        assert_eq!(lines[1], "      0s 2 · B · PLAN");
    }

    #[test]
    fn what_takes_two_columns_is_counted_twice() {
        let what = "1 · 로그인 버그를 고치고 테스트를 추가한다 · EXECUTE".to_owned();
        let board = Board {
            lanes: vec![Lane { what, since: Instant::now() }],
            more: 2,
            summary: "task 0/1 · 0.20달러".to_owned(),
            words: Words::in_lang(windlass_words::Lang::KOREAN),
            ..Board::default()
        };
        let lines = board.lines(30);
        assert!(lines.iter().all(|line| line.width() <= 30), "{lines:?}");
        assert!(lines[0].ends_with('…') && lines[0].width() >= 29, "{lines:?}");
        assert_eq!(lines[1], "  외 2개");
    }

    #[test]
    fn time_is_short_whatever_it_is() {
        let told = |seconds| elapsed(Duration::from_secs(seconds));
        assert_eq!([told(5), told(65), told(3_700)], ["    5s", " 1m05s", " 1h01m"]);
    }
}
