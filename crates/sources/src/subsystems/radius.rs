//! The blast radius: whose files are changed, and whom that reaches.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use super::{Invariant, Specs, Subsystem};

/// How far a change reaches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Radius {
    /// Subsystems whose own files are changed, with those.
    pub touched: BTreeMap<String, Vec<String>>,
    /// Those that these reach, nearest first.
    pub reached: Vec<Reached>,
    /// Files that are nobody's.
    pub outside: Vec<String>,
    /// There are no specs at all: only the paths themselves are known.
    pub by_path_only: bool,
}

/// A subsystem that a change reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reached {
    /// Which.
    pub name: String,
    /// By way of whom.
    pub through: String,
}

impl Radius {
    /// Every affected subsystem: touched, then reached.
    pub fn affected(&self) -> impl Iterator<Item = &str> {
        let reached = self.reached.iter().map(|it| it.name.as_str());
        self.touched.keys().map(String::as_str).chain(reached)
    }

    /// In words.
    pub fn in_words(&self) -> String {
        let mut text = String::new();
        if self.by_path_only {
            text.push_str("No subsystem is described here: the scope is the named paths alone.\n");
        }
        // Writing to a String cannot fail.
        for (name, files) in &self.touched {
            let _ = writeln!(text, "- {name}: {}", files.join(", "));
        }
        for Reached { name, through } in &self.reached {
            let _ = writeln!(text, "- {name}, through {through}");
        }
        if !self.outside.is_empty() && !self.by_path_only {
            let _ = writeln!(text, "- of no subsystem: {}", self.outside.join(", "));
        }
        text
    }
}

impl Specs {
    /// How far a change of these files reaches. Pure: the same files give the same radius, in whatever order they come.
    pub fn radius<'a>(&self, changed: impl IntoIterator<Item = &'a str>) -> Radius {
        let changed: BTreeSet<&str> = changed.into_iter().collect();
        let mut touched: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let mut outside = Vec::new();
        for path in changed {
            let mut somebodys = false;
            for subsystem in self.subsystems.iter().filter(|it| it.owns(path)) {
                somebodys = true;
                touched.entry(subsystem.name.clone()).or_default().push(path.to_owned());
            }
            if !somebodys {
                outside.push(path.to_owned());
            }
        }
        let reached = self.reached(touched.keys());
        Radius { touched, reached, outside, by_path_only: self.subsystems.is_empty() }
    }

    /// Whom these reach through dependents, nearest first. Who says that it depends on one is a dependent, too.
    fn reached<'a>(&'a self, from: impl Iterator<Item = &'a String>) -> Vec<Reached> {
        let mut after: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for subsystem in &self.subsystems {
            for dependent in &subsystem.dependents {
                after.entry(&subsystem.name).or_default().insert(dependent);
            }
            for dependency in &subsystem.dependencies {
                after.entry(dependency).or_default().insert(&subsystem.name);
            }
        }
        let mut queue: VecDeque<&str> = from.map(String::as_str).collect();
        let mut seen: BTreeSet<&str> = queue.iter().copied().collect();
        let mut reached = Vec::new();
        while let Some(name) = queue.pop_front() {
            for next in after.get(name).into_iter().flatten() {
                // Whoever is only named has nothing that could be checked.
                if self.named(next).is_some() && seen.insert(next) {
                    let (name, through) = ((*next).to_owned(), name.to_owned());
                    reached.push(Reached { name, through });
                    queue.push_back(next);
                }
            }
        }
        reached
    }

    /// The affected subsystems.
    pub fn affected<'a>(&'a self, radius: &'a Radius) -> impl Iterator<Item = &'a Subsystem> {
        radius.affected().filter_map(|name| self.named(name))
    }

    /// What has to hold of the affected subsystems, each once.
    pub fn invariants<'a>(&'a self, radius: &'a Radius) -> Vec<(&'a Subsystem, &'a Invariant)> {
        let own = |it: &'a Subsystem| it.invariants.iter().map(move |invariant| (it, invariant));
        self.affected(radius).flat_map(own).collect()
    }
}

