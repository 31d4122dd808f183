//! The files of `messages/`: no language misses what another has, and every message is one that somebody says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use fluent_syntax::ast::{CallArguments, Entry, Expression, InlineExpression, Pattern};
use fluent_syntax::ast::{PatternElement, Resource};
use windlass_words::{Lang, SHIPPED, Words};

/// By what id each message or attribute of a file is said, and the names of its variables.
type Messages = BTreeMap<String, BTreeSet<String>>;

fn read(code: &str, text: &str) -> Messages {
    let parsed = fluent_syntax::parser::parse(text);
    let resource: Resource<&str> =
        parsed.unwrap_or_else(|(_, mistakes)| panic!("messages/{code}.ftl: {mistakes:?}"));
    let mut messages = Messages::new();
    let mut keep = |id: String, pattern: &Pattern<&str>| {
        let before = messages.insert(id.clone(), variables(pattern));
        assert!(before.is_none(), "messages/{code}.ftl says {id} twice");
    };
    for entry in &resource.body {
        match entry {
            Entry::Message(message) => {
                if let Some(value) = &message.value {
                    keep(message.id.name.to_owned(), value);
                }
                for attribute in &message.attributes {
                    keep(format!("{}.{}", message.id.name, attribute.id.name), &attribute.value);
                }
            }
            Entry::Junk { content } => panic!("messages/{code}.ftl: what is this? {content}"),
            Entry::Term(_)
            | Entry::Comment(_)
            | Entry::GroupComment(_)
            | Entry::ResourceComment(_) => {}
        }
    }
    messages
}

fn variables(pattern: &Pattern<&str>) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for element in &pattern.elements {
        if let PatternElement::Placeable { expression } = element {
            in_expression(expression, &mut names);
        }
    }
    names
}

fn in_expression(expression: &Expression<&str>, names: &mut BTreeSet<String>) {
    match expression {
        Expression::Inline(inline) => in_inline(inline, names),
        Expression::Select { selector, variants } => {
            in_inline(selector, names);
            for variant in variants {
                names.extend(variables(&variant.value));
            }
        }
    }
}

fn in_inline(inline: &InlineExpression<&str>, names: &mut BTreeSet<String>) {
    match inline {
        InlineExpression::VariableReference { id } => {
            names.insert(id.name.to_owned());
        }
        InlineExpression::Placeable { expression } => in_expression(expression, names),
        InlineExpression::FunctionReference {
            arguments: CallArguments { positional, .. }, ..
        } => {
            positional.iter().for_each(|one| in_inline(one, names));
        }
        InlineExpression::StringLiteral { .. }
        | InlineExpression::NumberLiteral { .. }
        | InlineExpression::MessageReference { .. }
        | InlineExpression::TermReference { .. } => {}
    }
}

/// A gate's English is in its workflow: `crates/windlass/src/asked.rs` looks these up, and a test there holds them to it.
fn of_a_gate(id: &str) -> bool {
    id.starts_with("gate-")
}

/// What one file has and the other has not, or with other variables.
fn differences(code: &str, own: &Messages, english: &Messages) -> Vec<String> {
    let mut wrong = Vec::new();
    for (id, variables) in english {
        match own.get(id) {
            None => wrong.push(format!("{code} has no {id}")),
            Some(others) if others != variables => {
                wrong.push(format!("{id} has {variables:?} in English and {others:?} in {code}"));
            }
            Some(_) => {}
        }
    }
    let strange = own.keys().filter(|id| !of_a_gate(id) && !english.contains_key(*id));
    wrong.extend(strange.map(|id| format!("{code} has {id}, and English has not")));
    wrong
}

fn english() -> Messages {
    SHIPPED
        .iter()
        .find(|(code, _)| *code == "en")
        .map(|(code, text)| read(code, text))
        .expect("English is shipped")
}

#[test]
fn no_shipped_language_misses_a_message() {
    let english = english();
    assert!(!english.keys().any(|id| of_a_gate(id)), "a gate's English is in its workflow");
    for (code, text) in SHIPPED {
        code.parse::<Lang>().unwrap();
        let wrong = differences(code, &read(code, text), &english);
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }
}

#[test]
fn a_message_that_is_missing_strange_or_has_other_variables_is_noticed() {
    let english = read("en", "a = A { $x }\nb = B\n    .c = C\n");
    let of = |text: &str| differences("xx", &read("xx", text), &english);
    assert_eq!(of("a = Ä { $x }\nb = Be\n    .c = Ce\ngate-one = ?\n"), Vec::<String>::new());
    assert_eq!(of("a = Ä { $x }\nb = Be\n"), ["xx has no b.c"]);
    assert_eq!(of("a = Ä { NUMBER($y) }\nb = Be\n    .c = Ce\n").len(), 1);
    assert_eq!(
        of("a = Ä { $x }\nb = Be\n    .c = Ce\nd = De\n"),
        ["xx has d, and English has not"]
    );
}

