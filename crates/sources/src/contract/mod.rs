//! A validation contract: what is claimed, each claim an assertion with an id, and how it is checked (docs/formats.md).
//!
//! ```markdown
//! - VAL-AUTH-001: A user can log in with valid credentials
//!   - claim: Login
//!   - http: GET /login → 200 "Sign in"
//!   - ui: open /login; type #name "ada"; click #go; see "Welcome"; shot welcome
//! ```
//!
//! It is read line by line, for a person or an agent wrote it: what stands in code blocks and comments is no assertion, what
//! is not understood is a [`Flaw`] with its line, and everything else is prose. A contract with flaws can still be used: a way
//! of checking that is not understood is the validator's to judge, so nothing passes because of a slip of the pen.

mod how;
mod vague;

pub use how::{FileWant, How, Step, Target};

/// A validation contract.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contract {
    /// Its assertions, from top to bottom; the first of those with one id.
    pub assertions: Vec<Assertion>,
    /// What is wrong with it, from top to bottom.
    pub flaws: Vec<Flaw>,
}

/// Something that is either so or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assertion {
    /// Its id, such as `VAL-AUTH-001`.
    pub id: String,
    /// What it says.
    pub text: String,
    /// The claim that it is about, if it repeats it.
    pub claim: Option<String>,
    /// Its line, from 1.
    pub line: usize,
    /// How it is checked; nothing if the validator judges by its text alone.
    pub how: Vec<How>,
}

impl Assertion {
    /// Whether Windlass itself can see if any of it is so.
    pub fn is_mechanical(&self) -> bool {
        self.how.iter().any(How::is_mechanical)
    }
}

/// What is wrong with a contract.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}")]
pub struct Flaw {
    /// Where, from 1.
    pub line: usize,
    /// What, and what to write instead.
    pub what: String,
}

/// What is there before an assertion's id is spelt out.
const PREFIX: &str = "VAL-";

impl Contract {
    /// Reads a contract. What is none has no assertions.
    pub fn parse(text: &str) -> Self {
        let mut reading = Reading::default();
        for (at, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            reading.line(at + 1, line);
        }
        reading.finish()
    }

    /// The assertion with an id; capitals do not matter.
    pub fn get(&self, id: &str) -> Option<&Assertion> {
        self.assertions.iter().find(|assertion| assertion.id.eq_ignore_ascii_case(id))
    }

    /// The assertions that a claim of a feature means: those whose ids it names, or else those with its words as their text or
    /// their claim. A claim that names an id which is not there means none.
    pub fn matching(&self, claim: &str) -> Vec<&Assertion> {
        let ids = ids_in(claim);
        let same = |text: &str| plain(text) == plain(claim) && !plain(claim).is_empty();
        let meant = |assertion: &&Assertion| {
            if ids.is_empty() {
                same(&assertion.text) || assertion.claim.as_deref().is_some_and(same)
            } else {
                ids.iter().any(|id| assertion.id.eq_ignore_ascii_case(id))
            }
        };
        self.assertions.iter().filter(meant).collect()
    }
}

/// The ids that a text names, in order.
pub fn ids_in(text: &str) -> Vec<&str> {
    let part = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let words = text.split(|letter: char| !part(letter)).map(|word| word.trim_end_matches('-'));
    words.filter(|word| is_id(word)).collect()
}

fn is_id(word: &str) -> bool {
    let known = word.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX));
    known && word.bytes().last().is_some_and(|last| last != b'-')
}

/// A text without what does not change its meaning: marks, capitals, spaces, the stop at its end.
fn plain(text: &str) -> String {
    let text = text.replace(['*', '`', '_'], "").to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").trim_end_matches(['.', '!', ';']).to_owned()
}

/// A contract while it is read.
#[derive(Default)]
struct Reading {
    contract: Contract,
    /// The assertion that lines belong to.
    open: Option<Assertion>,
    /// The line of how it is checked that may go on.
    pending: Option<Pending>,
    /// What ends the code block that is being read.
    fence: Option<String>,
    /// Whether a comment is being read.
    comment: bool,
    /// Whether what is not indented still belongs to the text.
    flowing: bool,
}

