//! `docs/seed-map.md` is true: whatever it says carries something of a seed is in that seed's definition.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A definition, and what all of them are made of.
struct Flow {
    own: Value,
    catalogue: Value,
}

fn read(path: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(top.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

impl Flow {
    fn of(name: &str) -> Self {
        let parsed = |file: &str| toml::from_str(&read(&format!("workflows/{file}.toml"))).unwrap();
        Flow { own: parsed(name), catalogue: parsed("catalogue") }
    }

    fn stages(&self) -> impl Iterator<Item = &Value> {
        let scopes = self.own.as_object().unwrap().values().filter_map(Value::as_array);
        scopes.flatten().filter(|stage| stage["stage"].is_string())
    }

    fn stage(&self, name: &str) -> Option<&Value> {
        self.stages().find(|stage| stage["stage"] == name)
    }

    /// Whether a stage has this word as what it comes to, or one of those that it asks for or decides on.
    fn comes_to(&self, at: &str) -> bool {
        let Some((stage, word)) = at.split_once('.') else { return false };
        let Some(stage) = self.stage(stage) else { return false };
        let decided = stage["decide"].as_array().into_iter().flatten();
        stage["on"].get(word).is_some() || decided.into_iter().any(|case| case["is"] == word)
    }

    /// Whether a reader or a role comes with this fact, or its lists do.
    fn tells(&self, at: &str) -> bool {
        let Some((who, fact)) = at.split_once('.') else { return false };
        ["read", "role"].iter().map(|kind| &self.catalogue[kind][who]).any(|own| {
            let lists = own["lists"].as_object();
            own["facts"].get(fact).is_some()
                || lists.is_some_and(|lists| lists.values().any(|list| list.get(fact).is_some()))
        })
    }

    /// Whether a form of words of the map is so.
    fn has(&self, form: &str) -> bool {
        let Some((kind, what)) = form.split_once(' ') else { return false };
        let any = |key: &str| self.stages().any(|stage| is_or_has(&stage[key], what));
        match kind {
            "stage" => self.stage(what).is_some(),
            "verdict" | "option" => self.comes_to(what),
            "fact" => self.tells(what),
            "record" | "finish" | "outcome" | "pause" | "rest" => said(&self.own, kind, what),
            "shown_as" | "read" | "role" | "tell" => any(kind),
            "check" => any("checks"),
            "concern" => self.stages().any(|stage| said_key(&stage["concerns"], what)),
            "policy" => what.split_once('.').is_some_and(|(stage, answer)| {
                self.stage(stage).is_some_and(|stage| said(&stage["policy"], "answer", answer))
            }),
            "let" => self.own["let"].get(what).is_some(),
            "entry" => said_key(&self.own["entry"], what),
            "always" => self.own["always"].get(what).is_some(),
            "limit" => what.split_once(' ').is_some_and(|(stage, time)| {
                self.stage(stage).is_some_and(|stage| stage["limit"] == time)
            }),
            "input" => {
                let (name, value) = what.split_once(" = ").unwrap_or((what, ""));
                let input = self.own["inputs"].get(name);
                input.is_some_and(|it| value.is_empty() || plain(&it["default"]) == value)
            }
            "counter" => self.counts(what),
            _ => false,
        }
    }

    /// `NAME max N`, `NAME from 1 max N`, `NAME each_unit VALUE`.
    fn counts(&self, what: &str) -> bool {
        if let Some((name, raised)) = what.split_once(" each_unit ") {
            return plain(&self.own["counters"][name]["each_unit"]) == raised;
        }
        let Some((name, max)) = what.split_once(" max ") else { return false };
        let (name, from) = name.split_once(" from ").unwrap_or((name, "0"));
        let counter = &self.own["counters"][name];
        let begins =
            if counter["from"].is_null() { "0".to_owned() } else { plain(&counter["from"]) };
        plain(&counter["max"]) == max && begins == from
    }
}

/// A value as it is written in a table.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn is_or_has(value: &Value, what: &str) -> bool {
    *value == what || value.as_array().is_some_and(|all| all.iter().any(|one| one == what))
}

/// Whether there is a key of this name, or an entry that is called so.
fn said_key(value: &Value, key: &str) -> bool {
    let named = |one: &Value| ["entry", "name", "is"].iter().any(|it| one[it] == key);
    value.get(key).is_some() || value.as_array().is_some_and(|all| all.iter().any(named))
}

/// Whether something, however deep inside, says this under a key.
fn said(value: &Value, key: &str, what: &str) -> bool {
    match value {
        Value::Object(all) => {
            all.iter().any(|(name, inner)| (name == key && inner == what) || said(inner, key, what))
        }
        Value::Array(all) => all.iter().any(|inner| said(inner, key, what)),
        _ => false,
    }
}

/// What the map says of a definition: each form, with its line.
fn forms(map: &str) -> Vec<(&str, usize, &str)> {
    let (mut flow, mut forms) = ("", Vec::new());
    for (nth, line) in map.lines().enumerate() {
        if let Some(title) = line.strip_prefix("## ") {
            flow = title.split(' ').next().unwrap_or_default();
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        if let [_, _, carried, ..] = cells.as_slice()
            && !flow.is_empty()
        {
            forms.extend(carried.split('`').skip(1).step_by(2).map(|form| (flow, nth + 1, form)));
        }
    }
    forms
}

#[test]
fn what_the_map_of_the_seeds_names_is_in_the_definitions() {
    let map = read("docs/seed-map.md");
    let forms = forms(&map);
    assert!(forms.len() > 400, "{}", forms.len());
    let mut wrong = Vec::new();
    for name in ["autopilot", "task", "task-v1", "mission", "issues", "work"] {
        let flow = Flow::of(name);
        let own = forms.iter().filter(|(of, ..)| *of == name);
        wrong.extend(
            own.filter(|(.., form)| !flow.has(form))
                .map(|(_, line, form)| format!("line {line}: {form}")),
        );
    }
    assert_eq!(wrong, [""; 0]);
}

#[test]
fn what_is_not_in_a_definition_is_noticed() {
    let flow = Flow::of("work");
    for form in [
        "stage nowhere",
        "verdict drift.fresh",
        "option drift_gate.perhaps",
        "record cc:DONE",
        "counter reviews max 4",
        "counter reviews from 1 max 3",
        "concern x",
        "policy drift_gate.yes",
        "let x",
        "input codex = true",
        "entry x",
        "finish well",
        "pause x",
        "limit background 31s",
        "read x",
        "check x",
        "tell x",
        "role x",
        "fact plans-table.x",
        "always x",
        "nonsense",
    ] {
        assert!(!flow.has(form), "{form}");
    }
}
