//! `windlass demo`: autopilot on a small program of its own, without a key, an agent or anything to install.

use std::fs;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use clap::Args;
use windlass_core::value::Value;
use windlass_process::sandbox::{Tools, Wanted};
use windlass_process::{Sandbox, Spawner};

use super::autopilot;
use crate::error::{Error, reading, writing};
use crate::exit::Exit;
use crate::face::Tone;
use crate::known;
use crate::render::Output;
use crate::report::Report;
use crate::scratch;
use crate::workplace::Workplace;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass demo
  windlass demo /tmp/look-here

Makes a small repository with a spec of three phases, and lets autopilot build it: real git, real
checks, real landings. The agent acts out a script, so it costs nothing. One attempt fails its
check and is mended. In a terminal you are asked whether to go on after each phase; elsewhere a
policy answers.
")]
pub struct DemoArgs {
    /// Where to make the repository; without it, a new directory among the temporary ones
    #[arg(value_name = "DIR")]
    dir: Option<PathBuf>,

    /// Print every entry of the journal as a JSON line, and ask nothing
    #[arg(long)]
    json: bool,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../../../demo/", $name)))),*]
    };
}

const FILES: [(&str, &str); 6] =
    files!["README.md", "todo", "test.sh", "tests/parses.sh", "docs/spec.md", "script.toml"];

const CONFIG: &str = r#"# What Windlass works with here: an agent that acts out a script, and the project's own tests.

[agents.demo]
kind   = "scripted"
script = "script.toml"

[roles]
default = "demo"

[checks]
validate = "sh test.sh"

[policies.no-pull-request]
stage  = "offer_pr"
answer = "no"
"#;

/// Where nobody sits, this answers.
const GO_ON: &str = r#"
[policies.go-on]
stage  = "go_on"
answer = "yes"
"#;

const SPEC: &str = "docs/spec.md";

pub fn run(args: &DemoArgs, out: &mut Output) -> Result<Exit, Error> {
    let asked = std::io::stdin().is_terminal() && std::io::stderr().is_terminal() && !args.json;
    let dir = match &args.dir {
        Some(dir) => dir.clone(),
        None => std::env::temp_dir().join(format!("windlass-demo-{}", std::process::id())),
    };
    if fs::read_dir(&dir).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::usage(format!("{} is not empty", dir.display()))
            .hint("name a directory that is empty, or not there yet"));
    }
    let mut config = if asked { CONFIG.to_owned() } else { format!("{CONFIG}{GO_ON}") };
    if let Some(why) = no_sandbox()? {
        // Everybody at work here is Windlass itself, so nobody has to be kept from anything.
        config.push_str("\n[sandbox]\nlevel = \"none\"\n");
        out.note(&format!("no sandbox starts here, and the demo does without: {why}"))?;
    }
    let files = FILES.into_iter().chain([("windlass.toml", config.as_str())]);
    for (name, text) in files {
        let path = dir.join(name);
        let parent = path.parent().unwrap_or(&dir);
        let written = fs::create_dir_all(parent).and_then(|()| fs::write(&path, text));
        written.map_err(writing(path))?;
    }
    let dir = dir.canonicalize().map_err(reading(dir.clone()))?;
    scratch::commit(&dir, "Windlass Demo", "A stub and a spec")?;
    out.note(&format!("a repository to look at: {}", dir.display()))?;
    let place = Workplace::find(&dir)?;
    let held = place.take("windlass demo")?;
    let inputs = [("spec".to_owned(), Value::text(SPEC))].into();
    let exit = autopilot::start(&held, SPEC, inputs, None, Tone::of(args.json))?;
    drop(held);
    if args.json {
        return Ok(exit);
    }
    let place = Workplace::find(&dir)?;
    if let Some(journal) = place.look()? {
        let known = known::named_or_newest(&journal, None)?;
        let report = Report::of(&journal, &known.id, &known.run)?;
        out.line(&report.markdown())?;
    }
    let here = dir.display();
    out.line(&format!("Look around:\n  cd {here}\n  git log --stat\n  git notes --ref windlass show\n  windlass log --full\n  sh todo help"))?;
    Ok(exit)
}

/// Why nothing can be isolated here, if it cannot.
fn no_sandbox() -> Result<Option<String>, Error> {
    let tools = Tools::here().map_err(Error::output)?;
    let found = Sandbox::find(Wanted::Best, &tools, &Spawner::start()?);
    Ok(found.err().map(|unavailable| unavailable.to_string()))
}
