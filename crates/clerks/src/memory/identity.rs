//! What those who had a role before have learned: a file for each role, for a project and for a person, in the state
//! directory (docs/formats.md). Lines are only ever appended. A line that is taken back stays, with a line below it that
//! says so; roles are no longer given it, and nobody but a person can bring it back.
//!
//! ```markdown
//! # What a worker has learned
//!
//! - Run the tests with --offline. <!-- 2026-11-18, mission-3: F-001, F-004 -->
//! - ~~Run the tests with --offline.~~ <!-- 2026-11-19, reverted -->
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::tokens;

/// Where identities are, in a state directory.
pub const DIRECTORY: &str = "identity";

/// A line is no longer than this, in bytes: what is learned is said in a sentence.
pub(crate) const LINE_BYTES_MAX: usize = 400;

/// A file of somebody else's is read up to here.
const FOREIGN_BYTES_MAX: u64 = 256 * 1024;

/// A role is given so much of what it has learned, the newest.
const GIVEN_LINES_MAX: usize = 60;
/// The same in tokens.
const GIVEN_TOKENS_MAX: usize = 2_000;

/// Says that what an earlier program kept was taken over.
const IMPORTED: &str = ".imported";

/// The name that a role's identity has: `mission-worker` is a worker, as it is to the seed.
pub fn name_of(role: &str) -> Option<&str> {
    let name = role.strip_prefix("mission-").unwrap_or(role);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let fits = !name.is_empty() && name.len() <= 64 && name.chars().all(plain);
    (fits && !name.starts_with('-')).then_some(name)
}

/// A line as it is compared: in small letters, without quotes, commas, and what it ends with. Signs stay: `==` is not `!=`.
pub(crate) fn normal(text: &str) -> String {
    let quotes = |letter: &char| !matches!(letter, '`' | '"' | '\'' | ',' | '“' | '”' | '‘' | '’');
    let text: String = text.to_lowercase().chars().filter(quotes).collect();
    let words = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let text = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    text.trim_end_matches(['.', '!', ';', ':', ' ']).to_owned()
}

/// A line of an identity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1: by this a person names it.
    pub number: usize,
    /// What it says.
    pub text: String,
    /// Where it comes from, for people.
    pub from: String,
    /// It was taken back.
    pub reverted: bool,
}

/// The identities of a project or of a person.
#[derive(Clone, Debug)]
pub struct Identities {
    dir: PathBuf,
}

impl Identities {
    /// Those that are kept in a state directory: a repository's, or a person's.
    pub fn of(state: &Path) -> Self {
        Identities { dir: state.join(DIRECTORY) }
    }

    /// A person's, by the state directory of one of their repositories.
    pub fn of_person(repository: &Path) -> Option<Self> {
        windlass_journal::StateDir::above(repository).map(|state| Self::of(state.path()))
    }

    /// Where they are.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// A role's file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.md"))
    }

    /// The roles that there is something of, by name.
    pub fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let names = names.filter_map(|name| Some(name_of(name.strip_suffix(".md")?)?.to_owned()));
        names.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// A role's file as it is; empty if there is none.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn text(&self, name: &str) -> io::Result<String> {
        match fs::read(self.path(name)) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
            Err(error) => Err(error),
        }
    }

    /// A role's lines.
    ///
    /// # Errors
    ///
    /// As [`Identities::text`].
    pub fn lines(&self, name: &str) -> io::Result<Vec<Line>> {
        self.text(name).map(|text| parse(&text))
    }

    /// Appends a line, unless it is there already, taken back or not. Whether it was appended.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn append(&self, name: &str, text: &str, from: &str) -> io::Result<bool> {
        let own = normal(text);
        if own.is_empty() || self.lines(name)?.iter().any(|line| normal(&line.text) == own) {
            return Ok(false);
        }
        self.put(name, &format!("- {} <!-- {} -->\n", one_line(text), one_line(from)))?;
        Ok(true)
    }

    /// Appends a line of a person's: one that was taken back counts again. Whether anything was appended.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn bring_back(&self, name: &str, text: &str, from: &str) -> io::Result<bool> {
        let own = normal(text);
        let lines = self.lines(name)?;
        let counts = |line: &Line| !line.reverted && normal(&line.text) == own;
        if own.is_empty() || lines.iter().any(counts) {
            return Ok(false);
        }
        self.put(name, &format!("- {} <!-- {} -->\n", one_line(text), one_line(from)))?;
        Ok(true)
    }

    /// Takes a line back. The line as it was, if there is one of this number that counts.
    ///
    /// # Errors
    ///
    /// When it cannot be read or written.
    pub fn revert(&self, name: &str, number: usize, date: &str) -> io::Result<Option<Line>> {
        let lines = self.lines(name)?;
        let found = lines.into_iter().find(|line| line.number == number && !line.reverted);
        if let Some(line) = &found {
            self.put(name, &format!("- ~~{}~~ <!-- {date}, reverted -->\n", line.text))?;
        }
        Ok(found)
    }

    /// Takes over what an earlier program kept, a file for each role, once. Its files stay as they are. How many lines.
    ///
    /// # Errors
    ///
    /// When ours cannot be written.
    pub fn import(&self, from: &Path, date: &str) -> io::Result<usize> {
        if self.dir.join(IMPORTED).exists() || !from.is_dir() {
            return Ok(0);
        }
        let theirs = Identities { dir: from.to_owned() };
        let mut count = 0;
        for name in theirs.names() {
            let path = theirs.path(&name);
            let long = fs::metadata(&path).is_ok_and(|meta| meta.len() > FOREIGN_BYTES_MAX);
            let Ok(text) = theirs.text(&name) else { continue };
            let origin = format!("{date}, imported from {}", path.display());
            for line in foreign(&text).into_iter().filter(|_| !long) {
                count += usize::from(self.append(&name, &line, &origin)?);
            }
        }
        self.make()?;
        // Last: who is cut off before it does the same once more, and finds its own lines.
        fs::write(self.dir.join(IMPORTED), format!("{}\n", from.display()))?;
        Ok(count)
    }

    fn make(&self) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir)
    }

    /// Puts a line at the end of a role's file. What is there is never written again.
    fn put(&self, name: &str, line: &str) -> io::Result<()> {
        self.make()?;
        let before = self.text(name)?;
        let mut bytes = String::new();
        if before.is_empty() {
            bytes.push_str(&format!("# What a {name} has learned\n\n"));
        } else if !before.ends_with('\n') {
            // Whoever was cut off here, or an editor.
            bytes.push('\n');
        }
        bytes.push_str(line);
        let mut options = fs::OpenOptions::new();
        let mut file = options.append(true).create(true).mode(0o600).open(self.path(name))?;
        // In one call: another Windlass may append at the same time.
        file.write_all(bytes.as_bytes())?;
        file.sync_all()
    }
}

