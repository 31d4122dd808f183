//! What trackers send: a signed message ends the wait of `--follow` at once, and nothing else changes anything.

use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_trackerkit::webhook::{self, Message, send};
use windlass_trackerkit::{github, linear};

use super::rig::Rig;

const KEY: &str = "test-key";
const SECRET: &str = "what-only-two-know";

/// A loop that waits for more, and would wait for an hour.
struct Waiting {
    child: Child,
    lines: Lines<BufReader<ChildStderr>>,
    at: SocketAddr,
    seen: String,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Waiting {
    fn at(rig: &Rig, tracker: &str, project: &str, url: &str) -> Self {
        let config = rig.file("windlass.toml").unwrap();
        let issues = format!(
            "[issues]\ntracker = '{tracker}'\nproject = '{project}'\nbase-url = '{url}'\nwebhook = '127.0.0.1:0'\n"
        );
        rig.write("windlass.toml", &format!("{config}{issues}"));
        rig.scratch.git(&["commit", "-qam", "Issues are elsewhere"]);
        let mut command = rig.scratch.windlass(&["issues", "--follow", "--interval", "3600"]);
        command.env("LINEAR_API_KEY", KEY).env("GITHUB_TOKEN", KEY);
        command.env("WINDLASS_WEBHOOK_SECRET", SECRET).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let at = ([127, 0, 0, 1], 0).into();
        let mut waiting = Waiting { child, lines, at, seen: String::new() };
        let line = waiting.until("listening at ");
        let address = line.split_whitespace().find_map(|word| word.parse().ok());
        waiting.at = address.expect("an address");
        waiting.until("no issue is ready");
        waiting
    }

    /// Reads on to a line that has this in it.
    #[track_caller]
    fn until(&mut self, what: &str) -> String {
        for line in self.lines.by_ref() {
            let line = line.unwrap();
            self.seen.push_str(&format!("{line}\n"));
            if line.contains(what) {
                return line;
            }
        }
        panic!("no `{what}` in {}", self.seen)
    }
}

fn now_ms() -> i64 {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[test]
fn what_linear_signs_ends_the_wait_and_whatever_else_comes_changes_nothing() {
    let tracker = linear::Linear::start().unwrap();
    let new = linear::NewIssue { title: "Say hello", labels: &["ready"], ..Default::default() };
    let id = tracker.issue(&new);
    tracker.assign(&id, Some("Ada"));
    let rig = Rig::of(&[&id], "");
    let mut waiting = Waiting::at(&rig, "linear", "Harness", &tracker.url());
    let at = waiting.at;
    tracker.assign(&id, None);
    // Somebody who says a little and no more holds nobody up.
    let mut slow = TcpStream::connect(at).unwrap();
    slow.write_all(b"POST / HTTP/1.1\r\nLinear-Sig").unwrap();
    let unsigned = Message { headers: Vec::new(), ..webhook::linear(SECRET, now_ms()) };
    let forged = webhook::linear("guessed", now_ms());
    let other = Message {
        body: "{\"webhookTimestamp\":1}".to_owned(),
        ..webhook::linear(SECRET, now_ms())
    };
    let old = webhook::linear(SECRET, now_ms() - 61_000);
    let for_github = webhook::github(SECRET, 1);
    for bad in [unsigned, forged, other, old, for_github] {
        assert_eq!(send(at, &bad).unwrap(), 401, "{bad:?}");
    }
    let huge = b"POST / HTTP/1.1\r\nContent-Length: 99000000\r\n\r\n";
    for bad in [&huge[..], b"GET / HTTP/1.1\r\n\r\n", b"nonsense\r\n\r\n"] {
        assert_eq!(webhook::said(at, bad).unwrap(), 400);
    }
    assert!(tracker.said(&id).is_empty(), "nobody has looked");
    assert_eq!(send(at, &webhook::linear(SECRET, now_ms())).unwrap(), 200);
    waiting.until("8 messages were refused");
    waiting.until("no issue is ready");
    assert_eq!(tracker.state(&id), "Done");
    assert!(!waiting.seen.contains(SECRET) && !rig.log().contains(SECRET), "{}", waiting.seen);
    // In the end nobody listens to who says no more.
    assert_eq!(webhook::status(&mut slow).unwrap(), 400);
}

#[test]
fn what_github_signs_ends_the_wait() {
    let tracker = github::GitHub::start().unwrap();
    let number = tracker.issue(&github::NewIssue { title: "Say hello", ..Default::default() });
    tracker.assign(number, "ada");
    let rig = Rig::of(&[&format!("#{number}")], "");
    let mut waiting = Waiting::at(&rig, "github", "acme/harness", &tracker.url());
    tracker.unassign(number);
    assert_eq!(send(waiting.at, &webhook::github("guessed", number)).unwrap(), 401);
    assert_eq!(send(waiting.at, &webhook::github(SECRET, number)).unwrap(), 200);
    waiting.until("a message was refused");
    waiting.until("no issue is ready");
    assert!(!tracker.said(number).is_empty(), "{}", waiting.seen);
}

#[test]
fn who_listens_hears_that_it_is_to_stop() {
    let tracker = github::GitHub::start().unwrap();
    let rig = Rig::of(&["#1"], "");
    let mut waiting = Waiting::at(&rig, "github", "acme/harness", &tracker.url());
    let stop = rig.scratch.windlass(&["issues", "stop"]).output().unwrap();
    assert_eq!(stop.status.code(), Some(0));
    waiting.until("told to stop: no more issues are waited for");
}

#[test]
fn nobody_listens_where_others_could_reach_it_or_without_a_secret() {
    let mut rig = Rig::of(&[], "");
    let seen = rig.ends(&["--tracker", "linear", "--follow", "--webhook", "0.0.0.0:0"], 2);
    assert!(seen.contains("others on the network could reach"), "{seen}");
    let seen = rig.ends(&["--tracker", "linear", "--follow", "--webhook", "127.0.0.1:0"], 2);
    assert!(seen.contains("WINDLASS_WEBHOOK_SECRET"), "{seen}");
    let seen = rig.ends(&["--tracker", "folder", "--follow", "--webhook", "127.0.0.1:0"], 2);
    assert!(seen.contains("a folder sends nothing"), "{seen}");
    let seen = rig.ends(&["--tracker", "linear", "--follow", "--webhook", "here"], 2);
    assert!(seen.contains("`here` is nothing to listen at"), "{seen}");
    rig.ends(&["--webhook", "127.0.0.1:0"], 2);
}
