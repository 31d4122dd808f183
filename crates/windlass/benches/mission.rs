//! What a mission costs: to plan and schedule ten thousand features, to keep eight lanes busy, and for each feature when
//! thousands have landed before it.
//!
//! `cargo bench -p windlass --bench mission` prints each figure beside its floor; `-- plan`, `-- lanes` or `-- growth` one
//! of them by itself. The agent is this program, and does at once what its role does; there is no sandbox. How many
//! features the last one lands says `WINDLASS_BENCH_LANDINGS`: 5,000 of them take about an hour.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may panic")]

mod shared;

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// What the goal is about.
const MANY: usize = 10_000;
const TURNS: usize = 3;
/// Lanes of which each has work for a minute at a time, and how often.
const LANES: usize = 8;
const ROUNDS: usize = 2;
const WORK: Duration = Duration::from_secs(60);
/// Features whose costs are added up.
const WINDOW: usize = 50;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args[0].ends_with("git") {
        return counted_git();
    }
    match args.get(1).map(String::as_str) {
        Some("agent") => agent(Path::new(&args[2])),
        Some("plan") => plan(),
        Some("lanes") => lanes(),
        Some("growth") => growth(),
        _ => {
            plan();
            lanes();
            growth();
        }
    }
}

/// Stands in front of git, and leaves a byte behind for each call.
fn counted_git() {
    let own = PathBuf::from(std::env::args_os().next().unwrap());
    let own = own.parent().unwrap();
    append(&own.join("calls"), "x");
    let git = fs::read_to_string(own.join("real")).unwrap();
    panic!("{}", Command::new(git).args(std::env::args_os().skip(1)).exec());
}

fn append(path: &Path, text: &str) {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

fn now_us() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}

/// Does what its role does, after as long as it is to take. When a worker began is noted, and how much a curator was asked.
fn agent(dir: &Path) {
    let began = now_us();
    let mut prompt = Vec::new();
    std::io::stdin().read_to_end(&mut prompt).unwrap();
    let var = |name| std::env::var(name).unwrap_or_default();
    let unit = var("WINDLASS_UNIT");
    let answer = match var("WINDLASS_ROLE").as_str() {
        "mission-worker" => {
            append(&dir.join("began"), &format!("{began}\n"));
            if let Ok(gate) = fs::File::open(dir.join("gate")) {
                gate.lock_shared().unwrap();
            }
            let work = fs::read_to_string(dir.join("work")).unwrap_or_default();
            std::thread::sleep(Duration::from_millis(work.parse().unwrap_or(0)));
            fs::create_dir_all("made").unwrap();
            fs::write(file_of(&unit), "made\n").unwrap();
            json!({ "verdict": "built", "memory": [format!("{unit} was made as it was to be.")] })
        }
        "validator" => json!({
            "verdict": "pass",
            "claims": [{ "id": claim_of(&unit), "title": "It", "holds": "yes", "evidence": "looked" }],
        }),
        "curator" => {
            append(&dir.join("curators"), &format!("{}\n", prompt.len()));
            json!({ "verdict": "curated", "summary": "- It is made.", "long": "Made." })
        }
        _ => json!({ "verdict": "nothing" }),
    };
    println!("{answer}");
}

fn file_of(unit: &str) -> String {
    format!("made/{unit}.txt")
}

fn claim_of(unit: &str) -> String {
    format!("The file of {unit} is there")
}

