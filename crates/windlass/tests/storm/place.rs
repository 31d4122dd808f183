//! A place where the same story is told again and again: a repository with a person at work in it, agents that keep a
//! tally, and a state directory. All of it is below one directory, so that it can be copied whole.
//!
//! The story has what can go wrong in it: `first` asks a person, `again` needs three attempts, `clash` meets a commit
//! that touches the same file, `late` one that does not, `broken` an agent that falls over.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::autofix::{self, Moment};
use crate::beside::{Over, SHARING};
use crate::issues;
use crate::mission::{self, Flown, Width};
use crate::pilot;
use crate::task::{self, Patch};
use crate::usher::Usher;
use crate::work;

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tale {
    /// Tasks from a file, by a workflow of its own.
    Tasks,
    /// A spec of two phases, by autopilot: a retry, a checkpoint, a concern, blocking findings, a moved base, a conflict, a
    /// final review that is mended.
    Spec,
    /// One task, by `windlass task`, whose verification fails until a patch is proposed; and what becomes of that.
    Task(Patch),
    /// Features on several lanes, by `windlass mission`.
    Mission(Width),
    /// Issues of a folder, by `windlass issues`.
    Issues,
    /// Rows of Plans.md on three lanes, by `windlass work`.
    Work,
}

impl Tale {
    /// All of them, by name.
    const ALL: [(&str, Tale); 9] = [
        ("tasks", Tale::Tasks),
        ("spec", Tale::Spec),
        ("task", Tale::Task(Patch::Mends)),
        ("task-stopped", Tale::Task(Patch::FailsAgain)),
        ("task-rejected", Tale::Task(Patch::Rejected)),
        ("issues", Tale::Issues),
        ("mission", Tale::Mission(Width::Four)),
        ("mission-wide", Tale::Mission(Width::Eight)),
        ("work", Tale::Work),
    ];

    /// The one that `WINDLASS_STORM_TALE` asks for.
    pub fn asked_for() -> Tale {
        Tale::named(&std::env::var("WINDLASS_STORM_TALE").unwrap_or("tasks".to_owned()))
    }

    fn named(name: &str) -> Tale {
        let found = Tale::ALL.iter().find(|(own, _)| *own == name);
        found.unwrap_or_else(|| panic!("no such tale: {name}")).1
    }

    fn name(self) -> &'static str {
        Tale::ALL.iter().find(|(_, tale)| *tale == self).unwrap().0
    }

    /// What files of results are called after it.
    pub fn prefix(self) -> String {
        match self {
            Tale::Tasks => String::new(),
            _ => format!("{}-", self.name()),
        }
    }

    /// Whether it is another story each time in what comes before what.
    pub fn is_parallel(self) -> bool {
        matches!(self, Tale::Mission(_) | Tale::Work)
    }

    /// So many agents at most are at work at a time.
    pub fn at_once(self) -> u32 {
        match self {
            Tale::Tasks | Tale::Spec | Tale::Issues => 1,
            Tale::Task(_) => 3,
            Tale::Work => work::LANES,
            Tale::Mission(width) => u32::try_from(width.lanes()).unwrap(),
        }
    }

    fn agent(self) -> String {
        let work = match self {
            Tale::Tasks => AGENT.to_owned(),
            Tale::Spec => pilot::AGENT.to_owned(),
            Tale::Task(patch) => patch.agent(),
            Tale::Mission(_) => format!("{SHARING}{}", mission::AGENT),
            Tale::Work => format!("{SHARING}{}", work::AGENT),
            Tale::Issues => issues::AGENT.to_owned(),
        };
        format!("{OPENING}{work}")
    }

    fn config(self) -> String {
        match self {
            Tale::Mission(_) => CONFIG.replace("[budget]", "smoke = 'meet'\n[budget]"),
            Tale::Tasks | Tale::Work => CONFIG.to_owned(),
            Tale::Spec => {
                format!("{}{}", CONFIG.replace("test = 'sh", "validate = 'sh"), pilot::POLICIES)
            }
            Tale::Task(_) => format!("{CONFIG}{}", task::POLICIES),
            Tale::Issues => format!("{CONFIG}{}", issues::CONFIG),
        }
    }

    /// Where it lands.
    fn branch(self) -> &'static str {
        match self {
            Tale::Task(_) => task::BRANCH,
            _ => "main",
        }
    }

    /// What is red while something is bad.
    fn test(self) -> &'static str {
        match self {
            Tale::Mission(_) => mission::TEST,
            Tale::Work => work::TEST,
            _ => TEST,
        }
    }

    /// How a program of it ended: some issues come to nothing, and that is their end.
    pub fn ends(self, code: Option<i32>) -> Option<i32> {
        if self == Tale::Issues && code == Some(4) { Some(0) } else { code }
    }

    /// What its questions are answered with: the first of these that is offered.
    fn answers(self) -> &'static [&'static str] {
        match self {
            Tale::Tasks | Tale::Spec => &["yes", "confirmed", "fix"],
            Tale::Mission(_) | Tale::Issues | Tale::Work => &[],
            Tale::Task(patch) => patch.answers(),
        }
    }
}

