//! Subsystem knowledge: what `subsystems_knowledge/**/*.yaml` says of a project (docs/formats.md).
//!
//! | question | file |
//! |---|---|
//! | what does a spec say, and what is wrong with one? | `spec.rs` |
//! | whom does a change reach? | `radius.rs` |
//!
//! A spec that cannot be read is named with its place; the others still count.

mod radius;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use windlass_core::path::{Below, Scope};

pub use radius::{Radius, Reached};
pub use spec::{Flaw, Invariant};

use crate::SourceError;

/// Where specs are, from the top of a project.
pub const DIR: &str = "subsystems_knowledge";

/// A spec is no longer than this.
const BYTES_MAX: u64 = 1 << 20;

/// A project has no more specs than this.
const SPECS_MAX: usize = 2_000;

/// Directories below directories, no deeper than this.
const DEPTH_MAX: usize = 16;

/// A part of a project, with what has to hold of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subsystem {
    /// What others call it.
    pub name: String,
    /// The file that describes it.
    pub file: String,
    /// Which files are its own: paths with all that is below them, and patterns.
    pub paths: Vec<String>,
    /// Who breaks when it breaks.
    pub dependents: Vec<String>,
    /// Whom it builds on.
    pub dependencies: Vec<String>,
    /// What has to hold.
    pub invariants: Vec<Invariant>,
    /// Guidance that helps whoever works on it.
    pub helpful_skills: Vec<String>,
    /// Commands that are quick, run for each change.
    pub tier0: Vec<String>,
    /// Commands that are thorough, run for the whole.
    pub tier1: Vec<String>,
    /// What was mended of late, and might break again.
    pub recently_fixed: Vec<String>,
    /// What is known to be missing.
    pub known_gaps: Vec<String>,
    scope: Option<Scope>,
}

impl Subsystem {
    /// Whether a file is its own.
    pub fn has(&self, path: &str) -> bool {
        let Ok(path) = Below::parse(path) else { return false };
        self.scope.as_ref().is_some_and(|scope| scope.covers(&path))
    }
}

/// All that is known of a project's subsystems.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Specs {
    /// By name.
    pub subsystems: Vec<Subsystem>,
    /// What is wrong with files that do not count, or count in part.
    pub flaws: Vec<Flaw>,
}

impl Specs {
    /// Specs by the path of their file.
    pub fn parse<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let mut by_name: BTreeMap<String, Subsystem> = BTreeMap::new();
        let mut flaws = Vec::new();
        for (file, text) in files {
            let subsystem = match spec::parse(file, text) {
                Ok((subsystem, more)) => {
                    flaws.extend(more);
                    subsystem
                }
                Err(flaw) => {
                    flaws.push(flaw);
                    continue;
                }
            };
            match by_name.get(&subsystem.name) {
                Some(known) => flaws.push(Flaw::of(
                    file,
                    format!("`{}` is described in {} already", subsystem.name, known.file),
                )),
                None => {
                    by_name.insert(subsystem.name.clone(), subsystem);
                }
            }
        }
        for subsystem in by_name.values() {
            let named = subsystem.dependents.iter().chain(&subsystem.dependencies);
            for name in named.filter(|name| !by_name.contains_key(*name)).collect::<BTreeSet<_>>() {
                let what = format!("`{name}` is named, and no spec describes it");
                flaws.push(Flaw::of(&subsystem.file, what));
            }
        }
        Specs { subsystems: by_name.into_values().collect(), flaws }
    }

    /// The subsystem of this name.
    pub fn named(&self, name: &str) -> Option<&Subsystem> {
        let at = self.subsystems.binary_search_by(|it| it.name.as_str().cmp(name)).ok()?;
        self.subsystems.get(at)
    }
}

/// The texts of a project's specs, by path. Links are not followed.
///
/// # Errors
///
/// When a file or directory is there and cannot be read.
pub fn files(top: &Path) -> Result<BTreeMap<String, String>, SourceError> {
    let mut files = BTreeMap::new();
    walk(top, DIR, 0, &mut files)?;
    Ok(files)
}

/// The same of files that were read somewhere else: those that are specs.
///
/// # Errors
///
/// When there are too many, or one is too long.
pub fn of_files(
    files: impl IntoIterator<Item = (String, Vec<u8>)>,
) -> Result<BTreeMap<String, String>, SourceError> {
    let mut specs = BTreeMap::new();
    for (path, bytes) in files.into_iter().filter(|(path, _)| is_spec(path)) {
        if specs.len() >= SPECS_MAX {
            return Err(SourceError::bad(DIR, format!("it has more than {SPECS_MAX} specs")));
        }
        if u64::try_from(bytes.len()).is_ok_and(|length| length > BYTES_MAX) {
            return Err(SourceError::bad(&path, "it has more than a megabyte"));
        }
        specs.insert(path, String::from_utf8_lossy(&bytes).into_owned());
    }
    Ok(specs)
}

/// Whether a file is a spec.
pub fn is_spec(path: &str) -> bool {
    let below = path.strip_prefix(DIR).is_some_and(|rest| rest.starts_with('/'));
    below && (path.ends_with(".yaml") || path.ends_with(".yml"))
}

