//! A spec: phases under `## Implementation Order`, each `### Phase N: Name` with its complexity (seed: autopilot, INIT).

use crate::markdown::Outline;

/// How hard a phase is said to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Complexity {
    /// Planned without asking.
    Low,
    /// Planned without asking, and looked at more closely.
    Medium,
    /// Planned together with a person.
    High,
}

impl Complexity {
    /// By its word.
    pub fn named(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "low" => Some(Self::Low),
            "medium" => Some(Self::Medium),
            "high" => Some(Self::High),
            _ => None,
        }
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// A spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// What its first heading says.
    pub title: Option<String>,
    /// Its phases; none without an `## Implementation Order`.
    pub phases: Vec<Phase>,
}

/// A phase of a spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The number that the spec gives it.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// How hard it is said to be; `medium` if nothing is said.
    pub complexity: Complexity,
    /// What is said about it.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

/// Why a spec cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    /// There is nothing in it.
    #[error("it is empty")]
    Empty,
    /// Two phases with one number or name.
    #[error(
        "line {line}: {what}, as on line {before}: give every phase a number and a name of its own"
    )]
    Twice {
        /// Where.
        line: usize,
        /// What is there twice.
        what: String,
        /// Where it is the first time.
        before: usize,
    },
    /// A phase stands before one that comes before it.
    #[error(
        "line {line}: phase {number} comes after phase {before}: put the phases in the order in which they are to be built"
    )]
    Unordered {
        /// Where.
        line: usize,
        /// Its number.
        number: u32,
        /// The one that stands before it.
        before: u32,
    },
    /// Nobody knows how hard that is.
    #[error("line {line}: `{word}` is no complexity: it is low, medium or high")]
    Complexity {
        /// Where.
        line: usize,
        /// What it says.
        word: String,
    },
    /// Two different complexities.
    #[error("line {line}: the phase is said to be {first} and {second}: leave one of them out")]
    TwoComplexities {
        /// Where.
        line: usize,
        /// The one.
        first: String,
        /// The other.
        second: String,
    },
    /// A number without a name.
    #[error("line {line}: phase {number} has no name: write `### Phase {number}: Name`")]
    Nameless {
        /// Where.
        line: usize,
        /// Its number.
        number: u32,
    },
}

/// The section that phases are listed in.
const ORDER: &str = "implementation order";

impl Spec {
    /// Reads a spec.
    ///
    /// # Errors
    ///
    /// When its phases contradict themselves. A spec without phases is none of that: it has none.
    pub fn parse(text: &str) -> Result<Self, BadSpec> {
        let spec = Self::in_any_order(text)?;
        for pair in spec.phases.windows(2) {
            if let [before, this] = pair
                && before.number > this.number
            {
                let (line, number, before) = (this.line, this.number, before.number);
                return Err(BadSpec::Unordered { line, number, before });
            }
        }
        Ok(spec)
    }

    /// Reads a spec whose phases stand in the order that counts, whatever their numbers.
    ///
    /// # Errors
    ///
    /// As for [`Spec::parse`].
    pub fn in_any_order(text: &str) -> Result<Self, BadSpec> {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return Err(BadSpec::Empty);
        }
        let outline = Outline::of(text);
        let title = outline.headings.iter().find(|heading| heading.level == 1);
        let order = outline
            .headings
            .iter()
            .find(|heading| heading.level == 2 && heading.text.to_lowercase() == ORDER);
        let mut phases: Vec<Phase> = Vec::new();
        if let Some(order) = order {
            let end = outline.end(order);
            let within = |start: usize| start > order.start && start < end;
            for heading in outline.headings.iter().filter(|heading| within(heading.start)) {
                let Some((number, name)) = phase_of(&heading.text) else { continue };
                let line = heading.line;
                if name.is_empty() {
                    return Err(BadSpec::Nameless { line, number });
                }
                let section = heading.start..outline.end(heading);
                let complexity = complexity(&outline.noted("complexity", section))?;
                if let Some(twin) = phases.iter().find(|twin| twin.number == number) {
                    let what = format!("phase {number}");
                    return Err(BadSpec::Twice { line, what, before: twin.line });
                }
                let slug = crate::slug(name);
                if let Some(twin) = phases.iter().find(|twin| crate::slug(&twin.name) == slug) {
                    let what = format!("a phase named {name:?}");
                    return Err(BadSpec::Twice { line, what, before: twin.line });
                }
                let text = outline.below(heading).trim().to_owned();
                phases.push(Phase { number, name: name.to_owned(), complexity, text, line });
            }
        }
        Ok(Spec { title: title.map(|title| title.text.clone()), phases })
    }
}

