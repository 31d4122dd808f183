//! A model that acts out a script: what the scripted agent does by itself, it has a real agent do.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_agents::scripted::{Asked, Entry, Script};
use windlass_testkit::{Call, Reply, Request, Turn};

/// What Windlass asks for, read back from a request.
#[derive(Debug)]
pub struct Wanted {
    pub role: String,
    pub unit: String,
    pub task: String,
    pub attempt: u32,
    /// Where files belong, by name.
    pub files: BTreeMap<String, String>,
}

impl Wanted {
    pub fn of(request: &Request) -> Self {
        let text = request.text();
        let now = text.split_once("# Now\n").map(|(_, now)| now.to_owned()).unwrap_or_default();
        let field = |name: &str| {
            let line = now.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(|line| line.split(" — ").next().unwrap_or_default().to_owned())
        };
        let files = now.lines().filter_map(|line| {
            let (name, path) = line.strip_prefix("- ")?.split_once(": `")?;
            Some((name.to_owned(), path.strip_suffix('`')?.to_owned()))
        });
        Wanted {
            role: request.role().unwrap_or_default(),
            unit: field("Unit").unwrap_or_default(),
            task: field("Part of it").unwrap_or_default(),
            attempt: field("Attempt").and_then(|attempt| attempt.parse().ok()).unwrap_or(1),
            files: files.collect(),
        }
    }

    /// As a script has it; it is not told of stages.
    pub fn asked(&self) -> Asked<'_> {
        Asked {
            role: &self.role,
            unit: &self.unit,
            task: &self.task,
            attempt: self.attempt,
            ..Asked::default()
        }
    }
}

/// Mends what a check complained about, if that is what it is about: what is to be done instead.
pub type Mender = dyn Fn(&Wanted, &str) -> Option<(String, String)> + Send + Sync;

/// A model that acts out a script, but mends what it is shown by itself.
pub fn actor(script: Script, mender: Arc<Mender>) -> impl Fn(&Request) -> Reply + Send + Sync {
    move |request| {
        if request.is_side() {
            return Reply::text("A title");
        }
        let wanted = Wanted::of(request);
        let Some(entry) = script.entry(&wanted.asked()) else {
            return Reply::text(format!("nothing is written for {wanted:?}"));
        };
        if request.answers() == 0 {
            let mut files = written(entry, &wanted);
            if let Some((path, text)) = mender(&wanted, &request.text()) {
                files.insert(path, text);
            }
            if !files.is_empty() {
                return writes(request, files);
            }
        }
        let say = entry.say.clone().unwrap_or_default();
        Reply::structured(serde_json::to_value(say).unwrap())
    }
}

/// The files that an entry writes, by path.
fn written(entry: &Entry, wanted: &Wanted) -> BTreeMap<String, String> {
    let files = entry.write.iter().map(|(path, text)| {
        let name = path.strip_prefix('{').and_then(|path| path.strip_suffix('}'));
        let path = name.and_then(|name| wanted.files.get(name)).unwrap_or(path);
        (path.clone(), text.clone())
    });
    files.collect()
}

/// Has files written: by a command, which may write over what is there, or one by one where nothing can be run.
fn writes(request: &Request, files: BTreeMap<String, String>) -> Reply {
    // Gemini CLI runs no command in which there is another, and writes over what is there without being asked twice.
    let shells = ["Bash", "exec_command", "bash"];
    // Some are offered more than their role may use: a planner may run nothing.
    let runs = shells.iter().any(|name| request.tool(name).is_some())
        && request.role().as_deref() != Some("planner");
    let turn = Turn::new().text("I write it.");
    if runs {
        let command: String = files.iter().map(|(path, text)| heredoc(path, text)).collect();
        return turn.call(Call::shell(command)).into();
    }
    files.into_iter().fold(turn, |turn, (path, text)| turn.call(Call::write(path, text))).into()
}

fn heredoc(path: &str, text: &str) -> String {
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!(
        "mkdir -p \"$(dirname '{path}')\" && cat > '{path}' <<'END-OF-FILE'\n{text}{end}END-OF-FILE\n"
    )
}
