//! What an agent leaves behind besides its work: the papers that it was to write, and those that it was not.

use std::collections::BTreeMap;
use std::path::Path;

use windlass_agents::Came;

use super::{Visit, reopened};
use crate::effect::kept::Kept;
use crate::message::{Paper, Trouble};
use crate::papers;

impl Visit<'_> {
    /// Where the session's papers are in the lane.
    pub(super) fn places(&self) -> Vec<String> {
        let promised = self.writes.iter().map(|(_, path)| path.clone());
        self.shop.clerk.apart().into_iter().chain(promised).collect()
    }

    /// An answer with the papers that came with it. A promise that was not kept is a failure, whatever the role says.
    pub(super) fn gathered(&self, mut kept: Kept) -> Result<Kept, Trouble> {
        let places = self.places();
        kept.remarks.extend(reopened(&self.shop.store.reopen(self.lane, &places)));
        let mut found = papers::gather(&self.lane.work, &places)?;
        kept.remarks.extend(found.remarks);
        kept.remarks.extend(self.sorted_out(&mut found.papers)?);
        if matches!(kept.came, Came::Verdict(_)) {
            let missing = self.writes.iter().filter(|(_, path)| {
                found.papers.get(path).is_none_or(|bytes| bytes.trim_ascii().is_empty())
            });
            let missing: Vec<String> = missing.map(|(_, path)| path.clone()).collect();
            if !missing.is_empty() {
                kept.remarks.push(format!("it did not write {}, as it should", missing.join(", ")));
                kept.came = Came::NoOutput;
            }
        }
        if let Came::Verdict(verdict) = &kept.came
            && let Some(why) =
                self.shop.clerk.contradicts(verdict, &found.papers, &self.job.situation())
        {
            kept.remarks.push(why);
            kept.came = Came::Unknown;
        }
        let mask = &self.shop.setup.mask;
        kept.papers =
            found.papers.into_iter().map(|(path, bytes)| (path, mask.bytes(bytes))).collect();
        Ok(kept)
    }

    /// Leaves out the papers that were not its to write: what is remarked of them.
    fn sorted_out(
        &self,
        papers: &mut BTreeMap<String, Vec<u8>>,
    ) -> Result<Option<String>, Trouble> {
        let (clerk, mut others) = (&self.shop.clerk, Vec::new());
        let shown = clerk.papers_for(&self.job.situation());
        papers.retain(|path, bytes| {
            let own = clerk.keeps(path, &self.writes);
            if !own && shown.get(path).is_none_or(|it| **it != **bytes) {
                others.push((path.clone(), std::mem::take(bytes)));
            }
            own
        });
        let held = self.job.held.as_ref().unwrap_or(self.base);
        let mut written = Vec::new();
        for (path, bytes) in others {
            // What the project tracks was there before.
            if self.shop.store.file_at(held, Path::new(&path))?.is_none_or(|own| own != bytes) {
                written.push(path);
            }
        }
        let what = "it wrote what is not its to write, and that is not kept";
        Ok((!written.is_empty()).then(|| format!("{what}: {}", written.join(", "))))
    }

    /// The papers that are new, or not as they were.
    pub(super) fn papers(&self, kept: &Kept) -> Paper {
        let known = self.shop.clerk.papers();
        let mut paper = Paper::default();
        for (path, bytes) in &kept.papers {
            if known.get(path).is_none_or(|own| **own != **bytes) {
                paper.page(self.job.id, path.clone(), bytes.clone());
            }
        }
        paper
    }
}
