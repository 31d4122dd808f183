//! What lanes, snapshots and landings cost on a repository of 5,000 small files, each beside the
//! plain git command that comes nearest to it.
//!
//! `cargo bench -p windlass-repo` prints the median of several rounds, with the fastest and the
//! slowest of them, and the processor time of a round on average, ours and git's: on a machine that
//! has other things to do, that is the figure to look at.

#![allow(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use windlass_repo::{
    Branch, Car, Coupled, Git, Host, Land, Landing, Lane, Oid, Person, Repository, Request,
    Settings, StdRun, Store, Target, When,
};

const FILES: usize = 5_000;
const ROUNDS: usize = 7;
const WHEN: When = When { seconds: 1_700_000_000, offset_minutes: 0 };

fn main() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let top = dir.path().join("repo");
    make(&top);
    let git = Git::find(Arc::new(StdRun), Host::of_this_process()).expect("git");
    let repository = Repository::find(&git, &top).expect("a repository");
    let state = dir.path().join("state");
    let begun = Instant::now();
    let store = Store::open(repository, &state, Settings::default()).expect("a store");
    println!("{FILES} files; ms: median (fastest to slowest of {ROUNDS})");
    println!("{:44} {:8.1}", "open, with a new mirror", ms(begun));
    let tip = tip(&store);

    let worktree = rounds("git worktree add", |at| {
        plain(&top, &["worktree", "add", "-q", "--detach", &path(dir.path(), "worktree", at)]);
    });
    let first = rounds("first lane", |at| {
        lane(&store, at, &tip, "first");
    });
    ratio("first lane / worktree add", first, worktree);
    let reset = rounds("lane put right, nothing changed", |at| {
        lane(&store, at, &tip, "second");
    });
    ratio("  / worktree add", reset, worktree);
    for at in 0..ROUNDS {
        let lane = lane(&store, at, &tip, "second");
        for file in 0..50 {
            fs::write(lane.work.join(format!("d{file}/f{file}.txt")), "edited\n").expect("written");
        }
        fs::create_dir(lane.work.join("target")).expect("made");
        for file in 0..500 {
            fs::write(lane.work.join(format!("target/{file}")), "built\n").expect("written");
        }
    }
    let reset = rounds("lane put right, 50 edited and 500 ignored", |at| {
        lane(&store, at, &tip, "third");
    });
    ratio("  / worktree add", reset, worktree);
    rounds("lane found as it was", |at| {
        lane(&store, at, &tip, "third");
    });
    snapshots(&store, &tip);
    checkouts(&store, &tip, worktree);
    landings(&top, &store);
    trains(&top, &store);
}

fn snapshots(store: &Store, tip: &Oid) {
    rounds("snapshot, nothing changed", |at| {
        store.snapshot(&lane(store, at, tip, "third"), "x", WHEN).expect("a snapshot");
    });
    let lanes: Vec<Lane> = (0..ROUNDS).map(|at| lane(store, at, tip, "third")).collect();
    for lane in &lanes {
        edit(&lane.work, 3);
    }
    let snapshot = rounds("snapshot, 3 files changed", |at| {
        assert!(store.snapshot(&lanes[at], "y", WHEN).expect("a snapshot").changed);
    });
    for lane in &lanes {
        edit(&lane.work, 4);
    }
    let commit = rounds("git add -A and git commit", |at| {
        plain(&lanes[at].work, &["add", "-A"]);
        plain(&lanes[at].work, &["commit", "-q", "-m", "x"]);
    });
    ratio("snapshot / add and commit", snapshot, commit);
    for lane in &lanes {
        edit(&lane.work, 5);
    }
    let person = Person::windlass();
    rounds("checkpoint, 5 files changed", |at| {
        assert!(store.checkpoint(&lanes[at], "x", &person, WHEN).expect("a checkpoint").saved);
    });
}

fn checkouts(store: &Store, tip: &Oid, worktree: Figure) {
    rounds("first clean checkout", |at| {
        store.checkout(number(at), tip).expect("a checkout");
    });
    let again = rounds("clean checkout from the pool", |at| {
        store.checkout(number(at), tip).expect("a checkout");
    });
    ratio("  / worktree add", again, worktree);
}

