//! JUnit's XML, as nearly every runner can write it. It is scanned, not validated: what is not well formed has fewer failures.

use super::{Class, Failure};

pub fn read(text: &str) -> Vec<Failure> {
    if !text.contains("<testcase") {
        return Vec::new();
    }
    let mut failures = Vec::new();
    let mut test: Option<String> = None;
    let mut rest = text;
    while let Some(tag) = next_tag(&mut rest) {
        match tag.name {
            "testcase" => {
                let name = attribute(tag.text, "name");
                let class = attribute(tag.text, "classname").filter(|class| !class.is_empty());
                test = match (class, name) {
                    (Some(class), Some(name)) => Some(format!("{class}::{name}")),
                    (_, name) => name,
                };
            }
            // What is skipped, or known to fail, is no failure.
            "/testcase" | "skipped" => test = None,
            "failure" | "error" if test.is_some() => {
                let kind = attribute(tag.text, "type").unwrap_or_default();
                let said = attribute(tag.text, "message").unwrap_or_default();
                let inside = match tag.text.ends_with('/') {
                    true => String::new(),
                    false => content(&mut rest),
                };
                let message = if said.is_empty() { &inside } else { &said };
                // The type counts first, for it is a name.
                let otherwise = match tag.name {
                    "failure" => Class::AssertionError,
                    _ => Class::RuntimeError,
                };
                let failure = Failure::of(test.as_deref(), message, otherwise);
                let class =
                    [&kind, &said, &inside].into_iter().find_map(|it| super::words::class(it));
                failures.push(Failure { class: class.unwrap_or(otherwise), ..failure });
            }
            _ => {}
        }
    }
    failures
}

/// The tests that have run: what is skipped has not.
pub fn names(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(tag) = next_tag(&mut rest) {
        match tag.name {
            "testcase" => {
                let name = attribute(tag.text, "name").unwrap_or_default();
                let class = attribute(tag.text, "classname").filter(|class| !class.is_empty());
                names.push(class.map_or_else(|| name.clone(), |class| format!("{class}::{name}")));
            }
            "skipped" => drop(names.pop()),
            _ => {}
        }
    }
    names
}

struct Tag<'t> {
    name: &'t str,
    /// What stands between `<name` and `>`.
    text: &'t str,
}

/// The next tag that is no comment, no instruction and no quoted text.
fn next_tag<'t>(rest: &mut &'t str) -> Option<Tag<'t>> {
    loop {
        let at = rest.find('<')?;
        let tag = &rest[at + 1..];
        let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>")];
        if let Some((_, end)) = skipped.iter().find(|(begin, _)| tag.starts_with(begin)) {
            *rest = tag.find(end).map_or("", |at| &tag[at + end.len()..]);
            continue;
        }
        let end = end_of_tag(tag)?;
        *rest = &tag[end + 1..];
        let text = &tag[..end];
        let name = text.split(|letter: char| letter.is_whitespace()).next().unwrap_or_default();
        let name = if name.len() > 1 { name.trim_end_matches('/') } else { name };
        return Some(Tag { name, text });
    }
}

/// Where a tag ends: at a `>` that is not quoted.
fn end_of_tag(tag: &str) -> Option<usize> {
    let mut quote = None;
    for (at, letter) in tag.char_indices() {
        match (quote, letter) {
            (None, '>') => return Some(at),
            (None, '"' | '\'') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            _ => {}
        }
    }
    None
}

/// What an element holds, up to the tag that closes it.
fn content(rest: &mut &str) -> String {
    if let Some(inside) = rest.trim_start().strip_prefix("<![CDATA[") {
        let end = inside.find("]]>").unwrap_or(inside.len());
        let said = inside[..end].to_owned();
        *rest = inside.get(end + 3..).unwrap_or("");
        return said;
    }
    let end = rest.find('<').unwrap_or(rest.len());
    let said = decoded(&rest[..end]);
    *rest = &rest[end..];
    said
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let mut rest = tag;
    loop {
        let at = rest.find(name)?;
        let before = rest[..at].chars().next_back();
        let after = rest[at + name.len()..].trim_start();
        rest = &rest[at + name.len()..];
        let Some(value) = after.strip_prefix('=').map(str::trim_start) else { continue };
        if before.is_some_and(|letter| !letter.is_whitespace()) {
            continue;
        }
        let quote = value.chars().next().filter(|letter| ['"', '\''].contains(letter))?;
        let end = value[1..].find(quote)?;
        return Some(decoded(&value[1..=end]));
    }
}

fn decoded(text: &str) -> String {
    let text = text
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&apos;", "'");
    text.replace("&#10;", "\n").replace("&#xA;", "\n").replace("&#39;", "'").replace("&amp;", "&")
}
