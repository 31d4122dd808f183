//! A file of tests as a row of words: without comments, spaces and line ends, so that formatting changes nothing.

use crate::residuals::Language;

/// A word of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// What it says; a text with its quotes.
    pub text: String,
    /// On which line, from 1.
    pub line: usize,
    /// It is the first of a statement's line: no bracket is open.
    pub first: bool,
}

/// What begins and ends a block where only its indentation says so.
pub(super) const INDENT: &str = "\u{2192}";
pub(super) const DEDENT: &str = "\u{2190}";

/// What two letters say together.
const PAIRS: [&str; 12] = ["=>", "==", "!=", "&&", "||", "::", "->", "<=", ">=", ":=", "+=", "-="];

struct Lexer<'t> {
    language: Language,
    text: &'t str,
    at: usize,
    line: usize,
    open: usize,
    /// Brackets that were open around the braces that are.
    around: Vec<usize>,
    fresh: bool,
    indents: Vec<usize>,
    tokens: Vec<Token>,
}

/// The words of a text.
pub(super) fn tokens(language: Language, text: &str) -> Vec<Token> {
    let mut lexer = Lexer {
        language,
        text,
        at: 0,
        line: 1,
        open: 0,
        around: Vec::new(),
        fresh: true,
        indents: vec![0],
        tokens: Vec::new(),
    };
    while lexer.step() {}
    while lexer.indents.len() > 1 {
        lexer.indents.pop();
        lexer.push(DEDENT.to_owned(), lexer.line);
    }
    plain(language, lexer.tokens)
}

/// Without what a formatter adds and takes away.
fn plain(language: Language, all: Vec<Token>) -> Vec<Token> {
    let mut kept: Vec<Token> = Vec::with_capacity(all.len());
    for (at, token) in all.iter().enumerate() {
        let next = all.get(at + 1).map_or("", |next| next.text.as_str());
        let trails = token.text == "," && [")", "]", "}"].contains(&next);
        let ends = language == Language::JavaScript && token.text == ";";
        let documents = language == Language::Python
            && token.first
            && is_text(&token.text)
            && all.get(at + 1).is_none_or(|next| next.first);
        if trails || documents {
            continue;
        }
        if ends {
            // What follows begins a statement, wherever its line begins.
            continue;
        }
        kept.push(token.clone());
    }
    kept
}

/// Whether a word is a text in quotes.
pub(super) fn is_text(word: &str) -> bool {
    word.starts_with(['"', '\'', '`'])
}

/// Whether it is a name.
pub(super) fn is_name(word: &str) -> bool {
    word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_' || letter == '$')
}

/// Where the bracket closes that opens here: the index of its end, or of the last word.
pub(super) fn closes(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" | INDENT => depth += 1,
            ")" | "]" | "}" | DEDENT => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    tokens.len().saturating_sub(1)
}