impl Subsystem {
    /// Whether a file, or a directory that a plan names, is its own or holds what is.
    fn owns(&self, path: &str) -> bool {
        let path = path.trim_end_matches('/');
        self.has(path)
            || self.paths.iter().any(|own| {
                let own = own.trim_start_matches("./").trim_end_matches('/');
                own.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
            })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn specs(texts: &[(&str, &str)]) -> Specs {
        Specs::parse(texts.iter().copied())
    }

    fn house() -> Specs {
        specs(&[
            ("k/core.yaml", "paths: [src/core]\ndependents: [engine]\ninvariants: [pure]\n"),
            ("k/engine.yaml", "paths: [src/engine]\ninvariants: [one loop, no clock]\n"),
            ("k/cli.yaml", "paths: ['src/*.rs']\ndependencies: [engine]\ndependents: [core]\n"),
            ("k/web.yaml", "paths: [web]\n"),
        ])
    }

    #[test]
    fn a_change_reaches_who_depends_on_what_is_changed_and_so_on() {
        let specs = house();
        let radius = specs.radius(["src/core/a.rs", "README.md", "src/core/b.rs"]);
        assert_eq!(radius.touched["core"], ["src/core/a.rs", "src/core/b.rs"]);
        let reached: Vec<_> =
            radius.reached.iter().map(|it| (it.name.as_str(), it.through.as_str())).collect();
        assert_eq!(reached, [("engine", "core"), ("cli", "engine")]);
        assert_eq!(radius.outside, ["README.md"]);
        assert_eq!(radius.affected().collect::<Vec<_>>(), ["core", "engine", "cli"]);
        let invariants: Vec<_> =
            specs.invariants(&radius).iter().map(|(_, it)| it.id.as_str()).collect();
        assert_eq!(invariants, ["core-1", "engine-1", "engine-2"]);
        assert_eq!(
            radius.in_words(),
            "- core: src/core/a.rs, src/core/b.rs\n- engine, through core\n- cli, through engine\n\
             - of no subsystem: README.md\n"
        );
        assert!(!radius.by_path_only);
        let radius = specs.radius(["web/x"]);
        assert_eq!((radius.affected().count(), radius.reached.len()), (1, 0));
        assert!(specs.radius(["src/"]).touched.contains_key("core"), "a directory above it");
    }

    #[test]
    fn without_specs_only_paths_are_known_and_that_is_said() {
        let radius = Specs::default().radius(["a", "b"]);
        assert!(radius.by_path_only);
        assert_eq!(radius.outside, ["a", "b"]);
        assert!(radius.in_words().contains("the named paths alone"));
    }

    /// Specs of a few subsystems that depend on each other in any way, and files that are theirs or nobody's.
    fn any_house() -> impl Strategy<Value = (Specs, Vec<String>)> {
        let names = || proptest::collection::vec(0..6_usize, 0..4);
        let spec = (names(), names());
        let files = proptest::collection::vec((0..8_usize, 0..3_usize), 0..8);
        (proptest::collection::vec(spec, 6), files).prop_map(|(edges, files)| {
            let name = |at: &usize| format!("s{at}");
            let list = |all: &[usize]| all.iter().map(name).collect::<Vec<_>>().join(", ");
            let texts: Vec<(String, String)> = edges
                .iter()
                .enumerate()
                .map(|(at, (on, by))| {
                    let text = format!(
                        "paths: [d{at}]\ndependents: [{}]\ndependencies: [{}]\n",
                        list(on),
                        list(by)
                    );
                    (format!("k/s{at}.yaml"), text)
                })
                .collect();
            let specs = Specs::parse(texts.iter().map(|(at, it)| (at.as_str(), it.as_str())));
            let files = files.iter().map(|(dir, file)| format!("d{dir}/f{file}")).collect();
            (specs, files)
        })
    }

    proptest! {
        #[test]
        fn every_file_is_somebodys_or_outside_and_nobody_is_affected_twice(
            (specs, files) in any_house()
        ) {
            let radius = specs.radius(files.iter().map(String::as_str));
            let all: BTreeSet<&String> = files.iter().collect();
            let told: BTreeSet<&String> =
                radius.touched.values().flatten().chain(&radius.outside).collect();
            prop_assert_eq!(all, told);
            let affected: Vec<&str> = radius.affected().collect();
            let once: BTreeSet<&str> = affected.iter().copied().collect();
            prop_assert_eq!(affected.len(), once.len());
            // Whoever depends on an affected one is affected.
            for subsystem in &specs.subsystems {
                let reaches = |on: &String| once.contains(on.as_str());
                if subsystem.dependencies.iter().any(reaches) {
                    prop_assert!(once.contains(subsystem.name.as_str()), "{}", subsystem.name);
                }
                if once.contains(subsystem.name.as_str()) {
                    prop_assert!(subsystem.dependents.iter().all(reaches), "{}", subsystem.name);
                }
            }
        }

        #[test]
        fn more_files_never_reach_less_and_order_does_not_matter((specs, files) in any_house()) {
            let all = specs.radius(files.iter().map(String::as_str));
            prop_assert_eq!(&all, &specs.radius(files.iter().rev().map(String::as_str)));
            let half = specs.radius(files.iter().take(files.len() / 2).map(String::as_str));
            let whole: BTreeSet<&str> = all.affected().collect();
            prop_assert!(half.affected().all(|name| whole.contains(name)));
        }
    }
}
