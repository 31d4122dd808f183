//! What Windlass itself costs, beside the least that it could cost: the same stand-in agent started in a loop, its
//! stream read, its end waited for. No sandbox and no edits: that is the bare row. The default row has an agent that
//! edits, and beside it a commit of what it did (what the sandbox costs is a bench of its own); then a whole autopilot, phase by
//! phase, and a whole task.
//!
//! `cargo bench -p windlass` prints each figure beside its floor. The two take turns, so that whatever else the
//! machine does falls on both; the ratio is what counts. This program plays every part: it is the bench, the floor
//! (`floor`), and the agent (`agent`).

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints, and may panic")]

mod shared;

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

/// Invocations in one run.
const ASKED: usize = 150;
/// Runs of each, in turns.
const TURNS: usize = 5;
const STARTS: usize = 100;
const LANES: usize = 64;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    match args.get(1).map(String::as_str) {
        Some("agent") => agent(Path::new(&args[2])),
        Some("floor") => floor(Path::new(&args[2]), args[3].parse().unwrap()),
        Some("commits") => commits(Path::new(&args[2]), args[3].parse().unwrap()),
        Some("pool") => pool(Path::new(&args[2]), args[3].parse().unwrap(), 0),
        Some("spawns") => {
            pool(Path::new(&args[2]), LANES, args[3].parse::<usize>().unwrap().div_ceil(LANES));
        }
        Some("lanes") => memory_and_lanes(),
        // One of them by itself: `cargo bench -p windlass --bench bare -- tasks`.
        Some("tasks") => tasks(),
        _ => bench(),
    }
}

fn now_us() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap()
}

/// Notes when it began, hears its prompt out, answers, and notes when it ended. Where there is a gate it waits there.
fn agent(dir: &Path) {
    let began = now_us();
    std::io::stdin().read_to_end(&mut Vec::new()).unwrap();
    let gate = dir.join("gate");
    if gate.exists() {
        stamp(dir, "at the gate", began, 0);
        fs::File::open(&gate).unwrap().lock_shared().unwrap();
    }
    std::io::stdout().write_all(play().as_bytes()).unwrap();
    stamp(dir, "stamps", began, now_us());
}

/// Does what its role does, and says so.
fn play() -> String {
    let var = |name| std::env::var(name).unwrap_or_default();
    let verdict = match var("WINDLASS_ROLE").as_str() {
        "planner" => {
            fs::write(var("WINDLASS_FILE_PLAN"), "### Task 1: Write it\n").unwrap();
            let handoff = "{\"fromSkill\":\"harness-planning\",\"concerns\":[]}";
            fs::write(var("WINDLASS_FILE_HANDOFF_JSON"), handoff).unwrap();
            "planned"
        }
        "verifier" | "evaluator" => "pass",
        "code-reviewer" => "clear",
        "architect" | "senior-developer" | "synthesis-standard" => "generated",
        "lead-developer" | "combined-advisor" => "written",
        "implementation-standard" => {
            edit(Path::new("made.txt"));
            "changed"
        }
        "writer" | "task-executor" => {
            edit(Path::new(&format!("unit-{}.txt", var("WINDLASS_UNIT"))));
            "done"
        }
        _ => "done",
    };
    // What a role of task promises; the verdict is an evaluator's.
    let papers = std::env::vars().filter(|(name, _)| name.ends_with("_MD"));
    for (_, path) in papers.filter(|(name, _)| name.starts_with("WINDLASS_FILE_")) {
        fs::write(path, "### Verdict: PASS\n").unwrap();
    }
    let counts = "\"blocking_count\":0,\"warning_count\":0,\"note_count\":0";
    format!("{{\"verdict\":\"{verdict}\",{counts}}}\n")
}

fn edit(path: &Path) {
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    writeln!(file.unwrap(), "{}", now_us()).unwrap();
}

fn stamp(dir: &Path, file: &str, began: u64, ended: u64) {
    let file = fs::OpenOptions::new().append(true).create(true).open(dir.join(file));
    file.unwrap().write_all(format!("{began} {ended}\n").as_bytes()).unwrap();
}

fn ask(dir: &Path) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.arg("agent").arg(dir).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"What is next?\n").unwrap();
    let mut said = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut said).unwrap();
    assert!(child.wait().unwrap().success() && !said.is_empty());
}

