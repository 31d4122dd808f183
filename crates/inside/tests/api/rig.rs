//! A lane, a home and a model server, and the built-in agent in between.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_agents::Spend;
use windlass_agents::api::{Format, Own, Pace};
use windlass_agents::own::{ERRAND, End, Errand, RECORD, Said};
use windlass_inside::{Trade, run};
use windlass_testkit::{Reply, Request, Server};

/// What an agent is asked and where it works.
pub struct Rig {
    pub dir: tempfile::TempDir,
    pub server: Server,
    pub errand: Errand,
    pub own: Own,
}

/// What it said.
pub struct Told {
    pub said: Vec<Said>,
    pub end: End,
}

/// Waits that take as long as they take elsewhere in seconds take milliseconds here.
pub fn pace() -> Pace {
    Pace { tries_max: 4, second_ms: 1, ..Pace::default() }
}

/// What a role may answer.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"type": "string", "enum": ["done", "failed"]},
            "summary": {"type": "string"},
        },
        "required": ["verdict"],
    })
}

impl Rig {
    pub fn new(format: Format, brain: impl Fn(&Request) -> Reply + Send + Sync + 'static) -> Self {
        Rig::with(format, Server::start(brain).unwrap())
    }

    pub fn with(format: Format, server: Server) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("lane")).unwrap();
        let versions = matches!(format, Format::Openai | Format::OpenaiChat);
        let own = Own {
            format,
            base_url: format!("{}{}", server.url(), if versions { "/v1" } else { "" }),
            model: "m-1".to_owned(),
            context_tokens: 100_000,
            pace: pace(),
            ..Own::default()
        };
        let errand = Errand {
            stable: "# Your role: worker\n\nYou work.\n\n".to_owned(),
            prompt: "# Now\n\nSay hello.\n".to_owned(),
            schema: schema(),
            lane: dir.path().join("lane").display().to_string(),
            session: "s".to_owned(),
            spend: Spend::default(),
            ..Errand::default()
        };
        Rig { dir, server, errand, own }
    }

    pub fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    pub fn lane(&self, path: &str) -> PathBuf {
        self.dir.path().join("lane").join(path)
    }

    pub fn record(&self) -> PathBuf {
        self.home().join(RECORD)
    }

    /// Runs it to its end.
    pub fn run(&self) -> Told {
        let mut errand = self.errand.clone();
        errand.own = serde_json::to_value(&self.own).unwrap();
        let path = self.home().join(ERRAND);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, serde_json::to_vec(&errand).unwrap()).unwrap();
        let mut out = Vec::new();
        run(Trade::Api, &self.home(), &mut out).unwrap();
        let lines = out.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let mut said: Vec<Said> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        let Some(Said::End(end)) = said.pop() else { panic!("no end: {said:?}") };
        Told { said, end }
    }

    /// Lets it go on where it was cut off.
    pub fn resume(&mut self) -> Told {
        self.errand.resumes = true;
        self.errand.prompt = "# Now\n\nYou were cut off.\n".to_owned();
        self.run()
    }
}

impl Told {
    /// What each request used up, as it was said last: input, cached, written to the cache, output.
    pub fn used(&self) -> Vec<[u64; 4]> {
        let mut used: Vec<(&str, [u64; 4])> = Vec::new();
        for said in &self.said {
            if let Said::Usage { request, input, cached, cache_write, output, .. } = said {
                let figures = [*input, *cached, *cache_write, *output];
                match used.iter_mut().find(|(own, _)| own == request) {
                    Some((_, own)) => *own = figures,
                    None => used.push((request, figures)),
                }
            }
        }
        used.into_iter().map(|(_, figures)| figures).collect()
    }

    pub fn turns(&self) -> usize {
        self.said.iter().filter(|said| **said == Said::Turn).count()
    }

    pub fn waits(&self) -> Vec<u64> {
        let waits = self.said.iter().filter_map(|said| match said {
            Said::Waits { ms } => Some(*ms),
            _ => None,
        });
        waits.collect()
    }
}
