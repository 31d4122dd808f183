//! What agents really printed, replayed: each recorded stream comes to what it came to, and cut off anywhere it is never
//! taken for more than it was.

use std::collections::BTreeSet;

use windlass_core::lang::Reporter;
use windlass_core::run::{Reported, Usage};

use crate::contract::Contract;
use crate::{Came, DRIFT, Fate, Heard, Lines, Listener, Source};

/// A role whose agent was done: as their last words begin with.
pub(crate) fn worker() -> Reporter {
    Reporter {
        verdicts: vec!["done".into(), "plain".into(), "second".into()],
        ..Reporter::default()
    }
}

/// A recorded stream.
pub(crate) fn stream(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/transcripts/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every recorded stream of an agent.
pub(crate) fn names(of: &str) -> Vec<String> {
    let dir = format!("{}/tests/transcripts", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let names = files.filter_map(|file| file.file_stem()?.to_str().map(str::to_owned));
    let mut names: Vec<String> = names.filter(|name| name.starts_with(of)).collect();
    names.sort();
    assert!(names.len() > 8, "{names:?}");
    names
}

/// What a stream comes to.
pub(crate) fn comes_to(
    mut listener: Box<dyn Listener>,
    stream: &[u8],
    fate: Fate,
) -> (Came, Usage) {
    let mut lines = Lines::default();
    lines.feed(stream, |line| {
        listener.line(Source::Output, line);
    });
    lines.end(|line| {
        listener.line(Source::Output, line);
    });
    let answer = listener.answer(&Heard { fate, stdout: stream });
    (answer.came, answer.usage)
}

/// Cuts every stream of an agent at every byte. Whatever it would have come to, until its last line is complete it comes
/// to no verdict; nor does one that was complete, if its program failed.
pub(crate) fn cut_everywhere<L: Listener + Clone + 'static>(of: &str, new: impl Fn() -> L) {
    for name in names(of) {
        let stream = stream(&name);
        let mut before = new();
        for line in stream.split_inclusive(|byte| *byte == b'\n') {
            let whole = line.strip_suffix(b"\n").unwrap_or(line);
            for cut in 0..whole.len() {
                let mut listener = before.clone();
                listener.line(Source::Output, &whole[..cut]);
                let ended = Heard { fate: Fate::Exited(0), stdout: b"" };
                let answer = Box::new(listener).answer(&ended);
                let verdict = matches!(answer.came, Came::Verdict(_));
                // Some recorded sessions came to more than one result, each of them whole.
                assert!(
                    !verdict || name == "claude-streamin",
                    "{name}, cut after {cut} of {whole:?}"
                );
            }
            before.line(Source::Output, whole);
        }
        for fate in [Fate::Exited(1), Fate::Signalled(9), Fate::TimedOut] {
            let answer = Box::new(before.clone()).answer(&Heard { fate, stdout: b"" });
            // One of them got over an error, and says so with its code.
            let is_over = name == "opencode-overflow" && fate == Fate::Exited(1);
            assert!(is_over || !matches!(answer.came, Came::Verdict(_)), "{name}: {fate:?}");
        }
    }
}

/// Nothing in what an agent really printed is new to us, and it is noticed when a line of it is another than it was: when
/// what has to be in it has another name, or the event itself.
pub(crate) fn holds_to<L: Listener + 'static>(
    of: &str,
    contract: &'static Contract,
    new: impl Fn() -> L,
) {
    let told = |stream: &[u8]| {
        let mut listener = new();
        for line in stream.split(|byte| *byte == b'\n') {
            listener.line(Source::Output, line);
        }
        let ended = Heard { fate: Fate::Exited(0), stdout: b"" };
        let remarks = Box::new(listener).answer(&ended).remarks;
        remarks.into_iter().filter(|remark| remark.starts_with(DRIFT)).collect::<Vec<_>>()
    };
    let mut streams = String::new();
    for name in names(of) {
        let stream = String::from_utf8(stream(&name)).unwrap();
        // Some are of another way to speak with it.
        if !stream.contains("\"jsonrpc\"") {
            assert_eq!(told(stream.as_bytes()), [""; 0], "{name}");
            streams.push_str(&stream);
        }
    }
    let is_there = |name: &str| {
        let kind = name.split('/').next().unwrap_or_default();
        streams.contains(&format!("\"type\":\"{kind}\""))
    };
    let shapes = contract.printed.iter().filter(|(name, _)| is_there(name));
    let keys = shapes.flat_map(|(_, needs)| needs.iter());
    let keys: BTreeSet<&str> = keys.filter_map(|path| path.rsplit('.').next()).collect();
    let mut seen = 0;
    for key in keys.iter().map(|key| format!("\"{key}\":")).filter(|key| streams.contains(key)) {
        seen += 1;
        let renamed = streams.replace(&key, "\"renamed\":");
        assert_ne!(told(renamed.as_bytes()), [""; 0], "{key} has another name");
    }
    assert!(seen > 3, "{seen} of {keys:?}");
    let news = format!("{streams}\n{{\"type\":\"news\"}}\n");
    assert_eq!(told(news.as_bytes()), [format!("{DRIFT}an event `news` is new")]);
}

/// What something cost, in thousandths of a dollar, if that is known.
pub(crate) fn mills(usage: Usage) -> Option<u64> {
    match usage.cost {
        Reported::Known(micros) => Some(micros / 1_000),
        Reported::Unknown => None,
    }
}
