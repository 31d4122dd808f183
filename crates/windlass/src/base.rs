//! The project as a commit has it: its configuration, its roles, its guidance and its checks. Nothing of this is ever
//! read from a lane, where an agent could have written it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use windlass_engine::detect::{self, Files};
use windlass_engine::role::Role;
use windlass_engine::skill::{Skill, Skills};
use windlass_repo::{Oid, RepoError, Store};

use crate::builtin;
use crate::config::{self, CheckConfig, Config};
use crate::error::Error;

/// Where roles of the project's own are.
const ROLES: &str = ".windlass/roles";

/// Where skills of the project's own are, the first that has one counts.
const SKILLS: [&str; 3] = [".windlass/skills", ".agents/skills", ".claude/skills"];

/// The check that stands for all.
const VALIDATE: &str = "validate";

/// The configuration that a commit has.
pub fn config(store: &Store, commit: &Oid) -> Result<Config, Error> {
    match store.file_at(commit, Path::new(config::FILE))? {
        Some(text) => Ok(Config::parse(&String::from_utf8_lossy(&text))?),
        None => Ok(Config::default()),
    }
}

/// The project as a commit has it.
pub struct Base<'a> {
    store: &'a Store,
    commit: &'a Oid,
    /// What is at its top.
    names: Vec<String>,
    /// Why a file could not be read: what was detected without it counts for nothing.
    unread: RefCell<Option<RepoError>>,
}

/// Roles by name.
pub struct Roles {
    pub all: BTreeMap<String, Role>,
    /// Those that the project has files of its own for.
    pub own: BTreeSet<String>,
}

/// What checks the work.
pub struct Checks {
    /// Commands by the name of their check.
    pub commands: BTreeMap<String, String>,
    /// Files that they write a report into.
    pub reports: BTreeMap<String, String>,
    /// What makes a checkout ready for them.
    pub prepare: Option<String>,
    /// What the project is written in.
    pub language: String,
}

impl<'a> Base<'a> {
    pub fn at(store: &'a Store, commit: &'a Oid) -> Result<Self, Error> {
        let names = store.names_at(commit, Path::new(""))?;
        Ok(Base { store, commit, names, unread: RefCell::default() })
    }

    /// What a directory has, if its first part is there at all.
    fn names_in(&self, dir: &str) -> Result<Vec<String>, Error> {
        let first = dir.split('/').next();
        if self.names.iter().any(|name| first == Some(name)) {
            Ok(self.store.names_at(self.commit, Path::new(dir))?)
        } else {
            Ok(Vec::new())
        }
    }

    /// The built-in roles, and the project's own in their place.
    pub fn roles(&self) -> Result<Roles, Error> {
        let mut roles = Roles { all: BTreeMap::new(), own: BTreeSet::new() };
        for (name, text) in builtin::ROLES {
            roles.all.insert((*name).to_owned(), Role::parse(name, text)?);
        }
        for file in self.names_in(ROLES)? {
            let Some(name) = file.strip_suffix(".md") else { continue };
            let path = format!("{ROLES}/{file}");
            if let Some(text) = self.store.file_at(self.commit, Path::new(&path))? {
                let role = Role::parse(name, &String::from_utf8_lossy(&text))?;
                roles.all.insert(name.to_owned(), role);
                roles.own.insert(name.to_owned());
            }
        }
        Ok(roles)
    }

    /// The guidance that roles or the configuration name.
    pub fn skills(&self, named: &BTreeSet<&String>, config: &Config) -> Result<Skills, Error> {
        let mut skills = Skills { offered: config.skills.clone(), ..Skills::default() };
        let mut places = Vec::new();
        for place in SKILLS {
            places.push((place, self.names_in(place)?));
        }
        for name in named.iter().copied().filter(|name| Skill::is_name(name)) {
            let built_in = builtin::SKILLS.iter().find(|(own, _)| own == name);
            let built_in = built_in.map(|(_, text)| Skill::parse(name, "", text));
            let found = self.own_skill(name, &places)?.or(built_in);
            skills.known.extend(found.map(|skill| (name.clone(), skill)));
        }
        Ok(skills)
    }

    /// The project's own guidance of a name: a file, or a directory with one.
    fn own_skill(
        &self,
        name: &String,
        places: &[(&str, Vec<String>)],
    ) -> Result<Option<Skill>, Error> {
        for (place, there) in places {
            let file = format!("{name}.md");
            let path = if there.contains(&file) {
                format!("{place}/{file}")
            } else if there.contains(name) {
                format!("{place}/{name}/SKILL.md")
            } else {
                continue;
            };
            if let Some(bytes) = self.store.linked_file_at(self.commit, Path::new(&path))? {
                let text = String::from_utf8_lossy(&bytes);
                return Ok(Some(Skill::parse(name, &path, &text)));
            }
        }
        Ok(None)
    }

    /// What can be detected, and what the configuration says instead.
    pub fn checks(&self, config: &Config) -> Result<Checks, Error> {
        let found = detect::detect(self);
        if let Some(error) = self.unread.take() {
            return Err(error.into());
        }
        Ok(checks_with(found, config))
    }
}

/// The same as a directory has it by now, for whoever only looks: what a run is done with is a commit's.
pub fn checks_on_disk(top: &Path, config: &Config) -> Checks {
    checks_with(detect::detect(&OnDisk(top)), config)
}

/// What was detected, and what the configuration says instead.
fn checks_with(found: detect::Commands, config: &Config) -> Checks {
    let detected = [
        ("build", found.build),
        ("test", found.test),
        ("lint", found.lint),
        ("type-check", found.type_check),
    ];
    let detected =
        detected.into_iter().filter_map(|(name, command)| Some((name.to_owned(), command?)));
    let mut commands: BTreeMap<String, String> = detected.collect();
    let mut prepare = found.setup;
    let mut reports = BTreeMap::new();
    for (name, check) in &config.checks {
        let command = match check {
            CheckConfig::Command(command) => Some(command.clone()),
            CheckConfig::Reporting(it) => {
                reports.insert(name.clone(), it.report.clone());
                it.run.clone().or_else(|| commands.get(name).cloned())
            }
            CheckConfig::Off(_) => None,
        };
        match (name.as_str(), command) {
            ("setup", command) => prepare = command,
            (name, Some(command)) => {
                commands.insert(name.to_owned(), command);
            }
            (name, None) => {
                commands.remove(name);
            }
        }
    }
    // Without a command of its own, a project is valid if it builds and its tests pass.
    if !config.checks.contains_key(VALIDATE) {
        let parts = ["build", "test"].into_iter().filter_map(|name| commands.get(name));
        let parts: Vec<String> = parts.map(|command| format!("({command})")).collect();
        if !parts.is_empty() {
            commands.insert(VALIDATE.to_owned(), parts.join(" && "));
        }
    }
    Checks { commands, reports, prepare, language: found.language.to_string() }
}

/// A directory.
struct OnDisk<'a>(&'a Path);

impl Files for OnDisk<'_> {
    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok()).collect()
    }

    fn text(&self, name: &str) -> Option<String> {
        let path = self.0.join(name);
        path.is_file().then(|| std::fs::read_to_string(path).ok()).flatten()
    }
}

impl Files for Base<'_> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn text(&self, name: &str) -> Option<String> {
        if !self.names.iter().any(|own| own == name) {
            return None;
        }
        match self.store.file_at(self.commit, Path::new(name)) {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes?).into_owned()),
            Err(error) => {
                self.unread.replace(Some(error));
                None
            }
        }
    }
}
