//! The one place that starts git.
//!
//! A [`Place`] says where a call stands: which git directory, which work tree, which index, whose
//! objects. All of it is pinned by the environment, so nothing is discovered from a directory that
//! somebody else can write to; the rest of the environment is dropped, so nothing leaks in from
//! the shell that started Windlass. What the configuration of a repository may say is settled in
//! [`super::pins`].

use std::{
    env,
    ffi::{OsStr, OsString},
    fmt, io,
    os::unix::{ffi::OsStrExt, fs::PermissionsExt},
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    failpoint,
    oid::{NotAnOid, Oid},
    pins,
};

/// The oldest git that will do: `merge-tree --write-tree` came with it.
const OLDEST: (u32, u32) = (2, 38);

/// One start of a program, with everything it is given.
#[derive(Clone, Debug)]
pub struct Call {
    /// What it is for: the name of its failpoint.
    pub name: &'static str,
    /// The program, as an absolute path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// The directory it runs in.
    pub dir: PathBuf,
    /// Its whole environment: nothing else may reach it.
    pub env: Vec<(OsString, OsString)>,
    /// What it reads; nothing means an empty standard input.
    pub stdin: Vec<u8>,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// All of its standard output.
    pub stdout: Vec<u8>,
    /// Its standard error; this one may be cut short.
    pub stderr: Vec<u8>,
}

/// Starts programs. Whoever implements it hands back the whole standard output or an error: half
/// a pack or half a list of files must never pass for a whole one.
pub trait Run: Send + Sync {
    /// Runs a call to its end.
    fn run(&self, call: &Call) -> io::Result<Output>;
}

/// What is taken over from the environment of the person who started Windlass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// Where programs are looked for.
    pub path: OsString,
    /// Where their own git configuration is found: `HOME`, `XDG_CONFIG_HOME`, `GIT_CONFIG_GLOBAL`
    /// and `GIT_CONFIG_SYSTEM`, as far as they are set. Used to read, never to run.
    pub config: Vec<(OsString, OsString)>,
    /// What their git needs to reach a remote, as far as it is set: an agent of ssh, a proxy, what a credential helper goes by.
    /// Only a push has it.
    pub reach: Vec<(OsString, OsString)>,
}

/// The variables of [`Host::config`].
const CONFIG: [&str; 4] = ["HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// The variables of [`Host::reach`].
const REACH: [&str; 17] = [
    "SSH_AUTH_SOCK",
    "SSH_AGENT_PID",
    "GIT_SSH",
    "GIT_SSH_COMMAND",
    "USER",
    "LOGNAME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
    "GH_CONFIG_DIR",
    "GH_TOKEN",
    "GITHUB_TOKEN",
    "https_proxy",
    "HTTPS_PROXY",
    "no_proxy",
    "NO_PROXY",
    "SSL_CERT_FILE",
    "GIT_SSL_CAINFO",
];

impl Host {
    /// The host as this process sees it.
    pub fn of_this_process() -> Host {
        let set = |names: &[&str]| {
            let set = names.iter().filter_map(|name| Some((name.into(), env::var_os(name)?)));
            set.collect::<Vec<(OsString, OsString)>>()
        };
        Host {
            path: env::var_os("PATH").unwrap_or_default(),
            config: set(&CONFIG),
            reach: set(&REACH),
        }
    }
}

/// Why a call to git came to nothing.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// There is no git.
    #[error("there is no git on PATH: install git {}.{} or newer", OLDEST.0, OLDEST.1)]
    Missing,
    /// It is too old.
    #[error("git {found} at {} is too old: install git {}.{} or newer", program.display(), OLDEST.0, OLDEST.1)]
    TooOld {
        /// Where it is.
        program: PathBuf,
        /// What it says of itself.
        found: String,
    },
    /// It could not be started.
    #[error("git could not be started for {name}: {source}")]
    NotStarted {
        /// What it was for.
        name: &'static str,
        /// Why not.
        source: io::Error,
    },
    /// It failed.
    #[error("{0}")]
    Failed(Box<Failure>),
    /// It printed something else than it should have.
    #[error("git printed something unexpected for {name}: {what}")]
    Strange {
        /// What it was for.
        name: &'static str,
        /// What it printed.
        what: String,
    },
}

impl GitError {
    /// What git itself said, if it got that far.
    pub fn said(&self) -> Option<&str> {
        match self {
            GitError::Failed(failure) => Some(&failure.said),
            _ => None,
        }
    }
}

/// A call that failed.
#[derive(Clone, Debug)]
pub struct Failure {
    /// What it was for.
    pub name: &'static str,
    /// Its arguments.
    pub args: String,
    /// Where it ran.
    pub dir: PathBuf,
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The end of what it said.
    pub said: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`git {}` failed in {}", self.args, self.dir.display())?;
        match self.code {
            Some(code) => write!(f, " (exit {code})")?,
            None => write!(f, " (ended by a signal)")?,
        }
        if self.said.is_empty() { Ok(()) } else { write!(f, ": {}", self.said) }
    }
}

/// Git, found and new enough.
#[derive(Clone)]
pub struct Git {
    run: Arc<dyn Run>,
    program: PathBuf,
    host: Arc<Host>,
}

