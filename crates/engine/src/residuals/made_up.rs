//! Data that is not real, and text that stands for something else.

use super::Around;
use super::language::Language;

/// Names of people and addresses that nobody has.
const NOBODY: [&str; 9] = [
    "john doe",
    "jane doe",
    "john smith",
    "foo@bar.com",
    "test@test.com",
    "john@example.com",
    "jane@example.com",
    "john.doe@",
    "jane.doe@",
];

/// What is made up, as names of things have it.
const MADE_UP: [&str; 4] = ["mock", "fake", "dummy", "stub"];

/// What of.
const OF: [&str; 18] = [
    "data",
    "user",
    "users",
    "item",
    "items",
    "response",
    "responses",
    "result",
    "results",
    "record",
    "records",
    "list",
    "products",
    "orders",
    "posts",
    "payload",
    "customers",
    "values",
];

/// What text says that is to be replaced.
const TO_REPLACE: [&str; 16] = [
    "lorem ipsum",
    "your-api-key",
    "your_api_key",
    "your api key here",
    "changeme",
    "change-me",
    "change_me",
    "replace_me",
    "replace-me",
    "insert_your",
    "your text here",
    "your-token-here",
    "your_secret_here",
    "placeholder text",
    "sample text here",
    "xxx-xxx",
];

/// What a comment says that stands where code should.
const TO_WRITE: [&str; 18] = [
    "implementation goes here",
    "implement me",
    "implement this",
    "to be implemented",
    "not implemented",
    "not yet implemented",
    "your code here",
    "add your code",
    "rest of the code here",
    "... rest of",
    "existing code ...",
    "... existing code",
    "existing code…",
    "placeholder implementation",
    "placeholder for",
    "this is a placeholder",
    "stub implementation",
    "fill in later",
];

pub fn is_mock(around: &Around<'_>, at: usize) -> bool {
    if around.is_test || around.language == Language::Page {
        return false;
    }
    let line = &around.lines[at];
    let named = line.code.split(|it: char| !(it.is_alphanumeric() || it == '_')).any(is_made_up);
    let nobody = |text: &String| {
        let text = text.to_lowercase();
        NOBODY.iter().any(|name| text.contains(name))
    };
    named || line.texts.iter().any(nobody)
}

/// Whether a name says that what it stands for is made up: `mockUsers`, `FAKE_DATA`, `dummy_response_1`.
fn is_made_up(name: &str) -> bool {
    let parts = parts(name);
    let mut pairs = parts.windows(2);
    pairs.any(|pair| MADE_UP.contains(&pair[0].as_str()) && OF.contains(&pair[1].as_str()))
}

/// The words of a name, in lower case.
fn parts(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut before = '_';
    for letter in name.chars() {
        let begins = letter == '_' || (letter.is_uppercase() && before.is_lowercase());
        if begins {
            parts.push(String::new());
        }
        if let Some(last) = parts.last_mut().filter(|_| letter != '_') {
            last.extend(letter.to_lowercase());
        }
        before = letter;
    }
    parts.retain(|part| !part.is_empty());
    parts
}

pub fn is_placeholder(around: &Around<'_>, at: usize) -> bool {
    let line = &around.lines[at];
    let lower = |text: &str| text.to_lowercase();
    if around.language == Language::Page {
        return lower(line.whole).contains("lorem ipsum");
    }
    let left = |text: &String| TO_REPLACE.iter().any(|word| lower(text).contains(word));
    if !around.is_test && line.texts.iter().any(left) {
        return true;
    }
    if line.comment.is_some_and(|said| TO_WRITE.iter().any(|word| lower(said).contains(word))) {
        return true;
    }
    is_unwritten(around, at)
}

/// Whether the code says itself that it is not there yet.
fn is_unwritten(around: &Around<'_>, at: usize) -> bool {
    let line = &around.lines[at];
    let code = line.code.as_str();
    let says = |text: &String| {
        let text = text.to_lowercase();
        ["not implemented", "not yet implemented", "unimplemented", "todo"]
            .iter()
            .any(|word| text.starts_with(word))
    };
    let throws = code.contains("throw new Error(")
        || code.contains("panic(")
        || code.contains("throw new Exception(");
    match around.language {
        Language::Rust => code.contains("todo!(") || code.contains("unimplemented!("),
        // What a class leaves to those that are made of it is written there.
        Language::Python => {
            let is_abstract = around.lines.iter().any(|line| {
                line.code.contains("abstractmethod")
                    || line.code.contains("(ABC")
                    || line.code.contains("Protocol")
            });
            code.contains("raise NotImplementedError") && !is_abstract && !around.is_test
        }
        _ => throws && line.texts.iter().any(says) && !around.is_test,
    }
}
