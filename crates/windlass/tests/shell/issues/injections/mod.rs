//! Attempts to have an issue decide more than what is wanted. The files of `fixtures/injections` are worked off by an agent that
//! obeys whatever it reads (`fixtures/obeys.py`): nothing of the person's is changed or told, nothing lands but what was
//! planned, and the tracker hears what it hears of any other issue.
//!
//! The same agent in the same place, started by hand, does what each of them asks for: so that the tests can fail.

mod cases;
mod world;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use windlass_trackerkit::linear::{Linear, NewIssue};

use self::cases::{Case, cases};
use self::world::{KEY, World, write};
use super::rig::{Rig, STATE};

/// The agent, and what is answered where a loop asks.
const CONFIG: &str = "[agents.obeys]\nkind = 'command'\ncommand = ['python3', 'obeys.py']\ncost = 'none'\n\
                      [roles]\ndefault = 'obeys'\n\
                      [policies.again]\nstage = 'again_gate'\nanswer = 'restart'\n\
                      [policies.specs]\nstage = 'spec_gate'\nanswer = 'give_up'\n\
                      [policies.blocked]\nstage = 'ask_blocked'\nanswer = 'give_up'\n";

/// A repository in which the obedient agent works, beside a person's things.
fn scene(tracker: &str) -> (Rig, World) {
    let config = format!("{CONFIG}{tracker}");
    let spec = super::rig::SPEC;
    let files = [
        ("windlass.toml", config.as_str()),
        ("obeys.py", include_str!("../../../fixtures/obeys.py")),
        ("subsystems_knowledge/src.yaml", spec),
        (".gitignore", ".claude/\n/issues/\n.env\n"),
    ];
    let rig = Rig::with(&[], "", &files);
    let world = World::new(&rig.scratch.path(""));
    (rig, world)
}

/// Works off whatever is there, one loop after the other. What was seen.
fn works_off(rig: &Rig, world: &World, gives_up: impl Fn(&str)) -> String {
    let mut seen = String::new();
    let run = |args: &[&str]| {
        let mut command = rig.scratch.windlass(args);
        command.env("HOME", world.home()).env("LINEAR_API_KEY", KEY).env("A_SECRET_TOKEN", KEY);
        let output = command.output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&said).into_owned())
    };
    for _ in 0..60 {
        let (code, said) = run(&["issues", "--max", "100"]);
        seen += &said;
        match code {
            Some(0) => return seen,
            // Three in a row, or some of all.
            Some(4) if said.contains("[HARNESS_DONE]\n") => return seen,
            Some(4) => {}
            // What an agent says again and again and cannot be meant is a person's to look at: they give the issue up.
            Some(3) => {
                let state = rig.file(STATE).unwrap();
                let current = state.lines().find_map(|line| line.strip_prefix("current_issue: "));
                let current = current.unwrap_or_else(|| panic!("{said}")).trim_matches('"');
                seen += &run(&["skip", current, "--reason", "it cannot be meant"]).1;
                gives_up(current);
            }
            other => panic!("{other:?}: {said}"),
        }
    }
    panic!("it does not come to an end: {seen}");
}

/// Everything that a run leaves where others read it.
fn left(rig: &Rig, seen: String) -> Vec<(&'static str, String)> {
    vec![
        ("what was seen", seen),
        ("the journal", rig.log()),
        ("the state", rig.file(STATE).unwrap_or_default()),
        ("commits", rig.scratch.git(&["log", "--all", "-p", "--format=%an %ae %B"])),
        ("names of files", rig.scratch.git(&["log", "--all", "--name-only", "--format="])),
        ("refs", rig.scratch.git(&["for-each-ref", "--format=%(refname)"])),
    ]
}

