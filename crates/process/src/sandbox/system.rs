//! What of the machine every program may see: the system, toolchains, and nobody's secrets.
//!
//! It is a list of what is shown, not of what is hidden: what is not here is not there. Home directories, `/run` with
//! its sockets, `/var`, `/srv`, `/mnt` and other people's temporary files are not. Of the person's home only directories
//! that hold programs are shown, to be read, without the credentials that some of them keep beside.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use super::view::{Access, Holds, View};
use crate::Env;

/// What a system is made of, where it is there.
const SYSTEM: &[&str] =
    &["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/opt", "/nix"];

/// What of it a machine works without.
const OPTIONAL: [&str; 2] = ["/opt", "/nix"];

/// What `/etc/resolv.conf` and its like lead to.
const BEHIND_LINKS: &[&str] = &["/etc/resolv.conf", "/etc/localtime", "/etc/mtab", "/etc/hosts"];

/// What of `/etc` is for root alone. Whoever runs Windlass as root must not hand it to agents either.
const PRIVATE: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/krb5.keytab",
    "/etc/security/opasswd",
];
const PRIVATE_DIRECTORIES: &[&str] = &[
    "/etc/ssh",
    "/etc/ssl/private",
    "/etc/sudoers.d",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/docker",
    "/etc/kubernetes",
    "/etc/rancher",
    "/etc/windlass",
];

/// What of a home holds toolchains and what they have fetched, with the variable that says where it is and, where
/// programs do not find it by that, the variable that has to be set for them.
const TOOLCHAINS: &[(&str, Option<&str>)] = &[
    (".cargo", Some("CARGO_HOME")),
    (".rustup", Some("RUSTUP_HOME")),
    (".pyenv", Some("PYENV_ROOT")),
    (".rbenv", Some("RBENV_ROOT")),
    (".nvm", Some("NVM_DIR")),
    (".volta", Some("VOLTA_HOME")),
    (".bun", Some("BUN_INSTALL")),
    (".deno", Some("DENO_INSTALL")),
    (".sdkman", Some("SDKMAN_DIR")),
    (".asdf", Some("ASDF_DATA_DIR")),
    (".local/share/mise", Some("MISE_DATA_DIR")),
    (".local/share/uv", None),
    (".local/share/fnm", None),
    (".local/share/pnpm", None),
    (".local/bin", None),
    (".local/lib", None),
    (".npm-global", None),
    ("go/bin", None),
    ("bin", None),
];

/// What toolchains keep beside their programs and nobody else may read.
const CREDENTIALS: &[&str] = &["credentials", "credentials.toml", ".npmrc", ".pypirc", ".netrc"];

/// Who looks, and for what.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The person's home.
    pub home: Option<PathBuf>,
    /// Where they look for programs.
    pub path: Vec<PathBuf>,
    /// Files that their environment names: certificates.
    pub named: Vec<PathBuf>,
    /// Where they keep a toolchain, by its variable, if not in their home.
    pub kept: BTreeMap<&'static str, PathBuf>,
    /// What is never shown because some program is in or beside it: the person's work, and ours.
    pub hidden: Vec<PathBuf>,
}