/// A repository with a mission in it.
struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    /// With so many features, of which each that has a dependency has it on one before it.
    fn new(features: usize, depends: bool) -> Scratch {
        let scratch = Scratch { dir: tempfile::tempdir().unwrap() };
        let repo = scratch.repo();
        fs::create_dir(&repo).unwrap();
        let config = format!(
            "[agents.stand-in]\nkind = 'command'\ncommand = ['{}', 'agent', '{}']\ncost = 'none'\n\
             [roles]\ndefault = 'stand-in'\n[checks]\ntest = 'true'\n\
             [budget]\nrun = {{ tokens = 4000000000000, dollars = 1000000, minutes = 100000 }}\n",
            std::env::current_exe().unwrap().display(),
            scratch.dir.path().display()
        );
        fs::write(repo.join("windlass.toml"), config).unwrap();
        fs::write(repo.join("SPEC.md"), "# Files\n").unwrap();
        shared::commit_all(&repo);
        let id = |at: usize| format!("F-{at:05}");
        let all = (0..features).map(|at| {
            let before: Vec<String> =
                (depends && at % 3 == 2).then(|| id(at - 1)).into_iter().collect();
            json!({
                "id": id(at), "title": format!("Make part {at}"), "claims": [claim_of(&id(at))],
                "status": "pending", "attempts": 0, "depends": before, "files": [file_of(&id(at))],
            })
        });
        let queue = json!({ "features": all.collect::<Vec<Value>>() });
        fs::create_dir(repo.join(".harness")).unwrap();
        let path = repo.join(".harness/features.json");
        fs::write(path, serde_json::to_string_pretty(&queue).unwrap()).unwrap();
        scratch
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn mission(&self, lanes: usize) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.args(["mission", "--json", "--lanes", &lanes.to_string()]);
        command.current_dir(self.repo());
        command.env("WINDLASS_STATE_DIR", self.dir.path().join("state"));
        command.env("WINDLASS_SANDBOX", "none");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        command
    }

    /// When workers began.
    fn began(&self) -> Vec<u64> {
        let text = fs::read_to_string(self.dir.path().join("began")).unwrap_or_default();
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Bytes below the state directory, lanes and result store apart, and of the journal among them.
    fn state_bytes(&self) -> u64 {
        let mut bytes = 0;
        let mut dirs = vec![self.dir.path().join("state")];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
                let Ok(meta) = entry.metadata() else { continue };
                match meta.is_dir() {
                    true if entry.file_name() == "lanes" => {}
                    true => dirs.push(entry.path()),
                    false => bytes += meta.len(),
                }
            }
        }
        bytes
    }
}

/// What a mission prints of its journal.
struct Printed(BufReader<ChildStdout>);

impl Printed {
    fn of(child: &mut Child) -> Printed {
        Printed(BufReader::new(child.stdout.take().unwrap()))
    }

    /// Reads on until a feature has landed. No, if it has ended.
    fn landed(&mut self) -> bool {
        let mut line = String::new();
        while self.0.read_line(&mut line).unwrap() > 0 {
            if line.contains("\"landed\"") {
                let entry: Value = serde_json::from_str(&line).unwrap();
                if entry["note"] == "landed" && entry["unit"].is_string() {
                    return true;
                }
            }
            line.clear();
        }
        false
    }

