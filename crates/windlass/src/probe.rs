//! Trying agents out: each does a little work for a model server of our own, in a repository of our own, and what is heard
//! of it is held against what the server knows.
//!
//! Whoever works with an agent relies on what it prints, and that changes from one version to the next. Here it is found
//! out before it costs anything: another Windlass is started on a scratch repository, as it would be for a run, with the
//! person's own settings of the agent, but for where its model is and for its keys. Nothing of this leaves the machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};
use windlass_agents::{DRIFT, Kind, Lines, one_line};
use windlass_engine::clock::wall_ms;
use windlass_engine::trial;
use windlass_process::{Child, Command, Ending, Env, Limits, Spawner, Stream, which};
use windlass_repo::Repository;
use windlass_testkit::{Call, Complaint, Reply, Request, Server, Turn};

use crate::config::{self, Config};
use crate::error::{Error, reading, writing};
use crate::prepared;
use crate::scratch::{self, Scratch};

/// What came of trying an agent out.
#[derive(Debug, Default)]
pub struct Found {
    pub agent: String,
    /// As it says itself.
    pub version: Option<String>,
    /// What it does as it should.
    pub works: Vec<String>,
    /// What it does not, or not any more.
    pub drifted: Vec<String>,
    /// What else there is to know.
    pub notes: Vec<String>,
    /// What is not there.
    pub missing: Option<String>,
}

impl Found {
    /// Nothing is missing, and nothing is other than it was.
    pub fn is_well(&self) -> bool {
        self.missing.is_none() && self.drifted.is_empty()
    }

    /// It does not do what those do that we know: that is nothing new of one that may be any.
    fn lacks(&mut self, kind: &Kind, what: String) {
        let to = if kind.is_any() { &mut self.notes } else { &mut self.drifted };
        to.push(what);
    }

    pub fn json(&self) -> Json {
        json!({
            "agent": self.agent,
            "version": self.version,
            "works": self.works,
            "drifted": self.drifted,
            "notes": self.notes,
            "missing": self.missing,
        })
    }
}

/// The agents of a configuration, to be tried out.
pub struct Probe {
    table: toml::Table,
    config: Config,
    repository: Repository,
    spawner: Spawner,
    windlass: PathBuf,
    /// The person does not want to wait any longer.
    stop: Arc<AtomicBool>,
}

const FLOW: &str = r#"workflow = "probe"
about    = "One role, asked once."

[units]
called = "task"
lanes  = 1

[always]
unknown      = "pause"
no_output    = "pause"
crashed      = "pause"
timed_out    = "pause"
cut_short    = "pause"
context_full = "pause"
invalid      = "pause"

[[intake]]
stage = "list"
read  = "tasks"
on    = { found = { to = "end", add = { unit = "tasks" } }, empty = "end" }

[[unit]]
stage = "try"
role  = "prober"
edits = true
on    = { done = "done", failed = "failed" }
"#;

const CATALOGUE: &str = r#"[role.prober]
about    = "tries an agent out"
verdicts = ["done", "failed"]

[read.tasks]
about       = "a file of tasks"
verdicts    = ["found", "empty"]
lists.tasks = {}
"#;

const TASKS: &str = "[[task]]\nid = 'probe'\ntitle = 'Write probe.txt'\n";

/// What it is to write.
const WRITTEN: &str = "probe.txt";
/// What it is to say.
const SAID: &str = "The probe was written.";

/// What opens nothing.
const KEY: &str = "windlass-probe";

/// So long one invocation may take.
const PATIENCE: Duration = Duration::from_secs(180);
/// So long Windlass has to let go of everything.
const GRACE: Duration = Duration::from_secs(20);
/// What a subscription includes is there again after so many seconds: nobody waits that long.
const LIMIT_S: u64 = 3_600;

impl Probe {
    /// What a directory's `windlass.toml` says.
    pub fn of(repository: &Repository) -> Result<Self, Error> {
        let path = repository.top().join(config::FILE);
        if !path.exists() {
            return Err(Error::usage("there is no windlass.toml here that names agents")
                .hint("`windlass init` writes one: name your agents there"));
        }
        let text = fs::read_to_string(&path).map_err(reading(path))?;
        let config = Config::parse(&text)?;
        scratch::sweep();
        Ok(Probe {
            table: text.parse().unwrap_or_default(),
            config,
            repository: repository.clone(),
            spawner: Spawner::start()?,
            windlass: std::env::current_exe().map_err(Error::output)?,
            stop: stopped()?,
        })
    }

