//! What `node --test` prints: TAP, or what it shows to people.

use super::{Class, Failure};

pub fn read(text: &str) -> Vec<Failure> {
    let found = tap(text);
    if found.is_empty() { shown(text) } else { found }
}

/// `not ok 1 - name`, with what is wrong in a block below it. One whose parts have failed is not named beside them.
fn tap(text: &str) -> Vec<Failure> {
    let lines: Vec<&str> = text.lines().collect();
    let mut failures = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let Some(rest) = line.trim_start().strip_prefix("not ok ") else { continue };
        let rest = rest.trim_start_matches(|letter: char| letter.is_ascii_digit()).trim_start();
        let rest = rest.strip_prefix("- ").unwrap_or(rest);
        let (name, mark) = rest.split_once(" # ").unwrap_or((rest, ""));
        if ["TODO", "SKIP"].iter().any(|word| mark.to_uppercase().starts_with(word)) {
            continue;
        }
        let indent = line.len() - line.trim_start().len();
        let block: Vec<&str> = block_below(&lines[at + 1..], indent);
        let value = |key: &str| {
            let found = block.iter().position(|line| line.trim_start().starts_with(key))?;
            let said = block[found].trim_start()[key.len()..].trim().trim_matches(['\'', '"']);
            // A text of several lines stands below its key.
            Some(match said.starts_with(['|', '>']) {
                true => block[found + 1..]
                    .iter()
                    .map(|line| line.trim())
                    .take(4)
                    .collect::<Vec<_>>()
                    .join("\n"),
                false => said.to_owned(),
            })
        };
        let kind = value("failureType:").unwrap_or_default();
        if kind == "subtestsFailed" {
            continue;
        }
        let message = value("error:").or_else(|| value("message:")).unwrap_or_default();
        let known = [value("name:"), value("code:"), Some(kind)];
        let known = known.into_iter().flatten().find_map(|said| super::words::class(&said));
        // Where there is no block, what it printed stands below.
        let message = if message.is_empty() { printed(&lines[at + 1..]) } else { message };
        let failure = Failure::of(Some(name), &message, Class::RuntimeError);
        let class = known.or_else(|| before(&lines[..at], &message)).unwrap_or(failure.class);
        failures.push(Failure { class, ..failure });
    }
    failures
}

/// What stands between one test and the next: the line that says what kind of failure it is, or else the first.
fn printed(below: &[&str]) -> String {
    let ends = |line: &&&str| {
        let line = line.trim_start();
        !["ok ", "not ok ", "1..", "# tests", "# Subtest"].iter().any(|it| line.starts_with(it))
    };
    let bare = |line: &&str| line.trim().trim_start_matches('#').trim().to_owned();
    let said = || below.iter().take_while(ends).map(bare);
    let said =
        || said().filter(|line| !line.is_empty() && !["---", "..."].contains(&line.as_str()));
    said()
        .find(|line| super::words::class(line).is_some())
        .or_else(|| said().next())
        .unwrap_or_default()
}

/// The class of what a file printed that could not be run as a test: it stands before the line that says no more than that.
fn before(lines: &[&str], message: &str) -> Option<Class> {
    if !message.contains("test failed") {
        return None;
    }
    let own = lines.iter().rev();
    let mut own =
        own.take_while(|line| line.trim() != "..." && !line.trim_start().starts_with('✖'));
    own.find_map(|line| super::words::class(line))
}

/// The block between `---` and `...` right below a line.
fn block_below<'t>(lines: &[&'t str], indent: usize) -> Vec<&'t str> {
    let opens = lines.first().is_some_and(|line| line.trim() == "---" && line.len() > indent);
    if !opens {
        return Vec::new();
    }
    lines[1..].iter().take_while(|line| line.trim() != "...").copied().collect()
}

/// `✖ name (1.2ms)` below `✖ failing tests:`, with what is wrong further in.
fn shown(text: &str) -> Vec<Failure> {
    let all: Vec<&str> = text.lines().collect();
    let mut failures = Vec::new();
    let mut lines =
        text.lines().skip_while(|line| line.trim() != "✖ failing tests:").skip(1).peekable();
    while let Some(line) = lines.next() {
        let Some(name) = line.trim_start().strip_prefix("✖ ") else { continue };
        let (name, mark) = name.split_once(" # ").unwrap_or((name, ""));
        if ["TODO", "SKIP"].iter().any(|word| mark.starts_with(word)) {
            continue;
        }
        let name = match name.rsplit_once(" (") {
            Some((name, time)) if time.ends_with("ms)") => name,
            _ => name,
        };
        let mut said = Vec::new();
        while let Some(more) =
            lines.peek().filter(|more| more.starts_with(' ') && !more.trim().is_empty())
        {
            said.push(more.trim());
            lines.next();
        }
        let said = said.join("\n");
        let failure = Failure::of(Some(name), &said, Class::RuntimeError);
        // It was shown where it happened, too.
        let shown = all.iter().position(|other| other.trim_start() == line.trim_start());
        let class = shown.and_then(|at| before(&all[..at], &said)).unwrap_or(failure.class);
        failures.push(Failure { class, ..failure });
    }
    failures
}
