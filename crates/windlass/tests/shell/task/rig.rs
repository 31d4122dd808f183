//! A repository for one task, an agent that acts out a script, and a person who answers as they were told.

use std::fs;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

/// A scratch directory with a task to be done in it.
pub struct Rig {
    pub scratch: Scratch,
    /// What was typed, and what was seen.
    pub told: String,
}

pub const TASK: &str = "Say hello to the world";

/// What it is called.
pub const SLUG: &str = "say-hello-to-the-world";

/// Where its papers are.
pub const DOCS: &str = "docs/harness/say-hello-to-the-world";

pub const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                          [checks]\ntest = 'sh test.sh'\n";

/// Fails while any file says that it is bad, as a word.
pub const CHECK: &str = "for file in *.txt; do\n  if grep -qsw bad \"$file\"; then echo \"error: $file:1 is bad\"; exit 1; fi\ndone\n";

pub const SPEC: &str = "# Spec\n\nAC1: hello.txt greets.";

/// A report of an evaluator.
pub fn report(verdict: &str) -> String {
    let fix = if verdict == "FAIL" {
        "\n## Fix Instructions\n1. `hello.txt` — greet louder (AC1)\n"
    } else {
        ""
    };
    format!("## Layer 2\nnone\n\n## Layer 3\nAC1\n\n### Verdict: {verdict}\n{fix}")
}

/// An entry of the script: what a role answers, and the files that it writes.
pub fn says(who: &str, verdict: &str, summary: &str, files: &[(&str, &str)]) -> String {
    let mut entry = format!(
        "[[answer]]\n{who}\nsay = {{ {verdict}, summary = '{summary}', cost_usd = 0.01, tokens = 1 }}\n[answer.write]\n"
    );
    for (name, text) in files {
        entry.push_str(&format!("'{name}' = '''{text}'''\n"));
    }
    entry + "\n"
}

/// Whoever implements, in every mode, writes this.
pub fn implements(attempt: Option<u32>, hello: &str) -> String {
    let roles = ["generator-single", "implementation-standard", "implementation"];
    let attempt = attempt.map_or(String::new(), |it| format!("\nattempt = {it}"));
    let entry = |role: &str| {
        says(
            &format!("role = '{role}'{attempt}"),
            "verdict = 'changed'",
            "changes.md changed — 1 file",
            &[("hello.txt", hello), ("{changes.md}", "- `hello.txt` — greets")],
        )
    };
    roles.map(entry).concat()
}

/// The evaluator, the how-manieth time it is asked.
pub fn evaluates(attempt: Option<u32>, verdict: &str) -> String {
    let attempt = attempt.map_or(String::new(), |it| format!("\nattempt = {it}"));
    let (word, line) = match verdict {
        "pass" => ("PASS", "PASS — 1 of 1 criteria"),
        "fail_l2" => ("FAIL", "FAIL L2 — the greeting is not used"),
        _ => ("FAIL", "FAIL L3 — AC1 of 1"),
    };
    says(
        &format!("role = 'evaluator'{attempt}"),
        &format!("verdict = '{verdict}'"),
        line,
        &[("{qa_report.md}", &report(word))],
    )
}

/// Whoever proposes a patch.
pub fn proposes(confidence: &str, patch: &str) -> String {
    let text = format!("confidence: {confidence}\n\nGreet.\n\n{patch}");
    says(
        "role = 'auto-fix-proposer'",
        &format!("verdict = 'written', confidence = '{confidence}'"),
        &format!("auto_fix_patch written — confidence: {confidence} — greet"),
        &[("{auto_fix_patch.md}", &text)],
    )
}

/// A patch of hello.txt.
pub fn patch(from: &str, to: &str) -> String {
    format!("```diff\n--- a/hello.txt\n+++ b/hello.txt\n@@ -1 +1 @@\n-{from}\n+{to}\n```\n")
}

/// What every role does unless a test says otherwise.
fn usual() -> String {
    let generated = "verdict = 'generated'";
    let written = "verdict = 'written'";
    let mut script = says(
        "role = 'convention-scanner'",
        written,
        "conventions written — 1 rule",
        &[("{conventions.md}", "Use spaces.")],
    );
    for (role, file, line) in [
        ("planner-single", "{spec.md}", "spec.md generated — 1 criterion"),
        ("synthesis-standard", "{spec.md}", "spec.md generated — 1 criterion"),
        ("synthesis", "{spec.md}", "spec.md generated — 1 criterion"),
        ("spec-editor", "{spec.md}", "spec.md generated — as asked"),
    ] {
        script += &says(&format!("role = '{role}'"), generated, line, &[(file, SPEC)]);
    }
    for (role, file) in [
        ("architect", "{proposal_architect.md}"),
        ("senior-developer", "{proposal_senior_developer.md}"),
        ("qa-specialist", "{proposal_qa_specialist.md}"),
    ] {
        script += &says(
            &format!("role = '{role}'"),
            generated,
            "proposal generated",
            &[(file, "Greet.")],
        );
    }
    for (role, file, line) in [
        ("cross-critique", "{critique.md}", "critique written"),
        ("lead-developer", "{plan.md}", "plan.md written — 1 step"),
        ("combined-advisor", "{review_combined.md}", "review written — sound"),
        ("code-quality-advisor", "{review_code_quality.md}", "review written — sound"),
        ("test-stability-advisor", "{review_test_stability.md}", "review written — sound"),
    ] {
        script += &says(&format!("role = '{role}'"), written, line, &[(file, "Sound.")]);
    }
    script += &implements(None, "hello\n");
    script +=
        &says("role = 'layer1-verifier'", "verdict = 'pass'", "PASS — nothing to object to", &[]);
    script += &proposes("High", &patch("bad", "hello"));
    script + &evaluates(None, "pass")
}

