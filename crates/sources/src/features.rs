//! A mission's queue: `.harness/features.json`, as its planner, Windlass, a person or another program writes it.
//!
//! ```json
//! { "features": [ {
//!   "id": "F-AUTH-01", "title": "Log in", "claims": ["VAL-AUTH-001"], "status": "pending", "attempts": 0,
//!   "depends": [], "files": ["src/login.rs"], "area": "auth", "priority": 0 } ] }
//! ```
//!
//! The first five are the seed's, the others ours; a bare list of features does as well. What else is there stays there.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use windlass_core::run::Item;
use windlass_core::value::Value;

use crate::SourceError;

/// Where it is.
pub const PATH: &str = ".harness/features.json";

/// No queue has more bytes than this.
pub const BYTES_MAX: u64 = 32 << 20;

/// Why a feature has passed that nobody has built.
pub const BY_HAND: &str = "a person set it to passed in features.json";
/// Why one is left out that nobody has skipped with a reason.
pub const LEFT_OUT: &str = "a person set it to skipped in features.json";

/// What stands behind the word on record, where a person has decided it in the file.
const BY_A_PERSON: &str = " by a person";

/// So many letters of a title are in a line about it.
const SHORT: usize = 100;

/// So much a feature grows by while it is worked on: the commit that it lands with, and why it stands where it stands.
const GROWTH_BYTES: usize = 384;

/// A queue.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Queue {
    /// In the order of the file.
    pub features: Vec<Feature>,
    /// What else the file has.
    more: Map<String, Json>,
    /// The file is the list alone.
    bare: bool,
}

/// A feature.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its id.
    pub id: String,
    /// A line for people.
    #[serde(default)]
    pub title: String,
    /// What must be true once it is there: ids of assertions of the contract, or words.
    #[serde(default)]
    pub claims: Vec<String>,
    /// Where it stands.
    #[serde(default)]
    pub status: Status,
    /// How often a worker has tried.
    #[serde(default)]
    pub attempts: u64,
    /// The features that must have passed before.
    #[serde(default, alias = "dependsOn", alias = "dependencies")]
    pub depends: Vec<String>,
    /// The files that it expects to change: features that share one are not under way together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// The part of the project that it belongs to.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub area: String,
    /// Lower goes first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub priority: i64,
    /// The feature whose validator found what this one is to mend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The commit that it landed with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Why it stands where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// A person wants it to be tried again, whatever has become of it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// The commit that holds what was built of it, where it could not be finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
    /// What it is settled as on record, and whether that was a person's own decision: what they have made of it since is seen by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<String>,
    /// What spoke against it last, where it could not be finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What else is there.
    #[serde(flatten)]
    pub more: BTreeMap<String, Json>,
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// Where a feature stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nobody has begun it.
    #[default]
    #[serde(alias = "todo", alias = "ready", alias = "queued", alias = "open")]
    Pending,
    /// Somebody is at it.
    #[serde(alias = "in-progress", alias = "working", alias = "active")]
    InProgress,
    /// A validator looks at it, or it waits to land.
    Validating,
    /// Its claims hold, and it has landed.
    #[serde(alias = "done", alias = "complete", alias = "completed", alias = "validated")]
    Passed,
    /// Its attempts are used up.
    #[serde(alias = "stuck")]
    Failed,
    /// Something that it depends on has not passed.
    Blocked,
    /// A person left it out.
    Skipped,
    /// A word that we do not know: it counts as pending and stays as it is.
    #[serde(untagged)]
    Other(String),
}

impl Status {
    /// The word.
    pub fn word(&self) -> &str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Validating => "validating",
            Status::Passed => "passed",
            Status::Failed => "failed",
            Status::Blocked => "blocked",
            Status::Skipped => "skipped",
            Status::Other(word) => word,
        }
    }

    /// Whether there is nothing left to be done for it.
    pub fn is_settled(&self) -> bool {
        matches!(self, Status::Passed | Status::Skipped)
    }
}

/// What has become of a feature, where that is known: what the file is brought up to date with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Where it stands.
    pub status: Status,
    /// How often a worker has tried in this mission.
    pub attempts: u64,
    /// The commit that it landed with.
    pub commit: Option<String>,
    /// Why it stands where it stands.
    pub reason: Option<String>,
    /// It is settled because a person has set it so in the file.
    pub by_hand: bool,
}

