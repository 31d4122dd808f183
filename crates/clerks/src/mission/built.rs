//! What was built of a feature that has not landed: where that is, for whoever goes on with it.

use windlass_engine::entry::Note;

use super::session::Session;
use super::stage;

impl Session {
    /// The commit with what was built of a feature that has not landed, if that is anything. While its lane holds files with
    /// both sides of a conflict in them, that is what it held before.
    pub fn built(&self, unit: &str) -> Option<&str> {
        let own = if self.both_sides.contains(unit) { &self.before } else { &self.built };
        let (base, held) = own.get(unit)?;
        (base != held).then_some(held)
    }

    /// The commit with what was built of a feature before it was begun anew, in this mission or in an earlier one.
    pub fn kept(&self, unit: &str) -> Option<&str> {
        let earlier = self.earlier.get(unit).or_else(|| self.given_up.get(unit));
        earlier.map(String::as_str).or_else(|| self.feature(unit)?.kept.as_deref())
    }

    /// What a feature's lane stands on, and what it holds.
    pub(super) fn lane_holds(&mut self, note: &Note) {
        let held = match note {
            Note::Based { unit: Some(unit), base } => {
                let on = (base.clone(), base.clone());
                let before = self.built.insert(unit.clone(), on);
                if !self.both_sides.remove(unit) {
                    self.before.extend(before.map(|before| (unit.clone(), before)));
                }
                return;
            }
            Note::Conflicted { unit: Some(unit), .. } => {
                self.both_sides.insert(unit.clone());
                return;
            }
            Note::Landed { unit: Some(unit), .. } => {
                self.built.remove(unit);
                return;
            }
            Note::Saved { unit: Some(unit), commit, .. }
            | Note::ByHand { unit: Some(unit), commit } => Some((unit, commit)),
            Note::Answered(it) => it.asked.unit.as_ref().zip(it.commit.as_ref()),
            _ => None,
        };
        if let Some((unit, commit)) = held
            && let Some((_, held)) = self.built.get_mut(unit)
        {
            held.clone_from(commit);
        }
        if let Note::ByHand { unit: Some(unit), .. } = note {
            self.both_sides.remove(unit);
        }
        if let Note::Answered(it) = note
            && let (stage::RESOLVE, "resolved", Some(unit)) =
                (it.asked.stage.as_str(), it.came.as_str(), &it.asked.unit)
        {
            self.both_sides.remove(unit);
        }
    }

    /// What was built of a feature that is begun once more is what was built of it before.
    pub(super) fn begun_anew(&mut self, unit: &str) {
        let built = self.built(unit).map(str::to_owned);
        self.earlier.extend(built.map(|built| (unit.to_owned(), built)));
        self.built.remove(unit);
        self.before.remove(unit);
        self.both_sides.remove(unit);
    }
}
