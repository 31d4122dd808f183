//! What was done, told: the seed's boxes, aligned whatever is in them, and the same as Markdown for a pull request.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// So many columns are between the walls of a box.
const INNER: usize = 45;

/// So many files are named; of more, how many there are.
const FILES_NAMED: usize = 5;

/// A task that is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Its number.
    pub number: String,
    /// What it is called.
    pub name: String,
    /// What was done.
    pub changes: Vec<String>,
    /// How it was before.
    pub before: String,
    /// How it is now.
    pub after: String,
    /// What whoever did it says about it: nobody else has looked at that.
    pub words: Vec<String>,
    /// The files that were changed.
    pub files: Vec<String>,
    /// What is left in Plans.md.
    pub left: Vec<Left>,
    /// The commit, if there is one.
    pub commit: Option<String>,
    /// What the reviews came to, one after the other.
    pub reviews: Vec<String>,
}

/// A task that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// Its number.
    pub number: String,
    /// How far it is.
    pub status: String,
    /// What is to be done.
    pub content: String,
}

/// Several tasks together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct All {
    /// How they were worked on: `solo`, `parallel`, `breezing`, `codex`.
    pub mode: String,
    /// What each is called, with its commit if it is done.
    pub tasks: Vec<Told>,
    /// How many files were changed.
    pub files: usize,
    /// How many lines were added.
    pub insertions: usize,
    /// How many were taken away.
    pub deletions: usize,
    /// What is left in Plans.md.
    pub left: Vec<Left>,
}

/// A task in a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// What it is called.
    pub name: String,
    /// How it ended.
    pub end: End,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// It is done, with this commit if anything was committed.
    Done(Option<String>),
    /// It is not.
    Open,
    /// Somebody has taken it out: there was nothing to do.
    Gone,
}

impl Done {
    /// The box of a task.
    pub fn boxed(&self) -> String {
        let mut lines = Lines::default();
        lines.part("What was done", self.changes.iter().map(|change| format!("• {change}")));
        lines.part(
            "What changed",
            [format!("Before: {}", self.before), format!("After: {}", self.after)],
        );
        let count = self.files.len();
        lines.part(&format!("Changed files ({count} files)"), self.files());
        let mut left: Vec<String> = self
            .left
            .iter()
            .map(|Left { number, status, content }| {
                format!("• Task {number} ({status}): {content} ← Plans.md")
            })
            .collect();
        left.push(format!("({} incomplete tasks in Plans.md)", self.left.len()));
        lines.part("Remaining issues", left);
        lines.0.extend(self.foot_lines());
        boxed(&format!("✓ Task {} Done: {}", self.number, self.name), &lines.0)
    }

    /// The same for a pull request.
    pub fn markdown(&self) -> String {
        let mut text = format!("## ✓ Task {} Done: {}\n", self.number, escaped(&self.name));
        section(&mut text, "What was done", self.changes.iter().map(|it| escaped(it)));
        let (before, after) = (escaped(&self.before), escaped(&self.after));
        section(
            &mut text,
            "What changed",
            [format!("**Before:** {before}"), format!("**After:** {after}")],
        );
        let title = format!("Changed files ({} files)", self.files.len());
        section(&mut text, &title, self.files().into_iter().map(|file| code(&file)));
        if !self.words.is_empty() {
            section(&mut text, "In its worker's words", self.words.iter().map(|it| escaped(it)));
        }
        section(&mut text, "Remaining issues", remaining(&self.left));
        text.push_str(&format!("\n{}\n", self.foot()));
        text
    }

    fn files(&self) -> Vec<String> {
        let more = self.files.len().saturating_sub(FILES_NAMED);
        let named = self.files.iter().take(FILES_NAMED).cloned();
        named.chain((more > 0).then(|| format!("… and {more} more"))).collect()
    }

    fn foot(&self) -> String {
        self.foot_parts().join(" | ")
    }

    /// The same in a line of a box; in two where one does not hold it.
    fn foot_lines(&self) -> Vec<String> {
        let whole = self.foot();
        if whole.width() + 3 <= INNER { vec![whole] } else { self.foot_parts().into() }
    }

    fn foot_parts(&self) -> [String; 2] {
        let commit = self.commit.as_deref().unwrap_or("none");
        // What a review came to again and again is said once, with how often.
        let rounds = self.reviews.chunk_by(|one, other| one == other).map(|same| match same {
            [word] => word.clone(),
            several => format!("{} ×{}", several[0], several.len()),
        });
        let reviews: Vec<String> = rounds.collect();
        [format!("commit: {commit}"), format!("review: {}", reviews.join(" → "))]
    }
}

