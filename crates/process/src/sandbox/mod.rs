//! Where agents and checks run: a part of the machine with nothing in it but what they need.
//!
//! ```text
//!  Windlass ──▶ bwrap: namespaces, mounts ──▶ doorman: limits, Landlock ──▶ the program
//!                    level bubblewrap only           the levels bubblewrap and landlock; limits at all of them
//! ```
//!
//! What a program sees is a [`View`]. How it comes to see that and nothing else is a [`Level`]. The doorman is Windlass
//! itself, started once more inside: Landlock forbids to mount, so it can only be switched on when bubblewrap is done.
//!
//! | question | file |
//! |---|---|
//! | what does a program see? | `view.rs`; of the machine, `system.rs` |
//! | how is that laid out with namespaces? | `bubblewrap.rs` |
//! | what happens just before the program starts? | `doorman.rs` |

mod bubblewrap;
pub mod doorman;
mod system;
mod view;

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub use system::System;
pub use view::{Access, Holds, Network, Place, View};

use crate::{Bounds, Command, Ending, Env, Limits, RunError, Spawner, which};
use doorman::Orders;

/// How long something that hangs may take to end when it is asked to, before it is ended.
const GRACE: Duration = Duration::from_secs(1);

/// What stands between a program and the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Nothing. It has to be asked for.
    None,
    /// The kernel refuses what is not in the view; names of files and other processes can still be seen.
    Landlock,
    /// What is not in the view is not there. Landlock besides, where the kernel has it.
    Bubblewrap,
}

impl Level {
    /// All of them, from the best.
    pub const ALL: [Level; 3] = [Level::Bubblewrap, Level::Landlock, Level::None];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Level::None => "none",
            Level::Landlock => "landlock",
            Level::Bubblewrap => "bubblewrap",
        }
    }

    /// The level of this name.
    pub fn named(name: &str) -> Option<Level> {
        Level::ALL.into_iter().find(|level| level.name() == name)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Wanted {
    /// The best that starts here, but not none.
    #[default]
    Best,
    /// This one and no other.
    Level(Level),
}

/// What sandboxes are made with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tools {
    /// Who stands at the door: a program that calls [`doorman::called`] first thing.
    pub doorman: PathBuf,
    /// Bubblewrap, if it is installed.
    pub bwrap: Option<PathBuf>,
    /// How long something that ends at once may take, where it is tried out whether anything starts.
    pub patience: Duration,
}

impl Tools {
    /// Nothing that works takes so long to start, also on a busy machine.
    pub const PATIENCE: Duration = Duration::from_secs(9);

    /// This very program, and what is on its `PATH`.
    pub fn here() -> std::io::Result<Tools> {
        let bwrap = which("bwrap", &Env::inherited());
        Ok(Tools { doorman: std::env::current_exe()?, bwrap, patience: Tools::PATIENCE })
    }
}

/// What was asked for cannot be had.
#[derive(Debug, thiserror::Error)]
#[error("{}", .tried.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
pub struct Unavailable {
    /// What was tried.
    pub tried: Vec<NotHere>,
}

/// A level that does not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{level}: {why}")]
pub struct NotHere {
    /// Which.
    pub level: Level,
    /// What happened.
    pub why: String,
}

/// A level that starts here. Copies are handles to the same.
#[derive(Clone, Debug)]
pub struct Sandbox {
    made: Arc<Made>,
}

#[derive(Debug)]
struct Made {
    level: Level,
    /// Bubblewrap, where it is used.
    bwrap: Option<PathBuf>,
    /// Whether processes can be shown as they are inside.
    own_processes: bool,
    /// The version of Landlock's interface; none where the kernel has none.
    landlock: Option<u32>,
    doorman: PathBuf,
    /// What better levels came to.
    not_here: Vec<NotHere>,
}

impl Sandbox {
    /// No sandbox at all.
    pub fn none(tools: &Tools) -> Sandbox {
        let made = Made {
            level: Level::None,
            bwrap: None,
            own_processes: false,
            landlock: None,
            doorman: tools.doorman.clone(),
            not_here: Vec::new(),
        };
        Sandbox { made: Arc::new(made) }
    }

    /// What is wanted, tried out: something is started in it.
    ///
    /// # Errors
    ///
    /// When it does not start. Nothing less is taken in its place.
    pub fn find(wanted: Wanted, tools: &Tools, spawner: &Spawner) -> Result<Sandbox, Unavailable> {
        let levels: &[Level] = match wanted {
            Wanted::Best => &[Level::Bubblewrap, Level::Landlock],
            Wanted::Level(Level::None) => return Ok(Sandbox::none(tools)),
            Wanted::Level(Level::Landlock) => &[Level::Landlock],
            Wanted::Level(Level::Bubblewrap) => &[Level::Bubblewrap],
        };
        let mut tried = Vec::new();
        for level in levels {
            match Sandbox::try_out(*level, tools, spawner) {
                Ok(made) => {
                    return Ok(Sandbox { made: Arc::new(Made { not_here: tried, ..made }) });
                }
                Err(why) => tried.push(NotHere { level: *level, why }),
            }
        }
        Err(Unavailable { tried })
    }

