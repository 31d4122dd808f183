//! Ordered cases: the first that holds counts, and the last always holds.

use super::super::diagnostic::{Code, Diagnostic, Span};
use super::super::document::{Table, Text};
use super::super::problems::Problems;

/// When a case holds, and where it stands.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Case {
    pub span: Span,
    /// The condition.
    pub when: Option<Text>,
    /// The key `when`, even when what it says could not be read.
    key: Option<Span>,
}

impl Case {
    /// A case that always holds.
    pub(super) fn always(span: Span) -> Case {
        Case { span, when: None, key: None }
    }

    /// Reads the condition of a case.
    pub(super) fn read(table: &Table<'_>, problems: &mut Problems<'_>) -> Case {
        let when = table.get("when");
        Case {
            span: table.span(),
            when: when.and_then(|node| super::expression(node, "`when`", problems)),
            key: table.key("when").map(|key| key.span.clone()),
        }
    }

    /// Notes and drops a condition where there is only one case.
    pub(super) fn drop_condition(&mut self, problems: &mut Problems<'_>) {
        self.when = None;
        if let Some(span) = self.key.take() {
            let message = "`when` stands in a list of cases only";
            problems.report(
                Diagnostic::at(span, Code::MisplacedKey, message)
                    .help("write a list: `[{ when = \"…\", to = \"…\" }, { to = \"…\" }]`"),
            );
        }
    }
}

/// Whether the last case must always hold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Last {
    Always,
    MayFail,
}

/// Notes cases that can never be reached, a last case that may not hold, and a list of none.
pub(super) fn check<'c>(
    cases: impl IntoIterator<Item = &'c Case>,
    list: Span,
    what: &str,
    last: Last,
    problems: &mut Problems<'_>,
) {
    let cases: Vec<&Case> = cases.into_iter().collect();
    let Some(end) = cases.last() else {
        let message = format!("{what} has no cases");
        let problem = Diagnostic::at(list, Code::WrongValue, message);
        problems.report(problem.help("add at least one"));
        return;
    };
    let always = cases.iter().position(|case| case.key.is_none());
    if let Some(always) = always
        && let Some(dead) = cases.get(always + 1)
    {
        let message = format!("this case of {what} is never reached");
        problems.report(
            Diagnostic::at(dead.span.clone(), Code::DeadCase, message)
                .related(cases[always].span.clone(), "this one has no `when`, so it always holds")
                .help("put the case without `when` last"),
        );
    } else if last == Last::Always && end.key.is_some() {
        let message = format!("{what} does not say what happens when no case holds");
        problems.report(
            Diagnostic::at(end.span.clone(), Code::MissingElse, message)
                .help("add a last case without `when`; a condition that is Unknown does not hold"),
        );
    }
}