/// How every agent here begins. What a person does meanwhile is asked for over a socket: they are not to be killed with
/// the agent.
const OPENING: &str = r#"#!/bin/bash
cat > /dev/null
here="$(dirname "$0")"
person() {
  exec 3<> "/dev/tcp/127.0.0.1/$(cat "$here/port")"
  echo "$1" >&3
  read -r _ <&3
}
"#;

const TASKS: [(&str, bool); 5] =
    [("first", true), ("again", false), ("clash", false), ("late", false), ("broken", false)];

/// Who works on tasks.
const AGENT: &str = r#"
echo "$WINDLASS_ROLE $WINDLASS_UNIT $WINDLASS_ATTEMPT" >> "$here/tally"
file="$WINDLASS_UNIT.txt"
verdict=done
case "$WINDLASS_ROLE $WINDLASS_UNIT $WINDLASS_ATTEMPT" in
  "worker again 1") echo bad > "$file" ;;
  "worker again 2") echo good > "$file" ;;
  "worker again 3") echo better > "$file" ;;
  "worker broken 1") echo half > "$file"; exit 3 ;;
  "worker clash "*) if [ -e "$file" ]; then echo both > "$file"; else echo ours > "$file"; fi ;;
  worker*) echo good > "$file" ;;
  "reviewer again 1") verdict=blocking ;;
  "reviewer clash 1") person clash; verdict=clear ;;
  "reviewer late 1") person late; verdict=clear ;;
  reviewer*) verdict=clear ;;
esac
echo "{\"verdict\":\"$verdict\",\"cost_usd\":0.01,\"tokens\":10}"
"#;

/// What is cut off has cost nobody knows what, and is charged as much as it may have cost: so that must not be much.
const CONFIG: &str = "[sandbox]\nwrite = ['~/talk']\n[agents.stand-in]\nkind = 'command'\ncommand = ['stand-in']\n\
                      [roles]\ndefault = 'stand-in'\n[checks]\ntest = 'sh test.sh'\n\
                      [budget]\ninvocation = { dollars = 0.1, tokens = 1000 }\n\
                      request = { dollars = 0.02, tokens = 100 }\n";

/// Red while a file says that it is bad or bears the marks of a conflict.
const TEST: &str = "! grep -qsE 'bad|half|^[<>=]{7}' *.txt\n";

/// The place.
pub struct Place {
    tale: Tale,
    /// Where everything is that has nothing to do with the disk.
    pub dir: PathBuf,
    /// Where the repository and the state are: the same directory, unless a test is about its disk.
    disk: PathBuf,
    /// Before it is gone on with, its files are written anew from the journal.
    projects: bool,
    /// Who has those meet that work beside each other.
    usher: Option<Usher>,
}

impl Place {
    /// Sets the scene in an empty directory.
    pub fn new(tale: Tale, dir: &Path) -> Place {
        Place::on_disk(tale, dir, dir)
    }

