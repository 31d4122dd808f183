//! What is cleaned up, and what never is: only files that are as we wrote them go. What somebody else has written, or has
//! changed since, stays where it is, and is named.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_engine::clerk::Told;
use windlass_engine::message::Trouble;
use windlass_engine::shop::lock;
use windlass_process::beneath::is_half_written;
use windlass_sources::task::{self as format, For};

use super::Task;
use crate::memory::Files;

/// What of `.harness/` a session of task owns. Learnings, sessions and memory of others are not here.
const OWN: [&str; 6] = [
    ".harness/state.json",
    ".harness/conventions.md",
    ".harness/planner",
    ".harness/generator",
    ".harness/verify",
    ".harness/autofix_pre_apply",
];

/// Under this name the journal keeps which files the output base held when somebody was asked about it.
const LISTED: &str = "windlass/listed";

/// Where a team's knowledge is, below the output base.
const MEMORY: &str = "memory";

/// What a write that was cut off has left there: nobody's but ours.
fn is_cut_off(path: &str) -> bool {
    Path::new(path).file_name().and_then(|name| name.to_str()).is_some_and(is_half_written)
}

impl Task {
    /// The session's own files that are there.
    fn own_files(&self) -> Vec<String> {
        let files = OWN.iter().flat_map(|path| {
            let below = self.files.below(path);
            let itself = self.files.root().join(path).is_file().then(|| (*path).to_owned());
            below.into_iter().chain(itself)
        });
        let beside = self.files.below(format::HARNESS).into_iter().filter(|path| {
            is_cut_off(path) && Path::new(path).parent() == Some(Path::new(format::HARNESS))
        });
        files.chain(beside).collect()
    }

    /// Takes the files of a session away that somebody left, now that a person wants that. All of them are kept, as they
    /// are, where we remember things, before the first one goes.
    pub(super) fn clear_earlier(&self) -> Result<String, Trouble> {
        let kept = Files::of(self.cleared.clone());
        let gone = self.own_files();
        std::fs::create_dir_all(kept.root())
            .map_err(|error| Trouble::io("make", kept.root(), &error))?;
        for path in &gone {
            // Of one that is gone already the copy is there.
            if let Some(bytes) = self.files.bytes(path)? {
                kept.write_bytes(path, &bytes)?;
            }
        }
        for path in &gone {
            self.files.remove(path)?;
        }
        self.remove_own_directories();
        if kept.below(format::HARNESS).is_empty() {
            return Ok(String::new());
        }
        let path = kept.root().display().to_string();
        Ok(self.words().say("taskline-cleared", &[("path", &path)]))
    }

    /// Directories of the session that hold nothing any more.
    fn remove_own_directories(&self) {
        for path in OWN {
            self.files.remove_empty(path);
        }
        // Whatever is not empty stays.
        let _ = std::fs::remove_dir(self.files.root().join(format::HARNESS));
    }

    /// Removes what we wrote below `.harness/`.
    pub(super) fn clean_session(&self) -> Result<String, Trouble> {
        // Nothing is written again while this goes on, and nothing after it.
        *lock(&self.clearing) = true;
        let left = self.remove_ours(self.own_files())?;
        self.remove_own_directories();
        Ok(self.left_alone(&left))
    }

    /// Removes the papers, behind the seed's guard. What landed is in the history, and what is not as we know it stays.
    pub(super) fn clean_artifacts(&self) -> Result<String, Trouble> {
        let docs = self.docs();
        let words = self.words();
        if let Some(why) = self.guarded(&docs) {
            return Ok(words.say("taskline-guard", &[("path", &docs), ("why", &why)]));
        }
        *lock(&self.clearing) = true;
        let place = docs.trim_end_matches('/');
        let mut theirs = Vec::new();
        let mut ours = Vec::new();
        for path in self.files.below(place) {
            let there = self.files.bytes(&path)?;
            let known = self.session().papers.get(&path).map(|bytes| bytes.to_vec());
            let landed = self.session().landed.is_some();
            let kept = ["qa_notes.md", "critic_findings.md", "conventions.md"];
            match path.strip_prefix(&docs) {
                // It is in the commit, as it is here.
                Some(name)
                    if kept.contains(&name) && landed && known.is_some() && known == there =>
                {
                    theirs.push(path);
                }
                _ => ours.push(path),
            }
        }
        let mut left = self.remove_ours(ours)?;
        for path in theirs {
            if self.was_left_out(&path) || self.is_tracked(&path) {
                left.push(path);
            } else {
                self.files.remove(&path)?;
            }
        }
        self.files.remove_empty(place);
        for above in Path::new(place).ancestors().skip(1).filter_map(|it| it.to_str()) {
            if !above.is_empty() && self.files.below(above).is_empty() {
                self.files.remove_empty(above);
            }
        }
        let gone = words.say("taskline-artifacts-gone", &[("path", &docs)]);
        let left = self.left_alone(&left);
        Ok(if left.is_empty() { gone } else { format!("{gone}\n{left}") })
    }

