//! The workflows that come with the program: the same files, in the same language, that a user
//! would write.

use crate::suggest;

/// A workflow that is compiled in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    pub name: &'static str,
    pub text: &'static str,
}

macro_rules! workflow {
    ($name:literal) => {
        BuiltIn { name: $name, text: include_str!(concat!("../../../workflows/", $name, ".toml")) }
    };
}

/// In the order in which people meet them.
pub const WORKFLOWS: &[BuiltIn] = &[
    workflow!("autopilot"),
    workflow!("task"),
    workflow!("mission"),
    workflow!("issues"),
    workflow!("work"),
];

/// What only sessions need that an earlier program has begun. Found by name, but not among those that people are offered:
/// nobody is to begin anything new with one.
pub const EARLIER: &[BuiltIn] = &[workflow!("task-v1")];

/// The roles, readers, checks and tells that workflows may name.
pub const CATALOGUE: BuiltIn =
    BuiltIn { name: "catalogue", text: include_str!("../../../workflows/catalogue.toml") };

/// Markdown of a directory at the top, by name.
macro_rules! markdown {
    ($dir:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../", $dir, "/", $name, ".md")))),*]
    };
}

/// The roles that come with the program, by name; a project's own count instead.
pub const ROLES: &[(&str, &str)] = markdown!("roles":
    // of every workflow
    "conflict-resolver",
    // of autopilot
    "code-reviewer", "plan-skeleton", "planner", "task-executor", "verifier",
    // of task, in the order in which they come in
    "convention-scanner", "planner-single", "architect", "senior-developer", "qa-specialist",
    "cross-critique", "synthesis-standard", "synthesis", "spec-editor", "lead-developer",
    "combined-advisor", "code-quality-advisor", "test-stability-advisor", "generator-single",
    "implementation-standard", "implementation", "layer1-verifier", "auto-fix-proposer",
    "evaluator",
    // of mission
    "mission-planner", "plan-reviewer", "mission-worker", "validator", "mission-architect",
    "ui-qa", "crosscheck", "documenter", "curator",
    // of issues
    "issue-planner", "issue-worker", "invariant-checker", "failure-classifier", "issue-reviewer",
    "discoverer",
    // of work
    "plans-planner", "scout", "test-writer", "contract-reviewer", "worker", "simplifier",
    "work-reviewer", "browser-reviewer");

/// The guidance that comes with the program, by name; a project's own counts instead.
pub const SKILLS: &[(&str, &str)] = markdown!("skills":
    "harness-code-review", "harness-execution", "harness-planning", "harness-protocol",
    "harness-verification", "task-changes", "task-spec");

pub fn find(name: &str) -> Option<BuiltIn> {
    WORKFLOWS.iter().chain(EARLIER).copied().find(|workflow| workflow.name == name)
}

/// The built-in name that was probably meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    suggest::nearest(name, WORKFLOWS.iter().map(|workflow| workflow.name))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use windlass_core::{
        lang::{self, Catalogue},
        workflow::Workflow,
    };
    use windlass_engine::role::Role;

    use super::*;

    /// How strong a model it wants is the same whoever's conflict it is, so it fills no post.
    const OF_NO_POST: &str = "conflict-resolver";

    fn loaded() -> Vec<Workflow> {
        let catalogue = Catalogue::parse(CATALOGUE.text).unwrap();
        let load = |workflow: &BuiltIn| lang::load(workflow.text, &catalogue).unwrap();
        WORKFLOWS.iter().chain(EARLIER).map(load).collect()
    }

    fn roles() -> BTreeMap<&'static str, Role> {
        ROLES.iter().map(|(name, text)| (*name, Role::parse(name, text).unwrap())).collect()
    }

    /// The roles that a workflow names, with what they may answer.
    fn named(flow: &Workflow) -> BTreeMap<&str, &[String]> {
        flow.roles.iter().map(|(name, words)| (name.as_str(), words.as_slice())).collect()
    }

    /// The roles of task, and of its earlier sessions.
    fn of_task(flows: &[Workflow]) -> BTreeSet<&str> {
        let flows = flows.iter().filter(|flow| flow.name.starts_with("task"));
        flows.flat_map(|flow| named(flow).into_keys()).collect()
    }

    #[test]
    fn every_role_of_task_is_written_and_has_a_post() {
        let (flows, roles) = (loaded(), roles());
        for name in of_task(&flows) {
            let role = roles.get(name).unwrap_or_else(|| panic!("roles/{name}.md is missing"));
            assert_eq!(role.post.is_none(), name == OF_NO_POST, "{name}");
            assert!(!role.tools.is_empty(), "{name}: it is told what it may use");
        }
    }

    #[test]
    fn nothing_is_written_for_nobody() {
        let (flows, roles) = (loaded(), roles());
        let used: BTreeSet<&str> = flows.iter().flat_map(|flow| named(flow).into_keys()).collect();
        let unused: Vec<_> = roles.keys().filter(|name| !used.contains(*name)).collect();
        assert_eq!(unused, [&""; 0], "roles that no workflow names");
        let known: BTreeSet<&str> = SKILLS.iter().map(|(name, _)| *name).collect();
        let offered: BTreeSet<&str> =
            roles.values().flat_map(|role| &role.skills).map(String::as_str).collect();
        assert_eq!(known, offered, "guidance, and what roles name of it");
    }

    /// A role that is not told what its words mean guesses.
    #[test]
    fn every_role_of_task_is_told_what_its_answers_mean() {
        let catalogue = Catalogue::parse(CATALOGUE.text).unwrap();
        let (flows, roles) = (loaded(), roles());
        for name in of_task(&flows) {
            let (text, answers) = (&roles[name].text, &catalogue.roles[name]);
            for word in answers.verdicts.iter().chain(answers.facts.keys()) {
                assert!(text.contains(&format!("`{word}`")), "{name}: {word}");
            }
            assert!(name == OF_NO_POST || text.contains("`summary`"), "{name}: its one line");
        }
    }

    /// "Do NOT include: … references to "Generator"/"AI"/"agent"": who judges knows of no maker.
    #[test]
    fn the_evaluator_is_told_of_nobody_who_made_the_change() {
        let text = roles()["evaluator"].text.to_lowercase();
        let words = text.split(|letter: char| !letter.is_alphanumeric());
        let makers = [
            "generator",
            "ai",
            "agent",
            "agents",
            "advisor",
            "plan",
            "planner",
            "developer",
            "model",
        ];
        let told: Vec<&str> = words.filter(|word| makers.contains(word)).collect();
        assert_eq!(told, [""; 0]);
    }
}
