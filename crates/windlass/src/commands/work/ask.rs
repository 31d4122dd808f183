//! What is asked before work begins, where somebody sits who can answer: about stale markers, and how far to go.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use windlass_sources::plans::{Commit, Plans, drift};

use crate::error::Error;
use crate::face::Tone;
use crate::workplace::Held;

/// The dialog, as the seed has it.
const HOW_FAR: &str = "
How far do you want to go?
  1) Next task: The next incomplete task in Plans.md → Execute in Solo mode
  2) All (recommended): Complete all remaining tasks → Auto-select mode based on task count
  3) Specify numbers: Enter task numbers (e.g., 3, 5-7) → Auto-select mode based on count
";

/// Answers that cannot be taken, before it is given up.
const TRIES: usize = 3;

/// Whether somebody is there to be asked.
pub fn somebody(tone: Tone) -> bool {
    tone != Tone::Json && std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Shows markers that are stale, and asks whether to go on all the same. Whether that was asked, and is settled.
pub fn about_drift(held: &Held, plans: Option<&Plans>) -> Result<bool, Error> {
    let Some(plans) = plans else { return Ok(false) };
    let past = held.repository.past()?.into_iter();
    let commits: Vec<Commit> =
        past.map(|(oid, subject)| Commit { hash: oid.to_string(), subject }).collect();
    let stale = drift(plans.rows(), &commits);
    if stale.is_empty() {
        return Ok(false);
    }
    let mut text = String::from("\n");
    for stale in &stale {
        text.push_str(&format!("  {stale}\n"));
    }
    text.push_str("Stale markers detected. Proceed anyway? (y/N) [default: N]");
    let said = line(&text)?.unwrap_or_default().to_lowercase();
    if ["y", "yes"].contains(&said.as_str()) {
        return Ok(true);
    }
    Err(Error::usage("Run `windlass plan sync` first to resolve marker drift")
        .hint("windlass plan sync; nothing was started"))
}

/// How far to go, as targets.
pub fn how_far() -> Result<String, Error> {
    let mut question = HOW_FAR.to_owned();
    for _ in 0..TRIES {
        let Some(said) = line(&question)? else { break };
        match said.as_str() {
            "1" => return Ok("next".to_owned()),
            "" | "2" => return Ok("all".to_owned()),
            "3" => {
                if let Some(numbers) = line("Task numbers")?.filter(|said| !said.is_empty()) {
                    return Ok(numbers);
                }
            }
            _ => question = "1, 2 or 3".to_owned(),
        }
    }
    Err(Error::usage("nothing was chosen")
        .hint("`windlass work all` takes every task; nothing was started"))
}

/// Asks for a line; nothing, when the terminal is gone.
fn line(question: &str) -> Result<Option<String>, Error> {
    let mut out = anstream::stderr();
    // Whether the question can be seen shows when it is answered.
    let _ = write!(out, "{question} > ");
    let _ = out.flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).map_err(Error::output)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
