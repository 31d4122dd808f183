use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::tracker::contract;

/// A folder in a scratch project; a second goes by whenever the clock is looked at.
fn folder(files: &[(&str, &str)]) -> (TempDir, Folder) {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("issues")).unwrap();
    for (name, text) in files {
        fs::write(dir.path().join("issues").join(name), text).unwrap();
    }
    let folder = at(dir.path());
    (dir, folder)
}

fn at(top: &Path) -> Folder {
    let now = AtomicU64::new(1_795_036_082_000);
    let clock = move || now.fetch_add(1000, Ordering::Relaxed);
    Folder::of(top, DIRECTORY, Box::new(clock), Box::new(|_| true))
}

fn filter() -> Filter {
    Filter { project: DIRECTORY.to_owned(), team: None, label: "ready".to_owned() }
}

fn text(dir: &TempDir, name: &str) -> String {
    fs::read_to_string(dir.path().join("issues").join(name)).unwrap()
}

fn ids(issues: &[Issue]) -> Vec<&str> {
    issues.iter().map(|issue| &*issue.id).collect()
}

const LOGIN: &str = "---\n# who may change this\ntitle: 'Log in: again'\nstate: Open   # a note\n\
                     priority: high\nlabels: [ready, ui]\nblocked_by: 7\nassignee: Ada\n\
                     created: 2026-11-01\n---\n\n# Heading\n\nDo it.\n";

#[test]
fn a_folder_keeps_to_what_every_tracker_does() {
    let (_dir, folder) = folder(&[]);
    contract::holds(&folder, &filter());
}

#[test]
fn an_issue_is_what_its_file_says() {
    let (_dir, folder) = folder(&[
        ("008-login.md", LOGIN),
        ("007-base.md", "---\nlabels: ready\nstatus: In Progress\npriority: 2\n---\n# Base"),
        ("plain.md", "Just a text.\n"),
        ("over.md", "---\nstate: Cancelled\nlabels: [ready]\n---\n"),
        ("notes.txt", "---\nlabels: [ready]\n---\n"),
    ]);
    let ready = folder.ready(&filter()).unwrap();
    assert_eq!(ids(&ready), ["007-base", "008-login"]);
    assert_eq!(
        ready[1],
        Issue {
            id: "008-login".to_owned(),
            title: "Log in: again".to_owned(),
            body: "# Heading\n\nDo it.".to_owned(),
            priority: Some(2),
            labels: vec!["ready".to_owned(), "ui".to_owned()],
            state: State::Open,
            state_name: "Open".to_owned(),
            assignee: Some(Person { name: "Ada".to_owned(), is_me: false }),
            blocked_by: vec!["007-base".to_owned()],
            created: "2026-11-01".to_owned(),
            url: "issues/008-login.md".to_owned(),
        }
    );
    assert_eq!((ready[0].title.as_str(), ready[0].state), ("Base", State::InProgress));
    let plain = folder.look("plain.md").unwrap().unwrap().issue;
    assert_eq!((plain.title.as_str(), plain.body.as_str()), ("plain", "Just a text."));
    // What is done blocks nobody any more; what nobody knows does.
    folder.move_to("007-base", Target::Done).unwrap();
    assert_eq!(folder.look("008-login").unwrap().unwrap().issue.blocked_by, [""; 0]);
    for odd in ["../secret", "", ".hidden", "gone", "a/b"] {
        assert_eq!(folder.look(odd).unwrap(), None, "{odd}");
        assert!(folder.post(odd, "x", &Marker::new("claim", "1")).is_err());
        assert!(folder.move_to(odd, Target::Done).is_err());
    }
}

