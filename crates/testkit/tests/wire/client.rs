//! A client that knows nothing but sockets.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;
use windlass_testkit::Server;

pub const PATIENCE: Duration = Duration::from_secs(20);

/// What came back.
#[derive(Debug)]
pub struct Got {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    /// Whether the body came to its end.
    pub whole: bool,
}

impl Got {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a body in JSON")
    }

    /// The data of its events, as far as they came; what is no JSON is text.
    pub fn events(&self) -> Vec<Value> {
        let text = String::from_utf8(self.body.clone()).expect("text");
        let lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        lines.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }

    /// The types of its events.
    pub fn types(&self) -> Vec<String> {
        let name = |event: &Value| event["type"].as_str().unwrap_or("-").to_owned();
        self.events().iter().map(name).collect()
    }
}

/// A connection to a server.
pub struct Client {
    stream: BufReader<TcpStream>,
}

impl Client {
    pub fn new(server: &Server) -> Self {
        Client::at(server.port())
    }

    pub fn at(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        Client { stream: BufReader::new(stream) }
    }

    pub fn send(&mut self, bytes: &str) {
        self.stream.get_mut().write_all(bytes.as_bytes()).expect("sent");
    }

    pub fn post(&mut self, path: &str, body: &Value) -> Got {
        self.ask(path, body);
        self.got().expect("an answer")
    }

    /// Asks without waiting for an answer.
    pub fn ask(&mut self, path: &str, body: &Value) {
        let body = body.to_string();
        let length = body.len();
        self.send(&format!(
            "POST {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer test-key\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
        ));
    }

    /// The next answer.
    pub fn got(&mut self) -> io::Result<Got> {
        let status = self.line()?;
        let status = status.split(' ').nth(1).expect("a status").parse().expect("a number");
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(": ") else { break };
            headers.push((name.to_owned(), value.to_owned()));
        }
        let mut got = Got { status, headers, body: Vec::new(), whole: false };
        if got.header("transfer-encoding").is_some() {
            got.whole = self.chunks(&mut got.body).is_ok();
        } else if let Some(length) = got.header("content-length") {
            got.body = vec![0; length.parse().expect("a length")];
            self.stream.read_exact(&mut got.body)?;
            got.whole = true;
        }
        Ok(got)
    }

    /// One event of a stream whose head has been read.
    pub fn chunk(&mut self) -> io::Result<Vec<u8>> {
        let size = usize::from_str_radix(&self.line()?, 16).expect("a size");
        let mut bytes = vec![0; size];
        self.stream.read_exact(&mut bytes)?;
        self.line()?;
        Ok(bytes)
    }

    fn chunks(&mut self, body: &mut Vec<u8>) -> io::Result<()> {
        loop {
            let chunk = self.chunk()?;
            if chunk.is_empty() {
                return Ok(());
            }
            body.extend(chunk);
        }
    }

    pub fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if self.stream.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(line.trim_end().to_owned())
    }
}

/// One question to a server, on a connection of its own.
pub fn post(server: &Server, path: &str, body: &Value) -> Got {
    Client::new(server).post(path, body)
}