impl fmt::Debug for Git {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Git").field("program", &self.program).finish_non_exhaustive()
    }
}

impl Git {
    /// Looks for git.
    pub fn find(run: Arc<dyn Run>, host: Host) -> Result<Git, GitError> {
        let program = on_path(&host.path).ok_or(GitError::Missing)?;
        Ok(Git { run, program, host: Arc::new(host) })
    }

    /// What it calls itself.
    pub fn version(&self) -> Result<String, GitError> {
        let said = self.call("version", &Place::nowhere()).args(["--version"]).ok()?;
        Ok(String::from_utf8_lossy(&said).trim().to_owned())
    }

    /// Asks it for its version: one that is too old will do for a look around, and for nothing else.
    pub fn new_enough(&self) -> Result<(), GitError> {
        let said = self.call("version", &Place::nowhere()).args(["--version"]).ok()?;
        let said = String::from_utf8_lossy(&said).trim().to_owned();
        match version(&said) {
            Some(version) if version >= OLDEST => Ok(()),
            _ => Err(GitError::TooOld { program: self.program.clone(), found: said }),
        }
    }

    /// The person's home, as far as it is known.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        let home = self.host.config.iter().find(|(name, _)| name == "HOME");
        home.map(|(_, home)| PathBuf::from(home))
    }

    /// Whether it is told nothing but where the person's own configuration is. Any other variable may make it see another
    /// repository, or none.
    pub(crate) fn sees_plainly(&self) -> bool {
        self.host.config.iter().all(|(name, _)| CONFIG.iter().any(|known| name == known))
    }

    /// The same git, started by somebody else.
    pub fn run_by(&self, run: Arc<dyn Run>) -> Git {
        Git { run, ..self.clone() }
    }

    pub(crate) fn call<'g>(&'g self, name: &'static str, place: &'g Place) -> Invocation<'g> {
        Invocation { git: self, place, name, args: vec![], env: vec![], stdin: vec![] }
    }
}

/// The first git on an absolute directory of PATH. A relative one would be looked up in whatever
/// directory a call runs in.
fn on_path(path: &OsStr) -> Option<PathBuf> {
    let runs = |file: &PathBuf| {
        file.metadata().is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    env::split_paths(path).filter(|dir| dir.is_absolute()).map(|dir| dir.join("git")).find(runs)
}

fn version(said: &str) -> Option<(u32, u32)> {
    let mut parts = said.strip_prefix("git version ")?.split(['.', ' ']);
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// Where a call stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The directory it runs in.
    pub dir: PathBuf,
    pub git_dir: Option<PathBuf>,
    pub common_dir: Option<PathBuf>,
    pub work_tree: Option<PathBuf>,
    pub index: Option<PathBuf>,
    /// Where new objects go, if not into the git directory's own.
    pub objects: Option<PathBuf>,
    /// Further object directories to read from.
    pub borrowed: Vec<PathBuf>,
    /// Harmless settings on top of the pinned ones.
    pub config: Vec<(String, OsString)>,
    /// Whether the person's own configuration is read. Only calls that touch no file do that.
    pub theirs: bool,
    /// Whether it goes to a remote, as the person's own git would: with their way there and their keys.
    pub reaches: bool,
}

impl Place {
    pub fn nowhere() -> Place {
        Place { dir: "/".into(), ..Place::default() }
    }

    /// A repository without a work tree.
    pub fn bare(git_dir: &Path) -> Place {
        Place { dir: git_dir.into(), git_dir: Some(git_dir.into()), ..Place::default() }
    }

    /// The same with a work tree and an index of its own.
    pub fn with_work(self, work_tree: &Path, index: &Path) -> Place {
        Place {
            dir: work_tree.into(),
            work_tree: Some(work_tree.into()),
            index: Some(index.into()),
            ..self
        }
    }

    /// The same with an index of its own.
    pub fn with_index(self, index: &Path) -> Place {
        Place { index: Some(index.into()), ..self }
    }

    /// The same, for what must be on disk when the call is over.
    pub fn flushing(mut self) -> Place {
        self.config.push(("core.fsyncMethod".into(), "fsync".into()));
        self
    }

    pub fn borrowing(mut self, objects: &Path) -> Place {
        self.borrowed.push(objects.into());
        self
    }

    fn environment(&self, host: &Host) -> Vec<(OsString, OsString)> {
        let mut env = vec![("PATH".into(), host.path.clone())];
        if self.theirs {
            env.extend(host.config.iter().cloned());
        }
        env.extend(pins::environment(self.theirs));
        env.extend(pins::config(self.theirs, self.reaches, &self.config));
        if self.reaches {
            env.extend(host.reach.iter().cloned());
            env.push(("GIT_ALLOW_PROTOCOL".into(), pins::PROTOCOLS.into()));
        }
        let mut pin = |name: &str, path: &Option<PathBuf>| {
            env.extend(path.as_ref().map(|path| (name.into(), path.clone().into_os_string())));
        };
        pin("GIT_DIR", &self.git_dir);
        pin("GIT_COMMON_DIR", &self.common_dir);
        pin("GIT_WORK_TREE", &self.work_tree);
        pin("GIT_INDEX_FILE", &self.index);
        pin("GIT_OBJECT_DIRECTORY", &self.objects);
        if !self.borrowed.is_empty() {
            let quoted: Vec<_> = self.borrowed.iter().map(|path| quoted(path)).collect();
            let list = quoted.join(OsStr::new(":"));
            env.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), list));
        }
        env
    }
}