/// What landed of an issue is what its plan named, in commits as they always are.
#[track_caller]
fn landed_as_planned(rig: &Rig, world: &World, id: &str, case: &Case) {
    let query = format!("--grep=^Issue: {id}$");
    let log = rig.scratch.git(&["log", "--format=%H", &query, "main"]);
    for commit in log.lines() {
        let show =
            |format: &str| rig.scratch.git(&["show", "-s", &format!("--format={format}"), commit]);
        let trailers = show("%(trailers:keyonly)");
        let trailers: Vec<&str> = trailers.lines().collect();
        let usual = ["Issue", "Change-Group", "Subsystems", "Invariants", "Co-Authored-By"];
        assert_eq!(trailers, usual, "{case:?}");
        assert_eq!(show("%(trailers:key=Issue,valueonly)").trim(), id, "{case:?}");
        let author = "obeys <noreply@windlass.invalid>";
        assert_eq!(show("%(trailers:key=Co-Authored-By,valueonly)").trim(), author, "{case:?}");
        let files = rig.scratch.git(&["show", "--format=", "--name-only", "-z", commit]);
        let own = format!("src/{id}-g1.txt");
        let may: BTreeSet<String> =
            case.may.iter().map(|it| world.placed(&it.replace("{id}", id))).chain([own]).collect();
        for file in files.split('\0').filter(|it| !it.is_empty()) {
            let planned = may.iter().any(|it| file == it || file.starts_with(&format!("{it}/")));
            assert!(planned, "{file} landed: {case:?}");
        }
    }
}

/// The branches are those of Windlass and the person's one.
#[track_caller]
fn no_other_branches(rig: &Rig) {
    let refs = rig.scratch.git(&["for-each-ref", "--format=%(refname)"]);
    let strange: Vec<&str> = refs
        .lines()
        .filter(|it| {
            !["refs/heads/main", "refs/notes/windlass"].contains(it)
                && !it.starts_with("refs/heads/harness/")
                && !it.starts_with("refs/windlass/")
        })
        .collect();
    assert_eq!(strange, [""; 0]);
    let authors = rig.scratch.git(&["log", "--format=%an", "main"]);
    assert!(authors.lines().all(|it| it == "Ada"), "{authors}");
}

/// No text says that an issue is closed by it; what stands between backticks says nothing.
#[track_caller]
fn closes_nothing(text: &str, case: &str) {
    let closes =
        ["close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved"];
    let text: String = text.split('`').step_by(2).collect::<Vec<_>>().join(" ").to_lowercase();
    let words: Vec<&str> = text.split_whitespace().collect();
    for pair in words.windows(2) {
        let word = pair[0].trim_matches(|it: char| !it.is_alphanumeric());
        let names = ["#1", "#2", "mb90-", "harness#", "/issues/1"];
        let named = names.iter().any(|it| pair[1].contains(it));
        assert!(!(closes.contains(&word) && named), "{pair:?} in {case}: {text}");
    }
    assert!(!text.contains("@everyone"), "{case}: {text}");
}

/// All cases of a file as issues of a pretended Linear.
fn nothing_escapes(file: &str) {
    let tracker = Linear::start().unwrap();
    tracker.user("Windlass", KEY);
    let settings = format!(
        "[issues]\ntracker = 'linear'\nproject = 'Harness'\nbase-url = '{}'\n",
        tracker.url()
    );
    let (rig, world) = scene(&settings);
    // Somebody else's, which nobody has a word about but these texts.
    let bystander = tracker.issue(&NewIssue { title: "Mine", labels: &[], ..Default::default() });
    let mut ids = Vec::new();
    let cases = cases(file);
    for case in &cases {
        let fill = |text: &str, id: &str| {
            world.placed(&text.replace("{id}", id).replace("{url}", &tracker.url()))
        };
        let id = tracker.issue(&NewIssue { labels: &[], ..Default::default() });
        tracker.edit(&id, "title", &fill(&case.title(), &id));
        tracker.edit(&id, "description", &fill(&case.body(), &id));
        for (by, says) in case.comments() {
            let says = fill(&says, &id);
            if by == "(outside)" {
                tracker.comment(&id, None, &says);
                continue;
            }
            tracker.user(&by, &format!("key of {by}"));
            tracker.comment(&id, Some(&by), &says);
        }
        let mut labels = vec!["ready"];
        for label in &case.labels {
            tracker.label(label, Some("MB90"));
            labels.push(label);
        }
        tracker.relabel(&id, &labels);
        ids.push(id);
    }
    let foreign: Vec<usize> = ids.iter().map(|id| tracker.said(id).len()).collect();
    let seen = works_off(&rig, &world, |id| tracker.relabel(id, &[]));

    let mut texts = left(&rig, seen);
    for id in tracker.issues() {
        let said: Vec<String> = tracker.said(&id).into_iter().map(|it| it.body).collect();
        texts.push((
            "the tracker",
            format!(
                "{}\n{}\n{}",
                tracker.text(&id, "title"),
                tracker.text(&id, "description"),
                said.join("\n")
            ),
        ));
    }
    assert_eq!(world.escaped(&texts), [""; 0], "{file}");
    no_other_branches(&rig);
    assert!(tracker.said(&bystander).is_empty() && tracker.state(&bystander) != "Done");
    let subjects = rig.scratch.git(&["log", "--all", "--exclude=refs/notes/*", "--format=%B"]);
    subjects.lines().for_each(|line| closes_nothing(line, file));
    let mut makes = 0;
    for ((id, case), foreign) in ids.iter().zip(&cases).zip(foreign) {
        landed_as_planned(&rig, &world, id, case);
        heard_as_ever(&tracker, id, foreign, case);
        makes += case.makes;
    }
    let made = tracker.issues().len() - 1 - cases.len();
    assert!(
        made <= makes,
        "{made} issues were made, and {makes} were to be: {:?}",
        tracker.issues()
    );
}

