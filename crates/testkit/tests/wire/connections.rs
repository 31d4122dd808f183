//! Connections: several requests on one, several at once, and all that HTTP allows.

use std::sync::Mutex;
use std::sync::mpsc;

use windlass_testkit::{Probe, Reply, Server};

use crate::client::{Client, PATIENCE};
use crate::{messages, responses};

fn echo() -> Server {
    Server::start(|request| Reply::text(request.last_user_text())).expect("a server")
}

#[test]
fn a_connection_is_kept_for_the_next_request() {
    let server = echo();
    let mut client = Client::new(&server);
    for serial in 1..=3 {
        assert_eq!(client.post("/v1/messages", &messages::body(true)).status, 200);
        assert_eq!(client.post("/v1/responses", &responses::body(false)).status, 200);
        assert_eq!(server.requests().len(), 2 * serial);
    }
}

#[test]
fn a_connection_is_closed_if_that_is_wished() {
    let server = echo();
    let mut client = Client::new(&server);
    client.send("GET /v1/models HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(client.got().unwrap().status, 200);
    assert!(client.line().is_err());
}

#[test]
fn two_connections_are_served_at_once() {
    let (go, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let server = Server::start(move |request| {
        if request.api.name() == "messages" {
            wait.lock().unwrap().recv().unwrap();
        }
        Reply::text("ok")
    })
    .unwrap();
    let mut slow = Client::new(&server);
    slow.ask("/v1/messages", &messages::body(true));
    assert!(server.wait_for(1, PATIENCE));
    let quick = Client::new(&server).post("/v1/responses", &responses::body(true));
    assert_eq!(quick.status, 200);
    go.send(()).unwrap();
    assert_eq!(slow.got().unwrap().status, 200);
}

#[test]
fn a_body_may_come_in_chunks() {
    let server = echo();
    let mut client = Client::new(&server);
    let body = messages::body(false).to_string();
    let (a, b) = body.split_at(10);
    client.send("POST /v1/messages HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send(&format!(
        "{:x};x=y\r\n{a}\r\n{:X}\r\n{b}\r\n0\r\nTrailer: x\r\n\r\n",
        a.len(),
        b.len()
    ));
    assert_eq!(client.got().unwrap().json()["content"][0]["text"], "hello");
    assert_eq!(server.requests()[0].request.raw, body.as_bytes());
}

#[test]
fn who_asks_whether_to_go_on_is_told_so() {
    let server = echo();
    let mut client = Client::new(&server);
    let body = messages::body(false).to_string();
    client.send(&format!(
        "POST /v1/messages HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: {}\r\n\r\n",
        body.len()
    ));
    assert_eq!(client.line().unwrap(), "HTTP/1.1 100 Continue");
    assert_eq!(client.line().unwrap(), "");
    client.send(&body);
    assert_eq!(client.got().unwrap().status, 200);
}

#[test]
fn who_only_looks_gets_an_answer_and_is_no_request() {
    let server = echo();
    let mut client = Client::new(&server);
    client.send("HEAD / HTTP/1.1\r\n\r\n");
    let status = client.line().unwrap();
    assert_eq!(status, "HTTP/1.1 200 OK");
    while client.line().unwrap() != "" {}
    client.send("GET /v1/models HTTP/1.1\r\n\r\n");
    assert_eq!(client.got().unwrap().json()["data"], serde_json::json!([]));
    client.send("GET /attic HTTP/1.1\r\n\r\n");
    assert_eq!(client.got().unwrap().status, 404);
    assert!(server.requests().is_empty());
    let probe = Probe { method: "HEAD".into(), path: "/".into(), status: 200 };
    assert_eq!(server.probes()[0], probe);
    assert_eq!(server.probes().len(), 3);
}

#[test]
fn what_is_no_request_is_refused() {
    let server = echo();
    for bytes in [
        "no HTTP at all\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nContent-Length: x\r\n\r\n",
        "POST /v1/messages HTTP/1.1\r\nContent-Length: 2\r\n\r\n{x",
        "POST /v1/messages HTTP/1.1\r\nContent-Encoding: zstd\r\nContent-Length: 2\r\n\r\n{}",
    ] {
        let mut client = Client::new(&server);
        client.send(bytes);
        assert_eq!(client.got().unwrap().status, 400, "{bytes}");
    }
    assert!(server.requests().is_empty());
}

#[test]
fn nobody_waits_for_ever_for_a_request_that_never_comes() {
    let server = echo();
    assert!(!server.wait_for(1, std::time::Duration::from_millis(1)));
    assert!(server.url().ends_with(&server.port().to_string()));
}