impl Queue {
    /// Reads a queue.
    ///
    /// # Errors
    ///
    /// When it is no JSON, or not of this form; with line and column.
    pub fn read(text: &str) -> Result<Self, SourceError> {
        let bad = |what: String| SourceError::bad(PATH, what);
        // Some editors put a mark in front that says nothing.
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let json: Json = serde_json::from_str(text).map_err(|error| bad(error.to_string()))?;
        let (list, more, bare) = match json {
            Json::Array(list) => (list, Map::new(), true),
            Json::Object(mut more) => match more.remove("features") {
                Some(Json::Array(list)) => (list, more, false),
                _ => return Err(bad("it has no list `features`".to_owned())),
            },
            _ => return Err(bad("it is neither a list nor an object with `features`".to_owned())),
        };
        let mut features = Vec::with_capacity(list.len());
        for (at, json) in list.into_iter().enumerate() {
            let name = json.get("id").and_then(Json::as_str).map(str::to_owned);
            let feature: Feature = serde_json::from_value(json).map_err(|error| {
                let which = name.map_or(format!("number {}", at + 1), |id| format!("`{id}`"));
                bad(format!("the feature {which} cannot be read: {error}"))
            })?;
            features.push(feature);
        }
        Ok(Queue { features, more, bare })
    }

    /// The file's text.
    pub fn write(&self) -> String {
        /// The fields of a feature in their own order, and what else there is before them.
        #[derive(Serialize)]
        struct File<'a> {
            #[serde(flatten)]
            more: &'a Map<String, Json>,
            features: &'a [Feature],
        }
        let file = File { more: &self.more, features: &self.features };
        let text = match self.bare {
            true => serde_json::to_string_pretty(&self.features),
            false => serde_json::to_string_pretty(&file),
        };
        // Every queue can be written as JSON.
        let mut text = text.unwrap_or_default();
        text.push('\n');
        text
    }

    /// The feature of this id.
    pub fn feature(&self, id: &str) -> Option<&Feature> {
        self.features.iter().find(|feature| feature.id == id)
    }

    /// How long its file may get while it is worked on: as it is written, whatever it looks like now, with what has become of
    /// each feature.
    pub fn bytes_at_most(&self) -> u64 {
        let grows = self.features.iter().filter(|feature| feature.commit.is_none()).count();
        (self.write().len() + grows * GROWTH_BYTES) as u64
    }

    /// What keeps it from being worked on at all: ids twice or missing, dependencies on nothing, circles, and that it would get
    /// so long that it could not be read any more.
    pub fn flaws(&self) -> Vec<String> {
        let mut flaws = Vec::new();
        let bytes = self.bytes_at_most();
        if bytes > BYTES_MAX {
            flaws.push(format!(
                "with what becomes of its features it may have {bytes} bytes, and at most {BYTES_MAX} are read: make it shorter, or \
                 move features that have passed to a file of their own"
            ));
        }
        let mut ids = BTreeSet::new();
        for (at, feature) in self.features.iter().enumerate() {
            match usable(&feature.id) {
                Err(why) => {
                    flaws.push(format!(
                        "the feature number {} cannot be called {:?}: {why}",
                        at + 1,
                        feature.id
                    ));
                }
                Ok(()) if !ids.insert(feature.id.as_str()) => {
                    flaws.push(format!("the id `{}` is there twice", feature.id));
                }
                Ok(()) => {}
            }
        }
        for feature in &self.features {
            for on in feature.depends.iter().filter(|on| !ids.contains(on.as_str())) {
                flaws.push(format!("`{}` depends on `{on}`, which does not exist", feature.id));
            }
        }
        flaws.extend(self.circle());
        flaws
    }

    /// A circle of dependencies, if there is one.
    fn circle(&self) -> Option<String> {
        let place: BTreeMap<&str, usize> =
            self.features.iter().enumerate().map(|(at, it)| (it.id.as_str(), at)).collect();
        let on = |at: usize| {
            self.features[at].depends.iter().filter_map(|id| place.get(id.as_str()).copied())
        };
        let mut waits: Vec<usize> = (0..self.features.len()).map(|at| on(at).count()).collect();
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); waits.len()];
        for at in 0..waits.len() {
            on(at).for_each(|on| after[on].push(at));
        }
        let mut free: Vec<usize> = (0..waits.len()).filter(|at| waits[*at] == 0).collect();
        while let Some(at) = free.pop() {
            for next in &after[at] {
                waits[*next] -= 1;
                if waits[*next] == 0 {
                    free.push(*next);
                }
            }
        }
        let mut at = waits.iter().position(|waits| *waits > 0)?;
        let mut path = Vec::new();
        while !path.contains(&at) {
            path.push(at);
            at = on(at).find(|on| waits[*on] > 0)?;
        }
        let start = path.iter().position(|it| *it == at)?;
        let names: Vec<&str> =
            path[start..].iter().chain([&at]).map(|at| self.features[*at].id.as_str()).collect();
        Some(format!("dependencies go round in a circle: {}", names.join(" → ")))
    }

    /// What is to be worked on: everything that has not passed, was not left out and depends on nothing that was. A
    /// dependency on what has passed is met already.
    pub fn items(&self) -> Vec<Item> {
        let with = |status: Status| {
            let own = self.features.iter().filter(move |feature| feature.status == status);
            own.map(|feature| feature.id.as_str()).collect::<BTreeSet<&str>>()
        };
        let (passed, blocked) = (with(Status::Passed), self.without());
        let open = self.features.iter().filter(|feature| !feature.status.is_settled());
        let open = open.filter(|feature| !blocked.contains_key(feature.id.as_str()));
        open.map(|feature| {
            let depends = feature.depends.iter().filter(|on| !passed.contains(on.as_str()));
            Item {
                id: feature.id.as_str().into(),
                title: feature.line().into(),
                depends: depends.map(|on| Arc::from(on.as_str())).collect(),
                files: feature.files.iter().map(|file| Arc::from(file.as_str())).collect(),
                rank: feature.priority,
                facts: [("found".into(), Value::Flag(feature.origin.is_some()))].into(),
                again: false,
            }
        })
        .collect()
    }

    /// What cannot be worked on because something that it depends on was left out, and what that is.
    pub fn without(&self) -> BTreeMap<&str, &str> {
        let mut after: BTreeMap<&str, Vec<&Feature>> = BTreeMap::new();
        for feature in &self.features {
            for on in &feature.depends {
                after.entry(on).or_default().push(feature);
            }
        }
        let skipped = self.features.iter().filter(|feature| feature.status == Status::Skipped);
        let mut open: Vec<&str> = skipped.map(|feature| feature.id.as_str()).collect();
        let mut without = BTreeMap::new();
        while let Some(on) = open.pop() {
            for next in after.get(on).into_iter().flatten() {
                if !next.status.is_settled() && !without.contains_key(next.id.as_str()) {
                    without.insert(next.id.as_str(), on);
                    open.push(&next.id);
                }
            }
        }
        without
    }

    /// The same queue, brought up to date with what is known.
    #[must_use]
    pub fn with(mut self, progress: &BTreeMap<String, Progress>) -> Queue {
        for feature in &mut self.features {
            let Some(progress) = progress.get(&feature.id) else { continue };
            feature.status = progress.status.clone();
            feature.attempts = progress.attempts;
            feature.commit = progress.commit.clone().or(feature.commit.take());
            feature.reason = progress.reason.clone();
            feature.again = false;
            feature.record(if progress.by_hand { Whose::APersons } else { Whose::Ours });
            if progress.status == Status::Passed {
                (feature.kept, feature.findings) = (None, Vec::new());
            }
        }
        self
    }
}

