//! What the features that have passed promise together: what later ones land may break it, so all of it is looked at once more
//! before a mission is done.

use std::collections::{BTreeMap, BTreeSet};

use windlass_engine::asserted::Broken;
use windlass_sources::contract::Assertion;
use windlass_sources::features::{Feature, Status};

use super::reason;
use super::session::Session;

impl Session {
    /// What everything that has landed claims, as the contract has it. What a person has left out or set to passed themselves
    /// promises nothing, and what no feature claims nobody has built.
    pub fn promised(&self) -> Vec<Assertion> {
        let whole = self.whole();
        let built = whole.features.iter().filter(|feature| self.is_built(feature));
        let claimed = built.flat_map(|feature| &feature.claims);
        let claimed = claimed.flat_map(|claim| self.assertions(claim));
        let claimed: BTreeSet<&str> = claimed.map(|it| it.id.as_str()).collect();
        let all = self.contract().assertions.iter();
        all.filter(|it| claimed.contains(it.id.as_str())).cloned().collect()
    }

    /// Whether a feature has passed because somebody has built it, in this mission or in one before.
    fn is_built(&self, feature: &Feature) -> bool {
        let own = self.progress.get(&feature.id);
        let before = || feature.commit.is_some() && !feature.is_by_hand();
        feature.status == Status::Passed && own.map_or_else(before, |own| !own.by_hand)
    }

    /// What was found not to be so any more speaks against the features that claim it: they have not passed after all.
    pub(super) fn breaks(&mut self) {
        let whole = self.whole();
        let mut claimed: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for feature in whole.features.iter().filter(|feature| self.is_built(feature)) {
            for assertion in feature.claims.iter().flat_map(|claim| self.assertions(claim)) {
                claimed.entry(assertion.id.clone()).or_default().insert(&feature.id);
            }
        }
        for Broken { id, text, seen } in self.not_so.clone() {
            for unit in claimed.get(&id).into_iter().flatten() {
                let why = self.broken.entry((*unit).to_owned()).or_default();
                let apart = if why.is_empty() { "" } else { "; " };
                why.push_str(&format!("{apart}{id}{}", reason::BROKEN));
                if let Some(own) = self.progress.get_mut(*unit) {
                    (own.status, own.reason) = (Status::Failed, Some(why.clone()));
                }
                self.found(unit, format!("{id} does not hold any more: {text} ({seen})"));
            }
        }
        self.dirty = true;
    }
}
