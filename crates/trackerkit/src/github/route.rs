//! Which requests there are, who may make them, and what every answer has.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_testkit::plain::{Asked, Given};

use super::clock::date;
use super::shape;
use super::world::{Repository, World, Write};
use super::{issues, pulls};

/// An answer.
pub(super) struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    body: Option<Value>,
}

/// A request of somebody who is known.
pub(super) struct Asking<'a> {
    /// Where the interface is.
    pub base: &'a str,
    /// Which kind it is.
    pub kind: &'static str,
    pub me: String,
    pub world: &'a mut World,
    /// What follows the question mark.
    pub query: BTreeMap<String, String>,
    pub body: Value,
    /// The path as it was asked for.
    pub path: String,
}

impl Reply {
    pub fn of(status: u16, body: Value) -> Self {
        Reply { status, headers: Vec::new(), body: Some(body) }
    }

    pub fn nothing() -> Self {
        Reply { status: 204, headers: Vec::new(), body: None }
    }

    pub fn refused(status: u16, message: &str) -> Self {
        let about = "https://docs.github.com/rest";
        let status_text = status.to_string();
        let body = json!({"message": message, "documentation_url": about, "status": status_text});
        Reply::of(status, body)
    }

    pub fn not_found() -> Self {
        Reply::refused(404, "Not Found")
    }

    /// What was sent has a field that will not do.
    pub fn invalid(resource: &str, field: &str, code: &str) -> Self {
        let error = json!({"resource": resource, "field": field, "code": code});
        Reply::of(
            422,
            json!({
                "message": "Validation Failed",
                "errors": [error],
                "documentation_url": "https://docs.github.com/rest",
                "status": "422",
            }),
        )
    }

    /// The same, with a sentence.
    pub fn invalid_because(resource: &str, message: &str) -> Self {
        let error = json!({"resource": resource, "code": "custom", "message": message});
        Reply::of(
            422,
            json!({
                "message": "Validation Failed",
                "errors": [error],
                "documentation_url": "https://docs.github.com/rest",
                "status": "422",
            }),
        )
    }

    /// What goes over the wire.
    pub fn given(self, now_s: u64) -> Given {
        let mut headers = vec![
            ("date".to_owned(), date(now_s)),
            ("content-type".to_owned(), "application/json; charset=utf-8".to_owned()),
            ("x-github-media-type".to_owned(), "github.v3; format=json".to_owned()),
            ("x-ratelimit-limit".to_owned(), "5000".to_owned()),
            ("x-ratelimit-remaining".to_owned(), "4999".to_owned()),
            ("x-ratelimit-reset".to_owned(), (now_s + 3600).to_string()),
            ("x-ratelimit-resource".to_owned(), "core".to_owned()),
        ];
        headers.extend(self.headers);
        let body = self.body.map(|body| body.to_string()).unwrap_or_default().into_bytes();
        Given::Answer { status: self.status, headers, body }
    }
}

impl Asking<'_> {
    /// A part of a list, with links to the others.
    pub fn page<T>(&self, all: &[T], shown: impl Fn(&T) -> Value) -> Reply {
        let (part, links) = self.part(all);
        let mut reply = Reply::of(200, part.iter().map(shown).collect());
        reply.headers.extend(links.map(|links| ("link".to_owned(), links)));
        reply
    }

    /// The same for lists that stand in an object beside how long they are.
    pub fn counted_page(&self, name: &str, all: &[Value], rest: Value) -> Reply {
        let (part, links) = self.part(all);
        let mut body = rest;
        body["total_count"] = json!(all.len());
        body[name] = json!(part);
        let mut reply = Reply::of(200, body);
        reply.headers.extend(links.map(|links| ("link".to_owned(), links)));
        reply
    }

    fn part<'t, T>(&self, all: &'t [T]) -> (&'t [T], Option<String>) {
        let number = |name: &str| self.query.get(name).and_then(|it| it.parse::<usize>().ok());
        let mut size = number("per_page").unwrap_or(30).clamp(1, 100);
        if self.world.page_max > 0 {
            size = size.min(self.world.page_max);
        }
        let page = number("page").unwrap_or(1).max(1);
        let last = all.len().div_ceil(size).max(1);
        let from = ((page - 1) * size).min(all.len());
        let link = |to: usize, rel: &str| {
            let mut query = self.query.clone();
            query.insert("page".to_owned(), to.to_string());
            let query: Vec<String> =
                query.iter().map(|(name, value)| format!("{name}={}", encoded(value))).collect();
            format!("<{}{}?{}>; rel=\"{rel}\"", self.base, self.path, query.join("&"))
        };
        let mut links = Vec::new();
        if page > 1 {
            links.push(link(page - 1, "prev"));
        }
        if page < last {
            links.push(link(page + 1, "next"));
            links.push(link(last, "last"));
        }
        if page > 1 {
            links.push(link(1, "first"));
        }
        let links = (!links.is_empty()).then(|| links.join(", "));
        (&all[from..(from + size).min(all.len())], links)
    }

    /// A text of what was sent.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.body[field].as_str()
    }

    /// The texts of a list of what was sent.
    pub fn texts(&self, field: &str) -> Option<Vec<String>> {
        let list = self.body[field].as_array()?;
        Some(list.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect())
    }

    /// Notes a write that is carried out.
    pub fn wrote(&mut self, number: u64, text: impl Into<String>) {
        let (by, what) = (self.me.clone(), self.kind.to_owned());
        self.world.writes.push(Write { by, what, number, text: text.into() });
    }

    pub fn place(&self, repository: usize) -> shape::Place<'_> {
        let repository = &self.world.repositories[repository];
        shape::Place { base: self.base, world: self.world, repository }
    }
}

