//! How an assertion is checked: one line each, `key: value`.

use std::fmt;

use windlass_core::path::Below;

/// How an assertion is checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// A command for the shell, at the top of a checkout; it is so if the command succeeds.
    Command(String),
    /// A look at a file of the checkout.
    File {
        /// Which one, from the top of the checkout.
        path: Below,
        /// What is to be so.
        want: FileWant,
    },
    /// A request to the app that the project's `serve` starts.
    Http {
        /// `GET` and the like.
        method: String,
        /// From the top of the site, with the query.
        path: String,
        /// What is sent along.
        body: Option<String>,
        /// The status that is wanted.
        status: u16,
        /// What the answer must contain, all of it.
        contains: Vec<String>,
    },
    /// Steps in a browser, one after the other, in that app.
    Ui(Vec<Step>),
    /// What the validator looks at and judges.
    Review(String),
}

/// What is to be so with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileWant {
    /// It is there.
    Exists,
    /// It is not there.
    Absent,
    /// It has a text in it.
    Contains(String),
    /// It is there and has a text not in it.
    Lacks(String),
}

/// A step in a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Go to a page of the app.
    Open(String),
    /// Click what is shown there.
    Click(Target),
    /// Put a text into a field in place of what it holds.
    Type {
        /// The field's selector.
        field: String,
        /// What is typed.
        text: String,
    },
    /// It is to be seen, soon.
    See(Target),
    /// It is not to be seen, soon.
    Unseen(Target),
    /// Go on when it is to be seen.
    WaitFor(Target),
    /// Keep a picture of the page under a name.
    Shot(String),
    /// The page has reported no error so far.
    Quiet,
}

/// Something on a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// By what it says.
    Text(String),
    /// By a CSS selector.
    Selector(String),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Target::Text(text) => write!(f, "{}", in_quotes(text)),
            Target::Selector(selector) => f.write_str(selector),
        }
    }
}

/// As it is written in a contract.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Open(path) => write!(f, "open {path}"),
            Step::Click(at) => write!(f, "click {at}"),
            Step::Type { field, text } => write!(f, "type {field} {}", in_quotes(text)),
            Step::See(at) => write!(f, "see {at}"),
            Step::Unseen(at) => write!(f, "unseen {at}"),
            Step::WaitFor(at) => write!(f, "wait-for {at}"),
            Step::Shot(name) => write!(f, "shot {name}"),
            Step::Quiet => f.write_str("quiet"),
        }
    }
}

/// A text as `quoted` reads it.
fn in_quotes(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{text}\"")
}

impl How {
    /// Whether Windlass itself can see if it is so.
    pub fn is_mechanical(&self) -> bool {
        !matches!(self, How::Review(_))
    }

    /// Whether the app must be there for it.
    pub fn wants_app(&self) -> bool {
        matches!(self, How::Http { .. } | How::Ui(_))
    }

    pub(super) fn parse(key: &str, value: &str) -> Result<How, String> {
        if value.is_empty() {
            return Err(format!("`{key}:` says nothing: write {}", form_of(key)));
        }
        match key {
            "command" => command(value),
            "file" => file(value),
            "http" => http(value),
            "ui" => steps(value).map(How::Ui),
            _ => Ok(How::Review(value.to_owned())),
        }
    }
}

/// How each is written, for those who wrote it otherwise.
fn form_of(key: &str) -> &'static str {
    match key {
        "command" => "`command: `sh test.sh``",
        "file" => "`file: PATH exists`, `absent`, `contains \"TEXT\"` or `lacks \"TEXT\"`",
        "http" => "`http: GET /PATH → 200 \"TEXT\"`",
        "ui" => "`ui: open /PATH; click SELECTOR; see \"TEXT\"`",
        _ => "what to look at",
    }
}

