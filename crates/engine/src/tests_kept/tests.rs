use std::path::PathBuf;

use super::*;

const RUST: &str = "use demo::{add, sub};\n\nfn three() -> i32 {\n    3\n}\n\n#[test]\nfn adds() {\n    assert_eq!(add(1, 2), three());\n    assert!(add(0, 0) == 0, \"nothing\");\n}\n\n#[cfg(test)]\nmod inner {\n    use super::*;\n\n    #[test]\n    fn subtracts() -> Result<(), String> {\n        for (a, b, c) in [(3, 2, 1), (2, 2, 0)] {\n            assert_eq!(sub(a, b), c);\n        }\n        Ok(())\n    }\n}\n";

const PYTHON: &str = "import pytest\nfrom demo import add, sub\n\n\ndef check(a, b):\n    assert a == b\n\n\n@pytest.mark.parametrize('n', [1, 2, 3])\ndef test_adds(n):\n    '''Adds.'''\n    assert add(n, 0) == n\n    assert add(0, n) == n\n\n\nclass TestSub:\n    def test_subtracts(self):\n        result = sub(3, 2)\n        assert result == 1\n        check(sub(2, 2), 0)\n        with pytest.raises(ValueError):\n            sub(None, 1)\n";

const SCRIPT: &str = "import { add, sub } from '../src/demo';\n\nconst three = 3;\n\ndescribe('demo', () => {\n  it('adds', () => {\n    expect(add(1, 2)).toBe(three);\n    expect(add(0, 0)).toEqual(0);\n  });\n\n  test.each([[3, 2, 1], [2, 2, 0]])('subtracts %i', (a, b, c) => {\n    expect(sub(a, b)).toBe(c);\n  });\n\n  it('throws', async () => {\n    await expect(sub()).rejects.toThrow('no');\n  });\n});\n";

const GO: &str = "package demo\n\nimport \"testing\"\n\nfunc TestAdds(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n\tif Add(0, 0) != 0 {\n\t\tt.Fatal(\"nothing\")\n\t}\n}\n\nfunc TestSubtracts(t *testing.T) {\n\tcases := []struct{ a, b, c int }{\n\t\t{3, 2, 1},\n\t\t{2, 2, 0},\n\t}\n\tfor _, it := range cases {\n\t\trequire.Equal(t, it.c, Sub(it.a, it.b))\n\t}\n}\n";

const SHELL: &str = "#!/bin/sh\n# Adds.\nset -e\nout=$(./add 1 2)\ntest \"$out\" = 3\ngrep -qx 'done 1' src/1.txt\n./sub 3 2 | grep -qx 1\n";

/// A language: where its tests are, what they say, what takes something from them, and what does not.
struct Language {
    path: &'static str,
    text: &'static str,
    /// What is put in the place of what, and a part of what is found.
    tampers: &'static [(&'static str, &'static str, &'static str)],
    harmless: &'static [(&'static str, &'static str)],
}

