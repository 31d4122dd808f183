//! `docs/seed-map.md` is true: what it names stands in the definition that it stands under, and no stage and no counter of a
//! built-in workflow is missing from it.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use toml::{Table, Value};

const SCOPES: [&str; 4] = ["intake", "unit", "between", "finale"];

fn read(path: &str) -> String {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a workspace");
    fs::read_to_string(top.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A definition, as far as a table may name something of it.
struct Flow {
    name: String,
    toml: Table,
    /// Every table of it, wherever it stands.
    tables: Vec<Table>,
    stages: Vec<Table>,
}

impl Flow {
    fn of(name: &str, text: &str) -> Self {
        let toml: Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut tables = Vec::new();
        gather(&Value::Table(toml.clone()), &mut tables);
        let stages: Vec<Table> =
            tables.iter().filter(|it| it.contains_key("stage")).cloned().collect();
        assert!(stages.iter().all(|it| it.contains_key("on")), "{name}: a stage without `on`");
        assert!(SCOPES.iter().any(|scope| toml.contains_key(*scope)), "{name} has no stages");
        Flow { name: name.to_owned(), toml, tables, stages }
    }

    fn stage(&self, name: &str) -> Option<&Table> {
        self.stages.iter().find(|it| it["stage"].as_str() == Some(name))
    }

    /// Whether any table says this, alone or in a list.
    fn says(&self, key: &str, word: &str) -> bool {
        self.tables.iter().filter_map(|it| it.get(key)).any(|it| has(it, word))
    }

    fn section(&self, section: &str, name: &str) -> Option<&Value> {
        self.toml.get(section)?.get(name)
    }

    fn comes_to(&self, stage: &str, verdict: &str) -> bool {
        self.stage(stage).is_some_and(|it| it["on"].get(verdict).is_some())
    }
}

fn has(value: &Value, word: &str) -> bool {
    match value {
        Value::String(text) => text == word,
        Value::Array(list) => list.iter().any(|it| has(it, word)),
        _ => false,
    }
}

/// Whether a policy, or one of several, gives this answer.
fn answers(policy: &Value, answer: &str) -> bool {
    let mut tables = Vec::new();
    gather(policy, &mut tables);
    tables.iter().any(|it| it.get("answer").and_then(Value::as_str) == Some(answer))
}

fn gather(value: &Value, tables: &mut Vec<Table>) {
    match value {
        Value::Table(table) => {
            tables.push(table.clone());
            table.values().for_each(|it| gather(it, tables));
        }
        Value::Array(list) => list.iter().for_each(|it| gather(it, tables)),
        _ => {}
    }
}

/// A value as a table of the map writes it.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What is wrong with something that a row names, if anything is.
fn wrong(flow: &Flow, catalogue: &Table, named: &str) -> Option<String> {
    let (form, rest) = named.split_once(' ')?;
    let dotted = || rest.split_once('.').unwrap_or((rest, ""));
    let of = |section: &str| catalogue.get(section).and_then(|it| it.get(rest)).is_some();
    let found = match form {
        "stage" => flow.stage(rest).is_some(),
        "verdict" => flow.comes_to(dotted().0, dotted().1),
        "option" => {
            let gate = flow.stage(dotted().0).is_some_and(|it| it.contains_key("gate"));
            gate && flow.comes_to(dotted().0, dotted().1)
        }
        "counter" => return counter(flow, rest),
        "input" => return input(flow, rest),
        "shown_as" | "record" | "finish" | "outcome" => flow.says(form, rest),
        "pause" | "rest" => flow.says(form, rest) && flow.stage(rest).is_some(),
        "role" => flow.says("role", rest) && of("role"),
        "read" | "tell" => flow.says(form, rest) && of(form),
        "check" => flow.says("checks", rest) || flow.says("proof", rest),
        "concern" => flow.tables.iter().any(|it| {
            it.get("concerns").and_then(Value::as_table).is_some_and(|it| it.contains_key(rest))
        }),
        "policy" => flow.tables.iter().any(|it| {
            it.get("stage").and_then(Value::as_str) == Some(dotted().0)
                && it.get("policy").is_some_and(|it| answers(it, dotted().1))
        }),
        "let" | "entry" => flow.section(form, rest).is_some(),
        "always" => flow.section(form, rest).is_some(),
        "limit" => {
            let (stage, time) = rest.split_once(' ').unwrap_or((rest, ""));
            flow.stage(stage).and_then(|it| it.get("limit")).is_some_and(|it| plain(it) == time)
        }
        "fact" => ["role", "read"].iter().any(|section| {
            let own = catalogue.get(*section).and_then(|it| it.get(dotted().0));
            let used = flow.says(section, dotted().0);
            used && own.is_some_and(|own| has_fact(own, dotted().1))
        }),
        _ => return Some(format!("`{named}` is of no form that there is")),
    };
    (!found).then(|| format!("`{named}` is not in {}", flow.name))
}

/// Whether something reports a fact, of its own or of what it lists.
fn has_fact(own: &Value, name: &str) -> bool {
    let mut tables = Vec::new();
    gather(own, &mut tables);
    tables.iter().any(|it| it.contains_key(name) && !["facts", "lists", "verdicts"].contains(&name))
}

/// `NAME`, and what is said of it in pairs.
fn counter(flow: &Flow, rest: &str) -> Option<String> {
    let mut words = rest.split(' ');
    let name = words.next().unwrap_or_default();
    let Some(own) = flow.section("counters", name) else {
        return Some(format!("`counter {name}` is not in {}", flow.name));
    };
    let words: Vec<&str> = words.collect();
    words.chunks(2).find_map(|pair| {
        let said = own.get(pair[0]).map(plain);
        (said.as_deref() != pair.get(1).copied())
            .then(|| format!("`counter {name}`: `{}` is {said:?} in {}", pair.join(" "), flow.name))
    })
}

/// `NAME`, or `NAME = DEFAULT`.
fn input(flow: &Flow, rest: &str) -> Option<String> {
    let (name, default) = rest.split_once(" = ").map_or((rest, None), |(a, b)| (a, Some(b)));
    let Some(own) = flow.section("inputs", name) else {
        return Some(format!("`input {name}` is not in {}", flow.name));
    };
    let said = own.get("default").map(plain);
    (default.is_some() && said.as_deref() != default)
        .then(|| format!("`input {rest}`: its default is {said:?} in {}", flow.name))
}

/// The table of each workflow: what its rows name.
fn tables(map: &str) -> Vec<(String, Vec<String>)> {
    let sections = map.split("\n## ").skip(1);
    let table = |section: &str| {
        let name = section.split(' ').next().unwrap_or_default().to_owned();
        let rows =
            section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| kind"));
        let wheres = rows.filter_map(|row| row.split('|').nth(3).map(str::to_owned));
        let named = wheres.flat_map(|it| {
            let parts: Vec<String> = it.split('`').skip(1).step_by(2).map(str::to_owned).collect();
            assert!(!parts.is_empty(), "{name}: a row names nothing: {it}");
            parts
        });
        (name.clone(), named.collect())
    };
    sections.map(table).collect()
}

/// What is wrong with the map of a workflow: what it names and is not there, and what it leaves out.
fn flaws(flow: &Flow, catalogue: &Table, named: &[String]) -> Vec<String> {
    let mut flaws: Vec<String> = named.iter().filter_map(|it| wrong(flow, catalogue, it)).collect();
    let told = |form: &str| {
        let own = named.iter().filter_map(move |it| it.strip_prefix(form)?.strip_prefix(' '));
        own.map(|it| it.split([' ', '.']).next().unwrap_or_default()).collect::<BTreeSet<&str>>()
    };
    let stages: BTreeSet<&str> =
        ["stage", "verdict", "option"].into_iter().flat_map(told).collect();
    let own = flow.stages.iter().filter_map(|it| it["stage"].as_str());
    flaws.extend(
        own.filter(|it| !stages.contains(it))
            .map(|it| format!("{}: no row names `stage {it}`", flow.name)),
    );
    let counters = told("counter");
    let own = flow.toml.get("counters").and_then(Value::as_table).into_iter().flat_map(Table::keys);
    let own = own.filter(|it| !counters.contains(it.as_str()));
    flaws.extend(own.map(|it| format!("{}: no row names `counter {it}`", flow.name)));
    flaws
}

#[test]
fn what_the_seed_map_names_is_there_and_nothing_is_left_out() {
    let catalogue: Table = read("workflows/catalogue.toml").parse().expect("a catalogue");
    let tables = tables(&read("docs/seed-map.md"));
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["autopilot", "task", "task-v1", "mission", "issues", "work"]);
    let mut all = Vec::new();
    for (name, named) in &tables {
        let flow = Flow::of(name, &read(&format!("workflows/{name}.toml")));
        all.extend(flaws(&flow, &catalogue, named));
    }
    assert_eq!(all, [""; 0], "{}", all.join("\n"));
}

/// Each form notices what is not there.
#[test]
fn a_map_that_lies_is_noticed() {
    let text = "[inputs]\nlanes = { type = \"number\", default = 1 }\n[counters]\nredo = { per = \"stage\", max = 2 }\n\
                [[unit]]\nstage = \"work\"\nrole = \"worker\"\non = { built = \"end\" }\n\
                [[unit]]\nstage = \"ask\"\ngate = \"Well?\"\non = { yes = { to = \"end\", record = \"said\" } }\n";
    let catalogue = "[role.worker]\nverdicts = [\"built\"]\nfacts = { size = \"number\" }\n";
    let (flow, catalogue) = (Flow::of("own", text), catalogue.parse().expect("a catalogue"));
    let named = |list: &[&str]| list.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
    let true_ones = named(&[
        "stage work",
        "verdict work.built",
        "option ask.yes",
        "record said",
        "counter redo max 2",
        "input lanes = 1",
        "role worker",
        "fact worker.size",
    ]);
    assert_eq!(flaws(&flow, &catalogue, &true_ones), [""; 0]);
    for lie in [
        "stage play",
        "verdict work.failed",
        "option ask.no",
        "option work.built",
        "record nothing",
        "counter redo max 3",
        "counter undo max 2",
        "input lanes = 2",
        "input width",
        "tell all",
        "read it",
        "role player",
        "fact worker.weight",
        "pause work",
        "rest work",
        "finish done",
        "outcome failed",
        "shown_as WORK",
        "check test",
        "concern cost",
        "policy ask.yes",
        "let it",
        "entry plan",
        "always unknown",
        "limit work 3s",
        "words work",
    ] {
        let mut told = true_ones.clone();
        told.push(lie.to_owned());
        assert_eq!(flaws(&flow, &catalogue, &told).len(), 1, "{lie}");
    }
    let left_out = flaws(&flow, &catalogue, &named(&["verdict work.built"]));
    assert_eq!(left_out, ["own: no row names `stage ask`", "own: no row names `counter redo`"]);
}