fn landings(top: &Path, store: &Store) {
    let requests = |at: usize, unit: &str, file: &str| {
        let lane = lane(store, at, &tip(store), unit);
        fs::write(lane.work.join(file), unit).expect("written");
        let tree = store.snapshot(&lane, unit, WHEN).expect("a snapshot").subject.tree;
        request(&lane, tree, Land::Merge)
    };
    let landed = |name: &str| {
        let mut rounds = Rounds::new();
        for at in 0..ROUNDS {
            let request = requests(at, &format!("{name} {at}"), &format!("new-{at}.txt"));
            grow_older();
            rounds.time(|| {
                let landing = store.land(&request).expect("a landing");
                assert!(matches!(landing, Landing::Landed { already: false, .. }), "{landing:?}");
            });
        }
        rounds.print(name)
    };
    let land = landed("land, checked out");
    let mut rounds_of_merge = Rounds::new();
    for at in 0..ROUNDS {
        plain(top, &["switch", "-q", "-c", &format!("side-{at}")]);
        fs::write(top.join("side.txt"), format!("{at}")).expect("written");
        plain(top, &["add", "-A"]);
        plain(top, &["commit", "-q", "-m", "side"]);
        plain(top, &["switch", "-q", "main"]);
        grow_older();
        let merge = ["merge", "-q", "--no-ff", "-m", "merge", &format!("side-{at}")];
        rounds_of_merge.time(|| plain(top, &merge));
    }
    let merge = rounds_of_merge.print("git merge --no-ff");
    ratio("land / merge --no-ff", land, merge);
    plain(top, &["switch", "-q", "--detach"]);
    landed("land, not checked out");
    rounds("sync, nothing new", |_| {
        store.sync().expect("in sync");
    });
}

/// Landings of the queue, and their notes: one by itself and eight together, where the branch is checked out. Beside each,
/// in turns, as many merges of branches that change as much.
fn trains(top: &Path, store: &Store) {
    plain(top, &["switch", "-q", "main"]);
    for cars in [1, 8] {
        let (mut ours, mut notes, mut theirs) = (Rounds::new(), Rounds::new(), Rounds::new());
        for round in 0..ROUNDS {
            let begins = tip(store);
            let file = |car: usize| format!("d{car}/train-{cars}-{round}.txt");
            let requests: Vec<Request> = (0..cars)
                .map(|car| {
                    let unit = format!("train {cars} {round} {car}");
                    let lane = lane(store, car, &begins, &unit);
                    fs::write(lane.work.join(file(car)), &unit).expect("written");
                    let tree = store.snapshot(&lane, &unit, WHEN).expect("a snapshot").subject.tree;
                    request(&lane, tree, Land::Merge)
                })
                .collect();
            grow_older();
            let mut landed = vec![];
            ours.time(|| landed = arrive(store, &begins, &requests));
            notes.time(|| {
                for commit in &landed {
                    store.note(commit, "Its claims hold.", WHEN).expect("a note");
                }
            });
            for car in 0..cars {
                let side = format!("side-{cars}-{round}-{car}");
                plain(top, &["switch", "-q", "-c", &side, begins.as_str()]);
                fs::write(top.join(format!("d{car}/{side}.txt")), &side).expect("written");
                plain(top, &["add", "-A"]);
                plain(top, &["commit", "-q", "-m", "side"]);
            }
            plain(top, &["switch", "-q", "main"]);
            grow_older();
            theirs.time(|| {
                for car in 0..cars {
                    let side = format!("side-{cars}-{round}-{car}");
                    plain(top, &["merge", "-q", "--no-ff", "-m", "merge", &side]);
                }
            });
        }
        let ours = ours.print(&format!("train of {cars}, checked out"));
        notes.print("  its notes");
        let theirs = theirs.print(&format!("git merge --no-ff, {cars} of them"));
        ratio("  / merge --no-ff", ours, theirs);
    }
}

fn arrive(store: &Store, begins: &Oid, requests: &[Request]) -> Vec<Oid> {
    let members: Vec<&Request> = requests.iter().collect();
    let train = store.train(begins, &members).expect("a train");
    let cars: Vec<&Car> = train
        .iter()
        .map(|coupled| match coupled {
            Coupled::On(car) => car,
            other => panic!("{other:?}"),
        })
        .collect();
    let last = cars.last().expect("a car");
    let landing = store.arrive(&requests[0], begins, &last.commit).expect("a landing");
    assert!(matches!(landing, Landing::Landed { already: false, .. }), "{landing:?}");
    cars.into_iter().map(|car| car.commit.clone()).collect()
}