/// The least that asking an agent again and again can cost.
fn floor(dir: &Path, times: usize) {
    (0..times).for_each(|_| ask(dir));
}

/// The parts of an invocation that edits: an agent that does, and a commit of what it did.
fn commits(dir: &Path, times: usize) {
    let repo = dir.join("parts");
    fs::create_dir(&repo).unwrap();
    let git = |args: &[&str]| {
        assert!(Command::new("git").args(args).current_dir(&repo).status().unwrap().success());
    };
    git(&["init", "-q"]);
    git(&["config", "user.name", "Ada"]);
    git(&["config", "user.email", "ada@example.org"]);
    for _ in 0..times {
        ask(dir);
        edit(&repo.join("unit-task-0.txt"));
        git(&["add", "-A"]);
        git(&["commit", "-qm", "Saved"]);
    }
}

/// The same, all at once, each with so many calls of git.
fn pool(dir: &Path, times: usize, calls: usize) {
    let git = which("git");
    let ask_and_call = || {
        ask(dir);
        for _ in 0..calls {
            let mut call = Command::new(&git);
            call.args(["rev-parse", "HEAD^{tree}"]).current_dir(dir.join("repo"));
            assert!(call.stdout(Stdio::null()).status().unwrap().success());
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..times {
            scope.spawn(ask_and_call);
        }
    });
}

/// A repository, and an agent that is this program.
struct Scratch {
    dir: tempfile::TempDir,
}

impl Scratch {
    fn new(flow: &str, tasks: usize) -> Scratch {
        let scratch = Scratch { dir: tempfile::tempdir().unwrap() };
        let repo = scratch.repo();
        fs::create_dir(&repo).unwrap();
        fs::write(repo.join("flow.toml"), flow).unwrap();
        fs::write(repo.join("catalogue.toml"), CATALOGUE).unwrap();
        let tasks: String =
            (0..tasks).map(|task| format!("[[task]]\nid = 'task-{task}'\n")).collect();
        fs::write(repo.join("tasks.toml"), tasks).unwrap();
        let config = format!(
            "[agents.stand-in]\nkind = 'command'\ncommand = ['{}', 'agent', '{}']\ncost = 'none'\n\
             [roles]\ndefault = 'stand-in'\n\
             [budget]\nrun = {{ tokens = 4000000000, dollars = 1000 }}\n",
            std::env::current_exe().unwrap().display(),
            scratch.dir.path().display()
        );
        fs::write(repo.join("windlass.toml"), config).unwrap();
        shared::commit_all(&repo);
        scratch
    }

    fn repo(&self) -> PathBuf {
        self.dir.path().join("repo")
    }

