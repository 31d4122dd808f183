//! Prompts, in an order that stays the same: the role first, then who and where, then a summary, and only at the end
//! what this invocation is about. All before the last part is byte for byte the same each time a role is asked in a
//! run, so that providers' caches can help.

use std::collections::BTreeMap;

use windlass_core::{lang::Reporter, value::Value};

use crate::role::Role;
use crate::skill::Skill;

/// What stays the same for a role during a run.
#[derive(Clone, Debug)]
pub struct Brief<'a> {
    /// The role's name.
    pub name: &'a str,
    /// The role.
    pub role: &'a Role,
    /// What it may answer.
    pub reporter: &'a Reporter,
    /// Guidance that it is offered.
    pub skills: Vec<&'a Skill>,
    /// The project: its name, its language, its conventions.
    pub identity: &'a str,
    /// What the run is about.
    pub summary: &'a str,
}

/// What this invocation is about.
#[derive(Clone, Debug, Default)]
pub struct Task<'a> {
    /// The stage.
    pub stage: &'a str,
    /// The unit and its title.
    pub unit: Option<(&'a str, &'a str)>,
    /// The child of the unit and its title.
    pub child: Option<(&'a str, &'a str)>,
    /// The how-manieth attempt it is, from 1.
    pub attempt: u32,
    /// Values passed along.
    pub with: BTreeMap<String, Value>,
    /// More context for another attempt.
    pub context: Option<&'a str>,
    /// What is to be written, by name and path.
    pub writes: Vec<(String, String)>,
    /// Artifacts, by name.
    pub artifacts: Vec<(String, String)>,
    /// The language of whoever reads it, by its name in English, where that is another one.
    pub language: Option<String>,
}

/// The part that stays the same.
pub fn prefix(brief: &Brief<'_>) -> String {
    let Brief { name, role, reporter, skills, identity, summary } = brief;
    let schema = windlass_agents::schema(reporter);
    let mut guidance = String::new();
    for Skill { name, text } in skills {
        guidance.push_str(&format!("## Guidance: {name}\n\n{text}\n\n"));
    }
    let tools = if role.tools.is_empty() {
        String::new()
    } else {
        format!("What you may use: {}. Nothing else.\n\n", role.tools.join(", "))
    };
    format!(
        "# Your role: {name}\n\n{}\n\n{guidance}\
         You work alone and unattended: nobody can answer a question. Work only inside the current directory. \
         What you say is not taken on trust; it is checked.\n\n{tools}\
         ## How to answer\n\n\
         End with one JSON object, on its own, that fits this schema; `verdict` is the word that counts:\n\n\
         ```json\n{schema}\n```\n\n\
         # The project\n\n{identity}\n\n\
         # The run\n\n{summary}\n\n",
        role.text
    )
}

/// The whole prompt.
pub fn prompt(brief: &Brief<'_>, task: &Task<'_>) -> String {
    let mut text = prefix(brief);
    text.push_str("# Now\n\n");
    text.push_str(&format!("Stage: {}\n", task.stage));
    let mut named = |what: &str, item: Option<(&str, &str)>| {
        if let Some((id, title)) = item {
            text.push_str(&format!("{what}: {id}"));
            text.push_str(&if title == id { "\n".to_owned() } else { format!(" — {title}\n") });
        }
    };
    named("Unit", task.unit);
    named("Part of it", task.child);
    text.push_str(&format!("Attempt: {}\n", task.attempt));
    for (name, value) in &task.with {
        text.push_str(&format!("{name}: {value}\n"));
    }
    if let Some(context) = task.context {
        text.push_str(&format!("\nBesides what you had before: {context}.\n"));
    }
    if let Some(language) = &task.language {
        text.push_str(&format!("\n{}\n", written_in(language)));
    }
    if !task.writes.is_empty() {
        text.push_str("\nWrite these files, or you have not done it:\n");
        for (name, path) in &task.writes {
            text.push_str(&format!("- {name}: `{path}`\n"));
        }
    }
    for (name, artifact) in &task.artifacts {
        text.push_str(&format!("\n## {name}\n\n{}\n", artifact.trim_end()));
    }
    text
}

/// In which language to write. What programs read stays as it is: a translated key is no key.
fn written_in(language: &str) -> String {
    format!(
        "Write what people read (documents, reports, summaries, remarks) in {language}. Names of fields, \
         files and branches, keywords, headings that you are given, verdicts and code stay English."
    )
}

