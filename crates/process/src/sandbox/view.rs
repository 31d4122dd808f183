//! What a program sees of the machine, as data.
//!
//! A [`View`] is a list of places, in the order in which they are laid out: what comes later lies on top of what came
//! before. Whatever no place shows is not there. The same list is printed for a person, turned into mounts where there
//! are namespaces, and into rules where there are none.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// What a program sees.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// What is where, from below to on top.
    pub places: Vec<Place>,
    /// Where the program starts.
    pub directory: PathBuf,
    /// What of the network it reaches.
    pub network: Network,
}

/// Something that a program finds at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The path, as the program sees it.
    pub at: PathBuf,
    /// What is there.
    pub holds: Holds,
}

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holds {
    /// A file or a directory of the machine, with all that is in it.
    Shown {
        /// Where it is on the machine.
        from: PathBuf,
        /// What may be done with it.
        access: Access,
    },
    /// A directory in memory, empty at first and gone afterwards.
    Memory,
    /// An empty directory that stays empty, whatever the machine has there.
    Nothing,
    /// A symbolic link.
    Link(PathBuf),
    /// The devices that every program expects (`null`, `zero`, `full`, `random`, `urandom`, `tty`), and no other.
    Devices,
    /// The processes that the program has started, and no other.
    Processes,
}

/// What may be done with what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Looked at and executed.
    Read,
    /// Changed as well.
    Write,
}

/// What of the network is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Network {
    /// All that the machine reaches.
    #[default]
    Open,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Network::Open => f.write_str("open"),
        }
    }
}

impl View {
    /// Lays something on top.
    pub fn lay(&mut self, at: impl Into<PathBuf>, holds: Holds) {
        self.places.push(Place { at: at.into(), holds });
    }

    /// Shows a file or a directory where it is.
    pub fn show(&mut self, path: impl Into<PathBuf>, access: Access) {
        let from = path.into();
        self.lay(from.clone(), Holds::Shown { from, access });
    }

    /// Shows a file or a directory somewhere else.
    pub fn show_at(&mut self, at: impl Into<PathBuf>, from: impl Into<PathBuf>, access: Access) {
        self.lay(at, Holds::Shown { from: from.into(), access });
    }

    /// Whether a path of the machine can be seen at the same path, as far as the list says.
    pub fn shows(&self, path: &Path) -> bool {
        let on_top = self.places.iter().rev().find(|place| path.starts_with(&place.at));
        on_top.is_some_and(|place| match &place.holds {
            Holds::Shown { from, .. } => {
                path.strip_prefix(&place.at).is_ok_and(|rest| from.join(rest) == path)
                    || *from == place.at
            }
            Holds::Memory | Holds::Nothing | Holds::Link(_) => false,
            // There are devices, and nothing else that the machine may keep there.
            Holds::Devices | Holds::Processes => false,
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at.display();
        match &self.holds {
            Holds::Shown { from, access } => {
                let access = match access {
                    Access::Read => "read ",
                    Access::Write => "write",
                };
                if *from == self.at {
                    write!(f, "{access}   {at}")
                } else {
                    write!(f, "{access}   {at} ← {}", from.display())
                }
            }
            Holds::Memory => write!(f, "memory  {at}"),
            Holds::Nothing => write!(f, "nothing {at}"),
            Holds::Link(to) => write!(f, "link    {at} → {}", to.display()),
            Holds::Devices => write!(f, "devices {at}"),
            Holds::Processes => write!(f, "own     {at}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_on_top_counts() {
        let mut view = View::default();
        view.show("/usr", Access::Read);
        view.lay("/usr/share/secret", Holds::Nothing);
        view.show_at("/lane", "/state/lanes/1/work", Access::Write);
        assert!(view.shows(Path::new("/usr/bin/git")));
        assert!(!view.shows(Path::new("/usr/share/secret/key")));
        assert!(!view.shows(Path::new("/state/lanes/1/work/a")), "it is somewhere else");
        assert!(!view.shows(Path::new("/lane/a")), "that is another file than the machine's");
        assert!(!view.shows(Path::new("/home/me")));
    }

    #[test]
    fn a_place_is_printed_in_a_line() {
        let mut view = View::default();
        view.show("/usr", Access::Read);
        view.show_at("/lane", "/state/1", Access::Write);
        view.lay("/lane/.claude", Holds::Nothing);
        view.lay("/bin", Holds::Link("usr/bin".into()));
        let lines: Vec<String> = view.places.iter().map(Place::to_string).collect();
        assert_eq!(
            lines,
            [
                "read    /usr",
                "write   /lane ← /state/1",
                "nothing /lane/.claude",
                "link    /bin → usr/bin"
            ]
        );
    }
}