/// Every file that is there is shipped.
#[test]
fn a_file_of_messages_has_its_line() {
    let mut files: Vec<_> = fs::read_dir(top().join("messages"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    let shipped: Vec<_> = SHIPPED.iter().map(|(code, _)| format!("{code}.ftl")).collect();
    assert_eq!(files, shipped);
}

#[test]
fn what_is_said_has_a_message_and_every_message_is_said() {
    let english = english();
    let wrong = slips(&sources(), &english);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_id_without_a_message_and_a_message_without_an_id_are_noticed() {
    let english = read("en", "face-a = A\nface-b = B\n    .more = C\n");
    let of = |code: &str| slips(code, &english);
    let sound =
        "w.say(\n    \"face-a\", &[]); let id = if x { \"face-b\" } else { \"face-b.more\" };";
    assert_eq!(of(sound), Vec::<String>::new());
    assert_eq!(of("w.say(\"face-a\", &[])").len(), 2);
    assert_eq!(of(&format!("{sound} w.say(\"other\", &[])")), ["no message for other"]);
    assert_eq!(of(&format!("{sound} let id = \"face-c\";")), ["no message for face-c"]);
}

/// What is said without there being a message, and what there is a message for and nobody says. An id is always written
/// out: one that were put together could not be looked for.
fn slips(code: &str, english: &Messages) -> Vec<String> {
    let mut said = BTreeSet::new();
    for (at, begin) in code.match_indices(".say(") {
        let rest = code[at + begin.len()..].trim_start();
        said.extend(rest.strip_prefix('"').and_then(|rest| rest.split('"').next()));
    }
    // An id that is picked before it is said begins as others do.
    let beginnings: BTreeSet<_> = english.keys().filter_map(|id| beginning(id)).collect();
    let literals = code.lines().flat_map(|line| line.split('"').skip(1).step_by(2));
    let looks_so = |text: &&str| beginning(text).is_some_and(|start| beginnings.contains(start));
    said.extend(literals.filter(looks_so));

    let unknown = said.iter().filter(|id| !english.contains_key(**id));
    let unsaid = english.keys().filter(|id| !said.contains(id.as_str()));
    unknown
        .map(|id| format!("no message for {id}"))
        .chain(unsaid.map(|id| format!("nobody says {id}")))
        .collect()
}

/// What an id begins with, if this could be one: `face` of `face-done.more`.
fn beginning(id: &str) -> Option<&str> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
    id.chars().all(plain).then(|| id.split_once('-').map(|(start, _)| start)).flatten()
}

fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All that is compiled into rooms, one file after another.
fn sources() -> String {
    let mut code = String::new();
    for room in fs::read_dir(top().join("crates")).expect("there are rooms") {
        collect(&room.expect("a readable entry").path().join("src"), &mut code);
    }
    code
}

fn collect(dir: &Path, code: &mut String) {
    for entry in fs::read_dir(dir).expect("a room has sources") {
        let path = entry.expect("a readable entry").path();
        if path.is_dir() {
            collect(&path, code);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            code.push_str(&fs::read_to_string(&path).expect("a readable file"));
        }
    }
}

#[test]
fn values_are_put_in_as_they_are() {
    let words = Words::in_lang(Lang::KOREAN);
    // No marks around them, and what looks like a placeable in them is none.
    let odd = [("commit", "{ $branch }"), ("branch", "\"main\"")];
    assert_eq!(words.say("tell-landed", &odd), "{ $branch } 커밋이 \"main\"에 반영됨");
    assert_eq!(Words::default().say("tell-landed", &odd), "landed { $branch } on \"main\"");
    assert_eq!(words.say("no-such-message", &[("x", "y")]), "no-such-message");
    assert_eq!(words.find("no-such-message", &[]), None);
}

#[test]
fn a_language_without_a_file_and_a_message_without_its_values_fall_back() {
    let german = Words::in_lang("de".parse().unwrap());
    assert_eq!(german.say("gates-none", &[]), "no question is open");
    assert_eq!(german.find_own("gates-none", &[]), None);
    let korean = Words::in_lang(Lang::KOREAN);
    assert_eq!(korean.find_own("gates-none", &[]).as_deref(), Some("열린 질문이 없습니다"));
    // A gap in a sentence is never shown.
    assert_eq!(korean.find_own("tell-landed", &[("commit", "abc")]), None);
}