    /// Sets the scene in an empty directory, with the repository and the state below another one.
    pub fn on_disk(tale: Tale, dir: &Path, disk: &Path) -> Place {
        let (own, disk) = (dir.to_owned(), disk.to_owned());
        let mut place = Place { tale, dir: own, disk, projects: false, usher: None };
        let repo = place.repo();
        fs::create_dir_all(dir).unwrap();
        fs::create_dir_all(&repo).unwrap();
        place.git(&["init", "-q", "-b", "main"]);
        place.git(&["config", "user.name", "Ada"]);
        place.git(&["config", "user.email", "ada@example.org"]);
        let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
        fs::copy(fixtures.join("storm.toml"), repo.join("flow.toml")).unwrap();
        fs::copy(fixtures.join("storm-catalogue.toml"), repo.join("catalogue.toml")).unwrap();
        let tasks: String = TASKS
            .iter()
            .map(|(id, careful)| format!("[[task]]\nid = '{id}'\ncareful = {careful}\n"))
            .collect();
        fs::write(repo.join("tasks.toml"), tasks).unwrap();
        fs::write(repo.join("test.sh"), tale.test()).unwrap();
        if tale == Tale::Spec {
            fs::write(repo.join("spec.md"), pilot::SPEC).unwrap();
        }
        if tale == Tale::Issues {
            issues::specs(&repo);
        }
        if tale == Tale::Work {
            fs::write(repo.join(work::PLANS), work::begun()).unwrap();
        }
        fs::write(repo.join("notes.md"), "one\n").unwrap();
        fs::write(repo.join("staged.md"), "one\n").unwrap();
        fs::create_dir_all(place.talk()).unwrap();
        place.hire("stand-in", &tale.agent());
        if matches!(tale, Tale::Mission(_)) {
            place.hire("meet", &format!("{OPENING}{}", mission::MEET));
        }
        fs::write(repo.join("windlass.toml"), tale.config()).unwrap();
        place.git(&["add", "-A"]);
        place.git(&["commit", "-qm", "Start"]);
        // The person has things lying about, of every kind.
        fs::write(repo.join("notes.md"), "stashed\n").unwrap();
        place.git(&["stash", "-q"]);
        place.git(&["branch", "other"]);
        fs::write(repo.join("notes.md"), "two, not staged\n").unwrap();
        fs::write(repo.join("staged.md"), "two, staged\n").unwrap();
        place.git(&["add", "staged.md"]);
        fs::write(repo.join("mine.md"), "not in git\n").unwrap();
        match tale {
            Tale::Mission(width) => width.plan(&repo),
            Tale::Issues => issues::wanted(&repo),
            _ => {}
        }
        fs::write(place.talk().join("tally"), "").unwrap();
        fs::write(place.talk().join("tale"), tale.name()).unwrap();
        place.person_sits_here();
        place
    }

