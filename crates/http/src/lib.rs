//! Requests that leave this machine, with a key: to providers of models and to trackers. What is the same for both is
//! here: a key goes to one place only, no connection is used twice, what the system trusts is trusted, and of a request
//! that has no answer is known whether it may have been carried out all the same.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use ureq::config::AutoHeaderValue;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error, Timeout};

/// How long is waited.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For all of an answer, if it is bounded as a whole.
    pub whole: Option<Duration>,
    /// For the next piece of it, if it comes in pieces.
    pub piece: Option<Duration>,
}

/// There is no answer.
#[derive(Debug)]
pub struct Failed {
    /// Whoever was asked may have got the request, and done what it says.
    pub sent: bool,
    /// It would be the same another time.
    pub for_good: bool,
    /// What happened.
    pub why: String,
}

/// Where systems keep the certificates that they trust.
const TRUSTED: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// A client. What the system trusts is read only if it speaks TLS.
#[must_use]
pub fn agent(tls: bool, timeouts: Timeouts) -> Agent {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        // A key goes to one place only.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .user_agent(AutoHeaderValue::Provided(
            concat!("windlass/", env!("CARGO_PKG_VERSION")).to_owned().into(),
        ))
        // Between two requests a connection grows old, and one that breaks when it is used again would leave it open
        // whether the request was carried out, and what it has cost.
        .max_idle_connections(0)
        .timeout_connect(Some(timeouts.connect))
        .timeout_global(timeouts.whole)
        .timeout_per_write(timeouts.piece)
        .timeout_per_read(timeouts.piece);
    if tls && let Some(roots) = roots() {
        config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
    }
    config.build().new_agent()
}

impl Failed {
    /// A request that cannot even be made.
    #[must_use]
    pub fn for_good(error: &dyn std::error::Error) -> Self {
        Failed { sent: false, for_good: true, why: error.to_string() }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        // A certificate that nobody trusts is data that makes no sense, to who reads it.
        let kind = match &error {
            Error::Io(error) => Some(error.kind()),
            _ => None,
        };
        let for_good = kind == Some(ErrorKind::InvalidData)
            || matches!(
                &error,
                Error::BadUri(_) | Error::Http(_) | Error::Tls(_) | Error::Rustls(_)
            );
        let not_reached = kind == Some(ErrorKind::ConnectionRefused)
            || matches!(
                &error,
                Error::HostNotFound
                    | Error::ConnectionFailed
                    | Error::ConnectProxyFailed(_)
                    | Error::Timeout(Timeout::Resolve | Timeout::Connect)
            );
        Failed { sent: !for_good && !not_reached, for_good, why: error.to_string() }
    }
}

/// The certificates that the system trusts. Where nobody knows them, those that were built in.
fn roots() -> Option<RootCerts> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let usual = TRUSTED.iter().map(PathBuf::from);
    let bytes = named.into_iter().chain(usual).find_map(|path| std::fs::read(path).ok())?;
    let items = parse_pem(&bytes).filter_map(Result::ok);
    let certificates: Vec<Certificate<'static>> = items
        .filter_map(|item| match item {
            PemItem::Certificate(certificate) => Some(certificate),
            _ => None,
        })
        .collect();
    (!certificates.is_empty()).then(|| RootCerts::new_with_certs(&certificates))
}

/// Whether a key may be sent there: not in the clear, unless it stays on this machine.
#[must_use]
pub fn keeps_secrets(url: &str) -> bool {
    let Some(rest) = url.strip_prefix("http://") else { return url.starts_with("https://") };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, port)| match port.parse::<u16>() {
        Ok(_) => name,
        Err(_) => host,
    });
    name == "localhost"
        || name == "[::1]"
        || name.parse().is_ok_and(|it: std::net::Ipv4Addr| it.is_loopback())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn failed(url: &str, whole_ms: u64) -> Failed {
        let whole = Some(Duration::from_millis(whole_ms));
        let timeouts =
            Timeouts { connect: Duration::from_millis(whole_ms.min(500)), whole, piece: None };
        agent(false, timeouts).post(url).send(b"{}".as_slice()).err().unwrap().into()
    }

    #[test]
    fn who_was_not_reached_was_sent_nothing_and_who_says_nothing_may_have_heard_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let silent = failed(&url, 50);
        assert!(silent.sent && !silent.for_good, "{silent:?}");
        drop(listener);
        let nobody = failed(&url, 60_000);
        assert!(!nobody.sent && !nobody.for_good, "{nobody:?}");
        let nowhere = failed("no address", 60_000);
        assert!(!nowhere.sent && nowhere.for_good, "{nowhere:?}");
    }

    #[test]
    fn keys_go_in_the_clear_to_this_machine_only() {
        for url in [
            "https://api.linear.app/graphql",
            "http://127.0.0.1:8000/x",
            "http://localhost",
            "http://[::1]:80/",
        ] {
            assert!(keeps_secrets(url), "{url}");
        }
        for url in [
            "http://linear.app",
            "http://127.0.0.1.evil.org/",
            "http://localhost@evil.org",
            "ftp://127.0.0.1",
            "",
        ] {
            assert!(!keeps_secrets(url), "{url}");
        }
    }
}
