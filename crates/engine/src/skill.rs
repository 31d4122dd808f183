//! Skills: guidance that a role or the project names, in Markdown. Built in, and overridden by a file of the project's base
//! commit. One that nobody has is passed over.

use std::collections::BTreeMap;

use crate::role;

/// So much of one is put into a prompt.
const SHOWN_BYTES: usize = 16 * 1024;

/// A piece of guidance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skill {
    /// What it is called.
    pub name: String,
    /// What it says, in Markdown.
    pub text: String,
}

impl Skill {
    /// Reads a skill's file, found at `place`. Front matter is for whoever chooses skills; the text is what counts.
    pub fn parse(name: &str, place: &str, file: &str) -> Self {
        let text = role::split(file).map_or(file, |(_, text)| text).trim();
        let text = if text.len() <= SHOWN_BYTES {
            text.to_owned()
        } else {
            let cut = text.floor_char_boundary(SHOWN_BYTES);
            format!("{}\n[… the rest is in `{place}`: read it]", &text[..cut])
        };
        Skill { name: name.to_owned(), text }
    }

    /// Whether this may be the name of one: it becomes part of a path.
    pub fn is_name(name: &str) -> bool {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
        !name.is_empty() && name.len() <= 64 && name.chars().all(plain)
    }
}

/// The skills that there are, and who else is offered them.
#[derive(Clone, Debug, Default)]
pub struct Skills {
    /// By name.
    pub known: BTreeMap<String, Skill>,
    /// What the project offers each role; to [`crate::crew::ANY`] what it offers all.
    pub offered: BTreeMap<String, Vec<String>>,
}

impl Skills {
    /// What a role is offered: what it names itself, then what the project offers everybody, then what it offers this role.
    /// Nothing twice, and nothing that is not there.
    pub fn of(&self, role: &str, named: &[String]) -> Vec<&Skill> {
        let offered = [crate::crew::ANY, role].into_iter();
        let offered = offered.filter_map(|whom| self.offered.get(whom)).flatten();
        let mut skills: Vec<&Skill> = Vec::new();
        for skill in named.iter().chain(offered).filter_map(|name| self.known.get(name)) {
            if !skills.contains(&skill) {
                skills.push(skill);
            }
        }
        skills
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_is_offered_what_it_and_the_project_name_and_nothing_else() {
        let names = ["planning", "style", "sql", "unasked"];
        let known = names.map(|name| (name.to_owned(), Skill::parse(name, "", name)));
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let offered = BTreeMap::from([
            ("default".to_owned(), list(&["style", "gone"])),
            ("planner".to_owned(), list(&["sql", "planning"])),
        ]);
        let skills = Skills { known: known.into(), offered };
        let of = |role: &str, named: &[&str]| -> Vec<&str> {
            skills.of(role, &list(named)).into_iter().map(|skill| skill.name.as_str()).collect()
        };
        assert_eq!(of("planner", &["planning", "absent"]), ["planning", "style", "sql"]);
        assert_eq!(of("worker", &[]), ["style"]);
    }

    #[test]
    fn front_matter_is_left_out_and_long_ones_are_cut() {
        let skill = Skill::parse("a", "x/SKILL.md", "---\nname: a\n---\n\nDo it.\n");
        assert_eq!(skill.text, "Do it.");
        assert_eq!(Skill::parse("a", "", "Do it.").text, "Do it.");
        let long = Skill::parse("a", "x/SKILL.md", &"é".repeat(20_000)).text;
        assert!(long.ends_with("[… the rest is in `x/SKILL.md`: read it]") && long.len() < 17_000);
    }

    #[test]
    fn a_name_is_no_path() {
        assert!(Skill::is_name("harness-planning") && Skill::is_name("a_1"));
        for name in ["", "..", "a/b", "a.md", "é", "a b", &"a".repeat(65)] {
            assert!(!Skill::is_name(name), "{name}");
        }
    }
}