    fn try_out(level: Level, tools: &Tools, spawner: &Spawner) -> Result<Made, String> {
        let landlock = doorman::landlock_version();
        let bwrap = match level {
            Level::Bubblewrap => {
                let missing = "bwrap is not installed (on Debian: `apt install bubblewrap`)";
                Some(tools.bwrap.clone().ok_or(missing)?)
            }
            Level::Landlock if landlock.is_none() => {
                return Err(
                    "this kernel has no Landlock (Linux 5.13 or newer, `lsm=…,landlock`)".into()
                );
            }
            Level::Landlock | Level::None => None,
        };
        let made = |own_processes| Made {
            level,
            bwrap: bwrap.clone(),
            own_processes,
            landlock,
            doorman: tools.doorman.clone(),
            not_here: Vec::new(),
        };
        let starts = |made| starts(made, tools.patience, spawner);
        match (level, starts(made(true))) {
            // Inside of a container or another sandbox a fresh /proc may be refused. Then there is none at all: the one
            // that is there would show everybody else's processes.
            (Level::Bubblewrap, Err(Failure::Said(why))) => starts(made(false)).map_err(|_| why),
            // Who hangs once hangs twice.
            (_, first) => first.map_err(Failure::in_words),
        }
    }

    /// The level that was reached.
    pub fn level(&self) -> Level {
        self.made.level
    }

    /// What better levels came to.
    pub fn not_here(&self) -> &[NotHere] {
        &self.made.not_here
    }

    /// Where something of the machine is seen inside: at a fixed path where the level allows that, else where it is.
    pub fn seen_at(&self, fixed: &str, real: &Path) -> PathBuf {
        match self.made.level {
            Level::Bubblewrap => fixed.into(),
            Level::Landlock | Level::None => real.into(),
        }
    }

    /// What every program may see of the machine, without a place of its own yet.
    pub fn view(&self, system: &System) -> View {
        let mut view = View::default();
        system.lay(&mut view);
        view.lay("/dev", Holds::Devices);
        if self.made.own_processes {
            view.lay("/proc", Holds::Processes);
        }
        view
    }

    /// The words to start a program with, so that it sees a view and nothing else, and where to start them: for
    /// somebody who becomes it. The first of `args` is what it calls itself.
    pub fn line(&self, view: &View, program: &Path, args: &[OsString]) -> (Vec<OsString>, PathBuf) {
        let orders = self.orders(view, &Bounds::default());
        let Wrapped { words, directory, .. } = self.wrapped(view, &orders, program, args);
        (words, directory)
    }

    /// The same for somebody who listens to the doorman.
    pub(crate) fn words(
        &self,
        view: &View,
        bounds: &Bounds,
        program: &Path,
        args: &[OsString],
    ) -> Wrapped {
        let orders = Orders { heard: true, ..self.orders(view, bounds) };
        self.wrapped(view, &orders, program, args)
    }

    fn orders(&self, view: &View, bounds: &Bounds) -> Orders {
        Orders::of(self.made.level, self.made.landlock.is_some(), view, bounds)
    }

    fn wrapped(&self, view: &View, orders: &Orders, program: &Path, args: &[OsString]) -> Wrapped {
        let made = &*self.made;
        let mut words = Vec::new();
        let mut door = made.doorman.clone();
        if let Some(bwrap) = &made.bwrap {
            words.push(bwrap.clone().into_os_string());
            words.extend(bubblewrap::words(view, &made.doorman));
            door = bubblewrap::DOORMAN.into();
        }
        words.push(door.into_os_string());
        words.extend(orders.words(program, args));
        // Bubblewrap enters the directory inside; nobody else has to.
        let directory = match made.level {
            Level::Bubblewrap => "/".into(),
            Level::Landlock | Level::None => view.directory.clone(),
        };
        Wrapped { words, directory, has_monitor: made.bwrap.is_some() }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let made = &*self.made;
        match made.level {
            Level::None => return f.write_str("none"),
            Level::Landlock => f.write_str("landlock")?,
            Level::Bubblewrap => f.write_str("bubblewrap")?,
        }
        let version = made.landlock.map(|version| version.to_string());
        match (made.level, version) {
            (Level::Landlock, Some(version)) => write!(f, " {version}")?,
            (Level::Bubblewrap, Some(version)) => write!(f, " and landlock {version}")?,
            (_, _) => {}
        }
        if !made.own_processes {
            f.write_str(", without /proc")?;
        }
        Ok(())
    }
}

/// How something is really started.
pub(crate) struct Wrapped {
    pub(crate) words: Vec<OsString>,
    pub(crate) directory: PathBuf,
    /// The first process is not the program but somebody who waits for it, and whose end is the end of all.
    pub(crate) has_monitor: bool,
}

/// Why nothing starts.
enum Failure {
    /// As somebody said.
    Said(String),
    /// Nothing had happened after so long.
    Hangs(Duration),
}

impl Failure {
    fn in_words(self) -> String {
        match self {
            Failure::Said(why) => why,
            Failure::Hangs(patience) => {
                format!("it hangs: nothing had started after {} s", patience.as_secs_f32())
            }
        }
    }
}

/// Starts something that ends at once.
fn starts(made: Made, patience: Duration, spawner: &Spawner) -> Result<Made, Failure> {
    let sandbox = Sandbox { made: Arc::new(made) };
    let mut view = sandbox.view(&System::default());
    view.directory = "/".into();
    // Without bubblewrap the doorman has to be seen where it is.
    if sandbox.level() != Level::Bubblewrap {
        view.show(sandbox.made.doorman.clone(), Access::Read);
    }
    let limits = Limits { wall: Some(patience), grace: GRACE, ..Limits::default() };
    let command = Command::new(doorman::NOTHING, "/").limits(limits).inside(&sandbox, view);
    let said = Failure::Said;
    let finished = spawner.run(command).map_err(|error: RunError| said(error.to_string()))?;
    match (finished.ending, finished.why) {
        (Ending::Exited(0), _) => {
            Arc::into_inner(sandbox.made).ok_or_else(|| said("somebody else holds it".to_owned()))
        }
        (Ending::TimedOut(_), _) => Err(Failure::Hangs(patience)),
        (_, Some(why)) => Err(said(why)),
        (ending, None) => Err(said(format!("{ending:?}"))),
    }
}
