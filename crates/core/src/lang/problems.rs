//! Where mistakes are gathered while a text is read, and what keeps that bounded.

use std::collections::BTreeSet;

use super::diagnostic::{Code, Diagnostic};
use super::words;

/// Past this many nobody reads on; a hostile file could have a million.
const KEPT: usize = 500;
/// Looking for the nearest word compares with every word there is: enough is enough.
const COMPARISONS: usize = 100_000;

/// The mistakes found so far.
pub(super) struct Problems<'t> {
    text: &'t str,
    list: Vec<Diagnostic>,
    seen: BTreeSet<(usize, Code, String)>,
    comparisons_left: usize,
}

impl<'t> Problems<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Problems { text, list: Vec::new(), seen: BTreeSet::new(), comparisons_left: COMPARISONS }
    }

    /// The text being read.
    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    /// Notes a mistake. The same one at the same place is noted once: a move in `[always]` is looked at for every
    /// stage that takes it.
    pub(super) fn report(&mut self, mut problem: Diagnostic) {
        let end = self.text.len();
        problem.span.start = problem.span.start.min(end);
        problem.span.end = problem.span.end.clamp(problem.span.start, end);
        let key = (problem.span.start, problem.code, problem.message.clone());
        // That it is too large explains the rest.
        let kept = if problem.code == Code::TooLarge { KEPT + 20 } else { KEPT };
        if self.list.len() < kept && self.seen.insert(key) {
            self.list.push(problem);
        }
    }

    /// The word most like this one, if any is like it at all.
    pub(super) fn nearest<'w>(
        &mut self,
        word: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Option<&'w str> {
        let left = &mut self.comparisons_left;
        let words = words.into_iter().take_while(|_| {
            *left = left.saturating_sub(1);
            *left > 0
        });
        words::nearest(word, words)
    }

    /// "did you mean …?", if there is anything like it.
    pub(super) fn did_you_mean<'w>(
        &mut self,
        word: &str,
        words: impl IntoIterator<Item = &'w str>,
    ) -> Option<String> {
        self.nearest(word, words).map(|near| format!("did you mean `{near}`?"))
    }

    /// "did you mean …?", or else all that it could be.
    pub(super) fn did_you_mean_one_of(&mut self, word: &str, words: &[&str]) -> String {
        let near = self.did_you_mean(word, words.iter().copied());
        near.unwrap_or_else(|| words::one_of(words))
    }

    /// Whether nothing was found.
    pub(super) fn none(&self) -> bool {
        self.list.is_empty()
    }

    /// Everything found, in order of appearance.
    pub(super) fn into_list(self) -> Vec<Diagnostic> {
        let mut list = without_follow_ups(self.list);
        list.sort_by(|a, b| {
            (a.span.start, a.span.end, a.code).cmp(&(b.span.start, b.span.end, b.code))
        });
        list
    }
}

/// Past the first place where the file is not TOML, what was read is a guess, and so is what depends on all of it.
/// What stands before that place and is wrong in itself is still worth saying.
fn without_follow_ups(list: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let broken = list.iter().filter(|p| p.code == Code::Syntax).map(|p| p.span.start).min();
    let Some(broken) = broken else { return list };
    let kept_anyway = [Code::Syntax, Code::DuplicateKey, Code::TooLarge];
    let local = [Code::UnknownKey, Code::WrongValue, Code::BadName, Code::BadExpression];
    let keep = |p: &Diagnostic| {
        let before = p.span.end <= broken && !p.span.is_empty();
        kept_anyway.contains(&p.code) || (before && local.contains(&p.code))
    };
    list.into_iter().filter(keep).collect()
}
