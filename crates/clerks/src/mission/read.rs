//! What a mission reads: its queue and its contract, as people have them by now.

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_engine::clerk::Situation;
use windlass_engine::shop::lock;
use windlass_sources::contract::Contract;
use windlass_sources::features::{self, Queue, Status};
use windlass_sources::{Reading, SourceError};

use super::before::{Otherwise, put_right};
use super::overrides::{overrides, remarks};
use super::session::{CONTRACT, CURATED_EVERY, Session};
use super::{Mission, stage};

/// What it can read.
pub const READS: [&str; 5] = ["features", "feature", "queue-edits", STILL_LANDED, "memory-due"];

/// Whether the branch still has what has landed.
pub const STILL_LANDED: &str = "still-landed";

/// What has become of a feature that a person has taken out of the queue before anybody began it.
const REMOVED: &str = "removed";

/// So many flaws are named; more of them help nobody.
const FLAWS_NAMED: usize = 20;

impl Mission {
    pub(super) fn look(&self, name: &str, at: &Situation) -> Result<Option<Reading>, SourceError> {
        if ["features", "queue-edits"].contains(&name) {
            let unreadable = lock(&self.memory).unreadable();
            unreadable.into_iter().for_each(|why| self.warns(why));
        }
        let strict = at.with.get("strict") == Some(&Value::Flag(true));
        Ok(Some(match name {
            "features" => self.features(strict, at)?,
            "feature" => self.one(at)?,
            "queue-edits" => self.edits()?,
            STILL_LANDED => still_landed(at),
            "memory-due" => {
                let session = self.session();
                let since = (session.landed.len() as u64).saturating_sub(session.curated_at);
                came(if since >= CURATED_EVERY { "due" } else { "not_due" })
            }
            _ => return Ok(None),
        }))
    }

    /// The queue and the contract as a person has them; as a role wrote them, where they have none.
    fn features(&self, strict: bool, at: &Situation) -> Result<Reading, SourceError> {
        self.project_files(true);
        let text = self.queue_text()?;
        let contract = self.current(CONTRACT)?;
        let found = lock(&self.memory).found(&lock(&self.projection));
        let found = found.into_iter().map(|(path, text)| (path, text.into_bytes()));
        let Some(text) = text.or_else(|| self.session().paper(features::PATH)) else {
            let mut reading = came("missing");
            reading.papers.extend(found);
            reading
                .papers
                .extend(self.spec_text()?.map(|text| (self.spec.clone(), text.into_bytes())));
            return Ok(reading);
        };
        let queue = match Queue::read(&text) {
            Ok(queue) => queue,
            Err(error) => {
                let mut reading = came("flawed");
                reading.remarks = self.complains(vec![format!("{error}; {}", error.next_step())]);
                reading.papers.insert(features::PATH.to_owned(), text.into_bytes());
                return Ok(reading);
            }
        };
        let parsed = Contract::parse(contract.as_deref().unwrap_or_default());
        let fatal = queue.flaws();
        let mut queue = queue;
        let otherwise = self.otherwise(&mut queue);
        let loose = loose_ends(&queue, &parsed);
        let sound = fatal.is_empty() && (!strict || loose.is_empty());
        let mut reading = came(if sound { "found" } else { "flawed" });
        reading.papers.extend(found);
        reading.remarks = named(&fatal, &loose, contract.is_some() || strict);
        // A planner is told each time what is wrong with theirs.
        if !strict {
            reading.remarks = self.complains(reading.remarks);
        }
        if at.stage == stage::FEATURES {
            let words = lock(&self.spoken).words();
            reading.remarks.extend(self.no_pages(&parsed, words));
        }
        if sound {
            let items = queue.items();
            let number = |many: usize| Value::Number(i64::try_from(many).unwrap_or(i64::MAX));
            reading.facts.insert("feature_count".to_owned(), number(items.len()));
            reading.lists.insert("features".to_owned(), items);
            // Once: where it is read last before features begin.
            if at.stage == stage::FEATURES {
                reading.remarks.extend(otherwise.remarks());
                reading.lists.extend(otherwise.lists());
                let settled = overrides(&queue);
                reading.remarks.extend(remarks(&settled));
                reading.facts.insert("override_count".to_owned(), number(settled.len()));
                reading.lists.insert("overrides".to_owned(), settled);
            }
        }
        reading.papers.insert(features::PATH.to_owned(), text.into_bytes());
        reading.papers.extend(contract.map(|text| (CONTRACT.to_owned(), text.into_bytes())));
        reading.papers.extend(self.spec_text()?.map(|text| (self.spec.clone(), text.into_bytes())));
        Ok(reading)
    }

