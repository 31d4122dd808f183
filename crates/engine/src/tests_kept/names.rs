//! Which tests have run, by what their runner printed.

use std::collections::BTreeSet;

use windlass_sources::failure::ran;

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

/// Tests that ran before and do not run any more, a line each; nothing where what was printed does not say.
pub(crate) fn missing(printed: &Printed) -> Vec<String> {
    let Some(now) = printed.now.as_deref().and_then(ran) else { return Vec::new() };
    let mut told = Vec::new();
    let sources =
        [(&printed.base, "on the base"), (&printed.red, "when the new tests were seen to fail")];
    for (before, when) in sources {
        let Some(before) = before.as_deref().and_then(ran) else { continue };
        let gone: BTreeSet<&String> = before.names.difference(&now.names).collect();
        // Names that are others altogether are told in another form.
        let same_form = before.names.is_empty() == now.names.is_empty();
        if same_form && !gone.is_empty() && now.count < before.count {
            let more = gone.len().saturating_sub(NAMED);
            told.extend(
                gone.into_iter()
                    .take(NAMED)
                    .map(|name| format!("`{name}` ran {when}, and does not any more")),
            );
            if more > 0 {
                told.push(format!("and {more} more"));
            }
        } else if now.count < before.count {
            told.push(format!("{} tests run, and {} did {when}", now.count, before.count));
        }
    }
    told
}
