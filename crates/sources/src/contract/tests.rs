use proptest::prelude::*;
use windlass_core::path::Below;

use super::*;

fn how(line: &str) -> Vec<How> {
    let contract = Contract::parse(&format!("- VAL-A-1: It is so\n  {line}\n"));
    assert_eq!(contract.flaws, [], "{line}");
    contract.assertions[0].how.clone()
}

fn flaws(text: &str) -> Vec<String> {
    Contract::parse(text).flaws.iter().map(ToString::to_string).collect()
}

fn text(text: &str) -> Target {
    Target::Text(text.to_owned())
}

fn selector(text: &str) -> Target {
    Target::Selector(text.to_owned())
}

fn file(path: &str, want: FileWant) -> Vec<How> {
    vec![How::File { path: Below::parse(path).unwrap(), want }]
}

#[test]
fn assertions_are_read_however_they_are_set() {
    let text = "# Contract\n\nVAL-AUTH-001: User can log in with valid credentials\n\n\
                ## Session\n\n- VAL-SES-001: It lasts an hour\n* **VAL-SES-002**: It can be ended,\n  \
                by hand\n- [ ] `VAL-SES-003` — It is one\n1. **VAL-SES-004: It is bold.**\n\n\
                ### VAL-SES-005: A heading will do\n\n```\n- VAL-NOT-001: in code\n```\n\
                <!-- VAL-NOT-002: in a comment\n- VAL-NOT-003: still -->\n> VAL-NOT-004: quoted\n\
                VAL-SES-001 is spoken of in prose.\n";
    let contract = Contract::parse(text);
    let seen: Vec<_> = contract.assertions.iter().map(|it| (&*it.id, &*it.text, it.line)).collect();
    assert_eq!(
        seen,
        [
            ("VAL-AUTH-001", "User can log in with valid credentials", 3),
            ("VAL-SES-001", "It lasts an hour", 7),
            ("VAL-SES-002", "It can be ended, by hand", 8),
            ("VAL-SES-003", "It is one", 10),
            ("VAL-SES-004", "It is bold.", 11),
            ("VAL-SES-005", "A heading will do", 13),
        ]
    );
    assert_eq!(contract.flaws, []);
}

#[test]
fn every_way_of_checking_is_read() {
    assert_eq!(how("command: `sh t.sh`"), [How::Command("sh t.sh".into())]);
    assert_eq!(how("- **Command:** ``echo `x` `` passes."), [How::Command("echo `x`".into())]);
    assert_eq!(how("* cmd: make check"), [How::Command("make check".into())]);
    assert_eq!(how("file: src/a.rs contains \"fn \\\"login\\\"\""), {
        file("src/a.rs", FileWant::Contains("fn \"login\"".into()))
    });
    assert_eq!(how("file: `a b.txt` exists"), file("a b.txt", FileWant::Exists));
    assert_eq!(how("file: x absent"), file("x", FileWant::Absent));
    assert_eq!(how("file: x lacks “old”"), file("x", FileWant::Lacks("old".into())));
    let http = |method: &str, path: &str, body: Option<&str>, status, contains: &[&str]| {
        let contains = contains.iter().map(|text| (*text).to_owned()).collect();
        let (method, path) = (method.to_owned(), path.to_owned());
        vec![How::Http { method, path, body: body.map(str::to_owned), status, contains }]
    };
    let get = http("GET", "/login", None, 200, &["Sign in"]);
    assert_eq!(how("http: GET /login → 200 \"Sign in\""), get);
    assert_eq!(how("http: `get /login -> 200 \"Sign in\"`"), get);
    assert_eq!(
        how("http: POST /api?x=1 with \"{\\\"a\\\": 1}\" => 201 \"a\", \"b\""),
        http("POST", "/api?x=1", Some("{\"a\": 1}"), 201, &["a", "b"])
    );
    let look = How::Review("look at the logo".into());
    assert_eq!(how("review: look at the logo"), std::slice::from_ref(&look));
    assert_eq!(how("- look at the logo"), [look]);
    assert!(!how("review: x")[0].is_mechanical() && how("cmd: x")[0].is_mechanical());
    assert!(get[0].wants_app() && !how("cmd: x")[0].wants_app());
}

