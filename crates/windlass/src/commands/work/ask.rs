//! What is asked before work begins, where somebody sits who can answer: about stale markers, and how far to go.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use windlass_sources::plans::Plans;

use crate::error::Error;
use crate::face::Tone;
use crate::past;
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

/// What to do about stale markers.
pub fn sync_first() -> Error {
    Error::usage("Run `windlass plan sync` first to resolve marker drift")
        .hint("windlass plan sync; nothing was started")
}

/// Shows markers that are stale, and asks whether to go on all the same. Whether that was asked, and is settled.
pub fn about_drift(held: &Held, plans: Option<&Plans>) -> Result<bool, Error> {
    let Some(plans) = plans else { return Ok(false) };
    let stale = past::stale(&held.repository, plans)?;
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
    Err(sync_first())
}

/// What somebody answers who is asked how far to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// These rows.
    Targets(String),
    /// Tasks that have no row yet, one each.
    Tasks(Vec<String>),
}

/// What asks for something to be done, at the beginning of a sentence.
const VERBS: [&str; 12] = [
    "add",
    "build",
    "create",
    "document",
    "fix",
    "implement",
    "refactor",
    "remove",
    "rename",
    "replace",
    "support",
    "write",
];

/// The tasks that an answer names: each of its sentences begins with such a verb, or none of it is one.
fn tasks(said: &str) -> Option<Vec<String>> {
    let sentences = said.split(['\n', ';']).flat_map(|line| line.split(". "));
    let sentences = sentences.map(|it| it.trim().trim_end_matches(['.', '!']).trim().to_owned());
    let sentences: Vec<String> = sentences.filter(|it| !it.is_empty()).collect();
    let asks = |sentence: &String| {
        let (verb, what) = sentence.split_once(' ').unwrap_or((sentence, ""));
        VERBS.contains(&verb.to_lowercase().as_str()) && !what.trim().is_empty()
    };
    (!sentences.is_empty() && sentences.iter().all(asks)).then_some(sentences)
}

/// How far to go.
pub fn how_far() -> Result<Wanted, Error> {
    let mut question = HOW_FAR.to_owned();
    for _ in 0..TRIES {
        let Some(said) = line(&question)? else { break };
        match said.as_str() {
            "1" => return Ok(Wanted::Targets("next".to_owned())),
            "" | "2" => return Ok(Wanted::Targets("all".to_owned())),
            "3" => {
                if let Some(numbers) = line("Task numbers")?.filter(|said| !said.is_empty()) {
                    return Ok(tasks(&numbers).map_or(Wanted::Targets(numbers), Wanted::Tasks));
                }
            }
            said => match tasks(said) {
                Some(tasks) => return Ok(Wanted::Tasks(tasks)),
                None => question = "1, 2 or 3".to_owned(),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_begins_with_a_verb_is_a_task() {
        let one = |said: &str| tasks(said).map(|all| all.join(" | "));
        for (said, want) in [
            ("Add an export of 3-5 rows", "Add an export of 3-5 rows"),
            ("fix the login. Implement 2.1 as well!", "fix the login | Implement 2.1 as well"),
            ("write docs; remove the old ones;", "write docs | remove the old ones"),
        ] {
            assert_eq!(one(said).as_deref(), Some(want));
        }
        for said in [
            "3, 5-7",
            "all",
            "next",
            "add",
            "addition of rows",
            "26.1.fix",
            "no",
            "Add a row. That is all",
            "",
        ] {
            assert_eq!(one(said), None, "{said}");
        }
    }
}
