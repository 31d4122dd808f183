//! What a test is worth: how much it asserts, and what keeps that from being looked at.

use super::tokens::{DEDENT, INDENT, Token, closes, is_name, is_text};
use crate::residuals::Language;

/// What a test is worth.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Worth {
    /// Assertions that can fail.
    pub asserted: usize,
    /// Those of them that say what comes out, and not only what it is like.
    pub exact: usize,
    /// Cases in its body.
    pub rows: usize,
    /// Where it stops before its end.
    pub returns: Vec<(usize, String)>,
    /// What in it never happens.
    pub dead: Vec<(usize, String)>,
    /// Where what fails in it is let pass.
    pub swallows: Vec<(usize, String)>,
}

/// What a body is worth.
pub(super) fn of(language: Language, body: &[Token]) -> Worth {
    let mut worth = Worth { rows: rows(body), ..Worth::default() };
    let stops = stops(body);
    let dead = dead(body);
    let mut at = 0;
    while at < body.len() {
        let Some((end, exact)) = assertion(language, body, at) else {
            at += 1;
            continue;
        };
        let reached = stops.is_none_or(|stop| at < stop)
            && !dead.iter().any(|(from, to, _)| (*from..*to).contains(&at));
        if reached && !is_vacuous(&body[at..=end.min(body.len() - 1)]) {
            worth.asserted += 1;
            worth.exact += usize::from(exact);
        }
        at = end + 1;
    }
    worth.returns = returns(language, body);
    worth.dead = dead.into_iter().map(|(at, _, what)| (body[at].line, what)).collect();
    worth.swallows = swallows(language, body);
    worth
}

fn text(body: &[Token], at: usize) -> &str {
    body.get(at).map_or("", |token| token.text.as_str())
}

/// Calls that leave a test out from within.
pub(super) fn skips(language: Language, body: &[Token]) -> Vec<(usize, String)> {
    let words: &[&str] = match language {
        Language::Python => &["skip", "skipTest", "xfail", "SkipTest", "importorskip"],
        Language::JavaScript => &["skip", "todo", "fixme", "pending"],
        Language::Go => &["Skip", "Skipf", "SkipNow"],
        _ => &[],
    };
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate() {
        let before = at.checked_sub(1).map_or("", |before| text(body, before));
        let called =
            text(body, at + 1) == "(" && (before == "." || before == "raise" || token.first);
        let raised = before == "raise" || token.text == "SkipTest";
        if words.contains(&token.text.as_str()) && (called || raised) {
            let whom = at.checked_sub(2).map_or("", |whom| text(body, whom));
            let dot = if before == "." { format!("{whom}.") } else { String::new() };
            found.push((token.line, format!("{dot}{}(…)", token.text)));
        }
    }
    found
}

/// Where the assertion ends that begins here, and whether it says what comes out.
fn assertion(language: Language, body: &[Token], at: usize) -> Option<(usize, bool)> {
    let (word, next) = (text(body, at), text(body, at + 1));
    let before = at.checked_sub(1).map_or("", |before| text(body, before));
    if !is_name(word) {
        return None;
    }
    let lower = word.to_lowercase();
    let says = ["eq", "equal", "same", "is", "snapshot", "deepequal"];
    let exactly = |word: &str| {
        says.iter().any(|it| word.ends_with(it) || word.contains("equal") || word.contains("_eq"))
    };
    match language {
        Language::Rust => {
            let asserts = lower.contains("assert") && next == "!";
            (asserts && !text(body, at + 2).is_empty())
                .then(|| (closes(body, at + 2), exactly(&lower) && !lower.ends_with("_ne")))
        }
        Language::Python if word == "assert" => {
            let breaks = |token: &Token| token.first || token.text == DEDENT;
            let after = body[at + 1..].iter().position(breaks);
            let end = after.map_or(body.len() - 1, |after| at + after);
            let exact = body[at..=end].iter().any(|it| ["==", "is"].contains(&it.text.as_str()));
            Some((end, exact))
        }
        Language::Python => {
            let asserts = (lower.contains("assert") || word == "raises") && next == "(";
            asserts.then(|| (closes(body, at + 1), exactly(&lower)))
        }
        Language::JavaScript => {
            let expects =
                ["expect", "expectTypeOf"].contains(&word) && next == "(" && before != ".";
            let asserts =
                lower.starts_with("assert") && ["(", "."].contains(&next) && before != ".";
            let of_runner = before == "."
                && [
                    "is",
                    "same",
                    "equal",
                    "deepEqual",
                    "strictEqual",
                    "throws",
                    "should",
                    "like",
                    "ok",
                    "notOk",
                ]
                .contains(&word)
                && at >= 2
                && ["t", "tap"].contains(&text(body, at - 2))
                && next == "(";
            (expects || asserts || of_runner).then(|| chain(body, at))
        }
        Language::Go => {
            let fails = ["Error", "Errorf", "Fatal", "Fatalf", "Fail", "FailNow"].contains(&word)
                && before == "."
                && at >= 2
                && ["t", "b", "f", "tb"].contains(&text(body, at - 2));
            let asserts =
                ["assert", "require", "is", "qt"].contains(&word) && next == "." && before != ".";
            (fails || asserts).then(|| chain(body, at))
        }
        _ => {
            let asserts = (lower.contains("assert")
                || ["expect", "should", "verify"].contains(&word))
                && next == "(";
            asserts.then(|| chain(body, at))
        }
    }
}

