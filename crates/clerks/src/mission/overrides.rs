//! What a person has settled in the queue between two missions: it is their decision, on record once it is read, and nothing is
//! asked of it.

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_sources::features::{BY_HAND, Feature, LEFT_OUT, Queue, Status, Whose};

use super::reason;
use super::session::Session;

/// So many are named.
const NAMED: usize = 20;

/// What a person has settled and nobody has on record.
pub(super) fn overrides(queue: &Queue) -> Vec<Item> {
    let own = queue.features.iter().filter(|feature| feature.is_newly_settled());
    let item = |feature: &Feature| Item {
        id: feature.id.as_str().into(),
        title: feature.line().into(),
        facts: [("settled_as".into(), Value::text(feature.status.word()))].into(),
        ..Item::default()
    };
    own.map(item).collect()
}

/// What is said of them.
pub(super) fn remarks(overrides: &[Item]) -> Vec<String> {
    let status =
        |item: &Item| item.facts.get("settled_as").map(ToString::to_string).unwrap_or_default();
    let said = overrides.iter().take(NAMED).map(|item| {
        format!(
            "{} was set to `{}` by hand: that counts, and is on record as a person's decision",
            item.id,
            status(item)
        )
    });
    let mut said: Vec<String> = said.collect();
    let more = overrides.len().saturating_sub(NAMED);
    if more > 0 {
        said.push(format!("… and {more} more that were settled by hand"));
    }
    said
}

impl Session {
    /// They are on record.
    pub(super) fn overridden(&mut self, items: &[Item]) {
        for item in items {
            let passed = item.facts.get("settled_as") == Some(&Value::text("passed"));
            let status = if passed { Status::Passed } else { Status::Skipped };
            self.by_hand.insert(item.id.to_string(), status);
        }
        self.dirty = true;
    }

    /// The reason that a person has given in the queue's file for where a feature stands there, if they have.
    pub(super) fn given_reason(&self, unit: &str) -> Option<String> {
        let reason = self.feature(unit)?.reason.clone()?;
        (!reason.trim().is_empty() && !reason::is_ours(&reason)).then_some(reason)
    }

    /// Shows in the queue that it is on record, and whose decision it was. A reason that a person gave stays.
    pub(super) fn put_on_record(&self, queue: &mut Queue) {
        for feature in &mut queue.features {
            let unit = self.progress.contains_key(&feature.id);
            if unit || self.by_hand.get(&feature.id) != Some(&feature.status) {
                continue;
            }
            feature.record(Whose::APersons);
            let why = if feature.status == Status::Passed { BY_HAND } else { LEFT_OUT };
            if feature.reason.as_deref().is_none_or(reason::is_ours) {
                feature.reason = Some(why.to_owned());
            }
        }
    }
}
