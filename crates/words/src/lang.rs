//! A language that people write in.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use whatlang::Lang as Known;

/// A language: one of those that can be told from the words in it. English unless somebody says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Lang(pub(crate) Known);

/// A code that stands for no language that we know.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{code}` is no language that is known; these are: {}", all())]
pub struct UnknownLang {
    /// As it was given.
    pub code: String,
}

/// Those of ISO 639-1, which people write; what detects languages has three letters for each.
#[rustfmt::skip]
const CODES: &[(Known, &str)] = &[
    (Known::Afr, "af"), (Known::Aka, "ak"), (Known::Amh, "am"), (Known::Ara, "ar"), (Known::Aze, "az"),
    (Known::Bel, "be"), (Known::Ben, "bn"), (Known::Bul, "bg"), (Known::Cat, "ca"), (Known::Ces, "cs"),
    (Known::Cmn, "zh"), (Known::Cym, "cy"), (Known::Dan, "da"), (Known::Deu, "de"), (Known::Ell, "el"),
    (Known::Eng, "en"), (Known::Epo, "eo"), (Known::Est, "et"), (Known::Fin, "fi"), (Known::Fra, "fr"),
    (Known::Guj, "gu"), (Known::Heb, "he"), (Known::Hin, "hi"), (Known::Hrv, "hr"), (Known::Hun, "hu"),
    (Known::Hye, "hy"), (Known::Ind, "id"), (Known::Ita, "it"), (Known::Jav, "jv"), (Known::Jpn, "ja"),
    (Known::Kan, "kn"), (Known::Kat, "ka"), (Known::Khm, "km"), (Known::Kor, "ko"), (Known::Lat, "la"),
    (Known::Lav, "lv"), (Known::Lit, "lt"), (Known::Mal, "ml"), (Known::Mar, "mr"), (Known::Mkd, "mk"),
    (Known::Mya, "my"), (Known::Nep, "ne"), (Known::Nld, "nl"), (Known::Nob, "nb"), (Known::Ori, "or"),
    (Known::Pan, "pa"), (Known::Pes, "fa"), (Known::Pol, "pl"), (Known::Por, "pt"), (Known::Ron, "ro"),
    (Known::Rus, "ru"), (Known::Sin, "si"), (Known::Slk, "sk"), (Known::Slv, "sl"), (Known::Sna, "sn"),
    (Known::Spa, "es"), (Known::Srp, "sr"), (Known::Swe, "sv"), (Known::Tam, "ta"), (Known::Tel, "te"),
    (Known::Tgl, "tl"), (Known::Tha, "th"), (Known::Tuk, "tk"), (Known::Tur, "tr"), (Known::Ukr, "uk"),
    (Known::Urd, "ur"), (Known::Uzb, "uz"), (Known::Vie, "vi"), (Known::Yid, "yi"), (Known::Zul, "zu"),
];

impl Lang {
    /// What everything falls back to.
    pub const ENGLISH: Lang = Lang(Known::Eng);
    /// The other language that all messages are written in.
    pub const KOREAN: Lang = Lang(Known::Kor);

    /// Its code in ISO 639-1, such as `en`.
    pub fn code(self) -> &'static str {
        // A test goes through all that there are.
        CODES.iter().find(|(known, _)| *known == self.0).map_or("en", |(_, code)| code)
    }

    /// Its name in English, such as `Korean`: what an agent is told.
    pub fn name(self) -> &'static str {
        match self.0 {
            // What one writes, not what one speaks.
            Known::Cmn => "Chinese",
            Known::Nob => "Norwegian",
            other => other.eng_name(),
        }
    }

    /// Every language that is known, by its code.
    pub fn all() -> Vec<Lang> {
        let mut all: Vec<_> = Known::all().iter().map(|&known| Lang(known)).collect();
        all.sort_by_key(|lang| lang.code());
        all
    }
}

fn all() -> String {
    Lang::all().iter().map(|lang| lang.code()).collect::<Vec<_>>().join(", ")
}

impl Default for Lang {
    fn default() -> Self {
        Lang::ENGLISH
    }
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.code())
    }
}

impl FromStr for Lang {
    type Err = UnknownLang;

    fn from_str(code: &str) -> Result<Self, UnknownLang> {
        let known = Lang::all().into_iter().find(|lang| lang.code() == code);
        known.ok_or_else(|| UnknownLang { code: code.to_owned() })
    }
}

impl TryFrom<String> for Lang {
    type Error = UnknownLang;

    fn try_from(code: String) -> Result<Self, UnknownLang> {
        code.parse()
    }
}

impl From<Lang> for &'static str {
    fn from(lang: Lang) -> Self {
        lang.code()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_language_has_a_code_of_its_own_that_is_read_back() {
        let all = Lang::all();
        let codes: BTreeSet<_> = all.iter().map(|lang| lang.code()).collect();
        assert_eq!(codes.len(), all.len());
        for lang in all {
            assert_eq!(lang.code().parse(), Ok(lang));
            let json = serde_json::to_string(&lang).unwrap();
            assert_eq!(json, format!("\"{}\"", lang.code()));
            assert_eq!(serde_json::from_str::<Lang>(&json).unwrap(), lang);
        }
    }

    #[test]
    fn names_are_english() {
        let name = |code: &str| code.parse::<Lang>().unwrap().name();
        assert_eq!(name("ko"), "Korean");
        assert_eq!(name("zh"), "Chinese");
        assert_eq!(Lang::default().name(), "English");
    }

    #[test]
    fn what_is_no_language_is_refused_with_those_that_are() {
        for code in ["", "KO", "kor", "xx", "en_US.UTF-8"] {
            let refused = code.parse::<Lang>().unwrap_err().to_string();
            assert!(refused.contains("these are: af, ak, am,"), "{refused}");
        }
        assert!(serde_json::from_str::<Lang>("\"klingon\"").is_err());
    }
}
