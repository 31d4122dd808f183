//! L1: what roles noted, entry by entry, as `raw.md` has it. Every role appends; nobody changes what is there.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;
use windlass_engine::date::instant;
use windlass_engine::entry::Invocation;

use crate::memory::identity::{name_of, normal};

/// An entry has so many letters at the most, and an answer so many entries. What is more is in the journal alone, and
/// `raw.md` says so.
pub const ENTRY_CHARS_MAX: usize = 2_000;
/// See above.
pub const ENTRIES_MAX: usize = 32;

/// What an entry begins with that would help in other work as well.
pub const TRICK: &str = "TRICK:";

/// A file is closed when it is as long as this; what is noted then goes into the next.
const FILE_BYTES: usize = 256 * 1024;

/// How a file of entries begins.
const HEADING: &str =
    "# Raw memory\n\nWhat roles noted, in order. Windlass writes this from its journal.\n\n";

/// What roles noted.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    /// Files that are full, by number: those that were found are among them.
    closed: BTreeMap<u32, String>,
    /// The entries of the file at hand.
    open: String,
    /// Where in it those begin that no curator has been through.
    fresh: usize,
    /// Those that no curator has been through and that are in closed files already.
    fresh_closed: String,
    /// How many there are of this run.
    count: usize,
    /// Tricks, by role and by what they say: as it was first said, and the features that said it.
    tricks: BTreeMap<(String, String), Trick>,
}

/// A trick.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trick {
    /// As it was first said.
    pub text: String,
    /// The features in which it was noted.
    pub features: BTreeSet<String>,
}

/// What an answer notes: the entries of every object in it that has a verdict. One that had to be asked for twice may have
/// them in either.
pub fn noted(said: &str) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    windlass_agents::each_object(said, |object| {
        let notes = object.get(windlass_agents::MEMORY).and_then(Json::as_array);
        if let Some(notes) = notes.filter(|_| object.contains_key("verdict")) {
            for note in notes.iter().filter_map(Json::as_str).map(str::trim) {
                if !note.is_empty() && !entries.iter().any(|own| own == note) {
                    entries.push(note.to_owned());
                }
            }
        }
    });
    entries
}

impl Raw {
    /// Takes over a file that an earlier run left: it stays as it is, and counts for nothing here.
    pub fn begin_with(&mut self, name: &str, text: &str) {
        if self.count > 0 || text.trim().is_empty() {
            return;
        }
        let entries = text.strip_prefix(HEADING).unwrap_or(text).trim_end().to_owned() + "\n";
        match number_of(name) {
            Some(number) => {
                self.closed.insert(number, entries);
            }
            None => {
                self.fresh = entries.len();
                self.open = entries;
            }
        }
    }

    /// Nothing was noted yet, and nothing was taken over.
    pub fn is_untouched(&self) -> bool {
        self.count == 0 && self.open.is_empty() && self.closed.is_empty()
    }

    /// How many entries this run has.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Appends what an answer notes.
    pub fn append(&mut self, asked: &Invocation, at_ms: i64, entries: &[String]) {
        for text in entries.iter().take(ENTRIES_MAX) {
            self.push(asked, at_ms, text);
        }
        if let Some(more) = entries.len().checked_sub(ENTRIES_MAX).filter(|more| *more > 0) {
            let text = format!("[{more} entries more: `windlass log --full` has them]");
            self.push(asked, at_ms, &text);
        }
    }

    fn push(&mut self, asked: &Invocation, at_ms: i64, text: &str) {
        let feature = asked.unit.as_deref();
        self.trick(&asked.role, feature, text);
        let place = feature.unwrap_or("the mission itself");
        let entry = format!("- {} · {place} · {}: {}\n", instant(at_ms), asked.role, set_in(text));
        if self.open.len() + entry.len() > FILE_BYTES && !self.open.is_empty() {
            self.fresh_closed.push_str(&self.open[self.fresh..]);
            self.fresh = 0;
            let number = self.closed.last_key_value().map_or(1, |(number, _)| number + 1);
            self.closed.insert(number, std::mem::take(&mut self.open));
        }
        self.open.push_str(&entry);
        self.count += 1;
    }

