//! The queue's file as a person has it, where it is not as we wrote it: what of it comes too late, and what is said when nobody
//! reads it any more.

use windlass_engine::message::Trouble;
use windlass_sources::features::{self, Queue, Status};

use super::session::Session;
use super::tell::ESCALATION;
use super::{Mission, held, lock};

/// Where it stands what has become of each feature, while the queue's file is such that nobody can write it there.
const STANDING: &str = ".harness/mission/features.json";

/// So many features are named whose edits come too late.
const NAMED: usize = 20;

impl Mission {
    /// Nobody looks at the queue's file any more for now: what has become of the features is in it, or else where that is.
    pub(super) fn lets_go(&self) {
        self.session().dirty = true;
        self.project_files(true);
        let Some(why) = self.unusable() else {
            if let Err(trouble) = lock(&self.projection).remove(STANDING) {
                self.warns(trouble.to_string());
            }
            return;
        };
        let queue = self.session().whole();
        let put = lock(&self.projection).put(STANDING, &queue.write());
        self.put(STANDING, put);
        self.warns(format!(
            "{why}. {} stays as you have it, so it does not say what has become of the features: {STANDING} does. Mend yours, or \
             copy that one over it; until then it counts as it was read last, and no mission begins with it",
            features::PATH
        ));
    }

    /// The mission is over. What a person has changed in the queue since it was read last stays, and what has become of the
    /// features is put beside it.
    pub(super) fn hands_over(&self) {
        self.lets_go();
        let _held = super::hold(&self.queue_lock);
        // It stays theirs: nothing of it is on record, so nobody may write over it.
        let mut changed = false;
        let put = self.files.revise(features::PATH, features::BYTES_MAX, |text| {
            let theirs = |text: &&str| !lock(&self.projection).is_ours(features::PATH, text);
            let Some(text) = text.filter(theirs) else { return Ok::<_, Trouble>(None) };
            let queue = Queue::read(text).ok().filter(|queue| queue.flaws().is_empty());
            changed = queue.is_some();
            Ok(queue.map(|queue| self.session().beside(queue).write()))
        });
        match put {
            Ok(_) if changed => self.says(format!(
                "you have changed {} since it was read last: that counts from the next `windlass mission` on",
                features::PATH
            )),
            Ok(_) => {}
            Err(trouble) => self.warns(trouble.to_string()),
        }
    }

    /// Nothing goes on by itself any more: what a person has to decide is where they look for it. Once that is decided, it is not.
    pub(super) fn names_what_is_held(&self) {
        let Some(text) = held::told(&self.session()) else {
            let there = self.files.text(ESCALATION).ok().flatten();
            if there.is_some_and(|there| there.starts_with(held::BEGINS)) {
                self.is_settled();
            }
            return;
        };
        let put = lock(&self.projection).put(ESCALATION, &text);
        self.put(ESCALATION, put);
        let words = lock(&self.spoken).words();
        self.says(words.say("missionline-held", &[("path", ESCALATION)]));
    }

    /// What an escalation was about is done: nobody has to decide it any more. What a person has made of the file stays.
    pub(super) fn is_settled(&self) {
        if let Err(trouble) = lock(&self.projection).remove(ESCALATION) {
            self.warns(trouble.to_string());
        }
    }

    /// Why the queue's file cannot be worked on as a person has it, if it cannot.
    fn unusable(&self) -> Option<String> {
        let text = match self.foreign_queue() {
            Ok(text) => text?,
            Err(error) => return Some(error.to_string()),
        };
        match Queue::read(&text) {
            Ok(queue) => Some(format!("{}: {}", features::PATH, queue.flaws().first()?)),
            Err(error) => Some(error.to_string()),
        }
    }

    /// What a person should know of edits that come too late: who is under way goes on, and what has landed stays.
    pub(super) fn too_late(&self, queue: &Queue) -> Vec<String> {
        let session = self.session();
        let mut late: Vec<String> = Vec::new();
        for (id, progress) in &session.progress {
            let theirs = queue.feature(id);
            let skip = || format!("`windlass skip {id} --reason …` gives it up");
            match (&progress.status, theirs.map(|it| &it.status)) {
                (Status::InProgress | Status::Validating, None) if session.is_planned(id) => {
                    late.push(format!(
                        "{id} is not in {} any more, and it is under way: it goes on; {}",
                        features::PATH,
                        skip()
                    ));
                }
                (Status::InProgress | Status::Validating, Some(Status::Skipped)) => {
                    late.push(format!(
                        "{id} was set to `skipped`, and it is under way: it goes on; {}",
                        skip()
                    ))
                }
                (Status::InProgress | Status::Validating, Some(Status::Passed)) => {
                    late.push(format!(
                        "{id} was set to `passed`, and it is under way: it goes on; {}",
                        skip()
                    ))
                }
                (Status::Passed, Some(Status::Skipped)) => {
                    let back = progress.commit.as_ref().map_or(String::new(), |commit| {
                        format!(": `git revert -m 1 {commit}` takes it back")
                    });
                    late.push(format!(
                        "{id} was set to `skipped`, and it has landed already{back}"
                    ));
                }
                _ => {}
            }
        }
        let more = late.len().saturating_sub(NAMED);
        late.truncate(NAMED);
        if more > 0 {
            late.push(format!("… and {more} more that come too late"));
        }
        late
    }
}

impl Session {
    /// A queue as a person has it, with what has become of its features: what they have settled otherwise stays so, as does
    /// what they want to be tried again, and what was found meanwhile is added.
    fn beside(&self, theirs: Queue) -> Queue {
        let kept: Vec<(String, Status, Option<String>)> = theirs
            .features
            .iter()
            .filter(|it| it.status.is_settled() || self.is_to_be_tried_again(it))
            .map(|it| (it.id.clone(), it.status.clone(), it.reason.clone()))
            .collect();
        let mut queue = theirs;
        let found = self.fixes.iter().filter(|fix| !self.is_planned(&fix.id));
        let found: Vec<_> = found.filter(|fix| queue.feature(&fix.id).is_none()).cloned().collect();
        queue.features.extend(found);
        let mut queue = queue.with(&self.progress);
        for (id, status, reason) in kept {
            let at = queue.features.iter_mut().find(|it| it.id == id);
            if let Some(feature) = at.filter(|it| it.status != Status::Passed) {
                feature.again = status == Status::Pending;
                (feature.status, feature.reason) = (status, reason);
            }
        }
        self.leave_behind(&mut queue);
        queue
    }
}