/// Whose decision it was that a feature is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// It was built, or a verb left it out.
    Ours,
    /// They have set it so in the file.
    APersons,
}

impl Feature {
    /// Notes that it is on record as it stands, if it is settled.
    pub fn record(&mut self, whose: Whose) {
        let by = if whose == Whose::APersons { BY_A_PERSON } else { "" };
        let settled = self.status.is_settled();
        self.recorded = settled.then(|| format!("{}{by}", self.status.word()));
    }

    /// Whether somebody has settled it since it was on record last.
    pub fn is_newly_settled(&self) -> bool {
        let known = self.recorded.as_deref().map(|it| it.strip_suffix(BY_A_PERSON).unwrap_or(it));
        self.status.is_settled() && known != Some(self.status.word())
    }

    /// Whether it is settled because a person has set it so in the file, on record or not.
    pub fn is_by_hand(&self) -> bool {
        let on_record = self.recorded.as_deref().is_some_and(|it| it.ends_with(BY_A_PERSON));
        self.is_newly_settled() || (self.status.is_settled() && on_record)
    }

    /// Its title, or its id where it has none: in one line.
    pub fn line(&self) -> String {
        let title = self.title.split_whitespace().collect::<Vec<_>>().join(" ");
        if title.is_empty() { self.id.clone() } else { title }
    }

