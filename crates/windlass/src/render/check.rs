//! What a check came to: every mistake below the line it is about, and a line that sums it up.

use annotate_snippets::Renderer;
use serde_json::{Value, json};
use windlass_core::lang::{Code, Diagnostic, place};
use windlass_core::workflow::{Kind, Workflow};

use super::finding::{Finding, finding};
use super::text::{BAD, GOOD, Line, PLAIN, STRONG, count};
use crate::document::Document;
use crate::error::Error;

/// A file and what became of it.
pub struct Checked {
    pub name: String,
    pub verdict: Verdict,
}

pub enum Verdict {
    Sound(Box<Workflow>),
    Mistaken { source: Document, mistakes: Vec<Diagnostic> },
    Unreadable(Error),
}

/// Every mistake, and how many there are.
pub fn mistakes(source: &Document, mistakes: &[Diagnostic], width: usize) -> String {
    let renderer = Renderer::styled().term_width(width);
    let mut page = String::new();
    for mistake in mistakes {
        let remark = Finding {
            code: mistake.code.name(),
            message: &mistake.message,
            span: mistake.span.clone(),
            related: mistake
                .related
                .iter()
                .map(|(span, why)| (span.clone(), why.as_str()))
                .collect(),
            help: mistake.help.as_deref(),
        };
        page.push_str(&finding(&renderer, width, &source.name, &source.text, &remark));
        page.push_str("\n\n");
    }
    let own = [Code::UnknownRole, Code::UnknownReader, Code::UnknownCheck, Code::UnknownTell];
    if mistakes.iter().any(|mistake| own.contains(&mistake.code)) {
        page.push_str(
            "Roles, readers, checks and tells of your own are declared in a file that is given by \
             --catalogue FILE.\n\n",
        );
    }
    let summary = Line::at(0)
        .add(BAD, count(mistakes.len() as u64, "mistake"))
        .add(PLAIN, " in ")
        .add(STRONG, &source.name);
    page.push_str(&summary.fold(usize::MAX));
    page
}

/// One line for a sound file.
pub fn sound(name: &str, flow: &Workflow) -> String {
    let scopes = flow.scopes.iter().filter(|scope| !scope.stages.is_empty()).count();
    let gates = flow.stages.iter().filter(|stage| matches!(stage.kind, Kind::Gate(_))).count();
    let parts = [
        count(scopes as u64, "scope"),
        count(flow.stages.len() as u64, "stage"),
        count(gates as u64, "gate"),
        count(flow.counters.len() as u64, "counter"),
    ];
    Line::at(0)
        .add(STRONG, name)
        .add(PLAIN, " is ")
        .add(GOOD, "sound")
        .add(PLAIN, format!(": {}", parts.join(", ")))
        .fold(usize::MAX)
}

/// The line below several files.
pub fn checked_total(checked: &[Checked]) -> String {
    let many =
        |which: fn(&Verdict) -> bool| checked.iter().filter(|one| which(&one.verdict)).count();
    let sound = many(|verdict| matches!(verdict, Verdict::Sound(_)));
    let unreadable = many(|verdict| matches!(verdict, Verdict::Unreadable(_)));
    let mut text = format!("{}: {sound} sound", count(checked.len() as u64, "file"));
    let mistaken = checked.len() - sound - unreadable;
    if mistaken > 0 {
        text.push_str(&format!(", {mistaken} with mistakes"));
    }
    if unreadable > 0 {
        text.push_str(&format!(", {unreadable} unreadable"));
    }
    text
}

/// The same for scripts.
pub fn checked_json(checked: &[Checked]) -> Value {
    let sound = checked.iter().all(|one| matches!(one.verdict, Verdict::Sound(_)));
    json!({ "sound": sound, "files": checked.iter().map(file_json).collect::<Vec<_>>() })
}

fn file_json(checked: &Checked) -> Value {
    match &checked.verdict {
        Verdict::Sound(flow) => json!({
            "file": checked.name,
            "sound": true,
            "workflow": flow.name,
            "stages": flow.stages.len(),
            "digest": &*flow.source.digest,
            "mistakes": [],
        }),
        Verdict::Mistaken { source, mistakes } => json!({
            "file": checked.name,
            "sound": false,
            "mistakes": mistakes.iter().map(|one| mistake_json(&source.text, one)).collect::<Vec<_>>(),
        }),
        Verdict::Unreadable(error) => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            json!({
                "file": checked.name,
                "sound": false,
                "error": error.to_string(),
                "cause": cause,
                "mistakes": [],
            })
        }
    }
}

fn mistake_json(text: &str, mistake: &Diagnostic) -> Value {
    let related: Vec<Value> = mistake
        .related
        .iter()
        .map(|(span, why)| {
            let at = place(text, span.start);
            json!({ "line": at.line, "column": at.column, "message": why })
        })
        .collect();
    let (start, end) = (place(text, mistake.span.start), place(text, mistake.span.end));
    json!({
        "code": mistake.code.name(),
        "message": mistake.message,
        "help": mistake.help,
        "line": start.line,
        "column": start.column,
        "end_line": end.line,
        "end_column": end.column,
        "start": mistake.span.start,
        "end": mistake.span.end,
        "text": text.get(mistake.span.clone()),
        "related": related,
    })
}
