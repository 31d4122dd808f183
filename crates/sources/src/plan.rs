//! A phase's plan: tasks, each `### Task N: Title`, with checkpoints where a person comes in (docs/formats.md).

use std::collections::BTreeSet;

use crate::markdown::{Heading, ListItem, Outline};

/// A plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Its tasks, in order.
    pub tasks: Vec<Task>,
    /// How many `[checkpoint:…]` marks it has.
    pub checkpoints: usize,
    /// What a person should know about how it was read.
    pub remarks: Vec<String>,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Its number, as the plan gives it or by its place.
    pub id: String,
    /// What it is called.
    pub title: String,
    /// Where a person comes in.
    pub checkpoint: Option<Checkpoint>,
    /// It is ticked off.
    pub complete: bool,
    /// Files that it names.
    pub files: Vec<String>,
    /// All that the plan says about it.
    pub text: String,
}

/// Where a person comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checkpoint {
    /// Look at it and say whether it is right.
    HumanVerify,
    /// Choose before it is done.
    Decision,
    /// Do something before it is done.
    HumanAction,
}

impl Checkpoint {
    /// The word between `[checkpoint:` and `]`.
    pub fn word(self) -> &'static str {
        match self {
            Self::HumanVerify => "human-verify",
            Self::Decision => "decision",
            Self::HumanAction => "human-action",
        }
    }

    fn named(word: &str) -> Option<Self> {
        [Self::HumanVerify, Self::Decision, Self::HumanAction]
            .into_iter()
            .find(|one| one.word() == word.trim().to_ascii_lowercase())
    }
}

const MARK: &str = "[checkpoint:";

impl Plan {
    /// Reads a plan. What is no plan has no tasks.
    pub fn parse(text: &str) -> Self {
        let outline = Outline::of(text);
        let mut plan = Plan { checkpoints: marks(text).count(), ..Plan::default() };
        let headings: Vec<&Heading> =
            outline.headings.iter().filter(|heading| task_of(&heading.text).is_some()).collect();
        if headings.is_empty() {
            for item in items(&outline) {
                let all = &text[item.range.clone()];
                plan.add(None, &item.text, item.ticked == Some(true), all);
            }
        }
        for heading in headings {
            let (number, title) = task_of(&heading.text).unwrap_or_default();
            let all = &text[heading.start..outline.end(heading)];
            let (ticked, title) = box_of(title);
            plan.add(Some(number), title, ticked, all);
        }
        plan
    }

    fn add(&mut self, number: Option<&str>, title: &str, complete: bool, all: &str) {
        let taken: BTreeSet<&str> = self.tasks.iter().map(|task| task.id.as_str()).collect();
        let own = number.map(str::to_owned).unwrap_or_else(|| (self.tasks.len() + 1).to_string());
        let id = if taken.contains(own.as_str()) {
            let other = (2_usize..).map(|n| format!("{own}.{n}"));
            let free = other.into_iter().find(|id| !taken.contains(id.as_str()));
            let free = free.unwrap_or_else(|| own.clone());
            self.remarks.push(format!("two tasks are numbered {own}: the second is called {free}"));
            free
        } else {
            own
        };
        let mut checkpoint = None;
        for mark in marks(all) {
            let this = Checkpoint::named(mark).unwrap_or_else(|| {
                self.remarks.push(format!(
                    "task {id}: nobody knows what [checkpoint:{mark}] is; you are asked to look at it, as at a human-verify"
                ));
                Checkpoint::HumanVerify
            });
            checkpoint.get_or_insert(this);
        }
        let title = without_marks(title);
        let title = if title.is_empty() { format!("Task {id}") } else { title };
        self.tasks.push(Task {
            id,
            title,
            checkpoint,
            complete,
            files: files(all),
            text: all.trim_end().to_owned(),
        });
    }
}

/// Items of the list under a heading that speaks of tasks, or of all lists with boxes if there is none.
fn items<'o>(outline: &'o Outline<'_>) -> Vec<&'o ListItem> {
    let section = outline.headings.iter().find(|heading| {
        heading
            .text
            .split(|letter: char| !letter.is_alphabetic())
            .any(|word| word.eq_ignore_ascii_case("tasks") || word.eq_ignore_ascii_case("steps"))
    });
    match section {
        Some(heading) => {
            let range = heading.start..outline.end(heading);
            outline.items.iter().filter(|item| range.contains(&item.range.start)).collect()
        }
        None => outline.items.iter().filter(|item| item.ticked.is_some()).collect(),
    }
}

