//! What is to be started: a program with its arguments, where, with what, and for how long.
//!
//! A `Command` is only a description. Nothing here passes through a shell: arguments are handed
//! to the program as they are. Whatever can be made ready beforehand (the program looked up, files
//! and pipes opened) is made ready by `prepare`, on the thread of the caller, so that the one
//! thread that starts everything has little left to do.

use std::{
    ffi::{CString, OsStr, OsString},
    fmt,
    fs::File,
    io::{self, Seek, Write},
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::ffi::{OsStrExt, OsStringExt},
    },
    path::PathBuf,
    time::Duration,
};

use rustix::{
    fs::{MemfdFlags, Mode, OFlags, memfd_create, open},
    io::fcntl_dupfd_cloexec,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
    pipe::{PipeFlags, pipe_with},
};

use crate::{
    Bounds, Env, Fed, Output, Sandbox, View,
    error::SpawnError,
    launch::Plan,
    spool::Spool,
    token::{self, Token},
    which,
};

/// One of the two streams a program writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stream {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

/// What a program reads.
#[derive(Clone, Debug, Default)]
pub enum Stdin {
    /// Nothing: the first read meets the end.
    #[default]
    Null,
    /// These bytes, then the end. They lie in memory of the kernel before the program starts, so
    /// nobody has to write them while it runs.
    Bytes(Vec<u8>),
    /// What somebody writes while it runs.
    Fed(Fed),
}

/// What a program may take. No limit must be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// From start to end.
    pub wall: Option<Duration>,
    /// Without a byte on either stream.
    pub idle: Option<Duration>,
    /// Between being asked to end (TERM) and being ended (KILL).
    pub grace: Duration,
    /// Of the machine. What cannot be held to it from outside, the doorman of a sandbox sees to.
    pub bounds: Bounds,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            wall: Some(Duration::from_secs(30 * 60)),
            idle: None,
            grace: Duration::from_secs(5),
            bounds: Bounds::default(),
        }
    }
}

/// Sees each chunk as it arrives.
///
/// It runs on the thread that looks after every child, so it must be quick: take what you need
/// and hand it on. It may stop a child, but not start one. If it panics it is not called again and
/// [`Finished::watch_panicked`](crate::Finished::watch_panicked) says so.
pub type Watch = Box<dyn FnMut(Stream, &[u8]) + Send>;

/// A program to start.
pub struct Command {
    program: OsString,
    args: Vec<OsString>,
    directory: PathBuf,
    env: Env,
    stdin: Stdin,
    limits: Limits,
    stdout: Output,
    stderr: Output,
    watch: Option<Watch>,
    umask: u32,
    orphaned: i32,
    inside: Option<(Sandbox, View)>,
}

impl Command {
    /// A program to be started in a directory. The directory has to be said: a program that
    /// inherits it would one day run in the checkout of a person.
    ///
    /// A program without a slash is looked up in the `PATH` of its own environment; a relative
    /// path is taken from `directory`.
    pub fn new(program: impl Into<OsString>, directory: impl Into<PathBuf>) -> Command {
        Command {
            program: program.into(),
            args: Vec::new(),
            directory: directory.into(),
            env: Env::inherited(),
            stdin: Stdin::Null,
            limits: Limits::default(),
            stdout: Output::default(),
            stderr: Output::default(),
            watch: None,
            umask: 0o022,
            orphaned: libc::SIGKILL,
            inside: None,
        }
    }

