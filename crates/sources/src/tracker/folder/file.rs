//! An issue's file: front matter, what is to be done, and from the first line `## Comments` on what was said.
//!
//! It is a person's file. Whatever is changed in it changes that line or those lines; all others stay as they are, byte for
//! byte, with their order, comments, quotes and ends of lines.

use std::ops::Range;

use super::super::{Marker, State, marker::Form};
use super::front::{Front, KEYS, States, Wrong};
use super::time::is_rfc_3339;

/// The line that comments begin with.
const HEADING: &str = "## Comments";

/// What stands between who said something and when.
const AT: &str = " · ";

/// An issue's file, and where in it everything is.
#[derive(Clone, Debug)]
pub struct IssueFile<'a> {
    text: &'a str,
    /// What the front matter says.
    pub front: Front,
    /// The lines between `---` and `---`, if there are such lines.
    yaml: Option<Range<usize>>,
    body: Range<usize>,
    /// What follows the heading of the comments, if there is one.
    comments: Option<Range<usize>>,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Said {
    /// Who said it; nobody, if it does not say.
    pub author: String,
    /// When.
    pub at: String,
    /// What.
    pub text: String,
    /// Where, heading included.
    place: Range<usize>,
}

impl<'a> IssueFile<'a> {
    /// Looks at a file's text.
    pub fn parse(text: &'a str, states: &States) -> Result<Self, Wrong> {
        let top = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
        let mut yaml = None;
        let mut front = Front::default();
        let mut begin = top;
        if let Some(first) = lines(text, top).next().filter(|line| is_rule(text, line)) {
            let end = lines(text, first.end).find(|line| is_rule(text, line));
            let Some(end) = end else {
                return Err(Wrong::at(text, top, "the front matter has no end: a line `---`"));
            };
            front = Front::parse(&text[top..end.start], states)?;
            yaml = Some(first.end..end.start);
            begin = end.end;
        }
        let heading = lines(text, begin)
            .find(|line| text[line.clone()].trim_end().eq_ignore_ascii_case(HEADING));
        let body = begin..heading.as_ref().map_or(text.len(), |line| line.start);
        let comments = heading.map(|line| line.end..text.len());
        Ok(IssueFile { text, front, yaml, body, comments })
    }

