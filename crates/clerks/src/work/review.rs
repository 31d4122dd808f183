//! The verdict of a review: computed from the severities of its findings. What the reviewer concludes is not asked.

use serde_json::{Value as Json, json};

use windlass_engine::entry::Check;

use super::session::Tale;
use crate::finding;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Security, loss of data, an incident in production.
    Critical,
    /// Something that worked is broken, the specification is contradicted, tests fail.
    Major,
    /// Names, comments, style.
    Minor,
    /// What might be better.
    Recommendation,
}

impl Severity {
    /// All of them, the worst first.
    pub const ALL: [Severity; 4] =
        [Severity::Critical, Severity::Major, Severity::Minor, Severity::Recommendation];

    /// The fact that says how many there are.
    pub fn count(self) -> &'static str {
        match self {
            Severity::Critical => "critical_count",
            Severity::Major => "major_count",
            Severity::Minor => "minor_count",
            Severity::Recommendation => "recommendation_count",
        }
    }

    /// The word.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Critical => "critical",
            Severity::Major => "major",
            Severity::Minor => "minor",
            Severity::Recommendation => "recommendation",
        }
    }

    /// What a finding says. What it does not say, or says in words that nobody knows, counts as major: what is not understood does
    /// not land.
    pub fn of(finding: &Json) -> Self {
        let said = finding.get("severity").and_then(Json::as_str).unwrap_or_default();
        let said = said.trim().to_lowercase();
        Severity::ALL.into_iter().find(|own| own.word() == said).unwrap_or(Severity::Major)
    }

    /// Whether one of it is enough to send a change back.
    pub fn blocks(self) -> bool {
        matches!(self, Severity::Critical | Severity::Major)
    }
}

/// What a review comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may land.
    Approve,
    /// It goes back.
    RequestChanges,
}

impl Verdict {
    /// The word in artifacts and reports.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Approve => "APPROVE",
            Verdict::RequestChanges => "REQUEST_CHANGES",
        }
    }

    /// The verdict as the workflow's stages have it.
    pub fn stage_word(self) -> &'static str {
        match self {
            Verdict::Approve => "approve",
            Verdict::RequestChanges => "request_changes",
        }
    }
}

/// A review, as it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The findings, the worst first.
    pub findings: Vec<Json>,
}

impl Review {
    /// A reviewer's answer, with what they conclude. Of one that requests changes and has no findings, what it says is the finding.
    pub fn of(said: &str, concluded: &str) -> Self {
        let mut findings = finding::all(said);
        findings.sort_by_key(Severity::of);
        let gist = windlass_agents::gist(said);
        // The first line may be the verdict alone.
        let is_word = gist.chars().all(|it| it.is_alphanumeric() || it == '_');
        if findings.is_empty() && concluded == Verdict::RequestChanges.stage_word() && !is_word {
            let critical = claimed(said, Severity::Critical) > 0;
            let severity = if critical { Severity::Critical } else { Severity::Major };
            findings.push(json!({ "severity": severity.word(), "title": gist }));
        }
        Review { findings }
    }

    /// What keeps an answer from being an approval although no finding does: it counts what it does not name, requests what it
    /// gives no reason for, or has findings that nobody can read.
    pub fn doubt(&self, said: &str, concluded: &str) -> Option<String> {
        if self.verdict() == Verdict::RequestChanges {
            return None;
        }
        let object = windlass_agents::last_object(said).unwrap_or_default();
        if object.get("findings").is_some_and(|it| !it.is_array() && !it.is_null()) {
            return Some("its `findings` are no list: each finding is an object in one".to_owned());
        }
        for (severity, found) in Severity::ALL.into_iter().zip(self.counts()) {
            let claimed = claimed(said, severity);
            // How many there are that block nothing is no matter, as long as there are any.
            let enough = if severity.blocks() { claimed } else { claimed.min(1) };
            if (found as u64) < enough {
                return Some(format!(
                    "its `{}` is {claimed}, and its `findings` name {found}: each that is counted is to be named",
                    severity.count()
                ));
            }
        }
        let unsaid = concluded == Verdict::RequestChanges.stage_word() && self.findings.is_empty();
        unsaid
            .then(|| format!("it says `{concluded}`, and nothing for it: its `findings` are empty"))
    }

