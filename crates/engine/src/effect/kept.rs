//! What an agent said, kept on a desk until the journal has it.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::mem::take;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_agents::{Came, ModelUse};
use windlass_core::run::{EffectId, Ended, Item, Usage};
use windlass_core::value::Value;
use windlass_core::workflow::Mishap;
use windlass_journal::BlobId;

use super::heard::HeardOf;
use crate::message::{Paper, Trouble};

/// What was heard, on disk: complete before anybody acts on it, so that an agent whose answer is there is not paid
/// twice.
#[derive(Serialize, Deserialize)]
pub(super) struct Kept {
    /// The time between two starts of the machine in which it was given.
    boot: String,
    /// Who gave it.
    pub agent: String,
    /// What they were asked.
    pub prompt: String,
    pub came: Came,
    pub facts: BTreeMap<String, Value>,
    pub lists: BTreeMap<String, Vec<Item>>,
    pub usage: Usage,
    pub remarks: Vec<String>,
    /// What it used of each model.
    #[serde(default)]
    pub models: Vec<ModelUse>,
    /// What others see of it, if that is not the stream as it is.
    #[serde(default)]
    pub text: Option<String>,
    pub ended: String,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// The session's papers, by path.
    pub papers: BTreeMap<String, Vec<u8>>,
}

/// A provider that does not say until when it serves nobody is asked again after this long.
const LIMITED_MS: i64 = 15 * 60_000;
/// One that could not serve just now, after this long.
const OVERLOADED_MS: i64 = 2 * 60_000;

/// What was asked and what came back, by digest.
pub(super) struct Filed {
    pub prompt: String,
    pub stdout: String,
    pub stderr: String,
    pub text: Option<String>,
}

impl Kept {
    pub fn of(heard: HeardOf, agent: &str, prompt: String) -> Self {
        Kept {
            boot: boot(),
            agent: agent.to_owned(),
            prompt,
            came: heard.answer.came,
            facts: heard.answer.facts,
            lists: heard.answer.lists,
            usage: heard.answer.usage,
            remarks: heard.answer.remarks,
            models: heard.models,
            text: heard.answer.text,
            ended: heard.ended,
            stdout: heard.stdout,
            stderr: heard.stderr,
            papers: Default::default(),
        }
    }

    /// What it came to, for the core. What only time mends is tried again later, at nobody's cost.
    pub fn ended(&self, now_wall_ms: i64) -> Ended {
        let later = |wait_ms: i64| Ended::Limited(now_wall_ms.saturating_add(wait_ms));
        match &self.came {
            Came::Verdict(word) => Ended::Verdict(word.as_str().into()),
            Came::Limited(Some(until)) => Ended::Limited(*until),
            Came::Limited(None) => later(LIMITED_MS),
            Came::Overloaded => later(OVERLOADED_MS),
            other => Ended::Mishap(other.mishap().unwrap_or(Mishap::Unknown)),
        }
    }

    /// Files what was asked and what came back with what goes on record.
    pub fn file(&mut self, paper: &mut Paper) -> Filed {
        Filed {
            prompt: paper.keep(take(&mut self.prompt)),
            stdout: paper.keep(take(&mut self.stdout)),
            stderr: paper.keep(take(&mut self.stderr)),
            text: self.text.take().map(|text| paper.keep(text)),
        }
    }

    /// On a desk, over what lay there before: a checksum tells whether it is whole. It is not flushed: what a power
    /// loss takes away is asked for again, and the journal, which is flushed, has it in a moment.
    pub fn write(&self, desk: &Path, effect: EffectId) -> Result<(), Trouble> {
        let bytes = rmp_serde::to_vec_named(&(effect, self))
            .map_err(|_| Trouble::defect("an answer that cannot be kept"))?;
        let mut page = (bytes.len() as u64).to_le_bytes().to_vec();
        page.extend(BlobId::of(&bytes).to_string().into_bytes());
        page.extend(bytes);
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(desk)
            .and_then(|file| file.write_all_at(&page, 0))
            .map_err(|error| Trouble::io("write", desk, &error))
    }

