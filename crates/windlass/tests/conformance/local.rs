//! The built-in agent against a server that is not ours, with a model that is one: llama.cpp's, which speaks the words
//! of three providers. Needs what `scripts/local-model` installs. The model is too small to be of any use; how it is
//! brought to call the right tools is in `crates/testkit/local-model`.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use windlass_agents::api::Format;

use crate::rig::TASKS;
use crate::scratch::Scratch;

/// A model server that ends with the test.
struct Local {
    child: Child,
    url: String,
}

impl Local {
    fn start() -> Self {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tools: PathBuf = here.join("../../target/tools/local-model");
        assert!(
            tools.join("installed").exists(),
            "a local model is needed: run scripts/local-model"
        );
        let mut child = Command::new("python3")
            .arg(here.join("../testkit/local-model/serve.py"))
            .env("PYTHONPATH", tools)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        assert!(url.starts_with("http://127.0.0.1:"), "it says {url:?}");
        Local { child, url: url.trim().to_owned() }
    }

    /// A repository whose agent asks it, with more said of that agent.
    fn scratch(&self, format: Format, more: &str, files: &[(&str, &str)]) -> Scratch {
        let (api, path) = match format {
            Format::Anthropic => ("anthropic", ""),
            Format::Openai => ("openai", "/v1"),
            Format::OpenaiChat => ("openai-chat", "/v1"),
            Format::Gemini => panic!("it does not speak so"),
        };
        let config = format!(
            "[agents.local]\nkind = 'api'\napi = '{api}'\nbase-url = '{}{path}'\nkey = 'LOCAL_KEY'\n\
             cost = 'none'\nmodels = {{ standard = 'smollm2' }}\n{more}\n\
             [roles]\ndefault = 'local'\n[checks]\ntest = 'sh test.sh'\n",
            self.url
        );
        let worker = "---\npurpose: does it\ntools: [edit]\n---\nDo what the unit is about.\n";
        let reviewer = "---\npurpose: looks at it\ntools: [read]\n---\nLook at what was done.\n";
        let mut all = vec![
            ("windlass.toml", config.as_str()),
            ("tasks.toml", TASKS),
            (".windlass/roles/worker.md", worker),
            (".windlass/roles/reviewer.md", reviewer),
        ];
        all.extend(files);
        Scratch::with(&all)
    }
}

impl Drop for Local {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(scratch: &Scratch, key: &str) -> (Option<i32>, String) {
    let output = scratch.start().env("LOCAL_KEY", key).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What the first invocation came to.
fn first_answer(scratch: &Scratch) -> Value {
    let mut run = scratch.follow(scratch.start().env("LOCAL_KEY", "test-key"));
    let answer = run.until("it answered", |entry| entry["note"] == "answered");
    let _ = run.child.kill();
    run.code();
    answer
}

/// Windows of this many tokens have room for all that is said here, and an answer for a tool that is called.
const ROOM: &str = "context-tokens = 4096\nmax-output-tokens = 400";

/// The words that it understands.
const FORMATS: [Format; 3] = [Format::OpenaiChat, Format::Openai, Format::Anthropic];

mod slow {
    use super::*;

    /// Each role uses a tool, is told what came of it, and answers; and each request is counted by the server.
    #[test]
    fn a_real_model_writes_a_file_that_is_reviewed_and_lands() {
        let local = Local::start();
        for format in FORMATS {
            let scratch = local.scratch(format, ROOM, &[]);
            let (code, said) = run(&scratch, "test-key");
            assert_eq!(code, Some(0), "{format:?}: {said}");
            assert_eq!(scratch.landed()["hello.txt"], "hello");
            let answers = scratch.notes("answered");
            let came: Vec<_> = answers.iter().map(|it| it["came"].as_str().unwrap()).collect();
            assert_eq!(came, ["done", "clear"], "{format:?}");
            let mut tokens = Vec::new();
            for answer in &answers {
                let used = &answer["models"][0];
                let count = |what: &str| used[what].as_u64().unwrap();
                assert_eq!((count("requests"), used["model"].as_str()), (2, Some("smollm2")));
                assert!(count("input") + count("cached") > 800, "{format:?}: {used}");
                assert!((20..800).contains(&count("output")), "{format:?}: {used}");
                tokens.push(count("input") + count("cached") + count("output"));
            }
            let entries = scratch.entries();
            let settled = entries.iter().filter_map(|it| it["settled"]["tokens"].as_u64());
            let settled: Vec<u64> = settled.filter(|tokens| *tokens > 0).collect();
            assert_eq!(settled, tokens, "{format:?}: all of it, and nothing else");
            assert_eq!(scratch.status()["runs"][0]["cost_usd"], 0.0);
            assert_eq!(scratch.processes(), Vec::<String>::new());
        }
    }

    #[test]
    fn what_a_real_server_cannot_do_has_its_own_word() {
        let local = Local::start();
        let long =
            "---\npurpose: does it\ntools: [edit]\n---\n".to_owned() + &"Do it. ".repeat(2_000);
        for format in FORMATS {
            let scratch = local.scratch(format, ROOM, &[]);
            let (code, said) = run(&scratch, "another-key");
            assert_ne!(code, Some(0), "{format:?}: {said}");
            assert!(said.contains("does not let it in: 401"), "{format:?}: {said}");

            let files = [(".windlass/roles/worker.md", long.as_str())];
            let answer = first_answer(&local.scratch(format, "", &files));
            assert_eq!(answer["came"], "context_full", "{format:?}: {answer:#}");
        }
        let short = "context-tokens = 4096\nmax-output-tokens = 8";
        let answer = first_answer(&local.scratch(Format::OpenaiChat, short, &[]));
        assert_eq!(answer["came"], "too_long", "{answer:#}");
        assert_eq!(answer["models"][0]["output"], 32, "four times");
    }
}