/// What makes a difference to what is checked, and for whom, between two texts of a spec: a line for each. What cannot be read
/// checks nothing.
pub fn weighty(path: &str, before: Option<&str>, after: Option<&str>) -> Vec<String> {
    let parsed = |text: Option<&str>| text.and_then(|text| spec::parse(path, text).ok());
    let (before, after) = (parsed(before).map(|it| it.0), parsed(after).map(|it| it.0));
    let parts = |it: &Subsystem| {
        let invariants = it.invariants.iter().map(|it| match &it.command {
            Some(command) => format!("{}: {} (`{command}`)", it.id, it.text),
            None => format!("{}: {}", it.id, it.text),
        });
        [
            ("name", vec![it.name.clone()]),
            ("paths", it.paths.clone()),
            ("dependents", it.dependents.clone()),
            ("dependencies", it.dependencies.clone()),
            ("invariants", invariants.collect()),
            ("tier0", it.tier0.clone()),
            ("tier1", it.tier1.clone()),
        ]
    };
    let none = || parts(&Subsystem::default());
    let (before, after) =
        (before.as_ref().map_or_else(none, parts), after.as_ref().map_or_else(none, parts));
    let mut lines = Vec::new();
    for ((what, before), (_, after)) in before.into_iter().zip(after) {
        let gone = before.iter().filter(|it| !after.contains(it)).map(|it| ("-", it));
        let new = after.iter().filter(|it| !before.contains(it)).map(|it| ("+", it));
        for (sign, it) in gone.chain(new).filter(|(_, it)| !it.is_empty()) {
            lines.push(format!("{sign} {what}: {it}"));
        }
    }
    lines
}

fn walk(
    top: &Path,
    below: &str,
    depth: usize,
    files: &mut BTreeMap<String, String>,
) -> Result<(), SourceError> {
    let unreadable = |path: &str, source| SourceError::Unreadable { path: path.into(), source };
    let dir = top.join(below);
    if depth > DEPTH_MAX || !dir.symlink_metadata().is_ok_and(|it| it.is_dir()) {
        return Ok(());
    }
    for entry in std::fs::read_dir(&dir).map_err(|error| unreadable(below, error))? {
        let entry = entry.map_err(|error| unreadable(below, error))?;
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        let path = format!("{below}/{name}");
        let meta = entry.metadata().map_err(|error| unreadable(&path, error))?;
        if meta.is_dir() {
            walk(top, &path, depth + 1, files)?;
        } else if meta.is_file() && is_spec(&path) {
            if files.len() >= SPECS_MAX {
                return Err(SourceError::bad(DIR, format!("it has more than {SPECS_MAX} specs")));
            }
            if meta.len() > BYTES_MAX {
                return Err(SourceError::bad(&path, "it has more than a megabyte"));
            }
            let bytes = std::fs::read(entry.path()).map_err(|error| unreadable(&path, error))?;
            files.insert(path, String::from_utf8_lossy(&bytes).into_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_checked_and_for_whom_weighs_and_words_do_not() {
        let spec = "name: core\npaths: [src]\ninvariants:\n  - id: a\n    text: it holds\n    command: make a\n\
                    tests: { tier0: make quick }\nknown_gaps: none\n";
        let at = |after: &str| weighty("subsystems_knowledge/core.yaml", Some(spec), Some(after));
        assert_eq!(at(spec), [""; 0]);
        assert_eq!(at(&spec.replace("known_gaps: none", "known_gaps: [some, more]")), [""; 0]);
        assert_eq!(
            at(&spec.replace("make quick", "make less")),
            ["- tier0: make quick", "+ tier0: make less"]
        );
        assert_eq!(
            at(&spec.replace("[src]", "[elsewhere]")),
            ["- paths: src", "+ paths: elsewhere"]
        );
        let weaker = at(&spec.replace("make a", "make less"));
        assert_eq!(
            weaker,
            ["- invariants: a: it holds (`make a`)", "+ invariants: a: it holds (`make less`)"]
        );
        // One that is gone, or cannot be read any more, checks nothing.
        let gone = weighty("subsystems_knowledge/core.yaml", Some(spec), None);
        assert_eq!((gone.len(), at("name: [")), (4, gone));
        assert!(is_spec("subsystems_knowledge/a/b.yml") && !is_spec("subsystems_knowledge.yaml"));
    }

    #[test]
    fn specs_are_found_wherever_they_are_below_and_bad_ones_are_named() {
        let dir = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = dir.path().join(DIR).join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        assert_eq!(files(dir.path()).unwrap(), BTreeMap::new());
        put("core.yaml", "name: core\npaths: [src/core]\ndependents: [shell, gone]\n");
        put("ui/shell.yml", "paths: src/shell\n");
        put("ui/bad.yaml", "name: bad\npaths: [a\nx: {\n");
        put("ui/zz.yaml", "name: shell\npaths: [x]\n");
        put("notes.md", "# Nothing\n");
        let files = files(dir.path()).unwrap();
        assert_eq!(files.len(), 4);
        let specs = Specs::parse(files.iter().map(|(path, text)| (path.as_str(), text.as_str())));
        let names: Vec<&str> = specs.subsystems.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names, ["core", "shell"]);
        let told: Vec<String> = specs.flaws.iter().map(ToString::to_string).collect();
        assert_eq!(told.len(), 3, "{told:#?}");
        assert!(told[0].starts_with("subsystems_knowledge/ui/bad.yaml:"), "{told:?}");
        assert!(told[1].contains("`shell` is described in"), "{told:?}");
        assert!(told[2].contains("`gone` is named, and no spec"), "{told:?}");
        assert!(specs.named("shell").unwrap().has("src/shell/a.rs"));
        assert!(!specs.named("core").unwrap().has("src/corex"));
    }
}
