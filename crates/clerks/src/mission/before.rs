//! What earlier missions have landed, held against what the queue's file says of it. The file is people's, and an old copy of it
//! may come back; what has landed is a fact that the journals know.

use std::collections::BTreeMap;

use windlass_core::run::Item;
use windlass_core::value::Value;
use windlass_sources::features::{Feature, Queue, Status, Whose};

use super::reason;
use super::session::Session;

/// So many are named.
const NAMED: usize = 20;

/// What an earlier mission has landed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landing {
    /// The feature.
    pub feature: String,
    /// Its title by then.
    pub title: String,
    /// The mission.
    pub run: String,
    /// The commit.
    pub commit: String,
    /// Where that is by now.
    pub stands: Stands,
}

/// Where something is that has landed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// In the history of the branch that work lands on.
    There,
    /// It waited for a person to take it, and no branch has it any more.
    GivenUp,
    /// Somewhere else, or nowhere: what that means is a person's to say.
    Elsewhere,
}

/// What of a queue is otherwise than its file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Otherwise {
    /// It has landed, and the file has it as open.
    pub landed: Vec<Landing>,
    /// The file has it as passed, and its landing was given up.
    pub given_up: Vec<Landing>,
}

impl Otherwise {
    /// Whether the file is right.
    pub fn is_nothing(&self) -> bool {
        self.landed.is_empty() && self.given_up.is_empty()
    }

    /// What is said of it.
    pub fn remarks(&self) -> Vec<String> {
        let short = |it: &Landing| it.commit.chars().take(8).collect::<String>();
        let landed = self.landed.iter().map(|it| {
            format!(
                "{0} has landed as {1} ({2}), whatever the file says: it is not built again; `windlass mission retry {0}` has it tried \
                 again all the same",
                it.feature,
                short(it),
                it.run
            )
        });
        let given_up = self.given_up.iter().map(|it| {
            format!(
                "{} waited as {} ({}) and is on no branch any more: its landing was given up, so it has not passed, and it is built \
                 again; who has taken it in another way sets it to `passed`, and who does without it to `skipped`",
                it.feature,
                short(it),
                it.run
            )
        });
        let (landed, given_up): (Vec<String>, Vec<String>) = (landed.collect(), given_up.collect());
        let mut said = Vec::new();
        for all in [landed, given_up] {
            let more = all.len().saturating_sub(NAMED);
            said.extend(all.into_iter().take(NAMED));
            if more > 0 {
                said.push(format!("… and {more} more of which that is so"));
            }
        }
        said
    }

    /// As lists of a reading, by name.
    pub(super) fn lists(&self) -> BTreeMap<String, Vec<Item>> {
        let item = |it: &Landing| Item {
            id: it.feature.as_str().into(),
            title: it.title.as_str().into(),
            facts: [("commit".into(), Value::text(&it.commit))].into(),
            ..Item::default()
        };
        let lists = [("landed", &self.landed), ("given_up", &self.given_up)];
        let lists = lists.into_iter().filter(|(_, all)| !all.is_empty());
        lists.map(|(name, all)| (name.to_owned(), all.iter().map(item).collect())).collect()
    }
}

/// Which of these features, as the file has them, an earlier mission has made something else of. The queue is put right.
pub fn put_right(queue: &mut Queue, before: &[Landing]) -> Otherwise {
    let last: BTreeMap<&str, &Landing> =
        before.iter().map(|it| (it.feature.as_str(), it)).collect();
    let mut otherwise = Otherwise::default();
    for feature in &mut queue.features {
        let Some(landing) = last.get(feature.id.as_str()) else { continue };
        match landing.stands {
            Stands::There if is_untouched(feature) && feature.line() == line(landing) => {
                has_landed(feature, &landing.commit);
                otherwise.landed.push((*landing).clone());
            }
            Stands::GivenUp if has_passed_with(feature, &landing.commit) => {
                was_given_up(feature);
                otherwise.given_up.push((*landing).clone());
            }
            Stands::There | Stands::GivenUp | Stands::Elsewhere => {}
        }
    }
    otherwise
}

/// The title, as a feature of that title would have it.
fn line(landing: &Landing) -> String {
    let (id, title) = (landing.feature.clone(), landing.title.clone());
    Feature { id, title, ..Feature::default() }.line()
}