    fn windlass(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command.args(args).current_dir(self.repo());
        command
            .env("WINDLASS_STATE_DIR", self.dir.path().join("state"))
            .env("WINDLASS_SANDBOX", "none");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// The same with a spec of so many phases, for autopilot.
    fn piloted(phases: usize) -> Scratch {
        let scratch = Scratch::new("", 0);
        let phases = 1..=phases;
        let phases = phases
            .map(|phase| format!("### Phase {phase}: Part {phase}\n<!-- complexity: low -->\n\n"));
        let spec = format!("# Parts\n\n## Implementation Order\n\n{}", phases.collect::<String>());
        fs::write(scratch.repo().join("spec.md"), spec).unwrap();
        let config = scratch.repo().join("windlass.toml");
        let own = fs::read_to_string(&config).unwrap();
        let policies = "[checks]\nvalidate = 'true'\n\
                        [policies.go-on]\nstage = 'go_on'\nanswer = 'yes'\n\
                        [policies.no-pr]\nstage = 'offer_pr'\nanswer = 'no'\n";
        fs::write(config, format!("{own}{policies}")).unwrap();
        for args in [&["add", "-A"][..], &["commit", "-qm", "Spec"]] {
            let status = Command::new("git").args(args).current_dir(scratch.repo()).status();
            assert!(status.unwrap().success());
        }
        scratch
    }

    /// The same for a task, with conventions, so that nothing is asked about those.
    fn tasked() -> Scratch {
        let scratch = Scratch::new("", 0);
        let (repo, config) = (scratch.repo(), scratch.repo().join("windlass.toml"));
        let own = fs::read_to_string(&config).unwrap();
        let more = "[checks]\ntest = 'true'\n[policies.ends]\nstage = 'commit_gate'\nanswer = 'code_only'\n";
        fs::write(config, format!("{own}{more}")).unwrap();
        fs::write(repo.join("CLAUDE.md"), "Use spaces.\n".repeat(60)).unwrap();
        for args in [&["add", "-A"][..], &["commit", "-qm", "Task"]] {
            assert!(Command::new("git").args(args).current_dir(&repo).status().unwrap().success());
        }
        scratch
    }

    /// A whole task, with its one answer between; `path` is where programs are looked for.
    fn task(&self, path: Option<&Path>) -> Duration {
        let words: [(&[&str], i32); 3] = [
            (&["task", "Make it", "--mode", "standard", "--model-config", "default"], 8),
            (&["answer", "task-1:0", "proceed"], 0),
            (&["resume"], 0),
        ];
        let all = std::env::var("PATH").unwrap_or_default();
        let one = |(args, code): &(&[&str], i32)| {
            let mut command = self.windlass(args);
            if let Some(first) = path {
                command.env("PATH", format!("{}:{all}", first.display()));
            }
            timed(&mut command, *code).0
        };
        words.iter().map(one).sum()
    }

    /// A directory for the front of `PATH` whose `git` is counted.
    fn shim(&self) -> PathBuf {
        let (count, shim) = (self.dir.path().join("counted"), self.dir.path().join("shim"));
        fs::create_dir(&shim).unwrap();
        let (git, count) = (which("git"), count.display());
        let line = format!("#!/bin/sh\necho >> '{count}'\nexec '{}' \"$@\"\n", git.display());
        fs::write(shim.join("git"), line).unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        fs::set_permissions(shim.join("git"), mode).unwrap();
        shim
    }

    /// How often git was called by way of that since this was asked last.
    fn calls(&self) -> usize {
        let count = self.dir.path().join("counted");
        let calls = fs::read_to_string(&count).unwrap().lines().count();
        fs::remove_file(&count).unwrap();
        calls
    }

    fn autopilot(&self) -> Command {
        self.windlass(&["autopilot", "spec.md", "--fast"])
    }

    fn run(&self) -> Command {
        self.windlass(&["run", "flow.toml", "--catalogue", "catalogue.toml"])
    }

    /// When agents began and ended, and forgets it.
    fn stamps(&self) -> Vec<(u64, u64)> {
        let file = self.dir.path().join("stamps");
        let text = fs::read_to_string(&file).unwrap();
        fs::remove_file(&file).unwrap();
        text.lines()
            .map(|line| {
                let (began, ended) = line.split_once(' ').unwrap();
                (began.parse().unwrap(), ended.parse().unwrap())
            })
            .collect()
    }

    fn own(&self, part: &str, times: usize) -> Command {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.arg(part).arg(self.dir.path()).arg(times.to_string());
        command
    }
}

const CATALOGUE: &str = "[role.reader]\nabout = 'reads'\nverdicts = ['done']\n\
                         [role.writer]\nabout = 'writes'\nverdicts = ['done']\n\
                         [read.tasks]\nabout = 'tasks'\nverdicts = ['found', 'empty']\nlists.tasks = {}\n";

/// Every unit's agent is asked again and again; a loop of its own is the least that has a reason to end.
fn flow(lanes: usize, rounds: usize, stage: &str) -> String {
    format!(
        "workflow = 'bare'\nabout = 'Asks an agent again and again.'\n\
         [units]\ncalled = 'task'\nlanes = {lanes}\n\
         [counters]\nrounds = {{ per = 'unit', max = {rounds} }}\n\
         [always]\nunknown = 'pause'\nno_output = 'pause'\ncrashed = 'pause'\ntimed_out = 'pause'\n\
         cut_short = 'pause'\ncontext_full = 'pause'\ninvalid = 'pause'\n\
         [[intake]]\nstage = 'list'\nread = 'tasks'\n\
         on = {{ found = {{ to = 'end', add = {{ unit = 'tasks' }} }}, empty = 'end' }}\n\
         [[unit]]\n{stage}\n"
    )
}

const ASK: &str = "stage = 'ask'\nrole = 'reader'\n\
                   on = { done = { to = 'again', count = 'rounds', spent = 'done' } }";
const WRITE: &str = "stage = 'ask'\nrole = 'writer'\nedits = true\n\
                     on = { done = { to = 'again', count = 'rounds', spent = 'done' } }";
const GATE: &str = "stage = 'ask'\ngate = 'Well?'\n\
                    on = { yes = 'done', again = { to = 'again', count = 'rounds', spent = 'failed' } }";

/// Processor time of everything that we started and that has ended.
fn used() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let us = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(u64::try_from(us).unwrap())
}

