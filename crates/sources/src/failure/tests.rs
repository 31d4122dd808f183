//! What real runners print, and what is read out of it.

use proptest::prelude::*;

use super::*;
use crate::plans::{Number, Plans};

macro_rules! printed {
    ($name:literal) => {
        include_str!(concat!("../../fixtures/failures/", $name))
    };
}

fn told(printed: &str) -> Vec<String> {
    let one = |failure: &Failure| {
        format!("{} {}", failure.class.word(), failure.test.as_deref().unwrap_or("-"))
    };
    let mut told: Vec<String> = failures(printed).iter().map(one).collect();
    told.sort();
    told
}

#[test]
fn rust_says_which_test_failed_and_why() {
    assert_eq!(
        told(printed!("cargo.txt")),
        [
            "assertion_error tests::adds",
            "assertion_error tests::panics",
            "runtime_error tests::finds",
            "runtime_error tests::is_err",
        ]
    );
    assert_eq!(
        told(printed!("nextest.txt")),
        [
            "assertion_error demo tests::adds",
            "assertion_error demo tests::panics",
            "runtime_error demo tests::finds",
            "runtime_error demo tests::is_err",
        ]
    );
    assert_eq!(told(printed!("rustc.txt")), ["import_error -", "type_error -"]);
    assert_eq!(told("error: expected `;`, found `}`\n --> src/lib.rs:3:1\n"), ["syntax_error -"]);
    assert_eq!(told("     TIMEOUT [  60.004s] demo tests::waits\n"), ["timeout demo tests::waits"]);
    let adds = failures(printed!("cargo.txt"))
        .into_iter()
        .find(|it| it.test.as_deref() == Some("tests::adds"));
    assert_eq!(adds.unwrap().message, "assertion `left == right` failed: sum left: 2 right: 3");
}

#[test]
fn python_says_which_test_failed_and_why() {
    assert_eq!(
        told(printed!("pytest.txt")),
        [
            "assertion_error test_a.py::test_add",
            "runtime_error test_a.py::test_key",
            "type_error test_a.py::TestK::test_type",
        ]
    );
    assert_eq!(
        told(printed!("pytest-collecting.txt")),
        ["import_error test_b.py", "syntax_error test_c.py"]
    );
    let slow = "=== FAILURES ===\n=== short test summary info ===\nFAILED a.py::slow - Failed: Timeout >1.0s\n";
    assert_eq!(told(slow), ["timeout a.py::slow"]);
}

#[test]
fn node_says_which_test_failed_and_why() {
    let want = [
        "assertion_error adds",
        "import_error /home/ada/demo/b.test.js",
        "timeout slow",
        "type_error inner",
    ];
    assert_eq!(told(printed!("node-tap.txt")), want);
    // Without a block, what is printed below says it.
    let plain = "TAP version 13\nnot ok 1 - adds\nsome noise\nTypeError: x is not a function\nok 2 - b\nnot ok 3 - c\n# AssertionError: 1 != 2\nnot ok 4 - d\n1..4\n";
    assert_eq!(told(plain), ["assertion_error c", "runtime_error d", "type_error adds"]);
    assert_eq!(told(printed!("node-spec.txt")), want);
}

#[test]
fn go_says_which_test_failed_and_why() {
    assert_eq!(
        told(printed!("go.json")),
        ["assertion_error example.com/demo.TestAdd/two", "runtime_error example.com/demo.TestNil"]
    );
    assert_eq!(told(printed!("go.txt")), ["assertion_error TestAdd/two", "runtime_error TestNil"]);
    assert_eq!(told(printed!("go-build.txt")), ["import_error -"]);
}

#[test]
fn junit_says_which_test_failed_and_why() {
    assert_eq!(
        told(printed!("node-junit.xml")),
        ["assertion_error test::adds", "timeout test::slow", "type_error test::inner"]
    );
    assert_eq!(
        told(printed!("pytest-junit.xml")),
        [
            "assertion_error test_a::test_add",
            "runtime_error test_a::test_key",
            "type_error test_a.TestK::test_type",
        ]
    );
    let odd = "<testsuite><testcase classname='a.B' name='c &lt; d'><error type=\"java.lang.ClassNotFoundException\" \
               message=\"x > y\"/></testcase><testcase name=\"fine\"/></testsuite>";
    assert_eq!(told(odd), ["import_error a.B::c < d"]);
}

