//! Asking the holder: one line there, one line back.

use std::{
    fs::{self, File},
    io::{self, BufRead, BufReader, Write},
    iter,
    os::unix::net::{UnixListener, UnixStream},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, mpsc},
    thread,
    time::Duration,
};

use rustix::{
    net::{AddressFamily, SocketAddrUnix, SocketType, bind, listen, socket},
    process::{
        Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, kill_process, setrlimit, waitid,
    },
};
use windlass_journal::{AskError, BindError, Lock, MESSAGE_BYTES_MAX, Server, ask};

use crate::{
    actor::{Actor, hear, say},
    scene::Scene,
};

/// Longer than anything here takes; no test waits for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// More than a socket takes at once.
const LONG: usize = 4 << 20;

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
    drop(UnixListener::bind(&path).unwrap());
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
fn the_longest_request_gets_the_longest_answer() {
    let scene = Scene::new();
    let _server = Server::bind(Arc::new(scene.lock()), |request| request).unwrap();
    let longest = vec![b'x'; MESSAGE_BYTES_MAX];
    assert!(ask(scene.dir(), &longest, PATIENCE).unwrap() == longest);
}

#[test]
fn who_is_hung_up_on_while_still_asking_is_told_at_once() {
    let scene = Scene::new();
    fs::create_dir_all(scene.dir()).unwrap();
    let listener = UnixListener::bind(scene.dir().join("socket")).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| listener.accept().map(drop));
        let error = ask(scene.dir(), &vec![b'x'; LONG], PATIENCE).unwrap_err();
        assert!(matches!(error, AskError::Closed), "{error}");
    });
}

/// The role: asks for something long, and says what it heard.
pub fn ask_at_length(dir: &Path) {
    say("asking");
    match ask(dir, &vec![b'x'; LONG], PATIENCE) {
        Ok(answer) => say(&String::from_utf8_lossy(&answer)),
        Err(error) => say(&format!("{error:?}")),
    }
}

/// Whether every thread of a process waits for something, or has ended.
fn is_waiting(pid: u32) -> bool {
    let mut threads = fs::read_dir(format!("/proc/{pid}/task")).expect("it is ours");
    threads.all(|thread| {
        let stat = fs::read_to_string(thread.expect("a thread").path().join("stat"));
        // The state stands behind the name, which is in brackets.
        let state = stat.ok().and_then(|stat| stat.rsplit(") ").next()?.chars().next());
        matches!(state, Some('S' | 'Z'))
    })
}

/// Stops a process and lets it go on, as Ctrl-Z and `fg` do, a few times: whatever it waits for
/// with a time limit is interrupted by that.
fn stop_and_go_on(actor: &mut Actor) {
    let pid = Pid::from_raw(actor.id().cast_signed()).expect("a number");
    for _ in 0..3 {
        while !is_waiting(actor.id()) {
            thread::yield_now();
        }
        kill_process(pid, Signal::STOP).expect("it is ours");
        let either = WaitIdOptions::STOPPED | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(pid), either).expect("it is ours");
        assert!(status.is_some_and(|it| it.stopped()), "it ended: {:?}", actor.listen());
        kill_process(pid, Signal::CONT).expect("it is ours");
    }
}

#[test]
fn who_is_stopped_while_asking_goes_on_with_it() {
    let scene = Scene::new();
    fs::create_dir_all(scene.dir()).unwrap();
    let path = scene.dir().join("socket");
    let socket = socket(AddressFamily::UNIX, SocketType::STREAM, None).unwrap();
    bind(&socket, &SocketAddrUnix::new(&path).unwrap()).unwrap();
    // One that nobody accepted, and the next has to wait.
    listen(&socket, 0).unwrap();
    let listener = UnixListener::from(socket);
    let _first = UnixStream::connect(&path).unwrap();

    let mut actor = Actor::start("ask", scene.dir(), "");
    assert_eq!(actor.listen().unwrap(), "asking");
    stop_and_go_on(&mut actor);
    listener.accept().unwrap();
    let (mut stream, _) = listener.accept().unwrap();
    stop_and_go_on(&mut actor);
    let mut request = Vec::new();
    BufReader::new(&stream).read_until(b'\n', &mut request).unwrap();
    assert_eq!(request.len(), LONG + 1);
    stop_and_go_on(&mut actor);
    stream.write_all(b"an answer\n").unwrap();
    assert_eq!(actor.listen().unwrap(), "an answer");
}

/// The role: serves, uses up every file that it may open, and closes them when it is told so.
pub fn serve_without_files(dir: &Path) {
    let _server = serve(&Scene::at(dir));
    let limit = Rlimit { current: Some(64), maximum: Some(64) };
    setrlimit(Resource::Nofile, limit).expect("less is always allowed");
    let files: Vec<File> = iter::from_fn(|| File::open("/dev/null").ok()).collect();
    say("no files left");
    hear().expect("the word to close them");
    drop(files);
    say("files left");
    while hear().is_some() {}
}

#[test]
fn a_server_without_files_answers_once_it_has_some() {
    let scene = Scene::new();
    let mut actor = Actor::start("serve without files", scene.dir(), "");
    assert_eq!(actor.listen().unwrap(), "no files left");
    // It has one in its hand already, for the next who comes. This is the next.
    let _next = UnixStream::connect(scene.dir().join("socket")).unwrap();
    let error = ask(scene.dir(), b"x", Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, AskError::TimedOut(_)), "{error}");
    actor.tell("close them");
    assert_eq!(actor.listen().unwrap(), "files left");
    assert_eq!(ask(scene.dir(), b"x", PATIENCE).unwrap(), b"you said x");
}

#[test]
fn what_is_in_the_way_of_a_socket_is_an_error_and_not_nobody() {
    let scene = Scene::new();
    let lock = Arc::new(scene.lock());
    let error = ask(&scene.dir().join("lock/inside"), b"x", PATIENCE).unwrap_err();
    assert!(matches!(error, AskError::Io(_)), "{error}");
    fs::create_dir(scene.dir().join("socket")).unwrap();
    let error = Server::bind(lock, echo).unwrap_err();
    let BindError::Bind { source, .. } = error else { panic!("{error}") };
    assert_eq!(source.kind(), io::ErrorKind::IsADirectory, "it says what is in the way");
}

#[test]
fn an_answer_of_two_lines_too_long_a_one_or_a_panic_is_no_answer() {
    let scene = Scene::new();
    let handler = |request: Vec<u8>| match request.as_slice() {
        b"panic" => panic!("as asked"),
        b"too long" => vec![b'x'; MESSAGE_BYTES_MAX + 1],
        _ => b"one\ntwo".to_vec(),
    };
    let _server = Server::bind(Arc::new(scene.lock()), handler).unwrap();
    for request in ["two lines", "too long", "panic"] {
        let error = ask(scene.dir(), request.as_bytes(), PATIENCE).unwrap_err();
        assert!(matches!(error, AskError::Closed), "{error}");
    }
}
