//! What an issue waits for and never gets: itself, by way of others, or an issue that is not there.

use std::collections::{BTreeMap, VecDeque};

use windlass_sources::tracker::Issue;

use super::select::{BLOCKED, LeftOut};

/// Who waits for whom.
pub struct Knots(BTreeMap<String, Vec<String>>);

impl Knots {
    /// Among these.
    pub fn among(issues: &[Issue]) -> Self {
        Knots(issues.iter().map(|it| (it.id.clone(), it.blocked_by.clone())).collect())
    }

    /// Says of those that are left out because they are blocked, which of it ends only when a person mends it. `is_nowhere` knows of
    /// issues that are not among these.
    pub fn explain(&self, left_out: &mut [LeftOut], is_nowhere: impl Fn(&str) -> bool) {
        let mut looked: BTreeMap<&str, bool> = BTreeMap::new();
        for left in left_out.iter_mut().filter(|it| it.why.starts_with(BLOCKED)) {
            if let Some(circle) = self.circle(&left.id) {
                let circle = circle.join(" → ");
                left.why +=
                    &format!("; they wait for each other ({circle}): take one of these out");
            }
            for id in self.0.get(&left.id).into_iter().flatten() {
                let is_known = self.0.contains_key(id);
                if !is_known && *looked.entry(id).or_insert_with(|| is_nowhere(id)) {
                    left.why += &format!("; there is no issue `{id}`: is that a slip of the pen?");
                }
            }
        }
    }

    /// The shortest way from an issue to itself, with both ends.
    fn circle(&self, id: &str) -> Option<Vec<String>> {
        let mut came: BTreeMap<&str, &str> = BTreeMap::new();
        let mut next = VecDeque::from([id]);
        while let Some(at) = next.pop_front() {
            let (at, waits) = self.0.get_key_value(at)?;
            for other in waits {
                if other == id {
                    let mut way = vec![id.to_owned(), at.clone()];
                    while let Some(before) = came.get(way.last()?.as_str()) {
                        way.push((*before).to_owned());
                    }
                    way.reverse();
                    return Some(way);
                }
                if self.0.contains_key(other) && !came.contains_key(other.as_str()) {
                    came.insert(other, at);
                    next.push_back(other);
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn explained(waits: &[(&str, &[&str])]) -> Vec<String> {
        let owned = |ids: &[&str]| ids.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let knots = Knots(waits.iter().map(|(id, on)| ((*id).to_owned(), owned(on))).collect());
        let left = |(id, on): &(&str, &[&str])| LeftOut {
            id: (*id).to_owned(),
            title: String::new(),
            why: format!("{BLOCKED} {}", on.join(", ")),
        };
        let mut left: Vec<LeftOut> = waits.iter().map(left).collect();
        knots.explain(&mut left, |id| id == "typo");
        left.into_iter().map(|it| it.why).collect()
    }

    #[test]
    fn who_waits_in_a_circle_or_for_nobody_is_told_so() {
        let seen = explained(&[
            ("a", &["b"]),
            ("b", &["c"]),
            ("c", &["a"]),
            ("d", &["a"]),
            ("e", &["e"]),
            ("f", &["typo", "elsewhere"]),
        ]);
        let circle =
            |way: &str| format!("; they wait for each other ({way}): take one of these out");
        assert_eq!(
            seen,
            [
                format!("{BLOCKED} b{}", circle("a → b → c → a")),
                format!("{BLOCKED} c{}", circle("b → c → a → b")),
                format!("{BLOCKED} a{}", circle("c → a → b → c")),
                // Not in it, and it comes after those that are.
                format!("{BLOCKED} a"),
                format!("{BLOCKED} e{}", circle("e → e")),
                format!(
                    "{BLOCKED} typo, elsewhere; there is no issue `typo`: is that a slip of the pen?"
                ),
            ]
        );
    }
}
