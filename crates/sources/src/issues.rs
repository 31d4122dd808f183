//! `.claude/harness-state.local.md`: what a loop over issues remembers between its sessions (seed: issues). Front matter, and
//! below it what the seed's own loop is told.
//!
//! For us it is a projection. One that the seed's system left is read, whatever it had come to.

use serde::Deserialize;

/// Where it is, from the top of a project.
pub const PATH: &str = ".claude/harness-state.local.md";

/// What stands below the front matter, word for word the seed's.
pub const BODY: &str = "You are running the autonomous engineering harness. Execute /harness start to pick up the next issue \
from Linear and run the plan-work-review-commit cycle. Consult the harness-protocol skill for gate rules and failure handling. \
Output [ISSUE_COMPLETE: <id>] when done with an issue, [ISSUE_FAILED: <id>] on failure, [HARNESS_DONE] when queue is empty, or \
[HARNESS_STOP] to end the session.";

/// So many entries of the friction log are shown.
pub const FRICTION_SHOWN: usize = 5;

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Whether the loop is to go on.
    pub active: bool,
    /// Which issue it is at, counted from 1: the one under way, else the one that comes next.
    pub iteration: u64,
    /// How many it may take.
    pub max_iterations: u64,
    /// How many failed since one was completed.
    pub consecutive_failures: u64,
    /// So many are completed between two passes over friction.
    pub discover_interval: u64,
    /// The project.
    pub project: String,
    /// The team.
    pub team: String,
    /// The labels that mark what is ready.
    pub labels: Vec<String>,
    /// What done is called.
    pub done_status: String,
    /// What in progress is called.
    pub in_progress_status: String,
    /// The issue under way.
    pub current_issue: Option<String>,
    /// Those that were completed, in order.
    pub completed: Vec<String>,
    /// Those that failed.
    pub failed: Vec<String>,
    /// Those that were left out.
    pub skipped: Vec<String>,
    /// What was harder than expected.
    pub friction: Vec<Friction>,
    /// What passes over friction have found. Ours: the seed says to note it, and not where.
    pub patterns: Vec<String>,
    /// Where the issues are, if that is not Linear. Ours: the seed knows no other.
    pub tracker: Option<String>,
    /// How the loop ended, if it has: `done`, `once`, `stopped`, `max_iterations`, `failures`. Ours.
    pub ended: Option<String>,
}

/// What was harder than expected about an issue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Friction {
    /// The issue.
    pub issue: String,
    /// Which one of the loop it was.
    pub iteration: u64,
    /// What.
    pub points: Vec<String>,
}

impl Default for State {
    fn default() -> Self {
        State {
            active: true,
            iteration: 1,
            max_iterations: 20,
            consecutive_failures: 0,
            discover_interval: 5,
            project: String::new(),
            team: "MB90".to_owned(),
            labels: vec!["ready".to_owned()],
            done_status: "Done".to_owned(),
            in_progress_status: "In Progress".to_owned(),
            current_issue: None,
            completed: Vec::new(),
            failed: Vec::new(),
            skipped: Vec::new(),
            friction: Vec::new(),
            patterns: Vec::new(),
            tracker: None,
            ended: None,
        }
    }
}

/// What is wrong with the file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadState {
    /// It does not begin with front matter, or that does not end.
    #[error("it has no front matter between two lines `---`")]
    NoFrontMatter,
    /// The front matter is not what it should be.
    #[error("{0}")]
    FrontMatter(String),
}

/// A name, however it is written: trackers number their issues.
#[derive(Deserialize)]
#[serde(untagged, expecting = "a name or a number")]
enum Word {
    Text(String),
    Number(u64),
}

impl Word {
    fn text(self) -> String {
        match self {
            Word::Text(text) => text,
            Word::Number(number) => number.to_string(),
        }
    }
}

fn texts(words: Option<Vec<Word>>) -> Vec<String> {
    words.unwrap_or_default().into_iter().map(Word::text).collect()
}

#[derive(Deserialize)]
struct RawFriction {
    issue: Option<Word>,
    iteration: Option<u64>,
    points: Option<Vec<Word>>,
}

#[derive(Deserialize)]
struct Raw {
    active: bool,
    iteration: Option<u64>,
    max_iterations: Option<u64>,
    consecutive_failures: Option<u64>,
    discover_interval: Option<u64>,
    linear_project: Option<Word>,
    linear_team: Option<Word>,
    linear_filter_labels: Option<Vec<Word>>,
    linear_done_status: Option<Word>,
    linear_in_progress_status: Option<Word>,
    current_issue: Option<Word>,
    completed_issues: Option<Vec<Word>>,
    failed_issues: Option<Vec<Word>>,
    skipped_issues: Option<Vec<Word>>,
    friction_log: Option<Vec<RawFriction>>,
    patterns: Option<Vec<Word>>,
    tracker: Option<Word>,
    ended: Option<Word>,
}