/// Which kind of request it is, if it is one.
pub(super) fn kind(method: &str, path: &[&str]) -> Option<&'static str> {
    if let ["repos", _, _, rest @ ..] = path {
        return issues::kind(method, rest).or_else(|| pulls::kind(method, rest)).or(
            match (method, rest) {
                ("GET", []) => Some("repository.get"),
                _ => None,
            },
        );
    }
    match (method, path) {
        ("GET", ["user"]) => Some("user.get"),
        ("GET", ["user", "repos"]) => Some("repositories.list"),
        _ => None,
    }
}

/// The path's parts, and what follows the question mark.
pub(super) fn taken_apart(target: &str) -> (Vec<String>, BTreeMap<String, String>) {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let parts = path.split('/').filter(|part| !part.is_empty()).map(decoded).collect();
    let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    (parts, pairs.map(|(name, value)| (decoded(name), decoded(&value.replace('+', " ")))).collect())
}

/// Answers a request whose path is known.
pub(super) fn answer(world: &mut World, base: &str, asked: &Asked) -> Reply {
    let (parts, query) = taken_apart(&asked.path);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    if let Err(reply) = fit(asked) {
        return reply;
    }
    let Some(me) = who(world, asked) else { return Reply::refused(401, "Bad credentials") };
    let Some(kind) = kind(&asked.method, &parts) else { return Reply::not_found() };
    let body = if asked.body.is_empty() { Ok(Value::Null) } else { parsed(&asked.body) };
    let Some(body) = body.ok().filter(|it| it.is_null() || it.is_object()) else {
        return Reply::refused(400, "Problems parsing JSON");
    };
    let path = asked.path.split('?').next().unwrap_or_default().to_owned();
    let mut asking = Asking { base, kind, me, world, query, body, path };
    let ["repos", owner, name, rest @ ..] = &parts[..] else {
        return about_me(&asking);
    };
    let found = asking.world.repository(&format!("{owner}/{name}"));
    let sees = |it: &usize| !asking.world.repositories[*it].hidden_from.contains(&asking.me);
    let Some(repository) = found.filter(sees) else { return Reply::not_found() };
    let writes = asked.method != "GET";
    if writes && asking.world.repositories[repository].read_only_for.contains(&asking.me) {
        return Reply::refused(403, "Resource not accessible by personal access token");
    }
    if rest.is_empty() {
        let place = asking.place(repository);
        return Reply::of(200, shape::repository(base, place.repository, place.world));
    }
    if issues::kind(&asked.method, rest).is_some() {
        return issues::answer(&mut asking, repository, rest);
    }
    pulls::answer(&mut asking, repository, rest)
}

fn about_me(asking: &Asking<'_>) -> Reply {
    if asking.kind == "user.get" {
        return Reply::of(200, shape::user(asking.base, &asking.me, asking.world));
    }
    let world = &asking.world;
    let seen: Vec<&Repository> =
        world.repositories.iter().filter(|it| !it.hidden_from.contains(&asking.me)).collect();
    asking.page(&seen, |it| shape::repository(asking.base, it, world))
}

/// What GitHub asks of every request.
fn fit(asked: &Asked) -> Result<(), Reply> {
    if asked.header("user-agent").is_none_or(str::is_empty) {
        let why = "Request forbidden by administrative rules. Please make sure your request has a \
                   User-Agent header";
        return Err(Reply::refused(403, why));
    }
    let accepted = asked.header("accept").unwrap_or("*/*");
    if !["*/*", "application/json", "application/vnd.github+json"].contains(&accepted) {
        return Err(Reply::refused(415, "Unsupported 'Accept' header"));
    }
    let version = asked.header("x-github-api-version").unwrap_or("2022-11-28");
    if !["2022-11-28", "2026-03-10"].contains(&version) {
        return Err(Reply::refused(400, "The provided API version is not supported"));
    }
    Ok(())
}

fn who(world: &World, asked: &Asked) -> Option<String> {
    let (scheme, key) = asked.header("authorization")?.split_once(' ')?;
    let known = scheme.eq_ignore_ascii_case("bearer") || scheme.eq_ignore_ascii_case("token");
    world.keys.get(key).filter(|_| known).cloned()
}

fn parsed(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes)
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |at: usize| after.get(at).and_then(|it| char::from(*it).to_digit(16));
        rest = after;
        match (byte, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                bytes.extend(u8::try_from(high * 16 + low));
                rest = &after[2..];
            }
            _ => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|it| match it {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                char::from(it).to_string()
            }
            _ => format!("%{it:02X}"),
        })
        .collect()
}