    /// A program that everybody finds.
    fn hire(&self, name: &str, text: &str) {
        let path = self.talk().join(name);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Once it was cut off, nobody waits for anybody who may not be coming.
    pub fn disperse(&self) {
        if let Some(usher) = &self.usher {
            usher.disperse();
        }
    }

    /// A copy of the whole directory that was put in its place.
    pub fn put_back(dir: &Path) -> Place {
        let tale = Tale::named(&fs::read_to_string(dir.join("talk/tale")).unwrap());
        let (dir, disk) = (dir.to_owned(), dir.to_owned());
        let mut place = Place { tale, dir, disk, projects: true, usher: None };
        place.person_sits_here();
        place.disperse();
        place
    }

    /// Where the agent is, and what it and the test tell each other.
    fn talk(&self) -> PathBuf {
        self.dir.join("talk")
    }

    pub fn repo(&self) -> PathBuf {
        self.disk.join("repo")
    }

    /// How a program of the story ended.
    pub fn ends(&self, code: Option<i32>) -> Option<i32> {
        self.tale.ends(code)
    }

    /// The person does things when they are asked to, once.
    fn person_sits_here(&mut self) {
        let (repo, tale) = (self.repo(), self.tale);
        let (usher, port) = Usher::sits(tale.at_once() as usize - 1, move |what| {
            asked_for(&repo, tale, what);
        });
        fs::write(self.talk().join("port"), format!("{port}\n")).unwrap();
        self.usher = Some(usher);
    }

    pub fn git(&self, args: &[&str]) -> String {
        git(&self.repo(), args)
    }

    pub fn windlass(&self, args: &[&str]) -> Command {
        let path = crate::bubblewrap::with_bubblewrap();
        let path = std::iter::once(self.talk()).chain(std::env::split_paths(&path));
        let path = std::env::join_paths(path).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
        command
            .args(args)
            .current_dir(self.repo())
            .env("WINDLASS_STATE_DIR", self.disk.join("state"))
            .env("USER", "ada")
            .env("HOME", &self.dir)
            .env("PATH", path)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    pub fn start(&self) -> Command {
        match self.tale {
            Tale::Tasks => self.windlass(&["run", "flow.toml", "--catalogue", "catalogue.toml"]),
            Tale::Spec => self.windlass(&["autopilot", "spec.md"]),
            Tale::Task(patch) => self.windlass(&patch.start()),
            Tale::Issues => self.windlass(&["issues"]),
            Tale::Work => self.windlass(&work::START),
            Tale::Mission(width) => {
                let mut mission = self.windlass(&width.start());
                let (printed, prints) = std::io::pipe().unwrap();
                if let Some(usher) = &self.usher {
                    usher.hears(printed);
                }
                mission.stdout(prints);
                mission
            }
        }
    }

    /// The open question and what it offers, if there is one.
    fn question(&self) -> Option<(String, Vec<String>)> {
        let output = self.windlass(&["gates", "--json"]).output().unwrap();
        let gates: Value = serde_json::from_slice(&output.stdout).ok()?;
        let gate = gates["gates"].as_array()?.first()?;
        let offered = gate["options"].as_array()?.iter().filter_map(|it| it["key"].as_str());
        Some((gate["id"].as_str()?.to_owned(), offered.map(str::to_owned).collect()))
    }

    /// The answer to the open question, if there is one.
    pub fn answer(&self) -> Option<Command> {
        let (_, offered) = self.question()?;
        let answers = self.tale.answers().iter();
        self.answer_with(answers.copied().find(|key| offered.iter().any(|it| it == key))?)
    }

    /// This answer to the open question.
    pub fn answer_with(&self, key: &str) -> Option<Command> {
        Some(self.windlass(&["answer", &self.question()?.0, key]))
    }

    /// How it stands, if auto-fix is what the story is about.
    pub fn moment(&self) -> Option<Moment> {
        let Tale::Task(_) = self.tale else { return None };
        let state = fs::read_to_string(self.repo().join(task::STATE)).unwrap_or_default();
        let state = serde_json::from_str(&state).unwrap_or_default();
        let offered = self.question().map(|(_, offered)| offered).unwrap_or_default();
        Some(Moment { state, offered })
    }

    /// Looks at how it stands, and says what must not be.
    fn look(&self, before: &mut Option<Moment>) -> Result<(), String> {
        let Some(now) = self.moment() else { return Ok(()) };
        let wrong = autofix::wrong(before.as_ref(), &now);
        *before = Some(now);
        wrong.map_or(Ok(()), Err)
    }

    /// Goes on from wherever the story was left, until it is over: starts or resumes, and answers what is asked.
    pub fn finish(&self) -> Result<(), String> {
        self.finish_with(|mut command| Some(command.output().unwrap()))
    }

    /// The same, with each start done by somebody who may come to nothing: then it is tried again.
    pub fn finish_with(
        &self,
        mut tell: impl FnMut(Command) -> Option<Output>,
    ) -> Result<(), String> {
        let mut said = String::new();
        // Some answers and what comes before and after them; anything more is going round in circles.
        let (mut rounds, mut before) = (0, None);
        while rounds < 12 {
            let runs = self.runs()?;
            if self.projects && !runs.is_empty() && matches!(self.tale, Tale::Task(_)) {
                let (code, text) = ended(self.windlass(&["project"]).output().unwrap());
                if code != Some(0) {
                    return Err(format!("project came to {code:?}: {text}"));
                }
                self.look(&mut before)?;
            }
            let goes_on = match runs.as_slice() {
                [] => self.start(),
                [run] if run["standing"] == "done" && run["tidy"] == true => return Ok(()),
                [_] if self.tale.is_parallel() => self.start(),
                [_, _, ..] => return Err(format!("another run was begun: {runs:?}")),
                _ => self.windlass(&["resume"]),
            };
            let Some(output) = tell(goes_on) else { continue };
            rounds += 1;
            let (code, text) = ended(output);
            self.look(&mut before)?;
            match self.tale.ends(code) {
                Some(0) => {}
                Some(8) => {
                    let mut answer = self.answer().ok_or_else(|| format!("no question: {text}"))?;
                    let (code, text) = ended(answer.output().unwrap());
                    if code != Some(0) {
                        return Err(format!("the answer was not taken: {text}"));
                    }
                }
                _ => {
                    let entries = self.entries();
                    let last: Vec<String> =
                        entries.iter().rev().take(25).rev().map(ToString::to_string).collect();
                    return Err(format!("it came to {code:?}: {text}{}", last.join("\n")));
                }
            }
            said = text;
        }
        Err(format!("it does not come to an end: {said}"))
    }

    /// Whether the story, over now, was the same, though some were cut off; and nobody may be left.
    pub fn compare(&self, whole: &Seen, cut_off: u32) -> Option<String> {
        let left = self.processes();
        self.seen()
            .differs(whole, cut_off)
            .or_else(|| self.wrong(cut_off))
            .or_else(|| (!left.is_empty()).then(|| format!("still there: {left:?}")))
    }

    /// What must not be of a story in which several are at work beside each other, over now.
    fn wrong(&self, cut_off: u32) -> Option<String> {
        match self.tale {
            Tale::Mission(width) => {
                let learned = self.json(&["memory", "show", "worker", "--json"]);
                Flown { width, over: self.over(), learned }.wrong(cut_off)
            }
            Tale::Work => work::wrong(&self.over(), &self.entries(), cut_off),
            Tale::Tasks | Tale::Spec | Tale::Task(_) | Tale::Issues => None,
        }
    }

    /// What is known of such a story.
    pub fn over(&self) -> Over {
        Over {
            repo: self.repo(),
            state: self.disk.join("state"),
            tally: fs::read_to_string(self.talk().join("tally")).unwrap(),
            lanes: self.json(&["lanes", "list", "--json"]),
        }
    }

    fn json(&self, args: &[&str]) -> Value {
        let output = self.windlass(args).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_default()
    }

    fn runs(&self) -> Result<Vec<Value>, String> {
        let output = self.windlass(&["status", "--all", "--json"]).output().unwrap();
        let (code, text) = (output.status.code(), String::from_utf8_lossy(&output.stderr));
        if code != Some(0) {
            return Err(format!("status came to {code:?}: {text}"));
        }
        let status: Value = serde_json::from_slice(&output.stdout).unwrap();
        Ok(status["runs"].as_array().unwrap().clone())
    }

    /// What the journal holds.
    pub fn entries(&self) -> Vec<Value> {
        let log = self.windlass(&["log", "--json"]).output().unwrap();
        let log = String::from_utf8(log.stdout).unwrap();
        log.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Everything that must be the same however the story was told.
    pub fn seen(&self) -> Seen {
        let mut decisions = Vec::new();
        for entry in &self.entries() {
            let kind = entry["event"].as_str().unwrap_or_default();
            if ["moved", "asked", "answered", "unit_started", "ended"].contains(&kind) {
                let mut entry = entry.clone();
                let fields = entry.as_object_mut().unwrap();
                // When it was, and what stands in a digest of what was shown.
                for field in ["seq", "at", "shown"] {
                    fields.remove(field);
                }
                decisions.push(entry.to_string());
            }
        }
        let mut tally = BTreeMap::new();
        for line in fs::read_to_string(self.talk().join("tally")).unwrap().lines() {
            *tally.entry(line.to_owned()).or_insert(0) += 1;
        }
        let branch = self.tale.branch();
        let mut landings = self.git(&["log", "--first-parent", "--format=%s", branch]);
        if self.tale.is_parallel() {
            // What is side by side may come in any order, and who is asked for it more than once may be another.
            let mut sorted: Vec<&str> = landings.lines().collect();
            sorted.sort_unstable();
            landings = sorted.join("\n");
            decisions = match self.tale {
                Tale::Mission(_) => mission::standing(&self.repo()),
                _ => Vec::new(),
            };
            tally.clear();
        }
        Seen {
            tree: self.git(&["grep", "", branch, "--", "*.txt", "tasks.toml", "docs", ".harness"]),
            landings,
            decisions,
            tally,
            checkout: self.checkout(),
        }
    }

    /// The person's own: files with their modes, what is staged, stashed and checked out, other branches, settings.
    fn checkout(&self) -> BTreeMap<String, String> {
        let repo = self.repo();
        let mut all = BTreeMap::new();
        for entry in fs::read_dir(&repo).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_file() {
                let mode = entry.metadata().unwrap().permissions().mode();
                all.insert(name, format!("{mode:o} {}", fs::read_to_string(entry.path()).unwrap()));
            }
        }
        match self.tale {
            Tale::Tasks => {}
            Tale::Spec => all.extend(pilot::session(&repo)),
            Tale::Mission(_) => {
                all.insert("(stray)".into(), mission::stray(&repo));
            }
            Tale::Issues => all.extend(issues::heard(&repo)),
            Tale::Work => all.extend(work::kept(&repo)),
            Tale::Task(_) => {
                all.extend(task::left(&repo));
                all.insert("(main)".into(), self.git(&["rev-parse", "main"]));
            }
        }
        let mut say = |name: &str, args: &[&str]| all.insert(name.to_owned(), self.git(args));
        say("(index)", &["ls-files", "-s"]);
        say("(status)", &["status", "--porcelain"]);
        say("(stash)", &["stash", "list", "--format=%H"]);
        say("(head)", &["symbolic-ref", "HEAD"]);
        say("(refs)", &["for-each-ref", "--format=%(refname)"]);
        say("(other)", &["rev-parse", "other"]);
        all.insert("(config)".into(), fs::read_to_string(repo.join(".git/config")).unwrap());
        let left: Vec<_> = fs::read_dir(repo.join(".git"))
            .unwrap()
            .flatten()
            .map(|entry| entry.file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".lock"))
            .collect();
        all.insert("(locks)".into(), format!("{left:?}"));
        all
    }

    /// Processes that were started here and still live.
    pub fn processes(&self) -> Vec<String> {
        self.pids().into_iter().map(|pid| about(pid, "cmdline").replace('\0', " ")).collect()
    }

    fn pids(&self) -> Vec<u32> {
        let here = self.dir.to_str().unwrap();
        let numbers = fs::read_dir("/proc").unwrap().flatten();
        let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let ours = |pid: &u32| {
            let ours =
                about(*pid, "environ").contains(here) || about(*pid, "cmdline").contains(here);
            ours && *pid != std::process::id() && !matches!(state(*pid), 'Z' | 'X')
        };
        numbers.filter(ours).collect()
    }

    /// Everybody here stands still while something is done: whoever is at work, and the person. A git that was moving a
    /// ref of theirs just then goes on first: it would clear its lock away when we die, and a copy of it cannot.
    pub fn frozen<T>(&self, work: impl Fn() -> T) -> T {
        let _person = AT_WORK.lock().unwrap();
        loop {
            let stopped = self.stop();
            let moving = self.is_moving_refs();
            let done = (!moving).then(&work);
            for pid in stopped {
                signal(pid, nix::sys::signal::Signal::SIGCONT);
            }
            match done {
                Some(done) => return done,
                None => std::thread::yield_now(),
            }
        }
    }

    fn stop(&self) -> BTreeSet<u32> {
        let mut stopped = BTreeSet::new();
        // Whoever stands still starts nobody; others may have, a moment ago.
        loop {
            let more: Vec<u32> =
                self.pids().into_iter().filter(|pid| !stopped.contains(pid)).collect();
            if more.is_empty() {
                return stopped;
            }
            for pid in more {
                signal(pid, nix::sys::signal::Signal::SIGSTOP);
                while !matches!(state(pid), 'T' | 't' | 'Z' | 'X') {
                    std::thread::yield_now();
                }
                stopped.insert(pid);
            }
        }
    }

    fn is_moving_refs(&self) -> bool {
        fn locks(dir: &Path) -> bool {
            fs::read_dir(dir).into_iter().flatten().flatten().any(|entry| {
                entry.file_name().as_encoded_bytes().ends_with(b".lock")
                    || entry.file_type().is_ok_and(|it| it.is_dir()) && locks(&entry.path())
            })
        }
        let git = self.repo().join(".git");
        ["HEAD.lock", "packed-refs.lock"].iter().any(|name| git.join(name).exists())
            || locks(&git.join("refs"))
    }
}

fn signal(pid: u32, signal: nix::sys::signal::Signal) {
    // It may be gone already.
    let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.try_into().unwrap()), signal);
}

