//! What happens just before a program starts, on the inside.
//!
//! The doorman is Windlass itself, started with orders instead of a verb. It switches Landlock on for itself, says that
//! it is in, waits to be told to go on, and becomes the program. Whoever started it hears that over a line of their own:
//! nothing there means that the sandbox could not be set up, so no failure of ours is ever taken for one of the program's.

use std::{
    ffi::OsString,
    fs, io,
    os::{
        fd::BorrowedFd,
        unix::{
            ffi::{OsStrExt, OsStringExt},
            process::CommandExt,
        },
    },
    path::{Path, PathBuf},
    process::{Command, ExitCode},
};

use landlock::{
    ABI, Access as _, AccessFs, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::{
    io::{FdFlags, fcntl_setfd},
    process::{Resource, Rlimit, getrlimit, setrlimit},
    thread::{CapabilitySet, CapabilitySets, set_capabilities},
};

use crate::Bounds;

use super::{
    Level,
    view::{Access, Holds, View},
};

/// The first word, which no verb of anybody is.
const CALLED: &str = "--windlass-doorman";
/// A program that is none: the doorman ends well instead.
pub(crate) const NOTHING: &str = "/nothing";
/// The line over which the doorman is heard.
pub(crate) const PIPE: i32 = 3;
/// What it says when it is in. An error may follow.
pub(crate) const IN: &[u8] = b"in";
/// What it is told then.
pub(crate) const GO_ON: &[u8] = b"!";
/// What it ends with if it cannot become the program; as a shell does.
const NOT_STARTED: u8 = 126;

/// The newest version of Landlock's interface that we know all of. What the kernel does not have is left out.
const NEWEST: ABI = ABI::V7;

const NO_POWERS: CapabilitySets = CapabilitySets {
    effective: CapabilitySet::empty(),
    permitted: CapabilitySet::empty(),
    inheritable: CapabilitySet::empty(),
};

/// The devices that every program expects.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// What the doorman has to do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Orders {
    /// Whether the program is to have nothing of the person's session: there is a sandbox.
    pub(super) apart: bool,
    /// Whether Landlock is to be switched on, and what may be read and written then.
    pub(super) rules: Option<Rules>,
    /// What each process may have: open files, and the length of a file.
    pub(super) files: Option<u64>,
    pub(super) file: Option<u64>,
    /// Whether somebody listens at the other end of the pipe.
    pub(super) heard: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Rules {
    read: Vec<PathBuf>,
    write: Vec<PathBuf>,
}

impl Orders {
    pub(crate) fn of(level: Level, has_landlock: bool, view: &View, bounds: &Bounds) -> Orders {
        let apart = level != Level::None;
        let limits = Orders { apart, files: bounds.files, file: bounds.file, ..Orders::default() };
        if level == Level::None || !has_landlock {
            return limits;
        }
        let mut rules = Rules::default();
        if level == Level::Bubblewrap {
            // What is not in the view is not there; what is there may be read.
            rules.read.push("/".into());
        }
        let confined = level == Level::Landlock;
        for place in &view.places {
            let at = place.at.clone();
            match &place.holds {
                Holds::Shown { access: Access::Write, .. } | Holds::Memory => rules.write.push(at),
                Holds::Shown { access: Access::Read, .. } if confined => rules.read.push(at),
                // Below the machine's own `/dev` there is more than devices, and all devices that there are.
                Holds::Devices if confined => {
                    rules.write.extend(DEVICES.iter().map(|name| at.join(name)));
                }
                Holds::Devices => rules.write.push(at),
                // To be looked at: what root may write there would reach the whole machine.
                Holds::Processes if confined => rules.read.push(at),
                Holds::Shown { .. } | Holds::Nothing | Holds::Link(_) | Holds::Processes => {}
            }
        }
        Orders { rules: Some(rules), ..limits }
    }

    /// The orders and the program, as arguments of the doorman. The program's own come last.
    pub(crate) fn words(&self, program: &Path, args: &[OsString]) -> Vec<OsString> {
        let mut words = vec![CALLED.into()];
        for (word, is_said) in [("heard", self.heard), ("apart", self.apart)] {
            words.extend(is_said.then(|| word.into()));
        }
        words.extend(self.files.map(|number| format!("files={number}").into()));
        words.extend(self.file.map(|bytes| format!("file={bytes}").into()));
        if let Some(rules) = &self.rules {
            words.push("rules".into());
            let said = |name: &str, path: &PathBuf| {
                let mut word = OsString::from(name);
                word.push(path);
                word
            };
            words.extend(rules.read.iter().map(|path| said("read=", path)));
            words.extend(rules.write.iter().map(|path| said("write=", path)));
        }
        words.push("--".into());
        words.push(program.as_os_str().to_owned());
        words.extend(args.iter().cloned());
        words
    }

    /// What the arguments of the doorman mean: its orders, the program, and its arguments, the first of which is what it
    /// is called.
    fn parse(
        words: impl IntoIterator<Item = OsString>,
    ) -> Option<(Orders, PathBuf, Vec<OsString>)> {
        let mut words = words.into_iter();
        let mut orders = Orders::default();
        for word in words.by_ref() {
            let bytes = word.as_bytes();
            let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
            let number = |bytes: &[u8]| str::from_utf8(bytes).ok()?.parse::<u64>().ok();
            if bytes == b"--" {
                let program = words.next()?;
                return Some((orders, program.into(), words.collect()));
            } else if bytes == b"heard" {
                orders.heard = true;
            } else if bytes == b"apart" {
                orders.apart = true;
            } else if bytes == b"rules" {
                orders.rules.get_or_insert_default();
            } else if let Some(files) = bytes.strip_prefix(b"files=") {
                orders.files = Some(number(files)?);
            } else if let Some(file) = bytes.strip_prefix(b"file=") {
                orders.file = Some(number(file)?);
            } else if let Some(read) = bytes.strip_prefix(b"read=") {
                orders.rules.get_or_insert_default().read.push(path(read));
            } else if let Some(write) = bytes.strip_prefix(b"write=") {
                orders.rules.get_or_insert_default().write.push(path(write));
            } else {
                return None;
            }
        }
        None
    }
}

/// To be called first thing by a program that is its own doorman: if it was started as one, it becomes the program that
/// it was told to and does not return, or says why not.
pub fn called() -> Option<ExitCode> {
    let mut args = std::env::args_os().skip(1);
    if args.next()? != CALLED {
        return None;
    }
    // Without orders that make sense nobody can be told anything.
    let Some((orders, program, args)) = Orders::parse(args) else {
        return Some(ExitCode::from(NOT_STARTED));
    };
    let failed = match enter(&orders) {
        Err(why) => why,
        Ok(()) => match start(&program, &args) {
            Ok(ended) => return Some(ended),
            Err(error) => format!("{}: {error}", program.display()),
        },
    };
    let _ = say(&orders, failed.as_bytes());
    Some(ExitCode::from(NOT_STARTED))
}

/// Gives up everything that is not in the orders.
fn enter(orders: &Orders) -> Result<(), String> {
    // The program must not hold the pipe: its end is how the other side knows.
    if orders.heard {
        fcntl_setfd(pipe(), FdFlags::CLOEXEC).map_err(|error| format!("the pipe: {error}"))?;
    }
    // Nobody looks at what a program that fell over had in memory, and it may be a lot.
    limit(Resource::Core, 0)?;
    if orders.apart {
        leave_keyring();
    }
    if let Some(rules) = &orders.rules {
        restrict(rules).map_err(|error| format!("Landlock: {error}"))?;
        // Root's powers reach past some of the rules, into the memory of others for one. Nothing gives them back.
        set_capabilities(None, NO_POWERS).map_err(|error| format!("powers: {error}"))?;
    }
    // After the rules, each of which takes an open file: they are ours, the limits are the program's.
    for (what, most) in [(Resource::Nofile, orders.files), (Resource::Fsize, orders.file)] {
        most.map_or(Ok(()), |most| limit(what, most))?;
    }
    say(orders, IN).and_then(|()| wait(orders)).map_err(|_| "nobody listens any more".to_owned())
}

/// Leaves the keyring of the person's session for an empty one. No namespace holds keys back.
#[expect(unsafe_code, reason = "a call that no library passes on")]
fn leave_keyring() {
    const JOIN_SESSION_KEYRING: libc::c_int = 1;
    // SAFETY: without a name there is nothing that the kernel would look at. A kernel without keys says so, which is fine.
    unsafe {
        libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, std::ptr::null::<u8>());
    }
}