    fn rest(&mut self) {
        std::io::copy(&mut self.0, &mut std::io::sink()).unwrap();
    }
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

/// A number of `/proc/PID/FILE`.
fn of_process(child: &Child, file: &str, key: &str) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/{file}", child.id())).unwrap();
    let line = text.lines().find(|line| line.starts_with(key)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// From the start of a mission to when every lane has a worker: the queue is read, looked through, and scheduled.
fn plan() {
    println!(
        "| a mission of so many features, until eight of them are being built | seconds | peak memory, MB |"
    );
    println!("|---|---|---|");
    let mut rows: [(Vec<f64>, Vec<f64>); 2] = Default::default();
    for _ in 0..TURNS {
        for (count, (times, sizes)) in [LANES, MANY].into_iter().zip(&mut rows) {
            let scratch = Scratch::new(count, true);
            let gate = fs::File::create(scratch.dir.path().join("gate")).unwrap();
            gate.lock().unwrap();
            // Those that depend on another wait for it.
            let first = if count == LANES { LANES - LANES / 3 } else { LANES };
            let from = now_us();
            let mut child = scratch.mission(LANES).spawn().unwrap();
            let mut printed = Printed::of(&mut child);
            std::thread::scope(|scope| {
                scope.spawn(|| printed.rest());
                let last = loop {
                    let began = scratch.began();
                    if began.len() >= first {
                        break began[first - 1];
                    }
                    assert!(child.try_wait().unwrap().is_none(), "it ended before");
                    std::thread::sleep(Duration::from_millis(1));
                };
                times.push((last - from) as f64 / 1e6);
                sizes.push(of_process(&child, "status", "VmHWM:") / 1e3);
                child.kill().unwrap();
                child.wait().unwrap();
                drop(gate);
            });
        }
    }
    let name = ["8, the floor", "10,000 (goal: under 5 s and 300 MB)"];
    for (name, (mut times, mut sizes)) in name.into_iter().zip(rows) {
        println!("| {name} | {:.2} | {:.0} |", median(&mut times), median(&mut sizes));
    }
}

/// Eight lanes whose workers take a minute each, beside the least that this could take.
fn lanes() {
    let count = LANES * ROUNDS;
    let scratch = Scratch::new(count, false);
    fs::write(scratch.dir.path().join("work"), WORK.as_millis().to_string()).unwrap();
    let mut child = scratch.mission(LANES).spawn().unwrap();
    let mut printed = Printed::of(&mut child);
    for _ in 0..count {
        assert!(printed.landed());
    }
    let last = now_us();
    printed.rest();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    let took = (last - scratch.began()[0]) as f64 / 1e6;
    let ideal = WORK.as_secs_f64() * ROUNDS as f64;
    println!(
        "\n| {count} features of a minute's work on {LANES} lanes, from the first worker to the last landing | ideal | Windlass | ratio | goal |"
    );
    println!("|---|---|---|---|---|");
    println!("| seconds | {ideal:.1} | {took:.1} | {:.3} | ≤ 1.05 |", took / ideal);
}

/// What a mission has used up by now.
struct Used {
    at: Instant,
    /// Of it and of all that it has started and that has ended.
    cpu_ms: f64,
    /// Written and read by it and them, MB.
    io_mb: [f64; 2],
    calls: u64,
    state_kb: f64,
    curator_kb: f64,
    memory_mb: f64,
}

impl Used {
    fn by(child: &Child, scratch: &Scratch) -> Used {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace();
        let cpu_ms = fields.skip(11).take(4).map(|it| it.parse::<f64>().unwrap() * 10.0).sum();
        let curators = fs::read_to_string(scratch.dir.path().join("curators")).unwrap_or_default();
        let curator = curators.lines().last().map_or(0.0, |line| line.parse().unwrap());
        let io = |key| of_process(child, "io", key) / 1e6;
        Used {
            at: Instant::now(),
            cpu_ms,
            io_mb: [io("wchar:"), io("rchar:")],
            calls: fs::metadata(scratch.dir.path().join("shim/calls")).map_or(0, |it| it.len()),
            state_kb: scratch.state_bytes() as f64 / 1e3,
            curator_kb: curator / 1e3,
            memory_mb: of_process(child, "status", "VmRSS:") / 1e3,
        }
    }

    fn row(&self, from: &Used, first: usize) {
        let each = |now: f64, then: f64| (now - then) / WINDOW as f64;
        println!(
            "| {first} to {} | {:.0} | {:.0} | {:.1} | {:.2} | {:.2} | {:.1} | {:.1} | {:.0} |",
            first + WINDOW - 1,
            (self.at - from.at).as_secs_f64() * 1e3 / WINDOW as f64,
            each(self.cpu_ms, from.cpu_ms),
            each(self.calls as f64, from.calls as f64),
            each(self.io_mb[0], from.io_mb[0]),
            each(self.io_mb[1], from.io_mb[1]),
            each(self.state_kb, from.state_kb),
            self.curator_kb,
            self.memory_mb,
        );
    }
}

/// What a feature costs when few have landed before it, and when thousands have.
fn growth() {
    let all = std::env::var("WINDLASS_BENCH_LANDINGS").map_or(1_100, |it| it.parse().unwrap());
    let scratch = Scratch::new(all, false);
    let shim = scratch.dir.path().join("shim");
    fs::create_dir(&shim).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let git = std::env::split_paths(&path).map(|dir| dir.join("git")).find(|git| git.is_file());
    fs::write(shim.join("real"), git.unwrap().to_str().unwrap()).unwrap();
    std::os::unix::fs::symlink(std::env::current_exe().unwrap(), shim.join("git")).unwrap();
    let path = std::iter::once(shim).chain(std::env::split_paths(&path));
    let path = std::env::join_paths(path).unwrap();
    let mut child = scratch.mission(4).env("PATH", path).spawn().unwrap();
    let mut printed = Printed::of(&mut child);
    println!(
        "\n| for each feature, of {all} on four lanes | ms | processor, ms | calls of git | written, MB | read, MB | state, KB | (a curator's prompt, KB) | (memory, MB) |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut from = None;
    let mut landed = 0;
    while landed < all {
        assert!(printed.landed());
        landed += 1;
        let begins = [10, 100, 500, 1_000, 2_000, 3_000, 4_000];
        if begins.contains(&landed) || landed + WINDOW == all {
            from = Some((landed, Used::by(&child, &scratch)));
        }
        if let Some((first, then)) = from.take_if(|(first, _)| landed == *first + WINDOW) {
            Used::by(&child, &scratch).row(&then, first);
        }
    }
    printed.rest();
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
