//! What roles and people are shown of a mission.

use std::fmt::Write as _;

use windlass_engine::clerk::Situation;
use windlass_sources::contract::{Assertion, FileWant, How};
use windlass_sources::features;

use super::Mission;
use super::session::{CONTRACT, Session, beginning as left};

/// What it can show.
pub const SHOWS: [&str; 18] = [
    "spec",
    "flaws",
    "features.json",
    "validation-contract.md",
    "plan-review",
    "plan-notes",
    "feature",
    "claims",
    "answers",
    "question",
    "findings",
    "landed",
    "evidence",
    "raw.md",
    "summary.md",
    "MEMORY.md",
    "identity",
    "browser",
];

/// So much of a paper is shown.
const SHOWN_BYTES: usize = 96 * 1024;

/// So many features that have landed are named.
const LANDED_SHOWN: usize = 200;

impl Mission {
    pub(super) fn shown(&self, name: &str, at: &Situation) -> Option<String> {
        let session = self.session();
        let unit = at.unit.as_ref().map(|(id, _)| id.as_str());
        let tale = unit.and_then(|unit| session.tales.get(unit));
        let text = match name {
            "spec" => beginning(&session.paper(&self.spec)?, &self.spec),
            "flaws" => {
                drop(session);
                self.flaws().iter().map(|flaw| format!("- {flaw}\n")).collect()
            }
            "features.json" => beginning(&session.paper(features::PATH)?, features::PATH),
            "validation-contract.md" => beginning(&session.paper(CONTRACT)?, CONTRACT),
            "plan-review" => {
                let (came, said) = session.review.as_ref()?;
                format!("{came}: {said}")
            }
            "plan-notes" => {
                let noted = session.review.as_ref().filter(|(came, _)| came == "accept_with_notes");
                noted?.1.clone()
            }
            "feature" => feature(&session, unit?)?,
            "claims" => claims(&session, unit?)?,
            "answers" => tale?.answers.join("\n\n"),
            "question" => tale?.question.clone()?,
            "findings" => findings(&session, unit?),
            "landed" => landed(&session),
            "evidence" => evidence(&session, unit?)?,
            _ => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    }
}

/// What speaks against a feature as it is; of an earlier mission, as long as nobody has found anything in this one.
fn findings(session: &Session, id: &str) -> String {
    let own = session.tales.get(id).map_or(&[][..], |tale| &tale.findings);
    let list = |found: &[String]| found.iter().map(|it| format!("- {it}\n")).collect::<String>();
    // Of this mission what was written down of it may have been read again.
    let known: Vec<String> = own.iter().map(|it| left(it)).collect();
    let before = session.feature(id).map_or(&[][..], |feature| &feature.findings).iter();
    let before: Vec<String> = before.filter(|it| !known.contains(it)).cloned().collect();
    match before.is_empty() {
        true => list(own),
        false => format!("In an earlier mission:\n{}\n{}", list(&before), list(own)),
    }
}

/// A feature, for whoever works on it.
fn feature(session: &Session, id: &str) -> Option<String> {
    let feature = session.feature(id)?;
    let mut text = format!("{id}: {}\n", feature.line());
    // Writing to a String cannot fail.
    if !feature.area.is_empty() {
        let _ = writeln!(text, "Area: {}", feature.area);
    }
    if !feature.depends.is_empty() {
        let _ = writeln!(text, "Depends on (passed already): {}", feature.depends.join(", "));
    }
    if !feature.files.is_empty() {
        let _ = writeln!(text, "Files it is expected to change: {}", feature.files.join(", "));
    }
    if let Some(origin) = &feature.origin {
        let _ = writeln!(text, "Found by the validator of {origin}.");
    }
    for (name, value) in &feature.more {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let _ = writeln!(text, "{name}: {value}");
    }
    Some(text)
}

/// What a feature claims, each with the assertions of it.
fn claims(session: &Session, id: &str) -> Option<String> {
    let feature = session.feature(id)?;
    let mut text = String::new();
    for claim in &feature.claims {
        let assertions = session.assertions(claim);
        if assertions.is_empty() {
            let _ = writeln!(text, "- {claim}");
        }
        for assertion in assertions {
            let _ = writeln!(text, "- {}: {}", assertion.id, assertion.text);
            for how in how(assertion) {
                let _ = writeln!(text, "  - {how}");
            }
        }
    }
    Some(text)
}

/// How an assertion is checked, a line each.
fn how(assertion: &Assertion) -> Vec<String> {
    let line = |how: &How| match how {
        How::Command(command) => format!("command: `{command}`, run by Windlass"),
        How::File { path, want } => {
            let want = match want {
                FileWant::Exists => "exists".to_owned(),
                FileWant::Absent => "is absent".to_owned(),
                FileWant::Contains(text) => format!("contains {text:?}"),
                FileWant::Lacks(text) => format!("lacks {text:?}"),
            };
            format!("file: `{}` {want}, looked at by Windlass", path.as_str())
        }
        How::Http { method, path, status, contains, body } => {
            let body = body.as_ref().map_or(String::new(), |body| format!(" with {body:?}"));
            let with: String = contains.iter().map(|text| format!(" {text:?}")).collect();
            format!(
                "http: {method} {path}{body} → {status}{with}, asked by Windlass of the app on $PORT"
            )
        }
        How::Ui(steps) => {
            let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
            format!("ui: {}; taken by Windlass in a browser", steps.join("; "))
        }
        How::Review(what) => format!("review: {what}"),
    };
    assertion.how.iter().map(line).collect()
}

fn landed(session: &Session) -> String {
    let from = session.landed.len().saturating_sub(LANDED_SHOWN);
    let mut text = String::new();
    if from > 0 {
        let _ = writeln!(text, "{from} features before these.");
    }
    for landed in &session.landed[from..] {
        let _ = writeln!(
            text,
            "- {}: {} ({})",
            landed.id,
            landed.title,
            &landed.commit[..landed.commit.len().min(12)]
        );
    }
    text
}

/// What speaks for a feature, claim by claim.
pub(super) fn evidence(session: &Session, id: &str) -> Option<String> {
    let tale = session.tales.get(id)?;
    let mut text = String::new();
    for (claim, (holds, evidence)) in &tale.claims {
        let _ = writeln!(text, "- {claim}: {holds}: {evidence}");
    }
    Some(text)
}

/// As much of a paper as is shown.
fn beginning(text: &str, path: &str) -> String {
    if text.len() <= SHOWN_BYTES {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(SHOWN_BYTES);
    format!("{}\n[… {} bytes more, in `{path}`]", &text[..cut], text.len() - cut)
}
