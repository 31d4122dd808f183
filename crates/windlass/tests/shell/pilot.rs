//! A repository with a spec, for autopilot, and an agent that acts out a script.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

/// A scratch repository with a spec.
pub struct Pilot {
    pub scratch: Scratch,
}

pub const SPEC: &str = "# Things\n\n## Implementation Order\n\n### Phase 1: Alpha\n<!-- complexity: low -->\nMake alpha.\n\n\
                        ### Phase 2: Beta\nMake beta.\n";

/// One phase only.
pub const SHORT: &str = "# Things\n\n## Implementation Order\n\n### Phase 1: Alpha\n<!-- complexity: low -->\nMake alpha.\n";

pub const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                      [checks]\nvalidate = 'sh check.sh'\n\
                      [policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n\
                      [policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n";

/// Fails while any file says that it is bad, as a word: the name of a commit may have those letters in it.
const CHECK: &str = "for file in *.txt; do\n  if grep -qsw bad \"$file\"; then echo \"$file is bad\"; exit 1; fi\ndone\n";

pub const HANDOFF: &str = r#"{"fromSkill":"harness-planning","summary":"s","concerns":[]}"#;

/// An entry of the script: a planner whose plan has these tasks.
pub fn plans(unit: &str, tasks: &str, handoff: &str) -> String {
    format!(
        "[[answer]]\nrole = 'planner'\nunit = '{unit}'\nsay = {{ verdict = 'planned', cost_usd = 0.01, tokens = 1 }}\n\
         [answer.write]\n'{{plan}}' = '''\n{tasks}\n'''\n'{{handoff.json}}' = '''{handoff}'''\n\n"
    )
}

/// An entry of the script: an answer of a role, with files that it writes.
pub fn says(who: &str, verdict: &str, files: &[(&str, &str)]) -> String {
    let mut entry = format!(
        "[[answer]]\n{who}\nsay = {{ {verdict}, cost_usd = 0.01, tokens = 1 }}\n[answer.write]\n"
    );
    for (name, text) in files {
        entry.push_str(&format!("'{name}' = '{text}'\n"));
    }
    entry + "\n"
}

/// What every role does unless a test says otherwise.
pub fn usual() -> String {
    let mut script = String::new();
    for unit in ["1", "2", "3"] {
        script += &plans(unit, "### Task 1: Write it", HANDOFF);
        let file = format!("phase-{unit}.txt");
        script += &says(
            &format!("role = 'task-executor'\nunit = '{unit}'"),
            "verdict = 'done'",
            &[(&file, "good")],
        );
    }
    script += &says("role = 'verifier'", "verdict = 'pass'", &[]);
    script += &says("role = 'plan-skeleton'", "verdict = 'drafted'", &[]);
    script += &says("role = 'task-executor'", "verdict = 'done'", &[("final.txt", "good")]);
    script
        + &says(
            "role = 'code-reviewer'",
            "verdict = 'clear', blocking_count = 0, warning_count = 0, note_count = 0",
            &[],
        )
}

impl Pilot {
    /// With a spec and what goes before the usual script.
    pub fn new(spec: &str, script: &str) -> Self {
        Self::with(spec, script, &[])
    }

    /// With files besides.
    pub fn with(spec: &str, script: &str, files: &[(&str, &str)]) -> Self {
        let script = format!("{script}{}", usual());
        let mut all = vec![
            ("spec.md", spec),
            ("script.toml", script.as_str()),
            ("windlass.toml", CONFIG),
            ("check.sh", CHECK),
        ];
        all.extend(files);
        Pilot { scratch: Scratch::with(&all) }
    }

    pub fn autopilot(&self, args: &[&str]) -> Command {
        let words: Vec<&str> = ["autopilot"].iter().chain(args).copied().collect();
        self.scratch.windlass(&words)
    }

    /// Runs a verb to its end.
    pub fn run(&self, args: &[&str]) -> (Option<i32>, String) {
        let output = self.scratch.windlass(args).output().unwrap();
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        let (code, said) = ended(output);
        (code, printed + &said)
    }

    /// Answers the question that is open, and goes on.
    pub fn answer(&self, words: &[&str]) -> (Option<i32>, String) {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let id = gates["gates"][0]["id"].as_str().expect("an open question");
        let args: Vec<&str> = ["answer", id].iter().chain(words).copied().collect();
        let (code, said) = self.run(&args);
        assert_eq!(code, Some(0), "{words:?}: {said}");
        self.run(&["autopilot"])
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

    pub fn state(&self) -> Value {
        let path = ".harness/sessions/spec/autopilot-state.json";
        serde_json::from_str(&self.file(path).expect("a state file")).unwrap()
    }

    /// The decisions on record, by their words.
    pub fn decisions(&self) -> Vec<String> {
        let state = self.state();
        let all = state["decisions"].as_array().unwrap().iter();
        all.map(|it| it["decision"].as_str().unwrap().to_owned()).collect()
    }

    /// The plan of a phase, in the checkout.
    pub fn plan(&self, name: &str) -> String {
        let dir = self.scratch.repo().join("docs/plans");
        let mut names: Vec<String> = fs::read_dir(dir)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|file| file.ends_with(&format!("-{name}-plan.md")))
            .collect();
        format!("docs/plans/{}", names.pop().expect("a plan"))
    }
}