fn about(pid: u32, what: &str) -> String {
    let bytes = fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

/// As the kernel calls it; one that is gone is dead.
fn state(pid: u32) -> char {
    let stat = about(pid, "stat");
    stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next()).unwrap_or('X')
}

/// Held while the person does something.
static AT_WORK: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// So often somebody tries to commit where others are at work as well.
const TRIES: usize = 1_000;

/// The person edits and commits, if they have not.
fn asked_for(repo: &Path, tale: Tale, what: &str) {
    let subject = format!("The person's own: {what}");
    let file = if what == "clash" { "clash.txt" } else { "elsewhere.txt" };
    for _ in 0..TRIES {
        let _at_work = AT_WORK.lock().unwrap();
        if git(repo, &["log", "--format=%s", "main"]).lines().any(|line| line == subject) {
            return;
        }
        if tale == Tale::Work {
            work::edits(repo);
        }
        fs::write(repo.join(file), "theirs\n").unwrap();
        // Something may land in the same checkout just now.
        let added = tried(repo, &["add", file]).is_ok();
        if added && tried(repo, &["commit", "-qm", &subject, "--", file]).is_ok() {
            return;
        }
    }
    panic!("{what} could not be committed");
}

fn git(repo: &Path, args: &[&str]) -> String {
    tried(repo, args).unwrap_or_else(|why| panic!("git {args:?}: {why}"))
}