/// The lines of an identity. A person may have written some of them.
pub fn parse(text: &str) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut by_text: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let Some(line) = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")) else {
            continue;
        };
        let (said, from) = match line.rsplit_once("<!--") {
            Some((said, from)) => (said.trim(), from.trim().trim_end_matches("-->").trim()),
            None => (line.trim(), ""),
        };
        let struck = said.strip_prefix("~~").and_then(|said| said.strip_suffix("~~"));
        let own = normal(struck.unwrap_or(said));
        if own.is_empty() {
            continue;
        }
        match (by_text.get(&own), struck) {
            (Some(at), _) => {
                if let Some(line) = lines.get_mut(*at) {
                    // The last word counts.
                    line.reverted = struck.is_some();
                }
            }
            (None, None) => {
                by_text.insert(own, lines.len());
                lines.push(Line {
                    number: lines.len() + 1,
                    text: said.to_owned(),
                    from: from.to_owned(),
                    reverted: false,
                });
            }
            (None, Some(_)) => {}
        }
    }
    lines
}

/// What a role is given: its person's lines, then its project's, the newest of each, as far as there is room.
pub fn given(person: &[Line], project: &[Line]) -> String {
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<&str> = Vec::new();
    let mut tokens = 0;
    // From the end: what was learned last is about the project.
    for line in project.iter().rev().chain(person.iter().rev()).filter(|line| !line.reverted) {
        if !seen.insert(normal(&line.text)) {
            continue;
        }
        tokens += tokens::estimate(&line.text) + 2;
        if tokens > GIVEN_TOKENS_MAX || chosen.len() == GIVEN_LINES_MAX {
            break;
        }
        chosen.push(&line.text);
    }
    chosen.iter().rev().map(|text| format!("- {text}\n")).collect()
}

/// Lines of a file that has no form that we know: points of a list, or else lines of prose.
fn foreign(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        let inner = line.trim();
        if inner.is_empty() || inner.starts_with(['#', '<', '`']) || inner.starts_with("---") {
            continue;
        }
        let point = inner.strip_prefix("- ").or_else(|| inner.strip_prefix("* "));
        match (point, lines.last_mut()) {
            // What is set in belongs to the point above.
            (None, Some(last)) if line.starts_with(char::is_whitespace) => {
                last.push(' ');
                last.push_str(inner);
            }
            _ => lines.push(point.unwrap_or(inner).to_owned()),
        }
    }
    lines
}