    /// What is to be done.
    pub fn body(&self) -> &'a str {
        self.text[self.body.clone()].trim()
    }

    /// Everything that was said, in the order of the file. What `me` has said ends with its marker: what stands below, up to
    /// the next heading, was added by a person, and nobody knows by whom.
    pub fn comments(&self, me: &str) -> Vec<Said> {
        let Some(section) = self.comments.clone() else { return Vec::new() };
        let mut said: Vec<Said> = Vec::new();
        let mut is_whole = true;
        for place in lines(self.text, section.start) {
            let line = &self.text[place.clone()];
            if let Some((author, at)) = head(line) {
                is_whole = false;
                let (author, at) = (author.to_owned(), at.to_owned());
                said.push(Said { author, at, text: String::new(), place });
                continue;
            }
            match said.last_mut() {
                Some(last) if !is_whole || line.trim().is_empty() => {
                    let ends = !is_whole && last.author == me && Marker::of(line).is_some();
                    if ends {
                        // Without its own marker, a comment of ours has none: whatever it quotes stays quoted.
                        let quoted = |it: &str| Marker::of(it).is_some();
                        last.text = lines(&last.text, 0)
                            .map(|it| unescaped(&last.text[it], quoted))
                            .collect();
                    }
                    is_whole |= ends;
                    last.place.end = place.end;
                    last.text.push_str(unescaped(line, |it| head(it).is_some()));
                }
                None if line.trim().is_empty() => {}
                _ => {
                    is_whole = false;
                    let (author, at) = (String::new(), String::new());
                    said.push(Said { author, at, text: line.to_owned(), place });
                }
            }
        }
        for one in &mut said {
            one.text = one.text.replace("\r\n", "\n").trim().to_owned();
        }
        said
    }

    /// What is hardly meant as it stands: a key that nobody reads, several labels in one.
    pub fn doubts(&self) -> Vec<Wrong> {
        let Some(yaml) = self.yaml.clone() else { return Vec::new() };
        let doubt = |line: Range<usize>| {
            let (key, _) = self.text[line.clone()].split_once(':')?;
            let key = key.trim_end();
            let plain = key.to_lowercase();
            let what = match (plain.as_str(), self.front.labels.as_slice()) {
                ("labels", [one]) if key == plain && one.contains(',') => {
                    format!("`{one}` is one label: several are written `labels: [{one}]`")
                }
                ("label", []) => format!("`{key}` means nothing: it is written `labels`"),
                (known, _) if KEYS.contains(&known) && key != plain => {
                    format!("`{key}` means nothing: it is written `{plain}`")
                }
                _ => return None,
            };
            Some(Wrong::at(self.text, line.start, what))
        };
        let inside = lines(self.text, yaml.start).take_while(|line| line.start < yaml.end);
        inside.filter_map(doubt).collect()
    }

    /// The text with another state in it; nothing else is changed.
    pub fn with_state(&self, word: &str, states: &States) -> Result<String, Wrong> {
        let Some(yaml) = self.yaml.clone() else {
            let top = self.text.len() - self.text.trim_start_matches('\u{feff}').len();
            let end = self.newline();
            let front = format!("---{end}state: {}{end}---{end}", scalar(word, None));
            return Ok(format!("{}{front}{}", &self.text[..top], &self.text[top..]));
        };
        let found = lines(self.text, yaml.start)
            .take_while(|line| line.start < yaml.end)
            .find_map(|line| value(self.text, line));
        let (place, new) = match found {
            Some(place) => {
                let old = &self.text[place.clone()];
                let gap = if self.text[..place.start].ends_with(':') { " " } else { "" };
                (place, format!("{gap}{}", scalar(word, old.chars().next())))
            }
            None => {
                let line = format!("state: {}{}", scalar(word, None), self.newline());
                (yaml.end..yaml.end, line)
            }
        };
        let text = format!("{}{new}{}", &self.text[..place.start], &self.text[place.end..]);
        // Whatever YAML made of it before, it is to say the same now, and the new state.
        let expected = Front {
            state: states.of(word).map(|state| (state, word.to_owned())),
            ..self.front.clone()
        };
        match IssueFile::parse(&text, states) {
            Ok(file) if file.front == expected && file.body() == self.body() => Ok(text),
            _ => Err(Wrong::at(
                self.text,
                place.start,
                "the state cannot be changed here: give it a line of its own, `state: open`",
            )),
        }
    }

    /// The text with a comment more at its end; nothing above is changed.
    pub fn with_comment(&self, author: &str, at: &str, text: &str, marker: &Marker) -> String {
        let end = self.newline();
        let mut new = self.text.to_owned();
        if !new.is_empty() && !new.ends_with('\n') {
            new.push_str(end);
        }
        let blank = |new: &str| new.is_empty() || new.ends_with("\n\n") || new.ends_with("\n\r\n");
        if !blank(&new) {
            new.push_str(end);
        }
        if self.comments.is_none() {
            new.push_str(HEADING);
            new.push_str(end);
            new.push_str(end);
        }
        let author: String = author.split_whitespace().collect::<Vec<_>>().join(" ");
        new.push_str(&format!("### {author}{AT}{at}{end}{end}"));
        let marked = marker.below(text.trim_start(), Form::Hidden);
        let mut left = marked.lines().peekable();
        while let Some(line) = left.next() {
            let plain = line.trim_start_matches('\\');
            // The last line is the marker, and no other line is one.
            if head(plain).is_some() || left.peek().is_some() && Marker::of(plain).is_some() {
                new.push('\\');
            }
            new.push_str(line);
            new.push_str(end);
        }
        new
    }

    /// The text without some of its comments.
    pub fn without(&self, gone: &[&Said]) -> String {
        let mut text = self.text.to_owned();
        for said in gone.iter().rev() {
            text.replace_range(said.place.clone(), "");
        }
        text
    }

    /// How lines end here.
    fn newline(&self) -> &'static str {
        match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        }
    }

    /// Where it stands.
    pub fn state(&self) -> State {
        self.front.state.as_ref().map_or(State::Open, |(state, _)| *state)
    }
}

