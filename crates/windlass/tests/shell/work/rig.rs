//! A repository with a Plans.md, an agent that acts out a script, and a person who looks at what became of its tasks.

use std::fs;

use serde_json::Value;

use crate::scratch::{Scratch, ended};

pub const PLANS: &str = "Plans.md";
pub const CONTRACTS: &str = ".claude/state/contracts";
pub const PROPOSALS: &str = ".claude/state/pending-fix-proposals.jsonl";

pub const CONFIG: &str = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n\
                          [checks]\ntest = 'sh test.sh'\n";

/// Every file in `tests` is a test, and each is told by its name. One that is called `late` is none until something has landed:
/// so can tests fail after a task was done.
pub const CHECK: &str = "echo 'TAP version 13'\nfailed=0\nn=0\nfor test in tests/*.sh; do\n  [ -e \"$test\" ] || continue\n  n=$((n+1))\n\
                         \x20 name=$(basename \"$test\" .sh)\n  if sh \"$test\" >/dev/null 2>&1; then echo \"ok $n - $name\"\n\
                         \x20 else echo \"not ok $n - $name\"; failed=1; fi\ndone\necho \"1..$n\"\nexit $failed\n";

/// A row: its number, its content, what it depends on, and how far it is.
pub fn row(number: &str, content: &str, depends: &str, status: &str) -> String {
    format!("| {number} | {content} | `src/{number}.txt` says {number} | {depends} | {status} |\n")
}

/// A row that is to be done and waits for no other.
pub fn todo(number: &str) -> String {
    row(number, &format!("[P] Write {number}"), "-", "cc:TODO")
}