impl All {
    /// The box over all tasks.
    pub fn boxed(&self) -> String {
        let mut lines = Lines::default();
        for (at, task) in self.tasks.iter().enumerate() {
            let (mark, hash) = task.marks();
            let head = format!("{}. {mark} ", at + 1);
            // The hash is what somebody looks for: the name makes room for it.
            let room = (INNER - 3).saturating_sub(head.width() + hash.width());
            let name =
                if task.name.width() > room { cut(&task.name, room) } else { task.name.clone() };
            lines.0.push(format!("{head}{name}{hash}"));
        }
        lines.0.push(String::new());
        let All { files, insertions, deletions, .. } = self;
        lines.part(
            "Overall changes",
            [
                format!("{files} files changed, {insertions} insertions(+),"),
                format!("{deletions} deletions(-)"),
            ],
        );
        let mut left = vec![format!("{} incomplete tasks in Plans.md", self.left.len())];
        left.extend(
            self.left
                .iter()
                .map(|Left { number, content, .. }| format!("• Task {number}: {content}")),
        );
        lines.part("Remaining issues", left);
        // The box ends with one empty line of its own.
        lines.0.pop();
        boxed(&self.title(), &lines.0)
    }

    /// The same for a pull request.
    pub fn markdown(&self) -> String {
        let mut text = format!("## {}\n\n", self.title());
        for (at, task) in self.tasks.iter().enumerate() {
            let (mark, hash) = task.marks();
            let told = escaped(&format!("{}{hash}", task.name));
            text.push_str(&format!("{}. {mark} {told}\n", at + 1));
        }
        let All { files, insertions, deletions, .. } = self;
        let changes =
            format!("{files} files changed, {insertions} insertions(+), {deletions} deletions(-)");
        section(&mut text, "Overall changes", [changes]);
        section(&mut text, "Remaining issues", remaining(&self.left));
        text
    }

    fn title(&self) -> String {
        let count = |is: fn(&End) -> bool| self.tasks.iter().filter(|task| is(&task.end)).count();
        let done = count(|end| matches!(end, End::Done(_)));
        let all = count(|end| *end != End::Gone);
        let (mark, how) = if done == all { ('✓', "Complete") } else { ('✗', "Incomplete") };
        match (self.mode.as_str(), how) {
            ("breezing", "Complete") => format!("{mark} Breezing Complete: {done}/{all} tasks"),
            (mode, how) => {
                let mode = if mode.is_empty() { "work" } else { mode };
                let (first, rest) = mode.split_at(mode.chars().next().map_or(0, char::len_utf8));
                format!("{mark} {}{rest} {how}: {done}/{all} tasks", first.to_uppercase())
            }
        }
    }
}

impl Told {
    fn marks(&self) -> (char, String) {
        match &self.end {
            End::Done(Some(hash)) => ('✓', format!(" [{hash}]")),
            End::Done(None) => ('✓', String::new()),
            End::Open => ('✗', String::new()),
            End::Gone => ('–', String::new()),
        }
    }
}

/// The progress line after a task.
pub fn progress(completed: usize, total: usize, content: &str) -> String {
    format!("📊 Progress: Task {completed}/{total} done — {content}")
}

/// The lines of a box.
#[derive(Default)]
struct Lines(Vec<String>);

impl Lines {
    /// A heading, what is below it, and an empty line.
    fn part(&mut self, title: &str, lines: impl IntoIterator<Item = String>) {
        self.0.push(format!("■ {title}"));
        self.0.extend(lines.into_iter().map(|line| format!("  {line}")));
        self.0.push(String::new());
    }
}

fn boxed(title: &str, lines: &[String]) -> String {
    let wall = "─".repeat(INNER);
    let row = |text: &str| format!("│ {}│\n", fitted(text, INNER - 1));
    let mut text = format!("┌{wall}┐\n{}├{wall}┤\n{}", row(title), row(""));
    for line in lines {
        // Lines of the seed's box stand a column further in than its title.
        let line = if line.is_empty() { String::new() } else { format!(" {line}") };
        text.push_str(&row(&line));
    }
    // What ends in lines about the commit and its review needs no empty one behind them.
    if lines
        .last()
        .is_none_or(|line| !line.starts_with("commit: ") && !line.starts_with("review: "))
    {
        text.push_str(&row(""));
    }
    text.push_str(&format!("└{wall}┘\n"));
    text
}

