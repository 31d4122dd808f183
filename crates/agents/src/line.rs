//! What kinds of agents that start a program of the person's own have in common: the words of its command, its cost, the
//! models that tiers mean. A kind declares the keys that it has, each of one of these types; what they mean is here.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use windlass_core::run::Reported;

use crate::{Answer, Flaw, Here, Missing, Tier};

/// A program and its arguments: words, never a shell's line.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct Words(Vec<String>);

impl Words {
    /// A program without arguments.
    pub(crate) fn of(program: &str) -> Self {
        Words(vec![program.to_owned()])
    }

    /// What is wrong with them.
    pub(crate) fn flaw(&self) -> Option<Flaw> {
        let what = "has an empty command".to_owned();
        self.0.is_empty().then_some(Flaw { what, at: None, help: None })
    }

    /// The words themselves.
    pub(crate) fn all(&self) -> &[String] {
        &self.0
    }

    /// The program, where it is, and its arguments.
    ///
    /// # Errors
    ///
    /// When it is not installed.
    pub(crate) fn find(&self, here: &Here<'_>) -> Result<(PathBuf, Vec<String>), Missing> {
        let (program, args) = self.0.split_first().map_or(("", &[][..]), |(it, args)| (it, args));
        match (here.which)(program) {
            Some(found) => Ok((found, args.to_vec())),
            None => Err(Missing::Program { program: program.to_owned() }),
        }
    }
}

/// What an agent costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Cost {
    /// Nothing.
    None,
}

/// What is said of an agent that none of its keys is there for.
pub(crate) fn without_key(keys: &[String]) -> (String, String) {
    let (what, any) = match keys {
        [] => {
            return (
                "is handed no key".to_owned(),
                "say in `env` which variable has it".to_owned(),
            );
        }
        [key] => (format!("has no key: `{key}` is not set"), key.clone()),
        keys => {
            let names: Vec<String> = keys.iter().map(|key| format!("`{key}`")).collect();
            (format!("has no key: none of {} is set", names.join(", ")), keys[0].clone())
        }
    };
    (what, format!("`export {any}=…` where you start Windlass"))
}

/// What is said of an agent whose models have no price.
pub(crate) const UNPRICED: &str = "has no `prices`: what it costs is not known, and each invocation counts as all that is set aside for it";

/// What an agent that costs nothing has used: what it says, and else nothing.
pub(crate) fn free_of_charge(answer: &mut Answer) {
    let none = |figure| match figure {
        Reported::Unknown => Reported::Known(0),
        known => known,
    };
    if matches!(answer.usage.cost, Reported::Known(1..)) {
        let remark = "it reports a cost, and windlass.toml says that it has none: not counted";
        answer.remarks.push(remark.to_owned());
        answer.usage.cost = Reported::Known(0);
    }
    answer.usage.cost = none(answer.usage.cost);
    answer.usage.tokens = none(answer.usage.tokens);
}

/// A word for each tier: which model is meant by it, how hard it is to think.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub(crate) struct ByTier(BTreeMap<String, String>);

impl ByTier {
    /// What is wrong with them; `what` is what they are, as in "a model".
    pub(crate) fn flaw(&self, what: &str) -> Option<Flaw> {
        let tier = self.0.keys().find(|tier| Tier::named(tier).is_none())?;
        Some(Flaw {
            what: format!("has {what} for `{tier}`, which is no tier"),
            at: Some(tier.clone()),
            help: Some(format!("there are {}", Tier::ALL.map(Tier::name).join(", "))),
        })
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &str> {
        self.0.values().map(String::as_str)
    }

    /// The one for a tier, if the person has said which.
    pub(crate) fn of(&self, tier: Tier) -> Option<&str> {
        self.0.get(tier.name()).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn here() -> Here<'static> {
        let which = |name: &str| (name == "there").then(|| PathBuf::from("/bin/there"));
        Here { top: Path::new("/"), windlass: Path::new("/windlass"), which }
    }

    #[test]
    fn a_program_is_found_with_its_arguments_or_named_as_missing() {
        let words = |words: &[&str]| Words(words.iter().map(|&word| word.to_owned()).collect());
        let found = words(&["there", "-p"]).find(&here()).unwrap();
        assert_eq!(found, ("/bin/there".into(), vec!["-p".to_owned()]));
        let missing = words(&["elsewhere"]).find(&here()).unwrap_err();
        assert_eq!(missing.to_string(), "`elsewhere` is not installed");
        assert_eq!(words(&["there"]).flaw(), None);
        assert_eq!(words(&[]).flaw().unwrap().what, "has an empty command");
    }

    #[test]
    fn a_model_is_for_a_tier() {
        let models = |tier: &str| ByTier(BTreeMap::from([(tier.to_owned(), "big".to_owned())]));
        assert_eq!(models("strong").flaw("a model"), None);
        assert_eq!(models("strong").of(Tier::Strong), Some("big"));
        assert_eq!(models("strong").of(Tier::Fast), None);
        assert_eq!(models("stronk").flaw("a model").unwrap().at.as_deref(), Some("stronk"));
    }
}