    /// What it comes to.
    pub fn verdict(&self) -> Verdict {
        match self.blocking().next() {
            Some(_) => Verdict::RequestChanges,
            None => Verdict::Approve,
        }
    }

    /// The findings that send it back.
    pub fn blocking(&self) -> impl Iterator<Item = &Json> {
        self.findings.iter().filter(|finding| Severity::of(finding).blocks())
    }

    /// How many there are of each severity, the worst first.
    pub fn counts(&self) -> [usize; 4] {
        Severity::ALL.map(|severity| {
            self.findings.iter().filter(|finding| Severity::of(finding) == severity).count()
        })
    }

    /// Why what a reviewer concluded does not count, if it does not.
    pub fn overrules(&self, concluded: &str) -> Option<String> {
        let verdict = self.verdict();
        if concluded == verdict.stage_word() {
            return None;
        }
        let [critical, major, minor, recommendation] = self.counts();
        Some(format!(
            "the reviewer says `{concluded}`, and finds {critical} critical, {major} major, {minor} minor, {recommendation} \
             recommendation: that is {}",
            verdict.word()
        ))
    }

    /// The artifact that is kept: the same form for every reviewer.
    pub fn artifact(&self, task: &str, commit: Option<&str>, reviewer: &str) -> Json {
        let [critical, major, minor, recommendation] = self.counts();
        let findings: Vec<Json> = self
            .findings
            .iter()
            .map(|finding| {
                let mut finding = match finding {
                    Json::Object(_) => finding.clone(),
                    other => json!({ "title": other }),
                };
                finding["severity"] = json!(Severity::of(&finding).word());
                finding
            })
            .collect();
        json!({
            "schema_version": "review-result.v1",
            "task": task,
            "commit": commit,
            "reviewer": reviewer,
            "verdict": self.verdict().word(),
            "counts": { "critical": critical, "major": major, "minor": minor, "recommendation": recommendation },
            "findings": findings,
        })
    }
}

/// How many findings of a severity a reviewer says that there are.
fn claimed(said: &str, severity: Severity) -> u64 {
    let object = windlass_agents::last_object(said).unwrap_or_default();
    match object.get(severity.count()) {
        Some(Json::String(text)) => text.trim().parse().unwrap_or(0),
        // A part of a finding is one.
        Some(count) => count.as_u64().or_else(|| Some(count.as_f64()?.ceil() as u64)).unwrap_or(0),
        None => 0,
    }
}