    /// A feature as its file has it, when somebody is about to begin it.
    fn one(&self, at: &Situation) -> Result<Reading, SourceError> {
        let Some((id, _)) = &at.unit else { return Ok(came("open")) };
        let Some((text, queue)) = self.edited()? else {
            let session = self.session();
            let removed = session.is_removed(id);
            return Ok(came(if removed { REMOVED } else { by_status(session.wanted.get(id)) }));
        };
        let theirs = queue.feature(id);
        let removed = theirs.is_none() && self.session().is_planned(id);
        let status = theirs.map(|feature| &feature.status);
        let mut reading = came(if removed { REMOVED } else { by_status(status) });
        reading.remarks = self.too_late(&queue);
        reading.papers.insert(features::PATH.to_owned(), text.into_bytes());
        Ok(reading)
    }

    /// What a person has changed since it was read last.
    fn edits(&self) -> Result<Reading, SourceError> {
        let found = lock(&self.memory).found(&lock(&self.projection));
        let mut papers: BTreeMap<String, Vec<u8>> =
            found.into_iter().map(|(path, text)| (path, text.into_bytes())).collect();
        let contract = self.current(CONTRACT)?;
        if let Some(text) =
            contract.filter(|text| self.session().paper(CONTRACT).as_deref() != Some(text))
        {
            papers.insert(CONTRACT.to_owned(), text.into_bytes());
        }
        let Some(text) = self.foreign_queue()? else {
            // What was read when another feature was begun: what is to be tried again is taken up here.
            let session = self.session();
            if !session.wanted.values().any(|wanted| *wanted == Status::Pending) {
                return Ok(Reading { papers, ..came("same") });
            }
            let mut reading = Reading { papers, ..came("edited") };
            reading.lists.insert("features".to_owned(), session.items(&session.whole()));
            return Ok(reading);
        };
        let queue = match Queue::read(&text) {
            Ok(queue) => queue,
            Err(error) => {
                let remarks = vec![format!("{error}; until then it counts as it was read last")];
                let remarks = self.complains(remarks);
                return Ok(Reading { remarks, papers, ..came("flawed") });
            }
        };
        let flaws = queue.flaws();
        if flaws.is_empty() {
            self.complains(Vec::new());
        } else {
            let mut remarks = named(&flaws, &[], false);
            remarks.push(format!("{} counts as it was read last", features::PATH));
            let remarks = self.complains(remarks);
            return Ok(Reading { remarks, papers, ..came("flawed") });
        }
        papers.insert(features::PATH.to_owned(), text.into_bytes());
        let mut remarks = self.too_late(&queue);
        let mut queue = queue;
        let otherwise = self.otherwise(&mut queue);
        remarks.extend(otherwise.remarks());
        let mut reading = Reading { papers, remarks, ..came("edited") };
        reading.lists.extend(otherwise.lists());
        // What a unit depends on may have settled long ago: who is known is known by the core.
        reading.lists.insert("features".to_owned(), self.session().items(&queue));
        Ok(reading)
    }

    /// Puts the queue right by what earlier missions have landed, and says what was otherwise: what this one has to do with, it
    /// knows itself.
    fn otherwise(&self, queue: &mut Queue) -> Otherwise {
        let session = self.session();
        let others = self.before.iter().filter(|it| !session.progress.contains_key(&it.feature));
        let mut otherwise = put_right(queue, &others.cloned().collect::<Vec<_>>());
        // What was said once is known.
        otherwise.landed.retain(|it| !session.landed_before.contains_key(&it.feature));
        otherwise
    }

    /// What a person has made of the queue, if it can be worked on: what cannot is left as they have it.
    fn edited(&self) -> Result<Option<(String, Queue)>, SourceError> {
        let Some(text) = self.foreign_queue()? else { return Ok(None) };
        let queue = Queue::read(&text).ok().filter(|queue| queue.flaws().is_empty());
        Ok(queue.map(|queue| (text, queue)))
    }

    /// What is wrong with the plan, for whoever makes a better one.
    pub(super) fn flaws(&self) -> Vec<String> {
        let Some(text) = self.session().paper(features::PATH) else { return Vec::new() };
        match Queue::read(&text) {
            Ok(queue) => {
                let mut flaws = queue.flaws();
                let contract = self.session().paper(CONTRACT).unwrap_or_default();
                flaws.extend(loose_ends(&queue, &Contract::parse(&contract)));
                flaws.truncate(FLAWS_NAMED);
                flaws
            }
            Err(error) => vec![error.to_string()],
        }
    }
}

impl Session {
    /// What is to be worked on in a queue, and which of it once more.
    fn items(&self, queue: &Queue) -> Vec<Item> {
        let mut items = queue.items();
        let again = queue.features.iter().filter(|it| self.is_to_be_tried_again(it));
        let again: BTreeSet<&str> = again.map(|it| it.id.as_str()).collect();
        items.iter_mut().for_each(|item| item.again = again.contains(&*item.id));
        items
    }
}

