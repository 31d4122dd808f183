//! Expressions as they were written: text into a tree with places, names still names.
//!
//! Total and small: `and`, `or`, `not`, comparisons, `in`, parentheses, literals and names. The parser is bounded in
//! length and depth, so that no text can exhaust the stack, here or where the tree is walked later.

mod token;

use std::ops::Range;

use token::{Token, What};

use super::diagnostic::{Code, Diagnostic};
use super::document::Text;
use crate::expr::Op;

/// An expression and its place in its own text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub node: Node,
    pub range: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Flag(bool),
    Number(i64),
    Text(String),
    /// A bare name.
    Name(String),
    /// `OWNER.PART`
    Part {
        owner: String,
        part: String,
        part_at: Range<usize>,
    },
    Not(Box<Tree>),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Compare(Op, Box<Tree>, Box<Tree>),
    In(Box<Tree>, Box<Tree>),
}

/// Why a text is no expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    range: Range<usize>,
    code: Code,
    message: String,
    help: String,
}

impl Mistake {
    fn at(range: Range<usize>, message: impl Into<String>) -> Self {
        let help =
            "there are `and`, `or`, `not`, `in`, comparisons, numbers, 'text' and names".to_owned();
        Mistake { range, code: Code::BadExpression, message: message.into(), help }
    }

    fn too_large(range: Range<usize>) -> Self {
        let help = "give parts of it a name in `[let]`".to_owned();
        let message = "this expression is too long or too deep".to_owned();
        Mistake { range, code: Code::TooLarge, message, help }
    }

    fn help(self, help: impl Into<String>) -> Self {
        Mistake { help: help.into(), ..self }
    }

    /// The mistake as a diagnostic about this text.
    pub fn diagnostic(self, text: &Text) -> Diagnostic {
        Diagnostic::at(text.part(self.range), self.code, self.message).help(self.help)
    }
}

/// Parentheses and `not` inside one another.
const DEPTH: usize = 32;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Tree, Mistake> {
    let tokens = token::split(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0, end: text.len() };
    let tree = parser.any(DEPTH)?;
    match parser.peek() {
        None => Ok(tree),
        Some(token) => Err(left_over(token)),
    }
}

fn left_over(token: &Token<'_>) -> Mistake {
    let mistake = Mistake::at(token.range.clone(), "the expression should have ended here");
    match token.what {
        What::Op(_) => mistake.help("compare two values at a time, and join with `and`"),
        What::Close => mistake.help("there is no `(` for this `)`"),
        What::Word("not") => mistake.help("write `not x in set`"),
        What::Word(_) | What::Text(_) | What::Number(_) | What::Dot | What::Open => {
            mistake.help("join two conditions with `and` or `or`")
        }
    }
}

struct Parser<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
    end: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, what: What<'_>) -> bool {
        let found = self.peek().is_some_and(|token| token.what == what);
        if found {
            self.at += 1;
        }
        found
    }

    /// `a or b or c`
    fn any(&mut self, depth: usize) -> Result<Tree, Mistake> {
        let mut left = self.all(depth)?;
        while self.takes(What::Word("or")) {
            let right = self.all(depth)?;
            left = join(Node::Or, left, right);
        }
        Ok(left)
    }

    /// `a and b and c`
    fn all(&mut self, depth: usize) -> Result<Tree, Mistake> {
        let mut left = self.negated(depth)?;
        while self.takes(What::Word("and")) {
            let right = self.negated(depth)?;
            left = join(Node::And, left, right);
        }
        Ok(left)
    }

    /// `not a == b` is the opposite of `a == b`.
    fn negated(&mut self, depth: usize) -> Result<Tree, Mistake> {
        let start = self.peek().map_or(self.end, |token| token.range.start);
        if !self.takes(What::Word("not")) {
            return self.comparison(depth);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Mistake::too_large(start..self.end));
        };
        let inner = self.negated(depth)?;
        let range = start..inner.range.end;
        Ok(Tree { node: Node::Not(Box::new(inner)), range })
    }

    fn comparison(&mut self, depth: usize) -> Result<Tree, Mistake> {
        let left = self.single(depth)?;
        let Some(token) = self.peek() else { return Ok(left) };
        if let What::Op(op) = token.what {
            self.at += 1;
            let right = self.single(depth)?;
            return Ok(join(|l, r| Node::Compare(op, l, r), left, right));
        }
        if self.takes(What::Word("in")) {
            let right = self.single(depth)?;
            return Ok(join(Node::In, left, right));
        }
        Ok(left)
    }

    fn single(&mut self, depth: usize) -> Result<Tree, Mistake> {
        let Some(token) = self.peek() else {
            return Err(Mistake::at(self.end..self.end, "the expression ends too early")
                .help("a name, a number, 'text' or `(` belongs here"));
        };
        self.at += 1;
        let range = token.range.clone();
        let node = match token.what {
            What::Open => return self.inside(range, depth),
            What::Number(number) => Node::Number(number),
            What::Text(text) => Node::Text(text.to_owned()),
            What::Word("true") => Node::Flag(true),
            What::Word("false") => Node::Flag(false),
            What::Word("and" | "or" | "in" | "not") | What::Op(_) | What::Dot | What::Close => {
                let message = "a name, a number, 'text' or `(` belongs here";
                return Err(Mistake::at(range, message));
            }
            What::Word(word) => return self.name(word, range),
        };
        Ok(Tree { node, range })
    }

    fn inside(&mut self, open: Range<usize>, depth: usize) -> Result<Tree, Mistake> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Mistake::too_large(open.start..self.end));
        };
        let tree = self.any(depth)?;
        if self.takes(What::Close) {
            return Ok(tree);
        }
        match self.peek() {
            Some(token) => Err(left_over(token)),
            None => Err(Mistake::at(open, "there is no `)` for this `(`")),
        }
    }

    fn name(&mut self, word: &str, range: Range<usize>) -> Result<Tree, Mistake> {
        if !self.takes(What::Dot) {
            return Ok(Tree { node: Node::Name(word.to_owned()), range });
        }
        if let Some(token) = self.peek()
            && let What::Word(part) = token.what
        {
            self.at += 1;
            let part_at = token.range.clone();
            let range = range.start..part_at.end;
            let (owner, part) = (word.to_owned(), part.to_owned());
            return Ok(Tree { node: Node::Part { owner, part, part_at }, range });
        }
        Err(Mistake::at(range, format!("`{word}.` is followed by nothing"))
            .help(format!("say which part is meant, such as `{word}.runs`")))
    }
}

