//! Canaries: commands that say so when they are run, and words that say so when they are read.
//!
//! Whoever runs one tells the model server, whom everybody can reach at every level, and leaves a file behind where it is
//! and at home. Whoever reads one and tells a model has it in a request.

use std::collections::BTreeSet;
use std::path::Path;

use windlass_testkit::Server;

/// Where canaries report.
#[derive(Clone, Copy)]
pub struct Aviary {
    port: u16,
}

impl Aviary {
    pub fn new(server: &Server) -> Self {
        Aviary { port: server.port() }
    }

    /// A command that nobody is to run: words without double quotes, so that it goes into JSON and TOML as it is.
    pub fn command(self, name: &str) -> String {
        format!("bash -c '{}'", self.line(name))
    }

    /// What bash is given in such a command.
    pub fn line(self, name: &str) -> String {
        let port = self.port;
        format!(
            "touch canary-{name} $HOME/canary-{name}; exec 3<>/dev/tcp/127.0.0.1/{port}; \
             echo GET /canary/{name} HTTP/1.0 >&3; echo >&3; read answer <&3"
        )
    }
}

/// A word that no model is to read.
pub fn word(name: &str) -> String {
    format!("CANARY-{name}.")
}

/// The canaries that were run or read: `ran NAME`, `left NAME`, `read NAME`.
pub fn sung(server: &Server, below: &Path, names: &[&str]) -> BTreeSet<String> {
    let probes = server.probes();
    let ran = probes.iter().filter_map(|probe| probe.path.strip_prefix("/canary/"));
    let mut sung: BTreeSet<String> = ran.map(|name| format!("ran {name}")).collect();
    left(below, &mut sung);
    for exchange in server.requests() {
        let headers = exchange.request.headers.iter().map(|(_, value)| value.as_str());
        let body = String::from_utf8_lossy(&exchange.request.raw);
        let body = headers.chain([&*body]).collect::<Vec<_>>().join("\n");
        let read = names.iter().filter(|name| body.contains(&word(name)));
        sung.extend(read.map(|name| format!("read {name}")));
    }
    sung
}

/// Files that canaries left.
fn left(dir: &Path, sung: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        sung.extend(name.strip_prefix("canary-").map(|name| format!("left {name}")));
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            left(&entry.path(), sung);
        }
    }
}