    /// What lies on a desk, if it is whole.
    fn read(desk: &Path) -> Option<(EffectId, Self)> {
        let page = fs::read(desk).ok()?;
        let (len, rest) = page.split_first_chunk::<8>()?;
        let digest_len = BlobId::of(&[]).to_string().len();
        let (digest, rest) = rest.split_at_checked(digest_len)?;
        let bytes = rest.get(..usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        if digest != BlobId::of(bytes).to_string().as_bytes() {
            return None;
        }
        rmp_serde::from_slice(bytes).ok()
    }

    /// The answer to an effect, if it is on any desk.
    pub fn find(desks: &Path, effect: EffectId) -> Option<Self> {
        let entries = fs::read_dir(desks).ok()?.flatten();
        let mut answers = entries.filter_map(|entry| Kept::read(&entry.path()));
        let (_, kept) = answers.find(|(own, _)| *own == effect)?;
        // Where the machine itself went down, the answer may be there and what the agent did may not.
        (kept.boot == boot()).then_some(kept)
    }
}

/// Marks quarters with the agent that they are for, the session that it begins there, the lane that it works in, and the
/// time between two starts of the machine that they are from.
pub(super) fn mark(
    quarters: &Path,
    agent: &str,
    session: &str,
    lane: &Path,
) -> Result<(), Trouble> {
    let lane = lane.display().to_string();
    for (name, text) in [("agent", agent), ("session", session), ("lane", &lane), ("boot", &boot())]
    {
        let path = quarters.join(name);
        fs::write(&path, text).map_err(|error| Trouble::io("write", &path, &error))?;
    }
    Ok(())
}

/// The agent that quarters are for.
pub(super) fn occupant(quarters: &Path) -> Option<String> {
    marked(quarters, "agent")
}

/// The session that was begun in quarters.
pub(super) fn session(quarters: &Path) -> Option<String> {
    marked(quarters, "session")
}

/// Whether they are for whoever works in this lane.
pub(super) fn is_of_lane(quarters: &Path, lane: &Path) -> bool {
    marked(quarters, "lane").is_some_and(|own| *own == *lane.display().to_string())
}

fn marked(quarters: &Path, name: &str) -> Option<String> {
    fs::read_to_string(quarters.join(name)).ok().filter(|text| !text.is_empty())
}

/// Notes in quarters what an invocation there has used up.
pub(super) fn uses(quarters: &Path, effect: EffectId, usage: Usage) -> Result<(), Trouble> {
    let path = quarters.join(format!("{USED}{}", effect.0));
    let text = serde_json::to_vec(&usage)
        .map_err(|_| Trouble::defect("a usage that cannot be written"))?;
    fs::write(&path, text).map_err(|error| Trouble::io("write", &path, &error))
}

/// What the invocations that were in quarters have used up together; unknown, if that of any is.
pub(super) fn used(quarters: &Path) -> Usage {
    let entries = fs::read_dir(quarters).into_iter().flatten().flatten();
    let files = entries.filter(|it| it.file_name().to_string_lossy().starts_with(USED));
    let read = |path: PathBuf| serde_json::from_slice(&fs::read(path).ok()?).ok();
    let usages = files.map(|entry| read(entry.path()).unwrap_or(Usage::UNKNOWN));
    usages.fold(Usage::NONE, super::heard::plus)
}

/// What the files are called that say so.
const USED: &str = "used-";

/// Whether quarters are from the same time.
pub(super) fn same_boot(quarters: &Path) -> bool {
    fs::read_to_string(quarters.join("boot")).is_ok_and(|own| own == boot())
}

/// How far an agent has come, by its own names for that: noted in its quarters as soon as it is heard. Of an agent that
/// is cut off nothing else is left that says what it has done but not yet written down itself.
pub(super) struct Steps {
    path: PathBuf,
    file: Option<File>,
}

impl Steps {
    /// In quarters, after those that are there already.
    pub fn of(quarters: &Path) -> Result<Self, Trouble> {
        let path = quarters.join("steps");
        let file = OpenOptions::new().append(true).create(true).open(&path);
        let file = file.map_err(|error| Trouble::io("open", &path, &error))?;
        Ok(Steps { path, file: Some(file) })
    }

    /// One more. Where it cannot be noted, nobody goes on from there.
    pub fn take(&mut self, step: &str) {
        let line = format!("{}\n", step.replace('\n', " "));
        let Some(file) = &mut self.file else { return };
        if file.write_all(line.as_bytes()).is_err() {
            self.file = None;
            let _ = fs::remove_file(&self.path);
        }
    }

