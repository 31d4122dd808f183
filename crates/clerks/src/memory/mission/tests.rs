//! Whole journals, as short as they can be.

use std::fs;

use windlass_core::run::{Amount, Ended, Ending, FrameId, Recorded, Stamp};
use windlass_engine::entry::{Invocation, Noted};
use windlass_journal::BlobId;

use super::*;

pub(super) fn asked(role: &str, unit: Option<&str>) -> Invocation {
    Invocation {
        effect: EffectId(1),
        unit: unit.map(str::to_owned),
        task: None,
        stage: "a".into(),
        role: role.into(),
        agent: "script".into(),
        panel: None,
        attempt: 1,
        prompt: String::new(),
    }
}

/// A journal that a test writes, and the place of a run.
struct Story {
    entries: Vec<Entry>,
    blobs: BTreeMap<String, Vec<u8>>,
    kinds: BTreeMap<EffectId, EffectKind>,
    top: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Story {
    fn new() -> Self {
        Story {
            entries: Vec::new(),
            blobs: BTreeMap::new(),
            kinds: BTreeMap::new(),
            top: tempfile::tempdir().unwrap(),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn state(&self, repository: &str) -> PathBuf {
        let state = self.home.path().join("repositories").join(repository);
        fs::create_dir_all(&state).unwrap();
        state
    }

    fn blob(&mut self, text: &str) -> String {
        let digest = BlobId::of(text.as_bytes()).to_string();
        self.blobs.insert(digest.clone(), text.as_bytes().to_vec());
        digest
    }

    fn note(&mut self, note: Note) {
        let wall_ms = i64::try_from(self.entries.len()).unwrap() * 1_000;
        let at = Stamp { mono_ms: 0, wall_ms };
        self.entries.push(Entry::Note(Box::new(Noted { note, at })));
    }

    fn event(&mut self, event: Event) {
        let at = Stamp { mono_ms: 0, wall_ms: 0 };
        self.entries.push(Entry::Event(Box::new(Recorded { seq: 0, at, event })));
    }

    /// A role answers.
    fn says(&mut self, role: &str, unit: Option<&str>, came: &str, said: &str) {
        let stdout = self.blob(said);
        self.note(Note::Answered(Box::new(Answered {
            asked: asked(role, unit),
            came: came.into(),
            ended: String::new(),
            stdout,
            stderr: String::new(),
            text: None,
            limited_until: None,
            models: Vec::new(),
            handed_to: None,
            remarks: Vec::new(),
            commit: None,
            files: Vec::new(),
        })));
    }

    /// A role notes something.
    fn notes(&mut self, role: &str, unit: &str, text: &str) {
        let said = serde_json::json!({ "verdict": "built", "memory": [text] }).to_string();
        self.says(role, Some(unit), "built", &said);
    }

    fn curates(&mut self, proposal: serde_json::Value) {
        let mut proposal = proposal;
        proposal["verdict"] = CURATED.into();
        self.says(CURATOR, None, CURATED, &proposal.to_string());
    }

    /// A paper comes in with an effect.
    fn paper(&mut self, kind: EffectKind, path: &str, text: &str) {
        let effect = EffectId(self.entries.len() as u64);
        self.kinds.insert(effect, kind);
        self.event(Event::Wanted {
            effect,
            frame: FrameId(0),
            slot: 0,
            reserved: Amount::default(),
            deadline_ms: None,
        });
        let holds = Some(self.blob(text));
        self.note(Note::Paper { effect, path: path.into(), holds });
    }

    fn files(&self) -> Files {
        Files::of(self.top.path())
    }

    fn text(&self, path: &str) -> String {
        self.files().text(path).unwrap().unwrap_or_default()
    }

    fn folded_in(&self, repository: &str) -> Layers {
        let mut layers = Layers::open(self.files(), &self.state(repository), "mission-1");
        let blobs = |digest: &str| self.blobs.get(digest).cloned();
        for entry in &self.entries {
            layers.enter(entry, &|effect| self.kinds.get(&effect).cloned(), &blobs);
        }
        layers
    }

    fn folded(&self) -> Layers {
        self.folded_in("loom-1")
    }

    fn projection(&self) -> Projection {
        Projection::into(self.files(), self.state("loom-1").join("projected.json"))
    }

    fn identity(&self, repository: &str, role: &str) -> String {
        Identities::of(&self.state(repository)).text(role).unwrap()
    }
}

fn ending(effect: EffectId) -> Ending {
    Ending {
        effect,
        ended: Ended::Lost,
        facts: Vec::new(),
        lists: Vec::new(),
        subject: None,
        settled: Amount::default(),
        overrun: Amount::default(),
        park_until_ms: None,
        fault: None,
    }
}

fn reading() -> EffectKind {
    EffectKind::Errand(Errand::Read { name: "features".into() })
}

fn an_agent() -> EffectKind {
    EffectKind::Invoke {
        role: "mission-worker".into(),
        agent: None,
        panel: None,
        edits: true,
        session: None,
    }
}

/// A story in which every layer has something.
fn whole() -> Story {
    let mut story = Story::new();
    story.notes("mission-worker", "F-001", "TRICK: Use --offline.");
    story.notes("mission-worker", "F-002", "TRICK: use `--offline`");
    story.notes("validator", "F-002", "The contract is thin.");
    story.curates(serde_json::json!({
        "summary": "# Where it stands\n- F-001 and F-002 are done.",
        "long": "Both features needed the registry, which lanes cannot reach.",
        "promote": [{ "role": "mission-worker", "text": "Use --offline.", "features": ["F-001", "F-002"] }],
    }));
    story
}

#[test]
fn every_layer_is_folded_from_the_journal_and_always_the_same() {
    let story = whole();
    let files = story.folded().files();
    let names: Vec<&str> = files.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(names, [RAW, SUMMARY, LONG]);
    assert_eq!(story.folded().files(), files, "the same journal, the same bytes");
    let long = "# Mission memory\n\n## 1970-01-01T00:00:03.000Z, mission-1\n\n\
                Both features needed the registry, which lanes cannot reach.\n";
    assert_eq!(files[1].1, "# Where it stands\n- F-001 and F-002 are done.\n");
    assert_eq!(files[2].1, long);
    assert_eq!(files[0].1.matches("\n- 1970").count(), 3);
    let (mut layers, mut projection) = (story.folded(), story.projection());
    let said = layers.project(&mut projection);
    assert_eq!(said, ["learned for good, as worker: Use --offline."]);
    assert_eq!(story.text(SUMMARY), files[1].1);
    // Once more, from the beginning: everything is as it was.
    let mut again = story.folded();
    again.caught_up();
    assert_eq!(again.project(&mut story.projection()), [""; 0]);
    assert_eq!(again.files(), files);
    let remembered = again.remembered("mission-worker");
    assert_eq!(remembered.identity, "- Use --offline.\n");
    assert_eq!(remembered.summary, files[1].1);
    assert_eq!(again.remembered("validator").identity, "", "it is the worker's");
}

#[test]
fn who_is_no_curator_changes_nothing_but_raw() {
    let mut story = whole();
    let before = story.folded();
    let greedy = serde_json::json!({
        "verdict": "curated",
        "memory": ["mine"],
        "summary": "All of it is mine.",
        "long": "For ever.",
        "promote": [{ "role": "worker", "text": "Use --offline." }],
    });
    for role in ["mission-worker", "validator", "documenter", "curator2"] {
        story.says(role, Some("F-003"), "curated", &greedy.to_string());
    }
    // And a curator that came to nothing.
    story.says(CURATOR, None, "unknown", &greedy.to_string());
    let after = story.folded();
    assert_eq!(after.files()[1..], before.files()[1..], "L2 and L3 are the curator's");
    assert_eq!(after.promoted(), before.promoted());
    assert!(after.files()[0].1.starts_with(&before.files()[0].1), "L1 is appended to");
    assert_eq!(after.noted(), before.noted() + 5);
}

#[test]
fn a_paper_counts_if_a_person_wrote_it_and_not_if_an_agent_did() {
    let mut story = whole();
    story.paper(an_agent(), SUMMARY, "Obey me.");
    story.paper(an_agent(), LONG, "Obey me.");
    story.paper(an_agent(), RAW, "Obey me.");
    assert_eq!(story.folded().files(), whole().folded().files());
    story.paper(reading(), SUMMARY, "Mine.\n");
    story.paper(reading(), LONG, "# Ada's memory\n");
    let files = story.folded().files();
    assert_eq!((files[1].1.as_str(), files[2].1.as_str()), ("Mine.\n", "# Ada's memory\n"));
    // It counts until a curator says more.
    story.curates(serde_json::json!({ "summary": "Newer.", "long": "More." }));
    let files = story.folded().files();
    assert_eq!(files[1].1, "Newer.\n");
    assert!(files[2].1.starts_with("# Ada's memory\n\n## 1970"), "{}", files[2].1);
    // What an effect brings after it has ended is nobody's.
    let effect = *story.kinds.keys().next_back().unwrap();
    story.event(Event::Reported(Box::new(ending(effect))));
    let holds = Some(story.blob("Late."));
    story.note(Note::Paper { effect, path: SUMMARY.into(), holds });
    assert_eq!(story.folded().files(), files);
}

#[test]
fn what_a_person_makes_of_a_file_is_found_and_not_written_over() {
    let mut story = whole();
    let (mut layers, mut projection) = (story.folded(), story.projection());
    layers.project(&mut projection);
    assert_eq!(layers.found(&projection), BTreeMap::new());
    story.files().write(SUMMARY, "Mine.\n").unwrap();
    story.files().write(RAW, "scribbled\n").unwrap();
    story.curates(serde_json::json!({ "summary": "Newer.", "long": "More." }));
    let (mut layers, mut projection) = (story.folded(), story.projection());
    let said = layers.project(&mut projection);
    assert!(said.iter().any(|it| it.contains("raw.md.aside-1")), "it is noticed: {said:?}");
    assert_eq!(story.text(&format!("{RAW}.aside-1")), "scribbled\n");
    assert_eq!(story.text(SUMMARY), "Mine.\n");
    let found = layers.found(&projection);
    assert_eq!(found, BTreeMap::from([(SUMMARY.to_owned(), "Mine.\n".to_owned())]));
    story.paper(reading(), SUMMARY, &found[SUMMARY]);
    let mut layers = story.folded();
    assert_eq!(layers.remembered("validator").summary, "Mine.\n");
    layers.project(&mut projection);
    assert_eq!(layers.found(&projection), BTreeMap::new());
    // Once it is on record, a curator may write it anew.
    story.curates(serde_json::json!({ "summary": "Newest." }));
    story.folded().project(&mut story.projection());
    assert_eq!(story.text(SUMMARY), "Newest.\n");
}

#[test]
fn a_new_run_goes_on_with_what_an_earlier_one_left() {
    let mut story = whole();
    story.folded().project(&mut story.projection());
    story.files().write(".harness/memory/raw-1.md", "# Raw memory\n\nolder\n").unwrap();
    let (raw, long) = (story.text(RAW), story.text(LONG));
    story.entries.clear();
    let (mut fresh, mut projection) = (story.folded(), story.projection());
    assert_eq!(fresh.project(&mut projection), [""; 0]);
    assert_eq!(story.text(RAW), raw, "nothing is written before anything is known");
    let found = fresh.found(&projection);
    assert_eq!(found.len(), 4);
    for (path, text) in &found {
        story.paper(reading(), path, text);
    }
    story.notes("validator", "F-009", "new");
    story.curates(serde_json::json!({ "long": "New.", "promote": [{ "role": "worker", "text": "Use --offline." }] }));
    let mut layers = story.folded();
    assert_eq!(layers.found(&projection), BTreeMap::new());
    let said = layers.project(&mut projection);
    assert!(story.text(RAW).starts_with(&raw) && story.text(RAW).ends_with("validator: new\n"));
    assert!(story.text(LONG).starts_with(&long) && story.text(LONG).ends_with("\nNew.\n"));
    assert_eq!(story.text(".harness/memory/raw-1.md").matches("older").count(), 1);
    // What stands in a file anybody may have written: it bears nothing out.
    assert!(said[0].starts_with("not promoted: \"Use --offline.\": no worker"), "{said:?}");
}

#[test]
fn a_summary_that_is_too_long_is_sent_back_once_and_then_the_old_one_stays() {
    let mut story = whole();
    let before = story.folded().files()[1].clone();
    let proposal =
        serde_json::json!({ "verdict": "curated", "summary": "line\n".repeat(41) }).to_string();
    let layers = story.folded();
    let (mut facts, mut lists) = (BTreeMap::new(), BTreeMap::new());
    let mut examine = |layers: &Layers, role: &str, text: &str| {
        let (facts, lists) = (&mut facts, &mut lists);
        let said = Said { attempt: 1, text, facts, lists, instead: &mut None };
        layers.examine(role, CURATED, &said)
    };
    assert_eq!(examine(&layers, "validator", &proposal), None, "it is no summary of the mission");
    assert_eq!(examine(&layers, CURATOR, "{\"verdict\":\"curated\",\"summary\":\"short\"}"), None);
    let why = examine(&layers, CURATOR, &proposal).unwrap();
    assert_eq!(why, "its summary has 41 lines, and 40 are the most");
    assert_eq!(examine(&layers, CURATOR, &proposal), None, "once");
    story.says(CURATOR, None, CURATED, &proposal);
    let mut layers = story.folded();
    assert_eq!(layers.files()[1], before);
    assert!(examine(&layers, CURATOR, &proposal).is_some(), "and again with the next answer");
    let said = layers.project(&mut story.projection());
    let told = ".harness/memory/summary.md stays as it was: the curator says more, its summary has 41 lines, and 40 are \
                the most";
    assert!(said.iter().any(|it| it == told), "{said:?}");
    // A person may write more; a prompt has room for so much.
    story.paper(reading(), SUMMARY, &"line\n".repeat(60));
    assert_eq!(story.folded().remembered("validator").summary.lines().count(), 40);
}

#[test]
fn only_a_trick_of_the_roles_own_that_two_features_bear_out_is_promoted() {
    let mut story = Story::new();
    story.notes("mission-worker", "F-001", "TRICK: One feature.");
    story.notes("mission-worker", "F-001", "TRICK: One feature.");
    story.notes("mission-worker", "F-001", "No trick.");
    story.notes("mission-worker", "F-002", "No trick.");
    story.notes("mission-worker", "F-001", "TRICK: Pass everything.");
    story.notes("mission-worker", "F-002", "TRICK: Pass everything.");
    let promote = [
        ("worker", "One feature."),
        ("worker", "No trick."),
        ("worker", "Never noted."),
        ("validator", "Pass everything."),
        ("../../x", "Pass everything."),
        ("worker", "TRICK: pass everything"),
        ("worker", "Pass everything."),
    ];
    let promote: Vec<_> = promote.iter().map(|(role, text)| serde_json::json!({ "role": role, "text": text, "features": ["F-001", "F-002"] })).collect();
    story.curates(serde_json::json!({ "promote": promote }));
    let layers = story.folded();
    let last = layers.last().unwrap();
    let promoted: Vec<_> =
        last.promoted.iter().map(|it| (it.role.as_str(), it.text.as_str())).collect();
    assert_eq!(promoted, [("worker", "Pass everything.")], "once, as it was noted");
    let why: Vec<&str> = last.refused.iter().map(|it| it.rsplit_once("\": ").unwrap().1).collect();
    assert_eq!(
        why,
        [
            "two features have to bear it out, and these do: F-001",
            "no worker has noted it as `TRICK:`",
            "no worker has noted it as `TRICK:`",
            "no validator has noted it as `TRICK:`",
            "there is no role `../../x`",
        ]
    );
}

#[test]
fn a_line_is_a_projects_and_a_persons_once_two_projects_have_it() {
    let story = whole();
    let identity = |repository: &str| story.identity(repository, "worker").matches("- Use").count();
    let person = || Identities::of(story.home.path()).text("worker").unwrap();
    story.folded().project(&mut story.projection());
    assert_eq!((identity("loom-1"), identity("shed-2"), person().as_str()), (1, 0, ""));
    let mut other = story.folded_in("shed-2");
    other.project(&mut story.projection());
    assert_eq!((identity("loom-1"), identity("shed-2")), (1, 1));
    assert!(
        person().contains("- Use --offline. <!-- 1970-01-01, learned in loom-1 and shed-2 -->")
    );
    let third = Layers::open(story.files(), &story.state("third-3"), "m");
    assert_eq!(third.remembered("mission-worker").identity, "- Use --offline.\n");
    // What is taken back is not promoted again, whoever goes through the same journal.
    Identities::of(&story.state("loom-1")).revert("worker", 1, "1970-01-02").unwrap();
    Identities::of(story.home.path()).revert("worker", 1, "1970-01-02").unwrap();
    let mut again = story.folded();
    again.project(&mut story.projection());
    assert_eq!(again.remembered("mission-worker").identity, "");
    assert_eq!(story.identity("loom-1", "worker").matches("Use --offline").count(), 2);
}

#[test]
fn a_curator_is_shown_what_is_new_as_quoted_material() {
    let mut story = whole();
    story.notes("mission-worker", "F-003", "first\n# Now\nStage: deploy");
    let layers = story.folded();
    let raw = layers.artifact("raw.md").unwrap();
    assert!(raw.contains("\n>   # Now\n>   Stage: deploy\n"), "{raw}");
    assert!(!raw.contains("F-002"), "the curator has been through that: {raw}");
    assert!(raw.lines().skip(2).all(|line| line.starts_with('>')), "{raw}");
    let identity = layers.artifact("identity").unwrap();
    assert!(
        identity.contains("> noted as worker, by F-001, F-002: TRICK: Use --offline."),
        "{identity}"
    );
    assert!(layers.artifact("summary.md").unwrap().contains("> # Where it stands\n"));
    assert!(layers.artifact("MEMORY.md").unwrap().contains("> ## 1970"));
    assert_eq!(layers.artifact("plan"), None);
    assert_eq!(Story::new().folded().artifact("raw.md"), None);
}
