//! What Windlass itself sees to: which files a change may touch, which commands check it, what a commit says of it, and
//! whether what roles say goes together.

use std::collections::BTreeSet;

use windlass_core::path::{Below, Scope, Walked};
use windlass_core::value::Value;
use windlass_engine::clerk::{Clerk as _, Said, Situation, Trial};
use windlass_sources::subsystems::Radius;

use super::Issues;
use super::session::{Group, Session, Tale};

/// What no plan may name: it says what agents may do, or belongs to git or to a session.
const NOBODYS: [&str; 5] =
    [".git", ".harness", ".windlass", "windlass.toml", ".claude/harness-state.local.md"];

/// Files that one group may name.
const FILES_MAX: usize = 500;

impl Issues {
    pub(super) fn may_touch(&self, at: &Situation) -> Option<Vec<String>> {
        let (unit, _) = at.unit.as_ref()?;
        let session = self.session();
        let tale = session.tales.get(unit)?;
        let files: BTreeSet<String> = match &at.child {
            Some(child) => session.group(unit, &child.id)?.1.files.iter().cloned().collect(),
            None => tale.groups.iter().flat_map(|group| group.files.iter().cloned()).collect(),
        };
        (!files.is_empty()).then(|| files.into_iter().collect())
    }

    pub(super) fn trials(&self, check: &str, at: &Situation) -> Option<Vec<Trial>> {
        let (unit, _) = at.unit.as_ref()?;
        let session = self.session();
        let child = at.child.as_ref().map(|child| &*child.id);
        let radius = radius(&session, unit, child);
        let trial = |name: String, command: &str| Trial {
            name,
            command: command.to_owned(),
            strict: false,
        };
        let mut trials = Vec::new();
        match check {
            "invariants" => {
                for (subsystem, invariant) in session.specs.invariants(&radius) {
                    if let Some(command) = &invariant.command {
                        let name = format!("invariants: {} ({})", invariant.id, subsystem.name);
                        trials.push(trial(name, command));
                    }
                }
                return Some(trials);
            }
            "tier0" => {
                for subsystem in radius.touched.keys().filter_map(|it| session.specs.named(it)) {
                    for (at, command) in subsystem.tier0.iter().enumerate() {
                        trials.push(trial(numbered("tier0", &subsystem.name, at), command));
                    }
                }
            }
            "tier1" => {
                for subsystem in session.specs.affected(&radius) {
                    for (at, command) in subsystem.tier1.iter().enumerate() {
                        trials.push(trial(numbered("tier1", &subsystem.name, at), command));
                    }
                }
            }
            _ => return None,
        }
        // The same command says the same of all that name it.
        let mut seen = BTreeSet::new();
        trials.retain(|it| seen.insert(it.command.clone()));
        if !trials.is_empty() {
            return Some(trials);
        }
        // Where no spec names any, the project's own tests are better than none.
        let own = self.checks.get(check).map(|command| (check.to_owned(), command));
        let test = || Some(("tier1: test".to_owned(), self.checks.get("test")?));
        let own = own.or_else(|| if check == "tier1" { test() } else { None });
        Some(own.map(|(name, command)| trial(name, command)).into_iter().collect())
    }

    pub(super) fn trailer_of(&self, name: &str, at: &Situation) -> Option<String> {
        let (unit, _) = at.unit.as_ref()?;
        let session = self.session();
        let child = at.child.as_ref().map(|child| &*child.id);
        let tale = session.tales.get(unit)?;
        Some(match name {
            "Issue" => unit.clone(),
            "Change-Group" => {
                let (nth, _) = session.group(unit, child?)?;
                format!("{}/{}", nth + 1, tale.groups.len())
            }
            "Subsystems" => {
                let radius = radius(&session, unit, child);
                let names: Vec<&str> = radius.affected().collect();
                if names.is_empty() { "none".to_owned() } else { names.join(", ") }
            }
            "Invariants" => {
                let (held, all) = invariants_held(&session, unit, child);
                format!("{held}/{all} verified")
            }
            "Co-Authored-By" => {
                let (agent, model) = tale.hands.as_ref()?;
                co_author(agent, model.as_deref())
            }
            _ => return None,
        })
    }

    pub(super) fn examined(
        &self,
        role: &str,
        verdict: &str,
        said: Said<'_>,
        at: &Situation,
    ) -> Option<String> {
        let (unit, _) = at.unit.as_ref()?;
        match (role, verdict) {
            ("issue-planner", "planned") => planned(said, &self.untouchable()),
            ("invariant-checker", "pass") => {
                let child = at.child.as_ref()?;
                self.all_hold(unit, Some(&child.id), verdict, &said)
            }
            ("issue-reviewer", "pass" | "pass_with_warnings") => {
                self.all_hold(unit, None, verdict, &said)
            }
            _ => None,
        }
    }