    /// The agents' names: these, or else all.
    pub fn agents(&self, named: &[String]) -> Result<Vec<String>, Error> {
        let all = &self.config.agents;
        if let Some(other) = named.iter().find(|name| !all.contains_key(*name)) {
            let known: Vec<&str> = all.keys().map(String::as_str).collect();
            return Err(Error::usage(format!("there is no agent `{other}` in windlass.toml"))
                .hint(format!("there are: {}", known.join(", "))));
        }
        Ok(all.keys().filter(|name| named.is_empty() || named.contains(name)).cloned().collect())
    }

    /// Tries one out.
    pub fn agent(&self, name: &str, mut tell: impl FnMut(&str)) -> Result<Found, Error> {
        let mut found = Found { agent: name.to_owned(), ..Found::default() };
        let Some(kind) = self.config.agents.get(name) else { return Ok(found) };
        let program = kind.words().first().map(|word| which(word, &Env::inherited()));
        if let (Some(None), Some(word)) = (&program, kind.words().first()) {
            found.missing = Some(format!("`{word}` is not installed"));
            return Ok(found);
        }
        found.version = self.version(program.flatten().as_deref());
        if kind.led_to("http://127.0.0.1:1").is_none() {
            let why =
                "nothing in its settings says where its model is, so it cannot be led to another";
            found.notes.push(format!("is not tried out: {why}"));
            return Ok(found);
        }
        for case in [Case::Edit, Case::Limit, Case::Cancel] {
            tell(case.about());
            self.case(name, kind, case, &mut found)?;
            if self.stop.load(SeqCst) {
                return Err(Error::interrupted());
            }
            // Who is not understood is not understood the next time either.
            if !found.drifted.is_empty() {
                break;
            }
        }
        Ok(found)
    }

    /// What it says of itself, where an agent would say it: what is not understood yet is not trusted either.
    fn version(&self, program: Option<&Path>) -> Option<String> {
        let Some(program) = program else {
            return Some(format!("as Windlass {} has it", env!("CARGO_PKG_VERSION")));
        };
        let place = Scratch::new("version").ok()?;
        let isolation =
            prepared::isolation(&self.config, &self.repository, place.path(), &self.spawner)
                .ok()?;
        let dir = place.path().join("trial");
        let said = trial::version(&isolation, &self.spawner, &dir, program).ok()?;
        Some(one_line(&said))
    }

    fn case(&self, name: &str, kind: &Kind, case: Case, found: &mut Found) -> Result<(), Error> {
        let limit = kind.gives_up_at();
        let server = Server::start(move |request| case.reply(request, limit));
        let server = server.map_err(Error::output)?;
        let place = Scratch::new("probe").map_err(writing(std::env::temp_dir()))?;
        let config = self.settings(name, kind, &server);
        let repo = place.path().join("repo");
        let files = [
            ("windlass.toml", config.as_str()),
            ("flow.toml", FLOW),
            ("catalogue.toml", CATALOGUE),
            ("tasks.toml", TASKS),
        ];
        for (file, text) in files {
            let path = repo.join(file);
            let made = fs::create_dir_all(&repo).and_then(|()| fs::write(&path, text));
            made.map_err(writing(path))?;
        }
        scratch::commit(&repo, "Windlass Probe", "A probe")?;
        let run = self.start(kind, place.path(), &repo)?;
        match case {
            Case::Edit => run.edits(&server, kind, found),
            Case::Limit => run.limits(kind, found),
            Case::Cancel => run.ends(&server, found),
        }
        Ok(())
    }

    /// What the person says of the agent, with another place for its model.
    fn settings(&self, name: &str, kind: &Kind, server: &Server) -> String {
        let mut agents = self.table.get("agents").and_then(|it| it.as_table()).cloned();
        let agent = agents.as_mut().and_then(|all| all.remove(name));
        let mut agent = agent.and_then(|it| it.as_table().cloned()).unwrap_or_default();
        let url = kind.led_to(&server.url()).unwrap_or_default();
        agent.insert("base-url".to_owned(), url.into());
        agent.remove("account");
        let mut table = toml::Table::new();
        table.insert(
            "agents".to_owned(),
            toml::Table::from_iter([(name.to_owned(), agent.into())]).into(),
        );
        table.insert(
            "roles".to_owned(),
            toml::Table::from_iter([("default".to_owned(), name.into())]).into(),
        );
        for kept in ["sandbox", "limits"] {
            table.extend(self.table.get(kept).map(|it| (kept.to_owned(), it.clone())));
        }
        table.to_string()
    }