/// A new issue's file.
pub fn new_file(title: &str, label: &str, created: &str, body: &str, marker: &Marker) -> String {
    let title: String = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let labels = match label {
        "" => String::new(),
        label => format!("labels: [{}]\n", quoted(label)),
    };
    // A line that comments begin with would end the body.
    let body: String = body
        .lines()
        .map(|line| match line.trim_end().eq_ignore_ascii_case(HEADING) {
            true => format!("\\{line}\n"),
            false => format!("{line}\n"),
        })
        .collect();
    format!(
        "---\ntitle: {}\nstate: open\n{labels}created: {created}\n---\n\n{}\n",
        quoted(&title),
        marker.below(body.trim_start(), Form::Hidden)
    )
}

/// The lines of a text from an offset on, their ends included.
fn lines(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    text[from..].split_inclusive('\n').scan(from, |at, line| {
        let start = *at;
        *at += line.len();
        Some(start..*at)
    })
}

fn is_rule(text: &str, line: &Range<usize>) -> bool {
    text[line.clone()].trim_end() == "---"
}

/// Who said something and when, if a line is the head of a comment.
fn head(line: &str) -> Option<(&str, &str)> {
    let (author, at) = line.trim_end().strip_prefix("### ")?.rsplit_once(AT)?;
    is_rfc_3339(at).then_some((author.trim(), at))
}

/// What we wrote is read as it was meant: a head or a marker within a comment has a backslash before it.
fn unescaped(line: &str, is_special: impl Fn(&str) -> bool) -> &str {
    match line.strip_prefix('\\') {
        Some(rest) if is_special(rest.trim_start_matches('\\')) => rest,
        _ => line,
    }
}

/// Where the value stands, if a line of YAML says the state.
fn value(text: &str, line: Range<usize>) -> Option<Range<usize>> {
    let content = text[line.clone()].trim_end();
    let (key, _) = content.split_once(':')?;
    if !["state", "status"].contains(&key.trim_end().trim_matches(['"', '\''])) {
        return None;
    }
    let rest = &content[key.len() + 1..];
    let start = key.len() + 1 + (rest.len() - rest.trim_start().len());
    let value = &content[start..];
    let length = match value.chars().next() {
        None => return Some(line.start + key.len() + 1..line.start + key.len() + 1),
        Some('#') => {
            let at = line.start + key.len() + 1;
            return Some(at..at);
        }
        Some('"') => value[1..].find('"')? + 2,
        Some('\'') => value[1..].find('\'')? + 2,
        Some(_) => value.find(" #").map_or(value, |at| &value[..at]).trim_end().len(),
    };
    Some(line.start + start..line.start + start + length)
}

/// A word as YAML has it, in the quotes that were there before.
fn scalar(word: &str, quote: Option<char>) -> String {
    let plain = word.chars().next().is_some_and(char::is_alphabetic)
        && word.chars().all(|it| it.is_alphanumeric() || " _-".contains(it))
        && !["null", "true", "false", "yes", "no", "on", "off", "y", "n"]
            .contains(&word.to_lowercase().as_str());
    match quote {
        Some('\'') if !word.contains(['\'', '\n', '\r']) => format!("'{word}'"),
        Some('"') => quoted(word),
        _ if plain => word.to_owned(),
        _ => quoted(word),
    }
}

/// In double quotes, as JSON has it: that is YAML too.
fn quoted(word: &str) -> String {
    serde_json::Value::from(word).to_string()
}
