//! What is asked before a session begins, where somebody sits who can answer.

use std::io::{BufRead as _, IsTerminal as _, Write as _};

use windlass_words::Words;

use crate::error::Error;

/// Whether somebody is there to be asked.
pub fn somebody() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Answers that cannot be taken, before it is given up.
const TRIES: usize = 3;

/// A question with a few answers.
pub struct Choice<'a> {
    /// The message that asks.
    pub question: &'a str,
    /// What its options are called, and the messages that say what they are and what they are about.
    pub options: &'a [[&'a str; 3]],
    /// What the messages need.
    pub args: &'a [(&'a str, &'a str)],
    /// What is taken when nothing is said, or nothing that can be taken.
    pub usual: &'a str,
}

impl Choice<'_> {
    /// What may be answered.
    pub fn keys(&self) -> String {
        self.options.iter().map(|[key, ..]| *key).collect::<Vec<_>>().join(", ")
    }

    /// Asks; `other` says what else may be answered, and why something may not.
    pub fn ask(
        &self,
        words: Words,
        other: impl Fn(&str) -> Result<(), String>,
    ) -> Result<String, Error> {
        let Choice { question, options, args, usual } = self;
        let mut out = anstream::stderr();
        let mut text = format!("\n{}\n", words.say(question, args));
        for (number, [_, label, about]) in (1..).zip(*options) {
            let (label, about) = (words.say(label, args), words.say(about, args));
            text.push_str(&format!("  {number}. {label}  {about}\n"));
        }
        // Whether the question can be seen shows when it is answered.
        let _ = write!(out, "{text}");
        for _ in 0..TRIES {
            let _ = write!(out, "[{usual}] > ");
            let _ = out.flush();
            let Some(line) = line()? else { break };
            let chosen = match line.parse::<usize>() {
                Ok(number) => options.get(number.wrapping_sub(1)),
                Err(_) => options.iter().find(|[option, ..]| *option == line),
            };
            match chosen {
                _ if line.is_empty() => return Ok((*usual).to_owned()),
                Some([option, ..]) => return Ok((*option).to_owned()),
                None => match other(&line) {
                    Ok(()) => return Ok(line),
                    Err(why) => {
                        let said = words.say("ask-taken", &[("answer", &line), ("why", &why)]);
                        let _ = writeln!(out, "{said}");
                    }
                },
            }
        }
        let _ = writeln!(out, "{}", words.say("ask-given-up", &[("value", usual)]));
        Ok((*usual).to_owned())
    }
}

/// Asks for a line.
pub fn for_line(question: &str) -> Result<Option<String>, Error> {
    let mut out = anstream::stderr();
    let _ = write!(out, "{question} > ");
    let _ = out.flush();
    Ok(line()?.filter(|line| !line.is_empty()))
}

/// A line that somebody types; nothing, when the terminal is gone.
fn line() -> Result<Option<String>, Error> {
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line).map_err(Error::output)?;
    Ok((read > 0).then(|| line.trim().to_owned()))
}