    /// Whether a file is in the person's index: then it is not ours to remove, whoever wrote it.
    fn is_tracked(&self, path: &str) -> bool {
        self.project.as_ref().is_some_and(|project| (project.tracks.0)(path))
    }

    /// Whether a paper that was to land did not.
    fn was_left_out(&self, path: &str) -> bool {
        self.session().not_landed.contains(path)
    }

    /// Removes those files that are as we wrote them; the others are returned.
    fn remove_ours(&self, paths: Vec<String>) -> Result<Vec<String>, Trouble> {
        let mut left = Vec::new();
        let mut projection = lock(&self.projection);
        for path in paths {
            if self.is_tracked(&path) {
                left.push(path);
            } else if is_cut_off(&path) {
                self.files.remove(&path)?;
            } else if !projection.remove(&path)? {
                left.push(path);
            }
        }
        Ok(left)
    }

    fn left_alone(&self, left: &[String]) -> String {
        match left.is_empty() {
            true => String::new(),
            false => self.words().say("taskline-left-alone", &[("files", &left.join(", "))]),
        }
    }

    /// Why nothing may be removed there, if nothing may.
    fn guarded(&self, docs: &str) -> Option<String> {
        let place = docs.trim_end_matches('/');
        let slug = place.rsplit('/').next().unwrap_or_default();
        if slug.trim().is_empty() || slug == "." || slug == ".." || slug == MEMORY {
            return Some(format!("`{slug}` is no name of a task"));
        }
        if !place.contains('/') {
            return Some("it is not one level below an output directory".to_owned());
        }
        if let Err(refused) = For::Output.take(place) {
            return Some(refused.to_string());
        }
        (!self.is_inside(place)).then(|| "a link leads out of the directory".to_owned())
    }

    /// What the output base holds, before anybody decides whether it goes. Just that goes, and nothing that comes later.
    pub(super) fn listing(&self) -> Told {
        let base = self.output_base();
        let listed = self.files.below(&base);
        let papers = [(LISTED.to_owned(), listed.join("\n"))].into();
        Told { text: self.listed(&listed), papers, ..Told::default() }
    }

    /// A list of files for people: how many there are in each directory.
    pub(super) fn listed(&self, files: &[String]) -> String {
        let words = self.words();
        let base = self.output_base();
        let mut text = words.say("taskline-output-base", &[("path", &base)]);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for path in files {
            let below = path.strip_prefix(&format!("{base}/")).unwrap_or(path);
            let part = below.split_once('/').map_or("", |(part, _)| part);
            *counts.entry(part.to_owned()).or_default() += 1;
        }
        for (name, count) in &counts {
            let (name, count) = (format!("{base}/{name}"), count.to_string());
            let line = words.say("taskline-output-row", &[("name", &name), ("count", &count)]);
            text.push_str(&format!("\n  {line}"));
        }
        if counts.contains_key(MEMORY) {
            text.push_str(&format!("\n{}", words.say("taskline-memory", &[])));
        }
        text
    }

    /// The files that were listed.
    pub(super) fn on_the_list(&self) -> Vec<String> {
        let listed = self.session().paper(LISTED).unwrap_or_default();
        listed.lines().map(str::to_owned).collect()
    }

    /// Where the papers of all tasks go.
    fn output_base(&self) -> String {
        self.inputs.output_dir.trim_end_matches('/').to_owned()
    }

    /// Removes the whole output base: somebody has said yes to exactly that.
    pub(super) fn remove_output_base(&self) -> Result<String, Trouble> {
        let base = self.output_base();
        let words = self.words();
        let refused = For::Output.take(&base).err().map(|refused| refused.to_string());
        let refused = refused.or_else(|| {
            (!self.is_inside(&base)).then(|| "a link leads out of the directory".to_owned())
        });
        if let Some(why) = refused {
            return Ok(words.say("taskline-guard", &[("path", &base), ("why", &why)]));
        }
        for path in self.on_the_list() {
            // What is listed is below it, whoever wrote the list down.
            if path.starts_with(&format!("{base}/"))
                && self.is_inside(&path)
                && !self.is_tracked(&path)
            {
                self.files.remove(&path)?;
            }
        }
        self.files.remove_empty(&base);
        Ok(words.say("taskline-artifacts-gone", &[("path", &format!("{base}/"))]))
    }
}
