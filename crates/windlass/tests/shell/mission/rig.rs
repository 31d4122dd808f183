//! A repository with a mission to be run in it: features from a small description, an agent that acts out a script, and a
//! person who answers, edits and looks.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};

use crate::scratch::{Scratch, ended};

/// Where the queue and the contract are.
pub const QUEUE: &str = ".harness/features.json";
pub const CONTRACT: &str = ".harness/validation-contract.md";
pub const ESCALATION: &str = ".harness/escalation.md";

pub const SPEC: &str = "# A greeter\n\nIt says hello and bye.\n";

pub const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                          [checks]\ntest = 'sh test.sh'\n";

/// Fails while any file says that it is bad, as a word.
pub const CHECK: &str = "for file in *.txt; do\n  if grep -qsw bad \"$file\"; then echo \"error: $file:1 is bad\"; exit 1; fi\ndone\n";

/// A feature as a test describes it. Its worker writes a file of its name, and its validator finds that every claim holds,
/// unless the script says otherwise.
#[derive(Clone, Debug, Default)]
pub struct Feature {
    pub id: String,
    pub depends: Vec<String>,
    pub files: Vec<String>,
    /// What else its entry in the queue says.
    pub more: BTreeMap<String, Value>,
}

pub fn feature(id: &str) -> Feature {
    Feature { id: id.to_owned(), ..Feature::default() }
}

impl Feature {
    pub fn on(mut self, ids: &[&str]) -> Self {
        self.depends = ids.iter().map(|id| (*id).to_owned()).collect();
        self
    }

    pub fn files(mut self, files: &[&str]) -> Self {
        self.files = files.iter().map(|file| (*file).to_owned()).collect();
        self
    }

    /// Its only claim.
    pub fn claim(&self) -> String {
        val(&self.id)
    }

    fn json(&self) -> Value {
        let mut json = json!({
            "id": self.id, "title": format!("Build {}", self.id), "claims": [self.claim()],
            "status": "pending", "attempts": 0, "depends": self.depends,
        });
        if !self.files.is_empty() {
            json["files"] = json!(self.files);
        }
        for (name, value) in &self.more {
            json[name] = value.clone();
        }
        json
    }
}

/// The assertion of a feature.
pub fn val(id: &str) -> String {
    format!("VAL-{}-001", id.trim_start_matches("F-"))
}

/// The file that a feature's worker writes.
pub fn file_of(id: &str) -> String {
    format!("{}.txt", id.trim_start_matches("F-").to_lowercase())
}

/// The queue's file.
pub fn queue(features: &[Feature]) -> String {
    let features: Vec<Value> = features.iter().map(Feature::json).collect();
    format!("{}\n", serde_json::to_string_pretty(&json!({ "features": features })).unwrap())
}

/// The contract: an assertion for each.
pub fn contract(features: &[Feature]) -> String {
    let assertion = |it: &Feature| {
        let file = file_of(&it.id);
        format!("- {}: `{file}` is there\n  command: `test -e {file}`\n", it.claim())
    };
    features.iter().map(assertion).collect()
}

/// An entry of the script: who, what they say (as TOML), and the files that they write.
pub fn says(who: &str, say: &str, files: &[(&str, &str)]) -> String {
    let mut entry = format!(
        "[[answer]]\n{who}\nsay = {{ {say}, cost_usd = 0.01, tokens = 1 }}\n[answer.write]\n"
    );
    for (name, text) in files {
        entry.push_str(&format!("'{name}' = '''{text}'''\n"));
    }
    entry + "\n"
}

/// Who it is about: a role, a feature, and the how-manieth time.
pub fn who(role: &str, unit: &str, attempt: Option<u32>) -> String {
    let attempt = attempt.map_or(String::new(), |it| format!("\nattempt = {it}"));
    let unit = if unit.is_empty() { String::new() } else { format!("\nunit = '{unit}'") };
    format!("role = '{role}'{unit}{attempt}")
}

/// A worker builds its feature: this is in its file.
pub fn builds(unit: &str, attempt: Option<u32>, text: &str) -> String {
    let file = file_of(unit);
    says(
        &who("mission-worker", unit, attempt),
        "verdict = 'built', summary = 'it is there'",
        &[(&file, text)],
    )
}

