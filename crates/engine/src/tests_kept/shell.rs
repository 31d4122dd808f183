//! Tests that are programs of their own: a line is a command, and all of it is one test.

use super::find::{Test, Tests};
use super::worth::Worth;

/// A test that has begun: its name, where, and its commands so far.
type Open = (String, usize, Vec<(usize, String)>);

/// What a file of commands comes to: as one test that has the file's name, or those that it names itself.
pub(super) fn tests(name: &str, text: &str) -> Tests {
    let lines = commands(text);
    let mut named: Vec<Test> = Vec::new();
    let mut rest = Vec::new();
    let mut open: Option<Open> = None;
    for (line, command) in lines {
        if let Some((name, from, mut own)) = open.take() {
            if command == "}" {
                named.push(test(&name, from, &own));
            } else {
                own.push((line, command));
                open = Some((name, from, own));
            }
        } else if let Some(name) = begins(&command) {
            open = Some((name, line, Vec::new()));
        } else {
            rest.push((line, command));
        }
    }
    if let Some((name, from, own)) = open {
        named.push(test(&name, from, &own));
    }
    if named.is_empty() {
        named.push(test(name, 1, &rest));
        rest.clear();
    }
    Tests { all: named, rest, ..Tests::default() }
}

/// `test_it() {` and `@test "it" {`.
fn begins(command: &str) -> Option<String> {
    let head = command.strip_suffix('{')?.trim();
    if let Some(name) = head.strip_prefix("@test ") {
        return Some(name.trim().trim_matches(['"', '\'']).to_owned());
    }
    let head = head.strip_prefix("function ").unwrap_or(head);
    let name = head.trim_end_matches(['(', ')', ' ']);
    (name.starts_with("test") && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_'))
        .then(|| name.to_owned())
}

fn test(name: &str, line: usize, commands: &[(usize, String)]) -> Test {
    let skips = |it: &&(usize, String)| it.1 == "skip" || it.1.starts_with("skip ");
    let mut worth = Worth::default();
    let mut deep = 0_usize;
    let mut over = false;
    let last = commands.len().saturating_sub(1);
    for (at, (line, command)) in commands.iter().enumerate() {
        let first = command.split(' ').next().unwrap_or_default();
        if ["fi", "done", "esac", "}"].contains(&first) {
            deep = deep.saturating_sub(1);
        }
        if !over && !is_vacuous(command) {
            worth.asserted += 1;
        }
        if never_fails(command) {
            worth.swallows.push((*line, command.clone()));
        }
        let ends = ["exit", "return"].contains(&first)
            && ["exit", "exit 0", "return", "return 0"].contains(&command.as_str());
        if ends && at < last {
            worth.returns.push((*line, command.clone()));
            over |= deep == 0;
        }
        if command.starts_with("if false") || command.starts_with("while false") {
            worth.dead.push((*line, command.clone()));
        }
        let opens =
            ["if", "for", "while", "until", "case"].contains(&first) || command.ends_with('{');
        let closed = [" fi", " done", " esac", " }"].iter().any(|end| command.ends_with(end));
        deep += usize::from(opens && !closed);
    }
    Test {
        name: name.to_owned(),
        line,
        marks: commands.iter().filter(skips).cloned().collect(),
        cases: 0,
        words: commands.iter().map(|(_, command)| command.clone()).collect(),
        worth,
    }
}

/// Whether a command shows nothing, whatever was built.
fn is_vacuous(command: &str) -> bool {
    let first = command.split(' ').next().unwrap_or_default();
    let words = [
        "true", ":", "exit", "return", "echo", "printf", "set", "fi", "done", "then", "else", "}",
        "{", "esac", "do", "skip", "export", "cd",
    ];
    words.contains(&first) || never_fails(command)
}

/// `… || true` and the like.
fn never_fails(command: &str) -> bool {
    let said = command.trim_end_matches([')', ';', ' ']);
    let tails =
        ["|| true", "|| :", "|| exit 0", "|| return 0", "|| echo", "; true", "; :", "; exit 0"];
    tails.iter().any(|tail| said.ends_with(tail))
        || command.contains("|| echo ")
        || command == "set +e"
        || command.starts_with("trap 'exit 0'")
}

/// Commands without comments, each on a line, with single spaces.
fn commands(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        let bare = bare(line);
        let (goes_on, part) = match bare.strip_suffix('\\') {
            Some(part) => (true, part.trim_end().to_owned()),
            None => (false, bare),
        };
        let (from, so_far) = open.take().unwrap_or((at + 1, String::new()));
        let joined = format!("{so_far} {part}").trim().to_owned();
        if goes_on {
            open = Some((from, joined));
        } else if !joined.is_empty() {
            found.push((from, joined));
        }
    }
    found.extend(open.filter(|(_, command)| !command.is_empty()));
    found
}

/// A line without its comment, with single spaces outside of quotes.
fn bare(line: &str) -> String {
    let mut out = String::new();
    let mut quote = None;
    for letter in line.trim().chars() {
        match (quote, letter) {
            (None, '#') if out.is_empty() || out.ends_with([' ', ';']) => break,
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, ' ' | '\t') if out.ends_with(' ') => continue,
            (None, '\t') => {
                out.push(' ');
                continue;
            }
            _ => {}
        }
        out.push(letter);
    }
    out.trim_end_matches([' ', ';']).to_owned()
}
