//! The tests of a file, in the languages whose tests have names.

use std::collections::BTreeMap;
use std::path::Path;

use super::tokens::{DEDENT, INDENT, Token, closes, is_name, is_text, said, tokens};
use super::worth::{self, Worth};
use crate::residuals::Language;

/// A test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Test {
    /// Its name, with what it stands in.
    pub name: String,
    /// Where it begins.
    pub line: usize,
    /// What keeps it from running, or turns it round.
    pub marks: Vec<(usize, String)>,
    /// How many cases it is given beside its body.
    pub cases: usize,
    /// All of it.
    pub words: Vec<String>,
    /// What it is worth.
    pub worth: Worth,
}

/// The tests of a file, and what else it says.
#[derive(Clone, Debug, Default)]
pub(super) struct Tests {
    /// In order.
    pub all: Vec<Test>,
    /// Statements that are in no test.
    pub rest: Vec<(usize, String)>,
    /// How much is asserted outside of tests.
    pub asserted: usize,
    /// What has nothing but some of the tests run.
    pub focus: Vec<(usize, String)>,
}

/// A block that tests stand in.
struct Scope {
    name: String,
    end: usize,
    marks: Vec<(usize, String)>,
}

struct Finder<'t> {
    language: Language,
    tokens: &'t [Token],
    scopes: Vec<Scope>,
    /// What keeps all of the file from running.
    marks: Vec<(usize, String)>,
    /// What keeps the tests of a class from running by what stands beside them.
    beside: BTreeMap<String, Vec<(usize, String)>>,
    /// Where each test begins and ends.
    spans: Vec<(usize, usize)>,
    tests: Tests,
}

/// The tests of a file.
pub(super) fn tests(language: Language, text: &str) -> Tests {
    let tokens = tokens(language, text);
    let mut finder = Finder {
        language,
        tokens: &tokens,
        scopes: Vec::new(),
        marks: Vec::new(),
        beside: BTreeMap::new(),
        spans: Vec::new(),
        tests: Tests::default(),
    };
    match language {
        Language::Rust => finder.rust(),
        Language::Python => finder.python(),
        Language::JavaScript => finder.javascript(),
        Language::Go => finder.go(),
        _ => {}
    }
    finder.finish()
}

/// Whether a runner looks for tests in a file of this name.
pub(super) fn is_collected(path: &Path, language: Language) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let within = |wanted: &[&str]| path.iter().any(|it| wanted.iter().any(|own| it == *own));
    match language {
        Language::Python => stem.starts_with("test_") || stem.ends_with("_test") || stem == "tests",
        Language::Go => stem.ends_with("_test"),
        Language::JavaScript => {
            name.contains(".test.")
                || name.contains(".spec.")
                || within(&["test", "tests", "__tests__", "spec", "e2e"])
                || stem.ends_with("_test")
        }
        _ => true,
    }
}

