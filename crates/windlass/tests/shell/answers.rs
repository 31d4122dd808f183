//! Questions: asked, left open, answered from elsewhere, answered by hand.

use std::fs;
use std::io::{Read as _, Write as _};

use crate::agent::{WORKER, hire, pipe};
use crate::scratch::{SCRIPT, Scratch, ended};

const CAREFUL: &str = "[[task]]\nid = 'hello'\ntitle = 'Say hello'\ncareful = true\n";

#[test]
fn without_a_terminal_a_question_is_left_open_and_answered_later() {
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    assert!(said.contains("windlass gates"), "{said}");
    assert!(scratch.landed().is_empty(), "nothing is guessed");
    let gates = scratch.windlass(&["gates", "--json"]).output().unwrap();
    let gates: serde_json::Value = serde_json::from_slice(&gates.stdout).unwrap();
    assert_eq!(gates["gates"][0]["question"], "Land hello?");
    assert_eq!(gates["gates"][0]["options"][0]["key"], "yes");
    let id = gates["gates"][0]["id"].as_str().unwrap();
    let (code, said) = ended(scratch.windlass(&["answer", id, "perhaps"]).output().unwrap());
    assert_eq!(code, Some(2));
    assert!(said.contains("choose one of yes, no"), "{said}");
    let (code, said) = ended(scratch.windlass(&["answer", "0", "yes"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    assert_eq!(scratch.notes("shown").len(), 1, "what was shown is on record");
    let log = scratch.windlass(&["log", "--json"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let entries = log.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let answered = entries.into_iter().find(|it| it["event"] == "answered").unwrap();
    let shown = &scratch.notes("shown")[0]["shown"];
    assert_eq!(&answered["shown"], shown, "the answer names what was shown");
}

#[test]
fn whatever_git_is_told_meanwhile_what_lands_is_by_whoever_began_the_run() {
    let scratch = Scratch::with(&[("tasks.toml", CAREFUL)]);
    assert_eq!(scratch.start().status().unwrap().code(), Some(8));
    scratch.git(&["config", "user.name", "Bob"]);
    let (code, said) = ended(scratch.windlass(&["answer", "0", "yes"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    // A landing that was cut off is made again, and only the same commit is found to be there.
    assert_eq!(scratch.git(&["log", "-1", "--format=%an", "main"]), "Ada");
}

#[test]
fn a_run_under_way_takes_an_answer_from_another_terminal_at_once() {
    let tasks = format!("{CAREFUL}[[task]]\nid = 'bye'\ncareful = false\n");
    let wait = "#!/bin/sh\ncat > /dev/null\n[ \"$WINDLASS_UNIT\" = bye ] && read line < \"$(dirname \"$0\")/gate\"\n\
                echo \"$WINDLASS_UNIT\" > \"$WINDLASS_UNIT.txt\"\n\
                [ \"$WINDLASS_ROLE\" = reviewer ] && { rm -f x; git checkout -q . 2>/dev/null; echo '{\"verdict\":\"clear\"}'; exit; }\n\
                echo '{\"verdict\":\"done\"}'\n";
    let scratch = Scratch::with(&[("tasks.toml", &tasks)]);
    hire(&scratch, wait, WORKER, "true");
    let gate = pipe(&scratch, "gate");
    let mut run = scratch.follow(&mut scratch.start());
    run.until("a question", |entry| entry["event"] == "asked");
    let (code, said) = ended(scratch.windlass(&["answer", "0", "yes"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    run.until("a landing", |entry| entry["note"] == "landed");
    // Only now does the other agent go on.
    fs::write(&gate, "go\n").unwrap();
    assert_eq!(run.code(), Some(0));
    assert_eq!(scratch.landed().len(), 2);
}

#[test]
fn what_a_person_changes_in_the_lane_is_proved_and_lands_as_theirs() {
    let script = format!(
        "[[answer]]\nrole = 'worker'\nunit = 'hello'\nwrite = {{ 'hello.txt' = \"helo\\n\" }}\n\
         say = {{ verdict = 'done', cost_usd = 0.01, tokens = 1 }}\n{SCRIPT}"
    );
    let flow = Scratch::new();
    let text = fs::read_to_string(flow.repo().join("flow.toml")).unwrap();
    let text = text.replace("drop = \"failed\" }", "drop = \"failed\", fixed = \"prove\" }");
    let tasks = "[[task]]\nid = 'hello'\ncareful = false\n";
    let scratch =
        Scratch::with(&[("script.toml", &script), ("tasks.toml", tasks), ("flow.toml", &text)]);
    let (code, said) = ended(scratch.start().output().unwrap());
    assert_eq!(code, Some(8), "{said}");
    let lanes = scratch.windlass(&["lanes", "list", "--json"]).output().unwrap();
    let lanes: serde_json::Value = serde_json::from_slice(&lanes.stdout).unwrap();
    let lane = lanes["lanes"][0]["path"].as_str().unwrap().to_owned();
    fs::write(format!("{lane}/hello.txt"), "hello\n").unwrap();
    let (code, said) = ended(scratch.windlass(&["answer", "0", "fixed"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = ended(scratch.windlass(&["resume"]).output().unwrap());
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(scratch.landed()["hello.txt"], "hello");
    assert_eq!(scratch.notes("by_hand").len(), 1);
}

/// A run at a terminal of its own, and what is seen there.
pub struct Sitting {
    run: std::process::Child,
    master: fs::File,
    bytes: Vec<u8>,
    seen: String,
}

impl Sitting {
    pub fn at(scratch: &Scratch) -> Self {
        Sitting::with(&mut scratch.start())
    }

    /// At a command of the person's own.
    pub fn with(command: &mut std::process::Command) -> Self {
        let terminal = nix::pty::openpty(None, None).unwrap();
        let slave = || std::process::Stdio::from(terminal.slave.try_clone().unwrap());
        let run = command.stdin(slave()).stderr(slave()).spawn().unwrap();
        drop(terminal.slave);
        let master = fs::File::from(terminal.master);
        Sitting { run, master, bytes: Vec::new(), seen: String::new() }
    }

    /// Until it has asked for an answer so many times.
    pub fn wait_for(&mut self, prompts: usize) -> &str {
        self.wait_until(|seen| seen.matches("] > ").count() >= prompts)
    }

    /// Until what is seen is so.
    pub fn wait_until(&mut self, is_so: impl Fn(&str) -> bool) -> &str {
        while !is_so(&self.seen) {
            let mut bytes = [0; 1024];
            let count = self.master.read(&mut bytes).unwrap();
            assert_ne!(count, 0, "it ended: {}", self.seen);
            // A character may come in two parts.
            self.bytes.extend(&bytes[..count]);
            self.seen = String::from_utf8_lossy(&self.bytes).into_owned();
        }
        &self.seen
    }

    pub fn types(&mut self, line: &str) {
        self.master.write_all(line.as_bytes()).unwrap();
    }

    /// All that is seen until it has ended well.
    pub fn rest(self) -> String {
        let (seen, code) = self.end();
        assert_eq!(code, Some(0), "{seen}");
        seen
    }

    /// All that is seen until it has ended, and how it ends.
    pub fn end(mut self) -> (String, Option<i32>) {
        let mut bytes = [0; 1024];
        // A terminal whose other side is gone cannot be read from any more.
        while let Ok(count) = self.master.read(&mut bytes)
            && count > 0
        {
            self.bytes.extend(&bytes[..count]);
        }
        (String::from_utf8_lossy(&self.bytes).into_owned(), self.run.wait().unwrap().code())
    }

    pub fn code(mut self) -> Option<i32> {
        // A terminal whose other side is gone cannot be read from any more.
        let mut master = self.master;
        std::thread::spawn(move || std::io::copy(&mut master, &mut std::io::sink()));
        self.run.wait().unwrap().code()
    }
}

#[test]
fn at_a_terminal_the_question_is_put_there_and_the_answer_typed() {
    let tasks = "[[task]]\nid = 'hello'\ncareful = true\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    let mut sitting = Sitting::at(&scratch);
    let asked = sitting.wait_for(1);
    assert!(asked.contains("Land hello?") && asked.contains("yes"), "{asked}");
    // What is none of its options is refused, and asked for again.
    sitting.types("maybe\n");
    sitting.wait_for(2);
    sitting.types("yes\n");
    assert_eq!(sitting.code(), Some(0));
    assert_eq!(scratch.landed()["hello.txt"], "hello");
}

#[test]
fn a_terminal_goes_on_to_the_next_question_when_one_is_answered_elsewhere() {
    let tasks = "[[task]]\nid = 'hello'\ncareful = true\n[[task]]\nid = 'bye'\ncareful = true\n";
    let scratch = Scratch::with(&[("tasks.toml", tasks)]);
    let mut sitting = Sitting::at(&scratch);
    let number = |seen: &str| {
        let before = &seen[..seen.rfind(" [").expect("a prompt")];
        before.chars().rev().take_while(char::is_ascii_digit).collect::<String>()
    };
    let first = number(sitting.wait_for(1));
    let gates = scratch.windlass(&["gates", "--json"]).output().unwrap();
    let gates: serde_json::Value = serde_json::from_slice(&gates.stdout).unwrap();
    assert_eq!(gates["gates"].as_array().unwrap().len(), 2);
    let answered = scratch.windlass(&["answer", &first, "yes"]).output().unwrap();
    assert_eq!(answered.status.code(), Some(0));
    assert_ne!(number(sitting.wait_for(2)), first);
    sitting.types("yes\n");
    // The other has landed meanwhile: what is rebuilt there is asked about once more.
    sitting.wait_for(3);
    sitting.types("yes\n");
    assert_eq!(sitting.code(), Some(0));
}
