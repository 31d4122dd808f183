//! Pull requests, as a person has set them up: in which repository on GitHub, with which key.

use std::sync::Arc;
use std::time::Duration;

use windlass_clerks::issues::PullRequests;
use windlass_engine::mask::Mask;
use windlass_repo::Repository;
use windlass_sources::tracker::github::{self, GitHub};

use crate::config::{IssuesConfig, Which};
use crate::error::Error;
use crate::tracker::{QUIET, no_key, patience, refused};
use crate::trust::Trust;

/// How work becomes pull requests.
pub fn of(
    which: Which,
    project: &str,
    config: &IssuesConfig,
    repository: &Repository,
    base: &str,
    mask: Mask,
) -> Result<PullRequests, Error> {
    let remote = config.remote().to_owned();
    let address = repository.push_address(&remote)?;
    let own = (which.name == github::KIND.name).then(|| project.to_owned());
    let named = config.repository.clone().or(own);
    let Some(named) = named.or_else(|| ends_in(&address.to_string_lossy())) else {
        return Err(Error::usage(format!(
            "nobody can tell which repository on GitHub `{remote}` is"
        ))
        .hint("`[issues] repository = \"owner/name\"` in windlass.toml says so"));
    };
    let (top, here) = (repository.top(), which.name == github::KIND.name);
    let trust = Trust::of_person(top);
    // What is said of a key is said of the tracker's.
    let said = if here { config.clone() } else { IssuesConfig::default() };
    let github = Which::named(github::KIND.name).ok_or_else(Error::defect)?;
    let key = said.key(github, top, &trust)?;
    let key = key.ok_or_else(|| no_key(github, &said))?;
    let usual = github::Settings::default();
    let own = config.github_url.as_ref().map(|url| ("github-url", url));
    let own = own.or_else(|| said.base_url.as_ref().map(|url| ("base-url", url)));
    let url = own.map_or(Ok(usual.url.clone()), |(setting, url)| {
        trust.place(setting, url, &usual.url).map(|()| url.clone())
    })?;
    let settings = github::Settings { url, project: named.clone(), ..usual };
    let github = GitHub::new(settings, &key, Arc::new(patience(QUIET))).map_err(refused)?;
    Ok(PullRequests {
        github: Arc::new(github),
        repository: named,
        remote,
        base: base.to_owned(),
        look_every: Duration::from_secs(config.look_every.unwrap_or(30).max(1)),
        checks_within: Duration::from_secs(config.checks_within.unwrap_or(180)),
        mask,
    })
}

/// The `owner/name` that the address of a remote ends in, if it is on another machine.
fn ends_in(address: &str) -> Option<String> {
    let path = match address.split_once("://") {
        Some(("file", _)) => return None,
        Some((_, rest)) => rest.split_once('/')?.1,
        None => address.split_once(':').filter(|(host, _)| !host.contains('/'))?.1,
    };
    let path = path.trim_matches('/');
    let (rest, name) = path.strip_suffix(".git").unwrap_or(path).rsplit_once('/')?;
    Some(format!("{}/{name}", rest.rsplit('/').next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_what_the_address_of_a_remote_ends_in() {
        for (address, is) in [
            ("https://me:key@github.com/acme/harness.git", Some("acme/harness")),
            ("git@github.com:acme/harness.git", Some("acme/harness")),
            ("ssh://git@host:22/teams/acme/harness/", Some("acme/harness")),
            ("/srv/git/harness.git", None),
            ("file:///srv/git/harness.git", None),
            ("../harness", None),
            ("https://github.com/harness", None),
        ] {
            assert_eq!(ends_in(address).as_deref(), is, "{address}");
        }
    }
}