#[test]
fn steps_in_a_browser_are_read() {
    let line = "ui: open /login; type #name \"a;da\"; type [name=\"q\"] \"x\"; click #go; \
                wait-for .done; see \"Welcome\"; unseen \"Error\"; click \"Log out\"; quiet; shot The end";
    let steps = vec![
        Step::Open("/login".into()),
        Step::Type { field: "#name".into(), text: "a;da".into() },
        Step::Type { field: "[name=\"q\"]".into(), text: "x".into() },
        Step::Click(selector("#go")),
        Step::WaitFor(selector(".done")),
        Step::See(text("Welcome")),
        Step::Unseen(text("Error")),
        Step::Click(text("Log out")),
        Step::Quiet,
        Step::Shot("the-end".into()),
    ];
    assert_eq!(how(line), [How::Ui(steps.clone())]);
    let odd = [Step::See(text("say \"no\", C:\\new")), Step::Click(selector("a[href='/x']"))];
    let written: Vec<String> = steps.iter().chain(&odd).map(ToString::to_string).collect();
    let again = [How::Ui(steps.into_iter().chain(odd).collect())];
    assert_eq!(how(&format!("ui: {}", written.join("; "))), again, "as they are written");
    let listed = "- ui:\n    - open /\n    - click #go\n";
    assert_eq!(how(listed), [How::Ui(vec![Step::Open("/".into()), Step::Click(selector("#go"))])]);
    let wrapped = "ui: open /;\n     see \"a\n     b\"\n";
    assert_eq!(how(wrapped), [How::Ui(vec![Step::Open("/".into()), Step::See(text("a b"))])]);
}

#[test]
fn a_command_may_be_a_block() {
    assert_eq!(how("- command:\n  ```sh\n  cd x\n  sh t.sh\n  ```\n"), {
        [How::Command("cd x\nsh t.sh".into())]
    });
}

#[test]
fn what_is_not_understood_is_a_flaw_with_its_line_and_the_validators_to_judge() {
    for (line, flaw) in [
        ("command:", "`command:` says nothing"),
        ("command: `sh t.sh", "the command is not closed"),
        ("command: `sh t.sh` prints 3", "`prints 3` after a command is not understood"),
        ("comand: sh t.sh", "did you mean `command:`?"),
        ("- files: a exists", "did you mean `file:`?"),
        ("file: a", "`file: a` is not understood"),
        ("file: a contains", "`file: a contains` is not understood"),
        ("file: a contains \"\"", "is not understood"),
        ("file: ../a exists", "`../a` is no file of the project"),
        ("file: /etc/passwd exists", "`/etc/passwd` is no file of the project"),
        ("http: FETCH / → 200", "`FETCH` is no method of HTTP"),
        ("http: GET / → 20", "is not understood"),
        ("http: GET / → 200 Welcome", "is not understood"),
        ("http: GET http://example.com/ → 200", "is no page of the app"),
        ("http: GET //example.com/ → 200", "is no page of the app"),
        ("ui: click #go", "the first is `open /PATH`"),
        ("ui: open /; dance", "`dance` is no step"),
        ("ui: open /; type #a", "the step `type #a` is not understood"),
        ("ui: open /; see", "the step `see` is not understood"),
        ("ui: open /; see \"open", "the step `see \"open` is not understood"),
        ("ui: open javascript:alert(1)", "is no page of the app"),
        ("ui: open /; shot ../..", "the step `shot ../..` is not understood"),
    ] {
        let contract = Contract::parse(&format!("- VAL-A-1: It is so\n  {line}\n"));
        let said = contract.flaws.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        assert!(said.starts_with("line 2: ") && said.contains(flaw), "{line}: {said}");
        let [assertion] = contract.assertions.as_slice() else { panic!("{line}") };
        assert!(!assertion.is_mechanical() && assertion.how.len() == 1, "{line}: {assertion:?}");
    }
}