/// Open, with no trace of anything that came to nothing, and of nobody who wants it again.
fn is_untouched(feature: &Feature) -> bool {
    let came_to_nothing = matches!(feature.status, Status::Failed | Status::Blocked);
    let traces = feature.reason.is_some() || feature.kept.is_some() || !feature.findings.is_empty();
    !feature.status.is_settled() && !came_to_nothing && !traces && !feature.again
}

fn has_passed_with(feature: &Feature, commit: &str) -> bool {
    let ours = feature.status == Status::Passed && !feature.is_by_hand();
    ours && feature.commit.as_deref() == Some(commit)
}

fn has_landed(feature: &mut Feature, commit: &str) {
    (feature.status, feature.commit) = (Status::Passed, Some(commit.to_owned()));
    feature.record(Whose::Ours);
}

/// What was built of it is there for whoever builds it again.
fn was_given_up(feature: &mut Feature) {
    feature.kept = feature.commit.take();
    (feature.status, feature.reason) = (Status::Failed, Some(reason::GIVEN_UP.to_owned()));
    feature.record(Whose::Ours);
}

impl Session {
    /// It was found so when the queue was read.
    pub(super) fn found_otherwise(&mut self, items: &[Item], given_up: bool) {
        for item in items {
            let commit = item.facts.get("commit").map(ToString::to_string).unwrap_or_default();
            let all = if given_up { &mut self.given_up } else { &mut self.landed_before };
            all.insert(item.id.to_string(), commit);
        }
        self.dirty = true;
    }

    /// The queue as its file has it, put right by what earlier missions have landed.
    pub(super) fn right(&self, mut queue: Queue) -> Queue {
        for feature in &mut queue.features {
            if let Some(commit) =
                self.landed_before.get(&feature.id).filter(|_| is_untouched(feature))
            {
                has_landed(feature, commit);
            }
            if self.given_up.get(&feature.id).is_some_and(|it| has_passed_with(feature, it)) {
                was_given_up(feature);
            }
        }
        queue
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn landing(feature: &str, stands: Stands) -> Landing {
        Landing {
            feature: feature.to_owned(),
            title: format!("Build {feature}"),
            run: "mission-1".to_owned(),
            commit: "c0ffee".to_owned(),
            stands,
        }
    }

    /// What is made of a feature that the file has like this, and has landed before.
    fn with(fields: &str, stands: Stands) -> (String, Otherwise) {
        let text = format!(r#"[{{"id": "a", "title": "Build a", {fields}}}]"#);
        let mut queue = Queue::read(&text).unwrap();
        let otherwise = put_right(&mut queue, &[landing("a", stands)]);
        (queue.features[0].status.word().to_owned(), otherwise)
    }

    #[test]
    fn what_has_landed_is_open_only_where_somebody_wants_it_so() {
        for status in ["pending", "in_progress", "whatever"] {
            let (word, otherwise) = with(&format!(r#""status": "{status}""#), Stands::There);
            assert_eq!((word.as_str(), otherwise.landed.len()), ("passed", 1), "{status}");
            assert!(otherwise.remarks()[0].contains("`windlass mission retry a`"));
        }
        for fields in [
            r#""again": true"#,
            r#""status": "failed""#,
            r#""reason": "VAL-1 does not hold any more""#,
            r#""status": "skipped""#,
            r#""kept": "beef""#,
        ] {
            assert!(with(fields, Stands::There).1.is_nothing(), "{fields}");
        }
        let mut other = Queue::read(r#"[{"id": "a", "title": "Something else"}]"#).unwrap();
        assert!(put_right(&mut other, &[landing("a", Stands::There)]).is_nothing());
        assert!(with(r#""status": "pending""#, Stands::Elsewhere).1.is_nothing());
    }

    #[test]
    fn what_was_given_up_has_not_passed_unless_a_person_says_so() {
        let ours = r#""status": "passed", "recorded": "passed", "commit": "c0ffee""#;
        let (word, otherwise) = with(ours, Stands::GivenUp);
        assert_eq!((word.as_str(), otherwise.given_up.len()), ("failed", 1));
        assert!(otherwise.remarks()[0].contains("given up"));
        let theirs = r#""status": "passed", "recorded": "passed by a person", "commit": "c0ffee""#;
        let later = r#""status": "passed", "recorded": "passed", "commit": "beef""#;
        for fields in [theirs, later] {
            assert_eq!(with(fields, Stands::GivenUp).0, "passed", "{fields}");
        }
        assert_eq!(with(ours, Stands::Elsewhere).0, "passed");
    }
}