/// Runs it to its end, and says how long that took and how much processor time.
fn timed(command: &mut Command, code: i32) -> (Duration, Duration) {
    let (from, before) = (Instant::now(), used());
    assert_eq!(command.status().unwrap().code(), Some(code), "{command:?}");
    (from.elapsed(), used() - before)
}

fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() - 1) * percent / 100]
}

fn median(times: &mut [f64]) -> f64 {
    percentile(times, 50)
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn row(number: u32, what: &str, floor: f64, found: f64, goal: &str) {
    println!("| {number} | {what} | {floor:.2} | {found:.2} | {:.2} | {goal} |", found / floor);
}

fn bench() {
    println!("| | figure (median; ms unless said) | floor | Windlass | ratio | goal |");
    println!("|---|---|---|---|---|---|");
    gaps();
    starts();
    memory_and_lanes();
    resumes();
    edits();
    phases();
    tasks();
}

/// A whole task in mode standard, without the time that its agents take, beside its parts: as many starts of an agent, of
/// git and of a shell as it takes.
fn tasks() {
    let counted = Scratch::tasked();
    let shim = counted.shim();
    counted.task(Some(&shim));
    let calls = counted.calls();
    let git = which("git");
    let agents = counted.stamps().len();
    let (mut floors, mut found) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let scratch = Scratch::tasked();
        let from = Instant::now();
        (0..agents).for_each(|_| ask(scratch.dir.path()));
        let asked: u64 = scratch.stamps().iter().map(|(began, ended)| ended - began).sum();
        for _ in 0..calls {
            let mut call = Command::new(&git);
            call.args(["rev-parse", "HEAD^{tree}"])
                .current_dir(scratch.repo())
                .stdout(Stdio::null());
            assert!(call.status().unwrap().success());
        }
        for _ in 0..2 {
            assert!(Command::new("/bin/sh").args(["-c", "true"]).status().unwrap().success());
        }
        floors.push(ms(from.elapsed()) - asked as f64 / 1e3);
        let time = scratch.task(None);
        let asked: u64 = scratch.stamps().iter().map(|(began, ended)| ended - began).sum();
        found.push(ms(time) - asked as f64 / 1e3);
    }
    println!(
        "| – | calls of git, and agents, of a task in mode standard | – | {calls}, {agents} | – | – |"
    );
    let (floor, own) = (median(&mut floors), median(&mut found));
    row(0, "a whole task in mode standard, beside its starts of programs", floor, own, "≤ 3");
}

/// Where a program is.
fn which(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dirs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    dirs.iter().map(|dir| dir.join(name)).find(|file| file.is_file()).unwrap()
}

/// The time between two agents, and the processor time for each.
fn gaps() {
    let (mut floors, mut found) = (Vec::new(), Vec::new());
    let (mut floor_cpu, mut found_cpu) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let scratch = Scratch::new(&flow(1, ASKED - 1, ASK), 1);
        let (_, cpu) = timed(&mut scratch.own("floor", ASKED), 0);
        floor_cpu.push(ms(cpu) / ASKED as f64);
        floors.extend(between(&scratch.stamps()));
        // What a run costs as such is the difference between a long one and a short one.
        let (_, cpu) = timed(&mut scratch.run(), 0);
        let stamps = scratch.stamps();
        assert_eq!(stamps.len(), ASKED);
        found.extend(between(&stamps));
        let short = Scratch::new(&flow(1, 9, ASK), 1);
        let (_, base) = timed(&mut short.run(), 0);
        found_cpu.push(ms(cpu.saturating_sub(base)) / (ASKED - 10) as f64);
    }
    let (floor, own) = (median(&mut floors), median(&mut found));
    row(1, "gap between agents, intent and result durable", floor, own, "≤ 2.0");
    let (p50, p90) = (percentile(&mut found, 50), percentile(&mut found, 90));
    row(1, "the same, 90th percentile beside the 50th", p50, p90, "≤ 1.5");
    let (floor, own) = (median(&mut floor_cpu), median(&mut found_cpu));
    row(2, "processor time for each invocation", floor, own, "≤ 1.5");
}

