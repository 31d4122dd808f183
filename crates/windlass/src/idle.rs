//! What a mission is asked for and cannot be done as things are: steps that would run nothing, and what stands in
//! `.harness/config.json` and means nothing here. A person is told before anything is paid for, with what to add where.

use std::collections::BTreeSet;

use windlass_sources::harness::{self, Harness, Unknown};

use crate::prepared::Prepared;
use crate::suggest;

/// What a person should know of the steps that they want, and of the file that says so.
pub fn remarks<I>(
    prepared: &Prepared<I>,
    steps: &BTreeSet<&str>,
    harness: &Harness,
) -> Vec<String> {
    let mut remarks: Vec<String> = harness.unknown.iter().map(strange).collect();
    remarks.extend(smoke(prepared, steps.contains("smoke"), harness.smoke.as_deref()));
    if steps.contains("ui-qa") && !prepared.has_check("serve") {
        remarks.push(
            "the step `ui-qa`: nothing says how the app is started, so Windlass opens no page of it: add `serve = \"…\"` below `[checks]` in \
             windlass.toml, and commit that"
                .to_owned(),
        );
    }
    remarks.extend(crosscheck(prepared).filter(|_| steps.contains("crosscheck")));
    remarks
}

fn smoke<I>(prepared: &Prepared<I>, wanted: bool, theirs: Option<&str>) -> Option<String> {
    let path = harness::PATH;
    match (wanted, prepared.has_check("smoke"), theirs) {
        (true, false, None) => Some(
            "the step `smoke` runs nothing: add `smoke = \"…\"` below `[checks]` in windlass.toml, and commit that".to_owned(),
        ),
        (true, false, Some(command)) => Some(format!(
            "the step `smoke` runs nothing: {path} says `{command}` in `smokeTest.command`, and commands are taken from windlass.toml \
             alone, as it is committed: add `smoke = {command:?}` below `[checks]` there, and commit that"
        )),
        (true, true, Some(command)) => Some(format!(
            "`smokeTest.command` of {path} (`{command}`) is not run: `smoke` below `[checks]` in windlass.toml is"
        )),
        (false, _, _) | (true, true, None) => None,
    }
}

/// That whoever crosschecks is no other than who has built it, if so.
fn crosscheck<I>(prepared: &Prepared<I>) -> Option<String> {
    let (worker, other) = (prepared.plays("mission-worker")?, prepared.plays("crosscheck")?);
    let vendor = |name: &str| prepared.config.agents.get(name)?.vendor();
    let one_vendor = vendor(&worker).is_some_and(|own| vendor(&other) == Some(own));
    (worker == other || one_vendor).then(|| {
        format!(
            "the step `crosscheck`: `{other}` looks at what `{worker}` has built, which are the same eyes: for another vendor's, add \
             `crosscheck = \"NAME\"` below `[roles]` in windlass.toml with an agent `[agents.NAME]` of another kind, and commit that"
        )
    })
}

/// A key that changes nothing.
fn strange(Unknown { key, known }: &Unknown) -> String {
    let path = harness::PATH;
    let own = key.rsplit('.').next().unwrap_or(key);
    let plain = own.to_lowercase();
    let next = match suggest::nearest(own, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None if ["cost", "budget", "dollar", "usd"].iter().any(|word| plain.contains(word)) => {
            "what a run may cost is `run = { dollars = … }` below `[budget]` in windlass.toml"
                .to_owned()
        }
        None => format!("known there are {}", known.join(", ")),
    };
    format!("{path}: `{key}` means nothing to Windlass and changes nothing; {next}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_means_nothing_is_said_with_what_may_be_meant() {
        let said = |key: &str, known: &'static [&'static str]| {
            strange(&Unknown { key: key.to_owned(), known })
        };
        let near = said("branchIsolation.enable", &["enabled", "useWorktrees"]);
        assert_eq!(
            near,
            ".harness/config.json: `branchIsolation.enable` means nothing to Windlass and changes nothing; did you mean `enabled`?"
        );
        assert!(said("costCap", &["lanes"]).ends_with("below `[budget]` in windlass.toml"));
        assert!(said("uiQa.retries", &["enabled"]).ends_with("known there are enabled"));
    }
}