/// The end of `a(…).b.c(…)`, and whether its last word says what comes out.
fn chain(body: &[Token], from: usize) -> (usize, bool) {
    let exact = [
        "toBe",
        "toEqual",
        "toStrictEqual",
        "toMatchObject",
        "toHaveLength",
        "equal",
        "deepEqual",
        "strictEqual",
        "deepStrictEqual",
        "eql",
        "Equal",
        "EqualValues",
        "is",
        "same",
        "toMatchSnapshot",
        "toMatchInlineSnapshot",
        "Exactly",
        "JSONEq",
        "toThrow",
        "toHaveBeenCalledWith",
        "toHaveBeenCalledTimes",
    ];
    let (mut at, mut exactly) = (from, false);
    loop {
        match text(body, at + 1) {
            "(" => at = closes(body, at + 1),
            "." => {
                at += 2;
                exactly |= exact.contains(&text(body, at));
            }
            _ => return (at.min(body.len() - 1), exactly),
        }
    }
}

/// Whether an assertion cannot fail.
fn is_vacuous(words: &[Token]) -> bool {
    let all: Vec<&str> = words.iter().map(|token| token.text.as_str()).collect();
    let pairs = |one: &str, other: &str| {
        all.windows(2)
            .any(|it| it[0].eq_ignore_ascii_case(one) && it[1].eq_ignore_ascii_case(other))
    };
    if pairs("||", "true") || pairs("or", "true") || pairs("true", "||") {
        return true;
    }
    let fails =
        ["fail", "failnow", "fatal", "fatalf", "error", "errorf", "raises", "panic", "unreachable"];
    if all.iter().any(|word| fails.contains(&word.to_lowercase().as_str())) {
        return false;
    }
    let nothing = [
        "true",
        "false",
        "none",
        "null",
        "nil",
        "undefined",
        "some",
        "ok",
        "t",
        "not",
        "is",
        "self",
        "in",
        "and",
        "or",
    ];
    let means = |at: usize| {
        let word = all[at];
        let after = at.checked_sub(1).map_or("", |before| all[before]);
        let asserts = word.to_lowercase().contains("assert")
            || ["expect", "require", "should"].contains(&word);
        is_name(word)
            && !is_text(word)
            && after != "."
            && !asserts
            && !nothing.contains(&word.to_lowercase().as_str())
    };
    if !(0..all.len()).any(means) {
        return true;
    }
    same_twice(words)
}

/// Whether what is compared is the same on both sides.
fn same_twice(words: &[Token]) -> bool {
    let Some(open) = words.iter().position(|it| it.text == "(") else {
        let half = words.iter().position(|it| it.text == "==");
        let same = |at: usize| texts(&words[1..at]) == texts(&words[at + 1..]);
        return half.is_some_and(|at| at > 1 && same(at));
    };
    let end = closes(words, open);
    let inside = &words[open + 1..end.min(words.len())];
    // `expect(a).toBe(a)`
    if let Some(other) = words[end..].iter().position(|it| it.text == "(").map(|at| end + at) {
        let to = closes(words, other);
        return !inside.is_empty()
            && texts(inside) == texts(&words[other + 1..to.min(words.len())]);
    }
    let mut depth = 0_usize;
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for token in inside {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            "," | "==" if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one").push(&token.text);
    }
    if parts.first().is_some_and(|first| first == &["t"]) {
        parts.remove(0);
    }
    let negated = words[..open]
        .iter()
        .any(|it| it.text.to_lowercase().contains("_ne") || it.text.contains("Not"));
    !negated && parts.len() >= 2 && !parts[0].is_empty() && parts[0] == parts[1]
}