impl<'t> Lexer<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn push(&mut self, text: String, line: usize) {
        self.tokens.push(Token { text, line, first: self.fresh && self.open == 0 });
        self.fresh = false;
    }

    /// Takes so many bytes as one word.
    fn take(&mut self, length: usize) {
        let text = &self.rest()[..length];
        let line = self.line;
        self.push(text.to_owned(), line);
        self.line += text.matches('\n').count();
        self.at += length;
    }

    fn skip(&mut self, length: usize) {
        self.line += self.rest()[..length].matches('\n').count();
        self.at += length;
    }

    fn step(&mut self) -> bool {
        let rest = self.rest();
        let Some(letter) = rest.chars().next() else { return false };
        if letter == '\n' {
            self.skip(1);
            self.fresh = true;
            return true;
        }
        if letter.is_whitespace() {
            self.skip(letter.len_utf8());
            return true;
        }
        if letter == '\\' && rest[1..].starts_with('\n') {
            self.skip(2);
            return true;
        }
        if let Some(length) = self.comment() {
            self.skip(length);
            return true;
        }
        self.indent();
        let length = self.quoted().unwrap_or_else(|| self.word(letter));
        // What stands within braces are statements again, but where indentation makes blocks.
        let block = self.language != Language::Python;
        match letter {
            '}' if block => {
                self.open = self.around.pop().unwrap_or(0);
                self.take(length);
            }
            '{' if block => {
                self.take(length);
                self.around.push(std::mem::take(&mut self.open));
            }
            '(' | '[' | '{' => {
                self.take(length);
                self.open += 1;
            }
            ')' | ']' | '}' => {
                self.take(length);
                self.open = self.open.saturating_sub(1);
            }
            _ => self.take(length),
        }
        true
    }

    /// How long the comment is that begins here.
    fn comment(&mut self) -> Option<usize> {
        let rest = self.rest();
        let to_end = || rest.find('\n').unwrap_or(rest.len());
        if self.language == Language::Python {
            return rest.starts_with('#').then(to_end);
        }
        if rest.starts_with("//go:build ") || rest.starts_with("// +build ") {
            let (text, line) = (rest[..to_end()].to_owned(), self.line);
            self.push(text, line);
            return Some(to_end());
        }
        if rest.starts_with("//") {
            return Some(to_end());
        }
        let mut depth = 0_usize;
        let mut at = 0;
        if !rest.starts_with("/*") {
            return None;
        }
        while at < rest.len() {
            let here = &rest[at..];
            let nested = self.language == Language::Rust || depth == 0;
            if here.starts_with("/*") && nested {
                depth += 1;
                at += 2;
            } else if here.starts_with("*/") {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            } else {
                at += here.chars().next().map_or(1, char::len_utf8);
            }
        }
        Some(rest.len())
    }

    /// Where a line begins further in or out than the one before it, and that means something.
    fn indent(&mut self) {
        if self.language != Language::Python || !self.fresh || self.open > 0 {
            return;
        }
        let begin = self.text[..self.at].rfind('\n').map_or(0, |at| at + 1);
        let columns = self.text[begin..self.at].chars().map(|it| if it == '\t' { 8 } else { 1 });
        let columns: usize = columns.sum();
        let line = self.line;
        let last = |indents: &[usize]| indents.last().copied().unwrap_or(0);
        if columns > last(&self.indents) {
            self.indents.push(columns);
            self.tokens.push(Token { text: INDENT.to_owned(), line, first: false });
        }
        while columns < last(&self.indents) {
            self.indents.pop();
            self.tokens.push(Token { text: DEDENT.to_owned(), line, first: false });
        }
    }

    fn word(&self, letter: char) -> usize {
        let rest = self.rest();
        let part = |it: char| it.is_alphanumeric() || it == '_' || it == '$';
        if part(letter) {
            return rest.find(|it| !part(it)).unwrap_or(rest.len());
        }
        match PAIRS.iter().any(|pair| rest.starts_with(pair)) {
            true => 2,
            false => letter.len_utf8(),
        }
    }

    /// How long the text is that begins here, with its quotes.
    fn quoted(&self) -> Option<usize> {
        let rest = self.rest();
        let prefix = match self.language {
            Language::Rust => rest.find(|it: char| !"rbc#".contains(it))?,
            Language::Python => rest.find(|it: char| !"rRbBuUfF".contains(it))?,
            _ => 0,
        };
        let (marks, body) = rest.split_at(prefix);
        let quote = body.chars().next()?;
        match self.language {
            Language::Rust => {
                if marks.contains('r') && quote == '"' {
                    let end = format!("\"{}", "#".repeat(marks.matches('#').count()));
                    let at = body[1..].find(&end).map_or(body.len(), |at| at + 1 + end.len());
                    return Some(prefix + at);
                }
                if marks.contains('#') {
                    return None;
                }
                if quote == '\'' && marks.is_empty() {
                    // A letter, and no lifetime.
                    let mut letters = body[1..].chars();
                    let first = letters.next()?;
                    let is_letter = first == '\\' || letters.next() == Some('\'');
                    return is_letter.then(|| to_quote(body, quote, true));
                }
                (quote == '"').then(|| prefix + to_quote(body, quote, true))
            }
            Language::Python => {
                for triple in ["\"\"\"", "'''"] {
                    if body.starts_with(triple) {
                        let end = body[3..].find(triple).map_or(body.len(), |at| at + 6);
                        return Some(prefix + end);
                    }
                }
                ['"', '\''].contains(&quote).then(|| prefix + to_quote(body, quote, false))
            }
            _ if quote == '`' => Some(to_quote(body, quote, true)),
            _ if ['"', '\''].contains(&quote) => Some(to_quote(body, quote, false)),
            Language::JavaScript if quote == '/' => self.pattern(),
            _ => None,
        }
    }

    /// A pattern between slashes, where a division cannot stand.
    fn pattern(&self) -> Option<usize> {
        let before = self.tokens.last().map_or("(", |token| token.text.as_str());
        let may = ["(", ",", "=", ":", "[", "!", "&&", "||", "?", "{", "}", ";", "return", "=>"];
        if !may.contains(&before) {
            return None;
        }
        let line = self.rest().lines().next().unwrap_or_default();
        let (mut escaped, mut class) = (false, false);
        for (at, letter) in line.char_indices().skip(1) {
            match letter {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '[' => class = true,
                ']' => class = false,
                '/' if !class => return Some(at + 1),
                _ => {}
            }
        }
        None
    }
}

/// Up to the quote that ends a text; to the end of the line where it may not go on beyond that.
fn to_quote(text: &str, quote: char, lines: bool) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '\n' if !lines => return at,
            letter if letter == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// What words say, whatever quotes somebody likes.
pub(super) fn said(language: Language, tokens: &[Token]) -> Vec<String> {
    let word = |token: &Token| match token.text.strip_prefix('\'') {
        Some(rest) if matches!(language, Language::JavaScript | Language::Python) => {
            format!("\"{}\"", rest.trim_end_matches('\''))
        }
        _ => token.text.clone(),
    };
    tokens.iter().map(word).collect()
}
