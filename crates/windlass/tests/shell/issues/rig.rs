//! A repository with issues in it, an agent that acts out a script, and a person who looks at what became of them.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

pub const STATE: &str = ".claude/harness-state.local.md";

const CONFIG: &str =
    "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n";

/// Everything below `src` is one subsystem; what says `wrong` as a word fails its quick tests, and what says `bad` breaks an
/// invariant that Windlass checks by itself.
pub const SPEC: &str = "name: src\npaths: [src]\ninvariants:\n  - Every file ends in a newline\n  - id: no-bad\n    text: no file is bad\n\
                    \x20   command: '! grep -rqsw bad src'\ntests:\n  tier0: sh test.sh wrong\n  tier1: sh test.sh late\n";

const CHECK: &str = "if grep -rqsw \"$1\" src; then echo \"error: src is $1\"; exit 1; fi\n";

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

/// Who it is about: a role, an issue, a group and the how-manieth time; nothing stands for any.
pub fn who(role: &str, issue: &str, group: &str, attempt: u32) -> String {
    let mut who = format!("role = '{role}'");
    for (key, value) in [("unit", issue), ("task", group)] {
        if !value.is_empty() {
            who.push_str(&format!("\n{key} = '{value}'"));
        }
    }
    if attempt > 0 {
        who.push_str(&format!("\nattempt = {attempt}"));
    }
    who
}

/// A planner that plans these groups, each with a file of its own: `g1` has `src/ISSUE-g1.txt`.
pub fn plans(issue: &str, groups: &[&str]) -> String {
    let groups: Vec<String> = groups
        .iter()
        .map(|it| {
            format!("{{ id = '{it}', title = 'feat: {it}', files = ['src/{issue}-{it}.txt'] }}")
        })
        .collect();
    let say = format!(
        "verdict = 'planned', summary = 'a plan', groups = [{}], criteria = [{{ id = 'c1', title = 'it is there' }}]",
        groups.join(", ")
    );
    says(&who("issue-planner", issue, "", 0), &say, &[])
}

/// A worker that writes its group's file with this text.
pub fn applies(issue: &str, group: &str, attempt: u32, text: &str) -> String {
    let file = format!("src/{issue}-{group}.txt");
    let who = who("issue-worker", issue, group, attempt);
    says(&who, "verdict = 'applied', summary = 'it is there'", &[(&file, text)])
}

/// A role that says this and nothing else.
pub fn simply(who: &str, verdict: &str, summary: &str) -> String {
    says(who, &format!("verdict = '{verdict}', summary = '{summary}'"), &[])
}

const HOLDS: &str =
    "invariants = [{ id = 'src-1', title = 'newline', holds = 'yes', evidence = 'looked' }]";

/// A reviewer that passes everything, with more to say.
pub fn passes(issue: &str, attempt: u32, verdict: &str, more: &str) -> String {
    let say = format!("verdict = '{verdict}', summary = 'looked at it: {verdict}', {HOLDS}{more}");
    says(&who("issue-reviewer", issue, "", attempt), &say, &[])
}

/// What everybody does unless a test says otherwise: one group for each issue.
fn usual(issues: &[&str]) -> String {
    let mut script = String::new();
    for issue in issues {
        script += &plans(issue, &["g1"]);
        script += &applies(issue, "g1", 0, "fine\n");
        script += &applies(issue, "g2", 0, "fine too\n");
    }
    let checks = format!("verdict = 'pass', summary = 'holds', {HOLDS}, passed = 1, total = 1");
    script += &says(&who("invariant-checker", "", "", 0), &checks, &[]);
    script += &passes("", 0, "pass", ", criteria_met = true");
    script += &simply(&who("failure-classifier", "", "", 0), "structural", "the approach is wrong");
    script + &simply(&who("discoverer", "", "", 0), "nothing", "nothing recurs")
}

/// A repository with issues.
pub struct Rig {
    pub scratch: Scratch,
    /// What was typed and seen.
    pub told: String,
}

impl Rig {
    /// Issues that are ready, with what goes before the usual script.
    pub fn of(issues: &[&str], script: &str) -> Self {
        Rig::with(issues, script, &[("subsystems_knowledge/src.yaml", SPEC)])
    }

