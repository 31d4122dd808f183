//! Requests over HTTP, and answers as they come.

use std::io::{ErrorKind, Read};
use std::path::PathBuf;
use std::time::Duration;

use ureq::config::AutoHeaderValue;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Error, Timeout};
use windlass_agents::api::Pace;

use super::retry::Headers;

/// A client of one provider.
pub(super) struct Http {
    agent: Agent,
}

/// The beginning of an answer.
pub(super) struct Answer {
    pub status: u16,
    pub headers: Headers,
    body: Box<dyn Read>,
}

/// There is no answer.
#[derive(Debug)]
pub(super) struct Failed {
    /// The provider may have got the request all the same.
    pub sent: bool,
    /// It would be the same another time.
    pub for_good: bool,
    pub why: String,
}

/// An answer that is no stream is read so far.
const BODY_BYTES: u64 = 1 << 20;

/// Where systems keep the certificates that they trust.
const TRUSTED: &[&str] = &[
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

impl Http {
    pub fn new(pace: &Pace, tls: bool) -> Self {
        let ms = |ms| Some(Duration::from_millis(ms));
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            // A key goes to one place only.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(AutoHeaderValue::Provided(
                concat!("windlass/", env!("CARGO_PKG_VERSION")).to_owned().into(),
            ))
            // While tools are used, a connection grows old: one that breaks when it is used again would leave it open
            // what the request has cost.
            .max_idle_connections(0)
            .timeout_connect(ms(pace.connect_ms_max))
            .timeout_per_write(ms(pace.idle_ms_max))
            .timeout_per_read(ms(pace.idle_ms_max));
        if tls && let Some(roots) = roots() {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Http { agent: config.build().new_agent() }
    }

    /// Sends a request, and waits for the beginning of an answer.
    pub fn post(
        &self,
        url: &str,
        headers: &[(&'static str, String)],
        body: &[u8],
    ) -> Result<Answer, Failed> {
        let mut request = self.agent.post(url).header("content-type", "application/json");
        for (name, value) in headers {
            request = request.header(*name, value);
        }
        let answer = request.send(body).map_err(Failed::of)?;
        let (head, body) = answer.into_parts();
        let headers = head.headers.iter().map(|(name, value)| {
            (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned())
        });
        Ok(Answer {
            status: head.status.as_u16(),
            headers: headers.collect(),
            body: Box::new(body.into_reader()),
        })
    }
}

impl Answer {
    /// The next piece; empty at the end.
    pub fn piece(&mut self) -> Result<Vec<u8>, String> {
        let mut piece = vec![0; 16 * 1024];
        let length = self.body.read(&mut piece).map_err(|error| error.to_string())?;
        piece.truncate(length);
        Ok(piece)
    }

    /// All of an answer that is no stream, as far as it is of interest.
    pub fn text(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = self.body.by_ref().take(BODY_BYTES).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Failed {
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn who_was_not_reached_was_sent_nothing() {
        let pace = Pace { connect_ms_max: 500, ..Pace::default() };
        let http = Http::new(&pace, false);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let failed = |url: &str| http.post(url, &[], b"{}").err().unwrap();
        let nobody = failed(&format!("http://127.0.0.1:{port}/"));
        assert!(!nobody.sent && !nobody.for_good, "{nobody:?}");
        let nowhere = failed("no address");
        assert!(!nowhere.sent && nowhere.for_good, "{nowhere:?}");
    }

    #[test]
    fn who_says_nothing_may_have_heard_it() {
        let pace = Pace { idle_ms_max: 50, ..Pace::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let failed = Http::new(&pace, false).post(&url, &[], b"{}").err().unwrap();
        assert!(failed.sent, "{failed:?}");
    }
}