const LANGUAGES: &[Language] = &[
    Language {
        path: "tests/demo.rs",
        text: RUST,
        tampers: &[
            ("#[test]\nfn adds", "#[test]\n#[ignore]\nfn adds", "#[ignore]"),
            ("#[test]\nfn adds", "#[ignore = \"slow\"]\n#[test]\nfn adds", "ignore"),
            ("#[test]\nfn adds", "#[test]\n#[cfg_attr(all(), ignore)]\nfn adds", "cfg_attr"),
            ("#[test]\nfn adds", "#[cfg(any())]\n#[test]\nfn adds", "cfg ( any"),
            ("#[cfg(test)]\nmod inner", "#[cfg(all(test, windows))]\nmod inner", "windows"),
            ("use demo", "#![cfg(windows)]\nuse demo", "cfg ( windows )"),
            ("#[test]\nfn adds", "#[test]\n#[should_panic]\nfn adds", "should_panic"),
            ("#[test]\nfn adds", "fn adds", "`adds`"),
            ("#[test]\nfn adds", "// #[test]\nfn adds", "`adds`"),
            ("    assert_eq!(add(1, 2), three());\n", "", "1 of 2"),
            (
                "    assert_eq!(add(1, 2), three());\n",
                "    // assert_eq!(add(1, 2), three());\n",
                "1 of 2",
            ),
            ("assert_eq!(add(1, 2), three());", "assert!(true);", "1 of 2"),
            ("assert_eq!(add(1, 2), three());", "assert_eq!(add(1, 2), add(1, 2));", "1 of 2"),
            ("assert_eq!(add(1, 2), three());", "assert!(add(1, 2) > 0 || true);", "1 of 2"),
            ("assert_eq!(add(1, 2), three());", "assert!(add(1, 2) > 0);", "exactly"),
            ("fn adds() {\n", "fn adds() {\n    return;\n", "stops before its end"),
            (
                "fn adds() {\n",
                "fn adds() {\n    if std::env::var(\"CI\").is_ok() { return; }\n",
                "stops before its end",
            ),
            (
                "    assert_eq!(add(1, 2), three());\n",
                "    if false {\n    assert_eq!(add(1, 2), three());\n    }\n",
                "never runs",
            ),
            (
                "    assert_eq!(add(1, 2), three());\n",
                "    let _ = std::panic::catch_unwind(|| assert_eq!(add(1, 2), three()));\n",
                "let pass",
            ),
            ("(3, 2, 1), (2, 2, 0)", "(3, 2, 1)", "fewer cases"),
            ("            assert_eq!(sub(a, b), c);\n", "", "`inner › subtracts`"),
        ],
        harmless: &[
            (
                "    assert_eq!(add(1, 2), three());\n",
                "    assert_eq!(\n        add(1, 2),\n        three(),\n    );\n",
            ),
            ("#[test]\nfn adds", "/// It adds.\n#[test]\nfn adds"),
            ("    assert!(add(0, 0)", "    // Nothing, and nothing.\n    assert!(add(0, 0)"),
            (
                "#[cfg(test)]\nmod inner",
                "#[test]\nfn more() {\n    assert_eq!(add(2, 2), 4);\n}\n\n#[cfg(test)]\nmod inner",
            ),
            ("use demo::{add, sub};\n", "use demo::{add, sub};\n\nconst FOUR: i32 = 4;\n"),
        ],
    },
    Language {
        path: "tests/test_demo.py",
        text: PYTHON,
        tampers: &[
            ("@pytest.mark.parametrize", "@pytest.mark.skip\n@pytest.mark.parametrize", "skip"),
            (
                "@pytest.mark.parametrize",
                "@pytest.mark.skipif(True, reason='x')\n@pytest.mark.parametrize",
                "skipif",
            ),
            ("@pytest.mark.parametrize", "@pytest.mark.xfail\n@pytest.mark.parametrize", "xfail"),
            ("class TestSub", "@unittest.skip('later')\nclass TestSub", "unittest"),
            ("from demo", "pytestmark = pytest.mark.skip\nfrom demo", "pytestmark"),
            ("from demo", "pytest.skip('x', allow_module_level=True)\nfrom demo", "pytest.skip"),
            ("class TestSub:\n", "class TestSub:\n    __test__ = False\n\n", "__test__"),
            (
                "        result = sub",
                "        self.skipTest('x')\n        result = sub",
                "skipTest",
            ),
            (
                "        result = sub",
                "        pytest.skip('x')\n        result = sub",
                "pytest.skip",
            ),
            (
                "        result = sub",
                "        return\n        result = sub",
                "stops before its end",
            ),
            (
                "        result = sub(3, 2)\n        assert result == 1",
                "        try:\n            assert sub(3, 2) == 1\n        except Exception:\n            pass",
                "let pass",
            ),
            ("        assert result == 1\n", "", "1 of 2"),
            (
                "        assert result == 1\n",
                "        if False:\n            assert result == 1\n",
                "never runs",
            ),
            ("        assert result == 1\n", "        assert True\n", "asserts less"),
            ("        assert result == 1\n", "        assert 1 == 1\n", "asserts less"),
            (
                "        assert result == 1\n",
                "        assert result == 1 or True\n",
                "asserts less",
            ),
            ("        assert result == 1\n", "        assert result == result\n", "asserts less"),
            ("        assert result == 1\n", "        assert result\n", "exactly"),
            (
                "        with pytest.raises(ValueError):\n            sub(None, 1)\n",
                "",
                "asserts less",
            ),
            ("def test_adds", "def no_test_adds", "`test_adds`"),
            ("[1, 2, 3]", "[1]", "fewer cases"),
            ("class TestSub:", "class Sub_:", "`TestSub › test_subtracts`"),
        ],
        harmless: &[
            ("    assert add(n, 0) == n\n", "    assert add(\n        n, 0\n    ) == n\n"),
            ("'n', [1, 2, 3]", "\"n\", [1, 2, 3,]"),
            ("'''Adds.'''", "'''It adds.'''"),
            ("    assert add(0, n) == n\n", "    assert add(0, n) == n  # the other way round\n"),
            ("class TestSub:", "def test_more():\n    assert add(2, 2) == 4\n\n\nclass TestSub:"),
        ],
    },
    Language {
        path: "tests/demo.test.ts",
        text: SCRIPT,
        tampers: &[
            ("it('adds'", "it.skip('adds'", "it . skip"),
            ("it('adds'", "xit('adds'", "xit"),
            ("it('adds'", "it.todo('adds'", "todo"),
            ("it('adds'", "it.only('adds'", "no other test runs"),
            ("it('adds'", "fit('adds'", "no other test runs"),
            ("it('adds'", "it.failing('adds'", "failing"),
            ("it('adds', () =>", "it('adds', { skip: true }, () =>", "skip"),
            ("describe('demo'", "describe.skip('demo'", "describe . skip"),
            ("describe('demo'", "xdescribe('demo'", "xdescribe"),
            ("describe('demo'", "describe.only('demo'", "no other test runs"),
            ("it('adds', () => {\n", "it('adds', () => {\n    return;\n", "stops before its end"),
            ("it('adds', () => {\n", "it('adds', function () {\n    this.skip();\n", "this.skip"),
            ("    expect(add(1, 2)).toBe(three);\n", "", "1 of 2"),
            (
                "    expect(add(1, 2)).toBe(three);\n",
                "    // expect(add(1, 2)).toBe(three);\n",
                "1 of 2",
            ),
            ("expect(add(1, 2)).toBe(three)", "expect(true).toBe(true)", "1 of 2"),
            ("expect(add(1, 2)).toBe(three)", "expect(three).toBe(three)", "1 of 2"),
            ("expect(add(1, 2)).toBe(three)", "expect(add(1, 2)).toBeTruthy()", "exactly"),
            (
                "expect(add(1, 2)).toBe(three);",
                "try { expect(add(1, 2)).toBe(three); } catch {}",
                "let pass",
            ),
            (
                "expect(add(1, 2)).toBe(three);",
                "if (false) { expect(add(1, 2)).toBe(three); }",
                "never runs",
            ),
            ("[[3, 2, 1], [2, 2, 0]]", "[[3, 2, 1]]", "fewer cases"),
            (
                "  it('throws', async () => {\n    await expect(sub()).rejects.toThrow('no');\n  });\n",
                "",
                "`demo › throws`",
            ),
        ],
        harmless: &[
            (
                "    expect(add(1, 2)).toBe(three);\n",
                "    expect(\n      add(1, 2),\n    ).toBe(three)\n",
            ),
            ("it('adds'", "it(\"adds\""),
            ("    expect(add(0, 0))", "    /* nothing */\n    expect(add(0, 0))"),
            (
                "  it('throws'",
                "  it('more', () => {\n    expect(add(2, 2)).toBe(4);\n  });\n\n  it('throws'",
            ),
            ("[[3, 2, 1], [2, 2, 0]]", "[\n    [3, 2, 1],\n    [2, 2, 0],\n  ]"),
        ],
    },
    Language {
        path: "demo_test.go",
        text: GO,
        tampers: &[
            (
                "func TestAdds(t *testing.T) {\n",
                "func TestAdds(t *testing.T) {\n\tt.Skip(\"later\")\n",
                "t.Skip",
            ),
            (
                "func TestAdds(t *testing.T) {\n",
                "func TestAdds(t *testing.T) {\n\tt.SkipNow()\n",
                "t.SkipNow",
            ),
            (
                "func TestAdds(t *testing.T) {\n",
                "func TestAdds(t *testing.T) {\n\tif testing.Short() {\n\t\tt.Skip()\n\t}\n",
                "t.Skip",
            ),
            (
                "func TestAdds(t *testing.T) {\n",
                "func TestAdds(t *testing.T) {\n\treturn\n",
                "stops before its end",
            ),
            ("package demo", "//go:build never\n\npackage demo", "go:build never"),
            ("func TestAdds", "func testAdds", "`TestAdds`"),
            ("\tif Add(0, 0) != 0 {\n\t\tt.Fatal(\"nothing\")\n\t}\n", "", "1 of 2"),
            ("\t\tt.Fatal(\"nothing\")\n", "\t\tt.Log(\"nothing\")\n", "1 of 2"),
            ("if Add(0, 0) != 0 {", "if false && Add(0, 0) != 0 {", "never runs"),
            ("\t\t{2, 2, 0},\n", "", "fewer cases"),
            ("\t\trequire.Equal(t, it.c, Sub(it.a, it.b))\n", "\t\t_ = it\n", "0 of 1"),
            ("require.Equal(t, it.c, Sub(it.a, it.b))", "require.Equal(t, it.c, it.c)", "0 of 1"),
            ("require.Equal(t, it.c, Sub(it.a, it.b))", "require.True(t, true)", "0 of 1"),
            (
                "require.Equal(t, it.c, Sub(it.a, it.b))",
                "require.NotPanics(t, func() { Sub(it.a, it.b) })",
                "exactly",
            ),
        ],
        harmless: &[
            ("\tif Add(0, 0) != 0 {", "\t// Nothing.\n\tif  Add(0,0)  !=  0 {"),
            (
                "func TestSubtracts",
                "func TestMore(t *testing.T) {\n\tif Add(2, 2) != 4 {\n\t\tt.Error(\"four\")\n\t}\n}\n\nfunc TestSubtracts",
            ),
            ("\t\t{2, 2, 0},\n\t}", "\t\t{2, 2, 0}}"),
        ],
    },
    Language {
        path: "tests/demo.sh",
        text: SHELL,
        tampers: &[
            ("grep -qx 'done 1' src/1.txt\n", "grep -qx 'done 1' src/1.txt || true\n", "let pass"),
            ("grep -qx 'done 1' src/1.txt\n", "grep -qx 'done 1' src/1.txt || :\n", "let pass"),
            ("grep -qx 'done 1' src/1.txt\n", "true\n", "asserts less"),
            ("grep -qx 'done 1' src/1.txt\n", "# grep -qx 'done 1' src/1.txt\n", "asserts less"),
            ("set -e\n", "set -e\nexit 0\n", "stops before its end"),
            ("set -e\n", "set +e\n", "let pass"),
            (
                "grep -qx 'done 1' src/1.txt\n",
                "if false; then\ngrep -qx 'done 1' src/1.txt\nfi\n",
                "never runs",
            ),
            (SHELL, "true\n", "asserts less"),
            ("./sub 3 2 | grep -qx 1\n", "", "asserts less"),
        ],
        harmless: &[
            ("# Adds.\n", "# It adds, and more.\n\n"),
            ("grep -qx 'done 1' src/1.txt\n", "  grep   -qx 'done 1' src/1.txt;\n"),
            ("./sub 3 2 | grep -qx 1\n", "./sub 3 2 \\\n  | grep -qx 1\n"),
        ],
    },
];