/// A text that takes exactly so many columns: filled up, or cut with `…`.
fn fitted(text: &str, columns: usize) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    let most = columns.saturating_sub(1);
    let mut fits = if text.width() > most { cut(&text, most) } else { text };
    let gap = columns.saturating_sub(fits.width());
    fits.extend(std::iter::repeat_n(' ', gap));
    fits
}

fn cut(text: &str, columns: usize) -> String {
    let (mut kept, mut width) = (String::new(), 0);
    for letter in text.chars() {
        width += letter.width().unwrap_or(0);
        if width + 1 > columns {
            break;
        }
        kept.push(letter);
    }
    // Letters may take less room together than one by one, and never more than they were given here.
    while kept.width() + 1 > columns && kept.pop().is_some() {}
    kept + "…"
}

fn section(text: &mut String, title: &str, lines: impl IntoIterator<Item = String>) {
    text.push_str(&format!("\n### {title}\n\n"));
    for line in lines {
        text.push_str(&format!("- {line}\n"));
    }
}

fn remaining(left: &[Left]) -> Vec<String> {
    let one = |Left { number, status, content }: &Left| {
        format!("Task {} ({}): {}", escaped(number), escaped(status), escaped(content))
    };
    let mut lines: Vec<String> = left.iter().map(one).collect();
    lines.push(format!("{} incomplete tasks in Plans.md", left.len()));
    lines
}

/// A text that says no more in Markdown than it says: on one line, without links, mentions and tags.
fn escaped(text: &str) -> String {
    let mut plain = String::new();
    for letter in text.split_whitespace().collect::<Vec<_>>().join(" ").chars() {
        if "\\`*_[]<>#|@!".contains(letter) {
            plain.push('\\');
        }
        plain.push(letter);
    }
    plain
}

