//! Code in comments: a line of its own that reads as code of the file's language and not as a sentence.

use super::Around;
use super::language::{Language, Line};

/// What begins a comment that says something to people or to tools.
const SPOKEN: [&str; 24] = [
    "e.g", "i.e", "see ", "http", "todo", "fixme", "note", "example", "eslint", "prettier",
    "biome", "ts-", "@ts", "istanbul", "c8 ", "v8 ", "noqa", "type:", "pylint", "mypy", "fmt:",
    "safety", "->", ">>>",
];

pub fn is_dead(around: &Around<'_>, at: usize) -> bool {
    let Some(said) = alone(&around.lines[at]) else { return false };
    if !is_code(around.language, said) {
        return false;
    }
    // What a sentence leads up to is an example.
    let before = at.checked_sub(1).and_then(|before| alone(&around.lines[before]));
    let leads = |said: &str| said.ends_with(':') && !is_code(around.language, said);
    let mut above = at;
    while above > 0
        && alone(&around.lines[above - 1]).is_some_and(|it| is_code(around.language, it))
    {
        above -= 1;
    }
    let first = above.checked_sub(1).and_then(|above| alone(&around.lines[above]));
    !before.is_some_and(leads) && !first.is_some_and(leads)
}

/// The comment of a line that has nothing else.
fn alone<'l>(line: &'l Line<'_>) -> Option<&'l str> {
    line.comment.filter(|said| line.code.trim().is_empty() && !said.is_empty())
}

fn is_code(language: Language, said: &str) -> bool {
    // Four plain words in a row, and no sentence.
    if let (Language::Python, ["from", _, "import", _]) =
        (language, said.split_whitespace().collect::<Vec<_>>().as_slice())
    {
        return true;
    }
    let lower = said.to_lowercase();
    if SPOKEN.iter().any(|word| lower.starts_with(word)) || is_sentence(said) {
        return false;
    }
    match language {
        Language::Python | Language::Ruby => is_script(said),
        Language::Shell | Language::Page => false,
        _ => is_statement(said),
    }
}

/// Whether so many words stand one after the other as only in a sentence.
fn is_sentence(said: &str) -> bool {
    let mut row = 0;
    for word in said.split_whitespace() {
        let plain = word.trim_end_matches([',', '.', ':', ';']);
        let is_word = !plain.is_empty()
            && plain.chars().all(|it| it.is_alphabetic() || it == '\'' || it == '-');
        row = if is_word { row + 1 } else { 0 };
        if row >= 4 {
            return true;
        }
    }
    !said.is_ascii()
}

/// A statement of a language with braces: `foo(bar);`, `const a = b;`, `if (a) {`, `return x;`.
fn is_statement(said: &str) -> bool {
    let body = said.trim_end();
    let words = [
        "if ",
        "for ",
        "while ",
        "switch ",
        "} else",
        "fn ",
        "func ",
        "function ",
        "class ",
        "match ",
    ];
    let opens = body.ends_with('{')
        && (words.iter().any(|word| body.starts_with(word)) || body.contains(") {"));
    let Some(bare) = body.strip_suffix(';') else { return opens };
    let first =
        bare.split(|it: char| !(it.is_alphanumeric() || it == '_')).next().unwrap_or_default();
    let keyword =
        ["let", "const", "var", "return", "import", "export", "use", "throw", "await", "pub"]
            .contains(&first);
    let calls = bare.ends_with(')') && bare.contains('(') && !bare.starts_with('(');
    let assigns = [" = ", " += ", " := "].iter().any(|sign| bare.contains(sign));
    calls
        || assigns
        || (keyword && bare.split_whitespace().count() <= 6 && bare.len() > first.len())
}

/// A line of a language without braces: `x = y(z)`, `print(x)`, `import x`, `if x == y:`.
fn is_script(said: &str) -> bool {
    let body = said.trim_end();
    let is_name = |name: &str| {
        let name = name.trim();
        !name.is_empty()
            && name.starts_with(|it: char| it.is_alphabetic() || it == '_')
            && name.chars().all(|it| it.is_alphanumeric() || "._[]'\"".contains(it))
    };
    let words: Vec<&str> = body.split_whitespace().collect();
    let signs = body.contains(['(', ')', '=', '[', '.', '_', '<', '>']);
    match words.as_slice() {
        ["import", name] => is_name(name),
        ["from", name, "import", ..] => is_name(name),
        ["return" | "raise" | "yield" | "assert" | "del", ..] => {
            signs && words.len() <= 6 && !body.ends_with('.')
        }
        ["def" | "class", ..] => body.ends_with(':') && signs,
        ["if" | "elif" | "while" | "with", ..] => body.ends_with(':') && signs,
        ["for", _, "in", ..] => body.ends_with(':') && signs,
        ["puts" | "require", _] => true,
        _ => {
            let assigned = body
                .split_once(" = ")
                .filter(|(name, value)| is_name(name) && !value.trim().is_empty());
            // Words before a bracket are words.
            let called = body.split_once('(').filter(|(name, rest)| {
                is_name(name) && !name.ends_with(' ') && rest.ends_with(')')
            });
            assigned.is_some() || called.is_some()
        }
    }
}
