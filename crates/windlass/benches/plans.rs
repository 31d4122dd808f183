//! What a long Plans.md costs who only looks: `windlass work --dry-run`, and `windlass status` of a run over all of its rows.
//!
//! `cargo bench -p windlass --bench plans` prints each beside an empty process, which takes turns with it. `-- keep` makes the
//! repository, says where it is, and leaves it there, for whoever wants to see where the time goes.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may panic")]

mod shared;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

const ROWS: usize = 1_000;
const STARTS: usize = 100;

fn main() {
    let dir = tempfile::tempdir().unwrap();
    made(dir.path());
    if std::env::args().any(|arg| arg == "keep") {
        println!("{}", dir.keep().display());
        return;
    }
    let verbs: [(&str, &[&str]); 4] = [
        ("`work all --dry-run` of 1,000 rows", &["work", "all", "--dry-run"]),
        ("`work 501 --dry-run`, one of them", &["work", "501", "--dry-run"]),
        ("`status` of a run over 1,000 rows", &["status"]),
        ("`--version`: what starting takes", &["--version"]),
    ];
    let mut empty = Vec::new();
    let mut found: [Vec<f64>; 4] = Default::default();
    for _ in 0..STARTS {
        empty.push(timed(&mut Command::new("/bin/true")));
        for ((_, args), times) in verbs.iter().zip(&mut found) {
            times.push(timed(&mut windlass(dir.path(), args)));
        }
    }
    let floor = median(&mut empty);
    println!("| figure (median, ms) | floor | Windlass | ratio | goal |\n|---|---|---|---|---|");
    for ((what, _), times) in verbs.iter().zip(&mut found) {
        let own = median(times);
        println!(
            "| {what}, beside an empty process | {floor:.2} | {own:.2} | {:.2} | ≤ 3 |",
            own / floor
        );
    }
}

/// A repository with a long table, and a run over all of it that was cut off when it had just begun.
fn made(dir: &Path) {
    let repo = repo(dir);
    fs::create_dir(&repo).unwrap();
    let mut plans = String::from(
        "# Plans\n\n| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n",
    );
    for nth in 1..=ROWS {
        let depends = if nth % 10 == 1 { "-".to_owned() } else { (nth - 1).to_string() };
        plans += &format!(
            "| {nth} | Add part {nth} to `src/part{nth}.rs` and say so in README.md | `cargo test part{nth}` passes; README.md names it | {depends} | cc:TODO |\n"
        );
    }
    fs::write(repo.join("Plans.md"), plans).unwrap();
    let config = "[agents.acted]\nkind = 'scripted'\nscript = 'script.toml'\n[roles]\ndefault = 'acted'\n[checks]\ntest = 'true'\n";
    fs::write(repo.join("windlass.toml"), config).unwrap();
    fs::write(repo.join("script.toml"), "[[answer]]\nfault = 'hang'\n").unwrap();
    shared::commit_all(&repo);
    let mut begun = windlass(dir, &["work", "all", "--json"]);
    let mut run = begun.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stdout.take().unwrap()).lines();
    let asked = lines.any(|line| line.unwrap().contains("\"note\":\"asked\""));
    run.kill().unwrap();
    run.wait().unwrap();
    assert!(asked, "nobody was set to work");
}

fn repo(dir: &Path) -> PathBuf {
    dir.join("repo")
}

fn windlass(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.args(args).current_dir(repo(dir));
    command.env("WINDLASS_STATE_DIR", dir.join("state")).env("WINDLASS_SANDBOX", "none");
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// Milliseconds until it has ended well.
fn timed(command: &mut Command) -> f64 {
    let from = Instant::now();
    assert_eq!(command.status().unwrap().code(), Some(0), "{command:?}");
    from.elapsed().as_secs_f64() * 1e3
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