fn between(stamps: &[(u64, u64)]) -> Vec<f64> {
    stamps.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].1) as f64 / 1e3).collect()
}

/// `--help`, and `status` with a thousand units.
fn starts() {
    let scratch = Scratch::new(&flow(1, 1, GATE), 1_000);
    timed(&mut scratch.run(), 8);
    let (mut empty, mut help, mut status) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..STARTS {
        empty.push(ms(timed(&mut Command::new("/bin/true"), 0).0));
        help.push(ms(timed(&mut scratch.windlass(&["--help"]), 0).0));
        status.push(ms(timed(&mut scratch.windlass(&["status"]), 0).0));
    }
    let floor = median(&mut empty);
    row(3, "`--help`, beside an empty process", floor, median(&mut help), "≤ 2");
    row(3, "`status` with 1,000 units, beside an empty process", floor, median(&mut status), "≤ 3");
}

/// Sixty-four lanes at once: what they take of memory, and of time.
fn memory_and_lanes() {
    let scratch = Scratch::new(&flow(LANES, 0, ASK), LANES);
    let shim = scratch.shim();
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", shim.display());
    let (mut cold, mut pooled) = (Vec::new(), Vec::new());
    let (mut floors, mut cold_floors, mut pooled_floors) = (Vec::new(), Vec::new(), Vec::new());
    let each = |command: &mut Command| {
        let (time, _) = timed(command, 0);
        assert_eq!(scratch.stamps().len(), LANES);
        ms(time) / LANES as f64
    };
    // What is done is counted apart from what it takes: the first time lanes are made.
    let mut counts = [0, 0];
    for count in &mut counts {
        each(scratch.run().env("PATH", &path));
        *count = scratch.calls();
    }
    for _ in 0..TURNS {
        let fresh = Scratch::new(&flow(LANES, 0, ASK), LANES);
        floors.push(each(&mut scratch.own("pool", LANES)));
        cold_floors.push(each(&mut scratch.own("spawns", counts[0])));
        pooled_floors.push(each(&mut scratch.own("spawns", counts[1])));
        cold.push(ms(timed(&mut fresh.run(), 0).0) / LANES as f64);
        pooled.push(each(&mut scratch.run()));
    }
    println!("| – | calls of git, lanes made and pooled | – | {counts:?} | – | – |");
    let (floor, cold, pooled) = (median(&mut floors), median(&mut cold), median(&mut pooled));
    row(6, "64 tasks in 64 lanes made for them, for each task", floor, cold, "≤ 1.5");
    let spawns = median(&mut cold_floors);
    row(6, "the same, beside as many starts of git as well", spawns, cold, "≤ 1.5");
    row(6, "64 tasks in 64 pooled lanes, for each task", floor, pooled, "≤ 1.5");
    let spawns = median(&mut pooled_floors);
    row(6, "the same, beside as many starts of git as well", spawns, pooled, "≤ 1.5");
    let gate = Gate::new(&scratch);
    let mut run = scratch.run().spawn().unwrap();
    gate.wait_for(LANES, &mut run);
    let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    let kib: f64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    gate.open();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    println!("| 4 | peak memory with 64 lanes in flight, MB | – | {:.1} | – | ≤ 12 |", kib / 1e3);
}

/// Where agents wait until all have come: a file that is locked meanwhile.
struct Gate<'a> {
    scratch: &'a Scratch,
    path: PathBuf,
    _locked: fs::File,
}

