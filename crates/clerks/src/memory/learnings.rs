//! Learnings: what was found out, in entries with tags; the session's own, and the project's.
//!
//! An entry is an item of a list with its tags, `- [skill:…] [outcome:…] text`, under a heading with its date.

use std::collections::BTreeMap;

/// The project's.
pub const PATH: &str = ".harness/learnings.md";
/// Where old ones go.
pub const ARCHIVE: &str = ".harness/learnings-archive";
/// The heading of the file.
pub(crate) const HEADING: &str = "Learnings";
/// With more entries than this, pruning is suggested.
pub const MANY: usize = 30;
/// So many are left by pruning.
pub(crate) const KEPT: usize = 20;
/// Outcomes that matter beyond the session.
const GENERAL: [&str; 3] = ["gotcha", "decision", "observation"];
/// A pattern is what so many entries have in common.
const PATTERN: usize = 3;

/// An entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The day, if its heading or its text says.
    pub date: Option<String>,
    /// The heading that it stands under.
    pub heading: Option<String>,
    /// All of it, as it stands there.
    pub text: String,
}

impl Entry {
    /// The words after `[name:`.
    pub fn tags(&self, name: &str) -> Vec<&str> {
        let open = format!("[{name}:");
        let mut tags = Vec::new();
        let mut rest = self.text.as_str();
        while let Some(at) = rest.find(&open) {
            rest = &rest[at + open.len()..];
            tags.extend(rest.find(']').map(|end| rest[..end].trim()));
        }
        tags
    }

    /// Whether it matters beyond its session.
    pub(crate) fn is_general(&self) -> bool {
        self.tags("outcome").iter().any(|outcome| GENERAL.contains(outcome))
    }
}

/// The entries of a file, from top to bottom.
pub fn parse(text: &str) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let (mut heading, mut fenced, mut open) = (None::<String>, false, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if !fenced && line.starts_with('#') {
            let said = line.trim_start_matches('#').trim();
            heading = (line.starts_with("## ")).then(|| said.to_owned());
            open = false;
        } else if !fenced && (line.starts_with("- ") || line.starts_with("* ")) {
            let dated = heading.as_deref().and_then(day).or_else(|| day(line));
            entries.push(Entry { date: dated, heading: heading.clone(), text: line.to_owned() });
            open = true;
        } else if open
            && let Some(entry) = entries.last_mut()
            && (line.starts_with(' ') || line.starts_with('\t') || fenced)
        {
            entry.text.push('\n');
            entry.text.push_str(line);
        } else if !line.trim().is_empty() {
            open = false;
        }
    }
    entries
}

/// The first `2026-03-19` in a text.
fn day(text: &str) -> Option<String> {
    let digit = |byte: u8| byte.is_ascii_digit();
    let is_day = |window: &[u8]| {
        window.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => digit(*byte),
        })
    };
    let at = text.as_bytes().windows(10).position(is_day)?;
    text.get(at..at + 10).map(str::to_owned)
}

/// What is left of a file, what goes into the archive, and what its entries have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The file from now on.
    pub text: String,
    /// What is archived, by month, as blocks.
    pub archived: BTreeMap<String, Vec<String>>,
    /// How many entries were archived.
    pub count: usize,
    /// How many are left.
    pub kept: usize,
    /// Tags that several entries have, and how many.
    pub patterns: Vec<(String, usize)>,
}

