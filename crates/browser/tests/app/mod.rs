//! A small app: some pages, some of them with defects that a person would notice.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;

pub struct App {
    pub port: u16,
    asked: Arc<AtomicUsize>,
}

impl App {
    pub fn start() -> App {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let asked = Arc::new(AtomicUsize::new(0));
        let counted = asked.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                counted.fetch_add(1, Relaxed);
                thread::spawn(move || answer(stream));
            }
        });
        App { port, asked }
    }

    /// How often somebody has come.
    pub fn asked(&self) -> usize {
        self.asked.load(Relaxed)
    }
}

fn answer(mut stream: TcpStream) -> Option<()> {
    let mut lines = BufReader::new(stream.try_clone().ok()?).lines();
    let first = lines.next()?.ok()?;
    let cookie = lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
        .any(|line| line.to_ascii_lowercase().starts_with("cookie:"));
    let path = first.split(' ').nth(1)?;
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let port = query.strip_prefix("port=").unwrap_or("1");
    let mut head = String::new();
    let (status, body) = match path {
        "/" => ("200 OK", SIGN_IN.to_owned()),
        "/visits" => ("200 OK", format!("<p>visits: {}", u8::from(cookie))),
        "/broken" => ("200 OK", BROKEN.to_owned()),
        "/errors" => ("200 OK", ERRORS.to_owned()),
        "/away" => ("200 OK", AWAY.replace("PORT", port)),
        "/redirect" => {
            head = format!("Location: http://127.0.0.1:{port}/\r\n");
            ("302 Found", String::new())
        }
        "/hang" => ("200 OK", HANG.to_owned()),
        "/never" => ("200 OK", "<script>for (;;) {}</script>".to_owned()),
        "/flood" => ("200 OK", FLOOD.to_owned()),
        _ => ("404 Not Found", "nothing here".to_owned()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n{head}\r\n{body}"
    )
    .ok()
}

const SIGN_IN: &str = r#"<!doctype html><title>Sign in</title><h1>Sign in</h1>
<form id=form><input id=name name=name><select id=country><option value=no>Norway<option value=se>Sweden</select>
<button id=go>Go</button></form><p id=out></p>
<script>
document.cookie = 'seen=1';
form.onsubmit = (event) => {
  event.preventDefault();
  setTimeout(() => { out.className = 'late'; out.textContent = `Welcome, ${form.name.value} of ${country.value}`; form.remove(); }, 200);
};
</script>"#;

const BROKEN: &str = r#"<!doctype html><title>Broken</title><h1>Broken things</h1>
<button id=dead>Save</button><button id=disabled disabled>No</button><button id=hidden style="display:none">hidden words</button>
<input type=checkbox id=check><button id=blink onclick="lamp.hidden = true; setTimeout(() => lamp.hidden = false, 100)">Blink</button>
<b id=lamp>on</b>
<div style="position:relative;height:40px"><button id=covered>Under</button>
<div id=cover style="position:absolute;inset:0;background:#eee"></div></div>"#;

const ERRORS: &str = r#"<!doctype html><title>Errors</title><p id=out></p>
<button id=alert onclick="alert('hello'); out.textContent = 'answered: ' + confirm('really?')">Ask</button>
<script>console.error('it broke', 3, {}); console.log('fine');</script>
<script>throw new Error('thrown');</script><script src="/missing.js"></script>"#;

const AWAY: &str = r#"<!doctype html><title>Away</title><p id=out></p><script>
const tried = (url) => fetch(url, { mode: 'no-cors' }).then(() => 'yes', () => 'no');
const talked = (url) => new Promise((resolve) => {
  const line = new WebSocket(url);
  line.onopen = () => resolve('yes');
  line.onerror = () => resolve('no');
});
Promise.all([
  tried('http://127.0.0.1:PORT/'), tried('http://localhost:PORT/'), tried('http://example.com/'),
  talked('ws://127.0.0.1:PORT/'), tried('/visits'),
]).then((all) => { out.textContent = 'done: ' + all.join(' '); });
</script>"#;

const HANG: &str = r#"<!doctype html><button id=hang onclick="for (;;) {}">Hang</button>"#;

const FLOOD: &str = r#"<!doctype html><p>flood</p><script>
for (let i = 0; i < 5000; i++) console.error('x'.repeat(2000));
</script>"#;