#[test]
fn an_id_is_there_once() {
    let text = "- VAL-A-1: One\n- VAL-A-2: Two\n- val-a-1: Again\n  command: `rm x`\n";
    assert_eq!(flaws(text), ["line 3: val-a-1 is there twice, as on line 1: give one another id"]);
    let contract = Contract::parse(text);
    assert_eq!(contract.assertions.len(), 2);
    assert_eq!(contract.get("VAL-A-1").unwrap().text, "One");
    assert_eq!(flaws("- VAL-A-1:\n").len(), 1);
}

#[test]
fn what_nobody_can_check_is_said() {
    for word in ["works well", "is user-friendly", "is fast.", "is TBD", "has a, b, etc."] {
        let text = format!("# C\n- VAL-A-1: The page {word}\n");
        assert!(flaws(&text)[0].starts_with("line 2: VAL-A-1 says `"), "{word}");
        // A machine that checks it knows what is meant by it.
        assert_eq!(flaws(&format!("{text}  command: `sh t.sh`\n")), [""; 0], "{word}");
        assert_eq!(flaws(&format!("{text}  review: the page\n")).len(), 1, "{word}");
    }
    for fine in ["Breakfast is served", "The file fast-path.txt is there", "It says Proper"] {
        assert_eq!(flaws(&format!("- VAL-A-1: {fine}\n")), [""; 0], "{fine}");
    }
}

#[test]
fn a_claim_means_assertions_by_id_or_by_their_words() {
    let contract = Contract::parse(
        "- VAL-A-1: A user can log in.\n  claim: Login\n- VAL-A-2: A user can *log out*\n",
    );
    let ids =
        |claim: &str| contract.matching(claim).iter().map(|it| it.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids("VAL-A-1"), ["VAL-A-1"]);
    assert_eq!(ids("val-a-2: whatever it says"), ["VAL-A-2"]);
    assert_eq!(ids("Both (VAL-A-1, VAL-A-2)"), ["VAL-A-1", "VAL-A-2"]);
    assert_eq!(ids("a user can  log in"), ["VAL-A-1"]);
    assert_eq!(ids("login"), ["VAL-A-1"]);
    assert_eq!(ids("A user can log out"), ["VAL-A-2"]);
    for none in ["", "VAL-A-3", "VAL-A-3: A user can log in", "log"] {
        assert_eq!(ids(none), [""; 0], "{none}");
    }
}

#[test]
fn what_no_label_of_ours_is_goes_to_the_validator() {
    let contract = Contract::parse(
        "- VAL-A-1: It is so\n  - Evidence: a picture\n  - Priority: high\n\nProse.\n\n    command: `rm -rf .`\n",
    );
    let how = &contract.assertions[0].how;
    assert_eq!(how[..], ["Evidence: a picture", "Priority: high"].map(|it| How::Review(it.into())));
    assert_eq!(contract.flaws, []);
}

proptest! {
    #[test]
    fn nothing_makes_it_panic(text in "\\PC{0,200}", lines in prop::collection::vec(
        "( {0,4})([-*#] )?(VAL-[A-Z]{0,2}-?[0-9]?|command|file|http|ui|review|claim|```|<!--|-->)[:* ]{0,2}\
         (open|type|see|GET|exists)?[ /\"“”;`\\\\a→é*-]{0,12}", 0..12,
    )) {
        Contract::parse(&text);
        let text = lines.join("\n");
        let contract = Contract::parse(&text);
        let count = text.lines().count();
        for assertion in &contract.assertions {
            prop_assert!(assertion.line >= 1 && assertion.line <= count);
            prop_assert!(contract.matching(&assertion.id).contains(&assertion));
        }
        for flaw in &contract.flaws {
            prop_assert!(flaw.line >= 1 && flaw.line <= count);
        }
    }
}
