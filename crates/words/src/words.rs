//! Messages in a language, from the files of `messages/`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fluent_bundle::concurrent::FluentBundle;
use fluent_bundle::{FluentArgs, FluentResource, FluentValue};
use unic_langid::LanguageIdentifier;

use crate::Lang;

macro_rules! messages {
    ($($code:literal),* $(,)?) => {
        &[$(($code, include_str!(concat!("../../../messages/", $code, ".ftl")))),*]
    };
}

/// The languages that messages are written in, by code. To add one: its file, and its code here.
pub const SHIPPED: &[(&str, &str)] = messages!("en", "ko");

type Bundle = FluentBundle<FluentResource>;

/// What is said to a person, in a language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Words {
    lang: Lang,
}

impl Words {
    /// In this language; what it has no words for is said in English.
    pub fn in_lang(lang: Lang) -> Self {
        Words { lang }
    }

    /// The language that was asked for.
    pub fn lang(self) -> Lang {
        self.lang
    }

    /// The message of this id, with these values for its variables. An id is `message` or `message.attribute`. Values
    /// are put in as they are. Where nobody has such a message the id stands for it: ugly, but never nothing.
    pub fn say(self, id: &str, args: &[(&str, &str)]) -> String {
        self.find(id, args).unwrap_or_else(|| id.to_owned())
    }

    /// The message, if the language or English has it and nothing is missing for its variables.
    pub fn find(self, id: &str, args: &[(&str, &str)]) -> Option<String> {
        self.find_own(id, args).or_else(|| found(Lang::ENGLISH, id, args))
    }

    /// The message, if the language itself has it and nothing is missing for its variables.
    pub fn find_own(self, id: &str, args: &[(&str, &str)]) -> Option<String> {
        found(self.lang, id, args)
    }
}

fn found(lang: Lang, id: &str, args: &[(&str, &str)]) -> Option<String> {
    let bundle = bundles().get(lang.code())?;
    let (message, attribute) = match id.split_once('.') {
        Some((message, attribute)) => (message, Some(attribute)),
        None => (id, None),
    };
    let message = bundle.get_message(message)?;
    let pattern = match attribute {
        Some(attribute) => message.get_attribute(attribute)?.value(),
        None => message.value()?,
    };
    let mut values = FluentArgs::with_capacity(args.len());
    for &(name, value) in args {
        values.set(name, value);
    }
    let mut mistakes = Vec::new();
    let said = bundle.format_pattern(pattern, Some(&values), &mut mistakes).into_owned();
    mistakes.is_empty().then_some(said)
}

/// All that is shipped, read once.
fn bundles() -> &'static BTreeMap<&'static str, Bundle> {
    static BUNDLES: OnceLock<BTreeMap<&'static str, Bundle>> = OnceLock::new();
    BUNDLES.get_or_init(|| SHIPPED.iter().map(|(code, text)| (*code, bundle(code, text))).collect())
}

fn bundle(code: &str, text: &str) -> Bundle {
    // A test sees to it that nothing shipped has a mistake; one that had would still say all that can be read of it.
    let language = code.parse::<LanguageIdentifier>().unwrap_or_default();
    let read = FluentResource::try_new(text.to_owned()).unwrap_or_else(|(read, _)| read);
    let mut bundle = Bundle::new_concurrent(vec![language]);
    // Marks around values would be in everything that is copied from a terminal.
    bundle.set_use_isolating(false);
    let _ = bundle.add_function("NUMBER", |given, _| number(given));
    let _ = bundle.add_resource(read);
    bundle
}

/// Values are text, so that none is written otherwise than it was given; where a plural depends on one, the message says
/// `{ NUMBER($n) -> … }`.
fn number<'a>(given: &[FluentValue<'a>]) -> FluentValue<'a> {
    match given.first() {
        Some(FluentValue::String(text)) => match FluentValue::try_number(text) {
            FluentValue::Number(number) => FluentValue::Number(number),
            _ => FluentValue::Error,
        },
        _ => FluentValue::Error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plural_depends_on_a_number_that_is_text() {
        let text =
            "left = { NUMBER($n) ->\n    [one] one is left\n   *[other] { $n } are left\n }\n";
        let bundle = bundle("en", text);
        let say = |n: &str| {
            let mut values = FluentArgs::new();
            values.set("n", n);
            let pattern = bundle.get_message("left").and_then(|message| message.value()).unwrap();
            bundle.format_pattern(pattern, Some(&values), &mut Vec::new()).into_owned()
        };
        assert_eq!([say("1"), say("2"), say("007")], ["one is left", "2 are left", "007 are left"]);
    }
}