impl System {
    /// As this process sees it.
    pub fn here() -> System {
        let env = Env::inherited();
        let split = |name: &str| env.get(name).map(|it| std::env::split_paths(it).collect());
        let paths = |name: &str| split(name).unwrap_or_else(Vec::new);
        System {
            home: env.get("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            path: paths("PATH"),
            named: ["SSL_CERT_FILE", "SSL_CERT_DIR"].into_iter().flat_map(paths).collect(),
            kept: TOOLCHAINS
                .iter()
                .filter_map(|(_, variable)| {
                    let variable = (*variable)?;
                    Some((variable, PathBuf::from(std::env::var_os(variable)?)))
                })
                .collect(),
            hidden: Vec::new(),
        }
    }

    /// Lays out what every program may see.
    pub fn lay(&self, view: &mut View) {
        for path in SYSTEM.iter().map(Path::new) {
            match fs::read_link(path) {
                // `/bin` is `usr/bin` on most machines.
                Ok(to) => view.lay(path, Holds::Link(to)),
                // What a system can do without is not shown if somebody's work is in it.
                Err(_)
                    if OPTIONAL.iter().any(|own| path == Path::new(own))
                        && self.would_tell(path) => {}
                Err(_) if path.is_dir() => view.show(path, Access::Read),
                Err(_) => {}
            }
        }
        for path in self.hidden.iter().map(|path| real(path)) {
            if view.shows(&path) {
                view.lay(path, Holds::Memory);
            }
        }
        for path in BEHIND_LINKS {
            if let Ok(real) = fs::canonicalize(path)
                && !view.shows(&real)
                && !real.starts_with("/proc")
            {
                view.show(real, Access::Read);
            }
        }
        for path in PRIVATE.iter().map(Path::new) {
            mask(view, path);
        }
        for path in PRIVATE_DIRECTORIES.iter().map(Path::new).filter(|path| path.is_dir()) {
            view.lay(path, Holds::Nothing);
        }
        for path in self.toolchains() {
            self.show_program(view, &path);
        }
        for path in &self.named {
            self.show_program(view, path);
        }
    }

    /// Directories that hold programs and are not the system's.
    fn toolchains(&self) -> Vec<PathBuf> {
        let of_home = TOOLCHAINS.iter().filter_map(|(name, variable)| self.place(name, *variable));
        let on_path = self.path.iter().map(|entry| self.whole(entry));
        of_home.chain(on_path).filter(|path| path.is_absolute() && path.is_dir()).collect()
    }

    /// What a directory of programs is a part of: beside a `bin` are the libraries of what is in it.
    fn whole(&self, entry: &Path) -> PathBuf {
        let entry = real(entry);
        // What npm has installed there is packages, and nothing but links to them is in here.
        if entry.ends_with("node_modules/.bin")
            && let Some(packages) = entry.parent().filter(|packages| !self.would_tell(packages))
        {
            return packages.to_owned();
        }
        let Some(parent) = entry.parent().filter(|_| entry.ends_with("bin")) else { return entry };
        // In a home much else lies beside a `bin`: only what looks like a toolchain, and lies deep enough, is one.
        let of_home = self
            .home
            .as_deref()
            .map(real)
            .and_then(|home| parent.strip_prefix(home).ok().map(Path::to_owned));
        let is_toolchain = of_home.is_none_or(|below| {
            let hidden =
                below.components().any(|part| part.as_os_str().as_bytes().starts_with(b"."));
            below.components().count() > 1 && !hidden && parent.join("lib").is_dir()
        });
        if is_toolchain && !self.would_tell(parent) { parent.to_owned() } else { entry }
    }

    /// Whether a directory has what is nobody's business in it, or is in it.
    pub fn would_tell(&self, path: &Path) -> bool {
        // By what they are, not by what they are called.
        let path = real(path);
        let is_in = |hidden: &PathBuf| {
            let hidden = real(hidden);
            hidden.starts_with(&path) || path.starts_with(&hidden)
        };
        path.parent().is_none()
            || self.home.as_deref().is_some_and(|home| real(home).starts_with(&path))
            || self.hidden.iter().any(is_in)
    }

    /// Shows a path to be read, if it is not seen already and has nothing else in it.
    fn show_program(&self, view: &mut View, path: &Path) {
        if self.would_tell(path) || view.shows(path) || !path.exists() {
            return;
        }
        view.show(path, Access::Read);
        for secret in CREDENTIALS.iter().map(|name| path.join(name)) {
            mask(view, &secret);
        }
    }

    /// Variables by which toolchains find their own in a home that is not the person's.
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let named = TOOLCHAINS.iter().filter_map(|(name, variable)| Some((name, (*variable)?)));
        let there = named.filter_map(|(name, variable)| {
            let path = self.place(name, Some(variable))?;
            path.is_dir().then_some((variable, path))
        });
        there.collect()
    }

    /// Where a toolchain is kept.
    fn place(&self, name: &str, variable: Option<&str>) -> Option<PathBuf> {
        let own = variable.and_then(|variable| self.kept.get(variable).cloned());
        own.or_else(|| Some(self.home.as_ref()?.join(name)))
    }
}