/// Prunes a file: the newest [`KEPT`] entries stay, the others go into the archive of their month. What is no entry
/// stays where it is.
pub fn prune(text: &str, today: &str) -> Pruned {
    let entries = parse(text);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for entry in &entries {
        for name in ["skill", "outcome"] {
            for tag in entry.tags(name) {
                *counts.entry(format!("{name}:{tag}")).or_default() += 1;
            }
        }
    }
    let mut patterns: Vec<(String, usize)> =
        counts.into_iter().filter(|(_, count)| *count >= PATTERN).collect();
    patterns.sort_by(|one, two| two.1.cmp(&one.1).then_with(|| one.0.cmp(&two.0)));
    let mut newest: Vec<usize> = (0..entries.len()).collect();
    // Later entries are newer than earlier ones of the same day.
    newest.sort_by_key(|at| std::cmp::Reverse((entries[*at].date.clone(), *at)));
    let mut pruned = Pruned { text: text.to_owned(), patterns, ..Pruned::default() };
    let mut old: Vec<usize> = newest.into_iter().skip(KEPT).collect();
    old.sort_unstable();
    pruned.count = old.len();
    pruned.kept = entries.len() - old.len();
    for at in old {
        let entry = &entries[at];
        let month = entry.date.as_deref().unwrap_or(today)[..7].to_owned();
        let heading = entry.heading.as_ref().map_or(String::new(), |it| format!("## {it}\n\n"));
        pruned.archived.entry(month).or_default().push(format!("{heading}{}", entry.text));
        if let Some(start) = pruned.text.find(&entry.text) {
            let end = start + entry.text.len();
            let end = if pruned.text[end..].starts_with('\n') { end + 1 } else { end };
            pruned.text.replace_range(start..end, "");
        }
    }
    if pruned.count > 0 {
        pruned.text = without_empty_sections(&pruned.text);
    }
    pruned
}

/// Headings of days under which nothing is left go, too.
fn without_empty_sections(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut kept: Vec<&str> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let next = lines[at + 1..].iter().find(|line| !line.trim().is_empty());
        let empty = line.starts_with("## ")
            && day(line).is_some()
            && next.is_none_or(|next| next.starts_with('#'));
        let blank_twice =
            line.trim().is_empty() && kept.last().is_some_and(|it| it.trim().is_empty());
        if !empty && !blank_twice {
            kept.push(line);
        }
    }
    format!("{}\n", kept.join("\n").trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_have_their_day_and_their_tags() {
        let text = "# Learnings\n\nIntro.\n\n## 2026-03-19 — Autopilot: Scanner\n\
                    - [skill:harness-autopilot] [outcome:complete] Executed\n  more\n\
                    - [outcome:gotcha] Mind the gap\n\n- **2026-01-02 [skill:x] [outcome:decision]:** Old\n\
                    ```\n- not one\n```\n";
        let entries = parse(text);
        let seen: Vec<_> = entries.iter().map(|it| (it.date.as_deref(), it.is_general())).collect();
        assert_eq!(
            seen,
            [(Some("2026-03-19"), false), (Some("2026-03-19"), true), (Some("2026-03-19"), true)]
        );
        assert_eq!(entries[0].text.lines().count(), 2);
        assert_eq!(entries[0].tags("skill"), ["harness-autopilot"]);
    }

    fn many(count: usize) -> String {
        let mut text = String::from("# Learnings\n\nKeep this.\n");
        for at in 0..count {
            text.push_str(&format!(
                "\n## 2026-{:02}-{:02} — Day {at}\n- [skill:s] [outcome:gotcha] Number {at}\n",
                at / 28 + 1,
                at % 28 + 1
            ));
        }
        text
    }

    #[test]
    fn pruning_keeps_the_newest_and_loses_nothing() {
        let pruned = prune(&many(35), "2026-12-01");
        assert_eq!((pruned.kept, pruned.count), (20, 15));
        assert_eq!(parse(&pruned.text).len(), 20);
        assert!(pruned.text.contains("Keep this.") && pruned.text.contains("Number 34"));
        assert!(!pruned.text.contains("Number 14\n") && !pruned.text.contains("Day 14"));
        let archived: usize = pruned.archived.values().map(Vec::len).sum();
        assert_eq!((archived, pruned.archived.keys().next().unwrap().as_str()), (15, "2026-01"));
        assert_eq!(pruned.patterns, [("outcome:gotcha".into(), 35), ("skill:s".into(), 35)]);
    }

    #[test]
    fn few_entries_stay_as_they_are() {
        let text = many(20);
        let pruned = prune(&text, "2026-12-01");
        assert_eq!((pruned.count, pruned.text), (0, text));
    }
}
