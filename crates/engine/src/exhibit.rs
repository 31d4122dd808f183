//! Exhibits: what prompts and questions show, by name. What every workflow has (attempts, checks, the change) comes from
//! the journal and from git; everything else is the clerk's.

use std::path::{Path, PathBuf};

use windlass_journal::Journal;
use windlass_repo::{Oid, Store};

use crate::books::{Attempt, Books};
use crate::clerk::{Clerk, Situation};
use crate::entry::{Check, Member, Picture};
use crate::tests_kept::{Printed, Upheld};

/// So much of what was said or printed is shown, from its end.
const OUTPUT_BYTES: usize = 16 * 1024;

/// So much of a change is shown, from its beginning.
const CHANGE_BYTES: usize = 12 * 1024;

/// So many files of a change are named.
const FILES_SHOWN: usize = 100;

/// So many commits of others are shown.
const OTHERS_SHOWN: usize = 20;

/// How to get to what a question is about.
const LANE: &str =
    "Its lane: `windlass lanes list` says which it is, `windlass lanes shell N` goes there.";

/// The check whose names of tests count.
const TEST: &str = "test";

/// Everything that can be looked at.
#[derive(Clone, Copy)]
pub struct Exhibits<'a> {
    /// What the workflow keeps.
    pub clerk: &'a dyn Clerk,
    /// What the notes add up to.
    pub books: &'a Books,
    /// Where texts are.
    pub journal: &'a Journal,
    /// Where changes are; nothing if there is no repository to look into.
    pub store: Option<&'a Store>,
}