/// Asks once more for an answer that could be read.
pub fn repair(brief: &Brief<'_>, said: &str, why: &str) -> String {
    let schema = windlass_agents::schema(brief.reporter);
    let end = said.floor_char_boundary(said.len().saturating_sub(REPAIR_SHOWN));
    format!(
        "Your answer as {} could not be read: {why}. Do nothing further; only answer again, with one JSON object \
         that fits this schema and says what you said before:\n\n```json\n{schema}\n```\n\n\
         This is the end of what you said:\n\n{}\n",
        brief.name,
        &said[end..]
    )
}

/// Has an agent go on that was cut off: what it was told and what it did is in its session.
pub fn go_on(brief: &Brief<'_>) -> String {
    let mut text = prefix(brief);
    text.push_str(
        "# Now\n\nYou were cut off in the middle of your work. What you had done is as you left it, and what you were \
         told still holds. Look at where you are, finish what is left, and answer as you were told.\n",
    );
    text
}

/// So much of an answer is shown again.
const REPAIR_SHOWN: usize = 8 * 1024;

#[cfg(test)]
mod tests {
    use windlass_core::lang::Catalogue;

    use super::*;

    fn with<R>(act: impl FnOnce(&Brief<'_>) -> R) -> R {
        let catalogue = Catalogue::parse("[role.worker]\nverdicts = ['done', 'failed']").unwrap();
        let role = Role::plain("worker", "writes the code");
        act(&Brief {
            name: "worker",
            role: &role,
            reporter: &catalogue.roles["worker"],
            skills: Vec::new(),
            identity: "demo, in Rust",
            summary: "Make it greet.",
        })
    }

    #[test]
    fn only_the_last_part_differs_between_invocations() {
        with(|brief| {
            let one = prompt(
                brief,
                &Task { stage: "do", unit: Some(("a", "Greet")), attempt: 1, ..Task::default() },
            );
            let two = prompt(
                brief,
                &Task {
                    stage: "mend",
                    attempt: 3,
                    context: Some("related files"),
                    artifacts: vec![("check-output".into(), "1 failed".into())],
                    ..Task::default()
                },
            );
            let stable = prefix(brief);
            assert!(one.starts_with(&stable) && two.starts_with(&stable));
            assert!(stable.find("Your role").unwrap() < stable.find("# The project").unwrap());
            assert!(stable.find("# The project").unwrap() < stable.find("# The run").unwrap());
            assert!(one[stable.len()..].contains("Unit: a — Greet\nAttempt: 1"));
            assert!(two.ends_with(
                "Besides what you had before: related files.\n\n## check-output\n\n1 failed\n"
            ));
        });
    }

    #[test]
    fn whoever_does_not_read_english_is_written_to_in_their_language() {
        with(|brief| {
            let english = Task { stage: "do", attempt: 1, ..Task::default() };
            let korean = Task { language: Some("Korean".to_owned()), ..english.clone() };
            let (english, korean) = (prompt(brief, &english), prompt(brief, &korean));
            let stable = prefix(brief);
            assert!(korean.starts_with(&stable), "the part that stays the same has changed");
            assert!(!english.contains("Write what people read"), "{english}");
            let told = &korean[stable.len()..];
            assert!(told.contains("\n\nWrite what people read ("), "{told}");
            assert!(told.contains(" in Korean. Names of fields, files and branches"), "{told}");
            assert_eq!(korean.replace(&format!("\n{}\n", written_in("Korean")), ""), english);
        });
    }

    #[test]
    fn a_role_is_told_its_own_guidance_and_tools() {
        with(|brief| {
            assert!(!prefix(brief).contains("Guidance") && !prefix(brief).contains("may use"));
            let skill = Skill::parse("house-style", "", "Short words.");
            let mut role = brief.role.clone();
            role.tools = vec!["read".into(), "run".into()];
            let brief = Brief { role: &role, skills: vec![&skill], ..brief.clone() };
            let text = prefix(&brief);
            assert!(text.contains("## Guidance: house-style\n\nShort words.\n"), "{text}");
            assert!(text.contains("What you may use: read, run. Nothing else."), "{text}");
        });
    }

    #[test]
    fn a_repair_shows_the_end_of_what_was_said() {
        with(|brief| {
            let said = format!("{}é the end", "x".repeat(20_000));
            let text = repair(brief, &said, "it gave no verdict");
            assert!(text.contains("é the end") && text.contains("it gave no verdict"));
            assert!(text.len() < 10_000);
        });
    }
}