fn texts(words: &[Token]) -> Vec<&str> {
    words.iter().map(|token| token.text.as_str()).collect()
}

/// Groups in a list: a case each, where a test has many.
fn rows(body: &[Token]) -> usize {
    let mut count = 0;
    for at in 1..body.len() {
        let opens = ["(", "[", "{"].contains(&text(body, at));
        let listed = ["[", "{", ","].contains(&text(body, at - 1));
        if opens && listed && [",", "]", "}"].contains(&text(body, closes(body, at) + 1)) {
            count += 1;
        }
    }
    count
}

/// Where a return ends that stands at a body's own level: nothing behind it happens.
fn stops(body: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut deep = Vec::new();
    for token in body {
        match token.text.as_str() {
            "(" | "[" | "{" | INDENT => depth += 1,
            ")" | "]" | "}" | DEDENT => depth = depth.saturating_sub(1),
            _ => {}
        }
        deep.push(depth);
    }
    // The body's own braces are the first.
    let at = (0..body.len()).find(|at| text(body, *at) == "return" && deep[*at] == 1)?;
    let ends = |next: &usize| {
        let own = text(body, *next) == ";" || body[*next].first || deep[*next] == 0;
        own && deep[*next] <= 1
    };
    Some((at + 1..body.len()).find(ends).unwrap_or(body.len()))
}

/// Returns that say nothing and have something behind them.
fn returns(language: Language, body: &[Token]) -> Vec<(usize, String)> {
    let last = (0..body.len()).rev().find(|at| assertion(language, body, *at).is_some());
    let bare = |at: &usize| {
        let next = body.get(at + 1);
        text(body, *at) == "return"
            && next.is_none_or(|it| {
                it.first
                    || [";", "}", DEDENT].contains(&it.text.as_str())
                    || (it.text == "Ok" && text(body, at + 2) == "(")
            })
    };
    (0..last.unwrap_or(0)).filter(bare).map(|at| (body[at].line, "return".to_owned())).collect()
}

/// What is behind a condition that never holds.
fn dead(body: &[Token]) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    for at in 0..body.len() {
        let word = text(body, at);
        if !["if", "while"].contains(&word) {
            continue;
        }
        let open = at + 1 + usize::from(text(body, at + 1) == "(");
        let is_false = ["false", "False", "0"].contains(&text(body, open))
            && ["{", ")", ":", "&&", "and"].contains(&text(body, open + 1));
        let ands = body[at..].iter().take_while(|it| !["{", ":", ";"].contains(&it.text.as_str()));
        let ands: Vec<&str> = ands.map(|it| it.text.as_str()).collect();
        let never = ands
            .windows(2)
            .any(|it| ["&&", "and"].contains(&it[0]) && ["false", "False"].contains(&it[1]));
        if is_false || never {
            let begins = (at..body.len()).find(|at| ["{", INDENT].contains(&text(body, *at)));
            let end = begins.map_or(body.len(), |open| closes(body, open));
            found.push((at, end, format!("{word} {}", if never { "… && false" } else { "false" })));
        }
    }
    found
}

/// Where what fails is let pass.
fn swallows(language: Language, body: &[Token]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, token) in body.iter().enumerate() {
        let what = match (language, token.text.as_str()) {
            (Language::Rust, "catch_unwind") => Some("catch_unwind"),
            (Language::Go, "recover") if text(body, at + 1) == "(" => Some("recover()"),
            (Language::Python, "except") => {
                let colon = (at..body.len()).find(|at| text(body, *at) == ":");
                let passes = colon.is_some_and(|colon| {
                    let next = colon + 1 + usize::from(text(body, colon + 1) == INDENT);
                    ["pass", ".", "return", "continue"].contains(&text(body, next))
                });
                passes.then_some("except: pass")
            }
            (Language::Python, "suppress") => Some("suppress(…)"),
            (Language::JavaScript, "catch") => {
                let brace = (at..body.len()).find(|at| text(body, *at) == "{");
                let empty = brace.is_some_and(|brace| text(body, brace + 1) == "}");
                empty.then_some("catch {}")
            }
            _ => None,
        };
        found.extend(what.map(|what| (token.line, what.to_owned())));
    }
    found
}
