//! Markers: the last line of what we write in a tracker, by which it is found again.
//!
//! People can read it and trackers keep it as it is: `windlass claim 5f0c…` between backticks, or in an HTML comment where
//! a tracker shows none of those. Only what we wrote ourselves counts as done; whose claim is oldest is asked of everybody's.

/// What something in a tracker is there for, and which of ours it is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Marker {
    what: String,
    key: String,
}

/// How a marker is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Between backticks: for trackers that throw HTML away.
    Code,
    /// As an HTML comment, which nobody sees.
    Hidden,
}

impl Marker {
    /// A marker: `what` is a word of small letters and dashes, `key` of letters and digits. Anything else in them is left out.
    pub fn new(what: &str, key: &str) -> Self {
        let what = what.chars().filter(|it| it.is_ascii_lowercase() || *it == '-').collect();
        let key = key.chars().filter(char::is_ascii_alphanumeric).collect();
        Marker { what, key }
    }

    /// What it is there for: `claim`.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// Which one of those it is.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// A text with the marker as its last line.
    pub fn below(&self, text: &str, form: Form) -> String {
        let Marker { what, key } = self;
        let text = text.trim_end();
        match form {
            Form::Code => format!("{text}\n\n`windlass {what} {key}`"),
            Form::Hidden => format!("{text}\n\n<!-- windlass {what} {key} -->"),
        }
    }

    /// The marker of a text, if its last line is one.
    pub fn of(text: &str) -> Option<Marker> {
        let line = text.trim_end().lines().next_back()?.trim();
        let inner = line
            .strip_prefix('`')
            .and_then(|line| line.strip_suffix('`'))
            .or_else(|| line.strip_prefix("<!--").and_then(|line| line.strip_suffix("-->")))?;
        let words: Vec<&str> = inner.split_whitespace().collect();
        let ["windlass", what, key] = words[..] else { return None };
        let marker = Marker::new(what, key);
        (marker.what == what && marker.key == key).then_some(marker)
    }

    /// The text without the marker.
    pub fn stripped(text: &str) -> &str {
        let text = text.trim_end();
        match Marker::of(text) {
            Some(_) => text.rsplit_once('\n').map_or("", |(before, _)| before).trim_end(),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_the_last_line_and_nothing_else() {
        let marker = Marker::new("claim", "5f0c");
        for form in [Form::Code, Form::Hidden] {
            let text = marker.below("Harness iteration 1 starting.\n", form);
            assert_eq!(Marker::of(&text), Some(marker.clone()), "{text}");
            assert_eq!(Marker::stripped(&text), "Harness iteration 1 starting.");
            assert_eq!(Marker::of(&format!("{text}\nmore")), None);
        }
        for text in ["", "windlass claim 5f0c", "`windlass claim`", "`windlass claim a b`"] {
            assert_eq!(Marker::of(text), None, "{text}");
            assert_eq!(Marker::stripped(text), text);
        }
        assert_eq!(Marker::of("`windlass Claim 5f0c`"), None);
        assert_eq!(Marker::new("cl aim!", "5f-0c"), marker);
    }
}
