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
    "code-reviewer", "conflict-resolver", "plan-skeleton", "planner", "task-executor", "verifier");

/// The guidance that comes with the program, by name; a project's own counts instead.
pub const SKILLS: &[(&str, &str)] = markdown!("skills":
    "harness-code-review", "harness-execution", "harness-planning", "harness-verification");

pub fn find(name: &str) -> Option<BuiltIn> {
    WORKFLOWS.iter().copied().find(|workflow| workflow.name == name)
}

/// The built-in name that was probably meant.
pub fn nearest(name: &str) -> Option<&'static str> {
    suggest::nearest(name, WORKFLOWS.iter().map(|workflow| workflow.name))
}