impl State {
    /// Reads the file. What it leaves out has the seed's default.
    ///
    /// # Errors
    ///
    /// When it has no front matter, or that is not of this form; with its place.
    pub fn read(text: &str) -> Result<Self, BadState> {
        let raw: Raw = serde_saphyr::from_str(front(text).ok_or(BadState::NoFrontMatter)?)
            .map_err(|error| {
                // The front matter begins in the second line.
                let at = error.location();
                let place = at.map_or(String::new(), |at| {
                    format!("line {}, column {}: ", at.line() + 1, at.column())
                });
                let text = error.to_string();
                let what = text.lines().next().unwrap_or_default();
                BadState::FrontMatter(format!("{place}{what}"))
            })?;
        let usual = State::default();
        let text = |word: Option<Word>, usual: String| word.map_or(usual, Word::text);
        let friction = raw.friction_log.unwrap_or_default().into_iter().map(|it| Friction {
            issue: text(it.issue, String::new()),
            iteration: it.iteration.unwrap_or(0),
            points: texts(it.points),
        });
        let labels = texts(raw.linear_filter_labels);
        Ok(State {
            active: raw.active,
            iteration: raw.iteration.unwrap_or(1).max(1),
            max_iterations: raw.max_iterations.unwrap_or(usual.max_iterations),
            consecutive_failures: raw.consecutive_failures.unwrap_or(0),
            discover_interval: raw.discover_interval.unwrap_or(usual.discover_interval),
            project: text(raw.linear_project, usual.project),
            team: text(raw.linear_team, usual.team),
            labels: if labels.is_empty() { usual.labels } else { labels },
            done_status: text(raw.linear_done_status, usual.done_status),
            in_progress_status: text(raw.linear_in_progress_status, usual.in_progress_status),
            current_issue: raw.current_issue.map(Word::text).filter(|issue| !issue.is_empty()),
            completed: texts(raw.completed_issues),
            failed: texts(raw.failed_issues),
            skipped: texts(raw.skipped_issues),
            friction: friction.collect(),
            patterns: texts(raw.patterns),
            tracker: raw.tracker.map(Word::text),
            ended: raw.ended.map(Word::text),
        })
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let mut text = format!(
            "---\nactive: {}\niteration: {}\nmax_iterations: {}\nconsecutive_failures: {}\ndiscover_interval: {}\n\n",
            self.active,
            self.iteration,
            self.max_iterations,
            self.consecutive_failures,
            self.discover_interval
        );
        for (name, value) in [
            ("linear_project", quoted(&self.project)),
            ("linear_team", quoted(&self.team)),
            ("linear_filter_labels", list(&self.labels)),
            ("linear_done_status", quoted(&self.done_status)),
            ("linear_in_progress_status", quoted(&self.in_progress_status)),
        ] {
            text.push_str(&format!("{name}: {value}\n"));
        }
        text.push('\n');
        if let Some(current) = &self.current_issue {
            text.push_str(&format!("current_issue: {}\n", quoted(current)));
        }
        for (name, issues) in [
            ("completed_issues", &self.completed),
            ("failed_issues", &self.failed),
            ("skipped_issues", &self.skipped),
        ] {
            text.push_str(&format!("{name}: {}\n", list(issues)));
        }
        if self.friction.is_empty() {
            text.push_str("\nfriction_log: []\n");
        } else {
            text.push_str("\nfriction_log:\n");
        }
        for Friction { issue, iteration, points } in &self.friction {
            let issue = quoted(issue);
            text.push_str(&format!(
                "  - issue: {issue}\n    iteration: {iteration}\n    points:\n"
            ));
            for point in points {
                text.push_str(&format!("      - {}\n", quoted(point)));
            }
        }
        if !self.patterns.is_empty() {
            text.push_str("patterns:\n");
            for pattern in &self.patterns {
                text.push_str(&format!("  - {}\n", quoted(pattern)));
            }
        }
        if let Some(tracker) = &self.tracker {
            text.push_str(&format!("tracker: {}\n", quoted(tracker)));
        }
        if let Some(ended) = &self.ended {
            text.push_str(&format!("ended: {}\n", quoted(ended)));
        }
        text + "---\n\n" + BODY + "\n"
    }

    /// How many issues it may still take.
    pub fn iterations_left(&self) -> u64 {
        match self.ended.as_deref() {
            Some("max_iterations") => 0,
            _ => (self.max_iterations + 1).saturating_sub(self.iteration),
        }
    }

    /// Whether an issue has been settled, or left out.
    pub fn has(&self, issue: &str) -> bool {
        [&self.completed, &self.failed, &self.skipped]
            .iter()
            .any(|all| all.iter().any(|it| it == issue))
    }