/// What became of a task's review by now, for people and programs: the review as it counts, in the same form for every reviewer,
/// and what was tried out besides, which can only make it worse.
pub(super) fn result(unit: &str, tale: &Tale) -> Option<Json> {
    let failed = tale.proofs.iter().filter(|(_, (came, _))| *came == Check::Fail);
    let failed: Vec<Json> =
        failed.map(|(name, (_, line))| json!({ "check": name, "said": line })).collect();
    if tale.review.is_none() && failed.is_empty() {
        return None;
    }
    let none = (Review { findings: Vec::new() }, "windlass".to_owned());
    let (review, by) = tale.review.as_ref().unwrap_or(&none);
    let mut result = review.artifact(unit, tale.commit.as_deref(), by);
    let mut verdicts = vec![review.verdict()];
    if let Some((browser, by)) = &tale.browser {
        verdicts.push(browser.verdict());
        result["browser"] = browser.artifact(unit, None, by);
    }
    if !failed.is_empty() {
        verdicts.push(Verdict::RequestChanges);
        result["failed"] = json!(failed);
    }
    let worst = verdicts.into_iter().find(|it| *it == Verdict::RequestChanges);
    result["verdict"] = json!(worst.unwrap_or(Verdict::Approve).word());
    if tale.records.iter().any(|it| it == "continued_with_findings") {
        result["waived"] = json!(true);
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_tried_out_only_makes_a_review_worse() {
        let said = |severities: &[&str]| (review(severities), "codex".to_owned());
        let (good, bad) = (said(&["minor"]), said(&["major"]));
        let passed = ("contract".to_owned(), (Check::Pass, String::new()));
        let dead = ("contract".to_owned(), (Check::Fail, "it is not to be seen".to_owned()));
        for (own, browser, steps, want) in [
            (&good, None, None, "APPROVE"),
            (&good, Some(&good), Some(&passed), "APPROVE"),
            (&good, Some(&bad), Some(&passed), "REQUEST_CHANGES"),
            (&good, Some(&good), Some(&dead), "REQUEST_CHANGES"),
            (&bad, Some(&good), Some(&passed), "REQUEST_CHANGES"),
        ] {
            let tale = Tale {
                review: Some(own.clone()),
                browser: browser.cloned(),
                proofs: steps.cloned().into_iter().collect(),
                ..Tale::default()
            };
            let result = result("1", &tale).unwrap();
            assert_eq!(result["verdict"], want, "{result:#}");
        }
        // Nobody has reviewed it yet, and it is sent back all the same.
        let tale = Tale { proofs: [dead].into(), ..Tale::default() };
        let sent_back = result("1", &tale).unwrap();
        assert_eq!(
            (&sent_back["verdict"], &sent_back["reviewer"]),
            (&json!("REQUEST_CHANGES"), &json!("windlass"))
        );
        assert_eq!(sent_back["failed"][0]["said"], "it is not to be seen");
        assert_eq!(result("1", &Tale::default()), None);
    }

    fn review(severities: &[&str]) -> Review {
        let findings: Vec<Json> = severities
            .iter()
            .map(|severity| json!({ "severity": severity, "title": format!("a {severity}") }))
            .collect();
        Review::of(&json!({ "verdict": "approve", "findings": findings }).to_string(), "approve")
    }

    #[test]
    fn the_severities_alone_decide() {
        for (severities, want) in [
            (&[][..], Verdict::Approve),
            (&["minor", "minor", "recommendation"], Verdict::Approve),
            (&["recommendation"], Verdict::Approve),
            (&["minor", "major"], Verdict::RequestChanges),
            (&["critical"], Verdict::RequestChanges),
            (&["Critical "], Verdict::RequestChanges),
            // What is not understood does not land.
            (&["blocker"], Verdict::RequestChanges),
            (&[""], Verdict::RequestChanges),
        ] {
            assert_eq!(review(severities).verdict(), want, "{severities:?}");
        }
        let unsaid = Review::of(r#"{"findings": [{"title": "odd"}, "just words"]}"#, "approve");
        assert_eq!((unsaid.verdict(), unsaid.counts()), (Verdict::RequestChanges, [0, 2, 0, 0]));
    }

    #[test]
    fn what_a_reviewer_concludes_does_not_count() {
        let bad = review(&["minor", "critical"]);
        assert_eq!(
            bad.overrules("approve").unwrap(),
            "the reviewer says `approve`, and finds 1 critical, 0 major, 1 minor, 0 recommendation: that is REQUEST_CHANGES"
        );
        assert_eq!(bad.overrules("request_changes"), None);
        let good = review(&["minor"]);
        assert!(good.overrules("request_changes").unwrap().ends_with("that is APPROVE"));
        assert_eq!(good.overrules("approve"), None);
    }

    #[test]
    fn a_reviewer_is_asked_for_what_decides() {
        let catalogue = include_str!("../../../../workflows/catalogue.toml");
        let catalogue = windlass_core::lang::Catalogue::parse(catalogue).unwrap();
        for role in crate::work::REVIEWERS {
            let schema = windlass_agents::schema(&catalogue.roles[role]);
            let findings = &schema["properties"]["findings"];
            assert_eq!(
                (&findings["type"], &findings["items"]["type"]),
                (&json!("array"), &json!("object"))
            );
            let words = Severity::ALL.map(Severity::word);
            assert_eq!(findings["items"]["properties"]["severity"]["enum"], json!(words), "{role}");
        }
    }

    #[test]
    fn what_no_finding_bears_out_is_no_approval() {
        let doubt = |said: &str| {
            let concluded = windlass_agents::last_object(said).unwrap_or_default();
            let concluded =
                concluded.get("verdict").and_then(Json::as_str).unwrap_or("request_changes");
            let review = Review::of(said, concluded);
            (review.verdict(), review.doubt(said, concluded).unwrap_or_default())
        };
        for (said, part) in [
            (
                r#"{"verdict":"request_changes","critical_count":1,"major_count":2}"#,
                "its `critical_count` is 1",
            ),
            (r#"{"verdict":"approve","critical_count":1}"#, "its `findings` name 0"),
            (
                r#"{"verdict":"approve","critical_count":"2","findings":[]}"#,
                "its `critical_count` is 2",
            ),
            (r#"{"verdict":"approve","major_count":0.5}"#, "its `major_count` is 1"),
            (r#"{"verdict":"approve","minor_count":3,"findings":[]}"#, "its `minor_count` is 3"),
            (r#"{"verdict":"request_changes"}"#, "nothing for it"),
            (r#"{"verdict":"request_changes","findings":[]}"#, "nothing for it"),
            ("request_changes", "nothing for it"),
            (r#"{"verdict":"request_changes","findings":{"severity":"critical"}}"#, "are no list"),
            (r#"{"verdict":"approve","findings":"it leaks"}"#, "are no list"),
        ] {
            let (verdict, why) = doubt(said);
            assert_eq!(verdict, Verdict::Approve, "{said}");
            assert!(why.contains(part), "{said}: {why}");
        }
        // What is said for it is its finding.
        for said in [
            r#"{"verdict":"request_changes","summary":"the token is printed","critical_count":1}"#,
            "request_changes: the token is printed",
        ] {
            let review = Review::of(said, "request_changes");
            assert_eq!(review.verdict(), Verdict::RequestChanges, "{said}");
            assert!(review.findings[0]["title"].as_str().unwrap().contains("the token is printed"));
            assert_eq!(review.doubt(said, "request_changes"), None);
        }
        // Still: what blocks nothing is an approval, whoever concludes what, and however it is counted.
        for said in [
            r#"{"verdict":"request_changes","summary":"x","findings":[{"severity":"minor","title":"a"}]}"#,
            r#"{"verdict":"approve","minor_count":2,"findings":[{"severity":"minor","title":"a"}]}"#,
            r#"{"verdict":"approve","critical_count":0,"findings":null}"#,
            r#"{"verdict":"approve"}"#,
        ] {
            assert_eq!(doubt(said), (Verdict::Approve, String::new()), "{said}");
        }
    }

    #[test]
    fn the_artifact_is_the_same_for_every_reviewer() {
        let said = r#"{"findings": [{"severity": "MINOR", "title": "a"}, "words"]}"#;
        let review = Review::of(said, "approve");
        let artifact = review.artifact("26.1", Some("a1b2c3d"), "codex");
        assert_eq!(
            artifact,
            json!({
                "schema_version": "review-result.v1", "task": "26.1", "commit": "a1b2c3d", "reviewer": "codex",
                "verdict": "REQUEST_CHANGES",
                "counts": { "critical": 0, "major": 1, "minor": 1, "recommendation": 0 },
                "findings": [
                    { "severity": "major", "title": "words" },
                    { "severity": "minor", "title": "a" },
                ],
            })
        );
    }
}