impl Gate<'_> {
    fn new(scratch: &Scratch) -> Gate<'_> {
        let path = scratch.dir.path().join("gate");
        let file = fs::File::create(&path).unwrap();
        file.lock().unwrap();
        let _ = fs::remove_file(scratch.dir.path().join("at the gate"));
        Gate { scratch, path, _locked: file }
    }

    /// When so many agents have come; says when the last began.
    fn wait_for(&self, agents: usize, run: &mut Child) -> u64 {
        loop {
            let text = fs::read_to_string(self.scratch.dir.path().join("at the gate"));
            let text = text.unwrap_or_default();
            if text.lines().count() >= agents {
                let last = text.lines().last().unwrap();
                return last.split_once(' ').unwrap().0.parse().unwrap();
            }
            assert!(run.try_wait().unwrap().is_none(), "it ended before its agents had begun");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Everybody may go on, and whoever comes late finds no gate.
    fn open(self) {
        fs::remove_file(&self.path).unwrap();
    }
}

/// Starts a run, kills it while its first agent waits, starts it again, and says how long it took to the next agent.
fn killed_and_resumed(scratch: &Scratch, mut start: Command, mut again: Command) -> f64 {
    let gate = Gate::new(scratch);
    let mut run = start.spawn().unwrap();
    gate.wait_for(1, &mut run);
    run.kill().unwrap();
    run.wait().unwrap();
    fs::remove_file(scratch.dir.path().join("at the gate")).unwrap();
    let from = now_us();
    let mut run = again.spawn().unwrap();
    let began = gate.wait_for(1, &mut run);
    gate.open();
    assert_eq!(run.wait().unwrap().code(), Some(0));
    began.saturating_sub(from) as f64 / 1e3
}

/// From `windlass resume` after a kill to the first agent.
fn resumes() {
    let (mut floors, mut found) = (Vec::new(), Vec::new());
    for _ in 0..TURNS * 2 {
        let scratch = Scratch::new(&flow(1, 1, ASK), 1);
        found.push(killed_and_resumed(&scratch, scratch.run(), scratch.windlass(&["resume"])));
        scratch.stamps();
        let from = now_us();
        ask(scratch.dir.path());
        floors.push(scratch.stamps()[0].0.saturating_sub(from) as f64 / 1e3);
    }
    let (floor, found) = (median(&mut floors), median(&mut found));
    row(5, "kill -9, then `resume`, to the first agent (goal 10 ms)", floor, found, "≤ 10 ms");
}

/// The default row, as far as it is there: an agent that edits, and what it did kept as a commit.
fn edits() {
    let (mut parts, mut found) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        let scratch = Scratch::new(&flow(1, ASKED / 3 - 1, WRITE), 1);
        timed(&mut scratch.own("commits", ASKED / 3), 0);
        parts.extend(between(&scratch.stamps()));
        timed(&mut scratch.run(), 0);
        found.extend(between(&scratch.stamps()));
    }
    let (floor, own) = (median(&mut parts), median(&mut found));
    row(
        1,
        "gap between agents that edit, without a sandbox, beside its parts",
        floor,
        own,
        "≤ 1.3",
    );
    let (p50, p90) = (percentile(&mut found, 50), percentile(&mut found, 90));
    row(1, "the same, 90th percentile beside the 50th", p50, p90, "≤ 1.5");
}

/// Autopilot: what a phase takes in a short spec and in a long one, and how quickly a run is there again.
fn phases() {
    let each = |phases: usize| {
        let scratch = Scratch::piloted(phases);
        let (time, _) = timed(&mut scratch.autopilot(), 0);
        let asked: u64 = scratch.stamps().iter().map(|(began, ended)| ended - began).sum();
        ((ms(time) - asked as f64 / 1e3) / phases as f64, scratch)
    };
    let mut short: Vec<f64> = (0..TURNS).map(|_| each(10).0).collect();
    let (long, scratch) = each(100);
    let short = median(&mut short);
    row(10, "a phase of 100 beside a phase of 10, without its agents", short, long, "≤ 1.5");
    let (mut empty, mut status) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        empty.push(ms(timed(&mut Command::new("/bin/true"), 0).0));
        status.push(ms(timed(&mut scratch.windlass(&["status"]), 0).0));
    }
    row(
        3,
        "`status` after 100 phases, beside an empty process",
        median(&mut empty),
        median(&mut status),
        "≤ 3",
    );
    let mut found = Vec::new();
    for _ in 0..TURNS * 2 {
        let scratch = Scratch::piloted(3);
        let again = scratch.windlass(&["autopilot"]);
        found.push(killed_and_resumed(&scratch, scratch.autopilot(), again));
    }
    println!(
        "| 5 | `kill -9`, then `autopilot` again, to the first agent | – | {:.1} | – | ≤ 25 ms |",
        median(&mut found)
    );
}