/// A file of tests, as it is now and as it was: on the base, or when it was seen to fail.
fn pair(path: &str, before: &str, now: Option<&str>, red: bool) -> Pair {
    let bytes = |text: &str| text.as_bytes().to_vec();
    Pair {
        path: PathBuf::from(path),
        base: (!red).then(|| bytes(before)),
        red: red.then(|| Red { origin: None, then: bytes(before) }),
        now: now.map(bytes),
    }
}

fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from:?}");
    text.replacen(from, to, 1)
}

#[test]
fn whatever_is_taken_from_a_test_is_found_on_the_base_and_in_what_was_seen_to_fail() {
    let (mut tried, mut missed) = (0, Vec::new());
    for Language { path, text, tampers, .. } in LANGUAGES {
        for (from, to, part) in *tampers {
            let now = changed(text, from, to);
            for red in [false, true] {
                tried += 1;
                let found = losses(&[pair(path, text, Some(&now), red)]);
                // What was seen to fail may be found to be something else altogether.
                if found.is_empty() || (!red && !found.iter().any(|it| it.what.contains(part))) {
                    missed.push(format!(
                        "{path} (seen to fail: {red}): {from:?} -> {to:?}: {found:?}"
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of {tried}:\n{}", missed.len(), missed.join("\n"));
    assert!(tried > 150, "{tried}");
}

#[test]
fn files_that_go_away_or_where_nobody_looks_for_tests_take_their_tests_along() {
    let elsewhere = [
        ("tests/demo.rs", None),
        ("tests/test_demo.py", Some("tests/demo.py")),
        ("tests/test_demo.py", Some("tests/test_demo.py.off")),
        ("tests/demo.test.ts", Some("src/demo.ts")),
        ("demo_test.go", Some("demo.go")),
        ("tests/demo.sh", Some("tests/demo.sh.off")),
    ];
    for (path, to) in elsewhere {
        let text = LANGUAGES.iter().find(|it| it.path == path).unwrap().text;
        for red in [false, true] {
            let gone = pair(path, text, None, red);
            let moved = to.map(|to| Pair { base: None, ..pair(to, "", Some(text), false) });
            let found = losses(&[vec![gone], moved.into_iter().collect()].concat());
            assert!(found.iter().any(|it| it.what.contains("gone")), "{path} to {to:?}: {found:?}");
        }
    }
}

#[test]
fn what_changes_nothing_is_let_pass() {
    let (mut tried, mut found) = (0, Vec::new());
    for Language { path, text, harmless, .. } in LANGUAGES {
        let mut texts: Vec<String> =
            harmless.iter().map(|(from, to)| changed(text, from, to)).collect();
        // As it is, with other line ends and spaces, and with all of it at once.
        texts.push((*text).to_owned());
        texts.push(text.replace('\n', "\n\n"));
        texts.push(text.lines().map(|line| format!("{line} \n")).collect());
        texts.push(text.replace("\n", "\r\n"));
        texts.push(harmless.iter().fold((*text).to_owned(), |all, (from, to)| {
            match all.contains(from) {
                true => changed(&all, from, to),
                false => all,
            }
        }));
        for now in &texts {
            for red in [false, true] {
                tried += 1;
                let own = losses(&[pair(path, text, Some(now), red)]);
                found.extend(
                    own.into_iter()
                        .map(|it| format!("{path} (seen to fail: {red}): {it:?}\n{now}")),
                );
            }
        }
        // Under another name, where tests are looked for as well.
        let to = path.replace("demo", "another");
        for red in [false, true] {
            tried += 1;
            let moved = Pair { base: None, ..pair(&to, "", Some(text), false) };
            found.extend(
                losses(&[pair(path, text, None, red), moved])
                    .into_iter()
                    .map(|it| format!("{it:?}")),
            );
        }
    }
    assert!(found.is_empty(), "{} of {tried}:\n{}", found.len(), found.join("\n"));
    assert!(tried > 90, "{tried}");
}

#[test]
fn what_a_test_of_the_base_asks_may_change_and_what_was_seen_to_fail_may_not() {
    let now = changed(RUST, "three());", "4);");
    assert_eq!(losses(&[pair("tests/demo.rs", RUST, Some(&now), false)]), []);
    let found = losses(&[pair("tests/demo.rs", RUST, Some(&now), true)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (found[0].line, found[0].what.as_str()),
        (7, "`adds` is not what was seen to fail: it was changed since")
    );
    // Nor may what stands around it.
    let now = changed(RUST, "    3\n", "    add(1, 2)\n");
    assert_eq!(losses(&[pair("tests/demo.rs", RUST, Some(&now), false)]), []);
    assert!(!losses(&[pair("tests/demo.rs", RUST, Some(&now), true)]).is_empty());
}

#[test]
fn what_others_have_changed_meanwhile_is_not_this_works_doing() {
    // Red added a test to a file; another task has since taken an old one out of it, and the base says so.
    let more = "\n#[test]\nfn more() {\n    assert_eq!(add(2, 2), 4);\n}\n";
    let old = "#[test]\nfn old() {\n    assert!(add(1, 1) == 2);\n}\n";
    let bytes = |text: String| text.into_bytes();
    let own = |now: String| Pair {
        path: "tests/demo.rs".into(),
        base: Some(bytes(RUST.to_owned())),
        red: Some(Red {
            origin: Some(bytes(format!("{RUST}{old}"))),
            then: bytes(format!("{RUST}{old}{more}")),
        }),
        now: Some(bytes(now)),
    };
    assert_eq!(losses(&[own(format!("{RUST}{more}"))]), []);
    assert!(!losses(&[own(RUST.to_owned())]).is_empty(), "its own test is gone");
}

#[test]
fn what_a_test_needs_stays_in_whatever_form_it_is() {
    let data = |now: Option<&str>| pair("tests/data/a.txt", "1\n2\n", now, true);
    assert_eq!(losses(&[data(Some("1\n2\n3\n"))]), []);
    assert_eq!(losses(&[data(Some("1\n"))])[0].line, 2);
    assert_eq!(losses(&[data(None)]).len(), 1);
    // What tests have in common is not taken away either, and may move.
    let helper = "def check(a):\n    return a\n";
    assert_eq!(losses(&[pair("tests/helper.py", helper, None, true)]).len(), 1);
    let moved = Pair { base: None, ..pair("tests/more/helper.py", "", Some(helper), false) };
    assert_eq!(losses(&[pair("tests/helper.py", helper, None, true), moved]), []);
    // What no test is, is nobody's to keep.
    assert_eq!(
        losses(&[pair("src/stub.py", "def add(): raise NotImplementedError\n", None, true)]),
        []
    );
}

#[test]
fn tests_that_do_not_run_any_more_are_missed_by_name_or_by_number() {
    let tap = |names: &[&str]| {
        let lines: String = names.iter().map(|it| format!("ok 1 - {it}\n")).collect();
        Some(format!("TAP version 13\n{lines}1..{}\n", names.len()))
    };
    let printed = |base, red, now| Printed { base, red, now };
    assert_eq!(missing(&printed(tap(&["a"]), tap(&["a", "b"]), tap(&["a", "b", "c"]))), [""; 0]);
    assert_eq!(
        missing(&printed(tap(&["a"]), tap(&["a", "b"]), tap(&["a"]))),
        ["`b` ran when the new tests were seen to fail, and does not any more"]
    );
    assert_eq!(
        missing(&printed(tap(&["a", "b"]), None, tap(&["b"]))),
        ["`a` ran on the base, and does not any more"]
    );
    let counts = |n| Some(format!("==== {n} passed in 0.1s ====\n"));
    assert_eq!(
        missing(&printed(counts(3), None, counts(2))),
        ["2 tests run, and 3 did on the base"]
    );
    assert_eq!(missing(&printed(None, None, None)), [""; 0]);
    assert_eq!(missing(&printed(counts(3), None, None)), [""; 0], "it was not run");
    assert_eq!(missing(&printed(None, None, Some("ok\n".to_owned()))), [""; 0]);
}

#[test]
fn a_test_that_was_seen_to_fail_is_seen_to_pass() {
    let tap = |passed: &[&str], failed: &[&str]| {
        let all = passed.iter().map(|name| ("ok", name));
        let all = all.chain(failed.iter().map(|name| ("not ok", name)));
        let lines: String = all.map(|(word, name)| format!("{word} 1 - {name}\n")).collect();
        Some(format!("TAP version 13\n{lines}1..9\n"))
    };
    let text = |text: &str| Some(text.to_owned());
    let found = |base: &Option<String>, red: &Option<String>, now: Option<String>| {
        missing(&Printed { base: base.clone(), red: red.clone(), now })
    };
    let (base, red) = (tap(&["a"], &[]), tap(&["a"], &["b"]));
    let unseen = ["`b` was seen to fail, and is not among the tests that passed"];
    // Nothing runs any more, nothing is said any more, another stands in its place, and it is left out.
    assert!(found(&base, &red, text("1..0\n"))[0].contains("`b` was seen to fail"));
    assert_eq!(
        found(&base, &red, text("")),
        [
            "what was printed names no test and counts none: 2 ran when the new tests were seen to fail"
        ]
    );
    assert_eq!(found(&base, &red, tap(&["a", "c"], &[])), unseen);
    assert_eq!(found(&base, &red, tap(&["a", "c"], &["b"])), unseen);
    assert_eq!(found(&base, &red, text("1..3\nok 1 - a\nok 2 - b # SKIP\nok 3 - c\n")), unseen);
    assert_eq!(found(&base, &red, tap(&["b", "a"], &[])), [""; 0]);
    // What failed before is not this work's doing; what moved is what it was.
    assert_eq!(found(&red, &red, tap(&["a"], &["b"])), [""; 0]);
    assert_eq!(found(&None, &tap(&[], &["old::b"]), tap(&["new::b"], &[])), [""; 0]);
    // A file that could not be loaded is named itself.
    let lacks = tap(&["a"], &["test/b.test.js"]);
    assert_eq!(found(&base, &lacks, tap(&["a", "subtracts"], &[])), [""; 0]);
    assert_eq!(found(&base, &lacks, tap(&["a"], &[])).len(), 1);
    // Where nothing that passes is named, it is counted.
    let counted = |count: usize| text(&format!("Ran {count} tests in 0.001s\n\nOK\n"));
    assert_eq!(found(&counted(1), &counted(2), counted(2)), [""; 0]);
    assert_eq!(found(&counted(1), &counted(2), counted(0)).len(), 2);
    assert_eq!(found(&counted(1), &None, text("")).len(), 1);
    let go = "--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\tdemo\t0.002s\n";
    assert_eq!(found(&None, &text(go), text("ok  \tdemo\t0.002s\n")), [""; 0]);
}

#[test]
fn what_leaves_tests_out_from_beside_them_is_found_in_all_that_it_leaves_out() {
    let file = |head: &str, class: &str, setup: &str| {
        format!(
            "import unittest\n{head}\n\nclass {class}:\n    def test_a(self):\n        self.assertEqual(add(1, 2), 3)\n\n{setup}    def test_b(self):\n        self.assertEqual(add(2, 2), 4)\n"
        )
    };
    let found = |now: &str| {
        let before = file("", "TestAdd(unittest.TestCase)", "");
        let pair = Pair {
            path: PathBuf::from("test_add.py"),
            base: Some(before.into_bytes()),
            red: None,
            now: Some(now.as_bytes().to_vec()),
        };
        losses(&[pair]).into_iter().map(|loss| loss.what).collect::<Vec<_>>()
    };
    let own = "TestAdd(unittest.TestCase)";
    let base = "class Base(unittest.TestCase):\n    def setUp(self):\n        self.skipTest('x')\n";
    for now in [
        file("", own, "    def setUp(self):\n        self.skipTest('x')\n\n"),
        file(
            "",
            own,
            "    @classmethod\n    def setUpClass(cls):\n        raise unittest.SkipTest('x')\n\n",
        ),
        file(
            "",
            own,
            "    def asyncSetUp(self):\n        if True:\n            raise SkipTest\n\n",
        ),
        file("raise unittest.SkipTest('x')", own, ""),
        file("def setUpModule():\n    raise unittest.SkipTest('x')\n", own, ""),
        file(base, "TestAdd(Base)", ""),
    ] {
        let said = found(&now);
        assert_eq!(said.len(), 2, "{now}\n{said:?}");
        assert!(said.iter().all(|it| it.contains("does not run as it did")), "{said:?}");
    }
    // What leaves out another class, and what sets up, leaves out nothing here.
    for now in [
        file("", own, "    def setUp(self):\n        self.it = add(0, 0)\n\n"),
        file(base, own, ""),
        file("", own, "    def test_c(self):\n        self.skipTest('x')\n\n"),
    ] {
        assert_eq!(found(&now), [""; 0], "{now}");
    }
}