    /// One more argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Command {
        self.args.push(arg.into());
        self
    }

    /// More arguments.
    #[must_use]
    pub fn args<A: Into<OsString>>(mut self, args: impl IntoIterator<Item = A>) -> Command {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// The whole environment, in place of [`Env::inherited`].
    #[must_use]
    pub fn env(mut self, env: Env) -> Command {
        self.env = env;
        self
    }

    /// What it reads.
    #[must_use]
    pub fn stdin(mut self, stdin: Stdin) -> Command {
        self.stdin = stdin;
        self
    }

    /// How long it may take.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Command {
        self.limits = limits;
        self
    }

    /// What becomes of its standard output.
    #[must_use]
    pub fn stdout(mut self, output: Output) -> Command {
        self.stdout = output;
        self
    }

    /// What becomes of its standard error.
    #[must_use]
    pub fn stderr(mut self, output: Output) -> Command {
        self.stderr = output;
        self
    }

    /// Who sees its output as it arrives.
    #[must_use]
    pub fn watch(mut self, watch: impl FnMut(Stream, &[u8]) + Send + 'static) -> Command {
        self.watch = Some(Box::new(watch));
        self
    }

    /// When we die it is asked to end, instead of being killed: for a program that clears up after itself, and that is
    /// over in a moment anyway. Whoever sweeps after us ends it if it is not.
    #[must_use]
    pub fn asked_when_orphaned(mut self) -> Command {
        self.orphaned = libc::SIGTERM;
        self
    }

    /// Which permissions files it creates do not get; `0o022` if not said, whatever Windlass
    /// itself was started with.
    #[must_use]
    pub fn umask(mut self, umask: u32) -> Command {
        self.umask = umask & 0o777;
        self
    }

    /// Where it runs, and what it sees there. The directory is the view's.
    #[must_use]
    pub fn inside(mut self, sandbox: &Sandbox, view: View) -> Command {
        self.directory.clone_from(&view.directory);
        self.inside = Some((sandbox.clone(), view));
        self
    }

    /// Makes everything ready that needs no new process.
    pub(crate) fn prepare(self, token: Token, outer: Option<&str>) -> Result<Order, SpawnError> {
        let program = which::resolve(&self.program, &self.env, &self.directory)?;
        let system = |step| {
            let program = self.program.clone();
            move |error: io::Error| SpawnError::system(step, &program, error)
        };
        let stdin = match self.stdin {
            Stdin::Null => open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                .map_err(io::Error::from),
            Stdin::Bytes(bytes) => held(&bytes),
            Stdin::Fed(fed) => fed.pipe.try_clone(),
        };
        let stdin = stdin.and_then(above_stdio).map_err(system("hand over its input"))?;
        let (out, out_end) = stream().map_err(system("open a pipe"))?;
        let (err, err_end) = stream().map_err(system("open a pipe"))?;
        let (heard, heard_end) = match &self.inside {
            Some(_) => line().map(|(ours, theirs)| (Some(ours), Some(theirs))),
            None => Ok((None, None)),
        }
        .map_err(system("open a pipe"))?;
        let mut args = vec![self.program.clone()];
        args.extend(self.args);
        let mut directory = self.directory;
        let mut path = program.into_os_string();
        let mut has_monitor = false;
        if let Some((sandbox, view)) = &self.inside {
            let wrapped = sandbox.words(view, &self.limits.bounds, path.as_ref(), &args);
            (args, directory, has_monitor) =
                (wrapped.words, wrapped.directory, wrapped.has_monitor);
            path.clone_from(&args[0]);
        }
        let args =
            args.into_iter().map(|arg| text("an argument", arg)).collect::<Result<_, _>>()?;
        let mut env = self.env.lines()?;
        env.push(text("the token", token::line(token, outer).into())?);
        Ok(Order {
            plan: Plan {
                path: text("the program", path)?,
                args,
                env,
                directory: text("the directory", directory.into_os_string())?,
                stdio: [stdin, out_end, err_end],
                fourth: heard_end,
                groups: Vec::new(),
                umask: self.umask,
                orphaned: self.orphaned,
            },
            watch: self.watch,
            limits: self.limits,
            door: heard.map(|heard| (heard, has_monitor)),
            program: self.program,
            token,
            stdout: (out, Spool::new(self.stdout)?),
            stderr: (err, Spool::new(self.stderr)?),
        })
    }
}

impl fmt::Debug for Command {
    // Neither the environment nor the input: both may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A command made ready: one call away from running.
pub(crate) struct Order {
    pub(crate) plan: Plan,
    pub(crate) program: OsString,
    pub(crate) token: Token,
    /// Where the doorman of its sandbox is heard, if it is in one, and whether its first process is a monitor.
    pub(crate) door: Option<(OwnedFd, bool)>,
    pub(crate) watch: Option<Watch>,
    pub(crate) limits: Limits,
    pub(crate) stdout: (OwnedFd, Spool),
    pub(crate) stderr: (OwnedFd, Spool),
}

/// Bytes as a file that is at its beginning and has no name.
fn held(bytes: &[u8]) -> io::Result<OwnedFd> {
    let mut file = File::from(memfd_create("windlass-stdin", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file.into())
}

/// A pipe: the end we read, which never blocks, and the end the program writes.
fn stream() -> io::Result<(OwnedFd, OwnedFd)> {
    let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::ioctl_fionbio(&read, true)?;
    Ok((read, above_stdio(write)?))
}

/// A line to talk over: our end, which never blocks, and the other.
fn line() -> io::Result<(OwnedFd, OwnedFd)> {
    let (flags, kind) = (SocketFlags::CLOEXEC, SocketType::STREAM);
    let (ours, theirs) = socketpair(AddressFamily::UNIX, kind, flags, None)?;
    rustix::io::ioctl_fionbio(&ours, true)?;
    Ok((ours, above_stdio(theirs)?))
}

/// Moves a descriptor out of the way of 0 to 3, where a new program's own are put: a process
/// that was started with those closed gets them for its first files.
fn above_stdio(fd: OwnedFd) -> io::Result<OwnedFd> {
    if fd.as_raw_fd() > 3 { Ok(fd) } else { Ok(fcntl_dupfd_cloexec(&fd, 4)?) }
}

/// Text as the kernel takes it: without a zero byte.
pub(crate) fn text(what: &'static str, text: OsString) -> Result<CString, SpawnError> {
    CString::new(text.into_vec()).map_err(|error| SpawnError::BadText {
        what,
        text: OsStr::from_bytes(&error.into_vec()).to_os_string(),
    })
}
