//! A view, laid out by bubblewrap.

use std::{ffi::OsString, path::Path};

use super::view::{Access, Holds, Network, View};

/// Where the doorman stands inside.
pub(super) const DOORMAN: &str = "/run/windlass/doorman";

/// What bubblewrap is told, all but its own name.
pub(super) fn words(view: &View, doorman: &Path) -> Vec<OsString> {
    let mut words: Vec<OsString> = Vec::new();
    let mut say = |said: &[&dyn AsRef<std::ffi::OsStr>]| {
        words.extend(said.iter().map(|word| word.as_ref().to_owned()));
    };
    // Everything that it starts ends with it, and it ends with us.
    say(&[&"--die-with-parent", &"--unshare-pid", &"--unshare-ipc", &"--unshare-uts"]);
    say(&[&"--unshare-cgroup-try", &"--hostname", &"lane"]);
    // Whoever has a terminal in there could otherwise type into it on behalf of the person at it.
    say(&[&"--new-session"]);
    // Root would keep all of its powers.
    say(&[&"--cap-drop", &"ALL"]);
    match view.network {
        Network::Open => {}
    }
    for place in &view.places {
        let at = &place.at;
        match &place.holds {
            Holds::Shown { from, access: Access::Read } => say(&[&"--ro-bind", from, at]),
            Holds::Shown { from, access: Access::Write } => say(&[&"--bind", from, at]),
            Holds::Memory => say(&[&"--tmpfs", at]),
            Holds::Nothing => say(&[&"--tmpfs", at, &"--remount-ro", at]),
            Holds::Link(to) => say(&[&"--symlink", to, at]),
            Holds::Devices => say(&[&"--dev", at]),
            Holds::Processes => {
                say(&[&"--proc", at]);
                // Root, even without powers, could turn screws there that are the whole machine's.
                for name in ["sys", "sysrq-trigger"] {
                    say(&[&"--ro-bind-try", &Path::new("/proc").join(name), &at.join(name)]);
                }
            }
        }
    }
    say(&[&"--ro-bind", &doorman, &DOORMAN]);
    // What no place shows is a directory that bubblewrap made on the way to one; nobody writes there.
    say(&[&"--remount-ro", &"/", &"--chdir", &view.directory, &"--"]);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_laid_out_in_their_order() {
        let mut view = View { directory: "/lane".into(), ..View::default() };
        view.show("/usr", Access::Read);
        view.show_at("/lane", "/state/lanes/1/work", Access::Write);
        view.lay("/lane/.claude", Holds::Nothing);
        view.lay("/proc", Holds::Processes);
        let words = words(&view, Path::new("/opt/windlass"));
        let words: Vec<_> = words.iter().map(|word| word.to_str().unwrap()).collect();
        let said = words.join(" ");
        assert!(said.contains(
            "--ro-bind /usr /usr --bind /state/lanes/1/work /lane \
             --tmpfs /lane/.claude --remount-ro /lane/.claude --proc /proc"
        ));
        assert!(said.contains("--ro-bind-try /proc/sys /proc/sys"), "the machine's own: {said}");
        assert!(said.contains("--new-session"), "nobody types into a person's terminal: {said}");
        assert!(said.starts_with("--die-with-parent --unshare-pid"), "{said}");
        assert!(said.contains("--cap-drop ALL") && said.ends_with("--chdir /lane --"), "{said}");
    }
}