/// What has landed and is gone is taken back by somebody: that was theirs to do, and it is not done.
fn still_landed(at: &Situation) -> Reading {
    let mut reading = came(if at.gone.is_empty() { "all" } else { "gone" });
    let item = |(unit, commit): &(String, String)| Item {
        id: unit.as_str().into(),
        title: unit.as_str().into(),
        facts: [("commit".into(), Value::text(commit))].into(),
        ..Item::default()
    };
    reading.lists.insert("gone".to_owned(), at.gone.iter().map(item).collect());
    let said = at.gone.iter().take(FLAWS_NAMED);
    let said = said.map(|(unit, commit)| {
        format!(
            "{unit} has landed and is gone from the branch: `git merge {commit}` brings it back"
        )
    });
    reading.remarks.extend(said);
    reading
}

fn by_status(status: Option<&Status>) -> &'static str {
    match status {
        Some(Status::Passed) => "passed",
        Some(Status::Skipped) => "skipped",
        _ => "open",
    }
}

/// What does not keep a queue from being worked on, but should not be in a plan: claims without an assertion, assertions
/// without a claim, what nobody can verify.
fn loose_ends(queue: &Queue, contract: &Contract) -> Vec<String> {
    let mut flaws = Vec::new();
    if queue.features.is_empty() {
        flaws.push(format!("{} has no features", features::PATH));
    }
    let by_id: BTreeMap<String, usize> = contract
        .assertions
        .iter()
        .enumerate()
        .map(|(at, it)| (it.id.to_ascii_uppercase(), at))
        .collect();
    let mut claimed = vec![false; contract.assertions.len()];
    for feature in &queue.features {
        if feature.claims.is_empty() {
            flaws.push(format!("`{}` claims nothing", feature.id));
        }
        for claim in &feature.claims {
            let ids = windlass_sources::contract::ids_in(claim);
            let found: Vec<usize> = if ids.is_empty() {
                let of = |own: &&windlass_sources::contract::Assertion| {
                    by_id.get(&own.id.to_ascii_uppercase()).copied()
                };
                contract.matching(claim).iter().filter_map(of).collect()
            } else {
                ids.iter().filter_map(|id| by_id.get(&id.to_ascii_uppercase()).copied()).collect()
            };
            if found.is_empty() {
                flaws.push(format!(
                    "`{}` claims {claim:?}, and the contract has no assertion of it",
                    feature.id
                ));
            }
            found.into_iter().for_each(|at| claimed[at] = true);
        }
    }
    for (assertion, claimed) in contract.assertions.iter().zip(claimed) {
        if !claimed {
            let what =
                format!("no feature claims {} ({CONTRACT}, line {})", assertion.id, assertion.line);
            flaws.push(what);
        }
    }
    flaws.extend(
        contract.flaws.iter().map(|flaw| format!("{CONTRACT}, line {}: {}", flaw.line, flaw.what)),
    );
    flaws
}

/// What a person should know of flaws.
fn named(fatal: &[String], loose: &[String], has_contract: bool) -> Vec<String> {
    let mut remarks: Vec<String> = fatal.iter().take(FLAWS_NAMED).cloned().collect();
    if has_contract {
        remarks.extend(loose.iter().take(FLAWS_NAMED - remarks.len().min(FLAWS_NAMED)).cloned());
    } else if fatal.is_empty() {
        remarks.push(format!("there is no {CONTRACT}: validators judge each claim by its words"));
    }
    let more = (fatal.len() + loose.len()).saturating_sub(FLAWS_NAMED);
    if more > 0 && has_contract {
        remarks.push(format!("… and {more} more"));
    }
    remarks
}

fn came(verdict: &str) -> Reading {
    Reading { verdict: verdict.to_owned(), ..Reading::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(features: &str, contract: &str) -> Vec<String> {
        loose_ends(&Queue::read(features).unwrap(), &Contract::parse(contract))
    }

    #[test]
    fn a_plan_has_an_assertion_for_each_claim_and_a_claim_for_each_assertion() {
        let one = r#"[{"id": "F-1", "claims": ["VAL-A-001"]}]"#;
        assert_eq!(ends(one, "- VAL-A-001: `x` prints 3\n  command: `sh t.sh`\n"), [""; 0]);
        assert_eq!(
            ends(one, ""),
            ["`F-1` claims \"VAL-A-001\", and the contract has no assertion of it"]
        );
        let more = "- VAL-A-001: prints 3\n  command: `sh t.sh`\n- VAL-A-002: prints 4\n  command: `true`\n";
        let flaws = ends(one, more);
        assert!(flaws[0].starts_with("no feature claims VAL-A-002"), "{flaws:?}");
        let vague = ends(one, "- VAL-A-001: it works well\n");
        assert_eq!(vague.len(), 1, "{vague:?}");
        assert_eq!(ends("[]", ""), [".harness/features.json has no features"]);
        assert_eq!(ends(r#"[{"id": "F-1"}]"#, ""), ["`F-1` claims nothing"]);
        let words = r#"[{"id": "F-1", "claims": ["It prints 3"]}]"#;
        assert_eq!(ends(words, "- VAL-A-001: It prints 3\n  command: `sh t.sh`\n"), [""; 0]);
    }
}