/// A worker says something else, and writes nothing.
pub fn worker(unit: &str, attempt: Option<u32>, verdict: &str, summary: &str) -> String {
    says(
        &who("mission-worker", unit, attempt),
        &format!("verdict = '{verdict}', summary = '{summary}'"),
        &[],
    )
}

/// A validator says this, and of each claim whether it holds.
pub fn judges(
    unit: &str,
    attempt: Option<u32>,
    verdict: &str,
    claims: &[(&str, &str)],
    issues: &[&str],
) -> String {
    let claims: Vec<String> = claims
        .iter()
        .map(|(id, holds)| {
            format!(
                "{{ id = '{id}', title = '{id}', holds = '{holds}', evidence = 'ran it: {holds}' }}"
            )
        })
        .collect();
    let issues: Vec<String> = issues
        .iter()
        .enumerate()
        .map(|(at, title)| {
            format!("{{ id = 'i{at}', title = '{title}', detail = 'seen in {unit}' }}")
        })
        .collect();
    says(
        &who("validator", unit, attempt),
        &format!(
            "verdict = '{verdict}', summary = 'looked at {unit}: {verdict}', claims = [{}], issues = [{}]",
            claims.join(", "),
            issues.join(", ")
        ),
        &[],
    )
}

/// A validator whose claim holds.
pub fn passes(unit: &str) -> String {
    judges(unit, None, "pass", &[(&val(unit), "yes")], &[])
}

/// Somebody mends what a validator found, and somebody sees that it is mended.
pub fn mends(unit: &str, title: &str, files: &[(&str, &str)]) -> String {
    let claim = format!("This does not occur any more: {title}");
    says(&who("mission-worker", unit, None), "verdict = 'built', summary = 'mended'", files)
        + &judges(unit, None, "pass", &[(&claim, "yes")], &[])
}

/// A planner that plans this.
pub fn plans(attempt: Option<u32>, queue: &str, contract: &str) -> String {
    says(
        &who("mission-planner", "", attempt),
        "verdict = 'planned', summary = 'a plan'",
        &[("{features.json}", queue), ("{validation-contract.md}", contract)],
    )
}

/// A role that has nothing to do with any feature.
pub fn simply(role: &str, verdict: &str, summary: &str) -> String {
    says(&who(role, "", None), &format!("verdict = '{verdict}', summary = '{summary}'"), &[])
}

/// What everybody does unless a test says otherwise.
fn usual(features: &[Feature]) -> String {
    let mut script = plans(None, &queue(features), &contract(features));
    script += &simply("plan-reviewer", "accept", "it can be built");
    for feature in features {
        script += &builds(&feature.id, None, &format!("{}\n", feature.id));
        script += &passes(&feature.id);
    }
    for role in ["ui-qa", "crosscheck"] {
        script += &simply(role, "pass", "nothing to object to");
    }
    script += &simply("documenter", "nothing", "all of it is true already");
    script + &simply("curator", "curated", "nothing new")
}

/// A scratch directory with a mission.
pub struct Rig {
    pub scratch: Scratch,
    /// What was typed, and what was seen.
    pub told: String,
}

impl Rig {
    /// A mission whose queue and contract are there, with what goes before the usual script.
    pub fn of(features: &[Feature], script: &str) -> Self {
        Rig::with(features, script, &[])
    }

    /// With files besides, or instead of, the usual ones.
    pub fn with(features: &[Feature], script: &str, files: &[(&str, &str)]) -> Self {
        let rig = Rig::unplanned(features, script, files);
        rig.write(QUEUE, &queue(features));
        rig.write(CONTRACT, &contract(features));
        rig
    }

    /// A mission that has a spec, and whose planner will plan these.
    pub fn unplanned(features: &[Feature], script: &str, files: &[(&str, &str)]) -> Self {
        let script = format!("{script}{}", usual(features));
        let mut all = vec![
            ("SPEC.md", SPEC),
            ("script.toml", script.as_str()),
            ("windlass.toml", CONFIG),
            ("test.sh", CHECK),
        ];
        all.extend(files);
        Rig { scratch: Scratch::with(&all), told: String::new() }
    }

    /// The same agent says something else from now on.
    pub fn now_says(&self, features: &[Feature], script: &str) {
        self.write("script.toml", &format!("{script}{}", usual(features)));
        self.scratch.git(&["commit", "-qm", "Another script", "script.toml"]);
    }

