//! `--set KEY=VALUE`: an input and its value, or a stage and the words it is to come to.

use std::collections::BTreeMap;
use std::str::FromStr;

use windlass_core::value::Value;
use windlass_core::workflow::{Kind, Stage, Workflow};
use windlass_sim::Plan;

use super::Mood;
use crate::error::{Error, did_you_mean};
use crate::suggest;

/// A key and the text given for it; the workflow says what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub key: String,
    pub value: String,
}

#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected KEY=VALUE")]
pub struct NotASetting;

impl FromStr for Setting {
    type Err = NotASetting;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        match raw.split_once('=') {
            Some((key, value)) if !key.is_empty() => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            Some(_) | None => Err(NotASetting),
        }
    }
}

/// All settings, as the workflow understands them.
#[derive(Debug, Default)]
pub struct Settings {
    inputs: BTreeMap<String, Value>,
    script: BTreeMap<String, Vec<String>>,
    /// Some of the words are a person's.
    pub answers_a_gate: bool,
}

impl Settings {
    pub fn read(flow: &Workflow, target: &str, given: &[Setting]) -> Result<Self, Error> {
        let mut settings = Self::default();
        for setting in given {
            settings.add(flow, target, setting)?;
        }
        Ok(settings)
    }

    fn add(&mut self, flow: &Workflow, target: &str, setting: &Setting) -> Result<(), Error> {
        let Setting { key, value } = setting;
        if let Some(input) = flow.inputs.iter().find(|input| input.name == *key) {
            let value =
                input.ty.parse(value).ok_or_else(|| Error::bad_value(key, value, &input.ty))?;
            return match self.inputs.insert(key.clone(), value) {
                None => Ok(()),
                Some(_) => Err(Error::set_twice(key)),
            };
        }
        let Some(stage) = flow.stages.iter().find(|stage| stage.name == *key) else {
            let inputs = flow.inputs.iter().map(|input| input.name.as_str());
            let known = inputs.chain(flow.stages.iter().map(|stage| stage.name.as_str()));
            let what = format!("`{key}` is neither an input nor a stage of {}", flow.name);
            return Err(Error::usage(what)
                .hint(format!("`windlass workflow show {target}` names its inputs and stages"))
                .maybe(suggest::nearest(key, known).map(did_you_mean)));
        };
        let words = words(stage, value)?;
        self.answers_a_gate |= matches!(stage.kind, Kind::Gate(_));
        self.script.entry(key.clone()).or_default().extend(words);
        Ok(())
    }

    pub fn plan(&self, mood: Mood) -> Plan {
        Plan {
            inputs: self.inputs.clone(),
            script: self.script.clone(),
            calm: mood == Mood::Calm,
            ..Plan::default()
        }
    }
}

/// The words that a stage is to come to, one after another.
fn words(stage: &Stage, value: &str) -> Result<Vec<String>, Error> {
    let why = match stage.kind {
        Kind::Decide(_) => Some("it follows from its cases alone"),
        Kind::Each { .. } => Some("it follows from what becomes of its children"),
        _ => None,
    };
    if let Some(why) = why {
        let what = format!("the verdict of `{}` cannot be set: {why}", stage.name);
        return Err(Error::usage(what)
            .hint("set the inputs it looks at, or the verdicts of the stages before it"));
    }
    let known = || stage.verdicts.iter().map(|verdict| verdict.name.as_str());
    let word = |word: &str| {
        if known().any(|known| known == word) {
            return Ok(word.to_owned());
        }
        let nearest = suggest::nearest(word, known());
        let nearest = nearest.map_or(String::new(), |near| did_you_mean(near) + " ");
        let known: Vec<&str> = known().collect();
        Err(Error::usage(format!("the stage `{}` never comes to `{word}`", stage.name))
            .hint(format!("{nearest}it may come to {}", known.join(", "))))
    };
    value.split(',').map(str::trim).map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_split_at_the_first_equals_sign() {
        let setting = |key: &str, value: &str| Ok(Setting { key: key.into(), value: value.into() });
        assert_eq!("lanes=2".parse::<Setting>(), setting("lanes", "2"));
        assert_eq!("note=a=b".parse::<Setting>(), setting("note", "a=b"));
        assert_eq!("note=".parse::<Setting>(), setting("note", ""));
        assert_eq!("=2".parse::<Setting>(), Err(NotASetting));
        assert_eq!("lanes".parse::<Setting>(), Err(NotASetting));
    }
}