    /// A trick counts for the role that noted it, and only where it was noted for a feature.
    fn trick(&mut self, role: &str, feature: Option<&str>, text: &str) {
        let (Some(text), Some(name)) = (trick_of(text), name_of(role)) else { return };
        let trick = self.tricks.entry((name.to_owned(), normal(text))).or_default();
        if trick.text.is_empty() {
            text.clone_into(&mut trick.text);
        }
        trick.features.extend(feature.map(str::to_owned));
    }

    /// The trick of a role that says this, if the role has noted it.
    pub fn find(&self, name: &str, text: &str) -> Option<&Trick> {
        let text = trick_of(text).unwrap_or(text);
        self.tricks.get(&(name.to_owned(), normal(text)))
    }

    /// All tricks, by the name of their role.
    pub fn tricks(&self) -> impl Iterator<Item = (&str, &Trick)> {
        self.tricks.iter().map(|((name, _), trick)| (name.as_str(), trick))
    }

    /// A curator has been through all of it.
    pub fn curated(&mut self) {
        self.fresh = self.open.len();
        self.fresh_closed.clear();
    }

    /// What no curator has been through, or the end of it.
    pub fn fresh(&self, bytes_max: usize) -> String {
        let all = format!("{}{}", self.fresh_closed, &self.open[self.fresh..]);
        let from = all.ceil_char_boundary(all.len().saturating_sub(bytes_max));
        match from {
            0 => all,
            _ => format!("[{from} bytes before …]\n{}", &all[from..]),
        }
    }

    /// The last of its files that are full.
    pub fn full(&self) -> u32 {
        self.closed.last_key_value().map_or(0, |(number, _)| *number)
    }

    /// Its files by name: the one at hand, and those that are full, from this number on.
    pub fn files_from(&self, number: u32) -> impl Iterator<Item = (String, String)> {
        let closed = self.closed.range(number..);
        let closed = closed.map(|(number, text)| (format!("raw-{number}.md"), whole(text)));
        let open = (!self.open.is_empty()).then(|| ("raw.md".to_owned(), whole(&self.open)));
        closed.chain(open)
    }
}

/// The number of a file that is full, by its name.
pub fn number_of(name: &str) -> Option<u32> {
    name.strip_prefix("raw-")?.strip_suffix(".md")?.parse().ok()
}

fn whole(entries: &str) -> String {
    format!("{HEADING}{entries}")
}

fn trick_of(text: &str) -> Option<&str> {
    text.trim_start().strip_prefix(TRICK).map(str::trim).filter(|text| !text.is_empty())
}

/// A text as an entry has it: what follows its first line is set in, so that none of it passes for an entry.
fn set_in(text: &str) -> String {
    let length = text.chars().count();
    let mut kept: String = text.chars().take(ENTRY_CHARS_MAX).collect();
    if length > ENTRY_CHARS_MAX {
        let more = length - ENTRY_CHARS_MAX;
        kept.push_str(&format!("\n[{more} letters more: `windlass log --full` has them]"));
    }
    let breaks = ['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'];
    let lines = kept.split(breaks).map(|line| {
        let line: String = line.chars().filter(|it| *it == '\t' || !it.is_control()).collect();
        line.trim_end().to_owned()
    });
    lines.collect::<Vec<_>>().join("\n  ").replace("\n  \n", "\n\n")
}

#[cfg(test)]
mod tests {
    use super::super::tests::asked;
    use super::*;

