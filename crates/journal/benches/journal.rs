//! What remembering costs, beside the floor: the same bytes written to a plain file in the same
//! directory and synced. `cargo bench -p windlass-journal` prints the figures and asserts nothing;
//! the ratios of one run are what counts, since disks differ and machines are busy.
//!
//! The disk is that of the directory named by `TMPDIR`.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use windlass_journal::{Holder, Journal, Lock, Repository, RunId, Scope};

const EVENT_BYTES: usize = 300;
const APPENDS: usize = 1_000;
const ROUNDS: usize = 5;
const MANY: u64 = 1_000_000;

fn main() {
    let temp = tempfile::tempdir().expect("a temporary directory");
    let dir = temp.path().join("repo");
    let lock = Lock::take(&dir, Holder::this_process("bench", 0)).expect("free");
    let repository = Repository::known_at("/bench/.git");
    let journal = Journal::open(&lock, &repository).expect("opens");

    for events in [1, 16] {
        let run = new_run(&journal, &format!("append-{events}"));
        let mut floors = Vec::new();
        let mut appends = Vec::new();
        // In turns, so that both see the same disk.
        for round in 0..ROUNDS {
            floors.extend(floor(&dir, events));
            appends.extend(append(&journal, &run, round * APPENDS * events, events));
        }
        let (floor, append) = (Spread::of(floors), Spread::of(appends));
        println!("append of {events:2} events of {EVENT_BYTES} bytes, durable");
        println!("  floor   {floor}");
        println!("  journal {append}   {:.2}x the floor", append.ratio(&floor));
    }
    many(&journal);
    let bytes = fs::metadata(dir.join("journal.db")).map_or(0, |file| file.len());
    println!("database {} MB; peak memory {} MB", bytes / 1_000_000, peak_kib() / 1_000);
    reopen(journal, &lock, &repository);
}

fn event() -> Vec<u8> {
    let mut bytes =
        br#"{"seq":1,"at":{"mono_ms":1,"wall_ms":2},"event":"reported","note":""#.to_vec();
    bytes.resize(EVENT_BYTES - 2, b'x');
    bytes.extend_from_slice(b"\"}");
    bytes
}

fn new_run(journal: &Journal, name: &str) -> RunId {
    let run: RunId = name.parse().expect("a plain name");
    journal.create_run(&run, b"{}", 0).expect("created");
    run
}

fn floor(dir: &Path, events: usize) -> Vec<Duration> {
    let path = dir.join("floor");
    let mut file = File::create(&path).expect("created");
    let bytes = event().repeat(events);
    let times = timed(APPENDS, |_| {
        file.write_all(&bytes).expect("written");
        file.sync_data().expect("synced");
    });
    fs::remove_file(path).expect("removed");
    times
}

fn append(journal: &Journal, run: &RunId, from: usize, events: usize) -> Vec<Duration> {
    let batch = vec![event(); events];
    timed(APPENDS, |n| {
        let expected = (from + n * events) as u64;
        journal.append(run, expected, &batch, 0).expect("appended");
    })
}

fn timed(times: usize, mut work: impl FnMut(usize)) -> Vec<Duration> {
    let one = |n| {
        let started = Instant::now();
        work(n);
        started.elapsed()
    };
    (0..times).map(one).collect()
}

fn many(journal: &Journal) {
    let run = new_run(journal, "many");
    let batch = vec![event(); 1_000];
    for step in 0..MANY / 1_000 {
        journal.append(&run, step * 1_000, &batch, 0).expect("appended");
    }
    let started = Instant::now();
    let read = journal.read(&run, 0).expect("readable").inspect(|e| assert!(e.is_ok())).count();
    let per_event = started.elapsed() / u32::try_from(read).expect("few enough");
    println!("read and verify {read} events: {:.0?}, {per_event:?} each", started.elapsed());

    let bytes = event();
    let started = Instant::now();
    for _ in 0..MANY {
        std::hint::black_box(blake3::hash(std::hint::black_box(&bytes)));
    }
    println!("  hashing as many bytes alone: {:.0?}", started.elapsed());
    let started = Instant::now();
    let report = journal.verify(Scope::All).expect("verified");
    println!("verify everything: {:.0?}, sound: {}", started.elapsed(), report.is_sound());
}

fn reopen(journal: Journal, lock: &Lock, repository: &Repository) {
    let started = Instant::now();
    drop(journal);
    println!("close: {:.1?}", started.elapsed());
    let started = Instant::now();
    let journal = Journal::open(lock, repository).expect("opens");
    println!("open: {:.1?}", started.elapsed());
    let started = Instant::now();
    let reader = Journal::open_read_only(lock.dir(), repository).expect("opens");
    let runs = reader.runs().expect("readable").len();
    println!("open beside it for reading, list {runs} runs: {:.1?}", started.elapsed());
    drop(journal);
}

fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or(0)
}

struct Spread {
    p50: Duration,
    p90: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Spread {
        times.sort_unstable();
        Spread { p50: times[times.len() / 2], p90: times[times.len() * 9 / 10] }
    }

    fn ratio(&self, floor: &Spread) -> f64 {
        self.p50.as_secs_f64() / floor.p50.as_secs_f64()
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        write!(f, "p50 {:5.0} µs, p90 {:5.0} µs", us(self.p50), us(self.p90))
    }
}