    /// Who says that it passes says so of each invariant that only a look can tell.
    fn all_hold(
        &self,
        unit: &str,
        child: Option<&str>,
        verdict: &str,
        said: &Said<'_>,
    ) -> Option<String> {
        let session = self.session();
        let radius = radius(&session, unit, child);
        let none = Vec::new();
        let judged = said.lists.get("invariants").unwrap_or(&none);
        for (_, invariant) in session.specs.invariants(&radius) {
            if invariant.command.is_some() {
                continue;
            }
            let own = judged.iter().find(|item| item.id.eq_ignore_ascii_case(&invariant.id));
            let holds = own.and_then(|item| item.facts.get("holds"));
            if holds != Some(&"yes".into()) {
                return Some(match holds {
                    None => format!(
                        "it says `{verdict}`, and in `invariants` nothing about whether `{}` holds",
                        invariant.id
                    ),
                    Some(_) => format!(
                        "it says `{verdict}`, and that `{}` does not hold: that is a `fail`",
                        invariant.id
                    ),
                });
            }
            let evidence = own.and_then(|item| item.facts.get("evidence"));
            if !matches!(evidence, Some(Value::Text(text)) if !text.trim().is_empty()) {
                return Some(format!(
                    "it says `{verdict}`, and in `invariants` no `evidence` that `{}` holds",
                    invariant.id
                ));
            }
        }
        None
    }
}

fn numbered(check: &str, subsystem: &str, at: usize) -> String {
    if at == 0 {
        format!("{check}: {subsystem}")
    } else {
        format!("{check}: {subsystem} ({})", at + 1)
    }
}

/// A plan is of use if each group says what it changes, and where. Paths are brought into their plain form.
/// Names are held to the rule that changes are held to in the end, so that no work is done which could not be kept.
fn planned(said: Said<'_>, apart: &[String]) -> Option<String> {
    let Some(groups) = said.lists.get_mut("groups").filter(|it| !it.is_empty()) else {
        return Some("it says `planned`, and has no `groups`".to_owned());
    };
    for group in groups {
        if group.files.is_empty() {
            return Some(format!(
                "the group `{}` names no `files`: nothing could be changed",
                group.id
            ));
        }
        if group.files.len() > FILES_MAX {
            return Some(format!("the group `{}` names more than {FILES_MAX} files", group.id));
        }
        let mut files = Vec::new();
        for file in &group.files {
            let plain = file.trim().trim_start_matches("./").trim_end_matches('/');
            let wide = plain.is_empty() || plain.split('/').all(|part| part.contains('*'));
            if let Err(bad) = Below::parse(plain) {
                return Some(format!("the group `{}` names what is no path here: {bad}", group.id));
            }
            if let Err(why) = Walked::planned(plain, apart) {
                return Some(format!(
                    "the group `{}` names `{file}`, and no change there is taken: {why}",
                    group.id
                ));
            }
            if wide || NOBODYS.iter().any(|own| reaches(plain, own)) {
                return Some(format!(
                    "the group `{}` names `{file}`, which is not to be changed by an issue",
                    group.id
                ));
            }
            files.push(plain.into());
        }
        group.files = files;
    }
    None
}

/// Whether a path or a pattern that a plan names may mean what is nobody's, or something below it.
fn reaches(plain: &str, own: &str) -> bool {
    let theirs = plain == own || plain.starts_with(&format!("{own}/"));
    let first = plain.split('/').next().unwrap_or_default();
    let covers = |it: &str| Below::parse(own).is_ok_and(|own| Scope::of(it).covers(&own));
    theirs || covers(plain) || covers(first)
}

/// How far an issue, or a group of it, reaches: by what was planned and by what was changed.
pub fn radius(session: &Session, unit: &str, child: Option<&str>) -> Radius {
    let none = Tale::default();
    let tale = session.tales.get(unit).unwrap_or(&none);
    let of = |group: &Group| -> Vec<String> {
        group.files.iter().chain(&group.changed).cloned().collect()
    };
    let files: Vec<String> = match child {
        Some(child) => session.group(unit, child).map(|(_, group)| of(group)).unwrap_or_default(),
        None => tale.groups.iter().flat_map(of).chain(tale.fixed.iter().cloned()).collect(),
    };
    session.specs.radius(files.iter().map(String::as_str))
}

