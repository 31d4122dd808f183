//! Keeps secrets out of what is written down.
//!
//! Known secrets are the values of variables whose names say so, of those that agents are handed, and of files such as
//! `.env` that lanes get. Besides, what has the form of a well-known kind of key is taken for one.

use std::ffi::OsStr;

/// What stands where a secret stood.
const MASK: &[u8] = b"[masked]";

/// Shorter values are no secrets, and would be found everywhere.
const SECRET_MIN: usize = 8;

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

    fn add(&mut self, secret: &[u8]) {
        if secret.len() >= SECRET_MIN && !self.secrets.iter().any(|own| own == secret) {
            self.secrets.push(secret.to_vec());
            self.secrets.sort_by_key(|own| std::cmp::Reverse(own.len()));
        }
    }

    /// A text without secrets.
    pub fn bytes(&self, text: Vec<u8>) -> Vec<u8> {
        let mut text = text;
        for secret in &self.secrets {
            text = without(text, |rest| find(rest, secret).map(|at| (at, secret.len())));
        }
        for (form, least) in FORMS {
            text = without(text, |rest| key(rest, form.as_bytes(), least));
        }
        text
    }

    /// A text without secrets.
    pub fn text(&self, text: &str) -> String {
        String::from_utf8_lossy(&self.bytes(text.as_bytes().to_vec())).into_owned()
    }
}

fn is_telling(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    TELLING.iter().any(|word| name.contains(word))
}

/// A text with all that is found masked.
fn without(text: Vec<u8>, find: impl Fn(&[u8]) -> Option<(usize, usize)>) -> Vec<u8> {
    let Some(mut found) = find(&text) else { return text };
    let (mut masked, mut rest) = (Vec::with_capacity(text.len()), text.as_slice());
    loop {
        let (at, length) = found;
        masked.extend_from_slice(&rest[..at]);
        masked.extend_from_slice(MASK);
        rest = &rest[at + length..];
        match find(rest) {
            Some(next) => found = next,
            None => break,
        }
    }
    masked.extend_from_slice(rest);
    masked
}

fn find(text: &[u8], word: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, word)
}

/// Where a key of this form stands, and how long it is.
fn key(text: &[u8], form: &[u8], least: usize) -> Option<(usize, usize)> {
    let mut from = 0;
    while let Some(at) = find(&text[from..], form) {
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
    fn what_is_no_text_stays_as_it_is() {
        let bytes = vec![0xff, 0, b'a', 0xfe];
        assert_eq!(Mask::default().bytes(bytes.clone()), bytes);
    }
}