#[test]
fn what_has_no_form_is_told_by_its_words() {
    for (printed, want) in [
        ("boom\nSyntaxError: invalid syntax\n", "syntax_error"),
        ("a.js:3\n  x = ;\n      ^\nSyntaxError: Unexpected token ';'\n", "syntax_error"),
        ("Error: Cannot find module './x'\n", "import_error"),
        (
            "src/a.ts(1,2): error TS2322: Type 'string' is not assignable to type 'number'.\n",
            "type_error",
        ),
        ("Test failed: expected 3, got 4\n", "assertion_error"),
        ("Error: request timed out after 5000ms\n", "timeout"),
        ("thread 'main' panicked: index out of bounds\n", "runtime_error"),
        ("sh: 1: nope: not found\n", "runtime_error"),
        ("", "runtime_error"),
        // What merely speaks of such things is not what went wrong.
        (
            "using import maps, timeout 30s\nall expected files are there\nfailed: exit 3\n",
            "runtime_error",
        ),
    ] {
        assert_eq!(Cause::of(printed).first.class.word(), want, "{printed}");
    }
}

#[test]
fn the_same_cause_has_the_same_key_in_every_run() {
    let one = "thread 'a::b' (123) panicked at /home/ada/x/src/lib.rs:3:4:\nwaited 1.25s for /tmp/run-1/db at 0x7f12ab34\n\n\
               test a::b ... FAILED\n";
    let two = "\u{1b}[31mthread 'a::b' (99) panicked at /home/ada/src/lib.rs:30:4:\u{1b}[0m\nwaited 0.7s for /tmp/other/db at 0xdeadbeef1\n\n\
               test a::b ... FAILED\n";
    let [one, two] = [one, two].map(|printed| Cause::of(printed).first.key());
    assert_eq!(one, "runtime_error a::b waited #.#s for db at #x#");
    assert_eq!(one, two);
    // Another test, another class or another message is another cause.
    let key = |printed: &str| Cause::of(printed).first.key();
    assert_ne!(key("test a::b ... FAILED\n"), key("test a::c ... FAILED\n"));
    assert_ne!(key("Error: a\n"), key("Error: b\n"));
    assert_ne!(key("TypeError: a\n"), key("SyntaxError: a\n"));
    // In whatever order they ran, the same one speaks for all.
    let both = [
        "test a::b ... FAILED\ntest a::a ... FAILED\n",
        "test a::a ... FAILED\ntest a::b ... FAILED\n",
    ];
    assert_eq!(both.map(key), ["runtime_error a::a "; 2]);
    assert_eq!(Cause::of(both[0]).count, 2);
}

fn plans() -> Plans {
    Plans::read(
        "| Task | Content | DoD | Depends | Status |\n|---|---|---|---|---|\n\
         | 26.1 | Log in | it works | - | cc:Done [a1b2c3d] |\n\
         | 26.2 | Log out | it works | - | cc:Done |\n\
         | 26.2.fix | fix: Log out - timeout | Tests/CI pass | 26.2 | cc:Done |\n",
    )
}

fn proposal(at: usize) -> Proposal {
    let plans = plans();
    Proposal::of(&plans.rows()[at], &Cause::of("test a::b ... FAILED\n"), &plans)
}

#[test]
fn a_fix_is_proposed_as_the_row_that_it_would_be() {
    let one = proposal(0);
    assert_eq!(
        (one.fix_task_id.as_str(), one.content.as_str(), one.dod.as_str(), one.depends.as_str()),
        ("26.1.fix", "fix: Log in - runtime_error", "Tests/CI pass", "26.1")
    );
    // The second of one task has a number of its own.
    assert_eq!(proposal(1).fix_task_id, "26.2.fix2");
    let after = plans().with_rows(&[one.row().unwrap()]).unwrap().plans;
    assert!(after.text().ends_with(
        "| 26.1.fix | fix: Log in - runtime_error | Tests/CI pass | 26.1 | cc:TODO |\n"
    ));
}

#[test]
fn what_mends_a_fix_mends_the_same_task_and_is_called_like_it() {
    let plans = plans();
    let again = Proposal::of(&plans.rows()[2], &Cause::of("test a::b ... FAILED\n"), &plans);
    assert_eq!(
        (again.fix_task_id.as_str(), again.content.as_str(), again.depends.as_str()),
        ("26.2.fix2", "fix: Log out - runtime_error", "26.2.fix")
    );
    // What only looks like a class stays.
    let number = Number::of("7.fix").unwrap();
    let named = Proposal::of_task(&number, "fix: Log in - at once", &Cause::of(""), |_| false);
    assert!(named.content.starts_with("fix: Log in - at once - "), "{}", named.content);
}