impl Finder<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text.as_str())
    }

    fn line(&self, at: usize) -> usize {
        self.tokens.get(at).map_or(1, |token| token.line)
    }

    fn phrase(&self, from: usize, to: usize) -> String {
        let words: Vec<&str> = self.tokens[from..to.min(self.tokens.len())]
            .iter()
            .map(|it| it.text.as_str())
            .collect();
        words.join(" ")
    }

    /// Leaves the blocks that have ended.
    fn leave(&mut self, at: usize) {
        self.scopes.retain(|scope| scope.end > at);
    }

    fn scoped(&self, name: &str) -> String {
        let outer = self.scopes.iter().map(|scope| scope.name.as_str());
        outer.chain([name]).collect::<Vec<_>>().join(" › ")
    }

    /// Takes a test in: where it begins, where its body does, and where it ends.
    fn test(&mut self, name: &str, span: (usize, usize), body: usize, own: Vec<(usize, String)>) {
        let (from, to) = span;
        let tokens = &self.tokens[from..=to.min(self.tokens.len() - 1)];
        let inside = &self.tokens[body.min(to)..=to.min(self.tokens.len() - 1)];
        let mut marks: Vec<(usize, String)> =
            self.scopes.iter().flat_map(|it| it.marks.clone()).collect();
        marks.extend(own);
        marks.extend(worth::skips(self.language, inside));
        let head = &self.tokens[from..body.min(to)];
        self.tests.all.push(Test {
            name: self.scoped(name),
            line: self.line(from),
            marks,
            cases: cases(self.language, head),
            words: said(self.language, tokens),
            worth: worth::of(self.language, inside),
        });
        self.spans.push(span);
    }

    /// What is in no test, statement by statement, and what holds for all of the file.
    fn finish(mut self) -> Tests {
        let mut rest: Vec<Token> = Vec::new();
        let mut at = 0;
        let mut spans = std::mem::take(&mut self.spans).into_iter().peekable();
        while at < self.tokens.len() {
            if let Some((_, end)) = spans.next_if(|(begin, _)| *begin <= at) {
                at = at.max(end + 1);
                continue;
            }
            rest.push(self.tokens[at].clone());
            at += 1;
        }
        self.tests.asserted = worth::of(self.language, &rest).asserted;
        self.tests.rest = statements(self.language, &rest);
        for test in &mut self.tests.all {
            test.marks.extend(self.marks.iter().cloned());
        }
        self.tests
    }

    /// `#[test] fn it() { … }`, within `mod tests { … }` or not.
    fn rust(&mut self) {
        let mut at = 0;
        let mut attributes: Vec<(usize, usize)> = Vec::new();
        while at < self.tokens.len() {
            self.leave(at);
            match self.text(at) {
                "#" if self.text(at + 1) == "!" && self.text(at + 2) == "[" => {
                    let end = closes(self.tokens, at + 2);
                    let said = self.phrase(at + 3, end);
                    if said.starts_with("cfg (") && said != "cfg ( test )" {
                        self.marks.push((self.line(at), format!("#![{said}]")));
                    }
                    at = end + 1;
                }
                "#" if self.text(at + 1) == "[" => {
                    let end = closes(self.tokens, at + 1);
                    attributes.push((at, end));
                    at = end + 1;
                }
                "pub" if self.text(at + 1) == "(" => at = closes(self.tokens, at + 1) + 1,
                "pub" | "async" | "unsafe" | "const" | "extern" => at += 1,
                "fn" | "mod" => at = self.rust_item(at, &std::mem::take(&mut attributes)),
                _ => {
                    attributes.clear();
                    at += 1;
                }
            }
        }
    }

    fn rust_item(&mut self, at: usize, attributes: &[(usize, usize)]) -> usize {
        let name = self.text(at + 1).to_owned();
        let Some(open) = (at..self.tokens.len()).find(|at| ["{", ";"].contains(&self.text(*at)))
        else {
            return at + 1;
        };
        let phrases: Vec<(usize, String)> = attributes
            .iter()
            .map(|(from, to)| (self.line(*from), self.phrase(from + 2, *to)))
            .collect();
        let marks: Vec<(usize, String)> = phrases
            .iter()
            .filter(|(_, said)| {
                let word = said.split(' ').next().unwrap_or_default();
                let ignores = word == "cfg_attr" && said.split(' ').any(|it| it == "ignore");
                let only = word == "cfg" && said != "cfg ( test )";
                ["ignore", "should_panic"].contains(&word) || ignores || only
            })
            .map(|(line, said)| (*line, format!("#[{said}]")))
            .collect();
        if self.text(open) == ";" {
            return open + 1;
        }
        let end = closes(self.tokens, open);
        if self.text(at) == "mod" {
            self.scopes.push(Scope { name, end, marks });
            return open + 1;
        }
        let tests = phrases.iter().any(|(_, said)| {
            let first = said.split(' ').next().unwrap_or_default();
            let path = said.split(" (").next().unwrap_or_default();
            let last = path.rsplit(' ').next().unwrap_or_default();
            let named = last == "test"
                || last == "rstest"
                || last.ends_with("_test")
                || last == "test_case";
            named && !first.starts_with("cfg")
        });
        if tests {
            let from = attributes.first().map_or(at, |(from, _)| *from);
            self.test(&name, (from, end), open, marks);
            return end + 1;
        }
        open + 1
    }

    /// `def test_it():`, within `class TestIt:` or not.
    fn python(&mut self) {
        self.python_beside();
        let mut at = 0;
        let mut decorators: Vec<(usize, usize)> = Vec::new();
        let tokens = self.tokens;
        while at < tokens.len() {
            self.leave(at);
            let first = tokens[at].first;
            match tokens[at].text.as_str() {
                "@" if first => {
                    let end = self.line_end(at);
                    decorators.push((at, end));
                    at = end;
                }
                "async" if self.text(at + 1) == "def" => at += 1,
                "class" | "def" => at = self.python_item(at, &std::mem::take(&mut decorators)),
                word => {
                    if first
                        && ["pytestmark", "__test__", "collect_ignore", "collect_ignore_glob"]
                            .contains(&word)
                    {
                        self.python_mark(at);
                    }
                    if word == "pytest" && self.phrase(at, at + 4) == "pytest . skip (" {
                        self.marks.push((self.line(at), "pytest.skip(…)".to_owned()));
                    }
                    if ![INDENT, DEDENT].contains(&self.text(at)) {
                        decorators.clear();
                    }
                    at += 1;
                }
            }
        }
    }

    /// What leaves tests out from beside them, as `self.skipTest(…)` in `setUp` does: all of its class, of those made of it, and
    /// where it stands in none, all of the file.
    fn python_beside(&mut self) {
        let tokens = self.tokens;
        let mut classes: Vec<(String, usize)> = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            classes.retain(|(_, end)| *end > at);
            let name = self.text(at + 1).to_owned();
            match self.text(at) {
                "class" => {
                    let made_of = self.phrase(at + 2, self.line_end(at));
                    let known = self
                        .beside
                        .iter()
                        .filter(|(base, _)| made_of.split(' ').any(|word| word == base.as_str()));
                    let marks: Vec<_> = known.flat_map(|(_, marks)| marks.clone()).collect();
                    classes.push((name.clone(), self.python_end(at)));
                    self.beside.entry(name).or_default().extend(marks);
                }
                // What it does within itself is looked at with it.
                "def" if name.starts_with("test") => at = self.python_end(at),
                _ => {
                    if let Some(mark) = self.python_skip(at) {
                        match classes.last() {
                            Some((class, _)) => {
                                self.beside.entry(class.clone()).or_default().push(mark);
                            }
                            None => self.marks.push(mark),
                        }
                    }
                }
            }
            at += 1;
        }
    }

    /// `self.skipTest(…)`, `raise unittest.SkipTest(…)`.
    fn python_skip(&self, at: usize) -> Option<(usize, String)> {
        let calls = self.text(at) == "skipTest" && self.text(at + 1) == "(";
        let said = match self.text(at) {
            "raise" => self.phrase(at, self.line_end(at)),
            _ => String::new(),
        };
        let raises = said.split(' ').any(|word| ["SkipTest", "Skipped"].contains(&word));
        let what = if calls { "self.skipTest(…)" } else { "raise SkipTest" };
        (calls || raises).then(|| (self.line(at), what.to_owned()))
    }

    /// Where a class or a function ends.
    fn python_end(&self, at: usize) -> usize {
        let head = self.line_end(at);
        match self.text(head) {
            INDENT => closes(self.tokens, head),
            _ => head.saturating_sub(1),
        }
    }

    /// Where the line of a statement ends.
    fn line_end(&self, at: usize) -> usize {
        let breaks = |token: &Token| token.first || [INDENT, DEDENT].contains(&token.text.as_str());
        let after = self.tokens[at + 1..].iter().position(breaks);
        after.map_or(self.tokens.len(), |after| at + 1 + after)
    }

    fn python_mark(&mut self, at: usize) {
        let said = self.phrase(at, self.line_end(at));
        let keeps = ["skip", "xfail", "False", "collect_ignore"].iter().any(|it| said.contains(it));
        if keeps {
            let mark = (self.line(at), said);
            match self.scopes.last_mut() {
                Some(scope) => scope.marks.push(mark),
                None => self.marks.push(mark),
            }
        }
    }

    fn python_item(&mut self, at: usize, decorators: &[(usize, usize)]) -> usize {
        let name = self.text(at + 1).to_owned();
        let head = self.line_end(at);
        let end = self.python_end(at);
        let skips = ["skip", "xfail", "expectedFailure", "SkipTest", "Skip"];
        let marks: Vec<(usize, String)> = decorators
            .iter()
            .map(|(from, to)| (self.line(*from), self.phrase(*from, *to)))
            .filter(|(_, said)| skips.iter().any(|it| said.contains(it)))
            .collect();
        if self.text(at) == "class" {
            let mut marks = marks;
            // Without a base, only its name has it looked into.
            if !name.starts_with("Test") && self.text(at + 2) != "(" {
                marks.push((self.line(at), format!("class {name}")));
            }
            marks.extend(self.beside.get(&name).cloned().unwrap_or_default());
            self.scopes.push(Scope { name, end, marks });
            return head;
        }
        if !name.starts_with("test") {
            return head;
        }
        let from = decorators.first().map_or(at, |(from, _)| *from);
        self.test(&name, (from, end), head.min(end), marks);
        end + 1
    }

    /// `it("does", () => { … })`, within `describe("it", …)` or not.
    fn javascript(&mut self) {
        const CALLS: [&str; 11] = [
            "it",
            "test",
            "describe",
            "suite",
            "context",
            "specify",
            "xit",
            "xtest",
            "xdescribe",
            "fit",
            "fdescribe",
        ];
        let mut at = 0;
        while at < self.tokens.len() {
            self.leave(at);
            let before = at.checked_sub(1).map_or("", |before| self.text(before));
            let calls = CALLS.contains(&self.text(at))
                && ![".", "function", "const", "let"].contains(&before);
            let next = calls.then(|| self.javascript_call(at)).flatten();
            at = next.unwrap_or(at + 1);
        }
    }

    fn javascript_call(&mut self, from: usize) -> Option<usize> {
        let word = self.text(from).to_owned();
        let (mut at, mut modifiers) = (from + 1, Vec::new());
        loop {
            match self.text(at) {
                "." => {
                    modifiers.push(self.text(at + 1).to_owned());
                    at += 2;
                }
                "(" if self.text(closes(self.tokens, at) + 1) == "(" => {
                    at = closes(self.tokens, at) + 1
                }
                text if text.starts_with('`') => at += 1,
                "(" => break,
                _ => return None,
            }
        }
        let end = closes(self.tokens, at);
        let named = is_text(self.text(at + 1)) || is_name(self.text(at + 1));
        let body = self.callback(at + 1, end)?;
        if !named {
            return None;
        }
        let mut marks = Vec::new();
        let line = self.line(from);
        let head = self.phrase(from, at);
        let skips = ["skip", "todo", "failing", "fails", "skipIf", "runIf", "fixme"];
        if word.starts_with('x') || modifiers.iter().any(|it| skips.contains(&it.as_str())) {
            marks.push((line, head.clone()));
        }
        let options = self.phrase(at + 2, body);
        if ["skip", "todo"].iter().any(|it| {
            options.contains(&format!("{{ {it}")) || options.contains(&format!(", {it} :"))
        }) && !options.contains("skip : false")
        {
            marks.push((line, options.clone()));
        }
        let only =
            modifiers.iter().any(|it| it == "only") || (word.starts_with('f') && word != "fails");
        if only || options.contains("only : true") {
            self.tests.focus.push((line, head));
        }
        let name = self.text(at + 1).trim_matches(['"', '\'', '`']).to_owned();
        let block = ["describe", "suite", "context", "xdescribe", "fdescribe"]
            .contains(&word.as_str())
            || modifiers.iter().any(|it| it == "describe");
        if block {
            self.scopes.push(Scope { name, end, marks });
            return Some(at + 2);
        }
        self.test(&name, (from, end), body, marks);
        Some(end + 1)
    }

    /// Where the function begins that a call is given.
    fn callback(&self, from: usize, end: usize) -> Option<usize> {
        let mut at = from;
        while at < end {
            match self.text(at) {
                "=>" | "function" => return Some(at),
                "(" | "[" | "{" if self.text(closes(self.tokens, at) + 1) != "=>" => {
                    at = closes(self.tokens, at)
                }
                _ => {}
            }
            at += 1;
        }
        // One that is made elsewhere.
        (self.text(from + 1) == "," && is_name(self.text(from + 2))).then_some(from + 2)
    }

    /// `func TestIt(t *testing.T) { … }`.
    fn go(&mut self) {
        let mut at = 0;
        while at < self.tokens.len() {
            let text = self.text(at).to_owned();
            if text.starts_with("//go:build ") || text.starts_with("// +build ") {
                self.marks.push((self.line(at), text));
            }
            let name = self.text(at + 1).to_owned();
            let kinds = ["Test", "Fuzz", "Example", "Benchmark"];
            let is_test = kinds.iter().any(|kind| {
                name.strip_prefix(kind).is_some_and(|rest| !rest.starts_with(char::is_lowercase))
            });
            if self.text(at) == "func" && is_test {
                let open = closes(self.tokens, at + 2) + 1;
                let end = closes(self.tokens, open);
                self.test(&name, (at, end), open, Vec::new());
                at = end;
            }
            at += 1;
        }
    }
}

