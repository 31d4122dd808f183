//! How somebody inside is told what to do, and how they say what they do.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use windlass_agents::own::{ERRAND, End, Errand, Said};

/// The errand in a home.
pub(crate) fn errand(home: &Path) -> Result<Errand, String> {
    let path = home.join(ERRAND);
    let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Tells what is done, a line for each thing.
pub struct Teller<'a> {
    out: &'a mut (dyn Write + Send),
}

impl<'a> Teller<'a> {
    /// To whoever reads this.
    pub fn new(out: &'a mut (dyn Write + Send)) -> Self {
        Teller { out }
    }

    /// One thing.
    ///
    /// # Errors
    ///
    /// When nobody listens any more.
    pub fn say(&mut self, said: &Said) -> io::Result<()> {
        let mut line = serde_json::to_vec(said)?;
        line.push(b'\n');
        self.out.write_all(&line)?;
        self.out.flush()
    }

    /// Nothing that anybody needs to know, but it is not idle: a line without a word.
    pub(crate) fn breathe(&mut self) -> io::Result<()> {
        self.out.write_all(b"\n")?;
        self.out.flush()
    }

    pub(crate) fn end(&mut self, end: End) -> io::Result<()> {
        self.say(&Said::End(end))
    }
}