/// A path as code, whatever it is called.
fn code(text: &str) -> String {
    let text: String = text.chars().map(|it| if it.is_control() { ' ' } else { it }).collect();
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn left() -> Vec<Left> {
        let one = |number: &str, status: &str, content: &str| Left {
            number: number.to_owned(),
            status: status.to_owned(),
            content: content.to_owned(),
        };
        vec![one("4", "cc:TODO", "Log out"), one("5", "cc:WIP", "画面を直す")]
    }

    fn done() -> Done {
        Done {
            number: "3".to_owned(),
            name: "ログイン機能".to_owned(),
            changes: vec!["Add a login form".to_owned(), "Keep sessions".to_owned()],
            before: "nobody can log in".to_owned(),
            after: "users log in".to_owned(),
            words: vec!["It _works_ now".to_owned()],
            files: (1..=7).map(|n| format!("src/{n}.rs")).collect(),
            left: left(),
            commit: Some("a1b2c3d".to_owned()),
            reviews: vec!["REQUEST_CHANGES".to_owned(), "APPROVE".to_owned()],
        }
    }

    fn all() -> All {
        let told = |name: &str, end| Told { name: name.to_owned(), end };
        All {
            mode: "breezing".to_owned(),
            tasks: vec![
                told("One", End::Done(Some("a1b2c3d".to_owned()))),
                told("Two with a name that goes on and on and on", End::Done(None)),
                told("Three", End::Open),
            ],
            files: 3,
            insertions: 20,
            deletions: 4,
            left: left(),
        }
    }

    #[test]
    fn the_box_of_a_task_is_the_seeds() {
        let drawn = done().boxed();
        let want = "\
┌─────────────────────────────────────────────┐
│ ✓ Task 3 Done: ログイン機能                 │
├─────────────────────────────────────────────┤
│                                             │
│  ■ What was done                            │
│    • Add a login form                       │
│    • Keep sessions                          │
│                                             │
│  ■ What changed                             │
│    Before: nobody can log in                │
│    After: users log in                      │
│                                             │
│  ■ Changed files (7 files)                  │
│    src/1.rs                                 │
│    src/2.rs                                 │
│    src/3.rs                                 │
│    src/4.rs                                 │
│    src/5.rs                                 │
│    … and 2 more                             │
│                                             │
│  ■ Remaining issues                         │
│    • Task 4 (cc:TODO): Log out ← Plans.md   │
│    • Task 5 (cc:WIP): 画面を直す ← Plans.md │
│    (2 incomplete tasks in Plans.md)         │
│                                             │
│  commit: a1b2c3d                            │
│  review: REQUEST_CHANGES → APPROVE          │
└─────────────────────────────────────────────┘
";
        assert_eq!(drawn, want, "\n{drawn}");
    }

    #[test]
    fn the_box_over_all_tasks_is_the_seeds() {
        let drawn = all().boxed();
        let want = "\
┌─────────────────────────────────────────────┐
│ ✗ Breezing Incomplete: 2/3 tasks            │
├─────────────────────────────────────────────┤
│                                             │
│  1. ✓ One [a1b2c3d]                         │
│  2. ✓ Two with a name that goes on and on … │
│  3. ✗ Three                                 │
│                                             │
│  ■ Overall changes                          │
│    3 files changed, 20 insertions(+),       │
│    4 deletions(-)                           │
│                                             │
│  ■ Remaining issues                         │
│    2 incomplete tasks in Plans.md           │
│    • Task 4: Log out                        │
│    • Task 5: 画面を直す                     │
│                                             │
└─────────────────────────────────────────────┘
";
        assert_eq!(drawn, want, "\n{drawn}");
    }

    #[test]
    fn a_pull_request_says_the_same_and_nothing_in_it_is_taken_for_markdown() {
        let mut task = done();
        task.changes.push("Ping @everyone <b>now</b>".to_owned());
        let text = task.markdown();
        assert!(
            text.starts_with(
                "## ✓ Task 3 Done: ログイン機能\n\n### What was done\n\n- Add a login form\n"
            ),
            "{text}"
        );
        assert!(text.contains("- Ping \\@everyone \\<b\\>now\\</b\\>\n"), "{text}");
        assert!(text.contains("### In its worker's words\n\n- It \\_works\\_ now\n"), "{text}");
        assert!(text.contains("- `src/5.rs`\n- `… and 2 more`\n"), "{text}");
        assert!(
            text.ends_with("\ncommit: a1b2c3d | review: REQUEST_CHANGES → APPROVE\n"),
            "{text}"
        );
        let text = all().markdown();
        assert!(
            text.starts_with("## ✗ Breezing Incomplete: 2/3 tasks\n\n1. ✓ One \\[a1b2c3d\\]\n"),
            "{text}"
        );
        assert!(text.contains("- 3 files changed, 20 insertions(+), 4 deletions(-)\n"), "{text}");
        assert_eq!(code("a`b"), "`` a`b ``");
    }

    #[test]
    fn the_heading_says_how_they_were_worked_on_and_whether_all_are_done() {
        let all = |mode: &str, ends: &[End]| {
            let one = |end: &End| Told { name: "x".to_owned(), end: end.clone() };
            let tasks = ends.iter().map(one).collect();
            All { mode: mode.to_owned(), tasks, ..All::default() }.title()
        };
        let done = || End::Done(None);
        assert_eq!(all("breezing", &[done(), done()]), "✓ Breezing Complete: 2/2 tasks");
        assert_eq!(all("breezing", &[done(), End::Open]), "✗ Breezing Incomplete: 1/2 tasks");
        assert_eq!(all("parallel", &[done(), done()]), "✓ Parallel Complete: 2/2 tasks");
        assert_eq!(all("solo", &[End::Open, End::Open]), "✗ Solo Incomplete: 0/2 tasks");
        assert_eq!(all("codex", &[done(), End::Gone]), "✓ Codex Complete: 1/1 tasks");
        assert_eq!(all("", &[done()]), "✓ Work Complete: 1/1 tasks");
    }

    #[test]
    fn progress_is_said_after_every_task() {
        assert_eq!(progress(2, 5, "Log in"), "📊 Progress: Task 2/5 done — Log in");
    }

    proptest! {
        #[test]
        fn whatever_is_in_a_box_its_walls_are_straight(
            name in ".{0,60}",
            content in "[a幅ǘ👩‍👩‍👧 \n]{0,40}",
        ) {
            let left = vec![Left { number: "1".to_owned(), status: "cc:TODO".to_owned(), content: content.clone() }];
            let task = Done { name: name.clone(), changes: vec![content.clone()], left: left.clone(), ..Done::default() };
            let tasks = vec![Told { name, end: End::Done(Some("a1b2c3d".to_owned())) }];
            let all = All { tasks, left, ..All::default() };
            for drawn in [task.boxed(), all.boxed()] {
                for line in drawn.lines() {
                    let inner = line.strip_prefix(['│', '┌', '├', '└']).unwrap_or("");
                    let inner = inner.strip_suffix(['│', '┐', '┤', '┘']).unwrap_or("");
                    prop_assert_eq!(inner.width(), INNER, "{}", drawn);
                }
            }
        }
    }
}
