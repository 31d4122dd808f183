//! What the configuration of a repository does not decide alone: to whom a key is sent, and which file one is read from. Whoever
//! clones a repository has its windlass.toml, and has not said any of that; so a person says it outside of it.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The variable in which a person says what they trust, with spaces between.
pub const VARIABLE: &str = "WINDLASS_TRUSTED";

/// The file in which they say it, a line each, in their own directory for configuration.
const FILE: &str = "trusted";

/// A key is no longer than this.
const KEY_BYTES_MAX: u64 = 64 * 1024;

/// A person's own directory for configuration, and what they trust.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    home: Option<PathBuf>,
    own: Option<PathBuf>,
    said: Vec<String>,
}

impl Trust {
    /// What the person who started this says; a file that lies in the repository says nothing.
    pub fn of_person(top: &Path) -> Self {
        let dir = |name: &str| std::env::var_os(name).map(PathBuf::from);
        let absolute = |it: &PathBuf| it.is_absolute();
        let home = dir("HOME").filter(absolute);
        let base = dir("XDG_CONFIG_HOME").filter(absolute);
        let base = base.or_else(|| home.as_ref().map(|home| home.join(".config")));
        let own = base.map(|base| base.join("windlass")).filter(|own| !is_below(own, top));
        let mut said: Vec<String> = Vec::new();
        let variable = std::env::var(VARIABLE).unwrap_or_default();
        said.extend(variable.split_whitespace().map(str::to_owned));
        let file = own.as_ref().and_then(|own| std::fs::read_to_string(own.join(FILE)).ok());
        said.extend(file.unwrap_or_default().lines().map(|line| line.trim().to_owned()));
        said.retain(|it| !it.is_empty());
        Trust { home, own, said }
    }

    fn says(&self, what: &str) -> bool {
        let plain = what.trim_end_matches('/');
        self.said.iter().any(|it| it.trim_end_matches('/') == plain)
    }

    /// How it is said.
    fn hint(&self, what: &str) -> String {
        let file =
            self.own.as_ref().map(|own| format!(" or on a line of {}", own.join(FILE).display()));
        format!("if `{what}` is meant, say so in {VARIABLE}{}", file.unwrap_or_default())
    }

    /// That a key may be sent to a place, which a setting names: the tracker's own, this machine, or one that the person has named.
    pub fn place(&self, setting: &str, url: &str, usual: &str) -> Result<(), Error> {
        let plain = |url: &str| url.trim_end_matches('/').to_owned();
        // What is not encrypted and keeps secrets does not leave this machine.
        let stays_here =
            url.starts_with("http://") && windlass_sources::tracker::keeps_secrets(url);
        if plain(url) == plain(usual) || stays_here || self.says(url) {
            return Ok(());
        }
        let what = format!(
            "`[issues] {setting}` is {url}: no key is sent there because a repository says so"
        );
        Err(Error::usage(what).hint(self.hint(url)))
    }

    /// What a file holds that a setting names as the one with a key or a secret. `Ok(None)` if it holds nothing.
    pub fn secret(&self, setting: &str, named: &str, top: &Path) -> Result<Option<String>, Error> {
        let path = match (named.strip_prefix("~/"), &self.home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => top.join(named),
        };
        let is_own = self.own.as_ref().is_some_and(|own| is_below(&path, own));
        if !is_own && !self.says(named) {
            let what = format!(
                "`[issues] {setting}` is {named}: it is not read because a repository says so"
            );
            let own = self.own.as_ref().map(|own| format!("keep it in {}; or, ", own.display()));
            return Err(Error::usage(what).hint(format!(
                "{}{}",
                own.unwrap_or_default(),
                self.hint(named)
            )));
        }
        let read = || -> std::io::Result<String> {
            let mut text = String::new();
            std::fs::File::open(&path)?.take(KEY_BYTES_MAX).read_to_string(&mut text)?;
            Ok(text)
        };
        let key = read().map_err(|error| Error::unreadable(&path, error))?;
        Ok(Some(key.trim().to_owned()).filter(|key| !key.is_empty()))
    }
}

/// Whether a path is in a directory, links followed as far as they go.
fn is_below(path: &Path, dir: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let climbs = path.components().any(|it| it == std::path::Component::ParentDir);
    real(path).starts_with(real(dir)) && (path.exists() || !climbs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trust(own: &Path, said: &[&str]) -> Trust {
        let said = said.iter().map(|it| (*it).to_owned()).collect();
        Trust { home: Some(own.to_owned()), own: Some(own.join("windlass")), said }
    }

    #[test]
    fn a_key_goes_to_the_trackers_own_place_to_this_machine_or_where_a_person_says() {
        let usual = "https://api.github.com";
        let none = trust(Path::new("/home/ada"), &[]);
        for fine in
            [usual, "https://api.github.com/", "http://127.0.0.1:8080", "http://localhost:1"]
        {
            assert!(none.place("base-url", fine, usual).is_ok(), "{fine}");
        }
        for other in [
            "https://evil.example",
            "https://api.github.com.evil.example",
            "https://api.github.com@evil.example",
            "http://api.github.com",
            "http://127.0.0.1@evil.example",
            "https://api.github.com/../x",
        ] {
            assert!(none.place("base-url", other, usual).is_err(), "{other}");
        }
        let said = trust(Path::new("/home/ada"), &["https://git.example/api/v3/"]);
        assert!(said.place("base-url", "https://git.example/api/v3", usual).is_ok());
        assert!(said.place("base-url", "https://git.example/api/v4", usual).is_err());
    }

    #[test]
    fn a_key_is_read_from_a_persons_own_directory_or_where_they_say() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("windlass/key", " abc\n");
        write("windlass/empty", "\n");
        write(".ssh/other", "PRIVATE\n");
        std::os::unix::fs::symlink("../.ssh/other", home.path().join("windlass/link")).unwrap();
        let top = home.path().join("repo");
        let none = trust(home.path(), &[]);
        assert_eq!(
            none.secret("key-file", "~/windlass/key", &top).unwrap().as_deref(),
            Some("abc")
        );
        assert_eq!(none.secret("key-file", "~/windlass/empty", &top).unwrap(), None);
        for other in ["~/.ssh/other", "~/windlass/../.ssh/other", "~/windlass/link", "key"] {
            let refused = none.secret("key-file", other, &top).unwrap_err();
            assert!(refused.to_string().contains(other), "{refused:?}");
        }
        let said = trust(home.path(), &["~/.ssh/other"]);
        assert_eq!(
            said.secret("key-file", "~/.ssh/other", &top).unwrap().as_deref(),
            Some("PRIVATE")
        );
        // What is not there is named.
        let missing = none.secret("key-file", "~/windlass/none", &top).unwrap_err().to_string();
        assert!(missing.contains("windlass/none"), "{missing}");
    }
}