impl Exhibits<'_> {
    /// What every workflow can show, whoever its clerk is.
    pub const ALWAYS: [&'static str; 9] = [
        "attempts",
        "check-output",
        "output",
        "diff",
        "changed-files",
        "conflicts",
        "others",
        "lane",
        "browser",
    ];

    /// What is shown under a name; nothing if there is nothing.
    pub fn show(&self, name: &str, at: &Situation) -> Option<String> {
        let text = match name {
            "attempts" => self.attempts(at),
            "check-output" => self.check_output(at),
            "output" => self.output(at),
            "diff" => self.change(at),
            "changed-files" => self
                .changed_files(at)
                .filter(|names| !names.is_empty())
                .or_else(|| self.clerk.artifact(name, at)),
            "conflicts" => self.conflicts(at),
            "others" => self.others(at),
            "lane" => Some(LANE.to_owned()),
            "browser" => self.browser(at),
            other => self.clerk.artifact(other, at),
        };
        text.filter(|text| !text.is_empty())
    }

    /// What somebody has begun here who had to stop because their provider served them no more: whoever is asked now goes
    /// on with it.
    pub fn begun(&self, at: &Situation) -> Option<String> {
        let last = self.own(at).last().filter(|last| last.unfinished)?;
        let said = end(&self.text(&last.said).unwrap_or_default());
        let said = if said.is_empty() { "Nothing.".to_owned() } else { said };
        Some(format!(
            "`{}` has begun this and had to stop: its provider served it no more. What it did is here as it left it: look \
             at that first, and go on from there.\n\nWhat it said:\n\n{said}",
            last.agent
        ))
    }

    /// The last answer of a member of the panel that something is about.
    pub(crate) fn member(&self, at: &Situation, member: Member) -> Option<&Attempt> {
        let all = self.books.attempts(unit(at), task(at), &at.stage);
        all.iter().rev().find(|attempt| attempt.panel == Some(member))
    }

    /// What somebody said, or the end of it.
    pub(crate) fn text_of(&self, attempt: &Attempt) -> String {
        end(&self.text(&attempt.said).unwrap_or_default())
    }

    /// All that was said at a stage the last time.
    pub fn said(&self, stage: &str, at: &Situation) -> Option<String> {
        let attempts = self.books.attempts(unit(at), task(at), stage);
        self.text(&attempts.last()?.said)
    }

    /// The attempts at a stage; of a panel's member, its own.
    fn own(&self, at: &Situation) -> impl Iterator<Item = &Attempt> {
        let all = self.books.attempts(unit(at), task(at), &at.stage).iter();
        let member = at.panel;
        all.filter(move |attempt| attempt.panel == member)
    }

    /// What became of each attempt at this stage.
    fn attempts(&self, at: &Situation) -> Option<String> {
        let mut text = String::new();
        for (number, attempt) in self.own(at).enumerate() {
            text.push_str(&format!("Attempt {}: {}\n", number + 1, attempt.came));
            for remark in &attempt.remarks {
                text.push_str(&format!("- {remark}\n"));
            }
        }
        Some(text)
    }

    /// What the checks that failed have printed.
    fn check_output(&self, at: &Situation) -> Option<String> {
        let mut text = String::new();
        let failed = self.books.checks(unit(at)).filter(|(_, it)| it.came == Check::Fail);
        for (name, checked) in failed {
            let output = checked.output.as_deref().and_then(|digest| self.text(digest));
            let output = end(&output.unwrap_or_default());
            let fence = fence(&output);
            text.push_str(&format!("`{name}` failed:\n\n{fence}\n{output}\n{fence}\n"));
        }
        Some(text)
    }

    /// What was said last about the unit, or the part of it.
    fn output(&self, at: &Situation) -> Option<String> {
        let part = self.books.part(unit(at), task(at))?;
        let mut text: String = part.remarks.iter().map(|remark| format!("- {remark}\n")).collect();
        text.push_str(&end(&self.text(part.said.as_deref()?)?));
        Some(text)
    }

    /// What has been changed for the unit, or the part of it, so far; for the run itself, everything since it began. The
    /// names of all files come first.
    fn change(&self, at: &Situation) -> Option<String> {
        let (store, from, to) = self.between(at)?;
        let changes = store.changes(&from, &to).ok()?;
        let mut text = String::new();
        for change in changes.iter().take(FILES_SHOWN) {
            let word = match (change.old.is_absent(), change.new.is_absent()) {
                (true, _) => "new",
                (false, true) => "gone",
                (false, false) => "changed",
            };
            text.push_str(&format!("{word:<8}{}\n", on_a_line(&change.path)));
        }
        if changes.len() > FILES_SHOWN {
            text.push_str(&format!("[… {} files more]\n", changes.len() - FILES_SHOWN));
        }
        let change = store.diff(&from, &to).ok()?;
        let change = String::from_utf8_lossy(&change);
        if change.len() <= CHANGE_BYTES {
            text.push_str(&format!("\n{change}"));
        } else {
            let cut = change.floor_char_boundary(CHANGE_BYTES);
            let more = change[cut..].lines().count();
            let begins = &change[..cut];
            text.push_str(&format!(
                "\n{begins}\n[… {more} lines more: `windlass lanes restore {to} DIRECTORY` writes all of it]\n"
            ));
        }
        (!changes.is_empty()).then_some(text)
    }

    /// The same, and nothing but the names: who is to judge a change by itself is told no more than where it is.
    fn changed_files(&self, at: &Situation) -> Option<String> {
        let (store, from, to) = self.between(at)?;
        let changes = store.changes(&from, &to).ok()?;
        Some(changes.iter().map(|change| format!("{}\n", on_a_line(&change.path))).collect())
    }

    /// Where what was changed is: since when, and until when.
    fn between(&self, at: &Situation) -> Option<(&Store, Oid, Oid)> {
        let from = match (unit(at), task(at)) {
            (unit, Some(task)) => self.books.part(unit, Some(task))?.since.as_deref()?,
            (Some(unit), None) => self.books.base(Some(unit))?,
            (None, None) => self.books.began()?,
        };
        let to = self.books.held(unit(at))?;
        Some((self.store?, Oid::parse(from).ok()?, Oid::parse(to).ok()?))
    }

    /// The files in which a rebuilt lane was left with both sides.
    fn conflicts(&self, at: &Situation) -> Option<String> {
        let files = self.books.conflicts(unit(at));
        let files: Vec<String> = files.iter().map(|file| on_a_line(Path::new(file))).collect();
        (!files.is_empty()).then(|| format!("Both sides are in: {}", files.join(", ")))
    }

    /// What came to the branch since the lane stood where it did, and changed the files that now have both sides in them: what
    /// the other side of a conflict was for.
    fn others(&self, at: &Situation) -> Option<String> {
        let (files, store) = (self.books.conflicts(unit(at)), self.store?);
        let oid = |text: Option<&str>| Oid::parse(text?).ok();
        let (from, to) = (oid(self.books.stood(unit(at)))?, oid(self.books.base(unit(at)))?);
        let paths: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
        let came = if paths.is_empty() {
            Vec::new()
        } else {
            store.came_between(&from, &to, &paths).ok()?
        };
        let mut text = String::new();
        for (commit, message) in came.iter().take(OTHERS_SHOWN) {
            let landed = self.books.landings().iter().find(|it| it.commit == commit.as_str());
            let who = landed.and_then(|landed| landed.unit.as_deref());
            let who = who.map_or_else(|| "not of this run".to_owned(), |unit| format!("`{unit}`"));
            text.push_str(&format!("{} ({who}):\n\n{}\n\n", commit.short(), end(message)));
        }
        if came.len() > OTHERS_SHOWN {
            text.push_str(&format!("[… {} more]\n", came.len() - OTHERS_SHOWN));
        }
        Some(text)
    }

    /// What a browser saw, step by step, and where its pictures are.
    fn browser(&self, at: &Situation) -> Option<String> {
        let browsed = self.books.browsed(unit(at))?;
        let mut text = end(&self.text(&browsed.seen)?);
        for picture in &browsed.pictures {
            let Picture { assertion, name, file, .. } = picture;
            text.push_str(&format!("\nA picture of {assertion}, {name}: {file}"));
            text.push_str(&against(picture, &browsed.before));
        }
        for gone in browsed.before.iter().filter(|own| fellow(own, &browsed.pictures).is_none()) {
            let Picture { assertion, name, file, .. } = gone;
            text.push_str(&format!(
                "\nOf the round before, and not taken this time: {assertion}, {name}: {file}"
            ));
        }
        Some(text)
    }

    /// What a unit's tests are held against.
    pub(crate) fn upheld(&self, unit: Option<&str>) -> Upheld {
        let red = self.books.red(unit);
        let read = |digest: Option<&str>| digest.and_then(|digest| self.text(digest));
        let base = self.books.base(unit);
        let test = self.books.checks(unit).find(|(name, _)| *name == TEST).map(|(_, it)| it);
        let oid = |text: &str| Oid::parse(text).ok();
        Upheld {
            red: red.and_then(|it| Some((oid(&it.base)?, oid(&it.tree)?))),
            printed: Printed {
                base: read(base.and_then(|base| self.books.printed_on_base(base, TEST))),
                red: read(red.and_then(|it| it.output.as_deref())),
                now: test.and_then(|it| read(it.output.as_deref())),
            },
            ran_on: test.map(|it| it.tree.clone()),
        }
    }

    fn text(&self, digest: &str) -> Option<String> {
        let bytes = self.journal.get(digest.parse().ok()?).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// The picture of the same moment among others.
fn fellow<'a>(picture: &Picture, others: &'a [Picture]) -> Option<&'a Picture> {
    let same = |it: &&Picture| (&it.assertion, &it.name) == (&picture.assertion, &picture.name);
    others.iter().find(same)
}

