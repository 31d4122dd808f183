//! Everything that goes wrong at a provider.

use std::io::ErrorKind;
use std::sync::Arc;

use serde_json::Value;
use windlass_testkit::{Complaint, Ending, Fault, Reply, Server, Then, Turn};

use crate::client::{Client, Got, PATIENCE, post};
use crate::{messages, responses};

fn answer(reply: Reply, path: &str, body: &Value) -> (Got, Server) {
    let server = Server::start(move |_| reply.clone()).expect("a server");
    (post(&server, path, body), server)
}

fn claude(complaint: Complaint) -> Got {
    answer(Reply::complaint(complaint), "/v1/messages", &messages::body(true)).0
}

fn codex(complaint: Complaint) -> Got {
    answer(Reply::complaint(complaint), "/v1/responses", &responses::body(true)).0
}

#[test]
fn anthropic_complains_in_its_own_words() {
    for (complaint, status, kind) in [
        (Complaint::rate_limited(1), 429, "rate_limit_error"),
        (Complaint::Overloaded, 529, "overloaded_error"),
        (Complaint::Internal, 500, "api_error"),
        (Complaint::Unauthorized, 401, "authentication_error"),
        (Complaint::Overflow, 400, "invalid_request_error"),
    ] {
        let got = claude(complaint);
        assert_eq!(got.status, status);
        assert_eq!(got.json()["error"]["type"], kind);
        assert_eq!(got.json()["type"], "error");
    }
    let message = claude(Complaint::Overflow).json()["error"]["message"].clone();
    assert!(message.as_str().unwrap().starts_with("prompt is too long"));
}

#[test]
fn a_limit_says_when_to_come_back() {
    let got = claude(Complaint::rate_limited(7));
    assert_eq!(got.header("retry-after"), Some("7"));
    assert_eq!(got.header("anthropic-ratelimit-unified-status"), None);
    let until =
        Complaint::RateLimited { retry_after_s: Some(9), reset_unix_s: Some(1_800_000_000) };
    let got = claude(until);
    assert_eq!(got.header("retry-after"), Some("9"));
    assert_eq!(got.header("anthropic-ratelimit-unified-status"), Some("rejected"));
    assert_eq!(got.header("anthropic-ratelimit-unified-reset"), Some("1800000000"));
    let got = codex(until);
    assert_eq!(got.status, 429);
    assert_eq!(got.json()["error"]["type"], "usage_limit_reached");
    assert_eq!(got.json()["error"]["resets_at"], 1_800_000_000);
}

#[test]
fn openai_complains_in_its_own_words() {
    for (complaint, status, code) in [
        (Complaint::rate_limited(1), 429, "rate_limit_exceeded"),
        (Complaint::Overloaded, 503, "server_is_overloaded"),
        (Complaint::Internal, 500, "server_error"),
        (Complaint::Unauthorized, 401, "invalid_api_key"),
        (Complaint::Overflow, 400, "context_length_exceeded"),
    ] {
        let got = codex(complaint);
        assert_eq!(got.status, status);
        assert_eq!(got.json()["error"]["code"], code);
    }
}

#[test]
fn an_answer_can_be_anything() {
    let headers = vec![("content-type".to_owned(), "text/html".to_owned())];
    let fault = Fault::Status { status: 418, headers, body: "<b>tea</b>".into() };
    let (got, _) = answer(fault.into(), "/v1/messages", &messages::body(true));
    assert_eq!(got.status, 418);
    assert_eq!(got.header("content-type"), Some("text/html"));
    assert_eq!(got.body, b"<b>tea</b>");
}

#[test]
fn a_stream_is_cut_after_as_many_events_as_was_said() {
    let reply = Reply::cut(3, Turn::new().text("never heard"));
    for (path, body) in
        [("/v1/messages", messages::body(true)), ("/v1/responses", responses::body(true))]
    {
        let (got, server) = answer(reply.clone(), path, &body);
        assert!(!got.whole);
        assert_eq!(got.events().len(), 3);
        assert!(server.wait_until(PATIENCE, |all| all[0].answered.is_some()));
        let answered = server.requests()[0].answered.clone().unwrap();
        assert_eq!((answered.events, answered.ending), (3, Ending::Cut));
    }
}

#[test]
fn a_cut_resets_the_connection() {
    let server = Server::start(|_| Reply::cut(1, Turn::new().text("x"))).unwrap();
    let mut client = Client::new(&server);
    client.ask("/v1/messages", &messages::body(true));
    while client.line().unwrap() != "" {}
    client.chunk().unwrap();
    assert_eq!(client.chunk().unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn an_answer_that_was_wanted_at_once_is_cut_before_its_first_byte() {
    let server = Server::start(|_| Reply::cut(3, Turn::new().text("x"))).unwrap();
    let mut client = Client::new(&server);
    client.ask("/v1/messages", &messages::body(false));
    assert!(client.got().is_err());
}

#[test]
fn a_complaint_can_come_in_the_middle_of_a_stream() {
    let then = Then::Complain(Complaint::Overloaded);
    let reply: Reply = Fault::Midway { after: 2, turn: Turn::new().text("x"), then }.into();
    let (got, _) = answer(reply.clone(), "/v1/messages", &messages::body(true));
    assert_eq!(got.types(), ["message_start", "ping", "error"]);
    assert!(got.whole);
    let (got, _) = answer(reply.clone(), "/v1/responses", &responses::body(true));
    assert_eq!(got.types()[2], "response.failed");
    let (got, _) = answer(reply, "/v1/messages", &messages::body(false));
    assert_eq!(got.status, 529);
}

#[test]
fn a_server_that_is_dropped_lets_go_of_whom_it_kept_waiting() {
    let mid = Reply::hang(2, Turn::new().text("x"));
    for reply in [Reply::Fault(Fault::HangBefore), mid] {
        let known = Arc::new(reply);
        let kept = Arc::clone(&known);
        let server = Server::start(move |_| (*kept).clone()).unwrap();
        let mut clients = [Client::new(&server), Client::new(&server)];
        for client in &mut clients {
            client.ask("/v1/messages", &messages::body(true));
        }
        assert!(server.wait_for(2, PATIENCE));
        drop(server);
        assert_eq!(Arc::strong_count(&known), 1, "every thread has let go of the brain");
        for client in &mut clients {
            assert!(!client.got().is_ok_and(|got| got.whole));
        }
    }
}

#[test]
fn a_client_that_leaves_ends_its_waiting() {
    let server = Server::start(|_| Reply::hang(2, Turn::new().text("x"))).unwrap();
    let mut client = Client::new(&server);
    client.ask("/v1/messages", &messages::body(true));
    while client.line().unwrap() != "" {}
    let first = client.chunk().unwrap();
    assert!(first.starts_with(b"event: message_start"));
    drop(client);
    assert!(server.wait_until(PATIENCE, |all| all[0].answered.is_some()));
    assert_eq!(server.requests()[0].answered.as_ref().unwrap().ending, Ending::Hung);
}

#[test]
fn a_brain_that_panics_is_an_error_of_the_server() {
    let server = Server::start(|_| panic!("on purpose")).unwrap();
    let got = post(&server, "/v1/messages", &messages::body(true));
    assert_eq!(got.status, 500);
    assert_eq!(server.requests()[0].answered.as_ref().unwrap().what, "panic");
}