/// The label of a line.
pub(super) enum Key {
    /// One of ours, as it is spelt.
    Known(&'static str),
    /// One that resembles one of ours.
    Like(&'static str),
}

/// Labels, with what others call them.
const KEYS: &[(&str, &str)] = &[
    ("command", "command"),
    ("cmd", "command"),
    ("file", "file"),
    ("http", "http"),
    ("ui", "ui"),
    ("review", "review"),
    ("claim", "claim"),
];

/// The label that a line begins with and what it says, if it is one of ours or nearly so.
pub(super) fn key_of(line: &str) -> Option<(Key, &str)> {
    let line = line.trim_start_matches(['*', '_']);
    let (label, value) = line.split_once(':')?;
    let label = label.trim_end_matches(['*', '_']).to_ascii_lowercase();
    let value = value.trim_start_matches(['*', '_']).trim();
    if let Some((_, key)) = KEYS.iter().find(|(word, _)| *word == label) {
        return Some((Key::Known(key), value));
    }
    let near = |word: &str| {
        label.len() > 3 && word.len() > 3 && strsim::damerau_levenshtein(word, &label) == 1
    };
    let (_, key) = KEYS.iter().find(|(word, _)| near(word) || format!("{word}s") == label)?;
    Some((Key::Like(key), value))
}

/// A text without the marks that it is put between.
pub(super) fn unquoted(text: &str) -> String {
    match quoted(text) {
        Some((inner, rest)) if rest.trim().is_empty() => inner,
        _ => text.trim_matches('`').to_owned(),
    }
}

fn command(value: &str) -> Result<How, String> {
    let ticks = value.bytes().take_while(|byte| *byte == b'`').count();
    if ticks == 0 {
        return Ok(How::Command(value.to_owned()));
    }
    let (mark, rest) = value.split_at(ticks);
    let Some((command, after)) = rest.split_once(mark) else {
        return Err(format!("the command is not closed: it wants another {mark}"));
    };
    let after = after.trim().trim_end_matches('.').to_lowercase();
    let (command, usual) = (command.trim(), ["", "passes", "succeeds", "exits 0", "→ 0", "-> 0"]);
    match (command.is_empty(), usual.contains(&after.as_str())) {
        (true, _) => Err(format!("`command:` says nothing: write {}", form_of("command"))),
        (false, false) => Err(format!(
            "`{after}` after a command is not understood: let the command itself fail if it is not so"
        )),
        (false, true) => Ok(How::Command(command.to_owned())),
    }
}

fn file(value: &str) -> Result<How, String> {
    let bad = || format!("`file: {value}` is not understood: write {}", form_of("file"));
    let (path, rest) = named(value).ok_or_else(bad)?;
    let path = Below::parse(&path)
        .map_err(|flaw| format!("`{path}` is no file of the project: {flaw}"))?;
    let rest = rest.trim();
    let (word, said) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let text = || match quoted(said.trim()) {
        Some((text, after)) if after.trim().is_empty() && !text.is_empty() => Ok(text),
        _ => Err(bad()),
    };
    let want = match word.to_ascii_lowercase().as_str() {
        "exists" | "present" if said.is_empty() => FileWant::Exists,
        "absent" if said.is_empty() => FileWant::Absent,
        "contains" => FileWant::Contains(text()?),
        "lacks" => FileWant::Lacks(text()?),
        _ => return Err(bad()),
    };
    Ok(How::File { path, want })
}

/// The first word of a text, or what is between marks there, and what follows.
fn named(text: &str) -> Option<(String, &str)> {
    if let Some(rest) = text.strip_prefix('`') {
        return rest.split_once('`').map(|(name, rest)| (name.to_owned(), rest));
    }
    if let Some((name, rest)) = quoted(text) {
        return Some((name, rest));
    }
    text.split_once(char::is_whitespace).map(|(name, rest)| (name.to_owned(), rest))
}

const METHODS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

fn http(value: &str) -> Result<How, String> {
    let bad = || format!("`http: {value}` is not understood: write {}", form_of("http"));
    let value = value.trim_matches('`');
    let (method, rest) = value.split_once(char::is_whitespace).ok_or_else(bad)?;
    let method = method.to_ascii_uppercase();
    if !METHODS.contains(&method.as_str()) {
        return Err(format!("`{method}` is no method of HTTP: write {}", form_of("http")));
    }
    let (path, rest) = rest.trim().split_once(char::is_whitespace).ok_or_else(bad)?;
    page(path)?;
    let mut rest = rest.trim();
    let mut body = None;
    if let Some(said) = rest.strip_prefix("with ") {
        let (text, after) = quoted(said.trim()).ok_or_else(bad)?;
        (body, rest) = (Some(text), after.trim());
    }
    let arrow = ["→", "->", "=>"].iter().find_map(|arrow| rest.strip_prefix(arrow));
    let rest = arrow.unwrap_or(rest).trim();
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let status = rest[..digits].parse().ok().filter(|status| (100..600).contains(status));
    let status = status.ok_or_else(bad)?;
    let mut contains = Vec::new();
    let mut rest = rest[digits..].trim();
    while !rest.is_empty() {
        let (text, after) = quoted(rest).ok_or_else(bad)?;
        contains.push(text);
        rest = after.trim().trim_start_matches(',').trim();
    }
    Ok(How::Http { method, path: path.to_owned(), body, status, contains })
}

/// A page of the app: nothing of another host, and nothing that could be taken for more of the request.
fn page(path: &str) -> Result<(), String> {
    let odd = |letter: char| letter.is_control() || letter.is_whitespace() || letter == '\\';
    if path.starts_with("//") || !path.starts_with('/') || path.contains(odd) {
        return Err(format!("`{path}` is no page of the app: it begins with one `/`"));
    }
    Ok(())
}

fn steps(value: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for part in parts(value.trim_matches('`')) {
        let part = part.trim();
        if !part.is_empty() {
            steps.push(step(part)?);
        }
    }
    match steps.first() {
        Some(Step::Open(_)) => Ok(steps),
        _ => Err("the steps begin nowhere: the first is `open /PATH`".to_owned()),
    }
}

/// The steps of a line: what stands between `;`, quotes heeded.
fn parts(text: &str) -> Vec<&str> {
    let (mut found, mut from, mut rest) = (Vec::new(), 0, text);
    while let Some(at) = rest.find(['"', '“', ';']) {
        let here = text.len() - rest.len() + at;
        if rest[at..].starts_with(';') {
            found.push(&text[from..here]);
            from = here + 1;
            rest = &text[from..];
        } else {
            rest = quoted(&rest[at..]).map_or("", |(_, after)| after);
        }
    }
    found.push(&text[from..]);
    found
}

fn step(part: &str) -> Result<Step, String> {
    let (word, said) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
    let said = said.trim();
    let bad = |form: &str| format!("the step `{part}` is not understood: write `{form}`");
    let at = |form: &str| target(said).ok_or_else(|| bad(form));
    match word.to_ascii_lowercase().as_str() {
        "open" => {
            page(said)?;
            Ok(Step::Open(said.to_owned()))
        }
        "click" => Ok(Step::Click(at("click SELECTOR or \"TEXT\"")?)),
        "type" => typed(said).ok_or_else(|| bad("type SELECTOR \"TEXT\"")),
        "see" => Ok(Step::See(at("see \"TEXT\" or SELECTOR")?)),
        "unseen" => Ok(Step::Unseen(at("unseen \"TEXT\" or SELECTOR")?)),
        "wait-for" => Ok(Step::WaitFor(at("wait-for \"TEXT\" or SELECTOR")?)),
        "shot" => {
            let name = crate::slug(&unquoted(said));
            if name.is_empty() { Err(bad("shot NAME")) } else { Ok(Step::Shot(name)) }
        }
        "quiet" if said.is_empty() => Ok(Step::Quiet),
        _ => Err(format!(
            "`{word}` is no step: there are open, click, type, see, unseen, wait-for, shot and quiet"
        )),
    }
}

fn target(said: &str) -> Option<Target> {
    match quoted(said) {
        Some((text, rest)) if rest.trim().is_empty() && !text.trim().is_empty() => {
            Some(Target::Text(text))
        }
        Some(_) => None,
        None => {
            let selector = said.trim_matches('`').trim();
            let broken = selector.is_empty() || selector.starts_with(['"', '“']);
            (!broken).then(|| Target::Selector(selector.to_owned()))
        }
    }
}

/// `SELECTOR "TEXT"`: the selector may have quotes of its own, so it is the last text that counts.
fn typed(said: &str) -> Option<Step> {
    let starts = said.char_indices().filter(|(_, letter)| matches!(letter, '"' | '“'));
    let spaced = starts.filter(|(at, _)| said[..*at].ends_with(char::is_whitespace));
    let whole = spaced.filter_map(|(at, _)| Some((at, quoted(&said[at..])?)));
    let (at, (text, _)) = { whole }.find(|(_, (_, rest))| rest.trim().is_empty())?;
    let field = said[..at].trim().trim_matches('`').to_owned();
    (!field.is_empty()).then_some(Step::Type { field, text })
}

/// The text between the quotes that a text begins with, and what follows. `\"` and `\\` stand for themselves.
fn quoted(text: &str) -> Option<(String, &str)> {
    let close = match text.chars().next()? {
        '"' => '"',
        '“' => '”',
        _ => return None,
    };
    let mut inner = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => match letters.next()?.1 {
                escaped @ ('"' | '\\') => inner.push(escaped),
                'n' => inner.push('\n'),
                other => inner.extend(['\\', other]),
            },
            _ if letter == close => return Some((inner, &text[at + letter.len_utf8()..])),
            _ => inner.push(letter),
        }
    }
    None
}
