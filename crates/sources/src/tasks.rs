//! A TOML file of tasks: the simplest source there is.
//!
//! ```toml
//! [[task]]
//! id      = "greeting"
//! title   = "Say hello"           # the id, if left out
//! depends = ["base"]
//! files   = ["src/hello.txt"]     # what it expects to change
//! rank    = -1                    # lower goes first
//! level   = "low"                 # whatever else is there is a fact of the task
//! ```

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;
use windlass_core::{run::Item, value::Value};

use crate::{Reader, Reading, SourceError};

/// Reads a file of tasks: `found` with the list `tasks`, or `empty`.
#[derive(Clone, Debug)]
pub(crate) struct Tasks {
    /// What relative paths are relative to.
    pub(crate) root: PathBuf,
}

/// The file, when the stage passes no `file` along.
const FILE: &str = "tasks.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    task: Vec<Task>,
}

#[derive(Deserialize)]
struct Task {
    id: String,
    title: Option<String>,
    #[serde(default)]
    depends: Vec<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(default)]
    rank: i64,
    #[serde(flatten)]
    facts: BTreeMap<String, toml::Value>,
}

impl Reader for Tasks {
    fn read(&self, with: &BTreeMap<String, Value>) -> Result<Reading, SourceError> {
        let name = match with.get("file") {
            Some(Value::Text(name)) => name.to_string(),
            _ => FILE.to_owned(),
        };
        let path = self.root.join(name);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(source) => return Err(SourceError::Unreadable { path, source }),
        };
        let file: File =
            toml::from_str(&text).map_err(|error| SourceError::bad(path, error.to_string()))?;
        let mut remarks = Vec::new();
        let tasks: Vec<Item> = file.task.into_iter().map(|task| item(task, &mut remarks)).collect();
        let verdict = if tasks.is_empty() { "empty" } else { "found" };
        let lists = BTreeMap::from([("tasks".to_owned(), tasks)]);
        Ok(Reading { verdict: verdict.to_owned(), lists, remarks, ..Reading::default() })
    }
}

fn item(task: Task, remarks: &mut Vec<String>) -> Item {
    let all = |texts: Vec<String>| texts.into_iter().map(Arc::from).collect();
    let mut facts = BTreeMap::new();
    for (name, value) in task.facts {
        match fact(value) {
            Some(value) => {
                facts.insert(name, value);
            }
            None => remarks.push(format!(
                "`tasks[{}].{name}` is left out: a fact is true or false, a whole number, a text or a list of texts",
                task.id
            )),
        }
    }
    Item {
        title: task.title.unwrap_or_else(|| task.id.clone()).into(),
        id: task.id.into(),
        depends: all(task.depends),
        files: all(task.files),
        rank: task.rank,
        facts,
        again: false,
    }
}

fn fact(value: toml::Value) -> Option<Value> {
    match value {
        toml::Value::Boolean(flag) => Some(Value::Flag(flag)),
        toml::Value::Integer(number) => Some(Value::Number(number)),
        toml::Value::String(text) => Some(Value::text(&text)),
        toml::Value::Array(words) => {
            let words = words.iter().map(|word| word.as_str().map(Arc::from));
            Some(Value::Set(words.collect::<Option<_>>()?))
        }
        toml::Value::Float(_) | toml::Value::Datetime(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: Option<&str>) -> Result<Reading, SourceError> {
        let dir = tempfile::tempdir().unwrap();
        if let Some(text) = text {
            std::fs::write(dir.path().join("work.toml"), text).unwrap();
        }
        let with = BTreeMap::from([("file".to_owned(), Value::text("work.toml"))]);
        Tasks { root: dir.path().to_owned() }.read(&with)
    }

    #[test]
    fn tasks_become_items_with_facts() {
        let text = "[[task]]\nid='a'\nlevel='low'\nweight=3\n\
                    [[task]]\nid='b'\ntitle='Second'\ndepends=['a']\nfiles=['src']\nrank=-2";
        let reading = read(Some(text)).unwrap();
        assert_eq!(reading.verdict, "found");
        let tasks = &reading.lists["tasks"];
        assert_eq!((&*tasks[0].id, &*tasks[0].title), ("a", "a"));
        assert_eq!(tasks[0].facts["level"], Value::text("low"));
        assert_eq!(tasks[0].facts["weight"], Value::Number(3));
        assert_eq!((&*tasks[1].title, tasks[1].rank, &*tasks[1].depends[0]), ("Second", -2, "a"));
    }

    #[test]
    fn what_is_no_fact_is_left_out_and_said() {
        let reading = read(Some("[[task]]\nid='a'\nweight=1.5\nlevel='low'")).unwrap();
        assert_eq!(reading.lists["tasks"][0].facts.len(), 1);
        assert!(reading.remarks[0].starts_with("`tasks[a].weight` is left out: "));
        assert_eq!(reading.remarks.len(), 1);
    }

    #[test]
    fn nothing_there_is_nothing_to_do_and_nonsense_is_an_error() {
        assert_eq!(read(None).unwrap().verdict, "empty");
        assert_eq!(read(Some("")).unwrap().verdict, "empty");
        assert!(matches!(read(Some("[[tsak]]\nid='a'")), Err(SourceError::Bad { .. })));
        assert!(matches!(read(Some("[[task]]\ntitle='no id'")), Err(SourceError::Bad { .. })));
    }
}