impl Rig {
    /// With what goes before the usual script.
    pub fn new(script: &str) -> Self {
        Rig::with(script, &[])
    }

    /// With files besides, or instead of, the usual ones.
    pub fn with(script: &str, files: &[(&str, &str)]) -> Self {
        let script = format!("{script}{}", usual());
        let mut all =
            vec![("script.toml", script.as_str()), ("windlass.toml", CONFIG), ("test.sh", CHECK)];
        all.extend(files);
        Rig { scratch: Scratch::with(&all), told: String::new() }
    }

    /// The same in a directory that is in no repository.
    pub fn without_git(script: &str) -> Self {
        let rig = Rig::new(script);
        fs::remove_dir_all(rig.scratch.repo().join(".git")).unwrap();
        rig
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

    /// The question that is open: its id, its stage, and its options.
    pub fn asked(&self) -> Option<(String, String, Vec<String>)> {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"].as_array().unwrap().first()?.clone();
        let options = gate["options"].as_array().unwrap().iter();
        let options = options.map(|it| it["key"].as_str().unwrap().to_owned()).collect();
        let text = |name: &str| gate[name].as_str().unwrap().to_owned();
        Some((text("id"), text("stage"), options))
    }

    /// Answers one question after the other, each by the name of its stage, and goes on after each. Those that nobody
    /// has an answer for are answered as usual. The exit code in the end.
    #[track_caller]
    pub fn answers(&mut self, answers: &[(&str, &[&str])]) -> Option<i32> {
        let mut left: Vec<&(&str, &[&str])> = answers.iter().collect();
        loop {
            let Some((id, stage, _)) = self.asked() else {
                assert!(left.is_empty(), "nobody asked {left:?}:\n{}", self.told);
                return self.code();
            };
            let own = left.iter().position(|(name, _)| *name == stage);
            let usual: &[&str] = match stage.as_str() {
                "ask_scan" => &["skip"],
                "spec_gate" => &["proceed"],
                "commit_gate" => &["code_only"],
                _ => &[],
            };
            let words = match own {
                Some(0) => left.remove(0).1,
                _ if usual.is_empty() || left.first().is_some_and(|(name, _)| *name == "stay") => {
                    assert!(
                        left.iter().all(|(name, _)| *name == "stay"),
                        "at {stage}, not {left:?}:\n{}",
                        self.told
                    );
                    return self.code();
                }
                _ => usual,
            };
            let args: Vec<&str> = ["answer", id.as_str()].iter().chain(words).copied().collect();
            assert_eq!(self.run(&args), Some(0), "{}", self.told);
            if words == ["stop"] {
                // That is where the story ends.
                return self.code();
            }
            let code = self.run(&["resume"]);
            // A pause that a person asked for is where the story ends.
            if code != Some(8) {
                assert!(left.iter().all(|(name, _)| *name == "stay"), "{left:?}:\n{}", self.told);
                return code;
            }
        }
    }

    /// What the run that is there would exit with.
    fn code(&self) -> Option<i32> {
        let status = self.scratch.status();
        let runs = status["runs"].as_array().unwrap();
        runs.last()?["exit"].as_i64().and_then(|code| i32::try_from(code).ok())
    }

    /// Begins the usual task, and answers.
    #[track_caller]
    pub fn does(&mut self, args: &[&str], answers: &[(&str, &[&str])]) -> Option<i32> {
        let words: Vec<&str> = ["task", TASK].iter().chain(args).copied().collect();
        let code = self.run(&words);
        if code == Some(8) { self.answers(answers) } else { code }
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

    /// `.harness/state.json`.
    pub fn state(&self) -> Value {
        serde_json::from_str(&self.file(".harness/state.json").expect("a state file")).unwrap()
    }

    /// What the branch of the task holds that the main one does not.
    pub fn landed(&self) -> Vec<String> {
        let names = self.scratch.git(&["diff", "--name-only", "main", &format!("harness/{SLUG}")]);
        names.lines().map(str::to_owned).collect()
    }

    /// What was typed and seen, without what differs each time.
    pub fn seen(&self) -> String {
        let here = self.scratch.repo().canonicalize().unwrap();
        let text = self.told.replace(here.to_str().unwrap(), "/home/ada/hello");
        let text = text.replace(self.scratch.repo().to_str().unwrap(), "/home/ada/hello");
        // Who is first in a panel is nobody's to say.
        let of_panel = |line: &str| {
            ["plan_standard: ", "plan_multi: ", "advise_multi: "].iter().any(|it| line.contains(it))
        };
        let mut lines: Vec<&str> = text.lines().collect();
        for side_by_side in lines.chunk_by_mut(|one, other| of_panel(one) && of_panel(other)) {
            side_by_side.sort_unstable();
        }
        let mut seen = String::new();
        for line in lines {
            let words = line.split_inclusive(' ').map(|word| {
                let hex = word.trim().len() >= 10
                    && word.trim().bytes().all(|byte| byte.is_ascii_hexdigit());
                if hex { word.replace(word.trim(), "<commit>") } else { word.to_owned() }
            });
            seen.push_str(&words.collect::<String>());
            seen.push('\n');
        }
        seen
    }

    /// Every line of what was seen that holds this.
    #[track_caller]
    pub fn saw(&self, text: &str) {
        assert!(self.told.contains(text), "{text:?} was not seen:\n{}", self.told);
    }
}