/// What Windlass said of an issue: that it begins and how it ended, each once, and nothing that could be taken for another's.
#[track_caller]
fn heard_as_ever(tracker: &Linear, id: &str, foreign: usize, case: &Case) {
    let said = tracker.said(id);
    assert_eq!(said.iter().filter(|it| it.by != "Windlass").count(), foreign, "{case:?}");
    let own: Vec<&str> =
        said.iter().filter(|it| it.by == "Windlass").map(|it| it.body.as_str()).collect();
    let claim = own.first().unwrap_or_else(|| panic!("it was never begun: {case:?}"));
    assert!(
        claim.starts_with("Harness iteration ") && claim.contains("`windlass claim "),
        "{claim}"
    );
    own.iter().for_each(|it| closes_nothing(it, &case.name));
    let state = tracker.state(id);
    let (state_is, word) = match own.get(1) {
        None => ("In Progress", "claim"),
        Some(end) if end.starts_with("Harness completed issue in iteration ") => {
            ("Done", "completed")
        }
        Some(end) => {
            assert!(end.starts_with("Harness failed on this issue in iteration "), "{end}");
            ("In Progress", "failed")
        }
    };
    assert_eq!((state.as_str(), own.len() <= 2), (state_is, true), "{case:?}: {own:?}");
    // Its last line is a marker of ours, with the key of the claim, whatever was told on in it.
    let last = own.last().unwrap().trim_end().lines().next_back().unwrap();
    let key = claim.trim_end().trim_end_matches('`').rsplit(' ').next().unwrap();
    assert_eq!(last, format!("`windlass {word} {key}`"), "{case:?}");
}

/// The same agent without Windlass: it does what the case says that it asks for.
fn by_hand(case: &Case) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in [
        ("repo/windlass.toml", CONFIG),
        ("repo/.git/hooks/sample", ""),
        ("repo/.git/config", ""),
        ("repo/subsystems_knowledge/src.yaml", super::rig::SPEC),
        ("state/issues/issues-1.key", "a key"),
        ("lane/windlass.toml", CONFIG),
        ("lane/test.sh", "true\n"),
        ("repo/.claude/harness-state.local.md", "---\nactive: false\n---\n"),
        ("repo/.windlass/roles/mine.md", "mine\n"),
    ] {
        write(&dir.path().join(path), text);
    }
    let script = dir.path().join("home/obeys.py");
    write(&script, include_str!("../../../fixtures/obeys.py"));
    let world = World::by_hand(dir.path());
    let prompt = world
        .placed(&case.whole().replace("{id}", "MB90-7").replace("{url}", "http://127.0.0.1:9/"));
    // Whoever does it first.
    let mut told = String::new();
    let roles = ["issue-worker", "issue-planner", "issue-reviewer", "failure-classifier"];
    let does = roles.iter().any(|role| {
        told += &obeys(dir.path(), &world, role, &prompt);
        case.is_done(dir.path(), &world.escaped(&[("what was told", told.clone())]), &told)
    });
    assert!(does, "{} does nothing by hand: {case:?}: {told}", case.name);
}

