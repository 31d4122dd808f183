//! Programs that hang, will not go, leave others behind, multiply, flood and fill: six ways of each at least, all in the
//! sandbox that is the default here.
//!
//! Each has a bound of its own, so that a guard that fails cannot take the machine down. That each guard can fail is
//! shown where the guards are listed, in `docs/guards.toml`.

use std::fs;

use windlass_process::{
    Bounds, Disk, Ending, Finished, Limit, Output, Resource, Sandbox,
    sandbox::{Level, Wanted},
};

use super::{
    sandbox::{Machine, holders, tools},
    *,
};

const MB: u64 = 1 << 20;

/// How long a program has.
#[derive(Clone, Copy)]
enum Patience {
    /// It will use up what it has.
    Little,
    /// It will not, however slow the machine is.
    Much,
}

/// What every program here is held to.
fn limits(machine: &Machine, patience: Patience) -> Limits {
    let (wall, idle) = match patience {
        Patience::Little => (Duration::from_secs(2), Some(Duration::from_secs(1))),
        Patience::Much => (LONG * 3, None),
    };
    let disk = Disk { below: vec![machine.path("lane"), machine.path("tmp")], bytes: 60 * MB };
    Limits {
        wall: Some(wall),
        idle,
        grace: Duration::from_millis(100),
        bounds: Bounds {
            processes: Some(60),
            // More than is ever written to a disk that may itself be memory.
            memory: Some(600 * MB),
            cpu: None,
            files: Some(256),
            file: Some(40 * MB),
            disk: Some(disk),
        },
    }
}

/// Runs a script in Python, in its lane, and makes sure that nothing of it is left.
fn tried(name: &str, script: &str, patience: Patience) -> Finished {
    let machine = Machine::new();
    let sandbox = Sandbox::find(Wanted::Best, &tools(), &spawner()).expect("it starts here");
    assert_eq!(sandbox.level(), Level::Bubblewrap);
    let mark = machine.path("lane/mark");
    fs::write(&mark, "").expect("a file");
    // Whatever comes from it holds the mark, so that it can be found.
    let script = format!(
        "import os, signal, sys, threading, time, subprocess\nmark = os.open('mark', os.O_RDONLY)\nos.set_inheritable(mark, True)\n{script}"
    );
    let command = python(&script)
        .inside(&sandbox, machine.view(&sandbox))
        .limits(limits(&machine, patience))
        .stdout(Output::keep(MB, MB))
        .stderr(Output::keep(MB, MB));
    let finished = spawner().run(command).expect("it runs");
    assert_eq!(holders(&mark), Vec::<i32>::new(), "{name}: somebody is left");
    assert!(finished.stragglers.left.is_empty(), "{name}");
    finished
}

fn all_end(patience: Patience, cases: &[(&str, &str)], fits: impl Fn(Ending) -> bool) {
    assert!(cases.len() >= 6);
    for (name, script) in cases {
        let finished = tried(name, script, patience);
        assert!(fits(finished.ending), "{name}: {:?} {:?}", finished.ending, finished.why);
    }
}

#[test]
fn whoever_hangs_is_ended() {
    let fits = |ending| matches!(ending, Ending::TimedOut(Limit::Wall | Limit::Idle));
    all_end(
        Patience::Little,
        &[
            ("sleeps", "time.sleep(100)"),
            ("waits for a pipe", "os.mkfifo('pipe'); open('pipe').read()"),
            ("waits for itself", "l = threading.Lock(); l.acquire(); l.acquire(timeout=100)"),
            ("turns in circles", "end = time.time() + 100\nwhile time.time() < end: pass"),
            (
                "says a word now and then",
                "for _ in range(1000): print('.', flush=True); time.sleep(0.1)",
            ),
            ("stops itself", "os.kill(os.getpid(), signal.SIGSTOP)"),
            ("waits for a child that stopped", "subprocess.run(['sh', '-c', 'kill -STOP $$'])"),
            (
                "waits for a connection",
                "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); s.settimeout(100); s.accept()",
            ),
        ],
        fits,
    );
    // Whoever asks is told at once that there is nobody.
    let asks = tried(
        "asks",
        "print(repr(sys.stdin.read())); print(repr(sys.stdin.readline()))",
        Patience::Much,
    );
    assert_eq!(asks.ending, Ending::Exited(0));
    let terminal = tried("asks at the terminal", "open('/dev/tty').read()", Patience::Much);
    assert_eq!(terminal.ending, Ending::Exited(1));
}

