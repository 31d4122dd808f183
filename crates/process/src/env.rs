//! The environment of a new program, built up from nothing.
//!
//! Windlass itself may hold keys of providers, trackers and clouds in its environment. A program
//! gets none of them unless somebody names the variable: [`Env::inherited`] copies a short list of
//! harmless names, [`Env::pass`] and [`Env::set`] add what is named.

use std::{
    collections::BTreeMap,
    ffi::{CString, OsStr, OsString},
    os::unix::ffi::OsStrExt,
};

use crate::{command::text, error::SpawnError, token};

/// What is copied without being asked for, and why a program is lost without it.
const HARMLESS: &[&str] = &[
    // Where programs are.
    "PATH",
    // Whose files these are: configuration, caches, toolchains.
    "HOME",
    "USER",
    "LOGNAME",
    // What tools start when they need a shell.
    "SHELL",
    // In what language, alphabet and time zone to answer.
    "LANG",
    "LANGUAGE",
    "TZ",
    // What a terminal would be able to do; some programs refuse to start without.
    "TERM",
    // Where scratch files go.
    "TMPDIR",
    // Which certificates to trust: without them nothing behind a company's proxy can be reached.
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// The one family of names that is copied: `LC_ALL`, `LC_MESSAGES`, …
const HARMLESS_PREFIX: &[u8] = b"LC_";

/// Parts of names that hold secrets more often than not.
const SECRETIVE: &[&str] = &["KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "COOKIE"];

/// Names and values, in the order of the names.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Env {
    values: BTreeMap<OsString, OsString>,
}

impl Env {
    /// Nothing at all.
    pub fn empty() -> Env {
        Env::default()
    }

    /// What every program needs, copied from Windlass's own environment: `PATH`, `HOME`, `USER`,
    /// `LOGNAME`, `SHELL`, `LANG`, `LANGUAGE`, `LC_*`, `TZ`, `TERM`, `TMPDIR`, `SSL_CERT_FILE` and
    /// `SSL_CERT_DIR`, as far as they are set.
    pub fn inherited() -> Env {
        Env::harmless(std::env::vars_os())
    }

    fn harmless(vars: impl IntoIterator<Item = (OsString, OsString)>) -> Env {
        Env { values: vars.into_iter().filter(|(name, _)| is_harmless(name)).collect() }
    }

    /// Sets a variable.
    #[must_use]
    pub fn set(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Env {
        self.values.insert(name.into(), value.into());
        self
    }

    /// Copies a variable from Windlass's own environment, secret or not, if it is set there.
    #[must_use]
    pub fn pass(self, name: impl Into<OsString>) -> Env {
        let name = name.into();
        match std::env::var_os(&name) {
            Some(value) => self.set(name, value),
            None => self,
        }
    }

    /// Takes a variable away.
    #[must_use]
    pub fn without(mut self, name: impl AsRef<OsStr>) -> Env {
        self.values.remove(name.as_ref());
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: impl AsRef<OsStr>) -> Option<&OsStr> {
        self.values.get(name.as_ref()).map(OsString::as_os_str)
    }

    /// The names that are set.
    pub fn names(&self) -> impl Iterator<Item = &OsStr> {
        self.values.keys().map(OsString::as_os_str)
    }

    /// As the kernel takes it. The token's own variable is left to the spawner.
    pub(crate) fn lines(&self) -> Result<Vec<CString>, SpawnError> {
        let mut lines = Vec::with_capacity(self.values.len() + 1);
        for (name, value) in &self.values {
            if name.is_empty() || name.as_bytes().contains(&b'=') {
                let text = name.clone();
                return Err(SpawnError::BadText { what: "the name of a variable", text });
            }
            if name == token::VARIABLE {
                continue;
            }
            let mut line = name.clone();
            line.push("=");
            line.push(value);
            lines.push(text("a variable", line)?);
        }
        Ok(lines)
    }
}

impl std::fmt::Debug for Env {
    // Names only: a value may be a secret.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

fn is_harmless(name: &OsStr) -> bool {
    if HARMLESS.iter().any(|harmless| name == *harmless) {
        return true;
    }
    name.as_bytes().starts_with(HARMLESS_PREFIX) && !looks_secret(name)
}

fn looks_secret(name: &OsStr) -> bool {
    let name = name.to_string_lossy().to_ascii_uppercase();
    SECRETIVE.iter().any(|part| name.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(pairs: &[(&str, &str)]) -> Env {
        Env::harmless(pairs.iter().map(|(name, value)| (name.into(), value.into())))
    }

    #[test]
    fn only_harmless_names_are_copied() {
        let all = [
            ("PATH", "/bin"),
            ("LC_ALL", "C"),
            ("LC_API_TOKEN", "s3cret"),
            ("ANTHROPIC_API_KEY", "s3cret"),
            ("AWS_PROFILE", "boss"),
            ("SSH_AUTH_SOCK", "/run/agent"),
            ("LD_PRELOAD", "/tmp/evil.so"),
            ("XDG_RUNTIME_DIR", "/run/user/0"),
            ("GIT_DIR", "/elsewhere"),
        ];
        let names: Vec<_> = env(&all).names().map(OsStr::to_os_string).collect();
        assert_eq!(names, ["LC_ALL", "PATH"]);
    }

    #[test]
    fn a_secret_is_passed_when_it_is_named() {
        let env = Env::empty().set("API_KEY", "s3cret").pass("CARGO_PKG_NAME").pass("NOT_SET_HERE");
        assert_eq!(env.get("API_KEY"), Some(OsStr::new("s3cret")));
        assert_eq!(
            env.names().count(),
            1 + usize::from(std::env::var_os("CARGO_PKG_NAME").is_some())
        );
        assert_eq!(env.without("API_KEY").get("API_KEY"), None);
    }

    #[test]
    fn values_are_not_printed() {
        let printed = format!("{:?}", Env::empty().set("API_KEY", "s3cret"));
        assert_eq!(printed, r#"{"API_KEY"}"#);
    }

    #[test]
    fn a_name_that_would_become_another_is_refused() {
        for name in ["", "A=B", "A\0B"] {
            let refused = Env::empty().set(name, "x").lines();
            assert!(matches!(refused, Err(SpawnError::BadText { .. })), "{name:?}");
        }
    }

    #[test]
    fn the_token_cannot_be_set_from_outside() {
        let lines = Env::empty().set(token::VARIABLE, "0123").set("A", "1").lines().unwrap();
        assert_eq!(lines, [c"A=1".to_owned()]);
    }
}
