//! What was seen, a line for each point: written as it is seen, read again when a storm is taken up.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

pub struct Results {
    path: PathBuf,
    commit: String,
    /// The points where nothing was wrong, and what each of them covers.
    passed: BTreeMap<String, Vec<String>>,
}

impl Results {
    /// Takes a file of results up. What was seen at another commit, or of another program, does not count.
    pub fn open(name: &str) -> Results {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let dir = dir();
        let git = |args: &[&str]| {
            let output = Command::new("git").args(args).current_dir(&root).output().unwrap();
            String::from_utf8(output.stdout).unwrap().trim().to_owned()
        };
        let dirty = if git(&["status", "--porcelain"]).is_empty() { "" } else { "+changes" };
        let program = fs::read(env!("CARGO_BIN_EXE_windlass")).unwrap();
        let commit = format!("{}{dirty} {:016x}", git(&["rev-parse", "HEAD"]), digest(&program));
        let path = dir.join(format!("{name}.jsonl"));
        let mut passed = BTreeMap::new();
        for line in fs::read_to_string(&path).unwrap_or_default().lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_default();
            if line["commit"] == commit.as_str()
                && line["wrong"].is_null()
                && let Some(point) = line["point"].as_str()
            {
                let covers = line["covers"].as_array().into_iter().flatten();
                let covers = covers.filter_map(|it| it.as_str().map(str::to_owned)).collect();
                passed.insert(point.to_owned(), covers);
            }
        }
        Results { path, commit, passed }
    }

    /// Whether nothing was wrong at a point.
    pub fn has(&self, point: &str) -> bool {
        self.passed.contains_key(point)
    }

    /// What the points without a fault cover.
    pub fn covers(&self) -> impl Iterator<Item = &str> {
        self.passed.values().flatten().map(String::as_str)
    }

    /// Whether nothing was wrong at the point of this number.
    pub fn has_number(&self, number: usize) -> bool {
        let number = format!("{number} ");
        self.passed
            .range(number.clone()..)
            .next()
            .is_some_and(|(name, _)| name.starts_with(&number))
    }

    /// Writes down how it was at a point.
    pub fn add(&mut self, point: &str, wrong: Option<&str>, covers: &[String]) {
        let line =
            json!({ "point": point, "covers": covers, "commit": self.commit, "wrong": wrong });
        let file = fs::OpenOptions::new().append(true).create(true).open(&self.path);
        writeln!(file.unwrap(), "{line}").unwrap();
        if wrong.is_none() {
            self.passed.insert(point.to_owned(), covers.to_vec());
        }
    }
}

fn dir() -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/storm");
    fs::create_dir_all(&dir).unwrap();
    dir
}

/// Keeps something beside the results.
pub fn keep(name: &str, text: &str) {
    fs::write(dir().join(name), text).unwrap();
}

/// FNV-1a: it only has to tell one build from the next, and spread points over parts.
pub fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
    })
}