    /// The last entries of the friction log.
    pub fn friction_shown(&self) -> &[Friction] {
        &self.friction[self.friction.len().saturating_sub(FRICTION_SHOWN)..]
    }
}

/// A text as YAML has it between quotes: JSON's form, without what YAML does not take as it is.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() || ('\u{2028}'..='\u{2029}').contains(&letter) => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            '\u{feff}' | '\u{fffe}' | '\u{ffff}' => {
                quoted.push_str(&format!("\\u{:04x}", u32::from(letter)));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

fn list(texts: &[String]) -> String {
    let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    format!("[{}]", all.join(", "))
}

/// What stands between the first line `---` and the next.
fn front(text: &str) -> Option<&str> {
    let text = text.trim_start_matches('\u{feff}');
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n'))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return rest.get(..at);
        }
        at += line.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// As the seed has it, with what its loop has put there since.
    const SEED: &str = r#"---
active: false
iteration: 4
max_iterations: 20
consecutive_failures: 1
discover_interval: 5

linear_project: "P-1"
linear_team: "MB90"
linear_filter_labels: ["ready"]
linear_done_status: "Done"
linear_in_progress_status: "In Progress"
current_issue: MB90-7

completed_issues: [MB90-1, "MB90-2"]
failed_issues: [12]
skipped_issues: []

friction_log:
  - issue: "MB90-1"
    iteration: 1
    points:
      - "no test of it"
---

You are running the autonomous engineering harness.
"#;

    #[test]
    fn what_the_seeds_system_left_is_read() {
        let state = State::read(SEED).unwrap();
        assert!(!state.active && state.ended.is_none());
        assert_eq!((state.iteration, state.max_iterations, state.consecutive_failures), (4, 20, 1));
        assert_eq!(state.iterations_left(), 17);
        assert_eq!(state.completed, ["MB90-1", "MB90-2"]);
        assert_eq!((state.failed, state.skipped.len()), (vec!["12".to_owned()], 0));
        assert_eq!(state.current_issue.as_deref(), Some("MB90-7"));
        assert_eq!(state.friction[0].points, ["no test of it"]);
    }

    #[test]
    fn a_fresh_one_is_the_seeds() {
        let state = State { project: "P-1".to_owned(), ..State::default() };
        assert_eq!(
            state.write(),
            format!(
                r#"---
active: true
iteration: 1
max_iterations: 20
consecutive_failures: 0
discover_interval: 5

linear_project: "P-1"
linear_team: "MB90"
linear_filter_labels: ["ready"]
linear_done_status: "Done"
linear_in_progress_status: "In Progress"

completed_issues: []
failed_issues: []
skipped_issues: []

friction_log: []
---

{BODY}
"#
            )
        );
    }

    #[test]
    fn what_is_no_state_is_said_to_be_none() {
        for (text, says) in [
            ("", "no front matter"),
            ("active: true\n", "no front matter"),
            ("---\nactive: true\n", "no front matter"),
            ("---\nactive: maybe\n---\n", "line 2"),
            ("---\nactive: true\niteration: [1\n---\n", "line"),
            ("---\niteration: 3\n---\n", "active"),
        ] {
            let flaw = State::read(text).unwrap_err().to_string();
            assert!(flaw.contains(says), "{text:?}: {flaw}");
        }
        let least = State::read("---\nactive: true\n---\n").unwrap();
        assert_eq!(least, State::default());
    }

    #[test]
    fn a_loop_that_has_used_up_its_iterations_has_none_left() {
        let at = |iteration, ended: Option<&str>| {
            let ended = ended.map(str::to_owned);
            State { iteration, max_iterations: 3, ended, ..State::default() }.iterations_left()
        };
        assert_eq!([at(1, None), at(3, None), at(4, None), at(9, None)], [3, 1, 0, 0]);
        assert_eq!(at(3, Some("max_iterations")), 0);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            texts in proptest::collection::vec("\\PC{0,12}|[\\n\\t\"\\\\:#\\-\u{85}\u{2028}\u{feff}]{0,6}", 9),
            numbers in proptest::array::uniform4(0..1_000_u64),
            active: bool,
        ) {
            let [iteration, max_iterations, consecutive_failures, discover_interval] = numbers;
            let text = |at: usize| texts[at].clone();
            let state = State {
                active,
                iteration: iteration.max(1),
                max_iterations,
                consecutive_failures,
                discover_interval,
                project: text(0),
                team: text(1),
                labels: vec![text(2), text(3)],
                current_issue: Some(text(4)).filter(|it| !it.is_empty()),
                completed: vec![text(5)],
                failed: vec![text(6), text(6)],
                friction: vec![Friction { issue: text(7), iteration, points: vec![text(8), text(0)] }],
                patterns: vec![text(1)],
                tracker: Some(text(3)),
                ended: Some(text(2)),
                ..State::default()
            };
            prop_assert_eq!(State::read(&state.write()), Ok(state));
        }
    }
}
