//! Classes by words, for messages and for what nobody knows the form of.

use super::{Class, Failure};

/// Names of errors and their codes: they say what they are, wherever they stand.
const NAMES: &[(Class, &[&str])] = &[
    (
        Class::SyntaxError,
        &[
            "SyntaxError",
            "IndentationError",
            "TabError",
            "ParseError",
            "syntax error",
            "Unexpected token",
            "unexpected EOF",
            "unclosed delimiter",
            "unterminated",
            "error: expected",
        ],
    ),
    (
        Class::ImportError,
        &[
            "ImportError",
            "ModuleNotFoundError",
            "ERR_MODULE_NOT_FOUND",
            "MODULE_NOT_FOUND",
            "Cannot find module",
            "Cannot find package",
            "unresolved import",
            "E0432",
            "E0433",
            "E0463",
            "no required module provides package",
            "is not in std",
            "cannot find package",
            "Could not resolve",
            "Failed to resolve import",
            "NoClassDefFoundError",
            "ClassNotFoundException",
            "error TS2307",
        ],
    ),
    (
        Class::TypeError,
        &[
            "TypeError",
            "mismatched types",
            "E0308",
            "E0277",
            "is not assignable to",
            "incompatible types",
            "type mismatch",
            "cannot use",
            "error TS23",
            "error TS2322",
            "error TS2345",
            "ClassCastException",
        ],
    ),
    (
        Class::Timeout,
        &[
            "TimeoutError",
            "TimeoutExpired",
            "timed out",
            "Timed out",
            "TIMEOUT",
            "testTimeoutFailure",
            "Timeout >",
            "deadline exceeded",
            "Exceeded timeout",
            "exceeded timeout",
            "ran for too long",
        ],
    ),
    (
        Class::AssertionError,
        &[
            "AssertionError",
            "ERR_ASSERTION",
            "assertion failed",
            "assertion `",
            "assert ",
            "Assertion failed",
            "AssertionFailedError",
            "did not panic as expected",
            "expect(",
            "ComparisonFailure",
        ],
    ),
    (
        Class::RuntimeError,
        &[
            "RuntimeError",
            "ReferenceError",
            "RangeError",
            "KeyError",
            "IndexError",
            "ValueError",
            "AttributeError",
            "NameError",
            "ZeroDivisionError",
            "NullPointerException",
            "nil pointer",
            "index out of range",
            "index out of bounds",
            "segmentation fault",
            "SIGSEGV",
            "stack overflow",
            "Permission denied",
            "ECONNREFUSED",
        ],
    ),
];

/// Words that say it only where a line speaks of something that went wrong.
const HINTS: &[(Class, &[&str])] = &[
    (Class::SyntaxError, &["syntax", "parse error", "cannot parse"]),
    (Class::ImportError, &["import", "no module", "not found: module"]),
    (Class::TypeError, &["type error", "wrong type"]),
    (Class::Timeout, &["timeout", "took too long"]),
    (Class::AssertionError, &["expected", "assert", "to equal", "want "]),
];

/// What a line that speaks of something wrong has.
const WRONG: [&str; 6] = ["error", "fail", "panic", "exception", "not ok", "✖"];

/// The class that a message speaks of: on its first line that names one, the name that comes first.
pub fn class(message: &str) -> Option<Class> {
    message.lines().find_map(|line| named(line, NAMES))
}

fn named(line: &str, table: &[(Class, &[&str])]) -> Option<Class> {
    let places = table.iter().flat_map(|(class, names)| {
        names.iter().filter_map(|name| Some((line.find(name)?, *class)))
    });
    places.min_by_key(|(at, _)| *at).map(|(_, class)| class)
}

/// The failure that a text speaks of, whatever its form is.
pub fn read(text: &str) -> Vec<Failure> {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let one =
        |class, line: &str| vec![Failure { class, test: None, message: super::one_line(line) }];
    for line in lines() {
        if let Some(class) = named(line, NAMES) {
            return one(class, line);
        }
    }
    let speaks = |line: &&str| {
        let line = line.to_lowercase();
        WRONG.iter().any(|word| line.contains(word))
    };
    for line in lines().filter(speaks) {
        if let Some(class) = named(&line.to_lowercase(), HINTS) {
            return one(class, line);
        }
    }
    let last = lines().find(speaks).or_else(|| lines().next_back());
    last.map_or_else(Vec::new, |line| one(Class::RuntimeError, line))
}