#[test]
fn what_cannot_be_read_is_named_and_the_others_are_listed() {
    let (dir, folder) = folder(&[
        ("good.md", "---\nlabels: [ready]\n---\n"),
        ("comma.md", "---\ntitle: a\nlabels: [ready\nstate: open\n---\n"),
        ("state.md", "---\ntitle: ü\nstate:  finito\n---\n"),
        ("priority.md", "---\npriority: soon\n---\n"),
        ("end.md", "---\nlabels: [ready]\n"),
        ("list.md", "---\ntitle: [a, b]\n---\n"),
        ("twice.md", "---\nstate: open\nstate: done\n---\n"),
        ("text.md", "---\njust text\n---\n"),
    ]);
    let issues = dir.path().join("issues");
    fs::write(issues.join("latin.md"), b"---\ntitle: caf\xe9\n---\n").unwrap();
    fs::write(issues.join("huge.md"), vec![b'x'; (1 << 20) + 1]).unwrap();
    fs::write(dir.path().join("secret.md"), "---\nlabels: [ready]\n---\n").unwrap();
    std::os::unix::fs::symlink("../secret.md", issues.join("link.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(issues.join("pipe.md")).status().unwrap();
    assert!(made.success());
    fs::create_dir(issues.join("directory.md")).unwrap();
    assert_eq!(ids(&folder.ready(&filter()).unwrap()), ["good"]);
    let said = folder.complaints(&filter()).unwrap().join("\n");
    let said = said.replace(&dir.path().display().to_string(), "TOP");
    insta::assert_snapshot!(said, @r"
    issues/comma.md:4:6: illegal placement of ':' indicator
    issues/end.md:1:1: the front matter has no end: a line `---`
    issues/huge.md:1:1: it has more than 1024 KB
    issues/latin.md:2:11: this is not UTF-8
    issues/link.md:1:1: it is a link, and none is followed
    issues/list.md:2:8: a word is expected here, and no list
    issues/pipe.md:1:1: it is no file
    issues/priority.md:2:11: `soon` is no priority: 1 to 4, or urgent, high, medium, low
    issues/state.md:3:9: `finito` is no state: open, in progress, done or cancelled
    issues/text.md:2:1: expected mapping start
    issues/twice.md:3:1: duplicate mapping key: state
    ");
    let error = folder.look("state").unwrap_err();
    assert_eq!(error.next_step(), "mend issues/state.md");
    // Nobody writes to what cannot be read, or over a link.
    for name in ["state", "link", "pipe", "latin", "huge"] {
        let before = fs::symlink_metadata(issues.join(format!("{name}.md"))).unwrap();
        assert!(folder.post(name, "x", &Marker::new("claim", "1")).is_err(), "{name}");
        let after = fs::symlink_metadata(issues.join(format!("{name}.md"))).unwrap();
        assert_eq!(before.modified().unwrap(), after.modified().unwrap());
    }
    assert_eq!(fs::read(dir.path().join("secret.md")).unwrap(), b"---\nlabels: [ready]\n---\n");
}

#[test]
fn what_is_hardly_meant_as_it_stands_is_said() {
    let (_dir, folder) = folder(&[
        ("a.md", "---\ntitle: a\nlabels: ready, ui\n---\n"),
        ("b.md", "---\nLabels: [ready]\nBLOCKED_BY: a\nmine: x\n---\n"),
        ("c.md", "---\nlabel: ready\n---\n"),
        ("d.md", "---\nlabels: [ready]\nlabel: mine\n---\nLabels: no\n"),
        ("e.md", "---\nlabels: ready\nnotes: |\n  Labels: x\n---\n"),
        ("f.md", "---\nstate: done\nLabels: x\n---\n"),
    ]);
    let mut said = folder.complaints(&filter()).unwrap();
    said.sort();
    assert_eq!(
        said,
        [
            "issues/a.md:3:1: `ready, ui` is one label: several are written `labels: [ready, ui]`",
            "issues/b.md:2:1: `Labels` means nothing: it is written `labels`",
            "issues/b.md:3:1: `BLOCKED_BY` means nothing: it is written `blocked_by`",
            "issues/c.md:2:1: `label` means nothing: it is written `labels`",
        ]
    );
}

#[test]
fn a_state_is_changed_where_it_stands() {
    for (before, after) in [
        (LOGIN, LOGIN.replace("state: Open   # a note", "state: in progress   # a note").as_str()),
        ("---\r\nstate: open\r\n---\r\nx", "---\r\nstate: in progress\r\n---\r\nx"),
        ("---\nstate: \"open\" # x\n---", "---\nstate: \"in progress\" # x\n---"),
        ("---\nstate: 'open'\n---\n", "---\nstate: 'in progress'\n---\n"),
        ("---\n\"state\" : open\n---\n", "---\n\"state\" : in progress\n---\n"),
        ("---\nstatus: todo\n---\n", "---\nstatus: in progress\n---\n"),
        ("---\nstate:\ntitle: a\n---\n", "---\nstate: in progress\ntitle: a\n---\n"),
        ("---\nstate:   # later\n---\n", "---\nstate: in progress   # later\n---\n"),
        ("---\ntitle: a\n---\nb", "---\ntitle: a\nstate: in progress\n---\nb"),
        ("---\n---\nb", "---\nstate: in progress\n---\nb"),
        ("text\r\n", "---\r\nstate: in progress\r\n---\r\ntext\r\n"),
        ("", "---\nstate: in progress\n---\n"),
        ("\u{feff}---\nstate: open\n---\n", "\u{feff}---\nstate: in progress\n---\n"),
        ("\u{feff}text", "\u{feff}---\nstate: in progress\n---\ntext"),
        (
            "---\nnotes: |\n  state: open\n  x\nstate: open\n---\n",
            "---\nnotes: |\n  state: open\n  x\nstate: in progress\n---\n",
        ),
    ] {
        let (dir, folder) = folder(&[("a.md", before)]);
        for _ in 0..2 {
            folder.move_to("a", Target::InProgress).unwrap();
            assert_eq!(text(&dir, "a.md"), after);
        }
    }
    // Where a line cannot be told, nothing is done.
    for odd in [
        "---\n{state: open}\n---\n",
        "---\nstate: >\n  open\n---\n",
        "---\nstate: &a open\nx: *a\n---\n",
    ] {
        let (dir, folder) = folder(&[("a.md", odd)]);
        let error = folder.move_to("a", Target::InProgress).unwrap_err();
        assert!(error.to_string().contains("give it a line of its own"), "{error}");
        assert_eq!(text(&dir, "a.md"), odd);
    }
}

#[test]
fn states_are_called_what_the_settings_say() {
    let (dir, folder) = folder(&[("a.md", "---\nstate: Todo\n---\n")]);
    let states = States { in_progress: "Doing: now".to_owned(), done: "Shipped".to_owned() };
    let folder = folder.with_states(states);
    folder.move_to("a", Target::InProgress).unwrap();
    assert_eq!(text(&dir, "a.md"), "---\nstate: \"Doing: now\"\n---\n");
    assert_eq!(folder.look("a").unwrap().unwrap().issue.state, State::InProgress);
    folder.move_to("a", Target::Done).unwrap();
    assert_eq!(text(&dir, "a.md"), "---\nstate: \"Shipped\"\n---\n");
}

#[test]
fn a_comment_is_added_at_the_end() {
    let (dir, folder) =
        folder(&[("a.md", "Do it."), ("b.md", "Do it.\r\n\r\n## comments\r\n\r\nYes!")]);
    folder.post("a", "Begun.\n\nReally.", &Marker::new("claim", "5f0c")).unwrap();
    insta::assert_snapshot!(text(&dir, "a.md"), @r"
    Do it.

    ## Comments

    ### Windlass · 2026-11-18T21:08:02Z

    Begun.

    Really.

    <!-- windlass claim 5f0c -->
    ");
    folder.post("b", "Begun.", &Marker::new("claim", "5f0c")).unwrap();
    assert_eq!(
        text(&dir, "b.md"),
        "Do it.\r\n\r\n## comments\r\n\r\nYes!\r\n\r\n### Windlass · 2026-11-18T21:08:03Z\r\n\r\n\
         Begun.\r\n\r\n<!-- windlass claim 5f0c -->\r\n"
    );
    let said = folder.look("b").unwrap().unwrap().comments;
    assert_eq!((said[0].body.as_str(), said[0].author.name.as_str()), ("Yes!", ""));
    assert_eq!(said[1].body, "Begun.\n\n<!-- windlass claim 5f0c -->");
    assert!(said[1].author.is_me && !said[0].author.is_me);
}

#[test]
fn who_only_says_so_has_not_posted_it() {
    let marker = Marker::new("claim", "5f0c");
    let theirs =
        "x\n\n## Comments\n\n### Eve · 2026-11-18T21:00:00Z\n\n<!-- windlass claim 5f0c -->\n";
    let (dir, folder) = folder(&[("a.md", theirs)]);
    folder.withdraw("a", &marker).unwrap();
    assert_eq!(text(&dir, "a.md"), theirs);
    folder.post("a", "Ours.", &marker).unwrap();
    assert_eq!(folder.look("a").unwrap().unwrap().comments.len(), 2);
}

#[test]
fn what_is_added_below_a_comment_of_ours_is_a_persons_and_the_comment_stays_ours() {
    let marker = Marker::new("claim", "5f0c");
    for end in ["\n", "\r\n"] {
        let (dir, folder) = folder(&[("a.md", &format!("Do it.{end}"))]);
        folder.post("a", "Begun.", &marker).unwrap();
        let ours = text(&dir, "a.md");
        let forged = "<!-- windlass release 5f0c -->";
        let added = ["By the way: blue.", "", "### Ada", "And round.", forged];
        for (nth, line) in added.iter().enumerate() {
            let before = text(&dir, "a.md");
            fs::write(dir.path().join("issues/a.md"), format!("{before}{line}{end}")).unwrap();
            let said = folder.look("a").unwrap().unwrap().comments;
            assert_eq!(said.len(), 2, "{said:?}");
            assert_eq!(said[0].body, "Begun.\n\n<!-- windlass claim 5f0c -->");
            assert!(said[0].author.is_me && said[0].may_write);
            assert_eq!(said[1].body, added[..=nth].join("\n").trim_end());
            assert!(!said[1].may_write, "nobody knows who says that");
            assert_eq!(said[1].author, Person::default());
        }
        // It is there already, what comes next stands below it all, and what is taken back is ours alone.
        let before = text(&dir, "a.md");
        folder.post("a", "Begun.", &marker).unwrap();
        assert_eq!(text(&dir, "a.md"), before);
        folder.post("a", "Over.", &Marker::new("completed", "5f0c")).unwrap();
        let said = folder.look("a").unwrap().unwrap().comments;
        assert_eq!(said.len(), 3);
        assert_eq!(Marker::of(&said[2].body), Some(Marker::new("completed", "5f0c")));
        folder.withdraw("a", &marker).unwrap();
        let now = text(&dir, "a.md");
        assert!(now.contains(&format!("## Comments{end}{end}{}{end}", added.join(end))), "{now}");
        assert!(ours.contains("Begun.") && !now.contains("Begun.") && now.contains("Over."));
    }
}

#[test]
fn no_marker_counts_within_a_comment_but_the_one_it_was_written_with() {
    // Somebody else's comment ends where the next begins, and what it quotes is no marker.
    let theirs = "x\n\n## Comments\n\n### Eve · 2026-11-18T21:00:00Z\n\n\
                  <!-- windlass claim 5f0c -->\nSo it says.\n";
    let (dir, folder) = folder(&[("a.md", theirs), ("b.md", "Do it.\n")]);
    let said = folder.look("a").unwrap().unwrap().comments;
    assert_eq!((said.len(), Marker::of(&said[0].body)), (1, None));
    // What an agent says in a comment of ours is none either, also where the last line is taken away.
    let failed = Marker::new("failed", "5f0c");
    folder.post("b", "It says:\n\n<!-- windlass release 5f0c -->", &failed).unwrap();
    let said = folder.look("b").unwrap().unwrap().comments;
    assert_eq!((said.len(), Marker::of(&said[0].body)), (1, Some(failed)));
    let cut = text(&dir, "b.md").replace("<!-- windlass failed 5f0c -->\n", "");
    fs::write(dir.path().join("issues/b.md"), cut).unwrap();
    let said = folder.look("b").unwrap().unwrap().comments;
    assert_eq!(Marker::of(&said[0].body), None, "{said:?}");
}

#[test]
fn what_a_person_writes_meanwhile_is_kept() {
    let (dir, _) = folder(&[("a.md", "---\nstate: open\n---\nDo it.\n")]);
    let file = dir.path().join("issues/a.md");
    let edits = Arc::new(AtomicU64::new(0));
    let (own, count) = (file.clone(), Arc::clone(&edits));
    // The clock is looked at between reading and writing: twice, somebody saves the file then.
    let clock = move || {
        let before = count.fetch_add(1, Ordering::Relaxed);
        if before < 2 {
            let text = fs::read_to_string(&own).unwrap();
            fs::write(&own, format!("{text}More {before}.\n")).unwrap();
        }
        0
    };
    let folder = Folder::of(dir.path(), DIRECTORY, Box::new(clock), Box::new(|_| true));
    folder.post("a", "Begun.", &Marker::new("claim", "5f0c")).unwrap();
    assert_eq!(edits.load(Ordering::Relaxed), 3);
    let found = fs::read_to_string(&file).unwrap();
    assert!(found.starts_with("---\nstate: open\n---\nDo it.\nMore 0.\nMore 1.\n\n## Comments\n"));
    assert_eq!(found.matches("Begun.").count(), 1);
}

#[test]
fn whoever_will_not_wait_is_told_so() {
    let (dir, _) = folder(&[("a.md", "x")]);
    let folder = Folder::of(dir.path(), DIRECTORY, Box::new(|| 0), Box::new(|_| false));
    let held = Root::open(dir.path().join("issues"), Links::Refuse).unwrap().hold().unwrap();
    let error = folder.move_to("a", Target::Done).unwrap_err();
    assert!(matches!(error, TrackerError::Unreachable { .. }), "{error}");
    drop(held);
    folder.move_to("a", Target::Done).unwrap();
}

#[test]
fn many_at_once_lose_nothing_and_agree_who_was_first() {
    let (dir, _) = folder(&[("a.md", "Do it.\n")]);
    thread::scope(|scope| {
        for number in 0..8 {
            let top = dir.path();
            scope.spawn(move || {
                let folder = at(top);
                for round in 0..5 {
                    let marker = Marker::new("claim", &format!("{number}n{round}"));
                    folder.post("a", "Mine.", &marker).unwrap();
                    folder.post("a", "Mine.", &marker).unwrap();
                }
                folder.withdraw("a", &Marker::new("claim", &format!("{number}n0"))).unwrap();
            });
        }
    });
    let comments = at(dir.path()).look("a").unwrap().unwrap().comments;
    assert_eq!(comments.len(), 8 * 4);
    assert_eq!(fs::read_dir(dir.path().join("issues")).unwrap().count(), 1);
}

#[test]
fn a_folder_that_is_not_there_says_what_to_do() {
    let (dir, folder) = folder(&[]);
    fs::remove_dir(dir.path().join("issues")).unwrap();
    let error = folder.ready(&filter()).unwrap_err();
    assert_eq!(error.to_string(), "the folder of issues refuses: there is no directory issues");
    assert_eq!(error.next_step(), "make issues with a Markdown file for each issue");
    assert_eq!(folder.projects().unwrap(), []);
    fs::create_dir(dir.path().join("bugs")).unwrap();
    fs::write(dir.path().join("bugs/one.md"), "---\nstate: open\n---\n").unwrap();
    fs::create_dir(dir.path().join("docs")).unwrap();
    fs::write(dir.path().join("docs/one.md"), "# One\n").unwrap();
    assert_eq!(folder.projects().unwrap().iter().map(|it| &*it.id).collect::<Vec<_>>(), ["bugs"]);
    let elsewhere = Filter { project: "bugs".to_owned(), ..filter() };
    let error = folder.ready(&elsewhere).unwrap_err();
    assert_eq!(error.to_string(), "the folder of issues refuses: it is issues, and not bugs");
    // A directory that an agent might have replaced by a link leads nowhere.
    std::os::unix::fs::symlink("bugs", dir.path().join("issues")).unwrap();
    assert!(folder.ready(&filter()).is_err());
}

/// Front matter and more, as people write it and as they do not.
fn some_file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("title: One: two".to_owned()),
        Just("title: \"a # b\"".to_owned()),
        Just("# state: open".to_owned()),
        Just("  # a note".to_owned()),
        Just("priority: 2".to_owned()),
        Just("labels: [ready, 'state: x']".to_owned()),
        Just("blocked_by:\n  - a\n  - b".to_owned()),
        Just("notes: |\n  state: done\n\n  ---x".to_owned()),
        Just("other: \"a\n  state: open\n  b\"".to_owned()),
        Just(String::new()),
        "[a-z]{1,4}: [a-z#:' ]{0,6}",
    ];
    let state = prop_oneof![
        Just(String::new()),
        Just("state: open".to_owned()),
        Just("state:".to_owned()),
        Just("status: 'Todo' # why".to_owned()),
        Just("state: \"In Progress\"  ".to_owned()),
        Just("state : done#x".to_owned()),
        Just("state: cancelled #x".to_owned()),
    ];
    let lines = || proptest::collection::vec(line.clone(), 0..5);
    let body = "([a-zü#\\-` ]{0,8}\n){0,6}(## Comments\n\n)?(### Ada · 2026-01-01T00:00:00Z\nyes\n)?[a-z]{0,3}";
    (any::<bool>(), any::<bool>(), lines(), state, lines(), body).prop_map(
        |(front, crlf, before, state, after, body)| {
            let mut text = String::new();
            if front {
                text = format!("---\n{}\n{state}\n{}\n---\n", before.join("\n"), after.join("\n"));
            }
            text.push_str(&body);
            if crlf { text.replace('\n', "\r\n") } else { text }
        },
    )
}

fn parsed<'a>(text: &'a str, states: &States) -> Option<IssueFile<'a>> {
    IssueFile::parse(text, states).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_change_of_state_touches_one_line(text in some_file(), word in "(done|in progress|Open|\"x: y)") {
        let states = States { in_progress: "\"x: y".to_owned(), ..States::default() };
        let word = if word == "in progress" { "In Progress".to_owned() } else { word };
        prop_assume!(states.of(&word).is_some());
        let Some(file) = parsed(&text, &states) else { return Ok(()) };
        let Ok(new) = file.with_state(&word, &states) else { return Ok(()) };
        let again = parsed(&new, &states).unwrap();
        prop_assert_eq!(again.state(), states.of(&word).unwrap());
        prop_assert_eq!(again.comments(ME).len(), file.comments(ME).len());
        let (old, new): (Vec<_>, Vec<_>) =
            (text.split_inclusive('\n').collect(), new.split_inclusive('\n').collect());
        let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let (left_old, left_new) = (&old[same..], &new[same..]);
        let end = left_old.iter().rev().zip(left_new.iter().rev()).take_while(|(a, b)| a == b).count();
        prop_assert!(left_old.len() - end <= 1, "{:?} became {:?}", old, new);
        let has_front = text.lines().next().is_some_and(|line| line.trim_end() == "---");
        let more = if has_front { 1 } else { 3 };
        prop_assert!(left_new.len() - end <= more, "{:?} became {:?}", old, new);
    }

    #[test]
    fn a_comment_changes_nothing_above_and_is_taken_back_whole(
        text in some_file(),
        said in "([a-z#\\\\`<!>\\- ]{0,6}|## Comments|<!-- windlass failed 5f0c -->|\\\\? `windlass claim a`|\\\\?### Ada · 2026-01-01T00:00:00Z|---|\n){0,6}",
    ) {
        let states = States::default();
        let marker = Marker::new("claim", "5f0c");
        let Some(file) = parsed(&text, &states) else { return Ok(()) };
        let new = file.with_comment("Windlass", "2026-11-18T21:08:02Z", &said, &marker);
        prop_assert!(new.starts_with(&text));
        let again = parsed(&new, &states).unwrap();
        prop_assert_eq!(&again.front, &file.front);
        prop_assert_eq!(again.body(), file.body());
        let (before, after) = (file.comments(ME), again.comments(ME));
        prop_assert_eq!(after.len(), before.len() + 1);
        let last = after.last().unwrap();
        prop_assert_eq!(Marker::of(&last.text), Some(marker));
        prop_assert_eq!(Marker::stripped(&last.text), said.trim());
        let back = again.without(&[last]);
        prop_assert!(back.starts_with(&text) && new.starts_with(&back));
        prop_assert_eq!(parsed(&back, &states).unwrap().comments(ME).len(), before.len());
    }

    #[test]
    fn nothing_makes_it_panic(bytes in "(---|\n|\r\n|state|:|[ -~]|ü|\u{feff}|## Comments|### |·|\"|'|#){0,40}") {
        let states = States::default();
        if let Some(file) = parsed(&bytes, &states) {
            let _ = (file.with_state("done", &states), file.comments(ME), file.body());
        }
    }
}
