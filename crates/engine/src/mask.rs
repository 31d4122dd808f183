//! Keeps secrets out of what is written down.
//!
//! Known secrets are the values of variables whose names say so, of those that agents are handed, and of files such as
//! `.env` that lanes get. Besides, what has the form of a well-known kind of key is taken for one.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::sync::Arc;

use windlass_agents::Answer;
use windlass_core::run::Item;
use windlass_core::value::Value;

use crate::escapes::Unescaped;

/// What stands where a secret stood.
const MASK: &[u8] = b"[masked]";

/// Shorter values are no secrets, and would be found everywhere.
const SECRET_MIN: usize = 8;

/// JSON is found inside of JSON, and that in JSON again: an agent that prints events quotes a program that prints some.
const READINGS: usize = 3;

/// Names that say that the value is nobody's business.
const TELLING: [&str; 8] =
    ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "AUTH"];

/// What keys of well-known kinds begin with, and how long the rest of one is at least.
const FORMS: [(&str, usize); 12] = [
    ("sk-", 20),
    ("ghp_", 30),
    ("gho_", 30),
    ("ghs_", 30),
    ("github_pat_", 30),
    ("glpat-", 16),
    ("xoxb-", 20),
    ("xoxp-", 20),
    ("AKIA", 16),
    ("AIza", 30),
    ("lin_api_", 20),
    ("npm_", 30),
];

/// Takes secrets out of texts.
#[derive(Clone, Default)]
pub struct Mask {
    /// The longest first, so that no part of one is left over.
    secrets: Vec<Vec<u8>>,
}

impl Mask {
    /// A mask for variables by name and value: those whose name is telling, and those that `also` says.
    pub fn of<'v>(
        variables: impl IntoIterator<Item = (&'v OsStr, &'v OsStr)>,
        also: impl Fn(&str) -> bool,
    ) -> Self {
        let mut mask = Mask::default();
        for (name, value) in variables {
            let name = name.to_string_lossy();
            if is_telling(&name) || also(&name) {
                mask.add(value.as_encoded_bytes());
            }
        }
        mask
    }

    /// The values in a file of `NAME=value` lines are secrets, too, if their names are telling.
    pub fn file(&mut self, text: &str) {
        for line in text.lines() {
            let line = line.trim_start().trim_start_matches("export ");
            let Some((name, value)) = line.split_once('=') else { continue };
            if is_telling(name) {
                self.add(value.trim().trim_matches(['"', '\'']).as_bytes());
            }
        }
    }

    /// This is a secret.
    pub fn secret(&mut self, secret: &str) {
        self.add(secret.trim().as_bytes());
    }

    fn add(&mut self, secret: &[u8]) {
        if secret.len() >= SECRET_MIN && !self.secrets.iter().any(|own| own == secret) {
            self.secrets.push(secret.to_vec());
            self.secrets.sort_by_key(|own| std::cmp::Reverse(own.len()));
        }
    }

    /// A text without secrets: neither as they are, nor as JSON writes them, nor as JSON inside of JSON does.
    pub fn bytes(&self, text: Vec<u8>) -> Vec<u8> {
        let mut spots = self.spots(&text);
        let mut read = Unescaped::of(&text);
        for _ in 0..READINGS {
            let Some(own) = read else { break };
            let found = self.spots(&own.bytes);
            spots.extend(found.into_iter().map(|spot| own.at[spot.start]..own.at[spot.end]));
            read = own.again();
        }
        covered(text, spots)
    }

    /// Where secrets stand.
    fn spots(&self, text: &[u8]) -> Vec<Range<usize>> {
        let mut spots = Vec::new();
        for secret in &self.secrets {
            let found = memchr::memmem::find_iter(text, secret);
            spots.extend(found.map(|at| at..at + secret.len()));
        }
        for (form, least) in FORMS {
            let mut from = 0;
            while let Some((at, length)) = key(text, form.as_bytes(), least, from) {
                spots.push(at..at + length);
                from = at + length;
            }
        }
        spots
    }

    /// A text without secrets.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes().to_vec())).into_owned()
    }

    /// An answer without secrets, after it was read: whatever way a kind of agent wrote them down.
    pub fn answer(&self, answer: &mut Answer) {
        // Named one by one, so that whoever adds a field is asked about it.
        let Answer { came: _, facts, lists, usage: _, remarks, text } = answer;
        self.facts(facts);
        self.lists(lists);
        self.texts(remarks);
        self.texts(text.as_mut_slice());
    }

    /// Texts without secrets.
    pub fn texts(&self, texts: &mut [String]) {
        texts.iter_mut().for_each(|text| *text = self.text(text));
    }

    /// Facts without secrets.
    pub fn facts(&self, facts: &mut BTreeMap<String, Value>) {
        for value in facts.values_mut() {
            match value {
                Value::Flag(_) | Value::Number(_) => {}
                Value::Text(text) => self.word(text),
                Value::Set(words) => words.iter_mut().for_each(|word| self.word(word)),
            }
        }
    }

    /// Lists without secrets.
    pub fn lists(&self, lists: &mut BTreeMap<String, Vec<Item>>) {
        for item in lists.values_mut().flatten() {
            let Item { id, title, depends, rank: _, files, facts, again: _ } = item;
            [id, title].into_iter().chain(depends).chain(files).for_each(|word| self.word(word));
            self.facts(facts);
        }
    }

    fn word(&self, word: &mut Arc<str>) {
        let masked = self.text(word);
        if masked != **word {
            *word = masked.into();
        }
    }
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    TELLING.iter().any(|word| name.contains(word))
}

