//! Whom agents and checks ask over a socket: to have a person do something, or to meet others: then they are made to wait until
//! enough of those have come. Once the story has been cut off nobody waits for anybody any more, who may not be coming.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::Value;

/// Where everybody is.
#[derive(Clone, Default)]
pub struct Usher(Arc<(Mutex<State>, Condvar)>);

#[derive(Default)]
struct State {
    /// Whether anybody is made to wait.
    gathers: bool,
    /// Landings that wait behind another.
    queued: usize,
    /// Who has come.
    came: BTreeSet<String>,
}

impl Usher {
    /// Listens at a port of its own. A first proof waits until so many landings wait behind it; the person is told what else is
    /// asked for.
    pub fn sits(behind: usize, person: impl Fn(&str) + Clone + Send + 'static) -> (Usher, u16) {
        let usher = Usher::default();
        usher.0.0.lock().unwrap().gathers = true;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let own = usher.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (own, person) = (own.clone(), person.clone());
                // Whoever asked may have been killed meanwhile.
                std::thread::spawn(move || own.asked(stream, behind, person));
            }
        });
        (usher, port)
    }

    /// Nobody waits any more.
    pub fn disperse(&self) {
        self.0.0.lock().unwrap().gathers = false;
        self.0.1.notify_all();
    }

    /// Listens to what a run prints of its journal, until that ends.
    pub fn hears(&self, printed: impl Read + Send + 'static) {
        let own = self.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(printed).lines() {
                let Ok(line) = line else { break };
                let entry: Value = serde_json::from_str(&line).unwrap_or_default();
                if entry["note"] == "queued" {
                    own.0.0.lock().unwrap().queued += 1;
                    own.0.1.notify_all();
                }
            }
        });
    }

    /// `queue`: a landing is being proved. `behind 2`: somebody waits until so many landings wait behind it. `F-ONE F-TWO`: the
    /// first is here and waits for the second. Another word is for the person.
    fn asked(
        &self,
        stream: TcpStream,
        behind: usize,
        person: impl Fn(&str),
    ) -> std::io::Result<()> {
        let mut line = String::new();
        BufReader::new(stream.try_clone()?).read_line(&mut line)?;
        let mut words = line.split_whitespace();
        let (own, other) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if own != "queue" && other.is_empty() {
            person(own);
            return (&stream).write_all(b"ok\n");
        }
        let (state, changed) = &*self.0;
        let mut state = state.lock().unwrap();
        state.came.insert(own.to_owned());
        changed.notify_all();
        let waits = |state: &mut State| {
            let alone = match own {
                "queue" => state.queued < behind,
                "behind" => other.parse().is_ok_and(|least: usize| state.queued < least),
                _ => !state.came.contains(other),
            };
            state.gathers && alone
        };
        drop(changed.wait_while(state, waits).unwrap());
        (&stream).write_all(b"ok\n")
    }
}
