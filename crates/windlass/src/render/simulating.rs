//! How far `simulate --runs` has come: on a terminal's standard error, and nowhere else. What a run for real shows while
//! it goes on is `live.rs` and `telling.rs`.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// What takes less than this needs no progress.
const PATIENCE: Duration = Duration::from_millis(500);
const BETWEEN: Duration = Duration::from_millis(100);

pub struct Progress {
    total: u64,
    started: Instant,
    drawn: Option<Instant>,
    watched: bool,
}

impl Progress {
    pub fn of(total: u64) -> Self {
        let watched = std::io::stderr().is_terminal();
        Self { total, started: Instant::now(), drawn: None, watched }
    }

    pub fn advance(&mut self, done: u64) {
        let due = match self.drawn {
            Some(last) => last.elapsed() >= BETWEEN,
            None => self.started.elapsed() >= PATIENCE,
        };
        if !self.watched || !due {
            return;
        }
        self.drawn = Some(Instant::now());
        let rate = done as f64 / self.started.elapsed().as_secs_f64();
        // Progress that nobody can see is no loss.
        let _ =
            write!(std::io::stderr(), "\r{done} of {} runs, {rate:.0} a second\x1b[K", self.total);
    }

    /// Takes the line away again.
    pub fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}