/// How many cases a test is given by what stands before its body.
fn cases(language: Language, head: &[Token]) -> usize {
    let count = |word: &str| head.iter().filter(|token| token.text == word).count();
    match language {
        Language::Rust => count("case") + count("test_case"),
        Language::Python if count("parametrize") > 0 => count(","),
        Language::JavaScript if count("each") > 0 => {
            let rows = |token: &Token| token.text.matches('\n').count();
            count(",") + head.iter().filter(|it| it.text.starts_with('`')).map(rows).sum::<usize>()
        }
        _ => 0,
    }
}

/// Statements: up to where one ends, or its line does.
fn statements(language: Language, tokens: &[Token]) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut line = 0;
    let by_line =
        !matches!(language, Language::Rust | Language::Java | Language::C | Language::Php);
    for (token, word) in tokens.iter().zip(said(language, tokens)) {
        let ends = [";", "{", "}", INDENT, DEDENT].contains(&word.as_str());
        if (ends || (by_line && token.first)) && !words.is_empty() {
            found.push((line, words.join(" ")));
            words.clear();
        }
        if !ends {
            if words.is_empty() {
                line = token.line;
            }
            words.push(word);
        }
    }
    if !words.is_empty() {
        found.push((line, words.join(" ")));
    }
    found
}
