//! Output that helped whoever wrote it, and stops for a debugger.

use super::Around;
use super::language::{Language, Line};

/// What is never there for anybody else, anywhere in the code of a line.
fn stops(language: Language) -> &'static [&'static str] {
    match language {
        Language::JavaScript => &["debugger;", "console.debug(", "console.trace(", "console.dir("],
        Language::Python => &["breakpoint()", "pdb.set_trace(", "import pdb", "import ipdb", "ic("],
        Language::Rust => &["dbg!("],
        Language::Go => &["spew.Dump(", "runtime.Breakpoint("],
        Language::Java => &[".printStackTrace()", "Debugger.Break("],
        Language::C => &["__debugbreak("],
        Language::Ruby => &["binding.pry", "byebug", "binding.irb", "debugger"],
        Language::Php => &["var_dump(", "dd("],
        Language::Shell | Language::Page => &[],
    }
}

/// What prints.
fn printers(language: Language) -> &'static [&'static str] {
    match language {
        Language::JavaScript => &["console.log("],
        Language::Python => &["print(", "pprint("],
        Language::Rust => &["println!(", "eprintln!("],
        Language::Go => &["fmt.Println(", "fmt.Printf(", "log.Println(", "log.Printf("],
        Language::Java => &["System.out.println(", "Console.WriteLine(", "println("],
        Language::C => &["printf(", "std::cout <<"],
        Language::Ruby => &["puts ", "pp ", "p "],
        Language::Php => &["print_r(", "var_export("],
        Language::Shell | Language::Page => &[],
    }
}

/// Whether a text prints anything in its language.
pub fn prints(language: Language, text: &str) -> bool {
    printers(language).iter().any(|printer| text.contains(printer))
}

pub fn is_debug(around: &Around<'_>, at: usize) -> bool {
    let line = &around.lines[at];
    let code = line.code.as_str();
    if stops(around.language).iter().any(|stop| places(code, stop).next().is_some()) {
        return true;
    }
    let printed = printers(around.language).iter().find_map(|printer| {
        let place = places(code, printer).next()?;
        Some(&code[place + printer.len()..])
    });
    let Some(printed) = printed else { return false };
    // Whoever tests may look at things; whoever prints for a living as well.
    shouts(line)
        || labels(line, printed)
        || (!around.is_test && !around.is_command && around.was_silent && is_bare(printed))
}

/// Where something stands that no name goes on into.
fn places<'c>(code: &'c str, what: &'c str) -> impl Iterator<Item = usize> + 'c {
    let joins = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
    let begins = !what.starts_with('.');
    code.match_indices(what).map(|(at, _)| at).filter(move |at| {
        let before = code[..*at].chars().next_back().is_some_and(joins);
        let after = code[at + what.len()..]
            .chars()
            .next()
            .is_some_and(|it| it.is_alphanumeric() || it == '_');
        !(begins && before) && (!after || what.ends_with(['(', ' ']))
    })
}

/// Whether a text is there to be found again in a lot of output.
fn shouts(line: &Line<'_>) -> bool {
    line.texts.iter().any(|text| {
        let trimmed = text.trim();
        let lower = trimmed.to_lowercase();
        let words = ["debug", "xxx", "here", "wtf", "asdf", "[dbg]", "[debug]"];
        let begins = ["debug:", "debug -", "[debug]", "dbg:", ">>>", "<<<", "!!!", "###"];
        words.contains(&lower.trim_matches(['!', '.', ':', ' ']))
            || begins.iter().any(|word| lower.starts_with(word))
    })
}

/// Whether a value is printed with its own name: `"user", user`, `f"{user=}"`.
fn labels(line: &Line<'_>, printed: &str) -> bool {
    let own = |text: &String| {
        let label = text.trim().trim_end_matches([':', '=', ' ']);
        let is_name =
            !label.is_empty() && label.chars().all(|it| it.is_alphanumeric() || "._".contains(it));
        let value = printed
            .split_once(',')
            .map(|(_, value)| value.trim().trim_end_matches([')', ';', ' ']));
        is_name && value == Some(label)
    };
    let echoes = |text: &String| {
        let inside = text.split('{').skip(1).filter_map(|it| it.split_once('}'));
        inside.into_iter().any(|(name, _)| name.len() > 1 && name.ends_with('='))
    };
    line.texts.iter().any(own) || line.texts.iter().any(echoes)
}

/// Whether nothing but a value is printed.
fn is_bare(printed: &str) -> bool {
    let value = printed.trim().trim_end_matches([';', ')', ' ']);
    let value = value.trim_matches(['{', '}', ' ']);
    !value.is_empty()
        && value.starts_with(|it: char| it.is_alphabetic() || it == '_')
        && value.chars().all(|it| it.is_alphanumeric() || "._[]".contains(it))
}