/// A line of how an assertion is checked, with those that go on with it.
struct Pending {
    line: usize,
    indent: usize,
    key: &'static str,
    value: String,
}

impl Reading {
    fn line(&mut self, number: usize, line: &str) {
        let trimmed = line.trim();
        if let Some(fence) = &self.fence {
            if trimmed.starts_with(fence.as_str()) && trimmed.trim_matches(['`', '~']).is_empty() {
                self.fence = None;
            } else if let Some(pending) = &mut self.pending
                && pending.key == "command"
            {
                pending.value.push_str(line.trim());
                pending.value.push('\n');
            }
            return;
        }
        if self.comment || trimmed.starts_with("<!--") {
            self.comment = !trimmed.contains("-->");
            return;
        }
        if let Some(fence) = fence(trimmed) {
            // A command may be written as a block, if nothing of it is there yet.
            if self.pending.as_ref().is_some_and(|it| !it.value.is_empty()) {
                self.settle();
            }
            self.fence = Some(fence);
            return;
        }
        if trimmed.is_empty() || trimmed.starts_with('>') {
            self.flowing = false;
            return;
        }
        let (marked, rest) = unmarked(trimmed);
        if let Some((id, text)) = assertion(rest, marked) {
            self.begin(number, id, text);
        } else if trimmed.starts_with('#') {
            self.end();
        } else {
            self.below(number, indent(line), marked, rest);
        }
    }

    fn begin(&mut self, line: usize, id: &str, text: &str) {
        self.end();
        let text = text.trim().to_owned();
        let assertion = Assertion { id: id.to_owned(), text, claim: None, line, how: Vec::new() };
        self.open = Some(assertion);
        self.flowing = true;
    }

    /// A line below an assertion: how it is checked, more of what is being said, or prose.
    fn below(&mut self, line: usize, indent: usize, marked: bool, rest: &str) {
        if self.open.is_none() {
            return;
        }
        match how::key_of(rest) {
            Some((how::Key::Known(key), value)) => {
                self.settle();
                self.flowing = false;
                let value = value.to_owned();
                self.pending = Some(Pending { line, indent, key, value });
            }
            // A label that resembles one of ours is a slip; any other is the writer's own, and goes to the validator.
            Some((how::Key::Like(key), _)) if indent > 0 || marked => {
                self.settle();
                self.flaw(line, format!("`{rest}` is no way of checking: did you mean `{key}:`?"));
                self.judged(rest);
            }
            _ => self.more(indent, marked, rest),
        }
    }

    /// A line without a label of ours.
    fn more(&mut self, indent: usize, marked: bool, rest: &str) {
        if let Some(pending) = &mut self.pending
            && indent > pending.indent
        {
            let between = match (pending.value.is_empty(), marked && pending.key == "ui") {
                (true, _) => "",
                (false, true) => "; ",
                (false, false) => " ",
            };
            pending.value.push_str(between);
            pending.value.push_str(rest);
        } else if marked && indent > 0 {
            self.settle();
            self.flowing = false;
            self.judged(rest);
        } else if !marked && (self.flowing || indent > 0) && self.pending.is_none() {
            if let Some(open) = &mut self.open {
                let between = if open.text.is_empty() { "" } else { " " };
                open.text.push_str(between);
                open.text.push_str(rest);
            }
        } else {
            // Prose between assertions.
            self.end();
        }
    }

    fn judged(&mut self, text: &str) {
        if let Some(open) = &mut self.open {
            open.how.push(How::Review(text.to_owned()));
        }
    }

    /// The line of how an assertion is checked is whole.
    fn settle(&mut self) {
        let Some(Pending { line, key, value, .. }) = self.pending.take() else { return };
        let value = value.trim();
        if key == "claim" {
            if let Some(open) = &mut self.open {
                open.claim = Some(how::unquoted(value)).filter(|claim| !claim.is_empty());
            }
            return;
        }
        match How::parse(key, value) {
            Ok(how) => {
                if let Some(open) = &mut self.open {
                    open.how.push(how);
                }
            }
            Err(what) => {
                self.flaw(line, what);
                self.judged(&format!("{key}: {value}"));
            }
        }
    }