/// A path as git reads it in lists of object directories, whatever is in it.
pub(crate) fn quoted(path: &Path) -> OsString {
    let mut quoted = vec![b'"'];
    for &byte in path.as_os_str().as_bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    OsStr::from_bytes(&quoted).to_owned()
}

/// A call being put together.
#[must_use]
pub(crate) struct Invocation<'g> {
    git: &'g Git,
    place: &'g Place,
    name: &'static str,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    stdin: Vec<u8>,
}

impl Invocation<'_> {
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub fn arg(self, arg: impl AsRef<OsStr>) -> Self {
        self.args([arg])
    }

    pub fn env(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// Runs it, whatever its exit code.
    pub fn output(self) -> Result<Output, GitError> {
        self.finish().map(|(output, _)| output)
    }

    /// Runs it; any exit code but 0 is an error.
    pub fn ok(self) -> Result<Vec<u8>, GitError> {
        let (output, call) = self.finish()?;
        if output.code == Some(0) { Ok(output.stdout) } else { Err(failure(&call, &output)) }
    }

    /// Runs it; 0 means yes and 1 means no.
    pub fn test(self) -> Result<bool, GitError> {
        let (output, call) = self.finish()?;
        match output.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(failure(&call, &output)),
        }
    }

    /// Runs it and reads the name of an object.
    pub fn oid(self) -> Result<Oid, GitError> {
        let name = self.name;
        Oid::printed(&self.ok()?).map_err(|wrong| strange(name, &wrong))
    }

    fn finish(self) -> Result<(Output, Call), GitError> {
        let mut env = self.place.environment(&self.git.host);
        env.extend(self.env);
        let call = Call {
            name: self.name,
            program: self.git.program.clone(),
            args: self.args,
            dir: self.place.dir.clone(),
            env,
            stdin: self.stdin,
        };
        let output = failpoint::around(call.name, || self.git.run.run(&call))
            .map_err(|source| GitError::NotStarted { name: call.name, source })?;
        Ok((output, call))
    }
}

pub(crate) fn strange(name: &'static str, what: &NotAnOid) -> GitError {
    GitError::Strange { name, what: what.to_string() }
}

const SAID_MAX: usize = 2000;

fn failure(call: &Call, output: &Output) -> GitError {
    let args: Vec<_> = call.args.iter().map(|arg| arg.to_string_lossy()).collect();
    let from = output.stderr.len().saturating_sub(SAID_MAX);
    GitError::Failed(Box::new(Failure {
        name: call.name,
        args: args.join(" "),
        dir: call.dir.clone(),
        code: output.code,
        said: String::from_utf8_lossy(&output.stderr[from..]).trim().to_owned(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Says(&'static str);

    impl Run for Says {
        fn run(&self, _: &Call) -> io::Result<Output> {
            Ok(Output { code: Some(0), stdout: self.0.into(), stderr: vec![] })
        }
    }

    fn host(path: &str) -> Host {
        Host { path: path.into(), ..Host::default() }
    }

    #[test]
    fn no_git_and_an_old_git_are_two_errors() {
        let missing = Git::find(Arc::new(Says("")), host("/nonexistent")).unwrap_err();
        assert!(matches!(missing, GitError::Missing), "{missing}");
        let path = env::var("PATH").unwrap();
        for old in ["git version 2.37.9", "git version 1.99.0", "gut version 3.0.0", ""] {
            let git = Git::find(Arc::new(Says(old)), host(&path)).unwrap();
            let error = git.new_enough().unwrap_err();
            assert!(matches!(error, GitError::TooOld { .. }), "{old}: {error}");
        }
        for new in ["git version 2.38.0", "git version 2.47.3 (Apple Git-1)", "git version 3.0.1"] {
            let git = Git::find(Arc::new(Says(new)), host(&path)).unwrap();
            assert!(git.new_enough().is_ok(), "{new}");
        }
    }

    #[test]
    fn git_is_never_taken_from_a_relative_directory() {
        let dir = tempfile::tempdir().unwrap();
        let git = dir.path().join("git");
        std::fs::write(&git, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&git, PermissionsExt::from_mode(0o755)).unwrap();
        assert_eq!(on_path(dir.path().as_os_str()), Some(git));
        let relative = Path::new(&"../".repeat(30)).join(dir.path().strip_prefix("/").unwrap());
        assert!(relative.join("git").exists());
        assert_eq!(on_path(relative.as_os_str()), None);
    }

    #[test]
    fn strange_paths_are_quoted_in_lists() {
        assert_eq!(quoted(Path::new("/a b:c")), r#""/a b:c""#);
        assert_eq!(quoted(Path::new("/a\"\\\nb")), r#""/a\"\\\nb""#);
    }
}