    /// With these files instead of a spec.
    pub fn with(issues: &[&str], script: &str, files: &[(&str, &str)]) -> Self {
        let script = format!("{script}{}", usual(issues));
        let mut all = vec![
            ("script.toml", script.as_str()),
            ("windlass.toml", CONFIG),
            ("test.sh", CHECK),
            (".gitignore", ".claude/\n/issues/\n"),
        ];
        all.extend(files);
        let rig = Rig { scratch: Scratch::with(&all), told: String::new() };
        for issue in issues {
            rig.put(issue, "");
        }
        rig
    }

    /// An issue that is ready, with more front matter.
    pub fn put(&self, issue: &str, front: &str) {
        let text = format!("---\nlabels: [ready]\n{front}---\n\n# Do {issue}\n\nIt is wanted.\n");
        self.write(&format!("issues/{issue}.md"), &text);
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.scratch.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.scratch.repo().join(path)).ok()
    }

    /// An issue's file.
    pub fn issue(&self, issue: &str) -> String {
        self.file(&format!("issues/{issue}.md")).expect("an issue")
    }

    /// Runs a verb, and keeps what was seen.
    pub fn run(&mut self, args: &[&str]) -> Option<i32> {
        let output = self.scratch.windlass(args).output().unwrap();
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        let (code, said) = ended(output);
        self.told.push_str(&format!("$ windlass {}\n{printed}{said}", args.join(" ")));
        code
    }

    /// `windlass issues` with these words ends like this. What was seen.
    #[track_caller]
    pub fn ends(&mut self, args: &[&str], code: i32) -> String {
        let before = self.told.len();
        let words: Vec<&str> = ["issues"].iter().chain(args).copied().collect();
        assert_eq!(self.run(&words), Some(code), "{}", self.told);
        self.told[before..].to_owned()
    }

    /// Runs a loop that is killed as soon as it is on record that a claim of its holds: nothing has been done since.
    #[track_caller]
    pub fn killed_once_claimed(&self, command: &mut Command) {
        let socket = self.scratch.path("failpoints");
        let listener = UnixListener::bind(&socket).unwrap();
        let mut child = command.env("WINDLASS_FAILPOINTS", &socket).spawn().unwrap();
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap());
        let (mut line, mut is_there) = (String::new(), false);
        while !is_there && lines.read_line(&mut line).unwrap_or(0) > 0 {
            // Everything stands still here.
            is_there = line.trim_end().ends_with("\tcommit\tafter") && self.has_a_claim();
            line.clear();
            if !is_there && stream.write_all(b"\n").is_err() {
                break;
            }
        }
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(&socket).unwrap();
        assert!(is_there, "it never has a claim: {}", self.log());
    }

    /// Whether it is on record what an issue says that is claimed.
    fn has_a_claim(&self) -> bool {
        let output = self.scratch.windlass(&["log", "--json"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().contains(".harness/issues/")
    }

    /// Answers the question that is open, which is this stage's, and goes on. The exit code.
    #[track_caller]
    pub fn answers(&mut self, stage: &str, words: &[&str]) -> Option<i32> {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"].as_array().unwrap().first().expect("a question").clone();
        assert_eq!(gate["stage"], stage, "{}", self.told);
        let args: Vec<&str> =
            ["answer", gate["id"].as_str().unwrap()].iter().chain(words).copied().collect();
        assert_eq!(self.run(&args), Some(0), "{}", self.told);
        self.run(&["issues"])
    }

    /// Subjects of commits, the oldest first, without the first.
    pub fn subjects(&self) -> Vec<String> {
        let log = self.scratch.git(&["log", "--reverse", "--format=%s", "main"]);
        log.lines().skip(1).map(str::to_owned).collect()
    }

    /// A line of the state file.
    #[track_caller]
    pub fn state(&self, field: &str) -> String {
        let text = self.file(STATE).expect("a state file");
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{field}: ")));
        line.unwrap_or_else(|| panic!("no {field} in {text}")).to_owned()
    }

    /// How often a text stands in the comments of an issue.
    pub fn said(&self, issue: &str, text: &str) -> usize {
        self.issue(issue).matches(text).count()
    }

    /// Markers and other records, in order.
    pub fn records(&self) -> Vec<String> {
        let entries = self.scratch.entries();
        let named = entries.iter().filter_map(|entry| entry["record"].as_str());
        named.map(str::to_owned).collect()
    }

    /// The prompts of a role, as the journal has them.
    pub fn log(&self) -> String {
        let output = self.scratch.windlass(&["log", "--full"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// A second clone of the same repository, with issues in the directory of the first.
    pub fn issues_dir(&self) -> PathBuf {
        self.scratch.repo().canonicalize().unwrap().join("issues")
    }
}