/// Limits this process and what comes from it. Less than is wanted is as good.
fn limit(what: Resource, most: u64) -> Result<(), String> {
    let is = getrlimit(what);
    let most = is.maximum.map_or(most, |maximum| maximum.min(most));
    let now = Rlimit { current: Some(most), maximum: Some(most) };
    setrlimit(what, now).map_err(|error| format!("the limit of {what:?}: {error}"))
}

fn start(program: &Path, args: &[OsString]) -> io::Result<ExitCode> {
    if program == Path::new(NOTHING) {
        return Ok(ExitCode::SUCCESS);
    }
    let mut command = Command::new(program);
    let mut args = args.iter();
    if let Some(name) = args.next() {
        command.arg0(name);
    }
    Err(command.args(args).exec())
}

fn restrict(rules: &Rules) -> Result<(), RulesetError> {
    let all = AccessFs::from_all(NEWEST);
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(all)?
        .scope(Scope::AbstractUnixSocket)?
        .scope(Scope::Signal)?
        .create()?;
    let ruleset = allow(ruleset, &rules.read, AccessFs::from_read(NEWEST))?;
    let ruleset = allow(ruleset, &rules.write, all)?;
    ruleset.restrict_self().map(drop)
}

/// Allows something below each path. What is not there, or may not be looked at, cannot be allowed.
fn allow(
    mut ruleset: RulesetCreated,
    paths: &[PathBuf],
    access: landlock::BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    for path in paths {
        let Ok(fd) = PathFd::new(path) else { continue };
        let of_files = access & AccessFs::from_file(NEWEST);
        let is_directory = fs::metadata(path).is_ok_and(|meta| meta.is_dir());
        let access = if is_directory { access } else { of_files };
        ruleset = ruleset.add_rule(PathBeneath::new(fd, access))?;
    }
    Ok(ruleset)
}

