//! Fixes that were proposed and nobody has decided on yet: `pending-fix-proposals.jsonl`, a line for each.

use serde::{Deserialize, Serialize};

use super::{Cause, Class};
use crate::plans::{NewRow, Number, Plans, Row, Status};

/// Where they are.
pub const PATH: &str = ".claude/state/pending-fix-proposals.jsonl";

/// A fix that is proposed: a row to be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// The number of the row that it would be.
    pub fix_task_id: String,
    /// The task that failed.
    pub source_task_id: String,
    /// What is to be done.
    pub content: String,
    /// When it is done.
    pub dod: String,
    /// What it waits for.
    pub depends: String,
    /// What kind of failure it is.
    pub failure_category: String,
    /// The same for the same cause.
    #[serde(default)]
    pub cause_key: String,
    /// The test that failed, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The table that its row belongs into, if whoever proposed it said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plans: Option<String>,
}

impl Proposal {
    /// The fix of a row for a cause, with a number that no row has.
    pub fn of(row: &Row, cause: &Cause, plans: &Plans) -> Self {
        Self::of_task(&row.number, &row.content, cause, |number| plans.row(number).is_some())
    }

    /// The fix of a task that may have no row, with a number that is not taken.
    pub fn of_task(
        task: &Number,
        content: &str,
        cause: &Cause,
        taken: impl Fn(&Number) -> bool,
    ) -> Self {
        // What mends a fix stands beside it, and both mend the same task.
        let (origin, name) = match task.mended() {
            Some(origin) => (origin, mended(content)),
            None => (task.clone(), content),
        };
        let names = (1_u32..).map(|n| if n == 1 { "fix".to_owned() } else { format!("fix{n}") });
        let mut numbers = names.into_iter().map(|name| origin.below(&name));
        let number = numbers.find_map(|number| match number {
            Some(number) => (!taken(&number)).then_some(number),
            // A number that cannot be any longer.
            None => Some(task.clone()),
        });
        Proposal {
            fix_task_id: number.map_or_else(String::new, |number| number.to_string()),
            source_task_id: task.to_string(),
            content: format!("fix: {name} - {}", cause.first.class.word()),
            dod: "Tests/CI pass".to_owned(),
            depends: task.to_string(),
            failure_category: cause.first.class.word().to_owned(),
            cause_key: cause.first.key(),
            test: cause.first.test.clone(),
            plans: None,
        }
    }

    /// Whether it is the fix of this number for the same table.
    fn is_same(&self, other: &Proposal) -> bool {
        self.fix_task_id == other.fix_task_id && self.plans == other.plans
    }

    /// The row that it would be, if its numbers can be those of rows.
    pub fn row(&self) -> Option<NewRow> {
        Some(NewRow {
            number: Number::of(&self.fix_task_id)?,
            content: self.content.clone(),
            dod: self.dod.clone(),
            depends: Number::of(&self.depends).into_iter().collect(),
            status: Status::Todo,
            beside: Number::of(&self.source_task_id),
        })
    }
}

/// What a fix has mended, by its content: `fix: … - type_error`.
fn mended(content: &str) -> &str {
    let plain = content.strip_prefix("fix: ").unwrap_or(content);
    match plain.rsplit_once(" - ") {
        Some((name, class)) if Class::ALL.iter().any(|own| own.word() == class) => name,
        _ => plain,
    }
}

/// All that are pending.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proposals {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Line {
    Proposal(Box<Proposal>),
    /// Somebody else's: it stays.
    Other(String),
}

/// Why it is not clear which one is meant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unsure {
    /// There is none.
    #[error("no fix is proposed")]
    None,
    /// There are several, and none is named.
    #[error("{} fixes are proposed: say which, {}", .0.len(), .0.join(" or "))]
    Several(Vec<String>),
    /// There is none of that name.
    #[error("no fix is proposed for {said}{}", if .there.is_empty() { String::new() } else { format!(": there is {}", .there.join(", ")) })]
    NoSuch {
        /// What was said.
        said: String,
        /// What there is.
        there: Vec<String>,
    },
}

impl Proposals {
    /// Reads the file. A line that is none of ours stays as it is.
    pub fn read(text: &str) -> Self {
        let lines = text.lines().filter(|line| !line.trim().is_empty()).map(|line| {
            match serde_json::from_str(line) {
                Ok(proposal) => Line::Proposal(Box::new(proposal)),
                Err(_) => Line::Other(line.to_owned()),
            }
        });
        Proposals { lines: lines.collect() }
    }

    /// The file's text.
    pub fn write(&self) -> String {
        let line = |line: &Line| match line {
            // Every proposal can be written as JSON.
            Line::Proposal(proposal) => serde_json::to_string(proposal).unwrap_or_default() + "\n",
            Line::Other(line) => format!("{line}\n"),
        };
        self.lines.iter().map(line).collect()
    }

    /// Those that are pending, the oldest first.
    pub fn all(&self) -> impl Iterator<Item = &Proposal> {
        self.lines.iter().filter_map(|line| match line {
            Line::Proposal(proposal) => Some(&**proposal),
            Line::Other(_) => None,
        })
    }

    /// Adds one, in the place of one of the same number for the same table.
    pub fn add(&mut self, proposal: Proposal) {
        let same = |line: &Line| matches!(line, Line::Proposal(own) if own.is_same(&proposal));
        match self.lines.iter().position(same) {
            Some(at) => self.lines[at] = Line::Proposal(Box::new(proposal)),
            None => self.lines.push(Line::Proposal(Box::new(proposal))),
        }
    }

    /// Takes out exactly this one, if it is there.
    pub fn remove(&mut self, proposal: &Proposal) {
        self.lines.retain(|line| !matches!(line, Line::Proposal(own) if **own == *proposal));
    }

    /// The one that is meant: by the number of the fix or of the task that failed, or the only one; of those for a table, where
    /// one is said. One that says no table is for any.
    ///
    /// # Errors
    ///
    /// When it is not clear which one is meant.
    pub fn meant(&self, said: Option<&str>, table: Option<&str>) -> Result<&Proposal, Unsure> {
        let fits = |own: &&Proposal| match (table, &own.plans) {
            (Some(table), Some(plans)) => table == plans,
            _ => true,
        };
        let there: Vec<&Proposal> = self.all().filter(fits).collect();
        let said = said.map(str::trim).filter(|said| !said.is_empty());
        let meant: Vec<&Proposal> = match said {
            None => there.clone(),
            Some(said) => {
                let by = |is: fn(&Proposal) -> &str| -> Vec<&Proposal> {
                    there.iter().copied().filter(|own| is(own) == said).collect()
                };
                let fixes = by(|own| &own.fix_task_id);
                if fixes.is_empty() { by(|own| &own.source_task_id) } else { fixes }
            }
        };
        match (meant.as_slice(), said) {
            ([only], _) => Ok(only),
            ([], None) => Err(Unsure::None),
            ([], Some(said)) => Err(Unsure::NoSuch { said: said.to_owned(), there: names(&there) }),
            (several, _) => Err(Unsure::Several(names(several))),
        }
    }
}

/// What to say for each of some: its number, and its table where the number alone does not tell.
fn names(all: &[&Proposal]) -> Vec<String> {
    let name = |own: &&Proposal| {
        let alike = all.iter().filter(|other| other.fix_task_id == own.fix_task_id).count();
        match &own.plans {
            Some(plans) if alike > 1 => format!("{} --plans {plans}", own.fix_task_id),
            _ => own.fix_task_id.clone(),
        }
    };
    all.iter().map(name).collect()
}
