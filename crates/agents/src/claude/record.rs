//! The record that Claude Code keeps of its sessions: what it remembers when it goes on.

use std::collections::HashSet;
use std::path::Path;

use serde_json::{Map, Value as Json};

use crate::listen::{event, text};
use crate::record_files;

/// Where it is, in its home.
pub(super) const PROJECTS: &str = ".claude/projects";

/// Whether a session is on record with all that its agent was heard to do: it writes that down some tenths of a second
/// after it has gone on.
pub(super) fn remembers(home: &Path, session: &str, heard: &[String]) -> bool {
    let name = format!("{session}.jsonl");
    let mut files = record_files(&home.join(PROJECTS)).into_iter();
    let file = files.find(|file| file.file_name().is_some_and(|own| *own == *name));
    let Some(record) = file.and_then(|file| std::fs::read(file).ok()) else { return false };
    let lines = record.split(|byte| *byte == b'\n').filter_map(event);
    let written: HashSet<String> =
        lines.flat_map(|line| steps(&line).collect::<Vec<_>>()).collect();
    heard.iter().all(|step| written.contains(step))
}

/// What a line of its stream or of its record says of tools that it used, and of what came of that.
pub(super) fn steps(event: &Map<String, Json>) -> impl Iterator<Item = String> {
    let content = event.get("message").and_then(|message| message.get("content")?.as_array());
    content.into_iter().flatten().filter_map(Json::as_object).filter_map(|block| {
        match text(block, "type")? {
            "tool_use" => Some(format!("used {}", text(block, "id")?)),
            "tool_result" => Some(format!("had {}", text(block, "tool_use_id")?)),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcripts::stream;

    #[test]
    fn it_goes_on_with_a_session_that_remembers_all_that_it_did() {
        let home = tempfile::tempdir().unwrap();
        let session = "22ed9903-db8b-4025-9a5f-d1a9e7b995de";
        let all = stream("claude-edit");
        let lines = all.split(|byte| *byte == b'\n').filter_map(event);
        let heard: Vec<String> = lines.flat_map(|line| steps(&line).collect::<Vec<_>>()).collect();
        assert_eq!(
            heard.len(),
            6,
            "three tools were used, and three things came of that: {heard:?}"
        );
        let found = || remembers(home.path(), session, &heard);
        assert!(!found(), "there is no session");
        let projects = home.path().join(PROJECTS).join("-lane");
        std::fs::create_dir_all(&projects).unwrap();
        let file = projects.join(format!("{session}.jsonl"));
        // What it prints and what it writes down have the same form where it matters.
        std::fs::write(&file, &all).unwrap();
        assert!(found());
        let last = all.windows(14).rposition(|at| at == b"\"tool_result\",").unwrap();
        std::fs::write(&file, &all[..last]).unwrap();
        assert!(!found(), "it does not know what came of the last tool");
        assert!(remembers(home.path(), session, &heard[..5]));
    }
}