fn tried(repo: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    for date in ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"] {
        command.env(date, "1700000000 +0000");
    }
    let output = command.args(args).current_dir(repo).output().unwrap();
    match output.status.success() {
        true => Ok(String::from_utf8(output.stdout).unwrap().trim().to_owned()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
    }
}

/// The exit code, and what was said on standard error.
pub fn ended(output: Output) -> (Option<i32>, String) {
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// What is left of a story when it is over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    pub tree: String,
    pub landings: String,
    pub decisions: Vec<String>,
    pub tally: BTreeMap<String, u32>,
    pub checkout: BTreeMap<String, String>,
}

impl Seen {
    /// What is wrong with this one, when that one is how it should be: everything is the same, but the agents that
    /// were at work when it was cut off may have been asked once more.
    pub fn differs(&self, whole: &Seen, cut_off: u32) -> Option<String> {
        if self.tree != whole.tree {
            let landings = &self.landings;
            return Some(format!(
                "this is there:\n{}\nnot:\n{}\nby\n{landings}",
                self.tree, whole.tree
            ));
        }
        if self.landings != whole.landings {
            return Some(format!("landed:\n{}\nnot:\n{}", self.landings, whole.landings));
        }
        if self.decisions != whole.decisions {
            let pairs = self.decisions.iter().zip(&whole.decisions);
            let first = pairs.clone().position(|(one, other)| one != other);
            let at = first.unwrap_or(self.decisions.len().min(whole.decisions.len()));
            let (one, other) = (self.decisions.get(at), whole.decisions.get(at));
            return Some(format!("decision {at} is {one:?}, not {other:?}"));
        }
        if self.checkout != whole.checkout {
            let names: BTreeSet<_> = self.checkout.keys().chain(whole.checkout.keys()).collect();
            let pairs =
                names.iter().map(|it| (it, self.checkout.get(*it), whole.checkout.get(*it)));
            let differ: Vec<_> = pairs.filter(|(_, is, was)| is != was).collect();
            return Some(format!("the person's own differs: {differ:?}"));
        }
        let mut more = 0;
        for (asked, times) in &self.tally {
            let once = whole.tally.get(asked).copied().unwrap_or(0);
            if once == 0 || *times < once {
                return Some(format!("`{asked}` was asked {times} times, not {once}"));
            }
            more += times - once;
        }
        if let Some(missing) = whole.tally.keys().find(|asked| !self.tally.contains_key(*asked)) {
            return Some(format!("`{missing}` was never asked"));
        }
        (more > cut_off).then(|| format!("{more} were asked again: {:?}", self.tally))
    }
}
