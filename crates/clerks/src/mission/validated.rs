//! What a validator says, held against what the feature claims; and what it found besides, as features of its own.

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::{Said, Situation};
use windlass_sources::features::Feature;

use super::Mission;
use super::session::{Session, normal};

/// What stands before the id of a feature that mends what a validator found.
pub const FIX: &str = "F-FIX-";

/// So many of the issues that a validator reports at once become features. Whoever finds more has found one thing many times, or
/// makes things up; all of it is in the journal.
const ISSUES_MAX: usize = 20;

impl Mission {
    /// Why a validator's verdict and its claims do not go together, if they do not. What it found besides is numbered, and
    /// what is known already is left out. Whether it has found anything decides between `pass` and `issues`.
    pub(super) fn validated(
        &self,
        verdict: &str,
        said: Said<'_>,
        at: &Situation,
    ) -> Option<String> {
        let (id, _) = at.unit.as_ref()?;
        // Held to the end: whoever is told the same at the same moment in another lane waits, and knows it then.
        let mut session = self.session();
        let feature = session.feature(id)?;
        let judged = said.lists.get("claims").map(Vec::as_slice).unwrap_or_default();
        if let Some(why) = refused(&session, feature, verdict, judged) {
            return Some(why);
        }
        // Of any other verdict nothing becomes a feature: its feature is looked at again.
        if !["pass", "issues"].contains(&verdict) {
            return None;
        }
        // What is found at a fix is its own worker's to mend, and no feature: otherwise a mission might never end.
        let is_fix = feature.origin.is_some();
        let issues = said.lists.entry("issues".to_owned()).or_default();
        let reported = issues.len();
        if !is_fix {
            self.converts(&mut session, id, issues);
        }
        let counts = if issues.is_empty() { "pass" } else { "issues" };
        if counts != verdict {
            let why = match reported {
                0 => "it reports none".to_owned(),
                _ if counts == "pass" => "all that it reports is known already".to_owned(),
                many => format!("it reports {many}"),
            };
            *said.instead = Some((
                counts.to_owned(),
                format!("`{verdict}` counts as `{counts}`: of issues {why}"),
            ));
        }
        None
    }

    /// Leaves out of what was found what is known already and what is too much, and gives the rest the ids of features.
    fn converts(&self, session: &mut Session, id: &str, issues: &mut Vec<Item>) {
        let mut known = session.known_to(id);
        issues.retain(|issue| {
            let new = known.insert(normal(&issue.title));
            if !new {
                self.says(format!(
                    "{id}: its validator found what is known already: {}",
                    issue.title
                ));
            }
            new
        });
        let over = issues.len().saturating_sub(ISSUES_MAX);
        if over > 0 {
            issues.truncate(ISSUES_MAX);
            self.says(format!(
                "{id}: its validator reported {over} more issues than the {ISSUES_MAX} that become features: they are left \
                 out, and `windlass log --full` has them"
            ));
        }
        let of = id.strip_prefix(FIX).or_else(|| id.strip_prefix("F-")).unwrap_or(id);
        let titles = issues.iter().map(|issue| normal(&issue.title)).collect();
        session.found_now.insert(id.to_owned(), titles);
        for issue in issues.iter_mut() {
            // An id that nobody has, and that nobody is about to have.
            let free = (1_u32..).map(|n| format!("{FIX}{of}-{n}"));
            let free = free
                .into_iter()
                .find(|own| session.feature(own).is_none() && !session.numbered.contains(own));
            let own = free.unwrap_or_default();
            session.numbered.insert(own.clone());
            issue.id = own.into();
            // It is about something that has not landed yet.
            issue.depends = vec![id.into()];
        }
    }
}

/// Why a verdict does not go together with what was said of the feature's claims.
fn refused(session: &Session, feature: &Feature, verdict: &str, judged: &[Item]) -> Option<String> {
    if ["pass", "issues"].contains(&verdict) {
        // Whatever else it says of it, and of whatever it says it.
        if let Some(item) = judged.iter().find(|item| !["", "yes"].contains(&holds(item))) {
            let (id, word) = (&item.id, holds(item));
            return Some(format!(
                "it says `{verdict}`, and of `{id}` among the claims that it holds: `{word}`. A claim that fails is a `fail`"
            ));
        }
        for claim in &feature.claims {
            let names: Vec<String> = match session.assertions(claim) {
                found if found.is_empty() => vec![claim.clone()],
                found => found.iter().map(|assertion| assertion.id.clone()).collect(),
            };
            for name in names {
                let said: Vec<&str> =
                    judged.iter().filter(|item| is(item, &name)).map(holds).collect();
                if said.iter().all(|word| word.is_empty()) {
                    return Some(format!(
                        "it says `{verdict}`, and in `claims` nothing about whether `{name}` holds"
                    ));
                }
                if said.iter().any(|word| *word != "yes") {
                    return Some(format!(
                        "it says `{verdict}`, and not that `{name}` holds: a claim that fails is a `fail`"
                    ));
                }
            }
        }
    }
    if verdict == "fail" && !judged.is_empty() && judged.iter().all(|item| holds(item) == "yes") {
        return Some(
            "it says `fail`, and that every claim holds: what lies outside of the claims is an issue"
                .to_owned(),
        );
    }
    None
}

/// Whether an item of the claims is about an assertion, or a claim in words.
fn is(item: &Item, name: &str) -> bool {
    item.id.eq_ignore_ascii_case(name)
        || normal(&item.id) == normal(name)
        || normal(&item.title) == normal(name)
}

fn holds(item: &Item) -> &str {
    match item.facts.get("holds") {
        Some(Value::Text(word)) => word,
        _ => "",
    }
}