    /// Those that were noted, if that was done at all.
    pub fn taken(quarters: &Path) -> Option<Vec<String>> {
        let steps = fs::read_to_string(quarters.join("steps")).ok()?;
        Some(steps.lines().map(str::to_owned).collect())
    }
}

/// What tells one start of the machine from the next. Nothing, where nobody can tell: then no answer is taken.
fn boot() -> String {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    if id.is_empty() { format!("process {}", std::process::id()) } else { id }
}

#[cfg(test)]
mod tests {
    use super::super::heard::tests::a_stream;
    use super::*;

    #[test]
    fn a_stream_goes_on_record_with_the_text_that_others_see() {
        let dir = tempfile::tempdir().unwrap();
        let heard = a_stream();
        let (said, stream) = (heard.said().into_owned(), heard.stdout.clone());
        let kept = Kept::of(heard, "somebody", "do it".into());
        kept.write(&dir.path().join("0"), EffectId(1)).unwrap();
        let mut paper = Paper::default();
        let filed = Kept::find(dir.path(), EffectId(1)).unwrap().file(&mut paper);
        let digest = |bytes: &[u8]| BlobId::of(bytes).to_string();
        assert_ne!(said.as_bytes(), stream);
        assert_eq!((filed.stdout, filed.text), (digest(&stream), Some(digest(said.as_bytes()))));
        assert_eq!(paper.parts().1.filter(|blob| *blob == said.as_bytes()).count(), 1);
    }

    fn kept(said: &str) -> Kept {
        Kept {
            boot: boot(),
            agent: "somebody".into(),
            prompt: "do it".into(),
            came: Came::Verdict("done".into()),
            facts: Default::default(),
            lists: Default::default(),
            usage: Usage::NONE,
            remarks: Vec::new(),
            models: Vec::new(),
            text: None,
            ended: "exited with 0".into(),
            stdout: said.into(),
            stderr: Vec::new(),
            papers: Default::default(),
        }
    }

    #[test]
    fn an_answer_is_found_whole_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let desk = dir.path().join("0");
        let found = |effect| Kept::find(dir.path(), EffectId(effect)).map(|kept| kept.stdout);
        kept("a long answer, longer than the next").write(&desk, EffectId(1)).unwrap();
        assert_eq!(found(1).unwrap(), b"a long answer, longer than the next");
        Kept { boot: "another".into(), ..kept("x") }.write(&desk, EffectId(1)).unwrap();
        assert_eq!(found(1), None, "the machine was switched off in between");
        assert_eq!(found(2), None);
        kept("short").write(&desk, EffectId(2)).unwrap();
        assert_eq!((found(1), found(2).unwrap()), (None, b"short".to_vec()));
        // Cut off in the middle of the next one, whatever was there is gone, and nothing else is taken for it.
        let page = fs::read(&desk).unwrap();
        for cut in [0, 7, 8, 40, page.len() - 40] {
            let mut torn = page.clone();
            torn[cut] ^= 1;
            fs::write(&desk, torn).unwrap();
            assert_eq!((found(1), found(2)), (None, None), "byte {cut}");
        }
        fs::write(&desk, &page[..60]).unwrap();
        assert_eq!(found(2), None);
    }

    #[test]
    fn how_far_an_agent_has_come_is_known_or_nobody_says_so() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Steps::taken(dir.path()), None);
        Steps::of(dir.path()).unwrap().take("one");
        let mut steps = Steps::of(dir.path()).unwrap();
        steps.take("two\nlines");
        assert_eq!(Steps::taken(dir.path()).unwrap(), ["one", "two lines"]);
        steps.file = Some(File::open(&steps.path).unwrap());
        steps.take("three, which cannot be written");
        assert_eq!(Steps::taken(dir.path()), None);
    }

    #[test]
    fn what_only_time_mends_is_a_matter_of_waiting() {
        let ended = |came| Kept { came, ..kept("x") }.ended(1_000);
        assert_eq!(ended(Came::Verdict("done".into())), Ended::Verdict("done".into()));
        assert_eq!(ended(Came::Limited(Some(77))), Ended::Limited(77));
        assert_eq!(ended(Came::Limited(None)), Ended::Limited(1_000 + 900_000));
        assert_eq!(ended(Came::Overloaded), Ended::Limited(1_000 + 120_000));
        assert_eq!(ended(Came::Refused), Ended::Mishap(Mishap::Crashed));
        assert_eq!(ended(Came::Exhausted), Ended::Mishap(Mishap::CutShort));
        assert_eq!(ended(Came::ContextFull), Ended::Mishap(Mishap::ContextFull));
    }
}