    /// Runs a verb, and keeps what was seen.
    pub fn run(&mut self, args: &[&str]) -> Option<i32> {
        let output = self.scratch.windlass(args).output().unwrap();
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        let (code, said) = ended(output);
        let words: Vec<String> = args
            .iter()
            .map(|word| if word.contains(' ') { format!("'{word}'") } else { (*word).to_owned() })
            .collect();
        self.told.push_str(&format!("$ windlass {}\n{printed}{said}", words.join(" ")));
        if code != Some(0) {
            self.told.push_str(&format!("[exit {}]\n", code.unwrap_or(-1)));
        }
        code
    }

    /// `windlass mission` with one lane, unless these words say otherwise. It ends like this.
    #[track_caller]
    pub fn ends(&mut self, args: &[&str], code: i32) {
        let mut words = vec!["mission"];
        words.extend(args);
        if !args.contains(&"--lanes") {
            words.extend(["--lanes", "1"]);
        }
        assert_eq!(self.run(&words), Some(code), "{}", self.told);
    }

    /// The question that is open: its id, its stage, and what it is about.
    pub fn asked(&self) -> Option<(String, String)> {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"].as_array().unwrap().first()?.clone();
        let text = |name: &str| gate[name].as_str().unwrap().to_owned();
        Some((text("id"), text("stage")))
    }

    /// Answers the question that is open, which is this stage's, and goes on. The exit code.
    #[track_caller]
    pub fn answers(&mut self, stage: &str, words: &[&str]) -> Option<i32> {
        let (id, asked) = self.asked().unwrap_or_else(|| panic!("nobody asked:\n{}", self.told));
        assert_eq!(asked, stage, "{}", self.told);
        let args: Vec<&str> = ["answer", id.as_str()].iter().chain(words).copied().collect();
        assert_eq!(self.run(&args), Some(0), "{}", self.told);
        self.run(&["resume"])
    }

