//! A scripted model server for the shell: `model-server --script FILE [--port N] [--log DIR] [--stay]`.
//!
//! It says where it is on the first line of standard output, and what happens in JSON, a line for each request that comes
//! and for each that has been answered: on standard error, or in `DIR/log.jsonl`, with the bodies of the requests beside
//! it. It ends when standard input is closed (with `--stay`, it does not look at that), or at a signal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use serde_json::{Value, json};
use windlass_testkit::{BadScript, Exchange, News, Options, Probe, Script, Server};

const USAGE: &str = "model-server --script FILE [--port N] [--log DIR] [--stay]";

#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error("{0}\nusage: {USAGE}")]
    Usage(String),
    #[error("{0}: {1}")]
    File(PathBuf, io::Error),
    #[error("{0}: {1}")]
    Script(PathBuf, BadScript),
    #[error("{0}")]
    Server(#[from] io::Error),
}

fn main() -> ExitCode {
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            _ = writeln!(io::stderr(), "model-server: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn serve() -> Result<(), Failure> {
    let wishes = Wishes::read(std::env::args().skip(1))?;
    let text = fs::read_to_string(&wishes.script)
        .map_err(|error| Failure::File(wishes.script.clone(), error))?;
    let script =
        Script::parse(&text).map_err(|error| Failure::Script(wishes.script.clone(), error))?;
    let log = Log::open(wishes.log.as_deref())?;
    let told = Box::new(move |news: News<'_>| log.news(news));
    let options = Options { port: wishes.port, told: Some(told), ..Options::default() };
    let server = Server::start_with(options, script.brain())?;
    let mut out = io::stdout();
    writeln!(out, "{}", server.url())?;
    out.flush()?;
    if wishes.stays {
        loop {
            std::thread::park();
        }
    }
    io::copy(&mut io::stdin().lock(), &mut io::sink())?;
    Ok(())
}

struct Wishes {
    script: PathBuf,
    port: u16,
    log: Option<PathBuf>,
    stays: bool,
}

impl Wishes {
    fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self, Failure> {
        let mut script = None;
        let mut wishes = Wishes { script: PathBuf::new(), port: 0, log: None, stays: false };
        while let Some(name) = arguments.next() {
            let mut value = || {
                let missing = || Failure::Usage(format!("{name} needs something after it"));
                arguments.next().ok_or_else(missing)
            };
            match name.as_str() {
                "--script" => script = Some(PathBuf::from(value()?)),
                "--port" => {
                    let port = value()?.parse();
                    wishes.port = port.map_err(|_| Failure::Usage("a port is a number".into()))?;
                }
                "--log" => wishes.log = Some(PathBuf::from(value()?)),
                "--stay" => wishes.stays = true,
                _ => return Err(Failure::Usage(format!("{name} is not known"))),
            }
        }
        wishes.script = script.ok_or_else(|| Failure::Usage("--script is missing".into()))?;
        Ok(wishes)
    }
}

/// Where it is written what happens.
enum Log {
    Stderr,
    Dir(PathBuf, Mutex<File>),
}

impl Log {
    fn open(dir: Option<&Path>) -> Result<Self, Failure> {
        let Some(dir) = dir else { return Ok(Log::Stderr) };
        let open = || {
            fs::create_dir_all(dir)?;
            OpenOptions::new().create(true).append(true).open(dir.join("log.jsonl"))
        };
        let file = open().map_err(|error| Failure::File(dir.to_owned(), error))?;
        Ok(Log::Dir(dir.to_owned(), Mutex::new(file)))
    }

    fn news(&self, news: News<'_>) {
        match news {
            News::Came(exchange) => {
                self.line(&described(exchange));
                if let Log::Dir(dir, _) = self {
                    let name = format!("{:06}.json", exchange.request.serial);
                    _ = fs::write(dir.join(name), &exchange.request.raw);
                }
            }
            News::Answered(exchange) => self.line(&described(exchange)),
            News::Probed(Probe { method, path, status }) => {
                let answered = json!({"status": status});
                self.line(&json!({"method": method, "path": path, "answered": answered}));
            }
        }
    }

    fn line(&self, line: &Value) {
        let line = format!("{line}\n");
        match self {
            Log::Stderr => _ = io::stderr().write_all(line.as_bytes()),
            Log::Dir(_, file) => {
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                _ = file.write_all(line.as_bytes());
            }
        }
    }
}

fn described(exchange: &Exchange) -> Value {
    let request = &exchange.request;
    let mut line = json!({
        "serial": request.serial,
        "method": "POST",
        "path": request.path,
        "api": request.api.name(),
        "model": request.model,
        "messages": request.messages.len(),
        "tools": request.tools.len(),
        "side": request.is_side(),
    });
    if let Some(answered) = &exchange.answered {
        line["answered"] = json!({
            "status": answered.status,
            "what": answered.what,
            "events": answered.events,
            "ending": format!("{:?}", answered.ending).to_lowercase(),
            "usage": answered.usage.map(|usage| json!({
                "fresh": usage.fresh,
                "read": usage.read,
                "written": usage.written,
                "output": usage.output,
            })),
        });
    }
    line
}