/// The number and the title in `Task N: Title`.
fn task_of(heading: &str) -> Option<(&str, &str)> {
    let heading = box_of(heading).1;
    let word = heading.get(..4)?;
    let rest = heading[4..].strip_prefix([' ', '\t'])?.trim_start();
    if !word.eq_ignore_ascii_case("task") {
        return None;
    }
    let end = rest.find(|letter: char| !(letter.is_ascii_digit() || letter == '.'));
    let (number, title) = rest.split_at(end.unwrap_or(rest.len()));
    let number = number.trim_matches('.');
    if number.is_empty() {
        return None;
    }
    Some((number, title.trim_start_matches([':', '-', '–', '—', ' ', '\t']).trim_end()))
}

/// Whether a title begins with a box that is ticked, and what follows.
fn box_of(title: &str) -> (bool, &str) {
    let title = title.trim_start();
    for (mark, ticked) in [("[x]", true), ("[X]", true), ("[ ]", false), ("✅", true)] {
        if let Some(rest) = title.strip_prefix(mark) {
            return (ticked, rest.trim_start());
        }
    }
    (false, title)
}

/// The words of all marks.
fn marks(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let at = rest.find(MARK)?;
        rest = &rest[at + MARK.len()..];
        let end = rest.find([']', '\n'])?;
        Some(&rest[..end])
    })
}

fn without_marks(title: &str) -> String {
    let mut text = title.to_owned();
    while let Some(at) = text.find(MARK) {
        let end = text[at..].find(']').map_or(text.len(), |end| at + end + 1);
        text.replace_range(at..end, "");
    }
    text.trim().to_owned()
}

/// The files on lines that begin with `Files:`, between backticks.
fn files(text: &str) -> Vec<String> {
    let named = text.lines().filter(|line| {
        let line = line.trim_start_matches(['-', '*', ' ', '\t']);
        line.get(..5).is_some_and(|word| word.eq_ignore_ascii_case("files"))
    });
    let between = named.flat_map(|line| line.split('`').skip(1).step_by(2));
    let paths = between.filter(|path| windlass_core::path::Below::parse(path).is_ok());
    paths.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_read_as_the_planner_writes_them() {
        let text = "# Plan\n\n## Tasks\n\n### Task 1: Types\n\n**Files:** `src/a.rs`, `../evil`\n\nDo it.\n\n\
                    ### Task 2: Wire it [checkpoint:human-verify]\n\nLook.\n\n\
                    ### Task 3: [x] Choose\n\n[checkpoint:decision] A or B?\n\n## Notes\n\nNo task.\n";
        let plan = Plan::parse(text);
        let seen: Vec<_> = plan
            .tasks
            .iter()
            .map(|task| (&*task.id, &*task.title, task.checkpoint, task.complete))
            .collect();
        assert_eq!(
            seen,
            [
                ("1", "Types", None, false),
                ("2", "Wire it", Some(Checkpoint::HumanVerify), false),
                ("3", "Choose", Some(Checkpoint::Decision), true),
            ]
        );
        assert_eq!(plan.tasks[0].files, ["src/a.rs"]);
        assert!(plan.tasks[1].text.ends_with("Look."));
        assert_eq!((plan.checkpoints, plan.remarks.len()), (2, 0));
    }

    #[test]
    fn a_list_will_do() {
        let plan = Plan::parse("## Tasks\n1. One\n2. Two\n   - inner\n\n## Risks\n- not a task\n");
        let seen: Vec<_> = plan.tasks.iter().map(|task| (&*task.id, &*task.title)).collect();
        assert_eq!(seen, [("1", "One"), ("2", "Two")]);
        let plan =
            Plan::parse("Intro\n- plain\n\n- [ ] One\n- [x] Two [checkpoint:human-action]\n");
        let seen: Vec<_> =
            plan.tasks.iter().map(|task| (&*task.title, task.complete, task.checkpoint)).collect();
        assert_eq!(seen, [("One", false, None), ("Two", true, Some(Checkpoint::HumanAction))]);
    }

    #[test]
    fn a_mark_that_nobody_knows_stops_for_a_person_all_the_same() {
        let plan = Plan::parse("### Task 1: A [checkpoint:wait]\n");
        assert_eq!(plan.tasks[0].checkpoint, Some(Checkpoint::HumanVerify));
        assert!(plan.remarks[0].contains("[checkpoint:wait]"));
    }

    #[test]
    fn two_tasks_with_one_number_are_two_tasks() {
        let plan = Plan::parse("### Task 1: A\n### Task 1: B\n### Task 1.2: C\n");
        let ids: Vec<_> = plan.tasks.iter().map(|task| &*task.id).collect();
        assert_eq!(ids, ["1", "1.2", "1.2.2"]);
        assert_eq!(plan.remarks.len(), 2);
    }

    #[test]
    fn nonsense_has_no_tasks() {
        for text in ["", "hello", "# Plan\nTask 1: not a heading\n", "```\n### Task 1: A\n```\n"] {
            assert_eq!(Plan::parse(text).tasks, [], "{text:?}");
        }
    }
}