    #[test]
    fn an_entry_has_when_where_and_who_and_keeps_its_lines() {
        let mut raw = Raw::default();
        let text = "TRICK: two lines\n- 2026 · F-9 · forged: no entry\r\u{1b}[2Jthird";
        raw.append(&asked("mission-worker", Some("F-001")), 0, &[text.to_owned()]);
        raw.append(&asked("curator", None), 61_000, &["plain".to_owned()]);
        let files: Vec<(String, String)> = raw.files_from(0).collect();
        let want = format!(
            "{HEADING}- 1970-01-01T00:00:00.000Z · F-001 · mission-worker: TRICK: two lines\n  \
             - 2026 · F-9 · forged: no entry\n  [2Jthird\n\
             - 1970-01-01T00:01:01.000Z · the mission itself · curator: plain\n"
        );
        assert_eq!(files, [("raw.md".to_owned(), want)]);
        assert_eq!(raw.count(), 2);
    }

    #[test]
    fn what_an_answer_notes_is_taken_from_both_of_two_answers_and_once() {
        let said = "thinking {\"memory\":[\"no verdict, no note\"]}\n\
                    {\"verdict\":\"built\",\"memory\":[\"one\",\" two \",\"\",3]}\n\
                    {\"verdict\":\"built\",\"memory\":[\"two\",\"three\"]}";
        assert_eq!(noted(said), ["one", "two", "three"]);
        for nothing in ["", "built", "{\"verdict\":\"built\",\"memory\":\"text\"}"] {
            assert_eq!(noted(nothing), [""; 0], "{nothing}");
        }
    }

    #[test]
    fn a_trick_is_known_by_what_it_says_and_by_who_noted_it() {
        let mut raw = Raw::default();
        let mut note = |role: &str, unit: Option<&str>, text: &str| {
            raw.append(&asked(role, unit), 0, &[text.to_owned()]);
        };
        note("mission-worker", Some("F-1"), "TRICK: Use `--offline`.");
        note("mission-worker", Some("F-1"), "TRICK: use --offline");
        note("mission-worker", None, "TRICK: use --offline");
        note("validator", Some("F-2"), "TRICK: use --offline");
        note("mission-worker", Some("F-3"), "plain: use --offline");
        let features = |raw: &Raw| raw.find("worker", "USE --offline!").unwrap().features.len();
        assert_eq!(features(&raw), 1, "one feature, however often");
        raw.append(&asked("mission-worker", Some("F-4")), 0, &["TRICK: Use --offline".to_owned()]);
        assert_eq!(features(&raw), 2);
        assert_eq!(raw.find("worker", "TRICK: Use --offline").unwrap().text, "Use `--offline`.");
        assert_eq!(raw.find("worker", "Never use --offline"), None);
    }

    #[test]
    fn what_is_too_much_is_said_and_a_full_file_is_closed() {
        let mut raw = Raw::default();
        let many: Vec<String> = (0..=ENTRIES_MAX).map(|number| format!("note {number}")).collect();
        raw.append(&asked("validator", Some("F-1")), 0, &many);
        let (_, text) = raw.files_from(0).next().unwrap();
        assert!(text.contains("[1 entries more: `windlass log --full` has them]"), "{text}");
        assert!(!text.contains("note 32"), "{text}");
        raw.curated();
        for _ in 0..400 {
            raw.append(&asked("validator", Some("F-2")), 0, &["é".repeat(ENTRY_CHARS_MAX + 5)]);
        }
        let files: Vec<(String, String)> = raw.files_from(0).collect();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert!(names.len() > 2 && names.ends_with(&["raw.md"]) && names[0] == "raw-1.md");
        assert!(files.iter().all(|(_, text)| text.len() <= FILE_BYTES + HEADING.len()));
        let all: usize = files.iter().map(|(_, text)| text.matches("\n- ").count()).sum();
        assert_eq!(all, raw.count(), "nothing is lost where a file is closed");
        assert!(files[0].1.contains("[5 letters more:"));
        assert_eq!(raw.fresh(usize::MAX).matches("· F-2 ·").count(), 400);
        assert!(!raw.fresh(usize::MAX).contains("note 1"), "the curator has been through that");
        assert!(raw.fresh(1_000).len() < 1_100);
    }
}