    /// An assertion is whole.
    fn end(&mut self) {
        self.settle();
        self.flowing = false;
        let Some(mut open) = self.open.take() else { return };
        open.text = open.text.trim_matches('*').trim().to_owned();
        let Assertion { id, line, .. } = &open;
        if let Some(twin) = self.contract.get(id) {
            let what =
                format!("{id} is there twice, as on line {}: give one another id", twin.line);
            return self.flaw(*line, what);
        }
        if open.text.is_empty() {
            self.flaw(*line, format!("{id} says nothing: write `{id}: what is to be so`"));
        } else if let Some(word) = vague::word_in(&open.text)
            && !open.is_mechanical()
        {
            let what = format!(
                "{id} says `{word}`, which nobody can check: say what is to be seen, or add a `command:`, `file:`, `http:` or `ui:`"
            );
            self.flaw(*line, what);
        }
        self.contract.assertions.push(open);
    }

    fn flaw(&mut self, line: usize, what: String) {
        self.contract.flaws.push(Flaw { line, what });
    }

    fn finish(mut self) -> Contract {
        self.end();
        self.contract.flaws.sort_by_key(|flaw| flaw.line);
        self.contract
    }
}

/// What ends the code block that a line begins, if it begins one.
fn fence(trimmed: &str) -> Option<String> {
    let mark = trimmed.chars().next().filter(|mark| *mark == '`' || *mark == '~')?;
    let length = trimmed.chars().take_while(|letter| *letter == mark).count();
    // One that is closed on its own line is code within a line.
    (length >= 3 && !trimmed[length..].contains(mark)).then(|| mark.to_string().repeat(length))
}

/// How far in a line begins; a tab is worth four.
fn indent(line: &str) -> usize {
    let blank = line.chars().take_while(|letter| matches!(letter, ' ' | '\t'));
    blank.map(|letter| if letter == '\t' { 4 } else { 1 }).sum()
}

/// A line without what makes it a heading, an item of a list or one with a box, and whether there was any of it.
fn unmarked(line: &str) -> (bool, &str) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = if digits > 0 && digits < 10 {
        line[digits..].strip_prefix(['.', ')']).filter(|rest| rest.starts_with([' ', '\t']))
    } else if line.starts_with('#') {
        Some(line.trim_start_matches('#')).filter(|rest| rest.starts_with([' ', '\t']))
    } else {
        line.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with([' ', '\t']))
    };
    let Some(rest) = rest.map(str::trim_start) else { return (false, line) };
    let boxes = ["[ ]", "[x]", "[X]"];
    let unboxed =
        boxes.iter().find_map(|mark| rest.strip_prefix(mark)).map_or(rest, str::trim_start);
    (true, unboxed)
}

/// The id and the text of a line that is an assertion: `VAL-A-1: text`, with marks around the id as people put them.
fn assertion(line: &str, marked: bool) -> Option<(&str, &str)> {
    let bare = line.trim_start_matches(['*', '_', '`', '[']);
    let end = bare
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'));
    let (id, rest) = bare.split_at(end.unwrap_or(bare.len()));
    // A mark of emphasis may stand right behind it.
    let id = id.trim_end_matches(['-', '_']);
    let rest = if rest.is_empty() { rest } else { &bare[id.len()..] };
    if !is_id(id) {
        return None;
    }
    let after = rest.trim_start_matches(['*', '_', '`', ']']);
    let closed = after.len() < rest.len();
    let after = after.trim_start();
    let text = after.trim_start_matches([':', '-', '–', '—']);
    let parted = text.len() < after.len() || after.is_empty();
    // Prose may begin with an id; what is an item, a heading or set off is meant as an assertion.
    (parted || marked || closed).then(|| (id, text.trim_start_matches(['*', '_', ' ', '\t'])))
}

#[cfg(test)]
mod tests;