/// A path without links and ways up, as far as it is there.
fn real(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Lays a device that cannot be opened over a file, wherever it really is; if that is not shown, nothing has to be done.
fn mask(view: &mut View, file: &Path) {
    let file = real(file);
    if file.is_file() && view.shows(&file) {
        view.show_at(file, "/dev/null", Access::Read);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn home() -> (tempfile::TempDir, System) {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("me");
        for name in [".cargo/bin", ".ssh", "tools/node/bin", "tools/node/lib", "bin"] {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        fs::write(home.join(".cargo/credentials.toml"), "token = 's3cret'").unwrap();
        let path = vec![home.join("tools/node/bin"), home.join("bin"), "relative/bin".into()];
        (dir, System { home: Some(home), path, ..System::default() })
    }

    #[test]
    fn toolchains_of_a_home_are_shown_and_the_rest_of_it_is_not() {
        let (_dir, system) = home();
        let home = system.home.clone().unwrap();
        let mut view = View::default();
        system.lay(&mut view);
        assert!(view.shows(&home.join(".cargo/bin/cargo")));
        assert!(view.shows(&home.join("tools/node/lib/x.js")), "the libraries beside a `bin`");
        assert!(view.shows(&home.join("bin/mine")));
        assert!(!view.shows(&home.join(".ssh/id_ed25519")));
        assert!(!view.shows(&home), "not the home itself, though its `bin` is on PATH");
        assert!(!view.shows(Path::new("/run/docker.sock")));
        let hidden =
            view.places.iter().find(|place| place.at == home.join(".cargo/credentials.toml"));
        assert!(
            matches!(&hidden.unwrap().holds, Holds::Shown { from, .. } if from == Path::new("/dev/null"))
        );
    }

    #[test]
    fn beside_links_that_npm_made_are_the_packages_that_they_lead_to() {
        let (dir, mut system) = home();
        for name in ["me/app/node_modules/.bin", "work/node_modules/.bin"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
            system.path.push(dir.path().join(name));
        }
        system.hidden = vec![dir.path().join("work")];
        let mut view = View::default();
        system.lay(&mut view);
        assert!(view.shows(&dir.path().join("me/app/node_modules/codex/bin/codex.js")));
        assert!(!view.shows(&dir.path().join("me/app/secret")));
        assert!(!view.shows(&dir.path().join("work/node_modules/codex")), "the person's work");
    }

    #[test]
    fn nothing_that_holds_a_home_is_shown_because_a_program_is_in_it() {
        let (dir, mut system) = home();
        system.path = vec![dir.path().join("bin"), dir.path().to_owned(), "/".into()];
        fs::create_dir_all(dir.path().join("bin")).unwrap();
        let mut view = View::default();
        system.lay(&mut view);
        assert!(!view.shows(&dir.path().join("me/.ssh")));
        assert!(view.shows(&dir.path().join("bin/x")));
    }

    #[test]
    fn a_home_is_not_shown_by_another_name_for_it() {
        let (dir, mut system) = home();
        let home = system.home.clone().unwrap();
        std::os::unix::fs::symlink(&home, dir.path().join("link")).unwrap();
        for name in [".docker/bin", ".local/bin", ".local/lib", ".local/share/keyrings", "apps/bin"]
        {
            fs::create_dir_all(home.join(name)).unwrap();
        }
        system.path = vec![
            home.join("tools/../bin"),
            home.join(".docker/bin"),
            home.join(".local/bin"),
            home.join("apps/bin"),
        ];
        for called in [home.clone(), dir.path().join("link")] {
            system.home = Some(called);
            let mut view = View::default();
            system.lay(&mut view);
            for secret in
                [".ssh/id", ".docker/config.json", ".local/share/keyrings/x", "apps/notes"]
            {
                assert!(!view.shows(&home.join(secret)), "{secret}");
                assert!(!view.shows(&home.join("tools/..").join(secret)), "{secret}");
            }
            assert!(view.shows(&home.join(".docker/bin/docker")));
        }
    }

    #[test]
    fn work_below_the_system_is_not_shown_with_it() {
        let system = System { hidden: vec!["/usr/lib".into()], ..System::default() };
        let mut view = View::default();
        system.lay(&mut view);
        assert!(view.shows(Path::new("/usr/bin/git")) && !view.shows(Path::new("/usr/lib/x")));
    }

    #[test]
    fn nothing_of_the_work_is_shown_because_a_program_is_in_it() {
        let (dir, mut system) = home();
        for name in ["work/repo/bin", "work/bin"] {
            fs::create_dir_all(dir.path().join(name)).unwrap();
        }
        system.path = vec![dir.path().join("work/repo/bin"), dir.path().join("work/bin")];
        system.hidden = vec![dir.path().join("work/repo")];
        let mut view = View::default();
        system.lay(&mut view);
        assert!(!view.shows(&dir.path().join("work/repo/bin/x")));
        assert!(view.shows(&dir.path().join("work/bin/x")));
        assert!(!view.shows(&dir.path().join("work/repo/secret")));
    }
}
