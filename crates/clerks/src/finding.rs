//! Findings: what verifiers and reviewers have to say against something, as they say it in JSON.

use serde_json::{Value as Json, json};

/// The findings in a reviewer's answer: its list `findings`, and what it calls blockers and the list has not got.
pub fn all(said: &str) -> Vec<Json> {
    let Some(said) = windlass_agents::last_object(said) else { return Vec::new() };
    let list = |name: &str| said.get(name).and_then(Json::as_array).cloned().unwrap_or_default();
    let mut findings = list("findings");
    for blocker in list("blockers") {
        let title = |it: &Json| it.get("title").cloned().unwrap_or_else(|| it.clone());
        if !findings.iter().any(|own| title(own) == title(&blocker)) {
            let mut blocker = match blocker {
                Json::Object(_) => blocker,
                other => json!({ "title": other }),
            };
            blocker["severity"] = json!("blocking");
            findings.push(blocker);
        }
    }
    findings
}

/// Blocking, warnings, notes.
pub fn counts(findings: &[Json]) -> [u64; 3] {
    ["blocking", "warning", "note"].map(|severity| {
        let own = findings
            .iter()
            .filter(|it| it.get("severity").and_then(Json::as_str) == Some(severity));
        own.count() as u64
    })
}

/// A finding with its reasons, if it gives any.
pub fn text(finding: &Json) -> String {
    let short = line(finding);
    match finding["rationale"].as_str().map(str::trim).filter(|text| !text.is_empty()) {
        Some(why) => format!("{short}\n  {}", why.replace('\n', "\n  ")),
        None => short,
    }
}

/// A finding in a line: `[blocking] Title src/lib.rs:12`, as far as it says so.
pub fn line(finding: &Json) -> String {
    let field = |name: &str| match finding.get(name) {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null) | None => String::new(),
        Some(other) => other.to_string(),
    };
    let severity = field("severity");
    let severity = if severity.is_empty() { severity } else { format!("[{severity}]") };
    let place = match (field("file"), field("line")) {
        (file, line) if !file.is_empty() && !line.is_empty() => format!("{file}:{line}"),
        (file, _) => file,
    };
    let parts = [severity, field("title"), place];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    if parts.is_empty() { finding.to_string() } else { parts.join(" ") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_what_it_has_to_say() {
        for (finding, want) in [
            (
                json!({"severity": "blocking", "title": "a race", "file": "b.rs", "line": 9}),
                "[blocking] a race b.rs:9",
            ),
            (json!({"title": "a race", "line": 9}), "a race"),
            (json!({"file": "b.rs"}), "b.rs"),
            (json!("just text"), "\"just text\""),
        ] {
            assert_eq!(line(&finding), want);
        }
        let reasoned = json!({"title": "a race", "rationale": " two\nlines "});
        assert_eq!(text(&reasoned), "a race\n  two\n  lines");
    }

    #[test]
    fn blockers_are_findings_once() {
        let said = r#"{"findings":[{"severity":"note","title":"a"}],"blockers":[{"id":"1","title":"b"},{"id":"2","title":"a"}]}"#;
        let found = all(said);
        assert_eq!(counts(&found), [1, 0, 1], "{found:?}");
        assert_eq!(all("nothing"), Vec::<Json>::new());
    }
}
