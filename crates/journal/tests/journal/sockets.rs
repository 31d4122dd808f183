//! Asking the holder: one line there, one line back.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::PathBuf,
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use windlass_journal::{AskError, Lock, MESSAGE_BYTES_MAX, Server, ask};

use crate::scene::Scene;

/// Longer than anything here takes; no test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);

fn echo(request: Vec<u8>) -> Vec<u8> {
    [b"you said ", request.as_slice()].concat()
}

fn serve(scene: &Scene) -> Server {
    Server::bind(Arc::new(scene.lock()), echo).expect("it serves")
}

#[test]
fn a_request_is_answered() {
    let scene = Scene::new();
    let _server = serve(&scene);
    assert_eq!(ask(scene.dir(), b"hello", PATIENCE).unwrap(), b"you said hello");
    assert_eq!(ask(scene.dir(), b"", PATIENCE).unwrap(), b"you said ");
    let large = vec![b'x'; 3 << 20];
    assert_eq!(ask(scene.dir(), &large, PATIENCE).unwrap(), echo(large));
}

#[test]
fn many_ask_at_once() {
    let scene = Scene::new();
    let _server = serve(&scene);
    thread::scope(|scope| {
        for n in 0..20 {
            let dir = scene.dir();
            scope.spawn(move || {
                let request = format!("{n}").into_bytes();
                assert_eq!(ask(dir, &request, PATIENCE).unwrap(), echo(request));
            });
        }
    });
}

#[test]
fn a_connection_may_ask_again() {
    let scene = Scene::new();
    let server = serve(&scene);
    let mut stream = UnixStream::connect(server.path()).unwrap();
    stream.write_all(b"one\ntwo\n").unwrap();
    let lines: Vec<_> = BufReader::new(stream).lines().take(2).map(Result::unwrap).collect();
    assert_eq!(lines, ["you said one", "you said two"]);
}

#[test]
fn a_directory_may_be_deeper_than_a_sockets_address() {
    let temp = tempfile::tempdir().unwrap();
    let deep: PathBuf = temp.path().join("d".repeat(120)).join("e".repeat(120));
    let scene = Scene::at(&deep);
    let _server = serve(&scene);
    assert_eq!(ask(&deep, b"x", PATIENCE).unwrap(), b"you said x");
}

#[test]
fn who_holds_the_lock_says_where_to_ask() {
    let scene = Scene::new();
    let socket = || Lock::held(scene.dir()).unwrap().unwrap().holder.unwrap().socket;
    let lock = Arc::new(scene.lock());
    assert_eq!(socket(), None);
    let server = Server::bind(Arc::clone(&lock), echo).unwrap();
    assert_eq!(socket(), Some(server.path().display().to_string()));
    drop(server);
    assert_eq!(socket(), None);
}

#[test]
fn with_nobody_there_that_is_said_at_once() {
    let scene = Scene::new();
    let nobody = |scene: &Scene| {
        let error = ask(scene.dir(), b"x", PATIENCE).unwrap_err();
        assert!(matches!(error, AskError::Nobody), "{error}");
    };
    nobody(&scene);
    let server = serve(&scene);
    let path = server.path().to_owned();
    assert!(path.exists());
    drop(server);
    assert!(!path.exists(), "the socket goes with the server");
    nobody(&scene);
}

#[test]
fn a_dead_holders_socket_is_taken_over() {
    let scene = Scene::new();
    fs::create_dir_all(scene.dir()).unwrap();
    let path = scene.dir().join("socket");
    // Closing a listener leaves its name behind, as being killed does.
    drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
    assert!(matches!(ask(scene.dir(), b"x", PATIENCE), Err(AskError::Nobody)));
    let _server = serve(&scene);
    assert_eq!(ask(scene.dir(), b"x", PATIENCE).unwrap(), b"you said x");
}

#[test]
fn an_answer_that_does_not_come_is_not_waited_for_forever() {
    let scene = Scene::new();
    let (release, wait) = mpsc::channel::<()>();
    let wait = Mutex::new(wait);
    let handler = move |request| {
        let _ = wait.lock().unwrap().recv();
        request
    };
    let server = Server::bind(Arc::new(scene.lock()), handler).unwrap();
    let patience = Duration::from_millis(50);
    let error = ask(scene.dir(), b"x", patience).unwrap_err();
    assert!(matches!(error, AskError::TimedOut(after) if after == patience), "{error}");
    assert!(matches!(ask(scene.dir(), b"x", Duration::ZERO), Err(AskError::TimedOut(_))));
    // Nor does the server wait for the handler when it ends.
    drop(server);
    drop(release);
}

#[test]
fn what_is_not_one_line_of_bounded_length_is_refused() {
    let scene = Scene::new();
    let server = serve(&scene);
    assert!(matches!(ask(scene.dir(), b"a\nb", PATIENCE), Err(AskError::LineBreak)));
    let huge = vec![b'x'; MESSAGE_BYTES_MAX + 1];
    assert!(matches!(ask(scene.dir(), &huge, PATIENCE), Err(AskError::TooLarge(_))));
    // And when a client sends it all the same, the server hangs up.
    let stream = UnixStream::connect(server.path()).unwrap();
    thread::scope(|scope| {
        // It may be cut off while it is still writing.
        scope.spawn(|| (&stream).write_all(&huge));
        assert!(BufReader::new(&stream).lines().next().is_none_or(|line| line.is_err()));
    });
    assert_eq!(ask(scene.dir(), b"x", PATIENCE).unwrap(), b"you said x", "others are not harmed");
}

#[test]
fn an_answer_of_two_lines_or_a_panic_is_no_answer() {
    let scene = Scene::new();
    let handler = |request: Vec<u8>| match request.as_slice() {
        b"panic" => panic!("as asked"),
        _ => b"one\ntwo".to_vec(),
    };
    let _server = Server::bind(Arc::new(scene.lock()), handler).unwrap();
    for request in ["two lines", "panic"] {
        let error = ask(scene.dir(), request.as_bytes(), PATIENCE).unwrap_err();
        assert!(matches!(error, AskError::Closed), "{error}");
    }
}