    fn start(&self, kind: &Kind, place: &Path, repo: &Path) -> Result<Run, Error> {
        let mut env = Env::inherited().set("WINDLASS_STATE_DIR", place.join("state"));
        env = env.pass(prepared::SAID_HERE);
        let handed = kind.handed();
        let is_set = |name: &String| std::env::var_os(name).is_some_and(|it| !it.is_empty());
        let secret = |name: &str| {
            let named = SECRETIVE.iter().any(|part| name.to_uppercase().contains(part));
            named
                || std::env::var(name)
                    .is_ok_and(|value| value.len() >= SHORT && !value.starts_with("http"))
        };
        let keys: Vec<&String> = handed.iter().filter(|name| secret(name)).collect();
        // Those that the person has, or the first of all: which one there is may make a difference.
        let any = keys.iter().any(|name| is_set(name));
        for (at, name) in keys.iter().enumerate() {
            if is_set(name) || (!any && at == 0) {
                env = env.set(name.as_str(), KEY);
            }
        }
        for name in handed.iter().filter(|name| !secret(name)) {
            env = env.pass(name);
        }
        let (sender, entries) = mpsc::channel();
        let mut lines = Lines::default();
        let limits = Limits { wall: Some(2 * PATIENCE), grace: GRACE, ..Limits::default() };
        let command = Command::new(&self.windlass, repo)
            .args(["run", "flow.toml", "--catalogue", "catalogue.toml", "--json"])
            .env(env)
            .limits(limits)
            .asked_when_orphaned()
            .watch(move |stream, chunk| {
                if stream == Stream::Stdout {
                    lines.feed(chunk, |line| {
                        // Nobody may be there any more who wants to know.
                        let _ = serde_json::from_slice::<Json>(line).map(|it| sender.send(it));
                    });
                }
            });
        let child = self.spawner.spawn(command);
        let child = child.map_err(|error| Error::here(error.to_string()))?;
        Ok(Run { child, entries, stop: self.stop.clone() })
    }
}

/// Ctrl-C and the like: what is under way is ended, and what was made for it is gone.
fn stopped() -> Result<Arc<AtomicBool>, Error> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        // A second one does not wait.
        signal_hook::flag::register_conditional_default(signal, stop.clone())
            .and_then(|_| signal_hook::flag::register(signal, stop.clone()))
            .map_err(Error::output)?;
    }
    Ok(stop)
}

/// Parts of names of variables that hold secrets.
const SECRETIVE: [&str; 7] = ["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE"];
/// What is shorter opens nothing, whatever its name: a number, a yes or a no.
const SHORT: usize = 8;

/// What an agent is tried out with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Case {
    /// It writes a file, and answers in the form that is asked for.
    Edit,
    /// Its provider serves it no more.
    Limit,
    /// It is told to end while its model is answering.
    Cancel,
}

impl Case {
    fn about(self) -> &'static str {
        match self {
            Case::Edit => "an edit, and an answer",
            Case::Limit => "a limit",
            Case::Cancel => "being told to end",
        }
    }

    fn reply(self, request: &Request, limit: u64) -> Reply {
        if request.is_side() {
            return Reply::text("A probe");
        }
        let begun = !request.tool_results().is_empty() || request.answers() > 0;
        match self {
            Case::Edit if !begun => {
                Turn::new().text("I write it.").call(Call::write(WRITTEN, "probe\n")).into()
            }
            Case::Edit => Reply::structured(json!({ "verdict": "done", "summary": SAID })),
            Case::Limit => {
                let now = u64::try_from(wall_ms() / 1_000).unwrap_or_default();
                let reset_unix_s = Some(now + LIMIT_S);
                Reply::complaint(Complaint::RateLimited {
                    retry_after_s: Some(limit),
                    reset_unix_s,
                })
            }
            Case::Cancel => Reply::hang(2, Turn::new().text("I am about to say something, and")),
        }
    }
}

/// Another Windlass, at work.
struct Run {
    child: Child,
    entries: Receiver<Json>,
    stop: Arc<AtomicBool>,
}

/// So often it is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(200);

impl Run {
    /// What an agent came to and what it counts as, or why it came to nothing.
    fn answer(&self) -> Result<(Json, u64), String> {
        let until = Instant::now() + PATIENCE;
        let (mut answer, mut settled) = (None, BTreeMap::new());
        loop {
            match self.entries.recv_timeout(LOOK) {
                Ok(entry) if entry["note"] == "answered" => answer = Some(entry),
                Ok(entry) if entry["event"] == "reported" => {
                    let tokens = entry["settled"]["tokens"].as_u64().unwrap_or_default();
                    settled.insert(entry["effect"].as_u64(), tokens);
                }
                Ok(_) => continue,
                Err(RecvTimeoutError::Timeout) if self.stop.load(SeqCst) => {
                    return Err("was interrupted".to_owned());
                }
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => continue,
                Err(RecvTimeoutError::Timeout) => {
                    return Err(format!("came to nothing in {} s", PATIENCE.as_secs()));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.refused()),
            }
            if let Some(done) = &answer
                && let Some(tokens) = settled.get(&done["effect"].as_u64())
            {
                return Ok((done.clone(), *tokens));
            }
        }
    }