fn join(make: impl FnOnce(Box<Tree>, Box<Tree>) -> Node, left: Tree, right: Tree) -> Tree {
    let range = left.range.start..right.range.end;
    Tree { node: make(Box::new(left), Box::new(right)), range }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The tree with every step in parentheses.
    fn shown(tree: &Tree) -> String {
        match &tree.node {
            Node::Flag(flag) => flag.to_string(),
            Node::Number(number) => number.to_string(),
            Node::Text(text) => format!("'{text}'"),
            Node::Name(name) => name.clone(),
            Node::Part { owner, part, .. } => format!("{owner}.{part}"),
            Node::Not(inner) => format!("(not {})", shown(inner)),
            Node::And(left, right) => format!("({} and {})", shown(left), shown(right)),
            Node::Or(left, right) => format!("({} or {})", shown(left), shown(right)),
            Node::Compare(op, left, right) => format!("({} {op:?} {})", shown(left), shown(right)),
            Node::In(left, right) => format!("({} in {})", shown(left), shown(right)),
        }
    }

    #[test]
    fn what_binds_tighter_comes_first() {
        let cases = [
            ("a or b and c", "(a or (b and c))"),
            ("a and b or c", "((a and b) or c)"),
            ("a and b and c", "((a and b) and c)"),
            ("not a and b", "((not a) and b)"),
            ("not a == b", "(not (a Eq b))"),
            ("not not a", "(not (not a))"),
            ("(a or b) and c", "((a or b) and c)"),
            ("x.y >= -3", "(x.y Ge -3)"),
            ("'ui-qa' in steps", "('ui-qa' in steps)"),
            ("a-b != 'é'", "(a-b Ne 'é')"),
            ("true or false", "(true or false)"),
            ("a<1", "(a Lt 1)"),
        ];
        for (text, want) in cases {
            assert_eq!(parse(text).map(|tree| shown(&tree)).as_deref(), Ok(want), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_pointed_at() {
        let cases = [
            ("", "", "ends too early"),
            ("a and", "", "ends too early"),
            ("a = 1", "=", "means nothing"),
            ("a && b", "&&", "means nothing"),
            ("a == \"x\"", "\"", "means nothing"),
            ("a % 5 == 0", "%", "means nothing"),
            ("a < b < c", "<", "should have ended"),
            ("a b", "b", "should have ended"),
            ("a not in b", "not", "should have ended"),
            ("(a", "(", "no `)`"),
            ("a)", ")", "should have ended"),
            ("a == 'x", "'x", "no end"),
            ("a == 3x", "3x", "not a whole number"),
            ("a == 1.5", "1.5", "not a whole number"),
            ("a == 99999999999999999999", "99999999999999999999", "out of range"),
            ("a. == 1", "a", "followed by nothing"),
            ("== 1", "==", "belongs here"),
            ("é == 1", "é", "means nothing"),
        ];
        for (text, offending, message) in cases {
            let mistake = parse(text).unwrap_err();
            assert_eq!(&text[mistake.range.clone()], offending, "{text}: {}", mistake.message);
            assert!(mistake.message.contains(message), "{text}: {}", mistake.message);
        }
    }

    #[test]
    fn hostile_nesting_is_refused() {
        for text in ["(".repeat(100_000), "not ".repeat(100_000), "a or ".repeat(100_000)] {
            assert_eq!(parse(&text).unwrap_err().code, Code::TooLarge);
        }
        let deep = format!("{}a{}", "(".repeat(100), ")".repeat(100));
        assert_eq!(parse(&deep).unwrap_err().code, Code::TooLarge);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,80}") {
            let _ = parse(&text);
        }

        #[test]
        fn no_soup_of_words_makes_it_panic(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "and", "or", "not", "in", "a", "b.c", "'x'", "(", ")", "1", "==", "<", ".", "-", "'", "é",
                ]),
                0..40,
            ),
        ) {
            let text = words.join(" ");
            match parse(&text) {
                Ok(tree) => prop_assert!(tree.range.end <= text.len()),
                Err(mistake) => {
                    prop_assert!(mistake.range.end <= text.len());
                    prop_assert!(text.is_char_boundary(mistake.range.start));
                    prop_assert!(text.is_char_boundary(mistake.range.end));
                }
            }
        }
    }
}