/// A table of rows.
pub fn table(rows: &[String]) -> String {
    format!(
        "# Plans\n\nWhat is to be done.\n\n| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n{}\nAnd that is all.\n",
        rows.concat()
    )
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

/// Who it is about: a role, a task and the how-manieth time; nothing stands for any.
pub fn who(role: &str, unit: &str, attempt: u32) -> String {
    let mut who = format!("role = '{role}'");
    if !unit.is_empty() {
        who.push_str(&format!("\nunit = '{unit}'"));
    }
    if attempt > 0 {
        who.push_str(&format!("\nattempt = {attempt}"));
    }
    who
}

/// A role that says this and writes nothing.
pub fn simply(who: &str, verdict: &str, summary: &str) -> String {
    says(who, &format!("verdict = '{verdict}', summary = '{summary}'"), &[])
}

/// A worker that writes this into its task's file, at a stage or at any.
pub fn works(unit: &str, stage: &str, text: &str) -> String {
    let mut who = who("worker", unit, 0);
    if !stage.is_empty() {
        who.push_str(&format!("\nstage = '{stage}'"));
    }
    let say = "verdict = 'done', summary = 'it is there', changes = [{ id = 'a', title = 'Writes it' }], \
               effect = [{ id = 'before', title = 'It was not there' }, { id = 'after', title = 'It is there' }]";
    says(&who, say, &[(&format!("src/{unit}.txt"), text)])
}

/// A reviewer that says this, and finds something of each of these severities.
pub fn reviews(unit: &str, attempt: u32, verdict: &str, severities: &[&str]) -> String {
    let finding = |(nth, severity): (usize, &&str)| {
        format!(
            "{{ severity = '{severity}', file = 'src/{unit}.txt', line = {}, title = '{severity} {unit}', rationale = 'seen' }}",
            nth + 1
        )
    };
    let findings: Vec<String> = severities.iter().enumerate().map(finding).collect();
    let say = format!(
        "verdict = '{verdict}', summary = 'looked at it', findings = [{}]",
        findings.join(", ")
    );
    says(&who("work-reviewer", unit, attempt), &say, &[])
}

/// What everybody does unless a test says otherwise: a test for each task, and its file.
fn usual(units: &[&str]) -> String {
    let mut script = String::new();
    for unit in units {
        let test = format!("grep -qx 'done {unit}' src/{unit}.txt\n");
        let file = format!("tests/t{}.sh", unit.replace('.', "-"));
        script += &says(
            &who("test-writer", unit, 0),
            "verdict = 'written', summary = 'a test'",
            &[(&file, &test)],
        );
        script += &works(unit, "", &format!("done {unit}\n"));
    }
    let background = "background = [{ id = 'purpose', title = 'It is wanted' }, { id = 'impact', title = 'src' }]";
    script += &says(
        &who("scout", "", 0),
        &format!("verdict = 'confident', summary = 'clear', {background}"),
        &[],
    );
    script += &simply(&who("contract-reviewer", "", 0), "approved", "it says when it is done");
    script += &simply(&who("simplifier", "", 0), "nothing", "as simple as it can be");
    script += &reviews("", 0, "approve", &[]);
    script + &simply(&who("conflict-resolver", "", 0), "failed", "nobody can")
}

/// A repository with a Plans.md.
pub struct Rig {
    pub scratch: Scratch,
    /// Plans.md as it was written first.
    pub plans: String,
    /// What was typed and seen.
    pub told: String,
}

impl Rig {
    /// These rows, with what goes before the usual script.
    pub fn of(rows: &[String], script: &str) -> Self {
        Rig::with(&table(rows), script, &[])
    }

    /// This Plans.md, with files besides, or instead of, the usual ones.
    pub fn with(plans: &str, script: &str, files: &[(&str, &str)]) -> Self {
        let numbers: Vec<&str> = plans
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.split(" | ").next())
            .filter(|number| number.starts_with(|letter: char| letter.is_ascii_digit()))
            .collect();
        let script = format!("{script}{}", usual(&numbers));
        let mut all = vec![
            ("script.toml", script.as_str()),
            ("windlass.toml", CONFIG),
            ("test.sh", CHECK),
            (".gitignore", ".claude/\n"),
        ];
        if !plans.is_empty() {
            all.push((PLANS, plans));
        }
        all.extend(files);
        Rig { scratch: Scratch::with(&all), plans: plans.to_owned(), told: String::new() }
    }

    /// Has workers be agents of this name that wait until so many of them are there, and then write their task's file: who is
    /// alone waits in vain, and fails in the end. As a reviewer each likes everything.
    pub fn meet(&self, agent: &str, count: usize) {
        let talk = self.scratch.path("talk");
        fs::create_dir(&talk).unwrap();
        let talk = talk.display();
        self.write(
            "meet.sh",
            &format!(
                "cat > /dev/null\n\
                 if [ \"$WINDLASS_ROLE\" = work-reviewer ]; then\n\
                 \x20 echo '{{\"verdict\": \"approve\", \"summary\": \"fine\", \"findings\": []}}'; exit\nfi\n\
                 : > '{talk}'/\"$WINDLASS_UNIT\"\nmkdir -p src\n\
                 tries=0\nuntil [ \"$(ls '{talk}' | wc -l)\" -ge {count} ]; do\n\
                 \x20 tries=$((tries+1)); [ $tries -lt 1000 ] || {{ echo 'nobody else comes' >&2; exit 1; }}; sleep 0.02\ndone\n\
                 echo \"done $WINDLASS_UNIT\" > \"src/$WINDLASS_UNIT.txt\"\n\
                 echo '{{\"verdict\": \"done\", \"summary\": \"it is there\"}}'\n"
            ),
        );
        let role = if agent == "codex" { "" } else { "worker = 'meets'\n" };
        let config = self.file("windlass.toml").unwrap().replace(
            "[roles]\n",
            &format!(
                "[agents.{agent}]\nkind = 'command'\ncommand = ['sh', 'meet.sh']\ncost = 'none'\n[roles]\n{role}"
            ),
        );
        self.write("windlass.toml", &format!("[sandbox]\nwrite = ['{talk}']\n{config}"));
        self.scratch.git(&["add", "-A"]);
        self.scratch.git(&["commit", "-qm", "They meet"]);
    }

    /// What a role was shown about a task below a heading, each time that it was shown something there. Without a task: what
    /// is about none.
    pub fn shown(&self, role: &str, unit: &str, heading: &str) -> Vec<String> {
        let log = self.log();
        let about = if unit.is_empty() { String::new() } else { format!("\nUnit: {unit} — ") };
        let heading = format!("\n## {heading}\n");
        let head = format!("    | # Your role: {role}\n");
        let prompts = log.split(&head).skip(1).map(|rest| {
            let own = rest.lines().map_while(|line| line.strip_prefix("    |"));
            own.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
        });
        let own = prompts.filter(|prompt: &String| prompt.contains(&about));
        let shown = own.filter_map(|prompt| {
            let (_, after) = prompt.split_once(&heading)?;
            Some(after.split("\n## ").next()?.to_owned())
        });
        shown.collect()
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.scratch.repo().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.scratch.repo().join(path)).ok()
    }

    /// Runs a verb, and keeps what was seen.
    pub fn run(&mut self, args: &[&str]) -> Option<i32> {
        let output = self.scratch.windlass(args).output().unwrap();
        let printed = String::from_utf8(output.stdout.clone()).unwrap();
        let (code, said) = ended(output);
        self.told.push_str(&format!("$ windlass {}\n{printed}{said}", args.join(" ")));
        code
    }

    /// A verb ends like this. What was seen of it.
    #[track_caller]
    pub fn verb(&mut self, args: &[&str], code: i32) -> String {
        let before = self.told.len();
        assert_eq!(self.run(args), Some(code), "{}", self.told);
        self.told[before..].to_owned()
    }

    /// `windlass work` with these words ends like this. What was seen of it.
    #[track_caller]
    pub fn ends(&mut self, args: &[&str], code: i32) -> String {
        let words: Vec<&str> = ["work"].iter().chain(args).copied().collect();
        self.verb(&words, code)
    }

    /// The question that is open: its id, its stage, and what is asked.
    pub fn asked(&self) -> Option<(String, String, Value)> {
        let gates = self.scratch.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&gates.stdout).unwrap();
        let gate = gates["gates"].as_array().unwrap().first()?.clone();
        let text = |name: &str| gate[name].as_str().unwrap().to_owned();
        Some((text("id"), text("stage"), gate))
    }

    /// Answers the question that is open, which is this stage's, and goes on. The exit code.
    #[track_caller]
    pub fn answers(&mut self, stage: &str, words: &[&str]) -> Option<i32> {
        let (id, asked, _) = self.asked().unwrap_or_else(|| panic!("nobody asked:\n{}", self.told));
        assert_eq!(asked, stage, "{}", self.told);
        let args: Vec<&str> = ["answer", id.as_str()].iter().chain(words).copied().collect();
        assert_eq!(self.run(&args), Some(0), "{}", self.told);
        self.run(&["work", "--resume", "latest"])
    }

    /// Subjects of commits, the oldest first, without those that it was set up with.
    pub fn subjects(&self) -> Vec<String> {
        let log = self.scratch.git(&["log", "--reverse", "--format=%s", "main"]);
        log.lines().skip(1).filter(|it| *it != "They meet").map(str::to_owned).collect()
    }

    /// The commit of this subject, in seven letters.
    #[track_caller]
    pub fn commit(&self, subject: &str) -> String {
        let log = self.scratch.git(&["log", "--format=%H %s", "main"]);
        let line = log.lines().find(|line| line[41..] == *subject);
        line.unwrap_or_else(|| panic!("no {subject:?} in {log}"))[..7].to_owned()
    }

    /// What a task's row says of its status.
    #[track_caller]
    pub fn status(&self, number: &str) -> String {
        let plans = self.file(PLANS).unwrap();
        let head = format!("| {number} | ");
        let line = plans.lines().find(|line| line.starts_with(&head));
        let line = line.unwrap_or_else(|| panic!("no {number} in {plans}"));
        line.trim_end_matches(" |").rsplit(" | ").next().unwrap().to_owned()
    }

    /// Plans.md is what it was but for status cells; its rows say that these are done, each with its commit.
    #[track_caller]
    pub fn only_marks_changed(&self, done: &[&str]) {
        let mut want = self.plans.clone();
        for number in done {
            let at = want.find(&format!("| {number} | ")).unwrap();
            let end = at + want[at..].find('\n').unwrap();
            let line = want[at..end].to_owned();
            let content = line.split(" | ").nth(1).unwrap().trim_start_matches("[P] ");
            let mark = format!("cc:Done [{}]", self.commit(content));
            let status = line.trim_end_matches(" |").rsplit(" | ").next().unwrap();
            let cut = line.len() - " |".len() - status.len();
            want.replace_range(at..end, &format!("{}{mark} |", &line[..cut]));
        }
        assert_eq!(self.file(PLANS).unwrap(), want, "{}", self.told);
    }

    /// The same, and some are under way still.
    #[track_caller]
    pub fn only_others_done(&mut self, done: &[&str], under_way: &[&str]) {
        for number in under_way {
            let head = format!("| {number} | ");
            let line = self.plans.lines().find(|line| line.starts_with(&head)).unwrap().to_owned();
            self.plans = self.plans.replace(&line, &line.replace("cc:TODO", "cc:WIP"));
        }
        self.only_marks_changed(done);
    }

    /// Every commit that the branch has pointed at passes the tests, and the checkout has nothing but marks to say.
    #[track_caller]
    pub fn was_always_sound(&self) {
        let tree = self.scratch.path("looked-at");
        for commit in self.scratch.git(&["reflog", "main", "--format=%H"]).lines() {
            fs::create_dir_all(&tree).unwrap();
            let made = tree.to_str().unwrap();
            self.scratch.sh(&format!("git archive {commit} | tar x -C '{made}'"));
            let checked =
                std::process::Command::new("sh").arg("test.sh").current_dir(&tree).output();
            assert!(checked.unwrap().status.success(), "{commit} was red");
            fs::remove_dir_all(&tree).unwrap();
        }
        assert_eq!(self.scratch.git(&["status", "--porcelain", "--", ":!Plans.md"]), "");
    }

    /// A contract as it is kept.
    #[track_caller]
    pub fn contract(&self, number: &str) -> Value {
        let text = self.file(&format!("{CONTRACTS}/{number}.sprint-contract.json"));
        serde_json::from_str(&text.expect("a contract")).unwrap()
    }

    /// What moves of tasks are called in the journal, in order.
    pub fn records(&self) -> Vec<String> {
        let entries = self.scratch.entries();
        let named = entries.iter().filter_map(|entry| entry["record"].as_str());
        named.map(str::to_owned).collect()
    }

    /// Which agents a role was asked of, in order.
    pub fn agents(&self, role: &str) -> Vec<String> {
        let asked = self.scratch.notes("asked");
        let own = asked.iter().filter(|it| it["role"] == role);
        own.map(|it| it["agent"].as_str().unwrap().to_owned()).collect()
    }

    /// What came of each time that a role was asked about a task, in order.
    pub fn came(&self, role: &str, unit: &str) -> Vec<String> {
        let answers = self.scratch.notes("answered");
        let own = answers
            .iter()
            .filter(|it| it["role"] == role && (unit.is_empty() || it["unit"] == unit));
        own.map(|it| it["came"].as_str().unwrap().to_owned()).collect()
    }

    /// Prompts, outputs and all else that the journal has.
    pub fn log(&self) -> String {
        let output = self.scratch.windlass(&["log", "--full"]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }
}