    /// A file of the checkout.
    pub fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.scratch.repo().join(path)).ok()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.scratch.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The queue's file.
    pub fn queue(&self) -> Value {
        serde_json::from_str(&self.file(QUEUE).expect("a queue")).unwrap()
    }

    /// The features in it.
    pub fn features(&self) -> Vec<Value> {
        let queue = self.queue();
        let list = queue.as_array().or_else(|| queue["features"].as_array());
        list.expect("a list of features").clone()
    }

    /// A feature in it.
    #[track_caller]
    pub fn feature(&self, id: &str) -> Value {
        let features = self.features();
        let found = features.iter().find(|it| it["id"] == id);
        found.unwrap_or_else(|| panic!("no {id} in {features:#?}")).clone()
    }

    /// Each feature and where it stands, in order.
    pub fn standing(&self) -> String {
        let features = self.features();
        let word = |it: &Value| {
            format!("{} {}", it["id"].as_str().unwrap(), it["status"].as_str().unwrap())
        };
        features.iter().map(word).collect::<Vec<_>>().join(", ")
    }

    /// A person changes the queue's file by hand.
    pub fn edit(&self, change: impl FnOnce(&mut Vec<Value>)) {
        let mut queue = self.queue();
        change(queue["features"].as_array_mut().unwrap());
        self.write(QUEUE, &serde_json::to_string_pretty(&queue).unwrap());
    }

    /// Titles of what landed, the oldest first.
    pub fn landed(&self) -> Vec<String> {
        let log =
            self.scratch.git(&["log", "--merges", "--first-parent", "--reverse", "--format=%s"]);
        log.lines().map(str::to_owned).collect()
    }

    /// Every commit that the branch has pointed at passes the check, and none is there twice.
    #[track_caller]
    pub fn was_always_sound(&self) {
        let commits = self.scratch.git(&["reflog", "main", "--format=%H"]);
        let tree = self.scratch.path("looked-at");
        for commit in commits.lines() {
            let made = tree.to_str().unwrap();
            fs::create_dir_all(&tree).unwrap();
            self.scratch.sh(&format!("git archive {commit} | tar x -C '{made}'"));
            let checked =
                std::process::Command::new("sh").arg("test.sh").current_dir(&tree).status();
            assert!(checked.unwrap().success(), "{commit} was red");
            fs::remove_dir_all(&tree).unwrap();
        }
        let mut seen: Vec<&str> = commits.lines().collect();
        seen.sort_unstable();
        let all = seen.len();
        seen.dedup();
        assert_eq!(seen.len(), all, "the branch went back: {commits}");
        let mut landed = self.landed();
        landed.sort_unstable();
        let all = landed.len();
        landed.dedup();
        assert_eq!(landed.len(), all, "something landed twice: {landed:?}");
        assert_eq!(self.scratch.git(&["status", "--porcelain", "--", ":!.harness"]), "");
    }

    /// The mission's own state.
    pub fn state(&self) -> Value {
        let text = self.file(".harness/mission/state.json").expect("a state file");
        serde_json::from_str(&text).unwrap()
    }

    /// How often a decision was made, as its state has it.
    pub fn decided(&self, decision: &str) -> u64 {
        self.state()["decisions"][decision].as_u64().unwrap_or(0)
    }

    /// What moves of features and stages are called in the journal, in order.
    pub fn records(&self) -> Vec<String> {
        let entries = self.scratch.entries();
        let named = entries.iter().filter_map(|entry| entry["record"].as_str());
        named.map(str::to_owned).collect()
    }

    /// What came of each time that a role was asked about a feature, in order.
    pub fn came(&self, role: &str, unit: &str) -> Vec<String> {
        let answers = self.scratch.notes("answered");
        let own = answers
            .iter()
            .filter(|it| it["role"] == role && (unit.is_empty() || it["unit"] == unit));
        own.map(|it| it["came"].as_str().unwrap().to_owned()).collect()
    }

    /// Features in the order in which their workers were first asked.
    pub fn begun(&self) -> Vec<String> {
        let mut begun: Vec<String> = Vec::new();
        for asked in self.scratch.notes("asked") {
            if asked["role"] == "mission-worker" {
                let unit = asked["unit"].as_str().unwrap().to_owned();
                if !begun.contains(&unit) {
                    begun.push(unit);
                }
            }
        }
        begun
    }

    /// What a role was told about a feature, or about none, each time.
    pub fn prompts(&self, role: &str, unit: &str) -> Vec<String> {
        let output = self.scratch.windlass(&["log", "--full"]).output().unwrap();
        let log = String::from_utf8(output.stdout).unwrap();
        let asks = |line: &str| {
            let of = if unit.is_empty() { true } else { line.starts_with(&format!("{unit}: ")) };
            of && !line.starts_with(' ') && line.contains(&format!(": {role} ("))
        };
        let (mut prompts, mut lines) = (Vec::new(), log.lines().peekable());
        while let Some(line) = lines.next() {
            if asks(line) && lines.next_if_eq(&"    prompt:").is_some() {
                let mut prompt = String::new();
                while let Some(line) = lines.next_if(|it| it.starts_with("    |")) {
                    prompt.push_str(line.trim_start_matches("    |").trim_start_matches(' '));
                    prompt.push('\n');
                }
                prompts.push(prompt);
            }
        }
        prompts
    }

    /// What was typed and seen, without what differs each time.
    pub fn seen(&self) -> String {
        let here = self.scratch.repo().canonicalize().unwrap();
        let text = self.told.replace(here.to_str().unwrap(), "/home/ada/hello");
        let text = text.replace(self.scratch.repo().to_str().unwrap(), "/home/ada/hello");
        let mut seen = String::new();
        for line in text.lines() {
            let words = line.split_inclusive(' ').map(|word| {
                let hex = word.trim().len() >= 8
                    && word.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
                if hex { word.replace(word.trim(), "<commit>") } else { word.to_owned() }
            });
            let line = words.collect::<String>();
            // How long it took is another time each time.
            let line = match line.split_once(" calls, ").filter(|_| line.ends_with("windlass.toml"))
            {
                Some((calls, _)) => format!("{calls} calls, …"),
                None => line,
            };
            seen.push_str(&line);
            seen.push('\n');
        }
        seen
    }

    /// This was said.
    #[track_caller]
    pub fn saw(&self, text: &str) {
        assert!(self.told.contains(text), "{text:?} was not seen:\n{}", self.told);
    }
}
