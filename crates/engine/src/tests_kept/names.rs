//! Which tests have run, by what their runner printed.

use windlass_sources::failure::{Ran, ran};

/// What tests printed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Printed {
    /// On the base.
    pub base: Option<String>,
    /// When they were seen to fail.
    pub red: Option<String>,
    /// On what is looked at.
    pub now: Option<String>,
}

/// So many names are told.
const NAMED: usize = 20;

/// Tests that ran before and do not run any more, and those that were seen to fail and are not seen to pass, a line each; nothing
/// where nobody has said which tests ran before.
pub(crate) fn missing(printed: &Printed) -> Vec<String> {
    let read = |text: &Option<String>| text.as_deref().and_then(ran);
    // What has not been run is nobody's to judge.
    let Some(text) = &printed.now else { return Vec::new() };
    let now = ran(text);
    let sources = [
        (read(&printed.base), "on the base"),
        (read(&printed.red), "when the new tests were seen to fail"),
    ];
    let Some(now) = now else {
        let known = sources.iter().rev().find_map(|(before, when)| {
            before.as_ref().filter(|it| it.count > 0).map(|it| (it.count, when))
        });
        return known
            .map(|(count, when)| {
                format!("what was printed names no test and counts none: {count} ran {when}")
            })
            .into_iter()
            .collect();
    };
    let mut told = Vec::new();
    let [(base, _), (red, _)] = &sources;
    if let Some(red) = red {
        told.extend(listed(unseen(red, base.as_ref(), &now).into_iter().map(|name| {
            format!("`{name}` was seen to fail, and is not among the tests that passed")
        })));
    }
    for (before, when) in &sources {
        let Some(before) = before else { continue };
        let gone = before.names.difference(&now.names).filter(|name| {
            // What is said above is not said twice.
            !told.iter().any(|it: &String| it.starts_with(&format!("`{name}` was seen")))
        });
        let gone: Vec<&String> = gone.collect();
        // Names that are others altogether are told in another form.
        let same_form = before.names.is_empty() == now.names.is_empty();
        if now.count >= before.count {
            continue;
        }
        if same_form && before.names.difference(&now.names).next().is_some() {
            let line = |name: &String| format!("`{name}` ran {when}, and does not any more");
            told.extend(listed(gone.into_iter().map(line)));
        } else {
            told.push(format!("{} tests run, and {} did {when}", now.count, before.count));
        }
    }
    told
}

/// The first of some lines, and how many more there are.
fn listed(lines: impl Iterator<Item = String>) -> Vec<String> {
    let all: Vec<String> = lines.collect();
    let more = all.len().saturating_sub(NAMED);
    let more = (more > 0).then(|| format!("and {more} more"));
    all.into_iter().take(NAMED).chain(more).collect()
}

/// The tests that were seen to fail, and did not fail before that, and that have not passed now. Where the runner names nothing that
/// passes, nobody can tell.
fn unseen(red: &Ran, base: Option<&Ran>, now: &Ran) -> Vec<String> {
    let failed_before = |name: &String| {
        base.is_some_and(|base| base.names.contains(name) && !base.passed.contains(name))
    };
    let new: Vec<&String> = now.passed.difference(&red.names).collect();
    let seen = |name: &String| {
        // A file that moves takes its tests with it; of one that could not be run, what is in it is named once it can.
        now.passed.contains(name)
            || new.iter().any(|it| leaf(it) == leaf(name))
            || (is_file(name) && !new.is_empty())
    };
    let failed = red.names.difference(&red.passed);
    failed.filter(|name| !failed_before(name) && !seen(name)).cloned().collect()
}

/// What a test is called without what it stands in.
fn leaf(name: &str) -> &str {
    // An example in a comment is named by its line.
    let own = name.rsplit_once(" (line ").map_or(name, |(own, _)| own);
    let own = own.rsplit("::").next().unwrap_or(own);
    let own = own.rsplit(" › ").next().unwrap_or(own);
    // `package.TestIt` and `a.TestIt.test_it`; a title of several words may have points of its own.
    if own.contains(' ') { own } else { own.rsplit('.').next().unwrap_or(own) }
}

/// Whether what a runner names is a file, and not what is in it.
fn is_file(name: &str) -> bool {
    let ends = [".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".py", ".rb", ".go"];
    !name.contains("::") && ends.iter().any(|end| name.ends_with(end))
}
