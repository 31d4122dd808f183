//! Requests over HTTP, for trackers that are somewhere else.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::time::Duration;

use ureq::config::AutoHeaderValue;
use ureq::http::Request;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error, Timeout};

/// A client of one tracker.
#[derive(Debug)]
pub(super) struct Http {
    agent: Agent,
}

/// An answer, all of it.
#[derive(Debug)]
pub(super) struct Answer {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// There is no answer.
#[derive(Debug)]
pub(super) struct Failed {
    /// The tracker may have done what it was asked all the same.
    pub sent: bool,
    /// It would be the same another time.
    pub for_good: bool,
    pub why: String,
}

/// No answer is longer than this.
const BODY_BYTES_MAX: u64 = 32 << 20;

/// Nobody waits longer for a connection.
const CONNECT_MS_MAX: u64 = 10_000;

/// Where systems keep the certificates that they trust.
const TRUSTED: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

impl Http {
    /// A client that waits so long for an answer.
    pub fn new(url: &str, answer_ms_max: u64) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A key goes to one place only.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(AutoHeaderValue::Provided(
                concat!("windlass/", env!("CARGO_PKG_VERSION")).to_owned().into(),
            ))
            // Between two requests a connection grows old, and one that breaks when it is used again leaves it open
            // whether a write was carried out.
            .max_idle_connections(0)
            .timeout_connect(Some(Duration::from_millis(CONNECT_MS_MAX.min(answer_ms_max))))
            .timeout_global(Some(Duration::from_millis(answer_ms_max)));
        if url.starts_with("https:")
            && let Some(roots) = roots()
        {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Http { agent: config.build().new_agent() }
    }

    /// Sends a request, and waits for all of the answer.
    pub fn send(
        &self,
        method: &str,
        url: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Failed> {
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(body).map_err(|error| Failed::for_good(&error))?;
        let answer = self.agent.run(request).map_err(Failed::of)?;
        let (head, body) = answer.into_parts();
        let mut bytes = Vec::new();
        let read = body.into_reader().take(BODY_BYTES_MAX + 1).read_to_end(&mut bytes);
        read.map_err(|error| Failed { sent: true, for_good: false, why: error.to_string() })?;
        if bytes.len() as u64 > BODY_BYTES_MAX {
            let why = format!("the answer has more than {} MiB", BODY_BYTES_MAX >> 20);
            return Err(Failed { sent: true, for_good: true, why });
        }
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Answer { status: head.status.as_u16(), headers: headers.collect(), body: bytes })
    }
}

impl Answer {
    /// A header by its name in small letters.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Failed {
    fn for_good(error: &dyn std::error::Error) -> Self {
        Failed { sent: false, for_good: true, why: error.to_string() }
    }

    fn of(error: Error) -> Self {
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
pub(super) fn keeps_secrets(url: &str) -> bool {
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

    #[test]
    fn who_was_not_reached_was_sent_nothing_and_who_says_nothing_may_have_heard_it() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let failed =
            |url: &str, ms: u64| Http::new(url, ms).send("POST", url, &[], b"{}").err().unwrap();
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