    /// Why it ended before anybody had answered.
    fn refused(&self) -> String {
        let Ok(finished) = self.child.wait() else { return "was never started".to_owned() };
        let said = finished.stderr.text().unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        // What went wrong comes last, and after it what to do.
        let line = said.lines().rev().find(|line| line.contains("error: ")).or(said.lines().last());
        one_line(line.unwrap_or("came to nothing").trim_start_matches("error: "))
    }

    fn edits(self, server: &Server, kind: &Kind, found: &mut Found) {
        let (answer, counted) = match self.answer() {
            Ok(answered) => answered,
            Err(why) => return found.drifted.push(why),
        };
        let remarks = remarks(&answer);
        let (drift, rest): (Vec<_>, Vec<_>) =
            remarks.into_iter().partition(|remark| remark.starts_with(DRIFT));
        found.drifted.extend(drift.iter().map(|it| it.replacen(DRIFT, "", 1)));
        if answer["came"] == "done" {
            found.works.push("answers in the form that is asked for".to_owned());
        } else {
            let why = rest.first().map_or("", String::as_str);
            found.drifted.push(format!("came to {}, and not to done: {why}", came(&answer)));
        }
        let files = answer["files"].as_array();
        if files.is_some_and(|files| files.iter().any(|file| file == WRITTEN)) {
            found.works.push("edits".to_owned());
        } else {
            found.drifted.push(format!("did not write {WRITTEN}, as its model told it to"));
        }
        counts(counted, server, kind, found);
        self.child.stop();
        // However it ends, it has answered.
        let _ = self.child.wait();
    }

    fn limits(self, kind: &Kind, found: &mut Found) {
        match self.answer() {
            Ok((answer, _)) if answer["came"] == "limited" => {
                found.works.push("says that it is limited".to_owned());
            }
            other => {
                let comes =
                    other.map_or_else(|why| why, |(it, _)| format!("comes to {}", came(&it)));
                let what = format!("does not say that it is limited: {comes}");
                found.lacks(kind, what);
            }
        }
        self.child.stop();
        let _ = self.child.wait();
    }

    fn ends(self, server: &Server, found: &mut Found) {
        let asked =
            |all: &[windlass_testkit::Exchange]| all.iter().any(|one| !one.request.is_side());
        let until = Instant::now() + PATIENCE;
        let mut has_asked = false;
        while !has_asked && Instant::now() < until && !self.stop.load(SeqCst) {
            has_asked = server.wait_until(LOOK, asked);
        }
        if !has_asked {
            self.child.stop();
            let _ = self.child.wait();
            return found.drifted.push("asked its model for nothing".to_owned());
        }
        let begun = Instant::now();
        self.child.stop();
        let ended = self.child.wait().map(|finished| finished.ending);
        // Who is gone has let go of its model.
        let let_go =
            |all: &[windlass_testkit::Exchange]| all.iter().all(|one| one.answered.is_some());
        match ended {
            Ok(Ending::Exited(_) | Ending::Stopped) if server.wait_until(GRACE, let_go) => {
                let took = begun.elapsed().as_secs_f64();
                found.works.push(format!("ends when it is told to (in {took:.1} s)"));
            }
            _ => found.drifted.push("did not end when it was told to".to_owned()),
        }
    }
}

fn came(answer: &Json) -> &str {
    answer["came"].as_str().unwrap_or("nothing")
}

fn remarks(answer: &Json) -> Vec<String> {
    let remarks = answer["remarks"].as_array();
    remarks.into_iter().flatten().filter_map(|it| it.as_str().map(str::to_owned)).collect()
}

/// Holds what an invocation counts as against what the server has counted. Some do not count what they ask besides the
/// work.
fn counts(counted: u64, server: &Server, kind: &Kind, found: &mut Found) {
    let (mut work, mut all) = (0, 0);
    for one in server.requests() {
        let Some(usage) = one.answered.as_ref().and_then(|it| it.usage) else { continue };
        let tokens = usage.input() + usage.output;
        all += tokens;
        work += if one.request.is_side() { 0 } else { tokens };
    }
    if counted == work || counted == all {
        found.works.push(format!("counts its tokens ({counted})"));
    } else {
        let what = "does not tell what it uses";
        let what = format!("{what}: it counts as {counted} tokens, and its model counted {work}");
        found.lacks(kind, what);
    }
}