#[test]
fn whoever_will_not_go_is_ended() {
    const IGNORE: &str = "signal.signal(signal.SIGTERM, signal.SIG_IGN)";
    all_end(
        Patience::Little,
        &[
            ("does not listen", &format!("{IGNORE}\ntime.sleep(100)")),
            (
                "does not listen to anything",
                "for s in range(1, 65):\n  try: signal.signal(s, signal.SIG_IGN)\n  except OSError: pass\ntime.sleep(100)",
            ),
            (
                "holds signals back",
                "signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\ntime.sleep(100)",
            ),
            (
                "says that it goes",
                "signal.signal(signal.SIGTERM, lambda *_: print('going'))\nend = time.time() + 100\nwhile time.time() < end: time.sleep(1)",
            ),
            (
                "starts itself again",
                "signal.signal(signal.SIGTERM, lambda *_: os.execv(sys.executable, ['python3', '-c', 'import time; time.sleep(100)']))\ntime.sleep(100)",
            ),
            (
                "has a group and a session of its own",
                &format!(
                    "{IGNORE}\nif os.fork():\n  os.wait()\nelse:\n  os.setsid(); time.sleep(100)"
                ),
            ),
            (
                "sends another in its place",
                "signal.signal(signal.SIGTERM, lambda *_: os.fork() and os._exit(0))\nend = time.time() + 100\nwhile time.time() < end: time.sleep(1)",
            ),
        ],
        |ending| matches!(ending, Ending::TimedOut(_)),
    );
}

#[test]
fn whoever_is_left_behind_is_ended() {
    const STAYS: &str = "[time.sleep(1) for _ in range(100)]";
    all_end(
        Patience::Much,
        &[
            ("a child", &format!("if os.fork() == 0: {STAYS}")),
            (
                "a child with a session of its own",
                &format!("if os.fork() == 0:\n  os.setsid(); {STAYS}"),
            ),
            (
                "a daemon",
                &format!(
                    "if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0: {STAYS}\n  os._exit(0)"
                ),
            ),
            (
                "one that holds no pipe",
                &format!(
                    "if os.fork() == 0:\n  [os.close(f) for f in (0, 1, 2)]; os.setsid(); {STAYS}"
                ),
            ),
            (
                "one without an environment",
                "subprocess.Popen(['sleep', '100'], env={}, close_fds=False, start_new_session=True)",
            ),
            (
                "one that does not listen",
                &format!(
                    "if os.fork() == 0:\n  [signal.signal(s, signal.SIG_IGN) for s in (1, 2, 15)]; os.setsid(); {STAYS}"
                ),
            ),
            (
                "a long line of them",
                &format!(
                    "for _ in range(20):\n  if os.fork(): os._exit(0)\n  os.setsid()\n{STAYS}"
                ),
            ),
            (
                "one that comes back",
                "subprocess.Popen(['sh', '-c', 'trap \"\" TERM HUP; for i in 1 2 3 4 5 6 7 8 9; do sleep 10; done'], close_fds=False, start_new_session=True)",
            ),
        ],
        |ending| ending == Ending::Exited(0),
    );
}

