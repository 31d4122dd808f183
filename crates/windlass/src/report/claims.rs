//! What was claimed of a unit, and what came of it: as whoever judged it last has said, claim by claim.

use serde::Serialize;
use serde_json::Value as Json;
use windlass_engine::asserted::Broken;

/// A claim, judged.
#[derive(Debug, PartialEq, Serialize)]
pub struct Claim {
    pub id: String,
    pub title: String,
    /// `yes`, `no` or `unclear`.
    pub holds: String,
    /// What was run or read, and what came of it.
    pub evidence: String,
    /// Who judged it.
    pub by: String,
}

/// The claims in an answer; those that it says nothing of are none.
pub fn of(said: &str, by: &str) -> Vec<Claim> {
    let said = windlass_agents::last_object(said);
    // An invariant is claimed to hold as well.
    let lists = ["claims", "invariants"]
        .into_iter()
        .filter_map(|name| said.as_ref()?.get(name)?.as_array());
    let claim = |it: &Json| {
        let field =
            |name: &str| it.get(name).and_then(Json::as_str).unwrap_or_default().trim().to_owned();
        let own = Claim {
            id: field("id"),
            title: field("title"),
            holds: field("holds"),
            evidence: field("evidence"),
            by: by.to_owned(),
        };
        (!own.id.is_empty() && !own.holds.is_empty()).then_some(own)
    };
    lists.flatten().filter_map(claim).collect()
}

/// What the check `contract` found of all that has landed: claims that do not hold any more, whoever said before that they do.
pub fn broken(claims: &mut [Claim], found: &[Broken]) {
    for Broken { id, seen, .. } in found {
        for claim in claims.iter_mut().filter(|it| it.id.eq_ignore_ascii_case(id)) {
            claim.holds = "no".to_owned();
            claim.evidence = format!("now that all has landed: {seen}");
            claim.by = "Windlass".to_owned();
        }
    }
}

impl Claim {
    /// Its id, and in words where those say more.
    pub fn line(&self) -> String {
        match self.title.is_empty() || self.title.starts_with(&self.id) {
            true if self.title.is_empty() => self.id.clone(),
            true => self.title.clone(),
            false => format!("{}: {}", self.id, self.title),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_hold_any_more_is_said_by_whoever_looked_last() {
        let said = r#"{"claims": [{"id": "VAL-A-1", "holds": "yes", "evidence": "ran it"}, {"id": "VAL-A-2", "holds": "yes"}]}"#;
        let mut claims = of(said, "codex");
        let (id, text, seen) = ("val-a-1".into(), "it adds".into(), "exited with 1".into());
        broken(&mut claims, &[Broken { id, text, seen }]);
        let lines: Vec<String> =
            claims.iter().map(|it| format!("{} {} {}", it.holds, it.evidence, it.by)).collect();
        assert_eq!(lines, ["no now that all has landed: exited with 1 Windlass", "yes  codex"]);
    }

    #[test]
    fn claims_are_what_is_said_of_each() {
        let said = r#"All of it. {"verdict": "fail", "claims": [
            {"id": "VAL-A-1", "title": "It adds", "holds": "yes", "evidence": "ran it"},
            {"id": "VAL-A-2", "title": null, "holds": "no"}, {"id": "VAL-A-3"}, "VAL-A-4"]}"#;
        let lines: Vec<String> = of(said, "codex")
            .iter()
            .map(|it| format!("{} | {} | {} | {}", it.line(), it.holds, it.evidence, it.by))
            .collect();
        assert_eq!(lines, ["VAL-A-1: It adds | yes | ran it | codex", "VAL-A-2 | no |  | codex"]);
        let said = r#"{"verdict": "pass", "invariants": [{"id": "src-1", "holds": "yes", "evidence": "wc"}]}"#;
        assert_eq!(of(said, "codex")[0].evidence, "wc");
        assert_eq!(of("no object", "codex"), []);
        assert_eq!(of(r#"{"claims": "all"}"#, "codex"), []);
    }
}