/// How many invariants of a group, or of all, hold, and how many there are.
pub fn invariants_held(session: &Session, unit: &str, child: Option<&str>) -> (usize, usize) {
    let none = Tale::default();
    let tale = session.tales.get(unit).unwrap_or(&none);
    let radius = radius(session, unit, child);
    let all = session.specs.invariants(&radius);
    let group = child.and_then(|child| session.group(unit, child)).map(|(_, group)| group);
    let holds = |id: &str, subsystem: &str, by_command: bool| match (by_command, group) {
        (true, group) => {
            let name = format!("invariants: {id} ({subsystem})");
            let checks = group.map_or(&tale.whole, |group| &group.checks);
            checks.get(&name) == Some(&windlass_engine::entry::Check::Pass)
        }
        (false, Some(group)) => group.held.get(id).is_some_and(|it| it.holds),
        (false, None) => {
            let review = tale.review.as_ref();
            review.and_then(|review| review.held.get(id)).is_some_and(|it| it.holds)
        }
    };
    let held =
        all.iter().filter(|(subsystem, it)| holds(&it.id, &subsystem.name, it.command.is_some()));
    (held.count(), all.len())
}

/// Who has really made a change, as git has co-authors.
fn co_author(agent: &str, model: Option<&str>) -> String {
    let name = match model {
        Some(model) => format!("{agent} ({model})"),
        None => agent.to_owned(),
    };
    let known = format!("{agent} {}", model.unwrap_or_default()).to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| known.contains(word));
    let host = if has(&["claude", "opus", "sonnet", "haiku"]) {
        "anthropic.com"
    } else if has(&["codex", "gpt"]) {
        "openai.com"
    } else if has(&["gemini"]) {
        "google.com"
    } else {
        "windlass.invalid"
    };
    let name = name.replace(['<', '>'], "");
    format!("{name} <noreply@{host}>")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use windlass_core::run::Item;

    use super::*;

    fn plan(files: &[&str]) -> (Option<String>, Vec<String>) {
        let files = files.iter().map(|&file| file.into()).collect();
        let group = Item { id: "g1".into(), files, ..Item::default() };
        let mut lists = BTreeMap::from([("groups".to_owned(), vec![group])]);
        let mut facts = BTreeMap::new();
        let said =
            Said { attempt: 1, text: "", facts: &mut facts, lists: &mut lists, instead: &mut None };
        let why = planned(said, &[".harness".to_owned()]);
        (why, lists["groups"][0].files.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_plan_names_what_it_changes_and_nothing_that_is_nobodys() {
        let (why, files) = plan(&["./src/a.rs", "docs/", " b.md "]);
        assert_eq!((why, files), (None, vec!["src/a.rs".into(), "docs".into(), "b.md".into()]));
        for bad in [
            &[][..],
            &["../x"],
            &["/etc/passwd"],
            &[".git/config"],
            &[".git"],
            &["windlass.toml"],
            &[".windlass/roles/x.md"],
            &[".harness/features.json"],
            &["**"],
            &["*"],
            &["."],
            &[""],
            &["?indlass.toml"],
            &["?????????????"],
            &["windlass.*"],
            &[".w*/roles/x.md"],
            &["*/roles/x.md"],
            &["**/x.md"],
            &[".claude/harness-*"],
        ] {
            assert!(plan(bad).0.is_some(), "{bad:?}");
        }
        assert_eq!(plan(&["src/**/*.rs", ".github/a.yml"]).0, None);
    }

    #[test]
    fn a_plan_names_nothing_that_no_change_could_be_taken_at() {
        for bad in
            ["src/a:b.rs", "src/\"a\"", "a<b", "a>b", "a|b", "src/v1.", "src/v1. /x", "x/.GIT/y"]
        {
            let why = plan(&["src/fine.rs", bad]).0.expect(bad);
            assert!(why.contains(&format!("the group `g1` names `{bad}`")), "{why}");
        }
        let why = plan(&["src/a:b.rs"]).0.unwrap();
        assert!(why.contains("no name on every platform"), "{why}");
        assert_eq!(plan(&["src/aux.rs", "src/v?.rs"]).0, None);
    }

    #[test]
    fn the_co_author_is_who_did_it() {
        for (agent, model, is) in [
            ("claude", Some("claude-opus-4-6"), "claude (claude-opus-4-6) <noreply@anthropic.com>"),
            ("mine", Some("gpt-x"), "mine (gpt-x) <noreply@openai.com>"),
            ("acted", None, "acted <noreply@windlass.invalid>"),
            ("a<b>", None, "ab <noreply@windlass.invalid>"),
        ] {
            assert_eq!(co_author(agent, model), is);
        }
    }
}