#[test]
fn whoever_multiplies_or_takes_all_memory_is_ended() {
    all_end(
        Patience::Much,
        &[
            (
                "forks",
                "made = 0\nwhile made < 2000:\n  try:\n    if os.fork() == 0: [time.sleep(1) for _ in range(100)]; os._exit(0)\n    made += 1\n  except OSError: time.sleep(0.01)",
            ),
            (
                "threads",
                "made = 0\nwhile made < 2000:\n  try: threading.Thread(target=time.sleep, args=(100,), daemon=True).start(); made += 1\n  except RuntimeError: time.sleep(0.01)",
            ),
            (
                "doubles",
                "for _ in range(11):\n  try: os.fork()\n  except OSError: pass\ntime.sleep(100)",
            ),
            (
                "takes memory",
                "held = []\nfor _ in range(100): held.append(bytearray(10_000_000)); time.sleep(0.005)",
            ),
            (
                "takes memory all at once",
                "held = bytearray(1_000_000_000)\nfor at in range(0, len(held), 4096): held[at] = 1\ntime.sleep(100)",
            ),
            (
                "takes memory in many hands",
                "for _ in range(20):\n  if os.fork() == 0:\n    held = bytearray(50_000_000); time.sleep(100); os._exit(0)\ntime.sleep(100)",
            ),
        ],
        |ending| matches!(ending, Ending::Exceeded(Resource::Processes | Resource::Memory)),
    );
    // Memory that is a file is counted by the kernel alone.
    if windlass_process::LimitedBy::here() == windlass_process::LimitedBy::Looking {
        println!("no control groups here: memory that is a file was not tried");
        return;
    }
    for (name, script) in [
        (
            "takes memory as a file",
            "f = open('/dev/shm/x', 'wb')\nfor _ in range(100): f.write(bytes(10_000_000)); f.flush(); f = open('/dev/shm/%d' % _, 'wb'); time.sleep(0.005)",
        ),
        (
            "takes memory that nobody names",
            "fs = []\nfor n in range(50):\n  fd = os.memfd_create('x'); fs.append(fd); os.write(fd, bytes(20_000_000)); time.sleep(0.005)",
        ),
    ] {
        let ending = tried(name, script, Patience::Much).ending;
        assert_eq!(ending, Ending::Exceeded(Resource::Memory), "{name}");
    }
}

#[test]
fn whoever_fills_the_disk_is_ended() {
    // Four hundred megabytes each, and a pause at the end in which somebody may look.
    all_end(
        Patience::Much,
        &[
            (
                "many files",
                "for n in range(40): open('f%d' % n, 'wb').write(bytes(10_000_000)); time.sleep(0.02)\ntime.sleep(100)",
            ),
            (
                "files that take their place at once",
                "for n in range(12):\n  f = os.open('g%d' % n, os.O_CREAT | os.O_RDWR); os.posix_fallocate(f, 0, 35_000_000)\ntime.sleep(100)",
            ),
            (
                "a great many small ones",
                "for n in range(60_000): open('s%d' % n, 'wb').write(b'x' * 4000)\ntime.sleep(100)",
            ),
            ("deep down", "for n in range(250): os.mkdir('d'); os.chdir('d')\ntime.sleep(100)"),
            (
                "among what is hidden",
                "os.makedirs('.git/objects/.x', exist_ok=True)\nfor n in range(40): open('.git/objects/.x/%d' % n, 'wb').write(bytes(10_000_000)); time.sleep(0.02)\ntime.sleep(100)",
            ),
            (
                "where scratch files go",
                "for n in range(40): open('/tmp/%d' % n, 'wb').write(bytes(10_000_000)); time.sleep(0.02)\ntime.sleep(100)",
            ),
        ],
        |ending| ending == Ending::Exceeded(Resource::Disk),
    );
    let one = tried(
        "one file",
        "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nf = open('one', 'wb')\nfor _ in range(40): f.write(bytes(10_000_000)); f.flush()",
        Patience::Much,
    );
    assert_eq!(one.ending, Ending::Signalled(25), "its length alone is too much");
}

#[test]
fn whoever_floods_is_heard_to_the_end_in_little_room() {
    let flood = |write: &str| {
        format!(
            "end = time.time() + 100\nleft = 100\nwhile left and time.time() < end:\n  {write}; left -= 1"
        )
    };
    for (name, write, bytes) in [
        ("lines", "sys.stdout.write('line of words\\n' * 50_000)", 70_000_000_u64),
        ("one long line", "sys.stdout.write('x' * 500_000)", 50_000_000),
        ("what is no text", "sys.stdout.buffer.write(os.urandom(500_000))", 50_000_000),
        ("noughts", "sys.stdout.buffer.write(bytes(500_000))", 50_000_000),
        (
            "both streams",
            "sys.stdout.write('x' * 250_000); sys.stderr.write('y' * 250_000)",
            25_000_000,
        ),
        (
            "letters of a terminal",
            "sys.stdout.write('\\x1b[31m\\x1b]0;evil\\x07' * 25_000)",
            35_000_000,
        ),
    ] {
        let finished = tried(name, &flood(write), Patience::Much);
        assert_eq!(finished.ending, Ending::Exited(0), "{name}");
        let total = finished.stdout.total_bytes();
        assert!(total * 10 >= bytes * 9, "{name}: {total} bytes");
        let kept = finished.stdout.text().expect("what was kept").len() as u64;
        assert!(kept < 3 * MB, "{name}: {kept} bytes were kept");
    }
}