fn make(top: &Path) {
    for file in 0..FILES {
        let dir = top.join(format!("d{}", file % 100));
        fs::create_dir_all(&dir).expect("made");
        let text = format!("file {file}\n").repeat(1 + file % 40);
        fs::write(dir.join(format!("f{file}.txt")), text).expect("written");
    }
    fs::write(top.join(".gitignore"), "target/\n").expect("written");
    plain(top, &["init", "-q", "-b", "main"]);
    plain(top, &["add", "-A"]);
    plain(top, &["commit", "-q", "-m", "first"]);
    plain(top, &["gc", "-q"]);
}

fn edit(work: &Path, files: usize) {
    for file in 0..files {
        fs::write(work.join(format!("d{file}/f{file}.txt")), format!("{files}\n"))
            .expect("written");
    }
}

fn lane(store: &Store, at: usize, tip: &Oid, unit: &str) -> Lane {
    store.ensure_lane(number(at), tip, "run", unit, WHEN).expect("a lane")
}

fn request(lane: &Lane, tree: Oid, how: Land) -> Request {
    Request {
        run: lane.run.clone(),
        branch: Branch::new("main").expect("a branch"),
        target: Target::There,
        how,
        base: lane.base.clone(),
        head: lane.base.clone(),
        tree,
        picks: vec![],
        message: lane.unit.clone(),
        author: Person::windlass(),
        when: WHEN,
    }
}

fn tip(store: &Store) -> Oid {
    let heads = store.sync().expect("in sync");
    heads.tip(&Branch::new("main").expect("a branch")).expect("main").clone()
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("small")
}

fn path(dir: &Path, name: &str, at: usize) -> String {
    let path: PathBuf = dir.join(format!("{name}-{at}"));
    path.to_str().expect("UTF-8").to_owned()
}

fn plain(dir: &Path, args: &[&str]) {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=A", "-c", "user.email=a@b", "-c", "gc.auto=0"]);
    let output = command.args(args).current_dir(dir).output().expect("git starts");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

/// Rounds of something: how long each took, and how much processor time all of them.
struct Rounds {
    took: Vec<f64>,
    busy: f64,
}

/// Medians of time and of processor time.
#[derive(Clone, Copy)]
struct Figure {
    ms: f64,
    cpu_ms: f64,
}

impl Rounds {
    fn new() -> Rounds {
        Rounds { took: vec![], busy: 0.0 }
    }

    fn time(&mut self, round: impl FnOnce()) {
        let (begun, busy) = (Instant::now(), busy_ms());
        round();
        self.took.push(ms(begun));
        self.busy += busy_ms() - busy;
    }

    fn print(mut self, name: &str) -> Figure {
        self.took.sort_by(f64::total_cmp);
        let (count, took) = (self.took.len(), &self.took);
        let (ms, cpu_ms) = (took[count / 2], self.busy / ROUNDS as f64);
        println!("{name:44} {ms:8.1}  ({:.1} to {:.1})  cpu {cpu_ms:.0}", took[0], took[count - 1]);
        Figure { ms, cpu_ms }
    }
}

/// Git looks into every file that is as old as its index, to the second. An agent's turn takes
/// longer than that, so what is measured is not to be that young.
fn grow_older() {
    thread::sleep(Duration::from_millis(1_100));
}

fn rounds(name: &str, mut round: impl FnMut(usize)) -> Figure {
    grow_older();
    let mut rounds = Rounds::new();
    for at in 0..ROUNDS {
        rounds.time(|| round(at));
    }
    rounds.print(name)
}

/// Processor time of this process and its children so far, in ticks of 10 ms.
fn busy_ms() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("a process file system");
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(4).map(|ticks| ticks.parse::<f64>().unwrap_or_default() * 10.0).sum()
}

fn ratio(name: &str, ours: Figure, theirs: Figure) {
    let (ms, cpu) = (ours.ms / theirs.ms, ours.cpu_ms / theirs.cpu_ms);
    println!("{name:44} {ms:8.2}×  (cpu {cpu:.2}×)");
}
