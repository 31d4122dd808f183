//! Tests that take more than a few seconds.

use windlass_process::Ending;

use super::*;

#[test]
fn a_gigabyte_of_output_takes_no_memory() {
    let bytes: u64 = 1 << 30;
    let command = Command::new(STAND_IN, "/").arg("flood").arg(bytes.to_string());
    let finished = spawner().run(command).unwrap();
    assert_eq!(finished.ending, Ending::Exited(0), "{:?}", finished.stderr.text());
    let said = text(&finished.stdout);
    let words: Vec<&str> = said.split_ascii_whitespace().collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    let (before, after, kept, total) = (number(0), number(1), number(2), number(3));
    // 65 megabytes were kept. Only the tail, one of them, was ever in memory.
    assert!(after < before + 4_000, "from {before} kB to {after} kB");
    assert_eq!(kept, 1 << 20);
    assert_eq!(total, bytes);
    let (mut hasher, zeros) = (blake3::Hasher::new(), vec![0; 1 << 20]);
    for _ in 0..bytes >> 20 {
        hasher.update(&zeros);
    }
    assert_eq!(words[4], hasher.finalize().to_string());
}

#[test]
fn output_keeps_a_program_from_being_idle() {
    let limits =
        Limits { wall: None, idle: Some(Duration::from_secs(2)), grace: LONG, ..Limits::default() };
    let script = "for i in 1 2 3 4 5 6 7; do sleep 0.5; echo $i; done";
    let finished = spawner().run(sh(script).limits(limits)).unwrap();
    assert_eq!(finished.ending, Ending::Exited(0));
}

#[test]
fn zombies_are_collected_while_their_program_runs() {
    // Orphans of a running program, which end at once.
    let script = "
import os, signal, time
for _ in range(6):
    told, tell = os.pipe()
    if os.fork() == 0:
        if os.fork() == 0:
            os.write(1, b'%d\\n' % os.getpid())
            os.write(tell, b'.')
            os._exit(0)
        os._exit(0)
    os.wait()
    os.read(told, 1)
    time.sleep(0.4)
print('done', flush=True)
while True: signal.pause()
";
    let (command, said) = watched(python(script));
    let child = spawner().spawn(command).unwrap();
    let mut pids = Vec::new();
    loop {
        match Said::next(&said) {
            Said::Pid(pid, _) => pids.push(pid),
            Said::Line(line) => {
                assert_eq!(line, "done");
                break;
            }
        }
    }
    assert_eq!(pids.len(), 6);
    assert!(!std::path::Path::new(&format!("/proc/{}", pids[0])).exists(), "a zombie is left");
    child.stop();
    assert_eq!(child.wait().unwrap().ending, Ending::Stopped);
}
