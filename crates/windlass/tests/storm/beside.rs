//! What must hold of a story in which several are at work beside each other, whoever comes before whom.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

/// What their agents can do: write a file that another writes as well, and make one of both.
pub const SHARING: &str = r#"
share() {
  { [ ! -e shared.txt ] || cat shared.txt; echo "$1"; } | sort -u > "$here/shared-$1"
  cat "$here/shared-$1" > shared.txt
}
join() {
  grep -v '^[<=>|]' shared.txt | sort -u > "$here/shared-$1"
  cat "$here/shared-$1" > shared.txt
}
"#;

/// What is known of a story that is over.
pub struct Over {
    pub repo: PathBuf,
    /// Where Windlass remembers things.
    pub state: PathBuf,
    /// Who was asked, a line for each time.
    pub tally: String,
    /// What `lanes list` says.
    pub lanes: Value,
}

impl Over {
    pub fn git(&self, args: &[&str]) -> Result<String, String> {
        let output = Command::new("git").args(args).current_dir(&self.repo).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        let why = || format!("git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        output.status.success().then_some(said).ok_or_else(why)
    }

    /// Nobody is asked twice but who was at work; so many are asked more than once anyway.
    pub fn asked_again(&self, anyway: usize, cut_off: u32) -> Option<String> {
        let asked = self.tally.lines().collect::<BTreeSet<&str>>().len() + anyway;
        let again = self.tally.lines().count().saturating_sub(asked);
        (again > cut_off as usize)
            .then(|| format!("{again} were asked again, not {cut_off}:\n{}", self.tally))
    }

    /// Wherever the branch has been since the run began, its check passes.
    pub fn unproved(&self) -> Option<String> {
        let been = self.git(&["reflog", "show", "--format=%H %gs", "main"]).unwrap();
        let been = been.lines().filter(|line| line.contains("windlass:"));
        let scratch = tempfile::tempdir().unwrap();
        for (at, line) in been.enumerate() {
            let commit = line.split(' ').next().unwrap_or_default();
            let dir = scratch.path().join(at.to_string());
            fs::create_dir(&dir).unwrap();
            let unpack = format!("git archive {commit} | tar -x -C '{}'", dir.display());
            let unpacked =
                Command::new("sh").args(["-c", &unpack]).current_dir(&self.repo).status().unwrap();
            assert!(unpacked.success());
            let test = Command::new("sh").arg("test.sh").current_dir(&dir).output().unwrap();
            if !test.status.success() {
                return Some(format!("the branch was at {line}, where its check fails"));
            }
        }
        None
    }

    /// No lane is anybody's, no more of them were made than can be in use at once, and nothing lies about.
    pub fn left_over(&self, at_once: usize) -> Option<String> {
        let lanes = self.lanes["lanes"].as_array().cloned().unwrap_or_default();
        // Besides those of units: the run's own, and one beside each for who may not commit.
        let most = 2 * (at_once + 1);
        if lanes.len() > most || lanes.iter().any(|lane| !lane["run"].is_null()) {
            return Some(format!("lanes: {}", self.lanes));
        }
        let mut left = Vec::new();
        let mut dirs = vec![self.state.clone()];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(&dir).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let of_run = dir.ends_with("quarters") || dir.ends_with("effects");
                if of_run || name.starts_with("gone-") || name.contains(".windlass-") {
                    left.push(entry.path());
                } else if entry.file_type().unwrap().is_dir() && !dir.ends_with("lanes") {
                    dirs.push(entry.path());
                }
            }
        }
        (!left.is_empty()).then(|| format!("left over: {left:?}"))
    }
}