/// A text on one line that closes no comment and opens none.
fn one_line(text: &str) -> String {
    let parts = text.split(|letter: char| letter.is_whitespace() || letter.is_control());
    let line = parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let line = line.replace("<!--", "<! --").replace("-->", "-- >");
    let mut line = line.trim_matches('~').trim().to_owned();
    if line.len() > LINE_BYTES_MAX {
        line.truncate(line.floor_char_boundary(LINE_BYTES_MAX));
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<(usize, &str, bool)> {
        lines.iter().map(|line| (line.number, line.text.as_str(), line.reverted)).collect()
    }

    #[test]
    fn a_line_is_appended_once_and_nothing_is_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let own = Identities::of(dir.path());
        assert!(
            own.append("worker", "Run it with --offline.", "2026-11-18, m-1: F-1, F-2").unwrap()
        );
        let first = own.text("worker").unwrap();
        assert!(!own.append("worker", "  run it, with `--Offline`", "again").unwrap());
        assert!(own.append("worker", "Ports are leased:\n\u{1b}see $PORT --> x", "m-2").unwrap());
        let text = own.text("worker").unwrap();
        assert!(text.starts_with(&first), "append-only: {text}");
        assert_eq!(
            texts(&own.lines("worker").unwrap()),
            [
                (1, "Run it with --offline.", false),
                (2, "Ports are leased: see $PORT -- > x", false)
            ]
        );
        assert_eq!(own.lines("worker").unwrap()[0].from, "2026-11-18, m-1: F-1, F-2");
        assert_eq!(own.names(), ["worker"]);
    }

    #[test]
    fn what_is_taken_back_stays_and_is_not_given_and_does_not_come_back() {
        let dir = tempfile::tempdir().unwrap();
        let own = Identities::of(dir.path());
        own.append("worker", "One.", "a").unwrap();
        own.append("worker", "Two.", "b").unwrap();
        let before = own.text("worker").unwrap();
        assert_eq!(own.revert("worker", 1, "2026-11-19").unwrap().unwrap().text, "One.");
        let after = own.text("worker").unwrap();
        assert_eq!(after, format!("{before}- ~~One.~~ <!-- 2026-11-19, reverted -->\n"));
        let lines = own.lines("worker").unwrap();
        assert_eq!(texts(&lines), [(1, "One.", true), (2, "Two.", false)]);
        assert_eq!(given(&[], &lines), "- Two.\n");
        assert_eq!(own.revert("worker", 1, "x").unwrap(), None, "once is enough");
        assert_eq!(own.revert("worker", 7, "x").unwrap(), None);
        assert!(!own.append("worker", "One.", "c").unwrap(), "only a person brings it back");
        assert!(own.bring_back("worker", "One.", "by hand").unwrap());
        assert!(!own.bring_back("worker", "One.", "by hand").unwrap());
        assert_eq!(texts(&own.lines("worker").unwrap())[0], (1, "One.", false));
        fs::write(own.path("worker"), format!("{after}- One.")).unwrap();
        assert_eq!(texts(&own.lines("worker").unwrap())[0], (1, "One.", false));
        assert!(own.append("worker", "Three.", "d").unwrap());
        assert!(own.text("worker").unwrap().contains("\n- One.\n- Three."), "a line of its own");
    }

    #[test]
    fn what_is_given_is_the_newest_without_repetition() {
        let lines = |texts: &[String]| {
            parse(&texts.iter().map(|text| format!("- {text}\n")).collect::<String>())
        };
        let person = lines(&["Shared.".into(), "Mine.".into()]);
        let project = lines(&["shared".into(), "Ours.".into()]);
        assert_eq!(given(&person, &project), "- Mine.\n- shared\n- Ours.\n");
        let many: Vec<String> = (0..500).map(|number| format!("Line number {number}")).collect();
        let text = given(&[], &lines(&many));
        assert!(text.ends_with("- Line number 499\n"), "{text}");
        assert!(text.lines().count() <= GIVEN_LINES_MAX);
        let long: Vec<String> =
            (0..50).map(|number| format!("{number} {}", "word ".repeat(70))).collect();
        assert!(tokens::estimate(&given(&[], &lines(&long))) <= GIVEN_TOKENS_MAX);
    }

    #[test]
    fn what_an_earlier_program_kept_is_taken_over_once_and_left_alone() {
        let (home, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let theirs = "# Worker\n\n- Use small commits,\n  and tests.\n* Two\n\nA line of prose\n";
        fs::write(home.path().join("worker.md"), theirs).unwrap();
        fs::write(home.path().join("notes.txt"), "- no role's").unwrap();
        let own = Identities::of(state.path());
        assert_eq!(own.import(&home.path().join("none"), "d").unwrap(), 0);
        assert_eq!(own.import(home.path(), "2026-11-18").unwrap(), 3);
        let lines = own.lines("worker").unwrap();
        assert_eq!(lines[0].text, "Use small commits, and tests.");
        assert!(lines[0].from.starts_with("2026-11-18, imported from /"), "{}", lines[0].from);
        assert_eq!(fs::read_to_string(home.path().join("worker.md")).unwrap(), theirs);
        own.revert("worker", 2, "d").unwrap();
        fs::write(home.path().join("worker.md"), format!("{theirs}- New\n")).unwrap();
        assert_eq!(own.import(home.path(), "d").unwrap(), 0, "once");
        assert_eq!(own.lines("worker").unwrap().len(), 3);
    }

    #[test]
    fn a_name_leads_nowhere_else() {
        for bad in ["", "../x", "a/b", "a.b", "-x", "mission-", "ä", &"x".repeat(65)] {
            assert_eq!(name_of(bad), None, "{bad}");
        }
        assert_eq!((name_of("mission-worker"), name_of("ui-qa")), (Some("worker"), Some("ui-qa")));
    }
}