    /// The same where it is one of many lines: of a very long one the beginning.
    pub fn short(&self) -> String {
        let line = self.line();
        match line.char_indices().nth(SHORT) {
            Some((at, _)) => format!("{}…", &line[..at]),
            None => line,
        }
    }
}

/// Ids name branches, directories and lines of logs, so they are plain.
///
/// # Errors
///
/// Why not, if it cannot be one.
pub fn usable(id: &str) -> Result<(), &'static str> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    match id {
        "" => Err("it is empty"),
        id if id.len() > 80 => Err("it has more than 80 bytes"),
        id if !id.chars().all(plain) => Err("an id has letters, digits, `-`, `_` and `.`"),
        id if id.starts_with(['-', '.']) || id.ends_with('.') || id.contains("..") => {
            Err("it begins or ends with a dot or a dash, or has two dots in a row")
        }
        id if id.ends_with(".lock") => Err("it ends with `.lock`"),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(text: &str) -> Queue {
        Queue::read(text).unwrap()
    }

    fn named(ids: &[(&str, &[&str])]) -> Queue {
        let feature = |(id, on): &(&str, &[&str])| Feature {
            id: (*id).to_owned(),
            depends: on.iter().map(|on| (*on).to_owned()).collect(),
            ..Feature::default()
        };
        Queue { features: ids.iter().map(feature).collect(), ..Queue::default() }
    }

    #[test]
    fn what_the_seeds_system_wrote_is_read_and_written_back_with_everything_in_it() {
        let text = r#"{"mission": "shop", "features": [
            {"id": "F-1", "title": "Log in", "claims": ["VAL-AUTH-001"], "status": "pending", "attempts": 0, "notes": [1]},
            {"id": "F-2", "title": "Out", "claims": [], "status": "done", "attempts": 2, "dependsOn": ["F-1"]},
            {"id": "F-3", "title": "Odd", "claims": [], "status": "weird", "attempts": 1}]}"#;
        let read = queue(text);
        assert_eq!(read.features[1].status, Status::Passed);
        assert_eq!(read.features[1].depends, ["F-1"]);
        assert_eq!(read.features[2].status, Status::Other("weird".to_owned()));
        let again = queue(&read.write());
        assert_eq!(again, read);
        assert!(read.write().contains("\"mission\": \"shop\"") && read.write().contains("notes"));
        let bare = queue(r#"[{"id": "a"}]"#);
        assert!(bare.write().starts_with('['));
        assert_eq!(queue(&bare.write()), bare);
    }

    #[test]
    fn what_is_none_is_refused_with_its_place() {
        for (text, part) in [
            ("{", "line 1 column 1"),
            ("3", "neither a list nor an object"),
            ("{}", "no list `features`"),
            (r#"[{"id": "a"}, {"id": "b", "claims": 3}]"#, "the feature `b`"),
            (r#"[{"title": "x"}]"#, "the feature number 1"),
        ] {
            let error = Queue::read(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    /// Whoever reads a queue writes it back in their own form, with more in it: that has to be read, too.
    #[test]
    fn a_queue_that_would_get_too_long_is_refused_before_it_is_worked_on() {
        let long = |bytes: usize| {
            let mut queue = named(&[("a", &[])]);
            queue.features[0].title = "x".repeat(bytes);
            queue
        };
        let most = usize::try_from(BYTES_MAX).unwrap();
        let bare = long(0).bytes_at_most();
        assert_eq!(long(most - usize::try_from(bare).unwrap()).flaws(), [""; 0]);
        let flaws = long(most - usize::try_from(bare).unwrap() + 1).flaws();
        assert!(flaws[0].contains("make it shorter"), "{flaws:?}");
        // With the longest that Windlass says of a feature, it is no longer than was said before.
        let mut queue = named(&[("a", &[])]);
        let most = queue.bytes_at_most();
        let why = format!("it depends on {}", "y".repeat(80));
        let (commit, reason) = (Some("0".repeat(64)), Some(why));
        let (status, attempts) = (Status::Blocked, u64::MAX);
        let own = Progress { status, attempts, commit, reason, by_hand: true };
        queue = queue.with(&[("a".to_owned(), own)].into());
        assert!(queue.write().len() as u64 <= most);
    }

    #[test]
    fn flaws_are_named() {
        let flaws = |queue: Queue| queue.flaws();
        assert_eq!(flaws(named(&[("a", &[]), ("b", &["a"])])), [""; 0]);
        assert_eq!(flaws(named(&[("a", &[]), ("a", &[])])), ["the id `a` is there twice"]);
        assert_eq!(flaws(named(&[("a", &["x"])])), ["`a` depends on `x`, which does not exist"]);
        let circle = named(&[("a", &["c"]), ("b", &["a"]), ("c", &["b"]), ("d", &["a"])]);
        assert_eq!(flaws(circle), ["dependencies go round in a circle: a → c → b → a"]);
        for id in ["", "a b", "../x", "a/b", "-x", "x.lock", "a..b", "."] {
            assert_eq!(flaws(named(&[(id, &[])])).len(), 1, "{id}");
        }
        assert_eq!(flaws(named(&[("F-FIX-1.2_x", &[]), ("로그인-1", &[])])), [""; 0]);
    }

    #[test]
    fn a_mark_in_front_of_the_file_says_nothing_and_a_long_title_is_cut_in_a_line() {
        let long = "é".repeat(300);
        let read = queue(&format!("\u{feff}[{{\"id\": \"a\", \"title\": \"{long}\"}}]"));
        assert_eq!(read.features[0].line(), long, "what lands is called what it is called");
        assert_eq!(read.features[0].short().chars().count(), SHORT + 1);
        assert!(!read.write().starts_with('\u{feff}'));
    }

    #[test]
    fn what_has_passed_is_no_work_and_no_obstacle() {
        let mut queue = named(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &[])]);
        queue.features[0].status = Status::Passed;
        queue.features[1].priority = 5;
        queue.features[3].status = Status::Skipped;
        let items = queue.items();
        let ids: Vec<(&str, usize, i64)> =
            items.iter().map(|it| (&*it.id, it.depends.len(), it.rank)).collect();
        assert_eq!(ids, [("b", 0, 5), ("c", 1, 0)]);
    }

    #[test]
    fn what_depends_on_something_that_was_left_out_is_blocked_by_it() {
        let mut queue = named(&[("a", &[]), ("b", &["a"]), ("c", &["b"]), ("d", &["a"])]);
        queue.features[0].status = Status::Skipped;
        queue.features[3].status = Status::Passed;
        assert_eq!(queue.items(), []);
        assert_eq!(queue.without(), BTreeMap::from([("b", "a"), ("c", "b")]));
    }

    /// Whatever else is there of it: a reason, or the commit that it landed with before it broke.
    #[test]
    fn what_a_person_has_settled_is_told_from_what_is_on_record() {
        let one = |text: &str| queue(text).features.remove(0);
        let by_hand = |text: &str| (one(text).is_newly_settled(), one(text).is_by_hand());
        assert_eq!(
            by_hand(r#"[{"id": "a", "status": "passed", "commit": "c0ffee"}]"#),
            (true, true)
        );
        assert_eq!(
            by_hand(r#"[{"id": "a", "status": "done", "recorded": "passed"}]"#),
            (false, false)
        );
        assert_eq!(
            by_hand(r#"[{"id": "a", "status": "skipped", "recorded": "passed"}]"#),
            (true, true)
        );
        assert_eq!(
            by_hand(r#"[{"id": "a", "status": "failed", "recorded": "passed"}]"#),
            (false, false)
        );
        let mut feature = one(r#"[{"id": "a", "status": "skipped"}]"#);
        feature.record(Whose::APersons);
        assert_eq!((feature.is_newly_settled(), feature.is_by_hand()), (false, true));
        let with = |status: Status, by_hand: bool| {
            let own = Progress { status, by_hand, ..Progress::default() };
            named(&[("a", &[])]).with(&[("a".to_owned(), own)].into()).features.remove(0).recorded
        };
        assert_eq!(with(Status::Passed, false).as_deref(), Some("passed"));
        assert_eq!(with(Status::Passed, true).as_deref(), Some("passed by a person"));
        assert_eq!(with(Status::Skipped, false).as_deref(), Some("skipped"));
        assert_eq!(with(Status::Failed, false), None);
    }

    #[test]
    fn progress_is_written_down_and_nothing_else_is_touched() {
        let before = named(&[("a", &[]), ("b", &[])]);
        let progress = Progress { status: Status::Failed, attempts: 3, ..Progress::default() };
        let after = before.clone().with(&BTreeMap::from([("a".to_owned(), progress)]));
        assert_eq!((&after.features[0].status, after.features[0].attempts), (&Status::Failed, 3));
        assert_eq!(after.features[1], before.features[1]);
    }
}