/// A text with a mask over these spots. Where several overlap, one mask covers all of them.
fn covered(text: Vec<u8>, mut spots: Vec<Range<usize>>) -> Vec<u8> {
    if spots.is_empty() {
        return text;
    }
    spots.sort_by_key(|spot| spot.start);
    let (mut masked, mut shown) = (Vec::with_capacity(text.len()), 0);
    let mut covered = 0..0;
    for spot in spots {
        if spot.start < covered.end {
            covered.end = covered.end.max(spot.end);
            continue;
        }
        masked.extend_from_slice(&text[shown..covered.start]);
        if !covered.is_empty() {
            masked.extend_from_slice(MASK);
        }
        shown = covered.end;
        covered = spot;
    }
    masked.extend_from_slice(&text[shown..covered.start]);
    masked.extend_from_slice(MASK);
    masked.extend_from_slice(&text[covered.end..]);
    masked
}

/// Where the next key of this form stands, and how long it is.
fn key(text: &[u8], form: &[u8], least: usize, from: usize) -> Option<(usize, usize)> {
    let mut from = from;
    while let Some(at) = memchr::memmem::find(&text[from..], form) {
        let at = from + at;
        let whole = at == 0 || !is_part(text[at - 1]);
        let rest = &text[at + form.len()..];
        let length = rest.iter().position(|byte| !is_part(*byte)).unwrap_or(rest.len());
        if whole && length >= least {
            return Some((at, form.len() + length));
        }
        from = at + form.len();
    }
    None
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

#[cfg(test)]
mod tests {
    use windlass_agents::Came;

    use super::*;

    fn mask(variables: &[(&str, &str)]) -> Mask {
        let variables =
            variables.iter().map(|(name, value)| (OsStr::new(*name), OsStr::new(*value)));
        Mask::of(variables, |name| name == "HANDED")
    }

    #[test]
    fn the_values_of_telling_names_are_masked() {
        let mask = mask(&[
            ("MY_API_KEY", "hush-hush-1"),
            ("MY_API_KEY_OLD", "hush-hush-1-and-more"),
            ("HOME", "/home/ada/long"),
            ("HANDED", "not-telling-9"),
            ("A_TOKEN", "short"),
        ]);
        let seen = mask.text("hush-hush-1 hush-hush-1-and-more /home/ada/long not-telling-9 short");
        assert_eq!(seen, "[masked] [masked] /home/ada/long [masked] short");
    }

    #[test]
    fn files_of_variables_are_read() {
        let mut mask = Mask::default();
        mask.file("PORT=8080808080\nexport DB_PASSWORD=\"correct horse\"\n# TOKEN\nSECRET='tr0ub4dor&3'\n");
        assert_eq!(
            mask.text("8080808080 correct horse tr0ub4dor&3"),
            "8080808080 [masked] [masked]"
        );
    }

    #[test]
    fn well_known_keys_are_known_by_their_form() {
        let mask = Mask::default();
        let key = format!("sk-ant-{}", "a1".repeat(20));
        assert_eq!(mask.text(&format!("key={key}.")), "key=[masked].");
        assert_eq!(
            mask.text(&format!("ghp_{} and task-{}", "x".repeat(36), "y".repeat(40))),
            format!("[masked] and task-{}", "y".repeat(40))
        );
        for plain in ["sk-short", "a risk-averse-and-very-cautious-person", "AKIA"] {
            assert_eq!(mask.text(plain), plain);
        }
    }

    #[test]
    fn a_secret_is_masked_however_json_writes_it() {
        let secret = "hüsh\"hush\\12\n345/\u{1f92b}";
        let mask = mask(&[("MY_KEY", secret)]);
        let json = serde_json::to_string(secret).unwrap();
        let within = serde_json::to_string(&format!("say {json}")).unwrap();
        let thrice = serde_json::to_string(&format!("say {within}")).unwrap();
        for (written, masked) in [
            (secret, "[masked]"),
            (&json, "\"[masked]\""),
            (r#"h\u00fcsh\"hush\\12\n345/\ud83e\udd2b"#, "[masked]"),
            (r#"h\u00FCsh\u0022hush\u005C12\u000a345\/\uD83E\uDD2B"#, "[masked]"),
            (&within, r#""say \"[masked]\"""#),
            (&thrice, r#""say \"say \\\"[masked]\\\"\"""#),
        ] {
            assert_eq!(mask.text(&format!("a{written}b")), format!("a{masked}b"));
        }
    }

    #[test]
    fn a_well_known_key_at_the_beginning_of_a_quoted_line_is_known() {
        let key = format!("ghp_{}", "x1".repeat(18));
        let json = serde_json::to_string(&format!("it is\n{key}")).unwrap();
        assert_eq!(Mask::default().text(&json), r#""it is\n[masked]""#);
    }

    #[test]
    fn secrets_that_overlap_leave_nothing_over() {
        let mask = mask(&[("A_KEY", "one-two-three"), ("B_KEY", "three-four-five")]);
        assert_eq!(mask.text("<one-two-three-four-five>"), "<[masked]>");
        assert_eq!(mask.text("one-two-threeone-two-three"), "[masked][masked]");
    }

    #[test]
    fn every_text_of_an_answer_is_masked() {
        let mask = mask(&[("MY_KEY", "hush-hush-1")]);
        let secret = || Arc::<str>::from("a hush-hush-1");
        let facts = || {
            let set = Value::Set(vec![secret(), "b".into()]);
            BTreeMap::from([("text".to_owned(), Value::Text(secret())), ("set".to_owned(), set)])
        };
        let item = Item {
            id: secret(),
            title: secret(),
            depends: vec![secret()],
            rank: 1,
            files: vec![secret()],
            facts: facts(),
            again: false,
        };
        let mut answer = Answer::only(Came::Unknown, "it said hush-hush-1");
        answer.facts = facts();
        answer.text = Some("hush-hush-1 it said".to_owned());
        answer.lists.insert("found".to_owned(), vec![item]);
        mask.answer(&mut answer);
        let shown = format!("{answer:?}");
        assert!(!shown.contains("hush"), "{shown}");
        assert_eq!(shown.matches("[masked]").count(), 10, "{shown}");
    }

    #[test]
    fn what_is_no_text_stays_as_it_is() {
        let bytes = vec![0xff, 0, b'a', 0xfe];
        assert_eq!(Mask::default().bytes(bytes.clone()), bytes);
    }
}