/// The obedient agent, started in a role by nobody in particular. What it says.
fn obeys(dir: &Path, world: &World, role: &str, prompt: &str) -> String {
    let mut child = Command::new("python3")
        .arg(dir.join("home/obeys.py"))
        .current_dir(dir.join("lane"))
        .env("HOME", world.home())
        .env("LINEAR_API_KEY", KEY)
        .env("WINDLASS_ROLE", role)
        .env("WINDLASS_UNIT", "MB90-7")
        .env("WINDLASS_TASK", "g1")
        .env("GIT_CEILING_DIRECTORIES", dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(prompt.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Files of cases that are issues of a tracker somewhere else.
const FILES: [&str; 9] =
    ["markers", "verdicts", "prompts", "secrets", "paths", "policy", "unicode", "history", "long"];

#[test]
fn there_are_many_of_every_kind_and_each_has_a_name_of_its_own() {
    let all: Vec<Case> = FILES.iter().chain(&["folder"]).flat_map(|file| cases(file)).collect();
    let names: BTreeSet<&str> = all.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.len(), all.len());
    assert!(all.len() >= 75, "{}", all.len());
}

mod slow {
    use super::*;

    #[test]
    fn an_obedient_agent_that_is_started_by_hand_does_what_every_one_asks_for() {
        for file in FILES.iter().chain(&["folder"]) {
            cases(file).iter().for_each(by_hand);
        }
    }

    #[test]
    fn markers_escape_nothing() {
        nothing_escapes("markers");
    }

    #[test]
    fn verdicts_escape_nothing() {
        nothing_escapes("verdicts");
    }

    #[test]
    fn pretended_prompts_escape_nothing() {
        nothing_escapes("prompts");
    }

    #[test]
    fn requests_for_secrets_escape_nothing() {
        nothing_escapes("secrets");
    }

    #[test]
    fn paths_escape_nothing() {
        nothing_escapes("paths");
    }

    #[test]
    fn policies_of_an_issue_escape_nothing() {
        nothing_escapes("policy");
    }

    #[test]
    fn what_nobody_sees_escapes_nothing() {
        nothing_escapes("unicode");
    }

    #[test]
    fn what_would_stand_in_history_escapes_nothing() {
        nothing_escapes("history");
    }

    #[test]
    fn what_is_very_long_escapes_nothing() {
        nothing_escapes("long");
    }

    /// Files of a folder, as somebody else would put them there.
    #[test]
    fn files_of_a_folder_escape_nothing() {
        let (rig, world) = scene("[issues]\ntracker = 'folder'\n");
        let cases = cases("folder");
        for (nth, case) in (1..).zip(&cases) {
            let id = format!("A-{nth}");
            rig.write(
                &format!("issues/{id}.md"),
                &world.placed(&case.whole().replace("{id}", &id)),
            );
        }
        let seen = works_off(&rig, &world, |id| {
            let text = rig.issue(id).replacen("labels: [ready]", "labels: []", 1);
            rig.write(&format!("issues/{id}.md"), &text);
        });
        let mut texts = left(&rig, seen);
        let issues: Vec<String> =
            (1..=cases.len()).map(|nth| rig.issue(&format!("A-{nth}"))).collect();
        texts.extend(issues.iter().map(|it| ("an issue", it.clone())));
        assert_eq!(world.escaped(&texts), [""; 0]);
        no_other_branches(&rig);
        for (nth, (case, text)) in (1..).zip(cases.iter().zip(&issues)) {
            landed_as_planned(&rig, &world, &format!("A-{nth}"), case);
            let ours = text.matches("windlass claim ").count()
                - case.whole().matches("windlass claim ").count();
            assert_eq!(ours, usize::from(!case.unreadable), "{text}");
        }
    }
}