/// The version of Landlock's interface that this kernel has, if it has one.
#[expect(unsafe_code, reason = "a question to the kernel that no library passes on")]
pub(super) fn landlock_version() -> Option<u32> {
    /// Makes nothing, answers with the version.
    const VERSION: u32 = 1;
    // SAFETY: with this flag the kernel looks at nothing but its arguments.
    let version = unsafe {
        libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<u8>(), 0_usize, VERSION)
    };
    u32::try_from(version).ok().filter(|version| *version > 0)
}

#[expect(unsafe_code, reason = "a descriptor that is known by its number only")]
fn pipe() -> BorrowedFd<'static> {
    // SAFETY: whoever starts a doorman hands it this descriptor, and nothing in this program closes it.
    unsafe { BorrowedFd::borrow_raw(PIPE) }
}

/// Waits to be told to go on. Windlass may have been killed before bubblewrap had tied itself to it, and whoever went on
/// then would outlive it: so nobody goes on whom a Windlass has not told to, after bubblewrap is done.
fn wait(orders: &Orders) -> rustix::io::Result<()> {
    if !orders.heard {
        return Ok(());
    }
    let mut word = [0; GO_ON.len()];
    loop {
        match rustix::io::read(pipe(), &mut word) {
            Err(rustix::io::Errno::INTR) => {}
            Ok(0) => return Err(rustix::io::Errno::PIPE),
            told => return told.map(drop),
        }
    }
}

/// Tells whoever listens, or else a person.
fn say(orders: &Orders, what: &[u8]) -> rustix::io::Result<()> {
    if orders.heard {
        rustix::io::write(pipe(), what)?;
    } else if what != IN {
        rustix::io::write(io::stderr(), &[what, b"\n"].concat())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_understood_as_they_were_given() {
        let mut view = View::default();
        view.show("/usr", Access::Read);
        view.show("/a b=c", Access::Write);
        view.lay("/x", Holds::Nothing);
        for level in Level::ALL {
            for has_landlock in [true, false] {
                let heard = has_landlock;
                let bounds = Bounds { files: Some(64), file: Some(1 << 40), ..Bounds::default() };
                let orders = Orders { heard, ..Orders::of(level, has_landlock, &view, &bounds) };
                let program = Path::new("/bin/odd\nname");
                let args = ["odd", "--", "read=/"].map(OsString::from);
                let words = orders.words(program, &args);
                assert_eq!(words[0], CALLED);
                let back = Orders::parse(words.into_iter().skip(1)).unwrap();
                assert_eq!(back, (orders, program.to_owned(), args.to_vec()));
            }
        }
        let nothing = Orders::parse([OsString::from("read=/")]);
        assert_eq!(nothing, None, "no program");
        assert_eq!(Orders::parse([OsString::from("give=/"), "--".into(), "x".into()]), None);
    }

    #[test]
    fn without_namespaces_only_what_is_shown_may_be_read() {
        let mut view = View::default();
        view.show("/usr", Access::Read);
        view.show("/lane", Access::Write);
        let of = |level| Orders::of(level, true, &view, &Bounds::default());
        let rules = |level| of(level).rules.unwrap();
        assert_eq!(rules(Level::Landlock).read, [Path::new("/usr")]);
        assert_eq!(rules(Level::Bubblewrap).read, [Path::new("/")]);
        for level in [Level::Landlock, Level::Bubblewrap] {
            assert_eq!(rules(level).write, [Path::new("/lane")]);
        }
        assert_eq!(of(Level::None), Orders::default());
    }
}