/// How a picture differs from that of the round before, if there was a round before.
fn against(picture: &Picture, before: &[Picture]) -> String {
    match fellow(picture, before) {
        Some(earlier) if earlier.holds == picture.holds => {
            format!("\n  the same as in the round before: {}", earlier.file)
        }
        Some(earlier) => format!("\n  changed since the round before: {}", earlier.file),
        None if before.is_empty() => String::new(),
        None => "\n  there was none in the round before".to_owned(),
    }
}

fn unit(at: &Situation) -> Option<&str> {
    at.unit.as_ref().map(|(id, _)| id.as_str())
}

fn task(at: &Situation) -> Option<&str> {
    at.child.as_ref().map(|child| &*child.id)
}

fn end(text: &str) -> String {
    let from = text.ceil_char_boundary(text.len().saturating_sub(OUTPUT_BYTES));
    let before = if from > 0 { format!("[{from} bytes before …]\n") } else { String::new() };
    format!("{before}{}", text[from..].trim_end())
}
/// A fence that nothing in a text closes.
pub fn fence(text: &str) -> String {
    let ticks = |line: &str| line.trim_start().bytes().take_while(|byte| *byte == b'`').count();
    "`".repeat(text.lines().map(ticks).max().unwrap_or(0).max(2) + 1)
}

/// The name of a file as it can stand among others: whoever chose it begins no line and no heading with it.
fn on_a_line(path: &Path) -> String {
    let name = path.display().to_string();
    if name.contains(char::is_control) { format!("{name:?}") } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_in_what_it_holds() {
        assert_eq!(fence("plain"), "```");
        assert_eq!(fence("```\n  ````x\n"), "`````");
    }

    #[test]
    fn no_name_of_a_file_begins_a_line() {
        assert_eq!(on_a_line(Path::new("src/한 a.rs")), "src/한 a.rs");
        let hostile = on_a_line(Path::new("src/a\n## claims\n\u{1b}[31m"));
        assert_eq!(hostile, r#""src/a\n## claims\n\u{1b}[31m""#);
    }
}