/// The number and the name in `Phase N: Name`; a dash or a full stop will do instead of the colon.
fn phase_of(heading: &str) -> Option<(u32, &str)> {
    let word = heading.get(..5)?;
    let rest = heading[5..].trim_start();
    if !word.eq_ignore_ascii_case("phase") {
        return None;
    }
    let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start_matches([':', '.', '-', '–', '—', ' ', '\t']).trim_end();
    Some((number, name))
}

fn complexity(noted: &[(usize, &str)]) -> Result<Complexity, BadSpec> {
    let mut said: Option<Complexity> = None;
    for (line, word) in noted {
        let Some(this) = Complexity::named(word) else {
            return Err(BadSpec::Complexity { line: *line, word: (*word).to_owned() });
        };
        if let Some(other) = said.filter(|other| *other != this) {
            let (first, second) = (other.word().to_owned(), this.word().to_owned());
            return Err(BadSpec::TwoComplexities { line: *line, first, second });
        }
        said = Some(this);
    }
    Ok(said.unwrap_or(Complexity::Medium))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases(text: &str) -> Vec<(u32, String, &'static str)> {
        let spec = Spec::parse(text).unwrap();
        spec.phases.into_iter().map(|it| (it.number, it.name, it.complexity.word())).collect()
    }

    #[test]
    fn phases_are_read_as_the_seed_writes_them() {
        let text = "# Security scanner\n\nWhy.\n\n## Implementation Order\n\n\
                    ### Phase 1: Core Scanner\n<!-- complexity: low -->\nScan.\n\n\
                    ### Phase 2: Rule Engine <!-- complexity: high -->\n\n#### Detail\nRules.\n\n\
                    ### Phase 3: CLI\n\n## After\n\n### Phase 4: Not one\n";
        assert_eq!(
            phases(text),
            [
                (1, "Core Scanner".to_owned(), "low"),
                (2, "Rule Engine".to_owned(), "high"),
                (3, "CLI".to_owned(), "medium")
            ]
        );
        let spec = Spec::parse(text).unwrap();
        assert_eq!(spec.title.as_deref(), Some("Security scanner"));
        assert_eq!(spec.phases[1].text, "#### Detail\nRules.");
    }

    #[test]
    fn reading_is_tolerant() {
        let text = "## implementation order\n### phase 1 - One\n### Phase 3. Three\n### PHASE 7 — Seven\n### Notes\n";
        let names: Vec<_> =
            phases(text).into_iter().map(|(number, name, _)| (number, name)).collect();
        assert_eq!(names, [(1, "One".into()), (3, "Three".into()), (7, "Seven".into())]);
    }

    #[test]
    fn a_spec_without_the_section_has_no_phases() {
        assert_eq!(phases("# Title\n### Phase 1: One\n"), []);
        assert_eq!(phases("## Implementation Order\nNothing yet.\n"), []);
        assert_eq!(phases("```\n## Implementation Order\n### Phase 1: One\n```\n"), []);
    }

    #[test]
    fn what_contradicts_itself_is_refused_with_its_line() {
        let refused = |phases: &str| {
            Spec::parse(&format!("## Implementation Order\n{phases}")).unwrap_err().to_string()
        };
        let twice = refused("### Phase 1: A\n### Phase 1: B\n");
        assert!(twice.starts_with("line 3: phase 1, as on line 2"), "{twice}");
        let same_name = refused("### Phase 1: A b\n### Phase 2: a B!\n");
        assert!(
            same_name.starts_with("line 3: a phase named \"a B!\", as on line 2"),
            "{same_name}"
        );
        let unordered = refused("### Phase 2: A\n### Phase 1: B\n");
        assert!(unordered.starts_with("line 3: phase 1 comes after phase 2"), "{unordered}");
        let unknown = refused("### Phase 1: A\n<!-- complexity: huge -->\n");
        assert_eq!(unknown, "line 3: `huge` is no complexity: it is low, medium or high");
        let both =
            refused("### Phase 1: A\n<!-- complexity: low -->\n\n<!-- complexity: high -->\n");
        assert_eq!(both, "line 5: the phase is said to be low and high: leave one of them out");
        assert!(refused("### Phase 1:\n").starts_with("line 2: phase 1 has no name"));
        assert_eq!(Spec::parse(" \n\t\n").unwrap_err(), BadSpec::Empty);
    }
}