#[test]
fn proposals_wait_for_a_decision() {
    let mut pending = Proposals::read("{\"another\": \"program's\"}\n\n");
    assert_eq!(pending.meant(None, None), Err(Unsure::None));
    pending.add(proposal(0));
    pending.add(proposal(0));
    let text = pending.write();
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.starts_with(
        "{\"another\": \"program's\"}\n{\"fix_task_id\":\"26.1.fix\",\"source_task_id\":\"26.1\""
    ));
    assert_eq!(Proposals::read(&text), pending);
    // The only one needs no name.
    assert_eq!(*pending.meant(None, None).unwrap(), proposal(0));
    assert_eq!(*pending.meant(Some(" 26.1 "), None).unwrap(), proposal(0));
    pending.add(proposal(1));
    let several = pending.meant(None, None).unwrap_err().to_string();
    assert_eq!(several, "2 fixes are proposed: say which, 26.1.fix or 26.2.fix2");
    let none = pending.meant(Some("9"), None).unwrap_err().to_string();
    assert_eq!(none, "no fix is proposed for 9: there is 26.1.fix, 26.2.fix2");
    let meant = pending.meant(Some("26.2.fix2"), None).unwrap().clone();
    assert_eq!(meant, proposal(1));
    pending.remove(&meant);
    assert_eq!(pending.all().count(), 1);
    assert!(pending.write().starts_with("{\"another\""));
}

#[test]
fn proposals_of_two_tables_are_two_though_they_have_one_number() {
    let of = |plans: &str| Proposal { plans: Some(plans.to_owned()), ..proposal(0) };
    let mut pending = Proposals::default();
    for one in [of("Plans.md"), of("docs/x.md"), of("docs/x.md")] {
        pending.add(one);
    }
    assert_eq!(Proposals::read(&pending.write()), pending);
    let unsure = pending.meant(Some("26.1.fix"), None).unwrap_err();
    let names = ["26.1.fix --plans Plans.md", "26.1.fix --plans docs/x.md"].map(str::to_owned);
    assert_eq!(unsure, Unsure::Several(names.into()));
    for said in [None, Some("26.1"), Some("26.1.fix")] {
        assert_eq!(*pending.meant(said, Some("docs/x.md")).unwrap(), of("docs/x.md"));
    }
    assert!(matches!(pending.meant(None, Some("other.md")), Err(Unsure::None)));
    pending.remove(&of("Plans.md"));
    assert_eq!(pending.all().collect::<Vec<_>>(), [&of("docs/x.md")]);
    // Who proposed it without a word about a table may have meant any.
    pending.remove(&of("docs/x.md"));
    pending.add(proposal(0));
    assert_eq!(*pending.meant(None, Some("docs/x.md")).unwrap(), proposal(0));
}

proptest! {
    #[test]
    fn whatever_is_printed_has_a_cause(
        parts in prop::collection::vec(prop_oneof![
            Just("<testcase name='a'>"), Just("<failure"), Just(" message=\"x"), Just("\">"), Just("<![CDATA["),
            Just("not ok 1 - a\n"), Just("  ---\n"), Just("  error: |-\n"), Just("  ...\n"),
            Just("✖ failing tests:\n"), Just("✖ a (1ms)\n"), Just("--- FAIL: A (0s)\n"), Just("panic: x\n"),
            Just("{\"Action\":\"fail\",\"Test\":\"A\"}\n"), Just("=== FAILURES ===\n"), Just("FAILED a.py::b - "),
            Just("___ b ___\n"), Just("E  TypeError: 幅\n"), Just("thread 'a' panicked at b\n"),
            Just("test a ... FAILED\n"), Just("FAIL [ 1s] a b\n"), Just("\u{1b}[3"), Just("error[E0"), Just("/a/1幅2 "),
        ], 0..12),
        more in "\\PC{0,12}",
    ) {
        let printed = parts.concat() + &more;
        let cause = Cause::of(&printed);
        prop_assert!(cause.count >= 1);
        let twice = Cause::of(&printed);
        prop_assert_eq!(cause.first.key(), twice.first.key());
    }
}
