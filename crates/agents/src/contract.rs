//! What an agent's stream has to be like for us to understand it, and how it is noticed that it is not any more.
//!
//! A contract names the events that an agent prints and what has to be in each; nothing else about them matters. Whatever
//! an agent says is held against it while it works. One that begins with something else speaks another language than we
//! do: it is stopped before it has asked its model for much. What changes later is remarked, for whoever reads of it.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::listen::{Event, Source};

/// How a remark begins that tells of something that is not as it should be.
pub const DRIFT: &str = "not as Windlass knows it: ";

/// What the lines of an agent are like.
#[derive(Debug)]
pub(crate) struct Contract {
    /// Where the parts of an event's name stand: `type`, then `subtype`, if there is one.
    pub names: &'static [&'static str],
    /// Every event that it prints. Those that nobody listens to have no needs.
    pub printed: &'static [Shape],
    /// Where the parts of a name stand in its record.
    pub record_names: &'static [&'static str],
    /// What is listened for in its record; whatever else is there is its own affair.
    pub written: &'static [Shape],
}

/// An event: its name (`system/*` stands for all that begin so), and what has to be in it. A path is keys with dots
/// between them; `*` is every key, or every item of a list.
pub(crate) type Shape = (&'static str, &'static [&'static str]);

/// Holds what one invocation says against the contract.
#[derive(Clone, Debug)]
pub(crate) struct Drift {
    contract: &'static Contract,
    /// It has said something that is an event.
    begun: bool,
    /// So many lines that are none came before.
    unread: u32,
    /// What was noticed.
    seen: BTreeSet<String>,
}

/// So many lines may come before the first event: warnings, say.
const PREAMBLE: u32 = 50;
/// So much is remembered of what was noticed.
const NOTICED: usize = 12;

impl Drift {
    pub(crate) fn from(contract: &'static Contract) -> Self {
        Drift { contract, begun: false, unread: 0, seen: BTreeSet::new() }
    }

    /// A line that is no event.
    pub(crate) fn no_event(&mut self, from: Source, line: &[u8]) -> Vec<Event> {
        if self.begun || from != Source::Output || line.trim_ascii().is_empty() {
            return Vec::new();
        }
        self.unread += 1;
        if self.unread != PREAMBLE {
            return Vec::new();
        }
        self.begun = true;
        self.notice(format!("its first {PREAMBLE} lines are no events"));
        vec![Event::Strange]
    }

    /// An event. What it begins with tells whether we understand it at all.
    pub(crate) fn heed(&mut self, from: Source, event: &Map<String, Json>) -> Option<Event> {
        let first = from == Source::Output && !self.begun;
        self.begun |= first;
        let well = match from {
            Source::Output => self.printed(event),
            Source::Record => self.written(event),
            Source::Past | Source::Before => true,
        };
        (first && !well).then_some(Event::Strange)
    }

    fn printed(&mut self, event: &Map<String, Json>) -> bool {
        let name = name(event, self.contract.names);
        match shape(self.contract.printed, &name) {
            Some((_, needs)) => self.has(&name, event, needs),
            None if name.is_empty() => {
                let keys: Vec<&str> = event.keys().take(5).map(String::as_str).collect();
                self.notice(format!("an event without a name is new (it has {})", keys.join(", ")));
                false
            }
            None => {
                self.notice(format!("an event `{name}` is new"));
                false
            }
        }
    }

    fn written(&mut self, event: &Map<String, Json>) -> bool {
        let name = name(event, self.contract.record_names);
        match shape(self.contract.written, &name) {
            Some((_, needs)) => self.has(&format!("{name} in its record"), event, needs),
            None => true,
        }
    }

    fn has(&mut self, name: &str, event: &Map<String, Json>, needs: &[&str]) -> bool {
        let mut well = true;
        for path in needs {
            let parts: Vec<&str> = path.split('.').collect();
            if !holds(event, &parts) {
                self.notice(format!("`{name}` is without `{path}`"));
                well = false;
            }
        }
        well
    }

    fn notice(&mut self, what: String) {
        let what: String = what.chars().filter(|letter| !letter.is_control()).take(200).collect();
        if self.seen.len() < NOTICED {
            self.seen.insert(what);
        }
    }

    /// What a person should know.
    pub(crate) fn remarks(&self) -> impl Iterator<Item = String> + '_ {
        self.seen.iter().map(|what| format!("{DRIFT}{what}"))
    }
}

/// An event's name: as many parts of it as there are. One without the first has none.
fn name(event: &Map<String, Json>, places: &[&str]) -> String {
    let part = |place: &&str| {
        let mut keys = place.split('.');
        let first = event.get(keys.next()?)?;
        keys.try_fold(first, |json, key| json.get(key))?.as_str()
    };
    places.iter().map_while(part).collect::<Vec<_>>().join("/")
}

fn shape(shapes: &'static [Shape], name: &str) -> Option<&'static Shape> {
    let fits = |own: &str| match own.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => own == name,
    };
    shapes.iter().find(|(own, _)| fits(own))
}

fn holds(object: &Map<String, Json>, path: &[&str]) -> bool {
    match path {
        [] => true,
        ["*", rest @ ..] => object.values().all(|json| leads(json, rest)),
        [key, rest @ ..] => object.get(*key).is_some_and(|json| leads(json, rest)),
    }
}

fn leads(json: &Json, path: &[&str]) -> bool {
    match (json, path) {
        (_, []) => true,
        (Json::Array(items), ["*", rest @ ..]) => items.iter().all(|item| leads(item, rest)),
        (Json::Object(object), path) => holds(object, path),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CONTRACT: Contract = Contract {
        names: &["type", "item.type"],
        printed: &[
            ("init", &["session"]),
            ("noise/*", &[]),
            ("done/list", &["use.*.tokens", "item.parts.*.id"]),
        ],
        record_names: &["type"],
        written: &[("turn", &["tokens"])],
    };

    fn drift() -> Drift {
        static OWN: Contract = CONTRACT;
        Drift::from(&OWN)
    }

    fn heed(drift: &mut Drift, from: Source, event: Json) -> Option<Event> {
        drift.heed(from, event.as_object().unwrap())
    }

    fn remarks(drift: &Drift) -> Vec<String> {
        drift.remarks().map(|it| it.strip_prefix(DRIFT).unwrap().to_owned()).collect()
    }

    #[test]
    fn what_is_as_it_should_be_is_not_remarked() {
        let mut drift = drift();
        let printed = [
            json!({ "type": "init", "session": "s", "new": 1 }),
            json!({ "type": "noise", "item": { "type": "any" } }),
            json!({ "type": "done", "use": { "m": { "tokens": 1 } },
                    "item": { "type": "list", "parts": [{ "id": 1 }] } }),
        ];
        for event in printed {
            assert_eq!(heed(&mut drift, Source::Output, event), None);
        }
        heed(&mut drift, Source::Record, json!({ "type": "turn", "tokens": 1 }));
        heed(&mut drift, Source::Record, json!({ "type": "whatever" }));
        heed(&mut drift, Source::Past, json!({ "type": "turn" }));
        assert_eq!(remarks(&drift), [""; 0]);
    }

    #[test]
    fn what_is_new_or_missing_is_remarked_once() {
        let mut drift = drift();
        heed(&mut drift, Source::Output, json!({ "type": "init", "session": "s" }));
        for _ in 0..2 {
            let events = [
                json!({ "type": "news" }),
                json!({ "kind": "init", "b": 1, "item": { "type": "list" } }),
                json!({ "type": "init" }),
                json!({ "type": "done", "use": { "m": { "token": 1 } },
                        "item": { "type": "list", "parts": [{ "id": 1 }, { "di": 1 }] } }),
            ];
            for event in events {
                assert_eq!(heed(&mut drift, Source::Output, event), None, "it has begun well");
            }
            heed(&mut drift, Source::Record, json!({ "type": "turn", "usage": 1 }));
        }
        let want = [
            "`done/list` is without `item.parts.*.id`",
            "`done/list` is without `use.*.tokens`",
            "`init` is without `session`",
            "`turn in its record` is without `tokens`",
            "an event `news` is new",
            "an event without a name is new (it has b, item, kind)",
        ];
        assert_eq!(remarks(&drift), want);
    }

    #[test]
    fn who_begins_with_something_else_is_a_stranger() {
        let firsts = [json!({ "type": "hello" }), json!({ "type": "init" }), json!({})];
        for first in firsts {
            let mut drift = drift();
            assert_eq!(heed(&mut drift, Source::Output, first), Some(Event::Strange));
            assert_eq!(remarks(&drift).len(), 1);
        }
        let mut drift = drift();
        for _ in 1..PREAMBLE {
            assert_eq!(drift.no_event(Source::Output, b"warning: x"), []);
            assert_eq!(drift.no_event(Source::Output, b" "), []);
        }
        assert_eq!(drift.no_event(Source::Output, b"still talking"), [Event::Strange]);
        assert_eq!(drift.no_event(Source::Output, b"and on"), []);
    }

    #[test]
    fn who_says_something_new_all_the_time_is_not_remembered_all_the_time() {
        let mut drift = drift();
        for at in 0..100 {
            let long = format!("{at}\n{}", "x".repeat(1_000));
            heed(&mut drift, Source::Output, json!({ "type": long }));
        }
        assert_eq!(remarks(&drift).len(), NOTICED);
        assert!(remarks(&drift).iter().all(|it| it.len() < 300 && !it.contains('\n')));
    }
}
